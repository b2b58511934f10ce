/* SPDX-License-Identifier: Apache-2.0 */
/* How long a loop can go on: its last iteration is played again and again on the bank as it stands, by the allocator's own rules, until something
 * finds no room. That counts what an iteration takes and gives back on its way, and the holes it leaves. Where the last iterations are not alike,
 * or the addresses are not known, the levels must do. */
#include <stdlib.h>

#include "analyze/growth.h"
#include "analyze/parts.h"
#include "base/bank.h"
#include "base/checked.h"

enum {
  WINDOWS = 6,          /* iterations that are looked at, the last ones; what lives longer cannot be followed */
  ALIKE = 3,            /* so many must do the same */
  MOST_STEPS = 1 << 20, /* then the levels must do */
};

typedef struct step {
  bool free;
  uint32_t row;
  uint32_t ago,
      slot; /* the iteration in which it was allocated, counted back from this one; which of its allocations it is */
  uint64_t size, bytes; /* per bank; of all banks */
} step;

typedef TTM_VEC(step) step_list;

/* Where a row was allocated. */
typedef struct place {
  bool alive;
  uint8_t window; /* + 1; 0: before the iterations that are looked at */
  uint32_t slot;
} place;

typedef struct game {
  const ttm_profile *p;
  const ttm_capture *c;
  const ttm_growth *growth;
  place *places;                                  /* by buffer */
  uint32_t windows;                               /* at most WINDOWS */
  step_list steps[WINDOWS];                       /* of each */
  uint32_t slots;                                 /* allocations of the last one */
  bool strange;                                   /* something older than the windows is freed in them */
  uint64_t level, first;                          /* bytes per bank now, and at the first birth */
  uint64_t start[WINDOWS + 1], peak[WINDOWS + 1]; /* of each window; before them */
  uint64_t buffers_end;                           /* L1: the highest address that programs of these iterations take */
  uint64_t base, total;                           /* of a bank; TTM_UNKNOWN */
  ttm_bank bank;
  TTM_VEC(ttm_extent) blocks; /* alive at the last birth, by address */
  ttm_extent *rows;           /* [iteration % WINDOWS][slot] */
} game;

/* ---- The last iterations ---------------------------------------------------------------------------------------------------- */

static void note_program(game *g, const ttm_buffer_event *e) {
  bool buffers = e->kind >= TTM_EVENT_CIRCULAR && e->kind <= TTM_EVENT_SCRATCHPAD && !(e->alias & TTM_ALIAS);
  if (buffers && e->address != TTM_UNKNOWN && e->bytes != TTM_UNKNOWN && e->address + e->bytes > g->buffers_end)
    g->buffers_end = e->address + e->bytes;
}

static void note_bank(game *g, const ttm_buffer_event *e) {
  if (e->kind != TTM_EVENT_MEASURED || e->row != g->growth->memory || e->device != g->growth->device) return;
  g->base = e->address;
  g->total = e->named_bytes;
}

/* Takes a change of memory; `window` + 1, 0 before the windows. */
static int take(game *g, const ttm_buffer_event *e, const ttm_buffer *b, uint32_t window) {
  place *at = &g->places[e->row];
  step one = {e->kind == TTM_EVENT_FREE, e->row, 0, 0, b->bank_bytes, b->bytes};
  at->alive = !one.free;
  g->level += one.free ? -b->bank_bytes : b->bank_bytes;
  if (g->level > g->peak[window]) g->peak[window] = g->level;
  if (!window) return TTM_OK;
  step_list *steps = &g->steps[window - 1];
  if (!one.free) {
    at->window = (uint8_t)window;
    at->slot = g->slots++;
  } else if (!at->window) {
    return g->strange |= window + 1 > g->windows, TTM_OK;
  }
  one.ago = window - at->window;
  one.slot = at->slot;
  return ttm_vec_push(steps, one);
}

