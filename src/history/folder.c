/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a fleet as a folder of Parquet files, one per run and table: TABLE/date=2026-11-16/model=llama/board=n150/RUN.parquet. Any number of machines may
 * write to it at once, and DuckDB, ClickHouse, Spark, Trino and BigQuery read it as it is; ttmem does not. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <time.h>

#include "base/out_file.h"
#include "history/store.h"
#include "report/export/export.h"
#include "store/folder.h"

enum { MOST_COLUMNS = 32 };

/* ---- A table as an Arrow batch ------------------------------------------------------------------------------------ */

/* Buffers of one column: which rows are known, numbers or offsets, bytes. */
typedef struct column {
  ttm_buf known, values, bytes;
  const void *buffers[3];
  struct ArrowSchema schema;
  struct ArrowArray array;
} column;

static void put_row(column *c, ttm_column_type type, const ttm_history_cell *cell, size_t row) {
  if (row % 8 == 0) ttm_buf_char(&c->known, 0);
  if (!c->known.failed && cell->known) c->known.at[row / 8] = (char)(c->known.at[row / 8] | 1 << row % 8);
  c->array.null_count += !cell->known;
  if (type == TTM_COLUMN_NUMBER)
    return ttm_buf_put(&c->values, (ttm_str){(const char *)&cell->number, sizeof cell->number});
  if (cell->known) ttm_buf_put(&c->bytes, cell->text);
  int32_t end = (int32_t)c->bytes.n;
  ttm_buf_put(&c->values, (ttm_str){(const char *)&end, sizeof end});
}

/* False without memory. */
static bool fill_column(column *c, const ttm_schema_table *table, size_t at, const ttm_history_cell *cells,
                        size_t rows) {
  const ttm_column *wanted = &table->columns[at];
  bool text = wanted->type == TTM_COLUMN_TEXT;
  int32_t zero = 0;
  if (text) ttm_buf_put(&c->values, (ttm_str){(const char *)&zero, sizeof zero});
  for (size_t row = 0; row < rows; row++) put_row(c, wanted->type, &cells[row * table->count + at], row);
  c->buffers[0] = c->known.at;
  c->buffers[1] = c->values.at;
  c->buffers[2] = c->bytes.at ? c->bytes.at : "";
  c->schema = (struct ArrowSchema){
      .format = text ? "u" : "l", .name = wanted->name, .flags = wanted->known ? 0 : ARROW_FLAG_NULLABLE};
  c->array.length = (int64_t)rows;
  c->array.n_buffers = text ? 3 : 2;
  c->array.buffers = c->buffers;
  return !c->known.failed && !c->values.failed && !c->bytes.failed;
}

static int write_table(const ttm_schema_table *table, const ttm_history_cell *cells, size_t n, ttm_out *out,
                       ttm_error *err) {
  column columns[MOST_COLUMNS] = {0};
  struct ArrowSchema *schemas[MOST_COLUMNS];
  struct ArrowArray *arrays[MOST_COLUMNS];
  size_t rows = n / table->count;
  bool fine = true;
  for (size_t c = 0; c < table->count; c++) {
    fine &= fill_column(&columns[c], table, c, cells, rows);
    schemas[c] = &columns[c].schema;
    arrays[c] = &columns[c].array;
  }
  struct ArrowSchema schema = {.format = "+s", .n_children = (int64_t)table->count, .children = schemas};
  struct ArrowArray batch = {.length = (int64_t)rows, .n_children = (int64_t)table->count, .children = arrays};
  int status = fine ? ttm_parquet_batch(&schema, &batch, out, err) : ttm_error_nomem(err);
  for (size_t c = 0; c < table->count; c++) {
    ttm_buf_free(&columns[c].known);
    ttm_buf_free(&columns[c].values);
    ttm_buf_free(&columns[c].bytes);
  }
  return status;
}

/* ---- Its place ---------------------------------------------------------------------------------------------------- */

