/* SPDX-License-Identifier: Apache-2.0 */
/* Working out expressions of a source as far as its text allows: constants, variables followed through the statements of their
 * function, calls of small functions, and the sizes every TT-Metal program knows. Total: any tree gives a value, in bounded time. */
#ifndef TTM_L1_SCAN_EVAL_H
#define TTM_L1_SCAN_EVAL_H

#include "base/arena.h"
#include "l1/scan_names.h"

/* A value given by the user for a name (-D name=value), or known from another file. */
typedef struct ttm_define {
  ttm_str name;
  int64_t value;
} ttm_define;

/* Values of names that the file itself does not declare. */
typedef struct ttm_constants {
  const ttm_define *at; /* sorted by name */
  size_t n;
} ttm_constants;

/* A call that is being followed: parameters of `function` are the arguments of `call`. */
typedef struct ttm_eval_frame {
  ttm_node function, call;
  const struct ttm_eval_frame *caller;
} ttm_eval_frame;

typedef struct ttm_eval {
  const ttm_tree *tree;
  const ttm_names *names;
  ttm_arena *arena;        /* for what is remembered */
  ttm_constants defines;   /* -D: win over everything */
  ttm_constants elsewhere; /* from headers: for names not declared here */
  ttm_scan_value **known;  /* by declaration; NULL where not worked out yet */
  uint32_t depth, steps;
} ttm_eval;

/* 0 or TTM_ENOMEM. `eval` needs no freeing: it lives in the arena. */
int ttm_eval_begin(ttm_eval *eval, const ttm_tree *tree, const ttm_names *names, ttm_arena *arena);

/* The value of an expression in the context of a call; `frame` NULL for none. */
ttm_scan_value ttm_eval_node(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame);
/* The same with a fresh budget: for the expressions a scan asks about. */
ttm_scan_value ttm_eval_expression(ttm_eval *eval, ttm_node n, const ttm_eval_frame *frame);

/* ---- Parts (scan_eval*.c, scan_flow.c) ------------------------------------------------------------------------------ */

/* The value of a declared name as seen at node `at`. */
ttm_scan_value ttm_flow_value(ttm_eval *eval, const ttm_name *name, ttm_node at, const ttm_eval_frame *frame);
/* The value of a call; functions of the file are followed. */
ttm_scan_value ttm_eval_call(ttm_eval *eval, ttm_node call, const ttm_eval_frame *frame);
/* What an initialiser is worth: x = 3, x(3), x{3}. */
ttm_scan_value ttm_eval_initialiser(ttm_eval *eval, ttm_node value, const ttm_eval_frame *frame);
/* Moves a use out of the lambda or function being followed, to the place of its call. */
void ttm_eval_leave(const ttm_eval *eval, const ttm_name *name, ttm_node *at, const ttm_eval_frame **frame);
/* The function or lambda of a name that is called, 0 when the file has none or several. */
ttm_node ttm_eval_callee(const ttm_eval *eval, ttm_node call);
bool ttm_constants_find(ttm_constants constants, ttm_str name, int64_t *value);

#endif
