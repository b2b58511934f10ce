/* SPDX-License-Identifier: Apache-2.0 */
/* An operation as the nodes that ttnn's graph capture has for it. */
#include "report/export/visualizer.h"
#include "report/write/json.h"

uint32_t ttm_exported_memory(uint8_t memory) {
  static const uint8_t numbers[TTM_MEMORIES] = {[TTM_DRAM] = 0, [TTM_L1] = 1, [TTM_L1_SMALL] = 3, [TTM_TRACE] = 4};
  return memory < TTM_MEMORIES ? numbers[memory] : 2;
}

uint32_t ttm_exported_rank(const ttm_profile *p, uint32_t rank) {
  return p->kind == TTM_LOG_CAPTURE || rank >= p->ranks.n ? 0 : p->ranks.at[rank];
}

uint32_t ttm_exported_device(const ttm_profile *p, uint32_t rank) { return p->kind == TTM_LOG_CAPTURE ? rank : 0; }

static bool is_program_event(const ttm_buffer_event *e) {
  return e->kind >= TTM_EVENT_CIRCULAR && e->kind <= TTM_EVENT_PROGRAM_FREE;
}

ttm_str ttm_exported_name(const ttm_exported_op *x) {
  const ttm_profile *p = x->f->profile;
  const ttm_op_text *text = ttm_op_text_of(p, x->op);
  if (text->kind != TTM_OP_DEALLOCATE || p->kind != TTM_LOG_CAPTURE) return ttm_profile_string(p, text->name);
  for (uint32_t i = x->first_event; i < x->end_event; i++) {
    const ttm_buffer_event *e = &p->capture.events.at[i];
    if (is_program_event(e) && e->op < p->ops.n) return ttm_profile_string(p, ttm_op_text_of(p, e->op)->name);
  }
  return TTM_LIT("ttnn::deallocate");
}

/* ---- Types --------------------------------------------------------------------------------------------------------- */

void ttm_exported_shape(ttm_buf *out, const ttm_tensor_type *type) {
  ttm_buf_puts(out, "Shape([");
  for (uint32_t i = 0; type && i < type->shape.rank; i++)
    ttm_buf_printf(out, "%s%llu", i ? ", " : "", (unsigned long long)type->shape.at[i]);
  ttm_buf_puts(out, "])");
}

void ttm_exported_dtype(ttm_buf *out, const ttm_tensor_type *type, const char *scope) {
  static const char *const mlir[] = {"bf16", "f32", "bfp_bf8", "bfp_bf4",  "ui32", "si32",
                                     "ui16", "ui8", "si8",     "f8E4M3FN", "i32",  "u32"};
  static const char *const ttnn[] = {"BFLOAT16", "FLOAT32", "BFLOAT8_B", "BFLOAT4_B", "UINT32", "INT32",
                                     "UINT16",   "UINT8",   "INT8",      "FP8_E4M3",  "INT32",  "UINT32"};
  enum { NAMES = sizeof mlir / sizeof *mlir };
  ttm_str element = type ? (type->has_layout && type->storage.n ? type->storage : type->element) : TTM_LIT("");
  size_t at = ttm_str_index(element, mlir, NAMES);
  ttm_buf_printf(out, "DataType%s%s", scope, at < NAMES ? ttnn[at] : "INVALID");
}

void ttm_exported_layout(ttm_buf *out, const ttm_tensor_type *type, const char *scope) {
  ttm_buf_printf(out, "Layout%s%s", scope, type && type->has_layout && !type->tiled ? "ROW_MAJOR" : "TILE");
}

static const ttm_buffer *buffer_of(const ttm_profile *p, const ttm_exported_buffer *b) {
  return b->row < p->capture.buffers.n ? &p->capture.buffers.at[b->row] : NULL;
}

