/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/ranks.h"

#include <stdlib.h>

#include "analyze/tell.h"
#include "base/hash.h"

/* ---- Reading one ---------------------------------------------------------------------------------------------------- */

uint32_t ttm_rank_of_name(ttm_str path) {
  static const char *const words[] = {"rank", "worker", "host", "node", "process"};
  size_t slash;
  while ((slash = ttm_str_find_char(path, '/')) != TTM_NOT_FOUND && slash + 1 < path.n)
    path = ttm_str_from(path, slash + 1);
  for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
    size_t n = strlen(words[w]);
    for (size_t i = 0; i + n < path.n; i++) {
      uint64_t number;
      ttm_str rest = ttm_str_from(path, i + n);
      if (!ttm_str_eq_nocase((ttm_str){path.p + i, n}, ttm_str_of(words[w]))) continue;
      while (rest.n && strchr("-_.=", rest.p[0])) rest = ttm_str_from(rest, 1);
      if (ttm_str_take_u64(&rest, &number) && number < UINT32_MAX) return (uint32_t)number;
    }
  }
  return UINT32_MAX;
}

/* The same for files whose operations and states are the same, whatever stands around them. */
static uint64_t sign(const ttm_profile *p) {
  uint64_t all = ttm_hash_seed() ^ p->ops.n;
  for (size_t i = 0; i < p->ops.n; i++) {
    const ttm_op_text *text = &p->texts.at[p->ops.at[i].text];
    ttm_str name = ttm_profile_string(p, text->name), place = ttm_profile_string(p, text->location);
    all = ttm_hash(place.p, place.n, ttm_hash(name.p, name.n, all));
  }
  for (size_t i = 0; i < p->states.n; i++) {
    const ttm_level *l1 = &p->state_bases.at[p->states.at[i].base].levels[TTM_L1];
    uint32_t level[] = {p->states.at[i].dram_allocated, p->states.at[i].dram_largest, l1->allocated};
    all = ttm_hash(level, sizeof level, all);
  }
  return all;
}

static ttm_str keep(ttm_ranks *ranks, ttm_str text, bool *failed) {
  const char *kept = text.n ? ttm_arena_copy(&ranks->arena, text) : "";
  *failed |= !kept;
  return (ttm_str){kept ? kept : "", kept ? text.n : 0};
}

int ttm_ranks_add(ttm_ranks *ranks, const ttm_findings *f, const char *path, uint32_t place) {
  const ttm_profile *p = f->profile;
  const ttm_statement *first = ttm_statements_first(&f->statements, TTM_TOPIC_FAILURE);
  bool failed = false, fails = first && first->severity == TTM_SEVERITY_FAILURE;
  uint32_t named = ttm_rank_of_name(ttm_str_of(path)), op = p->incidents.n ? p->incidents.at[0].op : TTM_NONE;
  ttm_buf cause = {0}, partial = {0};
  ttm_words_partial(&partial, p);
  ttm_rank_row row = {
      .path = keep(ranks, ttm_str_of(path), &failed),
      .rank = named == UINT32_MAX ? place : named,
      .signature = sign(p),
      .operations = f->elements,
      .failures = f->incidents.n ? f->incidents.n : fails,
      .failed_after = op < p->ops.n && ttm_findings_index(f, op) != TTM_NONE ? ttm_findings_index(f, op) : f->elements,
      .failure = keep(ranks, fails ? first->headline : (ttm_str){"", 0}, &failed)};
  for (int m = 0; m < 2; m++) {
    const ttm_peak *peak = &f->peak[m ? TTM_L1 : TTM_DRAM];
    if (peak->known) row.peak[m] = peak->level;
    row.peak_bytes[m] = peak->in_op_bytes ? peak->in_op_bytes : ttm_level_bytes(peak->level.allocated);
  }
  if (f->peak[TTM_DRAM].cause != TTM_NONE) ttm_say(&cause, f, "{}", TTM_OP(f->peak[TTM_DRAM].cause));
  row.raised_by = keep(ranks, ttm_buf_str(&cause), &failed);
  row.partial = keep(ranks, ttm_buf_str(&partial), &failed);
  failed |= partial.failed || cause.failed || ttm_vec_push(&ranks->at, row);
  ttm_buf_free(&cause);
  ttm_buf_free(&partial);
  return failed ? TTM_ENOMEM : TTM_OK;
}

