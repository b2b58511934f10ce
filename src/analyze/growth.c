/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing in a capture says where a loop begins. What tells it is a line of the program whose results stay, one after the other: births. Layers
 * look the same, as long as they keep their results, and must not be told: every layer takes weights of its own, while every iteration of a loop
 * takes the same ones. So the tensors from before that are taken between two births decide: either the same ones come again and again, by ones or
 * in turns (a loop over layers inside a loop), or what all births share outweighs what each has for itself. */
#include "analyze/growth.h"

#include <stdlib.h>

#include "analyze/parts.h"
#include "base/hash.h"
#include "base/map.h"

enum {
  MOST_LINES = 64, /* that are looked at, those with the most bytes */
  MOST_GROWTHS = 8,
  MOST_HOPS = 4,     /* operations between two tensors of a growing cache: to_layout, pad, ... */
  LAG = 3,           /* iterations that a result may outlive without being kept: x, x_before */
  LEAST_SHARE = 100, /* of the peak: less is not worth a suspicion */
  OFF_LINE = 8,      /* a cache that grows evenly stays within one such part of its growth */
};

/* Buffers of one operation and line of the program. */
typedef struct line {
  uint32_t first, last, n; /* chained by search.next */
  uint32_t kept;
  uint64_t bytes; /* of those kept, or of caches as they are at the end */
} line;

typedef struct mark {
  uint32_t window, windows; /* the last one that takes the tensor; how many do */
} mark;

typedef struct search {
  const ttm_findings *f;
  const ttm_profile *p;
  const ttm_capture *c;
  ttm_growths *out;
  uint32_t end, end_begin; /* the last operation that is no free; the first part of it */
  ttm_intern keys;
  TTM_VEC(line) lines;
  uint32_t *line_of; /* by buffer, TTM_NONE */
  uint32_t *next;    /* by buffer: of the same line */
  uint32_t *before;  /* by buffer: the smaller one of its line that it was made of, TTM_NONE */
  uint32_t *length;  /* by buffer: of the chain that ends with it */
  bool *inside;      /* by buffer: a chain goes on with another one */
  ttm_map places;    /* in the program, of the operations of the loop at hand */
  mark *marks;       /* by tensor */
  uint64_t *less
      [MOST_GROWTHS]; /* by growth and operation: bytes that would be gone from there on, each freed at its last use */
  TTM_VEC(uint32_t) calls;   /* by birth: see call_of */
  TTM_VEC(uint32_t) births;  /* buffers of the line at hand */
  TTM_VEC(uint64_t) windows; /* hash of what is taken from before, between each two births */
  TTM_VEC(uint32_t) failure; /* of the windows read backwards: see period_of */
} search;

static const ttm_buffer *buffer_at(const search *s, uint32_t i) { return &s->c->buffers.at[i]; }
static uint32_t birth_op(const search *s, size_t k) { return buffer_at(s, s->births.at[k])->op; }

/* What the last operation frees of its own goes behind it too. */
static bool is_kept(const search *s, uint32_t i) {
  const ttm_buffer *b = buffer_at(s, i);
  if (b->freed_by == TTM_NONE) return true;
  bool own = b->op >= s->end_begin && i + 1 < s->c->buffers.n && s->p->tensors.at[b->tensor].freed_by == b->freed_by;
  return b->freed_by > s->end && !own;
}

/* Takes nothing from the device: what it makes comes from the host. Convolutions bring their weights along. */
static bool is_upload(const search *s, uint32_t i) {
  const ttm_buffer *b = buffer_at(s, i);
  const ttm_op_text *text = ttm_op_text_of(s->p, b->op);
  if (!text->inputs.n) return !(s->p->ops.at[b->op].flags & TTM_OP_PART);
  return ttm_str_contains(ttm_profile_string(s->p, text->name), TTM_LIT("conv")) &&
         s->p->tensors.at[b->tensor].last_use == b->op;
}

