/* SPDX-License-Identifier: Apache-2.0 */
/* What ttmem writes for other programs. Every writer streams: the output flows while it is made. */
#ifndef TTM_REPORT_EXPORT_EXPORT_H
#define TTM_REPORT_EXPORT_EXPORT_H

#include "base/out_file.h"
#include "report/export/times.h"
#include "report/write/json.h"
#include "ttmem/table.h"

/* Each writes one table; 0 or TTM_ENOMEM. Errors of the output show when it is closed. */
int ttm_export_csv(const ttm_findings *f, ttm_table table, ttm_out *out, ttm_error *err);
int ttm_export_json(const ttm_findings *f, ttm_table table, ttm_out *out, ttm_error *err);
int ttm_export_arrow(const ttm_findings *f, ttm_table table, ttm_out *out, ttm_error *err);
int ttm_export_parquet(const ttm_findings *f, ttm_table table, ttm_out *out, ttm_error *err);

/* Of one table the rows named, ascending, as members of the array or object at hand. */
int ttm_export_json_rows(const ttm_findings *f, ttm_table table, const uint32_t *rows, size_t n, ttm_json *j,
                         ttm_error *err);

/* A Parquet file of one batch: int64 ("l") and text ("u") columns, as ttmem/table.h has them. Both stay the caller's. */
int ttm_parquet_batch(const struct ArrowSchema *schema, const struct ArrowArray *batch, ttm_out *out, ttm_error *err);

/* Operations, memories, tensors and failures over time; what is alive, as stacks. */
int ttm_export_perfetto(const ttm_findings *f, const ttm_times *times, ttm_out *out, ttm_error *err);
int ttm_export_chrome(const ttm_findings *f, const ttm_times *times, ttm_out *out, ttm_error *err);
int ttm_export_pprof(const ttm_findings *f, const ttm_times *times, ttm_out *out, ttm_error *err);

/* The database of ttnn-visualizer in a new file. 0, TTM_EIO or TTM_ENOMEM; what is left of it then is the caller's to remove. */
int ttm_export_visualizer(const ttm_findings *f, const char *path, ttm_error *err);

#endif
