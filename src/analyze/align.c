/* SPDX-License-Identifier: Apache-2.0 */
/* Myers' greedy algorithm (An O(ND) Difference Algorithm, 1986) where the two differ little. Else elements that each has once divide the problem, as
 * in patience diff; what is left is matched in order, as far as it goes. */
#include "analyze/align.h"

#include "base/vec.h"
#include "profile/profile.h"

enum { MOST_EDITS = 1000, DEEPEST = 64, FARTHEST = 256 };

/* A part of both: places from a0 to a1 and from b0 to b1. */
typedef struct part {
  uint32_t a0, a1, b0, b1;
} part;

typedef struct count {
  uint32_t in_a, in_b, at_a, at_b;
} count;

typedef struct aligner {
  const uint32_t *a, *b;
  uint32_t *match;
  count *counts; /* by key; all 0 between uses */
} aligner;

static void pair(const aligner *x, uint32_t a, uint32_t b) { x->match[a] = b; }

/* ---- Few differences ---------------------------------------------------------------------------------------------------- */

/* reach[k]: how far a path with so many edits gets on diagonal k = x - y; kept for every number of edits. */
typedef TTM_VEC(int32_t) reaches;

static int32_t *diagonal(const reaches *r, int32_t edits, int32_t k) {
  return &r->at[(size_t)edits * (size_t)edits + (size_t)(k + edits)]; /* those before: 1 + 3 + 5 + ... */
}

static int32_t reach_of(const reaches *r, int32_t edits, int32_t k) {
  return edits < 0 || k < -edits || k > edits || (k + edits) % 2 ? -1 : *diagonal(r, edits, k);
}

/* Where diagonal k is entered: down from the one above it (an element of b more), or right from the one below it (one of a more). -1: not at
 * all. */
static int32_t enter(const reaches *r, const part *p, int32_t edits, int32_t k, bool *down) {
  int32_t n = (int32_t)(p->a1 - p->a0), m = (int32_t)(p->b1 - p->b0);
  int32_t above = reach_of(r, edits - 1, k + 1), below = reach_of(r, edits - 1, k - 1);
  int32_t right = below < 0 || below == n ? -1 : below + 1;
  if (above >= 0 && above - k > m) above = -1;
  *down = above > right;
  return !edits ? 0 : *down ? above : right;
}

/* Walks every path with one edit more; true when one of them reaches the end. */
static bool extend(const aligner *x, const part *p, const reaches *r, int32_t edits) {
  int32_t n = (int32_t)(p->a1 - p->a0), m = (int32_t)(p->b1 - p->b0);
  bool done = false;
  for (int32_t k = -edits; k <= edits; k += 2) {
    bool down;
    int32_t i = enter(r, p, edits, k, &down), j = i - k;
    while (i >= 0 && i < n && j < m && x->a[p->a0 + (uint32_t)i] == x->b[p->b0 + (uint32_t)j]) i++, j++;
    *diagonal(r, edits, k) = i;
    done |= i == n && j == m; /* i is -1 on diagonals that no path enters */
  }
  return done;
}

static void trace(const aligner *x, const part *p, const reaches *r, int32_t edits) {
  int32_t i = (int32_t)(p->a1 - p->a0), j = (int32_t)(p->b1 - p->b0);
  for (; edits >= 0; edits--) {
    bool down;
    int32_t from = enter(r, p, edits, i - j, &down);
    while (i > from) i--, j--, pair(x, p->a0 + (uint32_t)i, p->b0 + (uint32_t)j);
    if (edits) *(down ? &j : &i) -= 1;
  }
}

/* 1 when the part is aligned, 0 when it takes too many edits, or TTM_ENOMEM. */
static int align_few(const aligner *x, const part *p) {
  uint64_t size = (uint64_t)(p->a1 - p->a0) + (p->b1 - p->b0);
  int32_t most = size > 200000 ? MOST_EDITS / 4 : MOST_EDITS;
  reaches r = {0};
  int status = 0;
  for (int32_t edits = 0; edits <= most && !status; edits++) {
    for (int32_t i = 0; i <= 2 * edits && !status; i++) status = ttm_vec_push(&r, -1);
    if (!status && extend(x, p, &r, edits)) {
      trace(x, p, &r, edits);
      status = 1;
    }
  }
  ttm_vec_free(&r);
  return status;
}

/* ---- Many differences --------------------------------------------------------------------------------------------------- */

