/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/load/holes.h"

#include <string.h>

#include "base/checked.h"

int ttm_holes_begin(ttm_holes *h, uint64_t base, uint64_t bytes) {
  ttm_hole all = {base, ttm_add_sat(base, bytes)};
  h->at.n = 0;
  h->known = true;
  h->stale = false;
  h->largest = all.end - base;
  return all.end > base ? ttm_vec_push(&h->at, all) : TTM_OK;
}

/* The first hole that ends behind `at`. */
static size_t first_behind(const ttm_holes *h, uint64_t at) {
  size_t low = 0, high = h->at.n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (h->at.at[middle].end <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Puts `n` holes where `gone` holes from `i` on were. */
static int replace(ttm_holes *h, size_t i, size_t gone, const ttm_hole *holes, size_t n) {
  if (ttm_vec_reserve(&h->at, n)) return TTM_ENOMEM;
  memmove(h->at.at + i + n, h->at.at + i + gone, (h->at.n - i - gone) * sizeof *h->at.at);
  for (size_t k = 0; k < n; k++) h->at.at[i + k] = holes[k];
  h->at.n = h->at.n + n - gone;
  return TTM_OK;
}

int ttm_holes_take(ttm_holes *h, uint64_t at, uint64_t bytes) {
  uint64_t end = ttm_add_sat(at, bytes);
  if (!h->known || end == at) return TTM_OK;
  size_t first = first_behind(h, at), last = first, left = 0;
  ttm_hole rest[2];
  while (last < h->at.n && h->at.at[last].at < end) {
    h->stale |= h->at.at[last].end - h->at.at[last].at == h->largest;
    last++;
  }
  if (last == first) return TTM_OK;
  if (h->at.at[first].at < at) rest[left++] = (ttm_hole){h->at.at[first].at, at};
  if (h->at.at[last - 1].end > end) rest[left++] = (ttm_hole){end, h->at.at[last - 1].end};
  return replace(h, first, last - first, rest, left);
}

int ttm_holes_give(ttm_holes *h, uint64_t at, uint64_t bytes) {
  ttm_hole hole = {at, ttm_add_sat(at, bytes)};
  if (!h->known || hole.end == at) return TTM_OK;
  size_t first = first_behind(h, at), last = first;
  if (first && h->at.at[first - 1].end == at) first--; /* touches the one before */
  while (last < h->at.n && h->at.at[last].at <= hole.end) last++;
  for (size_t i = first; i < last; i++) {
    if (h->at.at[i].at < hole.at) hole.at = h->at.at[i].at;
    if (h->at.at[i].end > hole.end) hole.end = h->at.at[i].end;
  }
  if (hole.end - hole.at > h->largest) h->largest = hole.end - hole.at, h->stale = false;
  return replace(h, first, last - first, &hole, 1);
}

uint64_t ttm_holes_largest(ttm_holes *h) {
  if (!h->stale) return h->largest;
  h->largest = 0;
  h->stale = false;
  for (size_t i = 0; i < h->at.n; i++)
    if (h->at.at[i].end - h->at.at[i].at > h->largest) h->largest = h->at.at[i].end - h->at.at[i].at;
  return h->largest;
}

void ttm_holes_free(ttm_holes *h) { ttm_vec_free(&h->at); }