/* ---- Lines of the program --------------------------------------------------------------------------------------------- */

static bool is_looked_at(const search *s, const ttm_buffer *b) {
  return b->op < s->p->ops.n && b->tensor < s->p->tensors.n && !b->kernels && b->memory <= TTM_L1;
}

/* Without a place in the program the types must do. */
static int line_key(search *s, uint32_t i, uint32_t *out) {
  const ttm_buffer *b = buffer_at(s, i);
  const ttm_op_text *text = ttm_op_text_of(s->p, b->op);
  uint32_t key[5] = {text->name, text->location, b->device, b->memory, text->location ? 0 : s->p->ops.at[b->op].text};
  return ttm_intern_add(&s->keys, (ttm_str){(const char *)key, sizeof key}, out);
}

static int sort_buffers(search *s) {
  for (uint32_t i = 0; i < s->c->buffers.n; i++) {
    uint32_t id;
    s->line_of[i] = s->next[i] = s->before[i] = TTM_NONE;
    if (!is_looked_at(s, buffer_at(s, i))) continue;
    if (line_key(s, i, &id)) return TTM_ENOMEM;
    if (id > s->lines.n && ttm_vec_push(&s->lines, (line){i, i, 0, 0, 0})) return TTM_ENOMEM;
    line *l = &s->lines.at[id - 1];
    s->line_of[i] = id - 1;
    if (l->n++) s->next[l->last] = i;
    l->last = i;
    l->kept += is_kept(s, i);
    l->bytes += is_kept(s, i) ? buffer_at(s, i)->bank_bytes : 0;
  }
  return TTM_OK;
}

/* ---- What each iteration takes ------------------------------------------------------------------------------------------ */

typedef struct shares {
  uint64_t own, common; /* bytes of tensors from before that one window takes, or several */
  uint32_t own_windows;
} shares;

/* Uses and births are in the order of operations: one walk through both for all windows. */
typedef struct walk {
  size_t use, buffer;
} walk;

static void take_own(shares *x, uint64_t *hash, uint32_t tensor, uint64_t bytes) {
  *hash += ttm_hash_mix(tensor + UINT64_C(1), UINT64_C(0x9e3779b97f4a7c15));
  x->own += bytes;
  x->own_windows++;
}

/* A tensor from before: older than the window before this one, through which a loop hands its results on. */
static void take_use(search *s, const ttm_tensor_use *use, uint32_t window, uint32_t old, uint64_t *hash, shares *x) {
  const ttm_tensor *tensor = &s->p->tensors.at[use->tensor];
  uint32_t buffer = s->f->tensor_buffers[use->tensor];
  mark *m = &s->marks[use->tensor];
  if (tensor->birth > old || buffer == TTM_NONE || s->line_of[buffer] == s->line_of[s->births.at[0]]) return;
  if (m->windows && m->window == window) return;
  uint64_t bytes = buffer_at(s, buffer)->bank_bytes;
  if (!m->windows) {
    take_own(x, hash, use->tensor, bytes);
  } else {
    *hash += ttm_hash_mix(use->tensor + UINT64_C(1), UINT64_C(0x9e3779b97f4a7c15));
    if (m->windows == 1) x->own -= bytes, x->own_windows--, x->common += bytes;
  }
  *m = (mark){window, m->windows + 1};
}

static int read_window(search *s, walk *w, uint32_t k, shares *x) {
  uint32_t from = birth_op(s, k - 1), to = birth_op(s, k);
  uint32_t old = k > 1 ? birth_op(s, k - 2) : from > to - from ? 2 * from - to : 0;
  uint64_t hash = 0;
  for (; w->use < s->c->uses.n && s->c->uses.at[w->use].op <= to; w->use++) {
    if (s->c->uses.at[w->use].op > from) take_use(s, &s->c->uses.at[w->use], k, old, &hash, x);
  }
  for (; w->buffer <= s->births.at[k]; w->buffer++) {
    uint32_t i = (uint32_t)w->buffer;
    if (i > s->births.at[k - 1] && s->line_of[i] != TTM_NONE && is_kept(s, i) && is_upload(s, i))
      take_own(x, &hash, buffer_at(s, i)->tensor, buffer_at(s, i)->bank_bytes);
  }
  return ttm_vec_push(&s->windows, hash);
}

