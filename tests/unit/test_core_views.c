/* SPDX-License-Identifier: Apache-2.0 */
/* L1 core by core: what each view holds is what the nodes say, and agrees with ttm_core_use. */
#include "unit.h"

#include "base/buf.h"
#include "l1/core_use.h"
#include "report/write/core_grid.h"

static ttm_profile *read_text(const char *text) {
  ttm_profile *p = NULL;
  assert_int_equal(ttm_profile_read_bytes(&p, text, strlen(text), NULL, NULL), TTM_OK);
  return p;
}

static ttm_profile *read_small(void) {
  ttm_profile *p = NULL;
  assert_int_equal(ttm_profile_read(&p, TTMEM_SOURCE "/tests/data/capture_small.json", NULL), TTM_OK);
  return p;
}

#define NODE(n, type, params, connections) \
  "{\"counter\":" #n ",\"node_type\":\"" type "\",\"params\":{" params "},\"connections\":[" connections "]}"
#define HEAD                                                                                                         \
  "{\"devices\":[{\"arch\":\"WORMHOLE_B0\",\"worker_l1_size\":1499136,\"l1_bank_size\":1393312,\"l1_num_banks\":64," \
  "\"address_at_first_l1_cb_buffer\":105824,\"num_x_compute_cores\":8,\"num_y_compute_cores\":8}],\"graph\":["
