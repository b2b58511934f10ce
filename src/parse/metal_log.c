/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/metal_log.h"

/* ---- The line --------------------------------------------------------------------------------------------------------- */

ttm_str ttm_metal_plain(ttm_str line, ttm_buf *scratch) {
  if (ttm_str_find_char(line, '\x1b') == TTM_NOT_FOUND) return line;
  ttm_buf_clear(scratch);
  while (line.n) {
    size_t escape = ttm_escape_length(line);
    size_t plain = escape ? 0 : 1;
    while (plain && plain < line.n && line.p[plain] != '\x1b') plain++;
    ttm_buf_put(scratch, ttm_str_first(line, plain));
    line = ttm_str_from(line, escape + plain);
  }
  return ttm_buf_str(scratch);
}

/* tt-logger's types and those of the logger before it; tt-mlir's runtime has lines of form A too, with other names. */
static bool is_logger(ttm_str name) {
  static const char *const names[] = {"Always",    "Test",          "Timer",           "Device",       "Distributed",
                                      "LLRuntime", "Loader",        "Verif",           "BuildKernels", "Op",
                                      "Dispatch",  "Fabric",        "Metal",           "TTNN",         "MetalTrace",
                                      "Inspector", "SiliconDriver", "EmulationDriver", "UMD",          "EmuleDriver"};
  enum { NAMES = sizeof names / sizeof *names };
  return ttm_str_index(name, names, NAMES) < NAMES;
}

