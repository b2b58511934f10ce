/* SPDX-License-Identifier: Apache-2.0 */
/* Marks: the few words by which a line that is no line of the runtime can matter. Most of a log holds none, so that it is enough to look
 * for them in many lines at once. */
#ifndef TTM_PARSE_LOG_MARK_H
#define TTM_PARSE_LOG_MARK_H

#include "base/str.h"

typedef enum ttm_mark {
  TTM_MARK_NONE,
  TTM_MARK_INCIDENT, /* every wording of incident_text.h holds one */
  TTM_MARK_RUNTIME,  /* the bar of `Type | LEVEL | ` */
  TTM_MARK_MODULE,   /* " Module" or " MODULE" of a dump's header and end */
  TTM_MARK_FRAME,    /* `File "` of a Python traceback */
  TTM_MARK_LOGURU,   /* `s) [` behind the date of a loguru line */
} ttm_mark;

/* The first mark at or behind *at, which moves there, or to the end when there is none. `loguru`: whether those count. */
ttm_mark ttm_mark_find(ttm_str text, size_t *at, bool loguru);

#endif
