/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/capture_builder.h"

#include "parse/log_line.h"

static ttm_capture *capture_of(ttm_capture_builder *b) { return &b->profile->capture; }

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

static uint32_t key_of(int64_t counter) { return counter >= 0 && counter < TTM_NONE ? (uint32_t)counter : TTM_NONE; }

static uint32_t counter_of(ttm_capture_builder *b, const ttm_capture_node *node) {
  return key_of(node->has_counter ? node->counter : (int64_t)capture_of(b)->nodes - 1);
}

/* ---- Operations ---------------------------------------------------------------------------------------------------- */

static int push_op(ttm_capture_builder *b, uint32_t text, uint32_t line, uint32_t *out) {
  if (ttm_op_place(&b->base, b->stream, text, line, out)) return TTM_ENOMEM;
  return ttm_vec_push(&b->marks, (uint32_t)b->profile->capture.events.n);
}

/* Of texts that were set to zero as a whole before they were filled in. */
static bool same_bytes(const void *a, const void *b, size_t n) { return memcmp(a, b, n) == 0; }

/* The text of an operation, stored once. */
static int add_text(ttm_capture_builder *b, const ttm_op_text *text, uint32_t *out) {
  ttm_profile *p = b->profile;
  uint64_t key = ttm_hash(text, sizeof *text, 0);
  uint32_t known = ttm_map_get(&b->text_of_key, key, TTM_NONE);
  if (known != TTM_NONE && same_bytes(&p->texts.at[known], text, sizeof *text)) return *out = known, TTM_OK;
  if (ttm_vec_push(&p->texts, *text)) return TTM_ENOMEM;
  *out = (uint32_t)(p->texts.n - 1);
  return ttm_map_set(&b->text_of_key, key, *out);
}

static int begin_op(ttm_capture_builder *b, uint32_t line) {
  b->profile->seen.op_lines++;
  return push_op(b, 0, line, &b->op);
}

int ttm_capture_begin_op(ttm_capture_builder *b, uint32_t name, uint32_t location, uint32_t line) {
  b->op_name = name;
  b->op_location = location;
  b->factory = 0;
  return begin_op(b, line);
}

/* Everything the operation takes and makes is known: write its text. */
int ttm_capture_finish_op(ttm_capture_builder *b) {
  ttm_profile *p = b->profile;
  if (b->op == TTM_NONE) return TTM_OK;
  ttm_op *op = &p->ops.at[b->op];
  ttm_op_text text;
  memset(&text, 0, sizeof text); /* it is compared as bytes */
  b->outputs.n = 0;
  for (size_t t = op->tensor == TTM_NONE ? p->tensors.n : op->tensor; t < p->tensors.n; t++)
    if (ttm_vec_push(&b->outputs, b->tensor_types.at[t])) return TTM_ENOMEM;
  enum { MOST_RESULTS = 4096 };
  text.name = b->op_name;
  text.location = b->op_location;
  text.attributes = b->factory;
  text.has_attributes = b->factory != 0;
  text.result_count = (uint16_t)(b->outputs.n < MOST_RESULTS ? b->outputs.n : MOST_RESULTS);
  if (ttm_texts_list(&b->base.texts, p, b->inputs.at, b->inputs.n, &text.inputs) ||
      ttm_texts_list(&b->base.texts, p, b->outputs.at, b->outputs.n, &text.outputs))
    return TTM_ENOMEM;
  b->inputs.n = 0;
  return add_text(b, &text, &p->ops.at[b->op].text);
}

/* The operation that allocates now. After a free inside it, which is an operation of its own, the rest is a second part. */
static int current_op(ttm_capture_builder *b, uint32_t line) {
  ttm_profile *p = b->profile;
  if (b->op != TTM_NONE && b->op + 1 == p->ops.n) return TTM_OK;
  if (b->op == TTM_NONE) { /* outside every function, or inside a deallocate */
    if (ttm_intern_add(&p->strings, TTM_LIT("allocation outside operations"), &b->op_name)) return TTM_ENOMEM;
    b->factory = 0;
    b->op_location = 0;
  } else if (ttm_capture_finish_op(b)) {
    return TTM_ENOMEM;
  }
  return begin_op(b, line);
}

