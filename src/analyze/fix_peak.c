/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/fix.h"

#include "analyze/one_device.h"
#include "analyze/parts.h"
#include "base/checked.h"
#include "base/map.h"

enum {
  LEAST_SHARE = 100, /* of the peak: less is no fix */
  TIGHT_PCT = 80,    /* above it the weights' dtype is worth a word */
};

typedef struct adviser {
  const ttm_findings *f;
  const ttm_profile *p;
  const ttm_alive_set *set;
  ttm_one_device device;
  ttm_remedies *out;
} adviser;

static void add(adviser *a, ttm_remedy remedy) {
  ttm_remedies *out = a->out;
  if (!remedy.bytes || remedy.bytes < a->set->measured_bytes / LEAST_SHARE) return;
  if (out->n == TTM_REMEDIES && remedy.bytes <= out->at[out->n - 1].bytes) return;
  size_t at = out->n < TTM_REMEDIES ? out->n++ : out->n - 1;
  for (; at && out->at[at - 1].bytes < remedy.bytes; at--) out->at[at] = out->at[at - 1];
  out->at[at] = remedy;
}

static void propose(adviser *a, ttm_remedy_kind kind, ttm_fix_check check, uint64_t bytes, uint64_t count, uint32_t op,
                    uint32_t row) {
  uint32_t name = row == TTM_NONE ? 0 : a->set->rows.at[row].name;
  add(a, (ttm_remedy){.kind = kind,
                      .check = check,
                      .bytes = bytes,
                      .count = count,
                      .dtype = kind == TTM_FIX_WEIGHTS ? "bfp8" : NULL,
                      .name = name,
                      .op = op,
                      .row = row});
}

/* ---- What a change takes off the peak --------------------------------------------------------------------------------- */

/* A tensor that would take `bytes` per bank less; so would the same one of every run. TTM_NONE: it is there all the time. */
typedef struct saving {
  uint32_t tensor;
  uint64_t bytes;
  uint32_t next; /* of the same operation text: position + 1, 0 ends them */
} saving;

typedef struct saving_list {
  TTM_VEC(saving) at;
  ttm_map of_text; /* first saving + 1 */
} saving_list;

static int add_saving(saving_list *list, const ttm_profile *p, uint32_t tensor, uint64_t bytes) {
  saving one = {tensor, bytes, 0};
  if (tensor != TTM_NONE) {
    uint32_t text = p->ops.at[p->tensors.at[tensor].birth].text;
    one.next = ttm_map_get(&list->of_text, text, 0);
    if (ttm_map_set(&list->of_text, text, (uint32_t)list->at.n + 1)) return TTM_ENOMEM;
  }
  return ttm_vec_push(&list->at, one);
}

static void free_savings(saving_list *list) {
  ttm_vec_free(&list->at);
  ttm_map_free(&list->of_text);
}

/* Number of a tensor among the results of its operation. */
static uint32_t result_number(const ttm_profile *p, uint32_t tensor) {
  return tensor - p->ops.at[p->tensors.at[tensor].birth].tensor;
}

/* The saving that is a tensor's own; of a tensor that is not alive at the peak the least of those that may be its own. Operations of
 * different const-eval programs have the same text, though each makes another weight. */
static uint64_t saving_of(const ttm_profile *p, const saving_list *list, uint32_t tensor) {
  uint64_t least = UINT64_MAX;
  uint32_t i = ttm_map_get(&list->of_text, p->ops.at[p->tensors.at[tensor].birth].text, 0);
  for (; i && i <= list->at.n; i = list->at.at[i - 1].next) {
    const saving *one = &list->at.at[i - 1];
    if (one->tensor == tensor) return one->bytes;
    if (result_number(p, tensor) == result_number(p, one->tensor) && one->bytes < least) least = one->bytes;
  }
  return least == UINT64_MAX ? 0 : least;
}

/* The last operation with the tensor there. What nobody frees goes with its run, unless const-eval made it. A capture knows when a buffer
 * goes, even unseen, by its place being given to another, and that the others stay. */
static uint32_t end_of(const ttm_one_device *device, uint32_t tensor) {
  const ttm_profile *p = device->profile;
  const ttm_tensor *row = &p->tensors.at[tensor];
  const ttm_buffer *buffer = ttm_one_device_buffer(device, tensor);
  if (buffer) return buffer->freed_by;
  if (row->freed_by < p->ops.n) return row->freed_by;
  if (p->ops.at[row->birth].flags & TTM_OP_CONST_EVAL) return (uint32_t)p->ops.n - 1;
  uint32_t call = p->ops.at[row->birth].call, top = call < p->calls.n ? ttm_call_top(p, call) : TTM_NONE;
  return top < p->calls.n ? p->calls.at[top].last_op : row->birth;
}

