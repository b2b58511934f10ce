/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile means: every conclusion the reports print, made once by pure functions over the profile.
 * Operations, states and tensors are named by their profile index; figures are 0.001 MB per bank unless the name says
 * bytes. */
#ifndef TTM_ANALYZE_FINDINGS_H
#define TTM_ANALYZE_FINDINGS_H

#include "analyze/alive_set.h"
#include "analyze/consumers.h"
#include "analyze/culprits.h"
#include "analyze/decisions.h"
#include "analyze/device_time.h"
#include "analyze/fix.h"
#include "analyze/fragmentation.h"
#include "analyze/growth.h"
#include "analyze/host.h"
#include "analyze/layers.h"
#include "analyze/lifetimes.h"
#include "analyze/obstacles.h"
#include "analyze/predict.h"
#include "analyze/rescue.h"
#include "analyze/traces.h"
#include "analyze/waste.h"
#include "base/basis.h"
#include "base/boards.h"
#include "l1/core_use.h"
#include "profile/profile.h"
#include "ttmem/findings.h"

/* ---- Effects ----------------------------------------------------------------------------------------------------- */

/* What an operation did to a memory: the next state of its rank minus the state before it. False when either is missing, when the operation
 * failed or its process was cut off, when the device was opened anew in between, or when the host did it. */
bool ttm_op_effect(const ttm_profile *p, uint32_t op, ttm_memory memory, int64_t *out);

/* Why that is false, as the end of a sentence. */
const char *ttm_op_effect_unknown(const ttm_profile *p, uint32_t op, ttm_memory memory);
/* The same for the operation of state `before`; `after` is the state behind it, or TTM_NONE. For walks that know it. */
bool ttm_effect_between(const ttm_profile *p, uint32_t before, uint32_t after, ttm_memory memory, int64_t *out);

/* The const-eval program that ran inside a load_cached; TTM_NONE when none did. */
uint32_t ttm_op_program(const ttm_profile *p, uint32_t op);
/* ttm_op_effect together with the program inside: what a load_cached leaves. The same for every other operation. */
bool ttm_op_effect_whole(const ttm_profile *p, uint32_t op, ttm_memory memory, int64_t *out);
/* How far the memory rose above the operation's own state inside that program (0.001 MB per bank); *ops elements ran there. */
uint32_t ttm_op_inside(const ttm_profile *p, uint32_t op, ttm_memory memory, uint32_t *ops);

/* Every change of DRAM between two states, summed by who made it, over all ranks; 0.001 MB per bank. The parts add up to `total`. */
typedef struct ttm_attribution {
  bool known;         /* false: states stand only around programs, and nothing tells who changed them */
  int64_t added;      /* rises at operations of the programs */
  int64_t const_eval; /* what const-eval programs left; belongs to their load_cached */
  int64_t given_back; /* falls at operations other than deallocate */
  int64_t freed;      /* by deallocate */
  int64_t host;       /* between runs, or where no block tells which operation */
  int64_t total;      /* last states minus first states */
} ttm_attribution;

/* ---- Peaks ------------------------------------------------------------------------------------------------------- */

/* The highest state of ANY block (submit blocks and those before deallocations included), the first one of that
 * height. Operations that were printed without states may come higher: then what their results take counts. */
typedef struct ttm_peak {
  bool known;
  bool at_least;     /* a lower bound: the input is a window */
  bool derived;      /* `level` is of operations without states, and `measured` a lower bound */
  uint32_t measured; /* allocated in the highest state ... */
  uint32_t printed;  /* ... and in the highest that the log has, where others are predicted */
  ttm_level level;
  uint32_t state;  /* derived: the last one before */
  uint32_t before; /* derived: the operation that ran next; else TTM_NONE */
  uint32_t opened; /* the first state of such a device */
  uint32_t cause;  /* operation that raised it; TTM_NONE: empty, there from the start, or no block tells who */
  int64_t effect;  /* what that operation added */
  /* Allocated per bank inside a failing operation, as its message says, when that is above the level; else 0. */
  uint64_t in_op_bytes;
  uint32_t in_op_incident; /* that message, or TTM_NONE */
} ttm_peak;

