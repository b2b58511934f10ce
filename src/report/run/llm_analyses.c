/* SPDX-License-Identifier: Apache-2.0 */
/* Late frees, fragmentation, waste and layers in words. */
#include "report/run/advice_words.h"
#include "report/run/llm_parts.h"

enum { SHOWN = 5 };

static void put_shape(ttm_llm *r, const ttm_dims *dims) {
  char text[160];
  ttm_dims_print(dims, text, sizeof text);
  ttm_buf_puts(r->out, text);
}

void ttm_llm_lifetimes(ttm_llm *r) {
  const ttm_lifetimes *l = &r->f->lifetimes;
  if (!l->n) return;
  ttm_buf_puts(
      r->out,
      "\n## Late Frees\nTensors that stay allocated after their last use (derived; every run and layer together).\n\n"
      "| Made by | MB per bank | Times | Last use (line) | Freed (line) | Operations late | DRAM peak if freed at last "
      "use |\n"
      "|---------|-------------|-------|-----------------|--------------|-----------------|----------------------------"
      "----|\n");
  for (size_t i = 0; i < l->n && i < SHOWN; i++) {
    const ttm_late_free *late = &l->late[i];
    const ttm_tensor *tensor = &r->p->tensors.at[late->tensor];
    ttm_buf_puts(r->out, "| ");
    ttm_llm_op(r, tensor->birth);
    ttm_buf_printf(r->out, " | %.3f | %u | %u | %u | %u | %.3f MB |\n", ttm_mib(late->bank_bytes), late->times,
                   r->p->ops.at[tensor->last_use].line, r->p->ops.at[tensor->freed_by].line, late->gap,
                   ttm_mib(late->peak_bytes));
  }
  if (l->replayed) {
    ttm_buf_printf(r->out, "\nAll of them freed at their last use: DRAM peak %.3f MB per bank instead of %.3f, ",
                   ttm_mib(l->replayed_peak_bytes), ttm_mib(l->peak_bytes));
    ttm_buf_puts(r->out, l->replay_agrees
                             ? "confirmed by replaying the allocator.\n"
                             : "by replaying the allocator, which places some tensors elsewhere than measured.\n");
  }
}

static void put_refusals(ttm_llm *r, const ttm_fragmentation *x) {
  for (size_t i = 0; i < x->refusing_states && i < TTM_REFUSALS; i++) {
    const ttm_state *state = &r->p->states.at[x->refusing[i]];
    ttm_buf_printf(r->out, "  - log line %u: %.3f MB per bank free, largest block %.3f MB\n", state->line,
                   ttm_mb(state->dram_free), ttm_mb(state->dram_largest));
  }
  if (x->refusing_states > TTM_REFUSALS)
    ttm_buf_printf(r->out, "  - *... and at %llu more*\n", (unsigned long long)(x->refusing_states - TTM_REFUSALS));
}

void ttm_llm_fragmentation(ttm_llm *r) {
  const ttm_fragmentation *x = &r->f->fragmentation;
  if (!x->known || x->worst_free <= x->worst_largest) return;
  ttm_buf_printf(r->out,
                 "\n## Fragmentation (DRAM)\n- Worst: %.3f MB per bank free, largest block %.3f MB (%.1f%% out of "
                 "reach), log line %u (%s)\n",
                 ttm_mib(x->worst_free), ttm_mib(x->worst_largest),
                 ttm_fragmentation_pct(x->worst_free, x->worst_largest), r->p->states.at[x->worst_state].line,
                 ttm_basis_name(ttm_words_state_basis(r->p)));
  if (x->refusing_states) {
    ttm_buf_printf(r->out, "- At %llu states, first at log line %u, the largest tensor of this log (%.3f MB per bank, ",
                   (unsigned long long)x->refusing_states, r->p->states.at[x->refusing[0]].line,
                   ttm_mib(x->largest_request));
    ttm_llm_op(r, x->request_op);
    ttm_buf_puts(r->out, ") would have been refused although enough was free (derived)\n");
    put_refusals(r, x);
  }
  for (size_t i = 0; i < x->pin_count; i++) {
    const ttm_pin *pin = &x->pins[i];
    ttm_buf_printf(r->out, "- In the way at log line %u: ", r->p->states.at[x->pins_state].line);
    if (pin->tensor == TTM_NONE)
      ttm_buf_puts(r->out, "memory that no operation of the log explains");
    else
      ttm_llm_op(r, r->p->tensors.at[pin->tensor].birth);
    if (pin->tensors > 1) ttm_buf_printf(r->out, " and %u more", pin->tensors - 1);
    ttm_buf_printf(r->out, ", %.3f MB at address %llu of the bank; without it one free block of %.3f MB (derived)\n",
                   ttm_mib(pin->size), (unsigned long long)pin->at, ttm_mib(pin->merged));
  }
}

