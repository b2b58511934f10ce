/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/diff.h"

#include "analyze/words.h"

enum { NOISE = 2 }; /* a state is rounded to 0.001 MB, so a difference of two of them may be off by that much */

/* ---- Matching ------------------------------------------------------------------------------------------------------- */

/* What tells operations apart: name, location, and which one of these it is in its run. Ranks run side by side, so each counts for
 * itself; the same operation of another rank is the same one. */
typedef struct matcher {
  ttm_diff *diff;
  ttm_intern places, keys; /* "rank name location", and "name location number"; a key's id - 1 is its row */
  struct {
    uint32_t run, count;
  } * seen; /* by place, of the log being read */
  size_t room;
  ttm_buf text;
} matcher;

static bool make_room(matcher *m, uint32_t place) {
  if (place < m->room) return true;
  size_t room = m->room ? m->room * 2 : 1024;
  while (room <= place) room *= 2;
  void *grown = ttm_realloc(m->seen, room * sizeof *m->seen);
  if (!grown) return false;
  m->seen = grown;
  for (size_t i = m->room; i < room; i++) m->seen[i].run = TTM_NONE;
  m->room = room;
  return true;
}

static int find_row(matcher *m, const ttm_profile *p, uint32_t op, uint32_t *row) {
  uint32_t place, key, call = p->ops.at[op].call;
  uint32_t run = call < p->calls.n ? ttm_call_top(p, call) : 0;
  ttm_buf_clear(&m->text);
  ttm_buf_printf(&m->text, "%u ", call < p->calls.n ? p->calls.at[call].rank : 0);
  size_t start = m->text.n;
  ttm_buf_put(&m->text, ttm_words_name(p, op));
  ttm_buf_char(&m->text, ' ');
  ttm_buf_put(&m->text, ttm_words_location(p, op));
  if (m->text.failed || ttm_intern_add(&m->places, ttm_buf_str(&m->text), &place) || !make_room(m, place))
    return TTM_ENOMEM;
  if (m->seen[place].run != run) m->seen[place].run = run, m->seen[place].count = 0;
  ttm_buf_printf(&m->text, " %u", m->seen[place].count++);
  if (m->text.failed || ttm_intern_add(&m->keys, ttm_str_from(ttm_buf_str(&m->text), start), &key)) return TTM_ENOMEM;
  ttm_diff_row none = {{TTM_NONE, TTM_NONE}, {0, 0}};
  if (key > m->diff->rows.n && ttm_vec_push(&m->diff->rows, none)) return TTM_ENOMEM;
  *row = key - 1;
  return TTM_OK;
}

static int read_side(matcher *m, int side) {
  const ttm_profile *p = m->diff->f[side]->profile;
  for (size_t i = 0; i < m->room; i++) m->seen[i].run = TTM_NONE;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    uint32_t at;
    int64_t effect;
    if (!ttm_op_is_element(p, op) || p->ops.at[op].flags & TTM_OP_CONST_EVAL)
      continue; /* its load_cached stands for it */
    if (find_row(m, p, op, &at)) return TTM_ENOMEM;
    if (!ttm_op_effect_whole(p, op, TTM_DRAM, &effect))
      effect = TTM_DIFF_UNKNOWN; /* the last one of a log that was cut */
    ttm_diff_row *row = &m->diff->rows.at[at];
    if (row->op[side] != TTM_NONE && effect <= row->effect[side]) continue;
    row->op[side] = op;
    row->effect[side] = effect;
  }
  return TTM_OK;
}

/* ---- Counting and ranking --------------------------------------------------------------------------------------------- */

/* 0 as well when the log does not tell: nobody is blamed or praised for that. */
static int64_t change_of(const ttm_diff_row *row) {
  if (row->effect[0] == TTM_DIFF_UNKNOWN || row->effect[1] == TTM_DIFF_UNKNOWN) return 0;
  return row->effect[1] - row->effect[0];
}

static int64_t size_of(const ttm_diff_row *row) {
  int64_t change = change_of(row);
  return change < 0 ? -change : change;
}

static void rank(ttm_diff *d, uint32_t row) {
  int64_t size = size_of(&d->rows.at[row]);
  if (size <= NOISE || (d->tops == TTM_DIFF_TOP && size <= size_of(&d->rows.at[d->top[d->tops - 1]]))) return;
  size_t at = d->tops < TTM_DIFF_TOP ? d->tops++ : d->tops - 1;
  for (; at && size_of(&d->rows.at[d->top[at - 1]]) < size; at--) d->top[at] = d->top[at - 1];
  d->top[at] = row;
}

static int count_name(ttm_diff *d, const ttm_diff_row *row, int side) {
  uint32_t id;
  size_t i = 0;
  if (ttm_intern_add(&d->names, ttm_words_name(d->f[side]->profile, row->op[side]), &id)) return TTM_ENOMEM;
  while (i < d->counts.n && d->counts.at[i].id != id) i++; /* some fifty kinds of operations */
  if (i == d->counts.n && ttm_vec_push(&d->counts, (ttm_diff_name){.id = id})) return TTM_ENOMEM;
  d->counts.at[i].only[side]++;
  return TTM_OK;
}

