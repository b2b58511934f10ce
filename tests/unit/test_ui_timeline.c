/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of the terminal program, drawn by the real ncurses into nothing and read back from its screen. */
#define _GNU_SOURCE
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <fcntl.h>
#include <unistd.h>

#include "profile_fixture.h"
#include "ui/report.h"

enum { ROWS = 24, COLUMNS = 80, AXIS = 11, WIDTH = COLUMNS - AXIS - 1 };

typedef struct shown {
  ttm_ui_subject subject;
  ttm_screen screen;
  void *view;
  uint32_t levels[1000];
  size_t n;
} shown;

/* `n` states whose levels go up and down. */
static shown *show(size_t n) {
  shown *s = calloc(1, sizeof *s);
  ttm_profile *p = fx_new(1);
  uint32_t call = fx_call(p, "main", 0, TTM_NONE), add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL);
  assert_true(s && n <= sizeof s->levels / sizeof *s->levels);
  s->n = n;
  for (size_t i = 0; i < n; i++) {
    s->levels[i] = (uint32_t)(i * 7919 % 1009 * 900);
    fx_step(p, add, call, s->levels[i]);
  }
  s->subject.profile = p;
  s->subject.findings = fx_findings(p);
  assert_int_equal(ttm_screen_open(&s->screen, false, false, NULL), TTM_OK);
  assert_int_equal(s->screen.columns, COLUMNS);
  s->view = ttm_view_timeline.make(&s->subject);
  assert_non_null(s->view);
  return s;
}

static void leave(shown *s) {
  ttm_view_timeline.free(s->view);
  ttm_screen_close(&s->screen);
  ttm_findings_free(s->subject.findings);
  ttm_profile_free(s->subject.profile);
  free(s);
}

typedef struct place {
  int column; /* of the arrow */
  double mb;  /* of the state that is looked at */
  unsigned line, from, until;
} place;

static void read_row(int row, char text[COLUMNS + 1]) {
  assert_true(mvinnstr(row, 0, text, COLUMNS) >= 0);
  text[COLUMNS] = '\0';
}

static void drop_commas(char *text) { /* of thousands */
  char *to = text;
  for (; *text; text++) {
    if (*text != ',') *to++ = *text;
  }
  *to = '\0';
}

static place press(shown *s, int key) {
  char text[COLUMNS + 1];
  place at = {.column = -1};
  if (key) assert_true(ttm_view_timeline.key(s->view, NULL, key));
  ttm_screen_clear(&s->screen);
  ttm_view_timeline.draw(s->view, &s->screen);
  read_row(2, text);
  drop_commas(text);
  assert_int_equal(sscanf(strstr(text, "states"), "states %u to %u", &at.from, &at.until), 2);
  for (int row = 0; row < ROWS; row++) {
    read_row(row, text);
    const char *arrow = strchr(text, '^'), *line = strstr(text, "log line "), *level = strstr(text, " MB per bank (");
    if (arrow) at.column = (int)(arrow - text) - AXIS;
    drop_commas(text);
    if (level) assert_int_equal(sscanf(text, "%lf", &at.mb), 1);
    if (line) assert_int_equal(sscanf(line, "log line %u", &at.line), 1);
  }
  assert_true(at.column >= 0);
  return at;
}

/* More states than columns: each step is one column, to the state that is drawn there. */
static void column_by_column(void **state) {
  (void)state;
  shown *s = show(150);
  press(s, 0);
  press(s, 'g');
  for (int column = 1; column < WIDTH; column++) {
    place at = press(s, TTM_KEY_RIGHT);
    assert_int_equal(at.column, column);
    double highest = 0;
    for (size_t i = (size_t)(column * 150.0 / WIDTH); i < (size_t)((column + 1) * 150.0 / WIDTH); i++)
      if (s->levels[i] / 1000.0 > highest) highest = s->levels[i] / 1000.0;
    assert_true(at.mb > highest - 0.051 && at.mb < highest + 0.051);
  }
  for (int column = WIDTH - 2; column >= 0; column--) assert_int_equal(press(s, 'h').column, column);
  assert_int_equal(press(s, TTM_KEY_PAGE_DOWN).column, WIDTH / 2);
  assert_int_equal(press(s, TTM_KEY_PAGE_UP).column, 0);
  leave(s);
}

/* Zoomed in, the part on show follows, and every way through leads on until the end. */
static void past_the_edge(void **state) {
  (void)state;
  shown *s = show(1000);
  press(s, 0);
  press(s, 'g');
  for (int i = 0; i < 2; i++) press(s, '+');
  static const int keys[] = {TTM_KEY_RIGHT, TTM_KEY_PAGE_DOWN};
  for (size_t k = 0; k < 2; k++) {
    place before = press(s, 'g'), at = before;
    for (int i = 0; i < 2000 && at.until < 1000; i++) {
      at = press(s, keys[k]);
      assert_true(at.line > before.line && at.from >= before.from);
      before = at;
    }
    assert_int_equal(at.until, 1000);
  }
  place before = press(s, 'G'), at = before;
  assert_int_equal(before.column, WIDTH - 1);
  for (int i = 0; i < 2000 && at.from > 1; i++) {
    at = press(s, TTM_KEY_LEFT);
    assert_true(at.line < before.line);
    before = at;
  }
  assert_int_equal(at.from, 1);
  leave(s);
}

/* Fewer states than columns: one state after the other. A page is half of what is on show. */
static void state_by_state(void **state) {
  (void)state;
  shown *s = show(10);
  unsigned first = press(s, 'g').line;
  for (unsigned i = 1; i < 10; i++) assert_int_equal(press(s, TTM_KEY_RIGHT).line, first + 2 * i);
  assert_int_equal(press(s, TTM_KEY_RIGHT).line, first + 18);
  assert_int_equal(press(s, TTM_KEY_PAGE_UP).line, first + 8);
  assert_int_equal(press(s, TTM_KEY_PAGE_UP).line, first);
  leave(s);
}

static int set_up(void **state) {
  (void)state;
  return setenv("TERM", "vt100", 1) || setenv("LINES", "24", 1) || setenv("COLUMNS", "80", 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(column_by_column),
      cmocka_unit_test(past_the_edge),
      cmocka_unit_test(state_by_state),
  };
  /* The screen goes into nothing; what cmocka says goes to standard error. */
  int kept = dup(STDOUT_FILENO), nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (kept < 0 || nothing < 0) return 1;
  dup2(nothing, STDOUT_FILENO);
  int failed = cmocka_run_group_tests(tests, set_up, NULL);
  dup2(kept, STDOUT_FILENO);
  printf("%d failed\n", failed);
  return failed;
}
