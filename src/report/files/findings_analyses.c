/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetimes, fragmentation, waste, layers and fixes of the peak in findings.json. */
#include "analyze/words.h"
#include "report/files/findings_parts.h"

/* Members that need the frees are null when the log does not tell them. */
static bool put_unknown(ttm_json *j, const char *key, const ttm_findings *f) {
  if (ttm_findings_lives_known(f)) return false;
  ttm_json_put_null(j, key);
  return true;
}

static void put_late_free(ttm_json *j, const ttm_findings *f, const ttm_late_free *late) {
  const ttm_tensor *tensor = &f->profile->tensors.at[late->tensor];
  ttm_json_put_object(j, NULL);
  ttm_json_put_mib(j, "per_bank_MB", late->bank_bytes);
  ttm_json_put_u64(j, "times", late->times);
  ttm_json_put_u64(j, "operations_late", late->gap);
  ttm_json_put_mib(j, "MB_x_operations", late->cost);
  ttm_json_put_mib(j, "peak_if_freed_per_bank_MB", late->peak_bytes);
  if (late->replayed) ttm_json_put_bool(j, "replay_agrees", late->replay_agrees);
  ttm_json_put_op(j, "made_by", f, tensor->birth);
  ttm_json_put_op(j, "last_use", f, tensor->last_use);
  if (tensor->freed_by < f->profile->ops.n)
    ttm_json_put_u64(j, "freed_line", f->profile->ops.at[tensor->freed_by].line);
  ttm_json_end(j);
}

void ttm_json_put_late_frees(ttm_json *j, const ttm_findings *f) {
  const ttm_lifetimes *l = &f->lifetimes;
  if (put_unknown(j, "late_frees", f)) return;
  ttm_json_put_object(j, "late_frees");
  ttm_json_put_name(j, "basis", "derived");
  ttm_json_put_mib(j, "peak_per_bank_MB", l->peak_bytes);
  if (l->n)
    ttm_json_put_mib(j, "peak_if_freed_per_bank_MB", l->replayed ? l->replayed_peak_bytes : l->peak_without_bytes);
  if (l->replayed) ttm_json_put_bool(j, "replay_agrees", l->replay_agrees);
  ttm_json_put_rows(j, "tensors");
  for (size_t i = 0; i < l->n; i++) put_late_free(j, f, &l->late[i]);
  ttm_json_end(j);
  ttm_json_end(j);
}

