/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that hold more with every iteration, in recordings written here: found, counted, and played to their end; and what only looks like one. */
#include <stdio.h>

#include "analyze/findings.h"
#include "base/bank.h"
#include "base/buf.h"
#include "starving.h"
#include "unit.h"

enum { MB = 1 << 20, BASE = 1 << 20, BANKS = 12, MOST = 4096 };
static const uint64_t BANK = 1072693184;
static const uint32_t NONE = UINT32_MAX; /* takes no tensor there */

/* A program that runs on a bank of its own, and its recording. Tensors are numbers. */
typedef struct program {
  ttm_buf text;
  ttm_bank bank;
  uint64_t at[MOST], size[MOST];
  uint32_t tensors, ops;
  bool located; /* operations know their line of the program */
  bool full;    /* an allocation failed */
} program;

static program begin(bool located) {
  program w = {.located = located};
  assert_int_equal(ttm_bank_init(&w.bank, BANK), TTM_OK);
  ttm_buf_printf(&w.text,
                 "{\"ttmem_recording\":1,\"metadata\":{\"version\":\"0.81.1\"},\"devices\":[{\"device_id\":0,"
                 "\"arch\":\"WORMHOLE_B0\",\"worker_l1_size\":1499136,\"l1_num_banks\":64,\"l1_bank_size\":1376928,"
                 "\"address_at_first_l1_cb_buffer\":105824,\"num_x_compute_cores\":8,\"num_y_compute_cores\":8}],"
                 "\"board\":\"n150\",\"graph\":[\n{\"node_type\":\"memory_view\",\"params\":{\"device_id\":0,"
                 "\"buffer_type\":0,\"num_banks\":12,\"total_bytes_per_bank\":%llu,\"allocated_per_bank\":0,"
                 "\"largest_free_per_bank\":%llu,\"base_address\":%d}}",
                 (unsigned long long)BANK, (unsigned long long)BANK, BASE);
  return w;
}

static void put_place(program *w, uint32_t tensor) {
  ttm_buf_printf(&w->text, "\"address\":%llu,\"type\":\"DRAM\",\"buffer_type\":0,\"device_id\":0",
                 (unsigned long long)(BASE + w->at[tensor]));
}

static void put_tensor(program *w, uint32_t counter, uint32_t tensor) {
  ttm_buf_printf(&w->text,
                 ",\n{\"counter\":%u,\"node_type\":\"tensor\",\"params\":{\"shape\":\"Shape([%llu, 32])\",\"dtype\":"
                 "\"DataType::BFLOAT16\",\"layout\":\"Layout::TILE\",",
                 counter, (unsigned long long)(w->size[tensor] * BANKS / 64));
  put_place(w, tensor);
  ttm_buf_puts(&w->text, "}}");
}

/* The line `line` of the program calls an operation that takes two tensors (or NONE) and makes one of `size` bytes per bank. */
static uint32_t make(program *w, uint32_t line, uint32_t a, uint32_t b, uint64_t size) {
  const uint32_t takes[2] = {a, b};
  uint32_t out = w->tensors++, n = 2;
  assert_true(out < MOST);
  w->size[out] = size;
  w->full |= !ttm_bank_take(&w->bank, size, false, &w->at[out]);
  ttm_buf_printf(&w->text, ",\n{\"node_type\":\"operation\",\"params\":{\"id\":%u,\"name\":\"ttnn.op%u\"", ++w->ops,
                 line);
  if (w->located) ttm_buf_printf(&w->text, ",\"at\":\"model.py:%u\"", line);
  ttm_buf_printf(&w->text,
                 "}},\n{\"node_type\":\"piece\",\"params\":{}},\n{\"counter\":1,\"node_type\":\"function_start\","
                 "\"params\":{\"name\":\"ttnn.op%u\"},\"input_tensors\":[",
                 line);
  for (uint32_t i = 0, put = 0; i < 2; i++)
    if (takes[i] != NONE) ttm_buf_printf(&w->text, "%s%u", put++ ? "," : "", 2 + i);
  ttm_buf_puts(&w->text, "]}");
  for (uint32_t i = 0; i < 2; i++)
    if (takes[i] != NONE) put_tensor(w, n + i, takes[i]);
  ttm_buf_printf(&w->text,
                 ",\n{\"counter\":4,\"node_type\":\"buffer\",\"params\":{\"size\":%llu,\"type\":\"DRAM\","
                 "\"buffer_type\":0,\"device_id\":0},\"connections\":[6]}",
                 (unsigned long long)size * BANKS);
  ttm_buf_printf(&w->text,
                 ",\n{\"counter\":5,\"node_type\":\"buffer_allocate\",\"connections\":[4],\"params\":{\"size\":%llu,"
                 "\"page_size\":2048,\"num_cores\":0,\"max_size_per_bank\":%llu,",
                 (unsigned long long)size * BANKS, (unsigned long long)size);
  put_place(w, out);
  ttm_buf_puts(&w->text, "}}");
  put_tensor(w, 6, out);
  ttm_buf_puts(&w->text, ",\n{\"counter\":7,\"node_type\":\"function_end\",\"params\":{}}");
  return out;
}

