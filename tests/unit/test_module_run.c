/* SPDX-License-Identifier: Apache-2.0 */
/* tests/data/program.mlir: a weight made by const-eval, a view on a product, an L1 tensor, a view as the result. Every large tensor takes
 * 4096x4096 bf16 tiles: M. */
#include "profile/module_run.h"

#include "starving.h"
#include "unit.h"

enum { BANKS = 12, L1_BANKS = 64 };
#define M (UINT64_C(1366) * 2048) /* 16,384 tiles over 12 banks */

typedef struct level {
  uint64_t held, peak, after; /* after: when the last function has returned */
  uint32_t op;
} level;

static ttm_str program(void) { return file_view(TTMEM_SOURCE "/tests/data/program.mlir"); }

/* DRAM and L1 over the events of one run of `r`. */
static void play(const ttm_module_run *r, size_t run, level out[2]) {
  size_t end = run + 1 < r->runs.n ? r->runs.at[run + 1] : r->events.n;
  memset(out, 0, 2 * sizeof *out);
  for (size_t i = 0; i < end; i++) {
    const ttm_run_event *e = &r->events.at[i];
    for (int k = 0; k < 2 && e->act == TTM_RUN_LEAVE; k++) out[k].after = out[k].held;
    if (e->act != TTM_RUN_TAKE && e->act != TTM_RUN_GIVE) continue;
    const ttm_tensor_type *type = &r->types.at[r->buffers.at[e->what].type];
    level *l = &out[type->buffer == TTM_BUFFER_L1];
    uint64_t bytes =
        ttm_tensor_bank_bytes(type, type->buffer == TTM_BUFFER_L1 ? L1_BANKS : BANKS, (ttm_alignment){32, 16});
    l->held += e->act == TTM_RUN_TAKE ? bytes : -bytes;
    if (i >= r->runs.at[run] && l->held > l->peak) l->peak = l->held, l->op = e->op;
  }
}

static void peak_is(const ttm_module_run *r, size_t run, uint64_t dram, const char *op, uint64_t after) {
  level l[2];
  play(r, run, l);
  assert_int_equal(l[0].peak, dram);
  assert_int_equal(r->module->ops.at[l[0].op].name.n, strlen(op));
  assert_memory_equal(r->module->ops.at[l[0].op].name.p, op, strlen(op));
  assert_int_equal(l[0].after, after);
  assert_int_equal(l[1].peak, 2 * 2048);
  assert_int_equal(l[1].after, 0);
}

/* Held throughout: the input (M), its mask, and from const-eval on the weight (M). */
#define MASK (UINT64_C(11) * 2048)

static void the_runtime_frees_a_view_with_its_last_value(void **state) {
  (void)state;
  ttm_str text = program();
  ttm_module m;
  ttm_module_run r;
  assert_int_equal(ttm_module_parse(&m, text), TTM_OK);
  assert_int_equal(m.unread, 0);
  assert_int_equal(ttm_module_run_make(&r, &m, TTM_RUNNER_COMPILED, 2, NULL), TTM_OK);
  assert_int_equal(r.runs.n, 2);
  peak_is(&r, 0, 4 * M + MASK, "ttnn.gelu", 3 * M + MASK); /* input, weight, product, gelu */
  peak_is(&r, 1, 4 * M + MASK, "ttnn.gelu", 3 * M + MASK); /* the first run's result is gone, the weight is cached */
  ttm_module_run_free(&r);
  ttm_module_free(&m);
  free((char *)text.p);
}

static void emitted_python_keeps_it_to_the_end(void **state) {
  (void)state;
  ttm_str text = program();
  ttm_module m;
  ttm_module_run r;
  assert_int_equal(ttm_module_parse(&m, text), TTM_OK);
  assert_int_equal(ttm_module_run_make(&r, &m, TTM_RUNNER_PYTHON, 1, NULL), TTM_OK);
  peak_is(&r, 0, 5 * M + MASK, "ttnn.silu", 3 * M + MASK); /* the product is still there */
  ttm_module_run_free(&r);
  ttm_module_free(&m);
  free((char *)text.p);
}

