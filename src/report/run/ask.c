/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/ask.h"

#include "analyze/replay.h"
#include "analyze/words.h"
#include "base/error.h"
#include "base/format.h"

enum { SHOWN_ROWS = 40, SHOWN_TENSORS = 12, CELL = 100 };

static void text(ttm_buf *out, ttm_str view) { ttm_put_text(out, view, CELL, TTM_FORM_UTF8); }

static void name_op(const ttm_findings *f, uint32_t op, ttm_buf *out) {
  ttm_words_index(out, f, op);
  ttm_buf_char(out, ' ');
  text(out, ttm_words_name(f->profile, op));
  ttm_buf_char(out, ' ');
  text(out, ttm_words_location(f->profile, op));
  ttm_buf_printf(out, ", log line %u", f->profile->ops.at[op].line);
}

static uint64_t bank_bytes(const ttm_profile *p, uint32_t type) {
  if (type >= p->types.n || !p->types.at[type].is_tensor || !p->types.at[type].tensor.has_layout) return 0;
  const ttm_tensor_type *t = &p->types.at[type].tensor;
  ttm_level level;
  ttm_memory memory = t->buffer == TTM_BUFFER_L1 ? TTM_L1 : TTM_DRAM;
  if (!ttm_profile_config(p, memory, &level)) return 0;
  return ttm_tensor_bank_bytes(t, level.banks, ttm_profile_alignment(p));
}

/* "%3: 1x96x256 bf16, tiles in DRAM, 0.021 MB/bank; last used by #14 ..., freed in log line 90". */
static void put_tensor(const ttm_findings *f, uint32_t tensor, ttm_buf *out) {
  const ttm_profile *p = f->profile;
  uint32_t self = p->tensors.at[tensor].self; /* what a load_cached hands out lived before it */
  const ttm_tensor *row = &p->tensors.at[self < p->tensors.n ? self : tensor];
  uint32_t type = ttm_tensor_type_id(p, tensor);
  ttm_words_type(out, p, type, TTM_FORM_UTF8);
  uint64_t bytes = bank_bytes(p, type);
  if (bytes) ttm_buf_printf(out, ", %.3f MB/bank (derived)", ttm_mib(bytes));
  if (row->last_use != row->birth && row->last_use < p->ops.n)
    ttm_buf_puts(out, "; last used by "), name_op(f, row->last_use, out);
  else
    ttm_buf_puts(out, p->kind == TTM_LOG_CAPTURE ? "; no later use is seen" : "; not used by a later operation");
  if (row->freed_by < p->ops.n)
    ttm_buf_printf(out, "; freed in log line %u", p->ops.at[row->freed_by].line);
  else
    ttm_buf_puts(out, "; never freed by the program");
  ttm_buf_char(out, '\n');
}

static void put_memory(const ttm_findings *f, uint32_t op, ttm_buf *out) {
  const ttm_profile *p = f->profile;
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    int64_t effect;
    uint32_t state = p->ops.at[op].state;
    if (state == TTM_NONE || !ttm_state_level(p, state, (ttm_memory)m, &level)) continue;
    uint32_t inside, above = ttm_op_inside(p, op, (ttm_memory)m, &inside);
    bool known = ttm_op_effect_whole(p, op, (ttm_memory)m, &effect);
    if (m > TTM_DRAM && !level.allocated && !effect) continue;
    ttm_buf_printf(out, "%-9s %.3f MB/bank before (%s, log line %u)", ttm_memory_name((ttm_memory)m),
                   ttm_mb(level.allocated), ttm_basis_name(ttm_words_state_basis(p)), p->states.at[state].line);
    if (ttm_blocks_known(p)) ttm_buf_printf(out, ", largest free block %.3f", ttm_mb(level.largest));
    if (known) ttm_buf_printf(out, "; it did %+.3f (derived)", ttm_mb(effect));
    if (inside)
      ttm_buf_printf(out, ", with %u operation%s of const-eval inside, up to %+.3f", inside, inside > 1 ? "s" : "",
                     ttm_mb(above));
    ttm_buf_char(out, '\n');
  }
}

