/* SPDX-License-Identifier: Apache-2.0 */
/* Who did it, and on which device. Every thread of every process writes to the same recording, its nodes under a number of their own. Devices
 * that are open at the same time are ranks; one that is opened after another was closed takes its place. */
#include "profile/load/graph.h"

enum { LANES_OF_A_PROCESS = 1024 }; /* as the recorder numbers them */

/* ---- Processes and threads ------------------------------------------------------------------------------------------- */

static int process_of(ttm_capture_loader *l, uint64_t number, uint32_t *out) {
  *out = 0;
  while (*out < l->processes.n && l->processes.at[*out].number != number) ++*out;
  return *out < l->processes.n ? TTM_OK : ttm_vec_push(&l->processes, (ttm_recorded_process){.number = number});
}

int ttm_recording_enter(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_lane lane = {.number = ttm_node_get(node, TTM_PARAM_LANE, 0), .last_called = TTM_NONE};
  if (l->lane < l->lanes.n && l->lanes.at[l->lane].number == lane.number) return TTM_OK;
  l->lane = 0;
  while (l->lane < l->lanes.n && l->lanes.at[l->lane].number != lane.number) l->lane++;
  if (l->lane < l->lanes.n) return TTM_OK;
  if (process_of(l, lane.number / LANES_OF_A_PROCESS, &lane.process)) return TTM_ENOMEM;
  return ttm_vec_push(&l->lanes, lane);
}

uint64_t ttm_recording_own(const ttm_capture_loader *l, uint64_t number) {
  return l->lanes.at[l->lane].number / LANES_OF_A_PROCESS << 32 | (number & UINT32_MAX);
}

void ttm_recording_process_ends(ttm_capture_loader *l) {
  uint32_t process = ttm_recording_lane(l)->process;
  l->processes.at[process].ended = true;
  for (size_t i = 0; i < l->opened.n; i++)
    if (l->opened.at[i].process == process) l->opened.at[i].open = false;
}

/* ---- Devices --------------------------------------------------------------------------------------------------------- */

static bool is_taken(const ttm_capture_loader *l, uint32_t rank) {
  for (size_t i = l->opened.n; i-- > 0;)
    if (l->opened.at[i].open && l->opened.at[i].rank == rank) return true;
  return false;
}

int ttm_recording_rank(ttm_capture_loader *l, uint32_t id, uint32_t *out) {
  ttm_opened_device device = {.process = ttm_recording_lane(l)->process, .id = id, .open = true};
  *out = ttm_recording_lane(l)->device;
  if (id == TTM_NONE) return TTM_OK;
  for (size_t i = l->opened.n; i-- > 0;)
    if (l->opened.at[i].id == id && l->opened.at[i].process == device.process)
      return *out = l->opened.at[i].rank, TTM_OK;
  while (device.rank + 1 < TTM_CAPTURE_DEVICES && is_taken(l, device.rank)) device.rank++;
  *out = device.rank;
  return ttm_vec_push(&l->opened, device);
}

int ttm_recording_rank_of_chip(ttm_capture_loader *l, uint32_t chip, uint32_t *out) {
  for (size_t i = l->opened.n; i-- > 0;) {
    const ttm_opened_device *d = &l->opened.at[i];
    if (d->open && d->process == ttm_recording_lane(l)->process && chip < 64 && d->chips >> chip & 1)
      return *out = d->rank, TTM_OK;
  }
  return ttm_recording_rank(l, chip, out);
}

static void note_chips(ttm_capture_loader *l, uint32_t rank, uint64_t chips) {
  for (size_t i = 0; i < l->opened.n; i++)
    if (l->opened.at[i].rank == rank) l->opened.at[i].chips = chips;
}

static int push_opened(ttm_capture_loader *l, uint32_t rank, uint64_t chips) {
  ttm_capture *c = &l->profile->capture;
  ttm_opening opening = {.rank = rank, .process = ttm_recording_lane(l)->process, .chips = chips};
  ttm_buffer_event event = {
      .kind = TTM_EVENT_OPENED, .row = (uint32_t)c->openings.n, .op = TTM_NONE, .device = rank, .node = TTM_NONE};
  return ttm_vec_push(&c->openings, opening) ? TTM_ENOMEM : ttm_vec_push(&c->events, event);
}

int ttm_recording_opened(ttm_capture_loader *l, const ttm_capture_node *node) {
  uint32_t rank;
  uint64_t chips = ttm_node_get(node, TTM_PARAM_CHIPS, 0);
  l->profile->capture.recording.chips |= chips;
  if (ttm_recording_rank(l, ttm_capture_device_of(node), &rank)) return TTM_ENOMEM;
  note_chips(l, rank, chips);
  return push_opened(l, rank, chips);
}

/* Whatever was on the device is gone with it. */
int ttm_recording_closed(ttm_capture_loader *l, const ttm_capture_node *node) {
  uint32_t id = ttm_capture_device_of(node), rank;
  if (ttm_recording_rank(l, id, &rank)) return TTM_ENOMEM;
  if (ttm_recording_keep_trace(l, (ttm_trace_call){.rank = rank, .step = TTM_TRACE_CLOSED})) return TTM_ENOMEM;
  for (size_t i = 0; i < l->living.n; i++) {
    uint32_t row;
    while ((row = l->living.at[i]) != TTM_NONE && l->profile->capture.buffers.at[row].device == rank)
      if (ttm_capture_free_row(l, node, row)) return TTM_ENOMEM;
  }
  for (size_t i = 0; i < l->opened.n; i++)
    if (l->opened.at[i].id == id && l->opened.at[i].process == ttm_recording_lane(l)->process)
      l->opened.at[i].open = false;
  return TTM_OK;
}

/* ---- Ranks ----------------------------------------------------------------------------------------------------------- */

static uint32_t rank_count(const ttm_capture_loader *l) {
  uint32_t n = 1;
  for (size_t i = 0; i < l->opened.n; i++)
    if (l->opened.at[i].rank >= n) n = l->opened.at[i].rank + 1;
  return n;
}

int ttm_recording_divide(ttm_capture_loader *l) {
  ttm_profile *p = l->profile;
  ttm_stream *unused;
  for (uint32_t r = 1, n = rank_count(l); r < n; r++)
    if (ttm_build_rank(l->builder, r, &unused)) return TTM_ENOMEM;
  if (p->ranks.n < 2) return TTM_OK;
  if (p->calls.n) p->calls.at[0].first_op = TTM_NONE;
  for (uint32_t op = 0; op < p->ops.n; op++)
    if (ttm_build_op_of(l->builder, l->builder->streams.at[l->ranks.at[op]], op)) return TTM_ENOMEM;
  for (size_t i = 0; i < p->incidents.n; i++)
    if (p->incidents.at[i].op < p->ops.n) p->incidents.at[i].rank = l->ranks.at[p->incidents.at[i].op];
  return TTM_OK;
}
