/* SPDX-License-Identifier: Apache-2.0 */
/* The tracker's life cycle, its errors, and its printed text to the letter; the TinyLlama runs of tt-train's documentation come
 * out of an event stream line by line. */
#include "ttmem/tracker.h"

#include <math.h>
#include <stdio.h>

#include "unit.h"

static ttm_tracker *begin(ttm_run_mode mode) {
  ttm_tracker *t;
  assert_int_equal(ttm_tracker_new(&t, NULL), TTM_OK);
  assert_int_equal(ttm_tracker_begin(t, mode, NULL), TTM_OK);
  return t;
}

static void snapshot(ttm_tracker *t, const char *name) {
  assert_int_equal(ttm_tracker_snapshot(t, name, NULL), TTM_OK);
}

static void assert_text(ttm_tracker *t, const char *expected) {
  char *text = ttm_tracker_text(t);
  assert_string_equal(text, expected);
  ttm_text_free(text);
}

/* ---- TinyLlama ----------------------------------------------------------------------------------------------------- */

static uint64_t bytes_of(double mb) { return (uint64_t)llround(mb * 1048576.0); }

enum { PIECES = 22 }; /* layers of the model */

/* Allocates what stays in pieces with ids, then what the phase needs besides, and frees that. */
static void spend(ttm_tracker *t, uint64_t first_id, double peak, double stays) {
  uint64_t rest = bytes_of(stays), extra = bytes_of(peak) - bytes_of(stays);
  for (uint64_t i = 0; i < PIECES; i++) {
    uint64_t piece = i + 1 < PIECES ? bytes_of(stays) / PIECES : rest;
    assert_int_equal(ttm_tracker_buffer_allocated(t, first_id + i, TTM_DRAM, piece, NULL), TTM_OK);
    rest -= piece;
  }
  ttm_tracker_allocated(t, TTM_DRAM, extra);
  ttm_tracker_deallocated(t, TTM_DRAM, extra);
}

static void give_back(ttm_tracker *t, uint64_t first_id) {
  for (uint64_t i = 0; i < PIECES; i++) ttm_tracker_buffer_deallocated(t, first_id + i);
}

static void tinyllama_memory_efficient(void **state) {
  (void)state;
  ttm_tracker *t = begin(TTM_RUN_NO_DISPATCH);
  spend(t, 100, 1863.25, 1863.25);
  snapshot(t, "MODEL_CREATION");
  spend(t, 200, 3708.76, 3708.76);
  snapshot(t, "OPTIMIZER_CREATION");
  spend(t, 300, 996.35, 192.954);
  snapshot(t, "FORWARD_PASS");
  spend(t, 400, 2513.69, 1663.073);
  assert_int_equal(ttm_tracker_end(t, "BACKWARD_PASS", NULL), TTM_OK);
  assert_text(
      t,
      "=== Memory Usage Summary ===\n\n"
      "--- MODEL_CREATION ---\n"
      "  DRAM: Segment Peak 1863.25 MB, Allocations 1863.25 MB, Deallocations 0.00 MB, Segment Change +1863.25 MB\n"
      "  DRAM: Cumulative Peak 1863.25 MB, Cumulative Current 1863.25 MB\n"
      "  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB\n"
      "--- OPTIMIZER_CREATION ---\n"
      "  DRAM: Segment Peak 3708.76 MB, Allocations 3708.76 MB, Deallocations 0.00 MB, Segment Change +3708.76 MB\n"
      "  DRAM: Cumulative Peak 5572.01 MB, Cumulative Current 5572.01 MB\n"
      "  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB\n"
      "--- FORWARD_PASS ---\n"
      "  DRAM: Segment Peak 996.35 MB, Allocations 996.35 MB, Deallocations 803.40 MB, Segment Change +192.95 MB\n"
      "  DRAM: Cumulative Peak 6568.36 MB, Cumulative Current 5764.96 MB\n"
      "  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB\n"
      "--- BACKWARD_PASS ---\n"
      "  DRAM: Segment Peak 2513.69 MB, Allocations 2513.69 MB, Deallocations 850.62 MB, Segment Change +1663.07 MB\n"
      "  DRAM: Cumulative Peak 8278.65 MB, Cumulative Current 7428.04 MB\n"
      "  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB\n"
      "\n=== Final Totals ===\n"
      "Overall DRAM Peak: 8278.65 MB, Final DRAM Usage: 7428.04 MB\n\n");
  ttm_tracker_free(t);
}

