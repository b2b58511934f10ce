/* SPDX-License-Identifier: Apache-2.0 */
/* Statements in findings.json: written, and read back for reports whose log is gone. */
#ifndef TTM_REPORT_STATEMENTS_JSON_H
#define TTM_REPORT_STATEMENTS_JSON_H

#include "analyze/statement.h"
#include "report/write/json.h"

/* The members "statements" and "fixes" (all of them, best first) of the object being written. */
void ttm_json_put_statements(ttm_json *j, const ttm_statements *all);

/* The statements of a findings file; none where it has none. Any text may be given: what is no statement is left out. 0 or TTM_ENOMEM; freed with
 * ttm_statements_free in any case. */
int ttm_statements_read(ttm_statements *out, ttm_str findings_json);

#endif
