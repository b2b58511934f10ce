/* SPDX-License-Identifier: Apache-2.0 */
/* A bank's addresses as rows of characters: a letter for what a block holds, large where it begins, dots for what is free. */
#include <ctype.h>

#include "analyze/moment.h"
#include "analyze/words.h"
#include "base/checked.h"
#include "ui/report.h"
#include "ui/text_lines.h"

enum { AXIS = 11, MOST_CELLS = 200 * 100, REFUSED = 40, FINE = 1 << 17 };

char ttm_class_letter(const ttm_profile *p, ttm_alive_class class) {
  return (char)tolower((unsigned char)ttm_words_class(p, class)[0]);
}

void ttm_put_classes(ttm_buf *out, const ttm_profile *p, const uint64_t by_class[TTM_ALIVE_CLASSES], double times) {
  for (int c = 0; c < TTM_ALIVE_CLASSES; c++) {
    if (!by_class[c]) continue;
    ttm_buf_printf(out, "\x1b[%dm%c\x1b[0m %s ", 100 + c, ttm_class_letter(p, (ttm_alive_class)c),
                   ttm_words_class(p, (ttm_alive_class)c));
    ttm_put_mb(out, ttm_mib(by_class[c]) * times);
    ttm_buf_puts(out, "  ");
  }
}

/* ---- Cells --------------------------------------------------------------------------------------------------------- */

enum { FREE = TTM_ALIVE_CLASSES, LARGEST, NOTHING };

typedef struct cell {
  uint8_t what; /* a class, FREE or LARGEST */
  bool begins;  /* a block does */
  uint64_t bytes;
} cell;

typedef struct map {
  const ttm_moment *m;
  uint64_t base, per_cell;
  size_t n;
  cell *cells;
} map;

/* What is allocated is seen even where it is smaller than a cell: it may be what splits the free memory. */
static void fill(map *p, uint64_t at, uint64_t bytes, uint8_t what) {
  uint64_t end_at = ttm_add_sat(at, bytes), from = at > p->base ? at - p->base : 0;
  uint64_t to = end_at > p->base ? end_at - p->base : 0;
  for (uint64_t k = from / p->per_cell; k < p->n && k * p->per_cell < to; k++) {
    uint64_t start = k * p->per_cell, end = start + p->per_cell;
    uint64_t here = (to < end ? to : end) - (from > start ? from : start);
    cell *c = &p->cells[k];
    bool held = c->what < FREE, wins = what < FREE ? !held || here > c->bytes : !held && here > c->bytes;
    if (!wins) continue;
    *c = (cell){what, at >= p->base && start <= from, here};
  }
}

static uint8_t class_of(const ttm_moment *m, const ttm_occupant *o) {
  bool kept = m->state == TTM_NONE ? m->op >= o->kept : m->state >= o->state_kept;
  return kept ? TTM_ALIVE_KEPT : o->class;
}

static void fill_all(map *p) {
  const ttm_moment *m = p->m;
  const ttm_extent *largest = NULL;
  for (size_t i = 0; i < p->n; i++) p->cells[i] = (cell){.what = NOTHING};
  for (size_t i = 0; i < m->blocks.n && m->agrees; i++) {
    if (!largest || m->blocks.at[i].size > largest->size) largest = &m->blocks.at[i];
  }
  for (size_t i = 0; i < m->blocks.n; i++)
    fill(p, m->blocks.at[i].at, m->blocks.at[i].size, &m->blocks.at[i] == largest ? LARGEST : FREE);
  for (size_t i = 0; i < m->rows.n; i++) {
    const ttm_occupant *o = &m->occupancy->rows.at[m->rows.at[i].row];
    fill(p, o->at, o->bytes, class_of(m, o));
  }
  if (!largest || largest->at + largest->size / 2 < p->base) return;
  size_t middle = (size_t)((largest->at + largest->size / 2 - p->base) / p->per_cell);
  if (middle < p->n) p->cells[middle].what = LARGEST; /* it is looked for, however small */
}

static void draw_cell(const map *p, ttm_screen *s, int row, int column, const cell *c) {
  char letter[2] = {0};
  if (c->what == NOTHING) return;
  if (c->what >= FREE) {
    ttm_screen_words(s, row, column, c->what == LARGEST ? TTM_STYLE_GOOD : TTM_STYLE_DIM,
                     c->what == LARGEST ? ttm_sign(s, "\xE2\x96\x91", "-") : ttm_sign(s, "\xC2\xB7", "."));
    return;
  }
  letter[0] = ttm_class_letter(p->m->occupancy->findings->profile, (ttm_alive_class)c->what);
  if (c->begins) letter[0] = (char)toupper((unsigned char)letter[0]);
  ttm_screen_words(s, row, column, (ttm_style)(TTM_STYLE_CLASS + c->what), letter);
}

/* In MB, or to the byte where rows are closer than its figures. */
static void draw_address(ttm_screen *s, int row, uint64_t at, bool fine) {
  ttm_buf words = {0};
  if (fine)
    ttm_buf_printf(&words, "%10llu", (unsigned long long)at);
  else
    ttm_put_figure(&words, "", ttm_mib(at));
  ttm_screen_view(s, row, 0, TTM_STYLE_DIM, ttm_buf_str(&words));
  ttm_screen_words(s, row, AXIS - 1, TTM_STYLE_DIM, ttm_sign(s, "\xE2\x94\x82", "|"));
  ttm_buf_free(&words);
}

