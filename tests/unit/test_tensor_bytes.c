/* SPDX-License-Identifier: Apache-2.0 */
/* The byte arithmetic against hand-made layouts, and bank bytes against what ttnn's real allocator did. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <inttypes.h>
#include <stdio.h>

#include "base/checked.h"
#include "parse/tensor_type.h"
#include "unit.h"

static const ttm_alignment WORMHOLE = {32, 16}, BLACKHOLE = {64, 16};

static ttm_tensor_type parsed(const char *text) {
  ttm_tensor_type type;
  if (!ttm_tensor_type_parse(ttm_str_of(text), &type)) fail_msg("no tensor type: %s", text);
  return type;
}

#define LAYOUT(shape, grid, memref, memory, rest)                                                              \
  "tensor<" shape ", #ttnn.ttnn_layout<(d0) -> (d0), <" grid ">, memref<" memref ", #ttnn.buffer_type<" memory \
  ">>" rest ">>"
#define ND(shape, grid, memref, memory, rest) \
  "tensor<" shape ", #ttnn.ttnn_nd_layout<<" grid ">, memref<" memref ", #ttnn.buffer_type<" memory ">>, " rest ">>"
#define TILE(dtype) "!ttcore.tile<32x32, " dtype ">"

static void tile_and_scalar_sizes(void **state) {
  (void)state;
  static const struct {
    const char *dtype;
    uint64_t tile, scalar;
  } cases[] = {
      {"f32", 4096, 4},   {"u32", 4096, 4},    {"si32", 4096, 4},  {"bf16", 2048, 2},   {"f16", 2048, 2},
      {"u16", 2048, 2},   {"u8", 1024, 1},     {"i1", 1024, 1},    {"bfp_f8", 1088, 0}, {"bfp_bf8", 1088, 0},
      {"bfp_f4", 576, 0}, {"bfp_bf4", 576, 0}, {"bfp_f2", 320, 0}, {"bfp_bf2", 320, 0}, {"ui16", 2048, 2},
      {"i64", 8192, 8},   {"f64", 8192, 8},    {"nonsense", 0, 0}, {"", 0, 0},          {"bf1", 0, 0},
      {"bf160", 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(ttm_tile_bytes(ttm_str_of(cases[i].dtype), 32, 32), cases[i].tile);
    assert_int_equal(ttm_scalar_bytes(ttm_str_of(cases[i].dtype)), cases[i].scalar);
  }
  assert_int_equal(ttm_tile_bytes(TTM_LIT("bf16"), 16, 32), 1024);
  assert_int_equal(ttm_tile_bytes(TTM_LIT("bfp_bf8"), 16, 32), 512 + 32);
  assert_int_equal(ttm_tile_bytes(TTM_LIT("bfp_bf8"), 1, 32), 32 + 16); /* exponents fill 16 bytes */
}

