/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers described by a struct: CBDescriptor and DataflowBufferSpec (or Config), as a literal or a variable filled by statements. */
#include "base/buf.h"
#include "cbscan/unit.h"

/* ---- CBDescriptor --------------------------------------------------------------------------------------------------- */

/* A CBFormatDescriptor: literal with or without names, or a variable. */
static void fill_slot(cbs_unit *unit, cbs_slot *slot, cbs_node n, const cbs_eval_frame *frame) {
  const cbs_tree *tree = &unit->tree;
  n = cbs_resolve(unit, n, &frame);
  const cbs_name *name = cbs_name_of(&unit->names, n);
  if (name && name->kind != CBS_NAME_VARIABLE) return;
  cbs_struct d = {.list = cbs_list_of(tree, n), .name = name};
  static const char *const members[] = {"buffer_index", "data_format", "page_size"};
  cbs_expression *to[] = {&slot->index, &slot->format, &slot->page};
  cbs_node first = cbs_tree_child(tree, d.list, 0);
  bool positional = first && cbs_tree_kind(tree, first) != CBS_N_INIT_PAIR;
  for (size_t i = 0; i < 3; i++) {
    cbs_node value = positional ? cbs_tree_child(tree, d.list, i) : cbs_struct_member(unit, &d, members[i]);
    if (value) *to[i] = cbs_evaluate(unit, value, frame);
  }
}

static bool is_format_list(const cbs_tree *tree, cbs_node n) {
  cbs_node_kind kind = cbs_tree_kind(tree, cbs_tree_child(tree, cbs_list_of(tree, n), 0));
  /* {{...}}: the outer braces are the container's; one descriptor's own braces hold pairs or plain values. */
  return kind == CBS_N_INIT_LIST || kind == CBS_N_COMPOUND_LITERAL || kind == CBS_N_IDENTIFIER;
}

/* Fills slots from format_descriptors = {...}, whose braces may be doubled. */
static bool add_formats(cbs_unit *unit, cbs_buffer *cb, cbs_node value, const cbs_eval_frame *frame) {
  const cbs_tree *tree = &unit->tree;
  const cbs_name *name;
  cbs_node list = cbs_list_of(tree, cbs_resolve_value(unit, value, &frame, &name));
  while (cbs_tree_children(tree, list) == 1 && is_format_list(tree, list)) {
    cbs_node only = cbs_tree_child(tree, list, 0);
    if (cbs_tree_kind(tree, only) != CBS_N_INIT_LIST || !is_format_list(tree, only)) break;
    list = only;
  }
  size_t n = cbs_tree_children(tree, list);
  if (!n) return true;
  if (!cbs_buffer_slots(unit, cb, n)) return false;
  for (size_t i = 0; i < n; i++) fill_slot(unit, &cb->slots[i], cbs_tree_child(tree, list, i), frame);
  return true;
}

/* x.format_descriptors.push_back(...) and x.format_descriptors[0].page_size = ... */
static bool add_format_statements(cbs_unit *unit, cbs_buffer *cb, const cbs_name *name, const cbs_eval_frame *frame) {
  const cbs_tree *tree = &unit->tree;
  cbs_node pushed[16];
  size_t n = 0;
  for (const cbs_change *change = NULL; (change = cbs_next_change(&unit->names, name, change));) {
    if (change->kind != CBS_CHANGE_METHOD || !ttm_str_eq(change->path, TTM_LIT("format_descriptors"))) continue;
    if (cbs_names_find(&unit->names, name->text, change->node) != name) continue;
    bool adds = ttm_str_eq(change->word, TTM_LIT("push_back")) || ttm_str_eq(change->word, TTM_LIT("emplace_back"));
    if (adds && n < 16) pushed[n++] = change->node;
  }
  if (!n) return true;
  if (!cbs_buffer_slots(unit, cb, n)) return false;
  for (size_t i = 0; i < n; i++) {
    if (cbs_call_arguments(tree, pushed[i]) == 1) {
      fill_slot(unit, &cb->slots[i], cbs_call_argument(tree, pushed[i], 0), frame);
    } else { /* emplace_back(index, format, page) */
      cb->slots[i].index = cbs_evaluate(unit, cbs_call_argument(tree, pushed[i], 0), frame);
      cb->slots[i].format = cbs_evaluate(unit, cbs_call_argument(tree, pushed[i], 1), frame);
      cb->slots[i].page = cbs_evaluate(unit, cbs_call_argument(tree, pushed[i], 2), frame);
    }
  }
  return true;
}

static int make_descriptor(cbs_unit *unit, cbs_node site, const cbs_eval_frame *frame, void *context) {
  const cbs_struct *d = context;
  cbs_buffer cb = cbs_buffer_at(unit, CBS_DESCRIPTOR, site, frame);
  cbs_node total = cbs_struct_member(unit, d, "total_size"), formats = cbs_struct_member(unit, d, "format_descriptors");
  cbs_node cores = cbs_struct_member(unit, d, "core_ranges"), buffer = cbs_struct_member(unit, d, "buffer"),
           tensor = cbs_struct_member(unit, d, "tensor");
  cbs_node global = cbs_struct_member(unit, d, "global_circular_buffer");
  cb.created = true;
  cb.total = cbs_evaluate(unit, total, frame);
  if (cores) cb.cores = cbs_evaluate(unit, cores, frame).text;
  if (formats && !add_formats(unit, &cb, formats, frame)) return TTM_ENOMEM;
  if (d->name && !cb.slot_count && !add_format_statements(unit, &cb, d->name, frame)) return TTM_ENOMEM;
  cb.address_only = !total && !cb.slot_count;
  if (buffer) cb.owner = cbs_owner_of(unit, buffer, frame);
  if (tensor && cb.owner == CBS_OWN) cb.owner = cbs_owner_of(unit, tensor, frame);
  if (global && cb.owner == CBS_OWN) cb.owner = cbs_owner_of(unit, global, frame);
  return ttm_vec_push(&unit->buffers, cb);
}

