/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/train_log.h"

#include "base/chunks.h"
#include "base/error.h"
#include "base/map.h"
#include "base/utf8.h"
#include "parse/log_line.h"
#include "parse/mlir_scan.h"

enum { LONGEST_NAME = 160, LONGEST_FACT_LINE = 1024 };
#define MOST_HUNDREDTHS ((uint64_t)1 << 53)

/* What is open in the output of one rank: ranks print between each other's lines. */
typedef struct writer {
  uint16_t rank;
  size_t summary, footprint; /* index, or TTM_NOT_FOUND when none is open */
  char name[LONGEST_NAME];   /* the last line that may be the name of what follows */
  size_t name_length;
} writer;

typedef struct reader {
  ttm_train_log *log;
  TTM_VEC(writer) writers;
  ttm_map writer_ids;                                   /* rank -> which of them: there may be tens of thousands */
  ttm_train_fact parameters, device_memory;             /* the last ones seen */
  ttm_train_fact first_parameters, first_device_memory; /* for summaries printed before any */
} reader;

/* ---- Numbers ------------------------------------------------------------------------------------------------------- */

/* An unsigned count, commas between digits allowed. */
static bool take_count(ttm_str *v, uint64_t *out) {
  uint64_t n = 0;
  size_t i = 0;
  for (; i < v->n; i++) {
    if (v->p[i] == ',' && i && i + 1 < v->n && ttm_is_digit(v->p[i + 1])) continue;
    if (!ttm_is_digit(v->p[i])) break;
    if (n > MOST_HUNDREDTHS) return false;
    n = n * 10 + (uint64_t)(v->p[i] - '0');
  }
  if (!i) return false;
  *v = ttm_str_from(*v, i);
  *out = n;
  return true;
}

/* `+1863.25` as 186325; digits after the second are dropped. */
static bool take_hundredths(ttm_str *v, int64_t *out) {
  ttm_str at = *v;
  bool negative = at.n && at.p[0] == '-';
  uint64_t whole, fraction = 0;
  if (at.n && (at.p[0] == '-' || at.p[0] == '+')) at = ttm_str_from(at, 1);
  if (!take_count(&at, &whole) || whole > MOST_HUNDREDTHS / 100) return false;
  if (ttm_str_take(&at, TTM_LIT("."))) {
    int digits = 0;
    for (; at.n && ttm_is_digit(at.p[0]); at = ttm_str_from(at, 1), digits++) {
      if (digits < 2) fraction = fraction * 10 + (uint64_t)(at.p[0] - '0');
    }
    if (digits == 1) fraction *= 10;
  }
  *out = (int64_t)(whole * 100 + fraction);
  if (negative) *out = -*out;
  *v = at;
  return true;
}

/* `<label><number> MB`. */
static bool take_mb(ttm_str *v, ttm_str label, int64_t *out) {
  ttm_str at = *v;
  if (!ttm_str_take(&at, label) || !take_hundredths(&at, out)) return false;
  ttm_scan_skip_space(&at);
  if (!ttm_str_take(&at, TTM_LIT("MB"))) return false;
  *v = at;
  return true;
}

/* ---- Names --------------------------------------------------------------------------------------------------------- */

static bool take_tail_number(ttm_str *v, ttm_str mark) {
  size_t end = v->n;
  while (end && ttm_is_digit(v->p[end - 1])) end--;
  if (end == v->n || !ttm_str_ends(ttm_str_first(*v, end), mark)) return false;
  v->n = end - mark.n;
  return true;
}

ttm_train_role ttm_train_role_of(ttm_str name) {
  take_tail_number(&name, TTM_LIT("__"));
  take_tail_number(&name, TTM_LIT("_micro_"));
  if (ttm_str_eq(name, TTM_LIT("MODEL_CREATION"))) return TTM_ROLE_MODEL;
  if (ttm_str_eq(name, TTM_LIT("OPTIMIZER_CREATION"))) return TTM_ROLE_OPTIMIZER;
  if (ttm_str_eq(name, TTM_LIT("FORWARD_PASS"))) return TTM_ROLE_FORWARD;
  if (ttm_str_eq(name, TTM_LIT("BACKWARD_PASS"))) return TTM_ROLE_BACKWARD;
  return TTM_ROLE_OTHER;
}

static void remember_name(writer *w, ttm_str line) {
  w->name_length = ttm_utf8_head(line, LONGEST_NAME).n;
  memcpy(w->name, line.p, w->name_length);
}

