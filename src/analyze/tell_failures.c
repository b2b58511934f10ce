/* SPDX-License-Identifier: Apache-2.0 */
/* What failed, by how much, and what to change: a statement for each error message of the runtime. */
#include "analyze/tell.h"
#include "base/checked.h"

static bool known(uint64_t n) { return n != TTM_UNKNOWN; }

static const char *buffers(const ttm_incident_text *what) {
  return what->dataflow ? "dataflow buffers" : "circular buffers";
}

static void say_fatal(ttm_buf *out, const ttm_incident_text *what, uint64_t excess) {
  static const char *const words[] = {
      [TTM_ABOUT_UNKNOWN] = "Fatal error",
      [TTM_ABOUT_KERNELS] = "Program too large for the kernel config buffer",
      [TTM_ABOUT_TRACE_REGION] = "Traces exceed trace_region_size",
      [TTM_ABOUT_TRACE_OVERLAP] = "The trace would lie in memory that its own operations use",
      [TTM_ABOUT_TRACE_OTHER] = "The trace would lie in memory that another trace uses",
      [TTM_ABOUT_TRACE_UNSAFE] = "Buffers were allocated while a trace was alive: its replay may overwrite them",
      [TTM_ABOUT_HOST_MEMORY] = "The host ran out of memory, not the device",
      [TTM_ABOUT_HUGEPAGES] = "The driver could not set up its memory on the host",
      [TTM_ABOUT_EXHAUSTED] = "XLA reports that an allocation failed",
  };
  ttm_buf_puts(out, words[what->about]);
  if (known(excess) && what->about <= TTM_ABOUT_TRACE_REGION) ttm_say(out, NULL, " by {}", TTM_BYTES(excess));
}

void ttm_say_failure(ttm_buf *out, const ttm_incident_text *what, ttm_verdict verdict, uint64_t shortfall) {
  static const char *const words[] = {
      [TTM_VERDICT_NONE] = "",
      [TTM_VERDICT_EXHAUSTED] = ": insufficient memory, short by {} per bank",
      [TTM_VERDICT_FRAGMENTED] = ": fragmented, short by {} per bank",
      [TTM_VERDICT_IMPOSSIBLE] = ": the allocation exceeds bank capacity by {} per bank",
      [TTM_VERDICT_BLOCKED] = ": blocked by per-core allocations, short by {} per bank",
  };
  switch (what->kind) {
    case TTM_INCIDENT_OOM:
      ttm_buf_puts(out, "Out of memory");
      if (what->memory.n) ttm_say(out, NULL, " in {}", TTM_TEXT(what->memory));
      return ttm_say(out, NULL, words[verdict], TTM_MB_OF(shortfall));
    case TTM_INCIDENT_L1_CLASH:
      ttm_buf_puts(out, what->service    ? "Circular buffers overlap the service core's own L1"
                        : what->dataflow ? "Dataflow buffers and tensors overlap in L1"
                                         : "CB/tensor overlap in L1");
      if (known(shortfall)) ttm_say(out, NULL, ": {} per core", TTM_BYTES(shortfall));
      return;
    case TTM_INCIDENT_L1_OVERFLOW:
      ttm_buf_puts(out, what->dataflow ? "Dataflow buffers exceed L1" : "Circular buffers exceed L1");
      if (known(shortfall)) ttm_say(out, NULL, " by {} per core", TTM_BYTES(shortfall));
      return;
    case TTM_INCIDENT_L1_BUFFERS:
      ttm_buf_puts(out, what->dataflow                                            ? "Dataflow buffer error"
                        : ttm_str_contains(what->text, TTM_LIT("ircular buffer")) ? "Circular buffer error"
                                                                                  : "L1 error");
      if (known(shortfall)) ttm_say(out, NULL, ": {} too large", TTM_BYTES(shortfall));
      return;
    case TTM_INCIDENT_FATAL:
      return say_fatal(out, what, shortfall);
  }
}

