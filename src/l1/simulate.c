/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/simulate.h"

#include "base/checked.h"

enum { KERNELS_OF_AN_ADD = 10240 }; /* tt-train's memory_utils_test.cpp: kernel binaries of an element-wise add */

/* ---- Names and scales ------------------------------------------------------------------------------------------------- */

ttm_workload_class ttm_workload_class_of(const ttm_cb_workload *w) {
  uint64_t tiles = w->r_tiles > w->tiles_per_shard ? w->r_tiles : w->tiles_per_shard;
  return tiles <= 8    ? TTM_WORKLOAD_SMALL
         : tiles <= 16 ? TTM_WORKLOAD_MEDIUM
         : tiles <= 32 ? TTM_WORKLOAD_LARGE
                       : TTM_WORKLOAD_VERY_LARGE;
}

const char *ttm_workload_class_name(ttm_workload_class class_) {
  static const char *const names[] = {"Small", "Medium", "Large", "Very Large"};
  return names[class_];
}

const char *ttm_workload_class_strategy(ttm_workload_class class_) {
  static const char *const names[] = {"Optimal buffering", "Balanced allocation", "Conservative allocation",
                                      "Streaming mode"};
  return names[class_];
}

const char *ttm_pressure_level_name(ttm_pressure_level level) {
  static const char *const names[] = {"LOW", "MEDIUM", "HIGH"};
  return names[level];
}

/* A line through (0, 0), (low, 30), (high, 70), (100, 100): the guide's table puts a miss rate of 25 % beside a score of 30, and 75 %
 * beside 70. */
static double score(double value, double low, double high) {
  if (value <= 0) return 0;
  if (value < low) return value / low * 30;
  if (value <= high) return 30 + (value - low) / (high - low) * 40;
  return value < 100 ? 70 + (value - high) / (100 - high) * 30 : 100;
}

double ttm_miss_score(double miss_pct) { return score(miss_pct, 25, 75); }
double ttm_space_score(double used_pct) { return score(used_pct, 80, 95); }

ttm_pressure_level ttm_pressure_level_of(double value) {
  return value < 30 ? TTM_PRESSURE_LOW : value <= 70 ? TTM_PRESSURE_MEDIUM : TTM_PRESSURE_HIGH;
}

int ttm_cb_machine_set(ttm_cb_machine *m, ttm_arch_id arch, ttm_str version, ttm_error *err) {
  m->arch = arch;
  m->l1_bytes = ttm_arches[arch].l1_bytes;
  m->base = version.n ? ttm_l1_base_of(arch, version) : ttm_l1_base_newest(arch);
  m->base_basis = version.n ? TTM_DERIVED : TTM_ESTIMATED;
  m->kernel_bytes = KERNELS_OF_AN_ADD;
  m->kernel_basis = TTM_ESTIMATED;
  if (m->base) return TTM_OK;
  return ttm_error_set(err, TTM_EUSAGE, "the L1 base of version '%.*s' is unknown: give it with --l1-base BYTES",
                       (int)(version.n < 40 ? version.n : 40), version.p);
}

/* ---- Rows ------------------------------------------------------------------------------------------------------------- */

