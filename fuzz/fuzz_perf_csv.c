/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the operations CSV of tt-metal's profiler, and each line of them as one with a time stamp. */
#include "fuzz.h"

#include "parse/log_line.h"
#include "parse/perf_csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_str text = {(const char *)data, size};
  ttm_perf_csv csv;
  ttm_error err;
  uint64_t ns;
  char between;
  if (!ttm_perf_csv_read_bytes(&csv, text, &err) && !csv.rows.n) abort();
  for (size_t i = 0; i < csv.rows.n; i++)
    if (!ttm_intern_get(&csv.strings, csv.rows.at[i].code).n || !csv.rows.at[i].line) abort();
  ttm_perf_csv_free(&csv);
  while (text.n) {
    if (ttm_log_line_time(ttm_str_take_to(&text, '\n'), &ns, &between) && between != 'T' && between != ' ') abort();
  }
  return 0;
}
