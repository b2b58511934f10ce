/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem html INPUT [-o FILE], and tt-memory-profiler --visualize DIR */
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>
#include <unistd.h>

#include "base/out_file.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "report/files/report.h"
#include "store/report_dir.h"
#include "store/report_find.h"

/* What to make the page of, and where it goes. */
typedef struct page_job {
  const char *input;
  bool is_folder;
  ttm_report_found found; /* of a folder */
  ttm_buf name, target;   /* NUL-terminated */
} page_job;

/* Of a folder the page alone may be written over: it is what is made anew. */
static int check_target(const page_job *job, ttm_error *err) {
  const char *const read[] = {job->is_folder ? NULL : job->input, job->found.log, job->found.recording,
                              job->found.memory};
  int status = TTM_OK;
  for (size_t i = 0; i < sizeof read / sizeof *read && !status; i++)
    status = ttm_check_output(read[i], job->target.at, err);
  return status;
}

static int plan(page_job *job, const ttm_options *options, ttm_error *err) {
  struct stat st;
  job->is_folder = strcmp(job->input, "-") != 0 && !stat(job->input, &st) && S_ISDIR(st.st_mode);
  int status = job->is_folder ? ttm_report_find(&job->found, job->input, err) : TTM_OK;
  const char *given = options->value[TTM_OPTION_NAME], *target = options->value[TTM_OPTION_OUTPUT];
  if (!status && given && !target) status = ttm_check_report_name(given, err); /* a title else, which may be anything */
  if (status) return status;
  if (given)
    ttm_buf_puts(&job->name, given);
  else if (job->is_folder)
    ttm_buf_puts(&job->name, job->found.name);
  else
    ttm_report_name(&job->name, job->input);
  if (target) {
    ttm_buf_puts(&job->target, target);
  } else {
    size_t n = strlen(job->input);
    if (job->is_folder) ttm_buf_printf(&job->target, "%s%s", job->input, job->input[n - 1] == '/' ? "" : "/");
    ttm_buf_put(&job->target, ttm_buf_str(&job->name));
    ttm_buf_puts(&job->target, "_report.html");
  }
  ttm_buf_char(&job->name, '\0');
  ttm_buf_char(&job->target, '\0');
  if (job->name.failed || job->target.failed) return ttm_error_nomem(err);
  return check_target(job, err);
}

/* The log or recording when the folder keeps it, else the data of the page that is there, else what the JSON files tell. */
static int write_page(const page_job *job, const ttm_options *options, ttm_out *out, ttm_error *err) {
  const ttm_report_found *found = &job->found;
  ttm_subject subject = {0};
  char *source = NULL;
  int status = job->is_folder ? ttm_report_kept_source(&source, found, job->input, err) : TTM_OK;
  if (status && (status != TTM_ENODATA || !ttm_can_do_without(options, job->input))) return status;
  if (found->page && !source) {
    status = ttm_report_renew_page(found, out, err);
    if (status != TTM_EFORMAT) return status;
  }
  if (!job->is_folder || source ||
      found->memory) /* else the page is all there is, and err says what is wrong with it */
    status = ttm_subject_read(&subject, options, source ? source : job->input, true, err);
  ttm_str name = ttm_str_of(job->name.at);
  if (!status) status = ttm_report_html_with(subject.findings, name, ttm_buf_str(&subject.kept), out, err);
  ttm_subject_free(&subject);
  ttm_free(source);
  return status;
}

static int run(const ttm_options *options, ttm_error *err) {
  page_job job = {.input = options->input[0]};
  ttm_out out;
  bool closed;
  int status = plan(&job, options, err);
  if (!status && !(status = ttm_terminal_open(&out, job.target.at, err))) {
    status = write_page(&job, options, &out, err);
    ttm_out_flush(&out);
    uint64_t bytes = out.written;
    status = ttm_terminal_end(&out, status, &closed, err);
    bool tell = !options->given[TTM_OPTION_QUIET] && ttm_terminal_is_file(job.target.at);
    if (!status && tell) status = ttm_terminal_wrote("page", job.target.at, bytes, err);
  }
  ttm_report_found_free(&job.found);
  ttm_buf_free(&job.target);
  ttm_buf_free(&job.name);
  return status;
}

const ttm_command ttm_command_html = {
    .name = "html",
    .synopsis = "html INPUT [-o OUT]",
    .help = "self-contained HTML page of a log or report",
    .more =
        "INPUT is a log (.gz and .zst too, '-' for standard input) or a report folder, also of the Python tool. "
        "The page goes to OUT ('-' for standard output), else into the report folder, else to NAME_report.html "
        "here. It needs no network and no other file.",
    .examples = "ttmem html model_profile.log -o model.html\nttmem html ~/.ttmem/reports/model",
    .min_inputs = 1,
    .max_inputs = 1,
    .named = true,
    .needs = "a log or a report folder: ttmem html INPUT [-o OUT]",
    .takes = TTM_TAKES(TTM_OPTION_OUTPUT, TTM_OPTION_NAME, TTM_OPTION_DECISION_TRACE, TTM_OPTION_TIMES,
                       TTM_OPTION_THREADS, TTM_OPTION_MAX_MEMORY, TTM_OPTION_NO_SYNC, TTM_OPTION_QUIET),
    .run = run,
};
