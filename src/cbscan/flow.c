/* SPDX-License-Identifier: Apache-2.0 */
/* What a variable is worth at one place: its initialiser, then every change on the way there. A branch whose condition is known
 * is the only one taken; of others all are possible. Loops that change it leave it open. */
#include "cbscan/eval.h"

typedef struct walk {
  cbs_eval *eval;
  const cbs_name *name;
  cbs_node at;
  const cbs_eval_frame *frame;
  uint32_t depth;
  bool escapes; /* somewhere: most variables never do */
} walk;

/* Statements walked through for all variables of a source: of tt-metal's own one has 1,024,784, the others a tenth. Behind them nothing is sure. */
enum { MAX_DEPTH = 200, MAX_REFERENCES = 50, MAX_WALKED = 1 << 22 };

/* True when a change of the variable stands in `n`. */
static bool changes_in(const walk *w, cbs_node n, bool *accumulates) {
  bool found = false;
  const cbs_names *names = w->eval->names;
  for (const cbs_change *change = NULL; (change = cbs_next_change_in(names, w->name, n, change));) {
    if (change->kind != CBS_CHANGE_ASSIGN && change->kind != CBS_CHANGE_STEP) continue;
    if (cbs_tree_within(w->eval->tree, change->node, w->name->node) && w->name->kind != CBS_NAME_PARAMETER) continue;
    found = true;
    if (!accumulates) break;
    if (!ttm_str_eq(change->word, TTM_LIT("="))) *accumulates = true;
  }
  for (const cbs_change *e = NULL; w->escapes && !found && (e = cbs_next_escape_in(names, w->name, n, e));)
    found = cbs_eval_may_write(w->eval, w->name, e);
  return found;
}

/* From this node on the variable may be written to where nobody looks. */
static bool escapes_at(const walk *w, cbs_node n) {
  if (!w->escapes || cbs_tree_within(w->eval->tree, w->at, n)) return false;
  const cbs_names *names = w->eval->names;
  for (const cbs_change *e = NULL; (e = cbs_next_escape_in(names, w->name, n, e)) && e->node == n;)
    if (cbs_eval_may_write(w->eval, w->name, e)) return true;
  return false;
}

static cbs_value open_value(const walk *w, cbs_value s) {
  cbs_value unknown = cbs_value_unknown(w->name->text);
  return cbs_value_union(&s, &unknown);
}

static cbs_value apply(walk *w, cbs_node n, cbs_value s);

static cbs_value apply_children(walk *w, cbs_node n, cbs_value s) {
  const cbs_tree *tree = w->eval->tree;
  for (cbs_node c = cbs_tree_at(tree, n)->child; c && c <= w->at; c = cbs_tree_at(tree, c)->next) {
    s = apply(w, c, s);
  }
  return s;
}

static cbs_value apply_if(walk *w, cbs_node n, cbs_value s) {
  const cbs_tree *tree = w->eval->tree;
  cbs_node condition = cbs_tree_field(tree, n, CBS_F_CONDITION);
  cbs_node yes = cbs_tree_field(tree, n, CBS_F_CONSEQUENCE), no = cbs_tree_field(tree, n, CBS_F_ALTERNATIVE);
  if (condition) s = apply(w, condition, s);
  if (condition && cbs_tree_within(tree, w->at, condition)) return s;
  if (yes && cbs_tree_within(tree, w->at, yes)) return apply(w, yes, s);
  if (no && cbs_tree_within(tree, w->at, no)) return apply(w, no, s);
  cbs_value test = cbs_eval_node(w->eval, condition, w->frame);
  int truth = cbs_value_truth(&test);
  if (truth >= 0) { /* known, perhaps only because the user said so */
    cbs_node way = truth ? yes : no;
    if (way) s = apply(w, way, s);
    s.varies |= test.varies;
    return s;
  }
  cbs_value otherwise = no ? apply(w, no, s) : s;
  cbs_value taken = yes ? apply(w, yes, s) : s;
  s = cbs_value_union(&taken, &otherwise);
  s.varies = true;
  return s;
}

static cbs_value apply_loop(walk *w, cbs_node n, cbs_value s) {
  const cbs_tree *tree = w->eval->tree;
  bool accumulates = false;
  changes_in(w, n, &accumulates);
  if (cbs_tree_within(tree, w->at, n)) return apply_children(w, n, open_value(w, s));
  cbs_value once = apply_children(w, n, s);
  s = accumulates ? open_value(w, s) : cbs_value_union(&s, &once);
  s.varies = true;
  return s;
}

