/* SPDX-License-Identifier: Apache-2.0 */
/* Core ranges and where buffers come to lie; the judge is what real ttnn did (tests/data/placement_*.txt). */
#include <stdio.h>
#include <stdlib.h>

#include "l1/placement.h"
#include "unit.h"

enum { MOST = 64 };

static void free_all(ttm_l1_buffer *buffers, size_t n, ttm_l1_placement *p) {
  for (size_t i = 0; i < n; i++) ttm_vec_free(&buffers[i].cores);
  ttm_l1_placement_free(p);
}

static ttm_l1_buffer buffer(uint64_t bytes, const char *cores) {
  ttm_l1_buffer b = {.bytes = bytes};
  assert_int_equal(ttm_core_set_parse(ttm_str_of(cores), &b.cores), TTM_OK);
  return b;
}

static void ranges_in_every_spelling(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t cores;
  } good[] = {{"[0-0 - 7-7]", 64},
              {"[(x=0,y=0) - (x=7,y=7)]", 64},
              {"{[0-0 - 10-8], [0-9 - 3-9]}", 103},
              {"{[(x=0,y=0) - (x=0,y=7)], [(x=1,y=0) - (x=1,y=3)]}", 12},
              {"3-4", 1},
              {" 0-0:1-1 + 5-5 ", 5},
              {"0-0:1-1+1-1:2-2", 7}}; /* a core counts once */
  static const char *const bad[] = {"",  "{",    "[0-0 - 7-7", "[1-1 - 0-0]", "0-64",       "64-0",
                                    "0", "0-0:", "0-0:1-1+",   "{[0-0]} x",   "[(x=0,y=0]", "9999999999999999999999-0"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    ttm_core_set set = {0};
    assert_int_equal(ttm_core_set_parse(ttm_str_of(good[i].text), &set), TTM_OK);
    assert_int_equal(ttm_core_set_count(&set), good[i].cores);
    ttm_vec_free(&set);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ttm_core_set set = {0};
    assert_int_equal(ttm_core_set_parse(ttm_str_of(bad[i]), &set), TTM_EFORMAT);
    assert_int_equal(set.n, 0);
    ttm_vec_free(&set);
  }
}

static void ranges_merge_as_in_tt_metal(void **state) {
  (void)state;
  ttm_core_set set = {0};
  assert_int_equal(ttm_core_set_parse(TTM_LIT("0-0:3-0+4-0:7-0+0-1:7-1+0-2:2-2+5-2"), &set), TTM_OK);
  assert_int_equal(ttm_core_set_merge(&set), 0);
  assert_int_equal(set.n, 3);
  assert_true(ttm_core_range_eq(set.at[0], (ttm_core_range){0, 0, 7, 1}));
  assert_true(ttm_core_range_eq(set.at[1], (ttm_core_range){0, 2, 2, 2}));
  assert_true(ttm_core_range_eq(set.at[2], (ttm_core_range){5, 2, 5, 2}));
  ttm_vec_free(&set);
}

static void buffers_on_other_cores_leave_holes(void **state) {
  (void)state;
  ttm_l1_buffer b[] = {buffer(4096, "0-0:3-3"), buffer(100, "5-5:6-6"), buffer(2048, "0-0:7-7"), buffer(64, "5-5:6-6"),
                       buffer(4096, "0-0:3-3")};
  ttm_l1_placement p;
  size_t which = 99;
  b[4].borrowed = true, b[4].address = 7;
  assert_int_equal(ttm_l1_place(b, 5, 1000, 32, &p), 0);
  assert_int_equal(b[0].address, 1024);
  assert_int_equal(b[1].address, 1024);
  assert_int_equal(b[2].address, 5120); /* over both: 3,996 bytes are a hole on 5-5:6-6 */
  assert_int_equal(b[3].address, 7168);
  assert_int_equal(b[4].address, 7); /* in a tensor's memory: takes nothing */
  assert_int_equal(ttm_l1_placement_end(&p, 1000), 7232);
  assert_int_equal(p.ranges.n, 3);
  assert_int_equal(p.ranges.at[1].used, 100 + 2048 + 64);
  assert_int_equal(ttm_l1_check(&p, 8000, 9000, &which), TTM_L1_FITS);
  assert_int_equal(ttm_l1_check(&p, 7232, 9000, &which), TTM_L1_FITS); /* meeting is no clash */
  assert_int_equal(which, 99);
  assert_int_equal(ttm_l1_check(&p, 7200, 9000, &which), TTM_L1_CLASHES);
  assert_int_equal(which, 1); /* the first range that is wrong */
  assert_int_equal(ttm_l1_check(&p, 7000, 7000, &which), TTM_L1_BEYOND);
  assert_int_equal(which, 0);
  free_all(b, 5, &p);
}

