/* SPDX-License-Identifier: Apache-2.0 */
/* The two pages the server makes itself: the list of reports, and a report that has no page of its own. No scripts; every
 * foreign text is escaped. All links are relative, so that they hold behind a forwarded port and behind a token. */
#ifndef TTM_SERVE_PAGES_H
#define TTM_SERVE_PAGES_H

#include "base/buf.h"
#include "store/catalog.h"

void ttm_page_index(ttm_buf *out, const ttm_catalog *catalog);
void ttm_page_report(ttm_buf *out, const ttm_catalog_entry *entry);

/* For refusals: a sentence on a page of its own. */
void ttm_page_message(ttm_buf *out, const char *title, const char *sentence);

/* A name inside a URL. */
void ttm_put_url(ttm_buf *out, const char *name);

#endif
