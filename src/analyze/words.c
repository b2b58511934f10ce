/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/words.h"

ttm_str ttm_words_name(const ttm_profile *p, uint32_t op) { return ttm_profile_string(p, ttm_op_text_of(p, op)->name); }

/* Compiled graph of the program around an operation, or TTM_NONE. */
static uint32_t graph_of(const ttm_profile *p, uint32_t op) {
  uint32_t call = p->ops.at[op].call;
  return call < p->calls.n ? p->calls.at[call].graph : TTM_NONE;
}

ttm_str ttm_words_source(const ttm_profile *p) {
  ttm_str path = ttm_profile_string(p, p->path);
  return ttm_str_eq(path, TTM_LIT("-")) ? TTM_LIT("standard input") : path;
}

/* The weight that a load_cached without a location of its own brings: "@main_const_eval_7" tells nobody anything. */
static ttm_str cached_weight(const ttm_profile *p, uint32_t op) {
  const ttm_op_text *text = ttm_op_text_of(p, op);
  ttm_str location = ttm_profile_string(p, text->location);
  ttm_list args = ttm_profile_weights(p, p->ops.at[op].weights);
  uint32_t graph = graph_of(p, op);
  if (text->kind != TTM_OP_LOAD_CACHED || (location.n && location.p[0] != '@') || !args.n || graph >= p->graphs.n)
    return (ttm_str){NULL, 0};
  uint32_t first = p->lists.at[args.first];
  return ttm_profile_string(p, first < p->graphs.at[graph].args.n ? p->graphs.at[graph].args.at[first].name : 0);
}

ttm_str ttm_words_location(const ttm_profile *p, uint32_t op) {
  ttm_str location = ttm_profile_string(p, ttm_op_text_of(p, op)->location), weight = cached_weight(p, op);
  return weight.n ? weight : location.n ? location : TTM_LIT("N/A");
}

void ttm_words_index(ttm_buf *out, const ttm_findings *f, uint32_t op) {
  uint32_t index = ttm_findings_index(f, op);
  if (index == TTM_NONE) return ttm_buf_char(out, '-');
  ttm_buf_char(out, '#');
  ttm_buf_u64(out, index);
}

/* ---- Ranking ------------------------------------------------------------------------------------------------------ */

/* Puts a row where it belongs among the `n` best; the smallest falls out when the list is full. */
static size_t place(ttm_added *rows, size_t n, ttm_added row) {
  if (n == TTM_TOP && row.effect <= rows[n - 1].effect) return n;
  size_t at = n < TTM_TOP ? n++ : n - 1;
  for (; at && rows[at - 1].effect < row.effect; at--) rows[at] = rows[at - 1];
  rows[at] = row;
  return n;
}

/* The same operation of another run of the same graph has the same text and stands at the same place among those of that text in its
 * run. */
typedef struct occurrences {
  const ttm_profile *p;
  struct {
    uint32_t run, count;
    bool ranked; /* a row has this text */
  } * texts;
} occurrences;

static int occurrences_start(occurrences *o, const ttm_profile *p) {
  *o = (occurrences){p, ttm_alloc((p->texts.n + 1) * sizeof *o->texts)};
  if (!o->texts) return TTM_ENOMEM;
  for (size_t i = 0; i < p->texts.n; i++) o->texts[i].run = TTM_NONE;
  return TTM_OK;
}

/* To be called for every operation of the text in turn. */
static uint32_t occurrence_of(occurrences *o, uint32_t op) {
  uint32_t text = o->p->ops.at[op].text, call = o->p->ops.at[op].call;
  uint32_t run = call < o->p->calls.n ? ttm_call_top(o->p, call) : 0;
  if (o->texts[text].run != run) o->texts[text].run = run, o->texts[text].count = 0;
  return o->texts[text].count++;
}

/* The row of the same operation, or n. Ten rows: a scan beats any index. */
static size_t find_row(const ttm_profile *p, const ttm_added *rows, size_t n, uint32_t op, uint32_t occurrence) {
  uint32_t text = p->ops.at[op].text;
  size_t i = 0;
  while (i < n && (p->ops.at[rows[i].op].text != text || rows[i].occurrence != occurrence ||
                   graph_of(p, rows[i].op) != graph_of(p, op)))
    i++;
  return i;
}

