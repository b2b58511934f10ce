/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a whole log, all the way to the reports: never a crash, and every row points to rows that exist. */
#include "fuzz.h"

#include "analyze/findings.h"
#include "report/run/text.h"

static bool row(uint32_t id, size_t n) { return id == TTM_NONE || id < n; }

static void check_profile(const ttm_profile *p) {
  for (size_t i = 0; i < p->ops.n; i++) {
    const ttm_op *op = &p->ops.at[i];
    check(op->text < p->texts.n && op->call < p->calls.n && row(op->state, p->states.n));
    check(row(op->tensor, p->tensors.n) && op->weights < p->weight_lists.n && op->line > 0);
  }
  for (size_t i = 0; i < p->states.n; i++)
    check(p->states.at[i].base < p->state_bases.n &&
          (p->states.at[i].op >= TTM_STATE_BARE || p->states.at[i].op < p->ops.n));
  for (size_t i = 0; i < p->tensors.n; i++) {
    const ttm_tensor *t = &p->tensors.at[i];
    check(t->self < p->tensors.n && t->birth < p->ops.n && t->last_use < p->ops.n && row(t->freed_by, p->ops.n));
  }
  for (size_t i = 0; i < p->calls.n; i++) {
    const ttm_call *f = &p->calls.at[i];
    check(row(f->parent, p->calls.n) && row(f->caller, p->ops.n) && row(f->graph, p->graphs.n));
    check(row(f->before, p->states.n) && row(f->after, p->states.n) && f->rank < p->ranks.n);
  }
  for (size_t i = 0; i < p->incidents.n; i++)
    check(row(p->incidents.at[i].op, p->ops.n) && row(p->incidents.at[i].state, p->states.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_profile *p = NULL;
  ttm_findings *f = NULL;
  ttm_error err;
  if (ttm_profile_read_bytes(&p, (const char *)data, size, NULL, &err)) return 0;
  check_profile(p);
  check(ttm_findings_make(&f, p, 1, &err) == TTM_OK);
  ttm_buf out = {0};
  ttm_summary_style style = {.columns = 80};
  check(ttm_llm_write(f, TTM_LIT("fuzz"), TTM_DOC_MARKDOWN, false, &out) == TTM_OK &&
        ttm_summary_write(f, &style, &out) == TTM_OK);
  ttm_buf_free(&out);
  ttm_findings_free(f);
  ttm_profile_free(p);
  return 0;
}
