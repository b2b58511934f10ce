/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a report, each written from the findings in one pass. Keys, units and meanings are those of the
 * Python tool before it: keys are only ever added. One operation per line; the same findings always give the same
 * bytes. A failed write shows in ttm_out_close; the writers themselves only run out of memory. */
#ifndef TTM_REPORT_REPORT_H
#define TTM_REPORT_REPORT_H

#include "analyze/findings.h"
#include "base/out_file.h"

typedef int ttm_report_writer(const ttm_findings *f, ttm_out *out, ttm_error *err);

/* <name>_memory.json: the state before every operation and what the operation did. */
int ttm_report_memory_json(const ttm_findings *f, ttm_out *out, ttm_error *err);
/* <name>_operations.json: the text of every operation; the nth element is the nth of memory.json. */
int ttm_report_operations_json(const ttm_findings *f, ttm_out *out, ttm_error *err);
/* <name>_inputs_registry.json: arguments of the compiled graphs. */
int ttm_report_registry_json(const ttm_findings *f, ttm_out *out, ttm_error *err);
/* <name>_ir.json: module texts and where each location stands. Unpacks one dump at a time. */
int ttm_report_ir_json(const ttm_findings *f, ttm_out *out, ttm_error *err);
/* <name>_findings.json: the conclusions. Its schema_version is TTM_FINDINGS_SCHEMA; a file with a larger one is of a later ttmem. */
enum { TTM_FINDINGS_SCHEMA = 1 };
int ttm_report_findings_json(const ttm_findings *f, ttm_out *out, ttm_error *err);
/* <name>_report.html: the page, one file that needs nothing else. `name` is the report's name. */
int ttm_report_html(const ttm_findings *f, ttm_str name, ttm_out *out, ttm_error *err);
/* <name>_report.md: what `ttmem --llm` prints, and a last line that names the program's file, so that this program alone takes it for
 * its own answer. */
int ttm_report_markdown(const ttm_findings *f, ttm_str name, ttm_out *out, ttm_error *err);
/* That last line; nothing when the program's file cannot be told. */
void ttm_report_markdown_end(ttm_buf *out);
/* The page with the text of a findings file made from the log itself, for a profile rebuilt from a report; empty: none. */
int ttm_report_html_with(const ttm_findings *f, ttm_str name, ttm_str findings_json, ttm_out *out, ttm_error *err);
/* The same out of an earlier page: its data in the page of this program. TTM_EFORMAT when it is none of ours, or of another
 * format of the data: nothing was written then. */
int ttm_html_renew(ttm_str page, ttm_str name, ttm_out *out, ttm_error *err);

#endif