/* "{[0-0 - 7-3], [0-4 - 2-4]}" -> [{"start":{"x":0,"y":0},"end":{"x":7,"y":3}}, ...] */
static void put_grid(ttm_buf *out, ttm_str cores) {
  static const char *const before[] = {"{\"start\":{\"x\":", ",\"y\":", "},\"end\":{\"x\":", ",\"y\":"};
  uint64_t number;
  unsigned n = 0;
  ttm_buf_char(out, '[');
  while (cores.n) {
    if (!ttm_str_take_u64(&cores, &number)) {
      cores = ttm_str_from(cores, 1);
      continue;
    }
    ttm_buf_printf(out, "%s%s%llu%s", n && n % 4 == 0 ? "," : "", before[n % 4], (unsigned long long)number,
                   n % 4 == 3 ? "}}" : "");
    n++;
  }
  ttm_buf_char(out, ']');
}

void ttm_exported_config(ttm_buf *out, const ttm_profile *p, const ttm_exported_buffer *b) {
  static const char *const words[] = {"INTERLEAVED",   "INTERLEAVED",   "HEIGHT_SHARDED",
                                      "WIDTH_SHARDED", "BLOCK_SHARDED", "ND_SHARDED"};
  const ttm_tensor_type *type = b->tensor == TTM_NONE ? NULL : ttm_tensor_type_of(p, b->tensor);
  const ttm_buffer *buffer = buffer_of(p, b);
  bool sharded = buffer && buffer->cores;
  ttm_buf_printf(out, "MemoryConfig(memory_layout=TensorMemoryLayout::%s,buffer_type=BufferType::%s,shard_spec=",
                 sharded && !(type && type->has_layout) ? words[TTM_PLACE_HEIGHT_SHARDED]
                                                        : words[type && type->has_layout ? type->placement : 0],
                 ttm_memory_name((ttm_memory)b->memory));
  if (sharded && buffer->shard_cores) {
    ttm_buf_puts(out, "ShardSpec{grid=");
    put_grid(out, ttm_profile_string(p, buffer->shard_cores));
    ttm_buf_puts(out, "},");
  } else {
    ttm_buf_puts(out, "std::nullopt,");
  }
  ttm_buf_puts(out, "nd_shard_spec=std::nullopt,created_with_nd_shard_spec=0)");
}

/* ---- Nodes --------------------------------------------------------------------------------------------------------- */

typedef struct graph {
  const ttm_exported_op *x;
  const ttm_profile *p;
  ttm_json j;
  ttm_buf words;
  uint32_t counter, level;
} graph;

/* Up to its params. `connection` and `inputs` are counters; TTM_NONE and 0: none. */
static void begin_node(graph *g, const char *type, uint32_t connection, uint32_t inputs) {
  ttm_json *j = &g->j;
  ttm_json_put_object(j, NULL);
  ttm_json_put_array(j, "arguments");
  ttm_json_end(j);
  ttm_json_put_array(j, "connections");
  if (connection != TTM_NONE) ttm_json_put_u64(j, NULL, connection);
  ttm_json_end(j);
  ttm_json_put_u64(j, "counter", g->counter);
  ttm_json_put_u64(j, "id", g->counter);
  ttm_json_put_array(j, "input_tensors");
  for (uint32_t i = 0; i < inputs; i++) ttm_json_put_u64(j, NULL, g->counter + 1 + i);
  ttm_json_end(j);
  ttm_json_put_str(j, "node_type", ttm_str_of(type));
  ttm_json_put_u64(j, "stacking_level", g->level);
  ttm_json_put_object(j, "params");
  g->counter++;
}

static void end_node(graph *g) {
  ttm_json_end(&g->j);
  ttm_json_end(&g->j);
}

static void put_bare(graph *g, const char *type) {
  begin_node(g, type, TTM_NONE, 0);
  end_node(g);
}

static void put_function(graph *g, ttm_str name, uint32_t inputs) {
  begin_node(g, "function_start", TTM_NONE, inputs);
  ttm_json_put_str(&g->j, "name", name);
  ttm_buf_printf(ttm_json_at(&g->j, "inputs"), "\"%u\"", inputs);
  end_node(g);
  g->level++;
}

