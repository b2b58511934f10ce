/* SPDX-License-Identifier: Apache-2.0 */
/* The memory report of tt-mlir's builder (memory_report.json, an array) and of ttrt --memory (memory_results.json, an object by counter): each
 * operation with the four memories as they are BEHIND it and the allocator's table of blocks. Read as a stream. */
#ifndef TTM_PARSE_MEMORY_REPORT_H
#define TTM_PARSE_MEMORY_REPORT_H

#include "base/vec.h"
#include "parse/json_pull.h"
#include "ttmem/profile.h"

typedef struct ttm_table_block {
  uint64_t address, size;
} ttm_table_block;

typedef struct ttm_memory_report_view {
  bool told; /* else all of it is 0 */
  uint64_t banks, total, allocated, free, largest;
  TTM_VEC(ttm_table_block)
  blocks; /* those that are allocated, by address; `whole` when their sizes add up to `allocated` */
  bool whole;
} ttm_memory_report_view;

/* Zero is empty; the vectors are reused from entry to entry. */
typedef struct ttm_memory_report_entry {
  uint32_t line;
  ttm_buf text; /* "debug_str": the operation as the runtime's log prints it */
  ttm_memory_report_view views[TTM_MEMORIES];
} ttm_memory_report_entry;

/* True when the input begins as one. */
bool ttm_memory_report_detect(ttm_str first);

typedef struct ttm_memory_report_reader {
  ttm_json_pull json;
  bool started, keyed;
} ttm_memory_report_reader;

/* The next entry; false behind the last, or where r->json.error says what is wrong. An entry that is cut is left out. *status: 0 or TTM_ENOMEM. */
bool ttm_memory_report_next(ttm_memory_report_reader *r, ttm_memory_report_entry *out, int *status);
void ttm_memory_report_entry_free(ttm_memory_report_entry *entry);

#endif
