/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem cb log [FILE|-] and ttmem cb all [R T | --multi] [--source PATH] [--log FILE] */
#include "cli/cb_parts.h"
#include "l1/data_format.h"
#include "launch/embedded.h"

/* ---- Log -------------------------------------------------------------------------------------------------------------- */

static ttm_clash_hints hints_of(const ttm_options *o) {
  return (ttm_clash_hints){.arch = ttm_str_of(o->value[TTM_OPTION_ARCH]),
                           .version = ttm_str_of(o->value[TTM_OPTION_METAL_VERSION]),
                           .base = o->bytes[TTM_OPTION_L1_BASE],
                           .l1_small = o->bytes[TTM_OPTION_L1_SMALL],
                           .tile_bytes = ttm_format_tile_bytes(ttm_str_of(o->value[TTM_OPTION_DTYPE]))};
}

/* `path` NULL is the demonstration. */
static int read_log(ttm_device_log *log, const char *path, ttm_error *err) {
  ttm_str demo = {(const char *)ttm_demo_files[0].bytes, ttm_demo_files[0].n};
  int status = path ? ttm_device_log_read(log, path, err) : ttm_device_log_read_bytes(log, demo, err);
  if (status || !ttm_device_log_is_empty(log)) return status;
  return ttm_error_set(err, TTM_ENODATA,
                       "'%.200s' is neither a TT-Metal log nor a memory report; "
                       "for a TT-XLA or TT-MLIR runtime log use 'ttmem analyze'",
                       path);
}

static ttm_str name_of(const char *path) {
  return ttm_str_of(!path ? "The demonstration log demo/metal_cb.log" : strcmp(path, "-") ? path : "Standard input");
}

static int run_log(const ttm_options *options, ttm_error *err) {
  const char *path = options->inputs ? options->input[0] : NULL;
  ttm_device_log log = {0};
  ttm_output_form form = TTM_OUTPUT_TERMINAL;
  int status = ttm_output_form_of(&form, options, err);
  if (!status) status = read_log(&log, path, err);
  ttm_cb_parts parts = {.title = "L1 and circular buffers in a TT-Metal log", .log = &log};
  parts.log_name = name_of(path), parts.hints = hints_of(options);
  status = ttm_cb_show(options, form, &parts, status, err);
  ttm_device_log_free(&log);
  return status;
}

const ttm_command ttm_command_cb_log = {
    .name = "cb log",
    .synopsis = "cb log [FILE|-]",
    .help = "L1, kernels and clashes in a TT-Metal log",
    .more =
        "FILE is a log of TT-Metal's own logger (any version, colored or not, compressed or not) or a CSV file "
        "of ttnn.dump_device_memory_state. Without FILE a demonstration log is read.",
    .examples = "ttmem cb log metal.log\nttmem cb log l1_usage_summary.csv --json",
    .max_inputs = 1,
    .takes = TTM_TAKES(TTM_OPTION_DTYPE, TTM_CB_OPTIONS),
    .run = run_log,
};

/* ---- All -------------------------------------------------------------------------------------------------------------- */

/* From well inside the smallest class to well inside the largest. */
static const ttm_cb_workload sweep[] = {{2, 2},   {4, 4},   {8, 8},   {12, 12}, {16, 16},
                                        {17, 17}, {24, 24}, {32, 32}, {48, 48}, {64, 64}};

static int choose_workloads(const ttm_options *o, ttm_cb_workload *one, const ttm_cb_workload **out, size_t *n,
                            ttm_error *err) {
  bool multi = o->given[TTM_OPTION_MULTI] || !o->inputs;
  if (o->inputs == 1 || (o->inputs && o->given[TTM_OPTION_MULTI]))
    return ttm_error_set(err, TTM_EUSAGE,
                         "cb all takes R_TILES and TILES_PER_SHARD, or --multi for a table over workloads");
  *out = multi ? sweep : one;
  *n = multi ? sizeof sweep / sizeof *sweep : 1;
  return multi ? TTM_OK : ttm_cb_workload_parse(one, o->input[0], o->input[1], err);
}

static int scan_source(cbs_scan **out, const ttm_options *options, ttm_error *err) {
  cbs_define defines[TTM_MAX_MANY];
  cbs_options settings;
  const char *path = options->value[TTM_OPTION_SOURCE];
  int status = ttm_cb_scan_settings(&settings, defines, options, err);
  return status ? status : cbs_scan_paths(out, &path, 1, &settings, err);
}

static int run_all(const ttm_options *options, ttm_error *err) {
  const char *path = options->value[TTM_OPTION_LOG_FILE];
  const ttm_cb_workload *workloads = NULL;
  ttm_cb_workload one;
  ttm_device_log log = {0};
  cbs_scan *scan = NULL;
  ttm_cb_job job = {0};
  ttm_output_form form = TTM_OUTPUT_TERMINAL;
  size_t n = 0;
  int status = ttm_output_form_of(&form, options, err);
  if (!status) status = choose_workloads(options, &one, &workloads, &n, err);
  if (!status) status = ttm_cb_job_run(&job, options, workloads, n, err);
  if (!status && options->given[TTM_OPTION_SOURCE]) status = scan_source(&scan, options, err);
  if (!status && path) status = read_log(&log, path, err);
  ttm_cb_parts parts = {"Circular buffers", &job.simulation,  scan, NULL, path ? &log : NULL,
                        name_of(path),      hints_of(options)};
  status = ttm_cb_show(options, form, &parts, status, err);
  ttm_device_log_free(&log);
  cbs_scan_free(scan);
  ttm_cb_job_free(&job);
  return status;
}

const ttm_command ttm_command_cb_all = {
    .name = "cb all",
    .synopsis = "cb all [R T | --multi] [--source PATH] [--log FILE]",
    .help = "simulation, source and log in one report",
    .more = "With two numbers of tiles: one workload in detail. Without: a table over many.",
    .examples = "ttmem cb all 16 16 --source kernels/ --log metal.log\nttmem cb all --multi --html -o l1.html",
    .max_inputs = 2,
    .takes = TTM_TAKES(TTM_OPTION_MULTI, TTM_OPTION_SOURCE, TTM_OPTION_LOG_FILE, TTM_OPTION_CB, TTM_OPTION_TENSOR,
                       TTM_OPTION_DTYPE, TTM_OPTION_STRATEGY, TTM_OPTION_KERNEL_BYTES, TTM_OPTION_DEFINE,
                       TTM_OPTION_THREADS, TTM_OPTION_MAX_MEMORY, TTM_CB_OPTIONS),
    .run = run_all,
};
