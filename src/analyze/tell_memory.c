/* SPDX-License-Identifier: Apache-2.0 */
/* How full each memory got and what filled it: peaks, live tensors, fragmentation, waste, padding. */
#include "analyze/parts.h"
#include "analyze/tell.h"

enum { SHOWN_ROWS = 20, SHOWN_MODULES = 8, SHOWN_WASTE = 10, FULL_PCT = 90 };

/* ---- Peaks ---------------------------------------------------------------------------------------------------------- */

static void say_peak(ttm_teller *t, ttm_memory memory, const ttm_peak *peak) {
  const ttm_level *level = &peak->level;
  uint64_t used = ttm_level_bytes(level->allocated), capacity = ttm_level_bytes(level->total);
  const char *name = ttm_memory_name(memory);
  if (!level->total) { /* samples of an unknown board: what all banks hold together */
    ttm_say(&t->text, t->f, "{} peak {}; the capacity is unknown", TTM_WORDS(name), TTM_BYTES(used * level->banks));
    return;
  }
  ttm_say(&t->text, t->f, "{} peak {}{} of {} per bank ({})", TTM_WORDS(name), TTM_WORDS(peak->at_least ? "≥ " : ""),
          TTM_NUMBER(used), TTM_MB_OF(capacity), TTM_SHARE(level->allocated, level->total));
  if (peak->derived)
    ttm_say(&t->text, t->f, " by operations without memory states, ≥ {} by the states that were printed",
            TTM_MB_OF(ttm_level_bytes(peak->measured)));
  if (t->p->filled && peak->printed && peak->printed < level->allocated)
    ttm_say(&t->text, t->f, ", ≥ {} by the states that were printed", TTM_MB_OF(ttm_level_bytes(peak->printed)));
  if (t->f->devices[memory].n > 1 && t->p->kind != TTM_LOG_CAPTURE) /* whose own lines mean nothing to anybody */
    ttm_say(&t->text, t->f, " on the device opened in log line {}", TTM_LINE(t->p->states.at[peak->opened].line));
  if (peak->cause != TTM_NONE)
    ttm_say(&t->text, t->f, ", raised by {} ({})", TTM_OP(peak->cause), TTM_CHANGE(peak->effect));
  else if (level->allocated)
    ttm_buf_puts(&t->text, ", raised outside the operations of this log");
}

static void tell_peak(ttm_teller *t, const char *id, ttm_memory memory, const ttm_peak *peak) {
  double pct = ttm_percent(peak->level.allocated, peak->level.total);
  ttm_tell(t, id, TTM_TOPIC_PEAK, pct >= FULL_PCT ? TTM_SEVERITY_WARNING : TTM_SEVERITY_NOTE,
           peak->derived ? TTM_DERIVED : ttm_words_state_basis(t->p, peak->state));
  say_peak(t, memory, peak);
  ttm_tell_headline(t);
  if (peak->level.total)
    ttm_detail(t, "{} per chip.",
               TTM_PAIR(ttm_level_bytes(peak->level.allocated) * peak->level.banks,
                        ttm_level_bytes(peak->level.total) * peak->level.banks));
  if (peak->at_least) ttm_detail(t, "{}", TTM_WORDS(ttm_words_at_least(t->p)));
  uint32_t call = peak->cause < t->p->ops.n ? t->p->ops.at[peak->cause].call : TTM_NONE;
  if (peak->cause != TTM_NONE && t->p->ops.at[peak->cause].flags & TTM_OP_CONST_EVAL && call < t->p->calls.n &&
      t->p->calls.at[call].caller != TTM_NONE)
    ttm_detail(t, "It ran inside {}.", TTM_OP(t->p->calls.at[call].caller));
  if (peak->level.total && ttm_blocks_known(t->p))
    ttm_detail(t, "{} per bank free then, largest free block {}.", TTM_MB_OF(ttm_level_bytes(peak->level.free)),
               TTM_MB_OF(ttm_level_bytes(peak->level.largest)));
  ttm_tell_op(t, peak->cause);
  if (peak->state < t->p->states.n) ttm_tell_line(t, t->p->states.at[peak->state].line);
  ttm_tell_quantity(t, "allocated_per_bank", "MB", ttm_mb(peak->level.allocated));
  if (peak->derived) ttm_tell_quantity(t, "measured_per_bank", "MB", ttm_mb(peak->measured));
  ttm_tell_quantity(t, "capacity_per_bank", "MB", ttm_mb(peak->level.total));
  ttm_tell_quantity(t, "banks", "", peak->level.banks);
  ttm_tell_quantity(t, "utilization", "%", pct);
}