/* "8.00 MB per bank needed (96.0 MB in 12 banks), 44.6 MB free, largest free block 7.49 MB." */
static void tell_need(ttm_teller *t, const ttm_incident_text *what) {
  if (!known(what->needed_per_bank)) {
    if (what->kind == TTM_INCIDENT_OOM && known(what->size)) ttm_detail(t, "{} asked for.", TTM_BYTES(what->size));
    return;
  }
  ttm_say(&t->text, t->f, "{} per bank needed", TTM_MB_OF(what->needed_per_bank));
  if (known(what->size) && known(what->banks))
    ttm_say(&t->text, t->f, " ({} in {})", TTM_BYTES(what->size), TTM_PLURAL(what->banks, "bank"));
  if (known(what->free_per_bank)) ttm_say(&t->text, t->f, ", {} free", TTM_MB_OF(what->free_per_bank));
  if (known(what->largest_free_block))
    ttm_say(&t->text, t->f, ", largest free block {}", TTM_MB_OF(what->largest_free_block));
  if (known(what->window))
    ttm_say(&t->text, t->f, ", {} of it beside per-core allocations in blocks of at most {}",
            TTM_MB_OF(what->placeable), TTM_MB_OF(what->window));
  if (known(what->bank_size) && what->needed_per_bank > what->bank_size)
    ttm_say(&t->text, t->f, ", bank capacity {}", TTM_MB_OF(what->bank_size));
  ttm_detail(t, ".");
}

static void tell_buffers(ttm_teller *t, const ttm_incident_text *what) {
  if (known(what->buffers_end)) {
    ttm_say(&t->text, t->f, "The {}", TTM_WORDS(buffers(what)));
    if (known(what->program)) ttm_say(&t->text, t->f, " of program {}", TTM_LINE(what->program));
    ttm_say(&t->text, t->f, " end at L1 address {}", TTM_COUNT(what->buffers_end));
    if (known(what->l1_buffer_at))
      ttm_say(&t->text, t->f, ", the lowest {} starts at {}", TTM_WORDS(what->service ? "allocation there" : "tensor"),
              TTM_COUNT(what->l1_buffer_at));
    if (known(what->l1_size)) ttm_say(&t->text, t->f, ", L1 ends at {}", TTM_COUNT(what->l1_size));
    ttm_detail(t, ".");
  }
  if (what->core_range.n) ttm_detail(t, "Cores {}.", TTM_TEXT(what->core_range));
}

void ttm_tell_numbers(ttm_teller *t, const ttm_incident_text *what) {
  tell_need(t, what);
  tell_buffers(t, what);
}

/* ---- What is in the way ------------------------------------------------------------------------------------------- */

/* "the result of #1 ttnn.empty at model.py:5 (1x1x19200x2048 bf16, tiles in L1), 1.17 MB per core at address 270,336" */
static void say_obstacle(ttm_buf *out, const ttm_findings *f, const ttm_obstacle *o) {
  if (o->op < f->profile->ops.n)
    ttm_say(out, f, "{} of {}", TTM_WORDS(o->type == TTM_NONE ? "a buffer" : "the result"), TTM_OP(o->op));
  else
    ttm_buf_puts(out, "a tensor from before this input begins");
  if (o->type != TTM_NONE) {
    ttm_buf_puts(out, " (");
    ttm_words_type(out, f->profile, o->type, TTM_FORM_UTF8);
    ttm_buf_char(out, ')');
  }
  ttm_say(out, f, ", {} per core at address {}", TTM_BYTES(o->bytes), TTM_COUNT(o->at));
}

void ttm_say_obstacles(ttm_buf *out, const ttm_findings *f, const ttm_obstacles *all) {
  ttm_buf_puts(out, "In the way: ");
  say_obstacle(out, f, &all->at[0]);
  if (all->n > 1)
    ttm_say(out, f, ", and {} more below that end, {} per core together", TTM_COUNT(all->n - 1), TTM_BYTES(all->bytes));
  if (all->basis != TTM_MEASURED) ttm_buf_printf(out, " (%s)", ttm_basis_name(all->basis));
  ttm_buf_char(out, '.');
}

/* The tensors in the way; what would name them, where this input cannot. */
static void tell_obstacles(ttm_teller *t, const ttm_incident_text *what, const ttm_obstacles *all) {
  if (what->kind != TTM_INCIDENT_L1_CLASH || what->service || !known(what->l1_buffer_at)) return;
  if (!all->n)
    return ttm_detail(t,
                      "Which tensor starts there is not in this {}: 'ttmem run' records every tensor of a ttnn program "
                      "with its address and "
                      "source line.",
                      TTM_WORDS(t->p->kind == TTM_LOG_CAPTURE ? "recording"
                                : t->p->seen.lines < 2        ? "message"
                                                              : "log"));
  ttm_say_obstacles(&t->text, t->f, all);
  ttm_tell_detail(t);
  for (size_t i = 0; all->n > 1 && i < all->n && i < TTM_OBSTACLES; i++) {
    say_obstacle(&t->text, t->f, &all->at[i]);
    ttm_tell_point(t, TTM_NO_FIGURE, all->at[i].op);
  }
}

