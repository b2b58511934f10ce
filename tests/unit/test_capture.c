/* SPDX-License-Identifier: Apache-2.0 */
/* Graph captures: what their nodes become, what tt-metal's extractors make of them, and what they really took. The figures of
 * tests/data/capture_small.json are derived by hand. */
#include <stdio.h>

#include "unit.h"

#include "analyze/pitfalls.h"
#include "base/buf.h"
#include "parse/capture.h"

static ttm_profile *read_text(const char *text) {
  ttm_profile *p = NULL;
  assert_int_equal(ttm_profile_read_bytes(&p, text, strlen(text), NULL, NULL), TTM_OK);
  assert_int_equal(p->kind, TTM_LOG_CAPTURE);
  return p;
}

static ttm_profile *read_small(void) {
  ttm_profile *p = NULL;
  assert_int_equal(ttm_profile_read(&p, TTMEM_SOURCE "/tests/data/capture_small.json", NULL), TTM_OK);
  return p;
}

static void tells_captures_from_logs(void **state) {
  (void)state;
  assert_true(ttm_capture_detect(TTM_LIT("[\n  {\n \"connections\": [")));
  assert_true(ttm_capture_detect(TTM_LIT(" {\"version\":1}")));
  assert_true(ttm_capture_detect(TTM_LIT("\xEF\xBB\xBF[{\"counter\":0")));
  assert_true(ttm_capture_detect(TTM_LIT("[{\"new_key\":1,\"node_type\":\"tensor\"")));
  assert_false(ttm_capture_detect(TTM_LIT("[2025-06-06 03:52:41.386] [info] [Metal] x")));
  assert_false(ttm_capture_detect(TTM_LIT("{\"level\":\"info\",\"message\":\"x\"}")));
  assert_false(ttm_capture_detect(TTM_LIT("[{\"a\":1}]")));
  assert_false(ttm_capture_detect(TTM_LIT("")));
}

static void operations_tensors_and_states(void **state) {
  (void)state;
  ttm_profile *p = read_small();
  assert_int_equal(p->seen.op_lines, 3);
  assert_int_equal(ttm_profile_operation_count(p), 3); /* add, matmul, relu: ttnn.deallocate is the free itself */
  assert_int_equal(p->ops.n, 4);
  assert_int_equal(p->capture.buffers.n, 3);
  assert_int_equal(p->tensors.n, 2); /* what was there before has no birth */
  assert_view(ttm_profile_string(p, p->texts.at[p->ops.at[1].text].name), "ttnn.matmul");
  const ttm_tensor_type *type = ttm_tensor_type_of(p, 0);
  assert_non_null(type);
  assert_int_equal(type->shape.at[3], 320);
  assert_int_equal(type->buffer, TTM_BUFFER_L1);
  /* L1 before ttnn.matmul: 2048 from before the capture and 4096 of its own; DRAM after it: 6144. */
  ttm_level level;
  assert_true(ttm_state_level(p, p->ops.at[1].state, TTM_L1, &level));
  assert_int_equal(level.allocated, 6); /* 6144 B in 0.001 MB */
  assert_true(ttm_state_level(p, p->ops.at[3].state, TTM_DRAM, &level));
  assert_int_equal(level.allocated, 6);
  assert_int_equal(p->kind, TTM_LOG_CAPTURE);
  ttm_profile_free(p);
}

static void five_numbers_of_tt_metal(void **state) {
  (void)state;
  ttm_profile *p = read_small();
  ttm_extracts x;
  ttm_extract(p, &x);
  assert_null(x.per_core.refused);
  assert_int_equal(x.per_core.peak_cb, 4096 + 8192 + 16384); /* the second program: 2 * 13000 */
  assert_int_equal(x.per_core.peak_l1, 4096);
  assert_int_equal(x.per_core.peak_total, 28672 + 4096);
  /* 131072 input, 204800 output, and all four circular buffers, the one inside the output too. */
  assert_int_equal(x.peak_l1_memory_usage, 131072 + 204800 + 28672 + 2048);
  assert_int_equal(x.dram.peak, 51200);
  assert_int_equal(x.dram.total_deallocations, 0);
  assert_false(x.wrapped);
  ttm_profile_free(p);
}

