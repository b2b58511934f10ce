/* SPDX-License-Identifier: Apache-2.0 */
/* One screen: how full each memory got, then the statements in a short form, what matters most first. On a small screen the least important are
 * left out; a tall one shows them all. The sentences are written in src/analyze/tell_*.c. */
#include <stdio.h>

#include "analyze/say.h"
#include "analyze/words.h"
#include "report/run/statements.h"
#include "report/run/text.h"

enum {
  USUAL_ROWS = 24,
  TOP_FAILURES = 3,
  MOST_DEVICES = 4, /* that were opened anew */
  TOP_ROWS = 3,     /* of evidence */
  MOST_ROWS = 8,    /* of tests or devices */
  BAR_FRAME = 75,   /* columns of a bar's line without the bar */
  MOST_BAR = 40,
  LABEL = 10,
};

typedef struct screen {
  const ttm_findings *f;
  const ttm_profile *p;
  const ttm_statements *all;
  const ttm_summary_style *style;
  ttm_doc doc;
} screen;

/* ---- Head ----------------------------------------------------------------------------------------------------------- */

static void put_head(screen *s) {
  const ttm_seen *seen = &s->p->seen;
  ttm_buf words = {0};
  ttm_say(&words, s->f, "{}", TTM_TEXT(ttm_words_source(s->p)));
  ttm_doc_labelled(&s->doc, "Log", TTM_DOC_PLAIN, ttm_buf_str(&words));
  ttm_buf_clear(&words);
  if (seen->lines) ttm_say(&words, s->f, "{}, {}, ", TTM_BYTES(seen->bytes), TTM_PLURAL(seen->lines, "line"));
  ttm_say(&words, s->f, "{}", TTM_PLURAL(s->f->elements, "operation"));
  if (s->f->runs.n > 1 && ttm_words_has_runs(s->p)) ttm_say(&words, s->f, " in {}", TTM_PLURAL(s->f->runs.n, "run"));
  if (s->p->predicted) ttm_say(&words, s->f, ", predicted");
  if (s->p->filled) ttm_say(&words, s->f, s->p->seen.op_lines ? ", memory predicted" : ", predicted");
  if (s->p->ranks.n > 1) ttm_say(&words, s->f, " on {}", TTM_PLURAL(s->p->ranks.n, ttm_words_rank(s->p)));
  ttm_doc_labelled(&s->doc, "", TTM_DOC_PLAIN, ttm_buf_str(&words));
  s->doc.out->failed |= words.failed;
  ttm_buf_free(&words);
}

static void put_bar(screen *s, double pct, size_t columns) {
  ttm_buf cells = {0}, *out = s->doc.out;
  bool color = s->style->color;
  size_t rest = ttm_put_bar(&cells, pct, columns, s->style->utf8);
  if (color) ttm_buf_printf(out, "\x1b[%sm", ttm_level_color(pct));
  ttm_buf_put(out, ttm_str_first(ttm_buf_str(&cells), rest));
  if (color) ttm_buf_puts(out, "\x1b[90m");
  ttm_buf_put(out, ttm_str_from(ttm_buf_str(&cells), rest));
  if (color) ttm_buf_puts(out, "\x1b[0m");
  out->failed |= cells.failed;
  ttm_buf_free(&cells);
}

static size_t bar_columns(const screen *s) {
  return s->doc.columns > BAR_FRAME + MOST_BAR ? MOST_BAR : s->doc.columns > BAR_FRAME ? s->doc.columns - BAR_FRAME : 4;
}

