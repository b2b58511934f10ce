/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers described by a struct: CBDescriptor and DataflowBufferSpec (or Config), as a literal or a variable filled by statements. */
#include "base/buf.h"
#include "l1/scan_unit.h"

typedef struct described {
  bool dataflow;
  ttm_node list;        /* {...}, 0 for none */
  const ttm_name *name; /* the variable, NULL for a literal in place */
} described;

static ttm_node member(const ttm_scan_unit *unit, const described *d, const char *name) {
  if (d->name) return ttm_member_of_variable(unit, d->name, name);
  return ttm_member_of(&unit->tree, d->list, name);
}

/* ---- CBDescriptor --------------------------------------------------------------------------------------------------- */

/* A CBFormatDescriptor: literal with or without names, or a variable. */
static void fill_slot(ttm_scan_unit *unit, ttm_cb_slot *slot, ttm_node n, const ttm_eval_frame *frame) {
  const ttm_tree *tree = &unit->tree;
  n = ttm_resolve(unit, n, &frame);
  const ttm_name *name = NULL;
  if (n && ttm_tree_kind(tree, n) == TTM_N_IDENTIFIER) {
    name = ttm_names_find(&unit->names, ttm_tree_text(tree, n), n);
    if (!name || name->kind != TTM_NAME_VARIABLE) return;
  }
  ttm_node list = name ? 0 : ttm_list_of(tree, n);
  described d = {.list = list, .name = name};
  static const char *const members[] = {"buffer_index", "data_format", "page_size"};
  ttm_cb_expression *to[] = {&slot->index, &slot->format, &slot->page};
  ttm_node first = list ? ttm_tree_child(tree, list, 0) : 0;
  bool positional = first && ttm_tree_kind(tree, first) != TTM_N_INIT_PAIR;
  for (size_t i = 0; i < 3; i++) {
    ttm_node value = positional ? ttm_tree_child(tree, list, i) : member(unit, &d, members[i]);
    if (value) *to[i] = ttm_expression(unit, value, frame);
  }
}

static bool is_format_list(const ttm_tree *tree, ttm_node n) {
  ttm_node list = ttm_list_of(tree, n), first = list ? ttm_tree_child(tree, list, 0) : 0;
  if (!first) return false;
  ttm_node_kind kind = ttm_tree_kind(tree, first);
  /* {{...}}: the outer braces are the container's; one descriptor's own braces hold pairs or plain values. */
  return kind == TTM_N_INIT_LIST || kind == TTM_N_COMPOUND_LITERAL || kind == TTM_N_IDENTIFIER;
}

/* Fills slots from format_descriptors = {...}, whose braces may be doubled. */
static bool add_formats(ttm_scan_unit *unit, ttm_cb *cb, ttm_node value, const ttm_eval_frame *frame) {
  const ttm_tree *tree = &unit->tree;
  value = ttm_resolve(unit, value, &frame);
  if (value && ttm_tree_kind(tree, value) == TTM_N_IDENTIFIER) {
    const ttm_name *name = ttm_names_find(&unit->names, ttm_tree_text(tree, value), value);
    value = name ? name->value : 0;
  }
  ttm_node list = ttm_list_of(tree, value);
  while (list && ttm_tree_children(tree, list) == 1 && is_format_list(tree, list)) {
    ttm_node only = ttm_tree_child(tree, list, 0);
    if (ttm_tree_kind(tree, only) != TTM_N_INIT_LIST || !is_format_list(tree, only)) break;
    list = only;
  }
  size_t n = list ? ttm_tree_children(tree, list) : 0;
  if (!n) return true;
  if (!ttm_cb_slots(unit, cb, n)) return false;
  for (size_t i = 0; i < n; i++) fill_slot(unit, &cb->slots[i], ttm_tree_child(tree, list, i), frame);
  return true;
}

