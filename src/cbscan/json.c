/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "cbscan/report.h"
#include "report/write/json_fields.h"

/* "expression", the values it may take, and what it depends on. */
static void put_expression(ttm_buf *b, ttm_json_comma *comma, const char *name, const cbs_expression *e) {
  const cbs_value *v = &e->value;
  ttm_json_comma inner = {0}, list = {0};
  ttm_field(b, comma, name);
  ttm_json_raw(b, "{");
  ttm_field_text(b, &inner, "expression", e->text);
  ttm_field(b, &inner, "values");
  ttm_json_raw(b, "[");
  bool argument = v->type == CBS_VALUE_ARG || v->type == CBS_VALUE_NAMED_ARG;
  for (int i = 0; i < v->n && !argument; i++) {
    ttm_json_next(b, &list, TTM_LIT(", "));
    if (v->type == CBS_VALUE_INT)
      ttm_json_i64(b, v->v[i].i);
    else if (v->type == CBS_VALUE_REAL)
      ttm_json_double(b, v->v[i].r);
    else if (v->type == CBS_VALUE_FORMAT)
      ttm_json_string(b, ttm_str_of(cbs_formats[v->v[i].i].name));
    else
      ttm_json_string(b, v->v[i].t);
  }
  ttm_json_raw(b, "]");
  ttm_field_bool(b, &inner, "complete", cbs_value_is_known(v) && !v->many && !argument);
  if (v->n && v->type == CBS_VALUE_ARG) ttm_field_u64(b, &inner, "compile_time_arg", (uint64_t)v->v[0].i);
  if (v->n && v->type == CBS_VALUE_NAMED_ARG) ttm_field_text(b, &inner, "named_arg", v->v[0].t);
  if (v->type == CBS_VALUE_INT && cbs_value_bound(v) != INT64_MAX && cbs_value_bound(v) >= 0) {
    ttm_field_u64(b, &inner, "at_most", (uint64_t)cbs_value_bound(v));
  }
  if (v->open && v->needs_n) {
    ttm_json_comma needs = {0};
    ttm_field(b, &inner, "needs");
    ttm_json_raw(b, "[");
    for (int i = 0; i < v->needs_n; i++) {
      ttm_json_next(b, &needs, TTM_LIT(", "));
      ttm_json_string(b, v->needs[i]);
    }
    ttm_json_raw(b, "]");
  }
  ttm_json_raw(b, "}");
}

static void put_buffer(ttm_buf *b, const cbs_buffer *cb) {
  static const char *const owners[] = {"own", "global", "either"};
  ttm_json_comma comma = {0}, slots = {0};
  uint64_t least, most;
  ttm_json_raw(b, "{");
  ttm_field_u64(b, &comma, "line", cb->line);
  if (cb->call_line) ttm_field_u64(b, &comma, "call_line", cb->call_line);
  if (cb->helper.n) ttm_field_text(b, &comma, "helper", cb->helper);
  ttm_field_text(b, &comma, "form", ttm_str_of(cbs_origin_name(cb->origin)));
  ttm_field_text(b, &comma, "name", cb->name);
  put_expression(b, &comma, "total_size", &cb->total);
  ttm_field(b, &comma, "indices");
  ttm_json_raw(b, "[");
  for (size_t s = 0; s < cb->slot_count; s++) {
    ttm_json_comma inner = {0};
    ttm_json_next(b, &slots, TTM_LIT(", "));
    ttm_json_raw(b, "{");
    put_expression(b, &inner, "index", &cb->slots[s].index);
    put_expression(b, &inner, "data_format", &cb->slots[s].format);
    put_expression(b, &inner, "page_size", &cb->slots[s].page);
    ttm_json_raw(b, "}");
  }
  ttm_json_raw(b, "]");
  if (cbs_buffer_pages(cb, &least, &most)) {
    ttm_field_u64(b, &comma, "pages_least", least);
    ttm_field_u64(b, &comma, "pages_most", most);
  }
  ttm_field_text(b, &comma, "core_ranges", cb->cores);
  ttm_field_text(b, &comma, "memory", ttm_str_of(owners[cb->owner]));
  ttm_field_text(b, &comma, "size", ttm_str_of(cbs_buffer_is_adaptive(cb) ? "adaptive" : "fixed"));
  ttm_field_bool(b, &comma, "created", cb->created);
  ttm_field_bool(b, &comma, "conditional", cb->conditional);
  ttm_field_bool(b, &comma, "in_loop", cb->in_loop);
  ttm_field_bool(b, &comma, "address_only", cb->address_only);
  ttm_json_raw(b, "}");
}

