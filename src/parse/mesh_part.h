/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor that comes to a mesh in parts is printed whole until an identity mesh_shard, which costs nothing, gives it the shape that a chip
 * has: tensor<128x2880xbf16> is 16x720 on each of 32 chips from its first to_device on. */
#ifndef TTM_PARSE_MESH_PART_H
#define TTM_PARSE_MESH_PART_H

#include "base/vec.h"
#include "parse/tensor_type.h"

/* By row of a table of types: the shape on a chip, rank 0 where it is the printed one. Zero is the empty one. */
typedef struct ttm_mesh_parts {
  TTM_VEC(ttm_dims) shape;
  bool changed; /* by the last operations seen */
} ttm_mesh_parts;

/* A type and its row. */
typedef struct ttm_mesh_type {
  uint32_t row;
  const ttm_tensor_type *type;
} ttm_mesh_type;

/* A tensor is moved and converted less often than that between a mesh_shard and where it comes from. */
enum { TTM_MESH_PASSES = 8 };

/* What an operation tells of the types of its first operand and its result. It is asked of all operations, last first, while anything
 * changes, at most TTM_MESH_PASSES times. 0 or TTM_ENOMEM. */
int ttm_mesh_parts_see(ttm_mesh_parts *parts, ttm_str name, ttm_str attributes, ttm_mesh_type in, ttm_mesh_type out);

/* Gives a type on a device its shape on a chip. */
void ttm_mesh_parts_apply(const ttm_mesh_parts *parts, uint32_t row, ttm_tensor_type *type);
void ttm_mesh_parts_free(ttm_mesh_parts *parts);

#endif
