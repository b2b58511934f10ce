/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/diff.h"

#include <stdlib.h>

#include "analyze/fold.h"
#include "analyze/parts.h"
#include "analyze/tell.h"

/* ---- Counting and ranking --------------------------------------------------------------------------------------------- */

/* 0 as well when the log does not tell: nobody is blamed or praised for that. */
static int64_t change_of(const ttm_diff_row *row) {
  if (row->effect[0] == TTM_DIFF_UNKNOWN || row->effect[1] == TTM_DIFF_UNKNOWN) return 0;
  return row->effect[1] - row->effect[0];
}

static int64_t size_of(const ttm_diff_row *row) {
  int64_t change = change_of(row);
  return change < 0 ? -change : change;
}

/* Adds a changed row to its group. */
static int fold_row(ttm_diff *d, ttm_fold *fold, uint32_t at) {
  ttm_diff_row *row = &d->rows.at[at];
  int side = row->op[1] != TTM_NONE;
  const ttm_profile *p = d->f[side]->profile;
  uint32_t group, name;
  if (size_of(row) <= TTM_DIFF_NOISE) return TTM_OK;
  if (ttm_intern_add(&d->names, ttm_words_name(p, row->op[side]), &name)) return TTM_ENOMEM;
  if (ttm_fold_add(fold, ttm_words_location(p, row->op[side]), (uint64_t)name << 1 | (change_of(row) > 0), &group))
    return TTM_ENOMEM;
  if (group == d->groups.n && ttm_vec_push(&d->groups, (ttm_diff_group){.row = at})) return TTM_ENOMEM;
  ttm_diff_group *to = &d->groups.at[group];
  row->group = group;
  to->rows++;
  for (int s = 0; s < 2; s++) to->effect[s] += row->effect[s];
  if (size_of(row) > size_of(&d->rows.at[to->row])) to->row = at;
  return TTM_OK;
}

