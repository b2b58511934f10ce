/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/change.h"

#include "base/checked.h"
#include "base/error.h"

/* ---- Reading ----------------------------------------------------------------------------------------------------------- */

typedef struct kind_row {
  const char *name, *values;
  bool (*read)(ttm_change *out, ttm_str value);
  bool pattern;
} kind_row;

static bool read_dtype(ttm_change *out, ttm_str value) {
  static const char *const names[] = {"bf16", "f32", "bfp8", "bfp4"};
  static const ttm_str stored[] = {TTM_LIT("bf16"), TTM_LIT("f32"), TTM_LIT("bfp_bf8"), TTM_LIT("bfp_bf4")};
  size_t i = ttm_str_index(value, names, 4);
  if (i < 4) out->storage = stored[i];
  return i < 4;
}

static bool read_free(ttm_change *out, ttm_str value) {
  static const char *const names[] = {"last-use", "run-end", "now"};
  out->when = (ttm_free_when)ttm_str_index(value, names, 3);
  return out->when <= TTM_FREE_NOW;
}

static bool read_move(ttm_change *out, ttm_str value) {
  static const char *const names[] = {"dram", "l1", "host"};
  static const ttm_buffer_kind buffers[] = {TTM_BUFFER_DRAM, TTM_BUFFER_L1, TTM_BUFFER_SYSTEM};
  size_t i = ttm_str_index(value, names, 3);
  if (i < 3) out->buffer = buffers[i];
  return i < 3;
}

static bool read_layout(ttm_change *out, ttm_str value) {
  out->tiled = ttm_str_eq(value, TTM_LIT("tile"));
  return out->tiled || ttm_str_eq(value, TTM_LIT("row_major"));
}

static bool take_number(ttm_str *value, uint32_t most, uint32_t *out) {
  uint64_t n;
  if (!ttm_str_take_u64(value, &n) || n < 1 || n > most) return false;
  *out = (uint32_t)n;
  return true;
}

static bool read_shape(ttm_change *out, ttm_str value) {
  out->shape.rank = 0;
  while (out->shape.rank < TTM_MAX_RANK && ttm_str_take_u64(&value, &out->shape.at[out->shape.rank])) {
    out->shape.rank++;
    if (!value.n) return true;
    if (!ttm_str_take(&value, TTM_LIT("x"))) return false;
  }
  return false;
}

enum { MOST_CORES = 1024, MOST_TIMES = 65536 };

static bool read_shard(ttm_change *out, ttm_str value) {
  static const char *const names[] = {"height", "width", "block"};
  size_t i = ttm_str_index(ttm_str_take_to(&value, ','), names, 3);
  if (i >= 3 || !take_number(&value, MOST_CORES, &out->across)) return false;
  out->placement = (ttm_placement)(TTM_PLACE_HEIGHT_SHARDED + i);
  out->down = i == 0 ? out->across : 1;
  if (i == 0) out->across = 1;
  if (i == 2 && (!ttm_str_take(&value, TTM_LIT("x")) || !take_number(&value, MOST_CORES, &out->down))) return false;
  return !value.n;
}

static bool read_divide(ttm_change *out, ttm_str value) {
  out->down = 1;
  return take_number(&value, MOST_TIMES, &out->across) && !value.n;
}

static bool read_batch(ttm_change *out, ttm_str value) {
  out->across = 1;
  if (!take_number(&value, MOST_TIMES, &out->down)) return false;
  if (ttm_str_take(&value, TTM_LIT("/")) && !take_number(&value, MOST_TIMES, &out->across)) return false;
  return !value.n;
}

static bool read_order(ttm_change *out, ttm_str value) {
  (void)out;
  return ttm_str_eq(value, TTM_LIT("first"));
}

static bool read_board(ttm_change *out, ttm_str value) {
  out->board = ttm_board_find(value);
  return out->board != NULL;
}

