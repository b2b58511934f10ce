/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/capture.h"

#include <stddef.h>
#include <stdio.h>

#include "base/hash.h"
#include "parse/mlir_scan.h"

/* ---- Words --------------------------------------------------------------------------------------------------------- */

typedef struct word {
  ttm_str name;
  int id;
} word;
#define WORD(name, id) \
  { {name, sizeof(name) - 1}, id }

static bool is_word(const word *w, ttm_str name) {
  return w->name.n == name.n && memcmp(w->name.p, name.p, name.n) == 0;
}

/* `otherwise` when it is none of them. A few dozen short words of many lengths: comparing beats hashing. */
static int find_word(const word *words, size_t n, ttm_str name, int otherwise) {
  for (size_t i = 0; i < n; i++)
    if (is_word(&words[i], name)) return words[i].id;
  return otherwise;
}
#define FIND(words, name, otherwise) find_word(words, sizeof(words) / sizeof *(words), name, otherwise)

/* KNOWN: it tells a capture from a log, and is passed over. */
enum { KEY_ARGUMENTS, KEY_CONNECTIONS, KEY_COUNTER, KEY_INPUTS, KEY_TYPE, KEY_PARAMS, KEY_KNOWN, KEY_OTHER };
static const word node_keys[] = {
    WORD("arguments", KEY_ARGUMENTS), WORD("connections", KEY_CONNECTIONS), WORD("counter", KEY_COUNTER),
    WORD("duration_ns", KEY_KNOWN),   WORD("input_tensors", KEY_INPUTS),    WORD("node_type", KEY_TYPE),
    WORD("params", KEY_PARAMS),       WORD("stacking_level", KEY_KNOWN),
};

static const word node_types[] = {
    WORD("tensor", TTM_NODE_TENSOR),
    WORD("function_start", TTM_NODE_FUNCTION_START),
    WORD("function_end", TTM_NODE_FUNCTION_END),
    WORD("buffer", TTM_NODE_BUFFER),
    WORD("buffer_allocate", TTM_NODE_BUFFER_ALLOCATE),
    WORD("buffer_deallocate", TTM_NODE_BUFFER_DEALLOCATE),
    WORD("circular_buffer_allocate", TTM_NODE_CIRCULAR_BUFFER),
    WORD("dataflow_buffer_allocate", TTM_NODE_DATAFLOW_BUFFER),
    WORD("circular_buffer_deallocate_all", TTM_NODE_PROGRAM_FREE),
    WORD("program_execution", TTM_NODE_PROGRAM_EXECUTION),
    WORD("scratchpad_allocate", TTM_NODE_SCRATCHPAD),
    WORD("sub_device_manager", TTM_NODE_SILENT),
    WORD("capture_start", TTM_NODE_SILENT),
    WORD("capture_end", TTM_NODE_SILENT),
    WORD("operation", TTM_NODE_OPERATION),
    WORD("test", TTM_NODE_TEST),
    WORD("test_end", TTM_NODE_TEST_END),
    WORD("results", TTM_NODE_RESULTS),
    WORD("piece", TTM_NODE_PIECE),
    WORD("again", TTM_NODE_AGAIN),
    WORD("freed", TTM_NODE_FREED),
    WORD("memory_view", TTM_NODE_MEMORY_VIEW),
    WORD("failure", TTM_NODE_FAILURE),
    WORD("device_open", TTM_NODE_DEVICE_OPEN),
    WORD("device_close", TTM_NODE_DEVICE_CLOSE),
    WORD("uncaught", TTM_NODE_UNCAUGHT),
    WORD("host", TTM_NODE_HOST),
    WORD("host_end", TTM_NODE_HOST_END),
    WORD("recording_begin", TTM_NODE_SILENT),
    WORD("recording_end", TTM_NODE_RECORDING_END),
};