static void put_memory(screen *s, ttm_memory memory, const ttm_peak *peak) {
  const ttm_level *level = &peak->level;
  double pct = ttm_percent(level->allocated, level->total);
  size_t sign = peak->at_least ? 2 : 0, wide = bar_columns(s) - sign; /* room for "≥ " */
  uint64_t used = (uint64_t)level->allocated * 1048576 / 1000, capacity = (uint64_t)level->total * 1048576 / 1000;
  ttm_buf *out = s->doc.out, bank = {0};
  if (!level->total) return; /* samples of an unknown board: the peak's sentence says so */
  ttm_buf_printf(out, "%-*s", LABEL, ttm_memory_name(memory));
  put_bar(s, pct, wide);
  ttm_say(&bank, s->f, "{}{} of {} per bank,", TTM_WORDS(peak->at_least ? s->style->utf8 ? "≥ " : ">= " : ""),
          TTM_NUMBER(used), TTM_MB_OF(capacity));
  ttm_buf_printf(out, " %5.1f %% ", pct);
  size_t start = out->n;
  ttm_buf_put(out, ttm_buf_str(&bank));
  ttm_pad_to(out, start, 32 + sign);
  ttm_put_pair(out, used * level->banks, capacity * level->banks);
  ttm_buf_puts(out, " per chip\n");
  ttm_buf_free(&bank);
}

/* Of this machine, beside the board's. */
static void put_host_bar(screen *s) {
  const ttm_host_findings *h = &s->f->host;
  ttm_buf *out = s->doc.out;
  double pct = ttm_percent((double)h->peak, (double)h->limit);
  if (!h->known || !h->limit) return;
  if (pct > 100) pct = 100; /* shared pages count for another group */
  ttm_buf_printf(out, "%-*s", LABEL, "HOST");
  put_bar(s, pct, bar_columns(s));
  ttm_buf_printf(out, " %5.1f %% ", pct);
  ttm_put_pair(out, h->peak < h->limit ? h->peak : h->limit, h->limit);
  ttm_buf_printf(out, " of %s, not the board\n", h->limit_is_cgroup ? "the control group" : "this machine");
}

/* Of a memory that nothing was put in there is nothing to show; DRAM is what everybody looks for. */
static void put_bars(screen *s) {
  size_t before = s->doc.out->n;
  ttm_buf_char(s->doc.out, '\n');
  size_t empty = s->doc.out->n;
  for (int k = 0; k < TTM_MEMORIES; k++) {
    ttm_memory m = ttm_findings_memory(s->f, k);
    const ttm_peak *peak = &s->f->peak[m];
    if (!peak->known || (m != TTM_DRAM && !peak->level.allocated && !peak->in_op_bytes)) continue;
    for (uint32_t i = 0; i < s->f->devices[m].n && i < MOST_DEVICES; i++) put_memory(s, m, &s->f->devices[m].at[i]);
  }
  put_host_bar(s);
  if (s->doc.out->n == empty)
    s->doc.out->n = before;
  else
    ttm_buf_char(s->doc.out, '\n');
}

/* ---- Statements ------------------------------------------------------------------------------------------------------ */

/* Labels of the margin, by topic. */
static const char *const LABELS[TTM_TOPICS] = {"Failure", "Need",      "Tests", "Peak",     "Live", "Growth",
                                               "Late",    "Fragments", "Waste", "Padding",  "Runs", "Layers",
                                               "L1 core", "Traces",    "Host",  "Compiler", "Time", "Input"};

static void put_row(screen *s, const char *label, const ttm_statement *statement, bool detail) {
  ttm_buf words = {0};
  ttm_buf_put(&words, statement->headline);
  if (statement->basis >= TTM_ESTIMATED) ttm_buf_printf(&words, " (%s)", ttm_basis_name(statement->basis));
  ttm_doc_labelled(&s->doc, label, ttm_statement_tone(statement), ttm_buf_str(&words));
  if (detail && statement->detail.n) ttm_doc_labelled(&s->doc, "", TTM_DOC_PLAIN, statement->detail);
  s->doc.out->failed |= words.failed;
  ttm_buf_free(&words);
}

