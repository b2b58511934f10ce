/* SPDX-License-Identifier: Apache-2.0 */
/* Circular buffers in host code: CircularBufferConfig with CreateCircularBuffer, and create_cb. */
#include "base/buf.h"
#include "cbscan/unit.h"

enum { MAX_SLOTS = 32, MAX_CHAIN = 64, MAX_OTHERS = 8 };

/* ---- Configurations ------------------------------------------------------------------------------------------------- */

/* The pieces of a CircularBufferConfig, gathered from its constructor, its chain of setters and statements about its variable. */
typedef struct config {
  cbs_node site; /* the constructor */
  cbs_node total, map, buffer;
  const cbs_eval_frame *frame;
  cbs_node calls[MAX_CHAIN]; /* setters, in order */
  const cbs_eval_frame *call_frames[MAX_CHAIN];
  size_t call_count;
  cbs_node variable; /* identifier, 0 for none */
  struct {
    cbs_node total;
    const cbs_eval_frame *frame;
  } others[MAX_OTHERS]; /* what it may be on other ways through the function */
  size_t other_count;
} config;

static void add_setter(config *c, cbs_node call, const cbs_eval_frame *frame) {
  if (c->call_count == MAX_CHAIN) return;
  c->calls[c->call_count] = call;
  c->call_frames[c->call_count++] = frame;
}

/* The setters called on the result of `call`. */
static void add_chain(config *c, const cbs_tree *tree, cbs_node call, const cbs_eval_frame *frame) {
  for (;;) {
    cbs_node field = cbs_tree_at(tree, call)->parent;
    call = cbs_tree_at(tree, field)->parent;
    if (cbs_tree_kind(tree, field) != CBS_N_FIELD || cbs_tree_kind(tree, call) != CBS_N_CALL) return;
    add_setter(c, call, frame);
  }
}

static bool is_config_type(const cbs_tree *tree, cbs_node type) {
  return ttm_str_eq(cbs_name_last(tree, type), TTM_LIT("CircularBufferConfig"));
}

/* Arguments of a constructor in any of its spellings. */
static void take_constructor(config *c, const cbs_tree *tree, cbs_node site, cbs_node list,
                             const cbs_eval_frame *frame) {
  cbs_node argument[3] = {0};
  for (size_t i = 0; i < 3; i++) {
    argument[i] = cbs_tree_child(tree, list, i);
    /* `T x(a, b)` read as a function: the argument is the type of a parameter */
    if (cbs_tree_kind(tree, argument[i]) == CBS_N_PARAMETER) argument[i] = cbs_tree_child(tree, argument[i], 0);
  }
  c->site = site;
  c->total = argument[0];
  c->map = argument[1];
  c->buffer = argument[2];
  c->frame = frame;
}

static bool find_config(cbs_unit *unit, config *c, cbs_node n, const cbs_eval_frame *frame, int depth);

/* cfg = CircularBufferConfig(...): the last one gives indices and pages, the size may be that of any. */
static bool assigned_config(cbs_unit *unit, config *c, cbs_node value, const cbs_eval_frame *frame, int depth) {
  config later = {0};
  if (!find_config(unit, &later, value, frame, depth + 1)) return false;
  memcpy(later.others, c->others, sizeof c->others);
  later.other_count = c->other_count;
  if (later.other_count < MAX_OTHERS && later.site != c->site) {
    later.others[later.other_count].total = c->total;
    later.others[later.other_count++].frame = c->frame;
  }
  if (ttm_vec_push(&unit->used_configs, c->site)) return false;
  *c = later;
  return true;
}

