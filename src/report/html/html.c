/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML report: the page of web/ with its data inside. What the first screen needs stands before the program, the
 * rest behind it, so that a browser shows the chart while it still reads the file. */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/ways.h"
#include "analyze/words.h"
#include "l1/clash.h"
#include "report/files/json_parts.h"
#include "report/files/report.h"
#include "report/html/html_page.h"
#include "report/html/html_parts.h"
#include "report/run/recording.h"
#include "report/write/l1_parts.h"
#include "report/write/svg.h"
#include "ttmem/version.h"

/* ---- IRs ---------------------------------------------------------------------------------------------------------- */

static void put_ir_facts(ttm_buf *buf, const ttm_profile *p) {
  ttm_json_comma comma = {0};
  ttm_json_raw(buf, ",\"irs\":[");
  for (size_t g = 0; g < p->graphs.n; g++) {
    for (size_t d = 0; d < p->graphs.at[g].dumps.n; d++) {
      const ttm_dump *dump = &p->graphs.at[g].dumps.at[d];
      if (!dump->packed) continue;
      ttm_json_next(buf, &comma, TTM_LIT(","));
      ttm_buf_printf(buf,
                     "{\"id\":\"ir.%zu.%zu\",\"graph\":%zu,\"line\":%" PRIu32 ",\"lines\":%" PRIu32 ",\"module\":", g,
                     d, g, dump->first_line, dump->line_count);
      ttm_json_id(buf, p, p->graphs.at[g].name);
      ttm_json_raw(buf, ",\"stage\":");
      ttm_json_id(buf, p, dump->stage);
      ttm_buf_char(buf, '}');
    }
  }
  ttm_buf_char(buf, ']');
}

