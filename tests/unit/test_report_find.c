/* SPDX-License-Identifier: Apache-2.0 */
/* Which log or recording a folder stands for, and whether a report is of another log. */
#define _GNU_SOURCE
#include "store/report_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "unit.h"

#define OPERATIONS                                                                                                \
  "            RuntimeTTNN |    DEBUG | Executing operation: %1 = \"ttnn.add\"(%arg0) : (tensor<32x32xbf16>) -> " \
  "tensor<32x32xbf16>\n"

/* A folder of its own for each test, which is also where the program stands. */
static int enter(void **state) {
  static char root[32];
  strcpy(root, "/tmp/ttmem-find-XXXXXX");
  assert_non_null(mkdtemp(root));
  assert_int_equal(chdir(root), 0);
  assert_int_equal(mkdir("r", 0777), 0);
  *state = root;
  return 0;
}

static int leave(void **state) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
  return chdir("/") || system(command);
}

static void put(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

/* A report "x" in the folder r, made of `origin` with that many bytes. */
static void put_report(const char *origin, unsigned bytes) {
  char text[256];
  snprintf(text, sizeof text, "{\"schema_version\":1,\"input\":{\"path\":\"%s\",\"bytes\":%u}}", origin, bytes);
  put("r/x_memory.json", "[]");
  put("r/x_findings.json", text);
}

static void source_is(const char *wanted) {
  char *source;
  ttm_error err;
  assert_int_equal(ttm_report_source(&source, "r", false, &err), TTM_OK);
  assert_string_equal(source, wanted);
  ttm_free(source);
}

static void source_is_refused(const char *why) {
  char *source;
  ttm_error err;
  assert_int_equal(ttm_report_source(&source, "r", false, &err), TTM_ENODATA);
  assert_null(source);
  if (!strstr(err.message, why)) fail_msg("'%s' is not in: %s", why, err.message);
}

/* A log of that name where one happens to stand is not the log of the report. */
static void a_relative_name_is_not_enough(void **state) {
  (void)state;
  put_report("run.log", 4);
  source_is_refused("is not there");
  put("run.log", "1234");
  source_is("run.log");
  put("run.log", "something else");
  source_is_refused("has 14");
}

/* An absolute name leads to one place: the log there may have grown. */
static void an_absolute_name_is(void **state) {
  char path[64];
  snprintf(path, sizeof path, "%s/run.log", (char *)*state);
  put_report(path, 4);
  put("run.log", "something else");
  source_is(path);
}

static void the_findings_name_one_of_several(void **state) {
  (void)state;
  put("r/a_profile.log", "a");
  put("r/b_profile.log", "b");
  put("r/c_recording.json", "c");
  put("r/d_recording.json", "d");
  source_is_refused("holds 2 logs");
  put_report("logs/b_profile.log", 1);
  source_is("r/b_profile.log");
  put_report("logs/d_recording.json", 1);
  source_is("r/d_recording.json");
  /* Packed since. */
  assert_int_equal(rename("r/b_profile.log", "r/b_profile.log.gz"), 0);
  put_report("logs/b_profile.log", 1);
  source_is("r/b_profile.log.gz");
}

/* A report that somebody wrote beside other logs is not made of them. */
static void other_logs_are_not_the_reports(void **state) {
  (void)state;
  put("r/other_profile.log", OPERATIONS);
  put_report("elsewhere/run.log", 4);
  source_is_refused("elsewhere/run.log is not there");
}

/* Whatever it is called, what the findings name is the log when it lies beside the report. */
static void a_log_beside_the_report(void **state) {
  (void)state;
  put_report("/nowhere/run.txt", 4);
  source_is_refused("is not there");
  put("r/run.txt", "1234");
  source_is("r/run.txt");
}

static void the_folder_of_a_run(void **state) {
  (void)state;
  put("r/x_profile.log", "nothing of ours\n");
  put("r/x_recording.json", "[]");
  source_is("r/x_recording.json");
  put("r/x_profile.log", OPERATIONS);
  source_is("r/x_profile.log");
  put("r/x_profile.log", "nothing of ours\n");
  put("r/y_recording.json", "[]");
  source_is_refused("holds 2 recordings");
}

static void origin_is(const char *log, const char *wanted) {
  char *origin;
  assert_int_equal(ttm_report_other_origin(&origin, "r", log), TTM_OK);
  if (!wanted) return assert_null(origin);
  assert_non_null(origin);
  assert_string_equal(origin, wanted);
  ttm_free(origin);
}

static void reports_of_other_logs(void **state) {
  (void)state;
  origin_is("run.log", NULL);
  put("run.log", "1234");
  put("other.log", "1234");
  assert_int_equal(symlink("run.log", "link.log"), 0);
  put_report("run.log", 4);
  origin_is("run.log", NULL);
  origin_is("./run.log", NULL);
  origin_is("link.log", NULL);
  origin_is("other.log", "run.log");
  put("r/x_findings.json", "{\"schema_version\":9999}");
  origin_is("run.log", "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_relative_name_is_not_enough, enter, leave),
      cmocka_unit_test_setup_teardown(an_absolute_name_is, enter, leave),
      cmocka_unit_test_setup_teardown(the_findings_name_one_of_several, enter, leave),
      cmocka_unit_test_setup_teardown(other_logs_are_not_the_reports, enter, leave),
      cmocka_unit_test_setup_teardown(a_log_beside_the_report, enter, leave),
      cmocka_unit_test_setup_teardown(the_folder_of_a_run, enter, leave),
      cmocka_unit_test_setup_teardown(reports_of_other_logs, enter, leave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
