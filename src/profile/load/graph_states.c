/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture implies: the board, what each buffer costs a bank, and how full the memories were before every operation. */
#include "base/checked.h"
#include "profile/load/graph.h"
#include "profile/load/holes.h"
#include "profile/load/per_core.h"

/* ---- Board --------------------------------------------------------------------------------------------------------- */

static void board_from_device(ttm_capture_board *board, const ttm_capture_device *d) {
  board->arch = (uint8_t)ttm_arch_find(ttm_str_of(d->arch));
  if (board->arch == TTM_ARCHES) board->arch = (uint8_t)ttm_arch_by_l1_bytes(d->l1_bytes);
  board->l1_bytes = d->l1_bytes;
  board->l1_base = d->l1_base;
  board->l1_banks = d->l1_banks;
  board->l1_bank_bytes = d->l1_bank_bytes;
  board->dram_banks = d->dram_banks;
  board->dram_bank_bytes = d->dram_bank_bytes;
  board->grid_x = (uint32_t)(d->grid_x < 64 ? d->grid_x : 0);
  board->grid_y = (uint32_t)(d->grid_y < 64 ? d->grid_y : 0);
  if (board->arch == TTM_ARCHES || !board->dram_bank_bytes) return;
  uint64_t reserved = ttm_arches[board->arch].dram_reserved; /* the runtime's own, at the start of each bank */
  board->dram_bank_bytes = board->dram_bank_bytes > reserved ? board->dram_bank_bytes - reserved : 0;
}

/* A bare array of nodes does not name its board: a Wormhole has 8 columns of cores and 1 GiB per DRAM bank. */
static void guess_board(ttm_capture_board *board, const ttm_capture_loader *l) {
  bool blackhole = l->widest > 7 || l->highest_dram >= UINT64_C(1) << 30;
  const ttm_board *like = ttm_board_find(blackhole ? TTM_LIT("p150") : TTM_LIT("n150"));
  board->estimated = true;
  board->arch = (uint8_t)like->arch;
  board->l1_bytes = ttm_arches[like->arch].l1_bytes;
  board->l1_base = ttm_l1_base_of(like->arch, ttm_profile_string(l->profile, l->profile->capture.version));
  /* The first circular buffer of a program lies at the base. */
  if (!board->l1_base && l->lowest_cb < board->l1_bytes) board->l1_base = l->lowest_cb;
  if (!board->l1_base) board->l1_base = ttm_l1_base_newest(like->arch);
  board->l1_banks = like->l1_banks;
  board->l1_bank_bytes = ttm_board_l1_bank(like, (uint32_t)board->l1_base, 0);
  board->dram_banks = like->dram_banks;
  board->dram_bank_bytes = ttm_board_dram_bank(like, 0, false);
  board->grid_x = like->grid_x;
  board->grid_y = like->grid_y;
}

/* What the allocator says of itself, trace region and L1_SMALL as they were asked for. */
static void take_measured(ttm_capture_board *board, const ttm_recording *r) {
  if (r->measured[TTM_DRAM]) {
    board->dram_banks = r->banks[TTM_DRAM];
    board->dram_bank_bytes = r->total[TTM_DRAM];
  }
  if (r->measured[TTM_L1]) {
    board->l1_banks = r->banks[TTM_L1];
    board->l1_bank_bytes = r->total[TTM_L1];
  }
}

static ttm_alignment alignment_of(const ttm_capture_board *board) {
  const ttm_arch *arch = &ttm_arches[board->arch < TTM_ARCHES ? board->arch : TTM_ARCH_WORMHOLE];
  return (ttm_alignment){.dram = arch->dram_align, .l1 = arch->l1_align};
}

/* ---- Cost ---------------------------------------------------------------------------------------------------------- */

static bool in_l1(uint8_t memory) { return memory == TTM_L1 || memory == TTM_L1_SMALL; }

/* The allocator's rule: pages go round the banks, every bank gives up what the fullest one needs, in whole blocks. */
static void cost_buffer(ttm_buffer *buffer, const ttm_capture_board *board, ttm_alignment align) {
  uint64_t per_bank = buffer->bank_bytes;
  if (per_bank == TTM_UNKNOWN) {
    uint64_t all = in_l1(buffer->memory) ? board->l1_banks : board->dram_banks,
             banks = buffer->cores ? buffer->cores : all;
    uint64_t page = ttm_round_up(buffer->page, in_l1(buffer->memory) ? align.l1 : align.dram);
    buffer->estimated = !buffer->page || (board->estimated && !buffer->cores) || !banks;
    if (!banks) banks = 1;
    per_bank = buffer->page ? ttm_mul_sat(ttm_div_up(ttm_div_up(buffer->bytes, buffer->page), banks), page)
                            : ttm_div_up(buffer->bytes, banks);
  }
  buffer->bank_bytes = ttm_round_up(per_bank, align.dram);
}

