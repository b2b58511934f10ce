/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/advice_words.h"

#include "analyze/words.h"

enum { NAME = 60 };

/* "ttnn.matmul at layers.0|scores (log line 90)" */
static void operation(ttm_buf *out, const ttm_findings *f, uint32_t op, ttm_text_form form) {
  ttm_put_text(out, ttm_words_name(f->profile, op), NAME, form);
  ttm_buf_puts(out, " at ");
  ttm_put_text(out, ttm_words_location(f->profile, op), NAME, form);
  ttm_buf_printf(out, " (log line %u)", f->profile->ops.at[op].line);
}

/* The weight's name, or the operation. */
static void subject(ttm_buf *out, const ttm_findings *f, const ttm_advice *advice, ttm_text_form form) {
  const ttm_alive_row *row = advice->row == TTM_NONE ? NULL : &f->alive_set[TTM_DRAM].rows.at[advice->row];
  if (row && row->name) {
    ttm_put_text(out, ttm_profile_string(f->profile, row->name), NAME, form);
    if (row->op != TTM_NONE) ttm_buf_printf(out, " (log line %u)", f->profile->ops.at[row->op].line);
  } else if (advice->op != TTM_NONE) {
    operation(out, f, advice->op, form);
  } else if (row) {
    ttm_buf_printf(out, "argument %u", row->arg);
  }
}

static void others(ttm_buf *out, uint32_t count) {
  if (count > 1) ttm_buf_printf(out, " and %u more", count - 1);
}

static const ttm_waste *waste_of(const ttm_findings *f, uint32_t row) {
  for (size_t i = 0; i < f->wastes.n; i++) {
    if (f->wastes.at[i].row == row && f->wastes.at[i].kind == TTM_WASTE_PADDING) return &f->wastes.at[i];
  }
  return NULL;
}

static void put_reshape(ttm_buf *out, const ttm_findings *f, const ttm_advice *advice, ttm_text_form form) {
  const ttm_waste *waste = waste_of(f, advice->row);
  char shape[160];
  ttm_buf_puts(out, "Reshape ");
  subject(out, f, advice, form);
  ttm_dims_print(&f->profile->types.at[f->alive_set[TTM_DRAM].rows.at[advice->row].type].tensor.shape, shape,
                 sizeof shape);
  ttm_buf_printf(out, " from %s", shape);
  if (!waste) return;
  ttm_dims_print(&waste->better, shape, sizeof shape);
  ttm_buf_printf(out, " to %s, which needs fewer tiles", shape);
}

static void put_action(ttm_buf *out, const ttm_findings *f, const ttm_advice *advice, ttm_text_form form) {
  switch (advice->kind) {
    case TTM_ADVICE_FREE_EARLIER:
      ttm_buf_puts(out, "Free the result of ");
      subject(out, f, advice, form);
      others(out, advice->count);
      ttm_buf_puts(out, " right after its last use");
      if (f->lifetimes.replayed) ttm_buf_puts(out, "; replaying the allocator confirms it");
      return;
    case TTM_ADVICE_NO_UPCAST:
      ttm_buf_puts(out, "Keep ");
      subject(out, f, advice, form);
      others(out, advice->count);
      return ttm_buf_puts(out, " in bf16: the model gives bf16, the device holds f32");
    case TTM_ADVICE_ONE_FORM:
      ttm_buf_puts(out, "Keep one form of ");
      subject(out, f, advice, form);
      others(out, advice->count);
      return ttm_buf_puts(
          out, ": the original and what was made of it are there together; convert on the host or free first");
    case TTM_ADVICE_RESHAPE:
      return put_reshape(out, f, advice, form);
    case TTM_ADVICE_WIDER_ROWS:
      ttm_buf_puts(out, "Give ");
      subject(out, f, advice, form);
      return ttm_buf_puts(out, " longer rows or tiles: its row-major rows are shorter than the alignment");
    case TTM_ADVICE_WEIGHTS_BFP8:
      ttm_buf_puts(out, "Store matrix weights as bfp8, ");
      subject(out, f, advice, form);
      others(out, advice->count);
      return ttm_buf_puts(out, ", if accuracy allows");
    case TTM_ADVICE_RELEASE_KEPT:
      ttm_buf_puts(out, "Release results of earlier runs before the next: ");
      subject(out, f, advice, form);
      return others(out, advice->count);
    case TTM_ADVICE_STOP_LEAK:
      ttm_buf_puts(out, "Free what every run leaves behind: ");
      subject(out, f, advice, form);
      return ttm_buf_printf(out, ", %u runs seen", advice->count);
    case TTM_ADVICE_MOVE_PIN:
      ttm_buf_puts(out, "Allocate ");
      subject(out, f, advice, form);
      ttm_buf_puts(out, " earlier, or free it before: it splits the free memory in two");
      return;
  }
}

void ttm_words_advice(ttm_buf *out, const ttm_findings *f, const ttm_advice *advice, ttm_text_form form) {
  put_action(out, f, advice, form);
  if (advice->kind == TTM_ADVICE_MOVE_PIN)
    ttm_buf_printf(out, "; without it one block of %.2f MB/bank is free", ttm_mib(advice->saves));
  else
    ttm_buf_printf(out, "; saves %.2f MB/bank at the peak", ttm_mib(advice->saves));
}
