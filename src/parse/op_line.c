/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/op_line.h"

#include "parse/mlir_scan.h"

/* The text not yet read. Every reader below returns 0, TTM_EFORMAT or TTM_ENOMEM and moves the cursor only forward. */
typedef ttm_str cursor;

static bool next_is(cursor at, char c) { return at.n && at.p[0] == c; }

/* `%arg0`, `%3#1` */
static bool take_value(cursor *at, ttm_str *value) {
  cursor start = *at;
  if (!ttm_str_take(at, TTM_LIT("%")) || ttm_scan_take_name(at).n == 0) return false;
  if (ttm_str_take(at, TTM_LIT("#")) && ttm_scan_take_name(at).n == 0) return false;
  *value = ttm_str_first(start, (size_t)(at->p - start.p));
  return true;
}

/* `@f`, `@"odd name"`, `@outer::@f` */
static bool take_symbol(cursor *at, ttm_str *symbol) {
  cursor start = *at;
  do {
    if (!ttm_str_take(at, TTM_LIT("@"))) return false;
    if (next_is(*at, '"')) {
      size_t end = ttm_scan_string_end(*at, 0);
      if (end == TTM_NOT_FOUND) return false;
      *at = ttm_str_from(*at, end);
    } else if (ttm_scan_take_name(at).n == 0) {
      return false;
    }
  } while (ttm_str_take(at, TTM_LIT("::")));
  *symbol = ttm_str_first(start, (size_t)(at->p - start.p));
  return true;
}

/* "main_const_eval_0" of `@main_const_eval_0` or `@"main_const_eval_0"` */
static ttm_str symbol_name(ttm_str symbol) {
  ttm_str name = ttm_str_from(symbol, 1);
  if (name.n >= 2 && name.p[0] == '"' && name.p[name.n - 1] == '"') name = (ttm_str){name.p + 1, name.n - 2};
  return name;
}

/* `%0 = `, `%0:2 = `, `%a, %b:2 = `; nothing when the line does not start with a value */
static int read_results(cursor *at, ttm_op_line *op) {
  if (!next_is(*at, '%')) return TTM_OK;
  uint64_t total = 0;
  do {
    ttm_str value;
    uint64_t count = 1;
    ttm_scan_skip_space(at);
    if (!take_value(at, &value)) return TTM_EFORMAT;
    if (ttm_str_take(at, TTM_LIT(":")) && !ttm_str_take_u64(at, &count)) return TTM_EFORMAT;
    if (count > UINT32_MAX - total) return TTM_EFORMAT;
    total += count;
    if (!op->result.p) op->result = value;
    ttm_scan_skip_space(at);
  } while (ttm_str_take(at, TTM_LIT(",")));
  if (!ttm_str_take(at, TTM_LIT("="))) return TTM_EFORMAT;
  op->result_count = (uint32_t)total;
  return TTM_OK;
}

/* `"ttnn.add"` or `ttcore.load_cached`, and the symbol of `call @f` */
static int read_name(cursor *at, ttm_op_line *op) {
  ttm_scan_skip_space(at);
  if (next_is(*at, '"')) {
    size_t end = ttm_scan_string_end(*at, 0);
    if (end == TTM_NOT_FOUND) return TTM_EFORMAT;
    op->name = (ttm_str){at->p + 1, end - 2};
    *at = ttm_str_from(*at, end);
  } else {
    op->name = ttm_scan_take_name(at);
  }
  if (op->name.n == 0) return TTM_EFORMAT;
  ttm_scan_skip_space(at);
  if (!next_is(*at, '@')) return TTM_OK;
  ttm_str symbol;
  if (!take_symbol(at, &symbol)) return TTM_EFORMAT;
  op->callee = symbol_name(symbol);
  ttm_scan_skip_space(at);
  return ttm_vec_push(&op->operands, symbol);
}

