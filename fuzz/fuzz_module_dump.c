/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a module dump: never a crash, types and SSA names lie inside the text, lines exist, names come once. */
#include "fuzz.h"

#include "parse/module_dump.h"

/* However the aliases name each other, a type stays of a size. */
static void check_types(ttm_str text, const ttm_module_args *args) {
  ttm_module_types types = {0};
  ttm_buf out = {0};
  if (ttm_module_types_read(&types, text)) abort();
  for (size_t i = 0; i < args->n; i++) {
    ttm_buf_clear(&out);
    ttm_module_types_expand(&types, args->at[i].type, &out);
    if (out.failed || out.n > 16384) abort();
  }
  ttm_buf_free(&out);
  ttm_module_types_free(&types);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_str text = {(const char *)data, size};
  ttm_arena arena = {0};
  ttm_module_args args = {0};
  ttm_loc_lines lines = {0};
  size_t line_count = 1;
  for (size_t i = 0; i < size; i++) line_count += data[i] == '\n';

  if (ttm_module_args_parse(text, &arena, &args) || ttm_module_loc_lines(text, &arena, &lines)) abort();
  for (size_t i = 0; i < args.n; i++) {
    check_inside(text, args.at[i].ssa);
    check_inside(text, args.at[i].type);
    check_inside(text, args.at[i].local_type);
    check_inside(text, args.at[i].shard_status);
    if (!args.at[i].ssa.n || !args.at[i].type.n) abort();
  }
  for (size_t i = 0; i < lines.n; i++) {
    if (!lines.at[i].name.n || !lines.at[i].line || lines.at[i].line > line_count) abort();
    for (size_t k = 0; k < i && i < 64; k++) {
      if (ttm_str_eq(lines.at[i].name, lines.at[k].name)) abort();
    }
  }
  check_inside(text, ttm_module_facts_read(text).name);
  check_types(text, &args);
  ttm_vec_free(&args);
  ttm_vec_free(&lines);
  ttm_arena_free(&arena);
  return 0;
}
