/* SPDX-License-Identifier: Apache-2.0 */
/* Which operations capture, replay and release traces. The recorder names the trace in them. */
#include "profile/load/graph.h"

ttm_trace_call ttm_recording_trace(ttm_str function, uint64_t id, uint32_t rank) {
  static const struct {
    const char *name;
    uint8_t step;
  } steps[] = {{"ttnn.begin_trace_capture", TTM_TRACE_BEGIN},
               {"ttnn.end_trace_capture", TTM_TRACE_END},
               {"ttnn.execute_trace", TTM_TRACE_REPLAY},
               {"ttnn.release_trace", TTM_TRACE_RELEASE}};
  ttm_trace_call call = {.id = id, .op = TTM_NONE, .rank = rank};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    if (ttm_str_eq(function, ttm_str_of(steps[i].name))) call.step = steps[i].step;
  return call;
}

int ttm_recording_keep_trace(ttm_capture_loader *l, ttm_trace_call call) {
  bool closed = call.step == TTM_TRACE_CLOSED;
  if (!call.step || (!closed && l->op == TTM_NONE)) return TTM_OK;
  call.op = closed ? (uint32_t)l->profile->ops.n : l->op;
  return ttm_vec_push(&l->profile->capture.traces, call);
}
