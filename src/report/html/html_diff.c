/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a diff: both timelines by place (analyze/timelines.h), and what `ttmem diff --json` says. web/src/diff_model.ts reads it. */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/timelines.h"
#include "analyze/words.h"
#include "report/files/json_parts.h"
#include "report/html/html_page.h"
#include "report/html/html_parts.h"
#include "report/run/diff.h"
#include "report/write/svg.h"
#include "ttmem/version.h"

enum { MOST_ROWS = 1000, MOST_MEMBERS = 100 };

typedef enum series { BEFORE, AFTER, DIFFERENCE, SERIES } series;
static const char *const SERIES_NAMES[SERIES] = {"before", "after", "difference"};
static const int64_t UNKNOWN = INT64_MIN;

typedef struct page {
  const ttm_diff *d;
  const ttm_str *names;
  ttm_out *out;
  ttm_html_block block; /* reused */
  ttm_timelines *ranks;
  uint32_t n;
  bool memories[TTM_MEMORIES]; /* that either log has something in */
  ttm_intern labels;
  ttm_intern whats;   /* three labels each: name, location, results */
  uint32_t *known[2]; /* by text: its what; 0 when not made yet */
  ttm_buf text;       /* reused */
} page;

/* ---- Values --------------------------------------------------------------------------------------------------------- */

static int64_t value_of(const ttm_timelines *t, series which, ttm_memory m, size_t place) {
  int32_t before = t->level[0][m][place], after = t->level[1][m][place];
  if (which == DIFFERENCE) return before < 0 || after < 0 ? UNKNOWN : (int64_t)after - before;
  int32_t own = which == BEFORE ? before : after;
  return own < 0 ? UNKNOWN : own;
}

static int make_timelines(page *h) {
  size_t before = h->d->f[0]->profile->ranks.n, after = h->d->f[1]->profile->ranks.n;
  h->n = (uint32_t)(before > after ? before : after);
  if (!h->n) h->n = 1;
  h->ranks = ttm_alloc_array(h->n, sizeof *h->ranks);
  int code = h->ranks ? TTM_OK : TTM_ENOMEM;
  for (uint32_t r = 0; r < h->n && !code; r++) code = ttm_timelines_make(&h->ranks[r], h->d, r);
  for (uint32_t r = 0; r < h->n && !code; r++)
    for (int m = 0; m < TTM_MEMORIES; m++)
      for (size_t i = 0; i < h->ranks[r].at.n && !h->memories[m]; i++)
        h->memories[m] = h->ranks[r].level[0][m][i] > 0 || h->ranks[r].level[1][m][i] > 0;
  return code;
}

/* ---- Facts ---------------------------------------------------------------------------------------------------------- */

