/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for a file, a command or a message: typing, Tab completes, what was typed is looked at before it is accepted. */
#define _POSIX_C_SOURCE 200809L
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "ui/text_lines.h"
#include "ui/typed_line.h"

typedef struct prompt {
  ttm_panel panel;
  ttm_panel_class class; /* its own, for the title */
  ttm_prompt wish;
  size_t choice;
  ttm_buf text;     /* what was typed so far */
  char error[1024]; /* what is wrong with it; "" when nothing is known to be */
  glob_t matches;   /* paths that go on as typed; folders end with "/" */
  size_t folder;    /* bytes of each that name its folder */
} prompt;

/* ---- Completion ---------------------------------------------------------------------------------------------------- */

static void forget_matches(prompt *p) {
  globfree(&p->matches);
  p->matches = (glob_t){0};
}

static const char *match_at(const prompt *p, size_t i) { return p->matches.gl_pathv[i] + p->folder; }

/* Where the path begins that Tab completes. */
static size_t path_start(const prompt *p) {
  size_t at = p->wish.words ? p->text.n : 0;
  while (at && p->text.at[at - 1] != ' ') at--;
  return at;
}

/* What was typed, from byte `from` on, with "~/" resolved, NUL-terminated. */
static void put_path(const prompt *p, size_t from, ttm_buf *out) {
  ttm_str typed = ttm_str_trim(ttm_str_from(ttm_buf_str(&p->text), from));
  const char *home = getenv("HOME");
  if (home && (ttm_str_starts(typed, TTM_LIT("~/")) || ttm_str_eq(typed, TTM_LIT("~")))) {
    ttm_buf_puts(out, home);
    typed = ttm_str_from(typed, 1);
  }
  ttm_buf_put(out, typed);
  ttm_buf_char(out, '\0');
}

/* Collects what starts with the typed path; returns the length of its last part. */
static size_t find_matches(prompt *p) {
  ttm_buf path = {0}, pattern = {0};
  put_path(p, path_start(p), &path);
  forget_matches(p);
  for (size_t i = 0; i + 1 < path.n; i++) {
    if (strchr("*?[\\", path.at[i])) ttm_buf_char(&pattern, '\\');
    ttm_buf_char(&pattern, path.at[i]);
  }
  ttm_buf_char(&pattern, '*');
  ttm_buf_char(&pattern, '\0');
  bool fine = !path.failed && !pattern.failed && !glob(pattern.at, GLOB_MARK, NULL, &p->matches);
  const char *slash = fine ? strrchr(path.at, '/') : NULL;
  p->folder = slash ? (size_t)(slash - path.at) + 1 : 0;
  size_t typed = fine ? path.n - 1 - p->folder : 0;
  ttm_buf_free(&pattern);
  ttm_buf_free(&path);
  return typed;
}

/* Adds what all matches have in common; a single one is then whole and no longer worth a list. */
static void complete(prompt *p) {
  size_t typed = find_matches(p), common, n = p->matches.gl_pathc;
  if (!n) {
    snprintf(p->error, sizeof p->error, "No file or folder starts like this.");
    return;
  }
  const char *first = match_at(p, 0);
  for (common = strlen(first); common > typed; common--) {
    size_t i = 1;
    while (i < n && !strncmp(first, match_at(p, i), common)) i++;
    if (i == n) break;
  }
  if (common > typed) ttm_buf_put(&p->text, (ttm_str){first + typed, common - typed});
  if (n == 1) forget_matches(p);
}

/* ---- The panel ----------------------------------------------------------------------------------------------------- */

static void draw_matches(ttm_screen *s, const prompt *p, int row) {
  size_t widest = 1;
  for (size_t i = 0; i < p->matches.gl_pathc; i++) {
    size_t width = ttm_text_columns(ttm_str_of(match_at(p, i)));
    if (width > widest) widest = width;
  }
  if (widest > (size_t)s->columns - 8) widest = (size_t)s->columns - 8;
  int per_row = (s->columns - 4) / (int)(widest + 2), rows = s->rows - 2 - row;
  if (per_row < 1) per_row = 1;
  for (size_t i = 0; i < p->matches.gl_pathc; i++) {
    int line = (int)i / per_row, column = 3 + (int)i % per_row * (int)(widest + 2);
    if (line >= rows) {
      ttm_screen_print(s, row + rows, 3, TTM_STYLE_DIM, "... and %zu more", p->matches.gl_pathc - i);
      return;
    }
    bool folder = ttm_str_ends(ttm_str_of(match_at(p, i)), TTM_LIT("/"));
    ttm_screen_text(s, row + line, column, folder ? TTM_STYLE_ACCENT : TTM_STYLE_PLAIN, ttm_str_of(match_at(p, i)),
                    (int)widest);
  }
}

static int draw_choice(ttm_screen *s, const prompt *p, int row) {
  if (!p->wish.choices) return row;
  int column = ttm_screen_words(s, row, 3, TTM_STYLE_BOLD, p->wish.label);
  ttm_screen_print(s, row, column + 1, TTM_STYLE_ACCENT, "%s %s %s", ttm_sign(s, "\xE2\x97\x82", "<"),
                   p->wish.choices[p->choice], ttm_sign(s, "\xE2\x96\xB8", ">"));
  return row + 2;
}

