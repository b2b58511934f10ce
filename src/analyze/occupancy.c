/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/occupancy.h"

#include "analyze/ledger.h"
#include "analyze/parts.h"
#include "base/checked.h"

bool ttm_occupancy_possible(const ttm_profile *p) { return p->states.n && ttm_ledger_possible(p); }

/* ---- Logs ---------------------------------------------------------------------------------------------------------------- */

typedef struct book {
  ttm_occupancy *out;
  const ttm_profile *p;
  ttm_replay replay;
  uint32_t *of_tensor; /* row + 1 */
  ttm_map of_extra;    /* address and memory -> row + 1 */
} book;

/* What happens in an operation shows right before the next one; all else shows in the state that told it. */
static uint32_t moment_of(const book *b, const ttm_replay_event *event) {
  return b->replay.next + (event->op == b->replay.next);
}

static void end_row(const book *b, ttm_occupant *row, const ttm_replay_event *event) {
  row->to = moment_of(b, event);
  row->state_to = b->replay.next_state;
}

static ttm_occupant new_row(const book *b, const ttm_replay_event *event) {
  return (ttm_occupant){.at = event->at,
                        .bytes = event->bytes,
                        .from = moment_of(b, event),
                        .state_from = b->replay.next_state,
                        .to = TTM_NONE,
                        .state_to = TTM_NONE,
                        .kept = TTM_NONE,
                        .state_kept = TTM_NONE,
                        .op = event->op,
                        .tensor = event->tensor,
                        .type = event->type,
                        .memory = (uint8_t)event->memory,
                        .class = event->op == TTM_NONE ? TTM_ALIVE_UNACCOUNTED : TTM_ALIVE_PROGRAM};
}

static int note_tensor(book *b, const ttm_replay_event *event) {
  uint32_t *known = &b->of_tensor[event->tensor];
  if (event->act == TTM_REPLAY_GIVE) {
    if (*known) end_row(b, &b->out->rows.at[*known - 1], event);
    *known = 0;
    return TTM_OK;
  }
  ttm_occupant row = new_row(b, event);
  row.op = b->p->tensors.at[event->tensor].birth;
  ttm_alive_origin origin = ttm_alive_origin_of(b->p, row.op, 0);
  row.class = (uint8_t)origin.class;
  row.name = origin.name;
  row.guess = origin.guess;
  ttm_replay_block(&b->replay, event->tensor, &row.at);
  *known = (uint32_t)b->out->rows.n + 1;
  return ttm_vec_push(&b->out->rows, row);
}

/* The upper part goes first: it becomes a row of its own. */
static int note_extra(book *b, const ttm_replay_event *event) {
  uint64_t key = event->at * TTM_REPLAY_MEMORIES + (uint64_t)event->memory;
  if (event->act == TTM_REPLAY_EXTRA) {
    if (ttm_map_set(&b->of_extra, key, (uint32_t)b->out->rows.n + 1)) return TTM_ENOMEM;
    return ttm_vec_push(&b->out->rows, new_row(b, event));
  }
  uint32_t known = ttm_map_get(&b->of_extra, key, 0);
  if (!known) return TTM_OK;
  ttm_occupant *row = &b->out->rows.at[known - 1], gone = *row;
  if (event->bytes >= row->bytes) return end_row(b, row, event), TTM_OK;
  row->bytes -= event->bytes;
  gone.at += row->bytes;
  gone.bytes = event->bytes;
  end_row(b, &gone, event);
  return ttm_vec_push(&b->out->rows, gone);
}

static int on_event(void *context, const ttm_replay_event *event) {
  book *b = context;
  return event->tensor != TTM_NONE ? note_tensor(b, event) : note_extra(b, event);
}

/* ---- Results of earlier runs ------------------------------------------------------------------------------------------------ */

typedef struct run_start {
  uint32_t op, state;
} run_start;