enum { FIRST_TEXT = TTM_PARAM_NUMBERS, PARAM_OTHER = 128 };
static const word param_keys[] = {
    WORD("size", TTM_PARAM_SIZE),
    WORD("address", TTM_PARAM_ADDRESS),
    WORD("page_size", TTM_PARAM_PAGE_SIZE),
    WORD("num_cores", TTM_PARAM_NUM_CORES),
    WORD("max_size_per_bank", TTM_PARAM_PER_BANK),
    WORD("device_id", TTM_PARAM_DEVICE),
    WORD("buffer_type", TTM_PARAM_BUFFER_TYPE),
    WORD("globally_allocated", TTM_PARAM_GLOBAL),
    WORD("borrows_memory", TTM_PARAM_BORROWS),
    WORD("program_cache_hit", TTM_PARAM_CACHE_HIT),
    WORD("global_call_count", TTM_PARAM_CALL),
    WORD("num_banks", TTM_PARAM_BANKS),
    WORD("total_bytes_per_bank", TTM_PARAM_TOTAL),
    WORD("allocated_per_bank", TTM_PARAM_ALLOCATED),
    WORD("largest_free_per_bank", TTM_PARAM_LARGEST),
    WORD("base_address", TTM_PARAM_BASE),
    WORD("elsewhere", TTM_PARAM_ELSEWHERE),
    WORD("late", TTM_PARAM_LATE),
    WORD("lane", TTM_PARAM_LANE),
    WORD("id", TTM_PARAM_ID),
    WORD("chips", TTM_PARAM_CHIPS),
    WORD("asked_chips", TTM_PARAM_ASKED),
    WORD("failure", TTM_PARAM_CAUSE),
    WORD("in_thread", TTM_PARAM_IN_THREAD),
    WORD("key", TTM_PARAM_KEY),
    WORD("site", TTM_PARAM_SITE),
    WORD("waits", TTM_PARAM_WAITS),
    WORD("sub_devices", TTM_PARAM_SUB_DEVICES),
    WORD("slot", TTM_PARAM_SLOT),
    WORD("per_core", TTM_PARAM_PER_CORE),
    WORD("range_lockstep", TTM_PARAM_RANGE_LOCKSTEP),
    WORD("program", TTM_PARAM_PROGRAM),
    WORD("traces", TTM_PARAM_TRACES),
    WORD("kept", TTM_PARAM_KEPT),
    WORD("trace", TTM_PARAM_TRACE),
    WORD("name", FIRST_TEXT + TTM_PARAM_NAME),
    WORD("type", FIRST_TEXT + TTM_PARAM_TYPE),
    WORD("layout", FIRST_TEXT + TTM_PARAM_LAYOUT),
    WORD("core_range_set", FIRST_TEXT + TTM_PARAM_CORES),
    WORD("memory_config", FIRST_TEXT + TTM_PARAM_MEMORY_CONFIG),
    WORD("shape", FIRST_TEXT + TTM_PARAM_SHAPE),
    WORD("dtype", FIRST_TEXT + TTM_PARAM_DTYPE),
    WORD("program_factory_type", FIRST_TEXT + TTM_PARAM_FACTORY),
    WORD("at", FIRST_TEXT + TTM_PARAM_AT),
    WORD("stack", FIRST_TEXT + TTM_PARAM_STACK),
    WORD("to", FIRST_TEXT + TTM_PARAM_TO),
    WORD("places", FIRST_TEXT + TTM_PARAM_PLACES),
    WORD("mode", FIRST_TEXT + TTM_PARAM_MODE),
    WORD("outcome", FIRST_TEXT + TTM_PARAM_OUTCOME),
    WORD("message", FIRST_TEXT + TTM_PARAM_MESSAGE),
    WORD("reason", FIRST_TEXT + TTM_PARAM_REASON),
    WORD("rss", TTM_PARAM_RSS),
    WORD("peak", TTM_PARAM_PEAK),
    WORD("pinned", TTM_PARAM_PINNED),
    WORD("locked", TTM_PARAM_LOCKED),
    WORD("huge", TTM_PARAM_HUGE),
    WORD("address_space", TTM_PARAM_ADDRESS_SPACE),
    WORD("address_limit", TTM_PARAM_ADDRESS_LIMIT),
    WORD("machine", TTM_PARAM_MACHINE),
    WORD("available", TTM_PARAM_AVAILABLE),
    WORD("lowest_available", TTM_PARAM_LOWEST_AVAILABLE),
    WORD("cgroup", TTM_PARAM_CGROUP),
    WORD("signal", TTM_PARAM_SIGNAL),
    WORD("oom_kills", TTM_PARAM_OOM_KILLS),
};

