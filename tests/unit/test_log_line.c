/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "parse/log_line.h"

#define ANSI_INFO "\x1b[32m                 Always\x1b[0m | \x1b[1m\x1b[38;5;69m    INFO\x1b[0m | "

static ttm_log_line read_line(const char *line) { return ttm_log_line_read(ttm_str_of(line)); }

static void test_runtime_lines(void **state) {
  (void)state;
  ttm_log_line l = read_line(ANSI_INFO "Device memory state before submit");
  assert_true(l.runtime && l.stable);
  assert_int_equal(l.severity, TTM_SEV_INFO);
  assert_int_equal(l.rank, TTM_NO_RANK);
  assert_view(l.message, "Device memory state before submit");

  l = read_line("            RuntimeTTNN |    DEBUG | Starting execution of program: main\r");
  assert_true(l.runtime && l.stable);
  assert_int_equal(l.severity, TTM_SEV_DEBUG);
  assert_view(l.message, "Starting execution of program: main");

  /* The type may overflow its column, and the message may hold bars. */
  l = read_line("RuntimeTTMetalBufferCreation |    DEBUG | a | INFO | b");
  assert_true(l.runtime);
  assert_view(l.message, "a | INFO | b");
}

static void test_bars_before_the_right_one(void **state) {
  (void)state;
  ttm_log_line l = read_line("|a|b | c |d| RuntimeTTNN | DEBUG | Executing | this | that");
  assert_true(l.runtime);
  assert_string_equal(l.message.p, "Executing | this | that");
  assert_int_equal(read_line("RuntimeTTNN | DEBUG | ").message.n, 0);
}

static void test_outer_prefixes(void **state) {
  (void)state;
  ttm_log_line l = read_line("[1,3]<stdout>:" ANSI_INFO "x");
  assert_true(l.runtime && l.stable);
  assert_int_equal(l.rank, 3);
  l = read_line("2026-05-14T01:00:31.7554321Z " ANSI_INFO "x");
  assert_true(l.runtime);
  assert_false(l.stable); /* the next line has another time */
  l = read_line("2026-05-14T01:00:31.7554321Z [1,12]<stderr>:plain text");
  assert_false(l.runtime);
  assert_int_equal(l.rank, 12);
  assert_view(l.message, "plain text");
  l = read_line("tests/x.py::test_y[z]             RuntimeTTNN |    DEBUG | glued");
  assert_true(l.runtime);
  assert_false(l.stable);
  assert_view(l.message, "glued");
  l = read_line("[1,2]no tag");
  assert_int_equal(l.rank, TTM_NO_RANK);
}

/* Same columns, other loggers: they pad their level on the right. */
static void test_other_loggers(void **state) {
  (void)state;
  const char *lines[] = {
      "2026-06-19 09:25:30.646 | WARNING  | torch_plugin_tt:__init__:40 - message",
      "2026-05-14 01:00:31.755 | critical |          Always | TT_FATAL: Out of Memory",
      "                  Metal | INFO     | Initializing device 0",
      "2025-11-20 20:45:48,508 - INFO - results saved",
      "",
      " | ",
      "a | b | c",
      "|",
      "a |",
      "a | DEBUG |",
      "RuntimeTTNN| DEBUG | x",
      "RuntimeTTNN |DEBUG | x",
      "[",
      "\x1b[",
      "\x1b[32",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) assert_false(read_line(lines[i]).runtime);
  assert_true(ttm_log_line_has_date(ttm_str_of(lines[0])));
  assert_false(ttm_log_line_is_loguru(ttm_str_of(lines[0])));
  assert_true(
      ttm_log_line_is_loguru(ttm_str_of("2026-01-12 10:24:06.290 (   1.854s) [        4A7FC640]a.cc:260      1| x")));
}

static void test_escapes(void **state) {
  (void)state;
  assert_int_equal(ttm_escape_length(TTM_LIT("\x1b[38;5;69mx")), 10);
  assert_int_equal(ttm_escape_length(TTM_LIT("\x1b[38;5")), 0);
  assert_int_equal(ttm_escape_length(TTM_LIT("\x1b[\x01m")), 0);
  assert_int_equal(ttm_escape_length(TTM_LIT("x")), 0);
}

static void time_stamps(void **state) {
  (void)state;
  static const struct {
    const char *line;
    uint64_t ns; /* 0: none */
    char between;
  } cases[] = {
      {"2026-01-12 10:24:06.290 (   1.854s) [        4A7FC640]x:260  1| y", 1768213446290000000, ' '},
      {"\x1b[90m2026-06-19 09:32:58.266\x1b[0m | critical | x", 1781861578266000000, ' '},
      {"2025-11-20 20:45:48,508 - INFO - msg", 1763671548508000000, ' '},
      {"2026-05-14T01:00:31.7554321Z text", 1778720431755432100, 'T'},
      {"2026-05-14T01:00:31+02:00 text", 1778713231000000000, 'T'},
      {"[1,0]<stdout>:2026-05-14T01:00:31Z text", 1778720431000000000, 'T'},
      {"[2024-02-29 23:59:59] leap", 1709251199000000000, ' '},
      {"2026-13-01 00:00:00 x", 0, 0},
      {"2026-01-12", 0, 0},
      {"Type | INFO | 2026-01-12 10:24:06", 0, 0},
      {"", 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t ns = 0;
    char between = 0;
    assert_int_equal(ttm_log_line_time(ttm_str_of(cases[i].line), &ns, &between), cases[i].ns != 0);
    if (cases[i].ns) assert_true(ns == cases[i].ns && between == cases[i].between);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(time_stamps),
                                     cmocka_unit_test(test_runtime_lines),
                                     cmocka_unit_test(test_outer_prefixes),
                                     cmocka_unit_test(test_other_loggers),
                                     cmocka_unit_test(test_bars_before_the_right_one),
                                     cmocka_unit_test(test_escapes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
