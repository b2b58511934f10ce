/* SPDX-License-Identifier: Apache-2.0 */
/* What a scanner has learned changes its speed, never its results: one that knows a log gives, for any variant of it, the events
 * that a new one gives. */
#include "unit.h"

#include <stdio.h>

#include "parse/log_scan.h"

static ttm_str small;
static ttm_scanner taught;

static void scan(ttm_scanner *scanner, ttm_str bytes, ttm_scanned *out) {
  ttm_chunk chunk = {.data = bytes.p, .n = bytes.n, .last = true};
  assert_int_equal(ttm_scanner_scan(scanner, &chunk, out), TTM_OK);
}

static int load(void **state) {
  (void)state;
  small = file_view(TTMEM_SOURCE "/tests/data/small.log");
  ttm_scanned out = {0};
  for (int i = 0; i < 2; i++) scan(&taught, small, &out); /* the second time it learns what follows what */
  ttm_scanned_free(&out);
  return 0;
}

static int unload(void **state) {
  (void)state;
  free((char *)small.p);
  ttm_scanner_free(&taught);
  return 0;
}

/* What an event says, apart from where its line starts and ends. */
typedef struct fact {
  ttm_event event;
  bool whole; /* part of a known block */
} fact;

typedef TTM_VEC(fact) facts;

static void add_fact(facts *out, const ttm_event *e, ttm_event_kind kind, uint32_t line, uint32_t text_at,
                     uint32_t text_n) {
  fact f = {
      .event = {.kind = (uint8_t)kind, .rank = e->rank, .line = e->line + line, .text_at = text_at, .text_n = text_n}};
  f.whole = e->kind == TTM_EV_BLOCK;
  if (!f.whole) f.event = *e;
  assert_int_equal(ttm_vec_push(out, f), TTM_OK);
}

/* A known block as the four events that it stands for. */
static facts facts_of(const ttm_scanned *scanned) {
  facts out = {0};
  for (size_t i = 0; i < scanned->events.n; i++) {
    const ttm_event *e = &scanned->events.at[i];
    if (e->kind != TTM_EV_BLOCK) {
      add_fact(&out, e, (ttm_event_kind)e->kind, 0, e->text_at, e->text_n);
      continue;
    }
    const ttm_block_event *block = &e->block;
    add_fact(&out, e, TTM_EV_OPERATION, 0, e->text_at, e->text_n);
    out.at[out.n - 1].event.hash = block->hash;
    add_fact(&out, e, TTM_EV_BEFORE_OP, 1, block->type_at, block->type_n);
    out.at[out.n - 1].event.op_kind = e->op_kind;
    add_fact(&out, e, TTM_EV_LEVEL, 2, 0, 0);
    ttm_level size = scanned->rests.at[block->rest].levels[TTM_DRAM];
    out.at[out.n - 1].event.level = (ttm_level){size.banks, size.total, block->allocated, block->free, block->largest};
    add_fact(&out, e, TTM_EV_REST, 3, 0, 0);
    out.at[out.n - 1].event.rest = block->rest;
  }
  return out;
}

static void assert_same_event(const ttm_event *a, const ttm_event *b, bool whole) {
  assert_int_equal(a->kind, b->kind);
  assert_int_equal(a->rank, b->rank);
  assert_int_equal(a->line, b->line);
  if (a->kind == TTM_EV_OPERATION) assert_true(a->hash == b->hash);
  if (a->kind == TTM_EV_BEFORE_OP) assert_int_equal(a->op_kind, b->op_kind);
  if (a->kind == TTM_EV_REST) assert_int_equal(a->rest, b->rest);
  if (a->kind == TTM_EV_LEVEL) {
    assert_int_equal(a->memory, b->memory);
    assert_memory_equal(&a->level, &b->level, sizeof a->level);
  } else if (a->kind != TTM_EV_REST) {
    assert_int_equal(a->text_at, b->text_at);
    assert_int_equal(a->text_n, b->text_n);
  }
  if (whole) return;
  assert_int_equal(a->line_at, b->line_at);
  assert_int_equal(a->line_end, b->line_end);
}

