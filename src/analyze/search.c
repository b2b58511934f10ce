/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/search.h"

#include <ctype.h>

#include "base/checked.h"
#include "ttmem/profile.h"

/* ---- Variables ------------------------------------------------------------------------------------------------------ */

static int refuse(const char *text, const char *why, ttm_error *err) {
  return ttm_error_set(err, TTM_EUSAGE,
                       "'%.100s': %s; write BATCH=1..256, BATCH=32..256+32, SEQ=1024..131072*2 or BATCH=1,2,4", text,
                       why);
}

static bool take_name(ttm_str *rest, ttm_str *name) {
  size_t n = 0;
  while (n < rest->n && (isalnum((unsigned char)rest->p[n]) || rest->p[n] == '_')) n++;
  *name = ttm_str_first(*rest, n);
  *rest = ttm_str_from(*rest, n);
  return n && !ttm_is_digit(name->p[0]) && ttm_str_take(rest, TTM_LIT("="));
}

/* Numbers of arguments are counts: those of a double are more than enough. */
static bool take_number(ttm_str *rest, uint64_t *out) {
  return ttm_str_take_u64(rest, out) && *out <= (uint64_t)1 << 53;
}

static int parse_range(ttm_variable *v, const char *text, uint64_t last, ttm_str rest, ttm_error *err) {
  bool given = rest.n != 0;
  v->step = 1;
  v->powers = ttm_str_take(&rest, TTM_LIT("*"));
  if (given && !v->powers && !ttm_str_take(&rest, TTM_LIT("+"))) return refuse(text, "the range has no end", err);
  if (given && (!take_number(&rest, &v->step) || rest.n || v->step < 1u + v->powers))
    return refuse(text, v->powers ? "a factor is 2 or more" : "a step is 1 or more", err);
  if (last < v->first) return refuse(text, "the last value is below the first", err);
  if (v->powers && !v->first) return refuse(text, "powers begin above 0", err);
  v->n = v->powers ? 0 : (last - v->first) / v->step + 1;
  for (uint64_t at = v->first; v->powers && at <= last; at = ttm_mul_sat(at, v->step)) v->n++;
  v->numbers = true;
  return TTM_OK;
}

static int parse_list(ttm_variable *v, const char *text, ttm_str rest, ttm_error *err) {
  uint64_t number, before = 0;
  v->numbers = true;
  while (rest.n || v->n) {
    ttm_str value = ttm_str_take_to(&rest, ','), left = value;
    bool is_number = take_number(&left, &number) && !left.n;
    if (!value.n) return refuse(text, "a value is empty", err);
    v->numbers &= is_number && (!v->n || number > before);
    before = number;
    if (ttm_vec_push(&v->values, value)) return ttm_error_nomem(err);
    v->n++;
    if (!rest.p || !rest.n) break;
  }
  return v->n ? TTM_OK : refuse(text, "there are no values", err);
}

int ttm_variable_parse(ttm_variable *out, const char *text, ttm_error *err) {
  ttm_str rest = ttm_str_of(text), range;
  uint64_t last;
  *out = (ttm_variable){.n = 0};
  if (!take_name(&rest, &out->name)) return refuse(text, "a name of letters, digits and _, then = is needed", err);
  if (ttm_str_ends(rest, TTM_LIT(","))) return refuse(text, "a value is empty", err);
  range = rest;
  if (!take_number(&range, &out->first) || !ttm_str_take(&range, TTM_LIT(".."))) {
    if (ttm_str_contains(rest, TTM_LIT(".."))) return refuse(text, "a range has numbers", err);
    return parse_list(out, text, rest, err);
  }
  return take_number(&range, &last) ? parse_range(out, text, last, range, err)
                                    : refuse(text, "the range has no end", err);
}

void ttm_variable_free(ttm_variable *v) { ttm_vec_free(&v->values); }

uint64_t ttm_variable_number(const ttm_variable *v, uint64_t i) {
  uint64_t number = 0;
  if (v->values.n) {
    ttm_str text = v->values.at[i];
    return v->numbers && ttm_str_take_u64(&text, &number) ? number : 0;
  }
  if (!v->powers) return v->first + i * v->step;
  for (number = v->first; i; i--) number *= v->step;
  return number;
}

