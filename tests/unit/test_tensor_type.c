/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <stdio.h>

#include "parse/mlir_scan.h"
#include "parse/tensor_type.h"
#include "unit.h"

/* Parses a heap copy of exactly the text's size, so that ASan sees a read past the end. Views in *out die with it. */
static bool parses(const char *text, ttm_tensor_type *out) {
  ttm_str copy = heap_view(ttm_str_of(text));
  bool ok = ttm_tensor_type_parse(copy, out);
  free((char *)copy.p);
  return ok;
}

static ttm_tensor_type parsed(const char *text) {
  ttm_tensor_type type;
  assert_true(parses(text, &type));
  assert_true(ttm_tensor_type_parse(ttm_str_of(text), &type)); /* again, with views that live */
  return type;
}

static void assert_dims(const ttm_dims *dims, const char *want) {
  char text[TTM_MAX_RANK * 24];
  size_t n = ttm_dims_print(dims, text, sizeof text);
  assert_int_equal(n, strlen(want));
  assert_string_equal(text, want);
}

#define TILED(shape, memref, memory, rest)                                                                        \
  "tensor<" shape ", #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<" memref ", #ttnn.buffer_type<" memory \
  ">>" rest ">>"

static void dram_tiles(void **state) {
  (void)state;
  ttm_tensor_type t = parsed(
      "tensor<1x96x256xbf16, #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 96 + d1, d2), <1x1>, "
      "memref<3x8x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>>");
  assert_dims(&t.shape, "1x96x256");
  assert_view(t.element, "bf16");
  assert_true(t.has_layout && t.tiled && !t.nd);
  assert_int_equal(t.tile_h, 32);
  assert_int_equal(t.tile_w, 32);
  assert_view(t.storage, "bf16");
  assert_dims(&t.grid, "1x1");
  assert_dims(&t.shard, "3x8");
  assert_int_equal(t.buffer, TTM_BUFFER_DRAM);
  assert_int_equal(t.placement, TTM_PLACE_INTERLEAVED);
}

static void host_rows(void **state) {
  (void)state;
  ttm_tensor_type t = parsed(TILED("768xbf16", "1x768xbf16", "system_memory", ""));
  assert_dims(&t.shape, "768");
  assert_true(t.has_layout && !t.tiled);
  assert_view(t.storage, "bf16");
  assert_int_equal(t.buffer, TTM_BUFFER_SYSTEM);
  assert_int_equal(t.placement, TTM_PLACE_NONE);
}

/* Every spelling of the same sharded layout. */
static void sharded_spellings(void **state) {
  (void)state;
#define SHARDED(grid, mesh, memory, placement, rest)                                                               \
  "tensor<2x2x256x256xbf16, #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 512 + d1 * 256 + d2, d3), " grid ", " mesh \
  "memref<4x1x!ttcore.tile<32x32, bf16>, " memory ">, " placement rest ">>"
  static const char *texts[] = {
      SHARDED("<8x8>", "", "#ttnn.buffer_type<l1>", "<block_sharded>", ""),
      SHARDED("<8x8>", "", "#ttnn.buffer_type<l1>", "#ttnn.tensor_memory_layout<block_sharded>", ""),
      SHARDED("<8x8>", "mesh = <\"mesh\">, ", "#l1", "<block_sharded>", ""),
      SHARDED("<8x8>", "mesh = #ttcore.tensor_mesh<\"m>,(\">, ", "#ttnn.buffer_type<l1>", "<block_sharded>", ""),
      SHARDED("<8x8, (d0, d1) -> (0, d0, d1)>", "", "#ttnn.buffer_type<l1>", "<block_sharded>", ""),
      SHARDED("#ttcore.grid<8x8>", "", "#ttnn.buffer_type<l1>", "<block_sharded>", ""),
      SHARDED("<8x8>", "", "#ttnn.buffer_type<l1>", "<block_sharded>",
              ", core_ranges = <[#ttnn.core_range<(0,0), (7,7)>]>"),
      SHARDED(
          "<8x8>", "", "#ttnn.buffer_type<l1>", "<block_sharded>",
          ", core_ranges = #ttnn.core_range_set<[#ttnn.core_range<(0, 0), (7, 3)>, #ttnn.core_range<(0,4), (7,7)>]>"),
      SHARDED("<8x8>", "", "#ttnn.buffer_type<l1>", "<block_sharded>", ", ignorePhysicalLayout = true"),
      SHARDED("<8x8>", "", "#ttnn.buffer_type<l1>", "<block_sharded>", ", something_new = [1, 2], <later>"),
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ttm_tensor_type t = parsed(texts[i]);
    assert_true(t.has_layout && t.tiled);
    assert_dims(&t.shape, "2x2x256x256");
    assert_dims(&t.grid, "8x8");
    assert_dims(&t.shard, "4x1");
    assert_int_equal(t.buffer, TTM_BUFFER_L1);
    assert_int_equal(t.placement, TTM_PLACE_BLOCK_SHARDED);
  }
}

