/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the watching, its texts, its recorder and the reading of a recording made to fail in turn. What does not fail
 * says the same as with plenty of memory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "base/hash.h"
#include "profile/profile.h"
#include "report/live/watch_report.h"
#include "segment_fixture.h"
#include "starving.h"
#include "watch/alarm.h"
#include "watch/recorder.h"

typedef struct place {
  char dir[32], record[64], file[64];
  size_t alarms;
  /* With plenty of memory. */
  char text[16384], recorded[4096];
  size_t text_n, recorded_n;
} place;

static void count_alarm(void *context, const ttm_alarm_event *event) {
  (void)event;
  ++((place *)context)->alarms;
}

static size_t read_file(const char *path, char *out, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? 0 : read(fd, out, room);
  if (fd >= 0) close(fd);
  return n > 0 ? (size_t)n : 0;
}

static int make_texts(ttm_buf *out, const ttm_watch *watch) {
  ttm_watch_view view = {.sort = TTM_USE_DRAM, .history = TTM_USE_L1, .columns = 80, .color = true, .utf8 = true};
  int status = ttm_watch_text(out, watch, &view);
  ttm_watch_json(out, watch, 1);
  ttm_watch_metrics(out, watch, true);
  ttm_watch_line(out, watch->devices.at[0], 1);
  ttm_watch_problems(out, watch, "", true);
  return status || out->failed ? TTM_ENOMEM : TTM_OK;
}

/* A look, everything that is made of it, and a line of a recording. */
static bool work_watching(void *context, bool plenty) {
  place *p = context;
  ttm_watch watch;
  ttm_alarm alarm = {0};
  ttm_recorder *recorder = NULL;
  ttm_buf out = {0};
  ttm_error err = {0};
  char recorded[sizeof p->recorded];
  size_t unknown;
  unlink(p->record);
  p->alarms = 0;
  ttm_watch_init(&watch, &(ttm_watch_options){.dir = p->dir, .sysfs = "/nowhere", .board = &ttm_boards[0]});
  assert_int_equal(ttm_alarm_add(&alarm, "dram:1%", &err), TTM_OK);
  int status = ttm_watch_look(&watch, 0, &err);
  if (!status) status = make_texts(&out, &watch);
  if (!status) status = ttm_alarm_check(&alarm, &watch, count_alarm, p, &unknown);
  if (!status) status = ttm_recorder_open(&recorder, p->record, 1, 100, &err);
  if (!status) status = ttm_recorder_take(recorder, &watch, 500, &err);
  ttm_recorder_close(recorder, 600);
  size_t n = read_file(p->record, recorded, sizeof recorded);
  if (plenty) {
    assert_true(!status && p->alarms == 1 && out.n > 500 && out.n <= sizeof p->text && n > 50 && n < sizeof recorded);
    memcpy(p->text, out.at, p->text_n = out.n);
    memcpy(p->recorded, recorded, p->recorded_n = n);
  }
  bool same = p->alarms == 1 && out.n == p->text_n && !memcmp(out.at, p->text, out.n) && n == p->recorded_n &&
              !memcmp(recorded, p->recorded, n);
  bool fine = status ? status == TTM_ENOMEM : same;
  if (!fine) fprintf(stderr, "status %d, %zu alarms, %zu bytes of text, %zu recorded\n", status, p->alarms, out.n, n);
  ttm_buf_free(&out);
  ttm_alarm_free(&alarm);
  ttm_watch_free(&watch);
  return fine;
}

static void watching(void **state) {
  (void)state;
  static place p = {.dir = "/tmp/ttmem-starved-XXXXXX"};
  segment s;
  assert_non_null(mkdtemp(p.dir));
  snprintf(p.record, sizeof p.record, "%s/record", p.dir);
  snprintf(p.file, sizeof p.file, "%s/tt_device_7_memory", p.dir);
  segment_init(&s, 7, 0);
  segment_slot(&s, 0, getpid(), segment_now(), "me", UINT64_C(1) << 32, 1 << 20, 4096);
  segment_slot(&s, 1, 1, 1, "dead", 1, 2, 3);
  segment_write(&s, p.dir, 7, TTM_SHM_BYTES);
  segment_write(&s, p.dir, 8, 100); /* a file that is not believed */
  starve_walk(work_watching, &p);
  unlink(p.file);
  unlink(p.record);
  snprintf(p.file, sizeof p.file, "%s/tt_device_8_memory", p.dir);
  unlink(p.file);
  assert_int_equal(rmdir(p.dir), 0);
}

static bool work_reading(void *context, bool plenty) {
  static const char text[] =
      "ttmem-live 1\nstart 1 100\ndevice 0 0 7 n150\nprocess 0 5 p\ns 500 0 1048576 2 3 4 5 0:1048576,2,3,4,5\n"
      "bad\ns 600 0 9 9 9 9 9\nend 700\nstart 9000 100\ndevice 0 0 7 -\ns 0 0 1 1 1 1 1\n";
  ttm_error err = {0};
  ttm_profile *p = NULL;
  int status = ttm_profile_read_bytes(&p, text, sizeof text - 1, NULL, &err);
  if (status) return !plenty && status == TTM_ENOMEM && err.code == TTM_ENOMEM && !p;
  uint64_t *whole = context, hash = ttm_hash(p->states.at, p->states.n * sizeof *p->states.at, 0);
  if (plenty) *whole = hash;
  bool fine = p->kind == TTM_LOG_LIVE && p->states.n == 4 && hash == *whole;
  ttm_profile_free(p);
  return fine;
}

static void reading(void **state) {
  (void)state;
  uint64_t whole;
  starve_walk(work_reading, &whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(watching), cmocka_unit_test(reading)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
