/* SPDX-License-Identifier: Apache-2.0 */
/* The watching, kept in a file (format: docs/outputs.md, read by parse/live_record.h). Only changes are written, each look with one
 * call, always at the end: a crash costs at most the line that was being written. */
#ifndef TTM_WATCH_RECORDER_H
#define TTM_WATCH_RECORDER_H

#include "base/buf.h"
#include "watch/watch.h"

/* The file never grows beyond this. Every TTM_RECORD_PIECE of it the samples move apart (100 ms, 200 ms, ...); the highest use
 * between two samples is what is written, so that no peak that was seen is lost. */
#define TTM_RECORD_MOST ((uint64_t)64 << 20)
#define TTM_RECORD_PIECE ((uint64_t)8 << 20)

typedef struct ttm_recorder ttm_recorder;

/* Opens or makes the file; one that is there must be a recording, to which this one is added. `unix_ms` is now, since 1970.
 * TTM_EUSAGE for a file that is something else, TTM_EIO, TTM_ENOMEM. */
int ttm_recorder_open(ttm_recorder **out, const char *path, uint64_t unix_ms, uint64_t interval_ms, ttm_error *err);

/* Writes what changed; `ms` since the recorder was opened. TTM_EIO when the disk is full, TTM_ENOMEM. */
int ttm_recorder_take(ttm_recorder *recorder, const ttm_watch *watch, uint64_t ms, ttm_error *err);

/* True once the file has its largest size: later changes are not in it. */
bool ttm_recorder_full(const ttm_recorder *recorder);

/* Marks the end and closes. NULL is fine. */
void ttm_recorder_close(ttm_recorder *recorder, uint64_t ms);

#endif
