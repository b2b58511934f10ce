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

uint32_t ttm_words_weight(const ttm_profile *p, uint32_t op) {
  const ttm_op_text *text = ttm_op_text_of(p, op);
  if (text->kind != TTM_OP_LOAD_CACHED) return 0;
  ttm_str location = ttm_profile_string(p, text->location);
  ttm_list args = ttm_profile_weights(p, p->ops.at[op].weights);
  uint32_t graph = graph_of(p, op);
  if ((location.n && location.p[0] != '@') || !args.n || graph >= p->graphs.n) return 0;
  uint32_t first = p->lists.at[args.first];
  return first < p->graphs.at[graph].args.n ? p->graphs.at[graph].args.at[first].name : 0;
}

ttm_str ttm_words_location(const ttm_profile *p, uint32_t op) {
  uint32_t weight = ttm_words_weight(p, op);
  ttm_str location = ttm_profile_string(p, weight ? weight : ttm_op_text_of(p, op)->location);
  return location.n ? location : TTM_LIT("N/A");
}

bool ttm_words_source_place(ttm_str place, ttm_str *file, uint32_t *line) {
  size_t end = place.n;
  uint64_t number;
  while (end && ttm_is_digit(place.p[end - 1])) end--;
  ttm_str digits = ttm_str_from(place, end);
  if (end < 2 || place.p[end - 1] != ':' || !ttm_str_take_u64(&digits, &number) || number > UINT32_MAX) return false;
  *file = ttm_str_first(place, end - 1);
  *line = (uint32_t)number;
  return true;
}

void ttm_words_index(ttm_buf *out, const ttm_findings *f, uint32_t op) {
  uint32_t index = ttm_findings_index(f, op);
  if (index == TTM_NONE) return ttm_buf_char(out, '-');
  ttm_buf_char(out, '#');
  ttm_buf_u64(out, index);
}

/* ---- Words -------------------------------------------------------------------------------------------------------- */

const char *ttm_words_class(const ttm_profile *p, ttm_alive_class class) {
  static const char *const words[TTM_ALIVE_CLASSES] = {"weights",     "const-eval",   "KV cache",   "inputs",
                                                       "activations", "earlier runs", "operations", "unattributed"};
  return class == TTM_ALIVE_SEMAPHORE && p->capture.recording.is ? "semaphores" : words[class];
}

void ttm_words_type(ttm_buf *out, const ttm_profile *p, uint32_t type, ttm_text_form form) {
  static const char *const buffers[] = {"", " in DRAM", " in L1", " in L1_SMALL", " in TRACE", " on the host"};
  bool told = type < p->types.n && !ttm_str_eq(ttm_profile_string(p, p->types.at[type].text), TTM_LIT("unknown"));
  if (!told) return ttm_buf_puts(out, "of unknown type"); /* in captures: no tensor node named the buffer */
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
  if (live) return "samples hold sums, not single tensors";
  return capture ? "no DRAM state is in it" : "operation lines, memory states and deallocations are needed";
}

ttm_basis ttm_words_state_basis(const ttm_profile *p, uint32_t state) {
  if (ttm_state_is_predicted(p, state)) return TTM_PREDICTED;
  return p->kind == TTM_LOG_CAPTURE ? TTM_DERIVED : TTM_MEASURED;
}

const char *ttm_words_rank(const ttm_profile *p) { return ttm_words_has_runs(p) ? "rank" : "device"; }

bool ttm_words_has_runs(const ttm_profile *p) { return p->kind != TTM_LOG_CAPTURE && p->kind != TTM_LOG_LIVE; }

const char *ttm_words_at_least(const ttm_profile *p) {
  if (p->seen.damage) return "A lower bound: the input is damaged, and what follows the damage is not in it.";
  if (p->seen.bad_blocks) return "A lower bound: memory lines could not be read.";
  if (p->seen.holes) return "A lower bound: lines of the log are missing.";
  return ttm_profile_is_window(p) ? ttm_words_window(p) : NULL;
}

const char *ttm_words_window(const ttm_profile *p) {
  if (p->capture.buffers_missing)
    return "A lower bound: buffers from before the capture are in a report only with enable_detailed_buffer_report.";
  return p->capture.recording.is
             ? "A lower bound: operations went unrecorded."
             : "A lower bound: a graph capture is a window, and tensors from before it are only in it "
               "where it uses or frees them.";
}

