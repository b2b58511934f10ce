/* SPDX-License-Identifier: Apache-2.0 */
/* What an input allocated and freed in DRAM and L1, in order: of a log by its replay (analyze/replay.h), of a capture or recording by its buffers.
 * Where a program did not finish stands the rest of it, as its module tells it.
 * What is held from an allocation to its free is a holding; each allocation, free and refusal is an entry. A run that did the same to memory as
 * an earlier one is left out. analyze/trial.h plays a ledger again with changes. */
#ifndef TTM_ANALYZE_LEDGER_H
#define TTM_ANALYZE_LEDGER_H

#include "analyze/replay.h"

/* What a pattern is compared with; shared by the results of one operation text. */
typedef struct ttm_label {
  ttm_str name; /* of the weight or input it comes from; empty */
  ttm_str op;   /* "ttnn.matmul"; empty */
  ttm_str at;   /* the operation's location; empty */
  ttm_alive_class class;
} ttm_label;

/* A tensor, a buffer of kernels, or memory that no tensor explains. */
typedef struct ttm_holding {
  uint64_t bytes; /* per bank */
  uint64_t total,
      page; /* over all banks, and what goes to one bank at a time (0: anything); counts where the type is not known */
  uint64_t address;            /* in its bank, as recorded; TTM_UNKNOWN */
  const ttm_tensor_type *type; /* NULL: unknown */
  uint32_t label;
  uint32_t tensor;                    /* TTM_NONE */
  uint32_t op;                        /* that made it; TTM_NONE */
  uint32_t rest_use;                  /* operation of the rest that takes it last; 0: none does */
  uint32_t first_argument, arguments; /* there before the log: arguments of programs that lie in it */
  uint8_t memory;                     /* TTM_REPLAY_* */
  uint8_t rest;                       /* number of the rest it is of, from 1; 0: recorded */
  bool from_top;
} ttm_holding;

/* An argument that the host put there before the log began. */
typedef struct ttm_held_argument {
  const ttm_tensor_type *type;
  uint64_t bytes; /* per bank */
  uint32_t label;
} ttm_held_argument;

typedef enum ttm_entry_act {
  TTM_ENTRY_TAKE,
  TTM_ENTRY_GIVE,
  TTM_ENTRY_SHRINK,  /* memory that no tensor explains: `bytes` per bank of it go */
  TTM_ENTRY_REFUSED, /* there was no room: as in the failure `incident` */
  TTM_ENTRY_DEVICE,  /* the device was opened anew and is empty: `holding` is its number in `devices` */
} ttm_entry_act;

typedef struct ttm_entry {
  uint64_t bytes;
  uint32_t holding;
  uint32_t op;       /* during which it happens; between two runs the next one. Of the rest: see `rest_ops` */
  uint32_t incident; /* REFUSED */
  uint8_t act;
} ttm_entry;

/* The banks of a device, as it was opened. */
typedef struct ttm_ledger_device {
  uint32_t banks[TTM_REPLAY_MEMORIES];
  uint64_t size[TTM_REPLAY_MEMORIES]; /* of a bank */
  ttm_alignment align;
} ttm_ledger_device;

/* What would follow in a run that did not finish. What is recorded after it did not happen then. */
typedef struct ttm_program_rest {
  const ttm_program_need *program; /* whose module tells it */
  uint32_t run;                    /* call */
  uint32_t incident;               /* that ended it; TTM_NONE: the log ended */
  uint32_t last;                   /* operation of the log with which it begins, or behind which */
  size_t first, end;               /* entries */
} ttm_program_rest;
enum { TTM_RESTS = 3 };

typedef struct ttm_rest_op {
  const ttm_program_need *program;
  uint32_t row; /* of its module */
} ttm_rest_op;

typedef struct ttm_ledger {
  const ttm_findings *findings;
  TTM_VEC(ttm_entry) entries;
  TTM_VEC(ttm_holding) holdings;
  TTM_VEC(ttm_held_argument) arguments;
  TTM_VEC(ttm_label) labels;
  ttm_map label_ids;
  TTM_VEC(ttm_ledger_device) devices; /* the first is there from the start */
  ttm_program_rest rests[TTM_RESTS];  /* in the order of their entries */
  size_t rest_count;
  TTM_VEC(ttm_rest_op) rest_ops;          /* as they would run: the first is operation profile->ops.n of entries */
  uint64_t measured[TTM_REPLAY_MEMORIES]; /* highest level per bank, as the input says; 0 when it does not */
  uint64_t slack;                         /* bytes by which levels may be off: a log prints them rounded */
  uint64_t states, agree; /* logs: states, and those whose largest free DRAM block the replay reproduced */
  uint64_t unaccounted;   /* logs: bytes per bank at the end that no tensor explains */
} ttm_ledger;

/* Of the rank or device that failed, else of the one with the highest DRAM level. 0 or TTM_ENOMEM; freed with ttm_ledger_free in any case.
 * Only for inputs of which ttm_ledger_possible is true. */
int ttm_ledger_make(ttm_ledger *out, const ttm_findings *f);
void ttm_ledger_free(ttm_ledger *ledger);

/* Whether the input tells what is allocated and freed when. */
bool ttm_ledger_possible(const ttm_profile *p);

/* Appends an allocation or a refusal with its holding, or the free of a holding. 0 or TTM_ENOMEM. */
int ttm_ledger_take(ttm_ledger *ledger, const ttm_holding *holding, uint32_t op, uint32_t *out);
int ttm_ledger_give(ttm_ledger *ledger, uint32_t holding, uint32_t op);
/* Appends the rest of a run that ended with an incident (TTM_NONE: with the log), if its module is there. `of_tensor`: holding + 1. 0 or TTM_ENOMEM. */
int ttm_ledger_add_rest(ttm_ledger *ledger, const uint32_t *of_tensor, uint32_t run, uint32_t incident);
/* The same for the last run of a rank, when nothing in the log stands for what it lacks. */
int ttm_ledger_end_rest(ttm_ledger *ledger, const uint32_t *of_tensor, uint32_t rank);
/* The operation of a module that is operation `op` of entries; NULL: none of a rest. */
const ttm_rest_op *ttm_ledger_rest_op(const ttm_ledger *ledger, uint32_t op);
/* The run that an incident is of; TTM_NONE. */
uint32_t ttm_incident_run(const ttm_profile *p, size_t incident);
/* The number of the rest of the run that an incident ended; TTM_RESTS: there is none. */
size_t ttm_ledger_rest_of(const ttm_ledger *ledger, uint32_t incident);
/* The label with these words, new or not. 0 or TTM_ENOMEM. */
int ttm_ledger_label(ttm_ledger *ledger, ttm_label label, uint32_t *out);

/* True for what is larger when the batch is: activations, inputs and caches. */
bool ttm_class_grows(ttm_alive_class class);

#endif
