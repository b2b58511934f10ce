/* SPDX-License-Identifier: Apache-2.0 */
/* A table as a JSON array of objects, one to a line; what is unknown is null. */
#include "report/export/batches.h"
#include "report/export/export.h"
#include "report/write/json.h"

static void put_cell(ttm_json *j, const char *name, ttm_cell_kind kind, const struct ArrowArray *column, size_t row) {
  if (!ttm_cell_known(column, row))
    ttm_json_put_null(j, name);
  else if (kind == TTM_CELL_TEXT)
    ttm_json_put_str(j, name, ttm_cell_text(column, row));
  else if (kind == TTM_CELL_FLAG)
    ttm_json_put_bool(j, name, ttm_cell_flag(column, row));
  else
    ttm_json_put_i64(j, name, ttm_cell_number(column, row));
}

static void put_row(ttm_json *j, const ttm_batches *b, size_t row) {
  ttm_json_put_object(j, NULL);
  for (size_t i = 0; i < ttm_batches_columns(b); i++)
    put_cell(j, ttm_batches_name(b, i), ttm_batches_kind(b, i), b->batch.children[i], row);
  ttm_json_end(j);
}

static void put_batch(ttm_json *j, const ttm_batches *b, ttm_out *out) {
  for (size_t row = 0; row < (size_t)b->batch.length; row++) put_row(j, b, row), ttm_out_flow(out);
}

int ttm_export_json(const ttm_findings *f, ttm_table table, ttm_out *out, ttm_error *err) {
  ttm_batches b;
  ttm_json j = {.out = &out->buf};
  bool more = true;
  int status = ttm_batches_open(&b, f, table, err);
  ttm_json_put_rows(&j, NULL);
  while (!status && !(status = ttm_batches_next(&b, &more, err)) && more) put_batch(&j, &b, out);
  ttm_json_end(&j);
  ttm_batches_close(&b);
  if (!status && ttm_json_finish(&j)) status = ttm_error_nomem(err);
  return status;
}

int ttm_export_json_rows(const ttm_findings *f, ttm_table table, const uint32_t *rows, size_t n, ttm_json *j,
                         ttm_error *err) {
  ttm_batches b;
  bool more = true;
  size_t first = 0, i = 0;
  int status = ttm_batches_open(&b, f, table, err);
  ttm_json_put_rows(j, ttm_table_name(table));
  for (; i < n && !status && !(status = ttm_batches_next(&b, &more, err)) && more; first += (size_t)b.batch.length)
    for (; i < n && rows[i] < first + (size_t)b.batch.length; i++)
      if (rows[i] >= first) put_row(j, &b, rows[i] - first);
  ttm_json_end(j);
  ttm_batches_close(&b);
  return status;
}