static int conclude(ttm_diff *d) {
  for (uint32_t i = 0; i < d->rows.n; i++) {
    const ttm_diff_row *row = &d->rows.at[i];
    bool here = row->op[0] != TTM_NONE, there = row->op[1] != TTM_NONE;
    rank(d, i);
    if (here && there) {
      d->both++;
    } else {
      d->only[there]++;
      if (count_name(d, row, there)) return TTM_ENOMEM;
    }
  }
  return TTM_OK;
}

int ttm_diff_make(ttm_diff *out, const ttm_findings *before, const ttm_findings *after) {
  *out = (ttm_diff){.f = {before, after}, .tolerance = TTM_DIFF_TOLERANCE};
  matcher m = {.diff = out};
  int status = read_side(&m, 0);
  if (!status) status = read_side(&m, 1);
  if (!status) status = conclude(out);
  ttm_intern_free(&m.places);
  ttm_intern_free(&m.keys);
  ttm_free(m.seen);
  ttm_buf_free(&m.text);
  return status;
}

void ttm_diff_free(ttm_diff *d) {
  ttm_vec_free(&d->rows);
  ttm_vec_free(&d->counts);
  ttm_intern_free(&d->names);
  *d = (ttm_diff){0};
}

/* ---- What it means ---------------------------------------------------------------------------------------------------- */

int64_t ttm_diff_peak(const ttm_diff *d, int side, ttm_memory memory) {
  const ttm_peak *peak = &d->f[side]->peak[memory];
  if (peak->in_op_bytes) return (int64_t)((double)peak->in_op_bytes * 1000 / TTM_MB + 0.5);
  return peak->known ? (int64_t)peak->level.allocated : -1;
}

/* An error that became another one is a new one. */
static bool fails_more(const ttm_diff *d) {
  size_t counts[2][TTM_INCIDENT_FATAL + 1] = {0};
  for (int s = 0; s < 2; s++)
    for (size_t i = 0; i < d->f[s]->incidents.n; i++) counts[s][d->f[s]->profile->incidents.at[i].what.kind]++;
  for (int k = 0; k <= TTM_INCIDENT_FATAL; k++)
    if (counts[1][k] > counts[0][k]) return true;
  return false;
}

/* What all leaks add with each run, 0.001 MB per bank. */
static uint64_t leak_of(const ttm_findings *f) {
  uint64_t sum = 0;
  for (size_t i = 0; i < f->leaks.n; i++) sum += f->leaks.at[i].per_run;
  return sum;
}

bool ttm_diff_is_worse(const ttm_diff *d) {
  for (int m = 0; m < TTM_MEMORIES; m++) {
    int64_t was = ttm_diff_peak(d, 0, (ttm_memory)m), is = ttm_diff_peak(d, 1, (ttm_memory)m);
    if (was >= 0 && is > was + NOISE && (double)(is - was) * 100 > (double)was * d->tolerance) return true;
  }
  return fails_more(d) || leak_of(d->f[1]) > leak_of(d->f[0]) + NOISE;
}

/* ---- Text ------------------------------------------------------------------------------------------------------------- */

static void put_mb(ttm_doc *doc, int64_t milli) {
  if (milli < 0)
    ttm_doc_cell(doc, "?");
  else
    ttm_doc_cell(doc, "%.3f", ttm_mb(milli));
}

/* Two cells: the change, and in percent of what was. */
static void put_change(ttm_doc *doc, int64_t was, int64_t is) {
  if (was < 0 || is < 0)
    ttm_doc_cell(doc, "?");
  else
    ttm_doc_cell(doc, "%+.3f", (double)(is - was) / 1000);
  if (was <= 0 || is < 0)
    ttm_doc_cell(doc, "-");
  else
    ttm_doc_cell(doc, "%+.1f", 100.0 * (double)(is - was) / (double)was);
}

static void put_cause(ttm_doc *doc, const ttm_findings *f, ttm_memory memory) {
  const ttm_peak *peak = &f->peak[memory];
  const ttm_profile *p = f->profile;
  if (peak->in_op_bytes) {
    ttm_doc_cell(doc, "what failed in log line %u", p->incidents.at[peak->in_op_incident].line);
  } else if (peak->cause == TTM_NONE) {
    ttm_doc_cell(doc, "-");
  } else {
    ttm_str name = ttm_words_name(p, peak->cause);
    ttm_doc_cell(doc, "#%u %.*s, log line %u", ttm_findings_index(f, peak->cause), (int)name.n, name.p,
                 p->ops.at[peak->cause].line);
  }
}

static void put_peaks(ttm_doc *doc, const ttm_diff *d) {
  static const char *const heads[] = {"Memory", ">Before", ">After", ">Change", ">%", "Raised after by"};
  ttm_doc_heading(doc, "Peaks, MB per bank");
  ttm_doc_table(doc, heads, 6);
  for (int m = 0; m < TTM_MEMORIES; m++) {
    int64_t was = ttm_diff_peak(d, 0, (ttm_memory)m), is = ttm_diff_peak(d, 1, (ttm_memory)m);
    if (was <= 0 && is <= 0) continue;
    ttm_doc_cell_text(doc, ttm_str_of(ttm_memory_name((ttm_memory)m)));
    put_mb(doc, was);
    put_mb(doc, is);
    put_change(doc, was, is);
    put_cause(doc, d->f[1], (ttm_memory)m);
  }
  ttm_doc_table_end(doc);
}