/* less[op]: bytes that more would be gone from the state before `op` on, on one rank. What comes back wraps round. */
static void note_less(const ttm_one_device *device, const saving_list *list, uint32_t rank, uint64_t *less) {
  const ttm_profile *p = device->profile;
  for (uint32_t t = 0; t < p->tensors.n; t++) {
    const ttm_tensor *row = &p->tensors.at[t];
    if (row->self != t || row->birth >= p->ops.n) continue;
    if (device->buffers && !ttm_one_device_buffer(device, t)) continue;
    uint32_t call = p->ops.at[row->birth].call;
    if (call < p->calls.n && p->calls.at[call].rank != rank) continue;
    uint64_t bytes = saving_of(p, list, t);
    if (!bytes) continue;
    uint32_t end = end_of(device, t);
    less[row->birth + 1] += bytes;
    if (end < p->ops.n) less[end + 1] -= bytes; /* else to the very end */
  }
}

/* What the peak loses by all of them: another moment may be nearly as high. Never more than `most`, what they take at the peak. */
static int off_peak(const adviser *a, const saving_list *list, uint64_t most, uint64_t *out) {
  const ttm_profile *p = a->p;
  uint32_t rank = ttm_state_rank(p, a->set->state), next = 0;
  uint64_t highest = a->device.others_bytes, now = 0, peak = a->set->measured_bytes, level;
  uint64_t *less = ttm_alloc_array(p->ops.n + 1, sizeof *less);
  *out = 0;
  if (!less) return TTM_ENOMEM;
  note_less(&a->device, list, rank, less);
  for (size_t i = 0; i < list->at.n; i++) now += list->at.at[i].tensor == TTM_NONE ? list->at.at[i].bytes : 0;
  for (uint32_t s = 0; s < p->states.n; s++) {
    uint32_t op = p->states.at[s].op;
    if (op >= p->ops.n && a->device.buffers) op = (uint32_t)p->ops.n; /* a capture's last state */
    while (op <= p->ops.n && next <= op) now += less[next++];
    if (p->state_bases.at[p->states.at[s].base].rank != rank || !ttm_one_device_level(&a->device, s, &level)) continue;
    if (level > now && level - now > highest) highest = level - now;
  }
  ttm_free(less);
  if (peak > highest) *out = peak - highest < most ? peak - highest : most;
  return TTM_OK;
}

/* ---- All of them ----------------------------------------------------------------------------------------------------- */

static void advise_lifetimes(adviser *a) {
  const ttm_lifetimes *l = &a->f->lifetimes;
  /* What is added up from a log's rounded figures must stand the replay; a capture knows its buffers to the byte. */
  uint64_t peak = l->replayed ? l->replayed_peak_bytes : l->peak_without_bytes;
  if (!l->n || (l->replayed && !l->replay_agrees) || peak >= l->peak_bytes) return;
  /* The row that alone brings most is the one to look at. */
  const ttm_late_free *best = &l->late[0];
  uint32_t times = 0;
  for (size_t i = 0; i < l->n; i++) {
    if (l->late[i].peak_bytes < best->peak_bytes) best = &l->late[i];
    times += l->late[i].times;
  }
  propose(a, TTM_FIX_FREE_EARLIER, l->replayed ? TTM_FIX_REPLAYED : TTM_FIX_DERIVED, l->peak_bytes - peak, times,
          a->p->tensors.at[best->tensor].birth, TTM_NONE);
}

static const ttm_waste *first_waste(const adviser *a, ttm_waste_kind kind) {
  for (size_t i = 0; i < a->f->wastes.n; i++) {
    if (a->f->wastes.at[i].kind == kind) return &a->f->wastes.at[i];
  }
  return NULL;
}

