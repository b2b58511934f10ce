/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/scan_unit.h"

enum { MAX_INSTANCES = 256, MAX_HELPERS = 4 };

/* ---- Literals and variables ----------------------------------------------------------------------------------------- */

ttm_node ttm_list_of(const ttm_tree *tree, ttm_node n) {
  if (!n) return 0;
  if (ttm_tree_kind(tree, n) == TTM_N_INIT_LIST) return n;
  if (ttm_tree_kind(tree, n) != TTM_N_COMPOUND_LITERAL) return 0;
  n = ttm_tree_field(tree, n, TTM_F_VALUE);
  return n && ttm_tree_kind(tree, n) == TTM_N_INIT_LIST ? n : 0;
}

ttm_node ttm_member_of(const ttm_tree *tree, ttm_node list, const char *name) {
  for (ttm_node pair = list ? ttm_tree_at(tree, list)->child : 0; pair; pair = ttm_tree_at(tree, pair)->next) {
    ttm_node designator = ttm_tree_field(tree, pair, TTM_F_DESIGNATOR);
    if (!designator || ttm_tree_kind(tree, pair) != TTM_N_INIT_PAIR) continue;
    if (ttm_str_eq(ttm_str_from(ttm_tree_text(tree, designator), 1), ttm_str_of(name))) {
      return ttm_tree_field(tree, pair, TTM_F_VALUE);
    }
  }
  return 0;
}

ttm_node ttm_member_of_variable(const ttm_scan_unit *unit, const ttm_name *name, const char *member) {
  const ttm_names *names = &unit->names;
  ttm_node found = name->value ? ttm_member_of(&unit->tree, ttm_list_of(&unit->tree, name->value), member) : 0;
  ttm_str text = name->text;
  for (uint32_t i = ttm_changes_first(names, text); i != UINT32_MAX; i = names->changes.at[i].next) {
    const ttm_change *change = &names->changes.at[i];
    if (change->kind != TTM_CHANGE_FIELD || change->node < name->node || !ttm_str_eq(change->word, ttm_str_of(member)))
      continue;
    if (!ttm_tree_within(&unit->tree, change->node, name->scope)) continue;
    if (ttm_names_find(names, text, change->node) == name) found = change->value;
  }
  return found;
}

ttm_node ttm_resolve(const ttm_scan_unit *unit, ttm_node n, const ttm_eval_frame **frame) {
  const ttm_tree *tree = &unit->tree;
  for (int steps = 0; n && steps < 16; steps++) {
    ttm_node_kind kind = ttm_tree_kind(tree, n);
    if (kind == TTM_N_PAREN || kind == TTM_N_POINTER) {
      n = ttm_tree_child(tree, n, 0);
    } else if (kind == TTM_N_CALL) {
      ttm_node function = ttm_tree_field(tree, n, TTM_F_FUNCTION);
      if (!function || !ttm_str_eq(ttm_name_last(tree, function), TTM_LIT("move"))) return n;
      n = ttm_call_argument(tree, n, 0);
    } else if (kind == TTM_N_IDENTIFIER) {
      const ttm_name *name = ttm_names_find(&unit->names, ttm_tree_text(tree, n), n);
      if (!name || name->kind != TTM_NAME_PARAMETER) return n;
      const ttm_eval_frame *f = *frame;
      while (f && f->function != name->scope) f = f->caller;
      ttm_node argument = f ? ttm_call_argument(tree, f->call, name->index) : 0;
      if (!argument) return n;
      n = argument;
      *frame = f->caller;
    } else {
      return n;
    }
  }
  return n;
}

/* Expressions are shown where they are given: a parameter of a helper is the argument of its call. */
ttm_cb_expression ttm_expression(ttm_scan_unit *unit, ttm_node n, const ttm_eval_frame *frame) {
  ttm_cb_expression out = {.text = {"", 0}};
  if (!n) {
    out.value = ttm_value_unknown((ttm_str){0});
    return out;
  }
  const ttm_eval_frame *shown_frame = frame;
  ttm_node shown = ttm_resolve(unit, n, &shown_frame);
  out.text = ttm_tree_text(&unit->tree, shown ? shown : n);
  out.value = ttm_eval_expression(&unit->eval, n, frame);
  return out;
}

