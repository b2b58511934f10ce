/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/trace.h"

#include "analyze/words.h"

enum {
  MOST_RANKS = 1024
}; /* each is a walk over all operations, and more than any machine has are a mistake of the log */

uint64_t ttm_track_id(ttm_track t) {
  return 1 + (uint64_t)t.lane + ((uint64_t)t.memory << 32) + ((uint64_t)t.kind << 36) + ((uint64_t)t.rank << 40);
}

void ttm_track_name(ttm_buf *out, const ttm_profile *p, ttm_track t) {
  if (t.kind == TTM_TRACK_PROGRAMS)
    return ttm_buf_puts(out, ttm_words_has_runs(p) ? "Programs and operations" : "Operations");
  ttm_buf_puts(out, ttm_memory_name(t.memory));
  ttm_buf_puts(out, t.kind == TTM_TRACK_ALLOCATED ? " allocated per bank"
                    : t.kind == TTM_TRACK_LARGEST ? " largest free block per bank"
                                                  : " tensors");
}

void ttm_track_process(ttm_buf *out, const ttm_trace_sink *sink, uint32_t rank) {
  const ttm_profile *p = sink->profile;
  if (p->ranks.n > 1)
    ttm_buf_printf(out, "%s %u; ", ttm_words_rank(p), p->ranks.at[rank]);
  else
    ttm_buf_puts(out, "device memory; ");
  ttm_buf_puts(out, ttm_times_name(sink->times));
}

/* ---- Programs and operations ------------------------------------------------------------------------------------------------ */

typedef struct telling {
  ttm_trace_sink *sink;
  const ttm_findings *f;
  const ttm_profile *p;
  uint32_t rank;
  uint32_t call; /* innermost program that is open; TTM_NONE */
  TTM_VEC(uint32_t) path;
  ttm_occupancy held;
  TTM_VEC(uint32_t) by_end; /* rows of `held` that end, by when */
  size_t next_begin, next_end, next_incident;
  uint32_t next_state;
  TTM_VEC(uint32_t) free_lanes[TTM_REPLAY_MEMORIES];
  uint32_t lanes[TTM_REPLAY_MEMORIES];
  uint32_t *lane_of; /* by row */
} telling;

static uint64_t time_at(const telling *t, uint64_t moment) { return ttm_times_begin(t->sink->times, moment); }
/* A program ends when its last operation does. */
static uint64_t end_of(const telling *t, uint32_t op) { return ttm_times_end(t->sink->times, op); }

static ttm_track programs_of(const telling *t) { return (ttm_track){.rank = t->rank, .kind = TTM_TRACK_PROGRAMS}; }

/* Ends the programs that do not hold the operation. */
static void leave_calls(telling *t, uint32_t op) {
  while (t->call < t->p->calls.n) {
    const ttm_call *call = &t->p->calls.at[t->call];
    if (op <= call->last_op && op < t->p->ops.n) return;
    if (call->name) t->sink->end(t->sink, programs_of(t), end_of(t, call->last_op));
    t->call = call->parent;
  }
}

/* Begins those that hold it and are not open, outermost first. */
static int enter_calls(telling *t, uint32_t call) {
  const ttm_profile *p = t->p;
  t->path.n = 0;
  for (; call < p->calls.n && call != t->call; call = p->calls.at[call].parent)
    if (ttm_vec_push(&t->path, call)) return TTM_ENOMEM;
  while (t->path.n) {
    t->call = t->path.at[--t->path.n];
    const ttm_call *row = &p->calls.at[t->call];
    ttm_trace_facts facts = {.line = row->first_line, .index = TTM_NONE};
    if (row->name)
      t->sink->begin(t->sink, programs_of(t), time_at(t, row->first_op), ttm_profile_string(p, row->name), &facts);
  }
  return TTM_OK;
}

static void tell_incidents(telling *t, uint32_t op) {
  for (; t->next_incident < t->p->incidents.n; t->next_incident++) {
    const ttm_incident *row = &t->p->incidents.at[t->next_incident];
    if (op < t->p->ops.n && (row->op < t->p->ops.n ? row->op > op : row->line > t->p->ops.at[op].line)) return;
    if (row->rank != t->rank) continue;
    const ttm_statement *s = ttm_statements_of_incident(&t->f->statements, (uint32_t)t->next_incident);
    ttm_trace_facts facts = {s ? s->detail : TTM_LIT(""), row->line, TTM_NONE, 0};
    t->sink->instant(t->sink, programs_of(t), time_at(t, row->op < t->p->ops.n ? row->op : op),
                     s ? s->headline : TTM_LIT("failure"), &facts);
  }
}

