/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/decision_trace.h"

#include <stddef.h>

#include "base/error.h"
#include "parse/op_line.h"

typedef struct choice {
  ttm_str name, layout;
} choice;

typedef struct beam_entry {
  ttm_str layout;
  uint64_t l1;
} beam_entry;

typedef struct beam {
  uint32_t first, n; /* in reader.beams */
} beam;

/* `texts` comes first, so that the readers of fields find the rest. */
typedef struct reader {
  ttm_field_texts texts;
  ttm_decision_trace *out;
  TTM_VEC(choice) choices;
  TTM_VEC(beam_entry) beams;
  TTM_VEC(beam) beam_of; /* by operation */
  ttm_buf scratch;
  bool any; /* a member of a trace was seen */
} reader;

/* ---- Layouts ------------------------------------------------------------------------------------------------------- */

static bool read_dims(ttm_str text, ttm_dims *out) {
  *out = (ttm_dims){0};
  while (text.n && out->rank < TTM_MAX_RANK) {
    if (!ttm_str_take_u64(&text, &out->at[out->rank])) return false;
    out->rank++;
    if (text.n && !ttm_str_take(&text, TTM_LIT("x"))) return false;
  }
  return !text.n && out->rank;
}

ttm_plan_layout ttm_plan_layout_read(ttm_str text) {
  static const char *const buffers[] = {"dram", "l1", "l1_small", "trace", "system_memory"};
  static const char *const placements[] = {"interleaved", "height_sharded", "width_sharded", "block_sharded",
                                           "nd_sharded"};
  ttm_plan_layout out = {0};
  size_t buffer = ttm_str_index(ttm_str_take_to(&text, '/'), buffers, sizeof buffers / sizeof *buffers);
  if (buffer == sizeof buffers / sizeof *buffers) return out;
  out.buffer = (ttm_buffer_kind)(TTM_BUFFER_DRAM + buffer);
  ttm_str placed = ttm_str_take_to(&text, '/');
  for (size_t i = 0; i < sizeof placements / sizeof *placements; i++)
    if (ttm_str_contains(placed, ttm_str_of(placements[i]))) out.placement = (ttm_placement)(TTM_PLACE_INTERLEAVED + i);
  if (!read_dims(text.n ? text : placed, &out.grid)) out.grid = (ttm_dims){0};
  return out;
}

/* ---- Fields -------------------------------------------------------------------------------------------------------- */

static int read_u64(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  ttm_json_scalar v;
  int64_t number;
  (void)texts;
  if (ttm_json_value(j, &v) && ttm_json_integer(&v, &number)) *(uint64_t *)into = number > 0 ? (uint64_t)number : 0;
  return TTM_OK;
}

/* loc("...") as people name it. */
static int read_location(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  reader *r = (reader *)texts;
  ttm_json_scalar v;
  uint32_t id;
  if (!ttm_json_value(j, &v) || v.kind != TTM_JSON_STRING) return TTM_OK;
  ttm_str raw = v.text;
  if (ttm_str_take(&raw, TTM_LIT("loc(")) && raw.n) raw.n--;
  ttm_buf_clear(&r->scratch);
  ttm_location_render(raw, &r->scratch);
  if (r->scratch.failed || ttm_intern_add(&texts->pool, ttm_buf_str(&r->scratch), &id)) return TTM_ENOMEM;
  *(ttm_str *)into = ttm_intern_get(&texts->pool, id);
  return TTM_OK;
}

static int read_score(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  static const ttm_field fields[] = {{"outputL1Usage", read_u64, 0}, {0}};
  return ttm_fields_read(texts, j, fields, into);
}

