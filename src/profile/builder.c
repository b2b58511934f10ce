/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/builder.h"

#include "base/error.h"
#include "parse/log_line.h"
#include "profile/diagnose.h"

/* ---- Streams --------------------------------------------------------------------------------------------------------- */

static int new_stream(ttm_builder *b, uint16_t tag, ttm_stream **out) {
  ttm_profile *p = b->profile;
  ttm_stream *s = ttm_alloc(sizeof *s);
  if (!s) return TTM_ENOMEM;
  s->tag = tag;
  s->rank = (uint32_t)p->ranks.n;
  s->pending = s->last_top = s->last_op = s->last_state = s->state_base = s->submit = TTM_NONE;
  s->graph = s->survivors_of = TTM_NONE;
  if (ttm_vec_push(&b->streams, s)) {
    ttm_free(s);
    return TTM_ENOMEM;
  }
  *out = s;
  if (ttm_map_set(&b->stream_ids, tag, (uint32_t)(b->streams.n - 1))) return TTM_ENOMEM;
  return ttm_vec_push(&p->ranks, tag == TTM_NO_RANK ? 0 : tag);
}

/* In a tagged log a line without a tag (from the launcher, or torn) belongs to whoever wrote last. */
int ttm_builder_stream(ttm_builder *b, uint16_t tag, ttm_stream **out) {
  if (b->last_stream && (b->last_stream->tag == tag || tag == TTM_NO_RANK)) return *out = b->last_stream, TTM_OK;
  uint32_t known = ttm_map_get(&b->stream_ids, tag, TTM_NONE);
  if (known != TTM_NONE) return *out = b->last_stream = b->streams.at[known], TTM_OK;
  /* What came before the first tag was the same first rank. */
  if (b->streams.n == 1 && b->streams.at[0]->tag == TTM_NO_RANK && b->profile->ops.n == 0 &&
      b->profile->states.n == 0) {
    b->streams.at[0]->tag = tag;
    b->profile->ranks.at[0] = tag;
    *out = b->last_stream = b->streams.at[0];
    return ttm_map_set(&b->stream_ids, tag, 0);
  }
  int rc = new_stream(b, tag, out);
  if (!rc) b->last_stream = *out;
  return rc;
}

uint32_t ttm_builder_line(const ttm_builder *b, uint32_t line_in_chunk) {
  uint64_t line = b->base_line + line_in_chunk + 1;
  return line < TTM_NONE ? (uint32_t)line : TTM_NONE - 1;
}

int ttm_builder_note(ttm_builder *b, uint32_t line, ttm_str text) {
  enum { LONGEST_NOTE = 120 };
  ttm_seen *seen = &b->profile->seen;
  if (seen->note_count == TTM_KEPT_NOTES) return TTM_OK;
  uint32_t id;
  if (ttm_intern_add(&b->profile->strings, ttm_str_first(text, LONGEST_NOTE), &id)) return TTM_ENOMEM;
  seen->notes[seen->note_count].line = line;
  seen->notes[seen->note_count++].text = id;
  return TTM_OK;
}

/* ---- Events ---------------------------------------------------------------------------------------------------------- */

static int on_operation(ttm_builder *b, ttm_stream *s, uint64_t hash, ttm_str text, uint32_t line) {
  uint32_t id;
  if (ttm_texts_add(&b->texts, b->profile, text, hash, &id)) return TTM_ENOMEM;
  b->last_line_bad = id == TTM_BAD_TEXT;
  if (id == TTM_BAD_TEXT) {
    b->profile->seen.bad_op_lines++;
    int rc = ttm_state_commit(b, s);
    if (!rc) rc = ttm_op_complete(b, s);
    return rc ? rc : ttm_builder_note(b, line, text);
  }
  b->profile->seen.op_lines++;
  return ttm_op_begin(b, s, id, line);
}

/* Does a block with this header belong to the operation that waits for one? Only the kinds that never share a type can be told. */
static bool block_fits(const ttm_profile *p, const ttm_stream *s, uint8_t op_kind) {
  if (s->pending == TTM_NONE || p->ops.at[s->pending].state != TTM_NONE) return false;
  if (s->state.open && s->state.op == s->pending) return false;
  return ttm_op_text_of(p, s->pending)->kind == op_kind;
}

