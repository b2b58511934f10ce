/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the scanner become operations, states, programs, dumps and incidents of their rank. */
#include "base/error.h"
#include "parse/last_words.h"
#include "parse/log_line.h"
#include "parse/mlir_scan.h"
#include "profile/diagnose.h"
#include "profile/load/log.h"
#include "profile/load/module.h"

/* ---- Ranks ----------------------------------------------------------------------------------------------------------- */

static int new_rank(ttm_log *log, uint16_t tag, ttm_log_rank **out) {
  ttm_log_rank *r = ttm_alloc(sizeof *r);
  if (!r) return TTM_ENOMEM;
  r->tag = tag;
  if (ttm_vec_push(&log->ranks, r)) {
    ttm_free(r);
    return TTM_ENOMEM;
  }
  *out = r;
  if (ttm_map_set(&log->rank_ids, tag, (uint32_t)(log->ranks.n - 1))) return TTM_ENOMEM;
  return ttm_build_rank(log->builder, tag == TTM_NO_RANK ? 0 : tag, &r->stream);
}

/* In a tagged log a line without a tag (from the launcher, or torn) belongs to whoever wrote last. */
static int rank_of(ttm_log *log, uint16_t tag, ttm_log_rank **out) {
  ttm_profile *p = log->builder->profile;
  ttm_log_rank *last = log->last_rank;
  if (last && (last->tag == tag || tag == TTM_NO_RANK)) return *out = last, TTM_OK;
  uint32_t known = ttm_map_get(&log->rank_ids, tag, TTM_NONE);
  if (known != TTM_NONE) return *out = log->last_rank = log->ranks.at[known], TTM_OK;
  /* What came before the first tag was the same first rank. */
  if (log->ranks.n == 1 && log->ranks.at[0]->tag == TTM_NO_RANK && p->ops.n == 0 && p->states.n == 0) {
    *out = log->last_rank = log->ranks.at[0];
    log->last_rank->tag = tag;
    p->ranks.at[0] = tag;
    return ttm_map_set(&log->rank_ids, tag, 0);
  }
  if (new_rank(log, tag, out)) return TTM_ENOMEM;
  log->last_rank = *out;
  return TTM_OK;
}

/* Log line (1-based) of an event's line; saturates. */
static uint32_t line_of(const ttm_log *log, uint32_t line_in_chunk) {
  uint64_t line = log->base_line + line_in_chunk + 1;
  return line < TTM_NONE ? (uint32_t)line : TTM_NONE - 1;
}

/* ---- Blocks: five lines become one state ---------------------------------------------------------------------------- */

/* Writes the open block into the profile, if there is one. The runtime prints all memories: one that is missing was lost, and with it maybe the
 * peak. */
static int block_commit(ttm_log *log, ttm_log_rank *r) {
  if (!r->block_open) return TTM_OK;
  r->block_open = false;
  if (r->block.present != TTM_ALL_MEMORIES && !r->block_told) log->builder->profile->seen.bad_blocks++;
  log->empty_blocks += !r->block.present;
  return r->block.present ? ttm_build_block(log->builder, r->stream, &r->block) : TTM_OK;
}

static int block_begin(ttm_log *log, ttm_log_rank *r, uint32_t op, uint32_t line) {
  int rc = block_commit(log, r);
  r->block_open = true;
  r->block_told = false;
  r->block = (ttm_block){.op = op, .line = line};
  return rc;
}

static int block_add(ttm_log *log, ttm_log_rank *r, ttm_memory memory, const ttm_level *level, uint32_t line) {
  if (!r->block_open || r->block.present >> memory & 1) {
    /* No header: it was lost between an operation and its block, or the caller printed none. */
    uint32_t op = r->stream->pending;
    bool lost = op != TTM_NONE && log->builder->profile->ops.at[op].state == TTM_NONE && !r->block_open;
    if (block_begin(log, r, lost ? op : TTM_STATE_BARE, line)) return TTM_ENOMEM;
  }
  r->block.present |= UINT32_C(1) << memory;
  r->block.levels[memory] = *level;
  return r->block.present == TTM_ALL_MEMORIES ? block_commit(log, r) : TTM_OK;
}

