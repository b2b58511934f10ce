/* SPDX-License-Identifier: Apache-2.0 */
/* The page that compares two reports, made when it is asked for. One is made at a time, and the last one is kept: whoever asks, the work is bounded. */
#ifndef TTM_SERVE_COMPARE_H
#define TTM_SERVE_COMPARE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"

typedef struct ttm_comparer {
  pthread_mutex_t lock;
  atomic_bool stopped; /* set it to end the reading of a log */
  uint64_t key;        /* of the page that is kept: what it was made of */
  int page;            /* its file, which has no name; -1: none */
} ttm_comparer;

void ttm_comparer_init(ttm_comparer *comparer);
void ttm_comparer_free(ttm_comparer *comparer);

/* Which reports: folders of `root`, which is also open as `root_fd`. */
typedef struct ttm_compared {
  const char *root;
  int root_fd;
  const char *names[2];
  bool follow; /* read the logs that the reports were made of wherever they are; else only what the folders hold */
} ttm_compared;

/* `*fd` is the page, to be read from its start and closed by the caller; `*key` changes when the reports or their logs do. As in `ttmem diff`, a report
 * stands for its log; without one its JSON files are read. TTM_ENODATA when a name is no report, TTM_ECANCELED when another page is in the making,
 * TTM_EUSAGE when the logs are too large to be read on demand; TTM_EIO, TTM_EFORMAT, TTM_ENOMEM. */
int ttm_compare(ttm_comparer *comparer, const ttm_compared *asked, int *fd, uint64_t *key, ttm_error *err);

#endif
