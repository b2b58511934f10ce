/* SPDX-License-Identifier: Apache-2.0 */
#include "history/rows.h"

#include "analyze/words.h"
#include "history/origin.h"
#include "report/write/json.h"
#include "ttmem/version.h"

enum { MOST_ALIVE = 64 }; /* groups of live tensors; the others are one row */

/* ---- Cells -------------------------------------------------------------------------------------------------------- */

static void put_cell(ttm_history_rows *rows, ttm_history_table table, ttm_history_cell cell) {
  rows->failed |= ttm_vec_push(&rows->at[table], cell) != TTM_OK;
}

static void put_null(ttm_history_rows *rows, ttm_history_table table) {
  put_cell(rows, table, (ttm_history_cell){.known = false});
}

static void put_number(ttm_history_rows *rows, ttm_history_table table, int64_t n) {
  put_cell(rows, table, (ttm_history_cell){.known = true, .number = n});
}

/* Null for TTM_UNKNOWN, and for 0 where that means unknown. */
static void put_bytes(ttm_history_rows *rows, ttm_history_table table, uint64_t n) {
  n > INT64_MAX ? put_null(rows, table) : put_number(rows, table, (int64_t)n);
}
static void put_nonzero(ttm_history_rows *rows, ttm_history_table table, uint64_t n) {
  n ? put_bytes(rows, table, n) : put_null(rows, table);
}

/* Null for TTM_NONE. */
static void put_index(ttm_history_rows *rows, ttm_history_table table, uint32_t n) {
  n == UINT32_MAX ? put_null(rows, table) : put_number(rows, table, n);
}

static void put_text(ttm_history_rows *rows, ttm_history_table table, ttm_str text) {
  ttm_buf clean = {0};
  ttm_put_utf8(&clean, ttm_str_first(text, ttm_str_find_char(text, '\0')));
  const char *kept = clean.failed ? NULL : ttm_arena_copy(&rows->texts, ttm_buf_str(&clean));
  rows->failed |= !kept;
  put_cell(rows, table, (ttm_history_cell){.known = true, .text = {kept ? kept : "", kept ? clean.n : 0}});
  ttm_buf_free(&clean);
}

/* Null for an empty one. */
static void put_some(ttm_history_rows *rows, ttm_history_table table, ttm_str text) {
  text.n ? put_text(rows, table, text) : put_null(rows, table);
}
static void put_word(ttm_history_rows *rows, ttm_history_table table, const char *word) {
  put_some(rows, table, ttm_str_of(word));
}

/* Every row of every table begins so. */
static void begin(ttm_history_rows *rows, ttm_history_table table) { put_text(rows, table, ttm_str_of(rows->run)); }

void ttm_history_rows_free(ttm_history_rows *rows) {
  for (int t = 0; t < TTM_HISTORY_TABLES; t++) ttm_vec_free(&rows->at[t]);
  ttm_arena_free(&rows->texts);
  *rows = (ttm_history_rows){0};
}

/* ---- The run ------------------------------------------------------------------------------------------------------ */

typedef struct run_facts {
  ttm_str board;
  const char *method, *kind;
  uint64_t chips, ranks, program_runs, operations, failures;
  ttm_str failure;
} run_facts;

static void put_model(ttm_history_rows *rows, const ttm_run_about *about) {
  ttm_buf model = {0};
  if (about->model)
    ttm_buf_puts(&model, about->model);
  else
    ttm_history_model(&model, ttm_str_of(about->name));
  rows->failed |= model.failed;
  put_text(rows, TTM_HISTORY_RUN, ttm_buf_str(&model));
  ttm_buf_free(&model);
}

