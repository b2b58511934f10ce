/* SPDX-License-Identifier: Apache-2.0 */
/* <name>_findings.json: the conclusions for other programs. Keys are only ever added; schema_version changes when a
 * meaning does. "basis" tells how a number came about: "measured" (printed in the log) or "derived" (a difference of
 * two printed states). */
#include "analyze/words.h"
#include "report/files/findings_parts.h"
#include "report/files/report.h"
#include "report/run/recording.h"
#include "report/run/ways_words.h"

/* ---- Input and memories ------------------------------------------------------------------------------------------ */

static const char *log_kind_name(ttm_log_kind kind) {
  switch (kind) {
    case TTM_LOG_FULL:
      return "\"full\"";
    case TTM_LOG_BLOCKS:
      return "\"blocks\"";
    case TTM_LOG_OPS:
      return "\"ops\"";
    case TTM_LOG_SUBMIT:
      return "\"submit\"";
    case TTM_LOG_CAPTURE:
      return "\"capture\"";
    case TTM_LOG_LIVE:
      return "\"live\"";
    case TTM_LOG_INCIDENTS:
      return "\"incidents\"";
    case TTM_LOG_NONE:
      break;
  }
  return "null";
}

static void put_input(ttm_buf *buf, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  const ttm_seen *seen = &p->seen;
  ttm_json_raw(buf, "\"input\":{\"path\":");
  ttm_json_string(buf, ttm_profile_string(p, p->path));
  ttm_json_raw(buf, ",\"kind\":");
  ttm_buf_puts(buf, log_kind_name(p->kind));
  ttm_json_key_u64(buf, ",\"bytes\":", seen->bytes);
  ttm_json_key_u64(buf, ",\"lines\":", seen->lines);
  ttm_json_key_u64(buf, ",\"op_lines\":", seen->op_lines);
  ttm_json_key_u64(buf, ",\"blocks\":", p->states.n);
  ttm_json_key_u64(buf, ",\"submit_blocks\":", seen->submit_blocks);
  ttm_json_key_u64(buf, ",\"deallocations\":", seen->deallocations);
  ttm_json_key_u64(buf, ",\"ranks\":", p->ranks.n);
  ttm_json_key_u64(buf, ",\"graphs\":", p->graphs.n);
  ttm_json_raw(buf, ",\"truncated\":");
  ttm_json_bool(buf, seen->cut || (seen->unfinished && !p->incidents.n));
  ttm_json_raw(buf, ",\"trace_replay\":"); /* replayed operations print nothing: the log cannot show them */
  ttm_json_bool(buf, seen->trace_cache);
  ttm_json_raw(buf, "},\n\"operations\":{");
  ttm_json_key_u64(buf, "\"total\":", f->elements);
  ttm_json_key_u64(buf, ",\"weight_operations\":", f->weight_ops);
  ttm_json_raw(buf, ",\"distribution\":{");
  for (size_t i = 0; i < f->distribution.n; i++) {
    if (i) ttm_buf_char(buf, ',');
    ttm_json_string(buf, f->distribution.at[i].name);
    ttm_json_key_u64(buf, ":", f->distribution.at[i].n);
  }
  ttm_json_raw(buf, "}},\n\"weights\":{");
  ttm_json_key_u64(buf, "\"count\":", f->registry.weights);
  ttm_json_key_u64(buf, ",\"bytes\":", f->registry.weight_bytes);
  ttm_json_key_mib(buf, ",\"MB\":", f->registry.weight_bytes);
  ttm_json_raw(buf, ",\"on_device_MB\":"); /* all of them, estimated by those seen there */
  if (f->weight_demand.bytes)
    ttm_json_mib(buf, f->weight_demand.bytes);
  else
    ttm_json_null(buf);
  ttm_json_raw(buf, ",\"fit_in_DRAM\":");
  if (f->weight_demand.bytes)
    ttm_json_bool(buf, f->weight_demand.bytes <= f->weight_demand.capacity);
  else
    ttm_json_null(buf);
  ttm_buf_char(buf, '}');
}

