/* SPDX-License-Identifier: Apache-2.0 */
#include "cbscan/value.h"

#include <math.h>

/* Numbers of block formats share an exponent: they have no size of their own. */
const cbs_format cbs_formats[CBS_FORMATS] = {
    {"Float32", "FLOAT32", 4},  {"Float16", NULL, 2},        {"Float16_b", "BFLOAT16", 2},
    {"Int32", "INT32", 4},      {"UInt32", "UINT32", 4},     {"RawUInt32", NULL, 4},
    {"UInt16", "UINT16", 2},    {"Int16", NULL, 2},          {"RawUInt16", NULL, 2},
    {"Int8", NULL, 1},          {"UInt8", "UINT8", 1},       {"RawUInt8", NULL, 1},
    {"Lf8", NULL, 1},           {"Fp8_e4m3", "FP8_E4M3", 1}, {"Bfp8", NULL, 0},
    {"Bfp8_b", "BFLOAT8_B", 0}, {"Bfp4", NULL, 0},           {"Bfp4_b", "BFLOAT4_B", 0},
    {"Bfp2", NULL, 0},          {"Bfp2_b", NULL, 0},         {"MxFp8R", NULL, 0},
    {"MxFp8P", NULL, 0},        {"MxFp6R", NULL, 0},         {"MxFp6P", NULL, 0},
    {"MxInt8", NULL, 0},        {"MxFp4", NULL, 0},          {"MxInt4", NULL, 0},
    {"MxInt2", NULL, 0},
};

int cbs_format_find(ttm_str name) {
  for (int f = 0; f < CBS_FORMATS; f++) {
    if (ttm_str_eq(name, ttm_str_of(cbs_formats[f].name))) return f;
    if (cbs_formats[f].dtype && ttm_str_eq(name, ttm_str_of(cbs_formats[f].dtype))) return f;
  }
  return -1;
}

/* ---- Making ------------------------------------------------------------------------------------------------------- */

cbs_value cbs_value_of(cbs_value_type type, int64_t i, ttm_str text) {
  cbs_value value = {.type = type, .n = 1, .at_most = INT64_MAX};
  value.v[0] = (cbs_alternative){.i = i, .t = text};
  return value;
}

cbs_value cbs_value_int(int64_t i) { return cbs_value_of(CBS_VALUE_INT, i, (ttm_str){0}); }

cbs_value cbs_value_given(int64_t i) {
  cbs_value value = cbs_value_int(i);
  value.varies = true;
  return value;
}

cbs_value cbs_value_real(double r) {
  cbs_value value = cbs_value_of(CBS_VALUE_REAL, 0, (ttm_str){0});
  value.v[0].r = r;
  return value;
}

cbs_value cbs_value_unknown(ttm_str need) {
  cbs_value value = {.open = true, .varies = true, .at_most = INT64_MAX};
  if (need.n) value.needs[value.needs_n++] = need;
  return value;
}

void cbs_value_add_needs(cbs_value *to, const cbs_value *from) {
  for (int f = 0; f < from->needs_n; f++) {
    int t = 0;
    while (t < to->needs_n && !ttm_str_eq(to->needs[t], from->needs[f])) t++;
    if (t == to->needs_n && t < CBS_NEEDS) to->needs[to->needs_n++] = from->needs[f];
  }
}

int64_t cbs_value_bound(const cbs_value *v) {
  if (v->type != CBS_VALUE_INT) return INT64_MAX;
  return cbs_value_is_known(v) ? cbs_value_max(v) : v->at_most;
}

/* ---- Sets --------------------------------------------------------------------------------------------------------- */

static int compare(cbs_value_type type, const cbs_alternative *a, const cbs_alternative *b) {
  if (type == CBS_VALUE_REAL) return a->r < b->r ? -1 : a->r > b->r;
  bool text = type == CBS_VALUE_STRING || type == CBS_VALUE_NAMED_ARG || type == CBS_VALUE_ACCESSOR;
  int order = text ? ttm_str_order(a->t, b->t) : 0;
  return text ? (order > 0) - (order < 0) : (a->i > b->i) - (a->i < b->i);
}

static void add(cbs_value *set, cbs_alternative one) {
  size_t at = 0;
  while (at < set->n && compare(set->type, &set->v[at], &one) < 0) at++;
  if (at < set->n && !compare(set->type, &set->v[at], &one)) return;
  if (set->n == CBS_ALTERNATIVES) { /* smallest and largest stay; one in the middle goes */
    set->many = true;
    if (at == 0) set->v[0] = one;
    if (at == set->n) set->v[set->n - 1] = one;
    return;
  }
  memmove(&set->v[at + 1], &set->v[at], (set->n - at) * sizeof set->v[0]);
  set->v[at] = one;
  set->n++;
}

