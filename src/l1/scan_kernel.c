/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel code: who reserves, pushes, waits and pops, on which buffer and how much; and how large the kernel is. */
#include "l1/scan_unit.h"

static const char *const act_names[TTM_CB_ACTS] = {"reserve_back", "push_back", "wait_front", "pop_front"};

const char *ttm_cb_act_name(ttm_cb_act act) { return act_names[act]; }

static ttm_cb_act act_of(ttm_str name) {
  for (int a = 0; a < TTM_CB_ACTS; a++) {
    if (ttm_str_eq(name, ttm_str_of(act_names[a]))) return (ttm_cb_act)a;
  }
  return TTM_CB_ACTS;
}

/* Other builds of the kernel leave the node out (#if, if constexpr); or it runs again and again. */
static void surroundings(const ttm_tree *tree, ttm_node n, ttm_cb_use *use) {
  for (n = ttm_tree_at(tree, n)->parent; n; n = ttm_tree_at(tree, n)->parent) {
    switch (ttm_tree_kind(tree, n)) {
      case TTM_N_PREPROC_IF:
      case TTM_N_PREPROC_IFDEF:
        use->conditional = true;
        break;
      case TTM_N_IF:
        use->conditional |= ttm_str_starts(ttm_tree_text(tree, n), TTM_LIT("if constexpr"));
        break;
      case TTM_N_FOR:
      case TTM_N_FOR_RANGE:
      case TTM_N_WHILE:
      case TTM_N_DO:
        use->in_loop = true;
        break;
      default:
        break;
    }
  }
}

static int add_use(ttm_scan_unit *unit, ttm_cb_act act, ttm_node call, ttm_cb_expression id, ttm_node count) {
  ttm_cb_use use = {.act = act, .file = unit->file_index, .line = ttm_tree_at(&unit->tree, call)->line, .id = id};
  surroundings(&unit->tree, call, &use);
  use.conditional |= unit->file->chosen; /* which #if it stood under is no longer seen */
  use.count = ttm_expression(unit, count, NULL);
  return ttm_vec_push(&unit->uses, use);
}

static bool is_buffer_type(ttm_str name) {
  return ttm_str_ends(name, TTM_LIT("CircularBuffer")) || ttm_str_ends(name, TTM_LIT("DataflowBuffer"));
}

/* The id a buffer object was made with: CircularBuffer cb(id). False for objects of other types. */
static bool id_of_object(ttm_scan_unit *unit, ttm_node object, ttm_cb_expression *id) {
  const ttm_tree *tree = &unit->tree;
  if (ttm_tree_kind(tree, object) == TTM_N_CALL) { /* CircularBuffer(id).wait_front(1) */
    ttm_node function = ttm_tree_field(tree, object, TTM_F_FUNCTION), first = ttm_call_argument(tree, object, 0);
    if (!function || !first || !is_buffer_type(ttm_name_last(tree, function))) return false;
    *id = ttm_expression(unit, first, NULL);
    return true;
  }
  if (ttm_tree_kind(tree, object) != TTM_N_IDENTIFIER) return false;
  const ttm_name *name = ttm_names_find(&unit->names, ttm_tree_text(tree, object), object);
  if (!name || !name->type) return false;
  ttm_str type = ttm_name_last(tree, name->type);
  *id =
      (ttm_cb_expression){.text = ttm_tree_text(tree, object), .value = ttm_value_unknown(ttm_tree_text(tree, object))};
  bool known = is_buffer_type(type);
  if (!known) { /* auto cb = CircularBuffer(id), or a template parameter */
    ttm_str value = name->value ? ttm_tree_text(tree, name->value) : (ttm_str){"", 0};
    if (!ttm_str_contains(value, TTM_LIT("CircularBuffer")) && !ttm_str_contains(value, TTM_LIT("DataflowBuffer")))
      return false;
  }
  ttm_node value = name->kind == TTM_NAME_PARAMETER ? 0 : name->value;
  if (value && ttm_tree_kind(tree, value) == TTM_N_CALL) value = ttm_tree_field(tree, value, TTM_F_ARGUMENTS);
  if (value && ttm_tree_kind(tree, value) == TTM_N_COMPOUND_LITERAL) value = ttm_tree_field(tree, value, TTM_F_VALUE);
  ttm_node first = value ? ttm_tree_child(tree, value, 0) : 0;
  if (first && ttm_tree_kind(tree, first) == TTM_N_PARAMETER) first = ttm_tree_child(tree, first, 0);
  if (first) *id = ttm_expression(unit, first, NULL);
  return true;
}

