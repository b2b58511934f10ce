/* SPDX-License-Identifier: Apache-2.0 */
/* One screen: how full each memory got, who filled it, what went wrong, what every analysis found, where the rest is. When that is more than a
 * screen holds, the parts that matter least are left out. */
#include <stdio.h>

#include "analyze/words.h"
#include "base/format.h"
#include "report/run/advice_words.h"
#include "report/run/recording.h"
#include "report/run/text.h"
#include "report/run/ways_words.h"

enum {
  ROWS = 23,  /* of a screen of 24, with the prompt below */
  LABEL = 10, /* columns of the left margin */
  TOP_EFFECTS = 3,
  TOP_INCIDENTS = 3,
  ROUNDING = 1049, /* bytes: levels are printed in 0.001 MB */
  BAR_FRAME = 65,  /* columns of a bar's line without the bar */
};

typedef struct screen {
  const ttm_findings *f;
  const ttm_profile *p;
  const ttm_summary_style *style;
  ttm_buf *out;
  size_t columns;
  ttm_text_form form;
} screen;

/* ---- Pieces ------------------------------------------------------------------------------------------------------- */

static void color(screen *s, const char *code) {
  if (s->style->color) ttm_buf_printf(s->out, "\x1b[%sm", code);
}

/* Starts a line with a label in the margin ("" continues the one above). */
static void label(screen *s, const char *text) {
  if (*text) color(s, "1");
  ttm_buf_printf(s->out, "%-*s", LABEL, text);
  if (*text) color(s, "0");
}

static const char *times(const screen *s) { return s->style->utf8 ? "\xC3\x97" : "x"; }

static void text(screen *s, ttm_str view, size_t columns) { ttm_put_text(s->out, view, columns, s->form); }

/* Columns left on the line that began at byte `start` (written without colour since then). */
static size_t left(const screen *s, size_t start, size_t used) {
  size_t have = used + ttm_text_columns(ttm_str_from(ttm_buf_str(s->out), start));
  return have < s->columns ? s->columns - have : 0;
}

/* "#74 ttnn.argmax argmax, log line 1234" in what the line has left after `used` columns; the location gives way. */
static void operation(screen *s, uint32_t op, size_t used) {
  size_t start = s->out->n;
  char tail[32] = ""; /* a report of the Python tool does not know the lines */
  size_t need = 1;
  if (s->p->ops.at[op].line) need += (size_t)snprintf(tail, sizeof tail, ", log line %u", s->p->ops.at[op].line);
  ttm_words_index(s->out, s->f, op);
  ttm_buf_char(s->out, ' ');
  text(s, ttm_words_name(s->p, op), 40);
  size_t room = left(s, start, used);
  if (ttm_op_text_of(s->p, op)->location) {
    ttm_buf_char(s->out, ' ');
    text(s, ttm_words_location(s->p, op), room > need + 8 ? room - need : 8);
  }
  ttm_buf_puts(s->out, tail);
}

/* A sentence over as many lines as it takes, each starting in the margin's column. Nothing foreign is in it that was not made harmless. */
static void paragraph(screen *s, ttm_str words) {
  ttm_put_paragraph(s->out, words, LABEL, LABEL, s->columns, s->form);
  ttm_buf_char(s->out, '\n');
}

/* ---- Bars --------------------------------------------------------------------------------------------------------- */

static void bar(screen *s, double pct, size_t columns) {
  ttm_buf cells = {0};
  size_t rest = ttm_put_bar(&cells, pct, columns, s->style->utf8);
  color(s, ttm_level_color(pct));
  ttm_buf_put(s->out, ttm_str_first(ttm_buf_str(&cells), rest));
  color(s, "90");
  ttm_buf_put(s->out, ttm_str_from(ttm_buf_str(&cells), rest));
  color(s, "0");
  s->out->failed |= cells.failed;
  ttm_buf_free(&cells);
}

