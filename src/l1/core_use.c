/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/core_use.h"

#include "base/checked.h"
#include "l1/core_views.h"

/* ---- Addresses: where a program's buffers end, where the lowest tensor starts --------------------------------------------- */

/* The tightest program so far, kept to be drawn. */
typedef struct kept_program {
  TTM_VEC(ttm_l1_buffer) buffers; /* cores borrowed from `sets`, names from the profile */
  TTM_VEC(ttm_l1_region) tensors;
} kept_program;

typedef struct regions {
  const ttm_profile *p;
  uint64_t base, top, align; /* of L1; tensors are allocated top-down from top */
  ttm_core_sets sets;
  TTM_VEC(ttm_l1_buffer) buffers; /* of the running program */
  TTM_VEC(uint32_t) events;       /* of each of them */
  TTM_VEC(uint32_t) alive;        /* L1 buffers */
  uint64_t unplaced;              /* bytes of those without an address */
  kept_program kept;
  uint32_t now;          /* event that is taken */
  ttm_core_views *views; /* to be filled; NULL */
} regions;

static regions regions_of(const ttm_profile *p) {
  const ttm_capture_board *board = &p->capture.board;
  ttm_arch_id arch = board->arch < TTM_ARCHES ? (ttm_arch_id)board->arch : TTM_ARCH_WORMHOLE;
  uint64_t top = board->l1_bank_bytes ? board->l1_base + board->l1_bank_bytes : board->l1_bytes;
  return (regions){.p = p, .base = board->l1_base, .top = top, .align = ttm_arches[arch].dram_align};
}

/* A buffer of the running program; *cores are its own, empty when they cannot be read. */
static int add_to_program(regions *r, uint32_t event, const ttm_core_set **cores) {
  const ttm_buffer_event *e = &r->p->capture.events.at[event];
  uint32_t set;
  if (ttm_core_sets_find(&r->sets, e->row, ttm_profile_string(r->p, e->row), &set)) return TTM_ENOMEM;
  *cores = &r->sets.sets.at[set];
  ttm_l1_buffer b = {.name = ttm_profile_string(r->p, e->function),
                     .bytes = e->bytes == TTM_UNKNOWN ? 0 : e->bytes,
                     .borrowed = (e->alias & TTM_ALIAS) != 0,
                     .address = e->address};
  b.cores = **cores;
  return ttm_vec_push(&r->buffers, b) || ttm_vec_push(&r->events, event) ? TTM_ENOMEM : TTM_OK;
}

/* An L1 buffer (others are ignored) came or went. */
static int note_tensor(regions *r, uint32_t row, bool came) {
  const ttm_buffer *b = &r->p->capture.buffers.at[row];
  if (r->views && ttm_core_views_tensor(r->views, row, r->now, came)) return TTM_ENOMEM;
  if (b->memory != TTM_L1) return TTM_OK;
  if (b->address == TTM_UNKNOWN)
    r->unplaced = came ? ttm_add_sat(r->unplaced, b->bank_bytes) : ttm_sub_sat(r->unplaced, b->bank_bytes);
  if (came) return ttm_vec_push(&r->alive, row);
  for (size_t i = r->alive.n; i-- > 0;) {
    if (r->alive.at[i] != row) continue;
    r->alive.at[i] = r->alive.at[--r->alive.n];
    break;
  }
  return TTM_OK;
}

static bool runs_on(const regions *r, unsigned x, unsigned y) {
  for (size_t i = 0; i < r->buffers.n; i++)
    if (!r->buffers.at[i].borrowed && (!r->buffers.at[i].cores.n || ttm_core_set_has(&r->buffers.at[i].cores, x, y)))
      return true;
  return false;
}

/* The lowest address of a tensor; of one with several, on the cores of the program. */
static uint64_t lowest_address(const regions *r, const ttm_buffer *b) {
  uint64_t lowest = b->place_n ? TTM_UNKNOWN : b->address;
  for (uint32_t i = 0; i < b->place_n; i++) {
    const ttm_core_place *place = &r->p->capture.core_places.at[b->places + i];
    if (place->at < lowest && runs_on(r, place->x, place->y)) lowest = place->at;
  }
  return lowest;
}

