/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/module_dump.h"

#include "base/buf.h"
#include "base/intern.h"
#include "parse/mlir_scan.h"
#include "parse/op_line.h"

static ttm_str skip_spaces(ttm_str v) {
  ttm_scan_skip_space(&v);
  return v;
}

/* "name" or the inside of "\"odd name\"" behind an @; *v moves past it. */
static ttm_str take_symbol(ttm_str *v) {
  if (!v->n || v->p[0] != '"') return ttm_scan_take_name(v);
  size_t end = ttm_scan_string_end(*v, 0);
  if (end == TTM_NOT_FOUND) return ttm_str_first(*v, 0);
  ttm_str inside = {v->p + 1, end - 2};
  *v = ttm_str_from(*v, end);
  return inside;
}

static bool take_line(ttm_str *rest, ttm_str *line) {
  if (!rest->n) return false;
  *line = ttm_str_take_to(rest, '\n');
  return true;
}

/* ---- the entry function ---- */

bool ttm_module_function_head(ttm_str *v, ttm_str *name, bool *hidden) {
  ttm_str at = skip_spaces(*v);
  if (at.p == v->p) return false; /* 'func.func' in a sentence */
  *hidden = false;
  if (at.n && at.p[0] != '@') {
    ttm_str visibility = ttm_scan_take_name(&at);
    *hidden = !ttm_str_eq(visibility, TTM_LIT("public"));
    at = skip_spaces(at);
  }
  if (!ttm_str_take(&at, TTM_LIT("@"))) return false;
  *name = take_symbol(&at);
  at = skip_spaces(at);
  *v = at;
  return name->n && at.n && at.p[0] == '(';
}

/* A declaration lists bare types; only a function with a body names its arguments. */
static bool lists_values(ttm_str at_parenthesis) {
  ttm_str inside = skip_spaces(ttm_str_from(at_parenthesis, 1));
  return inside.n && (inside.p[0] == '%' || inside.p[0] == ')');
}

/* The text from the "(" of the entry function's arguments on; empty without one. */
static ttm_str find_entry(ttm_str text) {
  static const ttm_str keyword = TTM_LIT("func.func");
  ttm_str first_public = {text.p, 0};
  for (;;) {
    size_t at = ttm_str_find(text, keyword);
    if (at == TTM_NOT_FOUND) return first_public;
    text = ttm_str_from(text, at + keyword.n);
    ttm_str head = text, name;
    bool hidden;
    if (!ttm_module_function_head(&head, &name, &hidden) || !lists_values(head)) continue;
    if (ttm_str_eq(name, TTM_LIT("main"))) return head;
    if (!hidden && !first_public.n) first_public = head;
  }
}

/* ---- one argument ---- */

/* "parameter" of `#ttcore.argument_type<parameter>`, of `<parameter>` and of a bare `parameter`. */
static ttm_str innermost_word(ttm_str value) {
  size_t open = ttm_str_find_char(value, '<');
  if (open != TTM_NOT_FOUND) value = ttm_scan_trim(ttm_str_from(value, open + 1));
  return ttm_scan_take_name(&value);
}

const char *const ttm_arg_kind_names[] = {"input", "parameter", "constant", "default", "unknown"};

ttm_arg_kind ttm_arg_kind_of(ttm_str word) {
  return (ttm_arg_kind)ttm_str_index(word, ttm_arg_kind_names, TTM_ARG_UNKNOWN);
}

static ttm_str tensor_in(ttm_str value) {
  size_t at = ttm_str_find(value, TTM_LIT("tensor<"));
  if (at == TTM_NOT_FOUND) return (ttm_str){value.p, 0};
  value = ttm_str_from(value, at);
  size_t close = ttm_scan_close(value, sizeof "tensor" - 1);
  return close == TTM_NOT_FOUND ? ttm_str_first(value, 0) : ttm_str_first(value, close + 1);
}