/* ---- Summaries ----------------------------------------------------------------------------------------------------- */

static int writer_of(reader *r, uint16_t rank, writer **out) {
  uint32_t known = ttm_map_get(&r->writer_ids, rank, UINT32_MAX);
  if (known < r->writers.n) return *out = &r->writers.at[known], TTM_OK;
  writer fresh = {.rank = rank, .summary = TTM_NOT_FOUND, .footprint = TTM_NOT_FOUND};
  if (ttm_vec_push(&r->writers, fresh)) return TTM_ENOMEM;
  *out = &r->writers.at[r->writers.n - 1];
  return ttm_map_set(&r->writer_ids, rank, (uint32_t)(r->writers.n - 1));
}

static int open_summary(reader *r, writer *w) {
  ttm_train_log *log = r->log;
  ttm_train_summary s = {.rank = w->rank,
                         .line = log->lines,
                         .last_line = log->lines,
                         .overall_peak = TTM_TRAIN_UNKNOWN,
                         .final_usage = TTM_TRAIN_UNKNOWN,
                         .parameters = r->parameters,
                         .device_memory = r->device_memory};
  if (ttm_intern_add(&log->names, (ttm_str){w->name, w->name_length}, &s.name)) return TTM_ENOMEM;
  w->summary = log->summaries.n;
  w->footprint = TTM_NOT_FOUND;
  w->name_length = 0;
  return ttm_vec_push(&log->summaries, s);
}

static int open_phase(reader *r, ttm_train_summary *s, ttm_str name) {
  ttm_train_phase phase = {.line = r->log->lines};
  if (ttm_intern_add(&r->log->names, name, &phase.name)) return TTM_ENOMEM;
  return ttm_vec_push(&s->phases, phase);
}

static bool read_segment(ttm_str v, ttm_train_phase *p) {
  return take_mb(&v, TTM_LIT("DRAM: Segment Peak "), &p->segment_peak) &&
         take_mb(&v, TTM_LIT(", Allocations "), &p->allocations) &&
         take_mb(&v, TTM_LIT(", Deallocations "), &p->deallocations) &&
         take_mb(&v, TTM_LIT(", Segment Change "), &p->change);
}

static bool read_cumulative(ttm_str v, ttm_train_phase *p) {
  return take_mb(&v, TTM_LIT("DRAM: Cumulative Peak "), &p->cumulative_peak) &&
         take_mb(&v, TTM_LIT(", Cumulative Current "), &p->cumulative_current);
}

static bool read_l1(ttm_str v, ttm_train_phase *p) {
  return take_mb(&v, TTM_LIT("L1: Peak CB "), &p->peak_cb) && take_mb(&v, TTM_LIT(", Peak Buffer "), &p->peak_buffer) &&
         take_mb(&v, TTM_LIT(", Peak Total "), &p->peak_total);
}

static void torn(reader *r) {
  if (!r->log->torn++) r->log->first_torn_line = r->log->lines;
}

/* One of the three lines of a phase. False for any other line. */
static bool phase_line(reader *r, ttm_train_summary *s, ttm_str v) {
  bool dram = ttm_str_starts(v, TTM_LIT("DRAM: ")), l1 = ttm_str_starts(v, TTM_LIT("L1: Peak "));
  if (!dram && !l1) return false;
  ttm_train_phase scratch = {0}, *p = s->phases.n ? &s->phases.at[s->phases.n - 1] : &scratch;
  ttm_train_phase read = *p;
  if (dram && !p->has_segment && read_segment(v, &read))
    read.has_segment = true;
  else if (dram && !p->has_cumulative && read_cumulative(v, &read))
    read.has_cumulative = true;
  else if (l1 && !p->has_l1 && read_l1(v, &read))
    read.has_l1 = true;
  else
    return torn(r), true;
  if (p == &scratch) return torn(r), true; /* numbers of a phase whose name is missing */
  *p = read;
  return true;
}

static bool totals_line(ttm_train_summary *s, ttm_str v) {
  int64_t peak, final;
  if (!take_mb(&v, TTM_LIT("Overall DRAM Peak: "), &peak)) return false;
  s->overall_peak = peak;
  if (take_mb(&v, TTM_LIT(", Final DRAM Usage: "), &final)) s->final_usage = final;
  return true;
}

/* The peak of all is none of them: one of the figures was damaged. */
static bool is_below_a_phase(const ttm_train_summary *s) {
  for (size_t i = 0; i < s->phases.n; i++)
    if (s->phases.at[i].has_cumulative && s->phases.at[i].cumulative_peak > s->overall_peak) return true;
  return false;
}