/* A device that was opened anew with other banks is judged by its own. */
static void tell_devices(ttm_teller *t, ttm_memory memory) {
  enum { MOST_TOLD = 4 };
  const ttm_device_peaks *all = &t->f->devices[memory];
  for (uint32_t i = 0, told = 0; i < all->n && told < MOST_TOLD; i++)
    if (all->at[i].opened != t->f->peak[memory].opened && all->at[i].level.allocated)
      tell_peak(t, "peak.device", memory, &all->at[i]), told++;
}

static void tell_peak_inside(ttm_teller *t, ttm_memory memory) {
  const ttm_peak *peak = &t->f->peak[memory];
  if (!peak->in_op_bytes || peak->in_op_incident >= t->p->incidents.n) return;
  const ttm_incident *incident = &t->p->incidents.at[peak->in_op_incident];
  ttm_tell(t, "peak.in-operation", TTM_TOPIC_PEAK, TTM_SEVERITY_NOTE, TTM_MEASURED);
  ttm_headline(t, "{} held {} per bank inside the failing operation, more than any printed state",
               TTM_WORDS(ttm_memory_name(memory)), TTM_MB_OF(peak->in_op_bytes));
  ttm_tell_line(t, incident->line);
  ttm_tell_op(t, incident->op);
  ttm_tell_quantity(t, "allocated_per_bank", "B", (double)peak->in_op_bytes);
}

/* The operations that added most: "#12 ttnn.to_device layers.*.mlp.weight ×18". */
static void tell_consumers(ttm_teller *t, ttm_memory memory) {
  static const char *const ids[] = {"peak.consumers", "peak.consumers-l1", "peak.consumers-l1-small",
                                    "peak.consumers-trace"};
  const ttm_consumers *all = &t->f->consumers[memory];
  if (!all->n) return;
  ttm_tell(t, ids[memory], TTM_TOPIC_PEAK, TTM_SEVERITY_NOTE, TTM_DERIVED);
  ttm_headline(t, "Operations that added most to {} in one run, per bank", TTM_WORDS(ttm_memory_name(memory)));
  for (size_t i = 0; i < all->n; i++) {
    const ttm_consumer *row = &all->at[i];
    ttm_say(&t->text, t->f, "{}", TTM_OP_AT(row->most.op, row->name));
    if (row->places > 1)
      ttm_say(&t->text, t->f, " ×{}, {} at most each", TTM_COUNT(row->places),
              TTM_MB_OF(ttm_level_bytes((uint64_t)row->most.effect)));
    if (row->runs > 1) ttm_say(&t->text, t->f, ", in {}", TTM_PLURAL(row->runs, "run"));
    ttm_tell_point(t, ttm_mb(row->total), row->most.op);
  }
}

/* Every change of DRAM, by who made it; the parts add up. */
static void tell_changes(ttm_teller *t) {
  const ttm_attribution *a = &t->f->attribution;
  const struct {
    const char *words;
    int64_t change;
  } parts[] = {{"operations", a->added},
               {"const-eval programs", a->const_eval},
               {"given back inside operations", a->given_back},
               {"deallocations", a->freed},
               {ttm_words_has_runs(t->p) ? "the host between runs" : "outside operations", a->host}};
  bool any = false;
  if (!a->known) return;
  ttm_tell(t, "peak.changes", TTM_TOPIC_PEAK, TTM_SEVERITY_NOTE, TTM_DERIVED);
  ttm_say(&t->text, t->f, "From the first state to the last DRAM changed by {} per bank", TTM_CHANGE(a->total));
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (!parts[i].change) continue;
    ttm_say(&t->text, t->f, "{}{} {}", TTM_WORDS(any ? ", " : ": "), TTM_WORDS(parts[i].words),
            TTM_CHANGE(parts[i].change));
    any = true;
  }
  ttm_tell_headline(t);
}

