/* SPDX-License-Identifier: Apache-2.0 */
/* Working out expressions of a source as far as its text allows: constants, variables followed through the statements of their
 * function, calls of small functions, and the sizes every TT-Metal program knows. Total: any tree gives a value, in bounded time. */
#ifndef CBS_EVAL_H
#define CBS_EVAL_H

#include "base/arena.h"
#include "cbscan/names.h"

/* A value given by the user for a name (-D name=value), or known from another file. */
typedef struct cbs_define {
  ttm_str name;
  int64_t value;
} cbs_define;

/* Sorted by name once they are settled. */
typedef TTM_VEC(cbs_define) cbs_defines;

/* A call that is being followed: parameters of `function` are the arguments of `call`. */
typedef struct cbs_eval_frame {
  cbs_node function, call;
  const struct cbs_eval_frame *caller;
} cbs_eval_frame;

typedef struct cbs_eval {
  const cbs_tree *tree;
  const cbs_names *names;
  ttm_arena *arena;      /* for what is remembered */
  cbs_defines defines;   /* -D: win over everything; borrowed */
  cbs_defines elsewhere; /* from headers: for names not declared here; borrowed */
  cbs_value **known;     /* by declaration; NULL where not worked out yet */
  uint32_t depth, steps;
  uint64_t walked; /* statements, by flow.c */
} cbs_eval;

/* 0 or TTM_ENOMEM. `eval` needs no freeing: it lives in the arena. */
int cbs_eval_begin(cbs_eval *eval, const cbs_tree *tree, const cbs_names *names, ttm_arena *arena);

/* The value of an expression in the context of a call; `frame` NULL for none. */
cbs_value cbs_eval_node(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame);
/* The same with a fresh budget: for the expressions a scan asks about. */
cbs_value cbs_eval_expression(cbs_eval *eval, cbs_node n, const cbs_eval_frame *frame);

/* ---- Parts (eval*.c, flow.c) ------------------------------------------------------------------------------ */

/* The value of a declared name as seen at node `at`. */
cbs_value cbs_flow_value(cbs_eval *eval, const cbs_name *name, cbs_node at, const cbs_eval_frame *frame);
/* The value of a call; functions of the file are followed. */
cbs_value cbs_eval_call(cbs_eval *eval, cbs_node call, const cbs_eval_frame *frame);
/* What an initialiser is worth: x = 3, x(3), x{3}. */
cbs_value cbs_eval_initialiser(cbs_eval *eval, cbs_node value, const cbs_eval_frame *frame);
/* Moves a use out of the lambda or function being followed, to the place of its call. */
void cbs_eval_leave(const cbs_eval *eval, const cbs_name *name, cbs_node *at, const cbs_eval_frame **frame);
/* Whether a variable may have another value behind the escape. */
bool cbs_eval_may_write(const cbs_eval *eval, const cbs_name *name, const cbs_change *escape);
/* Whether one of its members or items may, between its declaration and node `at`. */
bool cbs_eval_may_have_written(const cbs_eval *eval, const cbs_name *name, cbs_node at);
/* The function or lambda of a name that is called, 0 when the file has none or several. */
cbs_node cbs_eval_callee(const cbs_eval *eval, cbs_node call);
bool cbs_constants_find(const cbs_defines *constants, ttm_str name, int64_t *value);

#endif