/* Scans a copy of exactly these bytes with both. */
static void compare(ttm_str bytes) {
  ttm_scanner fresh = {0};
  ttm_scanned want = {0}, got = {0};
  ttm_str copy = heap_view(bytes);
  scan(&fresh, copy, &want);
  scan(&taught, copy, &got);
  facts wanted = facts_of(&want), found = facts_of(&got);
  assert_int_equal(wanted.n, found.n);
  for (size_t i = 0; i < wanted.n; i++)
    assert_same_event(&wanted.at[i].event, &found.at[i].event, wanted.at[i].whole || found.at[i].whole);
  ttm_vec_free(&wanted);
  ttm_vec_free(&found);
  assert_int_equal(want.rests.n, got.rests.n);
  if (want.rests.n) assert_memory_equal(want.rests.at, got.rests.at, want.rests.n * sizeof *want.rests.at);
  assert_memory_equal(&want.counts, &got.counts, sizeof want.counts);
  free((void *)copy.p);
  ttm_scanned_free(&want);
  ttm_scanned_free(&got);
  ttm_scanner_free(&fresh);
}

static void test_knows_blocks(void **state) {
  (void)state;
  assert_true(taught.known.blocks.n > 3);
  size_t linked = 0;
  for (size_t i = 0; i < taught.known.blocks.n; i++) linked += taught.known.blocks.at[i].next != TTM_NO_BLOCK;
  assert_true(linked * 2 > taught.known.blocks.n); /* others come before an operation that is printed without a block */
}

static void test_same_log(void **state) {
  (void)state;
  compare(small);
  ttm_scanned out = {0};
  size_t whole = 0;
  scan(&taught, small, &out);
  for (size_t i = 0; i < out.events.n; i++) whole += out.events.at[i].kind == TTM_EV_BLOCK;
  assert_true(whole > 0); /* or nothing here was tested */
  ttm_scanned_free(&out);
}

static void test_prefixes(void **state) {
  (void)state;
  for (size_t n = 0; n < small.n; n += 13) compare(ttm_str_first(small, n));
}

static void test_byte_flips(void **state) {
  (void)state;
  static const char others[] = {'\n', '\r', '0', '7', ' ', '\0', (char)0xff};
  char *changed = malloc(small.n);
  for (size_t i = 0; i < small.n; i += 17) {
    memcpy(changed, small.p, small.n);
    changed[i] = others[i / 17 % sizeof others];
    compare((ttm_str){changed, small.n});
  }
  free(changed);
}

/* Lines that come twice, are missing, or end with \r\n. */
static void test_line_changes(void **state) {
  (void)state;
  char *changed = malloc(2 * small.n);
  for (const char *at = small.p; at < small.p + small.n;) {
    const char *end = memchr(at, '\n', (size_t)(small.p + small.n - at));
    if (!end) break;
    size_t before = (size_t)(at - small.p), line = (size_t)(end + 1 - at), after = small.n - before - line;
    memcpy(changed, small.p, before);
    memcpy(changed + before, end + 1, after);
    compare((ttm_str){changed, before + after});
    memcpy(changed, small.p, before + line);
    memcpy(changed + before + line, at, line + after);
    compare((ttm_str){changed, before + 2 * line + after});
    memcpy(changed + before + line - 1, "\r\n", 2);
    memcpy(changed + before + line + 1, end + 1, after);
    compare((ttm_str){changed, small.n + 1});
    at = end + 1;
  }
  free(changed);
}

/* Two lines as the parts of one, which begins the text: its prefix is news to the new scanner only. */
static void test_parts_of_a_line(void **state) {
  (void)state;
  char *changed = malloc(small.n);
  for (const char *at = small.p, *end; (end = memchr(at, '\n', (size_t)(small.p + small.n - at))); at = end + 1) {
    size_t n = (size_t)(small.p + small.n - at);
    memcpy(changed, at, n);
    changed[end - at] = '\r';
    compare((ttm_str){changed, n});
  }
  free(changed);
}