static void true_figures(void **state) {
  (void)state;
  ttm_profile *p = read_small();
  ttm_core_use u;
  assert_int_equal(ttm_core_use_make(&u, p), TTM_OK);
  assert_int_equal(u.peak_program[0], 4096 + 16384); /* core 4-4 */
  assert_int_equal(u.peak_l1, 2048 + 4096);
  assert_int_equal(u.fullest.total, 26624);
  assert_int_equal(u.fullest.x, 4);
  assert_int_equal(u.fullest.y, 4);
  assert_int_equal(u.devices, 2);
  assert_int_equal(u.peak_dram, 6144);
  assert_int_equal(u.region_end, 105824 + 4096 + 16384);
  assert_int_equal(u.gap, 1492992 - u.region_end);
  assert_int_equal(u.limit, 1499136 - 105824);
  assert_int_equal(u.steps.n, 2);
  assert_int_equal(u.steps.at[1].program, 13000); /* once, not per device */
  ttm_extracts x;
  ttm_extract(p, &x);
  uint32_t found = ttm_pitfalls_find(p, &x, &u);
  static const ttm_pitfall wanted[] = {TTM_PITFALL_WINDOW,  TTM_PITFALL_CACHED,       TTM_PITFALL_CORES,
                                       TTM_PITFALL_MESH,    TTM_PITFALL_ALIASED,      TTM_PITFALL_MIXED_UNITS,
                                       TTM_PITFALL_PADDING, TTM_PITFALL_DEVICE_NAMES, TTM_PITFALL_UNREAD};
  uint32_t mask = 0;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) mask |= UINT32_C(1) << wanted[i];
  assert_int_equal(found, mask);
  assert_true(ttm_pitfalls_incomplete(found));
  ttm_core_use_free(&u);
  ttm_profile_free(p);
}

#define NODE(n, type, params, connections) \
  "{\"counter\":" #n ",\"node_type\":\"" type "\",\"params\":{" params "},\"connections\":[" connections "]}"
#define L1_512 \
  "\"type\":\"L1\",\"size\":32768,\"max_size_per_bank\":512,\"page_size\":512,\"num_cores\":0,\"address\":0"

/* A buffer from before the window is freed, then another allocated: tt-metal's peak is 2^64 - 512 + 512 ... and no memory. */
static void underflow_wraps_as_there(void **state) {
  (void)state;
  ttm_profile *p = read_text("[" NODE(0, "function_start", "\"name\":\"f\"", "") "," NODE(
      1, "buffer", "\"type\":\"L1\",\"size\":65536",
      "") "," NODE(2, "function_start", "\"name\":\"g\"",
                   "") "," NODE(3, "buffer_deallocate", "\"type\":\"L1\",\"size\":65536,\"max_size_per_bank\":1024",
                                "1") "," NODE(4, "buffer", "\"type\":\"L1\",\"size\":32768",
                                              "") "," NODE(5, "buffer_allocate", L1_512, "4") "]");
  ttm_extracts x;
  ttm_extract(p, &x);
  assert_true(x.wrapped);
  assert_true(x.per_core.peak_l1 == UINT64_MAX - 1024 + 1 + 512);
  assert_true(x.per_core.peak_total == UINT64_MAX - 1024 + 1 + 512);
  ttm_core_use u;
  assert_int_equal(ttm_core_use_make(&u, p), TTM_OK);
  assert_int_equal(u.peak_l1, 1024);
  assert_true(ttm_pitfalls_find(p, &x, &u) >> TTM_PITFALL_UNDERFLOW & 1);
  ttm_core_use_free(&u);
  ttm_profile_free(p);
}

/* A program's buffers stay in tt-metal's sum until the next program; a tensor allocated in between never met them. */
static void finished_programs_are_gone(void **state) {
  (void)state;
  ttm_profile *p = read_text("[" NODE(0, "function_start", "\"name\":\"f\"", "") "," NODE(
      1, "circular_buffer_allocate", "\"size\":10000,\"globally_allocated\":\"0\",\"core_range_set\":\"{[0-0 - 0-0]}\"",
      "") "," NODE(2, "function_end", "\"name\":\"f\"",
                   "") "," NODE(3, "function_start", "\"name\":\"g\"",
                                "") "," NODE(4, "buffer", "\"type\":\"L1\",\"size\":32768",
                                             "") "," NODE(5, "buffer_allocate", L1_512, "4") "]");
  ttm_extracts x;
  ttm_core_use u;
  ttm_extract(p, &x);
  assert_int_equal(x.per_core.peak_total, 10512);
  assert_int_equal(ttm_core_use_make(&u, p), TTM_OK);
  assert_int_equal(u.fullest.total, 10000);
  assert_true(ttm_pitfalls_find(p, &x, &u) >> TTM_PITFALL_FINISHED & 1);
  ttm_core_use_free(&u);
  ttm_profile_free(p);
}

