/* SPDX-License-Identifier: Apache-2.0 */
/* A run of the log beside the module it should be of, operation by operation: is it, and what does it teach? */
#include "analyze/parts.h"
#include "analyze/predict.h"

typedef struct matcher {
  const ttm_program_need *program;
  const ttm_profile *p;
  ttm_run_lessons *lessons;
  size_t event; /* next of the run */
  int depth;
} matcher;

/* The next operation of the entry function; TTM_NO_ROW at the end of the first run. */
static uint32_t next_of_module(matcher *m) {
  const ttm_module_run *r = &m->program->run;
  size_t end = r->runs.n > 1 ? r->runs.at[1] : r->events.n;
  for (; m->event < end; m->event++) {
    const ttm_run_event *e = &r->events.at[m->event];
    m->depth += (e->act == TTM_RUN_ENTER) - (e->act == TTM_RUN_LEAVE);
    if (e->act == TTM_RUN_OP && m->depth == 1) return m->event++, e->op;
  }
  return TTM_NO_ROW;
}

/* Bytes of DRAM per bank that the printed result types take. */
static uint64_t results_of(const matcher *m, const ttm_module_op *op) {
  const ttm_module *module = &m->program->module;
  const ttm_board *board = m->program->home;
  ttm_alignment align = {ttm_arches[board->arch].dram_align, ttm_arches[board->arch].l1_align};
  uint64_t bytes = 0;
  for (uint32_t k = 0; k < op->result_count; k++) {
    const ttm_module_type *type = &module->types.at[module->value_types.at[op->results + k]];
    if (type->is_tensor && type->tensor.has_layout && type->tensor.buffer == TTM_BUFFER_DRAM)
      bytes += ttm_tensor_bank_bytes(&type->tensor, board->dram_banks, align);
  }
  return bytes;
}

static bool is_argument(const ttm_module *m, const ttm_module_op *op) {
  const ttm_module_function *f = &m->functions.at[m->entry];
  uint32_t value = op->operand_count ? m->operands.at[op->operands] : TTM_NO_ROW;
  return value != TTM_NO_ROW && value >= f->values && value < f->values + f->arg_count;
}

/* Results below this cannot be told from the rounding of states. */
enum { TELLING = 4 * TTM_LEVEL_SLACK };

static int learn(matcher *m, uint32_t op, const ttm_module_op *row) {
  int64_t effect;
  uint64_t expected = results_of(m, row);
  ttm_op_kind kind = ttm_op_kind_of(row->name);
  if (!ttm_op_effect(m->p, op, TTM_DRAM, &effect)) return TTM_OK;
  if (kind == TTM_OP_DEALLOCATE && is_argument(&m->program->module, row) && effect < 0)
    m->lessons->arguments_freed = true;
  if (kind != TTM_OP_PLAIN || row->callee != TTM_NO_ROW || expected < TELLING) return TTM_OK;
  bool took = effect > 0 && ttm_level_bytes((uint64_t)effect) >= expected / 2;
  return ttm_map_set(&m->lessons->ops, ttm_op_signature(&m->program->module, row),
                     took ? TTM_SEEN_TAKING : TTM_SEEN_VIEW);
}

/* Operations without a line are named by their type, which says too little to compare. */
static bool same_op(const ttm_profile *p, uint32_t op, const ttm_module_op *row) {
  const ttm_op_text *text = ttm_op_text_of(p, op);
  return text->synthetic || ttm_str_eq(ttm_profile_string(p, text->name), row->name);
}

int ttm_match_run(ttm_program_need *program, const ttm_profile *p, uint32_t call, ttm_run_lessons *lessons) {
  matcher m = {.program = program, .p = p, .lessons = lessons};
  const ttm_call *c = &p->calls.at[call];
  uint32_t row = TTM_NO_ROW;
  int status = TTM_OK;
  for (uint32_t op = c->first_op; op <= c->last_op && op < p->ops.n && program->matched && !status; op++) {
    if (p->ops.at[op].call != call) continue;
    row = next_of_module(&m);
    program->matched = row != TTM_NO_ROW && same_op(p, op, &program->module.ops.at[row]);
    if (program->matched && !(p->ops.at[op].flags & TTM_OP_FAILED))
      status = learn(&m, op, &program->module.ops.at[row]);
  }
  /* A program that finished has no more operations. */
  if (!status && program->matched && row != TTM_NO_ROW && c->finished)
    program->matched = next_of_module(&m) == TTM_NO_ROW;
  return status;
}
