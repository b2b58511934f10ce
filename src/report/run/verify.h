/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `ttmem verify`, for people and for scripts. */
#ifndef TTM_REPORT_VERIFY_H
#define TTM_REPORT_VERIFY_H

#include "analyze/verify.h"
#include "report/write/doc.h"

/* 0 or TTM_ENOMEM. */
int ttm_verify_write(ttm_doc *doc, const ttm_verified *verified);
int ttm_verify_json(const ttm_verified *verified, ttm_buf *out);

#endif
