/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/ask.h"

#include <stdlib.h>

#include "analyze/say.h"
#include "analyze/words.h"
#include "base/error.h"
#include "report/run/statements.h"

enum { SHOWN_ROWS = 40, SHOWN_BLOCKS = 10, SHOWN_TENSORS = 40, SHOWN_NAME = 60, SHOWN_TEXT = 400 };

/* Ends a row of the answer: what `words` holds, behind its label. */
static void put(const ttm_ask *a, const char *label, ttm_buf *words) {
  ttm_doc_labelled(a->doc, label, TTM_DOC_PLAIN, ttm_buf_str(words));
  a->doc->out->failed |= words->failed;
  ttm_buf_free(words);
}

static void note_operation(const ttm_ask *a, uint32_t op) {
  if (a->rows && ttm_vec_push(&a->rows->operations, op)) a->doc->out->failed = true;
}

static void note_tensor(const ttm_ask *a, uint32_t tensor) {
  if (a->rows && ttm_vec_push(&a->rows->tensors, tensor)) a->doc->out->failed = true;
}

static int finish(const ttm_ask *a, ttm_error *err) { return a->doc->out->failed ? ttm_error_nomem(err) : TTM_OK; }

/* ---- One operation ---------------------------------------------------------------------------------------------------- */

static uint64_t bank_bytes(const ttm_profile *p, uint32_t type, uint32_t op) {
  if (type >= p->types.n || !p->types.at[type].is_tensor || !p->types.at[type].tensor.has_layout) return 0;
  const ttm_tensor_type *t = &p->types.at[type].tensor;
  ttm_level level;
  ttm_memory memory = t->buffer == TTM_BUFFER_L1 ? TTM_L1 : TTM_DRAM;
  if (!ttm_op_config(p, op, memory, &level)) return 0;
  return ttm_tensor_bank_bytes(t, level.banks, ttm_op_alignment(p, op));
}

/* "1x96x256 bf16, tiles in DRAM, 0.021 MB per bank (derived)", on the device that the operation ran on. */
static void say_type(const ttm_ask *a, uint32_t type, uint32_t op, ttm_buf *out) {
  uint64_t bytes = bank_bytes(a->f->profile, type, op);
  ttm_words_type(out, a->f->profile, type, TTM_FORM_UTF8);
  if (bytes) ttm_say(out, a->f, ", {} per bank (derived)", TTM_MB_OF(bytes));
}

/* The same; "last used by #14 ..., freed in log line 90". */
static void say_tensor(const ttm_ask *a, uint32_t tensor, ttm_buf *out) {
  const ttm_profile *p = a->f->profile;
  uint32_t self = p->tensors.at[tensor].self; /* what a load_cached hands out lived before it */
  const ttm_tensor *row = &p->tensors.at[self < p->tensors.n ? self : tensor];
  say_type(a, ttm_tensor_type_id(p, tensor), p->tensors.at[tensor].birth, out);
  if (row->last_use != row->birth && row->last_use < p->ops.n)
    ttm_say(out, a->f, "; last used by {}", TTM_OP(row->last_use));
  else
    ttm_buf_puts(out,
                 p->kind == TTM_LOG_CAPTURE ? "; no later use is in this capture" : "; not used by a later operation");
  if (row->freed_by < p->ops.n)
    ttm_say(out, a->f, "; freed in log line {}", TTM_LINE(p->ops.at[row->freed_by].line));
  else
    ttm_buf_puts(out, "; never freed by the program");
}

