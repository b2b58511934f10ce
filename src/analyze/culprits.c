/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/culprits.h"

#include <stdlib.h>

#include "analyze/op_groups.h"
#include "analyze/parts.h"
#include "base/checked.h"

enum {
  MOST_CANDIDATES = 48, /* of different sizes; beyond them the small ones are left out */
  MOST_TOGETHER = 4,    /* culprits that may have to be added up to explain the rise */
};

/* What one group of operations left in the runs seen so far. */
typedef struct remains {
  uint32_t op;
  uint32_t runs;             /* in which it left as much as in the first */
  uint32_t tensors, now;     /* per run; in the run being read */
  uint64_t bytes, bytes_now; /* likewise */
} remains;

typedef struct search {
  const ttm_findings *f;
  const ttm_profile *p;
  ttm_op_groups groups;
  uint64_t *bank_bytes;      /* per type */
  TTM_VEC(remains) left;     /* by group */
  TTM_VEC(uint32_t) touched; /* groups that left something in the run being read */
  remains candidates[MOST_CANDIDATES];
  uint32_t n;
  uint64_t rise, slack;
} search;

/* ---- What is left -------------------------------------------------------------------------------------------------------- */

static int measure_types(search *s) {
  ttm_alignment align = ttm_profile_alignment(s->p);
  ttm_level dram = {0};
  s->bank_bytes = ttm_alloc_array(s->p->types.n, sizeof *s->bank_bytes);
  if (!s->bank_bytes) return TTM_ENOMEM;
  ttm_profile_config(s->p, TTM_DRAM, &dram);
  for (size_t t = 0; t < s->p->types.n && dram.banks; t++) {
    const ttm_type *type = &s->p->types.at[t];
    if (!type->is_tensor || !type->tensor.has_layout || type->tensor.buffer != TTM_BUFFER_DRAM) continue;
    s->bank_bytes[t] = ttm_tensor_bank_bytes(&type->tensor, dram.banks, align);
  }
  return TTM_OK;
}

static int note(search *s, uint32_t op, uint64_t bytes) {
  uint32_t group;
  if (ttm_op_groups_of(&s->groups, s->p->ops.at[op].text, &group)) return TTM_ENOMEM;
  while (s->left.n <= group) {
    if (ttm_vec_push(&s->left, (remains){.op = TTM_NONE})) return TTM_ENOMEM;
  }
  remains *left = &s->left.at[group];
  if (left->op == TTM_NONE) left->op = op;
  if (!left->now && ttm_vec_push(&s->touched, group)) return TTM_ENOMEM;
  left->now++;
  left->bytes_now += bytes;
  return TTM_OK;
}