static void put_program(ttm_buf *b, const cbs_scan *scan, const cbs_function *f) {
  cbs_sum sum = cbs_sum_of(&scan->buffers.at[f->first_buffer], f->buffer_count);
  ttm_json_comma comma = {0}, buffers = {0}, kernels = {0};
  ttm_json_raw(b, "{");
  ttm_field_text(b, &comma, "file", ttm_str_of(scan->files.at[f->file].path));
  ttm_field_u64(b, &comma, "line", f->line);
  ttm_field_text(b, &comma, "function", f->name);
  ttm_field_text(b, &comma, "strategy", ttm_str_of(cbs_strategy(&sum)));
  ttm_field_u64(b, &comma, "bytes_least", sum.least);
  ttm_field_u64(b, &comma, "bytes_most", sum.unknown ? UINT64_MAX : sum.most);
  ttm_field(b, &comma, "buffers");
  ttm_json_raw(b, "[");
  for (uint32_t i = 0; i < f->buffer_count; i++) {
    ttm_json_next(b, &buffers, TTM_LIT(",\n   "));
    put_buffer(b, &scan->buffers.at[f->first_buffer + i]);
  }
  ttm_json_raw(b, "]");
  ttm_field(b, &comma, "kernels");
  ttm_json_raw(b, "[");
  for (uint32_t i = 0; i < f->ref_count; i++) {
    const cbs_kernel_ref *ref = &scan->refs.at[f->first_ref + i];
    ttm_json_comma inner = {0};
    ttm_json_next(b, &kernels, TTM_LIT(", "));
    ttm_json_raw(b, "{");
    ttm_field_u64(b, &inner, "line", ref->line);
    cbs_expression path = {.text = {"", 0}, .value = ref->path};
    put_expression(b, &inner, "path", &path);
    ttm_json_raw(b, "}");
  }
  ttm_json_raw(b, "]}");
}

static void put_place(ttm_buf *b, ttm_json_comma *comma, const cbs_scan *scan, const char *name, uint32_t file,
                      uint32_t line) {
  ttm_json_comma inner = {0};
  ttm_field(b, comma, name);
  if (file == UINT32_MAX) {
    ttm_json_null(b);
    return;
  }
  ttm_json_raw(b, "{");
  ttm_field_text(b, &inner, "file", ttm_str_of(scan->files.at[file].path));
  ttm_field_u64(b, &inner, "line", line);
  ttm_json_raw(b, "}");
}

static void put_links(ttm_buf *b, const cbs_scan *scan) {
  ttm_json_comma list = {0};
  for (size_t i = 0; i < scan->links.n; i++) {
    const cbs_link *link = &scan->links.at[i];
    ttm_json_comma comma = {0};
    ttm_json_next(b, &list, TTM_LIT(",\n  "));
    ttm_json_raw(b, "{");
    const cbs_function *f = &scan->functions.at[link->function];
    put_place(b, &comma, scan, "program", f->file, f->line);
    cbs_expression buffer = {.text = {"", 0}, .value = link->buffer};
    put_expression(b, &comma, "buffer", &buffer);
    put_place(b, &comma, scan, "producer", link->pushed_file, link->pushed_line);
    put_place(b, &comma, scan, "consumer", link->popped_file, link->popped_line);
    ttm_json_raw(b, "}");
  }
}

