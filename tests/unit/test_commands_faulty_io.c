/* SPDX-License-Identifier: Apache-2.0 */
/* Whole commands on a machine whose reads fail. Each read of a command in turn is refused with EIO: it says so, or what it prints is what
 * it prints without. Then every second one is interrupted, as are writes and the waiting for a reader: nothing changes.
 *
 * The calls are taken over by defining them here: a program's own definition comes before the C library's. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>

#include "base/out_file.h"
#include "cli/command.h"
#include "launch/pump.h"
#include "store/catalog.h"

static int run_faulty(ttm_program program, int argc, char **argv);
#define COMMAND_RUN run_faulty
#include "starved_command.h"

/* ---- Faults -------------------------------------------------------------------------------------------------------- */

typedef struct faults {
  long refused; /* the read that fails; 0: none */
  bool interrupted;
} faults;

static atomic_long reads, writes, waits; /* since the faults began */
static faults wanted, now;               /* of the next command; of this moment */

static void begin_faults(void) {
  reads = writes = waits = 0;
  now = wanted;
}

static void end_faults(void) { now = (faults){0}; }

static int run_faulty(ttm_program program, int argc, char **argv) {
  begin_faults();
  int status = ttm_cli_run(program, argc, argv);
  end_faults();
  return status;
}

/* Every second call. */
static bool is_interrupted(atomic_long *calls) { return atomic_fetch_add(calls, 1) % 2 == 0 && now.interrupted; }

static int read_fault(void) {
  if (is_interrupted(&reads)) return EINTR;
  return now.refused && reads == now.refused ? EIO : 0;
}

ssize_t read(int fd, void *into, size_t n) {
  int why = read_fault();
  return why ? (errno = why, -1) : syscall(SYS_read, fd, into, n);
}

ssize_t pread(int fd, void *into, size_t n, off_t at) {
  int why = read_fault();
  return why ? (errno = why, -1) : syscall(SYS_pread64, fd, into, n, at);
}

/* A few bytes at a time; some would block, and then poll is asked, which is interrupted in turn. */
ssize_t write(int fd, const void *from, size_t n) {
  int why = is_interrupted(&writes) ? EINTR : now.interrupted && writes % 3 == 0 ? EAGAIN : 0;
  return why ? (errno = why, -1) : syscall(SYS_write, fd, from, n > 64 && now.interrupted ? 64 : n);
}

int poll(struct pollfd *on, nfds_t n, int ms) {
  return is_interrupted(&waits) ? (errno = EINTR, -1) : (int)syscall(SYS_poll, on, n, ms);
}

/* ---- Commands ------------------------------------------------------------------------------------------------------ */

static bool has(ttm_str text, const char *words) { return strstr(text.p, words) != NULL; }

static outcome run_with_input(const char *const *words, const char *input) {
  int kept = -1, fd = input ? open(input, O_RDONLY | O_CLOEXEC) : -1;
  if (fd >= 0) {
    kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(fd, STDIN_FILENO);
    close(fd);
  }
  outcome o = run_command(words);
  if (kept >= 0) dup2(kept, STDIN_FILENO), close(kept);
  return o;
}

static void expect_same(const outcome *o, const outcome *whole, const char *const *words, long refused) {
  bool same = o->status == whole->status && o->out.n == whole->out.n && !memcmp(o->out.p, whole->out.p, o->out.n);
  if (!same) fail_msg("%s, read %ld: exit %d, %s%s", words[1], refused, o->status, o->err.p, o->out.p);
}

static void try_command(const char *const *words, const char *input) {
  wanted = (faults){0};
  outcome whole = run_with_input(words, input);
  long all = reads;
  if (whole.status != TTM_EXIT_OK || !whole.out.n || !all)
    fail_msg("%s: exit %d: %s", words[1], whole.status, whole.err.p);
  for (long n = 1; n <= all; n++) {
    wanted.refused = n;
    outcome o = run_with_input(words, input);
    bool told = has(o.err, "Input/output") || has(o.out, "Input/output"); /* "error" may stand in the next line */
    if (!told) expect_same(&o, &whole, words, n);
    outcome_free(&o);
  }
  wanted = (faults){.interrupted = true};
  outcome o = run_with_input(words, input);
  wanted = (faults){0};
  expect_same(&o, &whole, words, 0);
  outcome_free(&o);
  outcome_free(&whole);
}

