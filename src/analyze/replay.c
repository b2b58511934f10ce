/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/replay.h"

#include "analyze/parts.h"
#include "base/checked.h"

enum {
  UNIT = 32, /* every block starts on a multiple of it */
  UNPLACED = 0x7FFFFFFF,
  GONE_EARLY = 0x7FFFFFFE, /* in the log it is still there */
  SLACK = TTM_LEVEL_SLACK + 1,
  MOST_LEFTOVERS = 4096, /* looked at when memory goes without a word */
};

struct ttm_replay_cost {
  uint64_t bytes;
  uint32_t device; /* for which it was computed */
  int8_t memory;   /* -1: none that is replayed */
};

static const ttm_memory MEMORY[TTM_REPLAY_MEMORIES] = {TTM_DRAM, TTM_L1};

/* ---- Setting up ---------------------------------------------------------------------------------------------------------- */

/* What a type takes on the device that is open. */
static const struct ttm_replay_cost *cost_of_type(const ttm_replay *r, uint32_t id) {
  struct ttm_replay_cost *cost = &r->costs[id];
  const ttm_type *type = &r->profile->types.at[id];
  if (cost->device == r->device) return cost;
  *cost = (struct ttm_replay_cost){.device = r->device, .memory = -1};
  if (!type->is_tensor || !type->tensor.has_layout) return cost;
  int memory = type->tensor.buffer == TTM_BUFFER_DRAM ? TTM_REPLAY_DRAM
               : type->tensor.buffer == TTM_BUFFER_L1 ? TTM_REPLAY_L1
                                                      : -1;
  if (memory < 0 || !r->memories[memory].banks) return cost;
  cost->memory = (int8_t)memory;
  cost->bytes = ttm_tensor_bank_bytes(&type->tensor, r->memories[memory].banks, r->align);
  return cost;
}

/* Without a single state the sizes are those of a Wormhole chip, and nothing is ever refused. */
static int open_bank(ttm_replay *r, int memory, bool known, const ttm_level *level) {
  ttm_replay_memory *m = &r->memories[memory];
  m->banks = known ? level->banks : memory == TTM_REPLAY_L1 ? 64 : 12;
  m->total = known ? level->total : 0;
  if (memory == TTM_REPLAY_DRAM) r->align = ttm_profile_alignment_of(r->profile, m->banks);
  uint64_t size = known ? ttm_level_bytes(level->total) : UINT64_C(1) << 35;
  ttm_bank_free(&m->bank);
  return ttm_bank_init(&m->bank, size - size % r->align.dram);
}

int ttm_replay_init(ttm_replay *r, const ttm_profile *p, uint32_t rank) {
  *r = (ttm_replay){
      .profile = p, .rank = rank, .device = 1, .last_op = TTM_NONE, .blamed = TTM_NONE, .last_state = TTM_NONE};
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) {
    ttm_level level = {0};
    bool known = ttm_profile_config(p, MEMORY[m], &level);
    if (open_bank(r, m, known, &level)) return TTM_ENOMEM;
  }
  r->blocks = ttm_alloc_array(p->tensors.n, sizeof *r->blocks);
  r->costs = ttm_alloc_array(p->types.n, sizeof *r->costs);
  return r->blocks && r->costs ? TTM_OK : TTM_ENOMEM;
}

void ttm_replay_free(ttm_replay *r) {
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) {
    ttm_bank_free(&r->memories[m].bank);
    ttm_vec_free(&r->memories[m].extras);
    ttm_vec_free(&r->memories[m].leftovers);
  }
  ttm_vec_free(&r->passing);
  ttm_free(r->blocks);
  ttm_free(r->costs);
  r->blocks = NULL;
  r->costs = NULL;
}

uint64_t ttm_replay_cost_of(const ttm_replay *r, uint32_t type, int memory) {
  return type < r->profile->types.n && cost_of_type(r, type)->memory == memory ? cost_of_type(r, type)->bytes : 0;
}

