/* SPDX-License-Identifier: Apache-2.0 */
/* A recording: written, cut, added to, thinned out, and read back as a profile. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/findings.h"
#include "parse/live_record.h"
#include "profile/profile.h"
#include "segment_fixture.h"
#include "watch/recorder.h"

static void lines(void **state) {
  (void)state;
  ttm_live_line line = ttm_live_line_read(TTM_LIT("s 1200 3 1 2 3 4 5 0:1,2,3,4,5 7:9,8,7,6,5"));
  ttm_live_part part;
  assert_int_equal(line.kind, TTM_LIVE_SAMPLE);
  assert_int_equal(line.time_ms, 1200);
  assert_int_equal(line.number, 3);
  assert_int_equal(line.bytes[TTM_USE_CB], 5);
  assert_true(ttm_live_part_next(&line.parts, &part) && part.process == 0 && part.bytes[4] == 5);
  assert_true(ttm_live_part_next(&line.parts, &part) && part.process == 7 && part.bytes[0] == 9);
  assert_false(ttm_live_part_next(&line.parts, &part));
  line = ttm_live_line_read(TTM_LIT("process 2 4711 a name with blanks"));
  assert_int_equal(line.kind, TTM_LIVE_PROCESS);
  assert_view(line.name, "a name with blanks");
  assert_int_equal(ttm_live_line_read(TTM_LIT("device 0 1 18446744073709551615 n150")).kind, TTM_LIVE_DEVICE);
  assert_int_equal(ttm_live_line_read(TTM_LIT("start 1794742127864 100")).kind, TTM_LIVE_START);
  assert_int_equal(ttm_live_line_read(TTM_LIT("end 7")).kind, TTM_LIVE_END);
  static const char *const bad[] = {"",
                                    "s",
                                    "s 1 2 3",
                                    "s 1 0 1 2 3 4 5 ",
                                    "s 1 0 1 2 3 4 5 0:1,2",
                                    "s 1 0 1 2 3 4 5x",
                                    "s 1 0 1 2 3 4 5 0:1,2,3,4,5,",
                                    "device 0 1 2",
                                    "process 1",
                                    "start 1",
                                    "end x",
                                    "s 99999999999999999999 0 1 2 3 4 5",
                                    "hello"};
  for (size_t i = 1; i < sizeof bad / sizeof *bad; i++) {
    if (i == 3) continue; /* a blank at the end hides nothing */
    assert_int_equal(ttm_live_line_read(ttm_str_of(bad[i])).kind, TTM_LIVE_BAD);
  }
}

/* ---- A recording of a made-up hour ---------------------------------------------------------------------------------- */

typedef struct made {
  char path[64];
  ttm_recorder *recorder;
  ttm_watch watch;
  ttm_watch_device device;
  ttm_watch_device *devices[1];
  ttm_watch_process process;
} made;

static void make(made *m) {
  memset(m, 0, sizeof *m);
  strcpy(m->path, "/tmp/ttmem-record-XXXXXX");
  int fd = mkstemp(m->path);
  assert_true(fd >= 0);
  close(fd);
  m->device = (ttm_watch_device){.asic_id = 99, .device_id = 4, .board = ttm_board_find(TTM_LIT("n150")), .alive = 1};
  m->process = (ttm_watch_process){.slot = {.pid = 4711, .name = "py\nthon"}, .alive = true};
  m->device.processes.at = &m->process;
  m->device.processes.n = 1;
  m->devices[0] = &m->device;
  m->watch.devices.at = m->devices;
  m->watch.devices.n = 1;
}

static void begin(made *m, uint64_t unix_ms) {
  ttm_error err;
  assert_int_equal(ttm_recorder_open(&m->recorder, m->path, unix_ms, 100, &err), TTM_OK);
}

static void sample(made *m, uint64_t ms, uint64_t dram, uint64_t l1) {
  ttm_error err;
  m->device.used[TTM_USE_DRAM] = m->process.slot.bytes[TTM_USE_DRAM] = dram;
  m->device.used[TTM_USE_L1] = m->process.slot.bytes[TTM_USE_L1] = l1;
  assert_int_equal(ttm_recorder_take(m->recorder, &m->watch, ms, &err), TTM_OK);
}

static void read_profile(const made *m, ttm_profile **profile, ttm_findings **findings) {
  ttm_error err;
  assert_int_equal(ttm_profile_read(profile, m->path, &err), TTM_OK);
  assert_int_equal(ttm_findings_make(findings, *profile, 1, &err), TTM_OK);
}

static uint64_t size_of(const made *m) {
  struct stat st;
  assert_int_equal(stat(m->path, &st), 0);
  return (uint64_t)st.st_size;
}

