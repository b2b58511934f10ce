/* SPDX-License-Identifier: Apache-2.0 */
/* `ttmem explain`: what an error message says, drawn to scale, and the smallest changes with which it would not have come. */
#include "report/run/explain.h"

#include <stdio.h>

#include "analyze/say.h"
#include "analyze/words.h"
#include "base/format.h"
#include "l1/clash.h"
#include "report/write/l1_picture.h"

enum { MARGIN = 2, LABEL = 10, BAR = 44, MOST = 20 };

typedef struct page {
  const ttm_findings *f;
  const ttm_profile *p;
  const ttm_summary_style *style;
  ttm_buf *out;
  size_t columns;
  ttm_text_form form;
} page;

static void color(page *s, const char *code) {
  if (s->style->color) ttm_buf_printf(s->out, "\x1b[%sm", code);
}

/* A sentence over as many lines as it takes, `indent` columns in; the margin of the first is there already. */
static void paragraph(page *s, ttm_str words, size_t indent) {
  ttm_put_paragraph(s->out, words, indent, indent, s->columns, s->form);
  ttm_buf_char(s->out, '\n');
}

/* ---- Drawing ---------------------------------------------------------------------------------------------------------- */

/* A stretch of a bar; the ends are in the unit of `whole`. */
typedef struct stretch {
  uint64_t from, to;
  const char *utf8, *ascii, *code;
} stretch;

static size_t column_of(uint64_t at, uint64_t whole) {
  return at >= whole ? BAR : (size_t)((double)at / (double)whole * BAR);
}

/* One line: label, the stretches to scale (each at least one column), and what they mean. */
static void bar(page *s, const char *label, uint64_t whole, const stretch *parts, size_t n) {
  size_t at = 0;
  ttm_buf_printf(s->out, "%*s%-*s%s", MARGIN, "", LABEL, label, s->style->utf8 ? "\xE2\x96\x95" : "|");
  for (size_t i = 0; i < n; i++) {
    size_t from = column_of(parts[i].from, whole), to = column_of(parts[i].to, whole);
    if (parts[i].to > parts[i].from && to <= from) to = from + 1;
    if (to > BAR) to = BAR, from = from >= BAR ? BAR - 1 : from;
    for (; at < from; at++) ttm_buf_char(s->out, ' ');
    if (parts[i].code) color(s, parts[i].code);
    for (; at < to; at++) ttm_buf_puts(s->out, s->style->utf8 ? parts[i].utf8 : parts[i].ascii);
    if (parts[i].code) color(s, "0");
  }
  for (; at < BAR; at++) ttm_buf_char(s->out, ' ');
  ttm_buf_puts(s->out, s->style->utf8 ? "\xE2\x96\x8F " : "| ");
}

#define FULL "\xE2\x96\x88", "#"
#define DENSE "\xE2\x96\x93", "="
#define LIGHT "\xE2\x96\x91", "."

static void number(page *s, const char *label, uint64_t bytes, const char *after) {
  if (bytes == TTM_UNKNOWN) return;
  ttm_buf_printf(s->out, "%*s%-*s", MARGIN, "", LABEL, label);
  char room[TTM_COUNT_ROOM];
  ttm_buf_printf(s->out, "%14s B", ttm_count_text(room, bytes));
  if (bytes >= 1024) { /* as the sentences have it */
    ttm_buf words = {0};
    ttm_say(&words, NULL, "{}", TTM_MB_OF(bytes));
    ttm_buf_printf(s->out, " = %10.*s", (int)words.n, words.n ? words.at : "");
    s->out->failed |= words.failed;
    ttm_buf_free(&words);
  }
  ttm_buf_printf(s->out, " %s\n", after);
}

/* ---- Out of memory ---------------------------------------------------------------------------------------------------- */

/* Allocated and free of one bank, the largest free block and what was needed, all to one scale. Where the blocks stand is not in the
 * message: the picture shows amounts, not addresses. */
