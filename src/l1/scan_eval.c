/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/scan_eval.h"

#include <stdlib.h>

enum { MAX_DEPTH = 60, MAX_STEPS = 4000 };

int ttm_eval_begin(ttm_eval *eval, const ttm_tree *tree, const ttm_names *names, ttm_arena *arena) {
  size_t n = names->names.n + 1;
  *eval = (ttm_eval){.tree = tree, .names = names, .arena = arena};
  eval->known = ttm_arena_alloc(arena, n * sizeof(ttm_scan_value *));
  if (!eval->known) return TTM_ENOMEM;
  memset(eval->known, 0, n * sizeof(ttm_scan_value *));
  return TTM_OK;
}

bool ttm_constants_find(ttm_constants constants, ttm_str name, int64_t *value) {
  size_t low = 0, high = constants.n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    ttm_str at = constants.at[middle].name;
    size_t n = at.n < name.n ? at.n : name.n;
    int order = n ? memcmp(at.p, name.p, n) : 0;
    if (!order) order = at.n < name.n ? -1 : at.n > name.n;
    if (!order) {
      *value = constants.at[middle].value;
      return true;
    }
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

void ttm_eval_leave(const ttm_eval *eval, const ttm_name *name, ttm_node *at, const ttm_eval_frame **frame) {
  for (const ttm_eval_frame *f = *frame; f; f = f->caller) {
    if (ttm_tree_within(eval->tree, name->scope, f->function)) return; /* its own */
    if (!ttm_tree_within(eval->tree, *at, f->function)) continue;
    *at = f->call;
    *frame = f->caller;
  }
}

/* ---- Literals ----------------------------------------------------------------------------------------------------- */

static ttm_scan_value eval_number(ttm_str text) {
  if (text.n && text.p[0] == '-') { /* the grammar takes the sign of "-1" into the number */
    ttm_scan_value size = eval_number(ttm_str_from(text, 1));
    return ttm_value_unary(TTM_LIT("-"), &size);
  }
  char digits[64];
  size_t n = 0;
  for (size_t i = 0; i < text.n && n + 1 < sizeof digits; i++) {
    if (text.p[i] != '\'') digits[n++] = text.p[i];
  }
  digits[n] = 0;
  bool hex = n > 1 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  bool binary = n > 1 && digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B');
  char *end;
  if (!hex && !binary && strpbrk(digits, ".eE")) {
    double r = strtod(digits, &end);
    return end == digits ? ttm_value_unknown((ttm_str){0}) : ttm_value_real(r);
  }
  unsigned long long i = strtoull(binary ? digits + 2 : digits, &end, binary ? 2 : 0);
  if (end == digits || i > INT64_MAX) return ttm_value_unknown((ttm_str){0});
  if (*end == 'f' || *end == 'F') return ttm_value_real((double)i);
  return ttm_value_int((int64_t)i);
}

static ttm_str unquoted(ttm_str text) {
  size_t open = ttm_str_find_char(text, '"');
  if (open == TTM_NOT_FOUND || text.n < open + 2) return text;
  return (ttm_str){text.p + open + 1, text.n - open - 2};
}

/* "a" "b", also with macros between: the literals joined. */
static ttm_scan_value eval_joined(ttm_eval *eval, ttm_node n) {
  const ttm_tree *tree = eval->tree;
  size_t room = ttm_tree_text(tree, n).n, length = 0;
  char *text = ttm_arena_alloc(eval->arena, room + 1);
  if (!text) return ttm_value_unknown((ttm_str){0});
  for (ttm_node c = ttm_tree_at(tree, n)->child; c; c = ttm_tree_at(tree, c)->next) {
    if (ttm_tree_kind(tree, c) != TTM_N_STRING) continue;
    ttm_str part = unquoted(ttm_tree_text(tree, c));
    memcpy(text + length, part.p, part.n);
    length += part.n;
  }
  return ttm_value_of(TTM_VALUE_STRING, 0, (ttm_str){text, length});
}

/* ---- Names every program knows -------------------------------------------------------------------------------------- */

static bool builtin_constant(ttm_str name, int64_t *value) {
  static const struct {
    const char *name;
    int64_t value;
  } table[] = {
      {"TILE_HEIGHT", 32}, {"TILE_WIDTH", 32},           {"TILE_HW", 1024},
      {"TILE_SIZE", 32},   {"FACE_HEIGHT", 16},          {"FACE_WIDTH", 16},
      {"FACE_HW", 256},    {"BFLOAT16_TILE_SIZE", 2048}, {"true", 1},
      {"false", 0},        {"NUM_CIRCULAR_BUFFERS", 32},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (ttm_str_eq(name, ttm_str_of(table[i].name))) return *value = table[i].value, true;
  }
  return false;
}

/* c_0 .. c_63, and the older c_in0, c_out0 (16), c_intermed0 (24), dataflow0 (8). */
static bool buffer_index(ttm_str name, int64_t *value) {
  static const struct {
    const char *prefix;
    int64_t base;
  } table[] = {{"c_in", 0}, {"c_out", 16}, {"c_intermed", 24}, {"dataflow", 8}, {"c_", 0}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    ttm_str rest = name;
    uint64_t number;
    if (!ttm_str_take(&rest, ttm_str_of(table[i].prefix))) continue;
    if (ttm_str_take_u64(&rest, &number) && !rest.n && number < 64)
      return *value = table[i].base + (int64_t)number, true;
  }
  return false;
}

static ttm_str qualifier_of(const ttm_tree *tree, ttm_node n) {
  ttm_node scope = 0;
  while (ttm_tree_kind(tree, n) == TTM_N_QUALIFIED) {
    ttm_node name = ttm_tree_field(tree, n, TTM_F_NAME), s = ttm_tree_field(tree, n, TTM_F_SCOPE);
    if (s) scope = s;
    if (!name) break;
    n = name;
  }
  return scope ? ttm_name_last(tree, scope) : (ttm_str){"", 0};
}

static ttm_scan_value eval_macro(ttm_eval *eval, const ttm_name *name) {
  ttm_str text = name->value ? ttm_str_trim(ttm_tree_text(eval->tree, name->value)) : (ttm_str){"", 0};
  while (text.n > 2 && text.p[0] == '(' && text.p[text.n - 1] == ')') text = (ttm_str){text.p + 1, text.n - 2};
  if (text.n && text.p[0] >= '0' && text.p[0] <= '9') {
    size_t digits = 0;
    while (digits < text.n && text.p[digits] != ' ' && text.p[digits] != '/' && text.p[digits] != '*') digits++;
    if (digits == text.n || text.p[digits] == ' ') {
      ttm_str rest = ttm_str_trim(ttm_str_from(text, digits));
      if (!rest.n || ttm_str_starts(rest, TTM_LIT("//"))) return eval_number(ttm_str_first(text, digits));
    }
    return ttm_value_unknown(name->text);
  }
  const ttm_name *other = text.n ? ttm_names_find(eval->names, text, name->node) : NULL;
  if (other && other != name) return ttm_flow_value(eval, other, (ttm_node)eval->tree->nodes.n - 1, NULL);
  return ttm_value_unknown(name->text);
}

static ttm_scan_value eval_declared(ttm_eval *eval, const ttm_name *name, ttm_node at, const ttm_eval_frame *frame) {
  switch (name->kind) {
    case TTM_NAME_MACRO:
      return eval_macro(eval, name);
    case TTM_NAME_ENUMERATOR: {
      if (name->value) return ttm_eval_node(eval, name->value, NULL);
      ttm_scan_value distance = ttm_value_int(name->index);
      if (!name->type) return distance;
      ttm_scan_value base = ttm_eval_node(eval, name->type, NULL);
      return ttm_value_binary(TTM_LIT("+"), &base, &distance);
    }
    case TTM_NAME_FUNCTION:
      break;
    default:
      return ttm_flow_value(eval, name, at, frame);
  }
  return ttm_value_unknown(name->text);
}

static ttm_scan_value eval_name(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame) {
  ttm_str text = ttm_name_last(eval->tree, n);
  int64_t value;
  if (ttm_constants_find(eval->defines, text, &value)) return ttm_value_given(value);
  if (ttm_tree_kind(eval->tree, n) == TTM_N_QUALIFIED) {
    ttm_str qualifier = qualifier_of(eval->tree, n), whole = ttm_tree_text(eval->tree, n);
    int format = ttm_format_find(text);
    if (format >= 0 &&
        (ttm_text_has_word(whole, TTM_LIT("DataFormat")) || ttm_text_has_word(whole, TTM_LIT("DataType")))) {
      return ttm_value_of(TTM_VALUE_FORMAT, format, (ttm_str){0});
    }
    bool indexes = ttm_text_has_word(whole, TTM_LIT("CBIndex")) || ttm_text_has_word(whole, TTM_LIT("CB"));
    if (indexes && buffer_index(text, &value)) return ttm_value_int(value);
    if (ttm_str_eq(qualifier, TTM_LIT("dfb"))) return ttm_value_of(TTM_VALUE_ACCESSOR, 0, text);
    if (ttm_str_eq(qualifier, TTM_LIT("args"))) return ttm_value_of(TTM_VALUE_NAMED_ARG, 0, text);
  }
  const ttm_name *name = ttm_names_find(eval->names, text, n);
  if (name && name->kind != TTM_NAME_FUNCTION) return eval_declared(eval, name, n, frame);
  if (builtin_constant(text, &value)) return ttm_value_int(value);
  if (ttm_constants_find(eval->elsewhere, text, &value)) return ttm_value_int(value);
  return ttm_value_unknown(text);
}

/* ---- Objects ------------------------------------------------------------------------------------------------------ */

/* The designated or assigned member of a local struct. */
static ttm_scan_value eval_field(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame) {
  const ttm_tree *tree = eval->tree;
  ttm_node object = ttm_tree_field(tree, n, TTM_F_ARGUMENT), field = ttm_tree_field(tree, n, TTM_F_FIELD);
  ttm_scan_value unknown = ttm_value_unknown(ttm_tree_text(tree, n));
  int64_t given;
  if (ttm_constants_find(eval->defines, ttm_tree_text(tree, n), &given)) return ttm_value_given(given);
  if (!object || !field || ttm_tree_kind(tree, object) != TTM_N_IDENTIFIER) return unknown;
  ttm_str word = ttm_tree_text(tree, field);
  const ttm_name *name = ttm_names_find(eval->names, ttm_tree_text(tree, object), n);
  if (!name || name->kind != TTM_NAME_VARIABLE) return unknown;
  const ttm_change *last = NULL;
  ttm_names const *names = eval->names;
  for (uint32_t i = ttm_changes_first(names, ttm_tree_text(tree, object)); i != UINT32_MAX;
       i = names->changes.at[i].next) {
    const ttm_change *change = &names->changes.at[i];
    if (change->kind != TTM_CHANGE_FIELD || !ttm_str_eq(change->word, word) || change->path.n) continue;
    if (change->node > name->node && change->node < n && ttm_tree_within(tree, change->node, name->scope))
      last = change;
  }
  if (last) {
    ttm_scan_value value = ttm_eval_node(eval, last->value, frame);
    bool sure = ttm_tree_kind(tree, ttm_tree_at(tree, ttm_tree_at(tree, last->node)->parent)->parent) == TTM_N_BLOCK &&
                ttm_tree_within(tree, n, ttm_tree_at(tree, ttm_tree_at(tree, last->node)->parent)->parent);
    return sure ? value : ttm_value_union(&value, &unknown);
  }
  ttm_node list = name->value;
  if (list && ttm_tree_kind(tree, list) == TTM_N_COMPOUND_LITERAL) list = ttm_tree_field(tree, list, TTM_F_VALUE);
  if (!list || ttm_tree_kind(tree, list) != TTM_N_INIT_LIST) return unknown;
  for (ttm_node pair = ttm_tree_at(tree, list)->child; pair; pair = ttm_tree_at(tree, pair)->next) {
    ttm_node designator = ttm_tree_field(tree, pair, TTM_F_DESIGNATOR), value = ttm_tree_field(tree, pair, TTM_F_VALUE);
    if (!designator || !value) continue;
    ttm_str label = ttm_str_from(ttm_tree_text(tree, designator), 1);
    if (ttm_str_eq(label, word)) return ttm_eval_node(eval, value, frame);
  }
  return unknown;
}

/* table[2] of a table that is written out. */
static ttm_scan_value eval_subscript(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame) {
  const ttm_tree *tree = eval->tree;
  ttm_node object = ttm_tree_field(tree, n, TTM_F_ARGUMENT), indices = ttm_tree_field(tree, n, TTM_F_INDICES);
  ttm_scan_value unknown = ttm_value_unknown(ttm_tree_text(tree, n));
  if (!object || !indices || ttm_tree_kind(tree, object) != TTM_N_IDENTIFIER) return unknown;
  const ttm_name *name = ttm_names_find(eval->names, ttm_tree_text(tree, object), n);
  ttm_node first = ttm_tree_child(tree, indices, 0);
  ttm_scan_value index = first ? ttm_eval_node(eval, first, frame) : unknown;
  if (!name || !name->value || name->kind != TTM_NAME_VARIABLE || !ttm_value_is_one(&index)) return unknown;
  if (index.type != TTM_VALUE_INT || index.v[0].i < 0 || ttm_tree_kind(tree, name->value) != TTM_N_INIT_LIST)
    return unknown;
  ttm_node item = ttm_tree_child(tree, name->value, (size_t)index.v[0].i);
  return item ? ttm_eval_node(eval, item, frame) : unknown;
}

/* The first word that is found counts: "unsigned long" is a long. */
static ttm_scan_value eval_sizeof(ttm_eval *eval, ttm_node n) {
  static const struct {
    const char *type;
    int64_t bytes;
  } table[] = {{"bfloat16", 2}, {"uint32_t", 4}, {"int32_t", 4}, {"float", 4},  {"uint16_t", 2}, {"int16_t", 2},
               {"uint8_t", 1},  {"int8_t", 1},   {"char", 1},    {"double", 8}, {"uint64_t", 8}, {"int64_t", 8},
               {"size_t", 8},   {"bool", 1},     {"short", 2},   {"long", 8},   {"int", 4},      {"unsigned", 4}};
  ttm_str text = ttm_tree_text(eval->tree, n);
  if (ttm_str_ends(text, TTM_LIT("*)"))) return ttm_value_int(8);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (ttm_text_has_word(text, ttm_str_of(table[i].type))) return ttm_value_int(table[i].bytes);
  }
  return ttm_value_unknown(text);
}

