/* SPDX-License-Identifier: Apache-2.0 */
/* `ttmem live` as JSON and CSV, and /metrics of `ttmem serve --metrics`. */
#include <stdio.h>

#include "base/format.h"
#include "report/live/watch_report.h"
#include "report/write/json.h"

/* ---- JSON ------------------------------------------------------------------------------------------------------------ */

static void put_uses(ttm_json *j, const uint64_t uses[TTM_USES]) {
  for (int u = 0; u < TTM_USES; u++) {
    char key[32];
    snprintf(key, sizeof key, "%s_B", ttm_use_key((ttm_use)u));
    ttm_json_put_u64(j, key, uses[u]);
  }
}

static void put_process(ttm_json *j, const ttm_watch_process *process) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_i64(j, "pid", process->slot.pid);
  ttm_json_put_name(j, "name", process->slot.name);
  ttm_json_put_bool(j, "alive", process->alive);
  put_uses(j, process->slot.bytes);
  ttm_json_end(j);
}

static void put_device(ttm_json *j, const ttm_watch_device *device) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_u64(j, "device_id", device->device_id);
  ttm_json_put_u64(j, "asic_id", device->asic_id);
  put_uses(j, device->used);
  ttm_json_put_array(j, "processes");
  for (size_t i = 0; i < device->processes.n; i++) put_process(j, &device->processes.at[i]);
  ttm_json_end(j);
  ttm_json_end(j);
}

void ttm_watch_json(ttm_buf *out, const ttm_watch *watch, double seconds) {
  ttm_json j = {.out = out, .spaced = true};
  ttm_json_put_object(&j, NULL);
  ttm_json_put_u64(&j, "schema_version", 1);
  if (seconds >= 0) ttm_json_put_fixed(&j, "seconds", seconds, 3);
  ttm_json_put_array(&j, "devices");
  for (size_t i = 0; i < watch->devices.n; i++) put_device(&j, watch->devices.at[i]);
  ttm_json_end(&j);
  ttm_json_end(&j);
  out->failed |= ttm_json_finish(&j) != TTM_OK;
}

/* ---- CSV ------------------------------------------------------------------------------------------------------------- */

static void put_row(ttm_buf *out, const ttm_watch_device *device, double seconds, const ttm_watch_process *process) {
  if (seconds >= 0) ttm_buf_printf(out, "%.3f", seconds);
  ttm_buf_printf(out, ",%u,%llu,%s,", device->device_id, (unsigned long long)device->asic_id,
                 device->board ? device->board->name : "");
  if (process) {
    ttm_buf name = {0};
    ttm_put_utf8(&name, ttm_str_of(process->slot.name));
    ttm_buf_printf(out, "%d,", (int)process->slot.pid);
    ttm_put_csv(out, ttm_buf_str(&name));
    out->failed |= name.failed;
    ttm_buf_free(&name);
  } else {
    ttm_buf_char(out, ',');
  }
  ttm_buf_puts(out, !process || process->alive ? ",true" : ",false");
  for (int u = 0; u < TTM_USES; u++)
    ttm_buf_printf(out, ",%llu", (unsigned long long)(process ? process->slot.bytes[u] : device->used[u]));
  ttm_buf_puts(out, "\r\n");
}

void ttm_watch_csv(ttm_buf *out, const ttm_watch_device *device, double seconds, bool head) {
  if (head) ttm_buf_puts(out, "seconds,device_id,asic_id,board,pid,name,alive");
  for (int u = 0; head && u < TTM_USES; u++) ttm_buf_printf(out, ",%s_B", ttm_use_key((ttm_use)u));
  if (head) ttm_buf_puts(out, "\r\n");
  put_row(out, device, seconds, NULL);
  for (size_t i = 0; i < device->processes.n; i++) put_row(out, device, seconds, &device->processes.at[i]);
}

/* ---- Prometheus ------------------------------------------------------------------------------------------------------ */

