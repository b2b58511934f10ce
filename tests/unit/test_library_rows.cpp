// SPDX-License-Identifier: Apache-2.0
// Profiles, findings and feeds from C++.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "ttmem/ttmem.hpp"

#define CHECK(condition)                                                \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::cerr << __FILE__ << ':' << __LINE__ << ": " #condition "\n"; \
      std::exit(1);                                                     \
    }                                                                   \
  } while (0)

static void rows() {
  ttmem::Findings findings(ttmem::Profile::read("demo/llama_small.log.zst")); // the profile itself is gone
  std::uint64_t held = 0;
  for (const ttm_tensor_info &tensor : findings.tensors())
    if (tensor.alive_at_peak && tensor.memory == TTM_DRAM) held += tensor.bank_bytes;
  const std::uint64_t peak = findings.peak(TTM_DRAM).use.allocated;
  CHECK(held + 1000 > peak && peak + 1000 > held);
  CHECK(findings.index(findings.peak(TTM_DRAM).raised_by) == 1518);
  CHECK(ttmem::text(findings.incidents()[0].kind) == "oom");
  CHECK(ttmem::text(findings.statements()[0].severity) == "failure");
  CHECK(findings.fixes()[findings.statements()[0].first_fix].statement == 0);
  CHECK(findings.json().substr(0, 18) == "{\"schema_version\":");
}

static void operations() {
  const ttmem::Profile profile = ttmem::Profile::read("tests/data/small.log");
  const auto all = profile.operations();
  CHECK(std::distance(all.begin(), all.end()) == all.size() && all.size() == 18);
  CHECK(std::count_if(all.begin(), all.end(), [](const ttm_operation_info &o) { return o.in_reports; }) ==
        static_cast<std::ptrdiff_t>(profile.operation_count()));
  CHECK(profile.states().begin()->memory[TTM_DRAM].banks == 12);
  try {
    all[18];
    CHECK(false);
  } catch (const ttmem::Error &error) {
    CHECK(error.code() == TTM_EUSAGE);
  }
}

static void feed() {
  std::ifstream file("tests/data/small.log", std::ios::binary);
  std::string piece(100, '\0');
  ttmem::Feed feed("small.log");
  while (file.read(&piece[0], 100), file.gcount() > 0)
    feed.put({piece.data(), static_cast<std::size_t>(file.gcount())});
  CHECK(feed.now().incidents == 1);
  CHECK(feed.end().operations().size() == 18);
}

int main() {
  rows();
  operations();
  feed();
  return 0;
}
