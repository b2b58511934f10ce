/* SPDX-License-Identifier: Apache-2.0 */
/* This file defines the heap's door itself (see test_base_nomem.c), to make any allocation of the parser fail. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <limits.h>
#include <stdio.h>

#include "parse/mlir_scan.h"
#include "parse/op_line.h"
#include "parse/tensor_type.h"
#include "unit.h"

static long allowed = LONG_MAX; /* allocations that still succeed */

static bool refuse(void) { return allowed-- <= 0; }
void *ttm_alloc(size_t size) { return refuse() ? NULL : calloc(1, size ? size : 1); }
void *ttm_realloc(void *old, size_t size) { return refuse() ? NULL : realloc(old, size ? size : 1); }
void *ttm_realloc_busy(void *old, size_t size) { return ttm_realloc(old, size); }
void ttm_free(void *p) { free(p); }

#define T                                                                                                       \
  "tensor<2x4xbf16, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x4xbf16, #ttnn.buffer_type<dram>>, " \
  "<interleaved>>>"

static ttm_op_line op; /* reused by every test, as a reader of logs does */

static void parse(const char *text) {
  int rc = ttm_op_line_parse(ttm_str_of(text), &op);
  if (rc) fail_msg("error %d: %s", rc, text);
}

/* The views joined by blanks. */
static void assert_views(const ttm_strs *views, const char *want) {
  char got[4096];
  size_t n = 0;
  for (size_t i = 0; i < views->n; i++) {
    n += (size_t)snprintf(got + n, sizeof got - n, "%s%.*s", i ? " " : "", (int)views->at[i].n, views->at[i].p);
  }
  got[n] = 0;
  assert_string_equal(got, want);
}

static void generic_form(void **state) {
  (void)state;
  parse("%3 = \"ttnn.add\"(%1, %2#1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (" T ", " T ") -> " T
        " loc(\"add.6\")");
  assert_view(op.name, "ttnn.add");
  assert_view(op.result, "%3");
  assert_int_equal(op.result_count, 1);
  assert_views(&op.operands, "%1 %2#1");
  assert_view(op.attributes, "dtype = #ttcore.supportedDataTypes<bf16>");
  assert_view(op.input_types, T ", " T);
  assert_view(op.output_type, T);
  assert_int_equal(op.inputs.n, 2);
  assert_view(op.inputs.at[1], T);
  assert_int_equal(op.outputs.n, 1);
  assert_view(op.outputs.at[0], T);
  assert_view(op.callee, "");
  assert_view(op.location, "\"add.6\"");
}

static void no_result_no_properties(void **state) {
  (void)state;
  parse("\"ttnn.deallocate\"(%arg12) : (" T ") -> () loc(unknown)\n");
  assert_int_equal(op.result_count, 0);
  assert_view(op.result, "");
  assert_null(op.attributes.p);
  assert_view(op.output_type, "()");
  assert_int_equal(op.outputs.n, 0);
  assert_view(op.location, "unknown");
}

static void no_operands(void **state) {
  (void)state;
  parse(
      "%0 = \"ttnn.get_device\"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> "
      "!ttnn.device loc(unknown)");
  assert_int_equal(op.operands.n, 0);
  assert_int_equal(op.inputs.n, 0);
  assert_view(op.input_types, "");
  assert_view(op.output_type, "!ttnn.device");
  assert_views(&op.outputs, "!ttnn.device");
}