static void put_waste(ttm_llm *r, const ttm_waste *waste) {
  const ttm_alive_row *row = &r->f->alive_set[TTM_DRAM].rows.at[waste->row];
  const ttm_tensor_type *type = &r->p->types.at[row->type].tensor;
  ttm_buf_printf(r->out, "- %.3f MB per bank: ", ttm_mib(waste->bank_bytes));
  if (row->name)
    ttm_llm_cell(r, ttm_profile_string(r->p, row->name));
  else if (row->op != TTM_NONE)
    ttm_llm_op(r, row->op);
  else
    ttm_buf_printf(r->out, "argument %u", row->arg);
  ttm_buf_char(r->out, ' ');
  put_shape(r, &type->shape);
  switch (waste->kind) {
    case TTM_WASTE_UPCAST:
      ttm_buf_puts(r->out, " is a bf16 weight kept as f32; in bf16 it needs half");
      break;
    case TTM_WASTE_TWICE:
      ttm_buf_printf(r->out, " is there in %u forms at once", row->tensors);
      break;
    case TTM_WASTE_PADDING:
      ttm_buf_printf(r->out, " is padded to whole tiles, %.1f%% of it padding",
                     100.0 - ttm_percent((double)row->logical_bytes, (double)row->stored_bytes));
      if (waste->better.rank)
        ttm_buf_puts(r->out, "; reshaped to "), put_shape(r, &waste->better),
            ttm_buf_puts(r->out, " it needs fewer tiles");
      else if (waste->row_major)
        ttm_buf_printf(r->out, "; in ROW_MAJOR layout, where its operations take that, it needs %.3f MB per bank less",
                       ttm_mib(waste->row_major));
      break;
    case TTM_WASTE_NARROW:
    case TTM_WASTE_KINDS:
      ttm_buf_printf(r->out,
                     " is row-major with rows shorter than the alignment, %.1f%% of it padding; a longer last dim, or "
                     "tiles, avoid that",
                     100.0 - ttm_percent((double)row->logical_bytes, (double)row->stored_bytes));
      break;
  }
  if (row->op != TTM_NONE && row->name) ttm_buf_printf(r->out, " (log line %u)", r->p->ops.at[row->op].line);
  ttm_buf_puts(r->out, "\n");
}

void ttm_llm_wastes(ttm_llm *r) {
  const ttm_wastes *w = &r->f->wastes;
  if (!w->n) return;
  ttm_buf_puts(r->out, "\n## Waste at the Peak (DRAM)\nDerived from the live set.\n\n");
  for (size_t i = 0; i < w->n && i < 2 * SHOWN; i++) put_waste(r, &w->at[i]);
  uint32_t total = 0;
  for (int k = 0; k < TTM_WASTE_KINDS; k++) total += w->count[k];
  if (total > 2 * SHOWN) ttm_buf_printf(r->out, "- *... and %u more*\n", total - 2 * SHOWN);
}

