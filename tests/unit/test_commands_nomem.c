/* SPDX-License-Identifier: Apache-2.0 */
/* Every command with every allocation made to fail in turn: all of the library and of the command line, and the tracker that no
 * command uses. What a terminal or a browser sees is in test_commands_nomem_shown.c. */
#define _GNU_SOURCE
#include <signal.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "segment_fixture.h"
#include "serve/address.h"
#include "starved_command.h"
#include "ttmem/tracker.h"

/* ---- The commands -------------------------------------------------------------------------------------------------- */

static void logs(void **state) {
  (void)state;
  STARVE("--llm", "--logfile", CLI_DATA "two_runs_oom_profile.log", "-j", "1");
  STARVE("--llm", "--logfile", CLI_DATA "hostile.log", "-j", "2");
  STARVE("--llm", "--logfile", DATA "small.log", "--max-tokens", "2000", "-o", in_root("out.md"), "-j", "1");
  STARVE("analyze", DATA "small.log", "--no-json", "-j", "1");
}

static void write_whole(const char *path, const void *bytes, size_t n) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
  close(fd);
}

static void compressed_logs(void **state) {
  (void)state;
  char packed[16384];
  int fd = open(DATA "small.log", O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  ttm_str log = read_back(fd);
  close(fd);
  gzFile gz = gzopen(in_root("small.log.gz"), "wb");
  assert_true(gz && gzwrite(gz, log.p, (unsigned)log.n) == (int)log.n && gzclose(gz) == Z_OK);
  size_t n = ZSTD_compress(packed, sizeof packed, log.p, log.n, 1);
  assert_false(ZSTD_isError(n));
  write_whole(in_root("small.log.zst"), packed, n);
  size_t head = ZSTD_compress(packed, sizeof packed, log.p, log.n / 2, 1);
  n = ZSTD_compress(packed + head, sizeof packed - head, log.p + log.n / 2, log.n - log.n / 2, 1);
  assert_false(ZSTD_isError(head) || ZSTD_isError(n));
  write_whole(in_root("frames.log.zst"), packed, head + n);
  free((char *)log.p);
  STARVE("ask", in_root("small.log.gz"), "--at-peak", "-j", "1");
  STARVE("ask", in_root("small.log.zst"), "--at-peak", "-j", "1");
  STARVE("ask", in_root("frames.log.zst"), "--at-peak", "-j", "2");
}

static void reports(void **state) {
  (void)state;
  const char *folder = in_root("report");
  STARVE("analyze", CLI_DATA "two_runs_oom_profile.log", "--name", "r", "--output-dir", folder, "-j", "1");
  STARVE("html", folder, "-o", in_root("page.html"));
  assert_int_equal(unlink(in_root("report/r_report.html")), 0); /* then it is made of the JSON files */
  STARVE("html", folder, "-o", "-");
  STARVE("html", CLI_DATA "two_runs_oom_profile.log", "-o", in_root("page.html"), "-j", "1");
}

static void pipelines(void **state) {
  (void)state;
  const char *log = CLI_DATA "two_runs_oom_profile.log";
  static const char lower[] =
      "{\"schema_version\": 1, \"entries\": {\"b\": {\"peak\": {\"DRAM\": {\"per_bank_MB\": 0.001}}}}}";
  char file[96], worse[96];
  snprintf(file, sizeof file, "%s", in_root("baseline.json"));
  snprintf(worse, sizeof worse, "%s", in_root("worse.json"));
  write_whole(worse, lower, sizeof lower - 1);
  setenv("GITHUB_STEP_SUMMARY", "/dev/null", 1);
  STARVE("baseline", "update", file, log, "--name", "a", "-qj1"); /* "added" would be "renewed" the second time */
  STARVE("baseline", "update", file, DATA "small.log", "--name", "b", "-qj1");
  STARVE("baseline", "show", file);
  STARVE_TO(TTM_EXIT_FOUND, "analyze", log, "--no-json", "-qj1", "--check", "--budget=90%", "--junit", in_root("x.xml"),
            "--github");
  STARVE_TO(TTM_EXIT_FOUND, "analyze", DATA "small.log", "--no-json", "-qj1", "--baseline", worse, "--name=b",
            "--benchmark", in_root("x.json"));
  STARVE("analyze", log, "--no-json", "-qj1", "--baseline", file, "--name=a");
  STARVE_TO(TTM_EXIT_FOUND, "diff", DATA "small.log", log, "-qj1", "--check", "--markdown", "-o", in_root("x.md"),
            "--github");
  STARVE_TO(TTM_EXIT_FOUND, "fit", log, "--board=n150", "--budget=dram:1%", "--junit", in_root("x.xml"), "-j1");
  STARVE("cb", "scan", DATA "cb/forms.cpp", "--sarif", in_root("x.sarif"), "--github", "-j1");
  unsetenv("GITHUB_STEP_SUMMARY");
}

static void questions(void **state) {
  (void)state;
  const char *log = CLI_DATA "two_runs_oom_profile.log";
  STARVE("explain", log);
  STARVE("explain", "Out of Memory: Not enough space to allocate 8388608 B DRAM buffer across 12 banks");
  STARVE("diff", log, CLI_DATA "hostile.log", "-j", "1");
  STARVE("fit", log, "-j", "1");
  STARVE("fit", log, "--json", "-j", "1");
  STARVE("fit", log, "--scale-batch", "2", "-j", "1");
  STARVE("plan", CLI_DATA "recording_caches.json", "-j", "1");
  STARVE("plan", CLI_DATA "recording_caches.json", "--json", "-j", "1");
  STARVE("plan", log, "-j", "1");
  STARVE("predict", TTMEM_SOURCE "/tests/data/program.mlir", "-j", "1");
  STARVE("verify", TTMEM_SOURCE "/tests/data/too_large.mlir", "--change", "dtype=bfp8:weights", "-j", "1");
  STARVE("predict", TTMEM_SOURCE "/tests/data/program.mlir", "--json", "-j", "1");
  STARVE("ask", TTMEM_SOURCE "/tests/data/program.mlir", "--findings", "-j", "1");
  STARVE("ask", TTMEM_SOURCE "/tests/data/ops.log", "--op", "3", "-j", "1");
  STARVE("ask", TTMEM_SOURCE "/tests/data/submit.log", "--op", "3", "-j", "1");
  STARVE("ask", log, "--op", "3", "-j", "1");
  STARVE("diff", log, log, "-j", "1");
  STARVE("diff", log, log, "--json", "-j", "1");
  STARVE("diff", log, CLI_DATA "hostile.log", "--html", "-j", "1");
  STARVE_TO(TTM_EXIT_FOUND, "analyze", log, "--no-json", "--json", "--check", "--budget", "90%", "-j", "1");
  STARVE("ask", log, "--range", "1-5", "-j", "1");
  STARVE("ask", log, "--range", "1-5", "--csv", "-j", "1");
  STARVE("ask", log, "--op", "3", "--json", "-j", "1");
  STARVE("ask", log, "--findings", "--json", "-j", "1");
  STARVE("explain", log, "--csv");
  STARVE("--llm", "--logfile", log, "--json", "-j", "1");
  STARVE("ask", log, "--findings", "-j", "1");
  STARVE("ask", log, "--at", "peak", "-j", "1");
  STARVE("export", "--perfetto", log, "-o", "-", "-j", "1");
  STARVE("export", "--chrome", log, "-o", "-", "-j", "1");
  STARVE("export", "--chrome", log, "--times", TTMEM_SOURCE "/fuzz/corpus/perf_csv/ops.csv", "-o", "-", "-j", "1");
  STARVE("export", "--visualizer", in_root("visualizer"), log, "-j", "1");
  STARVE("export", "--visualizer", in_root("visualizer"), DATA "capture_small.json", "-j", "1");
  STARVE("export", "--pprof", log, "-o", "-", "-j", "1");
  STARVE("export", "--parquet", log, "--table", "tensors", "-j", "1");
  STARVE("export", "--arrow", log, "--table", "states", "-j", "1");
  STARVE("export", "--csv", log, "--table", "operations", "-j", "1");
  STARVE("export", "--json", log, "--table", "statements", "-j", "1");
  STARVE("ask", DATA "capture_small.json", "--at", "1");
  STARVE("ask", log, "--tensor", "model.proj.weight", "-j", "1");
  STARVE("last-run", log);
  STARVE("doctor", log);
  unsetenv("TTMLIR_RUNTIME_LOGGER_LEVEL"); /* which it then finds missing */
  STARVE_TO(TTM_EXIT_FOUND, "doctor");
  STARVE("help", "analyze");
  STARVE("--help");
  STARVE_TO(TTM_EXIT_WRONG, "explain", "/nowhere.log");
  STARVE_TO(TTM_EXIT_WRONG, "anlyze", log);
}

static void history(void **state) {
  (void)state;
  static const char *const before[] = {"ttmem", "analyze", "-q", "--no-html", DATA "small.log", "--model", "m", NULL},
                           *const after[] = {
                               "ttmem",   "analyze", "-q", "--no-html", CLI_DATA "two_runs_oom_profile.log",
                               "--model", "m",       NULL};
  for (int i = 0; i < 2; i++) {
    outcome o = run_command(i ? after : before);
    assert_int_equal(o.status, TTM_EXIT_OK);
    outcome_free(&o);
  }
  STARVE("history");
  STARVE("analyze", DATA "small.log", CLI_DATA "two_runs_oom_profile.log", "--no-json", "-j", "1");
  STARVE("history", "m", "--json");
  STARVE("history", "m", "--csv");
  STARVE("history", "*", "--md", "--since", "2000-01-01");
}

static void circular_buffers(void **state) {
  (void)state;
  STARVE("cb", "simulate", "16", "24", "--html");
  STARVE("cb", "simulate", "16", "24", "--json");
  STARVE("cb", "simulate", "16", "24", "--svg");
  STARVE("cb", "simulate", "16", "24", "--md", "--cb", "in=4", "--tensor", "t=4096");
  STARVE("cb", "scan", DATA "cb/customer", "-j", "1");
  STARVE("cb", "scan", DATA "cb/forms.cpp", "--json", "-j", "1");
  STARVE("cb", "scan", "--compare", DATA "cb/customer", DATA "cb/fixed", "-j", "1");
  STARVE("cb", "log");
  STARVE("cb", "log", "--csv");
  STARVE("cb", "log", TTMEM_SOURCE "/demo/metal_cb.log", "--json");
  STARVE("cb", "all", "--multi", "--log", TTMEM_SOURCE "/demo/metal_cb.log");
}

static void captures(void **state) {
  (void)state;
  STARVE("ask", TTMEM_SOURCE "/fuzz/corpus/memory_report/small.json", "--findings", "-j", "1");
  STARVE("ask", DATA "compiled.log", "--findings", "--decision-trace", TTMEM_SOURCE "/fuzz/corpus/decision_trace", "-j",
         "1");
  STARVE("ask", DATA "compiled.log", "--findings", "--times", TTMEM_SOURCE "/fuzz/corpus/perf_csv/compiled.csv", "-j",
         "1");
  STARVE("graph", DATA "capture_small.json");
  STARVE("graph", DATA "capture_small.json", "--json");
  STARVE("ask", TTMEM_SOURCE "/fuzz/corpus/visualizer/small-3.5", "--findings", "-j", "1");
  STARVE("graph", DATA "capture_small.json", "--html");
  STARVE("html", DATA "recording_clash.json", "-o", in_root("page.html"), "-j", "1");
  STARVE("--llm", "--logfile", DATA "capture_small.json");
  STARVE("ask", DATA "recording_lanes.json", "--findings");
  STARVE("ask", DATA "recording_trace.json", "--findings");
  STARVE("ask", DATA "recording_host.json", "--findings");
  STARVE("html", DATA "recording_hybrid.json.zst", "-o", in_root("page.html"), "-j", "1");
}

static void training(void **state) {
  (void)state;
  STARVE("train", "--logs", CLI_DATA "tinyllama_train.log");
  STARVE("train", "--logs", CLI_DATA "tinyllama_train.log", "--json");
  STARVE("train", "--logs", CLI_DATA "tinyllama_train.log", "--md");
  STARVE("train", "--logs", CLI_DATA "tinyllama_train.log", "--visualize_peak", "-o", in_root("peak.svg"));
}

/* What waits for the end of a day is told to end before it begins. */
static void stop_soon(void) {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, NULL);
  while (sigtimedwait(&term, NULL, &(struct timespec){0}) > 0) continue; /* of a run that ended without it */
  raise(SIGTERM);
}

