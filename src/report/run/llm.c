/* SPDX-License-Identifier: Apache-2.0 */
/* The LLM report: the seed's sections by their names and in their order, each number with the log line it comes from. */
#include "report/run/llm_parts.h"
#include "report/run/recording.h"
#include "report/run/text.h"

enum {
  SHOWN_WEIGHTS = 20,
  SHOWN_KINDS = 15, /* operation names in the distribution */
};

/* ---- Header and configuration ------------------------------------------------------------------------------------- */

static uint64_t padding_bytes(const ttm_alive_sum *live) {
  return live->stored_bytes > live->logical_bytes ? live->stored_bytes - live->logical_bytes : 0;
}

/* What padding cost when memory was fullest: the highest share at any moment may be one small tensor's. Logs without states have
 * no such moment. */
static double padding_percent(const ttm_findings *f) {
  const ttm_alive_sum *live = &f->alive_at_peak;
  return live->tensors ? ttm_percent((double)padding_bytes(live), (double)live->logical_bytes) : f->padding_peak_pct;
}

static void put_header(ttm_llm *r, ttm_str name) {
  ttm_buf *out = r->out;
  const ttm_peak *dram = &r->f->peak[TTM_DRAM], *l1 = &r->f->peak[TTM_L1];
  ttm_buf_puts(out, "# Memory Profile: ");
  ttm_put_text(out, name, TTM_LLM_SENTENCE, TTM_FORM_MARKDOWN);
  ttm_buf_puts(out, "\n\n> ");
  if (dram->known) {
    ttm_buf_printf(out, "Peak DRAM: %.1f MB/bank (%.1f%%) | ", ttm_mb(dram->level.allocated),
                   ttm_percent(dram->level.allocated, dram->level.total));
  }
  if (l1->known) ttm_buf_printf(out, "Peak L1: %.2f MB/bank | ", ttm_mb(l1->level.allocated));
  ttm_buf_puts(out, "Ops: ");
  ttm_put_count(out, r->f->elements);
  if (r->f->registry.weight_bytes) ttm_buf_printf(out, " | Weights: %.1f MB", ttm_mib(r->f->registry.weight_bytes));
  double padding = padding_percent(r->f);
  if (padding > 0) ttm_buf_printf(out, " | Padding Overhead: %.1f%%", padding);
  if (r->f->incidents.n) ttm_buf_printf(out, " | Incidents: %zu", r->f->incidents.n);
  ttm_buf_char(out, '\n');
}

static void put_memory_line(ttm_llm *r) {
  const char *between = "- Memory: ";
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    if (!ttm_profile_config(r->p, (ttm_memory)m, &level)) continue;
    ttm_buf_printf(r->out, "%s%s %u x %.2f MB/bank", between, ttm_memory_name((ttm_memory)m), level.banks,
                   ttm_mb(level.total));
    between = " | ";
  }
  if (between[0] != '-') ttm_buf_char(r->out, '\n');
  const char *first = "- Capacity in total: ";
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    if (!ttm_profile_config(r->p, (ttm_memory)m, &level)) continue;
    ttm_buf_printf(r->out, "%s%s %.1f MB", first, ttm_memory_name((ttm_memory)m),
                   ttm_mb((int64_t)level.total * level.banks));
    first = " | ";
  }
  if (first[0] != '-') ttm_buf_char(r->out, '\n');
}

static void put_configuration(ttm_llm *r) {
  ttm_buf *out = r->out;
  const ttm_seen *seen = &r->p->seen;
  ttm_buf_puts(out, "\n## Configuration\n");
  put_memory_line(r);
  ttm_buf_puts(out, "- Operations: ");
  ttm_put_count(out, r->f->elements);
  if (r->p->graphs.n || r->f->weight_ops) {
    ttm_buf_puts(out, " total (");
    ttm_put_count(out, r->f->weight_ops);
    ttm_buf_puts(out, " weight, ");
    ttm_put_count(out, r->f->elements - r->f->weight_ops);
    ttm_buf_puts(out, " activation)\n- Log: ");
  } else {
    ttm_buf_puts(out, " total (which of them take weights is unknown)\n- Log: ");
  }
  ttm_llm_cell(r, ttm_words_source(r->p));
  ttm_buf_puts(out, ", ");
  ttm_put_counted(out, seen->lines, "line");
  ttm_buf_printf(out, ", %s", ttm_words_kind(r->p));
  if (r->p->ranks.n > 1) ttm_buf_puts(out, ", "), ttm_put_counted(out, r->p->ranks.n, "rank");
  if (r->p->capture.recording.is) {
    ttm_buf words = {0};
    if (ttm_words_l1_core(&words, r->p)) words.failed = true;
    if (words.n)
      ttm_buf_puts(out, "\n- L1 of the fullest core: "),
          ttm_put_text(out, ttm_buf_str(&words), TTM_LLM_SENTENCE, TTM_FORM_MARKDOWN);
    out->failed |= words.failed;
    ttm_buf_free(&words);
  }
  ttm_buf_printf(out, "\n- Units: MB = 1048576 bytes; per bank unless \"total\" is said; %s to 0.001 MB per bank\n",
                 ttm_words_state_basis(r->p) == TTM_MEASURED ? "the log rounds states" : "states are rounded");
}

