/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of the LLM report that the old one did not have: incidents, runs, leaks, and what was not understood. */
#include "base/checked.h"
#include "report/run/llm_parts.h"
#include "report/run/recording.h"
#include "report/run/ways_words.h"

enum {
  SHOWN_INCIDENTS = 20,
  SHOWN_RUNS = 12,
  SHOWN_LEAKS = 10,
};

void ttm_llm_cell(ttm_llm *r, ttm_str text) { ttm_put_text(r->out, text, TTM_LLM_CELL, TTM_FORM_MARKDOWN); }

void ttm_llm_op(ttm_llm *r, uint32_t op) {
  ttm_words_index(r->out, r->f, op);
  ttm_buf_char(r->out, ' ');
  ttm_llm_cell(r, ttm_words_name(r->p, op));
  ttm_buf_puts(r->out, " at ");
  ttm_llm_cell(r, ttm_words_location(r->p, op));
  ttm_buf_printf(r->out, " (log line %u)", r->p->ops.at[op].line);
}

void ttm_llm_bytes(ttm_llm *r, uint64_t bytes) {
  ttm_buf_u64(r->out, bytes);
  ttm_buf_printf(r->out, " B (%.2f MB)", ttm_mib(bytes));
}

/* ---- Incidents ---------------------------------------------------------------------------------------------------- */

/* "   - Label: 123 B (0.00 MB) per bank, 1.4 MB total". Nothing when the message did not say. */
static void put_amount(ttm_llm *r, const char *label, uint64_t per_bank, uint64_t banks) {
  if (per_bank == TTM_UNKNOWN) return;
  ttm_buf_printf(r->out, "   - %s: ", label);
  ttm_llm_bytes(r, per_bank);
  ttm_buf_puts(r->out, " per bank");
  if (banks != TTM_UNKNOWN && banks > 0) {
    ttm_buf_printf(r->out, ", %.2f MB total in %llu banks", ttm_mib(ttm_mul_sat(per_bank, banks)),
                   (unsigned long long)banks);
  }
  ttm_buf_char(r->out, '\n');
}

static void put_oom_numbers(ttm_llm *r, const ttm_incident_text *what, uint64_t shortfall) {
  put_amount(r, "Needed", what->needed_per_bank, what->banks);
  put_amount(r, "Free", what->free_per_bank, what->banks);
  put_amount(r, "Largest free block", what->largest_free_block, TTM_UNKNOWN);
  put_amount(r, "Allocated", what->allocated_per_bank, what->banks);
  put_amount(r, "Bank size", what->bank_size, what->banks);
  put_amount(r, "Missing", shortfall, what->banks);
}

static void put_buffer_numbers(ttm_llm *r, const ttm_incident_text *what, uint64_t shortfall) {
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
    ttm_buf_puts(r->out, "   - Cores: "), ttm_llm_cell(r, what->core_range), ttm_buf_char(r->out, '\n');
  if (shortfall != TTM_UNKNOWN) {
    ttm_buf_puts(r->out, what->kind == TTM_INCIDENT_L1_CLASH ? "   - Overlap: " : "   - Too large by: ");
    ttm_llm_bytes(r, shortfall);
    ttm_buf_puts(r->out, " on each core\n");
  }
}

static void put_ways(ttm_llm *r, size_t i, const ttm_incident *incident) {
  ttm_ways ways;
  ttm_ways_find(&ways, r->f, i);
  for (size_t w = 0; w < ways.n; w++) {
    ttm_buf words = {0};
    ttm_words_way(&words, &ways.at[w], incident);
    ttm_buf_puts(r->out, "   - Would have fitted: ");
    ttm_put_text(r->out, ttm_buf_str(&words), TTM_LLM_SENTENCE, TTM_FORM_MARKDOWN);
    r->out->failed |= words.failed;
    ttm_buf_free(&words);
    ttm_buf_printf(r->out, " (%s)\n", ttm_basis_name(ways.at[w].basis));
  }
}

static void put_incident(ttm_llm *r, size_t i) {
  ttm_buf *out = r->out;
  const ttm_incident_finding *finding = &r->f->incidents.at[i];
  const ttm_incident *incident = &r->p->incidents.at[finding->incident];
  ttm_buf_printf(out, "%zu. **", i + 1);
  ttm_words_incident(out, incident);
  ttm_buf_printf(out, "**, log line %u", incident->line);
  if (incident->copies > 1) ttm_buf_printf(out, " (printed %u times)", incident->copies);
  if (r->p->ranks.n > 1) ttm_buf_printf(out, ", rank %u", r->p->ranks.at[incident->rank]);
  ttm_buf_puts(out, ": ");
  ttm_put_text(out, incident->what.text, TTM_LLM_SENTENCE, TTM_FORM_MARKDOWN);
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
  if (incident->op != TTM_NONE) {
    ttm_buf_puts(out, "   - Operation in flight: ");
    ttm_llm_op(r, incident->op);
    ttm_buf_char(out, '\n');
  }
  ttm_buf weights = {0};
  if (ttm_words_too_many_weights(&weights, r->f, incident))
    ttm_buf_printf(out, "   - %.*s\n", (int)weights.n, weights.at);
  out->failed |= weights.failed;
  ttm_buf_free(&weights);
  put_ways(r, i, incident);
}