static int by_change(const void *a, const void *b) {
  const ttm_diff_group *x = a, *y = b;
  int64_t p = llabs(x->effect[1] - x->effect[0]), q = llabs(y->effect[1] - y->effect[0]);
  if (p != q) return p > q ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

static int count_name(ttm_diff *d, const ttm_diff_row *row, int side) {
  uint32_t id;
  size_t i = 0;
  if (ttm_intern_add(&d->names, ttm_words_name(d->f[side]->profile, row->op[side]), &id)) return TTM_ENOMEM;
  while (i < d->counts.n && d->counts.at[i].id != id) i++; /* some fifty kinds of operations */
  if (i == d->counts.n && ttm_vec_push(&d->counts, (ttm_diff_name){.id = id})) return TTM_ENOMEM;
  d->counts.at[i].only[side]++;
  return TTM_OK;
}

static int count_rows(ttm_diff *d) {
  for (uint32_t i = 0; i < d->rows.n; i++) {
    const ttm_diff_row *row = &d->rows.at[i];
    bool here = row->op[0] != TTM_NONE, there = row->op[1] != TTM_NONE;
    if (here && there) {
      d->both++;
    } else {
      d->only[there]++;
      if (count_name(d, row, there)) return TTM_ENOMEM;
    }
  }
  return TTM_OK;
}

/* Largest change first; the rows follow their groups. */
static int rank_groups(ttm_diff *d) {
  uint32_t *place = ttm_alloc_array(d->groups.n, sizeof *place);
  if (!place) return TTM_ENOMEM;
  if (d->groups.n) qsort(d->groups.at, d->groups.n, sizeof *d->groups.at, by_change);
  for (uint32_t g = 0; g < d->groups.n; g++) place[d->rows.at[d->groups.at[g].row].group] = g;
  for (size_t i = 0; i < d->rows.n; i++)
    if (d->rows.at[i].group != TTM_NONE) d->rows.at[i].group = place[d->rows.at[i].group];
  ttm_free(place);
  return TTM_OK;
}

static int fold_rows(ttm_diff *d) {
  ttm_fold fold = {.whole = !ttm_words_has_runs(d->f[1]->profile)};
  int status = TTM_OK;
  for (uint32_t i = 0; i < d->rows.n && !status; i++) status = fold_row(d, &fold, i);
  for (uint32_t g = 0; g < d->groups.n && !status; g++) {
    d->groups.at[g].name = ttm_fold_name_in(&fold, g, &d->arena);
    if (!d->groups.at[g].name.p) status = TTM_ENOMEM;
  }
  ttm_fold_free(&fold);
  return status ? status : rank_groups(d);
}

const char *ttm_diff_kind_name(ttm_diff_kind kind) {
  static const char *const names[] = {"same", "changed", "moved", "removed", "inserted"};
  return names[kind];
}

static int tell(ttm_diff *d);

int ttm_diff_make(ttm_diff *out, const ttm_findings *before, const ttm_findings *after, double tolerance) {
  *out = (ttm_diff){.f = {before, after}, .tolerance = tolerance};
  int status = ttm_diff_match(out);
  if (!status) status = count_rows(out);
  if (!status) status = fold_rows(out);
  if (!status) status = ttm_diff_alive_sets(out);
  if (!status) status = tell(out);
  return status;
}

void ttm_diff_free(ttm_diff *d) {
  ttm_vec_free(&d->rows);
  for (int s = 0; s < 2; s++) ttm_free(d->row_of[s]);
  ttm_vec_free(&d->frees);
  ttm_vec_free(&d->counts);
  for (int m = 0; m < 2; m++) ttm_vec_free(&d->alive[m]);
  ttm_vec_free(&d->groups);
  ttm_intern_free(&d->names);
  ttm_arena_free(&d->arena);
  ttm_statements_free(&d->statements);
  *d = (ttm_diff){0};
}

/* ---- What it means ---------------------------------------------------------------------------------------------------- */

int64_t ttm_diff_peak(const ttm_diff *d, int side, ttm_memory memory) {
  return ttm_peak_milli(&d->f[side]->peak[memory]);
}

/* An error that became another one is a new one. */
static bool fails_more(const ttm_diff *d) {
  size_t counts[2][TTM_INCIDENT_FATAL + 1] = {0};
  for (int s = 0; s < 2; s++)
    for (size_t i = 0; i < d->f[s]->incidents.n; i++) counts[s][d->f[s]->profile->incidents.at[i].what.kind]++;
  for (int k = 0; k <= TTM_INCIDENT_FATAL; k++)
    if (counts[1][k] > counts[0][k]) return true;
  return false;
}

static bool peak_is_worse(const ttm_diff *d, ttm_memory m) {
  int64_t was = ttm_diff_peak(d, 0, m), is = ttm_diff_peak(d, 1, m);
  return was >= 0 && is > was + TTM_DIFF_NOISE && (double)(is - was) * 100 > (double)was * d->tolerance;
}

static bool leaks_more(const ttm_diff *d) { return ttm_leak_sum(d->f[1]) > ttm_leak_sum(d->f[0]) + TTM_DIFF_NOISE; }

bool ttm_diff_is_worse(const ttm_diff *d) {
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++)
    if (peak_is_worse(d, m)) return true;
  return fails_more(d) || leaks_more(d);
}

/* ---- In words ---------------------------------------------------------------------------------------------------------- */

static ttm_basis peak_basis(const ttm_diff *d, ttm_memory m) {
  for (int s = 0; s < 2; s++)
    if (ttm_state_is_predicted(d->f[s]->profile, d->f[s]->peak[m].state)) return TTM_PREDICTED;
  return TTM_MEASURED;
}

/* "DRAM peak rose by 8.00 MB per bank (+0.8 %)". */
static void say_change(ttm_teller *t, const ttm_diff *d, ttm_memory m) {
  int64_t was = ttm_diff_peak(d, 0, m), change = ttm_diff_peak(d, 1, m) - was;
  ttm_say(&t->text, t->f, "{} peak {} by {} per bank", TTM_WORDS(ttm_memory_name(m)),
          TTM_WORDS(change > 0 ? "rose" : "fell"), TTM_MB_OF(ttm_level_bytes((uint64_t)llabs(change))));
  if (change <= was) ttm_buf_printf(&t->text, " (%+.1f %%)", 100.0 * (double)change / (double)was);
}