static void put_run(ttm_history_rows *rows, const ttm_run_about *about, const run_facts *facts) {
  const ttm_history_table t = TTM_HISTORY_RUN;
  ttm_run_origin origin;
  rows->failed |= ttm_run_origin_find(&origin, about, facts->method, facts->board) != TTM_OK;
  memcpy(rows->run, origin.run, sizeof rows->run);
  begin(rows, t);
  put_number(rows, t, origin.time_us);
  put_model(rows, about);
  put_text(rows, t, facts->board);
  put_word(rows, t, facts->method);
  put_word(rows, t, about->command);
  put_word(rows, t, about->name);
  put_some(rows, t, ttm_buf_str(&origin.source));
  put_nonzero(rows, t, origin.bytes);
  put_word(rows, t, facts->kind);
  put_word(rows, t, origin.host);
  put_some(rows, t, ttm_buf_str(&origin.commit));
  put_word(rows, t, TTM_VERSION);
  put_nonzero(rows, t, facts->chips);
  put_bytes(rows, t, facts->ranks);
  put_bytes(rows, t, facts->program_runs);
  put_bytes(rows, t, facts->operations);
  put_bytes(rows, t, facts->failures);
  put_some(rows, t, facts->failure);
  about->exit_status < 0 ? put_null(rows, t) : put_number(rows, t, about->exit_status);
  put_some(rows, t, ttm_buf_str(&origin.report));
  ttm_run_origin_free(&origin);
}

static void put_statement(ttm_history_rows *rows, size_t position, const ttm_statement *s) {
  const ttm_history_table t = TTM_HISTORY_STATEMENT;
  begin(rows, t);
  put_number(rows, t, (int64_t)position);
  put_word(rows, t, s->id);
  put_word(rows, t, ttm_topic_name(s->topic));
  put_word(rows, t, ttm_severity_name(s->severity));
  put_word(rows, t, ttm_basis_name(s->basis));
  put_text(rows, t, s->headline);
  put_some(rows, t, s->detail);
  put_nonzero(rows, t, s->line);
  put_index(rows, t, s->operation);
}

/* ---- Findings ----------------------------------------------------------------------------------------------------- */

/* A log does not name its board: the smallest one with such banks and enough chips; empty when there is none. */
static ttm_str board_of(const ttm_findings *f, uint32_t chips) {
  const ttm_recording *recording = &f->profile->capture.recording;
  ttm_str mock = recording->is ? ttm_profile_string(f->profile, recording->board) : (ttm_str){"", 0};
  const ttm_level *dram = &f->peak[TTM_DRAM].level, *l1 = &f->peak[TTM_L1].level;
  if (mock.n) return mock;
  for (size_t b = 0; b < TTM_BOARDS; b++) {
    const ttm_board *board = &ttm_boards[b];
    bool same = board->dram_banks == dram->banks && (!l1->banks || l1->banks == board->l1_banks);
    if (same && board->chips >= chips) return ttm_str_of(board->name);
  }
  for (size_t b = 0; b < TTM_BOARDS; b++)
    if (ttm_boards[b].dram_banks == dram->banks && ttm_boards[b].chips >= chips) return ttm_str_of(ttm_boards[b].name);
  return (ttm_str){"", 0};
}

static ttm_str first_failure(const ttm_statements *all) {
  for (size_t i = 0; i < all->at.n; i++)
    if (all->at.at[i].severity == TTM_SEVERITY_FAILURE) return all->at.at[i].headline;
  return (ttm_str){"", 0};
}

static void put_operation(ttm_history_rows *rows, ttm_history_table t, const ttm_profile *p, uint32_t op) {
  put_some(rows, t, op < p->ops.n ? ttm_words_name(p, op) : (ttm_str){"", 0});
}

static uint32_t index_of(const ttm_findings *f, uint32_t op) {
  return op < f->profile->ops.n ? ttm_findings_index(f, op) : UINT32_MAX;
}

static uint32_t rank_of_state(const ttm_profile *p, uint32_t state) {
  uint32_t rank = state < p->states.n ? p->state_bases.at[p->states.at[state].base].rank : UINT32_MAX;
  return rank < p->ranks.n ? p->ranks.at[rank] : UINT32_MAX;
}

