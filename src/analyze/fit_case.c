/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/fit_case.h"

#include <ctype.h>

#include "analyze/tests.h"
#include "base/checked.h"

void ttm_fit_cases_free(ttm_fit_cases *all) {
  ttm_vec_free(&all->at);
  ttm_vec_free(&all->tests);
  ttm_statements_free(&all->said);
}

/* ---- What an answer says -------------------------------------------------------------------------------------------- */

/* "out of memory in DRAM: insufficient memory, short by 1.13 MB per bank, in ttnn.add at model.py:17" inside a sentence. */
static void say_failure(ttm_buf *out, const ttm_findings *f, const ttm_fit_case *c, uint32_t op) {
  size_t start = out->n;
  ttm_say_failure(out, &c->what, c->verdict, c->shortfall);
  if (!out->failed && islower((unsigned char)out->at[start + 1]))
    out->at[start] = (char)tolower((unsigned char)out->at[start]);
  if (op != TTM_NONE) return ttm_say(out, f, ", in {}", TTM_OP(op));
  if (c->operation.n) ttm_say(out, f, ", in {}", TTM_TEXT(c->operation));
  if (c->at.n) ttm_say(out, f, " at {}", TTM_TEXT(c->at));
}

void ttm_fit_say_failure(ttm_buf *out, const ttm_fit_case *c) { say_failure(out, NULL, c, TTM_NONE); }

/* "Fits on 8 chips, " of a program for a mesh. */
static void say_verdict(ttm_teller *t, const ttm_fit_case *c, const char *verdict) {
  ttm_buf_puts(&t->text, verdict);
  if (c->chips > 1) ttm_say(&t->text, t->f, " on {}", TTM_PLURAL(c->chips, "chip"));
  ttm_buf_puts(&t->text, ", ");
}

/* What the figures leave out. */
static void tell_limits(ttm_teller *t, const ttm_fit_case *c) {
  if (c->traces)
    ttm_detail(
        t,
        "{} not captured, because ttnn cannot capture one on a mock board: whether TRACE memory suffices is unknown.",
        TTM_PLURAL(c->traces, "trace"));
  if (c->dram_least && c->exit_status >= 0)
    ttm_detail(t, "Not all operations were recorded: the peaks are lower bounds.");
  if (c->growth.n) ttm_detail(t, "Growth: {}.", TTM_TEXT(c->growth));
}

static void tell_fits(ttm_teller *t, const ttm_fit_case *c, ttm_basis basis) {
  uint64_t left = ttm_sub_sat(c->dram_bank, c->dram_peak);
  bool whole = !c->traces && !c->dram_least && !c->growth.n;
  ttm_tell(t, "fit.fits", TTM_TOPIC_FAILURE, whole ? TTM_SEVERITY_OK : TTM_SEVERITY_WARNING, basis);
  say_verdict(t, c, "Fits");
  if (c->traces) ttm_say(&t->text, t->f, "apart from {}, ", TTM_PLURAL(c->traces, "trace"));
  ttm_say(&t->text, t->f, "DRAM headroom {}{} per bank, {} per chip", TTM_WORDS(c->dram_least ? "≤ " : ""),
          TTM_MB_OF(left), TTM_BYTES(ttm_mul_sat(left, c->dram_banks)));
  if (c->l1_core) /* of a log: without the buffers of programs */
    ttm_say(&t->text, t->f, ", L1 headroom {}{} per core", TTM_WORDS(c->l1_least ? "≤ " : ""),
            TTM_BYTES(ttm_sub_sat(c->l1_core, c->l1_peak)));
  ttm_tell_headline(t);
}

