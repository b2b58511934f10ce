/* SPDX-License-Identifier: Apache-2.0 */
#include "cbscan/unit.h"

enum { MAX_INSTANCES = 256, MAX_HELPERS = 4 };

/* ---- Literals and variables ----------------------------------------------------------------------------------------- */

cbs_node cbs_member_of_variable(const cbs_unit *unit, const cbs_name *name, const char *member) {
  cbs_node found = cbs_member_of(&unit->tree, cbs_list_of(&unit->tree, name->value), ttm_str_of(member));
  for (const cbs_change *change = NULL; (change = cbs_next_change(&unit->names, name, change));) {
    if (change->kind != CBS_CHANGE_FIELD || !ttm_str_eq(change->word, ttm_str_of(member))) continue;
    if (cbs_names_find(&unit->names, name->text, change->node) == name) found = change->value;
  }
  return found;
}

const cbs_name *cbs_name_declared(const cbs_unit *unit, cbs_node n) {
  const cbs_name *found = NULL;
  cbs_node id = cbs_declared_identifier(&unit->tree, cbs_tree_field(&unit->tree, n, CBS_F_DECLARATOR));
  for (const cbs_name *at = NULL; (at = cbs_next_name(&unit->names, cbs_tree_text(&unit->tree, id), at));) {
    if (at->node == n) found = at;
  }
  return found;
}

cbs_node cbs_struct_member(const cbs_unit *unit, const cbs_struct *s, const char *name) {
  return s->name ? cbs_member_of_variable(unit, s->name, name) : cbs_member_of(&unit->tree, s->list, ttm_str_of(name));
}

cbs_node cbs_resolve(const cbs_unit *unit, cbs_node n, const cbs_eval_frame **frame) {
  const cbs_tree *tree = &unit->tree;
  for (int steps = 0; n && steps < 16; steps++) {
    cbs_node_kind kind = cbs_tree_kind(tree, n);
    if (kind == CBS_N_PAREN || kind == CBS_N_POINTER) {
      n = cbs_tree_child(tree, n, 0);
    } else if (kind == CBS_N_CALL) {
      cbs_node function = cbs_tree_field(tree, n, CBS_F_FUNCTION);
      if (!ttm_str_eq(cbs_name_last(tree, function), TTM_LIT("move"))) return n;
      n = cbs_call_argument(tree, n, 0);
    } else if (kind == CBS_N_IDENTIFIER) {
      const cbs_name *name = cbs_name_of(&unit->names, n);
      if (!name || name->kind != CBS_NAME_PARAMETER) return n;
      const cbs_eval_frame *f = *frame;
      while (f && f->function != name->scope) f = f->caller;
      cbs_node argument = f ? cbs_call_argument(tree, f->call, name->index) : 0;
      if (!argument) return n;
      n = argument;
      *frame = f->caller;
    } else {
      return n;
    }
  }
  return n;
}

cbs_node cbs_resolve_value(const cbs_unit *unit, cbs_node n, const cbs_eval_frame **frame, const cbs_name **name) {
  n = cbs_resolve(unit, n, frame);
  *name = cbs_name_of(&unit->names, n);
  return *name ? (*name)->value : cbs_tree_kind(&unit->tree, n) == CBS_N_IDENTIFIER ? 0 : n;
}

/* Expressions are shown where they are given: a parameter of a helper is the argument of its call. */
cbs_expression cbs_evaluate(cbs_unit *unit, cbs_node n, const cbs_eval_frame *frame) {
  const cbs_eval_frame *shown_frame = frame;
  cbs_node shown = cbs_resolve(unit, n, &shown_frame);
  return (cbs_expression){.text = cbs_tree_text(&unit->tree, shown ? shown : n),
                          .value = cbs_eval_expression(&unit->eval, n, frame)};
}

void cbs_conditions_above(const cbs_tree *tree, cbs_node n, bool *conditional, bool *in_loop) {
  for (cbs_node up = cbs_tree_at(tree, n)->parent; up; up = cbs_tree_at(tree, up)->parent) {
    switch (cbs_tree_kind(tree, up)) {
      case CBS_N_IF:
      case CBS_N_CASE:
      case CBS_N_CATCH:
      case CBS_N_TERNARY:
      case CBS_N_PREPROC_IF:
      case CBS_N_PREPROC_IFDEF:
        *conditional = true;
        break;
      case CBS_N_FUNCTION:
      case CBS_N_LAMBDA:
        return;
      default:
        *in_loop |= cbs_is_loop(cbs_tree_kind(tree, up));
    }
  }
}

/* ---- Helpers -------------------------------------------------------------------------------------------------------- */

/* A function that makes a program or its kernels is where its buffers belong; whoever calls it only starts it. */
static bool builds_program(cbs_unit *unit, cbs_node function) {
  static const char *const words[] = {"CreateKernel", "CreateProgram",     "KernelDescriptor",
                                      "KernelSpec",   "ProgramDescriptor", "ProgramSpec"};
  if (function && unit->last_asked.function == function) return unit->last_asked.builds;
  cbs_node body = cbs_tree_field(&unit->tree, function, CBS_F_BODY);
  bool builds = false;
  for (size_t i = 0; body && !builds && i < sizeof words / sizeof *words; i++)
    builds = cbs_text_has_word(cbs_tree_text(&unit->tree, body), ttm_str_of(words[i]));
  unit->last_asked.function = function;
  unit->last_asked.builds = builds;
  return builds;
}

