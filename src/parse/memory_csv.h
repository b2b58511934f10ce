/* SPDX-License-Identifier: Apache-2.0 */
/* The memory reports that ttnn.dump_device_memory_state and EnableMemoryReports write (memory_reporter.cpp): three CSV files, with or
 * without a prefix, and their program_ twins. Line by line; any bytes are fine. */
#ifndef TTM_PARSE_MEMORY_CSV_H
#define TTM_PARSE_MEMORY_CSV_H

#include "base/str.h"

typedef enum ttm_csv_kind {
  TTM_CSV_NONE,
  TTM_CSV_SUMMARY,  /* memory_usage_summary.csv: per bank; DRAM, L1, L1_SMALL take turns */
  TTM_CSV_L1,       /* l1_usage_summary.csv */
  TTM_CSV_DETAILED, /* detailed_memory_usage.csv: totals over all banks, and the blocks of one bank */
} ttm_csv_kind;

/* Which report starts with this line; TTM_CSV_NONE for any other. */
ttm_csv_kind ttm_csv_kind_of(ttm_str first_line);

typedef enum ttm_csv_row_kind {
  TTM_CSV_OTHER,
  TTM_CSV_VALUES, /* summary: allocatable, allocated, free, largest; l1: largest, total */
  TTM_CSV_MEMORY, /* detailed: a memory's part begins */
  TTM_CSV_TOTAL,  /* detailed: "Total allocatable", "... allocated", "... free" (which 0, 1, 2) */
  TTM_CSV_BLOCK,  /* detailed: a block; address counts from the start of the bank */
} ttm_csv_row_kind;

typedef struct ttm_csv_row {
  ttm_csv_row_kind kind;
  ttm_str program; /* program id before the first column; often empty */
  ttm_str memory;  /* "DRAM", "L1", "L1_SMALL" */
  uint64_t value[4];
  size_t values;
  unsigned which;
  uint64_t address, size;
  bool allocated;
} ttm_csv_row;

/* TTM_CSV_OTHER (false) for headers, free lists and anything not understood. */
bool ttm_csv_row_read(ttm_csv_kind kind, ttm_str line, ttm_csv_row *out);

#endif
