/* SPDX-License-Identifier: Apache-2.0 */
/* What every form of the training report says. */
#include "analyze/say.h"
#include "train/training.h"

void ttm_train_put_name(ttm_buf *out, const ttm_training *t, size_t result) {
  const ttm_train_summary *s = t->results.at[result].summary;
  ttm_str name = ttm_intern_get(&t->log->names, s->name);
  if (name.n)
    ttm_buf_put(out, name);
  else
    ttm_buf_printf(out, "Summary %zu", result + 1);
}

static ttm_word mb_of(int64_t bytes) { return TTM_MB_OF(bytes > 0 ? (uint64_t)bytes : 0); }
static ttm_word number(int64_t bytes) { return TTM_NUMBER(bytes > 0 ? (uint64_t)bytes : 0); }

void ttm_train_put_verdict(ttm_buf *out, const ttm_train_result *r) {
  if (r->fits)
    ttm_say(out, NULL, "Fits: DRAM peak {} of {} per device, {}", number(r->peak), mb_of(r->device_memory),
            TTM_SHARE(r->peak, r->device_memory));
  else
    ttm_say(out, NULL, "Does not fit: DRAM peak {} MB per device, capacity {}, short by {}", number(r->peak),
            mb_of(r->device_memory), mb_of(r->peak - r->device_memory));
  if (r->device_memory_from == TTM_FROM_DEFAULT) return ttm_buf_puts(out, " (capacity assumed)");
  ttm_say(out, NULL, " (capacity from {})", TTM_WORDS(ttm_train_origin_name(r->device_memory_from)));
}

static ttm_str phase_name(const ttm_training *t, const ttm_train_result *r, size_t phase) {
  return ttm_intern_get(&t->log->names, r->summary->phases.at[phase].name);
}

static void note_passes(ttm_buf *out, const ttm_training *t, const ttm_train_result *r) {
  size_t passes = 0;
  for (size_t i = 0; i < r->summary->phases.n; i++)
    passes += ttm_train_role_of(phase_name(t, r, i)) == TTM_ROLE_FORWARD;
  if (r->forward == TTM_NOT_FOUND || passes < 2) return;
  ttm_say(out, NULL, "Of {} forward passes, {} has the highest peak and is shown", TTM_COUNT(passes),
          TTM_TEXT(phase_name(t, r, r->forward)));
  if (r->backward != TTM_NOT_FOUND) ttm_say(out, NULL, ", with {} behind it", TTM_TEXT(phase_name(t, r, r->backward)));
  ttm_buf_puts(out, "; gradients of earlier passes count as Other.\n");
}

void ttm_train_put_notes(ttm_buf *out, const ttm_training *t, size_t result) {
  const ttm_train_result *r = &t->results.at[result];
  if (r->peak_derived)
    ttm_buf_puts(out, r->has_peak ? "The summary ends before its totals: the highest cumulative peak is taken.\n"
                                  : "The summary ends before its first numbers.\n");
  if (r->model.expected_from == TTM_FROM_NOWHERE)
    ttm_buf_puts(out,
                 "The number of parameters is not in this log: no size is expected, and the parts of the peak are as "
                 "measured; --model_size sets the model size.\n");
  if (r->device_memory_from == TTM_FROM_DEFAULT && r->has_peak)
    ttm_buf_puts(out, "The device memory is not in this log: 12 GB assumed; --device_memory sets it.\n");
  note_passes(out, t, r);
  if (r->surplus > r->peak / 200) /* expected sizes are not exact ones */
    ttm_say(out, NULL, "The parts are {} more than the peak: they are not all alive at the same time.\n",
            mb_of(r->surplus));
}