static void several_results(void **state) {
  (void)state;
  parse("%17:3 = \"ttnn.split_query_key_value_and_split_heads\"(%16) <{num_heads = 2 : ui32}> : (" T ") -> (" T
        ", i32, !ttnn.device) loc(\"a\"(\"b\"))");
  assert_view(op.result, "%17");
  assert_int_equal(op.result_count, 3);
  assert_view(op.output_type, "(" T ", i32, !ttnn.device)");
  assert_int_equal(op.outputs.n, 3);
  assert_view(op.outputs.at[1], "i32");
  assert_view(op.location, "\"a\"(\"b\")");

  parse("%a, %b_1:2 = \"x.y\"() : () -> (i32, i32, i32)");
  assert_view(op.result, "%a");
  assert_int_equal(op.result_count, 3);
  parse("%alloc-2.x = \"x.y\"(%cast_0, %named) : (i32, i32) -> i32");
  assert_view(op.result, "%alloc-2.x");
  assert_views(&op.operands, "%cast_0 %named");
}

static void load_cached(void **state) {
  (void)state;
  parse("%0:2 = ttcore.load_cached(@main_const_eval_0, [%arg0, %arg1#2]) : (" T ", " T ") -> (" T ", " T
        ") loc(unknown)");
  assert_view(op.name, "ttcore.load_cached");
  assert_view(op.callee, "main_const_eval_0");
  assert_views(&op.operands, "@main_const_eval_0 %arg0 %arg1#2");
  assert_int_equal(op.outputs.n, 2);
  assert_null(op.attributes.p);

  parse("%0 = ttcore.load_cached(@f, []) : () -> " T " loc(unknown)");
  assert_views(&op.operands, "@f");
  assert_view(op.callee, "f");
  parse("%0 = ttcore.load_cached(@\"odd (name\", [%a]) {x = 1 : i32} : (i32) -> i32");
  assert_view(op.callee, "odd (name");
  assert_view(op.attributes, "x = 1 : i32");
}

static void calls(void **state) {
  (void)state;
  parse("%1 = call @trace_fn(%arg1, %arg2) : (" T ", " T ") -> " T);
  assert_view(op.name, "call");
  assert_view(op.callee, "trace_fn");
  assert_views(&op.operands, "@trace_fn %arg1 %arg2");
  assert_view(op.location, "");
  parse("func.call @outer::@inner() : () -> () loc(callsite(\"a\" at \"b\"))");
  assert_view(op.name, "func.call");
  assert_view(op.callee, "outer::@inner");
}

static void tt_lang(void **state) {
  (void)state;
  parse("%5 = ttnn.tt_lang_op(%a, %b) {kernel = \"k) -> {\", n = [1, 2]} : (i32, " T ") -> (" T ") loc(\"k\")");
  assert_view(op.name, "ttnn.tt_lang_op");
  assert_views(&op.operands, "%a %b");
  assert_view(op.attributes, "kernel = \"k) -> {\", n = [1, 2]");
  assert_view(op.output_type, "(" T ")");
  assert_views(&op.outputs, T);
}

static void nested_attributes(void **state) {
  (void)state;
  parse(
      "\"ttnn.generic\"(%arg0, %1) <{program = #ttnn.program<kernels = [#k<symbol_ref = @dm0, core_ranges = "
      "<[#r<(0,0), (7,7)>]>, "
      "args = []>], cbs = [<formats = [<i = 0>], note = \"}> : () -> \\22 \\\\\">]>, map = affine_map<(d0) -> (d0)>, "
      "nested = {a = {b = 1}}, set = affine_set<(d0) : (d0 >= 0, d0 <= 7)>}> : (" T ", " T ") -> () loc(\"g\")");
  assert_views(&op.operands, "%arg0 %1");
  assert_true(ttm_str_starts(op.attributes, TTM_LIT("program = ")));
  assert_true(ttm_str_ends(op.attributes, TTM_LIT("(d0 >= 0, d0 <= 7)>")));
  assert_int_equal(op.inputs.n, 2);
  assert_view(op.location, "\"g\"");

  /* properties win over discardable attributes; regions and successors are stepped over */
  parse("\"x.y\"(%0)[^bb1] <{p = 1}> ({...}, {...}) {d = 2} : (i32) -> ()");
  assert_view(op.attributes, "p = 1");
  parse("\"x.y\"(%0) <{}> : (i32) -> ()");
  assert_non_null(op.attributes.p);
  assert_view(op.attributes, "");
  /* what describes an operand is none */
  parse("x.y(%0 {u = @v, w = %not}, \"%nor\", <%this>) : (i32) -> ()");
  assert_views(&op.operands, "%0");
}