static void put_metric(ttm_buf *out, const char *name, const char *help) {
  ttm_buf_printf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

/* Label values escape the quote and the backslash; they must be UTF-8. */
static void put_label(ttm_buf *out, const char *text) {
  ttm_buf safe = {0};
  ttm_put_text(&safe, ttm_str_of(text), SIZE_MAX, TTM_FORM_UTF8);
  for (size_t i = 0; i < safe.n; i++) {
    if (safe.at[i] == '\\' || safe.at[i] == '"') ttm_buf_char(out, '\\');
    ttm_buf_char(out, safe.at[i]);
  }
  out->failed |= safe.failed;
  ttm_buf_free(&safe);
}

static void put_device_labels(ttm_buf *out, const char *metric, const ttm_watch_device *device) {
  ttm_buf_printf(out, "%s{device_id=\"%u\",asic_id=\"%llu\"", metric, device->device_id,
                 (unsigned long long)device->asic_id);
}

static void put_process_labels(ttm_buf *out, const char *metric, const ttm_watch_device *device,
                               const ttm_watch_process *process) {
  put_device_labels(out, metric, device);
  ttm_buf_printf(out, ",pid=\"%d\",name=\"", (int)process->slot.pid);
  put_label(out, process->slot.name);
  ttm_buf_char(out, '"');
}

static void put_value(ttm_buf *out, uint64_t value) {
  ttm_buf_puts(out, "} ");
  ttm_buf_u64(out, value);
  ttm_buf_char(out, '\n');
}

static void put_memories(ttm_buf *out, const char *metric, const ttm_watch *watch, bool capacity) {
  for (size_t i = 0; i < watch->devices.n; i++) {
    const ttm_watch_device *device = watch->devices.at[i];
    for (int u = 0; u < TTM_USES; u++) {
      if (capacity && !device->capacity[u]) continue;
      put_device_labels(out, metric, device);
      ttm_buf_printf(out, ",memory=\"%s\"", ttm_use_key((ttm_use)u));
      put_value(out, capacity ? device->capacity[u] : device->used[u]);
    }
  }
}

/* Whether the slot's process lives, or what it holds if it does. */
static void put_processes(ttm_buf *out, const char *metric, const ttm_watch *watch, bool memory) {
  for (size_t i = 0; i < watch->devices.n; i++) {
    const ttm_watch_device *device = watch->devices.at[i];
    for (size_t k = 0; k < device->processes.n; k++) {
      const ttm_watch_process *process = &device->processes.at[k];
      if (!memory) {
        put_process_labels(out, metric, device, process);
        put_value(out, process->alive);
      }
      for (int u = 0; u < TTM_USES && memory && process->alive; u++) {
        put_process_labels(out, metric, device, process);
        ttm_buf_printf(out, ",memory=\"%s\"", ttm_use_key((ttm_use)u));
        put_value(out, process->slot.bytes[u]);
      }
    }
  }
}

void ttm_watch_metrics(ttm_buf *out, const ttm_watch *watch) {
  static const char *const used = "ttmem_device_memory_bytes", *const capacity = "ttmem_device_memory_capacity_bytes",
                           *const held = "ttmem_process_memory_bytes", *const alive = "ttmem_process_alive",
                           *const files = "ttmem_unreadable_files";
  put_metric(out, used, "Bytes of a chip's memory that live processes hold, over all banks.");
  put_memories(out, used, watch, false);
  put_metric(out, capacity, "Bytes of a chip's memory, where the board is known.");
  put_memories(out, capacity, watch, true);
  put_metric(out, held, "Bytes that one live process holds on a chip.");
  put_processes(out, held, watch, true);
  put_metric(out, alive, "1 for a live process, 0 for a dead one whose slot remains.");
  put_processes(out, alive, watch, false);
  put_metric(out, files, "Shared-memory files that are unreadable or invalid.");
  ttm_buf_printf(out, "%s %zu\n", files, watch->problems.n);
}
