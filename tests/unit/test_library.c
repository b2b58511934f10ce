/* SPDX-License-Identifier: Apache-2.0 */
/* The public API as a program outside the project sees it: public headers only. */
#include "ttmem/ttmem.h"

#include "unit.h"

static const char small[] = TTMEM_SOURCE "/tests/data/small.log";

static void test_version(void **state) {
  (void)state;
  char numbers[32];
  snprintf(numbers, sizeof numbers, "%d.%d.%d", TTM_VERSION_MAJOR, TTM_VERSION_MINOR, TTM_VERSION_PATCH);
  assert_string_equal(ttm_version(), numbers);
  assert_string_equal(TTM_VERSION, numbers);
}

/* ---- Options ------------------------------------------------------------------------------------------------------- */

/* Options as a later version might have them. */
typedef struct later_options {
  ttm_read_options known;
  uint64_t added;
} later_options;

static int read_with(const void *options) {
  ttm_profile *profile = NULL;
  int status = ttm_profile_read_opts(&profile, small, options, NULL);
  if (!status) assert_non_null(profile);
  ttm_profile_free(profile);
  return status;
}

static void test_options_of_other_versions(void **state) {
  (void)state;
  ttm_read_options options = TTM_READ_OPTIONS_INIT;
  later_options later = {TTM_READ_OPTIONS_INIT, 0};
  assert_int_equal(read_with(&options), TTM_OK);
  options.size = offsetof(ttm_read_options, on_progress); /* an earlier one: what it does not have is the default */
  options.on_progress = (int (*)(void *, const ttm_progress *))8;
  assert_int_equal(read_with(&options), TTM_OK);
  options.size = 0;
  assert_int_equal(read_with(&options), TTM_EUSAGE);
  later.known.size = sizeof later;
  assert_int_equal(read_with(&later), TTM_OK);
  later.added = 1; /* it asks for what this library cannot do */
  assert_int_equal(read_with(&later), TTM_EUSAGE);
}

static void test_report_options_need_their_size(void **state) {
  (void)state;
  ttm_profile *profile;
  ttm_report_options options = {0};
  ttm_error err = {0};
  assert_int_equal(ttm_profile_read(&profile, small, NULL), TTM_OK);
  assert_int_equal(ttm_report_write_files(profile, "/nonexistent", "x", &options, &err), TTM_EUSAGE);
  assert_non_null(strstr(err.message, "INIT"));
  ttm_profile_free(profile);
}

/* ---- Progress ------------------------------------------------------------------------------------------------------ */

static int stop(void *context, const ttm_progress *progress) {
  *(uint64_t *)context = progress->total_bytes;
  return 1;
}

static void test_progress_cancels(void **state) {
  (void)state;
  for (unsigned threads = 1; threads <= 4; threads++) {
    uint64_t total = 0;
    ttm_read_options options = TTM_READ_OPTIONS_INIT;
    ttm_error err = {0};
    ttm_profile *profile = NULL;
    options.threads = threads;
    options.on_progress = stop;
    options.context = &total;
    assert_int_equal(ttm_profile_read_opts(&profile, small, &options, &err), TTM_ECANCELED);
    assert_int_equal(err.code, TTM_ECANCELED);
    assert_null(profile);
    assert_true(total > 0);
  }
}

/* ---- Rows ---------------------------------------------------------------------------------------------------------- */

typedef struct opened {
  ttm_profile *profile;
  ttm_findings *findings;
} opened;

static opened open_file(const char *name) {
  char path[512];
  opened o;
  snprintf(path, sizeof path, TTMEM_SOURCE "/%s", name);
  assert_int_equal(ttm_profile_read(&o.profile, path, NULL), TTM_OK);
  assert_int_equal(ttm_findings_make(&o.findings, o.profile, 0, NULL), TTM_OK);
  return o;
}

static void close_file(opened o) {
  ttm_profile_free(o.profile);
  ttm_findings_free(o.findings);
}

static void test_operations_lead_to_their_states(void **state) {
  (void)state;
  opened o = open_file("demo/llama_small.log.zst");
  ttm_operation_info op = TTM_OPERATION_INFO_INIT;
  ttm_state_info before = TTM_STATE_INFO_INIT, after = TTM_STATE_INFO_INIT;
  uint32_t count = ttm_operation_count(o.profile), reported = 0, deltas = 0;
  assert_true(count > 1000);
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(ttm_operation_get(o.profile, i, &op, NULL), TTM_OK);
    assert_true(op.name.n && op.line);
    assert_int_equal(ttm_findings_index(o.findings, i), op.in_reports ? reported : TTM_NONE);
    if (op.in_reports) assert_int_equal(ttm_findings_op(o.findings, reported++), i);
    if (op.state == TTM_NONE) continue;
    assert_int_equal(ttm_state_get(o.profile, op.state, &before, NULL), TTM_OK);
    assert_int_equal(before.operation, i);
    assert_view(before.moment, "operation");
    if (op.dram_delta == TTM_NO_DELTA) continue;
    assert_int_equal(ttm_state_get(o.profile, op.state + 1, &after, NULL), TTM_OK); /* one rank */
    int64_t rise = (int64_t)(after.memory[TTM_DRAM].allocated - before.memory[TTM_DRAM].allocated);
    assert_true(llabs(rise - op.dram_delta) <= 1);
    deltas += op.dram_delta != 0;
  }
  assert_int_equal(reported, ttm_profile_operation_count(o.profile));
  assert_true(deltas > 100);
  close_file(o);
}

