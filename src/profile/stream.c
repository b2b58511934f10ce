/* SPDX-License-Identifier: Apache-2.0 */
/* Programs as they run: nesting, and unwinding after a failure. */
#include "profile/builder.h"

static int push_call(ttm_builder *b, ttm_stream *s, const ttm_call *call) {
  ttm_profile *p = b->profile;
  if (ttm_vec_push(&p->calls, *call)) return TTM_ENOMEM;
  ttm_scope *scope = &s->scopes[s->depth++];
  scope->call = (uint32_t)(p->calls.n - 1);
  scope->first_tensor = (uint32_t)p->tensors.n;
  scope->cache_key = s->cache_key;
  ttm_map_clear(&scope->values);
  return TTM_OK;
}

/* A top-level program begins; `name` 0 when nothing tells its name. */
static int push_top(ttm_builder *b, ttm_stream *s, uint32_t name, uint32_t line) {
  ttm_profile *p = b->profile;
  ttm_call call = {.name = name,
                   .parent = TTM_NONE,
                   .caller = TTM_NONE,
                   .rank = s->rank,
                   .run = s->runs++,
                   .graph = TTM_NONE,
                   .first_op = TTM_NONE,
                   .last_op = TTM_NONE,
                   .first_line = line,
                   .last_line = line,
                   .before = s->submit,
                   .after = TTM_NONE};
  s->submit = TTM_NONE;
  if (push_call(b, s, &call)) return TTM_ENOMEM;
  s->last_top = s->scopes[0].call;
  return ttm_vec_push(&p->runs, s->last_top);
}

static bool is_const_eval(ttm_str name) { return ttm_str_contains(name, TTM_LIT("const_eval")); }

/* Can this operation run a program of this name inside? */
static bool can_call(const ttm_profile *p, uint32_t op, ttm_str name) {
  const ttm_op_text *text = ttm_op_text_of(p, op);
  if (text->callee) return ttm_str_eq(ttm_profile_string(p, text->callee), name) || text->kind != TTM_OP_LOAD_CACHED;
  if (text->kind == TTM_OP_LOAD_CACHED) return is_const_eval(name);
  return ttm_str_contains(ttm_profile_string(p, text->name), text->synthetic ? TTM_LIT("Trace") : TTM_LIT("trace"));
}

/* Tensors made in the program and not freed: a const-eval program returns exactly these. */
static int collect_survivors(ttm_builder *b, ttm_stream *s, const ttm_scope *scope, uint32_t caller) {
  const ttm_profile *p = b->profile;
  s->survivors.n = 0;
  s->survivors_of = caller;
  for (uint32_t t = scope->first_tensor; t < p->tensors.n; t++) {
    const ttm_tensor *tensor = &p->tensors.at[t];
    if (tensor->self != t || tensor->freed_by != TTM_NONE || p->ops.at[tensor->birth].call != scope->call) continue;
    if (ttm_vec_push(&s->survivors, t)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Leaves the innermost program; the operation that called it is pending again. */
static int pop(ttm_builder *b, ttm_stream *s) {
  ttm_scope *scope = &s->scopes[s->depth - 1];
  ttm_call *call = &b->profile->calls.at[scope->call];
  uint32_t caller = call->caller;
  if (caller != TTM_NONE && call->const_eval && collect_survivors(b, s, scope, caller)) return TTM_ENOMEM;
  s->depth--;
  s->pending = caller;
  s->cache_key = scope->cache_key;
  return TTM_OK;
}

/* Ends every running program without a Finished line. */
static int unwind(ttm_builder *b, ttm_stream *s) {
  while (s->depth > 0) {
    if (ttm_op_complete(b, s) || pop(b, s)) return TTM_ENOMEM;
    /* What called an unfinished program never got its results. */
    if (s->pending != TTM_NONE) b->profile->ops.at[s->pending].flags |= TTM_OP_FAILED;
  }
  s->pending = TTM_NONE;
  return TTM_OK;
}

/* A failed program leaves no Finished line, so a program that nobody called is a new top-level one. Const-eval programs never
 * are: when the operation that called one was lost, it still runs inside the program around it. */
int ttm_program_start(ttm_builder *b, ttm_stream *s, ttm_str name, uint32_t line) {
  ttm_profile *p = b->profile;
  uint32_t id;
  if (ttm_build_string(b, name, &id)) return TTM_ENOMEM;
  bool called = s->depth > 0 && s->pending != TTM_NONE && can_call(p, s->pending, name);
  if (!called && ttm_op_complete(b, s)) return TTM_ENOMEM;
  if (s->depth == TTM_MAX_DEPTH || s->depth == 0 || !(called || is_const_eval(name)))
    return unwind(b, s) ? TTM_ENOMEM : push_top(b, s, id, line);

  uint32_t parent = s->scopes[s->depth - 1].call;
  ttm_call call = p->calls.at[parent];
  call.name = id;
  call.parent = parent;
  call.caller = s->pending;
  call.first_op = call.last_op = call.before = call.after = TTM_NONE;
  call.signature = 0;
  call.first_line = call.last_line = line;
  call.const_eval = call.const_eval || is_const_eval(name);
  call.cache_miss = call.const_eval && s->missed == id;
  call.finished = false;
  s->pending = TTM_NONE; /* comes back when this program is done */
  return push_call(b, s, &call);
}

int ttm_program_finish(ttm_builder *b, ttm_stream *s, ttm_str name, uint32_t line) {
  ttm_profile *p = b->profile;
  uint32_t id = ttm_intern_find(&p->strings, name);
  uint32_t depth = s->depth;
  while (depth > 0 && p->calls.at[s->scopes[depth - 1].call].name != id) depth--;
  if (depth == 0) return TTM_OK; /* its start was not seen */
  while (s->depth >= depth) {
    if (ttm_op_complete(b, s)) return TTM_ENOMEM;
    ttm_call *call = &p->calls.at[s->scopes[s->depth - 1].call];
    call->last_line = line;
    call->finished = s->depth == depth;
    if (pop(b, s)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

void ttm_program_sign(ttm_builder *b, ttm_stream *s, uint32_t id) {
  if (s->depth == 0) return;
  uint64_t *signature = &b->profile->calls.at[s->scopes[s->depth - 1].call].signature;
  *signature = ttm_hash_mix(*signature ^ id, UINT64_C(0x9e3779b97f4a7c15)) + 1;
}

int ttm_program_current(ttm_builder *b, ttm_stream *s, uint32_t line, ttm_scope **out) {
  if (s->depth == 0 && push_top(b, s, 0, line)) return TTM_ENOMEM;
  *out = &s->scopes[s->depth - 1];
  return TTM_OK;
}

/* Without Starting lines (INFO level) a submit block is all that tells of a run. */
static int start_submitted(ttm_builder *b, ttm_stream *s) {
  return s->submit == TTM_NONE ? TTM_OK : push_top(b, s, 0, b->profile->states.at[s->submit].line);
}

int ttm_program_end_all(ttm_builder *b, ttm_stream *s) {
  if (ttm_op_complete(b, s) || unwind(b, s) || start_submitted(b, s)) return TTM_ENOMEM;
  return unwind(b, s);
}

int ttm_program_submitted(ttm_builder *b, ttm_stream *s, uint32_t line) {
  if (ttm_op_complete(b, s) || start_submitted(b, s)) return TTM_ENOMEM;
  if (s->depth == 0) return TTM_OK;
  ttm_call *top = &b->profile->calls.at[s->scopes[0].call];
  top->last_line = line;
  top->finished = top->finished || top->name == 0;
  return unwind(b, s);
}
