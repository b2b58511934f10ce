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
  uint64_t cores;
  uint64_t trace;                              /* id of the trace that it is part of */
  uint64_t ideal_ns, compute_ns, bandwidth_ns; /* by the performance model; 1 where it knows nothing */
  double fpu_pct, dram_pct;                    /* of what the cores and DRAM allow; below 0 when not told */
} ttm_perf_row;

/* How long it ran; at most a quarter of what fits, so that sums do. */
static inline uint64_t ttm_perf_row_ns(const ttm_perf_row *row) {
  uint64_t ns = row->fw_ns == TTM_PERF_UNKNOWN ? row->kernel_ns : row->fw_ns;
  return ns < UINT64_MAX / 4 ? ns : 0;
}

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