/* Where each run of the rank begins; the next one that does anything stands in for one that did nothing. */
static run_start *find_run_starts(const ttm_profile *p, uint32_t rank, uint32_t *n) {
  *n = 0;
  for (size_t i = 0; i < p->runs.n; i++) {
    const ttm_call *call = &p->calls.at[p->runs.at[i]];
    if (call->rank == rank && call->run >= *n) *n = call->run + 1;
  }
  run_start *starts = ttm_alloc_array(*n + 1, sizeof *starts), next = {TTM_NONE, TTM_NONE};
  if (!starts) return NULL;
  for (uint32_t i = 0; i <= *n; i++) starts[i] = next;
  for (size_t i = 0; i < p->runs.n; i++) {
    const ttm_call *call = &p->calls.at[p->runs.at[i]];
    if (call->rank == rank && call->first_op < p->ops.n)
      starts[call->run] = (run_start){call->first_op, p->ops.at[call->first_op].state};
  }
  for (uint32_t i = *n; i-- > 0;) {
    if (starts[i].op == TTM_NONE) starts[i] = next;
    next = starts[i];
  }
  return starts;
}

static int find_kept(ttm_occupancy *o) {
  const ttm_profile *p = o->findings->profile;
  uint32_t runs;
  run_start *starts = find_run_starts(p, o->rank, &runs);
  if (!starts) return TTM_ENOMEM;
  for (size_t i = 0; i < o->rows.n; i++) {
    ttm_occupant *row = &o->rows.at[i];
    uint32_t call = row->tensor != TTM_NONE ? p->ops.at[row->op].call : TTM_NONE;
    if (call >= p->calls.n || p->calls.at[call].run >= runs) continue;
    if (p->ops.at[row->op].flags & TTM_OP_CONST_EVAL || row->class == TTM_ALIVE_PROGRAM) continue;
    run_start next = starts[p->calls.at[call].run + 1];
    if (next.op >= row->to) continue;
    row->kept = next.op;
    row->state_kept = next.state;
  }
  ttm_free(starts);
  return TTM_OK;
}

/* ---- Arguments ---------------------------------------------------------------------------------------------------------------- */

typedef struct placing {
  ttm_occupancy *o;
  const ttm_alive_set *set;
  size_t next;   /* argument */
  uint64_t left; /* of it */
} placing;

/* Cuts a row up into the arguments that lie in it. */
static int cut_row(placing *p, size_t i) {
  ttm_occupancy *o = p->o;
  while (p->next < p->set->arguments.n && o->rows.at[i].bytes) {
    const ttm_alive_row *argument = &p->set->arguments.at[p->next];
    ttm_occupant part = o->rows.at[i];
    part.bytes = p->left < part.bytes ? p->left : part.bytes;
    part.part = p->left < argument->bank_bytes;
    part.op = TTM_NONE;
    part.type = argument->type;
    part.name = argument->name;
    part.class = (uint8_t)argument->class;
    part.guess = argument->guess;
    if (part.bytes && ttm_vec_push(&o->rows, part)) return TTM_ENOMEM;
    o->rows.at[i].at += part.bytes;
    o->rows.at[i].bytes -= part.bytes;
    p->left -= part.bytes;
    if (!p->left && ++p->next < p->set->arguments.n) p->left = p->set->arguments.at[p->next].bank_bytes;
  }
  return TTM_OK;
}

/* Memory that was there before is told apart by the arguments that lie in it at the peak: which of them lies where is not known, so they are laid
 * side by side, and the last one of a block may go on in the next. What rounding took from them was put down to operations. */
static int place_arguments(ttm_occupancy *o, const ttm_alive_set *set, int memory) {
  static const ttm_alive_class classes[] = {TTM_ALIVE_UNACCOUNTED, TTM_ALIVE_PROGRAM};
  placing p = {.o = o, .set = set, .left = set->arguments.n ? set->arguments.at[0].bank_bytes : 0};
  size_t rows = o->rows.n;
  int status = TTM_OK;
  for (size_t c = 0; c < sizeof classes / sizeof *classes; c++) {
    for (size_t i = 0; i < rows && p.next < set->arguments.n && !status; i++) {
      const ttm_occupant *row = &o->rows.at[i];
      if (row->class != classes[c] || row->memory != memory || row->tensor != TTM_NONE) continue;
      if (row->state_from <= set->state && set->state < row->state_to) status = cut_row(&p, i);
    }
  }
  return status;
}

