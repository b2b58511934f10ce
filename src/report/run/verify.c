/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/verify.h"

#include "report/run/statements.h"
#include "report/write/json.h"

int ttm_verify_write(ttm_doc *d, const ttm_verified *v) {
  static const struct {
    const char *id, *heading;
  } parts[] = {{"verify.answer", "Answer"},
               {"verify.dram", "Peaks"},
               {"verify.l1", NULL},
               {"verify.change", "Changes"},
               {"verify.confidence", "Confidence"}};
  for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
    if (parts[p].heading) ttm_doc_heading(d, parts[p].heading);
    for (size_t i = 0; i < v->said.at.n; i++)
      if (!strcmp(v->said.at.at[i].id, parts[p].id)) ttm_doc_statement(d, &v->said, &v->said.at.at[i], 0);
  }
  return ttm_doc_end(d);
}

static void json_op(ttm_json *j, const char *key, const ttm_verified *v, uint32_t op) {
  bool known = op < v->ledger.findings->profile->ops.n;
  ttm_json_put_known(j, key, known ? ttm_findings_index(v->ledger.findings, op) : TTM_UNKNOWN);
}

static void json_memory(ttm_json *j, const char *key, const ttm_verified *v, int m) {
  const ttm_trial_memory *before = &v->before.memories[m], *after = &v->after.memories[m];
  ttm_json_put_object(j, key);
  ttm_json_put_u64(j, "peak_before_per_bank_B", before->peak);
  ttm_json_put_u64(j, "peak_after_per_bank_B", after->peak);
  ttm_json_put_bool(j, "peak_before_is_lower_bound", v->window);
  ttm_json_put_bool(j, "peak_after_is_lower_bound", v->window || v->rest_lacks);
  ttm_json_put_u64(j, "capacity_per_bank_B", after->size);
  json_op(j, "operation_before", v, before->peak_op);
  json_op(j, "operation_after", v, after->peak_op);
  ttm_json_end(j);
}

static void json_change(ttm_json *j, const ttm_change *change, const ttm_trial_match *match) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_str(j, "change", change->text);
  ttm_json_put_u64(j, "matched", match->matched);
  ttm_json_put_u64(j, "changed", match->changed);
  ttm_json_put_known_str(j, "why_not_all", ttm_str_of(match->changed < match->matched ? match->why : NULL));
  ttm_json_end(j);
}

static void json_refusal(ttm_json *j, const ttm_verified *v) {
  const ttm_incident_text *what = &v->after.refusal;
  if (v->after.fits) return ttm_json_put_null(j, "refused");
  ttm_json_put_object(j, "refused");
  ttm_json_put_known_str(j, "memory", what->memory);
  json_op(j, "operation", v, v->after.refused_op);
  ttm_json_put_known(j, "needed_per_bank_B", what->needed_per_bank);
  ttm_json_put_known(j, "free_per_bank_B", what->free_per_bank);
  ttm_json_put_known(j, "largest_free_block_B", what->largest_free_block);
  ttm_json_end(j);
}

int ttm_verify_json(const ttm_verified *v, ttm_buf *out) {
  ttm_json j = {.out = out, .spaced = true};
  int rest = ttm_trial_rest_fits(&v->after);
  ttm_json_put_object(&j, NULL);
  ttm_json_put_u64(&j, "schema_version", 1);
  ttm_json_put_bool(&j, "fits", v->after.fits);
  rest < 0 ? ttm_json_put_null(&j, "rest_fits") : ttm_json_put_bool(&j, "rest_fits", rest);
  ttm_json_put_known_str(&j, "rest",
                         ttm_str_of(v->after.predicted       ? "predicted"
                                    : v->after.entries_after ? "recorded"
                                                             : NULL));
  ttm_json_put_bool(&j, "gained", v->gained);
  ttm_json_put_name(&j, "check", ttm_fix_check_name(v->after.estimate ? TTM_FIX_ESTIMATED : TTM_FIX_REPLAYED));
  ttm_json_put_known_str(&j, "why_estimated", ttm_str_of(v->after.estimate));
  ttm_json_put_u64(&j, "failures_before", v->after.failures);
  ttm_json_put_u64(&j, "failures_after", v->after.failures_left);
  ttm_json_put_object(&j, "memories");
  json_memory(&j, "DRAM", v, TTM_REPLAY_DRAM);
  json_memory(&j, "L1", v, TTM_REPLAY_L1);
  ttm_json_end(&j);
  ttm_json_put_rows(&j, "changes");
  for (size_t i = 0; i < v->n; i++) json_change(&j, &v->changes[i], &v->after.match[i]);
  ttm_json_end(&j);
  json_refusal(&j, v);
  ttm_json_put_rows(&j, "statements");
  for (size_t i = 0; i < v->said.at.n; i++) {
    const ttm_statement *s = &v->said.at.at[i];
    ttm_json_put_object(&j, NULL);
    ttm_json_put_statement(&j, s);
    ttm_json_end(&j);
  }
  ttm_json_end(&j);
  ttm_json_end(&j);
  return ttm_json_finish(&j);
}
