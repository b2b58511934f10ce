/* SPDX-License-Identifier: Apache-2.0 */
/* Memory blocks: five lines of the log become one state. */
#include "base/checked.h"
#include "profile/builder.h"

uint32_t ttm_milli_of_bytes(uint64_t bytes) {
  uint64_t value = ttm_add_sat(ttm_mul_sat(bytes, 1000), 1 << 19) >> 20;
  return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

int ttm_state_begin(ttm_builder *b, ttm_stream *s, uint32_t op, uint32_t line) {
  int rc = ttm_state_commit(b, s);
  s->state = (ttm_open_state){.open = true, .op = op, .line = line};
  return rc;
}

int ttm_state_add(ttm_builder *b, ttm_stream *s, ttm_memory memory, const ttm_level *level, uint32_t line) {
  if (!s->state.open || s->state.present >> memory & 1) {
    /* No header: it was lost between an operation and its block, or the caller printed none. */
    bool lost = s->pending != TTM_NONE && b->profile->ops.at[s->pending].state == TTM_NONE && !s->state.open;
    int rc = ttm_state_begin(b, s, lost ? s->pending : TTM_STATE_BARE, line);
    if (rc) return rc;
  }
  s->state.present |= UINT32_C(1) << memory;
  s->state.levels[memory] = *level;
  return s->state.present == (1 << TTM_MEMORIES) - 1 ? ttm_state_commit(b, s) : TTM_OK;
}

int ttm_state_add_rest(ttm_builder *b, ttm_stream *s, const ttm_rest *rest, uint32_t line) {
  if (s->state.open && s->state.present == 1 << TTM_DRAM) {
    memcpy(&s->state.levels[TTM_L1], &rest->levels[TTM_L1], sizeof rest->levels - sizeof rest->levels[0]);
    s->state.present = (1 << TTM_MEMORIES) - 1;
    return ttm_state_commit(b, s);
  }
  int rc = TTM_OK;
  for (int m = TTM_L1; m < TTM_MEMORIES && !rc; m++)
    rc = ttm_state_add(b, s, (ttm_memory)m, &rest->levels[m], line + (uint32_t)(m - TTM_L1));
  return rc;
}

/* The row that holds what seldom changes, shared by all states that have it: DRAM's figures are not in it. */
static int find_state_base(ttm_builder *b, ttm_stream *s, uint32_t present, const ttm_level *levels, uint32_t *out) {
  ttm_profile *p = b->profile;
  ttm_state_base base;
  memset(&base, 0, sizeof base);
  base.rank = s->rank;
  base.present = present;
  memcpy(base.levels, levels, sizeof base.levels);
  base.levels[TTM_DRAM].allocated = base.levels[TTM_DRAM].free = base.levels[TTM_DRAM].largest = 0;
  if (s->state_base != TTM_NONE && memcmp(&p->state_bases.at[s->state_base], &base, sizeof base) == 0)
    return *out = s->state_base, TTM_OK;
  uint64_t key = ttm_hash(&base, sizeof base, 0); /* a collision only costs one more row */
  uint32_t known = ttm_map_get(&b->state_base_ids, key, TTM_NONE);
  if (known == TTM_NONE || memcmp(&p->state_bases.at[known], &base, sizeof base) != 0) {
    if (ttm_vec_push(&p->state_bases, base)) return TTM_ENOMEM;
    known = (uint32_t)(p->state_bases.n - 1);
    if (ttm_map_set(&b->state_base_ids, key, known)) return TTM_ENOMEM;
  }
  *out = s->state_base = known;
  return TTM_OK;
}

static void count_block(ttm_seen *seen, uint32_t op) {
  seen->blocks++;
  seen->submit_blocks += op == TTM_STATE_BEFORE_SUBMIT || op == TTM_STATE_AFTER_SUBMIT;
  seen->bare_blocks += op == TTM_STATE_BARE;
}

static int add_state(ttm_builder *b, ttm_stream *s, const ttm_state *state) {
  if (ttm_vec_push(&b->profile->states, *state)) return TTM_ENOMEM;
  s->last_state = (uint32_t)(b->profile->states.n - 1);
  count_block(&b->profile->seen, state->op);
  return TTM_OK;
}

int ttm_state_commit(ttm_builder *b, ttm_stream *s) {
  if (!s->state.open) return TTM_OK;
  s->state.open = false;
  ttm_profile *p = b->profile;
  const ttm_open_state *open = &s->state;
  if (open->present == 0) {
    p->seen.bad_blocks++;
    return TTM_OK;
  }
  const ttm_level *dram = &open->levels[TTM_DRAM];
  ttm_state state = {.op = open->op,
                     .line = open->line,
                     .dram_allocated = dram->allocated,
                     .dram_free = dram->free,
                     .dram_largest = dram->largest};
  if (find_state_base(b, s, open->present, open->levels, &state.base) || add_state(b, s, &state)) return TTM_ENOMEM;
  uint32_t id = s->last_state;
  if (open->op == TTM_STATE_BEFORE_SUBMIT) {
    /* Its program's Starting line comes next, or, without DEBUG lines, already stands open without a name. */
    if (s->depth > 0 && p->calls.at[s->scopes[0].call].before == TTM_NONE)
      p->calls.at[s->scopes[0].call].before = id;
    else
      s->submit = id;
  } else if (open->op == TTM_STATE_AFTER_SUBMIT) {
    if (s->last_top != TTM_NONE) p->calls.at[s->last_top].after = id;
  } else if (open->op < p->ops.n) {
    p->ops.at[open->op].state = id;
  }
  return TTM_OK;
}

int ttm_state_add_whole(ttm_builder *b, ttm_stream *s, const ttm_block_event *block, const ttm_rest *rest,
                        uint32_t line) {
  int rc = ttm_state_commit(b, s);
  if (rc) return rc;
  if (b->last_whole.rest != rest || b->last_whole.stream != s) {
    b->last_whole.rest = NULL;
    if (find_state_base(b, s, (1 << TTM_MEMORIES) - 1, rest->levels, &b->last_whole.call)) return TTM_ENOMEM;
    b->last_whole.rest = rest;
    b->last_whole.stream = s;
  }
  s->state_base = b->last_whole.call;
  ttm_state state = {.op = s->pending,
                     .line = line,
                     .base = s->state_base,
                     .dram_allocated = block->allocated,
                     .dram_free = block->free,
                     .dram_largest = block->largest};
  if (add_state(b, s, &state)) return TTM_ENOMEM;
  b->profile->ops.at[s->pending].state = s->last_state;
  return TTM_OK;
}
