/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a profile: those that repeat are stored once. */
#include "profile/builder.h"

#include "base/checked.h"
#include "parse/mesh_part.h"

/* ---- Operation texts ----------------------------------------------------------------------------------------------- */

/* The runtime prints a compiled operation with the same bytes in every run: only a new text is parsed. Where two texts share a hash, the second
 * has the next number for its key. */

/* The text that was read from `line`, or made of the row when there is one; *hash becomes its key. */
static uint32_t find_text(ttm_builder *b, uint64_t *hash, ttm_str line, const ttm_op_text *row) {
  for (uint32_t id;; ++*hash, b->texts_collide = true) {
    id = ttm_find_text(b, *hash);
    if (id == TTM_NONE) return id;
    ttm_str of = b->lines_of_texts.at[id];
    if (row ? !of.n && !memcmp(&b->profile->texts.at[id], row, sizeof *row) : ttm_str_eq(of, line)) return id;
  }
}

static int add_text(ttm_builder *b, uint64_t key, ttm_str line, const ttm_op_text *row, uint32_t *out) {
  ttm_profile *p = b->profile;
  ttm_str kept = {line.n ? ttm_arena_copy(&b->lines, line) : "", line.n};
  if (!kept.p || ttm_vec_push(&b->lines_of_texts, kept) || ttm_vec_push(&p->texts, *row)) return TTM_ENOMEM;
  *out = (uint32_t)(p->texts.n - 1);
  return ttm_map_set(&b->text_of_hash, key, *out);
}

int ttm_build_text_once(ttm_builder *b, const ttm_op_text *row, uint32_t *out) {
  static const ttm_str none = {"", 0};
  uint64_t hash = ttm_hash(row, sizeof *row, ttm_hash_seed());
  *out = find_text(b, &hash, none, row);
  return *out == TTM_NONE ? add_text(b, hash, none, row, out) : TTM_OK;
}

int ttm_build_type_text(ttm_builder *b, ttm_str op_type, uint32_t *out) {
  ttm_op_text row;
  memset(&row, 0, sizeof row);
  row.kind = (uint8_t)ttm_op_kind_of(op_type);
  row.synthetic = true;
  if (ttm_build_string(b, op_type, &row.name)) return TTM_ENOMEM;
  row.op_type = row.name;
  return ttm_build_text_once(b, &row, out);
}

/* ---- What texts are made of ---------------------------------------------------------------------------------------- */

int ttm_build_type(ttm_builder *b, ttm_str text, uint32_t *out) {
  ttm_profile *p = b->profile;
  uint32_t string;
  if (ttm_build_string(b, text, &string)) return TTM_ENOMEM;
  *out = ttm_map_get(&b->type_of_string, string, TTM_NONE);
  if (*out != TTM_NONE) return TTM_OK;
  ttm_type type = {.text = string};
  /* Parsed from the interned copy, so that its views live as long as the profile. */
  type.is_tensor = ttm_tensor_type_parse(ttm_profile_string(p, string), &type.tensor);
  if (ttm_vec_push(&p->types, type)) return TTM_ENOMEM;
  *out = (uint32_t)(p->types.n - 1);
  return ttm_map_set(&b->type_of_string, string, *out);
}

int ttm_build_list(ttm_builder *b, const uint32_t *ids, size_t n, ttm_list *out) {
  ttm_profile *p = b->profile;
  *out = (ttm_list){0, 0};
  if (n == 0) return TTM_OK;
  uint64_t key = ttm_hash(ids, n * sizeof *ids, ttm_hash_seed());
  uint32_t known = ttm_map_get(&b->list_of_hash, key, TTM_NONE);
  if (known != TTM_NONE) {
    ttm_list list = b->known_lists.at[known];
    if (list.n == n && memcmp(p->lists.at + list.first, ids, n * sizeof *ids) == 0) return *out = list, TTM_OK;
  }
  *out = (ttm_list){(uint32_t)p->lists.n, (uint32_t)n};
  if (ttm_vec_reserve(&p->lists, n)) return TTM_ENOMEM;
  memcpy(p->lists.at + p->lists.n, ids, n * sizeof *ids);
  p->lists.n += n;
  if (ttm_vec_push(&b->known_lists, *out)) return TTM_ENOMEM;
  return ttm_map_set(&b->list_of_hash, key, (uint32_t)(b->known_lists.n - 1));
}

