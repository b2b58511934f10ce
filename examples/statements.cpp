// SPDX-License-Identifier: Apache-2.0
// Why the run failed, and what to change.
//
//   $ statements demo/llama_small.log.zst
//   Out of memory in DRAM: fragmented, short by 0.506 MB per bank
//     Store weights as bfp8, if accuracy allows: model.lm_head.weight and 136 more; frees 492.3 MB per bank (estimated)
//     Spread the weights over 2 chips: 7.13 GB on each (estimated)
//     Use a p100: about 2,086.8 of 4,079.0 MB per bank would be in use there (estimated)
//   The weights alone need about 14.27 GB per chip, DRAM holds 11.99 GB: freeing other tensors cannot help
#include <iostream>

#include "ttmem/ttmem.hpp"

int main(int argc, char **argv) try {
  if (argc != 2) return std::cerr << "usage: statements LOG\n", 2;
  const ttmem::Findings findings(ttmem::Profile::read(argv[1]));
  for (const ttm_statement_info &statement : findings.statements()) {
    if (ttmem::text(statement.severity) != "failure") continue;
    std::cout << ttmem::text(statement.headline) << '\n';
    for (std::uint32_t i = 0; i < statement.fixes; i++)
      std::cout << "  " << ttmem::text(findings.fixes()[statement.first_fix + i].text) << '\n';
  }
  return 0;
} catch (const ttmem::Error &error) {
  std::cerr << error.what() << '\n';
  return 1;
}