static void put_failures(screen *s) {
  uint32_t n = 0;
  for (size_t i = 0; i < s->all->at.n; i++) {
    const ttm_statement *one = &s->all->at.at[i];
    if (one->topic != TTM_TOPIC_FAILURE || one->severity != TTM_SEVERITY_FAILURE) continue;
    if (n++ < TOP_FAILURES) put_row(s, n > 1 ? "" : LABELS[TTM_TOPIC_FAILURE], one, s->f->incidents.n < 3);
  }
  if (n <= TOP_FAILURES) return;
  ttm_buf words = {0};
  ttm_say(&words, s->f, "and {} more", TTM_COUNT(n - TOP_FAILURES));
  ttm_doc_labelled(&s->doc, "", TTM_DOC_PLAIN, ttm_buf_str(&words));
  ttm_buf_free(&words);
}

static void put_fix(screen *s, size_t i) {
  if (i >= s->all->best.n) return;
  ttm_doc_labelled(&s->doc,
                   i                    ? ""
                   : s->all->best.n > 1 ? "Fixes"
                                        : "Fix",
                   TTM_DOC_PLAIN, s->all->fixes.at[s->all->best.at[i]].text);
}

static void put_first_fix(screen *s) { put_fix(s, 0); }
static void put_second_fix(screen *s) { put_fix(s, 1); }
static void put_third_fix(screen *s) { put_fix(s, 2); }

/* A row of a topic: its statements, without those that only say that there is nothing. */
static void put_topic(screen *s, ttm_topic topic, ttm_severity most) {
  bool first = true;
  for (size_t i = 0; i < s->all->at.n; i++) {
    const ttm_statement *one = &s->all->at.at[i];
    if (one->topic != topic || one->severity > most) continue;
    put_row(s, first ? LABELS[topic] : "", one, false);
    if (topic == TTM_TOPIC_RUNS || topic == TTM_TOPIC_GROWTH) return; /* the program that ran most, the first leak */
    first = false;
  }
}

static bool l1_first(const screen *s) { return ttm_findings_memory(s->f, 0) == TTM_L1; }

/* The first peak, or with `others` those behind it: of the other memories, and what was held inside a failing operation. When L1 failed, DRAM's
 * goes with it. */
static void put_peaks(screen *s, bool others) {
  uint32_t n = 0, first = l1_first(s) ? 2 : 1;
  for (size_t i = 0; i < s->all->at.n; i++) {
    const ttm_statement *one = &s->all->at.at[i];
    if (one->topic != TTM_TOPIC_PEAK || one->points || !strcmp(one->id, "peak.changes")) continue;
    if (!strcmp(one->id, "peak.devices")) continue; /* stands for itself */
    if ((n++ >= first) == others) put_row(s, n > 1 ? "" : LABELS[TTM_TOPIC_PEAK], one, false);
  }
}
static void put_peak(screen *s) { put_peaks(s, false); }
static void put_other_peaks(screen *s) { put_peaks(s, true); }
static void put_need(screen *s) { put_topic(s, TTM_TOPIC_NEED, TTM_SEVERITY_NOTE); }
static void put_live(screen *s) { put_topic(s, TTM_TOPIC_ALIVE, TTM_SEVERITY_NOTE); }
static void put_growth(screen *s) { put_topic(s, TTM_TOPIC_GROWTH, TTM_SEVERITY_NOTE); }
static void put_late(screen *s) { put_topic(s, TTM_TOPIC_FREED_LATE, TTM_SEVERITY_NOTE); }
static void put_fragmentation(screen *s) { put_topic(s, TTM_TOPIC_FRAGMENTATION, TTM_SEVERITY_NOTE); }
static void put_waste(screen *s) { put_topic(s, TTM_TOPIC_WASTE, TTM_SEVERITY_NOTE); }
static void put_padding(screen *s) { put_topic(s, TTM_TOPIC_PADDING, TTM_SEVERITY_NOTE); }
static void put_runs(screen *s) { put_topic(s, TTM_TOPIC_RUNS, TTM_SEVERITY_NOTE); }
static void put_layers(screen *s) { put_topic(s, TTM_TOPIC_LAYERS, TTM_SEVERITY_NOTE); }
static void put_l1_core(screen *s) { put_topic(s, TTM_TOPIC_L1_CORE, TTM_SEVERITY_NOTE); }
static void put_host(screen *s) { put_topic(s, TTM_TOPIC_HOST, TTM_SEVERITY_NOTE); }
static void put_compiler(screen *s) { put_topic(s, TTM_TOPIC_COMPILER, TTM_SEVERITY_UNKNOWN); }
static void put_time(screen *s) { put_topic(s, TTM_TOPIC_TIME, TTM_SEVERITY_UNKNOWN); }
static void put_traces(screen *s) { put_topic(s, TTM_TOPIC_TRACES, TTM_SEVERITY_OK); }

