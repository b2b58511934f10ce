/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/consumers.h"

#include "analyze/fold.h"
#include "analyze/words.h"

/* One group of operations on one rank, in one memory. */
typedef struct group_sum {
  uint32_t run; /* being added up */
  uint32_t count;
  int64_t sum;
  ttm_consumer best; /* its name comes later */
} group_sum;

struct ttm_consumer_sums {
  const ttm_profile *p;
  ttm_fold fold;
  uint32_t *group_of_text; /* + 1; 0: not asked for yet */
  ttm_map group_of_weight; /* the same by name, for what brings a weight */
  TTM_VEC(group_sum) groups[TTM_MEMORIES];
};

ttm_consumer_sums *ttm_consumer_sums_new(const ttm_profile *p) {
  ttm_consumer_sums *sums = ttm_alloc(sizeof *sums);
  if (!sums) return NULL;
  sums->p = p;
  sums->fold.whole = !ttm_words_has_runs(p);
  sums->group_of_text = ttm_alloc_array(p->texts.n, sizeof *sums->group_of_text);
  if (sums->group_of_text) return sums;
  ttm_free(sums);
  return NULL;
}

void ttm_consumer_sums_free(ttm_consumer_sums *sums) {
  if (!sums) return;
  ttm_fold_free(&sums->fold);
  ttm_map_free(&sums->group_of_weight);
  for (int m = 0; m < TTM_MEMORIES; m++) ttm_vec_free(&sums->groups[m]);
  ttm_free(sums->group_of_text);
  ttm_free(sums);
}

void ttm_consumers_free(ttm_consumers *consumers) {
  ttm_vec_free(&consumers->members);
  ttm_arena_free(&consumers->arena);
}

/* An operation text belongs to one rank: a rank prints its own lines. Where ranks share one, the first counts. A load_cached of the same text
 * brings another weight in another graph. */
static int find_group(ttm_consumer_sums *sums, uint32_t op, uint32_t rank, uint32_t *out) {
  const ttm_profile *p = sums->p;
  uint32_t *of_text = &sums->group_of_text[p->ops.at[op].text], weight = ttm_words_weight(p, op);
  uint32_t known = weight ? ttm_map_get(&sums->group_of_weight, weight, 0) : *of_text;
  if (p->ranks.n < 2 && known) return *out = known - 1, TTM_OK;
  uint64_t kind = (uint64_t)ttm_op_text_of(p, op)->name << 32 | rank;
  if (ttm_fold_add(&sums->fold, ttm_words_location(p, op), kind, out)) return TTM_ENOMEM;
  *of_text = *out + 1;
  return weight ? ttm_map_set(&sums->group_of_weight, weight, *out + 1) : TTM_OK;
}

/* The run being added up is over. */
static void close_run(group_sum *group) {
  if (!group->count) return;
  group->best.runs++;
  if (group->sum > group->best.total) {
    group->best.total = group->sum;
    group->best.places = group->count;
    group->best.run = group->run;
  }
  group->sum = group->count = 0;
}

int ttm_consumer_sums_add(ttm_consumer_sums *sums, ttm_memory memory, uint32_t op, int64_t effect) {
  const ttm_profile *p = sums->p;
  uint32_t call = p->ops.at[op].call, group, run = call < p->calls.n ? ttm_call_top(p, call) : TTM_NONE;
  if (find_group(sums, op, call < p->calls.n ? p->calls.at[call].rank : 0, &group)) return TTM_ENOMEM;
  while (sums->groups[memory].n <= group) {
    group_sum none = {.best = {.most = {TTM_NONE, 0}}};
    if (ttm_vec_push(&sums->groups[memory], none)) return TTM_ENOMEM;
  }
  group_sum *g = &sums->groups[memory].at[group];
  if (g->run != run) close_run(g);
  g->run = run;
  g->count++;
  g->sum += effect;
  if (effect > g->best.most.effect) g->best.most = (ttm_effect){op, effect};
  return TTM_OK;
}

