/* SPDX-License-Identifier: Apache-2.0 */
/* Which board a chip belongs to: the live file does not say, so the driver or the processes on it are asked. */
#ifndef TTM_WATCH_CHIP_BOARD_H
#define TTM_WATCH_CHIP_BOARD_H

#include "base/boards.h"
#include "base/buf.h"

/* By a name of the driver or of a cluster descriptor: "n300", "p150a", "ubb" (a Galaxy). NULL when the table has none. */
const ttm_board *ttm_chip_board_named(ttm_str name);

/* What the driver says (/sys/class/tenstorrent, `sysfs` in tests) when all cards are of one kind, NULL otherwise. */
const ttm_board *ttm_chip_board_of_driver(const char *sysfs);

/* The mock board a process runs on (TT_METAL_MOCK_CLUSTER_DESC_PATH), NULL when it runs on none we know. */
const ttm_board *ttm_chip_board_of_process(int32_t pid);

#endif
