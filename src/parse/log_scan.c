/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/log_scan.h"

#include "parse/incident_text.h"
#include "parse/log_line.h"
#include "parse/log_mark.h"

/* What one call of ttm_scanner_scan knows while it walks the chunk. */
typedef struct scan {
  ttm_scanner *scanner;
  ttm_scanned *out;
  const ttm_chunk *chunk;
  uint64_t seed; /* of hashes: the same in every thread */
  uint32_t line;
  const char *line_at, *line_end;
  uint16_t rank;
  bool failed;
  /* The last memory line of each kind: idle memories repeat theirs to the letter, so comparing beats parsing. */
  struct {
    ttm_str text;
    ttm_level level;
    uint32_t line;
    uint16_t rank;
    const char *line_at;
  } last[TTM_MEMORIES];
  /* The lines behind the last DRAM line, L1 to TRACE. Most blocks end with the same bytes as the one before: then three lines
   * cost one comparison. */
  ttm_str rest;
  uint16_t rest_rank;
  bool rest_debug;             /* printed at DEBUG level, as in 2025 */
  bool debug;                  /* the line at hand is */
  bool after_frame;            /* the line before was a frame of a traceback */
  bool foreign;                /* the line before was none of the runtime's: those after it will not be either */
  bool after_dram;             /* the line at hand was a DRAM line */
  uint32_t block;              /* of the last operation, or TTM_NO_BLOCK when it is not known ... */
  uint32_t previous;           /* ... and of the one before it */
  uint32_t next_block;         /* what should come next */
  uint64_t debug_before_block; /* debug lines before the last operation line */
} scan;

