/* SPDX-License-Identifier: Apache-2.0 */
/* What the builder makes of a small log that holds one of everything (tests/data/small.log), and of hand-made pieces. */
#include "unit.h"

#include <stdio.h>

#include "base/buf.h"
#include "profile/profile.h"

#define RT(text) "            RuntimeTTNN |    DEBUG | " text "\n"
#define AL(text) "                 Always |     INFO | " text "\n"
#define OP(text) RT("Executing operation: " text)
#define LEVEL(name, allocated)                                                              \
  AL("Device " name " memory state: MemoryView{numBanks: 12, totalBytesPerBank: " allocated \
     " MB, totalBytesAllocatedPerBank: " allocated                                          \
     " MB, totalBytesFreePerBank: 0.000 MB, "                                               \
     "largestContiguousBytesFreePerBank: 0.000 MB}")
#define LEVELS(dram) LEVEL("DRAM", dram) LEVEL("L1", "0.001") LEVEL("L1_SMALL", "0.000") LEVEL("TRACE", "0.000")
#define BLOCK(type, dram) AL("Device memory state before operation " type) LEVELS(dram)
#define T                                                                                                    \
  "tensor<32x32xbf16, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, " \
  "#ttnn.buffer_type<dram>>, <interleaved>>>"

static ttm_profile *read_text(const char *text) {
  ttm_profile *p = NULL;
  ttm_error err;
  int rc = ttm_profile_read_bytes(&p, text, strlen(text), NULL, &err);
  if (rc) fail_msg("%s", err.message);
  return p;
}

static uint32_t allocated(const ttm_profile *p, uint32_t state) {
  ttm_level level;
  assert_true(ttm_state_level(p, state, TTM_DRAM, &level));
  return level.allocated;
}

static ttm_str name_of(const ttm_profile *p, uint32_t op) { return ttm_profile_string(p, ttm_op_text_of(p, op)->name); }
static ttm_str loc_of(const ttm_profile *p, uint32_t op) {
  return ttm_profile_string(p, ttm_op_text_of(p, op)->location);
}

/* First operation with this name at or after `from`. */
static uint32_t find_op(const ttm_profile *p, const char *name, uint32_t from) {
  while (!ttm_str_eq(name_of(p, from), ttm_str_of(name))) assert_true(++from < p->ops.n);
  return from;
}

static ttm_profile *read_small(void) {
  ttm_profile *p = NULL;
  ttm_error err;
  int rc = ttm_profile_read(&p, TTMEM_SOURCE "/tests/data/small.log", &err);
  if (rc) fail_msg("%s", err.message);
  return p;
}

static void test_small_counts(void **state) {
  (void)state;
  ttm_profile *p = read_small();
  assert_int_equal(p->kind, TTM_LOG_FULL);
  assert_int_equal(p->seen.op_lines, 18);
  assert_int_equal(p->seen.blocks, 21);
  assert_int_equal(p->seen.submit_blocks, 3);
  assert_int_equal(p->seen.deallocations, 6);
  assert_int_equal(p->seen.get_devices, 1);
  assert_int_equal(p->seen.retained, 2);
  assert_int_equal(p->seen.bad_op_lines + p->seen.bad_blocks + p->seen.unpaired, 0);
  assert_int_equal(p->seen.unfinished, 1);
  assert_int_equal(p->seen.dumps, 3);
  assert_false(p->seen.cut);
  assert_int_equal(ttm_profile_operation_count(p), 11);
  ttm_profile_free(p);
}

static void test_small_programs(void **state) {
  (void)state;
  ttm_profile *p = read_small();
  assert_int_equal(p->runs.n, 2);
  assert_int_equal(p->calls.n, 3);
  const ttm_call *run0 = &p->calls.at[p->runs.at[0]], *run1 = &p->calls.at[p->runs.at[1]], *inner = &p->calls.at[1];
  assert_true(run0->finished && !run1->finished);
  assert_int_equal(run1->run, 1);
  assert_true(inner->const_eval && inner->cache_miss && inner->finished);
  assert_int_equal(inner->parent, p->runs.at[0]);
  assert_view(name_of(p, inner->caller), "ttcore.load_cached");
  assert_int_equal(allocated(p, run0->before), 0);
  assert_int_equal(allocated(p, run0->after), 4);
  assert_int_equal(allocated(p, run1->before), 2);
  assert_int_equal(run0->graph, 0);
  assert_int_equal(run1->graph, 0);
  ttm_profile_free(p);
}

