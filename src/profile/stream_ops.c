/* SPDX-License-Identifier: Apache-2.0 */
/* Operations: who makes, uses and frees which tensor, and which weights stand behind it. */
#include "profile/builder.h"

/* ---- Weights -------------------------------------------------------------------------------------------------------- */

/* Id of the list in b->scratch; 0 is the empty list. `last` is the id that the operation's text had before: mostly the same one. */
static int intern_weights(ttm_builder *b, uint32_t last, uint32_t *out) {
  ttm_profile *p = b->profile;
  *out = 0;
  if (b->scratch.n == 0) return TTM_OK;
  ttm_list list = p->weight_lists.at[last];
  if (list.n == b->scratch.n && !memcmp(p->lists.at + list.first, b->scratch.at, list.n * sizeof *b->scratch.at))
    return *out = last, TTM_OK;
  if (ttm_build_list(b, b->scratch.at, b->scratch.n, &list)) return TTM_ENOMEM;
  *out = ttm_map_get(&b->weight_ids, list.first, 0);
  if (*out && p->weight_lists.at[*out].n == list.n) return TTM_OK;
  if (ttm_vec_push(&p->weight_lists, list)) return TTM_ENOMEM;
  *out = (uint32_t)(p->weight_lists.n - 1);
  return ttm_map_set(&b->weight_ids, list.first, *out);
}

/* Each argument once. A few are compared, and nearly every operation has no more; a map remembers many, or a hostile operation of a
 * million arguments would never be done. No model has as many as are left out. */
static int add_argument(ttm_builder *b, uint32_t argument) {
  enum { FEW = 32, MOST_WEIGHTS = 65536 };
  ttm_map *taken = &b->arguments_taken;
  if (b->scratch.n < FEW) {
    for (size_t i = 0; i < b->scratch.n; i++)
      if (b->scratch.at[i] == argument) return TTM_OK;
    return ttm_vec_push(&b->scratch, argument);
  }
  if (b->scratch.n == FEW) {
    ttm_map_clear(taken);
    for (size_t i = 0; i < FEW; i++)
      if (ttm_map_set(taken, b->scratch.at[i], 1)) return TTM_ENOMEM;
  }
  if (b->scratch.n == MOST_WEIGHTS || ttm_map_get(taken, argument, 0)) return TTM_OK;
  return ttm_map_set(taken, argument, 1) ? TTM_ENOMEM : ttm_vec_push(&b->scratch, argument);
}

static int add_list(ttm_builder *b, ttm_list list) {
  for (uint32_t i = 0; i < list.n; i++)
    if (add_argument(b, b->profile->lists.at[list.first + i])) return TTM_ENOMEM;
  return TTM_OK;
}

/* A tensor that const-eval made of arguments carries them on; an activation does not. */
static bool carries_weights(const ttm_profile *p, uint32_t tensor) {
  const ttm_op *birth = &p->ops.at[p->tensors.at[tensor].birth];
  return birth->weights && ((birth->flags & TTM_OP_CONST_EVAL) || p->texts.at[birth->text].kind == TTM_OP_LOAD_CACHED);
}

/* A value that an operation made, as opposed to an argument or a symbol. */
static bool is_result(const ttm_profile *p, ttm_value value) {
  if (value & TTM_VALUE_NUMBER) return !ttm_value_is_argument(value);
  ttm_str name = ttm_profile_string(p, value);
  return name.n && name.p[0] == '%';
}

/* The weights behind a value of a running program. Arguments of a nested program are its caller's operands, of the entry program
 * the model's own. */
static int add_value_weights(ttm_builder *b, const ttm_stream *s, uint32_t depth, ttm_value value) {
  const ttm_profile *p = b->profile;
  while (ttm_value_is_argument(value)) {
    uint32_t argument = ttm_value_argument(value);
    if (depth == 0) return add_argument(b, argument);
    uint32_t caller = p->calls.at[s->scopes[depth--].call].caller;
    if (caller == TTM_NONE) return TTM_OK;
    ttm_list operands = ttm_op_text_of(p, caller)->operands;
    uint32_t i = 0;
    for (;; i++) {
      if (i == operands.n) return TTM_OK;
      value = p->lists.at[operands.first + i];
      if ((ttm_value_is_argument(value) || is_result(p, value)) && argument-- == 0) break;
    }
  }
  uint32_t tensor = ttm_map_get(&s->scopes[depth].values, value, TTM_NONE);
  if (tensor == TTM_NONE || !carries_weights(p, tensor)) return TTM_OK;
  return add_list(b, ttm_profile_weights(p, p->ops.at[p->tensors.at[tensor].birth].weights));
}