static int read_windows(search *s, shares *x) {
  walk w = {0, s->births.at[0]};
  int status = TTM_OK;
  *x = (shares){0};
  s->windows.n = 0;
  memset(s->marks, 0, s->p->tensors.n * sizeof *s->marks);
  for (uint32_t k = 1; k < s->births.n && !status; k++) status = read_window(s, &w, k, x);
  return status;
}

/* The longest end of the windows that repeats itself: *length windows, the same ones every `period`; 0 when nothing does. The first windows may
 * differ, as when weights are loaded by the first iteration. Failure function of Knuth, Morris and Pratt, backwards. */
static int period_of(search *s, uint32_t *length, uint32_t *period) {
  size_t n = s->windows.n, last = n - 1, k = 0;
  const uint64_t *at = s->windows.at;
  *length = *period = 0;
  s->failure.n = 0;
  if (ttm_vec_push(&s->failure, 0)) return TTM_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    while (i && k && at[last - i] != at[last - k]) k = s->failure.at[k];
    if (i && at[last - i] == at[last - k]) k++;
    if (ttm_vec_push(&s->failure, (uint32_t)k)) return TTM_ENOMEM;
    uint32_t repeats = (uint32_t)(i + 1 - k);
    if (i + 2 >= (uint64_t)repeats * TTM_GROWTH_FEW) *length = (uint32_t)i + 1, *period = repeats;
  }
  return TTM_OK;
}

/* Births in each iteration; 0 when they are those of layers. */
static int judge_births(search *s, uint32_t *per) {
  shares x;
  uint32_t length, n = (uint32_t)s->births.n;
  *per = 0;
  if (read_windows(s, &x) || period_of(s, &length, per)) return TTM_ENOMEM;
  if (*per && (length + 1) * 2 >= n) return TTM_OK;
  *per = x.own_windows * 2 < n || x.common > x.own / (n - 1);
  return TTM_OK;
}

/* ---- Whether it goes on ------------------------------------------------------------------------------------------------- */

/* The program does much else behind the last birth: the loop is over, and came to an end. The last one may be one that passes. */
static bool is_over(const search *s) {
  size_t n = s->births.n;
  uint32_t first = birth_op(s, 0), last = birth_op(s, n - 1), before = birth_op(s, n - 2);
  uint32_t behind = before < s->end ? ttm_elements_between(s->f, before, s->end) : 0;
  if (behind > 2 * ttm_elements_between(s->f, first, before) + 1) return true;
  return last < s->end && ttm_elements_between(s->f, last, s->end) > ttm_elements_between(s->f, first, last) / 2;
}

/* The place in the program at which an operation is called. */
static uint64_t place_of(const search *s, uint32_t op) {
  const ttm_op_text *text = ttm_op_text_of(s->p, op);
  return (uint64_t)text->name << 32 | text->location;
}

static int note_places(search *s, uint32_t from, uint32_t to) {
  ttm_map_clear(&s->places);
  for (uint32_t op = from; op <= to; op++)
    if (ttm_map_set(&s->places, place_of(s, op), 1)) return TTM_ENOMEM;
  return TTM_OK;
}

/* Most of them are taken behind the loop, by what is no part of it, as activations are by the way back. */
static int is_used_later(search *s, bool *out) {
  uint32_t n = (uint32_t)s->births.n, last = birth_op(s, n - 1), widest = 0, later = 0;
  if (note_places(s, birth_op(s, 0), last)) return TTM_ENOMEM;
  for (uint32_t k = 1; k < n; k++) {
    uint32_t gap = birth_op(s, k) - birth_op(s, k - 1);
    if (gap > widest) widest = gap;
  }
  for (uint32_t k = 0; k < n; k++) {
    uint32_t use = s->p->tensors.at[buffer_at(s, s->births.at[k])->tensor].last_use;
    later += use > last && (use > last + widest || !ttm_map_get(&s->places, place_of(s, use), 0));
  }
  *out = later * 2 > n;
  return TTM_OK;
}