void ttm_llm_incidents(ttm_llm *r) {
  size_t n = r->f->incidents.n;
  if (!n) return;
  ttm_buf_puts(r->out, "\n## Incidents\n");
  for (size_t i = 0; i < n && i < SHOWN_INCIDENTS; i++) put_incident(r, i);
  if (n > SHOWN_INCIDENTS) ttm_buf_printf(r->out, "\n*... and %zu more incidents*\n", n - SHOWN_INCIDENTS);
}

/* ---- Runs, leaks, gaps -------------------------------------------------------------------------------------------- */

static void put_figure(ttm_llm *r, uint32_t thousandths) {
  if (thousandths == TTM_NONE)
    ttm_buf_puts(r->out, "| - ");
  else
    ttm_buf_printf(r->out, "| %.3f ", ttm_mb(thousandths));
}

static void put_run(ttm_llm *r, const ttm_run *run) {
  const ttm_call *call = &r->p->calls.at[run->call];
  ttm_str name = ttm_profile_string(r->p, call->name);
  ttm_buf_printf(r->out, "| %u | ", call->run);
  if (r->p->ranks.n > 1) ttm_buf_printf(r->out, "rank %u ", r->p->ranks.at[call->rank]);
  ttm_llm_cell(r, name.n ? name : TTM_LIT("(outside programs)"));
  if (run->first_op == TTM_NONE)
    ttm_buf_puts(r->out, " | - ");
  else
    ttm_buf_printf(r->out, " | %u-%u ", ttm_findings_index(r->f, run->first_op),
                   ttm_findings_index(r->f, run->last_op));
  put_figure(r, run->start);
  put_figure(r, run->end);
  put_figure(r, run->peak);
  ttm_buf_printf(r->out, "| %u-%u%s |\n", call->first_line, call->last_line, call->finished ? "" : " (not finished)");
}

/* "- main (graph 0): 3120 runs, steady after 1, 1 later not alike; DRAM peak 23.836 MB in run 0, 19.428 MB in the last usual one". */
static void put_program(ttm_llm *r, const ttm_program_runs *program) {
  const ttm_call *call = &r->p->calls.at[program->call];
  ttm_str name = ttm_profile_string(r->p, call->name);
  ttm_buf_puts(r->out, "- ");
  ttm_llm_cell(r, name.n ? name : TTM_LIT("(outside programs)"));
  if (call->graph != TTM_NONE) ttm_buf_printf(r->out, " (graph %u)", call->graph);
  ttm_buf_printf(r->out, ": %u run%s", program->runs, program->runs > 1 ? "s" : "");
  bool folds = program->runs - program->warm_up - program->odd >= 2;
  if (folds && program->warm_up) ttm_buf_printf(r->out, ", steady after %u", program->warm_up);
  if (folds && program->odd) ttm_buf_printf(r->out, ", %u later not alike", program->odd);
  if (program->peak != TTM_NONE) {
    uint32_t last = r->f->runs.at[folds ? program->usual_run : program->last_run].peak;
    ttm_buf_printf(r->out, "; DRAM peak %.3f MB in run %u", ttm_mb(program->peak),
                   r->p->calls.at[r->f->runs.at[program->peak_run].call].run);
    if (program->runs > 1 && last != TTM_NONE)
      ttm_buf_printf(r->out, folds && program->odd ? ", %.3f MB in the last usual one" : ", %.3f MB in the last",
                     ttm_mb(last));
  }
  ttm_buf_char(r->out, '\n');
}

void ttm_llm_runs(ttm_llm *r) {
  size_t n = r->f->runs.n;
  if (n < 2) return;
  ttm_buf_puts(r->out, "\n## Runs\n");
  for (size_t i = 0; i < r->f->programs.n; i++) put_program(r, &r->f->programs.at[i]);
  ttm_buf_puts(r->out,
               "\n| Run | Program | Ops | DRAM start (MB) | DRAM end (MB) | DRAM peak (MB) | Log lines |\n"
               "|-----|---------|-----|-----------------|---------------|----------------|-----------|\n");
  for (size_t i = 0; i < n; i++) {
    if (n > SHOWN_RUNS && i == SHOWN_RUNS / 2)
      i = n - SHOWN_RUNS / 2; /* the first ones warm up, the last ones are steady */
    put_run(r, &r->f->runs.at[i]);
  }
  if (n > SHOWN_RUNS) ttm_buf_printf(r->out, "\n*... and %zu more runs between them*\n", n - SHOWN_RUNS);
}

