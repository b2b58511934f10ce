/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem cb scan PATH... [-D NAME=VALUE] [--compare A B] [--check] */
#include <errno.h>
#include <stdlib.h>

#include "base/format.h"
#include "cli/cb_parts.h"
#include "cli/judge.h"
#include "cli/terminal.h"

/* NAME=VALUE; the name may be any expression as it stands in the source. */
static int parse_define(cbs_define *out, const char *word, ttm_error *err) {
  const char *equals = strrchr(word, '=');
  char *end = NULL;
  errno = 0;
  if (equals && equals > word) out->value = strtoll(equals + 1, &end, 0);
  if (!end || *end || end == equals + 1 || errno) {
    return ttm_error_set(err, TTM_EUSAGE,
                         "'%.80s' is not a definition: write -D NAME=NUMBER, for example -D num_tiles=16", word);
  }
  out->name = (ttm_str){word, (size_t)(equals - word)};
  return TTM_OK;
}

typedef struct scan_job {
  cbs_scan *scans[2];
  cbs_define defines[TTM_MAX_MANY];
  cbs_options settings;
} scan_job;

int ttm_cb_scan_settings(cbs_options *out, cbs_define defines[TTM_MAX_MANY], const ttm_options *options,
                         ttm_error *err) {
  const char *arch = options->value[TTM_OPTION_ARCH], *version = options->value[TTM_OPTION_METAL_VERSION];
  *out = (cbs_options){.threads = options->threads, .defines = defines};
  out->arch = arch ? ttm_arch_find(ttm_str_of(arch)) : TTM_ARCH_WORMHOLE;
  out->l1_small = options->bytes[TTM_OPTION_L1_SMALL];
  out->l1_base = options->bytes[TTM_OPTION_L1_BASE];
  if (version && !options->given[TTM_OPTION_L1_BASE]) {
    ttm_cb_machine machine = {0};
    if (ttm_cb_machine_set(&machine, out->arch, ttm_str_of(version), err)) return TTM_EUSAGE;
    out->l1_base = machine.base;
  }
  uint64_t base = out->l1_base ? out->l1_base : ttm_l1_base_newest(out->arch);
  int status = ttm_cb_check_l1(out->arch, base, out->l1_small, err);
  if (status) return status;
  for (size_t i = 0; i < options->many_count; i++) {
    if (options->many[i].option != TTM_OPTION_DEFINE) continue;
    status = parse_define(&defines[out->define_count++], options->many[i].value, err);
    if (status) return status;
  }
  return TTM_OK;
}

static int prepare(scan_job *job, const ttm_options *options, ttm_error *err) {
  int status = ttm_cb_scan_settings(&job->settings, job->defines, options, err);
  if (status) return status;
  if (options->given[TTM_OPTION_COMPARE] && options->inputs != 2) {
    return ttm_error_set(err, TTM_EUSAGE, "--compare takes two versions of a program: ttmem cb scan --compare A B");
  }
  for (size_t i = 0; i < options->inputs && !status; i++)
    status = ttm_check_output(options->input[i], options->value[TTM_OPTION_SARIF], err);
  return status;
}

static bool has_errors(const cbs_scan *scan) {
  for (size_t i = 0; scan && i < scan->findings.n; i++) {
    if (scan->findings.at[i].level == TTM_CB_ERROR) return true;
  }
  return false;
}

/* TTM_ENODATA when no file could be read, and with --check when one could not: a silence that proves nothing. */
static int check_read(const scan_job *job, bool check, ttm_error *err) {
  const cbs_file *first = NULL;
  size_t files = 0, lost = 0;
  for (int s = 0; s < 2; s++) {
    for (size_t i = 0; job->scans[s] && i < job->scans[s]->files.n; i++, files++) {
      const cbs_file *file = &job->scans[s]->files.at[i];
      if (!file->failure) continue;
      if (!lost++) first = file;
    }
  }
  if (!lost || (!check && lost < files)) return TTM_OK;
  return ttm_error_set(err, TTM_ENODATA, "%zu of %zu files could not be read%s; %.300s: %s", lost, files,
                       lost < files ? ", so --check cannot pass" : "", first->path, first->failure);
}

/* --check: an error stands; without one, what a file lost behind its end might have had it. Places in it that the parser does not know, most of them
 * macros, are told and judged: half of all folders have some. */
