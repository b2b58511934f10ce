/* SPDX-License-Identifier: Apache-2.0 */
/* A log pushed in pieces of any size gives the profile of the log read whole, and the figures on the way are right. */
#include "unit.h"

#include <stdio.h>

#include "profile/feed.h"

static ttm_str small;

static int load(void **state) {
  (void)state;
  small = file_view(TTMEM_SOURCE "/tests/data/small.log");
  return 0;
}

static int unload(void **state) {
  (void)state;
  free((char *)small.p);
  return 0;
}

static ttm_profile *feed_in_pieces(size_t piece) {
  ttm_feed *feed;
  ttm_profile *p = NULL;
  ttm_error err;
  assert_int_equal(ttm_feed_begin(&feed, "-", NULL, &err), TTM_OK);
  for (size_t at = 0; at < small.n; at += piece) {
    ttm_str part = heap_view((ttm_str){small.p + at, piece < small.n - at ? piece : small.n - at});
    assert_int_equal(ttm_feed_put(feed, part.p, part.n, &err), TTM_OK); /* what was pushed need not stay */
    free((void *)part.p);
  }
  assert_int_equal(ttm_feed_end(feed, &p, &err), TTM_OK);
  return p;
}

static void assert_same(const ttm_profile *a, const ttm_profile *b) {
  assert_memory_equal(&a->seen, &b->seen, sizeof a->seen);
  assert_int_equal(a->kind, b->kind);
  assert_int_equal(a->ops.n, b->ops.n);
  assert_memory_equal(a->ops.at, b->ops.at, a->ops.n * sizeof *a->ops.at);
  assert_int_equal(a->states.n, b->states.n);
  assert_memory_equal(a->states.at, b->states.at, a->states.n * sizeof *a->states.at);
  assert_int_equal(a->tensors.n, b->tensors.n);
  for (size_t i = 0; i < a->tensors.n; i++) { /* member by member: the struct has padding */
    const ttm_tensor *x = &a->tensors.at[i], *y = &b->tensors.at[i];
    assert_true(x->self == y->self && x->birth == y->birth && x->last_use == y->last_use &&
                x->freed_by == y->freed_by && x->uses == y->uses && x->roles == y->roles);
  }
  assert_int_equal(a->graphs.n, b->graphs.n);
  assert_int_equal(a->incidents.n, b->incidents.n);
  for (size_t i = 0; i < a->incidents.n; i++) assert_int_equal(a->incidents.at[i].line, b->incidents.at[i].line);
}

static void test_any_piece_size(void **state) {
  (void)state;
  ttm_profile *whole = NULL;
  ttm_error err;
  assert_int_equal(ttm_profile_read(&whole, TTMEM_SOURCE "/tests/data/small.log", &err), TTM_OK);
  for (size_t piece = 1; piece < 4000; piece += piece < 8 ? 1 : 97) {
    ttm_profile *p = feed_in_pieces(piece);
    assert_same(whole, p);
    ttm_profile_free(p);
  }
  ttm_profile_free(whole);
}

#define RT(text) "            RuntimeTTNN |    DEBUG | " text "\n"
#define AL(text) "                 Always |     INFO | " text "\n"
#define LEVEL(name, allocated, largest)                                        \
  AL("Device " name                                                            \
     " memory state: MemoryView{numBanks: 12, totalBytesPerBank: 100.000 MB, " \
     "totalBytesAllocatedPerBank: " allocated                                  \
     " MB, totalBytesFreePerBank: 50.000 MB, "                                 \
     "largestContiguousBytesFreePerBank: " largest " MB}")
#define STEP(op, type, allocated, largest)         \
  RT("Executing operation: " op)                   \
  AL("Device memory state before operation " type) \
  LEVEL("DRAM", allocated, largest)                \
  LEVEL("L1", "1.000", "9.000") LEVEL("L1_SMALL", "0.000", "0.000") LEVEL("TRACE", "0.000", "0.000")

static void push(ttm_feed *feed, const char *text) {
  assert_int_equal(ttm_feed_put(feed, text, strlen(text), NULL), TTM_OK);
}

static void test_figures(void **state) {
  (void)state;
  ttm_feed *feed;
  assert_int_equal(ttm_feed_begin(&feed, "-", NULL, NULL), TTM_OK);
  const ttm_feed_figures *f = ttm_feed_now(feed);
  assert_int_equal(f->operations, 0);
  assert_false(f->memory[TTM_DRAM].seen);
  push(feed, STEP("%0 = \"ttnn.ones\"() : () -> tensor<1xbf16> loc(unknown)", "NamedFullOp", "10.000", "50.000"));
  push(feed, STEP("%1 = \"ttnn.ones\"() : () -> tensor<1xbf16> loc(unknown)", "NamedFullOp", "70.000", "3.000"));
  push(feed, STEP("\"ttnn.deallocate\"(%0) : (tensor<1xbf16>) -> () loc(unknown)", "DeallocateOp", "60.500", "4.000"));
  push(feed, "            RuntimeTTNN |    DEBUG | Executing operation: %2 = \"ttnn.on"); /* not a line yet */
  f = ttm_feed_now(feed);
  assert_int_equal(f->operations, 2);
  assert_int_equal(f->lines, 18);
  const ttm_feed_memory *dram = &f->memory[TTM_DRAM];
  assert_true(dram->seen);
  assert_int_equal(dram->now.allocated, 60500);
  assert_int_equal(dram->now.total, 100000);
  assert_int_equal(dram->peak, 70000);
  assert_int_equal(dram->low_largest, 3000);
  assert_int_equal(dram->low_line, 8);
  assert_int_equal(f->memory[TTM_L1].peak, 1000);
  push(feed, "es\"() : () -> tensor<1xbf16> loc(unknown)\n");
  assert_int_equal(ttm_feed_now(feed)->operations, 3);
  push(feed,
       "Out of Memory: Not enough space to allocate 10 B DRAM buffer across 12 banks, where each bank needs to store 1 "
       "B, but "
       "bank size is 5 B (allocated: 4 B, free: 1 B, largest free block: 0 B)\n");
  assert_int_equal(ttm_feed_now(feed)->incidents, 1);
  ttm_profile *p = NULL;
  assert_int_equal(ttm_feed_end(feed, &p, NULL), TTM_OK);
  assert_int_equal(ttm_profile_operation_count(p), 3);
  ttm_profile_free(p);
}

static void test_nothing(void **state) {
  (void)state;
  ttm_feed *feed;
  ttm_profile *p = NULL;
  ttm_error err;
  assert_int_equal(ttm_feed_begin(&feed, "logs/x.log", NULL, &err), TTM_OK);
  push(feed, "hello\nworld");
  assert_int_equal(ttm_feed_end(feed, &p, &err), TTM_ENODATA);
  assert_null(p);
  assert_non_null(strstr(err.message, "logs/x.log (2 lines)"));
  ttm_feed_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_any_piece_size),
      cmocka_unit_test(test_figures),
      cmocka_unit_test(test_nothing),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