/* What the operation's operands go back to. */
static int find_weights(ttm_builder *b, const ttm_stream *s, uint32_t op) {
  ttm_profile *p = b->profile;
  uint32_t text = p->ops.at[op].text;
  ttm_list operands = p->texts.at[text].operands;
  while (b->weights_of_text.n <= text)
    if (ttm_vec_push(&b->weights_of_text, 0)) return TTM_ENOMEM;
  b->scratch.n = 0;
  for (uint32_t i = 0; i < operands.n; i++)
    if (add_value_weights(b, s, s->depth - 1, p->lists.at[operands.first + i])) return TTM_ENOMEM;
  uint32_t *last = &b->weights_of_text.at[text];
  if (intern_weights(b, *last, &p->ops.at[op].weights)) return TTM_ENOMEM;
  *last = p->ops.at[op].weights;
  return TTM_OK;
}

/* ---- Tensors -------------------------------------------------------------------------------------------------------- */

/* A tensor that no operation of the program made came from one whose lines were lost. */
static bool is_unmade(const ttm_profile *p, const ttm_op_text *text, uint32_t i, ttm_value value) {
  return i < text->inputs.n && is_result(p, value) && p->types.at[p->lists.at[text->inputs.first + i]].is_tensor;
}

/* The tensor behind operand `i`, or TTM_NONE. */
static uint32_t find_operand(const ttm_profile *p, ttm_stream *s, const ttm_op_text *text, uint32_t i) {
  ttm_value value = p->lists.at[text->operands.first + i];
  uint32_t tensor = ttm_map_get(&s->scopes[s->depth - 1].values, value, TTM_NONE);
  if (tensor == TTM_NONE) s->unmade += is_unmade(p, text, i, value);
  return tensor;
}

static void free_tensor(ttm_profile *p, ttm_stream *s, uint32_t op, const ttm_op_text *text) {
  p->seen.deallocations++;
  if (p->ops.at[op].flags & TTM_OP_RETAINED || text->operands.n == 0) return;
  uint32_t tensor = find_operand(p, s, text, 0);
  if (tensor == TTM_NONE || p->tensors.at[tensor].freed_by != TTM_NONE) return;
  p->tensors.at[tensor].freed_by = op;
  p->ops.at[op].tensor = tensor;
}

static void use_operands(ttm_profile *p, ttm_stream *s, uint32_t op, const ttm_op_text *text) {
  for (uint32_t i = 0; i < text->operands.n; i++) {
    uint32_t tensor = find_operand(p, s, text, i);
    if (tensor == TTM_NONE) continue;
    p->tensors.at[tensor].last_use = op;
    p->tensors.at[tensor].uses |= ttm_op_text_use(text, i);
  }
}

static uint32_t output_type(const ttm_profile *p, const ttm_op_text *text, uint32_t k) {
  return k < text->outputs.n ? p->lists.at[text->outputs.first + k] : TTM_NONE;
}

static uint32_t tensor_type(const ttm_profile *p, uint32_t tensor) {
  const ttm_op *birth = &p->ops.at[p->tensors.at[tensor].birth];
  return output_type(p, &p->texts.at[birth->text], tensor - birth->tensor);
}

/* Which living tensor is result k of a load_cached: the first of the candidates with its type that was not taken yet. */
static uint32_t take_cached(const ttm_profile *p, const ttm_op_text *text, uint32_t k, uint32_t *candidates, size_t n) {
  uint32_t wanted = output_type(p, text, k);
  for (size_t i = 0; i < n; i++) {
    uint32_t tensor = candidates[i];
    if (tensor == TTM_NONE || tensor_type(p, tensor) != wanted) continue;
    candidates[i] = TTM_NONE;
    return tensor;
  }
  return TTM_NONE;
}

