/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/fit.h"

#include <stdio.h>

#include "analyze/trial.h"
#include "base/error.h"

/* One way to play the log: a board, a batch, weights in another dtype. */
typedef struct wish {
  const ttm_ledger *ledger;
  const char *weights_dtype;
  const ttm_board *board;
  uint64_t converted;
} wish;

static int play(wish *w, uint32_t batch, ttm_trial *out) {
  ttm_change changes[3] = {{.kind = TTM_CHANGE_BOARD, .board = w->board},
                           {.kind = TTM_CHANGE_BATCH, .down = batch, .across = 1}};
  char text[32];
  int length = w->weights_dtype ? snprintf(text, sizeof text, "dtype=%s:weights", w->weights_dtype) : 0;
  size_t n = 2;
  if (length && !ttm_change_parse(&changes[n], (ttm_str){text, (size_t)length}, NULL)) n++;
  int status = ttm_trial_run(out, w->ledger, changes, n);
  if (n > 2) w->converted = out->match[2].changed;
  return status;
}

/* Twice as much until it no longer fits, then halfway between: a dozen replays at most. */
static int find_batch(wish *w, uint32_t *out) {
  ttm_trial trial;
  uint32_t low = 1, high = 2;
  int status = play(w, 1, &trial);
  *out = !status && trial.fits ? 1 : 0;
  if (status || !trial.fits) return status;
  for (; high <= TTM_FIT_MOST_BATCH; low = high, high *= 2) {
    status = play(w, high, &trial);
    if (status) return status;
    if (!trial.fits) break;
  }
  if (high > TTM_FIT_MOST_BATCH) return *out = TTM_FIT_MOST_BATCH, TTM_OK;
  while (high - low > 1 && !status) {
    uint32_t middle = low + (high - low) / 2;
    status = play(w, middle, &trial);
    *(trial.fits ? &low : &high) = middle;
  }
  *out = low;
  return status;
}

static int play_boards(ttm_fit *out, const ttm_ledger *ledger, const ttm_fit_options *options) {
  int status = TTM_OK;
  for (size_t b = 0; b < TTM_BOARDS && !status; b++) {
    wish w = {.ledger = ledger, .weights_dtype = options->weights_dtype, .board = &ttm_boards[b]};
    ttm_fit_board *row = &out->boards[b];
    ttm_trial trial;
    status = find_batch(&w, &row->largest_batch);
    if (!status) status = play(&w, options->batch ? options->batch : 1, &trial);
    if (status) break;
    row->board = w.board;
    row->fits = trial.fits;
    row->bank_bytes = trial.memories[TTM_REPLAY_DRAM].size;
    row->peak_bytes = trial.memories[TTM_REPLAY_DRAM].peak;
    row->l1_bytes = trial.memories[TTM_REPLAY_L1].size;
    row->l1_peak = trial.memories[TTM_REPLAY_L1].peak;
    row->refusal = trial.refusal;
    row->refused_op = trial.refused_op;
    out->converted_weights = w.converted;
  }
  return status;
}

static void describe(ttm_fit *out, const ttm_ledger *ledger) {
  const ttm_findings *f = ledger->findings;
  out->states = ledger->states;
  out->agree = ledger->agree;
  out->unaccounted = ledger->unaccounted;
  for (size_t i = 0; i < f->profile->incidents.n; i++)
    out->cut_short |= f->profile->incidents.at[i].what.kind == TTM_INCIDENT_OOM;
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  for (size_t i = 0; i < set->rows.n; i++)
    out->weights_from_host |= set->rows.at[i].class == TTM_ALIVE_WEIGHT && set->rows.at[i].arg != TTM_NONE;
}

int ttm_fit_make(ttm_fit *out, const ttm_findings *f, const ttm_fit_options *options, ttm_error *err) {
  ttm_ledger ledger;
  *out = (ttm_fit){.states = 0};
  if (f->profile->kind == TTM_LOG_CAPTURE)
    return ttm_error_set(
        err, TTM_ENODATA,
        "a graph capture or recording is of one board; to try others, run the program on them: ttmem fit "
        "-- python3 model.py");
  if (f->profile->kind != TTM_LOG_FULL && f->profile->kind != TTM_LOG_OPS) {
    return ttm_error_set(err, TTM_ENODATA,
                         "the log has no operation lines, so its tensors are unknown; run with "
                         "TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG to get them");
  }
  int status = ttm_ledger_make(&ledger, f);
  if (!status) describe(out, &ledger);
  if (!status) status = play_boards(out, &ledger, options);
  ttm_ledger_free(&ledger);
  return status ? ttm_error_nomem(err) : TTM_OK;
}
