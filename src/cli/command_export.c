/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem export --FORMAT INPUT [-o OUT] */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "launch/embedded.h"
#include "report/export/export.h"
#include "store/report_dir.h"
#include "store/visualizer_dir.h"

typedef int write_table(const ttm_findings *f, ttm_table table, ttm_out *out, ttm_error *err);
typedef int write_whole(const ttm_findings *f, const ttm_times *times, ttm_out *out, ttm_error *err);

typedef struct export_form {
  ttm_option option;
  const char *ending; /* of the file's name */
  write_table *table; /* one file per table, ... */
  write_whole *whole; /* ... or one for all */
  bool timed;         /* has a time axis */
} export_form;

static const export_form FORMS[] = {
    {TTM_OPTION_PERFETTO, ".perfetto-trace", NULL, ttm_export_perfetto, true},
    {TTM_OPTION_CHROME, ".trace.json", NULL, ttm_export_chrome, true},
    {TTM_OPTION_PPROF, ".pb.gz", NULL, ttm_export_pprof, false},
    {TTM_OPTION_PARQUET, ".parquet", ttm_export_parquet, NULL, false},
    {TTM_OPTION_ARROW, ".arrow", ttm_export_arrow, NULL, false},
    {TTM_OPTION_CSV, ".csv", ttm_export_csv, NULL, false},
    {TTM_OPTION_JSON, ".json", ttm_export_json, NULL, false},
    {TTM_OPTION_VISUALIZER, "", NULL, NULL, false}, /* a folder of its own */
};

static int form_of(const export_form **out, const ttm_options *options, ttm_error *err) {
  *out = NULL;
  for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
    if (!options->given[FORMS[i].option]) continue;
    if (*out)
      return ttm_error_set(err, TTM_EUSAGE, "--%s and --%s are two formats: give one",
                           ttm_option_table[(*out)->option].name, ttm_option_table[FORMS[i].option].name);
    *out = &FORMS[i];
  }
  if (!*out) return ttm_error_set(err, TTM_EUSAGE, "export needs %s", ttm_command_export.needs);
  if (options->given[TTM_OPTION_TABLE] && !(*out)->table)
    return ttm_error_set(err, TTM_EUSAGE, "--table goes with --csv, --json, --arrow and --parquet: --%s is one file",
                         ttm_option_table[(*out)->option].name);
  if (options->given[TTM_OPTION_TIMES] && !(*out)->timed)
    return ttm_error_set(err, TTM_EUSAGE, "--times goes with --perfetto and --chrome: --%s has no time",
                         ttm_option_table[(*out)->option].name);
  return TTM_OK;
}

typedef struct export_job {
  const ttm_options *options;
  const export_form *form;
  const ttm_findings *f;
  ttm_times times;
} export_job;

static int write_file(const export_job *job, const char *target, ttm_table table, ttm_error *err) {
  ttm_out out;
  bool closed;
  bool text = job->form->option == TTM_OPTION_CSV || job->form->option == TTM_OPTION_JSON ||
              job->form->option == TTM_OPTION_CHROME;
  if (!text && !strcmp(target, "-") && isatty(STDOUT_FILENO))
    return ttm_error_set(err, TTM_EUSAGE, "this format is not for a terminal: name a file with -o");
  int status = ttm_check_output(job->options->input[0], target, err);
  if (!status) status = ttm_terminal_open(&out, target, err);
  if (status) return status;
  status =
      job->form->table ? job->form->table(job->f, table, &out, err) : job->form->whole(job->f, &job->times, &out, err);
  ttm_out_flush(&out);
  uint64_t bytes = out.written;
  status = ttm_terminal_end(&out, status, &closed, err);
  bool tell = !job->options->given[TTM_OPTION_QUIET] && ttm_terminal_is_file(target);
  return status || !tell ? status : ttm_terminal_wrote("exported", target, bytes, err);
}

/* Every table, each in a file of its name. */
static int write_folder(const export_job *job, const char *folder, ttm_error *err) {
  int status = TTM_OK;
  if (mkdir(folder, 0777) && errno != EEXIST)
    return ttm_error_set(err, TTM_EIO, "cannot make the folder '%s': %s", folder, strerror(errno));
  for (int table = 0; table < TTM_TABLES && !status; table++) {
    ttm_buf path = {0};
    ttm_buf_printf(&path, "%s/%s%s", folder, ttm_table_name((ttm_table)table), job->form->ending);
    ttm_buf_char(&path, '\0');
    status = path.failed ? ttm_error_nomem(err) : write_file(job, path.at, (ttm_table)table, err);
    ttm_buf_free(&path);
  }
  return status;
}

static ttm_str descriptor_of(const ttm_profile *p) {
  ttm_str board = ttm_profile_string(p, p->capture.recording.board);
  for (size_t i = 0; i < ttm_board_files_count; i++)
    if (ttm_str_eq(board, ttm_str_of(ttm_board_files[i].name)))
      return (ttm_str){(const char *)ttm_board_files[i].bytes, ttm_board_files[i].n};
  return (ttm_str){"", 0};
}

