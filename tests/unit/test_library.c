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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_version),
      cmocka_unit_test(test_options_of_other_versions),
      cmocka_unit_test(test_report_options_need_their_size),
      cmocka_unit_test(test_progress_cancels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