/* `op`: of a log, that failed; TTM_NONE. */
static void tell_answer(ttm_teller *t, const ttm_fit_case *c, uint32_t op, ttm_basis basis) {
  if (c->fits == TTM_FITS_UNKNOWN && c->exit_status < 0 && c->dram_least) {
    ttm_tell(t, "fit.lower-bound", TTM_TOPIC_FAILURE, TTM_SEVERITY_UNKNOWN, basis);
    ttm_headline(t, "Unknown, DRAM needs ≥ {} of {} per bank: {}", TTM_NUMBER(c->dram_peak), TTM_MB_OF(c->dram_bank),
                 TTM_TEXT(c->why));
  } else if (c->fits == TTM_FITS_UNKNOWN) {
    ttm_tell(t, "fit.unknown", TTM_TOPIC_FAILURE, TTM_SEVERITY_UNKNOWN, basis);
    ttm_headline(t, "Unknown: {}", TTM_TEXT(c->why));
  } else if (!c->refused) {
    tell_fits(t, c, basis);
  } else {
    bool fits = c->fits == TTM_FITS;
    ttm_tell(t, fits ? "fit.survived" : "fit.short", TTM_TOPIC_FAILURE,
             fits ? TTM_SEVERITY_WARNING : TTM_SEVERITY_FAILURE, basis);
    say_verdict(t, c, fits ? "Fits" : "Does not fit");
    if (fits) ttm_buf_puts(&t->text, "the program went on after ");
    say_failure(&t->text, t->f, c, op);
    ttm_tell_headline(t);
    ttm_tell_numbers(t, &c->what);
    if (c->way.n) ttm_detail(t, "{}", TTM_TEXT(c->way));
    if (basis != TTM_MEASURED && op == TTM_NONE && !c->operation.n)
      ttm_detail(t, "No operation of the log allocated this memory.");
  }
  tell_limits(t, c);
}

enum { TESTS_FAILED = 1 }; /* exit status of pytest and unittest */

/* ---- Of a run ------------------------------------------------------------------------------------------------------- */

static ttm_str keep(ttm_teller *t, ttm_str text) {
  const char *kept = ttm_arena_copy(&t->out->arena, text);
  t->failed |= !kept;
  return kept ? (ttm_str){kept, text.n} : (ttm_str){"", 0};
}

static ttm_str keep_text(ttm_teller *t) {
  ttm_str kept = keep(t, ttm_buf_str(&t->text));
  t->failed |= t->text.failed;
  ttm_buf_clear(&t->text);
  return kept;
}

static void name_op(ttm_teller *t, ttm_fit_case *c, uint32_t op) {
  if (op >= t->p->ops.n) return;
  c->operation = keep(t, ttm_words_name(t->p, op));
  if (ttm_op_text_of(t->p, op)->location) c->at = keep(t, ttm_words_location(t->p, op));
}

static void take_failure(ttm_teller *t, ttm_fit_case *c, const ttm_incident_text *what, ttm_verdict verdict,
                         uint64_t shortfall) {
  c->refused = true;
  c->what = *what;
  c->what.text = keep(t, what->text);
  c->what.memory = keep(t, what->memory);
  c->what.core_range = keep(t, what->core_range);
  c->verdict = verdict;
  c->shortfall = shortfall;
  c->clashes += what->kind != TTM_INCIDENT_OOM;
  /* What the failing operation itself had taken by then is in its message only. */
  bool dram = ttm_str_eq(what->memory, TTM_LIT("DRAM"));
  if (dram && what->allocated_per_bank != TTM_UNKNOWN && what->allocated_per_bank > c->dram_peak)
    c->dram_peak = what->allocated_per_bank;
}

static void read_incident(ttm_teller *t, ttm_fit_case *c, const ttm_incident_finding *finding) {
  const ttm_incident *incident = &t->p->incidents.at[finding->incident];
  take_failure(t, c, &incident->what, finding->verdict, finding->shortfall);
  c->operation = c->at = c->way = (ttm_str){"", 0};
  name_op(t, c, incident->op);
  if (finding->obstacles.n) ttm_say_obstacles(&t->text, t->f, &finding->obstacles);
  c->way = keep_text(t);
}

/* The refusal that ended the program, else the last one. */
static void read_incidents(ttm_teller *t, ttm_fit_case *c) {
  uint32_t fatal = t->p->capture.recording.fatal;
  for (size_t i = 0; i < t->f->incidents.n; i++) {
    const ttm_incident_finding *finding = &t->f->incidents.at[i];
    if (t->p->incidents.at[finding->incident].what.kind == TTM_INCIDENT_FATAL) continue;
    read_incident(t, c, finding);
    if (finding->incident == fatal) break;
  }
}

