/* SPDX-License-Identifier: Apache-2.0 */
/* Graph captures: functions, programs, buffers and tensors. */
#include "profile/load/graph.h"

#include "base/error.h"
#include "profile/diagnose.h"
#include "profile/load/load.h"

static ttm_capture *capture_of(ttm_capture_loader *l) { return &l->profile->capture; }

static ttm_type_word word_of(ttm_str type) {
  if (ttm_str_eq(type, TTM_LIT("DRAM"))) return TTM_WORD_DRAM;
  if (ttm_str_eq(type, TTM_LIT("L1"))) return TTM_WORD_L1;
  return type.n ? TTM_WORD_OTHER : TTM_WORD_NONE;
}

/* TTM_MEMORIES: on the host. Since 0.69 a number tells; the word counts TRACE as DRAM and L1_SMALL as L1. */
uint8_t ttm_capture_memory_of(const ttm_capture_node *node) {
  static const uint8_t by_number[] = {TTM_DRAM, TTM_L1, TTM_MEMORIES, TTM_L1_SMALL, TTM_TRACE};
  uint64_t number = ttm_node_get(node, TTM_PARAM_BUFFER_TYPE, UINT64_MAX);
  if (number < sizeof by_number) return by_number[number];
  ttm_str type = node->text[TTM_PARAM_TYPE];
  if (ttm_str_eq(type, TTM_LIT("L1_SMALL"))) return TTM_L1_SMALL;
  if (ttm_str_eq(type, TTM_LIT("TRACE"))) return TTM_TRACE;
  return word_of(type) == TTM_WORD_DRAM ? TTM_DRAM : word_of(type) == TTM_WORD_L1 ? TTM_L1 : TTM_MEMORIES;
}

uint32_t ttm_capture_device_of(const ttm_capture_node *node) {
  uint64_t device = ttm_node_get(node, TTM_PARAM_DEVICE, TTM_NONE);
  return device < TTM_NONE ? (uint32_t)device : TTM_NONE;
}

/* Of a buffer: as the capture names it, or its rank in a recording. */
static int device_of(ttm_capture_loader *l, const ttm_capture_node *node, uint32_t *out) {
  *out = ttm_capture_device_of(node);
  if (l->recording && ttm_node_get(node, TTM_PARAM_PER_CORE, 0)) return ttm_recording_rank_of_chip(l, *out, out);
  return l->recording ? ttm_recording_rank(l, *out, out) : TTM_OK;
}

static uint32_t key_of(int64_t counter) { return counter >= 0 && counter < TTM_NONE ? (uint32_t)counter : TTM_NONE; }

static uint32_t counter_of(ttm_capture_loader *l, const ttm_capture_node *node) {
  return key_of(node->has_counter ? node->counter : (int64_t)capture_of(l)->nodes - 1);
}

/* ---- Operations ---------------------------------------------------------------------------------------------------- */

static int push_op(ttm_capture_loader *l, uint32_t text, uint32_t line, uint32_t *out) {
  if (ttm_build_op(l->builder, l->stream, text, line, out)) return TTM_ENOMEM;
  if (l->recording && (ttm_vec_push(&l->ranks, ttm_recording_lane(l)->device) || ttm_recording_in_test(l, *out)))
    return TTM_ENOMEM;
  return ttm_vec_push(&l->marks, (uint32_t)l->profile->capture.events.n);
}

int ttm_capture_begin_op(ttm_capture_loader *l, uint32_t name, uint32_t location, uint32_t line) {
  l->op_name = name;
  l->op_location = location;
  l->factory = 0;
  l->settled = false;
  l->profile->seen.op_lines++;
  return push_op(l, 0, line, &l->op);
}

/* Beside the text, which is the same wherever it is called from. */
static int keep_stack(ttm_capture_loader *l) {
  ttm_capture *c = &l->profile->capture;
  while (l->op_stack && c->stacks.n <= l->op)
    if (ttm_vec_push(&c->stacks, 0)) return TTM_ENOMEM;
  if (l->op_stack) c->stacks.at[l->op] = l->op_stack;
  return TTM_OK;
}

/* Everything the operation takes and makes is known: write its text. */
int ttm_capture_finish_op(ttm_capture_loader *l) {
  ttm_profile *p = l->profile;
  if (l->op == TTM_NONE) return TTM_OK;
  ttm_op *op = &p->ops.at[l->op];
  ttm_op_text text;
  memset(&text, 0, sizeof text); /* its bytes are hashed */
  l->outputs.n = 0;
  for (size_t t = op->tensor == TTM_NONE ? p->tensors.n : op->tensor; t < p->tensors.n; t++)
    if (ttm_vec_push(&l->outputs, l->tensor_types.at[t])) return TTM_ENOMEM;
  enum { MOST_RESULTS = 4096 };
  text.name = l->op_name;
  text.location = l->op_location;
  text.attributes = l->factory;
  text.has_attributes = l->factory != 0;
  text.result_count = (uint16_t)(l->outputs.n < MOST_RESULTS ? l->outputs.n : MOST_RESULTS);
  if (keep_stack(l) || ttm_build_list(l->builder, l->inputs.at, l->inputs.n, &text.inputs) ||
      ttm_build_list(l->builder, l->outputs.at, l->outputs.n, &text.outputs))
    return TTM_ENOMEM;
  l->inputs.n = 0;
  return ttm_build_text_once(l->builder, &text, &p->ops.at[l->op].text);
}