/* What a log showed of an operation counts more than the rules: here the reshape copied. */
static void a_lesson_is_applied(void **state) {
  (void)state;
  ttm_str text = program();
  ttm_module m;
  ttm_module_run r;
  ttm_run_lessons lessons = {0};
  assert_int_equal(ttm_module_parse(&m, text), TTM_OK);
  for (size_t i = 0; i < m.ops.n; i++) {
    if (ttm_str_eq(m.ops.at[i].name, TTM_LIT("ttnn.reshape")))
      assert_int_equal(ttm_map_set(&lessons.ops, ttm_op_signature(&m, &m.ops.at[i]), TTM_SEEN_TAKING), TTM_OK);
  }
  assert_int_equal(ttm_module_run_make(&r, &m, TTM_RUNNER_COMPILED, 1, &lessons), TTM_OK);
  peak_is(&r, 0, 4 * M + MASK, "ttnn.reshape", 3 * M + MASK); /* input, weight, product, its copy */
  ttm_module_run_free(&r);
  ttm_map_free(&lessons.ops);
  ttm_module_free(&m);
  free((char *)text.p);
}

/* Another program of the same weights has brought them: the const-eval of this one is a cache hit. */
static void a_weight_that_is_there_costs_nothing(void **state) {
  (void)state;
  ttm_str text = program();
  ttm_module m;
  ttm_module_run first, second;
  ttm_run_lessons lessons = {0};
  assert_int_equal(ttm_module_parse(&m, text), TTM_OK);
  assert_int_equal(ttm_module_run_make(&first, &m, TTM_RUNNER_COMPILED, 1, NULL), TTM_OK);
  assert_true(first.brought.n >= 1);
  for (size_t i = 0; i < first.brought.n; i++)
    assert_int_equal(ttm_map_set(&lessons.there, first.brought.at[i], 1), TTM_OK);
  assert_int_equal(ttm_module_run_make(&second, &m, TTM_RUNNER_COMPILED, 2, &lessons), TTM_OK);
  assert_int_equal(second.brought.n, 0);
  peak_is(&second, 0, 3 * M + MASK, "ttnn.gelu", 2 * M + MASK);
  peak_is(&second, 1, 3 * M + MASK, "ttnn.gelu", 2 * M + MASK);
  ttm_module_run_free(&first);
  ttm_module_run_free(&second);
  ttm_map_free(&lessons.there);
  ttm_module_free(&m);
  free((char *)text.p);
}

/* ---- One operation after another ---- */

#define TILES(shape, dtype)                                                                                          \
  "tensor<" shape "x" dtype ", #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, " dtype \
  ">, #ttnn.buffer_type<dram>>, <interleaved>>>"
#define ROWS(shape, dims, dtype)                                                                      \
  "tensor<" shape "x" dtype ", #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<" dims "x" dtype \
  ", #ttnn.buffer_type<dram>>, <interleaved>>>"

/* What main takes beyond its arguments: at most, and in the end. `lines` stand in its body, where `type` is that of the argument. */
typedef struct taken {
  uint64_t peak, after;
} taken;

static taken take_in(const char *type, const char *lines, ttm_runner runner) {
  char text[8192];
  snprintf(text, sizeof text, "module {\n  func.func @main(%%arg0: %s) {\n%s    return\n  }\n}\n", type, lines);
  ttm_module m;
  ttm_module_run r;
  assert_int_equal(ttm_module_parse(&m, (ttm_str){text, strlen(text)}), TTM_OK);
  assert_int_equal(m.unread, 0);
  assert_int_equal(ttm_module_run_make(&r, &m, runner, 1, NULL), TTM_OK);
  level l[2];
  play(&r, 0, l);
  uint64_t given = ttm_tensor_bank_bytes(&r.types.at[r.buffers.at[0].type], BANKS, (ttm_alignment){32, 16});
  ttm_module_run_free(&r);
  ttm_module_free(&m);
  return (taken){l[0].peak - given, l[0].held - given};
}

