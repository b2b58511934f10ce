/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the public API: what the profile keeps in narrow integers, as structs that explain themselves. */
#include "analyze/parts.h"
#include "analyze/replay.h"
#include "analyze/words.h"
#include "base/sized.h"
#include "profile/feed.h"
#include "ttmem/operation.h"
#include "ttmem/state.h"
#include "ttmem/statement.h"
#include "ttmem/tensor.h"

static int no_row(const char *noun, uint32_t row, size_t count, ttm_error *err) {
  return ttm_error_set(err, TTM_EUSAGE, "There is no %s %u: rows are numbered from 0, and there are %zu.", noun, row,
                       count);
}

static uint32_t rank_number(const ttm_profile *p, uint32_t rank) { return rank < p->ranks.n ? p->ranks.at[rank] : 0; }

static ttm_memory_use use_of(const ttm_level *level, bool known) {
  ttm_memory_use none = {TTM_UNKNOWN, TTM_UNKNOWN, TTM_UNKNOWN, TTM_UNKNOWN, TTM_UNKNOWN};
  ttm_memory_use use = {level->banks, ttm_level_bytes(level->total), ttm_level_bytes(level->allocated),
                        ttm_level_bytes(level->free), ttm_level_bytes(level->largest)};
  return known ? use : none;
}

static int64_t signed_bytes(int64_t thousandths) {
  return thousandths < 0 ? -(int64_t)ttm_level_bytes((uint64_t)-thousandths)
                         : (int64_t)ttm_level_bytes((uint64_t)thousandths);
}

/* ---- Operations ---------------------------------------------------------------------------------------------------------- */

uint32_t ttm_operation_count(const ttm_profile *p) { return (uint32_t)p->ops.n; }

static int64_t delta_of(const ttm_profile *p, uint32_t op, ttm_memory memory) {
  int64_t effect;
  return ttm_op_effect(p, op, memory, &effect) ? signed_bytes(effect) : TTM_NO_DELTA;
}

/* Where it stands in the model; empty when nothing tells. */
static ttm_str location_of(const ttm_profile *p, uint32_t op) {
  ttm_str location = ttm_words_location(p, op);
  return ttm_str_eq(location, TTM_LIT("N/A")) ? (ttm_str){"", 0} : location;
}

int ttm_operation_get(const ttm_profile *p, uint32_t row, ttm_operation_info *out, ttm_error *err) {
  if (row >= p->ops.n) return no_row("operation", row, p->ops.n, err);
  const ttm_op *op = &p->ops.at[row];
  const ttm_op_text *text = ttm_op_text_of(p, row);
  const ttm_call *call = op->call < p->calls.n ? &p->calls.at[op->call] : NULL;
  ttm_operation_info info = {
      .name = ttm_words_name(p, row),
      .location = location_of(p, row),
      .attributes = ttm_profile_string(p, text->attributes),
      .program = ttm_profile_string(p, call ? call->name : 0),
      .run = call ? call->run : 0,
      .rank = rank_number(p, call ? call->rank : 0),
      .line = op->line,
      .state = op->state,
      .tensor = op->tensor,
      .results = text->result_count,
      .dram_delta = delta_of(p, row, TTM_DRAM),
      .l1_delta = delta_of(p, row, TTM_L1),
      .is_deallocate = text->kind == TTM_OP_DEALLOCATE,
      .in_reports = ttm_op_is_element(p, row),
      .const_eval = op->flags & TTM_OP_CONST_EVAL,
      .cache_hit = op->flags & TTM_OP_CACHE_HIT,
      .retained = op->flags & TTM_OP_RETAINED,
      .failed = op->flags & TTM_OP_FAILED,
  };
  return ttm_sized_give(out, &info, sizeof info, err);
}

/* ---- States -------------------------------------------------------------------------------------------------------------- */

uint32_t ttm_state_count(const ttm_profile *p) { return (uint32_t)p->states.n; }

