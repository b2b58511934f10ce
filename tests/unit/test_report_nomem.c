/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the report writers made to fail in turn, on a log with something of everything. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"
#include "profile_fixture.h"
#include "starving.h"
#include "store/report_dir.h"

/* Files (or folders) in a folder; `*sum` also says what is in the files, whatever their order. */
static int look_into(const char *folder, uint64_t *sum) {
  int n = 0;
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  for (struct dirent *entry; (entry = readdir(dir));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    n++;
    if (!sum) continue;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    ttm_str text = file_view(path);
    *sum += ttm_hash(text.p, text.n, 0);
    free((char *)text.p);
  }
  closedir(dir);
  return n;
}

typedef int report_writer(const ttm_findings *f, const char *folder, const char *name,
                          const ttm_report_options *options, ttm_error *err);

typedef struct written {
  report_writer *write;
  const ttm_findings *f;
  const char *root, *folder;
  uint64_t whole; /* what the files hold */
} written;

/* A refusal may also be without harm: the cache of texts is only for speed. The last report and the new one are the same. */
static bool work_writing(void *context, bool plenty) {
  const written *w = context;
  ttm_error err = {0};
  int status = w->write(w->f, w->folder, "small", NULL, &err);
  if (status && (plenty || status != TTM_ENOMEM || err.code != TTM_ENOMEM)) return false;
  uint64_t sum = 0;
  return look_into(w->folder, &sum) == 7 && sum == w->whole && look_into(w->root, NULL) == 1;
}

static void last_report_survives(void **state) {
  (void)state;
  char root[] = "/tmp/ttmem-nomem-XXXXXX", folder[64], command[64];
  ttm_profile *p;
  ttm_read_options options = {.size = sizeof options, .threads = 1, .keep_ir = true};
  assert_non_null(mkdtemp(root));
  snprintf(folder, sizeof folder, "%s/small", root);
  assert_int_equal(ttm_profile_read_opts(&p, TTMEM_SOURCE "/tests/golden/small.log", &options, NULL), TTM_OK);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(ttm_report_dir_write(f, folder, "small", NULL, NULL), TTM_OK);
  uint64_t whole = 0;
  assert_int_equal(look_into(folder, &whole), 7);
  starve_walk(work_writing, &(written){ttm_report_dir_write, f, root, folder, whole});
  starve_walk(work_writing, &(written){ttm_report_files_write, f, root, folder, whole});
  ttm_findings_free(f);
  ttm_profile_free(p);
  snprintf(command, sizeof command, "rm -rf %s", root);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(last_report_survives)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
