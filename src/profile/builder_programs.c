/* SPDX-License-Identifier: Apache-2.0 */
/* Program runs: nesting, unwinding after a failure, and which compiled graph a run belongs to. */
#include "profile/builder.h"

#include <stdlib.h>

/* ---- Starting and finishing ----------------------------------------------------------------------------------------- */

static int push_frame(ttm_builder *b, ttm_stream *s, const ttm_frame *frame) {
  ttm_profile *p = b->profile;
  if (ttm_vec_push(&p->frames, *frame)) return TTM_ENOMEM;
  ttm_scope *scope = &s->scopes[s->depth++];
  scope->frame = (uint32_t)(p->frames.n - 1);
  scope->first_tensor = (uint32_t)p->tensors.n;
  scope->cache_key = s->cache_key;
  ttm_idmap_clear(&scope->values);
  return TTM_OK;
}

/* A top-level program begins; `name` 0 when nothing tells its name. */
static int push_top(ttm_builder *b, ttm_stream *s, uint32_t name, uint32_t line) {
  ttm_profile *p = b->profile;
  ttm_frame frame = {.name = name,
                     .parent = TTM_NONE,
                     .caller = TTM_NONE,
                     .rank = s->rank,
                     .run = s->runs++,
                     .graph = TTM_NONE,
                     .first_op = TTM_NONE,
                     .last_op = TTM_NONE,
                     .first_line = line,
                     .last_line = line,
                     .before = s->submit,
                     .after = TTM_NONE};
  s->submit = TTM_NONE;
  if (push_frame(b, s, &frame)) return TTM_ENOMEM;
  s->last_top = s->scopes[0].frame;
  return ttm_vec_push(&p->runs, s->last_top);
}

static bool is_const_eval(ttm_view name) { return ttm_view_contains(name, TTM_LIT("const_eval")); }

/* Can this operation run a program of this name inside? */
static bool can_call(const ttm_profile *p, uint32_t op, ttm_view name) {
  const ttm_text *text = ttm_op_text_of(p, op);
  if (text->callee) return ttm_view_eq(ttm_profile_string(p, text->callee), name) || text->kind != TTM_OP_LOAD_CACHED;
  if (text->kind == TTM_OP_LOAD_CACHED) return is_const_eval(name);
  return ttm_view_contains(ttm_profile_string(p, text->name), text->synthetic ? TTM_LIT("Trace") : TTM_LIT("trace"));
}

/* A failed program leaves no Finished line, so a program that nobody called is a new top-level one. Const-eval programs never
 * are: when the operation that called one was lost, it still runs inside the program around it. */
int ttm_program_start(ttm_builder *b, ttm_stream *s, ttm_view name, uint32_t line) {
  ttm_profile *p = b->profile;
  uint32_t id;
  if (ttm_state_commit(b, s) || ttm_intern_add(&p->strings, name, &id)) return TTM_ENOMEM;
  bool called = s->depth > 0 && s->pending != TTM_NONE && can_call(p, s->pending, name);
  int rc = called ? TTM_OK : ttm_op_complete(b, s);
  if (rc) return rc;
  if (s->depth == TTM_MAX_DEPTH || s->depth == 0 || !(called || is_const_eval(name)))
    return (rc = ttm_program_unwind(b, s)) ? rc : push_top(b, s, id, line);

  uint32_t parent = s->scopes[s->depth - 1].frame;
  ttm_frame frame = p->frames.at[parent];
  frame.name = id;
  frame.parent = parent;
  frame.caller = s->pending;
  frame.first_op = frame.last_op = frame.before = frame.after = TTM_NONE;
  frame.first_line = frame.last_line = line;
  frame.const_eval = frame.const_eval || is_const_eval(name);
  frame.cache_miss = frame.const_eval && s->missed == id;
  frame.finished = false;
  s->pending = TTM_NONE; /* comes back when this program is done */
  return push_frame(b, s, &frame);
}