static ttm_str moment_of(const ttm_profile *p, uint32_t op) {
  if (op < p->ops.n) return TTM_LIT("operation");
  if (op == TTM_STATE_BEFORE_SUBMIT) return TTM_LIT("before submit");
  return op == TTM_STATE_AFTER_SUBMIT ? TTM_LIT("after submit") : TTM_LIT("");
}

int ttm_state_get(const ttm_profile *p, uint32_t row, ttm_state_info *out, ttm_error *err) {
  if (row >= p->states.n) return no_row("state", row, p->states.n, err);
  const ttm_state *state = &p->states.at[row];
  ttm_state_info info = {.moment = moment_of(p, state->op),
                         .operation = state->op < p->ops.n ? state->op : TTM_NONE,
                         .rank = rank_number(p, ttm_state_rank(p, row)),
                         .line = state->line};
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    bool known = ttm_state_level(p, row, (ttm_memory)m, &level);
    info.memory[m] = use_of(&level, known);
  }
  return ttm_sized_give(out, &info, sizeof info, err);
}

int ttm_feed_get(const ttm_feed *feed, ttm_feed_info *out, ttm_error *err) {
  const ttm_feed_figures *figures = ttm_feed_now(feed);
  ttm_feed_info info = {.bytes = figures->bytes,
                        .lines = figures->lines,
                        .operations = figures->operations,
                        .incidents = figures->incidents};
  for (int m = 0; m < TTM_MEMORIES; m++) {
    const ttm_feed_memory *memory = &figures->memory[m];
    info.now[m] = use_of(&memory->now, memory->seen);
    info.peak[m] = memory->seen ? ttm_level_bytes(memory->peak) : TTM_UNKNOWN;
  }
  return ttm_sized_give(out, &info, sizeof info, err);
}

/* ---- Peaks and failures -------------------------------------------------------------------------------------------------- */

int ttm_peak_get(const ttm_findings *f, ttm_memory memory, ttm_peak_info *out, ttm_error *err) {
  if ((unsigned)memory >= TTM_MEMORIES) return no_row("memory", (uint32_t)memory, TTM_MEMORIES, err);
  const ttm_peak *peak = &f->peak[memory];
  ttm_peak_info info = {.state = peak->known ? peak->state : TTM_NONE,
                        .raised_by = peak->known ? peak->cause : TTM_NONE,
                        .delta = signed_bytes(peak->effect),
                        .use = use_of(&peak->level, peak->known)};
  return ttm_sized_give(out, &info, sizeof info, err);
}

uint32_t ttm_incident_count(const ttm_findings *f) { return (uint32_t)f->incidents.n; }

int ttm_incident_get(const ttm_findings *f, uint32_t row, ttm_incident_info *out, ttm_error *err) {
  if (row >= f->incidents.n) return no_row("failure", row, f->incidents.n, err);
  const ttm_incident_finding *finding = &f->incidents.at[row];
  const ttm_incident *incident = &f->profile->incidents.at[finding->incident];
  const ttm_incident_text *what = &incident->what;
  ttm_incident_info info = {
      .kind = ttm_str_of(ttm_incident_kind_name(what->kind)),
      .text = what->text,
      .memory = what->memory,
      .verdict = ttm_str_of(ttm_verdict_name(finding->verdict)),
      .operation = incident->op,
      .state = incident->state,
      .rank = rank_number(f->profile, incident->rank),
      .line = incident->line,
      .shortfall = finding->shortfall,
      .buffer = what->size,
      .banks = what->banks,
      .needed = what->needed_per_bank,
      .bank_size = what->bank_size,
      .allocated = what->allocated_per_bank,
      .free = what->free_per_bank,
      .largest_free = what->largest_free_block,
  };
  return ttm_sized_give(out, &info, sizeof info, err);
}

/* ---- Statements ---------------------------------------------------------------------------------------------------------- */

