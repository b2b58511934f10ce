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
  ttm_buf *buf;
  ttm_json_sizes sizes;
  uint8_t *uses; /* by text: 0, 1, 2 = more than once. Texts used once are not worth keeping */
  slice *slices; /* by text */
  ttm_buf cache;
  uint32_t call, const_eval; /* the last operation's program, and the name that goes with it */
} ops_writer;

/* ---- What belongs to the text ------------------------------------------------------------------------------------ */

static const ttm_type *type_at(const ttm_profile *p, ttm_list list, uint32_t i) {
  return &p->types.at[p->lists.at[list.first + i]];
}

/* The types as printed, in parentheses when there are several (or none). */
static void put_types(ops_writer *w, ttm_list list, bool parentheses) {
  ttm_buf_char(w->buf, '"');
  if (parentheses) ttm_buf_char(w->buf, '(');
  for (uint32_t i = 0; i < list.n; i++) {
    if (i) ttm_json_raw(w->buf, ", ");
    ttm_json_escape(w->buf, ttm_profile_string(w->p, type_at(w->p, list, i)->text));
  }
  if (parentheses) ttm_buf_char(w->buf, ')');
  ttm_buf_char(w->buf, '"');
}

static void put_shape(ttm_buf *out, const ttm_tensor_type *tensor) { ttm_json_shape(out, &tensor->shape); }
static void put_dtype(ttm_buf *out, const ttm_tensor_type *tensor) { ttm_json_string(out, tensor->element); }

/* One thing of each tensor among the types. */
static void put_tensors(ops_writer *w, ttm_list list, void (*put)(ttm_buf *, const ttm_tensor_type *)) {
  ttm_json_comma comma = {0};
  ttm_buf_char(w->buf, '[');
  for (uint32_t i = 0; i < list.n; i++) {
    const ttm_type *type = type_at(w->p, list, i);
    if (!type->is_tensor) continue;
    ttm_json_next(w->buf, &comma, TTM_LIT(","));
    put(w->buf, &type->tensor);
  }
  ttm_buf_char(w->buf, ']');
}

/* The first result that is a tensor, as the old files have it; all of them beside it when there are several. */
static void put_layouts(ops_writer *w, const ttm_op_text *text) {
  uint32_t first = 0;
  while (first < text->outputs.n && !type_at(w->p, text->outputs, first)->is_tensor) first++;
  ttm_json_raw(w->buf, ",\"output_layout_info\":");
  if (first < text->outputs.n)
    ttm_json_layout(w->buf, &type_at(w->p, text->outputs, first)->tensor, &w->sizes);
  else
    ttm_json_null(w->buf);
  if (text->outputs.n < 2) return;
  ttm_json_raw(w->buf, ",\"output_layouts\":");
  for (uint32_t i = 0; i < text->outputs.n; i++) {
    const ttm_type *type = type_at(w->p, text->outputs, i);
    ttm_buf_char(w->buf, i ? ',' : '[');
    if (type->is_tensor)
      ttm_json_layout(w->buf, &type->tensor, &w->sizes);
    else
      ttm_json_null(w->buf);
  }
  ttm_buf_char(w->buf, ']');
}

static void put_value(ops_writer *w, ttm_value value) {
  char scratch[TTM_VALUE_CHARS];
  ttm_json_string(w->buf, ttm_value_print(w->p, value, scratch));
}

static void put_operands(ops_writer *w, ttm_list list) {
  ttm_buf_char(w->buf, '[');
  for (uint32_t i = 0; i < list.n; i++) {
    if (i) ttm_buf_char(w->buf, ',');
    put_value(w, w->p->lists.at[list.first + i]);
  }
  ttm_buf_char(w->buf, ']');
}

static void put_text(ops_writer *w, const ttm_op_text *text) {
  ttm_buf *buf = w->buf;
  ttm_json_raw(buf, ",\"result\":");
  if (text->result)
    put_value(w, text->result);
  else
    ttm_json_null(buf);
  if (text->result_count > 1) {
    ttm_json_raw(buf, ",\"results\":");
    ttm_buf_u64(buf, text->result_count);
  }
  ttm_json_raw(buf, ",\"mlir_op\":");
  ttm_json_string(buf, ttm_profile_string(w->p, text->name));
  ttm_json_raw(buf, ",\"inputs\":");
  put_operands(w, text->operands);
  ttm_json_raw(buf, ",\"attributes\":");
  if (text->has_attributes)
    ttm_json_string(buf, ttm_profile_string(w->p, text->attributes));
  else
    ttm_json_null(buf);
  if (text->synthetic) {
    ttm_json_raw(buf, ",\"input_types\":null,\"output_type\":null"); /* there was no operation line to say */
  } else {
    ttm_json_raw(buf, ",\"input_types\":");
    put_types(w, text->inputs, false);
    ttm_json_raw(buf, ",\"output_type\":");
    put_types(w, text->outputs, text->outputs.n != 1);
  }
  ttm_json_raw(buf, ",\"input_shapes\":");
  put_tensors(w, text->inputs, put_shape);
  ttm_json_raw(buf, ",\"input_dtypes\":");
  put_tensors(w, text->inputs, put_dtype);
  ttm_json_raw(buf, ",\"output_shapes\":");
  put_tensors(w, text->outputs, put_shape);
  ttm_json_raw(buf, ",\"output_dtypes\":");
  put_tensors(w, text->outputs, put_dtype);
  put_layouts(w, text);
  ttm_json_raw(buf, ",\"loc\":");
  ttm_json_id(buf, w->p, text->location);
}

