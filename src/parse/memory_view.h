/* SPDX-License-Identifier: Apache-2.0 */
/* `Device DRAM memory state: MemoryView{numBanks: 12, totalBytesPerBank: 1021.169 MB, ...}` */
#ifndef TTM_PARSE_MEMORY_VIEW_H
#define TTM_PARSE_MEMORY_VIEW_H

#include "base/str.h"
#include "ttmem/profile.h"

/* One memory at one moment, per bank, in thousandths of a MB (MiB) as printed. */
typedef struct ttm_level {
  uint32_t banks;
  uint32_t total, allocated, free, largest;
} ttm_level;

/* A printed figure (0.001 MB) in bytes; the true value lies within TTM_LEVEL_SLACK of it. */
enum { TTM_LEVEL_SLACK = 525 };
static inline uint64_t ttm_level_bytes(uint64_t thousandths) { return (thousandths * 1048576 + 500) / 1000; }

/* An allocator's blocks are allocated or free, so the figures of a bank add up to the last digits that are printed. Those of a damaged line do
 * not. */
bool ttm_level_adds_up(const ttm_level *level);

/* The memory named in a message that starts with "Device ", or TTM_MEMORIES when it is no memory line. *rest is what follows
 * "memory state: ". */
ttm_memory ttm_memory_line(ttm_str message, ttm_str *rest);

/* Reads MemoryView{...}; false when it is cut or not one. */
bool ttm_memory_view_parse(ttm_str text, ttm_level *out);

/* Its two halves: up to "totalBytesAllocatedPerBank: ", and the figures that change. Each moves *v behind what it read. */
bool ttm_memory_view_take_size(ttm_str *v, ttm_level *out);
bool ttm_memory_view_take_use(ttm_str *v, ttm_level *out);

#endif