ttm_scan_value ttm_eval_initialiser(ttm_eval *eval, ttm_node value, const ttm_eval_frame *frame) {
  const ttm_tree *tree = eval->tree;
  ttm_node_kind kind = ttm_tree_kind(tree, value);
  if (kind == TTM_N_ARGUMENTS || kind == TTM_N_INIT_LIST || kind == TTM_N_PARAMETERS) {
    if (ttm_tree_children(tree, value) != 1) return ttm_value_unknown((ttm_str){0});
    value = ttm_tree_child(tree, value, 0);
    if (ttm_tree_kind(tree, value) == TTM_N_PARAMETER) value = ttm_tree_child(tree, value, 0);
  }
  return ttm_eval_node(eval, value, frame);
}

/* ---- Expressions -------------------------------------------------------------------------------------------------- */

static ttm_scan_value eval_binary(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame) {
  const ttm_tree *tree = eval->tree;
  ttm_node left = ttm_tree_field(tree, n, TTM_F_LEFT), right = ttm_tree_field(tree, n, TTM_F_RIGHT);
  ttm_node op = ttm_tree_field(tree, n, TTM_F_OPERATOR);
  if (!left || !right || !op) return ttm_value_unknown((ttm_str){0});
  ttm_scan_value a = ttm_eval_node(eval, left, frame), b = ttm_eval_node(eval, right, frame);
  return ttm_value_binary(ttm_tree_text(tree, op), &a, &b);
}

