/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/module.h"

#include "base/hash.h"
#include "base/map.h"
#include "parse/mesh_part.h"
#include "parse/mlir_scan.h"

enum { LONGEST_OP = 1 << 16 }; /* that goes over several lines */

typedef struct reader {
  ttm_module *m;
  ttm_str rest; /* not yet read */
  uint32_t line;
  ttm_module_types aliases;
  ttm_intern names;
  ttm_map values;           /* of the function being read: name "%4" -> first of its values */
  ttm_map functions;        /* name -> function */
  TTM_VEC(ttm_str) callees; /* by operation: the name of the function it calls */
  ttm_op_line op;
  ttm_buf text;
  size_t budget;  /* bytes that may still be looked at twice, for operations over several lines */
  uint32_t depth; /* of regions inside the function */
  int open;       /* modules around functions */
  bool inside, on_host;
  bool unread; /* an operation of this function: those that use what it made are understood */
} reader;

/* The number of a name that was given one; 0. */
static uint32_t key_of(const reader *r, ttm_str name) { return ttm_intern_find(&r->names, name); }

static int set_name(reader *r, ttm_map *map, ttm_str name, uint32_t value) {
  uint32_t id;
  return ttm_intern_add(&r->names, name, &id) ? TTM_ENOMEM : ttm_map_set(map, id, value);
}

/* ---- Types and values ---- */

/* Names that are left when aliases are written out. Those of dialects have a point: `#ttnn.buffer_type`. */
static bool has_unknown_alias(ttm_str text) {
  for (size_t at; (at = ttm_str_find_char(text, '#')) != TTM_NOT_FOUND;) {
    text = ttm_str_from(text, at + 1);
    if (ttm_str_find_char(ttm_scan_take_name(&text), '.') == TTM_NOT_FOUND) return true;
  }
  return false;
}

static int add_type(reader *r, ttm_str raw, uint32_t *out) {
  ttm_module *m = r->m;
  uint32_t id;
  if (ttm_intern_add(&m->type_ids, raw, &id)) return TTM_ENOMEM;
  *out = id;
  if (id < m->types.n) return TTM_OK;
  ttm_buf_clear(&r->text);
  ttm_module_types_expand(&r->aliases, raw, &r->text);
  ttm_module_type type = {.text = {ttm_arena_copy(&m->arena, ttm_buf_str(&r->text)), r->text.n}};
  if (r->text.failed || !type.text.p) return TTM_ENOMEM;
  type.is_tensor = ttm_tensor_type_parse(type.text, &type.tensor);
  bool meant = ttm_str_starts(raw, TTM_LIT("tensor<")) || ttm_str_contains(type.text, TTM_LIT("_layout<"));
  bool nowhere = type.is_tensor && type.tensor.has_layout && type.tensor.buffer == TTM_BUFFER_NONE;
  type.broken = meant && (!type.is_tensor || nowhere || has_unknown_alias(type.text));
  return ttm_vec_push(&m->types, type);
}

static int add_value(reader *r, ttm_str type) {
  uint32_t id;
  return add_type(r, type, &id) || ttm_vec_push(&r->m->value_types, id) ? TTM_ENOMEM : TTM_OK;
}

/* Gives `%4:2` or `%values, %indices` of `%values, %indices = ...` to the values from `first` on. */
static int name_results(reader *r, ttm_str text, uint32_t first) {
  while (ttm_str_starts(text, TTM_LIT("%"))) {
    ttm_str rest = ttm_str_from(text, 1), name = {text.p, ttm_scan_take_name(&rest).n + 1};
    uint64_t count = 1;
    if (set_name(r, &r->values, name, first)) return TTM_ENOMEM;
    if (ttm_str_take(&rest, TTM_LIT(":")) && !ttm_str_take_u64(&rest, &count)) break;
    first += (uint32_t)count;
    ttm_scan_skip_space(&rest);
    if (!ttm_str_take(&rest, TTM_LIT(","))) break;
    ttm_scan_skip_space(&rest);
    text = rest;
  }
  return TTM_OK;
}

/* "%4" or "%4#1" */
static uint32_t value_of(const reader *r, ttm_str name) {
  ttm_str rest = name, base = ttm_str_take_to(&rest, '#');
  uint32_t first = ttm_map_get(&r->values, key_of(r, base), TTM_NO_ROW);
  uint64_t k = 0;
  if (rest.n && !ttm_str_take_u64(&rest, &k)) return TTM_NO_ROW;
  return first < r->m->value_types.n && k < r->m->value_types.n - first ? first + (uint32_t)k : TTM_NO_ROW;
}

/* ---- Operations ---- */

static void note_unread(reader *r, uint32_t line) {
  if (!r->on_host && !r->m->unread++) r->m->first_bad = line;
}

