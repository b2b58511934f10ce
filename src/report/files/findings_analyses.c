/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetimes, fragmentation, waste, layers and advice in findings.json. */
#include "analyze/words.h"
#include "report/files/findings_parts.h"
#include "report/run/advice_words.h"

static void put_key_line(ttm_buf *buf, const ttm_profile *p, const char *key, uint32_t state) {
  ttm_json_key_known(buf, key, state == TTM_NONE ? UINT64_MAX : p->states.at[state].line);
}

static bool put_unknown(ttm_buf *buf, const ttm_findings *f, const char *key) {
  if (ttm_findings_lives_known(f)) return false;
  ttm_buf_printf(buf, ",\n\"%s\":null", key);
  return true;
}

void ttm_json_lifetimes(ttm_buf *buf, const ttm_findings *f) {
  const ttm_lifetimes *l = &f->lifetimes;
  if (put_unknown(buf, f, "late_frees")) return;
  ttm_json_raw(buf, ",\n\"late_frees\":{\"basis\":\"derived\"");
  ttm_json_key_mib(buf, ",\"peak_per_bank_MB\":", l->peak_bytes);
  if (l->n)
    ttm_json_key_mib(buf,
                     ",\"peak_if_freed_per_bank_MB\":", l->replayed ? l->replayed_peak_bytes : l->peak_without_bytes);
  if (l->replayed) {
    ttm_json_raw(buf, ",\"replay_agrees\":");
    ttm_json_bool(buf, l->replay_agrees);
  }
  ttm_json_raw(buf, ",\"tensors\":[");
  for (size_t i = 0; i < l->n; i++) {
    const ttm_late_free *late = &l->late[i];
    const ttm_tensor *tensor = &f->profile->tensors.at[late->tensor];
    ttm_json_key_mib(buf, i ? ",\n{\"per_bank_MB\":" : "\n{\"per_bank_MB\":", late->bank_bytes);
    ttm_json_key_u64(buf, ",\"times\":", late->times);
    ttm_json_key_u64(buf, ",\"operations_late\":", late->gap);
    ttm_json_key_mib(buf, ",\"MB_x_operations\":", late->cost);
    ttm_json_key_mib(buf, ",\"peak_if_freed_per_bank_MB\":", late->peak_bytes);
    if (late->replayed) {
      ttm_json_raw(buf, ",\"replay_agrees\":");
      ttm_json_bool(buf, late->replay_agrees);
    }
    ttm_json_key_op(buf, f, ",\"made_by\":", tensor->birth);
    ttm_json_key_op(buf, f, ",\"last_use\":", tensor->last_use);
    ttm_json_key_u64(buf, ",\"freed_line\":", f->profile->ops.at[tensor->freed_by].line);
    ttm_buf_char(buf, '}');
  }
  ttm_json_raw(buf, "]}");
}

/* "states": the first of the moments that would refuse the largest request. */
static void put_refusals(ttm_buf *buf, const ttm_profile *p, const ttm_fragmentation *x) {
  ttm_json_raw(buf, ",\"states\":[");
  for (size_t i = 0; i < x->refusing_states && i < TTM_REFUSALS; i++) {
    const ttm_state *state = &p->states.at[x->refusing[i]];
    ttm_json_key_u64(buf, i ? ",{\"line\":" : "{\"line\":", state->line);
    ttm_json_key_milli(buf, ",\"free_per_bank_MB\":", state->dram_free);
    ttm_json_key_milli(buf, ",\"largest_free_block_MB\":", state->dram_largest);
    ttm_buf_char(buf, '}');
  }
  ttm_buf_char(buf, ']');
}

