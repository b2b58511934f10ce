/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the watching, its texts, its recorder and the reading of a recording made to fail in turn. This file defines
 * the heap's door itself, so the linker leaves src/base/alloc.c out of this program. */
#define _GNU_SOURCE
#include <unistd.h>

#include "profile/profile.h"
#include "report/watch_report.h"
#include "segment_fixture.h"
#include "watch/alarm.h"
#include "watch/recorder.h"

static long allowed = 1L << 40; /* allocations that still succeed */

static bool refuse(void) { return allowed-- <= 0; }
void *ttm_alloc(size_t size) { return refuse() ? NULL : calloc(1, size ? size : 1); }
void *ttm_realloc(void *old, size_t size) { return refuse() ? NULL : realloc(old, size ? size : 1); }
void ttm_free(void *p) { free(p); }

static void ignore(void *context, const ttm_alarm_event *event) { (void)context, (void)event; }

/* A look, everything that is made of it, and a line of a recording. */
static void use(const char *dir, const char *record) {
  ttm_watch watch;
  ttm_alarm alarm = {0};
  ttm_recorder *recorder = NULL;
  ttm_buf out = {0};
  ttm_error err;
  size_t unknown;
  ttm_watch_view view = {.sort = TTM_USE_DRAM, .history = TTM_USE_L1, .columns = 80, .color = true, .utf8 = true};
  ttm_watch_init(&watch, &(ttm_watch_options){.dir = dir, .sysfs = "/nowhere", .board = &ttm_boards[0]});
  assert_int_equal(ttm_alarm_add(&alarm, "1%", &err), TTM_OK);
  int status = ttm_watch_look(&watch, 0, &err);
  if (!status) {
    status = ttm_watch_text(&out, &watch, &view);
    ttm_watch_json(&out, &watch, 1);
    ttm_watch_metrics(&out, &watch);
    status = ttm_alarm_check(&alarm, &watch, ignore, NULL, &unknown);
    if (!status) status = ttm_recorder_open(&recorder, record, 1, 100, &err);
    if (!status) status = ttm_recorder_take(recorder, &watch, 500, &err);
    ttm_recorder_close(recorder, 600);
  }
  assert_true(status == TTM_OK || status == TTM_ENOMEM);
  ttm_buf_free(&out);
  ttm_alarm_free(&alarm);
  ttm_watch_free(&watch);
}

static void watching(void **state) {
  (void)state;
  char dir[] = "/tmp/ttmem-starved-XXXXXX", record[64], file[64];
  segment s;
  assert_non_null(mkdtemp(dir));
  snprintf(record, sizeof record, "%s/record", dir);
  snprintf(file, sizeof file, "%s/tt_device_7_memory", dir);
  segment_init(&s, 7, 0);
  segment_slot(&s, 0, getpid(), segment_now(), "me", UINT64_C(1) << 32, 1 << 20, 4096);
  segment_slot(&s, 1, 1, 1, "dead", 1, 2, 3);
  segment_write(&s, dir, 7, TTM_SHM_BYTES);
  long n = 0;
  do {
    unlink(record);
    allowed = n++;
    use(dir, record);
  } while (allowed < 0);
  assert_true(n > 10);
  allowed = 1L << 40;
  unlink(file);
  unlink(record);
  rmdir(dir);
}

static void reading(void **state) {
  (void)state;
  static const char text[] =
      "ttmem-live 1\nstart 1 100\ndevice 0 0 7 n150\nprocess 0 5 p\ns 500 0 1048576 2 3 4 5 0:1048576,2,3,4,5\n"
      "bad\ns 600 0 9 9 9 9 9\nend 700\nstart 9000 100\ndevice 0 0 7 -\ns 0 0 1 1 1 1 1\n";
  ttm_error err;
  long n = 0;
  do {
    ttm_profile *p = NULL;
    allowed = n++;
    int status = ttm_profile_read_bytes(&p, text, sizeof text - 1, NULL, &err);
    assert_true(status == TTM_OK || status == TTM_ENOMEM);
    ttm_profile_free(p);
  } while (allowed < 0);
  assert_true(n > 10);
  allowed = 1L << 40;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(watching), cmocka_unit_test(reading)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
