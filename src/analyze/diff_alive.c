/* SPDX-License-Identifier: Apache-2.0 */
/* The live tensors at either peak side by side. */
#include <stdlib.h>

#include "analyze/diff.h"

typedef struct merger {
  ttm_diff *diff;
  ttm_memory memory;
  ttm_intern keys; /* class and name of a group: its row is the key's id less 1 */
  ttm_buf key;     /* reused */
} merger;

static ttm_diff_alive *row_of(merger *m, const ttm_alive_group *group) {
  ttm_diff_alive new = {.class = group->class, .name = group->name, .op = {TTM_NONE, TTM_NONE}};
  uint32_t id;
  ttm_buf_clear(&m->key);
  ttm_buf_char(&m->key, (char)('a' + group->class));
  ttm_buf_put(&m->key, group->name);
  if (m->key.failed || ttm_intern_add(&m->keys, ttm_buf_str(&m->key), &id)) return NULL;
  if (id > m->diff->alive[m->memory].n && ttm_vec_push(&m->diff->alive[m->memory], new)) return NULL;
  return &m->diff->alive[m->memory].at[id - 1];
}

static int merge(merger *m) {
  for (int s = 0; s < 2; s++) {
    const ttm_alive_set *set = &m->diff->f[s]->alive_set[m->memory];
    for (size_t i = 0; i < set->groups.n; i++) {
      const ttm_alive_group *group = &set->groups.at[i];
      ttm_diff_alive *row = row_of(m, group);
      if (!row) return TTM_ENOMEM;
      if (!row->tensors[s]) row->op[s] = group->op;
      row->tensors[s] += group->tensors;
      row->bytes[s] += group->bank_bytes;
    }
  }
  return TTM_OK;
}

/* A group that one log has may be among those that the other did not keep: nothing is said of it. */
static bool is_change(const merger *m, const ttm_diff_alive *row) {
  for (int s = 0; s < 2; s++)
    if (!row->bytes[s] && m->diff->f[s]->alive_set[m->memory].other_groups) return false;
  return llabs((int64_t)(row->bytes[1] - row->bytes[0])) > TTM_DIFF_NOISE_BYTES;
}

static int by_change(const void *a, const void *b) {
  const ttm_diff_alive *x = a, *y = b;
  int64_t p = llabs((int64_t)(x->bytes[1] - x->bytes[0])), q = llabs((int64_t)(y->bytes[1] - y->bytes[0]));
  if (p != q) return p > q ? -1 : 1;
  return x->class != y->class ? (x->class < y->class ? -1 : 1) : ttm_str_order(x->name, y->name);
}

static int compare_sets(ttm_diff *d, ttm_memory memory) {
  merger m = {.diff = d, .memory = memory};
  size_t kept = 0;
  if (!d->f[0]->alive_set[memory].known || !d->f[1]->alive_set[memory].known) return TTM_OK;
  int status = merge(&m);
  for (size_t i = 0; i < d->alive[memory].n && !status; i++)
    if (is_change(&m, &d->alive[memory].at[i])) d->alive[memory].at[kept++] = d->alive[memory].at[i];
  d->alive[memory].n = kept;
  if (kept) qsort(d->alive[memory].at, kept, sizeof *d->alive[memory].at, by_change);
  ttm_intern_free(&m.keys);
  ttm_buf_free(&m.key);
  return status;
}

int ttm_diff_alive_sets(ttm_diff *d) {
  int status = compare_sets(d, TTM_DRAM);
  return status ? status : compare_sets(d, TTM_L1);
}
