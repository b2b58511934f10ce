/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as events over time, in their order, for whatever form they are written in. Times are nanoseconds (times.h). */
#ifndef TTM_REPORT_EXPORT_TRACE_H
#define TTM_REPORT_EXPORT_TRACE_H

#include "analyze/occupancy.h"
#include "base/out_file.h"
#include "report/export/times.h"

typedef enum ttm_track_kind {
  TTM_TRACK_PROGRAMS, /* programs and the operations in them */
  TTM_TRACK_ALLOCATED,
  TTM_TRACK_LARGEST,
  TTM_TRACK_TENSORS,
  TTM_TRACK_KINDS
} ttm_track_kind;

/* Where an event stands: a rank, a kind, for memories which, for tensors which of the lanes that do not overlap. */
typedef struct ttm_track {
  uint32_t rank;
  ttm_track_kind kind;
  ttm_memory memory;
  uint32_t lane;
} ttm_track;

/* What is known of a slice besides its name; zero and empty is left out. */
typedef struct ttm_trace_facts {
  ttm_str place; /* location, or what it is made of */
  uint32_t line;
  uint32_t index; /* of the reports, TTM_NONE */
  uint64_t bytes; /* per bank */
} ttm_trace_facts;

typedef struct ttm_trace_sink ttm_trace_sink;
struct ttm_trace_sink {
  ttm_out *out;
  const ttm_profile *profile;
  const ttm_times *times;
  /* Each track is told before its first event. */
  void (*track)(ttm_trace_sink *sink, ttm_track track);
  void (*begin)(ttm_trace_sink *sink, ttm_track track, uint64_t ns, ttm_str name, const ttm_trace_facts *facts);
  void (*end)(ttm_trace_sink *sink, ttm_track track, uint64_t ns);
  void (*counter)(ttm_trace_sink *sink, ttm_track track, uint64_t ns, uint64_t bytes);
  void (*instant)(ttm_trace_sink *sink, ttm_track track, uint64_t ns, ttm_str name, const ttm_trace_facts *facts);
};

/* "DRAM allocated per bank". */
void ttm_track_name(ttm_buf *out, const ttm_profile *p, ttm_track track);
/* The rank's own, and what time means: "rank 3; 1 us = 1 operation". */
void ttm_track_process(ttm_buf *out, const ttm_trace_sink *sink, uint32_t rank);
/* The same for all events of a track, never 0. */
uint64_t ttm_track_id(ttm_track track);

/* Tells all events. 0 or TTM_ENOMEM. */
int ttm_trace(ttm_trace_sink *sink, const ttm_findings *f);

#endif