static void round_trip(void **state) {
  (void)state;
  made m;
  ttm_profile *p;
  ttm_findings *f;
  const uint64_t MB = 1 << 20;
  make(&m);
  begin(&m, 1000000);
  sample(&m, 500, 12 * MB, 0); /* it was idle before: its rise is seen */
  uint64_t size = size_of(&m);
  sample(&m, 600, 12 * MB, 0);
  sample(&m, 700, 12 * MB, 0);
  assert_int_equal(size_of(&m), size); /* only changes are written */
  sample(&m, 800, 1200 * MB, 64 * MB);
  sample(&m, 900, 24 * MB, 0);
  ttm_recorder_close(m.recorder, 1000);
  read_profile(&m, &p, &f);
  assert_int_equal(p->kind, TTM_LOG_LIVE);
  assert_int_equal(p->states.n, 4); /* nothing, and three samples */
  assert_int_equal(p->ops.n, 3);
  assert_false(p->seen.cut);
  assert_int_equal(p->seen.bad_blocks, 0);
  assert_int_equal(f->peak[TTM_DRAM].level.allocated, 100000); /* MB per bank, in thousandths */
  assert_int_equal(f->peak[TTM_L1].level.allocated, 1000);
  assert_int_equal(f->peak[TTM_DRAM].level.banks, 12);
  uint32_t cause = f->peak[TTM_DRAM].cause;
  assert_int_equal(cause, 1);
  assert_view(ttm_profile_string(p, ttm_op_text_of(p, cause)->name), "py?thon[4711]");
  assert_view(ttm_profile_string(p, ttm_op_text_of(p, cause)->location), "t = 0.800 s");
  assert_int_equal(f->leaks.n, 0);
  assert_int_equal(p->tensors.n, 0);
  ttm_findings_free(f);
  ttm_profile_free(p);
  unlink(m.path);
}

/* Cut anywhere, it still opens, or says why there is nothing in it. */
static void cut(void **state) {
  (void)state;
  made m;
  make(&m);
  begin(&m, 1000000);
  for (uint64_t i = 0; i < 20; i++) sample(&m, 200 + 100 * i, (i % 5 + 1) << 20, 0);
  ttm_recorder_close(m.recorder, 3000);
  FILE *file = fopen(m.path, "rb");
  static char text[4096];
  size_t n = fread(text, 1, sizeof text, file);
  fclose(file);
  size_t opened = 0;
  for (size_t end = 20; end <= n; end++) {
    ttm_profile *p = NULL;
    ttm_error err;
    ttm_str piece = heap_view((ttm_str){text, end});
    int status = ttm_profile_read_bytes(&p, piece.p, end, NULL, &err);
    assert_true(status == TTM_OK || status == TTM_ENODATA);
    opened += !status;
    if (!status) assert_int_equal(p->seen.cut, text[end - 1] != '\n');
    ttm_profile_free(p);
    free((char *)piece.p);
  }
  assert_true(opened > n / 2);
  /* The next recording goes behind the torn line, and both are read. */
  assert_int_equal(truncate(m.path, (off_t)n - 20), 0);
  begin(&m, 1060000);
  sample(&m, 500, 7 << 20, 0);
  sample(&m, 600, 9 << 20, 0);
  ttm_recorder_close(m.recorder, 700);
  ttm_profile *p;
  ttm_findings *f;
  read_profile(&m, &p, &f);
  assert_int_equal(p->seen.bad_blocks, 1);
  assert_int_equal(p->ranks.n, 1); /* the same chip */
  assert_int_equal(f->leaks.n, 0);
  assert_view(ttm_profile_string(p, ttm_op_text_of(p, (uint32_t)p->ops.n - 1)->location), "t = 60.600 s");
  ttm_findings_free(f);
  ttm_profile_free(p);
  unlink(m.path);
}

static void foreign_file(void **state) {
  (void)state;
  made m;
  ttm_error err;
  make(&m);
  FILE *file = fopen(m.path, "w");
  fputs("my precious notes\n", file);
  fclose(file);
  assert_int_equal(ttm_recorder_open(&m.recorder, m.path, 1, 100, &err), TTM_EUSAGE);
  assert_int_equal(size_of(&m), 18);
  unlink(m.path);
  assert_int_equal(ttm_recorder_open(&m.recorder, "/nowhere/x", 1, 100, &err), TTM_EIO);
  assert_int_equal(ttm_recorder_open(&m.recorder, "/tmp", 1, 100, &err), TTM_EIO);
  assert_int_equal(ttm_recorder_open(&m.recorder, "/dev/null", 1, 100, &err), TTM_EUSAGE);
}

/* A change at every look, for ever: the file stays bounded, and the highest use is in it. */
static void bounded(void **state) {
  (void)state;
  made m;
  ttm_profile *p;
  ttm_findings *f;
  make(&m);
  begin(&m, 1000000);
  uint64_t ms = 0, i = 0;
  for (; i < 800000; i++, ms += 100) sample(&m, ms, ((i * 7919) % 4096 + 1) << 20, i);
  sample(&m, ms += 100, UINT64_C(12000) << 20, 0);
  for (uint64_t k = 0; k < 1000; k++) sample(&m, ms += 100, (k % 3 + 1) << 20, k);
  assert_true(size_of(&m) < 3 * TTM_RECORD_PIECE + TTM_RECORD_PIECE / 2); /* twice as much without thinning out */
  assert_true(size_of(&m) > TTM_RECORD_PIECE);
  assert_false(ttm_recorder_full(m.recorder));
  ttm_recorder_close(m.recorder, ms);
  read_profile(&m, &p, &f);
  assert_int_equal(f->peak[TTM_DRAM].level.allocated, 1000000);
  ttm_findings_free(f);
  ttm_profile_free(p);
  unlink(m.path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(round_trip), cmocka_unit_test(cut),
                                     cmocka_unit_test(foreign_file), cmocka_unit_test(bounded)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