static void put_memory(screen *s, ttm_memory memory) {
  const ttm_level *level = &s->f->peak[memory].level;
  double pct = ttm_percent(level->allocated, level->total);
  size_t columns = s->columns - BAR_FRAME;
  char capacity[32], total[32];
  snprintf(capacity, sizeof capacity, "%.2f MB/bank", ttm_mb(level->total));
  snprintf(total, sizeof total, "%.1f MB", ttm_mb((int64_t)level->allocated * level->banks));
  label(s, ttm_memory_name(memory));
  if (!level->total && s->p->kind == TTM_LOG_LIVE) { /* an unknown board: what all banks hold together */
    ttm_buf_printf(s->out, "%s at most, the capacity is not known\n", total);
    return;
  }
  bar(s, pct, columns > 40 ? 40 : columns);
  color(s, ttm_level_color(pct));
  ttm_buf_printf(s->out, " %5.1f%%", pct);
  color(s, "0");
  ttm_buf_printf(s->out, " %8.2f of %-15s %s %-3u = %9s\n", ttm_mb(level->allocated), capacity, times(s), level->banks,
                 total);
}

/* ---- Sections ----------------------------------------------------------------------------------------------------- */

static void put_header(screen *s) {
  const ttm_seen *seen = &s->p->seen;
  ttm_buf *out = s->out;
  label(s, "Log");
  text(s, ttm_words_source(s->p), s->columns - LABEL);
  ttm_buf_char(out, '\n');
  label(s, "");
  if (seen->lines) {
    ttm_put_bytes(out, seen->bytes);
    ttm_buf_puts(out, ", ");
    ttm_put_counted(out, seen->lines, "line");
    ttm_buf_puts(out, ", ");
  }
  ttm_put_counted(out, s->f->elements, "operation");
  bool live = s->p->kind == TTM_LOG_LIVE;
  if (s->f->runs.n > 1 && !live) ttm_buf_puts(out, " in "), ttm_put_counted(out, s->f->runs.n, "run");
  if (s->p->ranks.n > 1) ttm_buf_puts(out, " on "), ttm_put_counted(out, s->p->ranks.n, live ? "device" : "rank");
  ttm_buf_char(out, '\n');
  if (s->p->kind != TTM_LOG_FULL) {
    label(s, "");
    color(s, "33");
    ttm_buf_puts(out, ttm_words_kind(s->p));
    color(s, "0");
    ttm_buf_char(out, '\n');
  }
  ttm_buf_char(out, '\n');
}

/* Of a memory that nothing was put in there is nothing to show; DRAM is what everybody looks for. */
static void put_bars(screen *s) {
  bool any = false;
  for (int m = 0; m < TTM_MEMORIES; m++) {
    bool used = s->f->peak[m].known && (m == TTM_DRAM || s->f->peak[m].level.allocated || s->f->peak[m].in_op_bytes);
    if (used) put_memory(s, (ttm_memory)m), any = true;
  }
  if (any) ttm_buf_char(s->out, '\n');
}

/* The peak and who raised it, for a memory that was used at all, and what only an error message tells of it. */
static void put_peak(screen *s, ttm_memory memory) {
  const ttm_peak *peak = &s->f->peak[memory];
  bool used = peak->known && peak->level.allocated;
  if (!used && !peak->in_op_bytes) return;
  label(s, "Peak");
  if (used) {
    ttm_buf_printf(s->out, "%s %.2f MB/bank", ttm_memory_name(memory), ttm_mb(peak->level.allocated));
    ttm_buf_puts(s->out, peak->cause == TTM_NONE ? ", raised outside the operations seen\n" : ", the last ");
  }
  if (used && peak->cause != TTM_NONE) {
    ttm_buf_printf(s->out, "%.3f MB by\n", ttm_mb(peak->effect));
    label(s, "");
    operation(s, peak->cause, LABEL);
    ttm_buf_char(s->out, '\n');
  }
  if (!peak->in_op_bytes) return;
  if (used) label(s, "");
  ttm_buf_printf(s->out, "%s %.2f MB/bank inside the failing operation, log line %u\n", ttm_memory_name(memory),
                 ttm_mib(peak->in_op_bytes), s->p->incidents.at[peak->in_op_incident].line);
}

