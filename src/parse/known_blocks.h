/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks seen before. A compiled program prints the same lines in every run: the operation line, the header of its memory block
 * and the DRAM line up to its first changing figure. Knowing the bytes, and which block followed which, turns three lines into
 * one comparison: no line ends to look for, nothing to hash. Only speed depends on what is known, never a result. */
#ifndef TTM_PARSE_KNOWN_BLOCKS_H
#define TTM_PARSE_KNOWN_BLOCKS_H

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"

#define TTM_NO_BLOCK UINT32_MAX

/* A run of bytes inside a block, counted from the block's start. */
typedef struct ttm_block_part {
  uint32_t at, end;
} ttm_block_part;

typedef struct ttm_known_block {
  uint32_t at, n; /* its bytes in ttm_known_blocks.bytes */
  ttm_block_part op_line, op_text, header_line, header_text;
  /* Where the line and its MemoryView{ start; the block ends before "allocated"'s figure. */
  uint32_t dram_line, dram_view;
  uint32_t banks, total; /* of that view */
  uint32_t next;         /* the block that came after it last time, or TTM_NO_BLOCK */
  uint16_t rank;
  uint8_t debug_lines; /* of its three */
  uint8_t op_kind;     /* by its header */
  uint64_t hash;       /* of op_text */
} ttm_known_block;

/* Zero is empty. */
typedef struct ttm_known_blocks {
  TTM_VEC(ttm_known_block) blocks;
  ttm_buf bytes;
  ttm_map of_hash;
} ttm_known_blocks;

/* The block of an operation text, or TTM_NO_BLOCK. */
uint32_t ttm_known_blocks_find(const ttm_known_blocks *known, uint64_t hash, uint16_t rank);
/* Adds a block whose bytes start at `bytes`; forgets all others when there is no room left. Its position, or TTM_NO_BLOCK when
 * there is no memory: that only costs speed. */
uint32_t ttm_known_blocks_add(ttm_known_blocks *known, const ttm_known_block *block, const char *bytes);
void ttm_known_blocks_free(ttm_known_blocks *known);

#endif
