/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* localtime_r, setenv */
#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/format.h"
#include "launch/switches.h"
#include "store/folder.h"

enum { MOST_IN_A_SECOND = 10000 };

/* ---- Folder --------------------------------------------------------------------------------------------------------- */

static void put_path(ttm_buf *out, const char *base, const char *name) {
  ttm_buf_clear(out);
  ttm_buf_printf(out, "%s/%s", base, name);
  ttm_buf_char(out, '\0');
}

/* True when the folder is there, new. With a store it lies there, and what the caller sees is a link. */
static bool make_new(ttm_launch *r, const char *base, const char *store, const char *name) {
  put_path(&r->folder, base, name);
  if (store) put_path(&r->stored, store, name);
  if (r->folder.failed || r->stored.failed) return false;
  if (!store) return mkdir(r->folder.at, 0777) == 0;
  if (mkdir(r->stored.at, 0777)) return false;
  if (!symlink(r->stored.at, r->folder.at)) return true;
  int why = errno;
  rmdir(r->stored.at);
  errno = why;
  return false;
}

/* base/NAME_YYYYMMDD_HHMMSS, made anew; when it is there already NAME_..._2, _3 and so on. */
static int make_folder(ttm_launch *r, const char *base, const char *store, ttm_error *err) {
  time_t now = time(NULL);
  struct tm when;
  char stamp[32];
  ttm_buf name = {0};
  localtime_r(&now, &when);
  strftime(stamp, sizeof stamp, "%Y%m%d_%H%M%S", &when);
  int status = ttm_folder_make(base, err);
  bool made = false, taken = true;
  for (int i = 1; !status && !made && taken && i <= MOST_IN_A_SECOND; i++) {
    ttm_buf_clear(&name);
    ttm_buf_printf(&name, "%s_%s", r->plan.name.at, stamp);
    if (i > 1) ttm_buf_printf(&name, "_%d", i);
    ttm_buf_char(&name, '\0');
    made = !name.failed && make_new(r, base, store, name.at);
    taken = errno == EEXIST;
  }
  if (name.failed || r->folder.failed || r->stored.failed)
    status = ttm_error_nomem(err);
  else if (!status && !made)
    status = ttm_error_set(err, TTM_EIO, "cannot make the folder %s: %s", r->folder.at, strerror(errno));
  ttm_buf_free(&name);
  return status;
}

