/* SPDX-License-Identifier: Apache-2.0 */
/* Schema 3.5, as ttnn.graph_report of ttnn 0.81 writes it: the tables, an operation at a time. */
#include "report/export/visualizer.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "analyze/occupancy.h"
#include "analyze/words.h"
#include "base/boards.h"
#include "base/checked.h"
#include "base/error.h"
#include "report/export/export.h"
#include "report/write/json.h"
#include "ttmem/version.h"

/* ---- Tables -------------------------------------------------------------------------------------------------------- */

static const char SCHEMA[] =
    "CREATE TABLE devices (device_id int, num_y_cores int, num_x_cores int, num_y_compute_cores int, "
    "num_x_compute_cores int, worker_l1_size int, l1_num_banks int, l1_bank_size int, address_at_first_l1_bank int, "
    "address_at_first_l1_cb_buffer int, num_banks_per_storage_core int, num_compute_cores int, num_storage_cores int, "
    "total_l1_memory int, total_l1_for_tensors int, total_l1_for_interleaved_buffers int, total_l1_for_sharded_buffers "
    "int, cb_limit int, rank int NOT NULL DEFAULT 0);"
    "CREATE TABLE operations (operation_id int, name text, duration float, rank int NOT NULL DEFAULT 0, "
    "UNIQUE(operation_id, rank));"
    "CREATE TABLE operation_arguments (operation_id int, name text, value text, rank int NOT NULL DEFAULT 0);"
    "CREATE TABLE sub_device_managers (device_id int, sub_device_manager_id int, rank int NOT NULL DEFAULT 0, "
    "UNIQUE(device_id, sub_device_manager_id, rank));"
    "CREATE TABLE sub_devices (device_id int, sub_device_manager_id int, sub_device_id int, worker_core_ranges text, "
    "rank int NOT NULL DEFAULT 0, UNIQUE(device_id, sub_device_manager_id, sub_device_id, rank));"
    "CREATE TABLE operation_executions (execution_id int, operation_id int, device_id int, physical_device_id int, "
    "runtime_id int, global_call_count int, command_queue_id int, rank int NOT NULL DEFAULT 0, UNIQUE(execution_id, "
    "rank));"
    "CREATE TABLE execution_sub_devices (execution_id int, device_id int, sub_device_manager_id int, sub_device_id "
    "int, "
    "rank int NOT NULL DEFAULT 0, UNIQUE(execution_id, device_id, sub_device_manager_id, sub_device_id, rank));"
    "CREATE TABLE tensors (tensor_id int, shape text, dtype text, layout text, memory_config text, device_id int, "
    "address int, buffer_type int, rank int NOT NULL DEFAULT 0, storage_type text, UNIQUE(tensor_id, rank));"
    "CREATE TABLE device_tensors (tensor_id int, device_id int, address int, rank int NOT NULL DEFAULT 0);"
    "CREATE TABLE buffers (operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int, "
    "buffer_layout int, rank int NOT NULL DEFAULT 0);"
    "CREATE TABLE captured_graph (operation_id int, captured_graph text, rank int NOT NULL DEFAULT 0);"
    "CREATE TABLE nodes (operation_id int, unique_id int, node_operation_id int, name text, rank int NOT NULL DEFAULT "
    "0);"
    "CREATE TABLE edges (operation_id int, source_unique_id int, sink_unique_id int, source_output_index int, "
    "sink_input_index int, key int, rank int NOT NULL DEFAULT 0);"
    "CREATE TABLE report_metadata (key text UNIQUE, value text);"
    "CREATE TABLE errors (operation_id int, operation_name text, error_type text, error_message text, stack_trace "
    "text, "
    "timestamp text, rank int NOT NULL DEFAULT 0);"
    "CREATE TABLE source_files (id INTEGER PRIMARY KEY, path text UNIQUE, contents text);"
    "CREATE TABLE stack_traces (operation_id int, stack_trace text, source_file_id int, rank int NOT NULL DEFAULT 0);"
    "CREATE TABLE input_tensors (operation_id int, input_index int, tensor_id int, rank int NOT NULL DEFAULT 0);"
    "CREATE TABLE output_tensors (operation_id int, output_index int, tensor_id int, rank int NOT NULL DEFAULT 0);"
    "CREATE TABLE tensor_lifetime (tensor_id int, producer_operation_id int, last_use_operation_id int, "
    "deallocate_operation_id int, producer_source_file text, producer_source_line int, last_use_source_file text, "
    "last_use_source_line int, rank int NOT NULL DEFAULT 0, UNIQUE(tensor_id, rank));"
    "CREATE TABLE tensor_consumers (tensor_id int, operation_id int, input_index int, rank int NOT NULL DEFAULT 0, "
    "UNIQUE(tensor_id, operation_id, input_index, rank));"
    "CREATE TABLE tensor_producers (tensor_id int, operation_id int, output_index int, rank int NOT NULL DEFAULT 0, "
    "UNIQUE(tensor_id, operation_id, output_index, rank));"
    "CREATE TABLE local_tensor_comparison_records (tensor_id int, golden_tensor_id int, matches int, desired_pcc "
    "float, "
    "actual_pcc float, rank int NOT NULL DEFAULT 0, UNIQUE(tensor_id, rank));"
    "CREATE TABLE global_tensor_comparison_records (tensor_id int, golden_tensor_id int, matches int, desired_pcc "
    "float, actual_pcc float, rank int NOT NULL DEFAULT 0, UNIQUE(tensor_id, rank));"
    "CREATE TABLE buffer_chunks (operation_id int, device_id int, address int, bank_id int, core_x int, core_y int, "
    "chunk_address int, chunk_size int, page_size int, num_pages int, buffer_type int, rank int NOT NULL DEFAULT 0);";

