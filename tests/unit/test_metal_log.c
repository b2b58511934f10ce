/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of TT-Metal's logger in all its forms, the messages with memory facts, the CSV reports, and whole logs. */
#include "l1/device_log.h"
#include "unit.h"

static ttm_metal_line line_of(const char *text) {
  ttm_metal_line line;
  if (!ttm_metal_line_read(ttm_str_of(text), &line)) fail_msg("not read: %s", text);
  return line;
}

#define SAYS(view, text) assert_true(ttm_str_eq((view), ttm_str_of(text)))

static void three_forms(void **state) {
  (void)state;
  ttm_metal_line a =
      line_of("                  Metal | INFO     | Initializing device 0. Program cache is NOT enabled");
  assert_int_equal(a.era, TTM_METAL_A);
  assert_int_equal(a.severity, TTM_SEV_INFO);
  SAYS(a.logger, "Metal");
  SAYS(a.message, "Initializing device 0. Program cache is NOT enabled");
  ttm_metal_line b = line_of("[2025-06-06 03:52:41.386] [warning] [mesh_device.cpp:518] [Metal] hello (world)");
  assert_int_equal(b.era, TTM_METAL_B);
  assert_int_equal(b.severity, TTM_SEV_WARNING);
  SAYS(b.source, "mesh_device.cpp:518");
  SAYS(b.message, "hello (world)");
  ttm_metal_line c =
      line_of("2026-05-14 01:00:31.755 | critical |          Always | TT_FATAL: Out (of: x) B (assert.hpp:104)");
  assert_int_equal(c.era, TTM_METAL_C);
  assert_int_equal(c.severity, TTM_SEV_FATAL);
  SAYS(c.source, "assert.hpp:104");
  SAYS(c.message, "TT_FATAL: Out (of: x) B");
  ttm_metal_line ci = line_of("2025-02-13T20:04:13.6941740Z                   Metal | WARNING  | Closing device 0");
  assert_int_equal(ci.era, TTM_METAL_A);
  assert_int_equal(ci.severity, TTM_SEV_WARNING);
  ttm_metal_line rank = line_of("[1,3]<stdout>:2026-05-14 01:00:31.755 | info     |  Device | x");
  assert_int_equal(rank.era, TTM_METAL_C);
}

static void lines_of_others(void **state) {
  (void)state;
  static const char *const others[] = {
      "",
      "hello",
      "2024-09-30 17:10:49.831 | INFO     | module:function:282 - Python's own",
      "            RuntimeTTNN | DEBUG | tt-mlir's runtime",
      "2026-05-14 01:00:31.755 | critical | Nobody | x",
      "2026-05-14 01:00:31.755 | loud | Metal | x",
      "[2025-06-06 03:52:41.386] [info] [Metal",
      "Metal | INFO",
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    ttm_metal_line line;
    assert_false(ttm_metal_line_read(ttm_str_of(others[i]), &line));
  }
}

static void colours_go(void **state) {
  (void)state;
  ttm_buf scratch = {0};
  ttm_str plain = ttm_metal_plain(
      TTM_LIT("\x1b[38;2;000;128;000m   Metal\x1b[0m | \x1b[1m\x1b[38;2;1;2;3mINFO    \x1b[0m | x\x1b[K"), &scratch);
  SAYS(plain, "   Metal | INFO     | x");
  SAYS(ttm_metal_plain(TTM_LIT("a\x1b"), &scratch), "a\x1b");
  SAYS(ttm_metal_plain(TTM_LIT("plain"), &scratch), "plain");
  ttm_buf_free(&scratch);
}

static ttm_metal_event event_of(const char *message) {
  ttm_metal_event event;
  if (!ttm_metal_event_read(ttm_str_of(message), &event)) fail_msg("not read: %s", message);
  return event;
}

static void messages(void **state) {
  (void)state;
  ttm_metal_event e = event_of(
      "Configured partition params: worker_l1_size:0x16E000, l1_unreserved_base:0x19d60, l1_small_size:0x4000, "
      "disable_interleaved:false, l1_alignment:16, dram_alignment:32");
  assert_int_equal(e.worker_l1, 1499136);
  assert_int_equal(e.base, 105824);
  assert_int_equal(e.small, 16384);
  e = event_of("RISC=4, name=odd, size=7, size=1896 (bytes)");
  assert_int_equal(e.processor, 4);
  assert_int_equal(e.bytes, 1896);
  SAYS(e.name, "odd, size=7");
  e = event_of(
      "ShmTrackingProcessor::track_allocate: Calling SHM record_allocation (device_id=3, type=1, size=4096 B, pid=7)");
  assert_int_equal(e.device, 3);
  assert_int_equal(e.memory, 1);
  assert_int_equal(e.bytes, 4096);
  e = event_of(
      "ShmTrackingProcessor::track_allocate: Tracking MeshDevice backing buffer on underlying device 5 "
      "(mesh_device_id=1, type=0, size=64 B, pid=7)");
  assert_int_equal(e.device, 5);
  assert_int_equal(e.memory, 0);
  e = event_of("End op: ttnn::add (duration: 5 ns)");
  assert_int_equal(e.kind, TTM_METAL_OP_END);
  SAYS(e.name, "ttnn::add");
  e = event_of(
      "Circular buffer indices are not contiguous starting at 0. This will hurt dispatch performance. Non-contiguous "
      "indices: 16,24. First unused index: 0. Kernels: blank");
  SAYS(e.name, "16,24");
  static const char *const nothing[] = {
      "",
      "RISC=",
      "RISC=1, name=x",
      "RISC=1, name=x, size=",
      "Begin op: ",
      "compiled x",
      "Configured partition params: worker_l1_size:0x",
      "ShmTrackingProcessor::track_allocate: type=1",
      "ShmTrackingProcessor::track_allocate: Calling SHM record_allocation (device_id=3, type=9, size=1 B, pid=7)"};
  for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
    assert_false(ttm_metal_event_read(ttm_str_of(nothing[i]), &e));
}

