/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cb/cb_report.h"

#include <stdio.h>

#include "base/format.h"

enum { SCALING_COLUMNS = 8 };

void ttm_cb_simulation_free(ttm_cb_simulation *s) {
  for (size_t c = 0; c < s->cases.n; c++) {
    for (size_t i = 0; i < s->cases.at[c].results.n; i++) ttm_cb_result_free(&s->cases.at[c].results.at[i]);
    ttm_vec_free(&s->cases.at[c].results);
  }
  ttm_vec_free(&s->cases);
  ttm_vec_free(&s->machine.tensors);
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

/* ---- Pieces ----------------------------------------------------------------------------------------------------------- */

#define NAME(view) (int)(view).n, (view).p

/* A number with commas, for use in a sentence. Six may live at a time. */
typedef struct counted {
  char text[6][TTM_COUNT_ROOM];
  unsigned next;
} counted;

static const char *count(counted *c, uint64_t n) { return ttm_count_text(c->text[c->next++ % 6], n); }

static void put_machine(ttm_doc *d, const ttm_cb_machine *m) {
  counted c = {0};
  ttm_doc_line(d, "%s: %s B of L1 per core. Buffers start at %s (%s), tensors hang from %s: %s B for both.",
               ttm_arches[m->arch].name, count(&c, m->l1_bytes), count(&c, m->base),
               m->base_basis == TTM_ESTIMATED ? "newest version assumed"
               : m->base_basis == TTM_DERIVED ? "by version"
                                              : "given",
               count(&c, m->l1_bytes - m->small), count(&c, m->l1_bytes - m->small - m->base));
}

static void put_fit(ttm_doc *d, const ttm_cb_result *r) {
  static const char *const words[] = {"yes", "NO: clash", "NO: beyond L1"};
  ttm_doc_cell(d, "%s", r->tensors_fit ? words[r->fit] : "NO: tensors");
}

/* ---- Side by side ----------------------------------------------------------------------------------------------------- */

typedef void put_metric(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r);

static void put_miss(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  (void)m;
  if (r->worst == SIZE_MAX)
    ttm_doc_cell(d, "0.0 %%");
  else
    ttm_doc_cell(d, "%.*s %.1f %%", NAME(r->rows.at[r->worst].name), r->miss_pct);
}
static void put_pressure(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  (void)m;
  ttm_doc_cell(d, "%.1f %s", r->pressure, ttm_pressure_level_name(r->level));
}
static void put_thrashing(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  (void)m;
  ttm_doc_cell(d, "%s", ttm_pressure_level_name(r->thrashing));
}
static void put_utilization(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  (void)m;
  ttm_doc_cell(d, "%.1f %%", r->utilization_pct);
}
static void put_efficiency(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  (void)m;
  ttm_doc_cell(d, "%.1f %%", r->efficiency_pct);
}
static void put_buffers(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  (void)m;
  ttm_doc_cell_count(d, r->buffer_bytes);
}
static void put_holes(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  (void)m;
  ttm_doc_cell_count(d, r->hole_bytes);
}
static void put_tensors(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  (void)m;
  ttm_doc_cell_count(d, r->tensor_bytes);
}
static void put_reserved(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  (void)r;
  ttm_doc_cell_count(d, m->base + m->small);
}
static void put_used(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  (void)m;
  ttm_doc_cell_count(d, r->used);
}
static void put_used_share(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  (void)m;
  ttm_doc_cell(d, "%.1f %%", r->used_pct);
}
static void put_free(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  (void)m;
  ttm_doc_cell_count(d, r->free_bytes);
}
static void put_runs(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  (void)m;
  put_fit(d, r);
}

static const struct {
  const char *name;
  put_metric *put;
} metrics[] = {
    {"Miss rate", put_miss},
    {"Pressure score", put_pressure},
    {"Thrashing risk", put_thrashing},
    {"CB utilization", put_utilization},
    {"Memory efficiency", put_efficiency},
    {"Buffers, B", put_buffers},
    {"Holes, B", put_holes},
    {"L1 tensors, B", put_tensors},
    {"Reserved, B", put_reserved},
    {"L1 in use, B", put_used},
    {"L1 in use", put_used_share},
    {"Free, B", put_free},
    {"Would run", put_runs},
};

static void put_comparison(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_case *c) {
  enum { MOST = TTM_DOC_COLUMNS - 1 };
  char names[MOST][44];
  const char *heads[TTM_DOC_COLUMNS] = {"Strategy"};
  size_t n = c->results.n < MOST ? c->results.n : MOST;
  for (size_t i = 0; i < n; i++) {
    ttm_str name = ttm_str_first(c->results.at[i].plans.strategy, 40);
    snprintf(names[i], sizeof names[i], ">%.*s", NAME(name));
    heads[i + 1] = names[i];
  }
  ttm_doc_table(d, heads, n + 1);
  for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++) {
    ttm_doc_cell(d, "%s", metrics[k].name);
    for (size_t i = 0; i < n; i++) metrics[k].put(d, m, &c->results.at[i]);
  }
  ttm_doc_table_end(d);
}