static void put_effect(ttm_doc *doc, const ttm_diff_row *row, int side) {
  if (row->op[side] == TTM_NONE)
    ttm_doc_cell(doc, "-");
  else
    ttm_doc_cell(doc, "%+.3f", ttm_mb(row->effect[side]));
}

/* "120/1219", "-/1219": its log line before and after. */
static void put_lines(ttm_doc *doc, const ttm_diff *d, const ttm_diff_row *row) {
  ttm_buf words = {0};
  for (int s = 0; s < 2; s++) {
    if (s) ttm_buf_char(&words, '/');
    if (row->op[s] == TTM_NONE)
      ttm_buf_char(&words, '-');
    else
      ttm_buf_u64(&words, d->f[s]->profile->ops.at[row->op[s]].line);
  }
  doc->out->failed |= words.failed;
  ttm_doc_cell_text(doc, ttm_buf_str(&words));
  ttm_buf_free(&words);
}

static void put_operations(ttm_doc *doc, const ttm_diff *d) {
  static const char *const heads[] = {">Change", ">Before", ">After", "Operation", "Location", ">Log lines"};
  ttm_doc_heading(doc, "What operations add to DRAM, MB per bank");
  if (!d->tops) {
    ttm_doc_line(doc, "The same in both, as far as the logs tell.");
    return;
  }
  ttm_doc_table(doc, heads, 6);
  for (size_t i = 0; i < d->tops; i++) {
    const ttm_diff_row *row = &d->rows.at[d->top[i]];
    int side = row->op[1] != TTM_NONE;
    const ttm_profile *p = d->f[side]->profile;
    ttm_doc_cell(doc, "%+.3f", ttm_mb(change_of(row)));
    put_effect(doc, row, 0);
    put_effect(doc, row, 1);
    ttm_doc_cell_text(doc, ttm_words_name(p, row->op[side]));
    ttm_doc_cell_text(doc, ttm_words_location(p, row->op[side]));
    put_lines(doc, d, row);
  }
  ttm_doc_table_end(doc);
}

static void put_names(ttm_doc *doc, const ttm_diff *d) {
  static const char *const heads[] = {"Operation", ">Only before", ">Only after"};
  ttm_doc_heading(doc, "Operations that only one log has");
  ttm_doc_line(
      doc,
      "%llu different operations in both, %llu only before, %llu only after, matched by name and location. Those of "
      "several runs count once, const-eval programs for their load_cached.",
      (unsigned long long)d->both, (unsigned long long)d->only[0], (unsigned long long)d->only[1]);
  if (!d->counts.n) return;
  ttm_doc_table(doc, heads, 3);
  for (size_t i = 0; i < d->counts.n && i < 2 * TTM_DIFF_TOP; i++) {
    ttm_doc_cell_text(doc, ttm_intern_get(&d->names, d->counts.at[i].id));
    ttm_doc_cell_count(doc, d->counts.at[i].only[0]);
    ttm_doc_cell_count(doc, d->counts.at[i].only[1]);
  }
  ttm_doc_table_end(doc);
  if (d->counts.n > 2 * TTM_DIFF_TOP) ttm_doc_line(doc, "And %zu more names.", d->counts.n - 2 * TTM_DIFF_TOP);
}

static void put_incidents(ttm_doc *doc, const ttm_diff *d) {
  static const char *const sides[] = {"Before", "After"};
  if (!d->f[0]->incidents.n && !d->f[1]->incidents.n && !d->f[0]->leaks.n && !d->f[1]->leaks.n) return;
  ttm_doc_heading(doc, "What failed");
  for (int s = 0; s < 2; s++) {
    if (!d->f[s]->incidents.n && !d->f[s]->leaks.n) ttm_doc_point(doc, "%s: nothing", sides[s]);
    for (size_t i = 0; i < d->f[s]->statements.at.n; i++) {
      const ttm_statement *one = &d->f[s]->statements.at.at[i];
      if (one->severity == TTM_SEVERITY_FAILURE || !strcmp(one->id, "leak.run"))
        ttm_doc_point(doc, "%s: %.*s (log line %u)", sides[s], (int)one->headline.n, one->headline.p, one->line);
    }
  }
}

void ttm_diff_write(ttm_doc *doc, const ttm_diff *d) {
  for (int s = 0; s < 2; s++) {
    ttm_str path = ttm_words_source(d->f[s]->profile);
    ttm_doc_line(doc, "%s %.*s: %u operations, weights %.1f MB.", s ? "After: " : "Before:", (int)path.n, path.p,
                 (unsigned)d->f[s]->elements, (double)d->f[s]->registry.weight_bytes / TTM_MB);
  }
  put_peaks(doc, d);
  put_incidents(doc, d);
  put_operations(doc, d);
  put_names(doc, d);
}
