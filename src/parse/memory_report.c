/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/memory_report.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/error.h"
#include "parse/mlir_scan.h"

bool ttm_memory_report_detect(ttm_str v) {
  ttm_str_take(&v, TTM_LIT("\xEF\xBB\xBF"));
  ttm_scan_skip_space(&v);
  bool keyed = ttm_str_take(&v, TTM_LIT("{"));
  if (!keyed && !ttm_str_take(&v, TTM_LIT("["))) return false;
  ttm_scan_skip_space(&v);
  if (keyed) {
    if (!ttm_str_take(&v, TTM_LIT("\"0\""))) return false;
    ttm_scan_skip_space(&v);
    if (!ttm_str_take(&v, TTM_LIT(":"))) return false;
    ttm_scan_skip_space(&v);
  }
  if (!ttm_str_take(&v, TTM_LIT("{"))) return false;
  ttm_scan_skip_space(&v);
  return ttm_str_take(&v, TTM_LIT("\"loc\"")) || ttm_str_take(&v, TTM_LIT("\"debug_str\""));
}

/* The table has numbers as texts. */
static void read_number(ttm_json_pull *j, uint64_t *out) {
  ttm_json_scalar v;
  int64_t number;
  if (ttm_json_value(j, &v) && ttm_json_integer(&v, &number)) *out = number > 0 ? (uint64_t)number : 0;
}

static int read_block(ttm_json_pull *j, ttm_memory_report_view *view) {
  ttm_table_block block = {0};
  ttm_str key;
  bool allocated = false;
  if (!ttm_json_enter_if(j, '{')) return TTM_OK;
  while (ttm_json_key(j, &key)) {
    ttm_json_scalar v;
    if (ttm_str_eq(key, TTM_LIT("address")))
      read_number(j, &block.address);
    else if (ttm_str_eq(key, TTM_LIT("size")))
      read_number(j, &block.size);
    else if (ttm_str_eq(key, TTM_LIT("allocated")))
      allocated = ttm_json_value(j, &v) && (v.kind == TTM_JSON_TRUE || ttm_str_eq(v.text, TTM_LIT("yes")));
    else
      ttm_json_skip(j);
  }
  return allocated ? ttm_vec_push(&view->blocks, block) : TTM_OK;
}

static int by_address(const void *a, const void *b) {
  const ttm_table_block *x = a, *y = b;
  return (x->address > y->address) - (x->address < y->address);
}

static int read_table(ttm_json_pull *j, ttm_memory_report_view *view) {
  int status = TTM_OK;
  if (!ttm_json_enter_if(j, '[')) return TTM_OK;
  while (!status && ttm_json_item(j)) status = read_block(j, view);
  if (view->blocks.n) qsort(view->blocks.at, view->blocks.n, sizeof *view->blocks.at, by_address);
  return status;
}

static int read_view(ttm_json_pull *j, ttm_memory_report_view *view) {
  static const char *const keys[] = {"num_banks", "total_bytes_per_bank", "total_bytes_allocated_per_bank",
                                     "total_bytes_free_per_bank", "largest_contiguous_bytes_free_per_bank"};
  uint64_t *const into[] = {&view->banks, &view->total, &view->allocated, &view->free, &view->largest};
  ttm_str key;
  int status = TTM_OK;
  uint64_t sum = 0;
  if (!ttm_json_enter_if(j, '{')) return TTM_OK;
  view->told = true;
  while (!status && ttm_json_key(j, &key)) {
    size_t k = ttm_str_index(key, keys, sizeof keys / sizeof *keys);
    if (k < sizeof keys / sizeof *keys)
      read_number(j, into[k]);
    else if (ttm_str_eq(key, TTM_LIT("block_table")))
      status = read_table(j, view);
    else
      ttm_json_skip(j);
  }
  for (size_t i = 0; i < view->blocks.n; i++) sum = ttm_add_sat(sum, view->blocks.at[i].size);
  view->whole = view->told && sum == view->allocated;
  return status;
}

static void clear(ttm_memory_report_entry *e) {
  ttm_buf_clear(&e->text);
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_memory_report_view *view = &e->views[m];
    view->told = view->whole = false;
    view->banks = view->total = view->allocated = view->free = view->largest = 0;
    view->blocks.n = 0;
  }
}

static int read_entry(ttm_json_pull *j, ttm_memory_report_entry *e) {
  static const char *const memories[TTM_MEMORIES] = {"dram", "l1", "l1_small", "trace"};
  ttm_json_scalar v;
  ttm_str key;
  int status = TTM_OK;
  clear(e);
  if (!ttm_json_enter_if(j, '{')) return TTM_OK;
  e->line = j->line < TTM_NONE ? (uint32_t)j->line : TTM_NONE - 1;
  while (!status && ttm_json_key(j, &key)) {
    size_t m = ttm_str_index(key, memories, TTM_MEMORIES);
    if (m < TTM_MEMORIES)
      status = read_view(j, &e->views[m]);
    else if (!ttm_str_eq(key, TTM_LIT("debug_str")))
      ttm_json_skip(j);
    else if (ttm_json_value(j, &v) && v.kind == TTM_JSON_STRING)
      ttm_buf_clear(&e->text), ttm_buf_put(&e->text, v.text);
  }
  return status || e->text.failed ? TTM_ENOMEM : TTM_OK;
}

static bool next(ttm_memory_report_reader *r) {
  ttm_str key;
  if (!r->started) {
    r->started = true;
    r->keyed = ttm_json_peek(&r->json) == TTM_JSON_OBJECT;
    if (!ttm_json_enter(&r->json, r->keyed ? '{' : '[')) return false;
  }
  return r->keyed ? ttm_json_key(&r->json, &key) : ttm_json_item(&r->json);
}

bool ttm_memory_report_next(ttm_memory_report_reader *r, ttm_memory_report_entry *out, int *status) {
  *status = TTM_OK;
  if (!next(r)) return false;
  *status = read_entry(&r->json, out);
  return !*status && !r->json.error;
}

void ttm_memory_report_entry_free(ttm_memory_report_entry *e) {
  ttm_buf_free(&e->text);
  for (int m = 0; m < TTM_MEMORIES; m++) ttm_vec_free(&e->views[m].blocks);
}