/* The result of load_cached is the tensor its const-eval program left, in the first run and, from the cache, in the second. */
static void test_small_tensors(void **state) {
  (void)state;
  ttm_profile *p = read_small();
  uint32_t to_layout = find_op(p, "ttnn.to_layout", 0);
  uint32_t weight = p->ops.at[to_layout].tensor;
  assert_int_equal(p->tensors.at[weight].self, weight);
  assert_int_equal(p->tensors.at[weight].freed_by, TTM_NONE);
  uint32_t first = find_op(p, "ttcore.load_cached", 0), second = find_op(p, "ttcore.load_cached", first + 1);
  assert_int_equal(p->tensors.at[p->ops.at[first].tensor].self, weight);
  assert_int_equal(p->tensors.at[p->ops.at[second].tensor].self, weight);
  assert_true(p->ops.at[second].flags & TTM_OP_CACHE_HIT);
  assert_int_equal(p->tensors.at[weight].last_use, find_op(p, "ttnn.add", second));

  uint32_t to_device = find_op(p, "ttnn.to_device", 0);
  uint32_t freed_by = p->tensors.at[p->ops.at[to_device].tensor].freed_by;
  assert_view(name_of(p, freed_by), "ttnn.deallocate");
  assert_int_equal(p->ops.at[freed_by].tensor, p->ops.at[to_device].tensor);

  uint32_t sort = find_op(p, "ttnn.sort", 0);
  uint32_t results = p->ops.at[sort].tensor;
  assert_int_not_equal(p->tensors.at[results].freed_by, TTM_NONE);
  assert_int_equal(p->tensors.at[results + 1].freed_by, TTM_NONE);
  assert_int_equal(p->tensors.at[results + 1].last_use, find_op(p, "ttnn.to_memory_config", 0));
  assert_view(ttm_tensor_type_of(p, results + 1)->storage, "bfp_bf8");

  /* The operation that ran out of memory made nothing. */
  uint32_t matmul = find_op(p, "ttnn.matmul", 0);
  assert_true(p->ops.at[matmul].flags & TTM_OP_FAILED);
  assert_int_equal(p->ops.at[matmul].tensor, TTM_NONE);
  ttm_profile_free(p);
}

static void test_small_weights(void **state) {
  (void)state;
  ttm_profile *p = read_small();
  assert_int_equal(p->graphs.n, 1);
  const ttm_graph *g = &p->graphs.at[0];
  assert_int_equal(g->args.n, 2);
  assert_view(ttm_profile_string(p, g->args.at[0].name), "layer.0.weight");
  assert_int_equal(g->args.at[0].kind, TTM_ARG_PARAMETER);
  assert_int_equal(g->args.at[1].kind, TTM_ARG_INPUT);
  ttm_list add = ttm_profile_weights(p, p->ops.at[find_op(p, "ttnn.add", 0)].weights);
  assert_int_equal(add.n, 2); /* the input it names, and the weight behind the load_cached */
  ttm_list inner = ttm_profile_weights(p, p->ops.at[find_op(p, "ttnn.to_layout", 0)].weights);
  assert_int_equal(inner.n, 1);
  assert_int_equal(p->lists.at[inner.first], 0);
  assert_int_equal(ttm_profile_weights(p, p->ops.at[find_op(p, "ttnn.sort", 0)].weights).n, 0);
  ttm_profile_free(p);
}

/* Beside few arguments, which are compared one by one, also so many that a map takes over. */
static void test_each_argument_is_one_weight(void **state) {
  (void)state;
  static const uint32_t counts[] = {1, 31, 32, 33, 34, 1000};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    ttm_buf log = {0};
    ttm_buf_puts(&log, RT("Starting execution of program: main") "            RuntimeTTNN |    DEBUG | ");
    ttm_buf_puts(&log, "Executing operation: %1 = \"ttnn.concat\"(");
    for (uint32_t i = 0; i < 3 * counts[c]; i++) /* the second and third time they are known */
      ttm_buf_printf(&log, "%s%%arg%u", i ? ", " : "", i % counts[c] * 7);
    ttm_buf_puts(&log,
                 ") : (" T ") -> " T " loc(\"c\")\n" OP("%2 = \"ttnn.neg\"(%arg5) : (" T ") -> " T " loc(\"n\")"));
    ttm_buf_char(&log, '\0');
    ttm_profile *p = read_text(log.at);
    ttm_list weights = ttm_profile_weights(p, p->ops.at[find_op(p, "ttnn.concat", 0)].weights);
    assert_int_equal(weights.n, counts[c]);
    for (uint32_t i = 0; i < weights.n; i++) assert_int_equal(p->lists.at[weights.first + i], i * 7);
    assert_int_equal(ttm_profile_weights(p, p->ops.at[find_op(p, "ttnn.neg", 0)].weights).n, 1);
    ttm_profile_free(p);
    ttm_buf_free(&log);
  }
}

