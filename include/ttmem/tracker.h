/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a training run, phase by phase: begin a capture, say what is allocated and freed, take a snapshot at the end
 * of each phase, end the capture, ask or print. Life cycle, words, numbers and printed text are those of tt-train's
 * MemoryUsageTracker.
 *
 * The caller owns a ttm_tracker and frees it. Any thread may call anything on it at any time, except freeing it; it has no
 * global state, so there may be many. Recording an event takes one uncontended lock and allocates nothing once the table of
 * live buffers has reached its size. Outside a capture events are not recorded. `err` may be NULL everywhere. */
#ifndef TTMEM_TRACKER_H
#define TTMEM_TRACKER_H

#include "ttmem/profile.h"
#include "ttmem/str.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttm_tracker ttm_tracker;

/* NO_DISPATCH: nothing is really allocated, so that models larger than the device can be measured. The tracker records both
 * alike and remembers which it was. */
typedef enum ttm_run_mode { TTM_RUN_NORMAL, TTM_RUN_NO_DISPATCH } ttm_run_mode;

/* DRAM of one phase in bytes, relative to the phase's start (which the capture takes as 0). */
typedef struct ttm_dram_usage {
  int64_t peak; /* never below 0 */
  int64_t total_allocations;
  int64_t total_deallocations;
} ttm_dram_usage;

/* L1 of one core in one phase, in bytes. The first five are tt-metal's: buffers of a program are summed whatever cores they
 * are on, and L1 tensors of earlier phases are not seen. peak_core is what they leave out. */
typedef struct ttm_l1_usage {
  int64_t peak_cb;
  int64_t peak_l1;
  int64_t peak_total;
  int64_t peak_dataflow_buffer;
  int64_t peak_scratchpad;
  int64_t peak_core; /* most loaded core: program buffers by core range, plus every L1 tensor alive in the capture */
} ttm_l1_usage;

/* One phase, as printed. `name` lives as long as the tracker. */
typedef struct ttm_phase_usage {
  const char *name;
  ttm_run_mode mode;
  ttm_dram_usage dram;
  ttm_l1_usage l1;
  int64_t cumulative_peak;    /* DRAM since the first phase */
  int64_t cumulative_current; /* DRAM at the end of this phase */
  uint64_t events;
  uint64_t unknown_deallocations; /* of buffers allocated before the capture: their sizes are not known */
} ttm_phase_usage;

/* 0 or TTM_ENOMEM. */
TTM_API int ttm_tracker_new(ttm_tracker **out, ttm_error *err);
/* NULL is fine. No other thread may still use it. */
TTM_API void ttm_tracker_free(ttm_tracker *tracker);

/* ---- Life cycle ---------------------------------------------------------------------------------------------------- */

/* Phases of an earlier capture stay until ttm_tracker_clear. TTM_EUSAGE when a capture is active. */
TTM_API int ttm_tracker_begin(ttm_tracker *tracker, ttm_run_mode mode, ttm_error *err);

/* Ends the phase under this name and starts the next one. Several phases may share a name. TTM_EUSAGE when no capture is
 * active. */
TTM_API int ttm_tracker_snapshot(ttm_tracker *tracker, const char *name, ttm_error *err);

/* Ends the last phase and the capture; a NULL name is "END_TRACE". Does nothing when no capture is active. */
TTM_API int ttm_tracker_end(ttm_tracker *tracker, const char *name, ttm_error *err);

/* Forgets every phase and ends an active capture without one. */
TTM_API void ttm_tracker_clear(ttm_tracker *tracker);

TTM_API bool ttm_tracker_active(ttm_tracker *tracker);

/* ---- Events -------------------------------------------------------------------------------------------------------- */

/* A buffer by its size. DRAM and TRACE count as DRAM in bytes of the whole device; L1 and L1_SMALL as L1 in bytes of one
 * bank. Sums stop at the ends of int64_t. */
TTM_API void ttm_tracker_allocated(ttm_tracker *tracker, ttm_memory memory, uint64_t bytes);
TTM_API void ttm_tracker_deallocated(ttm_tracker *tracker, ttm_memory memory, uint64_t bytes);

/* A buffer by an id of the caller's choice: its size is remembered until it is freed, also across phases. An id that is
 * allocated again without having been freed counts as freed first (an address handed out anew). 0 or TTM_ENOMEM. */
TTM_API int ttm_tracker_buffer_allocated(ttm_tracker *tracker, uint64_t id, ttm_memory memory, uint64_t bytes,
                                         ttm_error *err);
/* Frees what was allocated under the id; an id never seen is counted in unknown_deallocations. */
TTM_API void ttm_tracker_buffer_deallocated(ttm_tracker *tracker, uint64_t id);

/* What a program places in L1 of its cores. */
typedef enum ttm_program_buffer {
  TTM_CIRCULAR_BUFFER,
  TTM_DATAFLOW_BUFFER,
  TTM_SCRATCHPAD,
  TTM_PROGRAM_BUFFERS
} ttm_program_buffer;

/* Cores x0..x1, y0..y1, both ends included; coordinates below TTM_TRACKER_CORE_LIMIT. */
typedef struct ttm_tracker_cores {
  uint32_t x0, y0, x1, y1;
} ttm_tracker_cores;
enum { TTM_TRACKER_CORE_LIMIT = 32 };

/* `bytes` on each core of the ranges, which must not overlap; no ranges: on every core. Buffers that borrow memory (globally allocated ones) are not to be reported.
 * TTM_EUSAGE for a range that is none. */
TTM_API int ttm_tracker_program_buffer(ttm_tracker *tracker, ttm_program_buffer kind, uint64_t bytes,
                                       const ttm_tracker_cores *cores, size_t ranges, ttm_error *err);
/* The program is over: all three kinds are free. */
TTM_API void ttm_tracker_program_buffers_deallocated(ttm_tracker *tracker);

/* A ttnn graph capture as JSON: the array of end_graph_capture or the report of end_graph_capture_to_file, of any version since
 * 2024. Its buffers and programs are recorded as if reported one by one, with the sizes tt-metal's extractors count. 0, TTM_ENOMEM,
 * or TTM_EFORMAT for text that breaks off or is no JSON; what stands before the break counts. `json` is borrowed for the call. */
TTM_API int ttm_tracker_graph(ttm_tracker *tracker, const char *json, size_t n, ttm_error *err);

/* ---- Answers ------------------------------------------------------------------------------------------------------- */

/* How many phases have ended, and one of them: 0 or TTM_EUSAGE for an index past the end. */
TTM_API size_t ttm_tracker_phase_count(ttm_tracker *tracker);
TTM_API int ttm_tracker_phase(ttm_tracker *tracker, size_t index, ttm_phase_usage *out, ttm_error *err);

/* The phase of this name. TTM_ENODATA when there is none, TTM_EUSAGE when several share the name. */
TTM_API int ttm_tracker_find(ttm_tracker *tracker, const char *name, ttm_phase_usage *out, ttm_error *err);

/* tt-train's summary, byte for byte ("WARNING: No traces captured" without phases). NUL-terminated, freed with
 * ttm_text_free; NULL when memory ran out. */
TTM_API char *ttm_tracker_text(ttm_tracker *tracker);

#ifdef __cplusplus
}
#endif
#endif
