/* SPDX-License-Identifier: Apache-2.0 */
/* The LLM report: the seed's sections by their names and in their order, each number with the log line it comes from. */
#include "report/format.h"
#include "report/text.h"
#include "report/words.h"

enum {
  CELL = 80,      /* columns of a foreign text in a table */
  SENTENCE = 600, /* of an error message */
  SHOWN_WEIGHTS = 20,
  SHOWN_KINDS = 15, /* operation names in the distribution */
  SHOWN_INCIDENTS = 20,
  SHOWN_RUNS = 12,
  SHOWN_LEAKS = 10,
};

typedef struct report {
  const ttm_findings *f;
  const ttm_profile *p;
  ttm_buf *out;
} report;

static double mb(int64_t thousandths) { return (double)thousandths / 1000.0; }

static void put_cell(report *r, ttm_view text) { ttm_put_text(r->out, text, CELL, TTM_FORM_MARKDOWN); }

/* "| 74 | ttnn.argmax | argmax |" without the last bar. */
static void put_op_cells(report *r, uint32_t op) {
  uint32_t index = ttm_findings_index(r->f, op);
  ttm_buf_puts(r->out, "| ");
  if (index == TTM_NONE)
    ttm_buf_char(r->out, '-');
  else
    ttm_buf_u64(r->out, index);
  ttm_buf_puts(r->out, " | ");
  put_cell(r, ttm_words_name(r->p, op));
  ttm_buf_puts(r->out, " | ");
  put_cell(r, ttm_words_location(r->p, op));
  ttm_buf_char(r->out, ' ');
}

/* "#74 ttnn.argmax at argmax (log line 1234)". */
static void put_op(report *r, uint32_t op) {
  ttm_words_index(r->out, r->f, op);
  ttm_buf_char(r->out, ' ');
  put_cell(r, ttm_words_name(r->p, op));
  ttm_buf_puts(r->out, " at ");
  put_cell(r, ttm_words_location(r->p, op));
  ttm_buf_printf(r->out, " (log line %u)", r->p->ops.at[op].line);
}

static void put_bytes_mb(report *r, uint64_t bytes) {
  ttm_buf_u64(r->out, bytes);
  ttm_buf_printf(r->out, " B (%.2f MB)", (double)bytes / TTM_MB);
}

/* ---- Header and configuration ------------------------------------------------------------------------------------- */

static void put_header(report *r, ttm_view name) {
  ttm_buf *out = r->out;
  const ttm_peak *dram = &r->f->peak[TTM_DRAM], *l1 = &r->f->peak[TTM_L1];
  ttm_buf_puts(out, "# Memory Profile: ");
  ttm_put_text(out, name, SENTENCE, TTM_FORM_MARKDOWN);
  ttm_buf_puts(out, "\n\n> ");
  if (dram->known) {
    ttm_buf_printf(out, "Peak DRAM: %.1f MB/bank (%.1f%%) | ", mb(dram->level.allocated),
                   ttm_percent(dram->level.allocated, dram->level.total));
  }
  if (l1->known) ttm_buf_printf(out, "Peak L1: %.2f MB/bank | ", mb(l1->level.allocated));
  ttm_buf_puts(out, "Ops: ");
  ttm_put_count(out, r->f->elements);
  if (r->f->registry.weight_bytes)
    ttm_buf_printf(out, " | Weights: %.1f MB", (double)r->f->registry.weight_bytes / TTM_MB);
  if (r->f->padding_peak_pct > 0) ttm_buf_printf(out, " | Padding Overhead: %.1f%%", r->f->padding_peak_pct);
  if (r->f->incidents.n) ttm_buf_puts(out, " | "), ttm_put_counted(out, r->f->incidents.n, "incident");
  ttm_buf_char(out, '\n');
}

static void put_memory_line(report *r) {
  const char *between = "- Memory: ";
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    if (!ttm_profile_config(r->p, (ttm_memory)m, &level)) continue;
    ttm_buf_printf(r->out, "%s%s %u x %.2f MB/bank", between, ttm_memory_name((ttm_memory)m), level.banks,
                   mb(level.total));
    between = " | ";
  }
  if (between[0] != '-') ttm_buf_char(r->out, '\n');
  const char *first = "- Capacity in total: ";
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    if (!ttm_profile_config(r->p, (ttm_memory)m, &level)) continue;
    ttm_buf_printf(r->out, "%s%s %.1f MB", first, ttm_memory_name((ttm_memory)m),
                   mb((int64_t)level.total * level.banks));
    first = " | ";
  }
  if (first[0] != '-') ttm_buf_char(r->out, '\n');
}