int ttm_op_line_operands(ttm_op_line *op, ttm_str list) {
  cursor at = list;
  while (at.n) {
    ttm_str token;
    switch (at.p[0]) {
      case '%':
        if (!take_value(&at, &token)) return TTM_EFORMAT;
        break;
      case '@':
        if (!take_symbol(&at, &token)) return TTM_EFORMAT;
        if (!op->operands.n) op->callee = symbol_name(token); /* load_cached(@f, ...) */
        break;
      case '"': /* the enclosing bracket was matched, so the string ends; `<` and `{` pair up */
      case '{':
      case '<': {
        size_t end = at.p[0] == '"' ? ttm_scan_string_end(at, 0) : ttm_scan_close(at, 0);
        if (end == TTM_NOT_FOUND) return TTM_EFORMAT;
        at = ttm_str_from(at, at.p[0] == '"' ? end : end + 1);
        continue;
      }
      default:
        at = ttm_str_from(at, 1);
        continue;
    }
    if (ttm_vec_push(&op->operands, token)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int read_operands(cursor *at, ttm_op_line *op) {
  ttm_str list;
  if (!next_is(*at, '(') || !ttm_scan_take_bracketed(at, &list)) return TTM_EFORMAT;
  return ttm_op_line_operands(op, list);
}

/* Whatever stands between the operands and the colon: [successors], <{properties}>, ({regions}), {attributes}. */
static int read_attributes(cursor *at, ttm_op_line *op) {
  bool properties = false;
  for (;;) {
    ttm_str inside;
    ttm_scan_skip_space(at);
    if (ttm_str_take(at, TTM_LIT(":"))) return TTM_OK;
    if (!at->n || !memchr("<{([", at->p[0], 4)) return TTM_EFORMAT;
    char open = at->p[0];
    if (!ttm_scan_take_bracketed(at, &inside)) return TTM_EFORMAT;
    inside = ttm_scan_trim(inside);
    if (open == '<') {
      if (inside.n < 2 || inside.p[0] != '{' || inside.p[inside.n - 1] != '}') return TTM_EFORMAT;
      op->attributes = ttm_scan_trim((ttm_str){inside.p + 1, inside.n - 2});
      properties = true;
    } else if (open == '{' && !properties) {
      op->attributes = inside;
    }
  }
}

/* A type without brackets is whole when it can be one: `!dialect.name`, or a builtin scalar. A cut `tens` is none. */
static bool is_bare_type(ttm_str type) {
  if (type.p[0] == '!') return type.n > 1 && ttm_str_find_char(type, '.') != TTM_NOT_FOUND && type.p[type.n - 1] != '.';
  if (ttm_str_eq(type, TTM_LIT("index")) || ttm_str_eq(type, TTM_LIT("none")) || ttm_str_eq(type, TTM_LIT("token")))
    return true;
  size_t letters = 0;
  while (letters < type.n && memchr("bfstui", type.p[letters], 6)) letters++;
  return letters > 0 && letters < 3 && letters < type.n && type.p[letters] >= '1' && type.p[letters] <= '9';
}

/* One type up to blank, comma or end; brackets and what is inside them belong to it. */
static bool take_type(cursor *at, ttm_str *type) {
  cursor start = *at;
  bool bracketed = false;
  while (at->n && !ttm_scan_is_space(at->p[0]) && at->p[0] != ',' && at->p[0] != '-') {
    if (memchr("<([{", at->p[0], 4)) {
      ttm_str inside;
      if (!ttm_scan_take_bracketed(at, &inside)) return false;
      bracketed = true;
    } else if (memchr(">)]}\"", at->p[0], 5)) {
      return false;
    } else {
      *at = ttm_str_from(*at, 1);
    }
  }
  *type = ttm_str_first(start, (size_t)(at->p - start.p));
  return type->n && (bracketed || is_bare_type(*type));
}

int ttm_op_line_types(ttm_op_line *op) {
  ttm_str outputs = op->output_type;
  if (outputs.n > 1 && outputs.p[0] == '(') outputs = (ttm_str){outputs.p + 1, outputs.n - 2};
  int rc = ttm_split_top_level(op->input_types, &op->inputs);
  return rc ? rc : ttm_split_top_level(outputs, &op->outputs);
}

/* `(T, T) -> T`, `(T) -> (T, T)`, `() -> ()`, and `T -> T` of some custom forms */
static int read_function_type(cursor *at, ttm_op_line *op) {
  ttm_scan_skip_space(at);
  if (next_is(*at, '(') ? !ttm_scan_take_bracketed(at, &op->input_types) : !take_type(at, &op->input_types))
    return TTM_EFORMAT;
  ttm_scan_skip_space(at);
  if (!ttm_str_take(at, TTM_LIT("->"))) return TTM_EFORMAT;
  ttm_scan_skip_space(at);
  if (!take_type(at, &op->output_type)) return TTM_EFORMAT;
  return ttm_op_line_types(op);
}

static int read_location(cursor *at, ttm_op_line *op) {
  ttm_scan_skip_space(at);
  if (!at->n) return TTM_OK;
  if (!ttm_str_take(at, TTM_LIT("loc")) || !next_is(*at, '(')) return TTM_EFORMAT;
  return ttm_scan_take_bracketed(at, &op->location) ? TTM_OK : TTM_EFORMAT;
}

ttm_op_kind ttm_op_kind_of(ttm_str name) {
  if (ttm_str_ends(name, TTM_LIT(".deallocate")) || ttm_str_eq(name, TTM_LIT("DeallocateOp"))) return TTM_OP_DEALLOCATE;
  if (ttm_str_ends(name, TTM_LIT(".get_device")) || ttm_str_eq(name, TTM_LIT("GetDeviceOp"))) return TTM_OP_GET_DEVICE;
  if (ttm_str_ends(name, TTM_LIT(".load_cached")) || ttm_str_eq(name, TTM_LIT("LoadCachedOp")))
    return TTM_OP_LOAD_CACHED;
  return TTM_OP_PLAIN;
}

static bool is_one_of(ttm_str name, const char *const *names, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (ttm_str_eq(name, ttm_str_of(names[i]))) return true;
  }
  return false;
}
#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof(names) / sizeof *(names))

bool ttm_op_is_conversion(ttm_str name) {
  static const char *const names[] = {"ttnn.to_device",        "ttnn.to_layout", "ttnn.typecast",
                                      "ttnn.to_memory_config", "ttnn.to_dtype",  "ttnn.from_device"};
  return IS_ONE_OF(name, names);
}

bool ttm_op_brings(ttm_str name) {
  static const char *const names[] = {"ttnn.from_torch", "ttnn.as_tensor", "ttnn.load_tensor", "ttnn.to_device",
                                      "ttnn.empty",      "ttnn.zeros",     "ttnn.ones",        "ttnn.full",
                                      "ttnn.rand",       "ttnn.randn"};
  return IS_ONE_OF(name, names);
}

uint8_t ttm_operand_use(ttm_str operation, size_t operand) {
  static const char *const products[] = {"matmul", "linear", "sparse_matmul", "MatmulDeviceOperation",
                                         "SparseMatmulDeviceOperation"};
  static const char *const look_ups[] = {"embedding", "EmbeddingsDeviceOperation"};
  ttm_str name = operation;
  if (ttm_op_kind_of(name) != TTM_OP_PLAIN || ttm_op_is_conversion(name) || ttm_str_starts(name, TTM_LIT("Tensor::")))
    return 0;
  for (size_t i = 0; i < operation.n; i++) {
    if (operation.p[i] == '.' || operation.p[i] == ':') name = ttm_str_from(operation, i + 1);
  }
  if (operand == 1 && IS_ONE_OF(name, products)) return TTM_USE_MULTIPLY;
  return operand == 1 && IS_ONE_OF(name, look_ups) ? TTM_USE_TABLE : TTM_USE_OTHER;
}

void ttm_op_line_clear(ttm_op_line *op) {
  ttm_strs operands = op->operands, inputs = op->inputs, outputs = op->outputs;
  operands.n = inputs.n = outputs.n = 0;
  *op = (ttm_op_line){.operands = operands, .inputs = inputs, .outputs = outputs};
}

int ttm_op_line_parse(ttm_str text, ttm_op_line *out) {
  ttm_op_line_clear(out);
  cursor at = ttm_scan_trim(text);
  if (!at.n) return TTM_EFORMAT;
  int rc = read_results(&at, out);
  if (!rc) rc = read_name(&at, out);
  if (!rc) rc = read_operands(&at, out);
  if (!rc) rc = read_attributes(&at, out);
  if (!rc) rc = read_function_type(&at, out);
  if (!rc) rc = read_location(&at, out);
  return rc;
}

void ttm_op_line_free(ttm_op_line *op) {
  ttm_vec_free(&op->operands);
  ttm_vec_free(&op->inputs);
  ttm_vec_free(&op->outputs);
  *op = (ttm_op_line){0};
}

int ttm_split_top_level(ttm_str text, ttm_strs *out) {
  ttm_pieces it = {text, false};
  ttm_str piece;
  while (ttm_pieces_next(&it, &piece)) {
    if (ttm_vec_push(out, piece)) return TTM_ENOMEM;
  }
  return it.broken ? TTM_EFORMAT : TTM_OK;
}
