/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/alloc.h"

enum { BLOCK_BYTES = 64 * 1024 };

struct ttm_arena_block {
  struct ttm_arena_block *next;
  _Alignas(8) char bytes[];
};

char *ttm_arena_bytes(ttm_arena *arena, size_t size) {
  if (size > arena->left || !arena->next) {
    size_t payload = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    if (payload > SIZE_MAX - sizeof(struct ttm_arena_block)) return NULL;
    struct ttm_arena_block *block = ttm_realloc(NULL, sizeof *block + payload);
    if (!block) return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->next = block->bytes;
    arena->left = payload;
  }
  char *out = arena->next;
  arena->next += size;
  arena->left -= size;
  return out;
}

void *ttm_arena_alloc(ttm_arena *arena, size_t size) {
  if (size > SIZE_MAX - 8) return NULL;
  size_t skip = -(uintptr_t)arena->next & 7;
  if (skip && skip <= arena->left) {
    arena->next += skip;
    arena->left -= skip;
  } else if (skip) {
    arena->left = 0;
  }
  return ttm_arena_bytes(arena, size);
}

char *ttm_arena_copy(ttm_arena *arena, ttm_str bytes) {
  char *out = ttm_arena_bytes(arena, bytes.n);
  if (out && bytes.n) memcpy(out, bytes.p, bytes.n);
  return out;
}

void ttm_arena_free(ttm_arena *arena) {
  for (struct ttm_arena_block *b = arena->blocks, *next; b; b = next) {
    next = b->next;
    ttm_free(b);
  }
  *arena = (ttm_arena){0};
}
