/* SPDX-License-Identifier: Apache-2.0 */
/* Conservative on purpose: a leak that is not there costs a reader more than one that is missed. The proof is the level
 * at the start of each run of one program: only what earlier runs left behind raises it so regularly. */
#include "analyze/parts.h"
#include "base/hash.h"

enum {
  HIGH_RISES = 5,
  ROUNDING = 2, /* two figures rounded to 0.001 MB: their difference is off by less than this */
  MAX_LEAKS = 64,
  BODY_OPS = 64,
  LEAST_SHARE = 1000, /* of what is there: a few smaller rises are not worth a suspicion */
};

/* The runs of one program on one rank, in order. */
typedef struct run_group {
  uint32_t first, last, n; /* positions in the findings' runs, chained by leak_search.next */
} run_group;

typedef struct kept_leak {
  ttm_leak leak;
  uint32_t first_run, last_run;
  bool shared; /* the growth of all programs that run in turn, not of this one alone */
} kept_leak;

typedef struct leak_search {
  ttm_findings *f;
  uint32_t *next;         /* per run: next run of the same group, TTM_NONE */
  uint32_t *next_on_rank; /* per run: next run of its rank, TTM_NONE */
  uint32_t *drops;        /* per run: how often the start level of its rank has fallen so far */
  uint32_t *group_of;     /* per run, TTM_NONE */
  uint32_t *firsts;       /* per run: first runs of a program on its rank, up to it */
  uint64_t *body;         /* per run: see read_bodies */
  bool *floor;            /* per run: see mark_floor */
  TTM_VEC(run_group) groups;
  ttm_intern keys;
  TTM_VEC(uint32_t) proof;          /* runs of the group at hand that left something behind; see read_rounds */
  TTM_VEC(uint32_t) runs, round_of; /* of all rising rounds of the group at hand; which one */
  TTM_VEC(uint64_t) rises;          /* of each of them, in bytes */
  TTM_VEC(kept_leak) kept;
} leak_search;

static const ttm_call *call_of(const leak_search *s, uint32_t run) {
  return &s->f->profile->calls.at[s->f->runs.at[run].call];
}

/* Without dumps every program may be called "main": the first operations of its own (what runs inside a load_cached
 * differs from run to run) then tell programs apart. Runs of many ranks lie between each other: one walk for all of them. */
static int read_bodies(leak_search *s) {
  const ttm_profile *p = s->f->profile;
  uint32_t *run_of = ttm_alloc_array(p->calls.n, sizeof *run_of);
  uint8_t *seen = ttm_alloc_array(s->f->runs.n, sizeof *seen);
  bool room = run_of && seen;
  for (size_t call = 0; call < p->calls.n && room; call++) run_of[call] = TTM_NONE;
  for (uint32_t run = 0; run < s->f->runs.n && room; run++) {
    const ttm_run *row = &s->f->runs.at[run];
    bool told = call_of(s, run)->graph != TTM_NONE || row->first_op == TTM_NONE;
    s->body[run] = !told;
    if (!told) run_of[row->call] = run;
  }
  for (size_t op = 0; op < p->ops.n && room; op++) {
    uint32_t call = p->ops.at[op].call, run = call < p->calls.n ? run_of[call] : TTM_NONE;
    if (run == TTM_NONE || seen[run] == BODY_OPS) continue;
    s->body[run] = ttm_hash_mix(s->body[run] ^ p->ops.at[op].text, UINT64_C(0x9e3779b97f4a7c15));
    seen[run]++;
  }
  ttm_free(run_of);
  ttm_free(seen);
  return room ? TTM_OK : TTM_ENOMEM;
}

static int group_runs(leak_search *s) {
  if (read_bodies(s)) return TTM_ENOMEM;
  for (uint32_t run = 0; run < s->f->runs.n; run++) {
    const ttm_call *call = call_of(s, run);
    uint32_t id;
    s->next[run] = s->group_of[run] = TTM_NONE;
    /* Nobody knows whether two nameless programs are the same one; where none has a name they may raise a suspicion. */
    if (call->name == 0 && s->f->profile->kind != TTM_LOG_SUBMIT) continue;
    uint64_t body = s->body[run];
    uint32_t key[5] = {call->rank, call->name, call->graph, (uint32_t)body, (uint32_t)(body >> 32)};
    if (ttm_intern_add(&s->keys, (ttm_str){(const char *)key, sizeof key}, &id)) return TTM_ENOMEM;
    s->group_of[run] = id - 1;
    if (id > s->groups.n) { /* ids count up from 1 */
      if (ttm_vec_push(&s->groups, (run_group){run, run, 1})) return TTM_ENOMEM;
      continue;
    }
    run_group *group = &s->groups.at[id - 1];
    s->next[group->last] = run;
    group->last = run;
    group->n++;
  }
  return TTM_OK;
}

