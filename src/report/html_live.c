/* SPDX-License-Identifier: Apache-2.0 */
/* What fills a memory at its peak, in bytes per bank, as parts that add up to what was allocated. Tensors are derived
 * from the log (made, not yet freed); arguments are an estimate from the compiled graph: the log never says whether the
 * caller still holds them. Whatever the types do not explain is a part of its own. */
#include "base/checked.h"
#include "report/html_parts.h"
#include "report/json_parts.h"

enum { TOP = 8 };

typedef enum part { WEIGHTS, INPUTS, CONST_EVAL, ACTIVATIONS, PARTS } part;

/* Live tensors made by one operation text. */
typedef struct maker {
  uint32_t op; /* the first that made one */
  uint64_t bytes, tensors;
} maker;

typedef struct live_set {
  const ttm_findings *f;
  const ttm_profile *p;
  ttm_memory memory;
  ttm_json_sizes sizes;
  uint32_t rank, run, graph; /* at the peak */
  uint32_t until;            /* operations before this one are done */
  uint64_t allocated;
  uint64_t bytes[PARTS], tensors[PARTS];
  maker *makers; /* by text, of one part at a time */
  maker top[PARTS][TOP];
} live_set;

static ttm_buffer_kind buffer_of(ttm_memory memory) {
  static const ttm_buffer_kind kinds[TTM_MEMORIES] = {TTM_BUFFER_DRAM, TTM_BUFFER_L1, TTM_BUFFER_L1_SMALL,
                                                      TTM_BUFFER_TRACE};
  return kinds[memory];
}

static uint64_t bank_bytes(const live_set *s, const ttm_tensor_type *type) {
  if (!type || !type->has_layout || type->buffer != buffer_of(s->memory)) return 0;
  return ttm_tensor_bank_bytes(type, s->sizes.banks[s->memory], s->sizes.align);
}

/* The run around an operation; runs only count up, so operations outside every program belong to run 0. */
static uint32_t run_of(const ttm_profile *p, uint32_t op) {
  uint32_t frame = p->ops.at[op].frame;
  return frame < p->frames.n ? p->frames.at[frame].run : 0;
}

static uint32_t rank_of(const ttm_profile *p, uint32_t op) {
  uint32_t frame = p->ops.at[op].frame;
  return frame < p->frames.n ? p->frames.at[frame].rank : 0;
}

/* The moment of the peak: which operations are done, and which run it is. */
static void find_moment(live_set *s, uint32_t state) {
  const ttm_profile *p = s->p;
  const ttm_state *row = &p->states.at[state];
  s->rank = ttm_state_rank(p, state);
  s->graph = TTM_NONE;
  if (row->op < p->ops.n) {
    s->until = row->op;
  } else {
    while (s->until < p->ops.n && p->ops.at[s->until].line < row->line) s->until++;
  }
  for (uint32_t op = 0; op < p->ops.n && op <= s->until; op++) {
    if (op == s->until && row->op != op) break;
    if (rank_of(p, op) != s->rank || run_of(p, op) < s->run) continue;
    uint32_t frame = p->ops.at[op].frame;
    s->run = run_of(p, op);
    if (frame < p->frames.n) s->graph = p->frames.at[ttm_frame_top(p, frame)].graph;
  }
}

static bool is_live(const live_set *s, uint32_t tensor) {
  const ttm_profile *p = s->p;
  const ttm_tensor *t = &p->tensors.at[tensor];
  if (t->self != tensor || t->birth >= s->until) return false;
  if (t->freed_by < s->until && !(p->ops.at[t->freed_by].flags & TTM_OP_RETAINED)) return false;
  uint32_t flags = p->ops.at[t->birth].flags;
  if ((flags & TTM_OP_FAILED) || rank_of(p, t->birth) != s->rank) return false;
  return (flags & TTM_OP_CONST_EVAL) || run_of(p, t->birth) == s->run;
}

static void rank_makers(live_set *s, part which) {
  maker *top = s->top[which];
  for (size_t i = 0; i < s->p->texts.n; i++) {
    maker row = s->makers[i];
    size_t at = TOP;
    while (at > 0 && top[at - 1].bytes < row.bytes) at--;
    if (at == TOP) continue;
    memmove(&top[at + 1], &top[at], (TOP - 1 - at) * sizeof row);
    top[at] = row;
  }
}

static void add_tensors(live_set *s, part which) {
  const ttm_profile *p = s->p;
  memset(s->makers, 0, p->texts.n * sizeof *s->makers);
  for (uint32_t t = 0; t < p->tensors.n; t++) {
    uint32_t birth = p->tensors.at[t].birth;
    if (!is_live(s, t) || which != (p->ops.at[birth].flags & TTM_OP_CONST_EVAL ? CONST_EVAL : ACTIVATIONS)) continue;
    uint64_t bytes = bank_bytes(s, ttm_tensor_type_of(p, t));
    if (!bytes) continue;
    s->bytes[which] = ttm_add_sat(s->bytes[which], bytes);
    s->tensors[which]++;
    maker *made = &s->makers[p->ops.at[birth].text];
    if (!made->tensors) made->op = birth;
    made->bytes = ttm_add_sat(made->bytes, bytes);
    made->tensors++;
  }
  rank_makers(s, which);
}