bool ttm_capture_is_free(ttm_str name) {
  return ttm_str_ends(name, TTM_LIT("::deallocate")) || ttm_str_ends(name, TTM_LIT(".deallocate"));
}

/* ---- Functions and programs ---------------------------------------------------------------------------------------- */

static ttm_function *innermost(ttm_capture_builder *b) {
  return b->depth && b->depth <= TTM_FUNCTION_DEPTH ? &b->functions[b->depth - 1] : NULL;
}

/* The running operation takes what lies in the buffer. */
static int use_row(ttm_capture_builder *b, uint32_t row, uint32_t type) {
  ttm_buffer *buffer = &capture_of(b)->buffers.at[row];
  if (b->op == TTM_NONE || buffer->op == b->op) return TTM_OK;
  if (buffer->tensor != TTM_NONE) b->profile->tensors.at[buffer->tensor].last_use = b->op;
  return ttm_vec_push(&b->inputs, type);
}

/* A tensor has one node, at its first mention; functions that take it later only name that node. */
static int use_known(ttm_capture_builder *b, int64_t counter) {
  uint32_t row = ttm_map_get(&b->row_of_tensor, key_of(counter), TTM_NONE);
  if (row == TTM_NONE) return TTM_OK;
  const ttm_buffer *buffer = &capture_of(b)->buffers.at[row];
  /* Functions inside others name it again. */
  if (buffer->tensor == TTM_NONE || b->profile->tensors.at[buffer->tensor].last_use == b->op) return TTM_OK;
  return buffer->freed_by == TTM_NONE ? use_row(b, row, b->tensor_types.at[buffer->tensor]) : TTM_OK;
}

static int on_function_start(ttm_capture_builder *b, const ttm_capture_node *node) {
  ttm_str name = node->text[TTM_PARAM_NAME];
  ttm_function f = {.cached = ttm_node_get(node, TTM_PARAM_CACHE_HIT, 0) == 1};
  if (ttm_intern_add(&b->profile->strings, name, &f.name)) return TTM_ENOMEM;
  capture_of(b)->functions++;
  if (b->depth == 0) {
    uint32_t line = node->line;
    if (ttm_capture_finish_op(b)) return TTM_ENOMEM; /* one that was never ended */
    b->op = TTM_NONE;
    b->op_location = 0;
    if (b->recording && (ttm_recording_match(b, f.name, &line) || ttm_recording_call(b))) return TTM_ENOMEM;
    b->op_name = f.name;
    b->factory = 0;
    b->inputs_open = true;
    if (!ttm_capture_is_free(name) && begin_op(b, line)) return TTM_ENOMEM;
    if (b->op != TTM_NONE && b->op_location) b->last_called = b->op;
  }
  if (node->text[TTM_PARAM_FACTORY].n && !b->factory &&
      ttm_intern_add(&b->profile->strings, node->text[TTM_PARAM_FACTORY], &b->factory))
    return TTM_ENOMEM;
  b->wanted.n = 0;
  for (size_t i = 0; i < node->inputs.n; i++)
    if (ttm_vec_push(&b->wanted, node->inputs.at[i]) || use_known(b, node->inputs.at[i])) return TTM_ENOMEM;
  if (b->depth < TTM_FUNCTION_DEPTH) b->functions[b->depth] = f;
  b->depth++;
  return TTM_OK;
}

static void count_program(ttm_capture *c, const ttm_function *f, uint32_t op) {
  if (!f->program) return;
  c->programs++;
  c->cache_hits += f->cached;
  if (f->recorded) return;
  if (!c->empty_programs++) {
    c->first_empty = f->name;
    c->first_empty_op = op;
  }
  if (f->cached) c->empty_cached++;
}

static int on_function_end(ttm_capture_builder *b) {
  if (b->depth == 0) return TTM_OK;
  if (innermost(b)) count_program(capture_of(b), innermost(b), b->op);
  if (--b->depth) return TTM_OK;
  int rc = ttm_capture_finish_op(b);
  b->op = TTM_NONE;
  return rc;
}

/* ---- Events -------------------------------------------------------------------------------------------------------- */