static int put_ir(ttm_html *h, const ttm_dump *dump, size_t g, size_t d) {
  char id[64];
  ttm_buf text = {0};
  ttm_out index = ttm_out_memory();
  int code = ttm_profile_dump_text(dump, &text);
  snprintf(id, sizeof id, "ir.%zu.%zu", g, d);
  if (!code) code = ttm_block_write_text(ttm_buf_str(&text), id, h->out);
  if (!code) code = ttm_json_loc_index(&index, ttm_buf_str(&text));
  snprintf(id, sizeof id, "ir.%zu.%zu.locations", g, d);
  if (!code && index.buf.failed) code = TTM_ENOMEM;
  if (!code) code = ttm_block_write_text(ttm_buf_str(&index.buf), id, h->out);
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

static void put_position(ttm_buf *buf, ttm_html_position at) {
  ttm_buf_printf(buf, "{\"element\":%" PRId64 ",\"place\":%d", at.element, (int)at.place);
}

static void put_regions(ttm_buf *buf, const char *key, const ttm_l1_region *at, size_t n) {
  ttm_buf_printf(buf, ",\"%s\":[", key);
  for (size_t i = 0; i < n; i++) {
    ttm_buf_printf(buf, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", at[i].at, at[i].end);
  }
  ttm_buf_char(buf, ']');
}

/* One core's L1, for its picture. */
static void put_core(ttm_buf *buf, const ttm_l1_map *map) {
  ttm_buf_printf(buf,
                 ",\"core\":{\"chip\":\"%s\",\"chip_basis\":\"%s\",\"size\":%" PRIu64 ",\"base\":%" PRIu64
                 ",\"base_basis\":\"%s\",\"small\":%" PRIu64 ",\"buffer_word\":\"%s\"",
                 ttm_l1_chip(map), ttm_basis_name(map->arch_basis), map->size, map->base,
                 ttm_basis_name(map->base_basis), map->small, ttm_l1_map_buffer_word(map));
  put_regions(buf, "buffers", map->buffers.at, map->buffers.n);
  put_regions(buf, "tensors", map->tensors.at, map->tensors.n);
  ttm_buf_char(buf, '}');
}

/* The core of a clash, as far as its message tells. */
static int put_clash(ttm_buf *buf, const ttm_profile *p, const ttm_incident *incident) {
  ttm_clash clash = {0};
  ttm_arch_id arch = ttm_incident_arch(p, incident);
  ttm_clash_hints hints = {.arch = ttm_str_of(arch == TTM_ARCHES ? NULL : ttm_arches[arch].name)};
  if (!ttm_clash_possible(&incident->what)) return TTM_OK;
  int code = ttm_clash_explain(&clash, &incident->what, &hints);
  if (!code) put_core(buf, &clash.map);
  ttm_clash_free(&clash);
  return code == TTM_ENOMEM ? code : TTM_OK;
}

static int put_moments(ttm_buf *buf, const ttm_findings *f) {
  moments at;
  ttm_json_comma comma = {0};
  if (find_moments(f, &at)) return TTM_ENOMEM;
  ttm_json_raw(buf, ",\"peaks\":{");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    if (!f->peak[m].known) continue;
    ttm_json_next(buf, &comma, TTM_LIT(","));
    ttm_json_memory_key(buf, m);
    put_position(buf, at.peak[m]);
    ttm_buf_printf(buf, ",\"state\":%" PRIu32 ",\"rank\":%" PRIu32 "}", f->peak[m].state,
                   ttm_state_rank(f->profile, f->peak[m].state));
  }
  ttm_json_raw(buf, "},\"incidents\":[");
  for (size_t i = 0; i < f->profile->incidents.n; i++) {
    const ttm_incident *incident = &f->profile->incidents.at[i];
    ttm_buf words = {0};
    if (i) ttm_buf_char(buf, ',');
    put_position(buf, at.incidents[i]);
    ttm_words_incident(&words, incident);
    ttm_json_raw(buf, ",\"title\":");
    ttm_json_string(buf, ttm_buf_str(&words));
    ttm_buf_clear(&words);
    ttm_words_verdict(&words, f->incidents.at[i].verdict);
    ttm_json_raw(buf, ",\"verdict\":");
    ttm_json_string(buf, ttm_buf_str(&words));
    ttm_buf_printf(buf, ",\"state\":%" PRId64,
                   incident->state < f->profile->states.n ? (int64_t)incident->state : (int64_t)-1);
    ttm_buf_free(&words);
    if (put_clash(buf, f->profile, incident)) buf->failed = true;
    ttm_buf_char(buf, '}');
  }
  ttm_buf_char(buf, ']');
  ttm_free(at.incidents);
  return TTM_OK;
}

static void put_ranks(ttm_buf *buf, const ttm_profile *p) {
  ttm_json_raw(buf, ",\"ranks\":[");
  for (size_t r = 0; r < p->ranks.n; r++) {
    if (r) ttm_buf_char(buf, ',');
    ttm_buf_u64(buf, p->ranks.at[r]);
  }
  ttm_buf_char(buf, ']');
}

/* L1 core by core, which only captures and recordings tell: the fullest core in a sentence, and the core on which a program's buffers came
 * nearest to a tensor, with the operation of that program. */
static int put_l1(ttm_buf *buf, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  ttm_core_use use;
  ttm_buf words = {0};
  if (p->kind != TTM_LOG_CAPTURE || p->seen.from_report) return TTM_OK;
  int code = ttm_core_use_make(&use, p);
  if (!code) ttm_words_core_use(&words, p, &use);
  if (!code && words.n) {
    ttm_json_raw(buf, ",\"l1\":{\"words\":");
    ttm_json_string(buf, ttm_buf_str(&words));
    uint32_t op = use.gap_event < p->capture.events.n ? p->capture.events.at[use.gap_event].op : TTM_NONE;
    if (use.map.size && op < p->ops.n) {
      ttm_json_raw(buf, ",\"operation\":{");
      ttm_json_op_members(buf, f, op);
      ttm_buf_char(buf, '}');
      put_core(buf, &use.map);
    }
    ttm_buf_char(buf, '}');
  }
  if (words.failed) code = TTM_ENOMEM;
  ttm_buf_free(&words);
  ttm_core_use_free(&use);
  return code;
}

static int put_facts(ttm_html *h, ttm_str name, bool own_findings) {
  const ttm_profile *p = h->p;
  const char *missing = ttm_words_missing(p);
  ttm_buf json = {0}, lacks = {0};
  ttm_words_recording(&lacks, h->f);
  ttm_buf_printf(&json, "{\"format\":%d,\"version\":\"%s\",\"name\":", TTM_HTML_FORMAT, TTM_VERSION);
  ttm_json_string(&json, name);
  ttm_json_raw(&json, ",\"source\":");
  ttm_json_string(&json, ttm_words_source(p));
  ttm_json_raw(&json, ",\"holds\":");
  ttm_json_string(&json, ttm_str_of(ttm_words_kind(p)));
  ttm_json_raw(&json, ",\"missing\":");
  if (missing)
    ttm_json_string(&json, ttm_str_of(missing));
  else if (lacks.n)
    ttm_json_string(&json, ttm_buf_str(&lacks));
  else
    ttm_json_null(&json);
  ttm_buf_printf(&json, ",\"elements\":%" PRIu32 ",\"states\":%zu,\"calls\":%zu,\"step\":%d,\"levels\":%d",
                 h->f->elements, p->states.n, p->calls.n, TTM_HTML_STEP,
                 p->states.n < TTM_HTML_PLAIN ? 0 : TTM_HTML_LEVELS);
  json.failed |= lacks.failed;
  ttm_buf_free(&lacks);
  /* "rough": what needs the frees is not known; "kept": the findings were made when the log was there. */
  if (p->seen.from_report) ttm_buf_puts(&json, own_findings ? ",\"rebuilt\":\"rough\"" : ",\"rebuilt\":\"kept\"");
  put_ranks(&json, p);
  put_ir_facts(&json, p);
  int code = put_l1(&json, h->f);
  if (!code) code = put_moments(&json, h->f);
  ttm_buf_char(&json, '}');
  if (!code && json.failed) code = TTM_ENOMEM;
  if (!code) code = ttm_block_write_text(ttm_buf_str(&json), "facts", h->out);
  ttm_buf_free(&json);
  return code;
}

/* A JSON file of the report, inside the page: both say the same. */
static int put_file(ttm_html *h, ttm_report_writer *write, const char *id, ttm_error *err) {
  ttm_out file = ttm_out_memory();
  int code = write(h->f, &file, err);
  if (!code && file.buf.failed) code = TTM_ENOMEM;
  if (!code) code = ttm_block_write_text(ttm_buf_str(&file.buf), id, h->out);
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
  ttm_buf *buf = &h->out->buf;
  if (ttm_html_ids_init(&h->labels, p->strings.strings.n) || ttm_html_ids_init(&h->words, p->strings.strings.n) ||
      ttm_html_ids_init(&h->texts, p->texts.n) || ttm_html_ids_init(&h->types, p->types.n))
    return TTM_ENOMEM;
  ttm_html_put_head(buf, name);
  int code = put_facts(h, name, !findings_json.n);
  if (!code && findings_json.n) code = ttm_block_write_text(findings_json, "findings", h->out);
  if (!code && !findings_json.n) code = put_file(h, ttm_report_findings_json, "findings", err);
  if (!code) code = ttm_html_pyramids(h);
  ttm_buf_put(buf, ttm_html_page_program);
  if (!code) code = ttm_html_states(h);
  if (!code) code = ttm_html_operations(h);
  if (!code) code = ttm_html_calls(h);
  if (!code) code = ttm_html_texts(h);
  if (!code) code = ttm_html_strings(h);
  if (!code) code = put_file(h, ttm_report_registry_json, "registry", err);
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
  ttm_block_free(&h.block);
  ttm_html_ids_free(&h.labels);
  ttm_html_ids_free(&h.words);
  ttm_html_ids_free(&h.texts);
  ttm_html_ids_free(&h.types);
  if (code == TTM_ENOMEM || out->buf.failed) return ttm_error_nomem(err);
  return code ? ttm_error_set(err, code, "a module text kept from the log cannot be unpacked") : TTM_OK;
}
