/* SPDX-License-Identifier: Apache-2.0 */
/* <name>_ir.json: the module texts of the compiled graphs. The keys "ttir" and "ttnn" hold those of the first graph
 * that has them; every other text that was kept stands under "graphs". Nothing is stored twice, and only one text is
 * unpacked at a time. */
#include "report/files/json_parts.h"
#include "report/files/report.h"

enum { SLICE = 1 << 16 };

typedef struct ir_writer {
  const ttm_profile *p;
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
    size_t n = text.n < SLICE ? text.n : SLICE;
    for (int back = 0; back < 3 && n < text.n && n > 1 && ((unsigned char)text.p[n] & 0xC0) == 0x80; back++) n--;
    ttm_json_escape(&out->buf, ttm_str_first(text, n));
    text = ttm_str_from(text, n);
    ttm_out_flow(out);
  }
  ttm_buf_char(&out->buf, '"');
}

int ttm_json_loc_index(ttm_out *out, ttm_str text) {
  ttm_arena arena = {0};
  ttm_loc_lines locs = {0};
  int code = ttm_module_loc_lines(text, &arena, &locs);
  ttm_buf_char(&out->buf, '{');
  for (size_t i = 0; i < locs.n && !code; i++) {
    if (i) ttm_buf_char(&out->buf, ',');
    ttm_json_string(&out->buf, locs.at[i].name);
    ttm_buf_char(&out->buf, ':');
    ttm_buf_u64(&out->buf, locs.at[i].line);
    ttm_out_flow(out);
  }
  ttm_buf_char(&out->buf, '}');
  ttm_vec_free(&locs);
  ttm_arena_free(&arena);
  return code;
}

static int put_dump(ttm_out *out, const ttm_dump *dump) {
  ttm_buf text = {0};
  int code = dump ? ttm_profile_dump_text(dump, &text) : TTM_OK;
  if (code == TTM_ENODATA) code = TTM_OK; /* not kept: an empty text, as when the log has none */
  if (!code && text.failed) code = TTM_ENOMEM;
  if (!code) {
    ttm_json_raw(&out->buf, "{\"text\":");
    put_long_string(out, ttm_buf_str(&text));
    ttm_json_raw(&out->buf, ",\n\"loc_index\":");
    code = ttm_json_loc_index(out, ttm_buf_str(&text));
  }
  if (dump) {
    ttm_json_raw(&out->buf, ",\"line\":"); /* of the log */
    ttm_buf_u64(&out->buf, dump->first_line);
  }
  ttm_buf_char(&out->buf, '}');
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
  ttm_buf *buf = &w->out->buf;
  ttm_json_comma comma = {0};
  int code = TTM_OK;
  ttm_buf_put(buf, index ? TTM_LIT(",\n{\"graph\":") : TTM_LIT("\n{\"graph\":"));
  ttm_buf_u64(buf, index);
  ttm_json_raw(buf, ",\"module\":");
  ttm_json_id(buf, w->p, graph->name);
  ttm_json_raw(buf, ",\"rank\":");
  ttm_buf_u64(buf, ttm_rank_number(w->p, graph->rank));
  ttm_json_raw(buf, ",\"stages\":{");
  for (size_t d = 0; d < graph->dumps.n && !code; d++) {
    const ttm_dump *dump = &graph->dumps.at[d];
    if (!dump->packed || dump == w->ttir || dump == w->ttnn || stage_came_before(graph, d)) continue;
    ttm_json_next(buf, &comma, TTM_LIT(",\n"));
    ttm_json_string(buf, ttm_profile_string(w->p, dump->stage));
    ttm_buf_char(buf, ':');
    code = put_dump(w->out, dump);
  }
  ttm_json_raw(buf, "}}");
  return code;
}

int ttm_report_ir_json(const ttm_findings *f, ttm_out *out, ttm_error *err) {
  const ttm_profile *p = f->profile;
  ir_writer w = {p, out, first_dump(p, TTM_LIT("ttir")), first_dump(p, TTM_LIT("ttnn"))};
  ttm_json_raw(&out->buf, "{\"ttir\":");
  int code = put_dump(out, w.ttir);
  ttm_json_raw(&out->buf, ",\n\"ttnn\":");
  if (!code) code = put_dump(out, w.ttnn);
  ttm_json_raw(&out->buf, ",\n\"graphs\":[");
  for (uint32_t g = 0; g < p->graphs.n && !code; g++) code = put_graph(&w, g);
  ttm_buf_put(&out->buf, p->graphs.n ? TTM_LIT("\n]}\n") : TTM_LIT("]}\n"));
  if (code == TTM_ENOMEM || out->buf.failed) return ttm_error_nomem(err);
  return code ? ttm_error_set(err, code, "a module text kept from the log cannot be unpacked") : TTM_OK;
}