static void fill_event(ttm_capture_builder *b, const ttm_capture_node *node, ttm_buffer_event *out) {
  ttm_function *f = innermost(b);
  ttm_buffer_event event = *out;
  event.bytes = ttm_node_get(node, TTM_PARAM_SIZE, TTM_UNKNOWN);
  event.per_bank = ttm_node_get(node, TTM_PARAM_PER_BANK, TTM_UNKNOWN);
  event.address = ttm_node_get(node, TTM_PARAM_ADDRESS, TTM_UNKNOWN);
  event.node = counter_of(b, node);
  event.op = b->op;
  event.function = f ? f->name : 0;
  event.device = ttm_capture_device_of(node);
  event.word = (uint8_t)word_of(node->text[TTM_PARAM_TYPE]);
  *out = event;
}

static int push_event(ttm_capture_builder *b, const ttm_capture_node *node, ttm_buffer_event event) {
  if (capture_of(b)->events.n >= TTM_NONE - 1) return TTM_ENOMEM;
  fill_event(b, node, &event);
  if (event.address && event.address != TTM_UNKNOWN) capture_of(b)->normal = true;
  return ttm_vec_push(&capture_of(b)->events, event);
}

static void note_widest(ttm_capture_builder *b, ttm_str cores) {
  uint64_t number;
  for (unsigned i = 0; cores.n;) {
    if (!ttm_str_take_u64(&cores, &number))
      cores = ttm_str_from(cores, 1);
    else if (i++ % 2 == 0 && number > b->widest && number < 64)
      b->widest = (uint32_t)number;
  }
}

static int on_program_buffer(ttm_capture_builder *b, const ttm_capture_node *node) {
  ttm_node_number which = node->type == TTM_NODE_CIRCULAR_BUFFER ? TTM_PARAM_GLOBAL : TTM_PARAM_BORROWS;
  ttm_buffer_event event = {.kind = TTM_EVENT_SCRATCHPAD};
  ttm_function *f = innermost(b);
  if (f && !b->repeating) f->program = f->recorded = true;
  if (node->type != TTM_NODE_SCRATCHPAD) {
    event.kind = node->type == TTM_NODE_CIRCULAR_BUFFER ? TTM_EVENT_CIRCULAR : TTM_EVENT_DATAFLOW;
    if (!ttm_node_has(node, which))
      event.alias = TTM_ALIAS_UNTOLD;
    else if (node->number[which] == 1)
      event.alias = TTM_ALIAS;
    if (node->words >> which & 1) event.alias |= TTM_ALIAS_WORD;
  }
  uint64_t address = ttm_node_get(node, TTM_PARAM_ADDRESS, 0);
  if (address && !(event.alias & TTM_ALIAS) && (!b->lowest_cb || address < b->lowest_cb)) b->lowest_cb = address;
  ttm_str cores = node->text[TTM_PARAM_CORES];
  note_widest(b, cores);
  if (ttm_intern_add(&b->profile->strings, cores, &event.row)) return TTM_ENOMEM;
  if (!b->repeating) return push_event(b, node, event);
  fill_event(b, node, &event);
  return ttm_recording_repeat(b, &event);
}

static int on_program_free(ttm_capture_builder *b, const ttm_capture_node *node) {
  if (b->repeating) return ttm_recording_repeat(b, NULL);
  if (innermost(b)) innermost(b)->program = true;
  return push_event(b, node, (ttm_buffer_event){.kind = TTM_EVENT_PROGRAM_FREE, .row = TTM_NONE});
}

/* ---- Buffers ------------------------------------------------------------------------------------------------------- */

static int push_buffer(ttm_capture_builder *b, const ttm_buffer *buffer, uint32_t *out) {
  ttm_capture *c = capture_of(b);
  if (c->buffers.n >= TTM_NONE - 1 || ttm_vec_push(&c->buffers, *buffer)) return TTM_ENOMEM;
  *out = (uint32_t)(c->buffers.n - 1);
  c->buffers.at[*out].freed_by = TTM_NONE;
  return TTM_OK;
}

/* A buffer node that no allocation follows: the buffer was there before the capture began. */
static int settle_fresh_node(ttm_capture_builder *b) {
  if (b->recording)
    b->fresh_node = TTM_NONE; /* nothing is from before it, a piece's early buffers are an earlier piece's */
  if (b->fresh_node == TTM_NONE) return TTM_OK;
  ttm_buffer_node *n = &b->nodes.at[b->fresh_node];
  b->fresh_node = TTM_NONE;
  ttm_buffer buffer = {.op = TTM_NONE,
                       .tensor = TTM_NONE,
                       .device = n->device,
                       .memory = n->memory,
                       .bytes = n->bytes,
                       .bank_bytes = TTM_UNKNOWN,
                       .address = TTM_UNKNOWN};
  return push_buffer(b, &buffer, &n->row);
}