static ttm_scan_value eval_ternary(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame) {
  const ttm_tree *tree = eval->tree;
  ttm_node condition = ttm_tree_field(tree, n, TTM_F_CONDITION);
  ttm_node yes = ttm_tree_field(tree, n, TTM_F_CONSEQUENCE), no = ttm_tree_field(tree, n, TTM_F_ALTERNATIVE);
  if (!condition || !yes || !no) return ttm_value_unknown((ttm_str){0});
  ttm_scan_value test = ttm_eval_node(eval, condition, frame);
  int truth = ttm_value_truth(&test);
  if (truth >= 0) {
    ttm_scan_value taken = ttm_eval_node(eval, truth ? yes : no, frame);
    taken.varies |= test.varies;
    return taken;
  }
  ttm_scan_value a = ttm_eval_node(eval, yes, frame), b = ttm_eval_node(eval, no, frame);
  a = ttm_value_union(&a, &b);
  a.varies = true;
  return a;
}

static ttm_scan_value eval_cast(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame) {
  ttm_node value = ttm_tree_field(eval->tree, n, TTM_F_VALUE), type = ttm_tree_field(eval->tree, n, TTM_F_TYPE);
  if (!value) return ttm_value_unknown((ttm_str){0});
  ttm_scan_value v = ttm_eval_node(eval, value, frame);
  bool real = type && (ttm_text_has_word(ttm_tree_text(eval->tree, type), TTM_LIT("float")) ||
                       ttm_text_has_word(ttm_tree_text(eval->tree, type), TTM_LIT("double")));
  return ttm_value_convert(&v, real ? "real" : "trunc");
}

