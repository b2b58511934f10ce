/* SPDX-License-Identifier: Apache-2.0 */
/* Program runs: nesting, unwinding after a failure, and which compiled graph a run belongs to. */
#include "profile/builder.h"

#include <stdlib.h>

/* ---- Starting and finishing ----------------------------------------------------------------------------------------- */

static int push_call(ttm_builder *b, ttm_stream *s, const ttm_call *call) {
  ttm_profile *p = b->profile;
  if (ttm_vec_push(&p->calls, *call)) return TTM_ENOMEM;
  ttm_scope *scope = &s->scopes[s->depth++];
  scope->call = (uint32_t)(p->calls.n - 1);
  scope->first_tensor = (uint32_t)p->tensors.n;
  scope->cache_key = s->cache_key;
  ttm_map_clear(&scope->values);
  return TTM_OK;
}

/* A top-level program begins; `name` 0 when nothing tells its name. */
static int push_top(ttm_builder *b, ttm_stream *s, uint32_t name, uint32_t line) {
  ttm_profile *p = b->profile;
  ttm_call call = {.name = name,
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
  if (push_call(b, s, &call)) return TTM_ENOMEM;
  s->last_top = s->scopes[0].call;
  return ttm_vec_push(&p->runs, s->last_top);
}

static bool is_const_eval(ttm_str name) { return ttm_str_contains(name, TTM_LIT("const_eval")); }

/* Can this operation run a program of this name inside? */
static bool can_call(const ttm_profile *p, uint32_t op, ttm_str name) {
  const ttm_op_text *text = ttm_op_text_of(p, op);
  if (text->callee) return ttm_str_eq(ttm_profile_string(p, text->callee), name) || text->kind != TTM_OP_LOAD_CACHED;
  if (text->kind == TTM_OP_LOAD_CACHED) return is_const_eval(name);
  return ttm_str_contains(ttm_profile_string(p, text->name), text->synthetic ? TTM_LIT("Trace") : TTM_LIT("trace"));
}

/* A failed program leaves no Finished line, so a program that nobody called is a new top-level one. Const-eval programs never
 * are: when the operation that called one was lost, it still runs inside the program around it. */
int ttm_program_start(ttm_builder *b, ttm_stream *s, ttm_str name, uint32_t line) {
  ttm_profile *p = b->profile;
  uint32_t id;
  if (ttm_state_commit(b, s) || ttm_intern_add(&p->strings, name, &id)) return TTM_ENOMEM;
  bool called = s->depth > 0 && s->pending != TTM_NONE && can_call(p, s->pending, name);
  int rc = called ? TTM_OK : ttm_op_complete(b, s);
  if (rc) return rc;
  if (s->depth == TTM_MAX_DEPTH || s->depth == 0 || !(called || is_const_eval(name)))
    return (rc = ttm_program_unwind(b, s)) ? rc : push_top(b, s, id, line);

  uint32_t parent = s->scopes[s->depth - 1].call;
  ttm_call call = p->calls.at[parent];
  call.name = id;
  call.parent = parent;
  call.caller = s->pending;
  call.first_op = call.last_op = call.before = call.after = TTM_NONE;
  call.signature = 0;
  call.first_line = call.last_line = line;
  call.const_eval = call.const_eval || is_const_eval(name);
  call.cache_miss = call.const_eval && s->missed == id;
  call.finished = false;
  s->pending = TTM_NONE; /* comes back when this program is done */
  return push_call(b, s, &call);
}

/* Tensors made in the program and not freed: a const-eval program returns exactly these. */
static int collect_survivors(ttm_builder *b, ttm_stream *s, const ttm_scope *scope, uint32_t caller) {
  ttm_profile *p = b->profile;
  s->survivors.n = 0;
  s->survivors_of = caller;
  for (uint32_t t = scope->first_tensor; t < p->tensors.n; t++) {
    const ttm_tensor *tensor = &p->tensors.at[t];
    if (tensor->self != t || tensor->freed_by != TTM_NONE || p->ops.at[tensor->birth].call != scope->call) continue;
    if (ttm_vec_push(&s->survivors, t)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Leaves the innermost program; the operation that called it is pending again. */
static int pop(ttm_builder *b, ttm_stream *s) {
  ttm_scope *scope = &s->scopes[s->depth - 1];
  ttm_call *call = &b->profile->calls.at[scope->call];
  uint32_t caller = call->caller;
  if (caller != TTM_NONE && call->const_eval && collect_survivors(b, s, scope, caller)) return TTM_ENOMEM;
  s->depth--;
  s->pending = caller;
  s->cache_key = scope->cache_key;
  return TTM_OK;
}

int ttm_program_finish(ttm_builder *b, ttm_stream *s, ttm_str name, uint32_t line) {
  ttm_profile *p = b->profile;
  int rc;
  if ((rc = ttm_state_commit(b, s))) return rc;
  uint32_t id = ttm_intern_find(&p->strings, name);
  uint32_t depth = s->depth;
  while (depth > 0 && p->calls.at[s->scopes[depth - 1].call].name != id) depth--;
  if (depth == 0) return TTM_OK; /* its start was not seen */
  while (s->depth >= depth) {
    if ((rc = ttm_op_complete(b, s))) return rc;
    ttm_call *call = &p->calls.at[s->scopes[s->depth - 1].call];
    call->last_line = line;
    call->finished = s->depth == depth;
    if ((rc = pop(b, s))) return rc;
  }
  return TTM_OK;
}

void ttm_program_sign(ttm_builder *b, ttm_stream *s, uint32_t id) {
  if (s->depth == 0) return;
  uint64_t *signature = &b->profile->calls.at[s->scopes[s->depth - 1].call].signature;
  *signature = ttm_hash_mix(*signature ^ id, UINT64_C(0x9e3779b97f4a7c15)) + 1;
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
    ttm_call *top = &p->calls.at[s->scopes[0].call];
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
    if (g->loc_hashes.at[middle] < hash)
      low = middle + 1;
    else
      high = middle;
  }
  return low < g->loc_hashes.n && g->loc_hashes.at[low] == hash;
}

/* How many of the run's first operations stand in the graph's dump. */
static uint32_t common_locations(const ttm_profile *p, const ttm_call *call, uint32_t id, const ttm_graph *g) {
  uint64_t seed = ttm_hash_seed();
  uint32_t common = 0, looked = 0;
  for (uint32_t op = call->first_op; op <= call->last_op && looked < LOOKED_AT_OPS; op++) {
    if (p->ops.at[op].call != id) continue;
    ttm_str location = ttm_profile_string(p, ttm_op_text_of(p, op)->location);
    looked++;
    common += location.n && has_hash(g, ttm_hash(location.p, location.n, seed));
  }
  return common;
}

/* What is known of the runs linked so far. */
typedef struct links {
  bool *has_run;           /* per graph */
  uint32_t *graph_of_text; /* per text; of the rank at hand */
  ttm_map by_signature;    /* signature -> first run with it */
  /* The runs of each rank, by their place in the profile's runs, and its graphs, newest first: TTM_NONE ends them. There may be tens of
   * thousands of ranks, so that looking through all for each would take forever. */
  uint32_t *first_run, *next_run, *newest_graph, *older_graph;
} links;

/* The graph dumped before the run that shares most locations with it; of equal ones the newest. */
static uint32_t best_graph(const ttm_profile *p, const ttm_call *call, uint32_t id, const links *l) {
  uint32_t best = TTM_NONE, best_common = 0, looked = 0;
  for (uint32_t g = l->newest_graph[call->rank]; g != TTM_NONE && looked < LOOKED_AT_GRAPHS; g = l->older_graph[g]) {
    const ttm_graph *graph = &p->graphs.at[g];
    if (graph->dumps.n && graph->dumps.at[0].first_line > call->first_line) continue;
    looked++;
    uint32_t common = call->first_op == TTM_NONE ? 0 : common_locations(p, call, id, graph);
    if (best != TTM_NONE && common <= best_common) continue;
    best = g;
    best_common = common;
  }
  return best;
}

/* The graphs whose runs showed an operation text: one of them, TTM_NONE, or several. */
#define SEVERAL (UINT32_MAX - 1)

/* Runs of one graph print the same texts: a run most of whose texts are known belongs to the graph most of them point to.
 * TTM_NONE when they say nothing. */
static uint32_t known_graph(const ttm_profile *p, const ttm_call *call, uint32_t id, const uint32_t *graph_of_text) {
  uint32_t best = TTM_NONE, votes = 0, looked = 0, known = 0;
  if (call->first_op == TTM_NONE) return TTM_NONE;
  /* The majority, if there is one, is what is left after pairing off different votes. */
  for (uint32_t op = call->first_op; op <= call->last_op && looked < LOOKED_AT_OPS; op++) {
    if (p->ops.at[op].call != id) continue;
    looked++;
    uint32_t graph = graph_of_text[p->ops.at[op].text];
    known += graph != TTM_NONE;
    if (graph >= SEVERAL) continue;
    if (votes == 0) best = graph;
    votes = graph == best ? votes + 1 : votes - 1;
  }
  return votes && known * 2 >= looked ? best : TTM_NONE;
}

/* What a load_cached takes from the cache was made by an earlier run of the same graph. TTM_NONE when none of the first ones tells. */
static uint32_t cached_graph(const ttm_profile *p, const ttm_call *call, uint32_t id) {
  uint32_t looked = 0;
  if (call->first_op == TTM_NONE) return TTM_NONE;
  for (uint32_t op = call->first_op; op <= call->last_op && looked < LOOKED_AT_OPS; op++) {
    const ttm_op *row = &p->ops.at[op];
    if (row->call != id) continue;
    looked++;
    if (!(row->flags & TTM_OP_CACHE_HIT) || row->tensor == TTM_NONE) continue;
    uint32_t self = p->tensors.at[row->tensor].self;
    if (self == row->tensor || self == TTM_NONE) continue;
    uint32_t maker = ttm_call_top(p, p->ops.at[p->tensors.at[self].birth].call);
    if (maker != id && p->calls.at[maker].graph != TTM_NONE) return p->calls.at[maker].graph;
  }
  return TTM_NONE;
}

/* The run's texts belong to `graph`, or to nobody any more: TTM_NONE. */
static void remember_texts(const ttm_profile *p, const ttm_call *call, uint32_t id, uint32_t graph,
                           uint32_t *graph_of_text) {
  uint32_t looked = 0;
  if (call->first_op == TTM_NONE) return;
  for (uint32_t op = call->first_op; op <= call->last_op && looked < LOOKED_AT_OPS; op++) {
    if (p->ops.at[op].call != id) continue;
    looked++;
    uint32_t *known = &graph_of_text[p->ops.at[op].text];
    *known = *known == TTM_NONE || *known == graph || graph == TTM_NONE ? graph : SEVERAL;
  }
}

/* A graph is compiled to be run, so the first run after its dump is its own unless its operations say otherwise. */
static uint32_t graph_of_run(const ttm_profile *p, uint32_t run, const links *l) {
  const ttm_call *call = &p->calls.at[run];
  uint32_t best = best_graph(p, call, run, l);
  if (best == TTM_NONE || !l->has_run[best]) return best;
  uint32_t known = known_graph(p, call, run, l->graph_of_text);
  if (known == TTM_NONE) known = cached_graph(p, call, run);
  return known != TTM_NONE ? known : best;
}

/* Every rank dumps its own graphs, with the same texts in them. */
static int link_rank(ttm_profile *p, uint32_t rank, links *l) {
  ttm_map_clear(&l->by_signature);
  for (uint32_t r = l->first_run[rank]; r != TTM_NONE; r = l->next_run[r]) {
    uint32_t run = p->runs.at[r];
    ttm_call *call = &p->calls.at[run];
    /* The same signature as an earlier run means the same graph, and the same texts, which are remembered already. */
    uint32_t alike = ttm_map_get(&l->by_signature, call->signature, TTM_NONE);
    if (alike != TTM_NONE) {
      call->graph = p->calls.at[alike].graph;
      continue;
    }
    call->graph = graph_of_run(p, run, l);
    if (call->graph == TTM_NONE) continue;
    l->has_run[call->graph] = true;
    remember_texts(p, call, run, call->graph, l->graph_of_text);
    if (ttm_map_set(&l->by_signature, call->signature, run)) return TTM_ENOMEM;
  }
  for (uint32_t r = l->first_run[rank]; r != TTM_NONE; r = l->next_run[r])
    remember_texts(p, &p->calls.at[p->runs.at[r]], p->runs.at[r], TTM_NONE, l->graph_of_text);
  return TTM_OK;
}

static uint32_t *make_nones(size_t n) {
  uint32_t *out = ttm_realloc(NULL, (n + 1) * sizeof *out);
  if (out) memset(out, 0xff, (n + 1) * sizeof *out);
  return out;
}

static int chain_ranks(const ttm_profile *p, links *l) {
  l->first_run = make_nones(p->ranks.n);
  l->next_run = make_nones(p->runs.n);
  l->newest_graph = make_nones(p->ranks.n);
  l->older_graph = make_nones(p->graphs.n);
  if (!l->first_run || !l->next_run || !l->newest_graph || !l->older_graph) return TTM_ENOMEM;
  for (size_t r = p->runs.n; r-- > 0;) {
    uint32_t *first = &l->first_run[p->calls.at[p->runs.at[r]].rank];
    l->next_run[r] = *first;
    *first = (uint32_t)r;
  }
  for (uint32_t g = 0; g < p->graphs.n; g++) {
    uint32_t *newest = &l->newest_graph[p->graphs.at[g].rank];
    l->older_graph[g] = *newest;
    *newest = g;
  }
  return TTM_OK;
}

int ttm_program_link_graphs(ttm_builder *b) {
  ttm_profile *p = b->profile;
  if (p->graphs.n == 0) return TTM_OK;
  links l = {.has_run = ttm_alloc(p->graphs.n * sizeof *l.has_run), .graph_of_text = make_nones(p->texts.n)};
  int rc = l.has_run && l.graph_of_text ? chain_ranks(p, &l) : TTM_ENOMEM;
  for (uint32_t rank = 0; rank < p->ranks.n && !rc; rank++)
    if (l.newest_graph[rank] != TTM_NONE) rc = link_rank(p, rank, &l);
  for (size_t f = 0; f < p->calls.n; f++)
    if (p->calls.at[f].parent != TTM_NONE) p->calls.at[f].graph = p->calls.at[p->calls.at[f].parent].graph;
  ttm_free(l.has_run);
  ttm_free(l.graph_of_text);
  ttm_free(l.first_run);
  ttm_free(l.next_run);
  ttm_free(l.newest_graph);
  ttm_free(l.older_graph);
  ttm_map_free(&l.by_signature);
  return rc;
}
