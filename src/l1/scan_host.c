/* SPDX-License-Identifier: Apache-2.0 */
/* Circular buffers in host code: CircularBufferConfig with CreateCircularBuffer, and create_cb. */
#include "base/buf.h"
#include "l1/scan_unit.h"

enum { MAX_SLOTS = 32, MAX_CHAIN = 64, MAX_OTHERS = 8 };

/* ---- Configurations ------------------------------------------------------------------------------------------------- */

/* The pieces of a CircularBufferConfig, gathered from its constructor, its chain of setters and statements about its variable. */
typedef struct config {
  ttm_node site; /* the constructor */
  ttm_node total, map, buffer;
  const ttm_eval_frame *frame;
  ttm_node calls[MAX_CHAIN]; /* setters, in order */
  const ttm_eval_frame *call_frames[MAX_CHAIN];
  size_t call_count;
  ttm_node variable; /* identifier, 0 for none */
  struct {
    ttm_node total;
    const ttm_eval_frame *frame;
  } others[MAX_OTHERS]; /* what it may be on other ways through the function */
  size_t other_count;
} config;

static void add_setter(config *c, ttm_node call, const ttm_eval_frame *frame) {
  if (c->call_count == MAX_CHAIN) return;
  c->calls[c->call_count] = call;
  c->call_frames[c->call_count++] = frame;
}

static bool is_config_type(const ttm_tree *tree, ttm_node type) {
  return type && ttm_str_eq(ttm_name_last(tree, type), TTM_LIT("CircularBufferConfig"));
}

/* Arguments of a constructor in any of its spellings. */
static void take_constructor(config *c, const ttm_tree *tree, ttm_node site, ttm_node list,
                             const ttm_eval_frame *frame) {
  ttm_node argument[3] = {0};
  for (size_t i = 0; i < 3; i++) {
    argument[i] = ttm_tree_child(tree, list, i);
    /* `T x(a, b)` read as a function: the argument is the type of a parameter */
    if (argument[i] && ttm_tree_kind(tree, argument[i]) == TTM_N_PARAMETER) {
      ttm_node inner = ttm_tree_child(tree, argument[i], 0);
      if (inner) argument[i] = inner;
    }
  }
  c->site = site;
  c->total = argument[0];
  c->map = argument[1];
  c->buffer = argument[2];
  c->frame = frame;
}

static bool find_config(ttm_scan_unit *unit, config *c, ttm_node n, const ttm_eval_frame *frame, int depth);

