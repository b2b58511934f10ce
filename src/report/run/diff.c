/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/diff.h"

#include <math.h>

#include "analyze/say.h"
#include "analyze/words.h"
#include "report/files/statements_json.h"
#include "report/run/statements.h"

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

static void put_operations(ttm_doc *doc, const ttm_diff *d, bool per_chip) {
  static const char *const heads[] = {">Change", ">Before", ">After", "Operation", "Location", ">Log lines"};
  if (!d->groups.n) return;
  ttm_doc_line(doc, "Delta in DRAM, MB per %s:", per_chip ? "chip" : "bank");
  ttm_doc_table(doc, heads, 6);
  size_t most = ttm_doc_most(doc, TTM_DIFF_TOP);
  for (size_t i = 0; i < d->groups.n && i < most; i++) put_group(doc, d, &d->groups.at[i], per_chip);
  ttm_doc_table_end(doc);
  if (d->groups.n > most) ttm_doc_line(doc, "And %zu more rows.", d->groups.n - TTM_DIFF_TOP);
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

static void put_alive(ttm_doc *doc, const ttm_diff *d, ttm_memory m, bool per_chip) {
  static const char *const heads[] = {">Change", ">Before", ">After", "Class", "Tensors"};
  ttm_level level;
  double banks = per_chip && ttm_profile_config(d->f[1]->profile, m, &level) ? level.banks : 1;
  if (!d->alive[m].n) return;
  ttm_doc_line(doc, "Live at the %s peak, MB per %s:", ttm_memory_name(m), per_chip ? "chip" : "bank");
  ttm_doc_table(doc, heads, 5);
  size_t most = ttm_doc_most(doc, TTM_DIFF_TOP);
  for (size_t i = 0; i < d->alive[m].n && i < most; i++) put_alive_row(doc, d, &d->alive[m].at[i], banks);
  ttm_doc_table_end(doc);
  if (d->alive[m].n > most) ttm_doc_line(doc, "And %zu more rows.", d->alive[m].n - TTM_DIFF_TOP);
}

static void put_names(ttm_doc *doc, const ttm_diff *d) {
  static const char *const heads[] = {"Operation", ">Only before", ">Only after"};
  if (!d->counts.n) return;
  ttm_doc_heading(doc, "Operations in one log only");
  ttm_doc_table(doc, heads, 3);
  size_t most = ttm_doc_most(doc, 2 * TTM_DIFF_TOP);
  for (size_t i = 0; i < d->counts.n && i < most; i++) {
    ttm_doc_cell_text(doc, ttm_intern_get(&d->names, d->counts.at[i].id));
    ttm_doc_cell_count(doc, d->counts.at[i].only[0]);
    ttm_doc_cell_count(doc, d->counts.at[i].only[1]);
  }
  ttm_doc_table_end(doc);
  if (d->counts.n > most) ttm_doc_line(doc, "And %zu more names.", d->counts.n - 2 * TTM_DIFF_TOP);
}

static void put_topic(ttm_doc *doc, const ttm_diff *d, ttm_topic topic, const char *heading) {
  for (size_t i = 0; i < d->statements.at.n; i++) {
    if (d->statements.at.at[i].topic != topic) continue;
    if (heading) ttm_doc_heading(doc, heading), heading = NULL;
    ttm_doc_statement(doc, &d->statements, &d->statements.at.at[i], 0);
  }
}

void ttm_diff_write(ttm_doc *doc, const ttm_diff *d, bool per_chip) {
  for (int s = 0; s < 2; s++) {
    ttm_str path = ttm_words_source(d->f[s]->profile);
    ttm_doc_line(doc, "%s %.*s: %u operations%s, weights %.1f MB.", s ? "After: " : "Before:", (int)path.n, path.p,
                 (unsigned)d->f[s]->elements,
                 ttm_state_is_predicted(d->f[s]->profile, TTM_NONE) ? ", memory predicted" : "",
                 (double)d->f[s]->registry.weight_bytes / TTM_MB);
  }
  put_topic(doc, d, TTM_TOPIC_FAILURE, "Result");
  put_topic(doc, d, TTM_TOPIC_GROWTH, ttm_topic_title(TTM_TOPIC_GROWTH));
  put_topic(doc, d, TTM_TOPIC_PEAK, ttm_topic_title(TTM_TOPIC_PEAK));
  put_topic(doc, d, TTM_TOPIC_FREED_LATE, ttm_topic_title(TTM_TOPIC_FREED_LATE));
  put_topic(doc, d, TTM_TOPIC_ALIVE, "Operations");
  put_operations(doc, d, per_chip);
  for (ttm_memory m = TTM_DRAM; m <= TTM_L1; m++) put_alive(doc, d, m, per_chip);
  put_names(doc, d);
}
