/* SPDX-License-Identifier: Apache-2.0 */
/* <name>_findings.json: the conclusions for other programs. Keys are only ever added; schema_version changes when a
 * meaning does. "basis" tells how a number came about: "measured" (printed in the log) or "derived" (a difference of
 * two printed states). */
#include "analyze/words.h"
#include "report/files/findings_parts.h"
#include "report/files/report.h"
#include "report/files/statements_json.h"
#include "report/run/predict.h"

/* ---- Input and memories ------------------------------------------------------------------------------------------ */

/* Whoever reads the file again must know that it is still the one of the report. */
static void put_fingerprint(ttm_json *j, const ttm_fingerprint *file) {
  ttm_buf text = {0};
  if (!file->bytes) return ttm_json_put_null(j, "fingerprint");
  ttm_fingerprint_put(&text, file);
  ttm_json_put_str(j, "fingerprint", ttm_buf_str(&text));
  ttm_buf_free(&text);
}

static void put_input(ttm_json *j, const ttm_profile *p) {
  const ttm_seen *seen = &p->seen;
  ttm_json_put_object(j, "input");
  ttm_json_put_str(j, "path", ttm_profile_string(p, p->path));
  ttm_log_kind kind = !p->filled ? p->kind : seen->op_lines ? TTM_LOG_OPS : TTM_LOG_SUBMIT;
  ttm_json_put_name(j, "kind", p->predicted ? "predicted" : ttm_log_kind_name(kind));
  if (p->predicted || p->filled) ttm_json_put_bool(j, "predicted_states", true);
  ttm_json_put_u64(j, "bytes", seen->bytes);
  put_fingerprint(j, &p->file);
  ttm_json_put_u64(j, "lines", seen->lines);
  ttm_json_put_u64(j, "op_lines", seen->op_lines);
  ttm_json_put_u64(j, "blocks", p->filled ? seen->blocks : p->states.n);
  ttm_json_put_u64(j, "submit_blocks", seen->submit_blocks);
  ttm_json_put_u64(j, "deallocations", seen->deallocations);
  ttm_json_put_u64(j, "ranks", p->ranks.n);
  ttm_json_put_u64(j, "graphs", p->graphs.n);
  ttm_json_put_bool(j, "truncated", seen->cut || (seen->unfinished && !p->incidents.n));
  ttm_buf partial = {0};
  ttm_words_partial(&partial, p);
  ttm_json_put_known_str(j, "partial", ttm_buf_str(&partial));
  ttm_buf_free(&partial);
  ttm_json_put_bool(j, "trace_replay",
                    seen->trace_cache); /* replayed operations print nothing: the log cannot show them */
  ttm_json_end(j);
}

static void put_operations(ttm_json *j, const ttm_findings *f) {
  ttm_json_put_object(j, "operations");
  ttm_json_put_u64(j, "total", f->elements);
  ttm_json_put_u64(j, "weight_operations", f->weight_ops);
  ttm_json_put_object(j, "distribution");
  for (size_t i = 0; i < f->distribution.n; i++) {
    ttm_json_put_key(j, f->distribution.at[i].name);
    ttm_json_put_u64(j, NULL, f->distribution.at[i].n);
  }
  ttm_json_end(j);
  ttm_json_end(j);
}

static void put_weights(ttm_json *j, const ttm_findings *f) {
  ttm_json_put_object(j, "weights");
  ttm_json_put_u64(j, "count", f->registry.weights);
  ttm_json_put_u64(j, "bytes", f->registry.weight_bytes);
  ttm_json_put_mib(j, "MB", f->registry.weight_bytes);
  if (f->weight_demand.bytes) {
    ttm_json_put_mib(j, "on_device_MB", f->weight_demand.bytes); /* all of them, estimated by those seen there */
    ttm_json_put_bool(j, "fit_in_DRAM", f->weight_demand.bytes <= f->weight_demand.capacity);
  } else {
    ttm_json_put_null(j, "on_device_MB");
    ttm_json_put_null(j, "fit_in_DRAM");
  }
  ttm_json_end(j);
}