void ttm_tell_peaks(ttm_teller *t) {
  size_t before = t->out->at.n;
  static const char *const ids[] = {"peak.dram", "peak.l1", "peak.l1-small", "peak.trace"};
  for (int i = 0; i < TTM_MEMORIES; i++) {
    ttm_memory m = ttm_findings_memory(t->f, i);
    const ttm_peak *peak = &t->f->peak[m];
    if (peak->known && (peak->level.allocated || m == TTM_DRAM)) tell_peak(t, ids[m], m, peak);
    for (size_t k = 0; m == TTM_DRAM && t->f->peak[m].known && k < t->f->peak_fixes.n; k++)
      ttm_tell_fix(t, &t->f->peak_fixes.at[k], NULL);
    tell_peak_inside(t, m);
    tell_devices(t, m);
  }
  ttm_tell_devices(t);
  for (int i = 0; i < TTM_MEMORIES; i++) tell_consumers(t, ttm_findings_memory(t->f, i));
  tell_changes(t);
  if (t->out->at.n > before) return;
  ttm_tell(t, "peak.unknown", TTM_TOPIC_PEAK, TTM_SEVERITY_UNKNOWN, TTM_MEASURED);
  ttm_headline(t, "Memory states are not in this log, so its peak is unknown");
}

/* ---- Live tensors ---------------------------------------------------------------------------------------------------- */

bool ttm_tell_lives_unknown(ttm_teller *t, const char *id, ttm_topic topic, const char *what) {
  const char *why = ttm_words_lives_unknown(t->f);
  if (!why) return false;
  ttm_tell(t, id, topic, TTM_SEVERITY_UNKNOWN, TTM_DERIVED);
  ttm_headline(t, "{} unknown: {}", TTM_WORDS(what), TTM_WORDS(why));
  return true;
}

/* "weights 978.4, activations 12.25"; classes below half a percent are left out. */
static void say_classes(ttm_teller *t, const ttm_alive_set *set) {
  bool any = false;
  for (int c = 0; c < TTM_ALIVE_CLASSES; c++) {
    if (set->by_class[c] < set->measured_bytes / 200 || !set->by_class[c]) continue;
    ttm_say(&t->text, t->f, "{}{} {}{}", TTM_WORDS(any ? ", " : ""),
            TTM_WORDS(ttm_words_class(t->p, (ttm_alive_class)c)), TTM_MB_OF(set->by_class[c]),
            TTM_WORDS(c == TTM_ALIVE_KV_CACHE && set->guessed_bytes ? " (estimated by name)" : ""));
    any = true;
  }
}

static void tell_group(ttm_teller *t, const ttm_alive_group *group) {
  ttm_say(&t->text, t->f, "{}: ", TTM_WORDS(ttm_words_class(t->p, group->class)));
  if (group->name.n)
    ttm_say(&t->text, t->f, "{}", TTM_TEXT(group->name));
  else
    ttm_buf_puts(&t->text, group->class == TTM_ALIVE_UNACCOUNTED ? "allocated by nothing in this log"
                           : group->class == TTM_ALIVE_PROGRAM   ? "kernels, caches and trace slots"
                                                                 : "without a name");
  if (group->tensors > 1) ttm_say(&t->text, t->f, " ×{}", TTM_COUNT(group->tensors));
  if (group->guess) ttm_buf_puts(&t->text, " (estimated)");
  if (group->op < t->p->ops.n) ttm_say(&t->text, t->f, ", made by {}", TTM_OP_AT(group->op, ((ttm_str){"", 0})));
  ttm_tell_point(t, ttm_mib(group->bank_bytes), group->op);
}

