/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/parts.h"

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

static uint64_t overhead(const ttm_padding_row *row) { return row->stored_bytes - row->logical_bytes; }

/* Largest overhead first, then first appearance. */
static bool stands_before(const ttm_padding_row *a, const ttm_padding_row *b) {
  if (overhead(a) != overhead(b)) return overhead(a) > overhead(b);
  return a->op != b->op ? a->op < b->op : a->result < b->result;
}

/* `rows` has room for TTM_TOP. */
static void insert(ttm_findings *f, ttm_padding_row row) {
  ttm_padding_row *rows = f->padding.at;
  size_t n = f->padding.n;
  if (n == TTM_TOP && !stands_before(&row, &rows[n - 1])) return;
  if (n < TTM_TOP) n = ++f->padding.n;
  size_t at = n - 1;
  for (; at > 0 && stands_before(&row, &rows[at - 1]); at--) rows[at] = rows[at - 1];
  rows[at] = row;
}

/* A load_cached whose program is in the log hands out what that made: it stands in the list by itself. */
static bool hands_out(const ttm_profile *p, uint32_t op) {
  uint32_t tensor = p->ops.at[op].tensor;
  return ttm_op_text_of(p, op)->kind == TTM_OP_LOAD_CACHED && tensor < p->tensors.n &&
         p->tensors.at[tensor].self != tensor;
}

int ttm_find_padding(ttm_findings *f, const ttm_tally *tally) {
  const ttm_profile *p = f->profile;
  ttm_alignment align = ttm_profile_alignment(p);
  if (ttm_vec_reserve(&f->padding, TTM_TOP)) return TTM_ENOMEM;
  for (uint32_t t = 0; t < p->texts.n; t++) {
    const ttm_op_text *text = &p->texts.at[t];
    if (!tally[t].done || text->kind == TTM_OP_DEALLOCATE || text->kind == TTM_OP_GET_DEVICE) continue;
    if (hands_out(p, tally[t].first_done)) continue;
    for (uint32_t k = 0; k < text->outputs.n; k++) {
      const ttm_tensor_type *type = ttm_op_text_output(p, text, k);
      if (!on_device(type)) continue;
      ttm_padding_row row = {tally[t].first_done, k, ttm_tensor_logical_bytes(type),
                             ttm_tensor_stored_bytes(type, align), tally[t].done};
      if (row.stored_bytes > row.logical_bytes) insert(f, row);
    }
  }
  return TTM_OK;
}
