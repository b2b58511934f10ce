/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/traces.h"

#include <stdlib.h>

#include "analyze/trace_regions.h"

/* A tensor where a trace writes. */
typedef struct threat {
  uint32_t row, region, hazard;
} threat;

/* A tensor that the trace uses, and that was freed. */
typedef struct lost {
  uint32_t row;
  uint32_t heir;  /* allocated at its very place: the program's way to keep the trace fed; TTM_NONE */
  uint32_t taker; /* has a part of its memory; TTM_NONE */
  bool told;
} lost;

/* What a trace has beside its ttm_device_trace. */
typedef struct memory {
  ttm_regions regions;       /* sorted */
  TTM_VEC(uint32_t) inputs;  /* rows from before the capture that it reads, sorted ... */
  TTM_VEC(uint32_t) outputs; /* ... those that it writes ... */
  TTM_VEC(uint32_t) whole;   /* ... and of these those it writes all of */
  TTM_VEC(uint32_t) empty;   /* allocated in the capture by no program: replays do not know them */
  TTM_VEC(threat) threats;
  TTM_VEC(lost) lost;
} memory;

/* Overwritten, and not written anew since. */
typedef struct spoiled {
  uint32_t row, hazard;
  bool used;
} spoiled;

typedef struct freeing {
  uint32_t op, row;
} freeing;

typedef struct walk {
  ttm_traces *out;
  const ttm_profile *p;
  const ttm_capture *c;
  const uint32_t *buffers;
  TTM_VEC(memory) memories;  /* by trace */
  TTM_VEC(uint32_t) running; /* traces whose capture began and did not end */
  TTM_VEC(spoiled) spoiled;
  TTM_VEC(freeing) frees;
  ttm_region_space space;
} walk;

static bool is_live(const ttm_device_trace *t, uint32_t op) { return t->end < op && t->released > op; }
static bool is_alive(const walk *w, uint32_t row, uint32_t op) { return w->c->buffers.at[row].freed_by > op; }

