/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of ttnn-visualizer. Each operation has the nodes of its own capture and the buffers that were allocated after it, so it is a piece
 * of a recording. Whatever the nodes of no operation tell (weights that were loaded first, tensors that Python dropped) shows in those buffers:
 * it happened between two operations. */
#include "parse/visualizer.h"

#include "base/boards.h"
#include "base/error.h"
#include "profile/load/graph.h"
#include "profile/load/load.h"

enum { MOST_RANKS = 4096, LANES_OF_A_PROCESS = 1024, FIRST_INPUT = 1 << 30 };

typedef enum touch { TOUCH_NONE, TOUCH_ALLOCATE, TOUCH_FREE } touch;

/* A place of device memory: what lies there before, in and after the operation at hand. */
typedef struct place {
  ttm_visualizer_buffer buffer;
  uint64_t listed_bytes;       /* per bank, after the operation */
  uint64_t bytes, page, cores; /* of all banks, as a free tells them; 0 */
  uint64_t key;
  bool alive, listed;
  touch first, last; /* what its nodes do there */
} place;

typedef struct device {
  uint64_t rank;
  uint32_t id;
} device;

typedef struct ended_rank {
  uint64_t rank;
  bool broken; /* its last operation did not end */
} ended_rank;

typedef struct report_loader {
  ttm_capture_loader l;
  ttm_visualizer *db;
  const ttm_visualizer_op *op;
  TTM_VEC(place) places; /* alive before or after the operation at hand */
  ttm_map place_of_key;
  TTM_VEC(device) devices;
  TTM_VEC(ended_rank) ranks;
  ttm_map tensors;                        /* counters of tensor nodes in the graph at hand */
  ttm_map tensor_places;                  /* keys of the places that they name */
  ttm_map programs;                       /* hash of a device operation and its arguments -> number */
  uint64_t functions[TTM_FUNCTION_DEPTH]; /* such hashes, of those that run */
  uint32_t depth;
  TTM_VEC(int64_t) inputs; /* scratch */
  ttm_buf at, stack;
} report_loader;

/* ---- Nodes that we make -------------------------------------------------------------------------------------------- */

static void set(ttm_capture_node *node, ttm_node_number which, uint64_t value) {
  node->number[which] = (int64_t)(value < INT64_MAX ? value : INT64_MAX);
  node->numbers |= UINT64_C(1) << which;
}

static ttm_capture_node node_of(const report_loader *r, ttm_node_type type) {
  ttm_capture_node node = {.type = type, .has_counter = true, .counter = -1};
  for (int i = 0; i < TTM_PARAM_TEXTS; i++) node.text[i] = (ttm_str){"", 0};
  if (r->op) node.line = (uint32_t)(r->op->id < TTM_NONE ? r->op->id : TTM_NONE - 1);
  if (r->op) set(&node, TTM_PARAM_LANE, r->op->rank % MOST_RANKS * LANES_OF_A_PROCESS);
  return node;
}

static int give(report_loader *r, ttm_node_type type, ttm_str name) {
  ttm_capture_node node = node_of(r, type);
  node.text[TTM_PARAM_NAME] = name;
  return ttm_capture_take(&r->l, &node);
}

static int give_buffer(report_loader *r, const place *p, ttm_node_type type) {
  ttm_capture_node node = node_of(r, type);
  set(&node, TTM_PARAM_DEVICE, p->buffer.device);
  set(&node, TTM_PARAM_BUFFER_TYPE, p->buffer.type);
  set(&node, TTM_PARAM_ADDRESS, p->buffer.address);
  set(&node, TTM_PARAM_PER_BANK, p->buffer.bank_bytes);
  if (p->bytes) set(&node, TTM_PARAM_SIZE, p->bytes);
  if (p->page) set(&node, TTM_PARAM_PAGE_SIZE, p->page);
  if (p->cores) set(&node, TTM_PARAM_NUM_CORES, p->cores);
  return ttm_capture_take(&r->l, &node);
}

/* ---- Places -------------------------------------------------------------------------------------------------------- */

static uint64_t key_of(const report_loader *r, uint32_t device, uint8_t type, uint64_t address) {
  uint64_t words[] = {r->op->rank, device, type, address};
  return ttm_hash(words, sizeof words, ttm_hash_seed());
}