static void read_place(ttm_teller *t, ttm_fit_case *c, const ttm_last_words *last) {
  if (!last->file.n) return;
  ttm_say(&t->text, t->f, "{}:{}", TTM_TEXT(last->file), TTM_LINE(last->line));
  c->at = keep_text(t);
}

/* Refused where nothing is recorded any more: the recorder gave up, or the process crashed. */
static void read_last_words(ttm_teller *t, ttm_fit_case *c, const ttm_last_words *last) {
  uint64_t shortfall;
  ttm_verdict verdict = ttm_verdict_of(&last->incident, &shortfall);
  take_failure(t, c, &last->incident, verdict, shortfall);
  read_place(t, c, last);
}

/* Did the program die of what it was refused? Only the exception that ended it tells, or that nothing came after. */
static ttm_fits judge(const ttm_fit_case *c, const ttm_recording *r) {
  bool fatal = c->refused && r->fatal != TTM_NONE;
  if (!c->exit_status) return fatal && r->in_thread ? TTM_FITS_NOT : TTM_FITS;
  if (fatal && !r->in_thread) return TTM_FITS_NOT;
  return c->refused && !r->own_error && !r->after_failure ? TTM_FITS_NOT : TTM_FITS_UNKNOWN;
}

static void measure(ttm_fit_case *out, const ttm_findings *f) {
  const ttm_capture *c = &f->profile->capture;
  const ttm_recording *r = &c->recording;
  const ttm_core_use *use = &f->core_use;
  bool told = c->tight_total[TTM_DRAM] != 0;
  out->measured = true;
  out->operations = f->elements;
  out->dram_banks = c->board.dram_banks;
  out->dram_bank = told ? c->tight_total[TTM_DRAM] : c->board.dram_bank_bytes;
  out->dram_peak = told ? c->tight_peak[TTM_DRAM] : use->peak_dram;
  out->l1_core = use->limit;
  out->l1_peak = use->fullest.total;
  out->l1_tensors = use->peak_l1;
  out->l1_programs = use->peak_program_all;
  out->silent = c->empty_programs;
  out->dram_least = ttm_recording_is_partial(r);
  out->l1_least = out->dram_least || out->silent;
  out->traces = r->traces;
  out->processes = r->processes;
  out->one_chip = r->chips == 1 && r->ended && !r->given_up && !r->asked_chips;
  out->chips = ttm_chips_in(r->chips);
}

static void say_end(ttm_teller *t, const ttm_fit_case *c) {
  if (c->exit_status > 128)
    ttm_buf_printf(&t->text, "was ended by signal %d", c->exit_status - 128);
  else if (c->exit_status)
    ttm_buf_printf(&t->text, "ended with exit status %d", c->exit_status);
  else
    ttm_buf_puts(&t->text, "succeeded");
}

static void say_why(ttm_teller *t, ttm_fit_case *c, const ttm_last_words *last) {
  uint64_t after = t->p ? t->p->capture.recording.after_failure : 0;
  ttm_buf_puts(&t->text, "the program ");
  if (c->refused) {
    ttm_buf_puts(&t->text, "caught ");
    ttm_fit_say_failure(&t->text, c);
    ttm_say(&t->text, t->f, ", went on for {} and then ", TTM_PLURAL(after, "operation"));
  }
  say_end(t, c);
  if (!c->refused)
    ttm_buf_puts(&t->text, c->measured ? "; no device memory was refused" : " and opened no ttnn device");
  if (!c->refused && c->measured && last->memory)
    ttm_buf_puts(&t->text, ", the memory error that it printed is of no recorded operation");
  if (last->sentence.n && c->exit_status) ttm_say(&t->text, t->f, ": {}", TTM_TEXT(last->sentence));
  c->why = keep_text(t);
}

