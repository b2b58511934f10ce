/* SPDX-License-Identifier: Apache-2.0 */
/* The circular buffers of TT-Metal sources, read without compiling: host code that creates them, kernel code that uses them, and
 * what is wrong between the two. A cbs_scan owns everything below it; texts are borrowed from the files it keeps. */
#ifndef CBS_SCAN_H
#define CBS_SCAN_H

#include "base/arena.h"
#include "base/boards.h"
#include "base/error.h"
#include "base/vec.h"
#include "cbscan/eval.h"
#include "l1/words.h"

/* ---- What host code creates ----------------------------------------------------------------------------------------- */

typedef enum cbs_origin {
  CBS_CONFIG,     /* CircularBufferConfig, CreateCircularBuffer */
  CBS_CREATE_CB,  /* create_cb(...) of ttnn's cb_utils */
  CBS_DESCRIPTOR, /* CBDescriptor */
  CBS_DATAFLOW,   /* DataflowBufferSpec, DataflowBufferConfig */
  CBS_ORIGINS
} cbs_origin;
const char *cbs_origin_name(cbs_origin origin);

/* An expression as written and as worked out. */
typedef struct cbs_expression {
  ttm_str text; /* empty when there is none */
  cbs_value value;
} cbs_expression;

/* One index that looks at the memory of a buffer. */
typedef struct cbs_slot {
  cbs_expression index, format, page;
} cbs_slot;

typedef enum cbs_owner {
  CBS_OWN,    /* takes L1 */
  CBS_GLOBAL, /* lives in an L1 tensor or another buffer: costs nothing more */
  CBS_EITHER, /* decided at run time */
} cbs_owner;

/* One buffer: one piece of memory, whatever the number of indices that look at it. */
typedef struct cbs_buffer {
  cbs_origin origin;
  uint32_t file, line;
  uint32_t call_line; /* where the helper around it is called, 0 when there is none */
  ttm_str helper;     /* name of that helper */
  ttm_str name;       /* of the variable or of the dataflow buffer, may be empty */
  uint32_t function;  /* node of the outermost function it belongs to */
  cbs_expression total;
  cbs_slot *slots;
  size_t slot_count;
  ttm_str cores;
  cbs_owner owner;
  bool created;     /* false: a configuration nobody in the file creates a buffer from */
  bool conditional; /* below an if, a case or an early way out */
  bool in_loop;
  bool address_only; /* a descriptor that only refreshes an address: no size of its own */
  uint32_t node;     /* order within the file */
} cbs_buffer;

/* A function of host code that creates buffers or kernels: one program, as far as text tells. */
typedef struct cbs_function {
  uint32_t file, line;
  ttm_str name;
  uint32_t first_buffer, buffer_count; /* in cbs_scan.buffers */
  uint32_t first_ref, ref_count;
} cbs_function;

/* A kernel that host code names, with what it hands over at compile time. */
typedef struct cbs_kernel_named {
  ttm_str name;
  cbs_value value;
} cbs_kernel_named;

typedef struct cbs_kernel_ref {
  uint32_t file, line, function;
  cbs_value path; /* strings */
  cbs_expression *args;
  size_t arg_count;
  cbs_kernel_named *named; /* named arguments, and accessor -> name of the dataflow buffer */
  size_t named_count;
  bool conditional;
  uint32_t node;
} cbs_kernel_ref;

/* ---- What kernel code does ------------------------------------------------------------------------------------------ */

typedef enum cbs_act { CBS_RESERVE, CBS_PUSH, CBS_WAIT, CBS_POP, CBS_ACTS } cbs_act;
const char *cbs_act_name(cbs_act act);

typedef struct cbs_use {
  cbs_act act;
  uint32_t file, line;
  cbs_expression id, count;
  bool conditional; /* below an #if or if constexpr: other builds do without it */
  bool in_loop;
} cbs_use;

/* A buffer handed to another function of the kernel: what happens to it there is not known. */
typedef struct cbs_handed {
  uint32_t file, line;
  cbs_value id;
} cbs_handed;