static uint64_t tensor_key(const report_loader *r, const ttm_capture_node *tensor) {
  return key_of(r, (uint32_t)ttm_node_get(tensor, TTM_PARAM_DEVICE, 0),
                (uint8_t)ttm_node_get(tensor, TTM_PARAM_BUFFER_TYPE, 0), ttm_node_get(tensor, TTM_PARAM_ADDRESS, 0));
}

static place *place_at(report_loader *r, uint32_t device, uint8_t type, uint64_t address) {
  uint64_t key = key_of(r, device, type, address);
  uint32_t at = ttm_map_get(&r->place_of_key, key, TTM_NONE);
  if (at != TTM_NONE) return &r->places.at[at];
  place fresh = {.buffer = {.address = address, .device = device, .type = type}, .key = key};
  if (ttm_map_set(&r->place_of_key, key, (uint32_t)r->places.n) || ttm_vec_push(&r->places, fresh)) return NULL;
  return &r->places.at[r->places.n - 1];
}

/* What the operation leaves. */
static int list_buffers(report_loader *r) {
  for (size_t i = 0; i < r->op->buffers.n; i++) {
    const ttm_visualizer_buffer *b = &r->op->buffers.at[i];
    if (!b->address) continue;
    place *p = place_at(r, b->device, b->type, b->address);
    if (!p) return TTM_ENOMEM;
    p->listed = true;
    p->listed_bytes = b->bank_bytes;
    p->buffer.sharded = b->sharded;
  }
  return TTM_OK;
}

static int touch_place(report_loader *r, const ttm_capture_node *node) {
  uint64_t address = ttm_node_get(node, TTM_PARAM_ADDRESS, 0), type = ttm_node_get(node, TTM_PARAM_BUFFER_TYPE, 0);
  if (!address || !ttm_node_has(node, TTM_PARAM_BUFFER_TYPE) || type > UINT8_MAX) return TTM_OK;
  place *p = place_at(r, (uint32_t)ttm_node_get(node, TTM_PARAM_DEVICE, 0), (uint8_t)type, address);
  if (!p) return TTM_ENOMEM;
  p->last = node->type == TTM_NODE_BUFFER_ALLOCATE ? TOUCH_ALLOCATE : TOUCH_FREE;
  if (p->first) return TTM_OK;
  p->first = p->last;
  if (p->alive || p->first == TOUCH_ALLOCATE) return TTM_OK;
  p->buffer.bank_bytes = ttm_node_get(node, TTM_PARAM_PER_BANK, 0);
  p->bytes = ttm_node_get(node, TTM_PARAM_SIZE, 0);
  p->page = ttm_node_get(node, TTM_PARAM_PAGE_SIZE, 0);
  p->cores = ttm_node_get(node, TTM_PARAM_NUM_CORES, 0);
  return TTM_OK;
}

/* What the nodes of the operation touch and name. */
static int survey(report_loader *r) {
  ttm_capture_reader nodes;
  const ttm_capture_node *node;
  int status = TTM_OK;
  ttm_map_clear(&r->tensors);
  ttm_map_clear(&r->tensor_places);
  ttm_capture_init(&nodes, NULL, r->op->graph);
  while (!status && (node = ttm_capture_next(&nodes))) {
    if (node->type == TTM_NODE_BUFFER_ALLOCATE || node->type == TTM_NODE_BUFFER_DEALLOCATE)
      status = touch_place(r, node);
    if (status || node->type != TTM_NODE_TENSOR) continue;
    status =
        ttm_map_set(&r->tensors, (uint64_t)node->counter, 1) || ttm_map_set(&r->tensor_places, tensor_key(r, node), 1)
            ? TTM_ENOMEM
            : TTM_OK;
  }
  if (nodes.json.status == TTM_ENOMEM) status = TTM_ENOMEM;
  ttm_capture_free(&nodes);
  return status;
}

/* ---- Devices ------------------------------------------------------------------------------------------------------- */

