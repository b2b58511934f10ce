/* SPDX-License-Identifier: Apache-2.0 */
/* Statements laid out: one after the other under the headings of their topics. What they say is decided in src/analyze/tell_*.c. */
#ifndef TTM_REPORT_STATEMENTS_H
#define TTM_REPORT_STATEMENTS_H

#include "analyze/statement.h"
#include "report/write/doc.h"
#include "report/write/json.h"

/* One statement: headline and detail, then its rows of evidence (`rows` at most, 0 for all) and its fixes. */
void ttm_doc_statement(ttm_doc *doc, const ttm_statements *all, const ttm_statement *s, uint32_t rows);
/* The fixes, best first. Nothing when there is none. */
void ttm_doc_fixes(ttm_doc *doc, const ttm_statements *all);
/* Everything: the fixes behind the failures, then the other topics. */
void ttm_doc_statements(ttm_doc *doc, const ttm_statements *all);

/* Its members "statement", "basis", "headline" and "detail", in an object that is begun. */
void ttm_json_put_statement(ttm_json *j, const ttm_statement *s);

ttm_doc_tone ttm_statement_tone(const ttm_statement *s);

#endif
