/* SPDX-License-Identifier: Apache-2.0 */
/* Which compiled graph a run belongs to. */
#include "profile/builder.h"
#include "profile/run_ops.h"

enum { LOOKED_AT_OPS = 200, LOOKED_AT_GRAPHS = 16 };

/* The first operations of a run, without those of programs inside it. */
typedef struct first_ops {
  uint32_t run, n, at[LOOKED_AT_OPS];
} first_ops;

static first_ops first_ops_of(const ttm_profile *p, const ttm_run_ops *all, uint32_t run) {
  first_ops ops;
  ops.run = run;
  ops.n = 0;
  for (uint32_t op = all->first[run]; op != TTM_NONE && ops.n < LOOKED_AT_OPS; op = all->next[op])
    if (p->ops.at[op].call == run) ops.at[ops.n++] = op;
  return ops;
}

/* How many of them stand in the graph's dump. */
static uint32_t common_locations(const ttm_profile *p, const first_ops *ops, const ttm_graph *g) {
  uint32_t common = 0;
  for (uint32_t i = 0; i < ops->n; i++) {
    uint32_t location = ttm_op_text_of(p, ops->at[i])->location;
    common += location && ttm_map_get(&g->locations, location, 0);
  }
  return common;
}

/* What is known of the runs linked so far. */
typedef struct links {
  ttm_map by_signature;    /* signature -> first run with it */
  uint32_t *run_of_graph;  /* the last one, TTM_NONE */
  uint32_t *graph_of_text; /* of the rank at hand */
  /* The runs of each rank, by their place in the profile's runs, and its graphs, newest first: TTM_NONE ends them. There may be tens of
   * thousands of ranks, so that looking through all for each would take forever. */
  uint32_t *first_run, *next_run, *newest_graph, *older_graph;
  ttm_run_ops ops;
} links;

