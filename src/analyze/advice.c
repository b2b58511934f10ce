/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/advice.h"

#include "analyze/parts.h"
#include "base/checked.h"

enum {
  LEAST_SHARE = 200, /* of the peak: less is no advice */
  TIGHT_PCT = 80,    /* above it the weights' dtype is worth a word */
};

const char *ttm_advice_name(ttm_advice_kind kind) {
  static const char *const names[] = {"free_earlier", "no_upcast",    "one_form",  "reshape", "wider_rows",
                                      "weights_bfp8", "release_kept", "stop_leak", "move_pin"};
  return names[kind];
}

typedef struct adviser {
  const ttm_findings *f;
  const ttm_profile *p;
  const ttm_live_set *set;
  ttm_advices *out;
} adviser;

static void add(adviser *a, ttm_advice advice) {
  ttm_advices *out = a->out;
  if (!advice.saves || advice.saves < a->set->measured_bytes / LEAST_SHARE) return;
  if (out->n == TTM_ADVICES && advice.saves <= out->at[out->n - 1].saves) return;
  size_t at = out->n < TTM_ADVICES ? out->n++ : out->n - 1;
  for (; at && out->at[at - 1].saves < advice.saves; at--) out->at[at] = out->at[at - 1];
  out->at[at] = advice;
}

/* Bytes that would be gone from the state before each operation on, if every result of the tensor's operation took `bytes` less: the same one
 * of every run. NULL when out of memory. */
static int64_t *less_by_op(const adviser *a, uint32_t tensor, uint64_t bytes) {
  const ttm_profile *p = a->p;
  uint32_t text = p->ops.at[p->tensors.at[tensor].birth].text,
           k = tensor - p->ops.at[p->tensors.at[tensor].birth].tensor;
  int64_t *less = ttm_alloc_array(p->ops.n + 1, sizeof *less);
  for (uint32_t t = 0; less && t < p->tensors.n; t++) {
    const ttm_tensor *row = &p->tensors.at[t];
    if (row->self != t || row->birth >= p->ops.n || p->ops.at[row->birth].text != text) continue;
    if (t - p->ops.at[row->birth].tensor != k) continue;
    uint32_t frame = p->ops.at[row->birth].frame;
    bool stays = row->freed_by >= p->ops.n;
    /* What nobody frees goes with its run, unless const-eval made it. */
    uint32_t top = frame < p->frames.n ? ttm_frame_top(p, frame) : TTM_NONE;
    uint32_t end = !stays                                            ? row->freed_by
                   : p->ops.at[row->birth].flags & TTM_OP_CONST_EVAL ? (uint32_t)p->ops.n - 1
                   : top < p->frames.n                               ? p->frames.at[top].last_op
                                                                     : row->birth;
    less[row->birth + 1] += (int64_t)bytes;
    if (end + 1 <= p->ops.n) less[end + 1] -= (int64_t)bytes;
  }
  return less;
}

/* What the peak loses when each such tensor takes `bytes` less: another moment may be nearly as high. */
static uint64_t off_peak(const adviser *a, uint32_t tensor, uint64_t bytes) {
  const ttm_profile *p = a->p;
  uint64_t peak = a->set->measured_bytes;
  int64_t highest = 0, now = 0;
  uint32_t rank = ttm_state_rank(p, a->set->state), next = 0;
  if (tensor == TTM_NONE) return bytes; /* there all the time */
  int64_t *less = less_by_op(a, tensor, bytes);
  if (!less) return 0;
  for (uint32_t s = 0; s < p->states.n; s++) {
    uint32_t allocated, op = p->states.at[s].op;
    while (op < p->ops.n && next <= op) now += less[next++];
    if (p->state_frames.at[p->states.at[s].frame].rank != rank || !ttm_state_allocated(p, s, TTM_DRAM, &allocated))
      continue;
    int64_t level = (int64_t)ttm_level_bytes(allocated) - now;
    if (level > highest) highest = level;
  }
  ttm_free(less);
  return (int64_t)peak > highest ? peak - (uint64_t)highest : 0;
}

static void advise_lifetimes(adviser *a) {
  const ttm_lifetimes *l = &a->f->lifetimes;
  if (!l->n || !l->replayed || !l->replay_agrees || l->replayed_peak_bytes >= l->peak_bytes) return;
  /* The row that alone brings most is the one to look at. */
  const ttm_late_free *best = &l->late[0];
  uint32_t times = 0;
  for (size_t i = 0; i < l->n; i++) {
    if (l->late[i].peak_bytes < best->peak_bytes) best = &l->late[i];
    times += l->late[i].times;
  }
  add(a, (ttm_advice){TTM_ADVICE_FREE_EARLIER, TTM_DERIVED, l->peak_bytes - l->replayed_peak_bytes,
                      a->p->tensors.at[best->tensor].birth, TTM_NONE, times});
}

static const ttm_waste *first_waste(const adviser *a, ttm_waste_kind kind) {
  for (size_t i = 0; i < a->f->wastes.n; i++) {
    if (a->f->wastes.at[i].kind == kind) return &a->f->wastes.at[i];
  }
  return NULL;
}

