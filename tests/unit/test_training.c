/* SPDX-License-Identifier: Apache-2.0 */
/* Expected against actual, the breakdown of the peak and the verdict; the tracker's own text read back. */
#include "train/training.h"

#include <stdio.h>

#include "ttmem/tracker.h"
#include "unit.h"

#define MB ((int64_t)1 << 20)

static ttm_train_log log_;
static ttm_training training;

static const ttm_train_result *make(ttm_str text, ttm_train_options options) {
  assert_int_equal(ttm_train_log_read_bytes(&log_, text, NULL), TTM_OK);
  assert_int_equal(ttm_training_make(&training, &log_, &options, NULL), TTM_OK);
  return training.results.at;
}

static void drop(void) {
  ttm_training_free(&training);
  ttm_train_log_free(&log_);
}

/* A run through the tracker: model 100, optimizer 200, then forward (+ kept, peak) and backward passes of micro-batches. */
static char *run(int micro_batches, const int64_t *kept, const int64_t *rise) {
  ttm_tracker *t;
  char name[40];
  assert_int_equal(ttm_tracker_new(&t, NULL), TTM_OK);
  ttm_tracker_begin(t, TTM_RUN_NORMAL, NULL);
  ttm_tracker_allocated(t, TTM_DRAM, 100 * MB);
  ttm_tracker_snapshot(t, "MODEL_CREATION", NULL);
  ttm_tracker_allocated(t, TTM_DRAM, 200 * MB);
  ttm_tracker_snapshot(t, "OPTIMIZER_CREATION", NULL);
  for (int i = 0; i < micro_batches; i++) {
    ttm_tracker_allocated(t, TTM_DRAM, (uint64_t)(kept[i] * MB));
    snprintf(name, sizeof name, micro_batches > 1 ? "FORWARD_PASS_micro_%d" : "FORWARD_PASS", i);
    ttm_tracker_snapshot(t, name, NULL);
    ttm_tracker_allocated(t, TTM_DRAM, (uint64_t)(rise[i] * MB));
    ttm_tracker_deallocated(t, TTM_DRAM, (uint64_t)((rise[i] + kept[i] - (i ? 0 : 100)) * MB));
    snprintf(name, sizeof name, micro_batches > 1 ? "BACKWARD_PASS_micro_%d" : "BACKWARD_PASS", i);
    ttm_tracker_snapshot(t, name, NULL);
  }
  ttm_tracker_end(t, "FIRST_ITERATION_COMPLETE", NULL);
  char *text = ttm_tracker_text(t);
  ttm_tracker_free(t);
  return text;
}

static void a_plain_run(void **state) {
  (void)state;
  char *text = run(1, (int64_t[]){50}, (int64_t[]){120});
  const ttm_train_result *r =
      make(ttm_str_of(text), (ttm_train_options){.model_size = 80 * MB, .device_memory = 500 * MB});
  assert_int_equal(r->model.actual, 100 * MB);
  assert_int_equal(r->model.expected, 80 * MB);
  assert_int_equal(r->model.expected_from, TTM_FROM_OPTION);
  assert_int_equal(r->optimizer.actual, 200 * MB);
  assert_int_equal(r->optimizer.expected, 160 * MB);
  assert_int_equal(r->gradients.actual, 100 * MB);
  assert_int_equal(r->gradients.expected, 80 * MB);
  assert_int_equal(r->activations, 50 * MB);
  assert_int_equal(r->peak, 470 * MB);
  assert_false(r->peak_derived);
  assert_true(r->fits);
  assert_int_equal(r->part[TTM_PART_MODEL], 80 * MB);
  assert_int_equal(r->part[TTM_PART_OPTIMIZER], 160 * MB);
  assert_int_equal(r->part[TTM_PART_ACTIVATIONS], 50 * MB);
  assert_int_equal(r->part[TTM_PART_GRADIENTS_OVERHEAD], 120 * MB);
  assert_int_equal(r->part[TTM_PART_OTHER], 60 * MB); /* what was expected and is not */
  assert_int_equal(r->surplus, 0);
  drop();
  r = make(ttm_str_of(text), (ttm_train_options){.model_size = 80 * MB, .use_actual_sizes = true});
  assert_int_equal(r->part[TTM_PART_MODEL], 100 * MB);
  assert_int_equal(r->part[TTM_PART_OTHER], 0);
  assert_int_equal(r->device_memory, TTM_TRAIN_DEVICE_MEMORY);
  assert_int_equal(r->device_memory_from, TTM_FROM_DEFAULT);
  drop();
  r = make(ttm_str_of(text), (ttm_train_options){.device_memory = 470 * MB});
  assert_false(r->fits); /* the peak must be below */
  assert_false(ttm_training_fits(&training));
  assert_int_equal(r->model.expected_from, TTM_FROM_NOWHERE);
  assert_int_equal(r->model_part_from, TTM_FROM_PHASE); /* nothing expected: as measured */
  drop();
  ttm_text_free(text);
}

