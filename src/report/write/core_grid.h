/* SPDX-License-Identifier: Apache-2.0 */
/* The grid of cores as a heat map: for a terminal and as SVG. The fuller a core, the darker its cell; one whose buffers reach into a tensor
 * is crossed out. */
#ifndef TTM_REPORT_CORE_GRID_H
#define TTM_REPORT_CORE_GRID_H

#include "l1/core_views.h"
#include "report/write/l1_picture.h"

/* Appends the grid as lines, with a line that explains the shades; the core (x, y) stands in brackets, none when it is outside. */
void ttm_core_grid_text(const ttm_core_grid *grid, unsigned x, unsigned y, const ttm_picture_style *style,
                        ttm_buf *out);

/* False when all cores have the same shade. */
bool ttm_core_grid_varies(const ttm_core_grid *grid);

/* Appends what a terminal shows of a view: the operation, the grid and the column of the core (x, y). 0 or TTM_ENOMEM. */
int ttm_core_view_text(const ttm_core_views *views, uint32_t view, unsigned x, unsigned y,
                       const ttm_picture_style *style, ttm_buf *out);

/* Appends one <svg> element that stands by itself. 0 or TTM_ENOMEM. */
int ttm_core_grid_svg(const ttm_core_grid *grid, ttm_buf *out);

#endif