/* ---- One failure ---------------------------------------------------------------------------------------------------- */

/* Its headline names the operation: of L1 that is what a reader asks first. */
static bool is_about_l1(const ttm_incident_text *what) {
  return what->kind > TTM_INCIDENT_OOM && what->kind < TTM_INCIDENT_FATAL;
}

/* The operation; of a log without operations what the traceback names. */
static bool say_where(ttm_teller *t, const char *before, const ttm_incident *incident) {
  if (incident->op != TTM_NONE)
    ttm_say(&t->text, t->f, "{}{}", TTM_WORDS(before), TTM_OP(incident->op));
  else if (incident->place)
    ttm_say(&t->text, t->f, "{}{}", TTM_WORDS(before), TTM_TEXT(ttm_profile_string(t->p, incident->place)));
  return incident->op != TTM_NONE || incident->place;
}

/* Where it happened: the operation, and the line of the message where that is a line of a log. */
static void tell_place(ttm_teller *t, const ttm_incident *incident) {
  if (!is_about_l1(&incident->what) && say_where(t, "In ", incident))
    ttm_detail(t, t->p->filled && !t->p->seen.op_lines ? " (predicted)." : ".");
  if (t->p->kind == TTM_LOG_CAPTURE || t->p->seen.lines < 2) return;
  ttm_say(&t->text, t->f, "Message in log line {}", TTM_LINE(incident->line));
  if (t->p->ranks.n > 1)
    ttm_say(&t->text, t->f, ", {} {}", TTM_WORDS(ttm_words_rank(t->p)), TTM_COUNT(t->p->ranks.at[incident->rank]));
  ttm_detail(t, ".");
}

/* What the message leaves open. */
static void tell_doubt(ttm_teller *t, const ttm_incident_text *what, const ttm_incident_finding *finding) {
  if (what->kind == TTM_INCIDENT_FATAL && !what->about) ttm_detail(t, "It says nothing about memory.");
  if (what->about == TTM_ABOUT_EXHAUSTED)
    ttm_detail(t, "Which memory it was, and how much was missing, stands in the runtime's own message before it.");
  if (what->about == TTM_ABOUT_TRACE_OVERLAP || what->about == TTM_ABOUT_TRACE_OTHER)
    ttm_detail(t, "With trace_region_size=0 a trace is put at the top of DRAM, among the tensors.");
  if (what->kind == TTM_INCIDENT_OOM && known(what->size) && !known(what->needed_per_bank))
    ttm_detail(t, "The message is cut before it says how much was free: give the whole line.");
  else if (what->kind == TTM_INCIDENT_OOM && finding->verdict == TTM_VERDICT_NONE)
    ttm_detail(t,
               "The message does not say how much was free; a log with memory states tells insufficient from "
               "fragmented memory.");
  if (finding->derived) ttm_detail(t, "Judged by the last memory state before the message.");
}

static const char *id_of(const ttm_incident_text *what, ttm_verdict verdict) {
  static const char *const ooms[] = {"oom.unknown", "oom.insufficient", "oom.fragmented", "oom.exceeds-bank",
                                     "oom.blocked"};
  static const char *const fatals[] = {"fatal",         "kernels.too-large", "trace.region",
                                       "trace.overlap", "trace.overlap",     "trace.unsafe",
                                       "host.memory",   "host.hugepages",    "xla.exhausted"};
  switch (what->kind) {
    case TTM_INCIDENT_OOM:
      return ooms[verdict];
    case TTM_INCIDENT_L1_CLASH:
      return "l1.overlap";
    case TTM_INCIDENT_L1_OVERFLOW:
      return "l1.overflow";
    case TTM_INCIDENT_L1_BUFFERS:
      return "l1.buffers";
    case TTM_INCIDENT_FATAL:
      break;
  }
  return fatals[what->about];
}

static void tell_quantities(ttm_teller *t, const ttm_incident_text *what, uint64_t shortfall) {
  const struct {
    const char *name;
    uint64_t n;
  } all[] = {{"needed_per_bank", what->needed_per_bank},
             {"free_per_bank", what->free_per_bank},
             {"largest_free_block", what->largest_free_block},
             {"bank_size", what->bank_size},
             {"short_by", shortfall},
             {"buffers_end", what->buffers_end},
             {"lowest_tensor", what->l1_buffer_at},
             {"l1_size", what->l1_size},
             {"limit", what->limit},
             {"placeable", what->placeable},
             {"largest_window", what->window}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (known(all[i].n)) ttm_tell_quantity(t, all[i].name, "B", (double)all[i].n);
  }
}