static void drop(program *w, uint32_t tensor) {
  ttm_buf_printf(&w->text, ",\n{\"counter\":8,\"node_type\":\"buffer_deallocate\",\"params\":{\"size\":%llu,",
                 (unsigned long long)w->size[tensor] * BANKS);
  put_place(w, tensor);
  ttm_buf_puts(&w->text, "}}");
  assert_int_equal(ttm_bank_give(&w->bank, w->at[tensor], w->size[tensor]), TTM_OK);
}

static void discard(program *w) {
  ttm_buf_free(&w->text);
  ttm_bank_free(&w->bank);
}

static ttm_profile *read(program *w) {
  ttm_profile *p;
  ttm_buf_puts(&w->text,
               ",\n{\"node_type\":\"device_close\",\"params\":{\"device_id\":0}}"
               ",\n{\"node_type\":\"recording_end\",\"params\":{\"reason\":\"exit\"}}\n]}");
  assert_false(w->text.failed);
  assert_int_equal(ttm_profile_read_bytes(&p, w->text.at, w->text.n, NULL, NULL), TTM_OK);
  assert_int_equal(p->capture.recording.corrections + p->capture.recording.unseen_frees, 0);
  discard(w);
  return p;
}

static ttm_findings *finish(program *w) {
  ttm_profile *p = read(w);
  ttm_findings *f = NULL;
  assert_int_equal(ttm_findings_make(&f, p, 1, NULL), TTM_OK);
  ttm_profile_free(p);
  return f;
}

static void nothing_grows(program *w) {
  ttm_findings *f = finish(w);
  assert_int_equal(f->growths.n, 0);
  assert_non_null(ttm_statements_find(&f->statements, "leak.none", 0));
  ttm_findings_free(f);
}

/* ---- What grows ------------------------------------------------------------------------------------------------------ */

/* Each iteration makes two temporaries of other sizes, and keeps the result of the second: holes come and go. */
static uint32_t step(program *w, uint32_t weight, uint32_t x) {
  uint32_t first = make(w, 1, x, weight, 3 * MB), second = make(w, 2, first, NONE, 5 * MB);
  if (w->full) return x;
  drop(w, first);
  uint32_t out = make(w, 3, second, weight, 4 * MB);
  drop(w, second);
  return out;
}

/* The same loop until something finds no room; a recording that long is not kept. */
static uint32_t steps_until_full(void) {
  program w = begin(true);
  uint32_t n = 0, weight = make(&w, 9, NONE, NONE, 7 * MB), x = weight;
  while (x = step(&w, weight, x), !w.full) n++;
  discard(&w);
  return n;
}

static void a_loop_that_keeps_its_results(void **state) {
  (void)state;
  uint32_t until = steps_until_full();
  for (int located = 0; located < 2; located++) {
    program w = begin(located);
    uint32_t weight = make(&w, 9, NONE, NONE, 7 * MB), x = weight;
    for (int i = 0; i < 20; i++) x = step(&w, weight, x);
    ttm_findings *f = finish(&w);
    assert_int_equal(f->growths.n, 1);
    const ttm_growth *g = &f->growths.at[0];
    assert_int_equal(g->kind, TTM_GROWTH_KEPT);
    assert_int_equal(g->rows[0].tensors, 20);
    assert_int_equal(g->iterations, 20);
    assert_int_equal(g->per_iteration, 4 * MB);
    assert_true(g->sure && g->exact && !g->ended && !g->at_end);
    assert_int_equal(g->iterations + g->left, until);
    assert_int_equal(g->saves, 19 * 4 * MB); /* one is needed until the next iteration has taken it */
    assert_int_equal(f->peak_fixes.at[0].kind, TTM_FIX_STOP_LEAK);
    const ttm_statement *s = ttm_statements_find(&f->statements, "growth.loop", 0);
    assert_int_equal(s->severity, TTM_SEVERITY_WARNING);
    if (located) {
      char words[160];
      snprintf(words, sizeof words,
               "20 live tensors from model.py:3, one more each iteration, never freed; memory ends after %u iterations",
               until);
      assert_true(ttm_str_eq(s->headline, ttm_str_of(words)));
    }
    ttm_findings_free(f);
  }
}

