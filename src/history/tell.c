/* SPDX-License-Identifier: Apache-2.0 */
/* What the past of a model means, in words. */
#include "analyze/tell.h"

#include <math.h>
#include <stdlib.h>

#include "history/past.h"

enum { MOST_CHANGES = 5, MOST_OF_TWO = 20 };

typedef struct teller {
  ttm_teller t;
  const ttm_series *s;
  const ttm_past *past;
  ttm_history *history;
  const char *per; /* what the peaks are of: a bank, or all of the device */
  ttm_error *err;
  int status;
} teller;

static const ttm_past_run *run_at(const teller *w, size_t i) { return ttm_series_run(w->past, w->s, i); }

/* ---- What changed in a step --------------------------------------------------------------------------------------- */

/* Live tensors, or an operation's effect, in the run before and the run after. */
typedef struct change {
  ttm_str class, name, operation;
  int64_t bytes[2];
} change;

typedef struct changes {
  TTM_VEC(change) at;
  ttm_arena arena;
  int side;
} changes;

#define ALIVE_SQL                                                                                        \
  "SELECT class, name, operation_name, bytes FROM live_at_peak WHERE run = $1 AND memory = $2 ORDER BY " \
  "position"
#define EFFECT_SQL                                                                                               \
  "SELECT 'operation', place, operation_name, added_bytes FROM operation_effect WHERE run = $1 AND memory = $2 " \
  "ORDER BY position"

static ttm_str copy(changes *all, const ttm_history_cell *cell) {
  const char *kept = cell->known && cell->text.n ? ttm_arena_copy(&all->arena, cell->text) : "";
  return (ttm_str){kept, kept && cell->known ? cell->text.n : 0};
}

static bool is_same(const change *c, const ttm_history_cell *cells) {
  ttm_str operation = cells[2].known ? cells[2].text : (ttm_str){"", 0};
  return ttm_str_eq(c->class, cells[0].text) && ttm_str_eq(c->name, cells[1].text) &&
         (c->name.n || ttm_str_eq(c->operation, operation));
}

static int take_change(void *context, const ttm_history_cell *cells) {
  changes *all = context;
  size_t i = 0;
  while (i < all->at.n && !is_same(&all->at.at[i], cells)) i++;
  if (i == all->at.n) {
    change one = {copy(all, &cells[0]), copy(all, &cells[1]), copy(all, &cells[2]), {0, 0}};
    if (!one.class.p || !one.name.p || !one.operation.p || ttm_vec_push(&all->at, one)) return TTM_ENOMEM;
  }
  all->at.at[i].bytes[all->side] += cells[3].number;
  return TTM_OK;
}

static int64_t size_of(const change *c) { return llabs(c->bytes[1] - c->bytes[0]); }

static int by_size(const void *a, const void *b) {
  int64_t p = size_of(a), q = size_of(b);
  if (p != q) return p > q ? -1 : 1;
  return ttm_str_order(((const change *)a)->name, ((const change *)b)->name);
}

static int read_changes(teller *w, changes *all, const char *sql, int memory, const ttm_past_run *const runs[2]) {
  static const ttm_column_type types[] = {TTM_COLUMN_TEXT, TTM_COLUMN_TEXT, TTM_COLUMN_TEXT, TTM_COLUMN_NUMBER};
  int status = TTM_OK;
  for (int side = 0; side < 2 && !status; side++) {
    ttm_str params[] = {runs[side]->run, ttm_str_of(ttm_past_memory(memory))};
    all->side = side;
    status = w->history->engine->query(w->history, sql, params, 2, types, 4, take_change, all, w->err);
  }
  if (all->at.n) qsort(all->at.at, all->at.n, sizeof *all->at.at, by_size);
  return status;
}

/* "+8.00 MB activations layers.*.mlp|dot.2, ttnn.matmul". */
static void tell_change(teller *w, const change *c) {
  ttm_teller *t = &w->t;
  int64_t bytes = c->bytes[1] - c->bytes[0];
  ttm_say(&t->text, NULL, "{} {}", TTM_CHANGE((int64_t)llround((double)bytes * 1000 / TTM_MB)), TTM_TEXT(c->class));
  if (c->name.n) ttm_say(&t->text, NULL, " {}", TTM_TEXT(c->name));
  if (c->operation.n) ttm_say(&t->text, NULL, ", {}", TTM_TEXT(c->operation));
  if (!c->bytes[0]) ttm_buf_puts(&t->text, " (new)");
  if (!c->bytes[1]) ttm_buf_puts(&t->text, " (gone)");
  ttm_tell_point(t, TTM_NO_FIGURE, UINT32_MAX);
}

