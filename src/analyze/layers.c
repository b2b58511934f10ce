/* SPDX-License-Identifier: Apache-2.0 */
/* Operations are compared by what they are, not where: name and result types, without result numbers and locations. A layer begins wherever
 * the rarest operation that still repeats often begins a block; blocks between two such marks are compared as wholes. */
#include "analyze/layers.h"

#include "analyze/parts.h"
#include "base/hash.h"
#include "base/idmap.h"

enum { LEAST_LAYERS = 3, LEAST_OPS = 3 };

typedef struct stream {
  const ttm_profile *p;
  uint32_t *ops;   /* elements of the program itself, in order */
  uint32_t *shape; /* small number per kind of operation */
  uint32_t n;
} stream;

static int kind_of(const ttm_profile *p, ttm_intern *kinds, uint32_t op, uint32_t *out) {
  const ttm_text *text = ttm_op_text_of(p, op);
  struct {
    uint32_t name, types[6];
  } key = {text->name, {0}};
  for (uint32_t k = 0; k < text->outputs.n && k < 6; k++) key.types[k] = p->lists.at[text->outputs.first + k] + 1;
  return ttm_intern_add(kinds, (ttm_view){(const char *)&key, sizeof key}, out);
}

static int read_stream(stream *s, uint32_t frame) {
  const ttm_profile *p = s->p;
  const ttm_frame *row = &p->frames.at[frame];
  uint32_t most = row->first_op == TTM_NONE ? 0 : row->last_op - row->first_op + 1;
  ttm_intern kinds = {0};
  int status = TTM_OK;
  s->ops = ttm_alloc_array(most, sizeof *s->ops);
  s->shape = ttm_alloc_array(most, sizeof *s->shape);
  if (!s->ops || !s->shape) return TTM_ENOMEM;
  for (uint32_t i = 0; i < most && !status; i++) {
    uint32_t op = row->first_op + i;
    if (p->ops.at[op].frame != frame || !ttm_op_is_element(p, op)) continue;
    if (ttm_op_text_of(p, op)->kind == TTM_OP_LOAD_CACHED)
      continue; /* weights come first, layer by layer or all at once */
    s->ops[s->n] = op;
    status = kind_of(p, &kinds, op, &s->shape[s->n++]);
  }
  ttm_intern_free(&kinds);
  return status;
}

/* The distance at which most operations repeat themselves: votes over the distance to the next operation of the same kind that is not a
 * nearer repetition inside the layer. */
static int vote_period(const stream *s, uint32_t *period) {
  ttm_idmap last = {0}, votes = {0};
  int status = TTM_OK;
  uint32_t best = 0;
  *period = 0;
  /* A kind that appears once per layer votes for the period; one that appears k times votes for parts of it, but those parts differ among
   * themselves, while the votes for the period add up. */
  for (uint32_t i = 0; i < s->n && !status; i++) {
    uint32_t before = ttm_idmap_get(&last, s->shape[i], TTM_NONE);
    if (before != TTM_NONE && i - before >= LEAST_OPS) {
      uint32_t count = ttm_idmap_get(&votes, i - before, 0) + 1;
      status = ttm_idmap_set(&votes, i - before, count);
      if (count > best) best = count, *period = i - before;
    }
    if (!status) status = ttm_idmap_set(&last, s->shape[i], i);
  }
  ttm_idmap_free(&last);
  ttm_idmap_free(&votes);
  return status;
}

/* Length of the stretch from `i` on in which everything equals what stands `period` before. */
static uint32_t stretch_from(const stream *s, uint32_t i, uint32_t period) {
  uint32_t n = 0;
  while (i + n < s->n && s->shape[i + n] == s->shape[i + n - period]) n++;
  return n;
}

typedef struct layer_mark {
  uint32_t at, n;
} layer_mark;

typedef TTM_VEC(layer_mark) mark_list;