static void tell_modules(ttm_teller *t, const ttm_alive_set *set) {
  if (!set->modules.n || (set->modules.n == 1 && !set->modules.at[0].path.n)) return;
  ttm_say(&t->text, t->f, "{} by module: ", TTM_WORDS(t->p->capture.recording.is ? "Tensors" : "Activations"));
  for (size_t i = 0; i < set->modules.n && i < SHOWN_MODULES; i++)
    ttm_say(&t->text, t->f, "{}{} {}", TTM_WORDS(i ? ", " : ""),
            TTM_TEXT(set->modules.at[i].path.n ? set->modules.at[i].path : TTM_LIT("(no module)")),
            TTM_MB_OF(set->modules.at[i].bank_bytes));
  ttm_detail(t, ".");
}

void ttm_tell_alive_set(ttm_teller *t, const ttm_alive_set *set, ttm_str when) {
  if (!set->known || !set->measured_bytes) return;
  ttm_tell(t, set->memory == TTM_L1 ? "alive.l1" : "alive.dram", TTM_TOPIC_ALIVE, TTM_SEVERITY_NOTE, TTM_DERIVED);
  ttm_say(&t->text, t->f, "{} ", TTM_PLURAL(set->tensors, "live tensor"));
  ttm_buf_put(&t->text, when);
  ttm_say(&t->text, t->f, ", {} attributed, per bank: ", TTM_PERCENT(ttm_alive_set_quality(set)));
  say_classes(t, set);
  ttm_tell_headline(t);
  if (set->padding_bytes || set->rounding_bytes)
    ttm_detail(t, "Of all banks, padding takes {} and the allocator's rounding {}.", TTM_BYTES(set->padding_bytes),
               TTM_BYTES(set->rounding_bytes));
  if (set->guessed_bytes)
    ttm_detail(t, "{} per bank are KV cache by the name of the argument alone (estimated).",
               TTM_MB_OF(set->guessed_bytes));
  tell_modules(t, set);
  if (set->over_bytes)
    ttm_detail(t, "{} per bank are counted twice: views of other tensors.", TTM_MB_OF(set->over_bytes));
  if (set->state < t->p->states.n) ttm_tell_line(t, t->p->states.at[set->state].line);
  ttm_tell_quantity(t, "attributed", "%", ttm_alive_set_quality(set));
  for (size_t i = 0; i < set->groups.n && i < SHOWN_ROWS; i++) tell_group(t, &set->groups.at[i]);
  uint64_t rest = set->other_groups_bytes, count = set->other_groups;
  for (size_t i = SHOWN_ROWS; i < set->groups.n; i++) rest += set->groups.at[i].bank_bytes, count++;
  if (count) ttm_point_at(t, ttm_mib(rest), TTM_NONE, "{} smaller", TTM_PLURAL(count, "row"));
}

void ttm_tell_alive(ttm_teller *t) {
  const ttm_alive_set *dram = &t->f->alive_set[TTM_DRAM];
  for (int i = 0; i <= TTM_L1; i++) {
    ttm_memory memory = ttm_findings_memory(t->f, i);
    ttm_tell_alive_set(t, &t->f->alive_set[memory],
                       memory == TTM_L1 ? TTM_LIT("at the L1 peak") : TTM_LIT("at the DRAM peak"));
  }
  if (ttm_statements_first(t->out, TTM_TOPIC_ALIVE)) return;
  if (!dram->known && ttm_tell_lives_unknown(t, "alive.unknown", TTM_TOPIC_ALIVE, "Live tensors at the peak are"))
    return;
  ttm_tell(t, "alive.none", TTM_TOPIC_ALIVE, dram->known ? TTM_SEVERITY_OK : TTM_SEVERITY_UNKNOWN, TTM_DERIVED);
  ttm_headline(t, dram->known ? "DRAM is empty at its peak"
                              : "Live tensors at the peak are unknown: no DRAM state is in this log");
}

/* ---- Fragmentation --------------------------------------------------------------------------------------------------- */

