/* SPDX-License-Identifier: Apache-2.0 */
/* How memory changes over the run: growth from run to run, tensors freed late, warm-up and steady state, layers. */
#include "analyze/parts.h"
#include "analyze/tell.h"

enum { SHOWN_LEAKS = 10, SHOWN_LATE = 5 };

static uint32_t most_runs(const ttm_findings *f) {
  uint32_t most = 0;
  for (size_t i = 0; i < f->programs.n; i++) most = f->programs.at[i].runs > most ? f->programs.at[i].runs : most;
  return most;
}

/* ---- Growth ---------------------------------------------------------------------------------------------------------- */

static void tell_culprits(ttm_teller *t, const ttm_culprits *culprits) {
  for (uint32_t i = 0; i < culprits->n; i++) {
    const ttm_culprit *culprit = &culprits->at[i];
    ttm_say(&t->text, t->f, "the result of {}", TTM_OP(culprit->op));
    if (culprit->tensors > 1) ttm_say(&t->text, t->f, " ×{} in each run", TTM_COUNT(culprit->tensors));
    ttm_tell_point(t, ttm_mib(culprit->bank_bytes), culprit->op);
  }
}

static void say_rise(ttm_teller *t, const char *words, const ttm_leak *leak) {
  ttm_buf_puts(&t->text, words);
  if (leak->uneven)
    ttm_say(&t->text, t->f, "{} to {}", TTM_NUMBER(ttm_level_bytes(leak->least)),
            TTM_MB_OF(ttm_level_bytes(leak->most)));
  else
    ttm_say(&t->text, t->f, "{}", TTM_MB_OF(ttm_level_bytes(leak->per_run)));
}

static void tell_leak(ttm_teller *t, uint32_t i) {
  const ttm_leak *leak = &t->f->leaks.at[i];
  const ttm_call *first = &t->p->calls.at[t->f->runs.at[leak->first_run].call];
  ttm_statement *s = ttm_tell(t, "leak.run", TTM_TOPIC_GROWTH, TTM_SEVERITY_WARNING, TTM_DERIVED);
  if (!s) return;
  s->number = i;
  s->line = first->first_line;
  say_rise(t, "DRAM grows by ", leak);
  ttm_say(&t->text, t->f, " per bank with every {} {}, seen {} times",
          TTM_WORDS(leak->round ? "round of runs that begins with" : "run of"),
          TTM_TEXT(ttm_profile_string(t->p, first->name)), TTM_COUNT(leak->runs_seen));
  if (leak->runs_left != TTM_UNKNOWN)
    ttm_say(&t->text, t->f, "; full after about {}",
            TTM_PLURAL(leak->runs_left, leak->round ? "more round" : "more run"));
  ttm_tell_headline(t);
  const char *what = leak->op == TTM_NONE ? "Which tensors are never freed is unknown: no results add up to it"
                     : leak->culprits.several
                         ? "The results below may be those never freed; others would add up as well"
                         : "The results below are never freed";
  ttm_detail(t, "{}. Confidence {}.", TTM_WORDS(what), TTM_WORDS(leak->confidence));
  ttm_tell_op(t, leak->op);
  ttm_tell_quantity(t, "per_run", "MB", ttm_mb((int64_t)leak->per_run));
  ttm_tell_quantity(t, "runs_seen", "", leak->runs_seen);
  tell_culprits(t, &leak->culprits);
}

/* What would prove a suspicion. */
static void tell_proof(ttm_teller *t, const ttm_leak *leak, ttm_str program) {
  const char *unit = leak->round ? "more round" : "more run";
  if (leak->op != TTM_NONE)
    ttm_detail(t, "The results below are never freed, and as large. {} would prove it.",
               TTM_PLURAL(TTM_LEAK_RISES - leak->runs_seen, unit));
  else if (!program.n)
    ttm_detail(t,
               "Which programs ran is not in this log: TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG prints them, and would "
               "prove it.");
  else
    ttm_detail(t, "The same request again and again would prove it: a leak then grows by the same each time.");
}