/* "| 74 | ttnn.argmax | argmax " */
static void put_op_cells(ttm_llm *r, uint32_t op, uint32_t runs) {
  uint32_t index = ttm_findings_index(r->f, op);
  ttm_buf_puts(r->out, "| ");
  if (index == TTM_NONE)
    ttm_buf_char(r->out, '-');
  else
    ttm_buf_u64(r->out, index);
  ttm_buf_puts(r->out, " | ");
  ttm_llm_cell(r, ttm_words_name(r->p, op));
  if (runs > 1) ttm_buf_printf(r->out, " \xC3\x97 %u runs", runs);
  ttm_buf_puts(r->out, " | ");
  ttm_llm_cell(r, ttm_words_location(r->p, op));
  ttm_buf_char(r->out, ' ');
}

/* ---- Peaks -------------------------------------------------------------------------------------------------------- */

static void put_in_op_peak(ttm_llm *r, ttm_memory memory) {
  const ttm_peak *peak = &r->f->peak[memory];
  const ttm_incident *incident = &r->p->incidents.at[peak->in_op_incident];
  ttm_buf_printf(r->out, "\nInside ");
  if (incident->op == TTM_NONE)
    ttm_buf_puts(r->out, "the failing operation");
  else
    ttm_llm_op(r, incident->op);
  ttm_buf_printf(r->out, " %s stood higher than any printed state: ", ttm_memory_name(memory));
  ttm_llm_bytes(r, peak->in_op_bytes);
  ttm_buf_printf(r->out, " per bank, from the error message at log line %u.\n", incident->line);
}

static void put_peak_row(ttm_llm *r, ttm_memory memory) {
  const ttm_peak *peak = &r->f->peak[memory];
  ttm_buf_printf(r->out, "| %s ", ttm_memory_name(memory));
  if (peak->cause == TTM_NONE)
    ttm_buf_puts(r->out, "| - | - | - ");
  else
    put_op_cells(r, peak->cause, 1);
  ttm_buf_printf(r->out, "| %.2f MB | %.2f MB | %.1f%% ", ttm_mb(peak->level.allocated), ttm_mb(peak->level.total),
                 ttm_percent(peak->level.allocated, peak->level.total));
  if (peak->cause == TTM_NONE)
    ttm_buf_puts(r->out, "| - | - ");
  else
    ttm_buf_printf(r->out, "| %u | %.3f MB ", r->p->ops.at[peak->cause].line, ttm_mb(peak->effect));
  ttm_buf_printf(r->out, "| %.2f MB |\n", ttm_mb((int64_t)peak->level.allocated * peak->level.banks));
}

static void put_peak_table(ttm_llm *r) {
  ttm_buf_puts(
      r->out,
      "| Type | Op# | Operation | Location | Allocated | Capacity | Utilization | Log line | Added by it | Total |\n"
      "|------|-----|-----------|----------|-----------|----------|-------------|----------|-------------|-------|\n");
  for (int m = 0; m < TTM_MEMORIES; m++) {
    if (r->f->peak[m].known) put_peak_row(r, (ttm_memory)m);
  }
  const ttm_peak *dram = &r->f->peak[TTM_DRAM];
  if (!dram->known || dram->state >= r->p->states.n) return;
  ttm_buf_puts(r->out, "\n");
  if (dram->cause != TTM_NONE) ttm_buf_puts(r->out, "The operation is the one that raised the memory to its peak. ");
  if (dram->cause != TTM_NONE && r->p->ops.at[dram->cause].flags & TTM_OP_CONST_EVAL) {
    uint32_t caller = r->p->calls.at[r->p->ops.at[dram->cause].call].caller;
    if (caller != TTM_NONE) {
      ttm_buf_puts(r->out, "It ran inside ");
      ttm_llm_op(r, caller);
      ttm_buf_puts(r->out, ". ");
    }
  }
  ttm_buf_puts(r->out, "The DRAM peak itself is the state at ");
  ttm_buf_printf(r->out, "log line %u", r->p->states.at[dram->state].line);
  if (r->p->ranks.n > 1) ttm_buf_printf(r->out, " on rank %u", r->p->ranks.at[ttm_state_rank(r->p, dram->state)]);
  ttm_buf_printf(r->out, ": %.3f MB free", ttm_mb(dram->level.free));
  if (ttm_blocks_known(r->p)) ttm_buf_printf(r->out, ", largest free block %.3f MB", ttm_mb(dram->level.largest));
  ttm_buf_puts(r->out, " per bank.\n");
}

