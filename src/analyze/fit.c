/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/fit.h"

#include <stdio.h>

#include "analyze/trial.h"
#include "analyze/words.h"
#include "base/error.h"
#include "base/map.h"
#include "profile/run_ops.h"

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
    const ttm_rest_op *missing = ttm_ledger_rest_op(ledger, trial.refused_op);
    row->missing_op = missing ? missing->row : TTM_NO_ROW;
    out->converted_weights = w.converted;
  }
  return status;
}

/* ---- What the log does not show ------------------------------------------------------------------------------------ */

/* So many finished runs of a program a cut one is compared with. */
enum { TRIED = 8 };

typedef struct whole_runs {
  uint32_t calls[TRIED], n;
} whole_runs;

/* Made in one walk, so that any number of cut runs costs what the log is long. */
typedef struct run_index {
  const ttm_profile *p;
  ttm_run_ops ops;
  ttm_map groups; /* name and rank -> finished runs */
  TTM_VEC(whole_runs) whole;
} run_index;

static uint64_t group_of(const ttm_call *run) { return (uint64_t)run->name << 32 | run->rank; }

static int note_whole(run_index *x, uint32_t call) {
  const ttm_call *run = &x->p->calls.at[call];
  uint32_t group = ttm_map_get(&x->groups, group_of(run), (uint32_t)x->whole.n);
  if (group == x->whole.n &&
      (ttm_vec_push(&x->whole, (whole_runs){.n = 0}) || ttm_map_set(&x->groups, group_of(run), group)))
    return TTM_ENOMEM;
  whole_runs *known = &x->whole.at[group];
  if (known->n < TRIED) known->calls[known->n++] = call;
  return TTM_OK;
}

static int run_index_make(run_index *x, const ttm_profile *p) {
  *x = (run_index){.p = p};
  int status = ttm_run_ops_make(&x->ops, p);
  for (size_t i = 0; i < p->runs.n && !status; i++)
    if (p->calls.at[p->runs.at[i]].finished) status = note_whole(x, p->runs.at[i]);
  return status;
}

static void run_index_free(run_index *x) {
  ttm_run_ops_free(&x->ops);
  ttm_map_free(&x->groups);
  ttm_vec_free(&x->whole);
}

/* Whether a run that ended early did what a whole one began with: then nothing of its program is missing. */
static bool is_beginning_of(const run_index *x, uint32_t cut, uint32_t whole) {
  uint32_t a = x->ops.first[cut], b = x->ops.first[whole];
  for (; a != TTM_NONE && b != TTM_NONE; a = x->ops.next[a], b = x->ops.next[b])
    if (x->p->ops.at[a].text != x->p->ops.at[b].text) return false;
  return a == TTM_NONE;
}

static bool is_told_elsewhere(const run_index *x, uint32_t cut) {
  uint32_t group = ttm_map_get(&x->groups, group_of(&x->p->calls.at[cut]), TTM_NONE);
  for (uint32_t i = 0; group != TTM_NONE && i < x->whole.at[group].n; i++)
    if (is_beginning_of(x, cut, x->whole.at[group].calls[i])) return true;
  return false;
}

static ttm_gap gap_of_run(const ttm_profile *p, uint32_t run) {
  for (size_t k = 0; k < p->incidents.n; k++) {
    uint32_t op = p->incidents.at[k].op;
    bool own = op < p->ops.n && p->ops.at[op].call < p->calls.n && p->ops.at[op].flags & TTM_OP_FAILED;
    if (own && ttm_call_top(p, p->ops.at[op].call) == run)
      return (ttm_gap){TTM_GAP_FAILURE, p->incidents.at[k].line, run};
  }
  return (ttm_gap){TTM_GAP_RUN, p->calls.at[run].first_line, run};
}

/* The first run that has no end and that no other one stands for. */
static int find_cut_run(const ttm_profile *p, ttm_gap *out) {
  run_index x;
  int status = run_index_make(&x, p);
  *out = (ttm_gap){.call = TTM_NONE};
  for (size_t i = 0; i < p->runs.n && !status; i++) {
    const ttm_call *run = &p->calls.at[p->runs.at[i]];
    if (!ttm_call_is_cut(run) || (run->name && is_told_elsewhere(&x, p->runs.at[i]))) continue;
    *out = gap_of_run(p, p->runs.at[i]);
    break;
  }
  run_index_free(&x);
  return status;
}

static ttm_gap find_gap(const ttm_profile *p, ttm_gap gap) {
  uint64_t lost = ttm_words_not_understood(&p->seen), bare = 0;
  if (gap.kind) return gap;
  for (size_t i = 0; i < p->incidents.n && !p->runs.n; i++)
    return (ttm_gap){TTM_GAP_FAILURE, p->incidents.at[i].line, TTM_NONE};
  /* Inside a run that another one stands for nothing is lost by the cut. */
  if (p->seen.cut && (!p->runs.n || p->calls.at[p->runs.at[p->runs.n - 1]].finished))
    return (ttm_gap){TTM_GAP_CUT, 0, TTM_NONE};
  if (lost) return (ttm_gap){TTM_GAP_LINES, lost, TTM_NONE};
  for (uint32_t op = 0; op < p->ops.n; op++) bare += p->ops.at[op].state == TTM_NONE && ttm_op_is_element(p, op);
  return (ttm_gap){bare ? TTM_GAP_STATES : TTM_GAP_NONE, bare, TTM_NONE};
}

/* Where it does not fit, the peak is what it needs, as far as the module tells that. */
static void add_need(ttm_fit_board *row, const ttm_board_need *need) {
  uint64_t dram = need->need[TTM_NEED_DRAM].bytes, l1 = need->need[TTM_NEED_L1].bytes;
  if (!row->fits && dram > row->peak_bytes) row->peak_bytes = dram;
  if (!row->fits && l1 > row->l1_peak) row->l1_peak = l1;
}

static int describe(ttm_fit *out, const ttm_ledger *ledger) {
  const ttm_findings *f = ledger->findings;
  if (find_cut_run(f->profile, &out->gap)) return TTM_ENOMEM;
  out->states = ledger->states;
  out->agree = ledger->agree;
  out->unaccounted = ledger->unaccounted;
  out->gap = find_gap(f->profile, out->gap);
  for (size_t k = 0; k < ledger->rest_count; k++)
    if (out->gap.call == ledger->rests[k].run) out->rest = ledger->rests[k].program;
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  for (size_t i = 0; i < set->rows.n; i++)
    out->weights_from_host |= set->rows.at[i].class == TTM_ALIVE_WEIGHT && set->rows.at[i].arg != TTM_NONE;
  return TTM_OK;
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
  if (!status) status = describe(out, &ledger);
  if (options->partial) out->gap = (ttm_gap){.call = TTM_NONE};
  if (!status) status = play_boards(out, &ledger, options);
  bool as_is = options->batch <= 1 && !options->weights_dtype;
  for (size_t b = 0; out->rest && as_is && b < TTM_BOARDS; b++) add_need(&out->boards[b], &out->rest->boards[b]);
  ttm_ledger_free(&ledger);
  return status ? ttm_error_nomem(err) : TTM_OK;
}
