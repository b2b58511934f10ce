/* SPDX-License-Identifier: Apache-2.0 */
/* The history as pages: runs with a search, models, the trend of a model on a board, one run, two runs compared, and what the chips of this machine hold now. No scripts; every
 * text of the store is foreign and escaped, links are relative. */
#ifndef TTM_SERVE_HISTORY_H
#define TTM_SERVE_HISTORY_H

#include "base/buf.h"
#include "base/error.h"
#include "serve/guard.h"

/* What is shown. */
typedef struct ttm_history_site {
  const char *store; /* as --store says; NULL: the default */
  const char *root;  /* real path of the folder whose reports are served */
  int root_fd;
  const char *shm; /* where the live files are; NULL: /dev/shm */
} ttm_history_site;

/* The parameters of a request, as they came; NULL where there is none. */
typedef struct ttm_history_asked {
  ttm_route_kind page;
  const char *search, *number; /* of a list: the words, and the page of it from 1 on */
  const char *from;            /* run to compare the others with */
  const char *first, *second;  /* runs */
  const char *model, *board;
} ttm_history_asked;

/* 0; TTM_ENODATA when there is no history, or no such run or model; TTM_EIO, TTM_EFORMAT, TTM_EUSAGE (a store that is only written), TTM_ENOMEM. */
int ttm_history_page(ttm_buf *out, const ttm_history_site *site, const ttm_history_asked *asked, ttm_error *err);

#endif
