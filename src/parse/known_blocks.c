/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/known_blocks.h"

/* Room for some four thousand operations: more than most programs have, and little beside the profile itself. */
enum { MOST_BYTES = 4 * 1024 * 1024 };

static uint64_t key_of(uint64_t hash, uint16_t rank) { return hash ^ rank * UINT64_C(0x9e3779b97f4a7c15); }

uint32_t ttm_known_blocks_find(const ttm_known_blocks *known, uint64_t hash, uint16_t rank) {
  uint32_t i = ttm_map_get(&known->of_hash, key_of(hash, rank), TTM_NO_BLOCK);
  if (i == TTM_NO_BLOCK) return i;
  const ttm_known_block *block = &known->blocks.at[i];
  return block->hash == hash && block->rank == rank ? i : TTM_NO_BLOCK;
}

static void forget(ttm_known_blocks *known) {
  known->blocks.n = 0;
  ttm_buf_clear(&known->bytes);
  ttm_map_clear(&known->of_hash);
}

uint32_t ttm_known_blocks_add(ttm_known_blocks *known, const ttm_known_block *block, const char *bytes) {
  if (known->bytes.failed || block->n > MOST_BYTES) return TTM_NO_BLOCK;
  if (known->bytes.n + block->n > MOST_BYTES) forget(known);
  ttm_known_block added = *block;
  added.at = (uint32_t)known->bytes.n;
  added.next = TTM_NO_BLOCK;
  ttm_buf_put(&known->bytes, (ttm_str){bytes, block->n});
  uint32_t i = (uint32_t)known->blocks.n;
  if (known->bytes.failed || ttm_vec_push(&known->blocks, added)) return TTM_NO_BLOCK;
  return ttm_map_set(&known->of_hash, key_of(block->hash, block->rank), i) ? TTM_NO_BLOCK : i;
}

void ttm_known_blocks_free(ttm_known_blocks *known) {
  ttm_vec_free(&known->blocks);
  ttm_buf_free(&known->bytes);
  ttm_map_free(&known->of_hash);
}
