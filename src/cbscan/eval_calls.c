/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose result a reader of the source knows: the sizes of tiles, minima and rounding, casts, and the file's own functions. */
#include "cbscan/eval.h"
#include "l1/data_format.h"

static cbs_value argument(cbs_eval *eval, cbs_node call, size_t i, const cbs_eval_frame *frame) {
  return cbs_eval_node(eval, cbs_call_argument(eval->tree, call, i), frame);
}

/* ---- Sizes of formats --------------------------------------------------------------------------------------------- */

static cbs_value format_size(const cbs_value *format, bool tile) {
  cbs_value out = cbs_value_unknown((ttm_str){0});
  out.open = format->open || !format->n;
  out.varies = format->varies;
  cbs_value_add_needs(&out, format);
  if (format->n && format->type != CBS_VALUE_FORMAT) return cbs_value_unknown((ttm_str){0});
  for (int i = 0; i < format->n; i++) {
    const cbs_format *row = &cbs_formats[format->v[i].i];
    int64_t bytes = tile ? (int64_t)ttm_format_tile_bytes(ttm_str_of(row->name)) : row->datum_bytes;
    cbs_value one = bytes ? cbs_value_int(bytes) : cbs_value_unknown((ttm_str){0});
    cbs_value rest = out;
    rest.open |= one.open;
    out = cbs_value_union(&rest, &one);
  }
  if (out.open) out.at_most = tile ? 4096 : 4; /* no format is larger */
  return out;
}

/* ---- The file's own functions --------------------------------------------------------------------------------------- */

cbs_node cbs_eval_callee(const cbs_eval *eval, cbs_node call) {
  const cbs_tree *tree = eval->tree;
  cbs_node function = cbs_tree_field(tree, call, CBS_F_FUNCTION);
  if (cbs_tree_kind(tree, function) == CBS_N_FIELD) return 0;
  ttm_str text = cbs_name_last(tree, function);
  const cbs_name *name = cbs_names_find(eval->names, text, call);
  if (!name) return 0;
  if (name->kind == CBS_NAME_VARIABLE) return cbs_tree_kind(tree, name->value) == CBS_N_LAMBDA ? name->value : 0;
  if (name->kind != CBS_NAME_FUNCTION) return 0;
  /* Overloads: the one with room for the arguments, if there is only one. */
  size_t arguments = cbs_call_arguments(tree, call);
  cbs_node found = 0;
  for (const cbs_name *other = NULL; (other = cbs_next_name(eval->names, text, other));) {
    if (other->kind != CBS_NAME_FUNCTION || !other->value) continue;
    cbs_node list = cbs_parameters(tree, other->node);
    if (list && cbs_tree_children(tree, list) < arguments) continue;
    if (found) return 0;
    found = other->node;
  }
  return found;
}

/* ---- Writing under another name -------------------------------------------------------------------------------------- */

static bool starts_with_one_of(ttm_str name, const char *const *starts, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (ttm_str_starts(name, ttm_str_of(starts[i]))) return true;
  return false;
}

/* A call of a function that the file does not hold, as a statement: it is called for what it does, perhaps to its arguments. What TT-Metal and the
 * containers only read is known. */
static bool writes_unseen(const cbs_tree *tree, cbs_node call) {
  static const char *const reads[] = {"TT_",       "log_",    "Create", "Set",     "Enqueue", "Update",
                                      "Configure", "Launch",  "push",   "emplace", "insert",  "assign",
                                      "resize",    "reserve", "print",  "fmt"};
  static const char *const writes[] = {"tie", "ref", "swap", "exchange"};
  cbs_node function = cbs_tree_field(tree, call, CBS_F_FUNCTION);
  if (cbs_tree_kind(tree, function) == CBS_N_FIELD) function = cbs_tree_field(tree, function, CBS_F_FIELD);
  ttm_str name = cbs_name_last(tree, function);
  if (starts_with_one_of(name, writes, sizeof writes / sizeof *writes)) return true;
  bool statement = cbs_tree_kind(tree, cbs_tree_at(tree, call)->parent) == CBS_N_STATEMENT;
  return statement && !starts_with_one_of(name, reads, sizeof reads / sizeof *reads);
}

