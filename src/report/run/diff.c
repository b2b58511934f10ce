/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/diff.h"

#include <math.h>

#include "analyze/say.h"
#include "analyze/words.h"
#include "report/files/statements_json.h"
#include "report/run/statements.h"

static const char ONLY_ONE[] = "Operations in one log only";

/* "120/1219", "-/1219": its log line before and after. */
static void cell_lines(ttm_doc *doc, const ttm_diff *d, const ttm_diff_row *row) {
  ttm_buf words = {0};
  for (int s = 0; s < 2; s++) {
    if (s) ttm_buf_char(&words, '/');
    if (row->op[s] == TTM_NONE)
      ttm_buf_char(&words, '-');
    else
      ttm_buf_u64(&words, d->f[s]->profile->ops.at[row->op[s]].line);
  }
  ttm_doc_cell_text(doc, ttm_buf_str(&words));
  ttm_buf_free(&words);
}

static void put_group(ttm_doc *doc, const ttm_diff *d, const ttm_diff_group *group, bool per_chip) {
  const ttm_diff_row *row = &d->rows.at[group->row];
  int side = row->op[1] != TTM_NONE;
  const ttm_profile *p = d->f[side]->profile;
  ttm_level level;
  double banks = per_chip && ttm_profile_config(p, TTM_DRAM, &level) ? level.banks : 1;
  ttm_doc_cell_change(doc, ttm_mb(group->effect[1] - group->effect[0]) * banks);
  for (int s = 0; s < 2; s++) {
    if (row->op[s] == TTM_NONE)
      ttm_doc_cell(doc, "-");
    else
      ttm_doc_cell_change(doc, ttm_mb(group->effect[s]) * banks);
  }
  ttm_doc_cell_text(doc, ttm_words_name(p, row->op[side]));
  if (group->rows > 1)
    ttm_doc_cell(doc, "%.*s ×%u", (int)group->name.n, group->name.p, group->rows);
  else
    ttm_doc_cell_text(doc, group->name);
  cell_lines(doc, d, row);
}

static void put_operations(ttm_doc *doc, const ttm_diff *d, bool per_chip, size_t most) {
  static const char *const heads[] = {">Change", ">Before", ">After", "Operation", "Location", ">Log lines"};
  if (!d->groups.n) return;
  ttm_doc_line(doc, "Delta in DRAM, MB per %s:", per_chip ? "chip" : "bank");
  ttm_doc_table(doc, heads, 6);
  for (size_t i = 0; i < d->groups.n && i < most; i++) put_group(doc, d, &d->groups.at[i], per_chip);
  ttm_doc_table_end(doc);
  if (d->groups.n > most) ttm_doc_line(doc, "And %zu more rows.", d->groups.n - most);
}

/* MB per bank of bytes, per chip with the banks of the log after. */
static void put_alive_row(ttm_doc *doc, const ttm_diff *d, const ttm_diff_alive *row, double banks) {
  double mb[2] = {(double)row->bytes[0] / TTM_MB * banks, (double)row->bytes[1] / TTM_MB * banks};
  ttm_doc_cell_change(doc, mb[1] - mb[0]);
  for (int s = 0; s < 2; s++) ttm_doc_cell_mb(doc, row->bytes[s] ? mb[s] : NAN);
  ttm_doc_cell_text(doc, ttm_str_of(ttm_words_class(d->f[1]->profile, row->class)));
  uint32_t most = row->tensors[0] > row->tensors[1] ? row->tensors[0] : row->tensors[1];
  if (most > 1)
    ttm_doc_cell(doc, "%.*s ×%u", (int)row->name.n, row->name.p, most);
  else
    ttm_doc_cell_text(doc, row->name);
}