static void tell_suspect(ttm_teller *t, const ttm_leak *leak) {
  const ttm_call *first = &t->p->calls.at[t->f->runs.at[leak->first_run].call];
  ttm_str program = ttm_profile_string(t->p, first->name);
  ttm_tell(t, "leak.suspected", TTM_TOPIC_GROWTH, TTM_SEVERITY_NOTE, TTM_ESTIMATED);
  ttm_say(&t->text, t->f, "Growth is suspected: DRAM rose in {}",
          TTM_PLURAL(leak->runs_seen, leak->round ? "round" : "run"));
  if (program.n)
    ttm_say(&t->text, t->f, " {} {}", TTM_WORDS(leak->round ? "that begin with" : "of"), TTM_TEXT(program));
  say_rise(t, ", by ", leak);
  ttm_buf_puts(&t->text, " per bank, and never fell back");
  ttm_tell_headline(t);
  tell_proof(t, leak, program);
  ttm_tell_line(t, first->first_line);
  ttm_tell_op(t, leak->op);
  ttm_tell_quantity(t, "per_run", "MB", ttm_mb((int64_t)leak->per_run));
  ttm_tell_quantity(t, "runs_seen", "", leak->runs_seen);
  tell_culprits(t, &leak->culprits);
}

/* "history_loop.py:15 and 2 more lines"; the operation, where the input does not know lines. */
static void say_lines(ttm_teller *t, const ttm_growth *g) {
  ttm_str place = ttm_profile_string(t->p, ttm_op_text_of(t->p, g->rows[0].op)->location);
  ttm_say(&t->text, t->f, "{}", place.n ? TTM_TEXT(place) : TTM_OP(g->rows[0].op));
  if (g->row_count > 1) ttm_say(&t->text, t->f, " and {}", TTM_PLURAL(g->row_count - 1, "more line"));
}

static void say_kept(ttm_teller *t, const ttm_growth *g) {
  uint32_t tensors = 0;
  for (uint32_t r = 0; r < g->row_count; r++) tensors += g->rows[r].tensors;
  uint32_t each = tensors / g->iterations;
  ttm_say(&t->text, t->f, "{} from ", TTM_PLURAL(tensors, "live tensor"));
  say_lines(t, g);
  if (g->spacing > 1)
    ttm_say(&t->text, t->f, ", one more every {}", TTM_PLURAL(g->spacing, "iteration"));
  else if (each > 1)
    ttm_say(&t->text, t->f, ", {} more each iteration", TTM_COUNT(each));
  else
    ttm_buf_puts(&t->text, ", one more each iteration");
  ttm_buf_puts(&t->text, g->kind == TTM_GROWTH_UNUSED ? ", not used and not freed"
                         : g->at_end                  ? ", freed only after the last operation"
                                                      : ", never freed");
}

static void say_cache(ttm_teller *t, const ttm_growth *g) {
  uint64_t now = 0;
  for (uint32_t r = 0; r < g->row_count; r++) now += g->rows[r].bank_bytes;
  ttm_buf_puts(&t->text, g->rows[0].tensors > 1 || g->row_count > 1 ? "Tensors from " : "The tensor from ");
  say_lines(t, g);
  ttm_say(&t->text, t->f, " {} with each iteration, from {} to {} per bank in {}",
          TTM_WORDS(g->rows[0].tensors > 1 || g->row_count > 1 ? "grow" : "grows"), TTM_NUMBER(g->first_bytes),
          TTM_MB_OF(now), TTM_PLURAL(g->iterations, "iteration"));
}

static void say_end(ttm_teller *t, const ttm_growth *g) {
  if (g->left == TTM_UNKNOWN) return;
  ttm_say(&t->text, t->f, "; {} {} after {}{}", TTM_WORDS(g->memory == TTM_L1 ? "L1" : "memory"),
          TTM_WORDS(g->ended ? "ended" : "ends"), TTM_WORDS(g->exact && g->spacing == 1 ? "" : "about "),
          TTM_PLURAL((g->iterations + g->left) * g->spacing, "iteration"));
}

