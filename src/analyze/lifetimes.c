/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/lifetimes.h"

#include <stdlib.h>

#include "analyze/one_device.h"
#include "analyze/op_groups.h"
#include "analyze/parts.h"
#include "analyze/replay.h"

enum {
  LEAST_GAP = 3,    /* operations: compilers free a tensor right after its last use, or a few operations later */
  LEAST_SHARE = 500 /* of the peak: smaller tensors change nothing */
};

/* What the results of one operation of every layer cost by being freed late. */
typedef struct lateness {
  uint64_t cost;
  uint32_t first, times, gap;
} lateness;

typedef struct search {
  const ttm_findings *f;
  const ttm_profile *p;
  ttm_lifetimes *out;
  uint32_t rank;
  uint64_t least_bytes; /* at least 1: what lies elsewhere takes 0 */
  uint32_t
      last_called; /* of a recording: the last operation that is no free; what is freed behind it goes with the program */
  ttm_one_device device;
  ttm_op_groups ops;         /* asked only for operations with a late result */
  TTM_VEC(lateness) groups;  /* by group */
  TTM_VEC(uint32_t) rows;    /* by group: row in `out`, TTM_NONE */
  TTM_VEC(uint32_t) tensors; /* late ones of the rows in `out`, by last use */
} search;

/* What a result of an operation takes per bank on the device it ran on. */
static uint64_t on_device(const ttm_profile *p, uint32_t op, const ttm_tensor_type *type) {
  ttm_level level;
  bool known = ttm_op_config(p, op, TTM_DRAM, &level);
  return known ? ttm_tensor_bank_bytes(type, level.banks, ttm_op_alignment(p, op)) : 0;
}

/* A result that took no memory is a view. */
bool ttm_op_may_view(const ttm_profile *p, uint32_t op) {
  const ttm_op_text *text = ttm_op_text_of(p, op);
  ttm_str name = ttm_profile_string(p, text->name);
  int64_t effect;
  if (ttm_str_contains(name, TTM_LIT("reshape")) || ttm_str_contains(name, TTM_LIT("view"))) return true;
  if (text->kind == TTM_OP_LOAD_CACHED || !ttm_op_effect(p, op, TTM_DRAM, &effect)) return true;
  uint64_t expected = 0;
  for (uint32_t k = 0; k < text->outputs.n; k++) {
    const ttm_tensor_type *type = ttm_op_text_output(p, text, k);
    if (type && type->buffer == TTM_BUFFER_DRAM) expected += on_device(p, op, type);
  }
  return expected > 4 * TTM_LEVEL_SLACK && effect >= 0 && ttm_level_bytes((uint64_t)effect) < expected / 2;
}

static uint64_t bank_bytes(const search *s, uint32_t tensor) {
  if (s->device.buffers) {
    const ttm_buffer *buffer = ttm_one_device_buffer(&s->device, tensor);
    return buffer ? buffer->bank_bytes : 0;
  }
  const ttm_tensor_type *type = ttm_tensor_type_of(s->p, tensor);
  if (!type || !type->has_layout || type->buffer != TTM_BUFFER_DRAM) return 0;
  return on_device(s->p, s->p->tensors.at[tensor].birth, type);
}

/* A recording shows its program from the opening of the device to its end: what it computes, or converts to another form, and does not use
 * again could be freed, though it is not. What it brings is there for the next step, and what nothing uses is its result. */
static bool could_be_freed(const ttm_profile *p, const ttm_tensor *row) {
  ttm_str last = ttm_profile_string(p, ttm_op_text_of(p, row->last_use)->name);
  if (!p->capture.recording.ended || p->incidents.n || row->last_use == row->birth) return false;
  return !ttm_op_brings(ttm_profile_string(p, ttm_op_text_of(p, row->birth)->name)) || ttm_op_is_conversion(last);
}

/* How many operations late a tensor is freed, `least` or more; 0 when it is not, or too small, or may have a view. */
static uint32_t gap_of(const search *s, uint32_t tensor, uint32_t least) {
  const ttm_profile *p = s->p;
  const ttm_tensor *row = &p->tensors.at[tensor];
  if (row->self != tensor || row->birth >= p->ops.n) return 0;
  bool freed = row->freed_by < p->ops.n && (!p->capture.recording.is || row->freed_by <= s->last_called);
  if (!freed && !could_be_freed(p, row)) return 0;
  uint32_t end = freed ? row->freed_by : (uint32_t)p->ops.n - 1;
  if (end <= row->last_use + least || p->ops.at[row->birth].flags & TTM_OP_CONST_EVAL) return 0;
  if (freed && p->ops.at[end].flags & TTM_OP_RETAINED) return 0;
  uint32_t call = p->ops.at[row->birth].call;
  if (call < p->calls.n && p->calls.at[call].rank != s->rank) return 0;
  uint32_t gap = ttm_elements_between(s->f, row->last_use, end);
  if (gap < least || bank_bytes(s, tensor) < s->least_bytes) return 0;
  /* A capture knows a view by the buffer it lies in: its uses are the buffer's. */
  return !s->device.buffers && ttm_op_may_view(p, row->last_use) ? 0 : gap;
}