static ttm_scan_value eval_unary(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame) {
  ttm_node operand = ttm_tree_field(eval->tree, n, TTM_F_ARGUMENT), op = ttm_tree_field(eval->tree, n, TTM_F_OPERATOR);
  if (!operand) return ttm_value_unknown((ttm_str){0});
  ttm_scan_value v = ttm_eval_node(eval, operand, frame);
  return ttm_value_unary(op ? ttm_tree_text(eval->tree, op) : (ttm_str){"", 0}, &v);
}

static ttm_scan_value eval_update(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame) {
  const ttm_tree *tree = eval->tree;
  ttm_node operand = ttm_tree_field(tree, n, TTM_F_ARGUMENT), op = ttm_tree_field(tree, n, TTM_F_OPERATOR);
  if (!operand || !op || ttm_tree_kind(tree, operand) != TTM_N_IDENTIFIER) return ttm_value_unknown((ttm_str){0});
  const ttm_name *name = ttm_names_find(eval->names, ttm_tree_text(tree, operand), n);
  if (!name) return ttm_value_unknown(ttm_tree_text(tree, operand));
  ttm_scan_value v = eval_declared(eval, name, n, frame);
  if (op > operand) return v; /* x++ */
  ttm_scan_value one = ttm_value_int(1);
  return ttm_value_binary(ttm_str_first(ttm_tree_text(tree, op), 1), &v, &one);
}

