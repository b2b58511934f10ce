/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/words.h"
#include "report/run/analyses_parts.h"
#include "report/run/ways_words.h"

enum { SHOWN = 5, TEXT_COLUMNS = 400, NAME_COLUMNS = 60 };

/* ---- Reading ------------------------------------------------------------------------------------------------------- */

uint32_t ttm_array_length(ttm_str array) {
  uint32_t n = 0;
  ttm_str element;
  while (ttm_json_get_element(&array, &element)) n++;
  return n;
}

static uint32_t index_of(ttm_str op) {
  uint64_t index = ttm_json_get_count(ttm_json_get_member(op, "index"), TTM_NONE);
  return index < TTM_NONE ? (uint32_t)index : TTM_NONE;
}

static bool is_kind(const ttm_analysis_page *p, ttm_str quoted) {
  return ttm_str_eq(ttm_json_get_member(ttm_json_get_member(p->findings, "input"), "kind"), quoted);
}

static bool is_capture(const ttm_analysis_page *p) { return is_kind(p, TTM_LIT("\"capture\"")); }
static bool is_live(const ttm_analysis_page *p) { return is_kind(p, TTM_LIT("\"live\"")); }
static bool is_recording(const ttm_analysis_page *p) {
  return ttm_is_object(ttm_json_get_member(p->findings, "recording"));
}

bool ttm_has_runs(const ttm_analysis_page *p) { return !is_capture(p) && !is_live(p); }

/* ---- Writing ------------------------------------------------------------------------------------------------------- */

static void color(ttm_analysis_page *p, const char *code) {
  if (p->style->color) ttm_buf_printf(p->out, "\x1b[%sm", code);
}

static void note_line(ttm_analysis_page *p, uint32_t op, ttm_line_part part) {
  if (ttm_vec_push(&p->all->lines, (ttm_analysis_line){op, part})) p->out->failed = true;
}

void ttm_analysis_heading(ttm_analysis_page *p, const char *title, const char *basis) {
  if (p->out->n) {
    ttm_buf_char(p->out, '\n');
    note_line(p, TTM_NONE, TTM_LINE_OTHER);
  }
  color(p, "1");
  ttm_buf_puts(p->out, title);
  color(p, "0");
  if (basis) {
    color(p, "90");
    ttm_buf_printf(p->out, "  %s", basis);
    color(p, "0");
  }
  ttm_buf_char(p->out, '\n');
  note_line(p, TTM_NONE, TTM_LINE_OTHER);
}

void ttm_sentence_add(ttm_analysis_page *p, const char *format, ...) {
  va_list args;
  va_start(args, format);
  ttm_buf_vprintf(&p->sentence, format, args);
  va_end(args);
}

void ttm_sentence_text(ttm_analysis_page *p, ttm_str object, const char *key) {
  ttm_buf value = {0};
  ttm_json_get_string(&value, ttm_json_get_member(object, key));
  ttm_put_text(&p->sentence, ttm_buf_str(&value), strcmp(key, "text") == 0 ? TEXT_COLUMNS : NAME_COLUMNS, p->form);
  p->sentence.failed |= value.failed;
  ttm_buf_free(&value);
}

static void put_op(ttm_analysis_page *p, ttm_str op, bool with_location) {
  uint32_t index = index_of(op);
  double line = ttm_member_number(op, "line", 0);
  if (index != TTM_NONE) ttm_sentence_add(p, "#%u ", index);
  ttm_sentence_text(p, op, "mlir_op");
  if (with_location && ttm_has_text(op, "loc")) ttm_sentence_add(p, " "), ttm_sentence_text(p, op, "loc");
  if (line > 0) ttm_sentence_add(p, ", log line %.0f", line);
}

void ttm_sentence_op(ttm_analysis_page *p, ttm_str op) { put_op(p, op, true); }

void ttm_sentence_tensor(ttm_analysis_page *p, ttm_str row, ttm_str op) {
  ttm_str name = ttm_json_get_member(row, "name");
  double tensors = ttm_member_number(row, "tensors", 0);
  ttm_str class = ttm_json_get_member(row, "class");
  bool named = name.n && name.p[0] == '"';
  bool from_host = !ttm_str_eq(class, TTM_LIT("\"program\"")) && !ttm_str_eq(class, TTM_LIT("\"unaccounted\""));
  if (named) ttm_sentence_text(p, row, "name"), ttm_sentence_add(p, ", ");
  if (tensors > 1) ttm_sentence_add(p, "%.0f tensors, ", tensors);
  if (index_of(op) == TTM_NONE)
    ttm_sentence_add(p, from_host ? "put there by the host" : "no tensor of the log");
  else if (named && ttm_str_eq(name, ttm_json_get_member(op, "loc")))
    put_op(p, op, false);
  else
    ttm_sentence_op(p, op);
}