static int add_op(reader *r, const ttm_module_op *op, ttm_str callee) {
  ttm_module_function *f = &r->m->functions.at[r->m->functions.n - 1];
  f->op_count++;
  r->unread |= op->unread;
  if (op->unread) note_unread(r, op->line);
  return ttm_vec_push(&r->m->ops, *op) || ttm_vec_push(&r->callees, callee) ? TTM_ENOMEM : TTM_OK;
}

static bool is_known(const reader *r, uint32_t value) {
  return value != TTM_NO_ROW && !r->m->types.at[r->m->value_types.at[value]].broken;
}

/* Blocks inside an operation have arguments of their own, which are not followed. */
static int add_operands(reader *r, const ttm_strs *names, ttm_module_op *op) {
  op->operands = (uint32_t)r->m->operands.n;
  for (size_t i = 0; i < names->n; i++) {
    if (names->at[i].p[0] != '%') continue;
    uint32_t value = value_of(r, names->at[i]);
    if (ttm_vec_push(&r->m->operands, value)) return TTM_ENOMEM;
    op->unread |= !r->depth && !r->unread && !is_known(r, value);
    op->operand_count++;
  }
  return TTM_OK;
}

static int add_read_op(reader *r, ttm_module_op op) {
  const ttm_op_line *line = &r->op;
  ttm_str callee = line->callee;
  op.name = line->name;
  op.attributes = line->attributes;
  op.location = line->location;
  if (!callee.n) { /* generic form, and traces */
    callee = ttm_module_attribute(&op, TTM_LIT("capture_callee"));
    if (!callee.n) callee = ttm_module_attribute(&op, TTM_LIT("callee"));
    ttm_str_take(&callee, TTM_LIT("@"));
  }
  int status = add_operands(r, &line->operands, &op);
  op.result_count = line->result.n ? (uint32_t)line->outputs.n : 0;
  for (uint32_t k = 0; k < op.result_count && !status; k++) {
    status = add_value(r, line->outputs.at[k]);
    op.unread |= !status && !is_known(r, op.results + k);
  }
  if (!status) status = name_results(r, op.text, op.results);
  return status ? status : add_op(r, &op, callee);
}

/* `return %4, %arg0 : T, T loc(...)` */
static int add_return(reader *r, ttm_module_op op) {
  op.name = TTM_LIT("return");
  if (!r->depth) r->m->functions.at[r->m->functions.n - 1].returns = true;
  ttm_op_line_clear(&r->op);
  int status = ttm_op_line_operands(&r->op, ttm_str_first(op.text, ttm_str_find_char(op.text, ':')));
  if (status == TTM_EFORMAT) op.unread = true;
  if (status != TTM_ENOMEM) status = add_operands(r, &r->op.operands, &op);
  return status ? status : add_op(r, &op, TTM_LIT(""));
}

/* An operation may go over several lines: up to the first end of a line outside every bracket. */
static int parse_op(reader *r, ttm_str start, ttm_str *text) {
  int status = ttm_op_line_parse(*text, &r->op);
  ttm_str window = ttm_str_first(start, r->budget < LONGEST_OP ? r->budget : LONGEST_OP);
  if (status != TTM_EFORMAT || text->n >= window.n) return status;
  size_t end = ttm_scan_find(window, 0, '\n');
  r->budget -= end == TTM_NOT_FOUND ? window.n : end;
  if (end == TTM_NOT_FOUND || end <= text->n) return TTM_EFORMAT;
  *text = ttm_str_first(window, end);
  return ttm_op_line_parse(*text, &r->op);
}

/* Moves behind what was read of the rest. */
static void advance(reader *r, ttm_str text) {
  ttm_str after = ttm_str_from(r->rest, (size_t)(text.p + text.n - r->rest.p));
  for (size_t at; (at = ttm_str_find_char(text, '\n')) < text.n; text = ttm_str_from(text, at + 1)) r->line++;
  ttm_str_take_to(&after, '\n');
  r->rest = after;
  r->line++;
}

static bool is_return(ttm_str text) {
  ttm_str_take(&text, TTM_LIT("func."));
  return ttm_str_take(&text, TTM_LIT("return")) && (!text.n || !ttm_scan_is_name(text.p[0]));
}

static int read_op(reader *r, ttm_str text) {
  ttm_module_op op = {.text = text, .line = r->line, .callee = TTM_NO_ROW, .results = (uint32_t)r->m->value_types.n};
  ttm_str start = {text.p, (size_t)(r->rest.p + r->rest.n - text.p)};
  if (is_return(text)) {
    advance(r, text);
    return add_return(r, op);
  }
  int status = parse_op(r, start, &op.text);
  advance(r, op.text);
  if (status == TTM_ENOMEM) return status;
  if (!status) return add_read_op(r, op);
  op.unread = true;
  op.name = ttm_str_first(text, ttm_str_find_char(text, ' '));
  r->depth += op.text.p[op.text.n - 1] == '{';
  return add_op(r, &op, TTM_LIT(""));
}

