/* SPDX-License-Identifier: Apache-2.0 */
/* The tables as Arrow streams: each column is a member of a public row struct. The profile keeps its rows as structs, so the columns of a batch
 * are made when it is asked for; from then on nobody copies them: whoever took the batch owns its buffers until it releases them. */
#include "ttmem/table.h"

#include <errno.h>

#include "analyze/findings.h"
#include "base/buf.h"
#include "base/error.h"
#include "report/write/json.h"
#include "ttmem/operation.h"
#include "ttmem/state.h"
#include "ttmem/statement.h"
#include "ttmem/tensor.h"

/* ---- Columns ------------------------------------------------------------------------------------------------------------- */

typedef enum column_kind {
  ROW,    /* the row's own number */
  INDEX,  /* the number under which reports print this operation */
  U32,    /* null for TTM_NONE */
  LINE,   /* likewise, null for 0 */
  U64,    /* null for TTM_UNKNOWN */
  I64,    /* null for TTM_NO_DELTA */
  FLAG,   /* bool */
  TEXT,   /* ttm_str, null when empty */
  MEMORY, /* ttm_memory by name, null for TTM_MEMORIES */
  SHAPE,  /* of a ttm_tensor_info: "32x4096", null for no dimensions */
} column_kind;

typedef struct column {
  const char *name;
  column_kind kind;
  size_t offset; /* in the row struct */
} column;

/* Room for a row of any table. The first member of each struct is its size. */
typedef union table_row {
  size_t size;
  ttm_operation_info operation;
  ttm_state_info state;
  ttm_tensor_info tensor;
  ttm_incident_info incident;
  ttm_statement_info statement;
  ttm_fix_info fix;
} table_row;

typedef struct table_form {
  const char *name;
  const column *columns;
  size_t n;
  uint32_t (*rows)(const ttm_findings *f);
  /* out->size is set. Of a row that is there: it cannot fail. */
  void (*get)(const ttm_findings *f, uint32_t row, table_row *out);
} table_form;

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define GETTER(noun, owner)                                                     \
  static void get_##noun(const ttm_findings *f, uint32_t row, table_row *out) { \
    ttm_##noun##_get(owner, row, &out->noun, NULL);                             \
  }