void ttm_json_fragmentation(ttm_buf *buf, const ttm_findings *f) {
  const ttm_fragmentation *x = &f->fragmentation;
  ttm_json_raw(buf, ",\n\"fragmentation\":");
  if (!x->known) return ttm_json_null(buf);
  ttm_buf_printf(buf, "{\"worst\":{\"basis\":\"%s\"", ttm_basis_name(ttm_words_state_basis(f->profile)));
  put_key_line(buf, f->profile, ",\"line\":", x->worst_state);
  ttm_json_key_mib(buf, ",\"free_per_bank_MB\":", x->worst_free);
  ttm_json_key_mib(buf, ",\"largest_free_block_MB\":", x->worst_largest);
  ttm_buf_printf(buf, ",\"pct\":%.3f}", ttm_fragmentation_pct(x->worst_free, x->worst_largest));
  if (x->unknown_states) ttm_json_key_u64(buf, ",\"unknown_states\":", x->unknown_states);
  ttm_json_key_mib(buf, ",\"largest_request\":{\"basis\":\"derived\",\"per_bank_MB\":", x->largest_request);
  ttm_json_key_u64(buf, ",\"states_that_would_refuse_it\":", x->refusing_states);
  put_key_line(buf, f->profile, ",\"first_line\":", x->refusing_states ? x->refusing[0] : TTM_NONE);
  put_refusals(buf, f->profile, x);
  ttm_json_key_op(buf, f, ",\"operation\":", x->request_op);
  put_key_line(buf, f->profile, "},\"pinned_by\":{\"basis\":\"derived\",\"line\":", x->pins_state);
  ttm_json_raw(buf, ",\"tensors\":[");
  for (size_t i = 0; i < x->pin_count; i++) {
    const ttm_pin *pin = &x->pins[i];
    uint32_t op = pin->tensor == TTM_NONE ? TTM_NONE : f->profile->tensors.at[pin->tensor].birth;
    ttm_json_key_u64(buf, i ? ",\n{\"address\":" : "\n{\"address\":", pin->at);
    ttm_json_key_mib(buf, ",\"per_bank_MB\":", pin->size);
    ttm_json_key_u64(buf, ",\"tensors\":", pin->tensors);
    ttm_json_key_mib(buf, ",\"free_block_without_MB\":", pin->merged);
    ttm_json_key_op(buf, f, ",\"made_by\":", op);
    ttm_buf_char(buf, '}');
  }
  ttm_json_raw(buf, "]}}");
}

void ttm_json_wastes(ttm_buf *buf, const ttm_findings *f) {
  const ttm_wastes *w = &f->wastes;
  if (put_unknown(buf, f, "waste_at_peak")) return;
  ttm_json_raw(buf, ",\n\"waste_at_peak\":{\"basis\":\"derived\",\"per_bank_MB\":{");
  for (int k = 0; k < TTM_WASTE_KINDS; k++) {
    ttm_buf_printf(buf, "%s\"%s\":", k ? "," : "", ttm_waste_name((ttm_waste_kind)k));
    ttm_json_mib(buf, w->bank_bytes[k]);
  }
  ttm_json_raw(buf, "},\"top\":[");
  for (size_t i = 0; i < w->n; i++) {
    const ttm_waste *waste = &w->at[i];
    const ttm_alive_row *row = &f->alive_set[TTM_DRAM].rows.at[waste->row];
    ttm_buf_printf(buf, "%s{\"kind\":\"%s\",\"name\":", i ? ",\n" : "\n", ttm_waste_name(waste->kind));
    ttm_json_id(buf, f->profile, row->name);
    ttm_json_key_mib(buf, ",\"per_bank_MB\":", waste->bank_bytes);
    ttm_json_type_members(buf, f->profile, row->type);
    ttm_json_raw(buf, ",\"better_shape\":");
    ttm_json_shape(buf, &waste->better);
    if (waste->row_major) ttm_json_key_mib(buf, ",\"row_major_saves_per_bank_MB\":", waste->row_major);
    ttm_json_key_op(buf, f, ",\"made_by\":", row->op);
    ttm_buf_char(buf, '}');
  }
  ttm_json_raw(buf, "]}");
}

