/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/visualizer.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "base/boards.h"
#include "base/error.h"
#include "base/source.h"
#include "parse/json_text.h"

enum { OPERATIONS, BUFFERS, GRAPHS, TRACES, ERRORS, INPUTS, OUTPUTS, CURSORS };

/* Longest text of a row; most rows of devices and metadata, of one operation's tensors, and steps of a search without index that are worth it. */
enum { LONGEST = 512 << 20, MOST_ROWS = 4096, MOST_STEPS = 50 * 1000 * 1000, LONGEST_BESIDE = 1 << 20 };

/* Columns behind rank and operation_id. */
typedef struct table {
  const char *name;
  const char *columns[7];
} table;

static const table TABLES[CURSORS] = {
    [OPERATIONS] = {"operations", {"name"}},
    [BUFFERS] = {"buffers", {"device_id", "address", "max_size_per_bank", "buffer_type", "buffer_layout"}},
    [GRAPHS] = {"captured_graph", {"captured_graph"}},
    [TRACES] = {"stack_traces", {"stack_trace"}},
    [ERRORS] = {"errors", {"error_message", "error_type"}},
    [INPUTS] = {"input_tensors", {"tensor_id"}},
    [OUTPUTS] = {"output_tensors", {"tensor_id"}},
};

/* The rows of a table, one by one. */
typedef struct cursor {
  sqlite3_stmt *rows; /* NULL: there is no such table */
  bool has;           /* a row, which is of ... */
  int64_t rank, id;   /* ... this operation */
} cursor;

struct ttm_visualizer {
  sqlite3 *db;
  const char *path; /* for messages, borrowed */
  bool sorted, unsorted, any_buffers, all_buffers;
  cursor cursors[CURSORS];
  sqlite3_stmt *tensor; /* by id and rank; NULL */
  uint64_t ops, done;   /* operations in all, and those that were given */
  ttm_capture_facts facts;
  const ttm_board *board; /* NULL: unknown */
  char schema[16];
  ttm_visualizer_op op;
  uint64_t taken; /* of its tensors */
  bool lost;      /* a text, for want of memory */
  bool broken;    /* a row of a tensor could not be read */
};

bool ttm_visualizer_detect(ttm_str first) {
  static const char magic[] = "SQLite format 3"; /* with the NUL behind it */
  return ttm_str_starts(first, (ttm_str){magic, sizeof magic});
}

/* ---- Opening ------------------------------------------------------------------------------------------------------- */

static int fail(const ttm_visualizer *v, ttm_error *err) {
  int code = v->db ? sqlite3_errcode(v->db) : SQLITE_NOMEM;
  if (code == SQLITE_NOMEM) return ttm_error_nomem(err);
  bool broken = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  return ttm_error_set(err, broken || code == SQLITE_TOOBIG ? TTM_EFORMAT : TTM_EIO, "%s cannot be read%s: %s.",
                       v->path, broken ? ", the database is damaged or cut" : "", sqlite3_errmsg(v->db));
}

/* The name as a URI: immutable means that SQLite makes no file beside it, whatever its mode. */
static void put_uri(ttm_buf *out, const char *path) {
  ttm_buf_puts(out, *path == '/' ? "file://" : "file:");
  for (; *path; path++) {
    bool plain = (*path >= 'a' && *path <= 'z') || (*path >= 'A' && *path <= 'Z') || ttm_is_digit(*path) ||
                 strchr("/._-", *path);
    plain ? ttm_buf_char(out, *path) : ttm_buf_printf(out, "%%%02X", (unsigned)(unsigned char)*path);
  }
  ttm_buf_puts(out, "?immutable=1");
  ttm_buf_char(out, '\0');
}

/* What another program has not finished writing is not in the file, or half of it is. */
static int check_beside(const char *path, const char *ending, ttm_error *err) {
  ttm_buf name = {0};
  ttm_buf_printf(&name, "%s%s", path, ending);
  ttm_buf_char(&name, '\0');
  int status = name.failed ? ttm_error_nomem(err) : TTM_OK;
  if (!status && !access(name.at, F_OK))
    status = ttm_error_set(err, TTM_EIO,
                           "%s is being written, or its writer did not finish: %s is beside it. Wait for the program, "
                           "or open the database once with\n  sqlite3 FILE 'PRAGMA journal_mode=DELETE'",
                           path, name.at);
  ttm_buf_free(&name);
  return status;
}

