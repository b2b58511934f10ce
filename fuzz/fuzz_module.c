/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a whole module: never a crash, every row points to rows and text that are there, and whatever it says can be run: what is given
 * back was taken. */
#include "fuzz.h"

#include "parse/module.h"
#include "profile/module_run.h"

static void check_op(const ttm_module *m, ttm_str text, const ttm_module_op *op) {
  check_inside(text, op->text);
  check_inside(text, op->attributes);
  check_inside(text, op->location);
  check(op->callee == TTM_NO_ROW || op->callee < m->functions.n);
  check((size_t)op->operands + op->operand_count <= m->operands.n);
  check((size_t)op->results + op->result_count <= m->value_types.n);
  for (uint32_t i = 0; i < op->operand_count; i++) {
    uint32_t value = m->operands.at[op->operands + i];
    check(value == TTM_NO_ROW || value < m->value_types.n);
  }
  ttm_module_attribute(op, TTM_LIT("shape"));
}

static void check_run(const ttm_module *m, ttm_runner runner) {
  ttm_module_run run;
  check(ttm_module_run_make(&run, m, runner, 2, NULL) == TTM_OK);
  int64_t taken = 0;
  for (size_t i = 0; i < run.events.n; i++) {
    const ttm_run_event *e = &run.events.at[i];
    taken += (e->act == TTM_RUN_TAKE) - (e->act == TTM_RUN_GIVE);
    check(taken >= 0 && (e->op == TTM_NO_ROW || e->op < m->ops.n));
    check(e->act < TTM_RUN_TAKE || e->what < run.buffers.n);
  }
  for (size_t i = 0; i < run.buffers.n; i++) check(run.buffers.at[i].type < run.types.n);
  ttm_module_run_free(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_str text = {(const char *)data, size}, name;
  ttm_module m;
  check(ttm_module_parse(&m, text) == TTM_OK);
  for (size_t i = 0; i < m.ops.n; i++) {
    check_op(&m, text, &m.ops.at[i]);
    check(ttm_module_location(m.locations, m.ops.at[i].location, &name) == TTM_OK);
  }
  for (size_t i = 0; i < m.functions.n; i++) {
    const ttm_module_function *f = &m.functions.at[i];
    check((size_t)f->ops + f->op_count <= m.ops.n && (size_t)f->values + f->value_count <= m.value_types.n);
    check((size_t)f->args + f->arg_count <= m.args.n && f->arg_count <= f->value_count);
  }
  for (size_t i = 0; i < m.value_types.n; i++) check(m.value_types.at[i] < m.types.n);
  check(m.entry == TTM_NO_ROW || m.entry < m.functions.n);
  check_run(&m, TTM_RUNNER_COMPILED);
  check_run(&m, TTM_RUNNER_PYTHON);
  ttm_module_free(&m);
  return 0;
}
