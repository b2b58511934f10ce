/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/module_dump.h"

#include <limits.h>
#include <stdio.h>

#include "unit.h"

/* The heap's door, defined here (the linker then leaves src/base/alloc.c out): every allocation can fail in turn. */
static long allowed = LONG_MAX;

static bool refuse(void) { return allowed-- <= 0; }
void *ttm_alloc(size_t size) { return refuse() ? NULL : calloc(1, size ? size : 1); }
void *ttm_realloc(void *old, size_t size) { return refuse() ? NULL : realloc(old, size ? size : 1); }
void *ttm_realloc_busy(void *old, size_t size) { return ttm_realloc(old, size); }
void ttm_free(void *p) { free(p); }

/* A dump read whole: text on the heap at its exact size, so that reading past it is an ASan report. */
typedef struct dump {
  ttm_str text;
  ttm_arena arena;
  ttm_module_args args;
  ttm_loc_lines lines;
  ttm_module_facts facts;
} dump;

static dump read_text(ttm_str text) {
  dump d = {.text = heap_view(text)};
  assert_int_equal(ttm_module_args_parse(d.text, &d.arena, &d.args), 0);
  assert_int_equal(ttm_module_loc_lines(d.text, &d.arena, &d.lines), 0);
  d.facts = ttm_module_facts_read(d.text);
  return d;
}

static void dump_free(dump *d) {
  free((char *)d->text.p);
  ttm_arena_free(&d->arena);
  ttm_vec_free(&d->args);
  ttm_vec_free(&d->lines);
}

/* "name:line name:line", in the order given. */
static void assert_lines(const char *text, const char *want) {
  dump d = read_text(ttm_str_of(text));
  char got[4096];
  size_t n = 0;
  got[0] = 0;
  for (size_t i = 0; i < d.lines.n; i++) {
    ttm_loc_line l = d.lines.at[i];
    n += (size_t)snprintf(got + n, sizeof got - n, "%s%.*s:%u", i ? " | " : "", (int)l.name.n, l.name.p,
                          (unsigned)l.line);
    assert_true(n < sizeof got);
  }
  assert_string_equal(got, want);
  dump_free(&d);
}

/* ---- arguments ---- */

static void attributes_of_arguments(void **state) {
  (void)state;
  dump d = read_text(TTM_LIT(
      "module @Graph.1 {\n"
      "  func.func @main(%arg0: tensor<8x4xbf16, #ttnn_layout> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
      "{\"_axis_0\"}]>, "
      "ttcore.argument_type = #ttcore.argument_type<parameter>, ttcore.local_shape = #ttcore<local_shape local_shape = "
      "tensor<8x2xbf16>>, "
      "ttcore.shard_status = #ttcore.shard_status<presharded>, ttir.name = \"w, \\22x\\22 {}\"} loc(\"p0, [1\"),\n"
      "      %arg1: tensor<4xi32> {mhlo.sharding = \"{devices=[2,1]<=[2]}\", ttcore.argument_type = "
      "#ttcore.argument_type<input>, ttcore.kv_cache, "
      "ttcore.runtime_tensor_sharding = #ttcore<runtime_tensor_sharding shard_status = <unsharded>, local_shape = "
      "tensor<2xi32>>},\n"
      "      %arg2: !ttnn.device loc(unknown), %arg3: tensor<f32> {tt.argument_type = #tt.argument_type<constant>},\n"
      "      %arg4: tensor<1xsi32> {ttcore.argument_type = #ttcore.argument_type<default>, ttir.conv2d_weight}, %5: "
      "tensor<1xi1>\n"
      "  ) -> (tensor<8xbf16> {ttcore.shard_status = #ttcore.shard_status<presharded>}) attributes {tt.function_type = "
      "\"forward_device\"} {\n"
      "  }\n"
      "}\n"));
  assert_int_equal(d.args.n, 6);
  const ttm_module_arg *a = d.args.at;
  assert_view(a[0].ssa, "%arg0");
  assert_view(a[0].name, "w, \"x\" {}");
  assert_int_equal(a[0].kind, TTM_ARG_PARAMETER);
  assert_view(a[0].type, "tensor<8x4xbf16, #ttnn_layout>");
  assert_view(a[0].local_type, "tensor<8x2xbf16>");
  assert_view(a[0].shard_status, "presharded");
  assert_false(a[0].kv_cache);
  assert_view(a[1].ssa, "%arg1");
  assert_view(a[1].name, "");
  assert_int_equal(a[1].kind, TTM_ARG_INPUT);
  assert_view(a[1].type, "tensor<4xi32>");
  assert_view(a[1].local_type, "tensor<2xi32>");
  assert_view(a[1].shard_status, "unsharded");
  assert_true(a[1].kv_cache);
  assert_view(a[2].type, "!ttnn.device");
  assert_int_equal(a[2].kind, TTM_ARG_UNKNOWN);
  assert_view(a[3].type, "tensor<f32>");
  assert_int_equal(a[3].kind, TTM_ARG_CONSTANT);
  assert_int_equal(a[4].kind, TTM_ARG_DEFAULT);
  assert_view(a[5].ssa, "%5");
  assert_view(a[5].type, "tensor<1xi1>");
  dump_free(&d);
}