/* Makes the operation that a block with this header belongs to the pending one. */
static int find_block_op(ttm_builder *b, ttm_stream *s, uint8_t op_kind, ttm_str op_type, uint32_t line) {
  ttm_profile *p = b->profile;
  if (!block_fits(p, s, op_kind)) {
    uint32_t text;
    if (ttm_texts_add_type(&b->texts, p, op_type, &text)) return TTM_ENOMEM;
    int rc = ttm_op_begin(b, s, text, line);
    if (rc) return rc;
    p->seen.unpaired++;
    return TTM_OK;
  }
  ttm_op_text *text = &p->texts.at[p->ops.at[s->pending].text];
  return text->op_type ? TTM_OK : ttm_intern_add(&p->strings, op_type, &text->op_type);
}

static int on_block(ttm_builder *b, ttm_stream *s, uint8_t op_kind, ttm_str op_type, uint32_t line) {
  int rc = find_block_op(b, s, op_kind, op_type, line);
  return rc ? rc : ttm_state_begin(b, s, s->pending, line);
}

/* An operation line, the header of its block, DRAM's line and the three others. */
static int on_whole_block(ttm_builder *b, ttm_stream *s, const ttm_event *e, const char *chunk, const ttm_rest *rest,
                          uint32_t line) {
  const ttm_block_event *block = &e->block;
  int rc = on_operation(b, s, block->hash, (ttm_str){chunk + e->text_at, e->text_n}, line);
  if (!rc) rc = find_block_op(b, s, e->op_kind, (ttm_str){chunk + block->type_at, block->type_n}, line + 1);
  return rc ? rc : ttm_state_add_whole(b, s, block, rest, line + 1);
}

static void on_retained(ttm_builder *b, ttm_stream *s) {
  ttm_profile *p = b->profile;
  if (s->pending == TTM_NONE || ttm_op_text_of(p, s->pending)->kind != TTM_OP_DEALLOCATE) return;
  p->ops.at[s->pending].flags |= TTM_OP_RETAINED;
  p->seen.retained++;
}

static void on_cache_hit(ttm_builder *b, ttm_stream *s) {
  ttm_profile *p = b->profile;
  if (s->pending != TTM_NONE && ttm_op_text_of(p, s->pending)->kind == TTM_OP_LOAD_CACHED)
    p->ops.at[s->pending].flags |= TTM_OP_CACHE_HIT;
}

/* Old logs have no END line: the first sign of running ends a dump whose module is closed. */
static int end_closed_dump(ttm_builder *b, ttm_stream *s) {
  return s->dump.open && s->dump.closed ? ttm_dump_end(b, s) : TTM_OK;
}

static int take_event(ttm_builder *b, const ttm_event *e, const char *chunk, const ttm_rest *rests) {
  ttm_str text = {chunk + e->text_at, e->text_n};
  uint32_t line = ttm_builder_line(b, e->line);
  ttm_stream *s = b->last_stream;
  int rc = s && s->tag == e->rank ? TTM_OK : ttm_builder_stream(b, e->rank, &s);
  if (!rc && b->open_dumps && e->kind < TTM_EV_INCIDENT) rc = end_closed_dump(b, s);
  if (rc) return rc;
  switch ((ttm_event_kind)e->kind) {
    case TTM_EV_OPERATION:
      return on_operation(b, s, e->hash, text, line);
    case TTM_EV_BEFORE_OP:
      return on_block(b, s, e->op_kind, text, line);
    case TTM_EV_BEFORE_SUBMIT:
      return ttm_program_submit(b, s, true, line);
    case TTM_EV_AFTER_SUBMIT:
      return ttm_program_submit(b, s, false, line);
    case TTM_EV_LEVEL:
      return ttm_state_add(b, s, (ttm_memory)e->memory, &e->level, line);
    case TTM_EV_REST:
      return ttm_state_add_rest(b, s, &rests[e->rest], line);
    case TTM_EV_BLOCK:
      return on_whole_block(b, s, e, chunk, &rests[e->block.rest], line);
    case TTM_EV_BAD_LEVEL:
      b->profile->seen.bad_blocks++;
      return ttm_builder_note(b, line, text);
    case TTM_EV_PROGRAM_START:
      return ttm_program_start(b, s, text, line);
    case TTM_EV_PROGRAM_FINISH:
      return ttm_program_finish(b, s, text, line);
    case TTM_EV_CACHE_KEY:
      rc = ttm_intern_add(&b->profile->strings, text, &s->cache_key);
      if (!rc) ttm_program_sign(b, s, s->cache_key);
      return rc;
    case TTM_EV_CACHE_MISS:
      return ttm_intern_add(&b->profile->strings, text, &s->missed);
    case TTM_EV_CACHE_HIT:
      on_cache_hit(b, s);
      return TTM_OK;
    case TTM_EV_RETAINED:
      on_retained(b, s);
      return TTM_OK;
    case TTM_EV_TRACE:
      b->profile->seen.trace_cache = true;
      return TTM_OK;
    case TTM_EV_INCIDENT:
      b->info_wait = 0;
      return ttm_incident_add(b, s, text, line);
    case TTM_EV_INCIDENT_HEADER:
      b->info_wait = 16;
      b->info_next = false;
      b->info_tag = e->rank;
      return TTM_OK;
    case TTM_EV_DUMP_BEGIN:
      return ttm_dump_begin(b, s, text, line);
    case TTM_EV_DUMP_END:
      return ttm_dump_end(b, s);
  }
  return TTM_OK;
}