static void put_rows(ttm_doc *d, const ttm_cb_case *c) {
  static const char *const heads[] = {"Strategy", "Buffer", ">Tiles", ">Needed", ">Bytes", ">Address", ">Miss"};
  ttm_doc_table(d, heads, sizeof heads / sizeof *heads);
  for (size_t i = 0; i < c->results.n; i++) {
    const ttm_cb_result *r = &c->results.at[i];
    for (size_t k = 0; k < r->rows.n; k++) {
      const ttm_cb_row *row = &r->rows.at[k];
      ttm_doc_cell_text(d, r->plans.strategy);
      ttm_doc_cell_text(d, row->name);
      row->tile_bytes == 1 ? ttm_doc_cell(d, "-") : ttm_doc_cell_count(d, row->tiles);
      if (row->streams)
        ttm_doc_cell(d, "%llu at a time", (unsigned long long)row->needed);
      else
        row->needed ? ttm_doc_cell_count(d, row->needed) : ttm_doc_cell(d, "-");
      ttm_doc_cell_count(d, row->bytes);
      row->borrowed ? ttm_doc_cell(d, "in a tensor") : ttm_doc_cell_count(d, row->address);
      row->needed && !row->streams ? ttm_doc_cell(d, "%.1f %%", row->miss_pct) : ttm_doc_cell(d, "-");
    }
  }
  ttm_doc_table_end(d);
}

/* ---- What it means ---------------------------------------------------------------------------------------------------- */

static void say_fit(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  counted c = {0};
  if (!r->tensors_fit) {
    ttm_doc_point(d, "The L1 tensors alone do not fit: the allocator would stop with Out of Memory.");
  } else if (r->fit == TTM_L1_CLASHES) {
    ttm_doc_point(d,
                  "%.*s does not run: buffers on cores [%u-%u - %u-%u] end at %s, %s B above the lowest L1 tensor. "
                  "Make them that much smaller, or keep that much of the tensors in DRAM.",
                  NAME(r->plans.strategy), r->fit_range.x0, r->fit_range.y0, r->fit_range.x1, r->fit_range.y1,
                  count(&c, r->fit_end), count(&c, r->fit_end - ttm_l1_map_lowest_tensor(&r->map)));
  } else if (r->fit == TTM_L1_BEYOND) {
    ttm_doc_point(d, "%.*s does not run: buffers on cores [%u-%u - %u-%u] end at %s, beyond the %s B of L1.",
                  NAME(r->plans.strategy), r->fit_range.x0, r->fit_range.y0, r->fit_range.x1, r->fit_range.y1,
                  count(&c, r->fit_end), count(&c, m->l1_bytes));
  }
}

