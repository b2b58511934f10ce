// SPDX-License-Identifier: Apache-2.0
// tt-train's names for the tracker of libttmem, for code that has its header and is built without tt-metal. Put this folder before
// others: -I<include>/ttmem/compat. Never together with tt-metal's own headers, which declare the same names.
#ifndef TTMEM_COMPAT_TTML_UTILS_MEMORY_UTILS_HPP
#define TTMEM_COMPAT_TTML_UTILS_MEMORY_UTILS_HPP

#include <string>

#include "ttmem/ttmem.hpp"

namespace tt::tt_metal {
struct IGraphProcessor {
  enum class RunMode { NORMAL, NO_DISPATCH };
};
} // namespace tt::tt_metal

namespace ttnn {
using ScopeGuard = ttmem::CaptureGuard;
} // namespace ttnn

namespace ttml::utils {

// Everything but begin_capture is inherited. Events come from the caller: instance().allocated(...), see ttmem/tracker.h.
class MemoryUsageTracker : public ttmem::MemoryUsageTracker {
 public:
  using RunMode = tt::tt_metal::IGraphProcessor::RunMode;
  [[nodiscard]] static ttnn::ScopeGuard begin_capture(RunMode mode = RunMode::NORMAL) {
    return instance().begin_capture(mode == RunMode::NO_DISPATCH ? TTM_RUN_NO_DISPATCH : TTM_RUN_NORMAL);
  }
};

} // namespace ttml::utils
#endif
