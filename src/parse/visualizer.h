/* SPDX-License-Identifier: Apache-2.0 */
/* A report of ttnn-visualizer: the SQLite database that ttnn.graph_report writes (schema 2 to 3.5, and others as far as their columns
 * go), operation by operation. The file is read only and never changed. Rows flow past: what is held is one operation and the buffers that
 * were allocated after it. Total: missing tables and columns are unknown, values of any type are taken for what they can mean. */
#ifndef TTM_PARSE_VISUALIZER_H
#define TTM_PARSE_VISUALIZER_H

#include "parse/capture.h"

typedef struct ttm_visualizer ttm_visualizer;

/* A buffer that was allocated after an operation. */
typedef struct ttm_visualizer_buffer {
  uint64_t address, bank_bytes;
  uint32_t device;
  uint8_t type; /* BufferType of tt-metal: 0 DRAM, 1 L1, 3 L1_SMALL, 4 TRACE */
  bool sharded;
} ttm_visualizer_buffer;

/* Texts live until the next operation. */
typedef struct ttm_visualizer_op {
  uint64_t rank, id;
  ttm_str name;
  ttm_str graph;             /* JSON array of its nodes, empty when not told */
  ttm_str trace;             /* Python stack, innermost call first; empty */
  ttm_str error, error_type; /* empty */
  TTM_VEC(ttm_visualizer_buffer) buffers;
} ttm_visualizer_op;

/* True when bytes that start a file start an SQLite database. */
bool ttm_visualizer_detect(ttm_str first);

/* Opens the file, or `bytes` when `path` is NULL. `sorted`: rows are put in order first, for databases whose tables are not in the order of
 * their operations. TTM_EFORMAT or TTM_ENODATA with a sentence; TTM_EIO, TTM_ENOMEM. */
int ttm_visualizer_open(ttm_visualizer **out, const char *path, ttm_str bytes, bool sorted, ttm_error *err);
void ttm_visualizer_close(ttm_visualizer *v);

/* What stands around the operations: devices, version of ttnn, ranks. */
const ttm_capture_facts *ttm_visualizer_facts(const ttm_visualizer *v);
const char *ttm_visualizer_schema(const ttm_visualizer *v); /* "3.5"; "" when not told */
/* Whether it tells buffers at all: an operation without any then has none. */
bool ttm_visualizer_has_buffers(const ttm_visualizer *v);
/* Whether these are all that the allocator had, and not only what the operations allocated. */
bool ttm_visualizer_has_all_buffers(const ttm_visualizer *v);
/* How far it is, of 1. */
double ttm_visualizer_progress(const ttm_visualizer *v);

/* The next operation; *out is NULL behind the last. */
int ttm_visualizer_next(ttm_visualizer *v, const ttm_visualizer_op **out, ttm_error *err);
/* Behind the last: rows are left whose operation came before them, so that the database must be read sorted. */
bool ttm_visualizer_is_unsorted(const ttm_visualizer *v);

/* The next tensor that the operation takes or gives as a tensor node with everything but counters; false behind the last. */
bool ttm_visualizer_input(ttm_visualizer *v, ttm_capture_node *out);
bool ttm_visualizer_output(ttm_visualizer *v, ttm_capture_node *out);

#endif
