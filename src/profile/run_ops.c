/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/run_ops.h"

#include "base/alloc.h"

int ttm_run_ops_make(ttm_run_ops *out, const ttm_profile *p) {
  out->first = ttm_alloc_array(p->calls.n, sizeof *out->first);
  out->next = ttm_alloc_array(p->ops.n, sizeof *out->next);
  if (!out->first || !out->next) return TTM_ENOMEM;
  for (size_t call = 0; call < p->calls.n; call++) out->first[call] = TTM_NONE;
  for (size_t op = p->ops.n; op-- > 0;) {
    uint32_t call = p->ops.at[op].call;
    out->next[op] = TTM_NONE;
    if (call >= p->calls.n) continue;
    call = ttm_call_top(p, call);
    out->next[op] = out->first[call];
    out->first[call] = (uint32_t)op;
  }
  return TTM_OK;
}

void ttm_run_ops_free(ttm_run_ops *x) {
  ttm_free(x->first);
  ttm_free(x->next);
  *x = (ttm_run_ops){NULL, NULL};
}
