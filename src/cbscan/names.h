/* SPDX-License-Identifier: Apache-2.0 */
/* The names of one source: where each is declared, changed and called. Found in one pass over the tree. */
#ifndef CBS_NAMES_H
#define CBS_NAMES_H

#include "base/intern.h"
#include "cbscan/tree.h"
#include "cbscan/value.h"

typedef enum cbs_name_kind {
  CBS_NAME_VARIABLE,
  CBS_NAME_PARAMETER,
  CBS_NAME_BINDING, /* one of auto [a, b] = ... */
  CBS_NAME_FUNCTION,
  CBS_NAME_MACRO,
  CBS_NAME_ENUMERATOR,
  CBS_NAME_MEMBER, /* of a class, with its default */
} cbs_name_kind;

/* A declaration. */
typedef struct cbs_name {
  cbs_name_kind kind;
  uint32_t id;    /* of the text */
  ttm_str text;   /* in the source */
  cbs_node node;  /* what declares it */
  cbs_node scope; /* visible below this node */
  cbs_node value; /* initialiser, default value or function body; 0 for none */
  cbs_node type;  /* 0 when there is none */
  uint32_t index; /* number among the parameters or bindings; distance of an enumerator */
  uint32_t next;  /* next declaration of the same name, UINT32_MAX at the end; newest first */
  bool is_loop;   /* the variable of a loop */
} cbs_name;

/* Something done to a name, or with it. */
typedef enum cbs_change_kind {
  CBS_CHANGE_ASSIGN, /* x = value, x *= value: node is the expression */
  CBS_CHANGE_STEP,   /* x++ */
  CBS_CHANGE_FIELD,  /* x.field = value, also x.a.b = value with field "b" */
  CBS_CHANGE_METHOD, /* x.method(...), also x.a.method(...) */
  CBS_CHANGE_ITEM,   /* x[i] = value */
  CBS_CHANGE_CALL,   /* x(...), also of a qualified name that ends in x */
  CBS_CHANGE_ALIAS, /* &x, T& r = x: from here on it may change under another name; node is the expression or declaration */
  CBS_CHANGE_PASSED, /* f(x): node is the call, value the argument */
} cbs_change_kind;

typedef struct cbs_change {
  cbs_change_kind kind;
  cbs_node node;  /* assignment, update or call */
  cbs_node value; /* right side or argument list */
  ttm_str word;   /* operator, field or method */
  ttm_str path;   /* for x.a.method: "a"; else empty */
  uint32_t id;    /* of the text of the name */
} cbs_change;

/* What is known of a text. */
typedef struct cbs_text {
  uint32_t name;            /* UINT32_MAX for none */
  uint32_t changes, behind; /* its changes, and where they end */
} cbs_text;

typedef struct cbs_names {
  const cbs_tree *tree;
  ttm_intern texts;
  TTM_VEC(cbs_name) names;
  TTM_VEC(cbs_change) changes; /* those of a name together, in the order of the text */
  TTM_VEC(cbs_text) known;     /* by id of the text */
} cbs_names;

/* 0, TTM_ENOMEM, or TTM_EFORMAT for a source whose macros stand for more than it could say; freed in any case with cbs_names_free. */
int cbs_names_collect(cbs_names *out, const cbs_tree *tree);
void cbs_names_free(cbs_names *names);

/* Each gives what follows `at`, the first for NULL; NULL at the end. */
const cbs_name *cbs_next_name(const cbs_names *names, ttm_str text, const cbs_name *at);
/* The calls of functions of that name, in the order of the text. */
const cbs_change *cbs_next_call(const cbs_names *names, ttm_str function, const cbs_change *at);
/* What happens to a variable in its scope behind its declaration, in the order of the text. */
const cbs_change *cbs_next_change(const cbs_names *names, const cbs_name *name, const cbs_change *at);

/* Where it may be written to under another name, likewise. */
const cbs_change *cbs_next_escape(const cbs_names *names, const cbs_name *name, const cbs_change *at);

/* The same, of those in `n` only: they are sought, the others are not walked through. */
const cbs_change *cbs_next_change_in(const cbs_names *names, const cbs_name *name, cbs_node n, const cbs_change *at);
const cbs_change *cbs_next_escape_in(const cbs_names *names, const cbs_name *name, cbs_node n, const cbs_change *at);

/* True for `const` and `constexpr` declarations and parameters. */
bool cbs_is_const(const cbs_tree *tree, cbs_node declaration);

/* The declaration a use at node `at` means, NULL when the file has none. */
const cbs_name *cbs_names_find(const cbs_names *names, ttm_str text, cbs_node at);
/* The declaration an identifier means; NULL also for any other node. */
const cbs_name *cbs_name_of(const cbs_names *names, cbs_node identifier);

/* Last part of a possibly qualified or templated name: tt::CBIndex::c_0 -> c_0, std::min<int> -> min. */
ttm_str cbs_name_last(const cbs_tree *tree, cbs_node n);
/* The identifier a declarator declares (through pointers, references, arrays), 0 when there is none. */
cbs_node cbs_declared_identifier(const cbs_tree *tree, cbs_node declarator);
/* The variable that x, (x), x.a.b, x[i] and *x are about; 0. */
cbs_node cbs_base_identifier(const cbs_tree *tree, cbs_node n);
/* The function or lambda around a node, 0 at file scope. */
cbs_node cbs_function_around(const cbs_tree *tree, cbs_node n);
/* The outermost function around a node: lambdas belong to the function that holds them. */
cbs_node cbs_function_outermost(const cbs_tree *tree, cbs_node n);
/* Its name, "" for none; a lambda has that of its variable. */
ttm_str cbs_function_name(const cbs_tree *tree, cbs_node function);
/* The list of its parameters, 0 for none. */
cbs_node cbs_parameters(const cbs_tree *tree, cbs_node function);
/* Argument number i of a call, 0 when there are fewer. */
cbs_node cbs_call_argument(const cbs_tree *tree, cbs_node call, size_t i);
size_t cbs_call_arguments(const cbs_tree *tree, cbs_node call);
/* The list of T{...} or {...}, 0 when the node is neither. */
cbs_node cbs_list_of(const cbs_tree *tree, cbs_node n);
/* The value of member `name` in {.name = value, ...}, 0 when it is not there. */
cbs_node cbs_member_of(const cbs_tree *tree, cbs_node list, ttm_str name);

static inline bool cbs_is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ttm_is_digit(c) || c == '_';
}
/* Where `word` stands as a whole word, from byte `from` on; TTM_NOT_FOUND. */
size_t cbs_find_word(ttm_str text, ttm_str word, size_t from);
static inline bool cbs_text_has_word(ttm_str text, ttm_str word) {
  return cbs_find_word(text, word, 0) != TTM_NOT_FOUND;
}

#endif