/* Its documentation leaves the first two phases out; their sum follows from the cumulative figures: 5571.88 MB. */
static void tinyllama_default(void **state) {
  (void)state;
  ttm_tracker *t = begin(TTM_RUN_NORMAL);
  spend(t, 100, 1863.25, 1863.25);
  snapshot(t, "MODEL_CREATION");
  spend(t, 200, 3708.625, 3708.625);
  snapshot(t, "OPTIMIZER_CREATION");
  spend(t, 300, 10019.391, 9636.018);
  snapshot(t, "FORWARD_PASS");
  spend(t, 400, 458.754, 100.0);
  give_back(t, 300);
  ttm_tracker_allocated(t, TTM_DRAM, bytes_of(9636.018 - 7780.87 - 100.0));
  assert_int_equal(ttm_tracker_end(t, "BACKWARD_PASS", NULL), TTM_OK);
  char *text = ttm_tracker_text(t);
  assert_non_null(strstr(text,
                         "--- FORWARD_PASS ---\n"
                         "  DRAM: Segment Peak 10019.39 MB, Allocations 10019.39 MB, Deallocations 383.37 MB, Segment "
                         "Change +9636.02 MB\n"
                         "  DRAM: Cumulative Peak 15591.27 MB, Cumulative Current 15207.89 MB\n"));
  assert_non_null(strstr(text,
                         "--- BACKWARD_PASS ---\n"
                         "  DRAM: Segment Peak 458.75 MB, Allocations 2213.90 MB, Deallocations 9994.77 MB, Segment "
                         "Change -7780.87 MB\n"
                         "  DRAM: Cumulative Peak 15666.65 MB, Cumulative Current 7427.02 MB\n"));
  assert_non_null(strstr(text, "Overall DRAM Peak: 15666.65 MB, "));
  ttm_text_free(text);
  ttm_tracker_free(t);
}

/* ---- Life cycle ---------------------------------------------------------------------------------------------------- */

static void errors_as_in_tt_train(void **state) {
  (void)state;
  ttm_tracker *t;
  ttm_error err;
  ttm_phase_usage phase;
  assert_int_equal(ttm_tracker_new(&t, NULL), TTM_OK);
  assert_text(t, "WARNING: No traces captured\n");
  assert_int_equal(ttm_tracker_snapshot(t, "A", &err), TTM_EUSAGE);
  assert_non_null(strstr(err.message, "MemoryUsageTracker: Cannot snapshot - capture is not active"));
  assert_int_equal(ttm_tracker_end(t, NULL, &err), TTM_OK); /* does nothing */
  assert_int_equal(ttm_tracker_phase_count(t), 0);

  assert_int_equal(ttm_tracker_begin(t, TTM_RUN_NORMAL, &err), TTM_OK);
  assert_true(ttm_tracker_active(t));
  assert_int_equal(ttm_tracker_begin(t, TTM_RUN_NO_DISPATCH, &err), TTM_EUSAGE);
  assert_non_null(strstr(err.message, "MemoryUsageTracker: Capture already active"));
  snapshot(t, "TWICE");
  snapshot(t, "TWICE");
  assert_int_equal(ttm_tracker_end(t, NULL, &err), TTM_OK);
  assert_false(ttm_tracker_active(t));

  assert_int_equal(ttm_tracker_find(t, "END_TRACE", &phase, &err), TTM_OK);
  assert_string_equal(phase.name, "END_TRACE");
  assert_int_equal(ttm_tracker_find(t, "NONE", &phase, &err), TTM_ENODATA);
  assert_string_equal(err.message, "MemoryUsageTracker: Trace 'NONE' not found");
  assert_int_equal(ttm_tracker_find(t, "TWICE", &phase, &err), TTM_EUSAGE);
  assert_non_null(strstr(err.message, "'TWICE' is ambiguous: 2 phases"));
  assert_int_equal(ttm_tracker_phase(t, 2, &phase, &err), TTM_OK);
  assert_int_equal(ttm_tracker_phase(t, 3, &phase, &err), TTM_EUSAGE);

  ttm_tracker_clear(t);
  assert_text(t, "WARNING: No traces captured\n");
  ttm_tracker_free(t);
  ttm_tracker_free(NULL);
}

