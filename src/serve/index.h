/* SPDX-License-Identifier: Apache-2.0 */
/* The page that lists the reports, kept as long as none was added, removed or changed. */
#ifndef TTM_SERVE_INDEX_H
#define TTM_SERVE_INDEX_H

#include <pthread.h>

#include "store/catalog.h"

typedef struct ttm_index {
  pthread_mutex_t lock; /* initialized by the owner; guards the rest */
  ttm_catalog catalog;
  ttm_buf page, packed; /* empty: to be made */
} ttm_index;

/* Appends the page of the reports in `path`, compressed or not. 0, TTM_EIO or TTM_ENOMEM. */
int ttm_index_page(ttm_index *index, ttm_buf *out, const char *path, bool history, bool packed);

void ttm_index_free(ttm_index *index);

#endif