/* L1, L1_SMALL and TRACE; `line` is the first one's. */
static int block_add_rest(ttm_log *log, ttm_log_rank *r, const ttm_rest *rest, uint32_t line) {
  if (r->block_open && r->block.present == 1 << TTM_DRAM) {
    memcpy(&r->block.levels[TTM_L1], &rest->levels[TTM_L1], sizeof rest->levels - sizeof rest->levels[0]);
    r->block.present = TTM_ALL_MEMORIES;
    return block_commit(log, r);
  }
  int rc = TTM_OK;
  for (int m = TTM_L1; m < TTM_MEMORIES && !rc; m++)
    rc = block_add(log, r, (ttm_memory)m, &rest->levels[m], line + (uint32_t)(m - TTM_L1));
  return rc;
}

/* The whole block of the pending operation; `line` is its header's. */
static int block_add_whole(ttm_log *log, ttm_log_rank *r, const ttm_block_event *block, const ttm_rest *rest,
                           uint32_t line) {
  ttm_stream *s = r->stream;
  if (log->last_whole.rest != rest || log->last_whole.rank != r) {
    log->last_whole.rest = NULL;
    if (ttm_build_state_base(log->builder, s, TTM_ALL_MEMORIES, rest->levels, &log->last_whole.base)) return TTM_ENOMEM;
    log->last_whole.rest = rest;
    log->last_whole.rank = r;
  }
  s->state_base = log->last_whole.base;
  ttm_state state = {.op = s->pending,
                     .line = line,
                     .base = s->state_base,
                     .dram_allocated = block->allocated,
                     .dram_free = block->free,
                     .dram_largest = block->largest};
  return ttm_build_state(log->builder, s, &state);
}

/* ---- Module dumps ---------------------------------------------------------------------------------------------------- */

/* Their lines carry no prefix, so whatever stands between header and END line belongs to them, except lines that other threads' loggers
 * put between. */

/* A dump beyond this is not kept whole: nobody reads it, and it must not fill the host. */
enum { LONGEST_DUMP = 256 * 1024 * 1024 };

static int dump_end(ttm_log *log, ttm_log_rank *r) {
  ttm_open_dump *dump = &r->dump;
  if (!dump->open) return TTM_OK;
  dump->open = false;
  log->open_dumps--;
  int rc = ttm_build_dump(log->builder, r->stream, dump->row, ttm_buf_str(&dump->text), !dump->overflow);
  ttm_buf_free(&dump->text); /* may be large */
  return rc;
}

static int dump_begin(ttm_log *log, ttm_log_rank *r, ttm_str stage, uint32_t line) {
  ttm_builder *b = log->builder;
  ttm_dump row = {.first_line = line};
  if (dump_end(log, r) || ttm_build_graph(b, r->stream, stage) || ttm_build_string(b, stage, &row.stage))
    return TTM_ENOMEM;
  b->profile->seen.dumps++;
  log->open_dumps++;
  ttm_buf_clear(&r->dump.text);
  r->dump = (ttm_open_dump){.open = true, .row = row, .text = r->dump.text};
  return TTM_OK;
}

/* One line inside a dump. Module text never starts with a date or an escape; other loggers' lines do. */
static int take_dump_line(ttm_log *log, ttm_str line) {
  ttm_log_line read = ttm_log_line_read(line);
  ttm_log_rank *r;
  if (rank_of(log, read.rank, &r)) return TTM_ENOMEM;
  ttm_open_dump *dump = &r->dump;
  ttm_str text = read.message;
  if (!dump->open || read.runtime || ttm_log_line_has_date(text) || ttm_escape_length(text)) return TTM_OK;
  if (dump->text.n + text.n > LONGEST_DUMP) return dump->overflow = true, TTM_OK;
  if (text.n && text.p[0] == '}') dump->closed = true;
  ttm_buf_put(&dump->text, text);
  ttm_buf_char(&dump->text, '\n');
  dump->row.line_count++;
  return dump->text.failed ? TTM_ENOMEM : TTM_OK;
}

