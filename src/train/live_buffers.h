/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers alive, by id. A steady number of buffers never allocates. Zero is the empty table. */
#ifndef TTM_TRAIN_LIVE_BUFFERS_H
#define TTM_TRAIN_LIVE_BUFFERS_H

#include <stdbool.h>

#include "base/map.h"
#include "base/vec.h"
#include "ttmem/profile.h"

typedef struct ttm_live_buffer {
  uint64_t id;
  uint64_t bytes;
  uint8_t memory; /* ttm_memory */
} ttm_live_buffer;

typedef struct ttm_live_buffers {
  TTM_VEC(ttm_live_buffer) at;
  ttm_map place;  /* id -> position */
  uint32_t spare; /* position + 1 of a row to use again; its id is the next one's */
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
