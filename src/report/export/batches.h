/* SPDX-License-Identifier: Apache-2.0 */
/* A table batch by batch (ttmem/table.h), for what writes tables in other forms. */
#ifndef TTM_REPORT_EXPORT_BATCHES_H
#define TTM_REPORT_EXPORT_BATCHES_H

#include "base/str.h"
#include "ttmem/table.h"

/* Zero is closed. */
typedef struct ttm_batches {
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  struct ArrowArray batch;
} ttm_batches;

typedef enum ttm_cell_kind { TTM_CELL_NUMBER, TTM_CELL_FLAG, TTM_CELL_TEXT } ttm_cell_kind;

/* 0 or TTM_ENOMEM, TTM_EUSAGE. Closed by ttm_batches_close in any case. */
int ttm_batches_open(ttm_batches *b, const ttm_findings *f, ttm_table table, ttm_error *err);
/* The next batch replaces the last one. *more is false after the last. 0 or TTM_ENOMEM. */
int ttm_batches_next(ttm_batches *b, bool *more, ttm_error *err);
void ttm_batches_close(ttm_batches *b);

static inline size_t ttm_batches_columns(const ttm_batches *b) { return (size_t)b->schema.n_children; }
static inline const char *ttm_batches_name(const ttm_batches *b, size_t column) {
  return b->schema.children[column]->name;
}
static inline bool ttm_batches_nullable(const ttm_batches *b, size_t column) {
  return b->schema.children[column]->flags & ARROW_FLAG_NULLABLE;
}
static inline ttm_cell_kind ttm_batches_kind(const ttm_batches *b, size_t column) {
  char format = b->schema.children[column]->format[0];
  return format == 'u' ? TTM_CELL_TEXT : format == 'b' ? TTM_CELL_FLAG : TTM_CELL_NUMBER;
}

static inline bool ttm_cell_bit(const void *bits, size_t row) {
  return ((const uint8_t *)bits)[row / 8] >> row % 8 & 1;
}
static inline bool ttm_cell_known(const struct ArrowArray *column, size_t row) {
  return !column->buffers[0] || ttm_cell_bit(column->buffers[0], row);
}
static inline bool ttm_cell_flag(const struct ArrowArray *column, size_t row) {
  return ttm_cell_bit(column->buffers[1], row);
}
static inline int64_t ttm_cell_number(const struct ArrowArray *column, size_t row) {
  return ((const int64_t *)column->buffers[1])[row];
}
static inline ttm_str ttm_cell_text(const struct ArrowArray *column, size_t row) {
  const int32_t *offsets = column->buffers[1];
  return (ttm_str){(const char *)column->buffers[2] + offsets[row], (size_t)(offsets[row + 1] - offsets[row])};
}

#endif
