/* SPDX-License-Identifier: Apache-2.0 */
/* A recording is a row of captures: counters begin anew in each, and a buffer that one piece allocates another may use and free. Their
 * names say nothing beyond a piece, but an address does: at any time one buffer lives there. */
#include "profile/load/graph.h"

static ttm_recording *recording_of(ttm_capture_loader *l) { return &l->profile->capture.recording; }

/* ---- Who lives where ----------------------------------------------------------------------------------------------- */

/* The place as bytes, for interning; false when the node does not name one. */
static bool place_of(const ttm_capture_node *node, uint64_t place[3]) {
  place[0] = ttm_capture_device_of(node);
  place[1] = ttm_capture_memory_of(node);
  place[2] = ttm_node_get(node, TTM_PARAM_ADDRESS, 0);
  return place[2] && place[1] < TTM_MEMORIES;
}

uint32_t ttm_recording_find(ttm_capture_loader *l, const ttm_capture_node *node) {
  uint64_t place[3];
  if (!place_of(node, place)) return TTM_NONE;
  uint32_t id = ttm_intern_find(&l->places, (ttm_str){(const char *)place, sizeof place});
  return id < l->living.n ? l->living.at[id] : TTM_NONE;
}

int ttm_recording_born(ttm_capture_loader *l, const ttm_capture_node *node, uint32_t row) {
  uint64_t place[3];
  uint32_t id;
  if (!place_of(node, place)) return TTM_OK;
  if (ttm_intern_add(&l->places, (ttm_str){(const char *)place, sizeof place}, &id)) return TTM_ENOMEM;
  while (l->living.n <= id)
    if (ttm_vec_push(&l->living, TTM_NONE)) return TTM_ENOMEM;
  l->profile->capture.buffers.at[row].place = id;
  uint32_t old = l->living.at[id];
  l->living.at[id] = row;
  if (old == TTM_NONE) return TTM_OK;
  recording_of(l)->unseen_frees++; /* another thread let it go */
  return ttm_capture_free_row(l, node, old);
}

void ttm_recording_gone(ttm_capture_loader *l, uint32_t row) {
  uint32_t place = l->profile->capture.buffers.at[row].place;
  if (place < l->living.n && l->living.at[place] == row) l->living.at[place] = TTM_NONE;
}

/* ---- Operations ---------------------------------------------------------------------------------------------------- */

/* Calls up to `end` that no piece has: they are operations all the same. */
static int pass_begun(ttm_capture_loader *l, size_t end) {
  for (; l->next_begun < end; l->next_begun++) {
    ttm_begun_op begun = l->begun.at[l->next_begun];
    if (ttm_capture_is_free(ttm_profile_string(l->profile, begun.name))) continue;
    if (ttm_capture_begin_op(l, begun.name, begun.location, begun.line) || ttm_capture_finish_op(l)) return TTM_ENOMEM;
    l->last_called = l->op;
    l->op = TTM_NONE;
  }
  if (l->next_begun == l->begun.n) l->next_begun = l->begun.n = 0;
  return TTM_OK;
}

int ttm_recording_match(ttm_capture_loader *l, uint32_t name, uint32_t *line) {
  size_t at = l->next_begun;
  l->call_key = 0;
  while (at < l->begun.n && l->begun.at[at].name != name) at++;
  if (at == l->begun.n) return TTM_OK; /* the runtime's own, or a free */
  if (pass_begun(l, at)) return TTM_ENOMEM;
  l->op_location = l->begun.at[l->next_begun].location;
  *line = l->begun.at[l->next_begun].line;
  l->call_key = l->begun.at[l->next_begun].key;
  if (++l->next_begun == l->begun.n) l->next_begun = l->begun.n = 0;
  return TTM_OK;
}

int ttm_recording_call(ttm_capture_loader *l) {
  return ttm_vec_push(&l->calls, ((ttm_keyed_call){(uint32_t)l->profile->capture.events.n, l->call_key}));
}

int ttm_recording_repeat(ttm_capture_loader *l, const ttm_buffer_event *event) {
  ttm_repeats *r = &l->repeats;
  if (event) return r->at.at[r->at.n - 1].n ? ttm_vec_push(&r->events, *event) : TTM_OK;
  r->at.at[r->at.n - 1].n++;
  return ttm_vec_push(&r->programs, (uint32_t)r->events.n);
}

static int on_operation(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_begun_op begun = {.line = node->line, .key = (uint32_t)ttm_node_get(node, TTM_PARAM_KEY, 0)};
  if (ttm_build_string(l->builder, node->text[TTM_PARAM_NAME], &begun.name) ||
      ttm_build_string(l->builder, node->text[TTM_PARAM_AT], &begun.location) || ttm_vec_push(&l->begun, begun))
    return TTM_ENOMEM;
  return TTM_OK;
}

/* ---- Pieces -------------------------------------------------------------------------------------------------------- */

