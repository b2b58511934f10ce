/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels host code names: CreateKernel, KernelDescriptor and KernelSpec, with the compile-time arguments handed over. */
#include "cbscan/unit.h"

enum { MAX_ARGS = 128 };

/* A vector of arguments written out: {a, b, c}, also in a variable with push_back behind. */
static int take_args(cbs_unit *unit, cbs_kernel_ref *ref, cbs_node n, const cbs_eval_frame *frame) {
  const cbs_tree *tree = &unit->tree;
  const cbs_name *name;
  cbs_node use = n;
  n = cbs_resolve_value(unit, n, &frame, &name);
  if (!n && !name) return TTM_OK;
  ref->args = ttm_arena_alloc(unit->arena, MAX_ARGS * sizeof *ref->args);
  if (!ref->args) return TTM_ENOMEM;
  /* std::vector<uint32_t> x = {...} may be written as x({...}) too */
  bool wrapped = cbs_tree_kind(tree, n) == CBS_N_ARGUMENTS;
  cbs_node list = cbs_list_of(tree, wrapped ? cbs_tree_child(tree, n, 0) : n);
  for (cbs_node c = cbs_tree_at(tree, list)->child; c && ref->arg_count < MAX_ARGS; c = cbs_tree_at(tree, c)->next) {
    ref->args[ref->arg_count++] = cbs_evaluate(unit, c, frame);
  }
  if (!name || (n && !list)) return TTM_OK;
  for (const cbs_change *change = NULL; (change = cbs_next_change(&unit->names, name, change));) {
    if (change->node > use) continue;
    bool conditional = false, in_loop = false;
    cbs_conditions_above(tree, change->node, &conditional, &in_loop);
    bool adds = change->kind == CBS_CHANGE_METHOD &&
                (ttm_str_eq(change->word, TTM_LIT("push_back")) || ttm_str_eq(change->word, TTM_LIT("emplace_back")));
    if (!adds || conditional || in_loop || ref->arg_count == MAX_ARGS) {
      if (change->kind == CBS_CHANGE_METHOD && ttm_str_eq(change->word, TTM_LIT("size"))) continue;
      return TTM_OK; /* behind here the numbers are not known */
    }
    ref->args[ref->arg_count++] = cbs_evaluate(unit, cbs_call_argument(tree, change->node, 0), frame);
  }
  return TTM_OK;
}

static int add_named(cbs_unit *unit, cbs_kernel_ref *ref, cbs_node name, cbs_node value, const cbs_eval_frame *frame) {
  cbs_value key = cbs_eval_expression(&unit->eval, name, frame);
  if (key.type != CBS_VALUE_STRING || !cbs_value_is_one(&key) || ref->named_count == MAX_ARGS) return TTM_OK;
  if (!ref->named) {
    ref->named = ttm_arena_alloc(unit->arena, MAX_ARGS * sizeof *ref->named);
    if (!ref->named) return TTM_ENOMEM;
  }
  ref->named[ref->named_count++] = (cbs_kernel_named){key.v[0].t, cbs_eval_expression(&unit->eval, value, frame)};
  return TTM_OK;
}

