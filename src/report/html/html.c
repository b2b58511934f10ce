/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML report: the page of web/ with its data inside. What the first screen needs stands before the program, the
 * rest behind it, so that a browser shows the chart while it still reads the file. */
#include <stdio.h>

#include "analyze/fix.h"
#include "analyze/words.h"
#include "l1/clash.h"
#include "parse/json_text.h"
#include "report/files/json_parts.h"
#include "report/files/report.h"
#include "report/html/html_page.h"
#include "report/html/html_parts.h"
#include "report/write/l1_picture.h"
#include "report/write/svg.h"
#include "ttmem/version.h"

/* ---- IRs ---------------------------------------------------------------------------------------------------------- */

static void put_ir_facts(ttm_json *j, const ttm_profile *p) {
  ttm_json_put_array(j, "irs");
  for (size_t g = 0; g < p->graphs.n; g++) {
    for (size_t d = 0; d < p->graphs.at[g].dumps.n; d++) {
      const ttm_dump *dump = &p->graphs.at[g].dumps.at[d];
      if (!dump->packed) continue;
      ttm_json_put_object(j, NULL);
      ttm_buf_printf(ttm_json_at(j, "id"), "\"ir.%zu.%zu\"", g, d);
      ttm_json_put_u64(j, "graph", g);
      ttm_json_put_u64(j, "line", dump->first_line);
      ttm_json_put_u64(j, "lines", dump->line_count);
      ttm_json_put_id(j, "module", p, p->graphs.at[g].name);
      ttm_json_put_id(j, "stage", p, dump->stage);
      ttm_json_end(j);
    }
  }
  ttm_json_end(j);
}

static int put_ir(ttm_html *h, const ttm_dump *dump, size_t g, size_t d) {
  char id[64];
  ttm_buf text = {0};
  ttm_out index = ttm_out_memory();
  ttm_json j = {.out = &index.buf};
  int code = ttm_profile_dump_text(dump, &text);
  snprintf(id, sizeof id, "ir.%zu.%zu", g, d);
  if (!code) code = ttm_html_block_write_text(ttm_buf_str(&text), id, h->out);
  if (!code) code = ttm_json_put_locations(&j, NULL, &index, ttm_buf_str(&text));
  if (!code) code = ttm_json_finish(&j);
  snprintf(id, sizeof id, "ir.%zu.%zu.locations", g, d);
  if (!code) code = ttm_html_block_write_text(ttm_buf_str(&index.buf), id, h->out);
  ttm_out_abandon(&index);
  ttm_buf_free(&text);
  return code;
}

int ttm_html_irs(ttm_html *h) {
  int code = TTM_OK;
  for (size_t g = 0; g < h->p->graphs.n; g++) {
    for (size_t d = 0; d < h->p->graphs.at[g].dumps.n && !code; d++) {
      const ttm_dump *dump = &h->p->graphs.at[g].dumps.at[d];
      if (dump->packed) code = put_ir(h, dump, g, d);
    }
  }
  return code;
}

/* ---- Facts -------------------------------------------------------------------------------------------------------- */

/* The moments the chart marks: the state of each peak, and the state before each incident. */
typedef struct moments {
  ttm_html_position peak[TTM_MEMORIES];
  ttm_html_position *incidents;
} moments;

static int find_moments(const ttm_findings *f, moments *out) {
  const ttm_profile *p = f->profile;
  ttm_html_walk walk = {.f = f, .element = -1};
  *out = (moments){.incidents = ttm_alloc((p->incidents.n + 1) * sizeof *out->incidents)};
  if (!out->incidents) return TTM_ENOMEM;
  for (size_t i = 0; i < p->incidents.n; i++) out->incidents[i].element = -1;
  /* Incidents come in log order, and so do their states, rank by rank; a short walk back finds those of another. */
  for (uint32_t s = 0; s < p->states.n; s++) {
    ttm_html_position at = ttm_html_walk_to(&walk, s);
    for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
      if (f->peak[m].known && f->peak[m].state == s) out->peak[m] = at;
    }
    for (size_t i = 0; i < p->incidents.n && i < 64; i++) {
      if (p->incidents.at[i].state == s) out->incidents[i] = at;
    }
  }
  return TTM_OK;
}

static void put_position(ttm_json *j, ttm_html_position at) {
  ttm_json_put_i64(j, "element", at.element);
  ttm_json_put_u64(j, "place", at.place);
}

