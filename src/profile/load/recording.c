/* SPDX-License-Identifier: Apache-2.0 */
/* A recording is a row of captures: counters begin anew in each, and a buffer that one piece allocates another may use and free. Their
 * names say nothing beyond a piece, but an address does: at any time one buffer lives there. */
#include "profile/load/graph.h"

static ttm_recording *recording_of(ttm_capture_loader *l) { return &l->profile->capture.recording; }

/* ---- Who lives where ----------------------------------------------------------------------------------------------- */

/* The place as bytes, for interning; false when the node does not name one. */
static bool place_of(ttm_capture_loader *l, const ttm_capture_node *node, uint64_t place[3]) {
  place[0] = (uint64_t)ttm_recording_lane(l)->process << 32 | ttm_capture_device_of(node);
  place[1] = ttm_capture_memory_of(node);
  place[2] = ttm_node_get(node, TTM_PARAM_ADDRESS, 0);
  return place[2] && place[1] < TTM_MEMORIES;
}

/* Several may live at one address, on cores of their own. */
static bool is_meant(const ttm_capture_loader *l, const ttm_buffer *b, const ttm_capture_node *node) {
  if (node->type == TTM_NODE_TENSOR)
    return ttm_str_eq(ttm_profile_string(l->profile, b->shard_cores), node->text[TTM_PARAM_CORES]);
  return b->bytes == ttm_node_get(node, TTM_PARAM_SIZE, 0) && b->cores == ttm_node_get(node, TTM_PARAM_NUM_CORES, 0);
}

uint32_t ttm_recording_find(ttm_capture_loader *l, const ttm_capture_node *node) {
  uint64_t place[3];
  if (!place_of(l, node, place)) return TTM_NONE;
  uint32_t id = ttm_intern_find(&l->places, (ttm_str){(const char *)place, sizeof place});
  uint32_t newest = id < l->living.n ? l->living.at[id] : TTM_NONE;
  const ttm_buffer *all = l->profile->capture.buffers.at;
  for (uint32_t row = newest; row != TTM_NONE && all[newest].under != TTM_NONE; row = all[row].under)
    if (is_meant(l, &all[row], node)) return row;
  return newest;
}

/* True when a free that the lane tells now is that of the row, and not of one before it. */
static bool is_own(ttm_capture_loader *l, uint32_t row) {
  if (row >= l->births.n) return false; /* nobody lives there any more */
  const ttm_birth *birth = &l->births.at[row];
  return birth->lane == l->lane || birth->piece <= ttm_recording_lane(l)->began;
}

bool ttm_recording_is_noticed(ttm_capture_loader *l, const ttm_capture_node *node) {
  uint64_t place[3];
  if (!place_of(l, node, place)) return false;
  uint32_t id = ttm_intern_find(&l->places, (ttm_str){(const char *)place, sizeof place});
  if (id >= l->owed.n || !l->owed.at[id] || is_own(l, l->living.at[id])) return false;
  l->owed.at[id]--;
  recording_of(l)->unseen_frees--;
  return true;
}

int ttm_recording_born(ttm_capture_loader *l, const ttm_capture_node *node, uint32_t row) {
  uint64_t place[3];
  uint32_t id;
  while (l->births.n <= row)
    if (ttm_vec_push(&l->births, ((ttm_birth){l->lane, recording_of(l)->pieces}))) return TTM_ENOMEM;
  if (!place_of(l, node, place)) return TTM_OK;
  if (ttm_intern_add(&l->places, (ttm_str){(const char *)place, sizeof place}, &id)) return TTM_ENOMEM;
  while (l->living.n <= id)
    if (ttm_vec_push(&l->living, TTM_NONE) || ttm_vec_push(&l->owed, 0)) return TTM_ENOMEM;
  l->profile->capture.buffers.at[row].place = id;
  uint32_t old = l->living.at[id];
  l->living.at[id] = row;
  if (old == TTM_NONE) return TTM_OK;
  ttm_buffer *all = l->profile->capture.buffers.at;
  if (all[row].own == TTM_OWN_ADDRESSES || all[old].own == TTM_OWN_ADDRESSES) return all[row].under = old, TTM_OK;
  recording_of(l)->unseen_frees++; /* another thread let it go, and may tell later */
  l->owed.at[id]++;
  return ttm_capture_free_row(l, node, old);
}