enum { TOP_GRAPH, TOP_DEVICES, TOP_METADATA, TOP_RECORDING, TOP_BOARD, TOP_KNOWN, TOP_OTHER };
static const word top_keys[] = {
    WORD("graph", TOP_GRAPH),
    WORD("devices", TOP_DEVICES),
    WORD("metadata", TOP_METADATA),
    WORD("per_operation_buffers", TOP_KNOWN),
    WORD("buffer_pages", TOP_KNOWN),
    WORD("buffer_pages_by_address", TOP_KNOWN),
    WORD("python_io", TOP_KNOWN),
    WORD("ttmem_recording", TOP_RECORDING),
    WORD("board", TOP_BOARD),
    WORD("cluster_descriptor", TOP_KNOWN),
    WORD("mesh_coordinate_mapping", TOP_KNOWN),
    WORD("version", TOP_KNOWN),
};

/* ---- Telling a capture from a log ---------------------------------------------------------------------------------- */

/* The key at the start of an object's inside. */
static ttm_str first_key(ttm_str v) {
  ttm_scan_skip_space(&v);
  if (!v.n || v.p[0] != '"') return (ttm_str){"", 0};
  v = ttm_str_from(v, 1);
  size_t end = ttm_str_find_char(v, '"');
  return end == TTM_NOT_FOUND ? (ttm_str){"", 0} : ttm_str_first(v, end);
}

bool ttm_capture_detect(ttm_str v) {
  ttm_str_take(&v, TTM_LIT("\xEF\xBB\xBF"));
  ttm_scan_skip_space(&v);
  if (v.n && (v.p[0] == '{' || v.p[0] == '[') && ttm_str_contains(ttm_str_first(v, 4096), TTM_LIT("\"node_type\"")))
    return true;
  if (ttm_str_take(&v, TTM_LIT("{"))) return FIND(top_keys, first_key(v), TOP_OTHER) != TOP_OTHER;
  if (!ttm_str_take(&v, TTM_LIT("["))) return false;
  ttm_scan_skip_space(&v);
  return ttm_str_take(&v, TTM_LIT("{")) && FIND(node_keys, first_key(v), KEY_OTHER) != KEY_OTHER;
}

/* ---- Nodes --------------------------------------------------------------------------------------------------------- */

static void take_number(ttm_capture_node *node, ttm_node_number which, const ttm_json_scalar *v) {
  if (!ttm_json_integer(v, &node->number[which])) {
    bool yes = v->kind == TTM_JSON_TRUE || ttm_str_eq(v->text, TTM_LIT("true")) || ttm_str_eq(v->text, TTM_LIT("True"));
    bool no =
        v->kind == TTM_JSON_FALSE || ttm_str_eq(v->text, TTM_LIT("false")) || ttm_str_eq(v->text, TTM_LIT("False"));
    if (!yes && !no) return;
    node->number[which] = yes;
    node->words |= UINT64_C(1) << which;
  }
  node->numbers |= UINT64_C(1) << which;
}

/* The text moves into r->texts; its view becomes an offset until the node is whole. */
static void take_text(ttm_capture_reader *r, ttm_node_text which, ttm_str text) {
  r->node.text[which] = (ttm_str){(const char *)(uintptr_t)r->texts.n, text.n};
  r->given |= 1u << which;
  ttm_buf_put(&r->texts, text);
}

/* ---- Keys ---------------------------------------------------------------------------------------------------------- */

/* Where the ways begin. Params have one for each type of node. */
enum { NO_STEP, NODE_STEP, PARAM_STEP, FIRST_STEP = PARAM_STEP + TTM_NODE_TYPES };
enum { KEY_END = UINT8_MAX };