static ttm_log_severity severity_of(ttm_str word, bool old) {
  static const char *const words[2][TTM_SEV_FATAL] = {{"trace", "debug", "info", "warning", "error", "critical"},
                                                      {"TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "FATAL"}};
  size_t i = ttm_str_index(word, words[old], TTM_SEV_FATAL);
  return i < TTM_SEV_FATAL ? (ttm_log_severity)(TTM_SEV_TRACE + i) : TTM_SEV_NONE;
}

/* The column before the next bar, trimmed; moves *rest behind the bar. */
static bool take_column(ttm_str *rest, ttm_str *out) {
  size_t bar = ttm_str_find_char(ttm_str_first(*rest, 64), '|');
  if (bar == TTM_NOT_FOUND) return false;
  *out = ttm_str_trim(ttm_str_first(*rest, bar));
  *rest = ttm_str_from(*rest, bar + 1);
  return true;
}

/* "[word] " at the start of *rest. */
static bool take_bracket(ttm_str *rest, ttm_str *out) {
  ttm_str at = *rest;
  if (!ttm_str_take(&at, TTM_LIT("["))) return false;
  size_t close = ttm_str_find_char(ttm_str_first(at, 200), ']');
  if (close == TTM_NOT_FOUND) return false;
  *out = ttm_str_first(at, close);
  *rest = ttm_str_from(at, close + 1);
  ttm_str_take(rest, TTM_LIT(" "));
  return true;
}

/* " (assert.hpp:104)" at the end. */
static void split_source(ttm_metal_line *l) {
  ttm_str m = ttm_str_trim(l->message);
  l->message = m;
  if (!m.n || m.p[m.n - 1] != ')') return;
  size_t open = m.n - 1, colon = TTM_NOT_FOUND;
  while (open > 0 && m.p[open] != '(' && m.n - open < 80) {
    if (m.p[open] == ':' && colon == TTM_NOT_FOUND) colon = open;
    open--;
  }
  if (m.p[open] != '(' || colon == TTM_NOT_FOUND || open == 0 || m.p[open - 1] != ' ') return;
  for (size_t i = colon + 1; i < m.n - 1; i++) {
    if (m.p[i] < '0' || m.p[i] > '9') return;
  }
  l->source = (ttm_str){m.p + open + 1, m.n - open - 2};
  l->message = ttm_str_trim(ttm_str_first(m, open));
}

static bool read_c(ttm_str rest, ttm_metal_line *out) {
  ttm_str time, level;
  if (!ttm_log_line_has_date(rest) || !take_column(&rest, &time) || !take_column(&rest, &level)) return false;
  out->severity = severity_of(level, false); /* Python's loguru writes the level in capitals */
  if (out->severity == TTM_SEV_NONE || !take_column(&rest, &out->logger) || !is_logger(out->logger)) return false;
  out->message = rest;
  split_source(out);
  out->era = TTM_METAL_C;
  return true;
}

static bool read_b(ttm_str rest, ttm_metal_line *out) {
  ttm_str time, level;
  if (!take_bracket(&rest, &time) || !ttm_log_line_has_date(time) || !take_bracket(&rest, &level)) return false;
  out->severity = severity_of(level, false);
  if (out->severity == TTM_SEV_NONE || !take_bracket(&rest, &out->source) || !take_bracket(&rest, &out->logger))
    return false;
  out->message = ttm_str_trim(rest);
  out->era = TTM_METAL_B;
  return true;
}

static bool read_a(ttm_str rest, ttm_metal_line *out) {
  ttm_str level;
  if (!take_column(&rest, &out->logger) || !is_logger(out->logger) || !take_column(&rest, &level)) return false;
  out->severity = severity_of(level, true);
  if (out->severity == TTM_SEV_NONE) return false;
  out->message = ttm_str_trim(rest);
  out->era = TTM_METAL_A;
  return true;
}

bool ttm_metal_line_read(ttm_str line, ttm_metal_line *out) {
  typedef bool reader(ttm_str, ttm_metal_line *);
  static reader *const readers[] = {read_c, read_a, read_b};
  ttm_log_line log = ttm_log_line_read(line); /* takes rank tags and the time stamps of a CI off */
  for (size_t i = 0; !log.runtime && i < sizeof readers / sizeof *readers; i++) {
    *out = (ttm_metal_line){0};
    if (readers[i](log.message, out)) return true;
  }
  *out = (ttm_metal_line){0};
  return false;
}

/* ---- Messages --------------------------------------------------------------------------------------------------------- */

static bool take_hex(ttm_str *v, uint64_t *out) {
  uint64_t value = 0;
  size_t n = 0;
  if (!ttm_str_take(v, TTM_LIT("0x"))) return false;
  for (int digit; n < v->n && n < 16 && (digit = ttm_hex_digit(v->p[n])) >= 0; n++)
    value = value << 4 | (uint64_t)digit;
  *v = ttm_str_from(*v, n);
  *out = value;
  return n > 0;
}

/* The number behind `key`, wherever it stands. */
static bool number_after(ttm_str text, ttm_str key, uint64_t *out) {
  size_t at = ttm_str_find(text, key);
  if (at == TTM_NOT_FOUND) return false;
  ttm_str rest = ttm_str_from(text, at + key.n);
  return ttm_str_starts(rest, TTM_LIT("0x")) ? take_hex(&rest, out) : ttm_str_take_u64(&rest, out);
}

static bool read_partition(ttm_str m, ttm_metal_event *e) {
  e->kind = TTM_METAL_PARTITION;
  return number_after(m, TTM_LIT("worker_l1_size:"), &e->worker_l1) &&
         number_after(m, TTM_LIT("l1_unreserved_base:"), &e->base) &&
         number_after(m, TTM_LIT("l1_small_size:"), &e->small);
}

static bool read_kernel(ttm_str m, ttm_metal_event *e) {
  size_t name = ttm_str_find(m, TTM_LIT(", name=")), size = TTM_NOT_FOUND, at = 0;
  e->kind = TTM_METAL_KERNEL;
  if (name == TTM_NOT_FOUND || !number_after(m, TTM_LIT("RISC="), &e->processor)) return false;
  ttm_str rest = ttm_str_from(m, name + 7);
  while ((at = ttm_str_find(ttm_str_from(rest, size == TTM_NOT_FOUND ? 0 : size + 1), TTM_LIT(", size="))) !=
         TTM_NOT_FOUND)
    size = at + (size == TTM_NOT_FOUND ? 0 : size + 1); /* the last one: a name may hold anything */
  if (size == TTM_NOT_FOUND) return false;
  e->name = ttm_str_first(rest, size);
  return number_after(ttm_str_from(rest, size), TTM_LIT(", size="), &e->bytes);
}

static bool read_allocation(ttm_str m, ttm_metal_event *e) {
  e->kind = TTM_METAL_ALLOCATION;
  bool mesh = ttm_str_contains(m, TTM_LIT("Tracking MeshDevice backing buffer on underlying device "));
  if (!mesh && !ttm_str_contains(m, TTM_LIT("Calling SHM record_allocation"))) return false;
  if (!number_after(m, mesh ? TTM_LIT("underlying device ") : TTM_LIT("(device_id="), &e->device)) return false;
  return number_after(m, TTM_LIT("type="), &e->memory) && number_after(m, TTM_LIT("size="), &e->bytes) &&
         e->memory < TTM_METAL_MEMORIES;
}

static bool read_op(ttm_str m, ttm_metal_event *e) {
  e->kind = ttm_str_take(&m, TTM_LIT("Begin op: ")) ? TTM_METAL_OP_BEGIN : TTM_METAL_OP_END;
  if (e->kind == TTM_METAL_OP_END) ttm_str_take(&m, TTM_LIT("End op: "));
  size_t duration = ttm_str_find(m, TTM_LIT(" (duration: "));
  e->name = ttm_str_first(m, duration);
  return e->name.n > 0;
}

static bool read_compiled(ttm_str m, ttm_metal_event *e) {
  e->kind = TTM_METAL_COMPILED;
  ttm_str_take(&m, TTM_LIT("compiled "));
  size_t in = ttm_str_find(m, TTM_LIT(" in "));
  e->name = ttm_str_first(m, in);
  return in != TTM_NOT_FOUND && ttm_str_ends(m, TTM_LIT(" ms"));
}

static bool read_indices(ttm_str m, ttm_metal_event *e) {
  size_t at = ttm_str_find(m, TTM_LIT("Non-contiguous indices: "));
  e->kind = TTM_METAL_INDICES;
  if (at == TTM_NOT_FOUND) return false;
  ttm_str rest = ttm_str_from(m, at + 24);
  e->name = ttm_str_first(rest, ttm_str_find_char(rest, '.'));
  return true;
}

bool ttm_metal_event_read(ttm_str m, ttm_metal_event *out) {
  static const struct {
    ttm_str start;
    bool (*read)(ttm_str, ttm_metal_event *);
  } messages[] = {
      {TTM_LIT("Configured partition params: "), read_partition},
      {TTM_LIT("RISC="), read_kernel},
      {TTM_LIT("ShmTrackingProcessor::track_allocate: "), read_allocation},
      {TTM_LIT("Begin op: "), read_op},
      {TTM_LIT("End op: "), read_op},
      {TTM_LIT("compiled "), read_compiled},
      {TTM_LIT("Circular buffer indices are not contiguous"), read_indices},
  };
  for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
    *out = (ttm_metal_event){0};
    if (ttm_str_starts(m, messages[i].start) && messages[i].read(m, out)) return true;
  }
  *out = (ttm_metal_event){0};
  return false;
}

/* circular_buffer_config.cpp, program.cpp, dataflow_buffer.cpp and program_run_args.cpp. */
static const ttm_metal_mistake mistakes[] = {
    {"exceeds max number of circular buffers per core",
     "Use a smaller index: Wormhole has indices 0 to 31, Blackhole 0 to 63"},
    {"must be divisible by page size", "Make the total size a whole number of pages"},
    {"Illegal circular buffer index",
     "Name the index when the config is made (its map, or .index()), before its page size is set"},
    {"is greater than 65535", "Use larger pages or a smaller buffer: it has at most 65,535 pages"},
    {"This is larger than the associated dynamically allocated L1 buffer bank size",
     "Make the buffer smaller, or the tensor's shard larger: a buffer in a tensor cannot exceed the tensor's part on a "
     "core"},
    {"which exceeds the borrowed",
     "Make the buffer smaller, or the tensor's shard larger: a buffer in a tensor cannot exceed the tensor's part on a "
     "core"},
    {"Only L1 buffers can have an associated circular buffer",
     "Put the tensor in L1 before a circular buffer is laid on it"},
    {"requires an L1-resident backing memory", "Put the tensor in L1 before a dataflow buffer is laid on it"},
    {"another circular buffer already exists",
     "Use another index, or one config with both: each index may be created once per core"},
    {"slots this arch supports per core is already taken", "Use fewer dataflow buffers on that core"},
    {"has to append to last L1 region",
     "Create the widest core range first: buffers on overlapping core ranges were created out of order"},
    {"exceeds Tensix unreserved L1 size", "Use fewer or smaller entries: the whole buffer must fit beside the others"},
    {"is larger than max size", "Open the device with a smaller worker_l1_size"},
    {"total number of L1 banks", "Use at most as many shards as the board has worker cores"},
};

const ttm_metal_mistake *ttm_metal_mistake_find(ttm_str sentence) {
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    if (ttm_str_contains(sentence, ttm_str_of(mistakes[i].needle))) return &mistakes[i];
  }
  return NULL;
}
