/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem verify INPUT --change ...: what a change would bring, replayed on what the input allocated. */
#include "report/run/verify.h"

#include "cli/command.h"
#include "cli/judge.h"
#include "cli/suggest.h"
#include "cli/terminal.h"

enum { NEAR = 3 };

typedef struct near_names {
  ttm_str at[NEAR];
  size_t distance[NEAR], n;
} near_names;

/* Keeps the nearest names, the first of equally near ones first. */
static void offer(near_names *near, ttm_str pattern, ttm_str name) {
  for (size_t i = 0; i < near->n; i++)
    if (ttm_str_eq(near->at[i], name)) return;
  size_t distance = ttm_edit_distance(pattern.p, pattern.n, name.p, name.n), at = near->n;
  if (!name.n || (at == NEAR && distance >= near->distance[NEAR - 1])) return;
  if (at < NEAR)
    near->n++;
  else
    at--;
  for (; at && near->distance[at - 1] > distance; at--)
    near->at[at] = near->at[at - 1], near->distance[at] = near->distance[at - 1];
  near->at[at] = name;
  near->distance[at] = distance;
}

/* A pattern that means nothing is a mistake, which the names that are there help to find. */
static int check_matches(const ttm_verified *v, ttm_error *err) {
  for (size_t c = 0; c < v->n; c++) {
    const ttm_change *change = &v->changes[c];
    near_names near = {.n = 0};
    if (v->after.match[c].matched || !change->pattern.n) continue;
    for (size_t i = 0; i < v->ledger.labels.n; i++) {
      const ttm_label *label = &v->ledger.labels.at[i];
      offer(&near, change->pattern, label->name);
      offer(&near, change->pattern, label->at);
      offer(&near, change->pattern, label->op);
    }
    return ttm_error_set(err, TTM_EUSAGE, "change '%.*s' matches no tensor%s%.*s%s%.*s%s%.*s", TTM_ARGS(change->text),
                         near.n ? "; near names: " : "", TTM_ARGS(near.at[0]), near.n > 1 ? ", " : "",
                         TTM_ARGS(near.at[1]), near.n > 2 ? ", " : "", TTM_ARGS(near.at[2]));
  }
  return TTM_OK;
}

static int print(const ttm_options *options, ttm_output_form form, const ttm_verified *v, ttm_error *err) {
  ttm_buf text = {0};
  ttm_doc doc = ttm_output_doc(form, options, &text);
  text.failed |= (form == TTM_OUTPUT_JSON ? ttm_verify_json(v, &text) : ttm_verify_write(&doc, v)) != TTM_OK;
  return ttm_terminal_print(&text, err);
}

static int run(const ttm_options *options, ttm_error *err) {
  const char *changes[TTM_MAX_MANY];
  ttm_subject subject = {0};
  ttm_verified verified = {.n = 0};
  ttm_output_form form;
  size_t n = 0;
  for (size_t i = 0; i < options->many_count; i++)
    if (options->many[i].option == TTM_OPTION_CHANGE) changes[n++] = options->many[i].value;
  int status =
      n ? TTM_OK : ttm_error_set(err, TTM_EUSAGE, "nothing to try: give --change, e.g. --change dtype=bfp8:weights");
  if (!status) status = ttm_output_form_of(&form, options, err);
  if (!status) status = ttm_subject_read(&subject, options, options->input[0], false, err);
  if (!status) status = ttm_verify(&verified, subject.findings, changes, n, err);
  if (!status) status = check_matches(&verified, err);
  if (!status) status = print(options, form, &verified, err);
  if (!status) status = ttm_judge_exit(options, subject.profile, verified.gained ? TTM_EXIT_OK : TTM_EXIT_FOUND);
  ttm_verified_free(&verified);
  ttm_subject_free(&subject);
  return status;
}

const ttm_command ttm_command_verify = {
    .name = "verify",
    .synopsis = "verify INPUT --change CHANGE [--change ...] [options]",
    .help = "try a fix on what was recorded: the peak it leads to",
    .more =
        "The allocations of a log, recording or graph capture are replayed with the changes, through the allocator's "
        "rules: the peak before and after, whether what failed then fits, and the rest. Changes count together.\n"
        "A CHANGE is NAME=VALUE:PATTERN,...: dtype=bf16|f32|bfp8|bfp4, free=last-use|run-end|now, move=dram|l1|host, "
        "layout=tile|row_major, reshape=64x128, shard=height,64|width,8|block,8x8, divide=4, order=first; or "
        "batch=4, batch=1/2, board=p150, which take no pattern.\n"
        "A PATTERN is a name, with * for any characters: of the weight or input, of the operation that made the "
        "tensor, of "
        "its location or number (#12), or a class: weights, activations, inputs, kv_cache, const_eval. !PATTERN takes "
        "tensors out again.\n"
        "free=now frees before the failing operation (else before the one that raises the peak), order=first allocates "
        "before everything else of the run.",
    .examples =
        "ttmem verify model_profile.log --change dtype=bfp8:weights\n"
        "ttmem verify model_profile.log --change 'free=last-use:layers.*|MLP*' --json",
    .exits =
        "0 it fits, and something is gained; 1 it does not fit, or nothing is gained; 2 wrong usage, a pattern that "
        "matches nothing, or unreadable input",
    .min_inputs = 1,
    .max_inputs = 1,
    .needs = "a log, recording or graph capture: ttmem verify INPUT --change dtype=bfp8:weights",
    .logs = 1,
    .takes = TTM_TAKES(TTM_OPTION_CHANGE, TTM_OPTION_ALLOW_PARTIAL, TTM_OPTION_JSON, TTM_OPTION_CSV, TTM_OPTION_THREADS,
                       TTM_OPTION_MAX_MEMORY, TTM_OPTION_QUIET, TTM_OPTION_COLOR),
    .run = run,
};
