/* SPDX-License-Identifier: Apache-2.0 */
/* <name>_ir.json: the module texts of the compiled graphs. The keys "ttir" and "ttnn" hold those of the first graph
 * that has them; every other text that was kept stands under "graphs". Nothing is stored twice, and only one text is
 * unpacked at a time. */
#include "base/utf8.h"
#include "report/files/json_parts.h"
#include "report/files/report.h"

enum { SLICE = 1 << 16 };

typedef struct ir_writer {
  const ttm_profile *p;
  ttm_json json;
  ttm_out *out;
  const ttm_dump *ttir, *ttnn; /* the ones at the top; NULL when the log has none */
} ir_writer;

static bool has_stage(const ttm_profile *p, const ttm_dump *dump, ttm_str stage) {
  return dump->packed && ttm_str_eq(ttm_profile_string(p, dump->stage), stage);
}

static const ttm_dump *first_dump(const ttm_profile *p, ttm_str stage) {
  for (size_t g = 0; g < p->graphs.n; g++) {
    for (size_t d = 0; d < p->graphs.at[g].dumps.n; d++) {
      const ttm_dump *dump = &p->graphs.at[g].dumps.at[d];
      if (has_stage(p, dump, stage)) return dump;
    }
  }
  return NULL;
}

/* A module text can be a hundred megabytes: it goes out in slices that end between characters. */
static void put_long_string(ttm_out *out, ttm_str text) {
  ttm_buf_char(&out->buf, '"');
  while (text.n) {
    ttm_str slice = ttm_utf8_head(text, SLICE);
    ttm_json_escape(&out->buf, slice);
    text = ttm_str_from(text, slice.n);
    ttm_out_flow(out);
  }
  ttm_buf_char(&out->buf, '"');
}

int ttm_json_put_locations(ttm_json *j, const char *key, ttm_out *out, ttm_str text) {
  ttm_arena arena = {0};
  ttm_loc_lines locs = {0};
  int code = ttm_module_loc_lines(text, &arena, &locs);
  ttm_json_put_object(j, key);
  for (size_t i = 0; i < locs.n && !code; i++) {
    ttm_json_put_key(j, locs.at[i].name);
    ttm_json_put_u64(j, NULL, locs.at[i].line);
    ttm_out_flow(out);
  }
  ttm_json_end(j);
  ttm_vec_free(&locs);
  ttm_arena_free(&arena);
  return code;
}

static int put_dump(ir_writer *w, const char *key, const ttm_dump *dump) {
  ttm_json *j = &w->json;
  ttm_buf text = {0};
  int code = dump ? ttm_profile_dump_text(dump, &text) : TTM_OK;
  if (code == TTM_ENODATA) code = TTM_OK; /* not kept: an empty text, as when the log has none */
  if (!code && text.failed) code = TTM_ENOMEM;
  ttm_json_put_sections(j, key);
  if (!code) {
    ttm_json_at(j, "text");
    put_long_string(w->out, ttm_buf_str(&text));
    code = ttm_json_put_locations(j, "loc_index", w->out, ttm_buf_str(&text));
  }
  j->lines ^= 1; /* "line", of the log, follows on the same line */
  if (dump) ttm_json_put_u64(j, "line", dump->first_line);
  ttm_json_end(j);
  ttm_buf_free(&text);
  return code;
}

/* A stage printed twice for one graph would be a key given twice. */
static bool stage_came_before(const ttm_graph *graph, size_t dump) {
  for (size_t i = 0; i < dump; i++) {
    if (graph->dumps.at[i].packed && graph->dumps.at[i].stage == graph->dumps.at[dump].stage) return true;
  }
  return false;
}

static int put_graph(ir_writer *w, uint32_t index) {
  const ttm_graph *graph = &w->p->graphs.at[index];
  ttm_json *j = &w->json;
  int code = TTM_OK;
  ttm_json_put_object(j, NULL);
  ttm_json_put_u64(j, "graph", index);
  ttm_json_put_id(j, "module", w->p, graph->name);
  ttm_json_put_u64(j, "rank", ttm_rank_number(w->p, graph->rank));
  ttm_json_put_sections(j, "stages");
  for (size_t d = 0; d < graph->dumps.n && !code; d++) {
    const ttm_dump *dump = &graph->dumps.at[d];
    if (!dump->packed || dump == w->ttir || dump == w->ttnn || stage_came_before(graph, d)) continue;
    ttm_json_put_key(j, ttm_profile_string(w->p, dump->stage));
    code = put_dump(w, NULL, dump);
  }
  ttm_json_end(j);
  ttm_json_end(j);
  return code;
}

int ttm_report_ir_json(const ttm_findings *f, ttm_out *out, ttm_error *err) {
  const ttm_profile *p = f->profile;
  ir_writer w = {p, {.out = &out->buf}, out, first_dump(p, TTM_LIT("ttir")), first_dump(p, TTM_LIT("ttnn"))};
  ttm_json *j = &w.json;
  ttm_json_put_sections(j, NULL);
  int code = put_dump(&w, "ttir", w.ttir);
  if (!code) code = put_dump(&w, "ttnn", w.ttnn);
  ttm_json_put_rows(j, "graphs");
  for (uint32_t g = 0; g < p->graphs.n && !code; g++) code = put_graph(&w, g);
  ttm_json_end(j);
  ttm_json_end(j);
  if (ttm_json_finish(j) || code == TTM_ENOMEM) return ttm_error_nomem(err);
  return code ? ttm_error_set(err, code, "a module text kept from the log cannot be unpacked") : TTM_OK;
}
