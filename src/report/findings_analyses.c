/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetimes, fragmentation, waste, layers and advice in findings.json. */
#include "report/advice_words.h"
#include "report/findings_parts.h"

static void put_key_mib(ttm_buf *buf, const char *key, uint64_t bytes) {
  ttm_buf_puts(buf, key);
  ttm_json_mib(buf, bytes);
}

static void put_key_u64(ttm_buf *buf, const char *key, uint64_t value) {
  ttm_buf_puts(buf, key);
  ttm_buf_u64(buf, value);
}

static void put_key_op(ttm_buf *buf, const ttm_findings *f, const char *key, uint32_t op) {
  ttm_buf_puts(buf, key);
  if (op == TTM_NONE) return ttm_json_null(buf);
  ttm_buf_char(buf, '{');
  ttm_json_op_members(buf, f, op);
  ttm_buf_char(buf, '}');
}

static void put_key_line(ttm_buf *buf, const ttm_profile *p, const char *key, uint32_t state) {
  ttm_buf_puts(buf, key);
  ttm_json_known(buf, state == TTM_NONE ? UINT64_MAX : p->states.at[state].line);
}

/* Without operation lines and printed states these analyses do not run: nothing known is another thing than nothing found. */
static bool put_unknown(ttm_buf *buf, const ttm_findings *f, const char *key) {
  if (f->profile->kind == TTM_LOG_FULL) return false;
  ttm_buf_printf(buf, ",\n\"%s\":null", key);
  return true;
}

void ttm_json_lifetimes(ttm_buf *buf, const ttm_findings *f) {
  const ttm_lifetimes *l = &f->lifetimes;
  if (put_unknown(buf, f, "late_frees")) return;
  ttm_json_raw(buf, ",\n\"late_frees\":{\"basis\":\"derived\"");
  put_key_mib(buf, ",\"peak_per_bank_MB\":", l->peak_bytes);
  if (l->replayed) {
    put_key_mib(buf, ",\"peak_if_freed_per_bank_MB\":", l->replayed_peak_bytes);
    ttm_json_raw(buf, ",\"replay_agrees\":");
    ttm_json_bool(buf, l->replay_agrees);
  }
  ttm_json_raw(buf, ",\"tensors\":[");
  for (size_t i = 0; i < l->n; i++) {
    const ttm_late_free *late = &l->late[i];
    const ttm_tensor *tensor = &f->profile->tensors.at[late->tensor];
    put_key_mib(buf, i ? ",\n{\"per_bank_MB\":" : "\n{\"per_bank_MB\":", late->bank_bytes);
    put_key_u64(buf, ",\"times\":", late->times);
    put_key_u64(buf, ",\"operations_late\":", late->gap);
    put_key_mib(buf, ",\"MB_x_operations\":", late->cost);
    put_key_mib(buf, ",\"peak_if_freed_per_bank_MB\":", late->peak_bytes);
    put_key_op(buf, f, ",\"made_by\":", tensor->birth);
    put_key_op(buf, f, ",\"last_use\":", tensor->last_use);
    put_key_u64(buf, ",\"freed_line\":", f->profile->ops.at[tensor->freed_by].line);
    ttm_buf_char(buf, '}');
  }
  ttm_json_raw(buf, "]}");
}

void ttm_json_fragmentation(ttm_buf *buf, const ttm_findings *f) {
  const ttm_fragmentation *x = &f->fragmentation;
  ttm_json_raw(buf, ",\n\"fragmentation\":");
  if (!x->known) return ttm_json_null(buf);
  put_key_line(buf, f->profile, "{\"worst\":{\"basis\":\"measured\",\"line\":", x->worst_state);
  put_key_mib(buf, ",\"free_per_bank_MB\":", x->worst_free);
  put_key_mib(buf, ",\"largest_free_block_MB\":", x->worst_largest);
  ttm_buf_printf(buf, ",\"pct\":%.3f}", ttm_fragmentation_pct(x->worst_free, x->worst_largest));
  put_key_mib(buf, ",\"largest_request\":{\"basis\":\"derived\",\"per_bank_MB\":", x->largest_request);
  put_key_u64(buf, ",\"states_that_would_refuse_it\":", x->refusing_states);
  put_key_line(buf, f->profile, ",\"first_line\":", x->first_refusing);
  put_key_op(buf, f, ",\"operation\":", x->request_op);
  put_key_line(buf, f->profile, "},\"pinned_by\":{\"basis\":\"derived\",\"line\":", x->pins_state);
  ttm_json_raw(buf, ",\"tensors\":[");
  for (size_t i = 0; i < x->pin_count; i++) {
    const ttm_pin *pin = &x->pins[i];
    uint32_t op = pin->tensor == TTM_NONE ? TTM_NONE : f->profile->tensors.at[pin->tensor].birth;
    put_key_u64(buf, i ? ",\n{\"address\":" : "\n{\"address\":", pin->at);
    put_key_mib(buf, ",\"per_bank_MB\":", pin->size);
    put_key_u64(buf, ",\"tensors\":", pin->tensors);
    put_key_mib(buf, ",\"free_block_without_MB\":", pin->merged);
    put_key_op(buf, f, ",\"made_by\":", op);
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
    const ttm_live_row *row = &f->live_set[TTM_DRAM].rows.at[waste->row];
    ttm_buf_printf(buf, "%s{\"kind\":\"%s\",\"name\":", i ? ",\n" : "\n", ttm_waste_name(waste->kind));
    ttm_json_id(buf, f->profile, row->name);
    put_key_mib(buf, ",\"per_bank_MB\":", waste->bank_bytes);
    ttm_json_type_members(buf, f->profile, row->type);
    ttm_json_raw(buf, ",\"better_shape\":");
    ttm_json_shape(buf, &waste->better);
    put_key_op(buf, f, ",\"made_by\":", row->op);
    ttm_buf_char(buf, '}');
  }
  ttm_json_raw(buf, "]}");
}

