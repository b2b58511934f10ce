/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/format.h"
#include "report/write/l1_picture.h"

enum {
  LINES = 12,         /* of a picture, when nothing is too small */
  MOST_LINES = 5,     /* of one slice */
  MOST_SLICES = 24,   /* beyond it, neighbours of one kind are drawn together, the smallest first */
  FAR_TOO_MANY = 512, /* beyond it, all of them */
};

static int ascending(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

typedef TTM_VEC(uint64_t) edges;

static int add_edges(edges *e, const ttm_l1_region *regions, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (ttm_vec_push(e, regions[i].at) || ttm_vec_push(e, regions[i].end)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Every address at which something starts or ends, each once. */
static int find_edges(const ttm_l1_map *map, edges *e) {
  uint64_t small = map->size > map->small ? map->size - map->small : 0;
  size_t n = 0;
  if (ttm_vec_push(e, 0) || ttm_vec_push(e, map->base) || ttm_vec_push(e, map->size) || ttm_vec_push(e, small))
    return TTM_ENOMEM;
  if (add_edges(e, map->buffers.at, map->buffers.n) || add_edges(e, map->tensors.at, map->tensors.n)) return TTM_ENOMEM;
  qsort(e->at, e->n, sizeof *e->at, ascending);
  for (size_t i = 0; i < e->n; i++) {
    if (!n || e->at[n - 1] != e->at[i]) e->at[n++] = e->at[i];
  }
  e->n = n;
  return TTM_OK;
}

static size_t edge_at(const edges *e, uint64_t at) {
  size_t low = 0, high = e->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (e->at[middle] < at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The first place from `i` on that nobody owns; the way there is shortened for whoever asks next. */
static size_t free_from(size_t *next, size_t i) {
  while (next[i] != i) i = next[i] = next[next[i]];
  return i;
}

/* Which region each place between two edges belongs to: the first in the list that covers it. However many overlap, each place is
 * given away once. NULL without memory. */
static size_t *find_owners(const edges *e, const ttm_l1_region *regions, size_t n) {
  size_t *owners = ttm_alloc_array(e->n, sizeof *owners), *next = ttm_alloc_array(e->n, sizeof *next);
  for (size_t i = 0; owners && next && i < e->n; i++) owners[i] = TTM_NO_REGION, next[i] = i;
  for (size_t r = 0; owners && next && r < n; r++) {
    size_t end = edge_at(e, regions[r].end);
    for (size_t i = free_from(next, edge_at(e, regions[r].at)); i < end; i = free_from(next, i)) {
      owners[i] = r;
      next[i] = i + 1;
    }
  }
  if (!next) ttm_free(owners), owners = NULL;
  ttm_free(next);
  return owners;
}

static ttm_slice slice_of(const ttm_l1_map *map, uint64_t at, uint64_t end, size_t owner, size_t tensor_owner) {
  ttm_slice s = {.at = at, .end = end, .lines = 1, .buffer = owner, .tensor = tensor_owner};
  bool buffer = s.buffer != TTM_NO_REGION, tensor = s.tensor != TTM_NO_REGION;
  bool small = at < map->size && map->size - at <= map->small;
  if (at >= map->size)
    s.kind = TTM_SLICE_BEYOND;
  else if (buffer && (tensor || small))
    s.kind = TTM_SLICE_BOTH;
  else if (buffer)
    s.kind = TTM_SLICE_BUFFER;
  else if (at < map->base)
    s.kind = TTM_SLICE_RESERVED;
  else
    s.kind = tensor ? TTM_SLICE_TENSOR : small ? TTM_SLICE_SMALL : TTM_SLICE_FREE;
  return s;
}

static bool may_join(const ttm_slice *upper, const ttm_slice *lower) {
  return upper->kind == lower->kind && upper->at == lower->end;
}

static void join_next(ttm_slice *upper, const ttm_slice *lower) {
  upper->at = lower->at;
  upper->buffer = upper->tensor = TTM_NO_REGION;
}

/* Far more slices than a picture could tell apart: all neighbours of one kind are one. */
static void join_kinds(ttm_slices *out) {
  size_t n = 0;
  for (size_t i = 1; i < out->n; i++) {
    if (may_join(&out->at[n], &out->at[i]))
      join_next(&out->at[n], &out->at[i]);
    else
      out->at[++n] = out->at[i];
  }
  out->n = n + 1;
}

/* Too many slices for a screen: the smallest that has a neighbour of its kind joins it, until it fits. */
static void join_small(ttm_slices *out) {
  while (out->n > MOST_SLICES) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i + 1 < out->n; i++) {
      ttm_slice *a = &out->at[i];
      if (!may_join(a, a + 1)) continue;
      if (best == SIZE_MAX || a[1].end - a[1].at + (a->end - a->at) < out->at[best].end - out->at[best + 1].at)
        best = i;
    }
    if (best == SIZE_MAX) return;
    join_next(&out->at[best], &out->at[best + 1]);
    memmove(&out->at[best + 1], &out->at[best + 2], (out->n - best - 2) * sizeof *out->at);
    out->n--;
  }
}

static void give_lines(ttm_slices *out, uint64_t span) {
  for (size_t i = 0; i < out->n; i++) {
    ttm_slice *s = &out->at[i];
    double share = span ? (double)(s->end - s->at) / (double)span * LINES : 0;
    s->lines = share < 1.5 ? 1 : share > MOST_LINES ? MOST_LINES : (unsigned)(share + 0.5);
    if (s->kind == TTM_SLICE_RESERVED) s->lines = 1;
  }
}

int ttm_slices_make(const ttm_l1_map *map, ttm_slices *out) {
  edges e = {0};
  *out = (ttm_slices){0};
  int status = find_edges(map, &e);
  size_t *buffers = status ? NULL : find_owners(&e, map->buffers.at, map->buffers.n);
  size_t *tensors = status ? NULL : find_owners(&e, map->tensors.at, map->tensors.n);
  if (!buffers || !tensors) status = TTM_ENOMEM;
  for (size_t i = e.n; !status && i-- > 1;) {
    ttm_slice slice = slice_of(map, e.at[i - 1], e.at[i], buffers[i - 1], tensors[i - 1]);
    if (ttm_vec_push(out, slice)) status = TTM_ENOMEM;
  }
  if (!status) {
    if (out->n > FAR_TOO_MANY) join_kinds(out);
    join_small(out);
    give_lines(out, e.at[e.n - 1]);
  }
  ttm_free(buffers);
  ttm_free(tensors);
  ttm_vec_free(&e);
  return status;
}

/* ---- Words ------------------------------------------------------------------------------------------------------------ */

static ttm_str name_of(const ttm_l1_region *regions, size_t which) {
  return which != TTM_NO_REGION ? regions[which].name : (ttm_str){"", 0};
}

void ttm_slice_label(const ttm_l1_map *map, const ttm_slice *slice, ttm_buf *out) {
  ttm_str buffer = name_of(map->buffers.at, slice->buffer), tensor = name_of(map->tensors.at, slice->tensor);
  static const char *const words[] = {
      [TTM_SLICE_FREE] = "free",
      [TTM_SLICE_TENSOR] = "L1 tensors",
      [TTM_SLICE_BEYOND] = "beyond the end of L1",
      [TTM_SLICE_SMALL] = "L1_SMALL",
      [TTM_SLICE_RESERVED] = "firmware and kernels",
  };
  ttm_put_bytes(out, slice->end - slice->at);
  ttm_buf_char(out, ' ');
  if (slice->kind == TTM_SLICE_BOTH && buffer.n && tensor.n)
    ttm_buf_printf(out, "overlap of %.*s and %.*s", TTM_ARGS(buffer), TTM_ARGS(tensor));
  else if (slice->kind == TTM_SLICE_BOTH)
    ttm_buf_puts(out, map->dataflow ? "DFB/tensor overlap" : "CB/tensor overlap");
  else if (slice->kind == TTM_SLICE_BUFFER)
    ttm_buf_put(out, buffer.n ? buffer : ttm_str_of(ttm_l1_map_buffer_word(map)));
  else
    ttm_buf_put(out, slice->kind == TTM_SLICE_TENSOR && tensor.n ? tensor : ttm_str_of(words[slice->kind]));
}

const char *ttm_l1_chip(const ttm_l1_map *map) { return map->arch < TTM_ARCHES ? ttm_arches[map->arch].name : "L1"; }