void ttm_recording_gone(ttm_capture_loader *l, uint32_t row) {
  ttm_buffer *all = l->profile->capture.buffers.at;
  if (all[row].place >= l->living.n) return;
  uint32_t *link = &l->living.at[all[row].place];
  while (*link != TTM_NONE && *link != row) link = &all[*link].under;
  if (*link == row) *link = all[row].under;
}

/* ---- Operations ---------------------------------------------------------------------------------------------------- */

/* Calls of the lane up to `end` that no piece has: they are operations all the same. */
static int pass_begun(ttm_capture_loader *l, size_t end) {
  for (size_t i = l->next_begun; i < end; i++) {
    ttm_begun_op begun = l->begun.at[i];
    if (begun.seen || begun.lane != l->lane) continue;
    l->begun.at[i].seen = true;
    if (ttm_capture_is_free(ttm_profile_string(l->profile, begun.name))) continue;
    l->op_stack = begun.stack;
    if (ttm_capture_begin_op(l, begun.name, begun.location, begun.line) || ttm_capture_finish_op(l) ||
        ttm_recording_keep_trace(l, begun.trace) || ttm_recording_begun(l, &begun))
      return TTM_ENOMEM;
    ttm_recording_lane(l)->last_called = l->op;
    l->op = TTM_NONE;
  }
  while (l->next_begun < l->begun.n && l->begun.at[l->next_begun].seen) l->next_begun++;
  if (l->next_begun == l->begun.n) l->next_begun = l->begun.n = 0;
  return TTM_OK;
}

int ttm_recording_pass(ttm_capture_loader *l) { return pass_begun(l, l->begun.n); }

int ttm_recording_match(ttm_capture_loader *l, uint32_t name, uint32_t *line) {
  size_t at = l->next_begun;
  l->called = (ttm_begun_op){0};
  while (at < l->begun.n && (l->begun.at[at].seen || l->begun.at[at].lane != l->lane || l->begun.at[at].name != name))
    at++;
  if (at == l->begun.n) return TTM_OK; /* the runtime's own, or a free */
  ttm_begun_op begun = l->begun.at[at];
  l->begun.at[at].seen = true;
  if (pass_begun(l, at)) return TTM_ENOMEM;
  l->op_location = begun.location;
  l->op_stack = begun.stack;
  *line = begun.line;
  l->called = begun;
  return TTM_OK;
}

int ttm_recording_call(ttm_capture_loader *l) {
  return ttm_vec_push(&l->calls, ((ttm_keyed_call){(uint32_t)l->profile->capture.events.n, l->called.key}));
}

/* Where an operation is called. The first one from there tells, the others have its number. */
static int find_site(ttm_capture_loader *l, const ttm_capture_node *node, ttm_begun_op *begun) {
  uint64_t number = ttm_node_get(node, TTM_PARAM_SITE, 0), key = number ? ttm_recording_own(l, number) : 0;
  uint32_t at = key ? ttm_map_get(&l->of_site, key, TTM_NONE) : TTM_NONE;
  ttm_call_site site = {0};
  if (at != TTM_NONE) {
    begun->location = l->sites.at[at].location;
    begun->stack = l->sites.at[at].stack;
    return TTM_OK;
  }
  if (ttm_build_string(l->builder, node->text[TTM_PARAM_AT], &site.location) ||
      ttm_build_string(l->builder, node->text[TTM_PARAM_STACK], &site.stack))
    return TTM_ENOMEM;
  begun->location = site.location;
  begun->stack = site.stack;
  if (!key) return TTM_OK;
  return ttm_vec_push(&l->sites, site) ? TTM_ENOMEM : ttm_map_set(&l->of_site, key, (uint32_t)(l->sites.n - 1));
}

