/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose result a reader of the source knows: the sizes of tiles, minima and rounding, casts, and the file's own functions. */
#include "l1/data_format.h"
#include "l1/scan_eval.h"

static ttm_scan_value argument(ttm_eval *eval, ttm_node call, size_t i, const ttm_eval_frame *frame) {
  ttm_node n = ttm_call_argument(eval->tree, call, i);
  return n ? ttm_eval_node(eval, n, frame) : ttm_value_unknown((ttm_str){0});
}

/* ---- Sizes of formats --------------------------------------------------------------------------------------------- */

static ttm_scan_value format_size(const ttm_scan_value *format, bool tile) {
  ttm_scan_value out = ttm_value_unknown((ttm_str){0});
  out.open = format->open || !format->n;
  out.varies = format->varies;
  ttm_value_add_needs(&out, format);
  if (format->n && format->type != TTM_VALUE_FORMAT) return ttm_value_unknown((ttm_str){0});
  for (int i = 0; i < format->n; i++) {
    const ttm_format *row = &ttm_formats[format->v[i].i];
    int64_t bytes = tile ? (int64_t)ttm_format_tile_bytes(ttm_str_of(row->name)) : row->datum_bytes;
    ttm_scan_value one = bytes ? ttm_value_int(bytes) : ttm_value_unknown((ttm_str){0});
    ttm_scan_value rest = out;
    rest.open |= one.open;
    out = ttm_value_union(&rest, &one);
  }
  if (out.open) out.at_most = tile ? 4096 : 4; /* no format is larger */
  return out;
}

/* ---- The file's own functions --------------------------------------------------------------------------------------- */

ttm_node ttm_eval_callee(const ttm_eval *eval, ttm_node call) {
  const ttm_tree *tree = eval->tree;
  ttm_node function = ttm_tree_field(tree, call, TTM_F_FUNCTION);
  if (!function || ttm_tree_kind(tree, function) == TTM_N_FIELD) return 0;
  ttm_str text = ttm_name_last(tree, function);
  const ttm_name *name = ttm_names_find(eval->names, text, call);
  if (!name) return 0;
  if (name->kind == TTM_NAME_VARIABLE) {
    return name->value && ttm_tree_kind(tree, name->value) == TTM_N_LAMBDA ? name->value : 0;
  }
  if (name->kind != TTM_NAME_FUNCTION) return 0;
  /* Overloads: the one with room for the arguments, if there is only one. */
  size_t arguments = ttm_call_arguments(tree, call);
  ttm_node found = 0;
  for (uint32_t i = ttm_names_first(eval->names, text); i != UINT32_MAX; i = eval->names->names.at[i].next) {
    const ttm_name *other = &eval->names->names.at[i];
    if (other->kind != TTM_NAME_FUNCTION || !other->value) continue;
    ttm_node list = 0;
    for (ttm_node d = ttm_tree_field(tree, other->node, TTM_F_DECLARATOR); d && !list;
         d = ttm_tree_kind(tree, d) == TTM_N_REFERENCE_DECLARATOR ? ttm_tree_child(tree, d, 0)
                                                                  : ttm_tree_field(tree, d, TTM_F_DECLARATOR)) {
      list = ttm_tree_field(tree, d, TTM_F_PARAMETERS);
    }
    if (list && ttm_tree_children(tree, list) < arguments) continue;
    if (found) return 0;
    found = other->node;
  }
  return found;
}

/* 1: certainly reached, 0: never, -1: perhaps. */
static int reach_of(ttm_eval *eval, ttm_node n, ttm_node body, const ttm_eval_frame *frame) {
  const ttm_tree *tree = eval->tree;
  int reach = 1;
  for (ttm_node up = n; up != body && up; up = ttm_tree_at(tree, up)->parent) {
    ttm_node parent = ttm_tree_at(tree, up)->parent;
    ttm_node_kind kind = ttm_tree_kind(tree, parent);
    if (kind == TTM_N_IF) {
      ttm_node condition = ttm_tree_field(tree, parent, TTM_F_CONDITION);
      ttm_scan_value test = condition ? ttm_eval_node(eval, condition, frame) : ttm_value_unknown((ttm_str){0});
      int truth = ttm_value_truth(&test);
      if (truth < 0)
        reach = -1;
      else if (truth != (ttm_tree_at(tree, up)->field == TTM_F_CONSEQUENCE))
        return 0;
    } else if (kind == TTM_N_FOR || kind == TTM_N_WHILE || kind == TTM_N_FOR_RANGE || kind == TTM_N_CASE) {
      reach = -1;
    }
  }
  return reach;
}

