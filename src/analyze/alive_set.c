/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/alive_set.h"

#include "analyze/alive_rows.h"
#include "analyze/parts.h"
#include "analyze/replay.h"
#include "analyze/words.h"
#include "base/checked.h"
#include "base/map.h"

const char *ttm_alive_class_name(const ttm_profile *p, ttm_alive_class class) {
  static const char *const names[] = {"weights",     "const_eval", "kv_cache", "inputs",
                                      "activations", "kept",       "program",  "unaccounted"};
  return class == TTM_ALIVE_SEMAPHORE && p && p->capture.recording.is ? "semaphores" : names[class];
}

uint64_t ttm_alive_set_explained(const ttm_alive_set *set) {
  uint64_t sum = 0;
  for (int c = 0; c < TTM_ALIVE_UNACCOUNTED; c++) sum += set->by_class[c];
  return sum > set->over_bytes ? sum - set->over_bytes : 0;
}

double ttm_alive_set_quality(const ttm_alive_set *set) {
  uint64_t unknown = set->by_class[TTM_ALIVE_UNACCOUNTED] + set->over_bytes;
  if (unknown >= set->measured_bytes) return set->measured_bytes ? 0.0 : 100.0;
  return 100.0 - 100.0 * (double)unknown / (double)set->measured_bytes;
}

/* ---- Who made it, and of what ------------------------------------------------------------------------------------------- */

typedef struct gathering {
  ttm_alive_set *set;
  const ttm_profile *p;
  ttm_replay replay;
  int memory;
  uint32_t call, run;       /* top-level program around the state */
  uint32_t end_op;          /* first operation after the state */
  uint64_t before, program; /* bytes of extras that no row explains yet: there before, or left by operations */
  TTM_VEC(uint32_t) apart;  /* L1 buffers that are there and not on all cores in lock step: few of all */
  ttm_alive_rows rows;
} gathering;

static const ttm_graph *graph_of(const ttm_profile *p, uint32_t call) {
  uint32_t top = call < p->calls.n ? ttm_call_top(p, call) : TTM_NONE;
  uint32_t graph = top < p->calls.n ? p->calls.at[top].graph : TTM_NONE;
  return graph < p->graphs.n ? &p->graphs.at[graph] : NULL;
}

static bool is_kv_name(ttm_str name) {
  static const char *const marks[] = {"past_key", "past_value", "kv_cache", "key_cache", "value_cache",
                                      "cache_k",  "cache_v",    "k_cache",  "v_cache",   "layer_past"};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    if (ttm_str_contains(name, ttm_str_of(marks[i]))) return true;
  }
  return false;
}

ttm_alive_class ttm_alive_class_of(const ttm_profile *p, const ttm_graph_arg *arg, bool *guess) {
  *guess = !arg->kv_cache && is_kv_name(ttm_profile_string(p, arg->name));
  if (arg->kv_cache || *guess) return TTM_ALIVE_KV_CACHE;
  return arg->kind == TTM_ARG_PARAMETER || arg->kind == TTM_ARG_CONSTANT ? TTM_ALIVE_WEIGHT : TTM_ALIVE_INPUT;
}

/* The operation of the entry program behind an operation: the load_cached around a const-eval program. */
static uint32_t entry_op(const ttm_profile *p, uint32_t op) {
  while (op < p->ops.n && p->ops.at[op].flags & TTM_OP_CONST_EVAL) {
    uint32_t call = p->ops.at[op].call, caller = call < p->calls.n ? p->calls.at[call].caller : TTM_NONE;
    if (caller >= p->ops.n) break;
    op = caller;
  }
  return op;
}

/* Slots of a captured trace stay for its replays: nobody is meant to free them. */
static bool is_trace_slot(const ttm_profile *p, const ttm_call *call) {
  return call->parent != TTM_NONE &&
         ttm_str_contains(ttm_profile_string(p, call->name), TTM_LIT("allocate_slots_trace"));
}