static void put_memories(ttm_buf *buf, const ttm_findings *f) {
  ttm_json_raw(buf, ",\n\"memory\":{");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    if (m) ttm_buf_char(buf, ',');
    ttm_json_memory_key(buf, m);
    if (!ttm_profile_config(f->profile, m, &level)) {
      ttm_json_null(buf);
      continue;
    }
    ttm_json_key_u64(buf, "{\"banks\":", level.banks);
    ttm_json_key_milli(buf, ",\"capacity_per_bank_MB\":", level.total);
    ttm_json_raw(buf, ",\"capacity_total_MB\":");
    ttm_json_milli(buf, (int64_t)level.total * level.banks);
    ttm_buf_char(buf, '}');
  }
  ttm_buf_char(buf, '}');
}

/* ---- Peaks ------------------------------------------------------------------------------------------------------- */

/* The load_cached around the const-eval program of an operation, or TTM_NONE. */
static uint32_t caller_of(const ttm_profile *p, uint32_t op) {
  uint32_t call = p->ops.at[op].call;
  return p->ops.at[op].flags & TTM_OP_CONST_EVAL && call < p->calls.n ? p->calls.at[call].caller : TTM_NONE;
}

/* What an error message says was allocated while the operation ran: more than any printed state. */
static void put_in_operation_peak(ttm_buf *buf, const ttm_findings *f, const ttm_peak *peak) {
  ttm_json_raw(buf, ",\"in_operation_peak\":");
  if (!peak->in_op_bytes || peak->in_op_incident >= f->profile->incidents.n) {
    ttm_json_null(buf);
    return;
  }
  const ttm_incident *incident = &f->profile->incidents.at[peak->in_op_incident];
  ttm_json_key_u64(buf, "{\"allocated_per_bank_B\":", peak->in_op_bytes);
  ttm_json_key_mib(buf, ",\"allocated_per_bank_MB\":", peak->in_op_bytes);
  ttm_json_key_u64(buf, ",\"incident\":", peak->in_op_incident);
  ttm_json_key_u64(buf, ",\"line\":", incident->line);
  ttm_json_key_op(buf, f, ",\"operation\":", incident->op);
  ttm_json_raw(buf, ",\"basis\":\"measured\"}");
}

static void put_peak(ttm_buf *buf, const ttm_findings *f, const ttm_peak *peak) {
  const ttm_level *level = &peak->level;
  ttm_json_key_milli(buf, "{\"allocated_per_bank_MB\":", level->allocated);
  ttm_json_key_u64(buf, ",\"banks\":", level->banks);
  ttm_json_raw(buf, ",\"allocated_total_MB\":");
  ttm_json_milli(buf, (int64_t)level->allocated * level->banks);
  ttm_json_raw(buf, ",\"utilization_pct\":");
  ttm_json_percent(buf, level->allocated, 0, level->total);
  ttm_json_key_milli(buf, ",\"free_per_bank_MB\":", level->free);
  ttm_json_key_milli(buf, ",\"largest_free_per_bank_MB\":", level->largest);
  ttm_json_key_known(buf, ",\"line\":", peak->state == TTM_NONE ? UINT64_MAX : f->profile->states.at[peak->state].line);
  ttm_buf_printf(buf, ",\"basis\":\"%s\",\"caused_by\":", ttm_basis_name(ttm_words_state_basis(f->profile)));
  if (peak->cause == TTM_NONE) {
    ttm_json_null(buf);
  } else {
    ttm_buf_char(buf, '{');
    ttm_json_op_members(buf, f, peak->cause);
    ttm_json_raw(buf, ",\"effect_MB\":");
    ttm_json_milli(buf, peak->effect);
    ttm_json_key_op(buf, f, ",\"inside\":", caller_of(f->profile, peak->cause));
    ttm_json_raw(buf, ",\"basis\":\"derived\"}");
  }
  put_in_operation_peak(buf, f, peak);
  ttm_buf_char(buf, '}');
}

static void put_peaks(ttm_buf *buf, const ttm_findings *f) {
  ttm_json_raw(buf, ",\n\"peak\":{");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    ttm_buf_put(buf, m ? TTM_LIT(",\n") : TTM_LIT("\n"));
    ttm_json_memory_key(buf, m);
    if (f->peak[m].known)
      put_peak(buf, f, &f->peak[m]);
    else
      ttm_json_null(buf);
  }
  ttm_buf_char(buf, '}');
}

