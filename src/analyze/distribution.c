/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analyze/parts.h"

/* "ttnn.add" -> "add"; "RepeatOp" stays. */
static ttm_str without_dialect(ttm_str name) {
  for (size_t i = name.n; i > 0; i--) {
    if (name.p[i - 1] == '.') return ttm_str_from(name, i);
  }
  return name;
}

typedef struct named_count {
  ttm_count count;
  uint32_t first; /* operation */
} named_count;

typedef TTM_VEC(named_count) named_counts;

static int by_count(const void *a, const void *b) {
  const named_count *x = a, *y = b;
  if (x->count.n != y->count.n) return x->count.n > y->count.n ? -1 : 1;
  return x->first < y->first ? -1 : x->first > y->first;
}

/* Texts are counted already; here texts of one name, and names of several dialects, come together. Interned ids of the
 * short names index `counts`. */
static int merge(const ttm_profile *p, const ttm_tally *tally, ttm_intern *names, named_counts *counts) {
  for (uint32_t t = 0; t < p->texts.n; t++) {
    const ttm_op_text *text = &p->texts.at[t];
    if (!tally[t].n || text->kind == TTM_OP_DEALLOCATE || text->kind == TTM_OP_GET_DEVICE) continue;
    ttm_str name = without_dialect(ttm_profile_string(p, text->name));
    uint32_t id;
    if (ttm_intern_add(names, name, &id)) return TTM_ENOMEM;
    while (counts->n <= id) {
      if (ttm_vec_push(counts, (named_count){{{"", 0}, 0}, TTM_NONE})) return TTM_ENOMEM;
    }
    named_count *row = &counts->at[id];
    row->count.name = name;
    row->count.n += tally[t].n;
    if (tally[t].first < row->first) row->first = tally[t].first;
  }
  return TTM_OK;
}

int ttm_find_distribution(ttm_findings *f, const ttm_tally *tally) {
  ttm_intern names = {0};
  named_counts counts = {0};
  int status = merge(f->profile, tally, &names, &counts);
  if (!status && counts.n) qsort(counts.at, counts.n, sizeof *counts.at, by_count);
  for (size_t i = 0; i < counts.n && counts.at[i].count.n && !status; i++) {
    status = ttm_vec_push(&f->distribution, counts.at[i].count);
  }
  ttm_intern_free(&names);
  ttm_vec_free(&counts);
  return status;
}
