/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of an input need to finish: their modules, run with the bank rules of every board. A log's own first state says what was
 * there before; without one it is the module's arguments. */
#ifndef TTM_ANALYZE_PREDICT_H
#define TTM_ANALYZE_PREDICT_H

#include "profile/module_run.h"

enum { TTM_NEED_DRAM, TTM_NEED_L1, TTM_NEEDS };

/* Of one memory, per bank. */
typedef struct ttm_need {
  uint64_t bytes;  /* the most that is held at once: as states show it, of emitted Python inside operations too */
  uint64_t inside; /* the most inside an operation, its own buffers included */
  uint64_t warm_up, steady; /* the same in the first run, and in later ones, which find const-eval results cached */
  uint32_t op;              /* operation of the module that raises it; TTM_NO_ROW: the arguments */
} ttm_need;

/* A program on a board. */
typedef struct ttm_board_need {
  const ttm_board *board;
  uint64_t capacity[TTM_NEEDS]; /* per bank */
  ttm_need need[TTM_NEEDS];
  uint64_t left[TTM_NEEDS];  /* what it leaves there when it is over: arguments and cached results */
  bool refused;              /* the board has no room for all of it; then: */
  ttm_incident_text refusal; /* as ttnn would word it, without the sentence */
  uint32_t refused_op;       /* operation of the module; TTM_NO_ROW: its arguments */
} ttm_board_need;

typedef struct ttm_program_need {
  uint32_t graph; /* of the profile */
  ttm_runner runner;
  ttm_buf text; /* of the module */
  ttm_module module;
  ttm_module_run run;
  bool matched;          /* what the log shows of it is what its module says */
  const ttm_board *home; /* the board it was compiled for, or the log's */
  ttm_board_need boards[TTM_BOARDS];
  bool later;                   /* it is about a later run, which finds const-eval results cached */
  uint64_t capacity[TTM_NEEDS]; /* per bank of `home` by the log's states; TTM_UNKNOWN: as the board has it */
  uint64_t before[TTM_NEEDS];   /* held before it begins, per bank of `home`; TTM_UNKNOWN: what the arguments take */
  const struct ttm_program_need *after; /* ... and what this program has left; NULL */
  uint64_t other_runner[TTM_BOARDS];    /* DRAM per bank when the other runner runs it */
} ttm_program_need;

/* Zero is the empty one; freed with ttm_prediction_free. */
typedef struct ttm_prediction {
  TTM_VEC(ttm_program_need *) programs; /* in the order of their graphs */
  uint32_t whole;                       /* the one that ran out of memory, or that needs most DRAM */
} ttm_prediction;

/* 0 or TTM_ENOMEM; no programs when the input holds no TTNN module. */
int ttm_predict(ttm_prediction *out, const ttm_profile *p, ttm_runner runner);
void ttm_prediction_free(ttm_prediction *prediction);

/* Operations that take more inside than anything tells. */
static inline uint64_t ttm_need_inside(const ttm_program_need *program, int memory) {
  return memory == TTM_NEED_L1 ? program->run.l1_unknown : program->run.dram_unknown;
}

/* The first of them. */
static inline uint32_t ttm_need_inside_op(const ttm_program_need *program, int memory) {
  return memory == TTM_NEED_L1 ? program->run.l1_unknown_op : program->run.dram_unknown_op;
}

/* True when something of the program was not understood: it needs at least what is said. */
static inline bool ttm_need_is_lower_bound(const ttm_program_need *program, int memory) {
  return program->run.unknown || ttm_need_inside(program, memory);
}

/* Whether the operations of a call are those of the program, as far as they go (`matched`), and what they teach. 0 or TTM_ENOMEM. */
int ttm_match_run(ttm_program_need *program, const ttm_profile *p, uint32_t call, ttm_run_lessons *lessons);

/* Who runs the modules of an input: a file of its own is mostly the one beside emitted Python, in a log they are compiled. */
ttm_runner ttm_runner_of(const ttm_profile *p);
const char *ttm_runner_name(ttm_runner runner);

/* Name and place of an operation of the module; empty for TTM_NO_ROW. `line` is of the module's text. 0 or TTM_ENOMEM. */
int ttm_need_place(const ttm_program_need *program, uint32_t op, ttm_str *name, ttm_str *location, uint32_t *line);

#endif
