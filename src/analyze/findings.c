/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/findings.h"

#include <stdatomic.h>

#include "analyze/parts.h"
#include "base/error.h"
#include "base/threads.h"

enum { MOST_RESCUES = 4 }; /* each is a replay or two */

/* Numbers the elements, counts the texts, and tells weight operations apart. */
int ttm_find_elements(ttm_findings *f, ttm_tally *tally) {
  const ttm_profile *p = f->profile;
  f->index_marks = ttm_alloc_array(p->ops.n / TTM_INDEX_STEP + 1, sizeof *f->index_marks);
  f->element_bits = ttm_alloc_array(p->ops.n / TTM_INDEX_STEP + 1, sizeof *f->element_bits);
  if (!f->index_marks || !f->element_bits) return TTM_ENOMEM;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    const ttm_op *row = &p->ops.at[op];
    ttm_tally *text = &tally[row->text];
    if (op % TTM_INDEX_STEP == 0) f->index_marks[op / TTM_INDEX_STEP] = f->elements;
    if (text->n++ == 0) text->first = op;
    if (!(row->flags & TTM_OP_FAILED) && text->done++ == 0) text->first_done = op;
    if (!ttm_op_is_element(p, op)) continue;
    f->element_bits[op / TTM_INDEX_STEP] |= UINT64_C(1) << (op % TTM_INDEX_STEP);
    f->elements++;
    f->weight_ops += row->flags & TTM_OP_CONST_EVAL || ttm_op_takes_weight(&f->registry, p, op);
  }
  return TTM_OK;
}

static bool is_element(const ttm_findings *f, uint32_t op) {
  return f->element_bits[op / TTM_INDEX_STEP] >> (op % TTM_INDEX_STEP) & 1;
}

static uint32_t elements_before(const ttm_findings *f, uint32_t op) {
  uint64_t before = (UINT64_C(1) << (op % TTM_INDEX_STEP)) - 1;
  return f->index_marks[op / TTM_INDEX_STEP] +
         (uint32_t)__builtin_popcountll(f->element_bits[op / TTM_INDEX_STEP] & before);
}

uint32_t ttm_findings_index(const ttm_findings *f, uint32_t op) {
  return op < f->profile->ops.n && is_element(f, op) ? elements_before(f, op) : TTM_NONE;
}

uint32_t ttm_findings_op(const ttm_findings *f, uint32_t index) {
  if (index >= f->elements) return TTM_NONE;
  uint32_t step = 0, steps = (uint32_t)(f->profile->ops.n / TTM_INDEX_STEP);
  while (step < steps && f->index_marks[step + 1] <= index && (step + 1) * TTM_INDEX_STEP < f->profile->ops.n) step++;
  uint32_t left = index - f->index_marks[step];
  for (uint32_t op = step * TTM_INDEX_STEP; op < f->profile->ops.n; op++) {
    if (!is_element(f, op)) continue;
    if (left-- == 0) return op;
  }
  return TTM_NONE;
}

/* Ranks are woven together in the log, so that what stands between two operations of one is mostly the others'. */
static int count_own(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  if (p->ranks.n < 2) return TTM_OK;
  uint32_t *counts = ttm_alloc_array(p->ranks.n, sizeof *counts);
  f->own_before = ttm_alloc_array(p->ops.n + 1, sizeof *f->own_before);
  if (!counts || !f->own_before) {
    ttm_free(counts);
    return TTM_ENOMEM;
  }
  for (uint32_t op = 0; op < p->ops.n; op++) {
    uint32_t call = p->ops.at[op].call;
    uint32_t *count = &counts[call < p->calls.n ? p->calls.at[call].rank : 0];
    f->own_before[op] = *count;
    *count += is_element(f, op);
  }
  ttm_free(counts);
  return TTM_OK;
}

uint32_t ttm_elements_between(const ttm_findings *f, uint32_t from, uint32_t to) {
  uint32_t before_to = f->own_before ? f->own_before[to] : elements_before(f, to);
  uint32_t before_from = f->own_before ? f->own_before[from] : elements_before(f, from);
  return before_to - before_from - is_element(f, from);
}