/* The rows of evidence that answer "what filled it?". */
static void put_evidence(screen *s, const char *label, const char *id) {
  const ttm_statement *one = ttm_statements_find(s->all, id, 0);
  for (uint32_t i = 0; one && i < one->points && i < TOP_ROWS; i++) {
    const ttm_point *point = &s->all->points.at[one->first_point + i];
    ttm_buf words = {0};
    ttm_put_mb(&words, point->mb);
    ttm_buf_puts(&words, " MB ");
    ttm_buf_put(&words, point->text);
    ttm_doc_labelled(&s->doc, i ? "" : label, TTM_DOC_PLAIN, ttm_buf_str(&words));
    s->doc.out->failed |= words.failed;
    ttm_buf_free(&words);
  }
}
static void put_rows(screen *s, const char *label, const char *id) {
  const ttm_statement *one = ttm_statements_find(s->all, id, 0);
  if (one) put_row(s, label, one, false);
  for (uint32_t i = 0; one && i < one->points && i < MOST_ROWS; i++) {
    const ttm_point *point = &s->all->points.at[one->first_point + i];
    ttm_buf words = {0};
    if (point->mb >= 0) ttm_put_mb(&words, point->mb), ttm_buf_puts(&words, " MB ");
    ttm_buf_put(&words, point->text);
    ttm_doc_labelled(&s->doc, "", TTM_DOC_PLAIN, ttm_buf_str(&words));
    s->doc.out->failed |= words.failed;
    ttm_buf_free(&words);
  }
  if (!one || one->points <= MOST_ROWS) return;
  char more[32];
  snprintf(more, sizeof more, "and %u more", one->points - MOST_ROWS);
  ttm_doc_labelled(&s->doc, "", TTM_DOC_PLAIN, ttm_str_of(more));
}
static void put_tests(screen *s) { put_rows(s, LABELS[TTM_TOPIC_TESTS], "tests"); }
static void put_devices(screen *s) { put_rows(s, "Chips", "peak.devices"); }
static void put_consumers(screen *s) {
  put_evidence(s, "Added by", l1_first(s) ? "peak.consumers-l1" : "peak.consumers");
}
static void put_holders(screen *s) { put_evidence(s, "Held by", l1_first(s) ? "alive.l1" : "alive.dram"); }

/* What the input lacks, and what is unknown because of it. */
static void put_input(screen *s) {
  const ttm_statement *input = ttm_statements_first(s->all, TTM_TOPIC_INPUT);
  if (!input || (input->severity == TTM_SEVERITY_OK && s->p->kind == TTM_LOG_FULL && !input->points)) return;
  put_row(s, LABELS[TTM_TOPIC_INPUT], input, true);
  for (uint32_t i = 0; i < input->points && i < TOP_ROWS; i++)
    ttm_doc_labelled(&s->doc, "", TTM_DOC_PLAIN, s->all->points.at[input->first_point + i].text);
}

/* The first analysis that had too little to go by; the others lack the same. */
static void put_unknown(screen *s) {
  static const ttm_topic topics[] = {TTM_TOPIC_ALIVE, TTM_TOPIC_FREED_LATE, TTM_TOPIC_WASTE};
  if (s->p->kind == TTM_LOG_INCIDENTS || s->p->kind == TTM_LOG_NONE) return;
  for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
    const ttm_statement *first = ttm_statements_first(s->all, topics[i]);
    if (first && first->severity == TTM_SEVERITY_UNKNOWN)
      return ttm_doc_labelled(&s->doc, "Unknown", TTM_DOC_DIM, first->headline);
  }
}