static cbs_value apply_switch(walk *w, cbs_node n, cbs_value s) {
  const cbs_tree *tree = w->eval->tree;
  if (cbs_tree_within(tree, w->at, n)) return apply_children(w, n, s);
  cbs_node body = cbs_tree_field(tree, n, CBS_F_BODY);
  cbs_value all = s;
  for (cbs_node c = body ? cbs_tree_at(tree, body)->child : 0; c; c = cbs_tree_at(tree, c)->next) {
    cbs_value one = apply(w, c, s);
    all = cbs_value_union(&all, &one);
  }
  all.varies = true;
  return all;
}

static cbs_value apply_assignment(walk *w, cbs_node n, cbs_value s) {
  const cbs_tree *tree = w->eval->tree;
  cbs_node left = cbs_tree_field(tree, n, CBS_F_LEFT), right = cbs_tree_field(tree, n, CBS_F_RIGHT);
  cbs_node op_node = cbs_tree_field(tree, n, CBS_F_OPERATOR);
  ttm_str op = op_node ? cbs_tree_text(tree, op_node) : TTM_LIT("=");
  bool ours =
      left && cbs_tree_kind(tree, left) == CBS_N_IDENTIFIER && ttm_str_eq(cbs_tree_text(tree, left), w->name->text);
  if (cbs_tree_within(tree, w->at, n) || !ours || !right) return apply_children(w, n, s);
  cbs_value value = cbs_eval_node(w->eval, right, w->frame);
  if (ttm_str_eq(op, TTM_LIT("="))) return value;
  return cbs_value_binary(ttm_str_first(op, op.n - 1), &s, &value);
}

static cbs_value apply_step(walk *w, cbs_node n, cbs_value s) {
  const cbs_tree *tree = w->eval->tree;
  cbs_node operand = cbs_tree_field(tree, n, CBS_F_ARGUMENT), op = cbs_tree_field(tree, n, CBS_F_OPERATOR);
  if (!operand || !op || !ttm_str_eq(cbs_tree_text(tree, operand), w->name->text)) return s;
  cbs_value one = cbs_value_int(1);
  return cbs_value_binary(ttm_str_first(cbs_tree_text(tree, op), 1), &s, &one);
}

/* `s` after the part of `n` that comes before the use. */
static cbs_value apply(walk *w, cbs_node n, cbs_value s) {
  w->eval->walked++;
  if (n >= w->at || !changes_in(w, n, NULL)) return s;
  if (w->depth >= MAX_DEPTH || w->eval->walked >= MAX_WALKED) return open_value(w, s);
  w->depth++;
  cbs_node_kind kind = cbs_tree_kind(w->eval->tree, n);
  switch (kind) {
    case CBS_N_IF:
      s = apply_if(w, n, s);
      break;
    case CBS_N_SWITCH:
      s = apply_switch(w, n, s);
      break;
    case CBS_N_LAMBDA: /* runs when it is called, if ever */
      s = cbs_tree_within(w->eval->tree, w->at, n) ? apply_children(w, n, s) : open_value(w, s);
      break;
    case CBS_N_PREPROC_IF:
    case CBS_N_PREPROC_IFDEF: {
      cbs_value built = apply_children(w, n, s);
      s = cbs_tree_within(w->eval->tree, w->at, n) ? built : cbs_value_union(&s, &built);
      break;
    }
    case CBS_N_ASSIGN:
      s = apply_assignment(w, n, s);
      break;
    case CBS_N_UPDATE:
      s = apply_step(w, n, s);
      break;
    default:
      s = cbs_is_loop(kind) ? apply_loop(w, n, s) : apply_children(w, n, s);
  }
  if (escapes_at(w, n)) s = cbs_value_unknown(w->name->text);
  w->depth--;
  return s;
}

/* ---- Where it starts ---------------------------------------------------------------------------------------------- */

/* Every call of the function in the file may be the one that counts. */
static cbs_value parameter_of_any_call(cbs_eval *eval, const cbs_name *name) {
  const cbs_tree *tree = eval->tree;
  ttm_str text = name->text;
  ttm_str function = cbs_function_name(tree, name->scope);
  cbs_value all = {0};
  size_t calls = 0;
  for (const cbs_change *c = NULL; (c = cbs_next_call(eval->names, function, c));) {
    cbs_node call = c->node;
    if (cbs_tree_within(tree, call, name->scope) || cbs_eval_callee(eval, call) != name->scope) continue;
    if (++calls > 6) break;
    cbs_node argument = cbs_call_argument(tree, call, name->index);
    if (!argument) argument = name->value;
    cbs_value one = argument ? cbs_eval_node(eval, argument, NULL) : cbs_value_unknown(text);
    all = calls == 1 ? one : cbs_value_union(&all, &one);
  }
  if (!calls || calls > 6) return cbs_value_unknown(text);
  if (calls > 1) all.varies = true;
  return all;
}

