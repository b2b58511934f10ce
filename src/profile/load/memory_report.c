/* SPDX-License-Identifier: Apache-2.0 */
/* The memory report of tt-mlir's builder and of ttrt. Its states stand behind their operations: each is the state before the next one, and the
 * first operation has none. */
#include "parse/memory_report.h"

#include "base/error.h"
#include "profile/load/load.h"

typedef struct report_loader {
  ttm_builder *b;
  ttm_stream *s;
  ttm_op_line parsed;
  ttm_buf location;
  ttm_block block;                        /* of the entry before */
  uint64_t highest[TTM_HELD_MEMORIES];    /* bytes per bank */
  ttm_held_blocks now[TTM_HELD_MEMORIES]; /* with who allocated them */
  ttm_held_blocks spare;
} report_loader;

/* ---- Operations ---------------------------------------------------------------------------------------------------- */

static int begin_op(report_loader *l, const ttm_memory_report_entry *e, uint32_t *op) {
  ttm_seen *seen = &l->b->profile->seen;
  ttm_str line = ttm_buf_str(&e->text);
  uint32_t text;
  *op = TTM_NONE;
  if (ttm_build_line_text(l->b, line, ttm_hash(line.p, line.n, ttm_hash_seed()), &l->parsed, &l->location, &text))
    return TTM_ENOMEM;
  if (text == TTM_NONE) {
    seen->bad_op_lines++;
    return ttm_op_complete(l->b, l->s) ? TTM_ENOMEM : ttm_build_note(l->b, e->line, line);
  }
  seen->op_lines++;
  if (ttm_op_begin(l->b, l->s, text, e->line)) return TTM_ENOMEM;
  *op = l->block.op = l->s->pending;
  return l->block.present ? ttm_build_block(l->b, l->s, &l->block) : TTM_OK;
}

/* ---- States -------------------------------------------------------------------------------------------------------- */

/* An entry has every memory, and the figures of each add up. */
static void keep_levels(report_loader *l, const ttm_memory_report_entry *e) {
  uint64_t *bad = &l->b->profile->seen.bad_blocks;
  l->block = (ttm_block){.line = e->line};
  for (int m = 0; m < TTM_MEMORIES; m++) {
    const ttm_memory_report_view *view = &e->views[m];
    if (!view->told) continue;
    l->block.present |= UINT32_C(1) << m;
    l->block.levels[m] = (ttm_level){.banks = view->banks < UINT32_MAX ? (uint32_t)view->banks : 0,
                                     .total = ttm_milli_of_bytes(view->total),
                                     .allocated = ttm_milli_of_bytes(view->allocated),
                                     .free = ttm_milli_of_bytes(view->free),
                                     .largest = ttm_milli_of_bytes(view->largest)};
    *bad += !ttm_level_adds_up(&l->block.levels[m]);
  }
  *bad += l->block.present && l->block.present != TTM_ALL_MEMORIES;
}

/* What was there before keeps who allocated it, what is new is the operation's. Nobody knows who made what the first table has. */
static int follow_blocks(report_loader *l, int m, const ttm_memory_report_view *view, uint32_t op) {
  ttm_held_blocks *old = &l->now[m], *now = &l->spare;
  size_t at = 0;
  now->n = 0;
  for (size_t i = 0; i < view->blocks.n; i++) {
    ttm_table_block block = view->blocks.at[i];
    while (at < old->n && old->at[at].address < block.address) at++;
    bool same = at < old->n && old->at[at].address == block.address && old->at[at].bytes == block.size;
    ttm_held_block row = {block.address, block.size, same ? old->at[at].op : l->block.present ? op : TTM_NONE};
    if (ttm_vec_push(now, row)) return TTM_ENOMEM;
  }
  ttm_held_blocks swap = *old;
  *old = *now, *now = swap;
  return TTM_OK;
}

static int keep_peak(report_loader *l, int m, const ttm_memory_report_view *view) {
  ttm_profile *p = l->b->profile;
  if (!view->told || view->allocated <= l->highest[m]) return TTM_OK;
  l->highest[m] = view->allocated;
  p->held[m].n = 0;
  if (!view->whole) return TTM_OK; /* a table that does not add up tells nothing */
  for (size_t i = 0; i < l->now[m].n; i++)
    if (ttm_vec_push(&p->held[m], l->now[m].at[i])) return TTM_ENOMEM;
  return TTM_OK;
}

static int take_entry(report_loader *l, const ttm_memory_report_entry *e) {
  uint32_t op;
  int status = begin_op(l, e, &op);
  for (int m = 0; m < TTM_HELD_MEMORIES && !status; m++) {
    status = follow_blocks(l, m, &e->views[m], op);
    if (!status) status = keep_peak(l, m, &e->views[m]);
  }
  keep_levels(l, e);
  return status;
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

static int finish(report_loader *l, const ttm_json_pull *json, ttm_error *err) {
  ttm_profile *p = l->b->profile;
  p->seen.bytes = ttm_json_position(json);
  p->seen.lines = json->line;
  if (json->status == TTM_EIO) {
    if (err) *err = json->io;
    return TTM_EIO;
  }
  if (json->error) p->seen.cut = true;
  if (!l->block.present)
    return ttm_error_set(err, TTM_ENODATA,
                         "this memory report of tt-mlir holds no memory state. ttrt run --memory --save-artifacts and "
                         "the builder's dump_memory=True write one for each operation.");
  l->block.op = TTM_STATE_AFTER_SUBMIT;
  if (p->ops.n) p->kind = TTM_LOG_FULL;
  if (ttm_op_complete(l->b, l->s) || ttm_build_block(l->b, l->s, &l->block) || ttm_builder_end(l->b))
    return ttm_error_nomem(err);
  for (size_t c = 0; c < p->calls.n; c++) p->calls.at[c].finished = true;
  return TTM_OK;
}

int ttm_load_memory_report(ttm_builder *b, ttm_input *in, ttm_error *err) {
  report_loader l = {.b = b};
  ttm_memory_report_reader r = {0};
  ttm_memory_report_entry entry = {0};
  int status = ttm_build_rank(b, 0, &l.s);
  ttm_json_init(&r.json, in->chunker.source, in->first);
  b->profile->after_ops = true;
  while (!status && ttm_memory_report_next(&r, &entry, &status)) {
    status = take_entry(&l, &entry);
    if (!status) status = ttm_input_progress(in, ttm_json_position(&r.json), b->profile->ops.n, err);
  }
  if (status == TTM_ENOMEM || r.json.status == TTM_ENOMEM) status = ttm_error_nomem(err);
  if (!status) status = finish(&l, &r.json, err);
  ttm_json_free(&r.json);
  ttm_memory_report_entry_free(&entry);
  ttm_op_line_free(&l.parsed);
  ttm_buf_free(&l.location);
  for (int m = 0; m < TTM_HELD_MEMORIES; m++) ttm_vec_free(&l.now[m]);
  ttm_vec_free(&l.spare);
  return status;
}