/* ---- States -------------------------------------------------------------------------------------------------------- */

/* Of a device, since it was opened. */
typedef struct memory_sum {
  uint64_t bytes, peak;  /* per bank */
  uint64_t untold;       /* freed by another thread: a view showed it, the free itself is still to come */
  ttm_holes holes;       /* recordings, which see a bank from when it is empty */
  ttm_core_blocks cores; /* L1: what single cores hold beside `bytes` */
  uint64_t traces;       /* of `bytes` */
  bool measured;         /* a view told ... */
  uint64_t total;        /* ... the bytes of a bank ... */
  uint32_t banks;
} memory_sum;

/* By device: a capture of several devices that are no mesh has each in its own right. */
typedef struct sums {
  bool ranks; /* recordings: devices are their own place */
  uint32_t device[TTM_CAPTURE_DEVICES];
  memory_sum at[TTM_CAPTURE_DEVICES][TTM_MEMORIES];
  uint32_t opening[TTM_CAPTURE_DEVICES]; /* 1 + its number, 0 */
  size_t devices;
} sums;

static size_t slot_of(sums *s, uint32_t device) {
  size_t i = 0;
  if (s->ranks) {
    if (device < TTM_CAPTURE_DEVICES) i = device;
    if (i >= s->devices) s->devices = i + 1;
    return i;
  }
  while (i < s->devices && s->device[i] != device) i++;
  if (i == TTM_CAPTURE_DEVICES) i = 0; /* better one sum too high than none */
  if (i == s->devices) s->device[s->devices++] = device;
  return i;
}

static void sums_free(sums *s) {
  for (size_t d = 0; d < s->devices; d++)
    for (int m = 0; m < TTM_MEMORIES; m++) ttm_holes_free(&s->at[d][m].holes), ttm_core_blocks_free(&s->at[d][m].cores);
}

/* Of the fullest bank. */
static uint64_t held(memory_sum *sum) {
  ttm_core_blocks_measure(&sum->cores, &sum->holes);
  return ttm_add_sat(sum->bytes, sum->cores.most);
}

static void note_peak(ttm_capture *c, memory_sum *sum, uint8_t memory, uint32_t op) {
  uint64_t bytes = held(sum);
  if (bytes > sum->peak) sum->peak = bytes;
  if (bytes <= c->peak_bytes[memory]) return;
  c->peak_bytes[memory] = bytes;
  c->peak_op[memory] = op;
}

static void note_test(ttm_capture *c, const ttm_buffer *buffer, uint64_t bytes) {
  uint32_t test = buffer->op < c->test_of.n ? c->test_of.at[buffer->op] : 0;
  if (test && bytes > c->tests.at[test - 1].peak[buffer->memory]) c->tests.at[test - 1].peak[buffer->memory] = bytes;
}

static void note_opening(ttm_opening *opening, int memory, const memory_sum *sum) {
  opening->peak[memory] = sum->peak;
  opening->total[memory] = sum->measured ? sum->total : 0;
  opening->banks[memory] = sum->measured ? sum->banks : 0;
}

/* The device was closed, or the recording ends: had any less headroom? */
static void note_tightest(sums *s, ttm_capture *c, size_t slot) {
  for (int m = 0; m < TTM_MEMORIES; m++) {
    memory_sum *sum = &s->at[slot][m];
    uint64_t left = ttm_sub_sat(sum->total, sum->peak), least = ttm_sub_sat(c->tight_total[m], c->tight_peak[m]);
    if (s->opening[slot]) note_opening(&c->openings.at[s->opening[slot] - 1], m, sum);
    if (sum->measured && (!c->tight_total[m] || left < least)) {
      c->tight_total[m] = sum->total;
      c->tight_peak[m] = sum->peak;
    }
    sum->bytes = sum->peak = sum->untold = sum->traces = sum->cores.at.n = 0;
    sum->cores.stale = true;
    sum->measured = sum->holes.known = false;
  }
}

