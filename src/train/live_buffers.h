/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers alive, by id: a hash table that gives room back on removal, so that a steady number of buffers never allocates.
 * Zero is the empty table. */
#ifndef TTM_TRAIN_LIVE_BUFFERS_H
#define TTM_TRAIN_LIVE_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ttmem/profile.h"

typedef struct ttm_live_buffer {
  uint64_t id;
  uint64_t bytes;
  uint8_t memory; /* ttm_memory */
  bool used;
} ttm_live_buffer;

typedef struct ttm_live_buffers {
  ttm_live_buffer *slots;
  size_t slot_count, n; /* slot_count is a power of two, or 0 */
} ttm_live_buffers;

/* Adds a buffer whose id is not in the table. 0 or TTM_ENOMEM. */
int ttm_live_buffers_add(ttm_live_buffers *table, uint64_t id, ttm_memory memory, uint64_t bytes);
/* The buffer of this id, or NULL; borrowed until the table changes. */
const ttm_live_buffer *ttm_live_buffers_find(const ttm_live_buffers *table, uint64_t id);
/* Takes a buffer out; false when there is none of this id. */
bool ttm_live_buffers_take(ttm_live_buffers *table, uint64_t id, ttm_live_buffer *out);
/* Forgets all of them and keeps the room. */
void ttm_live_buffers_clear(ttm_live_buffers *table);
void ttm_live_buffers_free(ttm_live_buffers *table);

#endif