int ttm_ask_op(const ttm_findings *f, uint32_t index, ttm_buf *out, ttm_error *err) {
  const ttm_profile *p = f->profile;
  uint32_t op = ttm_findings_op(f, index);
  if (op == TTM_NONE)
    return ttm_error_set(err, TTM_ENODATA, "there is no operation %u: the log has %u, counted from 0", index,
                         f->elements);
  const ttm_op *row = &p->ops.at[op];
  const ttm_op_text *t = ttm_op_text_of(p, op);
  name_op(f, op, out);
  ttm_buf_char(out, '\n');
  if (row->call < p->calls.n) {
    bool failed = row->flags & TTM_OP_FAILED;
    if (p->calls.at[row->call].name) {
      ttm_buf_puts(out, "program   ");
      text(out, ttm_profile_string(p, p->calls.at[row->call].name));
      ttm_buf_printf(out, ", run %u%s\n", p->calls.at[row->call].run, failed ? ", failed here" : "");
    } else if (failed) { /* captures and recordings have no programs */
      ttm_buf_puts(out, "failed    here\n");
    }
  }
  put_memory(f, op, out);
  /* A symbol, such as the function of a load_cached, stands before the operands and has no type. */
  uint32_t symbols = t->operands.n > t->inputs.n ? t->operands.n - t->inputs.n : 0;
  for (uint32_t i = 0; i < t->inputs.n; i++) {
    char scratch[TTM_VALUE_CHARS];
    ttm_buf_puts(out, "takes     ");
    if (symbols + i < t->operands.n)
      text(out, ttm_value_print(p, p->lists.at[t->operands.first + symbols + i], scratch)), ttm_buf_puts(out, ": ");
    ttm_words_type(out, p, p->lists.at[t->inputs.first + i], TTM_FORM_UTF8);
    ttm_buf_char(out, '\n');
  }
  for (uint32_t k = 0; k < t->outputs.n && row->tensor != TTM_NONE && row->tensor + k < p->tensors.n; k++) {
    ttm_buf_puts(out, "makes     ");
    put_tensor(f, row->tensor + k, out);
  }
  if (t->has_attributes)
    ttm_buf_puts(out, "with      "), text(out, ttm_profile_string(p, t->attributes)), ttm_buf_char(out, '\n');
  return out->failed ? ttm_error_nomem(err) : TTM_OK;
}

/* ---- Tensors ---------------------------------------------------------------------------------------------------------------- */

static bool matches(ttm_str have, ttm_str name, bool whole) {
  return whole ? ttm_str_eq(have, name) : ttm_str_contains(have, name);
}

static uint32_t put_weights(const ttm_findings *f, ttm_str name, bool whole, ttm_buf *out) {
  const ttm_profile *p = f->profile;
  uint32_t n = 0;
  for (size_t i = 0; i < f->registry.entries.n; i++) {
    const ttm_registry_entry *entry = &f->registry.entries.at[i];
    const ttm_graph_arg *arg = &p->graphs.at[entry->graph].args.at[entry->arg];
    if (entry->repeated || !matches(ttm_profile_string(p, arg->name), name, whole) || n++ >= SHOWN_TENSORS) continue;
    ttm_buf_puts(out, entry->weight ? "weight    " : "input     ");
    text(out, ttm_profile_string(p, arg->name));
    ttm_buf_puts(out, ": ");
    ttm_words_type(out, p, arg->local_type, TTM_FORM_UTF8);
    ttm_buf_printf(out, ", %.3f MB per device as the model gives it\n", ttm_mib(entry->bytes));
  }
  return n;
}

static void put_alive(const ttm_findings *f, ttm_str name, bool whole, ttm_buf *out) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  for (size_t i = 0; set->known && i < set->rows.n; i++) {
    const ttm_alive_row *row = &set->rows.at[i];
    if (!row->name || !matches(ttm_profile_string(f->profile, row->name), name, whole)) continue;
    ttm_buf_printf(out, "at peak   %.3f MB/bank in %u tensor%s, made by ", ttm_mib(row->bank_bytes), row->tensors,
                   row->tensors > 1 ? "s" : "");
    if (row->op == TTM_NONE)
      ttm_buf_puts(out, "the host");
    else
      name_op(f, row->op, out);
    ttm_buf_char(out, '\n');
  }
}