static void nothing_is_recorded_outside_a_capture(void **state) {
  (void)state;
  ttm_tracker *t;
  ttm_phase_usage phase;
  assert_int_equal(ttm_tracker_new(&t, NULL), TTM_OK);
  ttm_tracker_allocated(t, TTM_DRAM, 1000);
  assert_int_equal(ttm_tracker_buffer_allocated(t, 7, TTM_DRAM, 1000, NULL), TTM_OK);
  assert_int_equal(ttm_tracker_begin(t, TTM_RUN_NORMAL, NULL), TTM_OK);
  ttm_tracker_buffer_deallocated(t, 7); /* allocated before: its size is not known */
  assert_int_equal(ttm_tracker_end(t, "ONE", NULL), TTM_OK);
  assert_int_equal(ttm_tracker_find(t, "ONE", &phase, NULL), TTM_OK);
  assert_int_equal(phase.dram.total_allocations, 0);
  assert_int_equal(phase.dram.total_deallocations, 0);
  assert_int_equal(phase.unknown_deallocations, 1);
  assert_int_equal(phase.events, 1);
  ttm_tracker_free(t);
}

static void a_peak_is_never_negative(void **state) {
  (void)state;
  ttm_tracker *t = begin(TTM_RUN_NORMAL);
  ttm_phase_usage phase;
  ttm_tracker_deallocated(t, TTM_DRAM, 4096);
  ttm_tracker_deallocated(t, TTM_L1, 4096);
  ttm_tracker_allocated(t, TTM_DRAM, 1024);
  snapshot(t, "FREE");
  assert_int_equal(ttm_tracker_find(t, "FREE", &phase, NULL), TTM_OK);
  assert_int_equal(phase.dram.peak, 0);
  assert_int_equal(phase.l1.peak_l1, 0);
  assert_int_equal(phase.cumulative_peak, 0);
  assert_int_equal(phase.cumulative_current, 1024 - 4096);
  ttm_tracker_free(t);
}

/* ---- L1 ------------------------------------------------------------------------------------------------------------ */

static void program_buffers(void **state) {
  (void)state;
  ttm_tracker *t = begin(TTM_RUN_NORMAL);
  ttm_phase_usage p;
  ttm_tracker_cores left = {0, 0, 3, 7}, right = {4, 0, 7, 7};
  ttm_tracker_allocated(t, TTM_L1, 10000);
  snapshot(t, "TENSOR");
  assert_int_equal(ttm_tracker_program_buffer(t, TTM_CIRCULAR_BUFFER, 3000, &left, 1, NULL), TTM_OK);
  assert_int_equal(ttm_tracker_program_buffer(t, TTM_CIRCULAR_BUFFER, 2000, &right, 1, NULL), TTM_OK);
  assert_int_equal(ttm_tracker_program_buffer(t, TTM_DATAFLOW_BUFFER, 500, NULL, 0, NULL), TTM_OK);
  assert_int_equal(ttm_tracker_program_buffer(t, TTM_SCRATCHPAD, 50, &right, 1, NULL), TTM_OK);
  ttm_tracker_program_buffers_deallocated(t);
  ttm_tracker_allocated(t, TTM_L1_SMALL, 64);
  snapshot(t, "PROGRAM");
  assert_int_equal(ttm_tracker_find(t, "PROGRAM", &p, NULL), TTM_OK);
  assert_int_equal(p.l1.peak_cb, 5000); /* tt-metal adds what stands on different cores */
  assert_int_equal(p.l1.peak_dataflow_buffer, 500);
  assert_int_equal(p.l1.peak_scratchpad, 50);
  assert_int_equal(p.l1.peak_l1, 64);
  assert_int_equal(p.l1.peak_total, 5550);
  assert_int_equal(p.l1.peak_core,
                   10000 + 3000 + 500); /* a core of the left half, and the tensor of the phase before */
  ttm_tracker_free(t);
}

