/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/train_log.h"

#include "parse/log_line.h"
#include "unit.h"

#define PHASE(name, peak, change, cumulative, current)                                                   \
  "--- " name                                                                                            \
  " ---\n"                                                                                               \
  "  DRAM: Segment Peak " peak " MB, Allocations 3.00 MB, Deallocations 1.00 MB, Segment Change " change \
  " MB\n"                                                                                                \
  "  DRAM: Cumulative Peak " cumulative " MB, Cumulative Current " current                               \
  " MB\n"                                                                                                \
  "  L1: Peak CB 0.29 MB, Peak Buffer 0.10 MB, Peak Total 0.35 MB\n"

static void read_text(ttm_train_log *log, const char *text) {
  ttm_str copy = heap_view(ttm_str_of(text));
  assert_int_equal(ttm_train_log_read_bytes(log, copy, NULL), TTM_OK);
  free((void *)copy.p);
}

static void one_summary(void **state) {
  (void)state;
  ttm_train_log log;
  read_text(&log,
            "Total parameters: 1,034,512\nAvailable Device Memory: 12288.00 MB\n# not a name\nmy run\n\n"
            "=== Memory Usage Summary ===\n\n" PHASE("FORWARD_PASS_micro_0", "2.50", "-1.05", "12.00", "3.07")
                PHASE("weird name__000042", "0.00", "+0.00", "12.00",
                      "3.07") "\n=== Final Totals ===\nOverall DRAM Peak: 12.00 MB, Final DRAM Usage: 3.07 MB\n\n");
  assert_int_equal(log.summaries.n, 1);
  ttm_train_summary *s = &log.summaries.at[0];
  assert_view(ttm_intern_get(&log.names, s->name), "my run");
  assert_int_equal(s->parameters.value, 1034512);
  assert_int_equal(s->parameters.line, 1);
  assert_int_equal(s->device_memory.value, 1228800);
  assert_int_equal(s->line, 6);
  assert_int_equal(s->last_line, 18);
  assert_int_equal(s->rank, TTM_NO_RANK);
  assert_int_equal(s->overall_peak, 1200);
  assert_int_equal(s->final_usage, 307);
  assert_int_equal(s->phases.n, 2);
  assert_view(ttm_intern_get(&log.names, s->phases.at[0].name), "FORWARD_PASS_micro_0");
  assert_view(ttm_intern_get(&log.names, s->phases.at[1].name), "weird name__000042");
  assert_int_equal(s->phases.at[0].segment_peak, 250);
  assert_int_equal(s->phases.at[0].change, -105);
  assert_int_equal(s->phases.at[0].cumulative_current, 307);
  assert_int_equal(s->phases.at[0].peak_cb, 29);
  assert_int_equal(s->phases.at[0].peak_total, 35);
  assert_int_equal(log.torn, 0);
  ttm_train_log_free(&log);
}

static void ranks_print_between_each_other(void **state) {
  (void)state;
  ttm_train_log log;
  read_text(&log,
            "[1,0]<stdout>:first\n[1,1]<stdout>:second\n"
            "[1,0]<stdout>:=== Memory Usage Summary ===\n[1,1]<stdout>:=== Memory Usage Summary ===\n"
            "[1,0]<stdout>:--- A ---\n[1,1]<stdout>:--- B ---\n"
            "[1,1]<stdout>:  DRAM: Cumulative Peak 2.00 MB, Cumulative Current 2.00 MB\n"
            "[1,0]<stdout>:  DRAM: Cumulative Peak 1.00 MB, Cumulative Current 1.00 MB\n"
            "[1,1]<stdout>:Overall DRAM Peak: 2.00 MB, Final DRAM Usage: 2.00 MB\n"
            "[1,0]<stdout>:Overall DRAM Peak: 1.00 MB, Final DRAM Usage: 1.00 MB\n");
  assert_int_equal(log.summaries.n, 2);
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(log.summaries.at[i].rank, i);
    ttm_str name = ttm_intern_get(&log.names, log.summaries.at[i].name);
    assert_true(ttm_str_eq(name, i ? TTM_LIT("second") : TTM_LIT("first")));
    assert_int_equal(log.summaries.at[i].phases.n, 1);
    assert_int_equal(log.summaries.at[i].phases.at[0].cumulative_peak, 100 * (i + 1));
    assert_int_equal(log.summaries.at[i].overall_peak, 100 * (i + 1));
  }
  ttm_train_log_free(&log);
}

