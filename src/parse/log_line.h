/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in front of a log message: colours, rank tags, time stamps, glue from other writers, logger columns. */
#ifndef TTM_PARSE_LOG_LINE_H
#define TTM_PARSE_LOG_LINE_H

#include "base/str.h"

typedef enum ttm_log_severity {
  TTM_SEV_NONE,
  TTM_SEV_TRACE,
  TTM_SEV_DEBUG,
  TTM_SEV_INFO,
  TTM_SEV_WARNING,
  TTM_SEV_ERROR,
  TTM_SEV_FATAL
} ttm_log_severity;

#define TTM_NO_RANK UINT16_MAX

typedef struct ttm_log_line {
  bool runtime;     /* a line of the tt-mlir runtime logger: `Type | LEVEL | message` */
  bool stable;      /* the prefix holds nothing that changes from line to line: worth remembering */
  uint8_t severity; /* ttm_log_severity, of runtime lines */
  uint16_t rank;    /* from a tag like [1,3]<stdout>:, or TTM_NO_RANK */
  ttm_str message;  /* runtime lines: behind the second bar; others: behind rank tag and CI time stamp */
} ttm_log_line;

/* `line` has no line end. Views point into it. Any bytes are fine. */
ttm_log_line ttm_log_line_read(ttm_str line);

/* Two steps of it. What stands behind CI time stamp and rank tag. */
ttm_str ttm_log_line_text(ttm_str line, uint16_t *rank);
/* Whether the " | " at `bar` ends the type of a runtime line; fills `out` but for its rank. */
bool ttm_log_line_bar(ttm_str text, size_t bar, ttm_log_line *out);

/* Length of the terminal escape sequence at p (CSI ... final byte), 0 when there is none. */
size_t ttm_escape_length(ttm_str at);

/* True when the text starts like a line of another logger: `2026-06-19 09:25:30.646 ...`. */
bool ttm_log_line_has_date(ttm_str message);

/* The time stamp that a line begins with, behind colours, a bracket and a rank tag: `2026-06-19 09:25:30.646`, `2025-11-20 20:45:48,508`,
 * `2026-05-14T01:00:31.7554321Z`. Nanoseconds since 1970, as if a stamp without a zone were UTC, and what stands between date and time, by which
 * the clocks of two writers differ. False when there is none. */
bool ttm_log_line_time(ttm_str line, uint64_t *ns, char *between);

/* True for loguru lines of tt-xla: `<date> (   1.854s) [ thread]file:line  1| message`. */
bool ttm_log_line_is_loguru(ttm_str message);

#endif