uint32_t ttm_tensor_type_id(const ttm_profile *p, uint32_t tensor) {
  if (tensor >= p->tensors.n || p->tensors.at[tensor].birth >= p->ops.n) return TTM_NONE;
  uint32_t birth = p->tensors.at[tensor].birth, first = p->ops.at[birth].tensor;
  ttm_list outputs = ttm_op_text_of(p, birth)->outputs;
  return tensor >= first && tensor - first < outputs.n ? p->lists.at[outputs.first + tensor - first] : TTM_NONE;
}

bool ttm_replay_block(const ttm_replay *r, uint32_t tensor, uint64_t *at) {
  uint32_t block = tensor < r->profile->tensors.n ? r->blocks[tensor] : 0;
  *at = block == UNPLACED ? TTM_UNKNOWN : (uint64_t)(block - 1) * UNIT;
  return block != 0 && block != GONE_EARLY;
}

/* ---- Taking and giving ---------------------------------------------------------------------------------------------------- */

static const struct ttm_replay_cost *cost_of(const ttm_replay *r, uint32_t tensor, uint32_t *type) {
  *type = ttm_tensor_type_id(r->profile, tensor);
  const struct ttm_replay_cost *cost = *type < r->profile->types.n ? cost_of_type(r, *type) : NULL;
  return cost && cost->memory >= 0 ? cost : NULL;
}

static int tell(const ttm_replay *r, ttm_replay_event event) { return r->watch ? r->watch(r->context, &event) : 0; }

static int hold(ttm_replay *r, uint32_t tensor, uint32_t op) {
  uint32_t type;
  uint64_t at;
  const struct ttm_replay_cost *cost = cost_of(r, tensor, &type);
  if (!cost || !cost->bytes || r->blocks[tensor]) return TTM_OK;
  ttm_replay_memory *m = &r->memories[cost->memory];
  if (tensor >= r->end_tensor) r->end_tensor = tensor + 1;
  if (ttm_bank_take(&m->bank, cost->bytes, cost->memory == TTM_REPLAY_L1, &at)) {
    r->blocks[tensor] = (uint32_t)(at / UNIT) + 1;
  } else {
    r->blocks[tensor] = UNPLACED;
    m->unplaced += cost->bytes;
  }
  return tell(r, (ttm_replay_event){TTM_REPLAY_TAKE, cost->memory, tensor, type, op, 0, cost->bytes});
}

static int let_go(ttm_replay *r, uint32_t tensor, uint32_t op) {
  uint32_t type, block = r->blocks[tensor];
  const struct ttm_replay_cost *cost = cost_of(r, tensor, &type);
  if (!cost || !block) return TTM_OK;
  ttm_replay_memory *m = &r->memories[cost->memory];
  r->blocks[tensor] = 0;
  if (block == GONE_EARLY) return m->shift -= cost->bytes, TTM_OK;
  if (block == UNPLACED)
    m->unplaced -= cost->bytes;
  else if (ttm_bank_give(&m->bank, (uint64_t)(block - 1) * UNIT, cost->bytes))
    return TTM_ENOMEM;
  return tell(r, (ttm_replay_event){TTM_REPLAY_GIVE, cost->memory, tensor, type, op, 0, cost->bytes});
}

/* ---- Keeping to what is measured --------------------------------------------------------------------------------------------- */

static uint64_t size_of(const ttm_replay *r, uint32_t tensor) {
  uint32_t type;
  bool here = r->blocks[tensor] && r->blocks[tensor] != GONE_EARLY;
  const struct ttm_replay_cost *cost = here ? cost_of(r, tensor, &type) : NULL;
  return cost ? cost->bytes : 0;
}

static int drop_leftover(ttm_replay *r, ttm_replay_memory *m, size_t i, uint32_t op) {
  uint32_t tensor = m->leftovers.at[i];
  m->leftovers.at[i] = m->leftovers.at[--m->leftovers.n];
  return let_go(r, tensor, op);
}

/* The log says that `bytes` less are held than the replay thinks. Who went? A leftover of just that size; else leftovers, largest first, as
 * long as they fit; else extras. What cannot be found stays, and shows as held twice. */