static void tell_growth(ttm_teller *t, const ttm_growth *g) {
  enum { FAR = 100000 }; /* iterations: nobody waits for these */
  bool far = g->left != TTM_UNKNOWN && g->left > FAR, cache = g->kind == TTM_GROWTH_CACHE;
  bool urgent = g->sure && !far && (!cache || g->ended || g->left < g->iterations);
  ttm_tell(t,
           !g->sure ? "growth.suspected"
           : cache  ? "growth.cache"
                    : "growth.loop",
           TTM_TOPIC_GROWTH, urgent ? TTM_SEVERITY_WARNING : TTM_SEVERITY_NOTE, g->sure ? TTM_DERIVED : TTM_ESTIMATED);
  if (!g->sure) ttm_buf_puts(&t->text, "Growth is suspected: ");
  cache ? say_cache(t, g) : say_kept(t, g);
  say_end(t, g);
  ttm_tell_headline(t);
  if (g->per_iteration)
    ttm_detail(t, "{} of {} per bank each time.", TTM_MB_OF(g->per_iteration), TTM_WORDS(ttm_memory_name(g->memory)));
  if (g->kind == TTM_GROWTH_UNUSED)
    ttm_detail(t, "Weights that are still to be used look the same: a recording that goes on to use them tells.");
  else if (!g->sure)
    ttm_detail(t, "{} prove it: record {} more.", TTM_PLURAL(TTM_GROWTH_SURE, "iteration"),
               TTM_COUNT(TTM_GROWTH_SURE - g->iterations));
  ttm_tell_op(t, g->rows[0].op);
  ttm_tell_quantity(t, "iterations", "", (double)g->iterations * g->spacing);
  ttm_tell_quantity(t, "per_iteration", "MB", ttm_mib(g->per_iteration) / g->spacing);
  if (g->left != TTM_UNKNOWN)
    ttm_tell_quantity(t, "iterations_until_full", "", (double)(g->iterations + g->left) * g->spacing);
  for (uint32_t r = 0; r < g->row_count; r++)
    ttm_point_at(t, ttm_mib(g->rows[r].bank_bytes), g->rows[r].op, "{} ×{}", TTM_OP(g->rows[r].op),
                 TTM_COUNT(g->rows[r].tensors));
}

/* What was looked for and not found, or what the input cannot tell. */
static void tell_no_growth(ttm_teller *t) {
  uint32_t runs = most_runs(t->f);
  bool loops = t->p->kind == TTM_LOG_CAPTURE, told = loops || (ttm_words_has_runs(t->p) && runs >= TTM_LEAK_RUNS);
  ttm_tell(t, told ? "leak.none" : "leak.unknown", TTM_TOPIC_GROWTH, told ? TTM_SEVERITY_OK : TTM_SEVERITY_UNKNOWN,
           TTM_DERIVED);
  if (loops)
    ttm_headline(t, "No growth: no line of the program keeps one more tensor with each iteration");
  else if (told)
    ttm_headline(t, "No growth: over {} the level at the start of a run does not rise by the same amount each time",
                 TTM_PLURAL(runs, "run"));
  else if (ttm_words_has_runs(t->p))
    ttm_headline(t, "Growth is unknown: it takes {} of one program, and this log has {}",
                 TTM_PLURAL(TTM_LEAK_RUNS, "run"), TTM_COUNT(runs));
  else
    ttm_headline(t, "Growth is unknown: this input does not show where a run begins and ends");
}

void ttm_tell_growth(ttm_teller *t) {
  for (uint32_t i = 0; i < t->f->leaks.n && i < SHOWN_LEAKS; i++) tell_leak(t, i);
  for (uint32_t i = 0; i < t->f->growths.n; i++) tell_growth(t, &t->f->growths.at[i]);
  for (uint32_t i = 0; i < t->f->suspects.n; i++) tell_suspect(t, &t->f->suspects.at[i]);
  if (!t->f->leaks.n && !t->f->growths.n && !t->f->suspects.n) tell_no_growth(t);
}

/* ---- Freed late ------------------------------------------------------------------------------------------------------ */