static void takes(const char *type, const char *op, uint64_t peak, uint64_t after) {
  taken t = take_in(type, op, TTM_RUNNER_COMPILED);
  assert_int_equal(t.peak, peak);
  assert_int_equal(t.after, after);
}

/* Bytes of `pages` of `size` over the banks. */
#define BANK(pages, size) ((uint64_t)(((pages) + BANKS - 1) / BANKS) * (size))

/* The compiler leaves the shard of the layout before in the memref of an interleaved tensor: its shape counts. */
static void an_interleaved_tensor_is_as_large_as_its_shape(void **state) {
  (void)state;
  takes(TILES("2x50x768", "bf16"),
        "    %0 = \"ttnn.relu\"(%arg0) : (" TILES("2x50x768", "bf16") ") -> " TILES("2x50x768", "bf16") "\n",
        BANK(2 * 2 * 24, 2048), 0);
}

/* ttnn 0.81.1 made these: 48 and 1024/16 = 64 pieces for a tile. */
static void a_reshape_keeps_its_map(void **state) {
  (void)state;
  takes(TILES("1x257x1280", "bf16"),
        "    %0 = \"ttnn.reshape\"(%arg0) : (" TILES("1x257x1280", "bf16") ") -> " TILES("1x257x20x64", "bf16") "\n",
        BANK(257 * 2, 2048) + BANK(257 * 2, 48 * 16), BANK(257 * 2, 48 * 16));
  takes(TILES("2x50x1", "bf16"),
        "    %0 = \"ttnn.reshape\"(%arg0) : (" TILES("2x50x1", "bf16") ") -> " TILES("2x50", "bf16") "\n",
        BANK(2, 2048) + BANK(2, 1024), BANK(2, 1024));
}

static void rows_are_joined_as_rows(void **state) {
  (void)state;
  takes(TILES("257x1280", "bf16"),
        "    %0 = \"ttnn.concat\"(%arg0, %arg0) <{dim = 0 : si32}> : (" TILES("257x1280", "bf16") ", " TILES(
            "257x1280", "bf16") ") -> " TILES("514x1280", "bf16") "\n",
        2 * BANK(257, 2560) + BANK(514, 2560) + BANK(17 * 40, 2048), 0);
  takes(TILES("1280x257", "bf16"),
        "    %0 = \"ttnn.concat\"(%arg0, %arg0) <{dim = 1 : si32}> : (" TILES("1280x257", "bf16") ", " TILES(
            "1280x257", "bf16") ") -> " TILES("1280x514", "bf16") "\n",
        BANK(40 * 17, 2048), 0);
}

static void a_dim_that_is_not_there_does_no_harm(void **state) {
  (void)state;
#define PART TILES("50x64", "bf16")
  takes(PART, "    %0 = \"ttnn.concat\"(%arg0) <{dim = -9000 : si32}> : (" PART ") -> " PART "\n", BANK(4, 2048), 0);
  takes(PART, "    %0 = \"ttnn.all_gather\"(%arg0) <{all_gather_dim = 9000 : si32}> : (" PART ") -> " PART "\n",
        BANK(4, 2048), 0);
}

static void an_activation_is_an_operation_of_its_own(void **state) {
  (void)state;
  takes(TILES("64x64", "bf16"),
        "    %0 = \"ttnn.matmul\"(%arg0, %arg0) <{activation = \"gelu\"}> : (" TILES("64x64", "bf16") ", " TILES(
            "64x64", "bf16") ") -> " TILES("64x64", "bf16") "\n",
        2 * BANK(4, 2048), 0);
  takes(TILES("64x64", "bf16"),
        "    %0 = \"ttnn.matmul\"(%arg0, %arg0) : (" TILES("64x64", "bf16") ", " TILES("64x64", "bf16") ") -> " TILES(
            "64x64", "bf16") "\n",
        BANK(4, 2048), 0);
}

