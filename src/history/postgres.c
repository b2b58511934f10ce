/* SPDX-License-Identifier: Apache-2.0 */
/* The history on a PostgreSQL server, in the schema "ttmem". libpq is opened when a server is named: linking it would make every start of the program load some
 * thirty libraries. Whoever may create the schema makes and migrates the tables; others need no more than to read, insert and delete rows. */
#include "history/store.h"

#if !__has_include(<libpq-fe.h>) /* a static program, which can open no library */
int ttm_history_open_postgres(ttm_history **out, const char *url, bool write, ttm_error *err) {
  (void)out, (void)url, (void)write;
  return ttm_error_set(
      err, TTM_EIO,
      "this ttmem is static and reaches no PostgreSQL server; use an SQLite file, or the Debian package "
      "or the wheel of ttmem (pipx install ttmem)");
}
#else
#include <dlfcn.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
#define PQ_CALLS(X) \
  X(connectdbParams) X(status) X(errorMessage) X(finish) X(exec) X(execParams) X(resultStatus) X(resultErrorField) X(ntuples) X(getvalue) X(getisnull) \
  X(getlength) X(clear) X(putCopyData) X(putCopyEnd) X(getResult)
/* clang-format on */

typedef struct pq_calls {
  void *library;
#define MEMBER(name) __typeof__(&PQ##name) name;
  PQ_CALLS(MEMBER)
#undef MEMBER
} pq_calls;

typedef struct pg_history {
  ttm_history history;
  pq_calls pq;
  PGconn *conn;
} pg_history;

enum { TEXT_OID = 25, MOST_PARAMS = 18, MOST_COLUMNS = 32 };

static pg_history *pg_of(ttm_history *history) { return (pg_history *)history; }

