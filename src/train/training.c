/* SPDX-License-Identifier: Apache-2.0 */
#include "train/training.h"

#include <math.h>

#include "base/error.h"

const ttm_train_part_look ttm_train_part_looks[TTM_PARTS] = {
    [TTM_PART_OTHER] = {"Other", "other", 0xcccccc},
    [TTM_PART_MODEL] = {"Model Parameters", "model", 0x4da6b8},
    [TTM_PART_GRADIENTS_OVERHEAD] = {"Gradients Overhead", "gradients_overhead", 0xe789ab},
    [TTM_PART_OPTIMIZER] = {"Optimizer State", "optimizer", 0xcec0fa},
    [TTM_PART_ACTIVATIONS] = {"Activations", "activations", 0xe38a42},
};

const char *ttm_train_origin_name(ttm_train_origin origin) {
  static const char *const names[] = {"not known",  "option",     "log",      "allocator arena",
                                      "parameters", "model size", "measured", "default"};
  return names[origin];
}

/* Sizes that no memory has stay below what their sums can be. */
int64_t ttm_train_bytes(int64_t hundredths) {
  double most = 0x1p60, bytes = (double)hundredths * (1048576.0 / 100.0);
  return llround(fmax(-most, fmin(most, bytes)));
}

/* ---- Phases -------------------------------------------------------------------------------------------------------- */

static ttm_train_role role(const ttm_training *t, const ttm_train_phase *phase) {
  return ttm_train_role_of(ttm_intern_get(&t->log->names, phase->name));
}

/* The first phase of this role that has its numbers. */
static const ttm_train_phase *first_of(const ttm_training *t, const ttm_train_summary *s, ttm_train_role wanted) {
  for (size_t i = 0; i < s->phases.n; i++) {
    const ttm_train_phase *p = &s->phases.at[i];
    if (p->has_segment && role(t, p) == wanted) return p;
  }
  return NULL;
}

static int64_t reach(const ttm_train_summary *s, size_t i) {
  int64_t before = i && s->phases.at[i - 1].has_cumulative ? s->phases.at[i - 1].cumulative_current : 0;
  return before + s->phases.at[i].segment_peak;
}

typedef struct passes {
  size_t forward, backward;
  int64_t height;
} passes;

static void settle(ttm_train_result *r, int64_t *best, const passes *p) {
  if (p->height <= *best) return;
  *best = p->height;
  r->forward = p->forward;
  r->backward = p->backward;
}

/* A forward pass and the backward pass behind it that together rose highest: the peak of several micro-batches is that of one
 * of them. */
static void choose_passes(const ttm_training *t, ttm_train_result *r) {
  const ttm_train_summary *s = r->summary;
  const passes none = {TTM_NOT_FOUND, TTM_NOT_FOUND, INT64_MIN};
  passes now = none;
  int64_t best = INT64_MIN;
  r->forward = r->backward = TTM_NOT_FOUND;
  for (size_t i = 0; i < s->phases.n; i++) {
    ttm_train_role kind = s->phases.at[i].has_segment ? role(t, &s->phases.at[i]) : TTM_ROLE_OTHER;
    if (kind != TTM_ROLE_FORWARD && kind != TTM_ROLE_BACKWARD) continue;
    if (kind == TTM_ROLE_FORWARD) {
      settle(r, &best, &now);
      now = none;
      now.forward = i;
    } else if (now.backward == TTM_NOT_FOUND || reach(s, i) > reach(s, now.backward)) {
      now.backward = i;
    }
    if (reach(s, i) > now.height) now.height = reach(s, i);
  }
  settle(r, &best, &now);
}

/* ---- Sizes --------------------------------------------------------------------------------------------------------- */

