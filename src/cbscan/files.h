/* SPDX-License-Identifier: Apache-2.0 */
/* The sources below some paths, and what can be told of one before it is parsed. */
#ifndef CBS_FILES_H
#define CBS_FILES_H

#include "cbscan/scan.h"

/* Adds every source of `path` (a file, or a folder with all below it) to scan->files, in the order of their names. 0, TTM_EIO for a path
 * that cannot be read, TTM_ENOMEM. */
int cbs_find_files(cbs_scan *scan, const char *path, ttm_error *err);

/* Reads a file whole into the arena. 0, TTM_EIO, TTM_ENOMEM. */
int cbs_read_file(const char *path, ttm_arena *arena, ttm_str *out, ttm_error *err);

/* Host, kernel, or nothing of interest: by folder and by words. */
cbs_role cbs_role_of(ttm_str path, ttm_str text);
bool cbs_is_header(ttm_str path);

/* A copy of the text that is easier to parse, byte for byte as long: without the words that kernels put before types and functions
 * (FORCE_INLINE, tt_l1_ptr), `void MAIN {` made a function; with `choose`, of each #if only one branch. NULL when there is nothing to do or
 * no memory. */
char *cbs_simplify(ttm_str text, bool choose, ttm_arena *arena);

/* A copy of the text with blanks instead of comments, byte for byte as long; NULL without memory. */
char *cbs_without_comments(ttm_str text, ttm_arena *arena);

/* Whether the end of a file is missing: a block, a comment or a text is still open where it ends. 0 or TTM_ENOMEM. */
int cbs_is_cut(ttm_str text, ttm_arena *arena, bool *out);

/* Whole numbers a header gives a name at file scope (constexpr, #define), found without parsing. */
int cbs_constants_read(cbs_defines *out, ttm_str text);
/* Sorts by name; names given several different values are dropped. */
void cbs_constants_settle(cbs_defines *constants);

#endif