/* Every change of DRAM, by who made it. */
static void put_attribution(ttm_buf *buf, const ttm_findings *f) {
  const ttm_attribution *a = &f->attribution;
  const struct {
    const char *key;
    int64_t change;
  } parts[] = {{"operations_MB", a->added},
               {"const_eval_MB", a->const_eval},
               {"given_back_MB", a->given_back},
               {"deallocated_MB", a->freed},
               {"host_MB", a->host},
               {"total_MB", a->total}};
  if (!a->known) return ttm_json_raw(buf, ",\n\"attribution\":null");
  ttm_json_raw(buf, ",\n\"attribution\":{\"basis\":\"derived\"");
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    ttm_buf_printf(buf, ",\"%s\":", parts[i].key);
    ttm_json_milli(buf, parts[i].change);
  }
  ttm_buf_char(buf, '}');
}

/* The operations that added most, largest first. */
static void put_consumers(ttm_buf *buf, const ttm_findings *f) {
  ttm_json_raw(buf, ",\n\"top_consumers\":{");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    ttm_buf_put(buf, m ? TTM_LIT(",\n") : TTM_LIT("\n"));
    ttm_json_memory_key(buf, m);
    ttm_buf_char(buf, '[');
    for (int i = 0; i < TTM_TOP && f->top[m][i].op != TTM_NONE; i++) {
      uint32_t op = f->top[m][i].op;
      ttm_level before;
      ttm_buf_put(buf, i ? TTM_LIT(",\n{") : TTM_LIT("\n{"));
      ttm_json_op_members(buf, f, op);
      ttm_json_raw(buf, ",\"effect_MB\":");
      ttm_json_milli(buf, f->top[m][i].effect);
      ttm_json_raw(buf, ",\"allocated_before_MB\":");
      uint32_t state = f->profile->ops.at[op].state;
      if (state != TTM_NONE && ttm_state_level(f->profile, state, m, &before))
        ttm_json_milli(buf, before.allocated);
      else
        ttm_json_null(buf);
      uint32_t inside, above = ttm_op_inside(f->profile, op, m, &inside);
      ttm_json_key_u64(buf, ",\"operations_inside\":", inside);
      ttm_json_raw(buf, ",\"highest_inside_MB\":"); /* above allocated_before_MB */
      ttm_json_milli(buf, above);
      ttm_buf_char(buf, '}');
    }
    ttm_buf_char(buf, ']');
  }
  ttm_buf_char(buf, '}');
}

/* ---- Incidents --------------------------------------------------------------------------------------------------- */

static void put_text_or_null(ttm_buf *buf, ttm_str text) {
  if (text.n)
    ttm_json_string(buf, text);
  else
    ttm_json_null(buf);
}

static void put_incident_numbers(ttm_buf *buf, const ttm_incident_text *what) {
  ttm_json_key_known(buf, ",\"needed_per_bank_B\":", what->needed_per_bank);
  ttm_json_key_known(buf, ",\"free_per_bank_B\":", what->free_per_bank);
  ttm_json_key_known(buf, ",\"largest_free_block_B\":", what->largest_free_block);
  ttm_json_key_known(buf, ",\"bank_size_B\":", what->bank_size);
  ttm_json_key_known(buf, ",\"allocated_per_bank_B\":", what->allocated_per_bank);
  ttm_json_key_known(buf, ",\"buffer_B\":", what->size);
  ttm_json_key_known(buf, ",\"banks\":", what->banks);
  if (what->kind != TTM_INCIDENT_L1_CLASH && what->kind != TTM_INCIDENT_L1_OVERFLOW) return;
  ttm_json_key_known(buf, ",\"program\":", what->program);
  ttm_json_key_known(buf, ",\"l1_buffer_at\":", what->l1_buffer_at);
  ttm_json_key_known(buf, ",\"static_buffers_end\":", what->buffers_end);
  ttm_json_key_known(buf, ",\"l1_size_B\":", what->l1_size);
  ttm_json_raw(buf, ",\"core_range\":");
  put_text_or_null(buf, what->core_range);
}