static const kind_row KINDS[TTM_CHANGE_KINDS] = {
    [TTM_CHANGE_DTYPE] = {"dtype", "bf16, f32, bfp8 or bfp4", read_dtype, true},
    [TTM_CHANGE_FREE] = {"free", "last-use, run-end or now", read_free, true},
    [TTM_CHANGE_MOVE] = {"move", "dram, l1 or host", read_move, true},
    [TTM_CHANGE_LAYOUT] = {"layout", "tile or row_major", read_layout, true},
    [TTM_CHANGE_RESHAPE] = {"reshape", "a shape such as 64x128", read_shape, true},
    [TTM_CHANGE_SHARD] = {"shard", "height,CORES or width,CORES or block,COLUMNSxROWS", read_shard, true},
    [TTM_CHANGE_DIVIDE] = {"divide", "a number", read_divide, true},
    [TTM_CHANGE_ORDER] = {"order", "first", read_order, true},
    [TTM_CHANGE_BATCH] = {"batch", "a factor such as 4 or 1/2", read_batch, false},
    [TTM_CHANGE_BOARD] = {"board", "n150, n300, t3k, galaxy, p100, p150 or p300", read_board, false},
};

int ttm_change_parse(ttm_change *out, ttm_str text, ttm_error *err) {
  ttm_str rest = text, name = ttm_str_take_to(&rest, '=');
  *out = (ttm_change){.text = text, .kind = TTM_CHANGE_KINDS};
  for (int k = 0; k < TTM_CHANGE_KINDS; k++)
    if (ttm_str_eq(name, ttm_str_of(KINDS[k].name))) out->kind = (ttm_change_kind)k;
  if (out->kind == TTM_CHANGE_KINDS)
    return ttm_error_set(err, TTM_EUSAGE,
                         "change '%.*s' is not NAME=VALUE:PATTERN with a NAME of dtype, free, move, layout, reshape, "
                         "shard, divide and order, nor batch=FACTOR or board=NAME",
                         TTM_ARGS(text));
  const kind_row *row = &KINDS[out->kind];
  ttm_str value = row->pattern ? ttm_str_take_to(&rest, ':') : rest;
  if (!row->read(out, value))
    return ttm_error_set(err, TTM_EUSAGE, "change '%.*s': %s takes %s, not '%.*s'", TTM_ARGS(text), row->name,
                         row->values, TTM_ARGS(value));
  if (row->pattern) out->pattern = rest;
  if (row->pattern && !rest.n)
    return ttm_error_set(err, TTM_EUSAGE, "change '%.*s' does not say which tensors: %s=%.*s:PATTERN", TTM_ARGS(text),
                         row->name, TTM_ARGS(value));
  return TTM_OK;
}

/* ---- Matching ---------------------------------------------------------------------------------------------------------- */

/* Takes the next pattern of the list, which may hold "\,". */
static ttm_str take_pattern(ttm_str *rest) {
  size_t n = 0;
  while (n < rest->n && rest->p[n] != ',') n += rest->p[n] == '\\' && n + 1 < rest->n ? 2 : 1;
  ttm_str one = ttm_str_first(*rest, n);
  *rest = ttm_str_from(*rest, n + 1);
  return one;
}

/* As ttm_str_like, and what stands behind a backslash means itself. */
static bool is_like(ttm_str text, ttm_str pattern) {
  size_t t = 0, p = 0, star = SIZE_MAX, from = 0;
  while (t < text.n) {
    bool any = p < pattern.n && pattern.p[p] == '*';
    size_t skip = p + 1 < pattern.n && pattern.p[p] == '\\';
    if (any) {
      star = ++p, from = t;
    } else if (p + skip < pattern.n && pattern.p[p + skip] == text.p[t]) {
      p += 1 + skip, t++;
    } else {
      if (star == SIZE_MAX) return false;
      p = star, t = ++from;
    }
  }
  while (p < pattern.n && pattern.p[p] == '*') p++;
  return p == pattern.n;
}

/* Where "ttnn.add@model.py:17" has its '@'; its length when it has none. */
static size_t place_sign(ttm_str pattern) {
  size_t at = 0;
  while (at < pattern.n && (pattern.p[at] != '@' || !at)) at += pattern.p[at] == '\\' ? 2 : 1;
  return at < pattern.n ? at : pattern.n;
}

