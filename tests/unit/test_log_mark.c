/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/buf.h"
#include "parse/log_mark.h"

static const struct {
  const char *text;
  size_t at;
  ttm_mark mark;
} marks[] = {
    {"TT_FATAL: x", 3, TTM_MARK_INCIDENT},
    {"|FATL|", 1, TTM_MARK_INCIDENT},
    {"TT_THROW", 4, TTM_MARK_INCIDENT},
    {"LOG_ASSERT @", 3, TTM_MARK_INCIDENT},
    {"Out of Memory: ", 12, TTM_MARK_INCIDENT},
    {"MemoryError", 5, TTM_MARK_INCIDENT},
    {"Statically allocated", 0, TTM_MARK_INCIDENT},
    {"Circular buffers on service", 0, TTM_MARK_INCIDENT},
    {"Creating trace buffers", 0, TTM_MARK_INCIDENT},
    {"critical", 2, TTM_MARK_INCIDENT},
    {"(9) too large for kernel", 4, TTM_MARK_INCIDENT},
    {"bad_alloc", 2, TTM_MARK_INCIDENT},
    {"Hugepages", 1, TTM_MARK_INCIDENT},
    {"RESOURCE_EXHAUSTED: ", 7, TTM_MARK_INCIDENT},
    {"DefaultCPUAllocator: ", 9, TTM_MARK_INCIDENT},
    {"RuntimeTTNN |    DEBUG | x", 11, TTM_MARK_RUNTIME},
    {"Always\033[0m | \033[1m    INFO\033[0m | x", 10, TTM_MARK_RUNTIME},
    {"MLIR Module ttnn:", 4, TTM_MARK_MODULE},
    {"END OF MLIR MODULE", 11, TTM_MARK_MODULE},
    {"  File \"a.py\"", 2, TTM_MARK_FRAME},
    {"( 1.2s) [ x", 5, TTM_MARK_LOGURU},
};

/* At every place of the wide look, and in the last bytes that it leaves over; cut short it is none. */
static void test_every_mark(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
    for (size_t pad = 0; pad < 200; pad++) {
      ttm_buf text = {0};
      for (size_t i = 0; i < pad % 100; i++) ttm_buf_char(&text, '.');
      ttm_buf_puts(&text, marks[k].text);
      for (size_t i = 0; pad >= 100 && i < 100; i++) ttm_buf_char(&text, '.');
      ttm_str copy = heap_view(ttm_buf_str(&text));
      size_t at = 0;
      assert_int_equal(ttm_mark_find(copy, &at, true), marks[k].mark);
      assert_int_equal(at, pad % 100 + marks[k].at);
      at++;
      assert_int_equal(ttm_mark_find(copy, &at, true), TTM_MARK_NONE);
      assert_int_equal(at, copy.n);
      at = 0;
      assert_int_equal(ttm_mark_find(ttm_str_first(copy, pad % 100 + marks[k].at + 2), &at, true), TTM_MARK_NONE);
      free((void *)copy.p);
      ttm_buf_free(&text);
    }
}

static void test_what_only_begins_like_one(void **state) {
  (void)state;
  static const char *const texts[] = {"",
                                      "Metal | INFO     | x",
                                      "12 | DEBUG | x",
                                      " | ",
                                      "State Circle Created Files FALSE HROM E_EX d_all UAll s) x",
                                      "the Model MODEL position took yEr _ASS"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    size_t at = 0;
    assert_int_equal(ttm_mark_find(ttm_str_of(texts[i]), &at, true), TTM_MARK_NONE);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_mark),
      cmocka_unit_test(test_what_only_begins_like_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
