/* SPDX-License-Identifier: Apache-2.0 */
#include "train/live_buffers.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

enum { FIRST_SLOTS = 256 };

static size_t home(const ttm_live_buffers *table, uint64_t id) {
  return ttm_hash_mix(id ^ 0x9E3779B97F4A7C15u, 0xD6E8FEB86659FD93u) & (table->slot_count - 1);
}

static void place(ttm_live_buffers *table, const ttm_live_buffer *buffer) {
  size_t at = home(table, buffer->id);
  while (table->slots[at].used) at = (at + 1) & (table->slot_count - 1);
  table->slots[at] = *buffer;
}

static int grow(ttm_live_buffers *table) {
  ttm_live_buffers larger = {.slot_count = table->slot_count ? table->slot_count * 2 : FIRST_SLOTS, .n = table->n};
  larger.slots = ttm_alloc(larger.slot_count * sizeof *larger.slots);
  if (!larger.slots) return TTM_ENOMEM;
  for (size_t i = 0; i < table->slot_count; i++) {
    if (table->slots[i].used) place(&larger, &table->slots[i]);
  }
  ttm_free(table->slots);
  *table = larger;
  return TTM_OK;
}

int ttm_live_buffers_add(ttm_live_buffers *table, uint64_t id, ttm_memory memory, uint64_t bytes) {
  if ((table->n + 1) * 2 > table->slot_count && grow(table)) return TTM_ENOMEM;
  place(table, &(ttm_live_buffer){.id = id, .bytes = bytes, .memory = (uint8_t)memory, .used = true});
  table->n++;
  return TTM_OK;
}

/* Moves later members of the run into the hole, so that no marks of removed buffers are left to fill the table. */
static void close_hole(ttm_live_buffers *table, size_t hole) {
  size_t mask = table->slot_count - 1;
  for (size_t at = (hole + 1) & mask; table->slots[at].used; at = (at + 1) & mask) {
    size_t from_home = (at - home(table, table->slots[at].id)) & mask;
    if (from_home < ((at - hole) & mask)) continue; /* it would come to stand before its home */
    table->slots[hole] = table->slots[at];
    hole = at;
  }
  table->slots[hole].used = false;
}

const ttm_live_buffer *ttm_live_buffers_find(const ttm_live_buffers *table, uint64_t id) {
  if (!table->n) return NULL;
  size_t at = home(table, id);
  while (table->slots[at].used && table->slots[at].id != id) at = (at + 1) & (table->slot_count - 1);
  return table->slots[at].used ? &table->slots[at] : NULL;
}

bool ttm_live_buffers_take(ttm_live_buffers *table, uint64_t id, ttm_live_buffer *out) {
  const ttm_live_buffer *found = ttm_live_buffers_find(table, id);
  if (!found) return false;
  *out = *found;
  table->n--;
  close_hole(table, (size_t)(found - table->slots));
  return true;
}

void ttm_live_buffers_clear(ttm_live_buffers *table) {
  if (table->n) memset(table->slots, 0, table->slot_count * sizeof *table->slots);
  table->n = 0;
}

void ttm_live_buffers_free(ttm_live_buffers *table) {
  ttm_free(table->slots);
  *table = (ttm_live_buffers){0};
}
