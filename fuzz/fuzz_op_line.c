/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an operation line: never a crash, views inside the line, and the same answer from the line cut behind
 * its location. */
#include "fuzz.h"

#include "parse/op_line.h"
#include "parse/tensor_type.h"

static void check_all_inside(ttm_str text, const ttm_strs *views) {
  for (size_t i = 0; i < views->n; i++) {
    check_inside(text, views->at[i]);
    if (!views->at[i].n) abort();
  }
}

static void check_operation(ttm_str text, const ttm_op_line *op) {
  if (!op->name.n || !op->output_type.n) abort();
  check_inside(text, op->name);
  check_inside(text, op->result);
  check_inside(text, op->attributes);
  check_inside(text, op->input_types);
  check_inside(text, op->output_type);
  check_inside(text, op->callee);
  check_inside(text, op->location);
  check_all_inside(text, &op->operands);
  check_all_inside(text, &op->inputs);
  check_all_inside(text, &op->outputs);
  for (size_t i = 0; i < op->inputs.n; i++) {
    ttm_tensor_type type;
    ttm_tensor_type_parse(op->inputs.at[i], &type);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_str text = {(const char *)data, size};
  ttm_op_line op = {0}, again = {0};
  if (ttm_op_line_parse(text, &op) == TTM_OK) {
    check_operation(text, &op);
    const char *end = op.location.p ? op.location.p + op.location.n + 1 : op.output_type.p + op.output_type.n;
    if (ttm_op_line_parse((ttm_str){text.p, (size_t)(end - text.p)}, &again) != TTM_OK) abort();
    if (again.operands.n != op.operands.n || !ttm_str_eq(again.output_type, op.output_type)) abort();
  }
  ttm_buf name = {0};
  ttm_location_render(op.location.n ? op.location : text, &name);
  if (name.n > 2 * size + 16) abort(); /* at most a blank is added per comma */
  ttm_buf_free(&name);
  ttm_op_line_free(&op);
  ttm_op_line_free(&again);
  return 0;
}
