/* SPDX-License-Identifier: Apache-2.0 */
/* The boards and what their allocator sees: one table for every part of the program that reasons about memory sizes. Where each value comes
 * from stands beside it in boards.c. All figures are of ONE chip; a mesh allocates in lock step, so its banks are those of one chip. */
#ifndef TTM_BASE_BOARDS_H
#define TTM_BASE_BOARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

typedef enum ttm_arch_id { TTM_ARCH_GRAYSKULL, TTM_ARCH_WORMHOLE, TTM_ARCH_BLACKHOLE, TTM_ARCHES } ttm_arch_id;

typedef struct ttm_arch {
  const char *name;              /* "Wormhole" */
  uint32_t l1_bytes;             /* of one core, everything included: the "max L1 size" of error messages */
  uint32_t l1_align, dram_align; /* pages; dram_align is also the allocator's block alignment in every memory */
  uint64_t dram_view_bytes;      /* one DRAM bank before anything is reserved; 0 when not known */
  uint32_t dram_reserved;        /* what the runtime keeps at the start of each bank, builds without Tracy */
  uint32_t dram_reserved_tracy;  /* the same with Tracy (profiler buffers) */
  uint32_t circular_buffers;     /* per core */
  uint32_t kernel_config;        /* bytes of the ring that holds a program's kernels, below the L1 base */
} ttm_arch;

extern const ttm_arch ttm_arches[TTM_ARCHES];

typedef struct ttm_board {
  const char *name; /* "n150" */
  ttm_arch_id arch;
  uint32_t chips;
  uint32_t dram_banks;
  uint32_t grid_x, grid_y; /* compute grid as the runtime opens it by default: fast dispatch, one command queue */
  uint32_t l1_banks;       /* grid_x * grid_y */
} ttm_board;

enum { TTM_BOARDS = 7 };
extern const ttm_board ttm_boards[TTM_BOARDS];

/* By name, any case, "wormhole_b0" too; TTM_ARCHES when there is none. */
ttm_arch_id ttm_arch_find(ttm_str name);

/* By name, any case; NULL when there is none. */
const ttm_board *ttm_board_find(ttm_str name);

/* TTM_EUSAGE: there is no such board; there are these. `or_else` is what else would do: ", or the path of ..."; "". */
int ttm_board_unknown(ttm_str name, const char *or_else, ttm_error *err);

/* Bytes of a DRAM bank that tensors may use. `trace_region` is what was asked for at device open, in total (0: none). */
uint64_t ttm_board_dram_bank(const ttm_board *board, uint64_t trace_region, bool tracy);
/* The TRACE memory of each bank for that request. */
uint64_t ttm_board_trace_bank(const ttm_board *board, uint64_t trace_region);

/* Bytes of an L1 bank that tensors may use: behind the base, before L1_SMALL. */
uint64_t ttm_board_l1_bank(const ttm_board *board, uint32_t l1_base, uint64_t l1_small);

/* ---- The base of L1 by software version ------------------------------------------------------------------------------ */

/* Where circular buffers begin and down to which tensors may grow; below it are firmware, mailboxes and kernel configuration. */
typedef struct ttm_l1_base {
  const char *since;            /* first release with it: "0.67" */
  uint32_t wormhole, blackhole; /* 0 when not known */
  uint32_t grayskull;           /* 0 after 0.57, which was its last */
} ttm_l1_base;

enum { TTM_L1_BASES = 22 };
extern const ttm_l1_base ttm_l1_bases[TTM_L1_BASES]; /* oldest first */

/* The base for a version text such as "0.81.1", "v0.67.1-rc17"; 0 when it is older than the table or no version. */
uint32_t ttm_l1_base_of(ttm_arch_id arch, ttm_str version);
/* The newest base of the table: what to take (and to say so) when nothing tells the version. */
uint32_t ttm_l1_base_newest(ttm_arch_id arch);
/* The largest worker_l1_size that leaves `config` bytes to the kernel config buffer; 0 when there is none. */
uint64_t ttm_worker_l1_beside(ttm_arch_id arch, uint64_t config);

/* ---- Guessing back ----------------------------------------------------------------------------------------------------- */

/* The architecture whose cores have that much L1, as the "beyond max L1 size" message prints it; TTM_ARCHES when none has. */
ttm_arch_id ttm_arch_by_l1_bytes(uint64_t l1_bytes);
/* The architecture by DRAM banks of a chip: 12 Wormhole, 7 and 8 Blackhole; TTM_ARCHES otherwise. */
ttm_arch_id ttm_arch_by_dram_banks(uint64_t banks);

#endif
