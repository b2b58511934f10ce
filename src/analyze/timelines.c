/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/timelines.h"

#include "analyze/align.h"
#include "analyze/parts.h"
#include "analyze/words.h"

/* Operations of one run, or of none. */
typedef struct stretch {
  uint32_t first, end;
} stretch;

typedef struct side {
  const ttm_profile *p;
  const uint32_t *row_of;
  TTM_VEC(uint32_t) ops; /* elements of the rank */
  TTM_VEC(stretch) stretches;
  TTM_VEC(uint32_t) keys; /* of the stretches: the first row that both logs have; 0 for none */
} side;

typedef struct weaver {
  const ttm_diff *diff;
  side sides[2];
  uint32_t *match; /* by operation before: the one after, TTM_NONE */
} weaver;

/* ---- Sequences ------------------------------------------------------------------------------------------------------ */

/* The row of the side's operation at `at` when both logs have it in their order, else TTM_NONE. Those of a run rise. */
static uint32_t common_row(const weaver *w, const side *s, uint32_t at) {
  uint32_t id = s->row_of[s->ops.at[at]];
  const ttm_diff_row *row = id == TTM_NONE ? NULL : &w->diff->rows.at[id];
  return !row || row->kind == TTM_DIFF_MOVED || row->op[0] == TTM_NONE || row->op[1] == TTM_NONE ? TTM_NONE : id;
}

static uint32_t run_of(const ttm_profile *p, uint32_t op) {
  uint32_t call = p->ops.at[op].call;
  return call < p->calls.n ? ttm_call_top(p, call) : TTM_NONE;
}

static int list_ops(side *s, uint32_t rank) {
  uint32_t run = 0;
  for (uint32_t op = 0; op < s->p->ops.n; op++) {
    if (!ttm_op_is_element(s->p, op) || ttm_op_rank(s->p, op) != rank) continue;
    uint32_t own = run_of(s->p, op), at = (uint32_t)s->ops.n;
    if ((!at || own != run) && ttm_vec_push(&s->stretches, (stretch){at, at})) return TTM_ENOMEM;
    run = own;
    if (ttm_vec_push(&s->ops, op)) return TTM_ENOMEM;
    s->stretches.at[s->stretches.n - 1].end = at + 1;
  }
  return TTM_OK;
}

