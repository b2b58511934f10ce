/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a log on one thread and, when told so, makes all findings; prints nothing. What the analyses cost is the difference.
 * usage: read_log [--analyze] LOG */
#include <stdio.h>
#include <string.h>

#include "analyze/findings.h"

int main(int argc, char **argv) {
  bool analyze = argc == 3 && !strcmp(argv[1], "--analyze");
  if (argc != 2 && !analyze) return fputs("usage: read_log [--analyze] LOG\n", stderr), 2;
  ttm_read_options options = {.size = sizeof options, .threads = 1};
  ttm_profile *profile = NULL;
  ttm_findings *findings = NULL;
  ttm_error err = {0};
  int status = ttm_profile_read_opts(&profile, argv[argc - 1], &options, &err);
  if (!status && analyze) status = ttm_findings_make(&findings, profile, 1, &err);
  if (status) fprintf(stderr, "read_log: %s\n", err.message);
  ttm_findings_free(findings);
  ttm_profile_free(profile);
  return status ? 1 : 0;
}
