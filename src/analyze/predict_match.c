/* SPDX-License-Identifier: Apache-2.0 */
/* A run of the log beside the module it should be of, operation by operation: is it, and what does it teach? */
#include "analyze/parts.h"
#include "analyze/predict.h"

typedef struct matcher {
  const ttm_program_need *program;
  const ttm_profile *p;
  ttm_run_lessons *lessons;
  uint32_t top; /* call */
  size_t event; /* next of the run */
  uint32_t depth;
  uint64_t names, name_bytes, programs,
      program_bytes; /* first of their name, of their kind: how many, and what they left */
} matcher;

/* The next operation of the module that lies `depth` functions deep; TTM_NO_ROW when the functions around it end first. */
static uint32_t next_of_module(matcher *m, uint32_t depth) {
  const ttm_module_run *r = &m->program->run;
  size_t end = r->runs.n > 1 ? r->runs.at[1] : r->events.n;
  for (; m->event < end; m->event++) {
    const ttm_run_event *e = &r->events.at[m->event];
    if (e->act == TTM_RUN_OP && m->depth == depth) return m->event++, e->op;
    if (e->act == TTM_RUN_OP && m->depth < depth) return TTM_NO_ROW;
    m->depth += (e->act == TTM_RUN_ENTER) - (e->act == TTM_RUN_LEAVE);
  }
  return TTM_NO_ROW;
}

/* How deep an operation lies below the call; 0 when it is of another. */
static uint32_t depth_of(const matcher *m, uint32_t op) {
  uint32_t depth = 1, call = m->p->ops.at[op].call;
  for (; call < m->p->calls.n && call != m->top; depth++) call = m->p->calls.at[call].parent;
  return call == m->top ? depth : 0;
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

/* What its program left beyond the results. */
static int learn_left(matcher *m, const ttm_module_op *row, uint64_t left) {
  ttm_run_lessons *l = m->lessons;
  uint64_t kind = ttm_op_signature(&m->program->module, row), name = ttm_op_name_key(row);
  if (ttm_map_get(&l->left, kind, 0)) return TTM_OK;
  if (left < TTM_LEVEL_SLACK * 2 || left > UINT32_MAX - 1) left = 0;
  bool named = ttm_map_get(&l->left, name, 0);
  *(named ? &m->programs : &m->names) += 1;
  *(named ? &m->program_bytes : &m->name_bytes) += left;
  return ttm_map_set(&l->left, kind, (uint32_t)left + 1) || ttm_map_set(&l->left, name, 1) ? TTM_ENOMEM : TTM_OK;
}

static int learn(matcher *m, uint32_t op, const ttm_module_op *row) {
  int64_t effect;
  uint64_t expected = results_of(m, row);
  ttm_op_kind kind = ttm_op_kind_of(row->name);
  if (!ttm_op_effect(m->p, op, TTM_DRAM, &effect)) return TTM_OK;
  if (kind == TTM_OP_DEALLOCATE && is_argument(&m->program->module, row) && effect < 0)
    m->lessons->arguments_freed = true;
  if (kind != TTM_OP_PLAIN || row->callee != TTM_NO_ROW) return TTM_OK;
  uint64_t rise = effect > 0 ? ttm_level_bytes((uint64_t)effect) : 0;
  bool took = rise >= expected / 2;
  if (learn_left(m, row, took && rise > expected ? rise - expected : 0)) return TTM_ENOMEM;
  if (expected < TELLING) return TTM_OK;
  return ttm_map_set(&m->lessons->ops, ttm_op_signature(&m->program->module, row),
                     took ? TTM_SEEN_TAKING : TTM_SEEN_VIEW);
}

/* Operations without a line are named by their type, which says too little to compare. */
static bool same_op(const ttm_profile *p, uint32_t op, const ttm_module_op *row) {
  const ttm_op_text *text = ttm_op_text_of(p, op);
  return text->synthetic || ttm_str_eq(ttm_profile_string(p, text->name), row->name);
}

static void end_lessons(const matcher *m) {
  ttm_run_lessons *l = m->lessons;
  if (m->names) l->banks = m->program->home->dram_banks;
  if (m->names) l->new_name = m->name_bytes / m->names;
  if (m->programs) l->new_program = m->program_bytes / m->programs;
}

int ttm_match_run(ttm_program_need *program, const ttm_profile *p, uint32_t call, ttm_run_lessons *lessons) {
  matcher m = {.program = program, .p = p, .lessons = lessons, .top = call};
  const ttm_call *c = &p->calls.at[call];
  int status = TTM_OK;
  bool any = false;
  for (uint32_t op = c->first_op; op <= c->last_op && op < p->ops.n && program->matched && !status; op++) {
    uint32_t depth = depth_of(&m, op), row = depth ? next_of_module(&m, depth) : TTM_NO_ROW;
    if (row == TTM_NO_ROW && depth != 1) continue; /* another rank, or a function that the module lacks */
    bool same = row != TTM_NO_ROW && same_op(p, op, &program->module.ops.at[row]);
    any |= depth == 1;
    program->matched = same || depth > 1;
    if (same && !(p->ops.at[op].flags & TTM_OP_FAILED)) status = learn(&m, op, &program->module.ops.at[row]);
  }
  /* A program that finished has no more operations. */
  if (!status && program->matched && any && c->finished) program->matched = next_of_module(&m, 1) == TTM_NO_ROW;
  end_lessons(&m);
  return status;
}