/* "ways": the smallest changes that would have been enough, cheapest first. */
static void put_ways(ttm_buf *buf, const ttm_findings *f, size_t i, const ttm_incident *incident) {
  ttm_ways ways;
  ttm_ways_find(&ways, f, i);
  ttm_json_raw(buf, ",\"ways\":[");
  for (size_t w = 0; w < ways.n; w++) {
    const ttm_way *way = &ways.at[w];
    ttm_buf words = {0};
    ttm_words_way(&words, way, incident);
    ttm_buf_printf(buf, "%s{\"kind\":\"%s\",\"basis\":\"%s\"", w ? "," : "", ttm_way_name(way->kind),
                   ttm_basis_name(way->basis));
    ttm_json_key_u64(buf, ",\"bytes\":", way->bytes);
    if (way->count) ttm_json_key_u64(buf, ",\"count\":", way->count);
    ttm_json_raw(buf, ",\"text\":");
    ttm_json_string(buf, ttm_buf_str(&words));
    ttm_buf_char(buf, '}');
    buf->failed |= words.failed;
    ttm_buf_free(&words);
  }
  ttm_buf_char(buf, ']');
}

static void put_incident(ttm_buf *buf, const ttm_findings *f, size_t i) {
  const ttm_incident_finding *finding = &f->incidents.at[i];
  const ttm_incident *incident = &f->profile->incidents.at[finding->incident];
  const char *verdict = ttm_verdict_name(finding->verdict);
  ttm_buf_printf(buf, "{\"kind\":\"%s\"", ttm_incident_kind_name(incident->what.kind));
  ttm_json_key_u64(buf, ",\"line\":", incident->line);
  ttm_json_key_u64(buf, ",\"copies\":", incident->copies);
  ttm_json_key_u64(buf, ",\"rank\":", ttm_rank_number(f->profile, incident->rank));
  ttm_json_raw(buf, ",\"text\":");
  ttm_json_string(buf, incident->what.text);
  ttm_json_raw(buf, ",\"memory\":");
  put_text_or_null(buf, incident->what.memory);
  put_incident_numbers(buf, &incident->what);
  ttm_json_raw(buf, ",\"verdict\":");
  put_text_or_null(buf, ttm_str_of(verdict));
  ttm_json_key_known(buf, ",\"shortfall_per_bank_B\":", finding->shortfall);
  ttm_json_key_op(buf, f, ",\"operation\":", incident->op);
  put_ways(buf, f, i, incident);
  ttm_buf_char(buf, '}');
}

static void put_incidents(ttm_out *out, const ttm_findings *f) {
  ttm_json_raw(&out->buf, ",\n\"incidents\":[");
  for (size_t i = 0; i < f->incidents.n; i++) {
    ttm_buf_put(&out->buf, i ? TTM_LIT(",\n") : TTM_LIT("\n"));
    put_incident(&out->buf, f, i);
    ttm_out_flow(out);
  }
  ttm_buf_char(&out->buf, ']');
}

/* ---- Runs and leaks ---------------------------------------------------------------------------------------------- */

static void put_index(ttm_buf *buf, const ttm_findings *f, const char *key, uint32_t op) {
  uint32_t index = op == TTM_NONE ? TTM_NONE : ttm_findings_index(f, op);
  ttm_json_key_known(buf, key, index == TTM_NONE ? UINT64_MAX : index);
}

static void put_runs(ttm_out *out, const ttm_findings *f) {
  ttm_buf *buf = &out->buf;
  ttm_json_raw(buf, ",\n\"runs\":[");
  for (size_t i = 0; i < f->runs.n; i++) {
    const ttm_run *run = &f->runs.at[i];
    const ttm_call *call = &f->profile->calls.at[run->call];
    ttm_buf_put(buf, i ? TTM_LIT(",\n") : TTM_LIT("\n"));
    ttm_json_key_u64(buf, "{\"run\":", call->run);
    ttm_json_key_u64(buf, ",\"rank\":", ttm_rank_number(f->profile, call->rank));
    ttm_json_raw(buf, ",\"program\":");
    ttm_json_id(buf, f->profile, call->name);
    ttm_json_key_known(buf, ",\"graph\":", call->graph == TTM_NONE ? UINT64_MAX : call->graph);
    put_index(buf, f, ",\"first_index\":", run->first_op);
    put_index(buf, f, ",\"last_index\":", run->last_op);
    ttm_json_key_u64(buf, ",\"first_line\":", call->first_line);
    ttm_json_key_u64(buf, ",\"last_line\":", call->last_line);
    ttm_json_key_milli(buf, ",\"start_MB\":", run->start);
    ttm_json_key_milli(buf, ",\"end_MB\":", run->end);
    ttm_json_key_milli(buf, ",\"peak_MB\":", run->peak);
    ttm_json_raw(buf, ",\"finished\":");
    ttm_json_bool(buf, call->finished);
    ttm_buf_char(buf, '}');
    ttm_out_flow(out);
  }
  ttm_buf_char(buf, ']');
}

