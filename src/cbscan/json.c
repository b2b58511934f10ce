/* SPDX-License-Identifier: Apache-2.0 */
#include "cbscan/report.h"

static void put_value(ttm_json *j, const cbs_value *v, int i) {
  if (v->type == CBS_VALUE_INT)
    ttm_json_put_i64(j, NULL, v->v[i].i);
  else if (v->type == CBS_VALUE_REAL)
    ttm_json_put_double(j, NULL, v->v[i].r);
  else if (v->type == CBS_VALUE_FORMAT)
    ttm_json_put_name(j, NULL, cbs_formats[v->v[i].i].name);
  else
    ttm_json_put_str(j, NULL, v->v[i].t);
}

/* "expression", the values it may take, and what it depends on. */
static void put_expression(ttm_json *j, const char *key, ttm_str text, const cbs_value *v) {
  bool argument = v->type == CBS_VALUE_ARG || v->type == CBS_VALUE_NAMED_ARG;
  ttm_json_put_object(j, key);
  ttm_json_put_str(j, "expression", text);
  ttm_json_put_array(j, "values");
  for (int i = 0; i < v->n && !argument; i++) put_value(j, v, i);
  ttm_json_end(j);
  ttm_json_put_bool(j, "complete", cbs_value_is_known(v) && !v->many && !argument);
  if (v->n && v->type == CBS_VALUE_ARG) ttm_json_put_known(j, "compile_time_arg", (uint64_t)v->v[0].i);
  if (v->n && v->type == CBS_VALUE_NAMED_ARG) ttm_json_put_str(j, "named_arg", v->v[0].t);
  if (v->type == CBS_VALUE_INT && cbs_value_bound(v) != INT64_MAX && cbs_value_bound(v) >= 0)
    ttm_json_put_u64(j, "at_most", (uint64_t)cbs_value_bound(v));
  if (v->open && v->needs_n) {
    ttm_json_put_array(j, "needs");
    for (int i = 0; i < v->needs_n; i++) ttm_json_put_str(j, NULL, v->needs[i]);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_written(ttm_json *j, const char *key, const cbs_expression *e) {
  put_expression(j, key, e->text, &e->value);
}

static void put_slots(ttm_json *j, const cbs_buffer *cb) {
  ttm_json_put_array(j, "indices");
  for (size_t s = 0; s < cb->slot_count; s++) {
    ttm_json_put_object(j, NULL);
    put_written(j, "index", &cb->slots[s].index);
    put_written(j, "data_format", &cb->slots[s].format);
    put_written(j, "page_size", &cb->slots[s].page);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_buffer(ttm_json *j, const cbs_buffer *cb) {
  static const char *const owners[] = {"own", "global", "either"};
  uint64_t least, most;
  ttm_json_put_object(j, NULL);
  ttm_json_put_known(j, "line", cb->line);
  if (cb->call_line) ttm_json_put_known(j, "call_line", cb->call_line);
  if (cb->helper.n) ttm_json_put_str(j, "helper", cb->helper);
  ttm_json_put_name(j, "form", cbs_origin_name(cb->origin));
  ttm_json_put_str(j, "name", cb->name);
  put_written(j, "total_size", &cb->total);
  put_slots(j, cb);
  if (cbs_buffer_pages(cb, &least, &most)) {
    ttm_json_put_known(j, "pages_least", least);
    ttm_json_put_known(j, "pages_most", most);
  }
  ttm_json_put_str(j, "core_ranges", cb->cores);
  ttm_json_put_name(j, "memory", owners[cb->owner]);
  ttm_json_put_name(j, "size", cbs_buffer_is_adaptive(cb) ? "adaptive" : "fixed");
  ttm_json_put_bool(j, "created", cb->created);
  ttm_json_put_bool(j, "conditional", cb->conditional);
  ttm_json_put_bool(j, "in_loop", cb->in_loop);
  ttm_json_put_bool(j, "address_only", cb->address_only);
  ttm_json_end(j);
}

static void put_program(ttm_json *j, const cbs_scan *scan, const cbs_function *f) {
  cbs_sum sum = cbs_sum_of(&scan->buffers.at[f->first_buffer], f->buffer_count);
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "file", scan->files.at[f->file].path);
  ttm_json_put_known(j, "line", f->line);
  ttm_json_put_str(j, "function", f->name);
  ttm_json_put_name(j, "strategy", cbs_strategy(&sum));
  ttm_json_put_known(j, "bytes_least", sum.least);
  ttm_json_put_known(j, "bytes_most", sum.unknown ? UINT64_MAX : sum.most);
  ttm_json_put_rows(j, "buffers");
  for (uint32_t i = 0; i < f->buffer_count; i++) put_buffer(j, &scan->buffers.at[f->first_buffer + i]);
  ttm_json_end(j);
  ttm_json_put_array(j, "kernels");
  for (uint32_t i = 0; i < f->ref_count; i++) {
    const cbs_kernel_ref *ref = &scan->refs.at[f->first_ref + i];
    ttm_json_put_object(j, NULL);
    ttm_json_put_known(j, "line", ref->line);
    put_expression(j, "path", TTM_LIT(""), &ref->path);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_end(j);
}

static void put_place(ttm_json *j, const char *key, const cbs_scan *scan, uint32_t file, uint32_t line) {
  if (file == UINT32_MAX) return ttm_json_put_null(j, key);
  ttm_json_put_object(j, key);
  ttm_json_put_name(j, "file", scan->files.at[file].path);
  ttm_json_put_known(j, "line", line);
  ttm_json_end(j);
}

static void put_links(ttm_json *j, const cbs_scan *scan) {
  ttm_json_put_rows(j, "links");
  for (size_t i = 0; i < scan->links.n; i++) {
    const cbs_link *link = &scan->links.at[i];
    const cbs_function *f = &scan->functions.at[link->function];
    ttm_json_put_object(j, NULL);
    put_place(j, "program", scan, f->file, f->line);
    put_expression(j, "buffer", TTM_LIT(""), &link->buffer);
    put_place(j, "producer", scan, link->pushed_file, link->pushed_line);
    put_place(j, "consumer", scan, link->popped_file, link->popped_line);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_kernel(ttm_json *j, const cbs_scan *scan, const cbs_file *file) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "file", file->path);
  ttm_json_put_known(j, "bytes", file->bytes);
  ttm_json_put_known(j, "lines", file->lines);
  ttm_json_put_known(j, "code_lines", file->size.code_lines);
  ttm_json_put_known(j, "functions", file->size.functions);
  ttm_json_put_known(j, "branches", file->size.branches);
  ttm_json_put_known(j, "loops", file->size.loops);
  ttm_json_put_known(j, "loop_depth", file->size.depth);
  ttm_json_put_known(j, "complexity", file->size.complexity);
  ttm_json_put_array(j, "uses");
  for (uint32_t u = 0; u < file->use_count; u++) {
    const cbs_use *use = &scan->uses.at[file->first_use + u];
    ttm_json_put_object(j, NULL);
    ttm_json_put_known(j, "line", use->line);
    ttm_json_put_name(j, "act", cbs_act_name(use->act));
    put_written(j, "buffer", &use->id);
    put_written(j, "pages", &use->count);
    ttm_json_put_bool(j, "conditional", use->conditional);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_end(j);
}

static void put_file(ttm_json *j, const cbs_file *file) {
  static const char *const roles[] = {"other", "host", "kernel"};
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "path", file->path);
  ttm_json_put_name(j, "role", roles[file->role]);
  ttm_json_put_known(j, "bytes", file->bytes);
  ttm_json_put_known(j, "lines", file->lines);
  if (file->cut) ttm_json_put_bool(j, "cut", true);
  if (file->broken) {
    ttm_json_put_known(j, "not_parsed_places", file->broken);
    ttm_json_put_known(j, "not_parsed_line", file->broken_line);
  }
  if (file->failure) ttm_json_put_name(j, "failure", file->failure);
  ttm_json_end(j);
}

static void put_finding(ttm_json *j, const cbs_scan *scan, const cbs_finding *f) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "level", ttm_cb_level_name(f->level));
  ttm_json_put_name(j, "rule", f->rule);
  ttm_json_put_name(j, "file", scan->files.at[f->file].path);
  ttm_json_put_known(j, "line", f->line);
  ttm_json_put_str(j, "text", f->text);
  ttm_json_end(j);
}

void cbs_json(ttm_json *j, const char *key, const cbs_scan *scan) {
  ttm_json_put_sections(j, key);
  ttm_json_put_name(j, "arch", ttm_arches[scan->arch].name);
  ttm_json_put_u64(j, "l1_usable", scan->l1_usable);
  ttm_json_put_u64(j, "files_seen", scan->files.n);
  ttm_json_put_rows(j, "files");
  for (size_t i = 0; i < scan->files.n; i++) {
    const cbs_file *file = &scan->files.at[i];
    if (file->role != CBS_FILE_OTHER || file->failure) put_file(j, file);
  }
  ttm_json_end(j);
  ttm_json_put_rows(j, "programs");
  for (size_t i = 0; i < scan->functions.n; i++) {
    if (scan->functions.at[i].buffer_count) put_program(j, scan, &scan->functions.at[i]);
  }
  ttm_json_end(j);
  ttm_json_put_rows(j, "kernels");
  for (size_t i = 0; i < scan->files.n; i++) {
    const cbs_file *file = &scan->files.at[i];
    if (file->role == CBS_FILE_KERNEL && file->parsed) put_kernel(j, scan, file);
  }
  ttm_json_end(j);
  put_links(j, scan);
  ttm_json_put_rows(j, "findings");
  for (size_t i = 0; i < scan->findings.n; i++) put_finding(j, scan, &scan->findings.at[i]);
  ttm_json_end(j);
  ttm_json_end(j);
}