/* All rows of one kind of waste together. Two forms of a weight may only be there for a moment, while one is made of the other. */
static int advise_weights(adviser *a, ttm_waste_kind kind, ttm_remedy_kind kind_of_fix) {
  const ttm_waste *first = first_waste(a, kind);
  saving_list list = {0};
  uint64_t saves = 0, most = 0;
  uint32_t count = 0;
  int status = TTM_OK;
  if (!first) return TTM_OK;
  for (size_t i = 0; i < a->set->rows.n && !status; i++) {
    const ttm_alive_row *row = &a->set->rows.at[i];
    uint64_t bytes = ttm_waste_of(a->f, row, kind);
    if (!bytes) continue;
    most = ttm_add_sat(most, bytes);
    count++;
    status = add_saving(&list, a->p, row->tensor, bytes);
  }
  if (!status) status = off_peak(a, &list, most, &saves);
  propose(a, kind_of_fix, TTM_FIX_DERIVED, saves, count, a->set->rows.at[first->row].op, first->row);
  free_savings(&list);
  return status;
}

/* The tensor that wastes most by its shape, in every layer; the same operation may have made several of a row's tensors. */
static int advise_shape(adviser *a, const ttm_waste *waste, ttm_remedy_kind kind_of_fix) {
  saving_list list = {0};
  uint64_t saves = 0, most = 0;
  uint32_t count = 0;
  int status = TTM_OK;
  if (!waste) return TTM_OK;
  const ttm_alive_row *first = &a->set->rows.at[waste->row];
  for (uint32_t i = 0; i < a->set->rows.n && !status; i++) {
    const ttm_alive_row *row = &a->set->rows.at[i];
    if (row->type != first->type || !ttm_waste_has(a->f, waste, i)) continue;
    uint64_t bytes = ttm_waste_of(a->f, row, waste->kind);
    most = ttm_add_sat(most, bytes);
    count += row->tensors;
    status = add_saving(&list, a->p, row->tensor, bytes / (row->tensors ? row->tensors : 1));
  }
  if (!status) status = off_peak(a, &list, most, &saves);
  propose(a, kind_of_fix, TTM_FIX_DERIVED, saves, count, first->op, waste->row);
  free_savings(&list);
  return status;
}

static const ttm_waste *first_reshape(const adviser *a, ttm_waste_kind kind) {
  for (size_t i = 0; i < a->f->wastes.n; i++) {
    if (a->f->wastes.at[i].kind == kind && a->f->wastes.at[i].better.rank) return &a->f->wastes.at[i];
  }
  return NULL;
}

/* Rows that a look-up makes of a table in tiles: as many values as that has, but no tiles. */
static bool is_made_of_table(const adviser *a, uint32_t tensor, uint32_t table) {
  const ttm_op_text *text = ttm_op_text_of(a->p, a->p->tensors.at[tensor].birth);
  const ttm_tensor_type *type = ttm_tensor_type_of(a->p, tensor);
  if (!type || type->tiled || ttm_operand_use(ttm_profile_string(a->p, text->name), 1) != TTM_USE_TABLE) return false;
  if (ttm_tensor_logical_bytes(type) != ttm_tensor_logical_bytes(&a->p->types.at[table].tensor)) return false;
  for (uint32_t i = 0; i < text->inputs.n; i++)
    if (a->p->lists.at[text->inputs.first + i] == table) return true;
  return false;
}

/* An embedding table in tiles, of a capture: a log does not tell what an operation allocates inside. */
static int advise_table(adviser *a, uint32_t at) {
  const ttm_alive_row *row = &a->set->rows.at[at];
  uint64_t most = 0, saves = 0, as_rows = ttm_row_major_bytes(a->f, row);
  saving_list list = {0};
  int status = TTM_OK;
  for (uint32_t t = 0; t < a->p->tensors.n && !status; t++) {
    const ttm_buffer *buffer = ttm_one_device_buffer(&a->device, t);
    if (!buffer || !is_made_of_table(a, t, row->type)) continue;
    status = add_saving(&list, a->p, t, buffer->bank_bytes);
    if (buffer->bank_bytes > most) most = buffer->bank_bytes;
  }
  if (!status) status = off_peak(a, &list, most, &saves);
  saves = ttm_sub_sat(ttm_add_sat(saves, row->bank_bytes), as_rows);
  if (list.at.n) propose(a, TTM_FIX_ROW_MAJOR, TTM_FIX_DERIVED, saves, row->tensors, row->op, at);
  free_savings(&list);
  return status;
}

static int advise_tables(adviser *a) {
  int status = TTM_OK;
  for (uint32_t i = 0; i < a->set->rows.n && a->device.buffers && !status; i++) {
    const ttm_alive_row *row = &a->set->rows.at[i];
    bool tiled = row->type != TTM_NONE && a->p->types.at[row->type].is_tensor && a->p->types.at[row->type].tensor.tiled;
    if (tiled && row->uses == TTM_USE_TABLE) status = advise_table(a, i);
  }
  return status;
}