static int on_operation(ttm_capture_loader *l, const ttm_capture_node *node) {
  uint64_t key = ttm_node_get(node, TTM_PARAM_KEY, 0);
  ttm_begun_op begun = {.line = node->line,
                        .lane = l->lane,
                        .id = ttm_node_get(node, TTM_PARAM_ID, 0),
                        .key = key ? ttm_recording_own(l, key) : 0,
                        .kept = ttm_node_get(node, TTM_PARAM_KEPT, 0) != 0};
  uint32_t rank;
  ttm_recording_counts(l);
  recording_of(l)->after_failure += ttm_recording_lane(l)->process == l->failed_process;
  if (ttm_recording_rank(l, ttm_capture_device_of(node), &rank)) return TTM_ENOMEM;
  begun.trace = ttm_recording_trace(node->text[TTM_PARAM_NAME], ttm_node_get(node, TTM_PARAM_TRACE, 0), rank);
  if (ttm_build_string(l->builder, node->text[TTM_PARAM_NAME], &begun.name) ||
      ttm_build_string(l->builder, node->text[TTM_PARAM_TO], &begun.to) || find_site(l, node, &begun) ||
      ttm_vec_push(&l->begun, begun))
    return TTM_ENOMEM;
  return TTM_OK;
}

/* ---- Pieces -------------------------------------------------------------------------------------------------------- */

int ttm_recording_turn(ttm_capture_loader *l) {
  if (ttm_capture_finish_op(l)) return TTM_ENOMEM;
  l->op = TTM_NONE;
  l->depth = 0;
  l->repeating = l->hypothetical = false;
  ttm_map_clear(&l->node_of_counter);
  ttm_map_clear(&l->node_of_tensor);
  ttm_map_clear(&l->row_of_tensor);
  l->nodes.n = 0;
  return TTM_OK;
}

static int on_piece(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_recording_lane(l)->began = ttm_recording_lane(l)->piece;
  ttm_recording_lane(l)->piece = ++recording_of(l)->pieces;
  if (ttm_recording_turn(l)) return TTM_ENOMEM;
  l->repeating = ttm_str_eq(node->text[TTM_PARAM_MODE], TTM_LIT("REPEAT"));
  l->hypothetical = l->repeating || ttm_str_eq(node->text[TTM_PARAM_MODE], TTM_LIT("NO_DISPATCH"));
  if (l->repeating) {
    ttm_repeats *repeats = &l->repeats;
    uint64_t key = ttm_recording_own(l, ttm_node_get(node, TTM_PARAM_KEY, 0));
    ttm_repeat repeat = {.first = (uint32_t)repeats->programs.n};
    if (ttm_vec_push(&repeats->at, repeat) || ttm_map_set(&repeats->of_key, key, (uint32_t)(repeats->at.n - 1)))
      return TTM_ENOMEM;
  }
  return l->hypothetical ? TTM_OK : ttm_recording_begin_template(l, node);
}

static int on_view(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_recording *r = recording_of(l);
  uint8_t memory = ttm_capture_memory_of(node);
  if (memory >= TTM_MEMORIES) return TTM_OK;
  l->viewer = l->lane;
  r->views += memory == TTM_DRAM;
  r->measured[memory] = true;
  r->banks[memory] = ttm_node_get(node, TTM_PARAM_BANKS, 0);
  r->total[memory] = ttm_node_get(node, TTM_PARAM_TOTAL, 0);
  ttm_buffer_event event = {.kind = TTM_EVENT_MEASURED,
                            .row = memory,
                            .op = ttm_recording_lane(l)->last_called,
                            .bytes = ttm_node_get(node, TTM_PARAM_ALLOCATED, 0),
                            .per_bank = ttm_node_get(node, TTM_PARAM_LARGEST, TTM_UNKNOWN),
                            .address = ttm_node_get(node, TTM_PARAM_BASE, TTM_UNKNOWN),
                            .named_bytes = r->total[memory],
                            .node = (uint32_t)r->banks[memory],
                            .alias = ttm_node_get(node, TTM_PARAM_LATE, 0) != 0};
  if (ttm_recording_rank(l, ttm_capture_device_of(node), &event.device)) return TTM_ENOMEM;
  return ttm_vec_push(&l->profile->capture.events, event);
}

