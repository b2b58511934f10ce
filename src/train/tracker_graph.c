/* SPDX-License-Identifier: Apache-2.0 */
/* A ttnn graph capture as events of the tracker: what tt-metal's extract_dram_usage and extract_resource_usage_per_core count. */
#include "base/error.h"
#include "l1/core_range.h"
#include "parse/capture.h"
#include "train/live_buffers.h"
#include "ttmem/tracker.h"

typedef struct replay {
  ttm_tracker *tracker;
  ttm_live_buffers buffers; /* `buffer` nodes by counter: a free names one of them */
  ttm_core_set cores;
  TTM_VEC(ttm_tracker_cores) ranges;
} replay;

static bool is_dram(ttm_str type) { return ttm_str_eq(type, TTM_LIT("DRAM")); }

static int remember_buffer(replay *r, const ttm_capture_node *node) {
  ttm_live_buffer old;
  uint64_t counter = (uint64_t)node->counter;
  if (!node->has_counter) return TTM_OK;
  ttm_live_buffers_take(&r->buffers, counter, &old);
  return ttm_live_buffers_add(&r->buffers, counter, is_dram(node->text[TTM_PARAM_TYPE]) ? TTM_DRAM : TTM_L1,
                              ttm_node_get(node, TTM_PARAM_SIZE, 0));
}

/* DRAM counts by the size of the whole buffer, L1 by that of a bank. */
static void allocate(replay *r, const ttm_capture_node *node) {
  if (is_dram(node->text[TTM_PARAM_TYPE]))
    ttm_tracker_allocated(r->tracker, TTM_DRAM, ttm_node_get(node, TTM_PARAM_SIZE, 0));
  else
    ttm_tracker_allocated(r->tracker, TTM_L1, ttm_node_get(node, TTM_PARAM_PER_BANK, 0));
}

static void deallocate(replay *r, const ttm_capture_node *node) {
  uint64_t named = node->connections.n ? (uint64_t)node->connections.at[0] : UINT64_MAX;
  const ttm_live_buffer *buffer = ttm_live_buffers_find(&r->buffers, named);
  if (buffer && buffer->memory == TTM_DRAM)
    ttm_tracker_deallocated(r->tracker, TTM_DRAM, buffer->bytes);
  else if (!is_dram(node->text[TTM_PARAM_TYPE]))
    ttm_tracker_deallocated(r->tracker, TTM_L1, ttm_node_get(node, TTM_PARAM_PER_BANK, 0));
}

/* The ranges of the node; none when they cannot be read, which counts as every core. */
static int read_ranges(replay *r, ttm_str text) {
  r->cores.n = r->ranges.n = 0;
  int status = ttm_core_set_parse(text, &r->cores);
  if (status) return status == TTM_ENOMEM ? status : TTM_OK;
  for (size_t i = 0; i < r->cores.n; i++) {
    ttm_core_range c = r->cores.at[i];
    if (c.x1 >= TTM_TRACKER_CORE_LIMIT || c.y1 >= TTM_TRACKER_CORE_LIMIT) return r->ranges.n = 0, TTM_OK;
    if (ttm_vec_push(&r->ranges, (ttm_tracker_cores){c.x0, c.y0, c.x1, c.y1})) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int place(replay *r, const ttm_capture_node *node, ttm_program_buffer kind, uint64_t borrows) {
  if (borrows) return TTM_OK;
  if (read_ranges(r, node->text[TTM_PARAM_CORES])) return TTM_ENOMEM;
  return ttm_tracker_program_buffer(r->tracker, kind, ttm_node_get(node, TTM_PARAM_SIZE, 0), r->ranges.at, r->ranges.n,
                                    NULL);
}

static int take(replay *r, const ttm_capture_node *node) {
  switch (node->type) {
    case TTM_NODE_BUFFER:
      return remember_buffer(r, node);
    case TTM_NODE_BUFFER_ALLOCATE:
      return allocate(r, node), TTM_OK;
    case TTM_NODE_BUFFER_DEALLOCATE:
      return deallocate(r, node), TTM_OK;
    case TTM_NODE_CIRCULAR_BUFFER:
      return place(r, node, TTM_CIRCULAR_BUFFER, ttm_node_get(node, TTM_PARAM_GLOBAL, 0));
    case TTM_NODE_DATAFLOW_BUFFER:
      return place(r, node, TTM_DATAFLOW_BUFFER, ttm_node_get(node, TTM_PARAM_BORROWS, 0));
    case TTM_NODE_SCRATCHPAD:
      return place(r, node, TTM_SCRATCHPAD, 0);
    case TTM_NODE_PROGRAM_FREE:
      return ttm_tracker_program_buffers_deallocated(r->tracker), TTM_OK;
    default:
      return TTM_OK;
  }
}

int ttm_tracker_graph(ttm_tracker *tracker, const char *json, size_t n, ttm_error *err) {
  replay r = {.tracker = tracker};
  ttm_capture_reader reader;
  const ttm_capture_node *node;
  int status = TTM_OK;
  ttm_capture_init(&reader, NULL, (ttm_str){n ? json : "", n});
  while (!status && (node = ttm_capture_next(&reader))) status = take(&r, node);
  if (!status && reader.cut) status = reader.json.status == TTM_ENOMEM ? TTM_ENOMEM : TTM_EFORMAT;
  if (status == TTM_ENOMEM) ttm_error_nomem(err);
  if (status == TTM_EFORMAT) {
    ttm_error_set(err, TTM_EFORMAT, "the graph capture is broken at line %llu (%s); what stands before it was counted",
                  (unsigned long long)reader.json.line, reader.json.error ? reader.json.error : "it ends early");
  }
  ttm_capture_free(&reader);
  ttm_live_buffers_free(&r.buffers);
  ttm_vec_free(&r.cores);
  ttm_vec_free(&r.ranges);
  return status;
}