/* The key just read behind step `at` becomes a step, unless there are too many. */
static uint16_t add_step(ttm_capture_reader *r, uint16_t at, uint8_t key, const ttm_json_gap *gap) {
  enum { MOST_STEPS = 1024, MOST_CHOICES = 8 };
  uint16_t added = (uint16_t)r->steps.n, last = 0;
  int choices = 0;
  for (uint16_t i = r->steps.at[at].first; i; i = r->steps.at[i].other) choices++, last = i;
  if (added == MOST_STEPS || choices == MOST_CHOICES) return NO_STEP;
  if (ttm_vec_push(&r->steps, (ttm_key_step){.gap = *gap, .key = key})) return r->texts.failed = true, NO_STEP;
  *(last ? &r->steps.at[last].other : &r->steps.at[at].first) = added;
  return added;
}

/* A key that did not come there before. */
static int new_key(ttm_capture_reader *r, const word *words, size_t n, int otherwise, uint16_t *at) {
  ttm_json_pull *j = &r->json;
  uint64_t from = ttm_json_position(j), line = j->line;
  ttm_str name;
  ttm_json_gap gap;
  j->unescaped = false;
  int key = ttm_json_key(j, &name) ? find_word(words, n, name, otherwise) : KEY_END;
  bool known = *at != NO_STEP && ttm_json_gap_since(j, from, line, key == KEY_END, &gap);
  *at = known ? add_step(r, *at, (uint8_t)key, &gap) : NO_STEP;
  return key;
}

/* The object's next key as a number, KEY_END behind its last; *at is the step before it, and then its own. Inline: a dozen per node. */
static inline __attribute__((always_inline)) int next_key(ttm_capture_reader *r, const word *words, size_t n,
                                                          int otherwise, uint16_t *at) {
  const ttm_key_step *steps = r->steps.at;
  for (uint16_t i = steps[*at].first; i; i = steps[i].other)
    if (ttm_json_take_gap(&r->json, &steps[i].gap)) return steps[*at = i].key;
  return new_key(r, words, n, otherwise, at);
}
#define NEXT_KEY(r, words, otherwise, at) next_key(r, words, sizeof(words) / sizeof *(words), otherwise, at)

static void read_params(ttm_capture_reader *r) {
  ttm_json_pull *j = &r->json;
  ttm_json_scalar v;
  uint16_t at = (uint16_t)(PARAM_STEP + r->node.type);
  int key;
  if (!ttm_json_enter_if(j, '{')) return; /* null: capture_start and capture_end have none */
  while ((key = NEXT_KEY(r, param_keys, PARAM_OTHER, &at)) != KEY_END) {
    if (key == PARAM_OTHER)
      ttm_json_skip(j);
    else if (key < FIRST_TEXT && ttm_json_digits(j, &r->node.number[key]))
      r->node.numbers |= UINT64_C(1) << key;
    else if (ttm_json_value(j, &v) && key < FIRST_TEXT)
      take_number(&r->node, (ttm_node_number)key, &v);
    else if (!j->error)
      take_text(r, (ttm_node_text)(key - FIRST_TEXT), v.text);
  }
}

/* ---- Members ------------------------------------------------------------------------------------------------------- */

/* A list of node numbers; what is no integer is left out. */
static void read_numbers(ttm_capture_reader *r, ttm_node_list *list) {
  ttm_json_scalar v;
  int64_t n;
  if (ttm_json_take_empty(&r->json) || !ttm_json_enter_if(&r->json, '[')) return;
  while (ttm_json_item(&r->json)) {
    if (!ttm_json_digits(&r->json, &n) && !(ttm_json_value(&r->json, &v) && ttm_json_integer(&v, &n))) continue;
    if (ttm_vec_push(list, n)) r->texts.failed = true;
  }
}

static void hash_arguments(ttm_capture_reader *r) {
  ttm_json_scalar v;
  if (!r->wants_arguments) return (void)(ttm_json_take_empty(&r->json) || ttm_json_skip(&r->json));
  if (!ttm_json_enter_if(&r->json, '[')) return;
  r->node.arguments = ttm_hash_seed();
  while (ttm_json_item(&r->json) && ttm_json_value(&r->json, &v))
    r->node.arguments = ttm_hash(v.text.p, v.text.n, r->node.arguments);
}