static int chain_ranks(leak_search *s) {
  const ttm_profile *p = s->f->profile;
  const ttm_run *runs = s->f->runs.at;
  uint32_t *last = ttm_alloc_array(ttm_rank_rows(p), sizeof *last);
  if (!last) return TTM_ENOMEM;
  for (uint32_t r = 0; r < ttm_rank_rows(p); r++) last[r] = TTM_NONE;
  for (uint32_t run = 0; run < s->f->runs.n; run++) {
    uint32_t *before = &last[ttm_rank_clip(p, call_of(s, run)->rank)];
    s->next_on_rank[run] = TTM_NONE;
    bool is_first = s->group_of[run] == TTM_NONE || s->groups.at[s->group_of[run]].first == run;
    s->firsts[run] = is_first + (*before == TTM_NONE ? 0 : s->firsts[*before]);
    if (*before != TTM_NONE) {
      s->next_on_rank[*before] = run;
      s->drops[run] = s->drops[*before] + (runs[run].start < runs[*before].start);
    }
    *before = run;
  }
  ttm_free(last);
  return TTM_OK;
}

static bool same(uint64_t a, uint64_t b) { return (a > b ? a - b : b - a) <= ROUNDING; }

/* The amount by which the start level rises from each run to the next, the first run (warm-up, const-eval) left out;
 * 0 unless it always rises by the same, and the end level with it. */
static uint64_t steady_rise(const leak_search *s, const run_group *group) {
  const ttm_run *runs = s->f->runs.at;
  if (group->n < TTM_LEAK_RUNS) return 0;
  uint32_t second = s->next[group->first];
  uint64_t low = UINT64_MAX, high = 0;
  for (uint32_t a = second, b = s->next[a]; b != TTM_NONE; a = b, b = s->next[b]) {
    if (runs[a].start == TTM_NONE || runs[b].start == TTM_NONE || runs[b].start <= runs[a].start + ROUNDING) return 0;
    uint64_t rise = runs[b].start - runs[a].start;
    if (rise < low) low = rise;
    if (rise > high) high = rise;
  }
  if (high - low > ROUNDING) return 0;
  uint64_t rises = group->n - 2, total = runs[group->last].start - runs[second].start;
  uint64_t rise = (total + rises / 2) / rises;
  for (uint32_t a = second, b = s->next[a]; b != TTM_NONE; a = b, b = s->next[b]) {
    /* The last run may be cut; its end only counts when the log says that it came to one. */
    bool ended = b != group->last || (call_of(s, b)->finished && call_of(s, b)->after != TTM_NONE);
    if (!ended) break;
    if (runs[a].end == TTM_NONE || runs[b].end == TTM_NONE || runs[b].end < runs[a].end) return 0;
    if (!same(runs[b].end - runs[a].end, rise)) return 0;
  }
  return rise;
}

/* What of the rise between two runs of the program its own run leaves, seen by the start of whichever run comes next on
 * the rank. False when that cannot be told: it varies, or some program in between gives memory back. */
static bool own_share(const leak_search *s, const run_group *group, uint64_t *out) {
  const ttm_run *runs = s->f->runs.at;
  uint32_t second = s->next[group->first];
  uint64_t low = UINT64_MAX, high = 0, sum = 0, n = 0;
  if (s->drops[second] != s->drops[group->last]) return false;
  for (uint32_t run = second; run != group->last; run = s->next[run], n++) {
    uint32_t after = s->next_on_rank[run];
    if (runs[after].start == TTM_NONE || runs[after].start < runs[run].start) return false;
    uint64_t share = runs[after].start - runs[run].start;
    if (share < low) low = share;
    if (share > high) high = share;
    sum += share;
  }
  if (!n) return false;
  *out = (sum + n / 2) / n;
  return high - low <= ROUNDING;
}

/* The operations that left so much in every run that raised the level. The start levels are rounded once at the first and once at the last
 * of these runs; what a tensor takes is known exactly. When nothing adds up so closely, a single tensor of about the size will do. */