/* Results of operations at a location, the first run's of each text. */
static uint32_t put_results(const ttm_findings *f, ttm_str name, bool whole, ttm_buf *out) {
  const ttm_profile *p = f->profile;
  uint64_t *seen = ttm_alloc((p->texts.n / 64 + 1) * sizeof *seen);
  uint32_t n = 0;
  if (!seen) return out->failed = true, 0;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    uint32_t id = p->ops.at[op].text;
    const ttm_op_text *t = &p->texts.at[id];
    if (!ttm_op_is_element(p, op) || seen[id / 64] >> (id % 64) & 1 || p->ops.at[op].tensor == TTM_NONE ||
        !t->outputs.n)
      continue;
    seen[id / 64] |= UINT64_C(1) << (id % 64);
    if (!matches(ttm_profile_string(p, t->location), name, whole) || n++ >= SHOWN_TENSORS) continue;
    ttm_buf_puts(out, "result    of ");
    name_op(f, op, out);
    ttm_buf_puts(out, "\n          ");
    put_tensor(f, p->ops.at[op].tensor, out);
  }
  ttm_free(seen);
  return n;
}

int ttm_ask_tensor(const ttm_findings *f, ttm_str name, ttm_buf *out, ttm_error *err) {
  for (int whole = 1; whole >= 0; whole--) {
    uint32_t weights = put_weights(f, name, whole, out);
    if (weights) put_alive(f, name, whole, out);
    uint32_t results = put_results(f, name, whole, out);
    if (out->failed) return ttm_error_nomem(err);
    uint32_t more = (weights > SHOWN_TENSORS ? weights - SHOWN_TENSORS : 0) +
                    (results > SHOWN_TENSORS ? results - SHOWN_TENSORS : 0);
    if (more) ttm_buf_printf(out, "and %u more\n", more);
    if (weights + results) return TTM_OK;
  }
  return ttm_error_set(err, TTM_ENODATA, "no weight and no location is called '%.*s' or contains it",
                       (int)(name.n < 200 ? name.n : 200), name.p);
}

/* ---- Ranges and the peak --------------------------------------------------------------------------------------------------- */

/* What operations did together, as their rows tell it: the program inside a load_cached counts with that one. */
typedef struct range_sum {
  int64_t effect;
  uint32_t unknown;
  uint32_t counted; /* operations before this one are inside a load_cached that was counted */
  uint32_t rank;    /* of the first one */
  bool several;     /* ranks: megabytes per bank of different chips are no sum */
} range_sum;

static void add_to_sum(range_sum *sum, const ttm_profile *p, uint32_t op) {
  int64_t effect;
  uint32_t call = p->ops.at[op].call, rank = call < p->calls.n ? p->calls.at[call].rank : 0;
  if (sum->rank == TTM_NONE) sum->rank = rank;
  sum->several |= sum->rank != rank;
  if (op < sum->counted) return;
  uint32_t program = ttm_op_program(p, op);
  if (program != TTM_NONE) sum->counted = p->calls.at[program].last_op + 1;
  if (ttm_op_effect_whole(p, op, TTM_DRAM, &effect))
    sum->effect += effect;
  else
    sum->unknown++;
}

static void put_sum(const range_sum *sum, ttm_buf *out) {
  if (sum->several) return;
  ttm_buf_printf(out, "together: %+.3f MB/bank, deallocations between them included (derived)", ttm_mb(sum->effect));
  if (sum->unknown) ttm_buf_printf(out, "; of %u it is not known", sum->unknown);
  ttm_buf_char(out, '\n');
}

