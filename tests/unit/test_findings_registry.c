/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of arguments and the operations that take weights. */
#include "profile_fixture.h"

static uint32_t add_graph(ttm_profile *p) {
  ttm_graph graph;
  memset(&graph, 0, sizeof graph);
  fx_ok(ttm_vec_push(&p->graphs, graph));
  return (uint32_t)(p->graphs.n - 1);
}

static void add_arg(ttm_profile *p, uint32_t graph, const char *name, ttm_arg_kind kind, const char *type,
                    const char *local) {
  ttm_graph_arg arg = {.name = fx_str(p, name), .kind = (uint8_t)kind, .type = fx_type(p, type)};
  arg.local_type = fx_type(p, local);
  fx_ok(ttm_vec_push(&p->graphs.at[graph].args, arg));
}

static uint32_t add_weights(ttm_profile *p, uint32_t arg) {
  fx_ok(ttm_vec_push(&p->lists, arg));
  fx_ok(ttm_vec_push(&p->weight_lists, (ttm_list){(uint32_t)p->lists.n - 1, 1}));
  return (uint32_t)p->weight_lists.n - 1;
}

static ttm_profile *two_graphs(void) {
  ttm_profile *p = fx_new(1);
  uint32_t a = add_graph(p), b = add_graph(p);
  add_arg(p, a, "w0", TTM_ARG_PARAMETER, "tensor<8x8xbf16>", "tensor<4x8xbf16>");
  add_arg(p, a, "x", TTM_ARG_INPUT, "tensor<8xf32>", "tensor<8xf32>");
  add_arg(p, a, "", TTM_ARG_CONSTANT, "tensor<2xbf16>", "tensor<2xbf16>");
  add_arg(p, a, "", TTM_ARG_CONSTANT, "tensor<2xbf16>", "tensor<2xbf16>");
  add_arg(p, a, "w0", TTM_ARG_PARAMETER, "tensor<8x8xbf16>", "tensor<4x8xbf16>"); /* twice in one graph */
  add_arg(p, b, "", TTM_ARG_CONSTANT, "tensor<2xbf16>", "tensor<2xbf16>");        /* nameless: nobody can tell */
  add_arg(p, b, "w0", TTM_ARG_PARAMETER, "tensor<8x8xbf16>", "tensor<4x8xbf16>");
  add_arg(p, b, "w0", TTM_ARG_INPUT, "tensor<8x8xbf16>", "tensor<4x8xbf16>");
  add_arg(p, b, "w0", TTM_ARG_PARAMETER, "tensor<8x8xbf16>", "tensor<8x8xbf16>");
  add_arg(p, b, "x", TTM_ARG_DEFAULT, "tensor<8xf32>", "tensor<8xf32>");
  return p;
}

static void counted_once_over_graphs(void **state) {
  (void)state;
  ttm_profile *p = two_graphs();
  ttm_findings *f = fx_findings(p);
  const ttm_registry *r = &f->registry;
  const bool repeated[10] = {[6] = true, [9] = true};
  assert_int_equal(r->entries.n, 10);
  for (size_t i = 0; i < 10; i++) assert_int_equal(r->entries.at[i].repeated, repeated[i]);
  for (size_t i = 0; i < 5; i++) assert_int_equal(r->entries.at[i].arg, i);
  assert_int_equal(r->first_of_graph.at[1], 5);
  assert_int_equal(r->entries.at[0].bytes, 64); /* per device */
  assert_int_equal(r->weights, 6);
  assert_int_equal(r->inputs, 2);
  assert_int_equal(r->weight_bytes, 64 + 4 + 4 + 64 + 4 + 128);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void found_through_the_frame(void **state) {
  (void)state;
  ttm_profile *p = two_graphs();
  uint32_t top = fx_call(p, "main", 0, TTM_NONE), other = fx_call(p, "main", 0, TTM_NONE);
  p->calls.at[top].graph = 1;
  uint32_t inside = fx_call(p, "main_const_eval_0", 0, top);
  p->calls.at[inside].graph = TTM_NONE; /* only the top one is asked */
  ttm_findings *f = fx_findings(p);
  assert_int_equal(ttm_registry_find(&f->registry, p, top, 0), 5);
  assert_int_equal(ttm_registry_find(&f->registry, p, inside, 4), 9);
  assert_int_equal(ttm_registry_find(&f->registry, p, inside, 5), TTM_NONE);
  assert_int_equal(ttm_registry_find(&f->registry, p, inside, TTM_NONE), TTM_NONE);
  assert_int_equal(ttm_registry_find(&f->registry, p, other, 0), TTM_NONE);
  assert_int_equal(ttm_registry_find(&f->registry, p, TTM_NONE, 0), TTM_NONE);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void weight_operations(void **state) {
  (void)state;
  ttm_profile *p = two_graphs();
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL);
  uint32_t drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  uint32_t top = fx_call(p, "main", 0, TTM_NONE), weight = add_weights(p, 0), input = add_weights(p, 1);
  p->calls.at[top].graph = 0;
  uint32_t inside = fx_call(p, "main_const_eval_0", 0, top);
  for (uint32_t i = 0; i < 3; i++) fx_op(p, add, top);
  fx_op(p, add, inside);
  uint32_t freed = fx_op_only(p, drop, top);
  p->ops.at[0].weights = weight;
  p->ops.at[1].weights = input;
  p->ops.at[freed].weights = weight; /* not an element */
  ttm_findings *f = fx_findings(p);
  assert_true(ttm_op_takes_weight(&f->registry, p, 0));
  assert_false(ttm_op_takes_weight(&f->registry, p, 1));
  assert_false(ttm_op_takes_weight(&f->registry, p, 2));
  assert_int_equal(f->elements, 4);
  assert_int_equal(f->weight_ops, 2);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counted_once_over_graphs),
      cmocka_unit_test(found_through_the_frame),
      cmocka_unit_test(weight_operations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