/* The allocator's own word is final. */
static int measure(sums *s, ttm_capture *c, const ttm_buffer_event *e) {
  memory_sum *sum = &s->at[slot_of(s, e->device)][e->row];
  ttm_holes *holes = &sum->holes;
  uint64_t told = ttm_add_sat(sum->bytes, sum->untold); /* by allocations and frees alone */
  bool same = told == e->bytes, same_hole = !holes->known || ttm_holes_largest(holes) == e->per_bank;
  c->recording.corrections += !same && !e->alias;
  c->recording.hole_corrections += same && !same_hole && !e->alias;
  sum->untold = e->alias ? ttm_sub_sat(told, e->bytes) : 0;
  sum->bytes = e->bytes;
  sum->measured = true;
  sum->total = e->named_bytes;
  sum->banks = e->node;
  note_peak(c, sum, (uint8_t)e->row, e->op);
  if (!same || !same_hole) holes->known = false;
  sum->cores.stale = true;
  if (e->bytes || e->address == TTM_UNKNOWN || holes->known) return TTM_OK;
  return ttm_holes_begin(holes, e->address, e->named_bytes);
}

static void note_trace(ttm_capture *c, memory_sum *sum, const ttm_buffer *buffer, bool came) {
  sum->traces = came ? ttm_add_sat(sum->traces, buffer->bank_bytes) : ttm_sub_sat(sum->traces, buffer->bank_bytes);
  if (sum->traces > c->peak_traces) c->peak_traces = sum->traces;
}

static int apply_on_cores(const ttm_profile *p, ttm_capture *c, memory_sum *sum, const ttm_buffer_event *e) {
  ttm_buffer *buffer = &c->buffers.at[e->row];
  bool exact;
  if (e->kind == TTM_EVENT_FREE) return ttm_core_blocks_remove(&sum->cores, e->row), TTM_OK;
  if (ttm_core_blocks_add(&sum->cores, &sum->holes, c, e->row, ttm_profile_string(p, buffer->shard_cores), &exact))
    return TTM_ENOMEM;
  buffer->estimated |= !exact;
  c->recording.hole_corrections += sum->holes.known && !exact;
  note_peak(c, sum, buffer->memory, buffer->op);
  return note_test(c, buffer, held(sum)), TTM_OK;
}

/* What a view showed to be gone is gone only once. */
static void take_free(memory_sum *sum, uint64_t bytes, bool of_another_thread) {
  uint64_t seen = !of_another_thread ? 0 : sum->untold < bytes ? sum->untold : bytes;
  sum->untold -= seen;
  sum->bytes = ttm_sub_sat(sum->bytes, bytes - seen);
}

static int apply(const ttm_profile *p, sums *s, ttm_capture *c, const ttm_buffer_event *e) {
  if (e->kind == TTM_EVENT_MEASURED) return measure(s, c, e);
  if (e->kind == TTM_EVENT_OPENED) {
    note_tightest(s, c, slot_of(s, e->device));
    return s->opening[slot_of(s, e->device)] = e->row + 1, TTM_OK;
  }
  if (e->row == TTM_NONE || (e->kind != TTM_EVENT_ALLOCATE && e->kind != TTM_EVENT_FREE)) return TTM_OK;
  const ttm_buffer *buffer = &c->buffers.at[e->row];
  if (buffer->memory >= TTM_MEMORIES) return TTM_OK;
  memory_sum *sum = &s->at[slot_of(s, buffer->device)][buffer->memory];
  if (buffer->own == TTM_OWN_ADDRESSES) return apply_on_cores(p, c, sum, e);
  if (buffer->trace) note_trace(c, sum, buffer, e->kind == TTM_EVENT_ALLOCATE);
  sum->cores.stale = true;
  if (e->kind == TTM_EVENT_ALLOCATE)
    sum->bytes = ttm_add_sat(sum->bytes, buffer->bank_bytes);
  else
    take_free(sum, buffer->bank_bytes, e->alias);
  int rc = TTM_OK;
  if (buffer->address == TTM_UNKNOWN)
    sum->holes.known = false;
  else
    rc = e->kind == TTM_EVENT_ALLOCATE ? ttm_holes_take(&sum->holes, buffer->address, buffer->bank_bytes)
                                       : ttm_holes_give(&sum->holes, buffer->address, buffer->bank_bytes);
  note_peak(c, sum, buffer->memory, buffer->op);
  if (e->kind == TTM_EVENT_ALLOCATE) note_test(c, buffer, held(sum));
  return rc;
}