/* Lines that hold something, wherever they stand between lines that do not. */
static void test_lines_that_hold_nothing(void **state) {
  (void)state;
  static const char *const telling[] = {
      "[1,3]<stdout>:RuntimeError: TT_FATAL @ a.cpp:5: x\n",
      "  File \"model.py\", line 17, in forward\n    x = ttnn.add(a, b)\n",
      "2026-03-04 20:02:35.792 (   1.274s) [ F2B2A480] module_builder.cc:1279  1| MLIR Module ttnn:\n",
      "2026-03-04 20:02:35.792 (   1.274s) [ F2B2A480] device_instance.cc:78  1| of bars | and (2s) [x]\n",
      "10 %|###   | 1/9\r2026-03-04 20:02:35.792 (   1.274s) [ F2B2A480] x.cc:78  1| y\n",
      "tests/x.py::test[y]   RuntimeTTNN |    DEBUG | Starting execution of program: main\n",
  };
  static const size_t events[] = {1, 2, 1, 0, 0, 1}, loguru[] = {0, 0, 1, 1, 1, 0};
  for (size_t k = 0; k < sizeof telling / sizeof *telling; k++) {
    for (size_t pad = 0; pad < 150; pad++) {
      ttm_scanner scanner = {0};
      ttm_scanned out = {0};
      ttm_buf log = {0};
      for (size_t i = 0; i < pad; i++) ttm_buf_char(&log, i % 23 == 22 ? '\n' : "Fil| (Sta"[i % 9]);
      ttm_buf_puts(&log, pad % 2 ? "\n\n" : "\n");
      size_t line = pad / 23 + 1 + pad % 2, at = log.n;
      ttm_buf_puts(&log, telling[k]);
      for (size_t i = 0; i < pad; i++) ttm_buf_char(&log, i % 31 == 30 ? '\n' : 'y');
      ttm_str text = heap_view(ttm_buf_str(&log));
      scan(&scanner, text, &out);
      assert_int_equal(out.events.n, events[k]);
      assert_int_equal(out.counts.loguru, loguru[k]);
      if (out.events.n) assert_int_equal(out.events.at[0].line, line);
      if (out.events.n) assert_int_equal(out.events.at[0].line_at, at);
      size_t line_ends = 0;
      for (size_t i = 0; i < text.n; i++) line_ends += text.p[i] == '\n';
      assert_int_equal(out.counts.lines, line_ends);
      free((void *)text.p);
      ttm_buf_free(&log);
      ttm_scanned_free(&out);
      ttm_scanner_free(&scanner);
    }
  }
}

/* More than it keeps: it forgets and goes on. */
static void test_forgets(void **state) {
  (void)state;
  ttm_scanner scanner = {0};
  ttm_scanned out = {0};
  ttm_buf log = {0};
  size_t most = 0;
  bool forgot = false;
  for (int i = 0; i < 6000; i++) {
    ttm_buf_clear(&log);
    ttm_buf_printf(&log,
                   " RuntimeTTNN | DEBUG | Executing operation: %%%d = \"ttnn.add\"() <{x = \"%01000d\"}> : () -> ()\n",
                   i, i);
    ttm_buf_puts(&log, " Always | INFO | Device memory state before operation AddOp\n");
    ttm_buf_puts(&log,
                 " Always | INFO | Device DRAM memory state: MemoryView{numBanks: 12, totalBytesPerBank: 1023.000 MB, "
                 "totalBytesAllocatedPerBank: 0.000 MB, totalBytesFreePerBank: 1023.000 MB, "
                 "largestContiguousBytesFreePerBank: 1023.000 MB}\n");
    scan(&scanner, ttm_buf_str(&log), &out);
    assert_int_equal(out.events.n, 3);
    forgot = forgot || scanner.known.blocks.n < most;
    most = scanner.known.blocks.n > most ? scanner.known.blocks.n : most;
  }
  assert_true(forgot && most > 1000);
  ttm_buf_free(&log);
  ttm_scanned_free(&out);
  ttm_scanner_free(&scanner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_knows_blocks),    cmocka_unit_test(test_same_log),
      cmocka_unit_test(test_prefixes),        cmocka_unit_test(test_byte_flips),
      cmocka_unit_test(test_line_changes),    cmocka_unit_test(test_forgets),
      cmocka_unit_test(test_parts_of_a_line), cmocka_unit_test(test_lines_that_hold_nothing),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
