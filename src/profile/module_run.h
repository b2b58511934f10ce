/* SPDX-License-Identifier: Apache-2.0 */
/* A module as it would run: every operation in order, and which buffer is taken and given back when. What an operation does beyond its
 * printed types (views, buffers inside it) is in module_rules.c. */
#ifndef TTM_PROFILE_MODULE_RUN_H
#define TTM_PROFILE_MODULE_RUN_H

#include "base/map.h"
#include "parse/module.h"
#include "profile/profile.h"

typedef enum ttm_run_act {
  TTM_RUN_ENTER, /* a function begins: `op` calls it */
  TTM_RUN_LEAVE,
  TTM_RUN_OP,   /* an operation begins: what follows happens in it */
  TTM_RUN_TAKE, /* a buffer */
  TTM_RUN_GIVE,
} ttm_run_act;

typedef struct ttm_run_event {
  uint32_t op; /* of the module; TTM_NO_ROW before the first */
  uint32_t
      what; /* TAKE, GIVE: buffer; ENTER, LEAVE: function; OP: TTM_OP_CACHE_HIT and TTM_OP_RETAINED of profile.h, or 0 */
  uint8_t act; /* ttm_run_act */
} ttm_run_event;

typedef struct ttm_run_buffer {
  uint32_t type;  /* row of `types` */
  uint32_t op;    /* that took it; TTM_NO_ROW for arguments */
  uint32_t value; /* it was taken for; TTM_NO_ROW inside an operation */
  uint32_t refs;  /* values that share it */
  bool inner;     /* only inside its operation: no memory state ever shows it */
  bool kept;      /* outlives the program: an argument, a cached result */
  bool retained;  /* a deallocate does not free it */
  bool gone;
} ttm_run_buffer;

/* Who runs the module. The runtime lets a value go with its deallocate. The values of emitted Python hold their buffers until the function
 * returns, so a buffer with a view on it stays until then. Where the locations name the functions of a PyTorch model (layers), tt-mlir emits a
 * function for each and no deallocate: what a layer does not hand on goes when it returns, the rest at the end. */
typedef enum ttm_runner { TTM_RUNNER_COMPILED, TTM_RUNNER_PYTHON } ttm_runner;

/* What was seen of operations that ran: by ttm_op_signature, TTM_SEEN_*. */
enum { TTM_SEEN_VIEW = 1, TTM_SEEN_TAKING = 2 };
typedef struct ttm_run_lessons {
  ttm_map ops;
  /* Kernels and what else programs leave in DRAM: bytes per bank + 1 by signature and by name, each where it ran first; and what a program
   * of a name, or of a kind, leaves that was never seen. */
  ttm_map left;
  uint64_t new_name, new_program;
  uint32_t banks;       /* of DRAM where that was seen */
  bool arguments_freed; /* a deallocate of an argument freed it */
  ttm_map there; /* by ttm_cached_key and ttm_argument_key: 1 for what other programs have brought to the device */
} ttm_run_lessons;

typedef struct ttm_module_run {
  const ttm_module *module;
  ttm_runner runner;
  const ttm_run_lessons *lessons; /* NULL */
  TTM_VEC(ttm_run_event) events;
  TTM_VEC(ttm_run_buffer) buffers;
  TTM_VEC(ttm_tensor_type) types;          /* the module's, row by row, then those of buffers inside operations */
  TTM_VEC(size_t) runs;                    /* where each run of the entry function begins in `events` */
  uint64_t l1_unknown;                     /* operations that take L1 which nothing tells of */
  uint64_t dram_unknown;                   /* DRAM */
  uint32_t l1_unknown_op, dram_unknown_op; /* the first of each */
  ttm_map kept;                            /* signatures of operations whose programs keep something */
  uint64_t unknown;     /* operations whose effect is not known: what is held is at least what the events say */
  bool layered;         /* Python in functions of layers */
  uint64_t layer;       /* the one that runs */
  uint32_t layer_value; /* its first value */
  uint32_t layer_row;   /* its first operation */
  bool numbered;        /* locations begin with the number of the operation */
  uint32_t *last_use;   /* by value: operation of its function, deallocations left out */
  uint32_t *buffer_of;  /* by value, while it runs */
  uint32_t *bound;      /* by run and value: the buffer it had, TTM_NO_ROW; see ttm_module_run_buffer */
  uint32_t *cached;     /* by function: first of its results in `cached_buffers`, TTM_NO_ROW */
  TTM_VEC(uint32_t) cached_buffers;
  TTM_VEC(uint32_t) returned; /* scratch: results on their way to the caller */
  uint8_t *running;           /* by function */
  TTM_VEC(uint64_t) brought;  /* keys of what later programs find there */
} ttm_module_run;

