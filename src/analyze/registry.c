/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/fold.h"
#include "analyze/parts.h"
#include "base/checked.h"

/* What makes two arguments of different graphs the same one. Has no padding: it is interned as a string of bytes. */
typedef struct arg_key {
  uint32_t name, type_text, weight;
} arg_key;

static bool is_weight(const ttm_graph_arg *arg) {
  return arg->kind == TTM_ARG_PARAMETER || arg->kind == TTM_ARG_CONSTANT;
}

static const ttm_type *local_type(const ttm_profile *p, const ttm_graph_arg *arg) {
  return arg->local_type < p->types.n ? &p->types.at[arg->local_type] : NULL;
}

typedef TTM_VEC(uint32_t) graph_ids;

/* Whether an earlier graph has the argument too. `first_graphs` holds the graph in which each key was first seen. */
static int find_repeated(const ttm_profile *p, uint32_t graph, const ttm_graph_arg *arg, ttm_intern *keys,
                         graph_ids *first_graphs, bool *out) {
  const ttm_type *type = local_type(p, arg);
  arg_key key = {arg->name, type ? type->text : 0, is_weight(arg)};
  uint32_t id;
  *out = false;
  if (arg->name == 0) return TTM_OK;
  if (ttm_intern_add(keys, (ttm_str){(const char *)&key, sizeof key}, &id)) return TTM_ENOMEM;
  if (id >= first_graphs->n) {
    /* Ids count up from 1, so the row of a new key is at the end; row 0 stands for the empty string. */
    if (first_graphs->n == 0 && ttm_vec_push(first_graphs, TTM_NONE)) return TTM_ENOMEM;
    return ttm_vec_push(first_graphs, graph);
  }
  *out = first_graphs->at[id] < graph;
  return TTM_OK;
}

static int add_entry(ttm_registry *r, ttm_registry_entry entry) {
  if (!entry.repeated && entry.weight) {
    r->weights++;
    r->weight_bytes = ttm_add_sat(r->weight_bytes, entry.bytes);
  } else if (!entry.repeated) {
    r->inputs++;
  }
  return ttm_vec_push(&r->entries, entry);
}

static int fold_weights(const ttm_profile *p, ttm_registry *r) {
  ttm_fold fold = {0};
  int status = TTM_OK;
  for (uint32_t e = 0; e < r->entries.n && !status; e++) {
    ttm_registry_entry *entry = &r->entries.at[e];
    const ttm_graph_arg *arg = &p->graphs.at[entry->graph].args.at[entry->arg];
    if (!entry->weight || entry->repeated) continue;
    status =
        ttm_fold_add(&fold, ttm_profile_string(p, arg->name ? arg->name : arg->ssa), arg->local_type, &entry->group);
    if (!status && entry->group == r->groups.n) status = ttm_vec_push(&r->groups, (ttm_weight_group){.entry = e});
    if (status) break;
    r->groups.at[entry->group].count++;
    r->groups.at[entry->group].bytes += entry->bytes;
  }
  for (uint32_t g = 0; g < r->groups.n && !status; g++) {
    r->groups.at[g].name = ttm_fold_name_in(&fold, g, &r->names);
    if (!r->groups.at[g].name.p) status = TTM_ENOMEM;
  }
  ttm_fold_free(&fold);
  return status;
}

int ttm_find_registry(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  ttm_registry *r = &f->registry;
  ttm_intern keys = {0};
  graph_ids first_graphs = {0};
  int status = TTM_OK;
  for (uint32_t g = 0; g < p->graphs.n && !status; g++) {
    const ttm_graph *graph = &p->graphs.at[g];
    status = ttm_vec_push(&r->first_of_graph, (uint32_t)r->entries.n);
    for (uint32_t a = 0; a < graph->args.n && !status; a++) {
      const ttm_graph_arg *arg = &graph->args.at[a];
      const ttm_type *type = local_type(p, arg);
      ttm_registry_entry entry = {.graph = g, .arg = a, .weight = is_weight(arg), .group = TTM_NONE};
      if (type && type->is_tensor) entry.bytes = ttm_tensor_logical_bytes(&type->tensor);
      status = find_repeated(p, g, arg, &keys, &first_graphs, &entry.repeated);
      if (!status) status = add_entry(r, entry);
    }
  }
  if (!status) status = fold_weights(f->profile, r);
  ttm_intern_free(&keys);
  ttm_vec_free(&first_graphs);
  return status;
}

uint32_t ttm_registry_find(const ttm_registry *r, const ttm_profile *p, uint32_t call, uint32_t arg) {
  if (call >= p->calls.n) return TTM_NONE;
  uint32_t top = ttm_call_top(p, call);
  if (top >= p->calls.n) return TTM_NONE;
  uint32_t graph = p->calls.at[top].graph;
  if (graph >= p->graphs.n || graph >= r->first_of_graph.n || arg >= p->graphs.at[graph].args.n) return TTM_NONE;
  return r->first_of_graph.at[graph] + arg;
}

bool ttm_op_takes_weight(const ttm_registry *r, const ttm_profile *p, uint32_t op) {
  const ttm_op *row = &p->ops.at[op];
  if (r->weights == 0) return false;
  ttm_list args = ttm_profile_weights(p, row->weights);
  for (uint32_t i = 0; i < args.n; i++) {
    uint32_t entry = ttm_registry_find(r, p, row->call, p->lists.at[args.first + i]);
    if (entry != TTM_NONE && r->entries.at[entry].weight) return true;
  }
  return false;
}