static void live(void **state) {
  (void)state;
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
  STARVE_TO(TTM_EXIT_FOUND, "live", "--once", "--board", "n150", "--alarm", "0.001%");
  STARVE_AFTER(stop_soon, "live", "--board", "n150", "--record", in_root("record"), "--interval", "0.1");
  STARVE_AFTER(stop_soon, "live", "--board", "n150", "--alarm", "0.001%", "--exec", "true", "--json");
  unsetenv("TTMEM_SHM_DIR");
}

/* ---- Running a program, serving -------------------------------------------------------------------------------------- */

static void running(void **state) {
  (void)state;
  const char *logs = in_root("logs");
  STARVE("run", "--output-dir", logs, "--name", "r", "--", "/bin/cat", DATA "small.log");
  STARVE("run", "--output-dir", logs, "--log", "--quiet", "--", "/bin/echo", "nothing");
}

/* A port that is free, most likely also in a moment. */
static const char *free_port(void) {
  static char text[8];
  ttm_listen listen;
  assert_int_equal(ttm_listen_open(&listen, NULL, 0, NULL), TTM_OK);
  ttm_listen_close(&listen);
  snprintf(text, sizeof text, "%u", listen.port);
  return text;
}

static void serving(void **state) {
  (void)state;
  const char *folder = in_root("report");
  STARVE_AFTER(stop_soon, "serve", folder, "--no-token", "--port", free_port());
  STARVE_AFTER(stop_soon, "serve", root, "--no-token", "--port", free_port(), "--metrics");
}

