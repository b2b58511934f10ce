/* SPDX-License-Identifier: Apache-2.0 */
#include "cbscan/names.h"

#define NONE UINT32_MAX

/* ---- Reading the tree --------------------------------------------------------------------------------------------- */

static bool has_last_part(cbs_node_kind kind) {
  return kind == CBS_N_QUALIFIED || kind == CBS_N_TEMPLATE_FUNCTION || kind == CBS_N_TEMPLATE_METHOD ||
         kind == CBS_N_TEMPLATE_TYPE;
}

ttm_str cbs_name_last(const cbs_tree *tree, cbs_node n) {
  while (has_last_part(cbs_tree_kind(tree, n))) n = cbs_tree_field(tree, n, CBS_F_NAME);
  return cbs_tree_text(tree, n);
}

cbs_node cbs_declared_identifier(const cbs_tree *tree, cbs_node n) {
  for (;;) {
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
}

cbs_node cbs_base_identifier(const cbs_tree *tree, cbs_node n) {
  for (;;) {
    switch (cbs_tree_kind(tree, n)) {
      case CBS_N_IDENTIFIER:
        return n;
      case CBS_N_FIELD:
      case CBS_N_SUBSCRIPT:
      case CBS_N_POINTER:
        n = cbs_tree_field(tree, n, CBS_F_ARGUMENT);
        break;
      case CBS_N_PAREN:
        n = cbs_tree_child(tree, n, 0);
        break;
      case CBS_N_ARGUMENTS:
      case CBS_N_INIT_LIST:
        n = cbs_tree_children(tree, n) == 1 ? cbs_tree_child(tree, n, 0) : 0;
        break;
      case CBS_N_CALL: /* x.at(i), x.begin() */
        n = cbs_tree_field(tree, n, CBS_F_FUNCTION);
        if (cbs_tree_kind(tree, n) != CBS_N_FIELD) return 0;
        break;
      default:
        return 0;
    }
  }
}

bool cbs_is_const(const cbs_tree *tree, cbs_node declaration) {
  cbs_node declarator = cbs_tree_field(tree, declaration, CBS_F_DECLARATOR);
  ttm_str text = cbs_tree_text(tree, declaration);
  size_t before = declarator ? cbs_tree_at(tree, declarator)->start - cbs_tree_at(tree, declaration)->start : text.n;
  text = ttm_str_first(text, before);
  return cbs_text_has_word(text, TTM_LIT("const")) || cbs_text_has_word(text, TTM_LIT("constexpr"));
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

cbs_node cbs_parameters(const cbs_tree *tree, cbs_node function) {
  return cbs_tree_field(tree, function_declarator(tree, function), CBS_F_PARAMETERS);
}

ttm_str cbs_function_name(const cbs_tree *tree, cbs_node function) {
  cbs_node declarator = function_declarator(tree, function), holder = cbs_tree_at(tree, function)->parent;
  bool held = cbs_tree_kind(tree, function) == CBS_N_LAMBDA;
  if (held) declarator = cbs_tree_kind(tree, holder) == CBS_N_INIT_DECLARATOR ? holder : 0;
  return cbs_name_last(tree, cbs_declared_identifier(tree, declarator));
}

cbs_node cbs_call_argument(const cbs_tree *tree, cbs_node call, size_t i) {
  return cbs_tree_child(tree, cbs_tree_field(tree, call, CBS_F_ARGUMENTS), i);
}

size_t cbs_call_arguments(const cbs_tree *tree, cbs_node call) {
  return cbs_tree_children(tree, cbs_tree_field(tree, call, CBS_F_ARGUMENTS));
}

cbs_node cbs_list_of(const cbs_tree *tree, cbs_node n) {
  if (cbs_tree_kind(tree, n) == CBS_N_COMPOUND_LITERAL) n = cbs_tree_field(tree, n, CBS_F_VALUE);
  return cbs_tree_kind(tree, n) == CBS_N_INIT_LIST ? n : 0;
}

cbs_node cbs_member_of(const cbs_tree *tree, cbs_node list, ttm_str name) {
  for (cbs_node pair = cbs_tree_at(tree, list)->child; pair; pair = cbs_tree_at(tree, pair)->next) {
    cbs_node designator = cbs_tree_field(tree, pair, CBS_F_DESIGNATOR);
    if (!designator || cbs_tree_kind(tree, pair) != CBS_N_INIT_PAIR) continue;
    if (ttm_str_eq(ttm_str_from(cbs_tree_text(tree, designator), 1), name)) {
      return cbs_tree_field(tree, pair, CBS_F_VALUE);
    }
  }
  return 0;
}

size_t cbs_find_word(ttm_str text, ttm_str word, size_t from) {
  for (size_t at; from < text.n && (at = ttm_str_find(ttm_str_from(text, from), word)) != TTM_NOT_FOUND;
       from = at + 1) {
    at += from;
    bool starts = at == 0 || !cbs_is_word(text.p[at - 1]);
    bool ends = at + word.n >= text.n || !cbs_is_word(text.p[at + word.n]);
    if (starts && ends) return at;
  }
  return TTM_NOT_FOUND;
}

/* ---- Collecting --------------------------------------------------------------------------------------------------- */

static int intern(cbs_names *c, ttm_str text, uint32_t *id) {
  if (ttm_intern_add(&c->texts, text, id)) return TTM_ENOMEM;
  while (c->known.n <= *id) {
    if (ttm_vec_push(&c->known, (cbs_text){.name = NONE})) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int add_name(cbs_names *c, cbs_name name, cbs_node identifier) {
  name.text = cbs_name_last(c->tree, identifier);
  if (!name.text.n) return TTM_OK;
  if (intern(c, name.text, &name.id)) return TTM_ENOMEM;
  name.next = c->known.at[name.id].name;
  c->known.at[name.id].name = (uint32_t)c->names.n;
  return ttm_vec_push(&c->names, name);
}

static int add_change(cbs_names *c, cbs_change change, ttm_str text) {
  if (!text.n) return TTM_OK;
  if (intern(c, text, &change.id)) return TTM_ENOMEM;
  c->known.at[change.id].changes++;
  return ttm_vec_push(&c->changes, change);
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

static int add_alias(cbs_names *c, cbs_node n, cbs_node of) {
  cbs_change alias = {.kind = CBS_CHANGE_ALIAS, .node = n, .value = of};
  return add_change(c, alias, cbs_tree_text(c->tree, cbs_base_identifier(c->tree, of)));
}

static bool refers(cbs_node_kind kind) {
  return kind == CBS_N_REFERENCE_DECLARATOR || kind == CBS_N_POINTER_DECLARATOR;
}

static int collect_declarator(cbs_names *c, cbs_node declaration, cbs_node d, cbs_name name) {
  const cbs_tree *tree = c->tree;
  cbs_node inner = d;
  if (cbs_tree_kind(tree, d) == CBS_N_INIT_DECLARATOR) {
    name.value = cbs_tree_field(tree, d, CBS_F_VALUE);
    inner = cbs_tree_field(tree, d, CBS_F_DECLARATOR);
  }
  if (refers(cbs_tree_kind(tree, inner)) && !cbs_is_const(tree, declaration) && add_alias(c, declaration, name.value))
    return TTM_ENOMEM;
  if (cbs_tree_kind(tree, inner) == CBS_N_REFERENCE_DECLARATOR) {
    cbs_node below = cbs_tree_child(tree, inner, 0);
    if (cbs_tree_kind(tree, below) == CBS_N_STRUCTURED_BINDING) inner = below;
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
  /* `T x(a, b);` reads like a function to a grammar; inside a body it is a variable with its arguments. */
  if (cbs_tree_kind(tree, inner) == CBS_N_FUNCTION_DECLARATOR) {
    if (!cbs_function_around(tree, declaration)) return TTM_OK;
    name.value = cbs_tree_field(tree, inner, CBS_F_PARAMETERS);
  }
  return add_name(c, name, cbs_declared_identifier(tree, inner));
}

static int collect_declaration(cbs_names *c, cbs_node n, cbs_name_kind kind) {
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

static int collect_parameters(cbs_names *c, cbs_node function) {
  const cbs_tree *tree = c->tree;
  cbs_node list = cbs_parameters(tree, function);
  uint32_t index = 0;
  for (cbs_node p = cbs_tree_at(tree, list)->child; p; p = cbs_tree_at(tree, p)->next, index++) {
    cbs_node id = cbs_declared_identifier(tree, cbs_tree_field(tree, p, CBS_F_DECLARATOR));
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

static int collect_function(cbs_names *c, cbs_node n) {
  const cbs_tree *tree = c->tree;
  cbs_node id = cbs_declared_identifier(tree, function_declarator(tree, n));
  cbs_name name = {.kind = CBS_NAME_FUNCTION, .node = n, .scope = 1, .value = cbs_tree_field(tree, n, CBS_F_BODY)};
  if (add_name(c, name, id)) return TTM_ENOMEM;
  return collect_parameters(c, n);
}

/* The object a chain of fields starts from, and the text between it and the last field. */
static cbs_node field_object(const cbs_tree *tree, cbs_node field, ttm_str *path) {
  cbs_node object = cbs_tree_field(tree, field, CBS_F_ARGUMENT);
  *path = (ttm_str){"", 0};
  for (;;) {
    cbs_node_kind kind = cbs_tree_kind(tree, object);
    if (kind == CBS_N_IDENTIFIER) return object;
    if (kind == CBS_N_SUBSCRIPT || kind == CBS_N_PAREN || kind == CBS_N_POINTER) {
      object = cbs_tree_child(tree, object, 0);
    } else if (kind == CBS_N_FIELD) {
      if (!path->n) *path = cbs_tree_text(tree, cbs_tree_field(tree, object, CBS_F_FIELD));
      object = cbs_tree_field(tree, object, CBS_F_ARGUMENT);
    } else {
      return 0;
    }
  }
}

static int collect_assignment(cbs_names *c, cbs_node n) {
  const cbs_tree *tree = c->tree;
  cbs_node left = cbs_tree_field(tree, n, CBS_F_LEFT), op = cbs_tree_field(tree, n, CBS_F_OPERATOR);
  cbs_change change = {.kind = CBS_CHANGE_ASSIGN, .node = n, .value = cbs_tree_field(tree, n, CBS_F_RIGHT)};
  change.word = op ? cbs_tree_text(tree, op) : TTM_LIT("=");
  if (cbs_tree_kind(tree, left) == CBS_N_PAREN || cbs_tree_kind(tree, left) == CBS_N_CALL)
    return add_alias(c, n, left); /* (x) = 1, x.at(0) = 1 */
  if (cbs_tree_kind(tree, left) == CBS_N_FIELD) {
    if (!ttm_str_eq(change.word, TTM_LIT("="))) change.value = 0; /* += and its like: not known */
    change.kind = CBS_CHANGE_FIELD;
    change.word = cbs_tree_text(tree, cbs_tree_field(tree, left, CBS_F_FIELD));
    return add_change(c, change, cbs_tree_text(tree, field_object(tree, left, &change.path)));
  }
  if (cbs_tree_kind(tree, left) == CBS_N_SUBSCRIPT) {
    change.kind = CBS_CHANGE_ITEM;
    left = cbs_tree_field(tree, left, CBS_F_ARGUMENT);
  }
  return cbs_tree_kind(tree, left) == CBS_N_IDENTIFIER ? add_change(c, change, cbs_tree_text(tree, left)) : TTM_OK;
}

static int collect_passed(cbs_names *c, cbs_node call) {
  const cbs_tree *tree = c->tree;
  cbs_node list = cbs_tree_field(tree, call, CBS_F_ARGUMENTS);
  for (cbs_node a = cbs_tree_at(tree, list)->child; a; a = cbs_tree_at(tree, a)->next) {
    cbs_change passed = {.kind = CBS_CHANGE_PASSED, .node = call, .value = a};
    bool names = cbs_tree_kind(tree, a) == CBS_N_IDENTIFIER || cbs_tree_kind(tree, a) == CBS_N_CALL;
    if (names && add_change(c, passed, cbs_tree_text(tree, cbs_base_identifier(tree, a)))) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* x++, x.a++, x[i]++. */
static int collect_update(cbs_names *c, cbs_node n) {
  const cbs_tree *tree = c->tree;
  cbs_node operand = cbs_tree_field(tree, n, CBS_F_ARGUMENT), op = cbs_tree_field(tree, n, CBS_F_OPERATOR);
  cbs_change step = {.kind = CBS_CHANGE_STEP, .node = n, .word = cbs_tree_text(tree, op)};
  if (cbs_tree_kind(tree, operand) != CBS_N_IDENTIFIER) return add_alias(c, n, operand);
  return add_change(c, step, cbs_tree_text(tree, operand));
}

enum { MOST_CHANGES = 1 << 20 }; /* of one source: each of 60,000 words may be a macro of as many */

/* A macro of the file that stands as a statement may write to whatever its text names. */
static int collect_macro(cbs_names *c, cbs_node statement, ttm_str macro) {
  for (const cbs_name *name = NULL; (name = cbs_next_name(c, macro, name));) {
    ttm_str text = name->kind == CBS_NAME_MACRO ? cbs_tree_text(c->tree, name->value) : (ttm_str){0};
    while (text.n) {
      size_t n = 0;
      if (c->changes.n >= MOST_CHANGES) return TTM_EFORMAT;
      while (n < text.n && cbs_is_word(text.p[n])) n++;
      cbs_change alias = {.kind = CBS_CHANGE_ALIAS, .node = statement};
      if (n && !ttm_is_digit(text.p[0]) && add_change(c, alias, ttm_str_first(text, n))) return TTM_ENOMEM;
      text = ttm_str_from(text, n ? n : 1);
    }
  }
  return TTM_OK;
}

static int collect_statement(cbs_names *c, cbs_node n) {
  cbs_node inner = cbs_tree_child(c->tree, n, 0);
  if (cbs_tree_kind(c->tree, inner) == CBS_N_CALL) inner = cbs_tree_field(c->tree, inner, CBS_F_FUNCTION);
  return cbs_tree_kind(c->tree, inner) == CBS_N_IDENTIFIER ? collect_macro(c, n, cbs_tree_text(c->tree, inner))
                                                           : TTM_OK;
}

static int collect_call(cbs_names *c, cbs_node n) {
  const cbs_tree *tree = c->tree;
  cbs_node function = cbs_tree_field(tree, n, CBS_F_FUNCTION);
  cbs_change change = {.kind = CBS_CHANGE_CALL, .node = n, .value = cbs_tree_field(tree, n, CBS_F_ARGUMENTS)};
  ttm_str text = cbs_name_last(tree, function);
  if (collect_passed(c, n)) return TTM_ENOMEM;
  if (cbs_tree_kind(tree, function) == CBS_N_FIELD) {
    change.kind = CBS_CHANGE_METHOD;
    change.word = cbs_name_last(tree, cbs_tree_field(tree, function, CBS_F_FIELD));
    text = cbs_tree_text(tree, field_object(tree, function, &change.path));
  }
  return text.n <= 200 ? add_change(c, change, text) : TTM_OK;
}

/* Without a value of its own an enumerator counts on from the last one that has one: `type` is that value, `index` the distance. */
static int collect_enum(cbs_names *c, cbs_node n) {
  const cbs_tree *tree = c->tree;
  cbs_node id = cbs_tree_field(tree, n, CBS_F_NAME);
  cbs_name name = {.kind = CBS_NAME_ENUMERATOR, .node = n, .scope = 1, .value = cbs_tree_field(tree, n, CBS_F_VALUE)};
  const cbs_name *before = c->names.n ? &c->names.at[c->names.n - 1] : NULL; /* most often the one in front of it */
  if (before && before->kind == CBS_NAME_ENUMERATOR && cbs_tree_at(tree, before->node)->next == n) {
    name.type = before->value ? before->value : before->type;
    name.index = before->value ? 1 : before->index + 1;
    return add_name(c, name, id);
  }
  for (cbs_node e = cbs_tree_at(tree, cbs_tree_at(tree, n)->parent)->child; e && e != n;
       e = cbs_tree_at(tree, e)->next) {
    cbs_node value = cbs_tree_field(tree, e, CBS_F_VALUE);
    if (value) name.type = value, name.index = 0;
    name.index++;
  }
  return add_name(c, name, id);
}

static int collect_node(cbs_names *c, cbs_node n) {
  const cbs_tree *tree = c->tree;
  switch (cbs_tree_kind(tree, n)) {
    case CBS_N_DECLARATION:
      return collect_declaration(c, n, CBS_NAME_VARIABLE);
    case CBS_N_FIELD_DECLARATION:
      return collect_declaration(c, n, CBS_NAME_MEMBER);
    case CBS_N_FOR_RANGE: {
      cbs_node id = cbs_declared_identifier(tree, cbs_tree_field(tree, n, CBS_F_DECLARATOR));
      cbs_name name = {.kind = CBS_NAME_VARIABLE, .node = n, .scope = n, .is_loop = true};
      if (refers(cbs_tree_kind(tree, cbs_tree_field(tree, n, CBS_F_DECLARATOR))) && !cbs_is_const(tree, n) &&
          add_alias(c, n, cbs_tree_field(tree, n, CBS_F_RIGHT)))
        return TTM_ENOMEM;
      return add_name(c, name, id);
    }
    case CBS_N_FUNCTION:
      return collect_function(c, n);
    case CBS_N_LAMBDA:
      return collect_parameters(c, n);
    case CBS_N_PREPROC_FUNCTION:
    case CBS_N_PREPROC_DEF: {
      cbs_node id = cbs_tree_field(tree, n, CBS_F_NAME);
      cbs_name name = {.kind = CBS_NAME_MACRO, .node = n, .scope = 1, .value = cbs_tree_field(tree, n, CBS_F_VALUE)};
      return add_name(c, name, id);
    }
    case CBS_N_ENUMERATOR:
      return collect_enum(c, n);
    case CBS_N_ASSIGN:
      return collect_assignment(c, n);
    case CBS_N_UPDATE:
      return collect_update(c, n);
    case CBS_N_POINTER:
      return ttm_str_eq(cbs_tree_text(tree, cbs_tree_field(tree, n, CBS_F_OPERATOR)), TTM_LIT("&")) ? add_alias(c, n, n)
                                                                                                    : TTM_OK;
    case CBS_N_STATEMENT:
      return collect_statement(c, n);
    case CBS_N_CALL:
      return collect_call(c, n);
    default:
      return TTM_OK;
  }
}

/* Puts the changes of each name together; they stay in the order of the text. */
static int sort_changes(cbs_names *c) {
  cbs_change *sorted = ttm_alloc_array(c->changes.n, sizeof *sorted);
  uint32_t at = 0;
  if (!sorted) return TTM_ENOMEM;
  for (size_t id = 0; id < c->known.n; id++) {
    cbs_text *known = &c->known.at[id];
    uint32_t n = known->changes;
    known->changes = known->behind = at;
    at += n;
  }
  for (size_t i = 0; i < c->changes.n; i++) sorted[c->known.at[c->changes.at[i].id].behind++] = c->changes.at[i];
  ttm_free(c->changes.at);
  c->changes.at = sorted;
  c->changes.cap = c->changes.n;
  return TTM_OK;
}

int cbs_names_collect(cbs_names *out, const cbs_tree *tree) {
  *out = (cbs_names){.tree = tree};
  for (cbs_node n = 1; n < tree->nodes.n; n++) {
    int status = collect_node(out, n);
    if (status) return status;
  }
  return sort_changes(out);
}

void cbs_names_free(cbs_names *names) {
  ttm_intern_free(&names->texts);
  ttm_vec_free(&names->names);
  ttm_vec_free(&names->changes);
  ttm_vec_free(&names->known);
}

/* ---- Looking up --------------------------------------------------------------------------------------------------- */

const cbs_name *cbs_next_name(const cbs_names *names, ttm_str text, const cbs_name *at) {
  uint32_t id = at ? 0 : ttm_intern_find(&names->texts, text);
  uint32_t next = at ? at->next : id ? names->known.at[id].name : NONE;
  return next == NONE ? NULL : &names->names.at[next];
}

/* What a change is to those who look for it. */
typedef enum { CHANGES, CALLS, ESCAPES } change_class;

static change_class class_of(const cbs_change *change) {
  return change->kind == CBS_CHANGE_CALL ? CALLS : change->kind > CBS_CHANGE_CALL ? ESCAPES : CHANGES;
}

/* Of the changes of a text from `at` on, and before node `end`, the first of its class; NULL. */
static const cbs_change *change_from(const cbs_names *names, uint32_t id, uint32_t at, cbs_node end,
                                     change_class class) {
  for (; at < names->known.at[id].behind && names->changes.at[at].node < end; at++)
    if (class_of(&names->changes.at[at]) == class) return &names->changes.at[at];
  return NULL;
}

static uint32_t index_of(const cbs_names *names, const cbs_change *change) {
  return (uint32_t)(change - names->changes.at);
}

const cbs_change *cbs_next_call(const cbs_names *names, ttm_str function, const cbs_change *at) {
  uint32_t id = at ? at->id : ttm_intern_find(&names->texts, function);
  if (!id) return NULL;
  return change_from(names, id, at ? index_of(names, at) + 1 : names->known.at[id].changes, UINT32_MAX, CALLS);
}

/* The first change of the text at node `n` or behind it. */
static uint32_t first_from(const cbs_names *names, uint32_t id, cbs_node n) {
  uint32_t low = names->known.at[id].changes, high = names->known.at[id].behind;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (names->changes.at[middle].node < n)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Of those in `n` that stand in the variable's scope and not before its declaration. */
static const cbs_change *next_within(const cbs_names *names, const cbs_name *name, cbs_node n, const cbs_change *at,
                                     change_class class) {
  const cbs_tree *tree = names->tree;
  cbs_node from = n > name->node ? n : name->node, end = cbs_tree_at(tree, n)->after;
  if (from < name->scope) from = name->scope;
  if (end > cbs_tree_at(tree, name->scope)->after) end = cbs_tree_at(tree, name->scope)->after;
  uint32_t first = at ? index_of(names, at) + 1 : first_from(names, name->id, from);
  return change_from(names, name->id, first, end, class);
}

const cbs_change *cbs_next_change(const cbs_names *names, const cbs_name *name, const cbs_change *at) {
  return next_within(names, name, name->scope, at, CHANGES);
}

const cbs_change *cbs_next_escape(const cbs_names *names, const cbs_name *name, const cbs_change *at) {
  return next_within(names, name, name->scope, at, ESCAPES);
}

const cbs_change *cbs_next_change_in(const cbs_names *names, const cbs_name *name, cbs_node n, const cbs_change *at) {
  return next_within(names, name, n, at, CHANGES);
}

const cbs_change *cbs_next_escape_in(const cbs_names *names, const cbs_name *name, cbs_node n, const cbs_change *at) {
  return next_within(names, name, n, at, ESCAPES);
}

const cbs_name *cbs_names_find(const cbs_names *names, ttm_str text, cbs_node at) {
  const cbs_tree *tree = names->tree;
  const cbs_name *best = NULL, *any = NULL;
  for (const cbs_name *name = NULL; (name = cbs_next_name(names, text, name));) {
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

const cbs_name *cbs_name_of(const cbs_names *names, cbs_node n) {
  bool identifier = cbs_tree_kind(names->tree, n) == CBS_N_IDENTIFIER;
  return identifier ? cbs_names_find(names, cbs_tree_text(names->tree, n), n) : NULL;
}