void ttm_llm_layers(ttm_llm *r) {
  const ttm_layers *l = &r->f->layers;
  if (!l->period) return;
  if (l->odd_count)
    ttm_buf_printf(r->out, "\n## Layers\n- %u layers, %u of them alike with %u operations each, from ",
                   l->count + l->odd_count, l->count, l->period);
  else
    ttm_buf_printf(r->out, "\n## Layers\n- %u layers of %u operations each, from ", l->count, l->period);
  ttm_llm_op(r, l->first_op);
  ttm_buf_puts(r->out, " to ");
  ttm_llm_op(r, l->last_op);
  ttm_buf_printf(r->out,
                 "\n- A layer goes up to %.3f MB per bank above its start and leaves %+.3f MB behind (derived)\n",
                 ttm_mb(l->peak), ttm_mb(l->growth));
  for (uint32_t i = 0; i < l->odd_count && i < TTM_ODD_LAYERS; i++) {
    ttm_buf_printf(r->out, "- Layer %u differs: %u operations, first at ", l->odd[i].layer, l->odd[i].ops);
    ttm_llm_op(r, l->odd[i].differs);
    ttm_buf_printf(r->out, "; up to %.3f MB above its start, leaves %+.3f MB\n", ttm_mb(l->odd[i].peak),
                   ttm_mb(l->odd[i].growth));
  }
}

/* "- Late frees: none: ..." */
static void put_rest(ttm_llm *r, bool found, const char *name, const char *unknown, const char *none) {
  if (found) return;
  ttm_buf_printf(r->out, "- %s: %s%s\n", name, unknown ? "unknown: " : "none: ", unknown ? unknown : none);
}

static uint32_t most_runs(const ttm_findings *f) {
  uint32_t most = 0;
  for (size_t i = 0; i < f->programs.n; i++) most = f->programs.at[i].runs > most ? f->programs.at[i].runs : most;
  return most;
}

void ttm_llm_the_rest(ttm_llm *r) {
  const ttm_findings *f = r->f;
  const ttm_fragmentation *x = &f->fragmentation;
  const char *lives = ttm_words_lives_unknown(f);
  const char *states = f->peak[TTM_DRAM].known ? NULL : "no DRAM state is shown";
  const char *runs = !ttm_words_has_runs(r->p)      ? "nothing tells where a run begins and ends"
                     : most_runs(f) < TTM_LEAK_RUNS ? "it takes five runs of one program"
                                                    : NULL;
  bool live = f->alive_set[TTM_DRAM].known && f->alive_set[TTM_DRAM].measured_bytes;
  ttm_buf_puts(r->out, "\n## Nothing found, or not known\n");
  size_t before = r->out->n;
  put_rest(r, f->incidents.n, "Incidents", NULL, "no error message");
  put_rest(r, f->advices.n, "Advice", lives, "nothing that is sure to help");
  put_rest(r, live, "Live set at the DRAM peak",
           states                         ? states
           : f->alive_set[TTM_DRAM].known ? NULL
                                          : lives,
           "DRAM is empty");
  put_rest(r, f->wastes.n, "Waste at the DRAM peak", lives,
           "no f32 copies of bf16 weights, no weight in two forms, no padding or narrow rows that matter");
  put_rest(r, f->lifetimes.n, "Late frees", lives, "no tensor of any size stays allocated long after its last use");
  put_rest(r, x->known && x->worst_free > x->worst_largest, "Fragmentation of DRAM",
           x->known ? NULL
           : states ? states
                    : "nothing tells how the free memory is cut up",
           x->unknown_states ? "free memory is in one piece wherever that is known"
                             : "free memory is in one piece at every state");
  put_rest(r, f->layers.period, "Layers", NULL, "no block of operations repeats");
  put_rest(r, f->leaks.n, "Leaks", runs, "no level at the start of a run rises by the same amount again and again");
  if (r->out->n == before) ttm_buf_puts(r->out, "Every analysis found something.\n");
}

void ttm_llm_advices(ttm_llm *r) {
  const ttm_advices *a = &r->f->advices;
  if (!a->n) return;
  ttm_buf_puts(r->out, "\n## Advice\n");
  for (size_t i = 0; i < a->n; i++) {
    ttm_buf_printf(r->out, "%zu. ", i + 1);
    ttm_words_advice(r->out, r->f, &a->at[i], TTM_FORM_MARKDOWN);
    ttm_buf_printf(r->out, " (%s)\n", ttm_basis_name((ttm_basis)a->at[i].basis));
  }
}