/* Whether a function does anything to a parameter but read it. */
static bool is_changed(const cbs_eval *eval, cbs_node parameter) {
  cbs_node id = cbs_declared_identifier(eval->tree, cbs_tree_field(eval->tree, parameter, CBS_F_DECLARATOR));
  for (const cbs_name *name = NULL; (name = cbs_next_name(eval->names, cbs_tree_text(eval->tree, id), name));)
    if (name->node == parameter)
      return cbs_next_change(eval->names, name, NULL) || cbs_next_escape(eval->names, name, NULL);
  return true;
}

static bool writes_parameter(const cbs_eval *eval, cbs_node callee, size_t index, bool address) {
  const cbs_tree *tree = eval->tree;
  cbs_node parameter = cbs_tree_child(tree, cbs_parameters(tree, callee), index);
  cbs_node_kind kind = cbs_tree_kind(tree, cbs_tree_field(tree, parameter, CBS_F_DECLARATOR));
  if (!parameter) return address;
  if (cbs_is_const(tree, parameter)) return false;
  if (kind == CBS_N_REFERENCE_DECLARATOR) return is_changed(eval, parameter);
  return address || kind == CBS_N_POINTER_DECLARATOR || kind == CBS_N_ARRAY_DECLARATOR;
}

bool cbs_eval_may_write(const cbs_eval *eval, const cbs_name *name, const cbs_change *escape) {
  const cbs_tree *tree = eval->tree;
  bool address = escape->kind == CBS_CHANGE_ALIAS;
  cbs_node given = address ? escape->node : escape->value, list = cbs_tree_at(tree, given)->parent;
  cbs_node call = cbs_tree_at(tree, list)->parent;
  if (cbs_is_const(tree, name->node) || cbs_names_find(eval->names, name->text, escape->node) != name) return false;
  if (cbs_tree_kind(tree, list) != CBS_N_ARGUMENTS || cbs_tree_kind(tree, call) != CBS_N_CALL) return address;
  cbs_node callee = cbs_eval_callee(eval, call);
  if (!callee) return address || writes_unseen(tree, call);
  size_t index = 0;
  for (cbs_node c = cbs_tree_at(tree, list)->child; c != given; c = cbs_tree_at(tree, c)->next)
    index += cbs_tree_kind(tree, c) != CBS_N_OPERATOR;
  return writes_parameter(eval, callee, index, address);
}

bool cbs_eval_may_have_written(const cbs_eval *eval, const cbs_name *name, cbs_node at) {
  for (const cbs_change *e = NULL; (e = cbs_next_escape(eval->names, name, e));)
    if (e->node < at && !cbs_tree_within(eval->tree, at, e->node) && cbs_eval_may_write(eval, name, e)) return true;
  return false;
}

/* 1: certainly reached, 0: never, -1: perhaps. */
static int reach_of(cbs_eval *eval, cbs_node n, cbs_node body, const cbs_eval_frame *frame) {
  const cbs_tree *tree = eval->tree;
  int reach = 1;
  for (cbs_node up = n; up != body && up; up = cbs_tree_at(tree, up)->parent) {
    cbs_node parent = cbs_tree_at(tree, up)->parent;
    cbs_node_kind kind = cbs_tree_kind(tree, parent);
    if (kind == CBS_N_IF) {
      cbs_node condition = cbs_tree_field(tree, parent, CBS_F_CONDITION);
      cbs_value test = cbs_eval_node(eval, condition, frame);
      int truth = cbs_value_truth(&test);
      if (truth < 0)
        reach = -1;
      else if (truth != (cbs_tree_at(tree, up)->field == CBS_F_CONSEQUENCE))
        return 0;
    } else if ((cbs_is_loop(kind) && kind != CBS_N_DO) || kind == CBS_N_CASE) {
      reach = -1;
    }
  }
  return reach;
}

