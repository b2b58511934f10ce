/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of earlier runs, for `ttmem fit --find`: in TTMEM_HOME/cache, else XDG_CACHE_HOME/ttmem, else ~/.cache/ttmem, below fit/.
 *
 * An answer is found by ttmem's version and recorder, board, working folder, command line and environment. It holds while every file that the
 * program read (its script, its modules, ttnn itself, files that it or its command line names) has the content it had. Of a program that does
 * not say what it read (no Python, or one that was killed) nothing is kept, and neither is an unknown answer. */
#ifndef TTM_LAUNCH_FIT_CACHE_H
#define TTM_LAUNCH_FIT_CACHE_H

#include "analyze/fit_case.h"
#include "launch/crew.h"

typedef struct ttm_fit_cache {
  bool on;
  char folder[PATH_MAX];
} ttm_fit_cache;

/* `on` false: nothing is looked up and nothing is kept. A machine that has no place for it works without. */
void ttm_fit_cache_begin(ttm_fit_cache *cache, bool on);

/* Adds the answer of an earlier run. 1 when there is one that holds, 0 when not, TTM_ENOMEM. */
int ttm_fit_cache_get(const ttm_fit_cache *cache, const char *board, char *const *words, ttm_fit_cases *cases);

/* Keeps the answer of a run, which listed its files. */
void ttm_fit_cache_put(const ttm_fit_cache *cache, const ttm_crew_run *run, char *const *words,
                       const ttm_fit_case *answer);

#endif