static void put_culprits(ttm_buf *buf, const ttm_findings *f, const ttm_culprits *culprits) {
  ttm_json_raw(buf, ",\"others_would_fit\":");
  ttm_json_bool(buf, culprits->several);
  ttm_json_raw(buf, ",\"culprits\":[");
  for (uint32_t i = 0; i < culprits->n; i++) {
    ttm_buf_puts(buf, i ? ",{" : "{");
    ttm_json_op_members(buf, f, culprits->at[i].op);
    ttm_json_key_u64(buf, ",\"tensors_per_run\":", culprits->at[i].tensors);
    ttm_json_key_mib(buf, ",\"per_run_MB\":", culprits->at[i].bank_bytes);
    ttm_buf_char(buf, '}');
  }
  ttm_buf_char(buf, ']');
}

static void put_leaks(ttm_buf *buf, const ttm_findings *f) {
  ttm_json_raw(buf, ",\n\"leaks\":[");
  for (size_t i = 0; i < f->leaks.n; i++) {
    const ttm_leak *leak = &f->leaks.at[i];
    const ttm_call *first = &f->profile->calls.at[f->runs.at[leak->first_run].call];
    const ttm_call *last = &f->profile->calls.at[f->runs.at[leak->last_run].call];
    ttm_buf_put(buf, i ? TTM_LIT(",\n{\"per_run_MB\":") : TTM_LIT("\n{\"per_run_MB\":"));
    ttm_json_milli(buf, (int64_t)leak->per_run);
    ttm_json_key_u64(buf, ",\"runs_seen\":", leak->runs_seen);
    ttm_json_key_known(buf, ",\"runs_until_full\":", leak->runs_left);
    ttm_json_raw(buf, ",\"basis\":\"derived\",\"program\":");
    ttm_json_id(buf, f->profile, first->name);
    ttm_json_key_u64(buf, ",\"rank\":", ttm_rank_number(f->profile, first->rank));
    ttm_json_key_u64(buf, ",\"first_run\":", first->run);
    ttm_json_key_u64(buf, ",\"last_run\":", last->run);
    ttm_json_key_u64(buf, ",\"first_line\":", first->first_line);
    ttm_json_key_u64(buf, ",\"last_line\":", last->first_line);
    ttm_buf_char(buf, ',');
    if (leak->op == TTM_NONE)
      ttm_json_raw(buf, "\"index\":null,\"mlir_op\":null,\"loc\":null,\"line\":null");
    else
      ttm_json_op_members(buf, f, leak->op);
    put_culprits(buf, f, &leak->culprits);
    ttm_json_raw(buf, ",\"confidence\":");
    put_text_or_null(buf, ttm_str_of(leak->confidence));
    ttm_buf_char(buf, '}');
  }
  ttm_buf_char(buf, ']');
}

/* ---- Padding and diagnostics ------------------------------------------------------------------------------------- */

static void put_sizes(ttm_buf *buf, uint64_t logical, uint64_t stored) {
  ttm_json_raw(buf, "\"unpadded_MB\":");
  ttm_json_mib(buf, logical);
  ttm_json_key_mib(buf, ",\"padded_MB\":", stored);
  ttm_json_raw(buf, ",\"overhead_MB\":");
  ttm_json_mib_diff(buf, stored, logical);
  ttm_json_raw(buf, ",\"overhead_pct\":");
  ttm_json_percent(buf, stored, logical, logical);
}

