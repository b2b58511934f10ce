/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem run -- COMMAND, and tt-memory-profiler SCRIPT.py: runs the program, keeps its log, writes the report beside it.
 * The program's output goes to standard output, all that is ours to standard error. */
#define _GNU_SOURCE /* strsignal */
#include <string.h>
#include <unistd.h>

#include "base/format.h"
#include "base/out_file.h"
#include "cli/command.h"
#include "cli/launch_view.h"
#include "cli/remember.h"
#include "launch/launch.h"
#include "store/report_dir.h"

/* For a program whose recording cannot say it: it was killed before it opened a device, or is no ttnn program. */
static void tell_host(const ttm_launch_viewer *viewer, const ttm_pump_result *result) {
  const ttm_host_watch *h = &result->host;
  bool group = h->cgroup && h->cgroup < h->machine;
  ttm_buf held = {0}, limit = {0}, available = {0};
  ttm_put_bytes(&held, h->now);
  ttm_put_bytes(&limit, group ? h->cgroup : h->machine);
  ttm_put_bytes(&available, h->available);
  ttm_launch_say(viewer,
                 "the host ran out of memory, not the device: its processes held %.*s of the %.*s of %s; %.*s were "
                 "available at the start",
                 TTM_ARGS(ttm_buf_str(&held)), TTM_ARGS(ttm_buf_str(&limit)),
                 group ? "its control group" : "this machine", TTM_ARGS(ttm_buf_str(&available)));
  ttm_buf_free(&held);
  ttm_buf_free(&limit);
  ttm_buf_free(&available);
}

static void tell_end(const ttm_launch_viewer *viewer, const ttm_pump_result *result) {
  if (result->signal)
    ttm_launch_say(viewer, "the program was ended by signal %d (%s)", result->signal, strsignal(result->signal));
  else if (result->exit_status)
    ttm_launch_say(viewer, "the program ended with exit status %d", result->exit_status);
}

/* The folder of a run stands for its log or its recording, whichever tells more: see ttm_report_kept_source. */
static void tell_next_steps(const ttm_options *options, const ttm_launch_viewer *viewer, const ttm_launch *r) {
  bool ours = options->program == TTM_PROGRAM_TTMEM, recorded = ttm_launch_is_recorded(r);
  ttm_buf size = {0}, source = {0}, folder = {0};
  ttm_put_bytes(&size, r->result.bytes);
  ttm_put_shell_path(&source, recorded ? r->folder.at : r->log.at);
  ttm_put_shell_path(&folder, r->folder.at);
  ttm_launch_say(viewer, "%.*s of output logged%s. Next:", (int)size.n, size.at,
                 recorded ? ", ttnn allocations recorded" : "");
  ttm_launch_say(viewer, "  %s %.*s", ours ? "ttmem analyze" : "tt-memory-profiler --analyze", (int)source.n,
                 source.at);
  ttm_launch_say(viewer, "  %s %.*s", ours ? "ttmem html" : "tt-memory-profiler --visualize", (int)folder.n, folder.at);
  ttm_buf_free(&size);
  ttm_buf_free(&source);
  ttm_buf_free(&folder);
}

static int write_report(const ttm_options *options, ttm_launch *r, ttm_error *err) {
  ttm_subject subject = {0};
  ttm_report_options files = {
      .leave_out = TTM_REPORT_MARKDOWN | (options->given[TTM_OPTION_NO_HTML] ? TTM_REPORT_HTML : 0u),
      .threads = options->threads};
  int status = ttm_launch_profile(r, &subject.profile, err);
  if (!status) status = ttm_findings_make(&subject.findings, subject.profile, options->threads, err);
  if (!status) status = ttm_report_files_write(subject.findings, r->folder.at, r->plan.name.at, &files, err);
  if (subject.findings && !options->given[TTM_OPTION_QUIET]) { /* also when the disk is full: a screen has room */
    ttm_buf text = {0};
    if (!ttm_summary_text(options, subject.findings, r->source, status ? NULL : r->folder.at, STDERR_FILENO, &text))
      ttm_write_all(STDERR_FILENO, text.at, text.n);
    ttm_buf_free(&text);
  }
  if (subject.findings)
    ttm_remember_findings(options,
                          (ttm_run_about){.command = "run",
                                          .name = r->plan.name.at,
                                          .source = r->source,
                                          .report = status ? NULL : r->folder.at,
                                          .here = true,
                                          .exit_status = r->result.exit_status},
                          subject.findings);
  ttm_subject_free(&subject);
  return status;
}

static int conclude(const ttm_options *options, const ttm_launch_viewer *viewer, ttm_launch *r, ttm_error *err) {
  bool quiet = options->given[TTM_OPTION_QUIET];
  int status = TTM_OK;
  if (!quiet) tell_end(viewer, &r->result);
  if (!ttm_launch_is_recorded(r) && ttm_host_watch_exhausted(&r->result.host, r->result.signal))
    tell_host(viewer, &r->result);
  if (r->record && ttm_record_check(r->record, err)) return ttm_cli_error(options, err);
  if (!options->given[TTM_OPTION_LOG])
    status = write_report(options, r, err);
  else if (!quiet)
    tell_next_steps(options, viewer, r);
  if (status) ttm_cli_error(options, err);
  /* The program's own failure is what the caller waits for; ours counts when there is none. */
  if (r->result.exit_status) return r->result.exit_status;
  return status || r->result.log_errno ? TTM_EXIT_WRONG : TTM_EXIT_OK;
}