static void put_peaks(ttm_llm *r) {
  bool any = false;
  for (int m = 0; m < TTM_MEMORIES; m++) any |= r->f->peak[m].known;
  ttm_buf_puts(r->out, "\n## Peak Memory\n");
  if (any)
    put_peak_table(r);
  else
    ttm_buf_puts(r->out, "Unknown: the log holds no memory states.\n");
  for (int m = 0; m < TTM_MEMORIES; m++) {
    if (r->f->peak[m].in_op_bytes) put_in_op_peak(r, (ttm_memory)m);
  }
}

/* ---- Consumers and padding ---------------------------------------------------------------------------------------- */

/* The shapes of a list of types: "1x96x256, 256"; "N/A" when none is a tensor. */
static void put_shapes(ttm_llm *r, ttm_list types) {
  ttm_buf shapes = {0};
  for (uint32_t i = 0; i < types.n && shapes.n < 4096; i++) {
    const ttm_type *type = &r->p->types.at[r->p->lists.at[types.first + i]];
    char shape[256];
    if (!type->is_tensor) continue;
    if (shapes.n) ttm_buf_puts(&shapes, ", ");
    size_t length = ttm_dims_print(&type->tensor.shape, shape, sizeof shape);
    ttm_buf_puts(&shapes, length ? shape : "scalar");
  }
  if (shapes.n)
    ttm_llm_cell(r, ttm_buf_str(&shapes));
  else
    ttm_buf_puts(r->out, "N/A");
  r->out->failed |= shapes.failed;
  ttm_buf_free(&shapes);
}

static void put_consumer(ttm_llm *r, size_t rank, const ttm_added *row) {
  const ttm_op *op = &r->p->ops.at[row->op];
  const ttm_op_text *text = ttm_op_text_of(r->p, row->op);
  ttm_level before;
  bool known = ttm_state_level(r->p, op->state, TTM_DRAM, &before);
  uint32_t inside;
  ttm_op_inside(r->p, row->op, TTM_DRAM, &inside);
  ttm_buf_printf(r->out, "| %zu ", rank);
  put_op_cells(r, row->op, row->runs);
  if (inside) ttm_buf_printf(r->out, "(const-eval, %u op%s inside) ", inside, inside > 1 ? "s" : "");
  ttm_buf_printf(r->out, "| %.3f | ", ttm_mb(row->effect));
  if (known)
    ttm_buf_printf(r->out, "%.3f | ", ttm_mb((int64_t)before.allocated + row->effect));
  else
    ttm_buf_puts(r->out, "- | ");
  put_shapes(r, text->inputs);
  ttm_buf_puts(r->out, " | ");
  put_shapes(r, text->outputs);
  ttm_buf_printf(r->out, " | %u |\n", op->line);
}

/* Where every change went; the parts add up. */
static void put_attribution(ttm_llm *r) {
  const ttm_attribution *a = &r->f->attribution;
  ttm_buf_printf(
      r->out,
      "\nEvery change of DRAM, MB per bank (derived): operations %+.3f, const-eval programs %+.3f (counted for "
      "their load_cached), given back inside operations %+.3f, deallocations %+.3f, %s ",
      ttm_mb(a->added), ttm_mb(a->const_eval), ttm_mb(a->given_back), ttm_mb(a->freed),
      ttm_words_has_runs(r->p) ? "host between runs" : "outside operations");
  ttm_buf_printf(r->out, "%+.3f; together %+.3f from the first state to the last.\n", ttm_mb(a->host),
                 ttm_mb(a->total));
}

static bool any_effect(const ttm_profile *p) {
  int64_t effect;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    if (ttm_op_effect(p, op, TTM_DRAM, &effect)) return true;
  }
  return false;
}

