/* SPDX-License-Identifier: Apache-2.0 */
/* What ttnn's operations do beyond their printed types: results that share an operand's buffer, buffers inside the operation, and what
 * programs keep. As ttnn 0.81.1 was seen to do it. */
#include "base/checked.h"
#include "parse/mlir_scan.h"
#include "profile/module_run.h"

enum { TILE = 32 };

/* ---- Types ---- */

static const ttm_tensor_type *type_of(const ttm_module *m, uint32_t value) {
  const ttm_module_type *type = value == TTM_NO_ROW ? NULL : &m->types.at[m->value_types.at[value]];
  return type && type->is_tensor && type->tensor.has_layout ? &type->tensor : NULL;
}

static const ttm_tensor_type *operand_type(const ttm_module *m, const ttm_module_op *op, uint32_t k) {
  return k < op->operand_count ? type_of(m, m->operands.at[op->operands + k]) : NULL;
}

static uint64_t dim_from_end(const ttm_dims *shape, uint32_t k) {
  return k < shape->rank ? shape->at[shape->rank - 1 - k] : 1;
}

/* Rows of the last dim. */
static uint64_t rows_in(const ttm_dims *shape) {
  uint64_t rows = 1;
  for (uint32_t i = 0; i + 1 < shape->rank; i++) rows = ttm_mul_sat(rows, shape->at[i]);
  return rows;
}

static bool same_dims(const ttm_dims *a, const ttm_dims *b) {
  return a->rank == b->rank && !memcmp(a->at, b->at, a->rank * sizeof *a->at);
}

static bool is_sharded(const ttm_tensor_type *type) { return type->placement > TTM_PLACE_INTERLEAVED; }

/* The same bytes in the same place. */
static bool same_storage(const ttm_tensor_type *a, const ttm_tensor_type *b) {
  return a->buffer == b->buffer && a->placement == b->placement && a->tiled == b->tiled &&
         ttm_str_eq(a->storage, b->storage) && same_dims(&a->grid, &b->grid) && same_dims(&a->shard, &b->shard);
}

static ttm_tensor_type interleaved(const ttm_tensor_type *like, uint64_t rows, uint64_t columns) {
  ttm_tensor_type out = *like;
  out.placement = TTM_PLACE_INTERLEAVED;
  out.grid = (ttm_dims){2, {1, 1}};
  out.shard = (ttm_dims){2, {rows, columns}};
  return out;
}

/* The tensor in row-major; block formats have no rows, so they become bf16. */
static ttm_tensor_type as_rows(const ttm_tensor_type *type) {
  ttm_tensor_type out = interleaved(type, rows_in(&type->shape), dim_from_end(&type->shape, 0));
  out.tiled = false;
  if (!ttm_scalar_bytes(out.storage)) out.storage = TTM_LIT("bf16");
  return out;
}

/* The tensor in tiles of a dtype. */
static ttm_tensor_type as_tiles(const ttm_tensor_type *type, const ttm_dims *shape, ttm_str storage) {
  uint64_t height = dim_from_end(shape, 1), rows = height ? rows_in(shape) / height : 0;
  ttm_tensor_type out =
      interleaved(type, ttm_mul_sat(rows, ttm_div_up(height, TILE)), ttm_div_up(dim_from_end(shape, 0), TILE));
  out.shape = *shape;
  out.tiled = true;
  out.tile_h = out.tile_w = TILE;
  out.storage = storage;
  return out;
}

/* ---- Attributes ---- */

typedef struct numbers {
  uint32_t n;
  int64_t at[TTM_MAX_RANK];
} numbers;

/* `[2 : i32, -1 : i32]`, `array<i64: 0, 2>`, `1 : si32` */
static numbers numbers_of(const ttm_module_op *op, ttm_str key) {
  ttm_str list = ttm_module_attribute(op, key);
  numbers out = {0};
  if (ttm_str_take(&list, TTM_LIT("array<"))) ttm_str_take_to(&list, ':');
  while (list.n && out.n < TTM_MAX_RANK) {
    ttm_str piece = ttm_str_take_to(&list, ',');
    uint64_t value;
    while (piece.n && (ttm_scan_is_space(piece.p[0]) || piece.p[0] == '[')) piece = ttm_str_from(piece, 1);
    bool negative = ttm_str_take(&piece, TTM_LIT("-"));
    if (!ttm_str_take_u64(&piece, &value) || value > INT32_MAX) break;
    out.at[out.n++] = negative ? -(int64_t)value : (int64_t)value;
  }
  return out;
}

static uint64_t number_of(const ttm_module_op *op, ttm_str key, uint64_t otherwise) {
  numbers all = numbers_of(op, key);
  return all.n && all.at[0] >= 0 ? (uint64_t)all.at[0] : otherwise;
}

