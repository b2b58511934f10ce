/* SPDX-License-Identifier: Apache-2.0 */
/* Which operation of one log is which of the other, and which tensors are freed elsewhere. */
#include <stdlib.h>

#include "analyze/align.h"
#include "analyze/diff.h"
#include "analyze/parts.h"
#include "analyze/words.h"
#include "profile/run_ops.h"

/* ---- Sequences ------------------------------------------------------------------------------------------------------ */

/* An operation of a log as it stands in the sequence. */
typedef struct item {
  uint32_t op;
  uint32_t key, place; /* by name, location and results; by name and location */
  uint32_t end;        /* items behind its run */
  int64_t effect;
} item;

/* Runs with the same operations; one that died has the first of them. Its items stand together. */
typedef struct run_kind {
  uint32_t first, end;
  uint32_t name;         /* string */
  uint32_t base, shared; /* a run that went astray and died: its first operations are those of this kind; TTM_NONE */
} run_kind;

typedef struct side {
  const ttm_profile *p;
  TTM_VEC(item)
  items; /* of each kind of run once: those with the same operations are one kind, whatever rank they ran on */
  TTM_VEC(uint32_t) keys;
  TTM_VEC(run_kind) kinds;
  ttm_intern signatures;     /* of the runs, with their names */
  TTM_VEC(uint32_t) kind_of; /* by signature */
  ttm_run_ops ops;
  TTM_VEC(uint32_t) run; /* operations of the run being read */
  uint32_t *row;         /* by item */
  uint32_t *item_of;     /* by operation, TTM_NONE; becomes the diff's row_of */
} side;

typedef struct matcher {
  ttm_diff *diff;
  side sides[2];
  ttm_intern keys, places; /* of both logs */
  uint32_t *match;         /* by item before: the item after, TTM_NONE */
  ttm_buf text;
} matcher;

static int name_item(matcher *m, const ttm_profile *p, item *out) {
  ttm_buf *text = &m->text;
  ttm_list outputs = ttm_op_text_of(p, out->op)->outputs;
  ttm_str place = ttm_words_location(p, out->op);
  uint32_t line; /* of a program moves with every edit above it: the order has to do */
  if (p->capture.recording.is) ttm_words_source_place(place, &place, &line);
  ttm_buf_clear(text);
  ttm_buf_put(text, ttm_words_name(p, out->op));
  ttm_buf_char(text, ' ');
  ttm_buf_put(text, place);
  if (text->failed || ttm_intern_add(&m->places, ttm_buf_str(text), &out->place)) return TTM_ENOMEM;
  for (uint32_t k = 0; k < outputs.n; k++) {
    ttm_buf_char(text, ' ');
    ttm_buf_put(text, ttm_profile_string(p, p->types.at[p->lists.at[outputs.first + k]].text));
  }
  return text->failed || ttm_intern_add(&m->keys, ttm_buf_str(text), &out->key) ? TTM_ENOMEM : TTM_OK;
}

/* Takes the operation as number `at` of its kind of run: a new item, or one more execution of it. */
static int take_item(matcher *m, side *s, uint32_t op, uint32_t at) {
  item new = {.op = op};
  if (!ttm_op_effect_whole(s->p, op, TTM_DRAM, &new.effect)) new.effect = TTM_DIFF_UNKNOWN;
  if (at < s->items.n) {
    if (s->items.at[at].effect < new.effect) s->items.at[at].effect = new.effect;
    return TTM_OK;
  }
  int status = name_item(m, s->p, &new);
  if (!status) status = ttm_vec_push(&s->items, new);
  return status ? status : ttm_vec_push(&s->keys, new.key);
}