static void put_memories(ttm_json *j, const ttm_findings *f) {
  ttm_json_put_object(j, "memory");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    if (!ttm_profile_config(f->profile, m, &level)) {
      ttm_json_put_null(j, ttm_memory_name(m));
      continue;
    }
    ttm_json_put_object(j, ttm_memory_name(m));
    ttm_json_put_u64(j, "banks", level.banks);
    ttm_json_put_figure(j, "capacity_per_bank_MB", level.total);
    ttm_json_put_milli(j, "capacity_total_MB", (int64_t)level.total * level.banks);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

/* ---- Peaks ------------------------------------------------------------------------------------------------------- */

/* The load_cached around the const-eval program of an operation, or TTM_NONE. */
static uint32_t caller_of(const ttm_profile *p, uint32_t op) {
  uint32_t call = p->ops.at[op].call;
  return p->ops.at[op].flags & TTM_OP_CONST_EVAL && call < p->calls.n ? p->calls.at[call].caller : TTM_NONE;
}

/* What an error message says was allocated while the operation ran: more than any printed state. */
static void put_in_operation_peak(ttm_json *j, const ttm_findings *f, const ttm_peak *peak) {
  if (!peak->in_op_bytes || peak->in_op_incident >= f->profile->incidents.n)
    return ttm_json_put_null(j, "in_operation_peak");
  const ttm_incident *incident = &f->profile->incidents.at[peak->in_op_incident];
  ttm_json_put_object(j, "in_operation_peak");
  ttm_json_put_u64(j, "allocated_per_bank_B", peak->in_op_bytes);
  ttm_json_put_mib(j, "allocated_per_bank_MB", peak->in_op_bytes);
  ttm_json_put_u64(j, "incident", peak->in_op_incident);
  ttm_json_put_u64(j, "line", incident->line);
  ttm_json_put_op(j, "operation", f, incident->op);
  ttm_json_put_name(j, "basis", "measured");
  ttm_json_end(j);
}

static void put_cause(ttm_json *j, const ttm_findings *f, const ttm_peak *peak) {
  if (peak->cause == TTM_NONE) return ttm_json_put_null(j, "caused_by");
  ttm_json_put_object(j, "caused_by");
  ttm_json_put_op_members(j, f, peak->cause);
  ttm_json_put_milli(j, "effect_MB", peak->effect);
  ttm_json_put_op(j, "inside", f, caller_of(f->profile, peak->cause));
  ttm_json_put_name(j, "basis", "derived");
  ttm_json_end(j);
}

/* `devices`: NULL for a peak that is one of them. */
static void put_peak(ttm_json *j, const char *key, const ttm_findings *f, const ttm_peak *peak,
                     const ttm_device_peaks *devices) {
  const ttm_level *level = &peak->level;
  if (!peak->known) return ttm_json_put_null(j, key);
  ttm_basis basis = peak->derived ? TTM_DERIVED : ttm_words_state_basis(f->profile, peak->state);
  ttm_json_put_object(j, key);
  ttm_json_put_figure(j, "allocated_per_bank_MB", level->allocated);
  ttm_json_put_u64(j, "banks", level->banks);
  ttm_json_put_milli(j, "allocated_total_MB", (int64_t)level->allocated * level->banks);
  ttm_json_put_figure(j, "capacity_per_bank_MB", level->total);
  ttm_json_put_percent(j, "utilization_pct", level->allocated, 0, level->total);
  ttm_json_put_figure(j, "free_per_bank_MB", level->free);
  ttm_json_put_figure(j, "largest_free_per_bank_MB", level->largest);
  ttm_json_put_line(j, "line", f->profile, peak->state);
  ttm_json_put_name(j, "basis", ttm_basis_name(basis));
  if (basis == TTM_PREDICTED && !peak->printed)
    ttm_json_put_null(j, "measured_per_bank_MB");
  else
    ttm_json_put_figure(j, "measured_per_bank_MB", basis == TTM_PREDICTED ? peak->printed : peak->measured);
  ttm_json_put_bool(j, "measured_is_lower_bound", basis == TTM_DERIVED || basis == TTM_PREDICTED);
  ttm_json_put_bool(j, "lower_bound", peak->at_least);
  put_cause(j, f, peak);
  put_in_operation_peak(j, f, peak);
  if (!devices) return ttm_json_end(j);
  ttm_json_put_rows(j, "devices");
  for (uint32_t i = 0; i < devices->n && devices->n > 1; i++) put_peak(j, NULL, f, &devices->at[i], NULL);
  ttm_json_end(j);
  ttm_json_end(j);
}

static void put_peaks(ttm_json *j, const ttm_findings *f) {
  ttm_json_put_sections(j, "peak");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) put_peak(j, ttm_memory_name(m), f, &f->peak[m], &f->devices[m]);
  ttm_json_end(j);
}

