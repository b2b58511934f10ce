/* SPDX-License-Identifier: Apache-2.0 */
/* A C++ source as a flat syntax tree: named nodes and operators in the order of the text, comments left out. The only door to
 * tree-sitter; everything behind it works on this array. Any bytes give a tree; `broken` says where the text was not C++. */
#ifndef TTM_L1_SOURCE_TREE_H
#define TTM_L1_SOURCE_TREE_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/* The node types the scan knows, by the grammar's names; every other type is TTM_N_OTHER. */
#define TTM_NODE_KINDS(X)                                 \
  X(IDENTIFIER, "identifier")                             \
  X(FIELD_IDENTIFIER, "field_identifier")                 \
  X(TYPE_IDENTIFIER, "type_identifier")                   \
  X(QUALIFIED, "qualified_identifier")                    \
  X(TEMPLATE_FUNCTION, "template_function")               \
  X(TEMPLATE_METHOD, "template_method")                   \
  X(TEMPLATE_TYPE, "template_type")                       \
  X(TEMPLATE_ARGUMENTS, "template_argument_list")         \
  X(PRIMITIVE_TYPE, "primitive_type")                     \
  X(NUMBER, "number_literal")                             \
  X(CHAR, "char_literal")                                 \
  X(STRING, "string_literal")                             \
  X(RAW_STRING, "raw_string_literal")                     \
  X(CONCAT_STRING, "concatenated_string")                 \
  X(TRUE, "true")                                         \
  X(FALSE, "false")                                       \
  X(NULLPTR, "null")                                      \
  X(CALL, "call_expression")                              \
  X(ARGUMENTS, "argument_list")                           \
  X(FIELD, "field_expression")                            \
  X(SUBSCRIPT, "subscript_expression")                    \
  X(BINARY, "binary_expression")                          \
  X(UNARY, "unary_expression")                            \
  X(POINTER, "pointer_expression")                        \
  X(UPDATE, "update_expression")                          \
  X(ASSIGN, "assignment_expression")                      \
  X(TERNARY, "conditional_expression")                    \
  X(PAREN, "parenthesized_expression")                    \
  X(CAST, "cast_expression")                              \
  X(SIZEOF, "sizeof_expression")                          \
  X(TYPE_DESCRIPTOR, "type_descriptor")                   \
  X(COMPOUND_LITERAL, "compound_literal_expression")      \
  X(INIT_LIST, "initializer_list")                        \
  X(INIT_PAIR, "initializer_pair")                        \
  X(FIELD_DESIGNATOR, "field_designator")                 \
  X(LAMBDA, "lambda_expression")                          \
  X(DECLARATION, "declaration")                           \
  X(FIELD_DECLARATION, "field_declaration")               \
  X(INIT_DECLARATOR, "init_declarator")                   \
  X(ARRAY_DECLARATOR, "array_declarator")                 \
  X(POINTER_DECLARATOR, "pointer_declarator")             \
  X(REFERENCE_DECLARATOR, "reference_declarator")         \
  X(FUNCTION_DECLARATOR, "function_declarator")           \
  X(ABSTRACT_FUNCTION, "abstract_function_declarator")    \
  X(STRUCTURED_BINDING, "structured_binding_declarator")  \
  X(PARAMETERS, "parameter_list")                         \
  X(PARAMETER, "parameter_declaration")                   \
  X(OPTIONAL_PARAMETER, "optional_parameter_declaration") \
  X(FUNCTION, "function_definition")                      \
  X(BLOCK, "compound_statement")                          \
  X(STATEMENT, "expression_statement")                    \
  X(RETURN, "return_statement")                           \
  X(IF, "if_statement")                                   \
  X(ELSE, "else_clause")                                  \
  X(CONDITION, "condition_clause")                        \
  X(FOR, "for_statement")                                 \
  X(FOR_RANGE, "for_range_loop")                          \
  X(WHILE, "while_statement")                             \
  X(DO, "do_statement")                                   \
  X(SWITCH, "switch_statement")                           \
  X(CASE, "case_statement")                               \
  X(CATCH, "catch_clause")                                \
  X(NAMESPACE, "namespace_definition")                    \
  X(CLASS, "class_specifier")                             \
  X(STRUCT, "struct_specifier")                           \
  X(ENUM, "enum_specifier")                               \
  X(ENUMERATOR, "enumerator")                             \
  X(PREPROC_DEF, "preproc_def")                           \
  X(PREPROC_ARG, "preproc_arg")                           \
  X(PREPROC_IF, "preproc_if")                             \
  X(PREPROC_IFDEF, "preproc_ifdef")                       \
  X(PREPROC_ELSE, "preproc_else")                         \
  X(PREPROC_ELIF, "preproc_elif")                         \
  X(PREPROC_INCLUDE, "preproc_include")                   \
  X(ROOT, "translation_unit")                             \
  X(ERROR, "ERROR")