/* The inside of a string value; copied into the arena only when it holds escapes. 0 or TTM_ENOMEM. */
static int read_string(ttm_str value, ttm_arena *arena, ttm_str *out) {
  if (!value.n || value.p[0] != '"') return TTM_OK;
  size_t end = ttm_scan_string_end(value, 0);
  if (end == TTM_NOT_FOUND) return TTM_OK;
  ttm_str inside = {value.p + 1, end - 2};
  if (ttm_str_find_char(inside, '\\') == TTM_NOT_FOUND) {
    *out = inside;
    return TTM_OK;
  }
  ttm_buf plain = {0};
  ttm_scan_unescape(inside, &plain);
  char *copy = plain.failed ? NULL : ttm_arena_copy(arena, ttm_buf_str(&plain));
  if (copy) *out = (ttm_str){copy, plain.n};
  ttm_buf_free(&plain);
  return copy ? TTM_OK : TTM_ENOMEM;
}

/* Before 2025 the dialect was called "tt": only what follows the first dot tells. */
static bool key_is(ttm_str key, ttm_str name) {
  size_t dot = ttm_str_find_char(key, '.');
  return dot != TTM_NOT_FOUND && ttm_str_eq(ttm_str_from(key, dot + 1), name);
}

static int read_attribute(ttm_str key, ttm_str value, ttm_arena *arena, ttm_module_arg *arg) {
  if (ttm_str_eq(key, TTM_LIT("ttir.name"))) return read_string(value, arena, &arg->name);
  if (key_is(key, TTM_LIT("argument_type"))) arg->kind = ttm_arg_kind_of(innermost_word(value));
  if (key_is(key, TTM_LIT("shard_status"))) arg->shard_status = innermost_word(value);
  if (key_is(key, TTM_LIT("local_shape"))) arg->local_type = tensor_in(value);
  if (key_is(key, TTM_LIT("kv_cache"))) arg->kv_cache = !ttm_str_eq(value, TTM_LIT("false"));
  if (key_is(key, TTM_LIT("runtime_tensor_sharding"))) { /* both in one, early 2026 */
    size_t status = ttm_str_find(value, TTM_LIT("shard_status"));
    if (status != TTM_NOT_FOUND) arg->shard_status = innermost_word(ttm_str_from(value, status));
    arg->local_type = tensor_in(value);
  }
  return TTM_OK;
}