/* The operation that allocates now. After a free inside it, which is an operation of its own, the rest is a second part; so is what it
 * does on another device. */
static int current_op(ttm_capture_loader *l, uint32_t line, uint32_t device) {
  uint32_t name = l->op_name, location = l->op_location, factory = l->factory;
  bool part = l->op != TTM_NONE;
  bool elsewhere = l->recording && l->settled && device != ttm_recording_lane(l)->device;
  if (l->op != TTM_NONE && l->op + 1 == l->profile->ops.n && !elsewhere) return TTM_OK;
  if (l->op == TTM_NONE) { /* outside every function, or inside a deallocate */
    location = factory = 0;
    if (ttm_build_string(l->builder, TTM_LIT("allocation outside operations"), &name)) return TTM_ENOMEM;
  }
  if (ttm_capture_finish_op(l) || ttm_capture_begin_op(l, name, location, line)) return TTM_ENOMEM;
  l->factory = factory;
  if (part) l->profile->ops.at[l->op].flags |= TTM_OP_PART;
  return TTM_OK;
}

bool ttm_capture_is_free(ttm_str name) {
  return ttm_str_ends(name, TTM_LIT("::deallocate")) || ttm_str_ends(name, TTM_LIT(".deallocate"));
}

/* ---- Functions and programs ---------------------------------------------------------------------------------------- */

static ttm_function *innermost(ttm_capture_loader *l) {
  return l->depth && l->depth <= TTM_FUNCTION_DEPTH ? &l->functions[l->depth - 1] : NULL;
}

/* What a function of the running operation does with a tensor it is given. A table is converted by a function of its own first. */
static void note_use(ttm_capture_loader *l, uint32_t tensor, uint32_t function, size_t operand) {
  if (tensor == TTM_NONE || l->op == TTM_NONE) return;
  uint8_t use = ttm_operand_use(ttm_profile_string(l->profile, l->op_name), 1);
  if (use != TTM_USE_TABLE) use = ttm_operand_use(ttm_profile_string(l->profile, function), operand);
  l->profile->tensors.at[tensor].uses |= use;
  if (l->recording) ttm_recording_used(l, tensor, function, operand);
}

/* The running operation takes what lies in the buffer. */
static int use_row(ttm_capture_loader *l, uint32_t row, uint32_t type) {
  ttm_buffer *buffer = &capture_of(l)->buffers.at[row];
  if (l->op == TTM_NONE || buffer->op == l->op) return TTM_OK;
  if (buffer->tensor != TTM_NONE) {
    l->profile->tensors.at[buffer->tensor].last_use = l->op;
    if (ttm_vec_push(&capture_of(l)->uses, (ttm_tensor_use){l->op, buffer->tensor})) return TTM_ENOMEM;
  }
  return ttm_vec_push(&l->inputs, type);
}

/* A tensor behind the first operand that is given once is only written where the result goes into it. */
static int mention(ttm_capture_loader *l, uint32_t row, size_t operand) {
  uint64_t function = capture_of(l)->functions;
  if (l->op == TTM_NONE) return TTM_OK;
  for (size_t i = 0; i < l->mentions.n; i++) {
    ttm_mention *m = &l->mentions.at[i];
    if (m->row != row) continue;
    m->read |= !operand || m->function == function;
    m->function = function;
    return TTM_OK;
  }
  return ttm_vec_push(&l->mentions, ((ttm_mention){row, l->op, function, !operand}));
}

static int note_result(ttm_capture_loader *l, uint32_t row) {
  uint32_t tensor = capture_of(l)->buffers.at[row].tensor;
  for (size_t i = 0; i < l->mentions.n; i++) {
    const ttm_mention *m = &l->mentions.at[i];
    if (m->row == row && tensor != TTM_NONE)
      return ttm_vec_push(&capture_of(l)->writes, ((ttm_tensor_write){m->op, tensor, m->read}));
  }
  return TTM_OK;
}