static void tell_late(ttm_teller *t, const ttm_late_free *late) {
  const ttm_tensor *tensor = &t->p->tensors.at[late->tensor];
  ttm_say(&t->text, t->f, "the result of {}", TTM_OP(tensor->birth));
  if (late->times > 1) ttm_say(&t->text, t->f, " ×{}", TTM_COUNT(late->times));
  bool freed = tensor->freed_by < t->p->ops.n;
  ttm_say(&t->text, t->f, ": last used by {}, {} {}{}; freed there, the peak is {} per bank", TTM_OP(tensor->last_use),
          TTM_WORDS(freed ? "freed" : "not freed in the"), TTM_PLURAL(late->gap, "operation"),
          TTM_WORDS(freed ? " later" : " after it"), TTM_MB_OF(late->peak_bytes));
  ttm_tell_point(t, ttm_mib(late->bank_bytes), tensor->birth);
}

void ttm_tell_freed_late(ttm_teller *t) {
  const ttm_lifetimes *l = &t->f->lifetimes;
  if (ttm_tell_lives_unknown(t, "late.unknown", TTM_TOPIC_FREED_LATE, "Tensors freed late are")) return;
  uint64_t lowest = l->replayed ? l->replayed_peak_bytes : l->peak_without_bytes;
  bool helps = l->n && (!l->replayed || l->replay_agrees) && lowest + 2 * TTM_LEVEL_SLACK < l->peak_bytes;
  ttm_tell(t, l->n ? "late.free" : "late.none", TTM_TOPIC_FREED_LATE,
           helps  ? TTM_SEVERITY_WARNING
           : l->n ? TTM_SEVERITY_NOTE
                  : TTM_SEVERITY_OK,
           TTM_DERIVED);
  if (!l->n) {
    ttm_headline(t, "No tensor of any size stays allocated long after its last use");
    return;
  }
  uint64_t times = 0;
  for (size_t i = 0; i < l->n; i++) times += l->late[i].times;
  ttm_say(&t->text, t->f, "{} freed late", TTM_PLURAL(times, "tensor"));
  if (helps)
    ttm_say(&t->text, t->f, "; {}freed at the last use, the DRAM peak is {} instead of {} per bank",
            TTM_WORDS(l->replayed ? "replayed with each " : ""), TTM_NUMBER(lowest), TTM_MB_OF(l->peak_bytes));
  else
    ttm_buf_puts(&t->text, "; the DRAM peak stays as it is without them");
  ttm_tell_headline(t);
  ttm_tell_op(t, t->p->tensors.at[l->late[0].tensor].birth);
  for (size_t i = 0; i < l->n && i < SHOWN_LATE; i++) tell_late(t, &l->late[i]);
  if (l->n > SHOWN_LATE) ttm_point_at(t, TTM_NO_FIGURE, TTM_NONE, "and {} more", TTM_COUNT(l->n - SHOWN_LATE));
}

/* ---- Runs ------------------------------------------------------------------------------------------------------------ */