/* ---- Dataflow buffers ----------------------------------------------------------------------------------------------- */

int cbs_unit_product_text(cbs_unit *unit, ttm_str a, ttm_str b, ttm_str *out) {
  ttm_buf text = {0};
  ttm_buf_put(&text, a);
  ttm_buf_puts(&text, " * ");
  ttm_buf_put(&text, b);
  char *copy = text.failed ? NULL : ttm_arena_copy(unit->arena, ttm_buf_str(&text));
  *out = (ttm_str){copy ? copy : "", copy ? text.n : 0};
  ttm_buf_free(&text);
  return copy ? TTM_OK : TTM_ENOMEM;
}

static int make_dataflow(cbs_unit *unit, cbs_node site, const cbs_eval_frame *frame, void *context) {
  const cbs_struct *d = context;
  cbs_buffer cb = cbs_buffer_at(unit, CBS_DATAFLOW, site, frame);
  cbs_node id = cbs_struct_member(unit, d, "unique_id"), entry = cbs_struct_member(unit, d, "entry_size"),
           entries = cbs_struct_member(unit, d, "num_entries");
  cbs_node format = cbs_struct_member(unit, d, "data_format_metadata"),
           borrowed = cbs_struct_member(unit, d, "borrowed_from");
  if (!format) format = cbs_struct_member(unit, d, "data_format");
  cbs_expression page = cbs_evaluate(unit, entry, frame), pages = cbs_evaluate(unit, entries, frame);
  cb.created = true;
  cb.total.value = cbs_value_binary(TTM_LIT("*"), &page.value, &pages.value);
  if (cbs_unit_product_text(unit, pages.text, page.text, &cb.total.text)) return TTM_ENOMEM;
  if (!cbs_buffer_slots(unit, &cb, 1)) return TTM_ENOMEM;
  cb.slots[0].index = cbs_evaluate(unit, id, frame);
  cb.slots[0].page = page;
  if (format) cb.slots[0].format = cbs_evaluate(unit, format, frame);
  const cbs_value *unique = &cb.slots[0].index.value;
  if (cbs_value_is_one(unique) && unique->type == CBS_VALUE_STRING) cb.name = unique->v[0].t;
  if (borrowed) cb.owner = cbs_owner_of(unit, borrowed, frame);
  cb.address_only = !entry && !entries;
  return ttm_vec_push(&unit->buffers, cb);
}

/* ---- Recognising ---------------------------------------------------------------------------------------------------- */

/* 1 for a CBDescriptor, 2 for a dataflow buffer, 0 for neither. */
static int type_of(const cbs_tree *tree, cbs_node type) {
  ttm_str name = cbs_name_last(tree, type);
  if (ttm_str_eq(name, TTM_LIT("CBDescriptor"))) return 1;
  return ttm_str_eq(name, TTM_LIT("DataflowBufferSpec")) || ttm_str_eq(name, TTM_LIT("DataflowBufferConfig")) ? 2 : 0;
}

/* {...} without its type: told by its members. The list of a typed literal or declaration is found with its type. */
static int type_of_bare_list(const cbs_tree *tree, cbs_node n) {
  cbs_node parent = cbs_tree_at(tree, n)->parent;
  if (cbs_tree_kind(tree, parent) == CBS_N_COMPOUND_LITERAL) return 0;
  if (cbs_tree_kind(tree, parent) == CBS_N_INIT_DECLARATOR) {
    cbs_node declaration = cbs_tree_at(tree, parent)->parent;
    if (type_of(tree, cbs_tree_field(tree, declaration, CBS_F_TYPE))) return 0;
  }
  if (cbs_member_of(tree, n, TTM_LIT("total_size")) && cbs_member_of(tree, n, TTM_LIT("format_descriptors"))) return 1;
  return cbs_member_of(tree, n, TTM_LIT("entry_size")) && cbs_member_of(tree, n, TTM_LIT("num_entries")) ? 2 : 0;
}

int cbs_scan_descriptor(cbs_unit *unit, cbs_node n) {
  const cbs_tree *tree = &unit->tree;
  cbs_struct d = {0};
  int type = 0;
  switch (cbs_tree_kind(tree, n)) {
    case CBS_N_COMPOUND_LITERAL:
      type = type_of(tree, cbs_tree_field(tree, n, CBS_F_TYPE));
      d.list = cbs_list_of(tree, n);
      break;
    case CBS_N_INIT_LIST:
      type = type_of_bare_list(tree, n);
      d.list = n;
      break;
    default: { /* T x; T x{...}; T x = {...}; */
      type = type_of(tree, cbs_tree_field(tree, n, CBS_F_TYPE));
      cbs_node declarator = type ? cbs_tree_field(tree, n, CBS_F_DECLARATOR) : 0;
      if (!declarator) return TTM_OK;
      cbs_node_kind kind = cbs_tree_kind(tree, declarator);
      cbs_node value = kind == CBS_N_INIT_DECLARATOR ? cbs_tree_field(tree, declarator, CBS_F_VALUE) : 0;
      if (kind != CBS_N_IDENTIFIER && (!value || cbs_tree_kind(tree, value) != CBS_N_INIT_LIST)) return TTM_OK;
      d.name = cbs_name_declared(unit, n);
      if (!d.name) return TTM_OK;
    }
  }
  if (!type) return TTM_OK;
  return cbs_for_each_call(unit, n, type == 2 ? make_dataflow : make_descriptor, &d);
}
