/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/checked.h"
#include "l1/core_use_parts.h"

int ttm_core_regions_init(ttm_core_regions *r, const ttm_profile *p) {
  const ttm_capture_board *board = &p->capture.board;
  *r = (ttm_core_regions){.p = p, .base = board->l1_base, .align = ttm_arches[TTM_ARCH_WORMHOLE].dram_align};
  if (board->arch < TTM_ARCHES) r->align = ttm_arches[board->arch].dram_align;
  r->top = board->l1_bank_bytes ? board->l1_base + board->l1_bank_bytes : board->l1_bytes;
  return TTM_OK;
}

/* ---- Program buffers ----------------------------------------------------------------------------------------------- */

static int set_of(ttm_core_regions *r, uint32_t text, uint32_t *out) {
  *out = ttm_map_get(&r->set_of_text, text, TTM_NONE);
  if (*out != TTM_NONE) return TTM_OK;
  ttm_core_set set = {0};
  /* One that cannot be read stays empty. */
  if (ttm_core_set_parse(ttm_profile_string(r->p, text), &set) == TTM_ENOMEM || ttm_vec_push(&r->sets, set)) {
    ttm_vec_free(&set);
    return TTM_ENOMEM;
  }
  *out = (uint32_t)(r->sets.n - 1);
  return ttm_map_set(&r->set_of_text, text, *out);
}

int ttm_core_regions_add(ttm_core_regions *r, uint32_t event, const ttm_core_set **cores) {
  const ttm_buffer_event *e = &r->p->capture.events.at[event];
  uint32_t set;
  if (set_of(r, e->row, &set)) return TTM_ENOMEM;
  *cores = &r->sets.at[set];
  ttm_l1_buffer b = {.name = ttm_profile_string(r->p, e->function),
                     .bytes = e->bytes == TTM_UNKNOWN ? 0 : e->bytes,
                     .borrowed = (e->alias & TTM_ALIAS) != 0,
                     .address = e->address};
  b.cores = r->sets.at[set];
  return ttm_vec_push(&r->buffers, b) || ttm_vec_push(&r->events, event) ? TTM_ENOMEM : TTM_OK;
}

void ttm_core_regions_clear(ttm_core_regions *r) { r->buffers.n = r->events.n = 0; }

/* ---- Tensors ------------------------------------------------------------------------------------------------------- */

int ttm_core_regions_tensor(ttm_core_regions *r, uint32_t row, bool came) {
  const ttm_buffer *b = &r->p->capture.buffers.at[row];
  if (b->memory != TTM_L1) return TTM_OK;
  if (b->address == TTM_UNKNOWN)
    r->unplaced = came                          ? ttm_add_sat(r->unplaced, b->bank_bytes)
                  : r->unplaced > b->bank_bytes ? r->unplaced - b->bank_bytes
                                                : 0;
  if (came) return ttm_vec_push(&r->alive, row);
  for (size_t i = r->alive.n; i-- > 0;) {
    if (r->alive.at[i] != row) continue;
    r->alive.at[i] = r->alive.at[--r->alive.n];
    break;
  }
  return TTM_OK;
}

/* Where the lowest tensor starts: its address, or below those without an address, which are taken to adjoin the top. */
static uint64_t lowest_tensor(const ttm_core_regions *r) {
  uint64_t lowest = r->top > r->unplaced ? r->top - r->unplaced : 0;
  for (size_t i = 0; i < r->alive.n; i++) {
    uint64_t at = r->p->capture.buffers.at[r->alive.at[i]].address;
    if (at < lowest) lowest = at; /* TTM_UNKNOWN is the largest there is */
  }
  return lowest;
}

/* ---- Gaps ---------------------------------------------------------------------------------------------------------- */

/* The device's own addresses where the capture has them, else tt-metal's rule. */
static int place(ttm_core_regions *r, uint64_t *end) {
  bool placed = true;
  *end = r->base;
  for (size_t i = 0; i < r->buffers.n; i++)
    placed &= r->buffers.at[i].borrowed || (r->buffers.at[i].address && r->buffers.at[i].address != TTM_UNKNOWN);
  if (!placed) {
    /* On a mesh every device has the same buffers: one of them is enough. */
    uint32_t device = r->p->capture.events.at[r->events.at[0]].device;
    size_t n = 0;
    for (size_t i = 0; i < r->buffers.n; i++) {
      if (r->p->capture.events.at[r->events.at[i]].device != device) continue;
      r->events.at[n] = r->events.at[i];
      r->buffers.at[n++] = r->buffers.at[i];
    }
    r->buffers.n = r->events.n = n;
    ttm_l1_placement placement;
    int rc = ttm_l1_place(r->buffers.at, r->buffers.n, r->base, r->align, &placement);
    *end = ttm_l1_placement_end(&placement, r->base);
    ttm_l1_placement_free(&placement);
    return rc;
  }
  for (size_t i = 0; i < r->buffers.n; i++) {
    uint64_t behind = ttm_add_sat(r->buffers.at[i].address, r->buffers.at[i].bytes);
    if (!r->buffers.at[i].borrowed && behind > *end) *end = behind;
  }
  return TTM_OK;
}