static void put_effects(screen *s) {
  ttm_added rows[TTM_TOP];
  size_t n;
  if (ttm_words_added(s->f, TTM_DRAM, rows, &n)) s->out->failed = true;
  if (!n) return;
  label(s, "Added");
  ttm_buf_puts(s->out, "most to DRAM, in MB/bank:\n");
  for (size_t i = 0; i < n && i < TOP_EFFECTS; i++) {
    char amount[48];
    int length = snprintf(amount, sizeof amount, "%7.3f ", ttm_mb(rows[i].effect));
    if (rows[i].runs > 1) {
      length += snprintf(amount + length, sizeof amount - (size_t)length, "%s %u runs ", times(s), rows[i].runs);
    }
    label(s, "");
    ttm_buf_puts(s->out, amount);
    operation(s, rows[i].op, LABEL + ttm_text_columns((ttm_str){amount, (size_t)length}));
    ttm_buf_char(s->out, '\n');
  }
}

/* "needs 9.33, free 53.48 (largest 8.00), missing 1.33 MB/bank", all in the unit that suits what was needed. */
static void put_need(screen *s, const ttm_incident_text *what, uint64_t missing) {
  if (what->needed_per_bank == TTM_UNKNOWN) return text(s, what->text, s->columns - LABEL);
  double unit = what->needed_per_bank >= 1u << 20 ? TTM_MB : what->needed_per_bank >= 1u << 10 ? 1024.0 : 1.0;
  int digits = unit > 1 ? 2 : 0;
  ttm_buf_printf(s->out, "needs %.*f", digits, (double)what->needed_per_bank / unit);
  if (what->free_per_bank != TTM_UNKNOWN)
    ttm_buf_printf(s->out, ", free %.*f", digits, (double)what->free_per_bank / unit);
  if (what->largest_free_block != TTM_UNKNOWN) {
    ttm_buf_printf(s->out, " (largest %.*f)", digits, (double)what->largest_free_block / unit);
  }
  if (missing != TTM_UNKNOWN) ttm_buf_printf(s->out, ", missing %.*f", digits, (double)missing / unit);
  ttm_buf_puts(s->out, unit >= TTM_MB ? " MB/bank" : unit > 1 ? " KB/bank" : " B/bank");
}

/* "overlap 929120 B: static buffers end at 1185120, the lowest L1 buffer starts at 256000" */
static void put_buffers(screen *s, const ttm_incident_text *what, uint64_t overlap) {
  bool clash = what->kind == TTM_INCIDENT_L1_CLASH;
  uint64_t limit = clash ? what->l1_buffer_at : what->l1_size;
  if (overlap == TTM_UNKNOWN || what->buffers_end == TTM_UNKNOWN || limit == TTM_UNKNOWN) {
    return text(s, what->text, s->columns - LABEL);
  }
  ttm_buf_puts(s->out, clash ? "overlap " : "too large by ");
  ttm_buf_u64(s->out, overlap);
  ttm_buf_puts(s->out, " B: buffers end at ");
  ttm_buf_u64(s->out, what->buffers_end);
  ttm_buf_puts(s->out, clash ? ", lowest L1 buffer at " : ", L1 ends at ");
  ttm_buf_u64(s->out, limit);
}

/* That it can never fit, and the cheapest change with which it would not have happened. */
static void put_way(screen *s, size_t i) {
  const ttm_incident *incident = &s->p->incidents.at[s->f->incidents.at[i].incident];
  ttm_ways ways;
  ttm_buf words = {0};
  if (ttm_words_too_many_weights(&words, s->f, incident)) {
    label(s, "");
    paragraph(s, ttm_buf_str(&words));
    words.n = 0;
  }
  ttm_ways_find(&ways, s->f, i);
  if (ways.n) {
    ttm_buf_puts(&words, "Way out: ");
    ttm_words_way(&words, &ways.at[0], incident);
    label(s, "");
    paragraph(s, ttm_buf_str(&words));
  }
  s->out->failed |= words.failed;
  ttm_buf_free(&words);
}