/* What tt-metal refuses is told with its reason; strings where numbers are today do not matter. */
static void old_captures(void **state) {
  (void)state;
  ttm_profile *p = read_text("[" NODE(0, "function_start", "\"name\":\"ttnn::add\",\"inputs\":\"2\"", "") "," NODE(
      1, "circular_buffer_allocate",
      "\"size\":\"4096\",\"address\":\"0\",\"core_range_set\":\"{[(x=0,y=0) - (x=7,y=7)]}\"",
      "") "," NODE(2, "buffer", "\"type\":\"L1\",\"size\":\"24576\"",
                   "") "," NODE(3, "buffer_allocate",
                                "\"type\":\"L1\",\"size\":\"24576\",\"address\":\"7\",\"layout\":\"INTERLEAVED\"",
                                "2") "," NODE(4, "buffer_deallocate", "\"type\":\"L1\",\"size\":\"0\"", "2") "]");
  ttm_extracts x;
  ttm_core_use u;
  ttm_extract(p, &x);
  assert_string_equal(x.per_core.refused, "a circular buffer has no \"globally_allocated\"");
  assert_int_equal(x.per_core.refused_at, 1);
  assert_int_equal(x.peak_l1_memory_usage, 4096 + 24576);
  assert_int_equal(ttm_core_use_make(&u, p), TTM_OK);
  assert_int_equal(u.peak_l1, 384); /* 24576 over 64 banks */
  assert_int_equal(u.fullest.total, 4096 + 384);
  assert_true(p->capture.board.estimated && p->capture.buffers.at[0].estimated);
  ttm_core_use_free(&u);
  ttm_profile_free(p);
}

static void disorder_is_refused(void **state) {
  (void)state;
  ttm_profile *p = read_text(
      "[" NODE(0, "function_start", "\"name\":\"f\"", "") "," NODE(7, "function_end", "\"name\":\"f\"", "") "]");
  ttm_extracts x;
  ttm_extract(p, &x);
  assert_string_equal(x.per_core.refused, "the nodes are not numbered 0, 1, 2, ...");
  ttm_profile_free(p);
}

/* A machine of many devices: what one of them holds is never added to another. */
static void many_devices(void **state) {
  (void)state;
  ttm_buf text = {0};
  ttm_buf_puts(&text, "[" NODE(0, "function_start", "\"name\":\"f\"", ""));
  for (int d = 0; d < 70; d++) {
    ttm_buf_printf(&text, "," NODE(% d, "buffer", "\"type\":\"L1\",\"size\":5,\"device_id\":\"%d\"", ""), 2 * d + 1, d);
    ttm_buf_printf(&text, "," NODE(% d, "buffer_allocate", L1_512 ",\"device_id\":\"%d\"", "%d"), 2 * d + 2, d,
                   2 * d + 1);
  }
  for (int d = 0; d < 70; d++)
    ttm_buf_printf(&text,
                   "," NODE(% d, "circular_buffer_allocate",
                            "\"size\":1000,\"globally_allocated\":\"0\",\"core_range_set\":\"{[0-0 - 0-0]}\","
                            "\"device_id\":\"%d\"",
                            ""),
                   141 + d, d);
  ttm_buf_puts(&text, "]");
  ttm_buf_char(&text, '\0');
  ttm_profile *p = read_text(text.at);
  ttm_core_use u;
  assert_int_equal(ttm_core_use_make(&u, p), TTM_OK);
  assert_int_equal(u.devices, 70);
  assert_int_equal(u.peak_l1, 512);
  assert_int_equal(u.peak_program_all, 1000);
  ttm_core_use_free(&u);
  ttm_profile_free(p);
  ttm_buf_free(&text);
}

/* What was not read is told in whole sentences; a buffer without memory stays as it is. */
static void unread_parts(void **state) {
  (void)state;
  ttm_profile *p = read_text("[" NODE(0, "function_start", "\"name\":\"f\"", "") "]");
  ttm_extracts x;
  ttm_core_use u;
  ttm_buf words = {0}, lost = {.failed = true};
  ttm_extract(p, &x);
  assert_int_equal(ttm_core_use_make(&u, p), TTM_OK);
  p->capture.other_nodes = 2;
  p->capture.bad_nodes = 3;
  ttm_pitfall_write(&words, TTM_PITFALL_UNREAD, p, &x, &u);
  assert_view(ttm_buf_str(&words), "Nodes of types this version does not know: 2. Elements that are no nodes: 3.");
  ttm_pitfall_write(&lost, TTM_PITFALL_UNREAD, p, &x, &u);
  assert_int_equal(lost.n, 0);
  ttm_buf_free(&words);
  ttm_core_use_free(&u);
  ttm_profile_free(p);
}