/* Behind `TT_FATAL @ file:line: condition` stand "info:" and, on the next line, the sentence. They carry no mark of their own,
 * so the lines after the header are looked at one by one; other threads and ranks may write between. */
static int look_for_info(ttm_builder *b, const char *at, const char *end, uint32_t line) {
  for (; at < end && b->info_wait; b->info_wait--, line++) {
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    const char *stop = line_end ? line_end : end;
    ttm_log_line read = ttm_log_line_read((ttm_str){at, (size_t)(stop - at)});
    ttm_str text = ttm_str_trim(read.message);
    at = stop + 1;
    if (read.runtime || read.rank != b->info_tag || ttm_log_line_has_date(text)) continue; /* another writer's */
    if (ttm_str_take(&text, TTM_LIT("E   "))) text = ttm_str_trim(text);                   /* pytest */
    if (b->info_next) {
      ttm_stream *s;
      int rc = ttm_builder_stream(b, b->info_tag, &s);
      b->info_wait = 0;
      return rc || text.n == 0 ? rc : ttm_incident_add_sentence(b, s, text, ttm_builder_line(b, line));
    }
    b->info_next = ttm_str_ends(text, TTM_LIT("info:"));
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
  while (start.n && (start.p[0] == ' ' || start.p[0] == '\n' || start.p[0] == '\r' || start.p[0] == '\t'))
    start = ttm_str_from(start, 1);
  seen->looks_like_mlir = ttm_str_starts(start, TTM_LIT("// RUN:")) || ttm_str_starts(start, TTM_LIT("module ")) ||
                          ttm_str_starts(start, TTM_LIT("#loc")) || ttm_str_starts(start, TTM_LIT("func.func")) ||
                          (ttm_str_starts(start, TTM_LIT("//")) && ttm_str_contains(start, TTM_LIT("func.func")));
  seen->looks_like_mlir =
      seen->looks_like_mlir || (ttm_str_starts(start, TTM_LIT("#")) && ttm_str_contains(start, TTM_LIT(" = #ttnn.")));
}

/* The input's last line has no line end. Is it torn, or whole all the same? A runtime line that gave no event, or one that did
 * not parse, is torn; of another writer's line nobody can tell. */
static bool ends_inside_line(const ttm_builder *b, const ttm_chunk *chunk, const ttm_scanned *scanned) {
  size_t start = chunk->n;
  while (start > 0 && chunk->data[start - 1] != '\n') start--;
  ttm_str line = {chunk->data + start, chunk->n - start};
  const ttm_event *last = scanned->events.n ? &scanned->events.at[scanned->events.n - 1] : NULL;
  if (!last || last->line_at < start) return ttm_log_line_read(line).runtime;
  return last->kind == TTM_EV_BAD_LEVEL || (last->kind == TTM_EV_OPERATION && b->last_line_bad);
}

int ttm_builder_begin(ttm_profile **out, ttm_builder *b, const char *path, bool keep_ir) {
  ttm_profile *p = *out = ttm_alloc(sizeof *p);
  *b = (ttm_builder){.profile = p, .keep_ir = keep_ir};
  if (!p || ttm_vec_push(&p->weight_lists, (ttm_list){0, 0})) return TTM_ENOMEM; /* id 0: none */
  return ttm_intern_add(&p->strings, ttm_str_of(path), &p->path);
}

int ttm_builder_take(ttm_builder *b, const ttm_chunk *chunk, const ttm_scanned *scanned) {
  ttm_seen *seen = &b->profile->seen;
  if (b->base_line == 0 && seen->bytes == 0) look_at_start(seen, chunk);
  seen->bytes += chunk->n;
  seen->lines += scanned->counts.lines;
  seen->runtime_lines += scanned->counts.runtime_lines;
  seen->debug_lines += scanned->counts.debug_lines;
  seen->loguru_lines += scanned->counts.loguru_lines;
  const char *end = chunk->data + chunk->n;
  const char *taken = chunk->data; /* dump lines up to here are collected */
  b->last_whole.rest = NULL;
  int rc = b->info_wait ? look_for_info(b, taken, end, 0) : TTM_OK;
  for (size_t i = 0; i < scanned->events.n && !rc; i++) {
    const ttm_event *e = &scanned->events.at[i];
    if (b->open_dumps && (rc = ttm_dump_lines(b, taken, chunk->data + e->line_at))) break;
    rc = take_event(b, e, chunk->data, scanned->rests.at);
    taken = chunk->data + e->line_end + 1;
    if (!rc && e->kind == TTM_EV_INCIDENT_HEADER) rc = look_for_info(b, taken, end, e->line + 1);
  }
  if (!rc && b->open_dumps && taken < end) rc = ttm_dump_lines(b, taken, end);
  b->base_line += scanned->counts.lines;
  if (chunk->last && chunk->cut_line) {
    seen->lines++; /* the last line counts although its end is missing */
    seen->cut = seen->cut || ends_inside_line(b, chunk, scanned);
  }
  return rc;
}

static ttm_log_kind kind_of(const ttm_profile *p) {
  bool op_blocks = p->seen.blocks > p->seen.submit_blocks + p->seen.bare_blocks;
  if (p->seen.op_lines) return op_blocks ? TTM_LOG_FULL : TTM_LOG_OPS;
  if (op_blocks) return TTM_LOG_BLOCKS;
  if (p->seen.blocks) return TTM_LOG_SUBMIT;
  return p->incidents.n ? TTM_LOG_INCIDENTS : TTM_LOG_NONE;
}

static int finish(ttm_builder *b) {
  ttm_profile *p = b->profile;
  int rc = TTM_OK;
  for (size_t i = 0; i < b->streams.n && !rc; i++) {
    ttm_stream *s = b->streams.at[i];
    if (s->state.open && s->state.present != (1 << TTM_MEMORIES) - 1) p->seen.cut = true;
    if ((rc = ttm_state_commit(b, s)) || (rc = ttm_program_end_all(b, s)) || (rc = ttm_dump_end(b, s))) return rc;
  }
  p->kind = kind_of(p);
  if (p->kind != TTM_LOG_FULL) p->seen.unpaired = 0;
  for (size_t r = 0; r < p->calls.n; r++) p->seen.unfinished += !p->calls.at[r].finished && p->calls.at[r].name;
  return ttm_program_link_graphs(b);
}

int ttm_builder_end(ttm_builder *b, ttm_error *err) {
  if (finish(b)) return ttm_error_nomem(err);
  return b->profile->kind == TTM_LOG_NONE ? ttm_profile_diagnose(b->profile, err) : TTM_OK;
}

void ttm_builder_free(ttm_builder *b) {
  for (size_t i = 0; i < b->streams.n; i++) {
    ttm_stream *s = b->streams.at[i];
    for (size_t d = 0; d < TTM_MAX_DEPTH; d++) ttm_map_free(&s->scopes[d].values);
    ttm_buf_free(&s->dump.text);
    ttm_map_free(&s->cached);
    ttm_vec_free(&s->cached_tensors);
    ttm_vec_free(&s->survivors);
    ttm_free(s);
  }
  ttm_vec_free(&b->streams);
  ttm_map_free(&b->stream_ids);
  ttm_texts_free(&b->texts);
  ttm_map_free(&b->weight_ids);
  ttm_map_free(&b->state_base_ids);
  ttm_map_free(&b->incident_ids);
  ttm_map_free(&b->arguments_taken);
  ttm_vec_free(&b->scratch);
  ttm_vec_free(&b->weights_of_text);
}