static void other_types(void **state) {
  (void)state;
  parse("%0 = \"a.b\"(%1) : (!ttnn.global_semaphore, (i32) -> i1) -> tensor<ui32, #ttnn.trace_id> loc(#loc5)");
  assert_int_equal(op.inputs.n, 2);
  assert_view(op.inputs.at[1], "(i32) -> i1");
  assert_view(op.output_type, "tensor<ui32, #ttnn.trace_id>");
  assert_view(op.location, "#loc5");
  parse("%0 = \"a.b\"(%1) : (tensor<1x1x!tt.tile<32x32, f32>>) -> bf16");
  assert_view(op.output_type, "bf16");
  parse("%0 = a.cast(%1) : tensor<4xf32> -> memref<4xf32> loc(\"c\")"); /* custom forms without parentheses */
  assert_view(op.input_types, "tensor<4xf32>");
  assert_view(op.output_type, "memref<4xf32>");
}

static void locations_hold_anything(void **state) {
  (void)state;
  parse("\"a.b\"() : () -> () loc(\"1|Conv[conv1]|/p.py:9|) loc(\\22(, -> <\")");
  assert_view(op.location, "\"1|Conv[conv1]|/p.py:9|) loc(\\22(, -> <\"");
  parse("\"a.b\"() : () -> () loc(fused<{a = \"(\"}>[\"a\", callsite(\"b\" at unknown)]) glued text of another writer");
  assert_view(op.location, "fused<{a = \"(\"}>[\"a\", callsite(\"b\" at unknown)]");
  parse("\"a.b\"() : () -> ()");
  assert_view(op.location, "");
}

static void not_an_operation(void **state) {
  (void)state;
  static const char *texts[] = {
      "",
      " ",
      "%",
      "%0",
      "%0 =",
      "%0 = ",
      "=",
      "\"",
      "\"\"() : () -> ()",
      "ttnn.add",
      "\"ttnn.add\"(",
      "\"ttnn.add\"(%0",
      "\"ttnn.add\"(%)  : () -> ()",
      "\"a\"(@) : () -> ()",
      "\"a\"(@\"x) : () -> ()",
      "\"a\"(%0#) : (i32) -> ()",
      "%0: = \"a\"() : () -> i32",
      "%0:99999999999 = \"a\"() : () -> i32",
      "\"a\"() () -> ()",
      "\"a\"() : ()",
      "\"a\"() : () ->",
      "\"a\"() : () -> tens",
      "\"a\"() : () -> tensor<4xf32",
      "\"a\"() : (] -> ()",
      "\"a\"() <{x = [}> : () -> ()",
      "\"a\"() : () -> () lo",
      "\"a\"() : () -> () loc(",
      "\"a\"() : () -> () loc(\"x\"",
      "\"a\"() : () -> () loc",
      "return %1 : i32",
      "call @(%0) : () -> ()",
      "\"a\"() <x> : () -> ()",
      "\"a\"() : () -> ), (",
      "\"a\"() : (<) -> ()",
      "\"a\"() : () -> i32}",
      "\"a\"() : () -> (i32)junk",
      "func.func @main(%arg0: i32) -> i32 {",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ttm_str copy = heap_view(ttm_str_of(texts[i]));
    if (ttm_op_line_parse(copy, &op) != TTM_EFORMAT) fail_msg("taken for an operation: %s", texts[i]);
    free((char *)copy.p);
  }
  assert_int_equal(ttm_op_line_parse((ttm_str){0}, &op), TTM_EFORMAT);
}