static void few_iterations_are_a_suspicion(void **state) {
  (void)state;
  for (uint32_t n = 2; n < 8; n++) {
    program w = begin(true);
    uint32_t weight = make(&w, 9, NONE, NONE, 7 * MB), x = weight;
    for (uint32_t i = 0; i < n; i++) x = step(&w, weight, x);
    ttm_findings *f = finish(&w);
    assert_int_equal(f->growths.n, n > 2);
    if (n > 2) {
      assert_false(f->growths.at[0].sure);
      assert_non_null(ttm_statements_find(&f->statements, "growth.suspected", 0));
    }
    assert_int_equal(f->peak_fixes.n && f->peak_fixes.at[0].kind == TTM_FIX_STOP_LEAK, 0);
    ttm_findings_free(f);
  }
}

/* A loop over four layers inside a loop over requests: four more with each request. */
static void layers_inside_a_loop(void **state) {
  (void)state;
  program w = begin(true);
  uint32_t weights[4], x = 0;
  for (int i = 0; i < 4; i++) weights[i] = make(&w, 9, NONE, NONE, 7 * MB);
  for (int request = 0; request < 10; request++)
    for (int i = 0; i < 4; i++) x = step(&w, weights[i], x);
  ttm_findings *f = finish(&w);
  assert_int_equal(f->growths.n, 1);
  assert_int_equal(f->growths.at[0].iterations, 10);
  assert_int_equal(f->growths.at[0].rows[0].tensors, 40);
  assert_int_equal(f->growths.at[0].per_iteration, 16 * MB);
  ttm_findings_free(f);
}

/* Every third result is kept: the end of the loop holds one more, which the next iteration would let go. */
static void not_every_iteration_keeps_its_result(void **state) {
  (void)state;
  program w = begin(true);
  uint32_t x = make(&w, 9, NONE, NONE, MB);
  for (int i = 0; i < 41; i++) {
    uint32_t old = x;
    x = make(&w, 1, old, NONE, MB);
    if (i % 3 != 1) drop(&w, old);
  }
  ttm_findings *f = finish(&w);
  assert_int_equal(f->growths.n, 1);
  assert_int_equal(f->growths.at[0].spacing, 3);
  assert_int_equal(f->growths.at[0].rows[0].tensors, 14);
  ttm_findings_free(f);
}

/* A new cache is made of the last one and a new part, and replaces it. */
static uint32_t append(program *w, uint32_t weight, uint32_t old, uint64_t size) {
  uint32_t part = make(w, 1, weight, NONE, MB / 2), cache = make(w, 2, old, part, size);
  if (w->full) return cache;
  drop(w, part);
  drop(w, old);
  return cache;
}

static uint32_t caches_until_full(void) {
  program w = begin(true);
  uint32_t n = 0, weight = make(&w, 9, NONE, NONE, 7 * MB), cache = make(&w, 8, NONE, NONE, MB);
  while (cache = append(&w, weight, cache, w.size[cache] + MB / 2), !w.full) n++;
  discard(&w);
  return n;
}

static void a_cache_that_grows(void **state) {
  (void)state;
  program w = begin(true);
  uint32_t weight = make(&w, 9, NONE, NONE, 7 * MB), cache = make(&w, 8, NONE, NONE, MB);
  for (int i = 0; i < 20; i++) cache = append(&w, weight, cache, w.size[cache] + MB / 2);
  ttm_findings *f = finish(&w);
  assert_int_equal(f->growths.n, 1);
  const ttm_growth *g = &f->growths.at[0];
  assert_int_equal(g->kind, TTM_GROWTH_CACHE);
  assert_int_equal(g->first_bytes, MB + MB / 2);
  assert_int_equal(g->rows[0].bank_bytes, 11 * MB);
  assert_int_equal(g->iterations, 20);
  assert_int_equal(g->per_iteration, MB / 2);
  assert_true(g->exact);
  assert_int_equal(g->iterations + g->left, caches_until_full());
  const ttm_statement *s = ttm_statements_find(&f->statements, "growth.cache", 0);
  assert_int_equal(s->severity, TTM_SEVERITY_NOTE);
  ttm_findings_free(f);
}

/* ---- What only looks like it ----------------------------------------------------------------------------------------- */