static void tell_program(ttm_teller *t, uint32_t i) {
  const ttm_program_runs *program = &t->f->programs.at[i];
  const ttm_call *call = &t->p->calls.at[program->call];
  ttm_str name = ttm_profile_string(t->p, call->name);
  uint32_t alike = program->runs - program->warm_up - program->odd;
  const ttm_run *usual = &t->f->runs.at[program->usual_run];
  ttm_statement *s =
      ttm_tell(t, "runs.program", TTM_TOPIC_RUNS, TTM_SEVERITY_NOTE, ttm_words_state_basis(t->p, TTM_NONE));
  if (!s) return;
  s->number = i;
  s->line = call->first_line;
  ttm_say(&t->text, t->f, "{} of {}", TTM_PLURAL(program->runs, "run"),
          TTM_TEXT(name.n ? name : TTM_LIT("operations outside programs")));
  if (t->p->ranks.n > 1) ttm_say(&t->text, t->f, " on rank {}", TTM_COUNT(t->p->ranks.at[call->rank]));
  if (program->runs > 1 && alike < 2)
    ttm_buf_puts(&t->text, ", no steady state yet");
  else if (program->runs > 1)
    ttm_say(&t->text, t->f, ": {} warm-up, {} in steady state", TTM_COUNT(program->warm_up), TTM_COUNT(alike));
  if (alike >= 2 && program->odd) ttm_say(&t->text, t->f, ", {} unlike them", TTM_COUNT(program->odd));
  if (usual->start != TTM_NONE && usual->peak != TTM_NONE)
    ttm_say(&t->text, t->f, "; DRAM from {} to {} per bank{}", TTM_NUMBER(ttm_level_bytes(usual->start)),
            TTM_MB_OF(ttm_level_bytes(usual->peak)), TTM_WORDS(alike >= 2 ? " then" : ""));
  if (program->peak != TTM_NONE && program->runs > 1)
    ttm_say(&t->text, t->f, ", highest {} in run {}", TTM_MB_OF(ttm_level_bytes(program->peak)),
            TTM_COUNT(t->p->calls.at[t->f->runs.at[program->peak_run].call].run));
  ttm_tell_headline(t);
  ttm_tell_quantity(t, "runs", "", program->runs);
  ttm_tell_quantity(t, "warm_up", "", program->warm_up);
}

/* The program that ran most often first. */
void ttm_tell_runs(ttm_teller *t) {
  uint32_t first = 0;
  if (!ttm_words_has_runs(t->p) || !t->f->programs.n) {
    ttm_tell(t, "runs.unknown", TTM_TOPIC_RUNS, TTM_SEVERITY_UNKNOWN, TTM_MEASURED);
    ttm_headline(t, ttm_words_has_runs(t->p)
                        ? "No program run is in this log"
                        : "Runs are unknown: this input does not show where a run begins and ends");
    return;
  }
  for (uint32_t i = 1; i < t->f->programs.n; i++)
    if (t->f->programs.at[i].runs > t->f->programs.at[first].runs) first = i;
  tell_program(t, first);
  for (uint32_t i = 0; i < t->f->programs.n; i++)
    if (i != first) tell_program(t, i);
}

/* ---- Layers ---------------------------------------------------------------------------------------------------------- */

void ttm_tell_layers(ttm_teller *t) {
  const ttm_layers *l = &t->f->layers;
  if (!l->period) {
    ttm_tell(t, "layers.none", TTM_TOPIC_LAYERS, TTM_SEVERITY_OK, TTM_DERIVED);
    ttm_headline(t, "No block of operations repeats in the longest run");
    return;
  }
  ttm_tell(t, "layers.repeat", TTM_TOPIC_LAYERS, TTM_SEVERITY_NOTE, TTM_DERIVED);
  ttm_say(&t->text, t->f, "{} of {}; each rises {} per bank above its start", TTM_PLURAL(l->count, "equal layer"),
          TTM_PLURAL(l->period, "operation"), TTM_MB_OF(ttm_level_bytes(l->peak)));
  if (l->growth) ttm_say(&t->text, t->f, " and leaves {}", TTM_CHANGE(l->growth));
  if (l->odd_count) ttm_say(&t->text, t->f, "; {} unlike them", TTM_PLURAL(l->odd_count, "layer"));
  ttm_tell_headline(t);
  ttm_detail(t, "From {} to {}.", TTM_OP(l->first_op), TTM_OP(l->last_op));
  ttm_tell_op(t, l->first_op);
  for (uint32_t i = 0; i < l->odd_count && i < TTM_ODD_LAYERS; i++) {
    const ttm_odd_layer *odd = &l->odd[i];
    ttm_say(&t->text, t->f, "layer {}: {}, first differs at {}", TTM_COUNT(odd->layer),
            TTM_PLURAL(odd->ops, "operation"), TTM_OP(odd->differs));
    if (odd->peak) ttm_say(&t->text, t->f, "; rises {} per bank", TTM_MB_OF(ttm_level_bytes(odd->peak)));
    ttm_tell_point(t, TTM_NO_FIGURE, odd->differs);
  }
}