/* A cut line is whole only where it lacks nothing but its location. */
static size_t check_cuts(ttm_str whole) {
  ttm_op_line first = {0};
  assert_int_equal(ttm_op_line_parse(whole, &first), TTM_OK);
  size_t type_end = (size_t)(first.output_type.p + first.output_type.n - whole.p), cuts = 0;
  size_t end = first.location.p ? (size_t)(first.location.p + first.location.n + 1 - whole.p) : type_end;
  bool bare = !memchr(first.output_type.p, '<', first.output_type.n) && first.output_type.p[0] != '(';
  for (size_t n = 0; n < end; n++, cuts++) {
    ttm_str cut = heap_view((ttm_str){whole.p, n});
    int rc = ttm_op_line_parse(cut, &op);
    bool lacks_location_only = n >= type_end && n <= type_end + 1;
    bool bare_word_cut = bare && n > (size_t)(first.output_type.p - whole.p) && n < type_end; /* see op_line.h */
    if (!bare_word_cut && (rc == TTM_OK) != lacks_location_only) fail_msg("%d for %.*s", rc, (int)n, whole.p);
    free((char *)cut.p);
  }
  ttm_op_line_free(&first);
  return cuts;
}

static void every_cut(void **state) {
  (void)state;
  check_cuts(TTM_LIT("%0:2 = \"ttnn.x\"(%1, %2#1) <{a = \"s\\22\", b = [1, {c = <1>}]}> {d} : (" T ", i1) -> (" T ", " T
                     ") loc(fused[\"a\", \"b\"])"));
  check_cuts(TTM_LIT("%0 = ttcore.load_cached(@f, [%arg0]) : (" T ") -> " T " loc(\"x\"(\"y\"))"));
  check_cuts(TTM_LIT("%0 = \"ttnn.get_device\"() : () -> !ttnn.device loc(unknown)"));
  check_cuts(TTM_LIT("call @f() : () -> () loc(unknown)"));
}

/* Input made to hurt must cost no more than its length: 2 MB each, done before anyone notices. */
static void hostile_lengths(void **state) {
  (void)state;
  enum { N = 2000000 };
  char *text = malloc(N + 64);
  assert_non_null(text);
  static const char *fillers[] = {"(",  "[", "<",   "{",  "%",   "@a,", "\"",    "\\",
                                  "->", ",", "%a,", "()", "<>,", "@\"", "%a:1,", "[],"};
  static const char *heads[] = {"",           "%0 = ",       "\"a\"(",           "\"a\"() ",
                                "\"a\"() <{", "\"a\"() : (", "\"a\"() : () -> ", "\"a\"() : () -> () loc("};
  for (size_t h = 0; h < sizeof heads / sizeof *heads; h++) {
    for (size_t f = 0; f < sizeof fillers / sizeof *fillers; f++) {
      size_t n = strlen(heads[h]), step = strlen(fillers[f]);
      memcpy(text, heads[h], n);
      for (; n + step <= N; n += step) memcpy(text + n, fillers[f], step);
      ttm_op_line_parse((ttm_str){text, n}, &op);
    }
  }
  free(text);
}

static void split(void **state) {
  (void)state;
  ttm_strs views = {0};
  assert_int_equal(ttm_split_top_level(TTM_LIT(" a<b, c> , (d, e) -> f,, \"g,\\\",h\",[i,\nj] "), &views), TTM_OK);
  assert_int_equal(views.n, 4);
  assert_view(views.at[0], "a<b, c>");
  assert_view(views.at[1], "(d, e) -> f");
  assert_view(views.at[2], "\"g,\\\",h\"");
  assert_view(views.at[3], "[i,\nj]");
  views.n = 0;
  assert_int_equal(ttm_split_top_level(TTM_LIT(""), &views), TTM_OK);
  assert_int_equal(views.n, 0);
  assert_int_equal(ttm_split_top_level(TTM_LIT("a, (b"), &views), TTM_EFORMAT);
  assert_int_equal(ttm_split_top_level(TTM_LIT("a, b)"), &views), TTM_EFORMAT);
  ttm_vec_free(&views);
}