/* The peak on each kind of device that the log shows, by banks and capacity, in the order of the log: more than one when a device was opened anew.
 * Nobody opens more kinds than are told apart; a hostile log may. */
enum { TTM_DEVICE_KINDS = 16 };
typedef struct ttm_device_peaks {
  ttm_peak at[TTM_DEVICE_KINDS];
  uint32_t n;
} ttm_device_peaks;

/* ---- Live tensors ------------------------------------------------------------------------------------------------ */

/* Device tensors alive once an operation is done: made by operations of its rank and not freed, each counted once.
 * Program arguments are not among them. What a program run returns leaves the sums when the next run of the rank
 * starts; what const-eval programs made stays, being cached, until a deallocate frees it. A load_cached counts the
 * results of the program inside it. */
typedef struct ttm_alive_sum {
  uint64_t logical_bytes; /* without padding */
  uint64_t stored_bytes;  /* over all banks, padding included */
  uint64_t tensors;
} ttm_alive_sum;

/* Walks the operations in order; constant work per operation. Zero-initialise, set `profile`, free at the end. */
typedef struct ttm_alive {
  const ttm_profile *profile;
  ttm_alignment align;
  struct ttm_alive_rank *ranks; /* running sums per rank; opaque */
  struct ttm_alive_cost *costs; /* bytes by type; opaque */
  uint32_t *counted;            /* per tensor: 1 + the operation that added it to the sums, 0 when freed; opaque */
  uint32_t next;                /* operation the next step will take */
  ttm_alive_sum dram, l1;       /* after the last step, of that operation's rank */
} ttm_alive;

int ttm_alive_init(ttm_alive *live, const ttm_profile *profile);
/* Takes operation live->next; dram and l1 then hold what is alive when it is done. */
void ttm_alive_step(ttm_alive *live);
void ttm_alive_free(ttm_alive *live);

/* ---- Padding ----------------------------------------------------------------------------------------------------- */

typedef struct ttm_padding_row {
  uint32_t op;                          /* the first one */
  uint32_t result;                      /* which of its results */
  uint64_t logical_bytes, stored_bytes; /* of one of them */
  uint32_t places;                      /* operations alike: the same one of every layer */
  uint32_t times;                       /* how often they ran in all */
  uint32_t group;                       /* of ttm_padding_place */
  ttm_str name;                         /* where they stand, folded */
} ttm_padding_row;

/* One of the operations behind a row. */
typedef struct ttm_padding_place {
  uint32_t group, op;
} ttm_padding_place;

/* ---- Registry of arguments --------------------------------------------------------------------------------------- */

typedef struct ttm_registry_entry {
  uint32_t graph, arg;
  uint64_t bytes; /* per device, logical */
  bool weight;    /* parameter or constant */
  bool repeated;  /* same name, type and kind as an entry of an earlier graph: not counted again */
  uint32_t group; /* of a weight that is counted; TTM_NONE */
} ttm_registry_entry;

/* The same weight of every layer. */
typedef struct ttm_weight_group {
  ttm_str name;   /* "model.layers.*.mlp.up_proj.weight" */
  uint32_t entry; /* the first of them */
  uint32_t count;
  uint64_t bytes; /* of all of them */
} ttm_weight_group;

typedef struct ttm_registry {
  TTM_VEC(ttm_registry_entry) entries;
  TTM_VEC(uint32_t) first_of_graph;       /* entry index of each graph's argument 0 */
  uint64_t weights, inputs, weight_bytes; /* counted once over all graphs */
  TTM_VEC(ttm_weight_group) groups;       /* of weights, in the order of their first entry */
  ttm_arena names;                        /* of the groups */
} ttm_registry;

/* Registry entry of argument `arg` as an operation in `call` sees it, or TTM_NONE. */
uint32_t ttm_registry_find(const ttm_registry *r, const ttm_profile *p, uint32_t call, uint32_t arg);

/* True when the operation takes at least one weight (parameter or constant). */
bool ttm_op_takes_weight(const ttm_registry *r, const ttm_profile *p, uint32_t op);

/* ---- Incidents --------------------------------------------------------------------------------------------------- */