static void assert_first_argument(const char *text, const char *type) {
  dump d = read_text(ttm_str_of(text));
  if (!type) {
    assert_int_equal(d.args.n, 0);
  } else {
    assert_int_equal(d.args.n, 1);
    assert_true(ttm_str_eq(d.args.at[0].type, ttm_str_of(type)));
  }
  dump_free(&d);
}

static void entry_function(void **state) {
  (void)state;
  assert_first_argument(
      "ttcore.device_module {\n builtin.module {\n"
      "  func.func private @main_const_eval_0(%arg0: tensor<1xf32>) -> tensor<1xf32> {\n  }\n"
      "  func.func @other(%arg0: tensor<2xf32>) {\n  }\n"
      "  func.func @main(%arg0: tensor<3xf32>) {\n  }\n } }",
      "tensor<3xf32>");
  assert_first_argument("func.func public @main(%arg0: tensor<3xf32> {mhlo.sharding = \"{replicated}\"}) {",
                        "tensor<3xf32>");
  assert_first_argument(
      "func.func private @hidden(%a: tensor<1xf32>) {}\nfunc.func nested @h2(%a: tensor<1xf32>) {}\n"
      "func.func @declared(tensor<9xf32>) -> tensor<1xf32>\nfunc.func @\"odd name\"(%a: tensor<2xf32>) {}\n",
      "tensor<2xf32>");
  assert_first_argument("func.func @first(%a: tensor<1xf32>) {}\nfunc.func @second(%a: tensor<2xf32>) {}\n",
                        "tensor<1xf32>");
  assert_first_argument("// -----// IR Dump After X ('func.func' operation: @main) //----- //\n", NULL);
  assert_first_argument("func.func @main() -> tensor<1xf32> {\n}", NULL);
  assert_first_argument("module {\n}\n", NULL);
  assert_first_argument("", NULL);
}

static void cut_signature(void **state) {
  (void)state;
  assert_first_argument("func.func @main(%arg0: tensor<3xf32> {ttir.name = \"a\"} loc(\"p0\"), %arg1: tensor<4xf",
                        "tensor<3xf32>");
  assert_first_argument("func.func @main(%arg0: tensor<3xf32>, %arg1: ten", "tensor<3xf32>");
  assert_first_argument("func.func @main(%arg0: tensor<3xf32> loc(\"p0\")", "tensor<3xf32>");
  assert_first_argument("func.func @main(%arg0", NULL);
}

/* ---- locations ---- */