static void put_memory(const ttm_ask *a, uint32_t op, ttm_memory m) {
  const ttm_profile *p = a->f->profile;
  uint32_t state = p->ops.at[op].state, inside;
  ttm_level level;
  int64_t effect;
  ttm_buf words = {0};
  if (state == TTM_NONE || !ttm_state_level(p, state, m, &level)) return;
  uint32_t above = ttm_op_inside(p, op, m, &inside);
  bool known = ttm_op_effect_whole(p, op, m, &effect);
  if (m > TTM_DRAM && !level.allocated && !effect) return;
  if (known)
    ttm_say(&words, a->f, "delta {} ({}), ", TTM_CHANGE(effect),
            TTM_WORDS(ttm_state_is_predicted(p, state) ? "predicted" : "derived"));
  else
    ttm_say(&words, a->f, "delta unknown: {}; ", TTM_WORDS(ttm_op_effect_unknown(p, op, m)));
  ttm_say(&words, a->f, "{}{} per bank before ({}, log line {})", TTM_WORDS(ttm_profile_is_window(p) ? "≥ " : ""),
          TTM_MB_OF((uint64_t)level.allocated * 1048576 / 1000),
          TTM_WORDS(ttm_basis_name(ttm_words_state_basis(p, state))), TTM_LINE(p->states.at[state].line));
  if (ttm_blocks_known(p))
    ttm_say(&words, a->f, ", largest free block {}", TTM_MB_OF((uint64_t)level.largest * 1048576 / 1000));
  if (inside)
    ttm_say(&words, a->f, "; {} of const-eval inside, up to {}", TTM_PLURAL(inside, "operation"), TTM_CHANGE(above));
  put(a, ttm_memory_name(m), &words);
}

/* For the next one of several words. */
static ttm_buf *further(ttm_buf *words) {
  if (words->n) ttm_buf_puts(words, ", ");
  return words;
}

/* Captures, recordings and parts of a log have no programs. */
static void put_program(const ttm_ask *a, const ttm_op *row) {
  const ttm_profile *p = a->f->profile;
  ttm_buf words = {0};
  if (row->call >= p->calls.n) return;
  const ttm_call *call = &p->calls.at[row->call];
  if (call->name) ttm_say(&words, a->f, "{}", TTM_TEXT(ttm_profile_string(p, call->name)));
  if (ttm_words_has_runs(p)) ttm_say(further(&words), a->f, "run {}", TTM_LINE(call->run));
  if (p->ranks.n > 1)
    ttm_say(further(&words), a->f, "{} {}", TTM_WORDS(ttm_words_rank(p)), TTM_LINE(p->ranks.at[call->rank]));
  if (row->flags & TTM_OP_CACHE_HIT) ttm_buf_puts(further(&words), "answered from the cache");
  if (row->flags & TTM_OP_FAILED) ttm_buf_puts(further(&words), "failed here");
  if (words.n || words.failed) put(a, call->name ? "program" : "where", &words);
}

static void put_inputs(const ttm_ask *a, const ttm_op_text *t) {
  const ttm_profile *p = a->f->profile;
  /* A symbol, such as the function of a load_cached, stands before the operands and has no type. */
  uint32_t symbols = t->operands.n > t->inputs.n ? t->operands.n - t->inputs.n : 0;
  for (uint32_t i = 0; i < t->inputs.n; i++) {
    char scratch[TTM_VALUE_CHARS];
    ttm_buf words = {0};
    if (symbols + i < t->operands.n)
      ttm_say(&words, a->f,
              "{}: ", TTM_TEXT(ttm_value_print(p, p->lists.at[t->operands.first + symbols + i], scratch)));
    ttm_words_type(&words, p, p->lists.at[t->inputs.first + i], TTM_FORM_UTF8);
    put(a, i ? "" : "inputs", &words);
  }
}

static void put_argument(const ttm_ask *a, const ttm_registry_entry *entry) {
  const ttm_graph_arg *arg = &a->f->profile->graphs.at[entry->graph].args.at[entry->arg];
  ttm_buf words = {0};
  ttm_say(&words, a->f, "{}: ", TTM_TEXT(ttm_profile_string(a->f->profile, arg->name)));
  ttm_words_type(&words, a->f->profile, arg->local_type, TTM_FORM_UTF8);
  ttm_say(&words, a->f, ", logical size {} per device", TTM_BYTES(entry->bytes));
  put(a, entry->weight ? "weight" : "input", &words);
}

/* The weights and inputs of the model behind the operation's inputs. */
static void put_arguments(const ttm_ask *a, const ttm_op *row) {
  const ttm_profile *p = a->f->profile;
  ttm_list args = ttm_profile_weights(p, row->weights);
  for (uint32_t i = 0; i < args.n; i++) {
    uint32_t entry = ttm_registry_find(&a->f->registry, p, row->call, p->lists.at[args.first + i]);
    if (entry != TTM_NONE) put_argument(a, &a->f->registry.entries.at[entry]);
  }
}