const char *ttm_words_kind(const ttm_profile *p) {
  if (p->predicted) return "predicted from the TTNN module: nothing of it was measured";
  if (p->filled && !p->seen.op_lines)
    return "memory states around programs; operations, and the states between, predicted from the TTNN module";
  if (p->filled && p->seen.blocks)
    return "operation lines, memory states around programs; the states between predicted from the TTNN module";
  if (p->filled) return "operation lines; memory states predicted from the TTNN module";
  switch (p->kind) {
    case TTM_LOG_FULL:
      if (p->after_ops) return "memory report of tt-mlir: memory states and block tables behind every operation";
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
      if (p->capture.schema) return "a report of ttnn-visualizer: operations, and the buffers allocated after each";
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
      "Memory states stand only before and after whole programs, so the operation that raised the memory is "
      "unknown. Run with TT_RUNTIME_MEMORY_LOG_LEVEL=operation to get one per operation.";
  if (p->predicted)
    return "Operations, types and frees are the module's, memory states follow from the rules of ttnn's allocator. "
           "Kernels and "
           "circular buffers are not in them.";
  if (p->filled)
    return "What the log has of operations and memory states is measured. The memory before each operation is "
           "predicted: what the rules of ttnn's allocator give for the module, corrected by the states of the log. Run "
           "with TT_RUNTIME_MEMORY_LOG_LEVEL=operation and TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG to measure it.";
  switch (p->kind) {
    case TTM_LOG_BLOCKS:
      return "The log has no operation lines, so operations are named by their type; locations, shapes and padding are "
             "unknown. Run with TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG to get them.";
    case TTM_LOG_OPS:
      if (p->states.n) return around_only;
      return "The log has no memory states, so peaks and deltas are unknown. Run a build with TT_RUNTIME_DEBUG=ON and "
             "TT_RUNTIME_MEMORY_LOG_LEVEL=operation to get them.";
    case TTM_LOG_SUBMIT:
      return around_only;
    case TTM_LOG_INCIDENTS:
      return "The log holds error messages but neither operations nor memory states. Run a build with "
             "TT_RUNTIME_DEBUG=ON, TT_RUNTIME_MEMORY_LOG_LEVEL=operation and TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG to get "
             "them.";
    case TTM_LOG_CAPTURE:
      if (p->capture.schema)
        return "It does not tell the size of DRAM: capacity is that of the board, without a trace region. Dataflow "
               "buffers, "
               "and circular buffers of programs from the cache, are in it only where an equal program has them.";
      if (p->capture.recording.is) return NULL;
      return "Buffers from before the capture are only known where it uses or frees them, and the largest free block "
             "is "
             "unknown. 'ttmem graph' shows the buffers of programs as well.";
    case TTM_LOG_LIVE:
      return "Samples hold sums: single tensors, the largest free block and what happened between two samples are "
             "unknown. "
             "Sizes are logical, without the padding of pages to banks. Circular buffers are in the attributes of each "
             "operation.";
    case TTM_LOG_FULL:
    case TTM_LOG_NONE:
      break;
  }
  return NULL;
}

/* "; 3 lines not understood"; nothing for none. */
static void put_gap(ttm_buf *out, uint64_t n, const char *noun, const char *words) {
  if (!n) return;
  ttm_buf_puts(out, "; ");
  ttm_put_counted(out, n, noun);
  ttm_buf_puts(out, words);
}

static void put_recording_gaps(ttm_buf *out, const ttm_recording *r, bool died) {
  if (r->given_up) ttm_buf_puts(out, "; the recording ends before the program");
  put_gap(out, r->lost, "operation", " without memory");
  put_gap(out, r->elsewhere, "operation", " not recorded");
  if (!r->ended && !died) ttm_buf_puts(out, "; the recording has no end");
}

bool ttm_words_partial(ttm_buf *out, const ttm_profile *p) {
  const ttm_seen *seen = &p->seen;
  const ttm_capture *c = &p->capture;
  uint64_t unread = ttm_words_not_understood(seen) + c->bad_nodes, torn = seen->cut;
  bool died = p->incidents.n && !p->predicted; /* an end torn by that is no loss */
  ttm_buf all = {0};
  if (seen->damage) ttm_buf_puts(&all, "; "), ttm_buf_puts(&all, seen->damage);
  if (seen->cut && !seen->damage && !died && !seen->partial)
    ttm_buf_puts(&all, "; it ends inside a line, a block or a node");
  put_gap(&all, unread > torn ? unread : 0, c->nodes ? "node" : "line", " not understood");
  put_gap(&all, unread ? 0 : seen->holes, "place", " where lines are missing");
  put_gap(&all, died ? 0 : seen->unfinished, "program run", " without an end");
  bool numbered = c->ordered || c->recording.is || !c->nodes; /* recordings leave nodes out */
  if (!numbered && !unread && !seen->cut) ttm_buf_puts(&all, "; its nodes are not numbered 0, 1, 2, ...");
  if (c->recording.is) put_recording_gaps(&all, &c->recording, died);
  if (seen->partial) ttm_buf_puts(&all, "; "), ttm_buf_put(&all, ttm_profile_string(p, seen->partial));
  bool partial = all.n > 0;
  if (partial) ttm_buf_put(out, ttm_str_from(ttm_buf_str(&all), 2));
  out->failed |= all.failed;
  ttm_buf_free(&all);
  return partial;
}

uint64_t ttm_words_not_understood(const ttm_seen *seen) {
  return seen->bad_op_lines + seen->bad_blocks + seen->unpaired;
}