static int on_buffer(ttm_capture_builder *b, const ttm_capture_node *node) {
  ttm_buffer_node n = {.bytes = ttm_node_get(node, TTM_PARAM_SIZE, 0),
                       .row = TTM_NONE,
                       .device = ttm_capture_device_of(node),
                       .word = (uint8_t)word_of(node->text[TTM_PARAM_TYPE]),
                       .memory = ttm_capture_memory_of(node)};
  uint32_t counter = counter_of(b, node);
  if (b->nodes.n >= TTM_NONE - 1 || ttm_vec_push(&b->nodes, n)) return TTM_ENOMEM;
  b->fresh_node = (uint32_t)(b->nodes.n - 1);
  if (counter != TTM_NONE && ttm_map_set(&b->node_of_counter, counter, b->fresh_node)) return TTM_ENOMEM;
  for (size_t i = 0; i < node->connections.n; i++) {
    uint32_t tensor = key_of(node->connections.at[i]);
    if (tensor != TTM_NONE && ttm_map_set(&b->node_of_tensor, tensor, b->fresh_node)) return TTM_ENOMEM;
  }
  if (!b->inputs_open) return TTM_OK;
  return push_event(b, node, (ttm_buffer_event){.kind = TTM_EVENT_INPUT, .row = TTM_NONE});
}

/* The buffer node an allocation or free names, or NULL. */
static ttm_buffer_node *named_node(ttm_capture_builder *b, const ttm_capture_node *node) {
  if (!node->connections.n) return NULL;
  uint32_t at = ttm_map_get(&b->node_of_counter, key_of(node->connections.at[0]), TTM_NONE);
  return at == TTM_NONE ? NULL : &b->nodes.at[at];
}

static int add_tensor(ttm_capture_builder *b, uint32_t *out) {
  ttm_profile *p = b->profile;
  uint32_t id = (uint32_t)p->tensors.n, type;
  ttm_tensor tensor = {.self = id, .birth = b->op, .last_use = b->op, .freed_by = TTM_NONE};
  /* Until a tensor node tells more. */
  if (ttm_texts_type(&b->base.texts, p, TTM_LIT("unknown"), &type)) return TTM_ENOMEM;
  if (p->tensors.n >= TTM_NONE - 1 || ttm_vec_push(&p->tensors, tensor) || ttm_vec_push(&b->tensor_types, type))
    return TTM_ENOMEM;
  if (p->ops.at[b->op].tensor == TTM_NONE) p->ops.at[b->op].tensor = id;
  *out = id;
  return TTM_OK;
}

/* Memory a program takes for its kernels comes behind the program's start and not by way of create_device_tensor. */
static bool is_for_kernels(ttm_capture_builder *b, uint8_t memory) {
  ttm_function *f = innermost(b);
  return f && f->program && memory == TTM_DRAM &&
         !ttm_str_ends(ttm_profile_string(b->profile, f->name), TTM_LIT("create_device_tensor"));
}

static int on_allocate(ttm_capture_builder *b, const ttm_capture_node *node) {
  ttm_buffer_node *named = named_node(b, node);
  ttm_buffer_event event = {.kind = TTM_EVENT_ALLOCATE, .row = TTM_NONE};
  b->fresh_node = TTM_NONE;
  if (current_op(b, node->line)) return TTM_ENOMEM;
  ttm_buffer buffer = {.op = b->op,
                       .tensor = TTM_NONE,
                       .device = ttm_capture_device_of(node),
                       .memory = ttm_capture_memory_of(node),
                       .cores = (uint32_t)ttm_node_get(node, TTM_PARAM_NUM_CORES, 0),
                       .bytes = ttm_node_get(node, TTM_PARAM_SIZE, named ? named->bytes : 0),
                       .page = ttm_node_get(node, TTM_PARAM_PAGE_SIZE, 0),
                       .bank_bytes = ttm_node_get(node, TTM_PARAM_PER_BANK, TTM_UNKNOWN)};
  uint64_t address = ttm_node_get(node, TTM_PARAM_ADDRESS, 0);
  buffer.address = address ? address : TTM_UNKNOWN;
  buffer.kernels = is_for_kernels(b, buffer.memory);
  if (buffer.memory < TTM_MEMORIES) {
    if (buffer.memory == TTM_DRAM && address > b->highest_dram) b->highest_dram = address;
    if (!buffer.kernels && add_tensor(b, &buffer.tensor)) return TTM_ENOMEM;
    if (push_buffer(b, &buffer, &event.row)) return TTM_ENOMEM;
    if (b->recording && ttm_recording_born(b, node, event.row)) return TTM_ENOMEM;
  }
  if (named) named->row = event.row;
  return push_event(b, node, event);
}

