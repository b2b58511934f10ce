/* SPDX-License-Identifier: Apache-2.0 */
/* The live set is never walked: each birth adds to a sum, each free subtracts from it. Two sums per rank and memory,
 * because what a run returned leaves with the next run while the const-eval cache stays. */
#include "analyze/parts.h"
#include "base/checked.h"

enum { LIVE_DRAM, LIVE_L1, LIVE_MEMORIES };

struct ttm_alive_cost {
  uint64_t logical, stored;
  uint8_t memory; /* LIVE_MEMORIES: not on the device, or in no memory that is summed */
};

struct ttm_alive_rank {
  uint32_t run;
  uint32_t since; /* first operation of the current run: what was counted before it has left `passing` */
  bool started;
  ttm_alive_sum passing[LIVE_MEMORIES]; /* born in the current run */
  ttm_alive_sum cached[LIVE_MEMORIES];  /* born in const-eval programs, ever */
};

static void add(ttm_alive_sum *sum, const struct ttm_alive_cost *cost) {
  sum->logical_bytes = ttm_add_sat(sum->logical_bytes, cost->logical);
  sum->stored_bytes = ttm_add_sat(sum->stored_bytes, cost->stored);
  sum->tensors++;
}

static void subtract(ttm_alive_sum *sum, const struct ttm_alive_cost *cost) {
  sum->logical_bytes = ttm_sub_sat(sum->logical_bytes, cost->logical);
  sum->stored_bytes = ttm_sub_sat(sum->stored_bytes, cost->stored);
  sum->tensors = ttm_sub_sat(sum->tensors, 1);
}

static ttm_alive_sum both(ttm_alive_sum a, ttm_alive_sum b) {
  return (ttm_alive_sum){ttm_add_sat(a.logical_bytes, b.logical_bytes), ttm_add_sat(a.stored_bytes, b.stored_bytes),
                         a.tensors + b.tensors};
}

static struct ttm_alive_cost cost_of_type(const ttm_type *type, ttm_alignment align) {
  struct ttm_alive_cost cost = {0, 0, LIVE_MEMORIES};
  if (!type->is_tensor || !type->tensor.has_layout) return cost;
  if (type->tensor.buffer == TTM_BUFFER_DRAM) cost.memory = LIVE_DRAM;
  if (type->tensor.buffer == TTM_BUFFER_L1) cost.memory = LIVE_L1;
  if (cost.memory == LIVE_MEMORIES) return cost;
  cost.logical = ttm_tensor_logical_bytes(&type->tensor);
  cost.stored = ttm_tensor_stored_bytes(&type->tensor, align);
  return cost;
}

int ttm_alive_init(ttm_alive *live, const ttm_profile *p) {
  *live = (ttm_alive){.profile = p, .align = ttm_profile_alignment(p)};
  live->ranks = ttm_alloc_array(ttm_rank_rows(p), sizeof *live->ranks);
  live->costs = ttm_alloc_array(p->types.n, sizeof *live->costs);
  live->counted = ttm_alloc_array(p->tensors.n, sizeof *live->counted);
  if (!live->ranks || !live->costs || !live->counted) return ttm_alive_free(live), TTM_ENOMEM;
  for (size_t t = 0; t < p->types.n; t++) live->costs[t] = cost_of_type(&p->types.at[t], live->align);
  return TTM_OK;
}

void ttm_alive_free(ttm_alive *live) {
  ttm_free(live->ranks);
  ttm_free(live->costs);
  ttm_free(live->counted);
  *live = (ttm_alive){0};
}

/* NULL when the tensor takes no summed memory. */
static const struct ttm_alive_cost *cost_of(const ttm_alive *live, uint32_t tensor) {
  const ttm_profile *p = live->profile;
  uint32_t birth = p->tensors.at[tensor].birth;
  if (birth >= p->ops.n) return NULL;
  ttm_list outputs = ttm_op_text_of(p, birth)->outputs;
  uint32_t k = tensor - p->ops.at[birth].tensor;
  if (tensor < p->ops.at[birth].tensor || k >= outputs.n) return NULL;
  uint32_t type = p->lists.at[outputs.first + k];
  if (type >= p->types.n || live->costs[type].memory == LIVE_MEMORIES) return NULL;
  return &live->costs[type];
}

static bool is_cached(const ttm_profile *p, uint32_t tensor) {
  return p->ops.at[p->tensors.at[tensor].birth].flags & TTM_OP_CONST_EVAL;
}