/* Those that are written. */
typedef enum table {
  DEVICES,
  OPERATIONS,
  ARGUMENTS,
  TENSORS,
  DEVICE_TENSORS,
  BUFFERS,
  GRAPHS,
  NODES,
  ERRORS,
  TRACES,
  INPUTS,
  OUTPUTS,
  LIFETIMES,
  CONSUMERS,
  PRODUCERS,
  METADATA,
  TABLES
} table;

static const char *const INSERTS[TABLES] = {
    [DEVICES] = "INSERT INTO devices VALUES (?1,?2,?3,?2,?3,?4,?5,?6,0,?7,1,?8,0,?9,0,?10,?10,?11,?12)",
    [OPERATIONS] = "INSERT INTO operations VALUES (?,?,0.0,?)",
    [ARGUMENTS] = "INSERT INTO operation_arguments VALUES (?,?,?,?)",
    [TENSORS] = "INSERT INTO tensors VALUES (?,?,?,?,?,?,?,?,?,'DEVICE')",
    [DEVICE_TENSORS] = "INSERT INTO device_tensors VALUES (?,?,?,?)",
    [BUFFERS] = "INSERT INTO buffers VALUES (?,?,?,?,?,?,?)",
    [GRAPHS] = "INSERT INTO captured_graph VALUES (?,?,?)",
    [NODES] = "INSERT INTO nodes VALUES (?1,1,?1,?2,?3)",
    [ERRORS] = "INSERT INTO errors VALUES (?,?,'exception',?,'','',?)",
    [TRACES] = "INSERT INTO stack_traces VALUES (?,?,NULL,?)",
    [INPUTS] = "INSERT INTO input_tensors VALUES (?,?,?,?)",
    [OUTPUTS] = "INSERT INTO output_tensors VALUES (?,?,?,?)",
    [LIFETIMES] = "INSERT INTO tensor_lifetime VALUES (?,?,?,?,?,?,?,?,?)",
    [CONSUMERS] = "INSERT OR IGNORE INTO tensor_consumers VALUES (?,?,?,?)",
    [PRODUCERS] = "INSERT OR IGNORE INTO tensor_producers VALUES (?,?,?,?)",
    [METADATA] = "INSERT INTO report_metadata VALUES (?,?)",
};

