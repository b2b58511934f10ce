/* SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"

#include <stdlib.h>

#include "store/report_dir.h"

static bool is_postgres(const char *where) {
  ttm_str text = ttm_str_of(where);
  return ttm_str_starts(text, TTM_LIT("postgres://")) || ttm_str_starts(text, TTM_LIT("postgresql://"));
}

static bool is_sqlite(const char *where) {
  ttm_str text = ttm_str_of(where);
  return ttm_str_ends(text, TTM_LIT(".sqlite")) || ttm_str_ends(text, TTM_LIT(".db"));
}

/* Of this user. */
static int open_own(ttm_history **out, bool write, ttm_error *err) {
  ttm_buf path = {0};
  int status = ttm_home(&path, err);
  ttm_buf_puts(&path, "/history.sqlite");
  ttm_buf_char(&path, '\0');
  if (!status && path.failed) status = ttm_error_nomem(err);
  if (!status) status = ttm_history_open_sqlite(out, path.at, write, err);
  ttm_buf_free(&path);
  return status;
}

int ttm_history_open(ttm_history **out, const char *where, bool write, ttm_error *err) {
  *out = NULL;
  if (!where) where = getenv("TTMEM_STORE");
  if (!where || !*where) return open_own(out, write, err);
  if (is_postgres(where)) return ttm_history_open_postgres(out, where, write, err);
  return is_sqlite(where) ? ttm_history_open_sqlite(out, where, write, err)
                          : ttm_history_open_folder(out, where, write, err);
}

void ttm_history_close(ttm_history *history) {
  if (!history) return;
  history->engine->close(history);
  ttm_free(history->where);
  ttm_free(history);
}
