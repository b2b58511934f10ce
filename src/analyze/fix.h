/* SPDX-License-Identifier: Apache-2.0 */
/* What to change, before it is put into words (ttm_fix of analyze/statement.h): what ends a failure and what lowers the peak alike. Only changes
 * that would be enough, or that take at least 1 % off the peak; none rather than a doubtful one. */
#ifndef TTM_ANALYZE_FIX_H
#define TTM_ANALYZE_FIX_H

#include "analyze/obstacles.h"
#include "analyze/predict.h"
#include "analyze/statement.h"
#include "base/boards.h"
#include "profile/profile.h"

typedef enum ttm_remedy_kind {
  TTM_FIX_DTYPE,      /* the refused tensor stored as `dtype`: needs `bytes` per bank then */
  TTM_FIX_DIVIDE,     /* one `count`-th of it at a time, or on `count` chips: `bytes` per bank then */
  TTM_FIX_DRAM,       /* the tensor in DRAM instead of L1 */
  TTM_FIX_BOARD,      /* the board `board`: `bytes` per bank would be in use there */
  TTM_FIX_L1_SMALL,   /* device opened with l1_small_size of at least `bytes` */
  TTM_FIX_TRACE,      /* device opened with trace_region_size of at least `bytes` */
  TTM_FIX_BUFFERS,    /* static buffers smaller by `bytes` on each core: `count` bf16 tiles */
  TTM_FIX_BLOCKS,     /* work cut into blocks of one `count`-th: the static buffers then fit */
  TTM_FIX_L1_TENSORS, /* `bytes` of L1 tensors per core freed, or in DRAM instead: `count` of them, the lowest by `op` */
  TTM_FIX_LESS_SMALL, /* l1_small_size smaller by `bytes`: every L1 tensor moves up by as much */
  TTM_FIX_KERNEL,     /* kernels and their arguments smaller by `bytes` */
  TTM_FIX_WORKER_L1,  /* worker_l1_size such that a program of `bytes` has room beside it; of `arch` */
  TTM_FIX_PER_CORE,   /* allocated before the per-core buffers that lie in its way */
  TTM_FIX_ABOUT,      /* what helps against an error of this kind, whatever its numbers */
  TTM_FIX_CONFIG,     /* what the message's own mistake is cured by: ttm_metal_mistake_find */
  TTM_FIX_CHIPS,      /* the weights, which are more than DRAM holds, spread over `count` chips: `bytes` on each */
  TTM_FIX_CACHE, /* one `count`-th of the tokens in the `caches` KV caches: `bytes` per bank less; `room` for so many of them then */
  TTM_FIX_CACHE_DTYPE,  /* the KV caches stored as `dtype` */
  TTM_FIX_MESH,         /* weights and KV heads divided over `count` chips: `bytes` per bank on each */
  TTM_FIX_FREE,         /* `bytes` per bank less in use before it */
  TTM_FIX_RELEASE_KEPT, /* from here on the subject is the largest of `count`: results of earlier runs released */
  TTM_FIX_WEIGHTS,      /* weights stored as `dtype` */
  TTM_FIX_FREE_EARLIER, /* tensors freed at their last use */
  TTM_FIX_MOVE_PIN,     /* a tensor elsewhere: one free block of `bytes` per bank then */
  TTM_FIX_NO_UPCAST,    /* bf16 weights that are kept as f32 */
  TTM_FIX_ONE_FORM,     /* weights that are there in several forms */
  TTM_FIX_RESHAPE,      /* a tensor whose tiles are mostly padding */
  TTM_FIX_WIDER_ROWS,   /* narrow row-major rows */
  TTM_FIX_ROW_MAJOR,    /* an embedding table in tiles */
  TTM_FIX_STOP_LEAK,    /* what every run or iteration leaves behind; `count` of them seen */
  TTM_FIX_PREALLOCATE,  /* a cache that is made anew with each iteration; `count` of them seen */
  TTM_FIX_ALLOCATE_BEFORE, /* from here on about traces: `count` tensors allocated before the capture at `trace_op`, which has room */
  TTM_FIX_FREE_BEFORE,    /* ... or freed before the replay there */
  TTM_FIX_COMPILE_BEFORE, /* the operation called once before the capture */
  TTM_FIX_KEEP_INPUT,     /* what the trace uses kept until it is released */
} ttm_remedy_kind;

