/* SPDX-License-Identifier: Apache-2.0 */
/* A bump allocator: many small pieces, freed together. Zero is the empty arena. */
#ifndef TTM_BASE_ARENA_H
#define TTM_BASE_ARENA_H

#include "base/str.h"

typedef struct ttm_arena {
  struct ttm_arena_block *blocks; /* newest first */
  char *next;
  size_t left;
} ttm_arena;

/* Uninitialised memory aligned to 8 bytes, valid until ttm_arena_free; NULL on failure. */
void *ttm_arena_alloc(ttm_arena *arena, size_t size);

/* Packed room for bytes (no alignment); NULL on failure. */
char *ttm_arena_bytes(ttm_arena *arena, size_t size);

/* Packed copy of bytes (no alignment, no NUL); NULL on failure. */
char *ttm_arena_copy(ttm_arena *arena, ttm_str bytes);
void ttm_arena_free(ttm_arena *arena);

#endif
