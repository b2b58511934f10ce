/* SPDX-License-Identifier: Apache-2.0 */
/* A document for programs: what doc.c does for TTM_DOC_JSON and TTM_DOC_CSV. Tables keep their rows; sentences, labelled rows and figures are rows too, of
 * "texts". CSV holds the tables, those with the same columns under one head; the texts only when there is no table. */
#ifndef TTM_REPORT_DOC_DATA_H
#define TTM_REPORT_DOC_DATA_H

#include "report/write/doc.h"

void ttm_doc_data_begin(ttm_doc *doc, const char *title);
void ttm_doc_data_heading(ttm_doc *doc, const char *text);
/* `label` "" means the one above, NULL none; `mb` below 0 means none. */
void ttm_doc_data_text(ttm_doc *doc, const char *label, double mb, ttm_str text);
void ttm_doc_data_table(ttm_doc *doc);
void ttm_doc_data_end(ttm_doc *doc);

#endif