void ttm_variable_put(const ttm_variable *v, uint64_t i, ttm_buf *out) {
  if (v->values.n)
    ttm_buf_put(out, v->values.at[i]);
  else
    ttm_buf_u64(out, ttm_variable_number(v, i));
}

/* ---- The search ----------------------------------------------------------------------------------------------------- */

void ttm_search_free(ttm_search *s) { ttm_vec_free(&s->tries); }

int ttm_search_add(ttm_search *s, ttm_search_try tried) { return ttm_vec_push(&s->tries, tried); }

const ttm_search_try *ttm_search_tried(const ttm_search *s, uint64_t index) {
  for (size_t i = 0; i < s->tries.n; i++)
    if (s->tries.at[i].index == index) return &s->tries.at[i];
  return NULL;
}

/* The largest value below `below` that fits; NULL. */
static const ttm_search_try *fits_below(const ttm_search *s, uint64_t below) {
  const ttm_search_try *found = NULL;
  for (size_t i = 0; i < s->tries.n; i++) {
    const ttm_search_try *t = &s->tries.at[i];
    if (t->outcome == TTM_OUTCOME_FITS && t->index < below && (!found || t->index > found->index)) found = t;
  }
  return found;
}

uint64_t ttm_search_largest(const ttm_search *s) {
  const ttm_search_try *found = fits_below(s, TTM_UNKNOWN);
  return found ? found->index : TTM_UNKNOWN;
}

uint64_t ttm_search_refused(const ttm_search *s) {
  uint64_t from = ttm_search_largest(s) + 1, found = TTM_UNKNOWN; /* 0 when nothing fits */
  for (size_t i = 0; i < s->tries.n; i++) {
    const ttm_search_try *t = &s->tries.at[i];
    if (t->outcome == TTM_OUTCOME_REFUSED && t->index >= from && t->index < found) found = t->index;
  }
  return found;
}

/* The untried values lie in [*from, *end). */
static void bounds(const ttm_search *s, uint64_t *from, uint64_t *end) {
  uint64_t refused = ttm_search_refused(s);
  *from = ttm_search_largest(s) + 1;
  *end = refused == TTM_UNKNOWN ? s->of->n : refused;
}

static uint64_t count_unknown(const ttm_search *s) {
  uint64_t n = 0;
  for (size_t i = 0; i < s->tries.n; i++) n += s->tries.at[i].outcome == TTM_OUTCOME_UNKNOWN;
  return n;
}

/* The last value up to `number`, of those in [from, end). */
static uint64_t index_at(const ttm_search *s, double number, uint64_t from, uint64_t end) {
  while (end - from > 1) {
    uint64_t middle = from + (end - from) / 2;
    *((double)ttm_variable_number(s->of, middle) <= number ? &from : &end) = middle;
  }
  return from;
}

/* Where the first memory ends, if each step costs what it cost between the two largest that fit; TTM_UNKNOWN: they do not tell. */
static uint64_t guess(const ttm_search *s, uint64_t from, uint64_t end) {
  const ttm_search_try *b = fits_below(s, TTM_UNKNOWN), *a = b ? fits_below(s, b->index) : NULL;
  uint64_t least = TTM_UNKNOWN;
  if (!a || s->guesses >= TTM_SEARCH_GUESSES) return TTM_UNKNOWN;
  double vb = (double)ttm_variable_number(s->of, b->index), va = (double)ttm_variable_number(s->of, a->index);
  for (int m = 0; m < TTM_SEARCH_MEMORIES; m++) {
    if (b->peak[m] <= a->peak[m] || b->capacity[m] < b->peak[m]) continue;
    double steps = (double)(b->capacity[m] - b->peak[m]) / (double)(b->peak[m] - a->peak[m]);
    uint64_t at = index_at(s, vb + steps * (vb - va), from, end);
    if (at < least) least = at;
  }
  return least;
}