static void tensors_grow_down(void **state) {
  (void)state;
  uint64_t top = 1499136 - 16384; /* l1_chain_normal.json: n150, l1_small 16 KiB */
  uint64_t at = ttm_l1_tensor_at(top, 16384, 105824, 32);
  assert_int_equal(at, 1466368);
  assert_int_equal(ttm_l1_tensor_at(at, 16384, 105824, 32), 1449984);
  assert_int_equal(ttm_l1_tensor_at(1572864, 20480, 111616, 64), 1552384);
  assert_int_equal(ttm_l1_tensor_at(at, 1, 105824, 32), at - 32);
  assert_int_equal(ttm_l1_tensor_at(106000, 4096, 105824, 32), 0);
  assert_int_equal(ttm_l1_tensor_at(4096, UINT64_MAX, 0, 32), 0);
}

/* ---- Real placements ------------------------------------------------------------------------------------------------- */

typedef struct program {
  ttm_l1_buffer buffers[MOST];
  uint64_t wanted[MOST];
  size_t n;
  uint64_t base, align, l1_bytes, lowest;
} program;

/* The sentence tt-metal would end with; empty when the program runs. */
static void verdict(const program *p, const ttm_l1_placement *placed, char *out, size_t cap) {
  size_t which = 0;
  ttm_l1_fit fit = ttm_l1_check(placed, p->lowest, p->l1_bytes, &which);
  ttm_l1_range_end r = placed->ranges.at[which];
  *out = '\0';
  if (fit == TTM_L1_BEYOND)
    snprintf(out, cap, "on core range [%u-%u - %u-%u] grow to %llu B which is beyond max L1 size of %llu B", r.range.x0,
             r.range.y0, r.range.x1, r.range.y1, (unsigned long long)r.end, (unsigned long long)p->l1_bytes);
  if (fit == TTM_L1_CLASHES)
    snprintf(out, cap,
             "clash with L1 buffers on core range [%u-%u - %u-%u]. L1 buffer allocated at %llu and static circular "
             "buffer region ends at %llu",
             r.range.x0, r.range.y0, r.range.x1, r.range.y1, (unsigned long long)p->lowest, (unsigned long long)r.end);
}

static void check_program(program *p, const char *error) {
  ttm_l1_placement placed;
  char ours[300];
  assert_int_equal(ttm_l1_place(p->buffers, p->n, p->base, p->align, &placed), 0);
  for (size_t i = 0; i < p->n; i++) assert_int_equal(p->buffers[i].address, p->wanted[i]);
  verdict(p, &placed, ours, sizeof ours);
  assert_int_equal(!*ours, !error);
  if (error && !strstr(error, ours)) fail_msg("ttnn says \"%s\", we \"%s\"", error, ours);
  free_all(p->buffers, p->n, &placed);
  p->n = 0, p->lowest = p->l1_bytes;
}

/* Buffers replayed. */
static size_t replay(const char *path, size_t *refused) {
  FILE *f = fopen(path, "r");
  char line[1024], cores[900];
  unsigned long long bytes, address, align, base, l1;
  program p = {.n = 0};
  size_t all = 0;
  assert_non_null(f);
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "base %llu align %llu l1 %llu", &base, &align, &l1) == 3)
      p.base = base, p.align = align, p.l1_bytes = p.lowest = l1;
    else if (sscanf(line, "tensor %llu", &bytes) == 1)
      p.lowest = ttm_l1_tensor_at(p.lowest, bytes, p.base, p.align);
    else if (sscanf(line, "%llu %899s %llu", &bytes, cores, &address) == 3 && p.n < MOST)
      p.buffers[p.n] = buffer(bytes, cores), p.wanted[p.n++] = address, all++;
    else if (line[0] == 'r' || line[0] == 'e')
      *refused += line[0] == 'e', check_program(&p, line[0] == 'e' ? line : NULL);
  }
  fclose(f);
  return all;
}

static void addresses_are_those_of_ttnn(void **state) {
  (void)state;
  size_t refused = 0;
  assert_true(replay(TTMEM_SOURCE "/tests/data/placement_n150.txt", &refused) > 300);
  assert_true(replay(TTMEM_SOURCE "/tests/data/placement_p150.txt", &refused) > 300);
  assert_true(refused > 10); /* both kinds of message are among them */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_in_every_spelling),           cmocka_unit_test(ranges_merge_as_in_tt_metal),
      cmocka_unit_test(buffers_on_other_cores_leave_holes), cmocka_unit_test(tensors_grow_down),
      cmocka_unit_test(addresses_are_those_of_ttnn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
