/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a type: never a crash, views inside the text, and byte counts that agree with each other. */
#include "fuzz.h"

#include "parse/tensor_type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_str text = {(const char *)data, size};
  ttm_tensor_type type;
  if (!ttm_tensor_type_parse(text, &type)) return 0;
  check_inside(text, type.element);
  check_inside(text, type.storage);
  if (!type.element.n || type.shape.rank > TTM_MAX_RANK) abort();
  if (type.shard.rank > TTM_MAX_RANK || type.grid.rank > TTM_MAX_RANK) abort();
  if (type.has_layout && !type.storage.n) abort();

  static const ttm_alignment boards[] = {{32, 16}, {64, 16}, {0, 0}};
  for (size_t i = 0; i < 3; i++) {
    uint64_t stored = ttm_tensor_stored_bytes(&type, boards[i]);
    uint64_t bank = ttm_tensor_bank_bytes(&type, 12, boards[i]);
    if (!type.has_layout && (bank || stored != ttm_tensor_logical_bytes(&type))) abort();
    if (boards[i].dram && bank != UINT64_MAX && bank % boards[i].dram) abort();
  }
  ttm_dims dims = ttm_tensor_stored_shape(&type);
  char print[64];
  if (dims.rank > TTM_MAX_RANK || ttm_dims_print(&dims, print, sizeof print) >= sizeof print) abort();
  return 0;
}