/* Functions of the kernel API that look at a buffer without moving its pointers. */
static bool only_looks(ttm_str name) {
  static const char *const names[] = {
      "get_read_ptr",
      "get_write_ptr",
      "get_tile_size",
      "get_dataformat",
      "get_local_cb_interface",
      "copy_tile",
      "copy_tile_init",
      "copy_tile_to_dst_init_short",
      "copy_tile_to_dst_init_short_with_dt",
      "pack_tile",
      "pack_tile_block",
      "add_tiles",
      "sub_tiles",
      "mul_tiles",
      "add_tiles_init",
      "sub_tiles_init",
      "mul_tiles_init",
      "binary_op_init_common",
      "unary_op_init_common",
      "init_sfpu",
      "mm_init",
      "mm_init_short",
      "mm_block_init",
      "matmul_tiles",
      "matmul_block",
      "pack_reconfig_data_format",
      "reconfig_data_format",
      "reconfig_data_format_srca",
      "reconfig_data_format_srcb",
      "CircularBuffer",
      "DataflowBuffer",
      "tile_regs_acquire",
      "static_assert",
      "constexpr",
      "compute_kernel_hw_startup",
      "static_cast",
      "uint32_t",
      "get_tile_hw",
      "transpose_wh_init",
      "reduce_init",
      "reduce_tile",
      "add_bcast_rows_init_short",
      "add_tiles_bcast_rows",
      "mul_tiles_bcast",
      "add_tiles_bcast",
      "sub_tiles_bcast",
      "tilize_init",
      "untilize_init",
      "binary_tiles_init",
      "transpose_wh_tile",
      "bcast_init",
      "InterleavedAddrGenFast",
      "TensorAccessor",
      "DPRINT",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (ttm_str_eq(name, ttm_str_of(names[i]))) return true;
  }
  return false;
}