/* Something of the line is let go after several more iterations: what stays is the end of a row that moves on, or a cache that evicts. */
static bool is_moving(const search *s, const line *l, uint32_t per) {
  size_t k = 0, lag = (size_t)LAG * per;
  for (uint32_t i = l->first; i != TTM_NONE; i = s->next[i]) {
    while (k < s->births.n && s->births.at[k] < i) k++;
    if (!is_kept(s, i) && k + lag <= s->births.n && birth_op(s, k + lag - 1) < buffer_at(s, i)->freed_by) return true;
  }
  return false;
}

static bool is_unused(const search *s) {
  for (size_t k = 0; k < s->births.n; k++) {
    const ttm_tensor *tensor = &s->p->tensors.at[buffer_at(s, s->births.at[k])->tensor];
    if (tensor->last_use != tensor->birth || !is_upload(s, s->births.at[k])) return false;
  }
  return true;
}

/* Objects of the program keep them: weights and caches of layers, still to be used. */
static bool is_of_objects(const search *s) {
  for (size_t k = 0; k < s->births.n; k++)
    if (!(s->p->tensors.at[buffer_at(s, s->births.at[k])->tensor].roles & TTM_ROLE_KEPT)) return false;
  return true;
}

/* Other lines bring tensors that stay, too: a model is being loaded, layer by layer. */
static bool is_loading(const search *s) {
  uint64_t own = 0, others = 0;
  for (uint32_t i = s->births.at[0]; i <= s->births.at[s->births.n - 1]; i++) {
    if (s->line_of[i] == TTM_NONE || !is_kept(s, i) || !is_upload(s, i)) continue;
    *(s->line_of[i] == s->line_of[s->births.at[0]] ? &own : &others) += buffer_at(s, i)->bank_bytes;
  }
  return others > own / 4;
}

/* ---- Telling ------------------------------------------------------------------------------------------------------------- */

static bool has_ended(const search *s, ttm_memory memory) {
  uint32_t last = birth_op(s, s->births.n - 1);
  for (size_t i = 0; i < s->p->incidents.n; i++) {
    const ttm_incident *one = &s->p->incidents.at[i];
    ttm_memory where;
    bool clash = one->what.kind == TTM_INCIDENT_L1_CLASH && memory == TTM_L1;
    bool full = one->what.kind == TTM_INCIDENT_OOM && ttm_memory_of(one->what.memory, &where) && where == memory;
    if (one->op < s->p->ops.n && one->op > last && (full || clash)) return true;
  }
  return false;
}

static bool is_same_loop(const ttm_growth *a, const ttm_growth *b) {
  uint32_t apart = a->iterations > b->iterations ? a->iterations - b->iterations : b->iterations - a->iterations;
  return a->kind == b->kind && a->memory == b->memory && a->device == b->device && apart <= 1 &&
         a->first_op < b->last_op && b->first_op < a->last_op;
}

/* The same lines on several devices are one loop. */
static bool is_known(const search *s, const ttm_growth *growth) {
  for (size_t g = 0; g < s->out->n; g++) {
    const ttm_growth *one = &s->out->at[g];
    for (uint32_t r = 0; r < one->row_count; r++)
      if (one->device != growth->device && s->p->ops.at[one->rows[r].op].text == s->p->ops.at[growth->rows[0].op].text)
        return true;
  }
  return false;
}

