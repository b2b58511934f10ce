/* SPDX-License-Identifier: Apache-2.0 */
#include "report/write/core_grid.h"

#include "base/format.h"
#include "report/write/svg.h"

/* ---- Shades ------------------------------------------------------------------------------------------------------------ */

enum { SHADES = 5, UNKNOWN = SHADES, CLASH };

static const char *const utf8_shades[] = {"·", "░", "▒", "▓", "█", "?", "╳"};
static const char *const ascii_shades[] = {".", "-", "+", "%", "#", "?", "X"};

/* Nothing, then quarters of what a core has. */
static unsigned shade_of(const ttm_core_grid *grid, unsigned x, unsigned y) {
  uint64_t used = grid->used[y][x], quarter = grid->limit / 4;
  if (grid->clashes[y][x]) return CLASH;
  if (used == TTM_UNKNOWN) return UNKNOWN;
  if (!used || !quarter) return used ? SHADES - 1 : 0;
  return used / quarter < SHADES - 1 ? (unsigned)(used / quarter) + 1 : SHADES - 1;
}

static const char *const shade_words[] = {"none", "up to 25 %", "50 %", "75 %", "100 %", "unknown", "overlap"};

static void note_shades(const ttm_core_grid *grid, bool seen[CLASH + 1]) {
  for (unsigned y = 0; y < grid->rows; y++)
    for (unsigned x = 0; x < grid->columns; x++) seen[shade_of(grid, x, y)] = true;
}

bool ttm_core_grid_varies(const ttm_core_grid *grid) {
  bool seen[CLASH + 1] = {false};
  unsigned shades = 0;
  note_shades(grid, seen);
  for (unsigned i = 0; i <= CLASH; i++) shades += seen[i];
  return shades > 1;
}

/* The scale is whole where any of it is used; the rest is only explained where it is there. */
static bool is_explained(unsigned shade, const bool seen[CLASH + 1]) {
  bool scale = false;
  for (unsigned i = 0; i < SHADES; i++) scale |= seen[i];
  return shade < SHADES ? scale : seen[shade];
}

/* ---- On a terminal ----------------------------------------------------------------------------------------------------- */

typedef struct pen {
  const ttm_core_grid *grid;
  const ttm_picture_style *style;
  ttm_buf *out;
  unsigned wide; /* characters of a cell, its brackets apart */
} pen;

static void put_shade(const pen *p, unsigned shade) {
  bool red = p->style->color && shade == CLASH;
  if (red) ttm_buf_puts(p->out, "\x1b[31m");
  for (unsigned i = 0; i < p->wide; i++)
    ttm_buf_puts(p->out, p->style->utf8 ? utf8_shades[shade] : ascii_shades[shade]);
  if (red) ttm_buf_puts(p->out, "\x1b[0m");
}

static void put_columns(const pen *p) {
  ttm_buf_puts(p->out, "    ");
  for (unsigned x = 0; x < p->grid->columns; x++)
    ttm_buf_printf(p->out, "%*u", (int)p->wide + 1, p->wide > 1 ? x : x % 10);
  ttm_buf_char(p->out, '\n');
}

static void put_row(const pen *p, unsigned y, unsigned chosen_x, unsigned chosen_y) {
  ttm_buf_printf(p->out, "%3u ", y);
  for (unsigned x = 0; x < p->grid->columns; x++) {
    bool opens = y == chosen_y && x == chosen_x, closes = y == chosen_y && x && x - 1 == chosen_x;
    ttm_buf_char(p->out, opens ? '[' : closes ? ']' : ' ');
    put_shade(p, shade_of(p->grid, x, y));
  }
  ttm_buf_puts(p->out, y == chosen_y && chosen_x + 1 == p->grid->columns ? "]\n" : "\n");
}

static void put_legend(const pen *p) {
  bool seen[CLASH + 1] = {false};
  note_shades(p->grid, seen);
  ttm_buf_puts(p->out, "    ");
  for (unsigned shade = 0; shade <= CLASH; shade++) {
    if (!is_explained(shade, seen)) continue;
    ttm_buf_char(p->out, ' ');
    put_shade(p, shade);
    ttm_buf_printf(p->out, " %s ", shade_words[shade]);
  }
  if (p->grid->limit) ttm_buf_printf(p->out, " of %s per core", TTM_BYTES_TEXT(p->grid->limit));
  ttm_buf_char(p->out, '\n');
}

void ttm_core_grid_text(const ttm_core_grid *grid, unsigned x, unsigned y, const ttm_picture_style *style,
                        ttm_buf *out) {
  pen p = {grid, style, out, 5 + grid->columns * 3 <= style->columns ? 2 : 1};
  put_columns(&p);
  for (unsigned row = 0; row < grid->rows; row++) put_row(&p, row, x, y);
  put_legend(&p);
}

/* ---- A view ------------------------------------------------------------------------------------------------------------ */

static void put_operation(const ttm_core_views *v, uint32_t view, const ttm_picture_style *style, ttm_buf *out) {
  const ttm_op_text *text = ttm_op_text_of(v->p, v->views.at[view].op);
  ttm_text_form form = style->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII;
  ttm_put_text(out, ttm_profile_string(v->p, text->name), 60, form);
  if (text->location) {
    ttm_buf_puts(out, " at ");
    ttm_put_text(out, ttm_profile_string(v->p, text->location), 60, form);
  }
  uint32_t program = v->views.at[view].program;
  if (program == TTM_NONE)
    ttm_buf_puts(out, ": L1 tensors, no program");
  else if (v->buffers.at[v->programs.at[program].first].refused)
    ttm_buf_puts(out, ": refused, buffers as its message tells");
  else if (v->programs.at[program].derived)
    ttm_buf_puts(out, " (buffer addresses derived)");
  ttm_buf_char(out, '\n');
}