/* Runs the entry function `times` times, the first time with an empty cache. 0 or TTM_ENOMEM; freed with ttm_module_run_free in any case. The
 * module must outlive it, the lessons (NULL: none) only the call. */
int ttm_module_run_make(ttm_module_run *run, const ttm_module *module, ttm_runner runner, uint32_t times,
                        const ttm_run_lessons *lessons);
void ttm_module_run_free(ttm_module_run *run);

/* The buffer behind a value in a run; TTM_NO_ROW. */
static inline uint32_t ttm_module_run_buffer(const ttm_module_run *run, size_t number, uint32_t value) {
  return run->bound[number * run->module->value_types.n + value];
}

/* The same for operations that do the same: by name and types. */
uint64_t ttm_op_signature(const ttm_module *module, const ttm_module_op *op);
/* By name alone. */
uint64_t ttm_op_name_key(const ttm_module_op *op);

/* The same in every module of a log for a load_cached of the same function with the same weights: the runtime's cache goes by the text of the
 * function and the tensors it takes. 0 when it takes something without a name. */
uint64_t ttm_cached_key(const ttm_module *module, const ttm_module_op *op);
/* The same for an argument of the entry function; 0 for inputs, which are new in every run, and without a name. */
uint64_t ttm_argument_key(const ttm_module *module, uint32_t argument);

/* A run of the log beside run `k` of its module. */
typedef struct ttm_run_walk {
  const ttm_module_run *run;
  const ttm_profile *p;
  uint32_t top; /* call */
  size_t event, end;
  uint32_t depth;
} ttm_run_walk;
ttm_run_walk ttm_run_walk_start(const ttm_module_run *run, size_t k, const ttm_profile *p, uint32_t call);
/* The next operation of the module that lies `depth` functions deep; TTM_NO_ROW when the functions around it end first. `event` stands behind
 * it. */
uint32_t ttm_run_walk_next(ttm_run_walk *walk, uint32_t depth);

/* The next operation of the log, in order, and the module's beside it. */
typedef enum ttm_walk_step {
  TTM_WALK_SAME,  /* it is *row */
  TTM_WALK_ASIDE, /* of another rank, or of a function that the module lacks */
  TTM_WALK_OTHER, /* the run is of another module */
} ttm_walk_step;
ttm_walk_step ttm_run_walk_op(ttm_run_walk *walk, uint32_t op, uint32_t *row);

/* A board of the kind that the module was compiled for. */
const ttm_board *ttm_module_board(const ttm_module *module);

/* A copy between two shapes in tiles. */
typedef struct ttm_reshape_map {
  ttm_str storage;
  ttm_dims from, to;
} ttm_reshape_map;

/* What the program of such a copy keeps in DRAM: where each piece comes from. */
ttm_tensor_type ttm_reshape_map_type(const ttm_reshape_map *map);
/* The same for copies that one program does. */
uint64_t ttm_reshape_map_key(const ttm_reshape_map *map);

/* What an operation does that its types do not say. */
enum { TTM_MOST_INNER = 8, TTM_MOST_MAPS = 2 };
typedef struct ttm_op_rule {
  uint32_t view;        /* operand whose buffer the result shares; TTM_NO_ROW */
  uint32_t inner_count; /* buffers inside the operation, taken one after another before the result ... */
  ttm_tensor_type
      inner[TTM_MOST_INNER];           /* ... each given back when the next one is there, the last when the result is */
  bool hold;                           /* all of them are there until then */
  ttm_reshape_map maps[TTM_MOST_MAPS]; /* copies inside it whose programs keep their maps */
  uint32_t map_count;
  ttm_tensor_type result; /* what the result is in truth; without a layout: what is printed */
  bool l1_unknown;        /* it takes L1 that nothing tells of */
  bool dram_unknown;      /* it may take DRAM that nothing tells of */
} ttm_op_rule;
void ttm_op_rule_find(const ttm_module *module, const ttm_module_op *op, ttm_op_rule *out);

#endif
