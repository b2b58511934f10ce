/* SPDX-License-Identifier: Apache-2.0 */
/* Texts are equal when they are equal, not when their hashes are. The hash of this program has one bit, so that nearly all texts share theirs
 * with others: the reports are what they are with the real one. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/source.h"
#include "store/report_dir.h"
#include "unit.h"

static unsigned bits = 1; /* stands in for base/hash.c, which is not linked */

uint64_t ttm_hash(const void *p, size_t n, uint64_t seed) {
  uint64_t hash = seed ^ UINT64_C(14695981039346656037);
  for (size_t i = 0; i < n; i++) hash = (hash ^ ((const unsigned char *)p)[i]) * UINT64_C(1099511628211);
  hash ^= hash >> 29;
  return hash & (~UINT64_C(0) >> (64 - bits));
}
uint64_t ttm_hash_seed(void) { return 0; }

static const char *const FILES[] = {"memory", "operations", "inputs_registry", "ir", "findings"};

static void write_reports(const char *input, unsigned width, const char *folder) {
  ttm_profile *profile;
  ttm_read_options read = {.size = sizeof read, .threads = 2, .keep_ir = true};
  ttm_report_options files = {.size = sizeof files, .leave_out = TTM_REPORT_HTML};
  ttm_error err;
  char path[512];
  bits = width;
  snprintf(path, sizeof path, TTMEM_SOURCE "/tests/%s", input);
  assert_int_equal(ttm_profile_read_opts(&profile, path, &read, &err), TTM_OK);
  assert_int_equal(ttm_report_write_files(profile, folder, "r", &files, &err), TTM_OK);
  ttm_profile_free(profile);
}

static void all_answers_stay(void **state) {
  static const char *const inputs[] = {"data/small.log",
                                       "golden/small.log",
                                       "golden/llama-tiny/tiny_profile.log",
                                       "data/compiled.log",
                                       "data/program.mlir",
                                       "data/too_large.mlir",
                                       "data/submit.log",
                                       "data/ops.log",
                                       "data/capture_small.json",
                                       "data/recording_layers.json.zst",
                                       "data/recording_clash.json",
                                       "cli/data/recording_caches.json"};
  char root[] = "/tmp/ttmem-forged-XXXXXX", command[160];
  (void)state;
  assert_non_null(mkdtemp(root));
  assert_int_equal(chdir(root), 0);
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
    write_reports(inputs[i], 64, "real");
    write_reports(inputs[i], 1, "forged");
    for (size_t k = 0; k < sizeof FILES / sizeof *FILES; k++) {
      snprintf(command, sizeof command,
               "for f in real forged; do sed 's/\"fingerprint\":[^,]*//' $f/r_%s.json >$f.json; done; cmp *.json",
               FILES[k]);
      if (system(command)) fail_msg("%s: %s.json differs", inputs[i], FILES[k]);
    }
  }
  snprintf(command, sizeof command, "rm -rf %s", root);
  assert_int_equal(chdir("/") || system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_answers_stay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
