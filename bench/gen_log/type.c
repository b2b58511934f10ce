/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor types: their text and what they cost (spec tt-xla-log.md 4.2, 4.3; tt-metal.md 7, rules 1 to 3). */
#include "base/hash.h"
#include "gen_log/gen.h"

#include <stdio.h>

enum { TILE = 32 };

static const struct {
  const char *scalar, *tile;
  uint32_t bytes, tile_bytes;
} DTYPES[GEN_DTYPES] = {
    [GEN_BF16] = {"bf16", "bf16", 2, 2048},  [GEN_F32] = {"f32", "f32", 4, 4096},
    [GEN_BFP8] = {NULL, "bfp_bf8", 0, 1088}, [GEN_BFP4] = {NULL, "bfp_bf4", 0, 576},
    [GEN_BFP2] = {NULL, "bfp_bf2", 0, 320},  [GEN_F16] = {"f16", "f16", 2, 2048},
    [GEN_SI32] = {"si32", "si32", 4, 4096},  [GEN_UI32] = {"ui32", "u32", 4, 4096},
    [GEN_UI16] = {"ui16", "u16", 2, 2048},   [GEN_UI8] = {"ui8", "u8", 1, 1024},
    [GEN_I1] = {"i1", "i1", 1, 1024},
};

static const char *const PLACES[] = {"interleaved", "height_sharded", "width_sharded", "block_sharded", "nd_sharded"};
static const char *const BUFFERS[] = {"dram", "l1", "l1_small", "trace", "system_memory"};

const char *gen_dtype_name(uint32_t dtype) { return DTYPES[dtype].scalar ? DTYPES[dtype].scalar : DTYPES[dtype].tile; }

const char *gen_memory_name(uint32_t memory) {
  static const char *const names[] = {"DRAM", "L1", "L1_SMALL", "TRACE", "HOST"};
  return names[memory];
}

static uint64_t up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }
static uint64_t pieces(uint64_t value, uint64_t size) { return (value + size - 1) / size; }

/* The tensor as the two-dimensional array that is laid out: all but the last dimension collapsed, after the last two
 * were padded to whole tiles. strides[i] is the number of rows one step in dimension i moves. */
static void collapse(const gen_shape *s, uint64_t *rows, uint64_t *columns, uint64_t strides[GEN_MAX_RANK]) {
  uint64_t padded[GEN_MAX_RANK];
  for (uint32_t i = 0; i < s->rank; i++) {
    padded[i] = s->dims[i];
    if (s->tiled && i + 2 >= s->rank) padded[i] = up(padded[i], TILE);
  }
  *columns = s->rank ? padded[s->rank - 1] : s->tiled ? TILE : 1;
  *rows = 1;
  for (uint32_t i = s->rank > 1 ? s->rank - 1 : 0; i-- > 0;) {
    strides[i] = *rows;
    *rows *= padded[i];
  }
  if (s->rank < 2 && s->tiled) *rows = TILE;
}

static uint64_t elements(const gen_shape *s) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < s->rank; i++) n *= s->dims[i];
  return n;
}

/* One shard in units of the memref (tiles or elements). */
typedef struct shard {
  uint64_t rows, columns;
} shard;

static shard shard_of(const gen_shape *s, const gen_board *board) {
  uint64_t rows, columns, strides[GEN_MAX_RANK];
  collapse(s, &rows, &columns, strides);
  if (s->tiled) rows /= TILE, columns /= TILE;
  if (s->place != GEN_INTERLEAVED) return (shard){pieces(rows, s->grid_rows), pieces(columns, s->grid_cols)};
  if (s->memory == GEN_L1) return (shard){1, pieces(rows * columns, (uint64_t)board->grid_rows * board->grid_cols)};
  return (shard){rows, columns};
}

static uint64_t nd_shard_count(const gen_shape *s) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < s->rank; i++) n *= pieces(s->dims[i], s->nd_shard[i]);
  return n;
}