static const ttm_fit_case NOTHING = {.exit_status = -1,
                                     .largest_batch = TTM_UNKNOWN,
                                     .why = TTM_LIT(""),
                                     .run_on = TTM_LIT(""),
                                     .operation = TTM_LIT(""),
                                     .at = TTM_LIT(""),
                                     .way = TTM_LIT("")};

/* Adds the answer with its statement. */
static int add(ttm_fit_cases *all, ttm_teller *t, const ttm_fit_case *c, uint32_t op, ttm_basis basis) {
  tell_answer(t, c, op, basis);
  t->failed |= ttm_vec_push(&all->at, *c) != TTM_OK;
  ttm_buf_free(&t->text);
  return t->failed ? TTM_ENOMEM : TTM_OK;
}

/* The tests of a run, and what they make of its answer: a test that fails is no failure of memory. */
static void add_tests(ttm_fit_cases *all, ttm_teller *t, ttm_fit_case *c) {
  const ttm_capture *capture = &t->p->capture;
  ttm_fits least = TTM_FITS;
  for (uint32_t i = 0; i < capture->tests.n; i++) {
    const ttm_test *test = &capture->tests.at[i];
    ttm_fit_test row = {.of = all->at.n,
                        .name = keep(t, ttm_profile_string(t->p, test->name)),
                        .outcome = keep(t, ttm_profile_string(t->p, test->outcome)),
                        .fits = ttm_test_fits(t->f, i),
                        .dram_peak = test->peak[TTM_DRAM],
                        .l1_peak = test->peak[TTM_L1],
                        .operations = test->operations};
    ttm_say_test(&t->text, t->f, i);
    row.verdict = keep_text(t);
    bool skipped = ttm_str_eq(row.outcome, TTM_LIT("skipped"));
    if (row.fits == TTM_FITS_NOT && least != TTM_FITS_NOT)
      read_incident(t, c, &t->f->incidents.at[ttm_test_refusal(t->f, i)]);
    if (!skipped && (row.fits == TTM_FITS_NOT || least == TTM_FITS)) least = row.fits;
    t->failed |= ttm_vec_push(&all->tests, row) != TTM_OK;
  }
  if (capture->tests.n && (c->exit_status == TESTS_FAILED || least == TTM_FITS_NOT)) c->fits = least;
}

int ttm_fit_cases_add_run(ttm_fit_cases *all, const char *board, const ttm_findings *f, int exit_status,
                          const ttm_last_words *last) {
  ttm_teller t = {.f = f, .p = f ? f->profile : NULL, .out = &all->said};
  ttm_fit_case c = NOTHING;
  c.exit_status = exit_status;
  c.board = keep(&t, ttm_str_of(board));
  if (f) {
    const ttm_recording *r = &f->profile->capture.recording;
    measure(&c, f);
    read_incidents(&t, &c);
    if (c.refused && !c.operation.n) read_place(&t, &c, last);
    if (!c.refused && exit_status && last->memory && (r->given_up || !r->ended)) read_last_words(&t, &c, last);
    c.fits = judge(&c, r);
    add_tests(all, &t, &c);
    c.survived = c.refused && c.fits != TTM_FITS_NOT;
    const ttm_statement *growth = ttm_statements_first(&f->statements, TTM_TOPIC_GROWTH);
    if (growth && growth->severity == TTM_SEVERITY_WARNING) c.growth = keep(&t, growth->headline);
  }
  if (c.fits == TTM_FITS_UNKNOWN) say_why(&t, &c, last);
  return add(all, &t, &c, TTM_NONE, TTM_MEASURED);
}

int ttm_fit_cases_add_same(ttm_fit_cases *all, const char *board, size_t like) {
  ttm_teller t = {.out = &all->said};
  ttm_fit_case c = all->at.at[like];
  c.run_on = c.board;
  c.board = keep(&t, ttm_str_of(board));
  for (size_t i = 0, n = all->tests.n; i < n; i++) {
    ttm_fit_test row = all->tests.at[i];
    if (row.of != like) continue;
    row.of = all->at.n;
    t.failed |= ttm_vec_push(&all->tests, row) != TTM_OK;
  }
  return add(all, &t, &c, TTM_NONE, TTM_MEASURED);
}