static void put_alive(ttm_doc *doc, const ttm_diff *d, ttm_memory m, bool per_chip, size_t most) {
  static const char *const heads[] = {">Change", ">Before", ">After", "Class", "Tensors"};
  ttm_level level;
  double banks = per_chip && ttm_profile_config(d->f[1]->profile, m, &level) ? level.banks : 1;
  if (!d->alive[m].n) return;
  ttm_doc_line(doc, "Live at the %s peak, MB per %s:", ttm_memory_name(m), per_chip ? "chip" : "bank");
  ttm_doc_table(doc, heads, 5);
  for (size_t i = 0; i < d->alive[m].n && i < most; i++) put_alive_row(doc, d, &d->alive[m].at[i], banks);
  ttm_doc_table_end(doc);
  if (d->alive[m].n > most) ttm_doc_line(doc, "And %zu more rows.", d->alive[m].n - most);
}

static void put_names(ttm_doc *doc, const ttm_diff *d, size_t most) {
  static const char *const heads[] = {"Operation", ">Only before", ">Only after"};
  if (!d->counts.n) return;
  ttm_doc_table(doc, heads, 3);
  for (size_t i = 0; i < d->counts.n && i < most; i++) {
    ttm_doc_cell_text(doc, ttm_intern_get(&d->names, d->counts.at[i].id));
    ttm_doc_cell_count(doc, d->counts.at[i].only[0]);
    ttm_doc_cell_count(doc, d->counts.at[i].only[1]);
  }
  ttm_doc_table_end(doc);
  if (d->counts.n > most) ttm_doc_line(doc, "And %zu more names.", d->counts.n - most);
}

static void put_topic(ttm_doc *doc, const ttm_diff *d, ttm_topic topic, const char *heading) {
  for (size_t i = 0; i < d->statements.at.n; i++) {
    if (d->statements.at.at[i].topic != topic) continue;
    if (heading) ttm_doc_heading(doc, heading), heading = NULL;
    ttm_doc_statement(doc, &d->statements, &d->statements.at.at[i], 0);
  }
}

static void put_logs(ttm_doc *doc, const ttm_diff *d) {
  for (int s = 0; s < 2; s++) {
    ttm_str path = ttm_words_source(d->f[s]->profile);
    ttm_doc_line(doc, "%s %.*s: %u operations%s, weights %.1f MB.", s ? "After: " : "Before:", (int)path.n, path.p,
                 (unsigned)d->f[s]->elements,
                 ttm_state_is_predicted(d->f[s]->profile, TTM_NONE) ? ", memory predicted" : "",
                 (double)d->f[s]->registry.weight_bytes / TTM_MB);
  }
}

void ttm_diff_write(ttm_doc *doc, const ttm_diff *d, bool per_chip) {
  put_logs(doc, d);
  put_topic(doc, d, TTM_TOPIC_FAILURE, "Result");
  put_topic(doc, d, TTM_TOPIC_GROWTH, ttm_topic_title(TTM_TOPIC_GROWTH));
  put_topic(doc, d, TTM_TOPIC_PEAK, ttm_topic_title(TTM_TOPIC_PEAK));
  put_topic(doc, d, TTM_TOPIC_FREED_LATE, ttm_topic_title(TTM_TOPIC_FREED_LATE));
  put_topic(doc, d, TTM_TOPIC_ALIVE, "Operations");
  put_operations(doc, d, per_chip, ttm_doc_most(doc, TTM_DIFF_TOP));
  for (ttm_memory m = TTM_DRAM; m <= TTM_L1; m++) put_alive(doc, d, m, per_chip, ttm_doc_most(doc, TTM_DIFF_TOP));
  if (d->counts.n) ttm_doc_heading(doc, ONLY_ONE);
  put_names(doc, d, ttm_doc_most(doc, 2 * TTM_DIFF_TOP));
}

/* ---- A comment ---------------------------------------------------------------------------------------------------- */

typedef struct comment {
  const ttm_diff *d;
  bool per_chip;
  size_t most; /* rows of a table */
} comment;

static void put_verdict(ttm_doc *doc, const comment *c) {
  const ttm_statements *all = &c->d->statements;
  const ttm_statement *worse = ttm_statements_find(all, "diff.worse", 0);
  ttm_buf_puts(doc->out, "### ");
  ttm_doc_statement(doc, all, worse ? worse : ttm_statements_find(all, "diff.not-worse", 0), 0);
}

