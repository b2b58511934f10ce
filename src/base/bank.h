/* SPDX-License-Identifier: Apache-2.0 */
/* tt-metal's bank allocator as far as addresses show: first fit by address, merged on free. Allocation is in lock step, so one bank
 * stands for all of them. Its placement is exact: tests replay traces of the real allocator and compare every free block.
 * Zero-initialise by ttm_bank_init, free with ttm_bank_free. Every call costs the logarithm of the number of free blocks. */
#ifndef TTM_BASE_BANK_H
#define TTM_BASE_BANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

typedef struct ttm_extent {
  uint64_t at, size;
} ttm_extent;

typedef struct ttm_bank {
  uint64_t size, allocated;
  TTM_VEC(struct ttm_bank_node) nodes; /* free blocks: a tree by address that knows the largest block below each node */
  uint32_t root, spare;
} ttm_bank;

/* 0 or TTM_ENOMEM; all of it free. */
int ttm_bank_init(ttm_bank *bank, uint64_t size);
void ttm_bank_free(ttm_bank *bank);
/* Another one in the same state. 0 or TTM_ENOMEM; freed with ttm_bank_free in any case. */
int ttm_bank_copy(ttm_bank *out, const ttm_bank *bank);

/* Takes `size` bytes: of the lowest free block that is large enough, from its start; with `from_top` of the highest one, from its end. False
 * when there is none. Size 0 takes nothing and always succeeds. Sizes are whole blocks: rounded by the caller (ttm_tensor_bank_bytes). */
bool ttm_bank_take(ttm_bank *bank, uint64_t size, bool from_top, uint64_t *at);

/* Gives back what was taken. 0 or TTM_ENOMEM. */
int ttm_bank_give(ttm_bank *bank, uint64_t at, uint64_t size);

static inline uint64_t ttm_bank_room(const ttm_bank *bank) { return bank->size - bank->allocated; }
uint64_t ttm_bank_largest(const ttm_bank *bank);

/* The free blocks by address, into a caller's array of `cap`; returns how many there are. */
size_t ttm_bank_blocks(const ttm_bank *bank, ttm_extent *out, size_t cap);

#endif
