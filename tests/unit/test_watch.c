/* SPDX-License-Identifier: Apache-2.0 */
/* Watching: who lives, what counts, what is kept when a file goes bad; alarms; boards. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "segment_fixture.h"
#include "watch/alarm.h"
#include "watch/chip_board.h"
#include "watch/process.h"

typedef struct place {
  char dir[64];
  ttm_watch watch;
} place;

static int set_up(void **state) {
  place *p = calloc(1, sizeof *p);
  strcpy(p->dir, "/tmp/ttmem-watch-XXXXXX");
  assert_non_null(mkdtemp(p->dir));
  ttm_watch_init(&p->watch, &(ttm_watch_options){.dir = p->dir, .sysfs = "/nowhere"});
  *state = p;
  return 0;
}

static int tear_down(void **state) {
  place *p = *state;
  char command[100];
  ttm_watch_free(&p->watch);
  snprintf(command, sizeof command, "rm -rf %s", p->dir);
  assert_int_equal(system(command), 0);
  free(p);
  return 0;
}

static void look(place *p, uint64_t now_ms) {
  ttm_error err;
  assert_int_equal(ttm_watch_look(&p->watch, now_ms, &err), TTM_OK);
}

/* A process that sleeps until it is killed, or this one ends: a test that fails leaves nobody behind. */
static pid_t start_child(void) {
  pid_t parent = getpid(), pid = fork();
  assert_true(pid >= 0);
  if (pid) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (getppid() == parent) pause();
  _exit(0);
}

static bool is_alive(int32_t pid, uint64_t updated_ns, const char *name) {
  ttm_process process = ttm_process_look(pid);
  return ttm_process_wrote(&process, updated_ns, name);
}

static void who_lives(void **state) {
  (void)state;
  ttm_str comm = file_view("/proc/self/comm"); /* what we are called, under valgrind too */
  char *name = (char *)comm.p;
  name[strcspn(name, "\n")] = '\0';
  pid_t child = start_child();
  uint64_t now = segment_now();
  assert_true(is_alive(getpid(), now, "x"));
  assert_true(is_alive(child, now + 1, "x"));
  /* The number is taken by a process that began long after the slot was written: another one. */
  assert_false(is_alive(child, now - 3600 * UINT64_C(1000000000), name));
  assert_false(is_alive(child, 0, name));
  /* Just before it began: the clock may have been set, so the name decides. */
  assert_true(is_alive(child, now - UINT64_C(2000000000), name));
  assert_false(is_alive(child, now - UINT64_C(2000000000), "other"));
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
  assert_false(is_alive(child, now + 1, "x")); /* a zombie holds nothing */
  waitpid(child, NULL, 0);
  assert_false(is_alive(child, now + 1, "x"));
  assert_false(is_alive(0, now, "x"));
  assert_false(is_alive(-1, now, "x"));
  free(name);
}