/* What is alive at the peak explains it; where that is not known, what operations added. */
static void tell_changes(teller *w, int memory, double least, size_t most, const ttm_past_run *const runs[2]) {
  changes all = {.side = 0};
  int status = read_changes(w, &all, ALIVE_SQL, memory, runs);
  if (!status && !all.at.n) status = read_changes(w, &all, EFFECT_SQL, memory, runs);
  for (size_t i = 0; i < all.at.n && i < most && !status; i++)
    if (size_of(&all.at.at[i]) && (double)size_of(&all.at.at[i]) >= least) tell_change(w, &all.at.at[i]);
  ttm_vec_free(&all.at);
  ttm_arena_free(&all.arena);
  if (status) w->status = status;
}

/* ---- Steps -------------------------------------------------------------------------------------------------------- */

static void tell_commits(teller *w, const ttm_past_run *before, const ttm_past_run *after) {
  enum { SHORT = 12 };
  if (!after->commit.n) return;
  if (ttm_str_eq(before->commit, after->commit))
    ttm_detail(&w->t, "Both are of commit {}.", TTM_TEXT(ttm_str_first(after->commit, SHORT)));
  else if (before->commit.n)
    ttm_detail(&w->t, "Commit {}, before it {}.", TTM_TEXT(ttm_str_first(after->commit, SHORT)),
               TTM_TEXT(ttm_str_first(before->commit, SHORT)));
  else
    ttm_detail(&w->t, "Commit {}.", TTM_TEXT(ttm_str_first(after->commit, SHORT)));
}

/* The last run before position `at` that has a peak of this memory. */
static const ttm_past_run *run_before(const teller *w, size_t at, int memory) {
  while (at && !run_at(w, at - 1)->peak[memory].known) at--;
  return at ? run_at(w, at - 1) : NULL;
}

static void tell_step(teller *w, int memory, const ttm_step *step) {
  ttm_teller *t = &w->t;
  const ttm_past_run *after = run_at(w, step->at), *before = run_before(w, step->at, memory);
  double off = step->after - step->before;
  ttm_tell(t, off > 0 ? "history.rose" : "history.fell", TTM_TOPIC_PEAK,
           off > 0 ? TTM_SEVERITY_WARNING : TTM_SEVERITY_NOTE, TTM_DERIVED);
  ttm_say(&t->text, NULL, "{} peak {} by {}{}", TTM_WORDS(ttm_past_memory(memory)),
          TTM_WORDS(off > 0 ? "rose" : "fell"), TTM_MB_OF((uint64_t)fabs(off)), TTM_WORDS(w->per));
  if (step->before > 0 && fabs(off) <= step->before) ttm_buf_printf(&t->text, " (%+.1f %%)", off * 100 / step->before);
  ttm_say(&t->text, NULL, " in run {}, from {} to {}", TTM_TEXT(after->run), TTM_NUMBER((uint64_t)step->before),
          TTM_MB_OF((uint64_t)step->after));
  ttm_tell_headline(t);
  ttm_detail(t, "{} UTC; {} before it, {} since.", TTM_WORDS(TTM_DAY(after->time_us)),
             TTM_PLURAL(step->runs_before, "run"), TTM_PLURAL(step->runs_after, "run"));
  if (step->runs_after == 1) ttm_detail(t, "One run is no proof that it stays.");
  tell_commits(w, before, after);
  ttm_tell_quantity(t, "change_per_bank", "MB", off / TTM_MB);
  ttm_tell_quantity(t, "run", "", (double)step->at);
  tell_changes(w, memory, fabs(off) / 100, MOST_CHANGES, (const ttm_past_run *const[]){before, after});
}

static void tell_steady(teller *w, int memory, size_t n, const ttm_past_peak *last, int64_t was) {
  ttm_teller *t = &w->t;
  if (n < 3) {
    ttm_tell(t, "history.few", TTM_TOPIC_PEAK, TTM_SEVERITY_UNKNOWN, TTM_MEASURED);
    ttm_say(&t->text, NULL, "{} peak {}{}", TTM_WORDS(ttm_past_memory(memory)), TTM_MB_OF((uint64_t)last->bytes),
            TTM_WORDS(w->per));
    if (n > 1)
      ttm_say(&t->text, NULL, ", {} against the run before",
              TTM_CHANGE((int64_t)llround((double)(last->bytes - was) * 1000 / TTM_MB)));
    ttm_say(&t->text, NULL, "; {} cannot tell a step from noise", TTM_PLURAL(n, "run"));
    return ttm_tell_headline(t);
  }
  ttm_tell(t, "history.steady", TTM_TOPIC_PEAK, TTM_SEVERITY_OK, TTM_DERIVED);
  ttm_say(&t->text, NULL, "{} peak is steady at {}{}: no step above", TTM_WORDS(ttm_past_memory(memory)),
          TTM_MB_OF((uint64_t)last->bytes), TTM_WORDS(w->per));
  ttm_buf_printf(&t->text, " %g %%", w->past->tolerance);
  ttm_say(&t->text, NULL, " in {}", TTM_PLURAL(n, "run"));
  ttm_tell_headline(t);
}

