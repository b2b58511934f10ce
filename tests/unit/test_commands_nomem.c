/* SPDX-License-Identifier: Apache-2.0 */
/* Every command with every allocation made to fail in turn: all of the library, of the server's pages and of the command line.
 * This file defines the heap's door itself, so the linker leaves src/base/alloc.c out of this program. A run that says it
 * worked must have printed what it prints with plenty of memory; one that did not says so; neither keeps a block. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "cli/command.h"
#include "segment_fixture.h"
#include "serve/pages.h"
#include "ttmem/tracker.h"
#include "unit.h"

#define DATA TTMEM_SOURCE "/tests/data/"
#define CLI_DATA TTMEM_SOURCE "/tests/cli/data/"
#define PLENTY (1L << 40)

/* Atomic: reading and writing use threads. */
static atomic_long allowed = PLENTY; /* allocations that still succeed */
static atomic_long alive;            /* blocks not given back */
static bool only_one;                /* one is refused and the next succeed again, or all from there on */
static int failures;                 /* of the test that runs */
static char root[] = "/tmp/ttmem-starve-XXXXXX";

/* Present under ASan only: where the allocation was that made a command go wrong. */
void __sanitizer_print_stack_trace(void) __attribute__((weak));
static bool tracing;

static bool refuse(void) {
  long left = atomic_fetch_sub(&allowed, 1);
  if (tracing && left == 0 && __sanitizer_print_stack_trace) __sanitizer_print_stack_trace();
  return only_one ? left == 0 : left <= 0;
}

void *ttm_alloc(size_t size) {
  void *p = refuse() ? NULL : calloc(1, size ? size : 1);
  if (p) alive++;
  return p;
}

void *ttm_realloc(void *old, size_t size) {
  void *p = refuse() ? NULL : realloc(old, size ? size : 1);
  if (p && !old) alive++;
  return p;
}

void ttm_free(void *p) {
  if (p) alive--;
  free(p);
}

/* ---- Running a command --------------------------------------------------------------------------------------------- */

enum { MOST_WORDS = 12 };

typedef struct outcome {
  int status;
  ttm_view out, err; /* malloc'ed */
} outcome;

static void outcome_free(outcome *o) {
  free((char *)o->out.p);
  free((char *)o->err.p);
}

static ttm_view read_back(int fd) {
  off_t n = lseek(fd, 0, SEEK_END);
  char *text = malloc((size_t)n + 1);
  assert_non_null(text);
  assert_int_equal(pread(fd, text, (size_t)n, 0), n);
  text[n] = '\0';
  return (ttm_view){text, (size_t)n};
}

