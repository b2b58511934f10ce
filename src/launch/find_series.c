/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launch/find_series.h"

#include <stdio.h>

#include "base/format.h"
#include "launch/fit_cache.h"

typedef struct finder {
  ttm_find *find;
  ttm_fit_series *series;
  const ttm_find_options *options;
  ttm_fit_cache cache;
  TTM_VEC(bool) before_ttnn; /* of each case: the program ended before it came to ttnn */
  uint64_t rows_left;        /* searches that did not begin */
  uint64_t rows_run;         /* searches in which the program ran */
  uint64_t runs;
  int64_t milliseconds; /* of them */
} finder;

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

/* NULL without memory. Freed with free_words. */
static char **make_words(const finder *f, const uint64_t *indices) {
  size_t n = 0;
  while (f->options->words[n]) n++;
  char **out = ttm_alloc((n + 1) * sizeof *out);
  for (size_t i = 0; out && i <= n; i++) out[i] = NULL;
  for (size_t i = 0; out && i < n; i++) {
    ttm_buf word = {0};
    put_word(&word, f->find, indices, f->options->words[i]);
    out[i] = ttm_buf_take(&word);
    if (!out[i]) return free_words(out), NULL;
  }
  return out;
}

static bool is_used(const ttm_find_options *options, ttm_str name) {
  for (char *const *word = options->words; *word; word++) {
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
    if (!is_used(f->options, name))
      return ttm_error_set(
          err, TTM_EUSAGE,
          "the command has no {%.*s}: write it where the value belongs, e.g. -- python3 model.py --size {%.*s}",
          TTM_ARGS(name), TTM_ARGS(name));
  }
  return TTM_OK;
}

/* ---- One value ------------------------------------------------------------------------------------------------------ */

/* How many runs are left: as many for each search as those behind took, as far as the program ran in them. */
static uint64_t guess_left(const finder *f, const ttm_find_row *row) {
  enum { USUAL = 6 };
  uint64_t each = f->rows_run ? (f->runs + f->rows_run - 1) / f->rows_run : USUAL;
  return f->rows_left * each + (each > row->search.tries.n ? each - row->search.tries.n : 1);
}

/* How far it is, as the program starts. */
static void say_progress(const finder *f, const ttm_find_row *row, uint64_t index, ttm_buf *out) {
  ttm_search fresh = {.of = row->search.of};
  uint64_t most = ttm_search_most(&row->search) + f->rows_left * ttm_search_most(&fresh), left = guess_left(f, row);
  left = left < most ? left : most;
  ttm_buf_printf(out, "%s, ", row->board);
  ttm_find_put_combination(f->find, row->combination, out);
  ttm_buf_printf(out, "%.*s=", TTM_ARGS(row->search.of->name));
  ttm_variable_put(row->search.of, index, out);
  ttm_buf_printf(out, ": run %llu of about %llu, at most %llu", (unsigned long long)f->runs + 1,
                 (unsigned long long)(f->runs + left), (unsigned long long)(f->runs + most));
  uint64_t seconds = f->runs ? (uint64_t)f->milliseconds / f->runs * left / 1000 + 1 : 0;
  if (seconds)
    ttm_buf_printf(out, "; about %llu %s left", (unsigned long long)(seconds < 120 ? seconds : (seconds + 59) / 60),
                   seconds < 120 ? "s" : "min");
  ttm_buf_char(out, '\0');
}

static int run(finder *f, const ttm_find_row *row, uint64_t index, char **words, ttm_error *err) {
  ttm_launch_options options = {.words = words,
                                .name = "fit",
                                .record = true,
                                .quiet = f->options->quiet,
                                .viewer = *f->options->viewer,
                                .board = row->board};
  ttm_buf headline = {0};
  ttm_fit_tried tried;
  int64_t began = ttm_now_ms();
  options.viewer.show = NULL;
  say_progress(f, row, index, &headline);
  options.headline = headline.failed ? row->board : headline.at;
  int status = ttm_fit_try(&f->find->cases, &options, &tried, err);
  f->series->interrupted = tried.interrupted;
  f->runs++;
  f->milliseconds += ttm_now_ms() - began;
  if (!status && f->find->cases.at.n > f->before_ttnn.n) {
    const ttm_fit_case *c = &f->find->cases.at.at[f->before_ttnn.n];
    ttm_fit_cache_put(&f->cache, row->board, words, c);
    if (ttm_vec_push(&f->before_ttnn, !tried.met_ttnn && c->exit_status)) status = ttm_error_nomem(err);
  }
  ttm_buf_free(&headline);
  return status;
}

