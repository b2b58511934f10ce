/* SPDX-License-Identifier: Apache-2.0 */
/* Graph captures handed to the tracker as JSON: every kind of node, every spelling, and text that breaks off. */
#include "ttmem/tracker.h"

#include <stdio.h>

#include "unit.h"

static const char capture[] =
    "[{\"counter\":0,\"node_type\":\"capture_start\",\"params\":null,\"connections\":[]},"
    "{\"counter\":1,\"node_type\":\"buffer\",\"params\":{\"type\":\"DRAM\",\"size\":\"4096\"},\"connections\":[2]},"
    "{\"counter\":2,\"node_type\":\"buffer_allocate\",\"params\":{\"type\":\"DRAM\",\"size\":\"4096\"},\"connections\":"
    "[1]},"
    "{\"counter\":3,\"node_type\":\"circular_buffer_allocate\",\"params\":{\"size\":\"100\",\"core_range_set\":\"{[0-0 "
    "- 1-1]}\","
    "\"globally_allocated\":\"0\"},\"connections\":[]},"
    "{\"counter\":4,\"node_type\":\"circular_buffer_allocate\",\"params\":{\"size\":700,\"core_range_set\":\"{[0-0 - "
    "1-1]}\","
    "\"globally_allocated\":\"1\"},\"connections\":[]},"
    "{\"counter\":5,\"node_type\":\"circular_buffer_allocate\",\"params\":{\"size\":50,\"core_range_set\":"
    "\"{[(x=4,y=4) - (x=5,y=5)], [(x=6,y=6) - (x=6,y=6)]}\"},\"connections\":[]},"
    "{\"counter\":6,\"node_type\":\"dataflow_buffer_allocate\",\"params\":{\"size\":30,\"core_range_set\":\"{[0-0 - "
    "1-1]}\","
    "\"borrows_memory\":\"0\"},\"connections\":[]},"
    "{\"counter\":7,\"node_type\":\"scratchpad_allocate\",\"params\":{\"size\":7,\"core_range_set\":\"nobody knows\"},"
    "\"connections\":[]},"
    "{\"counter\":8,\"node_type\":\"buffer_allocate\",\"params\":{\"type\":\"L1\",\"size\":8192,\"max_size_per_bank\":"
    "128},"
    "\"connections\":[1]},"
    "{\"counter\":9,\"node_type\":\"circular_buffer_deallocate_all\",\"params\":{\"device_id\":0},\"connections\":[]},"
    "{\"counter\":10,\"node_type\":\"buffer_deallocate\",\"params\":{\"type\":\"DRAM\",\"size\":\"0\"},\"connections\":"
    "[1]},"
    "{\"counter\":11,\"node_type\":\"some_new_node\",\"params\":{},\"connections\":[]},"
    "{\"counter\":12,\"node_type\":\"capture_end\",\"params\":null,\"connections\":[]}]";

static ttm_phase_usage run(ttm_str json, int expected) {
  ttm_tracker *t;
  ttm_phase_usage phase;
  ttm_error err;
  ttm_str copy = heap_view(json);
  assert_int_equal(ttm_tracker_new(&t, NULL), TTM_OK);
  assert_int_equal(ttm_tracker_begin(t, TTM_RUN_NORMAL, NULL), TTM_OK);
  assert_int_equal(ttm_tracker_graph(t, copy.p, copy.n, &err), expected);
  assert_int_equal(ttm_tracker_end(t, NULL, NULL), TTM_OK);
  assert_int_equal(ttm_tracker_find(t, "END_TRACE", &phase, NULL), TTM_OK);
  ttm_tracker_free(t);
  free((void *)copy.p);
  phase.name = NULL; /* was the tracker's */
  return phase;
}

static void every_kind_of_node(void **state) {
  (void)state;
  ttm_phase_usage p = run(ttm_str_of(capture), TTM_OK);
  assert_int_equal(p.dram.peak, 4096);
  assert_int_equal(p.dram.total_allocations, 4096);
  assert_int_equal(p.dram.total_deallocations, 4096);
  assert_int_equal(p.l1.peak_cb, 150);
  assert_int_equal(p.l1.peak_dataflow_buffer, 30);
  assert_int_equal(p.l1.peak_scratchpad, 7);
  assert_int_equal(p.l1.peak_l1, 128);
  assert_int_equal(p.l1.peak_total, 315);
  assert_int_equal(p.l1.peak_core, 100 + 30 + 7 + 128); /* the two circular buffers are on different cores */
}

static void the_report_object(void **state) {
  (void)state;
  char text[sizeof capture + 64];
  int n = snprintf(text, sizeof text, "{\"version\":1,\"graph\":%s,\"devices\":[]}", capture);
  ttm_phase_usage whole = run((ttm_str){text, (size_t)n}, TTM_OK), bare = run(ttm_str_of(capture), TTM_OK);
  assert_memory_equal(&whole, &bare, sizeof whole);
}

static void every_prefix(void **state) {
  (void)state;
  ttm_str text = ttm_str_of(capture);
  assert_int_equal(run(TTM_LIT("[]"), TTM_OK).events, 0);
  for (size_t n = 0; n < text.n; n++) {
    ttm_phase_usage p = run(ttm_str_first(text, n), TTM_EFORMAT);
    assert_true(p.events <= 8 && p.dram.peak <= 4096);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_node),
      cmocka_unit_test(the_report_object),
      cmocka_unit_test(every_prefix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