static int shed(ttm_replay *r, int memory, uint64_t bytes, uint32_t op) {
  ttm_replay_memory *m = &r->memories[memory];
  while (bytes > SLACK && m->leftovers.n) {
    size_t first = m->leftovers.n > MOST_LEFTOVERS ? m->leftovers.n - MOST_LEFTOVERS : 0, best = SIZE_MAX;
    uint64_t best_size = 0;
    for (size_t i = m->leftovers.n; i-- > first;) {
      uint64_t size = size_of(r, m->leftovers.at[i]);
      if (!size) { /* freed by name meanwhile */
        m->leftovers.at[i] = m->leftovers.at[--m->leftovers.n];
        if (best == m->leftovers.n) best = i;
        continue;
      }
      if (size > bytes + SLACK) continue;
      if (best == SIZE_MAX || ttm_apart(size, bytes) < ttm_apart(best_size, bytes)) best = i, best_size = size;
    }
    if (best == SIZE_MAX || best >= m->leftovers.n) break;
    int status = drop_leftover(r, m, best, op);
    if (status) return status;
    bytes = bytes > best_size ? bytes - best_size : 0;
  }
  while (bytes > SLACK && m->extras.n) {
    ttm_extra *extra = &m->extras.at[m->extras.n - 1];
    uint64_t gone = extra->size <= bytes + SLACK ? extra->size : bytes - bytes % r->align.dram;
    if (!gone) break;
    int status = tell(r, (ttm_replay_event){TTM_REPLAY_EXTRA_GONE, memory, TTM_NONE, TTM_NONE, op, extra->at, gone});
    if (status) return status;
    /* The upper part goes, so that what is left keeps its address. */
    if (ttm_bank_give(&m->bank, extra->at + extra->size - gone, gone)) return TTM_ENOMEM;
    extra->size -= gone;
    if (!extra->size) m->extras.n--;
    bytes = bytes > gone ? bytes - gone : 0;
  }
  return TTM_OK;
}

/* More is held than the operations explain. What was there before the log lies where allocation begins; what an operation leaves beyond its
 * results is mostly its kernels, which the runtime puts at the other end. */
static int add_extra(ttm_replay *r, int memory, uint64_t bytes, bool from_start) {
  ttm_replay_memory *m = &r->memories[memory];
  ttm_extra extra = {.size = bytes + r->align.dram / 2, .op = r->blamed, .from_start = from_start};
  extra.size -= extra.size % r->align.dram;
  bool from_top = (memory == TTM_REPLAY_L1) == from_start;
  if (!extra.size || !ttm_bank_take(&m->bank, extra.size, from_top, &extra.at)) return TTM_OK;
  if (ttm_vec_push(&m->extras, extra)) return TTM_ENOMEM;
  return tell(r, (ttm_replay_event){TTM_REPLAY_EXTRA, memory, TTM_NONE, TTM_NONE, r->blamed, extra.at, extra.size});
}

/* ---- Devices that are opened anew --------------------------------------------------------------------------------------------- */

static int drop_extras(ttm_replay *r, int memory) {
  ttm_replay_memory *m = &r->memories[memory];
  int status = TTM_OK;
  for (; m->extras.n && !status; m->extras.n--) {
    const ttm_extra *extra = &m->extras.at[m->extras.n - 1];
    status = tell(
        r, (ttm_replay_event){TTM_REPLAY_EXTRA_GONE, memory, TTM_NONE, TTM_NONE, r->last_op, extra->at, extra->size});
    if (!status) status = ttm_bank_give(&m->bank, extra->at, extra->size);
  }
  return status;
}

/* Nothing is left of what was there. */
static int drop_all(ttm_replay *r) {
  int status = TTM_OK;
  for (; r->first_tensor < r->end_tensor && !status; r->first_tensor++)
    if (r->blocks[r->first_tensor]) status = let_go(r, r->first_tensor, r->last_op);
  for (int m = 0; m < TTM_REPLAY_MEMORIES && !status; m++) {
    ttm_replay_memory *memory = &r->memories[m];
    while (memory->leftovers.n && !status) status = let_go(r, memory->leftovers.at[--memory->leftovers.n], r->last_op);
    if (!status) status = drop_extras(r, m);
  }
  r->passing.n = 0;
  return status;
}