static int read_beam(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  static const ttm_field fields[] = {{"outputLayout", ttm_field_text, offsetof(beam_entry, layout)},
                                     {"score", read_score, offsetof(beam_entry, l1)},
                                     {0}};
  reader *r = (reader *)texts;
  (void)into;
  if (!ttm_json_enter_if(j, '[')) return TTM_OK;
  while (ttm_json_item(j)) {
    beam_entry entry = {0};
    if (ttm_fields_read(texts, j, fields, &entry) || ttm_vec_push(&r->beams, entry)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int read_op(reader *r, ttm_json_pull *j) {
  static const ttm_field fields[] = {{"opName", ttm_field_text, offsetof(ttm_plan_op, name)},
                                     {"opLocation", read_location, offsetof(ttm_plan_op, location)},
                                     {"beam", read_beam, 0},
                                     {"usedDramFallback", ttm_field_flag, offsetof(ttm_plan_op, fallback)},
                                     {"isInplace", ttm_field_flag, offsetof(ttm_plan_op, in_place)},
                                     {0}};
  ttm_plan_op op = {0};
  beam of = {(uint32_t)r->beams.n, 0};
  if (ttm_fields_read(&r->texts, j, fields, &op)) return TTM_ENOMEM;
  of.n = (uint32_t)r->beams.n - of.first;
  return ttm_vec_push(&r->out->ops, op) || ttm_vec_push(&r->beam_of, of) ? TTM_ENOMEM : TTM_OK;
}

static int read_choice(reader *r, ttm_json_pull *j) {
  static const ttm_field fields[] = {{"opName", ttm_field_text, offsetof(choice, name)},
                                     {"chosenLayout", ttm_field_text, offsetof(choice, layout)},
                                     {0}};
  choice row = {0};
  return ttm_fields_read(&r->texts, j, fields, &row) || ttm_vec_push(&r->choices, row) ? TTM_ENOMEM : TTM_OK;
}

static int read_action(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  static const char *const names[TTM_SPILL_OTHER] = {"dead_removal",         "live_added",      "oom",
                                                     "demotion_success",     "demotion_failed", "eviction",
                                                     "fragmentation_demote", "self_spill",      "revalidation"};
  ttm_json_scalar v;
  (void)texts;
  if (ttm_json_value(j, &v))
    *(ttm_spill_action *)into = (ttm_spill_action)ttm_str_index(v.text, names, TTM_SPILL_OTHER);
  return TTM_OK;
}

static int read_event(reader *r, ttm_json_pull *j) {
  static const ttm_field fields[] = {{"action", read_action, offsetof(ttm_spill_event, action)},
                                     {"position", ttm_field_count, offsetof(ttm_spill_event, position)},
                                     {"opName", ttm_field_text, offsetof(ttm_spill_event, op)},
                                     {"occupiedL1After", read_u64, offsetof(ttm_spill_event, after)},
                                     {"opL1Usage", read_u64, offsetof(ttm_spill_event, usage)},
                                     {0}};
  ttm_spill_event event = {.action = TTM_SPILL_OTHER};
  return ttm_fields_read(&r->texts, j, fields, &event) || ttm_vec_push(&r->out->events, event) ? TTM_ENOMEM : TTM_OK;
}

static int read_rows(ttm_field_texts *texts, ttm_json_pull *j, int (*read)(reader *r, ttm_json_pull *j)) {
  int status = TTM_OK;
  if (!ttm_json_enter_if(j, '[')) return TTM_OK;
  while (!status && ttm_json_item(j)) status = read((reader *)texts, j);
  return status;
}

static int read_forward(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  (void)into;
  ((reader *)texts)->any = true;
  return read_rows(texts, j, read_op);
}

static int read_choices(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  (void)into;
  return read_rows(texts, j, read_choice);
}

static int read_events(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  (void)into;
  return read_rows(texts, j, read_event);
}

static int read_spills(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  static const ttm_field fields[] = {{"budget", read_u64, offsetof(ttm_decision_trace, budget)},
                                     {"totalSpills", read_u64, offsetof(ttm_decision_trace, spills)},
                                     {"events", read_events, 0},
                                     {0}};
  return ttm_fields_read(texts, j, fields, into);
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

/* The choices are in the order of the operations, without those that had no candidate. */
static void choose(reader *r) {
  size_t next = 0;
  for (size_t i = 0; i < r->out->ops.n; i++) {
    ttm_plan_op *op = &r->out->ops.at[i];
    beam of = r->beam_of.at[i];
    if (op->in_place || !of.n || next == r->choices.n || !ttm_str_eq(r->choices.at[next].name, op->name)) continue;
    ttm_str layout = r->choices.at[next++].layout;
    op->layout = ttm_plan_layout_read(layout);
    for (uint32_t k = of.n; k-- > 0;)
      if (ttm_str_eq(r->beams.at[of.first + k].layout, layout)) op->l1 = r->beams.at[of.first + k].l1;
  }
}

static int read(ttm_decision_trace *out, ttm_json_pull *j, const char *name, ttm_error *err) {
  static const ttm_field fields[] = {{"version", read_u64, offsetof(ttm_decision_trace, version)},
                                     {"functionName", ttm_field_text, offsetof(ttm_decision_trace, function)},
                                     {"forwardPass", read_forward, 0},
                                     {"finalChoices", read_choices, 0},
                                     {"spillManagement", read_spills, 0},
                                     {0}};
  reader r = {.out = out};
  int status = ttm_fields_read(&r.texts, j, fields, out);
  if (status || j->status == TTM_ENOMEM)
    status = ttm_error_nomem(err);
  else if (j->status == TTM_EIO)
    status = ttm_error_set(err, TTM_EIO, "%s", j->io.message);
  else if (!r.any)
    status = ttm_error_set(err, TTM_EFORMAT, "%s is no decision trace of tt-mlir: it has no \"forwardPass\"", name);
  else if (j->error)
    status = ttm_error_set(err, TTM_EFORMAT, "%s is cut or damaged in line %llu: %s", name, (unsigned long long)j->line,
                           j->error);
  else
    choose(&r);
  out->texts = r.texts;
  ttm_vec_free(&r.choices);
  ttm_vec_free(&r.beams);
  ttm_vec_free(&r.beam_of);
  ttm_buf_free(&r.scratch);
  return status;
}

int ttm_decision_trace_read(ttm_decision_trace *out, const char *path, ttm_error *err) {
  ttm_source *source;
  ttm_json_pull json;
  *out = (ttm_decision_trace){0};
  int status = ttm_source_open(&source, path, err);
  if (status) return status;
  ttm_json_init(&json, source, (ttm_str){"", 0});
  status = read(out, &json, path, err);
  ttm_json_free(&json);
  ttm_source_close(source);
  return status;
}

int ttm_decision_trace_read_bytes(ttm_decision_trace *out, ttm_str text, ttm_error *err) {
  ttm_json_pull json;
  *out = (ttm_decision_trace){0};
  ttm_json_init(&json, NULL, text);
  int status = read(out, &json, "the text", err);
  ttm_json_free(&json);
  return status;
}

void ttm_decision_trace_free(ttm_decision_trace *trace) {
  ttm_vec_free(&trace->ops);
  ttm_vec_free(&trace->events);
  ttm_intern_free(&trace->texts.pool);
  *trace = (ttm_decision_trace){0};
}
