/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launch/find_series.h"

#include <stdio.h>

#include "launch/fit_cache.h"

/* Of a run, or kept from an earlier one. */
typedef struct known_answer {
  size_t row;
  uint64_t value;
  ttm_fit_cases cases; /* one */
  bool before_ttnn;    /* the program ended before it came to ttnn */
  bool kept;
} known_answer;

/* Rows are searched in their order, each by its own answers alone: what another row will ask for can be run meanwhile. */
typedef struct finder {
  ttm_find *find;
  ttm_fit_series *series;
  char *const *words;
  ttm_crew crew;
  ttm_fit_cache cache;
  TTM_VEC(known_answer) answers;
  TTM_VEC(bool) before_ttnn; /* of each case */
  size_t rows;               /* in all; those that are done, and the one that is searched now, are in `find` */
  uint64_t started;          /* runs */
} finder;

static const char *board_of(const finder *f, size_t row) {
  return f->series->boards.at[row / ttm_find_combinations(f->find)];
}

static uint32_t combination_of(const finder *f, size_t row) { return (uint32_t)(row % ttm_find_combinations(f->find)); }

/* ---- The words ------------------------------------------------------------------------------------------------------ */

/* `word` with every {NAME} replaced. */
static void put_word(ttm_buf *out, const ttm_find *find, const uint64_t *indices, const char *word) {
  ttm_str rest = ttm_str_of(word);
  while (rest.n) {
    size_t v = 0;
    for (; v < find->variable_count; v++) {
      ttm_str inside = ttm_str_from(rest, 1);
      if (rest.p[0] == '{' && ttm_str_take(&inside, find->variables[v].name) && ttm_str_take(&inside, TTM_LIT("}"))) {
        ttm_variable_put(&find->variables[v], indices[v], out);
        rest = inside;
        break;
      }
    }
    if (v < find->variable_count) continue;
    ttm_buf_char(out, rest.p[0]);
    rest = ttm_str_from(rest, 1);
  }
  ttm_buf_char(out, '\0');
}

static void free_words(char **words) {
  for (char **word = words; word && *word; word++) ttm_free(*word);
  ttm_free(words);
}

/* Of a row with a value. NULL without memory. Freed with free_words. */
static char **make_words(const finder *f, size_t row, uint64_t value) {
  uint64_t indices[TTM_FIND_VARIABLES] = {value};
  size_t n = 0;
  for (size_t v = 1; v < f->find->variable_count; v++) indices[v] = ttm_find_index(f->find, combination_of(f, row), v);
  while (f->words[n]) n++;
  char **out = ttm_alloc((n + 1) * sizeof *out);
  for (size_t i = 0; out && i <= n; i++) out[i] = NULL;
  for (size_t i = 0; out && i < n; i++) {
    ttm_buf word = {0};
    put_word(&word, f->find, indices, f->words[i]);
    out[i] = ttm_buf_take(&word);
    if (!out[i]) return free_words(out), NULL;
  }
  return out;
}

static bool is_used(char *const *words, ttm_str name) {
  for (char *const *word = words; *word; word++) {
    for (const char *at = *word; (at = strchr(at, '{')); at++) {
      ttm_str inside = ttm_str_of(at + 1);
      if (ttm_str_take(&inside, name) && ttm_str_take(&inside, TTM_LIT("}"))) return true;
    }
  }
  return false;
}

static int check_words(const finder *f, ttm_error *err) {
  for (size_t v = 0; v < f->find->variable_count; v++) {
    ttm_str name = f->find->variables[v].name;
    if (!is_used(f->words, name))
      return ttm_error_set(
          err, TTM_EUSAGE,
          "the command has no {%.*s}: write it where the value belongs, e.g. -- python3 model.py --size {%.*s}",
          TTM_ARGS(name), TTM_ARGS(name));
  }
  return TTM_OK;
}

/* ---- Progress ------------------------------------------------------------------------------------------------------- */

