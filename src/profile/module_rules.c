/* SPDX-License-Identifier: Apache-2.0 */
/* What ttnn's operations do beyond their printed types: results that share an operand's buffer, buffers inside the operation, and what
 * programs keep. As ttnn 0.81.1 was seen to do it, operation by operation (tests/ttnn/check_predict.py asks it again). */
#include "base/checked.h"
#include "base/hash.h"
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

static bool is_sharded(const ttm_tensor_type *type) { return type->placement > TTM_PLACE_INTERLEAVED; }

/* The same bytes in the same place. */
static bool same_storage(const ttm_tensor_type *a, const ttm_tensor_type *b) {
  return a->buffer == b->buffer && a->placement == b->placement && a->tiled == b->tiled &&
         ttm_str_eq(a->storage, b->storage) && ttm_dims_same(&a->grid, &b->grid) && ttm_dims_same(&a->shard, &b->shard);
}

static ttm_tensor_type interleaved(const ttm_tensor_type *like, uint64_t rows, uint64_t columns) {
  ttm_tensor_type out = *like;
  out.placement = TTM_PLACE_INTERLEAVED;
  out.grid = (ttm_dims){2, {1, 1}};
  out.shape = out.shard = (ttm_dims){2, {rows, columns}};
  return out;
}

/* A shape in row-major; block formats have no rows, so they become bf16. */
static ttm_tensor_type rows_of(const ttm_tensor_type *like, const ttm_dims *shape) {
  ttm_tensor_type out = interleaved(like, rows_in(shape), dim_from_end(shape, 0));
  out.tiled = false;
  if (!ttm_scalar_bytes(out.storage)) out.storage = TTM_LIT("bf16");
  return out;
}

static ttm_tensor_type as_rows(const ttm_tensor_type *type) { return rows_of(type, &type->shape); }

/* A shape in tiles of a dtype. */
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

/* ---- Maps of reshapes ---- */

/* Rows, columns and the product of the dims before them. */
typedef struct block {
  uint64_t rows, columns, tiles_down, tiles_across, count;
} block;