typedef struct anchor {
  uint32_t a, b, before; /* `before`: the anchor in front of it in the longest chain, TTM_NONE */
} anchor;
typedef TTM_VEC(anchor) anchors;

static void count_keys(const aligner *x, const part *p) {
  for (uint32_t i = p->a0; i < p->a1; i++) x->counts[x->a[i]].in_a++, x->counts[x->a[i]].at_a = i;
  for (uint32_t i = p->b0; i < p->b1; i++) x->counts[x->b[i]].in_b++, x->counts[x->b[i]].at_b = i;
}

static void forget_keys(const aligner *x, const part *p) {
  for (uint32_t i = p->a0; i < p->a1; i++) x->counts[x->a[i]] = (count){0, 0, 0, 0};
  for (uint32_t i = p->b0; i < p->b1; i++) x->counts[x->b[i]] = (count){0, 0, 0, 0};
}

/* Elements that are once in either, as the longest chain that rises in both. */
static int find_anchors(const aligner *x, const part *p, anchors *out) {
  TTM_VEC(uint32_t) ends = {0}; /* by length: the anchor with the lowest place in b that ends such a chain */
  int status = TTM_OK;
  count_keys(x, p);
  for (uint32_t i = p->a0; i < p->a1 && !status; i++) {
    const count *c = &x->counts[x->a[i]];
    if (c->in_a != 1 || c->in_b != 1) continue;
    size_t low = 0, high = ends.n;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (out->at[ends.at[middle]].b < c->at_b)
        low = middle + 1;
      else
        high = middle;
    }
    status = ttm_vec_push(out, ((anchor){i, c->at_b, low ? ends.at[low - 1] : TTM_NONE}));
    if (!status && low == ends.n) status = ttm_vec_push(&ends, 0);
    if (!status) ends.at[low] = (uint32_t)(out->n - 1);
  }
  forget_keys(x, p);
  for (uint32_t at = ends.n ? ends.at[ends.n - 1] : TTM_NONE; at != TTM_NONE && !status; at = out->at[at].before)
    pair(x, out->at[at].a, out->at[at].b);
  ttm_vec_free(&ends);
  return status;
}

/* In order, each with the next one like it that is not far. */
static void align_greedily(const aligner *x, const part *p) {
  uint32_t j = p->b0;
  for (uint32_t i = p->a0; i < p->a1; i++)
    for (uint32_t k = j; k < p->b1 && k - j < FARTHEST; k++)
      if (x->a[i] == x->b[k]) {
        pair(x, i, k);
        j = k + 1;
        break;
      }
}

static int align_part(const aligner *x, part p, int depth);

static int align_many(const aligner *x, const part *p, int depth) {
  anchors found = {0};
  int status = depth < DEEPEST ? find_anchors(x, p, &found) : TTM_OK;
  if (!status && !found.n) align_greedily(x, p);
  uint32_t a = p->a0, b = p->b0;
  for (uint32_t i = p->a0; i <= p->a1 && !status && found.n; i++) {
    if (i < p->a1 && x->match[i] == TTM_NONE) continue;
    uint32_t j = i < p->a1 ? x->match[i] : p->b1;
    status = align_part(x, (part){a, i, b, j}, depth + 1);
    a = i + 1, b = j + 1;
  }
  ttm_vec_free(&found);
  return status;
}

static int align_part(const aligner *x, part p, int depth) {
  for (; p.a0 < p.a1 && p.b0 < p.b1 && x->a[p.a0] == x->b[p.b0]; p.a0++, p.b0++) pair(x, p.a0, p.b0);
  for (; p.a0 < p.a1 && p.b0 < p.b1 && x->a[p.a1 - 1] == x->b[p.b1 - 1]; p.a1--, p.b1--) pair(x, p.a1 - 1, p.b1 - 1);
  if (p.a0 == p.a1 || p.b0 == p.b1) return TTM_OK;
  int status = align_few(x, &p);
  if (status) return status > 0 ? TTM_OK : status;
  return align_many(x, &p, depth);
}

int ttm_align(ttm_sequence a, ttm_sequence b, uint32_t keys, uint32_t *match) {
  aligner x = {a.at, b.at, match, ttm_alloc_array(keys, sizeof *x.counts)};
  for (uint32_t i = 0; i < a.n; i++) match[i] = TTM_NONE;
  int status = x.counts ? align_part(&x, (part){0, a.n, 0, b.n}, 0) : TTM_ENOMEM;
  ttm_free(x.counts);
  return status;
}