static int tell_op(telling *t, uint32_t op) {
  const ttm_op *row = &t->p->ops.at[op];
  leave_calls(t, op);
  if (enter_calls(t, row->call)) return TTM_ENOMEM;
  tell_incidents(t, op);
  if (!ttm_op_is_element(t->p, op)) return TTM_OK;
  ttm_trace_facts facts = {ttm_words_location(t->p, op), row->line, ttm_findings_index(t->f, op), 0};
  t->sink->begin(t->sink, programs_of(t), time_at(t, op), ttm_words_name(t->p, op), &facts);
  t->sink->end(t->sink, programs_of(t), end_of(t, op));
  return TTM_OK;
}

/* ---- Memories ---------------------------------------------------------------------------------------------------------------- */

static void tell_state(telling *t, uint32_t state, uint32_t op) {
  ttm_level level;
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    if (!t->f->peak[m].known || !t->f->peak[m].level.allocated) continue;
    if (!ttm_state_level(t->p, state, m, &level)) continue;
    ttm_track track = {.rank = t->rank, .kind = TTM_TRACK_ALLOCATED, .memory = m};
    t->sink->counter(t->sink, track, time_at(t, op), (uint64_t)level.allocated * 1048576 / 1000);
    track.kind = TTM_TRACK_LARGEST;
    if (ttm_blocks_known(t->p))
      t->sink->counter(t->sink, track, time_at(t, op), (uint64_t)level.largest * 1048576 / 1000);
  }
}