/* cfg = CircularBufferConfig(...): the last one gives indices and pages, the size may be that of any. */
static bool assigned_config(ttm_scan_unit *unit, config *c, ttm_node value, const ttm_eval_frame *frame, int depth) {
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

static bool config_of_variable(ttm_scan_unit *unit, config *c, const ttm_name *name, ttm_node use,
                               const ttm_eval_frame *frame, int depth) {
  const ttm_tree *tree = &unit->tree;
  ttm_node_kind kind = name->value ? ttm_tree_kind(tree, name->value) : TTM_N_OTHER;
  if (kind == TTM_N_INIT_LIST && !is_config_type(tree, name->type)) { /* auto cfg{CircularBufferConfig{...}} */
    if (!find_config(unit, c, ttm_tree_child(tree, name->value, 0), frame, depth + 1)) return false;
  } else if (is_config_type(tree, name->type) &&
             (kind == TTM_N_ARGUMENTS || kind == TTM_N_PARAMETERS || kind == TTM_N_INIT_LIST)) {
    take_constructor(c, tree, name->node, name->value, frame);
  } else if (!name->value || !find_config(unit, c, name->value, frame, depth + 1)) {
    return false;
  }
  const ttm_names *names = &unit->names;
  for (uint32_t i = ttm_changes_first(names, name->text); i != UINT32_MAX; i = names->changes.at[i].next) {
    const ttm_change *change = &names->changes.at[i];
    if (change->node < name->node || change->node > use || !ttm_tree_within(tree, change->node, name->scope)) continue;
    if (ttm_tree_within(tree, use, change->node)) continue; /* cfg = cfg.set_...(): what it was before */
    if (change->kind == TTM_CHANGE_ASSIGN && !assigned_config(unit, c, change->value, frame, depth)) return false;
    if (change->kind != TTM_CHANGE_METHOD) continue;
    ttm_node call = change->node; /* cfg.index(1).set_page_size(x): the whole chain */
    add_setter(c, call, frame);
    for (;;) {
      ttm_node field = ttm_tree_at(tree, call)->parent, outer = ttm_tree_at(tree, field)->parent;
      if (ttm_tree_kind(tree, field) != TTM_N_FIELD || ttm_tree_kind(tree, outer) != TTM_N_CALL) break;
      add_setter(c, outer, frame);
      call = outer;
    }
  }
  return true;
}

/* The configuration a function of the file gives back. */
static bool returned_config(ttm_scan_unit *unit, config *c, ttm_node call, const ttm_eval_frame *caller, int depth) {
  const ttm_tree *tree = &unit->tree;
  ttm_node function = ttm_eval_callee(&unit->eval, call),
           body = function ? ttm_tree_field(tree, function, TTM_F_BODY) : 0;
  ttm_eval_frame *frame = body ? ttm_arena_alloc(unit->arena, sizeof *frame) : NULL; /* `c` keeps it */
  if (!frame) return false;
  *frame = (ttm_eval_frame){function, call, caller};
  for (ttm_node n = body; n < ttm_tree_at(tree, body)->after; n++) {
    if (ttm_tree_kind(tree, n) != TTM_N_RETURN || ttm_function_around(tree, n) != function) continue;
    ttm_node value = ttm_tree_child(tree, n, 0);
    return value && find_config(unit, c, value, frame, depth + 1);
  }
  return false;
}

/* The configuration an expression stands for; false when it is made out of sight. */
static bool find_config(ttm_scan_unit *unit, config *c, ttm_node n, const ttm_eval_frame *frame, int depth) {
  const ttm_tree *tree = &unit->tree;
  n = ttm_resolve(unit, n, &frame);
  if (!n || depth > 12) return false;
  switch (ttm_tree_kind(tree, n)) {
    case TTM_N_IDENTIFIER: {
      const ttm_name *name = ttm_names_find(&unit->names, ttm_tree_text(tree, n), n);
      ttm_node at = n;
      if (!name || name->kind != TTM_NAME_VARIABLE) return false;
      ttm_eval_leave(&unit->eval, name, &at, &frame);
      if (!config_of_variable(unit, c, name, at, frame, depth)) return false;
      c->variable = n;
      return true;
    }
    case TTM_N_COMPOUND_LITERAL:
      if (!is_config_type(tree, ttm_tree_field(tree, n, TTM_F_TYPE))) return false;
      take_constructor(c, tree, n, ttm_tree_field(tree, n, TTM_F_VALUE), frame);
      return true;
    case TTM_N_CALL: {
      ttm_node function = ttm_tree_field(tree, n, TTM_F_FUNCTION);
      if (function && ttm_tree_kind(tree, function) == TTM_N_FIELD) {
        ttm_node object = ttm_tree_field(tree, function, TTM_F_ARGUMENT);
        if (!object || !find_config(unit, c, object, frame, depth + 1)) return false;
        add_setter(c, n, frame);
        return true;
      }
      if (is_config_type(tree, function)) {
        take_constructor(c, tree, n, ttm_tree_field(tree, n, TTM_F_ARGUMENTS), frame);
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
static bool add_map(ttm_scan_unit *unit, ttm_cb *cb, ttm_node map, const ttm_eval_frame *frame) {
  const ttm_tree *tree = &unit->tree;
  ttm_node source = map;
  map = ttm_resolve(unit, map, &frame);
  const ttm_name *name = NULL;
  if (map && ttm_tree_kind(tree, map) == TTM_N_IDENTIFIER) {
    name = ttm_names_find(&unit->names, ttm_tree_text(tree, map), map);
    map = name ? name->value : 0;
  }
  ttm_node list = map ? ttm_list_of(tree, map) : 0;
  size_t room = (list ? ttm_tree_children(tree, list) : 0) + MAX_SLOTS;
  if (!ttm_cb_slots(unit, cb, room)) return false;
  cb->slot_count = 0;
  for (ttm_node pair = list ? ttm_tree_at(tree, list)->child : 0; pair; pair = ttm_tree_at(tree, pair)->next) {
    ttm_node inner = ttm_list_of(tree, pair);
    if (!inner || cb->slot_count == room) continue;
    cb->slots[cb->slot_count].index = ttm_expression(unit, ttm_tree_child(tree, inner, 0), frame);
    cb->slots[cb->slot_count++].format = ttm_expression(unit, ttm_tree_child(tree, inner, 1), frame);
  }
  if (!name) return true;
  const ttm_names *names = &unit->names;
  for (uint32_t i = ttm_changes_first(names, name->text); i != UINT32_MAX; i = names->changes.at[i].next) {
    const ttm_change *change = &names->changes.at[i];
    if (change->kind != TTM_CHANGE_ITEM || change->node < name->node || change->node > source) continue;
    ttm_node left = ttm_tree_field(tree, change->node, TTM_F_LEFT), indices = ttm_tree_field(tree, left, TTM_F_INDICES);
    if (!indices || cb->slot_count == room) continue;
    cb->slots[cb->slot_count].index = ttm_expression(unit, ttm_tree_child(tree, indices, 0), frame);
    cb->slots[cb->slot_count++].format = ttm_expression(unit, change->value, frame);
  }
  return true;
}

static ttm_cb_slot *slot_of(ttm_cb *cb, const ttm_cb_expression *index) {
  if (cb->slot_count == 1) return &cb->slots[0];
  for (size_t i = 0; i < cb->slot_count; i++) {
    const ttm_cb_expression *other = &cb->slots[i].index;
    if (ttm_str_eq(other->text, index->text)) return &cb->slots[i];
    if (ttm_value_is_one(&other->value) && ttm_value_is_one(&index->value) &&
        other->value.v[0].i == index->value.v[0].i)
      return &cb->slots[i];
  }
  return NULL;
}

static void apply_setter(ttm_scan_unit *unit, ttm_cb *cb, ttm_node call, const ttm_eval_frame *frame) {
  const ttm_tree *tree = &unit->tree;
  ttm_node function = ttm_tree_field(tree, call, TTM_F_FUNCTION), field = ttm_tree_field(tree, function, TTM_F_FIELD);
  ttm_str word = field ? ttm_name_last(tree, field) : (ttm_str){"", 0};
  ttm_node first = ttm_call_argument(tree, call, 0), second = ttm_call_argument(tree, call, 1);
  if (ttm_str_eq(word, TTM_LIT("set_page_size")) && first && second) {
    ttm_cb_expression index = ttm_expression(unit, first, frame);
    ttm_cb_slot *slot = slot_of(cb, &index);
    if (slot) {
      slot->page = ttm_expression(unit, second, frame);
    } else if (!cb->slot_count) { /* the map could not be read: the setter names the index too */
      cb->slot_count = 1;         /* what no setter tells stays unknown, as ttm_cb_slots made it */
      cb->slots[0].index = index;
      cb->slots[0].page = ttm_expression(unit, second, frame);
    }
  } else if (ttm_str_eq(word, TTM_LIT("set_page_size")) && first && cb->slot_count) { /* builder of one index */
    cb->slots[cb->slot_count - 1].page = ttm_expression(unit, first, frame);
  } else if (ttm_str_eq(word, TTM_LIT("index")) || ttm_str_eq(word, TTM_LIT("remote_index"))) {
    if (first && cb->slot_count < MAX_SLOTS) cb->slots[cb->slot_count++].index = ttm_expression(unit, first, frame);
  } else if (ttm_str_eq(word, TTM_LIT("set_data_format")) && first && cb->slot_count) {
    cb->slots[cb->slot_count - 1].format = ttm_expression(unit, first, frame);
  } else if (ttm_str_eq(word, TTM_LIT("set_total_size")) && first) {
    cb->total = ttm_expression(unit, first, frame);
  } else if (ttm_str_starts(word, TTM_LIT("set_globally_allocated_address"))) {
    bool conditional = false, in_loop = false;
    ttm_conditions_above(tree, call, &conditional, &in_loop);
    cb->owner = conditional && !cb->conditional ? TTM_CB_EITHER : TTM_CB_GLOBAL;
    if (second && ttm_str_ends(word, TTM_LIT("total_size"))) cb->total = ttm_expression(unit, second, frame);
  }
}

static int make_from_config(ttm_scan_unit *unit, const config *c, ttm_node place, ttm_node cores,
                            const ttm_eval_frame *frame, bool created) {
  const ttm_tree *tree = &unit->tree;
  ttm_cb cb = ttm_cb_at(unit, TTM_CB_CONFIG, place, frame);
  cb.created = created;
  if (c->variable) cb.name = ttm_tree_text(tree, c->variable);
  if (cores) cb.cores = ttm_expression(unit, cores, frame).text;
  cb.total = ttm_expression(unit, c->total, c->frame);
  for (size_t i = 0; i < c->other_count; i++) {
    ttm_scan_value other = ttm_eval_expression(&unit->eval, c->others[i].total, c->others[i].frame);
    if (ttm_value_is_one(&other) && other.type == TTM_VALUE_INT && other.v[0].i == 0) continue; /* a place holder */
    cb.total.value = ttm_value_union(&cb.total.value, &other);
    cb.total.value.varies = true;
  }
  if (!add_map(unit, &cb, c->map, c->frame)) return TTM_ENOMEM;
  if (c->buffer) cb.owner = ttm_cb_owner_of(unit, c->buffer, c->frame);
  for (size_t i = 0; i < c->call_count; i++) apply_setter(unit, &cb, c->calls[i], c->call_frames[i]);
  return ttm_vec_push(&unit->cbs, cb);
}

static int make_created(ttm_scan_unit *unit, ttm_node call, const ttm_eval_frame *frame, void *context) {
  (void)context;
  config c = {0};
  ttm_node cores = ttm_call_argument(&unit->tree, call, 1), wanted = ttm_call_argument(&unit->tree, call, 2);
  if (find_config(unit, &c, wanted, frame, 0)) {
    if (ttm_vec_push(&unit->used_configs, c.site)) return TTM_ENOMEM;
    return make_from_config(unit, &c, call, cores, frame, true);
  }
  const ttm_name *own = ttm_names_find(&unit->names, TTM_LIT("CreateCircularBuffer"), call);
  if (own && own->kind == TTM_NAME_FUNCTION) return TTM_OK; /* the file's own function of that name */
  ttm_cb cb = ttm_cb_at(unit, TTM_CB_CONFIG, call, frame);
  cb.created = true;
  cb.cores = ttm_expression(unit, cores, frame).text;
  cb.name = ttm_tree_text(&unit->tree, wanted);
  cb.total.value = ttm_value_unknown(cb.name);
  return ttm_vec_push(&unit->cbs, cb);
}

static int make_config_only(ttm_scan_unit *unit, ttm_node site, const ttm_eval_frame *frame, void *context) {
  config *c = context;
  c->frame = frame;
  return make_from_config(unit, c, site, 0, frame, false);
}

/* ---- create_cb ------------------------------------------------------------------------------------------------------ */

/* create_cb(index | {indices}, program, cores, page_size, num_pages, format, buffer) */
static int make_create_cb(ttm_scan_unit *unit, ttm_node call, const ttm_eval_frame *frame, void *context) {
  (void)context;
  const ttm_tree *tree = &unit->tree;
  ttm_node argument[7];
  for (size_t i = 0; i < 7; i++) argument[i] = ttm_call_argument(tree, call, i);
  ttm_cb cb = ttm_cb_at(unit, TTM_CB_CREATE_CB, call, frame);
  ttm_cb_expression page = ttm_expression(unit, argument[3], frame), pages = ttm_expression(unit, argument[4], frame);
  cb.created = true;
  cb.cores = ttm_expression(unit, argument[2], frame).text;
  cb.total.value = ttm_value_binary(TTM_LIT("*"), &page.value, &pages.value);
  if (ttm_unit_product_text(unit, pages.text, page.text, &cb.total.text)) return TTM_ENOMEM;
  const ttm_eval_frame *list_frame = frame;
  ttm_node ids = ttm_resolve(unit, argument[0], &list_frame);
  if (ids && ttm_tree_kind(tree, ids) == TTM_N_IDENTIFIER) { /* an array of indices? */
    const ttm_name *name = ttm_names_find(&unit->names, ttm_tree_text(tree, ids), ids);
    if (name && name->value && ttm_tree_kind(tree, name->value) == TTM_N_INIT_LIST) ids = name->value;
  }
  ttm_node list = ids && ttm_tree_kind(tree, ids) == TTM_N_INIT_LIST && ttm_tree_children(tree, ids) > 1 ? ids : 0;
  size_t n = list ? ttm_tree_children(tree, list) : 1;
  if (!ttm_cb_slots(unit, &cb, n)) return TTM_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    cb.slots[i].index =
        ttm_expression(unit, list ? ttm_tree_child(tree, list, i) : argument[0], list ? list_frame : frame);
    cb.slots[i].format = ttm_expression(unit, argument[5], frame);
    cb.slots[i].page = page;
  }
  if (argument[6]) cb.owner = ttm_cb_owner_of(unit, argument[6], frame);
  return ttm_vec_push(&unit->cbs, cb);
}

/* ---- Finding them --------------------------------------------------------------------------------------------------- */

static int at_call(ttm_scan_unit *unit, ttm_node n) {
  const ttm_tree *tree = &unit->tree;
  ttm_node function = ttm_tree_field(tree, n, TTM_F_FUNCTION);
  if (!function || ttm_tree_kind(tree, function) == TTM_N_FIELD) return TTM_OK;
  ttm_str name = ttm_name_last(tree, function);
  size_t arguments = ttm_call_arguments(tree, n);
  ttm_make make = NULL;
  if (ttm_str_eq(name, TTM_LIT("CreateCircularBuffer")) && arguments >= 3) make = make_created;
  if (ttm_str_eq(name, TTM_LIT("create_cb")) && arguments >= 6) make = make_create_cb;
  /* In a function of the file its own buffers are found. CreateDataflowBuffer has a DataflowBufferConfig, found by itself. */
  return !make || ttm_eval_callee(&unit->eval, n) ? TTM_OK : ttm_for_each_call(unit, n, make, NULL);
}

static bool is_used(const ttm_scan_unit *unit, ttm_node site) {
  for (size_t i = 0; i < unit->used_configs.n; i++) {
    if (unit->used_configs.at[i] == site) return true;
  }
  return false;
}

/* Configurations that no CreateCircularBuffer of the file was traced back to. */
static int at_config(ttm_scan_unit *unit, ttm_node n) {
  const ttm_tree *tree = &unit->tree;
  config c = {0};
  ttm_node_kind kind = ttm_tree_kind(tree, n);
  if (kind == TTM_N_CALL || kind == TTM_N_COMPOUND_LITERAL) {
    if (!is_config_type(tree, ttm_tree_field(tree, n, kind == TTM_N_CALL ? TTM_F_FUNCTION : TTM_F_TYPE))) return TTM_OK;
    ttm_node list = ttm_tree_field(tree, n, kind == TTM_N_CALL ? TTM_F_ARGUMENTS : TTM_F_VALUE);
    if (!list || is_used(unit, n)) return TTM_OK;
    take_constructor(&c, tree, n, list, NULL);
    for (ttm_node call = n;;) { /* its own chain of setters */
      ttm_node field = ttm_tree_at(tree, call)->parent, outer = ttm_tree_at(tree, field)->parent;
      if (ttm_tree_kind(tree, field) != TTM_N_FIELD || ttm_tree_kind(tree, outer) != TTM_N_CALL) break;
      add_setter(&c, outer, NULL);
      call = outer;
    }
  } else {
    ttm_node declarator = ttm_tree_field(tree, n, TTM_F_DECLARATOR);
    if (!is_config_type(tree, ttm_tree_field(tree, n, TTM_F_TYPE)) || !declarator || is_used(unit, n)) return TTM_OK;
    const ttm_name *name = NULL;
    ttm_node id = ttm_declared_identifier(tree, declarator);
    uint32_t i = id ? ttm_names_first(&unit->names, ttm_tree_text(tree, id)) : UINT32_MAX;
    for (; i != UINT32_MAX; i = unit->names.names.at[i].next) {
      if (unit->names.names.at[i].node == n) name = &unit->names.names.at[i];
    }
    ttm_node_kind value = name && name->value ? ttm_tree_kind(tree, name->value) : TTM_N_OTHER;
    if (value != TTM_N_ARGUMENTS && value != TTM_N_PARAMETERS && value != TTM_N_INIT_LIST) return TTM_OK;
    if (!config_of_variable(unit, &c, name, (ttm_node)tree->nodes.n, NULL, 0)) return TTM_OK;
    c.variable = id;
  }
  return ttm_for_each_call(unit, n, make_config_only, &c);
}

int ttm_scan_host(ttm_scan_unit *unit) {
  const ttm_tree *tree = &unit->tree;
  for (ttm_node n = 1; n < tree->nodes.n; n++) {
    ttm_node_kind kind = ttm_tree_kind(tree, n);
    int status = kind == TTM_N_CALL ? at_call(unit, n) : TTM_OK;
    if (!status && (kind == TTM_N_COMPOUND_LITERAL || kind == TTM_N_INIT_LIST || kind == TTM_N_DECLARATION)) {
      status = ttm_scan_descriptor(unit, n);
    }
    if (status) return status;
  }
  for (ttm_node n = 1; n < tree->nodes.n; n++) {
    ttm_node_kind kind = ttm_tree_kind(tree, n);
    if (kind != TTM_N_CALL && kind != TTM_N_COMPOUND_LITERAL && kind != TTM_N_DECLARATION) continue;
    int status = at_config(unit, n);
    if (status) return status;
  }
  return TTM_OK;
}