/* The variable that a reference stands for; NULL when it is none, or one for something else. */
static const cbs_name *target_of(const cbs_eval *eval, const cbs_name *name) {
  const cbs_tree *tree = eval->tree;
  cbs_node d = cbs_tree_field(tree, name->node, CBS_F_DECLARATOR);
  if (name->kind != CBS_NAME_VARIABLE) return NULL;
  if (cbs_tree_kind(tree, d) == CBS_N_INIT_DECLARATOR) d = cbs_tree_field(tree, d, CBS_F_DECLARATOR);
  bool refers = cbs_tree_kind(tree, d) == CBS_N_REFERENCE_DECLARATOR;
  return refers ? cbs_name_of(eval->names, name->value) : NULL;
}

static cbs_value first_value(cbs_eval *eval, const cbs_name *name, cbs_node at, const cbs_eval_frame *frame) {
  ttm_str text = name->text;
  const cbs_name *target = target_of(eval, name);
  if (target && target != name && eval->depth < MAX_REFERENCES) return cbs_flow_value(eval, target, at, frame);
  if (name->kind == CBS_NAME_PARAMETER) {
    for (; frame; frame = frame->caller) {
      if (frame->function != name->scope) continue;
      cbs_node argument = cbs_call_argument(eval->tree, frame->call, name->index);
      if (argument) return cbs_eval_node(eval, argument, frame->caller);
      return name->value ? cbs_eval_node(eval, name->value, NULL) : cbs_value_unknown(text);
    }
    return parameter_of_any_call(eval, name);
  }
  if (name->is_loop || name->kind == CBS_NAME_BINDING || !name->value) return cbs_value_unknown(text);
  cbs_value value = cbs_eval_initialiser(eval, name->value, frame);
  if (name->kind == CBS_NAME_MEMBER &&
      !cbs_is_const(eval->tree, name->node)) { /* whoever makes the object may set it */
    cbs_value other = cbs_value_unknown(text);
    value = cbs_value_union(&value, &other);
  }
  /* Under #if there is another build without it, or with another one. */
  cbs_node_kind above = cbs_tree_kind(eval->tree, cbs_tree_at(eval->tree, name->node)->parent);
  if (above == CBS_N_PREPROC_IF || above == CBS_N_PREPROC_IFDEF || above == CBS_N_PREPROC_ELSE) value.varies = true;
  return value;
}

/* Functions run in an order that the text does not tell: what another one than that of the use changes is not known. */
static bool changes_elsewhere(const walk *w) {
  const cbs_tree *tree = w->eval->tree;
  cbs_node here = cbs_function_outermost(tree, w->at);
  if (w->name->scope != 1 || w->name->kind != CBS_NAME_VARIABLE || cbs_is_const(tree, w->name->node)) return false;
  for (const cbs_change *c = NULL; (c = cbs_next_change(w->eval->names, w->name, c));)
    if ((c->kind == CBS_CHANGE_ASSIGN || c->kind == CBS_CHANGE_STEP) && cbs_function_outermost(tree, c->node) != here &&
        cbs_names_find(w->eval->names, w->name->text, c->node) == w->name)
      return true;
  return false;
}

cbs_value cbs_flow_value(cbs_eval *eval, const cbs_name *name, cbs_node at, const cbs_eval_frame *frame) {
  walk w = {.eval = eval, .name = name, .at = at};
  cbs_eval_leave(eval, name, &w.at, &frame);
  w.frame = frame;
  w.escapes = cbs_eval_may_have_written(eval, name, (cbs_node)eval->tree->nodes.n);
  size_t index = (size_t)(name - eval->names->names.at);
  bool changed = changes_in(&w, name->scope, NULL);
  if (!changed && !frame && eval->known[index]) return *eval->known[index];
  if (changed && changes_elsewhere(&w)) return cbs_value_unknown(name->text);
  cbs_value value = first_value(eval, name, w.at, frame);
  if (name->is_loop) return value;
  if (changed) return apply(&w, name->scope, value);
  if (!frame && !target_of(eval, name)) {
    cbs_value *kept = ttm_arena_alloc(eval->arena, sizeof *kept);
    if (kept) *kept = value;
    eval->known[index] = kept;
  }
  return value;
}