static int open_file(ttm_visualizer *v, const char *path, ttm_error *err) {
  ttm_buf uri = {0};
  int status = check_beside(path, "-journal", err);
  if (!status) status = check_beside(path, "-wal", err);
  if (status) return status;
  put_uri(&uri, path);
  status = uri.failed ? ttm_error_nomem(err) : TTM_OK;
  if (!status && sqlite3_open_v2(uri.at, &v->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL))
    status = fail(v, err);
  ttm_buf_free(&uri);
  return status;
}

static int open_bytes(ttm_visualizer *v, ttm_str bytes, ttm_error *err) {
  if (sqlite3_open_v2(":memory:", &v->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL)) return fail(v, err);
  unsigned char *copy = sqlite3_malloc64(bytes.n);
  if (!copy) return ttm_error_nomem(err);
  memcpy(copy, bytes.p, bytes.n);
  if (bytes.n > 19) copy[18] = copy[19] = 1; /* no write-ahead log, which bytes cannot have */
  unsigned flags = SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY;
  return sqlite3_deserialize(v->db, "main", copy, (int64_t)bytes.n, (int64_t)bytes.n, flags) ? fail(v, err) : TTM_OK;
}

/* The database is somebody else's: nothing in it is run, and nothing of it takes more than its share. */
static void guard(sqlite3 *db) {
  static const int settings[][2] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}};
  static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, LONGEST}, {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                                  {SQLITE_LIMIT_COLUMN, 256},     {SQLITE_LIMIT_EXPR_DEPTH, 64},
                                  {SQLITE_LIMIT_ATTACHED, 0},     {SQLITE_LIMIT_WORKER_THREADS, 0}};
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    sqlite3_db_config(db, settings[i][0], settings[i][1], NULL);
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) sqlite3_limit(db, limits[i][0], limits[i][1]);
  sqlite3_exec(db, "PRAGMA cell_size_check=1; PRAGMA mmap_size=0; PRAGMA cache_size=-16384", NULL, NULL, NULL);
}

/* ---- Statements ---------------------------------------------------------------------------------------------------- */

static int prepare(ttm_visualizer *v, sqlite3_stmt **out, ttm_buf *sql, ttm_error *err) {
  ttm_buf_char(sql, '\0');
  int status = sql->failed ? ttm_error_nomem(err) : TTM_OK;
  if (!status && sqlite3_prepare_v2(v->db, sql->at, -1, out, NULL)) status = fail(v, err);
  ttm_buf_free(sql);
  return status;
}

/* A table of rows: no view, which may compute without end, and no virtual table, which may do anything. */
static int is_table(ttm_visualizer *v, const char *name, bool *out, ttm_error *err) {
  sqlite3_stmt *found = NULL;
  ttm_buf sql = {0};
  ttm_buf_printf(&sql, "SELECT 1 FROM sqlite_master WHERE type='table' AND rootpage>0 AND name='%s'", name);
  int status = prepare(v, &found, &sql, err), code = status ? SQLITE_DONE : sqlite3_step(found);
  *out = code == SQLITE_ROW;
  if (!status && code != SQLITE_ROW && code != SQLITE_DONE) status = fail(v, err);
  sqlite3_finalize(found);
  return status;
}

/* "|name|rank|": what columns the table has. Generated ones, which may compute, are not among them. */
static int columns_of(ttm_visualizer *v, const char *name, ttm_buf *out, ttm_error *err) {
  sqlite3_stmt *rows = NULL;
  ttm_buf sql = {0};
  ttm_buf_printf(&sql, "PRAGMA table_info(%s)", name);
  int status = prepare(v, &rows, &sql, err);
  ttm_buf_char(out, '|');
  while (!status && sqlite3_step(rows) == SQLITE_ROW) {
    const char *column = (const char *)sqlite3_column_text(rows, 1);
    if (column && !strchr(column, '|')) ttm_buf_printf(out, "%s|", column);
  }
  sqlite3_finalize(rows);
  return status ? status : out->failed ? ttm_error_nomem(err) : TTM_OK;
}

/* The column, or NULL in its place. */
static bool put_column(ttm_buf *sql, const ttm_buf *columns, const char *name) {
  char wanted[64];
  int n = snprintf(wanted, sizeof wanted, "|%s|", name);
  bool there = ttm_str_contains(ttm_buf_str(columns), (ttm_str){wanted, (size_t)n});
  ttm_buf_puts(sql, there ? name : "NULL");
  return there;
}

/* SELECT the columns, as far as they are there; *out stays NULL without the table, or without one of the first two but
 * for rank. */
