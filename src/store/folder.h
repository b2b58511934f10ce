/* SPDX-License-Identifier: Apache-2.0 */
/* Folders that are replaced as a whole. A new one is filled under a hidden name beside its place, then the two change
 * places in one step, so that there is a whole folder at every moment, also after a crash. */
#ifndef TTM_STORE_FOLDER_H
#define TTM_STORE_FOLDER_H

#include "base/error.h"
#include "base/str.h"

/* "folder/name" + suffix, to be freed with ttm_free; NULL without memory. */
char *ttm_folder_join(const char *folder, const char *name, const char *suffix);

/* Makes the folder and its parents where missing. 0, TTM_EIO or TTM_ENOMEM. */
int ttm_folder_make(const char *folder, ttm_error *err);

/* Tells the files that may be deleted from those that came from somewhere else. `name` is the report's, NULL
 * for any. */
typedef bool ttm_folder_ours(const char *file_name, const char *name);

/* Removes what writers that died left in `folder`: temporary files, and unfinished folders that hold nothing but our
 * files. */
void ttm_folder_clean(const char *folder, ttm_folder_ours *ours);

/* A folder in the making. */
typedef struct ttm_fresh {
  char *target;     /* where it will stand */
  char *path;       /* where it is filled */
  int lock;         /* held while we live, so that nobody takes it for a leftover */
  bool sync;        /* wait until it is on the disk; its files are already */
  bool no_exchange; /* pretend the system cannot exchange two folders (for tests) */
} ttm_fresh;

/* Makes an empty folder beside `target` (whose parents are made too). TTM_EUSAGE when the target is there and is no
 * folder, or holds files but none of ours: nobody wants a report in the place of their home. */
int ttm_fresh_open(ttm_fresh *fresh, const char *target, const char *name, ttm_folder_ours *ours, ttm_error *err);

/* Puts it in its place. The folder that stood there is deleted when all in it is ours, else kept as <target>.old-N.
 * Ends `fresh` in every case; on failure the old folder is where it was. */
int ttm_fresh_place(ttm_fresh *fresh, const char *name, ttm_folder_ours *ours, ttm_error *err);

/* Gives up and removes it. */
void ttm_fresh_abandon(ttm_fresh *fresh, const char *name, ttm_folder_ours *ours);

#endif