static void draw_cells(const map *p, ttm_screen *s, int row, int width) {
  for (size_t i = 0; i < p->n; i++) {
    int line = row + (int)i / width, column = (int)i % width;
    if (!column) draw_address(s, line, p->base + i * p->per_cell, p->per_cell * (uint64_t)width < FINE);
    draw_cell(p, s, line, AXIS + column, &p->cells[i]);
  }
}

/* ---- Words --------------------------------------------------------------------------------------------------------- */

/* The allocation that failed right here, per bank; 0. */
static uint64_t refused_at(const ttm_moment *m) {
  const ttm_profile *p = m->occupancy->findings->profile;
  for (size_t i = 0; i < p->incidents.n; i++) {
    const ttm_incident *it = &p->incidents.at[i];
    bool here = m->state == TTM_NONE ? it->op == m->op : it->state == m->state;
    if (here && it->what.kind == TTM_INCIDENT_OOM && it->what.needed_per_bank != TTM_UNKNOWN &&
        ttm_str_eq(it->what.memory, ttm_str_of(ttm_memory_name(m->set.memory))))
      return it->what.needed_per_bank;
  }
  return 0;
}

static void put_bar(ttm_buf *out, const char *label, const char *code, const char *sign, uint64_t bytes,
                    uint64_t whole) {
  int cells = whole ? (int)((double)bytes / (double)whole * REFUSED + 0.5) : 0;
  ttm_buf_printf(out, "\n%-*s\x1b[%sm", AXIS + 8, label, code);
  for (int i = 0; i < (cells ? cells : 1); i++) ttm_buf_puts(out, sign);
  ttm_buf_puts(out, "\x1b[0m ");
  ttm_put_mb(out, ttm_mib(bytes));
  ttm_buf_puts(out, " MB");
}

/* Where the map does not show the largest free block that was measured, it is not marked in it. */
static void put_legend(ttm_buf *out, const ttm_screen *s, const ttm_moment *m) {
  ttm_put_classes(out, m->occupancy->findings->profile, m->set.by_class, 1);
  if (!m->total) return;
  ttm_buf_printf(out, "%s free ", ttm_sign(s, "\xC2\xB7", "."));
  ttm_put_mb(out, ttm_mib(m->room));
  if (!m->blocks_known) return;
  if (m->agrees) ttm_buf_printf(out, "  \x1b[32m%s\x1b[0m", ttm_sign(s, "\xE2\x96\x91", "-"));
  ttm_buf_puts(out, m->agrees ? " largest " : "  largest ");
  ttm_put_mb(out, ttm_mib(m->largest));
  uint64_t refused = refused_at(m), whole = refused > m->largest ? refused : m->largest;
  if (!refused) return;
  put_bar(out, "refused", "31", ttm_sign(s, "\xE2\x96\x93", "%"), refused, whole);
  put_bar(out, "largest free block", "32", ttm_sign(s, "\xE2\x96\x91", "-"), m->largest, whole);
}

static void put_sentence(ttm_buf *out, const ttm_screen *s, ttm_str words) {
  if (words.n) ttm_put_text(out, words, SIZE_MAX, ttm_screen_form(s)), ttm_buf_puts(out, ". ");
}

/* The statement on the moment, in its own words; why there is no map. */
static void put_statement(ttm_buf *out, const ttm_screen *s, const ttm_moment *m) {
  const ttm_statement *unknown = ttm_statements_first(&m->occupancy->findings->statements, TTM_TOPIC_FRAGMENTATION);
  ttm_statements said = {0};
  if (ttm_moment_tell(&said, m)) out->failed = true;
  if (said.at.n) put_sentence(out, s, said.at.at[0].headline);
  if (said.at.n) ttm_put_text(out, said.at.at[0].detail, SIZE_MAX, ttm_screen_form(s));
  if (!m->blocks_known && unknown) put_sentence(out, s, unknown->headline);
  ttm_buf_char(out, '\n');
  ttm_statements_free(&said);
}

void ttm_draw_blocks(ttm_screen *s, int row, int height, const ttm_moment *m, ttm_extent part) {
  int width = s->columns - AXIS - 1;
  ttm_buf words = {0};
  put_statement(&words, s, m);
  put_legend(&words, s, m);
  int rows = height - ttm_text_rows(s, &words) - 1;
  bool drawn = m->blocks_known && part.size && rows > 0;
  map p = {.m = m, .base = part.at, .n = drawn ? (size_t)rows * (size_t)width : 0};
  if (p.n > MOST_CELLS) p.n = MOST_CELLS;
  p.cells = drawn ? ttm_alloc_array(p.n, sizeof *p.cells) : NULL;
  if (p.cells) {
    p.per_cell = (part.size + p.n - 1) / p.n;
    fill_all(&p);
    draw_cells(&p, s, row, width);
  }
  ttm_free(p.cells);
  ttm_draw_text(s, drawn ? row + rows + 1 : row, &words);
}