static void read_member(ttm_capture_reader *r, int key, bool *typed) {
  ttm_json_pull *j = &r->json;
  ttm_capture_node *node = &r->node;
  ttm_json_scalar v;
  switch (key) {
    case KEY_TYPE:
      if (!ttm_json_value(j, &v) || v.kind != TTM_JSON_STRING) return;
      node->type = (ttm_node_type)FIND(node_types, v.text, TTM_NODE_OTHER);
      *typed = true;
      return;
    case KEY_COUNTER:
      node->has_counter =
          ttm_json_digits(j, &node->counter) || (ttm_json_value(j, &v) && ttm_json_integer(&v, &node->counter));
      return;
    case KEY_PARAMS:
      read_params(r);
      return;
    case KEY_CONNECTIONS:
      read_numbers(r, &node->connections);
      return;
    case KEY_INPUTS:
      read_numbers(r, &node->inputs);
      return;
    case KEY_ARGUMENTS:
      hash_arguments(r);
      return;
    default:
      if (!ttm_json_digits(j, &(int64_t){0})) ttm_json_skip(j);
  }
}

static void clear_node(ttm_capture_reader *r) {
  ttm_capture_node *node = &r->node;
  node->type = TTM_NODE_OTHER;
  node->line = r->json.line < UINT32_MAX ? (uint32_t)r->json.line : UINT32_MAX - 1;
  node->has_counter = false;
  node->counter = 0;
  node->numbers = node->words = node->arguments = 0;
  for (int t = 0; t < TTM_PARAM_TEXTS; t++) node->text[t] = (ttm_str){"", 0};
  r->given = 0;
  node->connections.n = node->inputs.n = 0;
  ttm_buf_clear(&r->texts);
}

/* True when the element was a node, whole. */
static bool read_node(ttm_capture_reader *r) {
  ttm_json_pull *j = &r->json;
  bool typed = false;
  uint16_t at = NODE_STEP;
  int key;
  clear_node(r);
  if (ttm_json_peek(j) != TTM_JSON_OBJECT) {
    ttm_json_skip(j);
    r->facts.bad_nodes++;
    return false;
  }
  if (!ttm_json_enter(j, '{')) return false;
  while ((key = NEXT_KEY(r, node_keys, KEY_OTHER, &at)) != KEY_END) read_member(r, key, &typed);
  if (j->error) return false;
  if (!typed) {
    r->facts.bad_nodes++;
    return false;
  }
  r->facts.other_nodes += r->node.type == TTM_NODE_OTHER;
  for (unsigned given = r->given; given; given &= given - 1) {
    ttm_str *text = &r->node.text[__builtin_ctz(given)];
    *text = text->n ? (ttm_str){r->texts.at + (uintptr_t)text->p, text->n} : (ttm_str){"", 0};
  }
  return true;
}

/* ---- Around the nodes ---------------------------------------------------------------------------------------------- */

static void copy_text(char *to, size_t cap, ttm_str text) {
  snprintf(to, cap, "%.*s", (int)(text.n < cap ? text.n : cap), text.p);
}

static void read_device(ttm_capture_reader *r) {
#define FIELD(key, field) WORD(key, offsetof(ttm_capture_device, field))
  enum { NONE = -1, ARCH = offsetof(ttm_capture_device, arch) };
  static const word keys[] = {
      FIELD("worker_l1_size", l1_bytes),
      FIELD("l1_num_banks", l1_banks),
      FIELD("l1_bank_size", l1_bank_bytes),
      FIELD("address_at_first_l1_cb_buffer", l1_base),
      FIELD("num_dram_channels", dram_banks),
      FIELD("dram_size_per_channel", dram_bank_bytes),
      FIELD("num_x_compute_cores", grid_x),
      FIELD("num_y_compute_cores", grid_y),
      FIELD("arch", arch),
  };
  ttm_json_pull *j = &r->json;
  ttm_capture_device d = {0};
  ttm_str key;
  ttm_json_scalar v;
  int64_t n;
  if (!ttm_json_enter_if(j, '{')) return;
  while (ttm_json_key(j, &key)) {
    int field = FIND(keys, key, NONE);
    if (!ttm_json_value(j, &v)) return;
    if (field == ARCH)
      copy_text(d.arch, sizeof d.arch, v.text);
    else if (field != NONE && ttm_json_integer(&v, &n) && n >= 0)
      *(uint64_t *)(void *)((char *)&d + field) = (uint64_t)n;
  }
  enum { MOST_DEVICES = 4096 };
  if (!j->error && r->facts.devices.n < MOST_DEVICES && ttm_vec_push(&r->facts.devices, d)) r->texts.failed = true;
}