static int count_runs(const ttm_profile *p, ttm_memory memory, ttm_added *rows, size_t n) {
  occurrences seen;
  if (occurrences_start(&seen, p)) return TTM_ENOMEM;
  for (size_t i = 0; i < n; i++) seen.texts[p->ops.at[rows[i].op].text].ranked = true;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    if (!seen.texts[p->ops.at[op].text].ranked) continue;
    size_t i = find_row(p, rows, n, op, occurrence_of(&seen, op));
    int64_t effect;
    if (i < n && ttm_op_effect_whole(p, op, memory, &effect) && effect > 0) rows[i].runs++;
  }
  ttm_free(seen.texts);
  return TTM_OK;
}

int ttm_words_added(const ttm_findings *f, ttm_memory memory, ttm_added rows[TTM_TOP], size_t *n) {
  const ttm_profile *p = f->profile;
  occurrences seen;
  *n = 0;
  if (occurrences_start(&seen, p)) return TTM_ENOMEM;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    int64_t effect;
    if (!ttm_op_is_element(p, op)) continue; /* nor is any other operation of its text */
    uint32_t occurrence = occurrence_of(&seen, op);
    if (p->ops.at[op].flags & TTM_OP_CONST_EVAL) continue; /* its load_cached stands for it */
    if (!ttm_op_effect_whole(p, op, memory, &effect) || effect <= 0) continue;
    if (*n == TTM_TOP && effect <= rows[TTM_TOP - 1].effect) continue;
    size_t same = find_row(p, rows, *n, op, occurrence);
    if (same < *n) {
      if (effect <= rows[same].effect) continue;
      for (--*n; same < *n; same++) rows[same] = rows[same + 1];
    }
    *n = place(rows, *n, (ttm_added){.op = op, .occurrence = occurrence, .effect = effect});
  }
  ttm_free(seen.texts);
  return count_runs(p, memory, rows, *n);
}

/* ---- Words -------------------------------------------------------------------------------------------------------- */

void ttm_words_incident(ttm_buf *out, const ttm_incident *incident) {
  const ttm_incident_text *what = &incident->what;
  const char *buffers = what->dataflow ? "dataflow buffers" : "circular buffers";
  switch (what->kind) {
    case TTM_INCIDENT_OOM:
      ttm_buf_puts(out, "out of memory");
      if (what->memory.n) ttm_buf_puts(out, " in "), ttm_put_text(out, what->memory, 16, TTM_FORM_ASCII);
      break;
    case TTM_INCIDENT_L1_CLASH:
      ttm_buf_printf(out, "%s clash with L1 buffers", buffers);
      break;
    case TTM_INCIDENT_L1_OVERFLOW:
      ttm_buf_printf(out, "%s larger than L1", buffers);
      break;
    case TTM_INCIDENT_FATAL:
      ttm_buf_puts(out, "fatal error");
      break;
  }
}

void ttm_words_incident_title(ttm_buf *out, const ttm_incident *incident) {
  size_t start = out->n;
  ttm_words_incident(out, incident);
  if (!out->failed && out->n > start && out->at[start] >= 'a' && out->at[start] <= 'z')
    out->at[start] = (char)(out->at[start] - 'a' + 'A');
}

void ttm_words_verdict(ttm_buf *out, ttm_verdict verdict) {
  switch (verdict) {
    case TTM_VERDICT_NONE:
      break;
    case TTM_VERDICT_EXHAUSTED:
      ttm_buf_puts(out, "exhausted: less is free than was needed");
      break;
    case TTM_VERDICT_FRAGMENTED:
      ttm_buf_puts(out, "fragmented: enough is free, but no single free block is large enough");
      break;
    case TTM_VERDICT_IMPOSSIBLE:
      ttm_buf_puts(out, "impossible: more than a whole bank holds, even an empty one");
      break;
  }
}

const char *ttm_words_class(const ttm_profile *p, ttm_alive_class class) {
  static const char *const words[TTM_ALIVE_CLASSES] = {"weights",     "const-eval",   "KV cache",    "inputs",
                                                       "activations", "earlier runs", "left by ops", "unaccounted"};
  return class == TTM_ALIVE_ACTIVATION && p->capture.recording.is ? "tensors" : words[class];
}

void ttm_words_type(ttm_buf *out, const ttm_profile *p, uint32_t type, ttm_text_form form) {
  static const char *const buffers[] = {"", " in DRAM", " in L1", " in L1_SMALL", " in TRACE", " on the host"};
  bool told = type < p->types.n && !ttm_str_eq(ttm_profile_string(p, p->types.at[type].text), TTM_LIT("unknown"));
  if (!told) return ttm_buf_puts(out, "of a type that is not told"); /* in captures: no tensor node named the buffer */
  if (!p->types.at[type].is_tensor) return ttm_buf_puts(out, "not a tensor");
  const ttm_tensor_type *t = &p->types.at[type].tensor;
  char shape[256];
  ttm_dims_print(&t->shape, shape, sizeof shape);
  ttm_buf_printf(out, "%s ", *shape ? shape : "scalar");
  ttm_put_text(out, t->has_layout && t->storage.n ? t->storage : t->element, 40, form);
  if (t->has_layout) ttm_buf_printf(out, "%s%s", t->tiled ? ", tiles" : ", row-major", buffers[t->buffer]);
}