static void draw_bank(page *s, const ttm_incident_text *what) {
  uint64_t bank = what->bank_size, used = what->allocated_per_bank, largest = what->largest_free_block;
  uint64_t needed = what->needed_per_bank;
  if (bank == TTM_UNKNOWN || bank == 0 || used == TTM_UNKNOWN || largest == TTM_UNKNOWN || used > bank) return;
  if (needed > bank) {
    stretch parts[] = {{0, bank, LIGHT, "32"}}, need[] = {{0, needed, DENSE, "31"}};
    bar(s, "bank", needed, parts, 1);
    ttm_buf_puts(s->out, "all of it\n");
    bar(s, "needed", needed, need, 1);
    ttm_buf_printf(s->out, "%.1f times as much\n\n", (double)needed / (double)bank);
    return;
  }
  stretch parts[] = {{0, used, FULL, "33"}, {used, bank, LIGHT, "32"}};
  bar(s, "bank", bank, parts, 2);
  ttm_buf_printf(s->out, "%.1f%% allocated\n", ttm_percent((double)used, (double)bank));
  stretch block[] = {{0, largest, LIGHT, "32"}}, need[] = {{0, needed, DENSE, "31"}};
  bar(s, "largest", bank, block, 1);
  ttm_buf_puts(s->out, "free block\n");
  bar(s, "needed", bank, need, 1);
  ttm_buf_puts(s->out, "as one block\n\n");
}

static void explain_oom(page *s, const ttm_incident_text *what, const ttm_incident_finding *finding) {
  char banks[64] = "per bank";
  if (what->size != TTM_UNKNOWN && what->banks != TTM_UNKNOWN) {
    snprintf(banks, sizeof banks, "per bank, %.1f MB in %llu banks", (double)what->size / TTM_MB,
             (unsigned long long)what->banks);
  }
  draw_bank(s, what);
  number(s, "needed", what->needed_per_bank, banks);
  number(s, "free", what->free_per_bank, "per bank");
  number(s, "largest", what->largest_free_block, "free block");
  number(s, "allocated", what->allocated_per_bank, "per bank");
  number(s, "bank", what->bank_size, "for tensors");
  number(s, "short by", finding->shortfall, "per bank");
}

/* ---- Static buffers ----------------------------------------------------------------------------------------------------- */

/* One core's L1 with addresses: static buffers grow up from the base, tensors grow down from the top. */
static void draw_core(page *s, const ttm_incident *incident) {
  ttm_arch_id arch = ttm_incident_arch(s->p, incident);
  ttm_clash_hints hints = {.arch = ttm_str_of(arch == TTM_ARCHES ? NULL : ttm_arches[arch].name)};
  ttm_picture_style style = {.columns = s->style->columns, .color = s->style->color, .utf8 = s->style->utf8};
  ttm_clash clash;
  if (!ttm_clash_possible(&incident->what)) return;
  if (ttm_clash_explain(&clash, &incident->what, &hints)) {
    s->out->failed = true;
  } else {
    ttm_buf_printf(s->out, "%*sOne core's L1 of ", MARGIN, "");
    ttm_put_count(s->out, clash.map.size);
    ttm_buf_printf(s->out, " B (%s%s)\n", ttm_arches[clash.map.arch].name,
                   clash.map.arch_basis == TTM_ESTIMATED ? " assumed" : "");
    ttm_l1_picture_text(&clash.map, &style, s->out);
    ttm_buf_char(s->out, '\n');
  }
  ttm_clash_free(&clash);
}

static void explain_buffers(page *s, const ttm_incident *incident, uint64_t overlap) {
  draw_core(s, incident);
  if (overlap == TTM_UNKNOWN) return;
  char tiles[80];
  snprintf(tiles, sizeof tiles, "on each core: %llu bf16 tiles, %llu bfp8 tiles",
           (unsigned long long)((overlap + 2047) / 2048), (unsigned long long)((overlap + 1087) / 1088));
  number(s, incident->what.kind == TTM_INCIDENT_L1_CLASH ? "overlap" : "exceeds", overlap, tiles);
  if (!incident->what.core_range.n) return;
  ttm_buf_printf(s->out, "%*s%-*s", MARGIN, "", LABEL, "cores");
  ttm_put_text(s->out, incident->what.core_range, 60, s->form);
  ttm_buf_char(s->out, '\n');
}