static int find_culprits(leak_search *s, const run_group *group, kept_leak *out) {
  uint32_t second = s->next[group->first], rises = group->n - 2;
  uint64_t rise = ttm_level_bytes(out->leak.per_run), exact = 2 * TTM_LEVEL_SLACK;
  s->proof.n = 0;
  for (uint32_t run = second; run != group->last; run = s->next[run]) {
    if (ttm_vec_push(&s->proof, run)) return TTM_ENOMEM;
  }
  ttm_leak *leak = &out->leak;
  int status = ttm_culprits_find(&leak->culprits, s->f, s->proof.at, s->proof.n, rise, exact);
  if (!status && !leak->culprits.n && rise / 50 > exact) {
    status = ttm_culprits_find(&leak->culprits, s->f, s->proof.at, s->proof.n, rise, rise / 50);
    if (leak->culprits.n > 1) leak->culprits.n = 0;
  }
  if (!leak->culprits.n) return status;
  leak->op = leak->culprits.at[0].op;
  leak->confidence = rises >= HIGH_RISES && !leak->culprits.several ? "high" : "medium";
  return status;
}

/* The same growth seen twice: on another rank of the same program, or through another program of the rank that runs in
 * turn with the leaking one. */
static bool is_same_leak(const leak_search *s, const kept_leak *a, const kept_leak *b) {
  const ttm_call *x = call_of(s, a->first_run), *y = call_of(s, b->first_run);
  if (x->rank != y->rank) return x->name == y->name && same(a->leak.per_run, b->leak.per_run);
  if (!a->shared && !b->shared) return false;
  if (a->shared == b->shared && !same(a->leak.per_run, b->leak.per_run)) return false;
  return x->first_line <= call_of(s, b->last_run)->last_line && y->first_line <= call_of(s, a->last_run)->last_line;
}

static bool is_better(const kept_leak *a, const kept_leak *b) {
  if (a->shared != b->shared) return !a->shared;
  return a->leak.op != TTM_NONE && b->leak.op == TTM_NONE;
}

static kept_leak *find_kept(leak_search *s, const kept_leak *leak) {
  for (size_t i = 0; i < s->kept.n; i++) {
    if (is_same_leak(s, &s->kept.at[i], leak)) return &s->kept.at[i];
  }
  return NULL;
}

/* How many more runs fit: each starts `rise` higher than the one before and reaches as far above its start as the highest did. */
static uint64_t runs_left(const leak_search *s, const run_group *group, uint64_t rise) {
  const ttm_profile *p = s->f->profile;
  uint64_t reach = 0;
  ttm_level level;
  for (uint32_t run = s->next[group->first]; run != TTM_NONE; run = s->next[run]) {
    const ttm_run *row = &s->f->runs.at[run];
    if (row->peak != TTM_NONE && row->start != TTM_NONE && row->peak - row->start > reach)
      reach = row->peak - row->start;
  }
  const ttm_run *last = &s->f->runs.at[group->last];
  if (!ttm_op_config(p, last->first_op, TTM_DRAM, &level) || last->start == TTM_NONE || !rise) return TTM_UNKNOWN;
  uint64_t used = last->start + reach;
  return used < level.total ? (level.total - used) / rise : 0;
}

static int search_group(leak_search *s, uint32_t id) {
  const run_group *group = &s->groups.at[id];
  kept_leak leak = {.first_run = group->first, .last_run = group->last};
  uint64_t rise = steady_rise(s, group), own;
  if (!rise || !call_of(s, group->first)->name) return TTM_OK;
  leak.shared = !own_share(s, group, &own);
  if (!leak.shared && own <= ROUNDING) return TTM_OK; /* the others of the rank leak, not this one */
  leak.leak = (ttm_leak){.per_run = leak.shared ? rise : own,
                         .runs_seen = group->n - 2,
                         .first_run = s->next[group->first],
                         .last_run = group->last,
                         .op = TTM_NONE,
                         .confidence = "low",
                         .runs_left = runs_left(s, group, rise)};
  kept_leak *kept = find_kept(s, &leak);
  if (kept && kept->leak.op != TTM_NONE && kept->shared <= leak.shared) return TTM_OK; /* nothing better to learn */
  if (!kept && s->kept.n >= MAX_LEAKS) return TTM_OK;
  if (ttm_profile_frees_known(s->f->profile) && find_culprits(s, group, &leak)) return TTM_ENOMEM;
  if (!kept) return ttm_vec_push(&s->kept, leak);
  if (is_better(&leak, kept)) *kept = leak;
  return TTM_OK;
}

/* ---- Rounds --------------------------------------------------------------------------------------------------------- */

