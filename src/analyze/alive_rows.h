/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a live set being gathered: alike tensors together, largest first, folded by layer, by module. Private to analyze. */
#ifndef TTM_ANALYZE_ALIVE_ROWS_H
#define TTM_ANALYZE_ALIVE_ROWS_H

#include "analyze/alive_set.h"
#include "base/map.h"

/* Set `set` and `p`, zero the rest. */
typedef struct ttm_alive_rows {
  ttm_alive_set *set;
  const ttm_profile *p;
  TTM_VEC(ttm_alive_row) rows;
  ttm_map by_name, by_text; /* row + 1 */
} ttm_alive_rows;

/* Counts what the row holds and adds it to those of its name, or of its operation `text`. 0 or TTM_ENOMEM. */
int ttm_alive_rows_add(ttm_alive_rows *rows, const ttm_alive_row *row, uint32_t text);
/* Memory that nothing names, which is no tensor. 0 or TTM_ENOMEM. */
int ttm_alive_rows_add_rest(ttm_alive_rows *rows, ttm_alive_class class, uint64_t bytes);
/* Orders and folds them into the set. 0 or TTM_ENOMEM. */
int ttm_alive_rows_keep(ttm_alive_rows *rows);
void ttm_alive_rows_free(ttm_alive_rows *rows);

#endif
