/* SPDX-License-Identifier: Apache-2.0 */
/* The past of models laid out. What it means is said in tell.c. */
#ifndef TTM_HISTORY_SHOW_H
#define TTM_HISTORY_SHOW_H

#include "history/past.h"
#include "report/write/doc.h"

/* A row per series; a series with its statements and its last runs; a row per run of all. */
void ttm_past_overview(ttm_doc *doc, const ttm_past *past);
void ttm_past_series(ttm_doc *doc, const ttm_past *past, const ttm_series *s);
void ttm_past_runs(ttm_doc *doc, const ttm_past *past);
/* 0 or TTM_ENOMEM. */
int ttm_past_json(ttm_buf *out, const ttm_past *past);

#endif