static int note(search *s, uint32_t tensor, uint32_t gap) {
  uint32_t id;
  if (ttm_op_groups_of(&s->ops, s->p->ops.at[s->p->tensors.at[tensor].birth].text, &id)) return TTM_ENOMEM;
  while (s->groups.n <= id) {
    if (ttm_vec_push(&s->groups, (lateness){.cost = 0})) return TTM_ENOMEM;
  }
  lateness *group = &s->groups.at[id];
  if (!group->times++) group->first = tensor;
  group->cost += bank_bytes(s, tensor) * gap;
  if (gap > group->gap) group->gap = gap;
  return TTM_OK;
}

static int rank_groups(search *s) {
  ttm_lifetimes *out = s->out;
  for (size_t g = 0; g < s->groups.n; g++) {
    const lateness *group = &s->groups.at[g];
    if (ttm_vec_push(&s->rows, TTM_NONE)) return TTM_ENOMEM;
    if (!group->times) continue;
    ttm_late_free row = {.tensor = group->first, .times = group->times, .gap = group->gap, .cost = group->cost};
    row.bank_bytes = bank_bytes(s, group->first);
    if (out->n == TTM_LATE_FREES && row.cost <= out->late[out->n - 1].cost) continue;
    size_t at = out->n < TTM_LATE_FREES ? out->n++ : out->n - 1;
    for (; at && out->late[at - 1].cost < row.cost; at--) out->late[at] = out->late[at - 1];
    out->late[at] = row;
  }
  for (size_t i = 0; i < out->n; i++) {
    uint32_t birth = s->p->tensors.at[out->late[i].tensor].birth;
    s->rows.at[s->ops.of_text[s->p->ops.at[birth].text]] = (uint32_t)i;
  }
  return TTM_OK;
}

/* ---- What freeing at the last use would bring ----------------------------------------------------------------------------- */

typedef struct edge {
  uint32_t op;
  uint32_t row;
  uint32_t tensor;
  uint64_t bytes; /* less in use from the state after `op` on ... */
  bool ends;      /* ... or as in the log again */
} edge;

typedef TTM_VEC(edge) edge_list;

