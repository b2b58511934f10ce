/* SPDX-License-Identifier: Apache-2.0 */
/* A C++ source as a flat syntax tree: named nodes and operators in the order of the text, comments left out. The only door to
 * tree-sitter; everything behind it works on this array. Any bytes give a tree; `broken` says where the text was not C++. */
#ifndef CBS_TREE_H
#define CBS_TREE_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/* The node types the scan knows, by the grammar's names; every other type is CBS_N_OTHER. */
#define CBS_NODE_KINDS(X)                                \
  X(IDENTIFIER, "identifier")                            \
  X(FIELD_IDENTIFIER, "field_identifier")                \
  X(TYPE_IDENTIFIER, "type_identifier")                  \
  X(QUALIFIED, "qualified_identifier")                   \
  X(TEMPLATE_FUNCTION, "template_function")              \
  X(TEMPLATE_METHOD, "template_method")                  \
  X(TEMPLATE_TYPE, "template_type")                      \
  X(NUMBER, "number_literal")                            \
  X(STRING, "string_literal")                            \
  X(RAW_STRING, "raw_string_literal")                    \
  X(CONCAT_STRING, "concatenated_string")                \
  X(TRUE, "true")                                        \
  X(FALSE, "false")                                      \
  X(NULLPTR, "null")                                     \
  X(CALL, "call_expression")                             \
  X(ARGUMENTS, "argument_list")                          \
  X(FIELD, "field_expression")                           \
  X(SUBSCRIPT, "subscript_expression")                   \
  X(BINARY, "binary_expression")                         \
  X(UNARY, "unary_expression")                           \
  X(POINTER, "pointer_expression")                       \
  X(UPDATE, "update_expression")                         \
  X(ASSIGN, "assignment_expression")                     \
  X(TERNARY, "conditional_expression")                   \
  X(PAREN, "parenthesized_expression")                   \
  X(CAST, "cast_expression")                             \
  X(SIZEOF, "sizeof_expression")                         \
  X(TYPE_DESCRIPTOR, "type_descriptor")                  \
  X(COMPOUND_LITERAL, "compound_literal_expression")     \
  X(INIT_LIST, "initializer_list")                       \
  X(INIT_PAIR, "initializer_pair")                       \
  X(LAMBDA, "lambda_expression")                         \
  X(DECLARATION, "declaration")                          \
  X(FIELD_DECLARATION, "field_declaration")              \
  X(INIT_DECLARATOR, "init_declarator")                  \
  X(ARRAY_DECLARATOR, "array_declarator")                \
  X(POINTER_DECLARATOR, "pointer_declarator")            \
  X(REFERENCE_DECLARATOR, "reference_declarator")        \
  X(FUNCTION_DECLARATOR, "function_declarator")          \
  X(ABSTRACT_FUNCTION, "abstract_function_declarator")   \
  X(STRUCTURED_BINDING, "structured_binding_declarator") \
  X(PARAMETERS, "parameter_list")                        \
  X(PARAMETER, "parameter_declaration")                  \
  X(FUNCTION, "function_definition")                     \
  X(BLOCK, "compound_statement")                         \
  X(STATEMENT, "expression_statement")                   \
  X(RETURN, "return_statement")                          \
  X(IF, "if_statement")                                  \
  X(CONDITION, "condition_clause")                       \
  X(FOR, "for_statement")                                \
  X(FOR_RANGE, "for_range_loop")                         \
  X(WHILE, "while_statement")                            \
  X(DO, "do_statement")                                  \
  X(SWITCH, "switch_statement")                          \
  X(CASE, "case_statement")                              \
  X(CATCH, "catch_clause")                               \
  X(CLASS, "class_specifier")                            \
  X(STRUCT, "struct_specifier")                          \
  X(ENUMERATOR, "enumerator")                            \
  X(PREPROC_DEF, "preproc_def")                          \
  X(PREPROC_FUNCTION, "preproc_function_def")            \
  X(PREPROC_IF, "preproc_if")                            \
  X(PREPROC_IFDEF, "preproc_ifdef")                      \
  X(PREPROC_ELSE, "preproc_else")                        \
  X(ROOT, "translation_unit")                            \
  X(ERROR, "ERROR")