static void layers_that_keep_their_results(void **state) {
  (void)state;
  for (int lazy = 0; lazy < 2; lazy++) {
    program w = begin(true);
    uint32_t weights[16], x = 0;
    for (int i = 0; i < 16 && !lazy; i++) weights[i] = make(&w, 9, NONE, NONE, 7 * MB);
    for (int i = 0; i < 16; i++) {
      if (lazy) weights[i] = make(&w, 9, NONE, NONE, 7 * MB); /* when the layer first runs */
      x = step(&w, weights[i], lazy && !i ? weights[0] : x);
    }
    nothing_grows(&w);
  }
}

/* What all layers keep is taken on the way back. */
static void kept_for_the_way_back(void **state) {
  (void)state;
  program w = begin(true);
  uint32_t weight = make(&w, 9, NONE, NONE, 7 * MB), x = weight, kept[16];
  for (int i = 0; i < 16; i++) kept[i] = x = step(&w, weight, x);
  for (int i = 15; i >= 0; i--) x = make(&w, 5, x, kept[i], MB);
  nothing_grows(&w);
}

/* The last ten results stay, as many as ever. */
static void a_window_that_moves(void **state) {
  (void)state;
  program w = begin(true);
  uint32_t weight = make(&w, 9, NONE, NONE, 7 * MB), kept[60];
  for (int i = 0; i < 60; i++) {
    kept[i] = step(&w, weight, i ? kept[i - 1] : weight);
    if (i >= 10) drop(&w, kept[i - 10]);
  }
  nothing_grows(&w);
}

/* Results of a first phase stay while a second one runs on. */
static void a_loop_that_is_over(void **state) {
  (void)state;
  program w = begin(true);
  uint32_t weight = make(&w, 9, NONE, NONE, 7 * MB), x = weight;
  for (int i = 0; i < 10; i++) step(&w, weight, x);
  for (int i = 0; i < 40; i++) {
    uint32_t old = x;
    x = make(&w, 5, old, weight, MB);
    if (i) drop(&w, old);
  }
  nothing_grows(&w);
  w = begin(true); /* the second phase is the same, but lets its results go: the last one is still there */
  weight = make(&w, 9, NONE, NONE, 7 * MB);
  for (int i = 0; i < 6; i++) step(&w, weight, weight);
  for (int i = 0; i < 30; i++) {
    x = step(&w, weight, weight);
    if (i < 29) drop(&w, x);
  }
  nothing_grows(&w);
}

static void weights_and_stages(void **state) {
  (void)state;
  program w = begin(true);
  uint32_t weights[16], x;
  for (int i = 0; i < 16; i++) weights[i] = make(&w, 9, NONE, NONE, 7 * MB);
  x = weights[0];
  for (int i = 0; i < 16; i++) {
    uint32_t old = x;
    x = make(&w, 1, old, weights[i], MB);
    if (i) drop(&w, old);
  }
  nothing_grows(&w);
  w = begin(true);
  x = make(&w, 8, NONE, NONE, MB);
  for (int i = 0; i < 8; i++) x = append(&w, x, x, 2 * w.size[x]); /* doubles with each stage: no cache */
  nothing_grows(&w);
}

/* ---- Without memory ---------------------------------------------------------------------------------------------------- */

static bool find_growth(void *context, bool plenty) {
  ttm_findings *f = NULL;
  ttm_error err = {0};
  int status = ttm_findings_make(&f, context, 1, &err);
  if (status) return !plenty && status == TTM_ENOMEM && err.code == TTM_ENOMEM && !f;
  bool fine = f->growths.n == 2;
  ttm_findings_free(f);
  return fine;
}

/* A loop that keeps a result and grows a cache. */
static void fails_cleanly(void **state) {
  (void)state;
  program w = begin(true);
  uint32_t weight = make(&w, 9, NONE, NONE, 7 * MB), cache = make(&w, 8, NONE, NONE, MB), x = weight;
  for (int i = 0; i < 10; i++) {
    x = step(&w, weight, x);
    cache = append(&w, weight, cache, w.size[cache] + MB / 2);
  }
  ttm_profile *p = read(&w);
  starve_walk(find_growth, p);
  ttm_profile_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_loop_that_keeps_its_results),
      cmocka_unit_test(few_iterations_are_a_suspicion),
      cmocka_unit_test(layers_inside_a_loop),
      cmocka_unit_test(not_every_iteration_keeps_its_result),
      cmocka_unit_test(a_cache_that_grows),
      cmocka_unit_test(layers_that_keep_their_results),
      cmocka_unit_test(kept_for_the_way_back),
      cmocka_unit_test(a_window_that_moves),
      cmocka_unit_test(a_loop_that_is_over),
      cmocka_unit_test(weights_and_stages),
      cmocka_unit_test(fails_cleanly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
