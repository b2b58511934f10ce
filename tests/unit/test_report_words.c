/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences of the reports: of a findings file that may hold anything, and of a recording that stops. */
#include "report/run/analyses.h"
#include "report/run/recording.h"
#include "unit.h"

static const ttm_summary_style STYLE = {.columns = 100, .utf8 = true};

static bool said(ttm_str findings, const char *words) {
  ttm_analyses text = {0};
  assert_int_equal(ttm_analyses_write(&text, findings, &STYLE, false), TTM_OK);
  bool found = ttm_str_contains(ttm_buf_str(&text.text), ttm_str_of(words));
  ttm_analyses_free(&text);
  return found;
}

/* A number that no count of bytes can be is not shown as one. */
static void absurd_numbers_are_no_amounts(void **state) {
  (void)state;
  assert_true(said(TTM_LIT("{\"incidents\":[{\"kind\":\"oom\",\"shortfall_per_bank_B\":2048}]}"),
                   "Out of memory, 2.0 KB per bank missing"));
  static const char *const absurd[] = {"1e300", "-1e300", "-1", "1e999", "-nan", "null", "18446744073709551616"};
  for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
    ttm_buf json = {0};
    ttm_buf_printf(&json,
                   "{\"incidents\":[{\"kind\":\"oom\",\"shortfall_per_bank_B\":%s,\"operation\":"
                   "{\"index\":%s,\"mlir_op\":\"a\"}}]}",
                   absurd[i], absurd[i]);
    assert_false(said(ttm_buf_str(&json), "missing"));
    assert_true(said(ttm_buf_str(&json), "Out of memory, in a;"));
    ttm_buf_free(&json);
  }
}

/* On the page it stands behind other sentences. */
static void a_death_is_a_sentence_of_its_own(void **state) {
  (void)state;
  ttm_profile p = {.kind = TTM_LOG_CAPTURE};
  ttm_findings f = {.profile = &p};
  ttm_buf out = {0};
  p.capture.recording.is = true;
  p.capture.recording.last = TTM_NONE;
  ttm_words_recording(&out, &f);
  assert_view(ttm_buf_str(&out), "The recording stops without an end: the program was killed or crashed.");
  ttm_buf_clear(&out);
  ttm_buf_puts(&out, "L1 is full.");
  ttm_words_recording(&out, &f);
  assert_view(ttm_buf_str(&out), "L1 is full. The recording stops without an end: the program was killed or crashed.");
  ttm_buf_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(absurd_numbers_are_no_amounts),
                                     cmocka_unit_test(a_death_is_a_sentence_of_its_own)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