static int select_from(ttm_visualizer *v, sqlite3_stmt **out, const char *name, const char *const *wanted, size_t n,
                       const char *rest, ttm_error *err) {
  ttm_buf sql = {0}, columns = {0};
  bool there, usable = true;
  int status = is_table(v, name, &there, err);
  if (status || !there) return status;
  status = columns_of(v, name, &columns, err);
  ttm_buf_puts(&sql, "SELECT ");
  for (size_t i = 0; i < n && wanted[i]; i++) {
    if (i) ttm_buf_char(&sql, ',');
    usable &= put_column(&sql, &columns, wanted[i]) || i > 1 || !strcmp(wanted[i], "rank");
  }
  ttm_buf_printf(&sql, " FROM %s %s", name, rest);
  ttm_buf_free(&columns);
  if (!status && usable) return prepare(v, out, &sql, err);
  ttm_buf_free(&sql);
  return status;
}

static int step(ttm_visualizer *v, cursor *c, ttm_error *err) {
  if (!c->rows) return TTM_OK;
  int code = sqlite3_step(c->rows);
  c->has = code == SQLITE_ROW;
  if (!c->has && code != SQLITE_DONE) return fail(v, err);
  if (c->has) c->rank = sqlite3_column_int64(c->rows, 0), c->id = sqlite3_column_int64(c->rows, 1);
  return TTM_OK;
}

static int open_cursor(ttm_visualizer *v, int which, ttm_error *err) {
  enum { COLUMNS = sizeof TABLES->columns / sizeof *TABLES->columns };
  const char *wanted[COLUMNS + 2] = {"rank", "operation_id"};
  cursor *c = &v->cursors[which];
  for (size_t i = 0; i < COLUMNS; i++) wanted[i + 2] = TABLES[which].columns[i];
  /* Its rows may stand before the first operation; they are few. */
  const char *order = v->sorted || which == ERRORS ? "ORDER BY 1,2" : "";
  int status = select_from(v, &c->rows, TABLES[which].name, wanted, COLUMNS + 2, order, err);
  return status || which == OPERATIONS ? status : step(v, c, err);
}

/* ---- Values -------------------------------------------------------------------------------------------------------- */

/* Negative and missing numbers are `otherwise`. */
static uint64_t number_at(sqlite3_stmt *row, int column, uint64_t otherwise) {
  int64_t value = sqlite3_column_int64(row, column);
  return sqlite3_column_type(row, column) == SQLITE_NULL || value < 0 ? otherwise : (uint64_t)value;
}

static ttm_str text_at(ttm_visualizer *v, sqlite3_stmt *row, int column) {
  const char *text = (const char *)sqlite3_column_text(row, column);
  int n = sqlite3_column_bytes(row, column);
  v->lost |= !text && sqlite3_column_type(row, column) != SQLITE_NULL && sqlite3_errcode(v->db) == SQLITE_NOMEM;
  return text ? (ttm_str){text, (size_t)n} : (ttm_str){"", 0};
}

static void copy_text(char *out, size_t cap, ttm_str text) {
  snprintf(out, cap, "%.*s", (int)(text.n < cap ? text.n : cap), text.p);
}

/* ---- Around the operations ----------------------------------------------------------------------------------------- */

/* The database does not tell DRAM: by the board's name, else by the L1 of a core, which tells the architecture. */
static void name_dram(ttm_capture_device *d, const ttm_board *board) {
  ttm_arch_id arch = ttm_arch_by_l1_bytes(d->l1_bytes);
  for (size_t i = 0; i < TTM_BOARDS && !board; i++)
    if (ttm_boards[i].arch == arch && ttm_boards[i].dram_banks != 7) board = &ttm_boards[i];
  if (!board || board->arch != arch) return;
  d->dram_banks = board->dram_banks;
  d->dram_bank_bytes = ttm_arches[arch].dram_view_bytes;
  snprintf(d->arch, sizeof d->arch, "%s", ttm_arches[arch].name);
}

/* A small text beside the database; nothing when there is none. */
static int read_beside(ttm_buf *out, const char *path, const char *file, ttm_error *err) {
  ttm_buf name = {0};
  const char *slash = strrchr(path, '/');
  ttm_buf_put(&name, (ttm_str){path, slash ? (size_t)(slash - path) + 1 : 0});
  ttm_buf_puts(&name, file);
  ttm_buf_char(&name, '\0');
  int status = name.failed ? ttm_error_nomem(err) : TTM_OK;
  if (!status && ttm_source_read_small(out, name.at, LONGEST_BESIDE, NULL) == TTM_ENOMEM) status = ttm_error_nomem(err);
  ttm_buf_free(&name);
  return status;
}