/* x.format_descriptors.push_back(...) and x.format_descriptors[0].page_size = ... */
static bool add_format_statements(ttm_scan_unit *unit, ttm_cb *cb, const ttm_name *name, const ttm_eval_frame *frame) {
  const ttm_names *names = &unit->names;
  ttm_str text = name->text;
  ttm_node pushed[16];
  size_t n = 0;
  for (uint32_t i = ttm_changes_first(names, text); i != UINT32_MAX; i = names->changes.at[i].next) {
    const ttm_change *change = &names->changes.at[i];
    if (change->node < name->node || !ttm_tree_within(&unit->tree, change->node, name->scope)) continue;
    if (change->kind != TTM_CHANGE_METHOD || !ttm_str_eq(change->path, TTM_LIT("format_descriptors"))) continue;
    if (ttm_names_find(names, text, change->node) != name) continue;
    bool adds = ttm_str_eq(change->word, TTM_LIT("push_back")) || ttm_str_eq(change->word, TTM_LIT("emplace_back"));
    if (adds && n < 16) pushed[n++] = change->node;
  }
  if (!n) return true;
  if (!ttm_cb_slots(unit, cb, n)) return false;
  for (size_t i = 0; i < n; i++) {
    if (ttm_call_arguments(&unit->tree, pushed[i]) == 1) {
      fill_slot(unit, &cb->slots[i], ttm_call_argument(&unit->tree, pushed[i], 0), frame);
    } else { /* emplace_back(index, format, page) */
      cb->slots[i].index = ttm_expression(unit, ttm_call_argument(&unit->tree, pushed[i], 0), frame);
      cb->slots[i].format = ttm_expression(unit, ttm_call_argument(&unit->tree, pushed[i], 1), frame);
      cb->slots[i].page = ttm_expression(unit, ttm_call_argument(&unit->tree, pushed[i], 2), frame);
    }
  }
  return true;
}

static int make_descriptor(ttm_scan_unit *unit, ttm_node site, const ttm_eval_frame *frame, void *context) {
  const described *d = context;
  ttm_cb cb = ttm_cb_at(unit, TTM_CB_DESCRIPTOR, site, frame);
  ttm_node total = member(unit, d, "total_size"), formats = member(unit, d, "format_descriptors");
  ttm_node cores = member(unit, d, "core_ranges"), buffer = member(unit, d, "buffer"),
           tensor = member(unit, d, "tensor");
  ttm_node global = member(unit, d, "global_circular_buffer");
  cb.created = true;
  cb.total = ttm_expression(unit, total, frame);
  if (cores) cb.cores = ttm_expression(unit, cores, frame).text;
  if (formats && !add_formats(unit, &cb, formats, frame)) return TTM_ENOMEM;
  if (d->name && !cb.slot_count && !add_format_statements(unit, &cb, d->name, frame)) return TTM_ENOMEM;
  cb.address_only = !total && !cb.slot_count;
  if (buffer) cb.owner = ttm_cb_owner_of(unit, buffer, frame);
  if (tensor && cb.owner == TTM_CB_OWN) cb.owner = ttm_cb_owner_of(unit, tensor, frame);
  if (global && cb.owner == TTM_CB_OWN) cb.owner = ttm_cb_owner_of(unit, global, frame);
  return ttm_vec_push(&unit->cbs, cb);
}

/* ---- Dataflow buffers ----------------------------------------------------------------------------------------------- */

int ttm_unit_product_text(ttm_scan_unit *unit, ttm_str a, ttm_str b, ttm_str *out) {
  ttm_buf text = {0};
  ttm_buf_put(&text, a);
  ttm_buf_puts(&text, " * ");
  ttm_buf_put(&text, b);
  char *copy = text.failed ? NULL : ttm_arena_copy(unit->arena, ttm_buf_str(&text));
  *out = (ttm_str){copy ? copy : "", copy ? text.n : 0};
  ttm_buf_free(&text);
  return copy ? TTM_OK : TTM_ENOMEM;
}

