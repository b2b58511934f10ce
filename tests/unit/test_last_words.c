/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/last_words.h"
#include "unit.h"

#define TRACE                                                                    \
  "Traceback (most recent call last):\n"                                         \
  "  File \"/home/me/model.py\", line 90, in <module>\n    main()\n"             \
  "  File \"/home/me/layers.py\", line 17, in forward\n    y = ttnn.add(x, w)\n" \
  "  File \"/venv/lib/python3.12/site-packages/ttnn/decorators.py\", line 1245, in __call__\n    ...\n"

#define OOM                                                                                                         \
  "Out of Memory: Not enough space to allocate 4096 B DRAM buffer across 12 banks, where each bank needs to store " \
  "2048 B, but bank size is 1072693184 B (allocated: 1072692160 B, free: 1024 B, largest free block: 1024 B)."

static ttm_last_words read_text(const char *text) {
  ttm_last_words words;
  ttm_last_words_read(&words, ttm_str_of(text));
  return words;
}

static void sentence_is(const char *text, const char *wanted) {
  ttm_last_words words = read_text(text);
  if (!ttm_str_eq(words.sentence, ttm_str_of(wanted)))
    fail_msg("of\n%s\nit is '%.*s', not '%s'", text, (int)words.sentence.n, words.sentence.p, wanted);
}

static void the_sentence(void **state) {
  (void)state;
  sentence_is("", "");
  sentence_is("\n\n", "");
  sentence_is("loading\nstill loading\n\n", "still loading");
  sentence_is("a\nModuleNotFoundError: No module named 'x'\r\n", "ModuleNotFoundError: No module named 'x'");
  sentence_is("KeyError: 3\nnanobind: leaked 2 instances!\n", "KeyError: 3");
  sentence_is("KeyError: 3\n\nDuring handling of the above exception:\n\nmy.pkg.BadError: four\n",
              "my.pkg.BadError: four");
  sentence_is(
      "def test():\n>       f()\n\nE       KeyError: 3\n\nt.py:2: KeyError\n== 1 failed ==\nnanobind: leaked 2 "
      "instances!\n",
      "KeyError: 3");
  sentence_is(
      "== 1 failed ==\nnanobind: leaked 2 instances!\n - leaked instance 0x1 of type \"x\"\n - ... skipped remainder\n"
      "See https://nanobind.readthedocs.io/en/latest/refleaks.html2026-11-16 13:02:14.241 | info     | x\n",
      "== 1 failed ==");
  sentence_is("KeyboardInterrupt", "KeyboardInterrupt");
  sentence_is("RuntimeError: TT_FATAL @ x.cpp:3: false\ninfo:\nShapes differ\nbacktrace:\n --- f()\n", "Shapes differ");
  sentence_is("the Error: no name\n2026 | Error: a log line\nend", "end");
}

static void the_user_s_frame(void **state) {
  (void)state;
  ttm_last_words words = read_text(TRACE "RuntimeError: x\n");
  assert_true(ttm_str_eq(words.file, TTM_LIT("/home/me/layers.py")));
  assert_int_equal(words.line, 17);
  words = read_text(TRACE "  File \"/tmp/ttmem-run-1-x/hook/ttmem_recorder.py\", line 343, in call\n");
  assert_int_equal(words.line, 17); /* what `ttmem run` puts around the program is not the program */
  words =
      read_text("stopped\n2026-11-16 02:43:41.150 | info     |             UMD | Closing devices (cluster.cpp:1213)\n");
  assert_true(ttm_str_eq(words.sentence, TTM_LIT("stopped")));
  words = read_text(TRACE "Traceback (most recent call last):\n  File \"<string>\", line 1, in f\n");
  assert_int_equal(words.file.n, 0); /* of another traceback */
  assert_int_equal(read_text("  File \"x.py\", line y\n  File \"z.py\n").file.n, 0);
}

static void memory(void **state) {
  (void)state;
  ttm_last_words words = read_text(TRACE "RuntimeError: TT_FATAL @ bank_manager.cpp:514: false\ninfo:\n" OOM "\n");
  assert_true(words.memory);
  assert_int_equal(words.incident.kind, TTM_INCIDENT_OOM);
  assert_int_equal(words.incident.needed_per_bank, 2048);
  assert_true(ttm_str_eq(words.sentence, TTM_LIT(OOM)));
  assert_false(read_text("RuntimeError: TT_FATAL @ x.cpp:3: false\ninfo:\nShapes differ\n").memory);
  assert_false(
      read_text("2026-05-14 01:00:31.755 | critical |          Always | TT_FATAL: no (assert.hpp:104)\n").memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sentence),
      cmocka_unit_test(the_user_s_frame),
      cmocka_unit_test(memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
