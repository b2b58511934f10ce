/* SPDX-License-Identifier: Apache-2.0 */
/* What a simulation means: each conclusion made once, in words. */
#include <stdio.h>

#include "base/format.h"
#include "l1/simulate.h"

/* A finding while it is being worded. */
typedef struct judging {
  ttm_cb_simulation *s;
  size_t workload;
  const ttm_cb_result *result; /* NULL: of no strategy */
  ttm_buf text;
  bool failed;
} judging;

/* Ends the text that was begun, as a finding. */
static void conclude(judging *j, ttm_cb_level level, const char *rule) {
  ttm_cb_finding finding = {level, rule, j->workload, {"", 0}, ttm_buf_str(&j->text)};
  if (j->result) finding.strategy = j->result->plans.strategy;
  finding.text.p = j->text.failed ? NULL : ttm_arena_copy(&j->s->arena, finding.text);
  j->failed |= !finding.text.p || ttm_vec_push(&j->s->findings, finding);
  ttm_buf_clear(&j->text);
}

static void judge_fit(judging *j) {
  const ttm_cb_result *r = j->result;
  const ttm_core_range *c = &r->fit_range;
  if (!r->tensors_fit) {
    ttm_buf_puts(&j->text, "the L1 tensors alone do not fit: the allocator stops with Out of Memory");
    conclude(j, TTM_CB_ERROR, "tensors-over-l1");
  } else if (r->fit != TTM_L1_FITS) {
    char cores[32];
    snprintf(cores, sizeof cores, "[%u-%u - %u-%u]", c->x0, c->y0, c->x1, c->y1);
    ttm_l1_overlap overlap = {.end = r->fit_end, .cores = ttm_str_of(cores), .beyond = r->fit == TTM_L1_BEYOND};
    overlap.limit = overlap.beyond ? r->map.size : ttm_l1_map_lowest_tensor(&r->map);
    ttm_words_overlap(&j->text, &overlap);
    conclude(j, TTM_CB_ERROR, overlap.beyond ? "over-l1" : "l1-clash");
  }
}

static void judge_misses(judging *j) {
  const ttm_cb_result *r = j->result;
  if (r->worst == SIZE_MAX) return;
  const ttm_cb_row *row = &r->rows.at[r->worst];
  uint64_t tiles = row->needed - row->tiles, bytes = tiles * row->tile_bytes;
  bool room = r->fit == TTM_L1_FITS && bytes <= r->free_bytes;
  ttm_buf_printf(&j->text, "%.*s holds %s of %s reused tiles and reads the others again in every pass",
                 TTM_ARGS(row->name), TTM_COUNT_TEXT(row->tiles), TTM_COUNT_TEXT(row->needed));
  ttm_buf_printf(&j->text,
                 room ? ". Fix: %s more tiles (%s); headroom is %s" : "; %s more tiles (%s) do not fit: headroom is %s",
                 TTM_COUNT_TEXT(tiles), TTM_BYTES_TEXT(bytes), TTM_BYTES_TEXT(r->free_bytes));
  conclude(j, TTM_CB_WARNING, "misses");
}

/* cb0, cb_16, c_31: the index a name ends in, UINT64_MAX without one. */
static uint64_t index_of(ttm_str name) {
  uint64_t index;
  if (!ttm_str_take(&name, TTM_LIT("cb")) && !ttm_str_take(&name, TTM_LIT("c"))) return UINT64_MAX;
  ttm_str_take(&name, TTM_LIT("_"));
  return ttm_str_take_u64(&name, &index) && !name.n ? index : UINT64_MAX;
}