/* Two dims: a sum in f32, a mean as it is. A dim before the rows: a mean brings it to the rows. */
static void dims_are_reduced_one_by_one(void **state) {
  (void)state;
  takes(TILES("2x8x50x768", "bf16"),
        "    %0 = \"ttnn.sum\"(%arg0) <{dim_arg = [2 : i32, 3 : i32], keep_dim = true}> : (" TILES(
            "2x8x50x768", "bf16") ") -> " TILES("2x8x1x1", "bf16") "\n",
        BANK(32, 4096) + BANK(16, 2048), 0);
  takes(TILES("2x8x50x768", "bf16"),
        "    %0 = \"ttnn.mean\"(%arg0) <{dim_arg = [2 : i32, 3 : i32], keep_dim = true}> : (" TILES(
            "2x8x50x768", "bf16") ") -> " TILES("2x8x1x1", "bf16") "\n",
        BANK(32, 2048) + BANK(16, 2048), 0);
  takes(TILES("2x8x50x768", "bf16"),
        "    %0 = \"ttnn.max\"(%arg0) <{dim_arg = [1 : i32], keep_dim = true}> : (" TILES(
            "2x8x50x768", "bf16") ") -> " TILES("2x1x50x768", "bf16") "\n",
        2 * BANK(2 * 50 * 24, 2048), 0);
}

static void block_formats_move_as_bf16(void **state) {
  (void)state;
  takes(TILES("2x8x64x128", "bfp_bf8"),
        "    %0 = \"ttnn.permute\"(%arg0) <{permutation = array<i64: 0, 2, 1, 3>}> : (" TILES(
            "2x8x64x128", "bfp_bf8") ") -> " TILES("2x64x8x128", "bfp_bf8") "\n",
        BANK(2 * 8 * 2 * 4, 2048) + BANK(2 * 64 * 4, 2048) + BANK(2 * 64 * 4, 1088), 0);
  takes(TILES("2x8x64x128", "bfp_bf8"),
        "    %0 = \"ttnn.permute\"(%arg0) <{permutation = array<i64: 0, 1, 3, 2>}> : (" TILES(
            "2x8x64x128", "bfp_bf8") ") -> " TILES("2x8x128x64", "bfp_bf8") "\n",
        BANK(2 * 8 * 2 * 4, 1088), 0);
}

static void an_embedding_in_part_of_a_tile_is_rows_first(void **state) {
  (void)state;
  takes(ROWS("1x257", "1x257", "ui32"),
        "    %0 = \"ttnn.embedding\"(%arg0, %arg0) : (" ROWS("1x257", "1x257", "ui32") ", " ROWS(
            "1000x1280", "1000x1280", "bf16") ") -> " TILES("1x257x1280", "bf16") "\n",
        BANK(257, 2560) + BANK(9 * 40, 2048), 0);
}

/* 320 x 180 is cut from images of 320 x 192. */
static void slices_are_cut_from_whole_images(void **state) {
  (void)state;
  taken t = take_in(
      TILES("1x1x57600x512", "bf16"),
      "    %0 = \"ttnn.conv2d\"(%arg0, %arg0) <{batch_size = 1 : i32, conv2d_slice_config = "
      "#ttnn.conv2d_slice_config<dram_width, 0>, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 512 : "
      "i32, input_height = 320 : i32, input_width = 180 : i32, kernel_size = array<i32: 3, 3>, out_channels = 512 : "
      "i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (" TILES(
          "1x1x57600x512", "bf16") ", " TILES("1x1x4608x512", "bf16") ") -> " TILES("1x1x57600x512", "bf16") "\n",
      TTM_RUNNER_COMPILED);
  assert_true(t.peak >= 2 * UINT64_C(5242880) + 4915200 + 4587520);
  assert_int_equal(t.after, 4587520 + BANK(28800, 128 * 16)); /* the maps there and back */
}

static void values_are_scattered_in_rows(void **state) {
  (void)state;
  takes(TILES("64x128", "bf16"),
        "    %0 = \"ttnn.scatter\"(%arg0, %arg0, %arg0) <{dim = 1 : i32}> : (" TILES("64x128", "bf16") ", " TILES(
            "64x32", "ui32") ", " TILES("64x32", "bf16") ") -> " TILES("64x128", "bf16") "\n",
        2 * BANK(64, 256) + 2 * BANK(64, 256) + BANK(8, 2048), 0);
}