static void put_end(screen *s) {
  ttm_buf words = {0};
  if (s->style->folder) ttm_doc_labelled(&s->doc, "Report", TTM_DOC_PLAIN, ttm_str_of(s->style->folder));
  if (s->style->log) {
    ttm_buf_printf(&words, "ttmem ask %s --findings", s->style->log);
    ttm_doc_labelled(&s->doc, "Next", TTM_DOC_PLAIN, ttm_buf_str(&words));
  }
  s->doc.out->failed |= words.failed;
  ttm_buf_free(&words);
}

/* ---- The screen ------------------------------------------------------------------------------------------------------ */

/* In the order they stand in; worth 0 stands always, the others as far as the screen has room, those of most worth first. */
static const struct {
  void (*put)(screen *s);
  int worth;
} PARTS[] = {
    {put_head, 0},        {put_bars, 0},          {put_failures, 0},  {put_need, 0},    {put_tests, 0},
    {put_first_fix, 0},   {put_second_fix, 9},    {put_third_fix, 9}, {put_devices, 0}, {put_peak, 0},
    {put_other_peaks, 3}, {put_consumers, 6},     {put_live, 8},      {put_holders, 5}, {put_growth, 0},
    {put_late, 7},        {put_fragmentation, 7}, {put_waste, 6},     {put_padding, 1}, {put_runs, 4},
    {put_layers, 2},      {put_l1_core, 0},       {put_traces, 0},    {put_host, 0},    {put_compiler, 0},
    {put_time, 0},        {put_input, 0},         {put_unknown, 3},   {put_end, 0},
};
enum { PART_COUNT = sizeof PARTS / sizeof *PARTS, MOST_WORTH = 9 };

static size_t lines_of(ttm_str text) {
  size_t n = 0;
  for (size_t i = 0; i < text.n; i++) n += text.p[i] == '\n';
  return n;
}

/* Which parts the screen has room for. */
static void choose(const ttm_str *texts, bool *chosen, size_t rows) {
  size_t lines = 0;
  for (size_t i = 0; i < PART_COUNT; i++) {
    if (!PARTS[i].worth) lines += lines_of(texts[i]), chosen[i] = true;
  }
  for (int worth = MOST_WORTH; worth > 0; worth--) {
    for (size_t i = 0; i < PART_COUNT; i++) {
      if (PARTS[i].worth != worth || lines + lines_of(texts[i]) > rows) continue;
      chosen[i] = true;
      lines += lines_of(texts[i]);
    }
  }
}

int ttm_summary_write(const ttm_findings *f, const ttm_summary_style *style, ttm_buf *out) {
  ttm_buf all = {0};
  screen s = {
      f,
      f->profile,
      &f->statements,
      style,
      {.out = &all, .columns = style->columns < 72 ? 72 : style->columns, .color = style->color, .utf8 = style->utf8}};
  size_t ends[PART_COUNT];
  ttm_str texts[PART_COUNT];
  bool chosen[PART_COUNT] = {false};
  for (size_t i = 0; i < PART_COUNT; i++) PARTS[i].put(&s), ends[i] = all.n;
  for (size_t i = 0; i < PART_COUNT; i++) {
    size_t start = i ? ends[i - 1] : 0;
    texts[i] = ttm_str_first(ttm_str_from(ttm_buf_str(&all), start), ends[i] - start);
  }
  choose(texts, chosen, (style->rows ? style->rows : USUAL_ROWS) - 1);
  for (size_t i = 0; i < PART_COUNT; i++) {
    if (chosen[i]) ttm_buf_put(out, texts[i]);
  }
  out->failed |= all.failed;
  ttm_buf_free(&all);
  return out->failed ? TTM_ENOMEM : TTM_OK;
}