static int make_rows(ttm_cb_result *r, const ttm_cb_machine *m) {
  for (size_t i = 0; i < r->plans.all.n; i++) {
    const ttm_cb_plan *p = &r->plans.all.at[i];
    ttm_cb_row row = {.name = p->name, .tiles = p->tiles, .needed = p->needed, .passing = p->passing};
    row.streams = p->streams, row.borrowed = p->borrowed;
    row.tile_bytes = p->tile_bytes ? p->tile_bytes : m->tile_bytes;
    row.bytes = ttm_mul_sat(p->tiles, row.tile_bytes);
    if (!p->streams && p->needed > p->tiles) row.miss_pct = (double)(p->needed - p->tiles) / (double)p->needed * 100;
    row.single_buffered = p->streams && p->tiles < p->needed;
    if (ttm_vec_push(&r->rows, row)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Sums in bytes, so that buffers of different data formats weigh what they cost. */
static void find_metrics(ttm_cb_result *r) {
  double held_needed = 0, needed = 0, larger = 0;
  r->worst = SIZE_MAX;
  for (size_t i = 0; i < r->rows.n; i++) {
    const ttm_cb_row *row = &r->rows.at[i];
    if (!row->needed) continue;
    uint64_t less = row->tiles < row->needed ? row->tiles : row->needed;
    uint64_t more = row->tiles < row->needed ? row->needed : row->tiles;
    held_needed += (double)less * (double)row->tile_bytes;
    needed += (double)row->needed * (double)row->tile_bytes;
    larger += (double)more * (double)row->tile_bytes;
    r->more_bytes = ttm_add_sat(r->more_bytes, ttm_mul_sat(ttm_sub_sat(row->needed, row->tiles), row->tile_bytes));
    r->spare_bytes = ttm_add_sat(r->spare_bytes, ttm_mul_sat(ttm_sub_sat(row->tiles, row->needed), row->tile_bytes));
    if (row->miss_pct > r->miss_pct) r->miss_pct = row->miss_pct, r->worst = i;
  }
  r->utilization_pct = needed > 0 ? held_needed / needed * 100 : 100;
  r->efficiency_pct = larger > 0 ? held_needed / larger * 100 : 100;
  r->miss_score = ttm_miss_score(r->miss_pct);
  r->thrashing = r->miss_pct < 25 ? TTM_PRESSURE_LOW : r->miss_pct <= 75 ? TTM_PRESSURE_MEDIUM : TTM_PRESSURE_HIGH;
}

/* ---- Placement -------------------------------------------------------------------------------------------------------- */

static int place_tensors(ttm_cb_result *r, const ttm_cb_machine *m) {
  r->tensors_fit = true;
  uint64_t lowest = m->l1_bytes - m->small, align = ttm_arches[m->arch].dram_align;
  for (size_t i = 0; i < m->tensors.n; i++) {
    uint64_t bytes = m->tensors.at[i].end, at = ttm_l1_tensor_at(lowest, bytes, m->base, align);
    if (!at) at = m->base, r->tensors_fit = false; /* drawn down to the base, so that every buffer clashes */
    if (ttm_vec_push(&r->map.tensors, (ttm_l1_region){at, lowest, m->tensors.at[i].name})) return TTM_ENOMEM;
    lowest = at;
  }
  r->tensor_bytes = m->l1_bytes - m->small - lowest;
  return TTM_OK;
}

/* The core range whose buffers end highest: the core that is drawn. */
static const ttm_l1_range_end *fullest(const ttm_l1_placement *p) {
  const ttm_l1_range_end *best = NULL;
  for (size_t i = 0; i < p->ranges.n; i++) {
    if (!best || p->ranges.at[i].end > best->end) best = &p->ranges.at[i];
  }
  return best;
}

static bool meets(const ttm_core_set *cores, ttm_core_range range) {
  for (size_t i = 0; i < cores->n; i++) {
    if (ttm_core_range_intersects(cores->at[i], range)) return true;
  }
  return false;
}

static int draw_buffers(ttm_cb_result *r, const ttm_l1_buffer *buffers, size_t n, ttm_core_range range) {
  for (size_t i = 0; i < n; i++) {
    r->rows.at[i].address = buffers[i].address;
    if (buffers[i].borrowed || !buffers[i].bytes || !meets(&buffers[i].cores, range)) continue;
    ttm_l1_region region = {buffers[i].address, ttm_add_sat(buffers[i].address, buffers[i].bytes), buffers[i].name};
    if (ttm_vec_push(&r->map.buffers, region)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static void find_fit(ttm_cb_result *r, const ttm_l1_placement *placed, const ttm_cb_machine *m) {
  size_t which = 0;
  uint64_t lowest = ttm_l1_map_lowest_tensor(&r->map);
  r->buffers_end = ttm_l1_placement_end(placed, m->base);
  r->fit = ttm_l1_check(placed, lowest, m->l1_bytes, &which);
  if (r->fit != TTM_L1_FITS && placed->ranges.at)
    r->fit_range = placed->ranges.at[which].range, r->fit_end = placed->ranges.at[which].end;
  r->free_bytes = ttm_sub_sat(lowest, r->buffers_end);
  r->used = ttm_add_sat(r->buffers_end, ttm_add_sat(r->tensor_bytes, m->small));
  r->used_pct = (double)r->used / (double)m->l1_bytes * 100;
  uint64_t usable = m->l1_bytes - m->base - m->small;
  double taken = (double)(r->buffers_end - m->base) + (double)r->tensor_bytes;
  r->space_score = r->fit == TTM_L1_FITS ? ttm_space_score(usable ? taken / (double)usable * 100 : 100) : 100;
  r->pressure = r->space_score > r->miss_score ? r->space_score : r->miss_score;
  r->level = ttm_pressure_level_of(r->pressure);
}

/* Buffers without cores are on one and the same core. */
static int make_buffers(ttm_cb_result *r, ttm_l1_buffer **out) {
  ttm_l1_buffer *buffers = ttm_alloc_array(r->rows.n, sizeof *buffers);
  *out = buffers;
  if (!buffers) return TTM_ENOMEM;
  for (size_t i = 0; i < r->rows.n; i++) {
    ttm_core_set *cores = &r->plans.all.at[i].cores;
    if (!cores->n && ttm_vec_push(cores, (ttm_core_range){0, 0, 0, 0})) return TTM_ENOMEM;
    buffers[i] = (ttm_l1_buffer){.name = r->rows.at[i].name, .bytes = r->rows.at[i].bytes, .cores = *cores};
    buffers[i].borrowed = r->rows.at[i].borrowed;
  }
  return TTM_OK;
}

static int place(ttm_cb_result *r, const ttm_cb_machine *m) {
  ttm_l1_buffer *buffers = NULL;
  ttm_l1_placement placed = {0};
  int status = make_buffers(r, &buffers);
  if (!status) status = ttm_l1_place(buffers, r->rows.n, m->base, ttm_arches[m->arch].dram_align, &placed);
  const ttm_l1_range_end *full = fullest(&placed);
  if (!status && full) {
    status = draw_buffers(r, buffers, r->rows.n, full->range);
    r->buffer_bytes = full->used;
    r->hole_bytes = full->end > m->base ? full->end - m->base - full->used : 0;
  }
  if (!status) find_fit(r, &placed, m);
  ttm_l1_placement_free(&placed);
  ttm_free(buffers);
  return status;
}

int ttm_cb_simulate(ttm_cb_result *out, ttm_cb_plans *plans, const ttm_cb_machine *m) {
  *out = (ttm_cb_result){.plans = *plans};
  *plans = (ttm_cb_plans){0};
  out->map = (ttm_l1_map){
      .arch = m->arch, .size = m->l1_bytes, .base = m->base, .base_basis = m->base_basis, .small = m->small};
  if (make_rows(out, m)) return TTM_ENOMEM;
  find_metrics(out);
  if (place_tensors(out, m)) return TTM_ENOMEM;
  return place(out, m);
}

void ttm_cb_result_free(ttm_cb_result *result) {
  ttm_cb_plans_free(&result->plans);
  ttm_vec_free(&result->rows);
  ttm_l1_map_free(&result->map);
}

void ttm_cb_simulation_free(ttm_cb_simulation *s) {
  for (size_t c = 0; c < s->cases.n; c++) {
    for (size_t i = 0; i < s->cases.at[c].results.n; i++) ttm_cb_result_free(&s->cases.at[c].results.at[i]);
    ttm_vec_free(&s->cases.at[c].results);
  }
  ttm_vec_free(&s->cases);
  ttm_vec_free(&s->findings);
  ttm_vec_free(&s->machine.tensors);
  ttm_arena_free(&s->arena);
}

size_t ttm_cb_case_choice(const ttm_cb_case *c) {
  size_t best = 0;
  for (size_t i = 0; i < c->results.n; i++) {
    const ttm_cb_result *r = &c->results.at[i];
    if (r->fit != TTM_L1_FITS) return i;
    if (r->pressure < c->results.at[best].pressure) best = i;
  }
  return best;
}