ttm_alive_origin ttm_alive_origin_of(const ttm_profile *p, uint32_t op, uint32_t run) {
  bool const_eval = p->ops.at[op].flags & TTM_OP_CONST_EVAL;
  uint32_t call = p->ops.at[op].call;
  bool inside = call < p->calls.n;
  ttm_alive_origin out = {const_eval ? TTM_ALIVE_CONST_EVAL : TTM_ALIVE_ACTIVATION, 0, TTM_NONE, false};
  if (inside && is_trace_slot(p, &p->calls.at[call])) return out.class = TTM_ALIVE_PROGRAM, out;
  if (!const_eval && inside && p->calls.at[call].run < run) return out.class = TTM_ALIVE_KEPT, out;
  if (!const_eval && !ttm_op_is_conversion(ttm_profile_string(p, ttm_op_text_of(p, op)->name)))
    return out; /* a conversion's result is still that argument */
  uint32_t entry = entry_op(p, op);
  ttm_list args = ttm_profile_weights(p, p->ops.at[entry].weights);
  if (!args.n) return out;
  const ttm_graph *graph = graph_of(p, p->ops.at[entry].call);
  uint32_t first = p->lists.at[args.first];
  if (!graph || first >= graph->args.n) {
    if (const_eval) out.class = TTM_ALIVE_WEIGHT; /* such programs are made of parameters and constants only */
    return out;
  }
  out.name = graph->args.at[first].name;
  if (args.n == 1) out.source = graph->args.at[first].local_type;
  out.class = ttm_alive_class_of(p, &graph->args.at[first], &out.guess);
  return out;
}

/* What is brought from the host is a weight when an object keeps it or operations take weights there; not when they only work on it. */
static bool is_weight(uint8_t roles) {
  if (roles & TTM_ROLE_FACTOR) return true;
  return roles & TTM_ROLE_KEPT && (!(roles & TTM_ROLE_FIRST) || roles & TTM_ROLE_LATER);
}

ttm_alive_origin ttm_alive_origin_of_buffer(const ttm_profile *p, const ttm_buffer *buffer) {
  ttm_alive_origin out = {TTM_ALIVE_ACTIVATION, buffer->name, TTM_NONE, false};
  if (buffer->op == TTM_NONE) return out.class = TTM_ALIVE_INPUT, out;
  if (buffer->tensor == TTM_NONE) return out.class = TTM_ALIVE_PROGRAM, out;
  const ttm_tensor *tensor = &p->tensors.at[buffer->tensor];
  if (!p->capture.recording.is) return out;
  if (ttm_str_contains(ttm_profile_string(p, ttm_op_text_of(p, buffer->op)->name), TTM_LIT("semaphore")))
    out.class = TTM_ALIVE_SEMAPHORE;
  else if (tensor->roles & TTM_ROLE_CACHE ||
           (tensor->roles & TTM_ROLE_BROUGHT && (out.guess = is_kv_name(ttm_profile_string(p, buffer->name)))))
    out.class = TTM_ALIVE_KV_CACHE;
  else if (tensor->roles & TTM_ROLE_BROUGHT)
    out.class = is_weight(tensor->roles) ? TTM_ALIVE_WEIGHT : TTM_ALIVE_INPUT;
  else if (tensor->roles & TTM_ROLE_KEPT && tensor->roles & TTM_ROLE_FACTOR) /* a convolution's, as it prepared them */
    out.class = TTM_ALIVE_WEIGHT;
  return out;
}

/* ---- Gathering ------------------------------------------------------------------------------------------------------------ */

static void measure_type(const gathering *g, uint32_t type, ttm_alive_row *row) {
  row->type = type;
  row->source = TTM_NONE;
  row->bank_bytes = row->smallest_bytes = ttm_replay_cost_of(&g->replay, type, g->memory);
  row->logical_bytes = ttm_tensor_logical_bytes(&g->p->types.at[type].tensor);
  row->stored_bytes = ttm_tensor_stored_bytes(&g->p->types.at[type].tensor, g->replay.align);
}