static void put_consumers(ttm_llm *r) {
  ttm_added rows[TTM_TOP];
  size_t n;
  if (ttm_words_added(r->f, TTM_DRAM, rows, &n)) r->out->failed = true;
  ttm_buf_puts(r->out, "\n## Top 10 Memory Consumers (DRAM)\n");
  if (!n)
    return ttm_buf_puts(r->out, any_effect(r->p) ? "None: no operation was seen to add DRAM.\n"
                                                 : "Unknown: no memory states stand around single operations.\n");
  ttm_buf_puts(
      r->out,
      "| Rank | Op# | Operation | Location | DRAM added (MB) | DRAM after (MB) | Input | Output | Log line |\n"
      "|------|-----|-----------|----------|-----------------|-----------------|-------|--------|----------|\n");
  for (size_t i = 0; i < n; i++) put_consumer(r, i + 1, &rows[i]);
  put_attribution(r);
}

static void put_padding_row(ttm_llm *r, size_t rank, const ttm_padding_row *row) {
  const ttm_tensor_type *type = ttm_op_text_output(r->p, ttm_op_text_of(r->p, row->op), row->result);
  if (!type) return;
  char logical[256], stored[256];
  ttm_dims stored_shape = ttm_tensor_stored_shape(type);
  ttm_dims_print(&type->shape, logical, sizeof logical);
  ttm_dims_print(&stored_shape, stored, sizeof stored);
  uint64_t overhead = row->stored_bytes > row->logical_bytes ? row->stored_bytes - row->logical_bytes : 0;
  ttm_buf_printf(r->out, "| %zu | %u | ", rank, ttm_findings_index(r->f, row->op));
  ttm_llm_cell(r, ttm_words_name(r->p, row->op));
  ttm_buf_printf(r->out, " | %s (", logical[0] ? logical : "scalar");
  ttm_llm_cell(r, type->element);
  ttm_buf_printf(r->out, ") | %s | %.2f MB (%.1f%%) | ", stored, ttm_mib(overhead),
                 ttm_percent((double)overhead, (double)row->logical_bytes));
  ttm_llm_cell(r, ttm_words_location(r->p, row->op));
  ttm_buf_printf(r->out, " | %u | %u |\n", row->times, r->p->ops.at[row->op].line);
}

/* One large number may be one small tensor: say what padding cost when memory was fullest. */
static void put_padding_at_peak(ttm_llm *r) {
  const ttm_alive_sum *live = &r->f->alive_at_peak;
  if (!live->tensors) return;
  uint64_t extra = padding_bytes(live);
  ttm_buf_printf(r->out, "\nAt the DRAM peak padding took %.2f MB on top of %.2f MB (%.1f%%), total over all banks;",
                 ttm_mib(extra), ttm_mib(live->logical_bytes), ttm_percent((double)extra, (double)live->logical_bytes));
  ttm_buf_printf(r->out, " the highest share at any moment was %.1f%%.\n", r->f->padding_peak_pct);
}

static bool knows_a_result(const ttm_profile *p) {
  for (uint32_t t = 0; t < p->texts.n; t++) {
    for (uint32_t k = 0; k < p->texts.at[t].outputs.n; k++)
      if (ttm_op_text_output(p, &p->texts.at[t], k)) return true;
  }
  return false;
}

static void put_padding(ttm_llm *r) {
  ttm_buf_puts(r->out, "\n## Top 10 Padding Overhead\n");
  if (!r->f->padding.n) {
    return ttm_buf_puts(r->out, knows_a_result(r->p)
                                    ? "None: no result is padded.\n"
                                    : "Unknown: the log does not show the types of the operations' results.\n");
  }
  ttm_buf_puts(r->out,
               "| Rank | Op# | Operation | Logical | Padded | Overhead | Location | Times run | Log line |\n"
               "|------|-----|-----------|---------|--------|----------|----------|-----------|----------|\n");
  for (size_t i = 0; i < r->f->padding.n; i++) put_padding_row(r, i + 1, &r->f->padding.at[i]);
  put_padding_at_peak(r);
}

/* ---- Weights and distribution ------------------------------------------------------------------------------------- */

/* The largest weights, counted once each; ties keep their order in the log. Returns how many weights there are in all. */
static size_t largest_weights(const ttm_registry *registry, uint32_t *best, size_t *shown) {
  size_t all = 0;
  *shown = 0;
  for (uint32_t e = 0; e < registry->entries.n; e++) {
    const ttm_registry_entry *entry = &registry->entries.at[e];
    if (!entry->weight || entry->repeated) continue;
    all++;
    size_t at = *shown;
    while (at && registry->entries.at[best[at - 1]].bytes < entry->bytes) at--;
    if (at == SHOWN_WEIGHTS) continue;
    if (*shown < SHOWN_WEIGHTS) ++*shown;
    for (size_t i = *shown - 1; i > at; i--) best[i] = best[i - 1];
    best[at] = e;
  }
  return all;
}