uint32_t ttm_statement_count(const ttm_findings *f) { return (uint32_t)f->statements.at.n; }
uint32_t ttm_fix_count(const ttm_findings *f) { return (uint32_t)f->statements.fixes.n; }
uint32_t ttm_quantity_count(const ttm_findings *f) { return (uint32_t)f->statements.quantities.n; }
uint32_t ttm_point_count(const ttm_findings *f) { return (uint32_t)f->statements.points.n; }

int ttm_statement_get(const ttm_findings *f, uint32_t row, ttm_statement_info *out, ttm_error *err) {
  const ttm_statements *all = &f->statements;
  if (row >= all->at.n) return no_row("statement", row, all->at.n, err);
  const ttm_statement *s = &all->at.at[row];
  ttm_statement_info info = {
      .id = ttm_str_of(s->id),
      .topic = ttm_str_of(ttm_topic_name(s->topic)),
      .severity = ttm_str_of(ttm_severity_name(s->severity)),
      .basis = ttm_str_of(ttm_basis_name(s->basis)),
      .headline = s->headline,
      .detail = s->detail,
      .operation = ttm_findings_op(f, s->operation),
      .line = s->line,
      .first_quantity = s->first_quantity,
      .quantities = s->quantities,
      .first_point = s->first_point,
      .points = s->points,
      .first_fix = s->first_fix,
      .fixes = s->fixes,
  };
  return ttm_sized_give(out, &info, sizeof info, err);
}

static uint32_t statement_of_fix(const ttm_statements *all, uint32_t fix) {
  for (uint32_t i = 0; i < all->at.n; i++)
    if (fix - all->at.at[i].first_fix < all->at.at[i].fixes) return i;
  return TTM_NONE;
}

static uint32_t rank_of_fix(const ttm_statements *all, uint32_t fix) {
  for (uint32_t i = 0; i < all->best.n; i++)
    if (all->best.at[i] == fix) return i;
  return TTM_NONE;
}

int ttm_fix_get(const ttm_findings *f, uint32_t row, ttm_fix_info *out, ttm_error *err) {
  const ttm_statements *all = &f->statements;
  if (row >= all->fixes.n) return no_row("fix", row, all->fixes.n, err);
  const ttm_fix *fix = &all->fixes.at[row];
  ttm_fix_info info = {.kind = ttm_str_of(fix->kind),
                       .text = fix->text,
                       .verified = ttm_str_of(ttm_fix_check_name(fix->check)),
                       .bytes = fix->bytes,
                       .count = fix->count,
                       .operation = ttm_findings_op(f, fix->operation),
                       .statement = statement_of_fix(all, row),
                       .rank = rank_of_fix(all, row)};
  return ttm_sized_give(out, &info, sizeof info, err);
}

int ttm_quantity_get(const ttm_findings *f, uint32_t row, ttm_quantity_info *out, ttm_error *err) {
  const ttm_statements *all = &f->statements;
  if (row >= all->quantities.n) return no_row("quantity", row, all->quantities.n, err);
  const ttm_quantity *q = &all->quantities.at[row];
  ttm_quantity_info info = {.name = ttm_str_of(q->name), .unit = ttm_str_of(q->unit), .value = q->value};
  return ttm_sized_give(out, &info, sizeof info, err);
}

int ttm_point_get(const ttm_findings *f, uint32_t row, ttm_point_info *out, ttm_error *err) {
  const ttm_statements *all = &f->statements;
  if (row >= all->points.n) return no_row("point", row, all->points.n, err);
  const ttm_point *point = &all->points.at[row];
  ttm_point_info info = {
      .text = point->text,
      .operation = ttm_findings_op(f, point->operation),
      .bank_bytes = point->mb < 0 || point->mb > 1e9 ? TTM_UNKNOWN : (uint64_t)(point->mb * 1048576 + 0.5)};
  return ttm_sized_give(out, &info, sizeof info, err);
}

