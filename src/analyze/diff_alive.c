/* SPDX-License-Identifier: Apache-2.0 */
/* The live tensors at either peak side by side. */
#include <stdlib.h>

#include "analyze/diff.h"
#include "analyze/fold.h"
#include "analyze/words.h"

typedef struct merger {
  ttm_diff *diff;
  ttm_memory memory;
  ttm_fold fold; /* of both logs: its groups are the rows */
} merger;

/* A line of a program moves with every edit above it: what is called by one is called by that of the same operation after. */
static ttm_str name_of(const ttm_diff *d, int side, const ttm_alive_group *group) {
  ttm_str file;
  uint32_t line;
  bool called = group->op != TTM_NONE && d->f[0]->profile->capture.recording.is &&
                ttm_words_source_place(group->name, &file, &line);
  uint32_t row = called && !side ? d->row_of[0][group->op] : TTM_NONE;
  uint32_t after = row == TTM_NONE ? TTM_NONE : d->rows.at[row].op[1];
  return after == TTM_NONE ? group->name : ttm_words_location(d->f[1]->profile, after);
}

static int add_group(merger *m, int side, const ttm_alive_group *group) {
  ttm_diff_alive new = {.class = group->class, .op = {TTM_NONE, TTM_NONE}};
  uint32_t at;
  if (ttm_fold_add(&m->fold, name_of(m->diff, side, group), group->class, &at)) return TTM_ENOMEM;
  if (at == m->diff->alive[m->memory].n && ttm_vec_push(&m->diff->alive[m->memory], new)) return TTM_ENOMEM;
  ttm_diff_alive *row = &m->diff->alive[m->memory].at[at];
  if (row->op[side] == TTM_NONE) row->op[side] = group->op;
  row->tensors[side] += group->tensors;
  row->bytes[side] += group->bank_bytes;
  return TTM_OK;
}

static int merge(merger *m) {
  ttm_diff *d = m->diff;
  int status = TTM_OK;
  for (int s = 0; s < 2; s++) {
    const ttm_alive_set *set = &d->f[s]->alive_set[m->memory];
    for (size_t i = 0; i < set->groups.n && !status; i++) status = add_group(m, s, &set->groups.at[i]);
  }
  for (uint32_t i = 0; i < d->alive[m->memory].n && !status; i++) {
    ttm_str *name = &d->alive[m->memory].at[i].name;
    *name = ttm_fold_name_in(&m->fold, i, &d->arena);
    if (!name->p) status = TTM_ENOMEM;
  }
  return status;
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
  merger m = {.diff = d, .memory = memory, .fold.whole = !ttm_words_has_runs(d->f[1]->profile)};
  size_t kept = 0;
  if (!d->f[0]->alive_set[memory].known || !d->f[1]->alive_set[memory].known) return TTM_OK;
  int status = merge(&m);
  for (size_t i = 0; i < d->alive[memory].n && !status; i++)
    if (is_change(&m, &d->alive[memory].at[i])) d->alive[memory].at[kept++] = d->alive[memory].at[i];
  d->alive[memory].n = kept;
  if (kept) qsort(d->alive[memory].at, kept, sizeof *d->alive[memory].at, by_change);
  ttm_fold_free(&m.fold);
  return status;
}

int ttm_diff_alive_sets(ttm_diff *d) {
  int status = compare_sets(d, TTM_DRAM);
  return status ? status : compare_sets(d, TTM_L1);
}