static ttm_scan_value follow(ttm_eval *eval, ttm_node call, ttm_node function, const ttm_eval_frame *caller) {
  const ttm_tree *tree = eval->tree;
  ttm_node body = ttm_tree_field(tree, function, TTM_F_BODY);
  ttm_eval_frame frame = {function, call, caller};
  ttm_scan_value all = {0};
  size_t returns = 0;
  for (const ttm_eval_frame *f = caller; f; f = f->caller) {
    if (f->function == function) return ttm_value_unknown((ttm_str){0}); /* recursion */
  }
  for (ttm_node n = body; body && n < ttm_tree_at(tree, body)->after;) {
    ttm_node_kind kind = ttm_tree_kind(tree, n);
    if (kind == TTM_N_LAMBDA) {
      n = ttm_tree_at(tree, n)->after;
      continue;
    }
    if (kind == TTM_N_RETURN) {
      int reach = reach_of(eval, n, body, &frame);
      ttm_node value = ttm_tree_child(tree, n, 0);
      if (reach && value) {
        ttm_scan_value one = ttm_eval_node(eval, value, &frame);
        all = returns++ ? ttm_value_union(&all, &one) : one;
        if (reach == 1) break;
        all.varies = true;
      }
    }
    n++;
  }
  return returns ? all : ttm_value_unknown(ttm_function_name(tree, function));
}

/* ---- Known functions ---------------------------------------------------------------------------------------------- */

typedef enum { NOT_KNOWN, TILE, DATUM, SAME, INT_CAST, REAL_CAST, CEIL, FLOOR, PAIR, ARG, NAMED } call_kind;

typedef struct known_call {
  const char *name;
  call_kind kind;
  const char *op; /* for PAIR */
} known_call;

static const known_call known_calls[] = {
    {"tile_size", TILE, NULL},
    {"get_tile_size", TILE, NULL},
    {"TileSize", TILE, NULL},
    {"single_tile_size", TILE, NULL},
    {"datum_size", DATUM, NULL},
    {"datatype_to_dataformat_converter", SAME, NULL},
    {"static_cast", INT_CAST, NULL},
    {"uint32_t", INT_CAST, NULL},
    {"int32_t", INT_CAST, NULL},
    {"uint8_t", INT_CAST, NULL},
    {"uint16_t", INT_CAST, NULL},
    {"uint64_t", INT_CAST, NULL},
    {"size_t", INT_CAST, NULL},
    {"int", INT_CAST, NULL},
    {"unsigned", INT_CAST, NULL},
    {"CBIndex", INT_CAST, NULL},
    {"to_underlying", INT_CAST, NULL},
    {"float", REAL_CAST, NULL},
    {"double", REAL_CAST, NULL},
    {"move", SAME, NULL},
    {"forward", SAME, NULL},
    {"as_const", SAME, NULL},
    {"DFBSpecName", SAME, NULL},
    {"string", SAME, NULL},
    {"path", SAME, NULL},
    {"ceil", CEIL, NULL},
    {"floor", FLOOR, NULL},
    {"min", PAIR, "min"},
    {"max", PAIR, "max"},
    {"div_up", PAIR, "div_up"},
    {"ceil_div", PAIR, "div_up"},
    {"div_ceil", PAIR, "div_up"},
    {"round_up", PAIR, "round_up"},
    {"align", PAIR, "round_up"},
    {"align_up", PAIR, "round_up"},
    {"round_down", PAIR, "round_down"},
    {"get_compile_time_arg_val", ARG, NULL},
    {"get_named_compile_time_arg_val", NAMED, NULL},
    {"get_arg", NAMED, NULL},
};

static const known_call *find_known(ttm_str name) {
  for (size_t i = 0; i < sizeof known_calls / sizeof *known_calls; i++) {
    if (ttm_str_eq(name, ttm_str_of(known_calls[i].name))) return &known_calls[i];
  }
  return NULL;
}

static ttm_scan_value minimum_of_list(ttm_eval *eval, ttm_node list, ttm_str op, const ttm_eval_frame *frame) {
  ttm_scan_value all = {0};
  size_t n = 0;
  for (ttm_node c = ttm_tree_at(eval->tree, list)->child; c; c = ttm_tree_at(eval->tree, c)->next) {
    ttm_scan_value one = ttm_eval_node(eval, c, frame);
    all = n++ ? ttm_value_binary(op, &all, &one) : one;
  }
  return n ? all : ttm_value_unknown((ttm_str){0});
}