/* Where the lowest tensor starts: its address, or below those without an address, which are taken to adjoin the top. */
static uint64_t lowest_tensor(const regions *r) {
  uint64_t lowest = ttm_sub_sat(r->top, r->unplaced);
  for (size_t i = 0; i < r->alive.n; i++) {
    uint64_t at = lowest_address(r, &r->p->capture.buffers.at[r->alive.at[i]]);
    if (at < lowest) lowest = at; /* TTM_UNKNOWN is the largest there is */
  }
  return lowest;
}

/* The device's own addresses where the capture has them, else tt-metal's rule. */
static int place_regions(regions *r, uint64_t *end, bool *derived) {
  bool placed = true;
  *end = r->base;
  for (size_t i = 0; i < r->buffers.n; i++)
    placed &= r->buffers.at[i].borrowed || (r->buffers.at[i].address && r->buffers.at[i].address != TTM_UNKNOWN);
  *derived = !placed;
  if (!placed) {
    /* On a mesh every device has the same buffers: one of them is enough. */
    uint32_t device = r->p->capture.events.at[r->events.at[0]].device;
    size_t n = 0;
    for (size_t i = 0; i < r->buffers.n; i++) {
      if (r->p->capture.events.at[r->events.at[i]].device != device) continue;
      r->events.at[n] = r->events.at[i];
      r->buffers.at[n++] = r->buffers.at[i];
    }
    r->buffers.n = r->events.n = n;
    ttm_l1_placement placement;
    int rc = ttm_l1_place(r->buffers.at, r->buffers.n, r->base, r->align, &placement);
    *end = ttm_l1_placement_end(&placement, r->base);
    ttm_l1_placement_free(&placement);
    return rc;
  }
  for (size_t i = 0; i < r->buffers.n; i++) {
    uint64_t behind = ttm_add_sat(r->buffers.at[i].address, r->buffers.at[i].bytes);
    if (!r->buffers.at[i].borrowed && behind > *end) *end = behind;
  }
  return TTM_OK;
}

