/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/placement.h"

#include "base/checked.h"

static int add_ranges(ttm_l1_placement *p, const ttm_core_set *cores) {
  for (size_t i = 0; i < cores->n; i++) {
    size_t r = 0;
    while (r < p->ranges.n && !ttm_core_range_eq(p->ranges.at[r].range, cores->at[i])) r++;
    if (r == p->ranges.n && ttm_vec_push(&p->ranges, (ttm_l1_range_end){.range = cores->at[i]})) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Behind everything on the ranges that are exactly its own: others that only meet them were marked when those buffers came. */
static uint64_t first_free(const ttm_l1_placement *p, const ttm_core_set *cores, uint64_t base) {
  uint64_t at = base;
  for (size_t i = 0; i < cores->n; i++) {
    for (size_t r = 0; r < p->ranges.n; r++) {
      if (!ttm_core_range_eq(p->ranges.at[r].range, cores->at[i])) continue;
      if (p->ranges.at[r].end > at) at = p->ranges.at[r].end;
      break;
    }
  }
  return at;
}

static void mark(ttm_l1_placement *p, const ttm_l1_buffer *b) {
  for (size_t i = 0; i < b->cores.n; i++) {
    for (size_t r = 0; r < p->ranges.n; r++) {
      ttm_l1_range_end *range = &p->ranges.at[r];
      if (!ttm_core_range_intersects(range->range, b->cores.at[i])) continue;
      /* Met before through another range of this buffer, or already fuller through a buffer on cores apart. */
      if (!ttm_core_range_eq(range->range, b->cores.at[i]) && b->address < range->end) continue;
      range->end = ttm_add_sat(b->address, b->bytes);
      range->used = ttm_add_sat(range->used, b->bytes);
    }
  }
}

int ttm_l1_place(ttm_l1_buffer *buffers, size_t n, uint64_t base, uint64_t align, ttm_l1_placement *out) {
  *out = (ttm_l1_placement){0};
  for (size_t i = 0; i < n; i++) {
    if (add_ranges(out, &buffers[i].cores)) return TTM_ENOMEM;
  }
  for (size_t i = 0; i < n; i++) {
    if (buffers[i].borrowed) continue;
    buffers[i].address = ttm_round_up(first_free(out, &buffers[i].cores, base), align);
    mark(out, &buffers[i]);
  }
  return TTM_OK;
}

void ttm_l1_placement_free(ttm_l1_placement *placement) { ttm_vec_free(&placement->ranges); }

uint64_t ttm_l1_placement_end(const ttm_l1_placement *placement, uint64_t base) {
  uint64_t end = base;
  for (size_t r = 0; r < placement->ranges.n; r++) {
    if (placement->ranges.at[r].end > end) end = placement->ranges.at[r].end;
  }
  return end;
}

ttm_l1_fit ttm_l1_check(const ttm_l1_placement *placement, uint64_t lowest_tensor, uint64_t l1_bytes, size_t *which) {
  for (size_t r = 0; r < placement->ranges.n; r++) {
    uint64_t end = placement->ranges.at[r].end;
    ttm_l1_fit fit = end > l1_bytes ? TTM_L1_BEYOND : end > lowest_tensor ? TTM_L1_CLASHES : TTM_L1_FITS;
    if (fit != TTM_L1_FITS) return *which = r, fit;
  }
  return TTM_L1_FITS;
}

uint64_t ttm_l1_tensor_at(uint64_t lowest, uint64_t bytes, uint64_t base, uint64_t align) {
  uint64_t block = ttm_round_up(bytes ? bytes : 1, align);
  if (block > lowest || lowest - block < base) return 0;
  return lowest - block;
}