static void put_memories(ttm_json *j, const page *h) {
  ttm_json_put_object(j, "memories");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    if (!h->memories[m]) continue;
    ttm_json_put_array(j, ttm_memory_name(m));
    for (int s = 0; s < 2; s++) {
      ttm_level level;
      bool known = ttm_profile_config(h->d->f[s]->profile, m, &level);
      ttm_json_put_object(j, NULL);
      ttm_json_put_u64(j, "banks", known ? level.banks : 1);
      ttm_json_put_milli(j, "capacity_per_bank_MB", known ? level.total : 0);
      ttm_json_end(j);
    }
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

/* The place of the highest level; null when there is none. */
static void put_highest(ttm_json *j, const ttm_timelines *t, int side, ttm_memory m) {
  size_t best = 0;
  for (size_t i = 1; i < t->at.n; i++)
    if (t->level[side][m][i] > t->level[side][m][best]) best = i;
  bool known = t->at.n && t->level[side][m][best] >= 0;
  ttm_json_put_known(j, NULL, known ? best : UINT64_MAX);
}

static void put_ranks(ttm_json *j, const page *h) {
  ttm_json_put_array(j, "ranks");
  for (uint32_t r = 0; r < h->n; r++) {
    ttm_json_put_object(j, NULL);
    ttm_json_put_u64(j, "rank", ttm_rank_number(h->d->f[r < h->d->f[1]->profile->ranks.n]->profile, r));
    ttm_json_put_u64(j, "places", h->ranks[r].at.n);
    ttm_json_put_object(j, "highest");
    for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
      if (!h->memories[m]) continue;
      ttm_json_put_array(j, ttm_memory_name(m));
      for (int s = 0; s < 2; s++) put_highest(j, &h->ranks[r], s, m);
      ttm_json_end(j);
    }
    ttm_json_end(j);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_side(ttm_json *j, const page *h, int side) {
  const ttm_findings *f = h->d->f[side];
  ttm_json_put_object(j, NULL);
  ttm_json_put_str(j, "name", h->names[side]);
  ttm_json_put_str(j, "source", ttm_words_source(f->profile));
  ttm_json_put_u64(j, "elements", f->elements);
  ttm_json_put_bool(j, "lines", f->profile->seen.lines > 0 && ttm_words_has_runs(f->profile));
  ttm_json_put_array(j, "failed");
  for (size_t i = 0; i < f->profile->incidents.n && i < MOST_MEMBERS; i++) {
    uint32_t op = f->profile->incidents.at[i].op;
    uint32_t index = op < f->profile->ops.n ? ttm_findings_index(f, op) : TTM_NONE;
    if (index != TTM_NONE) ttm_json_put_u64(j, NULL, index);
  }
  ttm_json_end(j);
  ttm_json_end(j);
}

static int put_facts(page *h, bool per_chip) {
  ttm_buf text = {0};
  ttm_json json = {.out = &text}, *j = &json;
  ttm_json_put_object(j, NULL);
  ttm_json_put_u64(j, "format", TTM_HTML_FORMAT);
  ttm_json_put_name(j, "version", TTM_VERSION);
  ttm_json_put_u64(j, "step", TTM_HTML_STEP);
  ttm_json_put_u64(j, "levels", TTM_HTML_LEVELS);
  ttm_json_put_u64(j, "plain", TTM_HTML_PLAIN);
  ttm_json_put_bool(j, "per_chip", per_chip);
  ttm_html_put_words(j, h->d->f[1]->profile);
  ttm_json_put_array(j, "sides");
  for (int s = 0; s < 2; s++) put_side(j, h, s);
  ttm_json_end(j);
  put_memories(j, h);
  put_ranks(j, h);
  ttm_json_end(j);
  int code = ttm_json_finish(j);
  if (!code) code = ttm_html_block_write_text(ttm_buf_str(&text), "facts", h->out);
  ttm_buf_free(&text);
  return code;
}

static int put_diff(page *h) {
  ttm_buf text = {0};
  int code = ttm_diff_json(&text, h->d, MOST_ROWS);
  if (!code) code = ttm_html_block_write_text(ttm_buf_str(&text), "diff", h->out);
  ttm_buf_free(&text);
  return code;
}

/* The first rows of each group that is shown: number of the group, and 1 + the report index of the operation before and after, 0 for none. */
static int put_members(page *h) {
  uint32_t *seen = ttm_alloc_array(h->d->groups.n, sizeof *seen);
  for (size_t i = 0; seen && i < h->d->rows.n; i++) {
    const ttm_diff_row *row = &h->d->rows.at[i];
    if (row->group == TTM_NONE || row->group >= MOST_ROWS || seen[row->group]++ >= MOST_MEMBERS) continue;
    ttm_html_block_number(&h->block, row->group);
    for (int s = 0; s < 2; s++) {
      uint32_t index = row->op[s] == TTM_NONE ? TTM_NONE : ttm_findings_index(h->d->f[s], row->op[s]);
      ttm_html_block_number(&h->block, index == TTM_NONE ? 0 : (uint64_t)index + 1);
    }
    for (int s = 0; s < 2; s++) {
      h->block.last = 0;
      ttm_html_block_delta(&h->block, row->effect[s]);
    }
  }
  ttm_free(seen);
  return seen ? ttm_html_block_write(&h->block, "members", h->out) : TTM_ENOMEM;
}

/* ---- Pyramid -------------------------------------------------------------------------------------------------------- */

/* An entry: 0 when nothing in it is known, else 1 + how far the highest is above the lowest, and the lowest. */
static void put_entry(ttm_html_block *block, int64_t low, int64_t high) {
  if (low > high) return ttm_html_block_number(block, 0);
  ttm_html_block_number(block, (uint64_t)(high - low) + 1);
  ttm_html_block_delta(block, low);
}

static int put_level(page *h, uint32_t rank, series which, ttm_memory m, int k) {
  const ttm_timelines *t = &h->ranks[rank];
  size_t step = TTM_HTML_STEP;
  char id[80];
  for (int i = 0; i < k; i++) step *= TTM_HTML_STEP;
  for (size_t at = 0; at < t->at.n; at += step) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (size_t i = at; i < at + step && i < t->at.n; i++) {
      int64_t value = value_of(t, which, m, i);
      if (value == UNKNOWN) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    put_entry(&h->block, low, high);
  }
  snprintf(id, sizeof id, "pyramid.%" PRIu32 ".%d.%s.%s", rank, k, ttm_memory_name(m), SERIES_NAMES[which]);
  return ttm_html_block_write(&h->block, id, h->out);
}

static int put_pyramids(page *h) {
  int code = TTM_OK;
  for (uint32_t r = 0; r < h->n; r++)
    for (ttm_memory m = 0; m < TTM_MEMORIES && h->ranks[r].at.n >= TTM_HTML_PLAIN; m++)
      for (int k = 0; k < TTM_HTML_LEVELS && h->memories[m]; k++)
        for (series which = 0; which < SERIES && !code; which++) code = put_level(h, r, which, m, k);
  return code;
}

/* ---- Columns -------------------------------------------------------------------------------------------------------- */

/* Stretches of places: 0 both, 1 only before, 2 only after; then how many. */
static int put_pairs(page *h, uint32_t rank) {
  const ttm_timelines *t = &h->ranks[rank];
  char id[40];
  for (size_t i = 0, end; i < t->at.n; i = end) {
    bool before = t->at.at[i].op[0] != TTM_NONE, after = t->at.at[i].op[1] != TTM_NONE;
    for (end = i + 1; end < t->at.n; end++)
      if ((t->at.at[end].op[0] != TTM_NONE) != before || (t->at.at[end].op[1] != TTM_NONE) != after) break;
    ttm_html_block_number(&h->block, before && after ? 0 : before ? 1 : 2);
    ttm_html_block_number(&h->block, end - i);
  }
  snprintf(id, sizeof id, "pairs.%" PRIu32, rank);
  return ttm_html_block_write(&h->block, id, h->out);
}

static uint32_t label_of(page *h, ttm_str text) {
  uint32_t id = 0;
  if (ttm_intern_add(&h->labels, text, &id)) h->text.failed = true;
  return id;
}

static uint32_t make_what(page *h, const ttm_profile *p, uint32_t op) {
  ttm_list outputs = ttm_op_text_of(p, op)->outputs;
  uint32_t what = 0, ids[3] = {label_of(h, ttm_words_name(p, op)), label_of(h, ttm_words_location(p, op)), 0};
  ttm_buf_clear(&h->text);
  for (uint32_t k = 0; k < outputs.n; k++) {
    if (k) ttm_buf_puts(&h->text, "; ");
    ttm_words_type(&h->text, p, p->lists.at[outputs.first + k], TTM_FORM_UTF8);
  }
  ids[2] = label_of(h, ttm_buf_str(&h->text));
  if (ttm_intern_add(&h->whats, (ttm_str){(const char *)ids, sizeof ids}, &what)) h->text.failed = true;
  return what;
}

/* What weights tell is not in the text: those are made anew each time. */
static uint32_t what_of(page *h, int side, uint32_t op) {
  const ttm_profile *p = h->d->f[side]->profile;
  uint32_t *known = &h->known[side][p->ops.at[op].text];
  if (ttm_words_weight(p, op)) return make_what(h, p, op);
  return *known ? *known : (*known = make_what(h, p, op));
}

static int put_operations(page *h, uint32_t rank, int side) {
  static const char *const names[] = {"index", "line", "what"};
  const ttm_findings *f = h->d->f[side];
  int code = TTM_OK;
  for (int column = 0; column < 3 && !code; column++) {
    char id[60];
    for (size_t i = 0; i < h->ranks[rank].at.n; i++) {
      uint32_t op = h->ranks[rank].at.at[i].op[side];
      if (op == TTM_NONE) continue;
      if (column == 2)
        ttm_html_block_number(&h->block, what_of(h, side, op));
      else
        ttm_html_block_delta(&h->block, column ? f->profile->ops.at[op].line : ttm_findings_index(f, op));
    }
    snprintf(id, sizeof id, "op.%" PRIu32 ".%s.%s", rank, SERIES_NAMES[side], names[column]);
    code = h->text.failed ? TTM_ENOMEM : ttm_html_block_write(&h->block, id, h->out);
  }
  return code;
}

static int put_levels(page *h, uint32_t rank, int side, ttm_memory m) {
  char id[60];
  for (size_t i = 0; i < h->ranks[rank].at.n; i++) ttm_html_block_delta(&h->block, h->ranks[rank].level[side][m][i]);
  snprintf(id, sizeof id, "level.%" PRIu32 ".%s.%s", rank, ttm_memory_name(m), SERIES_NAMES[side]);
  return ttm_html_block_write(&h->block, id, h->out);
}

static int put_rank(page *h, uint32_t rank) {
  int code = put_pairs(h, rank);
  for (int s = 0; s < 2; s++)
    for (ttm_memory m = 0; m < TTM_MEMORIES && !code; m++)
      if (h->memories[m]) code = put_levels(h, rank, s, m);
  for (int s = 0; s < 2 && !code; s++) code = put_operations(h, rank, s);
  return code;
}

static int put_labels(page *h) {
  for (uint32_t i = 1; i < h->whats.strings.n; i++) {
    uint32_t ids[3];
    memcpy(ids, ttm_intern_get(&h->whats, i).p, sizeof ids);
    for (int k = 0; k < 3; k++) ttm_html_block_number(&h->block, ids[k]);
  }
  int code = ttm_html_block_write(&h->block, "whats", h->out);
  for (uint32_t i = 1; i < h->labels.strings.n; i++) ttm_html_block_number(&h->block, ttm_intern_get(&h->labels, i).n);
  if (!code) code = ttm_html_block_write(&h->block, "labels.length", h->out);
  for (uint32_t i = 1; i < h->labels.strings.n; i++) ttm_buf_put(&h->block.raw, ttm_intern_get(&h->labels, i));
  return code ? code : ttm_html_block_write(&h->block, "labels", h->out);
}

/* ---- The page ------------------------------------------------------------------------------------------------------- */

static int put_page(page *h, bool per_chip) {
  ttm_buf *buf = &h->out->buf;
  int code = make_timelines(h);
  for (int s = 0; s < 2; s++) {
    h->known[s] = ttm_alloc_array(h->d->f[s]->profile->texts.n, sizeof **h->known);
    if (!h->known[s]) code = TTM_ENOMEM;
  }
  ttm_buf_put(buf, ttm_html_diff_start);
  for (int s = 0; s < 2; s++) {
    if (s) ttm_buf_puts(buf, " → ");
    ttm_xml_text(buf, h->names[s], 120);
  }
  ttm_buf_put(buf, ttm_html_diff_body);
  if (!code) code = put_facts(h, per_chip);
  if (!code) code = put_diff(h);
  if (!code) code = put_pyramids(h);
  ttm_buf_put(buf, ttm_html_diff_program);
  if (!code) code = put_members(h);
  for (uint32_t r = 0; r < h->n && !code; r++) code = put_rank(h, r);
  if (!code) code = put_labels(h);
  ttm_buf_put(buf, ttm_html_diff_end);
  return code;
}

int ttm_diff_html(const ttm_diff *diff, const ttm_str names[2], bool per_chip, ttm_out *out, ttm_error *err) {
  page h = {.d = diff, .names = names, .out = out};
  int code = put_page(&h, per_chip);
  for (uint32_t r = 0; r < h.n && h.ranks; r++) ttm_timelines_free(&h.ranks[r]);
  for (int s = 0; s < 2; s++) ttm_free(h.known[s]);
  ttm_free(h.ranks);
  ttm_html_block_free(&h.block);
  ttm_intern_free(&h.labels);
  ttm_intern_free(&h.whats);
  ttm_buf_free(&h.text);
  return code || out->buf.failed ? ttm_error_nomem(err) : TTM_OK;
}