static void put_configuration(report *r) {
  ttm_buf *out = r->out;
  const ttm_seen *seen = &r->p->seen;
  ttm_buf_puts(out, "\n## Configuration\n");
  put_memory_line(r);
  ttm_buf_puts(out, "- Operations: ");
  ttm_put_count(out, r->f->elements);
  ttm_buf_puts(out, " total (");
  ttm_put_count(out, r->f->weight_ops);
  ttm_buf_puts(out, " weight, ");
  ttm_put_count(out, r->f->elements - r->f->weight_ops);
  ttm_buf_puts(out, " activation)\n- Log: ");
  put_cell(r, ttm_profile_string(r->p, r->p->path));
  ttm_buf_puts(out, ", ");
  ttm_put_counted(out, seen->lines, "line");
  ttm_buf_printf(out, ", %s", ttm_words_kind(r->p->kind));
  if (r->p->ranks.n > 1) ttm_buf_puts(out, ", "), ttm_put_counted(out, r->p->ranks.n, "rank");
  ttm_buf_puts(
      out,
      "\n- Units: MB = 1048576 bytes; per bank unless \"total\" is said; the log rounds states to 0.001 MB per bank\n");
}

/* ---- Peaks -------------------------------------------------------------------------------------------------------- */

static void put_in_op_peak(report *r, ttm_memory memory) {
  const ttm_peak *peak = &r->f->peak[memory];
  const ttm_incident *incident = &r->p->incidents.at[peak->in_op_incident];
  ttm_buf_printf(r->out, "\nInside ");
  if (incident->op == TTM_NONE)
    ttm_buf_puts(r->out, "the failing operation");
  else
    put_op(r, incident->op);
  ttm_buf_printf(r->out, " %s stood higher than any printed state: ", ttm_memory_name(memory));
  put_bytes_mb(r, peak->in_op_bytes);
  ttm_buf_printf(r->out, " per bank, from the error message at log line %u.\n", incident->line);
}

static void put_peak_row(report *r, ttm_memory memory) {
  const ttm_peak *peak = &r->f->peak[memory];
  ttm_buf_printf(r->out, "| %s ", ttm_memory_name(memory));
  if (peak->cause == TTM_NONE)
    ttm_buf_puts(r->out, "| - | - | - ");
  else
    put_op_cells(r, peak->cause);
  ttm_buf_printf(r->out, "| %.2f MB | %.2f MB | %.1f%% ", mb(peak->level.allocated), mb(peak->level.total),
                 ttm_percent(peak->level.allocated, peak->level.total));
  if (peak->cause == TTM_NONE)
    ttm_buf_puts(r->out, "| - | - ");
  else
    ttm_buf_printf(r->out, "| %u | %.2f MB ", r->p->ops.at[peak->cause].line, mb(peak->effect));
  ttm_buf_printf(r->out, "| %.1f MB |\n", mb((int64_t)peak->level.allocated * peak->level.banks));
}

static void put_peaks(report *r) {
  ttm_buf *out = r->out;
  bool any = false;
  for (int m = 0; m < TTM_MEMORIES; m++) any |= r->f->peak[m].known;
  ttm_buf_puts(out, "\n## Peak Memory\n");
  if (!any) return ttm_buf_puts(out, "Unknown: the log holds no memory states.\n");
  ttm_buf_puts(
      out,
      "| Type | Op# | Operation | Location | Allocated | Capacity | Utilization | Log line | Added by it | Total |\n"
      "|------|-----|-----------|----------|-----------|----------|-------------|----------|-------------|-------|\n");
  for (int m = 0; m < TTM_MEMORIES; m++) {
    if (r->f->peak[m].known) put_peak_row(r, (ttm_memory)m);
  }
  const ttm_peak *dram = &r->f->peak[TTM_DRAM];
  if (dram->known && dram->state < r->p->states.n) {
    ttm_buf_puts(out, "\nThe operation is the one that raised the memory to its peak.");
    ttm_buf_printf(out, " The DRAM peak itself is the state at log line %u", r->p->states.at[dram->state].line);
    if (r->p->ranks.n > 1) ttm_buf_printf(out, " on rank %u", r->p->ranks.at[ttm_state_rank(r->p, dram->state)]);
    ttm_buf_printf(out, ": %.2f MB free, largest free block %.2f MB per bank.\n", mb(dram->level.free),
                   mb(dram->level.largest));
  }
  for (int m = 0; m < TTM_MEMORIES; m++) {
    if (r->f->peak[m].in_op_bytes) put_in_op_peak(r, (ttm_memory)m);
  }
}