int ttm_fit_cases_add_kept(ttm_fit_cases *all, const ttm_fit_case *kept) {
  ttm_teller t = {.out = &all->said};
  ttm_fit_case c = *kept;
  ttm_str *const texts[] = {&c.board,     &c.why,         &c.operation,       &c.at,     &c.way,
                            &c.what.text, &c.what.memory, &c.what.core_range, &c.growth, &c.run_on};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) *texts[i] = keep(&t, *texts[i]);
  return add(all, &t, &c, TTM_NONE, TTM_MEASURED);
}

int ttm_fit_cases_add_left_out(ttm_fit_cases *all, const char *board, const char *like) {
  ttm_teller t = {.out = &all->said};
  ttm_fit_case c = NOTHING;
  c.board = keep(&t, ttm_str_of(board));
  ttm_say(&t.text, NULL, "not run, same result as on {}", TTM_WORDS(like));
  c.why = keep_text(&t);
  return add(all, &t, &c, TTM_NONE, TTM_MEASURED);
}

int ttm_fit_cases_end(ttm_fit_cases *all) {
  ttm_teller t = {.out = &all->said};
  uint64_t silent = 0;
  bool any = false, same = false;
  for (size_t i = 0; i < all->at.n; i++) {
    silent = all->at.at[i].silent > silent ? all->at.at[i].silent : silent;
    any |= all->at.at[i].measured;
    same |= all->at.at[i].run_on.n != 0;
  }
  if (!any) return TTM_OK;
  ttm_tell(&t, "fit.confidence", TTM_TOPIC_INPUT, TTM_SEVERITY_NOTE, TTM_MEASURED);
  ttm_headline(&t, "Measured on mock boards with ttnn's own allocator; no kernel ran");
  ttm_detail(
      &t,
      "Figures are of one chip. DRAM counts tensors and kernels, L1 counts tensors, circular and dataflow buffers. "
      "The peak of a program that does not fit is the one before its failure.");
  if (same) ttm_detail(&t, "The program uses one chip: boards with the same chip were run once.");
  if (silent)
    ttm_detail(&t, "The buffers of {} were not recorded: the L1 peak is a lower bound.", TTM_PLURAL(silent, "program"));
  ttm_buf_free(&t.text);
  return t.failed ? TTM_ENOMEM : TTM_OK;
}

/* ---- Of a replay ---------------------------------------------------------------------------------------------------- */

/* What the log lacks, as the end of a sentence. */
static void say_gap(ttm_teller *t, const ttm_gap *gap) {
  switch (gap->kind) {
    case TTM_GAP_FAILURE:
      return ttm_say(&t->text, t->f, "the program failed in log line {}, what comes after that is not in the log",
                     TTM_LINE(gap->number));
    case TTM_GAP_RUN:
      return ttm_say(&t->text, t->f, "the program that began in log line {} has no end in the log",
                     TTM_LINE(gap->number));
    case TTM_GAP_CUT:
      return ttm_buf_puts(&t->text, "the log is cut");
    case TTM_GAP_LINES:
      return ttm_say(&t->text, t->f, "{} of the log could not be read", TTM_PLURAL(gap->number, "line"));
    case TTM_GAP_STATES:
      return ttm_say(&t->text, t->f, "{} without a memory state, what they hold beyond their results is not in the log",
                     TTM_PLURAL(gap->number, "operation"));
    case TTM_GAP_NONE:
      break;
  }
}

/* Weights that are more than the device holds, which the log died of: what they all need per bank of another board; 0 otherwise. */
static uint64_t weights_need(const ttm_findings *f, const ttm_fit *fit, const ttm_board *board) {
  const ttm_weight_demand *demand = &f->weight_demand;
  if (demand->bytes <= demand->capacity || fit->converted_weights) return 0;
  return ttm_div_up(demand->bytes, board->dram_banks);
}

