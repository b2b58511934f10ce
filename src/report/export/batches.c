/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/batches.h"

#include "base/error.h"

int ttm_batches_open(ttm_batches *b, const ttm_findings *f, ttm_table table, ttm_error *err) {
  *b = (ttm_batches){.stream = {.release = NULL}};
  int status = ttm_table_stream(f, table, &b->stream, err);
  if (status) return status;
  return b->stream.get_schema(&b->stream, &b->schema) ? ttm_error_nomem(err) : TTM_OK;
}

int ttm_batches_next(ttm_batches *b, bool *more, ttm_error *err) {
  if (b->batch.release) b->batch.release(&b->batch);
  if (b->stream.get_next(&b->stream, &b->batch)) return ttm_error_nomem(err);
  *more = b->batch.release != NULL;
  return TTM_OK;
}

void ttm_batches_close(ttm_batches *b) {
  if (b->batch.release) b->batch.release(&b->batch);
  if (b->schema.release) b->schema.release(&b->schema);
  if (b->stream.release) b->stream.release(&b->stream);
}