typedef enum cbs_node_kind {
  CBS_N_OTHER,
  CBS_N_OPERATOR, /* the operator of an expression; its text is the operator */
#define X(name, text) CBS_N_##name,
  CBS_NODE_KINDS(X)
#undef X
      CBS_NODE_KIND_COUNT
} cbs_node_kind;

static inline bool cbs_is_loop(cbs_node_kind kind) {
  return kind == CBS_N_FOR || kind == CBS_N_FOR_RANGE || kind == CBS_N_WHILE || kind == CBS_N_DO;
}

/* What a node is to its parent. */
#define CBS_NODE_FIELDS(X)          \
  X(NAME, "name")                   \
  X(SCOPE, "scope")                 \
  X(TYPE, "type")                   \
  X(DECLARATOR, "declarator")       \
  X(VALUE, "value")                 \
  X(DEFAULT_VALUE, "default_value") \
  X(PARAMETERS, "parameters")       \
  X(BODY, "body")                   \
  X(FUNCTION, "function")           \
  X(ARGUMENTS, "arguments")         \
  X(ARGUMENT, "argument")           \
  X(FIELD, "field")                 \
  X(LEFT, "left")                   \
  X(RIGHT, "right")                 \
  X(OPERATOR, "operator")           \
  X(CONDITION, "condition")         \
  X(CONSEQUENCE, "consequence")     \
  X(ALTERNATIVE, "alternative")     \
  X(DESIGNATOR, "designator")       \
  X(INDICES, "indices")

typedef enum cbs_node_field {
  CBS_F_NONE,
#define X(name, text) CBS_F_##name,
  CBS_NODE_FIELDS(X)
#undef X
      CBS_NODE_FIELD_COUNT
} cbs_node_field;

/* Index of a node; 0 is no node (of no kind, without text and children, so it can be asked too), 1 the root. Children stand behind their parent, so a larger index starts later. */
typedef uint32_t cbs_node;

typedef struct cbs_tree_node {
  uint8_t kind, field;
  uint32_t start, end; /* bytes */
  uint32_t line;       /* 1-based */
  cbs_node parent, child, next;
  cbs_node after; /* first node that is not below this one */
} cbs_tree_node;

typedef struct cbs_tree {
  ttm_str text;
  TTM_VEC(cbs_tree_node) nodes;
  uint32_t broken_line; /* first line that did not parse, 0 when all did */
  uint32_t broken;      /* places that did not parse */
} cbs_tree;

/* A parser for many files, one per thread. */
typedef struct cbs_tree_parser cbs_tree_parser;
int cbs_tree_parser_new(cbs_tree_parser **out, ttm_error *err);
void cbs_tree_parser_free(cbs_tree_parser *parser);

/* Whether the text has more words and signs than cbs_tree_parse takes. */
bool cbs_tree_is_too_long(ttm_str text);

/* Parses `text`, which must outlive the tree; `out` is filled anew and keeps its memory between files. 0, TTM_ENOMEM, or
 * TTM_EFORMAT for a text too large or too tangled to parse. */
int cbs_tree_parse(cbs_tree_parser *parser, ttm_str text, cbs_tree *out, ttm_error *err);
void cbs_tree_free(cbs_tree *tree);

static inline const cbs_tree_node *cbs_tree_at(const cbs_tree *tree, cbs_node n) { return &tree->nodes.at[n]; }
static inline cbs_node_kind cbs_tree_kind(const cbs_tree *tree, cbs_node n) {
  return (cbs_node_kind)tree->nodes.at[n].kind;
}
static inline ttm_str cbs_tree_text(const cbs_tree *tree, cbs_node n) {
  const cbs_tree_node *node = &tree->nodes.at[n];
  return (ttm_str){tree->text.p + node->start, node->end - node->start};
}

/* The child under a field, 0 when there is none. */
cbs_node cbs_tree_field(const cbs_tree *tree, cbs_node n, cbs_node_field field);
/* Child number `i` (operators not counted), 0 when there are fewer. */
cbs_node cbs_tree_child(const cbs_tree *tree, cbs_node n, size_t i);
size_t cbs_tree_children(const cbs_tree *tree, cbs_node n);
/* True when `n` is `top` or below it. */
static inline bool cbs_tree_within(const cbs_tree *tree, cbs_node n, cbs_node top) {
  return n >= top && n < tree->nodes.at[top].after;
}

#endif