static void put_peak(ttm_history_rows *rows, const ttm_findings *f, ttm_memory m) {
  const ttm_history_table t = TTM_HISTORY_PEAK;
  const ttm_profile *p = f->profile;
  const ttm_peak *peak = &f->peak[m];
  bool inside = peak->in_op_bytes > 0;
  uint64_t capacity = ttm_level_bytes(peak->level.total);
  if (!peak->known && !inside) return;
  if (!capacity && inside) capacity = p->incidents.at[peak->in_op_incident].what.bank_size;
  ttm_basis basis = ttm_words_state_basis(p, peak->state);
  ttm_buf why = {0};
  bool partial = ttm_words_partial(&why, p);
  rows->failed |= why.failed;
  ttm_buf_free(&why);
  begin(rows, t);
  put_word(rows, t, ttm_memory_name(m));
  put_nonzero(rows, t, peak->level.banks);
  put_nonzero(rows, t, capacity);
  put_bytes(rows, t, inside ? peak->in_op_bytes : ttm_level_bytes(peak->level.allocated));
  peak->known ? put_bytes(rows, t, ttm_level_bytes(peak->level.largest)) : put_null(rows, t);
  put_number(rows, t, peak->at_least || partial);
  put_word(rows, t, ttm_basis_name(peak->derived && !inside && basis == TTM_MEASURED ? TTM_DERIVED : basis));
  put_index(rows, t, rank_of_state(p, peak->state));
  put_nonzero(rows, t, peak->state < p->states.n ? p->states.at[peak->state].line : 0);
  put_index(rows, t, index_of(f, peak->cause));
  put_operation(rows, t, p, peak->cause);
  put_some(rows, t, peak->cause < p->ops.n ? ttm_words_location(p, peak->cause) : (ttm_str){"", 0});
  peak->cause < p->ops.n ? put_number(rows, t, peak->effect * 1048576 / 1000) : put_null(rows, t);
}

static void put_device(ttm_history_rows *rows, const ttm_findings *f, uint32_t rank, const char *host,
                       const ttm_level levels[2]) {
  const ttm_history_table t = TTM_HISTORY_DEVICE;
  uint64_t failures = 0;
  for (size_t i = 0; i < f->profile->incidents.n; i++) failures += f->profile->incidents.at[i].rank == rank;
  begin(rows, t);
  put_number(rows, t, rank);
  put_index(rows, t, rank < f->profile->ranks.n ? f->profile->ranks.at[rank] : UINT32_MAX);
  put_word(rows, t, host);
  for (int m = 0; m < 2; m++) {
    bool known = levels[m].banks > 0;
    put_nonzero(rows, t, levels[m].banks);
    put_nonzero(rows, t, ttm_level_bytes(levels[m].total));
    known ? put_bytes(rows, t, ttm_level_bytes(levels[m].allocated)) : put_null(rows, t);
  }
  put_bytes(rows, t, failures);
}

static void put_rank(ttm_history_rows *rows, size_t device, const ttm_rank_row *rank) {
  const ttm_history_table t = TTM_HISTORY_DEVICE;
  begin(rows, t);
  put_number(rows, t, (int64_t)device);
  put_number(rows, t, rank->rank);
  put_null(rows, t);
  for (int m = 0; m < 2; m++) {
    put_nonzero(rows, t, rank->peak[m].banks);
    put_nonzero(rows, t, ttm_level_bytes(rank->peak[m].total));
    rank->peak[m].banks || rank->peak_bytes[m] ? put_bytes(rows, t, rank->peak_bytes[m]) : put_null(rows, t);
  }
  put_bytes(rows, t, rank->failures);
}