static bool config_of_variable(cbs_unit *unit, config *c, const cbs_name *name, cbs_node use,
                               const cbs_eval_frame *frame, int depth) {
  const cbs_tree *tree = &unit->tree;
  cbs_node_kind kind = cbs_tree_kind(tree, name->value);
  if (cbs_eval_may_have_written(&unit->eval, name, use)) return false; /* set under another name */
  if (kind == CBS_N_INIT_LIST && !is_config_type(tree, name->type)) {  /* auto cfg{CircularBufferConfig{...}} */
    if (!find_config(unit, c, cbs_tree_child(tree, name->value, 0), frame, depth + 1)) return false;
  } else if (is_config_type(tree, name->type) &&
             (kind == CBS_N_ARGUMENTS || kind == CBS_N_PARAMETERS || kind == CBS_N_INIT_LIST)) {
    take_constructor(c, tree, name->node, name->value, frame);
  } else if (!find_config(unit, c, name->value, frame, depth + 1)) {
    return false;
  }
  for (const cbs_change *change = NULL; (change = cbs_next_change(&unit->names, name, change));) {
    if (change->node > use || cbs_tree_within(tree, use, change->node))
      continue; /* cfg = cfg.set_...(): what it was before */
    if (change->kind == CBS_CHANGE_ASSIGN && !assigned_config(unit, c, change->value, frame, depth)) return false;
    if (change->kind != CBS_CHANGE_METHOD) continue;
    add_setter(c, change->node, frame); /* cfg.index(1).set_page_size(x): the whole chain */
    add_chain(c, tree, change->node, frame);
  }
  return true;
}

/* The configuration a function of the file gives back. */
static bool returned_config(cbs_unit *unit, config *c, cbs_node call, const cbs_eval_frame *caller, int depth) {
  const cbs_tree *tree = &unit->tree;
  cbs_node function = cbs_eval_callee(&unit->eval, call), body = cbs_tree_field(tree, function, CBS_F_BODY);
  cbs_eval_frame *frame = body ? ttm_arena_alloc(unit->arena, sizeof *frame) : NULL; /* `c` keeps it */
  if (!frame) return false;
  *frame = (cbs_eval_frame){function, call, caller};
  for (cbs_node n = body; n < cbs_tree_at(tree, body)->after; n++) {
    if (cbs_tree_kind(tree, n) != CBS_N_RETURN || cbs_function_around(tree, n) != function) continue;
    cbs_node value = cbs_tree_child(tree, n, 0);
    return find_config(unit, c, value, frame, depth + 1);
  }
  return false;
}

/* The configuration an expression stands for; false when it is made out of sight. */
static bool find_config(cbs_unit *unit, config *c, cbs_node n, const cbs_eval_frame *frame, int depth) {
  const cbs_tree *tree = &unit->tree;
  n = cbs_resolve(unit, n, &frame);
  if (!n || depth > 12) return false;
  switch (cbs_tree_kind(tree, n)) {
    case CBS_N_IDENTIFIER: {
      const cbs_name *name = cbs_name_of(&unit->names, n);
      cbs_node at = n;
      if (!name || name->kind != CBS_NAME_VARIABLE) return false;
      cbs_eval_leave(&unit->eval, name, &at, &frame);
      if (!config_of_variable(unit, c, name, at, frame, depth)) return false;
      c->variable = n;
      return true;
    }
    case CBS_N_COMPOUND_LITERAL:
      if (!is_config_type(tree, cbs_tree_field(tree, n, CBS_F_TYPE))) return false;
      take_constructor(c, tree, n, cbs_tree_field(tree, n, CBS_F_VALUE), frame);
      return true;
    case CBS_N_CALL: {
      cbs_node function = cbs_tree_field(tree, n, CBS_F_FUNCTION);
      if (cbs_tree_kind(tree, function) == CBS_N_FIELD) {
        cbs_node object = cbs_tree_field(tree, function, CBS_F_ARGUMENT);
        if (!find_config(unit, c, object, frame, depth + 1)) return false;
        add_setter(c, n, frame);
        return true;
      }
      if (is_config_type(tree, function)) {
        take_constructor(c, tree, n, cbs_tree_field(tree, n, CBS_F_ARGUMENTS), frame);
        return c->site != 0;
      }
      return returned_config(unit, c, n, frame, depth);
    }
    default:
      return false;
  }
}

/* ---- From configuration to buffer ----------------------------------------------------------------------------------- */

