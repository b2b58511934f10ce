/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/decisions.h"

#include <stdlib.h>

#include "analyze/align.h"
#include "analyze/parts.h"
#include "base/checked.h"
#include "parse/op_line.h"

typedef TTM_VEC(uint32_t) numbers;

/* What the spill pass says of a position of its schedule in the end. */
typedef struct spill {
  uint32_t key; /* of the operation's text: name and result */
  uint64_t l1;  /* occupied right behind it; TTM_UNKNOWN */
  ttm_str op;
  bool demoted, evicted, known;
} spill;

typedef struct joining {
  const ttm_profile *p;
  ttm_decisions *out;
  numbers ops;            /* of the run, elements only */
  numbers planned_of;     /* by place in `ops`: operation of the trace, TTM_NONE */
  numbers row_of;         /* by place in `ops`: its row, TTM_NONE */
  numbers a, b, match;    /* keys of two sequences, and what ttm_align says of them */
  numbers from_a, from_b; /* what the keys are of */
  ttm_intern keys;
  ttm_intern demoted; /* names of the operations that the spill pass put to DRAM */
  ttm_op_line line;
  ttm_buf text;
  TTM_VEC(spill) spills; /* by position */
} joining;

/* ---- Which operation is which ---------------------------------------------------------------------------------------- */

static int add_pair(ttm_intern *keys, ttm_buf *text, ttm_str a, ttm_str b, uint32_t *out) {
  ttm_buf_clear(text);
  ttm_buf_put(text, a);
  ttm_buf_char(text, '\n');
  ttm_buf_put(text, b);
  return text->failed ? TTM_ENOMEM : ttm_intern_add(keys, ttm_buf_str(text), out);
}

static ttm_str name_of(const ttm_profile *p, uint32_t op) { return ttm_profile_string(p, ttm_op_text_of(p, op)->name); }
static ttm_str place_of(const ttm_profile *p, uint32_t op) {
  return ttm_profile_string(p, ttm_op_text_of(p, op)->location);
}

/* How many operations of each call have a place that the plan has, too. */
static int count_places(joining *j, numbers *counts) {
  const ttm_profile *p = j->p;
  uint32_t key;
  for (size_t i = 0; i < j->out->trace->ops.n; i++)
    if (add_pair(&j->keys, &j->text, j->out->trace->ops.at[i].name, j->out->trace->ops.at[i].location, &key))
      return TTM_ENOMEM;
  for (size_t c = 0; c < p->calls.n; c++)
    if (ttm_vec_push(counts, 0)) return TTM_ENOMEM;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    uint32_t call = p->ops.at[op].call;
    if (call >= counts->n || !ttm_op_is_element(p, op)) continue;
    ttm_buf_clear(&j->text);
    ttm_buf_put(&j->text, name_of(p, op));
    ttm_buf_char(&j->text, '\n');
    ttm_buf_put(&j->text, place_of(p, op));
    if (j->text.failed) return TTM_ENOMEM;
    counts->at[call] += ttm_intern_find(&j->keys, ttm_buf_str(&j->text)) != 0;
  }
  return TTM_OK;
}

/* The run to compare with: of the program the plan is of, the last of those that have most of its operations. */
static int choose_call(joining *j) {
  const ttm_profile *p = j->p;
  numbers counts = {0};
  int status = count_places(j, &counts);
  uint64_t best = 0;
  j->out->call = TTM_NONE;
  for (uint32_t c = 0; c < counts.n && !status; c++) {
    bool named = ttm_str_eq(ttm_profile_string(p, p->calls.at[c].name), j->out->trace->function);
    uint64_t worth = p->calls.at[c].const_eval || p->calls.at[c].first_op == TTM_NONE
                         ? 0
                         : ((uint64_t)named << 32) + counts.at[c] + 1;
    if (worth >= best && worth) best = worth, j->out->call = c;
  }
  ttm_vec_free(&counts);
  return status;
}

