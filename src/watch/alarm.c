/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/alarm.h"

/* L1_SMALL and TRACE are as large as the program asks for: nothing tells their capacity. */
static bool has_capacity(ttm_use use) { return use == TTM_USE_DRAM || use == TTM_USE_L1 || use == TTM_USE_CB; }

static bool read_use(ttm_str name, ttm_use *out) {
  for (int u = 0; u < TTM_USES; u++) {
    if (!has_capacity((ttm_use)u) || !ttm_str_eq_nocase(name, ttm_str_of(ttm_use_key((ttm_use)u)))) continue;
    *out = (ttm_use)u;
    return true;
  }
  return false;
}

int ttm_alarm_add(ttm_alarm *alarm, const char *text, ttm_error *err) {
  ttm_alarm_mark mark = {.use = TTM_USES};
  const char *colon = strchr(text, ':');
  ttm_str rest = ttm_str_of(colon ? colon + 1 : text);
  bool fine = !colon || read_use((ttm_str){text, (size_t)(colon - text)}, &mark.use);
  fine = fine && ttm_str_take_decimal(&rest, &mark.percent) && ttm_str_eq(rest, TTM_LIT("%"));
  if (!fine || !(mark.percent > 0 && mark.percent <= 100))
    return ttm_error_set(err, TTM_EUSAGE,
                         "option '--alarm' takes a mark such as 90%% or dram:90%% (dram, l1 or cb), not '%s'", text);
  if (alarm->mark_count == TTM_ALARM_MARKS)
    return ttm_error_set(err, TTM_EUSAGE, "option '--alarm' is given more than %d times", TTM_ALARM_MARKS);
  alarm->marks[alarm->mark_count++] = mark;
  return TTM_OK;
}

void ttm_alarm_free(ttm_alarm *alarm) { ttm_vec_free(&alarm->above); }

static size_t find_above(const ttm_alarm *alarm, uint64_t asic_id, size_t mark, ttm_use use) {
  size_t i = 0;
  while (i < alarm->above.n &&
         (alarm->above.at[i].asic_id != asic_id || alarm->above.at[i].mark != mark || alarm->above.at[i].use != use))
    i++;
  return i;
}

static const ttm_watch_process *largest_of(const ttm_watch_device *device, ttm_use use) {
  const ttm_watch_process *largest = NULL;
  for (size_t i = 0; i < device->processes.n; i++) {
    const ttm_watch_process *process = &device->processes.at[i];
    if (!process->alive || !process->slot.bytes[use]) continue;
    if (!largest || process->slot.bytes[use] > largest->slot.bytes[use]) largest = process;
  }
  return largest;
}

/* Returns TTM_ENOMEM, or 0 with *crossed true for a crossing upwards. */
static int judge(ttm_alarm *alarm, const ttm_watch_device *device, size_t mark, ttm_use use, bool *crossed) {
  double percent = ttm_watch_percent(device, use), limit = alarm->marks[mark].percent;
  size_t at = find_above(alarm, device->asic_id, mark, use);
  bool was_above = at < alarm->above.n;
  *crossed = !was_above && percent >= limit;
  if (*crossed) return ttm_vec_push(&alarm->above, (ttm_alarm_above){device->asic_id, (uint8_t)mark, (uint8_t)use});
  if (was_above && percent < limit - TTM_ALARM_SLACK) alarm->above.at[at] = alarm->above.at[--alarm->above.n];
  return TTM_OK;
}

int ttm_alarm_check(ttm_alarm *alarm, const ttm_watch *watch, void (*on)(void *context, const ttm_alarm_event *event),
                    void *context, size_t *unknown) {
  *unknown = 0;
  for (size_t d = 0; d < watch->devices.n; d++) {
    const ttm_watch_device *device = watch->devices.at[d];
    if (!device->board && device->alive) ++*unknown;
    for (size_t m = 0; m < alarm->mark_count; m++) {
      for (int u = 0; u < TTM_USES; u++) {
        bool asked = alarm->marks[m].use == TTM_USES ? has_capacity((ttm_use)u) : alarm->marks[m].use == (ttm_use)u;
        bool crossed = false;
        if (!asked || !device->capacity[u]) continue;
        if (judge(alarm, device, m, (ttm_use)u, &crossed)) return TTM_ENOMEM;
        if (!crossed) continue;
        ttm_alarm_event event = {.device = device,
                                 .use = (ttm_use)u,
                                 .percent = ttm_watch_percent(device, (ttm_use)u),
                                 .mark = alarm->marks[m].percent,
                                 .largest = largest_of(device, (ttm_use)u)};
        on(context, &event);
      }
    }
  }
  return TTM_OK;
}
