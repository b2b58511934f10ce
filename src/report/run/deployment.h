/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTM_REPORT_DEPLOYMENT_H
#define TTM_REPORT_DEPLOYMENT_H

#include "analyze/deployment.h"
#include "report/write/doc.h"

/* The boards as a table, what is known about regions, and the settings to paste. Ends the document. 0 or TTM_ENOMEM. */
int ttm_deployment_write(ttm_doc *doc, const ttm_deployment *plan);
int ttm_deployment_json(const ttm_deployment *plan, ttm_buf *out);

#endif
