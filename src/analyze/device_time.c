/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/device_time.h"

#include <stdlib.h>

#include "analyze/fold.h"
#include "analyze/occupancy.h"
#include "analyze/parts.h"
#include "analyze/words.h"
#include "base/checked.h"

const char *ttm_bound_name(ttm_bound bound) {
  static const char *const names[TTM_BOUNDS] = {NULL, "DRAM", "compute", "both", "slow"};
  return names[bound];
}

/* ---- Operations ------------------------------------------------------------------------------------------------------ */

/* By the shares that the CSV has; else by the performance model, which says 1 ns where it knows nothing. */
static ttm_bound bound_of(const ttm_perf_row *row, double *ideal_pct) {
  uint64_t took = row->kernel_ns != TTM_PERF_UNKNOWN ? row->kernel_ns : row->fw_ns;
  bool modelled = row->ideal_ns != TTM_PERF_UNKNOWN && row->ideal_ns > 1 && took && took != TTM_PERF_UNKNOWN;
  *ideal_pct = modelled ? ttm_percent((double)row->ideal_ns, (double)took) : -1;
  if (*ideal_pct > 100) *ideal_pct = 100;
  if (row->dram_pct >= 0 && row->fpu_pct >= 0) {
    bool dram = row->dram_pct >= TTM_BOUND_PCT, compute = row->fpu_pct >= TTM_BOUND_PCT;
    return dram && compute ? TTM_BOUND_BOTH : dram ? TTM_BOUND_DRAM : compute ? TTM_BOUND_COMPUTE : TTM_BOUND_SLOW;
  }
  if (!modelled) return TTM_BOUND_UNKNOWN;
  if (*ideal_pct < TTM_BOUND_PCT) return TTM_BOUND_SLOW;
  bool bandwidth = row->bandwidth_ns != TTM_PERF_UNKNOWN && row->compute_ns != TTM_PERF_UNKNOWN &&
                   row->bandwidth_ns > row->compute_ns;
  return bandwidth ? TTM_BOUND_DRAM : TTM_BOUND_COMPUTE;
}

/* The higher of the states before and behind an operation: its result is there while it runs. */
static uint64_t held_at(const ttm_profile *p, uint32_t op, ttm_memory memory) {
  uint32_t state = p->ops.at[op].state, before, after;
  if (state == TTM_NONE || !ttm_state_allocated(p, state, memory, &before)) return TTM_UNKNOWN;
  uint32_t next = ttm_state_next(p, state);
  bool known = next != TTM_NONE && ttm_state_same_device(p, state, next, memory) &&
               ttm_state_allocated(p, next, memory, &after) && !(p->ops.at[op].flags & TTM_OP_FAILED);
  return ttm_level_bytes(known && after > before ? after : before);
}

static void count_held(ttm_time_memory *m, uint64_t held, uint64_t ns) {
  if (held == TTM_UNKNOWN) return;
  m->known = true;
  if (held > m->peak) m->peak = held;
  m->byte_ns += (double)held * (double)ns;
  m->ns += ns;
}