/* The device behind a state: another one than before begins empty, and so does one that holds nothing when a run begins. */
static int follow_device(ttm_replay *r, uint32_t state) {
  ttm_level levels[TTM_REPLAY_MEMORIES];
  bool other = false, known[TTM_REPLAY_MEMORIES];
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) {
    known[m] = ttm_state_level(r->profile, state, MEMORY[m], &levels[m]);
    other |= known[m] && (levels[m].banks != r->memories[m].banks || levels[m].total != r->memories[m].total);
  }
  bool empty = known[TTM_REPLAY_DRAM] && !levels[TTM_REPLAY_DRAM].allocated && r->blamed == TTM_NONE;
  int status = other || empty ? drop_all(r) : TTM_OK;
  if (!other || status) return status;
  r->device++;
  for (int m = 0; m < TTM_REPLAY_MEMORIES && !status; m++)
    if (known[m]) status = open_bank(r, m, true, &levels[m]);
  r->seen_state = false;
  return status;
}

static int compare(ttm_replay *r, uint32_t state) {
  const ttm_profile *p = r->profile;
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) {
    ttm_replay_memory *memory = &r->memories[m];
    ttm_level level;
    if (!ttm_state_level(p, state, MEMORY[m], &level)) continue;
    uint64_t measured = ttm_level_bytes(level.allocated), held = ttm_replay_held(memory) + memory->shift;
    int status = TTM_OK;
    if (measured > held + SLACK) status = add_extra(r, m, measured - held, !r->seen_state);
    if (held > measured + SLACK) status = shed(r, m, held - measured, r->last_op);
    if (status) return status;
    memory->states++;
    memory->agree += ttm_apart(ttm_bank_largest(&memory->bank), ttm_level_bytes(level.largest)) <= 2 * SLACK;
  }
  r->seen_state = true;
  return TTM_OK;
}

/* ---- Operations ---------------------------------------------------------------------------------------------------------------- */

/* What the log measured of an operation; false when no state of the same run stands right after it: between runs the host is at work. */
static bool effect_of(const ttm_replay *r, uint32_t op, int memory, int64_t *bytes) {
  const ttm_profile *p = r->profile;
  int64_t effect;
  if (!ttm_op_effect(p, op, MEMORY[memory], &effect)) return false;
  uint32_t next = p->states.at[ttm_state_next(p, p->ops.at[op].state)].op;
  if (next >= p->ops.n || p->ops.at[next].call >= p->calls.n || p->ops.at[op].call >= p->calls.n) return false;
  if (p->calls.at[p->ops.at[next].call].run != p->calls.at[p->ops.at[op].call].run) return false;
  *bytes = effect < 0 ? -(int64_t)ttm_level_bytes((uint64_t)-effect) : (int64_t)ttm_level_bytes((uint64_t)effect);
  return true;
}

/* A process that was cut off took all it had with it: what of the level is still there belongs to the next one. */
static int leave_process(ttm_replay *r) {
  int status = TTM_OK;
  for (; r->first_tensor < r->end_tensor && !status; r->first_tensor++) {
    uint32_t type;
    const struct ttm_replay_cost *cost = r->blocks[r->first_tensor] ? cost_of(r, r->first_tensor, &type) : NULL;
    if (cost) status = ttm_vec_push(&r->memories[cost->memory].leftovers, r->first_tensor);
  }
  r->passing.n = 0;
  return status;
}

/* The program is over. What it returned goes when the level falls; a program that died took all with it. */
static int leave_run(ttm_replay *r) {
  const ttm_profile *p = r->profile;
  bool begun = r->last_op < p->ops.n, died = begun && p->ops.at[r->last_op].flags & TTM_OP_FAILED;
  uint32_t call = begun ? p->ops.at[r->last_op].call : TTM_NONE;
  if (!died && call < p->calls.n && !p->calls.at[ttm_call_top(p, call)].finished) return leave_process(r);
  for (size_t i = 0; i < r->passing.n; i++) {
    uint32_t tensor = r->passing.at[i], type;
    const struct ttm_replay_cost *cost = r->blocks[tensor] ? cost_of(r, tensor, &type) : NULL;
    int status = !cost  ? TTM_OK
                 : died ? let_go(r, tensor, r->last_op)
                        : ttm_vec_push(&r->memories[cost->memory].leftovers, tensor);
    if (status) return status;
  }
  r->passing.n = 0;
  return TTM_OK;
}