/* "board_type: n150" of the cluster descriptor, and whether the configuration asked for all buffers. */
static int look_beside(ttm_visualizer *v, const char *path, ttm_error *err) {
  ttm_buf yaml = {0}, config = {0};
  int status = read_beside(&yaml, path, "cluster_descriptor.yaml", err);
  if (!status) status = read_beside(&config, path, "config.json", err);
  ttm_str rest = ttm_buf_str(&yaml), mark = TTM_LIT("board_type: ");
  size_t at = ttm_str_find(rest, mark);
  rest = ttm_str_from(rest, at == TTM_NOT_FOUND ? rest.n : at + mark.n);
  v->board = ttm_board_find(ttm_str_trim(ttm_str_take_to(&rest, '\n')));
  ttm_str detailed = ttm_json_get_member(ttm_buf_str(&config), "enable_detailed_buffer_report");
  v->all_buffers = ttm_str_eq(detailed, TTM_LIT("true"));
  ttm_buf_free(&yaml);
  ttm_buf_free(&config);
  return status;
}

/* Only a report of all buffers has their chunks; before schema 3.0 they were pages. */
static int look_for_chunks(ttm_visualizer *v, ttm_error *err) {
  static const char *const columns[] = {"operation_id", "address"}, *const tables[] = {"buffer_chunks", "buffer_pages"};
  int status = TTM_OK;
  for (int i = 0; i < 2 && !status; i++) {
    sqlite3_stmt *rows = NULL;
    status = select_from(v, &rows, tables[i], columns, 2, "LIMIT 1", err);
    if (rows) v->all_buffers |= sqlite3_step(rows) == SQLITE_ROW;
    sqlite3_finalize(rows);
  }
  return status;
}

static int read_devices(ttm_visualizer *v, ttm_error *err) {
  static const char *const columns[] = {"worker_l1_size",      "l1_num_banks",
                                        "l1_bank_size",        "address_at_first_l1_cb_buffer",
                                        "num_x_compute_cores", "num_y_compute_cores"};
  sqlite3_stmt *rows = NULL;
  int status = select_from(v, &rows, "devices", columns, sizeof columns / sizeof *columns, "", err);
  while (rows && !status && v->facts.devices.n < MOST_ROWS && sqlite3_step(rows) == SQLITE_ROW) {
    ttm_capture_device d = {.l1_bytes = number_at(rows, 0, 0),
                            .l1_banks = number_at(rows, 1, 0),
                            .l1_bank_bytes = number_at(rows, 2, 0),
                            .l1_base = number_at(rows, 3, 0),
                            .grid_x = number_at(rows, 4, 0),
                            .grid_y = number_at(rows, 5, 0)};
    name_dram(&d, v->board);
    if (ttm_vec_push(&v->facts.devices, d)) status = ttm_error_nomem(err);
  }
  sqlite3_finalize(rows);
  return status;
}

static int read_metadata(ttm_visualizer *v, ttm_error *err) {
  static const char *const columns[] = {"key", "value"};
  sqlite3_stmt *rows = NULL;
  int status = select_from(v, &rows, "report_metadata", columns, 2, "", err);
  for (int i = 0; rows && !status && i < MOST_ROWS && sqlite3_step(rows) == SQLITE_ROW; i++) {
    ttm_str key = text_at(v, rows, 0), value = text_at(v, rows, 1);
    if (ttm_str_eq(key, TTM_LIT("schema_version"))) copy_text(v->schema, sizeof v->schema, value);
    if (ttm_str_eq(key, TTM_LIT("version"))) copy_text(v->facts.version, sizeof v->facts.version, value);
    if (ttm_str_eq(key, TTM_LIT("world_size"))) v->facts.world = number_at(rows, 1, 0);
  }
  sqlite3_finalize(rows);
  return status;
}

static int count_operations(ttm_visualizer *v, ttm_error *err) {
  sqlite3_stmt *row = NULL;
  ttm_buf sql = {0};
  ttm_buf_puts(&sql, "SELECT count(*) FROM operations");
  int status = prepare(v, &row, &sql, err);
  if (!status && sqlite3_step(row) != SQLITE_ROW) status = fail(v, err);
  if (!status) v->ops = number_at(row, 0, 0);
  sqlite3_finalize(row);
  return status;
}

