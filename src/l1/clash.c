/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/clash.h"

#include "base/checked.h"

enum { BFLOAT16_TILE = 2048 };

bool ttm_clash_possible(const ttm_incident_text *incident) {
  if (incident->buffers_end == TTM_UNKNOWN) return false;
  if (incident->kind == TTM_INCIDENT_L1_CLASH) return incident->l1_buffer_at < incident->buffers_end;
  return incident->kind == TTM_INCIDENT_L1_OVERFLOW && incident->l1_size < incident->buffers_end;
}

/* ---- Which chip ------------------------------------------------------------------------------------------------------- */

/* Only the overflow message gives the size of L1. A clash gives core coordinates and addresses: what Wormhole cannot have is Blackhole. */
static void find_chip(ttm_l1_map *map, const ttm_incident_text *incident, const ttm_core_set *cores) {
  uint64_t highest = incident->kind == TTM_INCIDENT_L1_CLASH ? incident->buffers_end : 0;
  if (map->arch != TTM_ARCHES) return;
  map->arch = incident->l1_size == TTM_UNKNOWN ? TTM_ARCHES : ttm_arch_by_l1_bytes(incident->l1_size);
  map->arch_basis = TTM_MEASURED;
  if (map->arch != TTM_ARCHES) return;
  map->arch = TTM_ARCH_WORMHOLE;
  map->arch_basis = TTM_ESTIMATED;
  for (size_t i = 0; i < cores->n; i++) {
    if (cores->at[i].x1 > 7) map->arch = TTM_ARCH_BLACKHOLE, map->arch_basis = TTM_DERIVED;
  }
  if (highest > ttm_arches[TTM_ARCH_WORMHOLE].l1_bytes) map->arch = TTM_ARCH_BLACKHOLE, map->arch_basis = TTM_DERIVED;
}

static void find_base(ttm_l1_map *map, const ttm_incident_text *incident, const ttm_clash_hints *hints) {
  uint64_t limit = incident->buffers_end;
  map->base = hints->base ? hints->base : ttm_l1_base_of(map->arch, hints->version);
  map->base_basis = hints->base ? TTM_MEASURED : hints->version_guessed ? TTM_ESTIMATED : TTM_DERIVED;
  if (!map->base) map->base = ttm_l1_base_newest(map->arch), map->base_basis = TTM_ESTIMATED;
  if (map->base > limit) map->base = limit, map->base_basis = TTM_ESTIMATED;
}

/* ---- Together --------------------------------------------------------------------------------------------------------- */

static int fill_map(ttm_clash *c, const ttm_incident_text *incident, const ttm_clash_hints *hints) {
  ttm_l1_map *map = &c->map;
  map->size = incident->l1_size != TTM_UNKNOWN ? incident->l1_size : ttm_arches[map->arch].l1_bytes;
  map->dataflow = incident->dataflow;
  find_base(map, incident, hints);
  map->small = hints->l1_small < map->size - (map->base < map->size ? map->base : map->size) ? hints->l1_small : 0;
  if (ttm_vec_push(&map->buffers, (ttm_l1_region){map->base, incident->buffers_end, {"", 0}})) return TTM_ENOMEM;
  if (c->overlap.beyond) return TTM_OK;
  uint64_t top = map->size - map->small;
  if (top < incident->l1_buffer_at) top = map->size = incident->l1_buffer_at; /* a chip larger than any we know */
  return ttm_vec_push(&map->tensors, (ttm_l1_region){incident->l1_buffer_at, top, {"", 0}});
}

int ttm_clash_explain(ttm_clash *out, const ttm_incident_text *incident, const ttm_clash_hints *hints) {
  ttm_core_set cores = {0};
  bool beyond = incident->kind == TTM_INCIDENT_L1_OVERFLOW;
  int status;
  *out = (ttm_clash){.map.arch = TTM_ARCHES, .program = incident->program};
  out->overlap = (ttm_l1_overlap){.end = incident->buffers_end,
                                  .limit = beyond ? incident->l1_size : incident->l1_buffer_at,
                                  .tile_bytes = hints->tile_bytes ? hints->tile_bytes : BFLOAT16_TILE,
                                  .cores = incident->core_range,
                                  .beyond = beyond,
                                  .dataflow = incident->dataflow};
  if (!ttm_clash_possible(incident)) return TTM_EUSAGE;
  if (hints->arch.n) {
    out->map.arch = ttm_arch_find(hints->arch);
    if (out->map.arch == TTM_ARCHES) return TTM_EUSAGE;
  }
  status = ttm_core_set_parse(incident->core_range, &cores) == TTM_ENOMEM ? TTM_ENOMEM : TTM_OK;
  out->cores = ttm_core_set_count(&cores);
  find_chip(&out->map, incident, &cores);
  if (!status) status = fill_map(out, incident, hints);
  ttm_vec_free(&cores);
  if (status) return status;
  out->bytes = out->overlap.end - out->overlap.limit;
  out->tiles = ttm_div_up(out->bytes, out->overlap.tile_bytes);
  out->buffer_bytes = incident->buffers_end - out->map.base;
  out->spare_small = hints->l1_small && out->bytes > hints->l1_small ? 0 : TTM_UNKNOWN;
  return TTM_OK;
}

void ttm_clash_free(ttm_clash *clash) { ttm_l1_map_free(&clash->map); }

/* ---- On its cores ------------------------------------------------------------------------------------------------------ */

static void find_size(ttm_core_grid *grid, ttm_arch_id arch, const ttm_core_set *cores) {
  for (size_t i = TTM_BOARDS; i-- > 0;) {
    if (ttm_boards[i].arch != arch) continue;
    grid->columns = ttm_boards[i].grid_x;
    grid->rows = ttm_boards[i].grid_y;
  }
  ttm_core_set_widen(cores, &grid->columns, &grid->rows);
}

int ttm_clash_grid(ttm_core_grid *out, const ttm_clash *clash, bool *known) {
  ttm_core_set cores = {0};
  const ttm_l1_map *map = &clash->map;
  uint64_t tensors = ttm_sub_sat(ttm_sub_sat(map->size, map->small), ttm_l1_map_lowest_tensor(map));
  *out = (ttm_core_grid){.limit = ttm_sub_sat(map->size, map->base), .any_clash = true};
  int status = ttm_core_set_parse(clash->overlap.cores, &cores) == TTM_ENOMEM ? TTM_ENOMEM : TTM_OK;
  *known = cores.n > 0;
  find_size(out, map->arch, &cores);
  for (unsigned y = 0; y < out->rows; y++) {
    for (unsigned x = 0; x < out->columns; x++) {
      out->clashes[y][x] = ttm_core_set_has(&cores, x, y);
      out->used[y][x] = out->clashes[y][x] ? ttm_add_sat(clash->buffer_bytes, tensors) : TTM_UNKNOWN;
    }
  }
  ttm_vec_free(&cores);
  return status;
}
