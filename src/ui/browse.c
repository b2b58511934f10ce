/* SPDX-License-Identifier: Apache-2.0 */
/* The reports there are: search, open, serve, delete; or one or two to be chosen for another command. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "store/catalog.h"
#include "store/folder.h"
#include "store/report_dir.h"
#include "ui/text_lines.h"
#include "ui/typed_line.h"

typedef struct browse {
  ttm_panel panel;
  ttm_buf root; /* NUL-terminated */
  bool runs;    /* the captured runs of this folder are shown instead */
  ttm_catalog catalog;
  TTM_VEC(size_t) rows; /* entries on the list */
  ttm_cursor cursor;
  ttm_typed_line search;
  bool asking; /* whether to delete */
  ttm_browse_purpose purpose;
  char *first; /* folder of the report that the next one is compared with; NULL */
} browse;

/* ---- The list ------------------------------------------------------------------------------------------------------ */

static void gather(browse *b) {
  b->rows.n = 0;
  for (size_t i = 0; i < b->catalog.entries.n; i++) {
    const ttm_catalog_entry *e = &b->catalog.entries.at[i];
    const ttm_typed_line *wanted = &b->search;
    bool fits = ttm_typed_is_in(wanted, ttm_str_of(e->folder)) || ttm_typed_is_in(wanted, ttm_str_of(e->failure)) ||
                ttm_typed_is_in(wanted, ttm_str_of(e->log));
    if (fits && b->rows.n < b->rows.cap) b->rows.at[b->rows.n++] = i; /* read_again made room for all */
  }
  b->cursor.n = b->rows.n;
  if (b->cursor.at >= b->cursor.n) b->cursor.at = b->cursor.n ? b->cursor.n - 1 : 0;
}

/* Where the reports on the list are. */
static const char *place(const browse *b) { return b->runs ? "logs" : b->root.at; }

static void read_again(ttm_ui *ui, browse *b) {
  ttm_catalog_free(&b->catalog);
  int status = ttm_catalog_read(&b->catalog, place(b), NULL); /* no folder yet: no reports */
  b->rows.n = 0;
  if (status == TTM_ENOMEM || ttm_vec_reserve(&b->rows, b->catalog.entries.n))
    ttm_ui_complain(ui, "Out of memory on this host.");
  gather(b);
}

static const ttm_catalog_entry *chosen(const browse *b) {
  return b->cursor.at < b->rows.n ? &b->catalog.entries.at[b->rows.at[b->cursor.at]] : NULL;
}

/* ---- Drawing ------------------------------------------------------------------------------------------------------- */

enum { FIGURES = 70, WIDE = 120 };

/* Columns that the names get; 0 where one is too long: each has a line to itself then. */
static int name_columns(const browse *b, const ttm_screen *s) {
  size_t longest = 8;
  for (size_t i = 0; i < b->rows.n; i++) {
    size_t width = ttm_text_columns(ttm_str_of(b->catalog.entries.at[b->rows.at[i]].folder));
    if (width > longest) longest = width;
  }
  return longest + FIGURES <= (size_t)s->columns ? (int)longest : 0;
}

static void put_peak(ttm_buf *out, double mb, double pct) {
  ttm_put_figure(out, "", mb);
  ttm_buf_puts(out, mb >= 0 ? " MB" : "   ");
  if (pct >= 0)
    ttm_buf_printf(out, " \x1b[%sm%3.0f %%\x1b[0m", ttm_level_color(pct), pct);
  else
    ttm_buf_puts(out, "      ");
}

static void put_figures(const ttm_catalog_entry *e, ttm_buf *out) {
  char date[20] = "";
  time_t when = (time_t)e->written;
  struct tm parts;
  if (localtime_r(&when, &parts)) strftime(date, sizeof date, "%Y-%m-%d %H:%M", &parts);
  ttm_buf_printf(out, "%-16s %10s", date, e->has_findings ? TTM_COUNT_TEXT(e->operations) : "");
  put_peak(out, e->peak_mb, e->peak_pct);
  put_peak(out, e->l1_peak_mb, e->l1_peak_pct);
}

/* The failure goes on in the line on a wide screen, else it has its own. */
static void put_row(const void *view, const ttm_screen *s, size_t i, ttm_buf *out) {
  const browse *b = view;
  const ttm_catalog_entry *e = &b->catalog.entries.at[b->rows.at[i]];
  int names = name_columns(b, s);
  ttm_put_text(out, ttm_str_of(e->folder), SIZE_MAX, ttm_screen_form(s));
  if (names)
    ttm_pad_to(out, 0, (size_t)names + 2);
  else
    ttm_buf_puts(out, "\n  ");
  put_figures(e, out);
  if (!*e->failure) return;
  ttm_buf_puts(out, names && s->columns >= WIDE ? "  \t\x1b[31m" : "\n  \x1b[31m");
  ttm_put_text(out, ttm_str_of(e->failure), SIZE_MAX, ttm_screen_form(s));
  ttm_buf_puts(out, "\x1b[0m");
}

