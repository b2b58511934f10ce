/* SPDX-License-Identifier: Apache-2.0 */
/* What is alive at one state, adding up to what the state says. Made by replaying the log up to it (analyze/replay.h); a capture knows its
 * buffers. */
#ifndef TTM_ANALYZE_ALIVE_SET_H
#define TTM_ANALYZE_ALIVE_SET_H

#include "base/arena.h"
#include "profile/profile.h"

typedef enum ttm_alive_class {
  TTM_ALIVE_WEIGHT,     /* a parameter or constant on the device, or a copy or const-eval result made of some */
  TTM_ALIVE_CONST_EVAL, /* const-eval results that come from no argument ... */
  TTM_ALIVE_SEMAPHORE = TTM_ALIVE_CONST_EVAL, /* ... recordings, which have none: semaphores */
  TTM_ALIVE_KV_CACHE,                         /* arguments that are marked or named as such, and copies of them */
  TTM_ALIVE_INPUT,                            /* other arguments, and copies of them */
  TTM_ALIVE_ACTIVATION,                       /* results of the current run */
  TTM_ALIVE_KEPT,                             /* results of earlier runs that the host still holds */
  TTM_ALIVE_PROGRAM,     /* what operations left beyond their results: kernels, caches, slots of traces */
  TTM_ALIVE_UNACCOUNTED, /* allocated, but nothing in the log says by whom */
  TTM_ALIVE_CLASSES
} ttm_alive_class;

/* "weights", "const_eval", ...; as in findings.json. Of a recording where `p` says so; NULL is allowed. */
const char *ttm_alive_class_name(const ttm_profile *p, ttm_alive_class class);

/* Tensors of one class and name: a weight, or the results of one operation text. */
typedef struct ttm_alive_row {
  ttm_alive_class class;
  uint32_t name;   /* string: the argument's name; 0: none, the operation's location tells */
  uint32_t arg;    /* number of an argument the host put there, TTM_NONE */
  uint32_t op;     /* that made the first of them; TTM_NONE for arguments and extras */
  uint32_t tensor; /* the first of them; TTM_NONE likewise */
  uint32_t type;   /* of the first of them; TTM_NONE when unknown */
  uint32_t buffer; /* captures: the first of them; unset elsewhere */
  uint32_t
      source; /* type of the argument that a weight or input comes from, of captures what was cast; TTM_NONE when unknown */
  uint32_t tensors;
  bool forms_differ;                    /* several types among them */
  uint8_t uses;                         /* what operations did with them: TTM_USE_* */
  bool guess;                           /* KV cache by its name alone: estimated */
  uint32_t group;                       /* its own; TTM_NONE when that was not kept */
  uint64_t smallest_bytes;              /* per bank, of the smallest of them */
  uint64_t bank_bytes;                  /* per bank, all of them */
  uint64_t logical_bytes, stored_bytes; /* over all banks */
} ttm_alive_row;

/* The same tensor of every layer: rows of one class whose names fold. */
typedef struct ttm_alive_group {
  ttm_alive_class class;
  ttm_str name; /* "layers.*.mlp.weight"; empty for memory that nothing in the log names */
  uint32_t row; /* the largest of its rows, TTM_NONE when that was not kept */
  uint32_t op;  /* that made the first of them, TTM_NONE */
  uint32_t rows, tensors;
  bool guess;
  uint64_t bank_bytes;
} ttm_alive_group;

/* Activations by module: the location without its last part ("layers.0|MLP" of "layers.0|MLP|dot.1"). */
typedef struct ttm_alive_module {
  ttm_str path; /* empty for locations without parts; points into the profile */
  uint32_t tensors;
  uint64_t bank_bytes;
} ttm_alive_module;

enum { TTM_ALIVE_ROWS = 512, TTM_ALIVE_MODULES = 32 };

