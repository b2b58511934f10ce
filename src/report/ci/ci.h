/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of a check laid out for what runs pipelines. All only append to `out`. */
#ifndef TTM_REPORT_CI_H
#define TTM_REPORT_CI_H

#include "analyze/baseline.h"

typedef struct ttm_ci {
  const char *command; /* "analyze" */
  ttm_str name;        /* of the report: the same from run to run */
  ttm_str input;       /* what was read; empty for a program */
  const ttm_checks *checks;
} ttm_ci;

/* JUnit XML: a test case per check. 0 or TTM_ENOMEM. */
int ttm_junit_write(const ttm_ci *ci, ttm_buf *out);

/* GitHub's workflow commands: an error per failed check, a notice for what got better. `root` is the folder of the checkout, NULL when unknown. */
void ttm_github_commands(const ttm_ci *ci, const char *root, ttm_buf *out);
/* One of them: level "error", "warning" or "notice". Everything is escaped. */
void ttm_github_command(ttm_buf *out, const char *level, ttm_str file, uint32_t line, ttm_str title, ttm_str text);
/* A file as the repository calls it. */
ttm_str ttm_github_path(ttm_str file, const char *root);
/* The summary of a step, as markdown in which nothing foreign is a link. */
int ttm_github_summary(const ttm_ci *ci, ttm_buf *out);
enum { TTM_GITHUB_SUMMARY_LIMIT = 1 << 20 }; /* bytes of a step; GitHub drops a longer one */

/* A run in the benchmark database of tt-metal. */
typedef struct ttm_benchmark {
  ttm_str model;
  const char *time;                /* "2026-11-16T08:37:42+00:00": when the input was written */
  const char *host;                /* where it ran */
  const ttm_baseline_entry *entry; /* its peaks are the targets; NULL */
  const char *repository, *commit, *branch, *run_id, *user; /* of the pipeline, NULL */
} ttm_benchmark;
/* 0 or TTM_ENOMEM. */
int ttm_benchmark_write(const ttm_benchmark *benchmark, const ttm_findings *f, ttm_buf *out);

#endif