/* A tensor has one node, at its first mention; functions that take it later only name that node. */
static int use_known(ttm_capture_loader *l, int64_t counter, uint32_t function, size_t operand) {
  uint32_t row = ttm_map_get(&l->row_of_tensor, key_of(counter), TTM_NONE);
  if (row == TTM_NONE) return TTM_OK;
  const ttm_buffer *buffer = &capture_of(l)->buffers.at[row];
  note_use(l, buffer->tensor, function, operand);
  if (mention(l, row, operand)) return TTM_ENOMEM;
  /* Functions inside others name it again. */
  if (buffer->tensor == TTM_NONE || l->profile->tensors.at[buffer->tensor].last_use == l->op) return TTM_OK;
  return buffer->freed_by == TTM_NONE ? use_row(l, row, l->tensor_types.at[buffer->tensor]) : TTM_OK;
}

static int on_function_start(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_str name = node->text[TTM_PARAM_NAME];
  ttm_function f = {.cached = ttm_node_get(node, TTM_PARAM_CACHE_HIT, 0) == 1};
  if (ttm_build_string(l->builder, name, &f.name)) return TTM_ENOMEM;
  capture_of(l)->functions++;
  if (l->depth == 0) {
    uint32_t line = node->line;
    if (ttm_capture_finish_op(l)) return TTM_ENOMEM; /* one that was never ended */
    l->op = TTM_NONE;
    l->op_location = l->op_stack = 0;
    l->mentions.n = 0;
    if (l->recording && (ttm_recording_match(l, f.name, &line) || ttm_recording_call(l))) return TTM_ENOMEM;
    l->factory = 0;
    l->inputs_open = true;
    if (!ttm_capture_is_free(name) && ttm_capture_begin_op(l, f.name, l->op_location, line)) return TTM_ENOMEM;
    ttm_recording_call_begins(l);
    if (l->recording && l->op != TTM_NONE && l->called.name) ttm_recording_lane(l)->last_called = l->op;
    if (l->recording && (ttm_recording_keep_trace(l, l->called.trace) || ttm_recording_begun(l, &l->called)))
      return TTM_ENOMEM;
  }
  if (node->text[TTM_PARAM_FACTORY].n && !l->factory &&
      ttm_build_string(l->builder, node->text[TTM_PARAM_FACTORY], &l->factory))
    return TTM_ENOMEM;
  l->wanted.n = 0;
  for (size_t i = 0; i < node->inputs.n; i++)
    if (ttm_vec_push(&l->wanted, node->inputs.at[i]) || use_known(l, node->inputs.at[i], f.name, i)) return TTM_ENOMEM;
  if (l->depth < TTM_FUNCTION_DEPTH) l->functions[l->depth] = f;
  l->depth++;
  return TTM_OK;
}

static void count_program(ttm_capture *c, const ttm_function *f) {
  if (!f->program) return;
  c->programs++;
  c->cache_hits += f->cached;
  if (f->recorded) return;
  if (!c->empty_programs++) c->first_empty = f->name;
  if (f->cached) c->empty_cached++;
}

static int on_function_end(ttm_capture_loader *l, const ttm_capture_node *node) {
  (void)node;
  if (l->depth == 0) return TTM_OK;
  if (innermost(l)) count_program(capture_of(l), innermost(l));
  if (--l->depth) return TTM_OK;
  int rc = ttm_capture_finish_op(l);
  if (!rc && l->recording && l->op != TTM_NONE) rc = ttm_recording_call_ends(l);
  l->op = TTM_NONE;
  return rc;
}

/* ---- Events -------------------------------------------------------------------------------------------------------- */

static void fill_event(ttm_capture_loader *l, const ttm_capture_node *node, ttm_buffer_event *out) {
  ttm_function *f = innermost(l);
  out->bytes = ttm_node_get(node, TTM_PARAM_SIZE, TTM_UNKNOWN);
  out->per_bank = ttm_node_get(node, TTM_PARAM_PER_BANK, TTM_UNKNOWN);
  out->address = ttm_node_get(node, TTM_PARAM_ADDRESS, TTM_UNKNOWN);
  out->node = counter_of(l, node);
  out->op = l->op;
  out->function = f ? f->name : 0;
  if (!l->recording) out->device = ttm_capture_device_of(node);
  out->word = (uint8_t)word_of(node->text[TTM_PARAM_TYPE]);
}

static int push_event(ttm_capture_loader *l, const ttm_capture_node *node, ttm_buffer_event event) {
  if (capture_of(l)->events.n >= TTM_NONE - 1) return TTM_ENOMEM;
  fill_event(l, node, &event);
  if (event.address && event.address != TTM_UNKNOWN) capture_of(l)->normal = true;
  return ttm_vec_push(&capture_of(l)->events, event);
}

static void note_widest(ttm_capture_loader *l, ttm_str cores) {
  uint64_t number;
  for (unsigned i = 0; cores.n;) {
    if (!ttm_str_take_u64(&cores, &number))
      cores = ttm_str_from(cores, 1);
    else if (i++ % 2 == 0 && number > l->widest && number < 64)
      l->widest = (uint32_t)number;
  }
}

