/* SPDX-License-Identifier: Apache-2.0 */
/* Adding what a command found to the history. It never changes what the command prints or returns: what goes wrong is a note on standard error. */
#ifndef TTM_CLI_REMEMBER_H
#define TTM_CLI_REMEMBER_H

#include "cli/options.h"
#include "history/rows.h"

/* False with --no-history or TTMEM_NO_HISTORY. */
bool ttm_remembers(const ttm_options *options);

/* Each adds a run. `about` needs no model: --model is taken. */
void ttm_remember_findings(const ttm_options *options, ttm_run_about about, const ttm_findings *f);
void ttm_remember_fit(const ttm_options *options, ttm_run_about about,
                      const ttm_fit_cases *cases); /* a run per board */
void ttm_remember_training(const ttm_options *options, ttm_run_about about, const ttm_training *training);

#endif