static int open_log(ttm_launch *r, const ttm_launch_options *o, ttm_error *err) {
  char store[PATH_MAX];
  bool stored = o->store && !ttm_folder_make(o->store, NULL) && realpath(o->store, store) && !access(store, W_OK);
  int status = make_folder(r, o->base, stored ? store : NULL, err);
  if (status) return status;
  ttm_buf_printf(&r->log, "%s/%s_profile.log", r->folder.at, r->plan.name.at);
  ttm_buf_char(&r->log, '\0');
  ttm_buf_printf(&r->recording, "%s/%s_recording.json", r->folder.at, r->plan.name.at);
  ttm_buf_char(&r->recording, '\0');
  if (r->log.failed || r->recording.failed) return ttm_error_nomem(err);
  r->source = r->log.at;
  r->log_fd = open(r->log.at, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  return r->log_fd < 0 ? ttm_error_set(err, TTM_EIO, "cannot write %s: %s", r->log.at, strerror(errno)) : TTM_OK;
}

/* ---- Environment ---------------------------------------------------------------------------------------------------- */

/* Sets a variable where the user has not, and notes it in `set`. */
static void set_default(const char *name, const char *value, ttm_buf *set) {
  if (getenv(name)) return;
  setenv(name, value, 0);
  ttm_buf_printf(set, "%s%s=%s", set->n ? " " : "", name, value);
}

/* Sets the variables of a full log. Values of the user stay; a warning says what the log then lacks. */
static void prepare_environment(const ttm_launch *r, const ttm_launch_options *o) {
  ttm_buf set = {0};
  for (size_t i = 0; i < TTM_SWITCHES; i++) {
    const ttm_switch *s = &ttm_switches[i];
    const char *value = getenv(s->name);
    const char *loss = value ? ttm_switch_judge(s, value) : NULL;
    if (loss) ttm_launch_say(&o->viewer, "warning: kept %s=%s from your environment: %s", s->name, value, loss);
    set_default(s->name, s->value, &set);
  }
  if (!r->plan.is_script) set_default("PYTHONUNBUFFERED", "1", &set); /* what -u does for a script */
  for (size_t i = 0; i < ttm_hindrance_count; i++) {
    const ttm_hindrance *h = &ttm_hindrances[i];
    if (h->harmful && ttm_hindrance_applies(h, getenv(h->name)))
      ttm_launch_say(&o->viewer, "warning: %s is set. %s", h->name, h->why);
  }
  if (!o->quiet && set.n && !set.failed) ttm_launch_say(&o->viewer, "set for the program: %.*s", (int)set.n, set.at);
  ttm_buf_free(&set);
}

/* Without a mock board the recording is optional: the program runs without it too. */
static int prepare_record(ttm_launch *r, const ttm_launch_options *o, ttm_error *err) {
  ttm_record_options options = {.board = o->board, .recording = r->recording.at, .argv = r->plan.argv};
  int status = o->record ? ttm_record_begin(&r->record, &options, err) : TTM_OK;
  if (!status || o->board) return status;
  ttm_launch_say(&o->viewer, "warning: the program's ttnn allocations are not recorded: %s", err->message);
  return TTM_OK;
}

/* ---- Start ---------------------------------------------------------------------------------------------------------- */

static void announce(const ttm_launch *r, const ttm_launch_options *o) {
  const char *board = r->record ? ttm_record_board(r->record) : NULL;
  ttm_buf words = {0};
  if (o->headline) return ttm_launch_say(&o->viewer, "%s", o->headline);
  for (char **word = r->plan.argv; *word; word++) {
    if (words.n) ttm_buf_char(&words, ' ');
    ttm_put_shell_word(&words, *word);
  }
  if (!words.failed && board)
    ttm_launch_say(&o->viewer, "running %.*s on a mock %s: real allocator, no hardware, kernels do not run",
                   (int)words.n, words.at, board);
  else if (!words.failed)
    ttm_launch_say(&o->viewer, "running %.*s", (int)words.n, words.at);
  ttm_launch_say(&o->viewer, "log: %s", r->log.at);
  ttm_buf_free(&words);
}

static int start(ttm_launch *r, const ttm_launch_options *o, ttm_error *err) {
  int status = prepare_record(r, o, err);
  if (!status && !o->board) prepare_environment(r, o);
  if (!status && !o->quiet) announce(r, o);
  if (!status && o->follow) status = ttm_feed_begin(&r->feed, r->log.at, NULL, err);
  ttm_pump_options pump = {
      .argv = r->plan.argv, .log = r->log_fd, .path = r->log.at, .feed = r->feed, .viewer = o->viewer};
  if (!status) status = ttm_pump_run(&r->result, &pump, err);
  if (r->record) ttm_record_close(r->record, &r->result.host, r->result.signal);
  return status;
}

int ttm_launch_run(ttm_launch *r, const ttm_launch_options *o, ttm_error *err) {
  *r = (ttm_launch){.log_fd = -1};
  int status = ttm_launch_plan_make(&r->plan, o->words, o->always_script, o->name, err);
  if (!status) status = open_log(r, o, err);
  if (!status) status = start(r, o, err);
  if (status && r->log_fd >= 0 && !unlink(r->log.at)) { /* nothing ran: nothing is left behind */
    if (r->stored.n && !rmdir(r->stored.at))
      unlink(r->folder.at);
    else
      rmdir(r->folder.at);
  }
  return status;
}

/* ---- After ---------------------------------------------------------------------------------------------------------- */

bool ttm_launch_is_recorded(const ttm_launch *r) { return r->record && ttm_record_is_there(r->record); }

/* The profile of the log; read back when it could not be followed. */
static int take_log(ttm_launch *r, ttm_profile **out, ttm_error *err) {
  ttm_feed *feed = r->feed;
  r->feed = NULL;
  if (r->result.fed) {
    int status = ttm_feed_end(feed, out, err);
    if (status || !ttm_fingerprint_of(&(*out)->file, r->log.at)) return status;
    ttm_profile_free(*out);
    *out = NULL;
    return ttm_error_nomem(err);
  }
  ttm_feed_free(feed);
  return ttm_profile_read(out, r->log.at, err);
}

/* A log with operations (tt-xla, tt-forge) has most, then the recording, then what ttnn itself prints. */
int ttm_launch_profile(ttm_launch *r, ttm_profile **out, ttm_error *err) {
  bool recorded = ttm_launch_is_recorded(r), board = r->record && ttm_record_board(r->record);
  if (board && !recorded)
    return ttm_error_set(err, TTM_ENODATA,
                         "the program opened no ttnn device, so nothing was recorded "
                         "(Python's options -E, -I and -S disable the recorder). Log: %s",
                         r->log.at);
  int status = board ? TTM_ENODATA : take_log(r, out, err);
  if (status && status != TTM_ENODATA) return status;
  if (!recorded || (!status && (*out)->ops.n)) return status;
  if (!status) ttm_profile_free(*out);
  *out = NULL;
  r->source = r->recording.at;
  return ttm_profile_read(out, r->recording.at, err);
}

void ttm_launch_free(ttm_launch *r) {
  ttm_record_end(r->record);
  ttm_feed_free(r->feed);
  if (r->log_fd >= 0) close(r->log_fd);
  ttm_launch_plan_free(&r->plan);
  ttm_buf_free(&r->folder);
  ttm_buf_free(&r->stored);
  ttm_buf_free(&r->log);
  ttm_buf_free(&r->recording);
}