static void put_culprits(ttm_llm *r, const ttm_culprits *culprits) {
  for (uint32_t i = 0; i < culprits->n; i++) {
    const ttm_culprit *culprit = &culprits->at[i];
    ttm_buf_printf(r->out, "  - %.3f MB: ", ttm_mib(culprit->bank_bytes));
    ttm_llm_op(r, culprit->op);
    if (culprit->tensors > 1) ttm_buf_printf(r->out, " and its like, %u tensors in each run", culprit->tensors);
    ttm_buf_char(r->out, '\n');
  }
  if (culprits->several) ttm_buf_puts(r->out, "  - Sizes alone cannot tell these from others: look at all of them\n");
}

void ttm_llm_leaks(ttm_llm *r) {
  size_t n = r->f->leaks.n;
  if (!n) return;
  ttm_buf_puts(r->out, "\n## Leaks\n");
  for (size_t i = 0; i < n && i < SHOWN_LEAKS; i++) {
    const ttm_leak *leak = &r->f->leaks.at[i];
    const ttm_call *first = &r->p->calls.at[r->f->runs.at[leak->first_run].call];
    const ttm_call *last = &r->p->calls.at[r->f->runs.at[leak->last_run].call];
    ttm_buf_printf(r->out, "- %.3f MB per bank and run, proved by %u runs (", ttm_mb((int64_t)leak->per_run),
                   leak->runs_seen);
    ttm_llm_cell(r, ttm_profile_string(r->p, first->name));
    ttm_buf_printf(r->out, " from run %u at log line %u to run %u at %u; derived, confidence %s)", first->run,
                   first->first_line, last->run, last->first_line, leak->confidence);
    if (leak->runs_left != TTM_UNKNOWN)
      ttm_buf_printf(r->out, "; DRAM is full after about %llu more runs", (unsigned long long)leak->runs_left);
    ttm_buf_puts(r->out, leak->op == TTM_NONE ? "; which operation cannot be told: no results add up to it\n" : "\n");
    put_culprits(r, &leak->culprits);
  }
  if (n > SHOWN_LEAKS) ttm_buf_printf(r->out, "- *... and %zu more*\n", n - SHOWN_LEAKS);
}

static void put_gap(ttm_llm *r, uint64_t n, const char *what) {
  if (!n) return;
  ttm_buf_printf(r->out, "- %s: ", what);
  ttm_put_count(r->out, n);
  ttm_buf_char(r->out, '\n');
}

void ttm_llm_gaps(ttm_llm *r) {
  const ttm_seen *seen = &r->p->seen;
  const char *missing = ttm_words_missing(r->p);
  ttm_buf_puts(r->out, "\n## What was not understood\n");
  size_t before = r->out->n;
  put_gap(r, seen->bad_op_lines, "Operation lines that do not parse (cut or torn), skipped");
  put_gap(r, seen->bad_blocks, "Memory lines that do not parse");
  put_gap(r, seen->unpaired, "Memory states whose operation line is missing");
  put_gap(r, seen->unfinished, "Programs that did not finish");
  if (seen->cut) ttm_buf_puts(r->out, "- The log ends inside a line or a block: it may have been cut off\n");
  if (seen->trace_cache)
    ttm_buf_puts(r->out, "- Traces were captured or replayed: operations inside a replay print nothing\n");
  if (missing) ttm_buf_printf(r->out, "- %s\n", missing);
  ttm_buf words = {0};
  ttm_words_recording(&words, r->f);
  if (words.n) {
    ttm_buf_puts(r->out, "- ");
    ttm_put_text(r->out, ttm_buf_str(&words), TTM_LLM_SENTENCE, TTM_FORM_MARKDOWN);
    ttm_buf_char(r->out, '\n');
  }
  r->out->failed |= words.failed;
  ttm_buf_free(&words);
  for (uint32_t i = 0; i < seen->note_count && i < TTM_KEPT_NOTES; i++) {
    ttm_buf_printf(r->out, "- Log line %u: ", seen->notes[i].line);
    ttm_llm_cell(r, ttm_profile_string(r->p, seen->notes[i].text));
    ttm_buf_char(r->out, '\n');
  }
  if (r->out->n == before) ttm_buf_puts(r->out, "Nothing: every operation and memory line was read.\n");
}