static void chips_hand_on_their_parts(void **state) {
  (void)state;
  takes(TILES("64x1024", "bf16"),
        "    %0 = \"ttnn.reduce_scatter\"(%arg0) <{scatter_dim = 1 : si32, topology = #ttcore.topology<linear>}> : "
        "(" TILES("64x1024", "bf16") ") -> " TILES("64x128", "bf16") "\n",
        BANK(2 * 64, 2048) + BANK(8, 2048), 0);
  takes(TILES("64x1024", "bf16"),
        "    %0 = \"ttnn.all_gather\"(%arg0) <{all_gather_dim = 1 : si32}> : (" TILES("64x1024", "bf16") ") -> " TILES(
            "64x8192", "bf16") "\n",
        BANK(512, 2048), 0);
  takes(TILES("50x1024", "bf16"),
        "    %0 = \"ttnn.all_gather\"(%arg0) <{all_gather_dim = 0 : si32}> : (" TILES("50x1024", "bf16") ") -> " TILES(
            "400x1024", "bf16") "\n",
        BANK(8 * 64, 2048) + 2 * BANK(400, 2048) + BANK(13 * 32, 2048), 0);
}

/* What a layer made and nobody uses goes with it; where operations have numbers, what it handed on stays to the end. */
static void layers_free_when_they_return(void **state) {
  (void)state;
#define T TILES("32x384", "bf16")
#define RELU(to, from, loc) "    " to " = \"ttnn.relu\"(" from ") : (" T ") -> " T " loc(\"" loc "\")\n"
#define LAYERS(a, b, c, d)                                  \
  RELU("%0", "%arg0", a "M[m]|/x.py:1|forward|2|relu")      \
  RELU("%1", "%0", b "M[m]|/x.py:1|forward|3|relu")         \
  RELU("%2", "%1", c "M[m]|A[m.a]|/x.py:9|forward|10|relu") \
  RELU("%3", "%2", d "M[m]|/x.py:20|forward|21|relu")
  /* after two layers: their two results; with the argument's function's own two at the peak */
  assert_int_equal(take_in(T, LAYERS("1|", "2|", "3|", "4|"), TTM_RUNNER_PYTHON).peak, 3 * 2048);
  assert_int_equal(take_in(T, LAYERS("", "", "", ""), TTM_RUNNER_PYTHON).peak, 2 * 2048);
}

static bool run_starved(void *context, bool plenty) {
  ttm_str *text = context;
  ttm_module m;
  ttm_module_run r = {0};
  int status = ttm_module_parse(&m, *text);
  if (!status) status = ttm_module_run_make(&r, &m, TTM_RUNNER_COMPILED, 2, NULL);
  ttm_module_run_free(&r);
  ttm_module_free(&m);
  return plenty || (status == TTM_OK) == (starve_allowed >= 0);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  ttm_str text = program();
  starve_walk(run_starved, &text);
  free((char *)text.p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_runtime_frees_a_view_with_its_last_value),
      cmocka_unit_test(emitted_python_keeps_it_to_the_end),
      cmocka_unit_test(a_lesson_is_applied),
      cmocka_unit_test(a_weight_that_is_there_costs_nothing),
      cmocka_unit_test(an_interleaved_tensor_is_as_large_as_its_shape),
      cmocka_unit_test(a_reshape_keeps_its_map),
      cmocka_unit_test(rows_are_joined_as_rows),
      cmocka_unit_test(a_dim_that_is_not_there_does_no_harm),
      cmocka_unit_test(an_activation_is_an_operation_of_its_own),
      cmocka_unit_test(dims_are_reduced_one_by_one),
      cmocka_unit_test(block_formats_move_as_bf16),
      cmocka_unit_test(an_embedding_in_part_of_a_tile_is_rows_first),
      cmocka_unit_test(slices_are_cut_from_whole_images),
      cmocka_unit_test(values_are_scattered_in_rows),
      cmocka_unit_test(chips_hand_on_their_parts),
      cmocka_unit_test(layers_free_when_they_return),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