static ttm_event *add_event(scan *s, ttm_event_kind kind, ttm_str text) {
  if (ttm_vec_reserve(&s->out->events, 1)) {
    s->failed = true;
    return NULL;
  }
  ttm_event *e = &s->out->events.at[s->out->events.n++];
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

/* From the start of a line to its end, with nothing before or behind that \r separates. */
static bool is_line(const scan *s, const char *at, const char *end) {
  return (at == s->chunk->data || at[-1] == '\n') && end < s->chunk->data + s->chunk->n && *end == '\n';
}

/* After a TRACE line: do the last three lines follow a DRAM line of the same rank without anything between? */
static void learn_rest(scan *s) {
  uint32_t first = s->line - 3;
  for (int m = TTM_DRAM; m < TTM_MEMORIES; m++)
    if (s->line < 3 || !s->last[m].line_at || s->last[m].line != first + (uint32_t)m || s->last[m].rank != s->rank)
      return;
  ttm_rest rest;
  for (int m = TTM_DRAM; m < TTM_MEMORIES; m++) rest.levels[m] = s->last[m].level;
  const char *end = s->line_end + 1;
  if (!is_line(s, s->last[TTM_L1].line_at, s->line_end) || ttm_vec_push(&s->out->rests, rest)) return;
  s->rest = (ttm_str){s->last[TTM_L1].line_at, (size_t)(end - s->last[TTM_L1].line_at)};
  s->rest_rank = s->rank;
  s->rest_debug = s->debug;
}

static bool rest_stands_at(const scan *s, const char *at, const char *end) {
  return s->rest.n && (size_t)(end - at) >= s->rest.n && memcmp(at, s->rest.p, s->rest.n) == 0;
}

static void pass_rest(scan *s, const char **at) {
  s->out->counts.runtime_lines += 3;
  s->out->counts.debug_lines += s->rest_debug ? 3 : 0;
  s->line += 3;
  *at += s->rest.n;
}

/* ---- Known blocks -------------------------------------------------------------------------------------------------- */

/* Room for some four thousand operations: more than most programs have, and little beside the profile itself. */
enum { MOST_BYTES = 4 * 1024 * 1024 };

static uint64_t key_of(uint64_t hash, uint16_t rank) { return hash ^ rank * UINT64_C(0x9e3779b97f4a7c15); }

/* The block of an operation text, or TTM_NO_BLOCK. */
static uint32_t find_block(const ttm_known_blocks *known, uint64_t hash, uint16_t rank) {
  uint32_t i = ttm_map_get(&known->of_hash, key_of(hash, rank), TTM_NO_BLOCK);
  if (i == TTM_NO_BLOCK) return i;
  const ttm_known_block *block = &known->blocks.at[i];
  return block->hash == hash && block->rank == rank ? i : TTM_NO_BLOCK;
}

static void forget_blocks(ttm_known_blocks *known) {
  known->blocks.n = 0;
  ttm_buf_clear(&known->bytes);
  ttm_map_clear(&known->of_hash);
}

/* Forgets all others when there is no room left. TTM_NO_BLOCK without memory: that only costs speed. */
static uint32_t add_block(ttm_known_blocks *known, const ttm_known_block *block, const char *bytes) {
  if (known->bytes.failed || block->n > MOST_BYTES) return TTM_NO_BLOCK;
  if (known->bytes.n + block->n > MOST_BYTES) forget_blocks(known);
  ttm_known_block added = *block;
  added.at = (uint32_t)known->bytes.n;
  added.next = TTM_NO_BLOCK;
  ttm_buf_put(&known->bytes, (ttm_str){bytes, block->n});
  uint32_t i = (uint32_t)known->blocks.n;
  if (known->bytes.failed || ttm_vec_push(&known->blocks, added)) return TTM_NO_BLOCK;
  return ttm_map_set(&known->of_hash, key_of(block->hash, block->rank), i) ? TTM_NO_BLOCK : i;
}

/* The last operation's block is this one: it followed the previous one, and the next will be what followed it last time. */
static void place_block(scan *s, uint32_t block) {
  ttm_known_blocks *known = &s->scanner->known;
  s->block = block;
  s->next_block = TTM_NO_BLOCK;
  if (block == TTM_NO_BLOCK) return;
  if (s->previous < known->blocks.n) known->blocks.at[s->previous].next = block;
  s->next_block = known->blocks.at[block].next;
}

static ttm_block_part line_part(const ttm_event *e, uint32_t start) {
  return (ttm_block_part){e->line_at - start, e->line_end - start};
}

static ttm_block_part text_part(const ttm_event *e, uint32_t start) {
  return (ttm_block_part){e->text_at - start, e->text_at + e->text_n - start};
}

/* A whole line followed by `next` at once, both of one rank. */
static bool stands_before(const scan *s, const ttm_event *e, const ttm_event *next) {
  return e->rank == next->rank && e->line + 1 == next->line && e->line_end + 1 == next->line_at &&
         is_line(s, s->chunk->data + e->line_at, s->chunk->data + e->line_end) && e->text_at + e->text_n == e->line_end;
}

/* After a DRAM line: are it and the two lines before an operation with its block? */
static void learn_block(scan *s, ttm_str view) {
  size_t n = s->out->events.n;
  const ttm_event *e = n < 3 ? NULL : &s->out->events.at[n - 3];
  if (!e || e[0].kind != TTM_EV_OPERATION || e[1].kind != TTM_EV_BEFORE_OP || !stands_before(s, &e[0], &e[1]) ||
      !stands_before(s, &e[1], &e[2]) || s->block != TTM_NO_BLOCK)
    return;
  ttm_level level;
  const char *view_at = view.p;
  if (!ttm_memory_view_take_size(&view, &level)) return;
  uint32_t start = e[0].line_at;
  ttm_known_block block = {.n = (uint32_t)(view.p - s->chunk->data) - start,
                           .op_line = line_part(&e[0], start),
                           .op_text = text_part(&e[0], start),
                           .header_line = line_part(&e[1], start),
                           .header_text = text_part(&e[1], start),
                           .dram_line = e[2].line_at - start,
                           .dram_view = (uint32_t)(view_at - s->chunk->data) - start,
                           .banks = level.banks,
                           .total = level.total,
                           .rank = e[0].rank,
                           .debug_lines = (uint8_t)(s->out->counts.debug_lines - s->debug_before_block),
                           .op_kind = e[1].op_kind,
                           .hash = e[0].hash};
  place_block(s, add_block(&s->scanner->known, &block, s->chunk->data + start));
}

/* The last line of this memory, as an event and for comparing. */
static void keep_level(scan *s, ttm_memory memory, ttm_str text, const ttm_level *level) {
  s->last[memory].text = text;
  s->last[memory].level = *level;
  s->last[memory].line = s->line;
  s->last[memory].rank = s->rank;
  s->last[memory].line_at = s->line_at;
  ttm_event *e = add_event(s, TTM_EV_LEVEL, (ttm_str){text.p, 0});
  if (!e) return;
  e->memory = (uint8_t)memory;
  e->level = *level;
}

static void scan_level(scan *s, ttm_memory memory, ttm_str view) {
  ttm_level level = s->last[memory].level;
  if (!ttm_str_eq(view, s->last[memory].text) && !ttm_memory_view_parse(view, &level)) {
    add_event(s, TTM_EV_BAD_LEVEL, view);
    return;
  }
  keep_level(s, memory, view, &level);
  s->after_dram = memory == TTM_DRAM;
  if (!ttm_level_adds_up(&level)) {
    add_event(s, TTM_EV_BAD_LEVEL, view); /* learned by nobody: the same line again is as bad */
    return;
  }
  if (memory == TTM_DRAM) learn_block(s, view);
  if (memory == TTM_TRACE) learn_rest(s);
}

static ttm_event *add_block_line(scan *s, ttm_event_kind kind, const char *at, ttm_block_part line,
                                 ttm_block_part text) {
  s->line_at = at + line.at;
  s->line_end = at + line.end;
  return add_event(s, kind, (ttm_str){at + text.at, text.end - text.at});
}

/* The three lines of a known block at `at`, one by one: what follows its DRAM line is new. */
static void add_block_lines(scan *s, const ttm_known_block *block, const char *at, const ttm_level *dram,
                            const char *end) {
  ttm_event *e = add_block_line(s, TTM_EV_OPERATION, at, block->op_line, block->op_text);
  if (e) e->hash = block->hash;
  s->line++;
  e = add_block_line(s, TTM_EV_BEFORE_OP, at, block->header_line, block->header_text);
  if (e) e->op_kind = block->op_kind;
  s->line++;
  s->line_at = at + block->dram_line;
  s->line_end = end;
  const char *view = at + block->dram_view;
  keep_level(s, TTM_DRAM, (ttm_str){view, (size_t)(end - view)}, dram);
  s->line++;
}

/* A known block and the rest that follows it as one event. False when the rest is not the one that was learned last. */
static bool add_whole_block(scan *s, const ttm_known_block *block, const char *at, const ttm_level *dram,
                            const char **rest, const char *end) {
  if (!rest_stands_at(s, *rest, end) || s->rest_rank != block->rank) return false;
  const ttm_level *size = &s->out->rests.at[s->out->rests.n - 1].levels[TTM_DRAM];
  if (size->banks != dram->banks || size->total != dram->total) return false;
  s->line_at = at;
  s->line_end = *rest + s->rest.n - 1;
  ttm_event *e = add_event(s, TTM_EV_BLOCK, (ttm_str){at + block->op_text.at, block->op_text.end - block->op_text.at});
  if (!e) return true;
  e->op_kind = block->op_kind;
  e->block = (ttm_block_event){.hash = block->hash,
                               .allocated = dram->allocated,
                               .free = dram->free,
                               .largest = dram->largest,
                               .rest = (uint32_t)(s->out->rests.n - 1),
                               .type_at = (uint32_t)(at + block->header_text.at - s->chunk->data),
                               .type_n = block->header_text.end - block->header_text.at};
  s->line += 3;
  pass_rest(s, rest);
  return true;
}

/* Reads the figures behind a known block and moves *v behind them. */
static bool take_use(ttm_known_block *block, ttm_str *v, ttm_level *dram) {
  size_t n = block->use_n;
  if (n && v->n > n && memcmp(v->p, block->use_bytes, n) == 0) {
    *dram = block->use;
    *v = ttm_str_from(*v, n);
    return true;
  }
  const char *start = v->p;
  *dram = (ttm_level){.banks = block->banks, .total = block->total};
  if (!ttm_memory_view_take_use(v, dram) || !ttm_level_adds_up(dram)) return false;
  n = (size_t)(v->p - start);
  if (n > sizeof block->use_bytes) return true;
  block->use_n = (uint8_t)n;
  block->use = *dram;
  memcpy(block->use_bytes, start, n);
  return true;
}

/* When the block that should come next stands at *at, *at moves behind it, or behind its DRAM line when the rest is new. */
static bool scan_known_block(scan *s, const char **at, const char *end) {
  const ttm_known_blocks *known = &s->scanner->known;
  ttm_known_block *block = &known->blocks.at[s->next_block];
  if ((size_t)(end - *at) < block->n || memcmp(*at, known->bytes.at + block->at, block->n) != 0) return false;
  ttm_level dram;
  ttm_str use = {*at + block->n, (size_t)(end - *at) - block->n};
  if (!take_use(block, &use, &dram) || use.n == 0 || use.p[0] != '\n') return false;

  s->rank = block->rank;
  s->out->counts.runtime_lines += 3;
  s->out->counts.debug_lines += block->debug_lines;
  const char *rest = use.p + 1;
  if (!add_whole_block(s, block, *at, &dram, &rest, end)) add_block_lines(s, block, *at, &dram, use.p);
  *at = rest;
  s->previous = s->block;
  place_block(s, s->next_block);
  return true;
}

/* When the bytes at `at` are the same three lines again, *at moves behind them. */
static void scan_rest(scan *s, const char **at, const char *end) {
  if (!rest_stands_at(s, *at, end)) return;
  s->line_at = *at;
  s->line_end = *at + s->rest.n - 1;
  s->rank = s->rest_rank;
  ttm_event *e = add_event(s, TTM_EV_REST, (ttm_str){*at, 0});
  if (!e) return;
  e->rest = (uint32_t)(s->out->rests.n - 1);
  pass_rest(s, at);
}

/* The messages that are few, by their first words. */
static void scan_other(scan *s, ttm_str message) {
  static const struct {
    ttm_str start;
    ttm_event_kind kind;
  } others[] = {
      {TTM_LIT("Device memory state before submit"), TTM_EV_BEFORE_SUBMIT},
      {TTM_LIT("Device memory state after submit"), TTM_EV_AFTER_SUBMIT},
      {TTM_LIT("Starting execution of program: "), TTM_EV_PROGRAM_START},
      {TTM_LIT("Finished execution of program: "), TTM_EV_PROGRAM_FINISH},
      {TTM_LIT("Cache miss or invalid cache for function: "), TTM_EV_CACHE_MISS},
      {TTM_LIT("Cache hit for function: "), TTM_EV_CACHE_HIT},
      {TTM_LIT("Running LoadCachedOp for function "), TTM_EV_CACHE_KEY},
      {TTM_LIT("Tensor is retained thus not deallocating"), TTM_EV_RETAINED},
      {TTM_LIT("Trace cache "), TTM_EV_TRACE},
      {TTM_LIT("Trace is stale"), TTM_EV_TRACE},
  };
  for (size_t i = 0; i < sizeof others / sizeof *others && message.n; i++) {
    if (message.p[0] != others[i].start.p[0] || !ttm_str_take(&message, others[i].start)) continue;
    add_event(s, others[i].kind, ttm_str_trim(message));
    return;
  }
}

static void scan_device_line(scan *s, ttm_str message) {
  ttm_str rest;
  ttm_memory memory = ttm_memory_line(message, &rest);
  if (memory != TTM_MEMORIES) {
    scan_level(s, memory, rest);
  } else if (ttm_str_take(&message, TTM_LIT("Device memory state before operation "))) {
    message = ttm_str_trim(message);
    ttm_event *e = add_event(s, TTM_EV_BEFORE_OP, message);
    if (e) e->op_kind = (uint8_t)ttm_op_kind_of(message);
  } else {
    scan_other(s, message);
  }
}

static void scan_operation(scan *s, ttm_str text) {
  ttm_event *e = add_event(s, TTM_EV_OPERATION, text);
  if (!e) return;
  e->hash = ttm_hash(text.p, text.n, s->seed);
  s->debug_before_block = s->out->counts.debug_lines - s->debug;
  s->previous = s->block;
  place_block(s, find_block(&s->scanner->known, e->hash, s->rank));
}

/* A message of the runtime logger; those of operations and their blocks come by far most often. */
static void scan_runtime(scan *s, ttm_str m, uint8_t severity) {
  ttm_scan_counts *counts = &s->out->counts;
  counts->runtime_lines++;
  s->foreign = false;
  s->debug = severity == TTM_SEV_DEBUG || severity == TTM_SEV_TRACE;
  counts->debug_lines += s->debug;
  if (m.n && m.p[m.n - 1] == '\r') m.n--;
  if (m.n && m.p[0] == 'D')
    scan_device_line(s, m);
  else if (ttm_str_take(&m, TTM_LIT("Executing operation: ")))
    scan_operation(s, m);
  else
    scan_other(s, m);
  if (severity == TTM_SEV_FATAL || severity == TTM_SEV_ERROR) {
    ttm_str line = {s->line_at, (size_t)(s->line_end - s->line_at)};
    ttm_incident_text incident;
    if (ttm_incident_parse(line, &incident)) add_event(s, TTM_EV_INCIDENT, line);
  }
}

/* ---- Everything else ----------------------------------------------------------------------------------------------- */

/* The cheap first look for header and END of a dump: " Module" or " MODULE", by their M, which module text holds few of. */
static bool names_module(ttm_str m) {
  for (size_t at = 1; at < m.n; at++) {
    size_t next = ttm_str_find_char(ttm_str_from(m, at), 'M');
    if (next == TTM_NOT_FOUND) return false;
    at += next;
    ttm_str word = ttm_str_from(m, at + 1);
    if (m.p[at - 1] == ' ' && (ttm_str_starts(word, TTM_LIT("odule")) || ttm_str_starts(word, TTM_LIT("ODULE"))))
      return true;
  }
  return false;
}

/* "MLIR Module ttnn:" today; "TTNN Module:" before October 2025. Gives the stage as it is spelled there. */
static bool dump_header(ttm_str m, ttm_str *stage) {
  static const ttm_str eras[] = {TTM_LIT("VHLO Module:"), TTM_LIT("SHLO Module:"), TTM_LIT("TTIR Module:"),
                                 TTM_LIT("TTNN Module:")};
  size_t at = ttm_str_find(m, TTM_LIT("MLIR Module "));
  if (at != TTM_NOT_FOUND) {
    ttm_str rest = ttm_str_from(m, at + 12);
    size_t colon = ttm_str_find_char(rest, ':');
    if (colon == TTM_NOT_FOUND || colon == 0 || ttm_str_find_char(ttm_str_first(rest, colon), ' ') != TTM_NOT_FOUND)
      return false;
    *stage = ttm_str_first(rest, colon);
    return true;
  }
  for (size_t i = 0; i < sizeof eras / sizeof *eras; i++) {
    if (!ttm_str_ends(ttm_str_trim(m), eras[i])) continue;
    *stage = ttm_str_first(ttm_str_from(m, ttm_str_find(m, eras[i])), 4);
    return true;
  }
  return false;
}

/* Frames begin with blanks, or with what a logger puts before every line. */
static void scan_frame(scan *s, ttm_str m) {
  size_t call = s->after_frame ? ttm_str_find(m, TTM_LIT("ttnn.")) : TTM_NOT_FOUND;
  if (call != TTM_NOT_FOUND) add_event(s, TTM_EV_FRAME_CALL, ttm_str_from(m, call));
  s->after_frame = m.n > 8 && strchr(" (E[", m.p[0]) && m.p[0] && ttm_str_contains(m, TTM_LIT("  File \""));
  if (s->after_frame) add_event(s, TTM_EV_FRAME, m);
}

static void scan_foreign(scan *s, ttm_str m) {
  ttm_incident_text incident;
  ttm_str stage;
  scan_frame(s, m);
  if (ttm_incident_is_possible(m)) {
    if (ttm_incident_parse(m, &incident))
      add_event(s, TTM_EV_INCIDENT, m);
    else if (ttm_incident_is_header(m))
      add_event(s, TTM_EV_INCIDENT_HEADER, m);
  }
  if (names_module(m)) {
    if (dump_header(m, &stage))
      add_event(s, TTM_EV_DUMP_BEGIN, stage);
    else if (ttm_str_contains(m, TTM_LIT("END OF MLIR MODULE")))
      add_event(s, TTM_EV_DUMP_END, m);
  }
  s->out->counts.loguru = s->out->counts.loguru || ttm_log_line_is_loguru(m);
}

/* ---- Lines that hold nothing ------------------------------------------------------------------------------------------ */

typedef uint8_t lanes __attribute__((vector_size(16)));

static uint32_t count_line_ends(const char *at, const char *end) {
  enum { STEP = sizeof(lanes), MOST = UINT8_MAX };
  uint32_t n = 0;
  while (end - at >= STEP) {
    lanes sums = {0}, bytes;
    for (int i = 0; i < MOST && end - at >= STEP; i++, at += STEP) {
      memcpy(&bytes, at, STEP);
      sums -= (lanes)(bytes == '\n');
    }
    for (int i = 0; i < STEP; i++) n += sums[i];
  }
  while (at < end) n += *at++ == '\n';
  return n;
}

/* Moves *at to the next line that holds a mark; that of the first loguru line is only noted. */
static void skip_lines(scan *s, const char **at, const char *end) {
  ttm_str text = {*at, (size_t)(end - *at)};
  const char *start;
  uint16_t rank;
  for (size_t i = 0;; i++) {
    ttm_mark mark = ttm_mark_find(text, &i, !s->out->counts.loguru);
    start = mark ? text.p + (ttm_str_find_last(ttm_str_first(text, i), '\n') + 1) : end;
    ttm_str line = {start, (size_t)(text.p + i + 4 - start)};
    /* The parts of a line are looked at one by one. */
    if (mark != TTM_MARK_LOGURU || ttm_str_find_char(line, '\r') != TTM_NOT_FOUND) break;
    s->out->counts.loguru = ttm_log_line_is_loguru(ttm_log_line_text(line, &rank));
  }
  s->line += count_line_ends(*at, start);
  *at = start;
}

/* ---- Lines --------------------------------------------------------------------------------------------------------- */

static void remember_prefix(ttm_scanner *sc, ttm_str line, const ttm_log_line *read) {
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
static void scan_slowly(scan *s, ttm_str line) {
  const char *whole_end = s->line_end;
  s->rank = TTM_NO_RANK;
  s->foreign = true;
  if (line.n && line.p[line.n - 1] == '\r') line.n--;
  for (;;) {
    size_t cut = ttm_str_find_char(line, '\r');
    ttm_str part = cut == TTM_NOT_FOUND ? line : ttm_str_first(line, cut);
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
    line = ttm_str_from(line, cut + 1);
  }
}

static void scan_line(scan *s, ttm_str line) {
  ttm_scanner *sc = s->scanner;
  for (size_t i = 0; i < TTM_KNOWN_PREFIXES; i++) {
    const ttm_known_prefix *known = &sc->prefixes[i];
    if (known->n == 0) break;
    if (line.n < known->n || memcmp(line.p, known->bytes, known->n) != 0) continue;
    if (ttm_str_find_char(ttm_str_first(line, line.n - 1), '\r') != TTM_NOT_FOUND) break; /* more than one part */
    s->rank = known->rank;
    scan_runtime(s, ttm_str_from(line, known->n), known->severity);
    return;
  }
  scan_slowly(s, line);
}

int ttm_scanner_scan(ttm_scanner *scanner, const ttm_chunk *chunk, ttm_scanned *out) {
  out->events.n = out->rests.n = 0;
  out->counts = (ttm_scan_counts){0};
  scan s = {.scanner = scanner,
            .out = out,
            .chunk = chunk,
            .seed = ttm_hash_seed(),
            .foreign = true,
            .block = TTM_NO_BLOCK,
            .previous = TTM_NO_BLOCK,
            .next_block = TTM_NO_BLOCK};
  const char *at = chunk->data, *end = at + chunk->n;
  while (at < end) {
    if (s.next_block != TTM_NO_BLOCK && scan_known_block(&s, &at, end)) continue;
    if (s.foreign && !s.after_frame) {
      s.foreign = false;
      skip_lines(&s, &at, end);
      continue;
    }
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    const char *stop = line_end ? line_end : end;
    s.line_at = at;
    s.line_end = stop;
    s.after_dram = false;
    scan_line(&s, (ttm_str){at, (size_t)(stop - at)});
    s.line += line_end != NULL;
    at = stop + 1;
    if (s.after_dram && at < end) scan_rest(&s, &at, end);
  }
  out->counts.lines = s.line;
  return s.failed ? TTM_ENOMEM : TTM_OK;
}

void ttm_scanner_free(ttm_scanner *scanner) {
  ttm_vec_free(&scanner->known.blocks);
  ttm_buf_free(&scanner->known.bytes);
  ttm_map_free(&scanner->known.of_hash);
}

void ttm_scanned_free(ttm_scanned *scanned) {
  ttm_vec_free(&scanned->events);
  ttm_vec_free(&scanned->rests);
}
