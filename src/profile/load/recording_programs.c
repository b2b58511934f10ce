/* SPDX-License-Identifier: Apache-2.0 */
/* Run mode NORMAL leaves out dataflow buffers, and the circular buffers of programs from the cache. The recorder asks for
 * them in run mode NO_DISPATCH before the call. Programs with the same number (device operation and arguments) have the same
 * buffers; where arguments tell what L1 held, the same operation of an answer with the call's key has. */
#include "profile/load/graph.h"

typedef TTM_VEC(ttm_buffer_event) event_list;

static bool is_program_buffer(uint8_t kind) {
  return kind == TTM_EVENT_CIRCULAR || kind == TTM_EVENT_DATAFLOW || kind == TTM_EVENT_SCRATCHPAD;
}

/* ---- What is known ------------------------------------------------------------------------------------------------- */

static int add_known(ttm_repeats *r, ttm_known_program program) {
  uint32_t at = (uint32_t)r->programs.n;
  program.first = program.end = (uint32_t)r->events.n;
  if (ttm_vec_push(&r->programs, program)) return TTM_ENOMEM;
  if (!program.number || ttm_map_get(&r->of_number, program.number, TTM_NONE) != TTM_NONE) return TTM_OK;
  return ttm_map_set(&r->of_number, program.number, at);
}

/* Of the program that was added last. */
static int add_buffer(ttm_repeats *r, const ttm_buffer_event *event) {
  if (!r->programs.n) return TTM_OK;
  r->programs.at[r->programs.n - 1].end++;
  return ttm_vec_push(&r->events, *event);
}

static uint64_t number_of(const ttm_capture_loader *l, const ttm_capture_node *node) {
  uint64_t number = ttm_node_get(node, TTM_PARAM_PROGRAM, 0);
  return number ? ttm_recording_own(l, number) : 0;
}

int ttm_recording_asked_program(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_known_program program = {.number = number_of(l, node)};
  l->repeats.at.at[l->repeats.at.n - 1].n++;
  return ttm_build_string(l->builder, node->text[TTM_PARAM_NAME], &program.function) || add_known(&l->repeats, program)
             ? TTM_ENOMEM
             : TTM_OK;
}

int ttm_recording_asked_buffer(ttm_capture_loader *l, const ttm_buffer_event *event) {
  return l->repeats.at.at[l->repeats.at.n - 1].n ? add_buffer(&l->repeats, event) : TTM_OK;
}

int ttm_recording_program(ttm_capture_loader *l, const ttm_capture_node *node, const ttm_function *function) {
  ttm_begun_program start = {.number = number_of(l, node),
                             .event = (uint32_t)(l->profile->capture.events.n - 1),
                             .function = function->name,
                             .run = function->run,
                             .cached = function->cached};
  return ttm_vec_push(&l->starts, start);
}

/* The events of a program that began: up to the next one's. */
static uint32_t end_of(const ttm_capture_loader *l, size_t start) {
  return start + 1 < l->starts.n ? l->starts.at[start + 1].event : (uint32_t)l->profile->capture.events.n;
}

static bool has_kind(const ttm_capture_loader *l, size_t start, bool (*is_wanted)(uint8_t)) {
  const ttm_capture *c = &l->profile->capture;
  for (uint32_t at = l->starts.at[start].event + 1, end = end_of(l, start); at < end; at++)
    if (is_wanted(c->events.at[at].kind)) return true;
  return false;
}