static int gather_tensors(gathering *g) {
  const ttm_profile *p = g->p;
  for (uint32_t t = 0; t < p->tensors.n; t++) {
    uint64_t at;
    if (!ttm_replay_block(&g->replay, t, &at)) continue;
    uint32_t type = ttm_tensor_type_id(p, t), op = p->tensors.at[t].birth;
    ttm_alive_row row = {.arg = TTM_NONE, .op = op, .tensor = t, .tensors = 1, .uses = p->tensors.at[t].uses};
    measure_type(g, type, &row);
    if (!row.bank_bytes) continue; /* in the other memory */
    ttm_alive_origin origin = ttm_alive_origin_of(p, op, g->run);
    row.class = origin.class;
    row.name = origin.name;
    row.source = origin.source;
    row.guess = origin.guess;
    if (ttm_alive_rows_add(&g->rows, &row, p->ops.at[op].text)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* What was there before is only known within the rounding of every state since, and what rounding took from it was put down to operations. */
static bool take_room(gathering *g, uint64_t bytes) {
  uint64_t lent = bytes > g->before ? bytes - g->before : 0;
  uint64_t drift = g->program < 4 * TTM_LEVEL_SLACK ? g->program : 4 * TTM_LEVEL_SLACK;
  if (lent > drift + TTM_LEVEL_SLACK) return false;
  g->before -= bytes - lent;
  g->program -= lent < g->program ? lent : g->program;
  return true;
}

/* One argument of a program that its operations take from this memory: the host put it there before. */
static int add_argument(gathering *g, const ttm_graph *graph, uint32_t number, uint32_t type, bool weights_only) {
  ttm_alive_row row = {.class = TTM_ALIVE_INPUT, .arg = number, .op = TTM_NONE, .tensor = TTM_NONE, .tensors = 1};
  measure_type(g, type, &row);
  if (graph && number < graph->args.n) {
    row.class = ttm_alive_class_of(g->p, &graph->args.at[number], &row.guess);
    row.name = graph->args.at[number].name;
    row.source = graph->args.at[number].local_type;
  }
  /* The same name in another graph is the same weight. */
  bool counted = row.name && ttm_map_get(&g->rows.by_name, row.name * TTM_ALIVE_CLASSES + row.class, 0);
  if (weights_only && (row.class == TTM_ALIVE_INPUT || counted)) return TTM_OK;
  if (!take_room(g, row.bank_bytes)) return TTM_OK; /* more than can be there: it came another way */
  return ttm_alive_rows_add(&g->rows, &row, TTM_NONE - number);
}

enum { ARGUMENT_COUNTED = 1, ARGUMENT_GONE };

/* Arguments that the program itself freed before the state. */
static int note_freed_arguments(const gathering *g, uint32_t program, ttm_map *seen) {
  const ttm_profile *p = g->p;
  const ttm_call *call = &p->calls.at[program];
  for (uint32_t op = call->first_op; op < g->end_op && op <= call->last_op; op++) {
    const ttm_op_text *text = ttm_op_text_of(p, op);
    if (text->kind != TTM_OP_DEALLOCATE || p->ops.at[op].call != program || !text->operands.n) continue;
    ttm_value operand = p->lists.at[text->operands.first];
    if (!ttm_value_is_argument(operand) || p->ops.at[op].flags & TTM_OP_RETAINED) continue;
    if (ttm_map_set(seen, ttm_value_argument(operand), ARGUMENT_GONE)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int gather_used_arguments(gathering *g, uint32_t program, bool weights_only, ttm_map *seen) {
  const ttm_profile *p = g->p;
  const ttm_graph *graph = graph_of(p, program);
  const ttm_call *call = &p->calls.at[program];
  int status = TTM_OK;
  for (uint32_t op = call->first_op; op != TTM_NONE && op <= call->last_op && !status; op++) {
    const ttm_op_text *text = ttm_op_text_of(p, op);
    if (p->ops.at[op].call != program) continue;
    /* The function of a load_cached stands before its operands, without a type. */
    uint32_t symbols = text->operands.n > text->inputs.n ? text->operands.n - text->inputs.n : 0;
    for (uint32_t i = 0; symbols + i < text->operands.n && i < text->inputs.n && !status; i++) {
      ttm_value operand = p->lists.at[text->operands.first + symbols + i];
      uint32_t type = p->lists.at[text->inputs.first + i], number = ttm_value_argument(operand);
      if (!ttm_value_is_argument(operand) || !ttm_replay_cost_of(&g->replay, type, g->memory)) continue;
      if (ttm_map_get(seen, number, 0)) continue;
      status = ttm_map_set(seen, number, ARGUMENT_COUNTED);
      if (!status) status = add_argument(g, graph, number, type, weights_only);
    }
  }
  return status;
}

/* A run that died, or was cut, never came to use the last ones; the signature of its program says where they lie. */
static int gather_unused_arguments(gathering *g, uint32_t program, bool weights_only, const ttm_map *seen) {
  const ttm_graph *graph = graph_of(g->p, program);
  for (uint32_t number = 0; graph && number < graph->args.n && g->before > TTM_LEVEL_SLACK; number++) {
    uint32_t type = graph->args.at[number].device_type;
    if (ttm_map_get(seen, number, 0) || !ttm_replay_cost_of(&g->replay, type, g->memory)) continue;
    if (add_argument(g, graph, number, type, weights_only)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int gather_arguments(gathering *g, uint32_t program, bool weights_only) {
  ttm_map seen = {0};
  int status = note_freed_arguments(g, program, &seen);
  if (!status) status = gather_used_arguments(g, program, weights_only, &seen);
  if (!status) status = gather_unused_arguments(g, program, weights_only, &seen);
  ttm_map_free(&seen);
  return status;
}

/* Arguments of the current program; then the weights of programs that ran before it, which are still there. */
static int gather_all_arguments(gathering *g) {
  const ttm_profile *p = g->p;
  ttm_map graphs = {0};
  int status = TTM_OK;
  if (g->call >= p->calls.n) return TTM_OK;
  const ttm_call *current = &p->calls.at[g->call];
  if (current->graph != TTM_NONE) status = ttm_map_set(&graphs, current->graph, 1);
  if (!status) status = gather_arguments(g, g->call, false);
  for (size_t i = p->runs.n; i-- > 0 && !status && g->before > TTM_LEVEL_SLACK;) {
    const ttm_call *other = &p->calls.at[p->runs.at[i]];
    if (other->rank != current->rank || other->run >= current->run || other->graph == TTM_NONE) continue;
    if (ttm_map_get(&graphs, other->graph, 0)) continue;
    status = ttm_map_set(&graphs, other->graph, 1);
    if (!status) status = gather_arguments(g, p->runs.at[i], true);
  }
  ttm_map_free(&graphs);
  return status;
}

/* Blocks that no tensor explains: arguments that were there already, kernels, and who knows what. */
static int gather_extras(gathering *g) {
  const ttm_replay_memory *m = &g->replay.memories[g->memory];
  for (size_t i = 0; i < m->extras.n; i++)
    *(m->extras.at[i].op == TTM_NONE ? &g->before : &g->program) += m->extras.at[i].size;
  if (gather_all_arguments(g)) return TTM_ENOMEM;
  uint64_t held = ttm_replay_held(m), unknown = g->before;
  g->set->over_bytes = held > g->set->measured_bytes + TTM_LEVEL_SLACK ? held - g->set->measured_bytes : 0;
  /* Less than the log's own rounding is nothing. */
  if (g->set->measured_bytes > held + TTM_LEVEL_SLACK) unknown += g->set->measured_bytes - held;
  int status = ttm_alive_rows_add_rest(&g->rows, TTM_ALIVE_PROGRAM, g->program);
  return status ? status : ttm_alive_rows_add_rest(&g->rows, TTM_ALIVE_UNACCOUNTED, unknown);
}

/* ---- Captures ---------------------------------------------------------------------------------------------------------------- */

/* A capture knows every buffer, when it came and when it went. Buffers without an operation were there before it began; those without a
 * tensor hold kernels, or what an operation keeps. */
static bool is_alive(const gathering *g, const ttm_buffer *buffer) {
  if (buffer->memory != g->set->memory || (buffer->op != TTM_NONE && buffer->op >= g->end_op)) return false;
  return buffer->freed_by == TTM_NONE || buffer->freed_by >= g->end_op;
}

static uint64_t overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
  uint64_t a_end = ttm_add_sat(a, a_bytes), b_end = ttm_add_sat(b, b_bytes);
  return ttm_sub_sat(a_end < b_end ? a_end : b_end, a > b ? a : b);
}

static bool is_here(const gathering *g, const ttm_buffer *b) {
  return is_alive(g, b) && (!g->p->capture.recording.is || b->device == ttm_state_rank(g->p, g->set->state));
}

/* What a tensor takes of the core that was chosen. Where the core has tensors of its own, one in lock step on other cores takes nothing. */
static uint64_t bytes_of(const gathering *g, const ttm_buffer *buffer) {
  const ttm_capture *c = &g->p->capture;
  uint64_t at = ttm_buffer_address_on(c, buffer, g->set->x, g->set->y), bytes = buffer->bank_bytes;
  if (!is_here(g, buffer) || (buffer->place_n && at == TTM_UNKNOWN)) return 0;
  for (size_t i = 0; buffer->own == TTM_OWN_RANGE && i < g->apart.n; i++) {
    const ttm_buffer *own = &c->buffers.at[g->apart.at[i]];
    uint64_t there = own->place_n ? ttm_buffer_address_on(c, own, g->set->x, g->set->y) : TTM_UNKNOWN;
    if (there != TTM_UNKNOWN) bytes = ttm_sub_sat(bytes, overlap(at, buffer->bank_bytes, there, own->bank_bytes));
  }
  return bytes;
}

/* What a tensor of one core takes beside all that is in lock step. */
static uint64_t beside(const gathering *g, const ttm_buffer *own, uint64_t at) {
  const ttm_capture *c = &g->p->capture;
  uint64_t bytes = own->bank_bytes;
  for (size_t i = 0; i < g->apart.n; i++) {
    const ttm_buffer *b = &c->buffers.at[g->apart.at[i]];
    if (b->own == TTM_OWN_RANGE) bytes = ttm_sub_sat(bytes, overlap(at, own->bank_bytes, b->address, b->bank_bytes));
  }
  return bytes;
}

/* Each core may have tensors of its own: those of the fullest count. */
static int choose_core(gathering *g) {
  enum { MOST_CORES = 64 };
  const ttm_capture *c = &g->p->capture;
  uint64_t most = 0, *held;
  if (!c->core_places.n || g->set->memory != TTM_L1) return TTM_OK;
  for (uint32_t i = 0; i < c->buffers.n; i++) {
    const ttm_buffer *b = &c->buffers.at[i];
    if ((b->place_n || b->own == TTM_OWN_RANGE) && is_here(g, b) && ttm_vec_push(&g->apart, i)) return TTM_ENOMEM;
  }
  if (!(held = ttm_alloc_array(MOST_CORES * MOST_CORES, sizeof *held))) return TTM_ENOMEM;
  for (size_t i = 0; i < g->apart.n; i++) {
    const ttm_buffer *b = &c->buffers.at[g->apart.at[i]];
    for (uint32_t k = b->places; k < b->places + b->place_n; k++) {
      const ttm_core_place *place = &c->core_places.at[k];
      uint64_t *core = &held[place->y * MOST_CORES + place->x];
      *core = ttm_add_sat(*core, beside(g, b, place->at));
      if (*core > most) most = *core, g->set->x = place->x, g->set->y = place->y;
    }
  }
  ttm_free(held);
  return TTM_OK;
}

typedef struct device_sum {
  uint32_t device;
  uint64_t bytes;
} device_sum;

/* The device of a recording's state is its rank. Of several devices in a capture that are no mesh a state tells the fullest. */
static int choose_device(gathering *g, uint64_t *held) {
  const ttm_capture *c = &g->p->capture;
  TTM_VEC(device_sum) sums = {0};
  int status = TTM_OK;
  *held = 0;
  for (size_t i = 0; i < c->buffers.n && !status; i++) {
    size_t d = 0;
    uint64_t bytes = bytes_of(g, &c->buffers.at[i]);
    if (!bytes) continue;
    while (d < sums.n && sums.at[d].device != c->buffers.at[i].device) d++;
    if (d == TTM_CAPTURE_DEVICES) continue;
    if (d == sums.n) status = ttm_vec_push(&sums, (device_sum){c->buffers.at[i].device, 0});
    if (!status) sums.at[d].bytes = ttm_add_sat(sums.at[d].bytes, bytes);
  }
  for (size_t d = 0; d < sums.n; d++) {
    if (sums.at[d].bytes > *held) *held = sums.at[d].bytes, g->set->device = sums.at[d].device;
  }
  ttm_vec_free(&sums);
  return status;
}

uint64_t ttm_buffer_stored(const ttm_profile *p, const ttm_buffer *buffer) {
  ttm_alignment align = ttm_profile_alignment(p);
  if (!buffer->page) return buffer->bytes;
  uint64_t page = ttm_round_up(buffer->page, buffer->memory == TTM_DRAM ? align.dram : align.l1);
  return ttm_mul_sat(ttm_div_up(buffer->bytes, buffer->page), page);
}

/* The type that a cast was given. */
static uint32_t source_of(const ttm_profile *p, uint32_t op) {
  if (op >= p->ops.n) return TTM_NONE;
  const ttm_op_text *text = ttm_op_text_of(p, op);
  bool cast = ttm_str_eq(ttm_profile_string(p, text->name), TTM_LIT("ttnn.typecast"));
  return cast && text->inputs.n ? p->lists.at[text->inputs.first] : TTM_NONE;
}

static int add_buffer(gathering *g, const ttm_buffer *buffer, uint64_t bytes) {
  const ttm_profile *p = g->p;
  uint32_t type = buffer->tensor == TTM_NONE ? TTM_NONE : ttm_tensor_type_id(p, buffer->tensor);
  ttm_alive_origin origin = ttm_alive_origin_of_buffer(p, buffer);
  ttm_alive_row row = {.class = origin.class,
                       .name = origin.name,
                       .guess = origin.guess,
                       .arg = TTM_NONE,
                       .op = buffer->op,
                       .tensor = buffer->tensor,
                       .type = TTM_NONE,
                       .buffer = (uint32_t)(buffer - p->capture.buffers.at),
                       .source = TTM_NONE,
                       .tensors = 1,
                       .smallest_bytes = bytes,
                       .bank_bytes = bytes};
  if (type != TTM_NONE && p->types.at[type].is_tensor) {
    row.type = type;
    row.uses = p->tensors.at[buffer->tensor].uses;
    row.source = source_of(p, buffer->op);
    row.logical_bytes = ttm_tensor_logical_bytes(&p->types.at[type].tensor);
    row.stored_bytes = ttm_buffer_stored(p, buffer);
  }
  return ttm_alive_rows_add(&g->rows, &row, buffer->op == TTM_NONE ? TTM_NONE : p->ops.at[buffer->op].text);
}

static int gather_buffers(gathering *g) {
  const ttm_capture *c = &g->p->capture;
  uint64_t held = 0, measured = g->set->measured_bytes;
  int status = choose_core(g);
  if (!status) status = choose_device(g, &held);
  for (size_t i = 0; i < c->buffers.n && !status; i++) {
    const ttm_buffer *buffer = &c->buffers.at[i];
    uint64_t bytes = buffer->device == g->set->device ? bytes_of(g, buffer) : 0;
    if (bytes) status = add_buffer(g, buffer, bytes);
  }
  if (held > measured + TTM_LEVEL_SLACK) g->set->over_bytes = held - measured;
  if (status || measured <= held + TTM_LEVEL_SLACK) return status;
  return ttm_alive_rows_add_rest(&g->rows, TTM_ALIVE_UNACCOUNTED, measured - held);
}

/* ---- All of it ---------------------------------------------------------------------------------------------------------------- */

static void find_run(gathering *g, uint32_t state, uint32_t op) {
  const ttm_profile *p = g->p;
  if (op == TTM_NONE) op = p->states.at[state].op;
  g->call = g->run = TTM_NONE;
  g->end_op = op < p->ops.n ? op : (uint32_t)p->ops.n;
  if (op >= p->ops.n) { /* after submit: the run that just ended */
    uint32_t before = ttm_state_previous(p, state);
    op = before == TTM_NONE ? TTM_NONE : p->states.at[before].op;
  }
  if (op >= p->ops.n || p->ops.at[op].call >= p->calls.n) {
    g->run = 0;
    return;
  }
  g->call = ttm_call_top(p, p->ops.at[op].call);
  g->run = p->calls.at[g->call].run;
}

/* Replays the log up to the state, or up to the operation. */
static int gather_replayed(gathering *g, uint32_t state, uint32_t op) {
  int status = ttm_replay_init(&g->replay, g->p, ttm_state_rank(g->p, state));
  if (!status) status = op == TTM_NONE ? ttm_replay_to_state(&g->replay, state) : ttm_replay_to_op(&g->replay, op);
  if (op != TTM_NONE) g->set->measured_bytes = ttm_replay_held(&g->replay.memories[g->memory]);
  if (!status) status = gather_tensors(g);
  return status ? status : gather_extras(g);
}

int ttm_alive_set_make(ttm_alive_set *out, const ttm_profile *p, ttm_memory memory, uint32_t state, uint32_t op) {
  gathering g = {
      .set = out, .p = p, .rows = {.set = out, .p = p}, .memory = memory == TTM_L1 ? TTM_REPLAY_L1 : TTM_REPLAY_DRAM};
  ttm_level level;
  *out = (ttm_alive_set){.memory = memory, .state = state, .device = TTM_NONE};
  bool captured = p->kind == TTM_LOG_CAPTURE;
  if (memory > TTM_L1 || state >= p->states.n || !(op < p->ops.n || ttm_profile_lives_known(p))) return TTM_OK;
  if (!ttm_state_level(p, state, memory, &level)) return TTM_OK;
  out->known = true;
  out->banks = level.banks;
  out->measured_bytes = ttm_level_bytes(level.allocated);
  out->alive_bits = ttm_alloc_array(p->tensors.n / 64 + 1, sizeof *out->alive_bits);
  if (!out->alive_bits) return TTM_ENOMEM;
  find_run(&g, state, op);
  out->run = g.run;
  int status = captured ? gather_buffers(&g) : gather_replayed(&g, state, op);
  if (!status) status = ttm_alive_rows_keep(&g.rows);
  ttm_replay_free(&g.replay);
  ttm_alive_rows_free(&g.rows);
  ttm_vec_free(&g.apart);
  return status;
}

void ttm_alive_set_free(ttm_alive_set *set) {
  ttm_free(set->alive_bits);
  ttm_vec_free(&set->arguments);
  ttm_vec_free(&set->rows);
  ttm_vec_free(&set->groups);
  ttm_vec_free(&set->modules);
  ttm_arena_free(&set->names);
}