static bool means(ttm_str pattern, const ttm_label *label, uint32_t index, bool *by_class) {
  uint64_t number;
  ttm_str digits = ttm_str_from(pattern, 1);
  *by_class = false;
  if (ttm_str_starts(pattern, TTM_LIT("#")) && ttm_str_take_u64(&digits, &number) && !digits.n) return number == index;
  size_t at = place_sign(pattern);
  if (at < pattern.n)
    return is_like(label->op, ttm_str_first(pattern, at)) && is_like(label->at, ttm_str_from(pattern, at + 1));
  if ((label->name.n && is_like(label->name, pattern)) || (label->op.n && is_like(label->op, pattern)) ||
      (label->at.n && is_like(label->at, pattern)))
    return true;
  return *by_class = ttm_str_eq(pattern, ttm_str_of(ttm_alive_class_name(NULL, label->class)));
}

bool ttm_change_means(const ttm_change *change, const ttm_label *label, uint32_t index, bool *by_class) {
  ttm_str rest = change->pattern;
  bool meant = change->kind == TTM_CHANGE_BATCH && ttm_class_grows(label->class), class = false;
  *by_class = false;
  while (rest.n) {
    ttm_str one = take_pattern(&rest);
    bool out = one.n && one.p[0] == '!';
    if (!means(ttm_str_from(one, out), label, index, &class)) continue;
    if (out) return false;
    *by_class = meant ? *by_class && class : class;
    meant = true;
  }
  return meant;
}

void ttm_change_quote(ttm_buf *out, ttm_str name) {
  for (size_t i = 0; i < name.n; i++) {
    char c = name.p[i];
    if (c == ',' || c == '*' || c == '\\' || c == '@' || (i == 0 && (c == '!' || c == '#'))) ttm_buf_char(out, '\\');
    ttm_buf_char(out, c);
  }
}

/* ---- Types ------------------------------------------------------------------------------------------------------------- */

static bool is_float(ttm_str dtype) {
  return ttm_str_eq(dtype, TTM_LIT("bf16")) || ttm_str_eq(dtype, TTM_LIT("f32")) || ttm_str_eq(dtype, TTM_LIT("f16")) ||
         ttm_str_starts(dtype, TTM_LIT("bfp"));
}

static bool is_matrix(const ttm_tensor_type *type) {
  uint32_t rank = type->shape.rank;
  return rank >= 2 && type->shape.at[rank - 1] >= 32 && type->shape.at[rank - 2] >= 32;
}

static bool change_dtype(const ttm_change *change, ttm_tensor_type *type, bool by_class, const char **why) {
  bool block = ttm_str_starts(change->storage, TTM_LIT("bfp"));
  if (!is_float(type->storage)) return *why = "holds no floats", false;
  if (block && !type->tiled) return *why = "is row-major, and block formats need tiles", false;
  if (block && by_class && !is_matrix(type)) return *why = "is no matrix", false;
  type->storage = change->storage;
  return true;
}

/* The layout that holds the whole tensor in one piece, spread over the banks. */
static void interleave(ttm_tensor_type *type) {
  ttm_dims units = type->shape;
  uint64_t rows = 1, columns = units.rank ? units.at[units.rank - 1] : 1;
  for (uint32_t i = 0; i + 1 < units.rank; i++) {
    bool last = type->tiled && i + 2 == units.rank;
    rows = ttm_mul_sat(rows, last ? ttm_div_up(units.at[i], type->tile_h) : units.at[i]);
  }
  if (type->tiled) columns = ttm_div_up(columns, type->tile_w);
  type->nd = false;
  type->grid = (ttm_dims){2, {1, 1}};
  type->shard = (ttm_dims){2, {rows, columns}};
  type->placement = TTM_PLACE_INTERLEAVED;
}

static bool change_layout(const ttm_change *change, ttm_tensor_type *type, const char **why) {
  if (type->tiled == change->tiled) return *why = "has that layout already", false;
  if (type->placement != TTM_PLACE_INTERLEAVED) return *why = "is sharded", false;
  if (!change->tiled && ttm_str_starts(type->storage, TTM_LIT("bfp"))) type->storage = TTM_LIT("bf16");
  type->tiled = change->tiled;
  if (type->tiled) type->tile_h = type->tile_w = 32;
  interleave(type);
  return true;
}