typedef struct instances {
  cbs_unit *unit;
  cbs_node site;
  cbs_make make;
  void *context;
  size_t made;
} instances;

/* Frames are kept outermost call last; each level of helper adds one. */
static int follow_calls(instances *in, cbs_node function, cbs_eval_frame chain[MAX_HELPERS], size_t depth, bool *any) {
  const cbs_tree *tree = &in->unit->tree;
  const cbs_names *names = &in->unit->names;
  ttm_str name = cbs_function_name(tree, function);
  for (const cbs_change *c = NULL; (c = cbs_next_call(names, name, c));) {
    cbs_node call = c->node;
    if (cbs_tree_within(tree, call, function) || cbs_eval_callee(&in->unit->eval, call) != function) continue;
    if (in->made >= MAX_INSTANCES) return TTM_OK;
    *any = true;
    chain[depth] = (cbs_eval_frame){function, call, NULL};
    cbs_node outer = cbs_function_around(tree, call);
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

int cbs_for_each_call(cbs_unit *unit, cbs_node site, cbs_make make, void *context) {
  cbs_node function = cbs_function_around(&unit->tree, site);
  bool any = false;
  if (function && !builds_program(unit, function)) {
    cbs_eval_frame chain[MAX_HELPERS];
    instances in = {unit, site, make, context, 0};
    int status = follow_calls(&in, function, chain, 0, &any);
    if (status || any) return status;
  }
  return make(unit, site, NULL, context);
}

/* ---- Buffers -------------------------------------------------------------------------------------------------------- */

/* The variable a thing is assigned to or initialises. */
static ttm_str holder_name(const cbs_tree *tree, cbs_node n) {
  for (int up = 0; n && up < 3; up++, n = cbs_tree_at(tree, n)->parent) {
    cbs_node_kind kind = cbs_tree_kind(tree, n);
    if (kind == CBS_N_INIT_DECLARATOR || kind == CBS_N_DECLARATION) {
      cbs_node declarator = kind == CBS_N_DECLARATION ? cbs_tree_field(tree, n, CBS_F_DECLARATOR) : n;
      return cbs_tree_text(tree, cbs_declared_identifier(tree, declarator));
    }
    if (kind == CBS_N_ASSIGN) return cbs_tree_text(tree, cbs_tree_field(tree, n, CBS_F_LEFT));
    if (kind == CBS_N_STATEMENT || kind == CBS_N_BLOCK) break;
  }
  return (ttm_str){"", 0};
}

cbs_buffer cbs_buffer_at(cbs_unit *unit, cbs_origin origin, cbs_node site, const cbs_eval_frame *frame) {
  const cbs_tree *tree = &unit->tree;
  cbs_buffer cb = {.origin = origin,
                   .file = unit->file_index,
                   .line = cbs_tree_at(tree, site)->line,
                   .node = site,
                   .name = holder_name(tree, site),
                   .cores = {"", 0},
                   .helper = {"", 0},
                   .total = cbs_evaluate(unit, 0, NULL)};
  cbs_node outermost = site;
  cbs_conditions_above(tree, site, &cb.conditional, &cb.in_loop);
  for (; frame; frame = frame->caller) {
    if (!cb.call_line) cb.helper = cbs_function_name(tree, frame->function);
    cb.call_line = cbs_tree_at(tree, frame->call)->line;
    cbs_conditions_above(tree, frame->call, &cb.conditional, &cb.in_loop);
    if (holder_name(tree, frame->call).n) cb.name = holder_name(tree, frame->call);
    outermost = frame->call;
  }
  cb.function = cbs_function_outermost(tree, outermost);
  return cb;
}

bool cbs_buffer_slots(cbs_unit *unit, cbs_buffer *cb, size_t n) {
  cb->slots = ttm_arena_alloc(unit->arena, n * sizeof *cb->slots);
  if (!cb->slots) return false;
  for (size_t i = 0; i < n; i++) {
    cbs_expression none = cbs_evaluate(unit, 0, NULL);
    cb->slots[i] = (cbs_slot){none, none, none};
  }
  cb->slot_count = n;
  return true;
}

cbs_owner cbs_owner_of(cbs_unit *unit, cbs_node buffer, const cbs_eval_frame *frame) {
  ttm_str text = cbs_tree_text(&unit->tree, buffer);
  if (cbs_text_has_word(text, TTM_LIT("nullopt")) && !ttm_str_contains(text, TTM_LIT("?"))) return CBS_OWN;
  cbs_value value = cbs_eval_expression(&unit->eval, buffer, frame);
  if (!value.n) {
    bool optional = ttm_str_contains(text, TTM_LIT("nullopt")) || ttm_str_contains(text, TTM_LIT("?"));
    return optional ? CBS_EITHER : CBS_GLOBAL;
  }
  bool null = value.type == CBS_VALUE_INT && value.v[0].i == 0;
  return !null ? CBS_GLOBAL : value.open || value.n > 1 ? CBS_EITHER : CBS_OWN;
}