static void sums(void **state) {
  place *p = *state;
  segment s;
  pid_t child = start_child();
  segment_init(&s, 7, 2);
  segment_slot(&s, 0, getpid(), segment_now(), "me", 1000, 20, 3);
  segment_slot(&s, 1, child, segment_now(), "child", 500, 0, 4);
  segment_slot(&s, 2, 1, 1, "long dead", 90000, 900, 9);
  segment_total(&s, TTM_USE_DRAM, 91500);
  segment_total(&s, TTM_USE_CB, 4);
  segment_write(&s, p->dir, 7, TTM_SHM_BYTES);
  look(p, 0);
  assert_int_equal(p->watch.devices.n, 1);
  const ttm_watch_device *d = p->watch.devices.at[0];
  assert_int_equal(d->device_id, 2);
  assert_int_equal(d->used[TTM_USE_DRAM], 1500);
  assert_int_equal(d->used[TTM_USE_CB], 7);
  assert_int_equal(d->dead[TTM_USE_DRAM], 90000);
  assert_int_equal(d->others[TTM_USE_DRAM], 0);
  assert_int_equal(d->alive, 2);
  assert_int_equal(d->processes.n, 3);
  assert_false(d->processes.at[2].alive);
  assert_true(ttm_watch_percent(d, TTM_USE_DRAM) < 0); /* no board, no capacity */
  uint64_t changed = d->changed;
  look(p, 100);
  assert_int_equal(d->changed, changed);
  kill(child, SIGKILL); /* its slot stays, as after kill -9 of a program */
  waitpid(child, NULL, 0);
  look(p, 200);
  assert_int_equal(d->used[TTM_USE_DRAM], 1000);
  assert_int_equal(d->dead[TTM_USE_DRAM], 90500);
  assert_int_equal(d->peak[TTM_USE_DRAM], 1500);
  assert_true(d->changed > changed);
  assert_int_equal(d->history_count, 1);
  assert_int_equal(d->history[0][TTM_USE_DRAM], 1500);
  look(p, 200 + TTM_WATCH_STEP_MS);
  assert_int_equal(d->history_count, 2);
  assert_int_equal(d->history[1][TTM_USE_DRAM], 1000);
  for (uint64_t i = 2; i < 200; i++) look(p, 200 + i * TTM_WATCH_STEP_MS);
  assert_int_equal(d->history_count, TTM_WATCH_HISTORY);
}

/* The clock is set an hour ahead while we watch: seen from now, the slot was written an hour before its process began. */
static void the_clock_is_set(void **state) {
  place *p = *state;
  segment s;
  uint64_t now = segment_now();
  segment_init(&s, 7, 0);
  segment_slot(&s, 0, getpid(), now, "me", 1000, 0, 0);
  segment_write(&s, p->dir, 7, TTM_SHM_BYTES);
  look(p, 0);
  assert_int_equal(p->watch.devices.at[0]->alive, 1);
  segment_slot(&s, 0, getpid(), now - 3600 * UINT64_C(1000000000), "me", 1000, 0, 0);
  segment_write(&s, p->dir, 7, TTM_SHM_BYTES);
  look(p, 100);
  assert_int_equal(p->watch.devices.at[0]->alive, 1);
  assert_int_equal(p->watch.devices.at[0]->used[TTM_USE_DRAM], 1000);
}

/* With all slots taken the total tells what further processes hold. */
static void more_than_slots(void **state) {
  place *p = *state;
  segment s;
  segment_init(&s, 7, 0);
  for (size_t i = 0; i < TTM_SHM_SLOTS; i++)
    segment_slot(&s, i, i ? 1 : getpid(), i ? 1 : segment_now(), "p", 10, 0, 0);
  segment_total(&s, TTM_USE_DRAM, 1000);
  segment_write(&s, p->dir, 7, TTM_SHM_BYTES);
  look(p, 0);
  assert_int_equal(p->watch.devices.at[0]->others[TTM_USE_DRAM], 1000 - 640);
  assert_int_equal(p->watch.devices.at[0]->used[TTM_USE_DRAM], 10 + 360);
}

static void assert_problem(const place *p, const char *words) {
  assert_int_equal(p->watch.problems.n, 1);
  if (!strstr(p->watch.problems.at[0].why, words)) fail_msg("'%s' in '%s'", words, p->watch.problems.at[0].why);
}