static int time_ops(ttm_device_time *t, const ttm_profile *p) {
  for (uint32_t op = 0; op < p->ops.n; op++) {
    if (t->join.row_of[op] == TTM_NONE) continue;
    ttm_timed_op row = {.op = op, .row = t->join.row_of[op], .ns = t->join.ns_of[op]};
    row.begin = ttm_perf_join_begin(&t->join, row.row);
    row.bound = bound_of(&p->perf.rows.at[row.row], &row.ideal_pct);
    t->ns = ttm_add_sat(t->ns, row.ns);
    t->bound_ns[row.bound] += row.ns;
    for (int m = 0; m < TTM_HELD_MEMORIES; m++) {
      row.held[m] = held_at(p, op, (ttm_memory)m);
      count_held(&t->memories[m], row.held[m], row.ns);
    }
    if (ttm_vec_push(&t->ops, row)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static bool is_full(const ttm_time_memory *m, uint64_t held) {
  return held != TTM_UNKNOWN && m->peak && (double)held * 100 >= (double)m->peak * TTM_FULL_PCT;
}

static void count_full(ttm_device_time *t) {
  for (size_t i = 0; i < t->ops.n; i++)
    for (int m = 0; m < TTM_HELD_MEMORIES; m++)
      if (is_full(&t->memories[m], t->ops.at[i].held[m])) t->memories[m].full_ns += t->ops.at[i].ns;
}

/* ---- Slow operations ------------------------------------------------------------------------------------------------- */

static int longest(const void *a, const void *b) {
  const ttm_slow_op *x = a, *y = b;
  if (x->ns != y->ns) return x->ns < y->ns ? 1 : -1;
  return (x->op > y->op) - (x->op < y->op);
}

static void add_op(ttm_slow_op *row, const ttm_timed_op *op, ttm_memory memory, uint64_t counted, uint64_t *slowest) {
  row->times++;
  row->ns += counted;
  if (op->held[memory] != TTM_UNKNOWN && op->held[memory] > row->held) row->held = op->held[memory];
  if (row->times > 1 && op->ns <= *slowest) return;
  *slowest = op->ns;
  row->op = op->op, row->row = op->row, row->bound = op->bound, row->ideal_pct = op->ideal_pct;
}

/* What an operation counts for: all of its time where the memory is full, or what it takes above the ideal. */
static uint64_t counted_for(const ttm_device_time *t, const ttm_timed_op *op, bool waste) {
  if (!waste) return is_full(&t->memories[t->full], op->held[t->full]) ? op->ns : 0;
  if (op->bound != TTM_BOUND_SLOW || op->ideal_pct < 0) return 0;
  return (uint64_t)((double)op->ns * (100 - op->ideal_pct) / 100);
}

/* Folds the operations that count, keeps those of at least TTM_SLOW_PCT of the time. */
static int find_slow(ttm_device_time *t, const ttm_profile *p, bool waste, ttm_slow_ops *out, uint64_t *all) {
  ttm_fold fold = {.whole = !ttm_words_has_runs(p)};
  TTM_VEC(uint64_t) slowest = {0};
  ttm_slow_ops rows = {0};
  int status = TTM_OK;
  for (size_t i = 0; i < t->ops.n && !status; i++) {
    const ttm_timed_op *op = &t->ops.at[i];
    uint64_t counted = counted_for(t, op, waste);
    uint32_t group;
    if (!counted) continue;
    status = ttm_fold_add(&fold, ttm_words_location(p, op->op), ttm_op_text_of(p, op->op)->name, &group);
    if (!status && group == rows.n)
      status = ttm_vec_push(&rows, (ttm_slow_op){0}) || ttm_vec_push(&slowest, 0) ? TTM_ENOMEM : TTM_OK;
    if (!status) add_op(&rows.at[group], op, t->full, counted, &slowest.at[group]);
  }
  for (uint32_t i = 0; i < rows.n && !status; i++) {
    rows.at[i].name = ttm_fold_name_in(&fold, i, &t->names);
    if (!rows.at[i].name.p) status = TTM_ENOMEM;
  }
  if (rows.n && !status) qsort(rows.at, rows.n, sizeof *rows.at, longest);
  for (size_t i = 0; i < rows.n && !status; i++) {
    if ((double)rows.at[i].ns * 100 < (double)t->ns * TTM_SLOW_PCT) break;
    *all += rows.at[i].ns;
    if (i < TTM_TIME_ROWS) status = ttm_vec_push(out, rows.at[i]);
  }
  ttm_vec_free(&rows);
  ttm_vec_free(&slowest);
  ttm_fold_free(&fold);
  return status;
}

/* ---- Tensors and layers ---------------------------------------------------------------------------------------------- */

/* "model.layers.7" of "model.layers.7.mlp.weight": up to the first number of its own that is not the end. */
static ttm_str layer_of(ttm_str name) {
  for (size_t i = 2; i < name.n; i++) {
    bool begins =
        ttm_is_digit(name.p[i]) && (name.p[i - 1] == '.' || name.p[i - 1] == '_') && !ttm_is_digit(name.p[i - 2]);
    size_t end = i;
    while (begins && end < name.n && ttm_is_digit(name.p[end])) end++;
    if (begins && end < name.n && (name.p[end] == '.' || name.p[end] == '|' || name.p[end] == '/'))
      return ttm_str_first(name, end);
  }
  return (ttm_str){"", 0};
}

typedef struct gathering {
  ttm_device_time *time;
  const ttm_profile *p;
  double *until; /* by moment: ns of timed operations before it */
  ttm_fold tensors[TTM_HELD_MEMORIES], layers[TTM_HELD_MEMORIES];
} gathering;

static int add_held(ttm_fold *fold, ttm_held_times *rows, ttm_str name, ttm_alive_class class, double byte_ns) {
  uint32_t group;
  if (ttm_fold_add(fold, name, class, &group)) return TTM_ENOMEM;
  if (group == rows->n && ttm_vec_push(rows, (ttm_held_time){.class = class})) return TTM_ENOMEM;
  rows->at[group].tensors++;
  rows->at[group].byte_ns += byte_ns;
  return TTM_OK;
}

static int add_occupant(gathering *g, const ttm_occupant *o) {
  uint32_t n = (uint32_t)g->p->ops.n;
  uint32_t from = o->op < n && o->op < o->from ? o->op : o->from, to = o->to < n ? o->to : n;
  double byte_ns = from < to ? (double)o->bytes * (g->until[to] - g->until[from]) : 0;
  ttm_time_memory *m = &g->time->memories[o->memory];
  if (byte_ns <= 0) return TTM_OK;
  m->tensors_byte_ns += byte_ns;
  ttm_str name = o->name ? ttm_profile_string(g->p, o->name) : TTM_LIT("");
  if (!name.n && o->op < n) name = ttm_words_location(g->p, o->op);
  if (add_held(&g->tensors[o->memory], &m->tensors, name, (ttm_alive_class)o->class, byte_ns)) return TTM_ENOMEM;
  ttm_str layer = ttm_words_has_runs(g->p) || o->name ? layer_of(name) : TTM_LIT("");
  return layer.n ? add_held(&g->layers[o->memory], &m->layers, layer, 0, byte_ns) : TTM_OK;
}

static int most_held(const void *a, const void *b) {
  const ttm_held_time *x = a, *y = b;
  if (x->byte_ns != y->byte_ns) return x->byte_ns < y->byte_ns ? 1 : -1;
  return x->name.n != y->name.n ? (x->name.n > y->name.n) - (x->name.n < y->name.n)
                                : memcmp(x->name.p, y->name.p, x->name.n);
}

static int keep_held(gathering *g, const ttm_fold *fold, ttm_held_times *rows) {
  for (uint32_t i = 0; i < rows->n; i++) {
    rows->at[i].name = ttm_fold_name_in(fold, i, &g->time->names);
    if (!rows->at[i].name.p) return TTM_ENOMEM;
  }
  if (rows->n) qsort(rows->at, rows->n, sizeof *rows->at, most_held);
  if (rows->n > TTM_TIME_ROWS) rows->n = TTM_TIME_ROWS;
  return TTM_OK;
}

static int gather_held(gathering *g, const ttm_occupancy *occupancy) {
  int status = TTM_OK;
  double sum = 0;
  for (uint32_t op = 0; op < g->p->ops.n; op++) {
    g->until[op] = sum;
    sum += (double)g->time->join.ns_of[op];
  }
  g->until[g->p->ops.n] = sum;
  for (size_t i = 0; i < occupancy->rows.n && !status; i++)
    if (occupancy->rows.at[i].memory < TTM_HELD_MEMORIES) status = add_occupant(g, &occupancy->rows.at[i]);
  for (int m = 0; m < TTM_HELD_MEMORIES && !status; m++) {
    status = keep_held(g, &g->tensors[m], &g->time->memories[m].tensors);
    if (!status) status = keep_held(g, &g->layers[m], &g->time->memories[m].layers);
  }
  return status;
}

static int find_held(ttm_device_time *t, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  if (!ttm_occupancy_possible(p)) return TTM_OK;
  ttm_occupancy occupancy = {0};
  gathering g = {.time = t, .p = p, .until = ttm_alloc_array(p->ops.n + 1, sizeof *g.until)};
  for (int m = 0; m < TTM_HELD_MEMORIES; m++) g.layers[m].whole = true; /* each layer is a row of its own */
  int status = g.until ? ttm_occupancy_make(&occupancy, f, 0) : TTM_ENOMEM;
  if (!status) status = gather_held(&g, &occupancy);
  ttm_occupancy_free(&occupancy);
  for (int m = 0; m < TTM_HELD_MEMORIES; m++) ttm_fold_free(&g.tensors[m]), ttm_fold_free(&g.layers[m]);
  ttm_free(g.until);
  return status;
}

/* ---- The whole ------------------------------------------------------------------------------------------------------- */

int ttm_device_time_find(ttm_device_time *t, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  uint64_t wasted = 0;
  if (!p->perf.rows.n) return TTM_OK;
  t->given = true;
  int status = ttm_perf_join_make(&t->join, p, &p->perf);
  if (status || !t->join.matched) return status;
  status = time_ops(t, p);
  if (!status) count_full(t);
  t->full = t->memories[TTM_DRAM].peak ? TTM_DRAM : TTM_L1;
  if (!status) status = find_slow(t, p, false, &t->slow, &t->slow_ns);
  if (!status) status = find_slow(t, p, true, &t->waste, &wasted);
  return status ? status : find_held(t, f);
}

const ttm_timed_op *ttm_device_time_of(const ttm_device_time *t, uint32_t op) {
  size_t from = 0, to = t->ops.n;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    if (t->ops.at[middle].op < op)
      from = middle + 1;
    else
      to = middle;
  }
  return from < t->ops.n && t->ops.at[from].op == op ? &t->ops.at[from] : NULL;
}

void ttm_device_time_free(ttm_device_time *t) {
  ttm_perf_join_free(&t->join);
  ttm_vec_free(&t->ops);
  ttm_vec_free(&t->slow);
  ttm_vec_free(&t->waste);
  for (int m = 0; m < TTM_HELD_MEMORIES; m++) {
    ttm_vec_free(&t->memories[m].tensors);
    ttm_vec_free(&t->memories[m].layers);
  }
  ttm_arena_free(&t->names);
}
