/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/module.h"

#include "starving.h"
#include "unit.h"

#define T "tensor<32x64xbf16, #layout>"

static const char MODULE[] =
    "#dram = #ttnn.buffer_type<dram>\n"
    "#layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bf16>, #dram>, "
    "<interleaved>>\n"
    "#loc1 = loc(\"add.7\")\n"
    "module @Small attributes {ttcore.meshes = #ttcore.meshes<[<\"mesh\" = 1x2>]>} {\n"
    "  ttcore.device_module {\n"
    "    builtin.module @Small {\n"
    "      ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>>\n"
    "      func.func private @declared(" T
    ")\n"
    "      func.func private @main_const_eval_0(%arg0: " T " loc(unknown)) -> " T
    " {\n"
    "        %0 = \"ttnn.neg\"(%arg0) : (" T ") -> " T
    " loc(#loc1)\n"
    "        return %0 : " T
    " loc(#loc)\n"
    "      } loc(#loc)\n"
    "      func.func @main(%arg0: " T
    " {ttir.name = \"x\"} loc(\"a, b\"),\n"
    "                      %arg1: " T ") -> (" T
    ") attributes {k = 1} {\n"
    "        %0 = ttcore.load_cached(@main_const_eval_0, [%arg1]) : (" T ") -> " T
    " loc(#loc)\n"
    "        %values, %indices = \"ttnn.topk\"(%arg0) <{dim = 1 : i32, k = 4 : i32}> : (" T ") -> (" T
    ", tensor<32x4xui16>) loc(#loc1)\n"
    "        %1:2 = call @main_const_eval_0(%values) : (" T ") -> (" T ", " T
    ")\n"
    "        \"ttnn.generic\"(%1#1) <{program = {\n"
    "          kernels = [1, 2]\n"
    "        }}> : (" T
    ") -> () loc(#loc1)\n"
    "        what is this {\n"
    "        }\n"
    "        \"ttnn.deallocate\"(%indices) <{force = false}> : (tensor<32x4xui16>) -> ()\n"
    "        return %1#1, %0 : " T ", " T
    "\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "  ttcore.cpu_module {\n"
    "    func.func @hoisted(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
    "      %0 = linalg.oddity ins(%arg0) outs(%arg0) -> tensor<4xf32>\n"
    "      return %0 : tensor<4xf32>\n"
    "    }\n"
    "  }\n"
    "} loc(#loc)\n"
    "#loc = loc(unknown)\n";

static const ttm_module_op *op_of(const ttm_module *m, uint32_t function, uint32_t k) {
  assert_true(k < m->functions.at[function].op_count);
  return &m->ops.at[m->functions.at[function].ops + k];
}

static uint32_t operand(const ttm_module *m, const ttm_module_op *op, uint32_t k) {
  assert_true(k < op->operand_count);
  return m->operands.at[op->operands + k];
}

static void functions_and_values_are_read(void **state) {
  (void)state;
  ttm_module m;
  ttm_str text = heap_view(((ttm_str){MODULE, sizeof MODULE - 1})), name;
  assert_int_equal(ttm_module_parse(&m, text), TTM_OK);
  assert_int_equal(m.functions.n, 3);
  assert_int_equal(m.facts.devices, 2);
  assert_int_equal(m.entry, 1);
  assert_view(m.functions.at[1].name, "main");
  assert_int_equal(m.functions.at[1].arg_count, 2);
  assert_view(m.args.at[m.functions.at[1].args].name, "x");
  assert_true(m.functions.at[2].on_host);

  const ttm_module_op *cached = op_of(&m, 1, 0), *topk = op_of(&m, 1, 1), *call = op_of(&m, 1, 2);
  assert_int_equal(cached->callee, 0);
  assert_int_equal(operand(&m, cached, 0), m.functions.at[1].values + 1);
  assert_int_equal(topk->result_count, 2);
  assert_view(ttm_module_attribute(topk, TTM_LIT("k")), "4 : i32");
  assert_int_equal(ttm_module_attribute(topk, TTM_LIT("dim2")).n, 0);
  assert_int_equal(operand(&m, call, 0), topk->results);
  assert_int_equal(ttm_module_location(m.locations, topk->location, &name), TTM_OK);
  assert_view(name, "add.7");

  const ttm_module_op *generic = op_of(&m, 1, 3), *deallocate = op_of(&m, 1, 5), *last = op_of(&m, 1, 6);
  assert_view(generic->name, "ttnn.generic");
  assert_int_equal(operand(&m, generic, 0), call->results + 1);
  assert_int_equal(operand(&m, deallocate, 0), topk->results + 1);
  assert_view(last->name, "return");
  assert_int_equal(operand(&m, last, 1), cached->results);

  const ttm_module_type *type = &m.types.at[m.value_types.at[cached->results]];
  assert_true(type->is_tensor && type->tensor.has_layout && type->tensor.buffer == TTM_BUFFER_DRAM);
  ttm_module_free(&m);
  free((char *)text.p);
}

/* What is not understood is counted where it matters: not in functions of the host. */
static void unread_lines_are_counted(void **state) {
  (void)state;
  ttm_module m;
  assert_int_equal(ttm_module_parse(&m, ((ttm_str){MODULE, sizeof MODULE - 1})), TTM_OK);
  assert_int_equal(m.unread, 1);
  assert_int_equal(m.first_bad, 21);
  assert_true(op_of(&m, 1, 4)->unread);
  ttm_module_free(&m);
}

/* The end of a function may be lost: its return, or all up to the next function. */
static void lost_ends_are_counted(void **state) {
  (void)state;
  ttm_module m;
  ttm_str text = TTM_LIT("func.func @a() {\n}\nfunc.func @b() {\nfunc.func @c() {\nreturn\n}\n");
  assert_int_equal(ttm_module_parse(&m, text), TTM_OK);
  assert_int_equal(m.functions.n, 3);
  assert_int_equal(m.unread, 2);
  assert_int_equal(m.first_bad, 2);
  assert_true(!m.functions.at[0].returns && !m.functions.at[1].returns && m.functions.at[2].returns);
  assert_false(m.cut);
  ttm_module_free(&m);
}

static void any_cut_is_read(void **state) {
  (void)state;
  for (size_t n = 0; n < sizeof MODULE; n++) {
    ttm_module m;
    ttm_str text = heap_view((ttm_str){MODULE, n});
    assert_int_equal(ttm_module_parse(&m, text), TTM_OK);
    ttm_module_free(&m);
    free((char *)text.p);
  }
}

static bool parse_starved(void *context, bool plenty) {
  (void)context;
  ttm_module m;
  int status = ttm_module_parse(&m, (ttm_str){MODULE, sizeof MODULE - 1});
  ttm_module_free(&m);
  return plenty || (status == TTM_OK) == (starve_allowed >= 0);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  starve_walk(parse_starved, NULL);
}

/* Each line may ask for all that follows it: half a million of them would have looked at a terabyte. */
static void signatures_that_do_not_close(void **state) {
  static const char *const heads[] = {"func.func\n", "func.func @f(\n", "func.func @f(\"\n", "func.func @f(]\n",
                                      "func.func @f\n"};
  static const char last[] = "func.func @main() -> " T " {\n  return\n}\n";
  (void)state;
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    ttm_buf text = {0};
    ttm_module m;
    ttm_buf_puts(&text, "module @m {\n");
    for (int k = 0; k < 500000; k++) ttm_buf_puts(&text, heads[i]);
    ttm_buf_puts(&text, last);
    assert_int_equal(ttm_module_parse(&m, ttm_buf_str(&text)), TTM_OK);
    assert_int_equal(m.functions.n, i == 1 || i == 2 ? 0 : 1); /* what is open takes in all that follows */
    ttm_module_free(&m);
    ttm_buf_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signatures_that_do_not_close),
      cmocka_unit_test(functions_and_values_are_read),
      cmocka_unit_test(unread_lines_are_counted),
      cmocka_unit_test(lost_ends_are_counted),
      cmocka_unit_test(any_cut_is_read),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
