/* SPDX-License-Identifier: Apache-2.0 */
/* The live file of a chip: since 0.70 every ttnn process keeps its use in /dev/shm/tt_device_<asic id>_memory
 * (tt_metal/impl/memory_tracking/memory_stats_shm.hpp, layout version 3). Numbers are Buffer::size() over all banks: logical, without
 * the padding of pages to banks. There is no lock and no sequence number in it: who wants a consistent copy compares two.
 *
 * Real files show two numbers to be wrong: the per-chip counters keep what killed processes held for ever, so they are believed only where they add up
 * to what the living hold; the total of circular buffers is that of the process that wrote last. */
#ifndef TTM_PARSE_SHM_SEGMENT_H
#define TTM_PARSE_SHM_SEGMENT_H

#include "base/str.h"

/* What a chip's memory is used for; the first four are those of ttm_memory, in its order. Circular buffers lie in L1. */
typedef enum ttm_use { TTM_USE_DRAM, TTM_USE_L1, TTM_USE_L1_SMALL, TTM_USE_TRACE, TTM_USE_CB, TTM_USES } ttm_use;

enum { TTM_SHM_BYTES = 8576, TTM_SHM_SLOTS = 64, TTM_SHM_CHIPS = 16, TTM_SHM_NAME = 64, TTM_SHM_VERSION = 3 };

/* One process that has allocated on the chip; it frees its slot when it closes the device, and cannot when it is killed. */
typedef struct ttm_shm_slot {
  int32_t pid;
  uint64_t bytes[TTM_USES];
  uint64_t updated_ns; /* of its last change, since 1970 */
  char name[TTM_SHM_NAME + 1];
} ttm_shm_slot;

/* A chip that the file counts: its own, or a remote one that is reached through it. */
typedef struct ttm_shm_chip {
  uint32_t chip_id;
  bool remote;
  uint64_t bytes[TTM_USES];
} ttm_shm_chip;

typedef struct ttm_shm_segment {
  uint32_t version, device_id;
  uint64_t asic_id;
  uint64_t total[TTM_USES]; /* of all processes, killed ones included; TTM_USE_CB: of the last writer only */
  uint32_t chip_count;
  ttm_shm_chip chips[TTM_SHM_CHIPS];
  uint32_t slot_count;
  ttm_shm_slot slots[TTM_SHM_SLOTS]; /* the taken ones, in the file's order */
} ttm_shm_segment;

typedef enum ttm_shm_fault {
  TTM_SHM_FINE,
  TTM_SHM_SHORT,         /* fewer bytes than the layout has */
  TTM_SHM_UNSET,         /* made, but not filled in yet */
  TTM_SHM_OTHER_VERSION, /* out->version says which */
  TTM_SHM_IMPOSSIBLE,    /* numbers no chip can have */
} ttm_shm_fault;

/* Takes any bytes. *out is all zero unless they are fine (version is set where it could be read). */
ttm_shm_fault ttm_shm_segment_read(ttm_shm_segment *out, ttm_str bytes);

/* The number in "tt_device_<number>_memory"; false for any other name. */
bool ttm_shm_file_name(ttm_str name, uint64_t *asic_id);

/* "DRAM", "L1", "L1_SMALL", "TRACE", "CB". */
const char *ttm_use_name(ttm_use use);
/* The same in the small letters of options and labels: "dram", "l1", "l1_small", "trace", "cb". */
const char *ttm_use_key(ttm_use use);

#endif
