/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/module_run.h"

#include "base/hash.h"

enum { DEEPEST_CALL = 32 };

/* ---- Buffers ---- */

static int tell(ttm_module_run *r, ttm_run_act act, uint32_t op, uint32_t what) {
  return ttm_vec_push(&r->events, (ttm_run_event){op, what, (uint8_t)act}) ? TTM_ENOMEM : TTM_OK;
}

static bool on_device(const ttm_tensor_type *type) {
  return type->has_layout && (type->buffer == TTM_BUFFER_DRAM || type->buffer == TTM_BUFFER_L1);
}

/* *out is TTM_NO_ROW for what needs no device memory. */
static int take(ttm_module_run *r, uint32_t type, uint32_t op, uint32_t value, uint32_t *out) {
  *out = TTM_NO_ROW;
  if (!on_device(&r->types.at[type])) return TTM_OK;
  *out = (uint32_t)r->buffers.n;
  if (ttm_vec_push(&r->buffers, (ttm_run_buffer){.type = type, .op = op, .value = value})) return TTM_ENOMEM;
  return tell(r, TTM_RUN_TAKE, op, *out);
}

static int give(ttm_module_run *r, uint32_t buffer, uint32_t op) {
  if (buffer == TTM_NO_ROW || r->buffers.at[buffer].gone) return TTM_OK;
  r->buffers.at[buffer].gone = true;
  return tell(r, TTM_RUN_GIVE, op, buffer);
}

static void hold(ttm_module_run *r, uint32_t buffer) {
  if (buffer != TTM_NO_ROW) r->buffers.at[buffer].refs++;
}

static int let_go(ttm_module_run *r, uint32_t buffer, uint32_t op) {
  if (buffer == TTM_NO_ROW) return TTM_OK;
  ttm_run_buffer *b = &r->buffers.at[buffer];
  return --b->refs || b->kept ? TTM_OK : give(r, buffer, op);
}

static void bind(ttm_module_run *r, uint32_t value, uint32_t buffer) {
  r->buffer_of[value] = buffer;
  r->bound[(r->runs.n - 1) * r->module->value_types.n + value] = buffer;
  hold(r, buffer);
}

static uint32_t operand_buffer(const ttm_module_run *r, const ttm_module_op *op, uint32_t k) {
  uint32_t value = k < op->operand_count ? r->module->operands.at[op->operands + k] : TTM_NO_ROW;
  return value == TTM_NO_ROW ? TTM_NO_ROW : r->buffer_of[value];
}

uint64_t ttm_op_name_key(const ttm_module_op *op) { return ttm_hash(op->name.p, op->name.n, ttm_hash_seed()); }

uint64_t ttm_op_signature(const ttm_module *m, const ttm_module_op *op) {
  uint64_t hash = ttm_op_name_key(op);
  for (uint32_t k = 0; k < op->operand_count; k++) {
    uint32_t value = m->operands.at[op->operands + k];
    hash = ttm_hash_mix(hash ^ (value == TTM_NO_ROW ? value : m->value_types.at[value]), UINT64_C(0x9e3779b97f4a7c15));
  }
  for (uint32_t k = 0; k < op->result_count; k++)
    hash = ttm_hash_mix(hash ^ m->value_types.at[op->results + k], UINT64_C(0xbf58476d1ce4e5b9));
  return hash;
}

/* ---- What programs share ---- */

static uint64_t hash_on(uint64_t hash, ttm_str text) { return ttm_hash(text.p, text.n, hash); }

uint64_t ttm_argument_key(const ttm_module *m, uint32_t argument) {
  const ttm_module_function *f = &m->functions.at[m->entry];
  const ttm_module_arg *arg = &m->args.at[f->args + argument];
  if (!arg->name.n || (arg->kind != TTM_ARG_PARAMETER && arg->kind != TTM_ARG_CONSTANT)) return 0;
  return hash_on(hash_on(ttm_hash_seed(), arg->name), m->types.at[m->value_types.at[f->values + argument]].text) | 1;
}

