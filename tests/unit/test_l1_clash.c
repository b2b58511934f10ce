/* SPDX-License-Identifier: Apache-2.0 */
/* Clashes explained from real messages: samples/metal and public issues. */
#include "analyze/fix.h"
#include "l1/clash.h"
#include "l1/data_format.h"
#include "unit.h"

static const ttm_clash_hints nothing = {0};

static ttm_remedies fixes; /* of the clash explained last */

static ttm_clash explain(const char *sentence, const ttm_clash_hints *hints) {
  ttm_incident_text incident;
  ttm_clash clash;
  assert_true(ttm_incident_parse(ttm_str_of(sentence), &incident));
  assert_true(ttm_clash_possible(&incident));
  assert_int_equal(ttm_clash_explain(&clash, &incident, hints), 0);
  fixes = (ttm_remedies){.n = 0};
  ttm_fixes_of_buffers(&fixes, &incident, clash.map.arch, clash.spare_small);
  return clash;
}

/* failures_n150.log */
static void dataflow_buffers_meet_tensors(void **state) {
  (void)state;
  ttm_clash c = explain(
      "Statically allocated dataflow buffers in program 0 clash with L1 buffers on core range [0-0 - 7-3]. L1 buffer "
      "allocated at 256000 and static dataflow buffer region ends at 1185120",
      &nothing);
  assert_false(c.overlap.beyond);
  assert_int_equal(c.bytes, 929120);
  assert_int_equal(c.tiles, 454);
  assert_int_equal(c.buffer_bytes, 1185120 - 105824);
  assert_int_equal(c.cores, 32);
  assert_true(c.map.dataflow);
  assert_int_equal(c.map.arch, TTM_ARCH_WORMHOLE);
  assert_int_equal(c.map.arch_basis, TTM_ESTIMATED);
  assert_int_equal(c.map.base_basis, TTM_ESTIMATED);
  assert_int_equal(c.map.buffers.at[0].end - ttm_l1_map_lowest_tensor(&c.map), 929120);
  assert_true(fixes.n >= 2);
  assert_int_equal(fixes.at[0].kind, TTM_FIX_BUFFERS);
  assert_int_equal(fixes.at[0].count, 454);
  assert_int_equal(fixes.at[1].kind, TTM_FIX_L1_TENSORS);
  ttm_clash_free(&c);
}

static void buffers_alone_are_too_large(void **state) {
  (void)state;
  ttm_clash c = explain(
      "Statically allocated dataflow buffers on core range [0-0 - 1-7] grow to 12688736 B which is beyond max L1 size "
      "of 1499136 B",
      &nothing);
  assert_true(c.overlap.beyond);
  assert_int_equal(c.bytes, 12688736 - 1499136);
  assert_int_equal(c.map.arch_basis, TTM_MEASURED);
  assert_int_equal(c.map.tensors.n, 0);
  for (size_t i = 0; i < fixes.n; i++) assert_int_not_equal(fixes.at[i].kind, TTM_FIX_L1_TENSORS);
  ttm_clash_free(&c);
}

/* tt-metal #54876: 192 bytes, solved by l1_small_size 4096 -> 2048. */
static void a_small_clash_is_a_matter_of_settings(void **state) {
  (void)state;
  ttm_clash_hints hints = {.version = TTM_LIT("0.67.1"), .l1_small = 4096, .tile_bytes = 1088};
  ttm_clash c = explain(
      "Statically allocated circular buffers in program 4 clash with L1 buffers on core range [(x=0,y=0) - (x=7,y=7)]. "
      "L1 buffer allocated at 1000000 and static circular buffer region ends at 1000192",
      &hints);
  assert_int_equal(c.bytes, 192);
  assert_int_equal(c.tiles, 1);
  assert_int_equal(c.map.base, 103712);
  assert_int_equal(c.map.base_basis, TTM_DERIVED);
  assert_int_equal(c.program, 4);
  assert_int_equal(fixes.at[2].kind, TTM_FIX_LESS_SMALL);
  assert_int_equal(fixes.at[2].check, TTM_FIX_ESTIMATED); /* nobody says how much of L1_SMALL is in use */
  assert_int_equal(fixes.at[2].bytes, 192);
  ttm_clash_free(&c);
}