static int on_program_buffer(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_node_number which = node->type == TTM_NODE_CIRCULAR_BUFFER ? TTM_PARAM_GLOBAL : TTM_PARAM_BORROWS;
  ttm_buffer_event event = {.kind = TTM_EVENT_SCRATCHPAD};
  ttm_function *f = innermost(l);
  if (f && !l->repeating) f->program = f->recorded = true;
  if (node->type != TTM_NODE_SCRATCHPAD) {
    event.kind = node->type == TTM_NODE_CIRCULAR_BUFFER ? TTM_EVENT_CIRCULAR : TTM_EVENT_DATAFLOW;
    if (!ttm_node_has(node, which))
      event.alias = TTM_ALIAS_UNTOLD;
    else if (node->number[which] == 1)
      event.alias = TTM_ALIAS;
    if (node->words >> which & 1) event.alias |= TTM_ALIAS_WORD;
  }
  uint64_t address = ttm_node_get(node, TTM_PARAM_ADDRESS, 0);
  if (address && !(event.alias & TTM_ALIAS) && (!l->lowest_cb || address < l->lowest_cb)) l->lowest_cb = address;
  ttm_str cores = node->text[TTM_PARAM_CORES];
  note_widest(l, cores);
  if (ttm_build_string(l->builder, cores, &event.row)) return TTM_ENOMEM;
  event.device = l->program_rank << 16 | (ttm_capture_device_of(node) & UINT16_MAX);
  if (!l->repeating) return push_event(l, node, event);
  fill_event(l, node, &event);
  return ttm_recording_asked_buffer(l, &event);
}

/* As the profiler counts programs. */
static int on_execution(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_execution row = {l->op, ttm_node_get(node, TTM_PARAM_CALL, TTM_UNKNOWN)};
  return row.op == TTM_NONE || row.call == TTM_UNKNOWN ? TTM_OK : ttm_vec_push(&l->profile->executions, row);
}

static int on_program_free(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_function *f = innermost(l);
  if (l->repeating) return ttm_recording_asked_program(l, node);
  if (f && !f->program) {
    f->program = true;
    f->run = l->runs++;
  }
  if (device_of(l, node, &l->program_rank)) return TTM_ENOMEM;
  ttm_buffer_event event = {.kind = TTM_EVENT_PROGRAM_FREE, .row = TTM_NONE, .device = l->program_rank};
  if (push_event(l, node, event)) return TTM_ENOMEM;
  return l->recording && f ? ttm_recording_program(l, node, f) : TTM_OK;
}

/* ---- Buffers ------------------------------------------------------------------------------------------------------- */

static int push_buffer(ttm_capture_loader *l, const ttm_buffer *buffer, uint32_t *out) {
  ttm_capture *c = capture_of(l);
  if (c->buffers.n >= TTM_NONE - 1 || ttm_vec_push(&c->buffers, *buffer)) return TTM_ENOMEM;
  *out = (uint32_t)(c->buffers.n - 1);
  c->buffers.at[*out].freed_by = c->buffers.at[*out].under = TTM_NONE;
  return TTM_OK;
}

/* A buffer node that no allocation follows: the buffer was there before the capture began. */
static int settle_fresh_node(ttm_capture_loader *l) {
  if (l->recording)
    l->fresh_node = TTM_NONE; /* nothing is from before it, a piece's early buffers are an earlier piece's */
  if (l->fresh_node == TTM_NONE) return TTM_OK;
  ttm_buffer_node *n = &l->nodes.at[l->fresh_node];
  l->fresh_node = TTM_NONE;
  ttm_buffer buffer = {.op = TTM_NONE,
                       .tensor = TTM_NONE,
                       .device = n->device,
                       .memory = n->memory,
                       .bytes = n->bytes,
                       .bank_bytes = TTM_UNKNOWN,
                       .address = TTM_UNKNOWN};
  return push_buffer(l, &buffer, &n->row);
}

static int on_buffer(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_buffer_node n = {.bytes = ttm_node_get(node, TTM_PARAM_SIZE, 0),
                       .row = TTM_NONE,
                       .word = (uint8_t)word_of(node->text[TTM_PARAM_TYPE]),
                       .memory = ttm_capture_memory_of(node)};
  uint32_t counter = counter_of(l, node);
  n.device = l->recording ? ttm_recording_lane(l)->device : ttm_capture_device_of(node);
  if (l->nodes.n >= TTM_NONE - 1 || ttm_vec_push(&l->nodes, n)) return TTM_ENOMEM;
  l->fresh_node = (uint32_t)(l->nodes.n - 1);
  if (counter != TTM_NONE && ttm_map_set(&l->node_of_counter, counter, l->fresh_node)) return TTM_ENOMEM;
  for (size_t i = 0; i < node->connections.n; i++) {
    uint32_t tensor = key_of(node->connections.at[i]);
    if (tensor != TTM_NONE && ttm_map_set(&l->node_of_tensor, tensor, l->fresh_node)) return TTM_ENOMEM;
  }
  if (!l->inputs_open) return TTM_OK;
  return push_event(l, node, (ttm_buffer_event){.kind = TTM_EVENT_INPUT, .row = TTM_NONE, .device = n.device});
}