static uint64_t function_key(const ttm_module *m, const ttm_module_function *f) {
  uint64_t hash = ttm_hash_seed();
  for (uint32_t i = f->ops; i < f->ops + f->op_count; i++) {
    const ttm_module_op *op = &m->ops.at[i];
    hash = hash_on(hash_on(hash, op->name), op->attributes);
    for (uint32_t k = 0; k < op->operand_count; k++) {
      uint32_t value = m->operands.at[op->operands + k];
      hash = ttm_hash_mix(hash ^ (value - f->values), UINT64_C(0x9e3779b97f4a7c15));
    }
    for (uint32_t k = 0; k < op->result_count; k++)
      hash = hash_on(hash, m->types.at[m->value_types.at[op->results + k]].text);
  }
  return hash;
}

uint64_t ttm_cached_key(const ttm_module *m, const ttm_module_op *op) {
  if (op->callee == TTM_NO_ROW || m->entry == TTM_NO_ROW) return 0;
  const ttm_module_function *entry = &m->functions.at[m->entry];
  uint64_t hash = function_key(m, &m->functions.at[op->callee]);
  for (uint32_t k = 0; k < op->operand_count; k++) {
    uint32_t argument = m->operands.at[op->operands + k] - entry->values;
    uint64_t key = argument < entry->arg_count ? ttm_argument_key(m, argument) : 0;
    if (!key) return 0;
    hash = ttm_hash_mix(hash ^ key, UINT64_C(0xbf58476d1ce4e5b9));
  }
  return hash | 1;
}

/* Whether another program has brought it; if not, this one does. */
static int bring(ttm_module_run *r, uint64_t key, bool *there) {
  *there = key && r->lessons && ttm_map_get(&r->lessons->there, key, 0);
  return key && !*there && ttm_vec_push(&r->brought, key) ? TTM_ENOMEM : TTM_OK;
}

/* ---- Operations ---- */

static int deallocate(ttm_module_run *r, const ttm_module_op *op, uint32_t row) {
  uint32_t buffer = operand_buffer(r, op, 0);
  if (buffer == TTM_NO_ROW || r->layered) return TTM_OK;
  ttm_run_buffer *b = &r->buffers.at[buffer];
  bool force = ttm_str_eq(ttm_module_attribute(op, TTM_LIT("force")), TTM_LIT("true"));
  bool frees = !b->retained && (force || b->refs == 1);
  if (b->retained) r->events.at[r->events.n - 1].what = TTM_OP_RETAINED;
  if (r->runner == TTM_RUNNER_COMPILED) {
    r->buffer_of[r->module->operands.at[op->operands]] = TTM_NO_ROW;
    b->refs--;
  }
  return frees ? give(r, buffer, row) : TTM_OK;
}

static int add_type(ttm_module_run *r, const ttm_tensor_type *type, uint32_t *out) {
  *out = (uint32_t)r->types.n;
  return ttm_vec_push(&r->types, *type) ? TTM_ENOMEM : TTM_OK;
}

static int take_inner(ttm_module_run *r, const ttm_tensor_type *type, uint32_t row, uint32_t *out) {
  *out = TTM_NO_ROW;
  if (!on_device(type)) return TTM_OK;
  uint32_t id;
  return add_type(r, type, &id) ? TTM_ENOMEM : take(r, id, row, TTM_NO_ROW, out);
}

static int add_results(ttm_module_run *r, const ttm_module_op *op, uint32_t row, const ttm_op_rule *rule) {
  for (uint32_t k = 0; k < op->result_count; k++) {
    uint32_t value = op->results + k, type = r->module->value_types.at[value], buffer = TTM_NO_ROW;
    if (k == 0 && rule && rule->result.has_layout && add_type(r, &rule->result, &type)) return TTM_ENOMEM;
    if (k == 0 && rule && rule->view != TTM_NO_ROW)
      buffer = operand_buffer(r, op, rule->view);
    else if (take(r, type, row, value, &buffer))
      return TTM_ENOMEM;
    bind(r, value, buffer);
  }
  return TTM_OK;
}