static int make_dataflow(ttm_scan_unit *unit, ttm_node site, const ttm_eval_frame *frame, void *context) {
  const described *d = context;
  ttm_cb cb = ttm_cb_at(unit, TTM_CB_DATAFLOW, site, frame);
  ttm_node id = member(unit, d, "unique_id"), entry = member(unit, d, "entry_size"),
           entries = member(unit, d, "num_entries");
  ttm_node format = member(unit, d, "data_format_metadata"), borrowed = member(unit, d, "borrowed_from");
  if (!format) format = member(unit, d, "data_format");
  ttm_cb_expression page = ttm_expression(unit, entry, frame), pages = ttm_expression(unit, entries, frame);
  cb.created = true;
  cb.total.value = ttm_value_binary(TTM_LIT("*"), &page.value, &pages.value);
  if (ttm_unit_product_text(unit, pages.text, page.text, &cb.total.text)) return TTM_ENOMEM;
  if (!ttm_cb_slots(unit, &cb, 1)) return TTM_ENOMEM;
  cb.slots[0].index = ttm_expression(unit, id, frame);
  cb.slots[0].page = page;
  if (format) cb.slots[0].format = ttm_expression(unit, format, frame);
  const ttm_scan_value *unique = &cb.slots[0].index.value;
  if (ttm_value_is_one(unique) && unique->type == TTM_VALUE_STRING) cb.name = unique->v[0].t;
  if (borrowed) cb.owner = ttm_cb_owner_of(unit, borrowed, frame);
  cb.address_only = !entry && !entries;
  return ttm_vec_push(&unit->cbs, cb);
}

/* ---- Recognising ---------------------------------------------------------------------------------------------------- */

/* 1 for a CBDescriptor, 2 for a dataflow buffer, 0 for neither. */
static int type_of(const ttm_tree *tree, ttm_node type) {
  ttm_str name = type ? ttm_name_last(tree, type) : (ttm_str){"", 0};
  if (ttm_str_eq(name, TTM_LIT("CBDescriptor"))) return 1;
  return ttm_str_eq(name, TTM_LIT("DataflowBufferSpec")) || ttm_str_eq(name, TTM_LIT("DataflowBufferConfig")) ? 2 : 0;
}

/* {...} without its type: told by its members. The list of a typed literal or declaration is found with its type. */
static int type_of_bare_list(const ttm_tree *tree, ttm_node n) {
  ttm_node parent = ttm_tree_at(tree, n)->parent;
  if (ttm_tree_kind(tree, parent) == TTM_N_COMPOUND_LITERAL) return 0;
  if (ttm_tree_kind(tree, parent) == TTM_N_INIT_DECLARATOR) {
    ttm_node declaration = ttm_tree_at(tree, parent)->parent;
    if (type_of(tree, ttm_tree_field(tree, declaration, TTM_F_TYPE))) return 0;
  }
  if (ttm_member_of(tree, n, "total_size") && ttm_member_of(tree, n, "format_descriptors")) return 1;
  return ttm_member_of(tree, n, "entry_size") && ttm_member_of(tree, n, "num_entries") ? 2 : 0;
}

int ttm_scan_descriptor(ttm_scan_unit *unit, ttm_node n) {
  const ttm_tree *tree = &unit->tree;
  described d = {0};
  int type = 0;
  switch (ttm_tree_kind(tree, n)) {
    case TTM_N_COMPOUND_LITERAL:
      type = type_of(tree, ttm_tree_field(tree, n, TTM_F_TYPE));
      d.list = ttm_list_of(tree, n);
      break;
    case TTM_N_INIT_LIST:
      type = type_of_bare_list(tree, n);
      d.list = n;
      break;
    default: { /* T x; T x{...}; T x = {...}; */
      type = type_of(tree, ttm_tree_field(tree, n, TTM_F_TYPE));
      ttm_node declarator = type ? ttm_tree_field(tree, n, TTM_F_DECLARATOR) : 0;
      if (!declarator) return TTM_OK;
      ttm_node_kind kind = ttm_tree_kind(tree, declarator);
      ttm_node value = kind == TTM_N_INIT_DECLARATOR ? ttm_tree_field(tree, declarator, TTM_F_VALUE) : 0;
      if (kind != TTM_N_IDENTIFIER && (!value || ttm_tree_kind(tree, value) != TTM_N_INIT_LIST)) return TTM_OK;
      ttm_node id = ttm_declared_identifier(tree, declarator);
      uint32_t i = id ? ttm_names_first(&unit->names, ttm_tree_text(tree, id)) : UINT32_MAX;
      for (; i != UINT32_MAX; i = unit->names.names.at[i].next) {
        if (unit->names.names.at[i].node == n) d.name = &unit->names.names.at[i];
      }
      if (!d.name) return TTM_OK;
    }
  }
  if (!type) return TTM_OK;
  d.dataflow = type == 2;
  return ttm_for_each_call(unit, n, d.dataflow ? make_dataflow : make_descriptor, &d);
}
