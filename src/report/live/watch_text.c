/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strcasestr */
/* What `ttmem live` shows on the screen, once, and as lines on a pipe. */
#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"
#include "report/live/watch_report.h"
#include "report/write/doc.h"

enum { BAR = 20, SHARE = 6 }; /* columns */

typedef struct page {
  ttm_doc doc;
  const ttm_watch_view *view;
  const ttm_watch_device *device; /* being shown */
} page;

void ttm_watch_board_words(ttm_buf *out, const ttm_watch_device *device) {
  switch (device->board_from) {
    case TTM_BOARD_SAID:
      return ttm_buf_puts(out, device->board->name);
    case TTM_BOARD_MOCK:
      return ttm_buf_printf(out, "%s (mock board)", device->board->name);
    case TTM_BOARD_DRIVER:
      return ttm_buf_printf(out, "%s (driver)", device->board->name);
    case TTM_BOARD_UNKNOWN:
      return ttm_buf_puts(out, "board unknown; --board B sets the capacity");
  }
}

/* ---- Which, and in what order ---------------------------------------------------------------------------------------- */

static bool has(const char *where, const char *what) { return strcasestr(where, what) != NULL; }

static bool device_wanted(const ttm_watch_view *view, const ttm_watch_device *device) {
  char name[96];
  if (!view->filter || !*view->filter) return true;
  snprintf(name, sizeof name, "device %u asic %llu %s", device->device_id, (unsigned long long)device->asic_id,
           device->board ? device->board->name : "");
  return has(name, view->filter);
}

static bool process_wanted(const ttm_watch_view *view, const ttm_watch_process *process) {
  char name[TTM_SHM_NAME + 40];
  if (!view->filter || !*view->filter) return true;
  snprintf(name, sizeof name, "%s[%d] %s", process->slot.name, (int)process->slot.pid, process->alive ? "" : "dead");
  return has(name, view->filter);
}

/* What is sorted: numbers of rows, by how much they hold. */
typedef struct ranked {
  uint64_t amount;
  size_t row;
} ranked;