void ttm_json_layers(ttm_buf *buf, const ttm_findings *f) {
  const ttm_layers *l = &f->layers;
  ttm_json_raw(buf, ",\n\"layers\":");
  if (!l->period) return ttm_json_null(buf);
  ttm_json_key_u64(buf, "{\"basis\":\"derived\",\"operations\":", l->period);
  ttm_json_key_u64(buf, ",\"count\":", l->count);
  ttm_json_key_op(buf, f, ",\"first\":", l->first_op);
  ttm_json_key_op(buf, f, ",\"last\":", l->last_op);
  ttm_json_raw(buf, ",\"growth_per_bank_MB\":");
  ttm_json_milli(buf, l->growth);
  ttm_json_raw(buf, ",\"peak_above_start_per_bank_MB\":");
  ttm_json_milli(buf, l->peak);
  ttm_json_key_u64(buf, ",\"odd_count\":", l->odd_count);
  ttm_json_raw(buf, ",\"odd\":[");
  for (uint32_t i = 0; i < l->odd_count && i < TTM_ODD_LAYERS; i++) {
    ttm_json_key_u64(buf, i ? ",{\"layer\":" : "{\"layer\":", l->odd[i].layer);
    ttm_json_key_u64(buf, ",\"operations\":", l->odd[i].ops);
    ttm_json_key_op(buf, f, ",\"differs\":", l->odd[i].differs);
    ttm_json_raw(buf, ",\"growth_per_bank_MB\":");
    ttm_json_milli(buf, l->odd[i].growth);
    ttm_json_raw(buf, ",\"peak_above_start_per_bank_MB\":");
    ttm_json_milli(buf, l->odd[i].peak);
    ttm_buf_char(buf, '}');
  }
  ttm_json_raw(buf, "]}");
}

void ttm_json_advices(ttm_buf *buf, const ttm_findings *f) {
  if (put_unknown(buf, f, "advice")) return;
  ttm_json_raw(buf, ",\n\"advice\":[");
  for (size_t i = 0; i < f->advices.n; i++) {
    const ttm_advice *advice = &f->advices.at[i];
    ttm_buf words = {0};
    ttm_words_advice(&words, f, advice, TTM_FORM_UTF8);
    ttm_buf_printf(buf, "%s{\"kind\":\"%s\",\"basis\":\"%s\"", i ? ",\n" : "\n", ttm_advice_name(advice->kind),
                   ttm_basis_name((ttm_basis)advice->basis));
    ttm_json_key_mib(buf, ",\"saves_per_bank_MB\":", advice->saves);
    ttm_json_key_u64(buf, ",\"tensors\":", advice->count);
    ttm_json_key_op(buf, f, ",\"operation\":", advice->op);
    ttm_json_raw(buf, ",\"text\":");
    ttm_json_string(buf, ttm_buf_str(&words));
    ttm_buf_char(buf, '}');
    buf->failed |= words.failed;
    ttm_buf_free(&words);
  }
  ttm_buf_char(buf, ']');
}

void ttm_json_programs(ttm_buf *buf, const ttm_findings *f) {
  ttm_json_raw(buf, ",\n\"programs\":[");
  for (size_t i = 0; i < f->programs.n; i++) {
    const ttm_program_runs *program = &f->programs.at[i];
    const ttm_call *call = &f->profile->calls.at[program->call];
    const ttm_run *usual = &f->runs.at[program->usual_run];
    ttm_buf_puts(buf, i ? ",\n{\"program\":" : "\n{\"program\":");
    ttm_json_id(buf, f->profile, call->name);
    ttm_json_key_u64(buf, ",\"rank\":", ttm_rank_number(f->profile, call->rank));
    ttm_json_key_known(buf, ",\"graph\":", call->graph == TTM_NONE ? UINT64_MAX : call->graph);
    ttm_json_key_u64(buf, ",\"runs\":", program->runs);
    ttm_json_key_u64(buf, ",\"warm_up_runs\":", program->warm_up);
    ttm_json_key_u64(buf, ",\"odd_runs\":", program->odd);
    ttm_json_key_milli(buf, ",\"peak_MB\":", program->peak);
    ttm_json_key_u64(buf, ",\"peak_run\":", f->profile->calls.at[f->runs.at[program->peak_run].call].run);
    ttm_json_key_milli(buf, ",\"last_start_MB\":", usual->start);
    ttm_json_key_milli(buf, ",\"last_peak_MB\":", usual->peak);
    ttm_buf_char(buf, '}');
  }
  ttm_buf_char(buf, ']');
}