/* The free itself, and the operation that it is. */
static int push_free(ttm_capture_builder *b, const ttm_capture_node *node, ttm_buffer_event event) {
  ttm_profile *p = b->profile;
  uint32_t op;
  if (push_op(b, b->free_text, node->line, &op)) return TTM_ENOMEM;
  p->seen.deallocations++;
  if (event.row == TTM_NONE) {
    p->capture.unknown_frees++;
    return push_event(b, node, event);
  }
  ttm_buffer *buffer = &p->capture.buffers.at[event.row];
  buffer->freed_by = op;
  if (buffer->tensor != TTM_NONE) {
    p->tensors.at[buffer->tensor].freed_by = op;
    p->ops.at[op].tensor = buffer->tensor;
  } else if (buffer->op == TTM_NONE) { /* what the capture did not see allocated is told when it goes */
    buffer->cores = (uint32_t)ttm_node_get(node, TTM_PARAM_NUM_CORES, 0);
    buffer->page = ttm_node_get(node, TTM_PARAM_PAGE_SIZE, buffer->page);
    buffer->bank_bytes = ttm_node_get(node, TTM_PARAM_PER_BANK, TTM_UNKNOWN);
    if (ttm_node_get(node, TTM_PARAM_ADDRESS, 0)) buffer->address = ttm_node_get(node, TTM_PARAM_ADDRESS, 0);
  }
  p->capture.unknown_frees += buffer->op == TTM_NONE;
  return push_event(b, node, event);
}

int ttm_capture_free_row(ttm_capture_builder *b, const ttm_capture_node *node, uint32_t row) {
  uint32_t tensor = capture_of(b)->buffers.at[row].tensor;
  ttm_recording_gone(b, row);
  if (push_free(b, node, (ttm_buffer_event){.kind = TTM_EVENT_FREE, .row = row, .named_bytes = TTM_UNKNOWN}))
    return TTM_ENOMEM;
  if (tensor != TTM_NONE) b->profile->tensors.at[tensor].freed_by = TTM_NONE;
  return TTM_OK;
}

static int on_deallocate(ttm_capture_builder *b, const ttm_capture_node *node) {
  ttm_buffer_node *named = named_node(b, node);
  ttm_buffer_event event = {.kind = TTM_EVENT_FREE, .row = named ? named->row : TTM_NONE, .named_bytes = TTM_UNKNOWN};
  if (named) {
    event.named_word = named->word;
    event.named_bytes = named->bytes;
    named->row = TTM_NONE;
  }
  if (b->recording) {
    event.row = ttm_recording_find(b, node);
    if (event.row != TTM_NONE) ttm_recording_gone(b, event.row);
  }
  return push_free(b, node, event);
}

/* ---- Tensors ------------------------------------------------------------------------------------------------------- */

/* The type row of a tensor node; the same words give the same row without being read again. */
static int type_of(ttm_capture_builder *b, const ttm_capture_node *node, const ttm_buffer *buffer, uint32_t *out) {
  uint32_t key;
  uint64_t shards[3] = {buffer->cores, buffer->cores ? buffer->page : buffer->memory,
                        buffer->cores ? buffer->bytes : 0};
  ttm_buf_clear(&b->scratch);
  ttm_buf_put(&b->scratch, node->text[TTM_PARAM_SHAPE]);
  ttm_buf_put(&b->scratch, node->text[TTM_PARAM_DTYPE]);
  ttm_buf_put(&b->scratch, node->text[TTM_PARAM_LAYOUT]);
  ttm_buf_put(&b->scratch, (ttm_str){(const char *)shards, sizeof shards});
  if (b->scratch.failed || ttm_intern_add(&b->type_keys, ttm_buf_str(&b->scratch), &key)) return TTM_ENOMEM;
  *out = ttm_map_get(&b->type_of_key, key, TTM_NONE);
  if (*out != TTM_NONE) return TTM_OK;
  ttm_capture_type_text(&b->scratch, node, buffer);
  ttm_str text = b->scratch.n ? ttm_buf_str(&b->scratch) : node->text[TTM_PARAM_SHAPE];
  if (b->scratch.failed || ttm_texts_type(&b->base.texts, b->profile, text, out)) return TTM_ENOMEM;
  return ttm_map_set(&b->type_of_key, key, *out);
}