/* ---- Incidents ---------------------------------------------------------------------------------------------------- */

/* "   - Label: 123 B (0.00 MB) per bank, 1.4 MB total". Nothing when the message did not say. */
static void put_amount(report *r, const char *label, uint64_t per_bank, uint64_t banks) {
  if (per_bank == TTM_UNKNOWN) return;
  ttm_buf_printf(r->out, "   - %s: ", label);
  put_bytes_mb(r, per_bank);
  ttm_buf_puts(r->out, " per bank");
  if (banks != TTM_UNKNOWN && banks > 0) {
    ttm_buf_printf(r->out, ", %.2f MB total in %llu banks", (double)per_bank * (double)banks / TTM_MB,
                   (unsigned long long)banks);
  }
  ttm_buf_char(r->out, '\n');
}

static void put_oom_numbers(report *r, const ttm_incident_text *what, uint64_t shortfall) {
  put_amount(r, "Needed", what->needed_per_bank, what->banks);
  put_amount(r, "Free", what->free_per_bank, what->banks);
  put_amount(r, "Largest free block", what->largest_free_block, TTM_UNKNOWN);
  put_amount(r, "Allocated", what->allocated_per_bank, what->banks);
  put_amount(r, "Bank size", what->bank_size, what->banks);
  put_amount(r, "Missing", shortfall, what->banks);
}

static void put_buffer_numbers(report *r, const ttm_incident_text *what, uint64_t shortfall) {
  const char *buffers = what->dataflow ? "dataflow" : "circular";
  if (what->buffers_end != TTM_UNKNOWN) {
    ttm_buf_printf(r->out, "   - Static %s buffers end at L1 address %llu", buffers,
                   (unsigned long long)what->buffers_end);
    if (what->l1_buffer_at != TTM_UNKNOWN) {
      ttm_buf_printf(r->out, "; the lowest L1 buffer starts at %llu", (unsigned long long)what->l1_buffer_at);
    }
    if (what->l1_size != TTM_UNKNOWN) ttm_buf_printf(r->out, "; L1 ends at %llu", (unsigned long long)what->l1_size);
    ttm_buf_char(r->out, '\n');
  }
  if (what->core_range.n)
    ttm_buf_puts(r->out, "   - Cores: "), put_cell(r, what->core_range), ttm_buf_char(r->out, '\n');
  if (shortfall != TTM_UNKNOWN) {
    ttm_buf_puts(r->out, what->kind == TTM_INCIDENT_L1_CLASH ? "   - Overlap: " : "   - Too large by: ");
    put_bytes_mb(r, shortfall);
    ttm_buf_puts(r->out, " on each core\n");
  }
}

static void put_incident(report *r, size_t number, const ttm_incident_finding *finding) {
  ttm_buf *out = r->out;
  const ttm_incident *incident = &r->p->incidents.at[finding->incident];
  ttm_buf_printf(out, "%zu. **", number);
  ttm_words_incident(out, incident);
  ttm_buf_printf(out, "**, log line %u", incident->line);
  if (incident->copies > 1) ttm_buf_printf(out, " (printed %u times)", incident->copies);
  if (r->p->ranks.n > 1) ttm_buf_printf(out, ", rank %u", r->p->ranks.at[incident->rank]);
  ttm_buf_puts(out, ": ");
  ttm_put_text(out, incident->what.text, SENTENCE, TTM_FORM_MARKDOWN);
  ttm_buf_char(out, '\n');
  if (finding->verdict != TTM_VERDICT_NONE) {
    ttm_buf_puts(out, "   - Verdict: ");
    ttm_words_verdict(out, finding->verdict);
    ttm_buf_char(out, '\n');
  }
  if (incident->what.kind == TTM_INCIDENT_OOM)
    put_oom_numbers(r, &incident->what, finding->shortfall);
  else
    put_buffer_numbers(r, &incident->what, finding->shortfall);
  if (incident->op == TTM_NONE) return;
  ttm_buf_puts(out, "   - Operation in flight: ");
  put_op(r, incident->op);
  ttm_buf_char(out, '\n');
}