static void allocations_fail(void **state) {
  (void)state;
  ttm_str text = TTM_LIT("%0 = call @f(%a, %b) : (i32, i32) -> (i32, i32) loc(unknown)");
  int rc = TTM_ENOMEM;
  for (long n = 0; rc; n++) {
    ttm_op_line fresh = {0};
    allowed = n;
    rc = ttm_op_line_parse(text, &fresh);
    allowed = LONG_MAX;
    assert_true(rc == TTM_OK || rc == TTM_ENOMEM);
    assert_true(n > 0 || rc == TTM_ENOMEM);
    ttm_op_line_free(&fresh);
    assert_null(fresh.operands.at);
  }
}

/* Real lines, read in place. */

static FILE *open_shared(const char *name) {
  const char *shared = getenv("TTMEM_SHARED");
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", shared ? shared : TTMEM_SOURCE "/../shared", name);
  FILE *file = fopen(path, "r");
  if (!file) print_message("skipped: no %s\n", path);
  return file;
}

/* Each tensor of a real line must be read, with its layout unless that is an alias. */
static void check_types(const ttm_strs *types) {
  for (size_t i = 0; i < types->n; i++) {
    ttm_tensor_type type;
    bool is_tensor = ttm_str_starts(types->at[i], TTM_LIT("tensor<"));
    if (ttm_tensor_type_parse(types->at[i], &type) != is_tensor) fail_msg("%.*s", (int)types->at[i].n, types->at[i].p);
    if (!is_tensor) continue;
    assert_int_equal(type.has_layout, ttm_str_contains(types->at[i], TTM_LIT("memref<")));
    if (type.has_layout) assert_true(type.buffer != TTM_BUFFER_NONE && type.storage.n && type.grid.rank == 2);
  }
}

static void check_line(ttm_str text) {
  ttm_str copy = heap_view(text);
  int rc = ttm_op_line_parse(copy, &op);
  if (rc) fail_msg("error %d: %.*s", rc, (int)text.n, text.p);
  assert_int_equal(op.result_count, op.outputs.n);
  assert_int_equal(op.operands.n - (op.callee.n ? 1 : 0), op.inputs.n);
  check_types(&op.inputs);
  check_types(&op.outputs);
  free((char *)copy.p);
}

static void logs_of_the_samples(void **state) {
  (void)state;
  static const struct {
    const char *name;
    size_t lines;
  } files[] = {
      {"samples/xla/03_mochi_conv1_norm2.txt", 69},
      {"samples/xla/05_all_gather_new_with_fix_y_x.log", 11},
      {"samples/xla/20_pr5967_commit_message_log.txt", 3},
      {"samples/xla/21_llama8b_oom_real_allocator.log", 886},
      {"samples/xla/22_llama_small_two_runs_real_allocator.log", 486},
      {"golden/llama-tiny/tiny_profile.log", 254},
  };
  char *line = NULL;
  size_t cap = 0, total = 0, cuts = 0;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    FILE *file = open_shared(files[i].name);
    if (!file) skip();
    size_t count = 0;
    for (ssize_t n; (n = getline(&line, &cap, file)) > 0;) {
      ttm_str text = {line, (size_t)n};
      size_t at = ttm_str_find(text, TTM_LIT("Executing operation: "));
      if (at == TTM_NOT_FOUND) continue;
      text = ttm_str_from(text, at + 21);
      check_line(text);
      if (++count % 16 == 1) cuts += check_cuts(text);
    }
    fclose(file);
    assert_int_equal(count, files[i].lines);
    total += count;
  }
  free(line);
  print_message("%zu operation lines read, %zu cuts of them judged\n", total, cuts);
}

