/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The bytes of a live file: what is read, and what is not believed. */
#include "segment_fixture.h"

static ttm_shm_fault read_it(const segment *s, size_t n, ttm_shm_segment *out) {
  ttm_str view = heap_view((ttm_str){s->bytes, n});
  ttm_shm_fault fault = ttm_shm_segment_read(out, view);
  free((char *)view.p);
  return fault;
}

static void fields(void **state) {
  (void)state;
  segment s;
  ttm_shm_segment out;
  segment_init(&s, UINT64_C(17716556166399396846), 3);
  segment_slot(&s, 5, 4711, 99, "python", 8388608, 2097152, 786432);
  segment_slot(&s, 63, 12, 7, "0123456789012345678901234567890123456789012345678901234567890123", 1, 2, 3);
  segment_put(&s, 856 + 120 * 63 + 24, 30, 8); /* L1_SMALL */
  segment_put(&s, 856 + 120 * 63 + 32, 40, 8); /* TRACE */
  segment_total(&s, TTM_USE_DRAM, 8388609);
  assert_int_equal(read_it(&s, TTM_SHM_BYTES, &out), TTM_SHM_FINE);
  assert_true(out.asic_id == UINT64_C(17716556166399396846));
  assert_int_equal(out.device_id, 3);
  assert_int_equal(out.total[TTM_USE_DRAM], 8388609);
  assert_int_equal(out.slot_count, 2);
  assert_int_equal(out.slots[0].pid, 4711);
  assert_int_equal(out.slots[0].bytes[TTM_USE_DRAM], 8388608);
  assert_int_equal(out.slots[0].bytes[TTM_USE_L1], 2097152);
  assert_int_equal(out.slots[0].bytes[TTM_USE_CB], 786432);
  assert_int_equal(out.slots[0].updated_ns, 99);
  assert_string_equal(out.slots[0].name, "python");
  assert_int_equal(strlen(out.slots[1].name), 64); /* no room for its end in the file */
  assert_int_equal(out.slots[1].bytes[TTM_USE_L1_SMALL], 30);
  assert_int_equal(out.slots[1].bytes[TTM_USE_TRACE], 40);
}

static void not_believed(void **state) {
  (void)state;
  segment s, bad;
  ttm_shm_segment out;
  segment_init(&s, 1, 0);
  segment_slot(&s, 0, 1, 1, "x", 1, 1, 1);
  for (size_t n = 0; n < TTM_SHM_BYTES; n += n < 100 ? 1 : 97) {
    assert_int_equal(read_it(&s, n, &out), TTM_SHM_SHORT);
    assert_int_equal(out.slot_count, 0);
  }
  bad = s, segment_put(&bad, 0, 0, 4);
  assert_int_equal(read_it(&bad, TTM_SHM_BYTES, &out), TTM_SHM_UNSET);
  bad = s, segment_put(&bad, 0, 2, 4);
  assert_int_equal(read_it(&bad, TTM_SHM_BYTES, &out), TTM_SHM_OTHER_VERSION);
  assert_int_equal(out.version, 2);
  bad = s, segment_slot(&bad, 9, 4, 1, "wrapped", (uint64_t)-4096, 0, 0);
  assert_int_equal(read_it(&bad, TTM_SHM_BYTES, &out), TTM_SHM_IMPOSSIBLE);
  assert_int_equal(out.slot_count, 0);
  bad = s, segment_slot(&bad, 9, -4, 1, "negative", 1, 0, 0);
  assert_int_equal(read_it(&bad, TTM_SHM_BYTES, &out), TTM_SHM_IMPOSSIBLE);
  bad = s, segment_total(&bad, TTM_USE_L1, UINT64_MAX);
  assert_int_equal(read_it(&bad, TTM_SHM_BYTES, &out), TTM_SHM_IMPOSSIBLE);
}

static void names(void **state) {
  (void)state;
  uint64_t id = 0;
  assert_true(ttm_shm_file_name(TTM_LIT("tt_device_18446744073709551615_memory"), &id));
  assert_true(id == UINT64_MAX);
  assert_false(ttm_shm_file_name(TTM_LIT("tt_device_18446744073709551616_memory"), &id));
  assert_false(ttm_shm_file_name(TTM_LIT("tt_device__memory"), &id));
  assert_false(ttm_shm_file_name(TTM_LIT("tt_device_1_memory.old"), &id));
  assert_false(ttm_shm_file_name(TTM_LIT("sm_segment.vm.0.1"), &id));
  assert_string_equal(ttm_use_name(TTM_USE_L1_SMALL), "L1_SMALL");
  assert_string_equal(ttm_use_key(TTM_USE_CB), "cb");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fields), cmocka_unit_test(not_believed), cmocka_unit_test(names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
