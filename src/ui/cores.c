/* SPDX-License-Identifier: Apache-2.0 */
/* L1 core by core: the grid at a program that ran, and one core's column. */
#include "base/alloc.h"
#include "report/write/core_grid.h"
#include "ui/report.h"
#include "ui/text_lines.h"

typedef struct cores {
  const ttm_ui_subject *subject;
  ttm_core_views views;
  uint32_t at;
  unsigned x, y; /* of the core */
  ttm_text_lines lines;
  bool old; /* the text is of another view or core */
} cores;

static void go_to(cores *c, uint32_t view) {
  ttm_core_grid grid;
  c->at = view;
  c->old = true;
  ttm_core_view_grid(&c->views, view, &grid);
  ttm_core_grid_fullest(&grid, &c->x, &c->y);
}

/* Stands on the failure when there is one in L1, else on the operation that raised its peak. */
static uint32_t first_view(const cores *c) {
  const ttm_findings *f = c->subject->findings;
  const ttm_profile *p = f->profile;
  for (size_t i = 0; i < p->incidents.n; i++) {
    ttm_incident_kind kind = p->incidents.at[i].what.kind;
    if ((kind == TTM_INCIDENT_L1_CLASH || kind == TTM_INCIDENT_L1_OVERFLOW) && p->incidents.at[i].op < p->ops.n)
      return ttm_core_views_find(&c->views, p->incidents.at[i].op);
  }
  return ttm_core_views_find(&c->views, f->peak[TTM_L1].cause < p->ops.n ? f->peak[TTM_L1].cause : 0);
}

static void free_cores(void *view) {
  cores *c = view;
  ttm_core_views_free(&c->views);
  ttm_text_lines_free(&c->lines);
  ttm_free(c);
}

static void *make_cores(const ttm_ui_subject *subject) {
  cores *c = ttm_alloc(sizeof *c);
  if (!c) return NULL;
  c->subject = subject;
  if (ttm_core_views_make(&c->views, subject->profile)) return free_cores(c), NULL;
  if (c->views.views.n) go_to(c, first_view(c));
  return c;
}

static void write_view(cores *c, const ttm_screen *s) {
  ttm_buf text = {0};
  ttm_picture_style style = {.columns = (unsigned)s->columns - 2, .color = true, .utf8 = s->utf8};
  ttm_buf_printf(&text, "\x1b[2mstep %s of ", TTM_COUNT_TEXT((uint64_t)c->at + 1));
  ttm_buf_printf(&text, "%s\x1b[0m  ", TTM_COUNT_TEXT(c->views.views.n));
  if (ttm_core_view_text(&c->views, c->at, c->x, c->y, &style, &text)) text.failed = true;
  ttm_text_lines_take(&c->lines, &text);
  c->old = false;
}

static void draw_cores(void *view, ttm_screen *s) {
  cores *c = view;
  if (!c->views.views.n) {
    ttm_screen_words(s, TTM_VIEW_ROW, 1, TTM_STYLE_PLAIN,
                     "Unknown: only recordings and graph captures tell L1 core by core.");
    return;
  }
  if (c->old || c->lines.columns != s->columns) write_view(c, s);
  ttm_text_lines_draw(&c->lines, s, TTM_VIEW_ROW - 1, ttm_view_height(s) + 1);
}

/* The next program whose buffers overlap a tensor. */
static void next_clash(cores *c, ttm_ui *ui) {
  ttm_core_grid grid;
  for (uint32_t i = 1; i <= c->views.views.n; i++) {
    uint32_t view = (uint32_t)((c->at + i) % c->views.views.n);
    ttm_core_view_grid(&c->views, view, &grid);
    if (grid.any_clash) return go_to(c, view);
  }
  ttm_ui_say(ui, "No program's buffers overlap a tensor.");
}

static void move_core(cores *c, int dx, int dy) {
  unsigned columns = c->views.columns ? c->views.columns : 1, rows = c->views.rows ? c->views.rows : 1;
  c->x = (c->x + columns + (unsigned)dx) % columns;
  c->y = (c->y + rows + (unsigned)dy) % rows;
  c->old = true;
}

static bool cores_key(void *view, ttm_ui *ui, int key) {
  cores *c = view;
  uint32_t last = (uint32_t)c->views.views.n - 1;
  if (!c->views.views.n) return false;
  switch (key) {
    case 'h':
      return go_to(c, c->at ? c->at - 1 : 0), true;
    case 'l':
      return go_to(c, c->at < last ? c->at + 1 : last), true;
    case 'g':
    case TTM_KEY_HOME:
      return go_to(c, 0), true;
    case 'G':
    case TTM_KEY_END:
      return go_to(c, last), true;
    case TTM_KEY_LEFT:
      return move_core(c, -1, 0), true;
    case TTM_KEY_RIGHT:
      return move_core(c, 1, 0), true;
    case TTM_KEY_UP:
      return move_core(c, 0, -1), true;
    case TTM_KEY_DOWN:
      return move_core(c, 0, 1), true;
    case 'c':
      return next_clash(c, ui), true;
    case TTM_KEY_ENTER:
      return ttm_ui_show_operation(ui, c->subject->findings, c->views.views.at[c->at].op), true;
    default:
      return ttm_text_lines_key(&c->lines, key, ttm_view_height(&ui->screen) + 1);
  }
}

static const ttm_key_help KEYS[] = {{"h/l", "step"},      {"arrows", "core"},           {"c", "next overlap"},
                                    {"Enter", "details"}, {"j/k, PgUp/PgDn", "scroll"}, {NULL, NULL}};
const ttm_view_class ttm_view_cores = {
    .name = "Cores", .keys = KEYS, .make = make_cores, .draw = draw_cores, .key = cores_key, .free = free_cores};