/* Lines of the chunk between two events, while a dump is open: its body, and whatever other writers put between. */
static int dump_lines(ttm_log *log, const char *at, const char *end) {
  while (at < end && log->open_dumps) {
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    const char *stop = line_end ? line_end : end;
    if (take_dump_line(log, (ttm_str){at, (size_t)(stop - at)})) return TTM_ENOMEM;
    at = stop + 1;
  }
  return TTM_OK;
}

/* ---- Events ---------------------------------------------------------------------------------------------------------- */

/* `known`: the scanner compared the text with that of an earlier event, so its hash alone stands for it. */
static int on_operation(ttm_log *log, ttm_log_rank *r, uint64_t hash, bool known, ttm_str text, uint32_t line) {
  ttm_builder *b = log->builder;
  uint32_t id = known && !b->texts_collide ? ttm_find_text(b, hash) : TTM_NONE;
  if (id == TTM_NONE && ttm_build_line_text(b, text, hash, &log->parsed, &log->location, &id)) return TTM_ENOMEM;
  log->last_line_bad = id == TTM_NONE;
  if (log->last_line_bad) {
    b->profile->seen.bad_op_lines++;
    return ttm_op_complete(b, r->stream) ? TTM_ENOMEM : ttm_build_note(b, line, text);
  }
  b->profile->seen.op_lines++;
  return ttm_op_begin(b, r->stream, id, line);
}

/* Does a block with this header belong to the operation that waits for one? Only the kinds that never share a type can be told. */
static bool block_fits(const ttm_profile *p, const ttm_log_rank *r, uint8_t op_kind) {
  uint32_t pending = r->stream->pending;
  if (pending == TTM_NONE || p->ops.at[pending].state != TTM_NONE) return false;
  if (r->block_open && r->block.op == pending) return false;
  return ttm_op_text_of(p, pending)->kind == op_kind;
}

/* Makes the operation that a block with this header belongs to the pending one. */
static int find_block_op(ttm_log *log, ttm_log_rank *r, uint8_t op_kind, ttm_str op_type, uint32_t line) {
  ttm_builder *b = log->builder;
  ttm_profile *p = b->profile;
  ttm_stream *s = r->stream;
  bool fits = block_fits(p, r, op_kind);
  if (block_commit(log, r)) return TTM_ENOMEM;
  if (fits) {
    ttm_op_text *text = &p->texts.at[p->ops.at[s->pending].text];
    return text->op_type ? TTM_OK : ttm_build_string(b, op_type, &text->op_type);
  }
  uint32_t text;
  p->seen.unpaired++;
  return ttm_build_type_text(b, op_type, &text) ? TTM_ENOMEM : ttm_op_begin(b, s, text, line);
}

static int on_block(ttm_log *log, ttm_log_rank *r, uint8_t op_kind, ttm_str op_type, uint32_t line) {
  int rc = find_block_op(log, r, op_kind, op_type, line);
  return rc ? rc : block_begin(log, r, r->stream->pending, line);
}

/* An operation line, the header of its block, DRAM's line and the three others. */
static int on_whole_block(ttm_log *log, ttm_log_rank *r, const ttm_event *e, const char *chunk, const ttm_rest *rest,
                          uint32_t line) {
  const ttm_block_event *block = &e->block;
  ttm_str op_type = {chunk + block->type_at, block->type_n};
  int rc = on_operation(log, r, block->hash, true, (ttm_str){chunk + e->text_at, e->text_n}, line);
  if (!rc) rc = find_block_op(log, r, e->op_kind, op_type, line + 1);
  return rc ? rc : block_add_whole(log, r, block, rest, line + 1);
}

static int on_submit(ttm_log *log, ttm_log_rank *r, bool before, uint32_t line) {
  int rc = before ? ttm_program_end_all(log->builder, r->stream) : ttm_program_submitted(log->builder, r->stream, line);
  return rc ? rc : block_begin(log, r, before ? TTM_STATE_BEFORE_SUBMIT : TTM_STATE_AFTER_SUBMIT, line);
}