/* Of a summary whose head was lost. */
static bool is_lone(ttm_str v) {
  ttm_train_phase p;
  ttm_train_summary s;
  return read_segment(v, &p) || read_cumulative(v, &p) || read_l1(v, &p) || totals_line(&s, v);
}

/* A line while a summary of this rank is open; *used is false when it is not part of it. */
static int summary_line(reader *r, writer *w, ttm_str v, bool *used) {
  ttm_train_summary *s = &r->log->summaries.at[w->summary];
  bool name = v.n > 8 && ttm_str_starts(v, TTM_LIT("--- ")) && ttm_str_ends(v, TTM_LIT(" ---"));
  *used = true;
  if (name) {
    s->last_line = r->log->lines;
    return open_phase(r, s, ttm_str_trim((ttm_str){v.p + 4, v.n - 8}));
  }
  if (phase_line(r, s, v) || ttm_str_eq(v, TTM_LIT("=== Final Totals ==="))) {
    s->last_line = r->log->lines;
  } else if (totals_line(s, v)) {
    if (is_below_a_phase(s)) torn(r);
    s->last_line = r->log->lines;
    w->summary = TTM_NOT_FOUND;
  } else {
    *used = false;
  }
  return TTM_OK;
}

/* ---- Footprints ---------------------------------------------------------------------------------------------------- */

static int open_footprint(reader *r, writer *w) {
  const int64_t none = TTM_TRAIN_UNKNOWN;
  w->footprint = r->log->footprints.n;
  return ttm_vec_push(&r->log->footprints, (ttm_train_footprint){w->rank, r->log->lines, none, none, none, none});
}

static bool footprint_line(reader *r, writer *w, ttm_str v) {
  ttm_train_footprint *f = &r->log->footprints.at[w->footprint];
  ttm_str label = TTM_LIT("largest allocatable block at the tightest point: ");
  if (take_mb(&v, TTM_LIT("peak usage: "), &f->peak)) {
    size_t of = ttm_str_find(v, TTM_LIT(" of "));
    if (of != TTM_NOT_FOUND) v = ttm_str_from(v, of), take_mb(&v, TTM_LIT(" of "), &f->arena);
    return true;
  }
  if (take_mb(&v, TTM_LIT("reserved (outside arena): "), &f->reserved)) return true;
  if (!take_mb(&v, label, &f->largest_block)) return false;
  w->footprint = TTM_NOT_FOUND; /* its last line */
  return true;
}

/* ---- What the trainer says ----------------------------------------------------------------------------------------- */

static bool fact_after(ttm_str v, ttm_str label, ttm_str *rest) {
  size_t at = ttm_str_find(v, label);
  if (at == TTM_NOT_FOUND) return false;
  *rest = ttm_scan_trim(ttm_str_from(v, at + label.n));
  return true;
}

/* `params  124,439,808` and `memory  12288.00 MB`: a word at the start of the line and its value in a column. */
static bool column_fact(ttm_str v, ttm_str word, ttm_str *rest) {
  if (!ttm_str_take(&v, word) || !ttm_str_starts(v, TTM_LIT(" "))) return false;
  *rest = ttm_scan_trim(v);
  return true;
}

static bool fact_line(reader *r, ttm_str v) {
  ttm_str rest;
  uint64_t count;
  int64_t size;
  if (v.n > LONGEST_FACT_LINE) return false;
  if ((fact_after(v, TTM_LIT("Total parameters:"), &rest) || fact_after(v, TTM_LIT("Number of parameters:"), &rest) ||
       column_fact(v, TTM_LIT("params"), &rest)) &&
      take_count(&rest, &count) && count) {
    r->parameters = (ttm_train_fact){count, r->log->lines};
    if (!r->first_parameters.line) r->first_parameters = r->parameters;
    return true;
  }
  if ((fact_after(v, TTM_LIT("Available Device Memory:"), &rest) || column_fact(v, TTM_LIT("memory"), &rest)) &&
      take_mb(&rest, TTM_LIT(""), &size) && size > 0) {
    r->device_memory = (ttm_train_fact){(uint64_t)size, r->log->lines};
    if (!r->first_device_memory.line) r->first_device_memory = r->device_memory;
    return true;
  }
  return false;
}

/* ---- Lines --------------------------------------------------------------------------------------------------------- */