static int give_view(report_loader *r, uint32_t id, uint64_t type, uint64_t base, uint64_t bytes, uint64_t banks) {
  ttm_capture_node node = node_of(r, TTM_NODE_MEMORY_VIEW);
  if (!bytes || !banks) return TTM_OK;
  set(&node, TTM_PARAM_DEVICE, id);
  set(&node, TTM_PARAM_BUFFER_TYPE, type);
  set(&node, TTM_PARAM_BASE, base);
  set(&node, TTM_PARAM_TOTAL, bytes);
  set(&node, TTM_PARAM_LARGEST, bytes);
  set(&node, TTM_PARAM_BANKS, banks);
  set(&node, TTM_PARAM_ALLOCATED, 0);
  return ttm_capture_take(&r->l, &node);
}

/* The banks of a device, empty, before the first buffer on it. */
static int open_device(report_loader *r, uint32_t id) {
  for (size_t i = 0; i < r->devices.n; i++)
    if (r->devices.at[i].rank == r->op->rank && r->devices.at[i].id == id) return TTM_OK;
  const ttm_capture_facts *facts = ttm_visualizer_facts(r->db);
  if (r->devices.n >= TTM_CAPTURE_DEVICES || !facts->devices.n) return TTM_OK;
  const ttm_capture_device *d = &facts->devices.at[0];
  ttm_arch_id arch = ttm_arch_find(ttm_str_of(d->arch));
  uint64_t reserved = arch < TTM_ARCHES ? ttm_arches[arch].dram_reserved : 0, top = d->l1_base + d->l1_bank_bytes;
  if (ttm_vec_push(&r->devices, (device){r->op->rank, id})) return TTM_ENOMEM;
  return give_view(r, id, 0, reserved, d->dram_bank_bytes > reserved ? d->dram_bank_bytes - reserved : 0,
                   d->dram_banks) ||
                 give_view(r, id, 1, d->l1_base, d->l1_bank_bytes, d->l1_banks) ||
                 give_view(r, id, 3, top, d->l1_bytes > top ? d->l1_bytes - top : 0, d->l1_banks)
             ? TTM_ENOMEM
             : TTM_OK;
}

/* ---- Between operations -------------------------------------------------------------------------------------------- */

static bool is_listed(const report_loader *r) {
  return ttm_visualizer_has_buffers(r->db) && (r->op->buffers.n || !r->op->error.n);
}

/* Whether something lies there when the operation begins. */
static bool is_before(const report_loader *r, const place *p) {
  if (p->first) return p->first == TOUCH_FREE;
  return is_listed(r) ? p->listed : p->alive;
}

static bool is_another(const place *p) {
  return p->alive && p->listed && !p->first && p->listed_bytes != p->buffer.bank_bytes;
}

static int free_place(report_loader *r, place *p) {
  p->alive = false;
  return give_buffer(r, p, TTM_NODE_BUFFER_DEALLOCATE);
}

static int fill_place(report_loader *r, place *p) {
  p->alive = true;
  if (p->listed && (!p->first || p->last == TOUCH_ALLOCATE)) p->buffer.bank_bytes = p->listed_bytes;
  return give_buffer(r, p, TTM_NODE_BUFFER_ALLOCATE);
}