/* The births at hand would be gone after their last use. */
static int note_less(search *s, uint32_t growth) {
  uint64_t **less = &s->less[growth];
  if (!*less) *less = ttm_alloc_array(s->p->ops.n + 1, sizeof **less);
  if (!*less) return TTM_ENOMEM;
  for (size_t k = 0; k < s->births.n; k++) {
    const ttm_buffer *b = buffer_at(s, s->births.at[k]);
    (*less)[s->p->tensors.at[b->tensor].last_use + 1] += b->bank_bytes;
  }
  return TTM_OK;
}

/* What the peak loses then. */
static uint64_t saved_by(const search *s, const ttm_growth *growth, const uint64_t *less) {
  uint64_t level = 0, gone = 0, peak = 0, without = 0;
  uint32_t next = 0;
  for (size_t e = 0; e < s->c->events.n; e++) {
    const ttm_buffer_event *event = &s->c->events.at[e];
    const ttm_buffer *b = ttm_event_buffer(s->c, event, growth->memory, growth->device);
    if (!b) continue;
    while (event->op < s->p->ops.n && next <= event->op) gone += less[next++];
    level += event->kind == TTM_EVENT_FREE ? -b->bank_bytes : b->bank_bytes;
    if (level > peak) peak = level;
    if (level > gone && level - gone > without) without = level - gone;
  }
  return peak - without;
}

static int tell(search *s, ttm_growth growth, uint32_t per) {
  growth.first_op = birth_op(s, 0);
  growth.last_op = birth_op(s, s->births.n - 1);
  growth.sure = growth.iterations >= TTM_GROWTH_SURE && growth.kind != TTM_GROWTH_UNUSED;
  growth.ended = has_ended(s, growth.memory);
  if (!growth.sure && growth.rows[0].bank_bytes < s->c->peak_bytes[growth.memory] / LEAST_SHARE) return TTM_OK;
  if (is_known(s, &growth)) return TTM_OK;
  for (uint32_t g = 0; g < s->out->n; g++) {
    ttm_growth *one = &s->out->at[g];
    if (!is_same_loop(one, &growth)) continue;
    if (one->row_count < TTM_GROWTH_ROWS) one->rows[one->row_count++] = growth.rows[0];
    one->per_iteration += growth.per_iteration;
    one->first_bytes += growth.first_bytes;
    return note_less(s, g);
  }
  if (s->out->n == MOST_GROWTHS) return TTM_OK;
  if (ttm_growth_end(&growth, s->p, s->births.at, (uint32_t)s->births.n, per)) return TTM_ENOMEM;
  if (ttm_vec_push(s->out, growth)) return TTM_ENOMEM;
  return note_less(s, (uint32_t)s->out->n - 1);
}

static ttm_growth growth_of(const search *s, ttm_growth_kind kind, uint32_t first, uint32_t tensors, uint64_t bytes) {
  const ttm_buffer *b = buffer_at(s, first);
  return (ttm_growth){.kind = kind,
                      .memory = (ttm_memory)b->memory,
                      .device = b->device,
                      .rows = {{b->op, tensors, bytes}},
                      .row_count = 1,
                      .spacing = 1,
                      .left = TTM_UNKNOWN};
}

/* ---- Results that are kept ------------------------------------------------------------------------------------------------ */

/* The number of a birth among all results of its line from the first one on that stays. */
static uint32_t call_of(const search *s, size_t k) { return s->calls.at[k]; }

/* Calls of the line from one result that stays to the next, where that is the same nearly always; else 0. */
static uint32_t spacing_of(const search *s) {
  size_t n = s->births.n, alike = 0;
  uint32_t usual = call_of(s, n / 2) - call_of(s, n / 2 - 1);
  for (size_t k = 1; k < n; k++) alike += call_of(s, k) - call_of(s, k - 1) == usual;
  return alike * 4 >= (n - 1) * 3 ? usual : 0;
}