static int find_rescues(ttm_findings *f) {
  int status = TTM_OK;
  uint32_t looked = 0;
  for (size_t i = 0; i < f->incidents.n && looked < MOST_RESCUES && !status; i++) {
    looked += f->incidents.at[i].verdict != TTM_VERDICT_NONE;
    status = ttm_rescue_find(&f->incidents.at[i].rescue, f, i);
  }
  return status;
}

static int find_obstacles(ttm_findings *f) {
  int status = TTM_OK;
  uint32_t looked = 0;
  for (size_t i = 0; i < f->incidents.n && looked < MOST_RESCUES && !status; i++) {
    const ttm_incident *incident = &f->profile->incidents.at[f->incidents.at[i].incident];
    looked += incident->what.kind == TTM_INCIDENT_L1_CLASH;
    status = ttm_obstacles_find(&f->incidents.at[i].obstacles, f->profile, incident);
  }
  return status;
}

/* ---- Chains ------------------------------------------------------------------------------------------------------- */

/* What needs nothing of each other is found by several threads at once. A chain reads the profile, the registry, the elements and
 * what it found itself, and writes fields of its own, so that the findings are the same whoever runs it and when. */
typedef int chain(ttm_findings *f, const ttm_tally *tally);

static int find_peak_and_alive(ttm_findings *f, const ttm_tally *tally) {
  (void)tally;
  int status = ttm_find_peaks(f);
  if (!status) status = ttm_find_alive(f);
  for (int m = TTM_DRAM; m <= TTM_L1 && !status; m++) {
    const ttm_peak *peak = &f->peak[m];
    if (peak->known)
      status = ttm_alive_set_make(&f->alive_set[m], f->profile, (ttm_memory)m, peak->state, peak->before);
  }
  /* The live set knows more than the walk over the operations: arguments, and what earlier runs left. */
  const ttm_alive_set *dram = &f->alive_set[TTM_DRAM];
  if (!status && dram->known && dram->stored_bytes)
    f->alive_at_peak = (ttm_alive_sum){dram->logical_bytes, dram->stored_bytes, dram->typed};
  if (!status) status = ttm_find_weight_uses(f);
  if (!status) ttm_find_demand(f);
  if (!status) status = ttm_lifetimes_make(&f->lifetimes, f);
  if (!status) ttm_wastes_make(&f->wastes, f);
  return status;
}

static int find_operations(ttm_findings *f, const ttm_tally *tally) {
  int status = ttm_find_consumers(f);
  if (!status) status = ttm_find_padding(f, tally);
  if (!status) status = ttm_find_distribution(f, tally);
  return status;
}

static int find_repetitions(ttm_findings *f, const ttm_tally *tally) {
  (void)tally;
  int status = ttm_find_runs(f);
  if (!status) status = ttm_find_programs(f);
  if (!status) status = ttm_find_leaks(f);
  if (!status) status = ttm_layers_make(&f->layers, f);
  return status;
}

static int find_failures(ttm_findings *f, const ttm_tally *tally) {
  (void)tally;
  int status = f->profile->kind == TTM_LOG_CAPTURE ? ttm_core_use_make(&f->core_use, f->profile) : TTM_OK;
  if (!status) status = ttm_find_verdicts(f);
  if (!status) status = find_obstacles(f);
  if (!status) ttm_shown_clash_find(&f->shown_clash, f);
  if (!status) status = find_rescues(f);
  if (!status) status = ttm_fragmentation_make(&f->fragmentation, f);
  return status;
}

/* Longest first. */
static chain *const CHAINS[] = {find_peak_and_alive, find_operations, find_repetitions, find_failures};
enum { CHAIN_COUNT = sizeof CHAINS / sizeof *CHAINS };

typedef struct chain_run {
  ttm_findings *f;
  const ttm_tally *tally;
  atomic_size_t next;
  int status[CHAIN_COUNT];
} chain_run;

static void *run_some(void *context) {
  chain_run *run = context;
  for (size_t i; (i = atomic_fetch_add(&run->next, 1)) < CHAIN_COUNT;) run->status[i] = CHAINS[i](run->f, run->tally);
  return NULL;
}

static int run_chains(ttm_findings *f, const ttm_tally *tally, unsigned threads) {
  enum { WORTH_A_THREAD = 5000 }; /* operations: fewer take less time than a thread to start */
  chain_run run = {.f = f, .tally = tally};
  threads = f->profile->ops.n < WORTH_A_THREAD ? 1 : ttm_thread_count(threads);
  ttm_threads_run(threads < CHAIN_COUNT ? threads : CHAIN_COUNT, run_some, &run);
  int status = TTM_OK;
  for (size_t i = 0; i < CHAIN_COUNT && !status; i++) status = run.status[i];
  return status;
}

