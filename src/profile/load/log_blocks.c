/* SPDX-License-Identifier: Apache-2.0 */
/* Memory blocks: five lines of the log become one state. */
#include "profile/load/log.h"

int ttm_block_begin(ttm_log *log, ttm_log_rank *r, uint32_t op, uint32_t line) {
  int rc = ttm_block_commit(log, r);
  r->block_open = true;
  r->block = (ttm_block){.op = op, .line = line};
  return rc;
}

int ttm_block_add(ttm_log *log, ttm_log_rank *r, ttm_memory memory, const ttm_level *level, uint32_t line) {
  if (!r->block_open || r->block.present >> memory & 1) {
    /* No header: it was lost between an operation and its block, or the caller printed none. */
    uint32_t op = r->stream->pending;
    bool lost = op != TTM_NONE && log->builder->profile->ops.at[op].state == TTM_NONE && !r->block_open;
    if (ttm_block_begin(log, r, lost ? op : TTM_STATE_BARE, line)) return TTM_ENOMEM;
  }
  r->block.present |= UINT32_C(1) << memory;
  r->block.levels[memory] = *level;
  return r->block.present == TTM_ALL_MEMORIES ? ttm_block_commit(log, r) : TTM_OK;
}

int ttm_block_add_rest(ttm_log *log, ttm_log_rank *r, const ttm_rest *rest, uint32_t line) {
  if (r->block_open && r->block.present == 1 << TTM_DRAM) {
    memcpy(&r->block.levels[TTM_L1], &rest->levels[TTM_L1], sizeof rest->levels - sizeof rest->levels[0]);
    r->block.present = TTM_ALL_MEMORIES;
    return ttm_block_commit(log, r);
  }
  int rc = TTM_OK;
  for (int m = TTM_L1; m < TTM_MEMORIES && !rc; m++)
    rc = ttm_block_add(log, r, (ttm_memory)m, &rest->levels[m], line + (uint32_t)(m - TTM_L1));
  return rc;
}

int ttm_block_commit(ttm_log *log, ttm_log_rank *r) {
  if (!r->block_open) return TTM_OK;
  r->block_open = false;
  if (r->block.present) return ttm_build_block(log->builder, r->stream, &r->block);
  log->builder->profile->seen.bad_blocks++;
  return TTM_OK;
}

int ttm_block_add_whole(ttm_log *log, ttm_log_rank *r, const ttm_block_event *block, const ttm_rest *rest,
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