/* What failed, grew, rose or fell, or what stayed as it was. */
static void put_statements(ttm_doc *doc, const comment *c, bool news, size_t most, uint32_t rows) {
  const ttm_statements *all = &c->d->statements;
  size_t shown = 0;
  for (size_t i = 1; i < all->at.n && shown < most; i++) {
    const ttm_statement *s = &all->at.at[i];
    bool new = s->severity <= TTM_SEVERITY_WARNING || (s->topic == TTM_TOPIC_PEAK && s->severity == TTM_SEVERITY_NOTE);
    if (new == news) shown++, ttm_doc_statement(doc, all, s, rows);
  }
}

static void put_changes(ttm_doc *doc, const comment *c) { put_statements(doc, c, true, c->most, 3); }

static void put_rest(ttm_doc *doc, const comment *c) {
  put_logs(doc, c->d);
  put_statements(doc, c, false, 2 * c->most, (uint32_t)c->most);
}

static void put_operation_rows(ttm_doc *doc, const comment *c) { put_operations(doc, c->d, c->per_chip, c->most); }
static void put_dram_rows(ttm_doc *doc, const comment *c) { put_alive(doc, c->d, TTM_DRAM, c->per_chip, c->most); }
static void put_l1_rows(ttm_doc *doc, const comment *c) { put_alive(doc, c->d, TTM_L1, c->per_chip, c->most); }
static void put_name_rows(ttm_doc *doc, const comment *c) { put_names(doc, c->d, 2 * c->most); }

/* Names may be of any length and hold anything, so that a part may need any room: it gets fewer rows until it has what is left. */
static void put_part(ttm_buf *out, comment c, const char *folded, void (*put)(ttm_doc *doc, const comment *c)) {
  static const char left_out[] = "*More does not fit into a comment: ttmem diff --html*\n", end[] = "\n</details>\n\n";
  size_t room = TTM_COMMENT_LIMIT - sizeof left_out - out->n;
  for (c.most = TTM_DIFF_TOP; c.most; c.most /= 2) {
    ttm_buf part = {0};
    ttm_doc doc = {.out = &part, .form = TTM_DOC_MARKDOWN, .utf8 = true, .comment = true};
    if (folded) ttm_buf_printf(&part, "<details><summary>%s</summary>\n\n", folded);
    size_t start = part.n;
    put(&doc, &c);
    part.failed |= ttm_doc_end(&doc) != TTM_OK;
    bool empty = part.n == start, fits = part.n + sizeof end < room;
    if (folded) ttm_buf_puts(&part, ttm_str_ends(ttm_buf_str(&part), TTM_LIT("\n\n")) ? end + 1 : end);
    if (fits && !empty) ttm_buf_put(out, ttm_buf_str(&part));
    out->failed |= part.failed;
    ttm_buf_free(&part);
    if (fits || empty || out->failed) return;
  }
  if (out->n + sizeof left_out < TTM_COMMENT_LIMIT && !ttm_str_ends(ttm_buf_str(out), ttm_str_of(left_out)))
    ttm_buf_puts(out, left_out);
}

int ttm_diff_comment(ttm_buf *out, const ttm_diff *d, bool per_chip) {
  comment c = {.d = d, .per_chip = per_chip};
  ttm_buf_puts(out, "<!-- ttmem diff -->\n"); /* by which a workflow finds its comment again */
  put_part(out, c, NULL, put_verdict);
  put_part(out, c, NULL, put_changes);
  put_part(out, c, "Logs, and what else was compared", put_rest);
  if (d->groups.n) put_part(out, c, "Operations", put_operation_rows);
  if (d->alive[TTM_DRAM].n) put_part(out, c, "Live at the DRAM peak", put_dram_rows);
  if (d->alive[TTM_L1].n) put_part(out, c, "Live at the L1 peak", put_l1_rows);
  if (d->counts.n) put_part(out, c, ONLY_ONE, put_name_rows);
  return out->failed ? TTM_ENOMEM : TTM_OK;
}