typedef enum ttm_verdict {
  TTM_VERDICT_NONE,
  TTM_VERDICT_EXHAUSTED,  /* free < needed */
  TTM_VERDICT_FRAGMENTED, /* free >= needed, but no single block is large enough */
  TTM_VERDICT_IMPOSSIBLE, /* needed > the bank itself */
  TTM_VERDICT_BLOCKED,    /* a block would be large enough, but per-core allocations lie in it */
} ttm_verdict;

/* "exhausted", "fragmented", "impossible"; NULL for none. */
const char *ttm_verdict_name(ttm_verdict verdict);
/* What an out-of-memory message says by itself, and the bytes per bank that were missing (TTM_UNKNOWN without a verdict). */
ttm_verdict ttm_verdict_of(const ttm_incident_text *what, uint64_t *shortfall);
/* The message ttnn would print if a bank refused `needed` bytes, without the sentence. */
struct ttm_bank;
void ttm_refusal_make(ttm_incident_text *out, const struct ttm_bank *bank, uint32_t banks, ttm_memory memory,
                      uint64_t needed);

typedef struct ttm_incident_finding {
  uint32_t incident;
  ttm_verdict verdict;
  uint64_t shortfall; /* bytes per bank that were missing (clash: the overlap); TTM_UNKNOWN when nothing tells */
  bool derived;       /* too few numbers in the message: judged by the last state before it, which is rounded and misses
                       * what the operation itself had allocated by then */
  ttm_rescue rescue;  /* out of memory: tensors that could have been freed before */
  ttm_obstacles obstacles; /* clash: tensors in the way */
} ttm_incident_finding;

/* Whether the weights of the log's graphs fit into DRAM at all, in the form the device keeps them in. */
typedef struct ttm_weight_demand {
  uint64_t bytes;    /* of all of them on one device, estimated by those seen there; 0 when nothing tells */
  uint64_t capacity; /* of its DRAM */
  uint64_t as_bfp8;  /* the same with the bf16 matrices of products as bfp8 */
  uint32_t matrices; /* so many of them */
  uint32_t largest;  /* string: name of the largest */
} ttm_weight_demand;

/* ---- Runs and leaks ---------------------------------------------------------------------------------------------- */

/* One top-level program run. Figures are DRAM; TTM_NONE when no state tells. */
typedef struct ttm_run {
  uint32_t call;
  uint32_t first_op, last_op; /* elements only; TTM_NONE when it has none */
  uint32_t start;             /* before submit, else before its first operation */
  uint32_t end;               /* after submit, else in the rank's next state after its last one, else in its last one */
  uint32_t peak;              /* highest of its own states, and of `end` when the run itself raised it */
} ttm_run;

/* All runs of one program on one rank. Runs are named by their position in `runs`. */
typedef struct ttm_program_runs {
  uint32_t call; /* of the first run: tells name, rank and graph */
  uint32_t runs;
  uint32_t first_run, last_run;
  /* Most runs rise equally far above their start: these are the usual ones. */
  uint32_t warm_up;        /* runs before the first usual one */
  uint32_t odd;            /* runs after it that are not like them: one that died, say */
  uint32_t usual_run;      /* the last usual one; the last run when no state tells */
  uint32_t peak, peak_run; /* highest DRAM of them all; TTM_NONE when no state tells */
} ttm_program_runs;

/* DRAM that every run of one program leaves behind, or every round of runs. Only reported when the level at its start (and end) rose by the
 * same amount each of at least three times after the first run, or by what the results of one operation take. */
typedef struct ttm_leak {
  uint64_t per_run;      /* 0.001 MB per bank and run */
  uint32_t runs_seen;    /* runs that prove it: rises of the start level */
  uint32_t first_run;    /* from the start of this one (position in `runs`) ... */
  uint32_t last_run;     /* ... to the start of that one */
  ttm_culprits culprits; /* whose results stay; none when nothing adds up */
  uint32_t op;           /* the largest of them, TTM_NONE */
  const char
      *confidence;      /* "high": operations found, 5 rises or more; "medium": found, or others would fit too; "low" */
  uint64_t runs_left;   /* more runs like the last until its DRAM peak no longer fits (derived); TTM_UNKNOWN */
  bool round;           /* not of one program: what all runs leave from one of the program's to the next */
  bool uneven;          /* it varied: per_run is the average of ... */
  uint64_t least, most; /* ... these */
} ttm_leak;