static int64_t times(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

static void expect(ttm_train_compare *c, int64_t option, int64_t otherwise, ttm_train_origin from) {
  c->expected_from = option ? TTM_FROM_OPTION : otherwise ? from : TTM_FROM_NOWHERE;
  c->expected = option ? option : otherwise;
}

static void measure(ttm_train_compare *c, const ttm_train_phase *phase) {
  c->has_actual = phase != NULL;
  if (phase) c->actual = ttm_train_bytes(phase->change);
}

static void compare_sizes(const ttm_training *t, const ttm_train_options *o, ttm_train_result *r) {
  const ttm_train_summary *s = r->summary;
  uint64_t parameters = s->parameters.value;
  int64_t of_parameters = parameters > INT64_MAX / 2 ? 0 : (int64_t)parameters * 2;
  const ttm_train_phase *optimizer = first_of(t, s, TTM_ROLE_OPTIMIZER);
  const ttm_train_phase *backward = NULL;
  expect(&r->model, o->model_size, of_parameters, TTM_FROM_PARAMETERS);
  expect(&r->optimizer, o->optimizer_size, times(r->model.expected, 2), TTM_FROM_MODEL);
  expect(&r->gradients, o->gradients_size, r->model.expected, TTM_FROM_MODEL);
  measure(&r->model, first_of(t, s, TTM_ROLE_MODEL));
  measure(&r->optimizer, optimizer);
  for (size_t i = 0; i < s->phases.n; i++) {
    if (role(t, &s->phases.at[i]) == TTM_ROLE_BACKWARD && s->phases.at[i].has_cumulative) backward = &s->phases.at[i];
  }
  if (backward && optimizer && optimizer->has_cumulative) {
    r->gradients.has_actual = true;
    r->gradients.actual = ttm_train_bytes(backward->cumulative_current - optimizer->cumulative_current);
  }
  r->has_activations = r->forward != TTM_NOT_FOUND;
  if (r->has_activations) r->activations = ttm_train_bytes(s->phases.at[r->forward].change);
}

static const ttm_train_footprint *footprint_of(const ttm_train_log *log, const ttm_train_summary *s) {
  const ttm_train_footprint *found = NULL;
  for (size_t i = 0; i < log->footprints.n; i++) {
    const ttm_train_footprint *f = &log->footprints.at[i];
    if (f->rank != s->rank || f->arena <= 0) continue;
    if (!found || f->line > s->line) found = f;
    if (f->line > s->line) break;
  }
  return found;
}

static void find_device_memory(const ttm_training *t, const ttm_train_options *o, ttm_train_result *r) {
  const ttm_train_summary *s = r->summary;
  const ttm_train_footprint *f = footprint_of(t->log, s);
  if (o->device_memory) {
    r->device_memory = o->device_memory;
    r->device_memory_from = TTM_FROM_OPTION;
  } else if (s->device_memory.line) {
    r->device_memory = ttm_train_bytes((int64_t)s->device_memory.value);
    r->device_memory_from = TTM_FROM_LOG;
  } else if (f) {
    r->device_memory = ttm_train_bytes(f->arena);
    r->device_memory_from = TTM_FROM_ARENA;
  } else {
    r->device_memory = TTM_TRAIN_DEVICE_MEMORY;
    r->device_memory_from = TTM_FROM_DEFAULT;
  }
}

static void find_peak(ttm_train_result *r) {
  const ttm_train_summary *s = r->summary;
  int64_t peak = s->overall_peak;
  r->peak_derived = peak == TTM_TRAIN_UNKNOWN;
  for (size_t i = 0; r->peak_derived && i < s->phases.n; i++) {
    const ttm_train_phase *p = &s->phases.at[i];
    if (p->has_cumulative && p->cumulative_peak > peak) peak = p->cumulative_peak;
  }
  r->has_peak = peak != TTM_TRAIN_UNKNOWN;
  if (r->has_peak) r->peak = ttm_train_bytes(peak);
  r->fits = r->has_peak && r->peak < r->device_memory;
}

/* ---- The breakdown ------------------------------------------------------------------------------------------------- */

/* What the size is expected to be; measured on demand, or when nothing is expected. */
static int64_t size_in_peak(const ttm_train_compare *c, bool actual, ttm_train_origin *from) {
  bool measured = c->has_actual && (actual || c->expected_from == TTM_FROM_NOWHERE);
  *from = measured ? TTM_FROM_PHASE : c->expected_from;
  return measured ? c->actual : c->expected;
}

static void break_down(const ttm_train_options *o, ttm_train_result *r) {
  int64_t accounted = 0;
  if (!r->has_peak) return;
  r->part[TTM_PART_MODEL] = size_in_peak(&r->model, o->use_actual_sizes, &r->model_part_from);
  r->part[TTM_PART_OPTIMIZER] = size_in_peak(&r->optimizer, o->use_actual_sizes, &r->optimizer_part_from);
  r->part[TTM_PART_ACTIVATIONS] = r->activations;
  if (r->backward != TTM_NOT_FOUND) {
    r->part[TTM_PART_GRADIENTS_OVERHEAD] = ttm_train_bytes(r->summary->phases.at[r->backward].segment_peak);
  }
  for (int i = TTM_PART_MODEL; i < TTM_PARTS; i++) {
    if (__builtin_add_overflow(accounted, r->part[i], &accounted)) accounted = INT64_MAX;
  }
  r->part[TTM_PART_OTHER] = r->peak > accounted ? r->peak - accounted : 0;
  r->surplus = accounted > r->peak ? accounted - r->peak : 0;
}

int ttm_training_make(ttm_training *out, const ttm_train_log *log, const ttm_train_options *options, ttm_error *err) {
  *out = (ttm_training){.log = log};
  for (size_t i = 0; i < log->summaries.n; i++) {
    ttm_train_result r = {.summary = &log->summaries.at[i]};
    choose_passes(out, &r);
    compare_sizes(out, options, &r);
    find_device_memory(out, options, &r);
    find_peak(&r);
    break_down(options, &r);
    if (ttm_vec_push(&out->results, r)) return ttm_error_nomem(err);
  }
  return TTM_OK;
}

void ttm_training_free(ttm_training *training) { ttm_vec_free(&training->results); }

bool ttm_training_fits(const ttm_training *training) {
  for (size_t i = 0; i < training->results.n; i++) {
    if (training->results.at[i].has_peak && !training->results.at[i].fits) return false;
  }
  return true;
}
