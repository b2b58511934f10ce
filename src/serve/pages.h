/* SPDX-License-Identifier: Apache-2.0 */
/* Pages the server makes itself: the list of reports, a report that has no page of its own, and the frame of those of the history. No scripts; every
 * foreign text is escaped. All links are relative, so that they hold behind a forwarded port and behind a token. */
#ifndef TTM_SERVE_PAGES_H
#define TTM_SERVE_PAGES_H

#include "base/buf.h"
#include "store/catalog.h"

/* With `history`, the pages of history.h stand beside it. */
void ttm_page_index(ttm_buf *out, const ttm_catalog *catalog, bool history);
void ttm_page_report(ttm_buf *out, const ttm_catalog_entry *entry);

/* For refusals: a sentence on a page of its own. */
void ttm_page_message(ttm_buf *out, const char *title, const char *sentence);

/* The frame of a page; `here` is its name among those of the history ("Runs", "Models", "Reports", "Live"), NULL: without them. */
void ttm_page_begin(ttm_buf *out, const char *title, const char *here);
void ttm_page_end(ttm_buf *out);
/* " (98.5%)" and a bar; nothing below 0. */
void ttm_page_level(ttm_buf *out, double percent);

/* A name inside a URL. */
void ttm_put_url(ttm_buf *out, ttm_str name);

#endif