void ttm_conditions_above(const ttm_tree *tree, ttm_node n, bool *conditional, bool *in_loop) {
  for (ttm_node up = ttm_tree_at(tree, n)->parent; up; up = ttm_tree_at(tree, up)->parent) {
    switch (ttm_tree_kind(tree, up)) {
      case TTM_N_IF:
      case TTM_N_CASE:
      case TTM_N_CATCH:
      case TTM_N_TERNARY:
      case TTM_N_PREPROC_IF:
      case TTM_N_PREPROC_IFDEF:
        *conditional = true;
        break;
      case TTM_N_FOR:
      case TTM_N_FOR_RANGE:
      case TTM_N_WHILE:
      case TTM_N_DO:
        *in_loop = true;
        break;
      case TTM_N_FUNCTION:
      case TTM_N_LAMBDA:
        return;
      default:
        break;
    }
  }
}

/* ---- Helpers -------------------------------------------------------------------------------------------------------- */

/* A function that makes a program or its kernels is where its buffers belong; whoever calls it only starts it. */
static bool builds_program(ttm_scan_unit *unit, ttm_node function) {
  static const char *const words[] = {"CreateKernel", "CreateProgram",     "KernelDescriptor",
                                      "KernelSpec",   "ProgramDescriptor", "ProgramSpec"};
  if (function && unit->last_asked.function == function) return unit->last_asked.builds;
  ttm_node body = function ? ttm_tree_field(&unit->tree, function, TTM_F_BODY) : 0;
  bool builds = false;
  for (size_t i = 0; body && !builds && i < sizeof words / sizeof *words; i++)
    builds = ttm_text_has_word(ttm_tree_text(&unit->tree, body), ttm_str_of(words[i]));
  unit->last_asked.function = function;
  unit->last_asked.builds = builds;
  return builds;
}

typedef struct instances {
  ttm_scan_unit *unit;
  ttm_node site;
  ttm_make make;
  void *context;
  size_t made;
} instances;

/* Frames are kept outermost call last; each level of helper adds one. */
static int follow_calls(instances *in, ttm_node function, ttm_eval_frame chain[MAX_HELPERS], size_t depth, bool *any) {
  const ttm_tree *tree = &in->unit->tree;
  const ttm_names *names = &in->unit->names;
  ttm_str name = ttm_function_name(tree, function);
  for (uint32_t i = name.n ? ttm_calls_first(names, name) : UINT32_MAX; i != UINT32_MAX; i = names->calls.at[i].next) {
    ttm_node call = names->calls.at[i].node;
    if (ttm_tree_within(tree, call, function) || ttm_eval_callee(&in->unit->eval, call) != function) continue;
    if (in->made >= MAX_INSTANCES) return TTM_OK;
    *any = true;
    chain[depth] = (ttm_eval_frame){function, call, NULL};
    ttm_node outer = ttm_function_around(tree, call);
    bool followed = false;
    if (outer && depth + 1 < MAX_HELPERS && !builds_program(in->unit, outer)) {
      int status = follow_calls(in, outer, chain, depth + 1, &followed);
      if (status) return status;
    }
    if (followed) continue;
    /* The chain runs from the innermost helper outwards: link it so. */
    for (size_t d = 0; d <= depth; d++) chain[d].caller = d == depth ? NULL : &chain[d + 1];
    in->made++;
    int status = in->make(in->unit, in->site, &chain[0], in->context);
    if (status) return status;
  }
  return TTM_OK;
}