/* Digits without a leading zero, so that the number prints as the same text again. */
static bool take_number(ttm_str digits, uint32_t *out) {
  uint64_t number;
  if (digits.n == 0 || digits.n > 9 || (digits.p[0] == '0' && digits.n > 1)) return false;
  if (!ttm_str_take_u64(&digits, &number) || digits.n) return false;
  *out = (uint32_t)number;
  return number < UINT32_C(1) << 30;
}

static int build_value(ttm_builder *b, ttm_str text, ttm_value *out) {
  uint32_t number;
  if (text.n > 1 && text.p[0] == '%') {
    if (take_number(ttm_str_from(text, 1), &number)) return *out = TTM_VALUE_NUMBER | number, TTM_OK;
    if (ttm_str_starts(text, TTM_LIT("%arg")) && take_number(ttm_str_from(text, 4), &number))
      return *out = TTM_VALUE_ARGUMENT | number, TTM_OK;
  }
  return ttm_build_string(b, text, out);
}

int ttm_build_result(ttm_builder *b, const ttm_op_text *text, uint32_t k, ttm_value *out) {
  if (text->result_count == 1) return *out = text->result, TTM_OK;
  char scratch[TTM_VALUE_CHARS];
  ttm_buf_clear(&b->text);
  ttm_buf_put(&b->text, ttm_value_print(b->profile, text->result, scratch));
  ttm_buf_char(&b->text, '#');
  ttm_buf_u64(&b->text, k);
  return b->text.failed ? TTM_ENOMEM : ttm_build_string(b, ttm_buf_str(&b->text), out);
}

/* The list of what `build` makes of each text. */
static int build_each(ttm_builder *b, const ttm_strs *texts, int (*build)(ttm_builder *, ttm_str, uint32_t *),
                      ttm_list *out) {
  b->ids.n = 0;
  for (size_t i = 0; i < texts->n; i++) {
    uint32_t id;
    if (build(b, texts->at[i], &id) || ttm_vec_push(&b->ids, id)) return TTM_ENOMEM;
  }
  return ttm_build_list(b, b->ids.at, b->ids.n, out);
}

int ttm_fill_text(ttm_builder *b, const ttm_op_line *line, ttm_str location, ttm_op_text *row) {
  enum { MOST_RESULTS = 4096 }; /* beyond any real operation: a hostile count must not cost memory */
  memset(row, 0, sizeof *row);  /* its bytes may be hashed */
  row->kind = (uint8_t)ttm_op_kind_of(line->name);
  row->use = ttm_operand_use(line->name, 1) & 7;
  row->has_attributes = line->attributes.p != NULL;
  row->result_count = (uint16_t)(line->result_count < MOST_RESULTS ? line->result_count : MOST_RESULTS);
  if (ttm_build_string(b, line->name, &row->name) || ttm_build_string(b, line->attributes, &row->attributes) ||
      ttm_build_string(b, line->callee, &row->callee) || build_value(b, line->result, &row->result) ||
      ttm_build_string(b, location, &row->location))
    return TTM_ENOMEM;
  if (!row->location && row->kind == TTM_OP_LOAD_CACHED && line->callee.n) {
    ttm_buf_clear(&b->text);
    ttm_buf_char(&b->text, '@');
    ttm_buf_put(&b->text, line->callee);
    if (b->text.failed || ttm_build_string(b, ttm_buf_str(&b->text), &row->location)) return TTM_ENOMEM;
  }
  if (build_each(b, &line->operands, build_value, &row->operands)) return TTM_ENOMEM;
  if (build_each(b, &line->inputs, ttm_build_type, &row->inputs)) return TTM_ENOMEM;
  return build_each(b, &line->outputs, ttm_build_type, &row->outputs);
}

