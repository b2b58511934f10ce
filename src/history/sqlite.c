/* SPDX-License-Identifier: Apache-2.0 */
/* The history as an SQLite file. Write-ahead logging: readers never wait, writers wait for each other, a process that is killed leaves the last
 * whole run. Runs are not forced to the disk one by one: a power cut may lose the newest, never the file. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "history/store.h"
#include "store/folder.h"

enum { WAIT_MS = 20000, WAL_BYTES = 512 * 1024 };

typedef struct sqlite_history {
  ttm_history history;
  sqlite3 *db;
} sqlite_history;

static sqlite_history *sqlite_of(ttm_history *history) { return (sqlite_history *)history; }

static int fail(sqlite_history *h, ttm_error *err) {
  int code = sqlite3_errcode(h->db);
  const char *path = h->history.where, *why = sqlite3_errmsg(h->db);
  if (code == SQLITE_NOMEM) return ttm_error_nomem(err);
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
    return ttm_error_set(err, TTM_EFORMAT,
                         "the history '%s' is damaged (%s) and was left as it is. What can be read of it is saved by\n"
                         "  sqlite3 '%s' .recover | sqlite3 recovered.sqlite\n"
                         "then move it away, and a new one is begun",
                         path, why, path);
  return ttm_error_set(err, TTM_EIO, "the history '%s' cannot be used: %s", path, why);
}

static int execute(sqlite_history *h, const char *sql, ttm_error *err) {
  return sqlite3_exec(h->db, sql, NULL, NULL, NULL) == SQLITE_OK ? TTM_OK : fail(h, err);
}

static int number_of(sqlite_history *h, const char *sql, int *out, ttm_error *err) {
  sqlite3_stmt *stmt = NULL;
  bool fine = sqlite3_prepare_v2(h->db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW;
  if (fine) *out = sqlite3_column_int(stmt, 0);
  int status = fine ? TTM_OK : fail(h, err);
  sqlite3_finalize(stmt);
  return status;
}

static int check_version(sqlite_history *h, int *version, ttm_error *err) {
  int status = number_of(h, "PRAGMA user_version", version, err);
  if (status || *version <= TTM_HISTORY_VERSION) return status;
  return ttm_error_set(err, TTM_EFORMAT,
                       "the history '%s' was written by a later ttmem (version %d of its tables, this one knows %d)",
                       h->history.where, *version, TTM_HISTORY_VERSION);
}

/* ---- Adding ------------------------------------------------------------------------------------------------------- */

/* Changing the mode takes the file for itself; SQLite does not wait for that by its own. */
static int use_wal(sqlite_history *h, ttm_error *err) {
  for (int tried = 0;; tried++) {
    if (sqlite3_exec(h->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL) == SQLITE_OK) return TTM_OK;
    if (sqlite3_errcode(h->db) != SQLITE_BUSY || tried == WAIT_MS / 20) return fail(h, err);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  }
}

static int migrate(sqlite_history *h, ttm_error *err) {
  int version = 0;
  ttm_buf sql = {0};
  int status = check_version(h, &version, err);
  if (status || version == TTM_HISTORY_VERSION) return status;
  ttm_schema_migrate(&sql, ttm_history_schema, TTM_HISTORY_TABLES, version, TTM_HISTORY_VERSION, TTM_SQL_SQLITE);
  ttm_buf_printf(&sql, "PRAGMA user_version=%d;", TTM_HISTORY_VERSION);
  ttm_buf_char(&sql, '\0');
  status = sql.failed ? ttm_error_nomem(err) : execute(h, sql.at, err);
  ttm_buf_free(&sql);
  return status;
}

static int bind(sqlite3_stmt *stmt, int at, ttm_column_type type, const ttm_history_cell *cell) {
  if (!cell->known) return sqlite3_bind_null(stmt, at);
  if (type == TTM_COLUMN_NUMBER) return sqlite3_bind_int64(stmt, at, cell->number);
  return sqlite3_bind_text(stmt, at, cell->text.p, (int)cell->text.n, SQLITE_STATIC);
}

static int prepare(sqlite_history *h, sqlite3_stmt **out, ttm_buf *sql, ttm_error *err) {
  ttm_buf_char(sql, '\0');
  int status = sql->failed ? ttm_error_nomem(err) : TTM_OK;
  if (!status && sqlite3_prepare_v2(h->db, sql->at, -1, out, NULL) != SQLITE_OK) status = fail(h, err);
  ttm_buf_free(sql);
  return status;
}

static int remove_run(sqlite_history *h, const char *table, const char *run, ttm_error *err) {
  sqlite3_stmt *stmt = NULL;
  ttm_buf sql = {0};
  ttm_buf_printf(&sql, "DELETE FROM %s WHERE run=$1", table);
  int status = prepare(h, &stmt, &sql, err);
  if (!status && (sqlite3_bind_text(stmt, 1, run, -1, SQLITE_STATIC) || sqlite3_step(stmt) != SQLITE_DONE))
    status = fail(h, err);
  sqlite3_finalize(stmt);
  return status;
}

static int insert(sqlite_history *h, const ttm_schema_table *table, const ttm_history_cell *cells, size_t n,
                  ttm_error *err) {
  sqlite3_stmt *stmt = NULL;
  ttm_buf sql = {0};
  ttm_schema_insert(&sql, table);
  int status = prepare(h, &stmt, &sql, err);
  for (size_t at = 0; at < n && !status; at += table->count) {
    for (size_t c = 0; c < table->count; c++)
      if (bind(stmt, (int)c + 1, table->columns[c].type, &cells[at + c]) != SQLITE_OK) status = fail(h, err);
    if (!status && sqlite3_step(stmt) != SQLITE_DONE) status = fail(h, err);
    sqlite3_reset(stmt);
  }
  sqlite3_finalize(stmt);
  return status;
}