/* {{"name", value}, ...}, in place or in a variable. */
static int take_named(cbs_unit *unit, cbs_kernel_ref *ref, cbs_node n, const cbs_eval_frame *frame) {
  const cbs_tree *tree = &unit->tree;
  const cbs_name *name;
  cbs_node list = cbs_list_of(tree, cbs_resolve_value(unit, n, &frame, &name));
  for (cbs_node c = cbs_tree_at(tree, list)->child; c; c = cbs_tree_at(tree, c)->next) {
    cbs_node pair = cbs_list_of(tree, c), first = cbs_tree_child(tree, pair, 0), second = cbs_tree_child(tree, pair, 1);
    if (second && add_named(unit, ref, first, second, frame)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* DFBBinding{.dfb_spec_name = X, .accessor_name = "in"} and ProducerOf(X, "in"), anywhere in `n`. */
static int take_bindings(cbs_unit *unit, cbs_kernel_ref *ref, cbs_node n, const cbs_eval_frame *frame) {
  const cbs_tree *tree = &unit->tree;
  for (cbs_node at = n; n && at < cbs_tree_at(tree, n)->after; at++) {
    cbs_node spec = 0, accessor = 0;
    if (cbs_tree_kind(tree, at) == CBS_N_INIT_LIST) {
      spec = cbs_member_of(tree, at, TTM_LIT("dfb_spec_name"));
      accessor = cbs_member_of(tree, at, TTM_LIT("accessor_name"));
    } else if (cbs_tree_kind(tree, at) == CBS_N_CALL) {
      ttm_str name = cbs_name_last(tree, cbs_tree_field(tree, at, CBS_F_FUNCTION));
      if (!ttm_str_eq(name, TTM_LIT("ProducerOf")) && !ttm_str_eq(name, TTM_LIT("ConsumerOf"))) continue;
      spec = cbs_call_argument(tree, at, 0);
      accessor = cbs_call_argument(tree, at, 1);
    }
    if (spec && accessor && add_named(unit, ref, accessor, spec, frame)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Bindings in a variable: its initialiser and every push_back. */
static int take_bindings_of(cbs_unit *unit, cbs_kernel_ref *ref, cbs_node n, const cbs_eval_frame *frame) {
  const cbs_eval_frame *at_frame = frame;
  cbs_node inner = cbs_resolve(unit, n, &at_frame);
  const cbs_name *name = cbs_name_of(&unit->names, inner);
  if (!name) return take_bindings(unit, ref, n, frame);
  if (take_bindings(unit, ref, name->value, at_frame)) return TTM_ENOMEM;
  for (const cbs_change *change = NULL; (change = cbs_next_change(&unit->names, name, change));) {
    if (change->kind == CBS_CHANGE_METHOD && take_bindings(unit, ref, change->value, at_frame)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static cbs_kernel_ref ref_at(cbs_unit *unit, cbs_node site, const cbs_eval_frame *frame) {
  cbs_buffer place = cbs_buffer_at(unit, CBS_CONFIG, site, frame);
  return (cbs_kernel_ref){.file = place.file,
                          .line = place.line,
                          .function = place.function,
                          .node = site,
                          .conditional = place.conditional || place.in_loop};
}

/* ComputeConfig{.compile_args = x}, ReaderDataMovementConfig(x, defines), or a variable of such a type. */
static int take_config(cbs_unit *unit, cbs_kernel_ref *ref, cbs_node config, const cbs_eval_frame *frame) {
  const cbs_tree *tree = &unit->tree;
  config = cbs_resolve(unit, config, &frame);
  cbs_node args = 0, named = 0;
  const cbs_name *name = cbs_name_of(&unit->names, config);
  if (name) {
    args = cbs_member_of_variable(unit, name, "compile_args");
    named = cbs_member_of_variable(unit, name, "named_compile_args");
    if (!args) config = name->value;
  }
  cbs_node list = cbs_list_of(tree, config), first = cbs_tree_child(tree, list, 0);
  if (!args) args = cbs_member_of(tree, list, TTM_LIT("compile_args"));
  if (!named) named = cbs_member_of(tree, list, TTM_LIT("named_compile_args"));
  if (!args && cbs_tree_kind(tree, first) != CBS_N_INIT_PAIR) args = first;
  if (!args && cbs_tree_kind(tree, config) == CBS_N_CALL) args = cbs_call_argument(tree, config, 0);
  if (named && take_named(unit, ref, named, frame)) return TTM_ENOMEM;
  return args ? take_args(unit, ref, args, frame) : TTM_OK;
}

static int make_created(cbs_unit *unit, cbs_node call, const cbs_eval_frame *frame, void *context) {
  (void)context;
  const cbs_tree *tree = &unit->tree;
  cbs_kernel_ref ref = ref_at(unit, call, frame);
  ref.path = cbs_eval_expression(&unit->eval, cbs_call_argument(tree, call, 1), frame);
  cbs_node config = cbs_call_argument(tree, call, 3);
  if (config && take_config(unit, &ref, config, frame)) return TTM_ENOMEM;
  return ttm_vec_push(&unit->refs, ref);
}

static int make_described(cbs_unit *unit, cbs_node site, const cbs_eval_frame *frame, void *context) {
  const cbs_struct *d = context;
  const char *const members[] = {"kernel_source", "source", "compile_time_args", "named_compile_time_args",
                                 "dfb_bindings"};
  cbs_node value[5];
  for (size_t i = 0; i < 5; i++) value[i] = cbs_struct_member(unit, d, members[i]);
  cbs_kernel_ref ref = ref_at(unit, site, frame);
  cbs_node path = value[0] ? value[0] : value[1];
  if (!path) return TTM_OK;
  ref.path = cbs_eval_expression(&unit->eval, path, frame);
  if (value[2] && value[0] && take_args(unit, &ref, value[2], frame)) return TTM_ENOMEM;
  if (value[2] && take_named(unit, &ref, value[2], frame)) return TTM_ENOMEM;
  if (value[3] && take_named(unit, &ref, value[3], frame)) return TTM_ENOMEM;
  if (value[4] && take_bindings_of(unit, &ref, value[4], frame)) return TTM_ENOMEM;
  return ttm_vec_push(&unit->refs, ref);
}

static bool is_kernel_type(const cbs_tree *tree, cbs_node type) {
  ttm_str name = cbs_name_last(tree, type);
  return ttm_str_eq(name, TTM_LIT("KernelDescriptor")) || ttm_str_eq(name, TTM_LIT("KernelSpec"));
}

int cbs_scan_host_kernels(cbs_unit *unit) {
  const cbs_tree *tree = &unit->tree;
  for (cbs_node n = 1; n < tree->nodes.n; n++) {
    cbs_node_kind kind = cbs_tree_kind(tree, n);
    int status = TTM_OK;
    if (kind == CBS_N_CALL) {
      cbs_node function = cbs_tree_field(tree, n, CBS_F_FUNCTION);
      cbs_node path = cbs_call_argument(tree, n, 1);
      if (path && ttm_str_starts(cbs_name_last(tree, function), TTM_LIT("CreateKernel"))) {
        status = cbs_for_each_call(unit, n, make_created, NULL);
      }
    } else if (kind == CBS_N_COMPOUND_LITERAL && is_kernel_type(tree, cbs_tree_field(tree, n, CBS_F_TYPE))) {
      cbs_struct d = {.list = cbs_list_of(tree, n)};
      status = cbs_for_each_call(unit, n, make_described, &d);
    } else if (kind == CBS_N_DECLARATION && is_kernel_type(tree, cbs_tree_field(tree, n, CBS_F_TYPE))) {
      cbs_struct d = {.name = cbs_name_declared(unit, n)};
      if (d.name) status = make_described(unit, n, NULL, &d);
    }
    if (status) return status;
  }
  return TTM_OK;
}
