/* SPDX-License-Identifier: Apache-2.0 */
/* The circular buffers of TT-Metal sources, read without compiling: host code that creates them, kernel code that uses them, and
 * what is wrong between the two. A ttm_scan owns everything below it; texts are borrowed from the files it keeps. */
#ifndef TTM_L1_SCAN_H
#define TTM_L1_SCAN_H

#include "base/arena.h"
#include "base/boards.h"
#include "base/error.h"
#include "base/vec.h"
#include "l1/scan_eval.h"

/* ---- What host code creates ----------------------------------------------------------------------------------------- */

typedef enum ttm_cb_origin {
  TTM_CB_CONFIG,     /* CircularBufferConfig, CreateCircularBuffer */
  TTM_CB_CREATE_CB,  /* create_cb(...) of ttnn's cb_utils */
  TTM_CB_DESCRIPTOR, /* CBDescriptor */
  TTM_CB_DATAFLOW,   /* DataflowBufferSpec, DataflowBufferConfig */
  TTM_CB_ORIGINS
} ttm_cb_origin;
const char *ttm_cb_origin_name(ttm_cb_origin origin);

/* An expression as written and as worked out. */
typedef struct ttm_cb_expression {
  ttm_str text; /* empty when there is none */
  ttm_scan_value value;
} ttm_cb_expression;

/* One index that looks at the memory of a buffer. */
typedef struct ttm_cb_slot {
  ttm_cb_expression index, format, page;
} ttm_cb_slot;

typedef enum ttm_cb_owner {
  TTM_CB_OWN,    /* takes L1 */
  TTM_CB_GLOBAL, /* lives in an L1 tensor or another buffer: costs nothing more */
  TTM_CB_EITHER, /* decided at run time */
} ttm_cb_owner;

/* One buffer: one piece of memory, whatever the number of indices that look at it. */
typedef struct ttm_cb {
  ttm_cb_origin origin;
  uint32_t file, line;
  uint32_t call_line; /* where the helper around it is called, 0 when there is none */
  ttm_str helper;     /* name of that helper */
  ttm_str name;       /* of the variable or of the dataflow buffer, may be empty */
  uint32_t function;  /* the outermost function it belongs to: index into functions */
  ttm_cb_expression total;
  ttm_cb_slot *slots;
  size_t slot_count;
  ttm_str cores;
  ttm_cb_owner owner;
  bool created;     /* false: a configuration nobody in the file creates a buffer from */
  bool conditional; /* below an if, a case or an early way out */
  bool in_loop;
  bool address_only; /* a descriptor that only refreshes an address: no size of its own */
  uint32_t node;     /* order within the file */
} ttm_cb;

/* A function of host code that creates buffers or kernels: one program, as far as text tells. */
typedef struct ttm_cb_function {
  uint32_t file, line;
  ttm_str name;
  uint32_t first_cb, cb_count; /* in ttm_scan.cbs */
  uint32_t first_ref, ref_count;
} ttm_cb_function;

/* A kernel that host code names, with what it hands over at compile time. */
typedef struct ttm_kernel_named {
  ttm_str name;
  ttm_scan_value value;
} ttm_kernel_named;

typedef struct ttm_kernel_ref {
  uint32_t file, line, function;
  ttm_scan_value path; /* strings */
  ttm_cb_expression *args;
  size_t arg_count;
  bool args_open;          /* more may follow, or the list is not known */
  ttm_kernel_named *named; /* named arguments, and accessor -> name of the dataflow buffer */
  size_t named_count;
  bool bindings_open;
  bool conditional;
  uint32_t node;
} ttm_kernel_ref;

/* ---- What kernel code does ------------------------------------------------------------------------------------------ */

typedef enum ttm_cb_act { TTM_CB_RESERVE, TTM_CB_PUSH, TTM_CB_WAIT, TTM_CB_POP, TTM_CB_ACTS } ttm_cb_act;
const char *ttm_cb_act_name(ttm_cb_act act);

typedef struct ttm_cb_use {
  ttm_cb_act act;
  uint32_t file, line;
  ttm_cb_expression id, count;
  bool conditional; /* below an #if or if constexpr: other builds do without it */
  bool in_loop;
} ttm_cb_use;

/* A buffer handed to another function of the kernel: what happens to it there is not known. */
typedef struct ttm_cb_handed {
  uint32_t file, line;
  ttm_scan_value id;
} ttm_cb_handed;