static void test_states_add_up(void **state) {
  (void)state;
  opened o = open_file("tests/data/small.log");
  ttm_state_info s = TTM_STATE_INFO_INIT;
  for (uint32_t i = 0; i < ttm_state_count(o.profile); i++) {
    assert_int_equal(ttm_state_get(o.profile, i, &s, NULL), TTM_OK);
    const ttm_memory_use *dram = &s.memory[TTM_DRAM];
    assert_int_equal(dram->banks, 12);
    assert_true(llabs((int64_t)(dram->allocated + dram->free - dram->capacity)) < 2000);
    assert_true(dram->largest_free <= dram->free);
  }
  close_file(o);
}

/* The tensors that are alive at the peak are the peak. */
static void test_tensors_are_the_peak(void **state) {
  (void)state;
  opened o = open_file("demo/llama_small.log.zst");
  ttm_peak_info peak = TTM_PEAK_INFO_INIT;
  ttm_tensor_info t = TTM_TENSOR_INFO_INIT;
  ttm_operation_info op = TTM_OPERATION_INFO_INIT;
  uint64_t held = 0;
  assert_int_equal(ttm_peak_get(o.findings, TTM_DRAM, &peak, NULL), TTM_OK);
  for (uint32_t i = 0; i < ttm_tensor_count(o.findings); i++) {
    assert_int_equal(ttm_tensor_get(o.findings, i, &t, NULL), TTM_OK);
    assert_true(t.name.n > 0);
    if (t.freed_by != TTM_NONE && t.same_as == TTM_NONE) {
      assert_int_equal(ttm_operation_get(o.profile, t.freed_by, &op, NULL), TTM_OK);
      assert_true(op.is_deallocate && t.birth < t.freed_by && t.last_use <= t.freed_by);
      assert_int_equal(op.tensor, i);
    }
    if (!t.alive_at_peak || t.memory != TTM_DRAM) continue;
    held += t.bank_bytes;
    assert_view(t.category, "weights");
    assert_true(t.stored_bytes >= t.logical_bytes && t.rank > 0);
  }
  assert_true(llabs((int64_t)(held - peak.use.allocated)) < 1000);
  assert_int_equal(ttm_findings_index(o.findings, peak.raised_by), 1518);
  close_file(o);
}

static void test_captures_know_addresses(void **state) {
  (void)state;
  opened o = open_file("tests/data/capture_small.json");
  ttm_tensor_info t = TTM_TENSOR_INFO_INIT;
  uint32_t known = 0;
  for (uint32_t i = 0; i < ttm_tensor_count(o.findings); i++) {
    assert_int_equal(ttm_tensor_get(o.findings, i, &t, NULL), TTM_OK);
    known += t.address != TTM_UNKNOWN;
  }
  assert_true(known > 0);
  close_file(o);
}

static void test_failures(void **state) {
  (void)state;
  opened o = open_file("demo/llama_small.log.zst");
  ttm_incident_info failure = TTM_INCIDENT_INFO_INIT;
  assert_int_equal(ttm_incident_count(o.findings), 1);
  assert_int_equal(ttm_incident_get(o.findings, 0, &failure, NULL), TTM_OK);
  assert_view(failure.kind, "oom");
  assert_view(failure.memory, "DRAM");
  assert_int_equal(failure.needed - failure.largest_free, failure.shortfall);
  assert_int_equal(ttm_findings_index(o.findings, failure.operation), 1519);
  close_file(o);
}

static void test_statements_lead_to_their_fixes(void **state) {
  (void)state;
  opened o = open_file("demo/llama_small.log.zst");
  ttm_statement_info s = TTM_STATEMENT_INFO_INIT;
  ttm_fix_info fix = TTM_FIX_INFO_INIT;
  ttm_quantity_info quantity = TTM_QUANTITY_INFO_INIT;
  ttm_point_info point = TTM_POINT_INFO_INIT;
  uint32_t fixes = 0, quantities = 0, points = 0;
  for (uint32_t i = 0; i < ttm_statement_count(o.findings); i++) {
    assert_int_equal(ttm_statement_get(o.findings, i, &s, NULL), TTM_OK);
    assert_true(s.id.n && s.topic.n && s.severity.n && s.basis.n && s.headline.n);
    for (uint32_t k = 0; k < s.fixes; k++, fixes++) {
      assert_int_equal(ttm_fix_get(o.findings, s.first_fix + k, &fix, NULL), TTM_OK);
      assert_int_equal(fix.statement, i);
      assert_true(fix.text.n && fix.verified.n && fix.kind.n);
    }
    for (uint32_t k = 0; k < s.quantities; k++, quantities++) {
      assert_int_equal(ttm_quantity_get(o.findings, s.first_quantity + k, &quantity, NULL), TTM_OK);
      assert_true(quantity.name.n > 0);
    }
    for (uint32_t k = 0; k < s.points; k++, points++) {
      assert_int_equal(ttm_point_get(o.findings, s.first_point + k, &point, NULL), TTM_OK);
      assert_true(point.text.n > 0);
    }
  }
  assert_int_equal(fixes, ttm_fix_count(o.findings));
  assert_int_equal(quantities, ttm_quantity_count(o.findings));
  assert_int_equal(points, ttm_point_count(o.findings));
  assert_true(fixes && quantities && points);
  assert_int_equal(ttm_statement_get(o.findings, 0, &s, NULL), TTM_OK);
  assert_view(s.id, "oom.fragmented");
  assert_int_equal(ttm_findings_index(o.findings, s.operation), 1519);
  close_file(o);
}

