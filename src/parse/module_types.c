/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/module_dump.h"

#include "base/error.h"
#include "parse/mlir_scan.h"

enum {
  DEPTH = 4,            /* a layout names a buffer type, which names nothing */
  LONGEST_TYPE = 16384, /* what aliases may make of one type */
};

static size_t name_length(ttm_str at_hash) {
  size_t n = 1;
  while (n < at_hash.n && ttm_scan_is_name(at_hash.p[n]) && at_hash.p[n] != '.') n++;
  return n;
}

/* `#ttnn_layout3 = #ttnn.ttnn_layout<...>`; locations and the system description are no part of a type. */
static bool read_alias(ttm_str line, ttm_str *name, ttm_str *meant) {
  *name = ttm_str_first(line, name_length(line));
  ttm_str rest = ttm_str_trim(ttm_str_from(line, name->n));
  if (name->n < 2 || !ttm_str_take(&rest, TTM_LIT("="))) return false;
  *meant = ttm_str_trim(rest);
  return ttm_str_starts(*meant, TTM_LIT("#ttnn"));
}

int ttm_module_types_read(ttm_module_types *types, ttm_str text) {
  while (text.n) {
    ttm_str line = ttm_str_trim(ttm_str_take_to(&text, '\n')), name, meant;
    if (ttm_str_starts(line, TTM_LIT("module"))) break; /* what stands behind it are locations */
    if (!line.n || line.p[0] != '#' || !read_alias(line, &name, &meant)) continue;
    uint32_t id;
    if (ttm_intern_add(&types->names, name, &id)) return TTM_ENOMEM;
    while (types->meant.n <= id) {
      if (ttm_vec_push(&types->meant, (ttm_str){NULL, 0})) return TTM_ENOMEM;
    }
    types->meant.at[id] = meant;
  }
  return TTM_OK;
}

void ttm_module_types_free(ttm_module_types *types) {
  ttm_intern_free(&types->names);
  ttm_vec_free(&types->meant);
}

static void put(ttm_buf *out, ttm_str text, size_t end) {
  if (out->n < end) ttm_buf_put(out, ttm_str_first(text, end - out->n));
}

static void expand(const ttm_module_types *types, ttm_str type, ttm_buf *out, size_t end, int depth) {
  while (type.n && out->n < end) {
    size_t hash = ttm_str_find_char(type, '#');
    put(out, ttm_str_first(type, hash), end);
    if (hash == TTM_NOT_FOUND) return;
    type = ttm_str_from(type, hash);
    ttm_str name = ttm_str_first(type, name_length(type));
    bool whole = name.n == type.n || type.p[name.n] != '.'; /* `#ttnn.buffer_type` is no alias */
    uint32_t id = whole && depth < DEPTH ? ttm_intern_find(&types->names, name) : 0;
    if (id)
      expand(types, types->meant.at[id], out, end, depth + 1);
    else
      put(out, name, end);
    type = ttm_str_from(type, name.n);
  }
}

void ttm_module_types_expand(const ttm_module_types *types, ttm_str type, ttm_buf *out) {
  expand(types, type, out, out->n + LONGEST_TYPE, 0);
}