/* How large and tangled a kernel is. */
typedef struct ttm_kernel_size {
  uint32_t code_lines, functions, branches, loops, complexity, depth;
} ttm_kernel_size;

/* ---- Files and findings --------------------------------------------------------------------------------------------- */

typedef enum ttm_scan_role { TTM_FILE_OTHER, TTM_FILE_HOST, TTM_FILE_KERNEL } ttm_scan_role;

typedef struct ttm_scan_file {
  const char *path;
  ttm_scan_role role;
  uint64_t bytes;
  uint32_t lines;
  bool parsed;     /* false: nothing in it that matters */
  bool chosen;     /* read with one branch of each #if only */
  uint32_t broken; /* places that are no C++ to the parser */
  uint32_t broken_line;
  const char *failure;                 /* why it could not be read at all, NULL when it could */
  ttm_kernel_size size;                /* kernels only */
  uint32_t first_use, use_count;       /* in ttm_scan.uses */
  uint32_t first_handed, handed_count; /* in ttm_scan.handed */
} ttm_scan_file;

/* What the kernels of a program do with one of its buffers. */
typedef struct ttm_cb_link {
  uint32_t function;
  ttm_scan_value buffer;                                       /* index or name */
  uint32_t pushed_file, pushed_line, popped_file, popped_line; /* UINT32_MAX: no kernel that was found */
  bool pushed_in_loop;
  bool handed; /* to a function out of sight too */
} ttm_cb_link;

typedef enum ttm_scan_level { TTM_SCAN_ERROR, TTM_SCAN_WARNING, TTM_SCAN_NOTE, TTM_SCAN_LEVELS } ttm_scan_level;
const char *ttm_scan_level_name(ttm_scan_level level);

typedef struct ttm_scan_finding {
  ttm_scan_level level;
  const char *rule; /* "deadlock", "does-not-divide", ... */
  uint32_t file, line;
  ttm_str text;
} ttm_scan_finding;

typedef struct ttm_scan_options {
  unsigned threads;          /* 0: one per processor, at most 8 */
  const ttm_define *defines; /* -D, any order */
  size_t define_count;
  ttm_arch_id arch;  /* whose L1 and how many buffers */
  uint64_t l1_base;  /* where buffers begin; 0: that of the newest known software */
  uint64_t l1_small; /* set aside at the end of L1 */
} ttm_scan_options;

typedef struct ttm_scan {
  ttm_arch_id arch;
  uint64_t l1_usable; /* bytes of a core's L1 for buffers and tensors */
  TTM_VEC(ttm_scan_file) files;
  TTM_VEC(ttm_cb) cbs;
  TTM_VEC(ttm_cb_function) functions;
  TTM_VEC(ttm_kernel_ref) refs;
  TTM_VEC(ttm_cb_use) uses;
  TTM_VEC(ttm_cb_handed) handed;
  TTM_VEC(ttm_cb_link) links; /* by function */
  TTM_VEC(ttm_scan_finding) findings;
  ttm_arena arena;   /* texts of findings, paths */
  ttm_arena *arenas; /* one per file */
} ttm_scan;

/* Scans files and folders (their .cpp .hpp .cc .h .cxx .hxx .c files, hidden folders left out). A file that cannot be read or parsed
 * is told in its entry and the rest goes on. 0, TTM_EIO for a path that does not exist, TTM_ENODATA when no source was found, or
 * TTM_ENOMEM. NULL options are the defaults: Wormhole. */
int ttm_scan_paths(ttm_scan **out, const char *const *paths, size_t n, const ttm_scan_options *options, ttm_error *err);
/* One source in memory; for tests and fuzzing. */
int ttm_scan_text(ttm_scan **out, const char *path, ttm_str text, const ttm_scan_options *options, ttm_error *err);
void ttm_scan_free(ttm_scan *scan);

/* ---- Questions ------------------------------------------------------------------------------------------------------ */

/* Pages a buffer holds: smallest and largest possible; false when not known. */
bool ttm_cb_pages(const ttm_cb *cb, uint64_t *least, uint64_t *most);
/* Bytes it takes from L1 at least and at most (global ones nothing); false when the most is not known. */
bool ttm_cb_bytes(const ttm_cb *cb, uint64_t *least, uint64_t *most);
/* True when the size depends on the workload, false for a fixed one. */
bool ttm_cb_is_adaptive(const ttm_cb *cb);

#endif
