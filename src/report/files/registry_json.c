/* SPDX-License-Identifier: Apache-2.0 */
/* <name>_inputs_registry.json: what the compiled graphs take. A later graph that takes the same argument again lists
 * it again ("repeated"), but the totals count it once. */
#include "report/files/json_parts.h"
#include "report/files/report.h"

static ttm_str kind_name(uint8_t kind) {
  switch (kind) {
    case TTM_ARG_INPUT:
      return TTM_LIT("input");
    case TTM_ARG_PARAMETER:
      return TTM_LIT("parameter");
    case TTM_ARG_CONSTANT:
      return TTM_LIT("constant");
    case TTM_ARG_DEFAULT:
      return TTM_LIT("default");
    default:
      return TTM_LIT("unknown");
  }
}

/* On a mesh the signature has the global shape; `bytes` counts what one device holds. */
static void put_local_shape(ttm_buf *buf, const ttm_profile *p, const ttm_graph_arg *arg) {
  if (arg->local_type == arg->type || arg->local_type >= p->types.n || !p->types.at[arg->local_type].is_tensor) return;
  ttm_json_raw(buf, ",\"local_shape\":");
  ttm_json_shape(buf, &p->types.at[arg->local_type].tensor.shape);
}

static void put_entry(ttm_buf *buf, const ttm_findings *f, uint32_t index) {
  const ttm_profile *p = f->profile;
  const ttm_registry_entry *entry = &f->registry.entries.at[index];
  const ttm_graph_arg *arg = &p->graphs.at[entry->graph].args.at[entry->arg];
  ttm_buf_put(buf, index ? TTM_LIT(",\n{\"index\":") : TTM_LIT("\n{\"index\":"));
  ttm_buf_u64(buf, index);
  ttm_json_raw(buf, ",\"ssa\":");
  ttm_json_id(buf, p, arg->ssa);
  ttm_json_raw(buf, ",\"name\":");
  ttm_json_id(buf, p, arg->name ? arg->name : arg->ssa);
  ttm_json_raw(buf, ",\"type\":");
  ttm_json_string(buf, kind_name(arg->kind));
  ttm_json_type_members(buf, p, arg->type);
  put_local_shape(buf, p, arg);
  ttm_json_raw(buf, ",\"bytes\":");
  ttm_buf_u64(buf, entry->bytes);
  ttm_json_raw(buf, ",\"bytes_MB\":");
  ttm_json_mib(buf, entry->bytes);
  ttm_json_raw(buf, ",\"graph\":");
  ttm_buf_u64(buf, entry->graph);
  ttm_json_raw(buf, ",\"kv_cache\":");
  ttm_json_bool(buf, arg->kv_cache);
  ttm_json_raw(buf, ",\"repeated\":");
  ttm_json_bool(buf, entry->repeated);
  ttm_buf_char(buf, '}');
}

static void put_graphs(ttm_buf *buf, const ttm_profile *p) {
  ttm_json_raw(buf, ",\n\"graphs\":[");
  for (uint32_t i = 0; i < p->graphs.n; i++) {
    const ttm_graph *graph = &p->graphs.at[i];
    ttm_buf_put(buf, i ? TTM_LIT(",\n{\"graph\":") : TTM_LIT("\n{\"graph\":"));
    ttm_buf_u64(buf, i);
    ttm_json_raw(buf, ",\"module\":");
    ttm_json_id(buf, p, graph->name);
    ttm_json_raw(buf, ",\"rank\":");
    ttm_buf_u64(buf, ttm_rank_number(p, graph->rank));
    ttm_json_raw(buf, ",\"arguments\":");
    ttm_buf_u64(buf, graph->args.n);
    ttm_json_raw(buf, ",\"devices\":");
    ttm_json_known(buf, graph->devices ? graph->devices : UINT64_MAX);
    ttm_buf_char(buf, '}');
  }
  ttm_buf_put(buf, p->graphs.n ? TTM_LIT("\n]") : TTM_LIT("]"));
}

int ttm_report_registry_json(const ttm_findings *f, ttm_out *out, ttm_error *err) {
  const ttm_registry *r = &f->registry;
  ttm_buf *buf = &out->buf;
  ttm_json_raw(buf, "{\"metadata\":{\"total_entries\":");
  ttm_buf_u64(buf, r->entries.n);
  ttm_json_raw(buf, ",\"total_weights\":");
  ttm_buf_u64(buf, r->weights);
  ttm_json_raw(buf, ",\"total_inputs\":");
  ttm_buf_u64(buf, r->inputs);
  ttm_json_raw(buf, ",\"total_weight_bytes\":");
  ttm_buf_u64(buf, r->weight_bytes);
  ttm_json_raw(buf, ",\"total_weight_MB\":");
  ttm_json_mib(buf, r->weight_bytes);
  ttm_json_raw(buf, "},\n\"entries\":[");
  for (uint32_t i = 0; i < r->entries.n; i++) {
    put_entry(buf, f, i);
    ttm_out_flow(out);
  }
  ttm_buf_put(buf, r->entries.n ? TTM_LIT("\n]") : TTM_LIT("]"));
  put_graphs(buf, f->profile);
  ttm_json_raw(buf, "}\n");
  return buf->failed ? ttm_error_nomem(err) : TTM_OK;
}
