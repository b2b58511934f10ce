// SPDX-License-Identifier: Apache-2.0
// Why the run failed, and what was asked for.
//
//   $ failures demo/llama_small.log.zst
//   oom in DRAM, fragmented: ttnn.to_layout needs 8388608 B of each bank, the largest free block has 7858176 B
#include <iostream>

#include "ttmem/ttmem.hpp"

int main(int argc, char **argv) try {
  if (argc != 2) return std::cerr << "usage: failures LOG\n", 2;
  const ttmem::Profile profile = ttmem::Profile::read(argv[1]);
  const ttmem::Findings findings(profile);
  for (const ttm_incident_info &failure : findings.incidents()) {
    const ttm_operation_info operation = profile.operations()[failure.operation];
    std::cout << ttmem::text(failure.kind) << " in " << ttmem::text(failure.memory) << ", "
              << ttmem::text(failure.verdict) << ": " << ttmem::text(operation.name) << " needs " << failure.needed
              << " B of each bank, the largest free block has " << failure.largest_free << " B\n";
  }
  return 0;
} catch (const ttmem::Error &error) {
  std::cerr << error.what() << '\n';
  return 1;
}