static void put_incident(screen *s, size_t i) {
  const ttm_incident_finding *finding = &s->f->incidents.at[i];
  const ttm_incident *incident = &s->p->incidents.at[finding->incident];
  const char *verdict = ttm_verdict_name(finding->verdict);
  label(s, "Incident");
  color(s, "31");
  ttm_words_incident(s->out, incident);
  if (verdict) ttm_buf_printf(s->out, ", %s", verdict);
  color(s, "0");
  ttm_buf_printf(s->out, ", log line %u\n", incident->line);
  label(s, "");
  switch (incident->what.kind) {
    case TTM_INCIDENT_OOM:
      put_need(s, &incident->what, finding->shortfall);
      break;
    case TTM_INCIDENT_L1_CLASH:
    case TTM_INCIDENT_L1_OVERFLOW:
      put_buffers(s, &incident->what, finding->shortfall);
      break;
    case TTM_INCIDENT_FATAL:
      text(s, incident->what.text, s->columns - LABEL);
      break;
  }
  ttm_buf_char(s->out, '\n');
  if (incident->op != TTM_NONE) {
    label(s, "");
    ttm_buf_puts(s->out, "in ");
    operation(s, incident->op, LABEL + 3);
    ttm_buf_char(s->out, '\n');
  }
  if (s->f->incidents.n == 1) put_way(s, i);
}

static void put_incidents(screen *s) {
  size_t n = s->f->incidents.n;
  for (size_t i = 0; i < n && i < TOP_INCIDENTS; i++) put_incident(s, i);
  if (n <= TOP_INCIDENTS) return;
  label(s, "");
  ttm_buf_printf(s->out, "and %zu more\n", n - TOP_INCIDENTS);
}

/* "99.9% explained: 14.05 weights, 0.67 activations, 0.20 unaccounted"; what is below half a percent is left out. */
static void put_live(screen *s) {
  const ttm_alive_set *set = &s->f->alive_set[TTM_DRAM];
  ttm_buf line = {0};
  if (!set->known || !set->measured_bytes) return;
  ttm_buf_printf(&line, "%.1f%% explained:", ttm_alive_set_quality(set));
  for (int c = 0; c < TTM_ALIVE_CLASSES; c++) {
    if (set->by_class[c] < set->measured_bytes / 200) continue;
    bool recorded = s->p->capture.recording.is && c == TTM_ALIVE_ACTIVATION;
    bool guessed = c == TTM_ALIVE_KV_CACHE && set->guessed_bytes;
    ttm_buf_printf(&line, "%s %.2f %s", line.n && line.at[line.n - 1] == ':' ? "" : ",", ttm_mib(set->by_class[c]),
                   ttm_words_class(s->p, (ttm_alive_class)c));
    if (guessed) ttm_buf_puts(&line, " (estimated by name)");
    if (recorded) ttm_words_holder(&line, s->p, set);
  }
  label(s, "At peak");
  paragraph(s, ttm_buf_str(&line));
  s->out->failed |= line.failed;
  ttm_buf_free(&line);
}

/* The first piece of advice; the others are in the reports. */
static void put_advice(screen *s) {
  ttm_buf words = {0};
  if (!s->f->advices.n) return;
  ttm_words_advice(&words, s->f, &s->f->advices.at[0], s->form);
  label(s, "Advice");
  paragraph(s, ttm_buf_str(&words));
  s->out->failed |= words.failed;
  ttm_buf_free(&words);
}