#define AT(noun, member) offsetof(ttm_##noun##_info, member)
#define COL(kind, noun, member) \
  { #member, kind, AT(noun, member) }

/* ---- Operations ---------------------------------------------------------------------------------------------------------- */

static const column operations[] = {{"operation", ROW, 0},
                                    {"index", INDEX, 0},
                                    COL(TEXT, operation, name),
                                    COL(TEXT, operation, location),
                                    COL(TEXT, operation, attributes),
                                    COL(TEXT, operation, program),
                                    COL(U32, operation, run),
                                    COL(U32, operation, rank),
                                    COL(LINE, operation, line),
                                    COL(U32, operation, state),
                                    COL(U32, operation, tensor),
                                    COL(U32, operation, results),
                                    COL(I64, operation, dram_delta),
                                    COL(I64, operation, l1_delta),
                                    {"deallocate", FLAG, AT(operation, is_deallocate)},
                                    COL(FLAG, operation, const_eval),
                                    COL(FLAG, operation, cache_hit),
                                    COL(FLAG, operation, retained),
                                    COL(FLAG, operation, failed)};

static uint32_t operation_rows(const ttm_findings *f) { return ttm_operation_count(f->profile); }

GETTER(operation, f->profile)

/* ---- States -------------------------------------------------------------------------------------------------------------- */

#define MEMORY_COLUMNS(name, memory_id)                                  \
  {name "_banks", U64, AT(state, memory[memory_id].banks)},              \
      {name "_capacity", U64, AT(state, memory[memory_id].capacity)},    \
      {name "_allocated", U64, AT(state, memory[memory_id].allocated)},  \
      {name "_free", U64, AT(state, memory[memory_id].free)}, {          \
    name "_largest_free", U64, AT(state, memory[memory_id].largest_free) \
  }

static const column states[] = {{"state", ROW, 0},
                                COL(TEXT, state, moment),
                                COL(U32, state, operation),
                                COL(U32, state, rank),
                                COL(LINE, state, line),
                                MEMORY_COLUMNS("dram", TTM_DRAM),
                                MEMORY_COLUMNS("l1", TTM_L1),
                                MEMORY_COLUMNS("l1_small", TTM_L1_SMALL),
                                MEMORY_COLUMNS("trace", TTM_TRACE)};

static uint32_t state_rows(const ttm_findings *f) { return ttm_state_count(f->profile); }

GETTER(state, f->profile)

/* ---- Tensors ------------------------------------------------------------------------------------------------------------- */

static const column tensors[] = {{"tensor", ROW, 0},
                                 COL(TEXT, tensor, name),
                                 {"class", TEXT, AT(tensor, category)},
                                 COL(TEXT, tensor, dtype),
                                 {"shape", SHAPE, 0},
                                 COL(TEXT, tensor, layout),
                                 COL(TEXT, tensor, memory_layout),
                                 COL(MEMORY, tensor, memory),
                                 COL(U64, tensor, logical_bytes),
                                 COL(U64, tensor, stored_bytes),
                                 COL(U64, tensor, bank_bytes),
                                 COL(U64, tensor, address),
                                 COL(U32, tensor, birth),
                                 COL(U32, tensor, result),
                                 COL(U32, tensor, last_use),
                                 COL(U32, tensor, freed_by),
                                 COL(U32, tensor, same_as),
                                 COL(FLAG, tensor, alive_at_peak)};

GETTER(tensor, f)

/* ---- Failures ------------------------------------------------------------------------------------------------------------ */

static const column incidents[] = {
    {"incident", ROW, 0},          COL(TEXT, incident, kind),       COL(TEXT, incident, verdict),
    COL(TEXT, incident, memory),   COL(TEXT, incident, text),       COL(U32, incident, operation),
    COL(U32, incident, state),     COL(U32, incident, rank),        COL(LINE, incident, line),
    COL(U64, incident, shortfall), COL(U64, incident, buffer),      COL(U64, incident, banks),
    COL(U64, incident, needed),    COL(U64, incident, bank_size),   COL(U64, incident, allocated),
    COL(U64, incident, free),      COL(U64, incident, largest_free)};

GETTER(incident, f)

/* ---- Statements and fixes ------------------------------------------------------------------------------------------------ */

static const column statements[] = {{"statement", ROW, 0},        COL(TEXT, statement, id),
                                    COL(TEXT, statement, topic),  COL(TEXT, statement, severity),
                                    COL(TEXT, statement, basis),  COL(TEXT, statement, headline),
                                    COL(TEXT, statement, detail), COL(U32, statement, operation),
                                    COL(LINE, statement, line),   COL(U32, statement, fixes)};

GETTER(statement, f)

static const column fixes[] = {{"fix", ROW, 0},      COL(U32, fix, statement), COL(U32, fix, rank),
                               COL(TEXT, fix, kind), COL(TEXT, fix, text),     COL(TEXT, fix, verified),
                               COL(U64, fix, bytes), COL(U64, fix, count),     COL(U32, fix, operation)};

GETTER(fix, f)

/* ---- All of them --------------------------------------------------------------------------------------------------------- */

static const table_form *form_of(ttm_table table) {
  static const table_form forms[TTM_TABLES] = {
      [TTM_TABLE_OPERATIONS] = {"operations", operations, COUNT(operations), operation_rows, get_operation},
      [TTM_TABLE_STATES] = {"states", states, COUNT(states), state_rows, get_state},
      [TTM_TABLE_TENSORS] = {"tensors", tensors, COUNT(tensors), ttm_tensor_count, get_tensor},
      [TTM_TABLE_INCIDENTS] = {"incidents", incidents, COUNT(incidents), ttm_incident_count, get_incident},
      [TTM_TABLE_STATEMENTS] = {"statements", statements, COUNT(statements), ttm_statement_count, get_statement},
      [TTM_TABLE_FIXES] = {"fixes", fixes, COUNT(fixes), ttm_fix_count, get_fix},
  };
  return (unsigned)table < TTM_TABLES ? &forms[table] : NULL;
}

const char *ttm_table_name(ttm_table table) {
  const table_form *form = form_of(table);
  return form ? form->name : NULL;
}

uint32_t ttm_table_rows(const ttm_findings *f, ttm_table table) {
  const table_form *form = form_of(table);
  return form ? form->rows(f) : 0;
}

/* ---- Streams ------------------------------------------------------------------------------------------------------------- */

enum {
  BATCH_ROWS = 1 << 16,
  BATCH_TEXT = 1 << 26, /* bytes: offsets are 32 bits, and one text may be as long as a line of the log */
};

typedef struct stream {
  ttm_findings *findings; /* shared */
  const table_form *form;
  uint32_t next, rows;
  const char *error;
} stream;

/* ---- Schema -------------------------------------------------------------------------------------------------------------- */

static const char *format_of(column_kind kind) { return kind >= TEXT ? "u" : kind == FLAG ? "b" : "l"; }

/* A column's schema owns nothing. */
static void release_field(struct ArrowSchema *field) { field->release = NULL; }

static void release_schema(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (schema->children[i]->release) schema->children[i]->release(schema->children[i]);
  }
  ttm_free(schema->private_data);
  schema->release = NULL;
}

