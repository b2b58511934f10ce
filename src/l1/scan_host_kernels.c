/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels host code names: CreateKernel, KernelDescriptor and KernelSpec, with the compile-time arguments handed over. */
#include "l1/scan_unit.h"

enum { MAX_ARGS = 128 };

/* A vector of arguments written out: {a, b, c}, also in a variable with push_back behind. */
static int take_args(ttm_scan_unit *unit, ttm_kernel_ref *ref, ttm_node n, const ttm_eval_frame *frame) {
  const ttm_tree *tree = &unit->tree;
  ttm_node use = n;
  n = ttm_resolve(unit, n, &frame);
  const ttm_name *name = NULL;
  if (n && ttm_tree_kind(tree, n) == TTM_N_IDENTIFIER) {
    name = ttm_names_find(&unit->names, ttm_tree_text(tree, n), n);
    n = name ? name->value : 0;
  }
  if (!n && !name) {
    ref->args_open = true;
    return TTM_OK;
  }
  ref->args = ttm_arena_alloc(unit->arena, MAX_ARGS * sizeof *ref->args);
  if (!ref->args) return TTM_ENOMEM;
  ttm_node list = n ? ttm_list_of(tree, n) : 0;
  /* std::vector<uint32_t> x = {...} may be written as x({...}) too */
  if (n && !list && ttm_tree_kind(tree, n) == TTM_N_ARGUMENTS) list = ttm_list_of(tree, ttm_tree_child(tree, n, 0));
  if (n && !list) ref->args_open = true;
  for (ttm_node c = list ? ttm_tree_at(tree, list)->child : 0; c && ref->arg_count < MAX_ARGS;
       c = ttm_tree_at(tree, c)->next) {
    ref->args[ref->arg_count++] = ttm_expression(unit, c, frame);
  }
  if (!name || ref->args_open) return TTM_OK;
  const ttm_names *names = &unit->names;
  for (uint32_t i = ttm_changes_first(names, name->text); i != UINT32_MAX; i = names->changes.at[i].next) {
    const ttm_change *change = &names->changes.at[i];
    if (change->node < name->node || change->node > use || !ttm_tree_within(tree, change->node, name->scope)) continue;
    bool conditional = false, in_loop = false;
    ttm_conditions_above(tree, change->node, &conditional, &in_loop);
    bool adds = change->kind == TTM_CHANGE_METHOD &&
                (ttm_str_eq(change->word, TTM_LIT("push_back")) || ttm_str_eq(change->word, TTM_LIT("emplace_back")));
    if (!adds || conditional || in_loop || ref->arg_count == MAX_ARGS) {
      if (change->kind == TTM_CHANGE_METHOD && ttm_str_eq(change->word, TTM_LIT("size"))) continue;
      ref->args_open = true; /* behind here the numbers are not known */
      return TTM_OK;
    }
    ref->args[ref->arg_count++] = ttm_expression(unit, ttm_call_argument(tree, change->node, 0), frame);
  }
  return TTM_OK;
}

static int add_named(ttm_scan_unit *unit, ttm_kernel_ref *ref, ttm_str name, const ttm_scan_value *value) {
  if (!ref->named) {
    ref->named = ttm_arena_alloc(unit->arena, MAX_ARGS * sizeof *ref->named);
    if (!ref->named) return TTM_ENOMEM;
  }
  if (ref->named_count < MAX_ARGS) ref->named[ref->named_count++] = (ttm_kernel_named){name, *value};
  return TTM_OK;
}

