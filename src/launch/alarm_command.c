/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* environ */
#include "launch/alarm_command.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/format.h"
#include "base/os.h"
#include "launch/child.h"

/* ---- Environment ----------------------------------------------------------------------------------------------------- */

enum { FACTS = 9 };

typedef struct facts {
  ttm_buf text[FACTS];
  size_t n;
} facts;

static ttm_buf *fact(facts *f, const char *name) {
  ttm_buf *text = &f->text[f->n++];
  ttm_buf_printf(text, "TTMEM_ALARM_%s=", name);
  return text;
}

static void gather(facts *f, const ttm_alarm_event *event) {
  const ttm_watch_device *device = event->device;
  ttm_buf_puts(fact(f, "MEMORY"), ttm_use_name(event->use));
  ttm_buf_u64(fact(f, "DEVICE_ID"), device->device_id);
  ttm_buf_u64(fact(f, "ASIC_ID"), device->asic_id);
  ttm_buf_printf(fact(f, "PERCENT"), "%.1f", event->percent);
  ttm_buf_printf(fact(f, "MARK"), "%g", event->mark);
  ttm_buf_u64(fact(f, "USED_B"), device->used[event->use]);
  ttm_buf_u64(fact(f, "CAPACITY_B"), device->capacity[event->use]);
  if (event->largest) {
    ttm_buf_printf(fact(f, "PID"), "%d", (int)event->largest->slot.pid);
    ttm_put_text(fact(f, "PROCESS"), ttm_str_of(event->largest->slot.name), SIZE_MAX, TTM_FORM_UTF8);
  }
  for (size_t i = 0; i < f->n; i++) ttm_buf_char(&f->text[i], '\0');
}

/* Our facts before what was there: the first of two with one name counts, and none of ours should be there yet. NULL without
 * memory. */
static char **join(const facts *f) {
  size_t n = 0, at = 0;
  while (environ[n]) n++;
  char **all = ttm_alloc((n + f->n + 1) * sizeof *all);
  if (!all) return NULL;
  for (size_t i = 0; i < f->n; i++) {
    if (f->text[i].failed) return ttm_free(all), NULL;
    all[at++] = f->text[i].at;
  }
  for (size_t i = 0; i < n; i++) {
    if (strncmp(environ[i], "TTMEM_ALARM_", 12) != 0) all[at++] = environ[i];
  }
  return all;
}

/* ---- Start ----------------------------------------------------------------------------------------------------------- */

static int spawn(const char *command, char **environment, const sigset_t *mask, bool silent, pid_t *pid) {
  char *words[] = {"/bin/sh", "-c", (char *)command, NULL};
  int null = open("/dev/null", O_RDWR | O_CLOEXEC), out = silent ? null : STDERR_FILENO;
  int why = null < 0 ? errno : ttm_child_spawn(pid, words, environment, (int[]){null, out, out}, mask);
  if (null >= 0) close(null);
  return why;
}

int ttm_alarm_command_start(const char *command, const ttm_alarm_event *event, const sigset_t *mask, bool silent,
                            pid_t *pid, ttm_error *err) {
  facts f = {.n = 0};
  gather(&f, event);
  char **environment = join(&f);
  int why = environment ? spawn(command, environment, mask, silent, pid) : 0;
  int status = !environment ? ttm_error_nomem(err)
               : why        ? ttm_error_set(err, TTM_EIO, "cannot run the command of --exec: %s", strerror(why))
                            : TTM_OK;
  ttm_free(environment);
  for (size_t i = 0; i < f.n; i++) ttm_buf_free(&f.text[i]);
  return status;
}