/* Tensors made in the program and not freed: a const-eval program returns exactly these. */
static int collect_survivors(ttm_builder *b, ttm_stream *s, const ttm_scope *scope, uint32_t caller) {
  ttm_profile *p = b->profile;
  s->survivors.n = 0;
  s->survivors_of = caller;
  for (uint32_t t = scope->first_tensor; t < p->tensors.n; t++) {
    const ttm_tensor *tensor = &p->tensors.at[t];
    if (tensor->self != t || tensor->freed_by != TTM_NONE || p->ops.at[tensor->birth].frame != scope->frame) continue;
    if (ttm_vec_push(&s->survivors, t)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Leaves the innermost program; the operation that called it is pending again. */
static int pop(ttm_builder *b, ttm_stream *s) {
  ttm_scope *scope = &s->scopes[s->depth - 1];
  ttm_frame *frame = &b->profile->frames.at[scope->frame];
  uint32_t caller = frame->caller;
  if (caller != TTM_NONE && frame->const_eval && collect_survivors(b, s, scope, caller)) return TTM_ENOMEM;
  s->depth--;
  s->pending = caller;
  s->cache_key = scope->cache_key;
  return TTM_OK;
}

int ttm_program_finish(ttm_builder *b, ttm_stream *s, ttm_view name, uint32_t line) {
  ttm_profile *p = b->profile;
  int rc;
  if ((rc = ttm_state_commit(b, s))) return rc;
  uint32_t id = ttm_intern_find(&p->strings, name);
  uint32_t depth = s->depth;
  while (depth > 0 && p->frames.at[s->scopes[depth - 1].frame].name != id) depth--;
  if (depth == 0) return TTM_OK; /* its start was not seen */
  while (s->depth >= depth) {
    if ((rc = ttm_op_complete(b, s))) return rc;
    ttm_frame *frame = &p->frames.at[s->scopes[s->depth - 1].frame];
    frame->last_line = line;
    frame->finished = s->depth == depth;
    if ((rc = pop(b, s))) return rc;
  }
  return TTM_OK;
}

int ttm_program_unwind(ttm_builder *b, ttm_stream *s) {
  int rc;
  while (s->depth > 0) {
    if ((rc = ttm_op_complete(b, s)) || (rc = pop(b, s))) return rc;
    /* What called an unfinished program never got its results. */
    if (s->pending != TTM_NONE) b->profile->ops.at[s->pending].flags |= TTM_OP_FAILED;
  }
  s->pending = TTM_NONE;
  return TTM_OK;
}

int ttm_program_current(ttm_builder *b, ttm_stream *s, uint32_t line, ttm_scope **out) {
  if (s->depth == 0 && push_top(b, s, 0, line)) return TTM_ENOMEM;
  *out = &s->scopes[s->depth - 1];
  return TTM_OK;
}

/* Without Starting lines (INFO level) a submit block is all that tells of a run. */
static int start_submitted(ttm_builder *b, ttm_stream *s) {
  return s->submit == TTM_NONE ? TTM_OK : push_top(b, s, 0, b->profile->states.at[s->submit].line);
}

int ttm_program_end_all(ttm_builder *b, ttm_stream *s) {
  int rc;
  if ((rc = ttm_op_complete(b, s)) || (rc = ttm_program_unwind(b, s)) || (rc = start_submitted(b, s))) return rc;
  return ttm_program_unwind(b, s);
}

int ttm_program_submit(ttm_builder *b, ttm_stream *s, bool before, uint32_t line) {
  int rc;
  if ((rc = ttm_state_commit(b, s))) return rc;
  if (before) {
    rc = ttm_program_end_all(b, s);
    return rc ? rc : ttm_state_begin(b, s, TTM_STATE_BEFORE_SUBMIT, line);
  }
  ttm_profile *p = b->profile;
  if ((rc = ttm_op_complete(b, s)) || (rc = start_submitted(b, s))) return rc;
  if (s->depth > 0) {
    ttm_frame *top = &p->frames.at[s->scopes[0].frame];
    top->last_line = line;
    top->finished = top->finished || top->name == 0;
    if ((rc = ttm_program_unwind(b, s))) return rc;
  }
  return ttm_state_begin(b, s, TTM_STATE_AFTER_SUBMIT, line);
}

/* ---- Which graph ---------------------------------------------------------------------------------------------------- */

enum { LOOKED_AT_OPS = 200, LOOKED_AT_GRAPHS = 16 };

static bool has_hash(const ttm_graph *g, uint64_t hash) {
  size_t low = 0, high = g->loc_hashes.n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (g->loc_hashes.at[middle] < hash) low = middle + 1;
    else high = middle;
  }
  return low < g->loc_hashes.n && g->loc_hashes.at[low] == hash;
}

/* How many of the run's first operations stand in the graph's dump. */
static uint32_t common_locations(const ttm_profile *p, const ttm_frame *frame, uint32_t id, const ttm_graph *g) {
  uint32_t common = 0, looked = 0;
  for (uint32_t op = frame->first_op; op <= frame->last_op && looked < LOOKED_AT_OPS; op++) {
    if (p->ops.at[op].frame != id) continue;
    ttm_view location = ttm_profile_string(p, ttm_op_text_of(p, op)->location);
    looked++;
    common += location.n && has_hash(g, ttm_hash_bytes(location.p, location.n).lo);
  }
  return common;
}

/* The newest graph dumped before the run that shares most locations with it. */
static uint32_t best_graph(const ttm_profile *p, const ttm_frame *frame, uint32_t id) {
  uint32_t best = TTM_NONE, best_common = 0, looked = 0;
  for (uint32_t g = (uint32_t)p->graphs.n; g-- > 0 && looked < LOOKED_AT_GRAPHS;) {
    const ttm_graph *graph = &p->graphs.at[g];
    if (graph->rank != frame->rank || (graph->dumps.n && graph->dumps.at[0].first_line > frame->first_line)) continue;
    looked++;
    uint32_t common = frame->first_op == TTM_NONE ? 0 : common_locations(p, frame, id, graph);
    if (best != TTM_NONE && common <= best_common) continue;
    best = g;
    best_common = common;
  }
  return best;
}

/* A run of the same operations as an earlier run belongs to the same graph: the hash of its first texts tells. */
static uint32_t run_signature(const ttm_profile *p, const ttm_frame *frame, uint32_t id) {
  uint64_t h = frame->name;
  uint32_t looked = 0;
  if (frame->first_op != TTM_NONE)
    for (uint32_t op = frame->first_op; op <= frame->last_op && looked < LOOKED_AT_OPS; op++) {
      if (p->ops.at[op].frame != id) continue;
      h = ttm_hash_mix(h ^ p->ops.at[op].text, UINT64_C(0x9e3779b97f4a7c15));
      looked++;
    }
  return (uint32_t)h;
}

int ttm_program_link_graphs(ttm_builder *b) {
  ttm_profile *p = b->profile;
  if (p->graphs.n == 0) return TTM_OK;
  ttm_idmap known = {0};
  int rc = TTM_OK;
  for (size_t r = 0; r < p->runs.n && !rc; r++) {
    uint32_t id = p->runs.at[r];
    uint32_t signature = run_signature(p, &p->frames.at[id], id);
    uint32_t graph = ttm_idmap_get(&known, signature, TTM_NONE);
    if (graph == TTM_NONE) {
      graph = best_graph(p, &p->frames.at[id], id);
      if (graph != TTM_NONE) rc = ttm_idmap_set(&known, signature, graph);
    }
    p->frames.at[id].graph = graph;
  }
  for (size_t f = 0; f < p->frames.n; f++)
    if (p->frames.at[f].parent != TTM_NONE) p->frames.at[f].graph = p->frames.at[p->frames.at[f].parent].graph;
  ttm_idmap_free(&known);
  return rc;
}