static void test_rows_past_the_end(void **state) {
  (void)state;
  opened o = open_file("tests/data/small.log");
  ttm_operation_info op = TTM_OPERATION_INFO_INIT;
  ttm_tensor_info t = {0};
  ttm_error err = {0};
  assert_int_equal(ttm_operation_get(o.profile, ttm_operation_count(o.profile), &op, &err), TTM_EUSAGE);
  assert_non_null(strstr(err.message, "There is no operation 18"));
  assert_int_equal(ttm_fix_get(o.findings, 1000, &(ttm_fix_info)TTM_FIX_INFO_INIT, &err), TTM_EUSAGE);
  assert_int_equal(ttm_quantity_get(o.findings, 1000, &(ttm_quantity_info)TTM_QUANTITY_INFO_INIT, &err), TTM_EUSAGE);
  assert_int_equal(ttm_point_get(o.findings, 1000, &(ttm_point_info)TTM_POINT_INFO_INIT, &err), TTM_EUSAGE);
  assert_int_equal(ttm_statement_get(o.findings, 1000, &(ttm_statement_info)TTM_STATEMENT_INFO_INIT, &err), TTM_EUSAGE);
  assert_int_equal(ttm_tensor_get(o.findings, 0, &t, &err), TTM_EUSAGE); /* no size */
  assert_non_null(strstr(err.message, "INIT"));
  t.size = offsetof(ttm_tensor_info, dtype); /* an earlier version: nothing behind it is touched */
  assert_int_equal(ttm_tensor_get(o.findings, 1, &t, &err), TTM_OK);
  assert_true(t.name.n && !t.dtype.n && !t.rank && !t.birth);
  close_file(o);
}

static void test_findings_as_json(void **state) {
  (void)state;
  opened o = open_file("tests/data/small.log");
  char *text;
  size_t n;
  assert_int_equal(ttm_findings_json(o.findings, &text, &n, NULL), TTM_OK);
  assert_int_equal(strlen(text), n);
  assert_int_equal(strncmp(text, "{\"schema_version\":", 18), 0);
  ttm_text_free(text);
  close_file(o);
}

/* ---- Feeding ------------------------------------------------------------------------------------------------------- */

static void test_a_log_that_is_still_written(void **state) {
  (void)state;
  ttm_feed *feed;
  ttm_feed_info info = TTM_FEED_INFO_INIT;
  ttm_profile *profile;
  ttm_str log = file_view(small);
  assert_int_equal(ttm_feed_begin(&feed, "small.log", NULL, NULL), TTM_OK);
  assert_int_equal(ttm_feed_get(feed, &info, NULL), TTM_OK);
  assert_true(info.now[TTM_DRAM].banks == TTM_UNKNOWN && info.peak[TTM_DRAM] == TTM_UNKNOWN);
  assert_int_equal(ttm_feed_put(feed, log.p, log.n / 2, NULL), TTM_OK);
  assert_int_equal(ttm_feed_get(feed, &info, NULL), TTM_OK);
  uint64_t half = info.operations;
  assert_true(half > 0 && info.now[TTM_DRAM].banks == 12);
  assert_int_equal(ttm_feed_put(feed, log.p + log.n / 2, log.n - log.n / 2, NULL), TTM_OK);
  assert_int_equal(ttm_feed_get(feed, &info, NULL), TTM_OK);
  assert_true(info.operations > half && info.incidents == 1);
  assert_true(info.peak[TTM_DRAM] >= info.now[TTM_DRAM].allocated);
  assert_int_equal(ttm_feed_end(feed, &profile, NULL), TTM_OK);
  assert_int_equal(ttm_operation_count(profile), 18);
  ttm_profile_free(profile);
  free((char *)log.p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_version),
      cmocka_unit_test(test_options_of_other_versions),
      cmocka_unit_test(test_report_options_need_their_size),
      cmocka_unit_test(test_progress_cancels),
      cmocka_unit_test(test_operations_lead_to_their_states),
      cmocka_unit_test(test_states_add_up),
      cmocka_unit_test(test_tensors_are_the_peak),
      cmocka_unit_test(test_captures_know_addresses),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_statements_lead_to_their_fixes),
      cmocka_unit_test(test_rows_past_the_end),
      cmocka_unit_test(test_findings_as_json),
      cmocka_unit_test(test_a_log_that_is_still_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