static void put_weight(ttm_llm *r, const ttm_registry_entry *entry) {
  const ttm_graph_arg *arg = &r->p->graphs.at[entry->graph].args.at[entry->arg];
  const ttm_type *type = arg->local_type < r->p->types.n ? &r->p->types.at[arg->local_type] : NULL;
  ttm_str name = ttm_profile_string(r->p, arg->name);
  char shape[256] = "?";
  if (type && type->is_tensor && !ttm_dims_print(&type->tensor.shape, shape, sizeof shape))
    memcpy(shape, "scalar", sizeof "scalar");
  ttm_buf_puts(r->out, "| ");
  ttm_llm_cell(r, name.n ? name : ttm_profile_string(r->p, arg->ssa));
  ttm_buf_printf(r->out, " | %s | ", shape);
  ttm_llm_cell(r, type && type->is_tensor ? type->tensor.element : TTM_LIT("?"));
  ttm_buf_puts(r->out, " | ");
  ttm_put_bytes(r->out, entry->bytes);
  ttm_buf_puts(r->out, " |\n");
}

static const char *no_weights(const ttm_profile *p) {
  if (p->graphs.n) return "None: the compiled graphs take no weights.\n";
  if (p->kind == TTM_LOG_LIVE) return "Unknown: samples do not tell weights from other memory.\n";
  if (p->kind != TTM_LOG_CAPTURE)
    return "Unknown: the log holds no module dump. TTXLA_LOGGER_LEVEL=DEBUG prints them.\n";
  return p->capture.recording.is ? "Unknown: a recording does not tell weights from other tensors.\n"
                                 : "Unknown: a graph capture does not tell weights from other tensors.\n";
}

static void put_weights(ttm_llm *r) {
  const ttm_registry *registry = &r->f->registry;
  uint32_t best[SHOWN_WEIGHTS];
  size_t shown, all = largest_weights(registry, best, &shown);
  ttm_buf_puts(r->out, "\n## Model Weights");
  if (r->p->graphs.n) ttm_buf_printf(r->out, " (%.1f MB total)", ttm_mib(registry->weight_bytes));
  ttm_buf_char(r->out, '\n');
  if (!all) return ttm_buf_puts(r->out, no_weights(r->p));
  ttm_buf_puts(r->out, "| Name | Shape | Type | Size |\n|------|-------|------|------|\n");
  for (size_t i = 0; i < shown; i++) put_weight(r, &registry->entries.at[best[i]]);
  if (all > shown) ttm_buf_printf(r->out, "\n*... and %zu more weights*\n", all - shown);
}

static void put_distribution(ttm_llm *r) {
  uint64_t rest = 0;
  ttm_buf_puts(r->out, "\n## Operation Distribution\n");
  if (!r->f->distribution.n) return ttm_buf_puts(r->out, "None: the log holds no operations.\n");
  for (size_t i = 0; i < r->f->distribution.n; i++) {
    const ttm_count *count = &r->f->distribution.at[i];
    if (i >= SHOWN_KINDS) {
      rest += count->n;
      continue;
    }
    ttm_buf_puts(r->out, "- ");
    ttm_llm_cell(r, count->name);
    ttm_buf_puts(r->out, ": ");
    ttm_put_count(r->out, count->n);
    ttm_buf_printf(r->out, " (%.1f%%)\n", ttm_percent((double)count->n, r->f->elements));
  }
  if (!rest) return;
  ttm_buf_puts(r->out, "- *other*: ");
  ttm_put_count(r->out, rest);
  ttm_buf_char(r->out, '\n');
}

int ttm_llm_write(const ttm_findings *f, ttm_str name, ttm_buf *out) {
  ttm_llm r = {f, f->profile, out};
  put_header(&r, name);
  put_configuration(&r);
  put_peaks(&r);
  ttm_llm_incidents(&r);
  ttm_llm_advices(&r);
  put_consumers(&r);
  put_padding(&r);
  put_weights(&r);
  put_distribution(&r);
  ttm_llm_live_sets(&r);
  ttm_llm_wastes(&r);
  ttm_llm_lifetimes(&r);
  ttm_llm_fragmentation(&r);
  ttm_llm_layers(&r);
  ttm_llm_runs(&r);
  ttm_llm_leaks(&r);
  ttm_llm_the_rest(&r);
  ttm_llm_gaps(&r);
  return out->failed ? TTM_ENOMEM : TTM_OK;
}
