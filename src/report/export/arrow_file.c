/* SPDX-License-Identifier: Apache-2.0 */
/* A table as an Arrow file (https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format): messages of FlatBuffers metadata, each followed
 * by the buffers of its batch as they are in memory, and a footer that says where they begin. */
#include "report/export/batches.h"
#include "report/export/export.h"

/* ---- FlatBuffers ---------------------------------------------------------------------------------------------------------- */

/* Built from its end to its beginning, as offsets point forward: `used` bytes stand at the end of `at`. A place is named by its distance from the
 * end. */
enum { FLAT_FIELDS = 8 };
typedef struct flat {
  uint8_t *at;
  size_t cap, used;
  uint32_t fields[FLAT_FIELDS]; /* of the table being built: places, 0 when left out */
  uint32_t table_end;
  size_t most_aligned;
  bool failed;
} flat;

static bool flat_room(flat *f, size_t n) {
  if (f->failed || f->cap - f->used >= n) return !f->failed;
  size_t cap = f->cap ? f->cap * 2 : 1024;
  while (cap - f->used < n) cap *= 2;
  uint8_t *at = ttm_alloc(cap);
  if (!at) return !(f->failed = true);
  if (f->used) memcpy(at + cap - f->used, f->at + f->cap - f->used, f->used);
  ttm_free(f->at);
  f->at = at;
  f->cap = cap;
  return true;
}

static void flat_bytes(flat *f, const void *p, size_t n) {
  if (!n || !flat_room(f, n)) return;
  f->used += n;
  memcpy(f->at + f->cap - f->used, p, n);
}

/* Room such that what is put next, `n` bytes of it, begins on a multiple of `align`. */
static void flat_align(flat *f, size_t n, size_t align) {
  static const uint8_t zeros[8];
  if (align > f->most_aligned) f->most_aligned = align;
  flat_bytes(f, zeros, (align - (f->used + n) % align) % align);
}

static uint32_t flat_number(flat *f, int64_t value, size_t width) {
  flat_align(f, width, width);
  flat_bytes(f, &value, width); /* little endian, as every machine ttnn runs on */
  return (uint32_t)f->used;
}

static uint32_t flat_offset(flat *f, uint32_t place) {
  flat_align(f, 4, 4);
  return flat_number(f, (int64_t)f->used + 4 - place, 4);
}

static uint32_t flat_string(flat *f, const char *text) {
  size_t n = strlen(text);
  flat_align(f, n + 1, 4);
  flat_bytes(f, "", 1);
  flat_bytes(f, text, n);
  return flat_number(f, (int64_t)n, 4);
}

static void flat_begin(flat *f) {
  memset(f->fields, 0, sizeof f->fields);
  f->table_end = (uint32_t)f->used;
}

static uint32_t flat_end(flat *f) {
  uint16_t slots[FLAT_FIELDS] = {0};
  uint16_t n = 0;
  uint32_t table = flat_number(f, 0, 4); /* to the slots, set below */
  for (size_t i = 0; i < FLAT_FIELDS; i++) {
    if (!f->fields[i]) continue;
    slots[i] = (uint16_t)(table - f->fields[i]);
    n = (uint16_t)(i + 1);
  }
  for (uint16_t i = n; i-- > 0;) flat_number(f, slots[i], 2);
  flat_number(f, table - f->table_end, 2);
  uint32_t start = flat_number(f, 4 + 2 * n, 2);
  int32_t distance = (int32_t)(start - table);
  if (!f->failed) memcpy(f->at + f->cap - table, &distance, sizeof distance);
  return table;
}

/* Places of tables, in order. */
static uint32_t flat_places(flat *f, const uint32_t *places, size_t n) {
  flat_align(f, 4 * n, 4);
  for (size_t i = n; i-- > 0;) flat_offset(f, places[i]);
  return flat_number(f, (int64_t)n, 4);
}

/* `n` structs that hold numbers of 8 bytes only. */
static uint32_t flat_structs(flat *f, const void *structs, size_t width, size_t n) {
  flat_align(f, width * n, 8);
  flat_bytes(f, structs, width * n);
  return flat_number(f, (int64_t)n, 4);
}