/* ---- Failures ------------------------------------------------------------------------------------------------------ */

/* The same message at the same place of the program is one failure, told again. */
static int add_failure(ttm_capture_loader *l, ttm_incident_text what, uint32_t op, uint32_t line, uint32_t *out) {
  enum { LOOKED_AT = 64 };
  ttm_profile *p = l->profile;
  *out = (uint32_t)(p->incidents.n > LOOKED_AT ? p->incidents.n - LOOKED_AT : 0);
  for (; *out < p->incidents.n; ++*out) {
    ttm_incident *known = &p->incidents.at[*out];
    bool here = op == TTM_NONE ? known->op == TTM_NONE
                               : known->op != TTM_NONE && p->ops.at[known->op].text == p->ops.at[op].text;
    if (here && ttm_str_eq(known->what.text, what.text)) return known->copies++, TTM_OK;
  }
  if (ttm_build_incident(l->builder, l->stream, what, op, line, true)) return TTM_ENOMEM;
  *out = p->incidents.n ? (uint32_t)(p->incidents.n - 1) : TTM_NONE;
  return TTM_OK;
}

/* An exception's text, line by line as it would stand in a log. */
static int on_failure(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_str rest = node->text[TTM_PARAM_MESSAGE];
  bool info = false, wrapped = ttm_node_get(node, TTM_PARAM_ID, 1) != 0;
  uint32_t incident = TTM_NONE;
  if (ttm_capture_finish_op(l) || pass_begun(l, l->begun.n)) return TTM_ENOMEM;
  l->op = TTM_NONE;
  uint32_t op = wrapped ? ttm_recording_lane(l)->last_called : TTM_NONE;
  while (rest.n) {
    ttm_str line = ttm_str_trim(ttm_str_take_to(&rest, '\n'));
    ttm_incident_text what;
    ttm_buf_clear(&l->scratch);
    if (ttm_incident_has_list(line)) ttm_incident_join(&l->scratch, line, &rest), line = ttm_buf_str(&l->scratch);
    if (l->scratch.failed) return TTM_ENOMEM;
    if ((ttm_incident_parse(line, &what) || (info && ttm_incident_parse_info(line, &what))) &&
        add_failure(l, what, op, node->line, &incident))
      return TTM_ENOMEM;
    info = ttm_str_eq(line, TTM_LIT("info:"));
  }
  if (op != TTM_NONE) l->profile->ops.at[op].flags |= TTM_OP_FAILED;
  if (incident == TTM_NONE) return TTM_OK;
  l->failed_process = ttm_recording_lane(l)->process;
  recording_of(l)->after_failure = 0;
  return ttm_map_set(&l->incident_of_failure, ttm_recording_own(l, ttm_node_get(node, TTM_PARAM_ID, 0)), incident);
}

/* The last of them counts. An error of the program's own says nothing of a failure in another process. */
static int on_uncaught(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_recording *r = recording_of(l);
  bool in_thread = ttm_node_get(node, TTM_PARAM_IN_THREAD, 0) != 0;
  uint64_t cause = ttm_node_get(node, TTM_PARAM_CAUSE, 0);
  uint32_t incident = ttm_map_get(&l->incident_of_failure, cause ? cause : ttm_recording_own(l, 0), TTM_NONE);
  if (incident != TTM_NONE) {
    r->fatal = incident;
    r->in_thread = in_thread;
  }
  if (in_thread) return TTM_OK;
  r->own_error = incident == TTM_NONE && l->failed_process == ttm_recording_lane(l)->process;
  return ttm_build_string(l->builder, node->text[TTM_PARAM_TYPE], &l->profile->capture.host.uncaught);
}

