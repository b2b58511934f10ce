/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON files of a report become a profile again. */
#include "profile/read_report.h"

#include "unit.h"

#define LEVEL(allocated)                                                                         \
  "{\"numBanks\":12,\"totalBytesPerBank_MB\":100.0,\"totalBytesAllocatedPerBank_MB\":" allocated \
  ",\"totalBytesFreePerBank_MB\":50.0,\"largestContiguousBytesFreePerBank_MB\":40.5}"
#define ELEMENT(where, allocated, effect)                                                          \
  "{\"op_type\":\"AddOp\",\"mlir_op\":\"ttnn.add\",\"loc\":\"add.1\",\"memory\":{\"DRAM\":" LEVEL( \
      allocated) "},\"effect_MB\":" effect "," where "}"
#define TYPE "tensor<32x32xbf16>"
#define TEXT(result, inputs)                                                \
  "{\"result\":\"" result "\",\"mlir_op\":\"ttnn.add\",\"inputs\":[" inputs \
  "],\"attributes\":\"x\","                                                 \
  "\"input_types\":\"" TYPE ", " TYPE "\",\"output_type\":\"" TYPE "\",\"loc\":\"add.1\"}"

static ttm_profile *read_files(const ttm_report_files *files) {
  ttm_profile *p = NULL;
  ttm_error err;
  if (ttm_profile_read_report(&p, files, "folder", &err)) fail_msg("%s", err.message);
  assert_true(p->seen.from_report);
  return p;
}

static ttm_profile *read_memory(ttm_str memory) { return read_files(&(ttm_report_files){.memory.text = memory}); }

static void assert_string(const ttm_profile *p, uint32_t id, const char *want) {
  assert_true(ttm_str_eq(ttm_profile_string(p, id), ttm_str_of(want)));
}

static void operations_and_their_texts(void **state) {
  (void)state;
  ttm_profile *p = read_files(&(ttm_report_files){
      .memory.text = TTM_LIT("{\"operations\":[" ELEMENT("\"line\":7", "1.0", "{\"DRAM\":0.5}") "," ELEMENT(
          "\"line\":9", "1.5", "null") "]}"),
      .operations.text = TTM_LIT("[" TEXT("%1", "\"%arg0\", \"%arg1\"") "," TEXT("%2", "\"[%1, %1]\"") "]")});
  assert_int_equal(p->kind, TTM_LOG_FULL);
  assert_int_equal(p->ops.n, 2);
  assert_int_equal(p->ops.at[1].line, 9);
  const ttm_op_text *text = ttm_op_text_of(p, 1);
  assert_string(p, text->name, "ttnn.add");
  assert_string(p, text->op_type, "AddOp");
  assert_string(p, text->location, "add.1");
  assert_string(p, text->attributes, "x");
  assert_int_equal(text->operands.n, 2); /* the Python tool writes lists as they stand */
  assert_int_equal(text->inputs.n, 2);
  assert_int_equal(p->tensors.n, 2);
  assert_int_equal(p->tensors.at[0].last_use, 1);
  assert_int_equal(p->states.at[p->ops.at[1].state].dram_allocated, 1500);
  ttm_profile_free(p);
}

/* Something was freed between the two: the first operation's own effect is shown all the same. */
static void frees_that_the_files_leave_out(void **state) {
  (void)state;
  ttm_profile *p = read_memory(TTM_LIT("{\"operations\":[" ELEMENT("\"line\":7", "1.0", "{\"DRAM\":0.5}") "," ELEMENT(
      "\"line\":9", "0.25", "null") "]}"));
  assert_int_equal(p->kind, TTM_LOG_BLOCKS);
  assert_int_equal(p->ops.n, 3);
  assert_int_equal(ttm_op_text_of(p, 1)->kind, TTM_OP_DEALLOCATE);
  assert_int_equal(ttm_profile_operation_count(p), 2);
  assert_int_equal(p->states.at[1].dram_allocated, 1500);
  assert_int_equal(p->states.at[1].dram_free, 49500);
  assert_int_equal(p->states.at[2].dram_allocated, 250);
  assert_int_equal(p->seen.deallocations, 0);
  ttm_profile_free(p);
}

static void ranks_runs_and_programs(void **state) {
  (void)state;
  ttm_profile *p = read_memory(TTM_LIT("{\"operations\":[" ELEMENT(
      "\"rank\":3,\"run\":4,\"program\":\"f_const_eval_0\",\"const_eval_graph\":\"f_const_eval_0\"", "1.0",
      "null") "," ELEMENT("\"rank\":0,\"run\":0,\"program\":\"g\"", "1.0",
                          "null") "," ELEMENT("\"rank\":3,\"run\":4,\"program\":\"f\"", "1.0",
                                              "null") "," ELEMENT("\"rank\":3,\"run\":5,\"program\":\"f\"", "1.0",
                                                                  "null") "]}"));
  assert_int_equal(p->ranks.n, 2);
  assert_int_equal(p->ranks.at[0], 3);
  assert_int_equal(p->runs.n, 3);
  const ttm_call *first = &p->calls.at[p->runs.at[0]], *last = &p->calls.at[p->runs.at[2]];
  assert_string(p, first->name, "f");
  assert_int_equal(first->run, 4);
  assert_true(first->finished);
  assert_int_equal(last->run, 5);
  assert_false(last->finished); /* nothing tells */
  assert_true(p->ops.at[0].flags & TTM_OP_CONST_EVAL);
  assert_false(p->ops.at[2].flags & TTM_OP_CONST_EVAL);
  assert_int_equal(p->calls.at[p->ops.at[1].call].rank, 1);
  ttm_profile_free(p);
}