/* The buffer node an allocation or free names, or NULL. */
static ttm_buffer_node *named_node(ttm_capture_loader *l, const ttm_capture_node *node) {
  if (!node->connections.n) return NULL;
  uint32_t at = ttm_map_get(&l->node_of_counter, key_of(node->connections.at[0]), TTM_NONE);
  return at == TTM_NONE ? NULL : &l->nodes.at[at];
}

static int add_tensor(ttm_capture_loader *l, uint32_t *out) {
  uint32_t type;
  /* Until a tensor node tells more. */
  if (ttm_build_type(l->builder, TTM_LIT("unknown"), &type)) return TTM_ENOMEM;
  return ttm_build_tensor(l->builder, l->op, TTM_NONE, out) ? TTM_ENOMEM : ttm_vec_push(&l->tensor_types, type);
}

/* Memory a program takes for its kernels comes behind the program's start and not by way of create_device_tensor. */
static bool is_for_kernels(ttm_capture_loader *l, uint8_t memory) {
  ttm_function *f = innermost(l);
  return f && f->program && memory == TTM_DRAM &&
         !ttm_str_ends(ttm_profile_string(l->profile, f->name), TTM_LIT("create_device_tensor"));
}

/* Without a region of their own traces are put at the top of DRAM. A recording has the call that does it. */
static bool is_for_trace(const ttm_capture_loader *l, uint8_t memory) {
  return l->recording && memory == TTM_DRAM && l->op != TTM_NONE &&
         ttm_str_ends(ttm_profile_string(l->profile, l->op_name), TTM_LIT("end_trace_capture"));
}

static int on_allocate(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_buffer_node *named = named_node(l, node);
  ttm_buffer_event event = {.kind = TTM_EVENT_ALLOCATE, .row = TTM_NONE};
  l->fresh_node = TTM_NONE;
  if (device_of(l, node, &event.device) || current_op(l, node->line, event.device)) return TTM_ENOMEM;
  if (l->recording) l->ranks.at[l->op] = ttm_recording_lane(l)->device = event.device;
  l->settled = true;
  ttm_buffer buffer = {.op = l->op,
                       .tensor = TTM_NONE,
                       .device = event.device,
                       .memory = ttm_capture_memory_of(node),
                       .cores = (uint32_t)ttm_node_get(node, TTM_PARAM_NUM_CORES, 0),
                       .bytes = ttm_node_get(node, TTM_PARAM_SIZE, named ? named->bytes : 0),
                       .page = ttm_node_get(node, TTM_PARAM_PAGE_SIZE, 0),
                       .bank_bytes = ttm_node_get(node, TTM_PARAM_PER_BANK, TTM_UNKNOWN)};
  uint64_t address = ttm_node_get(node, TTM_PARAM_ADDRESS, 0);
  buffer.address = address ? address : TTM_UNKNOWN;
  buffer.kernels = is_for_kernels(l, buffer.memory);
  buffer.trace = is_for_trace(l, buffer.memory);
  if (ttm_capture_own_cores(l, node, &buffer)) return TTM_ENOMEM;
  if (ttm_capture_is_copy(l, &buffer)) return TTM_OK;
  if (buffer.memory < TTM_MEMORIES) {
    if (buffer.memory == TTM_DRAM && address > l->highest_dram) l->highest_dram = address;
    if (!buffer.kernels && !buffer.trace && add_tensor(l, &buffer.tensor)) return TTM_ENOMEM;
    if (push_buffer(l, &buffer, &event.row)) return TTM_ENOMEM;
    if (l->recording && ttm_recording_born(l, node, event.row)) return TTM_ENOMEM;
  }
  if (named) named->row = event.row;
  return push_event(l, node, event);
}

/* The free itself, and the operation that it is. */
static int push_free(ttm_capture_loader *l, const ttm_capture_node *node, ttm_buffer_event event) {
  ttm_profile *p = l->profile;
  uint32_t op;
  if (push_op(l, l->free_text, node->line, &op)) return TTM_ENOMEM;
  p->seen.deallocations++;
  if (event.row == TTM_NONE) return push_event(l, node, event);
  ttm_buffer *buffer = &p->capture.buffers.at[event.row];
  buffer->freed_by = op;
  event.device = buffer->device;
  if (l->recording) l->ranks.at[op] = buffer->device;
  if (buffer->tensor != TTM_NONE) {
    p->tensors.at[buffer->tensor].freed_by = op;
    p->ops.at[op].tensor = buffer->tensor;
  } else if (buffer->op == TTM_NONE) { /* what the capture did not see allocated is told when it goes */
    buffer->cores = (uint32_t)ttm_node_get(node, TTM_PARAM_NUM_CORES, 0);
    buffer->page = ttm_node_get(node, TTM_PARAM_PAGE_SIZE, buffer->page);
    buffer->bank_bytes = ttm_node_get(node, TTM_PARAM_PER_BANK, TTM_UNKNOWN);
    if (ttm_node_get(node, TTM_PARAM_ADDRESS, 0)) buffer->address = ttm_node_get(node, TTM_PARAM_ADDRESS, 0);
  }
  return push_event(l, node, event);
}

