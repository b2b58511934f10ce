/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a whole module: never a crash, and every row points to rows and text that are there. */
#include "fuzz.h"

#include "parse/module.h"

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
  ttm_module_free(&m);
  return 0;
}