/* The searches that did not begin. */
static uint64_t rows_left(const finder *f) { return f->rows - f->find->rows.n; }

/* How many runs are left, of the row and of all behind it: as many for each search as those before took, as far as the program ran in them. */
static uint64_t guess_left(const finder *f, const ttm_search *search) {
  enum { USUAL = 6 };
  uint64_t rows_run = 0, runs = 0;
  for (size_t r = 0; r + 1 < f->find->rows.n; r++) {
    uint64_t before = runs;
    for (size_t i = 0; i < f->answers.n; i++) runs += f->answers.at[i].row == r && !f->answers.at[i].kept;
    rows_run += runs > before;
  }
  uint64_t each = rows_run ? (runs + rows_run - 1) / rows_run : USUAL;
  return rows_left(f) * each + (each > search->tries.n ? each - search->tries.n : 1);
}

/* How far it is, as the program starts. */
static void say_progress(const finder *f, size_t row, const ttm_search *search, uint64_t value, ttm_buf *out) {
  ttm_search fresh = {.of = search->of};
  uint64_t most = ttm_search_most(search) + rows_left(f) * ttm_search_most(&fresh), left = guess_left(f, search);
  left = left < most ? left : most;
  ttm_buf_printf(out, "%s, ", board_of(f, row));
  ttm_find_put_combination(f->find, combination_of(f, row), out);
  ttm_buf_printf(out, "%.*s=", TTM_ARGS(search->of->name));
  ttm_variable_put(search->of, value, out);
  ttm_buf_printf(out, ": run %llu of about %llu, at most %llu", (unsigned long long)f->started + 1,
                 (unsigned long long)f->started + left, (unsigned long long)f->started + most);
  uint64_t lanes = f->crew.running.n + 1;
  uint64_t seconds =
      f->crew.ended ? (uint64_t)f->crew.milliseconds / f->crew.ended * ((left + lanes - 1) / lanes) / 1000 + 1 : 0;
  if (seconds)
    ttm_buf_printf(out, "; about %llu %s left", (unsigned long long)(seconds < 120 ? seconds : (seconds + 59) / 60),
                   seconds < 120 ? "s" : "min");
  ttm_buf_char(out, '\0');
}

/* ---- Answers -------------------------------------------------------------------------------------------------------- */

static const known_answer *find_answer(const finder *f, size_t row, uint64_t value) {
  for (size_t i = 0; i < f->answers.n; i++)
    if (f->answers.at[i].row == row && f->answers.at[i].value == value) return &f->answers.at[i];
  return NULL;
}

/* A case of another board with the same values that tells what this one would do; the number of cases: none. */
static size_t find_same(const finder *f, size_t row, uint64_t value) {
  for (size_t r = 0; r < f->find->rows.n; r++) {
    const ttm_find_row *other = &f->find->rows.at[r];
    const ttm_search_try *t = ttm_search_tried(&other->search, value);
    if (r == row || other->combination != combination_of(f, row) || !t) continue;
    uint32_t at = other->cases.at[t - other->search.tries.at];
    if (f->before_ttnn.at[at] || ttm_fit_holds_for(&f->find->cases.at.at[at], board_of(f, row))) return at;
  }
  return f->find->cases.at.n;
}

/* What became known joins the answers, or is freed. */
static int add_answer(finder *f, known_answer *answer, int status, ttm_error *err) {
  if (!status && ttm_vec_push(&f->answers, *answer)) status = ttm_error_nomem(err);
  if (status) ttm_fit_cases_free(&answer->cases);
  return status;
}

static int take_run(finder *f, const ttm_crew_run *run, ttm_error *err) {
  known_answer answer = {.row = run->row, .value = run->value};
  char **words = make_words(f, run->row, run->value);
  int status = words ? ttm_fit_judge(&answer.cases, run, err) : ttm_error_nomem(err);
  if (!status) {
    const ttm_fit_case *c = &answer.cases.at.at[0];
    answer.before_ttnn = !run->end.met_ttnn && c->exit_status;
    ttm_fit_cache_put(&f->cache, run, words, c);
  }
  free_words(words);
  return add_answer(f, &answer, status, err);
}