static int judge(const ttm_options *options, const scan_job *job) {
  const cbs_file *first = NULL;
  ttm_buf why = {0};
  size_t cut = 0;
  if (has_errors(job->scans[0]) || has_errors(job->scans[1])) return TTM_EXIT_FOUND;
  for (int s = 0; s < 2; s++) {
    for (size_t i = 0; job->scans[s] && i < job->scans[s]->files.n; i++) {
      if (job->scans[s]->files.at[i].cut && !cut++) first = &job->scans[s]->files.at[i];
    }
  }
  if (!cut) return TTM_EXIT_OK;
  ttm_put_counted(&why, cut, "file");
  ttm_buf_printf(&why, " without %s end, first %s", cut > 1 ? "their" : "its", first->path);
  ttm_error err;
  ttm_error_nomem(&err);
  int exit_status = why.failed ? ttm_cli_error(options, &err) : ttm_judge_exit_why(options, ttm_buf_str(&why), 0);
  ttm_buf_free(&why);
  return exit_status;
}

/* --sarif and --github: what was found, for what runs pipelines. */
static int tell_pipeline(const ttm_options *options, const scan_job *job, ttm_error *err) {
  const char *sarif = options->value[TTM_OPTION_SARIF], *root = getenv("GITHUB_WORKSPACE");
  ttm_buf text = {0}, commands = {0}, summary = {0};
  int status = TTM_OK;
  if (sarif && cbs_sarif(&text, (const cbs_scan *const[]){job->scans[0], job->scans[1]})) text.failed = true;
  if (sarif) status = ttm_terminal_deliver(&text, sarif, err);
  if (status || !options->given[TTM_OPTION_GITHUB]) return status;
  for (int s = 0; s < 2; s++) cbs_github_commands(&commands, job->scans[s], root);
  for (int s = 0; s < 2 && job->scans[s]; s++) summary.failed |= cbs_github_summary(&summary, job->scans[s]) != TTM_OK;
  return ttm_github_deliver(&commands, &summary, err);
}

static int run(const ttm_options *options, ttm_error *err) {
  scan_job job = {0};
  ttm_output_form form = TTM_OUTPUT_TERMINAL;
  bool compare = options->given[TTM_OPTION_COMPARE], check = options->given[TTM_OPTION_CHECK];
  int status = prepare(&job, options, err);
  if (!status) status = ttm_output_form_of(&form, options, err);
  for (int i = 0; !status && i < 1 + compare; i++) {
    status = cbs_scan_paths(&job.scans[i], options->input + i, compare ? 1 : options->inputs, &job.settings, err);
  }
  ttm_cb_parts parts = {.title = compare ? "Circular buffers of two versions" : "Circular buffers in sources",
                        .scan = job.scans[0],
                        .against = job.scans[1]};
  status = ttm_cb_show(options, form, &parts, status, err);
  if (!status) status = tell_pipeline(options, &job, err);
  if (!status) status = check_read(&job, check, err);
  if (!status && check) status = judge(options, &job);
  cbs_scan_free(job.scans[0]);
  cbs_scan_free(job.scans[1]);
  return status;
}

const ttm_command ttm_command_cb_scan = {
    .name = "cb scan",
    .synopsis = "cb scan PATH...",
    .help = "circular buffers in TT-Metal C++ sources",
    .more =
        "PATH is a C++ file or a folder. Finds every circular and dataflow buffer host code creates, works out "
        "sizes, finds the kernels that push and pop them, and reports what cannot work. --check fails on an "
        "error and judges only files that have their end. --sarif is for code scanning, --github annotates the lines.",
    .examples =
        "ttmem cb scan ttnn/cpp/ttnn/operations/matmul -D num_tiles=16\n"
        "ttmem cb scan --compare before.cpp after.cpp",
    .exits = TTM_EXITS_CHECK,
    .min_inputs = 1,
    .max_inputs = TTM_MAX_INPUTS,
    .needs = "sources: ttmem cb scan FILE_OR_FOLDER...",
    .takes = TTM_TAKES(TTM_OPTION_DEFINE, TTM_OPTION_COMPARE, TTM_OPTION_CHECK, TTM_OPTION_ALLOW_PARTIAL,
                       TTM_OPTION_SARIF, TTM_OPTION_GITHUB, TTM_OPTION_THREADS, TTM_OPTION_MAX_MEMORY, TTM_CB_OPTIONS),
    .run = run,
};