static int on_piece(ttm_capture_loader *l, const ttm_capture_node *node) {
  recording_of(l)->pieces++;
  if (ttm_capture_finish_op(l)) return TTM_ENOMEM;
  l->op = TTM_NONE;
  l->depth = 0;
  l->repeating = ttm_str_eq(node->text[TTM_PARAM_MODE], TTM_LIT("REPEAT"));
  l->hypothetical = l->repeating || ttm_str_eq(node->text[TTM_PARAM_MODE], TTM_LIT("NO_DISPATCH"));
  if (l->repeating) {
    ttm_repeats *repeats = &l->repeats;
    uint32_t key = (uint32_t)ttm_node_get(node, TTM_PARAM_KEY, 0);
    ttm_repeat repeat = {.first = (uint32_t)repeats->programs.n};
    if (ttm_vec_push(&repeats->at, repeat) || ttm_map_set(&repeats->of_key, key, (uint32_t)(repeats->at.n - 1)))
      return TTM_ENOMEM;
  }
  ttm_map_clear(&l->node_of_counter);
  ttm_map_clear(&l->node_of_tensor);
  ttm_map_clear(&l->row_of_tensor);
  l->nodes.n = 0;
  return TTM_OK;
}

static int on_view(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_recording *r = recording_of(l);
  uint8_t memory = ttm_capture_memory_of(node);
  if (memory >= TTM_MEMORIES) return TTM_OK;
  r->views += memory == TTM_DRAM;
  r->measured[memory] = true;
  r->banks[memory] = ttm_node_get(node, TTM_PARAM_BANKS, 0);
  r->total[memory] = ttm_node_get(node, TTM_PARAM_TOTAL, 0);
  ttm_buffer_event event = {.kind = TTM_EVENT_MEASURED,
                            .row = memory,
                            .op = l->last_called,
                            .device = ttm_capture_device_of(node),
                            .bytes = ttm_node_get(node, TTM_PARAM_ALLOCATED, 0),
                            .per_bank = ttm_node_get(node, TTM_PARAM_LARGEST, TTM_UNKNOWN),
                            .address = ttm_node_get(node, TTM_PARAM_BASE, TTM_UNKNOWN),
                            .named_bytes = TTM_UNKNOWN,
                            .node = TTM_NONE};
  return ttm_vec_push(&l->profile->capture.events, event);
}

/* Whatever was on the device is gone with it. */
static int on_close(ttm_capture_loader *l, const ttm_capture_node *node) {
  uint32_t device = ttm_capture_device_of(node);
  for (size_t i = 0; i < l->living.n; i++) {
    uint32_t row = l->living.at[i];
    if (row == TTM_NONE || l->profile->capture.buffers.at[row].device != device) continue;
    if (ttm_capture_free_row(l, node, row)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* ---- Failures ------------------------------------------------------------------------------------------------------ */

/* An exception's text, line by line as it would stand in a log. */
static int on_failure(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_str rest = node->text[TTM_PARAM_MESSAGE];
  bool info = false;
  int rc = pass_begun(l, l->begun.n);
  uint32_t op = l->last_called;
  while (rest.n && !rc) {
    ttm_str line = ttm_str_trim(ttm_str_take_to(&rest, '\n'));
    rc = ttm_build_incident_line(l->builder, l->stream, line, op, node->line);
    if (!rc && info) rc = ttm_build_incident_info(l->builder, l->stream, line, op, node->line);
    info = ttm_str_eq(line, TTM_LIT("info:"));
  }
  if (op != TTM_NONE) l->profile->ops.at[op].flags |= TTM_OP_FAILED;
  return rc;
}

static int on_end(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_recording *r = recording_of(l);
  r->ended = true;
  r->elsewhere = ttm_node_get(node, TTM_PARAM_ELSEWHERE, 0);
  r->traces = ttm_node_get(node, TTM_PARAM_TRACES, 0);
  return ttm_build_string(l->builder, node->text[TTM_PARAM_REASON], &r->reason);
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

int ttm_recording_take(ttm_capture_loader *l, const ttm_capture_node *node) {
  static int (*const handlers[TTM_NODE_TYPES])(ttm_capture_loader *, const ttm_capture_node *) = {
      [TTM_NODE_PIECE] = on_piece,     [TTM_NODE_OPERATION] = on_operation, [TTM_NODE_MEMORY_VIEW] = on_view,
      [TTM_NODE_FAILURE] = on_failure, [TTM_NODE_DEVICE_CLOSE] = on_close,  [TTM_NODE_RECORDING_END] = on_end};
  return handlers[node->type](l, node);
}

int ttm_recording_finish(ttm_capture_loader *l, const ttm_capture_facts *facts) {
  ttm_recording *r = recording_of(l);
  r->is = true;
  l->op = TTM_NONE;
  if (!r->ended) r->lost = l->begun.n - l->next_begun;
  if (pass_begun(l, l->begun.n)) return TTM_ENOMEM;
  if (!r->ended) r->last = l->last_called;
  if (ttm_recording_complete(l)) return TTM_ENOMEM;
  return ttm_build_string(l->builder, ttm_str_of(facts->board), &r->board);
}