cbs_value cbs_value_union(const cbs_value *a, const cbs_value *b) {
  cbs_value out = *a, other = *b;
  if (out.n && other.n && out.type != other.type) { /* an optional and a number, say: what can be compared stays */
    if (out.type == CBS_VALUE_REAL || other.type == CBS_VALUE_REAL) {
      out = cbs_value_convert(&out, "real");
      other = cbs_value_convert(&other, "real");
    } else {
      other.n = 0;
      other.open = true;
    }
  } else if (!out.n) {
    out.type = other.type;
  }
  int64_t bound_a = cbs_value_bound(a), bound_b = cbs_value_bound(b);
  out.at_most = bound_a > bound_b ? bound_a : bound_b;
  for (int i = 0; i < other.n; i++) add(&out, other.v[i]);
  out.open |= other.open;
  out.many |= other.many;
  out.varies |= other.varies;
  cbs_value_add_needs(&out, &other);
  return out;
}

int cbs_value_truth(const cbs_value *v) {
  if (!cbs_value_is_known(v)) return -1;
  int truth = -2;
  for (int i = 0; i < v->n; i++) {
    int t = v->type == CBS_VALUE_REAL ? v->v[i].r != 0 : v->type == CBS_VALUE_INT ? v->v[i].i != 0 : -1;
    if (t < 0 || (truth >= 0 && truth != t)) return -1;
    truth = t;
  }
  return truth;
}

/* ---- Arithmetic --------------------------------------------------------------------------------------------------- */

typedef enum {
  ADD,
  SUB,
  MUL,
  DIV,
  MOD,
  SHL,
  SHR,
  AND,
  OR,
  XOR,
  LT,
  GT,
  LE,
  GE,
  EQ,
  NE,
  ALL,
  ANY,
  MIN,
  MAX,
  DIV_UP,
  UP,
  DOWN,
  NONE
} op_code;

static op_code op_of(ttm_str op) {
  static const char *const names[] = {
      "+",  "-",  "*",  "/",  "%",  "<<", ">>",  "&",   "|",      "^",        "<",         ">",
      "<=", ">=", "==", "!=", "&&", "||", "min", "max", "div_up", "round_up", "round_down"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (ttm_str_eq(op, ttm_str_of(names[i]))) return (op_code)i;
  }
  if (ttm_str_eq(op, TTM_LIT("and"))) return ALL;
  return ttm_str_eq(op, TTM_LIT("or")) ? ANY : NONE;
}

static bool gives_truth(op_code op) { return op >= LT && op <= ANY; }

/* Of such an operation, from the order of both sides (-1, 0, 1) and whether each is true. */
static bool truth_of(op_code op, int order, bool a, bool b) {
  static const uint8_t allowed[] = {1, 4, 3, 6, 2, 5}; /* bits: less, equal, greater */
  return op == ALL ? a && b : op == ANY ? a || b : allowed[op - LT] >> (order + 1) & 1;
}

/* False when the result does not exist: overflow, division by zero, a shift out of range. */
static bool int_op(op_code op, int64_t a, int64_t b, int64_t *r) {
  switch (op) {
    case ADD:
      return !__builtin_add_overflow(a, b, r);
    case SUB:
      return !__builtin_sub_overflow(a, b, r);
    case MUL:
      return !__builtin_mul_overflow(a, b, r);
    case DIV:
    case MOD:
      if (!b || b == -1) return b && op == DIV ? !__builtin_sub_overflow((int64_t)0, a, r) : (*r = 0, b != 0);
      *r = op == DIV ? a / b : a % b;
      return true;
    case SHL:
    case SHR:
      if (a < 0 || b < 0 || b > 62 || (op == SHL && b && a >> (62 - b) >> 1)) return false;
      *r = op == SHL ? a << b : a >> b;
      return true;
    case AND:
      return *r = a & b, true;
    case OR:
      return *r = a | b, true;
    case XOR:
      return *r = a ^ b, true;
    case MIN:
      return *r = a < b ? a : b, true;
    case MAX:
      return *r = a > b ? a : b, true;
    case DIV_UP:
    case UP:
    case DOWN:
      if (a < 0 || b <= 0) return false;
      *r = a / b + (op != DOWN && a % b != 0);
      return op == DIV_UP || !__builtin_mul_overflow(*r, b, r);
    default:
      return false;
  }
}

/* The same for real numbers. */
static bool real_op(op_code op, double a, double b, double *r) {
  switch (op) {
    case ADD:
      return *r = a + b, true;
    case SUB:
      return *r = a - b, true;
    case MUL:
      return *r = a * b, true;
    case DIV:
      return *r = a / b, b != 0;
    case MIN:
      return *r = a < b ? a : b, true;
    case MAX:
      return *r = a > b ? a : b, true;
    case DIV_UP:
      return *r = ceil(a / b), b != 0;
    default:
      return false;
  }
}