static void put_kernel(ttm_buf *b, const cbs_scan *scan, const cbs_file *file) {
  ttm_json_comma comma = {0}, uses = {0};
  ttm_json_raw(b, "{");
  ttm_field_text(b, &comma, "file", ttm_str_of(file->path));
  ttm_field_u64(b, &comma, "bytes", file->bytes);
  ttm_field_u64(b, &comma, "lines", file->lines);
  ttm_field_u64(b, &comma, "code_lines", file->size.code_lines);
  ttm_field_u64(b, &comma, "functions", file->size.functions);
  ttm_field_u64(b, &comma, "branches", file->size.branches);
  ttm_field_u64(b, &comma, "loops", file->size.loops);
  ttm_field_u64(b, &comma, "loop_depth", file->size.depth);
  ttm_field_u64(b, &comma, "complexity", file->size.complexity);
  ttm_field(b, &comma, "uses");
  ttm_json_raw(b, "[");
  for (uint32_t u = 0; u < file->use_count; u++) {
    const cbs_use *use = &scan->uses.at[file->first_use + u];
    ttm_json_comma inner = {0};
    ttm_json_next(b, &uses, TTM_LIT(", "));
    ttm_json_raw(b, "{");
    ttm_field_u64(b, &inner, "line", use->line);
    ttm_field_text(b, &inner, "act", ttm_str_of(cbs_act_name(use->act)));
    put_expression(b, &inner, "buffer", &use->id);
    put_expression(b, &inner, "pages", &use->count);
    ttm_field_bool(b, &inner, "conditional", use->conditional);
    ttm_json_raw(b, "}");
  }
  ttm_json_raw(b, "]}");
}

static void put_file(ttm_buf *b, const cbs_file *file) {
  static const char *const roles[] = {"other", "host", "kernel"};
  ttm_json_comma comma = {0};
  ttm_json_raw(b, "{");
  ttm_field_text(b, &comma, "path", ttm_str_of(file->path));
  ttm_field_text(b, &comma, "role", ttm_str_of(roles[file->role]));
  ttm_field_u64(b, &comma, "bytes", file->bytes);
  ttm_field_u64(b, &comma, "lines", file->lines);
  if (file->broken) {
    ttm_field_u64(b, &comma, "not_parsed_places", file->broken);
    ttm_field_u64(b, &comma, "not_parsed_line", file->broken_line);
  }
  if (file->failure) ttm_field_text(b, &comma, "failure", ttm_str_of(file->failure));
  ttm_json_raw(b, "}");
}

static void put_finding(ttm_buf *b, const cbs_scan *scan, const cbs_finding *f) {
  ttm_json_comma comma = {0};
  ttm_json_raw(b, "{");
  ttm_field_text(b, &comma, "level", ttm_str_of(ttm_cb_level_name(f->level)));
  ttm_field_text(b, &comma, "rule", ttm_str_of(f->rule));
  ttm_field_text(b, &comma, "file", ttm_str_of(scan->files.at[f->file].path));
  ttm_field_u64(b, &comma, "line", f->line);
  ttm_field_text(b, &comma, "text", f->text);
  ttm_json_raw(b, "}");
}

void cbs_json(ttm_buf *b, const cbs_scan *scan) {
  ttm_json_comma list = {0};
  ttm_buf_printf(b, "{\"arch\": \"%s\", \"l1_usable\": %" PRIu64 ", \"files_seen\": %zu,\n \"files\": [",
                 ttm_arches[scan->arch].name, scan->l1_usable, scan->files.n);
  for (size_t i = 0; i < scan->files.n; i++) {
    if (scan->files.at[i].role == CBS_FILE_OTHER && !scan->files.at[i].failure) continue;
    ttm_json_next(b, &list, TTM_LIT(",\n  "));
    put_file(b, &scan->files.at[i]);
  }
  ttm_json_raw(b, "],\n \"programs\": [");
  list = (ttm_json_comma){0};
  for (size_t i = 0; i < scan->functions.n; i++) {
    if (!scan->functions.at[i].buffer_count) continue;
    ttm_json_next(b, &list, TTM_LIT(",\n  "));
    put_program(b, scan, &scan->functions.at[i]);
  }
  ttm_json_raw(b, "],\n \"kernels\": [");
  list = (ttm_json_comma){0};
  for (size_t i = 0; i < scan->files.n; i++) {
    if (scan->files.at[i].role != CBS_FILE_KERNEL || !scan->files.at[i].parsed) continue;
    ttm_json_next(b, &list, TTM_LIT(",\n  "));
    put_kernel(b, scan, &scan->files.at[i]);
  }
  ttm_json_raw(b, "],\n \"links\": [");
  put_links(b, scan);
  ttm_json_raw(b, "],\n \"findings\": [");
  list = (ttm_json_comma){0};
  for (size_t i = 0; i < scan->findings.n; i++) {
    ttm_json_next(b, &list, TTM_LIT(",\n  "));
    put_finding(b, scan, &scan->findings.at[i]);
  }
  ttm_json_raw(b, "]}");
}