/* The rank's highest state; of the peak's own rank that is the peak. */
static uint32_t highest_state(const ttm_occupancy *o, ttm_memory memory) {
  const ttm_profile *p = o->findings->profile;
  uint32_t highest = TTM_NONE, most = 0, allocated;
  for (uint32_t s = 0; s < p->states.n; s++) {
    if (ttm_state_rank(p, s) != o->rank || !ttm_state_allocated(p, s, memory, &allocated)) continue;
    if (highest == TTM_NONE || allocated > most) highest = s, most = allocated;
  }
  return highest;
}

static int name_arguments(ttm_occupancy *o, int memory) {
  const ttm_profile *p = o->findings->profile;
  ttm_memory of = memory == TTM_REPLAY_L1 ? TTM_L1 : TTM_DRAM;
  const ttm_alive_set *peak = &o->findings->alive_set[of];
  if (peak->known && ttm_state_rank(p, peak->state) == o->rank) return place_arguments(o, peak, memory);
  uint32_t state = highest_state(o, of);
  if (state == TTM_NONE) return TTM_OK;
  ttm_alive_set own;
  int status = ttm_alive_set_make(&own, p, of, state, TTM_NONE);
  if (!status) status = place_arguments(o, &own, memory);
  ttm_alive_set_free(&own);
  return status;
}

/* ---- Captures ------------------------------------------------------------------------------------------------------------------ */

/* The first state right before an operation or after it. */
static uint32_t *find_states(const ttm_profile *p) {
  uint32_t *states = ttm_alloc_array(p->ops.n + 1, sizeof *states), next = (uint32_t)p->states.n, from = 0;
  if (!states) return NULL;
  for (size_t i = 0; i <= p->ops.n; i++) states[i] = TTM_NONE;
  for (uint32_t s = 0; s < p->states.n; s++) {
    from = ttm_op_after_state(p, s, from);
    if (states[from] == TTM_NONE) states[from] = s;
  }
  for (size_t i = p->ops.n + 1; i-- > 0;) {
    if (states[i] == TTM_NONE) states[i] = next;
    next = states[i];
  }
  return states;
}

static int note_buffer(ttm_occupancy *o, const ttm_buffer *buffer, const uint32_t *states) {
  const ttm_profile *p = o->findings->profile;
  ttm_alive_origin origin = ttm_alive_origin_of_buffer(p, buffer);
  const ttm_alive_set *set = &o->findings->alive_set[TTM_L1];
  uint64_t at = ttm_buffer_address_on(&p->capture, buffer, set->x, set->y);
  if (buffer->place_n && at == TTM_UNKNOWN) return TTM_OK; /* on other cores than the fullest */
  ttm_occupant row = {.at = at,
                      .bytes = buffer->bank_bytes,
                      .from = buffer->op < p->ops.n ? buffer->op + 1 : 0,
                      .to = buffer->freed_by < p->ops.n ? buffer->freed_by + 1 : TTM_NONE,
                      .kept = TTM_NONE,
                      .state_to = TTM_NONE,
                      .state_kept = TTM_NONE,
                      .op = buffer->op,
                      .tensor = buffer->tensor,
                      .type = buffer->tensor == TTM_NONE ? TTM_NONE : ttm_tensor_type_id(p, buffer->tensor),
                      .memory = buffer->memory == TTM_L1 ? TTM_REPLAY_L1 : TTM_REPLAY_DRAM,
                      .name = origin.name,
                      .guess = origin.guess,
                      .class = (uint8_t)origin.class};
  row.state_from = states[row.from];
  if (row.to != TTM_NONE) row.state_to = states[row.to];
  return ttm_vec_push(&o->rows, row);
}

