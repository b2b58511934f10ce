/* SPDX-License-Identifier: Apache-2.0 */
#include "cbscan/names.h"

#define NONE UINT32_MAX
enum { HEAD_NAME, HEAD_CHANGE, HEAD_CALL, HEADS };

/* ---- Reading the tree --------------------------------------------------------------------------------------------- */

ttm_str cbs_name_last(const cbs_tree *tree, cbs_node n) {
  for (;;) {
    switch (cbs_tree_kind(tree, n)) {
      case CBS_N_QUALIFIED:
      case CBS_N_TEMPLATE_FUNCTION:
      case CBS_N_TEMPLATE_METHOD:
      case CBS_N_TEMPLATE_TYPE: {
        cbs_node name = cbs_tree_field(tree, n, CBS_F_NAME);
        if (!name) return (ttm_str){"", 0};
        n = name;
        break;
      }
      default:
        return cbs_tree_text(tree, n);
    }
  }
}

cbs_node cbs_declared_identifier(const cbs_tree *tree, cbs_node n) {
  while (n) {
    switch (cbs_tree_kind(tree, n)) {
      case CBS_N_IDENTIFIER:
      case CBS_N_FIELD_IDENTIFIER:
      case CBS_N_QUALIFIED:
        return n;
      case CBS_N_INIT_DECLARATOR:
      case CBS_N_ARRAY_DECLARATOR:
      case CBS_N_FUNCTION_DECLARATOR:
      case CBS_N_POINTER_DECLARATOR:
        n = cbs_tree_field(tree, n, CBS_F_DECLARATOR);
        break;
      case CBS_N_REFERENCE_DECLARATOR:
        n = cbs_tree_child(tree, n, 0);
        break;
      default:
        return 0;
    }
  }
  return 0;
}

cbs_node cbs_function_around(const cbs_tree *tree, cbs_node n) {
  for (n = cbs_tree_at(tree, n)->parent; n; n = cbs_tree_at(tree, n)->parent) {
    cbs_node_kind kind = cbs_tree_kind(tree, n);
    if (kind == CBS_N_FUNCTION || kind == CBS_N_LAMBDA) return n;
  }
  return 0;
}

cbs_node cbs_function_outermost(const cbs_tree *tree, cbs_node n) {
  cbs_node found = 0;
  for (; n; n = cbs_tree_at(tree, n)->parent) {
    if (cbs_tree_kind(tree, n) == CBS_N_FUNCTION) found = n;
  }
  return found;
}

static cbs_node function_declarator(const cbs_tree *tree, cbs_node function) {
  cbs_node d = cbs_tree_field(tree, function, CBS_F_DECLARATOR);
  while (d) {
    cbs_node_kind kind = cbs_tree_kind(tree, d);
    if (kind == CBS_N_FUNCTION_DECLARATOR || kind == CBS_N_ABSTRACT_FUNCTION) return d;
    d = kind == CBS_N_REFERENCE_DECLARATOR ? cbs_tree_child(tree, d, 0) : cbs_tree_field(tree, d, CBS_F_DECLARATOR);
  }
  return 0;
}

ttm_str cbs_function_name(const cbs_tree *tree, cbs_node function) {
  if (!function) return (ttm_str){"", 0};
  if (cbs_tree_kind(tree, function) == CBS_N_LAMBDA) {
    cbs_node holder = cbs_tree_at(tree, function)->parent;
    if (cbs_tree_kind(tree, holder) != CBS_N_INIT_DECLARATOR) return (ttm_str){"", 0};
    cbs_node id = cbs_declared_identifier(tree, holder);
    return id ? cbs_tree_text(tree, id) : (ttm_str){"", 0};
  }
  cbs_node id = cbs_declared_identifier(tree, function_declarator(tree, function));
  return id ? cbs_name_last(tree, id) : (ttm_str){"", 0};
}

cbs_node cbs_call_argument(const cbs_tree *tree, cbs_node call, size_t i) {
  cbs_node list = cbs_tree_field(tree, call, CBS_F_ARGUMENTS);
  return list ? cbs_tree_child(tree, list, i) : 0;
}