/* To the places as they are when the operation begins. */
static int come_to(report_loader *r) {
  for (size_t i = 0; i < r->places.n; i++) {
    place *p = &r->places.at[i];
    if (open_device(r, p->buffer.device)) return TTM_ENOMEM;
    if (p->alive && (!is_before(r, p) || is_another(p)) && free_place(r, p)) return TTM_ENOMEM;
  }
  for (size_t i = 0; i < r->places.n; i++) {
    place *p = &r->places.at[i];
    if (!p->alive && is_before(r, p) && fill_place(r, p)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* To the places as they are listed after it, and those only. */
static int go_from(report_loader *r) {
  size_t kept = 0;
  for (size_t i = 0; i < r->places.n; i++) {
    place *p = &r->places.at[i];
    if (p->first) p->alive = p->last == TOUCH_ALLOCATE;
    if (p->first && p->listed) p->buffer.bank_bytes = p->listed_bytes;
    if (is_listed(r) && p->alive != p->listed && (p->alive ? free_place(r, p) : fill_place(r, p))) return TTM_ENOMEM;
    p->listed = false;
    p->first = p->last = TOUCH_NONE;
    if (!p->alive) {
      ttm_map_remove(&r->place_of_key, p->key, 0);
      continue;
    }
    r->places.at[kept] = *p;
    if (ttm_map_set(&r->place_of_key, p->key, (uint32_t)kept++)) return TTM_ENOMEM;
  }
  r->places.n = kept;
  return TTM_OK;
}

/* ---- Operations ---------------------------------------------------------------------------------------------------- */

/* `  File "/a/b.py", line 9, in f`, innermost first -> "/a/b.py:9", and "/a/c.py:3|/a/b.py:9". Libraries are passed over. */
static void read_trace(report_loader *r) {
  ttm_str rest = r->op->trace;
  ttm_buf_clear(&r->at);
  ttm_buf_clear(&r->stack);
  while (rest.n) {
    ttm_str line = ttm_str_trim(ttm_str_take_to(&rest, '\n')), file;
    uint64_t number;
    if (!ttm_str_take(&line, TTM_LIT("File \""))) continue;
    file = ttm_str_take_to(&line, '"');
    if (!ttm_str_take(&line, TTM_LIT(", line ")) || !ttm_str_take_u64(&line, &number) ||
        ttm_str_contains(file, TTM_LIT("-packages/")))
      continue;
    ttm_buf_clear(&r->l.scratch);
    ttm_buf_put(&r->l.scratch, file);
    ttm_buf_printf(&r->l.scratch, ":%llu", (unsigned long long)number);
    if (!r->at.n) ttm_buf_put(&r->at, ttm_buf_str(&r->l.scratch));
    if (r->stack.n) ttm_buf_char(&r->l.scratch, '|');
    ttm_buf_put(&r->l.scratch, ttm_buf_str(&r->stack));
    ttm_buf_clear(&r->stack);
    ttm_buf_put(&r->stack, ttm_buf_str(&r->l.scratch));
  }
}

static int give_operation(report_loader *r) {
  ttm_capture_node node = node_of(r, TTM_NODE_OPERATION);
  read_trace(r);
  if (r->at.failed || r->stack.failed || r->l.scratch.failed) return TTM_ENOMEM;
  set(&node, TTM_PARAM_ID, r->op->id);
  node.text[TTM_PARAM_NAME] = r->op->name;
  node.text[TTM_PARAM_AT] = ttm_buf_str(&r->at);
  node.text[TTM_PARAM_STACK] = ttm_buf_str(&r->stack);
  return ttm_capture_take(&r->l, &node);
}

/* The tensors that the operation takes and none of its nodes tells: operands of its first function, which then begins. */
static int give_inputs(report_loader *r) {
  ttm_capture_node tensor;
  r->inputs.n = 0;
  while (ttm_visualizer_input(r->db, &tensor)) {
    if (ttm_map_get(&r->tensor_places, tensor_key(r, &tensor), 0)) continue;
    tensor.counter = FIRST_INPUT + (int64_t)r->inputs.n;
    if (ttm_vec_push(&r->inputs, tensor.counter) || ttm_capture_take(&r->l, &tensor)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Counters of tensors in other operations mean nothing here. */
static int begin_function(report_loader *r, const ttm_capture_node *node) {
  ttm_capture_node with = *node;
  if (r->depth) r->inputs.n = 0;
  for (size_t i = 0; i < node->inputs.n; i++)
    if (ttm_map_get(&r->tensors, (uint64_t)node->inputs.at[i], 0) && ttm_vec_push(&r->inputs, node->inputs.at[i]))
      return TTM_ENOMEM;
  with.inputs.at = r->inputs.at;
  with.inputs.n = r->inputs.n;
  ttm_str name = node->text[TTM_PARAM_NAME], factory = node->text[TTM_PARAM_FACTORY];
  uint64_t hash = ttm_hash(factory.p, factory.n, ttm_hash(name.p, name.n, node->arguments));
  if (r->depth < TTM_FUNCTION_DEPTH) r->functions[r->depth] = hash;
  r->depth++;
  return ttm_capture_take(&r->l, &with);
}

/* Programs of the same device operation with the same arguments have the same buffers; only the first tells them. */
static int begin_program(report_loader *r, const ttm_capture_node *node) {
  ttm_capture_node with = *node;
  if (r->depth && r->depth <= TTM_FUNCTION_DEPTH) {
    uint64_t hash = r->functions[r->depth - 1];
    uint32_t number = ttm_map_get(&r->programs, hash, (uint32_t)r->programs.n + 1);
    if (ttm_map_set(&r->programs, hash, number)) return TTM_ENOMEM;
    set(&with, TTM_PARAM_PROGRAM, number);
  }
  return ttm_capture_take(&r->l, &with);
}

static int give_nodes(report_loader *r) {
  ttm_capture_reader nodes;
  const ttm_capture_node *node;
  int status = TTM_OK;
  ttm_capture_init(&nodes, NULL, r->op->graph);
  nodes.wants_arguments = true;
  r->depth = 0;
  while (!status && (node = ttm_capture_next(&nodes))) {
    if (node->type >= TTM_NODE_PIECE) continue; /* of recordings only */
    if (node->type == TTM_NODE_FUNCTION_END && r->depth) r->depth--;
    status = node->type == TTM_NODE_FUNCTION_START ? begin_function(r, node)
             : node->type == TTM_NODE_PROGRAM_FREE ? begin_program(r, node)
                                                   : ttm_capture_take(&r->l, node);
  }
  if (nodes.json.status == TTM_ENOMEM) status = TTM_ENOMEM;
  r->l.profile->capture.bad_nodes += nodes.facts.bad_nodes + nodes.cut;
  r->l.profile->capture.other_nodes += nodes.facts.other_nodes;
  ttm_capture_free(&nodes);
  return status;
}

/* Without nodes: what is new after it, it allocated; what is gone, went then. */
static int give_change(report_loader *r) {
  ttm_capture_node start = node_of(r, TTM_NODE_FUNCTION_START), tensor;
  start.text[TTM_PARAM_NAME] = r->op->name;
  if (begin_function(r, &start)) return TTM_ENOMEM;
  for (size_t i = 0; i < r->places.n; i++) {
    place *p = &r->places.at[i];
    if (open_device(r, p->buffer.device) || (is_another(p) && free_place(r, p))) return TTM_ENOMEM;
    if (p->listed && !p->alive && fill_place(r, p)) return TTM_ENOMEM;
  }
  while (ttm_visualizer_output(r->db, &tensor))
    if (ttm_capture_take(&r->l, &tensor)) return TTM_ENOMEM;
  return give(r, TTM_NODE_FUNCTION_END, r->op->name);
}

static int give_failure(report_loader *r) {
  ttm_capture_node node = node_of(r, TTM_NODE_FAILURE);
  set(&node, TTM_PARAM_ID, r->op->id ? r->op->id : 1);
  node.text[TTM_PARAM_MESSAGE] = r->op->error;
  return r->op->error.n ? ttm_capture_take(&r->l, &node) : TTM_OK;
}

static int note_rank(report_loader *r) {
  bool broken = ttm_str_eq(r->op->error_type, TTM_LIT("incomplete_operation"));
  size_t i = 0;
  while (i < r->ranks.n && r->ranks.at[i].rank != r->op->rank) i++;
  if (i == r->ranks.n) return i < MOST_RANKS ? ttm_vec_push(&r->ranks, ((ended_rank){r->op->rank, broken})) : TTM_OK;
  r->ranks.at[i].broken = broken;
  return TTM_OK;
}

static int take_operation(report_loader *r) {
  bool nodes = r->op->graph.n > 2; /* "[]" */
  if (note_rank(r) || give(r, TTM_NODE_PIECE, (ttm_str){"", 0}) || list_buffers(r) || survey(r) ||
      (nodes && come_to(r)) || give_operation(r) || give_inputs(r))
    return TTM_ENOMEM;
  if ((nodes ? give_nodes(r) : give_change(r)) || give_failure(r)) return TTM_ENOMEM;
  return go_from(r);
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

static int end_ranks(report_loader *r) {
  ttm_capture_node node = node_of(r, TTM_NODE_RECORDING_END);
  node.text[TTM_PARAM_REASON] = TTM_LIT("exit");
  for (size_t i = 0; i < r->ranks.n; i++) {
    set(&node, TTM_PARAM_LANE, r->ranks.at[i].rank % MOST_RANKS * LANES_OF_A_PROCESS);
    if (!r->ranks.at[i].broken && ttm_capture_take(&r->l, &node)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int read_operations(report_loader *r, ttm_input *in, ttm_error *err) {
  uint64_t bytes = in->chunker.source ? ttm_source_size(in->chunker.source) : in->first.n;
  int status;
  while (!(status = ttm_visualizer_next(r->db, &r->op, err)) && r->op) {
    if (take_operation(r)) return ttm_error_nomem(err);
    uint64_t at = (uint64_t)(ttm_visualizer_progress(r->db) * (double)bytes);
    status = ttm_input_progress(in, at, r->l.profile->ops.n, err);
    if (status) return status;
  }
  return status;
}

static int finish(report_loader *r, ttm_input *in, ttm_error *err) {
  ttm_profile *p = r->l.profile;
  const char *schema = ttm_visualizer_schema(r->db);
  p->seen.bytes = in->chunker.source ? ttm_source_size(in->chunker.source) : in->first.n;
  p->seen.lines = p->seen.op_lines;
  p->capture.buffers_missing = !ttm_visualizer_has_all_buffers(r->db);
  if (ttm_build_string(r->l.builder, ttm_str_of(*schema ? schema : "unknown"), &p->capture.schema) || end_ranks(r) ||
      ttm_capture_loader_finish(&r->l, ttm_visualizer_facts(r->db)))
    return ttm_error_nomem(err);
  if (p->kind == TTM_LOG_CAPTURE) return TTM_OK;
  return ttm_error_set(err, TTM_ENODATA, "this report of ttnn-visualizer holds no operation.");
}

static void free_report(report_loader *r) {
  ttm_capture_loader_free(&r->l);
  ttm_visualizer_close(r->db);
  ttm_vec_free(&r->places);
  ttm_map_free(&r->place_of_key);
  ttm_vec_free(&r->devices);
  ttm_vec_free(&r->ranks);
  ttm_map_free(&r->tensors);
  ttm_map_free(&r->tensor_places);
  ttm_map_free(&r->programs);
  ttm_vec_free(&r->inputs);
  ttm_buf_free(&r->at);
  ttm_buf_free(&r->stack);
  ttm_free(r);
}

static int read_report(ttm_builder *b, ttm_input *in, bool sorted, bool *again, ttm_error *err) {
  report_loader *r = ttm_alloc(sizeof *r);
  if (!r) return ttm_error_nomem(err);
  int status = ttm_visualizer_open(&r->db, in->path, in->first, sorted, err);
  if (!status && ttm_capture_loader_begin(&r->l, b, true)) status = ttm_error_nomem(err);
  if (!status) status = read_operations(r, in, err);
  *again = !status && ttm_visualizer_is_unsorted(r->db);
  if (!status && !*again) status = finish(r, in, err);
  free_report(r);
  return status;
}

/* SQLite reads a file that lost its last pages until it needs one of them. The head tells how many there were. */
static bool is_cut(const ttm_input *in) {
  const unsigned char *head = (const unsigned char *)in->first.p;
  if (in->first.n < 100 || !in->chunker.source || memcmp(head + 24, head + 92, 4) != 0) return false;
  uint64_t page = (uint64_t)head[16] << 8 | head[17],
           pages = (uint64_t)head[28] << 24 | (uint64_t)head[29] << 16 | (uint64_t)head[30] << 8 | head[31];
  return pages * (page == 1 ? 65536 : page) > ttm_source_size(in->chunker.source);
}

int ttm_load_visualizer(ttm_builder *b, ttm_input *in, ttm_error *err) {
  bool again = false;
  if (in->chunker.source && !ttm_source_is_seekable(in->chunker.source))
    return ttm_error_set(err, TTM_EIO, "a database is read where it lies: unpack it into a file first.");
  int status = read_report(b, in, false, &again, err);
  if (again) {
    bool keep_ir = b->keep_ir;
    ttm_builder_free(b);
    if (ttm_builder_begin(b, in->path ? in->path : "-", keep_ir)) return ttm_error_nomem(err);
    status = read_report(b, in, true, &again, err);
  }
  if (!status && is_cut(in)) b->profile->seen.cut = true;
  return status;
}