static void draw_question(ttm_screen *s, const ttm_catalog_entry *e) {
  ttm_buf text = {0};
  ttm_buf_puts(&text, "\x1b[31mDelete the report ");
  ttm_put_text(&text, ttm_str_of(e->folder), SIZE_MAX, ttm_screen_form(s));
  ttm_buf_puts(&text, "? y deletes it, any other key does not.");
  ttm_draw_text(s, -1, &text);
}

static void draw_list(browse *b, ttm_screen *s) {
  int names = name_columns(b, s);
  ttm_screen_print(s, 3, 1, TTM_STYLE_DIM, "%-*s  %-16s %10s %17s %17s", names, names ? "report" : "", "written",
                   "operations", "DRAM per bank", "L1 per bank");
  ttm_list_draw(&b->cursor, s, 4, s->rows - 6, put_row, b);
  if (b->asking && chosen(b)) draw_question(s, chosen(b));
}

static void draw_browse(ttm_ui *ui, ttm_panel *panel) {
  browse *b = (browse *)panel;
  ttm_screen *s = &ui->screen;
  if (b->catalog.entries.n)
    draw_list(b, s);
  else
    ttm_screen_words(s, 3, 3, TTM_STYLE_PLAIN,
                     b->runs ? "No captured run in this folder. Go back and run a script."
                             : "No report yet. Go back and open a log; Tab shows captured runs.");
  int column = ttm_screen_print(s, 1, 1, TTM_STYLE_DIM, "%zu of %zu in ", b->rows.n, b->catalog.entries.n);
  int room = s->columns - column - (b->search.n || b->search.typing ? 30 : 1);
  column =
      ttm_screen_text(s, 1, column, TTM_STYLE_DIM, ttm_str_of(b->runs ? "./logs, captured runs" : b->root.at), room);
  ttm_typed_draw(s, 1, column + 2, "search: ", &b->search);
}

/* ---- Keys ---------------------------------------------------------------------------------------------------------- */

static void open_entry(ttm_ui *ui, browse *b, const ttm_catalog_entry *e) {
  bool changed;
  char *log = ttm_catalog_log(&b->catalog, e, &changed);
  char *folder = ttm_folder_join(b->catalog.root, e->folder, "");
  ttm_ui_push(ui, ttm_stored_panel(log, folder, e->folder, changed));
  ttm_free(folder);
  ttm_free(log);
}

static void show(browse *b, bool runs);

/* One report is chosen to see what fits it, two to compare them. */
static void choose_entry(ttm_ui *ui, browse *b, const ttm_catalog_entry *e) {
  char *folder = ttm_folder_join(b->catalog.root, e->folder, ""), *first = b->first;
  bool fit = b->purpose == TTM_BROWSE_FIT, whole = fit || first;
  if (folder && whole)
    ttm_ui_push(ui, ttm_answer_panel(ui, fit ? TTM_UI_FIT : TTM_UI_DIFF, fit ? folder : first, fit ? "" : folder));
  if (!folder) ttm_ui_push(ui, NULL); /* says that there is no memory */
  ttm_free(first);
  b->first = whole ? NULL : folder;
  if (whole) ttm_free(folder);
  show(b, b->runs);
}

static void serve_entry(ttm_ui *ui, browse *b, const ttm_catalog_entry *e, bool all) {
  char *folder = all ? NULL : ttm_folder_join(b->catalog.root, e->folder, "");
  if (all)
    ttm_ui_push(ui, ttm_serving_panel(ui, b->catalog.root, "all reports"));
  else
    ttm_ui_push(ui, folder ? ttm_serving_panel(ui, folder, e->folder) : NULL);
  ttm_free(folder);
}

static void delete_entry(ttm_ui *ui, browse *b) {
  ttm_error err;
  if (ttm_catalog_delete(&b->catalog, chosen(b), false, &err)) return ttm_ui_complain(ui, err.message);
  read_again(ui, b);
  ttm_ui_say(ui, "The report is deleted.");
}

static void type_key(browse *b, int key) {
  if (ttm_typed_key(&b->search, key)) gather(b);
}