static int add_replay(ttm_fit_cases *all, const ttm_fit_board *row, const ttm_fit *fit, const ttm_findings *f) {
  ttm_teller t = {.f = f, .p = f->profile, .out = &all->said};
  uint64_t shortfall;
  uint32_t line;
  ttm_fit_case c = NOTHING;
  c.board = ttm_str_of(row->board->name);
  c.fits = row->fits ? TTM_FITS : TTM_FITS_NOT;
  c.measured = true;
  c.operations = f->profile->ops.n;
  c.dram_banks = row->board->dram_banks;
  c.dram_bank = row->bank_bytes;
  c.dram_peak = row->peak_bytes;
  c.l1_core = row->l1_bytes;
  c.l1_peak = c.l1_tensors = row->l1_peak;
  c.dram_least = row->fits && fit->gap.kind && (!fit->rest || ttm_need_is_lower_bound(fit->rest, TTM_NEED_DRAM));
  c.l1_least = c.dram_least || (fit->rest && ttm_need_is_lower_bound(fit->rest, TTM_NEED_L1));
  /* Without states every result is still known, and so is what a larger batch adds to it. */
  if (!fit->gap.kind || fit->gap.kind == TTM_GAP_STATES || fit->rest) c.largest_batch = row->largest_batch;
  uint64_t weights = c.dram_least ? weights_need(f, fit, row->board) : 0;
  bool more = weights > c.dram_peak;
  if (more) c.dram_peak = weights;
  if (c.dram_least) {
    c.fits = TTM_FITS_UNKNOWN;
    if (more) ttm_say(&t.text, f, "the weights alone need about {} per chip, ", TTM_BYTES(f->weight_demand.bytes));
    say_gap(&t, &fit->gap);
    c.why = keep_text(&t);
  }
  if (!row->fits) {
    ttm_verdict verdict = ttm_verdict_of(&row->refusal, &shortfall);
    take_failure(&t, &c, &row->refusal, verdict, shortfall);
    name_op(&t, &c, row->refused_op);
    if (fit->rest && row->missing_op != TTM_NO_ROW)
      t.failed |= ttm_need_place(fit->rest, row->missing_op, &c.operation, &c.at, &line) != TTM_OK;
  }
  ttm_basis basis = fit->rest ? TTM_PREDICTED : fit->states ? TTM_DERIVED : TTM_ESTIMATED;
  return add(all, &t, &c, row->refused_op, more ? TTM_ESTIMATED : basis);
}

/* What the answers of a replay are worth. */
static void tell_confidence(ttm_teller *t, const ttm_fit *fit, const ttm_fit_options *options) {
  const ttm_alive_set *set = &t->f->alive_set[TTM_DRAM];
  ttm_tell(t, "fit.confidence", TTM_TOPIC_INPUT, TTM_SEVERITY_NOTE, fit->states ? TTM_MEASURED : TTM_ESTIMATED);
  if (fit->states)
    ttm_headline(t, "The replay reproduced the largest free block of {} of {}", TTM_COUNT(fit->agree),
                 TTM_PLURAL(fit->states, "memory state"));
  else
    ttm_headline(t, "The log has no memory states to check the replay against");
  if (set->known && set->by_class[TTM_ALIVE_UNACCOUNTED])
    ttm_detail(t, "{} per bank at the peak are unattributed, and spread evenly over the banks here.",
               TTM_MB_OF(set->by_class[TTM_ALIVE_UNACCOUNTED]));
  if (fit->gap.kind) {
    ttm_buf_puts(&t->text, "The log is not whole: ");
    say_gap(t, &fit->gap);
    ttm_buf_puts(&t->text, fit->rest ? ". The rest is predicted from its module."
                           : fit->gap.kind == TTM_GAP_STATES
                               ? ". Peaks are lower bounds, the largest batch is an upper bound."
                               : ". Peaks are lower bounds, the largest batch is unknown.");
    ttm_tell_detail(t);
  }
  if (options->weights_dtype)
    ttm_detail(t, "{} stored as {}.", TTM_PLURAL(fit->converted_weights, "weight"), TTM_WORDS(options->weights_dtype));
  if (options->weights_dtype && fit->weights_from_host)
    ttm_detail(t, "Weights that were on the device before the log began keep their dtype.");
  ttm_detail(t, "A larger batch grows the first dimension of every activation, input and cache.");
  ttm_detail(t, "Figures are of one chip, without trace region, profiler build and circular buffers.");
}

