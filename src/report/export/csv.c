/* SPDX-License-Identifier: Apache-2.0 */
/* A table as CSV (RFC 4180): a head, commas, texts in quotes where they need them, nothing for what is unknown. */
#include "base/format.h"
#include "report/export/batches.h"
#include "report/export/export.h"

static void put_cell(ttm_buf *out, ttm_cell_kind kind, const struct ArrowArray *column, size_t row) {
  if (!ttm_cell_known(column, row)) return;
  if (kind == TTM_CELL_TEXT)
    ttm_put_csv(out, ttm_cell_text(column, row));
  else if (kind == TTM_CELL_FLAG)
    ttm_buf_puts(out, ttm_cell_flag(column, row) ? "true" : "false");
  else
    ttm_buf_printf(out, "%lld", (long long)ttm_cell_number(column, row));
}

static void put_batch(const ttm_batches *b, ttm_out *out) {
  for (size_t row = 0; row < (size_t)b->batch.length; row++) {
    for (size_t i = 0; i < ttm_batches_columns(b); i++) {
      if (i) ttm_buf_char(&out->buf, ',');
      put_cell(&out->buf, ttm_batches_kind(b, i), b->batch.children[i], row);
    }
    ttm_buf_puts(&out->buf, "\r\n");
    ttm_out_flow(out);
  }
}

int ttm_export_csv(const ttm_findings *f, ttm_table table, ttm_out *out, ttm_error *err) {
  ttm_batches b;
  bool more = true;
  int status = ttm_batches_open(&b, f, table, err);
  for (size_t i = 0; !status && i < ttm_batches_columns(&b); i++)
    ttm_buf_printf(&out->buf, "%s%s", i ? "," : "", ttm_batches_name(&b, i));
  if (!status) ttm_buf_puts(&out->buf, "\r\n");
  while (!status && !(status = ttm_batches_next(&b, &more, err)) && more) put_batch(&b, out);
  ttm_batches_close(&b);
  return status;
}
