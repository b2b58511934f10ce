/* SPDX-License-Identifier: Apache-2.0 */
/* The members of findings.json that rest on files beside the input. */
#include "analyze/say.h"
#include "report/files/findings_parts.h"

/* ---- What the compiler planned --------------------------------------------------------------------------------------- */

static void put_layout(ttm_json *j, const char *key, const ttm_plan_layout *layout) {
  ttm_buf words = {0};
  if (layout->buffer == TTM_BUFFER_NONE) return ttm_json_put_null(j, key);
  ttm_say_layout(&words, layout);
  ttm_json_put_str(j, key, ttm_buf_str(&words));
  j->out->failed |= words.failed;
  ttm_buf_free(&words);
}

static void put_decision(ttm_json *j, const ttm_findings *f, const ttm_decisions *d, const ttm_decision_row *row) {
  static const ttm_plan_layout none = {0};
  const ttm_plan_op *planned = row->planned == TTM_NONE ? NULL : &d->trace->ops.at[row->planned];
  ttm_json_put_object(j, NULL);
  ttm_json_put_op_members(j, f, row->op);
  ttm_json_put_name(j, "matched_by", !planned || row->by_order ? "order" : "location");
  put_layout(j, "planned_layout", planned ? &planned->layout : &none);
  put_layout(j, "layout", &row->is);
  ttm_json_put_bool(j, "elsewhere", row->moved);
  ttm_json_put_bool(j, "demoted", row->demoted);
  ttm_json_put_bool(j, "evicted", row->evicted);
  ttm_json_put_known(j, "planned_L1_per_core_B", row->planned_l1);
  ttm_json_put_known(j, "held_L1_per_core_B", row->held_l1);
  ttm_json_put_u64(j, "apart_B", row->apart);
  ttm_json_end(j);
}

void ttm_json_put_compiler(ttm_json *j, const ttm_findings *f) {
  if (!f->decisions.n) return;
  ttm_json_put_rows(j, "compiler");
  for (size_t i = 0; i < f->decisions.n; i++) {
    const ttm_decisions *d = &f->decisions.at[i];
    ttm_json_put_object(j, NULL);
    ttm_json_put_str(j, "function", d->trace->function);
    ttm_json_put_u64(j, "trace_version", d->trace->version);
    ttm_json_put_u64(j, "L1_budget_per_core_B", d->trace->budget);
    ttm_json_put_u64(j, "spills", d->trace->spills);
    ttm_json_put_u64(j, "matched_by_location", d->by_location);
    ttm_json_put_u64(j, "matched_by_order", d->by_order);
    ttm_json_put_u64(j, "not_in_input", d->missing);
    ttm_json_put_rows(j, "operations");
    for (size_t k = 0; k < d->rows.n; k++) put_decision(j, f, d, &d->rows.at[k]);
    ttm_json_end(j);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}