/* One block holds the pointers to the children and, behind them, the children. */
static int get_schema(struct ArrowArrayStream *self, struct ArrowSchema *out) {
  stream *s = self->private_data;
  const table_form *form = s->form;
  struct ArrowSchema **children = ttm_alloc_array(form->n, sizeof *children + sizeof **children);
  if (!children) return s->error = "out of memory", ENOMEM;
  struct ArrowSchema *fields = (struct ArrowSchema *)(children + form->n);
  for (size_t i = 0; i < form->n; i++) {
    const column *column = &form->columns[i];
    bool nullable = column->kind != ROW && column->kind != FLAG;
    fields[i] = (struct ArrowSchema){.format = format_of(column->kind),
                                     .name = column->name,
                                     .flags = nullable ? ARROW_FLAG_NULLABLE : 0,
                                     .release = release_field};
    children[i] = &fields[i];
  }
  *out = (struct ArrowSchema){.format = "+s",
                              .name = "",
                              .n_children = (int64_t)form->n,
                              .children = children,
                              .release = release_schema,
                              .private_data = children};
  return 0;
}

/* ---- One column ---------------------------------------------------------------------------------------------------------- */

/* What a column of a batch is made of; the array that shows it owns it. */
typedef struct cells {
  uint8_t *known; /* bit per row */
  void *values;   /* int64_t, bits, or int32_t offsets */
  ttm_buf text;   /* what the offsets point into */
  const void *buffers[3];
  int64_t nulls;
} cells;

static void free_cells(cells *c) {
  ttm_free(c->known);
  ttm_free(c->values);
  ttm_buf_free(&c->text);
}

static bool make_cells(cells *c, column_kind kind, uint32_t rows) {
  size_t width = kind == FLAG ? 1 : kind >= TEXT ? sizeof(int32_t) : sizeof(int64_t);
  c->known = ttm_alloc(rows / 8 + 1);
  c->values = ttm_alloc(((size_t)rows + 1) * width);
  return c->known && c->values;
}

static void put_known(cells *c, uint32_t at, bool known) {
  c->known[at / 8] |= (uint8_t)(known << at % 8);
  c->nulls += !known;
}

static void put_number(cells *c, uint32_t at, int64_t value, bool known) {
  ((int64_t *)c->values)[at] = known ? value : 0;
  put_known(c, at, known);
}

static void put_flag(cells *c, uint32_t at, bool value) {
  ((uint8_t *)c->values)[at / 8] |= (uint8_t)(value << at % 8);
  put_known(c, at, true);
}

static void put_text(cells *c, uint32_t at, ttm_str text) {
  ttm_put_utf8(&c->text, text);
  ((int32_t *)c->values)[at + 1] = (int32_t)c->text.n;
  put_known(c, at, text.n > 0);
}

static ttm_str shape_text(const ttm_tensor_info *tensor, char *room, size_t cap) {
  ttm_dims dims = {.rank = tensor->rank};
  memcpy(dims.at, tensor->shape, sizeof dims.at);
  return (ttm_str){room, ttm_dims_print(&dims, room, cap)};
}

static void put_cell(const stream *s, cells *c, const column *column, uint32_t at, uint32_t row,
                     const table_row *info) {
  const void *member = (const char *)info + column->offset;
  char room[TTM_TENSOR_DIMS * 21];
  uint32_t u32;
  uint64_t u64;
  switch (column->kind) {
    case ROW:
      return put_number(c, at, row, true);
    case INDEX:
      u32 = ttm_findings_index(s->findings, row);
      return put_number(c, at, u32, u32 != TTM_NONE);
    case U32:
      u32 = *(const uint32_t *)member;
      return put_number(c, at, u32, u32 != TTM_NONE);
    case LINE:
      u32 = *(const uint32_t *)member;
      return put_number(c, at, u32, u32 != 0);
    case U64:
      u64 = *(const uint64_t *)member;
      return put_number(c, at, (int64_t)u64, u64 <= INT64_MAX);
    case I64:
      return put_number(c, at, *(const int64_t *)member, *(const int64_t *)member != TTM_NO_DELTA);
    case FLAG:
      return put_flag(c, at, *(const bool *)member);
    case TEXT:
      return put_text(c, at, *(const ttm_str *)member);
    case MEMORY: {
      ttm_memory memory = *(const ttm_memory *)member;
      return put_text(c, at, memory < TTM_MEMORIES ? ttm_str_of(ttm_memory_name(memory)) : TTM_LIT(""));
    }
    case SHAPE:
      return put_text(c, at, shape_text(&info->tensor, room, sizeof room));
  }
}

