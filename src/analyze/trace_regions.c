/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/trace_regions.h"

#include <stdlib.h>

#include "l1/placement.h"

bool ttm_region_of(const ttm_profile *p, uint32_t row, ttm_region *out) {
  const ttm_buffer *b = &p->capture.buffers.at[row];
  *out = (ttm_region){b->address, b->address + b->bank_bytes, row, TTM_NONE, b->shard_cores, b->memory};
  return b->address != TTM_UNKNOWN && b->memory < TTM_MEMORIES && b->bank_bytes && out->end > out->start;
}

/* Shards on other cores share addresses and no memory. */
static int share_cores(ttm_region_space *w, uint32_t a, uint32_t b, bool *out) {
  uint32_t first, second;
  *out = true;
  if (!a || !b || a == b) return TTM_OK;
  if (ttm_core_sets_find(&w->cores, a, ttm_profile_string(w->p, a), &first) ||
      ttm_core_sets_find(&w->cores, b, ttm_profile_string(w->p, b), &second))
    return TTM_ENOMEM;
  const ttm_core_set *x = &w->cores.sets.at[first], *y = &w->cores.sets.at[second];
  *out = !x->n || !y->n;
  for (size_t i = 0; i < x->n && !*out; i++)
    for (size_t k = 0; k < y->n && !*out; k++) *out = ttm_core_range_intersects(x->at[i], y->at[k]);
  return TTM_OK;
}

int ttm_regions_overlap(ttm_region_space *w, const ttm_region *a, const ttm_region *b, bool *out) {
  *out = a->memory == b->memory && a->start < b->end && b->start < a->end;
  return *out && a->memory != TTM_DRAM ? share_cores(w, a->cores, b->cores, out) : TTM_OK;
}

static int by_place(const void *a, const void *b) {
  const ttm_region *x = a, *y = b;
  if (x->memory != y->memory) return x->memory < y->memory ? -1 : 1;
  if (x->start != y->start) return x->start < y->start ? -1 : 1;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  if (x->cores != y->cores) return x->cores < y->cores ? -1 : 1;
  return x->row != y->row ? (x->row < y->row ? -1 : 1) : 0;
}

static bool is_program_buffer(const ttm_buffer_event *e) {
  return e->kind == TTM_EVENT_CIRCULAR || e->kind == TTM_EVENT_DATAFLOW || e->kind == TTM_EVENT_SCRATCHPAD;
}

/* The buffers of the program whose events are [first, end), where they lie: not all captures tell addresses, tt-metal's rule does. */
static int place_program(ttm_region_space *w, ttm_regions *out, uint32_t first, uint32_t end) {
  const ttm_capture *c = &w->p->capture;
  TTM_VEC(ttm_l1_buffer) buffers = {0};
  ttm_l1_placement placement = {0};
  int rc = TTM_OK;
  for (uint32_t i = first; i < end && !rc; i++) {
    const ttm_buffer_event *e = &c->events.at[i];
    uint32_t set;
    rc = ttm_core_sets_find(&w->cores, e->row, ttm_profile_string(w->p, e->row), &set);
    if (!rc)
      rc = ttm_vec_push(&buffers, ((ttm_l1_buffer){.bytes = e->bytes == TTM_UNKNOWN ? 0 : e->bytes,
                                                   .cores = w->cores.sets.at[set],
                                                   .borrowed = e->alias & TTM_ALIAS}));
  }
  if (!rc) rc = ttm_l1_place(buffers.at, buffers.n, c->board.l1_base, ttm_profile_alignment(w->p).dram, &placement);
  for (uint32_t i = first; i < end && !rc; i++) {
    const ttm_buffer_event *e = &c->events.at[i];
    const ttm_l1_buffer *b = &buffers.at[i - first];
    uint64_t at = e->address && e->address != TTM_UNKNOWN ? e->address : b->address;
    ttm_region r = {at, at + b->bytes, TTM_NONE, i, e->row, TTM_L1};
    if (!b->borrowed && r.end > r.start) rc = ttm_vec_push(out, r);
  }
  ttm_l1_placement_free(&placement);
  ttm_vec_free(&buffers);
  return rc;
}

/* Programs of a trace keep the addresses of their circular buffers, too. */
int ttm_regions_of_programs(ttm_region_space *w, const ttm_device_trace *t, ttm_regions *out) {
  const ttm_capture *c = &w->p->capture;
  for (uint32_t i = 0; i < c->events.n; i++) {
    const ttm_buffer_event *e = &c->events.at[i];
    uint32_t end = i;
    if (!is_program_buffer(e) || e->op <= t->begin || e->op >= t->end || e->device >> 16 != t->rank) continue;
    while (end < c->events.n && is_program_buffer(&c->events.at[end]) && c->events.at[end].device == e->device) end++;
    if (place_program(w, out, i, end)) return TTM_ENOMEM;
    i = end - 1;
  }
  return TTM_OK;
}

/* Layers have the same addresses again and again: one of each is enough. */
void ttm_regions_sort(ttm_regions *all) {
  size_t n = 0;
  if (all->n) qsort(all->at, all->n, sizeof *all->at, by_place);
  for (size_t i = 0; i < all->n; i++) {
    ttm_region r = all->at[i], last = all->at[n ? n - 1 : 0];
    if (!n || last.memory != r.memory || last.start != r.start || last.end != r.end || last.cores != r.cores)
      all->at[n++] = r;
  }
  all->n = n;
}
