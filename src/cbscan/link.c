/* SPDX-License-Identifier: Apache-2.0 */
#include "cbscan/findings.h"

/* ---- Buffers -------------------------------------------------------------------------------------------------------- */

static const char *const origin_names[CBS_ORIGINS] = {"CircularBufferConfig", "create_cb", "CBDescriptor",
                                                      "DataflowBuffer"};
const char *cbs_origin_name(cbs_origin origin) { return origin_names[origin]; }

static bool sizes_known(const cbs_value *v) {
  return v->type == CBS_VALUE_INT && cbs_value_is_known(v) && cbs_value_min(v) >= 0;
}

bool cbs_buffer_pages(const cbs_buffer *cb, uint64_t *least, uint64_t *most) {
  *least = UINT64_MAX;
  *most = 0;
  if (!cb->slot_count || !sizes_known(&cb->total.value)) return false;
  const cbs_value *page = &cb->slots[0].page.value;
  for (size_t s = 0; s < cb->slot_count; s++) {
    const cbs_value *other = &cb->slots[s].page.value;
    if (!sizes_known(other) || cbs_value_min(other) <= 0) return false;
    /* Aliases may look at the same memory in pages of another size. */
    if (cbs_value_min(other) != cbs_value_min(page) || cbs_value_max(other) != cbs_value_max(page)) return false;
  }
  /* Both usually follow one choice (of a format, say): pair by pair when they have as many alternatives. */
  const cbs_value *total = &cb->total.value;
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

bool cbs_buffer_bytes(const cbs_buffer *cb, uint64_t *least, uint64_t *most) {
  const cbs_value *total = &cb->total.value;
  *least = *most = 0;
  if (cb->owner == CBS_GLOBAL || cb->address_only) return true;
  if (total->type != CBS_VALUE_INT) return false;
  if (sizes_known(total) && cb->owner == CBS_OWN) *least = (uint64_t)cbs_value_min(total);
  int64_t bound = cbs_value_bound(total);
  if (bound == INT64_MAX || bound < 0) return false;
  *most = (uint64_t)bound;
  return true;
}

bool cbs_buffer_is_adaptive(const cbs_buffer *cb) {
  return cb->total.value.varies || !cbs_value_is_one(&cb->total.value);
}

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

uint32_t cbs_kernel_file(const cbs_scan *scan, const cbs_kernel_ref *ref) {
  uint32_t found = UINT32_MAX;
  size_t best = 0;
  if (ref->path.type != CBS_VALUE_STRING || !cbs_value_is_one(&ref->path)) return UINT32_MAX;
  for (size_t f = 0; f < scan->files.n; f++) {
    if (scan->files.at[f].role != CBS_FILE_KERNEL) continue;
    size_t shared = shared_parts(ttm_str_of(scan->files.at[f].path), ref->path.v[0].t);
    if (shared > best)
      best = shared, found = (uint32_t)f;
    else if (shared && shared == best)
      found = UINT32_MAX; /* two are as good */
  }
  return found;
}

static cbs_value named_meaning(const cbs_kernel_ref *ref, ttm_str name) {
  for (size_t i = 0; i < ref->named_count; i++) {
    if (ttm_str_eq(ref->named[i].name, name)) return ref->named[i].value;
  }
  return cbs_value_unknown(name);
}

cbs_value cbs_meaning(const cbs_kernel_ref *ref, const cbs_value *id) {
  if (!cbs_value_is_one(id)) return *id;
  switch (id->type) {
    case CBS_VALUE_ARG:
      if (id->v[0].i < 0 || (uint64_t)id->v[0].i >= ref->arg_count) return cbs_value_unknown((ttm_str){0});
      return ref->args[id->v[0].i].value;
    case CBS_VALUE_NAMED_ARG:
    case CBS_VALUE_ACCESSOR:
      return named_meaning(ref, id->v[0].t);
    default:
      return *id;
  }
}

const cbs_buffer *cbs_find_buffer(const cbs_scan *scan, const cbs_function *function, const cbs_value *meaning) {
  const cbs_buffer *found = NULL;
  if (!cbs_value_is_one(meaning)) return NULL;
  for (uint32_t i = 0; i < function->buffer_count; i++) {
    const cbs_buffer *cb = &scan->buffers.at[function->first_buffer + i];
    if (!cb->created || cb->address_only) continue;
    for (size_t s = 0; s < cb->slot_count; s++) {
      const cbs_value *index = &cb->slots[s].index.value;
      if (!cbs_value_is_known(index)) return NULL; /* it might be this one */
      if (index->type != meaning->type) continue;
      for (int v = 0; v < index->n; v++) {
        bool same = index->type == CBS_VALUE_STRING ? ttm_str_eq(index->v[v].t, meaning->v[0].t)
                                                    : index->v[v].i == meaning->v[0].i;
        if (!same || found == cb) continue;
        if (found || index->n > 1) return NULL;
        found = cb;
      }
    }
  }
  return found;
}