/* Remembers buffers handed to functions out of sight: they may well be consumed there. */
static int note_handed(ttm_scan_unit *unit, ttm_node call, ttm_node list) {
  const ttm_tree *tree = &unit->tree;
  for (ttm_node c = list ? ttm_tree_at(tree, list)->child : 0; c; c = ttm_tree_at(tree, c)->next) {
    ttm_node_kind kind = ttm_tree_kind(tree, c);
    ttm_node value = c;
    if (kind == TTM_N_TYPE_DESCRIPTOR)
      value = ttm_tree_child(tree, c, 0), kind = value ? ttm_tree_kind(tree, value) : 0;
    if (kind != TTM_N_IDENTIFIER && kind != TTM_N_QUALIFIED && kind != TTM_N_TYPE_IDENTIFIER) continue;
    ttm_cb_expression id;
    if (!id_of_object(unit, value, &id)) id = ttm_expression(unit, value, NULL);
    if (!ttm_value_is_known(&id.value)) continue;
    ttm_cb_handed handed = {unit->file_index, ttm_tree_at(tree, call)->line, id.value};
    if (ttm_vec_push(&unit->handed, handed)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int at_call(ttm_scan_unit *unit, ttm_node n) {
  const ttm_tree *tree = &unit->tree;
  ttm_node function = ttm_tree_field(tree, n, TTM_F_FUNCTION), list = ttm_tree_field(tree, n, TTM_F_ARGUMENTS);
  if (!function || !list) return TTM_OK;
  if (ttm_tree_kind(tree, function) == TTM_N_FIELD) {
    ttm_node field = ttm_tree_field(tree, function, TTM_F_FIELD),
             object = ttm_tree_field(tree, function, TTM_F_ARGUMENT);
    ttm_cb_act act = field ? act_of(ttm_name_last(tree, field)) : TTM_CB_ACTS;
    ttm_cb_expression id;
    if (act == TTM_CB_ACTS) return note_handed(unit, n, list);
    if (!object) return TTM_OK;
    if (!id_of_object(unit, object, &id)) {
      if (act == TTM_CB_PUSH) return TTM_OK; /* a vector, most likely; the other three are words of buffers alone */
      id = (ttm_cb_expression){.text = ttm_tree_text(tree, object), .value = ttm_value_unknown((ttm_str){0})};
    }
    return add_use(unit, act, n, id, ttm_call_argument(tree, n, 0));
  }
  ttm_str name = ttm_name_last(tree, function), rest = name;
  if (ttm_str_take(&rest, TTM_LIT("cb_")) || ttm_str_take(&rest, TTM_LIT("llk_"))) {
    ttm_cb_act act = act_of(rest);
    ttm_node id = ttm_call_argument(tree, n, 0), count = ttm_call_argument(tree, n, 1);
    if (act != TTM_CB_ACTS && id && count) return add_use(unit, act, n, ttm_expression(unit, id, NULL), count);
  }
  if (only_looks(name)) return TTM_OK;
  ttm_node templated = function;
  while (templated && ttm_tree_kind(tree, templated) == TTM_N_QUALIFIED)
    templated = ttm_tree_field(tree, templated, TTM_F_NAME);
  if (templated && ttm_tree_kind(tree, templated) == TTM_N_TEMPLATE_FUNCTION) {
    if (note_handed(unit, n, ttm_tree_field(tree, templated, TTM_F_ARGUMENTS))) return TTM_ENOMEM;
  }
  return note_handed(unit, n, list);
}

/* ---- Size ----------------------------------------------------------------------------------------------------------- */

static uint32_t count_code_lines(const ttm_tree *tree) {
  uint32_t lines = 0, last = 0;
  for (ttm_node n = 2; n < tree->nodes.n; n++) {
    if (tree->nodes.at[n].line != last) lines++, last = tree->nodes.at[n].line;
  }
  return lines;
}

/* Complexity is McCabe's: decisions plus one per function. */
static void measure(ttm_scan_unit *unit) {
  const ttm_tree *tree = &unit->tree;
  ttm_kernel_size *size = &unit->file->size;
  size->code_lines = count_code_lines(tree);
  for (ttm_node n = 1; n < tree->nodes.n; n++) {
    switch (ttm_tree_kind(tree, n)) {
      case TTM_N_FUNCTION:
        size->functions++;
        break;
      case TTM_N_IF:
      case TTM_N_TERNARY:
      case TTM_N_CASE:
        size->branches++;
        break;
      case TTM_N_FOR:
      case TTM_N_FOR_RANGE:
      case TTM_N_WHILE:
      case TTM_N_DO: {
        uint32_t depth = 1;
        for (ttm_node up = ttm_tree_at(tree, n)->parent; up; up = ttm_tree_at(tree, up)->parent) {
          ttm_node_kind kind = ttm_tree_kind(tree, up);
          depth += kind == TTM_N_FOR || kind == TTM_N_FOR_RANGE || kind == TTM_N_WHILE || kind == TTM_N_DO;
        }
        size->loops++;
        if (depth > size->depth) size->depth = depth;
        break;
      }
      case TTM_N_OPERATOR: {
        ttm_str op = ttm_tree_text(tree, n);
        size->complexity += ttm_str_eq(op, TTM_LIT("&&")) || ttm_str_eq(op, TTM_LIT("||"));
        break;
      }
      default:
        break;
    }
  }
  size->complexity += size->functions + size->branches + size->loops;
}

int ttm_scan_kernel(ttm_scan_unit *unit) {
  measure(unit);
  for (ttm_node n = 1; n < unit->tree.nodes.n; n++) {
    if (ttm_tree_kind(&unit->tree, n) != TTM_N_CALL) continue;
    int status = at_call(unit, n);
    if (status) return status;
  }
  return TTM_OK;
}