static int begin(ttm_visualizer *v, ttm_error *err) {
  static const char *const tensor[] = {"shape",     "dtype",   "layout",     "memory_config",
                                       "device_id", "address", "buffer_type"};
  int status = read_metadata(v, err);
  if (!status) status = read_devices(v, err);
  if (!status) status = look_for_chunks(v, err);
  for (int i = 0; i < CURSORS && !status; i++) status = open_cursor(v, i, err);
  if (status) return status;
  if (!v->cursors[OPERATIONS].rows)
    return ttm_error_set(
        err, TTM_ENODATA,
        "%s is an SQLite database, but no report of ttnn-visualizer: it has no table 'operations' with "
        "'operation_id'.",
        v->path);
  v->any_buffers = v->cursors[BUFFERS].has;
  status = count_operations(v, err);
  if (status) return status;
  static const char *const by[] = {"WHERE tensor_id=?1 AND rank=?2", "WHERE tensor_id=?1"};
  for (int i = 0; i < 2 && !v->tensor;
       i++) { /* before schema 2.1 there are no ranks; without tensors types are unknown */
    ttm_error ignored;
    if (select_from(v, &v->tensor, "tensors", tensor, 7, by[i], &ignored) == TTM_ENOMEM) return ttm_error_nomem(err);
  }
  return TTM_OK;
}

int ttm_visualizer_open(ttm_visualizer **out, const char *path, ttm_str bytes, bool sorted, ttm_error *err) {
  ttm_visualizer *v = ttm_alloc(sizeof *v);
  if (!v) return ttm_error_nomem(err);
  v->path = path ? path : "this database";
  v->sorted = sorted;
  int status = path ? open_file(v, path, err) : open_bytes(v, bytes, err);
  if (!status && path) status = look_beside(v, path, err);
  if (!status) guard(v->db), status = begin(v, err);
  if (status)
    ttm_visualizer_close(v);
  else
    *out = v;
  return status;
}

void ttm_visualizer_close(ttm_visualizer *v) {
  if (!v) return;
  for (int i = 0; i < CURSORS; i++) sqlite3_finalize(v->cursors[i].rows);
  sqlite3_finalize(v->tensor);
  sqlite3_close(v->db);
  ttm_vec_free(&v->facts.devices);
  ttm_vec_free(&v->op.buffers);
  ttm_free(v);
}

const ttm_capture_facts *ttm_visualizer_facts(const ttm_visualizer *v) { return &v->facts; }
const char *ttm_visualizer_schema(const ttm_visualizer *v) { return v->schema; }
bool ttm_visualizer_has_buffers(const ttm_visualizer *v) { return v->any_buffers; }
bool ttm_visualizer_has_all_buffers(const ttm_visualizer *v) { return v->all_buffers; }
bool ttm_visualizer_is_unsorted(const ttm_visualizer *v) { return v->unsorted; }
double ttm_visualizer_progress(const ttm_visualizer *v) { return v->ops ? (double)v->done / (double)v->ops : 0; }

/* ---- Operations ---------------------------------------------------------------------------------------------------- */

static bool is_of_op(const ttm_visualizer *v, int which) {
  const cursor *c = &v->cursors[which], *op = &v->cursors[OPERATIONS];
  return c->has && c->rank == op->rank && c->id == op->id;
}

static bool is_before_op(const ttm_visualizer *v, int which) {
  const cursor *c = &v->cursors[which], *op = &v->cursors[OPERATIONS];
  if (!c->has || (!v->sorted && which != ERRORS)) return false;
  return c->rank < op->rank || (c->rank == op->rank && c->id < op->id);
}

/* Past what is left of the last operation, and what belongs to none. */
static int leave(ttm_visualizer *v, ttm_error *err) {
  int status = TTM_OK;
  for (int i = BUFFERS; i < CURSORS; i++)
    while (!status && is_of_op(v, i)) status = step(v, &v->cursors[i], err);
  if (!status) status = step(v, &v->cursors[OPERATIONS], err);
  for (int i = BUFFERS; i < CURSORS && v->cursors[OPERATIONS].has; i++)
    while (!status && is_before_op(v, i)) status = step(v, &v->cursors[i], err);
  return status;
}