static void cost(gen_type *t, const gen_board *board) {
  const gen_shape *s = &t->shape;
  uint32_t tile_bytes = DTYPES[s->dtype].tile_bytes, scalar = DTYPES[s->dtype].bytes;
  t->logical = scalar ? elements(s) * scalar : elements(s) * tile_bytes / (TILE * TILE);
  uint64_t rows, columns, strides[GEN_MAX_RANK];
  collapse(s, &rows, &columns, strides);
  uint64_t tiles = rows / TILE * (columns / TILE);
  if (s->memory == GEN_HOST) {
    t->stored = s->tiled ? tiles * tile_bytes : rows * columns * scalar;
    return;
  }
  shard one = shard_of(s, board);
  uint64_t page = s->tiled ? tile_bytes : (s->place == GEN_INTERLEAVED ? columns : one.columns) * scalar;
  uint64_t aligned = up(page, board->page_align[s->memory]), pages;
  uint32_t banks = board->banks[s->memory];
  if (s->place == GEN_INTERLEAVED) {
    pages = s->tiled ? tiles : rows;
  } else if (s->place == GEN_ND) {
    uint64_t per_shard = 1;
    for (uint32_t i = 0; i < s->rank; i++)
      per_shard *= i + 2 >= s->rank ? pieces(s->nd_shard[i], TILE) : s->nd_shard[i];
    banks = s->grid_rows * s->grid_cols;
    t->stored = nd_shard_count(s) * per_shard * aligned;
    pages = pieces(nd_shard_count(s), banks) * per_shard * banks;
  } else {
    banks = s->grid_rows * s->grid_cols;
    pages = (s->tiled ? one.rows * one.columns : one.rows) * banks;
  }
  t->shards = banks;
  t->per_bank = pieces(pages, banks) * aligned;
  t->block = up(t->per_bank > board->block_align ? t->per_bank : board->block_align, board->block_align);
  t->buffer_bytes = pages * aligned;
  if (s->place != GEN_ND) t->stored = t->buffer_bytes;
}

static void put_map(ttm_buf *b, const gen_shape *s) {
  uint64_t rows, columns, strides[GEN_MAX_RANK] = {0};
  collapse(s, &rows, &columns, strides);
  ttm_buf_char(b, '(');
  for (uint32_t i = 0; i < s->rank; i++) ttm_buf_printf(b, "%sd%u", i ? ", " : "", i);
  ttm_buf_puts(b, ") -> (");
  if (s->rank < 2) {
    ttm_buf_puts(b, s->rank ? "0, d0)" : "0, 0)");
    return;
  }
  for (uint32_t i = 0; i + 2 < s->rank; i++) ttm_buf_printf(b, "d%u * %llu + ", i, (unsigned long long)strides[i]);
  ttm_buf_printf(b, "d%u, d%u)", s->rank - 2, s->rank - 1);
}

static void put_core_ranges(ttm_buf *b, const gen_shape *s, const gen_board *board) {
  uint32_t cores = s->grid_rows * s->grid_cols,
           width = s->memory == GEN_DRAM ? board->banks[GEN_DRAM] : board->grid_cols;
  uint32_t columns = s->place == GEN_BLOCK ? s->grid_cols : cores < width ? cores : width;
  uint32_t rows = s->place == GEN_BLOCK ? s->grid_rows : cores / columns, rest = cores - rows * columns;
  const char *comma = s->core_ranges == 2 ? ", " : ",";
  ttm_buf_puts(b, s->core_ranges == 2 ? ", core_ranges = #ttnn.core_range_set<[" : ", core_ranges = <[");
  ttm_buf_printf(b, "#ttnn.core_range<(0%s0), (%u%s%u)>", comma, columns - 1, comma, rows - 1);
  if (rest && s->place != GEN_BLOCK)
    ttm_buf_printf(b, ", #ttnn.core_range<(0%s%u), (%u%s%u)>", comma, rows, rest - 1, comma, rows);
  ttm_buf_puts(b, "]>");
}

static void put_nd_layout(ttm_buf *b, const gen_shape *s, const char *tile) {
  ttm_buf_printf(b, ", #ttnn.ttnn_nd_layout<<%ux%u>, memref<", s->grid_rows, s->grid_cols);
  for (uint32_t i = 0; i < s->rank; i++)
    ttm_buf_printf(b, "%llux", (unsigned long long)(i + 2 >= s->rank ? pieces(s->nd_shard[i], TILE) : s->nd_shard[i]));
  ttm_buf_printf(b, "%s, #ttnn.buffer_type<%s>>, <nd_sharded>, <row_major>, <round_robin_1d>>>", tile,
                 BUFFERS[s->memory]);
}

