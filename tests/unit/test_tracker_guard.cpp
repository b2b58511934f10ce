// SPDX-License-Identifier: Apache-2.0
// The tracker from C++: the guard ends and clears however its scope ends, and errors are exceptions.
#include <cstdlib>
#include <cstring>

#include "ttmem/ttmem.hpp"

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

template <typename F>
static std::string message_of(F &&call) {
  try {
    call();
  } catch (const ttmem::Error &e) {
    return e.what();
  }
  return "";
}

static void scope_ends_the_capture() {
  ttmem::Tracker tracker;
  {
    auto guard = tracker.begin_capture(TTM_RUN_NO_DISPATCH);
    tracker.allocated(TTM_DRAM, 3 << 20);
    tracker.snapshot("MODEL_CREATION");
    CHECK(tracker.phases().size() == 1 && tracker.phases()[0].mode == TTM_RUN_NO_DISPATCH);
    ttmem::CaptureGuard moved = std::move(guard);
    CHECK(ttm_tracker_active(tracker.get()));
  }
  CHECK(!ttm_tracker_active(tracker.get()) && tracker.phases().empty());
  try {
    auto guard = tracker.begin_capture();
    throw 1;
  } catch (int) {}
  CHECK(!ttm_tracker_active(tracker.get()));
}

static void release_keeps_it() {
  ttmem::Tracker tracker;
  {
    auto guard = tracker.begin_capture();
    guard.release();
  }
  CHECK(ttm_tracker_active(tracker.get()));
  tracker.end_capture();
  CHECK(tracker.get_trace_names() == std::vector<std::string>{"END_TRACE"});
}

static void words_of_tt_train() {
  using ttmem::MemoryUsageTracker;
  auto guard = MemoryUsageTracker::begin_capture();
  ttmem::Tracker &t = MemoryUsageTracker::instance();
  t.buffer_allocated(1, TTM_DRAM, 2 << 20);
  MemoryUsageTracker::snapshot("FORWARD_PASS");
  t.buffer_deallocated(1);
  t.program_buffer(TTM_CIRCULAR_BUFFER, 1 << 20, {{0, 0, 1, 1}, {4, 4, 5, 5}});
  t.program_buffer(TTM_CIRCULAR_BUFFER, 0);
  t.program_buffers_deallocated();
  MemoryUsageTracker::end_capture("BACKWARD_PASS");
  CHECK(MemoryUsageTracker::get_dram_usage("FORWARD_PASS").peak == 2 << 20);
  CHECK(MemoryUsageTracker::get_dram_usage_all()[1].second.total_deallocations == 2 << 20);
  CHECK(MemoryUsageTracker::get_l1_usage("BACKWARD_PASS").peak_cb == 1 << 20);
  CHECK(MemoryUsageTracker::get_l1_usage_all().size() == 2);
  CHECK(t.text().find("Overall DRAM Peak: 2.00 MB, Final DRAM Usage: 0.00 MB\n") != std::string::npos);
  CHECK(message_of([&] { MemoryUsageTracker::get_dram_usage("X"); }) == "MemoryUsageTracker: Trace 'X' not found");
  CHECK(message_of([&] { MemoryUsageTracker::snapshot("X"); }).find("not active") != std::string::npos);
  auto second = MemoryUsageTracker::begin_capture();
  CHECK(message_of([&] { auto third = MemoryUsageTracker::begin_capture(); }).find("already active") !=
        std::string::npos);
  MemoryUsageTracker::clear();
}

int main() {
  scope_ends_the_capture();
  release_keeps_it();
  words_of_tt_train();
}
