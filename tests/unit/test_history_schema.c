/* SPDX-License-Identifier: Apache-2.0 */
/* What an earlier version wrote gets the columns and tables of a later one, and keeps its rows. */
#include <sqlite3.h>

#include "history/schema.h"
#include "unit.h"

static const ttm_column run[] = {{"run", TTM_COLUMN_TEXT, true, 0},
                                 {"size", TTM_COLUMN_NUMBER, false, 0},
                                 {"color", TTM_COLUMN_TEXT, true, 2},
                                 {"weight", TTM_COLUMN_NUMBER, false, 3}};
static const ttm_column part[] = {
    {"run", TTM_COLUMN_TEXT, true, 0}, {"at", TTM_COLUMN_NUMBER, true, 0}, {"name", TTM_COLUMN_TEXT, false, 3}};
static const ttm_schema_table tables[] = {{"run", 1, 1, 4, run}, {"part", 2, 2, 3, part}};

static void migrate(sqlite3 *db, int from, int to) {
  ttm_buf sql = {0};
  ttm_schema_migrate(&sql, tables, 2, from, to, TTM_SQL_SQLITE);
  ttm_buf_char(&sql, '\0');
  assert_int_equal(sqlite3_exec(db, sql.at, NULL, NULL, NULL), SQLITE_OK);
  ttm_buf_free(&sql);
}

static void expect(sqlite3 *db, const char *sql, const char *wanted) {
  sqlite3_stmt *stmt;
  ttm_buf told = {0};
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
  while (sqlite3_step(stmt) == SQLITE_ROW) {
    for (int c = 0; c < sqlite3_column_count(stmt); c++) {
      const char *text = (const char *)sqlite3_column_text(stmt, c);
      ttm_buf_printf(&told, "%s,", text ? text : "null");
    }
  }
  sqlite3_finalize(stmt);
  ttm_buf_char(&told, '\0');
  assert_string_equal(told.at, wanted);
  ttm_buf_free(&told);
}

static void test_migrations(void **state) {
  (void)state;
  for (int first = 1; first <= 3; first++) { /* by steps and at once */
    sqlite3 *db;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    migrate(db, 0, first);
    assert_int_equal(sqlite3_exec(db,
                                  first == 1 ? "INSERT INTO run VALUES('a', 7)"
                                             : "INSERT INTO run(run, size, color) VALUES('a', 7, 'red')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    for (int v = first; v < 3; v++) migrate(db, v, v + 1);
    expect(db, "SELECT run, size, color, weight FROM run", first == 1 ? "a,7,null,null," : "a,7,red,null,");
    expect(db, "SELECT name FROM pragma_table_info('part')", "run,at,name,");
    expect(db, "SELECT count(*) FROM part", "0,");
    sqlite3_close(db);
  }
}

/* Every statement that the schema makes is SQL, and inserts as many values as there are columns. */
static void test_inserts(void **state) {
  (void)state;
  sqlite3 *db;
  ttm_buf sql = {0};
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  ttm_schema_migrate(&sql, ttm_history_schema, TTM_HISTORY_TABLES, 0, TTM_HISTORY_VERSION, TTM_SQL_SQLITE);
  ttm_buf_char(&sql, '\0');
  assert_int_equal(sqlite3_exec(db, sql.at, NULL, NULL, NULL), SQLITE_OK);
  for (int t = 0; t < TTM_HISTORY_TABLES; t++) {
    sqlite3_stmt *stmt = NULL;
    ttm_buf_clear(&sql);
    ttm_schema_insert(&sql, &ttm_history_schema[t]);
    ttm_buf_char(&sql, '\0');
    assert_int_equal(sqlite3_prepare_v2(db, sql.at, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_bind_parameter_count(stmt), ttm_history_schema[t].count);
    sqlite3_finalize(stmt);
  }
  sqlite3_close(db);
  ttm_buf_free(&sql);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_migrations), cmocka_unit_test(test_inserts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