/* The last ones stand closer than any before: the next iteration would have let some of them go. */
static void drop_passing(search *s) {
  uint32_t spacing = spacing_of(s), least = UINT32_MAX;
  for (size_t k = 1; k + LAG < s->births.n; k++) {
    uint32_t gap = call_of(s, k) - call_of(s, k - 1);
    if (gap < least) least = gap;
  }
  for (size_t n = s->births.n; n > LAG + 1 && call_of(s, n - 1) - call_of(s, n - 2) < least; n--) {
    uint32_t two = call_of(s, n - 1) - call_of(s, n - 3);
    if (spacing ? two == spacing : two >= least) {
      s->births.at[n - 2] = s->births.at[n - 1];
      s->calls.at[n - 2] = s->calls.at[n - 1];
    }
    s->births.n = s->calls.n = n - 1;
  }
}

static int read_births(search *s, const line *l) {
  uint32_t calls = 0;
  s->births.n = s->calls.n = 0;
  for (uint32_t i = l->first; i != TTM_NONE; i = s->next[i]) {
    calls += calls || is_kept(s, i);
    if (is_kept(s, i) && (ttm_vec_push(&s->births, i) || ttm_vec_push(&s->calls, calls))) return TTM_ENOMEM;
  }
  if (s->births.n > LAG + 1) drop_passing(s);
  return TTM_OK;
}

/* Whether every call of the line is the same: an iteration then is one call, and not all of them keep their result. */
static int calls_are_alike(search *s, const line *l, bool *out) {
  uint32_t length, period, first = s->births.at[0];
  shares x;
  s->births.n = 0;
  for (uint32_t i = first; i != TTM_NONE; i = s->next[i])
    if (ttm_vec_push(&s->births, i)) return TTM_ENOMEM;
  if (read_windows(s, &x) || period_of(s, &length, &period) || read_births(s, l)) return TTM_ENOMEM;
  *out = period == 1;
  return TTM_OK;
}

static uint64_t bytes_of(const search *s) {
  uint64_t bytes = 0;
  for (size_t k = 0; k < s->births.n; k++) bytes += buffer_at(s, s->births.at[k])->bank_bytes;
  return bytes;
}

static int tell_kept(search *s, const line *l, ttm_growth_kind kind, uint32_t per) {
  uint32_t n = (uint32_t)s->births.n, spacing = per == 1 ? spacing_of(s) : 1;
  bool alike = false;
  if (spacing > 1 && calls_are_alike(s, l, &alike)) return TTM_ENOMEM;
  const ttm_buffer *last = buffer_at(s, s->births.at[n - 1]);
  ttm_growth growth = growth_of(s, kind, s->births.at[0], n, bytes_of(s));
  growth.iterations = n / per;
  growth.spacing = alike ? spacing : 1;
  growth.per_iteration = growth.rows[0].bank_bytes / growth.iterations;
  growth.at_end = last->freed_by < s->p->ops.n && s->p->tensors.at[last->tensor].freed_by == last->freed_by;
  return tell(s, growth, per);
}

static int judge_kept(search *s, const line *l) {
  uint32_t per;
  bool later;
  if (l->kept < TTM_GROWTH_FEW) return TTM_OK;
  if (read_births(s, l)) return TTM_ENOMEM;
  if (is_over(s)) return TTM_OK;
  if (is_used_later(s, &later)) return TTM_ENOMEM;
  if (later) return TTM_OK;
  if (is_unused(s)) {
    if (is_of_objects(s) || is_loading(s)) return TTM_OK;
    bool most = l->kept >= 2 * TTM_GROWTH_SURE && l->bytes > s->c->peak_bytes[buffer_at(s, l->first)->memory] / 2;
    return most ? tell_kept(s, l, TTM_GROWTH_UNUSED, 1) : TTM_OK;
  }
  if (judge_births(s, &per)) return TTM_ENOMEM;
  return per && !is_moving(s, l, per) ? tell_kept(s, l, TTM_GROWTH_KEPT, per) : TTM_OK;
}

/* ---- Caches --------------------------------------------------------------------------------------------------------------- */