/* A value of a row. */
typedef struct value {
  enum { NOTHING, NUMBER, TEXT } kind;
  uint64_t number;
  ttm_str text;
} value;
#define N(n) \
  (value) { .kind = NUMBER, .number = (n) }
#define T(t) \
  (value) { .kind = TEXT, .text = (t) }
/* An operation by its number in the database; NULL when there is none. */
static value operation(uint32_t op) {
  value none = {.kind = NOTHING};
  return op == TTM_NONE ? none : N((uint64_t)op + 1);
}

typedef struct writer {
  const ttm_findings *f;
  const ttm_profile *p;
  const char *path;
  sqlite3 *db;
  sqlite3_stmt *rows[TABLES];
  int failed;                   /* SQLite's code */
  ttm_exported_buffers buffers; /* by `from` */
  size_t next_buffer;
  uint32_t *buffer_of_tensor; /* the last one, TTM_NONE */
  TTM_VEC(uint32_t) alive, went, taken;
  size_t next_use;
  uint32_t next_event;
  TTM_VEC(ttm_tensor_use) uses; /* by operation */
  ttm_capture_board board;
  uint64_t base[TTM_MEMORIES];       /* where a bank begins, ... */
  uint64_t next_place[TTM_MEMORIES]; /* ... and where a buffer without an address goes */
  ttm_buf text, more;
} writer;

static void put_row(writer *w, table t, const value *values, size_t n) {
  if (w->failed) return;
  sqlite3_stmt *row = w->rows[t];
  for (size_t i = 0; i < n && !w->failed; i++) {
    int at = (int)i + 1;
    if (values[i].kind == NUMBER) w->failed = sqlite3_bind_int64(row, at, (int64_t)(values[i].number & INT64_MAX));
    if (values[i].kind == NOTHING) w->failed = sqlite3_bind_null(row, at);
    if (values[i].kind != TEXT) continue;
    ttm_str text = values[i].text;
    w->failed = sqlite3_bind_text(row, at, text.n ? text.p : "", (int)(text.n < INT32_MAX ? text.n : INT32_MAX),
                                  SQLITE_TRANSIENT);
  }
  if (w->failed) return;
  int code = sqlite3_step(row);
  if (code != SQLITE_DONE) w->failed = code;
  sqlite3_reset(row);
}
#define ROW(w, t, ...) put_row(w, t, (const value[]){__VA_ARGS__}, sizeof((const value[]){__VA_ARGS__}) / sizeof(value))

/* Texts that readers of UTF-8 stumble over are mended. */
static value clean(writer *w, ttm_buf *out, ttm_str text) {
  ttm_buf_clear(out);
  ttm_put_utf8(out, text);
  if (out->failed) w->failed = SQLITE_NOMEM;
  return T(ttm_buf_str(out));
}

static value said(writer *w, ttm_buf *out) {
  if (out->failed) w->failed = SQLITE_NOMEM;
  return T(ttm_buf_str(out));
}

/* ---- Buffers ------------------------------------------------------------------------------------------------------- */

static int add_buffer(writer *w, ttm_exported_buffer b) {
  if (b.address == TTM_UNKNOWN || !b.address) { /* one behind the other */
    b.address = w->next_place[b.memory];
    w->next_place[b.memory] += b.bytes;
  }
  b.order = (uint32_t)w->buffers.n;
  return ttm_vec_push(&w->buffers, b);
}