/* What all values that fit are multiples of, where others ended for another reason than memory; 1. */
static uint64_t common_factor(const ttm_search *s) {
  uint64_t factor = 0;
  for (size_t i = 0; i < s->tries.n && count_unknown(s); i++) {
    uint64_t value = ttm_variable_number(s->of, s->tries.at[i].index);
    while (s->tries.at[i].outcome == TTM_OUTCOME_FITS && value) {
      uint64_t rest = factor % value;
      factor = value;
      value = rest;
    }
  }
  return factor ? factor : 1;
}

enum { FIRST = 3 }; /* tries: the ends, and twice the first */

static uint64_t halvings(uint64_t n) {
  uint64_t count = 0;
  for (; n; n /= 2) count++;
  return count;
}

/* After so many tries the search is over, whatever they gave. Without values that end for another reason it never comes to that. */
static uint64_t limit_of(const ttm_search *s) {
  return FIRST + halvings(s->of->n) + TTM_SEARCH_GUESSES + TTM_SEARCH_UNKNOWN;
}

static bool is_open(const ttm_search *s, uint64_t at, uint64_t factor) {
  return ttm_variable_number(s->of, at) % factor == 0 && !ttm_search_tried(s, at);
}

/* The untried value nearest to `at`, of the multiples of `factor`; TTM_UNKNOWN. */
static uint64_t nearest(const ttm_search *s, uint64_t at, uint64_t from, uint64_t end, uint64_t factor) {
  enum { FAR = 4096 };
  for (uint64_t away = 0; away < end - from && away < FAR; away++) {
    if (at >= from + away && is_open(s, at - away, factor)) return at - away;
    if (at + away < end && is_open(s, at + away, factor)) return at + away;
  }
  return TTM_UNKNOWN;
}

/* The lowest value in [from, end) that ended for another reason than memory; `end`. */
static uint64_t fence(const ttm_search *s, uint64_t from, uint64_t end) {
  for (size_t i = 0; i < s->tries.n; i++) {
    const ttm_search_try *t = &s->tries.at[i];
    if (t->outcome == TTM_OUTCOME_UNKNOWN && t->index >= from && t->index < end) end = t->index;
  }
  return end;
}

static uint64_t choose(ttm_search *s, uint64_t from, uint64_t end, bool fenced) {
  uint64_t at = fenced || from >= end ? TTM_UNKNOWN : guess(s, from, end), factor = common_factor(s);
  if (from >= end) return TTM_UNKNOWN;
  if (at != TTM_UNKNOWN) s->guesses++;
  return nearest(s, at != TTM_UNKNOWN ? at : from + (end - from) / 2, from, end, factor);
}

uint64_t ttm_search_next(ttm_search *s) {
  uint64_t from, end, at;
  if (!ttm_search_tried(s, 0)) return 0;
  if (!ttm_search_tried(s, s->of->n - 1)) return s->of->n - 1;
  bounds(s, &from, &end);
  uint64_t patience = ttm_search_largest(s) == TTM_UNKNOWN ? TTM_SEARCH_UNKNOWN / 2 : TTM_SEARCH_UNKNOWN;
  if (from >= end || count_unknown(s) >= patience || s->tries.n >= limit_of(s)) return TTM_UNKNOWN;
  if (s->tries.n == 2 && ttm_search_largest(s) == 0) {
    at = index_at(s, 2 * (double)ttm_variable_number(s->of, 0), from, end);
    return nearest(s, at, from, end, 1);
  }
  uint64_t below = fence(s, from, end);
  at = choose(s, from, below, below < end && guess(s, from, end) >= below);
  return at != TTM_UNKNOWN ? at : choose(s, below + 1, end, true);
}

uint64_t ttm_search_most(const ttm_search *s) {
  uint64_t from, end, left = limit_of(s), most;
  bounds(s, &from, &end);
  if (from >= end && s->tries.n > 1) return 0;
  left = (left < s->of->n ? left : s->of->n) - s->tries.n;
  if (count_unknown(s) || s->tries.n < FIRST) return left;
  most = halvings(end - from) + TTM_SEARCH_GUESSES - s->guesses + TTM_SEARCH_UNKNOWN;
  return most < left ? most : left;
}
