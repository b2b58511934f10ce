/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem plan RECORDING: how large the KV cache may be on each board, and what to open the device with. */
#include "cli/command.h"
#include "cli/judge.h"
#include "cli/terminal.h"
#include "report/run/deployment.h"

static int print(const ttm_options *options, ttm_output_form form, const ttm_deployment *plan, ttm_error *err) {
  ttm_buf text = {0};
  ttm_doc doc = ttm_output_doc(form, options, &text);
  text.failed |=
      (form == TTM_OUTPUT_JSON ? ttm_deployment_json(plan, &text) : ttm_deployment_write(&doc, plan)) != TTM_OK;
  return ttm_terminal_print(&text, err);
}

/* --board asks for room; without it a table is an answer. */
static int exit_of(const ttm_options *options, const ttm_deployment *plan) {
  bool none = false, unknown = false;
  for (size_t b = 0; b < TTM_BOARDS; b++) {
    if (!plan->boards[b].board) continue;
    none |= ttm_deployment_known(plan) && plan->boards[b].answer == TTM_DEPLOYED_NOT;
    unknown |= !ttm_deployment_known(plan) || plan->boards[b].answer > TTM_DEPLOYED;
  }
  if (!options->given[TTM_OPTION_BOARD]) return TTM_EXIT_OK;
  return none ? TTM_EXIT_FOUND : unknown ? TTM_EXIT_WRONG : TTM_EXIT_OK;
}

static int run(const ttm_options *options, ttm_error *err) {
  ttm_subject subject = {0};
  ttm_deployment plan = {.caches = 0};
  ttm_output_form form;
  unsigned boards;
  uint64_t region = options->given[TTM_OPTION_TRACE_REGION] ? options->bytes[TTM_OPTION_TRACE_REGION] : TTM_UNKNOWN;
  int status = ttm_output_form_of(&form, options, err);
  if (!status) status = ttm_boards_named(options->value[TTM_OPTION_BOARD], &boards, err);
  if (!status) status = ttm_subject_read(&subject, options, options->input[0], false, err);
  if (!status) status = ttm_deployment_make(&plan, subject.findings, boards, region, err);
  if (!status) status = print(options, form, &plan, err);
  int exit_status = status ? status : exit_of(options, &plan);
  if (!status && options->given[TTM_OPTION_BOARD]) exit_status = ttm_judge_exit(options, subject.profile, exit_status);
  ttm_deployment_free(&plan);
  ttm_subject_free(&subject);
  return exit_status;
}

const ttm_command ttm_command_plan = {
    .name = "plan",
    .synopsis = "plan RECORDING [--board B,...] [options]",
    .help = "how large a KV cache fits, and what to open the device with",
    .more =
        "The recorded allocations of a model are replayed with larger KV caches: the most blocks and tokens that fit "
        "beside the rest on each board, the trace_region_size and l1_small_size as far as the recording tells them, "
        "and "
        "the settings to paste for tt_transformers, vLLM on TT and tt-inference-server.\n"
        "Caches are the tensors that fill_cache, update_cache and their paged forms write into. The settings are for "
        "the recorded board, else for the first of --board.",
    .examples =
        "ttmem run --board n150 -- python3 model.py\nttmem plan logs/model_20260822_101500\n"
        "ttmem plan model_recording.json --board n150,p150 --trace-region 50000000",
    .exits =
        "0 a plan was made; 1 with --board: not even one block fits one of them; 2 wrong usage, unreadable input, or "
        "with --board: no answer for one of them",
    .min_inputs = 1,
    .max_inputs = 1,
    .needs = "a recording: ttmem run --board n150 -- python3 model.py, then ttmem plan with its folder",
    .logs = 1,
    .takes = TTM_TAKES(TTM_OPTION_BOARD, TTM_OPTION_ALLOW_PARTIAL, TTM_OPTION_TRACE_REGION, TTM_OPTION_JSON,
                       TTM_OPTION_CSV, TTM_OPTION_THREADS, TTM_OPTION_MAX_MEMORY, TTM_OPTION_QUIET, TTM_OPTION_COLOR),
    .run = run,
};