/* What grew most: live tensors of one name, else operations. */
static void tell_most(ttm_teller *t, const ttm_diff *d, ttm_memory m) {
  for (size_t i = 0; m <= TTM_L1 && i < d->alive[m].n; i++) {
    const ttm_diff_alive *row = &d->alive[m].at[i];
    if (row->bytes[1] <= row->bytes[0] || !row->name.n) continue;
    ttm_say(&t->text, t->f, "Largest growth: {} {}", TTM_WORDS(ttm_words_class(t->p, row->class)), TTM_TEXT(row->name));
    if (row->tensors[1] > 1) ttm_say(&t->text, t->f, " ×{}", TTM_COUNT(row->tensors[1]));
    ttm_say(&t->text, t->f, ", {} per bank more.", TTM_MB_OF(row->bytes[1] - row->bytes[0]));
    return ttm_tell_detail(t);
  }
  for (size_t i = 0; m == TTM_DRAM && !d->alive[m].n && i < d->groups.n; i++) {
    const ttm_diff_group *group = &d->groups.at[i];
    const ttm_diff_row *row = &d->rows.at[group->row];
    if (group->effect[1] <= group->effect[0] || row->op[1] == TTM_NONE) continue;
    ttm_say(&t->text, t->f, "Largest growth: {} {}", TTM_TEXT(ttm_words_name(t->p, row->op[1])), TTM_TEXT(group->name));
    if (group->rows > 1) ttm_say(&t->text, t->f, " ×{}", TTM_COUNT(group->rows));
    ttm_say(&t->text, t->f, ", {} per bank.", TTM_CHANGE(group->effect[1] - group->effect[0]));
    return ttm_tell_detail(t);
  }
}

static void tell_peak(ttm_teller *t, const ttm_diff *d, ttm_memory m) {
  int64_t was = ttm_diff_peak(d, 0, m), is = ttm_diff_peak(d, 1, m), change = is - was;
  const char *name = ttm_memory_name(m);
  if (was <= 0 && is <= 0) return;
  bool known = was >= 0 && is >= 0, same = known && llabs(change) <= TTM_DIFF_NOISE;
  ttm_statement *s = ttm_tell(t, known ? "diff.peak" : "diff.peak-unknown", TTM_TOPIC_PEAK,
                              !known || same        ? TTM_SEVERITY_OK
                              : peak_is_worse(d, m) ? TTM_SEVERITY_WARNING
                                                    : TTM_SEVERITY_NOTE,
                              peak_basis(d, m));
  if (s) s->number = m;
  if (!known) return ttm_headline(t, "{} peak is unknown {}", TTM_WORDS(name), TTM_WORDS(was < 0 ? "before" : "after"));
  if (same)
    return ttm_headline(t, "{} peak is the same, {} per bank", TTM_WORDS(name),
                        TTM_MB_OF(ttm_level_bytes((uint64_t)is)));
  say_change(t, d, m);
  ttm_say(&t->text, t->f, ", from {} to {}", TTM_NUMBER(ttm_level_bytes((uint64_t)was)),
          TTM_MB_OF(ttm_level_bytes((uint64_t)is)));
  ttm_tell_headline(t);
  const ttm_peak *peak = &t->f->peak[m];
  if (!peak->in_op_bytes && peak->cause != TTM_NONE) ttm_detail(t, "After, {} raised it.", TTM_OP(peak->cause));
  if (change > 0) tell_most(t, d, m);
  if (peak->at_least || d->f[0]->peak[m].at_least)
    ttm_detail(t, "Both are lower bounds where the input is a graph capture: tensors from before it may be missing.");
  ttm_tell_quantity(t, "change_per_bank", "MB", ttm_mb(change));
}

/* What failed or leaks on each side. */
static void tell_failures(ttm_teller *t, const ttm_diff *d) {
  for (int s = 0; s < 2; s++) {
    const ttm_statements *all = &d->f[s]->statements;
    for (size_t i = 0; i < all->at.n; i++) {
      const ttm_statement *one = &all->at.at[i];
      bool leak = !strcmp(one->id, "leak.run");
      if (one->severity != TTM_SEVERITY_FAILURE && !leak) continue;
      ttm_tell(t, s ? "diff.fails-after" : "diff.fails-before", leak ? TTM_TOPIC_GROWTH : TTM_TOPIC_FAILURE,
               s ? one->severity : TTM_SEVERITY_NOTE, one->basis);
      ttm_headline(t, "{}: {}", TTM_WORDS(s ? "After" : "Before"), TTM_TEXT(one->headline));
      ttm_tell_line(t, one->line);
    }
  }
}