typedef enum ttm_node_kind {
  TTM_N_OTHER,
  TTM_N_OPERATOR, /* the operator of an expression; its text is the operator */
#define X(name, text) TTM_N_##name,
  TTM_NODE_KINDS(X)
#undef X
      TTM_NODE_KIND_COUNT
} ttm_node_kind;

/* What a node is to its parent. */
#define TTM_NODE_FIELDS(X)          \
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
  X(INITIALIZER, "initializer")     \
  X(UPDATE, "update")               \
  X(INDICES, "indices")             \
  X(PATH, "path")

typedef enum ttm_node_field {
  TTM_F_NONE,
#define X(name, text) TTM_F_##name,
  TTM_NODE_FIELDS(X)
#undef X
      TTM_NODE_FIELD_COUNT
} ttm_node_field;

/* Index of a node; 0 is no node, 1 the root. Children stand behind their parent, so a larger index starts later. */
typedef uint32_t ttm_node;

typedef struct ttm_tree_node {
  uint8_t kind, field;
  uint32_t start, end; /* bytes */
  uint32_t line;       /* 1-based */
  ttm_node parent, child, next;
  ttm_node after; /* first node that is not below this one */
} ttm_tree_node;

typedef struct ttm_tree {
  ttm_str text;
  TTM_VEC(ttm_tree_node) nodes;
  uint32_t broken_line; /* first line that did not parse, 0 when all did */
  uint32_t broken;      /* places that did not parse */
} ttm_tree;

/* A parser for many files, one per thread. */
typedef struct ttm_tree_parser ttm_tree_parser;
int ttm_tree_parser_new(ttm_tree_parser **out, ttm_error *err);
void ttm_tree_parser_free(ttm_tree_parser *parser);

/* Parses `text`, which must outlive the tree; `out` is filled anew and keeps its memory between files. 0, TTM_ENOMEM, or
 * TTM_EFORMAT for a text too large or too tangled to parse. */
int ttm_tree_parse(ttm_tree_parser *parser, ttm_str text, ttm_tree *out, ttm_error *err);
void ttm_tree_free(ttm_tree *tree);

static inline const ttm_tree_node *ttm_tree_at(const ttm_tree *tree, ttm_node n) { return &tree->nodes.at[n]; }
static inline ttm_node_kind ttm_tree_kind(const ttm_tree *tree, ttm_node n) {
  return (ttm_node_kind)tree->nodes.at[n].kind;
}
static inline ttm_str ttm_tree_text(const ttm_tree *tree, ttm_node n) {
  const ttm_tree_node *node = &tree->nodes.at[n];
  return (ttm_str){tree->text.p + node->start, node->end - node->start};
}

/* The child under a field, 0 when there is none. */
ttm_node ttm_tree_field(const ttm_tree *tree, ttm_node n, ttm_node_field field);
/* Child number `i` (operators not counted), 0 when there are fewer. */
ttm_node ttm_tree_child(const ttm_tree *tree, ttm_node n, size_t i);
size_t ttm_tree_children(const ttm_tree *tree, ttm_node n);
/* The nearest node above `n` of that kind, 0 when there is none. */
ttm_node ttm_tree_above(const ttm_tree *tree, ttm_node n, ttm_node_kind kind);
/* True when `n` is `top` or below it. */
static inline bool ttm_tree_within(const ttm_tree *tree, ttm_node n, ttm_node top) {
  return n >= top && n < tree->nodes.at[top].after;
}

#endif