/* What the log shows, or lets expect, a program to leave when it runs first. */
static uint64_t left_by(const ttm_module_run *r, const ttm_module_op *op, uint64_t signature, bool new_name) {
  uint32_t seen = ttm_map_get(&r->lessons->left, signature, 0),
           named = ttm_map_get(&r->lessons->left, ttm_op_name_key(op), 0);
  if (seen) return seen - 1;
  return named ? r->lessons->new_program : new_name ? r->lessons->new_name : r->lessons->new_program;
}

static int keep_map(ttm_module_run *r, const ttm_reshape_map *map, uint32_t row) {
  uint64_t key = ttm_reshape_map_key(map);
  uint32_t buffer;
  if (ttm_map_get(&r->kept, key, 0)) return TTM_OK;
  ttm_tensor_type type = ttm_reshape_map_type(map);
  return ttm_map_set(&r->kept, key, 1) || take_inner(r, &type, row, &buffer) ? TTM_ENOMEM : TTM_OK;
}

/* What the first program of a kind was seen to leave for the next ones. */
static int keep_seen(ttm_module_run *r, const ttm_module_op *op, uint32_t row) {
  uint64_t signature = ttm_op_signature(r->module, op);
  uint32_t buffer;
  if (ttm_map_get(&r->kept, signature, 0)) return TTM_OK;
  bool new_name = !ttm_map_get(&r->kept, ttm_op_name_key(op), 0);
  uint64_t bytes = left_by(r, op, signature, new_name);
  ttm_tensor_type type = {.has_layout = bytes > 0, .buffer = TTM_BUFFER_DRAM, .placement = TTM_PLACE_INTERLEAVED};
  type.storage = TTM_LIT("ui32");
  type.grid = (ttm_dims){2, {1, 1}};
  type.shape = type.shard = (ttm_dims){2, {r->lessons->banks, bytes / sizeof(uint32_t)}};
  if (ttm_map_set(&r->kept, ttm_op_name_key(op), 1) || ttm_map_set(&r->kept, signature, 1)) return TTM_ENOMEM;
  return take_inner(r, &type, row, &buffer);
}

static int keep(ttm_module_run *r, const ttm_module_op *op, uint32_t row, const ttm_op_rule *rule) {
  int status = TTM_OK;
  if (rule->view != TTM_NO_ROW) return TTM_OK;
  if (r->lessons && r->lessons->banks) return keep_seen(r, op, row);
  for (uint32_t i = 0; i < rule->map_count && !status; i++) status = keep_map(r, &rule->maps[i], row);
  return status;
}

/* What was seen counts more than any rule. */
static void apply_lesson(const ttm_module_run *r, const ttm_module_op *op, ttm_op_rule *rule) {
  if (!r->lessons) return;
  uint32_t seen = ttm_map_get(&r->lessons->ops, ttm_op_signature(r->module, op), 0);
  if (seen == TTM_SEEN_TAKING) rule->view = TTM_NO_ROW;
  if (seen == TTM_SEEN_VIEW && rule->view == TTM_NO_ROW) rule->view = 0;
}

static void note_unknown(ttm_module_run *r, const ttm_op_rule *rule, uint32_t row) {
  if (rule->l1_unknown && !r->l1_unknown++) r->l1_unknown_op = row;
  if (rule->dram_unknown && !r->dram_unknown++) r->dram_unknown_op = row;
}