void ttm_json_layers(ttm_buf *buf, const ttm_findings *f) {
  const ttm_layers *l = &f->layers;
  ttm_json_raw(buf, ",\n\"layers\":");
  if (!l->period) return ttm_json_null(buf);
  put_key_u64(buf, "{\"basis\":\"derived\",\"operations\":", l->period);
  put_key_u64(buf, ",\"count\":", l->count);
  put_key_op(buf, f, ",\"first\":", l->first_op);
  put_key_op(buf, f, ",\"last\":", l->last_op);
  ttm_json_raw(buf, ",\"growth_per_bank_MB\":");
  ttm_json_milli(buf, l->growth);
  ttm_json_raw(buf, ",\"peak_above_start_per_bank_MB\":");
  ttm_json_milli(buf, l->peak);
  put_key_u64(buf, ",\"odd_count\":", l->odd_count);
  ttm_json_raw(buf, ",\"odd\":[");
  for (uint32_t i = 0; i < l->odd_count && i < TTM_ODD_LAYERS; i++) {
    put_key_u64(buf, i ? ",{\"layer\":" : "{\"layer\":", l->odd[i].layer);
    put_key_u64(buf, ",\"operations\":", l->odd[i].ops);
    put_key_op(buf, f, ",\"differs\":", l->odd[i].differs);
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
    put_key_mib(buf, ",\"saves_per_bank_MB\":", advice->saves);
    put_key_u64(buf, ",\"tensors\":", advice->count);
    put_key_op(buf, f, ",\"operation\":", advice->op);
    ttm_json_raw(buf, ",\"text\":");
    ttm_json_string(buf, ttm_buf_view(&words));
    ttm_buf_char(buf, '}');
    buf->failed |= words.failed;
    ttm_buf_free(&words);
  }
  ttm_buf_char(buf, ']');
}

/* A figure of a run in 0.001 MB; null when no state tells. */
static void put_key_level(ttm_buf *buf, const char *key, uint32_t level) {
  ttm_buf_puts(buf, key);
  if (level == TTM_NONE)
    ttm_json_null(buf);
  else
    ttm_json_milli(buf, level);
}

void ttm_json_programs(ttm_buf *buf, const ttm_findings *f) {
  ttm_json_raw(buf, ",\n\"programs\":[");
  for (size_t i = 0; i < f->programs.n; i++) {
    const ttm_program_runs *program = &f->programs.at[i];
    const ttm_frame *frame = &f->profile->frames.at[program->frame];
    const ttm_run *usual = &f->runs.at[program->usual_run];
    ttm_buf_puts(buf, i ? ",\n{\"program\":" : "\n{\"program\":");
    ttm_json_id(buf, f->profile, frame->name);
    put_key_u64(buf, ",\"rank\":", ttm_rank_number(f->profile, frame->rank));
    ttm_buf_puts(buf, ",\"graph\":");
    ttm_json_known(buf, frame->graph == TTM_NONE ? UINT64_MAX : frame->graph);
    put_key_u64(buf, ",\"runs\":", program->runs);
    put_key_u64(buf, ",\"warm_up_runs\":", program->warm_up);
    put_key_u64(buf, ",\"odd_runs\":", program->odd);
    put_key_level(buf, ",\"peak_MB\":", program->peak);
    put_key_u64(buf, ",\"peak_run\":", f->profile->frames.at[f->runs.at[program->peak_run].frame].run);
    put_key_level(buf, ",\"last_start_MB\":", usual->start);
    put_key_level(buf, ",\"last_peak_MB\":", usual->peak);
    ttm_buf_char(buf, '}');
  }
  ttm_buf_char(buf, ']');
}
