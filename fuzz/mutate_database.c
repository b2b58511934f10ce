/* SPDX-License-Identifier: Apache-2.0 */
/* Mutations of an SQLite database: one to four statements on a copy in memory change values, rows, their order, columns and tables; what
 * SQLite makes of it is whole again, so that the input gets past it. Bytes of the pages are changed too, one time in four. */
#include "mutate.h"

#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

enum { STEPS = 1000 }; /* of a thousand instructions each: a statement on a strange schema ends */

typedef struct database {
  sqlite3 *db;
  int steps;
  uint64_t random;
} database;

static size_t below(database *d, size_t limit) { return mutate_below(&d->random, limit); }

static int count_step(void *d) { return --((database *)d)->steps < 0; }

/* A text of the database: the row that chance gives of the statement's. "" when there is none. */
static void ask(database *d, char *out, size_t cap, const char *sql) {
  sqlite3_stmt *rows = NULL;
  out[0] = '\0';
  if (!sqlite3_prepare_v2(d->db, sql, -1, &rows, NULL)) {
    for (size_t skipped = below(d, 24), tries = 0; tries < 48; tries++) {
      if (sqlite3_step(rows) != SQLITE_ROW && (!out[0] || sqlite3_reset(rows) || sqlite3_step(rows) != SQLITE_ROW))
        break;
      const unsigned char *text = sqlite3_column_text(rows, 0);
      snprintf(out, cap, "%s", text ? (const char *)text : "");
      if (tries == skipped) break;
    }
  }
  sqlite3_finalize(rows);
}

static void some_table(database *d, char out[static 64]) {
  ask(d, out, 64, "SELECT name FROM sqlite_master WHERE type='table'");
}

static void some_column(database *d, const char *table, char out[static 64]) {
  char sql[256];
  sqlite3_snprintf(sizeof sql, sql, "SELECT name FROM pragma_table_info(%Q)", table);
  ask(d, out, 64, sql);
}

/* An expression for a column: extreme numbers, other types, and texts that are nearly what they were. */
static const char *some_value(database *d) {
  static const char *const values[] = {"NULL",
                                       "0",
                                       "-1",
                                       "1",
                                       "4294967295",
                                       "4294967296",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "1e308",
                                       "0.5",
                                       "''",
                                       "'x'",
                                       "x'00ff80'",
                                       "zeroblob(999)",
                                       "'[]'",
                                       "'{'",
                                       "'18446744073709551616'",
                                       "$1||$1",
                                       "substr($1,1,length($1)/2)",
                                       "substr($1,3)",
                                       "CAST($1 AS BLOB)",
                                       "replace($1,'1','9999999999')",
                                       "replace($1,'0','-')",
                                       "replace($1,'[','[[')",
                                       "replace($1,',','')",
                                       "replace($1,'DRAM','L1')",
                                       "$1+1",
                                       "$1-1",
                                       "$1*65536",
                                       "-$1",
                                       "rowid",
                                       "(SELECT max($1) FROM $2)",
                                       "(SELECT min($1) FROM $2)"};
  return values[below(d, sizeof values / sizeof *values)];
}

/* $1 column, $2 table, $3 other table, $4 the value; $5 and $6 choose the rows. */
static const char *some_statement(database *d) {
  static const char *const statements[] = {
      "UPDATE OR REPLACE $2 SET $1=$4 WHERE rowid%$5=$6",
      "UPDATE OR IGNORE $2 SET $1=$4 WHERE rowid%$5=$6",
      "UPDATE OR IGNORE $2 SET $1=$4",
      "UPDATE OR IGNORE $2 SET $1=(SELECT $1 FROM $2 AS o WHERE o.rowid%$5=$6)",
      "UPDATE OR IGNORE $2 SET $1=(SELECT $1 FROM $3 AS o WHERE o.rowid%$5=$6)",
      "DELETE FROM $2 WHERE rowid%$5=$6",
      "INSERT OR IGNORE INTO $2 SELECT * FROM $2 WHERE rowid%$5=$6",
      "INSERT OR IGNORE INTO $2($1) VALUES($6)",
      "UPDATE OR IGNORE $2 SET rowid=1000-rowid WHERE rowid%$5=$6",
      "UPDATE OR IGNORE $2 SET rank=rowid%$5",
      "ALTER TABLE $2 DROP COLUMN $1",
      "ALTER TABLE $2 ADD COLUMN rank",
      "ALTER TABLE $2 RENAME COLUMN $1 TO operation_id",
      "ALTER TABLE $2 RENAME TO x$6",
      "CREATE TABLE y$6 AS SELECT * FROM $2; DROP TABLE $2; ALTER TABLE y$6 RENAME TO $2",
      "CREATE TABLE y$6 AS SELECT * FROM $2; DROP TABLE $2; CREATE VIEW $2 AS SELECT * FROM y$6",
      "DROP TABLE $2",
      "VACUUM",
  };
  return statements[below(d, sizeof statements / sizeof *statements)];
}

static char *fill(const char *form, const char *const with[6]) {
  sqlite3_str *out = sqlite3_str_new(NULL);
  for (; *form; form++) {
    if (*form == '$')
      sqlite3_str_appendall(out, with[*++form - '1']);
    else
      sqlite3_str_appendchar(out, 1, *form);
  }
  return sqlite3_str_finish(out);
}

static void change(database *d) {
  char table[64], other[64], column[64], every[8], which[8];
  some_table(d, table);
  some_table(d, other);
  some_column(d, table, column);
  size_t rows = 1 + below(d, 4);
  snprintf(every, sizeof every, "%zu", rows);
  snprintf(which, sizeof which, "%zu", below(d, rows));
  const char *with[6] = {column, table, other, "", every, which};
  char *value = fill(some_value(d), with);
  if (value) with[3] = value;
  char *sql = fill(some_statement(d), with);
  d->steps = STEPS;
  if (sql) sqlite3_exec(d->db, sql, NULL, NULL, NULL); /* what it refuses leaves the database as it was */
  sqlite3_free(sql);
  sqlite3_free(value);
}

static size_t keep(database *d, uint8_t *data, size_t size, size_t max) {
  sqlite3_int64 n = 0;
  unsigned char *bytes = sqlite3_serialize(d->db, "main", &n, 0);
  if (bytes && n > 0 && (size_t)n <= max) memcpy(data, bytes, size = (size_t)n);
  sqlite3_free(bytes);
  return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
  database d = {.random = seed};
  unsigned char *copy = below(&d, 4) && size ? sqlite3_malloc64(size) : NULL;
  if (!copy || sqlite3_open(":memory:", &d.db)) {
    sqlite3_free(copy);
    sqlite3_close(d.db);
    return LLVMFuzzerMutate(data, size, max);
  }
  memcpy(copy, data, size);
  sqlite3_progress_handler(d.db, 1000, count_step, &d);
  int flags = SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE;
  if (!sqlite3_deserialize(d.db, "main", copy, (sqlite3_int64)size, (sqlite3_int64)size, (unsigned)flags)) {
    for (size_t steps = 1 + below(&d, 4); steps; steps--) change(&d);
    size = keep(&d, data, size, max);
  }
  sqlite3_close(d.db);
  return size;
}