static int run_plain(ttm_module_run *r, const ttm_module_op *op, uint32_t row) {
  ttm_op_rule rule;
  uint32_t inner[TTM_MOST_INNER];
  ttm_op_rule_find(r->module, op, &rule);
  apply_lesson(r, op, &rule);
  if (r->runs.n == 1) note_unknown(r, &rule, row);
  for (uint32_t i = 0; i < rule.inner_count; i++) {
    if (take_inner(r, &rule.inner[i], row, &inner[i])) return TTM_ENOMEM;
    if (inner[i] != TTM_NO_ROW) r->buffers.at[inner[i]].inner = true;
    if (i && !rule.hold && give(r, inner[i - 1], row)) return TTM_ENOMEM;
  }
  if (add_results(r, op, row, &rule) || keep(r, op, row, &rule)) return TTM_ENOMEM;
  for (uint32_t i = 0; i < rule.inner_count; i++)
    if (give(r, inner[i], row)) return TTM_ENOMEM;
  return TTM_OK;
}

static int run_function(ttm_module_run *r, uint32_t function, const ttm_module_op *caller, uint32_t row, int depth);

/* Hands the last results of a call over: a trace returns its id and slots before them. */
static int take_returned(ttm_module_run *r, const ttm_module_op *op, size_t from, uint32_t row) {
  size_t n = r->returned.n - from, skip = n > op->result_count ? n - op->result_count : 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t buffer = r->returned.at[from + i];
    if (i >= skip) bind(r, op->results + (uint32_t)(i - skip), buffer);
  }
  for (size_t i = 0; i < n; i++)
    if (let_go(r, r->returned.at[from + i], row)) return TTM_ENOMEM;
  r->returned.n = from;
  return TTM_OK;
}

static void keep_returned(ttm_module_run *r, size_t from) {
  for (size_t i = from; i < r->returned.n; i++) {
    uint32_t buffer = r->returned.at[i];
    if (buffer != TTM_NO_ROW) r->buffers.at[buffer].kept = r->buffers.at[buffer].retained = true;
  }
}

/* Calls of calls could go on for ever: no program runs its operations so often. */
static bool can_call(const ttm_module_run *r, uint32_t function, int depth) {
  enum { MOST_RUNS = 64 };
  size_t events = r->events.n - r->runs.at[r->runs.n - 1];
  return events / MOST_RUNS <= r->module->ops.n + r->module->functions.n && function != TTM_NO_ROW &&
         !r->module->functions.at[function].on_host && !r->running[function] && depth < DEEPEST_CALL;
}

static int run_call(ttm_module_run *r, const ttm_module_op *op, uint32_t row, int depth) {
  size_t from = r->returned.n;
  /* A callee on the host gives what its types say. */
  if (!can_call(r, op->callee, depth)) return add_results(r, op, row, NULL);
  int status = run_function(r, op->callee, op, row, depth + 1);
  /* The slots of a trace stay for the next time. */
  if (!status && ttm_str_ends(op->name, TTM_LIT("execute_trace"))) keep_returned(r, from);
  return status ? status : take_returned(r, op, from, row);
}

/* The results of another program's const-eval: they cost this one nothing. */
static int find_cached(ttm_module_run *r, const ttm_module_op *op) {
  bool there;
  if (bring(r, ttm_cached_key(r->module, op), &there)) return TTM_ENOMEM;
  if (!there) return TTM_OK;
  r->cached[op->callee] = (uint32_t)r->cached_buffers.n;
  for (uint32_t k = 0; k < op->result_count; k++)
    if (ttm_vec_push(&r->cached_buffers, TTM_NO_ROW)) return TTM_ENOMEM;
  return TTM_OK;
}

static int run_cached(ttm_module_run *r, const ttm_module_op *op, uint32_t row, int depth) {
  size_t from = r->returned.n;
  if (!can_call(r, op->callee, depth)) return add_results(r, op, row, NULL);
  uint32_t *cached = &r->cached[op->callee];
  if (*cached == TTM_NO_ROW && find_cached(r, op)) return TTM_ENOMEM;
  if (*cached != TTM_NO_ROW) {
    r->events.at[r->events.n - 1].what = TTM_OP_CACHE_HIT;
    for (uint32_t k = 0; k < op->result_count && *cached + k < r->cached_buffers.n; k++)
      bind(r, op->results + k, r->cached_buffers.at[*cached + k]);
    return TTM_OK;
  }
  int status = run_function(r, op->callee, op, row, depth + 1);
  *cached = (uint32_t)r->cached_buffers.n;
  keep_returned(r, from);
  for (size_t i = from; i < r->returned.n && !status; i++) status = ttm_vec_push(&r->cached_buffers, r->returned.at[i]);
  return status ? status : take_returned(r, op, from, row);
}

