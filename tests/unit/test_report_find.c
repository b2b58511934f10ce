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
  assert_int_equal(ttm_report_source(&source, "r", NULL, &err), TTM_OK);
  assert_string_equal(source, wanted);
  ttm_free(source);
}

static void source_is_refused(const char *why) {
  char *source;
  ttm_error err;
  assert_int_equal(ttm_report_source(&source, "r", NULL, &err), TTM_ENODATA);
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
  source_is_refused("is not, or no longer");
}

/* Nor is the log at an absolute name that has grown. */
static void nor_is_an_absolute_name(void **state) {
  char path[64];
  snprintf(path, sizeof path, "%s/run.log", (char *)*state);
  put_report(path, 4);
  put("run.log", "1234");
  source_is(path);
  put("run.log", "something else");
  source_is_refused("is not, or no longer");
}

static ttm_fingerprint print_of(const char *path) {
  ttm_fingerprint out;
  assert_int_equal(ttm_fingerprint_of(&out, path), TTM_OK);
  return out;
}

/* A report of run.log as it is now. */
static void put_report_of_log(void) {
  ttm_fingerprint file = print_of("run.log");
  ttm_buf text = {0};
  ttm_buf_puts(&text, "{\"schema_version\":1,\"input\":{\"path\":\"run.log\",\"bytes\":7,\"fingerprint\":\"");
  ttm_fingerprint_put(&text, &file);
  ttm_buf_puts(&text, "\"}}");
  ttm_buf_char(&text, '\0');
  put("r/x_memory.json", "[]");
  put("r/x_findings.json", text.at);
  ttm_buf_free(&text);
}

static void run_shell(const char *command) { assert_int_equal(system(command), 0); }

static void the_fingerprint_tells(void **state) {
  (void)state;
  put("run.log", "a log of 25 bytes or so\n");
  put_report_of_log();
  source_is("run.log");
  put("run.log", "a log of 26 bytes or so\n"); /* as long */
  source_is_refused("is not, or no longer");
  put("run.log", "a log of 25 bytes or so\n");
  source_is("run.log"); /* a copy */
  run_shell("gzip -c run.log > r/run.log.gz && mv run.log other.log");
  source_is_refused("is not there"); /* only names of logs and that of the report are looked for */
  run_shell("mv r/run.log.gz r/run_profile.log.gz");
  source_is_refused("is not there");
}

/* What is not read of a long log is told by its time. */
static void a_long_log(void **state) {
  (void)state;
  run_shell("head -c 3500000 /dev/zero | tr '\\0' a > run.log");
  put_report_of_log();
  source_is("run.log");
  run_shell("cp -p run.log r/run.log && mv run.log away.log");
  source_is("r/run.log");
  run_shell("rm r/run.log; mv away.log run.log; printf b | dd of=run.log bs=1 seek=1750000 conv=notrunc 2>/dev/null");
  source_is_refused("is not, or no longer");
}

static void packed_since(void **state) {
  (void)state;
  run_shell("seq 500000 > run.log");
  put_report_of_log();
  run_shell(
      "sed s/run.log/run_profile.log/ -i r/x_findings.json && zstd -q run.log -o r/run_profile.log.zst && rm run.log");
  source_is("r/run_profile.log.zst");
  run_shell("seq 500001 | zstd -qf -o r/run_profile.log.zst");
  source_is_refused("is not, or no longer");
}

static void fingerprints_are_text(void **state) {
  (void)state;
  const ttm_fingerprint one = {3, -5, 0xfedcba9876543210};
  ttm_buf text = {0};
  ttm_fingerprint_put(&text, &one);
  ttm_fingerprint read = ttm_fingerprint_read(ttm_buf_str(&text));
  assert_memory_equal(&read, &one, sizeof one);
  ttm_buf_free(&text);
  static const char *const wrong[] = {
      "", "3", "3-5-", "3-5-fedcba987654321g", "3-5-fedcba98765432100", "x-5-fedcba9876543210"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_false(ttm_fingerprint_read(ttm_str_of(wrong[i])).bytes);
  assert_false(print_of("-").bytes || print_of("r").bytes || print_of("nowhere").bytes);
  /* The text in a compressed file has the fingerprint of the file it was, whatever its length. */
  static const char *const sizes[] = {"1", "1048575", "1048576", "1048577", "2097152", "2097153", "3145728", "7340033"};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char command[160];
    snprintf(command, sizeof command, "seq 2000000 | head -c %s > t; gzip -c1 t > t.gz", sizes[i]);
    run_shell(command);
    ttm_fingerprint plain = print_of("t"), packed = ttm_fingerprint_of_text("t.gz");
    assert_true(ttm_fingerprint_same_text(&plain, &packed));
  }
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
  source_is_refused("elsewhere/run.log, is not there");
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
      cmocka_unit_test_setup_teardown(nor_is_an_absolute_name, enter, leave),
      cmocka_unit_test_setup_teardown(the_fingerprint_tells, enter, leave),
      cmocka_unit_test_setup_teardown(a_long_log, enter, leave),
      cmocka_unit_test_setup_teardown(packed_since, enter, leave),
      cmocka_unit_test_setup_teardown(fingerprints_are_text, enter, leave),
      cmocka_unit_test_setup_teardown(the_findings_name_one_of_several, enter, leave),
      cmocka_unit_test_setup_teardown(other_logs_are_not_the_reports, enter, leave),
      cmocka_unit_test_setup_teardown(a_log_beside_the_report, enter, leave),
      cmocka_unit_test_setup_teardown(the_folder_of_a_run, enter, leave),
      cmocka_unit_test_setup_teardown(reports_of_other_logs, enter, leave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
