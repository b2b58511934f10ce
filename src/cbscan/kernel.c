/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel code: who reserves, pushes, waits and pops, on which buffer and how much; and how large the kernel is. */
#include "cbscan/unit.h"

static const char *const act_names[CBS_ACTS] = {"reserve_back", "push_back", "wait_front", "pop_front"};

const char *cbs_act_name(cbs_act act) { return act_names[act]; }

static cbs_act act_of(ttm_str name) {
  for (int a = 0; a < CBS_ACTS; a++) {
    if (ttm_str_eq(name, ttm_str_of(act_names[a]))) return (cbs_act)a;
  }
  return CBS_ACTS;
}

/* Other builds of the kernel leave the node out (#if, if constexpr); or it runs again and again. */
static void surroundings(const cbs_tree *tree, cbs_node n, cbs_use *use) {
  for (n = cbs_tree_at(tree, n)->parent; n; n = cbs_tree_at(tree, n)->parent) {
    switch (cbs_tree_kind(tree, n)) {
      case CBS_N_PREPROC_IF:
      case CBS_N_PREPROC_IFDEF:
        use->conditional = true;
        break;
      case CBS_N_IF:
        use->conditional |= ttm_str_starts(cbs_tree_text(tree, n), TTM_LIT("if constexpr"));
        break;
      default:
        use->in_loop |= cbs_is_loop(cbs_tree_kind(tree, n));
    }
  }
}

static int add_use(cbs_unit *unit, cbs_act act, cbs_node call, cbs_expression id, cbs_node count) {
  cbs_use use = {.act = act, .file = unit->file_index, .line = cbs_tree_at(&unit->tree, call)->line, .id = id};
  surroundings(&unit->tree, call, &use);
  use.conditional |= unit->file->chosen; /* which #if it stood under is no longer seen */
  use.count = cbs_evaluate(unit, count, NULL);
  return ttm_vec_push(&unit->uses, use);
}

static bool is_buffer_type(ttm_str name) {
  return ttm_str_ends(name, TTM_LIT("CircularBuffer")) || ttm_str_ends(name, TTM_LIT("DataflowBuffer"));
}

/* The id a buffer object was made with: CircularBuffer cb(id). False for objects of other types. */
static bool id_of_object(cbs_unit *unit, cbs_node object, cbs_expression *id) {
  const cbs_tree *tree = &unit->tree;
  if (cbs_tree_kind(tree, object) == CBS_N_CALL) { /* CircularBuffer(id).wait_front(1) */
    cbs_node function = cbs_tree_field(tree, object, CBS_F_FUNCTION), first = cbs_call_argument(tree, object, 0);
    if (!first || !is_buffer_type(cbs_name_last(tree, function))) return false;
    *id = cbs_evaluate(unit, first, NULL);
    return true;
  }
  const cbs_name *name = cbs_name_of(&unit->names, object);
  if (!name || !name->type) return false;
  *id = (cbs_expression){.text = cbs_tree_text(tree, object), .value = cbs_value_unknown(cbs_tree_text(tree, object))};
  if (!is_buffer_type(cbs_name_last(tree, name->type))) { /* auto cb = CircularBuffer(id), or a template parameter */
    ttm_str value = cbs_tree_text(tree, name->value);
    if (!ttm_str_contains(value, TTM_LIT("CircularBuffer")) && !ttm_str_contains(value, TTM_LIT("DataflowBuffer")))
      return false;
  }
  cbs_node value = name->kind == CBS_NAME_PARAMETER ? 0 : name->value;
  if (cbs_tree_kind(tree, value) == CBS_N_CALL) value = cbs_tree_field(tree, value, CBS_F_ARGUMENTS);
  if (cbs_tree_kind(tree, value) == CBS_N_COMPOUND_LITERAL) value = cbs_tree_field(tree, value, CBS_F_VALUE);
  cbs_node first = cbs_tree_child(tree, value, 0);
  if (cbs_tree_kind(tree, first) == CBS_N_PARAMETER) first = cbs_tree_child(tree, first, 0);
  if (first) *id = cbs_evaluate(unit, first, NULL);
  return true;
}

/* Functions of the kernel API that look at a buffer without moving its pointers. */
static bool only_looks(ttm_str name) {
  return cbs_text_has_word(
      TTM_LIT("get_read_ptr get_write_ptr get_tile_size get_dataformat get_local_cb_interface copy_tile "
              "copy_tile_init copy_tile_to_dst_init_short copy_tile_to_dst_init_short_with_dt pack_tile "
              "pack_tile_block add_tiles sub_tiles mul_tiles add_tiles_init sub_tiles_init mul_tiles_init "
              "binary_op_init_common unary_op_init_common init_sfpu mm_init mm_init_short mm_block_init "
              "matmul_tiles matmul_block pack_reconfig_data_format reconfig_data_format reconfig_data_format_srca "
              "reconfig_data_format_srcb CircularBuffer DataflowBuffer tile_regs_acquire static_assert constexpr "
              "compute_kernel_hw_startup static_cast uint32_t get_tile_hw transpose_wh_init reduce_init "
              "reduce_tile add_bcast_rows_init_short add_tiles_bcast_rows mul_tiles_bcast add_tiles_bcast "
              "sub_tiles_bcast tilize_init untilize_init binary_tiles_init transpose_wh_tile bcast_init "
              "InterleavedAddrGenFast TensorAccessor DPRINT"),
      name);
}

