/* SPDX-License-Identifier: Apache-2.0 */
/* One MLIR tensor type with its ttnn layout, and what it costs in bytes.
 * `tensor<1x96x256xbf16, #ttnn.ttnn_layout<MAP, <1x1>, memref<3x8x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>,
 * <interleaved>>>` */
#ifndef TTM_PARSE_TENSOR_TYPE_H
#define TTM_PARSE_TENSOR_TYPE_H

#include "base/str.h"

enum { TTM_MAX_RANK = 12 };

typedef enum ttm_buffer_kind {
  TTM_BUFFER_NONE, /* no layout, or one we do not know */
  TTM_BUFFER_DRAM,
  TTM_BUFFER_L1,
  TTM_BUFFER_L1_SMALL,
  TTM_BUFFER_TRACE,
  TTM_BUFFER_SYSTEM, /* host memory: costs nothing on the device */
} ttm_buffer_kind;

typedef enum ttm_placement {
  TTM_PLACE_NONE,
  TTM_PLACE_INTERLEAVED,
  TTM_PLACE_HEIGHT_SHARDED,
  TTM_PLACE_WIDTH_SHARDED,
  TTM_PLACE_BLOCK_SHARDED,
  TTM_PLACE_ND_SHARDED,
} ttm_placement;

typedef struct ttm_dims {
  uint32_t rank;
  uint64_t at[TTM_MAX_RANK];
} ttm_dims;

/* Views point into the parsed text. */
typedef struct ttm_tensor_type {
  ttm_dims shape;  /* logical; rank 0 is a scalar tensor */
  ttm_str element; /* logical element type as printed: "bf16", "si32"; the tile's dtype when the element is a tile */
  bool has_layout; /* the rest is only set when true */
  bool nd;         /* ttnn_nd_layout */
  bool tiled;
  uint32_t tile_h, tile_w;
  ttm_str storage; /* element type in the memref: scalar name or the tile's dtype */
  ttm_dims grid;
  ttm_dims shard; /* memref dims (in tiles when tiled): ONE shard */
  ttm_buffer_kind buffer;
  ttm_placement placement;
} ttm_tensor_type;

/* Reads one type text. False when it is not a tensor type or is broken; *out is then unspecified. Never reads past
 * text. */
bool ttm_tensor_type_parse(ttm_str text, ttm_tensor_type *out);

/* An interleaved tensor is all in one memref. Where the compiler left the shard of the layout before in it, the logical shape is larger, and
 * decides. Done for every type that is parsed. */
void ttm_tensor_type_complete(ttm_tensor_type *type);

/* The same layout for another logical shape; of a sharded tensor the shards stay. */
void ttm_tensor_type_reshape(ttm_tensor_type *type, const ttm_dims *shape);

/* Text form of a dims: "4000x256"; writes at most cap-1 bytes and a NUL, returns the length. Rank 0 gives "". */
size_t ttm_dims_print(const ttm_dims *dims, char *out, size_t cap);

bool ttm_dims_same(const ttm_dims *a, const ttm_dims *b);

/* How many values a shape has. */
uint64_t ttm_dims_values(const ttm_dims *dims);

/* Bytes of one 32x32-style tile of the named dtype (bfp_bf8 1088 ...), 0 when unknown. */
uint64_t ttm_tile_bytes(ttm_str dtype, uint32_t tile_h, uint32_t tile_w);

/* Bytes of one scalar element (i1 counts 1; block formats tile/1024 are not whole: 0), 0 when unknown. */
uint64_t ttm_scalar_bytes(ttm_str dtype);

/* Where a tensor lives decides how it is rounded: page alignment of its memory. DRAM 32 (Wormhole) or 64 (Blackhole),
 * L1 16. */
typedef struct ttm_alignment {
  uint32_t dram; /* also the allocator's block alignment for every memory */
  uint32_t l1;
} ttm_alignment;

/* What the values need: logical elements without any padding, in the dtype they are stored in (the memref's, when there
 * is a layout: block formats have no scalar type and print as bf16). 0 for a dtype we do not know. */
uint64_t ttm_tensor_logical_bytes(const ttm_tensor_type *type);

/* What the tensor occupies over all banks: tiles, shards and row alignment included. The logical bytes without a
 * layout. */
uint64_t ttm_tensor_stored_bytes(const ttm_tensor_type *type, ttm_alignment align);

/* What every bank of its memory gives up for it (allocator's rule), block rounding included; 0 on the host and without
 * a layout. `banks` counts for interleaved tensors; a sharded one costs each bank what the cores with most shards hold.
 */
uint64_t ttm_tensor_bank_bytes(const ttm_tensor_type *type, uint32_t banks, ttm_alignment align);

/* The stored shape as the old reports show it: shard x tile (x grid when sharded) for tiled layouts, the logical shape
 * otherwise. Interleaved over many cores (L1) it is the padded logical shape in two dims, since the memref is one
 * core's part only. */
ttm_dims ttm_tensor_stored_shape(const ttm_tensor_type *type);

#endif