/* The last good reading stays, marked. */
static void bad_files(void **state) {
  place *p = *state;
  segment s, bad;
  char path[100], link[100];
  segment_init(&s, 7, 0);
  segment_slot(&s, 0, getpid(), segment_now(), "me", 1000, 20, 3);
  segment_write(&s, p->dir, 7, TTM_SHM_BYTES);
  look(p, 0);
  assert_int_equal(p->watch.problems.n, 0);
  const ttm_watch_device *d = p->watch.devices.at[0];
  uint64_t changes = p->watch.changes;
  for (int kind = 0; kind < 4; kind++) {
    bad = s;
    if (kind == 1) segment_put(&bad, 0, 4, 4);
    if (kind == 2) segment_put(&bad, 32, 8, 8);
    if (kind == 3) segment_total(&bad, TTM_USE_DRAM, UINT64_MAX);
    segment_write(&bad, p->dir, 7, kind ? TTM_SHM_BYTES : 100);
    look(p, 1);
    static const char *const why[] = {"has 100 of", "layout version 4", "belongs to chip 8", "has impossible numbers"};
    assert_problem(p, why[kind]);
    assert_true(p->watch.changes > changes); /* another reason is news, the same one is none */
    changes = p->watch.changes;
    look(p, 1);
    assert_true(p->watch.changes == changes);
    assert_true(d->stale);
    assert_int_equal(d->used[TTM_USE_DRAM], 1000);
  }
  segment_write(&s, p->dir, 7, TTM_SHM_BYTES);
  look(p, 2);
  assert_false(d->stale);
  snprintf(path, sizeof path, "%s/tt_device_7_memory", p->dir);
  assert_int_equal(unlink(path), 0);
  look(p, 3);
  assert_int_equal(p->watch.devices.n, 0);
  snprintf(link, sizeof link, "%s/tt_device_9_memory", p->dir);
  assert_int_equal(symlink("/etc/passwd", link), 0);
  look(p, 4);
  assert_problem(p, "not a regular file");
  unlink(link);
  assert_int_equal(mkfifo(link, 0600), 0);
  look(p, 5); /* does not wait for a writer */
  assert_problem(p, "not a regular file");
  unlink(link);
  if (geteuid()) { /* root may read everything */
    segment_write(&s, p->dir, 7, TTM_SHM_BYTES);
    chmod(path, 0);
    look(p, 6);
    assert_problem(p, "only that user and root");
  }
  ttm_error err;
  ttm_watch_free(&p->watch);
  ttm_watch_init(&p->watch, &(ttm_watch_options){.dir = "/nowhere/at/all"});
  assert_int_equal(ttm_watch_look(&p->watch, 0, &err), TTM_EIO);
}

/* ---- A writer that never rests --------------------------------------------------------------------------------------- */

/* What the next reads of a live file find, in place of the file: the writers take no lock. */
static struct {
  const segment *at[16];
  size_t n, next;
} reads;

ssize_t pread(int fd, void *out, size_t room, off_t at) {
  if (reads.next == reads.n) return lseek(fd, at, SEEK_SET) < 0 ? -1 : read(fd, out, room);
  assert_true(at == 0 && room == TTM_SHM_BYTES);
  memcpy(out, reads.at[reads.next++]->bytes, TTM_SHM_BYTES);
  return TTM_SHM_BYTES;
}

static void find(size_t n, const segment *const *found) {
  memcpy(reads.at, found, n * sizeof *found);
  reads.n = n;
  reads.next = 0;
}

/* What is read is one of its states or the last one, never a mixture that was seen once. */
static void torn(void **state) {
  place *p = *state;
  segment even, odd, mixed;
  uint64_t now = segment_now();
  segment_init(&even, 7, 0);
  odd = even;
  segment_slot(&even, 0, getpid(), now, "me", 1000, 1000, 1000);
  segment_slot(&odd, 0, getpid(), now, "me", 2000, 2000, 2000);
  mixed = odd;
  memcpy(mixed.bytes, even.bytes, TTM_SHM_BYTES / 2);
  segment_slot(&mixed, 0, getpid(), now, "me", 1000, 2000, 2000);
  segment_write(&even, p->dir, 7, TTM_SHM_BYTES);
  look(p, 0);
  const ttm_watch_device *d = p->watch.devices.at[0];
  find(3, (const segment *[]){&mixed, &odd, &odd});
  look(p, 1);
  assert_int_equal(reads.next, 3);
  assert_true(d->used[TTM_USE_DRAM] == 2000 && d->used[TTM_USE_CB] == 2000 && !d->stale);
  find(1, (const segment *[]){&odd}); /* the same as at the last look: that is enough */
  look(p, 2);
  assert_true(reads.next == 1 && d->used[TTM_USE_DRAM] == 2000);
  const segment *never[16];
  for (size_t i = 0; i < 16; i++) never[i] = i % 2 ? &even : &mixed;
  find(16, never);
  look(p, 3);
  assert_int_equal(reads.next, 16);
  assert_problem(p, "changed during every attempt");
  assert_true(d->stale && d->used[TTM_USE_DRAM] == 2000 && d->used[TTM_USE_CB] == 2000);
  look(p, 4); /* the writer rests: the file as it is */
  assert_true(!d->stale && d->used[TTM_USE_DRAM] == 1000 && d->used[TTM_USE_CB] == 1000);
}