/* Puts the tensors a load_cached may hand out into b->scratch: what its const-eval program left, or what the cache holds. */
static int cached_candidates(ttm_builder *b, ttm_stream *s, uint32_t op, uint32_t key) {
  b->scratch.n = 0;
  if (s->survivors_of == op) {
    for (size_t i = 0; i < s->survivors.n; i++)
      if (ttm_vec_push(&b->scratch, s->survivors.at[i])) return TTM_ENOMEM;
    return TTM_OK;
  }
  uint32_t at = ttm_map_get(&s->cached, key, TTM_NONE);
  if (at == TTM_NONE) return TTM_OK;
  for (uint32_t i = 0; i < s->cached_tensors.at[at]; i++) {
    uint32_t tensor = s->cached_tensors.at[at + 1 + i];
    bool freed = b->profile->tensors.at[tensor].freed_by != TTM_NONE;
    if (!freed && ttm_vec_push(&b->scratch, tensor)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* The results just made are what the cache will hand out next time. */
static int remember_cached(ttm_profile *p, ttm_stream *s, uint32_t key, uint32_t first, uint32_t n) {
  uint32_t at = (uint32_t)s->cached_tensors.n;
  if (ttm_vec_push(&s->cached_tensors, n)) return TTM_ENOMEM;
  for (uint32_t k = 0; k < n; k++)
    if (ttm_vec_push(&s->cached_tensors, p->tensors.at[first + k].self)) return TTM_ENOMEM;
  return ttm_map_set(&s->cached, key, at);
}

static int add_results(ttm_builder *b, ttm_stream *s, ttm_scope *scope, uint32_t op) {
  ttm_profile *p = b->profile;
  const ttm_op_text *text = ttm_op_text_of(p, op);
  uint32_t n = text->result_count, tensor;
  if (n == 0 || text->kind == TTM_OP_GET_DEVICE) return TTM_OK;
  bool load_cached = text->kind == TTM_OP_LOAD_CACHED;
  bool hit = load_cached && s->survivors_of != op;
  uint32_t key =
      s->cache_key ? s->cache_key : text->callee; /* function names restart with every graph, hashes do not */
  if (load_cached && cached_candidates(b, s, op, key)) return TTM_ENOMEM;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t self = load_cached ? take_cached(p, text, k, b->scratch.at, b->scratch.n) : TTM_NONE;
    ttm_value value;
    s->unmade += load_cached && !hit && self == TTM_NONE;
    if (ttm_build_tensor(b, op, self, &tensor) || ttm_build_result(b, text, k, &value) ||
        ttm_map_set(&scope->values, value, p->tensors.at[tensor].self))
      return TTM_ENOMEM;
  }
  uint32_t first = p->ops.at[op].tensor;
  bool known = hit && ttm_map_get(&s->cached, key, TTM_NONE) != TTM_NONE && p->tensors.at[first].self != first;
  return load_cached && key && !known ? remember_cached(p, s, key, first, n) : TTM_OK;
}

/* ---- Operations ----------------------------------------------------------------------------------------------------- */

int ttm_op_begin(ttm_builder *b, ttm_stream *s, uint32_t text, uint32_t line) {
  /* An exception would have ended the program: the operation before got over its error. */
  if (s->pending != TTM_NONE) b->profile->ops.at[s->pending].flags &= ~(uint32_t)TTM_OP_FAILED;
  if (ttm_op_complete(b, s) || ttm_build_op(b, s, text, line, &s->pending)) return TTM_ENOMEM;
  s->cache_key = 0;
  ttm_program_sign(b, s, text);
  return find_weights(b, s, s->pending); /* now: what runs inside a load_cached stands for the same weights */
}

int ttm_op_complete(ttm_builder *b, ttm_stream *s) {
  uint32_t op = s->pending;
  if (op == TTM_NONE) return TTM_OK;
  s->pending = TTM_NONE;
  ttm_profile *p = b->profile;
  const ttm_op_text *text = ttm_op_text_of(p, op);
  ttm_scope *scope = &s->scopes[s->depth - 1];
  if (text->kind == TTM_OP_DEALLOCATE) return free_tensor(p, s, op, text), TTM_OK;
  p->seen.get_devices += text->kind == TTM_OP_GET_DEVICE;
  use_operands(p, s, op, text);
  return p->ops.at[op].flags & TTM_OP_FAILED ? TTM_OK : add_results(b, s, scope, op);
}
