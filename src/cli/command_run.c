/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem run -- COMMAND, and tt-memory-profiler SCRIPT.py: runs the program, keeps its log, writes the report beside it.
 * The program's output goes to standard output, all that is ours to standard error. */
#define _GNU_SOURCE /* strsignal, localtime_r, setenv */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/format.h"
#include "base/out_file.h"
#include "capture/switches.h"
#include "cli/capture_view.h"
#include "cli/command.h"
#include "cli/record.h"
#include "cli/run_plan.h"
#include "cli/terminal.h"
#include "store/report_dir.h"
#include "store/run_dir.h"

typedef struct run {
  const ttm_options *options;
  ttm_run_plan plan;
  ttm_buf folder, log, recording; /* NUL-terminated */
  ttm_record *record;             /* NULL: nothing is recorded */
  const char *source;             /* the log or the recording: what the report is made of */
  int log_fd;
  ttm_feed *feed;
  ttm_capture_view view;
  ttm_capture_result result;
} run;

/* ---- Before ------------------------------------------------------------------------------------------------------- */

static int open_log(run *r, ttm_error *err) {
  const char *base = r->options->value[TTM_OPTION_OUTPUT_DIR];
  time_t now = time(NULL);
  struct tm when;
  localtime_r(&now, &when);
  int status = ttm_run_dir_make(&r->folder, base ? base : "logs", r->plan.name.at, &when, err);
  if (status) return status;
  ttm_buf_put(&r->log, ttm_buf_str(&r->folder));
  ttm_buf_printf(&r->log, "/%s_profile.log", r->plan.name.at);
  ttm_buf_put(&r->recording, ttm_buf_str(&r->folder));
  ttm_buf_printf(&r->recording, "/%s_recording.json", r->plan.name.at);
  ttm_buf_char(&r->folder, '\0');
  ttm_buf_char(&r->log, '\0');
  ttm_buf_char(&r->recording, '\0');
  if (r->folder.failed || r->log.failed || r->recording.failed) return ttm_error_nomem(err);
  r->source = r->log.at;
  r->log_fd = open(r->log.at, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (r->log_fd < 0) return ttm_error_set(err, TTM_EIO, "cannot write %s: %s", r->log.at, strerror(errno));
  return TTM_OK;
}

/* Sets a variable where the user has not, and notes it in `set`. */
static void set_default(const char *name, const char *value, ttm_buf *set) {
  if (getenv(name)) return;
  setenv(name, value, 0);
  ttm_buf_printf(set, "%s%s=%s", set->n ? " " : "", name, value);
}

/* The switches of a full log. What the user has set stays; what that costs is said. */
static void prepare_environment(run *r, bool quiet) {
  ttm_buf set = {0};
  for (size_t i = 0; i < TTM_SWITCHES; i++) {
    const ttm_switch *s = &ttm_switches[i];
    const char *value = getenv(s->name);
    const char *loss = value ? ttm_switch_judge(s, value) : NULL;
    if (loss) ttm_capture_view_say(&r->view, "warning: kept %s=%s as you set it: %s", s->name, value, loss);
    set_default(s->name, s->value, &set);
  }
  if (!r->plan.is_script) set_default("PYTHONUNBUFFERED", "1", &set); /* what -u does for a script */
  for (size_t i = 0; i < ttm_hindrance_count; i++) {
    const ttm_hindrance *h = &ttm_hindrances[i];
    if (h->harmful && ttm_hindrance_applies(h, getenv(h->name)))
      ttm_capture_view_say(&r->view, "warning: %s is set. %s", h->name, h->why);
  }
  if (!quiet && set.n && !set.failed) ttm_capture_view_say(&r->view, "set for the program: %.*s", (int)set.n, set.at);
  ttm_buf_free(&set);
}

/* ttnn's allocations are recorded, wherever a Python program imports it. Without a mock board they are an extra: not having them is
 * no reason not to run. */
static int prepare_record(run *r, ttm_error *err) {
  const char *board = r->options->value[TTM_OPTION_BOARD];
  ttm_record_options options = {.board = board, .recording = r->recording.at, .argv = r->plan.argv};
  if (r->options->program != TTM_PROGRAM_TTMEM) return TTM_OK;
  int status = ttm_record_begin(&r->record, &options, err);
  if (!status || board) return status;
  ttm_capture_view_say(&r->view, "warning: what the program does with ttnn is not recorded: %s", err->message);
  return TTM_OK;
}

static void announce(run *r) {
  ttm_buf words = {0};
  for (char **word = r->plan.argv; *word; word++) {
    if (words.n) ttm_buf_char(&words, ' ');
    ttm_put_shell_word(&words, *word);
  }
  const char *board = r->record ? ttm_record_board(r->record) : NULL;
  if (!words.failed && board)
    ttm_capture_view_say(&r->view, "running %.*s on a mock %s: real allocator, no hardware, kernels do not run",
                         (int)words.n, words.at, board);
  else if (!words.failed)
    ttm_capture_view_say(&r->view, "running %.*s", (int)words.n, words.at);
  ttm_capture_view_say(&r->view, "log: %s", r->log.at);
  ttm_buf_free(&words);
}

/* ---- After -------------------------------------------------------------------------------------------------------- */

static void tell_end(run *r) {
  const ttm_capture_result *result = &r->result;
  if (result->signal)
    ttm_capture_view_say(&r->view, "the program was ended by signal %d (%s)", result->signal,
                         strsignal(result->signal));
  else if (result->exit_status)
    ttm_capture_view_say(&r->view, "the program ended with exit status %d", result->exit_status);
}

/* The folder of a run stands for its log or its recording, whichever tells more: see ttm_report_kept_source. */
static void tell_next_steps(run *r) {
  bool ours = r->options->program == TTM_PROGRAM_TTMEM, recorded = r->record && ttm_record_is_there(r->record);
  ttm_buf size = {0}, source = {0}, folder = {0};
  ttm_put_bytes(&size, r->result.bytes);
  ttm_put_shell_path(&source, recorded ? r->folder.at : r->log.at);
  ttm_put_shell_path(&folder, r->folder.at);
  ttm_capture_view_say(&r->view, "%.*s captured%s. Next:", (int)size.n, size.at,
                       recorded ? ", and what it allocated with ttnn" : "");
  ttm_capture_view_say(&r->view, "  %s %.*s", ours ? "ttmem analyze" : "tt-memory-profiler --analyze", (int)source.n,
                       source.at);
  ttm_capture_view_say(&r->view, "  %s %.*s", ours ? "ttmem html" : "tt-memory-profiler --visualize", (int)folder.n,
                       folder.at);
  ttm_buf_free(&size);
  ttm_buf_free(&source);
  ttm_buf_free(&folder);
}

/* The profile of the log; read back when it could not be followed. */
static int take_log(run *r, ttm_profile **out, ttm_error *err) {
  ttm_feed *feed = r->feed;
  r->feed = NULL;
  if (r->result.fed) return ttm_feed_end(feed, out, err);
  ttm_feed_free(feed);
  return ttm_profile_read(out, r->log.at, err);
}

/* What was recorded tells more than what ttnn prints; a log with operations of its own (tt-xla, tt-forge) tells more still. */
static int take_profile(run *r, ttm_profile **out, ttm_error *err) {
  bool recorded = r->record && ttm_record_is_there(r->record), board = r->record && ttm_record_board(r->record);
  if (board && !recorded)
    return ttm_error_set(err, TTM_ENODATA,
                         "the program opened no ttnn device, so nothing was recorded "
                         "(Python's -E, -I and -S keep the recorder out). Its log: %s",
                         r->log.at);
  int status = board ? TTM_ENODATA : take_log(r, out, err);
  if (status && status != TTM_ENODATA) return status;
  if (!recorded || (!status && (*out)->ops.n)) return status;
  if (!status) ttm_profile_free(*out);
  *out = NULL;
  r->source = r->recording.at;
  return ttm_profile_read(out, r->recording.at, err);
}

static int write_report(run *r, ttm_error *err) {
  const ttm_options *options = r->options;
  ttm_subject subject = {0};
  ttm_report_options files = {.leave_out = options->given[TTM_OPTION_NO_HTML] ? TTM_REPORT_HTML : 0,
                              .threads = options->threads};
  int status = take_profile(r, &subject.profile, err);
  if (!status) status = ttm_findings_make(&subject.findings, subject.profile, options->threads, err);
  if (!status) status = ttm_report_files_write(subject.findings, r->folder.at, r->plan.name.at, &files, err);
  if (subject.findings && !options->given[TTM_OPTION_QUIET]) { /* also when the disk is full: a screen has room */
    ttm_buf text = {0};
    if (!ttm_summary_text(options, subject.findings, r->source, status ? NULL : r->folder.at, STDERR_FILENO, &text))
      ttm_write_all(STDERR_FILENO, text.at, text.n);
    ttm_buf_free(&text);
  }
  ttm_subject_free(&subject);
  return status;
}

/* ---- The whole ---------------------------------------------------------------------------------------------------- */

static int capture(run *r, ttm_error *err) {
  bool quiet = r->options->given[TTM_OPTION_QUIET], log_only = r->options->given[TTM_OPTION_LOG];
  ttm_capture_view *view = &r->view;
  int status = TTM_OK;
  ttm_capture_view_begin(view, ttm_program_name(r->options->program), r->log.at, quiet,
                         r->options->value[TTM_OPTION_COLOR]);
  status = prepare_record(r, err);
  if (!status && !r->options->value[TTM_OPTION_BOARD]) prepare_environment(r, quiet);
  if (!status && !quiet) announce(r);
  if (!status && (!log_only || view->live)) status = ttm_feed_begin(&r->feed, r->log.at, NULL, err);
  ttm_capture_options options = {.argv = r->plan.argv,
                                 .log = r->log_fd,
                                 .feed = r->feed,
                                 .context = view,
                                 .show = ttm_capture_view_show,
                                 .note = ttm_capture_view_note};
  if (!status) status = ttm_capture_run(&r->result, &options, err);
  ttm_capture_view_end(view);
  return status;
}

/* Nothing ran, so nothing is left behind. */
static void take_back(run *r) {
  if (r->log_fd >= 0 && !unlink(r->log.at)) rmdir(r->folder.at);
}

static int conclude(run *r, ttm_error *err) {
  bool quiet = r->options->given[TTM_OPTION_QUIET];
  int status = TTM_OK;
  if (!quiet) tell_end(r);
  if (r->record && ttm_record_check(r->record, err)) return ttm_cli_error(r->options, err);
  if (r->options->given[TTM_OPTION_LOG]) {
    if (!quiet) tell_next_steps(r);
  } else {
    status = write_report(r, err);
  }
  if (status) ttm_cli_error(r->options, err);
  /* The program's own failure is what the caller waits for; ours counts when there is none. */
  if (r->result.exit_status) return r->result.exit_status;
  return status || r->result.log_errno ? TTM_EXIT_WRONG : TTM_EXIT_OK;
}

int ttm_command_run_kept(const ttm_options *options, ttm_buf *folder, ttm_buf *source) {
  run r = {.options = options, .log_fd = -1};
  ttm_error err;
  const char *name = options->value[TTM_OPTION_NAME];
  if (!options->rest) {
    ttm_error_set(&err, TTM_EUSAGE, "run needs a command: ttmem run -- python3 model.py");
    return ttm_cli_error(options, &err);
  }
  int status = name ? ttm_check_report_name(name, &err) : TTM_OK;
  if (!status) status = ttm_run_plan_make(&r.plan, options->rest, options->program == TTM_PROGRAM_PROFILER, name, &err);
  if (!status) status = open_log(&r, &err);
  if (!status && (status = capture(&r, &err))) take_back(&r);
  int exit_status = status ? ttm_cli_error(options, &err) : conclude(&r, &err);
  if (!status && folder) ttm_buf_puts(folder, r.folder.at), ttm_buf_puts(source, r.source);
  ttm_record_end(r.record);
  ttm_feed_free(r.feed);
  if (r.log_fd >= 0) close(r.log_fd);
  ttm_run_plan_free(&r.plan);
  ttm_buf_free(&r.folder);
  ttm_buf_free(&r.log);
  ttm_buf_free(&r.recording);
  return exit_status;
}

int ttm_command_run(const ttm_options *options) { return ttm_command_run_kept(options, NULL, NULL); }
