/* SPDX-License-Identifier: Apache-2.0 */
/* Where runs are kept. Many processes may add at once; a run is added as a whole or not at all. */
#ifndef TTM_HISTORY_STORE_H
#define TTM_HISTORY_STORE_H

#include "base/error.h"
#include "history/rows.h"

typedef struct ttm_history ttm_history;

/* Takes a row of an answer; anything but 0 ends the walk and is what the query returns. */
typedef int ttm_history_take(void *context, const ttm_history_cell *cells);

/* What a kind of store does. Errors: TTM_EIO, TTM_EFORMAT (damaged, or of a later ttmem), TTM_ENOMEM. */
typedef struct ttm_history_engine {
  /* Brings the schema up to date and adds the rows in one transaction, instead of those with the same run. */
  int (*add)(ttm_history *history, const ttm_history_rows *rows, ttm_error *err);
  /* The answers to a question of standard SQL with parameters $1, $2, ... that first appear in their order. Columns have these types. */
  int (*query)(ttm_history *history, const char *sql, const ttm_str *params, size_t n, const ttm_column_type *types,
               size_t columns, ttm_history_take *take, void *context, ttm_error *err);
  /* Forgets a run. */
  int (*forget)(ttm_history *history, const char *run, ttm_error *err);
  void (*close)(ttm_history *history);
  const char *like; /* the operator that compares a text with a pattern, whatever the case of its letters */
} ttm_history_engine;

struct ttm_history {
  const ttm_history_engine *engine;
  char *where; /* for messages */
};

/* `where` is what --store says: postgres://..., the path of an SQLite file (*.sqlite, *.db), or a folder for Parquet files, which is only written. NULL: what TTMEM_STORE says, else the database of this user, $TTMEM_HOME/history.sqlite or ~/.ttmem/history.sqlite. To read is TTM_ENODATA when nothing was ever
 * added. Freed with ttm_history_close. */
int ttm_history_open(ttm_history **out, const char *where, bool write, ttm_error *err);
void ttm_history_close(ttm_history *history);

static inline int ttm_history_add(ttm_history *history, const ttm_history_rows *rows, ttm_error *err) {
  return history->engine->add(history, rows, err);
}

static inline int ttm_history_forget(ttm_history *history, const char *run, ttm_error *err) {
  return history->engine->forget(history, run, err);
}

/* Of one kind each. */
int ttm_history_open_sqlite(ttm_history **out, const char *path, bool write, ttm_error *err);
int ttm_history_open_folder(ttm_history **out, const char *path, bool write, ttm_error *err);
int ttm_history_open_postgres(ttm_history **out, const char *url, bool write, ttm_error *err);

#endif