static int by_number(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static bool holds(const uint32_t *rows, size_t n, uint32_t row) {
  return n && bsearch(&row, rows, n, sizeof row, by_number);
}

static bool is_among(const uint32_t *rows, size_t n, uint32_t row) {
  while (n && rows[n - 1] != row) n--;
  return n > 0;
}

/* ---- Captures ---------------------------------------------------------------------------------------------------------- */

/* Returns how many there are, each once. */
static size_t sort_rows(uint32_t *rows, size_t all) {
  size_t n = 0;
  if (all) qsort(rows, all, sizeof *rows, by_number);
  for (size_t i = 0; i < all; i++)
    if (!n || rows[n - 1] != rows[i]) rows[n++] = rows[i];
  return n;
}

static int begin_trace(walk *w, const ttm_trace_call *call) {
  ttm_device_trace t = {
      .rank = call->rank, .begin = call->op, .end = TTM_NONE, .first_replay = TTM_NONE, .released = TTM_NONE};
  if (ttm_vec_push(&w->out->at, t) || ttm_vec_push(&w->memories, ((memory){0}))) return TTM_ENOMEM;
  return ttm_vec_push(&w->running, (uint32_t)(w->out->at.n - 1));
}

static int lose(memory *m, uint32_t row) { return ttm_vec_push(&m->lost, ((lost){row, TTM_NONE, TTM_NONE, false})); }

/* Replays also write tensors from before the capture. */
static int add_outputs(const walk *w, memory *m) {
  ttm_region r;
  for (size_t i = 0; i < m->outputs.n; i++)
    if (ttm_region_of(w->p, m->outputs.at[i], &r) && ttm_vec_push(&m->regions, r)) return TTM_ENOMEM;
  return TTM_OK;
}

/* The region that a tensor lies in, if any. */
static int find_threat(walk *w, memory *m, const ttm_region *own, uint32_t row) {
  for (uint32_t k = 0; k < m->regions.n; k++) {
    const ttm_region *r = &m->regions.at[k];
    bool both;
    if (r->memory > own->memory || (r->memory == own->memory && r->start >= own->end)) break;
    if (ttm_regions_overlap(&w->space, own, r, &both)) return TTM_ENOMEM;
    if (both) return ttm_vec_push(&m->threats, ((threat){row, k, TTM_NONE}));
  }
  return TTM_OK;
}

/* A tensor was allocated: does it lie where the lost one did? `heir`: at its very place it may stand for it. */
static int settle(walk *w, lost *l, uint32_t row, bool heir) {
  ttm_region old, own;
  bool both = false;
  if (!ttm_region_of(w->p, l->row, &old) || !ttm_region_of(w->p, row, &own)) return TTM_OK;
  if (ttm_regions_overlap(&w->space, &old, &own, &both)) return TTM_ENOMEM;
  heir &= own.start == old.start && own.end == old.end;
  if (both && heir) l->heir = row;
  if (both) l->taker = heir ? TTM_NONE : row;
  return TTM_OK;
}

/* What the capture itself freed and put something else on. */
static int find_lost(walk *w, const ttm_device_trace *t, memory *m) {
  const ttm_capture *c = w->c;
  for (size_t i = 0; i < m->inputs.n; i++) {
    uint32_t input = m->inputs.at[i], freed_by = c->buffers.at[input].freed_by;
    if (freed_by > t->end) continue;
    if (lose(m, input)) return TTM_ENOMEM;
    for (uint32_t row = input + 1; row < c->buffers.n && c->buffers.at[row].op < t->end; row++) {
      bool after = c->buffers.at[row].op > freed_by && c->buffers.at[row].device == t->rank;
      if (after && settle(w, &m->lost.at[m->lost.n - 1], row, is_among(m->empty.at, m->empty.n, row)))
        return TTM_ENOMEM;
    }
  }
  return TTM_OK;
}

static int inherit(walk *w, memory *m, uint32_t row) {
  for (size_t k = 0; k < m->lost.n; k++)
    if (settle(w, &m->lost.at[k], row, true)) return TTM_ENOMEM;
  return TTM_OK;
}

/* What the capture allocated and does not write may lie where it writes. */
static int place_empty(walk *w, memory *m) {
  ttm_region own;
  for (size_t i = 0; i < m->empty.n; i++) {
    uint32_t row = m->empty.at[i];
    bool written = is_among(m->outputs.at, m->outputs.n, row);
    if (!written && ttm_region_of(w->p, row, &own) && find_threat(w, m, &own, row)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int end_trace(walk *w, const ttm_trace_call *call) {
  for (size_t i = w->running.n; i-- > 0;) {
    uint32_t number = w->running.at[i];
    ttm_device_trace *t = &w->out->at.at[number];
    memory *m = &w->memories.at[number];
    if (t->rank != call->rank || t->released != TTM_NONE) continue;
    w->running.at[i] = w->running.at[--w->running.n];
    t->id = call->id;
    t->end = call->op;
    m->inputs.n = sort_rows(m->inputs.at, m->inputs.n);
    m->outputs.n = sort_rows(m->outputs.at, m->outputs.n);
    m->whole.n = sort_rows(m->whole.at, m->whole.n);
    if (find_lost(w, t, m) || add_outputs(w, m) || ttm_regions_of_programs(&w->space, t, &m->regions))
      return TTM_ENOMEM;
    ttm_regions_sort(&m->regions);
    t->regions = m->regions.n;
    return place_empty(w, m);
  }
  return TTM_OK;
}

/* ---- Hazards ----------------------------------------------------------------------------------------------------------- */

/* The largest free block of every state inside the capture holds the tensor. */
static bool has_room(const walk *w, const ttm_device_trace *t, const ttm_buffer *b) {
  ttm_level level;
  for (uint32_t op = t->begin; op <= t->end; op++) {
    uint32_t state = w->p->ops.at[op].state;
    if (state == TTM_NONE || ttm_state_rank(w->p, state) != t->rank) continue;
    if (!ttm_state_level(w->p, state, (ttm_memory)b->memory, &level)) continue;
    if (ttm_level_bytes(level.largest) < b->bank_bytes) return false;
  }
  return true;
}

static uint32_t text_of(const walk *w, uint32_t row) {
  uint32_t op = row == TTM_NONE ? TTM_NONE : w->c->buffers.at[row].op;
  return op < w->p->ops.n ? w->p->ops.at[op].text : TTM_NONE;
}

/* The same lines in the same danger are one hazard. */
static int add_hazard(walk *w, ttm_hazard h, uint32_t *out) {
  ttm_traces *all = w->out;
  for (*out = 0; *out < all->hazards.n; ++*out) {
    ttm_hazard *known = &all->hazards.at[*out];
    if (known->kind == h.kind && known->trace == h.trace && text_of(w, known->row) == text_of(w, h.row) &&
        text_of(w, known->other) == text_of(w, h.other))
      return known->times++, TTM_OK;
  }
  h.room = has_room(w, &all->at.at[h.trace], &w->c->buffers.at[h.row]);
  return ttm_vec_push(&all->hazards, h);
}

static void note_use(walk *w, spoiled *s, uint32_t op) {
  ttm_hazard *h = &w->out->hazards.at[s->hazard];
  if (s->used) return;
  s->used = true;
  h->used_times++;
  if (h->used == TTM_NONE) h->used = op;
}

/* ---- Replays ----------------------------------------------------------------------------------------------------------- */

/* What the trace reads is what other replays, or its last one, left there. What it wrote in its capture it writes again. */
static void refresh(walk *w, const memory *m, const ttm_device_trace *t, uint32_t op) {
  size_t n = 0;
  for (size_t i = 0; i < w->spoiled.n; i++) {
    spoiled *s = &w->spoiled.at[i];
    if (!is_alive(w, s->row, op)) continue;
    const ttm_buffer *b = &w->c->buffers.at[s->row];
    bool own = b->device == t->rank && b->op > t->begin && b->op < t->end && !holds(m->empty.at, m->empty.n, s->row);
    own |= holds(m->whole.at, m->whole.n, s->row);
    if (holds(m->inputs.at, m->inputs.n, s->row)) note_use(w, s, op);
    for (size_t k = 0; k < m->lost.n; k++)
      if (m->lost.at[k].heir == s->row) note_use(w, s, op);
    if (!own) w->spoiled.at[n++] = *s;
  }
  w->spoiled.n = n;
}

static bool is_spoiled(const walk *w, uint32_t row) {
  for (size_t i = 0; i < w->spoiled.n; i++)
    if (w->spoiled.at[i].row == row) return true;
  return false;
}

static int spoil(walk *w, uint32_t number, threat *th, uint32_t op) {
  const ttm_region *by = &w->memories.at[number].regions.at[th->region];
  ttm_region own;
  ttm_region_of(w->p, th->row, &own);
  if (th->hazard == TTM_NONE) {
    ttm_hazard h = {.kind = w->c->buffers.at[th->row].kernels ? TTM_HAZARD_KERNELS : TTM_HAZARD_TENSOR,
                    .trace = number,
                    .row = th->row,
                    .other = by->row,
                    .event = by->event,
                    .replay = op,
                    .used = TTM_NONE,
                    .start = own.start > by->start ? own.start : by->start,
                    .end = own.end < by->end ? own.end : by->end,
                    .times = 1};
    if (add_hazard(w, h, &th->hazard)) return TTM_ENOMEM;
  }
  return is_spoiled(w, th->row) ? TTM_OK : ttm_vec_push(&w->spoiled, ((spoiled){th->row, th->hazard, false}));
}

/* The freed tensors that the trace uses: harmless as long as nothing else lies there. */
static int use_lost(walk *w, uint32_t number, uint32_t op) {
  memory *m = &w->memories.at[number];
  for (size_t i = 0; i < m->lost.n; i++) {
    lost *l = &m->lost.at[i];
    ttm_region old, taker;
    uint32_t unused;
    if (l->told || l->taker == TTM_NONE || (l->heir != TTM_NONE && is_alive(w, l->heir, op))) continue;
    ttm_region_of(w->p, l->row, &old);
    ttm_region_of(w->p, l->taker, &taker);
    ttm_hazard h = {.kind = TTM_HAZARD_FREED,
                    .trace = number,
                    .row = l->row,
                    .other = l->taker,
                    .event = TTM_NONE,
                    .replay = op,
                    .used = op,
                    .start = old.start > taker.start ? old.start : taker.start,
                    .end = old.end < taker.end ? old.end : taker.end,
                    .times = 1,
                    .used_times = 1};
    l->told = true;
    if (add_hazard(w, h, &unused)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* What the other traces use and is freed, a replay may write on. */
static int take_lost(walk *w, uint32_t number, uint32_t op) {
  const memory *by = &w->memories.at[number];
  for (size_t i = 0; i < w->out->at.n; i++) {
    memory *m = &w->memories.at[i];
    bool other = i != number && w->out->at.at[i].rank == w->out->at.at[number].rank && is_live(&w->out->at.at[i], op);
    for (size_t k = 0; other && k < m->lost.n; k++) {
      lost *l = &m->lost.at[k];
      ttm_region old;
      bool both = l->heir == TTM_NONE || !is_alive(w, l->heir, op);
      for (size_t r = 0; both && ttm_region_of(w->p, l->row, &old) && r < by->regions.n; r++) {
        if (by->regions.at[r].row == TTM_NONE) continue;
        if (ttm_regions_overlap(&w->space, &old, &by->regions.at[r], &both)) return TTM_ENOMEM;
        if (both) l->taker = by->regions.at[r].row;
        both = l->taker == TTM_NONE;
      }
    }
  }
  return TTM_OK;
}

static int replay(walk *w, uint32_t number, uint32_t op) {
  ttm_device_trace *t = &w->out->at.at[number];
  memory *m = &w->memories.at[number];
  size_t n = 0;
  w->out->replays++;
  if (!t->replays++) t->first_replay = op;
  refresh(w, m, t, op);
  if (use_lost(w, number, op) || take_lost(w, number, op)) return TTM_ENOMEM;
  for (size_t i = 0; i < m->threats.n; i++) {
    threat th = m->threats.at[i];
    if (!is_alive(w, th.row, op)) continue;
    if (spoil(w, number, &th, op)) return TTM_ENOMEM;
    m->threats.at[n++] = th;
  }
  m->threats.n = n;
  return TTM_OK;
}

static int take_call(walk *w, const ttm_trace_call *call) {
  if (call->step == TTM_TRACE_BEGIN) return begin_trace(w, call);
  if (call->step == TTM_TRACE_END) return end_trace(w, call);
  for (uint32_t i = (uint32_t)w->out->at.n; i-- > 0;) {
    ttm_device_trace *t = &w->out->at.at[i];
    if (t->rank != call->rank || t->released != TTM_NONE) continue;
    if (call->step == TTM_TRACE_CLOSED) {
      t->released = call->op;
    } else if (t->end != TTM_NONE && t->id == call->id) {
      if (call->step == TTM_TRACE_REPLAY) return replay(w, i, call->op);
      t->released = call->op;
      return TTM_OK;
    }
  }
  return TTM_OK;
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------------- */

/* Operations of a capture do not run yet. */
static bool is_captured(const walk *w, uint32_t row) {
  for (size_t i = 0; i < w->running.n; i++) {
    const ttm_device_trace *t = &w->out->at.at[w->running.at[i]];
    if (t->rank == w->c->buffers.at[row].device && t->released == TTM_NONE) return true;
  }
  return false;
}

/* Writing it anew makes it whole; so does nothing else. */
static void take_use(walk *w, ttm_tensor_use use, bool only_written) {
  uint32_t row = w->buffers[use.tensor];
  if (row == TTM_NONE || is_captured(w, row)) return;
  for (size_t i = w->spoiled.n; i-- > 0;) {
    if (w->spoiled.at[i].row != row) continue;
    if (only_written)
      w->spoiled.at[i] = w->spoiled.at[--w->spoiled.n];
    else
      note_use(w, &w->spoiled.at[i], use.op);
  }
}

/* The operation writes what it is given, and does not read it. */
static bool is_written(const ttm_capture *c, size_t write, ttm_tensor_use use) {
  for (; write < c->writes.n && c->writes.at[write].op <= use.op; write++)
    if (c->writes.at[write].tensor == use.tensor) return !c->writes.at[write].read;
  return false;
}

typedef enum access { READ, CHANGED, WRITTEN } access;

/* The running captures remember tensors from before them. What a trace wrote before it reads it is no input. */
static int keep_row(walk *w, uint32_t tensor, access how) {
  uint32_t row = w->buffers[tensor];
  for (size_t i = 0; row != TTM_NONE && i < w->running.n; i++) {
    const ttm_device_trace *t = &w->out->at.at[w->running.at[i]];
    const ttm_buffer *b = &w->c->buffers.at[row];
    memory *m = &w->memories.at[w->running.at[i]];
    if (b->device != t->rank || (b->op >= t->begin && !is_among(m->empty.at, m->empty.n, row))) continue;
    if (how == READ) {
      if (!is_among(m->whole.at, m->whole.n, row) && ttm_vec_push(&m->inputs, row)) return TTM_ENOMEM;
    } else if (ttm_vec_push(&m->outputs, row) || (how == WRITTEN && ttm_vec_push(&m->whole, row))) {
      return TTM_ENOMEM;
    }
  }
  return TTM_OK;
}

static int take_free(walk *w, freeing f) {
  for (size_t i = 0; i < w->out->at.n; i++) {
    memory *m = &w->memories.at[i];
    if (!is_live(&w->out->at.at[i], f.op)) continue;
    if (holds(m->inputs.at, m->inputs.n, f.row) && lose(m, f.row)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* The operation gives memory and writes nothing. */
static bool is_empty(const walk *w, uint32_t op) {
  static const char *const names[] = {"ttnn.allocate_tensor_on_device", "ttnn.empty", "ttnn.empty_like"};
  ttm_str name = op < w->p->ops.n ? ttm_profile_string(w->p, ttm_op_text_of(w->p, op)->name) : (ttm_str){"", 0};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (ttm_str_eq(name, ttm_str_of(names[i]))) return true;
  return false;
}

static int take_birth(walk *w, uint32_t row) {
  const ttm_buffer *b = &w->c->buffers.at[row];
  ttm_region own;
  if (!ttm_region_of(w->p, row, &own)) return TTM_OK;
  for (uint32_t i = 0; i < w->out->at.n; i++) {
    const ttm_device_trace *t = &w->out->at.at[i];
    memory *m = &w->memories.at[i];
    if (t->rank != b->device) continue;
    if (t->end == TTM_NONE) {
      if (t->released != TTM_NONE) continue;
      if (is_empty(w, b->op) ? ttm_vec_push(&m->empty, row) : ttm_vec_push(&m->regions, own)) return TTM_ENOMEM;
    } else if (is_live(t, b->op) && (find_threat(w, m, &own, row) || inherit(w, m, row))) {
      return TTM_ENOMEM;
    }
  }
  return TTM_OK;
}

/* ---- The walk ---------------------------------------------------------------------------------------------------------- */

static int by_op(const void *a, const void *b) {
  const freeing *x = a, *y = b;
  return x->op < y->op ? -1 : x->op > y->op;
}

static int sort_frees(walk *w) {
  for (uint32_t row = 0; row < w->c->buffers.n; row++) {
    uint32_t op = w->c->buffers.at[row].freed_by;
    if (op != TTM_NONE && ttm_vec_push(&w->frees, ((freeing){op, row}))) return TTM_ENOMEM;
  }
  if (w->frees.n) qsort(w->frees.at, w->frees.n, sizeof *w->frees.at, by_op);
  return TTM_OK;
}

/* In the order of an operation: what it does with traces, what it takes, writes, frees and makes. */
static int go(walk *w) {
  const ttm_capture *c = w->c;
  size_t call = 0, use = 0, write = 0, freed = 0;
  uint32_t row = 0;
  int rc = sort_frees(w);
  for (uint32_t op = 0; op <= w->p->ops.n && !rc; op++) {
    for (; call < c->traces.n && c->traces.at[call].op <= op && !rc; call++) rc = take_call(w, &c->traces.at[call]);
    for (; use < c->uses.n && c->uses.at[use].op <= op && !rc; use++) {
      bool written = is_written(c, write, c->uses.at[use]);
      if (written) continue;
      if (w->spoiled.n) take_use(w, c->uses.at[use], false);
      rc = keep_row(w, c->uses.at[use].tensor, READ);
    }
    for (; write < c->writes.n && c->writes.at[write].op <= op && !rc; write++) {
      const ttm_tensor_write *to = &c->writes.at[write];
      if (!to->read) take_use(w, (ttm_tensor_use){to->op, to->tensor}, true);
      rc = keep_row(w, to->tensor, to->read ? CHANGED : WRITTEN);
    }
    for (; freed < w->frees.n && w->frees.at[freed].op <= op && !rc; freed++) rc = take_free(w, w->frees.at[freed]);
    for (; row < c->buffers.n && (c->buffers.at[row].op == TTM_NONE || c->buffers.at[row].op <= op) && !rc; row++)
      rc = take_birth(w, row);
  }
  return rc;
}

/* Those of which something is read first, then in the order of the traces and their replays. */
static int by_harm(const void *a, const void *b) {
  const ttm_hazard *x = a, *y = b;
  if (ttm_hazard_is_harm(x) != ttm_hazard_is_harm(y)) return ttm_hazard_is_harm(x) ? -1 : 1;
  if (x->trace != y->trace) return x->trace < y->trace ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

static void finish(walk *w) {
  ttm_traces *all = w->out;
  if (all->hazards.n) qsort(all->hazards.at, all->hazards.n, sizeof *all->hazards.at, by_harm);
  for (size_t i = 0; i < w->memories.n; i++) {
    ttm_vec_free(&w->memories.at[i].regions);
    ttm_vec_free(&w->memories.at[i].inputs);
    ttm_vec_free(&w->memories.at[i].outputs);
    ttm_vec_free(&w->memories.at[i].whole);
    ttm_vec_free(&w->memories.at[i].empty);
    ttm_vec_free(&w->memories.at[i].threats);
    ttm_vec_free(&w->memories.at[i].lost);
  }
  ttm_vec_free(&w->memories);
  ttm_vec_free(&w->running);
  ttm_vec_free(&w->spoiled);
  ttm_vec_free(&w->frees);
  ttm_core_sets_free(&w->space.cores);
}

int ttm_traces_find(ttm_traces *out, const ttm_profile *p, const uint32_t *buffers) {
  walk w = {.out = out, .p = p, .c = &p->capture, .buffers = buffers, .space = {.p = p}};
  if (!p->capture.traces.n) return TTM_OK;
  int rc = go(&w);
  finish(&w);
  return rc;
}

void ttm_traces_free(ttm_traces *traces) {
  ttm_vec_free(&traces->at);
  ttm_vec_free(&traces->hazards);
}
