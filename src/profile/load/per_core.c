/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/load/per_core.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum { MOST_CORES = 64 }; /* in a row or column */

static const ttm_core_block *in_the_way(const ttm_core_blocks *b, const ttm_core_block *wanted) {
  for (size_t i = 0; i < b->at.n; i++) {
    const ttm_core_block *other = &b->at.at[i];
    if (other->x == wanted->x && other->y == wanted->y && other->at < wanted->end && wanted->at < other->end)
      return other;
  }
  return NULL;
}

/* The highest place of the core that is free; false when there is none. */
static bool place(const ttm_core_blocks *b, const ttm_holes *h, uint64_t bytes, ttm_core_block *block) {
  for (size_t i = h->at.n; i-- > 0;) {
    block->end = h->at.at[i].end;
    while (block->end - h->at.at[i].at >= bytes) {
      block->at = block->end - bytes;
      const ttm_core_block *other = in_the_way(b, block);
      if (!other) return true;
      if (other->at <= h->at.at[i].at) break;
      block->end = other->at;
    }
  }
  return false;
}

static int add_block(ttm_core_blocks *b, ttm_capture *c, const ttm_core_block *block) {
  ttm_core_place where = {block->at, block->x, block->y};
  c->buffers.at[block->row].place_n++;
  return ttm_vec_push(&b->at, *block) ? TTM_ENOMEM : ttm_vec_push(&c->core_places, where);
}

/* The next rectangle of the text: columns and rows of its corners. */
static bool next_range(ttm_str *cores, uint64_t range[4]) {
  for (unsigned n = 0; cores->n;) {
    if (!ttm_str_take_u64(cores, &range[n]))
      *cores = ttm_str_from(*cores, 1);
    else if (range[n] >= MOST_CORES)
      return false;
    else if (++n == 4)
      return true;
  }
  return false;
}

int ttm_core_blocks_add(ttm_core_blocks *b, const ttm_holes *holes, ttm_capture *c, uint32_t row, ttm_str cores,
                        bool *exact) {
  ttm_buffer *buffer = &c->buffers.at[row];
  uint64_t range[4], bytes = buffer->bank_bytes;
  buffer->places = (uint32_t)c->core_places.n;
  b->stale = true;
  *exact = holes->known;
  while (next_range(&cores, range)) {
    for (uint64_t y = range[1]; y <= range[3]; y++) {
      for (uint64_t x = range[0]; x <= range[2]; x++) {
        ttm_core_block block = {.row = row, .x = (uint8_t)x, .y = (uint8_t)y};
        bool placed = *exact && place(b, holes, bytes, &block);
        if (!buffer->place_n) placed &= block.at == buffer->address;
        *exact &= placed;
        if (!placed) block.at = buffer->address, block.end = ttm_add_sat(buffer->address, bytes);
        if (add_block(b, c, &block)) return TTM_ENOMEM;
      }
    }
  }
  return TTM_OK;
}

void ttm_core_blocks_remove(ttm_core_blocks *b, uint32_t row) {
  size_t n = 0;
  for (size_t i = 0; i < b->at.n; i++)
    if (b->at.at[i].row != row) b->at.at[n++] = b->at.at[i];
  b->at.n = n;
  b->stale = true;
}

/* A tensor in lock step may lie at the same addresses on other cores; the bank has given them up once. */
static uint64_t beside(const ttm_core_block *block, const ttm_holes *h) {
  uint64_t bytes = h->known ? 0 : block->end - block->at;
  for (size_t i = 0; h->known && i < h->at.n; i++) {
    uint64_t at = block->at > h->at.at[i].at ? block->at : h->at.at[i].at;
    uint64_t end = block->end < h->at.at[i].end ? block->end : h->at.at[i].end;
    bytes += ttm_sub_sat(end, at);
  }
  return bytes;
}

static void find_most(ttm_core_blocks *b, const ttm_holes *holes) {
  uint64_t held[MOST_CORES][MOST_CORES];
  memset(held, 0, sizeof held);
  for (size_t i = 0; i < b->at.n; i++) {
    const ttm_core_block *block = &b->at.at[i];
    uint64_t *core = &held[block->y][block->x];
    *core = ttm_add_sat(*core, beside(block, holes));
    if (*core > b->most) b->most = *core;
  }
}

static int by_address(const void *a, const void *b) {
  const ttm_core_block *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

/* Between the blocks of all cores together. */
static void find_largest(ttm_core_blocks *b, const ttm_holes *holes) {
  qsort(b->at.at, b->at.n, sizeof *b->at.at, by_address);
  for (size_t i = 0; i < holes->at.n; i++) {
    uint64_t from = holes->at.at[i].at, end = holes->at.at[i].end;
    for (size_t k = 0; k < b->at.n && b->at.at[k].at < end; k++) {
      if (ttm_sub_sat(b->at.at[k].at, from) > b->largest) b->largest = b->at.at[k].at - from;
      if (b->at.at[k].end > from) from = b->at.at[k].end;
    }
    if (ttm_sub_sat(end, from) > b->largest) b->largest = end - from;
  }
}

void ttm_core_blocks_measure(ttm_core_blocks *b, const ttm_holes *holes) {
  if (!b->stale) return;
  b->stale = false;
  b->most = b->largest = 0;
  if (!b->at.n) return;
  find_most(b, holes);
  find_largest(b, holes);
}

void ttm_core_blocks_free(ttm_core_blocks *b) { ttm_vec_free(&b->at); }