/* The bound of the result when not both sides are known; sizes are not negative. */
static int64_t bound_of(op_code op, const cbs_value *a, const cbs_value *b) {
  int64_t x = cbs_value_bound(a), y = cbs_value_bound(b), r;
  if (op == MIN) return x < y ? x : y;
  if (op == MOD && cbs_value_is_known(b) && y > 0) return y - 1;
  if (x == INT64_MAX || x < 0) return INT64_MAX;
  if ((op == DIV || op == DIV_UP) && cbs_value_is_known(b) && cbs_value_min(b) > 0) {
    return int_op(op, x, cbs_value_min(b), &r) ? r : INT64_MAX;
  }
  if (op == SUB && (b->type == CBS_VALUE_INT && b->n && cbs_value_min(b) >= 0)) return x;
  if (y == INT64_MAX || y < 0) return INT64_MAX;
  if ((op == ADD || op == MUL || op == MAX || op == UP) && int_op(op, x, y, &r)) return r;
  return INT64_MAX;
}

static double real_of(cbs_value_type type, const cbs_alternative *v) {
  return type == CBS_VALUE_REAL ? v->r : (double)v->i;
}

static bool pair(op_code op, const cbs_value *a, int i, const cbs_value *b, int j, cbs_value *out) {
  const cbs_alternative *left = &a->v[i], *right = &b->v[j];
  bool real = a->type == CBS_VALUE_REAL || b->type == CBS_VALUE_REAL;
  bool alike = a->type == b->type && (a->type == CBS_VALUE_INT || op == EQ || op == NE);
  cbs_alternative r = {0};
  double x = real_of(a->type, left), y = real_of(b->type, right);
  if (!real && !alike) return false;
  if (gives_truth(op))
    r.i = truth_of(op, real ? (x > y) - (x < y) : compare(a->type, left, right), x != 0, y != 0);
  else if (real ? !real_op(op, x, y, &r.r) : !int_op(op, left->i, right->i, &r.i))
    return false;
  add(out, r);
  return true;
}

cbs_value cbs_value_binary(ttm_str text, const cbs_value *a, const cbs_value *b) {
  op_code op = op_of(text);
  cbs_value out = {
      .open = a->open || b->open, .many = a->many || b->many, .varies = a->varies || b->varies, .at_most = INT64_MAX};
  bool real = a->type == CBS_VALUE_REAL || b->type == CBS_VALUE_REAL;
  out.type = real && !gives_truth(op) ? CBS_VALUE_REAL : CBS_VALUE_INT;
  cbs_value_add_needs(&out, a);
  cbs_value_add_needs(&out, b);
  /* One side decides alone. */
  int truth_a = cbs_value_truth(a), truth_b = cbs_value_truth(b);
  if (op == ALL && (!truth_a || !truth_b)) return cbs_value_int(0);
  if (op == ANY && (truth_a == 1 || truth_b == 1)) return cbs_value_int(1);
  for (int i = 0; i < a->n; i++) {
    for (int j = 0; j < b->n; j++) {
      if (!pair(op, a, i, b, j, &out)) out.open = true;
    }
  }
  if (out.open && out.type == CBS_VALUE_INT) out.at_most = bound_of(op, a, b);
  return out;
}

cbs_value cbs_value_unary(ttm_str op, const cbs_value *a) {
  cbs_value zero = cbs_value_int(0);
  if (ttm_str_eq(op, TTM_LIT("-"))) return cbs_value_binary(op, &zero, a);
  if (ttm_str_eq(op, TTM_LIT("!")) || ttm_str_eq(op, TTM_LIT("not"))) {
    return cbs_value_binary(TTM_LIT("=="), a, &zero);
  }
  if (ttm_str_eq(op, TTM_LIT("~"))) {
    cbs_value ones = cbs_value_int(-1);
    return cbs_value_binary(TTM_LIT("^"), a, &ones);
  }
  return *a;
}

cbs_value cbs_value_convert(const cbs_value *a, const char *how) {
  bool to_real = !strcmp(how, "real");
  cbs_value out = *a;
  if (a->n && (to_real ? a->type != CBS_VALUE_INT : a->type != CBS_VALUE_REAL)) return out;
  out.type = to_real ? CBS_VALUE_REAL : CBS_VALUE_INT;
  out.n = 0;
  for (int i = 0; i < a->n; i++) {
    cbs_alternative one = {0};
    if (to_real) {
      one.r = (double)a->v[i].i;
    } else {
      double r = a->v[i].r;
      r = !strcmp(how, "ceil") ? ceil(r) : !strcmp(how, "floor") ? floor(r) : trunc(r);
      if (!(r > -9e18 && r < 9e18)) {
        out.open = true;
        continue;
      }
      one.i = (int64_t)r;
    }
    add(&out, one);
  }
  return out;
}