/* ---- Headroom ----------------------------------------------------------------------------------------------------- */

static void tell_rise(teller *w, int memory, const ttm_trend *trend, double left) {
  ttm_teller *t = &w->t;
  double most = 1e9, runs = fmin(left / trend->slope, most), soon = fmin(left / trend->high, most),
         late = fmin(left / trend->low, most);
  ttm_tell(t, "history.fills", TTM_TOPIC_GROWTH, runs < 100 ? TTM_SEVERITY_WARNING : TTM_SEVERITY_NOTE, TTM_ESTIMATED);
  ttm_headline(t, "{} peak rises by {}{} with each run: full in about {}", TTM_WORDS(ttm_past_memory(memory)),
               TTM_MB_OF((uint64_t)trend->slope), TTM_WORDS(w->per), TTM_PLURAL((uint64_t)ceil(runs), "run"));
  ttm_detail(t, "A straight line through the last {}; {} to {} with 95 % confidence.", TTM_PLURAL(trend->n, "run"),
             TTM_COUNT((uint64_t)ceil(soon)), TTM_PLURAL((uint64_t)ceil(late), "run"));
  ttm_tell_quantity(t, "per_run", "MB", trend->slope / TTM_MB);
  ttm_tell_quantity(t, "runs_left", "", ceil(runs));
  ttm_tell_quantity(t, "runs_left_low", "", ceil(soon));
  ttm_tell_quantity(t, "runs_left_high", "", ceil(late));
}

static void tell_headroom(teller *w, int memory, const ttm_past_peak *last) {
  ttm_teller *t = &w->t;
  const ttm_trend *trend = &w->s->trend[memory];
  double left = (double)(last->capacity - last->bytes);
  if (!last->capacity || left < 0) return;
  if (trend->rises) return tell_rise(w, memory, trend, fmax((double)last->capacity - trend->last, 0));
  bool few = trend->n < TTM_TREND_LEAST;
  ttm_tell(t, "history.headroom", TTM_TOPIC_GROWTH, few ? TTM_SEVERITY_UNKNOWN : TTM_SEVERITY_OK, TTM_DERIVED);
  ttm_say(&t->text, NULL, "{} headroom {}{} ({})", TTM_WORDS(ttm_past_memory(memory)), TTM_MB_OF((uint64_t)left),
          TTM_WORDS(w->per), TTM_SHARE(left, last->capacity));
  if (few)
    ttm_say(&t->text, NULL, "; a forecast needs {} behind the last step", TTM_PLURAL(TTM_TREND_LEAST, "run"));
  else
    ttm_say(&t->text, NULL, ", no trend in the last {}", TTM_PLURAL(trend->n, "run"));
  ttm_tell_headline(t);
  if (!few && trend->high * 1000 > TTM_MB)
    ttm_detail(t, "It rises by no more than {} per run, with 95 % confidence.", TTM_MB_OF((uint64_t)trend->high));
  ttm_tell_quantity(t, "headroom_per_bank", "MB", left / TTM_MB);
}

static void tell_memory(teller *w, int memory) {
  const ttm_past_peak *last = NULL;
  int64_t was = 0;
  size_t n = 0;
  bool any = false;
  for (size_t i = 0; i < w->s->runs; i++) {
    const ttm_past_peak *peak = &run_at(w, i)->peak[memory];
    if (!peak->known) continue;
    if (last) was = last->bytes;
    last = peak;
    any |= peak->bytes > 0;
    n++;
  }
  if (!any) return;
  for (size_t i = w->s->steps[memory].n; i--;) tell_step(w, memory, &w->s->steps[memory].at[i]); /* the newest first */
  if (!w->s->steps[memory].n && !w->s->trend[memory].rises) tell_steady(w, memory, n, last, was);
  tell_headroom(w, memory, last);
}

/* ---- Failures ----------------------------------------------------------------------------------------------------- */