static int enter_run(ttm_replay *r, uint32_t run) {
  if (r->started && run <= r->run) return TTM_OK;
  r->started = true;
  r->run = run;
  r->blamed = TTM_NONE;
  return leave_run(r);
}

/* Whether the results took memory at all. Small ones cannot be told from rounding, and are believed. */
static bool is_view(const ttm_replay *r, uint32_t op, uint64_t expected, int memory) {
  int64_t effect;
  return expected > 4 * SLACK && effect_of(r, op, memory, &effect) && effect < (int64_t)(expected / 2);
}

static int bear(ttm_replay *r, uint32_t op) {
  const ttm_profile *p = r->profile;
  const ttm_op *row = &p->ops.at[op];
  ttm_list outputs = ttm_op_text_of(p, op)->outputs;
  uint64_t expected[TTM_REPLAY_MEMORIES] = {0};
  for (uint32_t k = 0; k < outputs.n && row->tensor + k < p->tensors.n; k++) {
    uint32_t type = p->lists.at[outputs.first + k];
    if (p->tensors.at[row->tensor + k].self != row->tensor + k || type >= p->types.n) continue;
    const struct ttm_replay_cost *cost = cost_of_type(r, type);
    if (cost->memory >= 0) expected[cost->memory] += cost->bytes;
  }
  for (uint32_t k = 0; k < outputs.n && row->tensor + k < p->tensors.n; k++) {
    uint32_t tensor = row->tensor + k, type;
    if (p->tensors.at[tensor].self != tensor || p->tensors.at[tensor].birth != op) continue;
    const struct ttm_replay_cost *cost = cost_of(r, tensor, &type);
    if (!cost || is_view(r, op, expected[cost->memory], cost->memory)) continue;
    int status = hold(r, tensor, op);
    if (status) return status;
    if (!(row->flags & TTM_OP_CONST_EVAL) && ttm_vec_push(&r->passing, tensor)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int release(ttm_replay *r, uint32_t op) {
  const ttm_profile *p = r->profile;
  uint32_t tensor = p->ops.at[op].tensor, type;
  int64_t effect;
  if (tensor >= p->tensors.n || p->ops.at[op].flags & TTM_OP_RETAINED) return TTM_OK;
  tensor = p->tensors.at[tensor].self;
  if (tensor >= p->tensors.n) return TTM_OK;
  const struct ttm_replay_cost *cost = cost_of(r, tensor, &type);
  if (!cost) return TTM_OK;
  ttm_replay_memory *m = &r->memories[cost->memory];
  if (!r->blocks[tensor] || r->blocks[tensor] == GONE_EARLY) return let_go(r, tensor, op);
  bool kept =
      cost->bytes > 4 * SLACK && effect_of(r, op, cost->memory, &effect) && -effect < (int64_t)(cost->bytes / 2);
  if (kept) return ttm_vec_push(&m->leftovers, tensor) ? TTM_ENOMEM : TTM_OK; /* a view of it lives on */
  return let_go(r, tensor, op);
}

/* Tensors that are to be freed at their last use rather than when the log does. */
static int free_early(ttm_replay *r, uint32_t op) {
  const ttm_profile *p = r->profile;
  for (; r->early_next < r->early_count && p->tensors.at[r->early[r->early_next]].last_use <= op; r->early_next++) {
    uint32_t tensor = r->early[r->early_next], type;
    const struct ttm_replay_cost *cost = cost_of(r, tensor, &type);
    if (!cost || !r->blocks[tensor] || p->tensors.at[tensor].last_use != op) continue;
    r->memories[cost->memory].shift += cost->bytes;
    int status = let_go(r, tensor, op);
    if (status) return status;
    r->blocks[tensor] = GONE_EARLY;
  }
  return TTM_OK;
}

/* The last operation of a program that was cut off: nothing tells whether its results came to be. */
static bool is_cut_off(const ttm_profile *p, uint32_t op) {
  uint32_t call = p->ops.at[op].call;
  if (call >= p->calls.n) return false;
  const ttm_call *top = &p->calls.at[ttm_call_top(p, call)];
  return top->name && !top->finished && top->last_op == op;
}

static int take_op(ttm_replay *r, uint32_t op) {
  const ttm_profile *p = r->profile;
  const ttm_op *row = &p->ops.at[op];
  const ttm_call *call = row->call < p->calls.n ? &p->calls.at[row->call] : NULL;
  if (call && call->rank != r->rank) return TTM_OK;
  int status = enter_run(r, call ? call->run : 0);
  if (status) return status;
  r->last_op = r->blamed = op;
  if (!(row->flags & TTM_OP_FAILED) && row->tensor != TTM_NONE && !is_cut_off(p, op))
    status = ttm_op_text_of(p, op)->kind == TTM_OP_DEALLOCATE ? release(r, op) : bear(r, op);
  if (!status && r->early_count) status = free_early(r, op);
  return status;
}

/* A new run's first state already shows what the host let go between the runs. */
static int take_state(ttm_replay *r, uint32_t state) {
  const ttm_profile *p = r->profile;
  uint32_t op = p->states.at[state].op;
  if (ttm_state_rank(p, state) != r->rank) return TTM_OK;
  int status = TTM_OK;
  r->last_state = state;
  if (op < p->ops.n && p->ops.at[op].call < p->calls.n) status = enter_run(r, p->calls.at[p->ops.at[op].call].run);
  if (op == TTM_STATE_BEFORE_SUBMIT || op == TTM_STATE_AFTER_SUBMIT) status = leave_run(r);
  if (op == TTM_STATE_BEFORE_SUBMIT) r->blamed = TTM_NONE;
  if (!status) status = follow_device(r, state);
  return status ? status : compare(r, state);
}

/* The state printed before an operation; TTM_NONE for other ranks, whose lines may be woven in anywhere. */
static uint32_t own_state(const ttm_replay *r, uint32_t op) {
  const ttm_profile *p = r->profile;
  uint32_t call = p->ops.at[op].call;
  return call < p->calls.n && p->calls.at[call].rank != r->rank ? TTM_NONE : p->ops.at[op].state;
}

static int take_states(ttm_replay *r, uint32_t end) {
  int status = TTM_OK;
  for (; r->next_state < end && r->next_state < r->profile->states.n && !status; r->next_state++)
    status = take_state(r, r->next_state);
  return status;
}

/* The states that stand before an operation takes effect: up to its own, or to those of the lines above it. */
static int take_states_before(ttm_replay *r, uint32_t op) {
  const ttm_profile *p = r->profile;
  uint32_t end = own_state(r, op) + 1;
  if (!end) /* TTM_NONE */
    for (end = r->next_state; end < p->states.n && p->states.at[end].line < p->ops.at[op].line;) end++;
  return take_states(r, end);
}

int ttm_replay_to_op(ttm_replay *r, uint32_t op) {
  const ttm_profile *p = r->profile;
  int status = TTM_OK;
  for (; r->next < op && r->next < p->ops.n && !status; r->next++) {
    status = take_states_before(r, r->next);
    if (!status) status = take_op(r, r->next);
  }
  if (status) return status;
  return op < p->ops.n ? take_states_before(r, op) : take_states(r, (uint32_t)p->states.n);
}

int ttm_replay_to_state(ttm_replay *r, uint32_t state) {
  const ttm_profile *p = r->profile;
  uint32_t op = p->states.at[state].op;
  if (op < p->ops.n) return ttm_replay_to_op(r, op);
  /* A state around a run: everything up to the operation of the rank's next state has happened, but not that state. */
  uint32_t next = ttm_state_next(p, state);
  while (next != TTM_NONE && p->states.at[next].op >= p->ops.n) next = ttm_state_next(p, next);
  uint32_t end = next == TTM_NONE ? (uint32_t)p->ops.n : p->states.at[next].op;
  int status = TTM_OK;
  for (; r->next < end && !status; r->next++) {
    uint32_t own = own_state(r, r->next);
    if (own == TTM_NONE ? p->ops.at[r->next].line > p->states.at[state].line : own > state) break;
    status = take_states_before(r, r->next);
    if (!status) status = take_op(r, r->next);
  }
  return status ? status : take_states(r, state + 1);
}