static int read_attributes(ttm_str inside, ttm_arena *arena, ttm_module_arg *arg) {
  ttm_pieces it = {inside, false};
  ttm_str piece;
  while (ttm_pieces_next(&it, &piece)) {
    size_t equals = ttm_scan_find(piece, 0, '=');
    if (equals == TTM_NOT_FOUND) continue;
    ttm_str key = ttm_scan_trim(ttm_str_first(piece, equals));
    if (key.n >= 2 && key.p[0] == '"') key = (ttm_str){key.p + 1, key.n - 2};
    if (read_attribute(key, ttm_scan_trim(ttm_str_from(piece, equals + 1)), arena, arg)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* `tensor<...>`, `!ttnn.device`, `f32`, or a function type; *v moves past it. Empty when its brackets do not close. */
static ttm_str take_type(ttm_str *v) {
  ttm_str at = *v;
  if (at.n && at.p[0] == '(') { /* rare: whatever stands before the attributes or the location */
    size_t end = ttm_str_find(at, TTM_LIT(" {"));
    at = ttm_str_from(at, end == TTM_NOT_FOUND ? ttm_str_find(at, TTM_LIT(" loc(")) : end);
  } else {
    ttm_str_take(&at, TTM_LIT("!"));
    ttm_scan_take_name(&at);
    if (at.n && at.p[0] == '<') {
      size_t close = ttm_scan_close(at, 0);
      if (close == TTM_NOT_FOUND) return ttm_str_first(*v, 0);
      at = ttm_str_from(at, close + 1);
    }
  }
  ttm_str type = {v->p, (size_t)(at.p - v->p)};
  *v = at;
  return type;
}

/* `%arg0: TYPE {attributes} loc(...)` */
static int read_argument(ttm_str piece, ttm_arena *arena, ttm_module_arg *arg) {
  static const ttm_str none = TTM_LIT("");
  *arg = (ttm_module_arg){
      .ssa = none, .name = none, .kind = TTM_ARG_UNKNOWN, .type = none, .local_type = none, .shard_status = none};
  size_t colon = ttm_str_find_char(piece, ':');
  if (!piece.n || piece.p[0] != '%' || colon == TTM_NOT_FOUND) return TTM_OK;
  arg->ssa = ttm_scan_trim(ttm_str_first(piece, colon));
  ttm_str rest = ttm_scan_trim(ttm_str_from(piece, colon + 1));
  arg->type = take_type(&rest);
  rest = skip_spaces(rest);
  if (!rest.n || rest.p[0] != '{') return TTM_OK;
  size_t close = ttm_scan_close(rest, 0);
  if (close == TTM_NOT_FOUND) return TTM_OK;
  return read_attributes((ttm_str){rest.p + 1, close - 1}, arena, arg);
}

int ttm_module_function_args(ttm_str at, ttm_arena *arena, ttm_module_args *out) {
  /* Without the closing parenthesis the dump was cut: the arguments that are whole still count. */
  size_t close = ttm_scan_close(at, 0);
  ttm_pieces it = {ttm_str_from(ttm_str_first(at, close), 1), false};
  ttm_str piece;
  while (ttm_pieces_next(&it, &piece)) {
    ttm_module_arg arg;
    if (close == TTM_NOT_FOUND && !it.rest.n && !strchr(")}>", piece.p[piece.n - 1])) break;
    if (read_argument(piece, arena, &arg)) return TTM_ENOMEM;
    if (arg.ssa.n && arg.type.n && ttm_vec_push(out, arg)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

int ttm_module_args_parse(ttm_str text, ttm_arena *arena, ttm_module_args *out) {
  ttm_str entry = text.n ? find_entry(text) : text;
  return entry.n ? ttm_module_function_args(entry, arena, out) : TTM_OK;
}

/* ---- locations ---- */

enum {
  ALIAS_DEPTH = 16,      /* a chain of aliases longer than this is a cycle, or might as well be one */
  ALIAS_BYTES = 1 << 14, /* what one location may grow to by its aliases; beyond that they read "unknown" */
  BROKEN_PER_LINE = 8,   /* "loc(" without an end: so often it is tried again on one line */
};

typedef enum source { FROM_ALIAS, FROM_INLINE, FROM_CALLEE, SOURCE_COUNT } source;

typedef struct found {
  uint32_t name; /* id in names */
  uint32_t line;
} found;

struct ttm_module_locations {
  ttm_intern aliases;            /* "#loc12" */
  TTM_VEC(ttm_str) definitions;  /* by alias id: what stands between loc( and ); p is NULL when not seen */
  TTM_VEC(uint32_t) alias_names; /* by alias id: name id + 1; 0 before the first use */
  ttm_intern names;
  TTM_VEC(uint8_t) seen; /* by name id: one bit per source */
  TTM_VEC(found) found[SOURCE_COUNT];
  ttm_buf expanded, rendered;
  size_t budget; /* bytes aliases may still add over the whole text */
};
typedef struct ttm_module_locations locator;

static void locator_free(locator *l) {
  ttm_intern_free(&l->aliases);
  ttm_intern_free(&l->names);
  ttm_vec_free(&l->definitions);
  ttm_vec_free(&l->alias_names);
  ttm_vec_free(&l->seen);
  for (int s = 0; s < SOURCE_COUNT; s++) ttm_vec_free(&l->found[s]);
  ttm_buf_free(&l->expanded);
  ttm_buf_free(&l->rendered);
}

/* `#loc12 = loc(...)`; other alias lines (#dram, #system_desc) give false. */
static bool read_definition(ttm_str line, ttm_str *alias, ttm_str *raw) {
  ttm_str at = ttm_str_from(line, 1);
  ttm_str name = ttm_scan_take_name(&at);
  *alias = (ttm_str){line.p, name.n + 1};
  at = skip_spaces(at);
  if (!name.n || !ttm_str_take(&at, TTM_LIT("="))) return false;
  at = skip_spaces(at);
  if (!ttm_str_starts(at, TTM_LIT("loc("))) return false;
  size_t close = ttm_scan_close(at, 3);
  if (close == TTM_NOT_FOUND) return false;
  *raw = ttm_scan_trim((ttm_str){at.p + 4, close - 4});
  return true;
}

static int collect_definitions(locator *l, ttm_str text) {
  ttm_str line, alias, raw;
  while (take_line(&text, &line)) {
    line = skip_spaces(line);
    if (!line.n || line.p[0] != '#' || !read_definition(line, &alias, &raw)) continue;
    uint32_t id;
    if (ttm_intern_add(&l->aliases, alias, &id)) return TTM_ENOMEM;
    while (l->definitions.n <= id) {
      if (ttm_vec_push(&l->definitions, (ttm_str){NULL, 0}) || ttm_vec_push(&l->alias_names, 0)) return TTM_ENOMEM;
    }
    l->definitions.at[id] = raw;
  }
  return TTM_OK;
}

/* In `"name"(child)` only the name counts, so the child (often a long chain) is not followed. */
static ttm_str without_child(ttm_str raw) {
  if (!raw.n || raw.p[0] != '"') return raw;
  size_t end = ttm_scan_string_end(raw, 0);
  if (end == TTM_NOT_FOUND) return raw;
  ttm_str rest = skip_spaces(ttm_str_from(raw, end));
  return rest.n && rest.p[0] == '(' ? ttm_str_first(raw, end) : raw;
}

/* Appends `raw` with every alias replaced by what it stands for. Each replacement costs its length, out of *budget for
 * this location and out of the text's own, so the work stays linear whatever the aliases say of each other. */
static void expand(locator *l, ttm_str raw, int depth, size_t *budget) {
  raw = without_child(raw);
  while (raw.n) {
    size_t n = 0;
    while (n < raw.n && raw.p[n] != '#' && raw.p[n] != '"') n++;
    if (n < raw.n && raw.p[n] == '"') {
      size_t end = ttm_scan_string_end(raw, n);
      n = end == TTM_NOT_FOUND ? raw.n : end;
      ttm_buf_put(&l->expanded, ttm_str_first(raw, n));
      raw = ttm_str_from(raw, n);
      continue;
    }
    ttm_buf_put(&l->expanded, ttm_str_first(raw, n));
    raw = ttm_str_from(raw, n);
    if (!raw.n) break;
    ttm_str rest = ttm_str_from(raw, 1), name = ttm_scan_take_name(&rest), alias = {raw.p, name.n + 1};
    uint32_t id = ttm_intern_find(&l->aliases, alias);
    ttm_str meant = id ? without_child(l->definitions.at[id]) : (ttm_str){NULL, 0};
    if (!id && !ttm_str_starts(alias, TTM_LIT("#loc"))) {
      ttm_buf_put(&l->expanded, alias); /* an attribute in a fused location's metadata */
    } else if (!id || depth == ALIAS_DEPTH || meant.n >= *budget || meant.n >= l->budget) {
      ttm_buf_puts(&l->expanded, "unknown");
    } else {
      *budget -= meant.n + 1;
      l->budget -= meant.n + 1;
      expand(l, meant, depth + 1, budget);
    }
    raw = rest;
  }
}

/* The name of a location as operation lines give it; id 0 for one without a name. 0 or TTM_ENOMEM. */
static int name_location(locator *l, ttm_str raw, uint32_t *id) {
  size_t budget = ALIAS_BYTES;
  ttm_buf_clear(&l->expanded);
  ttm_buf_clear(&l->rendered);
  expand(l, raw, 0, &budget);
  *id = 0;
  if (!l->expanded.failed && !ttm_location_render(ttm_buf_str(&l->expanded), &l->rendered)) {
    return l->rendered.failed ? TTM_ENOMEM : TTM_OK;
  }
  if (l->expanded.failed || l->rendered.failed) return TTM_ENOMEM;
  return ttm_intern_add(&l->names, ttm_buf_str(&l->rendered), id);
}

/* Keeps the first line of a name for each way it can be found. */
static int note(locator *l, source from, uint32_t name, uint32_t line) {
  if (!name) return TTM_OK;
  while (l->seen.n <= name) {
    if (ttm_vec_push(&l->seen, 0)) return TTM_ENOMEM;
  }
  uint8_t bit = (uint8_t)(1u << from);
  if (l->seen.at[name] & bit) return TTM_OK;
  l->seen.at[name] |= bit;
  return ttm_vec_push(&l->found[from], (found){name, line});
}

static int note_alias(locator *l, ttm_str alias, uint32_t line) {
  uint32_t id = ttm_intern_find(&l->aliases, alias), name;
  if (!id || id >= l->alias_names.n) return TTM_OK;
  if (!l->alias_names.at[id]) {
    if (name_location(l, l->definitions.at[id], &name)) return TTM_ENOMEM;
    l->alias_names.at[id] = name + 1;
  }
  return note(l, FROM_ALIAS, l->alias_names.at[id] - 1, line);
}

static int note_locations(locator *l, ttm_str line, uint32_t number) {
  size_t from = 0;
  for (int broken = 0; broken < BROKEN_PER_LINE;) {
    size_t at = ttm_str_find(ttm_str_from(line, from), TTM_LIT("loc("));
    if (at == TTM_NOT_FOUND) break;
    at += from;
    from = at + 4;
    if (at && ttm_scan_is_name(line.p[at - 1])) continue; /* "alloc(" */
    size_t close = ttm_scan_close(line, at + 3);
    if (close == TTM_NOT_FOUND) {
      broken++;
      continue;
    }
    ttm_str raw = ttm_scan_trim((ttm_str){line.p + at + 4, close - at - 4});
    from = close + 1;
    ttm_str rest = ttm_str_from(raw, 1);
    if (raw.n && raw.p[0] == '#' && ttm_scan_take_name(&rest).n && !rest.n) {
      if (note_alias(l, raw, number)) return TTM_ENOMEM;
      continue;
    }
    uint32_t name;
    if (name_location(l, raw, &name) || note(l, FROM_INLINE, name, number)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* const-eval calls mostly stand at loc(unknown): their callee, "@main_const_eval_0", finds them. */
static int note_callee(locator *l, ttm_str line, uint32_t number) {
  static const ttm_str op = TTM_LIT("load_cached");
  size_t at = ttm_str_find(line, op);
  if (at == TTM_NOT_FOUND) return TTM_OK;
  ttm_str rest = ttm_str_from(line, at + op.n);
  if (!ttm_str_take(&rest, TTM_LIT("("))) { /* generic form */
    at = ttm_str_find(rest, TTM_LIT("callee = @"));
    if (at == TTM_NOT_FOUND) return TTM_OK;
    rest = ttm_str_from(rest, at + sizeof "callee = " - 1);
  }
  if (!ttm_str_starts(rest, TTM_LIT("@"))) return TTM_OK;
  ttm_str after = ttm_str_from(rest, 1);
  ttm_str callee = {rest.p, ttm_scan_take_name(&after).n + 1};
  uint32_t name;
  if (callee.n == 1) return TTM_OK;
  if (ttm_intern_add(&l->names, callee, &name)) return TTM_ENOMEM;
  return note(l, FROM_CALLEE, name, number);
}

static int collect_uses(locator *l, ttm_str text) {
  ttm_str line;
  for (uint32_t number = 1; take_line(&text, &line); number += number < UINT32_MAX) {
    ttm_str start = skip_spaces(line);
    if (!start.n || start.p[0] == '#') continue;
    if (note_locations(l, line, number) || note_callee(l, line, number)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int give(locator *l, ttm_arena *arena, ttm_loc_lines *out) {
  enum { GIVEN = 1 << SOURCE_COUNT };
  for (int s = 0; s < SOURCE_COUNT; s++) {
    for (size_t i = 0; i < l->found[s].n; i++) {
      found f = l->found[s].at[i];
      if (l->seen.at[f.name] & GIVEN) continue;
      l->seen.at[f.name] |= GIVEN;
      ttm_str name = ttm_intern_get(&l->names, f.name);
      char *copy = ttm_arena_copy(arena, name);
      if (!copy || ttm_vec_push(out, (ttm_loc_line){{copy, name.n}, f.line})) return TTM_ENOMEM;
    }
  }
  return TTM_OK;
}

static locator locator_of(ttm_str text) {
  return (locator){.budget = text.n > SIZE_MAX / 16 ? text.n : text.n * 8 + ALIAS_BYTES};
}

int ttm_module_loc_lines(ttm_str text, ttm_arena *arena, ttm_loc_lines *out) {
  locator l = locator_of(text);
  int rc = collect_definitions(&l, text);
  if (!rc) rc = collect_uses(&l, text);
  if (!rc) rc = give(&l, arena, out);
  locator_free(&l);
  return rc;
}

int ttm_module_locations_read(ttm_str text, ttm_module_locations **out) {
  *out = ttm_alloc(sizeof **out);
  if (!*out) return TTM_ENOMEM;
  **out = locator_of(text);
  return collect_definitions(*out, text);
}

void ttm_module_locations_free(ttm_module_locations *l) {
  if (l) locator_free(l);
  ttm_free(l);
}

int ttm_module_location(ttm_module_locations *l, ttm_str raw, ttm_str *name) {
  uint32_t alias = ttm_intern_find(&l->aliases, raw), id = 0;
  if (alias && l->alias_names.at[alias]) {
    id = l->alias_names.at[alias] - 1;
  } else {
    if (name_location(l, raw, &id)) return TTM_ENOMEM;
    if (alias) l->alias_names.at[alias] = id + 1;
  }
  *name = ttm_intern_get(&l->names, id);
  return TTM_OK;
}

/* ---- facts ---- */

/* Product of the sizes in `1x8` or `"x"=2, "y"=4`, up to the closing bracket; 0 when there is none or it is absurd. */
static uint32_t mesh_product(ttm_str v) {
  uint64_t product = 0, size;
  while (v.n && v.p[0] != '>' && v.p[0] != ']' && v.p[0] != '}' && v.p[0] != '\n') {
    if (v.p[0] == '"') { /* an axis may be called "_axis_0" */
      size_t end = ttm_scan_string_end(v, 0);
      if (end == TTM_NOT_FOUND) return 0;
      v = ttm_str_from(v, end);
    } else if (ttm_str_take_u64(&v, &size)) {
      if (!product) product = 1;
      if (__builtin_mul_overflow(product, size, &product) || product > UINT32_MAX) return 0;
      if (ttm_str_starts(v, TTM_LIT(", chip"))) break; /* meshShape = 1x8, chipIds = [...] */
    } else {
      v = ttm_str_from(v, 1);
    }
  }
  return (uint32_t)product;
}

static uint32_t first_mesh(ttm_str text) {
  static const ttm_str marks[] = {TTM_LIT("ttcore.meshes<"), TTM_LIT("sdy.mesh @"), TTM_LIT("meshShape = "),
                                  TTM_LIT("<mesh_shape ")};
  ttm_str scope = text;
  uint32_t devices = 0;
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    size_t at = ttm_str_find(scope, marks[i]);
    if (at == TTM_NOT_FOUND) continue;
    ttm_str shape = ttm_str_from(text, at + marks[i].n);
    if (marks[i].p[0] == 's') { /* behind the name of the mesh, which may hold digits */
      take_symbol(&shape);
    } else if (marks[i].p[0] == 't') {
      ttm_str_take(&shape, TTM_LIT("[<"));
    }
    uint32_t product = mesh_product(shape);
    if (!product) continue;
    devices = product;
    scope = ttm_str_first(text, at); /* only an earlier one can still win */
  }
  return devices;
}

static ttm_str module_name(ttm_str text) {
  static const ttm_str keyword = TTM_LIT("module @");
  size_t from = 0;
  for (;;) {
    size_t at = ttm_str_find(ttm_str_from(text, from), keyword);
    if (at == TTM_NOT_FOUND) return (ttm_str){text.p, 0};
    at += from;
    from = at + keyword.n;
    ttm_str rest = ttm_str_from(text, from);
    if (at && !ttm_scan_is_space(text.p[at - 1]) && text.p[at - 1] != '.')
      continue; /* `builtin.module @X` names it too */
    return take_symbol(&rest);
  }
}

/* The number behind `key`; 0 when it is not there. */
static uint32_t fact(ttm_str text, ttm_str key) {
  size_t at = ttm_str_find(text, key);
  uint64_t n;
  if (at == TTM_NOT_FOUND) return 0;
  ttm_str rest = ttm_str_from(text, at + key.n);
  return ttm_str_take_u64(&rest, &n) && n <= UINT32_MAX ? (uint32_t)n : 0;
}

ttm_module_facts ttm_module_facts_read(ttm_str text) {
  if (!text.n) return (ttm_module_facts){.name = TTM_LIT("")};
  return (ttm_module_facts){.name = module_name(text),
                            .dram_alignment = fact(text, TTM_LIT("noc_dram_address_align_bytes = ")),
                            .devices = first_mesh(text),
                            .dram_channels = fact(text, TTM_LIT("num_dram_channels = "))};
}