static int gather(joining *j) {
  for (uint32_t op = 0; op < j->p->ops.n; op++) {
    if (j->p->ops.at[op].call != j->out->call || !ttm_op_is_element(j->p, op)) continue;
    if (ttm_vec_push(&j->ops, op) || ttm_vec_push(&j->planned_of, TTM_NONE) || ttm_vec_push(&j->row_of, TTM_NONE))
      return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Aligns what is in `a` and `b`. */
static int align(joining *j) {
  j->match.n = 0;
  if (ttm_vec_reserve(&j->match, j->a.n + 1)) return TTM_ENOMEM;
  j->match.n = j->a.n;
  return ttm_align((ttm_sequence){j->a.at, (uint32_t)j->a.n}, (ttm_sequence){j->b.at, (uint32_t)j->b.n},
                   (uint32_t)j->keys.strings.n + 1, j->match.at);
}

static void clear_sequences(joining *j) { j->a.n = j->b.n = j->from_a.n = j->from_b.n = 0; }

static int push_key(joining *j, numbers *keys, numbers *from, ttm_str name, ttm_str rest, uint32_t what) {
  uint32_t key;
  if (add_pair(&j->keys, &j->text, name, rest, &key)) return TTM_ENOMEM;
  return ttm_vec_push(keys, key) || ttm_vec_push(from, what) ? TTM_ENOMEM : TTM_OK;
}

/* By name and location first; then, of what is left, by name alone. */
static int match_ops(joining *j, bool located, uint8_t *taken) {
  const ttm_decision_trace *trace = j->out->trace;
  int status = TTM_OK;
  clear_sequences(j);
  for (uint32_t i = 0; i < trace->ops.n && !status; i++) {
    const ttm_plan_op *op = &trace->ops.at[i];
    if (taken[i] || (located && !op->location.n)) continue;
    status = push_key(j, &j->a, &j->from_a, op->name, located ? op->location : TTM_LIT(""), i);
  }
  for (uint32_t k = 0; k < j->ops.n && !status; k++) {
    if (j->planned_of.at[k] != TTM_NONE) continue;
    ttm_str place = located ? place_of(j->p, j->ops.at[k]) : TTM_LIT("");
    status = push_key(j, &j->b, &j->from_b, name_of(j->p, j->ops.at[k]), place, k);
  }
  if (!status) status = align(j);
  for (size_t i = 0; i < j->a.n && !status; i++) {
    if (j->match.at[i] == TTM_NONE) continue;
    j->planned_of.at[j->from_b.at[j->match.at[i]]] = j->from_a.at[i];
    taken[j->from_a.at[i]] = located ? 1 : 2;
    located ? j->out->by_location++ : j->out->by_order++;
  }
  return status;
}

/* ---- The spill pass -------------------------------------------------------------------------------------------------- */

/* Shape, dtype and memory of a result. */
static void say_result(ttm_buf *out, const ttm_tensor_type *type) {
  char shape[256];
  if (!type) return;
  ttm_dims_print(&type->shape, shape, sizeof shape);
  ttm_buf_printf(out, "%s %.*s %d", shape, (int)type->storage.n, type->storage.p ? type->storage.p : "", type->buffer);
}

static int key_of_text(joining *j, ttm_str text, uint32_t *out) {
  ttm_tensor_type type;
  ttm_buf result = {0};
  int status = ttm_op_line_parse(text, &j->line);
  if (status == TTM_EFORMAT) return *out = 0, TTM_OK;
  if (status) return status;
  if (j->line.outputs.n && ttm_tensor_type_parse(j->line.outputs.at[0], &type)) say_result(&result, &type);
  status = result.failed ? TTM_ENOMEM : add_pair(&j->keys, &j->text, j->line.name, ttm_buf_str(&result), out);
  ttm_buf_free(&result);
  return status;
}

/* No program has as many operations. An eviction walks them all: a trace of nothing but evictions must come to an end, too. */
enum { MOST_POSITIONS = 1 << 15 };

static spill *spill_at(joining *j, uint32_t position) {
  while (j->spills.n <= position)
    if (ttm_vec_push(&j->spills, (spill){.l1 = TTM_UNKNOWN})) return NULL;
  return &j->spills.at[position];
}

/* A victim's memory goes right behind its operation: what the pass said of later positions was before that. It stays until the operation that needs
 * the room where that could not be validated at all. */
static void evict(joining *j, const ttm_spill_event *e, bool at_once) {
  uint32_t victim = 0;
  while (victim < j->spills.n && !(j->spills.at[victim].known && ttm_str_eq(j->spills.at[victim].op, e->op))) victim++;
  if (victim == j->spills.n) return;
  j->spills.at[victim].evicted = true;
  for (uint32_t i = victim + 1; at_once && i < j->spills.n && i < e->position; i++)
    if (j->spills.at[i].l1 != TTM_UNKNOWN) j->spills.at[i].l1 = ttm_sub_sat(j->spills.at[i].l1, e->usage);
}

static int follow_event(joining *j, const ttm_spill_event *e, uint32_t *short_at) {
  if (e->action == TTM_SPILL_OOM || e->action == TTM_SPILL_FRAGMENTED) *short_at = e->position;
  if (e->action == TTM_SPILL_EVICTED) {
    j->out->evictions++;
    return evict(j, e, *short_at == e->position), TTM_OK;
  }
  bool demoted = e->action == TTM_SPILL_SELF || e->action == TTM_SPILL_DEMOTED || e->action == TTM_SPILL_FRAGMENTED;
  if ((e->action != TTM_SPILL_LIVE && !demoted) || e->position >= MOST_POSITIONS) return TTM_OK;
  spill *s = spill_at(j, e->position);
  if (!s) return TTM_ENOMEM;
  s->known = true;
  s->op = e->op;
  s->demoted = demoted && e->action != TTM_SPILL_DEMOTED;
  s->l1 = e->action == TTM_SPILL_LIVE ? e->after : TTM_UNKNOWN;
  return TTM_OK;
}

static ttm_decision_row *row_of(joining *j, uint32_t place) {
  if (j->row_of.at[place] == TTM_NONE) {
    uint32_t planned = j->planned_of.at[place];
    ttm_decision_row row = {
        .op = j->ops.at[place], .planned = planned, .planned_l1 = TTM_UNKNOWN, .held_l1 = TTM_UNKNOWN};
    j->row_of.at[place] = (uint32_t)j->out->rows.n;
    if (ttm_vec_push(&j->out->rows, row)) return NULL;
  }
  return &j->out->rows.at[j->row_of.at[place]];
}

/* Positions of the schedule are operations of the run in the same order: by name and result. A demoted result lies in DRAM by then. */
static int match_spills(joining *j) {
  int status = TTM_OK;
  uint32_t key;
  clear_sequences(j);
  for (uint32_t i = 0; i < j->spills.n && !status; i++) {
    if (!j->spills.at[i].known) continue;
    status = key_of_text(j, j->spills.at[i].op, &key);
    if (!status && key && j->spills.at[i].demoted)
      status = ttm_intern_add(&j->demoted, j->line.name, &key);
    else if (!status && key)
      status = ttm_vec_push(&j->a, key) || ttm_vec_push(&j->from_a, i) ? TTM_ENOMEM : TTM_OK;
  }
  for (uint32_t k = 0; k < j->ops.n && !status; k++) {
    ttm_buf result = {0};
    say_result(&result, ttm_op_text_output(j->p, ttm_op_text_of(j->p, j->ops.at[k]), 0));
    status = result.failed ? TTM_ENOMEM
                           : push_key(j, &j->b, &j->from_b, name_of(j->p, j->ops.at[k]), ttm_buf_str(&result), k);
    ttm_buf_free(&result);
  }
  if (!status) status = align(j);
  for (size_t i = 0; i < j->a.n && !status; i++) {
    if (j->match.at[i] == TTM_NONE) continue;
    ttm_decision_row *row = row_of(j, j->from_b.at[j->match.at[i]]);
    if (!row) return TTM_ENOMEM;
    row->planned_l1 = j->spills.at[j->from_a.at[i]].l1;
    row->evicted = j->spills.at[j->from_a.at[i]].evicted;
  }
  return status;
}

static int follow_spills(joining *j) {
  const ttm_decision_trace *trace = j->out->trace;
  uint32_t short_at = TTM_NONE;
  int status = TTM_OK;
  for (size_t i = 0; i < trace->events.n && !status; i++) status = follow_event(j, &trace->events.at[i], &short_at);
  return status ? status : match_spills(j);
}

/* ---- Rows ------------------------------------------------------------------------------------------------------------ */

/* The first state behind an operation of its rank. */
static uint32_t state_behind(const ttm_profile *p, uint32_t op) {
  if (p->ops.at[op].state != TTM_NONE) return ttm_state_next(p, p->ops.at[op].state);
  for (uint32_t next = op + 1; next < p->ops.n; next++)
    if (p->ops.at[next].state != TTM_NONE && ttm_op_rank(p, next) == ttm_op_rank(p, op)) return p->ops.at[next].state;
  return TTM_NONE;
}

static bool lies_elsewhere(const ttm_plan_layout *planned, const ttm_plan_layout *is) {
  if (planned->buffer != is->buffer || planned->placement != is->placement) return true;
  bool sharded = is->placement > TTM_PLACE_INTERLEAVED;
  return sharded && planned->grid.rank && is->grid.rank && !ttm_dims_same(&planned->grid, &is->grid);
}

/* Did the spill pass put this operation's result to DRAM? By name: it tells no location. */
static bool was_demoted(const joining *j, const ttm_decision_row *row, const ttm_plan_layout *planned) {
  if (planned->buffer != TTM_BUFFER_L1 || row->is.buffer != TTM_BUFFER_DRAM) return false;
  return ttm_intern_find(&j->demoted, name_of(j->p, row->op)) != 0;
}

static void judge_layout(joining *j, ttm_decision_row *row) {
  const ttm_tensor_type *type = ttm_op_text_output(j->p, ttm_op_text_of(j->p, row->op), 0);
  const ttm_plan_op *planned = row->planned == TTM_NONE ? NULL : &j->out->trace->ops.at[row->planned];
  if (!type || !type->has_layout) return;
  row->is = (ttm_plan_layout){type->buffer, type->placement, type->grid};
  if (!planned || planned->layout.buffer == TTM_BUFFER_NONE) return;
  j->out->layouts++;
  row->moved = lies_elsewhere(&planned->layout, &row->is);
  if (!row->moved) return;
  j->out->moved++;
  row->demoted = was_demoted(j, row, &planned->layout);
  j->out->demoted += row->demoted;
  ttm_level l1;
  uint32_t banks = ttm_op_config(j->p, row->op, TTM_L1, &l1) ? l1.banks : 0;
  uint64_t is =
      row->is.buffer == TTM_BUFFER_L1 ? ttm_tensor_bank_bytes(type, banks, ttm_op_alignment(j->p, row->op)) : 0;
  row->apart = ttm_apart(planned->l1, is);
}

static void judge_l1(joining *j, ttm_decision_row *row) {
  uint32_t state = state_behind(j->p, row->op), milli;
  ttm_decisions *out = j->out;
  if (state == TTM_NONE || !ttm_state_allocated(j->p, state, TTM_L1, &milli)) return;
  row->held_l1 = ttm_level_bytes(milli);
  if (row->planned_l1 == TTM_UNKNOWN) return;
  uint64_t apart = ttm_apart(row->held_l1, row->planned_l1);
  out->compared++;
  out->above += row->held_l1 > row->planned_l1 + TTM_DECISION_SLACK;
  if (out->planned_peak == TTM_UNKNOWN || row->planned_l1 > out->planned_peak) out->planned_peak = row->planned_l1;
  if (out->held_peak == TTM_UNKNOWN || row->held_l1 > out->held_peak) out->held_peak = row->held_l1;
  if (apart > row->apart && apart > TTM_DECISION_SLACK) row->apart = apart;
}

static int most_apart(const void *a, const void *b) {
  const ttm_decision_row *x = a, *y = b;
  if (x->apart != y->apart) return x->apart < y->apart ? 1 : -1;
  if (x->moved != y->moved) return x->moved ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

static int make_rows(joining *j, const uint8_t *taken) {
  for (uint32_t k = 0; k < j->ops.n; k++) {
    if (j->planned_of.at[k] == TTM_NONE) continue;
    ttm_decision_row *row = row_of(j, k);
    if (!row) return TTM_ENOMEM;
    row->by_order = taken[row->planned] == 2;
  }
  for (size_t i = 0; i < j->out->rows.n; i++) {
    judge_layout(j, &j->out->rows.at[i]);
    judge_l1(j, &j->out->rows.at[i]);
  }
  if (j->out->rows.n) qsort(j->out->rows.at, j->out->rows.n, sizeof *j->out->rows.at, most_apart);
  return TTM_OK;
}

/* ---- The whole ------------------------------------------------------------------------------------------------------- */

static int find(ttm_decisions *out, const ttm_profile *p) {
  joining j = {.p = p, .out = out};
  uint8_t *taken = ttm_alloc(out->trace->ops.n + 1);
  int status = taken ? choose_call(&j) : TTM_ENOMEM;
  if (!status) status = gather(&j);
  if (!status) status = match_ops(&j, true, taken);
  if (!status) status = match_ops(&j, false, taken);
  if (!status) out->missing = (uint32_t)out->trace->ops.n - out->by_location - out->by_order;
  if (!status && out->by_location + out->by_order) status = follow_spills(&j);
  if (!status) status = make_rows(&j, taken);
  numbers *all[] = {&j.ops, &j.planned_of, &j.row_of, &j.a, &j.b, &j.match, &j.from_a, &j.from_b};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ttm_vec_free(all[i]);
  ttm_vec_free(&j.spills);
  ttm_intern_free(&j.keys);
  ttm_intern_free(&j.demoted);
  ttm_op_line_free(&j.line);
  ttm_buf_free(&j.text);
  ttm_free(taken);
  return status;
}

int ttm_decisions_find(ttm_decision_list *out, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  for (size_t i = 0; i < p->plans.n; i++) {
    ttm_decisions one = {.trace = &p->plans.at[i], .planned_peak = TTM_UNKNOWN, .held_peak = TTM_UNKNOWN};
    if (ttm_vec_push(out, one) || find(&out->at[i], p)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

void ttm_decisions_free(ttm_decision_list *list) {
  for (size_t i = 0; i < list->n; i++) ttm_vec_free(&list->at[i].rows);
  ttm_vec_free(list);
}
