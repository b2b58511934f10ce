/* SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"

#include "store/report_dir.h"

int ttm_history_open(ttm_history **out, const char *where, bool write, ttm_error *err) {
  ttm_buf path = {0};
  *out = NULL;
  int status = where ? (ttm_buf_puts(&path, where), TTM_OK) : ttm_home(&path, err);
  if (!where) ttm_buf_puts(&path, "/history.sqlite");
  ttm_buf_char(&path, '\0');
  if (path.failed) status = ttm_error_nomem(err);
  if (!status) status = ttm_history_open_sqlite(out, path.at, write, err);
  ttm_buf_free(&path);
  return status;
}

void ttm_history_close(ttm_history *history) {
  if (!history) return;
  history->engine->close(history);
  ttm_free(history->where);
  ttm_free(history);
}