/* What became of a fix that was tried (analyze/trial.h). */
typedef struct ttm_tried {
  ttm_str change; /* as `ttmem verify --change` takes it; empty: not tried */
  uint64_t peak;  /* per bank, of DRAM; of L1 for what failed there */
  int fits;       /* all that failed has room then: 1, 0, -1 the replay does not have it */
  int rest_fits;  /* and so has what follows: 1, 0, -1 unknown */
  const ttm_program_need
      *rest;            /* whose module tells what follows, to its end; NULL: the input does, as far as it goes */
  uint32_t refused_row; /* unless all of that fits: operation of the module; TTM_NO_ROW: of the log */
  uint64_t shortfall;   /* then: bytes per bank */
} ttm_tried;

enum { TTM_FIX_BLOCKS_MOST = 8 };

typedef struct ttm_remedy {
  ttm_remedy_kind kind;
  ttm_fix_check check;
  uint64_t bytes, count;
  uint64_t caches, room; /* CACHE; room is 0 where nothing tells */
  const char *dtype, *board;
  bool guess;    /* DTYPE: that the tensor holds bf16 values */
  bool every;    /* DTYPE, DIVIDE, DRAM, FREE_EARLIER: the same tensor of every layer; WEIGHTS: all of the program */
  uint32_t name; /* string: the subject is a weight or input of this name; 0 */
  uint32_t op;   /* the operation to look at, which made the subject; TTM_NONE */
  uint32_t row;  /* the subject in the live set of DRAM, TTM_NONE */
  uint32_t blocks[TTM_FIX_BLOCKS_MOST]; /* FREE, FREE_EARLIER: tensors that must go ... */
  uint32_t block_count;                 /* ... 0: others, or unknown */
  uint32_t trace_op;                    /* of a trace; TTM_NONE */
  ttm_tried tried;
} ttm_remedy;

enum { TTM_REMEDIES = 8 };

typedef struct ttm_remedies {
  bool known; /* of the peak: false when what is alive when is not known, so that nothing can be said */
  ttm_remedy at[TTM_REMEDIES];
  size_t n;
} ttm_remedies;

struct ttm_findings;

/* The fixes of f->incidents.at[i], cheapest first. */
void ttm_fixes_of_failure(ttm_remedies *out, const struct ttm_findings *f, size_t i);

/* Makes a fix that stores weights in a smaller dtype one of twice as many bytes. False when the log holds no more of them. */
bool ttm_fix_more_weights(ttm_remedy *remedy, const struct ttm_findings *f);

/* Adds those of a clash of static buffers with tensors, or with the end of L1, to *out. `unused_small` is what L1_SMALL could spare,
 * TTM_UNKNOWN when nothing tells. */
void ttm_fixes_of_buffers(ttm_remedies *out, const ttm_incident_text *what, ttm_arch_id arch, uint64_t unused_small);

/* The same of an operation of the profile: the tensors in the way, which are known when `obstacles` has any, come first. */
void ttm_fixes_of_clash(ttm_remedies *out, const ttm_profile *p, const ttm_incident *incident,
                        const ttm_obstacles *obstacles);

/* What takes most off the DRAM peak, largest first. 0 or TTM_ENOMEM. Needs everything but the statements. */
int ttm_fixes_of_peak(ttm_remedies *out, const struct ttm_findings *f);

/* Tries the fixes of the first failures and of the peak: f->failure_fixes and f->peak_fixes. Those that do not help go; those that could not be
 * replayed are estimates, and come last. 0 or TTM_ENOMEM. Needs everything but the statements; makes nothing when there are no fixes. */
int ttm_fixes_try(struct ttm_findings *f);

/* Failures that are about memory; other errors a fix cannot end. */
uint32_t ttm_memory_failures(const ttm_profile *p);

/* "weights_dtype", ...: as in findings.json. */
const char *ttm_remedy_name(ttm_remedy_kind kind);
/* Appends the fix in words: "Store 139 weights as bfp8 (...): frees 570.6 MB per bank (estimated)". `what` is the failure's message, NULL for
 * fixes of the peak; `f` is NULL for fixes of buffers, which name no operation. */
void ttm_say_remedy(ttm_buf *out, const struct ttm_findings *f, const ttm_remedy *remedy,
                    const ttm_incident_text *what);

/* Appends the lines of Python that make the change, for TT-XLA (weights of a log) or ttnn (tensors of a capture); nothing when the fix has none. */
void ttm_say_paste(ttm_buf *out, const struct ttm_findings *f, const ttm_remedy *remedy);

/* What a capture's refused allocation was for, by what the same line of the program got before in that size; NULL. */
const ttm_tensor_type *ttm_refused_type(const ttm_profile *p, const ttm_incident *incident);

/* The chip an L1 message speaks of: by its L1 size, the board of the log, or the cores it names. TTM_ARCHES when nothing tells. */
ttm_arch_id ttm_incident_arch(const ttm_profile *p, const ttm_incident *incident);

#endif