static void put_function_end(graph *g, ttm_str name) {
  g->level--;
  begin_node(g, "function_end", TTM_NONE, 0);
  ttm_json_put_str(&g->j, "name", name);
  end_node(g);
}

static void put_words(graph *g, const char *key) {
  ttm_json_put_str(&g->j, key, ttm_buf_str(&g->words));
  g->j.out->failed |= g->words.failed;
  ttm_buf_clear(&g->words);
}

static uint64_t bytes_of(const graph *g, const ttm_exported_buffer *b) {
  const ttm_buffer *buffer = buffer_of(g->p, b);
  ttm_level level;
  if (buffer && buffer->bytes) return buffer->bytes;
  return b->bytes * (ttm_profile_config(g->p, (ttm_memory)b->memory, &level) && level.banks ? level.banks : 1);
}

static void put_place(graph *g, const ttm_exported_buffer *b) {
  ttm_json_put_u64(&g->j, "address", b->address);
  ttm_json_put_u64(&g->j, "buffer_type", ttm_exported_memory(b->memory));
  ttm_json_put_u64(&g->j, "device_id", ttm_exported_device(g->p, b->rank));
}

static void put_tensor(graph *g, const ttm_exported_buffer *b) {
  const ttm_tensor_type *type = ttm_tensor_type_of(g->p, b->tensor);
  begin_node(g, "tensor", TTM_NONE, 0);
  put_place(g, b);
  ttm_json_put_u64(&g->j, "tensor_id", b->tensor + 1);
  ttm_exported_shape(&g->words, type);
  put_words(g, "shape");
  ttm_exported_dtype(&g->words, type, "::");
  put_words(g, "dtype");
  ttm_exported_layout(&g->words, type, "::");
  put_words(g, "layout");
  ttm_exported_config(&g->words, g->p, b);
  put_words(g, "memory_config");
  ttm_json_put_u64(&g->j, "size", bytes_of(g, b));
  ttm_json_put_str(&g->j, "storage_type", TTM_LIT("DEVICE"));
  end_node(g);
}

static void put_buffer(graph *g, const ttm_exported_buffer *b, const char *act) {
  const ttm_buffer *buffer = buffer_of(g->p, b);
  bool l1 = b->memory == TTM_L1 || b->memory == TTM_L1_SMALL;
  ttm_str layout = buffer && buffer->cores ? TTM_LIT("HEIGHT_SHARDED") : TTM_LIT("INTERLEAVED");
  uint32_t counter = g->counter;
  for (int i = 0; i < 2; i++) {
    begin_node(g, i ? act : "buffer", i ? counter : TTM_NONE, 0);
    put_place(g, b);
    ttm_json_put_str(&g->j, "layout", layout);
    if (i) {
      ttm_json_put_u64(&g->j, "max_size_per_bank", b->bytes);
      ttm_json_put_u64(&g->j, "num_cores", buffer ? buffer->cores : 0);
      ttm_json_put_u64(&g->j, "page_size", buffer ? buffer->page : 0);
    }
    ttm_json_put_u64(&g->j, "size", bytes_of(g, b));
    ttm_json_put_str(&g->j, "type", l1 ? TTM_LIT("L1") : TTM_LIT("DRAM"));
    end_node(g);
  }
}

/* ---- Programs ------------------------------------------------------------------------------------------------------ */