static void boards(void **state) {
  place *p = *state;
  char path[200];
  assert_ptr_equal(ttm_chip_board_named(TTM_LIT("n300 L")), ttm_board_find(TTM_LIT("n300")));
  assert_ptr_equal(ttm_chip_board_named(TTM_LIT(" p150a\r")), ttm_board_find(TTM_LIT("p150")));
  assert_ptr_equal(ttm_chip_board_named(TTM_LIT("ubb")), ttm_board_find(TTM_LIT("galaxy")));
  assert_null(ttm_chip_board_named(TTM_LIT("ubb_blackhole")));
  assert_null(ttm_chip_board_named(TTM_LIT("e75")));
  assert_null(ttm_chip_board_named(TTM_LIT("")));
  assert_null(ttm_chip_board_of_driver("/nowhere"));
  for (int i = 0; i < 2; i++) { /* two cards of one kind, then of two */
    snprintf(path, sizeof path, "%s/tenstorrent!%d", p->dir, i);
    assert_int_equal(mkdir(path, 0700), 0);
    strcat(path, "/tt_card_type");
    FILE *file = fopen(path, "w");
    fputs("n150\n", file);
    fclose(file);
    assert_ptr_equal(ttm_chip_board_of_driver(p->dir), ttm_board_find(TTM_LIT("n150")));
  }
  FILE *file = fopen(path, "w");
  fputs("p150\n", file);
  fclose(file);
  assert_null(ttm_chip_board_of_driver(p->dir));
}

/* To open a device may do something: what another user's program names is opened when it is a file. */
static void is_not_opened(pid_t child, const char *path) {
  char event[512];
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkfifo(path, 0600), 0);
  int opened = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  assert_true(inotify_add_watch(opened, path, IN_OPEN) >= 0);
  assert_null(ttm_chip_board_of_process(child));
  assert_true(read(opened, event, sizeof event) < 0);
  close(opened);
  assert_int_equal(ttm_os_open_regular(AT_FDCWD, "/proc/self/status"), -1); /* the kernel's, as /proc/kmsg is */
}

/* A child on a mock board, as its environment says. */
static void mock_board(void **state) {
  place *p = *state;
  char path[100];
  segment s;
  snprintf(path, sizeof path, "%s/board.yaml", p->dir);
  FILE *file = fopen(path, "w");
  fputs("arch: {0: blackhole}\nboards:\n  - [{board_id: 1}, {board_type: p150}, {chips: [0]}]\n", file);
  fclose(file);
  setenv("TT_METAL_MOCK_CLUSTER_DESC_PATH", path, 1);
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execlp("sleep", "sleep", "1000", (char *)NULL);
    _exit(127);
  }
  unsetenv("TT_METAL_MOCK_CLUSTER_DESC_PATH");
  for (int i = 0; i < 60000 && !ttm_chip_board_of_process(child); i++) usleep(1000); /* until it is `sleep` */
  assert_non_null(ttm_chip_board_of_process(child));
  segment_init(&s, 7, 0);
  segment_slot(&s, 0, child, segment_now(), "sleep", 1 << 20, 0, 0);
  segment_write(&s, p->dir, 7, TTM_SHM_BYTES);
  look(p, 0);
  const ttm_watch_device *d = p->watch.devices.at[0];
  const ttm_board *p150 = ttm_board_find(TTM_LIT("p150"));
  assert_ptr_equal(d->board, p150);
  assert_int_equal(d->board_from, TTM_BOARD_MOCK);
  assert_true(d->capacity[TTM_USE_DRAM] == ttm_board_dram_bank(p150, 0, false) * 8);
  assert_int_equal(d->capacity[TTM_USE_TRACE], 0);
  is_not_opened(child, path);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  look(p, 1);
  assert_ptr_equal(d->board, p150); /* still the same board */
  assert_int_equal(d->used[TTM_USE_DRAM], 0);
}