/* Of a process. Of several reasons the one that tells most: why a recording was given up. */
static int on_end(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_recording *r = recording_of(l);
  ttm_str reason = node->text[TTM_PARAM_REASON];
  bool expected = ttm_str_eq(reason, TTM_LIT("exit")) || ttm_str_eq(reason, TTM_LIT("os._exit"));
  r->elsewhere += ttm_node_get(node, TTM_PARAM_ELSEWHERE, 0);
  r->late += ttm_node_get(node, TTM_PARAM_LATE, 0);
  r->traces += ttm_node_get(node, TTM_PARAM_TRACES, 0);
  r->waits += ttm_node_get(node, TTM_PARAM_WAITS, 0);
  r->sub_devices += ttm_node_get(node, TTM_PARAM_SUB_DEVICES, 0);
  r->asked_chips |= ttm_node_get(node, TTM_PARAM_ASKED, 0) != 0;
  r->given_up |= !expected;
  ttm_recording_process_ends(l);
  return expected && r->reason ? TTM_OK : ttm_build_string(l->builder, reason, &r->reason);
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

int ttm_recording_take(ttm_capture_loader *l, const ttm_capture_node *node) {
  static int (*const handlers[TTM_NODE_TYPES])(ttm_capture_loader *, const ttm_capture_node *) = {
      [TTM_NODE_PIECE] = on_piece,
      [TTM_NODE_AGAIN] = ttm_recording_again,
      [TTM_NODE_FREED] = ttm_recording_freed,
      [TTM_NODE_OPERATION] = on_operation,
      [TTM_NODE_TEST] = ttm_recording_test,
      [TTM_NODE_TEST_END] = ttm_recording_test_ends,
      [TTM_NODE_RESULTS] = ttm_recording_results,
      [TTM_NODE_MEMORY_VIEW] = on_view,
      [TTM_NODE_FAILURE] = on_failure,
      [TTM_NODE_DEVICE_OPEN] = ttm_recording_opened,
      [TTM_NODE_DEVICE_CLOSE] = ttm_recording_closed,
      [TTM_NODE_HOST] = ttm_recording_host,
      [TTM_NODE_HOST_END] = ttm_recording_host_end,
      [TTM_NODE_UNCAUGHT] = on_uncaught,
      [TTM_NODE_RECORDING_END] = on_end};
  return handlers[node->type](l, node);
}

/* What lanes began and no piece shows; it is lost where the process has no end. */
static int pass_rest(ttm_capture_loader *l) {
  ttm_recording *r = recording_of(l);
  for (size_t i = l->next_begun; i < l->begun.n; i++)
    r->lost += !l->begun.at[i].seen && !l->processes.at[l->lanes.at[l->begun.at[i].lane].process].ended;
  for (l->lane = 0; l->lane < l->lanes.n; l->lane++) {
    if (pass_begun(l, l->begun.n)) return TTM_ENOMEM;
    const ttm_lane *lane = &l->lanes.at[l->lane];
    if (!l->processes.at[lane->process].ended && lane->last_called != TTM_NONE) r->last = lane->last_called;
  }
  l->lane = 0;
  return TTM_OK;
}

int ttm_recording_finish(ttm_capture_loader *l, const ttm_capture_facts *facts) {
  ttm_recording *r = recording_of(l);
  r->is = r->ended = true;
  l->op = TTM_NONE;
  r->processes = (uint32_t)l->processes.n;
  for (size_t i = 0; i < l->processes.n; i++) r->ended &= l->processes.at[i].ended;
  if (pass_rest(l) || ttm_recording_complete(l) || ttm_recording_divide(l)) return TTM_ENOMEM;
  ttm_recording_host_finish(l);
  return ttm_build_string(l->builder, ttm_str_of(facts->board), &r->board);
}