static int run_op(ttm_module_run *r, uint32_t row, int depth) {
  const ttm_module_op *op = &r->module->ops.at[row];
  if (tell(r, TTM_RUN_OP, row, 0)) return TTM_ENOMEM;
  r->unknown += op->unread && r->runs.n == 1;
  switch (ttm_op_kind_of(op->name)) {
    case TTM_OP_DEALLOCATE:
      return deallocate(r, op, row);
    case TTM_OP_GET_DEVICE:
      return TTM_OK;
    case TTM_OP_LOAD_CACHED:
      return run_cached(r, op, row, depth);
    case TTM_OP_PLAIN:
      break;
  }
  return op->callee != TTM_NO_ROW ? run_call(r, op, row, depth) : run_plain(r, op, row);
}

/* ---- Layers ---- */

/* tt-mlir makes a Python function of what one source function did: `/path/x.py:9` of `12|Model[model]|/path/x.py:9|forward|13|add`. */
static int layer_of(ttm_module_run *r, const ttm_module_op *op, uint64_t *out) {
  enum { AFTER = 3 };
  ttm_str name, parts[AFTER + 1] = {0};
  size_t n = 0;
  uint64_t line;
  *out = 0;
  if (ttm_module_location(r->module->locations, op->location, &name)) return TTM_ENOMEM;
  r->numbered |= name.n && name.p[0] >= '0' && name.p[0] <= '9';
  for (; name.n; n++) parts[n % (AFTER + 1)] = ttm_str_take_to(&name, '|');
  if (n <= AFTER || !ttm_str_take_u64(&parts[(n - 2) % (AFTER + 1)], &line)) return TTM_OK;
  ttm_str path = parts[n % (AFTER + 1)];
  *out = ttm_hash(path.p, path.n, ttm_hash_seed()) | 1;
  return TTM_OK;
}

static void find_last_uses(ttm_module_run *r) {
  const ttm_module *m = r->module;
  for (uint32_t i = 0; i < m->ops.n; i++) {
    if (ttm_op_kind_of(m->ops.at[i].name) == TTM_OP_DEALLOCATE) continue;
    for (uint32_t k = 0; k < m->ops.at[i].operand_count; k++) {
      uint32_t value = m->operands.at[m->ops.at[i].operands + k];
      if (value != TTM_NO_ROW) r->last_use[value] = i;
    }
  }
}

static int drop(ttm_module_run *r, uint32_t value, uint32_t row) {
  if (value == TTM_NO_ROW || r->last_use[value] >= row) return TTM_OK;
  uint32_t buffer = r->buffer_of[value];
  r->buffer_of[value] = TTM_NO_ROW;
  return let_go(r, buffer, row);
}

/* The layer returns: what it made and nothing uses later goes; where operations had no numbers yet, so does all that it used last. */
static int end_layer(ttm_module_run *r, uint32_t next_value, uint32_t row) {
  const ttm_module *m = r->module;
  int status = TTM_OK;
  for (uint32_t v = r->layer_value; r->layer && v < next_value && !status; v++) status = drop(r, v, row);
  for (uint32_t i = r->layer_row; r->layer && !r->numbered && i < row; i++)
    for (uint32_t k = 0; k < m->ops.at[i].operand_count && !status; k++)
      status = drop(r, m->operands.at[m->ops.at[i].operands + k], row);
  return status;
}