/* The first part of the operation that made a buffer. */
static uint32_t begin_of(const search *s, uint32_t i) {
  uint32_t op = buffer_at(s, i)->op;
  while (op && (s->p->ops.at[op].flags & TTM_OP_PART || !ttm_op_is_element(s->p, op))) op--;
  return op;
}

/* What a buffer is mainly made of: the largest tensor that its operation takes. */
static uint32_t made_of(const search *s, uint32_t i, size_t use) {
  uint32_t best = TTM_NONE;
  for (; use < s->c->uses.n && s->c->uses.at[use].op <= buffer_at(s, i)->op; use++) {
    uint32_t from = s->f->tensor_buffers[s->c->uses.at[use].tensor];
    if (from == TTM_NONE || from >= i || buffer_at(s, from)->memory != buffer_at(s, i)->memory) continue;
    if (best == TTM_NONE || buffer_at(s, from)->bank_bytes > buffer_at(s, best)->bank_bytes) best = from;
  }
  return best;
}

/* Chains each buffer to the one of its own line that it was made of, some operations ago; s->marks holds what it was made of at once. */
static void link_caches(search *s) {
  size_t use = 0;
  for (uint32_t i = 0; i < s->c->buffers.n; i++) {
    s->length[i] = 1;
    if (s->line_of[i] == TTM_NONE) continue;
    while (use < s->c->uses.n && s->c->uses.at[use].op < begin_of(s, i)) use++;
    uint32_t from = made_of(s, i, use);
    s->marks[buffer_at(s, i)->tensor].window = from;
    for (uint32_t hop = 0; from != TTM_NONE && hop < MOST_HOPS; hop++) {
      if (s->line_of[from] == s->line_of[i] && begin_of(s, from) != begin_of(s, i)) break;
      from = s->line_of[from] == TTM_NONE ? TTM_NONE : s->marks[buffer_at(s, from)->tensor].window;
    }
    if (from == TTM_NONE || s->line_of[from] != s->line_of[i] || begin_of(s, from) == begin_of(s, i)) continue;
    if (buffer_at(s, from)->bank_bytes > buffer_at(s, i)->bank_bytes) continue;
    s->before[i] = from;
    s->length[i] = s->length[from] + 1;
    s->inside[from] = true;
  }
}

static double size_of(const search *s, size_t k) { return (double)buffer_at(s, s->births.at[k])->bank_bytes; }

/* Along a line, or a stair: what is less than a tile does not show. Something that doubles with each stage takes half of its growth at once. */
static bool grows_evenly(const search *s) {
  size_t n = s->births.n, steps = 0;
  double first = size_of(s, 0), growth = size_of(s, n - 1) - first, leap = growth / OFF_LINE;
  for (size_t k = 1; k < n; k++) {
    double step = size_of(s, k) - size_of(s, k - 1);
    steps += step > 0;
    if (step > leap) leap = step;
  }
  if (growth <= 0 || steps < TTM_GROWTH_FEW || leap * TTM_GROWTH_FEW > growth) return false;
  for (size_t k = 1; k < n; k++) {
    double off = size_of(s, k) - first - growth * (double)k / (double)(n - 1);
    if (off > leap || off < -leap) return false;
  }
  return true;
}

/* The chain that ends with `i` becomes the births. False when its members stay, or do not grow evenly. */
static int chain_of(search *s, uint32_t i, bool *good) {
  uint32_t kept = 0;
  *good = false;
  s->births.n = 0;
  for (uint32_t at = i; at != TTM_NONE; at = s->before[at]) {
    if (ttm_vec_push(&s->births, at)) return TTM_ENOMEM;
    kept += is_kept(s, at);
  }
  size_t n = s->births.n;
  for (size_t k = 0; k < n / 2; k++) {
    uint32_t swap = s->births.at[k];
    s->births.at[k] = s->births.at[n - 1 - k];
    s->births.at[n - 1 - k] = swap;
  }
  *good = kept <= LAG && grows_evenly(s);
  return TTM_OK;
}