static void put_devices(ttm_history_rows *rows, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  size_t n = p->ranks.n ? p->ranks.n : 1;
  ttm_level(*most)[2] = ttm_alloc_array(n, sizeof *most);
  char host[TTM_HOST_NAME];
  rows->failed |= !most;
  if (!most) return;
  for (size_t s = 0; s < p->states.n; s++) {
    const ttm_state_base *base = &p->state_bases.at[p->states.at[s].base];
    for (int m = 0; m < 2 && base->rank < n; m++) {
      ttm_level level = base->levels[m ? TTM_L1 : TTM_DRAM];
      if (!m) level.allocated = p->states.at[s].dram_allocated;
      bool present = base->present & 1u << (m ? TTM_L1 : TTM_DRAM);
      if (present && (!most[base->rank][m].banks || level.allocated > most[base->rank][m].allocated))
        most[base->rank][m] = level;
    }
  }
  for (uint32_t rank = 0; rank < n; rank++) put_device(rows, f, rank, ttm_host_name(host), most[rank]);
  ttm_free(most);
}

/* What the program leaves with each run, all of its leaks. */
static uint64_t leak_of(const ttm_findings *f, const ttm_program_runs *program) {
  const ttm_profile *p = f->profile;
  uint64_t sum = 0;
  for (size_t i = 0; i < f->leaks.n; i++) {
    const ttm_call *call = &p->calls.at[f->runs.at[f->leaks.at[i].first_run].call];
    if (!f->leaks.at[i].round && call->name == p->calls.at[program->call].name) sum += f->leaks.at[i].per_run;
  }
  return sum;
}

static void put_program(ttm_history_rows *rows, const ttm_findings *f, size_t position) {
  const ttm_history_table t = TTM_HISTORY_PROGRAM;
  const ttm_program_runs *program = &f->programs.at[position];
  const ttm_call *call = &f->profile->calls.at[program->call];
  begin(rows, t);
  put_number(rows, t, (int64_t)position);
  put_text(rows, t, ttm_profile_string(f->profile, call->name));
  put_index(rows, t, call->rank < f->profile->ranks.n ? f->profile->ranks.at[call->rank] : UINT32_MAX);
  put_number(rows, t, program->runs);
  put_number(rows, t, program->warm_up);
  program->peak == TTM_NONE ? put_null(rows, t) : put_bytes(rows, t, ttm_level_bytes(program->peak));
  put_nonzero(rows, t, ttm_level_bytes(leak_of(f, program)));
}

static void put_effect(ttm_history_rows *rows, const ttm_findings *f, ttm_memory m, size_t position) {
  const ttm_history_table t = TTM_HISTORY_EFFECT;
  const ttm_consumer *c = &f->consumers[m].at[position];
  begin(rows, t);
  put_word(rows, t, ttm_memory_name(m));
  put_number(rows, t, (int64_t)position);
  put_text(rows, t, ttm_words_name(f->profile, c->most.op));
  put_text(rows, t, c->name);
  put_bytes(rows, t, ttm_level_bytes((uint64_t)c->total));
  put_bytes(rows, t, ttm_level_bytes((uint64_t)c->most.effect));
  put_number(rows, t, c->places);
  put_number(rows, t, c->runs);
  put_index(rows, t, index_of(f, c->most.op));
  put_nonzero(rows, t, f->profile->ops.at[c->most.op].line);
}

static void put_alive_row(ttm_history_rows *rows, const ttm_findings *f, ttm_memory m, size_t position,
                          const ttm_alive_group *group, const char *class) {
  const ttm_history_table t = TTM_HISTORY_ALIVE;
  begin(rows, t);
  put_word(rows, t, ttm_memory_name(m));
  put_number(rows, t, (int64_t)position);
  put_word(rows, t, class);
  put_text(rows, t, group->name);
  put_operation(rows, t, f->profile, group->op);
  put_number(rows, t, group->tensors);
  put_bytes(rows, t, group->bank_bytes);
  put_index(rows, t, index_of(f, group->op));
}