/* The message as a sentence. */
static void tell_message(ttm_teller *t, const ttm_incident_text *what) {
  char last = what->text.n ? what->text.p[what->text.n - 1] : '.';
  ttm_detail(t, "{}{}", TTM_TEXT(what->text), TTM_WORDS(strchr(".!?:;", last) ? "" : "."));
}

static void tell_failure(ttm_teller *t, uint32_t i) {
  const ttm_incident_finding *finding = &t->f->incidents.at[i];
  const ttm_incident *incident = &t->p->incidents.at[finding->incident];
  const ttm_incident_text *what = &incident->what;
  ttm_remedies fixes;
  ttm_statement *s = ttm_tell(t, id_of(what, finding->verdict), TTM_TOPIC_FAILURE,
                              what->about == TTM_ABOUT_TRACE_UNSAFE ? TTM_SEVERITY_WARNING : TTM_SEVERITY_FAILURE,
                              finding->derived ? TTM_DERIVED : TTM_MEASURED);
  if (!s) return;
  s->number = i;
  s->line = incident->line;
  ttm_say_failure(&t->text, what, finding->verdict, finding->shortfall);
  if (is_about_l1(what)) say_where(t, ", in ", incident);
  ttm_tell_headline(t);
  ttm_tell_numbers(t, what);
  tell_obstacles(t, what, &finding->obstacles);
  if (what->kind >= TTM_INCIDENT_L1_BUFFERS) tell_message(t, what);
  tell_place(t, incident);
  tell_doubt(t, what, finding);
  ttm_tell_op(t, incident->op);
  tell_quantities(t, what, finding->shortfall);
  if (i < t->f->failure_fixes.n)
    fixes = t->f->failure_fixes.at[i];
  else
    ttm_fixes_of_failure(&fixes, t->f, i);
  for (size_t k = 0; k < fixes.n; k++) ttm_tell_fix(t, &fixes.at[k], what);
}

/* A clash that no message told: what was captured goes on where a run fails. */
static void tell_shown_clash(ttm_teller *t) {
  const ttm_shown_clash *clash = &t->f->shown_clash;
  const ttm_incident_text *what = &clash->incident.what;
  ttm_remedies fixes = {.n = 0};
  if (!clash->is) return;
  uint64_t overlap = (uint64_t)-t->f->core_use.gap;
  ttm_tell(t, id_of(what, TTM_VERDICT_NONE), TTM_TOPIC_FAILURE, TTM_SEVERITY_FAILURE, TTM_DERIVED);
  ttm_say_failure(&t->text, what, TTM_VERDICT_NONE, overlap);
  ttm_headline(t, ", in {}: it cannot run", TTM_OP(clash->incident.op));
  ttm_tell_numbers(t, what);
  tell_obstacles(t, what, &clash->obstacles);
  ttm_tell_op(t, clash->incident.op);
  tell_quantities(t, what, overlap);
  ttm_fixes_of_clash(&fixes, t->p, &clash->incident, &clash->obstacles);
  for (size_t k = 0; k < fixes.n; k++) ttm_tell_fix(t, &fixes.at[k], what);
}

/* More weights than memory: nothing that is freed on the way helps. */
static void tell_weights(ttm_teller *t) {
  const ttm_weight_demand *demand = &t->f->weight_demand;
  if (!demand->bytes || demand->bytes <= demand->capacity) return;
  ttm_tell(t, "weights.exceed-dram", TTM_TOPIC_FAILURE, TTM_SEVERITY_FAILURE, TTM_ESTIMATED);
  ttm_headline(t, "The weights alone need about {} per chip, DRAM holds {}: freeing other tensors cannot help",
               TTM_BYTES(demand->bytes), TTM_BYTES(demand->capacity));
  ttm_tell_quantity(t, "weights", "B", (double)demand->bytes);
  ttm_tell_quantity(t, "capacity", "B", (double)demand->capacity);
}

void ttm_tell_failures(ttm_teller *t) {
  for (uint32_t i = 0; i < t->f->incidents.n; i++) tell_failure(t, i);
  tell_shown_clash(t);
  tell_weights(t);
  if (t->out->at.n) return;
  ttm_tell(t, "failure.none", TTM_TOPIC_FAILURE, TTM_SEVERITY_OK, TTM_MEASURED);
  ttm_headline(t, "No error message of the runtime");
  if (t->p->seen.damage) ttm_detail(t, "The input is damaged: one may have stood where it is not readable.");
}
