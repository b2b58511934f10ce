/* SPDX-License-Identifier: Apache-2.0 */
/* Replays traces of ttnn's real allocator: what every tensor costs (ttm_tensor_bank_bytes) and where it lands (ttm_bank), compared with every
 * free block of every state. One JSON object per line, as shared/lab/allocator_trace.py writes them.
 * usage: test_bank_trace [TRACE.jsonl...]      without names: the samples, skipped when they are not there */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <stdio.h>
#include <sys/types.h>

#include "base/bank.h"
#include "parse/tensor_type.h"
#include "unit.h"

enum { TENSORS = 8192, BLOCKS = 8192 };

typedef struct placed {
  uint64_t at, size;
} placed;

typedef struct trace {
  ttm_bank banks[2]; /* DRAM, L1 */
  uint32_t bank_count[2];
  uint64_t start[2]; /* address of the bank's first byte, TTM_NOT_FOUND until a tensor tells */
  ttm_alignment align;
  placed tensors[TENSORS];
  unsigned long states, blocks;
} trace;

static char **names;
static int name_count;

/* What stands behind "key": in the line; the test fails without it. */
static ttm_str value(ttm_str line, const char *key) {
  char quoted[40];
  int n = snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  size_t at = ttm_str_find(line, (ttm_str){quoted, (size_t)n});
  assert_true(at != TTM_NOT_FOUND);
  return ttm_str_from(line, at + (size_t)n);
}

static uint64_t number(ttm_str line, const char *key) {
  ttm_str at = value(line, key);
  uint64_t n;
  assert_true(ttm_str_take_u64(&at, &n));
  return n;
}

static bool is(ttm_str line, const char *key, const char *text) {
  return ttm_str_starts(value(line, key), ttm_str_of(text));
}

static uint32_t tensor_number(ttm_str line) {
  ttm_str name = value(line, "name");
  uint64_t n = 0;
  assert_true(ttm_str_take(&name, TTM_LIT("\"t")) && ttm_str_take_u64(&name, &n) && n < TENSORS);
  return (uint32_t)n;
}

/* The type the way the compiler would print it: leading dims collapsed, tiles in the memref. */
static ttm_tensor_type type_of(ttm_str line, bool l1) {
  static const struct {
    const char *name, *dtype;
  } dtypes[] = {{"\"bf16\"", "bf16"}, {"\"f32\"", "f32"},  {"\"bfp8\"", "bfp_bf8"}, {"\"bfp4\"", "bfp_bf4"},
                {"\"u32\"", "ui32"},  {"\"u16\"", "ui16"}, {"\"u8\"", "ui8"},       {"\"i32\"", "si32"}};
  ttm_tensor_type type = {.has_layout = true, .placement = TTM_PLACE_INTERLEAVED, .tile_h = 32, .tile_w = 32};
  ttm_str at = ttm_str_from(value(line, "shape"), 1);
  uint64_t dim;
  while (ttm_str_take_u64(&at, &dim)) {
    type.shape.at[type.shape.rank++] = dim;
    ttm_str_take(&at, TTM_LIT(", "));
  }
  type.tiled = is(line, "tiled", "true");
  type.buffer = l1 ? TTM_BUFFER_L1 : TTM_BUFFER_DRAM;
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
    if (is(line, "dtype", dtypes[i].name)) type.storage = ttm_str_of(dtypes[i].dtype);
  }
  assert_true(type.storage.n > 0);
  uint64_t rows = 1, last = type.shape.at[type.shape.rank - 1];
  for (uint32_t i = 0; i + 1 < type.shape.rank; i++) {
    uint64_t n = type.shape.at[i];
    rows *= type.tiled && i + 2 == type.shape.rank ? (n + 31) / 32 : n;
  }
  type.shard = (ttm_dims){2, {rows, type.tiled ? (last + 31) / 32 : last}};
  type.grid = (ttm_dims){2, {1, 1}};
  return type;
}

