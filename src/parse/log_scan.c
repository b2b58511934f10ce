/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/log_scan.h"

#include "parse/incident_text.h"
#include "parse/log_line.h"

/* What one call of ttm_scanner_scan knows while it walks the chunk. */
typedef struct scan {
  ttm_scanner *scanner;
  const ttm_chunk *chunk;
  uint32_t line;
  const char *line_at, *line_end;
  uint16_t rank;
  bool failed;
  /* The last memory line of each kind: idle memories repeat theirs to the letter, so comparing beats parsing. */
  struct {
    ttm_view text;
    ttm_level level;
    uint32_t line;
    uint16_t rank;
    const char *line_at;
  } last[TTM_MEMORIES];
  /* The lines behind the last DRAM line, L1 to TRACE. Most blocks end with the same bytes as the one before: then three lines
   * cost one comparison. */
  ttm_view rest;
  uint16_t rest_rank;
  bool rest_debug; /* printed at DEBUG level, as in 2025 */
  bool debug;      /* the line at hand is */
  bool after_dram; /* the line at hand was a DRAM line */
} scan;

static ttm_event *add_event(scan *s, ttm_event_kind kind, ttm_view text) {
  if (ttm_vec_reserve(&s->scanner->events, 1)) {
    s->failed = true;
    return NULL;
  }
  ttm_event *e = &s->scanner->events.at[s->scanner->events.n++];
  e->kind = (uint8_t)kind;
  e->memory = 0;
  e->rank = s->rank;
  e->line = s->line;
  e->line_at = (uint32_t)(s->line_at - s->chunk->data);
  e->line_end = (uint32_t)(s->line_end - s->chunk->data);
  e->text_at = (uint32_t)(text.p - s->chunk->data);
  e->text_n = (uint32_t)text.n;
  return e;
}

/* ---- Runtime lines ------------------------------------------------------------------------------------------------- */

/* After a TRACE line: do the last three lines follow a DRAM line of the same rank without anything between? */
static void learn_rest(scan *s) {
  uint32_t first = s->line - 3;
  for (int m = TTM_DRAM; m < TTM_MEMORIES; m++)
    if (s->line < 3 || !s->last[m].line_at || s->last[m].line != first + (uint32_t)m || s->last[m].rank != s->rank)
      return;
  ttm_rest rest;
  for (int m = TTM_DRAM; m < TTM_MEMORIES; m++) rest.levels[m] = s->last[m].level;
  const char *end = s->line_end + 1;
  if (end > s->chunk->data + s->chunk->n || ttm_vec_push(&s->scanner->rests, rest)) return;
  s->rest = (ttm_view){s->last[TTM_L1].line_at, (size_t)(end - s->last[TTM_L1].line_at)};
  s->rest_rank = s->rank;
  s->rest_debug = s->debug;
}

static void scan_level(scan *s, ttm_memory memory, ttm_view view) {
  if (!ttm_view_eq(view, s->last[memory].text)) {
    ttm_level level;
    if (!ttm_memory_view_parse(view, &level)) {
      add_event(s, TTM_EV_BAD_LEVEL, view);
      return;
    }
    s->last[memory].text = view;
    s->last[memory].level = level;
  }
  s->last[memory].line = s->line;
  s->last[memory].rank = s->rank;
  s->last[memory].line_at = s->line_at;
  ttm_event *e = add_event(s, TTM_EV_LEVEL, (ttm_view){view.p, 0});
  if (!e) return;
  e->memory = (uint8_t)memory;
  e->level = s->last[memory].level;
  s->after_dram = memory == TTM_DRAM;
  if (memory == TTM_TRACE) learn_rest(s);
}

/* When the bytes at `at` are the same three lines again, *at moves behind them. */
static void scan_rest(scan *s, const char **at, const char *end) {
  if (s->rest.n == 0 || (size_t)(end - *at) < s->rest.n || memcmp(*at, s->rest.p, s->rest.n) != 0) return;
  s->line_at = *at;
  s->line_end = *at + s->rest.n - 1;
  s->rank = s->rest_rank;
  ttm_event *e = add_event(s, TTM_EV_REST, (ttm_view){*at, 0});
  if (!e) return;
  e->rest = (uint32_t)(s->scanner->rests.n - 1);
  s->scanner->counts.runtime_lines += 3;
  s->scanner->counts.debug_lines += s->rest_debug ? 3 : 0;
  s->line += 3;
  *at += s->rest.n;
}