static int take_line(reader *r, ttm_str line) {
  r->log->lines++;
  ttm_log_line read = ttm_log_line_read(line);
  ttm_str v = ttm_str_trim(read.message);
  for (size_t n; (n = ttm_escape_length(v)) != 0;) v = ttm_str_trim(ttm_str_from(v, n));
  while (ttm_str_ends(v, TTM_LIT("\x1b[0m"))) v = ttm_str_trim(ttm_str_first(v, v.n - 4));
  if (!v.n) return TTM_OK;
  bool used = false;
  writer *w;
  int status = writer_of(r, read.rank, &w);
  if (status) return status;
  if (ttm_str_eq(v, TTM_LIT("=== Memory Usage Summary ==="))) return open_summary(r, w);
  if (ttm_str_eq(v, TTM_LIT("=== DRAM footprint ==="))) return open_footprint(r, w);
  if (w->footprint != TTM_NOT_FOUND && footprint_line(r, w, v)) return TTM_OK;
  if (w->summary != TTM_NOT_FOUND && ((status = summary_line(r, w, v, &used)) || used)) return status;
  if (is_lone(v)) return torn(r), TTM_OK;
  if (!fact_line(r, v) && v.p[0] != '#' && !ttm_str_starts(v, TTM_LIT("==="))) remember_name(w, v);
  return TTM_OK;
}

static int take_text(reader *r, ttm_str text) {
  while (text.n) {
    int status = take_line(r, ttm_str_take_to(&text, '\n'));
    if (status) return status;
  }
  return TTM_OK;
}

/* `--- Something ---` without numbers below is no phase: other programs print such lines too. */
static void drop_empty_phases(reader *r, ttm_train_summary *s) {
  size_t kept = 0;
  for (size_t i = 0; i < s->phases.n; i++) {
    ttm_train_phase p = s->phases.at[i];
    if (p.has_segment || p.has_cumulative || p.has_l1) {
      s->phases.at[kept++] = p;
    } else if (!r->log->torn++) {
      r->log->first_torn_line = p.line;
    }
  }
  s->phases.n = kept;
}

/* Facts printed after the first summary still tell about it, when nothing was said before. */
static void finish(reader *r) {
  for (size_t i = 0; i < r->log->summaries.n; i++) {
    ttm_train_summary *s = &r->log->summaries.at[i];
    drop_empty_phases(r, s);
    if (!s->parameters.line) s->parameters = r->first_parameters;
    if (!s->device_memory.line) s->device_memory = r->first_device_memory;
  }
  ttm_vec_free(&r->writers);
  ttm_map_free(&r->writer_ids);
}

int ttm_train_log_read_bytes(ttm_train_log *out, ttm_str text, ttm_error *err) {
  *out = (ttm_train_log){.bytes = text.n};
  reader r = {.log = out};
  int status = take_text(&r, text);
  finish(&r);
  return status ? ttm_error_nomem(err) : TTM_OK;
}

int ttm_train_log_read(ttm_train_log *out, const char *path, ttm_error *err) {
  *out = (ttm_train_log){0};
  reader r = {.log = out};
  ttm_chunker chunker = {0};
  ttm_chunk chunk = {0};
  int status = ttm_source_open(&chunker.source, path, err);
  while (!status && !chunk.last) {
    status = ttm_chunker_next(&chunker, &chunk, err);
    if (!status) out->bytes += chunk.n;
    if (!status && take_text(&r, (ttm_str){chunk.data, chunk.n})) status = ttm_error_nomem(err);
  }
  if (!status) out->damage = ttm_source_damage(chunker.source);
  if (!status && !out->damage && chunk.cut_line && chunk.n) out->damage = "it ends inside a line";
  finish(&r);
  if (!status && !out->damage && out->torn) out->damage = "lines of a summary cannot be read";
  for (size_t i = 0; i < out->summaries.n && !status && !out->damage; i++)
    if (out->summaries.at[i].overall_peak == TTM_TRAIN_UNKNOWN) out->damage = "a summary has no totals";
  ttm_chunk_free(&chunk);
  ttm_chunker_free(&chunker);
  ttm_source_close(chunker.source);
  return status;
}

void ttm_train_log_free(ttm_train_log *log) {
  for (size_t i = 0; i < log->summaries.n; i++) ttm_vec_free(&log->summaries.at[i].phases);
  ttm_vec_free(&log->summaries);
  ttm_vec_free(&log->footprints);
  ttm_intern_free(&log->names);
  *log = (ttm_train_log){0};
}
