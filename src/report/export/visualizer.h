/* SPDX-License-Identifier: Apache-2.0 */
/* The database that ttnn-visualizer opens. Private to src/report/export: visualizer.c fills its tables, visualizer_graph.c says an operation in
 * the nodes of a graph capture. */
#ifndef TTM_REPORT_EXPORT_VISUALIZER_H
#define TTM_REPORT_EXPORT_VISUALIZER_H

#include "analyze/findings.h"

/* A buffer that is allocated after operations [from, to). */
typedef struct ttm_exported_buffer {
  uint64_t address, bytes; /* of a bank */
  uint32_t from, to;
  uint32_t rank;
  uint32_t tensor; /* TTM_NONE */
  uint32_t row;    /* ttm_buffer of a capture; TTM_NONE */
  uint8_t memory;  /* ttm_memory */
  bool before;     /* it was there when the first operation began */
  uint32_t order;  /* as they came */
} ttm_exported_buffer;

typedef TTM_VEC(ttm_exported_buffer) ttm_exported_buffers;

typedef struct ttm_exported_op {
  const ttm_findings *f;
  uint32_t op;
  const ttm_exported_buffers *all;
  const uint32_t *came, *went; /* of `all`: by this operation */
  size_t came_n, went_n;
  const uint32_t *taken; /* tensors it takes, as far as they have a buffer ... */
  size_t taken_n;
  const uint32_t *buffer_of_tensor; /* ... which this tells; TTM_NONE */
  uint32_t first_event, end_event;  /* of a capture: what it did */
} ttm_exported_op;

/* What the operation is called: a free as ttnn.graph_report calls it, but one in the middle of an operation, behind which that goes on, as that. */
ttm_str ttm_exported_name(const ttm_exported_op *x);
/* DRAM 0, L1 1, L1_SMALL 3, TRACE 4. */
uint32_t ttm_exported_memory(uint8_t memory);
/* Rank and device in the database: the devices of a recording are devices of one rank. */
uint32_t ttm_exported_rank(const ttm_profile *p, uint32_t rank);
uint32_t ttm_exported_device(const ttm_profile *p, uint32_t rank);
/* "Shape([32, 64])", "DataType.BFLOAT16" with `scope` between the two words, "Layout.TILE"; the memory configuration. Nothing where the type does not tell. */
void ttm_exported_shape(ttm_buf *out, const ttm_tensor_type *type);
void ttm_exported_dtype(ttm_buf *out, const ttm_tensor_type *type, const char *scope);
void ttm_exported_layout(ttm_buf *out, const ttm_tensor_type *type, const char *scope);
void ttm_exported_config(ttm_buf *out, const ttm_profile *p, const ttm_exported_buffer *b);

/* The nodes as a JSON array. 0 or TTM_ENOMEM. */
int ttm_exported_graph(ttm_buf *out, const ttm_exported_op *x);

#endif
