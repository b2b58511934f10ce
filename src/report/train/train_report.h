/* SPDX-License-Identifier: Apache-2.0 */
/* What a training log says about memory, in every form: a screen, markdown, JSON and the histogram. Writers only append to `out`
 * and fail only by running out of memory (TTM_ENOMEM). */
#ifndef TTM_REPORT_TRAIN_REPORT_H
#define TTM_REPORT_TRAIN_REPORT_H

#include "report/run/text.h"
#include "report/write/canvas.h"
#include "train/training.h"

int ttm_train_text_write(const ttm_training *t, const ttm_summary_style *style, ttm_buf *out);
int ttm_train_md_write(const ttm_training *t, ttm_buf *out);
int ttm_train_json_write(const ttm_training *t, ttm_buf *out);

/* The histogram: one stacked bar per summary that has a peak, and the device's memory as a red dashed line. `title` may be
 * NULL. */
typedef struct ttm_train_chart {
  const ttm_training *training;
  const char *title;
} ttm_train_chart;
ttm_picture ttm_train_picture(const ttm_train_chart *chart);

/* The summary's name, or "Summary N" for one without. */
void ttm_train_put_name(ttm_buf *out, const ttm_training *t, size_t result);

/* actual against expected in percent; 0 when nothing is expected. */
static inline double ttm_train_difference(const ttm_train_compare *c) {
  return c->expected ? ((double)c->actual - (double)c->expected) / (double)c->expected * 100.0 : 0.0;
}

/* Sentences about what a reader could misread, one after the other: `n` counts up from 0 until false is returned. */
bool ttm_train_note(ttm_buf *out, const ttm_training *t, size_t result, size_t n);

#endif