static void end(ttm_analysis_page *p, const char *start, ttm_str op) {
  size_t indent = TTM_ANALYSIS_INDENT + strlen(start);
  ttm_buf_printf(p->out, "%*s%s", TTM_ANALYSIS_INDENT, "", start);
  size_t lines = ttm_put_paragraph(p->out, ttm_buf_str(&p->sentence), indent, indent, p->columns, p->form);
  ttm_buf_char(p->out, '\n');
  for (size_t i = 0; i < lines; i++) note_line(p, index_of(op), i ? TTM_LINE_GOES_ON : TTM_LINE_STARTS);
  p->out->failed |= p->sentence.failed;
  ttm_buf_clear(&p->sentence);
}

void ttm_sentence_end(ttm_analysis_page *p, ttm_str op) { end(p, "", op); }
void ttm_point_end(ttm_analysis_page *p, ttm_str op) { end(p, "- ", op); }

void ttm_figure_end(ttm_analysis_page *p, double mb, ttm_str op) {
  char figure[48];
  snprintf(figure, sizeof figure, "%9.3f  ", mb);
  end(p, figure, op);
}

void ttm_say_unknown(ttm_analysis_page *p) {
  ttm_sentence_add(p, "Unknown: %s.", ttm_words_lives_need(p->rough, is_capture(p), is_live(p)));
  ttm_sentence_end(p, (ttm_str){"", 0});
}

/* ---- What went wrong, who raised the peak, what is live, advice ------------------------------------------------------ */

static const char *incident_words(ttm_str kind) {
  if (ttm_str_eq(kind, TTM_LIT("\"oom\""))) return "Out of memory";
  if (ttm_str_eq(kind, TTM_LIT("\"l1_clash\""))) return "Static buffers clash with L1 buffers";
  if (ttm_str_eq(kind, TTM_LIT("\"l1_overflow\""))) return "Static buffers larger than L1";
  return "Fatal error";
}

/* A file may hold any number: what no memory has is 0. */
static uint64_t bytes_of(ttm_str object, const char *key) {
  double mb = ttm_member_number(object, key, 0);
  return mb > 0 && mb < 1e12 ? (uint64_t)(mb * TTM_MB) : 0;
}

/* The first thing to know: whatever is freed on the way, it will not fit. */
static void put_too_many_weights(ttm_analysis_page *p) {
  ttm_str weights = ttm_json_get_member(p->findings, "weights");
  if (!ttm_str_eq(ttm_json_get_member(weights, "fit_in_DRAM"), TTM_LIT("false"))) return;
  ttm_str dram = ttm_json_get_member(ttm_json_get_member(p->findings, "memory"), "DRAM");
  ttm_words_weights_need(&p->sentence, bytes_of(weights, "on_device_MB"), bytes_of(dram, "capacity_total_MB"));
  ttm_point_end(p, (ttm_str){"", 0});
}

static void put_incident(ttm_analysis_page *p, ttm_str incident) {
  ttm_str op = ttm_json_get_member(incident, "operation"), ways = ttm_json_get_member(incident, "ways"), way;
  uint64_t missing = ttm_json_get_count(ttm_json_get_member(incident, "shortfall_per_bank_B"), UINT64_MAX);
  bool is_oom = ttm_str_eq(ttm_json_get_member(incident, "kind"), TTM_LIT("\"oom\""));
  ttm_sentence_add(p, "%s", incident_words(ttm_json_get_member(incident, "kind")));
  if (ttm_json_get_member(incident, "memory").n > 4)
    ttm_sentence_add(p, " in "), ttm_sentence_text(p, incident, "memory");
  if (ttm_has_text(incident, "verdict")) ttm_sentence_add(p, ", "), ttm_sentence_text(p, incident, "verdict");
  if (missing != UINT64_MAX) {
    ttm_sentence_add(p, ", ");
    ttm_put_bytes(&p->sentence, missing);
    ttm_sentence_add(p, is_oom ? " per bank missing" : " too much on each core");
  }
  if (ttm_is_object(op)) ttm_sentence_add(p, ", in "), ttm_sentence_op(p, op);
  ttm_sentence_add(p, "; message in log line %.0f.", ttm_member_number(incident, "line", 0));
  ttm_sentence_end(p, op);
  if (is_oom && ttm_str_eq(ttm_json_get_member(incident, "memory"), TTM_LIT("\"DRAM\""))) put_too_many_weights(p);
  while (ttm_json_get_element(&ways, &way)) {
    ttm_sentence_text(p, way, "text");
    ttm_sentence_add(p, " (");
    ttm_sentence_text(p, way, "basis");
    ttm_sentence_add(p, ")");
    ttm_point_end(p, (ttm_str){"", 0});
  }
}