static void advise_weights(adviser *a) {
  static const struct {
    ttm_waste_kind waste;
    ttm_advice_kind advice;
  } pairs[] = {{TTM_WASTE_UPCAST, TTM_ADVICE_NO_UPCAST}, {TTM_WASTE_TWICE, TTM_ADVICE_ONE_FORM}};
  for (size_t i = 0; i < 2; i++) {
    const ttm_waste *waste = first_waste(a, pairs[i].waste);
    if (!waste) continue;
    const ttm_live_row *row = &a->set->rows.at[waste->row];
    uint64_t saves = a->f->wastes.bank_bytes[pairs[i].waste];
    /* Two forms may only be there for a moment, while one is made of the other. */
    if (pairs[i].waste == TTM_WASTE_TWICE) saves = off_peak(a, row->tensor, saves);
    add(a, (ttm_advice){pairs[i].advice, TTM_DERIVED, saves, row->op, waste->row, a->f->wastes.count[pairs[i].waste]});
  }
}

static void advise_padding(adviser *a) {
  const ttm_waste *padding = NULL, *narrow = first_waste(a, TTM_WASTE_NARROW);
  for (size_t i = 0; i < a->f->wastes.n && !padding; i++) {
    if (a->f->wastes.at[i].kind == TTM_WASTE_PADDING && a->f->wastes.at[i].better.rank) padding = &a->f->wastes.at[i];
  }
  for (int k = 0; k < 2; k++) {
    const ttm_waste *waste = k ? narrow : padding;
    if (!waste) continue;
    const ttm_live_row *row = &a->set->rows.at[waste->row];
    uint64_t saves = off_peak(a, row->tensor, waste->bank_bytes / (row->tensors ? row->tensors : 1));
    add(a, (ttm_advice){k ? TTM_ADVICE_WIDER_ROWS : TTM_ADVICE_RESHAPE, TTM_DERIVED, saves, row->op, waste->row,
                        row->tensors});
  }
}

static bool is_tight(const adviser *a) {
  const ttm_level *level = &a->f->peak[TTM_DRAM].level;
  if ((uint64_t)level->allocated * 100 >= (uint64_t)level->total * TIGHT_PCT) return true;
  for (size_t i = 0; i < a->p->incidents.n; i++) {
    const ttm_incident_text *what = &a->p->incidents.at[i].what;
    if (what->kind == TTM_INCIDENT_OOM && ttm_view_eq(what->memory, TTM_LIT("DRAM"))) return true;
  }
  return false;
}

/* Matrices in bf16 only: norms and biases are small and sensitive. */
static void advise_bfp8(adviser *a) {
  uint64_t saves = 0;
  uint32_t count = 0, first = TTM_NONE;
  if (!is_tight(a)) return;
  for (uint32_t i = 0; i < a->set->rows.n; i++) {
    const ttm_live_row *row = &a->set->rows.at[i];
    if (row->class != TTM_LIVE_WEIGHT || row->type == TTM_NONE || row->forms_differ) continue;
    const ttm_tensor_type *type = &a->p->types.at[row->type].tensor;
    bool matrix = type->tiled && type->shape.rank >= 2 && type->shape.at[type->shape.rank - 2] >= 32;
    if (!matrix || !ttm_view_eq(type->storage, TTM_LIT("bf16"))) continue;
    saves += row->bank_bytes - row->bank_bytes / 2048 * 1088;
    if (first == TTM_NONE) first = i;
    count += row->tensors;
  }
  add(a, (ttm_advice){TTM_ADVICE_WEIGHTS_BFP8, TTM_ESTIMATED, saves, TTM_NONE, first, count});
}

static void advise_runs(adviser *a) {
  uint64_t kept = a->set->by_class[TTM_LIVE_KEPT];
  if (a->f->leaks.n) {
    const ttm_leak *leak = &a->f->leaks.at[0];
    uint64_t left = ttm_level_bytes(leak->per_run * leak->runs_seen);
    if (leak->op != TTM_NONE)
      add(a, (ttm_advice){TTM_ADVICE_STOP_LEAK, TTM_DERIVED, left, leak->op, TTM_NONE, leak->runs_seen});
    return; /* what earlier runs left is the leak */
  }
  for (uint32_t i = 0; i < a->set->rows.n; i++) {
    const ttm_live_row *row = &a->set->rows.at[i];
    if (row->class != TTM_LIVE_KEPT) continue;
    add(a, (ttm_advice){TTM_ADVICE_RELEASE_KEPT, TTM_DERIVED, kept, row->op, i, row->tensors});
    return; /* the largest stands for all */
  }
}

static void advise_pin(adviser *a) {
  const ttm_fragmentation *x = &a->f->fragmentation;
  if (!x->pin_count || x->pins[0].tensor == TTM_NONE) return;
  for (size_t i = 0; i < a->f->incidents.n; i++) {
    const ttm_incident_finding *finding = &a->f->incidents.at[i];
    const ttm_incident *incident = &a->p->incidents.at[finding->incident];
    if (finding->verdict != TTM_VERDICT_FRAGMENTED || incident->state != x->pins_state) continue;
    for (size_t k = 0; k < x->pin_count; k++) { /* the one that would have made room */
      const ttm_pin *pin = &x->pins[k];
      if (pin->tensor == TTM_NONE || pin->merged < incident->what.needed_per_bank) continue;
      add(a, (ttm_advice){TTM_ADVICE_MOVE_PIN, TTM_DERIVED, pin->merged, a->p->tensors.at[pin->tensor].birth, TTM_NONE,
                          pin->tensors});
      return;
    }
  }
}

void ttm_advices_make(ttm_advices *out, const ttm_findings *f) {
  adviser a = {f, f->profile, &f->live_set[TTM_DRAM], out};
  *out = (ttm_advices){.n = 0};
  if (!a.set->known) return;
  advise_lifetimes(&a);
  advise_weights(&a);
  advise_padding(&a);
  advise_bfp8(&a);
  advise_runs(&a);
  advise_pin(&a);
}
