/* SPDX-License-Identifier: Apache-2.0 */
/* The names of one source: where each is declared, changed and called. Found in one pass over the tree. */
#ifndef TTM_L1_SCAN_NAMES_H
#define TTM_L1_SCAN_NAMES_H

#include "base/intern.h"
#include "l1/scan_value.h"
#include "l1/source_tree.h"

typedef enum ttm_name_kind {
  TTM_NAME_VARIABLE,
  TTM_NAME_PARAMETER,
  TTM_NAME_BINDING, /* one of auto [a, b] = ... */
  TTM_NAME_FUNCTION,
  TTM_NAME_MACRO,
  TTM_NAME_ENUMERATOR,
  TTM_NAME_MEMBER, /* of a class, with its default */
} ttm_name_kind;

/* A declaration. */
typedef struct ttm_name {
  ttm_name_kind kind;
  uint32_t id;    /* of the text */
  ttm_str text;   /* in the source */
  ttm_node node;  /* what declares it */
  ttm_node scope; /* visible below this node */
  ttm_node value; /* initialiser, default value or function body; 0 for none */
  ttm_node type;  /* 0 when there is none */
  uint32_t index; /* number among the parameters or bindings; distance of an enumerator */
  uint32_t next;  /* next declaration of the same name, UINT32_MAX at the end; newest first */
  bool is_loop;   /* the variable of a loop */
} ttm_name;

/* Something done to a name after its declaration. */
typedef enum ttm_change_kind {
  TTM_CHANGE_ASSIGN, /* x = value, x *= value: node is the expression */
  TTM_CHANGE_STEP,   /* x++ */
  TTM_CHANGE_FIELD,  /* x.field = value, also x.a.b = value with field "b" */
  TTM_CHANGE_METHOD, /* x.method(...), also x.a.method(...) */
  TTM_CHANGE_ITEM,   /* x[i] = value */
} ttm_change_kind;

typedef struct ttm_change {
  ttm_change_kind kind;
  uint32_t id;
  ttm_node node;  /* assignment, update or call */
  ttm_node value; /* right side or argument list */
  ttm_str word;   /* operator, field or method */
  ttm_str path;   /* for x.a.method: "a"; else empty */
  uint32_t next;  /* next of the same name, UINT32_MAX at the end; in the order of the text */
} ttm_change;

/* A call of a plain (or qualified) name. */
typedef struct cbs_call {
  uint32_t id; /* last part of the name */
  ttm_node node;
  uint32_t next; /* in the order of the text */
} cbs_call;

typedef struct ttm_names {
  const ttm_tree *tree;
  ttm_intern texts;
  TTM_VEC(ttm_name) names;
  TTM_VEC(ttm_change) changes;
  TTM_VEC(cbs_call) calls;
  TTM_VEC(uint32_t) heads; /* three per text id: name, change, call; UINT32_MAX for none */
} ttm_names;

/* 0 or TTM_ENOMEM; freed in any case with ttm_names_free. */
int ttm_names_collect(ttm_names *out, const ttm_tree *tree);
void ttm_names_free(ttm_names *names);

/* First of its chain, UINT32_MAX for none. */
uint32_t ttm_names_first(const ttm_names *names, ttm_str text);
uint32_t ttm_changes_first(const ttm_names *names, ttm_str text);
uint32_t ttm_calls_first(const ttm_names *names, ttm_str text);

/* The declaration a use at node `at` means, NULL when the file has none. */
const ttm_name *ttm_names_find(const ttm_names *names, ttm_str text, ttm_node at);

/* Last part of a possibly qualified or templated name: tt::CBIndex::c_0 -> c_0, std::min<int> -> min. */
ttm_str ttm_name_last(const ttm_tree *tree, ttm_node n);
/* The identifier a declarator declares (through pointers, references, arrays), 0 when there is none. */
ttm_node ttm_declared_identifier(const ttm_tree *tree, ttm_node declarator);
/* The function or lambda around a node, 0 at file scope. */
ttm_node ttm_function_around(const ttm_tree *tree, ttm_node n);
/* The outermost function around a node: lambdas belong to the function that holds them. */
ttm_node ttm_function_outermost(const ttm_tree *tree, ttm_node n);
/* Its name, "" for none; a lambda has that of its variable. */
ttm_str ttm_function_name(const ttm_tree *tree, ttm_node function);
/* Argument number i of a call, 0 when there are fewer. */
ttm_node ttm_call_argument(const ttm_tree *tree, ttm_node call, size_t i);
size_t ttm_call_arguments(const ttm_tree *tree, ttm_node call);
/* True when the type's text names `word` as a whole word. */
bool ttm_text_has_word(ttm_str text, ttm_str word);

#endif