static void put_incidents(ttm_analysis_page *p) {
  ttm_str all = ttm_json_get_member(p->findings, "incidents"), one;
  uint32_t n = ttm_array_length(all);
  ttm_analysis_heading(p, "What went wrong", n ? "measured" : NULL);
  for (uint32_t i = 0; i < SHOWN && ttm_json_get_element(&all, &one); i++) put_incident(p, one);
  if (!n) ttm_sentence_add(p, ttm_has_runs(p) ? "The log holds no error message of the runtime." : "None.");
  if (n > SHOWN) ttm_sentence_add(p, "And %u more; ttmem explain LOG draws each.", n - SHOWN);
  if (n > SHOWN || !n) ttm_sentence_end(p, (ttm_str){"", 0});
}

static void put_peak(ttm_analysis_page *p, ttm_str peak, const char *memory) {
  ttm_str cause = ttm_json_get_member(peak, "caused_by"), inside = ttm_json_get_member(peak, "in_operation_peak");
  double mb = ttm_member_number(peak, "allocated_per_bank_MB", 0), line = ttm_member_number(peak, "line", 0);
  if (mb > 0) {
    ttm_sentence_add(p, "%s %.3f MB/bank", memory, mb);
    if (line > 0) ttm_sentence_add(p, ", log line %.0f", line);
    if (ttm_is_object(cause)) {
      ttm_sentence_add(p, ", raised %.3f by ", ttm_member_number(cause, "effect_MB", 0));
      ttm_sentence_op(p, cause);
      ttm_str around = ttm_json_get_member(cause, "inside");
      if (ttm_is_object(around)) ttm_sentence_add(p, ", inside "), ttm_sentence_op(p, around);
    }
    ttm_sentence_end(p, cause);
  }
  if (!ttm_is_object(inside)) return;
  ttm_sentence_add(p, "%s %.3f MB/bank inside the failing operation, as the message in log line %.0f says (measured)",
                   memory, ttm_member_number(inside, "allocated_per_bank_MB", 0), ttm_member_number(inside, "line", 0));
  ttm_sentence_end(p, (ttm_str){"", 0});
}

/* "All changes of DRAM: +40.810 by operations, ... = +38.682 MB/bank". */
static void put_sums(ttm_analysis_page *p) {
  static const struct {
    const char *key, *words;
  } parts[] = {{"operations_MB", "added by operations"},
               {"const_eval_MB", "left by const-eval programs"},
               {"given_back_MB", "given back by operations"},
               {"deallocated_MB", "deallocated"}};
  ttm_str sums = ttm_json_get_member(p->findings, "attribution");
  if (!ttm_is_object(sums)) return;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    double mb = ttm_member_number(sums, parts[i].key, 0);
    if (mb != 0) ttm_sentence_add(p, "%s%+.3f %s", p->sentence.n ? ", " : "All changes of DRAM: ", mb, parts[i].words);
  }
  double outside = ttm_member_number(sums, "host_MB", 0);
  if (outside != 0)
    ttm_sentence_add(p, "%s%+.3f %s", p->sentence.n ? ", " : "All changes of DRAM: ", outside,
                     ttm_has_runs(p) ? "by the host between runs" : "outside operations");
  if (!p->sentence.n) return;
  ttm_sentence_add(p, " = %+.3f MB/bank from the first state to the last.", ttm_member_number(sums, "total_MB", 0));
  ttm_sentence_end(p, (ttm_str){"", 0});
}

static void put_attribution(ttm_analysis_page *p) {
  ttm_str peaks = ttm_json_get_member(p->findings, "peak");
  ttm_str rows = ttm_json_get_member(ttm_json_get_member(p->findings, "top_consumers"), "DRAM"), row;
  ttm_analysis_heading(p, "What raised the peak", "derived");
  size_t before = p->out->n;
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    put_peak(p, ttm_json_get_member(peaks, ttm_memory_name(m)), ttm_memory_name(m));
  }
  for (int i = 0; i < SHOWN && ttm_json_get_element(&rows, &row); i++) {
    if (!i) ttm_sentence_add(p, "Most was added to DRAM, in MB/bank, by"), ttm_sentence_end(p, (ttm_str){"", 0});
    ttm_sentence_op(p, row);
    if (ttm_member_number(row, "operations_inside", 0) > 0)
      ttm_sentence_add(p, ", up to %+.3f inside", ttm_member_number(row, "highest_inside_MB", 0));
    ttm_figure_end(p, ttm_member_number(row, "effect_MB", 0), row);
  }
  put_sums(p);
  if (p->out->n > before) return;
  ttm_sentence_add(p, "The log shows no memory state.");
  ttm_sentence_end(p, (ttm_str){"", 0});
}

