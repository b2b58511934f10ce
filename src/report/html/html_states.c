/* SPDX-License-Identifier: Apache-2.0 */
/* The memory states as columns, and a min/max pyramid over them so that a zoom never looks at more than a few thousand
 * entries. */
#include <inttypes.h>
#include <stdio.h>

#include "report/html/html_parts.h"

ttm_html_position ttm_html_walk_to(ttm_html_walk *walk, uint32_t state) {
  const ttm_profile *p = walk->f->profile;
  const ttm_state *row = &p->states.at[state];
  /* Operations up to the state's own one; for a state without, those that stand before it in the log. */
  while (walk->next_op < p->ops.n) {
    uint32_t op = walk->next_op;
    if (row->op < p->ops.n ? op > row->op : p->ops.at[op].line > row->line) break;
    walk->element += ttm_op_is_element(p, op);
    walk->next_op++;
  }
  if (row->op < p->ops.n) {
    uint32_t index = ttm_findings_index(walk->f, row->op);
    if (index != TTM_NONE) return (ttm_html_position){index, TTM_HTML_AT_ELEMENT};
    return (ttm_html_position){walk->element, TTM_HTML_BETWEEN};
  }
  ttm_html_place place = row->op == TTM_STATE_BEFORE_SUBMIT  ? TTM_HTML_BEFORE_SUBMIT
                         : row->op == TTM_STATE_AFTER_SUBMIT ? TTM_HTML_AFTER_SUBMIT
                                                             : TTM_HTML_BARE;
  return (ttm_html_position){walk->element, place};
}

/* ---- Columns ------------------------------------------------------------------------------------------------------ */

static int put_places(ttm_html *h) {
  ttm_html_walk walk = {.f = h->f, .element = -1};
  int64_t last = -1;
  for (uint32_t s = 0; s < h->p->states.n; s++) {
    ttm_html_position at = ttm_html_walk_to(&walk, s);
    /* Ranks are woven: a state may name an element a little before the last one. */
    uint64_t step = (uint64_t)(at.element - last) << 1 ^ (0 - ((uint64_t)(at.element - last) >> 63));
    ttm_html_block_number(&h->block, step << 3 | at.place);
    last = at.element;
  }
  return ttm_html_block_write(&h->block, "state.place", h->out);
}

typedef enum figure { ALLOCATED, LARGEST, LOST, TOTAL, FIGURES } figure;

/* A memory the block did not hold counts as -1 allocated. `lost` is what neither is allocated nor free: rounding. */
static int64_t figure_of(const ttm_profile *p, uint32_t state, ttm_memory m, figure which) {
  ttm_level level;
  bool known = ttm_state_level(p, state, m, &level);
  switch (which) {
    case ALLOCATED:
      return known ? (int64_t)level.allocated : -1;
    case LARGEST:
      return level.largest;
    case LOST:
      return (int64_t)level.total - level.allocated - level.free;
    default:
      return level.total;
  }
}

/* Only DRAM's figures stand in the state itself: the others, and every total, change with the base that states share. */
static void put_figures(ttm_html *h, ttm_memory m, figure which) {
  bool own = m == TTM_DRAM && which != TOTAL;
  uint32_t base = TTM_NONE;
  int64_t value = 0;
  for (uint32_t s = 0; s < h->p->states.n; s++) {
    if (own || h->p->states.at[s].base != base) value = figure_of(h->p, s, m, which);
    base = h->p->states.at[s].base;
    ttm_html_block_delta(&h->block, value);
  }
}

static int put_memory(ttm_html *h, ttm_memory m) {
  static const char *const names[FIGURES] = {"allocated", "largest", "lost", "total"};
  int code = TTM_OK;
  for (figure which = 0; which < FIGURES && !code; which++) {
    char id[64];
    put_figures(h, m, which);
    snprintf(id, sizeof id, "state.%s.%s", ttm_memory_name(m), names[which]);
    code = ttm_html_block_write(&h->block, id, h->out);
  }
  return code;
}

static int put_ranks(ttm_html *h) {
  if (h->p->ranks.n < 2) return TTM_OK;
  for (uint32_t s = 0; s < h->p->states.n; s++) ttm_html_block_number(&h->block, ttm_state_rank(h->p, s));
  return ttm_html_block_write(&h->block, "state.rank", h->out);
}

