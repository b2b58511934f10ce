/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/statement.h"

#include "analyze/tell.h"

/* ---- Names -------------------------------------------------------------------------------------------------------- */

const char *ttm_severity_name(ttm_severity severity) {
  static const char *const names[] = {"failure", "warning", "note", "ok", "unknown"};
  return names[severity];
}

static const struct {
  const char *name, *title;
} TOPICS[TTM_TOPICS] = {
    {"failure", "Failure"},
    {"need", "Whole program"},
    {"tests", "Tests"},
    {"peak", "Peak"},
    {"alive", "Live tensors at the peak"},
    {"growth", "Growth"},
    {"freed_late", "Freed late"},
    {"fragmentation", "Fragmentation"},
    {"waste", "Waste at the peak"},
    {"padding", "Padding"},
    {"runs", "Runs"},
    {"layers", "Layers"},
    {"l1_core", "L1 of the fullest core"},
    {"traces", "Trace safety"},
    {"host", "Host memory"},
    {"compiler", "Compiler plan"},
    {"time", "Device time"},
    {"input", "Log"},
};
const char *ttm_topic_name(ttm_topic topic) { return TOPICS[topic].name; }
const char *ttm_topic_title(ttm_topic topic) { return TOPICS[topic].title; }

const char *ttm_fix_check_name(ttm_fix_check check) {
  static const char *const names[] = {"replayed", "derived", "estimated", "predicted"};
  return names[check];
}

/* ---- Finding ------------------------------------------------------------------------------------------------------ */

const ttm_statement *ttm_statements_first(const ttm_statements *all, ttm_topic topic) {
  for (size_t i = 0; i < all->at.n; i++) {
    if (all->at.at[i].topic == topic) return &all->at.at[i];
  }
  return NULL;
}

const ttm_statement *ttm_statements_find(const ttm_statements *all, const char *id, uint32_t number) {
  size_t n = strlen(id);
  bool any = n && id[n - 1] == '*';
  for (size_t i = 0; i < all->at.n; i++) {
    const ttm_statement *s = &all->at.at[i];
    if (s->number == number && (any ? !strncmp(s->id, id, n - 1) : !strcmp(s->id, id))) return s;
  }
  return NULL;
}

const ttm_statement *ttm_statements_of_incident(const ttm_statements *all, uint32_t incident) {
  /* Failures stand first, in the order of the incidents. */
  return incident < all->at.n && all->at.at[incident].topic == TTM_TOPIC_FAILURE ? &all->at.at[incident] : NULL;
}

/* ---- Telling ------------------------------------------------------------------------------------------------------ */

static ttm_statement *now(ttm_teller *t) { return t->out->at.n ? &t->out->at.at[t->out->at.n - 1] : NULL; }

ttm_statement *ttm_tell(ttm_teller *t, const char *id, ttm_topic topic, ttm_severity severity, ttm_basis basis) {
  ttm_statements *all = t->out;
  if (t->p && t->p->predicted) basis = TTM_PREDICTED; /* nothing was measured */
  if (t->p && t->p->filled && basis == TTM_DERIVED && topic != TTM_TOPIC_FAILURE) basis = TTM_PREDICTED;
  ttm_statement s = {.id = id, .topic = topic, .severity = severity, .basis = basis, .operation = UINT32_MAX};
  s.headline = s.detail = (ttm_str){"", 0};
  s.first_point = (uint32_t)all->points.n;
  s.first_quantity = (uint32_t)all->quantities.n;
  s.first_fix = (uint32_t)all->fixes.n;
  t->failed |= ttm_vec_push(&all->at, s) != TTM_OK;
  return now(t);
}

/* The sentence as a string that stays. */
static ttm_str keep(ttm_teller *t) {
  const char *kept = t->text.failed ? NULL : ttm_arena_copy(&t->out->arena, ttm_buf_str(&t->text));
  ttm_str out = kept ? (ttm_str){kept, t->text.n} : (ttm_str){"", 0};
  t->failed |= !kept;
  t->text.failed = false;
  ttm_buf_clear(&t->text);
  return out;
}

void ttm_tell_headline(ttm_teller *t) {
  ttm_str words = keep(t);
  if (now(t)) now(t)->headline = words;
}

void ttm_tell_detail(ttm_teller *t) {
  if (!now(t)) return;
  if (now(t)->detail.n) {
    ttm_buf all = {0};
    ttm_say(&all, t->f, "{} ", TTM_TEXT(now(t)->detail));
    ttm_buf_put(&all, ttm_buf_str(&t->text));
    ttm_buf_free(&t->text);
    t->text = all;
  }
  now(t)->detail = keep(t);
}

static uint32_t index_of(const ttm_teller *t, uint32_t op) {
  return t->p && op < t->p->ops.n ? ttm_findings_index(t->f, op) : UINT32_MAX;
}