static void put_alive(ttm_history_rows *rows, const ttm_findings *f, ttm_memory m) {
  const ttm_alive_set *set = &f->alive_set[m];
  ttm_alive_group others = {.op = TTM_NONE, .name = {"", 0}, .bank_bytes = set->other_groups_bytes};
  for (size_t i = 0; i < set->groups.n; i++) {
    const ttm_alive_group *group = &set->groups.at[i];
    if (i < MOST_ALIVE)
      put_alive_row(rows, f, m, i, group, ttm_alive_class_name(f->profile, group->class));
    else
      others.bank_bytes += group->bank_bytes, others.tensors += group->tensors;
  }
  if (others.bank_bytes) put_alive_row(rows, f, m, MOST_ALIVE, &others, "others");
}

int ttm_history_of_findings(ttm_history_rows *rows, const ttm_run_about *about, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  bool mock = p->capture.recording.is && ttm_profile_string(p, p->capture.recording.board).n;
  run_facts facts = {.method = p->predicted    ? "predicted"
                               : mock          ? "mock"
                               : about->method ? about->method
                                               : "run",
                     .kind = ttm_log_kind_name(p->kind),
                     .chips = ttm_profile_chips(p),
                     .ranks = about->ranks ? about->ranks->at.n : p->ranks.n,
                     .program_runs = f->runs.n,
                     .operations = f->elements};
  facts.board = about->board ? ttm_str_of(about->board) : board_of(f, (uint32_t)facts.chips);
  facts.failure = first_failure(&f->statements);
  facts.failures =
      f->incidents.n ? f->incidents.n : facts.failure.n > 0; /* a capture may show a clash without a message */
  put_run(rows, about, &facts);
  for (size_t i = 0; about->ranks && i < about->ranks->at.n; i++) put_rank(rows, i, &about->ranks->at.at[i]);
  for (size_t i = 0; about->ranks && i < about->ranks->said.at.n; i++)
    put_statement(rows, f->statements.at.n + i, &about->ranks->said.at.at[i]);
  if (!about->ranks) put_devices(rows, f);
  for (int m = 0; m < TTM_MEMORIES; m++) put_peak(rows, f, (ttm_memory)m);
  for (size_t i = 0; i < f->programs.n; i++) put_program(rows, f, i);
  for (int m = 0; m < TTM_MEMORIES; m++)
    for (size_t i = 0; i < f->consumers[m].n; i++) put_effect(rows, f, (ttm_memory)m, i);
  for (int m = 0; m < 2; m++)
    if (f->alive_set[m].known) put_alive(rows, f, f->alive_set[m].memory);
  for (size_t i = 0; i < f->statements.at.n; i++) put_statement(rows, i, &f->statements.at.at[i]);
  return rows->failed ? TTM_ENOMEM : TTM_OK;
}

/* ---- Answers of fit ----------------------------------------------------------------------------------------------- */

/* A peak that is known as a sum only: no state, no operation. */
static void put_plain_peak(ttm_history_rows *rows, const char *memory, uint64_t banks, uint64_t capacity, uint64_t peak,
                           bool at_least, ttm_basis basis) {
  const ttm_history_table t = TTM_HISTORY_PEAK;
  begin(rows, t);
  put_word(rows, t, memory);
  put_nonzero(rows, t, banks);
  put_nonzero(rows, t, capacity);
  put_bytes(rows, t, peak);
  put_null(rows, t);
  put_number(rows, t, at_least);
  put_word(rows, t, ttm_basis_name(basis));
  for (int i = 0; i < 6; i++) put_null(rows, t);
}

