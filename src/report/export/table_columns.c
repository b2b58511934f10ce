/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/table_columns.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define AT(type, member) offsetof(ttm_##type##_info, member)

/* ---- Operations ---------------------------------------------------------------------------------------------------------- */

static const ttm_column operations[] = {
    {"operation", TTM_COLUMN_ROW, 0},
    {"index", TTM_COLUMN_INDEX, 0},
    {"name", TTM_COLUMN_TEXT, AT(operation, name)},
    {"location", TTM_COLUMN_TEXT, AT(operation, location)},
    {"attributes", TTM_COLUMN_TEXT, AT(operation, attributes)},
    {"program", TTM_COLUMN_TEXT, AT(operation, program)},
    {"run", TTM_COLUMN_U32, AT(operation, run)},
    {"rank", TTM_COLUMN_U32, AT(operation, rank)},
    {"line", TTM_COLUMN_LINE, AT(operation, line)},
    {"state", TTM_COLUMN_U32, AT(operation, state)},
    {"tensor", TTM_COLUMN_U32, AT(operation, tensor)},
    {"results", TTM_COLUMN_U32, AT(operation, results)},
    {"dram_delta", TTM_COLUMN_I64, AT(operation, dram_delta)},
    {"l1_delta", TTM_COLUMN_I64, AT(operation, l1_delta)},
    {"deallocate", TTM_COLUMN_FLAG, AT(operation, is_deallocate)},
    {"const_eval", TTM_COLUMN_FLAG, AT(operation, const_eval)},
    {"cache_hit", TTM_COLUMN_FLAG, AT(operation, cache_hit)},
    {"retained", TTM_COLUMN_FLAG, AT(operation, retained)},
    {"failed", TTM_COLUMN_FLAG, AT(operation, failed)},
};

static uint32_t operation_rows(const ttm_findings *f) { return ttm_operation_count(f->profile); }

static void get_operation(const ttm_findings *f, uint32_t row, ttm_table_row *out) {
  ttm_operation_get(f->profile, row, &out->operation, NULL);
}

/* ---- States -------------------------------------------------------------------------------------------------------------- */

#define MEMORY_COLUMNS(name, memory_id)                                             \
  {name "_banks", TTM_COLUMN_U64, AT(state, memory[memory_id].banks)},              \
      {name "_capacity", TTM_COLUMN_U64, AT(state, memory[memory_id].capacity)},    \
      {name "_allocated", TTM_COLUMN_U64, AT(state, memory[memory_id].allocated)},  \
      {name "_free", TTM_COLUMN_U64, AT(state, memory[memory_id].free)}, {          \
    name "_largest_free", TTM_COLUMN_U64, AT(state, memory[memory_id].largest_free) \
  }

static const ttm_column states[] = {
    {"state", TTM_COLUMN_ROW, 0},
    {"moment", TTM_COLUMN_TEXT, AT(state, moment)},
    {"operation", TTM_COLUMN_U32, AT(state, operation)},
    {"rank", TTM_COLUMN_U32, AT(state, rank)},
    {"line", TTM_COLUMN_LINE, AT(state, line)},
    MEMORY_COLUMNS("dram", TTM_DRAM),
    MEMORY_COLUMNS("l1", TTM_L1),
    MEMORY_COLUMNS("l1_small", TTM_L1_SMALL),
    MEMORY_COLUMNS("trace", TTM_TRACE),
};

static uint32_t state_rows(const ttm_findings *f) { return ttm_state_count(f->profile); }

static void get_state(const ttm_findings *f, uint32_t row, ttm_table_row *out) {
  ttm_state_get(f->profile, row, &out->state, NULL);
}

/* ---- Tensors ------------------------------------------------------------------------------------------------------------- */

static const ttm_column tensors[] = {
    {"tensor", TTM_COLUMN_ROW, 0},
    {"name", TTM_COLUMN_TEXT, AT(tensor, name)},
    {"class", TTM_COLUMN_TEXT, AT(tensor, category)},
    {"dtype", TTM_COLUMN_TEXT, AT(tensor, dtype)},
    {"shape", TTM_COLUMN_SHAPE, 0},
    {"layout", TTM_COLUMN_TEXT, AT(tensor, layout)},
    {"memory_layout", TTM_COLUMN_TEXT, AT(tensor, memory_layout)},
    {"memory", TTM_COLUMN_MEMORY, AT(tensor, memory)},
    {"logical_bytes", TTM_COLUMN_U64, AT(tensor, logical_bytes)},
    {"stored_bytes", TTM_COLUMN_U64, AT(tensor, stored_bytes)},
    {"bank_bytes", TTM_COLUMN_U64, AT(tensor, bank_bytes)},
    {"address", TTM_COLUMN_U64, AT(tensor, address)},
    {"birth", TTM_COLUMN_U32, AT(tensor, birth)},
    {"result", TTM_COLUMN_U32, AT(tensor, result)},
    {"last_use", TTM_COLUMN_U32, AT(tensor, last_use)},
    {"freed_by", TTM_COLUMN_U32, AT(tensor, freed_by)},
    {"same_as", TTM_COLUMN_U32, AT(tensor, same_as)},
    {"alive_at_peak", TTM_COLUMN_FLAG, AT(tensor, alive_at_peak)},
};

static void get_tensor(const ttm_findings *f, uint32_t row, ttm_table_row *out) {
  ttm_tensor_get(f, row, &out->tensor, NULL);
}

/* ---- Failures ------------------------------------------------------------------------------------------------------------ */

static const ttm_column incidents[] = {
    {"incident", TTM_COLUMN_ROW, 0},
    {"kind", TTM_COLUMN_TEXT, AT(incident, kind)},
    {"verdict", TTM_COLUMN_TEXT, AT(incident, verdict)},
    {"memory", TTM_COLUMN_TEXT, AT(incident, memory)},
    {"text", TTM_COLUMN_TEXT, AT(incident, text)},
    {"operation", TTM_COLUMN_U32, AT(incident, operation)},
    {"state", TTM_COLUMN_U32, AT(incident, state)},
    {"rank", TTM_COLUMN_U32, AT(incident, rank)},
    {"line", TTM_COLUMN_LINE, AT(incident, line)},
    {"shortfall", TTM_COLUMN_U64, AT(incident, shortfall)},
    {"buffer", TTM_COLUMN_U64, AT(incident, buffer)},
    {"banks", TTM_COLUMN_U64, AT(incident, banks)},
    {"needed", TTM_COLUMN_U64, AT(incident, needed)},
    {"bank_size", TTM_COLUMN_U64, AT(incident, bank_size)},
    {"allocated", TTM_COLUMN_U64, AT(incident, allocated)},
    {"free", TTM_COLUMN_U64, AT(incident, free)},
    {"largest_free", TTM_COLUMN_U64, AT(incident, largest_free)},
};

static void get_incident(const ttm_findings *f, uint32_t row, ttm_table_row *out) {
  ttm_incident_get(f, row, &out->incident, NULL);
}

/* ---- Statements and fixes ------------------------------------------------------------------------------------------------ */

static const ttm_column statements[] = {
    {"statement", TTM_COLUMN_ROW, 0},
    {"id", TTM_COLUMN_TEXT, AT(statement, id)},
    {"topic", TTM_COLUMN_TEXT, AT(statement, topic)},
    {"severity", TTM_COLUMN_TEXT, AT(statement, severity)},
    {"basis", TTM_COLUMN_TEXT, AT(statement, basis)},
    {"headline", TTM_COLUMN_TEXT, AT(statement, headline)},
    {"detail", TTM_COLUMN_TEXT, AT(statement, detail)},
    {"operation", TTM_COLUMN_U32, AT(statement, operation)},
    {"line", TTM_COLUMN_LINE, AT(statement, line)},
    {"fixes", TTM_COLUMN_U32, AT(statement, fixes)},
};

static void get_statement(const ttm_findings *f, uint32_t row, ttm_table_row *out) {
  ttm_statement_get(f, row, &out->statement, NULL);
}

static const ttm_column fixes[] = {
    {"fix", TTM_COLUMN_ROW, 0},
    {"statement", TTM_COLUMN_U32, AT(fix, statement)},
    {"rank", TTM_COLUMN_U32, AT(fix, rank)},
    {"kind", TTM_COLUMN_TEXT, AT(fix, kind)},
    {"text", TTM_COLUMN_TEXT, AT(fix, text)},
    {"verified", TTM_COLUMN_TEXT, AT(fix, verified)},
    {"bytes", TTM_COLUMN_U64, AT(fix, bytes)},
    {"count", TTM_COLUMN_U64, AT(fix, count)},
    {"operation", TTM_COLUMN_U32, AT(fix, operation)},
};

static void get_fix(const ttm_findings *f, uint32_t row, ttm_table_row *out) { ttm_fix_get(f, row, &out->fix, NULL); }

/* ---- All of them --------------------------------------------------------------------------------------------------------- */

const ttm_table_form *ttm_table_form_of(ttm_table table) {
  static const ttm_table_form forms[TTM_TABLES] = {
      [TTM_TABLE_OPERATIONS] = {"operations", operations, COUNT(operations), operation_rows, get_operation},
      [TTM_TABLE_STATES] = {"states", states, COUNT(states), state_rows, get_state},
      [TTM_TABLE_TENSORS] = {"tensors", tensors, COUNT(tensors), ttm_tensor_count, get_tensor},
      [TTM_TABLE_INCIDENTS] = {"incidents", incidents, COUNT(incidents), ttm_incident_count, get_incident},
      [TTM_TABLE_STATEMENTS] = {"statements", statements, COUNT(statements), ttm_statement_count, get_statement},
      [TTM_TABLE_FIXES] = {"fixes", fixes, COUNT(fixes), ttm_fix_count, get_fix},
  };
  return (unsigned)table < TTM_TABLES ? &forms[table] : NULL;
}

const char *ttm_table_name(ttm_table table) {
  const ttm_table_form *form = ttm_table_form_of(table);
  return form ? form->name : NULL;
}

uint32_t ttm_table_rows(const ttm_findings *f, ttm_table table) {
  const ttm_table_form *form = ttm_table_form_of(table);
  return form ? form->rows(f) : 0;
}