int ttm_fit_cases_of_replay(ttm_fit_cases *all, const ttm_fit *fit, const ttm_fit_options *options,
                            const ttm_findings *f, unsigned boards) {
  ttm_teller t = {.f = f, .p = f->profile, .out = &all->said};
  int status = TTM_OK;
  all->replayed = true;
  for (size_t b = 0; b < TTM_BOARDS && !status; b++)
    if (boards >> b & 1) status = add_replay(all, &fit->boards[b], fit, f);
  if (!status) tell_confidence(&t, fit, options);
  ttm_buf_free(&t.text);
  return status || t.failed ? TTM_ENOMEM : TTM_OK;
}

/* ---- Of a prediction ------------------------------------------------------------------------------------------------ */

/* A program for a mesh runs on no smaller one; what was not understood may not fit. */
static void doubt(ttm_teller *t, ttm_fit_case *c, const ttm_program_need *program, const ttm_board *board) {
  uint32_t devices = program->module.facts.devices;
  if (devices > board->chips)
    ttm_say(&t->text, NULL, "the program is for a mesh of {}", TTM_PLURAL(devices, "chip"));
  else if (!c->refused && program->run.unknown)
    ttm_say(&t->text, NULL, "{} of the module not understood, the figures are the least it needs",
            TTM_PLURAL(program->run.unknown, "operation"));
  else
    return;
  c->fits = TTM_FITS_UNKNOWN;
  c->why = keep_text(t);
}

static int add_prediction(ttm_fit_cases *all, const ttm_program_need *program, const ttm_board_need *row) {
  ttm_teller t = {.out = &all->said};
  ttm_fit_case c = NOTHING;
  uint32_t line;
  uint64_t shortfall;
  c.board = ttm_str_of(row->board->name);
  c.measured = true;
  c.operations = program->module.ops.n;
  c.dram_banks = row->board->dram_banks;
  c.dram_bank = row->capacity[TTM_NEED_DRAM];
  c.l1_core = row->capacity[TTM_NEED_L1];
  if (row->refused) {
    ttm_verdict verdict = ttm_verdict_of(&row->refusal, &shortfall);
    take_failure(&t, &c, &row->refusal, verdict, shortfall);
    t.failed |= ttm_need_place(program, row->refused_op, &c.operation, &c.at, &line) != TTM_OK;
  }
  c.dram_peak = row->need[TTM_NEED_DRAM].bytes;
  c.l1_peak = c.l1_tensors = row->need[TTM_NEED_L1].bytes;
  c.dram_least = !row->refused && ttm_need_is_lower_bound(program, TTM_NEED_DRAM);
  c.l1_least = ttm_need_is_lower_bound(program, TTM_NEED_L1);
  c.fits = row->refused ? TTM_FITS_NOT : TTM_FITS;
  doubt(&t, &c, program, row->board);
  return add(all, &t, &c, TTM_NONE, TTM_PREDICTED);
}

int ttm_fit_cases_of_prediction(ttm_fit_cases *all, const ttm_program_need *program, unsigned boards) {
  ttm_teller t = {.out = &all->said};
  int status = TTM_OK;
  all->replayed = true;
  for (size_t b = 0; b < TTM_BOARDS && !status; b++)
    if (boards >> b & 1) status = add_prediction(all, program, &program->boards[b]);
  ttm_tell(&t, "fit.confidence", TTM_TOPIC_INPUT, TTM_SEVERITY_NOTE, TTM_MEASURED);
  ttm_headline(&t, program->before[TTM_NEED_DRAM] == TTM_UNKNOWN
                       ? "Predicted from the module: nothing of it was measured"
                       : "Predicted from the module and from what the log shows of its first operations");
  ttm_detail(&t, "Figures are of one chip, without kernels, trace region, profiler build and circular buffers.");
  ttm_buf_free(&t.text);
  return status || t.failed ? TTM_ENOMEM : TTM_OK;
}