static void put_regions(ttm_json *j, const char *key, const ttm_l1_region *at, size_t n) {
  ttm_json_put_array(j, key);
  for (size_t i = 0; i < n; i++) {
    ttm_json_put_array(j, NULL);
    ttm_json_put_u64(j, NULL, at[i].at);
    ttm_json_put_u64(j, NULL, at[i].end);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

/* One core's L1, for its picture. */
static void put_core(ttm_json *j, const ttm_l1_map *map) {
  ttm_json_put_object(j, "core");
  ttm_json_put_name(j, "chip", ttm_l1_chip(map));
  ttm_json_put_name(j, "chip_basis", ttm_basis_name(map->arch_basis));
  ttm_json_put_u64(j, "size", map->size);
  ttm_json_put_u64(j, "base", map->base);
  ttm_json_put_name(j, "base_basis", ttm_basis_name(map->base_basis));
  ttm_json_put_u64(j, "small", map->small);
  ttm_json_put_name(j, "buffer_word", ttm_l1_map_buffer_word(map));
  put_regions(j, "buffers", map->buffers.at, map->buffers.n);
  put_regions(j, "tensors", map->tensors.at, map->tensors.n);
  ttm_json_end(j);
}

/* The core of a clash, as far as its message tells. */
static int put_clash(ttm_json *j, const ttm_profile *p, const ttm_incident *incident) {
  ttm_clash clash = {0};
  ttm_arch_id arch = ttm_incident_arch(p, incident);
  ttm_clash_hints hints = {.arch = ttm_str_of(arch == TTM_ARCHES ? NULL : ttm_arches[arch].name)};
  if (!ttm_clash_possible(&incident->what)) return TTM_OK;
  int code = ttm_clash_explain(&clash, &incident->what, &hints);
  if (!code) put_core(j, &clash.map);
  ttm_clash_free(&clash);
  return code == TTM_ENOMEM ? code : TTM_OK;
}

static void put_incident(ttm_json *j, const ttm_findings *f, size_t i, ttm_html_position at) {
  const ttm_incident *incident = &f->profile->incidents.at[i];
  ttm_json_put_object(j, NULL);
  put_position(j, at);
  ttm_json_put_i64(j, "state", incident->state < f->profile->states.n ? (int64_t)incident->state : -1);
  if (put_clash(j, f->profile, incident)) j->out->failed = true;
  ttm_json_end(j);
}

static int put_moments(ttm_json *j, const ttm_findings *f) {
  moments at;
  if (find_moments(f, &at)) return TTM_ENOMEM;
  ttm_json_put_object(j, "peaks");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    if (!f->peak[m].known) continue;
    ttm_json_put_object(j, ttm_memory_name(m));
    put_position(j, at.peak[m]);
    ttm_json_put_u64(j, "state", f->peak[m].state);
    ttm_json_put_u64(j, "rank", ttm_state_rank(f->profile, f->peak[m].state));
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_put_array(j, "incidents");
  for (size_t i = 0; i < f->profile->incidents.n; i++) put_incident(j, f, i, at.incidents[i]);
  ttm_json_end(j);
  ttm_free(at.incidents);
  return TTM_OK;
}

/* L1 core by core, which only captures and recordings tell: the core on which a program's buffers came nearest to a tensor, with the
 * operation of that program. The sentence is the statement "l1.core". */
static void put_l1(ttm_json *j, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  const ttm_core_use *use = &f->core_use;
  uint32_t op = use->map.size ? p->capture.events.at[use->gap_event].op : TTM_NONE;
  if (op >= p->ops.n) return;
  ttm_json_put_object(j, "l1");
  ttm_json_put_op(j, "operation", f, op);
  put_core(j, &use->map);
  ttm_json_end(j);
}

void ttm_html_put_words(ttm_json *j, const ttm_profile *p) {
  ttm_json_put_object(j, "topics");
  for (int t = 0; t < TTM_TOPICS; t++)
    ttm_json_put_name(j, ttm_topic_name((ttm_topic)t), ttm_topic_title((ttm_topic)t));
  ttm_json_end(j);
  ttm_json_put_object(j, "classes");
  for (int c = 0; c < TTM_ALIVE_CLASSES; c++)
    ttm_json_put_name(j, ttm_alive_class_name(p, (ttm_alive_class)c), ttm_words_class(p, (ttm_alive_class)c));
  ttm_json_end(j);
}

/* What the page says of the input as a whole. */
static void put_input(ttm_json *j, const ttm_html *h, ttm_str name, bool own_findings) {
  const ttm_profile *p = h->p;
  ttm_json_put_u64(j, "format", TTM_HTML_FORMAT);
  ttm_json_put_name(j, "version", TTM_VERSION);
  ttm_json_put_str(j, "name", name);
  ttm_json_put_str(j, "source", ttm_words_source(p));
  ttm_json_put_u64(j, "elements", h->f->elements);
  ttm_json_put_u64(j, "states", p->states.n);
  ttm_json_put_u64(j, "calls", p->calls.n);
  ttm_json_put_u64(j, "step", TTM_HTML_STEP);
  ttm_json_put_u64(j, "levels", p->states.n < TTM_HTML_PLAIN ? 0 : TTM_HTML_LEVELS);
  /* "rough": what needs the frees is not known; "kept": the findings were made when the log was there. */
  if (p->seen.from_report) ttm_json_put_name(j, "rebuilt", own_findings ? "rough" : "kept");
  ttm_json_put_array(j, "ranks");
  for (size_t r = 0; r < p->ranks.n; r++) ttm_json_put_u64(j, NULL, p->ranks.at[r]);
  ttm_json_end(j);
  ttm_json_put_array(j, "held");
  for (uint32_t r = 0; r == 0 || r < p->ranks.n; r++)
    if (ttm_html_holds_rank(h->f, r)) ttm_json_put_u64(j, NULL, r);
  ttm_json_end(j);
}

static int put_facts(ttm_html *h, ttm_str name, bool own_findings) {
  ttm_buf text = {0};
  ttm_json j = {.out = &text};
  ttm_json_put_object(&j, NULL);
  put_input(&j, h, name, own_findings);
  ttm_html_put_words(&j, h->p);
  ttm_json_put_bool(&j, "has_runs", ttm_words_has_runs(h->p));
  ttm_json_put_bool(&j, "blocks_known", ttm_blocks_known(h->p));
  put_ir_facts(&j, h->p);
  put_l1(&j, h->f);
  ttm_html_put_cores(&j, h);
  int code = put_moments(&j, h->f);
  ttm_json_end(&j);
  if (!code) code = ttm_json_finish(&j);
  if (!code) code = ttm_html_block_write_text(ttm_buf_str(&text), "facts", h->out);
  ttm_buf_free(&text);
  return code;
}

/* A JSON file of the report, inside the page: both say the same. */
static int put_file(ttm_html *h, ttm_report_writer *write, const char *id, ttm_error *err) {
  ttm_out file = ttm_out_memory();
  int code = write(h->f, &file, err);
  if (!code && file.buf.failed) code = TTM_ENOMEM;
  if (!code) code = ttm_html_block_write_text(ttm_buf_str(&file.buf), id, h->out);
  ttm_out_abandon(&file);
  return code;
}

/* ---- The page ----------------------------------------------------------------------------------------------------- */

void ttm_html_put_head(ttm_buf *buf, ttm_str name) {
  ttm_buf_put(buf, ttm_html_page_start);
  ttm_xml_text(buf, name, 120); /* the only text from outside that stands in the markup */
  ttm_buf_put(buf, ttm_html_page_body);
}

static int put_page(ttm_html *h, ttm_str name, ttm_str findings_json, ttm_error *err) {
  const ttm_profile *p = h->p;
  /* Findings of before there were statements say nothing that the page could show. */
  if (!ttm_json_get_member(findings_json, "statements").n) findings_json = TTM_LIT("");
  ttm_buf *buf = &h->out->buf;
  if (ttm_html_ids_init(&h->labels, p->strings.strings.n) || ttm_html_ids_init(&h->words, p->strings.strings.n) ||
      ttm_html_ids_init(&h->texts, p->texts.n) || ttm_html_ids_init(&h->types, p->types.n))
    return TTM_ENOMEM;
  if (ttm_core_views_make(&h->cores, p)) return TTM_ENOMEM;
  ttm_html_put_head(buf, name);
  int code = put_facts(h, name, !findings_json.n);
  if (!code && findings_json.n) code = ttm_html_block_write_text(findings_json, "findings", h->out);
  if (!code && !findings_json.n) code = put_file(h, ttm_report_findings_json, "findings", err);
  if (!code) code = ttm_html_pyramids(h);
  ttm_buf_put(buf, ttm_html_page_program);
  if (!code) code = ttm_html_states(h);
  if (!code) code = ttm_html_operations(h);
  if (!code) code = ttm_html_calls(h);
  if (!code) code = ttm_html_cores(h);
  if (!code) code = ttm_html_texts(h);
  if (!code) code = ttm_html_occupancy(h);
  if (!code) code = ttm_html_strings(h);
  if (!code) code = put_file(h, ttm_report_registry_json, "registry", err);
  if (!code) code = ttm_html_weights(h);
  if (!code) code = ttm_html_irs(h);
  ttm_buf_put(buf, ttm_html_page_end);
  return code;
}

int ttm_report_html(const ttm_findings *f, ttm_str name, ttm_out *out, ttm_error *err) {
  return ttm_report_html_with(f, name, TTM_LIT(""), out, err);
}

int ttm_report_html_with(const ttm_findings *f, ttm_str name, ttm_str findings_json, ttm_out *out, ttm_error *err) {
  ttm_html h = {.f = f, .p = f->profile, .out = out};
  int code = put_page(&h, name, findings_json, err);
  ttm_html_block_free(&h.block);
  ttm_html_ids_free(&h.labels);
  ttm_html_ids_free(&h.words);
  ttm_html_ids_free(&h.texts);
  ttm_html_ids_free(&h.types);
  ttm_core_views_free(&h.cores);
  if (code == TTM_ENOMEM || out->buf.failed) return ttm_error_nomem(err);
  return code ? ttm_error_set(err, code, "a module text kept from the log cannot be unpacked") : TTM_OK;
}