static void say_missing(ttm_doc *d, const ttm_cb_result *r) {
  counted c = {0};
  if (r->worst == SIZE_MAX) return;
  const ttm_cb_row *row = &r->rows.at[r->worst];
  uint64_t tiles = row->needed - row->tiles, bytes = tiles * row->tile_bytes;
  if (r->fit == TTM_L1_FITS && bytes <= r->free_bytes) {
    ttm_doc_point(d,
                  "%.*s: %.*s holds %s of %s tiles and reads the rest again in every pass. %s more tiles (%s B) would "
                  "hold them all, and %s B of L1 are free.",
                  NAME(r->plans.strategy), NAME(row->name), count(&c, row->tiles), count(&c, row->needed),
                  count(&c, tiles), count(&c, bytes), count(&c, r->free_bytes));
  } else {
    ttm_doc_point(d, "%.*s: %.*s holds %s of %s tiles; the missing %s B do not fit, so stream them.",
                  NAME(r->plans.strategy), NAME(row->name), count(&c, row->tiles), count(&c, row->needed),
                  count(&c, bytes));
  }
}

/* cb0, cb_16, c_31: the index a name ends in, UINT64_MAX without one. */
static uint64_t index_of(ttm_str name) {
  uint64_t index;
  if (!ttm_str_take(&name, TTM_LIT("cb")) && !ttm_str_take(&name, TTM_LIT("c"))) return UINT64_MAX;
  ttm_str_take(&name, TTM_LIT("_"));
  return ttm_str_take_u64(&name, &index) && !name.n ? index : UINT64_MAX;
}

static void say_buffers(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_result *r) {
  uint32_t most = ttm_arches[m->arch].circular_buffers;
  counted c = {0};
  for (size_t i = 0; i < r->rows.n; i++) {
    const ttm_cb_row *row = &r->rows.at[i];
    uint64_t index = index_of(row->name);
    if (row->single_buffered)
      ttm_doc_point(d, "%.*s: %.*s holds one tile, so producer and consumer wait for each other; two overlap them.",
                    NAME(r->plans.strategy), NAME(row->name));
    if (!row->tiles) ttm_doc_point(d, "%.*s: %.*s holds nothing.", NAME(r->plans.strategy), NAME(row->name));
    if (index != UINT64_MAX && index >= most)
      ttm_doc_point(d, "%.*s: %s has %u circular buffers per core, so there is no %.*s.", NAME(r->plans.strategy),
                    ttm_arches[m->arch].name, most, NAME(row->name));
  }
  if (r->spare_bytes)
    ttm_doc_point(d, "%.*s: %s B are held beyond what the work needs at a time; they only smooth bursts.",
                  NAME(r->plans.strategy), count(&c, r->spare_bytes));
}

static void put_kernels(ttm_doc *d, const ttm_cb_machine *m) {
  counted c = {0};
  uint64_t ring = ttm_arches[m->arch].kernel_config;
  ttm_doc_point(d, "Kernels: %s B%s of the %s B ring below the base%s; they take nothing from the buffers.",
                count(&c, m->kernel_bytes), m->kernel_basis == TTM_ESTIMATED ? " (estimated)" : "", count(&c, ring),
                m->kernel_bytes > ring ? ". TOO LARGE: the program would not load" : "");
}

void ttm_cb_case_write(ttm_doc *d, const ttm_cb_machine *m, const ttm_cb_case *c) {
  ttm_workload_class class_ = ttm_workload_class_of(&c->workload);
  size_t chosen = ttm_cb_case_choice(c);
  counted n = {0};
  ttm_doc_line(d, "Work: %s tiles used again and again (r_tiles), %s tiles per shard: %s, %s.",
               count(&n, c->workload.r_tiles), count(&n, c->workload.tiles_per_shard), ttm_workload_class_name(class_),
               ttm_workload_class_strategy(class_));
  put_machine(d, m);
  ttm_doc_heading(d, "Strategies");
  put_comparison(d, m, c);
  ttm_doc_heading(d, "Buffers");
  put_rows(d, c);
  ttm_doc_heading(d, "What it means");
  for (size_t i = 0; i < c->results.n; i++) {
    say_fit(d, m, &c->results.at[i]);
    say_missing(d, &c->results.at[i]);
    say_buffers(d, m, &c->results.at[i]);
  }
  put_kernels(d, m);
  for (size_t i = 0; i < c->results.n; i++) {
    char title[80];
    if (d->form == TTM_DOC_TERMINAL && i != chosen) continue; /* one picture is enough for a screen */
    snprintf(title, sizeof title, "L1 of one core, %.*s", NAME(c->results.at[i].plans.strategy));
    ttm_doc_heading(d, title);
    ttm_doc_picture(d, &c->results.at[i].map);
  }
}