static outcome run(const char *const *words) {
  char *argv[MOST_WORDS + 1] = {0};
  int argc = 0, fds[2], kept[2];
  outcome o;
  for (; words[argc]; argc++) argv[argc] = (char *)words[argc];
  for (int i = 0; i < 2; i++) {
    char path[64];
    snprintf(path, sizeof path, "%s/.fd%d", root, i + 1);
    fds[i] = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    kept[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
    assert_true(fds[i] >= 0 && kept[i] >= 0 && dup2(fds[i], i + 1) >= 0);
  }
  o.status = ttm_cli_run(TTM_PROGRAM_TTMEM, argc, argv);
  fflush(stdout);
  for (int i = 0; i < 2; i++) {
    dup2(kept[i], i + 1);
    close(kept[i]);
  }
  o.out = read_back(fds[0]);
  o.err = read_back(fds[1]);
  close(fds[0]);
  close(fds[1]);
  return o;
}

static void print_case(const char *const *words, long n, const outcome *o, const outcome *whole) {
  fprintf(stderr, "allocation %ld %s refused in:", n, only_one ? "alone" : "and all after it");
  for (; *words; words++) fprintf(stderr, " %s", *words);
  size_t same = 0;
  while (same < o->out.n && same < whole->out.n && o->out.p[same] == whole->out.p[same]) same++;
  fprintf(stderr, "\nexit %d, %ld blocks alive, %zu of %zu bytes printed, the first %zu right\nstderr: %s\n", o->status,
          (long)alive, o->out.n, whole->out.n, same, o->err.p);
}

static bool is_right(const outcome *o, const outcome *whole, long kept) {
  if (alive != kept) return false;
  if (o->status != TTM_EXIT_WRONG || whole->status == TTM_EXIT_WRONG)
    return o->status == whole->status && o->out.n == whole->out.n && !memcmp(o->out.p, whole->out.p, o->out.n);
  return strstr(o->err.p, "emory on this host") != NULL; /* the reason is told */
}

/* Until a run in which nothing was refused. Large counts are sampled: the first ones, then ever fewer. */
static void starve(const char *const *words) {
  allowed = PLENTY;
  long kept = alive;
  outcome whole = run(words);
  long used = PLENTY - allowed;
  assert_int_equal(alive, kept);
  int wrong = 0;
  for (long n = 0; n < used && wrong < 8; n += 1 + n / (only_one ? 300 : 30)) {
    kept = alive;
    allowed = n;
    outcome o = run(words);
    allowed = PLENTY;
    if (!is_right(&o, &whole, kept)) {
      print_case(words, n, &o, &whole);
      wrong++;
      outcome_free(&o);
      allowed = n;
      tracing = true;
      o = run(words);
      tracing = false;
      allowed = PLENTY;
      fprintf(stderr, "%s\n", o.err.p);
    }
    outcome_free(&o);
  }
  if (getenv("TTMEM_TEST_VERBOSE"))
    print_message("%6ld allocations, exit %d: %s %s\n", used, whole.status, words[1], words[2]);
  outcome_free(&whole);
  failures += wrong;
}

#define STARVE(...)                                            \
  for (int way = 0; way < 2; way++) {                          \
    only_one = way;                                            \
    starve((const char *const[]){"ttmem", __VA_ARGS__, NULL}); \
  }

static const char *in_root(const char *name) {
  static char paths[4][96];
  static unsigned next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", root, name);
  return path;
}

/* ---- The commands -------------------------------------------------------------------------------------------------- */

static void logs(void **state) {
  (void)state;
  failures = 0;
  STARVE("--llm", "--logfile", CLI_DATA "two_runs_oom_profile.log", "-j", "1");
  STARVE("--llm", "--logfile", CLI_DATA "hostile.log", "-j", "2");
  STARVE("analyze", DATA "small.log", "--no-json", "-j", "1");
  assert_int_equal(failures, 0);
}

static void compressed_logs(void **state) {
  (void)state;
  failures = 0;
  char command[512];
  for (int i = 0; i < 2; i++) {
    const char *packed = in_root(i ? "small.log.zst" : "small.log.gz");
    snprintf(command, sizeof command, "%s -c <%ssmall.log >%s", i ? "zstd -q" : "gzip", DATA, packed);
    if (system(command)) continue; /* no zstd program here */
    STARVE("ask", packed, "--at-peak", "-j", "1");
  }
  assert_int_equal(failures, 0);
}

static void reports(void **state) {
  (void)state;
  failures = 0;
  const char *folder = in_root("report");
  STARVE("analyze", CLI_DATA "two_runs_oom_profile.log", "--name", "r", "--output-dir", folder, "-j", "1");
  STARVE("html", folder, "-o", in_root("page.html"));
  assert_int_equal(unlink(in_root("report/r_report.html")), 0); /* then it is made of the JSON files */
  STARVE("html", folder, "-o", "-");
  STARVE("html", CLI_DATA "two_runs_oom_profile.log", "-o", in_root("page.html"), "-j", "1");
  assert_int_equal(failures, 0);
}

static void questions(void **state) {
  (void)state;
  failures = 0;
  const char *log = CLI_DATA "two_runs_oom_profile.log";
  STARVE("explain", log);
  STARVE("explain", "Out of Memory: Not enough space to allocate 8388608 B DRAM buffer across 12 banks");
  STARVE("fit", log, "-j", "1");
  STARVE("fit", log, "--board", "p150", "--scale-batch", "2", "-j", "1");
  STARVE("ask", log, "--op", "3", "-j", "1");
  STARVE("diff", log, log, "-j", "1");
  STARVE("diff", log, log, "--json", "-j", "1");
  STARVE("analyze", log, "--no-json", "--json", "--check", "--budget", "90%", "-j", "1");
  STARVE("ask", log, "--range", "1-5", "-j", "1");
  STARVE("last-run", log);
  STARVE("doctor", log);
  STARVE("help", "analyze");
  assert_int_equal(failures, 0);
}

static void circular_buffers(void **state) {
  (void)state;
  failures = 0;
  STARVE("cb", "simulate", "16", "24", "--html");
  STARVE("cb", "simulate", "16", "24", "--json");
  STARVE("cb", "scan", DATA "cb/customer", "-j", "1");
  STARVE("cb", "scan", DATA "cb/forms.cpp", "--json", "-j", "1");
  STARVE("cb", "scan", "--compare", DATA "cb/customer", DATA "cb/fixed", "-j", "1");
  STARVE("cb", "log");
  STARVE("cb", "log", TTMEM_SOURCE "/demo/metal_cb.log", "--json");
  STARVE("cb", "all", "--multi", "--log", TTMEM_SOURCE "/demo/metal_cb.log");
  assert_int_equal(failures, 0);
}

static void captures(void **state) {
  (void)state;
  failures = 0;
  STARVE("graph", DATA "capture_small.json");
  STARVE("graph", DATA "capture_small.json", "--json");
  STARVE("graph", DATA "capture_small.json", "--html");
  STARVE("--llm", "--logfile", DATA "capture_small.json");
  assert_int_equal(failures, 0);
}

static void training(void **state) {
  (void)state;
  failures = 0;
  STARVE("train", "--logs", CLI_DATA "tinyllama_train.log");
  STARVE("train", "--logs", CLI_DATA "tinyllama_train.log", "--json");
  STARVE("train", "--logs", CLI_DATA "tinyllama_train.log", "--md");
  STARVE("train", "--logs", CLI_DATA "tinyllama_train.log", "--visualize_peak", "-o", in_root("peak.svg"));
  assert_int_equal(failures, 0);
}

static void live(void **state) {
  (void)state;
  failures = 0;
  char command[256];
  snprintf(command, sizeof command, "(echo ttmem-live 1; cat %s/fuzz/corpus/live_record/small) >%s", TTMEM_SOURCE,
           in_root("recording"));
  assert_int_equal(system(command), 0);
  STARVE("--llm", "--logfile", in_root("recording"));
  static segment s;
  segment_init(&s, 0x1234, 0);
  segment_slot(&s, 0, getpid(), segment_now(), "starved", 1 << 20, 4096, 0);
  segment_write(&s, root, 0x1234, sizeof s.bytes);
  setenv("TTMEM_SHM_DIR", root, 1);
  STARVE("live", "--once", "--json");
  STARVE("live", "--once", "--board", "n150");
  assert_int_equal(failures, 0);
}

/* ---- The tracker, which no command uses ------------------------------------------------------------------------------ */

/* The summary of a capture, NULL when memory ran out on the way. */
static char *track(ttm_view json) {
  ttm_tracker *tracker = NULL;
  ttm_error err;
  char *text = NULL;
  int status = ttm_tracker_new(&tracker, &err);
  if (!status) status = ttm_tracker_begin(tracker, TTM_RUN_NORMAL, &err);
  if (!status) status = ttm_tracker_graph(tracker, json.p, json.n, &err);
  if (!status) status = ttm_tracker_snapshot(tracker, "FORWARD", &err);
  if (!status) status = ttm_tracker_end(tracker, NULL, &err);
  if (status) assert_int_equal(status, TTM_ENOMEM);
  if (!status) text = ttm_tracker_text(tracker);
  ttm_tracker_free(tracker);
  return text;
}

static void tracking(void **state) {
  (void)state;
  int fd = open(DATA "capture_small.json", O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  ttm_view json = read_back(fd);
  char *whole = track(json);
  assert_non_null(whole);
  for (only_one = false;; only_one = true) {
    for (long n = 0, left = -1; left < 0; n++) {
      long kept = alive;
      allowed = n;
      char *text = track(json);
      left = allowed;
      allowed = PLENTY;
      if (text) assert_string_equal(text, whole);
      ttm_text_free(text);
      assert_int_equal(alive, kept);
    }
    if (only_one) break;
  }
  ttm_text_free(whole);
  free((char *)json.p);
  close(fd);
}

/* ---- The pages of the server --------------------------------------------------------------------------------------- */

static void served_pages(void **state) {
  (void)state;
  for (int way = 0; way < 2; way++) {
    long n = 0;
    only_one = way;
    do {
      ttm_catalog catalog = {0};
      ttm_buf page = {0};
      ttm_error err;
      long kept = alive;
      allowed = n++;
      int status = ttm_catalog_read(&catalog, root, &err);
      if (status) assert_int_equal(status, TTM_ENOMEM);
      if (!status) ttm_page_index(&page, &catalog);
      for (size_t i = 0; !status && i < catalog.entries.n; i++) ttm_page_report(&page, &catalog.entries.at[i]);
      if (!status && allowed >= 0) assert_true(catalog.entries.n == 1 && !page.failed && page.n > 500);
      ttm_buf_free(&page);
      ttm_catalog_free(&catalog);
      assert_int_equal(alive, kept);
    } while (allowed < 0);
    allowed = PLENTY;
    assert_true(n > 10);
  }
}

static int set_up(void **state) {
  (void)state;
  return !mkdtemp(root) || setenv("TTMEM_HOME", in_root("home"), 1) || setenv("TERM", "dumb", 1);
}

static int tear_down(void **state) {
  char command[64];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", root);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(logs),
      cmocka_unit_test(compressed_logs),
      cmocka_unit_test(reports),
      cmocka_unit_test(questions),
      cmocka_unit_test(circular_buffers),
      cmocka_unit_test(captures),
      cmocka_unit_test(training),
      cmocka_unit_test(live),
      cmocka_unit_test(tracking),
      cmocka_unit_test(served_pages),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