int ttm_capture_free_row(ttm_capture_loader *l, const ttm_capture_node *node, uint32_t row) {
  uint32_t tensor = capture_of(l)->buffers.at[row].tensor;
  ttm_recording_gone(l, row);
  ttm_buffer_event event = {.kind = TTM_EVENT_FREE, .row = row, .named_bytes = TTM_UNKNOWN, .alias = 1};
  if (push_free(l, node, event)) return TTM_ENOMEM;
  if (tensor != TTM_NONE) l->profile->tensors.at[tensor].freed_by = TTM_NONE;
  return TTM_OK;
}

static int on_deallocate(ttm_capture_loader *l, const ttm_capture_node *node) {
  if (l->recording && ttm_recording_is_noticed(l, node)) return TTM_OK;
  ttm_buffer_node *named = named_node(l, node);
  ttm_buffer_event event = {.kind = TTM_EVENT_FREE, .row = named ? named->row : TTM_NONE, .named_bytes = TTM_UNKNOWN};
  if (named) {
    event.named_word = named->word;
    event.named_bytes = named->bytes;
    named->row = TTM_NONE;
  }
  if (l->recording) {
    event.alias = l->lane != l->viewer;
    event.row = ttm_recording_find(l, node);
    if (event.row != TTM_NONE) ttm_recording_gone(l, event.row);
    if (event.row == TTM_NONE && l->owned) return TTM_OK; /* a copy on another chip */
  }
  return push_free(l, node, event);
}

/* ---- Tensors ------------------------------------------------------------------------------------------------------- */

/* The type row of a tensor node; the same words give the same row without being read again. */
static int type_of(ttm_capture_loader *l, const ttm_capture_node *node, const ttm_buffer *buffer, uint32_t *out) {
  uint64_t shards[3] = {buffer->cores, buffer->cores ? buffer->page : buffer->memory,
                        buffer->cores ? buffer->bytes : 0};
  ttm_buf_clear(&l->scratch);
  ttm_buf_put(&l->scratch, node->text[TTM_PARAM_SHAPE]);
  ttm_buf_put(&l->scratch, node->text[TTM_PARAM_DTYPE]);
  ttm_buf_put(&l->scratch, node->text[TTM_PARAM_LAYOUT]);
  ttm_buf_put(&l->scratch, (ttm_str){(const char *)shards, sizeof shards});
  if (l->scratch.failed) return TTM_ENOMEM;
  uint32_t key;
  if (ttm_intern_add(&l->type_words, ttm_buf_str(&l->scratch), &key)) return TTM_ENOMEM;
  *out = ttm_map_get(&l->type_of_key, key, TTM_NONE);
  if (*out != TTM_NONE) return TTM_OK;
  ttm_capture_type_text(&l->scratch, node, buffer);
  ttm_str text = l->scratch.n ? ttm_buf_str(&l->scratch) : node->text[TTM_PARAM_SHAPE];
  if (l->scratch.failed || ttm_build_type(l->builder, text, out)) return TTM_ENOMEM;
  return ttm_map_set(&l->type_of_key, key, *out);
}

/* As which operand the function started last takes the tensor; TTM_NONE when it does not. */
static uint32_t wanted_as(const ttm_capture_loader *l, const ttm_capture_node *node) {
  for (uint32_t i = 0; i < l->wanted.n; i++)
    if (l->wanted.at[i] == node->counter) return i;
  /* Before input_tensors existed (2025-11) an input's node named the function it goes to. */
  return !l->wanted.n && node->connections.n && node->connections.at[0] < node->counter ? 0 : TTM_NONE;
}