#define FUNCTION(n, name) NODE(n, "function_start", "\"name\":\"" name "\"", "")
#define CB(n, bytes, at, cores)       \
  NODE(n, "circular_buffer_allocate", \
       "\"size\":" #bytes ",\"address\":" #at ",\"globally_allocated\":\"0\",\"core_range_set\":\"" cores "\"", "")

static void every_core_of_a_view(void **state) {
  (void)state;
  ttm_profile *p = read_small();
  ttm_core_views v;
  ttm_core_grid grid;
  assert_int_equal(ttm_core_views_make(&v, p), TTM_OK);
  assert_int_equal(v.views.n, 2); /* add and matmul; the two chips of matmul run one program, relu's is not told */
  assert_int_equal(v.programs.n, 2);
  assert_int_equal(v.columns, 8);
  assert_int_equal(v.rows, 8);
  ttm_core_view_grid(&v, 0, &grid);
  assert_int_equal(grid.limit, 1499136 - 105824);
  assert_int_equal(grid.used[0][0], 6144 + 4096 + 8192);
  assert_int_equal(grid.used[3][4], 6144 + 4096);
  assert_int_equal(grid.used[4][4], 6144 + 4096 + 16384);
  assert_false(grid.any_clash);
  unsigned x, y;
  ttm_core_grid_fullest(&grid, &x, &y);
  assert_int_equal(x * 10 + y, 44);
  ttm_core_view_grid(&v, 1, &grid);
  assert_int_equal(grid.used[0][0], 6144 + 13000);
  assert_int_equal(grid.used[0][1], 6144 + 10000);
  assert_int_equal(ttm_core_views_find(&v, 1), 1);
  assert_int_equal(ttm_core_views_find(&v, 9), 1);
  ttm_core_views_free(&v);
  ttm_profile_free(p);
}

static void one_core_with_addresses(void **state) {
  (void)state;
  ttm_profile *p = read_small();
  ttm_core_views v;
  ttm_l1_map map;
  assert_int_equal(ttm_core_views_make(&v, p), TTM_OK);
  assert_int_equal(ttm_core_view_map(&v, 0, 4, 4, &map), TTM_OK);
  assert_int_equal(map.buffers.n, 2);
  assert_int_equal(map.buffers.at[1].at, 109920);
  assert_int_equal(map.buffers.at[1].end, 109920 + 16384);
  assert_int_equal(map.tensors.n, 2);
  assert_int_equal(map.tensors.at[0].at, 1492992);
  ttm_l1_map_free(&map);
  assert_int_equal(ttm_core_view_map(&v, 0, 4, 3, &map), TTM_OK);
  assert_int_equal(map.buffers.n, 1);
  ttm_l1_map_free(&map);
  ttm_core_views_free(&v);
  ttm_profile_free(p);
}

/* A tensor cut over eight cores, and a program on four others whose buffers reach into it: the clash is on those four, since a tensor is reserved on
 * every core. */
static void clash_and_shards(void **state) {
  (void)state;
  ttm_profile *p =
      read_text(HEAD FUNCTION(0, "ttnn.empty") "," NODE(1, "buffer", "\"type\":\"L1\",\"size\":8000000", "3") "," NODE(
          2, "buffer_allocate",
          "\"type\":\"L1\",\"size\":8000000,\"address\":499136,\"num_cores\":8,\"page_size\":1000000,\"max_size_per_"
          "bank\":1000000",
          "1") "," NODE(3, "tensor",
                        "\"shape\":\"Shape([1, 1, 64, "
                        "1024])\",\"dtype\":\"DataType::BFLOAT16\",\"layout\":\"Layout::TILE\",\"memory_config\":"
                        "\"MemoryConfig(shard_spec=ShardSpec{grid=[{\\\"start\\\":{\\\"x\\\":0,\\\"y\\\":0},"
                        "\\\"end\\\":{\\\"x\\\":3,\\\"y\\\":0}}, {\\\"start\\\":{\\\"x\\\":0,\\\"y\\\":1},"
                        "\\\"end\\\":{\\\"x\\\":3,\\\"y\\\":1}], shape=[256, 64]})\"",
                        "") "," NODE(4, "function_end", "",
                                     "") "," FUNCTION(5, "ttnn.softmax") "," CB(6, 4096, 105824,
                                                                                "{[0-0 - 7-7]}") "," CB(7, 400000,
                                                                                                        109920,
                                                                                                        "{[6-6 - "
                                                                                                        "7-7]}") "]}");
  ttm_core_views v;
  ttm_core_grid grid;
  assert_int_equal(ttm_core_views_make(&v, p), TTM_OK);
  assert_int_equal(v.views.n, 2);
  assert_int_equal(v.views.at[0].program, TTM_NONE);
  assert_int_equal(v.lives.n, 1);
  const ttm_core_set *cores = &v.sets.sets.at[v.lives.at[0].cores];
  assert_int_equal(ttm_core_set_count(cores), 8);
  assert_true(ttm_core_set_has(cores, 3, 1) && !ttm_core_set_has(cores, 4, 0));
  ttm_core_view_grid(&v, 1, &grid);
  assert_true(grid.any_clash && grid.clashes[6][7] && !grid.clashes[5][7] && !grid.clashes[0][0]);
  assert_int_equal(grid.used[0][0], 1000000 + 4096);
  ttm_buf out = {0};
  ttm_picture_style style = {.columns = 80};
  assert_int_equal(ttm_core_view_text(&v, 1, 6, 6, &style, &out), TTM_OK);
  ttm_buf_char(&out, '\0');
  static const char *const wanted[] = {"ttnn.softmax\n",
                                       "      0  1  2  3  4  5  6  7\n",
                                       "  0  %% %% %% %% %% %% %% %%\n",
                                       "  6  %% %% %% %% %% %%[XX]XX\n",
                                       "XX overlap",
                                       "Core 6-6: 1.34 MB, its buffers overlap a tensor\n",
                                       "10.5 KB overlap"};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (!strstr(out.at, wanted[i])) fail_msg("'%s' is not in\n%s", wanted[i], out.at);
  ttm_buf_free(&out);
  assert_int_equal(ttm_core_grid_svg(&grid, &out), TTM_OK);
  assert_true(ttm_str_contains(ttm_buf_str(&out), TTM_LIT("fill=\"url(#clash)\"")));
  ttm_buf_free(&out);
  ttm_core_views_free(&v);
  ttm_profile_free(p);
}

/* A log has no cores. */
static void nothing_else_has_views(void **state) {
  (void)state;
  ttm_profile *p = NULL;
  ttm_core_views v;
  assert_int_equal(ttm_profile_read(&p, TTMEM_SOURCE "/demo/llama_small.log.zst", NULL), TTM_OK);
  assert_int_equal(ttm_core_views_make(&v, p), TTM_OK);
  assert_int_equal(v.views.n, 0);
  assert_int_equal(ttm_core_views_find(&v, 0), TTM_NONE);
  ttm_core_views_free(&v);
  ttm_profile_free(p);
}

/* Real ttnn with TT_METAL_ALLOCATOR_MODE_HYBRID (tests/ttnn/programs/hybrid.py 9 40): on no core do two tensors share an address. */
static void cores_with_tensors_of_their_own(void **state) {
  (void)state;
  ttm_profile *p = NULL;
  ttm_core_views v;
  ttm_core_use use;
  ttm_core_grid grid;
  assert_int_equal(ttm_profile_read(&p, TTMEM_SOURCE "/tests/data/recording_hybrid.json.zst", NULL), TTM_OK);
  const ttm_capture *c = &p->capture;
  assert_int_equal(c->peak_bytes[TTM_L1], 198656); /* of the fullest bank, as the program itself counted */
  assert_int_equal(c->recording.corrections + c->recording.hole_corrections + c->recording.unseen_frees, 0);
  assert_int_equal(p->ranks.n, 1);
  assert_int_equal(ttm_core_use_make(&use, p), TTM_OK);
  assert_true(use.peak_tensors <= 198656);
  assert_int_equal(ttm_core_views_make(&v, p), TTM_OK);
  uint64_t several = 0, fullest = 0;
  for (size_t i = 0; i < c->buffers.n; i++)
    for (uint32_t k = 1; k < c->buffers.at[i].place_n; k++)
      several += c->core_places.at[c->buffers.at[i].places + k].at != c->buffers.at[i].address;
  assert_true(several > 0);
  for (uint32_t view = 0; view < v.views.n; view++) {
    ttm_core_view_grid(&v, view, &grid);
    for (unsigned core = 0; core < 64; core++) {
      ttm_l1_map map;
      uint64_t end = 0, bytes = 0;
      assert_int_equal(ttm_core_view_map(&v, view, core % 8, core / 8, &map), TTM_OK);
      for (size_t i = 0; i < map.tensors.n; i++) {
        assert_true(map.tensors.at[i].at >= end);
        end = map.tensors.at[i].end;
        bytes += end - map.tensors.at[i].at;
      }
      assert_int_equal(grid.used[core / 8][core % 8], bytes);
      if (bytes > fullest) fullest = bytes;
      ttm_l1_map_free(&map);
    }
  }
  assert_int_equal(use.fullest.total, fullest);
  ttm_core_views_free(&v);
  ttm_core_use_free(&use);
  ttm_profile_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_core_of_a_view),
      cmocka_unit_test(one_core_with_addresses),
      cmocka_unit_test(clash_and_shards),
      cmocka_unit_test(nothing_else_has_views),
      cmocka_unit_test(cores_with_tensors_of_their_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