/* Remembers the program and the tensors of its time. */
static int keep(regions *r, ttm_core_use *out) {
  kept_program *k = &r->kept;
  uint64_t next = r->top;
  k->buffers.n = k->tensors.n = out->gap_tensors.n = 0;
  for (size_t i = 0; i < r->buffers.n; i++)
    if (!r->buffers.at[i].borrowed && ttm_vec_push(&k->buffers, r->buffers.at[i])) return TTM_ENOMEM;
  for (size_t i = 0; i < r->alive.n; i++) {
    const ttm_buffer *b = &r->p->capture.buffers.at[r->alive.at[i]];
    uint64_t at = lowest_address(r, b);
    ttm_l1_region region = {.at = at, .end = ttm_add_sat(at, b->bank_bytes)};
    if (b->place_n && at == TTM_UNKNOWN) continue; /* on other cores */
    if (at == TTM_UNKNOWN) {
      region.end = next;
      region.at = next = next > b->bank_bytes ? next - b->bank_bytes : 0;
    }
    if (b->op != TTM_NONE) region.name = ttm_profile_string(r->p, r->p->texts.at[r->p->ops.at[b->op].text].name);
    ttm_core_tensor tensor = {r->alive.at[i], region.at};
    if (ttm_vec_push(&k->tensors, region) || ttm_vec_push(&out->gap_tensors, tensor)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* The running program has all its buffers: notes end and gap in *out. */
static int close_program(regions *r, ttm_core_use *out) {
  uint64_t end, lowest = lowest_tensor(r);
  uint32_t last = r->events.at[r->events.n - 1];
  bool derived;
  if (place_regions(r, &end, &derived)) return TTM_ENOMEM;
  if (r->views && ttm_core_views_program(r->views, r->buffers.at, r->events.at, r->buffers.n, derived, r->now))
    return TTM_ENOMEM;
  if (end > out->region_end) out->region_end = end;
  uint64_t ends = end > r->base ? end : r->base;
  int64_t gap = lowest >= ends ? (int64_t)(lowest - ends < INT64_MAX ? lowest - ends : INT64_MAX)
                               : -(int64_t)(ends - lowest < INT64_MAX ? ends - lowest : INT64_MAX);
  if (gap >= out->gap && out->gap_event != TTM_NONE) return TTM_OK;
  out->gap = gap;
  out->gap_end = ends;
  out->gap_event = last;
  return keep(r, out);
}

static const ttm_l1_buffer *highest_buffer(const kept_program *k) {
  const ttm_l1_buffer *highest = NULL;
  for (size_t i = 0; i < k->buffers.n; i++) {
    const ttm_l1_buffer *b = &k->buffers.at[i];
    if (!highest || ttm_add_sat(b->address, b->bytes) > ttm_add_sat(highest->address, highest->bytes)) highest = b;
  }
  return highest;
}

/* True when the buffer is on the first core of the other one, the core that is drawn. */
static bool shares_core(const ttm_l1_buffer *b, const ttm_l1_buffer *drawn) {
  if (!b->cores.n || !drawn->cores.n) return true;
  ttm_core_range core = drawn->cores.at[0];
  core.x1 = core.x0;
  core.y1 = core.y0;
  for (size_t i = 0; i < b->cores.n; i++)
    if (ttm_core_range_intersects(b->cores.at[i], core)) return true;
  return false;
}

/* Fills out->map with the tightest program. */
static int draw_tightest(regions *r, ttm_core_use *out) {
  const ttm_capture_board *board = &r->p->capture.board;
  ttm_l1_map *map = &out->map;
  *map = (ttm_l1_map){.arch = (ttm_arch_id)board->arch, .size = board->l1_bytes, .base = board->l1_base};
  map->arch_basis = map->base_basis = board->estimated ? TTM_ESTIMATED : TTM_MEASURED;
  map->small = ttm_sub_sat(board->l1_bytes, r->top);
  map->dataflow = r->p->capture.events.at[out->gap_event].kind != TTM_EVENT_CIRCULAR;
  const ttm_l1_buffer *highest = highest_buffer(&r->kept);
  for (size_t i = 0; highest && i < r->kept.buffers.n; i++) {
    const ttm_l1_buffer *b = &r->kept.buffers.at[i];
    if (!shares_core(b, highest) || (map->buffers.n && b->address < map->buffers.at[map->buffers.n - 1].end)) continue;
    if (ttm_vec_push(&map->buffers, (ttm_l1_region){b->address, ttm_add_sat(b->address, b->bytes), b->name}))
      return TTM_ENOMEM;
  }
  for (size_t i = 0; i < r->kept.tensors.n; i++)
    if (ttm_vec_push(&map->tensors, r->kept.tensors.at[i])) return TTM_ENOMEM;
  ttm_l1_regions_sort(map->tensors.at, map->tensors.n);
  return TTM_OK;
}

static void free_regions(regions *r) {
  ttm_core_sets_free(&r->sets);
  ttm_vec_free(&r->buffers);
  ttm_vec_free(&r->events);
  ttm_vec_free(&r->alive);
  ttm_vec_free(&r->kept.buffers);
  ttm_vec_free(&r->kept.tensors);
}

/* ---- Bytes ----------------------------------------------------------------------------------------------------------- */

/* Far more devices than a machine has; what a hostile capture names beyond them counts on the first. */
enum { CORES = TTM_CORE_LIMIT * TTM_CORE_LIMIT, ALL = TTM_PROGRAM_KINDS, MOST_DEVICES = 1024 };

/* Program buffers of one device by core; the last row is all kinds together. */
typedef struct grid {
  uint32_t device;
  bool used;
  uint32_t rows, columns; /* that were touched: most programs use few of them */
  unsigned kinds;         /* a bit each */
  uint64_t on[TTM_PROGRAM_KINDS + 1][CORES];
  uint64_t most[TTM_PROGRAM_KINDS + 1];
  uint32_t where; /* core of most[ALL] */
} grid;

/* Bytes per bank by device, with kernels apart. */
typedef struct banks {
  uint32_t device;
  uint64_t bytes[TTM_MEMORIES], kernels;
  uint64_t *own, most_own; /* by core: tensors of single cores, beside `bytes`; NULL: none */
} banks;

typedef struct walk {
  const ttm_profile *p;
  ttm_core_use *out;
  grid *grids[MOST_DEVICES];
  size_t grid_count;
  banks banks[MOST_DEVICES];
  size_t bank_count;
  uint64_t tensors, small; /* of the fullest device, now */
  const uint64_t *own;     /* of that device */
  uint64_t program_sum;    /* of the running program, over all cores and devices */
  uint32_t function, op;   /* it runs in; TTM_NONE when none runs */
  bool has_buffers;
  regions regions; /* addresses */
} walk;

static void raise_to(uint64_t *peak, uint64_t value) {
  if (value > *peak) *peak = value;
}

/* ---- Tensors ------------------------------------------------------------------------------------------------------- */

static banks *banks_of(walk *w, uint32_t device) {
  size_t i = 0;
  while (i < w->bank_count && w->banks[i].device != device) i++;
  if (i == MOST_DEVICES) return &w->banks[0];
  if (i == w->bank_count) w->banks[w->bank_count++].device = device;
  return &w->banks[i];
}

static uint64_t most_of(const walk *w, ttm_memory memory) {
  uint64_t most = 0;
  for (size_t i = 0; i < w->bank_count; i++) raise_to(&most, w->banks[i].bytes[memory]);
  return most;
}

static void choose_bank(walk *w, const banks *bank) {
  w->tensors = bank->bytes[TTM_L1];
  w->own = bank->own;
}

static void choose_fullest(walk *w) {
  const banks *fullest = &w->banks[0];
  for (size_t i = 1; i < w->bank_count; i++) {
    const banks *b = &w->banks[i];
    if (ttm_add_sat(b->bytes[TTM_L1], b->most_own) > ttm_add_sat(fullest->bytes[TTM_L1], fullest->most_own))
      fullest = b;
  }
  choose_bank(w, fullest);
  w->small = most_of(w, TTM_L1_SMALL);
}

static void take_peaks(walk *w, const banks *bank) {
  ttm_core_use *out = w->out;
  choose_fullest(w);
  uint64_t tensors = ttm_add_sat(bank->bytes[TTM_L1], bank->most_own);
  raise_to(&out->peak_tensors, tensors);
  raise_to(&out->peak_small, w->small);
  raise_to(&out->peak_l1, ttm_add_sat(w->own ? tensors : w->tensors, w->small));
  raise_to(&out->peak_trace, most_of(w, TTM_TRACE));
  raise_to(&out->peak_kernels, bank->kernels);
  raise_to(&out->peak_dram, most_of(w, TTM_DRAM));
}

/* In lock step every core gives up the same, whoever holds data. */
static bool is_on_own_cores(const walk *w, const ttm_buffer *b) {
  return b->own && b->shard_cores && w->p->capture.core_places.n;
}

static int change_own(walk *w, banks *bank, const ttm_buffer *b, bool came) {
  uint32_t set;
  if (!bank->own && !(bank->own = ttm_alloc(CORES * sizeof *bank->own))) return TTM_ENOMEM;
  if (ttm_core_sets_find(&w->regions.sets, b->shard_cores, ttm_profile_string(w->p, b->shard_cores), &set))
    return TTM_ENOMEM;
  bank->most_own = 0;
  for (uint32_t core = 0; core < CORES; core++) {
    uint64_t *own = &bank->own[core];
    if (ttm_core_set_has(&w->regions.sets.sets.at[set], core % TTM_CORE_LIMIT, core / TTM_CORE_LIMIT))
      *own = came ? ttm_add_sat(*own, b->bank_bytes) : ttm_sub_sat(*own, b->bank_bytes);
    raise_to(&bank->most_own, *own);
  }
  return TTM_OK;
}

static int add_buffer(walk *w, const ttm_buffer *b) {
  if (b->memory >= TTM_MEMORIES) return TTM_OK;
  banks *bank = banks_of(w, b->device);
  if (is_on_own_cores(w, b)) {
    if (change_own(w, bank, b, true)) return TTM_ENOMEM;
  } else {
    bank->bytes[b->memory] = ttm_add_sat(bank->bytes[b->memory], b->bank_bytes);
  }
  if (b->kernels) bank->kernels = ttm_add_sat(bank->kernels, b->bank_bytes);
  if (b->memory == TTM_DRAM && b->op != TTM_NONE)
    w->out->dram_allocated = ttm_add_sat(w->out->dram_allocated, b->bank_bytes);
  take_peaks(w, bank);
  return TTM_OK;
}

static int remove_buffer(walk *w, const ttm_buffer *b) {
  if (b->memory >= TTM_MEMORIES) return TTM_OK;
  banks *bank = banks_of(w, b->device);
  if (is_on_own_cores(w, b)) {
    if (change_own(w, bank, b, false)) return TTM_ENOMEM;
  } else {
    bank->bytes[b->memory] = ttm_sub_sat(bank->bytes[b->memory], b->bank_bytes);
  }
  if (b->kernels) bank->kernels = ttm_sub_sat(bank->kernels, b->bank_bytes);
  if (b->memory == TTM_DRAM) w->out->dram_freed = ttm_add_sat(w->out->dram_freed, b->bank_bytes);
  choose_fullest(w);
  return TTM_OK;
}

/* ---- Moments ------------------------------------------------------------------------------------------------------- */

/* A recording tells the rank of every program: only the tensors of its own device are beside it. */
static void choose_tensors(walk *w, const grid *g) {
  if (!g || !w->p->capture.recording.is) return;
  const banks *bank = banks_of(w, g->device >> 16);
  choose_bank(w, bank);
  w->small = bank->bytes[TTM_L1_SMALL];
}

/* The core that has most of its own tensors and the program's buffers. */
static uint32_t fullest_core(const walk *w, const grid *g) {
  uint32_t fullest = g ? g->where : 0;
  uint64_t most = 0;
  for (uint32_t core = 0; w->own && core < CORES; core++) {
    uint64_t bytes = ttm_add_sat(w->own[core], g ? g->on[ALL][core] : 0);
    if (bytes > most) most = bytes, fullest = core;
  }
  return fullest;
}

/* Notes what the fullest core holds for the operation, and whether no moment was fuller. */
static int note_moment(walk *w, const grid *g, uint32_t event) {
  ttm_core_use *out = w->out;
  choose_tensors(w, g);
  uint32_t core = fullest_core(w, g);
  uint64_t held = ttm_add_sat(w->tensors, w->own ? w->own[core] : 0), tensors = ttm_add_sat(held, w->small),
           program = g ? g->on[ALL][core] : 0, total = ttm_add_sat(tensors, program);
  uint32_t op = w->p->capture.events.at[event].op;
  ttm_core_step step = {.op = op, .event = event, .program = program, .tensors = tensors};
  size_t n = out->steps.n;
  if (op != TTM_NONE && total) {
    if (!n || out->steps.at[n - 1].op != op) {
      if (ttm_vec_push(&out->steps, step)) return TTM_ENOMEM;
    } else {
      ttm_core_step *last = &out->steps.at[n - 1];
      uint64_t before = ttm_add_sat(last->program, last->tensors);
      if (total > before || (total == before && program > last->program)) *last = step;
    }
  }
  if (total <= out->fullest.total) return TTM_OK;
  out->fullest = (ttm_core_moment){.total = total, .tensors = held, .small = w->small, .event = event};
  for (int k = 0; g && k < TTM_PROGRAM_KINDS; k++) out->fullest.program[k] = g->on[k][core];
  out->fullest.x = (uint8_t)(core % TTM_CORE_LIMIT);
  out->fullest.y = (uint8_t)(core / TTM_CORE_LIMIT);
  return TTM_OK;
}

/* ---- Programs ------------------------------------------------------------------------------------------------------ */

static grid *grid_of(walk *w, uint32_t device) {
  size_t i = 0;
  while (i < w->grid_count && w->grids[i]->device != device) i++;
  if (i == MOST_DEVICES) return w->grids[0];
  if (i == w->grid_count) {
    if (!(w->grids[i] = ttm_alloc(sizeof *w->grids[i]))) return NULL;
    w->grids[w->grid_count++]->device = device;
  }
  return w->grids[i];
}

/* Of the device with the fullest core; NULL when no program runs. */
static const grid *fullest_grid(const walk *w) {
  const grid *fullest = NULL;
  for (size_t i = 0; i < w->grid_count; i++)
    if (w->grids[i]->used && (!fullest || w->grids[i]->most[ALL] > fullest->most[ALL])) fullest = w->grids[i];
  return fullest;
}

static void clear_grid(grid *g) {
  if (!g->used) return;
  for (int k = 0; k <= ALL; k++)
    for (uint32_t y = 0; g->kinds >> k & 1 && y < g->rows; y++)
      memset(&g->on[k][y * TTM_CORE_LIMIT], 0, g->columns * sizeof *g->on[k]);
  memset(g->most, 0, sizeof g->most);
  g->where = g->rows = g->columns = g->kinds = 0;
  g->used = false;
}

static void put_on(grid *g, int kind, ttm_core_range r, uint64_t bytes) {
  if (r.y1 >= g->rows) g->rows = r.y1 + 1u;
  if (r.x1 >= g->columns) g->columns = r.x1 + 1u;
  g->kinds |= 1u << kind | 1u << ALL;
  for (uint32_t y = r.y0; y <= r.y1; y++) {
    for (uint32_t x = r.x0; x <= r.x1; x++) {
      uint32_t core = y * TTM_CORE_LIMIT + x;
      g->on[kind][core] = ttm_add_sat(g->on[kind][core], bytes);
      g->on[ALL][core] = ttm_add_sat(g->on[ALL][core], bytes);
      raise_to(&g->most[kind], g->on[kind][core]);
      if (g->on[ALL][core] <= g->most[ALL]) continue;
      g->most[ALL] = g->on[ALL][core];
      g->where = core;
    }
  }
}

/* The program that ran is over: its buffers are gone, whatever the capture says later. */
static int end_program(walk *w) {
  int rc = w->has_buffers ? close_program(&w->regions, w->out) : TTM_OK;
  for (size_t i = 0; i < w->grid_count; i++) clear_grid(w->grids[i]);
  w->regions.buffers.n = w->regions.events.n = 0;
  w->program_sum = 0;
  w->has_buffers = false;
  w->function = w->op = TTM_NONE;
  return rc;
}

/* An event of another function: the program of the last one is over. */
static int leave_program(walk *w, const ttm_buffer_event *e) {
  return w->has_buffers && (e->function != w->function || e->op != w->op) ? end_program(w) : TTM_OK;
}

static int add_program_buffer(walk *w, uint32_t event) {
  const ttm_buffer_event *e = &w->p->capture.events.at[event];
  ttm_core_use *out = w->out;
  const ttm_core_set *cores;
  int rc;
  if ((rc = leave_program(w, e))) return rc;
  w->has_buffers = true;
  w->function = e->function;
  w->op = e->op;
  if ((rc = add_to_program(&w->regions, event, &cores))) return rc;
  if (e->alias & TTM_ALIAS || w->regions.views) return TTM_OK; /* views are of addresses, not of sums */
  grid *g = grid_of(w, e->device);
  if (!g) return TTM_ENOMEM;
  g->used = true;
  uint64_t bytes = e->bytes == TTM_UNKNOWN ? 0 : e->bytes;
  int kind = e->kind - TTM_EVENT_CIRCULAR;
  out->unplaced += !cores->n;
  for (size_t i = 0; i < cores->n; i++) put_on(g, kind, cores->at[i], bytes);
  if (!cores->n) put_on(g, kind, (ttm_core_range){0, 0, TTM_CORE_LIMIT - 1, TTM_CORE_LIMIT - 1}, bytes);
  raise_to(&out->peak_program[kind], g->most[kind]);
  raise_to(&out->peak_program_all, g->most[ALL]);
  w->program_sum = ttm_add_sat(w->program_sum, bytes);
  raise_to(&out->summed, ttm_add_sat(w->program_sum, ttm_add_sat(w->tensors, w->small)));
  if (w->grid_count > out->devices) out->devices = (uint32_t)w->grid_count;
  return note_moment(w, g, event);
}

static int take_event(walk *w, uint32_t event) {
  const ttm_buffer_event *e = &w->p->capture.events.at[event];
  const ttm_buffer *b = e->row < w->p->capture.buffers.n ? &w->p->capture.buffers.at[e->row] : NULL;
  int rc;
  w->regions.now = event;
  switch (e->kind) {
    case TTM_EVENT_ALLOCATE:
      if (!b) return TTM_OK;
      if ((rc = leave_program(w, e))) return rc;
      if ((rc = add_buffer(w, b))) return rc;
      if ((rc = note_tensor(&w->regions, e->row, true))) return rc;
      raise_to(&w->out->summed, ttm_add_sat(w->program_sum, ttm_add_sat(w->tensors, w->small)));
      if (b->memory != TTM_L1 && b->memory != TTM_L1_SMALL) return TTM_OK;
      if (w->regions.views) return w->has_buffers ? TTM_OK : ttm_core_views_allocation(w->regions.views, event);
      return note_moment(w, fullest_grid(w), event);
    case TTM_EVENT_FREE:
      if (!b) return TTM_OK;
      if ((rc = leave_program(w, e))) return rc; /* while it ran the tensor was there */
      if ((rc = remove_buffer(w, b))) return rc;
      return note_tensor(&w->regions, e->row, false);
    case TTM_EVENT_CIRCULAR:
    case TTM_EVENT_DATAFLOW:
    case TTM_EVENT_SCRATCHPAD:
      return add_program_buffer(w, event);
    case TTM_EVENT_PROGRAM_FREE:
      return end_program(w);
    default:
      return TTM_OK;
  }
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

static int add_early(walk *w) {
  const ttm_capture *c = &w->p->capture;
  for (uint32_t i = 0; i < c->buffers.n; i++) {
    const ttm_buffer *b = &c->buffers.at[i];
    if (b->op != TTM_NONE || b->memory >= TTM_MEMORIES) continue;
    uint64_t *sum = b->memory == TTM_L1 || b->memory == TTM_L1_SMALL ? &w->out->before_l1 : &w->out->before_dram;
    *sum = ttm_add_sat(*sum, b->bank_bytes);
    w->out->before_buffers++;
    if (add_buffer(w, b) || note_tensor(&w->regions, i, true)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static uint64_t step_bytes(const ttm_core_use *u, uint32_t step) {
  return ttm_add_sat(u->steps.at[step].program, u->steps.at[step].tensors);
}

/* The same function with the same sizes again tells nothing new. */
static bool is_known(const ttm_core_use *u, const ttm_profile *p, uint32_t step) {
  const ttm_core_step *s = &u->steps.at[step];
  for (size_t i = 0; i < u->tightest.n; i++) {
    const ttm_core_step *t = &u->steps.at[u->tightest.at[i]];
    if (s->program == t->program && s->tensors == t->tensors && p->ops.at[s->op].text == p->ops.at[t->op].text)
      return true;
  }
  return false;
}

static int find_tightest(ttm_core_use *u, const ttm_profile *p) {
  enum { TIGHTEST = 10 };
  for (uint32_t s = 0; s < u->steps.n; s++) {
    if (u->tightest.n == TIGHTEST && step_bytes(u, s) <= step_bytes(u, u->tightest.at[TIGHTEST - 1])) continue;
    if (is_known(u, p, s)) continue;
    if (u->tightest.n == TIGHTEST) u->tightest.n--;
    if (ttm_vec_push(&u->tightest, s)) return TTM_ENOMEM;
    for (size_t i = u->tightest.n - 1; i && step_bytes(u, u->tightest.at[i - 1]) < step_bytes(u, s); i--) {
      u->tightest.at[i] = u->tightest.at[i - 1];
      u->tightest.at[i - 1] = s;
    }
  }
  return TTM_OK;
}

static int walk_events(ttm_core_use *out, ttm_core_views *views, const ttm_profile *p) {
  walk w = {.p = p, .out = out, .function = TTM_NONE, .op = TTM_NONE, .regions = regions_of(p)};
  const ttm_capture_board *board = &p->capture.board;
  *out = (ttm_core_use){.fullest = {.event = TTM_NONE}, .gap_event = TTM_NONE, .gap = INT64_MAX};
  out->limit = ttm_sub_sat(board->l1_bytes, board->l1_base);
  w.regions.views = views;
  int rc = add_early(&w);
  for (uint32_t e = 0; e < p->capture.events.n && !rc; e++) rc = take_event(&w, e);
  w.regions.now = (uint32_t)p->capture.events.n;
  if (!rc) rc = end_program(&w);
  if (!rc) rc = find_tightest(out, p);
  if (!rc && out->gap_event != TTM_NONE) rc = draw_tightest(&w.regions, out);
  for (size_t i = 0; i < w.grid_count; i++) ttm_free(w.grids[i]);
  for (size_t i = 0; i < w.bank_count; i++) ttm_free(w.banks[i].own);
  free_regions(&w.regions);
  return rc;
}

int ttm_core_use_make(ttm_core_use *out, const ttm_profile *p) { return walk_events(out, NULL, p); }

int ttm_core_views_make(ttm_core_views *out, const ttm_profile *p) {
  regions r = regions_of(p);
  ttm_core_use use = {0};
  *out = (ttm_core_views){.p = p, .size = p->capture.board.l1_bytes, .base = r.base, .top = r.top};
  int rc = p->kind == TTM_LOG_CAPTURE ? walk_events(&use, out, p) : TTM_OK;
  if (!rc) rc = ttm_core_views_end(out);
  ttm_core_use_free(&use);
  return rc;
}

void ttm_core_use_free(ttm_core_use *u) {
  ttm_vec_free(&u->steps);
  ttm_vec_free(&u->tightest);
  ttm_vec_free(&u->gap_tensors);
  ttm_l1_map_free(&u->map);
}