/* ---- One batch ----------------------------------------------------------------------------------------------------------- */

static void release_column(struct ArrowArray *array) {
  free_cells(array->private_data);
  ttm_free(array->private_data);
  array->release = NULL;
}

static void release_batch(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_children; i++) {
    if (array->children[i]->release) array->children[i]->release(array->children[i]);
  }
  ttm_free(array->private_data);
  array->release = NULL;
}

/* An array over cells that are being filled; it owns them. */
static bool begin_column(struct ArrowArray *array, column_kind kind, uint32_t rows) {
  cells *c = ttm_alloc(sizeof *c);
  if (!c) return false;
  *array = (struct ArrowArray){
      .n_buffers = kind >= TEXT ? 3 : 2, .buffers = c->buffers, .release = release_column, .private_data = c};
  return make_cells(c, kind, rows);
}

static void end_column(struct ArrowArray *array, uint32_t rows) {
  cells *c = array->private_data;
  array->length = rows;
  array->null_count = c->nulls;
  c->buffers[0] = c->nulls ? c->known : NULL;
  c->buffers[1] = c->values;
  c->buffers[2] = c->text.at ? c->text.at : "";
}

/* Fills at most `rows`; the number it filled, 0 when memory ran out. Fewer when the texts grow long. */
static uint32_t fill(const stream *s, struct ArrowArray *columns, uint32_t rows) {
  bool room = true, failed = false;
  uint32_t at = 0;
  for (; at < rows && room && !failed; at++) {
    table_row row = {.size = sizeof row};
    s->form->get(s->findings, s->next + at, &row);
    for (size_t i = 0; i < s->form->n; i++) {
      cells *c = columns[i].private_data;
      put_cell(s, c, &s->form->columns[i], at, s->next + at, &row);
      room = room && c->text.n < BATCH_TEXT;
      failed = failed || c->text.failed;
    }
  }
  return failed ? 0 : at;
}

static int make_batch(stream *s, struct ArrowArray *out) {
  size_t n = s->form->n;
  uint32_t left = s->rows - s->next, rows = left < BATCH_ROWS ? left : BATCH_ROWS;
  struct ArrowArray **children = ttm_alloc(sizeof(void *) + n * (sizeof *children + sizeof **children));
  if (!children) return TTM_ENOMEM;
  struct ArrowArray *columns = (struct ArrowArray *)(children + n);
  const void **buffers = (const void **)(columns + n); /* a batch has no nulls of its own: one empty pointer */
  *out = (struct ArrowArray){.n_buffers = 1,
                             .buffers = buffers,
                             .n_children = (int64_t)n,
                             .children = children,
                             .release = release_batch,
                             .private_data = children};
  bool made = true;
  for (size_t i = 0; i < n; i++) children[i] = &columns[i];
  for (size_t i = 0; i < n && made; i++) made = begin_column(&columns[i], s->form->columns[i].kind, rows);
  rows = made ? fill(s, columns, rows) : 0;
  if (!rows) return out->release(out), TTM_ENOMEM;
  for (size_t i = 0; i < n; i++) end_column(&columns[i], rows);
  out->length = rows;
  s->next += rows;
  return TTM_OK;
}

/* ---- The stream ---------------------------------------------------------------------------------------------------------- */

static int get_next(struct ArrowArrayStream *self, struct ArrowArray *out) {
  stream *s = self->private_data;
  *out = (struct ArrowArray){.release = NULL}; /* the end */
  if (s->next == s->rows || !make_batch(s, out)) return 0;
  return s->error = "out of memory", ENOMEM;
}

static const char *get_last_error(struct ArrowArrayStream *self) { return ((stream *)self->private_data)->error; }

static void release_stream(struct ArrowArrayStream *self) {
  stream *s = self->private_data;
  ttm_findings_free(s->findings);
  ttm_free(s);
  self->release = NULL;
}

int ttm_table_stream(const ttm_findings *f, ttm_table table, struct ArrowArrayStream *out, ttm_error *err) {
  const table_form *form = form_of(table);
  if (!form)
    return ttm_error_set(err, TTM_EUSAGE, "There is no table %d: they are numbered 0 to %d.", (int)table,
                         TTM_TABLES - 1);
  stream *s = ttm_alloc(sizeof *s);
  if (!s) return ttm_error_nomem(err);
  *s = (stream){.findings = ttm_findings_share(f), .form = form, .rows = form->rows(f)};
  *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                   .get_next = get_next,
                                   .get_last_error = get_last_error,
                                   .release = release_stream,
                                   .private_data = s};
  return TTM_OK;
}