static int judge_cache(search *s, const line *l) {
  uint32_t longest = TTM_NONE, tensors = 0, per;
  uint64_t bytes = 0, first = 0;
  bool good;
  for (uint32_t i = l->first; i != TTM_NONE; i = s->next[i]) {
    if (s->inside[i] || !is_kept(s, i) || s->length[i] < 2 * TTM_GROWTH_FEW) continue;
    if (chain_of(s, i, &good)) return TTM_ENOMEM;
    if (!good) continue;
    tensors++;
    bytes += buffer_at(s, i)->bank_bytes;
    first += buffer_at(s, s->births.at[0])->bank_bytes;
    if (longest == TTM_NONE || s->length[i] >= s->length[longest]) longest = i;
  }
  if (longest == TTM_NONE) return TTM_OK;
  if (chain_of(s, longest, &good)) return TTM_ENOMEM;
  if (is_over(s)) return TTM_OK;
  if (judge_births(s, &per)) return TTM_ENOMEM;
  if (!per) return TTM_OK;
  ttm_growth growth = growth_of(s, TTM_GROWTH_CACHE, s->births.at[0], tensors, bytes);
  growth.iterations = (uint32_t)s->births.n;
  growth.per_iteration = (bytes - first) / (growth.iterations - 1);
  growth.first_bytes = first;
  return tell(s, growth, 1);
}

/* ---- All of it ------------------------------------------------------------------------------------------------------------ */

static int larger(const void *a, const void *b) {
  const line *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return x->first < y->first ? -1 : 1;
}

static int find(search *s) {
  int status = sort_buffers(s);
  if (status || !s->lines.n) return status;
  link_caches(s);
  qsort(s->lines.at, s->lines.n, sizeof *s->lines.at, larger);
  for (size_t i = 0; i < s->lines.n && i < MOST_LINES && !status; i++) {
    status = judge_kept(s, &s->lines.at[i]);
    if (!status) status = judge_cache(s, &s->lines.at[i]);
  }
  return status;
}

static void find_last(search *s) {
  s->end = s->end_begin = ttm_last_element(s->p);
  while (s->end_begin && (s->p->ops.at[s->end_begin].flags & TTM_OP_PART || !ttm_op_is_element(s->p, s->end_begin)))
    s->end_begin--;
}

int ttm_growth_find(ttm_growths *out, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  size_t n = p->capture.buffers.n;
  if (p->kind != TTM_LOG_CAPTURE || !n) return TTM_OK;
  search s = {.f = f, .p = p, .c = &p->capture, .out = out};
  find_last(&s);
  s.line_of = ttm_alloc_array(n, sizeof *s.line_of);
  s.next = ttm_alloc_array(n, sizeof *s.next);
  s.before = ttm_alloc_array(n, sizeof *s.before);
  s.length = ttm_alloc_array(n, sizeof *s.length);
  s.inside = ttm_alloc_array(n, sizeof *s.inside);
  s.marks = ttm_alloc_array(p->tensors.n, sizeof *s.marks);
  int status = s.line_of && s.next && s.before && s.length && s.inside && s.marks ? find(&s) : TTM_ENOMEM;
  for (size_t g = 0; g < out->n && !status; g++)
    if (out->at[g].kind == TTM_GROWTH_KEPT) out->at[g].saves = saved_by(&s, &out->at[g], s.less[g]);
  for (size_t g = 0; g < MOST_GROWTHS; g++) ttm_free(s.less[g]);
  ttm_free(s.line_of);
  ttm_free(s.next);
  ttm_free(s.before);
  ttm_free(s.length);
  ttm_free(s.inside);
  ttm_free(s.marks);
  ttm_vec_free(&s.lines);
  ttm_vec_free(&s.births);
  ttm_vec_free(&s.calls);
  ttm_vec_free(&s.windows);
  ttm_vec_free(&s.failure);
  ttm_intern_free(&s.keys);
  ttm_map_free(&s.places);
  return status;
}
