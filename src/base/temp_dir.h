/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of our own that goes away with all that is in it. */
#ifndef TTM_BASE_TEMP_DIR_H
#define TTM_BASE_TEMP_DIR_H

#include <limits.h>

#include "base/error.h"

typedef struct ttm_temp_dir {
  char path[PATH_MAX]; /* empty: there is none */
  int lock;            /* held while it is in use, so that no other process takes it for left over */
} ttm_temp_dir;

/* In the user's cache (own_dir.h) as "tmp/ttmem-<what>-<process>-XXXXXX": below /tmp another user could make it again, while a program that outlives us still
 * has its name. Removes those that killed processes left behind. 0, or as ttm_own_dir. */
int ttm_temp_dir_make(ttm_temp_dir *dir, const char *what, ttm_error *err);

/* Removes it and everything below; links are removed, not followed. */
void ttm_temp_dir_remove(ttm_temp_dir *dir);

#endif