static int enter_layer(ttm_module_run *r, uint32_t row) {
  const ttm_module_op *op = &r->module->ops.at[row];
  uint64_t layer;
  if (ttm_op_kind_of(op->name) != TTM_OP_PLAIN) return TTM_OK;
  if (layer_of(r, op, &layer)) return TTM_ENOMEM;
  if (!layer || layer == r->layer) return TTM_OK;
  if (end_layer(r, op->results, row)) return TTM_ENOMEM;
  r->layer = layer;
  r->layer_value = op->results;
  r->layer_row = row;
  return TTM_OK;
}

static int find_layers(ttm_module_run *r) {
  const ttm_module_function *f = &r->module->functions.at[r->module->entry];
  for (uint32_t i = 0; i < f->op_count && !r->layered; i++) {
    uint64_t layer;
    if (layer_of(r, &r->module->ops.at[f->ops + i], &layer)) return TTM_ENOMEM;
    r->layered = layer != 0;
  }
  if (r->layered) find_last_uses(r);
  return TTM_OK;
}

/* ---- Functions ---- */

static bool is_return(const ttm_module_op *op) { return ttm_str_eq(op->name, TTM_LIT("return")); }

static int leave(ttm_module_run *r, const ttm_module_function *f, uint32_t row) {
  for (uint32_t v = f->values; v < f->values + f->value_count; v++) {
    if (let_go(r, r->buffer_of[v], row)) return TTM_ENOMEM;
    r->buffer_of[v] = TTM_NO_ROW;
  }
  return TTM_OK;
}

/* The caller's operands are the arguments; the buffers returned are held once more, at the end of `returned`. */
static int run_function(ttm_module_run *r, uint32_t function, const ttm_module_op *caller, uint32_t row, int depth) {
  const ttm_module *m = r->module;
  const ttm_module_function *f = &m->functions.at[function];
  int status = tell(r, TTM_RUN_ENTER, row, function);
  /* A trace takes the device first. */
  uint32_t skip = caller && caller->operand_count > f->arg_count ? caller->operand_count - f->arg_count : 0;
  for (uint32_t k = 0; k < f->arg_count && caller; k++) bind(r, f->values + k, operand_buffer(r, caller, k + skip));
  r->running[function] = 1;
  r->unknown += !f->returns && r->runs.n == 1;
  for (uint32_t i = 0; i < f->op_count && !status; i++) {
    const ttm_module_op *op = &m->ops.at[f->ops + i];
    if (!is_return(op)) {
      if (r->layered && depth == 0) status = enter_layer(r, f->ops + i);
      if (!status) status = run_op(r, f->ops + i, depth);
      continue;
    }
    r->unknown += op->unread && r->runs.n == 1;
    for (uint32_t k = 0; k < op->operand_count && !status; k++) {
      hold(r, operand_buffer(r, op, k));
      status = ttm_vec_push(&r->returned, operand_buffer(r, op, k));
    }
  }
  r->running[function] = 0;
  if (!status) status = leave(r, f, row);
  return status ? status : tell(r, TTM_RUN_LEAVE, row, function);
}

/* ---- The whole ---- */

/* An argument that another program holds. */
#define THERE (TTM_NO_ROW - 1)

/* Arguments that are not there: all of them the first time, later what a program freed. */
static int take_arguments(ttm_module_run *r, const ttm_module_function *f, uint32_t *held) {
  for (uint32_t k = 0; k < f->arg_count; k++) {
    uint32_t value = f->values + k;
    bool there = false;
    if (r->runs.n == 1 && bring(r, ttm_argument_key(r->module, k), &there)) return TTM_ENOMEM;
    if (there) held[k] = THERE;
    if (held[k] == THERE) continue;
    if (held[k] == TTM_NO_ROW || r->buffers.at[held[k]].gone) {
      if (take(r, r->module->value_types.at[value], TTM_NO_ROW, value, &held[k])) return TTM_ENOMEM;
      if (held[k] == TTM_NO_ROW) continue;
      ttm_run_buffer *b = &r->buffers.at[held[k]];
      b->kept = true;
      /* Emitted Python frees no weights. */
      b->retained = r->runner == TTM_RUNNER_COMPILED ? !(r->lessons && r->lessons->arguments_freed)
                                                     : r->module->args.at[f->args + k].kind != TTM_ARG_INPUT;
    }
    bind(r, value, held[k]);
  }
  return TTM_OK;
}

