/* SPDX-License-Identifier: Apache-2.0 */
#include "base/boards.h"
#include "unit.h"

static const ttm_board *board(const char *name) {
  const ttm_board *found = ttm_board_find(ttm_str_of(name));
  assert_non_null(found);
  return found;
}

static void finding(void **state) {
  (void)state;
  assert_int_equal(board("n150")->dram_banks, 12);
  assert_int_equal(board("N300")->l1_banks, 64);
  assert_int_equal(board("p100")->dram_banks, 7);
  assert_int_equal(ttm_arch_find(TTM_LIT("wormhole_b0")), TTM_ARCH_WORMHOLE);
  assert_int_equal(ttm_arch_find(TTM_LIT("BLACKHOLE")), TTM_ARCH_BLACKHOLE);
  assert_int_equal(ttm_arch_find(TTM_LIT("quasar")), TTM_ARCHES);
  assert_null(ttm_board_find(TTM_LIT("n15")));
  assert_null(ttm_board_find(TTM_LIT("n1500")));
  assert_null(ttm_board_find(TTM_LIT("")));
  for (size_t b = 0; b < TTM_BOARDS; b++) {
    assert_int_equal(ttm_boards[b].grid_x * ttm_boards[b].grid_y, ttm_boards[b].l1_banks);
  }
}

/* Values that running software printed: samples/metal/ttnn-0.81.1, tt-xla #5535. */
static void bank_sizes(void **state) {
  (void)state;
  assert_true(ttm_board_dram_bank(board("n150"), 0, false) == 1072693184);
  assert_true(ttm_board_dram_bank(board("n150"), 0, true) == 1070773184);
  assert_true(ttm_board_dram_bank(board("p150"), 0, false) == 4277141376);
  assert_true(ttm_board_dram_bank(board("p150"), 0, true) == 4272341376);
  assert_true(ttm_board_l1_bank(board("n150"), ttm_l1_base_of(TTM_ARCH_WORMHOLE, TTM_LIT("0.81.1")), 0) == 1393312);
  assert_true(ttm_board_l1_bank(board("p150"), ttm_l1_base_of(TTM_ARCH_BLACKHOLE, TTM_LIT("0.81.1")), 0) == 1461120);
  assert_true(ttm_board_l1_bank(board("n150"), 103712, 65536) == 1329888);
  assert_true(ttm_board_l1_bank(board("n150"), 103712, UINT64_MAX) == 0);
  /* 100 MB over 12 banks, rounded to 8 KiB. */
  assert_true(ttm_board_trace_bank(board("n150"), 100000000) == 8339456);
  assert_true(ttm_board_dram_bank(board("n150"), 100000000, false) == 1072693184 - 8339456);
  assert_true(ttm_board_dram_bank(board("n150"), UINT64_MAX, false) == 0);
}

static void bases(void **state) {
  (void)state;
  assert_int_equal(ttm_l1_base_of(TTM_ARCH_WORMHOLE, TTM_LIT("0.52")), 0);
  assert_int_equal(ttm_l1_base_of(TTM_ARCH_WORMHOLE, TTM_LIT("0.57")), 102368);
  assert_int_equal(ttm_l1_base_of(TTM_ARCH_GRAYSKULL, TTM_LIT("0.55.1")), 100000);
  assert_int_equal(ttm_l1_base_of(TTM_ARCH_WORMHOLE, TTM_LIT("0.59.2")), 97248);
  assert_int_equal(ttm_l1_base_of(TTM_ARCH_WORMHOLE, TTM_LIT("v0.67.1-rc17")), 103712);
  assert_int_equal(ttm_l1_base_of(TTM_ARCH_BLACKHOLE, TTM_LIT("v0.78.0-dev20260822")), 111616);
  assert_int_equal(ttm_l1_base_of(TTM_ARCH_BLACKHOLE, TTM_LIT("0.79.0")), 111616);
  assert_int_equal(ttm_l1_base_of(TTM_ARCH_WORMHOLE, TTM_LIT("1.0")), 105824);
  assert_int_equal(ttm_l1_base_of(TTM_ARCH_GRAYSKULL, TTM_LIT("0.60")), 100384); /* its last */
  assert_int_equal(ttm_l1_base_newest(TTM_ARCH_GRAYSKULL), 100384);
  assert_int_equal(ttm_l1_base_of(TTM_ARCH_WORMHOLE, TTM_LIT("main")), 0);
  assert_int_equal(ttm_l1_base_newest(TTM_ARCH_WORMHOLE), 105824);
  assert_int_equal(ttm_l1_base_newest(TTM_ARCH_BLACKHOLE), 111744);
}

static void guesses(void **state) {
  (void)state;
  assert_int_equal(ttm_arch_by_l1_bytes(1048576), TTM_ARCH_GRAYSKULL);
  assert_int_equal(ttm_arch_by_l1_bytes(1499136), TTM_ARCH_WORMHOLE);
  assert_int_equal(ttm_arch_by_l1_bytes(1572864), TTM_ARCH_BLACKHOLE);
  assert_int_equal(ttm_arch_by_l1_bytes(1), TTM_ARCHES);
  assert_int_equal(ttm_arch_by_dram_banks(12), TTM_ARCH_WORMHOLE);
  assert_int_equal(ttm_arch_by_dram_banks(7), TTM_ARCH_BLACKHOLE);
  assert_int_equal(ttm_arch_by_dram_banks(9), TTM_ARCHES);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(finding), cmocka_unit_test(bank_sizes), cmocka_unit_test(bases),
                                     cmocka_unit_test(guesses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