/* ---- Tensors ------------------------------------------------------------------------------------------------------------- */

uint32_t ttm_tensor_count(const ttm_findings *f) {
  return (uint32_t)(f->profile->tensors.n + f->alive_set[TTM_DRAM].arguments.n + f->alive_set[TTM_L1].arguments.n);
}

int ttm_find_buffers(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  if (p->kind != TTM_LOG_CAPTURE) return TTM_OK;
  f->tensor_buffers = ttm_alloc_array(p->tensors.n, sizeof *f->tensor_buffers);
  if (!f->tensor_buffers) return TTM_ENOMEM;
  for (size_t t = 0; t < p->tensors.n; t++) f->tensor_buffers[t] = TTM_NONE;
  for (size_t i = p->capture.buffers.n; i-- > 0;) {
    uint32_t tensor = p->capture.buffers.at[i].tensor;
    if (tensor < p->tensors.n) f->tensor_buffers[tensor] = (uint32_t)i;
  }
  return TTM_OK;
}

static ttm_memory memory_of(ttm_buffer_kind kind) {
  static const ttm_memory memories[] = {
      [TTM_BUFFER_DRAM] = TTM_DRAM,   [TTM_BUFFER_L1] = TTM_L1,         [TTM_BUFFER_L1_SMALL] = TTM_L1_SMALL,
      [TTM_BUFFER_TRACE] = TTM_TRACE, [TTM_BUFFER_NONE] = TTM_MEMORIES, [TTM_BUFFER_SYSTEM] = TTM_MEMORIES};
  return memories[kind];
}

static ttm_str placement_name(ttm_placement placement) {
  static const char *const names[] = {"",          "interleaved", "height_sharded", "width_sharded", "block_sharded",
                                      "nd_sharded"};
  return ttm_str_of(names[placement]);
}

/* As people write it: "bfp8" for "bfp_bf8". */
static ttm_str dtype_of(const ttm_tensor_type *type) {
  static const char *const names[][2] = {{"bfp_bf8", "bfp8"}, {"bfp_bf4", "bfp4"}, {"bfp_bf2", "bfp2"}};
  ttm_str stored = type->has_layout && type->storage.n ? type->storage : type->element;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (ttm_str_eq(stored, ttm_str_of(names[i][0]))) return ttm_str_of(names[i][1]);
  return stored;
}

static void put_type(ttm_tensor_info *info, const ttm_profile *p, uint32_t type_id, uint32_t op) {
  if (type_id >= p->types.n || !p->types.at[type_id].is_tensor) return;
  const ttm_tensor_type *type = &p->types.at[type_id].tensor;
  ttm_alignment align = ttm_op_alignment(p, op);
  ttm_level level;
  info->dtype = dtype_of(type);
  info->rank = type->shape.rank;
  _Static_assert(sizeof info->shape == sizeof type->shape.at, "as many dimensions as a type can have");
  memcpy(info->shape, type->shape.at, sizeof info->shape);
  info->logical_bytes = ttm_tensor_logical_bytes(type);
  info->stored_bytes = ttm_tensor_stored_bytes(type, align);
  if (!type->has_layout) return;
  info->layout = type->tiled ? TTM_LIT("tile") : TTM_LIT("row_major");
  info->memory_layout = placement_name(type->placement);
  info->memory = memory_of(type->buffer);
  if (info->memory < TTM_MEMORIES && ttm_op_config(p, op, info->memory, &level))
    info->bank_bytes = ttm_tensor_bank_bytes(type, level.banks, align);
}

/* What a capture says itself, instead of what the type leads to. */
static void put_buffer(ttm_tensor_info *info, const ttm_profile *p, uint32_t row) {
  if (row >= p->capture.buffers.n) return;
  const ttm_buffer *buffer = &p->capture.buffers.at[row];
  info->memory = (ttm_memory)buffer->memory;
  info->bank_bytes = buffer->bank_bytes;
  info->stored_bytes = ttm_buffer_stored(p, buffer);
  info->address = buffer->address;
}

