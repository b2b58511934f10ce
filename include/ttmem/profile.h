/* SPDX-License-Identifier: Apache-2.0 */
/* A profile: everything ttmem knows of one run, read once from a log.
 * The caller owns a ttm_profile and frees it; what accessors return is borrowed and lives as long as the profile.
 * A profile is read-only and may be used by several threads at once. */
#ifndef TTMEM_PROFILE_H
#define TTMEM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ttmem/error.h"
#include "ttmem/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttm_profile ttm_profile;

/* "No such row", wherever a row of another table is named. */
#define TTM_NONE UINT32_MAX
/* A number that is not known. */
#define TTM_UNKNOWN UINT64_MAX

/* The four memories of a device, in the order the log prints them. */
typedef enum ttm_memory { TTM_DRAM, TTM_L1, TTM_L1_SMALL, TTM_TRACE, TTM_MEMORIES } ttm_memory;

/* "DRAM", "L1", "L1_SMALL", "TRACE". */
TTM_API const char *ttm_memory_name(ttm_memory memory);

/* One memory at one moment, in bytes of ONE bank; a log prints 0.001 MB, so the last 500 bytes are not known. */
typedef struct ttm_memory_use {
  uint64_t banks;                                   /* their number; TTM_UNKNOWN, and all of the rest, when not told */
  uint64_t capacity, allocated, free, largest_free; /* largest_free: the largest block that is free in one piece */
} ttm_memory_use;

/* How far reading has come; `total_bytes` is 0 for pipes and compressed input's own size otherwise unknown. */
typedef struct ttm_progress {
  uint64_t read_bytes;  /* of the input as stored */
  uint64_t total_bytes; /* of the input as stored, 0 when unknown */
  uint64_t operations;
} ttm_progress;

/* Start from TTM_READ_OPTIONS_INIT, which holds the defaults. */
typedef struct ttm_read_options {
  size_t size;      /* of this struct as the caller knows it */
  unsigned threads; /* scanning threads; 0, the default: one per processor, at most 8 */
  bool keep_ir;     /* keep the TTIR and TTNN texts (compressed) for reports that show them; default true */
  /* Called about ten times a second, by the thread that reads; NULL by default. Anything but 0 ends the reading with TTM_ECANCELED. */
  int (*on_progress)(void *context, const ttm_progress *progress);
  void *context;
} ttm_read_options;
#define TTM_READ_OPTIONS_INIT \
  { sizeof(ttm_read_options), 0, true, NULL, NULL }

/* Reads a runtime log, a ttnn graph capture or a recording, plain, .gz or .zst, each detected from content; "-" is standard input.
 * 0 and *out on success, also for logs that hold only error messages. TTM_ENODATA when the input holds nothing to report on:
 * err->message then says what is missing and how to get it. `err` may be NULL, here and everywhere. */
TTM_API int ttm_profile_read(ttm_profile **out, const char *path, ttm_error *err);

/* The same with options; NULL options are the defaults. */
TTM_API int ttm_profile_read_opts(ttm_profile **out, const char *path, const ttm_read_options *options, ttm_error *err);

/* Reads a log that is already in memory (plain text). `bytes` may be NULL when n is 0. */
TTM_API int ttm_profile_read_bytes(ttm_profile **out, const char *bytes, size_t n, const ttm_read_options *options,
                                   ttm_error *err);

/* NULL is fine. What was made from the profile (findings, streams of tables) keeps what it needs of it. */
TTM_API void ttm_profile_free(ttm_profile *profile);

/* Operations that are elements of the reports (deallocations and get_device are not). */
TTM_API uint64_t ttm_profile_operation_count(const ttm_profile *profile);

/* ---- A log that is still being written ------------------------------------------------------------------------------- */

/* A profile fed piece by piece: push bytes as they come, ask at any moment how memory stands, get the profile at the end. It is the one
 * that ttm_profile_read gives for the same bytes. For logs only, not for graph captures. One thread at a time. */
typedef struct ttm_feed ttm_feed;

/* What is known after the last whole line. Start from TTM_FEED_INFO_INIT. */
typedef struct ttm_feed_info {
  size_t size; /* of this struct as the caller knows it */
  uint64_t bytes, lines;
  uint64_t operations; /* that reports count */
  uint64_t incidents;
  ttm_memory_use now[TTM_MEMORIES]; /* the last state; banks TTM_UNKNOWN before the first */
  uint64_t peak[TTM_MEMORIES];      /* highest allocated, bytes per bank; TTM_UNKNOWN likewise */
} ttm_feed_info;
#define TTM_FEED_INFO_INIT \
  { .size = sizeof(ttm_feed_info) }

/* `name` names the log in messages and reports. Of `options` only keep_ir counts; NULL: the defaults. 0, TTM_EUSAGE or TTM_ENOMEM. */
TTM_API int ttm_feed_begin(ttm_feed **out, const char *name, const ttm_read_options *options, ttm_error *err);
/* Takes any bytes; a line may come in pieces. 0 or TTM_ENOMEM, after which the feed is only good for ttm_feed_free. */
TTM_API int ttm_feed_put(ttm_feed *feed, const char *bytes, size_t n, ttm_error *err);
/* 0, or TTM_EUSAGE for a struct without its size. */
TTM_API int ttm_feed_get(const ttm_feed *feed, ttm_feed_info *out, ttm_error *err);
/* The log is over. Frees the feed in every case. 0 and *out, or TTM_ENODATA with the reason, as ttm_profile_read. */
TTM_API int ttm_feed_end(ttm_feed *feed, ttm_profile **out, ttm_error *err);
/* Gives up; NULL is fine. */
TTM_API void ttm_feed_free(ttm_feed *feed);

#ifdef __cplusplus
}
#endif
#endif