static int by_amount(const void *left, const void *right) {
  const ranked *a = left, *b = right;
  if (a->amount != b->amount) return a->amount > b->amount ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

/* ---- One device ------------------------------------------------------------------------------------------------------ */

static ttm_doc_tone tone_of(double percent) {
  return percent > 90 ? TTM_DOC_BAD : percent > 80 ? TTM_DOC_WARN : TTM_DOC_GOOD;
}

/* "████░░░░  75.0 %  9,207.0 MB of 11.99 GB, peak 9,207.0 MB" */
static void put_memory(page *p, ttm_use use) {
  const ttm_watch_device *device = p->device;
  double percent = ttm_watch_percent(device, use);
  ttm_buf words = {0};
  if (percent >= 0)
    ttm_put_bar(&words, percent, BAR, p->view->utf8), ttm_buf_printf(&words, "%*.1f %%  ", SHARE, percent);
  ttm_put_bytes(&words, device->used[use]);
  if (percent >= 0) ttm_buf_puts(&words, " of "), ttm_put_bytes(&words, device->capacity[use]);
  if (!p->view->once) ttm_buf_puts(&words, ", peak "), ttm_put_bytes(&words, device->peak[use]);
  if (percent < 0) ttm_buf_puts(&words, device->board ? ", capacity set by the program" : ", capacity unknown");
  ttm_doc_labelled(&p->doc, ttm_use_name(use), percent < 0 ? TTM_DOC_DIM : tone_of(percent), ttm_buf_str(&words));
  p->doc.out->failed |= words.failed;
  ttm_buf_free(&words);
}

/* The last minute, one column a second, against its own height. */
static void put_history(page *p) {
  static const char ascii[] = " .:-=+*%#";
  const ttm_watch_device *device = p->device;
  ttm_use use = p->view->history;
  size_t room = p->view->columns > 60 ? p->view->columns - 44 : 16, n = device->history_count;
  uint64_t top = 0;
  ttm_buf words = {0};
  if (use >= TTM_USES) return;
  if (n > room) n = room;
  const uint64_t(*from)[TTM_USES] = device->history + (device->history_count - n);
  for (size_t i = 0; i < n; i++) top = from[i][use] > top ? from[i][use] : top;
  for (size_t i = 0; i < n; i++) {
    int height = top ? (int)((double)from[i][use] / (double)top * 8) : 0;
    if (from[i][use] && !height) height = 1;
    if (p->view->utf8)
      ttm_buf_puts(&words, ttm_column_eighths[height]);
    else
      ttm_buf_char(&words, ascii[height]);
  }
  ttm_buf_printf(&words, "  %s up to %s", ttm_use_name(use), TTM_BYTES_TEXT(top));
  ttm_doc_labelled(&p->doc, "Last min", TTM_DOC_PLAIN, ttm_buf_str(&words));
  p->doc.out->failed |= words.failed;
  ttm_buf_free(&words);
}

/* What the file counts together, chip by chip. */
static void put_chips(page *p) {
  for (size_t i = 0; i < p->device->chip_count; i++) {
    const ttm_shm_chip *chip = &p->device->chips[i];
    char label[24];
    ttm_buf words = {0};
    snprintf(label, sizeof label, "Chip %u", chip->chip_id);
    if (chip->remote) ttm_buf_puts(&words, "remote: ");
    for (int u = 0; u < TTM_USES; u++)
      ttm_buf_printf(&words, "%s%s %s", u ? ", " : "", ttm_use_name((ttm_use)u), TTM_BYTES_TEXT(chip->bytes[u]));
    ttm_doc_labelled(&p->doc, label, TTM_DOC_PLAIN, ttm_buf_str(&words));
    p->doc.out->failed |= words.failed;
    ttm_buf_free(&words);
  }
}

static void put_row(page *p, const char *pid, const char *name, const uint64_t bytes[TTM_USES]) {
  ttm_doc_cell(&p->doc, "%s", pid);
  ttm_doc_cell(&p->doc, "%s", name);
  for (int u = 0; u < TTM_USES; u++) ttm_doc_cell(&p->doc, "%s", bytes[u] ? TTM_BYTES_TEXT(bytes[u]) : "-");
}

static void put_process(page *p, const ttm_watch_process *process) {
  char pid[16], name[TTM_SHM_NAME + 32];
  snprintf(pid, sizeof pid, "%d", (int)process->slot.pid);
  snprintf(name, sizeof name, "%s%s", process->slot.name, process->alive ? "" : " (dead, not counted)");
  put_row(p, pid, name, process->slot.bytes);
}

static void put_processes(page *p, bool all) {
  const char *heads[2 + TTM_USES] = {">Pid", "Process"};
  char names[TTM_USES][16];
  const ttm_watch_device *device = p->device;
  ranked order[TTM_SHM_SLOTS];
  size_t n = 0;
  for (size_t i = 0; i < device->processes.n && i < TTM_SHM_SLOTS; i++) {
    const ttm_watch_process *process = &device->processes.at[i];
    if (!all && !process_wanted(p->view, process)) continue;
    uint64_t amount = p->view->sort < TTM_USES ? process->slot.bytes[p->view->sort] : 0;
    order[n++] = (ranked){process->alive ? amount + 1 : 0, i}; /* the dead last */
  }
  bool others = device->others[TTM_USE_DRAM] || device->others[TTM_USE_L1];
  if (!n && !others) return;
  for (int u = 0; u < TTM_USES; u++) {
    snprintf(names[u], sizeof names[u], ">%s", ttm_use_name((ttm_use)u));
    heads[2 + u] = names[u];
  }
  qsort(order, n, sizeof *order, by_amount);
  ttm_doc_table(&p->doc, heads, 2 + TTM_USES);
  for (size_t i = 0; i < n; i++) put_process(p, &device->processes.at[order[i].row]);
  if (others) put_row(p, "", "other processes (no slot)", device->others);
  ttm_doc_table_end(&p->doc);
}

static void put_device(page *p) {
  const ttm_watch_device *device = p->device;
  bool idle = ttm_watch_is_idle(device), all = device_wanted(p->view, device);
  ttm_buf words = {0};
  ttm_buf_printf(&words, "Device %u, asic %llu, ", device->device_id, (unsigned long long)device->asic_id);
  if (idle)
    ttm_buf_puts(&words, "idle");
  else
    ttm_watch_board_words(&words, device);
  if (idle && device->processes.n)
    ttm_buf_puts(&words, ", "), ttm_put_counted(&words, device->processes.n, "dead slot");
  if (!idle && device->stale) ttm_buf_puts(&words, " (last good reading)");
  ttm_buf_char(&words, '\0');
  p->doc.out->failed |= words.failed;
  if (!words.failed) ttm_doc_heading(&p->doc, words.at);
  ttm_buf_free(&words);
  for (int u = 0; u < TTM_USES && !idle; u++) put_memory(p, (ttm_use)u);
  if (!idle) put_chips(p);
  if (!idle) put_history(p);
  if (!idle || p->view->once) put_processes(p, all);
}

/* ---- All ------------------------------------------------------------------------------------------------------------- */

static bool is_shown(const ttm_watch *watch, const ttm_watch_view *view, const ttm_watch_device *device) {
  if (view->hide_idle && ttm_watch_is_idle(device)) return false;
  if (view->hide_mock && ttm_watch_is_mock_beside_real(watch, device)) return false;
  if (device_wanted(view, device)) return true;
  for (size_t i = 0; i < device->processes.n; i++) {
    if (process_wanted(view, &device->processes.at[i])) return true;
  }
  return false;
}

/* How many are not there for a reason that is no filter. */
static void put_hidden(page *p, const ttm_watch *watch) {
  size_t idle = 0, mock = 0;
  for (size_t i = 0; i < watch->devices.n; i++) {
    bool is_idle = p->view->hide_idle && ttm_watch_is_idle(watch->devices.at[i]);
    idle += is_idle;
    mock += !is_idle && p->view->hide_mock && ttm_watch_is_mock_beside_real(watch, watch->devices.at[i]);
  }
  if (!p->view->once || !(idle + mock)) return;
  ttm_buf words = {0};
  if (idle) ttm_put_counted(&words, idle, "idle device");
  if (idle && mock) ttm_buf_puts(&words, " and ");
  if (mock) ttm_put_counted(&words, mock, "mock device");
  ttm_buf_puts(&words, " not shown; --all shows them");
  ttm_doc_labelled(&p->doc, "Hidden", TTM_DOC_DIM, ttm_buf_str(&words));
  p->doc.out->failed |= words.failed;
  ttm_buf_free(&words);
}

int ttm_watch_text(ttm_buf *out, const ttm_watch *watch, const ttm_watch_view *view) {
  page p = {{.out = out, .columns = (unsigned)view->columns, .color = view->color, .utf8 = view->utf8}, view, NULL};
  size_t count = watch->devices.n, n = 0;
  ranked *order = count ? ttm_alloc(count * sizeof *order) : NULL;
  if (count && !order) return TTM_ENOMEM;
  for (size_t i = 0; i < count; i++) {
    const ttm_watch_device *device = watch->devices.at[i];
    uint64_t amount = view->sort < TTM_USES ? device->used[view->sort] : 0;
    if (!ttm_watch_is_idle(device)) amount++; /* the idle ones last */
    if (is_shown(watch, view, device)) order[n++] = (ranked){amount, i};
  }
  if (n) qsort(order, n, sizeof *order, by_amount);
  for (size_t i = 0; i < n; i++) {
    p.device = watch->devices.at[order[i].row];
    if (i && ttm_watch_is_idle(p.device) && ttm_watch_is_idle(watch->devices.at[order[i - 1].row]))
      p.doc.started = false; /* one list */
    put_device(&p);
  }
  put_hidden(&p, watch);
  ttm_free(order);
  return ttm_doc_end(&p.doc);
}

void ttm_watch_problems(ttm_buf *out, const ttm_watch *watch, const char *margin, bool utf8) {
  ttm_text_form form = utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII;
  for (size_t i = 0; i < watch->problems.n; i++) {
    ttm_buf_puts(out, margin);
    ttm_put_text(out, ttm_str_of(watch->problems.at[i].file), SIZE_MAX, form);
    ttm_buf_char(out, ' ');
    ttm_put_text(out, ttm_str_of(watch->problems.at[i].why), SIZE_MAX, form);
    ttm_buf_char(out, '\n');
  }
}

void ttm_watch_line(ttm_buf *out, const ttm_watch_device *device, double seconds) {
  ttm_buf_printf(out, "t=%.3f device=%u asic=%llu", seconds, device->device_id, (unsigned long long)device->asic_id);
  for (int u = 0; u < TTM_USES; u++) {
    ttm_buf_printf(out, " %s=%llu", ttm_use_key((ttm_use)u), (unsigned long long)device->used[u]);
  }
  ttm_buf_printf(out, " processes=%zu dead=%zu\n", device->alive, device->processes.n - device->alive);
}

void ttm_watch_nothing(ttm_buf *out, const ttm_watch *watch) {
  if (watch->problems.n) {
    ttm_buf_puts(out, "no device can be read:\n");
    return ttm_watch_problems(out, watch, "  ", true);
  }
  ttm_buf_puts(out, "no ttnn program has opened a device since this machine started. There is no\n");
  ttm_put_text(out, ttm_str_of(watch->options.dir), SIZE_MAX, TTM_FORM_UTF8);
  ttm_buf_puts(out,
               "/tt_device_*_memory. ttnn 0.70 and later creates it unless\n"
               "TT_METAL_SHM_TRACKING_DISABLED=1 is set. In a container, share the host's:\n"
               "docker run --ipc=host --pid=host.\n");
}

void ttm_alarm_words(ttm_buf *out, const ttm_alarm_event *event) {
  const ttm_watch_device *device = event->device;
  ttm_buf_printf(out, "alarm: device %u: %s at %.1f %% (%s of %s), above %g %%", device->device_id,
                 ttm_use_name(event->use), event->percent, TTM_BYTES_TEXT(device->used[event->use]),
                 TTM_BYTES_TEXT(device->capacity[event->use]), event->mark);
  if (event->largest) {
    ttm_buf_puts(out, "; largest process: ");
    ttm_put_text(out, ttm_str_of(event->largest->slot.name), SIZE_MAX, TTM_FORM_UTF8);
    ttm_buf_printf(out, "[%d]", (int)event->largest->slot.pid);
  }
  ttm_buf_char(out, '\n');
}
