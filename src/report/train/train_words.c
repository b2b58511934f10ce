/* SPDX-License-Identifier: Apache-2.0 */
/* What the forms of the training report share. */
#include "base/format.h"
#include "report/train/train_report.h"

void ttm_train_put_name(ttm_buf *out, const ttm_training *t, size_t result) {
  const ttm_train_summary *s = t->results.at[result].summary;
  ttm_str name = ttm_intern_get(&t->log->names, s->name);
  if (name.n)
    ttm_buf_put(out, name);
  else
    ttm_buf_printf(out, "Summary %zu", result + 1);
}

static ttm_str phase_name(const ttm_training *t, const ttm_train_result *r, size_t phase) {
  return ttm_intern_get(&t->log->names, r->summary->phases.at[phase].name);
}

static size_t count_role(const ttm_training *t, const ttm_train_result *r, ttm_train_role wanted) {
  size_t n = 0;
  for (size_t i = 0; i < r->summary->phases.n; i++) n += ttm_train_role_of(phase_name(t, r, i)) == wanted;
  return n;
}

static bool cut(ttm_buf *out, const ttm_train_result *r) {
  if (!r->peak_derived) return false;
  ttm_buf_puts(out, r->has_peak ? "The summary ends before its totals: the highest cumulative peak stands for the "
                                  "overall one."
                                : "The summary ends before its first numbers.");
  return true;
}

static bool default_device(ttm_buf *out, const ttm_train_result *r) {
  if (r->device_memory_from != TTM_FROM_DEFAULT || !r->has_peak) return false;
  ttm_buf_puts(out, "The log does not tell the device's memory: 12 GB is assumed; --device_memory says it.");
  return true;
}

static bool nothing_expected(ttm_buf *out, const ttm_train_result *r) {
  if (r->model.expected_from != TTM_FROM_NOWHERE) return false;
  ttm_buf_puts(out,
               "The log does not tell the number of parameters: there is nothing to compare with, and the parts of the "
               "peak are as measured; --model_size says it.");
  return true;
}

static bool several_passes(ttm_buf *out, const ttm_training *t, const ttm_train_result *r) {
  if (r->forward == TTM_NOT_FOUND || count_role(t, r, TTM_ROLE_FORWARD) < 2) return false;
  ttm_buf_puts(out, "Of several forward and backward passes, ");
  ttm_put_text(out, phase_name(t, r, r->forward), 60, TTM_FORM_UTF8);
  if (r->backward != TTM_NOT_FOUND) {
    ttm_buf_puts(out, " and ");
    ttm_put_text(out, phase_name(t, r, r->backward), 60, TTM_FORM_UTF8);
  }
  ttm_buf_puts(out, " rose highest and are shown; gradients of earlier ones are in Other.");
  return true;
}

static bool surplus(ttm_buf *out, const ttm_train_result *r) {
  if (r->surplus <= r->peak / 200) return false; /* expected sizes are not exact ones */
  ttm_buf_printf(out, "The parts are %.2f MB more than the peak: they are not all alive at the same moment.",
                 (double)r->surplus / TTM_MB);
  return true;
}

bool ttm_train_note(ttm_buf *out, const ttm_training *t, size_t result, size_t n) {
  const ttm_train_result *r = &t->results.at[result];
  size_t before = out->n;
  for (int kind = 0; kind < 5; kind++) {
    bool said = kind == 0   ? cut(out, r)
                : kind == 1 ? nothing_expected(out, r)
                : kind == 2 ? default_device(out, r)
                : kind == 3 ? several_passes(out, t, r)
                            : surplus(out, r);
    if (said && !n--) return true;
    if (said && !out->failed) out->n = before;
  }
  return false;
}