/* A map of index to format: {{i, f}, {j, g}}, or a variable that holds one. */
static bool add_map(cbs_unit *unit, cbs_buffer *cb, cbs_node map, const cbs_eval_frame *frame) {
  const cbs_tree *tree = &unit->tree;
  const cbs_name *name;
  cbs_node list = cbs_list_of(tree, cbs_resolve_value(unit, map, &frame, &name));
  size_t room = cbs_tree_children(tree, list) + MAX_SLOTS;
  if (!cbs_buffer_slots(unit, cb, room)) return false;
  cb->slot_count = 0;
  for (cbs_node pair = cbs_tree_at(tree, list)->child; pair; pair = cbs_tree_at(tree, pair)->next) {
    cbs_node inner = cbs_list_of(tree, pair);
    if (!inner || cb->slot_count == room) continue;
    cb->slots[cb->slot_count].index = cbs_evaluate(unit, cbs_tree_child(tree, inner, 0), frame);
    cb->slots[cb->slot_count++].format = cbs_evaluate(unit, cbs_tree_child(tree, inner, 1), frame);
  }
  for (const cbs_change *change = NULL; name && (change = cbs_next_change(&unit->names, name, change));) {
    if (change->kind != CBS_CHANGE_ITEM || change->node > map) continue;
    cbs_node left = cbs_tree_field(tree, change->node, CBS_F_LEFT), indices = cbs_tree_field(tree, left, CBS_F_INDICES);
    if (!indices || cb->slot_count == room) continue;
    cb->slots[cb->slot_count].index = cbs_evaluate(unit, cbs_tree_child(tree, indices, 0), frame);
    cb->slots[cb->slot_count++].format = cbs_evaluate(unit, change->value, frame);
  }
  return true;
}

static cbs_slot *slot_of(cbs_buffer *cb, const cbs_expression *index) {
  if (cb->slot_count == 1) return &cb->slots[0];
  for (size_t i = 0; i < cb->slot_count; i++) {
    const cbs_expression *other = &cb->slots[i].index;
    if (ttm_str_eq(other->text, index->text)) return &cb->slots[i];
    if (cbs_value_is_one(&other->value) && cbs_value_is_one(&index->value) &&
        other->value.v[0].i == index->value.v[0].i)
      return &cb->slots[i];
  }
  return NULL;
}

static void apply_setter(cbs_unit *unit, cbs_buffer *cb, cbs_node call, const cbs_eval_frame *frame) {
  const cbs_tree *tree = &unit->tree;
  cbs_node function = cbs_tree_field(tree, call, CBS_F_FUNCTION), field = cbs_tree_field(tree, function, CBS_F_FIELD);
  ttm_str word = cbs_name_last(tree, field);
  cbs_node first = cbs_call_argument(tree, call, 0), second = cbs_call_argument(tree, call, 1);
  if (ttm_str_eq(word, TTM_LIT("set_page_size")) && first && second) {
    cbs_expression index = cbs_evaluate(unit, first, frame);
    cbs_slot *slot = slot_of(cb, &index);
    if (slot) {
      slot->page = cbs_evaluate(unit, second, frame);
    } else if (!cb->slot_count) { /* the map could not be read: the setter names the index too */
      cb->slot_count = 1;         /* what no setter tells stays unknown, as cbs_buffer_slots made it */
      cb->slots[0].index = index;
      cb->slots[0].page = cbs_evaluate(unit, second, frame);
    }
  } else if (ttm_str_eq(word, TTM_LIT("set_page_size")) && first && cb->slot_count) { /* builder of one index */
    cb->slots[cb->slot_count - 1].page = cbs_evaluate(unit, first, frame);
  } else if (ttm_str_eq(word, TTM_LIT("index")) || ttm_str_eq(word, TTM_LIT("remote_index"))) {
    if (first && cb->slot_count < MAX_SLOTS) cb->slots[cb->slot_count++].index = cbs_evaluate(unit, first, frame);
  } else if (ttm_str_eq(word, TTM_LIT("set_data_format")) && first && cb->slot_count) {
    cb->slots[cb->slot_count - 1].format = cbs_evaluate(unit, first, frame);
  } else if (ttm_str_eq(word, TTM_LIT("set_total_size")) && first) {
    cb->total = cbs_evaluate(unit, first, frame);
  } else if (ttm_str_starts(word, TTM_LIT("set_globally_allocated_address"))) {
    bool conditional = false, in_loop = false;
    cbs_conditions_above(tree, call, &conditional, &in_loop);
    cb->owner = conditional && !cb->conditional ? CBS_EITHER : CBS_GLOBAL;
    if (second && ttm_str_ends(word, TTM_LIT("total_size"))) cb->total = cbs_evaluate(unit, second, frame);
  }
}