static void scan_device_line(scan *s, ttm_view message) {
  ttm_view rest;
  ttm_memory memory = ttm_memory_line(message, &rest);
  if (memory != TTM_MEMORIES) {
    scan_level(s, memory, rest);
  } else if (ttm_view_take(&message, TTM_LIT("Device memory state before operation "))) {
    add_event(s, TTM_EV_BEFORE_OP, ttm_view_trim(message));
  } else if (ttm_view_starts(message, TTM_LIT("Device memory state before submit"))) {
    add_event(s, TTM_EV_BEFORE_SUBMIT, message);
  } else if (ttm_view_starts(message, TTM_LIT("Device memory state after submit"))) {
    add_event(s, TTM_EV_AFTER_SUBMIT, message);
  }
}

static void scan_operation(scan *s, ttm_view text) {
  ttm_event *e = add_event(s, TTM_EV_OPERATION, text);
  if (e) e->hash = ttm_hash_bytes(text.p, text.n);
}

/* A message of the runtime logger: told apart by its first letter, then by its first words. */
static void scan_runtime(scan *s, ttm_view m, uint8_t severity) {
  ttm_scan_counts *counts = &s->scanner->counts;
  counts->runtime_lines++;
  s->debug = severity == TTM_SEV_DEBUG || severity == TTM_SEV_TRACE;
  counts->debug_lines += s->debug;
  if (m.n && m.p[m.n - 1] == '\r') m.n--;
  switch (m.n ? m.p[0] : 0) {
    case 'D':
      scan_device_line(s, m);
      break;
    case 'E':
      if (ttm_view_take(&m, TTM_LIT("Executing operation: "))) scan_operation(s, m);
      break;
    case 'S':
      if (ttm_view_take(&m, TTM_LIT("Starting execution of program: ")))
        add_event(s, TTM_EV_PROGRAM_START, ttm_view_trim(m));
      break;
    case 'F':
      if (ttm_view_take(&m, TTM_LIT("Finished execution of program: ")))
        add_event(s, TTM_EV_PROGRAM_FINISH, ttm_view_trim(m));
      break;
    case 'C':
      if (ttm_view_take(&m, TTM_LIT("Cache miss or invalid cache for function: ")))
        add_event(s, TTM_EV_CACHE_MISS, ttm_view_trim(m));
      else if (ttm_view_take(&m, TTM_LIT("Cache hit for function: ")))
        add_event(s, TTM_EV_CACHE_HIT, ttm_view_trim(m));
      break;
    case 'R':
      if (ttm_view_take(&m, TTM_LIT("Running LoadCachedOp for function ")))
        add_event(s, TTM_EV_CACHE_KEY, ttm_view_trim(m));
      break;
    case 'T':
      if (ttm_view_starts(m, TTM_LIT("Tensor is retained thus not deallocating")))
        add_event(s, TTM_EV_RETAINED, m);
      else if (ttm_view_starts(m, TTM_LIT("Trace cache ")) || ttm_view_starts(m, TTM_LIT("Trace is stale")))
        add_event(s, TTM_EV_TRACE, m);
      break;
    default:
      break;
  }
  if (severity == TTM_SEV_FATAL || severity == TTM_SEV_ERROR) {
    ttm_view line = {s->line_at, (size_t)(s->line_end - s->line_at)};
    ttm_incident_text incident;
    if (ttm_incident_parse(line, &incident)) add_event(s, TTM_EV_INCIDENT, line);
  }
}

/* ---- Everything else ----------------------------------------------------------------------------------------------- */

/* "MLIR Module ttnn:" today; "TTNN Module:" before October 2025. Gives the stage in lower case spelling of today. */
static bool dump_header(ttm_view m, ttm_view *stage) {
  static const struct {
    ttm_view old, stage;
  } eras[] = {{TTM_LIT("VHLO Module:"), TTM_LIT("vhlo")},
              {TTM_LIT("SHLO Module:"), TTM_LIT("shlo")},
              {TTM_LIT("TTIR Module:"), TTM_LIT("ttir")},
              {TTM_LIT("TTNN Module:"), TTM_LIT("ttnn")}};
  size_t at = ttm_view_find(m, TTM_LIT("MLIR Module "));
  if (at != TTM_NOT_FOUND) {
    ttm_view rest = ttm_view_from(m, at + 12);
    size_t colon = ttm_view_find_char(rest, ':');
    if (colon == TTM_NOT_FOUND || colon == 0 || ttm_view_find_char(ttm_view_first(rest, colon), ' ') != TTM_NOT_FOUND)
      return false;
    *stage = ttm_view_first(rest, colon);
    return true;
  }
  for (size_t i = 0; i < sizeof eras / sizeof *eras; i++) {
    if (!ttm_view_ends(ttm_view_trim(m), eras[i].old)) continue;
    *stage = ttm_view_first(ttm_view_from(m, ttm_view_find(m, eras[i].old)), 4);
    return true;
  }
  return false;
}

