/* SPDX-License-Identifier: Apache-2.0 */
/* The files of one run over many ranks: a list, a folder, or a tar or zip archive of logs. Each is read, summed up and let go of: memory holds as many logs as there are
 * threads. */
#ifndef TTM_STORE_RANK_FILES_H
#define TTM_STORE_RANK_FILES_H

#include "analyze/ranks.h"

/* Zero is empty; freed with ttm_rank_files_free. */
typedef struct ttm_rank_files {
  TTM_VEC(char *) paths; /* of an archive: its own */
  bool archive;
} ttm_rank_files;

/* Whether one input is such a set by itself: a folder with two files or more that are named after ranks (rank0.log, worker-1.log.gz), or an archive: a name with .tar or .tgz
 * in it, or that ends in .zip. */
bool ttm_rank_files_is(const char *path);

/* 0, TTM_EIO or TTM_ENOMEM. */
int ttm_rank_files_find(ttm_rank_files *out, const char *const *inputs, size_t n, ttm_error *err);
void ttm_rank_files_free(ttm_rank_files *files);

/* Fills `out`, told. Files without memory are left out and counted. TTM_ENODATA when none has any; TTM_EIO, TTM_ENOMEM. */
int ttm_rank_files_read(ttm_ranks *out, const ttm_rank_files *files, unsigned threads, ttm_error *err);

/* One of them again, whole: that of a row's path. */
int ttm_rank_files_profile(ttm_profile **out, const ttm_rank_files *files, ttm_str path, unsigned threads,
                           ttm_error *err);

#endif