/* What a row of the answer may be too short for; `most` columns otherwise. */
/* What the profiler's CSV beside the input has of it. */
static void put_time(const ttm_ask *a, uint32_t op) {
  const ttm_timed_op *timed = ttm_device_time_of(&a->f->time, op);
  ttm_buf words = {0};
  if (!timed) return;
  ttm_say(&words, a->f, "{} on the device, {} of that of all", TTM_NS(timed->ns), TTM_SHARE(timed->ns, a->f->time.ns));
  ttm_say_bound(&words, a->f, timed->bound, timed->ideal_pct);
  put(a, "time", &words);
}

static void put_text(const ttm_ask *a, const char *label, ttm_str text, size_t most) {
  ttm_buf words = {0};
  ttm_put_text(&words, text, a->whole ? SIZE_MAX : most, TTM_FORM_UTF8);
  put(a, label, &words);
}

void ttm_ask_operation(const ttm_ask *a, uint32_t op) {
  const ttm_profile *p = a->f->profile;
  const ttm_op *row = &p->ops.at[op];
  const ttm_op_text *t = ttm_op_text_of(p, op);
  ttm_buf words = {0};
  note_operation(a, op);
  ttm_say(&words, a->f, "{}", TTM_OP(op));
  put(a, "operation", &words);
  if (a->whole && ttm_text_columns(ttm_words_location(p, op)) > SHOWN_NAME) /* as far as the row above goes */
    put_text(a, "location", ttm_words_location(p, op), SHOWN_TEXT);
  put_program(a, row);
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) put_memory(a, op, m);
  put_time(a, op);
  put_inputs(a, t);
  put_arguments(a, row);
  for (uint32_t k = 0; k < t->outputs.n; k++) { /* one that failed has made none */
    if (row->tensor != TTM_NONE && row->tensor + k < p->tensors.n)
      say_tensor(a, row->tensor + k, &words), note_tensor(a, row->tensor + k);
    else
      say_type(a, p->lists.at[t->outputs.first + k], op, &words);
    put(a, k ? "" : "outputs", &words);
  }
  if (t->has_attributes) put_text(a, "attributes", ttm_profile_string(p, t->attributes), SHOWN_TEXT);
}

int ttm_ask_op(const ttm_ask *a, uint32_t index, ttm_error *err) {
  uint32_t op = ttm_findings_op(a->f, index);
  if (op == TTM_NONE)
    return ttm_error_set(err, TTM_ENODATA, "there is no operation %u: the log has %u, counted from 0", index,
                         a->f->elements);
  ttm_ask_operation(a, op);
  return finish(a, err);
}

/* ---- Tensors ------------------------------------------------------------------------------------------------------------ */

static bool matches(ttm_str have, ttm_str name, bool whole) {
  return whole ? ttm_str_like(have, name) : ttm_str_contains(have, name);
}

static uint32_t put_weights(const ttm_ask *a, ttm_str name, bool whole) {
  const ttm_profile *p = a->f->profile;
  uint32_t n = 0;
  for (size_t i = 0; i < a->f->registry.entries.n; i++) {
    const ttm_registry_entry *entry = &a->f->registry.entries.at[i];
    const ttm_graph_arg *arg = &p->graphs.at[entry->graph].args.at[entry->arg];
    if (entry->repeated || !matches(ttm_profile_string(p, arg->name), name, whole) ||
        n++ >= ttm_doc_most(a->doc, SHOWN_TENSORS))
      continue;
    put_argument(a, entry);
  }
  return n;
}

static void put_alive(const ttm_ask *a, ttm_str name, bool whole) {
  const ttm_alive_set *set = &a->f->alive_set[TTM_DRAM];
  for (size_t i = 0; set->known && i < set->rows.n; i++) {
    const ttm_alive_row *row = &set->rows.at[i];
    ttm_buf words = {0};
    if (!row->name || !matches(ttm_profile_string(a->f->profile, row->name), name, whole)) continue;
    ttm_say(&words, a->f, "{} per bank in {}, made by ", TTM_MB_OF(row->bank_bytes),
            TTM_PLURAL(row->tensors, "tensor"));
    if (row->op == TTM_NONE)
      ttm_buf_puts(&words, "the host");
    else
      ttm_say(&words, a->f, "{}", TTM_OP(row->op));
    put(a, "at peak", &words);
  }
}