/* Every change of DRAM, by who made it. */
static void put_attribution(ttm_json *j, const ttm_attribution *a) {
  if (!a->known) return ttm_json_put_null(j, "attribution");
  ttm_json_put_object(j, "attribution");
  ttm_json_put_name(j, "basis", "derived");
  ttm_json_put_milli(j, "operations_MB", a->added);
  ttm_json_put_milli(j, "const_eval_MB", a->const_eval);
  ttm_json_put_milli(j, "given_back_MB", a->given_back);
  ttm_json_put_milli(j, "deallocated_MB", a->freed);
  ttm_json_put_milli(j, "host_MB", a->host);
  ttm_json_put_milli(j, "total_MB", a->total);
  ttm_json_end(j);
}

static void put_consumer(ttm_json *j, const ttm_findings *f, ttm_memory m, const ttm_consumer *row) {
  uint32_t op = row->most.op, state = f->profile->ops.at[op].state, inside;
  uint32_t above = ttm_op_inside(f->profile, op, m, &inside);
  ttm_level before;
  bool known = state != TTM_NONE && ttm_state_level(f->profile, state, m, &before);
  ttm_json_put_object(j, NULL);
  ttm_json_put_op_members(j, f, op);
  ttm_json_put_milli(j, "effect_MB", row->most.effect);
  ttm_json_put_figure(j, "allocated_before_MB", known ? before.allocated : TTM_NONE);
  ttm_json_put_u64(j, "operations_inside", inside);
  ttm_json_put_milli(j, "highest_inside_MB", above); /* above allocated_before_MB */
  ttm_json_put_str(j, "name", row->name);
  ttm_json_put_milli(j, "total_MB", row->total); /* all places of one run */
  ttm_json_put_u64(j, "places", row->places);
  ttm_json_put_u64(j, "runs", row->runs);
  ttm_json_put_array(j, "members");
  for (uint32_t i = 0; i < row->members && row->places > 1; i++) {
    const ttm_effect *member = &f->consumers[m].members.at[row->first_member + i];
    ttm_json_put_object(j, NULL);
    ttm_json_put_op_members(j, f, member->op);
    ttm_json_put_milli(j, "effect_MB", member->effect);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_end(j);
}

/* The operations that added most, largest first. */
static void put_consumers(ttm_json *j, const ttm_findings *f) {
  ttm_json_put_sections(j, "top_consumers");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    ttm_json_put_rows(j, ttm_memory_name(m));
    for (size_t i = 0; i < f->consumers[m].n; i++) put_consumer(j, f, m, &f->consumers[m].at[i]);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

/* ---- Incidents --------------------------------------------------------------------------------------------------- */

static void put_incident_numbers(ttm_json *j, const ttm_incident_text *what) {
  ttm_json_put_known(j, "needed_per_bank_B", what->needed_per_bank);
  ttm_json_put_known(j, "free_per_bank_B", what->free_per_bank);
  ttm_json_put_known(j, "largest_free_block_B", what->largest_free_block);
  ttm_json_put_known(j, "bank_size_B", what->bank_size);
  ttm_json_put_known(j, "allocated_per_bank_B", what->allocated_per_bank);
  ttm_json_put_known(j, "buffer_B", what->size);
  ttm_json_put_known(j, "banks", what->banks);
  if (what->kind >= TTM_INCIDENT_L1_BUFFERS) ttm_json_put_known(j, "limit_B", what->limit);
  if (what->window != TTM_UNKNOWN) {
    ttm_json_put_u64(j, "placeable_per_bank_B", what->placeable);
    ttm_json_put_u64(j, "largest_window_B", what->window);
  }
  if (what->kind != TTM_INCIDENT_L1_CLASH && what->kind != TTM_INCIDENT_L1_OVERFLOW) return;
  ttm_json_put_known(j, "program", what->program);
  ttm_json_put_known(j, "l1_buffer_at", what->l1_buffer_at);
  ttm_json_put_known(j, "static_buffers_end", what->buffers_end);
  ttm_json_put_known(j, "l1_size_B", what->l1_size);
  ttm_json_put_known_str(j, "core_range", what->core_range);
}

/* The fixes of the failure's statement under their old name, which goes with the next version. */
static void put_ways(ttm_json *j, const ttm_statements *all, size_t i) {
  const ttm_statement *s = ttm_statements_of_incident(all, (uint32_t)i);
  ttm_json_put_array(j, "ways");
  for (uint32_t w = 0; s && w < s->fixes; w++) {
    const ttm_fix *fix = &all->fixes.at[s->first_fix + w];
    ttm_json_put_object(j, NULL);
    ttm_json_put_name(j, "kind", fix->kind);
    ttm_json_put_name(j, "basis", ttm_basis_name(ttm_fix_basis(fix)));
    ttm_json_put_u64(j, "bytes", fix->bytes);
    if (fix->count) ttm_json_put_u64(j, "count", fix->count);
    ttm_json_put_str(j, "text", fix->text);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

/* The tensors that a program's buffers clashed with, lowest first; empty when the input does not tell. */
static void put_obstacles(ttm_json *j, const ttm_findings *f, const ttm_obstacles *all) {
  ttm_json_put_array(j, "in_the_way");
  for (size_t i = 0; i < all->n && i < TTM_OBSTACLES; i++) {
    const ttm_obstacle *o = &all->at[i];
    ttm_buf type = {0};
    if (o->type != TTM_NONE) ttm_words_type(&type, f->profile, o->type, TTM_FORM_UTF8);
    ttm_json_put_object(j, NULL);
    ttm_json_put_op(j, "operation", f, o->op);
    ttm_json_put_words(j, "type", &type);
    ttm_json_put_u64(j, "address", o->at);
    ttm_json_put_u64(j, "per_core_B", o->bytes);
    ttm_json_put_bool(j, "needed", o->needed);
    ttm_json_put_name(j, "basis", ttm_basis_name(all->basis));
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_incident(ttm_json *j, const ttm_findings *f, size_t i) {
  const ttm_incident_finding *finding = &f->incidents.at[i];
  const ttm_incident *incident = &f->profile->incidents.at[finding->incident];
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "kind", ttm_incident_kind_name(incident->what.kind));
  if (incident->what.about) ttm_json_put_name(j, "about", ttm_incident_about_name(incident->what.about));
  ttm_json_put_u64(j, "line", incident->line);
  ttm_json_put_u64(j, "copies", incident->copies);
  ttm_json_put_u64(j, "rank", ttm_rank_number(f->profile, incident->rank));
  ttm_json_put_str(j, "text", incident->what.text);
  ttm_json_put_known_str(j, "memory", incident->what.memory);
  put_incident_numbers(j, &incident->what);
  ttm_json_put_name(j, "verdict", ttm_verdict_name(finding->verdict));
  ttm_json_put_known(j, "shortfall_per_bank_B", finding->shortfall);
  ttm_json_put_op(j, "operation", f, incident->op);
  ttm_json_put_id(j, "place", f->profile, incident->place);
  if (incident->what.kind == TTM_INCIDENT_L1_CLASH) put_obstacles(j, f, &finding->obstacles);
  put_ways(j, &f->statements, i);
  ttm_json_end(j);
}

static void put_incidents(ttm_json *j, ttm_out *out, const ttm_findings *f) {
  ttm_json_put_rows(j, "incidents");
  for (size_t i = 0; i < f->incidents.n; i++) {
    put_incident(j, f, i);
    ttm_out_flow(out);
  }
  ttm_json_end(j);
}

/* ---- Runs and leaks ---------------------------------------------------------------------------------------------- */

static uint32_t index_of(const ttm_findings *f, uint32_t op) {
  return op == TTM_NONE ? TTM_NONE : ttm_findings_index(f, op);
}

static void put_run(ttm_json *j, const ttm_findings *f, const ttm_run *run) {
  const ttm_call *call = &f->profile->calls.at[run->call];
  ttm_json_put_object(j, NULL);
  ttm_json_put_u64(j, "run", call->run);
  ttm_json_put_u64(j, "rank", ttm_rank_number(f->profile, call->rank));
  ttm_json_put_id(j, "program", f->profile, call->name);
  ttm_json_put_index(j, "graph", call->graph);
  ttm_json_put_index(j, "first_index", index_of(f, run->first_op));
  ttm_json_put_index(j, "last_index", index_of(f, run->last_op));
  ttm_json_put_u64(j, "first_line", call->first_line);
  ttm_json_put_u64(j, "last_line", call->last_line);
  ttm_json_put_figure(j, "start_MB", run->start);
  ttm_json_put_figure(j, "end_MB", run->end);
  ttm_json_put_figure(j, "peak_MB", run->peak);
  ttm_json_put_bool(j, "finished", call->finished);
  ttm_json_end(j);
}

static void put_runs(ttm_json *j, ttm_out *out, const ttm_findings *f) {
  ttm_json_put_rows(j, "runs");
  for (size_t i = 0; i < f->runs.n; i++) {
    put_run(j, f, &f->runs.at[i]);
    ttm_out_flow(out);
  }
  ttm_json_end(j);
}

static void put_culprits(ttm_json *j, const ttm_findings *f, const ttm_culprits *culprits) {
  ttm_json_put_bool(j, "others_would_fit", culprits->several);
  ttm_json_put_array(j, "culprits");
  for (uint32_t i = 0; i < culprits->n; i++) {
    ttm_json_put_object(j, NULL);
    ttm_json_put_op_members(j, f, culprits->at[i].op);
    ttm_json_put_u64(j, "tensors_per_run", culprits->at[i].tensors);
    ttm_json_put_mib(j, "per_run_MB", culprits->at[i].bank_bytes);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_leaks(ttm_json *j, const ttm_findings *f) {
  ttm_json_put_rows(j, "leaks");
  for (size_t i = 0; i < f->leaks.n; i++) {
    const ttm_leak *leak = &f->leaks.at[i];
    const ttm_call *first = &f->profile->calls.at[f->runs.at[leak->first_run].call];
    const ttm_call *last = &f->profile->calls.at[f->runs.at[leak->last_run].call];
    ttm_json_put_object(j, NULL);
    ttm_json_put_milli(j, "per_run_MB", (int64_t)leak->per_run);
    ttm_json_put_u64(j, "runs_seen", leak->runs_seen);
    ttm_json_put_known(j, "runs_until_full", leak->runs_left);
    ttm_json_put_name(j, "basis", "derived");
    ttm_json_put_id(j, "program", f->profile, first->name);
    if (leak->round) ttm_json_put_bool(j, "round", true);
    ttm_json_put_u64(j, "rank", ttm_rank_number(f->profile, first->rank));
    ttm_json_put_u64(j, "first_run", first->run);
    ttm_json_put_u64(j, "last_run", last->run);
    ttm_json_put_u64(j, "first_line", first->first_line);
    ttm_json_put_u64(j, "last_line", last->first_line);
    ttm_json_put_op_members(j, f, leak->op);
    put_culprits(j, f, &leak->culprits);
    ttm_json_put_name(j, "confidence", leak->confidence);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

/* ---- Padding and diagnostics ------------------------------------------------------------------------------------- */

static void put_sizes(ttm_json *j, uint64_t logical, uint64_t stored) {
  ttm_json_put_mib(j, "unpadded_MB", logical);
  ttm_json_put_mib(j, "padded_MB", stored);
  ttm_json_put_mib_diff(j, "overhead_MB", stored, logical);
  ttm_json_put_percent(j, "overhead_pct", stored, logical, logical);
}

/* The operations behind a row that stands for several. */
static void put_padding_members(ttm_json *j, const ttm_findings *f, const ttm_padding_row *row) {
  uint32_t left = row->places > 1 ? TTM_CONSUMER_MEMBERS : 0;
  ttm_json_put_array(j, "members");
  for (size_t i = 0; i < f->padding_places.n && left; i++) {
    if (f->padding_places.at[i].group != row->group) continue;
    ttm_json_put_op(j, NULL, f, f->padding_places.at[i].op);
    left--;
  }
  ttm_json_end(j);
}

static void put_padding(ttm_json *j, const ttm_findings *f) {
  ttm_json_put_object(j, "padding");
  ttm_json_put_object(j, "at_peak");
  put_sizes(j, f->alive_at_peak.logical_bytes, f->alive_at_peak.stored_bytes);
  ttm_json_put_u64(j, "tensors", f->alive_at_peak.tensors);
  ttm_json_end(j);
  ttm_json_put_double(j, "highest_overhead_pct", f->padding_peak_pct);
  ttm_json_put_rows(j, "top");
  for (size_t i = 0; i < f->padding.n; i++) {
    const ttm_padding_row *row = &f->padding.at[i];
    ttm_json_put_object(j, NULL);
    ttm_json_put_op_members(j, f, row->op);
    ttm_json_put_u64(j, "result", row->result);
    ttm_json_put_tensor_type(j, ttm_op_text_output(f->profile, ttm_op_text_of(f->profile, row->op), row->result));
    put_sizes(j, row->logical_bytes, row->stored_bytes);
    ttm_json_put_u64(j, "times", row->times);
    ttm_json_put_u64(j, "places", row->places);
    ttm_json_put_str(j, "name", row->name);
    put_padding_members(j, f, row);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_end(j);
}

static void put_diagnostics(ttm_json *j, const ttm_profile *p) {
  const ttm_seen *seen = &p->seen;
  ttm_json_put_object(j, "diagnostics");
  ttm_json_put_u64(j, "unparsed_lines", seen->bad_op_lines + seen->bad_blocks);
  ttm_json_put_u64(j, "skipped_operations", seen->bad_op_lines);
  ttm_json_put_u64(j, "bad_memory_lines", seen->bad_blocks);
  ttm_json_put_u64(j, "blocks_without_operation", seen->unpaired);
  ttm_json_put_u64(j, "unfinished_programs", seen->unfinished);
  ttm_json_put_u64(j, "retained_deallocations", seen->retained);
  ttm_json_put_rows(j, "notes");
  for (uint32_t i = 0; i < seen->note_count && i < TTM_KEPT_NOTES; i++) {
    ttm_json_put_object(j, NULL);
    ttm_json_put_u64(j, "line", seen->notes[i].line);
    ttm_json_put_str(j, "text", ttm_profile_string(p, seen->notes[i].text));
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_end(j);
}

/* What a program needs that did not finish, or never ran. */
static int put_whole_need(ttm_json *j, const ttm_findings *f) {
  const ttm_prediction *all = &f->prediction;
  if (!all->programs.n) return TTM_OK;
  const ttm_program_need *whole = all->programs.at[all->whole];
  return ttm_json_put_need(j, whole, &whole->boards[whole->home - ttm_boards]);
}

int ttm_report_findings_json(const ttm_findings *f, ttm_out *out, ttm_error *err) {
  ttm_json j = {.out = &out->buf};
  ttm_json_put_sections(&j, NULL);
  ttm_json_put_u64(&j, "schema_version", TTM_FINDINGS_SCHEMA);
  put_input(&j, f->profile);
  put_operations(&j, f);
  put_weights(&j, f);
  put_memories(&j, f);
  put_peaks(&j, f);
  put_attribution(&j, &f->attribution);
  put_consumers(&j, f);
  put_incidents(&j, out, f);
  if (put_whole_need(&j, f)) return ttm_error_nomem(err);
  ttm_json_put_recording(&j, f);
  put_runs(&j, out, f);
  ttm_json_put_programs(&j, f);
  put_leaks(&j, f);
  put_padding(&j, f);
  ttm_json_put_live_at_peak(&j, f);
  ttm_json_put_late_frees(&j, f);
  ttm_json_put_fragmentation(&j, f);
  ttm_json_put_blocks(&j, f);
  ttm_json_put_waste_at_peak(&j, f);
  ttm_json_put_layers(&j, f);
  ttm_json_put_compiler(&j, f);
  ttm_json_put_device_time(&j, f);
  ttm_json_put_advice(&j, f);
  ttm_json_put_statements(&j, &f->statements);
  put_diagnostics(&j, f->profile);
  ttm_json_end(&j);
  return ttm_json_finish(&j) ? ttm_error_nomem(err) : TTM_OK;
}

int ttm_findings_json(const ttm_findings *f, char **out, size_t *n, ttm_error *err) {
  ttm_out memory = ttm_out_memory();
  ttm_buf *buf = &memory.buf;
  int status = ttm_report_findings_json(f, &memory, err);
  ttm_buf_char(buf, '\0');
  if (!status && buf->failed) status = ttm_error_nomem(err);
  if (!status) {
    *n = buf->n - 1;
    *out = buf->at;
    *buf = (ttm_buf){0};
  }
  ttm_out_abandon(&memory);
  return status;
}