/* A line that says more of the pending operation, if that is of this kind. */
static bool flag_pending(ttm_profile *p, const ttm_stream *s, ttm_op_kind kind, uint32_t flag) {
  if (s->pending == TTM_NONE || ttm_op_text_of(p, s->pending)->kind != kind) return false;
  p->ops.at[s->pending].flags |= flag;
  return true;
}

/* A line of this kind cannot stand between those of a block. (The header of the next block sees to it itself.) */
static bool ends_block(uint8_t kind) {
  return kind == TTM_EV_OPERATION || kind == TTM_EV_BLOCK || kind == TTM_EV_BEFORE_SUBMIT ||
         kind == TTM_EV_AFTER_SUBMIT || kind == TTM_EV_PROGRAM_START || kind == TTM_EV_PROGRAM_FINISH ||
         kind == TTM_EV_INCIDENT;
}

/* A frame of the user's own program, with the call that stands in the line behind it. */
static int on_frame(ttm_log *log, const ttm_event *e, ttm_str text, uint32_t line) {
  ttm_str file;
  uint64_t number;
  log->location.n = 0;
  if (e->kind == TTM_EV_FRAME) {
    if (!ttm_frame_read(text, &file, &number)) return TTM_OK;
    while (ttm_str_contains(file, TTM_LIT("/"))) ttm_str_take_to(&file, '/');
    ttm_buf_printf(&log->location, "%.*s:%llu", TTM_ARGS(ttm_str_first(file, 200)), (unsigned long long)number);
  } else {
    size_t n = 0;
    if (log->place_line + 1 != line) return TTM_OK; /* behind a frame of a library */
    while (n < text.n && n < 100 && (ttm_is_digit(text.p[n]) || strchr("._", text.p[n]) || (text.p[n] | 32) >= 'a'))
      n++;
    ttm_buf_printf(&log->location, "%.*s at ", (int)n, text.p);
    ttm_buf_put(&log->location, ttm_profile_string(log->builder->profile, log->place));
  }
  log->place_line = line;
  return log->location.failed ? TTM_ENOMEM : ttm_build_string(log->builder, ttm_buf_str(&log->location), &log->place);
}

/* The place that a failure in this line comes from: the exception stands right behind its traceback, a logger's line before it. */
static uint32_t place_of(const ttm_log *log, uint32_t line) {
  enum { FRAMES = 64 }; /* lines of libraries between */
  return line - log->place_line <= FRAMES ? log->place : 0;
}

/* `rest`: the chunk behind its line. */
static int on_incident(ttm_log *log, ttm_stream *s, ttm_str text, ttm_str rest, uint32_t line) {
  log->info_wait = 0;
  s->place = place_of(log, line);
  log->place = 0;
  if (!ttm_incident_has_list(text)) return ttm_build_incident_line(log->builder, s, text, s->pending, line);
  ttm_buf whole = {0};
  ttm_str_take_to(&rest, '\n');
  ttm_incident_join(&whole, text, &rest);
  int rc = whole.failed ? TTM_ENOMEM : ttm_build_incident_line(log->builder, s, ttm_buf_str(&whole), s->pending, line);
  ttm_buf_free(&whole);
  return rc;
}