/* Everything up to the last birth. An iteration ends with a birth. */
static int read_events(game *g, const uint32_t *births, uint32_t n, uint32_t per) {
  uint32_t window = 0, first = n - 1 - g->windows * per;
  for (uint32_t e = 0, k = 0; e < g->c->events.n && k < n; e++) {
    const ttm_buffer_event *event = &g->c->events.at[e];
    const ttm_buffer *b = ttm_event_buffer(g->c, event, g->growth->memory, g->growth->device);
    note_bank(g, event);
    if (window == g->windows) note_program(g, event);
    if (!b) continue;
    if (take(g, event, b, window)) return TTM_ENOMEM;
    if (event->kind != TTM_EVENT_ALLOCATE || event->row != births[k]) continue;
    if (!k++) g->first = g->level;
    if (k <= first || (k - 1 - first) % per || k == n) continue;
    window++;
    g->slots = 0;
    g->start[window] = g->peak[window] = g->level;
  }
  return TTM_OK;
}

/* What a bank gives up for the buffer of a step if it has so many bytes: pages go round the banks. */
static uint64_t size_with(const game *g, const step *one, uint64_t bytes) {
  const ttm_buffer *b = &g->c->buffers.at[one->row];
  uint64_t banks = g->c->recording.banks[b->memory];
  return b->page && banks && !b->cores ? ttm_div_up(ttm_div_up(bytes, b->page), banks) * b->page : TTM_UNKNOWN;
}

static bool is_alike(const game *g, const step *a, const step *b, const step *c) {
  if (a->free != c->free || b->free != c->free || b->slot != c->slot || b->ago != c->ago) return false;
  if (c->bytes < b->bytes || c->bytes - b->bytes != b->bytes - a->bytes) return false;
  return c->bytes == b->bytes || size_with(g, c, c->bytes) == c->size;
}

/* The last iterations do the same; sizes may grow, by the same each time. A cache, the last of an iteration, that does not grow then grows by leaps. */
static bool are_alike(const game *g) {
  if (g->windows < ALIKE || g->strange) return false;
  const step_list *x = &g->steps[g->windows - 3], *y = &g->steps[g->windows - 2], *z = &g->steps[g->windows - 1];
  if (!z->n || x->n != z->n || y->n != z->n) return false;
  for (size_t i = 0; i < z->n; i++)
    if (!is_alike(g, &x->at[i], &y->at[i], &z->at[i])) return false;
  return g->growth->kind != TTM_GROWTH_CACHE || z->at[z->n - 1].bytes > y->at[y->n - 1].bytes;
}

/* ---- The bank ---------------------------------------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b) {
  const ttm_extent *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

/* False when what is alive does not lie in the bank as it should. */
static int collect_blocks(game *g, bool *good) {
  *good = false;
  for (uint32_t i = 0; i < g->c->buffers.n; i++) {
    const ttm_buffer *b = &g->c->buffers.at[i];
    bool before = b->op == TTM_NONE && b->memory == g->growth->memory && b->device == g->growth->device;
    if (before) return TTM_OK;
    if (!g->places[i].alive) continue;
    if (b->address == TTM_UNKNOWN || b->address < g->base) return TTM_OK;
    if (ttm_vec_push(&g->blocks, (ttm_extent){b->address - g->base, b->bank_bytes})) return TTM_ENOMEM;
  }
  if (g->blocks.n) qsort(g->blocks.at, g->blocks.n, sizeof *g->blocks.at, by_address);
  *good = true;
  return TTM_OK;
}

/* All of the bank is taken, and what lies between the blocks is given back. */
static int fill_bank(game *g, bool *good) {
  uint64_t end = 0, at;
  int status = collect_blocks(g, good);
  if (status || !*good) return status;
  if (ttm_bank_init(&g->bank, g->total)) return TTM_ENOMEM;
  *good = ttm_bank_take(&g->bank, g->total, false, &at);
  for (size_t i = 0; i <= g->blocks.n && *good && !status; i++) {
    ttm_extent next = i < g->blocks.n ? g->blocks.at[i] : (ttm_extent){g->total, 0};
    *good = next.at >= end && next.at <= g->total;
    if (*good) status = ttm_bank_give(&g->bank, end, next.at - end);
    end = next.at + next.size;
  }
  return status;
}

/* ---- The game ---------------------------------------------------------------------------------------------------------------- */

static ttm_extent *row_of(game *g, uint64_t iteration, uint32_t slot) {
  return &g->rows[iteration % WINDOWS * g->slots + slot];
}