/* logical, stored, stored shape and bank bytes (12 DRAM or 64 L1 banks) of one type on Wormhole */
static void layouts(void **state) {
  (void)state;
  static const struct {
    const char *type;
    uint64_t logical, stored, bank;
    const char *shape;
  } cases[] = {
      {LAYOUT("1x96x256xbf16", "1x1", "3x8x" TILE("bf16"), "dram", ", <interleaved>"), 49152, 49152, 4096, "96x256"},
      /* padded before collapsing: 1.5 KB of data in 1.5 MB */
      {LAYOUT("1x768x1x1x1xbf16", "1x1", "768x1x" TILE("bf16"), "dram", ", <interleaved>"), 1536, 1572864, 131072,
       "24576x32"},
      /* block format: dtype of the memref, not of the tensor; 4 tiles on 12 banks */
      {LAYOUT("64x64xbf16", "1x1", "2x2x" TILE("bfp_bf8"), "dram", ", <interleaved>"), 4352, 4352, 1088, "64x64"},
      {LAYOUT("64x64x" TILE("bfp_bf4"), "1x1", "2x2x" TILE("bfp_bf4"), "dram", ", <interleaved>"), 2304, 2304, 576,
       "64x64"},
      {LAYOUT("3x3xbf16", "1x1", "1x1x" TILE("bfp_bf8"), "dram", ", <interleaved>"), 10, 1088, 1088, "32x32"},
      {LAYOUT("64x64xi1", "1x1", "64x64xi1", "dram", ", <interleaved>"), 4096, 4096, 384, "64x64"},
      /* scalars and vectors fill a tile's row */
      {LAYOUT("f32", "1x1", "1x1x" TILE("f32"), "dram", ", <interleaved>"), 4, 4096, 4096, "32x32"},
      {LAYOUT("40xf32", "8x8", "1x1x" TILE("f32"), "l1", ", <interleaved>"), 160, 8192, 4096, "32x64"},
      {LAYOUT("f32", "8x8", "1x1x" TILE("f32"), "l1", ", <interleaved>"), 4, 4096, 4096, "32x32"},
      /* row-major: narrow rows are stored as whole pages on the device, as they are on the host */
      {LAYOUT("768x768x3x3x3xbf16", "1x1", "5308416x3xbf16", "dram", ", <interleaved>"), 31850496, 169869312, 14155776,
       "768x768x3x3x3"},
      {LAYOUT("768x768x3x3x3xbf16", "1x1", "5308416x3xbf16", "system_memory", ""), 31850496, 31850496, 0,
       "768x768x3x3x3"},
      {LAYOUT("100x20xbf16", "8x8", "2x20xbf16", "l1", ", <interleaved>"), 4000, 4800, 96, "100x20"},
      {LAYOUT("20xbf16", "1x1", "1x20xbf16", "dram", ", <interleaved>"), 40, 64, 64, "20"},
      {LAYOUT("4000x256xbf16", "1x1", "125x8x" TILE("bf16"), "system_memory", ""), 2048000, 2048000, 0, "4000x256"},
      /* L1 interleaved: 65 tiles on 64 cores are 65 tiles, though memref x grid says 128 */
      {LAYOUT("32x2080xbf16", "8x8", "1x2x" TILE("bf16"), "l1", ", <interleaved>"), 133120, 133120, 4096, "32x2080"},
      {LAYOUT("3x33x32xbf16", "8x8", "1x1x" TILE("bf16"), "l1", ", <interleaved>"), 6336, 12288, 2048, "192x32"},
      /* sharded: memref x grid, and one shard per bank */
      {LAYOUT("2048x2048xbf16", "8x8", "8x8x" TILE("bf16"), "l1", ", <block_sharded>"), 8388608, 8388608, 131072,
       "2048x2048"},
      {LAYOUT("1024x512xbf16", "4x8", "8x2x" TILE("bf16"), "l1", ", <block_sharded>"), 1048576, 1048576, 32768,
       "1024x512"},
      {LAYOUT("1x1000xbf16", "1x12", "1x3x" TILE("bf16"), "dram", ", <width_sharded>"), 2000, 73728, 6144, "32x1152"},
      {LAYOUT("256x20xbf16", "8x1", "32x20xbf16", "l1", ", <height_sharded>"), 10240, 12288, 1536, "256x20"},
      /* nd: 3 x 2 shards of 2x1x1 tiles on four cores, so two on the fullest */
      {ND("6x64x32xbf16", "2x2", "2x1x1x" TILE("bf16"), "l1", "<nd_sharded>"), 24576, 24576, 8192, "6x64x32"},
      {ND("5x64x32xbf16", "2x2", "2x1x1x" TILE("bf16"), "l1", "<nd_sharded>, <row_major>"), 20480, 24576, 8192,
       "6x64x32"},
      /* nd with another rank: one shard per core is the best guess */
      {ND("5x64x32xbf16", "2x2", "4x1x" TILE("bf16"), "l1", "<nd_sharded>"), 20480, 32768, 8192, "256x64"},
      /* no layout: what the values need, and nothing is known of banks */
      {"tensor<4x4xf32>", 64, 64, 0, "4x4"},
      {"tensor<ui32, #ttnn.trace_id>", 4, 4, 0, ""},
      {"tensor<4x4xwhat>", 0, 0, 0, "4x4"},
      {LAYOUT("4x4xf32", "1x1", "4x4xf32", "moon", ", <interleaved>"), 64, 64, 0, "4x4"},
      /* empty tensors take nothing */
      {LAYOUT("0x4xf32", "1x1", "0x4xf32", "dram", ", <interleaved>"), 0, 0, 0, "0x4"},
      {LAYOUT("4x0xf32", "1x1", "4x0xf32", "dram", ", <interleaved>"), 0, 0, 0, "4x0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ttm_tensor_type t = parsed(cases[i].type);
    uint32_t banks = t.buffer == TTM_BUFFER_DRAM ? 12 : 64;
    uint64_t logical = ttm_tensor_logical_bytes(&t), stored = ttm_tensor_stored_bytes(&t, WORMHOLE);
    uint64_t bank = ttm_tensor_bank_bytes(&t, banks, WORMHOLE);
    ttm_dims dims = ttm_tensor_stored_shape(&t);
    char shape[TTM_MAX_RANK * 24];
    ttm_dims_print(&dims, shape, sizeof shape);
    if (logical != cases[i].logical || stored != cases[i].stored || bank != cases[i].bank ||
        strcmp(shape, cases[i].shape)) {
      fail_msg("%s: logical %" PRIu64 " stored %" PRIu64 " bank %" PRIu64 " shape %s", cases[i].type, logical, stored,
               bank, shape);
    }
  }
}

/* Types that claim absurd sizes saturate; division by nothing gives nothing. */
static void absurd_sizes(void **state) {
  (void)state;
  ttm_tensor_type t = parsed(LAYOUT("18446744073709551615x18446744073709551615xf32", "4294967295x4294967295",
                                    "18446744073709551615x9x" TILE("f32"), "l1", ", <block_sharded>"));
  assert_int_equal(ttm_tensor_logical_bytes(&t), UINT64_MAX);
  assert_int_equal(ttm_tensor_stored_bytes(&t, WORMHOLE), UINT64_MAX);
  assert_int_equal(ttm_tensor_bank_bytes(&t, 64, WORMHOLE), UINT64_MAX);
  ttm_tensor_stored_shape(&t);

  t = parsed(LAYOUT("18446744073709551615xbf16", "1x1", "1x1x" TILE("bfp_bf2"), "dram", ", <interleaved>"));
  assert_int_equal(ttm_tensor_logical_bytes(&t), (UINT64_MAX / 1024) * 320 + 320);

  t = parsed(LAYOUT("32x32xf32", "0x0", "0x0x" TILE("f32"), "l1", ", <nd_sharded>"));
  assert_int_equal(ttm_tensor_stored_bytes(&t, WORMHOLE), 0);
  assert_int_equal(ttm_tensor_bank_bytes(&t, 0, (ttm_alignment){0, 0}), 0);
  ttm_tensor_stored_shape(&t);
}

/* One allocation of ttnn.empty on the real allocator: `block` is what every bank gave up. */
typedef struct allocation {
  const char *memory;
  uint32_t alignment;
  const char *dtype;
  bool tiled;
  uint64_t shape[4];
  uint32_t banks;
  uint64_t block;
} allocation;

/* The type tt-mlir would print for such a tensor. */
static void print_type(const allocation *a, char *out, size_t cap) {
  const uint64_t *s = a->shape;
  bool l1 = strcmp(a->memory, "l1") == 0;
  const char *dtype = strcmp(a->dtype, "bfp8") == 0 ? "bfp_bf8" : strcmp(a->dtype, "bfp4") == 0 ? "bfp_bf4" : a->dtype;
  uint64_t rows = a->tiled ? ttm_div_up(s[2], 32) : s[2], columns = a->tiled ? ttm_div_up(s[3], 32) : s[3];
  rows *= s[0] * s[1];
  if (l1) { /* spread over the cores; a real memref holds one core's part */
    columns = a->tiled ? ttm_div_up(rows * columns, a->banks) : columns;
    rows = a->tiled ? 1 : ttm_div_up(rows, a->banks);
  }
  snprintf(out, cap,
           "tensor<%" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64
           "xbf16, #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 + d1 + d2, d3), "
           "<%ux%u>, memref<%" PRIu64 "x%" PRIu64 "x%s%s%s, #ttnn.buffer_type<%s>>, <interleaved>>>",
           s[0], s[1], s[2], s[3], 1u, l1 ? a->banks : 1u, rows, columns, a->tiled ? "!ttcore.tile<32x32, " : "", dtype,
           a->tiled ? ">" : "", a->memory);
}

static void assert_block(const allocation *a) {
  char text[512];
  print_type(a, text, sizeof text);
  ttm_tensor_type t = parsed(text);
  uint64_t got = ttm_tensor_bank_bytes(&t, a->banks, a->alignment == 64 ? BLACKHOLE : WORMHOLE);
  if (got != a->block) fail_msg("%s: %" PRIu64 " on each of %u banks, not %" PRIu64, text, a->block, a->banks, got);
}

/* Taken from runs of ttnn 0.81.1 on n150 (alignment 32) and p150 (64). */
static void blocks_of_the_real_allocator(void **state) {
  (void)state;
  static const allocation cases[] = {
      {"dram", 32, "bf16", false, {1, 1, 100, 20}, 12, 576},    {"dram", 32, "bf16", true, {1, 3, 4096, 32}, 12, 65536},
      {"dram", 32, "bfp4", true, {1, 8, 1, 1}, 12, 576},        {"dram", 32, "bfp8", true, {1, 2, 512, 32}, 12, 3264},
      {"dram", 32, "f32", true, {1, 1, 512, 128}, 12, 24576},   {"dram", 32, "u16", false, {1, 8, 33, 1024}, 12, 45056},
      {"dram", 32, "u16", true, {1, 3, 33, 20}, 12, 2048},      {"dram", 32, "u32", false, {1, 3, 33, 20}, 12, 864},
      {"dram", 32, "u32", true, {1, 1, 17, 1}, 12, 4096},       {"dram", 32, "u8", true, {1, 2, 64, 32}, 12, 1024},
      {"l1", 32, "bf16", true, {1, 8, 512, 128}, 64, 16384},    {"l1", 32, "bfp4", true, {1, 2, 33, 20}, 64, 576},
      {"l1", 32, "f32", false, {1, 3, 1, 128}, 64, 512},        {"l1", 32, "u16", true, {1, 3, 100, 128}, 64, 2048},
      {"l1", 32, "u32", false, {1, 2, 17, 128}, 64, 512},       {"l1", 32, "u8", false, {1, 2, 32, 32}, 64, 32},
      {"l1", 32, "u8", true, {1, 8, 100, 128}, 64, 2048},       {"dram", 64, "bf16", true, {1, 1, 33, 1024}, 8, 16384},
      {"dram", 64, "bfp8", true, {1, 8, 100, 32}, 8, 4352},     {"dram", 64, "f32", false, {1, 1, 17, 1}, 8, 192},
      {"dram", 64, "f32", true, {1, 2, 512, 4096}, 8, 2097152}, {"dram", 64, "u16", false, {1, 8, 1, 96}, 8, 192},
      {"l1", 64, "bfp4", true, {1, 1, 32, 128}, 110, 576},      {"l1", 64, "f32", true, {1, 1, 33, 32}, 110, 4096},
      {"l1", 64, "u32", false, {1, 1, 1, 128}, 110, 512},       {"l1", 64, "u32", true, {1, 8, 1, 128}, 110, 4096},
      {"l1", 64, "u8", false, {1, 8, 33, 128}, 110, 384},       {"l1", 64, "u8", true, {1, 8, 512, 32}, 110, 2048},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_block(&cases[i]);
}

/* The value behind `"key": ` in a flat JSON line; enough for lines we know. */
static ttm_str json_value(ttm_str line, const char *key) {
  char quoted[32];
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  size_t at = ttm_str_find(line, ttm_str_of(quoted));
  return at == TTM_NOT_FOUND ? (ttm_str){0} : ttm_str_from(line, at + strlen(quoted));
}

static uint64_t json_u64(ttm_str line, const char *key) {
  ttm_str value = json_value(line, key);
  uint64_t out = 0;
  assert_true(ttm_str_take_u64(&value, &out));
  return out;
}

/* Copies `"word"` without quotes. */
static void json_word(ttm_str line, const char *key, char out[16]) {
  ttm_str value = json_value(line, key);
  assert_true(ttm_str_take(&value, TTM_LIT("\"")));
  size_t n = ttm_str_find_char(value, '"');
  assert_true(n < 16);
  memcpy(out, value.p, n);
  out[n] = 0;
}

static size_t replay(FILE *file, uint32_t alignment) {
  char *line = NULL;
  size_t cap = 0, count = 0;
  uint64_t allocated[2] = {0, 0}; /* dram, l1 */
  for (ssize_t n; (n = getline(&line, &cap, file)) > 0;) {
    ttm_str text = {line, (size_t)n};
    char memory[16], dtype[16], event[16];
    json_word(text, "event", event);
    json_word(text, "memory", memory);
    uint64_t *before = &allocated[strcmp(memory, "l1") == 0], after = json_u64(text, "allocated");
    if (strcmp(event, "alloc") == 0) {
      json_word(text, "dtype", dtype);
      allocation a = {memory,
                      alignment,
                      dtype,
                      ttm_str_starts(json_value(text, "tiled"), TTM_LIT("true")),
                      {0},
                      (uint32_t)json_u64(text, "banks"),
                      after - *before};
      ttm_str shape = json_value(text, "shape");
      assert_true(ttm_str_take(&shape, TTM_LIT("[")));
      for (int i = 0; i < 4; i++) {
        assert_true(ttm_str_take_u64(&shape, &a.shape[i]));
        ttm_str_take(&shape, TTM_LIT(", "));
      }
      assert_block(&a);
      count++;
    }
    *before = after;
  }
  free(line);
  return count;
}

static void every_block_of_the_samples(void **state) {
  (void)state;
  static const struct {
    const char *board;
    uint32_t alignment;
    size_t allocations;
  } traces[] = {{"n150", 32, 216}, {"p150", 64, 135}};
  const char *shared = getenv("TTMEM_SHARED");
  for (size_t i = 0; i < 2; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/samples/metal/ttnn-0.81.1/allocator_%s.jsonl",
             shared ? shared : TTMEM_SOURCE "/../shared", traces[i].board);
    FILE *file = fopen(path, "r");
    if (!file) {
      print_message("skipped: no %s\n", path);
      skip();
    }
    size_t count = replay(file, traces[i].alignment);
    fclose(file);
    print_message("%s: %zu allocations, each block as large as ours\n", traces[i].board, count);
    assert_int_equal(count, traces[i].allocations);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tile_and_scalar_sizes),
      cmocka_unit_test(layouts),
      cmocka_unit_test(absurd_sizes),
      cmocka_unit_test(blocks_of_the_real_allocator),
      cmocka_unit_test(every_block_of_the_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
