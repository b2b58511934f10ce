/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles made by hand, row by row in log order, for tests of what is concluded from them. Free with ttm_profile_free. */
#ifndef TTM_TESTS_PROFILE_FIXTURE_H
#define TTM_TESTS_PROFILE_FIXTURE_H

#include <stdio.h>

#include "analyze/findings.h"
#include "unit.h"

/* One tile of bf16: 2048 bytes stored, as many or as few as the shape says are values. */
#define FX_LAYOUT(tiles, buffer, place)                          \
  "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<" tiles \
  "x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<" buffer ">>" place ">>"
#define FX_TILE "tensor<32x32xbf16, " FX_LAYOUT("1x1", "dram", ", <interleaved>")
#define FX_ROW "tensor<1x32xbf16, " FX_LAYOUT("1x1", "dram", ", <interleaved>")
#define FX_HALF "tensor<16x32xbf16, " FX_LAYOUT("1x1", "dram", ", <interleaved>")
#define FX_L1 "tensor<32x32xbf16, " FX_LAYOUT("1x1", "l1", ", <interleaved>")
#define FX_HOST "tensor<1x32xbf16, " FX_LAYOUT("1x1", "system_memory", "")
#define FX_BIG "tensor<3072x4096xbf16, " FX_LAYOUT("96x128", "dram", ", <interleaved>") /* 2 MB in each of 12 banks */

static inline void fx_ok(int status) { assert_int_equal(status, TTM_OK); }

static inline ttm_profile *fx_new(uint32_t ranks) {
  ttm_profile *p = ttm_alloc(sizeof *p);
  assert_non_null(p);
  for (uint32_t r = 0; r < ranks; r++) fx_ok(ttm_vec_push(&p->ranks, r));
  return p;
}

static inline uint32_t fx_str(ttm_profile *p, const char *text) {
  uint32_t id;
  fx_ok(ttm_intern_add(&p->strings, ttm_str_of(text), &id));
  return id;
}

static inline uint32_t fx_type(ttm_profile *p, const char *text) {
  uint32_t id = fx_str(p, text);
  for (uint32_t t = 0; t < p->types.n; t++) {
    if (p->types.at[t].text == id) return t;
  }
  ttm_type type = {.text = id};
  type.is_tensor = ttm_tensor_type_parse(ttm_profile_string(p, id), &type.tensor);
  fx_ok(ttm_vec_push(&p->types, type));
  return (uint32_t)(p->types.n - 1);
}

/* An operation text with up to two results (NULL: none). */
static inline uint32_t fx_text(ttm_profile *p, const char *name, ttm_op_kind kind, const char *out0, const char *out1) {
  ttm_op_text text = {.name = fx_str(p, name), .kind = (uint8_t)kind};
  uint32_t types[2] = {out0 ? fx_type(p, out0) : 0, out1 ? fx_type(p, out1) : 0};
  text.outputs.first = (uint32_t)p->lists.n;
  text.outputs.n = text.result_count = (uint16_t)(!!out0 + !!out1);
  for (uint32_t k = 0; k < text.outputs.n; k++) fx_ok(ttm_vec_push(&p->lists, types[k]));
  fx_ok(ttm_vec_push(&p->texts, text));
  return (uint32_t)(p->texts.n - 1);
}

static inline uint32_t fx_line(ttm_profile *p) { return (uint32_t)++p->seen.lines; }

/* A program starts: at top level with parent TTM_NONE, else inside (const-eval). */
static inline uint32_t fx_call(ttm_profile *p, const char *name, uint32_t rank, uint32_t parent) {
  ttm_call call = {.name = fx_str(p, name), .parent = parent, .caller = TTM_NONE, .rank = rank, .graph = TTM_NONE};
  call.first_op = call.last_op = call.before = call.after = TTM_NONE;
  call.first_line = call.last_line = fx_line(p);
  call.finished = true;
  call.const_eval = parent != TTM_NONE;
  if (parent != TTM_NONE) {
    call.run = p->calls.at[parent].run;
    call.graph = p->calls.at[parent].graph;
  } else {
    for (size_t i = 0; i < p->runs.n; i++) call.run += p->calls.at[p->runs.at[i]].rank == rank;
    fx_ok(ttm_vec_push(&p->runs, (uint32_t)p->calls.n));
  }
  fx_ok(ttm_vec_push(&p->calls, call));
  return (uint32_t)(p->calls.n - 1);
}