static int make_from_config(cbs_unit *unit, const config *c, cbs_node place, cbs_node cores,
                            const cbs_eval_frame *frame, bool created) {
  const cbs_tree *tree = &unit->tree;
  cbs_buffer cb = cbs_buffer_at(unit, CBS_CONFIG, place, frame);
  cb.created = created;
  if (c->variable) cb.name = cbs_tree_text(tree, c->variable);
  if (cores) cb.cores = cbs_evaluate(unit, cores, frame).text;
  cb.total = cbs_evaluate(unit, c->total, c->frame);
  for (size_t i = 0; i < c->other_count; i++) {
    cbs_value other = cbs_eval_expression(&unit->eval, c->others[i].total, c->others[i].frame);
    if (cbs_value_is_one(&other) && other.type == CBS_VALUE_INT && other.v[0].i == 0) continue; /* a place holder */
    cb.total.value = cbs_value_union(&cb.total.value, &other);
    cb.total.value.varies = true;
  }
  if (!add_map(unit, &cb, c->map, c->frame)) return TTM_ENOMEM;
  if (c->buffer) cb.owner = cbs_owner_of(unit, c->buffer, c->frame);
  for (size_t i = 0; i < c->call_count; i++) apply_setter(unit, &cb, c->calls[i], c->call_frames[i]);
  return ttm_vec_push(&unit->buffers, cb);
}

static int make_created(cbs_unit *unit, cbs_node call, const cbs_eval_frame *frame, void *context) {
  (void)context;
  config c = {0};
  cbs_node cores = cbs_call_argument(&unit->tree, call, 1), wanted = cbs_call_argument(&unit->tree, call, 2);
  if (find_config(unit, &c, wanted, frame, 0)) {
    if (ttm_vec_push(&unit->used_configs, c.site)) return TTM_ENOMEM;
    return make_from_config(unit, &c, call, cores, frame, true);
  }
  const cbs_name *own = cbs_names_find(&unit->names, TTM_LIT("CreateCircularBuffer"), call);
  if (own && own->kind == CBS_NAME_FUNCTION) return TTM_OK; /* the file's own function of that name */
  cbs_buffer cb = cbs_buffer_at(unit, CBS_CONFIG, call, frame);
  cb.created = true;
  cb.cores = cbs_evaluate(unit, cores, frame).text;
  cb.name = cbs_tree_text(&unit->tree, wanted);
  cb.total.value = cbs_value_unknown(cb.name);
  return ttm_vec_push(&unit->buffers, cb);
}

static int make_config_only(cbs_unit *unit, cbs_node site, const cbs_eval_frame *frame, void *context) {
  config *c = context;
  c->frame = frame;
  return make_from_config(unit, c, site, 0, frame, false);
}

/* ---- create_cb ------------------------------------------------------------------------------------------------------ */

/* create_cb(index | {indices}, program, cores, page_size, num_pages, format, buffer) */
static int make_create_cb(cbs_unit *unit, cbs_node call, const cbs_eval_frame *frame, void *context) {
  (void)context;
  const cbs_tree *tree = &unit->tree;
  cbs_node argument[7];
  for (size_t i = 0; i < 7; i++) argument[i] = cbs_call_argument(tree, call, i);
  cbs_buffer cb = cbs_buffer_at(unit, CBS_CREATE_CB, call, frame);
  cbs_expression page = cbs_evaluate(unit, argument[3], frame), pages = cbs_evaluate(unit, argument[4], frame);
  cb.created = true;
  cb.cores = cbs_evaluate(unit, argument[2], frame).text;
  cb.total.value = cbs_value_binary(TTM_LIT("*"), &page.value, &pages.value);
  if (cbs_unit_product_text(unit, pages.text, page.text, &cb.total.text)) return TTM_ENOMEM;
  const cbs_eval_frame *list_frame = frame;
  cbs_node ids = cbs_resolve(unit, argument[0], &list_frame);
  const cbs_name *name = cbs_name_of(&unit->names, ids); /* an array of indices? */
  if (name && cbs_tree_kind(tree, name->value) == CBS_N_INIT_LIST) ids = name->value;
  cbs_node list = cbs_tree_kind(tree, ids) == CBS_N_INIT_LIST && cbs_tree_children(tree, ids) > 1 ? ids : 0;
  size_t n = list ? cbs_tree_children(tree, list) : 1;
  if (!cbs_buffer_slots(unit, &cb, n)) return TTM_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    cb.slots[i].index =
        list ? cbs_evaluate(unit, cbs_tree_child(tree, list, i), list_frame) : cbs_evaluate(unit, argument[0], frame);
    cb.slots[i].format = cbs_evaluate(unit, argument[5], frame);
    cb.slots[i].page = page;
  }
  if (argument[6]) cb.owner = cbs_owner_of(unit, argument[6], frame);
  return ttm_vec_push(&unit->buffers, cb);
}