static void put_cached_text(ops_writer *w, uint32_t id) {
  slice *kept = &w->slices[id];
  if (kept->n) {
    ttm_buf_put(w->buf, (ttm_str){w->cache.at + kept->at, kept->n});
    return;
  }
  size_t start = w->buf->n;
  put_text(w, &w->p->texts.at[id]);
  if (w->buf->failed) return;
  size_t n = w->buf->n - start;
  if (w->uses[id] < 2 || n > CACHE_BYTES - w->cache.n) return;
  size_t at = w->cache.n;
  ttm_buf_put(&w->cache, (ttm_str){w->buf->at + start, n});
  if (!w->cache.failed) *kept = (slice){(uint32_t)at, (uint32_t)n};
}

/* ---- What belongs to the execution ------------------------------------------------------------------------------- */

static void put_weight(ops_writer *w, uint32_t index) {
  const ttm_registry_entry *entry = &w->f->registry.entries.at[index];
  const ttm_graph_arg *arg = &w->p->graphs.at[entry->graph].args.at[entry->arg];
  ttm_json_raw(w->buf, "{\"registry_index\":");
  ttm_buf_u64(w->buf, index);
  ttm_json_raw(w->buf, ",\"name\":");
  ttm_json_id(w->buf, w->p, arg->name ? arg->name : arg->ssa);
  ttm_json_type_members(w->buf, w->p, arg->type);
  ttm_json_raw(w->buf, ",\"bytes\":");
  ttm_buf_u64(w->buf, entry->bytes);
  ttm_buf_char(w->buf, '}');
}

/* Returns how many there were. */
static uint32_t put_weights(ops_writer *w, const ttm_op *row) {
  ttm_list list = ttm_profile_weights(w->p, row->weights);
  uint32_t written = 0;
  for (uint32_t i = 0; i < list.n; i++) {
    uint32_t entry = ttm_registry_find(&w->f->registry, w->p, row->call, w->p->lists.at[list.first + i]);
    if (entry == TTM_NONE || !w->f->registry.entries.at[entry].weight) continue;
    if (written++) ttm_buf_char(w->buf, ',');
    put_weight(w, entry);
  }
  return written;
}

static void put_element(ops_writer *w, uint32_t op, uint32_t index) {
  const ttm_op *row = &w->p->ops.at[op];
  ttm_buf *buf = w->buf;
  ttm_buf_put(buf, index ? TTM_LIT(",\n{\"index\":") : TTM_LIT("\n{\"index\":"));
  ttm_buf_u64(buf, index);
  ttm_json_raw(buf, ",\"line\":");
  ttm_buf_u64(buf, row->line);
  put_cached_text(w, row->text);
  if (row->call != w->call) {
    w->call = row->call;
    w->const_eval = ttm_const_eval_name(w->p, row->call);
  }
  ttm_json_raw(buf, ",\"const_eval_graph\":");
  ttm_json_id(buf, w->p, w->const_eval);
  ttm_json_raw(buf, ",\"const_eval_cache_miss\":");
  ttm_json_bool(buf, row->flags & TTM_OP_CACHE_MISS);
  ttm_json_raw(buf, ",\"weights\":[");
  uint32_t weights = put_weights(w, row);
  ttm_json_raw(buf, "],\"is_weight_op\":");
  ttm_json_bool(buf, weights || (row->flags & TTM_OP_CONST_EVAL));
  ttm_buf_char(buf, '}');
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
  ops_writer w = {.f = f, .p = f->profile, .buf = &out->buf, .sizes = ttm_json_sizes_of(f->profile), .call = TTM_NONE};
  bool failed = prepare(&w);
  ttm_buf_char(w.buf, '[');
  uint32_t index = 0;
  for (uint32_t op = 0; op < w.p->ops.n && !failed; op++) {
    if (!ttm_op_is_element(w.p, op)) continue;
    put_element(&w, op, index++);
    ttm_out_flow(out);
  }
  ttm_buf_put(w.buf, index ? TTM_LIT("\n]\n") : TTM_LIT("]\n"));
  failed |= w.buf->failed;
  ttm_free(w.uses);
  ttm_free(w.slices);
  ttm_buf_free(&w.cache);
  return failed ? ttm_error_nomem(err) : TTM_OK;
}
