/* SPDX-License-Identifier: Apache-2.0 */
/* What a training log says about memory, in every form: a screen, markdown, JSON and the histogram. Writers only append to `out`
 * and fail only by running out of memory (TTM_ENOMEM). */
#ifndef TTM_REPORT_TRAIN_REPORT_H
#define TTM_REPORT_TRAIN_REPORT_H

#include "report/write/canvas.h"
#include "report/write/doc.h"
#include "train/training.h"

/* On a terminal or as markdown. Ends the document. */
int ttm_train_write(const ttm_training *t, ttm_doc *doc);
int ttm_train_json_write(const ttm_training *t, ttm_buf *out);

/* The histogram: one stacked bar per summary that has a peak, and the device's memory as a red dashed line. `title` may be
 * NULL. */
typedef struct ttm_train_chart {
  const ttm_training *training;
  const char *title;
} ttm_train_chart;
ttm_picture ttm_train_picture(const ttm_train_chart *chart);

#endif