#define TRY(...) try_command(STARVED_WORDS(__VA_ARGS__), NULL)
#define TRY_WITH(input, ...) try_command(STARVED_WORDS(__VA_ARGS__), input)

static void commands(void **state) {
  (void)state;
  const char *log = CLI_DATA "two_runs_oom_profile.log", *folder = in_root("report");
  TRY("--llm", "--logfile", log, "-j", "1");
  TRY("explain", log, "-j", "1");
  TRY_WITH(log, "--llm", "--logfile", "-", "-j", "1");
  TRY_WITH(log, "last-run", "-", "-q");
  TRY("last-run", log, "-q");
  TRY("graph", DATA "capture_small.json");
  TRY("train", "--logs", CLI_DATA "tinyllama_train.log");
  TRY("cb", "log", TTMEM_SOURCE "/demo/metal_cb.log");
  TRY("cb", "scan", DATA "cb/customer");
  outcome o = run_with_input(STARVED_WORDS("analyze", log, "-q", "--name", "r", "--output-dir", folder), NULL);
  assert_int_equal(o.status, TTM_EXIT_OK);
  outcome_free(&o);
  TRY("html", folder, "-o", "-");
  assert_int_equal(unlink(in_root("report/r_report.html")), 0); /* then it is made of the JSON files */
  TRY("html", folder, "-o", "-");
}

/* A log of several pieces, which threads read each for themselves. */
static void long_log(void **state) {
  (void)state;
  int fd = open(CLI_DATA "two_runs_oom_profile.log", O_RDONLY | O_CLOEXEC);
  ttm_str once = read_back(fd);
  close(fd);
  const char *path = in_root("long.log");
  fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  for (size_t n = 0; n < 3u << 18; n += once.n) assert_int_equal(ttm_write_all(fd, once.p, once.n), 0);
  close(fd);
  free((char *)once.p);
  TRY("--llm", "--logfile", path, "-j", "1");
  TRY("--llm", "--logfile", path, "-j", "2");
}

/* ---- Parts --------------------------------------------------------------------------------------------------------- */

/* A report whose findings cannot be read is in the list, without numbers. */
static void catalog(void **state) {
  (void)state;
  const char *folder = in_root("listed");
  outcome o =
      run_with_input(STARVED_WORDS("analyze", DATA "small.log", "-q", "--name", "r", "--output-dir", folder), NULL);
  outcome_free(&o);
  bool refused = false;
  for (long n = 0; n == 0 || refused; n++) {
    ttm_catalog list;
    wanted.refused = n;
    begin_faults();
    int status = ttm_catalog_read(&list, folder, NULL);
    end_faults();
    refused = n == 0 || reads >= n;
    assert_int_equal(status, TTM_OK);
    assert_int_equal(list.entries.n, 1);
    assert_int_equal(list.entries.at[0].has_findings, n == 0 || !refused);
    ttm_catalog_free(&list);
  }
}

static bool keep_shown(void *context, ttm_str bytes, const ttm_feed_figures *figures) {
  (void)figures;
  ttm_buf_put(context, bytes);
  return true;
}

/* A program's output is whole in the log and on the screen, however often reading and writing it is interrupted. */
static void launched(void **state) {
  (void)state;
  char *argv[] = {"cat", CLI_DATA "two_runs_oom_profile.log", NULL};
  ttm_buf shown = {0};
  ttm_pump_result result;
  int fd = open(argv[1], O_RDONLY | O_CLOEXEC),
      log = open(in_root("launched"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ttm_str whole = read_back(fd);
  wanted = (faults){.interrupted = true};
  begin_faults();
  ttm_launch_viewer viewer = {.context = &shown, .show = keep_shown};
  int status = ttm_pump_run(&result, &(ttm_pump_options){.argv = argv, .log = log, .viewer = viewer}, NULL);
  end_faults();
  ttm_str kept = read_back(log);
  assert_int_equal(status, TTM_OK);
  assert_int_equal(result.exit_status, 0);
  assert_true(ttm_str_eq(kept, whole) && ttm_str_eq(ttm_buf_str(&shown), whole));
  ttm_buf_free(&shown);
  free((char *)kept.p);
  free((char *)whole.p);
  close(fd);
  close(log);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(commands), cmocka_unit_test(long_log), cmocka_unit_test(catalog),
                                     cmocka_unit_test(launched)};
  return cmocka_run_group_tests(tests, make_root, remove_root);
}