/* Remembers buffers handed to functions out of sight: they may well be consumed there. */
static int note_handed(cbs_unit *unit, cbs_node call, cbs_node list) {
  const cbs_tree *tree = &unit->tree;
  for (cbs_node c = cbs_tree_at(tree, list)->child; c; c = cbs_tree_at(tree, c)->next) {
    cbs_node value = cbs_tree_kind(tree, c) == CBS_N_TYPE_DESCRIPTOR ? cbs_tree_child(tree, c, 0) : c;
    cbs_node_kind kind = cbs_tree_kind(tree, value);
    if (kind != CBS_N_IDENTIFIER && kind != CBS_N_QUALIFIED && kind != CBS_N_TYPE_IDENTIFIER) continue;
    cbs_expression id;
    if (!id_of_object(unit, value, &id)) id = cbs_evaluate(unit, value, NULL);
    if (!cbs_value_is_known(&id.value)) continue;
    cbs_handed handed = {unit->file_index, cbs_tree_at(tree, call)->line, id.value};
    if (ttm_vec_push(&unit->handed, handed)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int at_call(cbs_unit *unit, cbs_node n) {
  const cbs_tree *tree = &unit->tree;
  cbs_node function = cbs_tree_field(tree, n, CBS_F_FUNCTION), list = cbs_tree_field(tree, n, CBS_F_ARGUMENTS);
  if (!function || !list) return TTM_OK;
  if (cbs_tree_kind(tree, function) == CBS_N_FIELD) {
    cbs_node field = cbs_tree_field(tree, function, CBS_F_FIELD),
             object = cbs_tree_field(tree, function, CBS_F_ARGUMENT);
    cbs_act act = act_of(cbs_name_last(tree, field));
    cbs_expression id;
    if (act == CBS_ACTS) return note_handed(unit, n, list);
    if (!object) return TTM_OK;
    if (!id_of_object(unit, object, &id)) {
      if (act == CBS_PUSH) return TTM_OK; /* a vector, most likely; the other three are words of buffers alone */
      id = (cbs_expression){.text = cbs_tree_text(tree, object), .value = cbs_value_unknown((ttm_str){0})};
    }
    return add_use(unit, act, n, id, cbs_call_argument(tree, n, 0));
  }
  ttm_str name = cbs_name_last(tree, function), rest = name;
  if (ttm_str_take(&rest, TTM_LIT("cb_")) || ttm_str_take(&rest, TTM_LIT("llk_"))) {
    cbs_act act = act_of(rest);
    cbs_node id = cbs_call_argument(tree, n, 0), count = cbs_call_argument(tree, n, 1);
    if (act != CBS_ACTS && id && count) return add_use(unit, act, n, cbs_evaluate(unit, id, NULL), count);
  }
  if (only_looks(name)) return TTM_OK;
  cbs_node templated = function;
  while (cbs_tree_kind(tree, templated) == CBS_N_QUALIFIED) templated = cbs_tree_field(tree, templated, CBS_F_NAME);
  if (cbs_tree_kind(tree, templated) == CBS_N_TEMPLATE_FUNCTION &&
      note_handed(unit, n, cbs_tree_field(tree, templated, CBS_F_ARGUMENTS)))
    return TTM_ENOMEM;
  return note_handed(unit, n, list);
}

/* ---- Size ----------------------------------------------------------------------------------------------------------- */

static uint32_t count_code_lines(const cbs_tree *tree) {
  uint32_t lines = 0, last = 0;
  for (cbs_node n = 2; n < tree->nodes.n; n++) {
    if (tree->nodes.at[n].line != last) lines++, last = tree->nodes.at[n].line;
  }
  return lines;
}

static void measure_loop(const cbs_tree *tree, cbs_node n, cbs_kernel_size *size) {
  uint32_t depth = 0;
  for (; n; n = cbs_tree_at(tree, n)->parent) depth += cbs_is_loop(cbs_tree_kind(tree, n));
  size->loops++;
  if (depth > size->depth) size->depth = depth;
}

/* Complexity is McCabe's: decisions plus one per function. */
static void measure(cbs_unit *unit) {
  const cbs_tree *tree = &unit->tree;
  cbs_kernel_size *size = &unit->file->size;
  size->code_lines = count_code_lines(tree);
  for (cbs_node n = 1; n < tree->nodes.n; n++) {
    switch (cbs_tree_kind(tree, n)) {
      case CBS_N_FUNCTION:
        size->functions++;
        break;
      case CBS_N_IF:
      case CBS_N_TERNARY:
      case CBS_N_CASE:
        size->branches++;
        break;
      case CBS_N_OPERATOR: {
        ttm_str op = cbs_tree_text(tree, n);
        size->complexity += ttm_str_eq(op, TTM_LIT("&&")) || ttm_str_eq(op, TTM_LIT("||"));
        break;
      }
      default:
        if (cbs_is_loop(cbs_tree_kind(tree, n))) measure_loop(tree, n, size);
    }
  }
  size->complexity += size->functions + size->branches + size->loops;
}

int cbs_scan_kernel(cbs_unit *unit) {
  measure(unit);
  for (cbs_node n = 1; n < unit->tree.nodes.n; n++) {
    if (cbs_tree_kind(&unit->tree, n) != CBS_N_CALL) continue;
    int status = at_call(unit, n);
    if (status) return status;
  }
  return TTM_OK;
}
