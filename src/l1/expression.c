/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive descent, one function per level of precedence. `live` is false in the branch of ?: or && that does not count: it is read,
 * but a division by zero in it is no error. */
#include "l1/expression.h"

#include "base/checked.h"

enum { MOST_DEPTH = 40 };

typedef struct reader {
  ttm_str rest;
  const ttm_name_values *names;
  unsigned depth;
  ttm_error *err;
  bool failed;
} reader;

static uint64_t choice(reader *r, bool live);

static uint64_t fail(reader *r, const char *what) {
  if (!r->failed) {
    ttm_str near = ttm_str_first(r->rest, 24);
    if (near.n)
      ttm_error_set(r->err, TTM_EFORMAT, "%s at '%.*s'", what, (int)near.n, near.p);
    else
      ttm_error_set(r->err, TTM_EFORMAT, "%s at the end", what);
  }
  r->failed = true;
  r->rest.n = 0;
  return 0;
}

static void skip_blanks(reader *r) {
  while (r->rest.n && (r->rest.p[0] == ' ' || r->rest.p[0] == '\t')) r->rest = ttm_str_from(r->rest, 1);
}

/* Moves past `sign` when it stands here. */
static bool take(reader *r, const char *sign) {
  skip_blanks(r);
  return ttm_str_take(&r->rest, ttm_str_of(sign));
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static ttm_str take_name(reader *r) {
  size_t n = 0;
  while (n < r->rest.n && (is_letter(r->rest.p[n]) || is_digit(r->rest.p[n]))) n++;
  ttm_str name = ttm_str_first(r->rest, n);
  r->rest = ttm_str_from(r->rest, n);
  return name;
}

static uint64_t number(reader *r) {
  uint64_t value;
  if (!ttm_str_take_u64(&r->rest, &value)) return fail(r, "number too large");
  while (r->rest.n && strchr("uUlL", r->rest.p[0])) r->rest = ttm_str_from(r->rest, 1);
  if (r->rest.n && is_letter(r->rest.p[0])) return fail(r, "no such number");
  return value;
}

/* min(a, b, ...) and max(a, b, ...), the parenthesis already read. */
static uint64_t extreme(reader *r, bool largest, bool live) {
  uint64_t best = choice(r, live);
  while (take(r, ",")) {
    uint64_t next = choice(r, live);
    if (largest ? next > best : next < best) best = next;
  }
  return take(r, ")") ? best : fail(r, "')' missing");
}

static uint64_t named(reader *r, bool live) {
  ttm_str start = r->rest, name = take_name(r);
  if (ttm_str_eq(name, TTM_LIT("std")) && ttm_str_take(&r->rest, TTM_LIT("::"))) name = take_name(r);
  bool smallest = ttm_str_eq(name, TTM_LIT("min")), largest = ttm_str_eq(name, TTM_LIT("max"));
  if ((smallest || largest) && take(r, "(")) return extreme(r, largest, live);
  for (size_t i = 0; i < r->names->n; i++) {
    if (ttm_str_eq(r->names->at[i].name, name)) return r->names->at[i].value;
  }
  r->rest = start;
  return fail(r, "unknown name");
}

static uint64_t primary(reader *r, bool live) {
  uint64_t value;
  skip_blanks(r);
  if (r->depth >= MOST_DEPTH) return fail(r, "nested too deep");
  r->depth++;
  if (take(r, "(")) {
    value = choice(r, live);
    if (!take(r, ")")) value = fail(r, "')' missing");
  } else if (take(r, "!")) {
    value = !primary(r, live);
  } else if (r->rest.n && is_digit(r->rest.p[0])) {
    value = number(r);
  } else if (r->rest.n && is_letter(r->rest.p[0])) {
    value = named(r, live);
  } else {
    value = fail(r, "number or name expected");
  }
  r->depth--;
  return value;
}

static uint64_t product(reader *r, bool live) {
  uint64_t left = primary(r, live);
  while (!r->failed) {
    bool times = take(r, "*"), over = !times && take(r, "/"), rest = !times && !over && take(r, "%");
    if (!times && !over && !rest) break;
    uint64_t right = primary(r, live);
    if (!times && !right) {
      if (live) return fail(r, "division by zero");
      right = 1;
    }
    left = times ? ttm_mul_sat(left, right) : over ? left / right : left % right;
  }
  return left;
}

static uint64_t sum(reader *r, bool live) {
  uint64_t left = product(r, live);
  while (!r->failed) {
    bool plus = take(r, "+");
    if (!plus && !take(r, "-")) break;
    uint64_t right = product(r, live);
    left = plus ? ttm_add_sat(left, right) : left > right ? left - right : 0;
  }
  return left;
}

static uint64_t comparison(reader *r, bool live) {
  static const char *const signs[] = {"<=", ">=", "==", "!=", "<", ">"}; /* the longer ones first */
  uint64_t left = sum(r, live);
  while (!r->failed) {
    size_t s = 0;
    while (s < 6 && !take(r, signs[s])) s++;
    if (s == 6) break;
    uint64_t right = sum(r, live);
    left = (const bool[]){left <= right, left >= right, left == right, left != right, left<right, left> right}[s];
  }
  return left;
}

/* a && b && ..., or a || b || ... of such. */
static uint64_t logic(reader *r, bool live, bool either) {
  uint64_t left = either ? logic(r, live, false) : comparison(r, live);
  while (!r->failed && take(r, either ? "||" : "&&")) {
    bool counts = live && (either ? !left : left);
    uint64_t right = either ? logic(r, counts, false) : comparison(r, counts);
    left = either ? left || right : left && right;
  }
  return left;
}

static uint64_t choice(reader *r, bool live) {
  uint64_t value = logic(r, live, true);
  if (r->failed || !take(r, "?")) return value;
  if (r->depth >= MOST_DEPTH) return fail(r, "nested too deep");
  r->depth++;
  uint64_t yes = choice(r, live && value);
  if (!take(r, ":")) return fail(r, "':' missing");
  uint64_t no = choice(r, live && !value);
  r->depth--;
  return value ? yes : no;
}

int ttm_expression_value(ttm_str text, const ttm_name_values *names, uint64_t *out, ttm_error *err) {
  reader r = {.rest = text, .names = names, .err = err};
  *out = choice(&r, true);
  skip_blanks(&r);
  if (!r.failed && r.rest.n) fail(&r, "not understood");
  return r.failed ? TTM_EFORMAT : TTM_OK;
}
