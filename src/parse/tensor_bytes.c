/* SPDX-License-Identifier: Apache-2.0 */
/* What a tensor type costs. A layout's memref is ONE shard; a page is one tile, or one row of a row-major tensor.
 * All arithmetic saturates: a type text may claim any size. */
#include "base/checked.h"
#include "parse/tensor_type.h"

/* Scalar bytes; for the block formats (one shared exponent byte per 16 values) the bits of one value without its
 * exponent. */
typedef struct dtype_size {
  ttm_str name;
  uint8_t bytes;
  uint8_t block_bits;
} dtype_size;

static const dtype_size DTYPES[] = {
    {TTM_LIT("bf16"), 2, 0},   {TTM_LIT("f32"), 4, 0},     {TTM_LIT("si32"), 4, 0},     {TTM_LIT("bfp_bf8"), 0, 8},
    {TTM_LIT("u32"), 4, 0},    {TTM_LIT("ui32"), 4, 0},    {TTM_LIT("i32"), 4, 0},      {TTM_LIT("u16"), 2, 0},
    {TTM_LIT("ui16"), 2, 0},   {TTM_LIT("u8"), 1, 0},      {TTM_LIT("ui8"), 1, 0},      {TTM_LIT("i1"), 1, 0},
    {TTM_LIT("f16"), 2, 0},    {TTM_LIT("bfp_bf4"), 0, 4}, {TTM_LIT("bfp_bf2"), 0, 2},  {TTM_LIT("bfp_f8"), 0, 8},
    {TTM_LIT("bfp_f4"), 0, 4}, {TTM_LIT("bfp_f2"), 0, 2},  {TTM_LIT("f64"), 8, 0},      {TTM_LIT("i64"), 8, 0},
    {TTM_LIT("si64"), 8, 0},   {TTM_LIT("ui64"), 8, 0},    {TTM_LIT("i16"), 2, 0},      {TTM_LIT("si16"), 2, 0},
    {TTM_LIT("i8"), 1, 0},     {TTM_LIT("si8"), 1, 0},     {TTM_LIT("f8E4M3FN"), 1, 0}, {TTM_LIT("f8E5M2"), 1, 0},
    {TTM_LIT("index"), 8, 0},
};

static const dtype_size *dtype_find(ttm_str name) {
  for (size_t i = 0; i < sizeof DTYPES / sizeof *DTYPES; i++) {
    if (ttm_str_eq(name, DTYPES[i].name)) return &DTYPES[i];
  }
  return NULL;
}

uint64_t ttm_scalar_bytes(ttm_str dtype) {
  const dtype_size *size = dtype_find(dtype);
  return size ? size->bytes : 0;
}

uint64_t ttm_tile_bytes(ttm_str dtype, uint32_t tile_h, uint32_t tile_w) {
  const dtype_size *size = dtype_find(dtype);
  uint64_t values = (uint64_t)tile_h * tile_w;
  if (!size) return 0;
  if (!size->block_bits) return ttm_mul_sat(values, size->bytes);
  /* The exponents of a tile fill whole 16-byte words, so 32x32 gives 1024 + 64 for eight bits. */
  return ttm_add_sat(ttm_div_up(ttm_mul_sat(values, size->block_bits), 8), ttm_round_up(ttm_div_up(values, 16), 16));
}

uint64_t ttm_dims_values(const ttm_dims *dims) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < dims->rank; i++) n = ttm_mul_sat(n, dims->at[i]);
  return n;
}

static bool is_sharded(const ttm_tensor_type *type) {
  return type->placement >= TTM_PLACE_HEIGHT_SHARDED || (type->nd && type->placement == TTM_PLACE_NONE);
}

/* Shape counted in stored units: the last two dims in tiles when tiled (padded BEFORE collapsing, as the compiler
 * does), and at least two dims then, because a vector is a tile row. */
static ttm_dims shape_in_units(const ttm_tensor_type *type) {
  ttm_dims dims = type->shape;
  if (!type->tiled) return dims;
  if (dims.rank < 2) dims = (ttm_dims){2, {1, dims.rank ? dims.at[0] : 1}};
  dims.at[dims.rank - 2] = ttm_div_up(dims.at[dims.rank - 2], type->tile_h);
  dims.at[dims.rank - 1] = ttm_div_up(dims.at[dims.rank - 1], type->tile_w);
  return dims;
}

/* nd layouts may put several shards on one core, so the grid does not count them: the shape does. When shape and shard
 * differ in rank we cannot pair their dims and fall back to one shard per core. */
static uint64_t shard_count(const ttm_tensor_type *type) {
  ttm_dims units = shape_in_units(type);
  if (!(type->nd || type->placement == TTM_PLACE_ND_SHARDED) || units.rank != type->shard.rank)
    return ttm_dims_values(&type->grid);
  uint64_t n = 1;
  for (uint32_t i = 0; i < units.rank; i++) n = ttm_mul_sat(n, ttm_div_up(units.at[i], type->shard.at[i]));
  return n;
}

/* The alignment of one page in its memory; 0 (none) on the host and where the memory is unknown. */
static uint64_t page_alignment(const ttm_tensor_type *type, ttm_alignment align) {
  if (type->buffer == TTM_BUFFER_DRAM || type->buffer == TTM_BUFFER_TRACE) return align.dram;
  return type->buffer == TTM_BUFFER_L1 || type->buffer == TTM_BUFFER_L1_SMALL ? align.l1 : 0;
}

/* A run of equal pages: the whole tensor, or one shard. */
typedef struct pages {
  uint64_t count;
  uint64_t bytes; /* of one page, aligned */
} pages;

