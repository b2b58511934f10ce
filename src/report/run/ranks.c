/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/ranks.h"

#include <math.h>

#include "base/format.h"
#include "report/files/statements_json.h"
#include "report/run/statements.h"
#include "report/write/json.h"

static double peak_mb(const ttm_rank_row *row, int memory) {
  bool known = row->peak[memory].banks || row->peak_bytes[memory];
  return known ? (double)row->peak_bytes[memory] / TTM_MB : NAN;
}

/* The first of a group stands for it; programs get every rank. */
static void put_table(ttm_doc *doc, const ttm_ranks *ranks) {
  static const char *const heads[] = {"Rank", ">Alike", ">Operations", ">DRAM, MB", ">L1, MB", "Failure", "File"};
  uint32_t shown = 0;
  ttm_doc_table(doc, heads, sizeof heads / sizeof *heads);
  for (size_t i = 0; i < ranks->at.n; i++) {
    const ttm_rank_row *row = &ranks->at.at[i];
    uint64_t alike = 0;
    if (row->group < shown && !ttm_doc_is_data(doc)) continue;
    if (row->group >= shown) shown = row->group + 1;
    for (size_t k = 0; k < ranks->at.n; k++) alike += ranks->at.at[k].group == row->group;
    ttm_doc_cell(doc, "%u", row->rank);
    ttm_doc_cell_count(doc, alike);
    ttm_doc_cell_count(doc, row->operations);
    for (int m = 0; m < 2; m++) ttm_doc_cell_mb(doc, peak_mb(row, m));
    ttm_doc_cell_text(doc, row->failure.n ? row->failure : TTM_LIT("-"));
    ttm_doc_cell_text(doc, row->path);
  }
  ttm_doc_table_end(doc);
}

void ttm_ranks_write(ttm_doc *doc, const ttm_ranks *ranks) {
  if (doc->form != TTM_DOC_CSV)
    for (size_t i = 0; i < ranks->said.at.n; i++) ttm_doc_statement(doc, &ranks->said, &ranks->said.at.at[i], 0);
  ttm_doc_heading(doc, "Ranks, MB per bank");
  put_table(doc, ranks);
}

int ttm_ranks_json(const ttm_ranks *ranks, ttm_buf *out) {
  ttm_json j = {.out = out};
  ttm_json_put_sections(&j, NULL);
  ttm_json_put_u64(&j, "schema_version", 1);
  ttm_json_put_u64(&j, "groups", ranks->groups);
  ttm_json_put_u64(&j, "leading_rank", ranks->at.at[ranks->leading].rank);
  ttm_json_put_rows(&j, "ranks");
  for (size_t i = 0; i < ranks->at.n; i++) {
    const ttm_rank_row *row = &ranks->at.at[i];
    ttm_json_put_object(&j, NULL);
    ttm_json_put_u64(&j, "rank", row->rank);
    ttm_json_put_u64(&j, "group", row->group);
    ttm_json_put_str(&j, "path", row->path);
    ttm_json_put_u64(&j, "operations", row->operations);
    ttm_json_put_known(&j, "dram_peak_bytes", isnan(peak_mb(row, 0)) ? UINT64_MAX : row->peak_bytes[0]);
    ttm_json_put_known(&j, "l1_peak_bytes", isnan(peak_mb(row, 1)) ? UINT64_MAX : row->peak_bytes[1]);
    ttm_json_put_u64(&j, "failures", row->failures);
    ttm_json_put_known(&j, "failed_after", row->failures ? row->failed_after : UINT64_MAX);
    ttm_json_put_known_str(&j, "failure", row->failure);
    ttm_json_put_known_str(&j, "raised_by", row->raised_by);
    ttm_json_end(&j);
  }
  ttm_json_end(&j);
  ttm_json_put_statements(&j, &ranks->said);
  ttm_json_end(&j);
  return ttm_json_finish(&j);
}