static int take_event(ttm_log *log, const ttm_event *e, ttm_str chunk, const ttm_rest *rests) {
  ttm_builder *b = log->builder;
  ttm_profile *p = b->profile;
  ttm_str text = {chunk.p + e->text_at, e->text_n};
  uint32_t line = line_of(log, e->line);
  if (e->kind >= TTM_EV_FRAME) return on_frame(log, e, text, line);
  ttm_log_rank *r = log->last_rank;
  int rc = r && r->tag == e->rank ? TTM_OK : rank_of(log, e->rank, &r);
  /* Old logs have no END line: the first sign of running ends a dump whose module is closed. */
  if (!rc && log->open_dumps && e->kind < TTM_EV_INCIDENT && r->dump.closed) rc = dump_end(log, r);
  if (!rc && r->block_open && ends_block(e->kind)) rc = block_commit(log, r);
  if (rc) return rc;
  ttm_stream *s = r->stream;
  switch ((ttm_event_kind)e->kind) {
    case TTM_EV_OPERATION:
      return on_operation(log, r, e->hash, false, text, line);
    case TTM_EV_BEFORE_OP:
      return on_block(log, r, e->op_kind, text, line);
    case TTM_EV_BEFORE_SUBMIT:
    case TTM_EV_AFTER_SUBMIT:
      return on_submit(log, r, e->kind == TTM_EV_BEFORE_SUBMIT, line);
    case TTM_EV_LEVEL:
      return block_add(log, r, (ttm_memory)e->memory, &e->level, line);
    case TTM_EV_REST:
      return block_add_rest(log, r, &rests[e->rest], line);
    case TTM_EV_BLOCK:
      return on_whole_block(log, r, e, chunk.p, &rests[e->block.rest], line);
    case TTM_EV_BAD_LEVEL:
      p->seen.bad_blocks++;
      r->block_told = true;
      return ttm_build_note(b, line, text);
    case TTM_EV_PROGRAM_START:
      return ttm_program_start(b, s, text, line);
    case TTM_EV_PROGRAM_FINISH:
      return ttm_program_finish(b, s, text, line);
    case TTM_EV_CACHE_KEY:
      if (ttm_build_string(b, text, &s->cache_key)) return TTM_ENOMEM;
      ttm_program_sign(b, s, s->cache_key);
      return TTM_OK;
    case TTM_EV_CACHE_MISS:
      return ttm_build_string(b, text, &s->missed);
    case TTM_EV_CACHE_HIT:
      flag_pending(p, s, TTM_OP_LOAD_CACHED, TTM_OP_CACHE_HIT);
      return TTM_OK;
    case TTM_EV_RETAINED:
      p->seen.retained += flag_pending(p, s, TTM_OP_DEALLOCATE, TTM_OP_RETAINED);
      return TTM_OK;
    case TTM_EV_TRACE:
      p->seen.trace_cache = true;
      return TTM_OK;
    case TTM_EV_INCIDENT:
      return on_incident(log, s, text, ttm_str_from(chunk, e->line_end), line);
    case TTM_EV_INCIDENT_HEADER:
      log->info_wait = 16;
      log->info_next = false;
      log->info_tag = e->rank;
      return TTM_OK;
    case TTM_EV_DUMP_BEGIN:
      return dump_begin(log, r, text, line);
    case TTM_EV_DUMP_END:
      return dump_end(log, r);
    case TTM_EV_FRAME:
    case TTM_EV_FRAME_CALL:
      break;
  }
  return TTM_OK;
}

/* Notes what a logger put before "info:". */
static bool is_info(ttm_log *log, ttm_str text) {
  if (!ttm_str_ends(text, TTM_LIT("info:")) || text.n - 5 > sizeof log->info_prefix) return false;
  log->info_before = (uint8_t)(text.n - 5);
  memcpy(log->info_prefix, text.p, log->info_before);
  return true;
}

/* The line without what stood before "info:", but for the time; false for a line of another writer. */
static bool take_info_prefix(const ttm_log *log, ttm_str *text) {
  if (!log->info_before) return !ttm_log_line_has_date(*text);
  if (text->n < log->info_before) return false;
  for (size_t i = 0; i < log->info_before; i++) {
    char a = text->p[i], b = log->info_prefix[i];
    if (a != b && !(ttm_is_digit(a) && ttm_is_digit(b))) return false;
  }
  *text = ttm_str_trim(ttm_str_from(*text, log->info_before));
  return true;
}

/* Behind `TT_FATAL @ file:line: condition` stand "info:" and, on the next line, the sentence. They carry no mark of their own,
 * so the lines after the header are looked at one by one; other threads and ranks may write between. */