static void tell_pin(ttm_teller *t, const ttm_pin *pin) {
  ttm_buf_puts(&t->text, "pins free space: ");
  if (pin->tensor == TTM_NONE)
    ttm_buf_puts(&t->text, "memory allocated by nothing in this log");
  else
    ttm_say(&t->text, t->f, "the result of {}", TTM_OP(t->p->tensors.at[pin->tensor].birth));
  if (pin->tensors > 1) ttm_say(&t->text, t->f, " and {} more", TTM_COUNT(pin->tensors - 1));
  ttm_say(&t->text, t->f, ", {} at address {}; without it one free block of {} per bank", TTM_MB_OF(pin->size),
          TTM_COUNT(pin->at), TTM_MB_OF(pin->merged));
  ttm_tell_point(t, TTM_NO_FIGURE, pin->tensor == TTM_NONE ? TTM_NONE : t->p->tensors.at[pin->tensor].birth);
}

static void tell_refusals(ttm_teller *t, const ttm_fragmentation *x) {
  for (size_t i = 0; i < x->refusing_states && i < TTM_REFUSALS; i++) {
    const ttm_state *state = &t->p->states.at[x->refusing[i]];
    ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE,
                 "would have failed at log line {}: {} per bank free, largest free block {}", TTM_LINE(state->line),
                 TTM_MB_OF(ttm_level_bytes(state->dram_free)), TTM_MB_OF(ttm_level_bytes(state->dram_largest)));
  }
  if (x->refusing_states > TTM_REFUSALS)
    ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE, "and at {} more points", TTM_COUNT(x->refusing_states - TTM_REFUSALS));
}

/* The place of the largest block among those behind `last` in the order of sizes; TTM_NOT_FOUND behind the smallest. */
static size_t next_largest(const ttm_held_blocks *held, size_t last) {
  size_t best = TTM_NOT_FOUND;
  for (size_t i = 0; i < held->n; i++) {
    uint64_t bytes = held->at[i].bytes, limit = last == TTM_NOT_FOUND ? UINT64_MAX : held->at[last].bytes;
    bool behind = bytes < limit || (bytes == limit && i > last);
    if (behind && (best == TTM_NOT_FOUND || bytes > held->at[best].bytes)) best = i;
  }
  return best;
}

/* The table of blocks that the allocator gave at a peak. */
static void tell_table(ttm_teller *t, int m) {
  enum { SHOWN_BLOCKS = 8 };
  const ttm_held_blocks *held = &t->p->held[m];
  uint64_t sum = 0, end = 0, gaps = 0;
  if (!held->n) return;
  for (size_t i = 0; i < held->n; i++) {
    sum += held->at[i].bytes;
    gaps += held->at[i].address > end;
    end = held->at[i].address + held->at[i].bytes;
  }
  ttm_tell(t, m == TTM_DRAM ? "blocks.dram" : "blocks.l1", TTM_TOPIC_FRAGMENTATION, TTM_SEVERITY_NOTE, TTM_MEASURED);
  ttm_say(&t->text, t->f, "{} at the {} peak, by the allocator's own table: {} per bank", TTM_PLURAL(held->n, "block"),
          TTM_WORDS(ttm_memory_name((ttm_memory)m)), TTM_MB_OF(sum));
  if (gaps) ttm_say(&t->text, t->f, ", with {} below or between them", TTM_PLURAL(gaps, "gap"));
  ttm_tell_headline(t);
  ttm_tell_quantity(t, "blocks", "", (double)held->n);
  ttm_tell_quantity(t, "gaps", "", (double)gaps);
  size_t at = TTM_NOT_FOUND;
  for (size_t k = 0; k < held->n && k < SHOWN_BLOCKS; k++) {
    at = next_largest(held, at);
    const ttm_held_block *block = &held->at[at];
    ttm_say(&t->text, t->f, "at address {}, ", TTM_COUNT(block->address));
    if (block->op < t->p->ops.n)
      ttm_say(&t->text, t->f, "allocated by {}", TTM_OP(block->op));
    else
      ttm_buf_puts(&t->text, "allocated by the first operation or before it");
    ttm_tell_point(t, ttm_mib(block->bytes), block->op);
  }
}

