/* SPDX-License-Identifier: Apache-2.0 */
/* <name>_operations.json. What an element says about its text is the same in every run of a program, so it is
 * rendered once per distinct text and copied afterwards, as long as the copies stay within a fixed amount of memory. */
#include "report/files/json_parts.h"
#include "report/files/report.h"

enum { CACHE_BYTES = 32 << 20 };

typedef struct slice {
  uint32_t at, n; /* in the cache; n 0: not there */
} slice;

typedef struct ops_writer {
  const ttm_findings *f;
  const ttm_profile *p;
  ttm_json json;
  bool devices;         /* of other bank counts: what a text says of banks then depends on the operation */
  ttm_json_sizes sizes; /* of the last operation's device */
  uint8_t *uses;        /* by text: 0, 1, 2 = more than once. Texts used once are not worth keeping */
  slice *slices;        /* by text */
  ttm_buf cache;
  uint32_t call, const_eval; /* the last operation's program, and the name that goes with it */
} ops_writer;

/* ---- What belongs to the text ------------------------------------------------------------------------------------ */

static const ttm_type *type_at(const ttm_profile *p, ttm_list list, uint32_t i) {
  return &p->types.at[p->lists.at[list.first + i]];
}

/* The types as printed, in parentheses when there are several (or none). */
static void put_types(ops_writer *w, const char *key, ttm_list list, bool parentheses) {
  ttm_buf *out = ttm_json_at(&w->json, key);
  ttm_buf_puts(out, parentheses ? "\"(" : "\"");
  for (uint32_t i = 0; i < list.n; i++) {
    if (i) ttm_buf_puts(out, ", ");
    ttm_json_escape(out, ttm_profile_string(w->p, type_at(w->p, list, i)->text));
  }
  ttm_buf_puts(out, parentheses ? ")\"" : "\"");
}

/* One thing of each tensor among the types. */
static void put_shapes(ops_writer *w, const char *key, ttm_list list) {
  ttm_json_put_array(&w->json, key);
  for (uint32_t i = 0; i < list.n; i++) {
    const ttm_type *type = type_at(w->p, list, i);
    if (type->is_tensor) ttm_json_put_shape(&w->json, NULL, &type->tensor.shape);
  }
  ttm_json_end(&w->json);
}

static void put_dtypes(ops_writer *w, const char *key, ttm_list list) {
  ttm_json_put_array(&w->json, key);
  for (uint32_t i = 0; i < list.n; i++) {
    const ttm_type *type = type_at(w->p, list, i);
    if (type->is_tensor) ttm_json_put_str(&w->json, NULL, type->tensor.element);
  }
  ttm_json_end(&w->json);
}

/* The first result that is a tensor, as the old files have it; all of them beside it when there are several. */
static void put_layouts(ops_writer *w, const ttm_op_text *text) {
  static const ttm_type none = {0};
  ttm_json *j = &w->json;
  uint32_t first = 0;
  while (first < text->outputs.n && !type_at(w->p, text->outputs, first)->is_tensor) first++;
  ttm_json_put_layout(j, "output_layout_info", first < text->outputs.n ? type_at(w->p, text->outputs, first) : &none,
                      &w->sizes);
  if (text->outputs.n < 2) return;
  ttm_json_put_array(j, "output_layouts");
  for (uint32_t i = 0; i < text->outputs.n; i++)
    ttm_json_put_layout(j, NULL, type_at(w->p, text->outputs, i), &w->sizes);
  ttm_json_end(j);
}

static void put_value(ops_writer *w, const char *key, ttm_value value) {
  char scratch[TTM_VALUE_CHARS];
  ttm_json_put_str(&w->json, key, ttm_value_print(w->p, value, scratch));
}

static void put_operands(ops_writer *w, ttm_list list) {
  ttm_json_put_array(&w->json, "inputs");
  for (uint32_t i = 0; i < list.n; i++) put_value(w, NULL, w->p->lists.at[list.first + i]);
  ttm_json_end(&w->json);
}

static void put_text(ops_writer *w, const ttm_op_text *text) {
  ttm_json *j = &w->json;
  text->result ? put_value(w, "result", text->result) : ttm_json_put_null(j, "result");
  if (text->result_count > 1) ttm_json_put_u64(j, "results", text->result_count);
  ttm_json_put_str(j, "mlir_op", ttm_profile_string(w->p, text->name));
  put_operands(w, text->operands);
  if (text->has_attributes)
    ttm_json_put_str(j, "attributes", ttm_profile_string(w->p, text->attributes));
  else
    ttm_json_put_null(j, "attributes");
  if (text->synthetic) { /* there was no operation line to say */
    ttm_json_put_null(j, "input_types");
    ttm_json_put_null(j, "output_type");
  } else {
    put_types(w, "input_types", text->inputs, false);
    put_types(w, "output_type", text->outputs, text->outputs.n != 1);
  }
  put_shapes(w, "input_shapes", text->inputs);
  put_dtypes(w, "input_dtypes", text->inputs);
  put_shapes(w, "output_shapes", text->outputs);
  put_dtypes(w, "output_dtypes", text->outputs);
  put_layouts(w, text);
  ttm_json_put_id(j, "loc", w->p, text->location);
}