static int look_for_info(ttm_log *log, const char *at, const char *end, uint32_t line) {
  for (; at < end && log->info_wait; log->info_wait--, line++) {
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    const char *stop = line_end ? line_end : end;
    ttm_log_line read = ttm_log_line_read((ttm_str){at, (size_t)(stop - at)});
    ttm_str text = ttm_str_trim(read.message);
    at = stop + 1;
    if (read.runtime || read.rank != log->info_tag) continue;            /* another writer's */
    if (ttm_str_take(&text, TTM_LIT("E   "))) text = ttm_str_trim(text); /* pytest */
    if (log->info_next && !take_info_prefix(log, &text)) continue;
    if (log->info_next) {
      ttm_log_rank *r;
      log->info_wait = 0;
      if (rank_of(log, log->info_tag, &r)) return TTM_ENOMEM;
      if (!text.n) return TTM_OK;
      if (block_commit(log, r)) return TTM_ENOMEM;
      r->stream->place = place_of(log, line_of(log, line));
      return ttm_build_incident_info(log->builder, r->stream, text, r->stream->pending, line_of(log, line));
    }
    log->info_next = is_info(log, text);
  }
  return TTM_OK;
}

/* ---- Chunks ---------------------------------------------------------------------------------------------------------- */

/* The first bytes tell what a file is that turns out to hold no log. */
static void look_at_start(ttm_seen *seen, const ttm_chunk *chunk) {
  ttm_str start = ttm_str_first((ttm_str){chunk->data, chunk->n}, 4096);
  size_t zeros = 0;
  for (size_t i = 0; i < start.n; i++) zeros += start.p[i] == 0;
  seen->looks_like_binary = zeros * 8 > start.n;
}

/* What tt-xla's logger puts before a message, without the bar behind it. */
static bool is_loguru_head(ttm_str line) {
  ttm_str text = ttm_log_line_read(line).message;
  return ttm_log_line_is_loguru(text) && !ttm_str_contains(text, TTM_LIT("| "));
}

/* The input's last line has no line end. Is it torn, or whole all the same? A runtime line that gave no event, or one that did
 * not parse, is torn; of another writer's message nobody can tell. */
static bool ends_inside_line(const ttm_log *log, const ttm_chunk *chunk, const ttm_scanned *scanned) {
  size_t start = chunk->n;
  while (start > 0 && chunk->data[start - 1] != '\n') start--;
  ttm_str line = {chunk->data + start, chunk->n - start};
  const ttm_event *last = scanned->events.n ? &scanned->events.at[scanned->events.n - 1] : NULL;
  if (!last || last->line_at < start) return ttm_log_line_read(line).runtime || is_loguru_head(line);
  return last->kind == TTM_EV_BAD_LEVEL || (last->kind == TTM_EV_OPERATION && log->last_line_bad);
}

int ttm_log_take(ttm_log *log, const ttm_chunk *chunk, const ttm_scanned *scanned) {
  ttm_seen *seen = &log->builder->profile->seen;
  if (log->base_line == 0 && seen->bytes == 0) look_at_start(seen, chunk);
  seen->bytes += chunk->n;
  seen->lines += scanned->counts.lines;
  seen->runtime_lines += scanned->counts.runtime_lines;
  seen->debug_lines += scanned->counts.debug_lines;
  seen->loguru = seen->loguru || scanned->counts.loguru;
  const char *end = chunk->data + chunk->n;
  const char *taken = chunk->data; /* dump lines up to here are collected */
  log->last_whole.rest = NULL;
  int rc = log->info_wait ? look_for_info(log, taken, end, 0) : TTM_OK;
  for (size_t i = 0; i < scanned->events.n && !rc; i++) {
    const ttm_event *e = &scanned->events.at[i];
    if (log->open_dumps && (rc = dump_lines(log, taken, chunk->data + e->line_at))) break;
    rc = take_event(log, e, (ttm_str){chunk->data, chunk->n}, scanned->rests.at);
    taken = chunk->data + e->line_end + 1;
    if (!rc && e->kind == TTM_EV_INCIDENT_HEADER) rc = look_for_info(log, taken, end, e->line + 1);
  }
  if (!rc && log->open_dumps && taken < end) rc = dump_lines(log, taken, end);
  log->base_line += scanned->counts.lines;
  if (chunk->last && chunk->cut_line) {
    seen->lines++; /* the last line counts although its end is missing */
    seen->cut = seen->cut || ends_inside_line(log, chunk, scanned);
  }
  return rc;
}