/* ---- Finding them --------------------------------------------------------------------------------------------------- */

static int at_call(cbs_unit *unit, cbs_node n) {
  const cbs_tree *tree = &unit->tree;
  cbs_node function = cbs_tree_field(tree, n, CBS_F_FUNCTION);
  if (cbs_tree_kind(tree, function) == CBS_N_FIELD) return TTM_OK;
  ttm_str name = cbs_name_last(tree, function);
  size_t arguments = cbs_call_arguments(tree, n);
  cbs_make make = NULL;
  if (ttm_str_eq(name, TTM_LIT("CreateCircularBuffer")) && arguments >= 3) make = make_created;
  if (ttm_str_eq(name, TTM_LIT("create_cb")) && arguments >= 6) make = make_create_cb;
  /* In a function of the file its own buffers are found. CreateDataflowBuffer has a DataflowBufferConfig, found by itself. */
  return !make || cbs_eval_callee(&unit->eval, n) ? TTM_OK : cbs_for_each_call(unit, n, make, NULL);
}

static bool is_used(const cbs_unit *unit, cbs_node site) {
  for (size_t i = 0; i < unit->used_configs.n; i++) {
    if (unit->used_configs.at[i] == site) return true;
  }
  return false;
}

/* Configurations that no CreateCircularBuffer of the file was traced back to. */
static int at_config(cbs_unit *unit, cbs_node n) {
  const cbs_tree *tree = &unit->tree;
  config c = {0};
  cbs_node_kind kind = cbs_tree_kind(tree, n);
  if (kind == CBS_N_CALL || kind == CBS_N_COMPOUND_LITERAL) {
    if (!is_config_type(tree, cbs_tree_field(tree, n, kind == CBS_N_CALL ? CBS_F_FUNCTION : CBS_F_TYPE))) return TTM_OK;
    cbs_node list = cbs_tree_field(tree, n, kind == CBS_N_CALL ? CBS_F_ARGUMENTS : CBS_F_VALUE);
    if (!list || is_used(unit, n)) return TTM_OK;
    take_constructor(&c, tree, n, list, NULL);
    add_chain(&c, tree, n, NULL);
  } else {
    cbs_node declarator = cbs_tree_field(tree, n, CBS_F_DECLARATOR);
    if (!is_config_type(tree, cbs_tree_field(tree, n, CBS_F_TYPE)) || !declarator || is_used(unit, n)) return TTM_OK;
    const cbs_name *name = cbs_name_declared(unit, n);
    cbs_node_kind value = name && name->value ? cbs_tree_kind(tree, name->value) : CBS_N_OTHER;
    if (value != CBS_N_ARGUMENTS && value != CBS_N_PARAMETERS && value != CBS_N_INIT_LIST) return TTM_OK;
    if (!config_of_variable(unit, &c, name, (cbs_node)tree->nodes.n, NULL, 0)) return TTM_OK;
    c.variable = cbs_declared_identifier(tree, declarator);
  }
  return cbs_for_each_call(unit, n, make_config_only, &c);
}

int cbs_scan_host(cbs_unit *unit) {
  const cbs_tree *tree = &unit->tree;
  for (cbs_node n = 1; n < tree->nodes.n; n++) {
    cbs_node_kind kind = cbs_tree_kind(tree, n);
    int status = kind == CBS_N_CALL ? at_call(unit, n) : TTM_OK;
    if (!status && (kind == CBS_N_COMPOUND_LITERAL || kind == CBS_N_INIT_LIST || kind == CBS_N_DECLARATION)) {
      status = cbs_scan_descriptor(unit, n);
    }
    if (status) return status;
  }
  for (cbs_node n = 1; n < tree->nodes.n; n++) {
    cbs_node_kind kind = cbs_tree_kind(tree, n);
    if (kind != CBS_N_CALL && kind != CBS_N_COMPOUND_LITERAL && kind != CBS_N_DECLARATION) continue;
    int status = at_config(unit, n);
    if (status) return status;
  }
  return TTM_OK;
}