static void the_micro_batch_that_rose_highest(void **state) {
  (void)state;
  char *text = run(3, (int64_t[]){50, 90, 60}, (int64_t[]){120, 130, 10});
  const ttm_train_result *r = make(ttm_str_of(text), (ttm_train_options){.model_size = 100 * MB});
  assert_int_equal(r->activations, 90 * MB);
  assert_int_equal(r->part[TTM_PART_GRADIENTS_OVERHEAD], 130 * MB);
  assert_int_equal(r->gradients.actual, 100 * MB);
  assert_int_equal(r->part[TTM_PART_OTHER], 100 * MB); /* gradients of the first */
  assert_int_equal(r->peak, 620 * MB);
  drop();
  ttm_text_free(text);
}

static void parts_that_are_never_together(void **state) {
  (void)state;
  char *text = run(1, (int64_t[]){50}, (int64_t[]){120});
  const ttm_train_result *r = make(ttm_str_of(text), (ttm_train_options){.model_size = 200 * MB});
  assert_int_equal(r->part[TTM_PART_OTHER], 0);
  assert_int_equal(r->surplus, (200 + 400 + 50 + 120 - 470) * MB);
  drop();
  ttm_text_free(text);
}

static void device_memory_by_origin(void **state) {
  (void)state;
  ttm_str arena = TTM_LIT(
      "=== Memory Usage Summary ===\nOverall DRAM Peak: 90.00 MB, Final DRAM Usage: 1.00 MB\n"
      "=== DRAM footprint ===\n  peak usage: 90 MB/device (90.0% of 100 MB arena)\n");
  const ttm_train_result *r = make(arena, (ttm_train_options){0});
  assert_int_equal(r->device_memory, 100 * MB);
  assert_int_equal(r->device_memory_from, TTM_FROM_ARENA);
  assert_true(r->fits && r->forward == TTM_NOT_FOUND && r->backward == TTM_NOT_FOUND);
  drop();
  r = make(TTM_LIT("Available Device Memory: 80.00 MB\n=== Memory Usage Summary ===\n"
                   "Overall DRAM Peak: 90.00 MB, Final DRAM Usage: 1.00 MB\n"),
           (ttm_train_options){0});
  assert_int_equal(r->device_memory_from, TTM_FROM_LOG);
  assert_false(r->fits);
  drop();
}

static void sizes_print_as_they_were_read(void **state) {
  (void)state;
  char text[32];
  for (int64_t h = 0; h < 2000000; h += 7) {
    snprintf(text, sizeof text, "%.2f", (double)ttm_train_bytes(h) / 1048576.0);
    assert_int_equal(strtod(text, NULL) * 100 + 0.5, h);
  }
}

static void sizes_that_no_memory_has(void **state) {
  (void)state;
  assert_true(ttm_train_bytes(INT64_MAX) == (int64_t)1 << 60);
  assert_true(ttm_train_bytes(INT64_MIN) == -((int64_t)1 << 60));
  assert_int_equal(ttm_train_bytes(150), MB + MB / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plain_run),
      cmocka_unit_test(sizes_that_no_memory_has),
      cmocka_unit_test(the_micro_batch_that_rose_highest),
      cmocka_unit_test(parts_that_are_never_together),
      cmocka_unit_test(device_memory_by_origin),
      cmocka_unit_test(sizes_print_as_they_were_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