static void test_small_texts(void **state) {
  (void)state;
  ttm_profile *p = read_small();
  assert_view(loc_of(p, find_op(p, "ttcore.load_cached", 0)), "@main_const_eval_0");
  assert_view(loc_of(p, find_op(p, "ttnn.add", 0)), "model|add.1");
  assert_view(loc_of(p, find_op(p, "ttnn.sort", 0)), "fused[sort.a, sort.b]");
  const ttm_op_text *add = ttm_op_text_of(p, find_op(p, "ttnn.add", 0));
  assert_view(ttm_profile_string(p, add->attributes),
              "dtype = #ttcore.supportedDataTypes<bf16>, nested = {a = [1, {b = \"}>\"}]}");
  assert_view(ttm_profile_string(p, add->op_type), "EltwiseBinaryOp");
  /* Both runs print the same bytes, so they share one text. */
  uint32_t first = find_op(p, "ttnn.add", 0), second = find_op(p, "ttnn.add", first + 1);
  assert_int_equal(p->ops.at[first].text, p->ops.at[second].text);
  /* A runtime line inside the dump does not belong to it. */
  ttm_buf text = {0};
  for (size_t d = 0; d < p->graphs.at[0].dumps.n; d++)
    if (p->graphs.at[0].dumps.at[d].packed)
      assert_int_equal(ttm_profile_dump_text(&p->graphs.at[0].dumps.at[d], &text), TTM_OK);
  assert_true(ttm_str_contains(ttm_buf_str(&text), TTM_LIT("ttir.add")));
  assert_false(ttm_str_contains(ttm_buf_str(&text), TTM_LIT("grid size")));
  ttm_buf_free(&text);
  ttm_profile_free(p);
}

static void test_small_incident(void **state) {
  (void)state;
  ttm_profile *p = read_small();
  assert_int_equal(p->incidents.n, 1);
  const ttm_incident *i = &p->incidents.at[0];
  assert_int_equal(i->what.kind, TTM_INCIDENT_OOM);
  assert_int_equal(i->copies, 2);
  assert_int_equal(i->what.needed_per_bank, 9787392);
  assert_view(name_of(p, i->op), "ttnn.matmul");
  assert_int_equal(p->states.at[i->state].op, i->op);
  ttm_profile_free(p);
}

/* The same failure logged twice happened twice; its exception copies do not count. */
static void test_incident_again(void **state) {
  (void)state;
#define OOM \
  "Out of Memory: Not enough space to allocate 64 B L1 buffer across 2 banks, where each bank needs to store 32 B"
#define LOGGED "2026-11-15 09:32:58.266 | critical |          Always | TT_FATAL: " OOM " (assert.hpp:104)\n"
  ttm_profile *p = read_text(LOGGED "RuntimeError: TT_FATAL @ a.cpp:1: false\ninfo:\n" OOM "\n" LOGGED OOM "\n");
  assert_int_equal(p->kind, TTM_LOG_INCIDENTS);
  assert_int_equal(p->incidents.n, 2);
  assert_int_equal(p->incidents.at[0].copies, 2);
  ttm_profile_free(p);
}

static void test_fatal_sentence(void **state) {
  (void)state;
  ttm_profile *p = read_text(
      OP("%0 = \"ttnn.reshape\"(%arg0) : (" T ") -> " T
         " loc(\"r\")") "Exception: TT_FATAL @ reshape.cpp:12: a == b\ninfo:\nShapes do not fit\nbacktrace:\n");
  assert_int_equal(p->incidents.n, 1);
  assert_int_equal(p->incidents.at[0].what.kind, TTM_INCIDENT_FATAL);
  assert_view(p->incidents.at[0].what.text, "Shapes do not fit");
  assert_int_equal(p->incidents.at[0].line, 4);
  assert_int_equal(p->incidents.at[0].op, 0);
  ttm_profile_free(p);
}

