/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem analyze --check and --budget: a log is held to something, for scripts that go by the exit status. */
#ifndef TTM_CLI_JUDGE_H
#define TTM_CLI_JUDGE_H

#include "analyze/findings.h"
#include "base/buf.h"
#include "cli/options.h"

/* TTM_EUSAGE when a budget cannot be read. For before the reading of the log. */
int ttm_judge_options(const ttm_options *options, ttm_error *err);

/* Appends a line for everything that does not hold: with --check each incident and leak, with --budget each peak above it. 0 and nothing
 * appended: it holds. TTM_ENODATA when the log does not tell what a budget asks for; what the others found is appended then as well.
 * TTM_ENOMEM. */
int ttm_judge(const ttm_options *options, const ttm_findings *f, ttm_buf *out, ttm_error *err);

#endif