static int by_address(const void *a, const void *b) {
  const ttm_l1_region *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

/* Remembers the program and the tensors of its time. */
static int keep(ttm_core_regions *r) {
  ttm_kept_program *k = &r->kept;
  uint64_t next = r->top;
  k->buffers.n = k->tensors.n = 0;
  for (size_t i = 0; i < r->buffers.n; i++)
    if (!r->buffers.at[i].borrowed && ttm_vec_push(&k->buffers, r->buffers.at[i])) return TTM_ENOMEM;
  for (size_t i = 0; i < r->alive.n; i++) {
    const ttm_buffer *b = &r->p->capture.buffers.at[r->alive.at[i]];
    ttm_l1_region region = {.at = b->address, .end = ttm_add_sat(b->address, b->bank_bytes)};
    if (b->address == TTM_UNKNOWN) {
      region.end = next;
      region.at = next = next > b->bank_bytes ? next - b->bank_bytes : 0;
    }
    if (b->op != TTM_NONE) region.name = ttm_profile_string(r->p, r->p->texts.at[r->p->ops.at[b->op].text].name);
    if (ttm_vec_push(&k->tensors, region)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

int ttm_core_regions_close(ttm_core_regions *r, ttm_core_use *out) {
  uint64_t end, lowest = lowest_tensor(r);
  uint32_t last = r->events.at[r->events.n - 1];
  if (place(r, &end)) return TTM_ENOMEM;
  if (end > out->region_end) out->region_end = end;
  uint64_t ends = end > r->base ? end : r->base;
  int64_t gap = lowest >= ends ? (int64_t)(lowest - ends < INT64_MAX ? lowest - ends : INT64_MAX)
                               : -(int64_t)(ends - lowest < INT64_MAX ? ends - lowest : INT64_MAX);
  if (gap >= out->gap && out->gap_event != TTM_NONE) return TTM_OK;
  out->gap = gap;
  out->gap_event = last;
  return keep(r);
}

static const ttm_l1_buffer *highest_buffer(const ttm_kept_program *k) {
  const ttm_l1_buffer *highest = NULL;
  for (size_t i = 0; i < k->buffers.n; i++) {
    const ttm_l1_buffer *b = &k->buffers.at[i];
    if (!highest || ttm_add_sat(b->address, b->bytes) > ttm_add_sat(highest->address, highest->bytes)) highest = b;
  }
  return highest;
}

/* True when the buffer is on the first core of the other one, the core that is drawn. */
static bool shares_core(const ttm_l1_buffer *b, const ttm_l1_buffer *drawn) {
  if (!b->cores.n || !drawn->cores.n) return true;
  ttm_core_range core = drawn->cores.at[0];
  core.x1 = core.x0;
  core.y1 = core.y0;
  for (size_t i = 0; i < b->cores.n; i++)
    if (ttm_core_range_intersects(b->cores.at[i], core)) return true;
  return false;
}

int ttm_core_regions_map(ttm_core_regions *r, ttm_core_use *out) {
  const ttm_capture_board *board = &r->p->capture.board;
  ttm_l1_map *map = &out->map;
  *map = (ttm_l1_map){.arch = (ttm_arch_id)board->arch, .size = board->l1_bytes, .base = board->l1_base};
  map->arch_basis = map->base_basis = board->estimated ? TTM_ESTIMATED : TTM_MEASURED;
  map->small = board->l1_bytes > r->top ? board->l1_bytes - r->top : 0;
  map->dataflow = r->p->capture.events.at[out->gap_event].kind != TTM_EVENT_CIRCULAR;
  const ttm_l1_buffer *highest = highest_buffer(&r->kept);
  for (size_t i = 0; highest && i < r->kept.buffers.n; i++) {
    const ttm_l1_buffer *b = &r->kept.buffers.at[i];
    if (!shares_core(b, highest) || (map->buffers.n && b->address < map->buffers.at[map->buffers.n - 1].end)) continue;
    if (ttm_vec_push(&map->buffers, (ttm_l1_region){b->address, ttm_add_sat(b->address, b->bytes), b->name}))
      return TTM_ENOMEM;
  }
  for (size_t i = 0; i < r->kept.tensors.n; i++)
    if (ttm_vec_push(&map->tensors, r->kept.tensors.at[i])) return TTM_ENOMEM;
  if (map->tensors.n) qsort(map->tensors.at, map->tensors.n, sizeof *map->tensors.at, by_address);
  return TTM_OK;
}

void ttm_core_regions_free(ttm_core_regions *r) {
  for (size_t i = 0; i < r->sets.n; i++) ttm_vec_free(&r->sets.at[i]);
  ttm_vec_free(&r->sets);
  ttm_map_free(&r->set_of_text);
  ttm_vec_free(&r->buffers);
  ttm_vec_free(&r->events);
  ttm_vec_free(&r->alive);
  ttm_vec_free(&r->kept.buffers);
  ttm_vec_free(&r->kept.tensors);
}
