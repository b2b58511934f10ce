/* SPDX-License-Identifier: Apache-2.0 */
#include "train/live_buffers.h"

enum { NOWHERE = UINT32_MAX };

int ttm_live_buffers_add(ttm_live_buffers *table, uint64_t id, ttm_memory memory, uint64_t bytes) {
  ttm_live_buffer buffer = {.id = id, .bytes = bytes, .memory = (uint8_t)memory};
  if (!table->spare) { /* no row to use again */
    if (ttm_vec_push(&table->at, (ttm_live_buffer){0})) return TTM_ENOMEM;
    table->spare = (uint32_t)table->at.n;
  }
  if (ttm_map_set(&table->place, id, table->spare - 1)) return TTM_ENOMEM;
  ttm_live_buffer *row = &table->at.at[table->spare - 1];
  table->spare = (uint32_t)row->id;
  *row = buffer;
  return TTM_OK;
}

const ttm_live_buffer *ttm_live_buffers_find(const ttm_live_buffers *table, uint64_t id) {
  uint32_t place = ttm_map_get(&table->place, id, NOWHERE);
  return place == NOWHERE ? NULL : &table->at.at[place];
}

bool ttm_live_buffers_take(ttm_live_buffers *table, uint64_t id, ttm_live_buffer *out) {
  uint32_t place = ttm_map_remove(&table->place, id, NOWHERE);
  if (place == NOWHERE) return false;
  *out = table->at.at[place];
  table->at.at[place].id = table->spare;
  table->spare = place + 1;
  return true;
}

void ttm_live_buffers_clear(ttm_live_buffers *table) {
  table->at.n = table->spare = 0;
  ttm_map_clear(&table->place);
}

void ttm_live_buffers_free(ttm_live_buffers *table) {
  ttm_vec_free(&table->at);
  ttm_map_free(&table->place);
  table->spare = 0;
}
