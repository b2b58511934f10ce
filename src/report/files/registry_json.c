/* SPDX-License-Identifier: Apache-2.0 */
/* <name>_inputs_registry.json: what the compiled graphs take. A later graph that takes the same argument again lists
 * it again ("repeated"), but the totals count it once. */
#include "report/files/json_parts.h"
#include "report/files/report.h"

static void put_entry(ttm_json *j, const ttm_findings *f, uint32_t index) {
  const ttm_profile *p = f->profile;
  const ttm_registry_entry *entry = &f->registry.entries.at[index];
  const ttm_graph_arg *arg = &p->graphs.at[entry->graph].args.at[entry->arg];
  ttm_json_put_object(j, NULL);
  ttm_json_put_u64(j, "index", index);
  ttm_json_put_id(j, "ssa", p, arg->ssa);
  ttm_json_put_id(j, "name", p, arg->name ? arg->name : arg->ssa);
  ttm_json_put_name(j, "type", ttm_arg_kind_names[arg->kind]);
  ttm_json_put_type(j, p, arg->type);
  /* On a mesh the signature has the global shape; `bytes` counts what one device holds. */
  if (arg->local_type != arg->type && arg->local_type < p->types.n && p->types.at[arg->local_type].is_tensor)
    ttm_json_put_shape(j, "local_shape", &p->types.at[arg->local_type].tensor.shape);
  ttm_json_put_u64(j, "bytes", entry->bytes);
  ttm_json_put_mib(j, "bytes_MB", entry->bytes);
  ttm_json_put_u64(j, "graph", entry->graph);
  ttm_json_put_bool(j, "kv_cache", arg->kv_cache);
  ttm_json_put_bool(j, "repeated", entry->repeated);
  ttm_json_end(j);
}

static void put_graphs(ttm_json *j, const ttm_profile *p) {
  ttm_json_put_rows(j, "graphs");
  for (uint32_t i = 0; i < p->graphs.n; i++) {
    const ttm_graph *graph = &p->graphs.at[i];
    ttm_json_put_object(j, NULL);
    ttm_json_put_u64(j, "graph", i);
    ttm_json_put_id(j, "module", p, graph->name);
    ttm_json_put_u64(j, "rank", ttm_rank_number(p, graph->rank));
    ttm_json_put_u64(j, "arguments", graph->args.n);
    ttm_json_put_known(j, "devices", graph->devices ? graph->devices : UINT64_MAX);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

int ttm_report_registry_json(const ttm_findings *f, ttm_out *out, ttm_error *err) {
  const ttm_registry *r = &f->registry;
  ttm_json j = {.out = &out->buf};
  ttm_json_put_sections(&j, NULL);
  ttm_json_put_object(&j, "metadata");
  ttm_json_put_u64(&j, "total_entries", r->entries.n);
  ttm_json_put_u64(&j, "total_weights", r->weights);
  ttm_json_put_u64(&j, "total_inputs", r->inputs);
  ttm_json_put_u64(&j, "total_weight_bytes", r->weight_bytes);
  ttm_json_put_mib(&j, "total_weight_MB", r->weight_bytes);
  ttm_json_end(&j);
  ttm_json_put_rows(&j, "entries");
  for (uint32_t i = 0; i < r->entries.n; i++) {
    put_entry(&j, f, i);
    ttm_out_flow(out);
  }
  ttm_json_end(&j);
  put_graphs(&j, f->profile);
  ttm_json_end(&j);
  return ttm_json_finish(&j) ? ttm_error_nomem(err) : TTM_OK;
}
