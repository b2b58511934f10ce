/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/fragmentation.h"

#include <stdlib.h>

#include "analyze/parts.h"
#include "analyze/replay.h"

enum { LEAST_SHARE = 50 }; /* of the bank that must be out of reach before anybody is called in the way */

/* A capture knows its buffers. */
static void find_buffer(ttm_fragmentation *out, const ttm_profile *p) {
  for (size_t i = 0; i < p->capture.buffers.n; i++) {
    const ttm_buffer *buffer = &p->capture.buffers.at[i];
    if (buffer->memory != TTM_DRAM || buffer->op == TTM_NONE || buffer->bank_bytes <= out->largest_request) continue;
    out->largest_request = buffer->bank_bytes;
    out->request_op = buffer->op;
  }
}

/* The largest DRAM tensor that an operation really made on a device of so many banks; by type, since many share one. */
static int find_request(ttm_fragmentation *out, const ttm_profile *p, uint32_t banks) {
  bool vary = ttm_profile_banks_vary(p, TTM_DRAM);
  ttm_alignment align = ttm_profile_alignment_of(p, banks);
  uint64_t *bytes = ttm_alloc_array(p->types.n, sizeof *bytes);
  if (!bytes) return TTM_ENOMEM;
  for (size_t t = 0; t < p->types.n; t++) {
    const ttm_type *type = &p->types.at[t];
    if (type->is_tensor && type->tensor.has_layout && type->tensor.buffer == TTM_BUFFER_DRAM)
      bytes[t] = ttm_tensor_bank_bytes(&type->tensor, banks, align);
  }
  for (uint32_t op = 0; op < p->ops.n; op++) {
    ttm_list outputs = ttm_op_text_of(p, op)->outputs;
    for (uint32_t k = 0; k < outputs.n; k++) {
      uint32_t type = p->lists.at[outputs.first + k];
      ttm_level level;
      if (type >= p->types.n || bytes[type] <= out->largest_request) continue;
      if (vary && ttm_op_config(p, op, TTM_DRAM, &level) && level.banks != banks) continue;
      out->largest_request = bytes[type];
      out->request_op = op;
    }
  }
  ttm_free(bytes);
  return TTM_OK;
}

/* What is free in DRAM, and the largest block of it; false when the state does not tell. */
static bool room_of(const ttm_profile *p, uint32_t s, uint64_t *room, uint64_t *largest) {
  const ttm_state *state = &p->states.at[s];
  *room = ttm_level_bytes(state->dram_free), *largest = ttm_level_bytes(state->dram_largest);
  if (*room < *largest) *largest = *room;
  return p->state_bases.at[state->base].present >> TTM_DRAM & 1;
}

static void find_worst(ttm_fragmentation *out, const ttm_profile *p) {
  for (uint32_t s = 0; s < p->states.n; s++) {
    uint64_t room, largest;
    if (!room_of(p, s, &room, &largest)) continue;
    if (out->known && room - largest <= out->worst_free - out->worst_largest) continue;
    out->known = true;
    out->worst_state = s;
    out->worst_free = room;
    out->worst_largest = largest;
  }
}

/* Where the largest request would have failed, on the device that is fragmented most. */
static void count_refusals(ttm_fragmentation *out, const ttm_profile *p) {
  uint32_t enough = ttm_level_of_bytes(out->largest_request);
  for (uint32_t s = 0; s < p->states.n; s++) {
    uint64_t room, largest;
    const ttm_state *state = &p->states.at[s];
    uint32_t one_block = state->dram_free < state->dram_largest ? state->dram_free : state->dram_largest;
    if (one_block > enough) continue; /* nearly all */
    if (!room_of(p, s, &room, &largest) || largest + TTM_LEVEL_SLACK >= out->largest_request) continue;
    if (room < out->largest_request + TTM_LEVEL_SLACK) continue;
    if (!ttm_state_same_device(p, s, out->worst_state, TTM_DRAM)) continue;
    if (out->refusing_states < TTM_REFUSALS) out->refusing[out->refusing_states] = s;
    out->refusing_states++;
  }
}

/* ---- Who is in the way ------------------------------------------------------------------------------------------------------ */

typedef struct block {
  uint64_t at, size;
  uint32_t tensor;
} block;

typedef TTM_VEC(block) block_list;