static void tell_pieces(ttm_teller *t) {
  const ttm_fragmentation *x = &t->f->fragmentation;
  bool pieces = x->known && x->worst_free > x->worst_largest + 524; /* half of what the log rounds to */
  if (!pieces) {
    ttm_tell(t, x->known ? "fragmentation.none" : "fragmentation.unknown", TTM_TOPIC_FRAGMENTATION,
             x->known ? TTM_SEVERITY_OK : TTM_SEVERITY_UNKNOWN, ttm_words_state_basis(t->p, TTM_NONE));
    ttm_headline(t, !x->known           ? "Fragmentation is unknown: the largest free block is not in this log"
                    : x->unknown_states ? "No fragmentation of DRAM wherever the largest free block is known"
                                        : "No fragmentation of DRAM: free memory is one block at every state");
    return;
  }
  ttm_tell(t, "fragmentation.dram", TTM_TOPIC_FRAGMENTATION,
           x->refusing_states ? TTM_SEVERITY_WARNING : TTM_SEVERITY_NOTE, ttm_words_state_basis(t->p, TTM_NONE));
  ttm_say(&t->text, t->f, "Fragmentation {}: the largest free block is {} of {} free per bank",
          TTM_PERCENT(ttm_fragmentation_pct(x->worst_free, x->worst_largest)), TTM_NUMBER(x->worst_largest),
          TTM_MB_OF(x->worst_free));
  if (x->refusing_states)
    ttm_say(&t->text, t->f, "; an allocation of {} per bank would have failed at {}", TTM_MB_OF(x->largest_request),
            TTM_PLURAL(x->refusing_states, "point"));
  ttm_tell_headline(t);
  if (x->refusing_states) ttm_detail(t, "That is the largest tensor of this log, made by {}.", TTM_OP(x->request_op));
  ttm_tell_line(t, t->p->states.at[x->worst_state].line);
  ttm_tell_quantity(t, "fragmentation", "%", ttm_fragmentation_pct(x->worst_free, x->worst_largest));
  for (size_t i = 0; i < x->pin_count; i++) tell_pin(t, &x->pins[i]);
  tell_refusals(t, x);
}

void ttm_tell_fragmentation(ttm_teller *t) {
  tell_pieces(t);
  for (int m = 0; m < TTM_HELD_MEMORIES; m++) tell_table(t, m);
}

/* ---- Waste and padding ----------------------------------------------------------------------------------------------- */

static void say_remedy_of(ttm_teller *t, const ttm_waste *waste, const ttm_alive_row *row) {
  char shape[160] = "";
  double share = 100.0 - ttm_percent((double)row->logical_bytes, (double)row->stored_bytes);
  switch (waste->kind) {
    case TTM_WASTE_UPCAST:
      return ttm_buf_puts(&t->text, "; bf16 in the model, f32 on the device");
    case TTM_WASTE_TWICE:
      return ttm_say(&t->text, t->f, "; {} forms alive at once", TTM_COUNT(row->tensors));
    case TTM_WASTE_PADDING:
      ttm_say(&t->text, t->f, "; {} of it is padding to whole tiles", TTM_PERCENT(share));
      if (!waste->better.rank && waste->row_major)
        ttm_say(&t->text, t->f, "; in row-major layout it needs {} per bank less", TTM_MB_OF(waste->row_major));
      break;
    case TTM_WASTE_NARROW:
    case TTM_WASTE_KINDS:
      ttm_say(&t->text, t->f, "; {} of it is padding: its row-major rows are shorter than the alignment",
              TTM_PERCENT(share));
  }
  ttm_dims_print(&waste->better, shape, sizeof shape);
  if (waste->better.rank) ttm_say(&t->text, t->f, "; as {} it takes that much less", TTM_WORDS(shape));
}