/* The first of the moments that would refuse the largest request. */
static void put_refusals(ttm_json *j, const ttm_profile *p, const ttm_fragmentation *x) {
  ttm_json_put_array(j, "states");
  for (size_t i = 0; i < x->refusing_states && i < TTM_REFUSALS; i++) {
    const ttm_state *state = &p->states.at[x->refusing[i]];
    ttm_json_put_object(j, NULL);
    ttm_json_put_u64(j, "line", state->line);
    ttm_json_put_figure(j, "free_per_bank_MB", state->dram_free);
    ttm_json_put_figure(j, "largest_free_block_MB", state->dram_largest);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_pins(ttm_json *j, const ttm_findings *f, const ttm_fragmentation *x) {
  ttm_json_put_object(j, "pinned_by");
  ttm_json_put_name(j, "basis", "derived");
  ttm_json_put_line(j, "line", f->profile, x->pins_state);
  ttm_json_put_rows(j, "tensors");
  for (size_t i = 0; i < x->pin_count; i++) {
    const ttm_pin *pin = &x->pins[i];
    ttm_json_put_object(j, NULL);
    ttm_json_put_u64(j, "address", pin->at);
    ttm_json_put_mib(j, "per_bank_MB", pin->size);
    ttm_json_put_u64(j, "tensors", pin->tensors);
    ttm_json_put_mib(j, "free_block_without_MB", pin->merged);
    ttm_json_put_op(j, "made_by", f, pin->tensor == TTM_NONE ? TTM_NONE : f->profile->tensors.at[pin->tensor].birth);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_end(j);
}

void ttm_json_put_fragmentation(ttm_json *j, const ttm_findings *f) {
  const ttm_fragmentation *x = &f->fragmentation;
  if (!x->known) return ttm_json_put_null(j, "fragmentation");
  ttm_json_put_object(j, "fragmentation");
  ttm_json_put_object(j, "worst");
  ttm_json_put_name(j, "basis", ttm_basis_name(ttm_words_state_basis(f->profile, TTM_NONE)));
  ttm_json_put_line(j, "line", f->profile, x->worst_state);
  ttm_json_put_mib(j, "free_per_bank_MB", x->worst_free);
  ttm_json_put_mib(j, "largest_free_block_MB", x->worst_largest);
  ttm_json_put_fixed(j, "pct", ttm_fragmentation_pct(x->worst_free, x->worst_largest), 3);
  ttm_json_end(j);
  if (x->unknown_states) ttm_json_put_u64(j, "unknown_states", x->unknown_states);
  ttm_json_put_object(j, "largest_request");
  ttm_json_put_name(j, "basis", "derived");
  ttm_json_put_mib(j, "per_bank_MB", x->largest_request);
  ttm_json_put_u64(j, "states_that_would_refuse_it", x->refusing_states);
  ttm_json_put_line(j, "first_line", f->profile, x->refusing_states ? x->refusing[0] : TTM_NONE);
  put_refusals(j, f->profile, x);
  ttm_json_put_op(j, "operation", f, x->request_op);
  ttm_json_end(j);
  put_pins(j, f, x);
  ttm_json_end(j);
}

/* The tensors of every layer behind a row. */
static void put_waste_members(ttm_json *j, const ttm_findings *f, const ttm_waste *waste) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  ttm_json_put_array(j, "members");
  for (uint32_t i = 0; waste->rows > 1 && i < set->rows.n; i++) {
    const ttm_alive_row *row = &set->rows.at[i];
    if (!ttm_waste_has(f, waste, i)) continue;
    ttm_json_put_object(j, NULL);
    ttm_json_put_id(j, "name", f->profile, row->name);
    ttm_json_put_mib(j, "per_bank_MB", ttm_waste_of(f, row, waste->kind));
    ttm_json_put_op_members(j, f, row->op);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_waste(ttm_json *j, const ttm_findings *f, const ttm_waste *waste) {
  const ttm_alive_row *row = &f->alive_set[TTM_DRAM].rows.at[waste->row];
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "kind", ttm_waste_name(waste->kind));
  ttm_json_put_id(j, "name", f->profile, row->name);
  ttm_json_put_mib(j, "per_bank_MB", waste->bank_bytes);
  ttm_json_put_type(j, f->profile, row->type);
  ttm_json_put_shape(j, "better_shape", &waste->better);
  if (waste->row_major) ttm_json_put_mib(j, "row_major_saves_per_bank_MB", waste->row_major);
  ttm_json_put_op(j, "made_by", f, row->op);
  put_waste_members(j, f, waste);
  ttm_json_end(j);
}

void ttm_json_put_waste_at_peak(ttm_json *j, const ttm_findings *f) {
  const ttm_wastes *w = &f->wastes;
  if (put_unknown(j, "waste_at_peak", f)) return;
  ttm_json_put_object(j, "waste_at_peak");
  ttm_json_put_name(j, "basis", "derived");
  ttm_json_put_object(j, "per_bank_MB");
  for (int k = 0; k < TTM_WASTE_KINDS; k++) ttm_json_put_mib(j, ttm_waste_name((ttm_waste_kind)k), w->bank_bytes[k]);
  ttm_json_end(j);
  ttm_json_put_rows(j, "top");
  for (size_t i = 0; i < w->n; i++) put_waste(j, f, &w->at[i]);
  ttm_json_end(j);
  ttm_json_end(j);
}

void ttm_json_put_layers(ttm_json *j, const ttm_findings *f) {
  const ttm_layers *l = &f->layers;
  if (!l->period) return ttm_json_put_null(j, "layers");
  ttm_json_put_object(j, "layers");
  ttm_json_put_name(j, "basis", "derived");
  ttm_json_put_u64(j, "operations", l->period);
  ttm_json_put_u64(j, "count", l->count);
  ttm_json_put_op(j, "first", f, l->first_op);
  ttm_json_put_op(j, "last", f, l->last_op);
  ttm_json_put_milli(j, "growth_per_bank_MB", l->growth);
  ttm_json_put_milli(j, "peak_above_start_per_bank_MB", l->peak);
  ttm_json_put_u64(j, "odd_count", l->odd_count);
  ttm_json_put_array(j, "odd");
  for (uint32_t i = 0; i < l->odd_count && i < TTM_ODD_LAYERS; i++) {
    ttm_json_put_object(j, NULL);
    ttm_json_put_u64(j, "layer", l->odd[i].layer);
    ttm_json_put_u64(j, "operations", l->odd[i].ops);
    ttm_json_put_op(j, "differs", f, l->odd[i].differs);
    ttm_json_put_milli(j, "growth_per_bank_MB", l->odd[i].growth);
    ttm_json_put_milli(j, "peak_above_start_per_bank_MB", l->odd[i].peak);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_end(j);
}

/* The fixes of the DRAM peak under their old name, which goes with the next version. */
void ttm_json_put_advice(ttm_json *j, const ttm_findings *f) {
  const ttm_statement *peak = ttm_statements_find(&f->statements, "peak.dram", 0);
  if (put_unknown(j, "advice", f)) return;
  ttm_json_put_rows(j, "advice");
  for (uint32_t i = 0; peak && i < peak->fixes; i++) {
    const ttm_fix *fix = &f->statements.fixes.at[peak->first_fix + i];
    ttm_json_put_object(j, NULL);
    ttm_json_put_name(j, "kind", fix->kind);
    ttm_json_put_name(j, "basis", ttm_basis_name(ttm_fix_basis(fix)));
    ttm_json_put_mib(j, "saves_per_bank_MB", fix->bytes);
    ttm_json_put_u64(j, "tensors", fix->count);
    ttm_json_put_op(j, "operation", f, ttm_findings_op(f, fix->operation));
    ttm_json_put_str(j, "text", fix->text);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

void ttm_json_put_programs(ttm_json *j, const ttm_findings *f) {
  ttm_json_put_rows(j, "programs");
  for (size_t i = 0; i < f->programs.n; i++) {
    const ttm_program_runs *program = &f->programs.at[i];
    const ttm_call *call = &f->profile->calls.at[program->call];
    const ttm_run *usual = &f->runs.at[program->usual_run];
    ttm_json_put_object(j, NULL);
    ttm_json_put_id(j, "program", f->profile, call->name);
    ttm_json_put_u64(j, "rank", ttm_rank_number(f->profile, call->rank));
    ttm_json_put_index(j, "graph", call->graph);
    ttm_json_put_u64(j, "runs", program->runs);
    ttm_json_put_u64(j, "warm_up_runs", program->warm_up);
    ttm_json_put_u64(j, "odd_runs", program->odd);
    ttm_json_put_figure(j, "peak_MB", program->peak);
    ttm_json_put_u64(j, "peak_run", f->profile->calls.at[f->runs.at[program->peak_run].call].run);
    ttm_json_put_figure(j, "last_start_MB", usual->start);
    ttm_json_put_figure(j, "last_peak_MB", usual->peak);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}