static bool change_shape(const ttm_change *change, ttm_tensor_type *type, const char **why) {
  if (ttm_dims_values(&change->shape) != ttm_dims_values(&type->shape))
    return *why = "has another number of values", false;
  if (type->placement != TTM_PLACE_INTERLEAVED) return *why = "is sharded", false;
  type->shape = change->shape;
  interleave(type);
  return true;
}

static bool change_shards(const ttm_change *change, ttm_tensor_type *type) {
  interleave(type);
  type->buffer = TTM_BUFFER_L1;
  type->placement = change->placement;
  type->grid = (ttm_dims){2, {change->down, change->across}};
  type->shard.at[0] = ttm_div_up(type->shard.at[0], change->down);
  type->shard.at[1] = ttm_div_up(type->shard.at[1], change->across);
  return true;
}

/* One part of it: as many rows of pages fewer, whatever dim that is. */
static bool change_part(const ttm_change *change, ttm_tensor_type *type) {
  if (type->placement == TTM_PLACE_INTERLEAVED) interleave(type);
  uint32_t dim = type->shard.rank > 1 && type->shard.at[0] < change->across;
  type->shard.at[dim] = ttm_div_up(type->shard.at[dim], change->across);
  return true;
}

/* The first dim grows or shrinks, tiles and shards with it. */
static bool change_batch(const ttm_change *change, ttm_tensor_type *type) {
  uint64_t before = 1, after = 1;
  if (!type->shape.rank || !type->shard.rank) return true;
  uint64_t first = ttm_div_up(ttm_mul_sat(type->shape.at[0], change->down), change->across);
  for (uint32_t i = 0; i + 1 < type->shape.rank; i++) {
    bool rows = type->tiled && i + 2 == type->shape.rank;
    uint64_t now = i == 0 ? first : type->shape.at[i];
    before = ttm_mul_sat(before, rows ? ttm_div_up(type->shape.at[i], type->tile_h) : type->shape.at[i]);
    after = ttm_mul_sat(after, rows ? ttm_div_up(now, type->tile_h) : now);
  }
  if (type->shape.rank == 1) before = change->across, after = change->down;
  type->shape.at[0] = first;
  if (before) type->shard.at[0] = ttm_div_up(ttm_mul_sat(type->shard.at[0], after), before);
  return true;
}

/* A cache of so many blocks, or of so many tokens for each user; a page table with as many entries. */
static bool change_blocks(const ttm_change *change, ttm_tensor_type *type, const char **why) {
  if (type->placement != TTM_PLACE_INTERLEAVED) return *why = "is sharded", false;
  uint64_t *columns = &type->shape.at[type->shape.rank - 1];
  if (is_float(type->storage))
    type->shape.at[change->paged ? 0 : 2] = change->blocks;
  else
    *columns = ttm_div_up(ttm_mul_sat(*columns, change->blocks), change->blocks_before);
  interleave(type);
  return true;
}

bool ttm_change_type(const ttm_change *change, ttm_tensor_type *type, bool by_class, const char **why) {
  if (!type->has_layout) return *why = "has no known layout", false;
  switch (change->kind) {
    case TTM_CHANGE_DTYPE:
      return change_dtype(change, type, by_class, why);
    case TTM_CHANGE_MOVE:
      if (type->buffer == change->buffer) return *why = "is there already", false;
      type->buffer = change->buffer;
      interleave(type);
      return true;
    case TTM_CHANGE_LAYOUT:
      return change_layout(change, type, why);
    case TTM_CHANGE_RESHAPE:
      return change_shape(change, type, why);
    case TTM_CHANGE_SHARD:
      return change_shards(change, type);
    case TTM_CHANGE_DIVIDE:
      return change_part(change, type);
    case TTM_CHANGE_BATCH:
      return change_batch(change, type);
    case TTM_CHANGE_BLOCKS:
      return change_blocks(change, type, why);
    default:
      return true;
  }
}