static void put_padding(screen *s) {
  const ttm_alive_sum *live = &s->f->alive_at_peak;
  if (!live->tensors) return;
  uint64_t extra = live->stored_bytes > live->logical_bytes ? live->stored_bytes - live->logical_bytes : 0;
  if (!extra) return;
  ttm_buf line = {0};
  ttm_put_bytes(&line, extra);
  ttm_buf_printf(&line, " at the peak, %.1f%% on top of ", ttm_percent((double)extra, (double)live->logical_bytes));
  ttm_put_bytes(&line, live->logical_bytes);
  if (s->f->alive_set[TTM_DRAM].known && s->f->alive_set[TTM_DRAM].rounding_bytes)
    ttm_buf_puts(&line, "; rounding "), ttm_put_bytes(&line, s->f->alive_set[TTM_DRAM].rounding_bytes);
  ttm_buf_puts(&line, " (all banks)");
  label(s, "Padding");
  paragraph(s, ttm_buf_str(&line));
  s->out->failed |= line.failed;
  ttm_buf_free(&line);
}

/* The first leak, and after how many more runs memory ends. Which operation it is takes the frees. */
static void put_leak(screen *s) {
  if (!s->f->leaks.n) return;
  const ttm_leak *leak = &s->f->leaks.at[0];
  label(s, "Leak");
  ttm_buf_printf(s->out, "%.3f MB/bank each run, %u runs seen", ttm_mb((int64_t)leak->per_run), leak->runs_seen);
  if (leak->runs_left != TTM_UNKNOWN) {
    ttm_buf_puts(s->out, "; full after ");
    ttm_put_count(s->out, leak->runs_left);
    ttm_buf_puts(s->out, " more");
  }
  ttm_buf_char(s->out, '\n');
  if (leak->op == TTM_NONE) return;
  label(s, "");
  operation(s, leak->op, LABEL);
  ttm_buf_char(s->out, '\n');
}

/* The program that ran most often: "8 runs of main: 1 warm-up, 7 alike, 38.012 to 38.704 MB/bank". */
static void put_runs(screen *s) {
  const ttm_program_runs *most = NULL;
  for (size_t i = 0; i < s->f->programs.n; i++) {
    if (!most || s->f->programs.at[i].runs > most->runs) most = &s->f->programs.at[i];
  }
  if (!most || most->runs < 2) return;
  const ttm_run *last = &s->f->runs.at[most->usual_run];
  uint32_t alike = most->runs - most->warm_up - most->odd;
  label(s, "Runs");
  ttm_put_counted(s->out, most->runs, "run");
  ttm_buf_puts(s->out, " of ");
  text(s, ttm_profile_string(s->p, s->p->calls.at[most->call].name), 20);
  if (alike < 2) return ttm_buf_puts(s->out, ", no two alike yet\n");
  if (most->warm_up)
    ttm_buf_printf(s->out, ": %u warm-up, %u alike", most->warm_up, alike);
  else if (most->odd)
    ttm_buf_printf(s->out, ", %u alike", alike);
  else
    ttm_buf_puts(s->out, ", all alike");
  if (last->start != TTM_NONE && last->peak != TTM_NONE)
    ttm_buf_printf(s->out, ", %.3f to %.3f MB/bank", ttm_mb(last->start), ttm_mb(last->peak));
  if (most->odd) ttm_buf_printf(s->out, ", %u not", most->odd);
  ttm_buf_char(s->out, '\n');
}

/* "8 × 16 operations, each up 0.176 MB/bank; layer 4 differs (line 3752)". */
static void put_layers(screen *s) {
  const ttm_layers *layers = &s->f->layers;
  if (!layers->period) return;
  label(s, "Layers");
  ttm_buf_printf(s->out, "%u %s %u operations, each up %.3f MB/bank", layers->count, times(s), layers->period,
                 ttm_mb(layers->peak));
  uint32_t differs = layers->odd_count ? layers->odd[0].differs : TTM_NONE;
  if (layers->odd_count == 1) ttm_buf_printf(s->out, "; layer %u differs", layers->odd[0].layer);
  if (layers->odd_count > 1) ttm_buf_printf(s->out, "; %u differ", layers->odd_count);
  if (differs != TTM_NONE && s->p->ops.at[differs].line)
    ttm_buf_printf(s->out, " (line %u)", s->p->ops.at[differs].line);
  ttm_buf_char(s->out, '\n');
}