/* ---- The tracker, which no command uses ------------------------------------------------------------------------------ */

/* The summary of a capture, NULL when memory ran out on the way. */
static char *track(ttm_str json) {
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

typedef struct tracked {
  ttm_str json;
  char *whole;
} tracked;

static bool work_tracker(void *context, bool plenty) {
  tracked *t = context;
  char *text = track(t->json);
  bool fine = plenty ? text != NULL : !text || !strcmp(text, t->whole);
  if (plenty && !t->whole) t->whole = strdup(text);
  ttm_text_free(text);
  return fine;
}

static void tracking(void **state) {
  (void)state;
  int fd = open(DATA "capture_small.json", O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  tracked t = {.json = read_back(fd)};
  close(fd);
  starve_walk(work_tracker, &t);
  free(t.whole);
  free((char *)t.json.p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(logs),
      cmocka_unit_test(compressed_logs),
      cmocka_unit_test(reports),
      cmocka_unit_test(pipelines),
      cmocka_unit_test(questions),
      cmocka_unit_test(history),
      cmocka_unit_test(circular_buffers),
      cmocka_unit_test(captures),
      cmocka_unit_test(training),
      cmocka_unit_test(live),
      cmocka_unit_test(running),
      cmocka_unit_test(serving),
      cmocka_unit_test(tracking),
  };
  return cmocka_run_group_tests(tests, make_root, remove_root);
}