/* Results of operations at a location, the first run's of each text. */
static uint32_t put_results(const ttm_ask *a, ttm_str name, bool whole) {
  const ttm_profile *p = a->f->profile;
  uint64_t *seen = ttm_alloc((p->texts.n / 64 + 1) * sizeof *seen);
  uint32_t n = 0;
  if (!seen) return a->doc->out->failed = true, 0;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    uint32_t id = p->ops.at[op].text;
    const ttm_op_text *t = &p->texts.at[id];
    if (!ttm_op_is_element(p, op) || seen[id / 64] >> (id % 64) & 1 || p->ops.at[op].tensor == TTM_NONE ||
        !t->outputs.n)
      continue;
    seen[id / 64] |= UINT64_C(1) << (id % 64);
    if (!matches(ttm_profile_string(p, t->location), name, whole) || n++ >= ttm_doc_most(a->doc, SHOWN_TENSORS))
      continue;
    ttm_buf words = {0};
    ttm_say(&words, a->f, "of {}: ", TTM_OP(op));
    say_tensor(a, p->ops.at[op].tensor, &words);
    note_tensor(a, p->ops.at[op].tensor);
    put(a, "result", &words);
  }
  ttm_free(seen);
  return n;
}

int ttm_ask_tensor(const ttm_ask *a, ttm_str name, ttm_error *err) {
  for (int whole = 1; whole >= 0; whole--) {
    uint32_t weights = put_weights(a, name, whole);
    if (weights) put_alive(a, name, whole);
    uint32_t results = put_results(a, name, whole);
    uint32_t more = (weights > SHOWN_TENSORS ? weights - SHOWN_TENSORS : 0) +
                    (results > SHOWN_TENSORS ? results - SHOWN_TENSORS : 0);
    if (more && !ttm_doc_is_data(a->doc)) ttm_doc_line(a->doc, "and %u more", more);
    if (weights + results || a->doc->out->failed) return finish(a, err);
  }
  return ttm_error_set(err, TTM_ENODATA, "no weight and no location is called '%.*s' or contains it",
                       (int)(name.n < 200 ? name.n : 200), name.p);
}

/* ---- Ranges and the peak ------------------------------------------------------------------------------------------------ */

/* What operations did together, as their rows show it: the program inside a load_cached counts with that one. */
typedef struct range_sum {
  int64_t effect;
  uint32_t unknown;
  uint32_t counted; /* operations before this one are inside a load_cached that was counted */
  uint32_t rank;    /* of the first one */
  bool several;     /* ranks: megabytes per bank of different chips are no sum */
  uint32_t highest, line;
} range_sum;

static void add_to_sum(range_sum *sum, const ttm_profile *p, uint32_t op) {
  int64_t effect;
  ttm_level level;
  uint32_t call = p->ops.at[op].call, rank = call < p->calls.n ? p->calls.at[call].rank : 0,
           state = p->ops.at[op].state;
  if (sum->rank == TTM_NONE) sum->rank = rank;
  sum->several |= sum->rank != rank;
  if (state != TTM_NONE && ttm_state_level(p, state, TTM_DRAM, &level) && level.allocated > sum->highest)
    sum->highest = level.allocated, sum->line = p->states.at[state].line;
  if (op < sum->counted) return;
  uint32_t program = ttm_op_program(p, op);
  if (program != TTM_NONE) sum->counted = p->calls.at[program].last_op + 1;
  if (ttm_op_effect_whole(p, op, TTM_DRAM, &effect))
    sum->effect += effect;
  else
    sum->unknown++;
}

static double banks_of(const ttm_ask *a) {
  ttm_level level;
  return a->per_chip && ttm_profile_config(a->f->profile, TTM_DRAM, &level) && level.banks ? level.banks : 1;
}

static void cell_mb(const ttm_ask *a, bool known, double mb, bool sign) {
  if (!known)
    ttm_doc_cell(a->doc, "unknown");
  else
    (sign ? ttm_doc_cell_change : ttm_doc_cell_mb)(a->doc, mb * banks_of(a));
}