/* An answer of an earlier run, else the program is started. */
static int ask(finder *f, size_t row, const ttm_search *search, uint64_t value, ttm_error *err) {
  known_answer answer = {.row = row, .value = value, .kept = true};
  ttm_buf headline = {0};
  char **words = make_words(f, row, value);
  if (!words) return ttm_error_nomem(err);
  int status = TTM_OK, kept = ttm_fit_cache_get(&f->cache, board_of(f, row), words, &answer.cases);
  if (!kept) {
    say_progress(f, row, search, value, &headline);
    status = ttm_crew_start(&f->crew, row, value, board_of(f, row), words,
                            headline.failed ? board_of(f, row) : headline.at, err);
    f->started++;
  } else {
    status = add_answer(f, &answer, kept < 0 ? ttm_error_nomem(err) : TTM_OK, err);
  }
  ttm_buf_free(&headline);
  free_words(words);
  return status;
}

/* ---- The search of a row -------------------------------------------------------------------------------------------- */

static ttm_search_try try_of(const ttm_fit_case *c, uint64_t index) {
  static const ttm_outcome outcomes[] = {
      [TTM_FITS_UNKNOWN] = TTM_OUTCOME_UNKNOWN, [TTM_FITS_NOT] = TTM_OUTCOME_REFUSED, [TTM_FITS] = TTM_OUTCOME_FITS};
  return (ttm_search_try){index, outcomes[c->fits], {c->dram_peak, c->l1_peak}, {c->dram_bank, c->l1_core}};
}

/* What is known of a value; NULL. */
static const ttm_fit_case *look_up(const finder *f, size_t row, uint64_t value, bool *before_ttnn) {
  size_t same = find_same(f, row, value);
  const known_answer *answer = same < f->find->cases.at.n ? NULL : find_answer(f, row, value);
  *before_ttnn = answer ? answer->before_ttnn : same < f->find->cases.at.n && f->before_ttnn.at[same];
  if (answer) return &answer->cases.at.at[0];
  return same < f->find->cases.at.n ? &f->find->cases.at.at[same] : NULL;
}

/* Asks for what a row needs next, as far as its answers are known. *asked tells whether there was anything. */
static int look_ahead(finder *f, size_t row, bool *asked, ttm_error *err) {
  ttm_search search = {.of = &f->find->variables[0]};
  uint64_t value, last = search.of->n - 1;
  int status = TTM_OK;
  unsigned in_vain = 0;
  *asked = false;
  while (!status && !*asked && (value = ttm_search_next(&search)) != TTM_UNKNOWN) {
    bool before_ttnn;
    const ttm_fit_case *c = look_up(f, row, value, &before_ttnn);
    if (!c && value == 0 && last && ttm_crew_find(&f->crew, row, 0) && !look_up(f, row, last, &before_ttnn))
      value = last; /* both ends are always asked for */
    if (!c && ttm_crew_find(&f->crew, row, value)) break;
    if (!c) {
      status = ask(f, row, &search, value, err);
      *asked = true;
    } else if (ttm_search_add(&search, try_of(c, value))) {
      status = ttm_error_nomem(err);
    }
    in_vain += before_ttnn;
    if (in_vain == 2 && search.tries.n == 2) break;
  }
  ttm_search_free(&search);
  return status;
}

/* A board with the chip of one before it that is not done waits for its answers. */
static bool waits(const finder *f, size_t row) {
  for (size_t r = f->find->rows.n - 1; r < row; r++)
    if (combination_of(f, r) == combination_of(f, row) && ttm_fit_same_chip(board_of(f, r), board_of(f, row)))
      return true;
  return false;
}