size_t cbs_call_arguments(const cbs_tree *tree, cbs_node call) {
  cbs_node list = cbs_tree_field(tree, call, CBS_F_ARGUMENTS);
  return list ? cbs_tree_children(tree, list) : 0;
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool cbs_text_has_word(ttm_str text, ttm_str word) {
  for (size_t from = 0; from < text.n;) {
    size_t at = ttm_str_find(ttm_str_from(text, from), word);
    if (at == TTM_NOT_FOUND) return false;
    at += from;
    bool starts = at == 0 || !is_word(text.p[at - 1]);
    bool ends = at + word.n >= text.n || !is_word(text.p[at + word.n]);
    if (starts && ends) return true;
    from = at + 1;
  }
  return false;
}

/* ---- Collecting --------------------------------------------------------------------------------------------------- */

typedef struct collector {
  cbs_names *out;
  const cbs_tree *tree;
} collector;

static int intern(collector *c, ttm_str text, uint32_t *id) {
  cbs_names *out = c->out;
  if (ttm_intern_add(&out->texts, text, id)) return TTM_ENOMEM;
  size_t need = ((size_t)*id + 1) * HEADS;
  if (need > out->heads.n) {
    if (ttm_vec_reserve(&out->heads, need - out->heads.n)) return TTM_ENOMEM;
    while (out->heads.n < need) out->heads.at[out->heads.n++] = NONE;
  }
  return TTM_OK;
}

static int add_name(collector *c, cbs_name name, cbs_node identifier) {
  ttm_str text = cbs_name_last(c->tree, identifier);
  if (!text.n) return TTM_OK;
  if (intern(c, text, &name.id)) return TTM_ENOMEM;
  name.text = text;
  uint32_t *head = &c->out->heads.at[name.id * HEADS + HEAD_NAME];
  name.next = *head;
  *head = (uint32_t)c->out->names.n;
  return ttm_vec_push(&c->out->names, name);
}

static int add_change(collector *c, cbs_change change, cbs_node identifier) {
  if (intern(c, cbs_tree_text(c->tree, identifier), &change.id)) return TTM_ENOMEM;
  uint32_t *head = &c->out->heads.at[change.id * HEADS + HEAD_CHANGE];
  change.next = *head;
  *head = (uint32_t)c->out->changes.n;
  return ttm_vec_push(&c->out->changes, change);
}

/* The node below which a declaration at `n` is visible. */
static cbs_node scope_of(const cbs_tree *tree, cbs_node n) {
  for (n = cbs_tree_at(tree, n)->parent; n; n = cbs_tree_at(tree, n)->parent) {
    switch (cbs_tree_kind(tree, n)) {
      case CBS_N_BLOCK:
      case CBS_N_FUNCTION:
      case CBS_N_LAMBDA:
      case CBS_N_FOR:
      case CBS_N_FOR_RANGE:
      case CBS_N_IF:
      case CBS_N_WHILE:
      case CBS_N_SWITCH:
      case CBS_N_CLASS:
      case CBS_N_STRUCT:
      case CBS_N_CATCH:
      case CBS_N_ROOT:
        return n;
      default:
        break;
    }
  }
  return 1;
}

static int collect_declarator(collector *c, cbs_node declaration, cbs_node d, cbs_name name) {
  const cbs_tree *tree = c->tree;
  cbs_node inner = d;
  if (cbs_tree_kind(tree, d) == CBS_N_INIT_DECLARATOR) {
    name.value = cbs_tree_field(tree, d, CBS_F_VALUE);
    inner = cbs_tree_field(tree, d, CBS_F_DECLARATOR);
  }
  if (cbs_tree_kind(tree, inner) == CBS_N_REFERENCE_DECLARATOR) {
    cbs_node below = cbs_tree_child(tree, inner, 0);
    if (below && cbs_tree_kind(tree, below) == CBS_N_STRUCTURED_BINDING) inner = below;
  }
  if (cbs_tree_kind(tree, inner) == CBS_N_STRUCTURED_BINDING) {
    name.kind = CBS_NAME_BINDING;
    for (cbs_node b = cbs_tree_at(tree, inner)->child; b; b = cbs_tree_at(tree, b)->next) {
      if (cbs_tree_kind(tree, b) != CBS_N_IDENTIFIER) continue;
      if (add_name(c, name, b)) return TTM_ENOMEM;
      name.index++;
    }
    return TTM_OK;
  }
  cbs_node id = cbs_declared_identifier(tree, inner);
  if (!id) return TTM_OK;
  /* `T x(a, b);` reads like a function to a grammar; inside a body it is a variable with its arguments. */
  if (cbs_tree_kind(tree, inner) == CBS_N_FUNCTION_DECLARATOR) {
    if (!cbs_function_around(tree, declaration)) return TTM_OK;
    name.value = cbs_tree_field(tree, inner, CBS_F_PARAMETERS);
  }
  return add_name(c, name, id);
}

static int collect_declaration(collector *c, cbs_node n, cbs_name_kind kind) {
  const cbs_tree *tree = c->tree;
  cbs_name name = {.kind = kind,
                   .node = n,
                   .scope = scope_of(tree, n),
                   .type = cbs_tree_field(tree, n, CBS_F_TYPE),
                   .value = cbs_tree_field(tree, n, CBS_F_DEFAULT_VALUE)};
  name.is_loop = cbs_tree_kind(tree, cbs_tree_at(tree, n)->parent) == CBS_N_FOR;
  /* if (auto x = f()): the value stands beside the declarator. */
  if (!name.value) name.value = cbs_tree_field(tree, n, CBS_F_VALUE);
  for (cbs_node d = cbs_tree_at(tree, n)->child; d; d = cbs_tree_at(tree, d)->next) {
    if (cbs_tree_at(tree, d)->field != CBS_F_DECLARATOR) continue;
    if (collect_declarator(c, n, d, name)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int collect_parameters(collector *c, cbs_node function) {
  const cbs_tree *tree = c->tree;
  cbs_node declarator = function_declarator(tree, function);
  cbs_node list = declarator ? cbs_tree_field(tree, declarator, CBS_F_PARAMETERS) : 0;
  uint32_t index = 0;
  if (!list) return TTM_OK;
  for (cbs_node p = cbs_tree_at(tree, list)->child; p; p = cbs_tree_at(tree, p)->next, index++) {
    cbs_node id = cbs_declared_identifier(tree, cbs_tree_field(tree, p, CBS_F_DECLARATOR));
    if (!id) continue;
    cbs_name name = {.kind = CBS_NAME_PARAMETER,
                     .node = p,
                     .scope = function,
                     .type = cbs_tree_field(tree, p, CBS_F_TYPE),
                     .value = cbs_tree_field(tree, p, CBS_F_DEFAULT_VALUE),
                     .index = index};
    if (add_name(c, name, id)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int collect_function(collector *c, cbs_node n) {
  const cbs_tree *tree = c->tree;
  cbs_node id = cbs_declared_identifier(tree, function_declarator(tree, n));
  cbs_name name = {.kind = CBS_NAME_FUNCTION, .node = n, .scope = 1, .value = cbs_tree_field(tree, n, CBS_F_BODY)};
  if (id && add_name(c, name, id)) return TTM_ENOMEM;
  return collect_parameters(c, n);
}

/* The object a chain of fields starts from, and the text between it and the last field. */
static cbs_node field_object(const cbs_tree *tree, cbs_node field, ttm_str *path) {
  cbs_node object = cbs_tree_field(tree, field, CBS_F_ARGUMENT);
  *path = (ttm_str){"", 0};
  for (;;) {
    cbs_node_kind kind = object ? cbs_tree_kind(tree, object) : CBS_N_OTHER;
    if (kind == CBS_N_IDENTIFIER) return object;
    if (kind == CBS_N_SUBSCRIPT || kind == CBS_N_PAREN || kind == CBS_N_POINTER) {
      object = cbs_tree_child(tree, object, 0);
    } else if (kind == CBS_N_FIELD) {
      cbs_node name = cbs_tree_field(tree, object, CBS_F_FIELD);
      if (name && !path->n) *path = cbs_tree_text(tree, name);
      object = cbs_tree_field(tree, object, CBS_F_ARGUMENT);
    } else {
      return 0;
    }
  }
}

static int collect_assignment(collector *c, cbs_node n) {
  const cbs_tree *tree = c->tree;
  cbs_node left = cbs_tree_field(tree, n, CBS_F_LEFT), op = cbs_tree_field(tree, n, CBS_F_OPERATOR);
  cbs_change change = {.kind = CBS_CHANGE_ASSIGN, .node = n, .value = cbs_tree_field(tree, n, CBS_F_RIGHT)};
  change.word = op ? cbs_tree_text(tree, op) : TTM_LIT("=");
  if (!left) return TTM_OK;
  if (cbs_tree_kind(tree, left) == CBS_N_FIELD) {
    cbs_node object = field_object(tree, left, &change.path), name = cbs_tree_field(tree, left, CBS_F_FIELD);
    if (!object || !name) return TTM_OK;
    change.kind = CBS_CHANGE_FIELD;
    change.word = cbs_tree_text(tree, name);
    return add_change(c, change, object);
  }
  if (cbs_tree_kind(tree, left) == CBS_N_SUBSCRIPT) {
    change.kind = CBS_CHANGE_ITEM;
    left = cbs_tree_field(tree, left, CBS_F_ARGUMENT);
  }
  return left && cbs_tree_kind(tree, left) == CBS_N_IDENTIFIER ? add_change(c, change, left) : TTM_OK;
}

static int collect_call(collector *c, cbs_node n) {
  const cbs_tree *tree = c->tree;
  cbs_node function = cbs_tree_field(tree, n, CBS_F_FUNCTION);
  if (!function) return TTM_OK;
  if (cbs_tree_kind(tree, function) == CBS_N_FIELD) {
    cbs_node name = cbs_tree_field(tree, function, CBS_F_FIELD);
    cbs_change change = {.kind = CBS_CHANGE_METHOD, .node = n, .value = cbs_tree_field(tree, n, CBS_F_ARGUMENTS)};
    cbs_node object = field_object(tree, function, &change.path);
    if (!object || !name) return TTM_OK;
    change.word = cbs_name_last(tree, name);
    return add_change(c, change, object);
  }
  ttm_str text = cbs_name_last(tree, function);
  cbs_call call = {.node = n};
  if (!text.n || text.n > 200) return TTM_OK;
  if (intern(c, text, &call.id)) return TTM_ENOMEM;
  uint32_t *head = &c->out->heads.at[call.id * HEADS + HEAD_CALL];
  call.next = *head;
  *head = (uint32_t)c->out->calls.n;
  return ttm_vec_push(&c->out->calls, call);
}

/* Without a value of its own an enumerator counts on from the last one that has one: `type` is that value, `index` the distance. */
static int collect_enum(collector *c, cbs_node n) {
  const cbs_tree *tree = c->tree;
  cbs_node id = cbs_tree_field(tree, n, CBS_F_NAME);
  cbs_name name = {.kind = CBS_NAME_ENUMERATOR, .node = n, .scope = 1, .value = cbs_tree_field(tree, n, CBS_F_VALUE)};
  for (cbs_node e = cbs_tree_at(tree, cbs_tree_at(tree, n)->parent)->child; e && e != n;
       e = cbs_tree_at(tree, e)->next) {
    cbs_node value = cbs_tree_field(tree, e, CBS_F_VALUE);
    if (value) name.type = value, name.index = 0;
    name.index++;
  }
  return id ? add_name(c, name, id) : TTM_OK;
}

static int collect_node(collector *c, cbs_node n) {
  const cbs_tree *tree = c->tree;
  switch (cbs_tree_kind(tree, n)) {
    case CBS_N_DECLARATION:
      return collect_declaration(c, n, CBS_NAME_VARIABLE);
    case CBS_N_FIELD_DECLARATION:
      return collect_declaration(c, n, CBS_NAME_MEMBER);
    case CBS_N_FOR_RANGE: {
      cbs_node id = cbs_declared_identifier(tree, cbs_tree_field(tree, n, CBS_F_DECLARATOR));
      cbs_name name = {.kind = CBS_NAME_VARIABLE, .node = n, .scope = n, .is_loop = true};
      return id ? add_name(c, name, id) : TTM_OK;
    }
    case CBS_N_FUNCTION:
      return collect_function(c, n);
    case CBS_N_LAMBDA:
      return collect_parameters(c, n);
    case CBS_N_PREPROC_DEF: {
      cbs_node id = cbs_tree_field(tree, n, CBS_F_NAME);
      cbs_name name = {.kind = CBS_NAME_MACRO, .node = n, .scope = 1, .value = cbs_tree_field(tree, n, CBS_F_VALUE)};
      return id ? add_name(c, name, id) : TTM_OK;
    }
    case CBS_N_ENUMERATOR:
      return collect_enum(c, n);
    case CBS_N_ASSIGN:
      return collect_assignment(c, n);
    case CBS_N_UPDATE: {
      cbs_node operand = cbs_tree_field(tree, n, CBS_F_ARGUMENT), op = cbs_tree_field(tree, n, CBS_F_OPERATOR);
      if (!operand || !op || cbs_tree_kind(tree, operand) != CBS_N_IDENTIFIER) return TTM_OK;
      cbs_change step = {.kind = CBS_CHANGE_STEP, .node = n, .word = cbs_tree_text(tree, op)};
      return add_change(c, step, operand);
    }
    case CBS_N_CALL:
      return collect_call(c, n);
    default:
      return TTM_OK;
  }
}

/* Changes and calls were chained newest first; readers want the order of the text. */
static void turn_chains(cbs_names *out) {
  for (size_t id = 0; id < out->heads.n / HEADS; id++) {
    uint32_t turned = NONE, at = out->heads.at[id * HEADS + HEAD_CHANGE];
    while (at != NONE) {
      uint32_t next = out->changes.at[at].next;
      out->changes.at[at].next = turned;
      turned = at;
      at = next;
    }
    out->heads.at[id * HEADS + HEAD_CHANGE] = turned;
    turned = NONE;
    at = out->heads.at[id * HEADS + HEAD_CALL];
    while (at != NONE) {
      uint32_t next = out->calls.at[at].next;
      out->calls.at[at].next = turned;
      turned = at;
      at = next;
    }
    out->heads.at[id * HEADS + HEAD_CALL] = turned;
  }
}

int cbs_names_collect(cbs_names *out, const cbs_tree *tree) {
  collector c = {out, tree};
  *out = (cbs_names){.tree = tree};
  for (cbs_node n = 1; n < tree->nodes.n; n++) {
    if (collect_node(&c, n)) return TTM_ENOMEM;
  }
  turn_chains(out);
  return TTM_OK;
}

void cbs_names_free(cbs_names *names) {
  ttm_intern_free(&names->texts);
  ttm_vec_free(&names->names);
  ttm_vec_free(&names->changes);
  ttm_vec_free(&names->calls);
  ttm_vec_free(&names->heads);
}

/* ---- Looking up --------------------------------------------------------------------------------------------------- */

static uint32_t first(const cbs_names *names, ttm_str text, int head) {
  uint32_t id = ttm_intern_find(&names->texts, text);
  size_t at = (size_t)id * HEADS + (size_t)head;
  return id && at < names->heads.n ? names->heads.at[at] : NONE;
}

const cbs_name *cbs_name_first(const cbs_names *names, ttm_str text) {
  uint32_t i = first(names, text, HEAD_NAME);
  return i == NONE ? NULL : &names->names.at[i];
}
const cbs_change *cbs_change_first(const cbs_names *names, ttm_str text) {
  uint32_t i = first(names, text, HEAD_CHANGE);
  return i == NONE ? NULL : &names->changes.at[i];
}
const cbs_call *cbs_call_first(const cbs_names *names, ttm_str text) {
  uint32_t i = first(names, text, HEAD_CALL);
  return i == NONE ? NULL : &names->calls.at[i];
}

const cbs_name *cbs_names_find(const cbs_names *names, ttm_str text, cbs_node at) {
  const cbs_tree *tree = names->tree;
  const cbs_name *best = NULL, *any = NULL;
  for (const cbs_name *name = cbs_name_first(names, text); name; name = cbs_name_next(names, name)) {
    cbs_node_kind scope = cbs_tree_kind(tree, name->scope);
    bool member = scope == CBS_N_CLASS || scope == CBS_N_STRUCT;
    if (member || name->scope == 1) {
      if (!any || any->scope != 1) any = name; /* file scope before members of classes */
      continue;
    }
    if (!cbs_tree_within(tree, at, name->scope)) continue;
    if (name->kind != CBS_NAME_PARAMETER && name->node >= at) continue; /* declared later */
    if (name->kind == CBS_NAME_VARIABLE && name->value && cbs_tree_within(tree, at, name->value) &&
        cbs_tree_kind(tree, name->value) != CBS_N_LAMBDA)
      continue; /* in `int n = n;` the right one is another */
    if (!best || name->scope > best->scope || (name->scope == best->scope && name->node > best->node)) best = name;
  }
  return best ? best : any;
}
