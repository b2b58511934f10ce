/* SPDX-License-Identifier: Apache-2.0 */
/* A run of the log beside the module it should be of, operation by operation. */
#include "profile/module_run.h"

ttm_run_walk ttm_run_walk_start(const ttm_module_run *run, size_t k, const ttm_profile *p, uint32_t call) {
  size_t end = k + 1 < run->runs.n ? run->runs.at[k + 1] : run->events.n;
  return (ttm_run_walk){.run = run, .p = p, .top = call, .event = k < run->runs.n ? run->runs.at[k] : end, .end = end};
}

uint32_t ttm_run_walk_next(ttm_run_walk *w, uint32_t depth) {
  for (; w->event < w->end; w->event++) {
    const ttm_run_event *e = &w->run->events.at[w->event];
    if (e->act == TTM_RUN_OP && w->depth == depth) return w->event++, e->op;
    if (e->act == TTM_RUN_OP && w->depth < depth) return TTM_NO_ROW;
    w->depth += (e->act == TTM_RUN_ENTER) - (e->act == TTM_RUN_LEAVE);
  }
  return TTM_NO_ROW;
}

/* How deep an operation lies below the call; 0 when it is of another. */
static uint32_t depth_of(const ttm_run_walk *w, uint32_t op) {
  uint32_t depth = 1, call = w->p->ops.at[op].call;
  for (; call < w->p->calls.n && call != w->top; depth++) call = w->p->calls.at[call].parent;
  return call == w->top ? depth : 0;
}

/* Operations without a line are named by their type, which says too little to compare. */
static bool same_op(const ttm_profile *p, uint32_t op, const ttm_module_op *row) {
  const ttm_op_text *text = ttm_op_text_of(p, op);
  return text->synthetic || ttm_str_eq(ttm_profile_string(p, text->name), row->name);
}

ttm_walk_step ttm_run_walk_op(ttm_run_walk *w, uint32_t op, uint32_t *row) {
  uint32_t depth = depth_of(w, op);
  *row = depth ? ttm_run_walk_next(w, depth) : TTM_NO_ROW;
  if (*row == TTM_NO_ROW && depth != 1) return TTM_WALK_ASIDE;
  if (*row != TTM_NO_ROW && same_op(w->p, op, &w->run->module->ops.at[*row])) return TTM_WALK_SAME;
  return depth > 1 ? TTM_WALK_ASIDE : TTM_WALK_OTHER;
}
