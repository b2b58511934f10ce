/* SPDX-License-Identifier: Apache-2.0 */
/* Folders that nobody but the user and root can put anything into: for what other programs of the user will run, read or append to. */
#ifndef TTM_BASE_OWN_DIR_H
#define TTM_BASE_OWN_DIR_H

#include <limits.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"

/* Appends the user's home folder; false when nothing tells. */
bool ttm_put_home(ttm_buf *out);

/* Whether nobody but the user and root can write to a file or folder, as far as that one goes. */
bool ttm_is_own(const struct stat *st);

/* The folder `name` ("a/b") of the user's cache, made where it is missing: below TTMEM_HOME/cache, else XDG_CACHE_HOME/ttmem, else ~/.cache/ttmem; one whose path
 * holds a ':' is passed over, since lists of folders (PYTHONPATH) are separated by it. Where that cannot be written: TMPDIR/ttmem-UID, else /tmp/ttmem-UID. The path is absolute and without links. As ssh does it, every folder
 * of it is checked: TTM_EUSAGE with a sentence when it belongs to somebody else, others may write to it, or one of ours is a link. TTM_EIO, TTM_ENOMEM. */
int ttm_own_dir(char out[PATH_MAX], const char *name, ttm_error *err);

/* Whether all that is in such a folder, and below it, is the user's or root's: the folder may have been open to others for a while. TTM_EUSAGE with a sentence, TTM_EIO. */
int ttm_own_contents(const char *folder, ttm_error *err);

#endif