static void order_of_the_old_reports(void **state) {
  (void)state;
  /* Aliases first, then inline names (arguments too), then callees; the lines are those of the operations. */
  assert_lines(
      "#loc1 = loc(\"p0.1\")\n"
      "module @G attributes {a = []} {\n"
      "  func.func @main(%arg0: tensor<4xbf16> loc(\"p0.1\"), %arg1: tensor<4xbf16> loc(\"p1.2\")) -> tensor<4xbf16> "
      "{\n"
      "    %0 = ttcore.load_cached(@main_const_eval_0, [%arg0]) : (tensor<4xbf16>) -> tensor<4xbf16> loc(#loc)\n"
      "    %1 = \"ttnn.add\"(%0, %0) : (tensor<4xbf16>) -> tensor<4xbf16> loc(#loc3)\n"
      "    %2 = \"ttnn.add\"(%1, %0) : (tensor<4xbf16>) -> tensor<4xbf16> loc(#loc2)\n"
      "    %3 = \"ttnn.add\"(%2, %0) : (tensor<4xbf16>) -> tensor<4xbf16> loc(#loc3)\n"
      "    return %3 : tensor<4xbf16> loc(#loc)\n"
      "  } loc(#loc)\n"
      "} loc(#loc)\n"
      "#loc = loc(unknown)\n"
      "#loc2 = loc(\"dot.0\")\n"
      "#loc3 = loc(\"dot.1\")\n",
      "dot.1:5 | dot.0:6 | p0.1:3 | p1.2:3 | @main_const_eval_0:4");
}

static void alias_forms(void **state) {
  (void)state;
  assert_lines(
      "a loc(#loc1)\nb loc(#loc2)\nc loc(#loc3)\nd loc(#loc4)\ne loc(#loc5)\nf loc(#loc6)\ng loc(#loc9)\n"
      "#loc1 = loc(\"name\"(#loc5))\n"
      "  #loc2 = loc( fused[#loc1, \"two, [2\"] )\n"
      "#loc3 = loc(fused<\"meta\">[#loc1, #loc5])\n"
      "#loc4 = loc(callsite(#loc1 at #loc5))\n"
      "#loc5 = loc(\"/a/x.mlir\":9:14)\n"
      "#loc6 = loc(unknown)\n",
      "name:1 | fused[name, two, [2]:2 | fused[name, /a/x.mlir:9:14]:3 | name at /a/x.mlir:9:14:4 | /a/x.mlir:9:14:5");
}

static void inline_forms(void **state) {
  (void)state;
  assert_lines(
      "a loc(\"x\\22y\"(\"child\"))\nb loc(fused[#loc1, \"b\"])\nc alloc(\"no\") loc(unknown)\nd loc(\"open\ne "
      "loc(\"e\")\n#loc1 = loc(\"one\")\n",
      "x\"y:1 | fused[one, b]:2 | e:5");
  assert_lines("%0 = \"ttcore.load_cached\"(%a) <{callee = @f_const_eval_1}> : () -> ()", "@f_const_eval_1:1");
  assert_lines("", "");
  assert_lines("\n\n x loc(\"third\")", "third:3");
  assert_lines("x loc(\"r\")\r\ny loc(#loc1)\r\n#loc1 = loc(\"s\")\r\n", "s:2 | r:1");
}

static void cycles_end(void **state) {
  (void)state;
  assert_lines(
      "#loc1 = loc(fused[#loc2, \"a\"])\n#loc2 = loc(callsite(#loc1 at \"b\"))\n#loc3 = loc(#loc3)\nx loc(#loc3)\ny "
      "loc(\"after\")\n",
      "after:5");
  dump d = read_text(TTM_LIT("#loc1 = loc(fused[#loc2, \"a\"])\n#loc2 = loc(fused[#loc1, #loc1])\nx loc(#loc1)\n"));
  assert_true(d.lines.n <= 1); /* some name or none: what counts is that it ends */
  dump_free(&d);
}