/* Cut anywhere: either nothing to report on, or the part before the cut. */
static void every_prefix(void **state) {
  (void)state;
  static const char text[] = "[" NODE(0, "function_start", "\"name\":\"f\"", "") "," NODE(
      1, "buffer", "\"type\":\"L1\",\"size\":5", "") "," NODE(2, "buffer_allocate", L1_512,
                                                              "1") "," NODE(3, "buffer_deallocate", L1_512, "1") "]";
  for (size_t n = 0; n < sizeof text; n++) {
    ttm_str heap = heap_view((ttm_str){text, n});
    ttm_profile *p = NULL;
    ttm_core_use u;
    if (!ttm_profile_read_bytes(&p, heap.p, heap.n, NULL, NULL)) {
      assert_int_equal(ttm_core_use_make(&u, p), TTM_OK);
      ttm_core_use_free(&u);
      ttm_profile_free(p);
    }
    free((void *)heap.p);
  }
}

/* All that a reader tells behind the first nodes, and of how the text ended. */
static char *tell_behind(const char *text, int nodes) {
  ttm_capture_reader r;
  const ttm_capture_node *node;
  ttm_buf out = {0};
  ttm_capture_init(&r, NULL, ttm_str_of(text));
  while ((node = ttm_capture_next(&r))) {
    if (nodes-- > 0) continue;
    ttm_buf_printf(&out, "%d %d:%lld ", node->type, node->has_counter, (long long)node->counter);
    for (int i = 0; i < TTM_PARAM_NUMBERS; i++)
      if (ttm_node_has(node, (ttm_node_number)i)) ttm_buf_printf(&out, "%d=%lld ", i, (long long)node->number[i]);
    for (int i = 0; i < TTM_PARAM_TEXTS; i++) ttm_buf_printf(&out, "%.*s;", TTM_ARGS(node->text[i]));
    for (size_t i = 0; i < node->connections.n; i++) ttm_buf_printf(&out, " %lld", (long long)node->connections.at[i]);
  }
  ttm_buf_printf(&out, " bad %d cut %d depth %u %s", (int)r.facts.bad_nodes, r.cut, r.json.depth,
                 r.json.error ? r.json.error : "");
  ttm_capture_free(&r);
  return ttm_buf_take(&out);
}

/* Keys that stood so before are compared, not read; every node is read as if it stood alone. */
static void known_keys_hide_nothing(void **state) {
  (void)state;
#define PARAMS(inside) "{\"counter\": 1, \"node_type\": \"buffer\", \"params\": {" inside "}, \"connections\": [1, 2]}"
  static const char *const nodes[] = {
      PARAMS("\"size\": 5, \"type\": \"L1\""),
      PARAMS("\"size\": -7, \"type\": \"L\\u0031\""),
      PARAMS("\"siz\\u0065\": 8, \"type\": \"\""),
      PARAMS("\"sizeu0065\": 8, \"type\": \"\""), /* what is left of the one above when its escape is undone in place */
      PARAMS("\"size\": 9, \"type\": \"L1\","),
      PARAMS("\"size\": 1, \"size\": true, \"type\": 12"),
      PARAMS("\"size\": 123456789012345678, \"address\": 12345678901234567890"),
      "{\"counter\": 1, \"node_type\": \"buffer\", \"counter\": \"x\"}",
      "{\"counter\": 99999999999999999999, \"node_type\": \"tensor\", \"params\": {\"size\": 1.5, \"address\": 12x}}",
      "{\"params\": {\"size\": 1, \"type\": \"L1\"}, \"counter\": 1}",
      PARAMS("\"size\": 5 \"type\": \"L1\""),
      PARAMS(", \"size\": 5"),
      PARAMS("\"size\" 5"),
      "{\"counter\": 1, \"node_type\": \"buffer\", \"params\": {\"size\": 5, \"type\"",
      "{\"counter\": 1, \"node_type\": \"buffer\", \"params\": {\"size\": ",
  };
  enum { NODES = sizeof nodes / sizeof *nodes, WHOLE = 9 };
  char alone[256], behind[512];
  for (size_t known = 0; known < WHOLE; known++) {
    for (size_t i = 0; i < NODES; i++) {
      snprintf(alone, sizeof alone, "[%s]", nodes[i]);
      snprintf(behind, sizeof behind, "[%s,%s]", nodes[known], nodes[i]);
      char *one = tell_behind(alone, 0), *other = tell_behind(behind, 1);
      assert_string_equal(one, other);
      ttm_free(one);
      ttm_free(other);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tells_captures_from_logs),
      cmocka_unit_test(operations_tensors_and_states),
      cmocka_unit_test(five_numbers_of_tt_metal),
      cmocka_unit_test(true_figures),
      cmocka_unit_test(underflow_wraps_as_there),
      cmocka_unit_test(finished_programs_are_gone),
      cmocka_unit_test(old_captures),
      cmocka_unit_test(disorder_is_refused),
      cmocka_unit_test(many_devices),
      cmocka_unit_test(unread_parts),
      cmocka_unit_test(every_prefix),
      cmocka_unit_test(known_keys_hide_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