static void compare(trace *t, ttm_str line, int m) {
  static ttm_extent got[BLOCKS];
  size_t n = ttm_bank_blocks(&t->banks[m], got, BLOCKS), seen = 0;
  assert_true(n <= BLOCKS);
  assert_true(t->banks[m].allocated == number(line, "allocated"));
  assert_true(ttm_bank_room(&t->banks[m]) == number(line, "free"));
  assert_true(ttm_bank_largest(&t->banks[m]) == number(line, "largest"));
  ttm_str at = ttm_str_from(value(line, "blocks"), 1);
  uint64_t address, size;
  while (ttm_str_take(&at, TTM_LIT("[")) && ttm_str_take_u64(&at, &address)) {
    assert_true(ttm_str_take(&at, TTM_LIT(", ")) && ttm_str_take_u64(&at, &size) && ttm_str_take(&at, TTM_LIT(", ")));
    if (ttm_str_take(&at, TTM_LIT("false"))) {
      assert_true(seen < n);
      assert_true(got[seen].at == address && got[seen].size == size);
      seen++;
    } else {
      assert_true(ttm_str_take(&at, TTM_LIT("true")));
    }
    assert_true(ttm_str_take(&at, TTM_LIT("]")));
    ttm_str_take(&at, TTM_LIT(", "));
  }
  assert_true(seen == n);
  t->states++;
  t->blocks += n;
}

static void play(trace *t, ttm_str line) {
  int m = is(line, "memory", "\"l1\"");
  ttm_bank *bank = &t->banks[m];
  if (is(line, "event", "\"start\"")) {
    assert_int_equal(ttm_bank_init(bank, number(line, "bank_size")), TTM_OK);
    t->bank_count[m] = (uint32_t)number(line, "banks");
    if (m == 0) t->align = (ttm_alignment){t->bank_count[0] == 12 ? 32 : 64, 16};
  } else if (is(line, "event", "\"free\"")) {
    placed *tensor = &t->tensors[tensor_number(line)];
    assert_int_equal(ttm_bank_give(bank, tensor->at, tensor->size), TTM_OK);
  } else {
    ttm_tensor_type type = type_of(line, m);
    uint64_t size = ttm_tensor_bank_bytes(&type, t->bank_count[m], t->align), at;
    bool refused = is(line, "event", "\"refused\"");
    assert_int_equal(ttm_bank_take(bank, size, m == 1, &at), !refused);
    if (!refused) t->tensors[tensor_number(line)] = (placed){at, size};
  }
  compare(t, line, m);
}

static void replay(const char *path) {
  static trace t;
  char *line = NULL;
  size_t cap = 0;
  ssize_t n;
  FILE *file = fopen(path, "r");
  t = (trace){.states = 0};
  assert_non_null(file);
  while ((n = getline(&line, &cap, file)) > 0) play(&t, (ttm_str){line, (size_t)n});
  free(line);
  fclose(file);
  for (int m = 0; m < 2; m++) ttm_bank_free(&t.banks[m]);
  assert_true(t.states > 2);
  printf("%s: %lu states, %lu free blocks, all as the real allocator had them\n", path, t.states, t.blocks);
}

static void traces(void **state) {
  (void)state;
  for (int i = 0; i < name_count; i++) replay(names[i]);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(traces)};
  static char samples[2][600];
  static char *defaults[] = {samples[0], samples[1]};
  const char *shared = getenv("TTMEM_SHARED");
  names = argv + 1, name_count = argc - 1;
  if (!name_count) {
    static const char *const boards[] = {"n150", "p150"};
    for (int i = 0; i < 2; i++)
      snprintf(samples[i], sizeof samples[i], "%s/samples/metal/ttnn-0.81.1/allocator_%s.jsonl",
               shared ? shared : TTMEM_SOURCE "/../shared", boards[i]);
    names = defaults, name_count = 2;
    FILE *there = fopen(samples[0], "r");
    if (!there) return printf("skipped: the allocator traces are not here (%s)\n", samples[0]), 77;
    fclose(there);
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