/* A run of another board with the same values that tells what this one would do; the number of cases: none. */
static size_t find_same(const finder *f, const ttm_find_row *row, uint64_t index) {
  for (size_t r = 0; r < f->find->rows.n; r++) {
    const ttm_find_row *other = &f->find->rows.at[r];
    const ttm_search_try *t = ttm_search_tried(&other->search, index);
    if (other == row || other->combination != row->combination || !t) continue;
    uint32_t at = other->cases.at[t - other->search.tries.at];
    if (f->before_ttnn.at[at] || ttm_fit_holds_for(&f->find->cases.at.at[at], row->board)) return at;
  }
  return f->find->cases.at.n;
}

/* The answer for a value, of another board, of an earlier run or of a run: the last case then. Nothing is added when it was interrupted. */
static int answer(finder *f, const ttm_find_row *row, uint64_t index, ttm_error *err) {
  ttm_fit_cases *cases = &f->find->cases;
  uint64_t indices[TTM_FIND_VARIABLES] = {index};
  size_t same = find_same(f, row, index);
  if (same < cases->at.n) {
    if (ttm_fit_cases_add_same(cases, row->board, same) || ttm_vec_push(&f->before_ttnn, f->before_ttnn.at[same]))
      return ttm_error_nomem(err);
    return TTM_OK;
  }
  for (size_t v = 1; v < f->find->variable_count; v++) indices[v] = ttm_find_index(f->find, row->combination, v);
  char **words = make_words(f, indices);
  if (!words) return ttm_error_nomem(err);
  int kept = ttm_fit_cache_get(&f->cache, row->board, words, cases);
  int status = kept < 0 || (kept && ttm_vec_push(&f->before_ttnn, false)) ? ttm_error_nomem(err) : TTM_OK;
  f->find->kept += kept > 0;
  if (!status && !kept) status = run(f, row, index, words, err);
  free_words(words);
  return status;
}

/* ---- All of them ---------------------------------------------------------------------------------------------------- */

static ttm_search_try try_of(const ttm_fit_case *c, uint64_t index) {
  static const ttm_outcome outcomes[] = {
      [TTM_FITS_UNKNOWN] = TTM_OUTCOME_UNKNOWN, [TTM_FITS_NOT] = TTM_OUTCOME_REFUSED, [TTM_FITS] = TTM_OUTCOME_FITS};
  return (ttm_search_try){index, outcomes[c->fits], {c->dram_peak, c->l1_peak}, {c->dram_bank, c->l1_core}};
}

static int search(finder *f, const char *board, uint32_t combination, ttm_error *err) {
  ttm_find *find = f->find;
  if (ttm_vec_push(&find->rows, (ttm_find_row){.board = board, .combination = combination}))
    return ttm_error_nomem(err);
  ttm_find_row *row = &find->rows.at[find->rows.n - 1];
  row->search.of = &find->variables[0];
  f->rows_left--;
  uint64_t before = f->runs;
  for (uint64_t index; (index = ttm_search_next(&row->search)) != TTM_UNKNOWN && !f->series->interrupted;) {
    size_t last = find->cases.at.n;
    int status = answer(f, row, index, err);
    if (status) return status;
    if (find->cases.at.n == last) break; /* interrupted */
    if (ttm_search_add(&row->search, try_of(&find->cases.at.at[last], index)) ||
        ttm_vec_push(&row->cases, (uint32_t)last))
      return ttm_error_nomem(err);
    /* With neither the first nor the last value the program came to ttnn: it is not called as it wants to be. */
    if (row->cases.n == 2 && f->before_ttnn.at[row->cases.at[0]] && f->before_ttnn.at[last]) break;
  }
  f->rows_run += f->runs > before;
  return TTM_OK;
}

int ttm_find_run(ttm_find *find, ttm_fit_series *series, const ttm_find_options *options, ttm_error *err) {
  finder f = {.find = find, .series = series, .options = options};
  uint64_t combinations = ttm_find_combinations(find);
  int status = check_words(&f, err);
  if (status) return status;
  f.rows_left = combinations * series->boards.n;
  ttm_fit_cache_begin(&f.cache, !options->no_cache);
  for (size_t b = 0; b < series->boards.n && !status; b++)
    for (uint32_t c = 0; c < combinations && !status && !series->interrupted; c++)
      status = search(&f, series->boards.at[b], c, err);
  ttm_fit_cache_end(&f.cache);
  ttm_vec_free(&f.before_ttnn);
  if (!status && ttm_find_tell(find)) status = ttm_error_nomem(err);
  return status;
}