/* What another rank or thread writes between "info:" and its sentence is not the sentence. */
static void test_fatal_sentence_between_others(void **state) {
  (void)state;
  ttm_profile *p = read_text(
      "[1,0]<stderr>:Exception: TT_FATAL @ reshape.cpp:12: a == b\n[1,0]<stderr>:info:\n"
      "[1,1]<stdout>:" LEVEL(
          "DRAM", "1.000") "[1,1]<stderr>:warning\n[1,0]<stdout>:" AL("x") "[1,0]<stderr>:Shapes do not fit\n");
  assert_int_equal(p->incidents.n, 1);
  assert_view(p->incidents.at[0].what.text, "Shapes do not fit");
  assert_int_equal(p->incidents.at[0].line, 6);
  ttm_profile_free(p);
}

/* ---- The four kinds of log --------------------------------------------------------------------------------------------- */

static void test_blocks_only(void **state) {
  (void)state;
  ttm_profile *p = read_text(BLOCK("GetDeviceOp", "0.000") BLOCK("RepeatOp", "1.000") BLOCK("DeallocateOp", "9.000"));
  assert_int_equal(p->kind, TTM_LOG_BLOCKS);
  assert_int_equal(p->ops.n, 3);
  assert_int_equal(ttm_profile_operation_count(p), 1);
  assert_view(name_of(p, 1), "RepeatOp");
  assert_int_equal(p->ops.at[1].line, 6);
  assert_int_equal(allocated(p, p->ops.at[2].state), 9000);
  assert_int_equal(p->seen.unpaired, 0);
  ttm_profile_free(p);
}

static void test_ops_only(void **state) {
  (void)state;
  ttm_profile *p = read_text(RT("Starting execution of program: main") OP(
      "%0 = \"ttnn.ones\"() : () -> " T " loc(\"a\")") OP("\"ttnn.deallocate\"(%0) : (" T ") -> () loc(\"a\")"));
  assert_int_equal(p->kind, TTM_LOG_OPS);
  assert_int_equal(p->ops.at[0].state, TTM_NONE);
  assert_int_equal(p->tensors.at[0].freed_by, 1);
  ttm_profile_free(p);
}

static void test_submit_only(void **state) {
  (void)state;
  ttm_profile *p = read_text(AL("Device memory state before submit") LEVELS("1.000") AL(
      "Device memory state after submit") LEVELS("2.000") AL("Device memory state before submit") LEVELS("3.000"));
  assert_int_equal(p->kind, TTM_LOG_SUBMIT);
  assert_int_equal(p->runs.n, 2); /* the second never came back */
  const ttm_call *f = &p->calls.at[p->runs.at[0]];
  assert_int_equal(allocated(p, f->before), 1000);
  assert_int_equal(allocated(p, f->after), 2000);
  ttm_profile_free(p);
}

