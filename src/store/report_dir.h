/* SPDX-License-Identifier: Apache-2.0 */
/* Where reports live and how they get there without ever being half there. */
#ifndef TTM_STORE_REPORT_DIR_H
#define TTM_STORE_REPORT_DIR_H

#include "analyze/findings.h"
#include "base/buf.h"
#include "ttmem/report.h"

enum { TTM_REPORT_NAME_LIMIT = 200 }; /* bytes */

/* The name of a log's report: its file name without .gz/.zst, without .log/.txt, without a trailing "_profile", "_"
 * as "-"; "stdin" for "-". Never empty, never hidden, no control characters. Appended to `out` (not NUL-terminated). */
void ttm_report_name(ttm_buf *out, const char *log_path);

/* What ttmem keeps is below: $TTMEM_HOME, else ~/.ttmem. Appended to `out`, without a NUL. TTM_EUSAGE when no home can be found. */
int ttm_home(ttm_buf *out, ttm_error *err);

/* The folder of all reports: $TTMEM_HOME/reports, else ~/.ttmem/reports. Appended to `out`, without a NUL.
 * TTM_EUSAGE when no home can be found. */
int ttm_report_root(ttm_buf *out, ttm_error *err);

/* The end of a file name by which it belongs to a report ("_memory.json", "_report.html", ...); empty for other files. */
ttm_str ttm_report_suffix(const char *file_name);

/* Writes the folder `folder` (its last part is usually `name`) as one: under a temporary name beside it, then put in
 * its place. See ttm_report_write_dir. Leftovers of writers that died are removed on the way. */
int ttm_report_dir_write(const ttm_findings *f, const char *folder, const char *name, const ttm_report_options *options,
                         ttm_error *err);

/* Writes the files straight into `folder`, each under a temporary name first; other files there are left alone. */
int ttm_report_files_write(const ttm_findings *f, const char *folder, const char *name,
                           const ttm_report_options *options, ttm_error *err);

#endif
