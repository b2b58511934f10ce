/* SPDX-License-Identifier: Apache-2.0 */
/* What the watching of chips found, for a person, a script and Prometheus. */
#ifndef TTM_REPORT_WATCH_REPORT_H
#define TTM_REPORT_WATCH_REPORT_H

#include "base/buf.h"
#include "watch/alarm.h"
#include "watch/watch.h"

/* {"schema_version": 1, "seconds": 1.204, "devices": [...]}, one line. `seconds` since the watching began; below 0 there are none: a
 * single look. */
void ttm_watch_json(ttm_buf *out, const ttm_watch *watch, double seconds);

/* How the text looks, and what of it is wanted. */
typedef struct ttm_watch_view {
  bool utf8, color;
  size_t columns;
  ttm_use sort;       /* the device and the process that hold most of it first; TTM_USES: by their numbers */
  ttm_use history;    /* a line of its course of the last minute; TTM_USES: none */
  const char *filter; /* only devices and processes whose name or number holds this text; "" or NULL: all */
  bool once;          /* a single look: no peaks; the dead slots of idle devices are listed */
  bool hide_idle;     /* devices nobody uses are left out; otherwise they come last, on one line */
  bool hide_mock;     /* those of mock boards are left out on a machine that has a real one */
} ttm_watch_view;

/* Every device with its memories and processes, some ten lines each. 0 or TTM_ENOMEM. */
int ttm_watch_text(ttm_buf *out, const ttm_watch *watch, const ttm_watch_view *view);

/* "t=12.300 device=0 asic=7 dram=8388608 ... processes=1 dead=0": one device on one line. */
void ttm_watch_line(ttm_buf *out, const ttm_watch_device *device, double seconds);

/* The same as CSV: a row for each device, then one for each of its processes; `head` puts the names of the columns first. */
void ttm_watch_csv(ttm_buf *out, const ttm_watch_device *device, double seconds, bool head);

/* The text format of Prometheus, version 0.0.4, or OpenMetrics 1.0.0. */
void ttm_watch_metrics(ttm_buf *out, const ttm_watch *watch, bool open_metrics);
/* Their media types. */
extern const char ttm_metrics_type[], ttm_open_metrics_type[];
/* True when a request with this Accept header (NULL: none) prefers OpenMetrics. */
bool ttm_open_metrics_wanted(const char *accept);

/* Why there is nothing to see, and what to do about it: when no device is known. */
void ttm_watch_nothing(ttm_buf *out, const ttm_watch *watch);

/* "n150 (mock board)", or what to say so that the capacity is known. */
void ttm_watch_board_words(ttm_buf *out, const ttm_watch_device *device);

/* One line for each file that is not believed, each with `margin` before it. */
void ttm_watch_problems(ttm_buf *out, const ttm_watch *watch, const char *margin, bool utf8);

/* "alarm: device 0: DRAM at 91.3 % (11.2 GB of 12.0 GB), above 90 %; largest process: python[123]" with a line end. */
void ttm_alarm_words(ttm_buf *out, const ttm_alarm_event *event);

#endif