/* ---- Functions ---- */

static void end_function(reader *r) {
  if (!r->m->functions.at[r->m->functions.n - 1].returns) note_unread(r, r->line);
  r->inside = false;
  r->depth = 0;
}

static int add_function(reader *r, ttm_str name, bool hidden, ttm_str args) {
  ttm_module *m = r->m;
  ttm_module_function f = {.name = name,
                           .hidden = hidden,
                           .line = r->line,
                           .args = (uint32_t)m->args.n,
                           .ops = (uint32_t)m->ops.n,
                           .values = (uint32_t)m->value_types.n,
                           .on_host = r->on_host};
  if (ttm_module_function_args(args, &m->arena, &m->args)) return TTM_ENOMEM;
  f.arg_count = (uint32_t)m->args.n - f.args;
  ttm_map_clear(&r->values);
  for (uint32_t k = 0; k < f.arg_count; k++) {
    const ttm_module_arg *arg = &m->args.at[f.args + k];
    if (set_name(r, &r->values, arg->ssa, f.values + k) || add_value(r, arg->type)) return TTM_ENOMEM;
  }
  r->inside = true;
  r->unread = false;
  r->depth = 0;
  if (ttm_map_get(&r->functions, key_of(r, f.name), TTM_NO_ROW) == TTM_NO_ROW &&
      set_name(r, &r->functions, f.name, (uint32_t)m->functions.n))
    return TTM_ENOMEM;
  return ttm_vec_push(&m->functions, f);
}

/* A signature may go over several lines; a declaration has no body. Of signatures that do not close, those in front of it could be looked at
 * for each. */
static int read_function(reader *r, ttm_str text, ttm_str keyword) {
  ttm_str start = {text.p + keyword.n, (size_t)(r->rest.p + r->rest.n - text.p) - keyword.n}, head = start, name;
  bool hidden;
  size_t close = TTM_NOT_FOUND;
  if (ttm_module_function_head(&head, &name, &hidden)) close = ttm_scan_close_in(head, 0, &r->budget);
  if (close == TTM_NOT_FOUND) return advance(r, text), TTM_OK;
  ttm_str behind = ttm_str_from(head, close);
  behind = ttm_str_first(behind, ttm_str_find_char(behind, '\n'));
  bool has_body = ttm_str_find_char(behind, '{') != TTM_NOT_FOUND;
  int status = has_body ? add_function(r, name, hidden, head) : TTM_OK;
  advance(r, (ttm_str){text.p, (size_t)(behind.p + behind.n - text.p)});
  return status;
}

static int read_line(reader *r) {
  static const ttm_str function = TTM_LIT("func.func");
  ttm_str line = r->rest, text;
  line = ttm_str_take_to(&line, '\n');
  text = ttm_scan_trim(line);
  bool begins = ttm_str_starts(text, function);
  if (begins && r->inside) end_function(r);
  if (begins) return read_function(r, text, function);
  bool blank = !text.n || text.p[0] == '#' || ttm_str_starts(text, TTM_LIT("//")) || text.p[0] == '^';
  if (!blank && r->inside && text.p[0] != '}') return read_op(r, text);
  if (!blank && !r->inside) r->open += (text.p[text.n - 1] == '{') - (text.p[0] == '}');
  if (!blank && r->inside && !r->depth--) end_function(r);
  bool old = ttm_str_starts(text, TTM_LIT("tt.")); /* what the dialect was called in 2025 */
  if (ttm_str_starts(text, old ? TTM_LIT("tt.cpu_module") : TTM_LIT("ttcore.cpu_module"))) r->on_host = true;
  if (ttm_str_starts(text, old ? TTM_LIT("tt.device_module") : TTM_LIT("ttcore.device_module"))) r->on_host = false;
  advance(r, line);
  return TTM_OK;
}

static void find_entry(ttm_module *m) {
  m->entry = TTM_NO_ROW;
  for (uint32_t i = 0; i < m->functions.n; i++) {
    const ttm_module_function *f = &m->functions.at[i];
    if (f->on_host) continue;
    if (ttm_str_eq(f->name, TTM_LIT("main"))) return (void)(m->entry = i);
    if (!f->hidden && m->entry == TTM_NO_ROW) m->entry = i;
  }
}

