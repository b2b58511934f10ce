/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks side by side: what they say together, and a row per group of identical ones; as JSON a row per rank. */
#ifndef TTM_REPORT_RANKS_H
#define TTM_REPORT_RANKS_H

#include "analyze/ranks.h"
#include "report/write/doc.h"

void ttm_ranks_write(ttm_doc *doc, const ttm_ranks *ranks);
/* 0 or TTM_ENOMEM. */
int ttm_ranks_json(const ttm_ranks *ranks, ttm_buf *out);

#endif
