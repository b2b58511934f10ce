/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/mesh_part.h"

#include "base/error.h"

static ttm_dims part_of(const ttm_mesh_parts *parts, uint32_t row) {
  return row < parts->shape.n ? parts->shape.at[row] : (ttm_dims){0};
}

/* The first that is said of a type counts. */
static int set_part(ttm_mesh_parts *parts, ttm_mesh_type whole, const ttm_dims *shape) {
  if (!shape->rank || part_of(parts, whole.row).rank || ttm_dims_same(&whole.type->shape, shape)) return TTM_OK;
  while (parts->shape.n <= whole.row)
    if (ttm_vec_push(&parts->shape, (ttm_dims){0})) return TTM_ENOMEM;
  parts->shape.at[whole.row] = *shape;
  parts->changed = true;
  return TTM_OK;
}

/* What moves or converts a tensor without looking at its shape. */
static bool keeps_parts(ttm_str name) {
  static const ttm_str names[] = {TTM_LIT("ttnn.to_device"), TTM_LIT("ttnn.from_device"),
                                  TTM_LIT("ttnn.to_layout"), TTM_LIT("ttnn.to_memory_config"),
                                  TTM_LIT("ttnn.typecast"),  TTM_LIT("ttnn.to_dtype")};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (ttm_str_eq(name, names[i])) return true;
  return false;
}

int ttm_mesh_parts_see(ttm_mesh_parts *parts, ttm_str name, ttm_str attributes, ttm_mesh_type in, ttm_mesh_type out) {
  if (ttm_str_eq(name, TTM_LIT("ttnn.mesh_shard"))) {
    if (!ttm_str_contains(attributes, TTM_LIT("identity"))) return TTM_OK;
    return ttm_str_contains(attributes, TTM_LIT("shard_to_full")) ? set_part(parts, out, &in.type->shape)
                                                                  : set_part(parts, in, &out.type->shape);
  }
  if (!keeps_parts(name) || !ttm_dims_same(&in.type->shape, &out.type->shape)) return TTM_OK;
  ttm_dims of_in = part_of(parts, in.row), of_out = part_of(parts, out.row);
  return set_part(parts, in, &of_out) || set_part(parts, out, &of_in) ? TTM_ENOMEM : TTM_OK;
}

void ttm_mesh_parts_apply(const ttm_mesh_parts *parts, uint32_t row, ttm_tensor_type *type) {
  ttm_dims shape = part_of(parts, row);
  if (shape.rank && (type->buffer == TTM_BUFFER_DRAM || type->buffer == TTM_BUFFER_L1))
    ttm_tensor_type_reshape(type, &shape);
}

void ttm_mesh_parts_free(ttm_mesh_parts *parts) { ttm_vec_free(&parts->shape); }