/* The devices of a recording are its ranks; of a capture the one that its states tell of. */
static int read_capture(ttm_occupancy *o) {
  const ttm_profile *p = o->findings->profile;
  const ttm_capture *c = &p->capture;
  const ttm_alive_set *sets = o->findings->alive_set;
  uint32_t device = c->recording.is                     ? o->rank
                    : sets[TTM_DRAM].device != TTM_NONE ? sets[TTM_DRAM].device
                                                        : sets[TTM_L1].device;
  uint32_t *states = find_states(p);
  int status = states ? TTM_OK : TTM_ENOMEM;
  o->placed = true;
  for (size_t i = 0; i < c->buffers.n && !status; i++) {
    const ttm_buffer *buffer = &c->buffers.at[i];
    if (buffer->device == device && buffer->memory <= TTM_L1) status = note_buffer(o, buffer, states);
  }
  for (size_t i = 0; i < c->events.n; i++) {
    const ttm_buffer_event *e = &c->events.at[i];
    bool told = e->kind == TTM_EVENT_MEASURED && e->device == device && e->address != TTM_UNKNOWN && e->row <= TTM_L1;
    if (told) o->memories[e->row == TTM_L1 ? TTM_REPLAY_L1 : TTM_REPLAY_DRAM].base = e->address;
  }
  ttm_free(states);
  return status;
}

/* ---- Both ---------------------------------------------------------------------------------------------------------------------- */

static int read_log(ttm_occupancy *o) {
  book b = {.out = o, .p = o->findings->profile};
  int status = ttm_replay_init(&b.replay, b.p, o->rank);
  b.of_tensor = ttm_alloc_array(b.p->tensors.n, sizeof *b.of_tensor);
  if (!b.of_tensor) status = TTM_ENOMEM;
  b.replay.watch = on_event;
  b.replay.context = &b;
  if (!status) status = ttm_replay_to_op(&b.replay, (uint32_t)b.p->ops.n);
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) {
    o->memories[m].states = b.replay.memories[m].states;
    o->memories[m].agree = b.replay.memories[m].agree;
  }
  if (!status) status = find_kept(o);
  for (int m = 0; m < TTM_REPLAY_MEMORIES && !status; m++) status = name_arguments(o, m);
  ttm_replay_free(&b.replay);
  ttm_map_free(&b.of_extra);
  ttm_free(b.of_tensor);
  return status;
}

/* By `from`; rows that were cut into parts stand behind the others until then. A row without bytes was cut up whole. */
static int sort_rows(ttm_occupancy *o) {
  size_t moments = o->findings->profile->ops.n + 2, n = 0;
  uint32_t *starts = ttm_alloc_array(moments + 1, sizeof *starts);
  ttm_occupant *sorted = ttm_alloc_array(o->rows.n + 1, sizeof *sorted);
  for (size_t i = 0; i < o->rows.n && starts && sorted; i++)
    if (o->rows.at[i].bytes) starts[o->rows.at[i].from + 1]++;
  for (size_t i = 1; i <= moments && starts && sorted; i++) starts[i] += starts[i - 1];
  for (size_t i = 0; i < o->rows.n && starts && sorted; i++) {
    if (!o->rows.at[i].bytes) continue;
    sorted[starts[o->rows.at[i].from]++] = o->rows.at[i];
    n++;
  }
  ttm_free(starts);
  if (!starts || !sorted) return ttm_free(sorted), TTM_ENOMEM;
  ttm_free(o->rows.at);
  o->rows.at = sorted;
  o->rows.cap = o->rows.n + 1;
  o->rows.n = n;
  return TTM_OK;
}

int ttm_occupancy_make(ttm_occupancy *out, const ttm_findings *f, uint32_t rank) {
  *out = (ttm_occupancy){.findings = f, .rank = rank};
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) {
    ttm_level level;
    if (!ttm_profile_config(f->profile, m == TTM_REPLAY_L1 ? TTM_L1 : TTM_DRAM, &level)) continue;
    out->memories[m].banks = level.banks;
    out->memories[m].size = ttm_level_bytes(level.total);
  }
  int status = f->profile->kind == TTM_LOG_CAPTURE ? read_capture(out) : read_log(out);
  if (!status && out->rows.n) status = sort_rows(out);
  return status;
}

void ttm_occupancy_free(ttm_occupancy *o) { ttm_vec_free(&o->rows); }