static void a_footprint(void **state) {
  (void)state;
  ttm_train_log log;
  read_text(&log,
            "2026-07-21T10:00:00.0000000Z === DRAM footprint ===\r\n"
            "2026-07-21T10:00:00.0000000Z   peak usage: 32,036 MB/device (98.3% of 32,595 MB arena)\r\n"
            "noise in between\n"
            "  reserved (outside arena): 45 MB/device\n"
            "  largest allocatable block at the tightest point: 1,024 MB/device\n"
            "=== DRAM footprint ===\n");
  assert_int_equal(log.footprints.n, 2);
  ttm_train_footprint *f = &log.footprints.at[0];
  assert_int_equal(f->line, 1);
  assert_int_equal(f->peak, 3203600);
  assert_int_equal(f->arena, 3259500);
  assert_int_equal(f->reserved, 4500);
  assert_int_equal(f->largest_block, 102400);
  assert_true(log.footprints.at[1].peak == TTM_TRAIN_UNKNOWN && log.footprints.at[1].arena == TTM_TRAIN_UNKNOWN);
  ttm_train_log_free(&log);
}

static void what_is_torn_is_counted(void **state) {
  (void)state;
  ttm_train_log log;
  read_text(&log,
            "=== Memory Usage Summary ===\n"
            "  DRAM: Cumulative Peak 1.00 MB, Cumulative Current 1.00 MB\n" /* of no phase */
            "--- A ---\n"
            "  DRAM: Segment Peak 1.00 MB, Alloc\n"
            "  DRAM: Cumulative Peak 1.00 MB, Cumulative Current 99999999999999999999 MB\n"
            "  DRAM: Cumulative Peak 1.00 MB, Cumulative Current 1.5 MB\n"
            "--- no numbers ---\n"
            "some other line\n"
            "=== Memory Usage Summary ===\n");
  assert_int_equal(log.summaries.n, 2);
  assert_int_equal(log.summaries.at[0].phases.n, 1);
  assert_int_equal(log.summaries.at[0].phases.at[0].cumulative_current, 150);
  assert_false(log.summaries.at[0].phases.at[0].has_segment);
  assert_true(log.summaries.at[0].overall_peak == TTM_TRAIN_UNKNOWN);
  assert_int_equal(log.torn, 4);
  assert_int_equal(log.first_torn_line, 2);
  assert_view(ttm_intern_get(&log.names, log.summaries.at[1].name), "some other line");
  ttm_train_log_free(&log);
  /* A peak of all that is below that of a phase. */
  read_text(&log,
            "=== Memory Usage Summary ===\n"
            "--- A ---\n"
            "  DRAM: Cumulative Peak 2.00 MB, Cumulative Current 1.00 MB\n"
            "Overall DRAM Peak: 1.99 MB, Final DRAM Usage: 1.00 MB\n");
  assert_int_equal(log.torn, 1);
  assert_int_equal(log.first_torn_line, 4);
  ttm_train_log_free(&log);
}

static void facts_in_every_spelling(void **state) {
  (void)state;
  ttm_train_log log;
  read_text(&log,
            "=== Memory Usage Summary ===\nOverall DRAM Peak: 1.00 MB, Final DRAM Usage: 1.00 MB\n"
            "INFO Number of parameters: 77\n  memory   512.50 MB\n"
            "=== Memory Usage Summary ===\nOverall DRAM Peak: 1.00 MB, Final DRAM Usage: 1.00 MB\n"
            "  params   12,345\nmemory of mine\nparameters: many\n"
            "=== Memory Usage Summary ===\n");
  assert_int_equal(log.summaries.n, 3);
  assert_int_equal(log.summaries.at[0].parameters.value, 77); /* said only later */
  assert_int_equal(log.summaries.at[1].parameters.value, 77);
  assert_int_equal(log.summaries.at[2].parameters.value, 12345);
  assert_int_equal(log.summaries.at[2].device_memory.value, 51250);
  assert_view(ttm_intern_get(&log.names, log.summaries.at[2].name), "parameters: many");
  ttm_train_log_free(&log);
}

static void roles(void **state) {
  (void)state;
  static const struct {
    const char *name;
    ttm_train_role role;
  } cases[] = {
      {"MODEL_CREATION", TTM_ROLE_MODEL},
      {"OPTIMIZER_CREATION", TTM_ROLE_OPTIMIZER},
      {"FORWARD_PASS", TTM_ROLE_FORWARD},
      {"FORWARD_PASS_micro_17", TTM_ROLE_FORWARD},
      {"BACKWARD_PASS__000042", TTM_ROLE_BACKWARD},
      {"BACKWARD_PASS_micro_3__000042", TTM_ROLE_BACKWARD},
      {"FORWARD_PASS_micro_", TTM_ROLE_OTHER},
      {"FORWARD_PASSES", TTM_ROLE_OTHER},
      {"FIRST_ITERATION_COMPLETE", TTM_ROLE_OTHER},
      {"__7", TTM_ROLE_OTHER},
      {"", TTM_ROLE_OTHER},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(ttm_train_role_of(ttm_str_of(cases[i].name)), cases[i].role);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_summary),
      cmocka_unit_test(ranks_print_between_each_other),
      cmocka_unit_test(a_footprint),
      cmocka_unit_test(what_is_torn_is_counted),
      cmocka_unit_test(facts_in_every_spelling),
      cmocka_unit_test(roles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