static void add_arguments(live_set *s) {
  const ttm_registry *r = &s->f->registry;
  for (size_t i = 0; i < r->entries.n; i++) {
    const ttm_registry_entry *entry = &r->entries.at[i];
    const ttm_graph *graph = &s->p->graphs.at[entry->graph];
    const ttm_graph_arg *arg = &graph->args.at[entry->arg];
    if (entry->weight ? entry->repeated || entry->graph > s->graph : entry->graph != s->graph) continue;
    if (s->graph == TTM_NONE || graph->rank != s->rank || arg->local_type >= s->p->types.n) continue;
    const ttm_type *type = &s->p->types.at[arg->local_type];
    uint64_t bytes = type->is_tensor ? bank_bytes(s, &type->tensor) : 0;
    if (!bytes) continue;
    part which = entry->weight ? WEIGHTS : INPUTS;
    s->bytes[which] = ttm_add_sat(s->bytes[which], bytes);
    s->tensors[which]++;
  }
}

static void put_part(ttm_buf *buf, const char *kind, uint64_t bytes, uint64_t tensors, const char *basis) {
  ttm_buf_printf(buf, "{\"kind\":\"%s\",\"bytes\":%llu,\"tensors\":%llu,\"basis\":\"%s\"", kind,
                 (unsigned long long)bytes, (unsigned long long)tensors, basis);
}

static void put_top(ttm_buf *buf, const live_set *s, part which) {
  const maker *top = s->top[which];
  ttm_json_raw(buf, ",\"top\":[");
  for (size_t i = 0; i < TOP && top[i].bytes; i++) {
    ttm_buf_put(buf, i ? TTM_LIT(",{") : TTM_LIT("{"));
    ttm_json_op_members(buf, s->f, top[i].op);
    ttm_json_raw(buf, ",\"bytes\":");
    ttm_buf_u64(buf, top[i].bytes);
    ttm_json_raw(buf, ",\"tensors\":");
    ttm_buf_u64(buf, top[i].tensors);
    ttm_buf_char(buf, '}');
  }
  ttm_buf_char(buf, ']');
}

/* Takes from the least certain parts first when the types say more than was allocated. */
static uint64_t clip(live_set *s) {
  uint64_t sum = 0, over;
  for (int i = 0; i < PARTS; i++) sum = ttm_add_sat(sum, s->bytes[i]);
  over = sum > s->allocated ? sum - s->allocated : 0;
  uint64_t left = over;
  for (int i = 0; i < PARTS && left; i++) {
    uint64_t cut = s->bytes[i] < left ? s->bytes[i] : left;
    s->bytes[i] -= cut;
    left -= cut;
  }
  return over;
}

static void put_set(ttm_buf *buf, live_set *s) {
  static const char *const kinds[PARTS] = {"weights", "inputs", "const_eval", "activations"};
  uint64_t over = clip(s), rest = s->allocated;
  ttm_json_raw(buf, "{\"allocated\":");
  ttm_buf_u64(buf, s->allocated);
  ttm_json_raw(buf, ",\"over\":");
  ttm_buf_u64(buf, over);
  ttm_json_raw(buf, ",\"parts\":[");
  for (int i = 0; i < PARTS; i++) {
    put_part(buf, kinds[i], s->bytes[i], s->tensors[i], i <= INPUTS ? "estimated" : "derived");
    if (i >= CONST_EVAL) put_top(buf, s, (part)i);
    ttm_json_raw(buf, "},");
    rest -= s->bytes[i];
  }
  put_part(buf, "unaccounted", rest, 0, "derived");
  ttm_json_raw(buf, "}]}");
}

static int put_memory(ttm_buf *buf, const ttm_findings *f, ttm_memory m) {
  live_set s = {.f = f, .p = f->profile, .memory = m, .sizes = ttm_json_sizes_of(f->profile)};
  if (!f->peak[m].known) {
    ttm_json_null(buf);
    return TTM_OK;
  }
  s.makers = ttm_alloc((s.p->texts.n + 1) * sizeof *s.makers);
  if (!s.makers) return TTM_ENOMEM;
  s.allocated = ((uint64_t)f->peak[m].level.allocated * 1048576 + 500) / 1000;
  find_moment(&s, f->peak[m].state);
  add_tensors(&s, CONST_EVAL);
  add_tensors(&s, ACTIVATIONS);
  add_arguments(&s);
  put_set(buf, &s);
  ttm_free(s.makers);
  return TTM_OK;
}

int ttm_html_live(ttm_buf *buf, const ttm_findings *f) {
  int code = TTM_OK;
  ttm_json_raw(buf, "\"live\":{");
  for (ttm_memory m = 0; m < TTM_MEMORIES && !code; m++) {
    if (m) ttm_buf_char(buf, ',');
    ttm_json_memory_key(buf, m);
    code = put_memory(buf, f, m);
  }
  ttm_buf_char(buf, '}');
  return code;
}
