/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/index.h"

#include "serve/pack.h"
#include "serve/pages.h"

static void forget_page(ttm_index *index) {
  ttm_buf_free(&index->page);
  ttm_buf_free(&index->packed);
}

/* Made when it is asked for. */
static const ttm_buf *keep_page(ttm_index *index, bool history, bool packed) {
  if (!index->page.n) ttm_page_index(&index->page, &index->catalog, history);
  if (packed && !index->packed.n && !index->page.failed) ttm_pack(&index->packed, ttm_buf_str(&index->page));
  return packed && !index->page.failed ? &index->packed : &index->page;
}

int ttm_index_page(ttm_index *index, ttm_buf *out, const char *path, bool history, bool packed) {
  bool changed = false;
  pthread_mutex_lock(&index->lock);
  int status = ttm_catalog_renew(&index->catalog, path, &changed, NULL);
  if (changed) forget_page(index);
  if (!status) {
    const ttm_buf *page = keep_page(index, history, packed);
    ttm_buf_put(out, ttm_buf_str(page));
    if (page->failed || out->failed) status = TTM_ENOMEM;
    if (page->failed) forget_page(index);
  }
  pthread_mutex_unlock(&index->lock);
  return status;
}

void ttm_index_free(ttm_index *index) {
  forget_page(index);
  ttm_catalog_free(&index->catalog);
  pthread_mutex_destroy(&index->lock);
}