/* ---- All of them ---------------------------------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b) {
  const ttm_rank_row *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return ttm_str_order(x->path, y->path);
}

static void group(ttm_ranks *ranks) {
  for (uint32_t i = 0; i < ranks->at.n; i++) {
    ttm_rank_row *row = &ranks->at.at[i];
    uint32_t like = 0;
    while (like < i && (ranks->at.at[like].signature != row->signature || ranks->at.at[like].failures != row->failures))
      like++;
    row->group = like < i ? ranks->at.at[like].group : ranks->groups++;
  }
}

/* Fewest operations before its failure; of several the lowest rank. */
static void find_first(ttm_ranks *ranks) {
  ranks->first_failed = TTM_NONE;
  ranks->leading = 0;
  for (uint32_t i = 0; i < ranks->at.n; i++) {
    const ttm_rank_row *row = &ranks->at.at[i];
    if (row->peak_bytes[0] > ranks->at.at[ranks->leading].peak_bytes[0]) ranks->leading = i;
    if (row->failures &&
        (ranks->first_failed == TTM_NONE || row->failed_after < ranks->at.at[ranks->first_failed].failed_after))
      ranks->first_failed = i;
  }
  if (ranks->first_failed != TTM_NONE) ranks->leading = ranks->first_failed;
}

static void tell_failure(ttm_teller *t, const ttm_ranks *ranks) {
  const ttm_rank_row *first = &ranks->at.at[ranks->first_failed];
  size_t failed = 0, alike = 0;
  uint64_t most = 0;
  for (size_t i = 0; i < ranks->at.n; i++) {
    const ttm_rank_row *row = &ranks->at.at[i];
    failed += row->failures > 0;
    alike += row->failures && row->failed_after == first->failed_after;
    if (row->operations > most) most = row->operations;
  }
  ttm_statement *s = ttm_tell(t, "ranks.first-failure", TTM_TOPIC_FAILURE, TTM_SEVERITY_FAILURE, TTM_DERIVED);
  if (s) s->number = first->rank;
  ttm_headline(t, "Rank {} fails first, after {}: {}", TTM_LINE(first->rank),
               TTM_PLURAL(first->failed_after, "operation"), TTM_TEXT(first->failure));
  if (alike > 1) ttm_detail(t, "{} fail after as many; the lowest rank is named.", TTM_PLURAL(alike, "rank"));
  ttm_detail(t, "{} of {} failed; the furthest came to {}.", TTM_COUNT(failed), TTM_PLURAL(ranks->at.n, "rank"),
             TTM_PLURAL(most, "operation"));
}

static void tell_skew(ttm_teller *t, const ttm_ranks *ranks, int memory) {
  const ttm_rank_row *most = NULL, *least = NULL;
  for (size_t i = 0; i < ranks->at.n; i++) {
    const ttm_rank_row *row = &ranks->at.at[i];
    if (!row->peak[memory].banks && !row->peak_bytes[memory]) continue;
    if (!most || row->peak_bytes[memory] > most->peak_bytes[memory]) most = row;
    if (!least || row->peak_bytes[memory] < least->peak_bytes[memory]) least = row;
  }
  if (!most || !most->peak_bytes[memory]) return;
  uint64_t skew = most->peak_bytes[memory] - least->peak_bytes[memory];
  bool apart = skew * 100 > most->peak_bytes[memory];
  const char *name = memory ? "L1" : "DRAM";
  ttm_statement *s = ttm_tell(t, apart ? "ranks.skew" : "ranks.even", TTM_TOPIC_PEAK,
                              apart ? TTM_SEVERITY_WARNING : TTM_SEVERITY_OK, TTM_DERIVED);
  if (s) s->number = (uint32_t)memory;
  if (apart)
    ttm_headline(t, "{} peak is skewed by {} per bank ({}): rank {} holds {}, rank {} {}", TTM_WORDS(name),
                 TTM_MB_OF(skew), TTM_SHARE(skew, most->peak_bytes[memory]), TTM_LINE(most->rank),
                 TTM_MB_OF(most->peak_bytes[memory]), TTM_LINE(least->rank), TTM_MB_OF(least->peak_bytes[memory]));
  else
    ttm_headline(t, "{} peak is even: {} per bank on every rank, within 1 %", TTM_WORDS(name),
                 TTM_MB_OF(most->peak_bytes[memory]));
  if (!memory && most->raised_by.n)
    ttm_detail(t, "On rank {}, {} raised it.", TTM_LINE(most->rank), TTM_TEXT(most->raised_by));
  ttm_tell_quantity(t, "skew_per_bank", "MB", (double)skew / TTM_MB);
}