const char *ttm_words_lives_unknown(const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  if (ttm_findings_lives_known(f)) return NULL;
  return ttm_words_lives_need(!ttm_profile_frees_known(p), p->kind == TTM_LOG_CAPTURE, p->kind == TTM_LOG_LIVE);
}

const char *ttm_words_lives_need(bool rough, bool capture, bool live) {
  if (rough) return "the files of this report do not hold the frees; analyse the log itself";
  if (live) return "samples tell sums, not single tensors";
  return capture ? "it shows no DRAM state" : "it takes operation lines, memory states and deallocations";
}

ttm_basis ttm_words_state_basis(const ttm_profile *p) {
  return p->kind == TTM_LOG_CAPTURE ? TTM_DERIVED : TTM_MEASURED;
}

bool ttm_words_has_runs(const ttm_profile *p) { return p->kind != TTM_LOG_CAPTURE && p->kind != TTM_LOG_LIVE; }

const char *ttm_words_kind(const ttm_profile *p) {
  switch (p->kind) {
    case TTM_LOG_FULL:
      return "operation lines and memory states";
    case TTM_LOG_BLOCKS:
      return "memory states without operation lines";
    case TTM_LOG_OPS:
      return p->states.n ? "operation lines, memory states only around programs"
                         : "operation lines without memory states";
    case TTM_LOG_SUBMIT:
      return "memory states around programs only";
    case TTM_LOG_INCIDENTS:
      return "error messages only";
    case TTM_LOG_CAPTURE:
      if (p->capture.recording.is)
        return p->capture.recording.board
                   ? "a recording of a ttnn program on a mock board: its own allocator, no hardware"
                   : "a recording of what a program allocated with ttnn";
      return p->capture.normal ? "ttnn graph capture (NORMAL), memory states derived from its nodes"
                               : "ttnn graph capture (NO_DISPATCH), memory states derived from its nodes";
    case TTM_LOG_LIVE:
      return "samples of what processes hold, recorded by ttmem live";
    case TTM_LOG_NONE:
      break;
  }
  return "nothing to report on";
}

const char *ttm_words_missing(const ttm_profile *p) {
  static const char around_only[] =
      "Memory states stand only before and after whole programs, so the operation that raised the memory cannot be "
      "told. Run with TT_RUNTIME_MEMORY_LOG_LEVEL=operation to get one per operation.";
  switch (p->kind) {
    case TTM_LOG_BLOCKS:
      return "The log has no operation lines, so operations are named by their type; locations, shapes and padding are "
             "unknown. Run with TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG to get them.";
    case TTM_LOG_OPS:
      if (p->states.n) return around_only;
      return "The log has no memory states, so no peak or effect is known. Run a build with TT_RUNTIME_DEBUG=ON and "
             "TT_RUNTIME_MEMORY_LOG_LEVEL=operation to get them.";
    case TTM_LOG_SUBMIT:
      return around_only;
    case TTM_LOG_INCIDENTS:
      return "The log holds error messages but neither operations nor memory states. Run a build with "
             "TT_RUNTIME_DEBUG=ON, TT_RUNTIME_MEMORY_LOG_LEVEL=operation and TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG to get "
             "them.";
    case TTM_LOG_CAPTURE:
      if (p->capture.recording.is) return NULL;
      return "A capture is a window on the device: buffers from before it are only known where it uses or frees them, "
             "and nothing tells how the free memory is cut up. 'ttmem graph' shows the buffers of programs as well.";
    case TTM_LOG_LIVE:
      return "A recording is samples: what came and went between two of them is not in it, nor which tensor it was, "
             "nor "
             "how the free memory is cut up. Sizes are logical, without the padding of pages to banks. Circular "
             "buffers are in the attributes of each operation.";
    case TTM_LOG_FULL:
    case TTM_LOG_NONE:
      break;
  }
  return NULL;
}

uint64_t ttm_words_not_understood(const ttm_seen *seen) {
  return seen->bad_op_lines + seen->bad_blocks + seen->unpaired;
}
