/* SPDX-License-Identifier: Apache-2.0 */
/* A table as a Parquet file (https://parquet.apache.org/docs/file-format): a row group per batch, a page per column of it, plain values packed by
 * zstd, and a footer in Thrift's compact form. */
#include <zstd.h>

#include "report/export/batches.h"
#include "report/export/export.h"
#include "report/export/protobuf.h"

/* ---- Thrift ---------------------------------------------------------------------------------------------------------------- */

typedef enum thrift_type { I32 = 5, I64 = 6, BINARY = 8, LIST = 9, STRUCT = 12 } thrift_type;

enum { THRIFT_DEPTH = 8 };
typedef struct thrift {
  ttm_buf out;
  int last[THRIFT_DEPTH]; /* field of each struct that is open */
  int depth;
} thrift;

static void put_zigzag(ttm_buf *out, int64_t value) {
  ttm_proto_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value < 0 ? -1 : 0));
}

static void field(thrift *t, int id, thrift_type type) {
  ttm_buf_char(&t->out, (char)((id - t->last[t->depth]) << 4 | (int)type));
  t->last[t->depth] = id;
}

static void field_number(thrift *t, int id, thrift_type type, int64_t value) {
  field(t, id, type);
  put_zigzag(&t->out, value);
}

static void put_binary(thrift *t, const char *text) {
  ttm_proto_varint(&t->out, strlen(text));
  ttm_buf_puts(&t->out, text);
}

static void begin_list(thrift *t, int id, thrift_type type, size_t n) {
  field(t, id, LIST);
  ttm_buf_char(&t->out, (char)((n < 15 ? n : 15) << 4 | (size_t)type));
  if (n >= 15) ttm_proto_varint(&t->out, n);
}

/* A struct as an element of a list, or after its field. */
static void begin_struct(thrift *t) { t->last[++t->depth] = 0; }
static void end_struct(thrift *t) {
  ttm_buf_char(&t->out, 0);
  t->depth--;
}

/* ---- Columns ----------------------------------------------------------------------------------------------------------------- */

enum {
  TYPE_BOOLEAN = 0,
  TYPE_INT64 = 2,
  TYPE_BYTES = 6,
  CODEC_ZSTD = 6,
  ENCODING_PLAIN = 0,
  ENCODING_RLE = 3,
  LEVEL = 3
};

typedef struct chunk {
  uint64_t at, packed, plain; /* where its page begins; bytes with its head, packed and not */
} chunk;

typedef struct writer {
  ttm_batches b;
  ttm_out *out;
  uint64_t at; /* bytes put out so far */
  ttm_buf page, packed;
  thrift head;
  ZSTD_CCtx *zstd;
  TTM_VEC(chunk) chunks; /* row group by row group */
  TTM_VEC(uint64_t) rows;
} writer;

static int type_of(ttm_cell_kind kind) {
  return kind == TTM_CELL_TEXT ? TYPE_BYTES : kind == TTM_CELL_FLAG ? TYPE_BOOLEAN : TYPE_INT64;
}

static void put_u32(ttm_buf *out, uint32_t value) { ttm_buf_put(out, (ttm_str){(const char *)&value, 4}); }

/* Which rows have a value: their bits as one run, after the bytes it takes. Without nulls it is one run of ones. */
static void put_known(ttm_buf *page, const struct ArrowArray *column, size_t rows) {
  size_t start = page->n, bytes = (rows + 7) / 8;
  put_u32(page, 0);
  if (column->null_count) {
    ttm_proto_varint(page, bytes << 1 | 1);
    ttm_buf_put(page, (ttm_str){column->buffers[0], bytes});
  } else {
    ttm_proto_varint(page, rows << 1);
    ttm_buf_char(page, 1);
  }
  uint32_t length = (uint32_t)(page->n - start - 4);
  if (!page->failed) memcpy(page->at + start, &length, sizeof length);
}