/* A program that recorded its buffers tells them for later ones, which come from the cache. */
static int learn_all(ttm_capture_loader *l) {
  const ttm_capture *c = &l->profile->capture;
  ttm_repeats *r = &l->repeats;
  for (size_t i = 0; i < l->starts.n; i++) {
    const ttm_begun_program *s = &l->starts.at[i];
    if (!s->number || ttm_map_get(&r->of_number, s->number, TTM_NONE) != TTM_NONE || !has_kind(l, i, is_program_buffer))
      continue;
    if (add_known(r, (ttm_known_program){.number = s->number, .function = s->function})) return TTM_ENOMEM;
    for (uint32_t at = s->event + 1, end = end_of(l, i); at < end; at++)
      if (is_program_buffer(c->events.at[at].kind) && add_buffer(r, &c->events.at[at])) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* ---- Which is which ------------------------------------------------------------------------------------------------ */

/* The programs of a call, in ttm_capture_loader.starts. */
typedef struct call_programs {
  uint64_t key;
  size_t first, end;
} call_programs;

/* Runs of a device operation in the call, 0: of any; *nth: which of them `start` belongs to. */
static uint32_t count_runs(const ttm_capture_loader *l, call_programs call, uint32_t function, size_t start,
                           uint32_t *nth) {
  uint32_t count = 0, last = TTM_NONE;
  for (size_t i = call.first; i < call.end; i++) {
    const ttm_begun_program *s = &l->starts.at[i];
    if (function && s->function != function) continue;
    count += s->run != last;
    last = s->run;
    if (i == start) *nth = count - 1;
  }
  return count;
}

/* The program in the answer to the question about the call; NULL when the call ran another count of its device operation. */
static const ttm_known_program *find_asked(const ttm_capture_loader *l, call_programs call, size_t start) {
  const ttm_known_program *found = NULL;
  uint32_t at = call.key ? ttm_map_get(&l->repeats.of_key, call.key, TTM_NONE) : TTM_NONE, seen = 0, nth = 0;
  if (at == TTM_NONE || !l->repeats.at.at[at].n) return NULL;
  const ttm_repeat *repeat = &l->repeats.at.at[at];
  const ttm_known_program *programs = &l->repeats.programs.at[repeat->first];
  uint32_t function = programs->function ? l->starts.at[start].function : 0; /* recordings of old name none */
  uint32_t count = count_runs(l, call, function, start, &nth);
  for (uint32_t i = 0; i < repeat->n; i++)
    if ((!function || programs[i].function == function) && seen++ == nth) found = &programs[i];
  return seen == count ? found : NULL;
}

static const ttm_known_program *find_known(const ttm_capture_loader *l, call_programs call, size_t start) {
  uint64_t number = l->starts.at[start].number;
  uint32_t at = number ? ttm_map_get(&l->repeats.of_number, number, TTM_NONE) : TTM_NONE;
  return at == TTM_NONE ? find_asked(l, call, start) : &l->repeats.programs.at[at];
}

/* ---- Filling in ---------------------------------------------------------------------------------------------------- */

static bool is_dataflow(uint8_t kind) { return kind == TTM_EVENT_DATAFLOW || kind == TTM_EVENT_SCRATCHPAD; }

/* What a program lacks of its buffers, behind the event that starts it, which is the last of `out`. Circular buffers that it recorded have
 * their addresses. */
static int complete(ttm_capture_loader *l, event_list *out, const ttm_known_program *known, size_t start) {
  const ttm_buffer_event begin = out->at[out->n - 1];
  bool recorded = has_kind(l, start, is_program_buffer);
  l->starts.at[start].state = recorded ? TTM_PROGRAM_RECORDED : known ? TTM_PROGRAM_COMPLETED : TTM_PROGRAM_UNKNOWN;
  for (uint32_t i = known ? known->first : 0; known && i < known->end; i++) {
    ttm_buffer_event event = l->repeats.events.at[i];
    if (recorded && !is_dataflow(event.kind)) continue;
    event.op = begin.op;
    event.function = begin.function;
    event.node = begin.node;
    event.device = begin.device << 16 | (event.device & UINT16_MAX);
    if (ttm_vec_push(out, event)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Copies the events of one call, completed. */
static int copy_call(ttm_capture_loader *l, event_list *out, uint32_t first, uint32_t end, call_programs call,
                     uint32_t *moved) {
  const ttm_capture *c = &l->profile->capture;
  size_t start = call.first;
  for (uint32_t at = first; at < end; at++) {
    moved[at] = (uint32_t)out->n;
    if (ttm_vec_push(out, c->events.at[at])) return TTM_ENOMEM;
    if (start == call.end || l->starts.at[start].event != at) continue;
    const ttm_known_program *known = has_kind(l, start, is_dataflow) ? NULL : find_known(l, call, start);
    if (complete(l, out, known, start)) return TTM_ENOMEM;
    start++;
  }
  return TTM_OK;
}

static int copy_all(ttm_capture_loader *l, event_list *out, uint32_t *moved) {
  uint32_t all = (uint32_t)l->profile->capture.events.n, at = 0;
  call_programs call = {0};
  for (size_t i = 0; i <= l->calls.n; i++) {
    uint32_t end = i < l->calls.n ? l->calls.at[i].first : all;
    call.first = call.end;
    while (call.end < l->starts.n && l->starts.at[call.end].event < end) call.end++;
    if (copy_call(l, out, at, end, call, moved)) return TTM_ENOMEM;
    at = end;
    if (i < l->calls.n) call.key = l->calls.at[i].key;
  }
  moved[all] = (uint32_t)out->n;
  return TTM_OK;
}

/* NORMAL names the chip, NO_DISPATCH the mesh. */
static void name_chip(ttm_capture_loader *l) {
  const ttm_capture *c = &l->profile->capture;
  size_t at = 0;
  while (at < c->events.n && !is_program_buffer(c->events.at[at].kind)) at++;
  for (size_t i = 0; i < l->repeats.events.n; i++)
    l->repeats.events.at[i].device = at < c->events.n ? c->events.at[at].device : 0;
}

/* A device operation runs its program on every chip of a mesh: one program, unknown when it is on one of them. */
static void count_programs(ttm_capture_loader *l) {
  ttm_capture *c = &l->profile->capture;
  c->empty_programs = c->empty_cached = c->recording.completed = 0;
  for (size_t i = 0, next; i < l->starts.n; i = next) {
    uint8_t state = TTM_PROGRAM_RECORDED;
    for (next = i; next < l->starts.n && l->starts.at[next].run == l->starts.at[i].run; next++)
      if (l->starts.at[next].state > state) state = l->starts.at[next].state;
    c->recording.completed += state == TTM_PROGRAM_COMPLETED;
    if (state != TTM_PROGRAM_UNKNOWN) continue;
    if (!c->empty_programs++) c->first_empty = l->starts.at[i].function;
    c->empty_cached += l->starts.at[i].cached;
  }
}

int ttm_recording_complete(ttm_capture_loader *l) {
  ttm_capture *c = &l->profile->capture;
  event_list out = {0};
  name_chip(l);
  if (learn_all(l)) return TTM_ENOMEM;
  uint32_t *moved = ttm_alloc((c->events.n + 1) * sizeof *moved);
  int rc = moved ? copy_all(l, &out, moved) : TTM_ENOMEM;
  if (!rc) {
    ttm_vec_free(&c->events);
    c->events.at = out.at;
    c->events.n = out.n;
    c->events.cap = out.cap;
    for (size_t i = 0; i < l->marks.n; i++) l->marks.at[i] = moved[l->marks.at[i]];
    count_programs(l);
  } else {
    ttm_vec_free(&out);
  }
  ttm_free(moved);
  return rc;
}