static void put_range_row(const ttm_ask *a, uint32_t op) {
  const ttm_profile *p = a->f->profile;
  ttm_level level = {0};
  int64_t effect;
  bool known = p->ops.at[op].state != TTM_NONE && ttm_state_level(p, p->ops.at[op].state, TTM_DRAM, &level);
  ttm_doc_cell(a->doc, "%u", ttm_findings_index(a->f, op));
  cell_mb(a, known, ttm_mb(level.allocated), false);
  known = ttm_op_effect_whole(p, op, TTM_DRAM, &effect);
  cell_mb(a, known, ttm_mb(effect), true);
  ttm_doc_cell_text(a->doc, ttm_words_name(p, op));
  ttm_doc_cell_text(a->doc, ttm_words_location(p, op));
  ttm_doc_cell(a->doc, "%u", p->ops.at[op].line);
  const ttm_timed_op *timed = ttm_device_time_of(&a->f->time, op);
  const char *bound = timed ? ttm_bound_name(timed->bound) : NULL;
  if (!a->f->time.given) return;
  timed ? ttm_doc_cell(a->doc, "%.3f", (double)timed->ns / 1e6) : ttm_doc_cell(a->doc, "unknown");
  ttm_doc_cell(a->doc, "%s", bound ? bound : "unknown");
}

static void put_sum(const ttm_ask *a, const range_sum *sum) {
  ttm_buf words = {0};
  if (!sum->several) {
    ttm_say(&words, a->f, "together {} per bank, deallocations between them included ({})", TTM_CHANGE(sum->effect),
            TTM_WORDS(ttm_state_is_predicted(a->f->profile, TTM_NONE) ? "predicted" : "derived"));
    if (sum->unknown) ttm_say(&words, a->f, "; unknown of {}", TTM_PLURAL(sum->unknown, "operation"));
    put(a, "delta", &words);
  }
  if (!sum->line) return;
  ttm_say(&words, a->f, "{} per bank before log line {} ({})", TTM_MB_OF((uint64_t)sum->highest * 1048576 / 1000),
          TTM_LINE(sum->line), TTM_WORDS(ttm_basis_name(ttm_words_state_basis(a->f->profile, TTM_NONE))));
  put(a, "highest", &words);
}

static void begin_range(const ttm_ask *a) {
  static const char *const heads[] = {">Op#",     ">Before",   ">Delta",     "Operation",
                                      "Location", ">Log line", ">Device ms", "Bound"};
  size_t n = sizeof heads / sizeof *heads;
  ttm_doc_line(a->doc, "DRAM before each operation and its delta, MB per %s", a->per_chip ? "chip" : "bank");
  ttm_doc_table(a->doc, heads, a->f->time.given ? n : n - 2);
}

static bool is_called(const ttm_profile *p, uint32_t op, ttm_str name, bool whole) {
  return matches(ttm_words_name(p, op), name, whole) || matches(ttm_words_location(p, op), name, whole);
}

static uint32_t put_called(const ttm_ask *a, ttm_str name, bool whole) {
  const ttm_profile *p = a->f->profile;
  size_t most = ttm_doc_most(a->doc, SHOWN_ROWS);
  uint32_t n = 0;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    if (!ttm_op_is_element(p, op) || !is_called(p, op, name, whole)) continue;
    if (!n) begin_range(a);
    note_operation(a, op);
    if (n++ < most) put_range_row(a, op);
  }
  if (!n) return 0;
  ttm_doc_table_end(a->doc);
  if (n > most) ttm_doc_line(a->doc, "and %u more operations", n - SHOWN_ROWS);
  return n;
}

int ttm_ask_find(const ttm_ask *a, ttm_str name, ttm_error *err) {
  if (put_called(a, name, true) || put_called(a, name, false)) return finish(a, err);
  return ttm_error_set(err, TTM_ENODATA, "no operation and no location is called '%.*s' or contains it",
                       (int)(name.n < 200 ? name.n : 200), name.p);
}

int ttm_ask_range(const ttm_ask *a, uint32_t first, uint32_t last, ttm_error *err) {
  const ttm_findings *f = a->f;
  range_sum sum = {.rank = TTM_NONE};
  uint32_t from = ttm_findings_op(f, first), to, shown = 0;
  size_t most = ttm_doc_most(a->doc, SHOWN_ROWS);
  if (from == TTM_NONE || last < first)
    return ttm_error_set(err, TTM_ENODATA, "there are no operations %u-%u: the log has %u, counted from 0", first, last,
                         f->elements);
  to = last < f->elements ? ttm_findings_op(f, last) : (uint32_t)f->profile->ops.n - 1;
  begin_range(a);
  for (uint32_t op = from; op <= to; op++) {
    add_to_sum(&sum, f->profile, op);
    note_operation(a, op);
    if (ttm_op_is_element(f->profile, op) && shown++ < most) put_range_row(a, op);
  }
  ttm_doc_table_end(a->doc);
  if (shown > most) ttm_doc_line(a->doc, "and %u more operations", shown - SHOWN_ROWS);
  put_sum(a, &sum);
  return finish(a, err);
}