static void scan_foreign(scan *s, ttm_view m) {
  ttm_incident_text incident;
  ttm_view stage;
  if (ttm_incident_is_possible(m)) {
    if (ttm_incident_parse(m, &incident))
      add_event(s, TTM_EV_INCIDENT, m);
    else if (ttm_incident_is_header(m))
      add_event(s, TTM_EV_INCIDENT_HEADER, m);
  }
  if (ttm_view_contains(m, TTM_LIT(" Module")) && dump_header(m, &stage))
    add_event(s, TTM_EV_DUMP_BEGIN, stage);
  else if (ttm_view_contains(m, TTM_LIT("END OF MLIR MODULE")))
    add_event(s, TTM_EV_DUMP_END, m);
  s->scanner->counts.loguru_lines += ttm_log_line_is_loguru(m);
}

/* ---- Lines --------------------------------------------------------------------------------------------------------- */

static void remember_prefix(ttm_scanner *sc, ttm_view line, const ttm_log_line *read) {
  size_t n = (size_t)(read->message.p - line.p);
  if (!read->stable || n > sizeof sc->prefixes[0].bytes) return;
  memmove(sc->prefixes + 1, sc->prefixes, sizeof sc->prefixes - sizeof sc->prefixes[0]);
  ttm_known_prefix *known = &sc->prefixes[0];
  known->n = (uint8_t)n;
  known->severity = read->severity;
  known->rank = read->rank;
  memcpy(known->bytes, line.p, n);
}

/* A line whose prefix is not known: read it with care. Progress bars overwrite themselves with \r, so each part counts; a rank
 * tag stands before the first one only. */
static void scan_slowly(scan *s, ttm_view line) {
  const char *whole_end = s->line_end;
  s->rank = TTM_NO_RANK;
  if (line.n && line.p[line.n - 1] == '\r') line.n--;
  for (;;) {
    size_t cut = ttm_view_find_char(line, '\r');
    ttm_view part = cut == TTM_NOT_FOUND ? line : ttm_view_first(line, cut);
    s->line_at = part.p;
    s->line_end = cut == TTM_NOT_FOUND ? whole_end : part.p + part.n;
    ttm_log_line read = ttm_log_line_read(part);
    if (read.rank != TTM_NO_RANK) s->rank = read.rank;
    if (read.runtime) {
      if (read.rank == s->rank) remember_prefix(s->scanner, part, &read);
      scan_runtime(s, read.message, read.severity);
    } else if (read.message.n) {
      scan_foreign(s, read.message);
    }
    if (cut == TTM_NOT_FOUND) return;
    line = ttm_view_from(line, cut + 1);
  }
}

static void scan_line(scan *s, ttm_view line) {
  ttm_scanner *sc = s->scanner;
  for (size_t i = 0; i < TTM_KNOWN_PREFIXES; i++) {
    const ttm_known_prefix *known = &sc->prefixes[i];
    if (known->n == 0) break;
    if (line.n < known->n || memcmp(line.p, known->bytes, known->n) != 0) continue;
    s->rank = known->rank;
    scan_runtime(s, ttm_view_from(line, known->n), known->severity);
    return;
  }
  scan_slowly(s, line);
}

int ttm_scanner_scan(ttm_scanner *scanner, const ttm_chunk *chunk) {
  scanner->events.n = scanner->rests.n = 0;
  scanner->counts = (ttm_scan_counts){0};
  scan s = {.scanner = scanner, .chunk = chunk};
  const char *at = chunk->data, *end = at + chunk->n;
  while (at < end) {
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    const char *stop = line_end ? line_end : end;
    s.line_at = at;
    s.line_end = stop;
    s.after_dram = false;
    scan_line(&s, (ttm_view){at, (size_t)(stop - at)});
    s.line += line_end != NULL;
    at = stop + 1;
    if (s.after_dram && at < end) scan_rest(&s, &at, end);
  }
  scanner->counts.lines = s.line;
  return s.failed ? TTM_ENOMEM : TTM_OK;
}

void ttm_scanner_free(ttm_scanner *scanner) {
  ttm_vec_free(&scanner->events);
  ttm_vec_free(&scanner->rests);
}