/* A node with one part that matters: parentheses, conditions, {x}, T{x}. */
static ttm_scan_value eval_only_child(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame) {
  const ttm_tree *tree = eval->tree;
  ttm_node value = ttm_tree_field(tree, n, TTM_F_VALUE);
  if (!value && ttm_tree_children(tree, n) == 1) value = ttm_tree_child(tree, n, 0);
  return value ? ttm_eval_node(eval, value, frame) : ttm_value_unknown((ttm_str){0});
}

static ttm_scan_value eval_kind(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame) {
  const ttm_tree *tree = eval->tree;
  switch (ttm_tree_kind(tree, n)) {
    case TTM_N_NUMBER:
      return eval_number(ttm_tree_text(tree, n));
    case TTM_N_TRUE:
      return ttm_value_int(1);
    case TTM_N_FALSE:
    case TTM_N_NULLPTR:
      return ttm_value_int(0);
    case TTM_N_STRING:
    case TTM_N_RAW_STRING:
      return ttm_value_of(TTM_VALUE_STRING, 0, unquoted(ttm_tree_text(tree, n)));
    case TTM_N_CONCAT_STRING:
      return eval_joined(eval, n);
    case TTM_N_IDENTIFIER:
    case TTM_N_TYPE_IDENTIFIER:
    case TTM_N_QUALIFIED:
      return eval_name(eval, n, frame);
    case TTM_N_TYPE_DESCRIPTOR:
    case TTM_N_PAREN:
    case TTM_N_CONDITION:
    case TTM_N_INIT_LIST:
    case TTM_N_COMPOUND_LITERAL:
      return eval_only_child(eval, n, frame);
    case TTM_N_BINARY:
      return eval_binary(eval, n, frame);
    case TTM_N_UNARY:
    case TTM_N_POINTER:
      return eval_unary(eval, n, frame);
    case TTM_N_UPDATE:
      return eval_update(eval, n, frame);
    case TTM_N_ASSIGN: {
      ttm_node right = ttm_tree_field(tree, n, TTM_F_RIGHT);
      return right ? ttm_eval_node(eval, right, frame) : ttm_value_unknown((ttm_str){0});
    }
    case TTM_N_TERNARY:
      return eval_ternary(eval, n, frame);
    case TTM_N_CAST:
      return eval_cast(eval, n, frame);
    case TTM_N_SIZEOF:
      return eval_sizeof(eval, n);
    case TTM_N_FIELD:
      return eval_field(eval, n, frame);
    case TTM_N_SUBSCRIPT:
      return eval_subscript(eval, n, frame);
    case TTM_N_CALL:
      return ttm_eval_call(eval, n, frame);
    default:
      return ttm_value_unknown(ttm_tree_text(tree, n));
  }
}

ttm_scan_value ttm_eval_node(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame) {
  if (!n || eval->depth >= MAX_DEPTH || eval->steps >= MAX_STEPS) return ttm_value_unknown((ttm_str){0});
  eval->depth++;
  eval->steps++;
  ttm_scan_value value = eval_kind(eval, n, frame);
  eval->depth--;
  return value;
}

ttm_scan_value ttm_eval_expression(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame) {
  eval->depth = eval->steps = 0;
  return ttm_eval_node(eval, n, frame);
}