static void put_values(ttm_buf *page, ttm_cell_kind kind, const struct ArrowArray *column, size_t rows) {
  if (kind == TTM_CELL_FLAG) return ttm_buf_put(page, (ttm_str){column->buffers[1], (rows + 7) / 8}); /* never null */
  for (size_t row = 0; row < rows; row++) {
    if (!ttm_cell_known(column, row)) continue;
    int64_t number = kind == TTM_CELL_NUMBER ? ttm_cell_number(column, row) : 0;
    ttm_str text = kind == TTM_CELL_TEXT ? ttm_cell_text(column, row) : (ttm_str){(const char *)&number, sizeof number};
    if (kind == TTM_CELL_TEXT) put_u32(page, (uint32_t)text.n);
    ttm_buf_put(page, text);
  }
}

static int pack(writer *w) {
  size_t bound = ZSTD_compressBound(w->page.n);
  w->packed.n = 0;
  if (!ttm_buf_room(&w->packed, bound)) return TTM_ENOMEM;
  size_t n = ZSTD_compressCCtx(w->zstd, w->packed.at, w->packed.cap, w->page.at, w->page.n, LEVEL);
  w->packed.n = ZSTD_isError(n) ? 0 : n;
  return ZSTD_isError(n) ? TTM_ENOMEM : TTM_OK;
}

static void put_page_head(writer *w, size_t rows) {
  thrift *t = &w->head;
  t->out.n = 0;
  t->depth = -1;
  begin_struct(t);
  field_number(t, 1, I32, 0); /* a data page */
  field_number(t, 2, I32, (int64_t)w->page.n);
  field_number(t, 3, I32, (int64_t)w->packed.n);
  field(t, 5, STRUCT);
  begin_struct(t);
  field_number(t, 1, I32, (int64_t)rows);
  field_number(t, 2, I32, ENCODING_PLAIN);
  field_number(t, 3, I32, ENCODING_RLE);
  field_number(t, 4, I32, ENCODING_RLE);
  end_struct(t);
  end_struct(t);
}

static void put(writer *w, ttm_str bytes) {
  ttm_buf_put(&w->out->buf, bytes);
  w->at += bytes.n;
}

static int put_column(writer *w, size_t i) {
  const struct ArrowArray *column = w->b.batch.children[i];
  size_t rows = (size_t)w->b.batch.length;
  w->page.n = 0;
  if (ttm_batches_nullable(&w->b, i)) put_known(&w->page, column, rows);
  put_values(&w->page, ttm_batches_kind(&w->b, i), column, rows);
  if (w->page.failed || pack(w)) return TTM_ENOMEM;
  put_page_head(w, rows);
  chunk made = {w->at, w->head.out.n + w->packed.n, w->head.out.n + w->page.n};
  put(w, ttm_buf_str(&w->head.out));
  put(w, ttm_buf_str(&w->packed));
  ttm_out_flow(w->out);
  return w->head.out.failed ? TTM_ENOMEM : ttm_vec_push(&w->chunks, made);
}

/* ---- The footer ---------------------------------------------------------------------------------------------------------------- */

static void put_schema(thrift *t, const ttm_batches *b) {
  size_t n = ttm_batches_columns(b);
  begin_list(t, 2, STRUCT, n + 1);
  begin_struct(t);
  field(t, 4, BINARY);
  put_binary(t, "schema");
  field_number(t, 5, I32, (int64_t)n);
  end_struct(t);
  for (size_t i = 0; i < n; i++) {
    bool text = ttm_batches_kind(b, i) == TTM_CELL_TEXT;
    begin_struct(t);
    field_number(t, 1, I32, type_of(ttm_batches_kind(b, i)));
    field_number(t, 3, I32, ttm_batches_nullable(b, i));
    field(t, 4, BINARY);
    put_binary(t, ttm_batches_name(b, i));
    if (text) {
      field_number(t, 6, I32, 0); /* UTF-8, in the old words and in the new */
      field(t, 10, STRUCT);
      begin_struct(t);
      field(t, 1, STRUCT);
      begin_struct(t);
      end_struct(t);
      end_struct(t);
    }
    end_struct(t);
  }
}

