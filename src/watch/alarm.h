/* SPDX-License-Identifier: Apache-2.0 */
/* Marks that a memory should not pass. Each crossing is told once; it can be told again after the use fell TTM_ALARM_SLACK points
 * below the mark. */
#ifndef TTM_WATCH_ALARM_H
#define TTM_WATCH_ALARM_H

#include "watch/watch.h"

enum { TTM_ALARM_MARKS = 16, TTM_ALARM_SLACK = 5 };

typedef struct ttm_alarm_mark {
  ttm_use use; /* TTM_USES: every memory whose capacity is known */
  double percent;
} ttm_alarm_mark;

/* A memory that is above a mark now. */
typedef struct ttm_alarm_above {
  uint64_t asic_id;
  uint8_t mark, use;
} ttm_alarm_above;

typedef struct ttm_alarm {
  ttm_alarm_mark marks[TTM_ALARM_MARKS];
  size_t mark_count;
  TTM_VEC(ttm_alarm_above) above;
} ttm_alarm;

/* A crossing. Everything is borrowed until the next look. */
typedef struct ttm_alarm_event {
  const ttm_watch_device *device;
  ttm_use use;
  double percent, mark;
  const ttm_watch_process *largest; /* the living process that holds most of it, NULL */
} ttm_alarm_event;

/* Adds "90%" or "dram:90%" (dram, l1, cb; any case). TTM_EUSAGE when it is neither. */
int ttm_alarm_add(ttm_alarm *alarm, const char *text, ttm_error *err);
void ttm_alarm_free(ttm_alarm *alarm);

/* Calls `on` for each crossing since the last call. *unknown counts devices in use that cannot be judged: no capacity is known.
 * 0 or TTM_ENOMEM. */
int ttm_alarm_check(ttm_alarm *alarm, const ttm_watch *watch, void (*on)(void *context, const ttm_alarm_event *event),
                    void *context, size_t *unknown);

#endif