static bool is_wanted(const ttm_capture_builder *b, const ttm_capture_node *node) {
  for (size_t i = 0; i < b->wanted.n; i++)
    if (b->wanted.at[i] == node->counter) return true;
  /* Before input_tensors existed (2025-11) an input's node named the function it goes to. */
  return !b->wanted.n && node->connections.n && node->connections.at[0] < node->counter;
}

static int on_tensor(ttm_capture_builder *b, const ttm_capture_node *node) {
  ttm_profile *p = b->profile;
  uint32_t at = ttm_map_get(&b->node_of_tensor, counter_of(b, node), TTM_NONE);
  uint32_t row = at == TTM_NONE ? TTM_NONE : b->nodes.at[at].row, type;
  if (b->recording) row = ttm_recording_find(b, node);
  if (row == TTM_NONE) return TTM_OK;
  ttm_buffer *buffer = &p->capture.buffers.at[row];
  if (buffer->memory >= TTM_MEMORIES) return TTM_OK;
  if (ttm_map_set(&b->row_of_tensor, counter_of(b, node), row)) return TTM_ENOMEM;
  if (type_of(b, node, buffer, &type)) return TTM_ENOMEM;
  if (!buffer->page && p->types.at[type].is_tensor && p->types.at[type].tensor.tiled)
    buffer->page = ttm_tile_bytes(p->types.at[type].tensor.storage, 32, 32);
  if (buffer->tensor != TTM_NONE && !p->types.at[b->tensor_types.at[buffer->tensor]].is_tensor)
    b->tensor_types.at[buffer->tensor] = type;
  return is_wanted(b, node) ? use_row(b, row, type) : TTM_OK;
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

int ttm_capture_builder_begin(ttm_capture_builder *b, const char *path) {
  *b = (ttm_capture_builder){.op = TTM_NONE, .fresh_node = TTM_NONE, .last_called = TTM_NONE};
  if (ttm_builder_begin(&b->profile, &b->base, path, false) || ttm_builder_stream(&b->base, TTM_NO_RANK, &b->stream))
    return TTM_ENOMEM;
  b->profile->capture.ordered = true;
  b->profile->capture.first_empty_op = TTM_NONE;
  b->profile->capture.recording.last = TTM_NONE;
  ttm_op_text placeholder, deallocate;
  memset(&placeholder, 0, sizeof placeholder); /* texts are compared as bytes */
  memset(&deallocate, 0, sizeof deallocate);
  deallocate.kind = TTM_OP_DEALLOCATE;
  uint32_t none;
  if (ttm_intern_add(&b->profile->strings, TTM_LIT("deallocate"), &deallocate.name)) return TTM_ENOMEM;
  return add_text(b, &placeholder, &none) || add_text(b, &deallocate, &b->free_text) ? TTM_ENOMEM : TTM_OK;
}

/* Of a piece in which nothing really happened, the calls are kept and what the recorder itself says. */
static bool is_told(const ttm_capture_builder *b, ttm_node_type type) {
  if (b->repeating && type >= TTM_NODE_CIRCULAR_BUFFER && type <= TTM_NODE_PROGRAM_FREE) return true;
  return type == TTM_NODE_FUNCTION_START || type == TTM_NODE_FUNCTION_END || type >= TTM_NODE_PIECE;
}

int ttm_capture_builder_take(ttm_capture_builder *b, const ttm_capture_node *node) {
  ttm_capture *c = capture_of(b);
  if (!b->recording && (!node->has_counter || node->counter != (int64_t)c->nodes)) c->ordered = false;
  c->nodes++;
  if (b->hypothetical && !is_told(b, node->type)) return TTM_OK;
  if (node->type != TTM_NODE_BUFFER_ALLOCATE && settle_fresh_node(b)) return TTM_ENOMEM;
  bool input = node->type == TTM_NODE_BUFFER && word_of(node->text[TTM_PARAM_TYPE]) == TTM_WORD_L1;
  if (!input && node->type != TTM_NODE_TENSOR) b->inputs_open = false;
  switch (node->type) {
    case TTM_NODE_FUNCTION_START:
      return on_function_start(b, node);
    case TTM_NODE_FUNCTION_END:
      return on_function_end(b);
    case TTM_NODE_TENSOR:
      return on_tensor(b, node);
    case TTM_NODE_BUFFER:
      return on_buffer(b, node);
    case TTM_NODE_BUFFER_ALLOCATE:
      return on_allocate(b, node);
    case TTM_NODE_BUFFER_DEALLOCATE:
      return on_deallocate(b, node);
    case TTM_NODE_CIRCULAR_BUFFER:
    case TTM_NODE_DATAFLOW_BUFFER:
    case TTM_NODE_SCRATCHPAD:
      return on_program_buffer(b, node);
    case TTM_NODE_PROGRAM_FREE:
      return on_program_free(b, node);
    case TTM_NODE_PROGRAM_EXECUTION:
      c->normal = true;
      return TTM_OK;
    case TTM_NODE_PIECE:
    case TTM_NODE_OPERATION:
    case TTM_NODE_MEMORY_VIEW:
    case TTM_NODE_FAILURE:
    case TTM_NODE_DEVICE_CLOSE:
    case TTM_NODE_RECORDING_END:
      return b->recording ? ttm_recording_take(b, node) : TTM_OK;
    default:
      return TTM_OK;
  }
}

int ttm_capture_builder_finish(ttm_capture_builder *b, const ttm_capture_facts *facts) {
  ttm_profile *p = b->profile;
  ttm_capture *c = &p->capture;
  /* Of a buffer node right before a cut nobody can tell whether its allocation was to follow. */
  if ((!p->seen.cut && settle_fresh_node(b)) || ttm_capture_finish_op(b)) return TTM_ENOMEM;
  if (b->recording && ttm_recording_finish(b, facts)) return TTM_ENOMEM;
  for (; b->depth; b->depth--)
    if (innermost(b)) count_program(c, innermost(b), b->op);
  c->report = facts->report;
  c->bad_nodes = facts->bad_nodes;
  c->other_nodes = facts->other_nodes;
  c->world = facts->world;
  if (facts->has_rank && facts->rank < TTM_NONE) p->ranks.at[b->stream->rank] = (uint32_t)facts->rank;
  if (ttm_intern_add(&p->strings, ttm_str_of(facts->version), &c->version)) return TTM_ENOMEM;
  int rc = ttm_capture_derive(b, facts);
  if (!rc) rc = ttm_program_end_all(&b->base, b->stream);
  for (size_t f = 0; f < p->calls.n; f++) p->calls.at[f].finished = !p->seen.cut;
  p->kind = c->functions || c->events.n ? TTM_LOG_CAPTURE : TTM_LOG_NONE;
  return rc;
}

void ttm_capture_builder_free(ttm_capture_builder *b) {
  ttm_builder_free(&b->base);
  ttm_vec_free(&b->marks);
  ttm_vec_free(&b->nodes);
  ttm_map_free(&b->node_of_counter);
  ttm_map_free(&b->node_of_tensor);
  ttm_map_free(&b->row_of_tensor);
  ttm_vec_free(&b->tensor_types);
  ttm_intern_free(&b->type_keys);
  ttm_map_free(&b->type_of_key);
  ttm_map_free(&b->text_of_key);
  ttm_vec_free(&b->inputs);
  ttm_vec_free(&b->outputs);
  ttm_vec_free(&b->wanted);
  ttm_buf_free(&b->scratch);
  ttm_vec_free(&b->begun);
  ttm_vec_free(&b->calls);
  ttm_vec_free(&b->repeats.events);
  ttm_vec_free(&b->repeats.programs);
  ttm_vec_free(&b->repeats.at);
  ttm_map_free(&b->repeats.of_key);
  ttm_intern_free(&b->places);
  ttm_vec_free(&b->living);
}
