/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/scan_findings.h"

/* ---- Buffers -------------------------------------------------------------------------------------------------------- */

static const char *const origin_names[TTM_CB_ORIGINS] = {"CircularBufferConfig", "create_cb", "CBDescriptor",
                                                         "DataflowBuffer"};
const char *ttm_cb_origin_name(ttm_cb_origin origin) { return origin_names[origin]; }

static const char *const level_names[TTM_SCAN_LEVELS] = {"error", "warning", "note"};
const char *ttm_scan_level_name(ttm_scan_level level) { return level_names[level]; }

static bool sizes_known(const ttm_scan_value *v) {
  return v->type == TTM_VALUE_INT && ttm_value_is_known(v) && ttm_value_min(v) >= 0;
}

bool ttm_cb_pages(const ttm_cb *cb, uint64_t *least, uint64_t *most) {
  *least = UINT64_MAX;
  *most = 0;
  if (!cb->slot_count || !sizes_known(&cb->total.value)) return false;
  const ttm_scan_value *page = &cb->slots[0].page.value;
  for (size_t s = 0; s < cb->slot_count; s++) {
    const ttm_scan_value *other = &cb->slots[s].page.value;
    if (!sizes_known(other) || ttm_value_min(other) <= 0) return false;
    /* Aliases may look at the same memory in pages of another size. */
    if (ttm_value_min(other) != ttm_value_min(page) || ttm_value_max(other) != ttm_value_max(page)) return false;
  }
  /* Both usually follow one choice (of a format, say): pair by pair when they have as many alternatives. */
  const ttm_scan_value *total = &cb->total.value;
  for (int i = 0; i < total->n; i++) {
    for (int j = 0; j < page->n; j++) {
      if (total->n == page->n && i != j) continue;
      uint64_t pages = (uint64_t)total->v[i].i / (uint64_t)page->v[j].i;
      if (pages < *least) *least = pages;
      if (pages > *most) *most = pages;
    }
  }
  return true;
}

bool ttm_cb_bytes(const ttm_cb *cb, uint64_t *least, uint64_t *most) {
  const ttm_scan_value *total = &cb->total.value;
  *least = *most = 0;
  if (cb->owner == TTM_CB_GLOBAL || cb->address_only) return true;
  if (total->type != TTM_VALUE_INT) return false;
  if (sizes_known(total) && cb->owner == TTM_CB_OWN) *least = (uint64_t)ttm_value_min(total);
  int64_t bound = ttm_value_bound(total);
  if (bound == INT64_MAX || bound < 0) return false;
  *most = (uint64_t)bound;
  return true;
}

bool ttm_cb_is_adaptive(const ttm_cb *cb) { return cb->total.value.varies || !ttm_value_is_one(&cb->total.value); }

/* ---- Kernels -------------------------------------------------------------------------------------------------------- */

/* Takes the last part off a path; false when there is none. "." and ".." are no parts. */
static bool take_last_part(ttm_str *path, ttm_str *part) {
  while (path->n) {
    size_t start = path->n;
    while (start && path->p[start - 1] != '/') start--;
    *part = ttm_str_from(*path, start);
    path->n = start ? start - 1 : 0;
    if (part->n && !ttm_str_eq(*part, TTM_LIT(".")) && !ttm_str_eq(*part, TTM_LIT(".."))) return true;
  }
  return false;
}

/* Parts two paths share at their ends; 0 when that is too little to call them the same file: a reference is a path from the root of
 * some checkout and the scan may have begun deeper, so either all of one of them, or three parts. */
static size_t shared_parts(ttm_str a, ttm_str b) {
  size_t shared = 0;
  for (;;) {
    ttm_str x, y;
    bool more_a = take_last_part(&a, &x), more_b = take_last_part(&b, &y);
    if (!more_a || !more_b) return shared;
    if (!ttm_str_eq(x, y)) return shared >= 3 ? shared : 0;
    shared++;
  }
}

uint32_t ttm_scan_kernel_file(const ttm_scan *scan, const ttm_kernel_ref *ref) {
  uint32_t found = UINT32_MAX;
  size_t best = 0;
  if (ref->path.type != TTM_VALUE_STRING || !ttm_value_is_one(&ref->path)) return UINT32_MAX;
  for (size_t f = 0; f < scan->files.n; f++) {
    if (scan->files.at[f].role != TTM_FILE_KERNEL) continue;
    size_t shared = shared_parts(ttm_str_of(scan->files.at[f].path), ref->path.v[0].t);
    if (shared > best)
      best = shared, found = (uint32_t)f;
    else if (shared && shared == best)
      found = UINT32_MAX; /* two are as good */
  }
  return found;
}

static ttm_scan_value named_meaning(const ttm_kernel_ref *ref, ttm_str name) {
  for (size_t i = 0; i < ref->named_count; i++) {
    if (ttm_str_eq(ref->named[i].name, name)) return ref->named[i].value;
  }
  return ttm_value_unknown(name);
}

ttm_scan_value ttm_scan_meaning(const ttm_kernel_ref *ref, const ttm_scan_value *id) {
  if (!ttm_value_is_one(id)) return *id;
  switch (id->type) {
    case TTM_VALUE_ARG:
      if (id->v[0].i < 0 || (uint64_t)id->v[0].i >= ref->arg_count) return ttm_value_unknown((ttm_str){0});
      return ref->args[id->v[0].i].value;
    case TTM_VALUE_NAMED_ARG:
    case TTM_VALUE_ACCESSOR:
      return named_meaning(ref, id->v[0].t);
    default:
      return *id;
  }
}

const ttm_cb *ttm_scan_buffer(const ttm_scan *scan, const ttm_cb_function *function, const ttm_scan_value *meaning) {
  const ttm_cb *found = NULL;
  if (!ttm_value_is_one(meaning)) return NULL;
  for (uint32_t i = 0; i < function->cb_count; i++) {
    const ttm_cb *cb = &scan->cbs.at[function->first_cb + i];
    if (!cb->created || cb->address_only) continue;
    for (size_t s = 0; s < cb->slot_count; s++) {
      const ttm_scan_value *index = &cb->slots[s].index.value;
      if (!ttm_value_is_known(index)) return NULL; /* it might be this one */
      if (index->type != meaning->type) continue;
      for (int v = 0; v < index->n; v++) {
        bool same = index->type == TTM_VALUE_STRING ? ttm_str_eq(index->v[v].t, meaning->v[0].t)
                                                    : index->v[v].i == meaning->v[0].i;
        if (!same || found == cb) continue;
        if (found || index->n > 1) return NULL;
        found = cb;
      }
    }
  }
  return found;
}