static void put_incidents(report *r) {
  size_t n = r->f->incidents.n;
  if (!n) return;
  ttm_buf_puts(r->out, "\n## Incidents\n");
  for (size_t i = 0; i < n && i < SHOWN_INCIDENTS; i++) put_incident(r, i + 1, &r->f->incidents.at[i]);
  if (n > SHOWN_INCIDENTS) ttm_buf_printf(r->out, "\n*... and %zu more incidents*\n", n - SHOWN_INCIDENTS);
}

/* ---- Consumers and padding ---------------------------------------------------------------------------------------- */

/* The shapes of a list of types: "1x96x256, 256"; "N/A" when none is a tensor. */
static void put_shapes(report *r, ttm_list types) {
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
    put_cell(r, ttm_buf_view(&shapes));
  else
    ttm_buf_puts(r->out, "N/A");
  r->out->failed |= shapes.failed;
  ttm_buf_free(&shapes);
}

static void put_consumer(report *r, size_t rank, const ttm_added *row) {
  const ttm_op *op = &r->p->ops.at[row->op];
  const ttm_text *text = ttm_op_text_of(r->p, row->op);
  ttm_level before;
  bool known = ttm_state_level(r->p, op->state, TTM_DRAM, &before);
  ttm_buf_printf(r->out, "| %zu ", rank);
  put_op_cells(r, row->op);
  ttm_buf_printf(r->out, "| %.2f", mb(row->effect));
  if (row->runs > 1) ttm_buf_printf(r->out, " \xC3\x97 %u runs", row->runs);
  if (known)
    ttm_buf_printf(r->out, " | %.2f | ", mb((int64_t)before.allocated + row->effect));
  else
    ttm_buf_puts(r->out, " | - | ");
  put_shapes(r, text->inputs);
  ttm_buf_puts(r->out, " | ");
  put_shapes(r, text->outputs);
  ttm_buf_printf(r->out, " | %u |\n", op->line);
}

static void put_consumers(report *r) {
  ttm_added rows[TTM_TOP];
  size_t n = ttm_words_added(r->f, TTM_DRAM, rows);
  ttm_buf_puts(r->out, "\n## Top 10 Memory Consumers (DRAM)\n");
  if (!n) return ttm_buf_puts(r->out, "None: no operation is seen to add DRAM.\n");
  ttm_buf_puts(
      r->out,
      "| Rank | Op# | Operation | Location | DRAM added (MB) | DRAM after (MB) | Input | Output | Log line |\n"
      "|------|-----|-----------|----------|-----------------|-----------------|-------|--------|----------|\n");
  for (size_t i = 0; i < n; i++) put_consumer(r, i + 1, &rows[i]);
}

static void put_padding_row(report *r, size_t rank, const ttm_padding_row *row) {
  const ttm_tensor_type *type = ttm_text_output(r->p, ttm_op_text_of(r->p, row->op), row->result);
  if (!type) return;
  char logical[256], stored[256];
  ttm_dims stored_shape = ttm_tensor_stored_shape(type);
  ttm_dims_print(&type->shape, logical, sizeof logical);
  ttm_dims_print(&stored_shape, stored, sizeof stored);
  uint64_t overhead = row->stored_bytes > row->logical_bytes ? row->stored_bytes - row->logical_bytes : 0;
  ttm_buf_printf(r->out, "| %zu | %u | ", rank, ttm_findings_index(r->f, row->op));
  put_cell(r, ttm_words_name(r->p, row->op));
  ttm_buf_printf(r->out, " | %s (", logical[0] ? logical : "scalar");
  put_cell(r, type->element);
  ttm_buf_printf(r->out, ") | %s | %.2f MB (%.1f%%) | ", stored, (double)overhead / TTM_MB,
                 ttm_percent((double)overhead, (double)row->logical_bytes));
  put_cell(r, ttm_words_location(r->p, row->op));
  ttm_buf_printf(r->out, " | %u | %u |\n", row->times, r->p->ops.at[row->op].line);
}