/* "0-6, 8-63". */
static void put_members(ttm_buf *out, const ttm_ranks *ranks, uint32_t wanted) {
  bool any = false;
  for (size_t i = 0, end; i < ranks->at.n; i = end) {
    end = i + 1;
    if (ranks->at.at[i].group != wanted) continue;
    while (end < ranks->at.n && ranks->at.at[end].group == wanted &&
           ranks->at.at[end].rank == ranks->at.at[end - 1].rank + 1)
      end++;
    ttm_buf_printf(out, any ? ", %u" : "%u", ranks->at.at[i].rank);
    if (end > i + 1) ttm_buf_printf(out, "-%u", ranks->at.at[end - 1].rank);
    any = true;
  }
}

static void tell_groups(ttm_teller *t, const ttm_ranks *ranks) {
  enum { MOST_GROUPS = 8 };
  ttm_tell(t, ranks->groups == 1 ? "ranks.identical" : "ranks.groups", TTM_TOPIC_INPUT, TTM_SEVERITY_NOTE,
           TTM_MEASURED);
  if (ranks->groups == 1)
    return ttm_headline(t, "{}, all identical: the same operations and memory states", TTM_PLURAL(ranks->at.n, "rank"));
  ttm_headline(t, "{} in {} of identical ones", TTM_PLURAL(ranks->at.n, "rank"), TTM_PLURAL(ranks->groups, "group"));
  for (uint32_t g = 0; g < ranks->groups && g < MOST_GROUPS; g++) {
    size_t first = 0, members = 0;
    while (ranks->at.at[first].group != g) first++;
    for (size_t i = first; i < ranks->at.n; i++) members += ranks->at.at[i].group == g;
    ttm_say(&t->text, NULL, "{}: ", TTM_PLURAL(members, "rank"));
    put_members(&t->text, ranks, g);
    if (ranks->at.at[first].failure.n) ttm_say(&t->text, NULL, "; {}", TTM_TEXT(ranks->at.at[first].failure));
    ttm_tell_point(t, (double)ranks->at.at[first].peak_bytes[0] / TTM_MB, UINT32_MAX);
  }
}

/* For who judges all of them. */
static void say_partial(ttm_ranks *ranks, const char *damage) {
  enum { NAMED = 3 };
  ttm_buf *out = &ranks->partial;
  size_t n = 0;
  if (damage) ttm_buf_printf(out, "%s; ", damage);
  for (size_t i = 0; i < ranks->at.n; i++) {
    const ttm_rank_row *row = &ranks->at.at[i];
    if (row->partial.n && n++ < NAMED) ttm_buf_printf(out, "rank %u: %.*s; ", row->rank, TTM_ARGS(row->partial));
  }
  if (n > NAMED) ttm_buf_printf(out, "%zu ranks more; ", n - NAMED);
  if (ranks->skipped) ttm_put_counted(out, ranks->skipped, "file"), ttm_buf_puts(out, " without memory; ");
  if (out->n) out->n -= 2;
}

int ttm_ranks_tell(ttm_ranks *ranks, const char *damage) {
  ttm_teller t = {.out = &ranks->said};
  if (!ranks->at.n) return TTM_OK;
  qsort(ranks->at.at, ranks->at.n, sizeof *ranks->at.at, by_rank);
  group(ranks);
  find_first(ranks);
  if (ranks->first_failed != TTM_NONE) tell_failure(&t, ranks);
  for (int m = 0; m < 2; m++) tell_skew(&t, ranks, m);
  tell_groups(&t, ranks);
  ttm_buf_free(&t.text);
  say_partial(ranks, damage);
  return t.failed || ranks->partial.failed ? TTM_ENOMEM : TTM_OK;
}

void ttm_ranks_free(ttm_ranks *ranks) {
  ttm_vec_free(&ranks->at);
  ttm_statements_free(&ranks->said);
  ttm_buf_free(&ranks->partial);
  ttm_arena_free(&ranks->arena);
  *ranks = (ttm_ranks){0};
}