static void put_type(ttm_buf *b, const gen_types *types, const gen_type *t) {
  const gen_shape *s = &t->shape;
  if (s->device) {
    ttm_buf_puts(b, "!ttnn.device");
    return;
  }
  if (s->trace_id) {
    ttm_buf_puts(b, "tensor<ui32, #ttnn.trace_id>");
    return;
  }
  char tile[64];
  snprintf(tile, sizeof tile, "!%s.tile<32x32, %s>", types->old_tile ? "tt" : "ttcore", DTYPES[s->dtype].tile);
  bool block_format = !DTYPES[s->dtype].scalar;
  const char *element = !block_format ? DTYPES[s->dtype].scalar : s->tile_element ? tile : "bf16";
  ttm_buf_puts(b, "tensor<");
  for (uint32_t i = 0; i < s->rank; i++) ttm_buf_printf(b, "%llux", (unsigned long long)s->dims[i]);
  ttm_buf_puts(b, element);
  if (s->place == GEN_ND) {
    put_nd_layout(b, s, tile);
    return;
  }
  ttm_buf_puts(b, ", #ttnn.ttnn_layout<");
  put_map(b, s);
  bool spread = s->memory == GEN_L1 && s->place == GEN_INTERLEAVED;
  uint32_t grid_rows = s->place != GEN_INTERLEAVED ? s->grid_rows : spread ? types->board->grid_rows : 1;
  uint32_t grid_cols = s->place != GEN_INTERLEAVED ? s->grid_cols : spread ? types->board->grid_cols : 1;
  shard one = shard_of(s, types->board);
  ttm_buf_printf(b, ", <%ux%u>, %smemref<%llux%llux%s, #ttnn.buffer_type<%s>>", grid_rows, grid_cols,
                 s->mesh ? "mesh = <\"mesh\">, " : "", (unsigned long long)one.rows, (unsigned long long)one.columns,
                 s->tiled ? tile : DTYPES[s->dtype].scalar, BUFFERS[s->memory]);
  if (s->memory != GEN_HOST) ttm_buf_printf(b, ", <%s>", PLACES[s->place]);
  if (s->place != GEN_INTERLEAVED && s->core_ranges) put_core_ranges(b, s, types->board);
  ttm_buf_puts(b, ">>");
}

static gen_type *make(gen_types *types, const gen_shape *shape) {
  gen_type *t = ttm_arena_alloc(&types->arena, sizeof *t);
  if (!t) gen_die("out of memory");
  *t = (gen_type){.shape = *shape};
  ttm_buf text = {0};
  put_type(&text, types, t);
  t->text = (ttm_str){ttm_arena_copy(&types->arena, ttm_buf_str(&text)), text.n};
  if (!t->text.p) gen_die("out of memory");
  ttm_buf_free(&text);
  for (uint32_t i = 0, n = 0; i < shape->rank; i++)
    n +=
        (uint32_t)snprintf(t->dims + n, sizeof t->dims - n, "%s%llu", i ? "x" : "", (unsigned long long)shape->dims[i]);
  if (!shape->device && !shape->trace_id) cost(t, types->board);
  return t;
}

void gen_types_init(gen_types *types, const gen_board *board, bool old_tile) {
  *types = (gen_types){.board = board, .old_tile = old_tile};
}

void gen_types_free(gen_types *types) {
  ttm_arena_free(&types->arena);
  ttm_vec_free(&types->all);
  ttm_map_free(&types->of_shape);
}

const gen_type *gen_type_of(gen_types *types, const gen_shape *shape) {
  uint64_t key = ttm_hash(shape, sizeof *shape, 0);
  uint32_t at = ttm_map_get(&types->of_shape, key, UINT32_MAX);
  if (at != UINT32_MAX && !memcmp(&types->all.at[at]->shape, shape, sizeof *shape)) return types->all.at[at];
  gen_type *t = make(types, shape);
  if (ttm_map_set(&types->of_shape, key, (uint32_t)types->all.n) || ttm_vec_push(&types->all, t))
    gen_die("out of memory");
  return t;
}

gen_shape gen_shape_of(uint32_t rank, const uint64_t *dims, uint32_t dtype, bool tiled, uint32_t memory) {
  gen_shape s;
  memset(&s, 0, sizeof s);
  s.rank = rank;
  for (uint32_t i = 0; i < rank; i++) s.dims[i] = dims[i];
  s.dtype = dtype;
  s.tiled = tiled;
  s.memory = memory;
  s.tile_element = !DTYPES[dtype].scalar;
  return s;
}
