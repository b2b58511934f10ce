/* SPDX-License-Identifier: Apache-2.0 */
/* Run mode NORMAL leaves out dataflow buffers, and the circular buffers of programs from the cache. The recorder asks for
 * them in run mode NO_DISPATCH before the call; here every call with the same key gets the buffers of that answer. */
#include "profile/load/graph.h"

typedef TTM_VEC(ttm_buffer_event) event_list;

static bool is_program_buffer(uint8_t kind) {
  return kind == TTM_EVENT_CIRCULAR || kind == TTM_EVENT_DATAFLOW || kind == TTM_EVENT_SCRATCHPAD;
}

/* A program's free event, with what follows up to the next: has it buffers of its own? */
static bool is_empty(const ttm_capture *c, uint32_t at, uint32_t end) {
  for (at++; at < end && c->events.at[at].kind != TTM_EVENT_PROGRAM_FREE; at++) {
    if (is_program_buffer(c->events.at[at].kind)) return false;
  }
  return true;
}

static uint32_t count_programs(const ttm_capture *c, uint32_t first, uint32_t end) {
  uint32_t n = 0;
  for (uint32_t at = first; at < end; at++) n += c->events.at[at].kind == TTM_EVENT_PROGRAM_FREE;
  return n;
}

/* The repetition of the call whose events are [first, end); NULL when there is none, or it went another way. */
static const ttm_repeat *repeat_of(const ttm_capture_loader *l, uint64_t key, uint32_t first, uint32_t end) {
  uint32_t at = key ? ttm_map_get(&l->repeats.of_key, key, TTM_NONE) : TTM_NONE;
  if (at == TTM_NONE) return NULL;
  const ttm_repeat *repeat = &l->repeats.at.at[at];
  return repeat->n == count_programs(&l->profile->capture, first, end) ? repeat : NULL;
}

/* The buffers of program number `n` of a repetition, behind the event that starts the program. */
static int insert(event_list *out, const ttm_repeats *r, uint32_t n, const ttm_buffer_event *start) {
  uint32_t first = r->programs.at[n], end = (uint32_t)(n + 1 < r->programs.n ? r->programs.at[n + 1] : r->events.n);
  for (uint32_t i = first; i < end; i++) {
    ttm_buffer_event event = r->events.at[i];
    event.op = start->op;
    event.function = start->function;
    event.node = start->node;
    event.device = start->device << 16 | (event.device & UINT16_MAX);
    if (ttm_vec_push(out, event)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Copies the events of one call, completed. */
static int copy_call(ttm_capture_loader *l, event_list *out, uint32_t first, uint32_t end, uint64_t key,
                     uint32_t *moved) {
  ttm_capture *c = &l->profile->capture;
  const ttm_repeat *repeat = repeat_of(l, key, first, end);
  uint32_t program = 0;
  for (uint32_t at = first; at < end; at++) {
    const ttm_buffer_event *e = &c->events.at[at];
    moved[at] = (uint32_t)out->n;
    if (ttm_vec_push(out, *e)) return TTM_ENOMEM;
    if (!repeat || e->kind != TTM_EVENT_PROGRAM_FREE) continue;
    uint32_t n = repeat->first + program++;
    if (!is_empty(c, at, end)) continue;
    c->recording.completed++;
    if (insert(out, &l->repeats, n, e)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* A call that recorded the buffers of all its programs tells them for later ones, which find the programs in the cache. */
static int learn(ttm_capture_loader *l, uint64_t key, uint32_t first, uint32_t end) {
  const ttm_capture *c = &l->profile->capture;
  ttm_repeats *r = &l->repeats;
  ttm_repeat repeat = {.first = (uint32_t)r->programs.n, .n = count_programs(c, first, end)};
  if (!key || !repeat.n || ttm_map_get(&r->of_key, key, TTM_NONE) != TTM_NONE) return TTM_OK;
  for (uint32_t at = first; at < end; at++)
    if (c->events.at[at].kind == TTM_EVENT_PROGRAM_FREE && is_empty(c, at, end)) return TTM_OK;
  for (uint32_t at = first, begun = 0; at < end; at++) {
    uint8_t kind = c->events.at[at].kind;
    if (kind == TTM_EVENT_PROGRAM_FREE) {
      begun = 1;
      if (ttm_vec_push(&r->programs, (uint32_t)r->events.n)) return TTM_ENOMEM;
    } else if (begun && is_program_buffer(kind) && ttm_vec_push(&r->events, c->events.at[at])) {
      return TTM_ENOMEM;
    }
  }
  return ttm_vec_push(&r->at, repeat) ? TTM_ENOMEM : ttm_map_set(&r->of_key, key, (uint32_t)(r->at.n - 1));
}

static int learn_all(ttm_capture_loader *l) {
  const ttm_capture *c = &l->profile->capture;
  int rc = TTM_OK;
  for (size_t i = 0; i < l->calls.n && !rc; i++) {
    uint32_t end = i + 1 < l->calls.n ? l->calls.at[i + 1].first : (uint32_t)c->events.n;
    rc = learn(l, l->calls.at[i].key, l->calls.at[i].first, end);
  }
  return rc;
}

/* NORMAL names the chip, NO_DISPATCH the mesh. */
static void name_chip(ttm_capture_loader *l) {
  const ttm_capture *c = &l->profile->capture;
  size_t at = 0;
  while (at < c->events.n && !is_program_buffer(c->events.at[at].kind)) at++;
  for (size_t i = 0; i < l->repeats.events.n; i++)
    l->repeats.events.at[i].device = at < c->events.n ? c->events.at[at].device : 0;
}

static int copy_all(ttm_capture_loader *l, event_list *out, uint32_t *moved) {
  uint32_t all = (uint32_t)l->profile->capture.events.n, at = 0;
  uint64_t key = 0;
  for (size_t i = 0; i <= l->calls.n; i++) {
    uint32_t end = i < l->calls.n ? l->calls.at[i].first : all;
    if (copy_call(l, out, at, end, key, moved)) return TTM_ENOMEM;
    at = end;
    if (i < l->calls.n) key = l->calls.at[i].key;
  }
  moved[all] = (uint32_t)out->n;
  return TTM_OK;
}

/* Programs that now have buffers are no longer empty. Which of them came from the cache is not kept: those first. */
static void count_completed(ttm_capture *c) {
  uint64_t done = c->recording.completed < c->empty_programs ? c->recording.completed : c->empty_programs;
  c->empty_programs -= done;
  c->empty_cached = c->empty_cached > done ? c->empty_cached - done : 0;
}

int ttm_recording_complete(ttm_capture_loader *l) {
  ttm_capture *c = &l->profile->capture;
  event_list out = {0};
  name_chip(l);
  if (learn_all(l)) return TTM_ENOMEM;
  if (!l->repeats.at.n) return TTM_OK;
  uint32_t *moved = ttm_alloc((c->events.n + 1) * sizeof *moved);
  int rc = moved ? copy_all(l, &out, moved) : TTM_ENOMEM;
  if (!rc) {
    ttm_vec_free(&c->events);
    c->events.at = out.at;
    c->events.n = out.n;
    c->events.cap = out.cap;
    for (size_t i = 0; i < l->marks.n; i++) l->marks.at[i] = moved[l->marks.at[i]];
    count_completed(c);
  } else {
    ttm_vec_free(&out);
  }
  ttm_free(moved);
  return rc;
}