static void put_origin(ttm_tensor_info *info, const ttm_findings *f, const ttm_tensor *tensor) {
  const ttm_profile *p = f->profile;
  uint32_t call = p->ops.at[tensor->birth].call;
  uint32_t run = call < p->calls.n ? p->calls.at[call].run : 0;
  if (info->alive_at_peak) run = f->alive_set[info->memory].run;
  uint32_t buffer = f->tensor_buffers ? f->tensor_buffers[tensor - p->tensors.at] : TTM_NONE;
  ttm_alive_origin origin = buffer < p->capture.buffers.n
                                ? ttm_alive_origin_of_buffer(p, &p->capture.buffers.at[buffer])
                                : ttm_alive_origin_of(p, tensor->birth, run);
  info->category = ttm_str_of(ttm_alive_class_name(p, origin.class));
  info->name = origin.name ? ttm_profile_string(p, origin.name) : location_of(p, tensor->birth);
  if (!info->name.n) info->name = ttm_words_name(p, tensor->birth);
}

static void put_result(ttm_tensor_info *info, const ttm_findings *f, uint32_t row) {
  const ttm_profile *p = f->profile;
  const ttm_tensor *tensor = &p->tensors.at[row];
  put_type(info, p, ttm_tensor_type_id(p, row), p->tensors.at[row].birth);
  if (f->tensor_buffers) put_buffer(info, p, f->tensor_buffers[row]);
  const uint64_t *alive = info->memory <= TTM_L1 ? f->alive_set[info->memory].alive_bits : NULL;
  info->alive_at_peak = alive && alive[row / 64] >> row % 64 & 1;
  if (tensor->birth >= p->ops.n) return;
  info->birth = tensor->birth;
  info->result = row - p->ops.at[tensor->birth].tensor;
  info->last_use = tensor->last_use;
  info->freed_by = tensor->freed_by;
  info->same_as = tensor->self == row ? TTM_NONE : tensor->self;
  put_origin(info, f, tensor);
}

static void put_argument(ttm_tensor_info *info, const ttm_findings *f, size_t i) {
  const ttm_alive_set *set = &f->alive_set[i < f->alive_set[TTM_DRAM].arguments.n ? TTM_DRAM : TTM_L1];
  if (set->memory == TTM_L1) i -= f->alive_set[TTM_DRAM].arguments.n;
  const ttm_alive_row *row = &set->arguments.at[i];
  put_type(info, f->profile, row->type, TTM_NONE);
  if (f->tensor_buffers) put_buffer(info, f->profile, row->buffer);
  info->name = ttm_profile_string(f->profile, row->name);
  info->category = ttm_str_of(ttm_alive_class_name(f->profile, row->class));
  info->memory = set->memory;
  info->bank_bytes = row->bank_bytes;
  info->alive_at_peak = true;
}

int ttm_tensor_get(const ttm_findings *f, uint32_t row, ttm_tensor_info *out, ttm_error *err) {
  size_t count = ttm_tensor_count(f), results = f->profile->tensors.n;
  if (row >= count) return no_row("tensor", row, count, err);
  ttm_tensor_info info = {.memory = TTM_MEMORIES,
                          .logical_bytes = TTM_UNKNOWN,
                          .stored_bytes = TTM_UNKNOWN,
                          .bank_bytes = TTM_UNKNOWN,
                          .address = TTM_UNKNOWN,
                          .birth = TTM_NONE,
                          .last_use = TTM_NONE,
                          .freed_by = TTM_NONE,
                          .same_as = TTM_NONE};
  if (row < results)
    put_result(&info, f, row);
  else
    put_argument(&info, f, row - results);
  return ttm_sized_give(out, &info, sizeof info, err);
}