static void tell_states(telling *t, uint32_t op) {
  const ttm_profile *p = t->p;
  for (; t->next_state < p->states.n; t->next_state++) {
    const ttm_state *row = &p->states.at[t->next_state];
    if (op < p->ops.n && (row->op < p->ops.n ? row->op > op : row->line > p->ops.at[op].line)) return;
    if (ttm_state_rank(p, t->next_state) == t->rank) tell_state(t, t->next_state, row->op < p->ops.n ? row->op : op);
  }
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------------------- */

static ttm_track lane_track(const telling *t, uint32_t row) {
  return (ttm_track){.rank = t->rank,
                     .kind = TTM_TRACK_TENSORS,
                     .memory = t->held.rows.at[row].memory == TTM_REPLAY_L1 ? TTM_L1 : TTM_DRAM,
                     .lane = t->lane_of[row]};
}

static int begin_tensor(telling *t, uint32_t row) {
  const ttm_occupant *o = &t->held.rows.at[row];
  if (t->free_lanes[o->memory].n) {
    t->lane_of[row] = t->free_lanes[o->memory].at[--t->free_lanes[o->memory].n];
  } else {
    t->lane_of[row] = t->lanes[o->memory]++;
    t->sink->track(t->sink, lane_track(t, row));
  }
  ttm_str place = o->op < t->p->ops.n ? ttm_words_location(t->p, o->op) : TTM_LIT("");
  ttm_str name = o->name ? ttm_profile_string(t->p, o->name) : place;
  ttm_trace_facts facts = {.place = ttm_str_of(ttm_words_class(t->p, (ttm_alive_class)o->class)),
                           .line = o->op < t->p->ops.n ? t->p->ops.at[o->op].line : 0,
                           .index = o->op < t->p->ops.n ? ttm_findings_index(t->f, o->op) : TTM_NONE,
                           .bytes = o->bytes};
  t->sink->begin(t->sink, lane_track(t, row), time_at(t, o->from), name.n ? name : facts.place, &facts);
  return TTM_OK;
}

/* What ends at a moment makes room for what begins then. What came and went within an operation has no length and is left out. */
static int tell_tensors(telling *t, uint32_t moment) {
  for (; t->next_end < t->by_end.n && t->held.rows.at[t->by_end.at[t->next_end]].to <= moment; t->next_end++) {
    uint32_t row = t->by_end.at[t->next_end];
    const ttm_occupant *o = &t->held.rows.at[row];
    t->sink->end(t->sink, lane_track(t, row), time_at(t, o->to));
    if (ttm_vec_push(&t->free_lanes[o->memory], t->lane_of[row])) return TTM_ENOMEM;
  }
  for (; t->next_begin < t->held.rows.n && t->held.rows.at[t->next_begin].from <= moment; t->next_begin++) {
    const ttm_occupant *o = &t->held.rows.at[t->next_begin];
    if (o->to > o->from && begin_tensor(t, (uint32_t)t->next_begin)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Rows by their end, by counting; those that never end last, as ending after the last operation. */
static int sort_ends(telling *t) {
  size_t moments = t->p->ops.n + 2, n = 0;
  uint32_t *starts = ttm_alloc_array(moments + 1, sizeof *starts);
  t->lane_of = ttm_alloc_array(t->held.rows.n + 1, sizeof *t->lane_of);
  if (!starts || !t->lane_of) return ttm_free(starts), TTM_ENOMEM;
  for (size_t i = 0; i < t->held.rows.n; i++) {
    ttm_occupant *o = &t->held.rows.at[i];
    if (o->to == TTM_NONE) o->to = (uint32_t)t->p->ops.n + 1;
    if (o->to > o->from) starts[o->to]++, n++;
  }
  for (size_t i = 1, sum = 0; i <= moments; i++) sum += starts[i - 1], starts[i - 1] = (uint32_t)(sum - starts[i - 1]);
  int status = TTM_OK;
  for (size_t i = 0; i < n && !status; i++) status = ttm_vec_push(&t->by_end, 0);
  for (uint32_t i = 0; i < t->held.rows.n && !status; i++) {
    const ttm_occupant *o = &t->held.rows.at[i];
    if (o->to > o->from) t->by_end.at[starts[o->to]++] = i;
  }
  ttm_free(starts);
  return status;
}

/* ---- All of it ---------------------------------------------------------------------------------------------------------------- */

static void tell_tracks(telling *t) {
  t->sink->track(t->sink, programs_of(t));
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    if (!t->f->peak[m].known || !t->f->peak[m].level.allocated) continue;
    t->sink->track(t->sink, (ttm_track){.rank = t->rank, .kind = TTM_TRACK_ALLOCATED, .memory = m});
    if (ttm_blocks_known(t->p))
      t->sink->track(t->sink, (ttm_track){.rank = t->rank, .kind = TTM_TRACK_LARGEST, .memory = m});
  }
}

static int tell_note(telling *t, ttm_buf *words) {
  ttm_trace_facts facts = {.index = TTM_NONE};
  int status = words->failed ? TTM_ENOMEM : TTM_OK;
  if (!status) t->sink->instant(t->sink, programs_of(t), 0, ttm_buf_str(words), &facts);
  ttm_buf_free(words);
  return status;
}

/* What to know of the whole stands at the beginning: how exact the times are, and that ranks are left out. */
static int tell_notes(telling *t) {
  ttm_buf times = {0}, ranks = {0};
  int status = TTM_OK;
  if (t->rank) return TTM_OK;
  if (t->sink->times->source != TTM_TIMES_NONE) {
    ttm_times_say(&times, t->sink->times, t->p);
    status = tell_note(t, &times);
  }
  if (t->p->ranks.n > MOST_RANKS && !status) {
    ttm_buf_printf(&ranks, "Ranks: the first %d of %zu", MOST_RANKS, t->p->ranks.n);
    status = tell_note(t, &ranks);
  }
  return status;
}

static int tell_rank(telling *t) {
  const ttm_profile *p = t->p;
  int status = TTM_OK;
  if (ttm_occupancy_possible(p)) status = ttm_occupancy_make(&t->held, t->f, t->rank);
  if (!status) status = sort_ends(t);
  if (!status) tell_tracks(t);
  if (!status) status = tell_notes(t);
  for (uint32_t op = 0; op < p->ops.n && !status; op++) {
    uint32_t call = p->ops.at[op].call;
    if (call < p->calls.n && p->calls.at[call].rank != t->rank) continue;
    tell_states(t, op);
    status = tell_tensors(t, op);
    if (!status) status = tell_op(t, op);
    ttm_out_flow(t->sink->out);
  }
  leave_calls(t, (uint32_t)p->ops.n);
  tell_states(t, (uint32_t)p->ops.n);
  tell_incidents(t, (uint32_t)p->ops.n);
  if (!status) status = tell_tensors(t, (uint32_t)p->ops.n + 1);
  return status;
}

static void free_telling(telling *t) {
  ttm_occupancy_free(&t->held);
  ttm_vec_free(&t->by_end);
  ttm_vec_free(&t->path);
  ttm_free(t->lane_of);
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) ttm_vec_free(&t->free_lanes[m]);
}

int ttm_trace(ttm_trace_sink *sink, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  int status = TTM_OK;
  for (uint32_t rank = 0; (rank == 0 || (rank < p->ranks.n && rank < MOST_RANKS)) && !status; rank++) {
    telling t = {.sink = sink, .f = f, .p = p, .rank = rank, .call = TTM_NONE};
    status = tell_rank(&t);
    free_telling(&t);
  }
  return status;
}