int ttm_ask_range(const ttm_findings *f, uint32_t first, uint32_t last, ttm_buf *out, ttm_error *err) {
  const ttm_profile *p = f->profile;
  range_sum sum = {.rank = TTM_NONE};
  uint32_t from = ttm_findings_op(f, first), to, shown = 0;
  uint32_t highest = 0, line = 0;
  if (from == TTM_NONE || last < first)
    return ttm_error_set(err, TTM_ENODATA, "there are no operations %u-%u: the log has %u, counted from 0", first, last,
                         f->elements);
  to = last < f->elements ? ttm_findings_op(f, last) : (uint32_t)p->ops.n - 1;
  ttm_buf_puts(out, "DRAM before     it did  operation (MB/bank)\n");
  for (uint32_t op = from; op <= to; op++) {
    add_to_sum(&sum, p, op);
    ttm_level level;
    int64_t effect;
    bool known = p->ops.at[op].state != TTM_NONE && ttm_state_level(p, p->ops.at[op].state, TTM_DRAM, &level);
    if (known && level.allocated > highest) highest = level.allocated, line = p->states.at[p->ops.at[op].state].line;
    if (!ttm_op_is_element(p, op) || shown++ >= SHOWN_ROWS) continue;
    if (known)
      ttm_buf_printf(out, "%11.3f ", ttm_mb(level.allocated));
    else
      ttm_buf_printf(out, "%11s ", "-");
    if (ttm_op_effect_whole(p, op, TTM_DRAM, &effect))
      ttm_buf_printf(out, "%+10.3f  ", ttm_mb(effect));
    else
      ttm_buf_printf(out, "%10s  ", "-");
    name_op(f, op, out);
    ttm_buf_char(out, '\n');
  }
  if (shown > SHOWN_ROWS) ttm_buf_printf(out, "and %u more operations\n", shown - SHOWN_ROWS);
  put_sum(&sum, out);
  if (line)
    ttm_buf_printf(out, "highest: %.3f MB/bank before log line %u (%s)\n", ttm_mb(highest), line,
                   ttm_basis_name(ttm_words_state_basis(p)));
  return out->failed ? ttm_error_nomem(err) : TTM_OK;
}

int ttm_ask_peak(const ttm_findings *f, ttm_buf *out, ttm_error *err) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  if (!set->known) {
    const char *why = ttm_words_lives_unknown(f);
    return ttm_error_set(err, TTM_ENODATA, "what is alive at the peak is unknown: %s",
                         why ? why : "the log shows no DRAM state");
  }
  ttm_buf_printf(out, "DRAM peak %.3f MB/bank, log line %u (%s); %.2f%% explained (derived)\n",
                 ttm_mib(set->measured_bytes), f->profile->states.at[set->state].line,
                 ttm_basis_name(ttm_words_state_basis(f->profile)), ttm_alive_set_quality(set));
  if (set->padding_bytes || set->rounding_bytes)
    ttm_buf_printf(out, "over all banks, padding takes %.2f MB of it and the allocator's rounding %.2f MB\n",
                   ttm_mib(set->padding_bytes), ttm_mib(set->rounding_bytes));
  if (set->guessed_bytes)
    ttm_buf_printf(out, "%.3f MB/bank are KV cache by the name of the argument alone (estimated)\n",
                   ttm_mib(set->guessed_bytes));
  if (f->peak[TTM_DRAM].cause != TTM_NONE)
    ttm_buf_puts(out, "raised by "), name_op(f, f->peak[TTM_DRAM].cause, out), ttm_buf_char(out, '\n');
  for (size_t i = 0; i < set->rows.n && i < SHOWN_ROWS; i++) {
    const ttm_alive_row *row = &set->rows.at[i];
    ttm_buf_printf(out, "%9.3f  %-12s ", ttm_mib(row->bank_bytes), ttm_words_class(f->profile, row->class));
    if (row->name) text(out, ttm_profile_string(f->profile, row->name)), ttm_buf_char(out, ' ');
    if (row->op != TTM_NONE) name_op(f, row->op, out);
    if (row->tensors > 1) ttm_buf_printf(out, ", %u tensors", row->tensors);
    if (row->guess) ttm_buf_puts(out, " (estimated)");
    ttm_buf_char(out, '\n');
  }
  if (set->rows.n > SHOWN_ROWS)
    ttm_buf_printf(out, "and %zu smaller ones\n", set->rows.n - SHOWN_ROWS + (size_t)set->other_rows);
  return out->failed ? ttm_error_nomem(err) : TTM_OK;
}