/* What freeing at the last use would bring; nothing when it brings nothing, or is the advice anyway. */
static void put_late(screen *s) {
  const ttm_lifetimes *l = &s->f->lifetimes;
  if (!l->n || (s->f->advices.n && s->f->advices.at[0].kind == TTM_ADVICE_FREE_EARLIER)) return;
  uint64_t lowest = l->replayed && l->replay_agrees ? l->replayed_peak_bytes : l->late[0].peak_bytes;
  if (lowest + ROUNDING >= l->peak_bytes) return;
  label(s, "Late");
  ttm_buf_printf(s->out, "freed %u operations late, peak %.2f instead of %.2f MB/bank without\n", l->late[0].gap,
                 ttm_mib(lowest), ttm_mib(l->peak_bytes));
  label(s, "");
  operation(s, s->p->tensors.at[l->late[0].tensor].birth, LABEL);
  ttm_buf_char(s->out, '\n');
}

/* Only when something would have been refused. */
static void put_fragmentation(screen *s) {
  const ttm_fragmentation *x = &s->f->fragmentation;
  if (!x->known || !x->refusing_states) return;
  label(s, "Pieces");
  ttm_buf_printf(s->out, "%.2f of %.2f MB/bank free out of reach; ", ttm_mib(x->worst_free - x->worst_largest),
                 ttm_mib(x->worst_free));
  ttm_put_counted(s->out, x->refusing_states, "state");
  ttm_buf_printf(s->out, " refuse %.2f MB\n", ttm_mib(x->largest_request));
}

static void put_waste(screen *s) {
  static const char *const words[TTM_WASTE_KINDS] = {"f32 copies", "weights in two forms", "tile padding",
                                                     "narrow rows"};
  const ttm_wastes *w = &s->f->wastes;
  ttm_buf line = {0};
  for (int k = 0; k < TTM_WASTE_KINDS; k++) {
    if (w->bank_bytes[k]) ttm_buf_printf(&line, "%s%.3f %s", line.n ? ", " : "", ttm_mib(w->bank_bytes[k]), words[k]);
  }
  if (line.n) {
    ttm_buf_puts(&line, " (MB/bank)");
    label(s, "Waste");
    paragraph(s, ttm_buf_str(&line));
  }
  s->out->failed |= line.failed;
  ttm_buf_free(&line);
}

/* A recording knows L1 core by core, and what it lacks. */
static void put_recording(screen *s) {
  ttm_buf words = {0};
  if (!s->p->capture.recording.is) return;
  if (ttm_words_l1_core(&words, s->p)) words.failed = true;
  if (words.n) {
    label(s, "L1 core");
    paragraph(s, ttm_buf_str(&words));
  }
  ttm_buf_clear(&words);
  ttm_words_recording(&words, s->f);
  if (words.n) {
    label(s, "Recorded");
    paragraph(s, ttm_buf_str(&words));
  }
  s->out->failed |= words.failed;
  ttm_buf_free(&words);
}

/* Nothing about it above does not mean that there is nothing. */
static void put_unknown(screen *s) {
  const char *why = ttm_words_lives_unknown(s->f);
  ttm_buf words = {0};
  if (!why || s->p->kind == TTM_LOG_INCIDENTS || s->p->kind == TTM_LOG_NONE) return;
  ttm_buf_printf(&words, "late frees, waste, advice%s%s: %s.", s->f->alive_set[TTM_DRAM].known ? "" : ", what is live",
                 ttm_blocks_known(s->p) ? "" : ", fragmentation", why);
  label(s, "Unknown");
  paragraph(s, ttm_buf_str(&words));
  s->out->failed |= words.failed;
  ttm_buf_free(&words);
}

