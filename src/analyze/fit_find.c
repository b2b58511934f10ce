/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/fit_find.h"

#include <math.h>

#include "analyze/tell.h"
#include "base/checked.h"

void ttm_find_free(ttm_find *find) {
  for (size_t i = 0; i < find->variable_count; i++) ttm_variable_free(&find->variables[i]);
  for (size_t i = 0; i < find->rows.n; i++) {
    ttm_search_free(&find->rows.at[i].search);
    ttm_vec_free(&find->rows.at[i].cases);
  }
  ttm_vec_free(&find->rows);
  ttm_fit_cases_free(&find->cases);
  ttm_statements_free(&find->said);
}

/* ---- Variables ------------------------------------------------------------------------------------------------------ */

int ttm_find_add_variable(ttm_find *find, const char *text, ttm_error *err) {
  if (find->variable_count == TTM_FIND_VARIABLES)
    return ttm_error_set(err, TTM_EUSAGE, "there are more than %d variables", TTM_FIND_VARIABLES);
  ttm_variable *v = &find->variables[find->variable_count++];
  int status = ttm_variable_parse(v, text, err);
  if (status) return status;
  for (ttm_variable *other = find->variables; other < v; other++)
    if (ttm_str_eq(other->name, v->name))
      return ttm_error_set(err, TTM_EUSAGE, "variable %.*s is given twice", TTM_ARGS(v->name));
  if (v == find->variables && !v->numbers)
    return ttm_error_set(err, TTM_EUSAGE, "'%s': the first variable is searched for, its values are rising numbers",
                         text);
  if (ttm_find_combinations(find) > TTM_FIND_ROWS)
    return ttm_error_set(err, TTM_EUSAGE,
                         "more than %d combinations; give fewer values: %.*s=1024,4096 or SEQ=1024..131072*2",
                         TTM_FIND_ROWS, TTM_ARGS(v->name));
  return TTM_OK;
}

uint64_t ttm_find_combinations(const ttm_find *find) {
  uint64_t n = 1;
  for (size_t v = 1; v < find->variable_count; v++) n = ttm_mul_sat(n, find->variables[v].n);
  return n;
}

uint64_t ttm_find_index(const ttm_find *find, uint32_t combination, size_t v) {
  for (size_t later = find->variable_count - 1; later > v; later--) combination /= (uint32_t)find->variables[later].n;
  return combination % find->variables[v].n;
}

static void put_value(const ttm_variable *v, uint64_t i, ttm_buf *out) {
  ttm_buf_put(out, v->name);
  ttm_buf_char(out, '=');
  ttm_variable_put(v, i, out);
}

void ttm_find_put_combination(const ttm_find *find, uint32_t combination, ttm_buf *out) {
  for (size_t v = 1; v < find->variable_count; v++) {
    put_value(&find->variables[v], ttm_find_index(find, combination, v), out);
    ttm_buf_puts(out, ", ");
  }
}

/* ---- What a row comes to --------------------------------------------------------------------------------------------- */

static const ttm_fit_case *case_of(const ttm_find *find, const ttm_find_row *row, uint64_t index) {
  const ttm_search_try *t = index == TTM_UNKNOWN ? NULL : ttm_search_tried(&row->search, index);
  return t ? &find->cases.at.at[row->cases.at[t - row->search.tries.at]] : NULL;
}

const ttm_fit_case *ttm_find_largest(const ttm_find *find, const ttm_find_row *row) {
  return case_of(find, row, ttm_search_largest(&row->search));
}

const ttm_fit_case *ttm_find_refused(const ttm_find *find, const ttm_find_row *row) {
  return case_of(find, row, ttm_search_refused(&row->search));
}

/* The peak is what the program takes with this value. */
static bool is_exact(const ttm_fit_case *c) { return c->measured && !c->dram_least && !c->refused; }

/* The largest value that fits, against the next smaller one that was run. */
ttm_find_step ttm_find_step_of(const ttm_find *find, const ttm_find_row *row) {
  uint64_t to = ttm_search_largest(&row->search), from = TTM_UNKNOWN;
  const ttm_fit_case *a, *b = case_of(find, row, to);
  for (size_t i = 0; i < row->search.tries.n; i++) {
    const ttm_search_try *t = &row->search.tries.at[i];
    if (t->outcome == TTM_OUTCOME_FITS && t->index != to && (from == TTM_UNKNOWN || t->index > from)) from = t->index;
  }
  if (from == TTM_UNKNOWN || !is_exact(b) || !is_exact(a = case_of(find, row, from))) return (ttm_find_step){.dram = 0};
  ttm_find_step step = {
      .from = ttm_variable_number(row->search.of, from), .to = ttm_variable_number(row->search.of, to), .known = true};
  double steps = (double)(step.to - step.from);
  step.dram = ((double)b->dram_peak - (double)a->dram_peak) / steps;
  step.l1 = ((double)b->l1_peak - (double)a->l1_peak) / steps;
  return step;
}

/* ---- Words ----------------------------------------------------------------------------------------------------------- */

typedef struct told {
  ttm_teller t;
  const ttm_find *find;
  const ttm_find_row *row;
} told;

