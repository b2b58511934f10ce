/* SPDX-License-Identifier: Apache-2.0 */
/* A run of the log beside the module it should be of, operation by operation: is it, and what does it teach? */
#include "analyze/parts.h"
#include "analyze/predict.h"

typedef struct matcher {
  const ttm_program_need *program;
  const ttm_profile *p;
  ttm_run_lessons *lessons;
  uint64_t names, name_bytes, programs,
      program_bytes; /* first of their name, of their kind: how many, and what they left */
} matcher;

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

/* The log says whether the results were there. */
static int learn_cached(matcher *m, uint32_t op, const ttm_module_op *row) {
  uint64_t key = ttm_cached_key(&m->program->module, row);
  if (!key || ttm_op_text_of(m->p, op)->synthetic) return TTM_OK;
  return ttm_map_set(&m->lessons->there, key, (m->p->ops.at[op].flags & TTM_OP_CACHE_HIT) != 0);
}

static int learn(matcher *m, uint32_t op, const ttm_module_op *row) {
  int64_t effect;
  uint64_t expected = results_of(m, row);
  ttm_op_kind kind = ttm_op_kind_of(row->name);
  if (kind == TTM_OP_LOAD_CACHED) return learn_cached(m, op, row);
  if (m->p->filled || !ttm_op_effect(m->p, op, TTM_DRAM, &effect)) return TTM_OK;
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

static void end_lessons(const matcher *m) {
  ttm_run_lessons *l = m->lessons;
  if (m->names) l->banks = m->program->home->dram_banks;
  if (m->names) l->new_name = m->name_bytes / m->names;
  if (m->programs) l->new_program = m->program_bytes / m->programs;
}

int ttm_match_run(ttm_program_need *program, const ttm_profile *p, uint32_t call, ttm_run_lessons *lessons) {
  matcher m = {.program = program, .p = p, .lessons = lessons};
  const ttm_call *c = &p->calls.at[call];
  ttm_run_walk walk = ttm_run_walk_start(&program->run, 0, p, call);
  int status = TTM_OK;
  bool any = false;
  for (uint32_t op = c->first_op; op <= c->last_op && op < p->ops.n && program->matched && !status; op++) {
    uint32_t row;
    ttm_walk_step step = ttm_run_walk_op(&walk, op, &row);
    program->matched = step != TTM_WALK_OTHER;
    if (step != TTM_WALK_SAME) continue;
    any = true;
    if (!(p->ops.at[op].flags & TTM_OP_FAILED)) status = learn(&m, op, &program->module.ops.at[row]);
  }
  /* A program that finished has no more operations. */
  if (!status && program->matched && any && c->finished) program->matched = ttm_run_walk_next(&walk, 1) == TTM_NO_ROW;
  end_lessons(&m);
  return status;
}
