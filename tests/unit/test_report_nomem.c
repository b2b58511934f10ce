/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the report writers made to fail in turn, on a log with something of everything. This file
 * defines the heap's door itself, so the linker leaves src/base/alloc.c out of this program. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "profile_fixture.h"
#include "store/report_dir.h"

static long allowed = 1L << 40; /* allocations that still succeed */

static bool refuse(void) { return allowed-- <= 0; }
void *ttm_alloc(size_t size) { return refuse() ? NULL : calloc(1, size ? size : 1); }
void *ttm_realloc(void *old, size_t size) { return refuse() ? NULL : realloc(old, size ? size : 1); }
void ttm_free(void *p) { free(p); }

static int count_files(const char *folder) {
  int n = -2; /* . and .. */
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  while (readdir(dir)) n++;
  closedir(dir);
  return n;
}

typedef int report_writer(const ttm_findings *f, const char *folder, const char *name,
                          const ttm_report_options *options, ttm_error *err);

/* Until a run in which nothing was refused. A refusal may also be without harm: the cache of texts is only for
 * speed. */
static void starve(report_writer *write, const ttm_findings *f, const char *root, const char *folder, int in_root) {
  ttm_error err;
  long n = 0;
  do {
    allowed = n++;
    int status = write(f, folder, "small", NULL, &err);
    if (status) assert_int_equal(status, TTM_ENOMEM);
    if (status) assert_int_equal(err.code, TTM_ENOMEM);
    assert_int_equal(count_files(folder), 6); /* the last report, or the new one */
    assert_int_equal(count_files(root), in_root);
  } while (allowed < 0);
  allowed = 1L << 40;
  assert_true(n > 20);
}

static void last_report_survives(void **state) {
  (void)state;
  char root[] = "/tmp/ttmem-nomem-XXXXXX", folder[64], command[64];
  ttm_profile *p;
  ttm_read_options options = {.threads = 1, .keep_ir = true};
  assert_non_null(mkdtemp(root));
  snprintf(folder, sizeof folder, "%s/small", root);
  assert_int_equal(ttm_profile_read_opts(&p, TTMEM_SOURCE "/tests/golden/small.log", &options, NULL), TTM_OK);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(ttm_report_dir_write(f, folder, "small", NULL, NULL), TTM_OK);
  starve(ttm_report_dir_write, f, root, folder, 1);
  starve(ttm_report_files_write, f, root, folder, 1);
  ttm_findings_free(f);
  ttm_profile_free(p);
  snprintf(command, sizeof command, "rm -rf %s", root);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(last_report_survives)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