int ttm_history_of_fit(ttm_history_rows *rows, const ttm_run_about *about, const ttm_fit_cases *cases, size_t at) {
  const ttm_fit_case *one = &cases->at.at[at];
  const ttm_statement *said = &cases->said.at.at[at];
  ttm_basis basis = cases->replayed ? TTM_DERIVED : TTM_MEASURED;
  run_facts facts = {.board = one->board,
                     .method = cases->replayed ? "replay" : "mock",
                     .chips = one->chips,
                     .ranks = 1,
                     .operations = one->operations,
                     .failures = one->fits == TTM_FITS_NOT,
                     .failure = one->fits == TTM_FITS_NOT ? said->headline : (ttm_str){"", 0}};
  put_run(rows, about, &facts);
  if (one->measured) {
    put_plain_peak(rows, "DRAM", one->dram_banks, one->dram_bank, one->dram_peak, one->dram_least, basis);
    put_plain_peak(rows, "L1", 0, one->l1_core, one->l1_peak, one->l1_least, basis);
  }
  put_statement(rows, 0, said);
  return rows->failed ? TTM_ENOMEM : TTM_OK;
}

/* ---- Training ----------------------------------------------------------------------------------------------------- */

static void put_part(ttm_history_rows *rows, int part, int64_t bytes) {
  const ttm_history_table t = TTM_HISTORY_ALIVE;
  begin(rows, t);
  put_word(rows, t, "DRAM");
  put_number(rows, t, part);
  put_word(rows, t, ttm_train_part_looks[part].key);
  put_word(rows, t, ttm_train_part_looks[part].name);
  put_null(rows, t);
  put_number(rows, t, 0);
  put_number(rows, t, bytes);
  put_null(rows, t);
}

static void put_phase(ttm_history_rows *rows, const ttm_train_log *log, const ttm_train_phase *phase, size_t position) {
  const ttm_history_table t = TTM_HISTORY_PROGRAM;
  begin(rows, t);
  put_number(rows, t, (int64_t)position);
  put_text(rows, t, ttm_intern_get(&log->names, phase->name));
  put_null(rows, t);
  put_number(rows, t, 1);
  put_number(rows, t, 0);
  phase->has_cumulative ? put_number(rows, t, ttm_train_bytes(phase->cumulative_peak)) : put_null(rows, t);
  put_null(rows, t);
}

/* The summary with the highest peak; NULL when none has one. */
static const ttm_train_result *highest(const ttm_training *training) {
  const ttm_train_result *most = NULL;
  for (size_t i = 0; i < training->results.n; i++) {
    const ttm_train_result *r = &training->results.at[i];
    if (r->has_peak && (!most || r->peak > most->peak)) most = r;
  }
  return most;
}

int ttm_history_of_training(ttm_history_rows *rows, const ttm_run_about *about, const ttm_training *training) {
  const ttm_train_result *r = highest(training);
  ttm_buf verdict = {0};
  if (r) ttm_train_put_verdict(&verdict, r);
  run_facts facts = {.board = ttm_str_of(about->board ? about->board : ""),
                     .method = "train",
                     .kind = "train",
                     .ranks = 1,
                     .failures = r && !r->fits,
                     .failure = r && !r->fits ? ttm_buf_str(&verdict) : (ttm_str){"", 0}};
  put_run(rows, about, &facts);
  if (r) {
    put_plain_peak(rows, "DRAM", 1, (uint64_t)r->device_memory, (uint64_t)r->peak, false,
                   r->peak_derived ? TTM_DERIVED : TTM_MEASURED);
    for (int part = 0; part < TTM_PARTS; part++)
      if (r->part[part]) put_part(rows, part, r->part[part]);
    for (size_t i = 0; i < r->summary->phases.n; i++) put_phase(rows, training->log, &r->summary->phases.at[i], i);
    ttm_statement said = {.id = r->fits ? "train.fits" : "train.short",
                          .topic = r->fits ? TTM_TOPIC_PEAK : TTM_TOPIC_FAILURE,
                          .severity = r->fits ? TTM_SEVERITY_OK : TTM_SEVERITY_FAILURE,
                          .basis = TTM_MEASURED,
                          .headline = ttm_buf_str(&verdict),
                          .detail = {"", 0},
                          .operation = UINT32_MAX};
    put_statement(rows, 0, &said);
  }
  rows->failed |= verdict.failed;
  ttm_buf_free(&verdict);
  return rows->failed ? TTM_ENOMEM : TTM_OK;
}