static void put_end(screen *s) {
  uint64_t gaps = ttm_words_not_understood(&s->p->seen);
  if (gaps || s->p->seen.cut) label(s, "Gaps");
  if (gaps) {
    ttm_put_counted(s->out, gaps, "line");
    ttm_buf_puts(s->out, " could not be used; the LLM report says which\n");
    if (s->p->seen.cut) label(s, "");
  }
  if (s->p->seen.cut) ttm_buf_puts(s->out, "the log is cut: it ends inside a line, a block or a packed stream\n");
  if (ttm_words_missing(s->p)) {
    label(s, "Missing");
    paragraph(s, ttm_str_of(ttm_words_missing(s->p)));
  }
  if (s->style->folder) {
    label(s, "Report");
    text(s, ttm_str_of(s->style->folder), SIZE_MAX);
    ttm_buf_char(s->out, '\n');
  }
  if (s->style->log) {
    label(s, "Next");
    ttm_buf_puts(s->out, "ttmem ask ");
    text(s, ttm_str_of(s->style->log), SIZE_MAX);
    ttm_buf_puts(s->out, " --findings\n");
    label(s, "");
    ttm_buf_puts(s->out, "ttmem --llm --logfile ");
    text(s, ttm_str_of(s->style->log), SIZE_MAX);
    ttm_buf_char(s->out, '\n');
  }
}

/* ---- The screen --------------------------------------------------------------------------------------------------- */

static void put_peak_dram(screen *s) { put_peak(s, TTM_DRAM); }
static void put_other_peaks(screen *s) {
  for (int m = TTM_DRAM + 1; m < TTM_MEMORIES; m++) put_peak(s, (ttm_memory)m);
}

/* In the order they stand in; worth 0 stands always, the others as far as the screen has room, those of most worth first. */
static const struct {
  void (*put)(screen *s);
  int worth;
} PARTS[] = {
    {put_header, 0},        {put_bars, 0},    {put_peak_dram, 0}, {put_other_peaks, 3}, {put_effects, 5},
    {put_incidents, 0},     {put_leak, 0},    {put_live, 9},      {put_late, 7},        {put_waste, 6},
    {put_fragmentation, 8}, {put_padding, 1}, {put_runs, 4},      {put_layers, 2},      {put_recording, 0},
    {put_advice, 0},        {put_unknown, 0}, {put_end, 0},
};
enum { PART_COUNT = sizeof PARTS / sizeof *PARTS, MOST_WORTH = 9 };

static size_t lines_of(ttm_str text) {
  size_t n = 0;
  for (size_t i = 0; i < text.n; i++) n += text.p[i] == '\n';
  return n;
}

/* Which parts the screen has room for. */
static void choose(const ttm_str *texts, bool *chosen) {
  size_t lines = 0;
  for (size_t i = 0; i < PART_COUNT; i++) {
    if (!PARTS[i].worth) lines += lines_of(texts[i]), chosen[i] = true;
  }
  for (int worth = MOST_WORTH; worth > 0; worth--) {
    for (size_t i = 0; i < PART_COUNT; i++) {
      if (PARTS[i].worth != worth || lines + lines_of(texts[i]) > ROWS) continue;
      chosen[i] = true;
      lines += lines_of(texts[i]);
    }
  }
}

int ttm_summary_write(const ttm_findings *f, const ttm_summary_style *style, ttm_buf *out) {
  screen s = {f,
              f->profile,
              style,
              out,
              style->columns < 72 ? 72 : style->columns,
              style->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII};
  ttm_buf all = {0};
  size_t ends[PART_COUNT];
  ttm_str texts[PART_COUNT];
  bool chosen[PART_COUNT] = {false};
  s.out = &all;
  for (size_t i = 0; i < PART_COUNT; i++) PARTS[i].put(&s), ends[i] = all.n;
  for (size_t i = 0; i < PART_COUNT; i++) {
    size_t start = i ? ends[i - 1] : 0;
    texts[i] = ttm_str_first(ttm_str_from(ttm_buf_str(&all), start), ends[i] - start);
  }
  choose(texts, chosen);
  for (size_t i = 0; i < PART_COUNT; i++) {
    if (chosen[i]) ttm_buf_put(out, texts[i]);
  }
  out->failed |= all.failed;
  ttm_buf_free(&all);
  return out->failed ? TTM_ENOMEM : TTM_OK;
}