static cbs_value follow(cbs_eval *eval, cbs_node call, cbs_node function, const cbs_eval_frame *caller) {
  const cbs_tree *tree = eval->tree;
  cbs_node body = cbs_tree_field(tree, function, CBS_F_BODY);
  cbs_eval_frame frame = {function, call, caller};
  cbs_value all = {0};
  size_t returns = 0;
  for (const cbs_eval_frame *f = caller; f; f = f->caller) {
    if (f->function == function) return cbs_value_unknown((ttm_str){0}); /* recursion */
  }
  for (cbs_node n = body; body && n < cbs_tree_at(tree, body)->after;) {
    cbs_node_kind kind = cbs_tree_kind(tree, n);
    if (kind == CBS_N_LAMBDA) {
      n = cbs_tree_at(tree, n)->after;
      continue;
    }
    if (kind == CBS_N_RETURN) {
      int reach = reach_of(eval, n, body, &frame);
      cbs_node value = cbs_tree_child(tree, n, 0);
      if (reach && value) {
        cbs_value one = cbs_eval_node(eval, value, &frame);
        all = returns++ ? cbs_value_union(&all, &one) : one;
        if (reach == 1) break;
        all.varies = true;
      }
    }
    n++;
  }
  return returns ? all : cbs_value_unknown(cbs_function_name(tree, function));
}

/* ---- Known functions ---------------------------------------------------------------------------------------------- */

typedef enum { NOT_KNOWN, TILE, DATUM, SAME, CAST, CONVERT, PAIR, ARG, NAMED } call_kind;

typedef struct known_call {
  call_kind kind;
  const char *names; /* of all functions of the kind */
  const char *op;    /* of cbs_value_binary or cbs_value_convert */
} known_call;

static const known_call known_calls[] = {
    {TILE, "tile_size get_tile_size TileSize single_tile_size", NULL},
    {DATUM, "datum_size", NULL},
    {CAST, "static_cast uint32_t int32_t uint8_t uint16_t uint64_t size_t int unsigned CBIndex to_underlying", NULL},
    {CONVERT, "float double", "real"},
    {SAME, "datatype_to_dataformat_converter move forward as_const DFBSpecName string path", NULL},
    {CONVERT, "ceil", "ceil"},
    {CONVERT, "floor", "floor"},
    {PAIR, "min", "min"},
    {PAIR, "max", "max"},
    {PAIR, "div_up ceil_div div_ceil", "div_up"},
    {PAIR, "round_up align align_up", "round_up"},
    {PAIR, "round_down", "round_down"},
    {ARG, "get_compile_time_arg_val", NULL},
    {NAMED, "get_named_compile_time_arg_val get_arg", NULL},
};

static const known_call *find_known(ttm_str name) {
  for (size_t i = 0; i < sizeof known_calls / sizeof *known_calls; i++) {
    if (cbs_text_has_word(ttm_str_of(known_calls[i].names), name)) return &known_calls[i];
  }
  return NULL;
}

static cbs_value minimum_of_list(cbs_eval *eval, cbs_node list, ttm_str op, const cbs_eval_frame *frame) {
  cbs_value all = {0};
  size_t n = 0;
  for (cbs_node c = cbs_tree_at(eval->tree, list)->child; c; c = cbs_tree_at(eval->tree, c)->next) {
    cbs_value one = cbs_eval_node(eval, c, frame);
    all = n++ ? cbs_value_binary(op, &all, &one) : one;
  }
  return n ? all : cbs_value_unknown((ttm_str){0});
}