/* Every reason, with who raised a peak. */
static void say_reasons(ttm_teller *t, const ttm_diff *d) {
  const char *separator = "Worse: ";
  if (fails_more(d)) {
    ttm_say(&t->text, t->f, "{}more fails than before, {}", TTM_WORDS(separator),
            TTM_TEXT(d->f[1]->statements.at.at[0].headline));
    separator = "; ";
  }
  if (leaks_more(d)) {
    ttm_say(&t->text, t->f, "{}every run leaves {} per bank, {} before", TTM_WORDS(separator),
            TTM_MB_OF(ttm_level_bytes(ttm_leak_sum(d->f[1]))), TTM_MB_OF(ttm_level_bytes(ttm_leak_sum(d->f[0]))));
    separator = "; ";
  }
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    const ttm_peak *peak = &t->f->peak[m];
    if (!peak_is_worse(d, m)) continue;
    ttm_buf_puts(&t->text, separator);
    say_change(t, d, m);
    if (!peak->in_op_bytes && peak->cause != TTM_NONE) ttm_say(&t->text, t->f, ", raised by {}", TTM_OP(peak->cause));
    separator = "; ";
  }
}

static void tell_worse(ttm_teller *t, const ttm_diff *d) {
  if (!ttm_diff_is_worse(d)) {
    ttm_tell(t, "diff.not-worse", TTM_TOPIC_FAILURE, TTM_SEVERITY_OK, TTM_MEASURED);
    ttm_buf_printf(&t->text, "Not worse: no new failure, no new growth, no peak rose by more than %g %%", d->tolerance);
    return ttm_tell_headline(t);
  }
  ttm_tell(t, "diff.worse", TTM_TOPIC_FAILURE, TTM_SEVERITY_WARNING, TTM_MEASURED);
  say_reasons(t, d);
  ttm_tell_headline(t);
  for (ttm_memory m = TTM_MEMORIES; m-- > 0;)
    if (peak_is_worse(d, m)) ttm_tell_op(t, t->f->peak[m].cause);
}

static void tell_operations(ttm_teller *t, const ttm_diff *d) {
  ttm_tell(t, d->groups.n ? "diff.operations" : "diff.same-operations", TTM_TOPIC_ALIVE,
           d->groups.n ? TTM_SEVERITY_NOTE : TTM_SEVERITY_OK, TTM_DERIVED);
  ttm_headline(t, d->groups.n ? "Operations whose delta in DRAM changed" : "No operation's delta in DRAM changed");
  ttm_detail(t, "{} in both, of them {} with other results and {} moved; {} removed, {} inserted.",
             TTM_PLURAL(d->both, "operation"), TTM_COUNT(d->kinds[TTM_DIFF_CHANGED]),
             TTM_COUNT(d->kinds[TTM_DIFF_MOVED]), TTM_COUNT(d->only[0]), TTM_COUNT(d->only[1]));
  ttm_detail(t, "They are aligned by name, location and results; runs that are alike count once.");
}

/* "Live at the DRAM peak: weights 8.00 MB per bank more, activations 1.20 MB less". */
static void tell_alive(ttm_teller *t, const ttm_diff *d, ttm_memory m) {
  const ttm_alive_set *before = &d->f[0]->alive_set[m], *after = &d->f[1]->alive_set[m];
  bool any = false;
  if (!d->alive[m].n) return;
  ttm_say(&t->text, t->f, "Live at the {} peak: ", TTM_WORDS(ttm_memory_name(m)));
  for (int c = 0; c < TTM_ALIVE_CLASSES; c++) {
    int64_t change = (int64_t)(after->by_class[c] - before->by_class[c]);
    if (llabs(change) <= TTM_DIFF_NOISE_BYTES) continue;
    ttm_say(&t->text, t->f, any ? ", {} {} {}" : "{} {} per bank {}",
            TTM_WORDS(ttm_words_class(t->p, (ttm_alive_class)c)), TTM_MB_OF((uint64_t)llabs(change)),
            TTM_WORDS(change > 0 ? "more" : "less"));
    any = true;
  }
  if (!any) ttm_buf_puts(&t->text, "as much of each class, in other tensors");
  ttm_statement *s = ttm_tell(t, "diff.alive", TTM_TOPIC_ALIVE, TTM_SEVERITY_NOTE, TTM_DERIVED);
  if (s) s->number = m;
  ttm_tell_headline(t);
}