static void say_value(told *o, uint64_t index) { put_value(o->row->search.of, index, &o->t.text); }

static void tell(told *o, const char *id, ttm_severity severity) {
  ttm_tell(&o->t, id, TTM_TOPIC_FAILURE, severity, TTM_MEASURED);
}

/* The first value that ended for another reason than memory; TTM_UNKNOWN. */
static uint64_t first_unknown(const ttm_search *s) {
  for (size_t i = 0; i < s->tries.n; i++)
    if (s->tries.at[i].outcome == TTM_OUTCOME_UNKNOWN) return s->tries.at[i].index;
  return TTM_UNKNOWN;
}

static void say_refusal(told *o, uint64_t index) {
  say_value(o, index);
  ttm_buf_puts(&o->t.text, ": ");
  ttm_fit_say_failure(&o->t.text, case_of(o->find, o->row, index));
}

/* As a detail; nothing when no value is refused. */
static void tell_refusal(told *o, uint64_t refused) {
  if (refused == TTM_UNKNOWN) return;
  say_refusal(o, refused);
  ttm_buf_char(&o->t.text, '.');
  ttm_tell_detail(&o->t);
}

/* Nothing fits, as far as is known. */
static void tell_nothing(told *o, uint64_t refused, uint64_t unknown) {
  uint64_t last = o->row->search.of->n - 1;
  if (refused == 0) {
    tell(o, "find.none", TTM_SEVERITY_FAILURE);
    say_value(o, 0);
    ttm_buf_puts(&o->t.text, ", the smallest value, does not fit: ");
    ttm_fit_say_failure(&o->t.text, case_of(o->find, o->row, 0));
    ttm_tell_headline(&o->t);
    if (last && case_of(o->find, o->row, last)) {
      say_value(o, last);
      ttm_buf_puts(&o->t.text, ", the largest, does not fit either. Values between them were not run.");
      ttm_tell_detail(&o->t);
    }
    return;
  }
  tell(o, "find.unknown", TTM_SEVERITY_UNKNOWN);
  ttm_say(&o->t.text, NULL, "{}: no value is known to fit", TTM_TEXT(o->row->search.of->name));
  if (unknown != TTM_UNKNOWN) {
    ttm_buf_puts(&o->t.text, "; with ");
    say_value(o, unknown);
    ttm_say(&o->t.text, NULL, " {}", TTM_TEXT(case_of(o->find, o->row, unknown)->why));
  }
  ttm_tell_headline(&o->t);
  tell_refusal(o, refused);
}

/* Values between the largest that fits and the one that is refused have no answer. */
static void tell_open(told *o, uint64_t largest, uint64_t refused, uint64_t unknown) {
  tell(o, "find.open", TTM_SEVERITY_UNKNOWN);
  say_value(o, largest);
  ttm_buf_puts(&o->t.text, " fits");
  if (refused != TTM_UNKNOWN) {
    ttm_buf_puts(&o->t.text, ", ");
    say_value(o, refused);
    ttm_buf_puts(&o->t.text, " does not; of the values between them ");
  } else {
    ttm_buf_puts(&o->t.text, "; of the larger values ");
  }
  if (unknown == TTM_UNKNOWN) {
    ttm_buf_puts(&o->t.text, "not all were run: the search was stopped");
  } else {
    ttm_buf_puts(&o->t.text, "some ended for another reason than memory: with ");
    say_value(o, unknown);
    ttm_say(&o->t.text, NULL, " {}", TTM_TEXT(case_of(o->find, o->row, unknown)->why));
  }
  ttm_tell_headline(&o->t);
  tell_refusal(o, refused);
  if (unknown != TTM_UNKNOWN)
    ttm_detail(&o->t,
               "Values that the program takes can be given as steps, powers or a list: {}=32..256+32, {}=1..256*2.",
               TTM_TEXT(o->row->search.of->name), TTM_TEXT(o->row->search.of->name));
}

static void tell_largest(told *o, uint64_t largest, uint64_t refused) {
  const ttm_fit_case *c = case_of(o->find, o->row, largest);
  bool last = largest + 1 == o->row->search.of->n;
  tell(o, last ? "find.all" : "find.largest", TTM_SEVERITY_OK);
  say_value(o, largest);
  if (last) {
    ttm_say(&o->t.text, NULL, " fits, the largest value asked for; DRAM headroom {}{} per bank",
            TTM_WORDS(c->dram_least ? "≤ " : ""), TTM_MB_OF(ttm_sub_sat(c->dram_bank, c->dram_peak)));
  } else {
    ttm_buf_puts(&o->t.text, " is the largest value that fits; ");
    say_refusal(o, refused);
  }
  ttm_tell_headline(&o->t);
}