/* Nothing in a recording tells weights from other tensors. */
static void put_live_row(ttm_analysis_page *p, ttm_str row) {
  bool tensors = is_recording(p) && ttm_str_eq(ttm_json_get_member(row, "class"), TTM_LIT("\"activations\""));
  if (tensors)
    ttm_sentence_add(p, "tensors");
  else
    ttm_sentence_text(p, row, "class");
  if (ttm_str_eq(ttm_json_get_member(row, "basis"), TTM_LIT("\"estimated\""))) ttm_sentence_add(p, " (estimated)");
  ttm_sentence_add(p, ": ");
  ttm_sentence_tensor(p, row, row);
  ttm_figure_end(p, ttm_member_number(row, "per_bank_MB", 0), row);
}

static void put_live(ttm_analysis_page *p) {
  ttm_str set = ttm_json_get_member(ttm_json_get_member(p->findings, "live_at_peak"), "DRAM"), rows, row;
  bool told = ttm_lives_told(p, set);
  ttm_analysis_heading(p, "What is live then", told ? "derived" : NULL);
  if (!told) return ttm_say_unknown(p);
  double guessed = ttm_member_number(set, "kv_cache_by_name_MB", 0);
  double padding = ttm_member_number(set, "padding_total_MB", 0),
         rounding = ttm_member_number(set, "rounding_total_MB", 0);
  ttm_sentence_add(p, "%.1f%% of the DRAM peak of %.3f MB/bank is explained, by %.0f tensors",
                   ttm_member_number(set, "explained_pct", 0), ttm_member_number(set, "allocated_per_bank_MB", 0),
                   ttm_member_number(set, "tensors", 0));
  if (padding > 0 || rounding > 0)
    ttm_sentence_add(p, "; over all banks, padding takes %.2f MB of it and the allocator's rounding %.2f MB", padding,
                     rounding);
  ttm_sentence_add(p, ".");
  if (guessed > 0)
    ttm_sentence_add(p, " %.3f MB/bank are KV cache by the name of the argument alone (estimated).", guessed);
  ttm_sentence_end(p, (ttm_str){"", 0});
  rows = ttm_json_get_member(set, "rows");
  for (int i = 0; i < SHOWN && ttm_json_get_element(&rows, &row); i++) put_live_row(p, row);
}

static void put_advice(ttm_analysis_page *p) {
  ttm_str all = ttm_json_get_member(p->findings, "advice"), one;
  ttm_analysis_heading(p, "Advice", NULL);
  if (!ttm_lives_told(p, all)) return ttm_say_unknown(p);
  uint32_t n = ttm_array_length(all);
  while (ttm_json_get_element(&all, &one)) {
    ttm_sentence_text(p, one, "text");
    ttm_sentence_add(p, " (");
    ttm_sentence_text(p, one, "basis");
    ttm_sentence_add(p, ")");
    ttm_point_end(p, ttm_json_get_member(one, "operation"));
  }
  if (n) return;
  ttm_sentence_add(p, "Nothing that is sure to help.");
  ttm_sentence_end(p, (ttm_str){"", 0});
}

int ttm_analyses_write(ttm_analyses *out, ttm_str findings_json, const ttm_summary_style *style, bool rough) {
  ttm_analysis_page p = {.all = out,
                         .out = &out->text,
                         .findings = findings_json,
                         .style = style,
                         .columns = style->columns < 72 ? 72 : style->columns,
                         .form = style->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII,
                         .rough = rough};
  put_incidents(&p);
  put_attribution(&p);
  put_live(&p);
  ttm_analysis_late(&p);
  ttm_analysis_runs(&p);
  ttm_analysis_leaks(&p);
  ttm_analysis_layers(&p);
  ttm_analysis_fragmentation(&p);
  ttm_analysis_waste(&p);
  put_advice(&p);
  ttm_buf_free(&p.sentence);
  return out->text.failed ? TTM_ENOMEM : TTM_OK;
}

void ttm_analyses_free(ttm_analyses *analyses) {
  ttm_buf_free(&analyses->text);
  ttm_vec_free(&analyses->lines);
}