/* ---- One failure -------------------------------------------------------------------------------------------------------- */

static void put_paste(page *s, ttm_str lines) {
  while (lines.n) {
    ttm_buf_printf(s->out, "%*s", 5, "");
    ttm_put_text(s->out, ttm_str_take_to(&lines, '\n'), SIZE_MAX, s->form);
    ttm_buf_char(s->out, '\n');
  }
}

static void put_fixes(page *s, const ttm_statements *all, const ttm_statement *one) {
  for (uint32_t i = 0; i < one->fixes; i++) {
    const ttm_fix *fix = &all->fixes.at[one->first_fix + i];
    ttm_buf_printf(s->out, "%s  %u. ", i ? "" : "\n  Fixes\n", i + 1);
    paragraph(s, fix->text, 5);
    put_paste(s, fix->paste);
  }
}

static void put_title(page *s, const ttm_statement *one) {
  ttm_buf words = {0};
  ttm_buf_put(&words, one->headline);
  if (one->basis >= TTM_ESTIMATED) ttm_buf_printf(&words, " (%s)", ttm_basis_name(one->basis));
  color(s, "31");
  ttm_put_paragraph(s->out, ttm_buf_str(&words), 0, 0, s->columns, s->form);
  color(s, "0");
  ttm_buf_char(s->out, '\n');
  s->out->failed |= words.failed;
  ttm_buf_free(&words);
}

/* The message in full, unless the statement quotes it. */
static void put_message(page *s, const ttm_incident *incident, const ttm_statement *one) {
  if (incident->what.kind < TTM_INCIDENT_L1_BUFFERS) {
    ttm_buf_puts(s->out, "  ");
    paragraph(s, incident->what.text, 2);
  }
  if (!one->detail.n) return;
  ttm_buf_puts(s->out, "  ");
  paragraph(s, one->detail, 2);
}

static void put_failure(page *s, uint32_t i) {
  const ttm_statements *all = &s->f->statements;
  const ttm_statement *one = ttm_statements_of_incident(all, i);
  const ttm_incident_finding *finding = &s->f->incidents.at[i];
  const ttm_incident *incident = &s->p->incidents.at[finding->incident];
  if (!one) return;
  put_title(s, one);
  put_message(s, incident, one);
  if (incident->what.about > TTM_ABOUT_TRACE_REGION) return put_fixes(s, all, one);
  ttm_buf_char(s->out, '\n');
  switch (incident->what.kind) {
    case TTM_INCIDENT_OOM:
      explain_oom(s, &incident->what, finding);
      break;
    case TTM_INCIDENT_L1_CLASH:
    case TTM_INCIDENT_L1_OVERFLOW:
      explain_buffers(s, incident, finding->shortfall);
      break;
    case TTM_INCIDENT_L1_BUFFERS:
    case TTM_INCIDENT_FATAL:
      number(s, "size", incident->what.size, "asked for");
      number(s, "limit", incident->what.limit, "available");
      break;
  }
  put_fixes(s, all, one);
}

/* What holds for all failures of the log. */
static void put_other(page *s, const char *id) {
  const ttm_statement *one = ttm_statements_find(&s->f->statements, id, 0);
  if (!one) return;
  ttm_buf_char(s->out, '\n');
  put_title(s, one);
  if (!one->detail.n) return;
  ttm_buf_puts(s->out, "  ");
  paragraph(s, one->detail, 2);
}

int ttm_explain_write(const ttm_findings *f, const ttm_summary_style *style, ttm_buf *out) {
  page s = {f,
            f->profile,
            style,
            out,
            style->columns < 72 ? 72 : style->columns,
            style->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII};
  for (uint32_t i = 0; i < f->incidents.n && i < MOST; i++) {
    if (i) ttm_buf_char(out, '\n');
    put_failure(&s, i);
  }
  if (f->incidents.n > MOST) ttm_buf_printf(out, "\n... and %zu more\n", f->incidents.n - MOST);
  put_other(&s, "weights.exceed-dram");
  put_other(&s, "need.dram");
  return out->failed ? TTM_ENOMEM : TTM_OK;
}
