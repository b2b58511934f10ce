/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of a findings file that may hold anything, and of a recording that stops. */
#include "analyze/findings.h"
#include "report/files/statements_json.h"
#include "report/run/statements.h"
#include "unit.h"

static ttm_buf laid_out(ttm_str findings) {
  ttm_statements all;
  ttm_buf text = {0};
  ttm_doc doc = {.out = &text, .columns = 100, .utf8 = true};
  assert_int_equal(ttm_statements_read(&all, findings), TTM_OK);
  ttm_doc_statements(&doc, &all);
  assert_int_equal(ttm_doc_end(&doc), TTM_OK);
  ttm_statements_free(&all);
  return text;
}

/* What is written is read back: statements, points, quantities and fixes. */
static void statements_survive_the_file(void **state) {
  (void)state;
  const char *json =
      "{\"statements\":[{\"id\":\"oom.fragmented\",\"topic\":\"failure\",\"severity\":\"failure\",\"basis\":"
      "\"measured\",\"line\":7,"
      "\"operation\":3,\"headline\":\"Out of memory\",\"detail\":\"In "
      "#3.\",\"quantities\":[{\"name\":\"short_by\",\"unit\":\"B\","
      "\"value\":2048}],\"points\":[{\"per_bank_MB\":1.5,\"operation\":2,\"text\":\"a\"}],\"fixes\":[{\"kind\":"
      "\"free\","
      "\"verified\":\"replayed\",\"bytes\":9,\"text\":\"Free "
      "it\"}]}],\"fixes\":[{\"kind\":\"free\",\"verified\":\"replayed\","
      "\"bytes\":9,\"text\":\"Free it\"}]}";
  ttm_statements all;
  assert_int_equal(ttm_statements_read(&all, ttm_str_of(json)), TTM_OK);
  assert_int_equal(all.at.n, 1);
  const ttm_statement *s = ttm_statements_find(&all, "oom.*", 0);
  assert_non_null(s);
  assert_int_equal(s->topic, TTM_TOPIC_FAILURE);
  assert_int_equal(s->line, 7);
  assert_int_equal(s->operation, 3);
  assert_int_equal(s->points, 1);
  assert_int_equal(all.points.at[0].operation, 2);
  assert_true(all.quantities.at[0].value == 2048);
  assert_int_equal(all.fixes.at[s->first_fix].check, TTM_FIX_REPLAYED);
  assert_int_equal(all.best.n, 1);
  ttm_buf out = {0};
  ttm_json j = {.out = &out};
  ttm_json_put_object(&j, NULL);
  ttm_json_put_statements(&j, &all);
  ttm_json_end(&j);
  assert_int_equal(ttm_json_finish(&j), TTM_OK);
  ttm_statements again;
  assert_int_equal(ttm_statements_read(&again, ttm_buf_str(&out)), TTM_OK);
  assert_int_equal(again.at.n, 1);
  assert_int_equal(again.fixes.n, all.fixes.n);
  ttm_buf_free(&out);
  ttm_statements_free(&again);
  ttm_statements_free(&all);
}

/* Numbers, names and kinds that no ttmem writes. */
static void absurd_statements_do_no_harm(void **state) {
  (void)state;
  static const char *const absurd[] = {"1e300", "-1e300", "-1", "1e999", "-nan", "null", "18446744073709551616",
                                       "{}",    "[1]"};
  for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
    ttm_buf json = {0};
    ttm_buf_printf(
        &json,
        "{\"statements\":[{\"id\":%s,\"topic\":%s,\"severity\":\"x\",\"headline\":\"A \\u001b[31m b\",\"line\":%s,"
        "\"operation\":%s,\"points\":[{\"per_bank_MB\":%s,\"text\":\"c\"},%s]},%s]}",
        absurd[i], absurd[i], absurd[i], absurd[i], absurd[i], absurd[i], absurd[i]);
    ttm_buf text = laid_out(ttm_buf_str(&json));
    assert_true(ttm_str_contains(ttm_buf_str(&text), TTM_LIT("A \\x1b[31m b")));
    assert_false(ttm_str_contains(ttm_buf_str(&text), TTM_LIT("\x1b")));
    ttm_buf_free(&text);
    ttm_buf_free(&json);
  }
}

static void a_recording_without_an_end_says_so(void **state) {
  (void)state;
  ttm_profile p = {.kind = TTM_LOG_CAPTURE};
  ttm_findings f = {.profile = &p};
  p.capture.recording.is = true;
  p.capture.recording.last = TTM_NONE;
  assert_int_equal(ttm_statements_make(&f.statements, &f), TTM_OK);
  const ttm_statement *s = ttm_statements_first(&f.statements, TTM_TOPIC_INPUT);
  assert_non_null(s);
  assert_int_equal(s->points, 1);
  assert_true(ttm_str_starts(f.statements.points.at[s->first_point].text, TTM_LIT("the recording has no end")));
  ttm_statements_free(&f.statements);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(statements_survive_the_file),
                                     cmocka_unit_test(absurd_statements_do_no_harm),
                                     cmocka_unit_test(a_recording_without_an_end_says_so)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