static void tell_waste_row(ttm_teller *t, const ttm_waste *waste) {
  const ttm_alive_set *set = &t->f->alive_set[TTM_DRAM];
  const ttm_alive_row *row = &set->rows.at[waste->row];
  if (waste->rows > 1)
    ttm_say(&t->text, t->f, "{} ×{}", TTM_TEXT(set->groups.at[row->group].name), TTM_COUNT(waste->rows));
  else if (row->name)
    ttm_say(&t->text, t->f, "{}", TTM_TEXT(ttm_profile_string(t->p, row->name)));
  else if (row->op != TTM_NONE)
    ttm_say(&t->text, t->f, "the result of {}", TTM_OP(row->op));
  else
    ttm_say(&t->text, t->f, "argument {}", TTM_COUNT(row->arg));
  ttm_buf_puts(&t->text, ", ");
  ttm_words_type(&t->text, t->p, row->type, TTM_FORM_UTF8);
  say_remedy_of(t, waste, row);
  ttm_tell_point(t, ttm_mib(waste->bank_bytes), row->op);
}

static void tell_waste_kind(ttm_teller *t, ttm_waste_kind which) {
  static const struct {
    const char *id, *words;
  } kinds[TTM_WASTE_KINDS] = {{"waste.f32-copy", "f32 copies of bf16 weights"},
                              {"waste.weight-forms", "Weights alive in several forms"},
                              {"waste.tile-padding", "Tiles that are mostly padding"},
                              {"waste.narrow-rows", "Row-major rows shorter than the alignment"}};
  const ttm_wastes *w = &t->f->wastes;
  if (!w->bank_bytes[which]) return;
  ttm_tell(t, kinds[which].id, TTM_TOPIC_WASTE, TTM_SEVERITY_WARNING, TTM_DERIVED);
  ttm_headline(t, "{} take {} per bank at the DRAM peak ({})", TTM_WORDS(kinds[which].words),
               TTM_MB_OF(w->bank_bytes[which]), TTM_PLURAL(w->count[which], "tensor"));
  ttm_tell_quantity(t, "per_bank", "B", (double)w->bank_bytes[which]);
  uint32_t shown = 0, told = 0;
  for (size_t i = 0; i < w->n && shown < SHOWN_WASTE; i++)
    if (w->at[i].kind == which) tell_waste_row(t, &w->at[i]), shown++, told += w->at[i].rows;
  if (w->count[which] > told)
    ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE, "and {} more", TTM_COUNT(w->count[which] - told));
}

void ttm_tell_waste(ttm_teller *t) {
  if (ttm_tell_lives_unknown(t, "waste.unknown", TTM_TOPIC_WASTE, "Waste at the peak is")) return;
  for (int k = 0; k < TTM_WASTE_KINDS; k++) tell_waste_kind(t, (ttm_waste_kind)k);
  if (t->f->wastes.n) return;
  ttm_tell(t, "waste.none", TTM_TOPIC_WASTE, TTM_SEVERITY_OK, TTM_DERIVED);
  ttm_headline(t, "No f32 copies of bf16 weights, no weight in two forms, no padding or narrow rows that matter");
}

void ttm_tell_padding(ttm_teller *t) {
  const ttm_alive_sum *alive = &t->f->alive_at_peak;
  uint64_t extra = alive->stored_bytes > alive->logical_bytes ? alive->stored_bytes - alive->logical_bytes : 0;
  if (!alive->tensors) return;
  ttm_tell(t, "padding.dram", TTM_TOPIC_PADDING, extra ? TTM_SEVERITY_NOTE : TTM_SEVERITY_OK, TTM_DERIVED);
  if (extra)
    ttm_headline(t, "Padding takes {} of all banks at the DRAM peak, {} on top of {}", TTM_BYTES(extra),
                 TTM_SHARE(extra, alive->logical_bytes), TTM_BYTES(alive->logical_bytes));
  else
    ttm_headline(t, "No padding at the DRAM peak");
  ttm_tell_quantity(t, "padding", "B", (double)extra);
}
