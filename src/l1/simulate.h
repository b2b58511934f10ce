/* SPDX-License-Identifier: Apache-2.0 */
/* What a strategy does on one core: bytes and addresses of each buffer, how much of the work's data it can hold, how full L1 gets, and
 * whether tt-metal would run it. Formulas and their sources: docs/l1.md. */
#ifndef TTM_L1_SIMULATE_H
#define TTM_L1_SIMULATE_H

#include "base/arena.h"
#include "l1/map.h"
#include "l1/placement.h"
#include "l1/strategy.h"
#include "l1/words.h"

/* The core and what else lies on it. */
typedef struct ttm_cb_machine {
  ttm_arch_id arch;
  uint64_t l1_bytes;
  uint64_t base;
  ttm_basis base_basis;  /* derived: by version; estimated: the newest version assumed */
  uint64_t small;        /* L1_SMALL */
  uint64_t tile_bytes;   /* of buffers without a dtype of their own */
  uint64_t kernel_bytes; /* of the program in the kernel ring */
  ttm_basis kernel_basis;
  TTM_VEC(ttm_l1_region) tensors; /* `end` holds bytes per core; placed in order, names borrowed */
} ttm_cb_machine;

typedef enum ttm_pressure_level { TTM_PRESSURE_LOW, TTM_PRESSURE_MEDIUM, TTM_PRESSURE_HIGH } ttm_pressure_level;

typedef struct ttm_cb_row {
  ttm_str name;
  uint64_t tiles, needed, passing, tile_bytes, bytes;
  uint64_t address;
  bool streams, borrowed;
  double miss_pct;      /* of what is needed at a time and used again; 0 for streams */
  bool single_buffered; /* a stream of one tile: producer and consumer wait for each other */
} ttm_cb_row;

typedef struct ttm_cb_result {
  ttm_cb_plans plans;
  TTM_VEC(ttm_cb_row) rows;
  uint64_t buffer_bytes; /* of the fullest core range, without holes */
  uint64_t buffers_end;  /* highest end of all core ranges */
  uint64_t hole_bytes;   /* left between buffers on different core ranges, and by alignment */
  uint64_t tensor_bytes;
  bool tensors_fit;                         /* false: L1 cannot hold the tensors, with or without buffers */
  uint64_t used;                            /* of L1, reserved part included */
  uint64_t free_bytes;                      /* between buffers and tensors */
  double used_pct;                          /* of the whole L1 */
  double miss_pct;                          /* of the worst buffer */
  size_t worst;                             /* that buffer; SIZE_MAX when nothing is missed */
  double miss_score, space_score, pressure; /* 0-100; pressure is the larger of the two */
  ttm_pressure_level level, thrashing;
  double utilization_pct; /* of what is needed, held */
  double efficiency_pct;  /* how well held and needed match */
  uint64_t more_bytes;    /* that would hold everything needed */
  uint64_t spare_bytes;   /* held beyond what is needed */
  ttm_l1_fit fit;
  ttm_core_range fit_range; /* first that does not fit */
  uint64_t fit_end;         /* and where its buffers end */
  ttm_l1_map map;           /* of a core with the fullest range */
} ttm_cb_result;

/* The strategies of one workload, side by side. */
typedef struct ttm_cb_case {
  ttm_cb_workload workload;
  TTM_VEC(ttm_cb_result) results;
} ttm_cb_case;

typedef struct ttm_cb_finding {
  ttm_cb_level level;
  const char *rule; /* "l1-clash", "misses", ... */
  size_t workload;  /* index of its case; SIZE_MAX: of the machine, or of all workloads together */
  ttm_str strategy; /* empty: of none */
  ttm_str text;
} ttm_cb_finding;

typedef struct ttm_cb_simulation {
  ttm_cb_machine machine;
  TTM_VEC(ttm_cb_case) cases;
  TTM_VEC(ttm_cb_finding) findings;
  ttm_arena arena; /* their texts */
} ttm_cb_simulation;

typedef enum ttm_workload_class {
  TTM_WORKLOAD_SMALL,  /* up to 8 tiles */
  TTM_WORKLOAD_MEDIUM, /* up to 16 */
  TTM_WORKLOAD_LARGE,  /* up to 32 */
  TTM_WORKLOAD_VERY_LARGE,
} ttm_workload_class;

ttm_workload_class ttm_workload_class_of(const ttm_cb_workload *workload);
const char *ttm_workload_class_name(ttm_workload_class class_);
const char *ttm_workload_class_strategy(ttm_workload_class class_); /* "Balanced allocation" */
const char *ttm_pressure_level_name(ttm_pressure_level level);      /* "LOW" */

/* Score 0-100 of a miss rate and of how full L1 is; docs/l1.md. */
double ttm_miss_score(double miss_pct);
double ttm_space_score(double used_pct);
ttm_pressure_level ttm_pressure_level_of(double score);

/* Takes over `plans` (also on failure). 0 or TTM_ENOMEM. Freed with ttm_cb_result_free in any case. */
int ttm_cb_simulate(ttm_cb_result *out, ttm_cb_plans *plans, const ttm_cb_machine *machine);
void ttm_cb_result_free(ttm_cb_result *result);

/* Fills the findings from the cases. 0 or TTM_ENOMEM. */
int ttm_cb_judge(ttm_cb_simulation *simulation);
void ttm_cb_simulation_free(ttm_cb_simulation *simulation);

/* The strategy worth looking at: the first that does not fit, else the one with least pressure. */
size_t ttm_cb_case_choice(const ttm_cb_case *c);

/* Sets what follows from architecture and version ("" for the newest). 0, or TTM_EUSAGE when no base is known. */
int ttm_cb_machine_set(ttm_cb_machine *machine, ttm_arch_id arch, ttm_str version, ttm_error *err);

#endif
