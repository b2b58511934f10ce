/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strcasestr */
/* What `ttmem live` shows on the screen, once, and as lines on a pipe. */
#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"
#include "report/live/watch_report.h"

enum { LABEL = 12, BAR = 20, BAR_TEXT = 29, AMOUNT = 24, NAME = 34 }; /* columns */

typedef struct page {
  ttm_buf *out;
  const ttm_watch_view *view;
  const ttm_watch_device *device; /* being shown */
} page;

static void color(const page *p, const char *code) {
  if (p->view->color) ttm_buf_printf(p->out, "\x1b[%sm", code);
}

static void text(const page *p, const char *words, size_t columns) {
  ttm_put_text(p->out, ttm_str_of(words), columns, p->view->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII);
}

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

static bool is_idle(const ttm_watch_device *device) {
  uint64_t any = 0;
  for (int u = 0; u < TTM_USES; u++) any |= device->used[u];
  return !any && !device->alive;
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

static void put_memory(const page *p, ttm_use use) {
  const ttm_watch_device *device = p->device;
  double percent = ttm_watch_percent(device, use);
  ttm_buf_printf(p->out, "  %-*s", LABEL - 2, ttm_use_name(use));
  if (percent >= 0) {
    ttm_buf bar = {0};
    size_t rest = ttm_put_bar(&bar, percent, BAR, p->view->utf8);
    color(p, ttm_level_color(percent));
    ttm_buf_put(p->out, ttm_str_first(ttm_buf_str(&bar), rest));
    color(p, "90");
    ttm_buf_put(p->out, ttm_str_from(ttm_buf_str(&bar), rest));
    color(p, ttm_level_color(percent));
    ttm_buf_printf(p->out, " %5.1f%%  ", percent);
    color(p, "0");
    p->out->failed |= bar.failed;
    ttm_buf_free(&bar);
  } else {
    color(p, "90");
    ttm_buf_printf(p->out, "%-*s", BAR_TEXT, device->board ? "(size set by the program)" : "(capacity unknown)");
    color(p, "0");
  }
  size_t start = p->out->n;
  ttm_put_bytes(p->out, device->used[use]);
  if (percent >= 0) ttm_buf_puts(p->out, " of "), ttm_put_bytes(p->out, device->capacity[use]);
  if (!p->view->once) {
    ttm_pad_to(p->out, start, AMOUNT);
    ttm_buf_puts(p->out, "peak ");
    ttm_put_bytes(p->out, device->peak[use]);
  }
  ttm_buf_char(p->out, '\n');
}

/* The last minute, one column a second, against its own height. */
static void put_history(const page *p) {
  static const char ascii[] = " .:-=+*%#";
  const ttm_watch_device *device = p->device;
  ttm_use use = p->view->history;
  size_t room = p->view->columns > 60 ? p->view->columns - 44 : 16, n = device->history_count;
  uint64_t top = 0;
  if (use >= TTM_USES) return;
  if (n > room) n = room;
  const uint64_t(*from)[TTM_USES] = device->history + (device->history_count - n);
  for (size_t i = 0; i < n; i++) top = from[i][use] > top ? from[i][use] : top;
  ttm_buf_printf(p->out, "  %-*s", LABEL - 2, "last min");
  color(p, "36");
  for (size_t i = 0; i < n; i++) {
    int height = top ? (int)((double)from[i][use] / (double)top * 8) : 0;
    if (from[i][use] && !height) height = 1;
    if (p->view->utf8)
      ttm_buf_puts(p->out, ttm_column_eighths[height]);
    else
      ttm_buf_char(p->out, ascii[height]);
  }
  color(p, "0");
  ttm_buf_printf(p->out, "  %s up to ", ttm_use_name(use));
  ttm_put_bytes(p->out, top);
  ttm_buf_char(p->out, '\n');
}

static void put_uses(const page *p, const uint64_t uses[TTM_USES], bool shares) {
  bool any = false;
  for (int u = 0; u < TTM_USES; u++) {
    if (!uses[u]) continue;
    ttm_buf_printf(p->out, "%s%s ", any ? ", " : "", ttm_use_name((ttm_use)u));
    ttm_put_bytes(p->out, uses[u]);
    if (shares) ttm_buf_printf(p->out, " (%.0f%%)", ttm_percent((double)uses[u], (double)p->device->used[u]));
    any = true;
  }
  if (!any) ttm_buf_puts(p->out, "nothing");
}

/* Its share of what is in use, when there is more than one. */
static void put_process(const page *p, const ttm_watch_process *process) {
  if (!process->alive) color(p, "90");
  size_t start = p->out->n;
  ttm_buf_printf(p->out, "  %8d  ", (int)process->slot.pid);
  text(p, process->slot.name, NAME - 13);
  ttm_pad_to(p->out, start, NAME);
  put_uses(p, process->slot.bytes, process->alive && p->device->alive > 1);
  if (!process->alive) ttm_buf_puts(p->out, "  (dead, not counted)");
  if (!process->alive) color(p, "0");
  ttm_buf_char(p->out, '\n');
}

static int put_processes(const page *p, bool all) {
  const ttm_watch_device *device = p->device;
  ranked *order = device->processes.n ? ttm_alloc(device->processes.n * sizeof *order) : NULL;
  if (device->processes.n && !order) return TTM_ENOMEM;
  size_t n = 0;
  for (size_t i = 0; i < device->processes.n; i++) {
    const ttm_watch_process *process = &device->processes.at[i];
    if (!all && !process_wanted(p->view, process)) continue;
    uint64_t amount = p->view->sort < TTM_USES ? process->slot.bytes[p->view->sort] : 0;
    order[n++] = (ranked){process->alive ? amount + 1 : 0, i}; /* the dead last */
  }
  if (n) qsort(order, n, sizeof *order, by_amount);
  for (size_t i = 0; i < n; i++) put_process(p, &device->processes.at[order[i].row]);
  ttm_free(order);
  return TTM_OK;
}

static int put_device(const page *p) {
  const ttm_watch_device *device = p->device;
  bool brief = is_idle(device);
  color(p, brief ? "90" : "1");
  ttm_buf_printf(p->out, "Device %u", device->device_id);
  color(p, "0");
  ttm_buf_printf(p->out, "  asic %llu  ", (unsigned long long)device->asic_id);
  if (brief) {
    ttm_buf_puts(p->out, "idle");
    if (device->processes.n) ttm_buf_puts(p->out, ", "), ttm_put_counted(p->out, device->processes.n, "dead slot");
    ttm_buf_char(p->out, '\n');
    return p->view->once ? put_processes(p, device_wanted(p->view, device)) : TTM_OK;
  }
  ttm_watch_board_words(p->out, device);
  ttm_buf_puts(p->out, device->stale ? "  (last good reading)\n" : "\n");
  for (int u = 0; u < TTM_USES; u++) put_memory(p, (ttm_use)u);
  put_history(p);
  int status = put_processes(p, device_wanted(p->view, device));
  if (device->others[TTM_USE_DRAM] || device->others[TTM_USE_L1]) {
    ttm_buf_printf(p->out, "  %-*s", NAME - 2, "          other processes (no slot)");
    put_uses(p, device->others, false);
    ttm_buf_char(p->out, '\n');
  }
  return status;
}

/* ---- All ------------------------------------------------------------------------------------------------------------- */

static bool is_shown(const ttm_watch_view *view, const ttm_watch_device *device) {
  if (view->hide_idle && is_idle(device)) return false;
  if (device_wanted(view, device)) return true;
  for (size_t i = 0; i < device->processes.n; i++) {
    if (process_wanted(view, &device->processes.at[i])) return true;
  }
  return false;
}

int ttm_watch_text(ttm_buf *out, const ttm_watch *watch, const ttm_watch_view *view) {
  size_t count = watch->devices.n, n = 0;
  ranked *order = count ? ttm_alloc(count * sizeof *order) : NULL;
  if (count && !order) return TTM_ENOMEM;
  for (size_t i = 0; i < count; i++) {
    const ttm_watch_device *device = watch->devices.at[i];
    uint64_t amount = view->sort < TTM_USES ? device->used[view->sort] : 0;
    if (!is_idle(device)) amount++; /* the idle ones last */
    if (is_shown(view, device)) order[n++] = (ranked){amount, i};
  }
  if (n) qsort(order, n, sizeof *order, by_amount);
  bool brief = false;
  for (size_t i = 0; i < n; i++) {
    page p = {out, view, watch->devices.at[order[i].row]};
    bool was_brief = brief;
    brief = is_idle(p.device);
    if (i && !(brief && was_brief)) ttm_buf_char(out, '\n');
    if (put_device(&p)) out->failed = true;
  }
  ttm_free(order);
  return out->failed ? TTM_ENOMEM : TTM_OK;
}

void ttm_watch_problems(ttm_buf *out, const ttm_watch *watch, const char *margin, bool utf8) {
  page p = {out, &(ttm_watch_view){.utf8 = utf8}, NULL};
  for (size_t i = 0; i < watch->problems.n; i++) {
    ttm_buf_puts(out, margin);
    text(&p, watch->problems.at[i].file, SIZE_MAX);
    ttm_buf_char(out, ' ');
    text(&p, watch->problems.at[i].why, SIZE_MAX);
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
  ttm_buf_printf(out, "alarm: device %u: %s at %.1f%% (", device->device_id, ttm_use_name(event->use), event->percent);
  ttm_put_bytes(out, device->used[event->use]);
  ttm_buf_puts(out, " of ");
  ttm_put_bytes(out, device->capacity[event->use]);
  ttm_buf_printf(out, "), above %g%%", event->mark);
  if (event->largest) {
    ttm_buf_puts(out, "; largest process: ");
    ttm_put_text(out, ttm_str_of(event->largest->slot.name), 40, TTM_FORM_UTF8);
    ttm_buf_printf(out, "[%d]", (int)event->largest->slot.pid);
  }
  ttm_buf_char(out, '\n');
}