/* Forty fused aliases, each naming the one before it twice, would be 2^40 names without a limit. */
static void growth_ends(void **state) {
  (void)state;
  char text[4096];
  size_t n = (size_t)snprintf(text, sizeof text, "x loc(#loc39)\n#loc0 = loc(\"a\")\n");
  for (int i = 1; i < 40; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "#loc%d = loc(fused[#loc%d, #loc%d])\n", i, i - 1, i - 1);
  dump d = read_text((ttm_str){text, n});
  assert_true(d.lines.n <= 1);
  if (d.lines.n) assert_true(d.lines.at[0].name.n < 1 << 17);
  dump_free(&d);
}

/* ---- facts ---- */

static void facts(void **state) {
  (void)state;
  static const struct {
    const char *text, *name;
    uint32_t alignment, devices;
  } cases[] = {
      {"#system_desc = <[{noc_l1_address_align_bytes = 16, noc_dram_address_align_bytes = 64, x = 1}]>\nmodule "
       "@Graph.12 attributes {ttcore.meshes = "
       "#ttcore.meshes<[<\"mesh0\" = 2x4>]>} {\n ttcore.device @d = <meshShape = 1x1, chipIds = [0]>",
       "Graph.12", 64, 8},
      {"module @jit_f {\n  sdy.mesh @mesh8 = <[\"x\"=1, \"_axis_1\"=32]>\n", "jit_f", 0, 32},
      {"  ttcore.device @default_device = <meshShape = 1x2, chipIds = [0, 1]>", "", 0, 2},
      {"%0 = \"ttnn.get_device\"() <{mesh_shape = #ttnn<mesh_shape 8x4>}>", "", 0, 32},
      {"module {\n}", "", 0, 0},
      {"module @\"a b\" {", "a b", 0, 0},
      {"ttcore.meshes<[<\"m\" = 99999999999x4>]> noc_dram_address_align_bytes = 99999999999", "", 0, 0},
      {"", "", 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    dump d = read_text(ttm_str_of(cases[i].text));
    assert_true(ttm_str_eq(d.facts.name, ttm_str_of(cases[i].name)));
    assert_int_equal(d.facts.dram_alignment, cases[i].alignment);
    assert_int_equal(d.facts.devices, cases[i].devices);
    dump_free(&d);
  }
  ttm_module_facts none = ttm_module_facts_read((ttm_str){NULL, 0});
  assert_int_equal(none.name.n, 0);
}

/* ---- no memory ---- */

static void every_refused_allocation(void **state) {
  (void)state;
  ttm_str text = TTM_LIT(
      "func.func @main(%a: tensor<1xf32> {ttir.name = \"w\\22\"} loc(\"p0\"), %b: tensor<2xf32>) {\n"
      " %0 = ttcore.load_cached(@f, [%a]) : () -> () loc(#loc1)\n x loc(fused[#loc1, \"b\"])\n}\n#loc1 = loc(\"a\")\n");
  int refused = 0;
  for (long limit = 0;; limit++) {
    ttm_arena arena = {0};
    ttm_module_args args = {0};
    ttm_loc_lines lines = {0};
    allowed = limit;
    int rc = ttm_module_args_parse(text, &arena, &args);
    if (!rc) rc = ttm_module_loc_lines(text, &arena, &lines);
    allowed = LONG_MAX;
    assert_true(rc == TTM_OK || rc == TTM_ENOMEM);
    if (rc == TTM_OK) { /* never half an answer */
      assert_int_equal(args.n, 2);
      assert_view(args.at[0].name, "w\"");
      assert_int_equal(lines.n, 4);
    }
    ttm_vec_free(&args);
    ttm_vec_free(&lines);
    ttm_arena_free(&arena);
    if (rc == TTM_OK) break;
    refused++;
  }
  assert_true(refused > 8);
}

/* ---- real dumps, when the folder is there ---- */

/* The body of the nth (from 0) dump of a stage in a log; the caller frees. */
static char *read_stage(const char *path, const char *stage, int nth) {
  const char *shared = getenv("TTMEM_SHARED");
  char name[1024], mark[64];
  snprintf(name, sizeof name, "%s/%s", shared ? shared : "../shared", path);
  snprintf(mark, sizeof mark, "MLIR Module %s:\n", stage);
  FILE *file = fopen(name, "rb");
  if (!file) {
    print_message("skipped: no %s\n", name);
    skip();
  }
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *log = malloc(size + 1);
  assert_non_null(log);
  assert_int_equal(fread(log, 1, size, file), size);
  fclose(file);
  log[size] = 0;
  char *at = log;
  for (int i = 0; i <= nth; i++) {
    at = strstr(at, mark);
    assert_non_null(at);
    at += strlen(mark);
  }
  char *end = strstr(at, "------------------ END OF MLIR MODULE");
  assert_non_null(end);
  *end = 0;
  memmove(log, at, strlen(at) + 1);
  return log;
}

static void golden_locations(void **state) {
  (void)state;
  static const char *const stages[] = {"ttir", "ttnn"};
  for (int i = 0; i < 2; i++) {
    char *text = read_stage("golden/llama-tiny/tiny_profile.log", stages[i], 0);
    /* "loc_index" of tiny_ir.json. */
    assert_lines(text,
                 "dot.0:4 | dot.1:5 | p0.1:3 | p1.2:3 | p2.3:3 | p3.4:3 | p4.5:3 | p5.6:3 | p6.7:3 | p7.8:3 | p8.9:3 | "
                 "p9.10:3 | "
                 "p10.11:3 | p11.12:3 | p12.13:3 | p13.14:3");
    dump d = read_text(ttm_str_of(text));
    assert_int_equal(d.args.n, 14);
    assert_view(d.args.at[0].name, "model.embed_tokens.weight");
    assert_view(d.args.at[13].name, "args_0");
    assert_int_equal(d.args.at[13].kind, TTM_ARG_INPUT);
    assert_view(d.facts.name, "SyncTensorsGraph.11");
    dump_free(&d);
    free(text);
  }
}

static void real_dumps(void **state) {
  (void)state;
  static const struct {
    const char *path, *stage;
    int nth;
    size_t args, lines; /* lines: as the old tool counts them */
    uint32_t alignment, devices;
  } cases[] = {
      {"samples/xla/03_mochi_conv1_norm2.txt", "ttnn", 0, 3, 11, 32, 1},
      {"samples/xla/03_mochi_conv1_norm2.txt", "ttnn", 1, 3, 14, 32, 1},
      {"samples/xla/06_conv3d_sharded.log", "shlo_frontend", 0, 3, 8, 0, 8},
      {"samples/xla/07_qwen_split_sanity.log", "ttnn_runtime", 1, 2, 9, 32, 1},
      {"samples/xla/08_sparse_gather_debug.log", "ttnn", 0, 2, 3, 32, 1},
      {"samples/xla/21_llama8b_oom_real_allocator.log", "ttnn", 0, 194, 226, 0, 0},
      {"samples/xla/22_llama_small_two_runs_real_allocator.log", "ttir", 0, 26, 30, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = read_stage(cases[i].path, cases[i].stage, cases[i].nth);
    dump d = read_text(ttm_str_of(text));
    assert_int_equal(d.args.n, cases[i].args);
    assert_int_equal(d.lines.n, cases[i].lines);
    assert_int_equal(d.facts.dram_alignment, cases[i].alignment);
    assert_int_equal(d.facts.devices, cases[i].devices);
    for (size_t k = 0; k < d.args.n; k++) assert_true(ttm_str_starts(d.args.at[k].type, TTM_LIT("tensor<")));
    dump_free(&d);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attributes_of_arguments),
      cmocka_unit_test(entry_function),
      cmocka_unit_test(cut_signature),
      cmocka_unit_test(order_of_the_old_reports),
      cmocka_unit_test(alias_forms),
      cmocka_unit_test(inline_forms),
      cmocka_unit_test(cycles_end),
      cmocka_unit_test(growth_ends),
      cmocka_unit_test(facts),
      cmocka_unit_test(every_refused_allocation),
      cmocka_unit_test(golden_locations),
      cmocka_unit_test(real_dumps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
