/* SPDX-License-Identifier: Apache-2.0 */
/* Operations are compared by what they are, not where: name and result types, without result numbers. That finds the repetition. Where its
 * locations count up from block to block, they tell where each layer begins and ends, the odd ones included; else a layer begins wherever
 * the first operations of the block stand. */
#include "analyze/layers.h"

#include "analyze/layer_names.h"
#include "analyze/parts.h"
#include "base/hash.h"
#include "base/map.h"

enum { LEAST_LAYERS = 3, LEAST_OPS = 3 };

typedef struct stream {
  const ttm_profile *p;
  uint32_t rank;
  uint32_t *ops;   /* elements of the program itself, in order */
  uint32_t *shape; /* small number per kind of operation */
  uint32_t n;
} stream;

static int kind_of(const ttm_profile *p, ttm_intern *kinds, uint32_t op, uint32_t *out) {
  const ttm_op_text *text = ttm_op_text_of(p, op);
  struct {
    uint32_t name, types[6];
  } key = {text->name, {0}};
  for (uint32_t k = 0; k < text->outputs.n && k < 6; k++) key.types[k] = p->lists.at[text->outputs.first + k] + 1;
  return ttm_intern_add(kinds, (ttm_str){(const char *)&key, sizeof key}, out);
}

static int read_stream(stream *s, uint32_t call) {
  const ttm_profile *p = s->p;
  const ttm_call *row = &p->calls.at[call];
  uint32_t most = row->first_op == TTM_NONE ? 0 : row->last_op - row->first_op + 1;
  ttm_intern kinds = {0};
  int status = TTM_OK;
  s->ops = ttm_alloc_array(most, sizeof *s->ops);
  s->shape = ttm_alloc_array(most, sizeof *s->shape);
  if (!s->ops || !s->shape) return TTM_ENOMEM;
  for (uint32_t i = 0; i < most && !status; i++) {
    uint32_t op = row->first_op + i;
    if (p->ops.at[op].call != call || !ttm_op_is_element(p, op)) continue;
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
  ttm_map last = {0}, votes = {0};
  int status = TTM_OK;
  uint32_t best = 0;
  *period = 0;
  /* A kind that appears once per layer votes for the period; one that appears k times votes for parts of it, but those parts differ among
   * themselves, while the votes for the period add up. */
  for (uint32_t i = 0; i < s->n && !status; i++) {
    uint32_t before = ttm_map_get(&last, s->shape[i], TTM_NONE);
    if (before != TTM_NONE && i - before >= LEAST_OPS) {
      uint32_t count = ttm_map_get(&votes, i - before, 0) + 1;
      status = ttm_map_set(&votes, i - before, count);
      if (count > best) best = count, *period = i - before;
    }
    if (!status) status = ttm_map_set(&last, s->shape[i], i);
  }
  ttm_map_free(&last);
  ttm_map_free(&votes);
  return status;
}

/* Length of the stretch from `i` on in which everything equals what stands `period` before. */
static uint32_t stretch_from(const stream *s, uint32_t i, uint32_t period) {
  uint32_t n = 0;
  while (i + n < s->n && s->shape[i + n] == s->shape[i + n - period]) n++;
  return n;
}

typedef struct layer_mark {
  uint32_t at, n; /* n: up to the next layer; of the last one as far as is known */
} layer_mark;

/* The layers in order. */
typedef struct layer_list {
  TTM_VEC(layer_mark) marks;
  uint32_t pattern; /* where a common one begins */
  bool sure;        /* names tell where the last one ends */
} layer_list;

/* ---- By the names ------------------------------------------------------------------------------------------------------------ */

static ttm_str location_at(const stream *s, uint32_t i) {
  return ttm_profile_string(s->p, ttm_op_text_of(s->p, s->ops[i])->location);
}

static bool prefix_at(const stream *s, uint32_t period, uint32_t i, ttm_str *out) {
  return i + period < s->n && ttm_layer_prefix(location_at(s, i), location_at(s, i + period), out);
}

/* The prefix by which most operations of the block count up to the next block's. */
static bool find_prefix(const stream *s, uint32_t period, uint32_t pattern, ttm_str *prefix) {
  uint32_t lead = 0, agree = 0;
  ttm_str one;
  /* What more than half of them have outlives a vote in which unlike ones cancel each other; then it is counted. */
  for (uint32_t k = 0; k < period; k++) {
    if (!prefix_at(s, period, pattern + k, &one)) continue;
    if (!lead) *prefix = one;
    lead = lead && !ttm_str_eq(one, *prefix) ? lead - 1 : lead + 1;
  }
  for (uint32_t k = 0; lead && k < period; k++)
    agree += prefix_at(s, period, pattern + k, &one) && ttm_str_eq(one, *prefix);
  return agree * 2 > period;
}

/* A layer reaches from the first operation with its number to the last one before the next number. False when the numbers do not simply
 * count up. */
static int name_layers(const stream *s, ttm_str prefix, layer_list *out, bool *good) {
  uint32_t number, last = 0;
  *good = false;
  for (uint32_t i = 0; i < s->n; i++) {
    if (!ttm_layer_number(location_at(s, i), prefix, &number)) continue;
    if (!out->marks.n || number != last) {
      if (out->marks.n && number != last + 1) return TTM_OK;
      if (out->marks.n) out->marks.at[out->marks.n - 1].n = i - out->marks.at[out->marks.n - 1].at;
      if (ttm_vec_push(&out->marks, (layer_mark){i, 1})) return TTM_ENOMEM;
      last = number;
    }
    out->marks.at[out->marks.n - 1].n = i - out->marks.at[out->marks.n - 1].at + 1;
  }
  *good = out->marks.n >= LEAST_LAYERS;
  return TTM_OK;
}

static uint64_t hash_layer(const stream *s, const layer_mark *mark) {
  return ttm_hash(s->shape + mark->at, mark->n * sizeof *s->shape, ttm_hash_seed());
}

/* The layer that most others are like. */
static int choose_pattern(const stream *s, layer_list *out, uint32_t *period) {
  ttm_map votes = {0};
  uint32_t best = 0;
  int status = TTM_OK;
  for (size_t i = 0; i < out->marks.n && !status; i++) {
    const layer_mark *mark = &out->marks.at[i];
    uint64_t key = hash_layer(s, mark);
    uint32_t count = ttm_map_get(&votes, key, 0) + 1;
    status = ttm_map_set(&votes, key, count);
    if (count > best) best = count, out->pattern = mark->at, *period = mark->n;
  }
  ttm_map_free(&votes);
  return status;
}

/* ---- By what they are made of ------------------------------------------------------------------------------------------------- */

/* Every place where the block's first operations stand begins a layer. */
static int find_layers(const stream *s, uint32_t period, layer_list *out) {
  uint32_t lead = period < 4 ? period : 4;
  out->marks.n = 0;
  for (uint32_t i = 0; i + lead <= s->n; i++) {
    size_t n = out->marks.n;
    if (memcmp(s->shape + i, s->shape + out->pattern, lead * sizeof *s->shape) != 0) continue;
    if (n && i - out->marks.at[n - 1].at < period / 2) continue;
    if (n) out->marks.at[n - 1].n = i - out->marks.at[n - 1].at;
    if (ttm_vec_push(&out->marks, (layer_mark){i, period})) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* ---- What there is to say ------------------------------------------------------------------------------------------------------- */

static bool dram_before(const ttm_profile *p, uint32_t op, uint32_t *out) {
  return p->ops.at[op].state < p->states.n && ttm_state_allocated(p, p->ops.at[op].state, TTM_DRAM, out);
}

/* What a layer leaves and how far it rises above its start; 0 when no state tells. */
static void measure_layer(const stream *s, const layer_mark *mark, int64_t *growth, uint32_t *peak) {
  uint32_t from, to, level, next = mark->at + mark->n;
  *growth = *peak = 0;
  if (next >= s->n) return;
  uint32_t first = s->ops[mark->at], end = s->ops[next];
  if (!dram_before(s->p, first, &from) || !dram_before(s->p, end, &to)) return;
  *growth = (int64_t)to - from;
  /* Before `end` is after the layer's last. Deallocations and const-eval programs belong to the layer, other ranks do not. */
  for (uint32_t op = first; op <= end; op++) {
    uint32_t call = s->p->ops.at[op].call;
    if (call >= s->p->calls.n || s->p->calls.at[call].rank != s->rank) continue;
    if (dram_before(s->p, op, &level) && level > from && level - from > *peak) *peak = level - from;
  }
}

static void add_odd(ttm_layers *out, const stream *s, const layer_mark *mark, uint32_t layer, uint32_t same) {
  uint32_t differs = same < mark->n ? mark->at + same : mark->at + mark->n - 1;
  if (differs >= s->n) differs = s->n - 1;
  if (out->odd_count < TTM_ODD_LAYERS) {
    ttm_odd_layer *odd = &out->odd[out->odd_count];
    *odd = (ttm_odd_layer){.layer = layer, .first_op = s->ops[mark->at], .ops = mark->n, .differs = s->ops[differs]};
    measure_layer(s, mark, &odd->growth, &odd->peak);
  }
  out->odd_count++;
}

/* Whether the last layer is whole, or the program died in it or was cut. */
static bool is_whole(const stream *s, const layer_mark *last, bool finished) {
  return finished || last->at + last->n < s->n;
}

static void compare_layers(ttm_layers *out, const stream *s, const layer_list *layers, bool finished) {
  size_t usual = 0;
  for (size_t i = 0; i < layers->marks.n; i++) {
    const layer_mark *mark = &layers->marks.at[i];
    uint32_t same = 0;
    while (same < out->period && mark->at + same < s->n &&
           s->shape[mark->at + same] == s->shape[layers->pattern + same])
      same++;
    bool last = i + 1 == layers->marks.n;
    /* Without names nothing tells what follows the last layer from a part of it. */
    if (same == out->period && (mark->n == out->period || (last && !layers->sure))) {
      out->count++;
      /* The first layer may still warm up. */
      if (i && !usual && !last) measure_layer(s, &layers->marks.at[usual = i], &out->growth, &out->peak);
      continue;
    }
    if (last && !(layers->sure ? is_whole(s, mark, finished) : finished && same * 2 >= out->period)) continue;
    add_odd(out, s, mark, (uint32_t)i, same);
  }
}

static void describe(ttm_layers *out, const stream *s, const layer_list *layers, bool finished) {
  compare_layers(out, s, layers, finished);
  const layer_mark *end = &layers->marks.at[layers->marks.n - 1];
  uint32_t last = end->at + end->n <= s->n ? end->at + end->n - 1 : s->n - 1;
  out->first_op = s->ops[layers->marks.at[0].at];
  out->last_op = s->ops[last];
}

/* The distance at which the stream repeats itself, and where its longest exact repetition begins; false when it never does for a whole
 * block. */
static int find_repetition(const stream *s, uint32_t *period, uint32_t *pattern, bool *found) {
  uint32_t best = 0;
  *found = false;
  if (vote_period(s, period)) return TTM_ENOMEM;
  for (uint32_t i = *period; *period && i < s->n;) {
    uint32_t n = stretch_from(s, i, *period);
    if (n > best) best = n, *pattern = i - *period;
    i += n + 1;
  }
  *found = *period && best >= *period;
  return TTM_OK;
}

static int find_all(ttm_layers *out, const stream *s, bool finished) {
  layer_list layers = {.pattern = 0};
  ttm_str prefix;
  bool found;
  int status = find_repetition(s, &out->period, &layers.pattern, &found);
  if (!status && found && find_prefix(s, out->period, layers.pattern, &prefix)) {
    status = name_layers(s, prefix, &layers, &layers.sure);
    if (!status && layers.sure) status = choose_pattern(s, &layers, &out->period);
  }
  if (!status && found && !layers.sure) status = find_layers(s, out->period, &layers);
  if (!status && found && layers.marks.n) describe(out, s, &layers, finished);
  ttm_vec_free(&layers.marks);
  return status;
}

int ttm_layers_make(ttm_layers *out, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  stream s = {.p = p};
  *out = (ttm_layers){.call = TTM_NONE, .first_op = TTM_NONE, .last_op = TTM_NONE};
  if (!f->runs.n) return TTM_OK;
  /* Every run of a program has the same layers: the longest one shows them whole. */
  uint32_t longest = 0;
  for (size_t i = 0; i < f->runs.n; i++) {
    const ttm_run *run = &f->runs.at[i];
    uint32_t ops = run->first_op == TTM_NONE ? 0 : ttm_elements_between(f, run->first_op, run->last_op) + 2;
    if (ops > longest) longest = ops, out->call = f->runs.at[i].call;
  }
  if (out->call == TTM_NONE) return TTM_OK;
  s.rank = p->calls.at[out->call].rank;
  int status = read_stream(&s, out->call);
  if (!status) status = find_all(out, &s, p->calls.at[out->call].finished);
  if (out->count < LEAST_LAYERS) *out = (ttm_layers){.call = out->call, .first_op = TTM_NONE, .last_op = TTM_NONE};
  ttm_free(s.ops);
  ttm_free(s.shape);
  return status;
}