/* How large and tangled a kernel is. */
typedef struct cbs_kernel_size {
  uint32_t code_lines, functions, branches, loops, complexity, depth;
} cbs_kernel_size;

/* ---- Files and findings --------------------------------------------------------------------------------------------- */

typedef enum cbs_role { CBS_FILE_OTHER, CBS_FILE_HOST, CBS_FILE_KERNEL } cbs_role;

typedef struct cbs_file {
  const char *path;
  cbs_role role;
  uint64_t bytes;
  uint32_t lines;
  bool parsed;     /* false: nothing in it that matters */
  bool chosen;     /* read with one branch of each #if only */
  bool cut;        /* its end is missing: a block is still open there */
  uint32_t broken; /* places that are no C++ to the parser */
  uint32_t broken_line;
  const char *failure;                 /* why it could not be read at all, NULL when it could */
  cbs_kernel_size size;                /* kernels only */
  uint32_t first_use, use_count;       /* in cbs_scan.uses */
  uint32_t first_handed, handed_count; /* in cbs_scan.handed */
} cbs_file;

/* What the kernels of a program do with one of its buffers. */
typedef struct cbs_link {
  uint32_t function;
  cbs_value buffer;                                            /* index or name */
  uint32_t pushed_file, pushed_line, popped_file, popped_line; /* UINT32_MAX: no kernel that was found */
  bool pushed_in_loop;
  bool handed; /* to a function out of sight too */
} cbs_link;

typedef struct cbs_finding {
  ttm_cb_level level;
  const char *rule; /* "deadlock", "does-not-divide", ... */
  uint32_t file, line;
  ttm_str text;
} cbs_finding;

typedef struct cbs_options {
  unsigned threads;          /* 0: one per processor, at most 8 */
  const cbs_define *defines; /* -D, any order */
  size_t define_count;
  ttm_arch_id arch;  /* whose L1 and how many buffers */
  uint64_t l1_base;  /* where buffers begin; 0: that of the newest known software */
  uint64_t l1_small; /* set aside at the end of L1 */
} cbs_options;

typedef struct cbs_scan {
  ttm_arch_id arch;
  uint64_t l1_usable; /* bytes of a core's L1 for buffers and tensors */
  TTM_VEC(cbs_file) files;
  TTM_VEC(cbs_buffer) buffers;
  TTM_VEC(cbs_function) functions;
  TTM_VEC(cbs_kernel_ref) refs;
  TTM_VEC(cbs_use) uses;
  TTM_VEC(cbs_handed) handed;
  TTM_VEC(cbs_link) links; /* by function */
  TTM_VEC(cbs_finding) findings;
  ttm_arena arena;   /* texts of findings, paths */
  ttm_arena *arenas; /* one per file */
} cbs_scan;

/* Scans files and folders (their .cpp .hpp .cc .h .cxx .hxx .c files, hidden folders left out). A file that cannot be read or parsed
 * is told in its entry and the rest goes on. 0, TTM_EIO for a path that does not exist, TTM_ENODATA when no source was found, or
 * TTM_ENOMEM. NULL options are the defaults: Wormhole. */
int cbs_scan_paths(cbs_scan **out, const char *const *paths, size_t n, const cbs_options *options, ttm_error *err);
/* One source in memory; for tests and fuzzing. */
int cbs_scan_text(cbs_scan **out, const char *path, ttm_str text, const cbs_options *options, ttm_error *err);
void cbs_scan_free(cbs_scan *scan);

/* ---- Questions ------------------------------------------------------------------------------------------------------ */

/* Pages a buffer holds: smallest and largest possible; false when not known. */
bool cbs_buffer_pages(const cbs_buffer *cb, uint64_t *least, uint64_t *most);
/* Bytes it takes from L1 at least and at most (global ones nothing); false when the most is not known. */
bool cbs_buffer_bytes(const cbs_buffer *cb, uint64_t *least, uint64_t *most);
/* True when the size depends on the workload, false for a fixed one. */
bool cbs_buffer_is_adaptive(const cbs_buffer *cb);

#endif