/* An operation without its results yet. */
static inline uint32_t fx_op_only(ttm_profile *p, uint32_t text, uint32_t call) {
  ttm_op op = {.text = text, .line = fx_line(p), .state = TTM_NONE, .call = call, .tensor = TTM_NONE};
  op.weights = TTM_NONE;
  op.flags = p->calls.at[call].const_eval ? TTM_OP_CONST_EVAL : 0;
  fx_ok(ttm_vec_push(&p->ops, op));
  uint32_t id = (uint32_t)(p->ops.n - 1);
  for (uint32_t f = call; f != TTM_NONE; f = p->calls.at[f].parent) {
    if (p->calls.at[f].first_op == TTM_NONE) p->calls.at[f].first_op = id;
    p->calls.at[f].last_op = id;
    p->calls.at[f].last_line = op.line;
  }
  return id;
}

/* Gives the operation its result rows; `self` other than TTM_NONE makes the first one an alias. */
static inline uint32_t fx_results(ttm_profile *p, uint32_t op, uint32_t self) {
  uint32_t n = ttm_op_text_of(p, op)->outputs.n, first = (uint32_t)p->tensors.n;
  if (n) p->ops.at[op].tensor = first;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t own = k == 0 && self != TTM_NONE ? self : first + k;
    fx_ok(ttm_vec_push(&p->tensors, (ttm_tensor){.self = own, .birth = op, .last_use = op, .freed_by = TTM_NONE}));
  }
  return op;
}

static inline uint32_t fx_op(ttm_profile *p, uint32_t text, uint32_t call) {
  return fx_results(p, fx_op_only(p, text, call), TTM_NONE);
}

/* A deallocate of a tensor (TTM_NONE: of an argument). */
static inline uint32_t fx_free(ttm_profile *p, uint32_t text, uint32_t call, uint32_t tensor, uint32_t flags) {
  uint32_t op = fx_op_only(p, text, call);
  p->ops.at[op].tensor = tensor;
  p->ops.at[op].flags |= flags;
  if (tensor != TTM_NONE && !(flags & TTM_OP_RETAINED)) p->tensors.at[p->tensors.at[tensor].self].freed_by = op;
  return op;
}

/* A block with DRAM and L1 (figures in 0.001 MB); `op` owns it or is TTM_STATE_*. */
static inline uint32_t fx_state(ttm_profile *p, uint32_t rank, uint32_t op, uint32_t dram, uint32_t l1) {
  ttm_state_base call = {.rank = rank, .present = 1 << TTM_DRAM | 1 << TTM_L1};
  call.levels[TTM_DRAM] = (ttm_level){.banks = 12, .total = 1000000};
  call.levels[TTM_L1] = (ttm_level){64, 1300, l1, 1300 - l1, 1300 - l1};
  uint32_t id = 0;
  while (id < p->state_bases.n && memcmp(&p->state_bases.at[id], &call, sizeof call) != 0) id++;
  if (id == p->state_bases.n) fx_ok(ttm_vec_push(&p->state_bases, call));
  ttm_state state = {op, fx_line(p), id, dram, 1000000 - dram, 1000000 - dram};
  fx_ok(ttm_vec_push(&p->states, state));
  if (op < p->ops.n) p->ops.at[op].state = (uint32_t)(p->states.n - 1);
  return (uint32_t)(p->states.n - 1);
}

/* An operation with its block. */
static inline uint32_t fx_step(ttm_profile *p, uint32_t text, uint32_t call, uint32_t dram) {
  uint32_t op = fx_op(p, text, call);
  fx_state(p, p->calls.at[call].rank, op, dram, 0);
  return op;
}

static inline ttm_findings *fx_findings(const ttm_profile *p) {
  ttm_findings *f = NULL;
  fx_ok(ttm_findings_make(&f, p, 1, NULL));
  assert_non_null(f);
  return f;
}

/* A log of one program whose operations each make a tensor of FX_BIG, or free one. */
typedef struct fx_world {
  ttm_profile *p;
  uint32_t make, drop, call;
} fx_world;

static inline fx_world fx_begin(uint32_t ranks) {
  fx_world w = {.p = fx_new(ranks)};
  w.p->kind = TTM_LOG_FULL;
  w.make = fx_text(w.p, "ttnn.add", TTM_OP_PLAIN, FX_BIG, NULL);
  w.drop = fx_text(w.p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  w.call = fx_call(w.p, "main", 0, TTM_NONE);
  return w;
}

/* The tensor an operation at `dram` makes. */
static inline uint32_t fx_make(fx_world *w, uint32_t dram) {
  uint32_t op = fx_step(w->p, w->make, w->call, dram);
  return w->p->ops.at[op].tensor;
}

static inline void fx_drop(fx_world *w, uint32_t tensor, uint32_t dram) {
  fx_state(w->p, 0, fx_free(w->p, w->drop, w->call, tensor, 0), dram, 0);
}

#endif