static int by_address(const void *a, const void *b) {
  const block *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

static int list_blocks(const ttm_replay *r, block_list *out) {
  const ttm_profile *p = r->profile;
  const ttm_replay_memory *m = &r->memories[TTM_REPLAY_DRAM];
  for (uint32_t t = 0; t < p->tensors.n; t++) {
    uint64_t at;
    if (!ttm_replay_block(r, t, &at) || at == TTM_UNKNOWN) continue;
    uint64_t size = ttm_replay_cost_of(r, ttm_tensor_type_id(p, t), TTM_REPLAY_DRAM);
    if (size && ttm_vec_push(out, (block){at, size, t})) return TTM_ENOMEM;
  }
  for (size_t i = 0; i < m->extras.n; i++) {
    if (ttm_vec_push(out, (block){m->extras.at[i].at, m->extras.at[i].size, TTM_NONE})) return TTM_ENOMEM;
  }
  if (out->n) qsort(out->at, out->n, sizeof *out->at, by_address);
  return TTM_OK;
}

/* Most gained for what must move comes first. */
static void keep_pin(ttm_fragmentation *out, ttm_pin pin) {
  if (out->pin_count == TTM_PINS &&
      pin.merged - pin.size <= out->pins[TTM_PINS - 1].merged - out->pins[TTM_PINS - 1].size)
    return;
  size_t at = out->pin_count < TTM_PINS ? out->pin_count++ : TTM_PINS - 1;
  for (; at && out->pins[at - 1].merged - out->pins[at - 1].size < pin.merged - pin.size; at--)
    out->pins[at] = out->pins[at - 1];
  out->pins[at] = pin;
}

/* Each stretch of allocated blocks between two free ones. */
static void find_pins(ttm_fragmentation *out, const block_list *blocks, const ttm_extent *room, size_t rooms) {
  size_t next = 0;
  for (size_t i = 0; i + 1 < rooms; i++) {
    uint64_t from = room[i].at + room[i].size, to = room[i + 1].at, largest = 0;
    ttm_pin pin = {.tensor = TTM_NONE, .at = from, .size = to - from};
    pin.merged = room[i + 1].at + room[i + 1].size - room[i].at;
    while (next < blocks->n && blocks->at[next].at < from) next++;
    for (; next < blocks->n && blocks->at[next].at < to; next++) {
      pin.tensors += blocks->at[next].tensor != TTM_NONE;
      if (blocks->at[next].size <= largest) continue;
      largest = blocks->at[next].size;
      pin.tensor = blocks->at[next].tensor;
    }
    /* Moving it needs room too: only what is smaller than the gain is in the way. */
    if (pin.size < pin.merged - pin.size) keep_pin(out, pin);
  }
}

static int look_around(ttm_fragmentation *out, const ttm_profile *p, uint32_t state) {
  ttm_replay replay;
  block_list blocks = {0};
  ttm_extent *room = NULL;
  ttm_level level;
  int status = ttm_replay_init(&replay, p, ttm_state_rank(p, state));
  if (!status) status = ttm_replay_to_state(&replay, state);
  ttm_state_level(p, state, TTM_DRAM, &level);
  const ttm_bank *bank = &replay.memories[TTM_REPLAY_DRAM].bank;
  uint64_t measured = ttm_level_bytes(level.largest), got = status ? 0 : ttm_bank_largest(bank);
  bool agrees = (got > measured ? got - measured : measured - got) <= 2 * TTM_LEVEL_SLACK;
  if (!status && agrees) {
    size_t n = ttm_bank_blocks(bank, NULL, 0);
    room = ttm_alloc_array(n, sizeof *room);
    status = room ? list_blocks(&replay, &blocks) : TTM_ENOMEM;
    if (!status) {
      ttm_bank_blocks(bank, room, n);
      find_pins(out, &blocks, room, n);
      out->pins_state = out->pin_count ? state : TTM_NONE;
    }
  }
  ttm_free(room);
  ttm_vec_free(&blocks);
  ttm_replay_free(&replay);
  return status;
}

int ttm_fragmentation_make(ttm_fragmentation *out, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  ttm_level level;
  *out = (ttm_fragmentation){.worst_state = TTM_NONE, .request_op = TTM_NONE, .pins_state = TTM_NONE};
  if (!p->states.n || !ttm_profile_config(p, TTM_DRAM, &level)) return TTM_OK;
  bool captured = p->kind == TTM_LOG_CAPTURE;
  if (!ttm_blocks_known(p)) return TTM_OK;
  if (captured) out->unknown_states = p->states.n - p->capture.recording.hole_states;
  find_worst(out, p);
  if (out->known) ttm_state_level(p, out->worst_state, TTM_DRAM, &level);
  if (captured)
    find_buffer(out, p);
  else if (find_request(out, p, level.banks))
    return TTM_ENOMEM;
  if (out->known && out->largest_request) count_refusals(out, p);
  if (!out->known || p->kind != TTM_LOG_FULL || !ttm_profile_frees_known(p)) return TTM_OK;
  uint32_t state = TTM_NONE;
  for (size_t i = 0; i < f->incidents.n && state == TTM_NONE; i++) {
    const ttm_incident *incident = &p->incidents.at[f->incidents.at[i].incident];
    if (f->incidents.at[i].verdict == TTM_VERDICT_FRAGMENTED && ttm_str_eq(incident->what.memory, TTM_LIT("DRAM")))
      state = incident->state;
  }
  uint64_t stranded = out->worst_free - out->worst_largest;
  if (state == TTM_NONE && stranded > ttm_level_bytes(level.total) / LEAST_SHARE) state = out->worst_state;
  return state == TTM_NONE ? TTM_OK : look_around(out, p, state);
}