/* The operations of a run in order. What ran inside a load_cached stands behind that one. */
static int list_run(side *s, uint32_t call) {
  const ttm_profile *p = s->p;
  bool all = call >= p->calls.n;
  s->run.n = 0;
  for (uint32_t op = all ? 0 : s->ops.first[call]; op < p->ops.n; op = all ? op + 1 : s->ops.next[op]) {
    if (!ttm_op_is_element(p, op) || p->ops.at[op].flags & TTM_OP_CONST_EVAL) continue;
    if (ttm_vec_push(&s->run, op)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static uint32_t item_at(const side *s, const run_kind *kind, uint32_t i) {
  return i < kind->shared ? s->kinds.at[kind->base].first + i : kind->first + i - kind->shared;
}

/* How many operations of the run are the first ones of the kind. */
static uint32_t shared_with(const side *s, const run_kind *kind) {
  uint32_t length = kind->shared + kind->end - kind->first, i = 0;
  while (i < s->run.n && i < length &&
         s->p->ops.at[s->run.at[i]].text == s->p->ops.at[s->items.at[item_at(s, kind, i)].op].text)
    i++;
  return i;
}

/* Whether the run did what runs of a kind begin with, or goes on where the last kind ends: one of them died, or was cut off. */
static bool is_of_kind(const side *s, const run_kind *kind, uint32_t name) {
  uint32_t length = kind->shared + kind->end - kind->first;
  if (kind->name != name || (s->run.n > length && kind->end != s->items.n)) return false;
  return shared_with(s, kind) == (s->run.n < length ? s->run.n : length);
}

/* A run that died after something that no other did is still one of them up to there. */
static void find_base(const side *s, const ttm_call *run, size_t tried, run_kind *out) {
  for (size_t i = s->kinds.n; run && !run->finished && i-- > 0 && s->kinds.n - i <= tried;) {
    uint32_t shared = s->kinds.at[i].shared || s->kinds.at[i].name != out->name ? 0 : shared_with(s, &s->kinds.at[i]);
    if (shared > out->shared && 2 * (size_t)shared >= s->run.n) out->base = (uint32_t)i, out->shared = shared;
  }
}

static int find_kind(side *s, uint32_t call, uint32_t *out) {
  enum { TRIED = 8 };
  const ttm_call *run = call < s->p->calls.n ? &s->p->calls.at[call] : NULL;
  const struct { uint64_t signature, name; } key = {run ? run->signature : 0, run ? run->name : 0};
  uint32_t known = (uint32_t)s->signatures.strings.n, id;
  if (ttm_intern_add(&s->signatures, (ttm_str){(const char *)&key, sizeof key}, &id)) return TTM_ENOMEM;
  if (known && id < known) return *out = s->kind_of.at[id - 1], TTM_OK;
  *out = (uint32_t)s->kinds.n;
  for (size_t i = s->kinds.n; i-- > 0 && s->kinds.n - i <= TRIED;)
    if (is_of_kind(s, &s->kinds.at[i], run ? run->name : 0)) *out = (uint32_t)i;
  if (ttm_vec_push(&s->kind_of, *out)) return TTM_ENOMEM;
  if (*out < s->kinds.n) return TTM_OK;
  run_kind new = {(uint32_t)s->items.n, (uint32_t)s->items.n, run ? run->name : 0, TTM_NONE, 0};
  find_base(s, run, TRIED, &new);
  return ttm_vec_push(&s->kinds, new);
}

static int take_run(matcher *m, side *s, uint32_t call) {
  uint32_t kind;
  if (list_run(s, call) || find_kind(s, call, &kind)) return TTM_ENOMEM;
  run_kind *own = &s->kinds.at[kind];
  for (uint32_t i = 0; i < s->run.n; i++) {
    uint32_t item = item_at(s, own, i);
    if (take_item(m, s, s->run.at[i], item)) return TTM_ENOMEM;
    s->item_of[s->run.at[i]] = item;
    if (i >= own->shared && item >= own->end) own->end = item + 1;
  }
  return TTM_OK;
}

static int read_side(matcher *m, int which) {
  side *s = &m->sides[which];
  int status = TTM_OK;
  s->p = m->diff->f[which]->profile;
  s->item_of = m->diff->row_of[which] = ttm_alloc_array(s->p->ops.n, sizeof *s->item_of);
  if (!s->item_of || ttm_run_ops_make(&s->ops, s->p)) return TTM_ENOMEM;
  for (size_t i = 0; i < s->p->ops.n; i++) s->item_of[i] = TTM_NONE;
  if (!s->p->runs.n && s->p->ops.n) status = take_run(m, s, TTM_NONE);
  for (size_t i = 0; i < s->p->runs.n && !status; i++) status = take_run(m, s, s->p->runs.at[i]);
  for (size_t k = 0; k < s->kinds.n; k++)
    for (uint32_t i = s->kinds.at[k].first; i < s->kinds.at[k].end; i++) s->items.at[i].end = s->kinds.at[k].end;
  s->row = ttm_alloc_array(s->items.n, sizeof *s->row);
  return status || !s->row ? TTM_ENOMEM : TTM_OK;
}

/* ---- Matching ------------------------------------------------------------------------------------------------------- */

static int add_row(matcher *m, uint32_t before, uint32_t after, ttm_diff_kind kind) {
  ttm_diff_row row = {.op = {TTM_NONE, TTM_NONE}, .kind = kind, .group = TTM_NONE};
  const uint32_t at[2] = {before, after};
  for (int s = 0; s < 2; s++) {
    if (at[s] == TTM_NONE) continue;
    row.op[s] = m->sides[s].items.at[at[s]].op;
    row.effect[s] = m->sides[s].items.at[at[s]].effect;
    m->sides[s].row[at[s]] = (uint32_t)m->diff->rows.n;
  }
  m->diff->kinds[kind]++;
  return ttm_vec_push(&m->diff->rows, row);
}

/* Between two matches: operations of the same name and place whose results changed, in order. */
static void pair_changed(matcher *m, uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1) {
  enum { FAR = 64 };
  for (uint32_t i = a0; i < a1; i++)
    for (uint32_t j = b0; j < b1 && j - b0 < FAR; j++)
      if (m->sides[0].items.at[i].place == m->sides[1].items.at[j].place) {
        m->match[i] = j;
        b0 = j + 1;
        break;
      }
}

static void find_changed(matcher *m) {
  uint32_t n = (uint32_t)m->sides[0].items.n, a = 0, b = 0;
  for (uint32_t i = 0; i <= n; i++) {
    if (i < n && m->match[i] == TTM_NONE) continue;
    uint32_t j = i < n ? m->match[i] : (uint32_t)m->sides[1].items.n;
    pair_changed(m, a, i, b, j);
    a = i + 1, b = j + 1;
  }
}

/* What is gone at one place and new at another is the same operation, moved. */
static int find_moved(matcher *m, const bool *taken, uint32_t *moved) {
  const side *before = &m->sides[0], *after = &m->sides[1];
  uint32_t n = (uint32_t)after->items.n, keys = (uint32_t)m->keys.strings.n + 1;
  uint32_t *head = ttm_alloc_array(keys, sizeof *head), *next = ttm_alloc_array(n, sizeof *next);
  int status = head && next ? TTM_OK : TTM_ENOMEM;
  for (uint32_t k = 0; k < keys && !status; k++) head[k] = TTM_NONE;
  for (uint32_t j = n; j-- > 0 && !status;)
    if (!taken[j]) next[j] = head[after->items.at[j].key], head[after->items.at[j].key] = j;
  for (uint32_t i = 0; i < before->items.n && !status; i++) {
    uint32_t *first = &head[before->items.at[i].key];
    moved[i] = TTM_NONE;
    if (m->match[i] == TTM_NONE && *first != TTM_NONE) moved[i] = *first, *first = next[*first];
  }
  ttm_free(head);
  ttm_free(next);
  return status;
}

static int add_rows(matcher *m, bool *taken, const uint32_t *moved) {
  const side *before = &m->sides[0], *after = &m->sides[1];
  int status = TTM_OK;
  for (uint32_t i = 0; i < before->items.n && !status; i++) {
    uint32_t j = m->match[i] != TTM_NONE ? m->match[i] : moved[i];
    ttm_diff_kind kind = j == TTM_NONE                                       ? TTM_DIFF_REMOVED
                         : m->match[i] == TTM_NONE                           ? TTM_DIFF_MOVED
                         : before->items.at[i].key != after->items.at[j].key ? TTM_DIFF_CHANGED
                                                                             : TTM_DIFF_SAME;
    if (j != TTM_NONE) taken[j] = true;
    status = add_row(m, i, j, kind);
  }
  for (uint32_t j = 0; j < after->items.n && !status; j++)
    if (!taken[j]) status = add_row(m, TTM_NONE, j, TTM_DIFF_INSERTED);
  for (int s = 0; s < 2 && !status; s++)
    for (size_t i = 0; i < m->sides[s].p->ops.n; i++) {
      uint32_t *of = &m->sides[s].item_of[i];
      if (*of != TTM_NONE) *of = m->sides[s].row[*of];
    }
  return status;
}

static int match_sides(matcher *m) {
  const side *before = &m->sides[0], *after = &m->sides[1];
  m->match = ttm_alloc_array(before->items.n, sizeof *m->match);
  uint32_t *moved = ttm_alloc_array(before->items.n, sizeof *moved);
  bool *taken = ttm_alloc_array(after->items.n, sizeof *taken);
  int status = m->match && moved && taken ? TTM_OK : TTM_ENOMEM;
  if (!status)
    status =
        ttm_align((ttm_sequence){before->keys.at, (uint32_t)before->keys.n},
                  (ttm_sequence){after->keys.at, (uint32_t)after->keys.n}, (uint32_t)m->keys.strings.n + 1, m->match);
  if (!status) find_changed(m);
  for (size_t i = 0; i < before->items.n && !status; i++)
    if (m->match[i] != TTM_NONE) taken[m->match[i]] = true;
  if (!status) status = find_moved(m, taken, moved);
  if (!status) status = add_rows(m, taken, moved);
  ttm_free(moved);
  ttm_free(taken);
  return status;
}

/* ---- Frees ---------------------------------------------------------------------------------------------------------- */

/* Bytes per bank of the operation's first result; 0 when it is not in DRAM, or was there before (load_cached). */
static uint64_t made_bytes(const ttm_profile *p, uint32_t op) {
  uint32_t tensor = p->ops.at[op].tensor;
  ttm_level level;
  if (tensor >= p->tensors.n || p->tensors.at[tensor].self != tensor) return 0;
  const ttm_tensor_type *type = ttm_tensor_type_of(p, tensor);
  if (!type || !type->has_layout || type->buffer != TTM_BUFFER_DRAM || !ttm_op_config(p, op, TTM_DRAM, &level))
    return 0;
  return ttm_tensor_bank_bytes(type, level.banks, ttm_op_alignment(p, op));
}

/* A result that took no memory gives none back. */
static bool is_view(const item *i, uint64_t bytes) {
  return i->effect != TTM_DIFF_UNKNOWN && (i->effect <= 0 || ttm_level_bytes((uint64_t)i->effect) < bytes / 2);
}

/* The last item before the result of an item is freed; TTM_NONE when that is not in its run. */
static uint32_t freed_after(const side *s, uint32_t at) {
  const ttm_profile *p = s->p;
  uint32_t op = s->items.at[at].op, freed = p->tensors.at[p->ops.at[op].tensor].freed_by;
  uint32_t low = at, high = s->items.at[at].end;
  if (freed >= p->ops.n || freed < op) return TTM_NONE;
  uint32_t call = p->ops.at[freed].call, own = p->ops.at[op].call;
  if (call < p->calls.n && own < p->calls.n && ttm_call_top(p, call) != ttm_call_top(p, own)) return TTM_NONE;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    *(s->items.at[middle].op < freed ? &low : &high) = middle;
  }
  return low;
}

/* near[s][i]: the item after that stands for item i of side s, or for the last one before it that has one. */
static int compare_frees(matcher *m, uint32_t *const near[2], const uint64_t *alive_texts) {
  ttm_diff *d = m->diff;
  const ttm_profile *p = m->sides[1].p;
  for (uint32_t i = 0; i < m->sides[0].items.n; i++) {
    uint32_t j = m->match[i];
    if (j == TTM_NONE || !made_bytes(m->sides[0].p, m->sides[0].items.at[i].op)) continue;
    uint32_t op = m->sides[1].items.at[j].op, text = p->ops.at[op].text;
    ttm_diff_freed row = {.row = m->sides[1].row[j], .bank_bytes = made_bytes(p, op)};
    if (!row.bank_bytes || is_view(&m->sides[0].items.at[i], row.bank_bytes) ||
        is_view(&m->sides[1].items.at[j], row.bank_bytes))
      continue;
    uint32_t was = freed_after(&m->sides[0], i), is = freed_after(&m->sides[1], j);
    if (was == TTM_NONE || is == TTM_NONE)
      row.later = was == is ? 0 : is == TTM_NONE ? INT64_MAX : INT64_MIN;
    else
      row.later = (int64_t)near[1][is] - near[0][was];
    row.at_peak = alive_texts[text / 64] >> text % 64 & 1;
    if (row.later && ttm_vec_push(&d->frees, row)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static void note_alive(const ttm_findings *f, uint64_t *texts) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  for (uint32_t t = 0; set->alive_bits && t < f->profile->tensors.n; t++) {
    uint32_t birth = f->profile->tensors.at[t].birth;
    if (!(set->alive_bits[t / 64] >> t % 64 & 1) || birth >= f->profile->ops.n) continue;
    uint32_t text = f->profile->ops.at[birth].text;
    texts[text / 64] |= UINT64_C(1) << text % 64;
  }
}

static int by_size(const void *a, const void *b) {
  const ttm_diff_freed *x = a, *y = b;
  if (x->at_peak != y->at_peak) return x->at_peak ? -1 : 1;
  if (x->bank_bytes != y->bank_bytes) return x->bank_bytes > y->bank_bytes ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

static int find_frees(matcher *m) {
  ttm_diff *d = m->diff;
  uint32_t n = (uint32_t)m->sides[0].items.n, k = (uint32_t)m->sides[1].items.n, last = 0;
  uint32_t *near[2] = {ttm_alloc_array(n, sizeof **near), ttm_alloc_array(k, sizeof **near)};
  uint64_t *alive = ttm_alloc_array(d->f[1]->profile->texts.n / 64 + 1, sizeof *alive);
  int status = near[0] && near[1] && alive ? TTM_OK : TTM_ENOMEM;
  for (uint32_t j = 0; j < k && !status; j++) near[1][j] = TTM_NONE;
  for (uint32_t i = 0; i < n && !status; i++) {
    if (m->match[i] != TTM_NONE) last = m->match[i], near[1][last] = last;
    near[0][i] = last;
  }
  for (uint32_t j = 0; j < k && !status; j++) near[1][j] = last = near[1][j] == TTM_NONE ? j ? last : 0 : near[1][j];
  if (!status) note_alive(d->f[1], alive);
  if (!status && ttm_profile_frees_known(m->sides[0].p) && ttm_profile_frees_known(m->sides[1].p))
    status = compare_frees(m, near, alive);
  if (!status && d->frees.n) qsort(d->frees.at, d->frees.n, sizeof *d->frees.at, by_size);
  ttm_free(near[0]);
  ttm_free(near[1]);
  ttm_free(alive);
  return status;
}

/* ---- All of it ------------------------------------------------------------------------------------------------------ */

static void matcher_free(matcher *m) {
  for (int s = 0; s < 2; s++) {
    ttm_vec_free(&m->sides[s].items);
    ttm_vec_free(&m->sides[s].keys);
    ttm_vec_free(&m->sides[s].kinds);
    ttm_vec_free(&m->sides[s].kind_of);
    ttm_run_ops_free(&m->sides[s].ops);
    ttm_vec_free(&m->sides[s].run);
    ttm_intern_free(&m->sides[s].signatures);
    ttm_free(m->sides[s].row);
  }
  ttm_intern_free(&m->places);
  ttm_intern_free(&m->keys);
  ttm_free(m->match);
  ttm_buf_free(&m->text);
}

int ttm_diff_match(ttm_diff *d) {
  matcher m = {.diff = d};
  int status = read_side(&m, 0);
  if (!status) status = read_side(&m, 1);
  if (!status) status = match_sides(&m);
  if (!status) status = find_frees(&m);
  matcher_free(&m);
  return status;
}