/* A value as Hive and Spark write it into a path; "unknown" for an empty one. */
static void put_value(ttm_buf *out, ttm_str text) {
  if (!text.n) return ttm_buf_puts(out, "unknown");
  for (size_t i = 0; i < text.n; i++) {
    unsigned char c = (unsigned char)text.p[i];
    bool plain = c > ' ' && c < 0x7F && !strchr("\"#%'*/:=?\\{[]^", c) && !(i == 0 && c == '.');
    plain ? ttm_buf_char(out, (char)c) : ttm_buf_printf(out, "%%%02X", c);
  }
}

static void put_folder(ttm_buf *out, const char *root, const char *table, const ttm_history_cell *run) {
  enum { TIME = 1, MODEL = 2, BOARD = 3 }; /* columns of table run */
  time_t seconds = (time_t)(run[TIME].number / 1000000);
  struct tm day;
  char date[16] = "unknown";
  if (gmtime_r(&seconds, &day)) strftime(date, sizeof date, "%Y-%m-%d", &day);
  ttm_buf_printf(out, "%s/%s/date=%s/model=", root, table, date);
  put_value(out, run[MODEL].text);
  ttm_buf_puts(out, "/board=");
  put_value(out, run[BOARD].text);
  ttm_buf_char(out, '\0');
}

static int add_table(const ttm_history *history, const ttm_history_rows *rows, ttm_history_table t, ttm_error *err) {
  const ttm_schema_table *table = &ttm_history_schema[t];
  ttm_buf folder = {0};
  ttm_out out;
  if (!rows->at[t].n) return TTM_OK;
  put_folder(&folder, history->where, table->name, rows->at[TTM_HISTORY_RUN].at);
  char *path = folder.failed ? NULL : ttm_folder_join(folder.at, rows->run, ".parquet");
  int status = path ? ttm_folder_make(folder.at, err) : ttm_error_nomem(err);
  if (!status) status = ttm_out_open(&out, path, err);
  out.sync = true;
  ttm_buf_free(&folder);
  ttm_free(path);
  if (status) return status;
  status = write_table(table, rows->at[t].at, rows->at[t].n, &out, err);
  if (!status) return ttm_out_close(&out, err);
  ttm_out_abandon(&out);
  return status;
}

/* ---- The engine --------------------------------------------------------------------------------------------------- */

/* Table run comes last: a run that is listed is whole. */
static int add(ttm_history *history, const ttm_history_rows *rows, ttm_error *err) {
  int status = TTM_OK;
  for (int t = TTM_HISTORY_TABLES; t-- && !status;) status = add_table(history, rows, (ttm_history_table)t, err);
  return status;
}

static int refuse(const char *where, ttm_error *err) {
  return ttm_error_set(err, TTM_EUSAGE,
                       "'%s' is a folder of Parquet files, which ttmem only writes; docs/history.md has the queries "
                       "for DuckDB, ClickHouse "
                       "and Spark",
                       where);
}

static int query(ttm_history *history, const char *sql, const ttm_str *params, size_t n, const ttm_column_type *types,
                 size_t columns, ttm_history_take *take, void *context, ttm_error *err) {
  (void)sql, (void)params, (void)n, (void)types, (void)columns, (void)take, (void)context;
  return refuse(history->where, err);
}

static int forget(ttm_history *history, const char *run, ttm_error *err) {
  (void)run;
  return refuse(history->where, err);
}

static void close_folder(ttm_history *history) { (void)history; }

int ttm_history_open_folder(ttm_history **out, const char *path, bool write, ttm_error *err) {
  static const ttm_history_engine engine = {add, query, forget, close_folder, "LIKE"};
  *out = NULL;
  if (!write) return refuse(path, err);
  ttm_history *h = ttm_alloc(sizeof *h);
  if (!h || !(h->where = ttm_str_copy(ttm_str_of(path)))) return ttm_free(h), ttm_error_nomem(err);
  h->engine = &engine;
  *out = h;
  return TTM_OK;
}