static void put_cached_text(ops_writer *w, uint32_t id) {
  ttm_buf *out = w->json.out;
  slice *kept = &w->slices[id];
  if (kept->n) return ttm_buf_put(out, (ttm_str){w->cache.at + kept->at, kept->n});
  size_t start = out->n;
  put_text(w, &w->p->texts.at[id]);
  if (out->failed) return;
  size_t n = out->n - start;
  if (w->uses[id] < 2 || w->devices || n > CACHE_BYTES - w->cache.n) return;
  size_t at = w->cache.n;
  ttm_buf_put(&w->cache, (ttm_str){out->at + start, n});
  if (!w->cache.failed) *kept = (slice){(uint32_t)at, (uint32_t)n};
}

/* ---- What belongs to the execution ------------------------------------------------------------------------------- */

static void put_weight(ops_writer *w, uint32_t index) {
  const ttm_registry_entry *entry = &w->f->registry.entries.at[index];
  const ttm_graph_arg *arg = &w->p->graphs.at[entry->graph].args.at[entry->arg];
  ttm_json *j = &w->json;
  ttm_json_put_object(j, NULL);
  ttm_json_put_u64(j, "registry_index", index);
  ttm_json_put_id(j, "name", w->p, arg->name ? arg->name : arg->ssa);
  ttm_json_put_type(j, w->p, arg->type);
  ttm_json_put_u64(j, "bytes", entry->bytes);
  ttm_json_end(j);
}

/* Returns how many there were. */
static uint32_t put_weights(ops_writer *w, const ttm_op *row) {
  ttm_list list = ttm_profile_weights(w->p, row->weights);
  uint32_t written = 0;
  ttm_json_put_array(&w->json, "weights");
  for (uint32_t i = 0; i < list.n; i++) {
    uint32_t entry = ttm_registry_find(&w->f->registry, w->p, row->call, w->p->lists.at[list.first + i]);
    if (entry == TTM_NONE || !w->f->registry.entries.at[entry].weight) continue;
    put_weight(w, entry);
    written++;
  }
  ttm_json_end(&w->json);
  return written;
}

static void put_element(ops_writer *w, uint32_t op, uint32_t index) {
  const ttm_op *row = &w->p->ops.at[op];
  ttm_json *j = &w->json;
  ttm_json_put_object(j, NULL);
  ttm_json_put_u64(j, "index", index);
  ttm_json_put_u64(j, "line", row->line);
  if (w->devices) w->sizes = ttm_json_sizes_of(w->p, op);
  put_cached_text(w, row->text);
  if (row->call != w->call) {
    w->call = row->call;
    w->const_eval = ttm_const_eval_name(w->p, row->call);
  }
  ttm_json_put_id(j, "const_eval_graph", w->p, w->const_eval);
  ttm_json_put_bool(j, "const_eval_cache_miss", row->flags & TTM_OP_CACHE_MISS);
  uint32_t weights = put_weights(w, row);
  ttm_json_put_bool(j, "is_weight_op", weights || (row->flags & TTM_OP_CONST_EVAL));
  ttm_json_end(j);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static int prepare(ops_writer *w) {
  w->uses = ttm_alloc(w->p->texts.n + 1);
  w->slices = ttm_alloc((w->p->texts.n + 1) * sizeof *w->slices);
  if (!w->uses || !w->slices) return TTM_ENOMEM;
  for (size_t i = 0; i < w->p->ops.n; i++) {
    uint8_t *uses = &w->uses[w->p->ops.at[i].text];
    if (*uses < 2) ++*uses;
  }
  return TTM_OK;
}

int ttm_report_operations_json(const ttm_findings *f, ttm_out *out, ttm_error *err) {
  ops_writer w = {.f = f, .p = f->profile, .json = {.out = &out->buf}, .call = TTM_NONE};
  w.devices = ttm_profile_banks_vary(w.p, TTM_DRAM) || ttm_profile_banks_vary(w.p, TTM_L1);
  w.sizes = ttm_json_sizes_of(w.p, TTM_NONE);
  bool failed = prepare(&w);
  ttm_json_put_rows(&w.json, NULL);
  uint32_t index = 0;
  for (uint32_t op = 0; op < w.p->ops.n && !failed; op++) {
    if (!ttm_op_is_element(w.p, op)) continue;
    put_element(&w, op, index++);
    ttm_out_flow(out);
  }
  ttm_json_end(&w.json);
  failed |= ttm_json_finish(&w.json) != TTM_OK;
  ttm_free(w.uses);
  ttm_free(w.slices);
  ttm_buf_free(&w.cache);
  return failed ? ttm_error_nomem(err) : TTM_OK;
}