/* Results of the operation that nobody frees. */
static int note_results(search *s, uint32_t op) {
  const ttm_profile *p = s->p;
  const ttm_op *row = &p->ops.at[op];
  const ttm_op_text *text = ttm_op_text_of(p, op);
  if (row->tensor == TTM_NONE || text->kind == TTM_OP_DEALLOCATE) return TTM_OK;
  if (row->flags & (TTM_OP_FAILED | TTM_OP_CONST_EVAL)) return TTM_OK;
  for (uint32_t k = 0; k < text->outputs.n && row->tensor + k < p->tensors.n; k++) {
    const ttm_tensor *tensor = &p->tensors.at[row->tensor + k];
    uint32_t type = p->lists.at[text->outputs.first + k];
    if (tensor->birth != op || tensor->self != row->tensor + k || tensor->freed_by != TTM_NONE) continue;
    if (type < p->types.n && s->bank_bytes[type] && note(s, op, s->bank_bytes[type])) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int note_run(search *s, uint32_t run) {
  const ttm_run *row = &s->f->runs.at[run];
  for (uint32_t op = row->first_op; op != TTM_NONE && op <= row->last_op; op++) {
    uint32_t call = s->p->ops.at[op].call;
    if (call >= s->p->calls.n || (call != row->call && ttm_call_top(s->p, call) != row->call)) continue;
    if (note_results(s, op)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int read_run(search *s, uint32_t run, uint32_t before) {
  if (note_run(s, run)) return TTM_ENOMEM;
  for (size_t i = 0; i < s->touched.n; i++) {
    remains *left = &s->left.at[s->touched.at[i]];
    if (!before) left->bytes = left->bytes_now, left->tensors = left->now;
    left->runs += left->bytes == left->bytes_now;
    left->now = 0;
    left->bytes_now = 0;
  }
  s->touched.n = 0;
  return TTM_OK;
}

static int larger(const void *a, const void *b) {
  const remains *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return x->op < y->op ? -1 : x->op > y->op;
}

/* Those that left the same in every run, no more than the level rose, and more than its figures are off by. */
static void choose_candidates(search *s, size_t runs) {
  size_t n = 0;
  for (size_t g = 0; g < s->left.n; g++) {
    const remains *left = &s->left.at[g];
    if (left->op != TTM_NONE && left->runs == runs && left->bytes > s->slack && left->bytes <= s->rise + s->slack)
      s->left.at[n++] = *left;
  }
  if (n) qsort(s->left.at, n, sizeof *s->left.at, larger);
  s->n = n < MOST_CANDIDATES ? (uint32_t)n : MOST_CANDIDATES;
  if (s->n) memcpy(s->candidates, s->left.at, s->n * sizeof *s->candidates);
}

/* ---- What adds up -------------------------------------------------------------------------------------------------------- */

typedef struct sum {
  uint32_t chosen[MOST_TOGETHER], best[MOST_TOGETHER];
  uint32_t want;  /* so many together */
  uint32_t found; /* ways */
  uint64_t off;   /* of the best */
} sum;

static void add_up(const search *s, sum *x, uint32_t depth, uint32_t from, uint64_t bytes) {
  if (depth == x->want) {
    uint64_t off = ttm_apart(bytes, s->rise);
    if (off > s->slack) return;
    if (!x->found++ || off < x->off) {
      x->off = off;
      memcpy(x->best, x->chosen, sizeof x->best);
    }
    return;
  }
  for (uint32_t i = from; i < s->n; i++) {
    uint64_t with = bytes + s->candidates[i].bytes;
    if (with > s->rise + s->slack) continue;
    /* Largest first: when so many of this size are not enough, none of the rest is. */
    if (with + (x->want - depth - 1) * s->candidates[i].bytes + s->slack < s->rise) return;
    x->chosen[depth] = i;
    add_up(s, x, depth + 1, i + 1, with);
  }
}

static void give(const search *s, ttm_culprits *out, const uint32_t *which, uint32_t n, bool several) {
  for (uint32_t i = 0; i < n; i++) {
    const remains *left = &s->candidates[which ? which[i] : i];
    out->at[out->n++] = (ttm_culprit){left->op, left->tensors, left->bytes};
  }
  out->several = several;
}

/* Every single one that would explain the rise by itself: only one of them does. */
static void give_alternatives(const search *s, ttm_culprits *out) {
  for (uint32_t i = 0; i < s->n && out->n < TTM_CULPRITS; i++) {
    if (ttm_apart(s->candidates[i].bytes, s->rise) <= s->slack) give(s, out, &i, 1, true);
  }
}

/* The fewest that explain the rise; else all that is left, as when the caller keeps every result. */
static void explain(const search *s, ttm_culprits *out) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < s->n; i++) all += s->candidates[i].bytes;
  for (uint32_t want = 1; want <= MOST_TOGETHER && want <= s->n && !out->n; want++) {
    sum x = {.want = want};
    add_up(s, &x, 0, 0, 0);
    if (want == 1 && x.found > 1)
      give_alternatives(s, out);
    else if (x.found)
      give(s, out, x.best, want, x.found > 1);
  }
  if (!out->n && s->n <= TTM_CULPRITS && ttm_apart(all, s->rise) <= s->slack) give(s, out, NULL, s->n, false);
}

static int begin(search *s, const ttm_findings *f) {
  *s = (search){.f = f, .p = f->profile};
  int status = ttm_op_groups_init(&s->groups, s->p);
  return status ? status : measure_types(s);
}

static void end(search *s) {
  ttm_op_groups_free(&s->groups);
  ttm_free(s->bank_bytes);
  ttm_vec_free(&s->left);
  ttm_vec_free(&s->touched);
}

int ttm_culprits_find(ttm_culprits *out, const ttm_findings *f, const uint32_t *runs, size_t count, uint64_t rise,
                      uint64_t slack) {
  search s;
  *out = (ttm_culprits){.n = 0};
  int status = begin(&s, f);
  s.rise = rise;
  s.slack = slack;
  for (size_t i = 0; i < count && !status; i++) status = read_run(&s, runs[i], (uint32_t)i);
  if (!status && count) {
    choose_candidates(&s, count);
    explain(&s, out);
  }
  end(&s);
  return status;
}

/* A round is over: whose results are what it left? */
static void end_round(search *s, uint64_t rise, uint64_t slack) {
  for (size_t i = 0; i < s->touched.n; i++) {
    remains *left = &s->left.at[s->touched.at[i]];
    left->runs += ttm_apart(left->bytes_now, rise) <= slack;
    left->bytes += left->bytes_now;
    left->tensors += left->now;
    left->now = 0;
    left->bytes_now = 0;
  }
  s->touched.n = 0;
}

int ttm_culprits_follow(ttm_culprits *out, const ttm_findings *f, const uint32_t *runs, const uint32_t *round_of,
                        size_t count, const uint64_t *rises, uint64_t slack) {
  search s;
  uint32_t rounds = 0;
  *out = (ttm_culprits){.n = 0};
  int status = begin(&s, f);
  s.groups.untyped = true;
  for (size_t i = 0; i < count && !status; i++) {
    status = note_run(&s, runs[i]);
    if (i + 1 < count && round_of[i + 1] == round_of[i]) continue;
    end_round(&s, rises[round_of[i]], slack);
    rounds++;
  }
  for (size_t g = 0; g < s.left.n && !status; g++) {
    const remains *left = &s.left.at[g];
    if (left->op == TTM_NONE || !rounds || left->runs != rounds) continue;
    out->several = out->n > 0;
    if (out->n < TTM_CULPRITS)
      out->at[out->n++] = (ttm_culprit){left->op, left->tensors / rounds, left->bytes / rounds};
  }
  end(&s);
  return status;
}
