/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "parse/memory_view.h"

#define VIEW                                                                                        \
  "MemoryView{numBanks: 12, totalBytesPerBank: 1021.169 MB, totalBytesAllocatedPerBank: 0.430 MB, " \
  "totalBytesFreePerBank: 1020.739 MB, largestContiguousBytesFreePerBank: 1020.662 MB}"

static void test_figures(void **state) {
  (void)state;
  ttm_level l;
  assert_true(ttm_memory_view_parse(TTM_LIT(VIEW), &l));
  assert_int_equal(l.banks, 12);
  assert_int_equal(l.total, 1021169);
  assert_int_equal(l.allocated, 430);
  assert_int_equal(l.free, 1020739);
  assert_int_equal(l.largest, 1020662);
}

/* Every cut of the line is refused, and read only as far as it goes. */
static void test_cut(void **state) {
  (void)state;
  ttm_str whole = TTM_LIT(VIEW);
  for (size_t n = 0; n < whole.n; n++) {
    ttm_str cut = heap_view(ttm_str_first(whole, n));
    ttm_level l;
    assert_false(ttm_memory_view_parse(cut, &l));
    free((void *)cut.p);
  }
}

static void test_odd_numbers(void **state) {
  (void)state;
  ttm_level l;
  assert_true(ttm_memory_view_parse(
      TTM_LIT("MemoryView{numBanks: 99999999999, totalBytesPerBank: 7 MB, totalBytesAllocatedPerBank: 0.5 MB, "
              "totalBytesFreePerBank: 1.23456 MB, largestContiguousBytesFreePerBank: 99999999999999999999.000 MB}"),
      &l));
  assert_int_equal(l.banks, UINT32_MAX);
  assert_int_equal(l.total, 7000);
  assert_int_equal(l.allocated, 500);
  assert_int_equal(l.free, 1234);
  assert_int_equal(l.largest, UINT32_MAX - 1);
}

/* What rounding leaves is no damage, another digit is. */
static void test_sums(void **state) {
  (void)state;
  static const char *const damaged[] = {"1021.169", "0.430", "1020.739"};
  char text[] = VIEW, larger[] = VIEW;
  ttm_level l;
  *strstr(text, "0 MB, totalBytesFree") = '1';
  assert_true(ttm_memory_view_parse(ttm_str_of(text), &l) && ttm_level_adds_up(&l));
  for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
    char other[] = VIEW;
    *strstr(other, damaged[i]) = '5';
    assert_true(ttm_memory_view_parse(ttm_str_of(other), &l) && !ttm_level_adds_up(&l));
  }
  strstr(larger, "1020.662")[2] = '3'; /* more in one piece than is free */
  assert_true(ttm_memory_view_parse(ttm_str_of(larger), &l) && !ttm_level_adds_up(&l));
}

static void test_names(void **state) {
  (void)state;
  ttm_str rest;
  assert_int_equal(ttm_memory_line(TTM_LIT("Device DRAM memory state: a"), &rest), TTM_DRAM);
  assert_view(rest, "a");
  assert_int_equal(ttm_memory_line(TTM_LIT("Device L1 memory state: "), &rest), TTM_L1);
  assert_int_equal(ttm_memory_line(TTM_LIT("Device L1_SMALL memory state: "), &rest), TTM_L1_SMALL);
  assert_int_equal(ttm_memory_line(TTM_LIT("Device TRACE memory state: "), &rest), TTM_TRACE);
  assert_int_equal(ttm_memory_line(TTM_LIT("Device memory state before submit"), &rest), TTM_MEMORIES);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_figures), cmocka_unit_test(test_cut),
                                     cmocka_unit_test(test_odd_numbers), cmocka_unit_test(test_sums),
                                     cmocka_unit_test(test_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