static void put_program_buffer(graph *g, const ttm_buffer_event *e) {
  static const char *const types[] = {"circular_buffer_allocate", "dataflow_buffer_allocate", "scratchpad_allocate"};
  begin_node(g, types[e->kind - TTM_EVENT_CIRCULAR], TTM_NONE, 0);
  if (e->address != TTM_UNKNOWN) ttm_json_put_u64(&g->j, "address", e->address);
  ttm_json_put_str(&g->j, "core_range_set", ttm_profile_string(g->p, e->row));
  ttm_json_put_u64(&g->j, "device_id", e->device & UINT16_MAX);
  if (e->kind != TTM_EVENT_SCRATCHPAD && !(e->alias & TTM_ALIAS_UNTOLD))
    ttm_json_put_str(&g->j, e->kind == TTM_EVENT_CIRCULAR ? "globally_allocated" : "borrows_memory",
                     e->alias & TTM_ALIAS ? TTM_LIT("1") : TTM_LIT("0"));
  if (e->bytes != TTM_UNKNOWN) ttm_json_put_u64(&g->j, "size", e->bytes);
  end_node(g);
}

/* A program of the operation: a device operation of its own. The number keeps it apart from others without buffers. */
static void begin_program(graph *g, const ttm_buffer_event *e, uint32_t number) {
  begin_node(g, "function_start", TTM_NONE, 0);
  ttm_json_put_str(&g->j, "name", ttm_profile_string(g->p, e->function));
  ttm_json_put_str(&g->j, "inputs", TTM_LIT("0"));
  ttm_buf_printf(ttm_json_at(&g->j, "program_factory_type"), "\"program %u\"", number);
  end_node(g);
  g->level++;
  begin_node(g, "circular_buffer_deallocate_all", TTM_NONE, 0);
  ttm_json_put_u64(&g->j, "device_id", ttm_exported_device(g->p, e->device));
  end_node(g);
}

static void put_came(graph *g, const ttm_exported_buffer *b) {
  put_buffer(g, b, "buffer_allocate");
  if (b->tensor != TTM_NONE) put_tensor(g, b);
}

static void put_events(graph *g) {
  const ttm_exported_op *x = g->x;
  ttm_str program = {NULL, 0};
  size_t next = 0; /* they came in the order of their rows */
  for (uint32_t i = x->first_event; i < x->end_event; i++) {
    const ttm_buffer_event *e = &g->p->capture.events.at[i];
    bool came = e->kind == TTM_EVENT_ALLOCATE && next < x->came_n && x->all->at[x->came[next]].row == e->row;
    const ttm_exported_buffer *b = came ? &x->all->at[x->came[next++]] : NULL;
    bool starts = e->kind == TTM_EVENT_PROGRAM_FREE;
    if (program.p && (starts || b)) put_function_end(g, program), program.p = NULL;
    if (b) put_came(g, b);
    if (starts) begin_program(g, e, i), program = ttm_profile_string(g->p, e->function);
    if (e->kind >= TTM_EVENT_CIRCULAR && e->kind <= TTM_EVENT_SCRATCHPAD) put_program_buffer(g, e);
  }
  if (program.p) put_function_end(g, program);
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

static void put_nodes(graph *g, ttm_str name) {
  const ttm_exported_op *x = g->x;
  put_bare(g, "capture_start");
  put_function(g, name, (uint32_t)x->taken_n);
  for (size_t i = 0; i < x->taken_n; i++) put_tensor(g, &x->all->at[x->buffer_of_tensor[x->taken[i]]]);
  bool captured = g->p->kind == TTM_LOG_CAPTURE;
  for (size_t i = 0; i < x->came_n && !captured; i++) put_came(g, &x->all->at[x->came[i]]);
  for (size_t i = 0; i < x->went_n; i++) put_buffer(g, &x->all->at[x->went[i]], "buffer_deallocate");
  if (captured) put_events(g);
  put_function_end(g, name);
  put_bare(g, "capture_end");
}

int ttm_exported_graph(ttm_buf *out, const ttm_exported_op *x) {
  graph g = {.x = x, .p = x->f->profile, .j = {.out = out}};
  ttm_buf_clear(out);
  ttm_json_put_array(&g.j, NULL);
  put_nodes(&g, ttm_exported_name(x));
  ttm_json_end(&g.j);
  bool failed = g.words.failed;
  ttm_buf_free(&g.words);
  return ttm_json_finish(&g.j) || failed ? TTM_ENOMEM : TTM_OK;
}