static unsigned browse_key(ttm_ui *ui, ttm_panel *panel, int key) {
  browse *b = (browse *)panel;
  if (b->search.typing) return type_key(b, key), TTM_KEY_TAKEN;
  if (b->asking) {
    b->asking = false;
    if (key == 'y' && chosen(b)) delete_entry(ui, b);
    return TTM_KEY_TAKEN;
  }
  if (key == '/') return b->search = (ttm_typed_line){.typing = true}, gather(b), TTM_KEY_TAKEN;
  if (key == TTM_KEY_TAB) return show(b, !b->runs), read_again(ui, b), TTM_KEY_TAKEN;
  if (key == 'R') return read_again(ui, b), TTM_KEY_TAKEN;
  if (key == TTM_KEY_ESCAPE && b->search.n) return type_key(b, key), TTM_KEY_TAKEN;
  if (key == 'h' || key == TTM_KEY_LEFT) return TTM_KEY_CLOSE;
  if (ttm_cursor_key(&b->cursor, key)) return TTM_KEY_TAKEN;
  const ttm_catalog_entry *e = chosen(b);
  if (!e) return TTM_KEY_IGNORED;
  bool enters = key == TTM_KEY_ENTER || key == 'l' || key == TTM_KEY_RIGHT;
  if (enters && b->purpose != TTM_BROWSE_OPEN)
    choose_entry(ui, b, e);
  else if (enters)
    open_entry(ui, b, e);
  else if (b->purpose != TTM_BROWSE_OPEN)
    return TTM_KEY_IGNORED;
  else if (key == 's' || key == 'S')
    serve_entry(ui, b, e, key == 'S');
  else if (key == 'd' || key == TTM_KEY_DELETE)
    b->asking = true;
  else
    return TTM_KEY_IGNORED;
  return TTM_KEY_TAKEN;
}

static void free_browse(ttm_panel *panel) {
  browse *b = (browse *)panel;
  ttm_catalog_free(&b->catalog);
  ttm_vec_free(&b->rows);
  ttm_buf_free(&b->root);
  ttm_free(b->first);
  ttm_free(b);
}

/* One panel, two lists: Tab leads from each to the other. */
#define KEYS_TO(other)                                                                                  \
  {                                                                                                     \
    {"Enter", "open"}, {"s", "serve"}, {"d", "delete"}, {"/", "search"}, {"Tab", other}, {"q", "back"}, \
        {"S", "serve all"}, {"R", "refresh"}, {"?", "help"}, {NULL, NULL},                              \
  }
static const ttm_key_help keys_of_reports[] = KEYS_TO("captured runs"), keys_of_runs[] = KEYS_TO("reports");
static const ttm_panel_class reports_class = {
    .title = "Reports", .keys = keys_of_reports, .draw = draw_browse, .key = browse_key, .free = free_browse};
static const ttm_panel_class runs_class = {
    .title = "Runs", .keys = keys_of_runs, .draw = draw_browse, .key = browse_key, .free = free_browse};
static const ttm_key_help keys_of_choice[] = {{"Enter", "choose"}, {"/", "search"}, {"Tab", "reports or captured runs"},
                                              {"q", "back"},       {"?", "help"},   {NULL, NULL}};
static const ttm_panel_class choice_classes[] = {
    [TTM_BROWSE_FIT] = {"Fit: which report?", keys_of_choice, draw_browse, browse_key, .free = free_browse},
    [TTM_BROWSE_DIFF] = {"Compare: which report before?", keys_of_choice, draw_browse, browse_key,
                         .free = free_browse}};
static const ttm_panel_class after_class = {"Compare: which report after?", keys_of_choice, draw_browse, browse_key,
                                            .free = free_browse};

static void show(browse *b, bool runs) {
  b->runs = runs;
  b->panel.subject = b->first ? strrchr(b->first, '/') + 1 : NULL;
  b->panel.class = b->first                        ? &after_class
                   : b->purpose != TTM_BROWSE_OPEN ? &choice_classes[b->purpose]
                   : runs                          ? &runs_class
                                                   : &reports_class;
}

ttm_panel *ttm_browse_panel(ttm_ui *ui, ttm_browse_purpose purpose) {
  ttm_error err;
  browse *b = ttm_alloc(sizeof *b);
  if (!b) return NULL;
  b->purpose = purpose;
  show(b, false);
  int status = ttm_report_root(&b->root, &err);
  ttm_buf_char(&b->root, '\0');
  if (status || b->root.failed) {
    ttm_buf why = {0};
    ttm_put_text(&why, ttm_str_of(status ? err.message : "Out of memory on this host."), SIZE_MAX,
                 ttm_screen_form(&ui->screen));
    free_browse(&b->panel);
    return ttm_text_panel("Reports", NULL, &why);
  }
  read_again(ui, b);
  return &b->panel;
}
