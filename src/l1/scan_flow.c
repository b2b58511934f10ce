/* SPDX-License-Identifier: Apache-2.0 */
/* What a variable is worth at one place: its initialiser, then every change on the way there. A branch whose condition is known
 * is the only one taken; of others all are possible. Loops that change it leave it open. */
#include "l1/scan_eval.h"

typedef struct walk {
  ttm_eval *eval;
  const ttm_name *name;
  ttm_node at;
  const ttm_eval_frame *frame;
  uint32_t depth;
} walk;

enum { MAX_DEPTH = 200 };

static ttm_str name_text(const walk *w) { return w->name->text; }

/* True when a change of the variable stands in `n`. */
static bool changes_in(const walk *w, ttm_node n, bool *accumulates) {
  const ttm_names *names = w->eval->names;
  ttm_node after = ttm_tree_at(w->eval->tree, n)->after;
  bool found = false;
  for (uint32_t i = ttm_changes_first(names, name_text(w)); i != UINT32_MAX; i = names->changes.at[i].next) {
    const ttm_change *change = &names->changes.at[i];
    if (change->kind != TTM_CHANGE_ASSIGN && change->kind != TTM_CHANGE_STEP) continue;
    if (change->node <= w->name->node || change->node < n || change->node >= after) continue;
    if (ttm_tree_within(w->eval->tree, change->node, w->name->node) && w->name->kind != TTM_NAME_PARAMETER) continue;
    found = true;
    if (accumulates && !ttm_str_eq(change->word, TTM_LIT("="))) *accumulates = true;
  }
  return found;
}

static ttm_scan_value open_value(const walk *w, ttm_scan_value s) {
  ttm_scan_value unknown = ttm_value_unknown(name_text(w));
  return ttm_value_union(&s, &unknown);
}

static ttm_scan_value apply(walk *w, ttm_node n, ttm_scan_value s);

static ttm_scan_value apply_children(walk *w, ttm_node n, ttm_scan_value s) {
  const ttm_tree *tree = w->eval->tree;
  for (ttm_node c = ttm_tree_at(tree, n)->child; c && c <= w->at; c = ttm_tree_at(tree, c)->next) {
    s = apply(w, c, s);
  }
  return s;
}

static ttm_scan_value apply_if(walk *w, ttm_node n, ttm_scan_value s) {
  const ttm_tree *tree = w->eval->tree;
  ttm_node condition = ttm_tree_field(tree, n, TTM_F_CONDITION);
  ttm_node yes = ttm_tree_field(tree, n, TTM_F_CONSEQUENCE), no = ttm_tree_field(tree, n, TTM_F_ALTERNATIVE);
  if (condition) s = apply(w, condition, s);
  if (condition && ttm_tree_within(tree, w->at, condition)) return s;
  if (yes && ttm_tree_within(tree, w->at, yes)) return apply(w, yes, s);
  if (no && ttm_tree_within(tree, w->at, no)) return apply(w, no, s);
  ttm_scan_value test = condition ? ttm_eval_node(w->eval, condition, w->frame) : ttm_value_unknown((ttm_str){0});
  int truth = ttm_value_truth(&test);
  if (truth >= 0) { /* known, perhaps only because the user said so */
    ttm_node way = truth ? yes : no;
    if (way) s = apply(w, way, s);
    s.varies |= test.varies;
    return s;
  }
  ttm_scan_value otherwise = no ? apply(w, no, s) : s;
  ttm_scan_value taken = yes ? apply(w, yes, s) : s;
  s = ttm_value_union(&taken, &otherwise);
  s.varies = true;
  return s;
}

static ttm_scan_value apply_loop(walk *w, ttm_node n, ttm_scan_value s) {
  const ttm_tree *tree = w->eval->tree;
  bool accumulates = false;
  changes_in(w, n, &accumulates);
  if (ttm_tree_within(tree, w->at, n)) return apply_children(w, n, open_value(w, s));
  ttm_scan_value once = apply_children(w, n, s);
  s = accumulates ? open_value(w, s) : ttm_value_union(&s, &once);
  s.varies = true;
  return s;
}

static ttm_scan_value apply_switch(walk *w, ttm_node n, ttm_scan_value s) {
  const ttm_tree *tree = w->eval->tree;
  if (ttm_tree_within(tree, w->at, n)) return apply_children(w, n, s);
  ttm_node body = ttm_tree_field(tree, n, TTM_F_BODY);
  ttm_scan_value all = s;
  for (ttm_node c = body ? ttm_tree_at(tree, body)->child : 0; c; c = ttm_tree_at(tree, c)->next) {
    ttm_scan_value one = apply(w, c, s);
    all = ttm_value_union(&all, &one);
  }
  all.varies = true;
  return all;
}

static ttm_scan_value apply_assignment(walk *w, ttm_node n, ttm_scan_value s) {
  const ttm_tree *tree = w->eval->tree;
  ttm_node left = ttm_tree_field(tree, n, TTM_F_LEFT), right = ttm_tree_field(tree, n, TTM_F_RIGHT);
  ttm_node op_node = ttm_tree_field(tree, n, TTM_F_OPERATOR);
  ttm_str op = op_node ? ttm_tree_text(tree, op_node) : TTM_LIT("=");
  bool ours =
      left && ttm_tree_kind(tree, left) == TTM_N_IDENTIFIER && ttm_str_eq(ttm_tree_text(tree, left), name_text(w));
  if (ttm_tree_within(tree, w->at, n) || !ours || !right) return apply_children(w, n, s);
  ttm_scan_value value = ttm_eval_node(w->eval, right, w->frame);
  if (ttm_str_eq(op, TTM_LIT("="))) return value;
  return ttm_value_binary(ttm_str_first(op, op.n - 1), &s, &value);
}

