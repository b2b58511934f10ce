/* SPDX-License-Identifier: Apache-2.0 */
#include "cbscan/eval.h"

#include <stdlib.h>

enum { MAX_DEPTH = 60, MAX_STEPS = 4000 };

int cbs_eval_begin(cbs_eval *eval, const cbs_tree *tree, const cbs_names *names, ttm_arena *arena) {
  size_t n = names->names.n + 1;
  *eval = (cbs_eval){.tree = tree, .names = names, .arena = arena};
  eval->known = ttm_arena_alloc(arena, n * sizeof(cbs_value *));
  if (!eval->known) return TTM_ENOMEM;
  memset(eval->known, 0, n * sizeof(cbs_value *));
  return TTM_OK;
}

bool cbs_constants_find(const cbs_defines *constants, ttm_str name, int64_t *value) {
  size_t low = 0, high = constants->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = ttm_str_order(constants->at[middle].name, name);
    if (!order) return *value = constants->at[middle].value, true;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

void cbs_eval_leave(const cbs_eval *eval, const cbs_name *name, cbs_node *at, const cbs_eval_frame **frame) {
  for (const cbs_eval_frame *f = *frame; f; f = f->caller) {
    if (cbs_tree_within(eval->tree, name->scope, f->function)) return; /* its own */
    if (!cbs_tree_within(eval->tree, *at, f->function)) continue;
    *at = f->call;
    *frame = f->caller;
  }
}

/* ---- Literals ----------------------------------------------------------------------------------------------------- */

static cbs_value eval_number(ttm_str text) {
  if (text.n && text.p[0] == '-') { /* the grammar takes the sign of "-1" into the number */
    cbs_value size = eval_number(ttm_str_from(text, 1));
    return cbs_value_unary(TTM_LIT("-"), &size);
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
    return end == digits ? cbs_value_unknown((ttm_str){0}) : cbs_value_real(r);
  }
  unsigned long long i = strtoull(binary ? digits + 2 : digits, &end, binary ? 2 : 0);
  if (end == digits || i > INT64_MAX) return cbs_value_unknown((ttm_str){0});
  if (*end == 'f' || *end == 'F') return cbs_value_real((double)i);
  return cbs_value_int((int64_t)i);
}

static ttm_str unquoted(ttm_str text) {
  size_t open = ttm_str_find_char(text, '"');
  if (open == TTM_NOT_FOUND || text.n < open + 2) return text;
  return (ttm_str){text.p + open + 1, text.n - open - 2};
}

/* "a" "b", also with macros between: the literals joined. */
static cbs_value eval_joined(cbs_eval *eval, cbs_node n) {
  const cbs_tree *tree = eval->tree;
  size_t room = cbs_tree_text(tree, n).n, length = 0;
  char *text = ttm_arena_alloc(eval->arena, room + 1);
  if (!text) return cbs_value_unknown((ttm_str){0});
  for (cbs_node c = cbs_tree_at(tree, n)->child; c; c = cbs_tree_at(tree, c)->next) {
    if (cbs_tree_kind(tree, c) != CBS_N_STRING) continue;
    ttm_str part = unquoted(cbs_tree_text(tree, c));
    memcpy(text + length, part.p, part.n);
    length += part.n;
  }
  return cbs_value_of(CBS_VALUE_STRING, 0, (ttm_str){text, length});
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

static ttm_str qualifier_of(const cbs_tree *tree, cbs_node n) {
  cbs_node scope = 0;
  for (; cbs_tree_kind(tree, n) == CBS_N_QUALIFIED; n = cbs_tree_field(tree, n, CBS_F_NAME)) {
    cbs_node own = cbs_tree_field(tree, n, CBS_F_SCOPE);
    if (own) scope = own;
  }
  return cbs_name_last(tree, scope);
}

static cbs_value eval_macro(cbs_eval *eval, const cbs_name *name) {
  ttm_str text = ttm_str_trim(cbs_tree_text(eval->tree, name->value));
  while (text.n > 2 && text.p[0] == '(' && text.p[text.n - 1] == ')') text = (ttm_str){text.p + 1, text.n - 2};
  if (text.n && text.p[0] >= '0' && text.p[0] <= '9') {
    size_t digits = 0;
    while (digits < text.n && text.p[digits] != ' ' && text.p[digits] != '/' && text.p[digits] != '*') digits++;
    if (digits == text.n || text.p[digits] == ' ') {
      ttm_str rest = ttm_str_trim(ttm_str_from(text, digits));
      if (!rest.n || ttm_str_starts(rest, TTM_LIT("//"))) return eval_number(ttm_str_first(text, digits));
    }
    return cbs_value_unknown(name->text);
  }
  const cbs_name *other = text.n ? cbs_names_find(eval->names, text, name->node) : NULL;
  if (other && other != name) return cbs_flow_value(eval, other, (cbs_node)eval->tree->nodes.n - 1, NULL);
  return cbs_value_unknown(name->text);
}

static cbs_value eval_declared(cbs_eval *eval, const cbs_name *name, cbs_node at, const cbs_eval_frame *frame) {
  switch (name->kind) {
    case CBS_NAME_MACRO:
      return eval_macro(eval, name);
    case CBS_NAME_ENUMERATOR: {
      if (name->value) return cbs_eval_node(eval, name->value, NULL);
      cbs_value distance = cbs_value_int(name->index);
      if (!name->type) return distance;
      cbs_value base = cbs_eval_node(eval, name->type, NULL);
      return cbs_value_binary(TTM_LIT("+"), &base, &distance);
    }
    case CBS_NAME_FUNCTION:
      break;
    default:
      return cbs_flow_value(eval, name, at, frame);
  }
  return cbs_value_unknown(name->text);
}

static cbs_value eval_name(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame) {
  ttm_str text = cbs_name_last(eval->tree, n);
  int64_t value;
  if (cbs_constants_find(&eval->defines, text, &value)) return cbs_value_given(value);
  if (cbs_tree_kind(eval->tree, n) == CBS_N_QUALIFIED) {
    ttm_str qualifier = qualifier_of(eval->tree, n), whole = cbs_tree_text(eval->tree, n);
    int format = cbs_format_find(text);
    if (format >= 0 &&
        (cbs_text_has_word(whole, TTM_LIT("DataFormat")) || cbs_text_has_word(whole, TTM_LIT("DataType")))) {
      return cbs_value_of(CBS_VALUE_FORMAT, format, (ttm_str){0});
    }
    bool indexes = cbs_text_has_word(whole, TTM_LIT("CBIndex")) || cbs_text_has_word(whole, TTM_LIT("CB"));
    if (indexes && buffer_index(text, &value)) return cbs_value_int(value);
    if (ttm_str_eq(qualifier, TTM_LIT("dfb"))) return cbs_value_of(CBS_VALUE_ACCESSOR, 0, text);
    if (ttm_str_eq(qualifier, TTM_LIT("args"))) return cbs_value_of(CBS_VALUE_NAMED_ARG, 0, text);
  }
  const cbs_name *name = cbs_names_find(eval->names, text, n);
  if (name && name->kind != CBS_NAME_FUNCTION) return eval_declared(eval, name, n, frame);
  if (builtin_constant(text, &value)) return cbs_value_int(value);
  if (cbs_constants_find(&eval->elsewhere, text, &value)) return cbs_value_int(value);
  return cbs_value_unknown(text);
}

/* ---- Objects ------------------------------------------------------------------------------------------------------ */

/* The designated or assigned member of a local struct. */
static cbs_value eval_field(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame) {
  const cbs_tree *tree = eval->tree;
  cbs_node object = cbs_tree_field(tree, n, CBS_F_ARGUMENT), field = cbs_tree_field(tree, n, CBS_F_FIELD);
  cbs_value unknown = cbs_value_unknown(cbs_tree_text(tree, n));
  int64_t given;
  if (cbs_constants_find(&eval->defines, cbs_tree_text(tree, n), &given)) return cbs_value_given(given);
  const cbs_name *name = cbs_name_of(eval->names, object);
  if (!field || !name || name->kind != CBS_NAME_VARIABLE) return unknown;
  ttm_str word = cbs_tree_text(tree, field);
  const cbs_change *last = NULL;
  if (cbs_eval_may_have_written(eval, name, n)) return unknown;
  for (const cbs_change *change = NULL; (change = cbs_next_change(eval->names, name, change));) {
    bool ours = change->kind == CBS_CHANGE_FIELD && ttm_str_eq(change->word, word) && !change->path.n;
    if (ours && change->node < n) last = change;
  }
  if (last) {
    cbs_value value = cbs_eval_node(eval, last->value, frame);
    cbs_node statement = cbs_tree_at(tree, last->node)->parent, block = cbs_tree_at(tree, statement)->parent;
    bool sure = cbs_tree_kind(tree, block) == CBS_N_BLOCK && cbs_tree_within(tree, n, block);
    return sure ? value : cbs_value_union(&value, &unknown);
  }
  cbs_node value = cbs_member_of(tree, cbs_list_of(tree, name->value), word);
  return value ? cbs_eval_node(eval, value, frame) : unknown;
}

/* Before node `at` an item of the table is set, or the table is changed as a whole. */
static bool item_changes(const cbs_eval *eval, const cbs_name *name, cbs_node at) {
  for (const cbs_change *c = NULL; (c = cbs_next_change(eval->names, name, c));) {
    bool reads = c->kind == CBS_CHANGE_METHOD && ttm_str_eq(c->word, TTM_LIT("size"));
    if (!reads && c->node < at) return true;
  }
  return false;
}

/* table[2] of a table that is written out. */
static cbs_value eval_subscript(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame) {
  const cbs_tree *tree = eval->tree;
  cbs_node object = cbs_tree_field(tree, n, CBS_F_ARGUMENT), indices = cbs_tree_field(tree, n, CBS_F_INDICES);
  cbs_value unknown = cbs_value_unknown(cbs_tree_text(tree, n));
  const cbs_name *name = cbs_name_of(eval->names, object);
  cbs_value index = cbs_eval_node(eval, cbs_tree_child(tree, indices, 0), frame);
  if (!name || name->kind != CBS_NAME_VARIABLE || !cbs_value_is_one(&index)) return unknown;
  if (cbs_eval_may_have_written(eval, name, n) || item_changes(eval, name, n)) return unknown;
  if (index.type != CBS_VALUE_INT || index.v[0].i < 0 || cbs_tree_kind(tree, name->value) != CBS_N_INIT_LIST)
    return unknown;
  cbs_node item = cbs_tree_child(tree, name->value, (size_t)index.v[0].i);
  return item ? cbs_eval_node(eval, item, frame) : unknown;
}

/* The first word that is found counts: "unsigned long" is a long. */
static cbs_value eval_sizeof(cbs_eval *eval, cbs_node n) {
  static const struct {
    const char *type;
    int64_t bytes;
  } table[] = {{"bfloat16", 2}, {"uint32_t", 4}, {"int32_t", 4}, {"float", 4},  {"uint16_t", 2}, {"int16_t", 2},
               {"uint8_t", 1},  {"int8_t", 1},   {"char", 1},    {"double", 8}, {"uint64_t", 8}, {"int64_t", 8},
               {"size_t", 8},   {"bool", 1},     {"short", 2},   {"long", 8},   {"int", 4},      {"unsigned", 4}};
  ttm_str text = cbs_tree_text(eval->tree, n);
  if (ttm_str_ends(text, TTM_LIT("*)"))) return cbs_value_int(8);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (cbs_text_has_word(text, ttm_str_of(table[i].type))) return cbs_value_int(table[i].bytes);
  }
  return cbs_value_unknown(text);
}

cbs_value cbs_eval_initialiser(cbs_eval *eval, cbs_node value, const cbs_eval_frame *frame) {
  const cbs_tree *tree = eval->tree;
  cbs_node_kind kind = cbs_tree_kind(tree, value);
  if (kind == CBS_N_ARGUMENTS || kind == CBS_N_INIT_LIST || kind == CBS_N_PARAMETERS) {
    if (cbs_tree_children(tree, value) != 1) return cbs_value_unknown((ttm_str){0});
    value = cbs_tree_child(tree, value, 0);
    if (cbs_tree_kind(tree, value) == CBS_N_PARAMETER) value = cbs_tree_child(tree, value, 0);
  }
  return cbs_eval_node(eval, value, frame);
}

/* ---- Expressions -------------------------------------------------------------------------------------------------- */

static cbs_value eval_binary(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame) {
  const cbs_tree *tree = eval->tree;
  cbs_node left = cbs_tree_field(tree, n, CBS_F_LEFT), right = cbs_tree_field(tree, n, CBS_F_RIGHT);
  cbs_node op = cbs_tree_field(tree, n, CBS_F_OPERATOR);
  cbs_value a = cbs_eval_node(eval, left, frame), b = cbs_eval_node(eval, right, frame);
  return cbs_value_binary(cbs_tree_text(tree, op), &a, &b);
}

static cbs_value eval_ternary(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame) {
  const cbs_tree *tree = eval->tree;
  cbs_node condition = cbs_tree_field(tree, n, CBS_F_CONDITION);
  cbs_node yes = cbs_tree_field(tree, n, CBS_F_CONSEQUENCE), no = cbs_tree_field(tree, n, CBS_F_ALTERNATIVE);
  cbs_value test = cbs_eval_node(eval, condition, frame);
  int truth = cbs_value_truth(&test);
  if (truth >= 0) {
    cbs_value taken = cbs_eval_node(eval, truth ? yes : no, frame);
    taken.varies |= test.varies;
    return taken;
  }
  cbs_value a = cbs_eval_node(eval, yes, frame), b = cbs_eval_node(eval, no, frame);
  a = cbs_value_union(&a, &b);
  a.varies = true;
  return a;
}

static cbs_value eval_cast(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame) {
  cbs_node value = cbs_tree_field(eval->tree, n, CBS_F_VALUE), type = cbs_tree_field(eval->tree, n, CBS_F_TYPE);
  cbs_value v = cbs_eval_node(eval, value, frame);
  ttm_str to = cbs_tree_text(eval->tree, type);
  bool real = cbs_text_has_word(to, TTM_LIT("float")) || cbs_text_has_word(to, TTM_LIT("double"));
  return cbs_value_convert(&v, real ? "real" : "trunc");
}

static cbs_value eval_unary(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame) {
  cbs_node operand = cbs_tree_field(eval->tree, n, CBS_F_ARGUMENT), op = cbs_tree_field(eval->tree, n, CBS_F_OPERATOR);
  if (cbs_tree_kind(eval->tree, n) == CBS_N_POINTER) return cbs_value_unknown(cbs_tree_text(eval->tree, n));
  cbs_value v = cbs_eval_node(eval, operand, frame);
  return cbs_value_unary(cbs_tree_text(eval->tree, op), &v);
}

static cbs_value eval_update(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame) {
  const cbs_tree *tree = eval->tree;
  cbs_node operand = cbs_tree_field(tree, n, CBS_F_ARGUMENT), op = cbs_tree_field(tree, n, CBS_F_OPERATOR);
  const cbs_name *name = cbs_name_of(eval->names, operand);
  if (!name) return cbs_value_unknown(cbs_tree_text(tree, operand));
  cbs_value v = eval_declared(eval, name, n, frame);
  if (op > operand) return v; /* x++ */
  cbs_value one = cbs_value_int(1);
  return cbs_value_binary(ttm_str_first(cbs_tree_text(tree, op), 1), &v, &one);
}

/* A node with one part that matters: parentheses, conditions, {x}, T{x}. */
static cbs_value eval_only_child(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame) {
  const cbs_tree *tree = eval->tree;
  cbs_node value = cbs_tree_field(tree, n, CBS_F_VALUE);
  if (!value && cbs_tree_children(tree, n) == 1) value = cbs_tree_child(tree, n, 0);
  return cbs_eval_node(eval, value, frame);
}

static cbs_value eval_kind(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame) {
  const cbs_tree *tree = eval->tree;
  switch (cbs_tree_kind(tree, n)) {
    case CBS_N_NUMBER:
      return eval_number(cbs_tree_text(tree, n));
    case CBS_N_TRUE:
      return cbs_value_int(1);
    case CBS_N_FALSE:
    case CBS_N_NULLPTR:
      return cbs_value_int(0);
    case CBS_N_STRING:
    case CBS_N_RAW_STRING:
      return cbs_value_of(CBS_VALUE_STRING, 0, unquoted(cbs_tree_text(tree, n)));
    case CBS_N_CONCAT_STRING:
      return eval_joined(eval, n);
    case CBS_N_IDENTIFIER:
    case CBS_N_TYPE_IDENTIFIER:
    case CBS_N_QUALIFIED:
      return eval_name(eval, n, frame);
    case CBS_N_TYPE_DESCRIPTOR:
    case CBS_N_PAREN:
    case CBS_N_CONDITION:
    case CBS_N_INIT_LIST:
    case CBS_N_COMPOUND_LITERAL:
      return eval_only_child(eval, n, frame);
    case CBS_N_BINARY:
      return eval_binary(eval, n, frame);
    case CBS_N_UNARY:
    case CBS_N_POINTER:
      return eval_unary(eval, n, frame);
    case CBS_N_UPDATE:
      return eval_update(eval, n, frame);
    case CBS_N_ASSIGN:
      return cbs_eval_node(eval, cbs_tree_field(tree, n, CBS_F_RIGHT), frame);
    case CBS_N_TERNARY:
      return eval_ternary(eval, n, frame);
    case CBS_N_CAST:
      return eval_cast(eval, n, frame);
    case CBS_N_SIZEOF:
      return eval_sizeof(eval, n);
    case CBS_N_FIELD:
      return eval_field(eval, n, frame);
    case CBS_N_SUBSCRIPT:
      return eval_subscript(eval, n, frame);
    case CBS_N_CALL:
      return cbs_eval_call(eval, n, frame);
    default:
      return cbs_value_unknown(cbs_tree_text(tree, n));
  }
}

cbs_value cbs_eval_node(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame) {
  if (!n || eval->depth >= MAX_DEPTH || eval->steps >= MAX_STEPS) return cbs_value_unknown((ttm_str){0});
  eval->depth++;
  eval->steps++;
  cbs_value value = eval_kind(eval, n, frame);
  eval->depth--;
  return value;
}

cbs_value cbs_eval_expression(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame) {
  eval->depth = eval->steps = 0;
  return cbs_eval_node(eval, n, frame);
}