int ttm_run_kept(const ttm_options *options, ttm_buf *folder, ttm_buf *source, ttm_error *err) {
  const char *name = options->value[TTM_OPTION_NAME], *base = options->value[TTM_OPTION_OUTPUT_DIR];
  bool quiet = options->given[TTM_OPTION_QUIET], ours = options->program == TTM_PROGRAM_TTMEM;
  ttm_launch_view view;
  ttm_launch r = {.log_fd = -1};
  ttm_buf store = {0};
  bool stored = ours && !base && !ttm_report_root(&store, NULL);
  ttm_buf_char(&store, '\0');
  ttm_launch_view_begin(&view, options, quiet);
  ttm_launch_options wish = {.words = options->rest,
                             .always_script = !ours,
                             .name = name,
                             .base = base ? base : "logs",
                             .store = stored && !store.failed ? store.at : NULL,
                             .board = options->value[TTM_OPTION_BOARD],
                             .record = ours,
                             .follow = !options->given[TTM_OPTION_LOG] || view.live,
                             .quiet = quiet,
                             .viewer = ttm_launch_view_viewer(&view)};
  int status = name ? ttm_check_report_name(name, err) : TTM_OK;
  if (!status) status = ttm_launch_run(&r, &wish, err);
  ttm_launch_view_end(&view);
  if (!status) status = conclude(options, &wish.viewer, &r, err);
  if (status >= 0 && folder) ttm_buf_puts(folder, r.folder.at), ttm_buf_puts(source, r.source);
  ttm_launch_free(&r);
  ttm_buf_free(&store);
  return status;
}

static int run(const ttm_options *options, ttm_error *err) { return ttm_run_kept(options, NULL, NULL, err); }

#define EXITS_PROGRAM                                                          \
  "the program's own, 128 + N when signal N ended it; 2 when it could not be " \
  "started, or when it succeeded but its log or report could not be written"

const ttm_command ttm_command_run = {
    .name = "run",
    .synopsis = "run [options] -- COMMAND",
    .help = "run a program, keep its log, write the report",
    .more =
        "The program's output is shown as it comes (both streams, in order, on standard output) and written to "
        "~/.ttmem/reports/NAME_YYYYMMDD_HHMMSS/NAME_profile.log, to which ./logs has a link; the report is written "
        "beside it. A .py file is run by "
        "python3 -u, of the active virtual environment if there is one. The logger variables of a full log are "
        "set where you have not set them.\n"
        "ttnn allocations of a Python program are recorded with their source lines. With --board B the program "
        "runs on a mock board: ttnn's real allocator, no hardware. B is a name or the path of a cluster "
        "descriptor.",
    .examples = "ttmem run -- python3 model.py --batch 4\nttmem run --board n150 model.py",
    .exits = EXITS_PROGRAM,
    .min_inputs = 1,
    .max_inputs = 1,
    .needs = "a command: ttmem run -- python3 model.py",
    .rest = TTM_REST_FIRST,
    .takes = TTM_TAKES(TTM_OPTION_BOARD, TTM_OPTION_LOG, TTM_OPTION_OUTPUT_DIR, TTM_OPTION_NAME, TTM_OPTION_NO_HTML,
                       TTM_OPTION_MODEL, TTM_OPTION_NO_HISTORY, TTM_OPTION_STORE, TTM_OPTION_PER, TTM_OPTION_QUIET,
                       TTM_OPTION_COLOR),
    .run = run,
};

const ttm_command ttm_command_profile = {
    .name = "tt-memory-profiler",
    .program = TTM_PROGRAM_PROFILER,
    .synopsis = "[options] SCRIPT.py [ARGS]",
    .help = "run a script, keep its log, write the report",
    .more =
        "With --analyze it reports on an existing log (ttmem analyze), with --visualize it writes the HTML page "
        "of a report folder (ttmem html). A run is written to ./logs/SCRIPT_YYYYMMDD_HHMMSS/, never to an "
        "existing folder. Options stand before the script.",
    .examples =
        "tt-memory-profiler model.py --batch 4\n"
        "tt-memory-profiler --log model.py\n"
        "tt-memory-profiler --analyze model_profile.log",
    .exits = EXITS_PROGRAM,
    .max_inputs = 1,
    .rest = TTM_REST_FIRST,
    .takes = TTM_TAKES(TTM_OPTION_ANALYZE, TTM_OPTION_VISUALIZE, TTM_OPTION_LOG, TTM_OPTION_OUTPUT_DIR,
                       TTM_OPTION_NO_HTML, TTM_OPTION_MODEL, TTM_OPTION_NO_HISTORY, TTM_OPTION_STORE, TTM_OPTION_PER,
                       TTM_OPTION_THREADS, TTM_OPTION_QUIET, TTM_OPTION_COLOR),
    .run = run,
};
