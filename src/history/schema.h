/* SPDX-License-Identifier: Apache-2.0 */
/* What the history keeps of a run: one table of tables, from which SQLite's and PostgreSQL's statements and Parquet's columns follow. Each column
 * is explained in docs/history.md. A new column or table gets `since` the next version; what earlier versions wrote is migrated by adding it. */
#ifndef TTM_HISTORY_SCHEMA_H
#define TTM_HISTORY_SCHEMA_H

#include "base/buf.h"

enum { TTM_HISTORY_VERSION = 2 }; /* 2 added indexes of the runs */

typedef enum ttm_history_table {
  TTM_HISTORY_RUN,
  TTM_HISTORY_DEVICE,
  TTM_HISTORY_PEAK,
  TTM_HISTORY_PROGRAM,
  TTM_HISTORY_EFFECT,
  TTM_HISTORY_ALIVE,
  TTM_HISTORY_STATEMENT,
  TTM_HISTORY_TABLES
} ttm_history_table;

typedef enum ttm_column_type { TTM_COLUMN_NUMBER, TTM_COLUMN_TEXT } ttm_column_type;

typedef struct ttm_column {
  const char *name;
  ttm_column_type type;
  bool known; /* never null */
  int since;
} ttm_column;

/* `since` 0 in a column means: as long as its table. */
typedef struct ttm_schema_table {
  const char *name;
  int since;
  size_t keys; /* so many of the first columns are its key */
  size_t count;
  const ttm_column *columns;
} ttm_schema_table;

extern const ttm_schema_table ttm_history_schema[TTM_HISTORY_TABLES];

/* Texts are ordered by their bytes in both. */
typedef enum ttm_sql { TTM_SQL_SQLITE, TTM_SQL_POSTGRES } ttm_sql;

/* Appends the statements that bring a database of version `from` (0: an empty one) to `to`. PostgreSQL's tables are those of the first schema in the search path. */
void ttm_schema_migrate(ttm_buf *out, const ttm_schema_table *tables, size_t n, int from, int to, ttm_sql sql);

/* "INSERT INTO peak VALUES($1,$2,...)". */
void ttm_schema_insert(ttm_buf *out, const ttm_schema_table *table);

#endif
