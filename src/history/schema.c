/* SPDX-License-Identifier: Apache-2.0 */
#include "history/schema.h"

#define NUMBER(name) \
  { name, TTM_COLUMN_NUMBER, false, 0 }
#define TEXT(name) \
  { name, TTM_COLUMN_TEXT, false, 0 }
#define KNOWN_NUMBER(name) \
  { name, TTM_COLUMN_NUMBER, true, 0 }
#define KNOWN_TEXT(name) \
  { name, TTM_COLUMN_TEXT, true, 0 }

static const ttm_column RUN[] = {
    KNOWN_TEXT("run"),
    KNOWN_NUMBER("time_us"),
    KNOWN_TEXT("model"),
    KNOWN_TEXT("board"),
    KNOWN_TEXT("method"),
    KNOWN_TEXT("command"),
    KNOWN_TEXT("name"),
    TEXT("source"),
    NUMBER("source_bytes"),
    TEXT("kind"),
    TEXT("host"),
    TEXT("git_commit"),
    KNOWN_TEXT("ttmem"),
    NUMBER("chips"),
    KNOWN_NUMBER("ranks"),
    KNOWN_NUMBER("program_runs"),
    KNOWN_NUMBER("operations"),
    KNOWN_NUMBER("failures"),
    TEXT("failure"),
    NUMBER("exit_status"),
    TEXT("report"),
};
static const ttm_column DEVICE[] = {
    KNOWN_TEXT("run"),
    KNOWN_NUMBER("device"),
    NUMBER("rank"),
    TEXT("host"),
    NUMBER("dram_banks"),
    NUMBER("dram_capacity_bytes"),
    NUMBER("dram_peak_bytes"),
    NUMBER("l1_banks"),
    NUMBER("l1_capacity_bytes"),
    NUMBER("l1_peak_bytes"),
    KNOWN_NUMBER("failures"),
};
static const ttm_column PEAK[] = {
    KNOWN_TEXT("run"),
    KNOWN_TEXT("memory"),
    NUMBER("banks"),
    NUMBER("capacity_bytes"),
    KNOWN_NUMBER("peak_bytes"),
    NUMBER("largest_free_bytes"),
    KNOWN_NUMBER("at_least"),
    KNOWN_TEXT("basis"),
    NUMBER("rank"),
    NUMBER("line"),
    NUMBER("operation"),
    TEXT("operation_name"),
    TEXT("place"),
    NUMBER("raised_bytes"),
};
static const ttm_column PROGRAM[] = {
    KNOWN_TEXT("run"),    KNOWN_NUMBER("position"), KNOWN_TEXT("program"), NUMBER("rank"),
    KNOWN_NUMBER("runs"), KNOWN_NUMBER("warm_up"),  NUMBER("peak_bytes"),  NUMBER("leak_bytes"),
};
static const ttm_column EFFECT[] = {
    KNOWN_TEXT("run"),
    KNOWN_TEXT("memory"),
    KNOWN_NUMBER("position"),
    KNOWN_TEXT("operation_name"),
    KNOWN_TEXT("place"),
    KNOWN_NUMBER("added_bytes"),
    KNOWN_NUMBER("most_bytes"),
    KNOWN_NUMBER("places"),
    KNOWN_NUMBER("runs"),
    NUMBER("operation"),
    NUMBER("line"),
};
static const ttm_column ALIVE[] = {
    KNOWN_TEXT("run"),      KNOWN_TEXT("memory"),    KNOWN_NUMBER("position"), KNOWN_TEXT("class"), KNOWN_TEXT("name"),
    TEXT("operation_name"), KNOWN_NUMBER("tensors"), KNOWN_NUMBER("bytes"),    NUMBER("operation"),
};
static const ttm_column STATEMENT[] = {
    KNOWN_TEXT("run"),   KNOWN_NUMBER("position"), KNOWN_TEXT("id"), KNOWN_TEXT("topic"), KNOWN_TEXT("severity"),
    KNOWN_TEXT("basis"), KNOWN_TEXT("headline"),   TEXT("detail"),   NUMBER("line"),      NUMBER("operation"),
};