/* The log does not show all of what its programs do. */
static bool is_unfinished(const ttm_profile *p) {
  bool states = !p->filled && (p->kind == TTM_LOG_FULL || p->kind == TTM_LOG_BLOCKS);
  return p->predicted || p->incidents.n || p->seen.cut || p->seen.unfinished || (!states && p->graphs.n);
}

static int make(ttm_findings *f, ttm_tally *tally, unsigned threads) {
  int status = ttm_find_registry(f);
  if (!status) status = ttm_find_elements(f, tally);
  if (!status) status = count_own(f);
  if (!status) status = run_chains(f, tally, threads);
  if (!status) status = ttm_find_buffers(f);
  if (!status) status = ttm_host_find(&f->host, f->profile);
  if (!status) status = ttm_traces_find(&f->traces, f->profile, f->tensor_buffers);
  if (!status) status = ttm_device_time_find(&f->time, f);
  if (!status) status = ttm_decisions_find(&f->decisions, f);
  if (!status) status = ttm_growth_find(&f->growths, f);
  if (!status) status = ttm_fixes_of_peak(&f->peak_fixes, f);
  if (!status && is_unfinished(f->profile)) status = ttm_predict(&f->prediction, f->profile, ttm_runner_of(f->profile));
  if (!status) status = ttm_fixes_try(f);
  if (!status) status = ttm_statements_make(&f->statements, f);
  return status;
}

int ttm_findings_make(ttm_findings **out, const ttm_profile *profile, unsigned threads, ttm_error *err) {
  *out = NULL;
  ttm_findings *f = ttm_alloc(sizeof *f);
  ttm_tally *tally = ttm_alloc_array(profile->texts.n, sizeof *tally);
  int status = TTM_ENOMEM;
  if (!f || !tally) goto done;
  f->profile = ttm_profile_share(profile);
  status = make(f, tally, threads);
done:
  ttm_free(tally);
  if (status) {
    ttm_findings_free(f);
    return ttm_error_nomem(err);
  }
  *out = f;
  return TTM_OK;
}

ttm_findings *ttm_findings_share(const ttm_findings *f) {
  ttm_findings *shared = (ttm_findings *)f; /* the count is no part of what is read */
  atomic_fetch_add(&shared->more_owners, 1);
  return shared;
}

void ttm_findings_free(ttm_findings *f) {
  if (!f || atomic_fetch_sub(&f->more_owners, 1) > 0) return;
  ttm_profile_free((ttm_profile *)f->profile);
  ttm_free(f->index_marks);
  ttm_free(f->element_bits);
  ttm_free(f->own_before);
  ttm_free(f->tensor_buffers);
  ttm_traces_free(&f->traces);
  ttm_decisions_free(&f->decisions);
  ttm_device_time_free(&f->time);
  ttm_core_use_free(&f->core_use);
  for (int m = TTM_DRAM; m <= TTM_L1; m++) ttm_alive_set_free(&f->alive_set[m]);
  for (int m = 0; m < TTM_MEMORIES; m++) ttm_consumers_free(&f->consumers[m]);
  ttm_vec_free(&f->padding);
  ttm_vec_free(&f->padding_places);
  ttm_arena_free(&f->padding_names);
  ttm_vec_free(&f->registry.entries);
  ttm_vec_free(&f->registry.first_of_graph);
  ttm_vec_free(&f->registry.groups);
  ttm_arena_free(&f->registry.names);
  ttm_map_free(&f->weight_uses);
  ttm_vec_free(&f->incidents);
  ttm_vec_free(&f->failure_fixes);
  ttm_arena_free(&f->changes);
  ttm_vec_free(&f->runs);
  ttm_vec_free(&f->programs);
  ttm_vec_free(&f->leaks);
  ttm_vec_free(&f->suspects);
  ttm_vec_free(&f->growths);
  ttm_vec_free(&f->distribution);
  ttm_statements_free(&f->statements);
  ttm_prediction_free(&f->prediction);
  ttm_free(f);
}