static ttm_device_log log_of(const char *text) {
  ttm_device_log log;
  ttm_error err;
  assert_int_equal(ttm_device_log_read_bytes(&log, ttm_str_of(text), &err), 0);
  return log;
}

static void incidents_and_their_copies(void **state) {
  (void)state;
  ttm_device_log log = log_of(
      "2026-09-01 10:00:00.400 | debug    |          Always | Begin op: outer (g.cpp:1)\n"
      "2026-09-01 10:00:00.430 | debug    |          Always | Begin op: ttnn::softmax (g.cpp:1)\n"
      "2026-09-01 10:00:00.431 | critical |          Always | TT_FATAL: Total circular buffer size 1024 B must be "
      "divisible "
      "by page size 2048 B (assert.hpp:104)\r\n"
      "RuntimeError: TT_FATAL @ /w/circular_buffer_config.cpp:105: false\n"
      "info:\n"
      "Total circular buffer size 1024 B must be divisible by page size 2048 B\n"
      "backtrace:\n"
      "2026-09-01 10:00:01.431 | critical |          Always | TT_FATAL: Total circular buffer size 1024 B must be "
      "divisible "
      "by page size 2048 B (assert.hpp:104)\n");
  assert_int_equal(log.lines, 8);
  assert_int_equal(log.incidents.n, 2); /* twice in the log; the exception is a copy of the first */
  assert_int_equal(log.incidents.at[0].copies, 2);
  assert_int_equal(log.incidents.at[0].line, 3);
  SAYS(ttm_intern_get(&log.strings, log.incidents.at[0].op), "ttnn::softmax");
  assert_non_null(log.incidents.at[0].mistake);
  assert_int_equal(log.level_lines[TTM_SEV_FATAL], 2);
  ttm_device_log_free(&log);
}

static void reports(void **state) {
  (void)state;
  ttm_device_log log = log_of(
      "Program ID, Total Allocatable Size (B), Total Allocated (B), Total Free (B), Largest Free Block (B)\n"
      "17,100,40,60,50\n,10,4,6,5\n,1,0,1,1\n18,100,41,59,50\n,10,4,6,5\n,1,0,1,1\n");
  assert_int_equal(log.csv, TTM_CSV_SUMMARY);
  assert_int_equal(log.usage.n, 6);
  SAYS(ttm_intern_get(&log.strings, log.usage.at[2].memory), "L1_SMALL");
  SAYS(ttm_intern_get(&log.strings, log.usage.at[2].program), "17");
  SAYS(ttm_intern_get(&log.strings, log.usage.at[3].memory), "DRAM");
  SAYS(ttm_intern_get(&log.strings, log.usage.at[4].program), "18");
  assert_int_equal(log.usage.at[3].allocated, 41);
  ttm_device_log_free(&log);
  log = log_of(
      ",DRAM\n,Total allocatable (B):,1200\n,Total allocated (B):,400\n,Total free (B):,800\nFreeListOpt allocator "
      "info:\n"
      "Block table:\n       Block      Address         Size       PrevID       NextID    Allocated \n"
      "           0            0       400         none            1          yes\n"
      "           1          400       800            0         none           no\n,L1\n");
  assert_int_equal(log.csv, TTM_CSV_DETAILED);
  assert_int_equal(log.usage.n, 2);
  assert_int_equal(log.usage.at[0].free, 800);
  assert_int_equal(log.usage.at[0].largest, 800);
  assert_int_equal(log.blocks.n, 2);
  assert_true(log.blocks.at[0].allocated && !log.blocks.at[1].allocated);
  ttm_device_log_free(&log);
  log = log_of("nothing\nof\ninterest\n");
  assert_true(ttm_device_log_is_empty(&log));
  ttm_device_log_free(&log);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_forms),
      cmocka_unit_test(lines_of_others),
      cmocka_unit_test(colours_go),
      cmocka_unit_test(messages),
      cmocka_unit_test(incidents_and_their_copies),
      cmocka_unit_test(reports),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
