/* SPDX-License-Identifier: Apache-2.0 */
/* What the memory summaries of a training log say: expected against actual sizes, what the peak is made of, and whether it fits.
 * Sizes are bytes; where the log prints hundredths of a MB they are that, exactly when printed again with two decimals. */
#ifndef TTM_TRAIN_TRAINING_H
#define TTM_TRAIN_TRAINING_H

#include "base/buf.h"
#include "parse/train_log.h"

/* Device memory when neither the caller nor the log tells: 12 GB. */
#define TTM_TRAIN_DEVICE_MEMORY ((int64_t)12 << 30)

/* What the caller knows; 0 is "not given". */
typedef struct ttm_train_options {
  int64_t device_memory, model_size, optimizer_size, gradients_size;
  bool use_actual_sizes; /* the model and the optimizer in the breakdown as measured */
} ttm_train_options;

/* Where a size comes from. */
typedef enum ttm_train_origin {
  TTM_FROM_NOWHERE,
  TTM_FROM_OPTION,
  TTM_FROM_LOG,        /* printed as such */
  TTM_FROM_ARENA,      /* the allocator's footprint tells how large its arena is */
  TTM_FROM_PARAMETERS, /* two bytes each (bf16) */
  TTM_FROM_MODEL,      /* a multiple of the model's expected size */
  TTM_FROM_PHASE,      /* measured in a phase */
  TTM_FROM_DEFAULT,
} ttm_train_origin;

/* "not known", "option", "log", ... as --json and the reports name it. */
const char *ttm_train_origin_name(ttm_train_origin origin);

typedef struct ttm_train_compare {
  bool has_actual;
  int64_t actual;
  ttm_train_origin expected_from; /* TTM_FROM_NOWHERE: nothing to compare with */
  int64_t expected;
} ttm_train_compare;

/* The parts of the peak, bottom to top. */
typedef enum ttm_train_part {
  TTM_PART_OTHER,
  TTM_PART_MODEL,
  TTM_PART_GRADIENTS_OVERHEAD,
  TTM_PART_OPTIMIZER,
  TTM_PART_ACTIVATIONS,
  TTM_PARTS
} ttm_train_part;

typedef struct ttm_train_part_look {
  const char *name; /* "Gradients Overhead" */
  const char *key;  /* "gradients_overhead" */
  uint32_t rgb;     /* 0xe789ab */
} ttm_train_part_look;
extern const ttm_train_part_look ttm_train_part_looks[TTM_PARTS];

typedef struct ttm_train_result {
  const ttm_train_summary *summary;
  ttm_train_compare model, optimizer, gradients;
  bool has_activations;
  int64_t activations;
  /* Phases the activations and the gradients overhead are from: of several micro-batches the one that rose highest.
   * TTM_NOT_FOUND when the summary has none. */
  size_t forward, backward;
  bool has_peak;
  bool peak_derived; /* the summary is cut: the highest cumulative peak stands for the overall one */
  int64_t peak;
  int64_t device_memory;
  ttm_train_origin device_memory_from;
  bool fits;               /* peak < device memory */
  int64_t part[TTM_PARTS]; /* with has_peak */
  ttm_train_origin model_part_from, optimizer_part_from;
  int64_t surplus; /* by how much the parts exceed the peak: they are not all alive at once. 0 when they do not */
} ttm_train_result;

typedef struct ttm_training {
  const ttm_train_log *log;
  TTM_VEC(ttm_train_result) results; /* one per summary */
} ttm_training;

/* 0 or TTM_ENOMEM; `log` must outlive the result. */
int ttm_training_make(ttm_training *out, const ttm_train_log *log, const ttm_train_options *options, ttm_error *err);
void ttm_training_free(ttm_training *training);

/* Every summary with a peak fits. True when there is none. */
bool ttm_training_fits(const ttm_training *training);

/* actual against expected in percent; 0 when nothing is expected. */
static inline double ttm_train_difference(const ttm_train_compare *c) {
  return c->expected ? ((double)c->actual - (double)c->expected) / (double)c->expected * 100.0 : 0.0;
}

/* What every form of the report says. The summary's name, or "Summary N" for one without; whether it fits, a sentence without its full stop
 * (has_peak); what a reader could misread, a line each. */
void ttm_train_put_name(ttm_buf *out, const ttm_training *t, size_t result);
void ttm_train_put_verdict(ttm_buf *out, const ttm_train_result *r);
void ttm_train_put_notes(ttm_buf *out, const ttm_training *t, size_t result);

/* Hundredths of a MB in bytes. */
int64_t ttm_train_bytes(int64_t hundredths);

#endif
