/* SPDX-License-Identifier: Apache-2.0 */
/* The peaks of a series as a picture inside a page: run by run, with its steps, its failed runs and the capacity. It stretches with the page; labels stand beside it as text. */
#ifndef TTM_SERVE_CHART_H
#define TTM_SERVE_CHART_H

#include "history/past.h"

/* Nothing when no run has a peak of this memory. */
void ttm_put_chart(ttm_buf *out, const ttm_past *past, const ttm_series *s, int memory);
/* A line of the DRAM peaks alone, for a table. */
void ttm_put_spark(ttm_buf *out, const ttm_past *past, const ttm_series *s);

#endif