static ttm_scan_value apply_step(walk *w, ttm_node n, ttm_scan_value s) {
  const ttm_tree *tree = w->eval->tree;
  ttm_node operand = ttm_tree_field(tree, n, TTM_F_ARGUMENT), op = ttm_tree_field(tree, n, TTM_F_OPERATOR);
  if (!operand || !op || !ttm_str_eq(ttm_tree_text(tree, operand), name_text(w))) return s;
  ttm_scan_value one = ttm_value_int(1);
  return ttm_value_binary(ttm_str_first(ttm_tree_text(tree, op), 1), &s, &one);
}

/* `s` after the part of `n` that comes before the use. */
static ttm_scan_value apply(walk *w, ttm_node n, ttm_scan_value s) {
  if (n >= w->at || !changes_in(w, n, NULL)) return s;
  if (w->depth >= MAX_DEPTH) return open_value(w, s);
  w->depth++;
  switch (ttm_tree_kind(w->eval->tree, n)) {
    case TTM_N_IF:
      s = apply_if(w, n, s);
      break;
    case TTM_N_FOR:
    case TTM_N_FOR_RANGE:
    case TTM_N_WHILE:
    case TTM_N_DO:
      s = apply_loop(w, n, s);
      break;
    case TTM_N_SWITCH:
      s = apply_switch(w, n, s);
      break;
    case TTM_N_LAMBDA: /* runs when it is called, if ever */
      s = ttm_tree_within(w->eval->tree, w->at, n) ? apply_children(w, n, s) : open_value(w, s);
      break;
    case TTM_N_PREPROC_IF:
    case TTM_N_PREPROC_IFDEF: {
      ttm_scan_value built = apply_children(w, n, s);
      s = ttm_tree_within(w->eval->tree, w->at, n) ? built : ttm_value_union(&s, &built);
      break;
    }
    case TTM_N_ASSIGN:
      s = apply_assignment(w, n, s);
      break;
    case TTM_N_UPDATE:
      s = apply_step(w, n, s);
      break;
    default:
      s = apply_children(w, n, s);
  }
  w->depth--;
  return s;
}

/* ---- Where it starts ---------------------------------------------------------------------------------------------- */

/* Every call of the function in the file may be the one that counts. */
static ttm_scan_value parameter_of_any_call(ttm_eval *eval, const ttm_name *name) {
  const ttm_tree *tree = eval->tree;
  ttm_str text = name->text;
  ttm_str function = ttm_function_name(tree, name->scope);
  ttm_scan_value all = {0};
  size_t calls = 0;
  for (uint32_t i = ttm_calls_first(eval->names, function); function.n && i != UINT32_MAX;
       i = eval->names->calls.at[i].next) {
    ttm_node call = eval->names->calls.at[i].node;
    if (ttm_tree_within(tree, call, name->scope) || ttm_eval_callee(eval, call) != name->scope) continue;
    if (++calls > 6) break;
    ttm_node argument = ttm_call_argument(tree, call, name->index);
    if (!argument) argument = name->value;
    ttm_scan_value one = argument ? ttm_eval_node(eval, argument, NULL) : ttm_value_unknown(text);
    all = calls == 1 ? one : ttm_value_union(&all, &one);
  }
  if (!calls || calls > 6) return ttm_value_unknown(text);
  if (calls > 1) all.varies = true;
  return all;
}

static ttm_scan_value first_value(ttm_eval *eval, const ttm_name *name, const ttm_eval_frame *frame) {
  ttm_str text = name->text;
  if (name->kind == TTM_NAME_PARAMETER) {
    for (; frame; frame = frame->caller) {
      if (frame->function != name->scope) continue;
      ttm_node argument = ttm_call_argument(eval->tree, frame->call, name->index);
      if (argument) return ttm_eval_node(eval, argument, frame->caller);
      return name->value ? ttm_eval_node(eval, name->value, NULL) : ttm_value_unknown(text);
    }
    return parameter_of_any_call(eval, name);
  }
  if (name->is_loop || name->kind == TTM_NAME_BINDING || !name->value) return ttm_value_unknown(text);
  ttm_scan_value value = ttm_eval_initialiser(eval, name->value, frame);
  /* Under #if there is another build without it, or with another one. */
  ttm_node_kind above = ttm_tree_kind(eval->tree, ttm_tree_at(eval->tree, name->node)->parent);
  if (above == TTM_N_PREPROC_IF || above == TTM_N_PREPROC_IFDEF || above == TTM_N_PREPROC_ELSE) value.varies = true;
  return value;
}

ttm_scan_value ttm_flow_value(ttm_eval *eval, const ttm_name *name, ttm_node at, const ttm_eval_frame *frame) {
  walk w = {.eval = eval, .name = name, .at = at};
  ttm_eval_leave(eval, name, &w.at, &frame);
  w.frame = frame;
  size_t index = (size_t)(name - eval->names->names.at);
  bool changed = changes_in(&w, name->scope, NULL);
  if (!changed && !frame && eval->known[index]) return *eval->known[index];
  ttm_scan_value value = first_value(eval, name, frame);
  if (name->is_loop) return value;
  if (changed) return apply(&w, name->scope, value);
  if (!frame) {
    ttm_scan_value *kept = ttm_arena_alloc(eval->arena, sizeof *kept);
    if (kept) *kept = value;
    eval->known[index] = kept;
  }
  return value;
}