/* ---- Rules ---- */

typedef struct op_types {
  const ttm_module *m;
  const ttm_module_op *op;
  const ttm_tensor_type *in, *out;
} op_types;

static void add_inner(ttm_op_rule *rule, ttm_tensor_type type) {
  if (rule->inner_count < TTM_MOST_INNER) rule->inner[rule->inner_count++] = type;
}

/* ttnn's own rule: rows stay rows, and tiles stay tiles. */
static bool reshape_is_view(const ttm_tensor_type *in, const ttm_tensor_type *out) {
  uint64_t rows = dim_from_end(&in->shape, 1), rows_out = dim_from_end(&out->shape, 1);
  if (in->buffer != out->buffer || is_sharded(in) != is_sharded(out) || in->tiled != out->tiled) return false;
  if (dim_from_end(&in->shape, 0) != dim_from_end(&out->shape, 0)) return false;
  return !in->tiled || rows == rows_out || (rows % in->tile_h == 0 && rows_out % out->tile_h == 0);
}

/* A copy goes by a map of where each row of a tile comes from, which the program keeps. */
static void rule_reshape(const op_types *t, ttm_op_rule *rule) {
  if (reshape_is_view(t->in, t->out)) return (void)(rule->view = 0);
  if (!t->in->tiled || !t->out->tiled) return;
  if (!ttm_scalar_bytes(t->in->storage)) { /* block formats are converted, there and back */
    add_inner(rule, as_tiles(t->in, &t->in->shape, TTM_LIT("bf16")));
    add_inner(rule, as_tiles(t->in, &t->out->shape, TTM_LIT("bf16")));
    rule->hold = true;
  }
  uint64_t height = dim_from_end(&t->out->shape, 1);
  ttm_tensor_type map = as_tiles(t->out, &t->out->shape, TTM_LIT("ui32"));
  map = interleaved(&map, ttm_mul_sat(map.shard.at[0], map.shard.at[1]), 8 * (height < TILE ? height : TILE));
  map.tiled = false;
  map.buffer = TTM_BUFFER_DRAM;
  rule->kept = map;
}

static void rule_same(const op_types *t, ttm_op_rule *rule) {
  if (same_storage(t->in, t->out)) rule->view = 0;
}

static void rule_in_place(const op_types *t, ttm_op_rule *rule) {
  (void)t;
  rule->view = 0;
}

static void rule_permute(const op_types *t, ttm_op_rule *rule) {
  numbers order = numbers_of(t->op, TTM_LIT("permutation"));
  for (uint32_t i = 0; i < order.n; i++)
    if (order.at[i] != i) return;
  if (order.n) rule->view = 0;
}

static void rule_slice(const op_types *t, ttm_op_rule *rule) {
  numbers begins = numbers_of(t->op, TTM_LIT("begins")), step = numbers_of(t->op, TTM_LIT("step"));
  if (same_dims(&t->in->shape, &t->out->shape)) return (void)(rule->view = 0);
  bool in_rows = false;
  for (uint32_t i = 0; i < begins.n; i++) in_rows |= i + 2 >= begins.n && begins.at[i] % TILE;
  for (uint32_t i = 0; i < step.n; i++) in_rows |= step.at[i] != 1;
  if (!t->in->tiled || !in_rows) return;
  add_inner(rule, as_rows(t->in));
  add_inner(rule, as_rows(t->out));
  rule->hold = true;
}

/* Tiles that are not full are joined as rows. */
static void rule_concat(const op_types *t, ttm_op_rule *rule) {
  numbers dim = numbers_of(t->op, TTM_LIT("dim"));
  int64_t rank = t->out->shape.rank, axis = dim.n && dim.at[0] < 0 ? dim.at[0] + rank : dim.n ? dim.at[0] : 0;
  bool in_rows = false;
  for (uint32_t k = 0; k < t->op->operand_count; k++) {
    const ttm_tensor_type *type = operand_type(t->m, t->op, k);
    in_rows |= type && axis + 2 >= rank && axis < type->shape.rank && type->shape.at[axis] % TILE;
  }
  if (!t->out->tiled || !in_rows) return;
  add_inner(rule, as_rows(t->out)); /* the operands together */
  add_inner(rule, as_rows(t->out));
  rule->hold = true;
}

static void rule_repeat(const op_types *t, ttm_op_rule *rule) {
  if (same_dims(&t->in->shape, &t->out->shape)) return (void)(rule->view = 0);
  bool in_rows = false;
  for (uint32_t k = 0; k < 2; k++) {
    uint64_t before = dim_from_end(&t->in->shape, k), after = dim_from_end(&t->out->shape, k);
    in_rows |= before != after && before % TILE;
  }
  if (!t->in->tiled || !in_rows) return;
  add_inner(rule, as_rows(t->in));
  add_inner(rule, as_rows(t->out));
}

