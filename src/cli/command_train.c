/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem train --logs FILE: what tt-train's memory summaries say. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "base/format.h"
#include "base/out_file.h"
#include "cli/command.h"
#include "cli/judge.h"
#include "cli/remember.h"
#include "cli/terminal.h"
#include "report/train/train_report.h"
#include "store/report_dir.h"

static int64_t bytes_of(const ttm_options *options, ttm_option option) {
  uint64_t bytes = options->bytes[option];
  return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

static int check_found(const ttm_train_log *log, const char *path, ttm_error *err) {
  for (size_t i = 0; i < log->summaries.n; i++) {
    if (log->summaries.at[i].phases.n || log->summaries.at[i].overall_peak != TTM_TRAIN_UNKNOWN) return TTM_OK;
  }
  if (log->footprints.n) return TTM_OK;
  return ttm_error_set(err, TTM_ENODATA,
                       "'%s' has no memory summary (%llu lines read). "
                       "tt-train prints one between '=== Memory Usage Summary ===' and 'Overall DRAM Peak' when it "
                       "tracks memory: python train_nanogpt.py --track_memory, "
                       "or MemoryUsageTracker::print_memory_usage() in C++. A runtime log is for 'ttmem analyze'.",
                       path, (unsigned long long)log->lines);
}

/* ---- The picture --------------------------------------------------------------------------------------------------- */

static const char *picture_path(const ttm_options *options) {
  const char *given = options->value[TTM_OPTION_OUTPUT];
  if (given) return given;
  return options->given[TTM_OPTION_VISUALIZE_PEAK] ? "memory_peak_visualization.png" : NULL;
}

/* The name decides the form. Checked before anything is read. */
static int check_picture_path(const char *log, const char *path, ttm_error *err) {
  if (!path) return TTM_OK;
  ttm_str name = ttm_str_of(path);
  if (!ttm_str_ends(name, TTM_LIT(".svg")) && !ttm_str_ends(name, TTM_LIT(".png"))) {
    return ttm_error_set(err, TTM_EUSAGE, "'%s' is not a picture: the name must end in .png or .svg", path);
  }
  return ttm_check_output(log, path, err);
}

static int write_picture(const ttm_options *options, const ttm_training *t, const char *path, ttm_error *err) {
  ttm_train_chart chart = {t, options->value[TTM_OPTION_TITLE]};
  ttm_picture picture = ttm_train_picture(&chart);
  ttm_buf bytes = {0};
  bool svg = ttm_str_ends(ttm_str_of(path), TTM_LIT(".svg"));
  int status = svg ? ttm_picture_svg(&picture, &bytes) : ttm_picture_png(&picture, &bytes, err);
  if (svg && status) ttm_error_nomem(err);
  if (!status) return ttm_terminal_deliver(&bytes, path, err);
  ttm_buf_free(&bytes);
  return status;
}

/* ---- The report ---------------------------------------------------------------------------------------------------- */

static int print_report(const ttm_options *options, const ttm_training *t, const char *picture, ttm_error *err) {
  ttm_buf text = {0};
  ttm_output_form form;
  if (ttm_output_form_of(&form, options, err)) return TTM_EUSAGE;
  ttm_summary_style style = ttm_terminal_style(STDOUT_FILENO, options->value[TTM_OPTION_COLOR]);
  ttm_doc doc = ttm_output_doc(form, options, &text);
  doc.columns = style.columns, doc.color = style.color; /* -o is the picture's */
  doc.utf8 |= form == TTM_OUTPUT_MD;
  text.failed |= (form == TTM_OUTPUT_JSON ? ttm_train_json_write(t, &text) : ttm_train_write(t, &doc)) != TTM_OK;
  if (picture && form == TTM_OUTPUT_TERMINAL) {
    ttm_buf_puts(&text, "Visualization saved to: ");
    ttm_put_text(&text, ttm_str_of(picture), SIZE_MAX, TTM_FORM_UTF8);
    ttm_buf_char(&text, '\n');
  }
  return ttm_terminal_print(&text, err);
}

static void remember(const ttm_options *options, const ttm_training *training) {
  ttm_buf name = {0};
  ttm_report_name(&name, options->input[0]);
  ttm_buf_char(&name, '\0');
  if (!name.failed)
    ttm_remember_training(
        options, (ttm_run_about){.command = "train", .name = name.at, .source = options->input[0], .exit_status = -1},
        training);
  ttm_buf_free(&name);
}

static int run(const ttm_options *options, ttm_error *err) {
  ttm_train_options sizes = {
      .device_memory = bytes_of(options, TTM_OPTION_DEVICE_MEMORY),
      .model_size = bytes_of(options, TTM_OPTION_MODEL_SIZE),
      .optimizer_size = bytes_of(options, TTM_OPTION_OPTIMIZER_SIZE),
      .gradients_size = bytes_of(options, TTM_OPTION_GRADIENTS_SIZE),
      .use_actual_sizes = options->given[TTM_OPTION_USE_ACTUAL_SIZES],
  };
  const char *path = options->input[0], *picture = picture_path(options);
  ttm_train_log log = {0};
  ttm_training training = {0};
  ttm_output_form form;
  int status = ttm_output_form_of(&form, options, err);
  if (!status) status = check_picture_path(path, picture, err);
  if (!status) status = ttm_train_log_read(&log, path, err);
  if (!status) status = check_found(&log, path, err);
  if (!status) status = ttm_training_make(&training, &log, &sizes, err);
  if (!status && picture) status = write_picture(options, &training, picture, err);
  if (!status) status = print_report(options, &training, picture, err);
  if (!status) remember(options, &training);
  bool fits = ttm_training_fits(&training);
  ttm_training_free(&training);
  ttm_str damage = ttm_str_of(log.damage ? log.damage : "");
  if (!status && options->given[TTM_OPTION_CHECK])
    status = ttm_judge_exit_why(options, damage, fits ? TTM_EXIT_OK : TTM_EXIT_FOUND);
  ttm_train_log_free(&log);
  return status;
}

const ttm_command ttm_command_train = {
    .name = "train",
    .synopsis = "train --logs FILE [options]",
    .help = "memory of a training run by phase, does it fit",
    .more =
        "FILE has the summaries that tt-train prints, one or many, plain or compressed. B is in bytes; 12GB and "
        "512MB work too. OUT is the histogram and ends in .png or .svg. --check fails when the run does not fit "
        "the device.",
    .examples = "ttmem train --logs nanogpt.log\nttmem train --logs nanogpt.log --device_memory 12GB -o peak.svg",
    .exits = TTM_EXITS_CHECK,
    .min_inputs = 1,
    .max_inputs = 1,
    .needs = "a log: ttmem train --logs FILE ('-' reads standard input)",
    .takes = TTM_TAKES(TTM_OPTION_LOGS, TTM_OPTION_DEVICE_MEMORY, TTM_OPTION_MODEL_SIZE, TTM_OPTION_OPTIMIZER_SIZE,
                       TTM_OPTION_GRADIENTS_SIZE, TTM_OPTION_USE_ACTUAL_SIZES, TTM_OPTION_VISUALIZE_PEAK,
                       TTM_OPTION_OUTPUT, TTM_OPTION_TITLE, TTM_OPTION_MODEL, TTM_OPTION_NO_HISTORY, TTM_OPTION_STORE,
                       TTM_OPTION_CHECK, TTM_OPTION_ALLOW_PARTIAL, TTM_OPTION_MAX_MEMORY, TTM_OPTION_JSON,
                       TTM_OPTION_CSV, TTM_OPTION_MD, TTM_OPTION_COLOR),
    .run = run,
};