static void draw_prompt(ttm_ui *ui, ttm_panel *panel) {
  prompt *p = (prompt *)panel;
  ttm_screen *s = &ui->screen;
  ttm_screen_words(s, 2, 3, TTM_STYLE_BOLD, p->wish.question);
  ttm_screen_words(s, 4, 3, TTM_STYLE_ACCENT, ttm_sign(s, "\xE2\x80\xBA", ">"));
  /* A path that is too long shows its end: that is where the typing goes. */
  ttm_buf safe = {0};
  ttm_put_text(&safe, ttm_buf_str(&p->text), SIZE_MAX, ttm_screen_form(s));
  ttm_str shown = ttm_buf_str(&safe);
  while (ttm_text_columns(shown) > (size_t)(s->columns - 8)) shown = ttm_str_from(shown, ttm_utf8_length(shown));
  int column = ttm_screen_view(s, 4, 5, TTM_STYLE_PLAIN, shown);
  ttm_buf_free(&safe);
  ttm_buf error = {0};
  if (*p->error)
    ttm_buf_puts(&error, "  \x1b[31m"), ttm_put_text(&error, ttm_str_of(p->error), SIZE_MAX, ttm_screen_form(s));
  int below = draw_choice(s, p, 6), row = ttm_draw_text(s, below, &error);
  draw_matches(s, p, row + (row > below));
  ttm_screen_cursor(s, 4, column);
}

static bool ends_part(const ttm_buf *text) { return text->at[text->n - 1] == '/' || text->at[text->n - 1] == ' '; }

static void erase_part(ttm_buf *text) { /* ^W: back to the last slash or blank */
  if (text->n && ends_part(text)) text->n--;
  while (text->n && !ends_part(text)) text->n--;
}

static void accept_path(ttm_ui *ui, prompt *p) {
  ttm_error err;
  ttm_buf path = {0};
  put_path(p, 0, &path);
  if (path.failed)
    snprintf(p->error, sizeof p->error, "Out of memory on this host.");
  else if (path.n > 1 && p->wish.accept(ui, path.at, p->choice, &err))
    snprintf(p->error, sizeof p->error, "%s", err.message);
  ttm_buf_free(&path); /* p itself may be gone by now */
}

static void choose(prompt *p, int key) {
  size_t n = 0;
  while (p->wish.choices && p->wish.choices[n]) n++;
  if (n) p->choice = (p->choice + (key == TTM_KEY_DOWN ? 1 : n - 1)) % n;
}

static void type(prompt *p, int key) {
  size_t most = p->wish.pasted ? 60000 : 4000;
  forget_matches(p);
  if (key == TTM_KEY_ERASE) p->text.n = ttm_typed_erased(p->text.at, p->text.n);
  if (key == 21) ttm_buf_free(&p->text); /* ^U; a text that was lost may be typed again */
  if (key == 23) erase_part(&p->text);   /* ^W */
  if (key == TTM_KEY_UP || key == TTM_KEY_DOWN) choose(p, key);
  bool text = (key >= ' ' && key < 256 && key != TTM_KEY_ERASE) || key == TTM_KEY_ENTER;
  if (text && p->text.n < most) ttm_buf_char(&p->text, (char)key);
}

static unsigned prompt_key(ttm_ui *ui, ttm_panel *panel, int key) {
  prompt *p = (prompt *)panel;
  if (key == TTM_KEY_ESCAPE) return TTM_KEY_CLOSE;
  bool more = p->wish.pasted && (key == TTM_KEY_ENTER || key == TTM_KEY_TAB) && ttm_screen_has_key(&ui->screen);
  p->error[0] = '\0';
  if (key == TTM_KEY_ENTER && !more)
    accept_path(ui, p);
  else if (key == TTM_KEY_TAB && !more)
    complete(p);
  else
    type(p, key == TTM_KEY_TAB ? ' ' : key);
  return TTM_KEY_TAKEN;
}

static void free_prompt(ttm_panel *panel) {
  prompt *p = (prompt *)panel;
  forget_matches(p);
  ttm_buf_free(&p->text);
  ttm_free(p);
}

ttm_panel *ttm_prompt_panel(const ttm_prompt *wish) {
  static const ttm_key_help keys[] = {{"Tab", "complete"}, {"Enter", "go"}, {"^W", "delete word"},
                                      {"^U", "clear"},     {"Esc", "back"}, {NULL, NULL}};
  static const ttm_key_help with_choices[] = {{"Tab", "complete"},   {"Enter", "go"}, {"Up/Down", "choose"},
                                              {"^W", "delete word"}, {"^U", "clear"}, {"Esc", "back"},
                                              {NULL, NULL}};
  prompt *p = ttm_alloc(sizeof *p);
  if (!p) return NULL;
  p->class = (ttm_panel_class){.title = wish->title,
                               .keys = wish->choices ? with_choices : keys,
                               .draw = draw_prompt,
                               .key = prompt_key,
                               .free = free_prompt,
                               .typing = true};
  p->panel.class = &p->class;
  p->wish = *wish;
  return &p->panel;
}