static void end_functions(reader *r) {
  ttm_module *m = r->m;
  for (size_t i = 0; i < m->functions.n; i++) {
    size_t next = i + 1 < m->functions.n ? m->functions.at[i + 1].values : m->value_types.n;
    m->functions.at[i].value_count = (uint32_t)next - m->functions.at[i].values;
  }
  for (size_t i = 0; i < m->ops.n; i++) {
    ttm_module_op *op = &m->ops.at[i];
    if (!r->callees.at[i].n) continue;
    op->callee = ttm_map_get(&r->functions, key_of(r, r->callees.at[i]), TTM_NO_ROW);
    /* Other callees may be functions of the host, of which a module has the head alone. */
    op->unread |= op->callee == TTM_NO_ROW && ttm_op_kind_of(op->name) == TTM_OP_LOAD_CACHED;
  }
  find_entry(m);
}

static ttm_mesh_type mesh_type(const ttm_module *m, uint32_t value) {
  uint32_t row = value < m->value_types.n ? m->value_types.at[value] : 0;
  return (ttm_mesh_type){row, m->types.at[row].is_tensor ? &m->types.at[row].tensor : NULL};
}

/* Types are per chip. */
static int take_parts(ttm_module *m) {
  ttm_mesh_parts parts = {.changed = m->facts.devices > 1};
  int status = TTM_OK;
  for (int pass = 0; pass < TTM_MESH_PASSES && parts.changed && !status; pass++) {
    parts.changed = false;
    for (size_t i = m->ops.n; i-- > 0 && !status;) {
      const ttm_module_op *op = &m->ops.at[i];
      if (!op->operand_count || op->result_count != 1) continue;
      ttm_mesh_type in = mesh_type(m, m->operands.at[op->operands]), out = mesh_type(m, op->results);
      if (in.type && out.type) status = ttm_mesh_parts_see(&parts, op->name, op->attributes, in, out);
    }
  }
  for (uint32_t i = 0; i < parts.shape.n; i++) ttm_mesh_parts_apply(&parts, i, &m->types.at[i].tensor);
  ttm_mesh_parts_free(&parts);
  return status;
}

int ttm_module_parse(ttm_module *out, ttm_str text) {
  reader r = {.m = out, .rest = text, .line = 1, .budget = text.n > SIZE_MAX / 8 ? text.n : text.n * 4};
  *out = (ttm_module){.entry = TTM_NO_ROW, .facts = ttm_module_facts_read(text)};
  uint32_t none; /* row 0: no type */
  int status = ttm_module_types_read(&r.aliases, text);
  if (!status) status = add_type(&r, TTM_LIT(""), &none);
  if (!status) status = ttm_module_locations_read(text, &out->locations);
  while (!status && r.rest.n) status = read_line(&r);
  if (!status) end_functions(&r);
  if (!status) status = take_parts(out);
  out->cut = r.inside || r.open > 0;
  ttm_module_types_free(&r.aliases);
  ttm_map_free(&r.values);
  ttm_map_free(&r.functions);
  ttm_intern_free(&r.names);
  ttm_vec_free(&r.callees);
  ttm_op_line_free(&r.op);
  ttm_buf_free(&r.text);
  return status;
}

void ttm_module_free(ttm_module *m) {
  ttm_vec_free(&m->functions);
  ttm_vec_free(&m->ops);
  ttm_vec_free(&m->operands);
  ttm_vec_free(&m->value_types);
  ttm_vec_free(&m->types);
  ttm_vec_free(&m->args);
  ttm_module_locations_free(m->locations);
  ttm_intern_free(&m->type_ids);
  ttm_arena_free(&m->arena);
  *m = (ttm_module){.entry = TTM_NO_ROW};
}

ttm_str ttm_module_attribute(const ttm_module_op *op, ttm_str key) {
  ttm_pieces it = {op->attributes, false};
  ttm_str piece;
  while (ttm_pieces_next(&it, &piece)) {
    ttm_str name = ttm_scan_take_name(&piece);
    ttm_scan_skip_space(&piece);
    if (ttm_str_eq(name, key) && ttm_str_take(&piece, TTM_LIT("="))) return ttm_scan_trim(piece);
  }
  return (ttm_str){"", 0};
}

bool ttm_module_detect(ttm_str first) {
  ttm_scan_skip_space(&first);
  if (ttm_str_starts(first, TTM_LIT("#")))
    return ttm_str_starts(first, TTM_LIT("#loc")) || ttm_str_contains(first, TTM_LIT(" = #tt"));
  if (ttm_str_starts(first, TTM_LIT("//")))
    return ttm_str_starts(first, TTM_LIT("// RUN:")) || ttm_str_contains(first, TTM_LIT("func.func"));
  return ttm_str_starts(first, TTM_LIT("module ")) || ttm_str_starts(first, TTM_LIT("func.func"));
}