static ttm_str flat_finish(flat *f, uint32_t root) {
  flat_align(f, 4, f->most_aligned < 4 ? 4 : f->most_aligned);
  flat_offset(f, root);
  return (ttm_str){f->failed ? "" : (const char *)f->at + f->cap - f->used, f->failed ? 0 : f->used};
}

/* ---- Metadata -------------------------------------------------------------------------------------------------------------- */

enum { VERSION_5 = 4, TYPE_INT = 2, TYPE_UTF8 = 5, TYPE_BOOL = 6, HEADER_SCHEMA = 1, HEADER_BATCH = 3 };

static uint32_t put_field(flat *f, const ttm_batches *b, size_t i) {
  ttm_cell_kind kind = ttm_batches_kind(b, i);
  uint32_t name = flat_string(f, ttm_batches_name(b, i)), no_children = flat_places(f, NULL, 0);
  flat_begin(f);
  if (kind == TTM_CELL_NUMBER) {
    f->fields[0] = flat_number(f, 64, 4);
    f->fields[1] = flat_number(f, 1, 1);
  }
  uint32_t type = flat_end(f);
  flat_begin(f);
  f->fields[0] = flat_offset(f, name);
  f->fields[3] = flat_offset(f, type);
  f->fields[5] = flat_offset(f, no_children);
  f->fields[1] = flat_number(f, ttm_batches_nullable(b, i), 1);
  f->fields[2] = flat_number(f, kind == TTM_CELL_TEXT ? TYPE_UTF8 : kind == TTM_CELL_FLAG ? TYPE_BOOL : TYPE_INT, 1);
  return flat_end(f);
}

static uint32_t put_schema(flat *f, const ttm_batches *b) {
  enum { MOST_COLUMNS = 64 };
  uint32_t fields[MOST_COLUMNS];
  size_t n = ttm_batches_columns(b) < MOST_COLUMNS ? ttm_batches_columns(b) : MOST_COLUMNS;
  for (size_t i = 0; i < n; i++) fields[i] = put_field(f, b, i);
  uint32_t places = flat_places(f, fields, n);
  flat_begin(f);
  f->fields[1] = flat_offset(f, places);
  return flat_end(f);
}

static uint32_t put_message(flat *f, uint32_t header, uint8_t kind, uint64_t body) {
  flat_begin(f);
  f->fields[3] = flat_number(f, (int64_t)body, 8);
  f->fields[2] = flat_offset(f, header);
  f->fields[0] = flat_number(f, VERSION_5, 2);
  f->fields[1] = flat_number(f, kind, 1);
  return flat_end(f);
}

/* ---- Messages ---------------------------------------------------------------------------------------------------------------- */

typedef struct block {
  int64_t offset;
  int32_t metadata;
  int32_t unused;
  int64_t body;
} block;

typedef struct writer {
  ttm_batches b;
  ttm_out *out;
  uint64_t at; /* bytes put out so far */
  flat flat;
  TTM_VEC(block) blocks;
} writer;

static void put(writer *w, const void *p, size_t n) {
  ttm_buf_put(&w->out->buf, (ttm_str){p, n});
  w->at += n;
}

static void pad(writer *w) {
  static const char zeros[8];
  put(w, zeros, (8 - w->at % 8) % 8);
}

/* The metadata with its length before it, padded; returns the bytes of it all. */
static int32_t put_metadata(writer *w, uint32_t root) {
  ttm_str metadata = flat_finish(&w->flat, root);
  int32_t length[2] = {-1, (int32_t)((metadata.n + 7) / 8 * 8)};
  put(w, length, sizeof length);
  put(w, metadata.p, metadata.n);
  pad(w);
  w->flat.used = w->flat.most_aligned = 0;
  return length[1] + (int32_t)sizeof length;
}

typedef struct extent {
  int64_t offset, length;
} extent;