static int start(finder *f, ttm_error *err) {
  int status = TTM_OK;
  for (size_t row = f->find->rows.n - 1; row < f->rows && !status; row++)
    for (bool asked = !waits(f, row); asked && !status && ttm_crew_has_room(&f->crew);)
      status = look_ahead(f, row, &asked, err);
  return status;
}

/* Waits for the answer to a value; NULL in *out when it was interrupted. */
static int wait_for(finder *f, size_t row, uint64_t value, const known_answer **out, ttm_error *err) {
  ttm_crew_run *ended;
  int status = TTM_OK;
  while (!status && !(*out = find_answer(f, row, value))) {
    status = start(f, err);
    *out = find_answer(f, row, value);
    if (status || *out || !f->crew.running.n) return status; /* nothing runs: interrupted */
    ttm_crew_wait(&f->crew, &ended);
    if (!ended) continue;
    status = take_run(f, ended, err);
    ttm_crew_free_run(ended);
  }
  return status;
}

/* The answer for a value is the last case then. Nothing is added when it was interrupted. */
static int settle(finder *f, size_t row, uint64_t value, ttm_error *err) {
  ttm_fit_cases *cases = &f->find->cases;
  const known_answer *known = NULL;
  size_t same = find_same(f, row, value);
  bool as_other = same < cases->at.n;
  int status = as_other ? TTM_OK : wait_for(f, row, value, &known, err);
  if (status || (!as_other && !known)) return status;
  f->find->kept += known && known->kept;
  if ((as_other ? ttm_fit_cases_add_same(cases, board_of(f, row), same)
                : ttm_fit_cases_add_kept(cases, &known->cases.at.at[0])) ||
      ttm_vec_push(&f->before_ttnn, known ? known->before_ttnn : f->before_ttnn.at[same]))
    return ttm_error_nomem(err);
  return TTM_OK;
}

static int search_row(finder *f, size_t number, ttm_error *err) {
  ttm_find *find = f->find;
  if (ttm_vec_push(&find->rows, (ttm_find_row){.board = board_of(f, number), .combination = combination_of(f, number)}))
    return ttm_error_nomem(err);
  ttm_find_row *row = &find->rows.at[number];
  row->search.of = &find->variables[0];
  for (uint64_t index; (index = ttm_search_next(&row->search)) != TTM_UNKNOWN && !f->crew.interrupted;) {
    size_t last = find->cases.at.n;
    int status = settle(f, number, index, err);
    if (status) return status;
    if (find->cases.at.n == last) break; /* interrupted */
    if (ttm_search_add(&row->search, try_of(&find->cases.at.at[last], index)) ||
        ttm_vec_push(&row->cases, (uint32_t)last))
      return ttm_error_nomem(err);
    /* With neither the first nor the last value the program came to ttnn: it is not called as it wants to be. */
    if (row->cases.n == 2 && f->before_ttnn.at[row->cases.at[0]] && f->before_ttnn.at[last]) break;
  }
  return TTM_OK;
}

int ttm_find_run(ttm_find *find, ttm_fit_series *series, char *const *words, const ttm_crew_options *options,
                 ttm_error *err) {
  finder f = {.find = find, .series = series, .words = words, .rows = ttm_find_combinations(find) * series->boards.n};
  int status = check_words(&f, err);
  if (status) return status;
  ttm_fit_cache_begin(&f.cache, options->list_files);
  status = ttm_crew_begin(&f.crew, options, err);
  for (size_t row = 0; row < f.rows && !status && !f.crew.interrupted; row++) status = search_row(&f, row, err);
  ttm_crew_finish(&f.crew);
  series->interrupted = f.crew.interrupted;
  for (size_t i = 0; i < f.answers.n; i++) ttm_fit_cases_free(&f.answers.at[i].cases);
  ttm_vec_free(&f.answers);
  ttm_vec_free(&f.before_ttnn);
  if (!status && ttm_find_tell(find)) status = ttm_error_nomem(err);
  return status;
}