static block block_of(const ttm_dims *shape) {
  uint64_t rows = dim_from_end(shape, 1), columns = dim_from_end(shape, 0);
  return (block){rows, columns, ttm_div_up(rows, TILE), ttm_div_up(columns, TILE), rows ? rows_in(shape) / rows : 0};
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Where a value stands in its tile: four faces of 16 x 16. */
static uint64_t place_in_tile(uint64_t row, uint64_t column) {
  enum { FACE = 16 };
  uint64_t face = row % TILE / FACE * 2 + column % TILE / FACE;
  return face * FACE * FACE + row % FACE * FACE + column % FACE;
}

/* The tiles that one tile is put together from, and into how many pieces each is cut. A strip is one row of tiles: pieces come in the order of
 * the strips, and never again from one before. */
typedef struct pieces {
  uint64_t tiles, most; /* of all strips so far */
  uint64_t strip, at[TILE * TILE];
  uint32_t pieces[TILE * TILE], n; /* of this strip */
  uint64_t end_in, end_out, last;  /* where the piece before ended */
} pieces;

static void add_piece(pieces *p, uint64_t strip, uint64_t tile, uint64_t from, uint64_t to, uint64_t length) {
  bool goes_on = p->tiles && tile == p->last && from == p->end_in && to == p->end_out;
  p->last = tile;
  p->end_in = from + length;
  p->end_out = to + length;
  if (goes_on) return;
  if (strip != p->strip || !p->tiles) p->n = 0;
  p->strip = strip;
  uint32_t k = p->n;
  while (k && p->at[k - 1] != tile) k--;
  if (!k) {
    k = ++p->n;
    p->at[k - 1] = tile;
    p->pieces[k - 1] = 0;
    p->tiles++;
  }
  if (++p->pieces[k - 1] > p->most) p->most = p->pieces[k - 1];
}

static uint64_t pieces_of_tile(const block *in, const block *out, uint64_t tile) {
  enum { FACE = 16 };
  uint64_t per_block = out->tiles_down * out->tiles_across, nth = tile / per_block;
  uint64_t row = tile % per_block / out->tiles_across * TILE, column = tile % out->tiles_across * TILE;
  uint64_t last_row = least(out->rows, row + TILE), last_column = least(out->columns, column + TILE);
  pieces p;
  p.tiles = p.most = p.strip = p.n = 0;
  for (uint64_t r = row; r < last_row; r++) {
    uint64_t flat = (nth * out->rows + r) * out->columns + column;
    uint64_t in_column = flat % in->columns, in_row = flat / in->columns % in->rows;
    uint64_t in_block = flat / in->columns / in->rows;
    for (uint64_t c = column, length; c < last_column; c += length) {
      length = least(least(FACE - c % FACE, FACE - in_column % FACE), least(in->columns - in_column, last_column - c));
      uint64_t strip = in_block * in->tiles_down + in_row / TILE;
      add_piece(&p, strip, strip * in->tiles_across + in_column / TILE, place_in_tile(in_row, in_column),
                place_in_tile(r, c), length);
      in_column += length;
      if (in_column == in->columns) in_column = 0, in_row++;
      if (in_row == in->rows) in_row = 0, in_block++;
    }
  }
  return p.tiles * p.most;
}

uint64_t ttm_reshape_map_key(const ttm_reshape_map *map) {
  block shapes[2] = {block_of(&map->from), block_of(&map->to)};
  return ttm_hash(shapes, sizeof shapes, ttm_hash(map->storage.p, map->storage.n, ttm_hash_seed()));
}

/* Four numbers for each piece of the tile with most of them. The pattern of the tiles repeats: a part of them tells. */
ttm_tensor_type ttm_reshape_map_type(const ttm_reshape_map *map) {
  enum { LOOKED_AT = 256, WORDS = 4, ODD = 16 };
  block in = block_of(&map->from), out = block_of(&map->to);
  uint64_t tiles = ttm_mul_sat(ttm_mul_sat(out.count, out.tiles_down), out.tiles_across), most = 0;
  bool sane = in.rows && in.columns && tiles && ttm_dims_values(&map->to) < UINT64_MAX / 2;
  for (uint64_t i = 0; sane && i < least(tiles, LOOKED_AT); i++) {
    uint64_t near = pieces_of_tile(&in, &out, i), apart = tiles / LOOKED_AT;
    uint64_t far = apart > 1 ? pieces_of_tile(&in, &out, apart * i) : 0; /* near ones are all of the few */
    most = near > most ? near : most;
    most = far > most ? far : most;
  }
  most += most % ODD; /* ttnn's own rounding */
  ttm_tensor_type like = {.has_layout = most > 0, .buffer = TTM_BUFFER_DRAM, .storage = TTM_LIT("ui32")};
  return interleaved(&like, tiles, most * WORDS);
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

/* A dim counted from the front, 0 where none is given; `rank` when there is no such dim. */
static uint32_t axis_of(const ttm_module_op *op, ttm_str key, uint32_t rank) {
  numbers dim = numbers_of(op, key);
  int64_t axis = dim.n ? dim.at[0] + (dim.at[0] < 0 ? (int64_t)rank : 0) : 0;
  return axis < 0 || axis >= rank ? rank : (uint32_t)axis;
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

/* A copy in tiles goes by a map of where each piece of a tile comes from, which its program keeps. */
static void add_map(ttm_op_rule *rule, ttm_str storage, const ttm_dims *from, const ttm_dims *to) {
  if (rule->map_count < TTM_MOST_MAPS) rule->maps[rule->map_count++] = (ttm_reshape_map){storage, *from, *to};
}

/* ttnn's own rule: rows stay rows, and tiles stay tiles. */
static bool reshape_is_view(const ttm_tensor_type *in, const ttm_tensor_type *out) {
  uint64_t rows = dim_from_end(&in->shape, 1), rows_out = dim_from_end(&out->shape, 1);
  if (in->buffer != out->buffer || is_sharded(in) != is_sharded(out) || in->tiled != out->tiled) return false;
  if (dim_from_end(&in->shape, 0) != dim_from_end(&out->shape, 0)) return false;
  return !in->tiled || rows == rows_out || (rows % in->tile_h == 0 && rows_out % out->tile_h == 0);
}

static bool is_block_format(const ttm_tensor_type *type) { return !ttm_scalar_bytes(type->storage); }

/* Block formats are converted to bf16, there and back. */
static void convert_blocks(ttm_op_rule *rule, const ttm_tensor_type *in, const ttm_tensor_type *out) {
  if (!is_block_format(in)) return;
  add_inner(rule, as_tiles(in, &in->shape, TTM_LIT("bf16")));
  add_inner(rule, as_tiles(in, &out->shape, TTM_LIT("bf16")));
  rule->hold = true;
}

static void rule_reshape(const op_types *t, ttm_op_rule *rule) {
  if (reshape_is_view(t->in, t->out)) return (void)(rule->view = 0);
  if (!t->in->tiled || !t->out->tiled) return;
  convert_blocks(rule, t->in, t->out);
  add_map(rule, is_block_format(t->in) ? TTM_LIT("bf16") : t->in->storage, &t->in->shape, &t->out->shape);
}

static void rule_same(const op_types *t, ttm_op_rule *rule) {
  if (same_storage(t->in, t->out)) rule->view = 0;
}

static void rule_in_place(const op_types *t, ttm_op_rule *rule) {
  (void)t;
  rule->view = 0;
}

/* Block formats are permuted as they are where the last two dims stay the last two. */
static void rule_permute(const op_types *t, ttm_op_rule *rule) {
  numbers order = numbers_of(t->op, TTM_LIT("permutation"));
  bool moves = false, across = false;
  for (uint32_t i = 0; i < order.n; i++) {
    moves |= order.at[i] != i;
    across |= (i + 2 < order.n) != (order.at[i] + 2 < order.n);
  }
  if (order.n && !moves) return (void)(rule->view = 0);
  if (across && t->in->tiled) convert_blocks(rule, t->in, t->out);
}

static void rule_slice(const op_types *t, ttm_op_rule *rule) {
  numbers begins = numbers_of(t->op, TTM_LIT("begins")), step = numbers_of(t->op, TTM_LIT("step"));
  if (ttm_dims_same(&t->in->shape, &t->out->shape)) return (void)(rule->view = 0);
  bool in_rows = false;
  for (uint32_t i = 0; i < begins.n; i++) in_rows |= i + 2 >= begins.n && begins.at[i] % TILE;
  for (uint32_t i = 0; i < step.n; i++) in_rows |= step.at[i] != 1;
  if (!t->in->tiled || !in_rows) return;
  add_inner(rule, as_rows(t->in));
  add_inner(rule, as_rows(t->out));
  rule->hold = true;
}

/* Along the rows, tiles that are not full are joined as rows. */
static void rule_concat(const op_types *t, ttm_op_rule *rule) {
  uint32_t rank = t->out->shape.rank, axis = axis_of(t->op, TTM_LIT("dim"), rank);
  bool in_rows = false;
  if (axis == rank) return;
  for (uint32_t k = 0; k < t->op->operand_count; k++) {
    const ttm_tensor_type *type = operand_type(t->m, t->op, k);
    in_rows |= type && type->shape.rank == rank && type->shape.at[axis] % TILE;
  }
  if (!t->out->tiled || !in_rows || axis + 2 != rank) return;
  for (uint32_t k = 0; k < t->op->operand_count && k + 1 < TTM_MOST_INNER; k++) {
    const ttm_tensor_type *type = operand_type(t->m, t->op, k);
    if (type) add_inner(rule, as_rows(type));
  }
  add_inner(rule, as_rows(t->out));
  rule->hold = true;
  if (is_block_format(t->out)) rule->result = as_tiles(t->out, &t->out->shape, TTM_LIT("bf16"));
}

static void rule_repeat(const op_types *t, ttm_op_rule *rule) {
  if (ttm_dims_same(&t->in->shape, &t->out->shape)) return (void)(rule->view = 0);
  bool in_rows = false;
  for (uint32_t k = 0; k < 2; k++) {
    uint64_t before = dim_from_end(&t->in->shape, k), after = dim_from_end(&t->out->shape, k);
    in_rows |= before != after && before % TILE;
  }
  if (!t->in->tiled || !in_rows) return;
  add_inner(rule, as_rows(t->in));
  add_inner(rule, as_rows(t->out));
}

/* A table in tiles is laid out in rows first; what does not fill its tiles is looked up as rows. */
static void rule_embedding(const op_types *t, ttm_op_rule *rule) {
  const ttm_tensor_type *table = operand_type(t->m, t->op, 1);
  bool full = dim_from_end(&t->in->shape, 0) % TILE == 0 && dim_from_end(&t->out->shape, 0) % TILE == 0;
  if (table && table->tiled) add_inner(rule, as_rows(table));
  if (t->out->tiled && !full) add_inner(rule, as_rows(t->out));
  rule->hold = true;
}

/* A dim before the last two: a sum goes over it, the others bring it to the rows and back. */
static void reduce_outer(const op_types *t, ttm_op_rule *rule, ttm_dims *shape, uint32_t dim) {
  if (!ttm_str_eq(t->op->name, TTM_LIT("ttnn.sum"))) {
    ttm_dims moved = *shape;
    moved.at[dim] = shape->at[shape->rank - 2];
    moved.at[shape->rank - 2] = shape->at[dim];
    add_inner(rule, as_tiles(t->out, &moved, t->in->storage));
    moved.at[shape->rank - 2] = 1;
    add_inner(rule, as_tiles(t->out, &moved, t->in->storage));
  }
  shape->at[dim] = 1;
}

/* One dim after the other, the last first, a sum meanwhile in f32. A dim that goes altogether is reshaped away. */
static void rule_reduce(const op_types *t, ttm_op_rule *rule) {
  numbers dims = numbers_of(t->op, TTM_LIT("dim_arg"));
  bool sum = ttm_str_eq(t->op->name, TTM_LIT("ttnn.sum")), outer = false;
  ttm_tensor_type step = *t->in;
  ttm_dims shape = t->in->shape;
  uint32_t left = dims.n ? dims.n : shape.rank;
  if (!t->in->tiled || shape.rank < 2) return;
  for (uint32_t i = shape.rank; i-- > 0 && left;) {
    bool reduced = !dims.n;
    for (uint32_t k = 0; k < dims.n; k++) reduced |= dims.at[k] == i || dims.at[k] + shape.rank == i;
    if (!reduced) continue;
    outer = i + 2 < shape.rank;
    if (outer)
      reduce_outer(t, rule, &shape, i);
    else
      shape.at[i] = 1;
    step = as_tiles(t->out, &shape, --left && sum ? TTM_LIT("f32") : t->in->storage);
    if (left) add_inner(rule, step);
  }
  bool copied = !ttm_dims_same(&shape, &t->out->shape) && !reshape_is_view(&step, t->out);
  if (copied || (sum && outer)) add_inner(rule, step);
  if (copied) add_map(rule, t->in->storage, &shape, &t->out->shape);
}

/* An activation is an operation of its own, unless a program configuration fuses it; so is a bias of many rows. */
static void rule_linear(const op_types *t, ttm_op_rule *rule) {
  const ttm_tensor_type *bias = operand_type(t->m, t->op, 2);
  bool apart = ttm_module_attribute(t->op, TTM_LIT("activation")).n > 0;
  bool fused = ttm_module_attribute(t->op, TTM_LIT("matmul_program_config")).n > 0;
  if ((apart && !fused) || (bias && dim_from_end(&bias->shape, 1) > 1)) add_inner(rule, *t->out);
}

/* A mask is laid out anew. */
static void rule_attention(const op_types *t, ttm_op_rule *rule) {
  const ttm_tensor_type *mask = operand_type(t->m, t->op, 3);
  if (mask) add_inner(rule, *mask);
}

/* ---- Between chips ---- */

/* The chips have their parts already: only the printed shape changes. */
static void rule_mesh_shard(const op_types *t, ttm_op_rule *rule) {
  if (ttm_str_contains(ttm_module_attribute(t->op, TTM_LIT("shard_type")), TTM_LIT("identity"))) rule->view = 0;
}

static ttm_tensor_type times(const ttm_tensor_type *type, uint64_t n) {
  ttm_tensor_type one = type->tiled ? as_tiles(type, &type->shape, type->storage) : as_rows(type);
  return interleaved(&one, ttm_mul_sat(n, one.shard.at[0]), one.shard.at[1]);
}

/* Parts that do not fill their tiles come one by one, and are joined as rows. */
static void rule_all_gather(const op_types *t, ttm_op_rule *rule) {
  uint32_t rank = t->out->shape.rank, axis = axis_of(t->op, TTM_LIT("all_gather_dim"), rank);
  uint64_t part = axis < t->in->shape.rank && axis < rank ? t->in->shape.at[axis] : 0;
  if (!t->in->tiled || axis + 2 < rank || !part || part % TILE == 0) return;
  add_inner(rule, times(t->in, t->out->shape.at[axis] / part));
  add_inner(rule, as_rows(t->out));
  add_inner(rule, as_rows(t->out));
  rule->hold = true;
}

/* Sums on their way stand in DRAM, from both sides of a line; in a ring they stay in L1, of which nothing tells. */
static void rule_reduce_scatter(const op_types *t, ttm_op_rule *rule) {
  rule->l1_unknown = ttm_str_contains(ttm_module_attribute(t->op, TTM_LIT("topology")), TTM_LIT("ring"));
  if (!rule->l1_unknown) add_inner(rule, times(t->in, 2));
}

/* ---- Convolutions ---- */

typedef struct conv {
  uint64_t batch, height, width, in, out, kernel_h, kernel_w, groups, out_height, out_width;
  bool product; /* a matrix product */
  bool sliced;  /* from DRAM to DRAM, piece by piece */
  bool unsaid;  /* ttnn decides whether it is */
} conv;

static uint64_t pair_at(numbers pair, uint32_t k, uint64_t otherwise) {
  return k < pair.n && pair.at[k] >= 0 ? (uint64_t)pair.at[k] : otherwise;
}

static uint64_t window_count(uint64_t size, uint64_t padding, uint64_t kernel, uint64_t dilation, uint64_t stride) {
  uint64_t span = ttm_add_sat(ttm_mul_sat(dilation, kernel ? kernel - 1 : 0), 1), all = ttm_add_sat(size, padding);
  return all < span || !stride ? 0 : (all - span) / stride + 1;
}

static conv conv_of(const ttm_module_op *op) {
  numbers kernel = numbers_of(op, TTM_LIT("kernel_size")), stride = numbers_of(op, TTM_LIT("stride")),
          padding = numbers_of(op, TTM_LIT("padding")), dilation = numbers_of(op, TTM_LIT("dilation"));
  ttm_str slices = ttm_module_attribute(op, TTM_LIT("conv2d_slice_config"));
  conv c = {.batch = number_of(op, TTM_LIT("batch_size"), 1),
            .height = number_of(op, TTM_LIT("input_height"), 0),
            .width = number_of(op, TTM_LIT("input_width"), 0),
            .in = number_of(op, TTM_LIT("in_channels"), 0),
            .out = number_of(op, TTM_LIT("out_channels"), 0),
            .kernel_h = pair_at(kernel, 0, 0),
            .kernel_w = pair_at(kernel, 1, 0),
            .groups = number_of(op, TTM_LIT("groups"), 1)};
  /* top, bottom, left, right; or height, width */
  bool four = padding.n == 4;
  uint64_t pad_h = four ? pair_at(padding, 0, 0) + pair_at(padding, 1, 0) : 2 * pair_at(padding, 0, 0);
  uint64_t pad_w = four ? pair_at(padding, 2, 0) + pair_at(padding, 3, 0) : 2 * pair_at(padding, 1, 0);
  c.product = c.kernel_h == 1 && c.kernel_w == 1 && !pad_h && !pad_w && pair_at(stride, 0, 1) == 1 &&
              pair_at(stride, 1, 1) == 1 && c.groups == 1;
  c.out_height = window_count(c.height, pad_h, c.kernel_h, pair_at(dilation, 0, 1), pair_at(stride, 0, 1));
  c.out_width = window_count(c.width, pad_w, c.kernel_w, pair_at(dilation, 1, 1), pair_at(stride, 1, 1));
  c.sliced = ttm_str_contains(slices, TTM_LIT("dram_")) && !c.product;
  c.unsaid = !slices.n && !c.product;
  return c;
}

/* Slices are cut from images whose rows are tiles of their own, and put together in such images. What it takes of L1 is not known. */
static void rule_conv(const op_types *t, ttm_op_rule *rule) {
  conv c = conv_of(t->op);
  ttm_dims in = {4, {c.batch, c.height, c.width, c.in}}, out = {4, {c.batch, c.out_height, c.out_width, c.out}};
  rule->l1_unknown = true;
  rule->dram_unknown = c.unsaid && t->in->buffer == TTM_BUFFER_DRAM;
  if (!c.sliced) return;
  rule->hold = true;
  if (t->in->tiled && c.width % TILE) {
    add_inner(rule, as_tiles(t->in, &in, t->in->storage));
    add_map(rule, t->in->storage, &t->in->shape, &in);
  }
  if (t->out->tiled && c.out_width % TILE) {
    add_inner(rule, as_tiles(t->out, &out, t->out->storage));
    add_map(rule, t->out->storage, &out, &t->out->shape);
  }
}

/* The slices of a convolution from DRAM are tried on weights in rows. */
static void try_slices(const op_types *t, const conv *c, ttm_op_rule *rule) {
  ttm_dims weights = {4, {c->out, c->groups ? c->in / c->groups : 0, c->kernel_h, c->kernel_w}};
  bool from_dram = ttm_str_contains(ttm_module_attribute(t->op, TTM_LIT("input_memory_config")), TTM_LIT("dram"));
  if (from_dram && !c->product && t->out->buffer == TTM_BUFFER_DRAM) add_inner(rule, rows_of(t->out, &weights));
}

static void rule_conv_bias(const op_types *t, ttm_op_rule *rule) {
  conv c = conv_of(t->op);
  try_slices(t, &c, rule);
}

/* Every position of the kernel has its channels padded: to tiles where the input is in tiles, else to what the NoC moves. */
static void rule_conv_weights(const op_types *t, ttm_op_rule *rule) {
  enum { NOC_VALUES = 8 };
  conv c = conv_of(t->op);
  bool tiled = ttm_str_contains(ttm_module_attribute(t->op, TTM_LIT("input_tensor_layout")), TTM_LIT("tile"));
  if (c.sliced) try_slices(t, &c, rule);
  if (!c.groups || !t->out->tiled || is_sharded(t->out)) return;
  uint64_t channels = ttm_round_up(c.in / c.groups, tiled && !c.sliced ? TILE : NOC_VALUES);
  uint64_t rows = ttm_div_up(ttm_mul_sat(ttm_mul_sat(c.kernel_h, c.kernel_w), channels), TILE);
  if (rows > t->out->shard.at[0]) rule->result = interleaved(t->out, rows, t->out->shard.at[t->out->shard.rank - 1]);
  if (rule->result.has_layout) rule->result.shape = t->out->shape;
}

/* What it takes of L1 is not known. */
static void rule_windows(const op_types *t, ttm_op_rule *rule) {
  (void)t;
  rule->l1_unknown = true;
}

static void rule_other_conv(const op_types *t, ttm_op_rule *rule) {
  rule->l1_unknown = true;
  rule->dram_unknown = t->in->buffer == TTM_BUFFER_DRAM;
}

/* All in rows: what is written to, where and what, and the result. */
static void rule_scatter(const op_types *t, ttm_op_rule *rule) {
  for (uint32_t k = 0; k < 3; k++) {
    const ttm_tensor_type *type = operand_type(t->m, t->op, k);
    if (type && type->tiled) add_inner(rule, as_rows(type));
  }
  if (t->out->tiled) add_inner(rule, as_rows(t->out));
  rule->hold = true;
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
    {"scatter", rule_scatter},
    {"embedding", rule_embedding},
    {"sum", rule_reduce},
    {"mean", rule_reduce},
    {"max", rule_reduce},
    {"min", rule_reduce},
    {"linear", rule_linear},
    {"matmul", rule_linear},
    {"mesh_shard", rule_mesh_shard},
    {"all_gather", rule_all_gather},
    {"reduce_scatter", rule_reduce_scatter},
    {"all_reduce", rule_reduce_scatter},
    {"scaled_dot_product_attention", rule_attention},
    {"prepare_conv2d_weights", rule_conv_weights},
    {"prepare_conv2d_bias", rule_conv_bias},
    {"conv2d", rule_conv},
    {"conv_transpose2d", rule_other_conv},
    {"conv3d", rule_other_conv},
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