static int add_captured(writer *w) {
  const ttm_capture *c = &w->p->capture;
  for (uint32_t i = 0; i < c->buffers.n; i++) {
    const ttm_buffer *b = &c->buffers.at[i];
    bool before = b->op == TTM_NONE;
    ttm_exported_buffer buffer = {.address = b->address,
                                  .bytes = b->bank_bytes,
                                  .from = before ? 0 : b->op,
                                  .to = b->freed_by,
                                  .rank = c->recording.is ? b->device : 0,
                                  .tensor = b->tensor,
                                  .row = i,
                                  .memory = b->memory,
                                  .before = before};
    if (b->memory < TTM_MEMORIES && add_buffer(w, buffer)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Moment n stands right before operation n; where a bank begins a log does not tell. */
static int add_replayed(writer *w, uint32_t rank) {
  ttm_occupancy o;
  int status = ttm_occupancy_make(&o, w->f, rank);
  for (size_t i = 0; i < o.rows.n && !status; i++) {
    const ttm_occupant *row = &o.rows.at[i];
    uint8_t memory = row->memory == TTM_REPLAY_L1 ? TTM_L1 : TTM_DRAM;
    ttm_exported_buffer buffer = {.address = row->at == TTM_UNKNOWN ? TTM_UNKNOWN : row->at + w->base[memory],
                                  .bytes = row->bytes,
                                  .from = row->from ? row->from - 1 : 0,
                                  .to = row->to == TTM_NONE ? TTM_NONE : row->to - 1,
                                  .rank = rank,
                                  .tensor = row->tensor,
                                  .row = TTM_NONE,
                                  .memory = memory,
                                  .before = !row->from};
    status = add_buffer(w, buffer);
  }
  ttm_occupancy_free(&o);
  return status;
}

static int by_from(const void *a, const void *b) {
  const ttm_exported_buffer *x = a, *y = b;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

static int by_op(const void *a, const void *b) {
  const ttm_tensor_use *x = a, *y = b;
  if (x->op != y->op) return x->op < y->op ? -1 : 1;
  return (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

/* Captures tell every use, of logs the last one is known. */
static int find_uses(writer *w) {
  const ttm_profile *p = w->p;
  for (size_t i = 0; i < p->capture.uses.n; i++)
    if (ttm_vec_push(&w->uses, p->capture.uses.at[i])) return TTM_ENOMEM;
  for (uint32_t t = 0; t < p->tensors.n && p->kind != TTM_LOG_CAPTURE; t++)
    if (p->tensors.at[t].last_use != p->tensors.at[t].birth &&
        ttm_vec_push(&w->uses, ((ttm_tensor_use){p->tensors.at[t].last_use, t})))
      return TTM_ENOMEM;
  if (w->uses.n) qsort(w->uses.at, w->uses.n, sizeof *w->uses.at, by_op);
  return TTM_OK;
}

/* The chip: as a capture tells it, of a log by its banks. */
static void find_board(writer *w) {
  const ttm_profile *p = w->p;
  ttm_capture_board *board = &w->board;
  ttm_level dram = {0}, l1 = {0}, small = {0};
  *board = p->capture.board;
  ttm_profile_config(p, TTM_DRAM, &dram);
  ttm_profile_config(p, TTM_L1, &l1);
  ttm_profile_config(p, TTM_L1_SMALL, &small);
  if (p->kind != TTM_LOG_CAPTURE) {
    ttm_arch_id arch = ttm_arch_by_dram_banks(dram.banks);
    *board = (ttm_capture_board){.arch = (uint8_t)(arch < TTM_ARCHES ? arch : TTM_ARCH_WORMHOLE)};
    board->l1_bytes = ttm_arches[board->arch].l1_bytes;
    board->l1_banks = l1.banks;
    board->l1_bank_bytes = ttm_level_bytes(l1.total);
    board->l1_base = ttm_sub_sat(board->l1_bytes, board->l1_bank_bytes + ttm_level_bytes(small.total));
    for (size_t i = 0; i < TTM_BOARDS; i++)
      if (ttm_boards[i].arch == board->arch && ttm_boards[i].l1_banks == l1.banks)
        board->grid_x = ttm_boards[i].grid_x, board->grid_y = ttm_boards[i].grid_y;
  }
  ttm_arch_id arch = board->arch < TTM_ARCHES ? (ttm_arch_id)board->arch : TTM_ARCH_WORMHOLE;
  w->base[TTM_DRAM] = w->base[TTM_TRACE] = ttm_arches[arch].dram_reserved;
  w->base[TTM_L1] = board->l1_base;
  w->base[TTM_L1_SMALL] = board->l1_base + board->l1_bank_bytes;
  for (int m = 0; m < TTM_MEMORIES; m++) w->next_place[m] = w->base[m];
  if (p->kind == TTM_LOG_CAPTURE) return;
  w->next_place[TTM_DRAM] += ttm_level_bytes(dram.total); /* the replay has the rest */
  w->next_place[TTM_L1] += ttm_level_bytes(l1.total);
}

static int gather(writer *w) {
  const ttm_profile *p = w->p;
  int status = TTM_OK;
  find_board(w);
  if (p->kind == TTM_LOG_CAPTURE) status = add_captured(w);
  for (uint32_t r = 0; r < p->ranks.n && p->kind != TTM_LOG_CAPTURE && !status; r++) status = add_replayed(w, r);
  if (!status) status = find_uses(w);
  w->buffer_of_tensor = ttm_alloc_array(p->tensors.n + 1, sizeof *w->buffer_of_tensor);
  if (status || !w->buffer_of_tensor) return TTM_ENOMEM;
  if (w->buffers.n) qsort(w->buffers.at, w->buffers.n, sizeof *w->buffers.at, by_from);
  for (size_t i = 0; i <= p->tensors.n; i++) w->buffer_of_tensor[i] = TTM_NONE;
  for (uint32_t i = 0; i < w->buffers.n; i++)
    if (w->buffers.at[i].tensor < p->tensors.n) w->buffer_of_tensor[w->buffers.at[i].tensor] = i;
  return TTM_OK;
}

/* ---- Around the operations ----------------------------------------------------------------------------------------- */

static void put_devices(writer *w) {
  const ttm_capture_board *b = &w->board;
  for (uint32_t r = 0; r < w->p->ranks.n; r++) {
    uint64_t cores = b->l1_banks, tensors = b->l1_bank_bytes * b->l1_banks;
    ROW(w, DEVICES, N(ttm_exported_device(w->p, r)), N(b->grid_y), N(b->grid_x), N(b->l1_bytes), N(b->l1_banks),
        N(b->l1_bank_bytes), N(b->l1_base), N(cores), N(b->l1_bytes * b->l1_banks), N(tensors),
        N(ttm_sub_sat(b->l1_bytes, b->l1_base)), N(ttm_exported_rank(w->p, r)));
  }
}

static void put_metadata(writer *w) {
  ttm_str version = ttm_profile_string(w->p, w->p->capture.version);
  ROW(w, METADATA, T(TTM_LIT("schema_version")), T(TTM_LIT("3.5")));
  ROW(w, METADATA, T(TTM_LIT("exported_by")), T(TTM_LIT("ttmem " TTM_VERSION)));
  if (version.n) ROW(w, METADATA, T(TTM_LIT("version")), clean(w, &w->text, version));
  ROW(w, METADATA, T(TTM_LIT("rank")), T(TTM_LIT("0")));
  ttm_buf_clear(&w->text);
  ttm_buf_u64(&w->text, w->p->kind == TTM_LOG_CAPTURE ? 1 : w->p->ranks.n);
  ROW(w, METADATA, T(TTM_LIT("world_size")), said(w, &w->text));
}

static void put_errors(writer *w) {
  const ttm_profile *p = w->p;
  for (size_t i = 0; i < p->incidents.n; i++) {
    const ttm_incident *x = &p->incidents.at[i];
    bool known = x->op < p->ops.n;
    ttm_str name = known ? ttm_words_name(p, x->op) : TTM_LIT("");
    ROW(w, ERRORS, N(known ? x->op + 1 : 0), clean(w, &w->more, name), clean(w, &w->text, x->what.text),
        N(ttm_exported_rank(p, x->rank)));
  }
}

/* ---- Operations ---------------------------------------------------------------------------------------------------- */

static void put_tensor(writer *w, const ttm_exported_buffer *b, uint32_t rank) {
  const ttm_profile *p = w->p;
  const ttm_tensor *t = &p->tensors.at[b->tensor];
  const ttm_tensor_type *type = ttm_tensor_type_of(p, b->tensor);
  ttm_buf shape = {0}, dtype = {0}, layout = {0};
  uint64_t id = (uint64_t)b->tensor + 1, device = ttm_exported_device(p, b->rank);
  ttm_exported_shape(&shape, type);
  ttm_exported_dtype(&dtype, type, ".");
  ttm_exported_layout(&layout, type, ".");
  ttm_buf_clear(&w->text);
  ttm_exported_config(&w->text, p, b);
  ROW(w, TENSORS, N(id), said(w, &shape), said(w, &dtype), said(w, &layout), said(w, &w->text), N(device),
      N(b->address), N(ttm_exported_memory(b->memory)), N(rank));
  ROW(w, DEVICE_TENSORS, N(id), N(device), N(b->address), N(rank));
  ttm_str file[2] = {{"", 0}, {"", 0}};
  uint32_t line[2] = {0};
  uint32_t ops[2] = {t->birth, t->last_use == t->birth ? TTM_NONE : t->last_use};
  bool told[2];
  for (int i = 0; i < 2; i++)
    told[i] = ops[i] < p->ops.n && ttm_words_source_place(ttm_words_location(p, ops[i]), &file[i], &line[i]);
  value none = {.kind = NOTHING};
  value first = told[0] ? clean(w, &w->text, file[0]) : none, last = told[1] ? clean(w, &w->more, file[1]) : none;
  value from = told[0] ? N(line[0]) : none, to = told[1] ? N(line[1]) : none;
  ROW(w, LIFETIMES, N(id), operation(ops[0]), operation(ops[1]), operation(t->freed_by), first, from, last, to,
      N(rank));
  ttm_buf_free(&shape);
  ttm_buf_free(&dtype);
  ttm_buf_free(&layout);
}

/* `  File "/a/b.py", line 9, in <module>`, innermost first, of "a.py:3|b.py:7". */
static void put_trace(writer *w, uint32_t op, uint32_t rank) {
  const ttm_capture *c = &w->p->capture;
  uint32_t stack = op < c->stacks.n ? c->stacks.at[op] : 0;
  ttm_str rest = stack ? ttm_profile_string(w->p, stack) : ttm_words_location(w->p, op), file;
  uint32_t line;
  ttm_buf_clear(&w->text);
  while (rest.n) {
    size_t at = rest.n;
    while (at && rest.p[at - 1] != '|') at--;
    if (ttm_words_source_place(ttm_str_from(rest, at), &file, &line))
      ttm_buf_printf(&w->text, "  File \"%.*s\", line %u, in <module>\n", (int)file.n, file.p, line);
    rest.n = at ? at - 1 : 0;
  }
  if (w->text.n) ROW(w, TRACES, N(op + 1), clean(w, &w->more, ttm_buf_str(&w->text)), N(rank));
}

static void put_arguments(writer *w, uint32_t op, uint32_t rank) {
  const ttm_op_text *text = ttm_op_text_of(w->p, op);
  ttm_str location = ttm_words_location(w->p, op), attributes = ttm_profile_string(w->p, text->attributes);
  if (!ttm_str_eq(location, TTM_LIT("N/A")))
    ROW(w, ARGUMENTS, N(op + 1), T(TTM_LIT("location")), clean(w, &w->text, location), N(rank));
  if (attributes.n) ROW(w, ARGUMENTS, N(op + 1), T(TTM_LIT("attributes")), clean(w, &w->text, attributes), N(rank));
}

static uint32_t op_of_event(const ttm_capture *c, const ttm_buffer_event *e) {
  bool row = e->row < c->buffers.n;
  if (e->kind == TTM_EVENT_ALLOCATE) return row ? c->buffers.at[e->row].op : TTM_NONE;
  if (e->kind == TTM_EVENT_FREE) return row ? c->buffers.at[e->row].freed_by : TTM_NONE;
  return e->kind >= TTM_EVENT_CIRCULAR && e->kind <= TTM_EVENT_PROGRAM_FREE ? e->op : TTM_NONE;
}

/* What happened up to the end of the operation. */
static void find_events(writer *w, ttm_exported_op *x) {
  const ttm_capture *c = &w->p->capture;
  x->first_event = w->next_event;
  while (w->next_event < c->events.n) {
    uint32_t op = op_of_event(c, &c->events.at[w->next_event]);
    if (op != TTM_NONE && op > x->op) break;
    w->next_event++;
  }
  x->end_event = w->next_event;
}

/* What came, went and was taken; the rest stays alive. */
static int find_changes(writer *w, ttm_exported_op *x, uint32_t *came) {
  size_t kept = 0;
  w->went.n = w->taken.n = 0;
  for (size_t i = 0; i < w->alive.n; i++) {
    uint32_t at = w->alive.at[i];
    if (w->buffers.at[at].to > x->op)
      w->alive.at[kept++] = at;
    else if (ttm_vec_push(&w->went, at))
      return TTM_ENOMEM;
  }
  w->alive.n = kept;
  for (; w->next_buffer < w->buffers.n && w->buffers.at[w->next_buffer].from <= x->op; w->next_buffer++)
    if (ttm_vec_push(&w->alive, (uint32_t)w->next_buffer)) return TTM_ENOMEM;
  *came = (uint32_t)kept;
  while (kept < w->alive.n && w->buffers.at[w->alive.at[kept]].before) kept++;
  x->came = w->alive.at + kept;
  x->came_n = w->alive.n - kept;
  for (; w->next_use < w->uses.n && w->uses.at[w->next_use].op <= x->op; w->next_use++) {
    uint32_t tensor = w->uses.at[w->next_use].tensor;
    if (w->uses.at[w->next_use].op == x->op && w->buffer_of_tensor[tensor] != TTM_NONE &&
        ttm_vec_push(&w->taken, tensor))
      return TTM_ENOMEM;
  }
  x->went = w->went.at;
  x->went_n = w->went.n;
  x->taken = w->taken.at;
  x->taken_n = w->taken.n;
  return TTM_OK;
}

static void put_tensors(writer *w, const ttm_exported_op *x, uint32_t came, uint32_t rank) {
  uint32_t outputs = 0;
  for (size_t i = came; i < w->alive.n; i++) {
    const ttm_exported_buffer *b = &w->buffers.at[w->alive.at[i]];
    if (b->tensor == TTM_NONE || w->buffer_of_tensor[b->tensor] != w->alive.at[i]) continue;
    put_tensor(w, b, rank);
    if (b->before || w->p->tensors.at[b->tensor].birth != x->op) continue;
    ROW(w, OUTPUTS, N(x->op + 1), N(outputs), N(b->tensor + 1), N(rank));
    ROW(w, PRODUCERS, N(b->tensor + 1), N(x->op + 1), N(outputs), N(rank));
    outputs++;
  }
  bool frees = ttm_op_text_of(w->p, x->op)->kind == TTM_OP_DEALLOCATE;
  for (size_t i = 0; frees && i < x->went_n; i++) {
    const ttm_exported_buffer *b = &w->buffers.at[x->went[i]];
    if (b->tensor != TTM_NONE) ROW(w, INPUTS, N(x->op + 1), N(i), N(b->tensor + 1), N(rank));
  }
  for (size_t i = 0; i < x->taken_n; i++) {
    ROW(w, INPUTS, N(x->op + 1), N(i), N(x->taken[i] + 1), N(rank));
    ROW(w, CONSUMERS, N(x->taken[i] + 1), N(x->op + 1), N(i), N(rank));
  }
}

static void put_buffers(writer *w, uint32_t op, uint32_t rank) {
  for (size_t i = 0; i < w->alive.n; i++) {
    const ttm_exported_buffer *b = &w->buffers.at[w->alive.at[i]];
    bool sharded = b->row < w->p->capture.buffers.n && w->p->capture.buffers.at[b->row].cores;
    ROW(w, BUFFERS, N(op + 1), N(ttm_exported_device(w->p, b->rank)), N(b->address), N(b->bytes),
        N(ttm_exported_memory(b->memory)), N(sharded), N(rank));
  }
}

static int put_operation(writer *w, uint32_t op) {
  ttm_exported_op x = {.f = w->f, .op = op, .all = &w->buffers, .buffer_of_tensor = w->buffer_of_tensor};
  uint32_t came, call = w->p->ops.at[op].call, rank = 0;
  if (call < w->p->calls.n) rank = ttm_exported_rank(w->p, w->p->calls.at[call].rank);
  find_events(w, &x);
  if (find_changes(w, &x, &came)) return TTM_ENOMEM;
  ROW(w, OPERATIONS, N(op + 1), clean(w, &w->text, ttm_exported_name(&x)), N(rank));
  ROW(w, NODES, N(op + 1), clean(w, &w->text, ttm_exported_name(&x)), N(rank));
  put_arguments(w, op, rank);
  put_trace(w, op, rank);
  put_tensors(w, &x, came, rank);
  if (ttm_exported_graph(&w->text, &x)) return TTM_ENOMEM;
  ROW(w, GRAPHS, N(op + 1), said(w, &w->text), N(rank));
  put_buffers(w, op, rank);
  return TTM_OK;
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

static int fail(const writer *w, ttm_error *err) {
  if (!w->db || w->failed == SQLITE_NOMEM || sqlite3_errcode(w->db) == SQLITE_NOMEM) return ttm_error_nomem(err);
  return ttm_error_set(err, TTM_EIO, "cannot write '%s': %s", w->path, sqlite3_errmsg(w->db));
}

static void begin(writer *w) {
  w->failed = sqlite3_open_v2(w->path, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
  /* Nobody sees the file before it is whole. */
  static const char settings[] =
      "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-32768; BEGIN";
  if (!w->failed) w->failed = sqlite3_exec(w->db, settings, NULL, NULL, NULL);
  if (!w->failed) w->failed = sqlite3_exec(w->db, SCHEMA, NULL, NULL, NULL);
  for (int t = 0; t < TABLES && !w->failed; t++)
    w->failed = sqlite3_prepare_v2(w->db, INSERTS[t], -1, &w->rows[t], NULL);
}

static void end(writer *w) {
  for (int t = 0; t < TABLES; t++) sqlite3_finalize(w->rows[t]);
  sqlite3_close(w->db);
  ttm_vec_free(&w->buffers);
  ttm_free(w->buffer_of_tensor);
  ttm_vec_free(&w->alive);
  ttm_vec_free(&w->went);
  ttm_vec_free(&w->taken);
  ttm_vec_free(&w->uses);
  ttm_buf_free(&w->text);
  ttm_buf_free(&w->more);
}

int ttm_export_visualizer(const ttm_findings *f, const char *path, ttm_error *err) {
  writer w = {.f = f, .p = f->profile, .path = path};
  int status = gather(&w);
  if (!status) begin(&w);
  if (!status && !w.failed) {
    put_metadata(&w);
    put_devices(&w);
    for (uint32_t op = 0; op < w.p->ops.n && !status && !w.failed; op++) status = put_operation(&w, op);
    put_errors(&w);
    if (!w.failed) w.failed = sqlite3_exec(w.db, "COMMIT", NULL, NULL, NULL);
  }
  if (status || w.failed) status = status == TTM_ENOMEM && !w.failed ? ttm_error_nomem(err) : fail(&w, err);
  end(&w);
  return status;
}