static void tell_failures(teller *w) {
  ttm_teller *t = &w->t;
  size_t n = w->s->runs, failed = 0, last = n;
  for (size_t i = 0; i < n; i++)
    if (run_at(w, i)->failures) failed++, last = i;
  if (!failed) return;
  size_t since = last;
  while (since && run_at(w, since - 1)->failures) since--;
  const ttm_past_run *first = run_at(w, since);
  bool still = last + 1 == n;
  ttm_tell(t, still ? "history.fails" : "history.failed", TTM_TOPIC_FAILURE,
           still ? TTM_SEVERITY_FAILURE : TTM_SEVERITY_NOTE, TTM_MEASURED);
  if (!still)
    ttm_headline(t, "No longer fails since run {}; run {} failed: {}", TTM_TEXT(run_at(w, last + 1)->run),
                 TTM_TEXT(run_at(w, last)->run), TTM_TEXT(run_at(w, last)->failure));
  else if (since)
    ttm_headline(t, "Fails since run {}: {}", TTM_TEXT(first->run), TTM_TEXT(first->failure));
  else
    ttm_headline(t, "Every run fails: {}", TTM_TEXT(run_at(w, last)->failure));
  ttm_detail(t, "{} of {} failed.", TTM_COUNT(failed), TTM_PLURAL(n, "run"));
  if (still && since) tell_commits(w, run_at(w, since - 1), first);
}

int ttm_series_tell(ttm_series *s, const ttm_past *past, ttm_history *history, ttm_error *err) {
  teller w = {.t = {.out = &s->said}, .s = s, .past = past, .history = history, .per = ttm_series_per(s), .err = err};
  tell_failures(&w);
  for (int m = 0; m < TTM_PAST_MEMORIES; m++) tell_memory(&w, m);
  ttm_buf_free(&w.t.text);
  if (w.status) return w.status;
  return w.t.failed ? TTM_ENOMEM : TTM_OK;
}

/* ---- Two runs ----------------------------------------------------------------------------------------------------- */

static void tell_two_peaks(teller *w, int memory, const ttm_past_run *const runs[2]) {
  ttm_teller *t = &w->t;
  const ttm_past_peak *was = &runs[0]->peak[memory], *is = &runs[1]->peak[memory];
  const char *name = ttm_past_memory(memory);
  int64_t off = is->bytes - was->bytes;
  if (!was->known || !is->known) return;
  bool more = (double)off * 100 > w->past->tolerance * (double)was->bytes;
  ttm_tell(t,
           off > 0 ? "two.rose"
           : off   ? "two.fell"
                   : "two.same",
           TTM_TOPIC_PEAK,
           more  ? TTM_SEVERITY_WARNING
           : off ? TTM_SEVERITY_NOTE
                 : TTM_SEVERITY_OK,
           TTM_DERIVED);
  if (!off) {
    ttm_headline(t, "{} peak is the same: {}{}", TTM_WORDS(name), TTM_MB_OF((uint64_t)is->bytes), TTM_WORDS(w->per));
  } else {
    ttm_say(&t->text, NULL, "{} peak is {} {}{}", TTM_WORDS(name), TTM_MB_OF((uint64_t)llabs(off)),
            TTM_WORDS(off > 0 ? "higher" : "lower"), TTM_WORDS(w->per));
    if (was->bytes > 0) ttm_buf_printf(&t->text, " (%+.1f %%)", (double)off * 100 / (double)was->bytes);
    ttm_say(&t->text, NULL, ", {} instead of {}", TTM_MB_OF((uint64_t)is->bytes), TTM_MB_OF((uint64_t)was->bytes));
    ttm_tell_headline(t);
  }
  ttm_tell_quantity(t, "change_per_bank", "MB", (double)off / TTM_MB);
  tell_changes(w, memory, fabs((double)off) / 100, MOST_OF_TWO, runs);
}

static void tell_two_failures(teller *w, const ttm_past_run *const runs[2]) {
  ttm_teller *t = &w->t;
  bool was = runs[0]->failures, is = runs[1]->failures;
  if (!was && !is) return;
  ttm_tell(t, is ? "two.fails" : "two.mended", TTM_TOPIC_FAILURE, is ? TTM_SEVERITY_FAILURE : TTM_SEVERITY_NOTE,
           TTM_MEASURED);
  ttm_headline(t, "{}: {}",
               TTM_WORDS(!is   ? "No longer fails"
                         : was ? "Both fail"
                               : "Fails, and did not before"),
               TTM_TEXT(runs[is]->failure));
}

int ttm_past_tell_two(ttm_statements *out, const ttm_past *past, ttm_history *history, ttm_error *err) {
  const ttm_past_run *const runs[2] = {&past->runs.at[0], &past->runs.at[1]};
  teller w = {.t = {.out = out},
              .past = past,
              .history = history,
              .per = ttm_series_per(ttm_past_series_of(past, 1)),
              .err = err};
  tell_two_failures(&w, runs);
  for (int m = 0; m < TTM_PAST_MEMORIES; m++) tell_two_peaks(&w, m, runs);
  ttm_buf_free(&w.t.text);
  if (w.status) return w.status;
  return w.t.failed ? ttm_error_nomem(err) : TTM_OK;
}