static int read_buffers(ttm_visualizer *v, ttm_error *err) {
  cursor *c = &v->cursors[BUFFERS];
  int status = TTM_OK;
  v->op.buffers.n = 0;
  while (!status && is_of_op(v, BUFFERS)) {
    uint64_t device = number_at(c->rows, 2, 0), type = number_at(c->rows, 5, 0);
    ttm_visualizer_buffer b = {.address = number_at(c->rows, 3, 0),
                               .bank_bytes = number_at(c->rows, 4, 0),
                               .device = (uint32_t)(device < UINT16_MAX ? device : UINT16_MAX),
                               .type = (uint8_t)(type < UINT8_MAX ? type : UINT8_MAX),
                               .sharded = number_at(c->rows, 6, 0) != 0};
    if (ttm_vec_push(&v->op.buffers, b)) return ttm_error_nomem(err);
    status = step(v, c, err);
  }
  return status;
}

static ttm_str text_of_op(ttm_visualizer *v, int which, int column) {
  return is_of_op(v, which) ? text_at(v, v->cursors[which].rows, column) : (ttm_str){"", 0};
}

int ttm_visualizer_next(ttm_visualizer *v, const ttm_visualizer_op **out, ttm_error *err) {
  const cursor *c = &v->cursors[OPERATIONS];
  int status = v->broken
                   ? ttm_error_set(err, TTM_EFORMAT, "%s cannot be read, the database is damaged or cut.", v->path)
                   : leave(v, err);
  *out = NULL;
  for (int i = BUFFERS; i < CURSORS && !c->has; i++) v->unsorted |= !v->sorted && v->cursors[i].has;
  if (status || !c->has) return status;
  ttm_visualizer_op *op = &v->op;
  op->rank = c->rank < 0 ? 0 : (uint64_t)c->rank;
  op->id = c->id < 0 ? 0 : (uint64_t)c->id;
  op->name = text_at(v, c->rows, 2);
  op->graph = text_of_op(v, GRAPHS, 2);
  op->trace = text_of_op(v, TRACES, 2);
  op->error = text_of_op(v, ERRORS, 2);
  op->error_type = text_of_op(v, ERRORS, 3);
  status = read_buffers(v, err);
  v->taken = 0;
  v->done++;
  if (status || v->lost) return status ? status : ttm_error_nomem(err);
  *out = op;
  return TTM_OK;
}

/* ---- Tensors ------------------------------------------------------------------------------------------------------- */

static void take_number(ttm_capture_node *node, ttm_node_number which, sqlite3_stmt *row, int column) {
  uint64_t value = number_at(row, column, UINT64_MAX);
  if (value > INT64_MAX) return;
  node->number[which] = (int64_t)value;
  node->numbers |= UINT64_C(1) << which;
}

/* Looks the tensor up; without an index that soon costs too much. */
static bool read_tensor(ttm_visualizer *v, int64_t id, int64_t rank, ttm_capture_node *out) {
  static const ttm_node_text texts[] = {TTM_PARAM_SHAPE, TTM_PARAM_DTYPE, TTM_PARAM_LAYOUT, TTM_PARAM_MEMORY_CONFIG};
  *out = (ttm_capture_node){.type = TTM_NODE_TENSOR, .has_counter = true};
  for (int i = 0; i < TTM_PARAM_TEXTS; i++) out->text[i] = (ttm_str){"", 0};
  if (!v->tensor || sqlite3_stmt_status(v->tensor, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0) > MOST_STEPS) return false;
  sqlite3_reset(v->tensor);
  sqlite3_bind_int64(v->tensor, 1, id);
  sqlite3_bind_int64(v->tensor, 2, rank);
  if (sqlite3_step(v->tensor) != SQLITE_ROW) return false;
  for (int i = 0; i < 4; i++) out->text[texts[i]] = text_at(v, v->tensor, i);
  take_number(out, TTM_PARAM_DEVICE, v->tensor, 4);
  take_number(out, TTM_PARAM_ADDRESS, v->tensor, 5);
  take_number(out, TTM_PARAM_BUFFER_TYPE, v->tensor, 6);
  return true;
}

static bool next_tensor(ttm_visualizer *v, int which, ttm_capture_node *out) {
  cursor *c = &v->cursors[which];
  bool found = false;
  while (!found && is_of_op(v, which) && v->taken++ < MOST_ROWS) {
    int64_t id = sqlite3_column_int64(c->rows, 2);
    found = read_tensor(v, id, c->rank, out);
    v->broken |= step(v, c, NULL) != TTM_OK;
  }
  return found;
}

bool ttm_visualizer_input(ttm_visualizer *v, ttm_capture_node *out) { return next_tensor(v, INPUTS, out); }
bool ttm_visualizer_output(ttm_visualizer *v, ttm_capture_node *out) { return next_tensor(v, OUTPUTS, out); }