/* "18 layers more, 30 instead of 12". */
static void tell_count(ttm_teller *t, const char *id, const char *noun, uint64_t was, uint64_t is) {
  if (was == is || !was || !is) return;
  ttm_tell(t, id, TTM_TOPIC_ALIVE, TTM_SEVERITY_NOTE, TTM_DERIVED);
  ttm_headline(t, "{} {}, {} instead of {}", TTM_PLURAL(is > was ? is - was : was - is, noun),
               TTM_WORDS(is > was ? "more" : "less"), TTM_COUNT(is), TTM_COUNT(was));
}

static void tell_free(ttm_teller *t, const ttm_diff *d, const ttm_diff_freed *moved) {
  uint32_t op = d->rows.at[moved->row].op[1];
  ttm_say(&t->text, t->f, "result of {}, ", TTM_OP(op));
  if (moved->later == INT64_MAX)
    ttm_buf_puts(&t->text, "no longer freed in its run");
  else
    ttm_say(&t->text, t->f, "freed {} later", TTM_PLURAL((uint64_t)moved->later, "operation"));
  if (moved->at_peak) ttm_buf_puts(&t->text, ", alive at the peak");
  ttm_tell_point(t, (double)moved->bank_bytes / TTM_MB, op);
}

static void tell_frees(ttm_teller *t, const ttm_diff *d) {
  uint64_t later = 0, earlier = 0, bytes = 0, shown = 0;
  for (size_t i = 0; i < d->frees.n; i++) {
    const ttm_diff_freed *moved = &d->frees.at[i];
    *(moved->later > 0 ? &later : &earlier) += 1;
    if (moved->later > 0 && moved->at_peak) bytes += moved->bank_bytes;
  }
  if (!later && !earlier) return;
  ttm_tell(t, later ? "diff.freed-later" : "diff.freed-earlier", TTM_TOPIC_FREED_LATE,
           bytes ? TTM_SEVERITY_WARNING : TTM_SEVERITY_NOTE, TTM_DERIVED);
  if (later && bytes)
    ttm_headline(t, "{} freed later than before, which holds {} more per bank at the DRAM peak",
                 TTM_PLURAL(later, "tensor"), TTM_MB_OF(bytes));
  else
    ttm_headline(t, "{} freed {} than before", TTM_PLURAL(later ? later : earlier, "tensor"),
                 TTM_WORDS(later ? "later" : "earlier"));
  if (later && earlier) ttm_detail(t, "{} freed earlier.", TTM_PLURAL(earlier, "tensor"));
  ttm_tell_quantity(t, "at_peak_per_bank", "MB", (double)bytes / TTM_MB);
  for (size_t i = 0; i < d->frees.n && shown < TTM_DIFF_TOP; i++)
    if (d->frees.at[i].later > 0) shown++, tell_free(t, d, &d->frees.at[i]);
}

static int tell(ttm_diff *d) {
  ttm_teller t = {.f = d->f[1], .p = d->f[1]->profile, .out = &d->statements};
  tell_worse(&t, d);
  tell_failures(&t, d);
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) tell_peak(&t, d, m);
  tell_frees(&t, d);
  tell_count(&t, "diff.layers", "layer", d->f[0]->layers.count, d->f[1]->layers.count);
  tell_count(&t, "diff.runs", "run", d->f[0]->runs.n, d->f[1]->runs.n);
  for (ttm_memory m = TTM_DRAM; m <= TTM_L1; m++) tell_alive(&t, d, m);
  tell_operations(&t, d);
  ttm_buf_free(&t.text);
  return t.failed ? TTM_ENOMEM : TTM_OK;
}
