// SPDX-License-Identifier: Apache-2.0
// Code written for tt-train's tracker, word for word as its document has it, over libttmem.
#include <cstdlib>

#include "ttmem/compat/ttml/utils/memory_utils.hpp"

static void check(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::exit(1);
}

int main() {
  {
    ttnn::ScopeGuard guard = ttml::utils::MemoryUsageTracker::begin_capture();
    ttml::utils::MemoryUsageTracker::instance().allocated(TTM_DRAM, 5 << 20);
    ttml::utils::MemoryUsageTracker::snapshot("MODEL_CREATION");
    ttml::utils::MemoryUsageTracker::snapshot("FORWARD_PASS");
    ttml::utils::MemoryUsageTracker::end_capture("ITERATION_COMPLETE");
    ttml::utils::MemoryUsageTracker::print_memory_usage();
    check(ttml::utils::MemoryUsageTracker::get_dram_usage("MODEL_CREATION").peak == 5 << 20, "the phase's peak");
    check(ttml::utils::MemoryUsageTracker::get_trace_names().size() == 3, "three phases");
    ttml::utils::MemoryUsageTracker::clear();
  }
  ttnn::ScopeGuard guard =
      ttml::utils::MemoryUsageTracker::begin_capture(tt::tt_metal::IGraphProcessor::RunMode::NO_DISPATCH);
  ttml::utils::MemoryUsageTracker::end_capture("END");
  check(ttml::utils::MemoryUsageTracker::instance().phases()[0].mode == TTM_RUN_NO_DISPATCH, "the run mode");
}