static void put_chunk(thrift *t, const writer *w, size_t i, const chunk *c, uint64_t rows) {
  begin_struct(t);
  field_number(t, 2, I64, (int64_t)c->at);
  field(t, 3, STRUCT);
  begin_struct(t);
  field_number(t, 1, I32, type_of(ttm_batches_kind(&w->b, i)));
  begin_list(t, 2, I32, 2);
  put_zigzag(&t->out, ENCODING_PLAIN);
  put_zigzag(&t->out, ENCODING_RLE);
  begin_list(t, 3, BINARY, 1);
  put_binary(t, ttm_batches_name(&w->b, i));
  field_number(t, 4, I32, CODEC_ZSTD);
  field_number(t, 5, I64, (int64_t)rows);
  field_number(t, 6, I64, (int64_t)c->plain);
  field_number(t, 7, I64, (int64_t)c->packed);
  field_number(t, 9, I64, (int64_t)c->at);
  end_struct(t);
  end_struct(t);
}

static void put_footer(writer *w) {
  thrift *t = &w->head;
  size_t columns = ttm_batches_columns(&w->b);
  uint64_t rows = 0;
  for (size_t g = 0; g < w->rows.n; g++) rows += w->rows.at[g];
  t->out.n = 0;
  t->depth = -1;
  begin_struct(t);
  field_number(t, 1, I32, 2);
  put_schema(t, &w->b);
  field_number(t, 3, I64, (int64_t)rows);
  begin_list(t, 4, STRUCT, w->rows.n);
  for (size_t g = 0; g < w->rows.n; g++) {
    const chunk *chunks = &w->chunks.at[g * columns];
    uint64_t bytes = 0;
    begin_struct(t);
    begin_list(t, 1, STRUCT, columns);
    for (size_t i = 0; i < columns; i++) put_chunk(t, w, i, &chunks[i], w->rows.at[g]), bytes += chunks[i].plain;
    field_number(t, 2, I64, (int64_t)bytes);
    field_number(t, 3, I64, (int64_t)w->rows.at[g]);
    end_struct(t);
  }
  field(t, 6, BINARY);
  put_binary(t, "ttmem");
  end_struct(t);
  put(w, ttm_buf_str(&t->out));
  put_u32(&w->out->buf, (uint32_t)t->out.n);
  ttm_buf_puts(&w->out->buf, "PAR1");
}

/* The batch at hand. */
static int put_group(writer *w, ttm_error *err) {
  bool made = !ttm_vec_push(&w->rows, (uint64_t)w->b.batch.length);
  for (size_t i = 0; i < ttm_batches_columns(&w->b) && made; i++) made = !put_column(w, i);
  return made ? TTM_OK : ttm_error_nomem(err);
}

static int put_groups(writer *w, ttm_error *err) {
  bool more = true;
  int status = TTM_OK;
  while (!status && !(status = ttm_batches_next(&w->b, &more, err)) && more) status = put_group(w, err);
  return status;
}

static int end_file(writer *w, int status, ttm_error *err) {
  if (!status) put_footer(w);
  if (!status && w->head.out.failed) status = ttm_error_nomem(err);
  ttm_buf_free(&w->page);
  ttm_buf_free(&w->packed);
  ttm_buf_free(&w->head.out);
  ttm_vec_free(&w->chunks);
  ttm_vec_free(&w->rows);
  ZSTD_freeCCtx(w->zstd);
  return status;
}

int ttm_parquet_batch(const struct ArrowSchema *schema, const struct ArrowArray *batch, ttm_out *out, ttm_error *err) {
  writer w = {.b = {.schema = *schema, .batch = *batch}, .out = out, .zstd = ZSTD_createCCtx()};
  put(&w, TTM_LIT("PAR1"));
  return end_file(&w, w.zstd ? put_group(&w, err) : ttm_error_nomem(err), err);
}

int ttm_export_parquet(const ttm_findings *f, ttm_table table, ttm_out *out, ttm_error *err) {
  writer w = {.out = out, .zstd = ZSTD_createCCtx()};
  int status = ttm_batches_open(&w.b, f, table, err);
  if (!status && !w.zstd) status = ttm_error_nomem(err);
  put(&w, TTM_LIT("PAR1"));
  if (!status) status = put_groups(&w, err);
  status = end_file(&w, status, err);
  ttm_batches_close(&w.b);
  return status;
}