int ttm_for_each_call(ttm_scan_unit *unit, ttm_node site, ttm_make make, void *context) {
  ttm_node function = ttm_function_around(&unit->tree, site);
  bool any = false;
  if (function && !builds_program(unit, function)) {
    ttm_eval_frame chain[MAX_HELPERS];
    instances in = {unit, site, make, context, 0};
    int status = follow_calls(&in, function, chain, 0, &any);
    if (status || any) return status;
  }
  return make(unit, site, NULL, context);
}

/* ---- Buffers -------------------------------------------------------------------------------------------------------- */

/* The variable a thing is assigned to or initialises. */
static ttm_str holder_name(const ttm_tree *tree, ttm_node n) {
  for (int up = 0; n && up < 3; up++, n = ttm_tree_at(tree, n)->parent) {
    ttm_node_kind kind = ttm_tree_kind(tree, n);
    if (kind == TTM_N_INIT_DECLARATOR || kind == TTM_N_DECLARATION) {
      ttm_node id =
          ttm_declared_identifier(tree, kind == TTM_N_DECLARATION ? ttm_tree_field(tree, n, TTM_F_DECLARATOR) : n);
      return id ? ttm_tree_text(tree, id) : (ttm_str){"", 0};
    }
    if (kind == TTM_N_ASSIGN) return ttm_tree_text(tree, ttm_tree_field(tree, n, TTM_F_LEFT));
    if (kind == TTM_N_STATEMENT || kind == TTM_N_BLOCK) break;
  }
  return (ttm_str){"", 0};
}

ttm_cb ttm_cb_at(ttm_scan_unit *unit, ttm_cb_origin origin, ttm_node site, const ttm_eval_frame *frame) {
  const ttm_tree *tree = &unit->tree;
  ttm_cb cb = {.origin = origin,
               .file = unit->file_index,
               .line = ttm_tree_at(tree, site)->line,
               .node = site,
               .name = holder_name(tree, site),
               .cores = {"", 0},
               .helper = {"", 0},
               .total = {.text = {"", 0}, .value = ttm_value_unknown((ttm_str){0})}};
  ttm_node outermost = site;
  ttm_conditions_above(tree, site, &cb.conditional, &cb.in_loop);
  for (; frame; frame = frame->caller) {
    if (!cb.call_line) cb.helper = ttm_function_name(tree, frame->function);
    cb.call_line = ttm_tree_at(tree, frame->call)->line;
    ttm_conditions_above(tree, frame->call, &cb.conditional, &cb.in_loop);
    if (holder_name(tree, frame->call).n) cb.name = holder_name(tree, frame->call);
    outermost = frame->call;
  }
  cb.function = ttm_function_outermost(tree, outermost);
  return cb;
}

bool ttm_cb_slots(ttm_scan_unit *unit, ttm_cb *cb, size_t n) {
  cb->slots = ttm_arena_alloc(unit->arena, n * sizeof *cb->slots);
  if (!cb->slots) return false;
  for (size_t i = 0; i < n; i++) {
    ttm_cb_expression none = {.text = {"", 0}, .value = ttm_value_unknown((ttm_str){0})};
    cb->slots[i] = (ttm_cb_slot){none, none, none};
  }
  cb->slot_count = n;
  return true;
}

ttm_cb_owner ttm_cb_owner_of(ttm_scan_unit *unit, ttm_node buffer, const ttm_eval_frame *frame) {
  ttm_str text = ttm_tree_text(&unit->tree, buffer);
  if (ttm_text_has_word(text, TTM_LIT("nullopt")) && !ttm_str_contains(text, TTM_LIT("?"))) return TTM_CB_OWN;
  ttm_scan_value value = ttm_eval_expression(&unit->eval, buffer, frame);
  if (!value.n) {
    bool optional = ttm_str_contains(text, TTM_LIT("nullopt")) || ttm_str_contains(text, TTM_LIT("?"));
    return optional ? TTM_CB_EITHER : TTM_CB_GLOBAL;
  }
  bool null = value.type == TTM_VALUE_INT && value.v[0].i == 0;
  return !null ? TTM_CB_GLOBAL : value.open || value.n > 1 ? TTM_CB_EITHER : TTM_CB_OWN;
}
