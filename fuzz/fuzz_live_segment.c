/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a live file: read or refused, never half believed. */
#include <string.h>

#include "fuzz.h"

#include "parse/shm_segment.h"

static void check_segment(const ttm_shm_segment *s) {
  if (s->version != TTM_SHM_VERSION || s->slot_count > TTM_SHM_SLOTS) abort();
  for (uint32_t i = 0; i < s->slot_count; i++) {
    if (s->slots[i].pid <= 0 || strlen(s->slots[i].name) > TTM_SHM_NAME) abort();
    for (int u = 0; u < TTM_USES; u++) {
      if (s->slots[i].bytes[u] > UINT64_C(1) << 48) abort();
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char bytes[TTM_SHM_BYTES];
  ttm_shm_segment segment;
  uint64_t asic_id;
  ttm_str view = {(const char *)data, size};
  if (ttm_shm_segment_read(&segment, view) == TTM_SHM_FINE) check_segment(&segment);
  ttm_shm_file_name(view, &asic_id);
  /* Small inputs reach the slots too: as the start of the slots of a file that is otherwise fine. */
  memset(bytes, 0, sizeof bytes);
  bytes[0] = TTM_SHM_VERSION;
  if (size) memcpy(bytes + 856, data, size < sizeof bytes - 856 ? size : sizeof bytes - 856);
  ttm_shm_fault fault = ttm_shm_segment_read(&segment, (ttm_str){bytes, sizeof bytes});
  if (fault == TTM_SHM_FINE)
    check_segment(&segment);
  else if (fault != TTM_SHM_IMPOSSIBLE || segment.slot_count)
    abort();
  return 0;
}
