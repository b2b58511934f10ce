/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "store/report_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile_fixture.h"
#include "store/folder.h"
#include "unit.h"

/* ---- Helpers ----------------------------------------------------------------------------------------------------- */

typedef struct scratch {
  char root[64], report[96];
  ttm_profile *profile;
  ttm_findings *findings;
} scratch;

static int make_scratch(void **state) {
  scratch *s = calloc(1, sizeof *s);
  strcpy(s->root, "/tmp/ttmem-dir-XXXXXX");
  assert_non_null(mkdtemp(s->root));
  snprintf(s->report, sizeof s->report, "%s/reports/run", s->root);
  s->profile = fx_new(1);
  assert_int_equal(ttm_findings_make(&s->findings, s->profile, 1, NULL), TTM_OK);
  *state = s;
  return 0;
}

static int remove_scratch(void **state) {
  scratch *s = *state;
  char command[256];
  snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", s->root, s->root);
  int result = system(command);
  ttm_findings_free(s->findings);
  ttm_profile_free(s->profile);
  free(s);
  return result;
}

/* root/relative, in one of a few static buffers. */
static const char *at(const scratch *s, const char *relative) {
  static char paths[4][256];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", s->root, relative);
  return path;
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static void put_file(const char *path) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fclose(f);
}

static int count_files(const char *folder) {
  int n = -2; /* . and .. */
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  while (readdir(dir)) n++;
  closedir(dir);
  return n;
}

static int write_run(scratch *s, ttm_error *err) {
  return ttm_report_dir_write(s->findings, s->report, "run", NULL, err);
}

/* No process has this number: Linux counts to 1 << 22 at most. One that has just ended may be given out again. */
static const long gone = 1L << 22;

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static void assert_name(const char *path, const char *want) {
  ttm_buf buf = {0};
  ttm_report_name(&buf, path);
  ttm_buf_char(&buf, 0);
  assert_string_equal(buf.at, want);
  ttm_buf_free(&buf);
}

static void names_follow_the_log(void **state) {
  (void)state;
  assert_name("/x/y/llama_8b_profile.log", "llama-8b");
  assert_name("tiny_profile.log.gz", "tiny");
  assert_name("tiny.txt.zst", "tiny");
  assert_name("run.out", "run");
  assert_name("llama-3.1", "llama-3.1");
  assert_name("model.8b.log", "model.8b");
  assert_name("-", "stdin");
  assert_name("_profile.log", "-profile"); /* not to nothing */
  assert_name("", "report");
  assert_name(NULL, "report");
  assert_name("/", "report");
  assert_name("..", "report");
  assert_name(".hidden.log", "hidden");
  assert_name(".log", "log");
  assert_name("a\tb\nc\x7f.log", "a-b-c-");
  assert_name("dir/", "dir");
}

static void names_have_a_limit(void **state) {
  (void)state;
  char path[600];
  ttm_buf buf = {0};
  memset(path, 'x', sizeof path);
  path[198] = (char)0xE2, path[199] = (char)0x82, path[200] = (char)0xAC; /* a character across the limit */
  path[599] = 0;
  ttm_report_name(&buf, path);
  assert_int_equal(buf.n, 198);
  ttm_buf_free(&buf);
}

static void root_follows_the_environment(void **state) {
  (void)state;
  ttm_buf buf = {0};
  setenv("TTMEM_HOME", "/somewhere", 1);
  assert_int_equal(ttm_report_root(&buf, NULL), TTM_OK);
  assert_view(ttm_buf_str(&buf), "/somewhere/reports");
  ttm_buf_clear(&buf);
  setenv("TTMEM_HOME", "", 1);
  setenv("HOME", "/home/me", 1);
  assert_int_equal(ttm_report_root(&buf, NULL), TTM_OK);
  assert_view(ttm_buf_str(&buf), "/home/me/.ttmem/reports");
  ttm_buf_clear(&buf);
  unsetenv("TTMEM_HOME");
  unsetenv("HOME");
  if (ttm_report_root(&buf, NULL) == TTM_OK) assert_true(ttm_str_ends(ttm_buf_str(&buf), TTM_LIT("/.ttmem/reports")));
  ttm_buf_free(&buf);
}

/* ---- Folders ----------------------------------------------------------------------------------------------------- */