/* Where an operation of a program run has its state, all others have theirs: what has none lost its lines. The last one of a run that died may
 * have died before. */
static int count_lost_blocks(ttm_log *log) {
  ttm_profile *p = log->builder->profile;
  uint64_t lost = 0;
  bool *has_states = ttm_alloc_array(p->calls.n, sizeof *has_states);
  if (!has_states) return TTM_ENOMEM;
  for (size_t i = 0; i < p->ops.n; i++)
    if (p->ops.at[i].state != TTM_NONE) has_states[p->ops.at[i].call] = true;
  for (uint32_t i = 0; i < p->ops.n; i++) {
    const ttm_op *op = &p->ops.at[i];
    const ttm_call *call = &p->calls.at[op->call];
    lost += op->state == TTM_NONE && has_states[op->call] && (call->finished || i != call->last_op);
  }
  ttm_free(has_states);
  if (lost > log->empty_blocks) p->seen.bad_blocks += lost - log->empty_blocks; /* those are counted */
  return TTM_OK;
}

/* Lines that are lost whole are known by what is left: their results are used, or a program runs that never started. */
static void count_holes(ttm_log *log) {
  ttm_profile *p = log->builder->profile;
  uint64_t named = 0, nameless = 0;
  for (size_t i = 0; i < log->ranks.n; i++) p->seen.holes += log->ranks.at[i]->stream->unmade;
  for (size_t c = 0; c < p->calls.n; c++) {
    const ttm_call *call = &p->calls.at[c];
    named += call->name != 0;
    nameless += !call->name && call->first_op != TTM_NONE && !ttm_op_text_of(p, call->first_op)->synthetic;
  }
  if (named) p->seen.holes += nameless;
}

static int finish(ttm_log *log) {
  ttm_profile *p = log->builder->profile;
  for (size_t i = 0; i < log->ranks.n; i++) {
    ttm_log_rank *r = log->ranks.at[i];
    if (r->block_open && r->block.present != TTM_ALL_MEMORIES) p->seen.cut = true;
    r->block_told |= r->block.present != 0; /* that the input is cut says it */
    p->seen.cut |= r->dump.open;            /* where dumps have no END line, what runs next ends them */
    if (block_commit(log, r) || dump_end(log, r)) return TTM_ENOMEM;
  }
  if (!p->seen.op_lines && !p->seen.blocks && ttm_build_predicted(log->builder)) return TTM_ENOMEM;
  if (!p->predicted) count_holes(log);
  if (!p->predicted && count_lost_blocks(log)) return TTM_ENOMEM;
  if (ttm_builder_end(log->builder) || ttm_build_filled(log->builder)) return TTM_ENOMEM;
  if (p->kind != TTM_LOG_FULL) p->seen.unpaired = 0;
  for (size_t c = 0; c < p->calls.n; c++) p->seen.unfinished += ttm_call_is_cut(&p->calls.at[c]);
  return TTM_OK;
}

int ttm_log_end(ttm_log *log, ttm_error *err) {
  const ttm_profile *p = log->builder->profile;
  if (finish(log)) return ttm_error_nomem(err);
  return p->kind == TTM_LOG_NONE ? ttm_profile_diagnose(p, err) : TTM_OK;
}

void ttm_log_free(ttm_log *log) {
  for (size_t i = 0; i < log->ranks.n; i++) {
    ttm_buf_free(&log->ranks.at[i]->dump.text);
    ttm_free(log->ranks.at[i]);
  }
  ttm_vec_free(&log->ranks);
  ttm_map_free(&log->rank_ids);
  ttm_op_line_free(&log->parsed);
  ttm_buf_free(&log->location);
}
