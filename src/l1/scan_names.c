/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/scan_names.h"

#define NONE UINT32_MAX
enum { HEAD_NAME, HEAD_CHANGE, HEAD_CALL, HEADS };

/* ---- Reading the tree --------------------------------------------------------------------------------------------- */

ttm_str ttm_name_last(const ttm_tree *tree, ttm_node n) {
  for (;;) {
    switch (ttm_tree_kind(tree, n)) {
      case TTM_N_QUALIFIED:
      case TTM_N_TEMPLATE_FUNCTION:
      case TTM_N_TEMPLATE_METHOD:
      case TTM_N_TEMPLATE_TYPE: {
        ttm_node name = ttm_tree_field(tree, n, TTM_F_NAME);
        if (!name) return (ttm_str){"", 0};
        n = name;
        break;
      }
      default:
        return ttm_tree_text(tree, n);
    }
  }
}

ttm_node ttm_declared_identifier(const ttm_tree *tree, ttm_node n) {
  while (n) {
    switch (ttm_tree_kind(tree, n)) {
      case TTM_N_IDENTIFIER:
      case TTM_N_FIELD_IDENTIFIER:
      case TTM_N_QUALIFIED:
        return n;
      case TTM_N_INIT_DECLARATOR:
      case TTM_N_ARRAY_DECLARATOR:
      case TTM_N_FUNCTION_DECLARATOR:
      case TTM_N_POINTER_DECLARATOR:
        n = ttm_tree_field(tree, n, TTM_F_DECLARATOR);
        break;
      case TTM_N_REFERENCE_DECLARATOR:
        n = ttm_tree_child(tree, n, 0);
        break;
      default:
        return 0;
    }
  }
  return 0;
}

ttm_node ttm_function_around(const ttm_tree *tree, ttm_node n) {
  for (n = ttm_tree_at(tree, n)->parent; n; n = ttm_tree_at(tree, n)->parent) {
    ttm_node_kind kind = ttm_tree_kind(tree, n);
    if (kind == TTM_N_FUNCTION || kind == TTM_N_LAMBDA) return n;
  }
  return 0;
}

ttm_node ttm_function_outermost(const ttm_tree *tree, ttm_node n) {
  ttm_node found = 0;
  for (; n; n = ttm_tree_at(tree, n)->parent) {
    if (ttm_tree_kind(tree, n) == TTM_N_FUNCTION) found = n;
  }
  return found;
}

static ttm_node function_declarator(const ttm_tree *tree, ttm_node function) {
  ttm_node d = ttm_tree_field(tree, function, TTM_F_DECLARATOR);
  while (d) {
    ttm_node_kind kind = ttm_tree_kind(tree, d);
    if (kind == TTM_N_FUNCTION_DECLARATOR || kind == TTM_N_ABSTRACT_FUNCTION) return d;
    d = kind == TTM_N_REFERENCE_DECLARATOR ? ttm_tree_child(tree, d, 0) : ttm_tree_field(tree, d, TTM_F_DECLARATOR);
  }
  return 0;
}

ttm_str ttm_function_name(const ttm_tree *tree, ttm_node function) {
  if (!function) return (ttm_str){"", 0};
  if (ttm_tree_kind(tree, function) == TTM_N_LAMBDA) {
    ttm_node holder = ttm_tree_at(tree, function)->parent;
    if (ttm_tree_kind(tree, holder) != TTM_N_INIT_DECLARATOR) return (ttm_str){"", 0};
    ttm_node id = ttm_declared_identifier(tree, holder);
    return id ? ttm_tree_text(tree, id) : (ttm_str){"", 0};
  }
  ttm_node id = ttm_declared_identifier(tree, function_declarator(tree, function));
  return id ? ttm_name_last(tree, id) : (ttm_str){"", 0};
}

ttm_node ttm_call_argument(const ttm_tree *tree, ttm_node call, size_t i) {
  ttm_node list = ttm_tree_field(tree, call, TTM_F_ARGUMENTS);
  return list ? ttm_tree_child(tree, list, i) : 0;
}