/* ---- Alarms ----------------------------------------------------------------------------------------------------------- */

static void count_event(void *context, const ttm_alarm_event *event) {
  assert_true(event->percent >= event->mark);
  assert_int_equal(event->largest->slot.pid, getpid());
  ++*(size_t *)context;
}

static size_t crossings(place *p, ttm_alarm *alarm, uint64_t dram_percent) {
  segment s;
  size_t n = 0, unknown;
  uint64_t capacity = ttm_board_dram_bank(ttm_board_find(TTM_LIT("n150")), 0, false) * 12;
  segment_init(&s, 7, 0);
  segment_slot(&s, 0, getpid(), segment_now(), "me", capacity / 100 * dram_percent + 100, 0, 0);
  segment_write(&s, p->dir, 7, TTM_SHM_BYTES);
  look(p, 0);
  assert_int_equal(ttm_alarm_check(alarm, &p->watch, count_event, &n, &unknown), TTM_OK);
  assert_int_equal(unknown, 0);
  return n;
}

static void alarms(void **state) {
  place *p = *state;
  ttm_alarm alarm = {0};
  ttm_error err;
  size_t unknown, n = 0;
  segment s;
  static const char *const wrong[] = {"",          "90",    "%",    "-1%",  "0%",    "101%",   "dram:", "dram:90",
                                      "trace:90%", "x:90%", "90%%", "nan%", "0x10%", "1.2.3%", ".%"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(ttm_alarm_add(&alarm, wrong[i], &err), TTM_EUSAGE);
  assert_int_equal(ttm_alarm_add(&alarm, "DRAM:90%", &err), TTM_OK);
  /* Without a board nothing can be judged, and that is said. */
  segment_init(&s, 7, 0);
  segment_slot(&s, 0, getpid(), segment_now(), "me", 1, 0, 0);
  segment_write(&s, p->dir, 7, TTM_SHM_BYTES);
  look(p, 0);
  assert_int_equal(ttm_alarm_check(&alarm, &p->watch, count_event, &n, &unknown), TTM_OK);
  assert_int_equal(n, 0);
  assert_int_equal(unknown, 1);
  p->watch.options.board = ttm_board_find(TTM_LIT("n150"));
  assert_int_equal(crossings(p, &alarm, 50), 0);
  assert_int_equal(crossings(p, &alarm, 90), 1);
  assert_int_equal(crossings(p, &alarm, 95), 0); /* told once */
  assert_int_equal(crossings(p, &alarm, 88), 0);
  assert_int_equal(crossings(p, &alarm, 91), 0); /* it has not been away */
  assert_int_equal(crossings(p, &alarm, 80), 0);
  assert_int_equal(crossings(p, &alarm, 91), 1);
  assert_int_equal(ttm_alarm_add(&alarm, "12.5%", &err), TTM_OK); /* any memory */
  assert_int_equal(crossings(p, &alarm, 91), 1);
  ttm_alarm_free(&alarm);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_lives),
      cmocka_unit_test_setup_teardown(sums, set_up, tear_down),
      cmocka_unit_test_setup_teardown(the_clock_is_set, set_up, tear_down),
      cmocka_unit_test_setup_teardown(more_than_slots, set_up, tear_down),
      cmocka_unit_test_setup_teardown(bad_files, set_up, tear_down),
      cmocka_unit_test_setup_teardown(torn, set_up, tear_down),
      cmocka_unit_test_setup_teardown(boards, set_up, tear_down),
      cmocka_unit_test_setup_teardown(mock_board, set_up, tear_down),
      cmocka_unit_test_setup_teardown(alarms, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