static void put_group(const ttm_ask *a, const ttm_alive_set *set, const ttm_alive_group *group) {
  const ttm_profile *p = a->f->profile;
  const ttm_alive_row *row = group->row < set->rows.n ? &set->rows.at[group->row] : NULL;
  ttm_buf name = {0}, type = {0}, maker = {0};
  cell_mb(a, true, ttm_mib(group->bank_bytes), false);
  ttm_doc_cell(a->doc, "%s%s", ttm_words_class(p, group->class), group->guess ? " (estimated)" : "");
  ttm_buf_put(&name, group->name);
  if (group->tensors > 1) ttm_buf_printf(&name, "%s×%u", name.n ? " " : "", group->tensors);
  if (row && row->type != TTM_NONE && p->types.at[row->type].is_tensor) {
    char shape[128];
    ttm_dims_print(&p->types.at[row->type].tensor.shape, shape, sizeof shape);
    ttm_say(&type, a->f, "{} {}", TTM_WORDS(shape), TTM_TEXT(p->types.at[row->type].tensor.storage));
  }
  if (group->op != TTM_NONE) ttm_words_index(&maker, a->f, group->op);
  ttm_doc_cell_text(a->doc, ttm_buf_str(&name));
  ttm_doc_cell_text(a->doc, ttm_buf_str(&type));
  ttm_doc_cell_text(a->doc, ttm_buf_str(&maker));
  ttm_buf_free(&name);
  ttm_buf_free(&type);
  ttm_buf_free(&maker);
}

/* What was alive in a memory: the statements that say how much, then the tensors. */
static void put_set(const ttm_ask *a, const ttm_statements *statements, const char *level, const ttm_alive_set *set) {
  const char *const heads[] = {a->per_chip ? ">MB per chip" : ">MB per bank", "Class", "Name", "Tensor", ">Made by"};
  const char *const ids[] = {level, set->memory == TTM_L1 ? "alive.l1" : "alive.dram"};
  for (int k = 0; k < 2; k++) {
    const ttm_statement *s = ttm_statements_find(statements, ids[k], 0);
    bool whole = k || statements != &a->f->statements; /* --findings has the peak's own details */
    if (s)
      ttm_doc_line(a->doc, "%.*s.%s%.*s", TTM_ARGS(s->headline), whole && s->detail.n ? " " : "",
                   TTM_ARGS(whole ? s->detail : ttm_str_first(s->detail, 0)));
  }
  size_t shown = ttm_doc_most(a->doc, SHOWN_ROWS);
  if (!set->groups.n) return;
  ttm_doc_table(a->doc, heads, sizeof heads / sizeof *heads);
  for (size_t i = 0; i < set->groups.n && i < shown; i++) put_group(a, set, &set->groups.at[i]);
  ttm_doc_table_end(a->doc);
  uint64_t more = set->other_groups + (set->groups.n > shown ? set->groups.n - shown : 0);
  if (more) ttm_doc_line(a->doc, "and %llu smaller rows", (unsigned long long)more);
}

/* What was said of live tensors; NULL when they were unknown even then. The files of a report have the words without the tensors. */
static const ttm_statement *said_alive(const ttm_ask *a) {
  const ttm_statement *s = ttm_statements_first(&a->f->statements, TTM_TOPIC_ALIVE);
  return s && s->severity != TTM_SEVERITY_UNKNOWN ? s : NULL;
}

static int lives_unknown(const ttm_ask *a, ttm_error *err) {
  const ttm_statement *alive = ttm_statements_first(&a->f->statements, TTM_TOPIC_ALIVE);
  if (said_alive(a))
    return ttm_error_set(err, TTM_ENODATA,
                         "a report's files tell the live tensors at the peak only; its log tells others");
  return ttm_error_set(err, TTM_ENODATA, "%.*s", alive ? (int)alive->headline.n : 0, alive ? alive->headline.p : "");
}