/* The host has read the results. */
static int drop_returned(ttm_module_run *r) {
  for (size_t i = 0; i < r->returned.n; i++)
    if (let_go(r, r->returned.at[i], TTM_NO_ROW)) return TTM_ENOMEM;
  r->returned.n = 0;
  return TTM_OK;
}

static int run_times(ttm_module_run *r, uint32_t times) {
  const ttm_module_function *f = &r->module->functions.at[r->module->entry];
  uint32_t *held = ttm_alloc_array(f->arg_count, sizeof *held);
  int status = held ? TTM_OK : TTM_ENOMEM;
  for (uint32_t k = 0; held && k < f->arg_count; k++) held[k] = TTM_NO_ROW;
  for (uint32_t n = 0; n < times && !status; n++) {
    status = ttm_vec_push(&r->runs, r->events.n);
    if (!status) status = drop_returned(r);
    if (!status) status = take_arguments(r, f, held);
    if (!status) status = run_function(r, r->module->entry, NULL, TTM_NO_ROW, 0);
  }
  if (!status) status = drop_returned(r);
  ttm_free(held);
  return status;
}

static int start(ttm_module_run *r, uint32_t times) {
  const ttm_module *m = r->module;
  size_t bound = m->value_types.n * times;
  r->buffer_of = ttm_alloc_array(m->value_types.n, sizeof *r->buffer_of);
  r->cached = ttm_alloc_array(m->functions.n, sizeof *r->cached);
  r->running = ttm_alloc_array(m->functions.n, sizeof *r->running);
  r->last_use = ttm_alloc_array(m->value_types.n, sizeof *r->last_use);
  r->bound = ttm_alloc_array(bound, sizeof *r->bound);
  if (!r->last_use || !r->buffer_of || !r->bound || !r->cached || !r->running) return TTM_ENOMEM;
  for (size_t i = 0; i < bound; i++) r->bound[i] = TTM_NO_ROW;
  for (size_t v = 0; v < m->value_types.n; v++) r->buffer_of[v] = TTM_NO_ROW, r->last_use[v] = 0;
  for (size_t f = 0; f < m->functions.n; f++) r->cached[f] = TTM_NO_ROW;
  memset(r->running, 0, m->functions.n);
  for (size_t t = 0; t < m->types.n; t++) {
    ttm_tensor_type none = {.has_layout = false};
    if (ttm_vec_push(&r->types, m->types.at[t].is_tensor ? m->types.at[t].tensor : none)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

int ttm_module_run_make(ttm_module_run *run, const ttm_module *module, ttm_runner runner, uint32_t times,
                        const ttm_run_lessons *lessons) {
  *run = (ttm_module_run){.module = module, .runner = runner, .lessons = lessons};
  int status = start(run, times);
  if (!status && module->entry != TTM_NO_ROW && runner == TTM_RUNNER_PYTHON) status = find_layers(run);
  if (!status && module->entry != TTM_NO_ROW) status = run_times(run, times);
  run->lessons = NULL;
  return status;
}

void ttm_module_run_free(ttm_module_run *r) {
  ttm_vec_free(&r->events);
  ttm_vec_free(&r->buffers);
  ttm_vec_free(&r->types);
  ttm_vec_free(&r->runs);
  ttm_map_free(&r->kept);
  ttm_vec_free(&r->cached_buffers);
  ttm_vec_free(&r->returned);
  ttm_vec_free(&r->brought);
  ttm_free(r->last_use);
  ttm_free(r->buffer_of);
  ttm_free(r->bound);
  ttm_free(r->cached);
  ttm_free(r->running);
  *r = (ttm_module_run){0};
}