/* A table in tiles is laid out in rows first. */
static void rule_embedding(const op_types *t, ttm_op_rule *rule) {
  const ttm_tensor_type *table = operand_type(t->m, t->op, 1);
  if (table && table->tiled) add_inner(rule, as_rows(table));
}

/* One dim after the other, the last first; a dim that goes altogether is reshaped away. */
static void rule_reduce(const op_types *t, ttm_op_rule *rule) {
  numbers dims = numbers_of(t->op, TTM_LIT("dim_arg"));
  bool keeps = ttm_str_eq(ttm_module_attribute(t->op, TTM_LIT("keep_dim")), TTM_LIT("true"));
  ttm_dims shape = t->in->shape;
  if (!t->in->tiled || !dims.n || (dims.n == 1 && keeps)) return;
  int64_t last = -1;
  for (uint32_t i = 0; i < dims.n; i++) {
    int64_t dim = dims.at[i] < 0 ? dims.at[i] + shape.rank : dims.at[i];
    if (dim > last) last = dim;
  }
  if (last < 0 || last >= shape.rank || (dims.n == 1 && last + 2 < shape.rank)) return;
  shape.at[last] = 1;
  add_inner(rule, as_tiles(t->in, &shape, t->in->storage));
}

static void rule_linear(const op_types *t, ttm_op_rule *rule) {
  const ttm_tensor_type *bias = operand_type(t->m, t->op, 2);
  ttm_str activation = ttm_module_attribute(t->op, TTM_LIT("activation"));
  bool apart = activation.n && !ttm_str_contains(activation, TTM_LIT("relu"));
  if (apart || (bias && dim_from_end(&bias->shape, 1) > 1)) add_inner(rule, *t->out);
}

/* Where the input is in tiles, every position of the kernel has its channels in tiles of its own. */
static void rule_conv_weights(const op_types *t, ttm_op_rule *rule) {
  numbers kernel = numbers_of(t->op, TTM_LIT("kernel_size"));
  uint64_t channels = number_of(t->op, TTM_LIT("in_channels"), 0), groups = number_of(t->op, TTM_LIT("groups"), 1);
  bool tiled = ttm_str_contains(ttm_module_attribute(t->op, TTM_LIT("input_tensor_layout")), TTM_LIT("tile"));
  if (!tiled || kernel.n < 2 || !groups || !t->out->tiled || is_sharded(t->out)) return;
  uint64_t positions = ttm_mul_sat((uint64_t)kernel.at[0], (uint64_t)kernel.at[1]);
  uint64_t rows = ttm_mul_sat(positions, ttm_div_up(channels / groups, TILE));
  if (rows <= t->out->shard.at[0]) return;
  rule->result = interleaved(t->out, rows, t->out->shard.at[t->out->shard.rank - 1]);
}

/* What it takes of L1 is not known. */
static void rule_windows(const op_types *t, ttm_op_rule *rule) {
  (void)t;
  rule->l1_unknown = true;
}

static const struct {
  const char *name;
  void (*apply)(const op_types *t, ttm_op_rule *rule);
} RULES[] = {
    {"reshape", rule_reshape},
    {"to_layout", rule_same},
    {"to_memory_config", rule_same},
    {"to_device", rule_same},
    {"pad", rule_same},
    {"permute", rule_permute},
    {"slice_static", rule_slice},
    {"slice", rule_slice},
    {"concat", rule_concat},
    {"repeat", rule_repeat},
    {"embedding", rule_embedding},
    {"sum", rule_reduce},
    {"mean", rule_reduce},
    {"max", rule_reduce},
    {"min", rule_reduce},
    {"linear", rule_linear},
    {"prepare_conv2d_weights", rule_conv_weights},
    {"conv2d", rule_windows},
    {"conv_transpose2d", rule_windows},
    {"conv3d", rule_windows},
    {"max_pool2d", rule_windows},
    {"avg_pool2d", rule_windows},
    {"upsample", rule_windows},
    {"update_cache", rule_in_place},
    {"fill_cache", rule_in_place},
    {"paged_update_cache", rule_in_place},
    {"paged_fill_cache", rule_in_place},
};

void ttm_op_rule_find(const ttm_module *m, const ttm_module_op *op, ttm_op_rule *out) {
  ttm_str name = op->name;
  op_types t = {m, op, operand_type(m, op, 0), op->result_count ? type_of(m, op->results) : NULL};
  *out = (ttm_op_rule){.view = TTM_NO_ROW};
  if (!t.in || !t.out || !ttm_str_take(&name, TTM_LIT("ttnn."))) return;
  for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
    if (ttm_str_eq(name, ttm_str_of(RULES[i].name))) return RULES[i].apply(&t, out);
}