/* A smaller value is refused, or takes more. */
static void tell_disorder(told *o, uint64_t largest) {
  const ttm_fit_case *most = NULL, *c;
  uint64_t at = 0;
  for (uint64_t i = 0; i < o->row->search.tries.n; i++) {
    uint64_t index = o->row->search.tries.at[i].index;
    if (index >= largest || largest == TTM_UNKNOWN) continue;
    c = case_of(o->find, o->row, index);
    if (c->fits == TTM_FITS_NOT) {
      say_value(o, index);
      ttm_buf_puts(&o->t.text,
                   " does not fit although a larger value does: values that were not run may do either. With ");
      tell_refusal(o, index);
      o->t.out->at.at[o->t.out->at.n - 1].severity = TTM_SEVERITY_WARNING;
      return;
    }
    if (is_exact(c) && (!most || c->dram_peak > most->dram_peak)) most = c, at = index;
  }
  c = case_of(o->find, o->row, largest);
  if (!most || !c || !is_exact(c) || most->dram_peak <= c->dram_peak) return;
  say_value(o, at);
  ttm_say(&o->t.text, NULL, " takes more DRAM ({} per bank) than ", TTM_MB_OF(most->dram_peak));
  say_value(o, largest);
  ttm_say(&o->t.text, NULL, " ({}): memory use does not simply grow with {}.", TTM_MB_OF(c->dram_peak),
          TTM_TEXT(o->row->search.of->name));
  ttm_tell_detail(&o->t);
}

static void tell_step(told *o) {
  ttm_find_step step = ttm_find_step_of(o->find, o->row);
  const ttm_fit_case *c = ttm_find_largest(o->find, o->row);
  uint64_t dram = step.dram > 0 ? (uint64_t)llround(step.dram) : 0, l1 = step.l1 > 0 ? (uint64_t)llround(step.l1) : 0;
  if (!step.known) return;
  ttm_say(&o->t.text, NULL, "From {} to {} each {} ", TTM_LINE(step.from), TTM_LINE(step.to),
          TTM_TEXT(o->row->search.of->name));
  if (dram)
    ttm_say(&o->t.text, NULL, "costs {} of DRAM per bank, {} per chip", TTM_BYTES(dram),
            TTM_BYTES(ttm_mul_sat(dram, c->dram_banks)));
  else
    ttm_buf_puts(&o->t.text, "costs no DRAM");
  if (l1) ttm_say(&o->t.text, NULL, ", and {} of L1 per core", TTM_BYTES(l1));
  ttm_buf_char(&o->t.text, '.');
  ttm_tell_detail(&o->t);
}

static void tell_runs(told *o) {
  enum { NAMED = 24 };
  const ttm_search *s = &o->row->search;
  ttm_say(&o->t.text, NULL, "Run: {} of {}", TTM_COUNT(s->tries.n), TTM_PLURAL(s->of->n, "value"));
  for (size_t i = 0; i < s->tries.n && i < NAMED; i++) {
    ttm_buf_puts(&o->t.text, ", ");
    ttm_variable_put(s->of, s->tries.at[i].index, &o->t.text);
  }
  ttm_buf_char(&o->t.text, '.');
  ttm_tell_detail(&o->t);
}

/* What else is to be known of the run that fits: a trace that was not captured, growth, a lower bound. */
static void tell_doubts(told *o, const ttm_fit_case *c) {
  const ttm_statement *s = c ? &o->find->cases.said.at.at[c - o->find->cases.at.at] : NULL;
  if (!s || s->severity == TTM_SEVERITY_OK) return;
  ttm_say(&o->t.text, NULL, "There: {}.", TTM_TEXT(s->headline));
  ttm_tell_detail(&o->t);
  o->t.out->at.at[o->t.out->at.n - 1].severity = TTM_SEVERITY_WARNING;
}

static void tell_row(told *o) {
  const ttm_search *s = &o->row->search;
  uint64_t largest = ttm_search_largest(s), refused = ttm_search_refused(s), unknown = first_unknown(s);
  bool closed = largest + 1 == s->of->n || refused == largest + 1;
  ttm_find_put_combination(o->find, o->row->combination, &o->t.text);
  if (largest == TTM_UNKNOWN)
    tell_nothing(o, refused, unknown);
  else if (closed)
    tell_largest(o, largest, refused);
  else
    tell_open(o, largest, refused, unknown);
  tell_disorder(o, largest);
  tell_step(o);
  tell_doubts(o, ttm_find_largest(o->find, o->row));
  tell_runs(o);
}

int ttm_find_tell(ttm_find *find) {
  told o = {.t = {.out = &find->said}, .find = find};
  for (size_t i = 0; i < find->rows.n; i++) {
    o.row = &find->rows.at[i];
    tell_row(&o);
  }
  ttm_tell(&o.t, "find.confidence", TTM_TOPIC_INPUT, TTM_SEVERITY_NOTE, TTM_MEASURED);
  ttm_headline(&o.t, "Measured on mock boards with ttnn's own allocator; no kernel ran");
  ttm_detail(&o.t,
             "A value fits when the program ran to its end with it, and is refused when ttnn refused it memory. Values "
             "above a refused one are taken not to fit.");
  if (find->kept)
    ttm_detail(&o.t, "{} of an earlier run of the same program; --no-cache runs it again.",
               TTM_PLURAL(find->kept, "answer"));
  ttm_buf_free(&o.t.text);
  return o.t.failed ? TTM_ENOMEM : TTM_OK;
}
