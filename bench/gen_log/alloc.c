/* SPDX-License-Identifier: Apache-2.0 */
/* The bank allocator of tt-metal as far as its numbers show: first fit by address, merge on free. */
#include "gen_log/gen.h"

#include <stdlib.h>

void *gen_alloc(size_t size) {
  void *p = calloc(1, size ? size : 1);
  if (!p) gen_die("out of memory");
  return p;
}

uint64_t gen_next(gen_random *r) { /* splitmix64 */
  uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void gen_bank_init(gen_bank *bank, uint64_t size) {
  *bank = (gen_bank){.size = size, .largest = size};
  if (size && ttm_vec_push(&bank->free, (gen_extent){0, size})) gen_die("out of memory");
}

void gen_bank_free(gen_bank *bank) { ttm_vec_free(&bank->free); }

static void remove_extent(gen_bank *bank, size_t i) {
  memmove(bank->free.at + i, bank->free.at + i + 1, (bank->free.n - i - 1) * sizeof(gen_extent));
  bank->free.n--;
}

bool gen_bank_take(gen_bank *bank, uint64_t size, bool from_top, uint64_t *at) {
  *at = 0;
  if (!size) return true;
  size_t n = bank->free.n;
  for (size_t k = 0; k < n; k++) {
    size_t i = from_top ? n - 1 - k : k;
    gen_extent *e = &bank->free.at[i];
    if (e->size < size) continue;
    *at = from_top ? e->at + e->size - size : e->at;
    if (!from_top) e->at += size;
    e->size -= size;
    if (!e->size) remove_extent(bank, i);
    bank->allocated += size;
    bank->largest_stale = true;
    return true;
  }
  return false;
}

/* Index of the first free extent above `at`. */
static size_t above(const gen_bank *bank, uint64_t at) {
  size_t low = 0, high = bank->free.n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (bank->free.at[middle].at < at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void gen_bank_give(gen_bank *bank, uint64_t at, uint64_t size) {
  if (!size) return;
  size_t i = above(bank, at);
  gen_extent *before = i ? &bank->free.at[i - 1] : NULL;
  gen_extent *after = i < bank->free.n ? &bank->free.at[i] : NULL;
  if ((before && before->at + before->size > at) || (after && at + size > after->at) || at + size > bank->size)
    gen_die("internal error: memory freed twice");
  bool joins_before = before && before->at + before->size == at, joins_after = after && at + size == after->at;
  if (joins_before && joins_after) {
    before->size += size + after->size;
    remove_extent(bank, i);
  } else if (joins_before) {
    before->size += size;
  } else if (joins_after) {
    after->at = at;
    after->size += size;
  } else {
    if (ttm_vec_reserve(&bank->free, 1)) gen_die("out of memory");
    memmove(bank->free.at + i + 1, bank->free.at + i, (bank->free.n - i) * sizeof(gen_extent));
    bank->free.at[i] = (gen_extent){at, size};
    bank->free.n++;
  }
  bank->allocated -= size;
  bank->largest_stale = true;
}

uint64_t gen_bank_largest(gen_bank *bank) {
  if (bank->largest_stale) {
    bank->largest = 0;
    for (size_t i = 0; i < bank->free.n; i++)
      if (bank->free.at[i].size > bank->largest) bank->largest = bank->free.at[i].size;
    bank->largest_stale = false;
  }
  return bank->largest;
}

uint64_t gen_bank_lowest(const gen_bank *bank) {
  if (!bank->free.n || bank->free.at[0].at) return 0;
  return bank->free.at[0].size;
}

void gen_board_of(const gen_options *o, gen_board *b) {
  enum { L1_SMALL = 65536 };
  *b = (gen_board){.name = o->p150 ? "p150" : "n150", .block_align = o->p150 ? 64 : 32};
  uint32_t dram_banks = o->p150 ? 8 : 12;
  b->grid_rows = o->p150 ? 10 : 8;
  b->grid_cols = o->p150 ? 11 : 8;
  b->l1_base = o->p150 ? 111744 : 105824;
  b->l1_size = o->p150 ? 1572864 : 1499136;
  b->banks[GEN_DRAM] = b->banks[GEN_TRACE] = dram_banks;
  b->banks[GEN_L1] = b->banks[GEN_L1_SMALL] = b->grid_rows * b->grid_cols;
  b->bank_size[GEN_DRAM] = (o->p150 ? 4277141376u : 1072693184u) - o->trace_region;
  if (o->dram_bank) b->bank_size[GEN_DRAM] = o->dram_bank;
  b->bank_size[GEN_TRACE] = o->trace_region;
  b->bank_size[GEN_L1_SMALL] = L1_SMALL;
  b->bank_size[GEN_L1] = b->l1_size - b->l1_base - L1_SMALL;
  b->page_align[GEN_DRAM] = b->page_align[GEN_TRACE] = b->block_align;
  b->page_align[GEN_L1] = b->page_align[GEN_L1_SMALL] = 16;
}