/* In the sums now: what an earlier run returned is not, though nobody freed it. */
static bool is_counted(const ttm_alive *live, const struct ttm_alive_rank *rank, uint32_t tensor) {
  return live->counted[tensor] && (is_cached(live->profile, tensor) || live->counted[tensor] > rank->since);
}

static void bear(ttm_alive *live, struct ttm_alive_rank *rank, uint32_t tensor, uint32_t op) {
  const struct ttm_alive_cost *cost = cost_of(live, tensor);
  if (!cost || is_counted(live, rank, tensor)) return;
  live->counted[tensor] = op + 1;
  add(is_cached(live->profile, tensor) ? &rank->cached[cost->memory] : &rank->passing[cost->memory], cost);
}

static void release(ttm_alive *live, struct ttm_alive_rank *rank, uint32_t tensor) {
  if (tensor >= live->profile->tensors.n) return;
  tensor = live->profile->tensors.at[tensor].self;
  if (tensor >= live->profile->tensors.n || !is_counted(live, rank, tensor)) return;
  const struct ttm_alive_cost *cost = cost_of(live, tensor);
  if (!cost) return;
  live->counted[tensor] = 0;
  subtract(is_cached(live->profile, tensor) ? &rank->cached[cost->memory] : &rank->passing[cost->memory], cost);
}

static const ttm_call *call_of(const ttm_profile *p, uint32_t op) {
  static const ttm_call outside = {0};
  uint32_t call = p->ops.at[op].call;
  return call < p->calls.n ? &p->calls.at[call] : &outside;
}

static struct ttm_alive_rank *rank_of(const ttm_alive *live, uint32_t op) {
  return &live->ranks[ttm_rank_clip(live->profile, call_of(live->profile, op)->rank)];
}

void ttm_alive_enter(ttm_alive *live, uint32_t op) {
  struct ttm_alive_rank *rank = rank_of(live, op);
  uint32_t run = call_of(live->profile, op)->run;
  /* Runs only count up: an operation outside every program does not bring an earlier run back. */
  if (rank->started && run <= rank->run) return;
  rank->started = true;
  rank->run = run;
  rank->since = op;
  memset(rank->passing, 0, sizeof rank->passing);
}

/* Adds the results of an operation. Those of a load_cached that its own nested program makes are not born yet:
 * `foreseen` gets them, as they are there once the load_cached is done. */
static void bear_results(ttm_alive *live, struct ttm_alive_rank *rank, uint32_t op,
                         ttm_alive_sum foreseen[LIVE_MEMORIES]) {
  const ttm_profile *p = live->profile;
  uint32_t first = p->ops.at[op].tensor, n = ttm_op_text_of(p, op)->outputs.n;
  for (uint32_t t = first; t - first < n && t < p->tensors.n && p->tensors.at[t].birth == op; t++) {
    uint32_t self = p->tensors.at[t].self;
    if (self >= p->tensors.n) continue;
    bool later = self != t && p->tensors.at[self].birth != TTM_NONE && p->tensors.at[self].birth > op;
    if (!later) {
      /* A tensor may come back: out of the cache, though thought freed, or first seen as the result of a hit. */
      bear(live, rank, self, op);
      continue;
    }
    const struct ttm_alive_cost *cost = cost_of(live, self);
    if (cost) add(&foreseen[cost->memory], cost);
  }
}

void ttm_alive_step(ttm_alive *live) {
  const ttm_profile *p = live->profile;
  if (live->next >= p->ops.n) return;
  uint32_t op = live->next++;
  const ttm_op *row = &p->ops.at[op];
  struct ttm_alive_rank *rank = rank_of(live, op);
  ttm_alive_sum foreseen[LIVE_MEMORIES] = {{0}};
  ttm_alive_enter(live, op);
  if (!(row->flags & TTM_OP_FAILED) && row->tensor != TTM_NONE) {
    if (ttm_op_text_of(p, op)->kind != TTM_OP_DEALLOCATE) {
      bear_results(live, rank, op, foreseen);
    } else if (!(row->flags & TTM_OP_RETAINED)) {
      release(live, rank, row->tensor);
    }
  }
  live->dram = both(both(rank->passing[LIVE_DRAM], rank->cached[LIVE_DRAM]), foreseen[LIVE_DRAM]);
  live->l1 = both(both(rank->passing[LIVE_L1], rank->cached[LIVE_L1]), foreseen[LIVE_L1]);
}

ttm_alive_sum ttm_alive_running(const ttm_alive *live, uint32_t rank) {
  const struct ttm_alive_rank *row = &live->ranks[ttm_rank_clip(live->profile, rank)];
  return both(row->passing[LIVE_DRAM], row->cached[LIVE_DRAM]);
}