static void test_nothing(void **state) {
  (void)state;
  const struct {
    const char *text, *says;
  } cases[] = {{"", "empty"},
               {"hello\n", "no TT-XLA"},
               {"module @x {\n}\n", "MLIR module"},
               {"[{\"counter\": 0, \"node_type\": \"capture_start\"}]", "graph capture"},
               {AL("Device grid size"), "TT_RUNTIME_MEMORY_LOG_LEVEL"},
               {RT("x"), "DEBUG level"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ttm_profile *p = NULL;
    ttm_error err;
    assert_int_equal(ttm_profile_read_bytes(&p, cases[i].text, strlen(cases[i].text), NULL, &err), TTM_ENODATA);
    if (!strstr(err.message, cases[i].says)) fail_msg("'%s' does not say '%s'", err.message, cases[i].says);
  }
}

/* ---- Trouble ------------------------------------------------------------------------------------------------------------ */

/* A program that failed has no Finished line; the next top-level start ends it. */
static void test_unwinding(void **state) {
  (void)state;
  ttm_profile *p = read_text(
      RT("Starting execution of program: main")
          OP("%0 = ttcore.load_cached(@main_const_eval_0, [%arg0]) : (" T ") -> " T " loc(unknown)")
              RT("Starting execution of program: main_const_eval_0") OP("%1 = \"ttnn.ones\"() : () -> " T " loc(\"a\")")
                  RT("Starting execution of program: main") OP("%0 = \"ttnn.ones\"() : () -> " T " loc(\"b\")")
                      RT("Finished execution of program: main"));
  assert_int_equal(p->runs.n, 2);
  assert_int_equal(p->calls.n, 3);
  assert_int_equal(p->seen.unfinished, 2);
  assert_true(p->ops.at[0].flags & TTM_OP_FAILED);
  assert_int_equal(p->ops.at[0].tensor, TTM_NONE);
  assert_int_equal(p->ops.at[2].call, p->runs.at[1]);
  ttm_profile_free(p);
}

/* A block whose operation line was torn away still counts, named by its type. */
static void test_lost_operation_line(void **state) {
  (void)state;
  ttm_profile *p = read_text(OP("%0 = \"ttnn.ones\"() : () -> " T " loc(\"a\")") BLOCK(
      "NamedFullOp", "1.000") OP("%1 = \"ttnn.add\"(%0, %0) : (" T) BLOCK("EltwiseBinaryOp", "2.000")
                                 OP("\"ttnn.deallocate\"(%0) : (" T ") -> () loc(\"a\")") BLOCK("MatmulOp", "3.000"));
  assert_int_equal(p->seen.bad_op_lines, 1);
  assert_int_equal(p->seen.unpaired, 2);
  assert_int_equal(p->seen.note_count, 1);
  assert_view(name_of(p, 1), "EltwiseBinaryOp");
  assert_view(name_of(p, 3), "MatmulOp"); /* not the deallocation's block */
  assert_int_equal(p->ops.at[2].state, TTM_NONE);
  assert_int_equal(allocated(p, p->ops.at[3].state), 3000);
  ttm_profile_free(p);
}

static void test_bare_and_partial_blocks(void **state) {
  (void)state;
  ttm_profile *p = read_text(LEVELS("1.000") AL("Device memory state before operation AddOp") LEVEL("DRAM", "2.000")
                                 AL("Device memory state before operation MulOp") LEVEL("DRAM", "2.5"));
  assert_int_equal(p->states.n, 3);
  assert_int_equal(p->states.at[0].op, TTM_STATE_BARE);
  ttm_level level;
  assert_false(ttm_state_level(p, 1, TTM_L1, &level));
  assert_int_equal(allocated(p, 1), 2000);
  assert_true(p->seen.cut);
  ttm_profile_free(p);
}

static void test_ranks(void **state) {
  (void)state;
#define R0 "[1,0]<stdout>:"
#define R7 "[1,7]<stdout>:"
  ttm_profile *p = read_text(R0 OP("%0 = \"ttnn.ones\"() : () -> " T " loc(\"a\")") R7 OP(
      "%0 = \"ttnn.zeros\"() : () -> " T " loc(\"b\")") R0 AL("Device memory state before operation NamedFullOp")
                                 R7 AL("Device memory state before operation NamedFullOp") R7 LEVEL("DRAM", "7.000")
                                     R0 LEVEL("DRAM", "1.000") R0 LEVEL("L1", "0.000") R7 LEVEL("L1", "0.000")
                                         R7 OP("\"ttnn.deallocate\"(%0) : (" T ") -> () loc(\"b\")"));
  assert_int_equal(p->ranks.n, 2);
  assert_int_equal(p->ranks.at[1], 7);
  assert_int_equal(allocated(p, p->ops.at[0].state), 1000);
  assert_int_equal(allocated(p, p->ops.at[1].state), 7000);
  assert_int_equal(p->tensors.at[p->ops.at[0].tensor].freed_by, TTM_NONE);
  assert_int_equal(p->tensors.at[p->ops.at[1].tensor].freed_by, 2);
  assert_int_equal(p->runs.n, 2);
  ttm_profile_free(p);
}

/* Two graphs, both called main: each run belongs to the one whose locations it shows. */
static void test_two_graphs(void **state) {
  (void)state;
#define DUMP(loc)                                                                                                 \
  "2026-06-19 09:00:00.013 (   0.013s) [        8C291140]      module_builder.cc:1279     1| MLIR Module ttnn:\n" \
  "module @G {\n  func.func @main(%arg0: tensor<2x2xbf16> {ttir.name = \"" loc                                    \
  "\"}) {\n"                                                                                                      \
  "    %0 = \"ttnn.ones\"() : () -> tensor<2x2xbf16> loc(\"" loc                                                  \
  "\")\n  }\n}\n"                                                                                                 \
  "------------------ END OF MLIR MODULE ------------------\n"
#define RUN(loc)                            \
  RT("Starting execution of program: main") \
  OP("%0 = \"ttnn.ones\"() : () -> " T " loc(\"" loc "\")") RT("Finished execution of program: main")
  ttm_profile *p = read_text(DUMP("one") RUN("one") DUMP("two") RUN("two") RUN("one") RUN("two"));
  assert_int_equal(p->graphs.n, 2);
  assert_int_equal(p->runs.n, 4);
  const uint32_t want[] = {0, 1, 0, 1};
  for (size_t r = 0; r < 4; r++) assert_int_equal(p->calls.at[p->runs.at[r]].graph, want[r]);
  ttm_profile_free(p);
}

/* The same dumps again, as of a graph compiled twice, say the same. */
static void test_same_dumps_again(void **state) {
  (void)state;
  ttm_str small = file_view(TTMEM_SOURCE "/tests/data/small.log");
  ttm_buf twice = {0};
  for (int i = 0; i < 2; i++) ttm_buf_put(&twice, small);
  ttm_buf_char(&twice, '\0');
  ttm_profile *p = read_text(twice.at);
  size_t n = p->graphs.n / 2;
  assert_true(n && p->graphs.n == 2 * n);
  for (size_t g = 0; g < n; g++) {
    const ttm_graph *a = &p->graphs.at[g], *b = &p->graphs.at[g + n];
    assert_true(a->name == b->name && a->dram_alignment == b->dram_alignment && a->devices == b->devices);
    assert_true(a->args.n && a->args.n == b->args.n);
    assert_memory_equal(a->args.at, b->args.at, a->args.n * sizeof *a->args.at);
    assert_int_equal(a->locations.n, b->locations.n);
    assert_int_equal(a->dumps.n, b->dumps.n);
    for (size_t d = 0; d < a->dumps.n; d++) {
      assert_int_equal(a->dumps.at[d].packed_bytes, b->dumps.at[d].packed_bytes);
      if (a->dumps.at[d].packed)
        assert_memory_equal(a->dumps.at[d].packed, b->dumps.at[d].packed, a->dumps.at[d].packed_bytes);
    }
  }
  ttm_profile_free(p);
  ttm_buf_free(&twice);
  free((void *)small.p);
}

/* Logs before October 2025 have no END line. */
static void test_dump_without_end(void **state) {
  (void)state;
  ttm_profile *p =
      read_text("x| TTNN Module:\nmodule @Old {\n}\n" OP("%0 = \"ttnn.ones\"() : () -> " T " loc(\"a\")") "trailing\n");
  assert_int_equal(p->graphs.n, 1);
  assert_view(ttm_profile_string(p, p->graphs.at[0].name), "Old");
  assert_int_equal(p->graphs.at[0].dumps.at[0].line_count, 2);
  assert_int_equal(p->ops.n, 1);
  ttm_profile_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small_counts),
      cmocka_unit_test(test_small_programs),
      cmocka_unit_test(test_small_tensors),
      cmocka_unit_test(test_small_weights),
      cmocka_unit_test(test_each_argument_is_one_weight),
      cmocka_unit_test(test_small_texts),
      cmocka_unit_test(test_small_incident),
      cmocka_unit_test(test_incident_again),
      cmocka_unit_test(test_fatal_sentence),
      cmocka_unit_test(test_fatal_sentence_between_others),
      cmocka_unit_test(test_blocks_only),
      cmocka_unit_test(test_ops_only),
      cmocka_unit_test(test_submit_only),
      cmocka_unit_test(test_nothing),
      cmocka_unit_test(test_unwinding),
      cmocka_unit_test(test_lost_operation_line),
      cmocka_unit_test(test_bare_and_partial_blocks),
      cmocka_unit_test(test_ranks),
      cmocka_unit_test(test_two_graphs),
      cmocka_unit_test(test_same_dumps_again),
      cmocka_unit_test(test_dump_without_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