static void the_chip_shows_in_the_coordinates(void **state) {
  (void)state;
  ttm_clash c = explain(
      "Statically allocated circular buffers in program 4 clash with L1 buffers on core range [0-0 - 10-9]. L1 buffer "
      "allocated at 700000 and static circular buffer region ends at 700032",
      &nothing);
  assert_int_equal(c.map.arch, TTM_ARCH_BLACKHOLE);
  assert_int_equal(c.map.arch_basis, TTM_DERIVED);
  assert_int_equal(c.map.size, 1572864);
  ttm_clash_free(&c);
}

/* Numbers no chip has: never a crash, never a wrapped number. */
static void absurd_numbers(void **state) {
  (void)state;
  const uint64_t values[] = {0, 1, 31, 105824, 1499136, 1572865, UINT64_MAX - 1, UINT64_MAX};
  const size_t n = sizeof values / sizeof *values;
  for (size_t i = 0; i < n * n * n * 2; i++) {
    ttm_incident_text incident = {.kind = i & 1 ? TTM_INCIDENT_L1_OVERFLOW : TTM_INCIDENT_L1_CLASH,
                                  .l1_buffer_at = values[i / 2 % n],
                                  .buffers_end = values[i / 2 / n % n],
                                  .l1_size = i & 1 ? values[i / 2 / n / n] : TTM_UNKNOWN,
                                  .program = TTM_UNKNOWN};
    ttm_clash_hints hints = {.base = values[i / 2 / n / n], .l1_small = values[i % n]};
    ttm_clash c;
    int status = ttm_clash_explain(&c, &incident, &hints);
    assert_int_equal(status, ttm_clash_possible(&incident) ? 0 : TTM_EUSAGE);
    if (!status) {
      assert_true(c.bytes > 0 && c.map.base <= incident.buffers_end);
      for (size_t t = 0; t < c.map.tensors.n; t++) assert_true(c.map.tensors.at[t].at <= c.map.tensors.at[t].end);
    }
    ttm_clash_free(&c);
  }
}

/* The message tells of its own cores; what the others hold is unknown. */
static void drawn_on_its_cores(void **state) {
  (void)state;
  ttm_core_grid grid;
  bool known;
  ttm_clash c = explain(
      "Statically allocated circular buffers in program 8 clash with L1 buffers on core range [0-0 - 5-3]. L1 buffer "
      "allocated at 1000448 and static circular buffer region ends at 1003936",
      &nothing);
  assert_int_equal(ttm_clash_grid(&grid, &c, &known), TTM_OK);
  assert_true(known);
  assert_int_equal(grid.columns * 100 + grid.rows, 808);
  assert_true(grid.clashes[3][5] && !grid.clashes[4][5] && !grid.clashes[3][6]);
  assert_int_equal(grid.used[3][5], 1003936 - 105824 + 1499136 - 1000448);
  assert_true(grid.used[4][5] == TTM_UNKNOWN);
  ttm_clash_free(&c);
  c = explain(
      "Statically allocated circular buffers in program 8 clash with L1 buffers on core range [0-0 - 12-9]. L1 buffer "
      "allocated at 1000448 and static circular buffer region ends at 1003936",
      &nothing);
  assert_int_equal(ttm_clash_grid(&grid, &c, &known), TTM_OK);
  assert_int_equal(grid.columns * 100 + grid.rows, 1310);
  ttm_clash_free(&c);
}

static void tile_bytes_by_any_name(void **state) {
  (void)state;
  assert_int_equal(ttm_format_tile_bytes(TTM_LIT("bfloat16")), 2048);
  assert_int_equal(ttm_format_tile_bytes(TTM_LIT("tt::DataFormat::Bfp8_b")), 1088);
  assert_int_equal(ttm_format_tile_bytes(TTM_LIT("bfp_bf4")), 576);
  assert_int_equal(ttm_format_tile_bytes(TTM_LIT("ttnn.float32")), 4096);
  assert_int_equal(ttm_format_tile_bytes(TTM_LIT("MxFp4")), 544);
  assert_int_equal(ttm_format_tile_bytes(TTM_LIT("float12")), 0);
  assert_int_equal(ttm_format_tile_bytes(TTM_LIT("")), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dataflow_buffers_meet_tensors),
      cmocka_unit_test(buffers_alone_are_too_large),
      cmocka_unit_test(a_small_clash_is_a_matter_of_settings),
      cmocka_unit_test(the_chip_shows_in_the_coordinates),
      cmocka_unit_test(absurd_numbers),
      cmocka_unit_test(drawn_on_its_cores),
      cmocka_unit_test(tile_bytes_by_any_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
