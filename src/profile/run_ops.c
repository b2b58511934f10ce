/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/run_ops.h"

#include "base/alloc.h"

int ttm_run_ops_make(ttm_run_ops *out, const ttm_profile *p) {
  out->first = ttm_alloc_array(p->calls.n, sizeof *out->first);
  out->next = ttm_alloc_array(p->ops.n, sizeof *out->next);
  if (!out->first || !out->next) return TTM_ENOMEM;
  for (size_t call = 0; call < p->calls.n; call++) out->first[call] = TTM_NONE;
  uint32_t call = TTM_NONE, top = TTM_NONE; /* of the last operation: most often of this one, too */
  for (size_t op = p->ops.n; op-- > 0;) {
    if (p->ops.at[op].call != call) {
      call = p->ops.at[op].call;
      top = call < p->calls.n ? ttm_call_top(p, call) : TTM_NONE;
    }
    out->next[op] = top == TTM_NONE ? TTM_NONE : out->first[top];
    if (top != TTM_NONE) out->first[top] = (uint32_t)op;
  }
  return TTM_OK;
}

void ttm_run_ops_free(ttm_run_ops *x) {
  ttm_free(x->first);
  ttm_free(x->next);
  *x = (ttm_run_ops){NULL, NULL};
}
