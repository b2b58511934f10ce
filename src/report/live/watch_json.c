/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strcasestr */
/* `ttmem live` as JSON and CSV, and /metrics of `ttmem serve --metrics`. */
#include <stdio.h>

#include "base/format.h"
#include "base/host_name.h"
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

static void put_chip(ttm_json *j, const ttm_shm_chip *chip) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_u64(j, "chip_id", chip->chip_id);
  ttm_json_put_bool(j, "remote", chip->remote);
  put_uses(j, chip->bytes);
  ttm_json_end(j);
}

static void put_device(ttm_json *j, const ttm_watch_device *device) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_u64(j, "device_id", device->device_id);
  ttm_json_put_u64(j, "asic_id", device->asic_id);
  put_uses(j, device->used);
  ttm_json_put_name(j, "board", device->board ? device->board->name : NULL);
  ttm_json_put_bool(j, "mock", device->board_from == TTM_BOARD_MOCK);
  ttm_json_put_bool(j, "idle", ttm_watch_is_idle(device));
  ttm_json_put_array(j, "chips");
  for (size_t i = 0; i < device->chip_count; i++) put_chip(j, &device->chips[i]);
  ttm_json_end(j);
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
    ttm_buf_printf(out, "%d,", (int)process->slot.pid);
    ttm_put_csv(out, ttm_str_of(process->slot.name));
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

/* ---- Prometheus and OpenMetrics -------------------------------------------------------------------------------------- */