static void graphs_and_their_arguments(void **state) {
  (void)state;
  ttm_profile *p = read_files(&(ttm_report_files){
      .memory.text = TTM_LIT("{\"operations\":[" ELEMENT("\"line\":5", "1.0", "null") "," ELEMENT(
          "\"loc\":\"add.2\",\"line\":50,\"run\":1", "1.0", "null") "]}"),
      .ir.text = TTM_LIT("{\"ttir\":{\"text\":\"module @a {\\n}\\n\",\"line\":2},\"ttnn\":{\"text\":\"\"},"
                         "\"graphs\":[{\"graph\":0,\"rank\":0,\"stages\":{}},{\"graph\":1,\"rank\":0,\"stages\":"
                         "{\"ttnn\":{\"text\":\"module @b {\\n}\\n\",\"line\":20}}}]}"),
      .registry.text =
          TTM_LIT("{\"entries\":[{\"ssa\":\"%arg0\",\"name\":\"w\",\"type\":\"parameter\",\"shape\":\"8x4\","
                  "\"dtype\":\"bf16\"},{\"ssa\":\"%arg0\",\"name\":\"%arg0\",\"type\":\"input\","
                  "\"shape\":null,\"dtype\":\"f32\",\"graph\":1}]}")});
  assert_int_equal(p->graphs.n, 2);
  assert_string(p, p->graphs.at[0].name, "a");
  assert_int_equal(p->graphs.at[1].dumps.at[0].first_line, 20);
  assert_int_equal(p->graphs.at[1].dumps.at[0].line_count, 2);
  assert_int_equal(p->calls.at[p->runs.at[0]].graph, 0);
  assert_int_equal(p->calls.at[p->runs.at[1]].graph, 1);
  const ttm_graph_arg *w = &p->graphs.at[0].args.at[0], *input = &p->graphs.at[1].args.at[0];
  assert_string(p, w->name, "w");
  assert_int_equal(w->kind, TTM_ARG_PARAMETER);
  assert_string(p, p->types.at[w->type].text, "tensor<8x4xbf16>");
  assert_int_equal(input->name, 0); /* it only had its number */
  assert_string(p, p->types.at[input->type].text, "tensor<f32>");
  ttm_profile_free(p);
}

static void failures_and_the_log(void **state) {
  (void)state;
  ttm_profile *p = read_files(&(ttm_report_files){
      .memory.text = TTM_LIT("{\"operations\":[" ELEMENT("\"line\":7", "1.0", "null") "]}"),
      .findings = TTM_LIT(
          "{\"input\":{\"path\":\"/logs/x.log\",\"bytes\":9000,\"lines\":80,\"deallocations\":6,\"truncated\":true},"
          "\"incidents\":[{\"kind\":\"fatal\",\"line\":70,\"copies\":3,\"text\":\"it broke\","
          "\"operation\":{\"index\":0}}],\"runs\":[{\"run\":0,\"rank\":0,\"finished\":true}]}")});
  assert_string(p, p->path, "/logs/x.log");
  assert_int_equal(p->seen.bytes, 9000);
  assert_int_equal(p->seen.deallocations, 6);
  assert_true(p->seen.cut);
  assert_int_equal(p->incidents.n, 1);
  assert_int_equal(p->incidents.at[0].line, 70);
  assert_int_equal(p->incidents.at[0].copies, 3);
  assert_int_equal(p->incidents.at[0].op, 0);
  assert_int_equal(p->incidents.at[0].state, 0);
  assert_true(p->ops.at[0].flags & TTM_OP_FAILED);
  assert_true(p->calls.at[0].finished);
  ttm_profile_free(p);
}

/* The findings file tells what was read, and what went wrong, without the operations. */
static void findings_alone(void **state) {
  (void)state;
  ttm_error err;
  ttm_profile *p = NULL;
  ttm_report_files files = {
      .findings = TTM_LIT("{\"input\":{\"path\":\"a.log\",\"kind\":\"blocks\",\"ranks\":2,\"lines\":7}}")};
  assert_int_equal(ttm_profile_read_report(&p, &files, "folder", &err), TTM_OK);
  assert_int_equal(p->kind, TTM_LOG_BLOCKS);
  assert_int_equal(p->ranks.n, 2);
  assert_int_equal(p->seen.lines, 7);
  assert_int_equal(p->ops.n, 0);
  ttm_profile_free(p);
  files.findings = TTM_LIT("{\"input\":{\"kind\":\"other\",\"ranks\":4000000000}}");
  assert_int_equal(ttm_profile_read_report(&p, &files, "folder", &err), TTM_ENODATA);
}

/* What stands before the break counts. */
static void files_that_break_off(void **state) {
  (void)state;
  ttm_profile *p = read_memory(TTM_LIT("{\"operations\":[" ELEMENT("\"line\":7", "1.0", "null") ",{\"op_type\":\"Ad"));
  assert_int_equal(p->ops.n, 1);
  assert_true(p->seen.cut);
  ttm_profile_free(p);
  static const char *const empty[] = {"", "[]", "{\"operations\":[", "{\"operations\":{}}", "not JSON"};
  for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
    ttm_error err;
    ttm_report_files files = {.memory.text = ttm_str_of(empty[i])};
    assert_int_equal(ttm_profile_read_report(&p, &files, "folder", &err), TTM_ENODATA);
    assert_non_null(strstr(err.message, "'folder' holds no operations"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operations_and_their_texts),
      cmocka_unit_test(frees_that_the_files_leave_out),
      cmocka_unit_test(ranks_runs_and_programs),
      cmocka_unit_test(graphs_and_their_arguments),
      cmocka_unit_test(failures_and_the_log),
      cmocka_unit_test(files_that_break_off),
      cmocka_unit_test(findings_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