/* ---- All of it --------------------------------------------------------------------------------------------------- */

typedef struct ttm_count {
  ttm_str name; /* "load_cached" without its dialect; points into the profile's strings */
  uint64_t n;
} ttm_count;

/* Runs of one program that can prove a leak: one of warm-up, and three equal rises after it. */
enum { TTM_LEAK_RISES = 3, TTM_LEAK_RUNS = TTM_LEAK_RISES + 2 };
enum { TTM_INDEX_STEP = 64 }; /* the bits of a word */

struct ttm_findings {
  atomic_int more_owners; /* besides the first; see ttm_findings_share */
  const ttm_profile *profile;
  uint32_t elements;      /* operations that are elements of the reports */
  uint32_t weight_ops;    /* elements in const-eval programs or taking a weight */
  uint32_t *index_marks;  /* elements before operation i*TTM_INDEX_STEP; see ttm_findings_index */
  uint64_t *element_bits; /* bit per operation: it is an element */
  uint32_t *own_before;   /* elements of its own rank before each operation; NULL in a log of one rank */
  ttm_peak peak[TTM_MEMORIES];
  ttm_device_peaks devices[TTM_MEMORIES];
  ttm_consumers consumers[TTM_MEMORIES]; /* a const-eval program counts for its load_cached */
  ttm_attribution attribution;
  ttm_alive_sum alive_at_peak; /* DRAM tensors alive at the DRAM peak's state; of alive_set where that is known */
  /* Highest 100*(stored-logical)/logical of the live DRAM sums after any element: the old tool's "Padding Overhead".
   * Not the overhead at the memory peak, which alive_at_peak gives. */
  double padding_peak_pct;
  ttm_alive_set alive_set[2];                /* DRAM and L1 at their peaks */
  ttm_lifetimes lifetimes;                   /* tensors freed late */
  ttm_wastes wastes;                         /* bytes at the DRAM peak that hold nothing */
  ttm_fragmentation fragmentation;           /* of DRAM */
  ttm_layers layers;                         /* the repeating block */
  ttm_prediction prediction;                 /* of programs that did not finish, or never ran */
  ttm_remedies peak_fixes;                   /* what takes most off the DRAM peak */
  TTM_VEC(ttm_remedies) failure_fixes;       /* of the first incidents; of others ttm_fixes_of_failure, untried */
  ttm_arena changes;                         /* texts of the fixes that were tried */
  ttm_statements statements;                 /* all of it in words */
  TTM_VEC(ttm_padding_row) padding;          /* at most TTM_TOP, largest overhead first */
  TTM_VEC(ttm_padding_place) padding_places; /* of these rows and of others */
  ttm_arena padding_names;
  ttm_registry registry;
  ttm_map weight_uses; /* string: name of a weight -> TTM_USE_* of all programs */
  ttm_weight_demand weight_demand;
  TTM_VEC(ttm_incident_finding) incidents; /* in log order, one per profile incident */
  TTM_VEC(ttm_run) runs;
  TTM_VEC(ttm_program_runs) programs; /* by first run, at most 64 */
  TTM_VEC(ttm_leak) leaks;
  TTM_VEC(ttm_leak) suspects;      /* too few rises, or uneven ones */
  ttm_growths growths;             /* of captures, largest first */
  TTM_VEC(ttm_count) distribution; /* by count, then first appearance */
  ttm_shown_clash shown_clash;     /* captures: the clash they show without a message */
  ttm_core_use core_use;           /* captures: L1 core by core */
  ttm_host_findings host;          /* recordings: memory of the host */
  ttm_traces traces;               /* recordings: those captured, and what their replays overwrite */
  ttm_decision_list decisions;     /* what the compiler planned beside it, one for each decision trace */
  ttm_device_time time;            /* what the profiler measured beside it */
  uint32_t *tensor_buffers;        /* captures: the first buffer of each tensor, TTM_NONE; NULL for a log */
};

/* Whether late frees, waste and fixes of the peak were looked for at all: nothing known is another thing than nothing found. */
static inline bool ttm_findings_lives_known(const ttm_findings *f) { return f->lifetimes.known; }

/* Another owner: the findings stay until each has called ttm_findings_free. */
ttm_findings *ttm_findings_share(const ttm_findings *findings);

#endif