#define TABLE(name, keys, columns) \
  { name, 1, keys, sizeof columns / sizeof *columns, columns }
const ttm_schema_table ttm_history_schema[TTM_HISTORY_TABLES] = {
    [TTM_HISTORY_RUN] = TABLE("run", 1, RUN),
    [TTM_HISTORY_DEVICE] = TABLE("device", 2, DEVICE),
    [TTM_HISTORY_PEAK] = TABLE("peak", 2, PEAK),
    [TTM_HISTORY_PROGRAM] = TABLE("program", 2, PROGRAM),
    [TTM_HISTORY_EFFECT] = TABLE("operation_effect", 3, EFFECT),
    [TTM_HISTORY_ALIVE] = TABLE("live_at_peak", 3, ALIVE),
    [TTM_HISTORY_STATEMENT] = TABLE("statement", 2, STATEMENT),
};

static void put_column(ttm_buf *out, const ttm_column *c, bool can_require, ttm_sql sql) {
  const char *text = sql == TTM_SQL_POSTGRES ? "text COLLATE \"C\"" : "text";
  ttm_buf_printf(out, "%s %s", c->name, c->type == TTM_COLUMN_NUMBER ? "bigint" : text);
  if (c->known && can_require) ttm_buf_puts(out, " NOT NULL");
}

static void create(ttm_buf *out, const ttm_schema_table *t, int to, ttm_sql sql) {
  ttm_buf_printf(out, "CREATE TABLE %s(", t->name);
  for (size_t i = 0; i < t->count; i++)
    if (t->columns[i].since <= to) put_column(out, &t->columns[i], true, sql), ttm_buf_puts(out, ", ");
  ttm_buf_puts(out, "PRIMARY KEY(");
  for (size_t i = 0; i < t->keys; i++) ttm_buf_printf(out, "%s%s", i ? ", " : "", t->columns[i].name);
  ttm_buf_puts(out, "));\n");
}

/* The runs of a model, pages of all runs, and the runs whose reports were in one folder. */
static void index_runs(ttm_buf *out, int from, int to) {
  if (from < 1) ttm_buf_puts(out, "CREATE INDEX run_by_model ON run(model, board, time_us);\n");
  if (from < 2 && to >= 2)
    ttm_buf_puts(
        out, "CREATE INDEX run_by_time ON run(time_us, run);\nCREATE INDEX run_by_report ON run(report, time_us);\n");
}

void ttm_schema_migrate(ttm_buf *out, const ttm_schema_table *tables, size_t n, int from, int to, ttm_sql sql) {
  for (size_t t = 0; t < n; t++) {
    if (tables[t].since > from && tables[t].since <= to) {
      create(out, &tables[t], to, sql);
      continue;
    }
    for (size_t i = 0; i < tables[t].count; i++) {
      const ttm_column *c = &tables[t].columns[i];
      if (c->since <= from || c->since > to) continue;
      ttm_buf_printf(out, "ALTER TABLE %s ADD COLUMN ", tables[t].name);
      put_column(out, c, false, sql); /* the rows that are there have none */
      ttm_buf_puts(out, ";\n");
    }
  }
  if (tables == ttm_history_schema) index_runs(out, from, to);
}

void ttm_schema_insert(ttm_buf *out, const ttm_schema_table *table) {
  ttm_buf_printf(out, "INSERT INTO %s(", table->name);
  for (size_t i = 0; i < table->count; i++) ttm_buf_printf(out, "%s%s", i ? "," : "", table->columns[i].name);
  ttm_buf_puts(out, ") VALUES(");
  for (size_t i = 0; i < table->count; i++) ttm_buf_printf(out, "%s$%zu", i ? "," : "", i + 1);
  ttm_buf_puts(out, ")");
}