static int open_library(pq_calls *pq, ttm_error *err) {
  pq->library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  bool all = pq->library != NULL;
#define LOOK_UP(name) \
  if (all) *(void **)&pq->name = dlsym(pq->library, "PQ" #name), all = pq->name != NULL;
  PQ_CALLS(LOOK_UP)
#undef LOOK_UP
  if (all) return TTM_OK;
  return ttm_error_set(err, TTM_EIO,
                       "a PostgreSQL store needs the library libpq, which is not here: apt-get install libpq5");
}

/* The first line of what the server says. */
static int fail(pg_history *h, ttm_error *err) {
  ttm_str why = ttm_str_of(h->pq.errorMessage(h->conn));
  why = ttm_str_trim(ttm_str_first(why, ttm_str_find_char(why, '\n')));
  return ttm_error_set(err, TTM_EIO, "the history %s cannot be used: %.*s", h->history.where, TTM_ARGS(why));
}

/* Runs statements; frees the result. */
static int execute(pg_history *h, const char *sql, ttm_error *err) {
  PGresult *result = h->pq.exec(h->conn, sql);
  ExecStatusType status = h->pq.resultStatus(result);
  h->pq.clear(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? TTM_OK : fail(h, err);
}

static ttm_history_cell cell_of(const pg_history *h, const PGresult *result, int row, int column,
                                ttm_column_type type) {
  if (h->pq.getisnull(result, row, column)) return (ttm_history_cell){.known = false};
  const char *text = h->pq.getvalue(result, row, column);
  if (type == TTM_COLUMN_NUMBER) return (ttm_history_cell){.known = true, .number = strtoll(text, NULL, 10)};
  return (ttm_history_cell){.known = true, .text = {text, (size_t)h->pq.getlength(result, row, column)}};
}

static int query(ttm_history *history, const char *sql, const ttm_str *params, size_t n, const ttm_column_type *types,
                 size_t columns, ttm_history_take *take, void *context, ttm_error *err) {
  pg_history *h = pg_of(history);
  Oid oids[MOST_PARAMS] = {0};
  char *values[MOST_PARAMS] = {NULL};
  ttm_history_cell cells[MOST_COLUMNS];
  int status = TTM_OK;
  for (size_t i = 0; i < n && !status; i++)
    if (oids[i] = TEXT_OID, !(values[i] = ttm_str_copy(params[i]))) status = TTM_ENOMEM;
  PGresult *result =
      status ? NULL : h->pq.execParams(h->conn, sql, (int)n, oids, (const char *const *)values, NULL, NULL, 0);
  if (!status && h->pq.resultStatus(result) != PGRES_TUPLES_OK) status = fail(h, err);
  for (int row = 0; !status && row < h->pq.ntuples(result); row++) {
    for (size_t c = 0; c < columns; c++) cells[c] = cell_of(h, result, row, (int)c, types[c]);
    status = take(context, cells);
  }
  h->pq.clear(result);
  for (size_t i = 0; i < n; i++) ttm_free(values[i]);
  return status;
}

/* ---- The schema --------------------------------------------------------------------------------------------------- */

static int take_number(void *context, const ttm_history_cell *cell) {
  return *(int64_t *)context = cell->number, TTM_OK;
}

static int number_of(pg_history *h, const char *sql, int64_t *out, ttm_error *err) {
  static const ttm_column_type types[] = {TTM_COLUMN_NUMBER};
  return query(&h->history, sql, NULL, 0, types, 1, take_number, out, err);
}

/* 0 when there are no tables yet. */
static int read_version(pg_history *h, int64_t *version, ttm_error *err) {
  int64_t there = 0;
  *version = 0;
  int status = number_of(
      h, "SELECT count(*) FROM pg_tables WHERE schemaname = 'ttmem' AND tablename = 'schema_version'", &there, err);
  if (!status && there) status = number_of(h, "SELECT max(version) FROM ttmem.schema_version", version, err);
  if (status || *version <= TTM_HISTORY_VERSION) return status;
  return ttm_error_set(err, TTM_EFORMAT,
                       "the history %s was written by a later ttmem (version %d of its tables, this one knows %d)",
                       h->history.where, (int)*version, TTM_HISTORY_VERSION);
}

/* Inside the transaction; one at a time. */
static int migrate(pg_history *h, ttm_error *err) {
  int64_t version;
  ttm_buf sql = {0};
  int status = read_version(h, &version, err);
  if (status || version == TTM_HISTORY_VERSION) return status;
  status = execute(h, "SELECT pg_advisory_xact_lock(7488867)", err); /* then somebody else may have done it */
  if (!status) status = read_version(h, &version, err);
  if (status || version == TTM_HISTORY_VERSION) return status;
  ttm_buf_puts(
      &sql,
      "CREATE SCHEMA IF NOT EXISTS ttmem; CREATE TABLE IF NOT EXISTS ttmem.schema_version(version int PRIMARY KEY);\n");
  ttm_schema_migrate(&sql, ttm_history_schema, TTM_HISTORY_TABLES, (int)version, TTM_HISTORY_VERSION, TTM_SQL_POSTGRES);
  ttm_buf_printf(&sql, "INSERT INTO ttmem.schema_version VALUES(%d);", TTM_HISTORY_VERSION);
  ttm_buf_char(&sql, '\0');
  status = sql.failed ? ttm_error_nomem(err) : execute(h, sql.at, err);
  ttm_buf_free(&sql);
  return status;
}

/* ---- Adding ------------------------------------------------------------------------------------------------------- */

/* A cell of COPY's text form. */
static void put_cell(ttm_buf *out, ttm_column_type type, const ttm_history_cell *cell) {
  if (!cell->known) return ttm_buf_puts(out, "\\N");
  if (type == TTM_COLUMN_NUMBER) return ttm_buf_printf(out, "%lld", (long long)cell->number);
  for (size_t i = 0; i < cell->text.n; i++) {
    char c = cell->text.p[i];
    const char *escaped = c == '\t' ? "\\t" : c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\\' ? "\\\\" : NULL;
    escaped ? ttm_buf_puts(out, escaped) : ttm_buf_char(out, c);
  }
}

static int end_copy(pg_history *h, ttm_error *err) {
  int status = h->pq.putCopyEnd(h->conn, NULL) == 1 ? TTM_OK : fail(h, err);
  for (PGresult *result; (result = h->pq.getResult(h->conn)); h->pq.clear(result))
    if (!status && h->pq.resultStatus(result) != PGRES_COMMAND_OK) status = fail(h, err);
  return status;
}

static int copy(pg_history *h, const ttm_schema_table *table, const ttm_history_cell *cells, size_t n, ttm_error *err) {
  ttm_buf text = {0};
  if (!n) return TTM_OK;
  ttm_buf_printf(&text, "COPY ttmem.%s(", table->name);
  for (size_t c = 0; c < table->count; c++) ttm_buf_printf(&text, "%s%s", c ? "," : "", table->columns[c].name);
  ttm_buf_puts(&text, ") FROM STDIN");
  ttm_buf_char(&text, '\0');
  if (text.failed) return ttm_buf_free(&text), ttm_error_nomem(err);
  PGresult *result = h->pq.exec(h->conn, text.at);
  int status = h->pq.resultStatus(result) == PGRES_COPY_IN ? TTM_OK : fail(h, err);
  h->pq.clear(result);
  ttm_buf_clear(&text);
  for (size_t i = 0; i < n && !status; i++) {
    size_t c = i % table->count;
    put_cell(&text, table->columns[c].type, &cells[i]);
    ttm_buf_char(&text, c + 1 == table->count ? '\n' : '\t');
  }
  if (!status && !text.failed && h->pq.putCopyData(h->conn, text.at, (int)text.n) != 1) status = fail(h, err);
  if (!status) status = end_copy(h, err);
  if (text.failed) status = ttm_error_nomem(err);
  ttm_buf_free(&text);
  return status;
}

static int remove_run(pg_history *h, const char *run, ttm_error *err) {
  ttm_buf sql = {0};
  int status = TTM_OK;
  for (int t = 0; t < TTM_HISTORY_TABLES && !status; t++) {
    ttm_buf_clear(&sql);
    ttm_buf_printf(&sql, "DELETE FROM ttmem.%s WHERE run = $1", ttm_history_schema[t].name);
    ttm_buf_char(&sql, '\0');
    if (sql.failed) status = ttm_error_nomem(err);
    PGresult *result =
        status ? NULL : h->pq.execParams(h->conn, sql.at, 1, NULL, (const char *const[]){run}, NULL, NULL, 0);
    if (!status && h->pq.resultStatus(result) != PGRES_COMMAND_OK) status = fail(h, err);
    h->pq.clear(result);
  }
  ttm_buf_free(&sql);
  return status;
}

static int end_transaction(pg_history *h, int status, ttm_error *err) {
  if (!status) status = execute(h, "COMMIT", err);
  if (status) execute(h, "ROLLBACK", NULL);
  return status;
}

static int add(ttm_history *history, const ttm_history_rows *rows, ttm_error *err) {
  pg_history *h = pg_of(history);
  int status = execute(h, "BEGIN", err);
  if (!status) status = migrate(h, err);
  if (!status) status = remove_run(h, rows->run, err);
  for (int t = 0; t < TTM_HISTORY_TABLES && !status; t++)
    status = copy(h, &ttm_history_schema[t], rows->at[t].at, rows->at[t].n, err);
  return end_transaction(h, status, err);
}

static int forget(ttm_history *history, const char *run, ttm_error *err) {
  pg_history *h = pg_of(history);
  int status = execute(h, "BEGIN", err);
  if (!status) status = remove_run(h, run, err);
  return end_transaction(h, status, err);
}

/* ---- Opening ------------------------------------------------------------------------------------------------------ */

static void close_postgres(ttm_history *history) {
  pg_history *h = pg_of(history);
  if (h->conn) h->pq.finish(h->conn);
  if (h->pq.library) dlclose(h->pq.library);
}

/* The address without its password. */
static char *hide_password(const char *url) {
  ttm_str all = ttm_str_of(url), user = ttm_str_from(all, ttm_str_find(all, TTM_LIT("://")) + 3);
  size_t at = ttm_str_find_char(ttm_str_first(user, ttm_str_find_char(user, '/')), '@'),
         colon = ttm_str_find_char(user, ':');
  size_t question = ttm_str_find_char(all, '?');
  ttm_buf shown = {0};
  ttm_str path = ttm_str_first(all, question); /* a password may stand among the options, too */
  if (at != TTM_NOT_FOUND && colon < at) {
    ttm_buf_put(&shown, (ttm_str){url, (size_t)(user.p - url) + colon});
    ttm_buf_put(&shown, ttm_str_from(path, (size_t)(user.p - url) + at));
  } else {
    ttm_buf_put(&shown, path);
  }
  return ttm_buf_take(&shown);
}

static int check_readable(pg_history *h, ttm_error *err) {
  int64_t version;
  int status = read_version(h, &version, err);
  if (status || version) return status;
  return ttm_error_set(err, TTM_ENODATA, "the history %s holds no runs", h->history.where);
}

int ttm_history_open_postgres(ttm_history **out, const char *url, bool write, ttm_error *err) {
  static const ttm_history_engine engine = {add, query, forget, close_postgres, "ILIKE"};
  /* What stands behind the address wins over what stands before it. */
  static const char *const names[] = {"connect_timeout", "application_name", "dbname", NULL};
  const char *const values[] = {"10", "ttmem", url, NULL};
  pg_history *h = ttm_alloc(sizeof *h);
  *out = NULL;
  if (!h) return ttm_error_nomem(err);
  h->history.engine = &engine;
  int status = (h->history.where = hide_password(url)) ? open_library(&h->pq, err) : ttm_error_nomem(err);
  if (!status) {
    h->conn = h->pq.connectdbParams(names, values, 1);
    if (h->pq.status(h->conn) != CONNECTION_OK) status = fail(h, err);
  }
  if (!status)
    status = execute(h,
                     "SET search_path = ttmem; SET statement_timeout = 60000; SET client_encoding = 'UTF8'; SET "
                     "client_min_messages = warning",
                     err);
  if (!status && !write) status = check_readable(h, err);
  if (status)
    ttm_history_close(&h->history);
  else
    *out = &h->history;
  return status;
}
#endif