static void folder_is_made_with_its_parents(void **state) {
  scratch *s = *state;
  assert_int_equal(write_run(s, NULL), TTM_OK);
  assert_int_equal(count_files(s->report), 7);
  assert_true(exists(at(s, "reports/run/run_memory.json")));
  assert_true(exists(at(s, "reports/run/run_operations.json")));
  assert_true(exists(at(s, "reports/run/run_inputs_registry.json")));
  assert_true(exists(at(s, "reports/run/run_ir.json")));
  assert_true(exists(at(s, "reports/run/run_findings.json")));
  assert_true(exists(at(s, "reports/run/run_report.html")));
  assert_true(exists(at(s, "reports/run/run_report.md")));
  assert_int_equal(count_files(at(s, "reports")), 1);
  struct stat st;
  mode_t mask = umask(0);
  umask(mask);
  assert_int_equal(stat(s->report, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0777 & ~mask);
}

static void files_can_be_left_out(void **state) {
  scratch *s = *state;
  ttm_report_options options = {.leave_out = TTM_REPORT_IR | TTM_REPORT_OPERATIONS};
  assert_int_equal(ttm_report_dir_write(s->findings, s->report, "run", &options, NULL), TTM_OK);
  assert_int_equal(count_files(s->report), 5);
  assert_false(exists(at(s, "reports/run/run_ir.json")));
}

static void report_is_replaced(void **state) {
  scratch *s = *state;
  struct stat before, after;
  assert_int_equal(write_run(s, NULL), TTM_OK);
  put_file(at(s, "reports/run/run_report.html")); /* of an earlier report: it goes with it */
  assert_int_equal(stat(s->report, &before), 0);
  assert_int_equal(write_run(s, NULL), TTM_OK);
  assert_int_equal(stat(s->report, &after), 0);
  assert_true(before.st_ino != after.st_ino);
  assert_int_equal(count_files(s->report), 7);
  assert_int_equal(count_files(at(s, "reports")), 1);
}

static void foreign_files_are_kept(void **state) {
  scratch *s = *state;
  for (int i = 1; i <= 2; i++) {
    assert_int_equal(write_run(s, NULL), TTM_OK);
    put_file(at(s, "reports/run/notes.txt"));
  }
  assert_int_equal(write_run(s, NULL), TTM_OK);
  assert_true(exists(at(s, "reports/run.old-1/notes.txt")));
  assert_true(exists(at(s, "reports/run.old-2/notes.txt")));
  assert_true(exists(at(s, "reports/run.old-1/run_memory.json")));
  assert_int_equal(count_files(s->report), 7);
  assert_int_equal(count_files(at(s, "reports")), 3);
}

static bool any_json(const char *file, const char *name) {
  (void)name;
  return strstr(file, ".json") || strstr(file, ".html") || strstr(file, ".md");
}

static void works_without_exchange(void **state) {
  scratch *s = *state;
  for (int foreign = 0; foreign <= 1; foreign++) {
    ttm_fresh fresh;
    assert_int_equal(write_run(s, NULL), TTM_OK);
    if (foreign) put_file(at(s, "reports/run/notes.txt"));
    assert_int_equal(ttm_fresh_open(&fresh, s->report, "run", any_json, NULL), TTM_OK);
    fresh.no_exchange = true;
    char *made = ttm_folder_join(fresh.path, "new.json", "");
    put_file(made);
    ttm_free(made);
    assert_int_equal(ttm_fresh_place(&fresh, "run", any_json, NULL), TTM_OK);
    assert_int_equal(count_files(s->report), 1);
    assert_true(exists(at(s, "reports/run/new.json")));
    assert_int_equal(count_files(at(s, "reports")), 1 + foreign);
    assert_int_equal(exists(at(s, "reports/run.old-1/notes.txt")), foreign);
    unlink(at(s, "reports/run/new.json")); /* so that the next round finds a folder it may replace */
  }
}

static void empty_folder_is_taken(void **state) {
  scratch *s = *state;
  assert_int_equal(ttm_folder_make(s->report, NULL), TTM_OK);
  assert_int_equal(write_run(s, NULL), TTM_OK);
  assert_int_equal(count_files(s->report), 7);
}

static void link_to_a_report_stays(void **state) {
  scratch *s = *state;
  struct stat st;
  assert_int_equal(ttm_folder_make(at(s, "elsewhere/run"), NULL), TTM_OK);
  assert_int_equal(ttm_folder_make(at(s, "reports"), NULL), TTM_OK);
  assert_int_equal(symlink("../elsewhere/run", s->report), 0);
  assert_int_equal(write_run(s, NULL), TTM_OK);
  assert_int_equal(lstat(s->report, &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  assert_int_equal(count_files(at(s, "elsewhere/run")), 7);
}

static void places_of_others_are_refused(void **state) {
  scratch *s = *state;
  ttm_error err;
  assert_int_equal(ttm_folder_make(at(s, "home"), NULL), TTM_OK);
  put_file(at(s, "home/thesis.tex"));
  assert_int_equal(ttm_report_dir_write(s->findings, at(s, "home"), "run", NULL, &err), TTM_EUSAGE);
  assert_int_equal(ttm_report_dir_write(s->findings, at(s, "home/thesis.tex"), "run", NULL, &err), TTM_EUSAGE);
  assert_int_equal(ttm_report_dir_write(s->findings, at(s, "home/thesis.tex/run"), "run", NULL, &err), TTM_EIO);
  assert_int_equal(ttm_report_dir_write(s->findings, "/", "run", NULL, &err), TTM_EUSAGE);
  assert_int_equal(ttm_report_dir_write(s->findings, "nowhere/..", "run", NULL, &err), TTM_EUSAGE);
  assert_int_equal(ttm_report_dir_write(s->findings, "", "run", NULL, &err), TTM_EUSAGE);
  assert_int_equal(ttm_report_dir_write(s->findings, s->report, "a/b", NULL, &err), TTM_EUSAGE);
  assert_int_equal(ttm_report_dir_write(s->findings, s->report, "", NULL, &err), TTM_EUSAGE);
  assert_true(exists(at(s, "home/thesis.tex")));
  assert_int_equal(count_files(at(s, "home")), 1);
}

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

static void last_report_survives_a_failure(void **state) {
  scratch *s = *state;
  assert_int_equal(write_run(s, NULL), TTM_OK);
  pid_t child = fork();
  if (child == 0) {
    struct rlimit limit = {100, 100}; /* stands for a full disk */
    ttm_error err;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    int code = write_run(s, &err);
    _exit(code == TTM_EIO && strstr(err.message, "/reports/run/run_") && strstr(err.message, ": File too large") ? 0
                                                                                                                 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  assert_int_equal(count_files(s->report), 7);
  assert_int_equal(count_files(at(s, "reports")), 1);
}

static void unwritable_root_is_told(void **state) {
  scratch *s = *state;
  ttm_error err;
  if (geteuid() == 0) skip(); /* root may write everywhere */
  assert_int_equal(chmod(s->root, 0555), 0);
  assert_int_equal(write_run(s, &err), TTM_EIO);
  assert_non_null(strstr(err.message, "Permission denied"));
  assert_non_null(strstr(err.message, s->root));
}

static void make_leftover(const scratch *s, const char *folder, long pid, const char *file) {
  char path[200];
  snprintf(path, sizeof path, "%s/reports/%s%ld-0", s->root, folder, pid);
  assert_int_equal(ttm_folder_make(path, NULL), TTM_OK);
  char *full = ttm_folder_join(path, file, "");
  put_file(full);
  ttm_free(full);
}

static void leftovers_of_the_dead_are_cleaned(void **state) {
  scratch *s = *state;
  make_leftover(s, ".run.tmp-", gone, "run_memory.json");
  make_leftover(s, ".other.tmp-", gone, ".ttmem-1-0.tmp");
  make_leftover(s, ".foreign.tmp-", gone, "thesis.tex"); /* looks like ours, but is not */
  make_leftover(s, ".alive.tmp-", (long)getppid(), "alive_memory.json");
  assert_int_equal(write_run(s, NULL), TTM_OK);
  assert_int_equal(count_files(at(s, "reports")), 3);
}

static void locked_leftover_is_somebodys(void **state) {
  scratch *s = *state;
  char path[128];
  make_leftover(s, ".run.tmp-", gone, "run_memory.json"); /* as a writer in another container looks from here */
  snprintf(path, sizeof path, "%s/reports/.run.tmp-%ld-0", s->root, gone);
  int fd = open(path, 0);
  assert_int_equal(flock(fd, LOCK_EX), 0);
  assert_int_equal(write_run(s, NULL), TTM_OK);
  assert_true(exists(path));
  close(fd);
  assert_int_equal(write_run(s, NULL), TTM_OK);
  assert_false(exists(path));
}

/* A writer killed at a random moment, again and again: there is always one whole report. */
static void killed_writers_leave_a_whole_report(void **state) {
  scratch *s = *state;
  assert_int_equal(write_run(s, NULL), TTM_OK);
  for (int round = 0; round < 60; round++) {
    pid_t child = fork();
    if (child == 0) {
      for (;;) write_run(s, NULL);
    }
    usleep((useconds_t)(round * 97 % 3000));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(count_files(s->report), 7);
  }
  assert_int_equal(write_run(s, NULL), TTM_OK);
  assert_int_equal(count_files(at(s, "reports")), 1);
}

static void writers_at_the_same_time_do_no_harm(void **state) {
  scratch *s = *state;
  pid_t children[4];
  for (int i = 0; i < 4; i++) {
    children[i] = fork();
    if (children[i]) continue;
    int code = 0;
    for (int k = 0; k < 50 && !code; k++) code = write_run(s, NULL);
    _exit(code ? 1 : 0);
  }
  for (int i = 0; i < 4; i++) {
    int status;
    waitpid(children[i], &status, 0);
    assert_int_equal(status, 0);
  }
  assert_int_equal(count_files(s->report), 7);
  assert_int_equal(count_files(at(s, "reports")), 1);
}

/* ---- Files among others ------------------------------------------------------------------------------------------ */

static void files_go_beside_others(void **state) {
  scratch *s = *state;
  char stale[128];
  assert_int_equal(ttm_folder_make(at(s, "mine"), NULL), TTM_OK);
  put_file(at(s, "mine/thesis.tex"));
  snprintf(stale, sizeof stale, "%s/mine/.ttmem-%ld-0.tmp", s->root, gone);
  put_file(stale);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(ttm_report_files_write(s->findings, at(s, "mine"), "run", NULL, NULL), TTM_OK);
    assert_int_equal(count_files(at(s, "mine")), 8);
  }
  assert_true(exists(at(s, "mine/thesis.tex")));
  assert_int_equal(ttm_report_write_files(s->profile, at(s, "new/folder/"), "run", NULL, NULL), TTM_OK);
  assert_int_equal(count_files(at(s, "new/folder")), 7);
  assert_int_equal(ttm_report_write_dir(s->profile, at(s, "new/folder/"), "run", NULL, NULL), TTM_OK);
  assert_int_equal(count_files(at(s, "new/folder")), 7);
}

static void files_fail_together(void **state) {
  scratch *s = *state;
  ttm_error err;
  assert_int_equal(ttm_folder_make(at(s, "mine/run_findings.json"), NULL), TTM_OK); /* in the way of the last file */
  assert_int_equal(ttm_report_files_write(s->findings, at(s, "mine"), "run", NULL, &err), TTM_EIO);
  assert_non_null(strstr(err.message, "run_findings.json: Is a directory"));
  assert_int_equal(count_files(at(s, "mine")), 1);
}

#define WITH_SCRATCH(test) cmocka_unit_test_setup_teardown(test, make_scratch, remove_scratch)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_follow_the_log),
      cmocka_unit_test(names_have_a_limit),
      cmocka_unit_test(root_follows_the_environment),
      WITH_SCRATCH(folder_is_made_with_its_parents),
      WITH_SCRATCH(files_can_be_left_out),
      WITH_SCRATCH(report_is_replaced),
      WITH_SCRATCH(foreign_files_are_kept),
      WITH_SCRATCH(works_without_exchange),
      WITH_SCRATCH(empty_folder_is_taken),
      WITH_SCRATCH(link_to_a_report_stays),
      WITH_SCRATCH(places_of_others_are_refused),
      WITH_SCRATCH(last_report_survives_a_failure),
      WITH_SCRATCH(unwritable_root_is_told),
      WITH_SCRATCH(leftovers_of_the_dead_are_cleaned),
      WITH_SCRATCH(locked_leftover_is_somebodys),
      WITH_SCRATCH(killed_writers_leave_a_whole_report),
      WITH_SCRATCH(writers_at_the_same_time_do_no_harm),
      WITH_SCRATCH(files_go_beside_others),
      WITH_SCRATCH(files_fail_together),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