static void put_padding_row(ttm_buf *buf, const ttm_findings *f, const ttm_padding_row *row) {
  const ttm_tensor_type *type = ttm_op_text_output(f->profile, ttm_op_text_of(f->profile, row->op), row->result);
  ttm_buf_char(buf, '{');
  ttm_json_op_members(buf, f, row->op);
  ttm_json_key_u64(buf, ",\"result\":", row->result);
  ttm_json_raw(buf, ",\"shape\":");
  if (type)
    ttm_json_shape(buf, &type->shape);
  else
    ttm_json_null(buf);
  ttm_json_raw(buf, ",\"dtype\":");
  if (type)
    ttm_json_string(buf, type->element);
  else
    ttm_json_null(buf);
  ttm_buf_char(buf, ',');
  put_sizes(buf, row->logical_bytes, row->stored_bytes);
  ttm_json_key_u64(buf, ",\"times\":", row->times);
  ttm_buf_char(buf, '}');
}

static void put_padding(ttm_buf *buf, const ttm_findings *f) {
  ttm_json_raw(buf, ",\n\"padding\":{\"at_peak\":{");
  put_sizes(buf, f->alive_at_peak.logical_bytes, f->alive_at_peak.stored_bytes);
  ttm_json_key_u64(buf, ",\"tensors\":", f->alive_at_peak.tensors);
  ttm_json_raw(buf, "},\"highest_overhead_pct\":");
  ttm_json_double(buf, f->padding_peak_pct);
  ttm_json_raw(buf, ",\"top\":[");
  for (size_t i = 0; i < f->padding.n; i++) {
    ttm_buf_put(buf, i ? TTM_LIT(",\n") : TTM_LIT("\n"));
    put_padding_row(buf, f, &f->padding.at[i]);
  }
  ttm_json_raw(buf, "]}");
}

static void put_diagnostics(ttm_buf *buf, const ttm_profile *p) {
  const ttm_seen *seen = &p->seen;
  ttm_json_key_u64(buf, ",\n\"diagnostics\":{\"unparsed_lines\":", seen->bad_op_lines + seen->bad_blocks);
  ttm_json_key_u64(buf, ",\"skipped_operations\":", seen->bad_op_lines);
  ttm_json_key_u64(buf, ",\"bad_memory_lines\":", seen->bad_blocks);
  ttm_json_key_u64(buf, ",\"blocks_without_operation\":", seen->unpaired);
  ttm_json_key_u64(buf, ",\"unfinished_programs\":", seen->unfinished);
  ttm_json_key_u64(buf, ",\"retained_deallocations\":", seen->retained);
  ttm_json_raw(buf, ",\"notes\":[");
  for (uint32_t i = 0; i < seen->note_count && i < TTM_KEPT_NOTES; i++) {
    ttm_json_key_u64(buf, i ? ",\n{\"line\":" : "\n{\"line\":", seen->notes[i].line);
    ttm_json_raw(buf, ",\"text\":");
    ttm_json_string(buf, ttm_profile_string(p, seen->notes[i].text));
    ttm_buf_char(buf, '}');
  }
  ttm_json_raw(buf, "]}");
}

int ttm_report_findings_json(const ttm_findings *f, ttm_out *out, ttm_error *err) {
  ttm_buf *buf = &out->buf;
  ttm_buf_printf(buf, "{\"schema_version\":%d,\n", TTM_FINDINGS_SCHEMA);
  put_input(buf, f);
  put_memories(buf, f);
  put_peaks(buf, f);
  put_attribution(buf, f);
  put_consumers(buf, f);
  put_incidents(out, f);
  if (ttm_json_recording(buf, f)) return ttm_error_nomem(err);
  put_runs(out, f);
  ttm_json_programs(buf, f);
  put_leaks(buf, f);
  put_padding(buf, f);
  ttm_json_live_sets(buf, f);
  ttm_json_lifetimes(buf, f);
  ttm_json_fragmentation(buf, f);
  ttm_json_wastes(buf, f);
  ttm_json_layers(buf, f);
  ttm_json_advices(buf, f);
  put_diagnostics(buf, f->profile);
  ttm_json_raw(buf, "}\n");
  return buf->failed ? ttm_error_nomem(err) : TTM_OK;
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