int ttm_html_states(ttm_html *h) {
  int code = put_places(h);
  if (!code) code = put_ranks(h);
  for (ttm_memory m = 0; m < TTM_MEMORIES && !code; m++) code = put_memory(h, m);
  for (uint32_t s = 0; s < h->p->states.n && !code; s++) ttm_html_block_delta(&h->block, h->p->states.at[s].line);
  return code ? code : ttm_html_block_write(&h->block, "state.line", h->out);
}

/* ---- Pyramid ------------------------------------------------------------------------------------------------------ */

typedef struct entry {
  int64_t element; /* of its first state */
  int64_t low[TTM_MEMORIES], high[TTM_MEMORIES], largest[TTM_MEMORIES];
} entry;

typedef struct level {
  TTM_VEC(entry) entries;
} level;

static void join(entry *into, const entry *from) {
  for (int m = 0; m < TTM_MEMORIES; m++) {
    if (from->low[m] < into->low[m]) into->low[m] = from->low[m];
    if (from->high[m] > into->high[m]) into->high[m] = from->high[m];
    if (from->largest[m] < into->largest[m]) into->largest[m] = from->largest[m];
  }
}

static int add(level *at, const entry *from, size_t seen) {
  if (seen % TTM_HTML_STEP == 0) return ttm_vec_push(&at->entries, *from);
  join(&at->entries.at[at->entries.n - 1], from);
  return TTM_OK;
}

static int gather(ttm_html *h, uint32_t rank, level levels[TTM_HTML_LEVELS]) {
  ttm_html_walk walk = {.f = h->f, .element = -1};
  size_t seen = 0;
  uint32_t base = TTM_NONE;
  entry one;
  int code = TTM_OK;
  for (uint32_t s = 0; s < h->p->states.n && !code; s++) {
    ttm_html_position at = ttm_html_walk_to(&walk, s);
    if (ttm_state_rank(h->p, s) != rank) continue;
    one.element = at.element;
    ttm_memory changed = h->p->states.at[s].base == base ? TTM_DRAM + 1 : TTM_MEMORIES;
    base = h->p->states.at[s].base;
    for (ttm_memory m = 0; m < changed; m++) {
      one.low[m] = one.high[m] = figure_of(h->p, s, m, ALLOCATED);
      one.largest[m] = figure_of(h->p, s, m, LARGEST);
    }
    code = add(&levels[0], &one, seen++);
  }
  for (int k = 1; k < TTM_HTML_LEVELS; k++) {
    for (size_t i = 0; i < levels[k - 1].entries.n && !code; i++)
      code = add(&levels[k], &levels[k - 1].entries.at[i], i);
  }
  return code;
}

static int put_level(ttm_html *h, uint32_t rank, int k, const level *level) {
  char id[80];
  for (size_t i = 0; i < level->entries.n; i++) ttm_html_block_delta(&h->block, level->entries.at[i].element);
  snprintf(id, sizeof id, "pyramid.%" PRIu32 ".%d.element", rank, k);
  int code = ttm_html_block_write(&h->block, id, h->out);
  for (ttm_memory m = 0; m < TTM_MEMORIES && !code; m++) {
    for (size_t i = 0; i < level->entries.n; i++) {
      const entry *one = &level->entries.at[i];
      ttm_html_block_delta(&h->block, one->low[m]);
      ttm_html_block_number(&h->block, (uint64_t)(one->high[m] - one->low[m]));
      h->block.last = one->high[m];
    }
    snprintf(id, sizeof id, "pyramid.%" PRIu32 ".%d.%s.allocated", rank, k, ttm_memory_name(m));
    code = ttm_html_block_write(&h->block, id, h->out);
    for (size_t i = 0; i < level->entries.n; i++) ttm_html_block_delta(&h->block, level->entries.at[i].largest[m]);
    snprintf(id, sizeof id, "pyramid.%" PRIu32 ".%d.%s.largest", rank, k, ttm_memory_name(m));
    if (!code) code = ttm_html_block_write(&h->block, id, h->out);
  }
  return code;
}

int ttm_html_pyramids(ttm_html *h) {
  int code = TTM_OK;
  if (h->p->states.n < TTM_HTML_PLAIN) return TTM_OK;
  for (uint32_t rank = 0; (rank == 0 || rank < h->p->ranks.n) && !code; rank++) {
    level levels[TTM_HTML_LEVELS] = {0};
    code = gather(h, rank, levels);
    for (int k = 0; k < TTM_HTML_LEVELS; k++) {
      if (!code) code = put_level(h, rank, k, &levels[k]);
      ttm_vec_free(&levels[k].entries);
    }
  }
  return code;
}