/* The graph dumped before the run that shares most locations with it; of equal ones the newest. */
static uint32_t best_graph(const ttm_profile *p, const first_ops *ops, const links *l) {
  const ttm_call *call = &p->calls.at[ops->run];
  uint32_t best = TTM_NONE, best_common = 0, looked = 0;
  for (uint32_t g = l->newest_graph[call->rank]; g != TTM_NONE && looked < LOOKED_AT_GRAPHS; g = l->older_graph[g]) {
    const ttm_graph *graph = &p->graphs.at[g];
    if (graph->dumps.n && graph->dumps.at[0].first_line > call->first_line) continue;
    looked++;
    uint32_t common = common_locations(p, ops, graph);
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
static uint32_t known_graph(const ttm_profile *p, const first_ops *ops, const uint32_t *graph_of_text) {
  uint32_t best = TTM_NONE, votes = 0, known = 0;
  /* The majority, if there is one, is what is left after pairing off different votes. */
  for (uint32_t i = 0; i < ops->n; i++) {
    uint32_t graph = graph_of_text[p->ops.at[ops->at[i]].text];
    known += graph != TTM_NONE;
    if (graph >= SEVERAL) continue;
    if (votes == 0) best = graph;
    votes = graph == best ? votes + 1 : votes - 1;
  }
  return votes && known * 2 >= ops->n ? best : TTM_NONE;
}

/* What a load_cached takes from the cache was made by an earlier run of the same graph. TTM_NONE when none of the first ones tells. */
static uint32_t cached_graph(const ttm_profile *p, const first_ops *ops) {
  for (uint32_t i = 0; i < ops->n; i++) {
    const ttm_op *row = &p->ops.at[ops->at[i]];
    if (!(row->flags & TTM_OP_CACHE_HIT) || row->tensor == TTM_NONE) continue;
    uint32_t self = p->tensors.at[row->tensor].self;
    if (self == row->tensor || self == TTM_NONE) continue;
    uint32_t maker = ttm_call_top(p, p->ops.at[p->tensors.at[self].birth].call);
    if (maker != ops->run && p->calls.at[maker].graph != TTM_NONE) return p->calls.at[maker].graph;
  }
  return TTM_NONE;
}

/* The run's texts belong to `graph`, or to nobody any more: TTM_NONE. */
static void remember_texts(const ttm_profile *p, const first_ops *ops, uint32_t graph, uint32_t *graph_of_text) {
  for (uint32_t i = 0; i < ops->n; i++) {
    uint32_t *known = &graph_of_text[p->ops.at[ops->at[i]].text];
    *known = *known == TTM_NONE || *known == graph || graph == TTM_NONE ? graph : SEVERAL;
  }
}

/* A graph is compiled to be run, so the first run after its dump is its own unless its operations say otherwise. */
static uint32_t graph_of_run(const ttm_profile *p, const first_ops *ops, const links *l) {
  uint32_t best = best_graph(p, ops, l);
  if (best == TTM_NONE || l->run_of_graph[best] == TTM_NONE) return best;
  uint32_t known = known_graph(p, ops, l->graph_of_text);
  if (known == TTM_NONE) known = cached_graph(p, ops);
  return known != TTM_NONE ? known : best;
}

/* Every rank dumps its own graphs, with the same texts in them. */
static int link_rank(ttm_profile *p, uint32_t rank, links *l) {
  ttm_map_clear(&l->by_signature);
  for (uint32_t r = l->first_run[rank]; r != TTM_NONE; r = l->next_run[r]) {
    uint32_t run = p->runs.at[r];
    ttm_call *call = &p->calls.at[run];
    /* The same signature as an earlier run means the same graph, and the same texts, which are remembered already. */
    uint32_t alike = call->first_op == TTM_NONE ? TTM_NONE : ttm_map_get(&l->by_signature, call->signature, TTM_NONE);
    if (alike != TTM_NONE) {
      call->graph = p->calls.at[alike].graph;
      continue;
    }
    first_ops ops = first_ops_of(p, &l->ops, run);
    call->graph = graph_of_run(p, &ops, l);
    if (call->graph == TTM_NONE) continue;
    l->run_of_graph[call->graph] = run;
    remember_texts(p, &ops, call->graph, l->graph_of_text);
    if (ttm_map_set(&l->by_signature, call->signature, run)) return TTM_ENOMEM;
  }
  for (uint32_t r = l->first_run[rank]; r != TTM_NONE; r = l->next_run[r]) {
    first_ops ops = first_ops_of(p, &l->ops, p->runs.at[r]);
    remember_texts(p, &ops, TTM_NONE, l->graph_of_text);
  }
  return TTM_OK;
}

/* All lists of `l` in one piece of memory, which begins with the first of them. */
static int make_lists(const ttm_profile *p, links *l) {
  size_t ranks = p->ranks.n, n = 2 * ranks + p->runs.n + 2 * p->graphs.n + p->texts.n;
  l->first_run = ttm_realloc(NULL, (n + 1) * sizeof *l->first_run);
  if (!l->first_run) return TTM_ENOMEM;
  memset(l->first_run, 0xff, n * sizeof *l->first_run);
  l->newest_graph = l->first_run + ranks;
  l->next_run = l->newest_graph + ranks;
  l->older_graph = l->next_run + p->runs.n;
  l->run_of_graph = l->older_graph + p->graphs.n;
  l->graph_of_text = l->run_of_graph + p->graphs.n;
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

int ttm_builder_link_graphs(ttm_builder *b) {
  ttm_profile *p = b->profile;
  if (p->graphs.n == 0) return TTM_OK;
  links l = {.first_run = NULL};
  int rc = make_lists(p, &l) || ttm_run_ops_make(&l.ops, p) ? TTM_ENOMEM : TTM_OK;
  for (uint32_t rank = 0; rank < p->ranks.n && !rc; rank++)
    if (l.newest_graph[rank] != TTM_NONE) rc = link_rank(p, rank, &l);
  for (size_t f = 0; f < p->calls.n; f++)
    if (p->calls.at[f].parent != TTM_NONE) p->calls.at[f].graph = p->calls.at[p->calls.at[f].parent].graph;
  ttm_free(l.first_run);
  ttm_run_ops_free(&l.ops);
  ttm_map_free(&l.by_signature);
  return rc;
}