/* The peak as the report's findings have it. */
static int put_said(const ttm_ask *a, int memory, ttm_error *err) {
  const ttm_statements *all = &a->f->statements;
  for (int m = TTM_DRAM; m <= TTM_L1; m++) {
    const ttm_statement *peak = ttm_statements_find(all, m == TTM_L1 ? "peak.l1" : "peak.dram", 0);
    const ttm_statement *alive = ttm_statements_find(all, m == TTM_L1 ? "alive.l1" : "alive.dram", 0);
    if (memory != TTM_ASK_BOTH && memory != m) continue;
    if (peak) ttm_doc_line(a->doc, "%.*s.", TTM_ARGS(peak->headline));
    if (alive) ttm_doc_statement(a->doc, all, alive, 0);
    if (!alive && memory == m)
      ttm_doc_line(a->doc, "The report names no live tensors in %s.", ttm_memory_name((ttm_memory)m));
  }
  return finish(a, err);
}

int ttm_ask_peak(const ttm_ask *a, int memory, ttm_error *err) {
  if (!a->f->alive_set[TTM_DRAM].known) return said_alive(a) ? put_said(a, memory, err) : lives_unknown(a, err);
  for (int i = 0; i <= TTM_L1; i++) {
    ttm_memory m = ttm_findings_memory(a->f, i);
    if (memory == TTM_ASK_BOTH || memory == (int)m)
      put_set(a, &a->f->statements, m == TTM_L1 ? "peak.l1" : "peak.dram", &a->f->alive_set[m]);
    if (memory == (int)m && !a->f->alive_set[m].measured_bytes)
      ttm_doc_line(a->doc, "%s is empty at its peak.", ttm_memory_name(m));
  }
  return finish(a, err);
}

/* ---- Any moment ----------------------------------------------------------------------------------------------------------- */

static int larger_block(const void *a, const void *b) {
  const ttm_extent *x = a, *y = b;
  if (x->size != y->size) return x->size > y->size ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

static void put_blocks(const ttm_ask *a, ttm_moment *m) {
  const char *const heads[] = {a->per_chip ? ">Free, MB per chip" : ">Free, MB per bank", ">Address in its bank"};
  if (!m->blocks_known || !m->agrees || m->blocks.n < 2) return;
  qsort(m->blocks.at, m->blocks.n, sizeof *m->blocks.at, larger_block);
  ttm_doc_table(a->doc, heads, sizeof heads / sizeof *heads);
  size_t shown = ttm_doc_most(a->doc, SHOWN_BLOCKS);
  for (size_t i = 0; i < m->blocks.n && i < shown; i++) {
    cell_mb(a, true, ttm_mib(m->blocks.at[i].size), false);
    ttm_doc_cell(a->doc, "%llu", (unsigned long long)m->blocks.at[i].at);
  }
  ttm_doc_table_end(a->doc);
  if (m->blocks.n > shown) ttm_doc_line(a->doc, "and %zu smaller free blocks", m->blocks.n - SHOWN_BLOCKS);
}

int ttm_ask_moment(const ttm_ask *a, ttm_moment *moment) {
  ttm_statements statements = {0};
  int status = ttm_moment_tell(&statements, moment);
  if (!status) {
    put_set(a, &statements, moment->set.memory == TTM_L1 ? "moment.l1" : "moment.dram", &moment->set);
    put_blocks(a, moment);
  }
  ttm_statements_free(&statements);
  return status;
}

static int put_moment(const ttm_ask *a, const ttm_occupancy *o, ttm_memory memory, ttm_instant at) {
  ttm_moment moment;
  int status = ttm_moment_make(&moment, o, memory, at);
  bool empty = memory != TTM_DRAM && !moment.set.measured_bytes;
  if (!status && !empty) status = ttm_ask_moment(a, &moment);
  ttm_moment_free(&moment);
  return status;
}

int ttm_ask_at(const ttm_ask *a, ttm_instant at, ttm_error *err) {
  ttm_occupancy occupancy = {0};
  if (!ttm_occupancy_possible(a->f->profile)) return lives_unknown(a, err);
  int status = ttm_occupancy_make(&occupancy, a->f, ttm_instant_rank(a->f->profile, at));
  for (int i = 0; i <= TTM_L1 && !status; i++) status = put_moment(a, &occupancy, ttm_findings_memory(a->f, i), at);
  ttm_occupancy_free(&occupancy);
  return status ? ttm_error_nomem(err) : finish(a, err);
}