const char ttm_metrics_type[] = "text/plain; version=0.0.4; charset=utf-8";
const char ttm_open_metrics_type[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/* The weight of a media type in an Accept header, 0 when it is not there; 1 without "q=". */
static double weight_of(const char *accept, const char *type) {
  const char *at = accept ? strcasestr(accept, type) : NULL;
  if (!at) return 0;
  size_t n = strcspn(at, ",");
  ttm_str rest = {at, n};
  size_t q = ttm_str_find(rest, TTM_LIT(";q="));
  double weight = 1;
  if (q != TTM_NOT_FOUND) {
    rest = ttm_str_from(rest, q + 3);
    if (!ttm_str_take_decimal(&rest, &weight)) weight = 1;
  }
  return weight;
}

bool ttm_open_metrics_wanted(const char *accept) {
  double open = weight_of(accept, "application/openmetrics-text");
  return open > 0 && open >= weight_of(accept, "text/plain");
}

typedef struct metrics {
  ttm_buf *out;
  const ttm_watch *watch;
  bool open;
  char host[TTM_HOST_NAME];
} metrics;

/* `unit` is the end of the name, or NULL. */
static void put_metric(const metrics *m, const char *name, const char *unit, const char *help) {
  ttm_buf_printf(m->out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
  if (m->open && unit) ttm_buf_printf(m->out, "# UNIT %s %s\n", name, unit);
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

/* hostname and chip are labels of tt-telemetry; its tray and rack are told by nothing on this machine. */
static void put_chip_labels(const metrics *m, const char *metric, const ttm_watch_device *device, uint32_t chip) {
  ttm_buf_printf(m->out, "%s{device_id=\"%u\",asic_id=\"%llu\",chip=\"%u\",hostname=\"", metric, device->device_id,
                 (unsigned long long)device->asic_id, chip);
  put_label(m->out, m->host);
  ttm_buf_char(m->out, '"');
}

static void put_device_labels(const metrics *m, const char *metric, const ttm_watch_device *device) {
  put_chip_labels(m, metric, device, device->device_id);
}

static void put_process_labels(const metrics *m, const char *metric, const ttm_watch_device *device,
                               const ttm_watch_process *process) {
  put_device_labels(m, metric, device);
  ttm_buf_printf(m->out, ",pid=\"%d\",name=\"", (int)process->slot.pid);
  put_label(m->out, process->slot.name);
  ttm_buf_char(m->out, '"');
}

static void put_value(const metrics *m, uint64_t value) {
  ttm_buf_puts(m->out, "} ");
  ttm_buf_u64(m->out, value);
  ttm_buf_char(m->out, '\n');
}

static void put_memories(const metrics *m, const char *metric, bool capacity) {
  for (size_t i = 0; i < m->watch->devices.n; i++) {
    const ttm_watch_device *device = m->watch->devices.at[i];
    for (int u = 0; u < TTM_USES; u++) {
      if (capacity && !device->capacity[u]) continue;
      put_device_labels(m, metric, device);
      ttm_buf_printf(m->out, ",memory=\"%s\"", ttm_use_key((ttm_use)u));
      put_value(m, capacity ? device->capacity[u] : device->used[u]);
    }
  }
}

static void put_chips(const metrics *m, const char *metric) {
  for (size_t i = 0; i < m->watch->devices.n; i++) {
    const ttm_watch_device *device = m->watch->devices.at[i];
    for (size_t k = 0; k < device->chip_count * TTM_USES; k++) {
      const ttm_shm_chip *chip = &device->chips[k / TTM_USES];
      put_chip_labels(m, metric, device, chip->chip_id);
      ttm_buf_printf(m->out, ",remote=\"%s\",memory=\"%s\"", chip->remote ? "true" : "false",
                     ttm_use_key((ttm_use)(k % TTM_USES)));
      put_value(m, chip->bytes[k % TTM_USES]);
    }
  }
}

/* What changes with the program that runs, so that the other series do not. */
static void put_infos(const metrics *m, const char *metric) {
  for (size_t i = 0; i < m->watch->devices.n; i++) {
    const ttm_watch_device *device = m->watch->devices.at[i];
    put_device_labels(m, metric, device);
    ttm_buf_printf(m->out, ",board=\"%s\",mock=\"%s\"", device->board ? device->board->name : "",
                   device->board_from == TTM_BOARD_MOCK ? "true" : "false");
    put_value(m, 1);
  }
}

/* Whether the slot's process lives, or what it holds if it does. */
static void put_processes(const metrics *m, const char *metric, bool memory) {
  for (size_t i = 0; i < m->watch->devices.n; i++) {
    const ttm_watch_device *device = m->watch->devices.at[i];
    for (size_t k = 0; k < device->processes.n; k++) {
      const ttm_watch_process *process = &device->processes.at[k];
      if (!memory) {
        put_process_labels(m, metric, device, process);
        put_value(m, process->alive);
      }
      for (int u = 0; u < TTM_USES && memory && process->alive; u++) {
        put_process_labels(m, metric, device, process);
        ttm_buf_printf(m->out, ",memory=\"%s\"", ttm_use_key((ttm_use)u));
        put_value(m, process->slot.bytes[u]);
      }
    }
  }
}

void ttm_watch_metrics(ttm_buf *out, const ttm_watch *watch, bool open_metrics) {
  static const char *const used = "ttmem_device_memory_bytes", *const capacity = "ttmem_device_memory_capacity_bytes",
                           *const chips = "ttmem_chip_memory_bytes", *const held = "ttmem_process_memory_bytes",
                           *const alive = "ttmem_process_alive", *const infos = "ttmem_device_info",
                           *const files = "ttmem_unreadable_files";
  metrics m = {.out = out, .watch = watch, .open = open_metrics};
  ttm_host_name(m.host);
  put_metric(&m, used, "bytes", "Bytes of a chip's memory that live processes hold, over all banks.");
  put_memories(&m, used, false);
  put_metric(&m, capacity, "bytes", "Bytes of a chip's memory, where the board is known.");
  put_memories(&m, capacity, true);
  put_metric(&m, chips, "bytes", "The same chip by chip, where a device counts several: remote ones behind a gateway.");
  put_chips(&m, chips);
  put_metric(&m, held, "bytes", "Bytes that one live process holds on a chip.");
  put_processes(&m, held, true);
  put_metric(&m, alive, NULL, "1 for a live process, 0 for a dead one whose slot remains.");
  put_processes(&m, alive, false);
  put_metric(&m, infos, NULL, "1, with the board and whether it is a mock one, where that is known.");
  put_infos(&m, infos);
  put_metric(&m, files, NULL, "Shared-memory files that are unreadable or invalid.");
  ttm_buf_printf(out, "%s %zu\n", files, watch->problems.n);
  if (open_metrics) ttm_buf_puts(out, "# EOF\n");
}