static int by_op(const void *a, const void *b) {
  const edge *x = a, *y = b;
  if (x->op != y->op) return x->op < y->op ? -1 : 1;
  return x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

/* Who frees a result there frees it every time, also where it is hardly late: at the end of a loop. */
static int collect(search *s, edge_list *edges) {
  const ttm_profile *p = s->p;
  for (size_t i = 0; i < s->out->n; i++) s->out->late[i].times = 0;
  for (uint32_t t = 0; t < p->tensors.n; t++) {
    uint32_t birth = p->tensors.at[t].birth;
    uint32_t group = birth < p->ops.n ? s->ops.of_text[p->ops.at[birth].text] : 0;
    uint32_t row = group ? s->rows.at[group] : TTM_NONE;
    if (row == TTM_NONE || !gap_of(s, t, 1)) continue;
    s->out->late[row].times++;
    edge first = {p->tensors.at[t].last_use, row, t, bank_bytes(s, t), false}, last = first;
    last.op = p->tensors.at[t].freed_by;
    last.ends = true;
    if (ttm_vec_push(edges, first) || ttm_vec_push(edges, last)) return TTM_ENOMEM;
  }
  if (edges->n) qsort(edges->at, edges->n, sizeof *edges->at, by_op);
  for (size_t i = 0; i < edges->n; i++) {
    if (!edges->at[i].ends && ttm_vec_push(&s->tensors, edges->at[i].tensor)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* The sums wrap round: a capture may name sizes that no memory has. */
static void apply(uint64_t *saved, size_t n, const edge_list *edges, size_t from, size_t to, bool ends) {
  for (size_t i = from; i < to; i++) {
    const edge *e = &edges->at[i];
    if (e->ends != ends) continue;
    saved[e->row] += ends ? -e->bytes : e->bytes;
    saved[n] += ends ? -e->bytes : e->bytes;
  }
}

/* What ends before a state may have begun behind the last one, and is taken off before it was added. */
static uint64_t lowered(uint64_t level, uint64_t saved) {
  if (saved > INT64_MAX) return level;
  return level > saved ? level - saved : 0;
}

/* Walks the measured states with every row's savings, and with all of them together (the last column). */
static void measure_peaks(search *s, const edge_list *edges) {
  const ttm_profile *p = s->p;
  uint64_t saved[TTM_LATE_FREES + 1] = {0};
  uint64_t peaks[TTM_LATE_FREES + 1];
  size_t next = 0, n = s->out->n;
  uint32_t after = 0;
  for (size_t i = 0; i <= n; i++) peaks[i] = s->device.others_bytes;
  for (uint32_t state = 0; state < p->states.n; state++) {
    uint64_t level;
    after = ttm_op_after_state(p, state, after);
    if (p->state_bases.at[p->states.at[state].base].rank != s->rank || !ttm_one_device_level(&s->device, state, &level))
      continue;
    size_t end = next;
    while (end < edges->n && edges->at[end].op < after) end++;
    apply(saved, n, edges, next, end, true);
    for (size_t i = 0; i <= n; i++) {
      if (lowered(level, saved[i]) > peaks[i]) peaks[i] = lowered(level, saved[i]);
    }
    /* The last use itself still needs the tensor beside its own result: the saving begins after it. */
    apply(saved, n, edges, next, end, false);
    next = end;
  }
  for (size_t i = 0; i < n; i++) s->out->late[i].peak_bytes = peaks[i];
  s->out->peak_without_bytes = peaks[n];
}

typedef struct peak_watch {
  ttm_replay *replay;
  uint64_t peak;
} peak_watch;

static int watch_peak(void *context, const ttm_replay_event *event) {
  peak_watch *watch = context;
  uint64_t held = ttm_replay_held(&watch->replay->memories[TTM_REPLAY_DRAM]);
  if (event->memory == TTM_REPLAY_DRAM && held > watch->peak) watch->peak = held;
  return 0;
}

/* The log again with these tensors freed at their last use; they come by last use. */
static int replay(const search *s, const uint32_t *tensors, size_t n, uint64_t expected, uint64_t *peak, bool *agrees) {
  ttm_replay replay;
  peak_watch watch = {&replay, 0};
  int status = ttm_replay_init(&replay, s->p, s->rank);
  replay.early = tensors;
  replay.early_count = n;
  replay.watch = watch_peak;
  replay.context = &watch;
  if (!status) status = ttm_replay_to_op(&replay, (uint32_t)s->p->ops.n);
  uint64_t apart = watch.peak > expected ? watch.peak - expected : expected - watch.peak;
  *agrees = !status && apart <= 4 * TTM_LEVEL_SLACK && !replay.memories[TTM_REPLAY_DRAM].unplaced;
  *peak = watch.peak;
  ttm_replay_free(&replay);
  return status;
}

/* Each row that lowers the peak by itself; that of a single row is that of all. At most TTM_LATE_FREES times through the log. */
static int replay_rows(search *s, const edge_list *edges) {
  ttm_lifetimes *out = s->out;
  uint32_t *tensors = ttm_alloc_array(s->tensors.n, sizeof *tensors);
  int status = tensors ? TTM_OK : TTM_ENOMEM;
  for (uint32_t i = 0; i < out->n && !status; i++) {
    ttm_late_free *late = &out->late[i];
    uint64_t peak;
    size_t n = 0;
    if (late->peak_bytes + 2 * TTM_LEVEL_SLACK >= out->peak_bytes) continue;
    late->replayed = true;
    if (out->n == 1) {
      late->replay_agrees = out->replay_agrees;
      continue;
    }
    for (size_t e = 0; e < edges->n; e++) {
      if (edges->at[e].row == i && !edges->at[e].ends) tensors[n++] = edges->at[e].tensor;
    }
    status = replay(s, tensors, n, late->peak_bytes, &peak, &late->replay_agrees);
  }
  ttm_free(tensors);
  return status;
}

static int replay_all(search *s, const edge_list *edges) {
  ttm_lifetimes *out = s->out;
  int status =
      replay(s, s->tensors.at, s->tensors.n, out->peak_without_bytes, &out->replayed_peak_bytes, &out->replay_agrees);
  out->replayed = !status;
  return status ? status : replay_rows(s, edges);
}

int ttm_lifetimes_make(ttm_lifetimes *out, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  search s = {.f = f, .p = p, .out = out, .last_called = ttm_last_element(p)};
  edge_list edges = {0};
  *out = (ttm_lifetimes){.n = 0};
  out->known = f->peak[TTM_DRAM].known && ttm_profile_lives_known(p);
  if (!out->known) return TTM_OK;
  s.rank = ttm_state_rank(p, f->peak[TTM_DRAM].state);
  out->peak_bytes = ttm_level_bytes(f->peak[TTM_DRAM].measured);
  s.least_bytes = out->peak_bytes < LEAST_SHARE ? 1 : out->peak_bytes / LEAST_SHARE;
  int status = ttm_op_groups_init(&s.ops, p);
  if (!status) status = ttm_one_device_make(&s.device, p, f->alive_set[TTM_DRAM].device);
  for (uint32_t t = 0; t < p->tensors.n && !status; t++) {
    uint32_t gap = gap_of(&s, t, LEAST_GAP);
    if (gap) status = note(&s, t, gap);
  }
  if (!status) status = rank_groups(&s);
  if (out->n && !status) {
    status = collect(&s, &edges);
    if (!status) measure_peaks(&s, &edges);
    if (!status && !s.device.buffers) status = replay_all(&s, &edges);
  }
  ttm_vec_free(&edges);
  ttm_vec_free(&s.tensors);
  ttm_vec_free(&s.groups);
  ttm_vec_free(&s.rows);
  ttm_one_device_free(&s.device);
  ttm_op_groups_free(&s.ops);
  return status;
}