/* Bytes of a column's buffer; 0 for a map of nulls that is not needed. */
static size_t buffer_bytes(const ttm_batches *b, size_t column, int which) {
  const struct ArrowArray *array = b->batch.children[column];
  size_t rows = (size_t)b->batch.length;
  ttm_cell_kind kind = ttm_batches_kind(b, column);
  if (which == 0) return array->buffers[0] ? (rows + 7) / 8 : 0;
  if (which == 2) return (size_t)((const int32_t *)array->buffers[1])[rows];
  return kind == TTM_CELL_TEXT ? (rows + 1) * 4 : kind == TTM_CELL_FLAG ? (rows + 7) / 8 : rows * 8;
}

static int put_batch(writer *w) {
  const ttm_batches *b = &w->b;
  TTM_VEC(extent) nodes = {0}, buffers = {0};
  int64_t body = 0;
  int status = TTM_OK;
  for (size_t i = 0; i < ttm_batches_columns(b) && !status; i++) {
    const struct ArrowArray *array = b->batch.children[i];
    status = ttm_vec_push(&nodes, ((extent){b->batch.length, array->null_count}));
    for (int k = 0; k < array->n_buffers && !status; k++) {
      extent buffer = {body, (int64_t)buffer_bytes(b, i, k)};
      body += (buffer.length + 7) / 8 * 8;
      status = ttm_vec_push(&buffers, buffer);
    }
  }
  if (!status) {
    uint32_t buffer_places = flat_structs(&w->flat, buffers.at, sizeof *buffers.at, buffers.n);
    uint32_t node_places = flat_structs(&w->flat, nodes.at, sizeof *nodes.at, nodes.n);
    flat_begin(&w->flat);
    w->flat.fields[0] = flat_number(&w->flat, b->batch.length, 8);
    w->flat.fields[1] = flat_offset(&w->flat, node_places);
    w->flat.fields[2] = flat_offset(&w->flat, buffer_places);
    uint32_t header = flat_end(&w->flat);
    block where = {.offset = (int64_t)w->at, .body = body};
    where.metadata = put_metadata(w, put_message(&w->flat, header, HEADER_BATCH, (uint64_t)body));
    status = ttm_vec_push(&w->blocks, where);
  }
  for (size_t i = 0; i < ttm_batches_columns(b) && !status; i++) {
    const struct ArrowArray *array = b->batch.children[i];
    for (int k = 0; k < array->n_buffers; k++) {
      size_t n = buffer_bytes(b, i, k);
      if (n) put(w, array->buffers[k], n);
      pad(w);
      ttm_out_flow(w->out);
    }
  }
  ttm_vec_free(&nodes);
  ttm_vec_free(&buffers);
  return status;
}

static void put_footer(writer *w) {
  static const int32_t end[2] = {-1, 0};
  put(w, end, sizeof end);
  uint32_t batches = flat_structs(&w->flat, w->blocks.at, sizeof *w->blocks.at, w->blocks.n);
  uint32_t schema = put_schema(&w->flat, &w->b);
  flat_begin(&w->flat);
  w->flat.fields[1] = flat_offset(&w->flat, schema);
  w->flat.fields[3] = flat_offset(&w->flat, batches);
  w->flat.fields[0] = flat_number(&w->flat, VERSION_5, 2);
  ttm_str footer = flat_finish(&w->flat, flat_end(&w->flat));
  int32_t length = (int32_t)footer.n;
  put(w, footer.p, footer.n);
  put(w, &length, sizeof length);
  put(w, "ARROW1", 6);
}

int ttm_export_arrow(const ttm_findings *f, ttm_table table, ttm_out *out, ttm_error *err) {
  writer w = {.out = out};
  bool more = true;
  int status = ttm_batches_open(&w.b, f, table, err);
  if (!status) {
    put(&w, "ARROW1\0\0", 8);
    put_metadata(&w, put_message(&w.flat, put_schema(&w.flat, &w.b), HEADER_SCHEMA, 0));
  }
  while (!status && !(status = ttm_batches_next(&w.b, &more, err)) && more)
    if (put_batch(&w)) status = ttm_error_nomem(err);
  if (!status) put_footer(&w);
  if (!status && w.flat.failed) status = ttm_error_nomem(err);
  ttm_batches_close(&w.b);
  ttm_vec_free(&w.blocks);
  ttm_free(w.flat.at);
  return status;
}