static int end_transaction(sqlite_history *h, int status, ttm_error *err) {
  if (!status) status = execute(h, "COMMIT", err);
  if (status) sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

static int forget(ttm_history *history, const char *run, ttm_error *err) {
  sqlite_history *h = sqlite_of(history);
  int status = execute(h, "BEGIN IMMEDIATE", err);
  if (status) return status;
  status = migrate(h, err);
  for (int t = 0; t < TTM_HISTORY_TABLES && !status; t++) status = remove_run(h, ttm_history_schema[t].name, run, err);
  return end_transaction(h, status, err);
}

static int add(ttm_history *history, const ttm_history_rows *rows, ttm_error *err) {
  sqlite_history *h = sqlite_of(history);
  int status = execute(h, "BEGIN IMMEDIATE", err);
  if (status) return status;
  status = migrate(h, err);
  for (int t = 0; t < TTM_HISTORY_TABLES && !status; t++) {
    status = remove_run(h, ttm_history_schema[t].name, rows->run, err);
    if (!status) status = insert(h, &ttm_history_schema[t], rows->at[t].at, rows->at[t].n, err);
  }
  return end_transaction(h, status, err);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------- */

static ttm_history_cell cell_of(sqlite3_stmt *stmt, int at, ttm_column_type type) {
  if (sqlite3_column_type(stmt, at) == SQLITE_NULL) return (ttm_history_cell){.known = false};
  if (type == TTM_COLUMN_NUMBER) return (ttm_history_cell){.known = true, .number = sqlite3_column_int64(stmt, at)};
  const char *text = (const char *)sqlite3_column_text(stmt, at);
  return (ttm_history_cell){.known = text, .text = {text, text ? (size_t)sqlite3_column_bytes(stmt, at) : 0}};
}

enum { MOST_COLUMNS = 32 };

static int query(ttm_history *history, const char *sql, const ttm_str *params, size_t n, const ttm_column_type *types,
                 size_t columns, ttm_history_take *take, void *context, ttm_error *err) {
  sqlite_history *h = sqlite_of(history);
  sqlite3_stmt *stmt = NULL;
  ttm_history_cell cells[MOST_COLUMNS];
  int status = sqlite3_prepare_v2(h->db, sql, -1, &stmt, NULL) == SQLITE_OK ? TTM_OK : fail(h, err);
  for (size_t i = 0; i < n && !status; i++)
    if (sqlite3_bind_text(stmt, (int)i + 1, params[i].n ? params[i].p : "", (int)params[i].n, SQLITE_STATIC))
      status = fail(h, err);
  while (!status) {
    int step = sqlite3_step(stmt);
    if (step == SQLITE_DONE) break;
    if (step != SQLITE_ROW) status = fail(h, err);
    for (size_t c = 0; c < columns && !status; c++) cells[c] = cell_of(stmt, (int)c, types[c]);
    if (!status) status = take(context, cells);
  }
  sqlite3_finalize(stmt);
  return status;
}

/* ---- Opening ------------------------------------------------------------------------------------------------------ */

/* Whoever closes the file alone copies what was added into it and waits for the disk: every tenth run or so, when the log beside it has grown. */
static void close_sqlite(ttm_history *history) {
  sqlite_history *h = sqlite_of(history);
  ttm_buf log = {0};
  struct stat st;
  ttm_buf_printf(&log, "%s-wal", history->where);
  ttm_buf_char(&log, '\0');
  bool small = !log.failed && !stat(log.at, &st) && st.st_size < WAL_BYTES;
  sqlite3_db_config(h->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, small, NULL);
  sqlite3_close(h->db);
  ttm_buf_free(&log);
}

static int make_folder(const char *path, ttm_error *err) {
  const char *slash = strrchr(path, '/');
  if (!slash || slash == path) return TTM_OK;
  char *folder = ttm_str_copy((ttm_str){path, (size_t)(slash - path)});
  int status = folder ? ttm_folder_make(folder, err) : ttm_error_nomem(err);
  ttm_free(folder);
  return status;
}

/* To read, a file that is there must be one of ours. */
static int check_readable(sqlite_history *h, ttm_error *err) {
  int version = 0;
  int status = check_version(h, &version, err);
  if (status || version) return status;
  return ttm_error_set(err, TTM_ENODATA, "'%s' holds no runs", h->history.where);
}

int ttm_history_open_sqlite(ttm_history **out, const char *path, bool write, ttm_error *err) {
  static const ttm_history_engine engine = {add, query, forget, close_sqlite, "LIKE"};
  struct stat st;
  sqlite_history *h;
  *out = NULL;
  if (!write && stat(path, &st) && errno == ENOENT)
    return ttm_error_set(err, TTM_ENODATA, "no history yet: 'ttmem analyze', 'run', 'fit' and 'train' add to '%s'",
                         path);
  int status = write ? make_folder(path, err) : TTM_OK;
  if (status) return status;
  if (!(h = ttm_alloc(sizeof *h)) || !(h->history.where = ttm_str_copy(ttm_str_of(path)))) {
    ttm_free(h);
    return ttm_error_nomem(err);
  }
  h->history.engine = &engine;
  int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  if (sqlite3_open_v2(path, &h->db, flags, NULL) != SQLITE_OK) status = fail(h, err);
  if (!status) {
    sqlite3_busy_timeout(h->db, WAIT_MS);
    status = write ? use_wal(h, err) : check_readable(h, err);
  }
  if (!status && write) status = execute(h, "PRAGMA synchronous=NORMAL", err);
  if (status)
    ttm_history_close(&h->history);
  else
    *out = &h->history;
  return status;
}
