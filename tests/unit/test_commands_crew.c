/* SPDX-License-Identifier: Apache-2.0 */
/* How many programs `ttmem fit` runs at once, and what becomes of one that memory of the host does not allow. */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "launch/crew.h"
#include "unit.h"

static const uint64_t GB = UINT64_C(1) << 30;

static void rule(void **state) {
  (void)state;
  uint64_t none[] = {0}, one[] = {3 * GB}, two[] = {3 * GB, GB};
  assert_true(ttm_crew_allows(8 * GB, 0, none, 1)); /* at least 1 GiB is left for each */
  assert_false(ttm_crew_allows(2 * GB - 1, 0, none, 1));
  assert_true(ttm_crew_allows(2 * GB, 0, none, 1));
  assert_true(ttm_crew_allows(9 * GB, 0, one, 1)); /* twice what it takes now: 3 more for it, 6 for the new one */
  assert_false(ttm_crew_allows(9 * GB - 1, 0, one, 1));
  assert_true(ttm_crew_allows(5 * GB, 4 * GB, one, 1)); /* one that ended took 4 */
  assert_false(ttm_crew_allows(5 * GB - 1, 4 * GB, one, 1));
  assert_true(ttm_crew_allows(8 * GB, 4 * GB, two, 2));
  assert_false(ttm_crew_allows(8 * GB - 1, 4 * GB, two, 2));
  assert_true(ttm_crew_allows(2 * GB, 2 * GB, one, 1)); /* one that took more already owes nothing */
  assert_false(ttm_crew_allows(0, 0, NULL, 0));
}

static void listen(void *context, const char *sentence) {
  if (sentence) snprintf(context, 200, "%s", sentence);
}

static int start(ttm_crew *crew, size_t row, const char *script) {
  ttm_error err;
  char *const words[] = {"sh", "-c", (char *)script, NULL};
  return ttm_crew_start(crew, row, 0, "n150", words, "running", &err);
}

static ttm_crew_run *wait_for_one(ttm_crew *crew) {
  ttm_crew_run *ended = NULL;
  for (int i = 0; i < 1000 && !ended && crew->running.n; i++) ttm_crew_wait(crew, &ended);
  return ended;
}

/* The youngest goes, with all its processes, and it is as if it had not been started. */
static void memory_runs_short(void **state) {
  char said[200] = "";
  ttm_launch_viewer viewer = {.context = said, .say = listen};
  ttm_crew crew;
  ttm_error err;
  ttm_crew_run *ended = NULL;
  (void)state;
  assert_int_equal(ttm_crew_begin(&crew, &(ttm_crew_options){.jobs = 3, .viewer = &viewer}, &err), TTM_OK);
  assert_int_equal(start(&crew, 0, "sleep 1; exit 4"), TTM_OK);
  assert_int_equal(start(&crew, 1, "sleep 1000; true"), TTM_OK);
  assert_true(ttm_crew_has_room(&crew));
  crew.spare = UINT64_MAX;
  for (int i = 0; i < 1000 && crew.running.n == 2; i++) {
    ttm_crew_wait(&crew, &ended);
    assert_null(ended);
  }
  assert_string_equal(said, "n150: stopped, memory of the host is short; it runs again later");
  assert_non_null(ttm_crew_find(&crew, 0, 0));
  assert_null(ttm_crew_find(&crew, 1, 0));
  assert_false(ttm_crew_has_room(&crew)); /* not beside the other one */
  ended = wait_for_one(&crew);
  assert_non_null(ended);
  assert_int_equal(ended->row, 0);
  assert_int_equal(ended->end.status, TTM_OK);
  assert_int_equal(ended->end.result.exit_status, 4);
  ttm_crew_free_run(ended);
  assert_true(ttm_crew_has_room(&crew));
  assert_int_equal(start(&crew, 1, "sleep 1000; true"), TTM_OK);
  pid_t last = crew.running.at[0]->pid;
  ttm_crew_finish(&crew);
  assert_int_equal(kill(last, 0), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rule), cmocka_unit_test(memory_runs_short)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