/* ---- Ranking ------------------------------------------------------------------------------------------------------ */

static bool is_larger(const ttm_consumer *a, const ttm_consumer *b) {
  return a->total != b->total ? a->total > b->total : a->most.op < b->most.op;
}

/* The same group of another rank: ranks run the same program, and one row is enough. */
static size_t find_alike(const ttm_consumer_sums *sums, const ttm_consumers *out, const ttm_consumer *row) {
  const ttm_profile *p = sums->p;
  size_t i = 0;
  while (i < out->n && (ttm_op_text_of(p, out->at[i].most.op)->name != ttm_op_text_of(p, row->most.op)->name ||
                        !ttm_str_eq(out->at[i].name, row->name)))
    i++;
  return i;
}

static int insert(const ttm_consumer_sums *sums, ttm_consumers *out, ttm_consumer row, uint32_t group) {
  if (!row.total || (out->n == TTM_TOP && !is_larger(&row, &out->at[TTM_TOP - 1]))) return TTM_OK;
  row.name = ttm_fold_name_in(&sums->fold, group, &out->arena);
  size_t at = sums->p->ranks.n > 1 ? find_alike(sums, out, &row) : out->n;
  if (at < out->n && !is_larger(&row, &out->at[at])) return TTM_OK;
  if (at == TTM_TOP) at--;
  if (at == out->n) out->n++;
  for (; at && is_larger(&row, &out->at[at - 1]); at--) out->at[at] = out->at[at - 1];
  row.first_member = group; /* until the members are there */
  out->at[at] = row;
  return TTM_OK;
}

static bool is_member(ttm_consumer_sums *sums, uint32_t op, uint32_t group) {
  const ttm_op *row = &sums->p->ops.at[op];
  uint32_t known = sums->group_of_text[row->text],
           rank = row->call < sums->p->calls.n ? sums->p->calls.at[row->call].rank : 0;
  if (!known || row->flags & TTM_OP_CONST_EVAL) return false;
  if (known != group + 1 && ttm_op_text_of(sums->p, op)->kind != TTM_OP_LOAD_CACHED) return false;
  if (!ttm_words_weight(sums->p, op)) return known == group + 1;
  return !find_group(sums, op, rank, &known) && known == group;
}

/* The operations behind a row, in its best run. */
static int gather(ttm_consumer_sums *sums, ttm_consumers *out, ttm_consumer *row, ttm_memory memory) {
  const ttm_profile *p = sums->p;
  bool in_run = row->run < p->calls.n;
  uint32_t group = row->first_member, op = in_run ? p->calls.at[row->run].first_op : 0,
           end = in_run ? p->calls.at[row->run].last_op + 1 : (uint32_t)p->ops.n;
  row->first_member = (uint32_t)out->members.n;
  for (; op < end && op < p->ops.n && row->members < TTM_CONSUMER_MEMBERS; op++) {
    int64_t effect;
    if (!is_member(sums, op, group)) continue;
    if (!ttm_op_effect_whole(p, op, memory, &effect) || effect <= 0) continue;
    if (ttm_vec_push(&out->members, (ttm_effect){op, effect})) return TTM_ENOMEM;
    row->members++;
  }
  if (row->members) return TTM_OK;
  row->members = 1; /* ranks share its texts */
  return ttm_vec_push(&out->members, row->most);
}

int ttm_consumer_sums_rank(ttm_consumer_sums *sums, ttm_consumers *out) {
  int status = TTM_OK;
  for (int m = 0; m < TTM_MEMORIES && !status; m++) {
    for (uint32_t g = 0; g < sums->groups[m].n && !status; g++) {
      close_run(&sums->groups[m].at[g]);
      status = insert(sums, &out[m], sums->groups[m].at[g].best, g);
    }
    for (size_t i = 0; i < out[m].n && !status; i++) {
      if (!out[m].at[i].name.p) return TTM_ENOMEM;
      status = gather(sums, &out[m], &out[m].at[i], (ttm_memory)m);
    }
  }
  return status;
}