static void put_padding(report *r) {
  ttm_buf_puts(r->out, "\n## Top 10 Padding Overhead\n");
  if (!r->f->padding.n) {
    return ttm_buf_puts(r->out, r->p->seen.op_lines ? "None: no result is padded.\n"
                                                    : "Unknown: the log does not show the types of the operations.\n");
  }
  ttm_buf_puts(r->out,
               "| Rank | Op# | Operation | Logical | Padded | Overhead | Location | Times run | Log line |\n"
               "|------|-----|-----------|---------|--------|----------|----------|-----------|----------|\n");
  for (size_t i = 0; i < r->f->padding.n; i++) put_padding_row(r, i + 1, &r->f->padding.at[i]);
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

static void put_weight(report *r, const ttm_registry_entry *entry) {
  const ttm_graph_arg *arg = &r->p->graphs.at[entry->graph].args.at[entry->arg];
  const ttm_type *type = arg->local_type < r->p->types.n ? &r->p->types.at[arg->local_type] : NULL;
  ttm_view name = ttm_profile_string(r->p, arg->name);
  char shape[256] = "?";
  if (type && type->is_tensor && !ttm_dims_print(&type->tensor.shape, shape, sizeof shape)) strcpy(shape, "scalar");
  ttm_buf_puts(r->out, "| ");
  put_cell(r, name.n ? name : ttm_profile_string(r->p, arg->ssa));
  ttm_buf_printf(r->out, " | %s | ", shape);
  put_cell(r, type && type->is_tensor ? type->tensor.element : TTM_LIT("?"));
  ttm_buf_puts(r->out, " | ");
  ttm_put_bytes(r->out, entry->bytes);
  ttm_buf_puts(r->out, " |\n");
}

static void put_weights(report *r) {
  const ttm_registry *registry = &r->f->registry;
  uint32_t best[SHOWN_WEIGHTS];
  size_t shown, all = largest_weights(registry, best, &shown);
  ttm_buf_printf(r->out, "\n## Model Weights (%.1f MB total)\n", (double)registry->weight_bytes / TTM_MB);
  if (!all) {
    return ttm_buf_puts(r->out, r->p->graphs.n
                                    ? "None: the compiled graphs take no weights.\n"
                                    : "Unknown: the log holds no module dump. TTXLA_LOGGER_LEVEL=DEBUG prints them.\n");
  }
  ttm_buf_puts(r->out, "| Name | Shape | Type | Size |\n|------|-------|------|------|\n");
  for (size_t i = 0; i < shown; i++) put_weight(r, &registry->entries.at[best[i]]);
  if (all > shown) ttm_buf_printf(r->out, "\n*... and %zu more weights*\n", all - shown);
}

static void put_distribution(report *r) {
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
    put_cell(r, count->name);
    ttm_buf_puts(r->out, ": ");
    ttm_put_count(r->out, count->n);
    ttm_buf_printf(r->out, " (%.1f%%)\n", ttm_percent((double)count->n, r->f->elements));
  }
  if (!rest) return;
  ttm_buf_puts(r->out, "- *other*: ");
  ttm_put_count(r->out, rest);
  ttm_buf_char(r->out, '\n');
}

/* ---- Runs, leaks, gaps -------------------------------------------------------------------------------------------- */

static void put_figure(report *r, uint32_t thousandths) {
  if (thousandths == TTM_NONE)
    ttm_buf_puts(r->out, "| - ");
  else
    ttm_buf_printf(r->out, "| %.2f ", mb(thousandths));
}

static void put_run(report *r, const ttm_run *run) {
  const ttm_frame *frame = &r->p->frames.at[run->frame];
  ttm_view name = ttm_profile_string(r->p, frame->name);
  ttm_buf_printf(r->out, "| %u | ", frame->run);
  if (r->p->ranks.n > 1) ttm_buf_printf(r->out, "rank %u ", r->p->ranks.at[frame->rank]);
  put_cell(r, name.n ? name : TTM_LIT("(outside programs)"));
  if (run->first_op == TTM_NONE)
    ttm_buf_puts(r->out, " | - ");
  else
    ttm_buf_printf(r->out, " | %u-%u ", ttm_findings_index(r->f, run->first_op),
                   ttm_findings_index(r->f, run->last_op));
  put_figure(r, run->start);
  put_figure(r, run->end);
  put_figure(r, run->peak);
  ttm_buf_printf(r->out, "| %u-%u%s |\n", frame->first_line, frame->last_line,
                 frame->finished ? "" : " (not finished)");
}