static int key_stretches(const weaver *w, side *s) {
  for (size_t i = 0; i < s->stretches.n; i++) {
    uint32_t key = TTM_NONE;
    for (uint32_t at = s->stretches.at[i].first; at < s->stretches.at[i].end && key == TTM_NONE; at++)
      key = common_row(w, s, at);
    if (ttm_vec_push(&s->keys, key == TTM_NONE ? 0 : key + 1)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int read_side(weaver *w, int which, uint32_t rank) {
  side *s = &w->sides[which];
  s->p = w->diff->f[which]->profile;
  s->row_of = w->diff->row_of[which];
  int status = list_ops(s, rank);
  return status ? status : key_stretches(w, s);
}

/* ---- Matching ------------------------------------------------------------------------------------------------------- */

/* Between two matches: operations of const-eval programs, in order, as long as they have the same names. */
static void match_others(const weaver *w, stretch a, stretch b) {
  const side *before = &w->sides[0], *after = &w->sides[1];
  while (a.first < a.end && b.first < b.end) {
    uint32_t x = before->ops.at[a.first], y = after->ops.at[b.first];
    if (before->row_of[x] != TTM_NONE)
      a.first++;
    else if (after->row_of[y] != TTM_NONE)
      b.first++;
    else if (!ttm_str_eq(ttm_words_name(before->p, x), ttm_words_name(after->p, y)))
      return;
    else
      w->match[a.first++] = b.first++;
  }
}

static void match_stretches(const weaver *w, stretch a, stretch b) {
  uint32_t j = b.first;
  stretch left = a, right = b; /* behind the last match */
  for (uint32_t i = a.first; i < a.end; i++) {
    uint32_t row = common_row(w, &w->sides[0], i), other = TTM_NONE;
    if (row == TTM_NONE) continue;
    for (; j < b.end; j++) {
      other = common_row(w, &w->sides[1], j);
      if (other != TTM_NONE && other >= row) break;
    }
    if (j == b.end || other != row) continue;
    match_others(w, (stretch){left.first, i}, (stretch){right.first, j});
    w->match[i] = j++;
    left.first = i + 1, right.first = j;
  }
  match_others(w, left, right);
}

/* Runs first, then what is in them: one run more must not shift those behind it. */
static int match_sides(weaver *w) {
  side *before = &w->sides[0], *after = &w->sides[1];
  uint32_t *runs = ttm_alloc_array(before->stretches.n, sizeof *runs);
  w->match = ttm_alloc_array(before->ops.n, sizeof *w->match);
  int status = runs && w->match ? TTM_OK : TTM_ENOMEM;
  for (size_t i = 0; i < before->ops.n && !status; i++) w->match[i] = TTM_NONE;
  if (!status)
    status = ttm_align((ttm_sequence){before->keys.at, (uint32_t)before->keys.n},
                       (ttm_sequence){after->keys.at, (uint32_t)after->keys.n}, (uint32_t)w->diff->rows.n + 1, runs);
  for (size_t i = 0; i < before->stretches.n && !status; i++)
    if (runs[i] != TTM_NONE) match_stretches(w, before->stretches.at[i], after->stretches.at[runs[i]]);
  ttm_free(runs);
  return status;
}

/* ---- Places --------------------------------------------------------------------------------------------------------- */

static int weave(const weaver *w, ttm_timelines *out) {
  const side *before = &w->sides[0], *after = &w->sides[1];
  uint32_t j = 0, end = (uint32_t)after->ops.n;
  int status = TTM_OK;
  for (uint32_t i = 0; i <= before->ops.n && !status; i++) {
    uint32_t mate = i < before->ops.n ? w->match[i] : end;
    for (; mate != TTM_NONE && j < mate && !status; j++)
      status = ttm_vec_push(&out->at, ((ttm_timeline_place){{TTM_NONE, after->ops.at[j]}}));
    if (i == before->ops.n || status) break;
    status = ttm_vec_push(
        &out->at, ((ttm_timeline_place){{before->ops.at[i], mate == TTM_NONE ? TTM_NONE : after->ops.at[mate]}}));
    if (mate != TTM_NONE) j = mate + 1;
  }
  return status;
}

/* ---- Levels --------------------------------------------------------------------------------------------------------- */

/* From an operation to the next one of its rank: the first and the highest state. -1: none. */
typedef struct span {
  int32_t first, highest;
} span;

static bool has_begun(const ttm_profile *p, uint32_t op, const ttm_state *state) {
  return state->op < p->ops.n ? op <= state->op : p->ops.at[op].line <= state->line;
}

/* States before the first operation count as its own. */
static void read_spans(const side *s, uint32_t rank, ttm_memory memory, span *spans) {
  size_t at = 0;
  for (size_t i = 0; i < s->ops.n; i++) spans[i] = (span){-1, -1};
  for (uint32_t i = 0; i < s->p->states.n && s->ops.n; i++) {
    uint32_t value;
    if (ttm_state_rank(s->p, i) != rank) continue;
    while (at + 1 < s->ops.n && has_begun(s->p, s->ops.at[at + 1], &s->p->states.at[i])) at++;
    if (!ttm_state_allocated(s->p, i, memory, &value) || value > INT32_MAX) continue;
    if (spans[at].first < 0) spans[at].first = (int32_t)value;
    if ((int32_t)value > spans[at].highest) spans[at].highest = (int32_t)value;
  }
}

static int put_levels(const weaver *w, int which, uint32_t rank, ttm_memory memory, ttm_timelines *out) {
  const side *s = &w->sides[which];
  span *spans = ttm_alloc_array(s->ops.n, sizeof *spans);
  int32_t *level = out->level[which][memory] = ttm_alloc_array(out->at.n, sizeof *level);
  size_t next = 0;
  if (spans && level) read_spans(s, rank, memory, spans);
  for (size_t i = 0; i < out->at.n && spans && level; i++) {
    bool here = out->at.at[i].op[which] != TTM_NONE;
    level[i] = here ? spans[next].highest : next < s->ops.n ? spans[next].first : -1;
    next += here;
  }
  ttm_free(spans);
  return spans && level ? TTM_OK : TTM_ENOMEM;
}

/* ---- All of it ------------------------------------------------------------------------------------------------------ */

int ttm_timelines_make(ttm_timelines *out, const ttm_diff *diff, uint32_t rank) {
  weaver w = {.diff = diff};
  *out = (ttm_timelines){0};
  int status = read_side(&w, 0, rank);
  if (!status) status = read_side(&w, 1, rank);
  if (!status) status = match_sides(&w);
  if (!status) status = weave(&w, out);
  for (int s = 0; s < 2; s++) {
    for (ttm_memory m = 0; m < TTM_MEMORIES && !status; m++) status = put_levels(&w, s, rank, m, out);
    ttm_vec_free(&w.sides[s].ops);
    ttm_vec_free(&w.sides[s].stretches);
    ttm_vec_free(&w.sides[s].keys);
  }
  ttm_free(w.match);
  return status;
}

void ttm_timelines_free(ttm_timelines *timelines) {
  for (int s = 0; s < 2; s++)
    for (int m = 0; m < TTM_MEMORIES; m++) ttm_free(timelines->level[s][m]);
  ttm_vec_free(&timelines->at);
  *timelines = (ttm_timelines){0};
}