int ttm_build_line_text(ttm_builder *b, ttm_str line, uint64_t hash, ttm_op_line *parsed, ttm_buf *location,
                        uint32_t *out) {
  ttm_op_text row;
  *out = find_text(b, &hash, line, NULL);
  if (*out != TTM_NONE) return TTM_OK;
  int status = ttm_op_line_parse(line, parsed);
  if (status) return status == TTM_EFORMAT ? TTM_OK : status;
  ttm_buf_clear(location);
  ttm_location_render(parsed->location, location);
  if (location->failed || ttm_fill_text(b, parsed, ttm_buf_str(location), &row)) return TTM_ENOMEM;
  return add_text(b, hash, line, &row, out);
}

/* ---- Operations and tensors ---------------------------------------------------------------------------------------- */

/* The programs around an operation end with it, as far as is known. */
static void extend_calls(ttm_profile *p, const ttm_stream *s, uint32_t op, uint32_t line) {
  for (uint32_t d = 0; d < s->depth; d++) {
    ttm_call *around = &p->calls.at[s->scopes[d].call];
    if (around->first_op == TTM_NONE) around->first_op = op;
    around->last_op = op;
    around->last_line = line;
  }
}

int ttm_build_op_of(ttm_builder *b, ttm_stream *s, uint32_t op) {
  ttm_op *row = &b->profile->ops.at[op];
  ttm_scope *scope;
  if (ttm_program_current(b, s, row->line, &scope)) return TTM_ENOMEM;
  row->call = scope->call;
  extend_calls(b->profile, s, op, row->line);
  return TTM_OK;
}

int ttm_build_op(ttm_builder *b, ttm_stream *s, uint32_t text, uint32_t line, uint32_t *out) {
  ttm_profile *p = b->profile;
  ttm_scope *scope;
  if (ttm_program_current(b, s, line, &scope)) return TTM_ENOMEM;
  const ttm_call *call = &p->calls.at[scope->call];
  ttm_op op = {.text = text, .line = line, .state = TTM_NONE, .call = scope->call, .tensor = TTM_NONE};
  op.flags = (call->const_eval ? TTM_OP_CONST_EVAL : 0u) | (call->cache_miss ? TTM_OP_CACHE_MISS : 0u);
  if (p->ops.n >= TTM_STATE_BARE || ttm_vec_push(&p->ops, op)) return TTM_ENOMEM;
  *out = (uint32_t)(p->ops.n - 1);
  extend_calls(p, s, *out, line);
  return TTM_OK;
}

int ttm_build_tensor(ttm_builder *b, uint32_t op, uint32_t self, uint32_t *out) {
  ttm_profile *p = b->profile;
  uint32_t id = *out = (uint32_t)p->tensors.n;
  ttm_tensor tensor = {.self = self == TTM_NONE ? id : self, .birth = op, .last_use = op, .freed_by = TTM_NONE};
  if (p->tensors.n >= TTM_NONE - 1 || ttm_vec_push(&p->tensors, tensor)) return TTM_ENOMEM;
  if (p->ops.at[op].tensor == TTM_NONE) p->ops.at[op].tensor = id;
  return TTM_OK;
}

/* ---- States -------------------------------------------------------------------------------------------------------- */