static int on_tensor(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_profile *p = l->profile;
  uint32_t at = ttm_map_get(&l->node_of_tensor, counter_of(l, node), TTM_NONE);
  uint32_t row = at == TTM_NONE ? TTM_NONE : l->nodes.at[at].row, type;
  if (at == TTM_NONE) row = ttm_capture_find_own(l, node);
  if (l->recording) row = ttm_recording_find(l, node);
  if (row == TTM_NONE) return TTM_OK;
  ttm_buffer *buffer = &p->capture.buffers.at[row];
  if (buffer->memory >= TTM_MEMORIES) return TTM_OK;
  if (ttm_map_set(&l->row_of_tensor, counter_of(l, node), row)) return TTM_ENOMEM;
  if (type_of(l, node, buffer, &type) || ttm_capture_note_cores(l, node, buffer)) return TTM_ENOMEM;
  if (!buffer->page && p->types.at[type].is_tensor && p->types.at[type].tensor.tiled)
    buffer->page = ttm_tile_bytes(p->types.at[type].tensor.storage, 32, 32);
  if (buffer->tensor != TTM_NONE && !p->types.at[l->tensor_types.at[buffer->tensor]].is_tensor)
    l->tensor_types.at[buffer->tensor] = type;
  uint32_t operand = wanted_as(l, node);
  if (operand == TTM_NONE) return l->result_row = row, l->after_end ? note_result(l, row) : TTM_OK;
  if (mention(l, row, operand)) return TTM_ENOMEM;
  if (innermost(l)) note_use(l, buffer->tensor, innermost(l)->name, operand);
  return use_row(l, row, type);
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

int ttm_capture_loader_begin(ttm_capture_loader *l, ttm_builder *b, bool recording) {
  *l = (ttm_capture_loader){.builder = b,
                            .profile = b->profile,
                            .recording = recording,
                            .op = TTM_NONE,
                            .fresh_node = TTM_NONE,
                            .failed_process = TTM_NONE};
  ttm_capture *c = capture_of(l);
  c->ordered = true;
  c->recording.last = c->recording.fatal = TTM_NONE;
  ttm_op_text placeholder, deallocate;
  memset(&placeholder, 0, sizeof placeholder); /* their bytes are hashed */
  memset(&deallocate, 0, sizeof deallocate);
  deallocate.kind = TTM_OP_DEALLOCATE;
  uint32_t none;
  if (ttm_build_rank(l->builder, 0, &l->stream) || ttm_build_text_once(l->builder, &placeholder, &none) ||
      ttm_build_string(l->builder, TTM_LIT("deallocate"), &deallocate.name))
    return TTM_ENOMEM;
  return ttm_build_text_once(l->builder, &deallocate, &l->free_text);
}

/* Of a piece in which nothing really happened, the calls are kept and what the recorder itself says. */
static bool is_told(const ttm_capture_loader *l, ttm_node_type type) {
  if (l->repeating && type >= TTM_NODE_CIRCULAR_BUFFER && type <= TTM_NODE_PROGRAM_FREE) return true;
  return type == TTM_NODE_FUNCTION_START || type == TTM_NODE_FUNCTION_END || type >= TTM_NODE_PIECE;
}

int ttm_capture_take(ttm_capture_loader *l, const ttm_capture_node *node) {
  static int (*const handlers[TTM_NODE_PIECE])(ttm_capture_loader *, const ttm_capture_node *) = {
      [TTM_NODE_FUNCTION_START] = on_function_start,
      [TTM_NODE_FUNCTION_END] = on_function_end,
      [TTM_NODE_TENSOR] = on_tensor,
      [TTM_NODE_BUFFER] = on_buffer,
      [TTM_NODE_BUFFER_ALLOCATE] = on_allocate,
      [TTM_NODE_BUFFER_DEALLOCATE] = on_deallocate,
      [TTM_NODE_CIRCULAR_BUFFER] = on_program_buffer,
      [TTM_NODE_DATAFLOW_BUFFER] = on_program_buffer,
      [TTM_NODE_SCRATCHPAD] = on_program_buffer,
      [TTM_NODE_PROGRAM_FREE] = on_program_free,
      [TTM_NODE_PROGRAM_EXECUTION] = on_execution,
  };
  ttm_capture *c = capture_of(l);
  if (l->recording && (node->type >= TTM_NODE_PIECE || !l->lanes.n) && ttm_recording_enter(l, node)) return TTM_ENOMEM;
  if (!l->recording && (!node->has_counter || node->counter != (int64_t)c->nodes)) c->ordered = false;
  c->nodes++;
  if (node->type >= TTM_NODE_PIECE) l->templates.saving = false;
  if (l->templates.saving && ttm_recording_save(l, node)) return TTM_ENOMEM;
  c->normal |= node->type == TTM_NODE_PROGRAM_EXECUTION && !l->hypothetical;
  if (l->hypothetical && !is_told(l, node->type)) return TTM_OK;
  if (node->type != TTM_NODE_BUFFER_ALLOCATE && settle_fresh_node(l)) return TTM_ENOMEM;
  bool input = node->type == TTM_NODE_BUFFER && word_of(node->text[TTM_PARAM_TYPE]) == TTM_WORD_L1;
  if (!input && node->type != TTM_NODE_TENSOR) l->inputs_open = false;
  if (node->type != TTM_NODE_TENSOR) l->after_end = node->type == TTM_NODE_FUNCTION_END;
  if (node->type >= TTM_NODE_PIECE) return l->recording ? ttm_recording_take(l, node) : TTM_OK;
  return handlers[node->type] ? handlers[node->type](l, node) : TTM_OK;
}

int ttm_capture_loader_finish(ttm_capture_loader *l, const ttm_capture_facts *facts) {
  ttm_profile *p = l->profile;
  ttm_capture *c = &p->capture;
  /* Of a buffer node right before a cut nobody can tell whether its allocation was to follow. */
  if ((!p->seen.cut && settle_fresh_node(l)) || ttm_capture_finish_op(l)) return TTM_ENOMEM;
  if (l->recording && ttm_recording_finish(l, facts)) return TTM_ENOMEM;
  p->seen.cut &= !c->recording.ended; /* the brackets are closed by who started the program */
  for (; l->depth; l->depth--)
    if (innermost(l)) count_program(c, innermost(l));
  c->report = facts->report;
  c->bad_nodes += facts->bad_nodes;
  c->other_nodes += facts->other_nodes;
  c->world = facts->world;
  if (facts->has_rank && facts->rank < TTM_NONE) p->ranks.at[l->stream->rank] = (uint32_t)facts->rank;
  if (ttm_build_string(l->builder, ttm_str_of(facts->version), &c->version)) return TTM_ENOMEM;
  if (ttm_capture_derive(l, facts)) return TTM_ENOMEM;
  if (c->functions || c->events.n) p->kind = TTM_LOG_CAPTURE;
  for (size_t i = 0; i < p->calls.n; i++) p->calls.at[i].finished = !p->seen.cut;
  return ttm_builder_end(l->builder);
}

void ttm_capture_loader_free(ttm_capture_loader *l) {
  ttm_vec_free(&l->marks);
  ttm_vec_free(&l->nodes);
  ttm_map_free(&l->node_of_counter);
  ttm_map_free(&l->node_of_tensor);
  ttm_map_free(&l->row_of_tensor);
  ttm_vec_free(&l->tensor_types);
  ttm_map_free(&l->type_of_key);
  ttm_intern_free(&l->type_words);
  ttm_vec_free(&l->inputs);
  ttm_vec_free(&l->outputs);
  ttm_vec_free(&l->wanted);
  ttm_vec_free(&l->mentions);
  ttm_buf_free(&l->scratch);
  ttm_vec_free(&l->begun);
  ttm_vec_free(&l->lanes);
  ttm_vec_free(&l->processes);
  ttm_vec_free(&l->opened);
  ttm_vec_free(&l->ranks);
  ttm_map_free(&l->incident_of_failure);
  ttm_map_free(&l->op_of_id);
  ttm_vec_free(&l->host_ids);
  ttm_vec_free(&l->calls);
  ttm_vec_free(&l->starts);
  ttm_vec_free(&l->sites);
  ttm_map_free(&l->of_site);
  ttm_recording_free_templates(l);
  ttm_vec_free(&l->repeats.events);
  ttm_vec_free(&l->repeats.programs);
  ttm_vec_free(&l->repeats.at);
  ttm_map_free(&l->repeats.of_key);
  ttm_map_free(&l->repeats.of_number);
  ttm_intern_free(&l->places);
  ttm_vec_free(&l->living);
  ttm_vec_free(&l->owed);
  ttm_vec_free(&l->births);
}

static int read_nodes(ttm_capture_loader *l, ttm_capture_reader *nodes, ttm_input *in, ttm_error *err) {
  const ttm_capture_node *node;
  ttm_profile *p = l->profile;
  for (uint32_t i = 1; (node = ttm_capture_next(nodes)); i++) {
    if (i == 1) l->recording = nodes->facts.recording;
    if (ttm_capture_take(l, node)) return ttm_error_nomem(err);
    if (i % 4096 || !in->chunker.source) continue;
    int rc = ttm_input_progress(in, ttm_source_position(in->chunker.source), p->ops.n, err);
    if (rc) return rc;
  }
  if (nodes->cut && nodes->json.status != TTM_EFORMAT) {
    if (err) *err = nodes->json.io;
    return nodes->json.status == TTM_ENOMEM ? ttm_error_nomem(err) : nodes->json.status;
  }
  p->seen.bytes = ttm_json_position(&nodes->json);
  p->seen.lines = nodes->json.line;
  p->seen.cut = nodes->cut;
  if (ttm_capture_loader_finish(l, &nodes->facts)) return ttm_error_nomem(err);
  return p->kind == TTM_LOG_CAPTURE ? TTM_OK : ttm_profile_diagnose_capture(nodes, err);
}

int ttm_load_graph(ttm_builder *b, ttm_input *in, ttm_error *err) {
  ttm_capture_reader nodes;
  ttm_capture_loader l;
  ttm_capture_init(&nodes, in->chunker.source, in->first);
  int rc = ttm_capture_loader_begin(&l, b, false) ? ttm_error_nomem(err) : read_nodes(&l, &nodes, in, err);
  if (rc && rc != TTM_ENOMEM && err && err->message[0] && !err->line) err->line = nodes.json.line;
  ttm_capture_free(&nodes);
  ttm_capture_loader_free(&l);
  return rc;
}