static cbs_value eval_known(cbs_eval *eval, cbs_node call, const known_call *known, const cbs_eval_frame *frame) {
  cbs_node first = cbs_call_argument(eval->tree, call, 0);
  ttm_str op = ttm_str_of(known->op);
  if (known->kind == PAIR && cbs_tree_kind(eval->tree, first) == CBS_N_INIT_LIST) { /* std::min({a, b, c}) */
    return minimum_of_list(eval, first, op, frame);
  }
  cbs_value a = argument(eval, call, 0, frame);
  switch (known->kind) {
    case TILE:
      return format_size(&a, true);
    case DATUM:
      return format_size(&a, false);
    case CAST: {
      ttm_str text = cbs_tree_text(eval->tree, cbs_tree_field(eval->tree, call, CBS_F_FUNCTION));
      bool real = cbs_text_has_word(text, TTM_LIT("float")) || cbs_text_has_word(text, TTM_LIT("double"));
      return cbs_value_convert(&a, real ? "real" : "trunc");
    }
    case CONVERT:
      return cbs_value_convert(&a, known->op);
    case PAIR: {
      cbs_value b = argument(eval, call, 1, frame), r = cbs_value_binary(op, &a, &b);
      r.varies |= a.varies || b.varies;
      return r;
    }
    case ARG:
      return cbs_value_is_one(&a) && a.type == CBS_VALUE_INT ? cbs_value_of(CBS_VALUE_ARG, a.v[0].i, (ttm_str){0})
                                                             : cbs_value_unknown((ttm_str){0});
    case NAMED:
      if (a.type == CBS_VALUE_STRING) a.type = CBS_VALUE_NAMED_ARG;
      return a.type == CBS_VALUE_NAMED_ARG ? a : cbs_value_unknown((ttm_str){0});
    default:
      return a;
  }
}

/* What the user gave for the text of a call, else unknown. */
static cbs_value given_value(const cbs_eval *eval, cbs_node call) {
  ttm_str text = cbs_tree_text(eval->tree, call);
  int64_t given;
  return cbs_constants_find(&eval->defines, text, &given) ? cbs_value_given(given) : cbs_value_unknown(text);
}

/* object.method(...) */
static cbs_value eval_method(cbs_eval *eval, cbs_node call, cbs_node function, const cbs_eval_frame *frame) {
  const cbs_tree *tree = eval->tree;
  cbs_node field = cbs_tree_field(tree, function, CBS_F_FIELD), object = cbs_tree_field(tree, function, CBS_F_ARGUMENT);
  ttm_str name = cbs_name_last(tree, field);
  if (ttm_str_eq(name, TTM_LIT("value_or"))) {
    cbs_value held = cbs_eval_node(eval, object, frame);
    cbs_value otherwise = argument(eval, call, 0, frame);
    held = cbs_value_union(&held, &otherwise);
    held.varies = true;
    return held;
  }
  if (ttm_str_eq(name, TTM_LIT("value")) || ttm_str_eq(name, TTM_LIT("get")) || ttm_str_eq(name, TTM_LIT("string"))) {
    return cbs_eval_node(eval, object, frame);
  }
  if (ttm_str_eq(
          name,
          TTM_LIT("get_tile_size"))) { /* of a tile whose shape the tensor decides: full tiles are the usual case */
    cbs_value format = argument(eval, call, 0, frame), size = format_size(&format, true);
    size.open = size.varies = true;
    size.at_most = cbs_value_is_known(&format) && size.n ? cbs_value_max(&size) : 4096;
    return size;
  }
  return given_value(eval, call);
}

cbs_value cbs_eval_call(cbs_eval *eval, cbs_node call, const cbs_eval_frame *frame) {
  const cbs_tree *tree = eval->tree;
  cbs_node function = cbs_tree_field(tree, call, CBS_F_FUNCTION);
  if (cbs_tree_kind(tree, function) == CBS_N_FIELD) return eval_method(eval, call, function, frame);
  cbs_node callee = cbs_eval_callee(eval, call);
  if (callee) return follow(eval, call, callee, frame);
  const known_call *known = find_known(cbs_name_last(tree, function));
  if (known) return eval_known(eval, call, known, frame);
  return given_value(eval, call);
}