static void wrong_core_ranges_are_refused(void **state) {
  (void)state;
  ttm_tracker *t = begin(TTM_RUN_NORMAL);
  ttm_tracker_cores wrong[] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, TTM_TRACKER_CORE_LIMIT, 0}, {0, 0, 0, UINT32_MAX}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(ttm_tracker_program_buffer(t, TTM_CIRCULAR_BUFFER, 1, &wrong[i], 1, NULL), TTM_EUSAGE);
  }
  assert_int_equal(ttm_tracker_program_buffer(t, TTM_PROGRAM_BUFFERS, 1, NULL, 0, NULL), TTM_EUSAGE);
  ttm_tracker_cores all = {0, 0, TTM_TRACKER_CORE_LIMIT - 1, TTM_TRACKER_CORE_LIMIT - 1};
  assert_int_equal(ttm_tracker_program_buffer(t, TTM_CIRCULAR_BUFFER, 1, &all, 1, NULL), TTM_OK);
  ttm_tracker_free(t);
}

static void huge_sizes_stop_at_the_ends(void **state) {
  (void)state;
  ttm_tracker *t = begin(TTM_RUN_NORMAL);
  ttm_phase_usage p;
  for (int i = 0; i < 3; i++) {
    ttm_tracker_allocated(t, TTM_DRAM, UINT64_MAX);
    ttm_tracker_allocated(t, TTM_L1, UINT64_MAX);
    assert_int_equal(ttm_tracker_program_buffer(t, TTM_CIRCULAR_BUFFER, UINT64_MAX, NULL, 0, NULL), TTM_OK);
  }
  snapshot(t, "UP");
  for (int i = 0; i < 3; i++) ttm_tracker_deallocated(t, TTM_DRAM, UINT64_MAX);
  snapshot(t, "DOWN");
  assert_int_equal(ttm_tracker_find(t, "UP", &p, NULL), TTM_OK);
  assert_true(p.dram.peak == INT64_MAX && p.l1.peak_total == INT64_MAX && p.cumulative_peak == INT64_MAX);
  ttm_tracker_free(t);
}

static void an_id_allocated_again_was_freed(void **state) {
  (void)state;
  ttm_tracker *t = begin(TTM_RUN_NORMAL);
  ttm_phase_usage p;
  assert_int_equal(ttm_tracker_buffer_allocated(t, 1, TTM_DRAM, 100, NULL), TTM_OK);
  assert_int_equal(ttm_tracker_buffer_allocated(t, 1, TTM_TRACE, 30, NULL), TTM_OK);
  ttm_tracker_buffer_deallocated(t, 1);
  ttm_tracker_buffer_deallocated(t, 1);
  snapshot(t, "IDS");
  assert_int_equal(ttm_tracker_find(t, "IDS", &p, NULL), TTM_OK);
  assert_int_equal(p.dram.total_allocations, 130);
  assert_int_equal(p.dram.total_deallocations, 130);
  assert_int_equal(p.dram.peak, 100);
  assert_int_equal(p.unknown_deallocations, 1);
  ttm_tracker_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tinyllama_memory_efficient),      cmocka_unit_test(tinyllama_default),
      cmocka_unit_test(errors_as_in_tt_train),           cmocka_unit_test(nothing_is_recorded_outside_a_capture),
      cmocka_unit_test(a_peak_is_never_negative),        cmocka_unit_test(program_buffers),
      cmocka_unit_test(wrong_core_ranges_are_refused),   cmocka_unit_test(huge_sizes_stop_at_the_ends),
      cmocka_unit_test(an_id_allocated_again_was_freed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