static ttm_scan_value eval_known(ttm_eval *eval, ttm_node call, const known_call *known, const ttm_eval_frame *frame) {
  ttm_node first = ttm_call_argument(eval->tree, call, 0);
  ttm_str op = ttm_str_of(known->op);
  if (known->kind == PAIR && first && ttm_tree_kind(eval->tree, first) == TTM_N_INIT_LIST) { /* std::min({a, b, c}) */
    return minimum_of_list(eval, first, op, frame);
  }
  ttm_scan_value a = argument(eval, call, 0, frame);
  switch (known->kind) {
    case TILE:
      return format_size(&a, true);
    case DATUM:
      return format_size(&a, false);
    case INT_CAST: {
      ttm_str text = ttm_tree_text(eval->tree, ttm_tree_field(eval->tree, call, TTM_F_FUNCTION));
      bool real = ttm_text_has_word(text, TTM_LIT("float")) || ttm_text_has_word(text, TTM_LIT("double"));
      return ttm_value_convert(&a, real ? "real" : "trunc");
    }
    case REAL_CAST:
      return ttm_value_convert(&a, "real");
    case CEIL:
      return ttm_value_convert(&a, "ceil");
    case FLOOR:
      return ttm_value_convert(&a, "floor");
    case PAIR: {
      ttm_scan_value b = argument(eval, call, 1, frame), r = ttm_value_binary(op, &a, &b);
      if (a.varies || b.varies) r.varies = true;
      return r;
    }
    case ARG:
      return ttm_value_is_one(&a) && a.type == TTM_VALUE_INT ? ttm_value_of(TTM_VALUE_ARG, a.v[0].i, (ttm_str){0})
                                                             : ttm_value_unknown((ttm_str){0});
    case NAMED:
      if (a.type == TTM_VALUE_STRING) a.type = TTM_VALUE_NAMED_ARG;
      return a.type == TTM_VALUE_NAMED_ARG ? a : ttm_value_unknown((ttm_str){0});
    default:
      return a;
  }
}

/* object.method(...) */
static ttm_scan_value eval_method(ttm_eval *eval, ttm_node call, ttm_node function, const ttm_eval_frame *frame) {
  const ttm_tree *tree = eval->tree;
  ttm_node field = ttm_tree_field(tree, function, TTM_F_FIELD), object = ttm_tree_field(tree, function, TTM_F_ARGUMENT);
  ttm_str name = field ? ttm_name_last(tree, field) : (ttm_str){"", 0};
  if (ttm_str_eq(name, TTM_LIT("value_or"))) {
    ttm_scan_value held = object ? ttm_eval_node(eval, object, frame) : ttm_value_unknown((ttm_str){0});
    ttm_scan_value otherwise = argument(eval, call, 0, frame);
    held = ttm_value_union(&held, &otherwise);
    held.varies = true;
    return held;
  }
  if (ttm_str_eq(name, TTM_LIT("value")) || ttm_str_eq(name, TTM_LIT("get")) || ttm_str_eq(name, TTM_LIT("string"))) {
    return object ? ttm_eval_node(eval, object, frame) : ttm_value_unknown((ttm_str){0});
  }
  if (ttm_str_eq(
          name,
          TTM_LIT("get_tile_size"))) { /* of a tile whose shape the tensor decides: full tiles are the usual case */
    ttm_scan_value format = argument(eval, call, 0, frame), size = format_size(&format, true);
    size.open = size.varies = true;
    size.at_most = ttm_value_is_known(&format) && size.n ? ttm_value_max(&size) : 4096;
    return size;
  }
  int64_t given;
  if (ttm_constants_find(eval->defines, ttm_tree_text(tree, call), &given)) return ttm_value_given(given);
  return ttm_value_unknown(ttm_tree_text(tree, call));
}

ttm_scan_value ttm_eval_call(ttm_eval *eval, ttm_node call, const ttm_eval_frame *frame) {
  const ttm_tree *tree = eval->tree;
  ttm_node function = ttm_tree_field(tree, call, TTM_F_FUNCTION);
  if (!function) return ttm_value_unknown((ttm_str){0});
  if (ttm_tree_kind(tree, function) == TTM_N_FIELD) return eval_method(eval, call, function, frame);
  ttm_node callee = ttm_eval_callee(eval, call);
  if (callee) return follow(eval, call, callee, frame);
  const known_call *known = find_known(ttm_name_last(tree, function));
  if (known) return eval_known(eval, call, known, frame);
  int64_t given;
  if (ttm_constants_find(eval->defines, ttm_tree_text(tree, call), &given)) return ttm_value_given(given);
  return ttm_value_unknown(ttm_tree_text(tree, call));
}