size_t ttm_call_arguments(const ttm_tree *tree, ttm_node call) {
  ttm_node list = ttm_tree_field(tree, call, TTM_F_ARGUMENTS);
  return list ? ttm_tree_children(tree, list) : 0;
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool ttm_text_has_word(ttm_str text, ttm_str word) {
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
  ttm_names *out;
  const ttm_tree *tree;
} collector;

static int intern(collector *c, ttm_str text, uint32_t *id) {
  ttm_names *out = c->out;
  if (ttm_intern_add(&out->texts, text, id)) return TTM_ENOMEM;
  size_t need = ((size_t)*id + 1) * HEADS;
  if (need > out->heads.n) {
    if (ttm_vec_reserve(&out->heads, need - out->heads.n)) return TTM_ENOMEM;
    while (out->heads.n < need) out->heads.at[out->heads.n++] = NONE;
  }
  return TTM_OK;
}

static int add_name(collector *c, ttm_name name, ttm_node identifier) {
  ttm_str text = ttm_name_last(c->tree, identifier);
  if (!text.n) return TTM_OK;
  if (intern(c, text, &name.id)) return TTM_ENOMEM;
  name.text = text;
  uint32_t *head = &c->out->heads.at[name.id * HEADS + HEAD_NAME];
  name.next = *head;
  *head = (uint32_t)c->out->names.n;
  return ttm_vec_push(&c->out->names, name);
}

static int add_change(collector *c, ttm_change change, ttm_node identifier) {
  if (intern(c, ttm_tree_text(c->tree, identifier), &change.id)) return TTM_ENOMEM;
  uint32_t *head = &c->out->heads.at[change.id * HEADS + HEAD_CHANGE];
  change.next = *head;
  *head = (uint32_t)c->out->changes.n;
  return ttm_vec_push(&c->out->changes, change);
}

/* The node below which a declaration at `n` is visible. */
static ttm_node scope_of(const ttm_tree *tree, ttm_node n) {
  for (n = ttm_tree_at(tree, n)->parent; n; n = ttm_tree_at(tree, n)->parent) {
    switch (ttm_tree_kind(tree, n)) {
      case TTM_N_BLOCK:
      case TTM_N_FUNCTION:
      case TTM_N_LAMBDA:
      case TTM_N_FOR:
      case TTM_N_FOR_RANGE:
      case TTM_N_IF:
      case TTM_N_WHILE:
      case TTM_N_SWITCH:
      case TTM_N_CLASS:
      case TTM_N_STRUCT:
      case TTM_N_CATCH:
      case TTM_N_ROOT:
        return n;
      default:
        break;
    }
  }
  return 1;
}

static int collect_declarator(collector *c, ttm_node declaration, ttm_node d, ttm_name name) {
  const ttm_tree *tree = c->tree;
  ttm_node inner = d;
  if (ttm_tree_kind(tree, d) == TTM_N_INIT_DECLARATOR) {
    name.value = ttm_tree_field(tree, d, TTM_F_VALUE);
    inner = ttm_tree_field(tree, d, TTM_F_DECLARATOR);
  }
  if (ttm_tree_kind(tree, inner) == TTM_N_REFERENCE_DECLARATOR) {
    ttm_node below = ttm_tree_child(tree, inner, 0);
    if (below && ttm_tree_kind(tree, below) == TTM_N_STRUCTURED_BINDING) inner = below;
  }
  if (ttm_tree_kind(tree, inner) == TTM_N_STRUCTURED_BINDING) {
    name.kind = TTM_NAME_BINDING;
    for (ttm_node b = ttm_tree_at(tree, inner)->child; b; b = ttm_tree_at(tree, b)->next) {
      if (ttm_tree_kind(tree, b) != TTM_N_IDENTIFIER) continue;
      if (add_name(c, name, b)) return TTM_ENOMEM;
      name.index++;
    }
    return TTM_OK;
  }
  ttm_node id = ttm_declared_identifier(tree, inner);
  if (!id) return TTM_OK;
  /* `T x(a, b);` reads like a function to a grammar; inside a body it is a variable with its arguments. */
  if (ttm_tree_kind(tree, inner) == TTM_N_FUNCTION_DECLARATOR) {
    if (!ttm_function_around(tree, declaration)) return TTM_OK;
    name.value = ttm_tree_field(tree, inner, TTM_F_PARAMETERS);
  }
  return add_name(c, name, id);
}

static int collect_declaration(collector *c, ttm_node n, ttm_name_kind kind) {
  const ttm_tree *tree = c->tree;
  ttm_name name = {.kind = kind,
                   .node = n,
                   .scope = scope_of(tree, n),
                   .type = ttm_tree_field(tree, n, TTM_F_TYPE),
                   .value = ttm_tree_field(tree, n, TTM_F_DEFAULT_VALUE)};
  name.is_loop = ttm_tree_kind(tree, ttm_tree_at(tree, n)->parent) == TTM_N_FOR;
  /* if (auto x = f()): the value stands beside the declarator. */
  if (!name.value) name.value = ttm_tree_field(tree, n, TTM_F_VALUE);
  for (ttm_node d = ttm_tree_at(tree, n)->child; d; d = ttm_tree_at(tree, d)->next) {
    if (ttm_tree_at(tree, d)->field != TTM_F_DECLARATOR) continue;
    if (collect_declarator(c, n, d, name)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int collect_parameters(collector *c, ttm_node function) {
  const ttm_tree *tree = c->tree;
  ttm_node declarator = function_declarator(tree, function);
  ttm_node list = declarator ? ttm_tree_field(tree, declarator, TTM_F_PARAMETERS) : 0;
  uint32_t index = 0;
  if (!list) return TTM_OK;
  for (ttm_node p = ttm_tree_at(tree, list)->child; p; p = ttm_tree_at(tree, p)->next, index++) {
    ttm_node id = ttm_declared_identifier(tree, ttm_tree_field(tree, p, TTM_F_DECLARATOR));
    if (!id) continue;
    ttm_name name = {.kind = TTM_NAME_PARAMETER,
                     .node = p,
                     .scope = function,
                     .type = ttm_tree_field(tree, p, TTM_F_TYPE),
                     .value = ttm_tree_field(tree, p, TTM_F_DEFAULT_VALUE),
                     .index = index};
    if (add_name(c, name, id)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int collect_function(collector *c, ttm_node n) {
  const ttm_tree *tree = c->tree;
  ttm_node id = ttm_declared_identifier(tree, function_declarator(tree, n));
  ttm_name name = {.kind = TTM_NAME_FUNCTION, .node = n, .scope = 1, .value = ttm_tree_field(tree, n, TTM_F_BODY)};
  if (id && add_name(c, name, id)) return TTM_ENOMEM;
  return collect_parameters(c, n);
}

/* The object a chain of fields starts from, and the text between it and the last field. */
static ttm_node field_object(const ttm_tree *tree, ttm_node field, ttm_str *path) {
  ttm_node object = ttm_tree_field(tree, field, TTM_F_ARGUMENT);
  *path = (ttm_str){"", 0};
  for (;;) {
    ttm_node_kind kind = object ? ttm_tree_kind(tree, object) : TTM_N_OTHER;
    if (kind == TTM_N_IDENTIFIER) return object;
    if (kind == TTM_N_SUBSCRIPT || kind == TTM_N_PAREN || kind == TTM_N_POINTER) {
      object = ttm_tree_child(tree, object, 0);
    } else if (kind == TTM_N_FIELD) {
      ttm_node name = ttm_tree_field(tree, object, TTM_F_FIELD);
      if (name && !path->n) *path = ttm_tree_text(tree, name);
      object = ttm_tree_field(tree, object, TTM_F_ARGUMENT);
    } else {
      return 0;
    }
  }
}

static int collect_assignment(collector *c, ttm_node n) {
  const ttm_tree *tree = c->tree;
  ttm_node left = ttm_tree_field(tree, n, TTM_F_LEFT), op = ttm_tree_field(tree, n, TTM_F_OPERATOR);
  ttm_change change = {.kind = TTM_CHANGE_ASSIGN, .node = n, .value = ttm_tree_field(tree, n, TTM_F_RIGHT)};
  change.word = op ? ttm_tree_text(tree, op) : TTM_LIT("=");
  if (!left) return TTM_OK;
  if (ttm_tree_kind(tree, left) == TTM_N_FIELD) {
    ttm_node object = field_object(tree, left, &change.path), name = ttm_tree_field(tree, left, TTM_F_FIELD);
    if (!object || !name) return TTM_OK;
    change.kind = TTM_CHANGE_FIELD;
    change.word = ttm_tree_text(tree, name);
    return add_change(c, change, object);
  }
  if (ttm_tree_kind(tree, left) == TTM_N_SUBSCRIPT) {
    change.kind = TTM_CHANGE_ITEM;
    left = ttm_tree_field(tree, left, TTM_F_ARGUMENT);
  }
  return left && ttm_tree_kind(tree, left) == TTM_N_IDENTIFIER ? add_change(c, change, left) : TTM_OK;
}

static int collect_call(collector *c, ttm_node n) {
  const ttm_tree *tree = c->tree;
  ttm_node function = ttm_tree_field(tree, n, TTM_F_FUNCTION);
  if (!function) return TTM_OK;
  if (ttm_tree_kind(tree, function) == TTM_N_FIELD) {
    ttm_node name = ttm_tree_field(tree, function, TTM_F_FIELD);
    ttm_change change = {.kind = TTM_CHANGE_METHOD, .node = n, .value = ttm_tree_field(tree, n, TTM_F_ARGUMENTS)};
    ttm_node object = field_object(tree, function, &change.path);
    if (!object || !name) return TTM_OK;
    change.word = ttm_name_last(tree, name);
    return add_change(c, change, object);
  }
  ttm_str text = ttm_name_last(tree, function);
  cbs_call call = {.node = n};
  if (!text.n || text.n > 200) return TTM_OK;
  if (intern(c, text, &call.id)) return TTM_ENOMEM;
  uint32_t *head = &c->out->heads.at[call.id * HEADS + HEAD_CALL];
  call.next = *head;
  *head = (uint32_t)c->out->calls.n;
  return ttm_vec_push(&c->out->calls, call);
}

/* Without a value of its own an enumerator counts on from the last one that has one: `type` is that value, `index` the distance. */
static int collect_enum(collector *c, ttm_node n) {
  const ttm_tree *tree = c->tree;
  ttm_node id = ttm_tree_field(tree, n, TTM_F_NAME);
  ttm_name name = {.kind = TTM_NAME_ENUMERATOR, .node = n, .scope = 1, .value = ttm_tree_field(tree, n, TTM_F_VALUE)};
  for (ttm_node e = ttm_tree_at(tree, ttm_tree_at(tree, n)->parent)->child; e && e != n;
       e = ttm_tree_at(tree, e)->next) {
    ttm_node value = ttm_tree_field(tree, e, TTM_F_VALUE);
    if (value) name.type = value, name.index = 0;
    name.index++;
  }
  return id ? add_name(c, name, id) : TTM_OK;
}

static int collect_node(collector *c, ttm_node n) {
  const ttm_tree *tree = c->tree;
  switch (ttm_tree_kind(tree, n)) {
    case TTM_N_DECLARATION:
      return collect_declaration(c, n, TTM_NAME_VARIABLE);
    case TTM_N_FIELD_DECLARATION:
      return collect_declaration(c, n, TTM_NAME_MEMBER);
    case TTM_N_FOR_RANGE: {
      ttm_node id = ttm_declared_identifier(tree, ttm_tree_field(tree, n, TTM_F_DECLARATOR));
      ttm_name name = {.kind = TTM_NAME_VARIABLE, .node = n, .scope = n, .is_loop = true};
      return id ? add_name(c, name, id) : TTM_OK;
    }
    case TTM_N_FUNCTION:
      return collect_function(c, n);
    case TTM_N_LAMBDA:
      return collect_parameters(c, n);
    case TTM_N_PREPROC_DEF: {
      ttm_node id = ttm_tree_field(tree, n, TTM_F_NAME);
      ttm_name name = {.kind = TTM_NAME_MACRO, .node = n, .scope = 1, .value = ttm_tree_field(tree, n, TTM_F_VALUE)};
      return id ? add_name(c, name, id) : TTM_OK;
    }
    case TTM_N_ENUMERATOR:
      return collect_enum(c, n);
    case TTM_N_ASSIGN:
      return collect_assignment(c, n);
    case TTM_N_UPDATE: {
      ttm_node operand = ttm_tree_field(tree, n, TTM_F_ARGUMENT), op = ttm_tree_field(tree, n, TTM_F_OPERATOR);
      if (!operand || !op || ttm_tree_kind(tree, operand) != TTM_N_IDENTIFIER) return TTM_OK;
      ttm_change step = {.kind = TTM_CHANGE_STEP, .node = n, .word = ttm_tree_text(tree, op)};
      return add_change(c, step, operand);
    }
    case TTM_N_CALL:
      return collect_call(c, n);
    default:
      return TTM_OK;
  }
}

/* Changes and calls were chained newest first; readers want the order of the text. */
static void turn_chains(ttm_names *out) {
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

int ttm_names_collect(ttm_names *out, const ttm_tree *tree) {
  collector c = {out, tree};
  *out = (ttm_names){.tree = tree};
  for (ttm_node n = 1; n < tree->nodes.n; n++) {
    if (collect_node(&c, n)) return TTM_ENOMEM;
  }
  turn_chains(out);
  return TTM_OK;
}

void ttm_names_free(ttm_names *names) {
  ttm_intern_free(&names->texts);
  ttm_vec_free(&names->names);
  ttm_vec_free(&names->changes);
  ttm_vec_free(&names->calls);
  ttm_vec_free(&names->heads);
}

/* ---- Looking up --------------------------------------------------------------------------------------------------- */

static uint32_t first(const ttm_names *names, ttm_str text, int head) {
  uint32_t id = ttm_intern_find(&names->texts, text);
  size_t at = (size_t)id * HEADS + (size_t)head;
  return id && at < names->heads.n ? names->heads.at[at] : NONE;
}

uint32_t ttm_names_first(const ttm_names *names, ttm_str text) { return first(names, text, HEAD_NAME); }
uint32_t ttm_changes_first(const ttm_names *names, ttm_str text) { return first(names, text, HEAD_CHANGE); }
uint32_t ttm_calls_first(const ttm_names *names, ttm_str text) { return first(names, text, HEAD_CALL); }

const ttm_name *ttm_names_find(const ttm_names *names, ttm_str text, ttm_node at) {
  const ttm_tree *tree = names->tree;
  const ttm_name *best = NULL, *any = NULL;
  for (uint32_t i = ttm_names_first(names, text); i != NONE; i = names->names.at[i].next) {
    const ttm_name *name = &names->names.at[i];
    ttm_node_kind scope = ttm_tree_kind(tree, name->scope);
    bool member = scope == TTM_N_CLASS || scope == TTM_N_STRUCT;
    if (member || name->scope == 1) {
      if (!any || any->scope != 1) any = name; /* file scope before members of classes */
      continue;
    }
    if (!ttm_tree_within(tree, at, name->scope)) continue;
    if (name->kind != TTM_NAME_PARAMETER && name->node >= at) continue; /* declared later */
    if (name->kind == TTM_NAME_VARIABLE && name->value && ttm_tree_within(tree, at, name->value) &&
        ttm_tree_kind(tree, name->value) != TTM_N_LAMBDA)
      continue; /* in `int n = n;` the right one is another */
    if (!best || name->scope > best->scope || (name->scope == best->scope && name->node > best->node)) best = name;
  }
  return best ? best : any;
}