/* A server runs several programs for each request, some of them again and again, and holds more meanwhile. What a rank holds at the start of a run
 * and never less afterwards, it never gives back: such a run stands on the floor. From one of them to the next of the same program is a round. */
static int mark_floor(leak_search *s) {
  const ttm_profile *p = s->f->profile;
  uint64_t *lowest = ttm_alloc_array(ttm_rank_rows(p), sizeof *lowest);
  if (!lowest) return TTM_ENOMEM;
  for (uint32_t r = 0; r < ttm_rank_rows(p); r++) lowest[r] = UINT64_MAX - ROUNDING;
  for (uint32_t run = (uint32_t)s->f->runs.n; run-- > 0;) {
    uint64_t *low = &lowest[ttm_rank_clip(p, call_of(s, run)->rank)], start = s->f->runs.at[run].start;
    if (start == TTM_NONE) continue;
    s->floor[run] = start <= *low + ROUNDING;
    if (start < *low) *low = start;
  }
  ttm_free(lowest);
  return TTM_OK;
}

typedef struct rounds {
  uint32_t n, rising; /* without those in which a program runs for the first time */
  uint64_t low, high, sum;
  bool alone; /* no other program runs in them */
} rounds;

/* The rounds of a program; s->proof gets the runs at which each rising one begins and ends. */
static int read_rounds(leak_search *s, const run_group *group, rounds *out) {
  const ttm_run *runs = s->f->runs.at;
  *out = (rounds){.low = UINT64_MAX, .alone = true};
  s->proof.n = 0;
  for (uint32_t a = TTM_NONE, b = group->first; b != TTM_NONE; b = s->next[b]) {
    if (!s->floor[b]) continue;
    uint32_t from = a;
    a = b;
    if (from == TTM_NONE || from == group->first || s->firsts[from] != s->firsts[b]) continue;
    uint64_t rise = runs[b].start > runs[from].start ? runs[b].start - runs[from].start : 0;
    out->n++;
    out->alone &= s->next_on_rank[from] == b;
    if (rise <= ROUNDING) continue;
    out->rising++;
    out->sum += rise;
    if (rise < out->low) out->low = rise;
    if (rise > out->high) out->high = rise;
    if (ttm_vec_push(&s->proof, from) || ttm_vec_push(&s->proof, b)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Every run of the rising rounds, and what each of them left. */
static int list_rounds(leak_search *s) {
  const ttm_run *runs = s->f->runs.at;
  s->runs.n = s->round_of.n = s->rises.n = 0;
  for (size_t i = 0; i + 1 < s->proof.n; i += 2) {
    uint32_t a = s->proof.at[i], b = s->proof.at[i + 1];
    for (uint32_t run = a; run != b; run = s->next_on_rank[run])
      if (ttm_vec_push(&s->runs, run) || ttm_vec_push(&s->round_of, (uint32_t)s->rises.n)) return TTM_ENOMEM;
    if (ttm_vec_push(&s->rises, ttm_level_bytes(runs[b].start - runs[a].start))) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int find_culprits_in_rounds(leak_search *s, ttm_leak *leak) {
  if (!ttm_profile_frees_known(s->f->profile)) return TTM_OK;
  if (list_rounds(s)) return TTM_ENOMEM;
  int status = ttm_culprits_follow(&leak->culprits, s->f, s->runs.at, s->round_of.at, s->runs.n, s->rises.at,
                                   2 * TTM_LEVEL_SLACK);
  if (!leak->culprits.n) return status;
  leak->op = leak->culprits.at[0].op;
  leak->confidence = leak->runs_seen >= HIGH_RISES && !leak->culprits.several ? "high" : "medium";
  return status;
}

/* How many more rounds fit. */
static uint64_t rounds_left(const leak_search *s, uint64_t rise) {
  const ttm_run *runs = s->f->runs.at;
  uint64_t reach = 0, last = runs[s->proof.at[s->proof.n - 1]].start;
  ttm_level level;
  for (size_t i = 0; i + 1 < s->proof.n; i += 2) {
    uint64_t start = runs[s->proof.at[i]].start;
    for (uint32_t run = s->proof.at[i]; run != s->proof.at[i + 1]; run = s->next_on_rank[run])
      if (runs[run].peak != TTM_NONE && runs[run].peak > start + reach) reach = runs[run].peak - start;
  }
  if (!ttm_profile_config(s->f->profile, TTM_DRAM, &level)) return TTM_UNKNOWN;
  return last + reach < level.total ? (level.total - last - reach) / rise : 0;
}

static bool is_told(const leak_search *s, uint32_t run) {
  const ttm_call *call = call_of(s, run);
  for (size_t i = 0; i < s->kept.n; i++)
    if (call_of(s, s->kept.at[i].first_run)->rank == call->rank) return true;
  for (size_t i = 0; i < s->f->suspects.n; i++) {
    const ttm_call *other = call_of(s, s->f->suspects.at[i].first_run);
    if (other->rank == call->rank || other->name == call->name) return true;
  }
  return false;
}

/* Rounds of several programs that rise by the same prove a leak, as runs of one program do; so do uneven ones when the results of one operation
 * are as large each time. Else it is a suspicion: few rises that some operation explains, or many. */
static int search_rounds(leak_search *s, uint32_t id) {
  const run_group *group = &s->groups.at[id];
  rounds x;
  if (is_told(s, group->first)) return TTM_OK;
  if (read_rounds(s, group, &x)) return TTM_ENOMEM;
  if (!x.rising || x.rising * 4 < x.n * 3) return TTM_OK;
  bool even = x.high - x.low <= ROUNDING, few = x.rising < TTM_LEAK_RISES, nameless = !call_of(s, group->first)->name;
  if (even && !few && x.alone && !nameless) return TTM_OK; /* the ends of the runs did not prove it */
  ttm_leak leak = {.per_run = (x.sum + x.rising / 2) / x.rising,
                   .least = x.low,
                   .most = x.high,
                   .runs_seen = x.rising,
                   .first_run = s->proof.at[0],
                   .last_run = s->proof.at[s->proof.n - 1],
                   .round = !x.alone,
                   .uneven = !even,
                   .op = TTM_NONE,
                   .confidence = "low"};
  leak.runs_left = rounds_left(s, leak.per_run);
  if (find_culprits_in_rounds(s, &leak)) return TTM_ENOMEM;
  bool explained = leak.op != TTM_NONE && !leak.culprits.several;
  if (few && leak.per_run * LEAST_SHARE < s->f->runs.at[leak.last_run].start) return TTM_OK;
  if (!explained && (few || x.rising < (even && !nameless ? TTM_LEAK_RISES : HIGH_RISES))) return TTM_OK;
  if (few || nameless || (!even && !explained)) return ttm_vec_push(&s->f->suspects, leak);
  kept_leak kept = {.leak = leak, .first_run = leak.first_run, .last_run = leak.last_run, .shared = true};
  return find_kept(s, &kept) ? TTM_OK : ttm_vec_push(&s->kept, kept);
}

static int search(leak_search *s) {
  int status = group_runs(s);
  if (!status) status = chain_ranks(s);
  if (!status) status = mark_floor(s);
  for (uint32_t g = 0; g < s->groups.n && !status; g++) status = search_group(s, g);
  for (uint32_t g = 0; g < s->groups.n && s->kept.n < MAX_LEAKS && !status; g++) status = search_rounds(s, g);
  for (size_t i = 0; i < s->kept.n && !status; i++) status = ttm_vec_push(&s->f->leaks, s->kept.at[i].leak);
  return status;
}

int ttm_find_leaks(ttm_findings *f) {
  leak_search s = {.f = f};
  s.next = ttm_alloc_array(f->runs.n, sizeof *s.next);
  s.next_on_rank = ttm_alloc_array(f->runs.n, sizeof *s.next_on_rank);
  s.drops = ttm_alloc_array(f->runs.n, sizeof *s.drops);
  s.group_of = ttm_alloc_array(f->runs.n, sizeof *s.group_of);
  s.firsts = ttm_alloc_array(f->runs.n, sizeof *s.firsts);
  s.body = ttm_alloc_array(f->runs.n, sizeof *s.body);
  s.floor = ttm_alloc_array(f->runs.n, sizeof *s.floor);
  bool room = s.next && s.next_on_rank && s.drops && s.group_of && s.firsts && s.body && s.floor;
  int status = room ? search(&s) : TTM_ENOMEM;
  ttm_free(s.next);
  ttm_free(s.next_on_rank);
  ttm_free(s.drops);
  ttm_free(s.group_of);
  ttm_free(s.firsts);
  ttm_free(s.body);
  ttm_free(s.floor);
  ttm_vec_free(&s.groups);
  ttm_intern_free(&s.keys);
  ttm_vec_free(&s.proof);
  ttm_vec_free(&s.runs);
  ttm_vec_free(&s.round_of);
  ttm_vec_free(&s.rises);
  ttm_vec_free(&s.kept);
  return status;
}
