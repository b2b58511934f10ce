/* SPDX-License-Identifier: Apache-2.0 */
/* Operations, states, tensors and findings as columns, through the Arrow C stream interface: pyarrow, pandas, polars, duckdb and the
 * Arrow libraries of other languages take the buffers as they are. Columns and their meanings: docs/library.md. */
#ifndef TTMEM_TABLE_H
#define TTMEM_TABLE_H

#include "ttmem/findings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The three structs as https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html lay them down. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset;
  int64_t n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};
#endif

typedef enum ttm_table {
  TTM_TABLE_OPERATIONS,
  TTM_TABLE_STATES,
  TTM_TABLE_TENSORS,
  TTM_TABLE_INCIDENTS,
  TTM_TABLE_STATEMENTS,
  TTM_TABLE_FIXES,
  TTM_TABLES,
} ttm_table;

/* "operations", "states", ...; NULL past the last. */
TTM_API const char *ttm_table_name(ttm_table table);

TTM_API uint32_t ttm_table_rows(const ttm_findings *findings, ttm_table table);

/* A stream over the table's rows, in batches of at most 65,536 that are made when asked for and belong to who asked. The stream keeps
 * what it needs of the findings: all may be freed in any order. Several streams may run side by side, each used by one thread at a time.
 * Numbers are int64, texts valid UTF-8 (bytes that are none become U+FFFD), what is unknown is null. The caller releases *out, which it
 * provides. 0, TTM_EUSAGE for no such table, or TTM_ENOMEM. */
TTM_API int ttm_table_stream(const ttm_findings *findings, ttm_table table, struct ArrowArrayStream *out,
                             ttm_error *err);

#ifdef __cplusplus
}
#endif
#endif