static bool is_tight(const adviser *a) {
  const ttm_level *level = &a->f->peak[TTM_DRAM].level;
  if ((uint64_t)level->allocated * 100 >= (uint64_t)level->total * TIGHT_PCT) return true;
  for (size_t i = 0; i < a->p->incidents.n; i++) {
    const ttm_incident_text *what = &a->p->incidents.at[i].what;
    if (what->kind == TTM_INCIDENT_OOM && ttm_str_eq(what->memory, TTM_LIT("DRAM"))) return true;
  }
  return false;
}

static void advise_bfp8(adviser *a) {
  uint64_t saves = 0;
  uint32_t count = 0, first = TTM_NONE;
  if (!is_tight(a)) return;
  for (uint32_t i = 0; i < a->set->rows.n; i++) {
    const ttm_alive_row *row = &a->set->rows.at[i];
    uint64_t bytes = ttm_alive_row_bfp8_saves(a->f, row);
    if (!bytes) continue;
    saves += bytes;
    if (first == TTM_NONE) first = i;
    count += row->tensors;
  }
  uint32_t op = first == TTM_NONE || a->set->rows.at[first].name ? TTM_NONE : a->set->rows.at[first].op;
  propose(a, TTM_FIX_WEIGHTS, TTM_FIX_ESTIMATED, saves, count, op, first);
}

static void advise_runs(adviser *a) {
  uint64_t kept = a->set->by_class[TTM_ALIVE_KEPT];
  if (a->f->leaks.n) {
    const ttm_leak *leak = &a->f->leaks.at[0];
    uint64_t left = ttm_level_bytes(leak->per_run * leak->runs_seen);
    if (leak->op != TTM_NONE) propose(a, TTM_FIX_STOP_LEAK, TTM_FIX_DERIVED, left, leak->runs_seen, leak->op, TTM_NONE);
    return; /* what earlier runs left is the leak */
  }
  for (uint32_t i = 0; i < a->set->rows.n; i++) {
    const ttm_alive_row *row = &a->set->rows.at[i];
    if (row->class != TTM_ALIVE_KEPT) continue;
    propose(a, TTM_FIX_RELEASE_KEPT, TTM_FIX_DERIVED, kept, row->tensors, row->op, i);
    return; /* the largest stands for all */
  }
}

static void advise_loops(adviser *a) {
  for (size_t i = 0; i < a->f->growths.n; i++) {
    const ttm_growth *g = &a->f->growths.at[i];
    if (!g->sure || g->memory != TTM_DRAM) continue;
    if (g->kind == TTM_GROWTH_KEPT)
      propose(a, TTM_FIX_STOP_LEAK, TTM_FIX_DERIVED, g->saves, g->iterations, g->rows[0].op, TTM_NONE);
    else /* the old one lives until the new one is made of it */
      propose(a, TTM_FIX_PREALLOCATE, TTM_FIX_ESTIMATED, g->rows[0].bank_bytes, g->iterations, g->rows[0].op, TTM_NONE);
  }
}

int ttm_fixes_of_peak(ttm_remedies *out, const ttm_findings *f) {
  adviser a = {.f = f, .p = f->profile, .set = &f->alive_set[TTM_DRAM], .out = out};
  *out = (ttm_remedies){.known = a.set->known};
  if (!out->known) return TTM_OK;
  advise_loops(&a); /* before the late frees that say the same of single tensors */
  advise_lifetimes(&a);
  int status = ttm_one_device_make(&a.device, a.p, a.set->device);
  if (!status) status = advise_weights(&a, TTM_WASTE_UPCAST, TTM_FIX_NO_UPCAST);
  if (!status) status = advise_weights(&a, TTM_WASTE_TWICE, TTM_FIX_ONE_FORM);
  if (!status) status = advise_shape(&a, first_reshape(&a, TTM_WASTE_PADDING), TTM_FIX_RESHAPE);
  if (!status) status = advise_shape(&a, first_reshape(&a, TTM_WASTE_NARROW), TTM_FIX_WIDER_ROWS);
  if (!status) status = advise_tables(&a);
  advise_bfp8(&a);
  advise_runs(&a);
  ttm_one_device_free(&a.device);
  return status;
}