static pages pages_of(const ttm_tensor_type *type, const ttm_dims *units, ttm_alignment align) {
  pages out;
  if (type->tiled) {
    out.count = ttm_dims_values(units);
    out.bytes = ttm_tile_bytes(type->storage, type->tile_h, type->tile_w);
  } else {
    ttm_dims rows = *units;
    uint64_t row = rows.rank ? rows.at[--rows.rank] : 1;
    out.count = row ? ttm_dims_values(&rows) : 0;
    out.bytes = ttm_mul_sat(row, ttm_scalar_bytes(type->storage));
  }
  out.bytes = ttm_round_up(out.bytes, page_alignment(type, align));
  return out;
}

/* Interleaved over one big "core" the memref is the whole tensor. Interleaved L1 has the worker grid and a memref of
 * ceil(tiles / cores): grid times memref would count up to cores - 1 tiles too many, so the logical shape decides. */
static pages whole_pages(const ttm_tensor_type *type, ttm_alignment align) {
  if (ttm_dims_values(&type->grid) == 1) return pages_of(type, &type->shard, align);
  ttm_dims units = shape_in_units(type);
  return pages_of(type, &units, align);
}

uint64_t ttm_tensor_logical_bytes(const ttm_tensor_type *type) {
  /* The stored dtype tells what a value needs: block formats have no scalar type and print as bf16 or as a tile. */
  ttm_str dtype = type->has_layout && type->storage.n ? type->storage : type->element;
  uint64_t elements = ttm_dims_values(&type->shape), scalar = ttm_scalar_bytes(dtype);
  if (scalar) return ttm_mul_sat(elements, scalar);
  uint64_t tile = ttm_tile_bytes(dtype, 32, 32); /* 1088 bytes per 1024 values: exact, rounded up once */
  return ttm_add_sat(ttm_mul_sat(elements / 1024, tile), ttm_div_up(elements % 1024 * tile, 1024));
}

uint64_t ttm_tensor_stored_bytes(const ttm_tensor_type *type, ttm_alignment align) {
  if (!type->has_layout) return ttm_tensor_logical_bytes(type);
  if (!is_sharded(type)) {
    pages whole = whole_pages(type, align);
    return ttm_mul_sat(whole.count, whole.bytes);
  }
  pages shard = pages_of(type, &type->shard, align);
  return ttm_mul_sat(ttm_mul_sat(shard.count, shard.bytes), shard_count(type));
}

/* Lock-step allocation: every bank gives up what the fullest bank needs. */
static uint64_t fullest_bank(const ttm_tensor_type *type, uint32_t banks, ttm_alignment align) {
  if (!is_sharded(type)) {
    pages whole = whole_pages(type, align);
    return ttm_mul_sat(ttm_div_up(whole.count, banks), whole.bytes);
  }
  pages shard = pages_of(type, &type->shard, align);
  uint64_t shards_per_core =
      ttm_div_up(shard_count(type), ttm_dims_values(&type->grid)); /* more than one only with nd layouts */
  return ttm_mul_sat(ttm_mul_sat(shard.count, shard.bytes), shards_per_core);
}

uint64_t ttm_tensor_bank_bytes(const ttm_tensor_type *type, uint32_t banks, ttm_alignment align) {
  if (!type->has_layout || type->buffer == TTM_BUFFER_NONE || type->buffer == TTM_BUFFER_SYSTEM) return 0;
  uint64_t needed = fullest_bank(type, banks, align);
  if (needed == 0) return 0; /* empty buffers take nothing */
  return ttm_round_up(needed < align.dram ? align.dram : needed, align.dram);
}

/* Two dims, the way memrefs print: everything but the last dim collapsed into rows. */
static ttm_dims collapsed(const ttm_dims *dims) {
  ttm_dims rows = *dims;
  uint64_t last = rows.rank ? rows.at[--rows.rank] : 1;
  return (ttm_dims){2, {ttm_dims_values(&rows), last}};
}

void ttm_tensor_type_complete(ttm_tensor_type *type) {
  if (!type->tiled || type->placement != TTM_PLACE_INTERLEAVED || ttm_dims_values(&type->grid) != 1) return;
  ttm_dims units = shape_in_units(type);
  if (ttm_dims_values(&units) > ttm_dims_values(&type->shard)) type->shard = collapsed(&units);
}

void ttm_tensor_type_reshape(ttm_tensor_type *type, const ttm_dims *shape) {
  type->shape = *shape;
  if (type->placement != TTM_PLACE_INTERLEAVED || ttm_dims_values(&type->grid) != 1) return;
  ttm_dims units = shape_in_units(type);
  type->shard = collapsed(&units);
}

ttm_dims ttm_tensor_stored_shape(const ttm_tensor_type *type) {
  if (!type->has_layout || !type->tiled) return type->shape;
  ttm_dims out = type->shard, units = shape_in_units(type);
  if (!is_sharded(type)) {
    if (ttm_dims_values(&type->grid) != 1) out = collapsed(&units);
  } else if ((type->nd || type->placement == TTM_PLACE_ND_SHARDED) && units.rank == out.rank) {
    for (uint32_t i = 0; i < out.rank; i++) out.at[i] = ttm_round_up(units.at[i], out.at[i]);
  } else if (type->grid.rank == out.rank) {
    for (uint32_t i = 0; i < out.rank; i++) out.at[i] = ttm_mul_sat(out.at[i], type->grid.at[i]);
  } else if (out.rank) {
    out.at[0] = ttm_mul_sat(out.at[0], ttm_dims_values(&type->grid));
  }
  if (out.rank >= 2) out.at[out.rank - 2] = ttm_mul_sat(out.at[out.rank - 2], type->tile_h);
  if (out.rank >= 1) out.at[out.rank - 1] = ttm_mul_sat(out.at[out.rank - 1], type->tile_w);
  return out;
}