/* ---- Over workloads --------------------------------------------------------------------------------------------------- */

static void put_scaling_row(ttm_doc *d, const ttm_cb_case *c, const ttm_cb_result *r) {
  ttm_doc_cell(d, "%llu %llu", (unsigned long long)c->workload.r_tiles,
               (unsigned long long)c->workload.tiles_per_shard);
  ttm_doc_cell(d, "%s", ttm_workload_class_name(ttm_workload_class_of(&c->workload)));
  ttm_doc_cell_text(d, r->plans.strategy);
  ttm_doc_cell(d, "%.1f %%", r->miss_pct);
  ttm_doc_cell(d, "%.1f", r->pressure);
  ttm_doc_cell(d, "%s", ttm_pressure_level_name(r->thrashing));
  ttm_doc_cell_count(d, r->buffer_bytes);
  put_fit(d, r);
}

/* Where a strategy is worse than the first one. */
static void say_worse(ttm_doc *d, const ttm_cb_simulation *s, size_t i) {
  for (size_t k = 0; k < s->cases.n; k++) {
    const ttm_cb_result *base = &s->cases.at[k].results.at[0], *r = &s->cases.at[k].results.at[i];
    if (r->pressure < base->pressure + 1) continue;
    ttm_doc_point(d, "%.*s: more pressure than %.*s from %llu tiles on (%.1f against %.1f).", NAME(r->plans.strategy),
                  NAME(base->plans.strategy), (unsigned long long)s->cases.at[k].workload.r_tiles, r->pressure,
                  base->pressure);
    return;
  }
}

/* Where each strategy first comes under high pressure. */
static void say_critical(ttm_doc *d, const ttm_cb_simulation *s) {
  for (size_t i = 0; s->cases.n && i < s->cases.at[0].results.n; i++) {
    ttm_str name = s->cases.at[0].results.at[i].plans.strategy;
    size_t k = 0;
    while (k < s->cases.n && s->cases.at[k].results.at[i].level != TTM_PRESSURE_HIGH) k++;
    if (k < s->cases.n)
      ttm_doc_point(d, "%.*s: pressure becomes HIGH at %llu tiles.", NAME(name),
                    (unsigned long long)s->cases.at[k].workload.r_tiles);
    else
      ttm_doc_point(d, "%.*s: never under high pressure here.", NAME(name));
    say_worse(d, s, i);
  }
}

void ttm_cb_scaling_write(ttm_doc *d, const ttm_cb_simulation *s) {
  static const char *const heads[SCALING_COLUMNS] = {">R T",   "Class", "Strategy",    ">Miss",
                                                     ">Score", "Risk",  ">Buffers, B", "Runs"};
  put_machine(d, &s->machine);
  ttm_doc_heading(d, "Scaling");
  ttm_doc_table(d, heads, SCALING_COLUMNS);
  for (size_t c = 0; c < s->cases.n; c++) {
    for (size_t i = 0; i < s->cases.at[c].results.n; i++)
      put_scaling_row(d, &s->cases.at[c], &s->cases.at[c].results.at[i]);
  }
  ttm_doc_table_end(d);
  ttm_doc_heading(d, "What it means");
  say_critical(d, s);
}