static void every_memory_and_placement(void **state) {
  (void)state;
#define MEMORY(memory, placement) TILED("32x32xf32", "1x1x!ttcore.tile<32x32, f32>", memory, ", <" placement ">")
  static const struct {
    const char *text;
    ttm_buffer_kind buffer;
    ttm_placement placement;
  } cases[] = {
      {MEMORY("dram", "width_sharded"), TTM_BUFFER_DRAM, TTM_PLACE_WIDTH_SHARDED},
      {MEMORY("l1", "height_sharded"), TTM_BUFFER_L1, TTM_PLACE_HEIGHT_SHARDED},
      {MEMORY("l1_small", "interleaved"), TTM_BUFFER_L1_SMALL, TTM_PLACE_INTERLEAVED},
      {MEMORY("trace", "interleaved"), TTM_BUFFER_TRACE, TTM_PLACE_INTERLEAVED},
      {MEMORY("system_memory", "nd_sharded"), TTM_BUFFER_SYSTEM, TTM_PLACE_ND_SHARDED},
      {MEMORY("moon", "piled_up"), TTM_BUFFER_NONE, TTM_PLACE_NONE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ttm_tensor_type t = parsed(cases[i].text);
    assert_true(t.has_layout);
    assert_int_equal(t.buffer, cases[i].buffer);
    assert_int_equal(t.placement, cases[i].placement);
  }
}

static void nd_layout(void **state) {
  (void)state;
  ttm_tensor_type t = parsed(
      "tensor<1x32x32xbf16, #ttnn.ttnn_nd_layout<<1x1>, memref<1x1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>, "
      "<row_major>, <grid_2d>>>");
  assert_true(t.has_layout && t.nd && t.tiled);
  assert_dims(&t.shard, "1x1x1");
  assert_dims(&t.grid, "1x1");
  assert_int_equal(t.buffer, TTM_BUFFER_L1);
  assert_int_equal(t.placement, TTM_PLACE_BLOCK_SHARDED);
}

static void element_kinds(void **state) {
  (void)state;
  ttm_tensor_type t = parsed(
      TILED("32x64x!ttcore.tile<32x32, bfp_bf8>", "1x2x!ttcore.tile<32x32, bfp_bf8>", "dram", ", <interleaved>"));
  assert_dims(&t.shape, "32x64");
  assert_view(t.element, "bfp_bf8");
  assert_view(t.storage, "bfp_bf8");

  t = parsed(TILED("64x128xf32", "2x4x!tt.tile<32x32, f32>", "dram", ", <interleaved>")); /* before ttcore */
  assert_true(t.tiled);
  assert_view(t.storage, "f32");

  t = parsed(TILED("1x64xbf16", "1x2x!ttcore.tile<16x32, bf16>", "l1", ", <interleaved>"));
  assert_int_equal(t.tile_h, 16);
  assert_int_equal(t.tile_w, 32);

  t = parsed(TILED("3x4x!quant.uniform<i32:f32, 2.0e-02>", "3x4xsi32", "dram", ", <interleaved>"));
  assert_dims(&t.shape, "3x4");
  assert_view(t.element, "!quant.uniform<i32:f32, 2.0e-02>");
  assert_view(t.storage, "si32");
}

static void ranks(void **state) {
  (void)state;
  ttm_tensor_type t = parsed(
      "tensor<f32, #ttnn.ttnn_layout<() -> (0, 0), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, "
      "#ttnn.buffer_type<dram>>, <interleaved>>>");
  assert_int_equal(t.shape.rank, 0);
  assert_view(t.element, "f32");
  assert_true(t.has_layout);

  t = parsed("tensor<1x2x3x4x5x6x7x8x9x10x11x12xui8>");
  assert_int_equal(t.shape.rank, TTM_MAX_RANK);
  assert_false(parses("tensor<1x2x3x4x5x6x7x8x9x10x11x12x13xui8>", &t));

  t = parsed(TILED("2x3x4x5xbf16", "2x3x4x5xbf16", "dram", ", <interleaved>"));
  assert_dims(&t.shard, "2x3x4x5");
  t = parsed(TILED("4xf32", "f32", "dram", "")); /* a memref of rank 0 */
  assert_int_equal(t.shard.rank, 0);
  t = parsed("tensor<0x4xf32>");
  assert_dims(&t.shape, "0x4");
}

static void without_a_layout(void **state) {
  (void)state;
  static const char *texts[] = {
      "tensor<32x32xbf16>",
      "  tensor<32x32xbf16>\n",
      "tensor<32x32xbf16, #ttnn_layout5>",
      "tensor<32x32xbf16, #layout>",
      "tensor<32x32xbf16, #ttnn.something<<1x1>, memref<1xf32>>>",
      "tensor<32x32xbf16, #ttnn.ttnn_layout<(d0) -> (d0), <1x1>>>",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ttm_tensor_type t = parsed(texts[i]);
    assert_dims(&t.shape, "32x32");
    assert_view(t.element, "bf16");
    assert_false(t.has_layout);
  }
  ttm_tensor_type trace = parsed("tensor<ui32, #ttnn.trace_id>");
  assert_int_equal(trace.shape.rank, 0);
  assert_view(trace.element, "ui32");
  assert_false(trace.has_layout);
}

static void not_a_tensor(void **state) {
  (void)state;
  static const char *texts[] = {
      "",
      "tensor",
      "tensor<",
      "tensor<>",
      "tensor<,>",
      "tensor<32x32>",
      "tensor<32x",
      "tensor<32x32xbf16",
      "tensor<32x32xbf16>>",
      "tensor<*xf32>",
      "tensor<?x4xf32>",
      "tensor<4x?xf32>",
      "!ttnn.device",
      "i32",
      "memref<4xf32>",
      "vector<4xf32>",
      "tensor<4xf32>, tensor<4xf32>",
      "tensor<99999999999999999999xf32>",
      "tensor<4xf32, #a, #b>",
      "tensor<4xf32, #a<(>>",
      "tensor<4x!ttcore.tile<0x32, bf16>>",
      "tensor<4x!ttcore.tile<32x32>>",
      "tensor<4x!ttcore.tile<32x99999999, bf16>>",
      "tensor<4xf32, #ttnn.ttnn_layout<(d0) -> (d0), <1x1>, memref<?x4xf32, #dram>>>",
      "tensor<4xf32, #ttnn.ttnn_layout<(d0) -> (d0), <1x1x>, memref<4xf32, #dram>>>",
      "tensor<4xf32, \"open>",
      "tensor<4xf32 x",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ttm_tensor_type t;
    if (parses(texts[i], &t)) fail_msg("taken for a tensor: %s", texts[i]);
  }
}

/* No cut of a type is a type, and no cut reads past its end. */
static void every_cut(void **state) {
  (void)state;
  const char *whole =
      "tensor<1x96x256xbf16, #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 96 + d1, d2), <1x1>, mesh = <\"a\\22b\">, "
      "memref<3x8x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>>";
  ttm_tensor_type t;
  assert_true(parses(whole, &t));
  for (size_t n = 0; n < strlen(whole); n++) {
    ttm_str cut = heap_view((ttm_str){whole, n});
    assert_false(ttm_tensor_type_parse(cut, &t));
    free((char *)cut.p);
  }
}

static void deep_nesting_is_refused(void **state) {
  (void)state;
  enum { N = 100000 };
  char *text = malloc(N);
  assert_non_null(text);
  memset(text, '<', N);
  memcpy(text, "tensor<4xf32, #a", 16);
  ttm_tensor_type t;
  assert_false(ttm_tensor_type_parse((ttm_str){text, N}, &t));
  text[N - 1] = '>';
  assert_false(ttm_tensor_type_parse((ttm_str){text, N}, &t));
  free(text);
}

static void dims_print_into_little_room(void **state) {
  (void)state;
  ttm_dims dims = {3, {4000, 256, UINT64_MAX}};
  char text[8];
  assert_int_equal(ttm_dims_print(&dims, text, sizeof text), 7);
  assert_string_equal(text, "4000x25");
  assert_int_equal(ttm_dims_print(&dims, text, 1), 0);
  assert_string_equal(text, "");
  assert_int_equal(ttm_dims_print(&dims, NULL, 0), 0);
  assert_dims(&dims, "4000x256x18446744073709551615");
  assert_dims(&(ttm_dims){0}, "");
}

/* Every layout a compiler test of tt-mlir defines, as the encoding of some tensor. */
static void layouts_of_the_samples(void **state) {
  (void)state;
  static const char *files[] = {"12_negative_capture_or_execute_trace.mlir", "13_mnist_sharded.mlir",
                                "14_memory_management.mlir", "16_decomposing_layouts_dram_sharded.mlir",
                                "17_nd_layout_encoding.mlir"};
  const char *shared = getenv("TTMEM_SHARED");
  size_t layouts = 0;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/samples/xla/%s", shared ? shared : TTMEM_SOURCE "/../shared", files[i]);
    FILE *file = fopen(path, "r");
    if (!file) {
      print_message("skipped: no %s\n", path);
      skip();
    }
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getline(&line, &cap, file)) > 0;) {
      ttm_str text = ttm_scan_trim((ttm_str){line, (size_t)n});
      size_t at = ttm_str_find(text, TTM_LIT("= #ttnn.ttnn_"));
      if (text.p[0] != '#' || at == TTM_NOT_FOUND) continue;
      ttm_str layout = ttm_str_from(text, at + 2);
      char *type = malloc(layout.n + 64);
      assert_non_null(type);
      sprintf(type, "tensor<32x32xbf16, %.*s>", (int)layout.n, layout.p);
      ttm_tensor_type t;
      if (!ttm_tensor_type_parse(ttm_str_of(type), &t) || !t.has_layout || t.buffer == TTM_BUFFER_NONE)
        fail_msg("%s", type);
      layouts++;
      free(type);
    }
    free(line);
    fclose(file);
  }
  print_message("%zu layouts read\n", layouts);
  assert_int_equal(layouts, 89);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dram_tiles),
      cmocka_unit_test(host_rows),
      cmocka_unit_test(sharded_spellings),
      cmocka_unit_test(every_memory_and_placement),
      cmocka_unit_test(nd_layout),
      cmocka_unit_test(element_kinds),
      cmocka_unit_test(ranks),
      cmocka_unit_test(without_a_layout),
      cmocka_unit_test(not_a_tensor),
      cmocka_unit_test(every_cut),
      cmocka_unit_test(deep_nesting_is_refused),
      cmocka_unit_test(dims_print_into_little_room),
      cmocka_unit_test(layouts_of_the_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