/* The pattern is the block before the longest exact repetition; every place where its first operations stand begins a layer. */
static int find_layers(const stream *s, uint32_t period, uint32_t pattern, mark_list *out) {
  uint32_t lead = period < 4 ? period : 4;
  for (uint32_t i = 0; i + lead <= s->n; i++) {
    if (memcmp(s->shape + i, s->shape + pattern, lead * sizeof *s->shape)) continue;
    if (out->n && i - out->at[out->n - 1].at < period / 2) continue;
    if (out->n) out->at[out->n - 1].n = i - out->at[out->n - 1].at;
    if (ttm_vec_push(out, (layer_mark){i, period})) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static bool dram_before(const ttm_profile *p, uint32_t op, uint32_t *out) {
  return p->ops.at[op].state < p->states.n && ttm_state_allocated(p, p->ops.at[op].state, TTM_DRAM, out);
}

static void describe(ttm_layers *out, const stream *s, const mark_list *marks, uint32_t pattern) {
  uint32_t period = out->period;
  for (size_t i = 0; i < marks->n; i++) {
    const layer_mark *mark = &marks->at[i];
    uint32_t same = 0;
    while (same < period && mark->at + same < s->n && s->shape[mark->at + same] == s->shape[pattern + same]) same++;
    bool last = i + 1 == marks->n; /* what follows the last layer is not part of it */
    if (same == period && (last || mark->n == period)) {
      out->count++;
      continue;
    }
    if (last && same < period) continue; /* cut off, or the end of the program */
    if (out->odd_count < TTM_ODD_LAYERS) {
      uint32_t differs = same < mark->n ? mark->at + same : mark->at + mark->n - 1;
      out->odd[out->odd_count] = (ttm_odd_layer){(uint32_t)i, s->ops[mark->at], mark->n, s->ops[differs]};
    }
    out->odd_count++;
  }
  const layer_mark *end = &marks->at[marks->n - 1];
  uint32_t last = end->at + period <= s->n ? end->at + period - 1 : s->n - 1;
  out->first_op = s->ops[marks->at[0].at];
  out->last_op = s->ops[last];
  /* The second layer is the usual one: the first may still warm up. */
  uint32_t from, to, level;
  if (marks->n < 3 || !dram_before(s->p, s->ops[marks->at[1].at], &from) ||
      !dram_before(s->p, s->ops[marks->at[2].at], &to))
    return;
  out->growth = (int64_t)to - from;
  for (uint32_t op = s->ops[marks->at[1].at]; op < s->ops[marks->at[2].at]; op++) {
    if (dram_before(s->p, op, &level) && level > from && level - from > out->peak) out->peak = level - from;
  }
}

int ttm_layers_make(ttm_layers *out, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  stream s = {.p = p};
  mark_list marks = {0};
  uint32_t period;
  *out = (ttm_layers){.frame = TTM_NONE, .first_op = TTM_NONE, .last_op = TTM_NONE};
  if (!f->runs.n) return TTM_OK;
  /* Every run of a program has the same layers: the longest one shows them whole. */
  uint32_t longest = 0;
  for (size_t i = 0; i < f->runs.n; i++) {
    const ttm_frame *frame = &p->frames.at[f->runs.at[i].frame];
    uint32_t ops = frame->first_op == TTM_NONE ? 0 : frame->last_op - frame->first_op + 1;
    if (ops > longest) longest = ops, out->frame = f->runs.at[i].frame;
  }
  if (out->frame == TTM_NONE) return TTM_OK;
  int status = read_stream(&s, out->frame);
  if (!status) status = vote_period(&s, &period);
  if (!status && period) {
    uint32_t best = 0, pattern = 0;
    for (uint32_t i = period; i < s.n;) {
      uint32_t n = stretch_from(&s, i, period);
      if (n > best) best = n, pattern = i - period;
      i += n + 1;
    }
    if (best >= period) {
      status = find_layers(&s, period, pattern, &marks);
      out->period = period;
      if (!status && marks.n) describe(out, &s, &marks, pattern);
    }
    if (out->count < LEAST_LAYERS) *out = (ttm_layers){.frame = out->frame, .first_op = TTM_NONE, .last_op = TTM_NONE};
  }
  ttm_vec_free(&marks);
  ttm_free(s.ops);
  ttm_free(s.shape);
  return status;
}