uint32_t ttm_milli_of_bytes(uint64_t bytes) {
  uint64_t value = ttm_add_sat(ttm_mul_sat(bytes, 1000), 1 << 19) >> 20;
  return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* What seldom changes is shared by all states that have it: DRAM's figures are not in it. */
int ttm_build_state_base(ttm_builder *b, ttm_stream *s, uint32_t present, const ttm_level *levels, uint32_t *out) {
  ttm_profile *p = b->profile;
  ttm_state_base base;
  memset(&base, 0, sizeof base);
  base.rank = s->rank;
  base.present = present;
  memcpy(base.levels, levels, sizeof base.levels);
  base.levels[TTM_DRAM].allocated = base.levels[TTM_DRAM].free = base.levels[TTM_DRAM].largest = 0;
  if (s->state_base != TTM_NONE && memcmp(&p->state_bases.at[s->state_base], &base, sizeof base) == 0)
    return *out = s->state_base, TTM_OK;
  uint64_t key = ttm_hash(&base, sizeof base, ttm_hash_seed()); /* a collision only costs one more row */
  uint32_t known = ttm_map_get(&b->state_base_ids, key, TTM_NONE);
  if (known == TTM_NONE || memcmp(&p->state_bases.at[known], &base, sizeof base) != 0) {
    if (ttm_vec_push(&p->state_bases, base)) return TTM_ENOMEM;
    known = (uint32_t)(p->state_bases.n - 1);
    if (ttm_map_set(&b->state_base_ids, key, known)) return TTM_ENOMEM;
  }
  *out = s->state_base = known;
  return TTM_OK;
}

/* The state around a submit belongs to the program it submits. */
static void place_submit(ttm_profile *p, ttm_stream *s, uint32_t op, uint32_t state) {
  if (op == TTM_STATE_AFTER_SUBMIT) {
    if (s->last_top != TTM_NONE) p->calls.at[s->last_top].after = state;
  } else if (s->depth > 0 && p->calls.at[s->scopes[0].call].before == TTM_NONE) {
    p->calls.at[s->scopes[0].call].before = state; /* without DEBUG lines the program stands open without a name */
  } else {
    s->submit = state; /* its program's Starting line comes next */
  }
}

int ttm_build_state(ttm_builder *b, ttm_stream *s, const ttm_state *state) {
  ttm_profile *p = b->profile;
  if (ttm_vec_push(&p->states, *state)) return TTM_ENOMEM;
  uint32_t id = s->last_state = (uint32_t)(p->states.n - 1), op = state->op;
  bool submit = op == TTM_STATE_BEFORE_SUBMIT || op == TTM_STATE_AFTER_SUBMIT;
  p->seen.blocks++;
  p->seen.submit_blocks += submit;
  p->seen.bare_blocks += op == TTM_STATE_BARE;
  if (op < p->ops.n)
    p->ops.at[op].state = id;
  else if (submit)
    place_submit(p, s, op, id);
  return TTM_OK;
}

int ttm_build_block(ttm_builder *b, ttm_stream *s, const ttm_block *block) {
  const ttm_level *dram = &block->levels[TTM_DRAM];
  ttm_state state = {.op = block->op,
                     .line = block->line,
                     .dram_allocated = dram->allocated,
                     .dram_free = dram->free,
                     .dram_largest = dram->largest};
  if (ttm_build_state_base(b, s, block->present, block->levels, &state.base)) return TTM_ENOMEM;
  return ttm_build_state(b, s, &state);
}

int ttm_build_note(ttm_builder *b, uint32_t line, ttm_str text) {
  enum { LONGEST_NOTE = 120 };
  ttm_seen *seen = &b->profile->seen;
  if (seen->note_count == TTM_KEPT_NOTES) return TTM_OK;
  uint32_t id;
  if (ttm_build_string(b, ttm_str_first(text, LONGEST_NOTE), &id)) return TTM_ENOMEM;
  seen->notes[seen->note_count].line = line;
  seen->notes[seen->note_count++].text = id;
  return TTM_OK;
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

int ttm_build_rank(ttm_builder *b, uint32_t number, ttm_stream **out) {
  ttm_profile *p = b->profile;
  ttm_stream *s = ttm_alloc(sizeof *s);
  if (!s) return TTM_ENOMEM;
  s->rank = (uint32_t)p->ranks.n;
  s->pending = s->last_top = s->last_state = s->state_base = s->submit = s->graph = s->survivors_of = TTM_NONE;
  if (ttm_vec_push(&b->streams, s)) {
    ttm_free(s);
    return TTM_ENOMEM;
  }
  *out = s;
  return ttm_vec_push(&p->ranks, number);
}

int ttm_builder_begin(ttm_builder *b, const char *path, bool keep_ir) {
  ttm_profile *p = ttm_alloc(sizeof *p);
  *b = (ttm_builder){.profile = p, .keep_ir = keep_ir};
  if (!p || ttm_vec_push(&p->weight_lists, (ttm_list){0, 0})) return TTM_ENOMEM; /* id 0: none */
  return ttm_build_string(b, ttm_str_of(path), &p->path);
}

static ttm_log_kind kind_of(const ttm_profile *p) {
  bool op_blocks = p->seen.blocks > p->seen.submit_blocks + p->seen.bare_blocks;
  if (p->seen.op_lines) return op_blocks ? TTM_LOG_FULL : TTM_LOG_OPS;
  if (op_blocks) return TTM_LOG_BLOCKS;
  if (p->seen.blocks) return TTM_LOG_SUBMIT;
  return p->incidents.n ? TTM_LOG_INCIDENTS : TTM_LOG_NONE;
}

static int see_part(const ttm_profile *p, const ttm_op_text *text, ttm_mesh_parts *parts) {
  if (!text->inputs.n || text->outputs.n != 1) return TTM_OK;
  uint32_t in = p->lists.at[text->inputs.first], out = p->lists.at[text->outputs.first];
  if (!p->types.at[in].is_tensor || !p->types.at[out].is_tensor) return TTM_OK;
  return ttm_mesh_parts_see(parts, ttm_profile_string(p, text->name), ttm_profile_string(p, text->attributes),
                            (ttm_mesh_type){in, &p->types.at[in].tensor},
                            (ttm_mesh_type){out, &p->types.at[out].tensor});
}

/* Types are per chip. */
static int take_parts(ttm_profile *p) {
  ttm_mesh_parts parts = {.changed = ttm_intern_find(&p->strings, TTM_LIT("ttnn.mesh_shard")) != 0};
  int status = TTM_OK;
  for (int pass = 0; pass < TTM_MESH_PASSES && parts.changed && !status; pass++) {
    parts.changed = false;
    for (size_t i = p->texts.n; i-- > 0 && !status;) status = see_part(p, &p->texts.at[i], &parts);
  }
  for (uint32_t i = 0; i < parts.shape.n; i++) ttm_mesh_parts_apply(&parts, i, &p->types.at[i].tensor);
  ttm_mesh_parts_free(&parts);
  return status;
}

int ttm_builder_end(ttm_builder *b) {
  ttm_profile *p = b->profile;
  for (size_t i = 0; i < b->streams.n; i++)
    if (ttm_program_end_all(b, b->streams.at[i])) return TTM_ENOMEM;
  if (p->kind == TTM_LOG_NONE) p->kind = kind_of(p);
  return take_parts(p) ? TTM_ENOMEM : ttm_builder_link_graphs(b);
}

ttm_profile *ttm_builder_take(ttm_builder *b) {
  ttm_profile *p = b->profile;
  b->profile = NULL;
  return p;
}

void ttm_builder_free(ttm_builder *b) {
  for (size_t i = 0; i < b->streams.n; i++) {
    ttm_stream *s = b->streams.at[i];
    for (size_t d = 0; d < TTM_MAX_DEPTH; d++) ttm_map_free(&s->scopes[d].values);
    ttm_map_free(&s->cached);
    ttm_vec_free(&s->cached_tensors);
    ttm_vec_free(&s->survivors);
    ttm_free(s);
  }
  ttm_vec_free(&b->streams);
  ttm_map_free(&b->text_of_hash);
  ttm_vec_free(&b->lines_of_texts);
  ttm_arena_free(&b->lines);
  ttm_builder_forget_dumps(b);
  ttm_map_free(&b->dump_of_hash);
  ttm_vec_free(&b->known_dumps);
  ttm_map_free(&b->type_of_string);
  ttm_map_free(&b->list_of_hash);
  ttm_vec_free(&b->known_lists);
  ttm_map_free(&b->state_base_ids);
  ttm_map_free(&b->incident_ids);
  ttm_map_free(&b->weight_ids);
  ttm_vec_free(&b->weights_of_text);
  ttm_map_free(&b->arguments_taken);
  ttm_vec_free(&b->scratch);
  ttm_vec_free(&b->ids);
  ttm_buf_free(&b->text);
  ttm_profile_free(b->profile);
}