static void read_metadata(ttm_capture_reader *r) {
  static const word keys[] = {WORD("rank", 0), WORD("world_size", 1), WORD("version", 2)};
  ttm_json_pull *j = &r->json;
  ttm_str key;
  ttm_json_scalar v;
  int64_t n;
  if (!ttm_json_enter_if(j, '{')) return;
  while (ttm_json_key(j, &key)) {
    int field = FIND(keys, key, 3);
    if (!ttm_json_value(j, &v)) return;
    if (field == 2) copy_text(r->facts.version, sizeof r->facts.version, v.text);
    if (field > 1 || !ttm_json_integer(&v, &n) || n < 0) continue;
    if (field == 0)
      r->facts.rank = (uint64_t)n, r->facts.has_rank = true;
    else
      r->facts.world = (uint64_t)n;
  }
}

/* One member of the report object; true when the nodes come now. */
static bool read_top(ttm_capture_reader *r, int key) {
  ttm_json_pull *j = &r->json;
  switch (key) {
    case TOP_GRAPH:
      return ttm_json_enter_if(j, '[');
    case TOP_DEVICES:
      if (ttm_json_enter_if(j, '[')) {
        while (ttm_json_item(j)) read_device(r);
      }
      return false;
    case TOP_METADATA:
      read_metadata(r);
      return false;
    case TOP_RECORDING:
      r->facts.recording = true;
      break;
    case TOP_BOARD: {
      ttm_json_scalar name;
      if (ttm_json_value(j, &name)) copy_text(r->facts.board, sizeof r->facts.board, name.text);
      return false;
    }
    default:
      break;
  }
  ttm_json_skip(j);
  return false;
}

/* ---- The reader ---------------------------------------------------------------------------------------------------- */

enum { AT_START, IN_NODES, IN_REPORT, AT_END };

void ttm_capture_init(ttm_capture_reader *r, ttm_source *source, ttm_str first) {
  *r = (ttm_capture_reader){0};
  ttm_str_take(&first, TTM_LIT("\xEF\xBB\xBF"));
  ttm_json_init(&r->json, source, first);
}

static void start(ttm_capture_reader *r) {
  ttm_json_pull *j = &r->json;
  r->facts.report = ttm_json_peek(j) == TTM_JSON_OBJECT;
  r->state = r->facts.report ? IN_REPORT : IN_NODES;
  ttm_json_enter(j, r->facts.report ? '{' : '[');
  for (int i = 0; i < FIRST_STEP; i++)
    if (ttm_vec_push(&r->steps, (ttm_key_step){0})) r->texts.failed = true;
}

const ttm_capture_node *ttm_capture_next(ttm_capture_reader *r) {
  ttm_json_pull *j = &r->json;
  ttm_str key;
  if (r->state == AT_START) start(r);
  while (r->state != AT_END) {
    if (j->error || r->texts.failed) break;
    if (r->state == IN_NODES) {
      if (!ttm_json_item(j))
        r->state = r->facts.report ? IN_REPORT : AT_END;
      else if (read_node(r) && !r->texts.failed)
        return &r->node;
    } else if (!ttm_json_key(j, &key)) {
      r->state = AT_END;
    } else if (read_top(r, FIND(top_keys, key, TOP_OTHER))) {
      r->state = IN_NODES;
    }
  }
  r->state = AT_END;
  if (r->texts.failed && !j->error) j->error = "out of memory", j->status = TTM_ENOMEM;
  r->cut = j->error != NULL;
  return NULL;
}

void ttm_capture_free(ttm_capture_reader *r) {
  ttm_vec_free(&r->facts.devices);
  ttm_vec_free(&r->node.connections);
  ttm_vec_free(&r->node.inputs);
  ttm_buf_free(&r->texts);
  ttm_vec_free(&r->steps);
  ttm_json_free(&r->json);
}
