/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "store/catalog.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char root[64];

static void put(const char *path, const char *text) {
  char whole[256];
  snprintf(whole, sizeof whole, "%s/%s", root, path);
  FILE *f = fopen(whole, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static void folder(const char *name) {
  char whole[256];
  snprintf(whole, sizeof whole, "%s/%s", root, name);
  assert_int_equal(mkdir(whole, 0700), 0);
}

static bool there(const char *path) {
  char whole[256];
  snprintf(whole, sizeof whole, "%s/%s", root, path);
  return !access(whole, F_OK);
}

static void written(const char *path, time_t when) {
  char whole[256];
  snprintf(whole, sizeof whole, "%s/%s", root, path);
  struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
  assert_int_equal(utimensat(AT_FDCWD, whole, times, 0), 0);
}

static const char FINDINGS[] =
    "{\"schema_version\":1,\n\"input\":{\"path\":\"logs/a.log\",\"bytes\":4},\n\"operations\":{\"total\":9},\n"
    "\"peak\":{\"DRAM\":{\"allocated_per_bank_MB\":10.5,\"utilization_pct\":50},\"L1\":null},\n"
    "\"incidents\":[{\"kind\":\"oom\",\"memory\":\"DRAM\",\"verdict\":\"fragmented\"},{\"kind\":\"fatal\"}],\n"
    "\"statements\":[{\"id\":\"oom.fragmented\",\"headline\":\"Out of memory in DRAM: fragmented\"}]}";

static int fill(void **state) {
  (void)state;
  snprintf(root, sizeof root, "/tmp/ttmem-catalog-XXXXXX");
  assert_non_null(mkdtemp(root));
  folder("a");
  put("a/a_findings.json", FINDINGS);
  put("a/a_memory.json", "{}");
  written("a/a_findings.json", 1000);
  written("a/a_memory.json", 1000);
  folder("run_20260101");
  put("run_20260101/run_memory.json", "{}"); /* as the Python tool leaves it */
  put("run_20260101/run_report.html", "<p>");
  put("run_20260101/run_profile.log", "log");
  written("run_20260101/run_memory.json", 2000);
  written("run_20260101/run_report.html", 2001);
  folder("broken");
  put("broken/b_findings.json", "{\"input\":{\"path\":[}");
  written("broken/b_findings.json", 10);
  folder("no report");
  put("no report/x.txt", "");
  folder(".hidden");
  put(".hidden/h_memory.json", "{}");
  return 0;
}

static int empty(void **state) {
  char command[96];
  (void)state;
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  return system(command);
}

static void lists_newest_first(void **state) {
  ttm_catalog all;
  (void)state;
  assert_int_equal(ttm_catalog_read(&all, root, NULL), 0);
  assert_int_equal(all.entries.n, 3);
  assert_false(all.only_entry);
  const ttm_catalog_entry *run = &all.entries.at[0], *a = &all.entries.at[1], *broken = &all.entries.at[2];
  assert_string_equal(run->folder, "run_20260101");
  assert_string_equal(run->name, "run");
  assert_true(run->has_page && !run->has_findings && run->written == 2001 && run->peak_mb < 0);
  assert_string_equal(a->log, "logs/a.log");
  assert_string_equal(a->failure, "Out of memory in DRAM: fragmented");
  assert_true(a->failures == 2 && a->operations == 9 && a->peak_mb == 10.5 && a->peak_pct == 50 && a->l1_peak_mb < 0);
  assert_string_equal(broken->folder, "broken");
  assert_string_equal(broken->log, "");
  ttm_catalog_free(&all);
}

static void a_report_is_a_catalog_of_one(void **state) {
  ttm_catalog one;
  char path[96];
  (void)state;
  snprintf(path, sizeof path, "%s/a/../a/", root);
  assert_int_equal(ttm_catalog_read(&one, path, NULL), 0);
  assert_true(one.only_entry && one.entries.n == 1);
  assert_string_equal(one.root, root);
  assert_string_equal(one.entries.at[0].folder, "a");
  ttm_catalog_free(&one);
  ttm_error err;
  assert_int_equal(ttm_catalog_read(&one, "/nowhere/at all", &err), TTM_EIO);
  assert_non_null(strstr(err.message, "/nowhere/at all"));
}

static void finds_the_log(void **state) {
  ttm_catalog all;
  bool changed;
  (void)state;
  assert_int_equal(ttm_catalog_read(&all, root, NULL), 0);
  assert_null(ttm_catalog_log(&all, &all.entries.at[1], &changed));
  put("a/a.log", "text"); /* beside the report */
  char *log = ttm_catalog_log(&all, &all.entries.at[1], &changed);
  assert_non_null(log);
  assert_non_null(strstr(log, "/a/a.log"));
  ttm_free(log);
  log = ttm_catalog_log(&all, &all.entries.at[0], &changed); /* without findings: what the run left */
  assert_non_null(log);
  assert_non_null(strstr(log, "/run_20260101/run_profile.log"));
  assert_false(changed);
  ttm_free(log);
  ttm_catalog_free(&all);
}

/* Whatever order the system lists them in: that of their making, the other way round, or by hashes, so many are tried. */
static void the_first_name_wins(void **state) {
  (void)state;
  for (int i = 0; i < 32; i++) {
    char path[160], letter = (char)('a' + i / 2);
    ttm_catalog one;
    snprintf(path, sizeof path, "two%d", i);
    folder(path);
    for (int k = 0; k < 2; k++) {
      snprintf(path, sizeof path, "two%d/%c%s_memory.json", i, letter, (i + k) % 2 ? "z" : "");
      put(path, "{}");
    }
    snprintf(path, sizeof path, "%s/two%d", root, i);
    assert_int_equal(ttm_catalog_read(&one, path, NULL), 0);
    assert_int_equal(one.entries.at[0].name[0], letter);
    assert_int_equal(one.entries.at[0].name[1], '\0');
    ttm_catalog_free(&one);
  }
}

/* What a later ttmem means by its words is not known: the report is listed, and said to be one. */
static void later_reports_are_listed(void **state) {
  ttm_catalog one;
  char path[96];
  (void)state;
  put("a/a_findings.json", "{\"schema_version\":2,\"input\":{\"path\":\"a.log\"},\"operations\":{\"total\":9}}");
  snprintf(path, sizeof path, "%s/a", root);
  assert_int_equal(ttm_catalog_read(&one, path, NULL), 0);
  assert_int_equal(one.entries.n, 1);
  assert_true(one.entries.at[0].later && !one.entries.at[0].has_findings && one.entries.at[0].peak_mb < 0);
  assert_non_null(strstr(one.entries.at[0].failure, "later ttmem"));
  ttm_catalog_free(&one);
}

/* Only the report goes: what else lies in its folder is not ours to delete. */
static void deletes_a_report(void **state) {
  ttm_catalog all;
  ttm_error err;
  (void)state;
  assert_int_equal(ttm_catalog_read(&all, root, &err), 0);
  assert_int_equal(ttm_catalog_delete(&all, &all.entries.at[0], false, &err), 0);
  assert_int_equal(ttm_catalog_delete(&all, &all.entries.at[2], false, &err), 0);
  assert_false(there("run_20260101/run_memory.json"));
  assert_false(there("run_20260101/run_report.html"));
  assert_true(there("run_20260101/run_profile.log"));
  assert_false(there("broken"));
  assert_true(there("a/a_memory.json"));
  assert_int_equal(ttm_catalog_delete(&all, &all.entries.at[2], false, &err), TTM_EIO);
  ttm_catalog_free(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(lists_newest_first, fill, empty),
      cmocka_unit_test_setup_teardown(a_report_is_a_catalog_of_one, fill, empty),
      cmocka_unit_test_setup_teardown(finds_the_log, fill, empty),
      cmocka_unit_test_setup_teardown(the_first_name_wins, fill, empty),
      cmocka_unit_test_setup_teardown(later_reports_are_listed, fill, empty),
      cmocka_unit_test_setup_teardown(deletes_a_report, fill, empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
