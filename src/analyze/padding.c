/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analyze/fold.h"
#include "analyze/parts.h"
#include "analyze/words.h"
#include "base/checked.h"

/* The operation before which the state was printed: its owner, or the first one further down the log. */
static uint32_t op_after_state(const ttm_profile *p, uint32_t state) {
  if (p->states.at[state].op < p->ops.n) return p->states.at[state].op;
  uint32_t low = 0, high = (uint32_t)p->ops.n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (p->ops.at[middle].line < p->states.at[state].line) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

int ttm_find_alive(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  const ttm_peak *peak = &f->peak[TTM_DRAM];
  uint32_t rank = peak->known ? ttm_state_rank(p, peak->state) : 0;
  uint32_t sample = peak->known ? op_after_state(p, peak->state) : TTM_NONE;
  bool owned = peak->known && p->states.at[peak->state].op == sample;
  double highest = 0;
  ttm_alive live;
  if (!ttm_profile_frees_known(p)) return TTM_OK; /* everything would be alive */
  if (ttm_alive_init(&live, p)) return TTM_ENOMEM;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    if (op == sample) {
      if (owned) ttm_alive_enter(&live, op);
      f->alive_at_peak = ttm_alive_running(&live, rank);
    }
    ttm_alive_step(&live);
    const ttm_alive_sum *dram = &live.dram;
    if (dram->logical_bytes == 0 || dram->stored_bytes <= dram->logical_bytes || !ttm_op_is_element(p, op)) continue;
    double pct = 100.0 * (double)(dram->stored_bytes - dram->logical_bytes) / (double)dram->logical_bytes;
    if (pct > highest) highest = pct;
  }
  if (sample == p->ops.n) f->alive_at_peak = ttm_alive_running(&live, rank);
  f->padding_peak_pct = highest;
  ttm_alive_free(&live);
  return TTM_OK;
}

static bool on_device(const ttm_tensor_type *type) {
  return type && type->has_layout && type->buffer != TTM_BUFFER_NONE && type->buffer != TTM_BUFFER_SYSTEM;
}

/* Of all layers. */
static uint64_t overhead(const ttm_padding_row *row) {
  return ttm_mul_sat(row->stored_bytes - row->logical_bytes, row->places);
}

/* Largest overhead first, then first appearance. */
static int by_overhead(const void *a, const void *b) {
  const ttm_padding_row *x = a, *y = b;
  if (overhead(x) != overhead(y)) return overhead(x) > overhead(y) ? -1 : 1;
  if (x->op != y->op) return x->op < y->op ? -1 : 1;
  return x->result < y->result ? -1 : x->result > y->result;
}

/* A load_cached whose program is in the log hands out what that made: it stands in the list by itself. */
static bool hands_out(const ttm_profile *p, uint32_t op) {
  uint32_t tensor = p->ops.at[op].tensor;
  return ttm_op_text_of(p, op)->kind == TTM_OP_LOAD_CACHED && tensor < p->tensors.n &&
         p->tensors.at[tensor].self != tensor;
}

/* The same result of every layer is one row. */
static int add_padded(ttm_findings *f, ttm_fold *fold, ttm_padding_row row, uint32_t type) {
  const ttm_profile *p = f->profile;
  uint32_t group, name = ttm_op_text_of(p, row.op)->name;
  if (ttm_fold_add(fold, ttm_words_location(p, row.op), (uint64_t)name << 32 | type, &group)) return TTM_ENOMEM;
  if (ttm_vec_push(&f->padding_places, ((ttm_padding_place){group, row.op}))) return TTM_ENOMEM;
  if (group == f->padding.n) return row.places = 1, row.group = group, ttm_vec_push(&f->padding, row);
  ttm_padding_row *known = &f->padding.at[group];
  known->places++;
  known->times += row.times;
  if (row.op < known->op) known->op = row.op, known->result = row.result;
  return TTM_OK;
}

static int keep_largest(ttm_findings *f, const ttm_fold *fold) {
  if (f->padding.n) qsort(f->padding.at, f->padding.n, sizeof *f->padding.at, by_overhead);
  if (f->padding.n > TTM_TOP) f->padding.n = TTM_TOP;
  for (size_t i = 0; i < f->padding.n; i++) {
    f->padding.at[i].name = ttm_fold_name_in(fold, f->padding.at[i].group, &f->padding_names);
    if (!f->padding.at[i].name.p) return TTM_ENOMEM;
  }
  return TTM_OK;
}

int ttm_find_padding(ttm_findings *f, const ttm_tally *tally) {
  const ttm_profile *p = f->profile;
  ttm_alignment align = ttm_profile_alignment(p);
  ttm_fold fold = {.whole = !ttm_words_has_runs(p)};
  int status = TTM_OK;
  for (uint32_t t = 0; t < p->texts.n && !status; t++) {
    const ttm_op_text *text = &p->texts.at[t];
    if (!tally[t].done || text->kind == TTM_OP_DEALLOCATE || text->kind == TTM_OP_GET_DEVICE) continue;
    if (hands_out(p, tally[t].first_done)) continue;
    for (uint32_t k = 0; k < text->outputs.n && !status; k++) {
      const ttm_tensor_type *type = ttm_op_text_output(p, text, k);
      if (!on_device(type)) continue;
      ttm_padding_row row = {.op = tally[t].first_done,
                             .result = k,
                             .logical_bytes = ttm_tensor_logical_bytes(type),
                             .stored_bytes = ttm_tensor_stored_bytes(type, align),
                             .times = tally[t].done};
      if (row.stored_bytes > row.logical_bytes)
        status = add_padded(f, &fold, row, p->lists.at[text->outputs.first + k]);
    }
  }
  if (!status) status = keep_largest(f, &fold);
  ttm_fold_free(&fold);
  return status;
}