typedef struct ttm_alive_set {
  bool known;      /* false: no state, or nothing that tells the tensors' lives */
  uint32_t device; /* captures: the one whose buffers these are; TTM_NONE when the capture names none */
  uint8_t x, y;    /* L1 of captures: the core whose tensors these are, where each core may have others */
  ttm_memory memory;
  uint32_t state;
  uint32_t run; /* of the state's rank, as in ttm_alive_origin_of */
  uint32_t banks;
  uint64_t
      measured_bytes; /* per bank, as the state says (rounded to 0.001 MB); without a state as the replay holds it */
  /* Bytes per bank; adds up to measured_bytes plus `over_bytes`, within the rounding of the log. */
  uint64_t by_class[TTM_ALIVE_CLASSES];
  uint64_t guessed_bytes;  /* of them: KV cache by its name alone */
  uint64_t over_bytes;     /* what the tensors hold more than was measured: views that were taken for tensors */
  uint64_t padding_bytes;  /* of the tensors, over all banks: tiles, shards, row alignment */
  uint64_t rounding_bytes; /* over all banks: banks that hold a page less than the fullest, block alignment */
  uint64_t logical_bytes, stored_bytes; /* of the tensors, over all banks: without padding, and with it */
  uint32_t tensors;
  uint32_t typed;                   /* of them: with a known type; the four sums above are theirs */
  uint64_t *alive_bits;             /* bit per tensor of the profile: it is among them */
  TTM_VEC(ttm_alive_row) arguments; /* those of them that no operation made, each by itself */
  TTM_VEC(ttm_alive_row) rows;      /* largest first, at most TTM_ALIVE_ROWS */
  uint64_t other_rows, other_bytes; /* rows beyond them */
  TTM_VEC(ttm_alive_group) groups;  /* of all rows, kept or not; largest first, at most TTM_ALIVE_ROWS */
  uint64_t other_groups, other_groups_bytes;
  ttm_arena names;                   /* of the groups */
  TTM_VEC(ttm_alive_module) modules; /* largest first, at most TTM_ALIVE_MODULES */
} ttm_alive_set;

/* The live set of DRAM or L1 at a state; or right before operation `op`, which has no state of its own (TTM_NONE), `state` being the last one before
 * it. 0 or TTM_ENOMEM; freed with ttm_alive_set_free in any case. */
int ttm_alive_set_make(ttm_alive_set *out, const ttm_profile *p, ttm_memory memory, uint32_t state, uint32_t op);
void ttm_alive_set_free(ttm_alive_set *set);

/* What an operation makes, as a state in run `run` of its rank sees it, and the argument it comes from. */
typedef struct ttm_alive_origin {
  ttm_alive_class class;
  uint32_t name;   /* string, 0: of the argument */
  uint32_t source; /* type, TTM_NONE: of the argument */
  bool guess;      /* the class rests on the argument's name alone */
} ttm_alive_origin;
ttm_alive_origin ttm_alive_origin_of(const ttm_profile *p, uint32_t op, uint32_t run);
/* The same of a buffer of a capture: by what the program calls it and what operations do with it. */
ttm_alive_origin ttm_alive_origin_of_buffer(const ttm_profile *p, const ttm_buffer *buffer);
/* The class of an argument. *guess: only its name says so. */
ttm_alive_class ttm_alive_class_of(const ttm_profile *p, const ttm_graph_arg *arg, bool *guess);

/* What a buffer of a capture takes over all banks: its rows are padded too. */
uint64_t ttm_buffer_stored(const ttm_profile *p, const ttm_buffer *buffer);

/* What bf16 tiles take as bfp8: 1088 bytes instead of 2048. */
static inline uint64_t ttm_bfp8_bytes(uint64_t bf16_bytes) { return bf16_bytes / 2048 * 1088; }

struct ttm_findings;
/* Bytes per bank that a row of weights would take less as bfp8: bf16 matrices that only matrix products use, else 0. */
uint64_t ttm_alive_row_bfp8_saves(const struct ttm_findings *f, const ttm_alive_row *row);

/* Bytes per bank that tensors, arguments and operations explain, and their share of what was measured in percent. */
uint64_t ttm_alive_set_explained(const ttm_alive_set *set);
double ttm_alive_set_quality(const ttm_alive_set *set);

/* A KV cache of blocks, by its shape alone: there are more of them than tokens in each. Without pages the first dimension counts users. */
static inline bool ttm_is_paged_cache(const ttm_tensor_type *type) {
  return type->shape.rank == 4 && type->shape.at[0] > type->shape.at[2];
}

#endif
