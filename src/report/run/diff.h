/* SPDX-License-Identifier: Apache-2.0 */
/* Two logs side by side, as text, JSON and a page. What the difference means is decided and worded in src/analyze/diff.c. */
#ifndef TTM_REPORT_DIFF_H
#define TTM_REPORT_DIFF_H

#include "analyze/diff.h"
#include "base/out_file.h"
#include "report/write/doc.h"

void ttm_diff_write(ttm_doc *doc, const ttm_diff *diff, bool per_chip);
/* A comment for a pull request, as markdown: what got worse first, the rest folded. Nothing in it is a link or mentions anybody; never longer than
 * TTM_COMMENT_LIMIT. 0 or TTM_ENOMEM. */
int ttm_diff_comment(ttm_buf *out, const ttm_diff *diff, bool per_chip);
enum { TTM_COMMENT_LIMIT = 65536 }; /* bytes; GitHub's limit counts characters */

/* At most so many rows of each table. 0 or TTM_ENOMEM. */
int ttm_diff_json(ttm_buf *out, const ttm_diff *diff, size_t most);

/* One file that needs nothing else: both timelines over each other, and all that the text says. `names` are what the logs are called there;
 * `per_chip` is how its tables count at first. 0 or TTM_ENOMEM. */
int ttm_diff_html(const ttm_diff *diff, const ttm_str names[2], bool per_chip, ttm_out *out, ttm_error *err);

#endif