static ttm_level level_of(const ttm_capture *c, ttm_memory memory, memory_sum *sum) {
  const ttm_capture_board *board = &c->board;
  uint64_t small = board->l1_bytes > board->l1_base + board->l1_bank_bytes && board->l1_bank_bytes
                       ? board->l1_bytes - board->l1_base - board->l1_bank_bytes
                       : 0;
  const uint64_t totals[TTM_MEMORIES] = {board->dram_bank_bytes, board->l1_bank_bytes, small, 0};
  uint64_t total = sum->measured ? sum->total : totals[memory], used = held(sum), left = ttm_sub_sat(total, used);
  uint64_t banks = sum->measured ? sum->banks : in_l1((uint8_t)memory) ? board->l1_banks : board->dram_banks;
  /* Where the holes are not known, all that is free is the most the largest can be. */
  uint64_t largest = !sum->holes.known ? left : sum->cores.at.n ? sum->cores.largest : ttm_holes_largest(&sum->holes);
  return (ttm_level){.banks = (uint32_t)(banks < UINT32_MAX ? banks : 0),
                     .total = ttm_milli_of_bytes(total),
                     .allocated = ttm_milli_of_bytes(used),
                     .free = ttm_milli_of_bytes(left),
                     .largest = ttm_milli_of_bytes(largest < left ? largest : left)};
}

static size_t fullest_of(sums *s, int memory) {
  size_t fullest = 0;
  for (size_t d = 1; d < s->devices; d++)
    if (held(&s->at[d][memory]) > held(&s->at[fullest][memory])) fullest = d;
  return fullest;
}

/* The state before `op`: of its rank, or where devices are no ranks of the fullest. */
static int push_state(ttm_capture_loader *l, sums *s, uint32_t rank, uint32_t op, uint32_t line) {
  ttm_capture *c = &l->profile->capture;
  ttm_block block = {.op = op, .line = line, .present = TTM_ALL_MEMORIES};
  for (int m = 0; m < TTM_MEMORIES; m++) {
    memory_sum *sum = &s->at[s->ranks ? rank : fullest_of(s, m)][m];
    c->recording.hole_states += m == TTM_DRAM && sum->holes.known;
    block.levels[m] = level_of(c, (ttm_memory)m, sum);
  }
  return ttm_build_block(l->builder, l->builder->streams.at[rank], &block);
}

/* A state before every operation and one behind the last. */
static int push_states(ttm_capture_loader *l, sums *now) {
  ttm_profile *p = l->profile;
  ttm_capture *c = &p->capture;
  uint32_t event = 0;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    for (; event < l->marks.at[op]; event++)
      if (apply(p, now, c, &c->events.at[event])) return TTM_ENOMEM;
    if (push_state(l, now, now->ranks ? l->ranks.at[op] : 0, op, p->ops.at[op].line)) return TTM_ENOMEM;
  }
  for (; event < c->events.n; event++)
    if (apply(p, now, c, &c->events.at[event])) return TTM_ENOMEM;
  for (uint32_t rank = 0; p->ops.n && rank < p->ranks.n; rank++)
    if (push_state(l, now, rank, TTM_STATE_AFTER_SUBMIT, p->ops.at[p->ops.n - 1].line)) return TTM_ENOMEM;
  for (size_t slot = 0; slot < now->devices; slot++) note_tightest(now, c, slot);
  return TTM_OK;
}

int ttm_capture_derive(ttm_capture_loader *l, const ttm_capture_facts *facts) {
  ttm_profile *p = l->profile;
  ttm_capture *c = &p->capture;
  if (facts->devices.n && facts->devices.at[0].l1_bytes)
    board_from_device(&c->board, &facts->devices.at[0]);
  else
    guess_board(&c->board, l);
  take_measured(&c->board, &c->recording);
  for (size_t m = 0; m < TTM_MEMORIES; m++) c->peak_op[m] = TTM_NONE;
  ttm_alignment align = alignment_of(&c->board);
  sums now = {.ranks = l->recording};
  if (!l->recording) ttm_capture_join_own(c);
  for (size_t i = 0; i < c->buffers.n; i++) {
    ttm_buffer *buffer = &c->buffers.at[i];
    cost_buffer(buffer, &c->board, align);
    if (buffer->op != TTM_NONE || buffer->memory >= TTM_MEMORIES) continue;
    memory_sum *sum = &now.at[slot_of(&now, buffer->device)][buffer->memory]; /* there from the start */
    sum->bytes = ttm_add_sat(sum->bytes, buffer->bank_bytes);
    note_peak(c, sum, buffer->memory, TTM_NONE);
  }
  int rc = push_states(l, &now);
  sums_free(&now);
  for (size_t i = 0; i < p->incidents.n; i++)
    if (p->incidents.at[i].op < p->ops.n) p->incidents.at[i].state = p->ops.at[p->incidents.at[i].op].state;
  return rc;
}