static void judge_buffers(judging *j) {
  const ttm_cb_result *r = j->result;
  ttm_arch_id arch = j->s->machine.arch;
  for (size_t i = 0; i < r->rows.n; i++) {
    const ttm_cb_row *row = &r->rows.at[i];
    uint64_t index = index_of(row->name);
    if (row->single_buffered) {
      ttm_words_single(&j->text, row->name, "tile");
      conclude(j, TTM_CB_NOTE, "single-buffered");
    }
    if (!row->tiles) {
      ttm_buf_printf(&j->text, "%.*s has no tiles", TTM_ARGS(row->name));
      conclude(j, TTM_CB_WARNING, "empty");
    }
    if (index != UINT64_MAX && index >= ttm_arches[arch].circular_buffers) {
      ttm_words_no_index(&j->text, index, arch);
      conclude(j, TTM_CB_ERROR, "index-too-large");
    }
  }
  if (!r->spare_bytes) return;
  ttm_buf_printf(&j->text, "the buffers hold %s more than the workload needs at a time, which only smooths bursts",
                 TTM_BYTES_TEXT(r->spare_bytes));
  conclude(j, TTM_CB_NOTE, "spare");
}

static void judge_kernels(judging *j) {
  const ttm_cb_machine *m = &j->s->machine;
  uint64_t ring = ttm_arches[m->arch].kernel_config;
  bool fits = m->kernel_bytes <= ring;
  ttm_buf_printf(&j->text, "kernels take %s%s of the %s ring below the base%s", TTM_BYTES_TEXT(m->kernel_bytes),
                 m->kernel_basis == TTM_ESTIMATED ? " (estimated)" : "", TTM_BYTES_TEXT(ring),
                 fits ? ", nothing from the buffers" : ": the program does not load");
  conclude(j, fits ? TTM_CB_NOTE : TTM_CB_ERROR, "kernels");
}

/* ---- Over workloads --------------------------------------------------------------------------------------------------- */

/* Where strategy `i` is first worse than the first one. */
static void judge_worse(judging *j, size_t i) {
  for (size_t k = 0; k < j->s->cases.n; k++) {
    const ttm_cb_result *base = &j->s->cases.at[k].results.at[0], *r = &j->s->cases.at[k].results.at[i];
    if (r->pressure < base->pressure + 1) continue;
    ttm_buf_printf(&j->text, "more pressure than %.*s from %s tiles on (%.1f against %.1f)",
                   TTM_ARGS(base->plans.strategy), TTM_COUNT_TEXT(j->s->cases.at[k].workload.r_tiles), r->pressure,
                   base->pressure);
    return conclude(j, TTM_CB_WARNING, "worse");
  }
}

/* Where a strategy first comes under high pressure. */
static void judge_scaling(judging *j, size_t i) {
  size_t k = 0;
  while (k < j->s->cases.n && j->s->cases.at[k].results.at[i].level != TTM_PRESSURE_HIGH) k++;
  if (k < j->s->cases.n)
    ttm_buf_printf(&j->text, "pressure becomes HIGH at %s tiles", TTM_COUNT_TEXT(j->s->cases.at[k].workload.r_tiles));
  else
    ttm_buf_puts(&j->text, "pressure is never HIGH in this range");
  conclude(j, k < j->s->cases.n ? TTM_CB_WARNING : TTM_CB_NOTE, "pressure");
  judge_worse(j, i);
}

int ttm_cb_judge(ttm_cb_simulation *s) {
  judging j = {.s = s, .workload = SIZE_MAX};
  judge_kernels(&j);
  for (size_t i = 0; s->cases.n > 1 && i < s->cases.at[0].results.n; i++) {
    j.result = &s->cases.at[0].results.at[i];
    judge_scaling(&j, i);
  }
  for (j.workload = 0; j.workload < s->cases.n; j.workload++) {
    for (size_t i = 0; i < s->cases.at[j.workload].results.n; i++) {
      j.result = &s->cases.at[j.workload].results.at[i];
      judge_fit(&j);
      judge_misses(&j);
      judge_buffers(&j);
    }
  }
  ttm_buf_free(&j.text);
  return j.failed ? TTM_ENOMEM : TTM_OK;
}
