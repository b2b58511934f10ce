/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/clash.h"
#include "report/write/l1_picture.h"
#include "report/write/svg.h"
#include "unit.h"

static const ttm_picture_style plain = {.columns = 80}, utf8 = {.columns = 80, .utf8 = true};

static ttm_l1_map small_map(void) {
  ttm_l1_map map = {.arch = TTM_ARCH_WORMHOLE, .size = 1000, .base = 100, .small = 50};
  assert_int_equal(ttm_vec_push(&map.buffers, (ttm_l1_region){100, 300, TTM_LIT("cb0")}), 0);
  assert_int_equal(ttm_vec_push(&map.buffers, (ttm_l1_region){300, 400, TTM_LIT("cb1")}), 0);
  assert_int_equal(ttm_vec_push(&map.tensors, (ttm_l1_region){700, 950, TTM_LIT("x")}), 0);
  return map;
}

static void drawn_exactly(void **state) {
  (void)state;
  ttm_l1_map map = small_map();
  ttm_buf out = {0};
  assert_int_equal(ttm_l1_picture_text(&map, &plain, &out), 0);
  ttm_buf_char(&out, '\0');
  assert_string_equal(out.at,
                      "               CBs ^         tensors v\n"
                      "       1,000 +-------------+-------------+ end of L1\n"
                      "         950 |             |=============| 50 B L1_SMALL\n"
                      "             |             |=============|\n"
                      "             |             |=============| 250 B x\n"
                      "         700 |             |=============|\n"
                      "             |             |             |\n"
                      "             |             |             |\n"
                      "             |             |             | 300 B free\n"
                      "         400 |             |             |\n"
                      "         300 |%%%%%%%%%%%%%|             | 100 B cb1\n"
                      "             |#############|             |\n"
                      "             |#############|             | 200 B cb0\n"
                      "         100 +-------------+-------------+ base\n"
                      "             |...........................| 100 B firmware and kernels\n"
                      "           0 +-------------+-------------+\n");
  ttm_buf_free(&out);
  ttm_l1_map_free(&map);
}

/* Sixty-four buffers with the worst names: still a screenful, no line too wide, nothing raw in either picture. */
static void many_buffers_with_hostile_names(void **state) {
  (void)state;
  ttm_l1_map map = {.arch = TTM_ARCHES, .size = 1572864, .base = 111744};
  ttm_str evil = TTM_LIT("\x1b[31m<script>alert('\"&')</script>\xff long long long long long long long");
  ttm_buf text = {0}, svg = {0};
  for (uint64_t i = 0; i < 64; i++)
    assert_int_equal(ttm_vec_push(&map.buffers, (ttm_l1_region){111744 + i * 2048, 113792 + i * 2048, evil}), 0);
  assert_int_equal(ttm_vec_push(&map.tensors, (ttm_l1_region){200000, 1572864, evil}), 0);
  assert_int_equal(ttm_l1_picture_text(&map, &utf8, &text), 0);
  assert_int_equal(ttm_l1_picture_svg(&map, &svg), 0);
  size_t lines = 0;
  for (ttm_str rest = ttm_buf_str(&text); rest.n; lines++) {
    size_t end = ttm_str_find_char(rest, '\n');
    size_t columns = 0;
    for (size_t i = 0; i < end; i++) columns += ((unsigned char)rest.p[i] & 0xc0) != 0x80;
    assert_true(columns <= 80);
    rest = ttm_str_from(rest, end + 1);
  }
  assert_true(lines < 50);
  assert_false(ttm_str_contains(ttm_buf_str(&text), TTM_LIT("\x1b")));
  assert_false(ttm_str_contains(ttm_buf_str(&svg), TTM_LIT("\x1b")));
  assert_false(ttm_str_contains(ttm_buf_str(&svg), TTM_LIT("<script")));
  assert_false(ttm_str_contains(ttm_buf_str(&svg), TTM_LIT("\xff")));
  assert_true(ttm_str_contains(ttm_buf_str(&svg), TTM_LIT("both")));
  ttm_buf_free(&text);
  ttm_buf_free(&svg);
  ttm_l1_map_free(&map);
}

static void empty_and_absurd_maps(void **state) {
  (void)state;
  const uint64_t values[] = {0, 1, 1499136, UINT64_MAX};
  for (int i = 0; i < 64; i++) {
    ttm_l1_map map = {
        .arch = TTM_ARCH_WORMHOLE, .size = values[i % 4], .base = values[i / 4 % 4], .small = values[i / 16]};
    ttm_buf out = {0};
    assert_int_equal(ttm_l1_picture_text(&map, &utf8, &out), 0);
    assert_int_equal(ttm_l1_picture_svg(&map, &out), 0);
    ttm_buf_free(&out);
    ttm_l1_map_free(&map);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(drawn_exactly), cmocka_unit_test(many_buffers_with_hostile_names),
                                     cmocka_unit_test(empty_and_absurd_maps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