static int begin(game *g) {
  g->rows = ttm_alloc_array((size_t)WINDOWS * g->slots, sizeof *g->rows);
  if (!g->rows) return TTM_ENOMEM;
  for (uint32_t w = 0; w < g->windows; w++)
    for (size_t i = 0; i < g->steps[w].n; i++) {
      const step *one = &g->steps[w].at[i];
      uint64_t at = g->c->buffers.at[one->row].address;
      if (!one->free && one->slot < g->slots) *row_of(g, w, one->slot) = (ttm_extent){at - g->base, one->size};
    }
  return TTM_OK;
}

/* One more iteration. False when there is no room for it; 0 or TTM_ENOMEM. */
static int play(game *g, uint64_t iteration, bool *room) {
  const step_list *last = &g->steps[g->windows - 1], *before = &g->steps[g->windows - 2];
  bool top = g->growth->memory == TTM_L1;
  for (size_t i = 0; i < last->n; i++) {
    const step *one = &last->at[i];
    ttm_extent *row = row_of(g, iteration - one->ago, one->slot);
    if (one->free) {
      if (ttm_bank_give(&g->bank, row->at, row->size)) return TTM_ENOMEM;
      continue;
    }
    uint64_t more = (one->bytes - before->at[i].bytes) * (iteration + 1 - g->windows);
    row->size = more ? size_with(g, one, one->bytes + more) : one->size;
    *room = ttm_bank_take(&g->bank, row->size, top, &row->at) && (!top || g->base + row->at >= g->buffers_end);
    if (!*room) return TTM_OK;
  }
  return TTM_OK;
}

/* *left: iterations that found room; exact unless there were too many. */
static int play_all(game *g, ttm_growth *out) {
  bool room = true;
  uint64_t played = 0, most = MOST_STEPS / (g->steps[g->windows - 1].n + 1);
  int status = begin(g);
  while (!status && room && played < most) {
    status = play(g, g->windows + played, &room);
    played += room;
  }
  out->exact = !room;
  out->left = played;
  return status;
}

/* How far an iteration rises above its start. */
static uint64_t reach_of(const game *g, uint32_t window) { return g->peak[window] - g->start[window]; }

/* Each iteration starts higher by the same and rises as far as any; a cache that is made anew, and what is made of it, take more each time. */
static void by_levels(const game *g, ttm_growth *out, uint32_t n, uint32_t per) {
  uint64_t rise = g->level > g->first ? (g->level - g->first) / (n - 1) * per : 0;
  uint64_t reach = 0, further = 0, last = reach_of(g, g->windows), first = reach_of(g, 1);
  for (uint32_t w = 1; w <= g->windows; w++) reach = reach_of(g, w) > reach ? reach_of(g, w) : reach;
  if (out->kind == TTM_GROWTH_CACHE && g->windows > 1 && last > first) further = (last - first) / (g->windows - 1);
  if (!g->total || !rise) return;
  out->left = g->level + reach <= g->total ? (g->total - g->level - reach) / ttm_add_sat(rise, further) + 1 : 0;
}

static int find_end(game *g, ttm_growth *out, const uint32_t *births, uint32_t n, uint32_t per) {
  bool good = false;
  ttm_level level;
  g->total = g->c->recording.measured[out->memory]           ? g->c->recording.total[out->memory]
             : ttm_profile_config(g->p, out->memory, &level) ? ttm_level_bytes(level.total)
                                                             : 0;
  int status = read_events(g, births, n, per);
  if (!status && g->base != TTM_UNKNOWN && are_alike(g)) status = fill_bank(g, &good);
  if (!status && good) status = play_all(g, out);
  if (!status && !out->exact) by_levels(g, out, n, per);
  return status;
}

int ttm_growth_end(ttm_growth *out, const ttm_profile *p, const uint32_t *births, uint32_t n, uint32_t per) {
  game g = {.p = p, .c = &p->capture, .growth = out, .base = TTM_UNKNOWN};
  uint32_t windows = (n - 1) / per;
  g.windows = windows < WINDOWS ? windows : WINDOWS;
  g.places = ttm_alloc_array(p->capture.buffers.n, sizeof *g.places);
  int status = g.places ? find_end(&g, out, births, n, per) : TTM_ENOMEM;
  if (out->ended) out->left = 0, out->exact = true;
  for (uint32_t w = 0; w < WINDOWS; w++) ttm_vec_free(&g.steps[w]);
  ttm_vec_free(&g.blocks);
  ttm_bank_free(&g.bank);
  ttm_free(g.places);
  ttm_free(g.rows);
  return status;
}
