/* SPDX-License-Identifier: Apache-2.0 */
/* The operations CSV of tt-metal's profiler (ops_perf_results_*.csv): what ran on a device, when and for how long. */
#ifndef TTM_PARSE_PERF_CSV_H
#define TTM_PARSE_PERF_CSV_H

#include "base/intern.h"
#include "ttmem/error.h"

/* TTM_PERF_UNKNOWN where a column is missing or empty. */
#define TTM_PERF_UNKNOWN UINT64_MAX
typedef struct ttm_perf_row {
  uint32_t code, attributes; /* strings: "BinaryNgDeviceOperation" */
  uint32_t line;
  uint64_t call;             /* GLOBAL CALL COUNT */
  uint64_t device;           /* its id */
  uint64_t host_start;       /* ns, of the host's clock */
  uint64_t fw_start, fw_end; /* cycles of the device */
  uint64_t fw_ns, kernel_ns; /* how long */
} ttm_perf_row;

/* Zero is empty. Signposts and operations of the host are left out. */
typedef struct ttm_perf_csv {
  TTM_VEC(ttm_perf_row) rows;
  ttm_intern strings;
} ttm_perf_csv;

/* 0, TTM_EFORMAT when it is no such file, TTM_EIO or TTM_ENOMEM. Freed with ttm_perf_csv_free in any case. */
int ttm_perf_csv_read(ttm_perf_csv *out, const char *path, ttm_error *err);
int ttm_perf_csv_read_bytes(ttm_perf_csv *out, ttm_str text, ttm_error *err);
void ttm_perf_csv_free(ttm_perf_csv *csv);

#endif