/* {{"name", value}, ...}, in place or in a variable. */
static int take_named(ttm_scan_unit *unit, ttm_kernel_ref *ref, ttm_node n, const ttm_eval_frame *frame) {
  const ttm_tree *tree = &unit->tree;
  n = ttm_resolve(unit, n, &frame);
  if (n && ttm_tree_kind(tree, n) == TTM_N_IDENTIFIER) {
    const ttm_name *name = ttm_names_find(&unit->names, ttm_tree_text(tree, n), n);
    n = name ? name->value : 0;
  }
  ttm_node list = ttm_list_of(tree, n);
  for (ttm_node c = list ? ttm_tree_at(tree, list)->child : 0; c; c = ttm_tree_at(tree, c)->next) {
    ttm_node pair = ttm_list_of(tree, c), first = pair ? ttm_tree_child(tree, pair, 0) : 0;
    ttm_node second = pair ? ttm_tree_child(tree, pair, 1) : 0;
    ttm_scan_value key = first ? ttm_eval_expression(&unit->eval, first, frame) : ttm_value_unknown((ttm_str){0});
    if (!second || key.type != TTM_VALUE_STRING || !ttm_value_is_one(&key)) continue;
    ttm_scan_value value = ttm_eval_expression(&unit->eval, second, frame);
    if (add_named(unit, ref, key.v[0].t, &value)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* DFBBinding{.dfb_spec_name = X, .accessor_name = "in"} and ProducerOf(X, "in"), anywhere in `n`. */
static int take_bindings(ttm_scan_unit *unit, ttm_kernel_ref *ref, ttm_node n, const ttm_eval_frame *frame) {
  const ttm_tree *tree = &unit->tree;
  for (ttm_node at = n; n && at < ttm_tree_at(tree, n)->after; at++) {
    ttm_node spec = 0, accessor = 0;
    if (ttm_tree_kind(tree, at) == TTM_N_INIT_LIST) {
      spec = ttm_member_of(tree, at, "dfb_spec_name");
      accessor = ttm_member_of(tree, at, "accessor_name");
    } else if (ttm_tree_kind(tree, at) == TTM_N_CALL) {
      ttm_node function = ttm_tree_field(tree, at, TTM_F_FUNCTION);
      ttm_str name = function ? ttm_name_last(tree, function) : (ttm_str){"", 0};
      if (!ttm_str_eq(name, TTM_LIT("ProducerOf")) && !ttm_str_eq(name, TTM_LIT("ConsumerOf"))) continue;
      spec = ttm_call_argument(tree, at, 0);
      accessor = ttm_call_argument(tree, at, 1);
    }
    if (!spec || !accessor) continue;
    ttm_scan_value key = ttm_eval_expression(&unit->eval, accessor, frame);
    ttm_scan_value value = ttm_eval_expression(&unit->eval, spec, frame);
    if (key.type != TTM_VALUE_STRING || !ttm_value_is_one(&key)) continue;
    if (add_named(unit, ref, key.v[0].t, &value)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Bindings in a variable: its initialiser and every push_back. */
static int take_bindings_of(ttm_scan_unit *unit, ttm_kernel_ref *ref, ttm_node n, const ttm_eval_frame *frame) {
  const ttm_tree *tree = &unit->tree;
  const ttm_eval_frame *at_frame = frame;
  ttm_node inner = ttm_resolve(unit, n, &at_frame);
  if (!inner || ttm_tree_kind(tree, inner) != TTM_N_IDENTIFIER) return take_bindings(unit, ref, n, frame);
  const ttm_name *name = ttm_names_find(&unit->names, ttm_tree_text(tree, inner), inner);
  if (!name) return TTM_OK;
  if (name->value && take_bindings(unit, ref, name->value, at_frame)) return TTM_ENOMEM;
  const ttm_names *names = &unit->names;
  for (uint32_t i = ttm_changes_first(names, name->text); i != UINT32_MAX; i = names->changes.at[i].next) {
    const ttm_change *change = &names->changes.at[i];
    if (change->kind != TTM_CHANGE_METHOD || change->node < name->node) continue;
    if (ttm_tree_within(tree, change->node, name->scope) && take_bindings(unit, ref, change->value, at_frame))
      return TTM_ENOMEM;
  }
  return TTM_OK;
}

static ttm_kernel_ref ref_at(ttm_scan_unit *unit, ttm_node site, const ttm_eval_frame *frame) {
  ttm_cb place = ttm_cb_at(unit, TTM_CB_CONFIG, site, frame);
  return (ttm_kernel_ref){.file = place.file,
                          .line = place.line,
                          .function = place.function,
                          .node = site,
                          .conditional = place.conditional || place.in_loop};
}

/* ComputeConfig{.compile_args = x}, ReaderDataMovementConfig(x, defines), or a variable of such a type. */
static int take_config(ttm_scan_unit *unit, ttm_kernel_ref *ref, ttm_node config, const ttm_eval_frame *frame) {
  const ttm_tree *tree = &unit->tree;
  config = ttm_resolve(unit, config, &frame);
  ttm_node args = 0, named = 0;
  if (config && ttm_tree_kind(tree, config) == TTM_N_IDENTIFIER) {
    const ttm_name *name = ttm_names_find(&unit->names, ttm_tree_text(tree, config), config);
    if (name) args = ttm_member_of_variable(unit, name, "compile_args");
    if (name) named = ttm_member_of_variable(unit, name, "named_compile_args");
    if (!args && name) config = name->value;
  }
  ttm_node list = ttm_list_of(tree, config);
  if (!args && list) args = ttm_member_of(tree, list, "compile_args");
  if (!named && list) named = ttm_member_of(tree, list, "named_compile_args");
  ttm_node first = list ? ttm_tree_child(tree, list, 0) : 0;
  if (!args && first && ttm_tree_kind(tree, first) != TTM_N_INIT_PAIR) args = first;
  if (!args && config && ttm_tree_kind(tree, config) == TTM_N_CALL) args = ttm_call_argument(tree, config, 0);
  if (named && take_named(unit, ref, named, frame)) return TTM_ENOMEM;
  if (args) return take_args(unit, ref, args, frame);
  ref->args_open = !list;
  return TTM_OK;
}

static int make_created(ttm_scan_unit *unit, ttm_node call, const ttm_eval_frame *frame, void *context) {
  (void)context;
  const ttm_tree *tree = &unit->tree;
  ttm_kernel_ref ref = ref_at(unit, call, frame);
  ref.path = ttm_eval_expression(&unit->eval, ttm_call_argument(tree, call, 1), frame);
  ttm_node config = ttm_call_argument(tree, call, 3);
  if (config && take_config(unit, &ref, config, frame)) return TTM_ENOMEM;
  return ttm_vec_push(&unit->refs, ref);
}

typedef struct described {
  ttm_node list;
  const ttm_name *name;
} described;

static int make_described(ttm_scan_unit *unit, ttm_node site, const ttm_eval_frame *frame, void *context) {
  const described *d = context;
  const char *const members[] = {"kernel_source", "source", "compile_time_args", "named_compile_time_args",
                                 "dfb_bindings"};
  ttm_node value[5];
  for (size_t i = 0; i < 5; i++) {
    value[i] =
        d->name ? ttm_member_of_variable(unit, d->name, members[i]) : ttm_member_of(&unit->tree, d->list, members[i]);
  }
  ttm_kernel_ref ref = ref_at(unit, site, frame);
  ttm_node path = value[0] ? value[0] : value[1];
  if (!path) return TTM_OK;
  ref.path = ttm_eval_expression(&unit->eval, path, frame);
  ref.bindings_open = d->name != NULL;
  if (value[2] && value[0] && take_args(unit, &ref, value[2], frame)) return TTM_ENOMEM;
  if (value[2] && take_named(unit, &ref, value[2], frame)) return TTM_ENOMEM;
  if (!value[2] && d->name) ref.args_open = true; /* statements may add some */
  if (value[3] && take_named(unit, &ref, value[3], frame)) return TTM_ENOMEM;
  if (value[4] && take_bindings_of(unit, &ref, value[4], frame)) return TTM_ENOMEM;
  return ttm_vec_push(&unit->refs, ref);
}

static bool is_kernel_type(const ttm_tree *tree, ttm_node type) {
  ttm_str name = type ? ttm_name_last(tree, type) : (ttm_str){"", 0};
  return ttm_str_eq(name, TTM_LIT("KernelDescriptor")) || ttm_str_eq(name, TTM_LIT("KernelSpec"));
}

static int at_declaration(ttm_scan_unit *unit, ttm_node n) {
  const ttm_tree *tree = &unit->tree;
  described d = {0};
  ttm_node id = ttm_declared_identifier(tree, ttm_tree_field(tree, n, TTM_F_DECLARATOR));
  uint32_t i = id ? ttm_names_first(&unit->names, ttm_tree_text(tree, id)) : UINT32_MAX;
  for (; i != UINT32_MAX; i = unit->names.names.at[i].next) {
    if (unit->names.names.at[i].node == n) d.name = &unit->names.names.at[i];
  }
  return d.name ? make_described(unit, n, NULL, &d) : TTM_OK;
}

int ttm_scan_host_kernels(ttm_scan_unit *unit) {
  const ttm_tree *tree = &unit->tree;
  for (ttm_node n = 1; n < tree->nodes.n; n++) {
    ttm_node_kind kind = ttm_tree_kind(tree, n);
    int status = TTM_OK;
    if (kind == TTM_N_CALL) {
      ttm_node function = ttm_tree_field(tree, n, TTM_F_FUNCTION);
      ttm_node path = ttm_call_argument(tree, n, 1);
      if (function && path && ttm_str_starts(ttm_name_last(tree, function), TTM_LIT("CreateKernel"))) {
        status = ttm_for_each_call(unit, n, make_created, NULL);
      }
    } else if (kind == TTM_N_COMPOUND_LITERAL && is_kernel_type(tree, ttm_tree_field(tree, n, TTM_F_TYPE))) {
      described d = {.list = ttm_list_of(tree, n)};
      status = ttm_for_each_call(unit, n, make_described, &d);
    } else if (kind == TTM_N_DECLARATION && is_kernel_type(tree, ttm_tree_field(tree, n, TTM_F_TYPE))) {
      status = at_declaration(unit, n);
    }
    if (status) return status;
  }
  return TTM_OK;
}