static void put_runs(report *r) {
  size_t n = r->f->runs.n;
  if (n < 2) return;
  ttm_buf_puts(r->out,
               "\n## Runs\n| Run | Program | Ops | DRAM start (MB) | DRAM end (MB) | DRAM peak (MB) | Log lines |\n"
               "|-----|---------|-----|-----------------|---------------|----------------|-----------|\n");
  for (size_t i = 0; i < n; i++) {
    if (n > SHOWN_RUNS && i == SHOWN_RUNS / 2)
      i = n - SHOWN_RUNS / 2; /* the first ones warm up, the last ones are steady */
    put_run(r, &r->f->runs.at[i]);
  }
  if (n > SHOWN_RUNS) ttm_buf_printf(r->out, "\n*... and %zu more runs between them*\n", n - SHOWN_RUNS);
}

static void put_leaks(report *r) {
  size_t n = r->f->leaks.n;
  if (!n) return;
  ttm_buf_puts(r->out, "\n## Leaks\n");
  for (size_t i = 0; i < n && i < SHOWN_LEAKS; i++) {
    const ttm_leak *leak = &r->f->leaks.at[i];
    ttm_buf_printf(r->out, "- %.3f MB per bank and run over %u runs (confidence %s): ", mb((int64_t)leak->per_run),
                   leak->runs_seen, leak->confidence);
    if (leak->op == TTM_NONE)
      ttm_buf_puts(r->out, "which operation cannot be told");
    else
      put_op(r, leak->op);
    ttm_buf_char(r->out, '\n');
  }
  if (n > SHOWN_LEAKS) ttm_buf_printf(r->out, "- *... and %zu more*\n", n - SHOWN_LEAKS);
}

static void put_gap(report *r, uint64_t n, const char *what) {
  if (!n) return;
  ttm_buf_printf(r->out, "- %s: ", what);
  ttm_put_count(r->out, n);
  ttm_buf_char(r->out, '\n');
}

static void put_gaps(report *r) {
  const ttm_seen *seen = &r->p->seen;
  const char *missing = ttm_words_missing(r->p->kind);
  ttm_buf_puts(r->out, "\n## What was not understood\n");
  size_t before = r->out->n;
  put_gap(r, seen->bad_op_lines, "Operation lines that do not parse (cut or torn), skipped");
  put_gap(r, seen->bad_blocks, "Memory lines that do not parse");
  put_gap(r, seen->unpaired, "Memory states whose operation line is missing");
  put_gap(r, seen->unfinished, "Programs without their Finished line");
  if (seen->cut) ttm_buf_puts(r->out, "- The log ends inside a line or a block: it was cut off\n");
  if (seen->trace_cache)
    ttm_buf_puts(r->out, "- Traces were captured or replayed: operations inside a replay print nothing\n");
  if (missing) ttm_buf_printf(r->out, "- %s\n", missing);
  for (uint32_t i = 0; i < seen->note_count && i < TTM_KEPT_NOTES; i++) {
    ttm_buf_printf(r->out, "- Log line %u: ", seen->notes[i].line);
    put_cell(r, ttm_profile_string(r->p, seen->notes[i].text));
    ttm_buf_char(r->out, '\n');
  }
  if (r->out->n == before) ttm_buf_puts(r->out, "Nothing: every operation and memory line was read.\n");
}

int ttm_llm_write(const ttm_findings *f, ttm_view name, ttm_buf *out) {
  report r = {f, f->profile, out};
  put_header(&r, name);
  put_configuration(&r);
  put_peaks(&r);
  put_incidents(&r);
  put_consumers(&r);
  put_padding(&r);
  put_weights(&r);
  put_distribution(&r);
  put_runs(&r);
  put_leaks(&r);
  put_gaps(&r);
  return out->failed ? TTM_ENOMEM : TTM_OK;
}