int ttm_core_view_text(const ttm_core_views *v, uint32_t view, unsigned x, unsigned y, const ttm_picture_style *style,
                       ttm_buf *out) {
  ttm_core_grid grid;
  ttm_l1_map map;
  ttm_core_view_grid(v, view, &grid);
  int status = ttm_core_view_map(v, view, x, y, &map);
  put_operation(v, view, style, out);
  ttm_core_grid_text(&grid, x, y, style, out);
  if (x < grid.columns && y < grid.rows)
    ttm_buf_printf(out, "Core %u-%u: %s%s\n", x, y, TTM_BYTES_TEXT(grid.used[y][x]),
                   grid.clashes[y][x] ? ", its buffers overlap a tensor" : "");
  if (!status && map.size) status = ttm_l1_picture_text(&map, style, out);
  ttm_l1_map_free(&map);
  return status || out->failed ? TTM_ENOMEM : TTM_OK;
}

/* ---- As SVG ------------------------------------------------------------------------------------------------------------ */

#define INK "#1a1a1a"

enum { CELL = 30, LEFT = 34, TOP = 48, LEAST = 620 };

static const char *const paints[] = {"#ffffff", "#cfe3f3", "#8fbfe0", "#3f8fc4", "#0072b2", "#e6e6e6", "url(#clash)"};

static void put_box(ttm_buf *out, double x, double y, double side, unsigned shade) {
  ttm_svg_rect(out, x, y, side, side, "#8a8a8a");
  ttm_svg_rect(out, x + 1, y + 1, side - 2, side - 2, paints[shade]);
}

/* With the share of a core's L1 in percent. */
static void put_cell(ttm_buf *out, const ttm_core_grid *grid, unsigned x, unsigned y) {
  unsigned shade = shade_of(grid, x, y);
  char room[TTM_COUNT_ROOM];
  put_box(out, LEFT + x * CELL, TOP + y * CELL, CELL, shade);
  if (shade >= SHADES || !grid->limit) return;
  uint64_t percent = (uint64_t)(ttm_percent((double)grid->used[y][x], (double)grid->limit) + 0.5);
  ttm_svg_text(out, LEFT + x * CELL + CELL / 2.0, TOP + y * CELL + CELL / 2.0 + 4, TTM_SVG_MIDDLE,
               shade > 2 ? "#ffffff" : INK, false, ttm_str_of(ttm_count_text(room, percent)));
}

static void put_key(ttm_buf *out, const ttm_core_grid *grid, double y) {
  bool seen[CLASH + 1] = {false};
  double x = LEFT;
  note_shades(grid, seen);
  for (unsigned shade = 0; shade <= CLASH; shade++) {
    if (!is_explained(shade, seen)) continue;
    put_box(out, x, y, 14, shade);
    ttm_svg_text(out, x + 20, y + 11, TTM_SVG_START, INK, false, ttm_str_of(shade_words[shade]));
    x += 40 + 7 * (double)strlen(shade_words[shade]);
  }
}

/* What it is called when it cannot be seen: "L1 of 64 cores, overlap on 16". */
static void put_title(ttm_buf *out, const ttm_core_grid *grid) {
  unsigned crossed = 0, numbers = 0;
  for (unsigned y = 0; y < grid->rows; y++) {
    for (unsigned x = 0; x < grid->columns; x++) {
      crossed += grid->clashes[y][x];
      numbers += shade_of(grid, x, y) < SHADES;
    }
  }
  ttm_buf_printf(out, "L1 of %u cores", grid->columns * grid->rows);
  if (crossed) ttm_buf_printf(out, ", overlap on %u", crossed);
  if (grid->limit && numbers) ttm_buf_printf(out, ", percent of %s", TTM_BYTES_TEXT(grid->limit));
}

int ttm_core_grid_svg(const ttm_core_grid *grid, ttm_buf *out) {
  unsigned width = LEFT + grid->columns * CELL + 20, height = TOP + grid->rows * CELL + 40;
  char room[TTM_COUNT_ROOM];
  ttm_buf title = {0};
  if (width < LEAST) width = LEAST;
  put_title(&title, grid);
  ttm_svg_begin(out, width, height, ttm_buf_str(&title));
  ttm_svg_hatch(out, "clash");
  ttm_svg_rect(out, 0, 0, width, height, "#ffffff");
  ttm_svg_text(out, LEFT, 18, TTM_SVG_START, INK, true, ttm_buf_str(&title));
  for (unsigned x = 0; x < grid->columns; x++)
    ttm_svg_text(out, LEFT + x * CELL + CELL / 2.0, TOP - 8, TTM_SVG_MIDDLE, INK, false,
                 ttm_str_of(ttm_count_text(room, x)));
  for (unsigned y = 0; y < grid->rows; y++) {
    ttm_svg_text(out, LEFT - 8, TOP + y * CELL + CELL / 2.0 + 4, TTM_SVG_END, INK, false,
                 ttm_str_of(ttm_count_text(room, y)));
    for (unsigned x = 0; x < grid->columns; x++) put_cell(out, grid, x, y);
  }
  put_key(out, grid, height - 24);
  ttm_svg_end(out);
  out->failed |= title.failed;
  ttm_buf_free(&title);
  return out->failed ? TTM_ENOMEM : TTM_OK;
}