void ttm_tell_point(ttm_teller *t, double mb, uint32_t op) {
  ttm_point point = {keep(t), mb, index_of(t, op)};
  if (ttm_vec_push(&t->out->points, point))
    t->failed = true;
  else if (now(t))
    now(t)->points++;
}

void ttm_tell_quantity(ttm_teller *t, const char *name, const char *unit, double value) {
  if (ttm_vec_push(&t->out->quantities, (ttm_quantity){name, unit, value}))
    t->failed = true;
  else if (now(t))
    now(t)->quantities++;
}

void ttm_tell_fix(ttm_teller *t, const ttm_remedy *r, const ttm_incident_text *what) {
  ttm_say_remedy(&t->text, t->f, r, what);
  ttm_fix fix = {ttm_remedy_name(r->kind),
                 keep(t),
                 r->bytes,
                 r->count,
                 r->check,
                 r->kind >= TTM_FIX_RELEASE_KEPT ? index_of(t, r->op) : UINT32_MAX,
                 {"", 0},
                 r->tried.peak,
                 r->tried.fits,
                 r->tried.rest_fits,
                 r->tried.rest != NULL,
                 {"", 0}};
  ttm_say_paste(&t->text, t->f, r);
  fix.paste = keep(t);
  ttm_buf_put(&t->text, r->tried.change);
  fix.change = keep(t);
  if (ttm_vec_push(&t->out->fixes, fix))
    t->failed = true;
  else if (now(t))
    now(t)->fixes++;
}

void ttm_tell_line(ttm_teller *t, uint32_t line) {
  if (now(t)) now(t)->line = line;
}

void ttm_tell_op(ttm_teller *t, uint32_t op) {
  if (!now(t) || op >= t->p->ops.n) return;
  now(t)->operation = index_of(t, op);
  if (!now(t)->line) now(t)->line = t->p->ops.at[op].line;
}

/* ---- All of it ---------------------------------------------------------------------------------------------------- */

/* What ends all failures, what may, what does not; of each kind first what was replayed. */
static unsigned rank_of(const ttm_fix *fix) {
  bool tried = fix->change.n > 0, ends = fix->rest_predicted || fix->fits > 0,
       fails = tried && !(ends && fix->rest_fits);
  unsigned whole = fails ? 2 : !tried || fix->rest_fits < 0;
  return whole * 2 + (fix->check == TTM_FIX_ESTIMATED || fix->check == TTM_FIX_DERIVED);
}

/* Statements are in the order of their topics, so that fixes of failures come first. One of a kind is enough: a failure's own says more than
 * the peak's. */
static int rank_fixes(ttm_statements *all) {
  for (uint32_t i = 0; i < all->fixes.n; i++) {
    bool known = false;
    for (size_t k = 0; k < all->best.n; k++)
      known |= !strcmp(all->fixes.at[all->best.at[k]].kind, all->fixes.at[i].kind);
    if (known) continue;
    if (ttm_vec_push(&all->best, i)) return TTM_ENOMEM;
    for (size_t k = all->best.n - 1; k; k--) {
      uint32_t *pair = all->best.at + k - 1;
      if (rank_of(&all->fixes.at[pair[0]]) <= rank_of(&all->fixes.at[pair[1]])) break;
      uint32_t later = pair[0];
      pair[0] = pair[1], pair[1] = later;
    }
  }
  return TTM_OK;
}

/* In the order of the topics. */
static void (*const TELL[])(ttm_teller *t) = {
    ttm_tell_failures, ttm_tell_need,        ttm_tell_tests,         ttm_tell_peaks,  ttm_tell_alive,
    ttm_tell_growth,   ttm_tell_freed_late,  ttm_tell_fragmentation, ttm_tell_waste,  ttm_tell_padding,
    ttm_tell_runs,     ttm_tell_layers,      ttm_tell_l1_core,       ttm_tell_traces, ttm_tell_host,
    ttm_tell_compiler, ttm_tell_device_time, ttm_tell_input,
};

int ttm_statements_make(ttm_statements *out, const ttm_findings *f) {
  ttm_teller t = {.f = f, .p = f->profile, .out = out};
  for (size_t i = 0; i < sizeof TELL / sizeof *TELL; i++) TELL[i](&t);
  ttm_buf_free(&t.text);
  return t.failed ? TTM_ENOMEM : rank_fixes(out);
}

void ttm_statements_free(ttm_statements *all) {
  ttm_vec_free(&all->at);
  ttm_vec_free(&all->points);
  ttm_vec_free(&all->quantities);
  ttm_vec_free(&all->fixes);
  ttm_vec_free(&all->best);
  ttm_arena_free(&all->arena);
}