/* Lines of a module that have the form of a runtime operation; `return`, d2m and emitc have forms no log prints. */
static bool is_operation(ttm_str line) {
  size_t equals = ttm_str_find(line, TTM_LIT(" = "));
  if (line.n && line.p[0] == '%' && equals != TTM_NOT_FOUND) line = ttm_str_from(line, equals + 3);
  return ttm_str_starts(line, TTM_LIT("\"")) || ttm_str_starts(line, TTM_LIT("call @")) ||
         ttm_str_starts(line, TTM_LIT("ttcore.load_cached("));
}

static void modules_of_the_samples(void **state) {
  (void)state;
  static const struct {
    const char *name;
    size_t lines;
  } files[] = {
      {"samples/xla/12_negative_capture_or_execute_trace.mlir", 164},
      {"samples/xla/13_mnist_sharded.mlir", 21},
      {"samples/xla/14_memory_management.mlir", 25},
      {"samples/xla/15_const-eval.mlir", 40},
      {"samples/xla/16_decomposing_layouts_dram_sharded.mlir", 14},
      {"samples/xla/17_nd_layout_encoding.mlir", 5},
      {"samples/xla/18_mul_add_l1_block.mlir", 0},
  };
  char *line = NULL;
  size_t cap = 0, total = 0;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    FILE *file = open_shared(files[i].name);
    if (!file) skip();
    size_t count = 0;
    for (ssize_t n; (n = getline(&line, &cap, file)) > 0;) {
      ttm_str text = ttm_scan_trim((ttm_str){line, (size_t)n});
      if (!is_operation(text)) continue;
      check_line(text);
      count++;
    }
    fclose(file);
    assert_int_equal(count, files[i].lines);
    total += count;
  }
  free(line);
  print_message("%zu operations in modules read\n", total);
}

static void what_operations_do_with_operands(void **state) {
  (void)state;
  const struct {
    const char *name;
    size_t operand;
    uint8_t use;
  } rows[] = {
      {"ttnn.matmul", 1, TTM_USE_MULTIPLY},
      {"ttnn.matmul", 0, TTM_USE_OTHER},
      {"ttnn.linear", 1, TTM_USE_MULTIPLY},
      {"ttnn.linear", 2, TTM_USE_OTHER},
      {"ttnn::linear", 1, TTM_USE_MULTIPLY},
      {"MatmulDeviceOperation", 1, TTM_USE_MULTIPLY},
      {"ttnn.embedding", 1, TTM_USE_TABLE},
      {"ttnn.embedding", 0, TTM_USE_OTHER},
      {"ttnn.rotary_embedding", 1, TTM_USE_OTHER},
      {"ttnn.reshape", 1, TTM_USE_OTHER},
      {"ttnn.to_layout", 0, 0},
      {"ttcore.load_cached", 1, 0},
      {"Tensor::reshape", 0, 0},
      {"", 1, TTM_USE_OTHER},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_int_equal(ttm_operand_use(ttm_str_of(rows[i].name), rows[i].operand), rows[i].use);
}

static int free_op(void **state) {
  (void)state;
  ttm_op_line_free(&op);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(generic_form),
      cmocka_unit_test(no_result_no_properties),
      cmocka_unit_test(no_operands),
      cmocka_unit_test(several_results),
      cmocka_unit_test(load_cached),
      cmocka_unit_test(calls),
      cmocka_unit_test(tt_lang),
      cmocka_unit_test(nested_attributes),
      cmocka_unit_test(other_types),
      cmocka_unit_test(locations_hold_anything),
      cmocka_unit_test(not_an_operation),
      cmocka_unit_test(every_cut),
      cmocka_unit_test(hostile_lengths),
      cmocka_unit_test(split),
      cmocka_unit_test(what_operations_do_with_operands),
      cmocka_unit_test(allocations_fail),
      cmocka_unit_test(logs_of_the_samples),
      cmocka_unit_test(modules_of_the_samples),
  };
  return cmocka_run_group_tests(tests, NULL, free_op);
}
