/* SPDX-License-Identifier: Apache-2.0 */
/* Which columns the tables have: each is a member of the public row struct. */
#ifndef TTM_REPORT_TABLE_COLUMNS_H
#define TTM_REPORT_TABLE_COLUMNS_H

#include "analyze/findings.h"
#include "ttmem/operation.h"
#include "ttmem/state.h"
#include "ttmem/statement.h"
#include "ttmem/table.h"
#include "ttmem/tensor.h"

typedef enum ttm_column_kind {
  TTM_COLUMN_ROW,    /* the row's own number */
  TTM_COLUMN_INDEX,  /* the number under which reports print this operation */
  TTM_COLUMN_U32,    /* null for TTM_NONE */
  TTM_COLUMN_LINE,   /* likewise, null for 0 */
  TTM_COLUMN_U64,    /* null for TTM_UNKNOWN */
  TTM_COLUMN_I64,    /* null for TTM_NO_DELTA */
  TTM_COLUMN_FLAG,   /* bool */
  TTM_COLUMN_TEXT,   /* ttm_str, null when empty */
  TTM_COLUMN_MEMORY, /* ttm_memory by name, null for TTM_MEMORIES */
  TTM_COLUMN_SHAPE,  /* of a ttm_tensor_info: "32x4096", null for no dimensions */
} ttm_column_kind;

typedef struct ttm_column {
  const char *name;
  ttm_column_kind kind;
  size_t offset; /* in the row struct */
} ttm_column;

/* Room for a row of any table. The first member of each struct is its size. */
typedef union ttm_table_row {
  size_t size;
  ttm_operation_info operation;
  ttm_state_info state;
  ttm_tensor_info tensor;
  ttm_incident_info incident;
  ttm_statement_info statement;
  ttm_fix_info fix;
} ttm_table_row;

typedef struct ttm_table_form {
  const char *name;
  const ttm_column *columns;
  size_t n;
  uint32_t (*rows)(const ttm_findings *f);
  /* out->size is set. Of a row that is there: it cannot fail. */
  void (*get)(const ttm_findings *f, uint32_t row, ttm_table_row *out);
} ttm_table_form;

/* NULL when there is no such table. */
const ttm_table_form *ttm_table_form_of(ttm_table table);

#endif