/* The folder that ttnn-visualizer opens. */
static int write_visualizer(const export_job *job, const char *folder, ttm_error *err) {
  ttm_buf name = {0}, db = {0};
  ttm_report_name(&name, job->options->input[0]);
  ttm_buf_printf(&db, "%s/db.sqlite", folder);
  ttm_buf_char(&db, '\0');
  int status = name.failed || db.failed ? ttm_error_nomem(err) : ttm_check_output(job->options->input[0], db.at, err);
  if (!status)
    status = ttm_visualizer_dir_write(job->f, folder, ttm_buf_str(&name), descriptor_of(job->f->profile), err);
  struct stat st = {0};
  if (!status && !stat(db.at, &st) && !job->options->given[TTM_OPTION_QUIET])
    status = ttm_terminal_wrote("exported", db.at, (uint64_t)st.st_size, err);
  ttm_buf_free(&name);
  ttm_buf_free(&db);
  return status;
}

/* Without -o: NAME and the ending; of all tables a folder NAME. */
static int default_target(ttm_buf *out, const export_job *job) {
  ttm_report_name(out, job->options->input[0]);
  if (job->form->whole) ttm_buf_puts(out, job->form->ending);
  ttm_buf_char(out, '\0');
  return out->failed ? TTM_ENOMEM : TTM_OK;
}

static int deliver(const export_job *job, ttm_error *err) {
  const char *target = job->options->value[TTM_OPTION_OUTPUT], *name = job->options->value[TTM_OPTION_TABLE];
  ttm_buf own = {0};
  if (job->options->given[TTM_OPTION_VISUALIZER])
    return write_visualizer(job, job->options->value[TTM_OPTION_VISUALIZER], err);
  if (name) {
    ttm_table table = 0;
    while (strcmp(name, ttm_table_name(table)) != 0) table++;
    return write_file(job, target ? target : "-", table, err);
  }
  if (!target && default_target(&own, job)) return ttm_buf_free(&own), ttm_error_nomem(err);
  if (!target) target = own.at;
  if (job->form->table && !strcmp(target, "-"))
    return ttm_error_set(err, TTM_EUSAGE, "standard output takes one table: name it with --table");
  int status = job->form->whole ? write_file(job, target, 0, err) : write_folder(job, target, err);
  ttm_buf_free(&own);
  return status;
}

static int run(const ttm_options *options, ttm_error *err) {
  ttm_subject subject = {0};
  export_job job = {.options = options};
  int status = form_of(&job.form, options, err);
  if (!status) status = ttm_subject_read(&subject, options, options->input[0], false, err);
  job.f = subject.findings;
  const char *times = options->value[TTM_OPTION_TIMES];
  if (!status && job.form->timed && (!times || strcmp(times, "operations") != 0))
    status = ttm_times_read(&job.times, subject.profile, options->input[0], err);
  if (!status) status = deliver(&job, err);
  ttm_times_free(&job.times);
  ttm_subject_free(&subject);
  return status;
}

const ttm_command ttm_command_export = {
    .name = "export",
    .synopsis = "export --FORMAT INPUT [-o OUT]",
    .help = "traces, profiles and tables for the programs you already have",
    .more =
        "--perfetto, --chrome and --pprof write one file. --csv, --json, --arrow and --parquet write every table into "
        "a folder, or one with --table to OUT or standard output. --visualizer writes the folder that ttnn-visualizer "
        "opens. The time of a trace is that of the log's time "
        "stamps, "
        "or of tt-metal's profiler with --times CSV; without either, or with --times operations, an operation is one "
        "microsecond. The trace says which.",
    .examples =
        "ttmem export --perfetto model_profile.log\nttmem export --parquet model_profile.log -o tables\n"
        "ttmem export --csv --table tensors model_profile.log\n"
        "ttmem export --visualizer model_report model_recording.json",
    .min_inputs = 1,
    .max_inputs = 1,
    .needs =
        "a format and an input: ttmem export --perfetto|--chrome|--pprof|--csv|--json|--arrow|--parquet INPUT, or "
        "--visualizer DIR INPUT",
    .logs = 1,
    .reports = true,
    .takes =
        TTM_TAKES(TTM_OPTION_PERFETTO, TTM_OPTION_CHROME, TTM_OPTION_PPROF, TTM_OPTION_CSV, TTM_OPTION_JSON,
                  TTM_OPTION_ARROW, TTM_OPTION_PARQUET, TTM_OPTION_VISUALIZER, TTM_OPTION_TABLE, TTM_OPTION_TIMES,
                  TTM_OPTION_OUTPUT, TTM_OPTION_THREADS, TTM_OPTION_MAX_MEMORY, TTM_OPTION_NO_SYNC, TTM_OPTION_QUIET),
    .run = run,
};
