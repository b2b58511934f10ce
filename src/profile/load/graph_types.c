/* SPDX-License-Identifier: Apache-2.0 */
/* A capture tells a tensor by shape, dtype and layout. Said as an MLIR type, everything that reasons about types works on it. */
#include "base/checked.h"
#include "profile/load/graph.h"

static ttm_str element_of(ttm_str dtype) {
  static const struct {
    ttm_str ttnn, mlir;
  } names[] = {
      {TTM_LIT("BFLOAT16"), TTM_LIT("bf16")},     {TTM_LIT("FLOAT32"), TTM_LIT("f32")},
      {TTM_LIT("BFLOAT8_B"), TTM_LIT("bfp_bf8")}, {TTM_LIT("BFLOAT4_B"), TTM_LIT("bfp_bf4")},
      {TTM_LIT("UINT32"), TTM_LIT("ui32")},       {TTM_LIT("INT32"), TTM_LIT("si32")},
      {TTM_LIT("UINT16"), TTM_LIT("ui16")},       {TTM_LIT("UINT8"), TTM_LIT("ui8")},
      {TTM_LIT("INT8"), TTM_LIT("si8")},          {TTM_LIT("FP8_E4M3"), TTM_LIT("f8E4M3FN")},
  };
  size_t colon = ttm_str_find(dtype, TTM_LIT("::"));
  if (colon != TTM_NOT_FOUND) dtype = ttm_str_from(dtype, colon + 2);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (ttm_str_eq(dtype, names[i].ttnn)) return names[i].mlir;
  return (ttm_str){"", 0};
}

/* "Shape([1, 8, 512, 64])", "ttnn.Shape([..])". */
static bool read_shape(ttm_str text, ttm_dims *out) {
  size_t at = ttm_str_find_char(text, '[');
  out->rank = 0;
  if (at == TTM_NOT_FOUND) return false;
  text = ttm_str_trim(ttm_str_from(text, at + 1));
  if (ttm_str_take(&text, TTM_LIT("]"))) return true;
  while (out->rank < TTM_MAX_RANK && ttm_str_take_u64(&text, &out->at[out->rank])) {
    out->rank++;
    text = ttm_str_trim(text);
    if (ttm_str_take(&text, TTM_LIT("]"))) return true;
    if (!ttm_str_take(&text, TTM_LIT(","))) return false;
    text = ttm_str_trim(text);
  }
  return false;
}

static uint64_t rows_of(const ttm_dims *shape) {
  uint64_t rows = 1;
  for (uint32_t i = 0; i + 1 < shape->rank; i++) rows = ttm_mul_sat(rows, shape->at[i]);
  return rows;
}

/* Rows in tiles: each matrix is padded before they are stacked. */
static uint64_t tile_rows_of(const ttm_dims *shape) {
  uint64_t rows = shape->rank > 1 ? ttm_div_up(shape->at[shape->rank - 2], 32) : 1;
  for (uint32_t i = 0; i + 2 < shape->rank; i++) rows = ttm_mul_sat(rows, shape->at[i]);
  return rows;
}

void ttm_capture_type_text(ttm_buf *out, const ttm_capture_node *tensor, const ttm_buffer *buffer) {
  static const char *const memories[TTM_MEMORIES] = {"dram", "l1", "l1_small", "trace"};
  ttm_dims shape;
  char dims[256];
  ttm_str element = element_of(tensor->text[TTM_PARAM_DTYPE]);
  ttm_buf_clear(out);
  if (!element.n || !read_shape(tensor->text[TTM_PARAM_SHAPE], &shape)) return;
  ttm_dims_print(&shape, dims, sizeof dims);
  bool tiled = ttm_str_contains(tensor->text[TTM_PARAM_LAYOUT], TTM_LIT("TILE"));
  bool block_format = ttm_str_starts(element, TTM_LIT("bfp"));
  uint64_t columns = shape.rank ? shape.at[shape.rank - 1] : 1;
  uint64_t rows = tiled ? tile_rows_of(&shape) : rows_of(&shape);
  if (tiled) columns = ttm_div_up(columns, 32);
  uint64_t cores = 1;
  const char *placement = "interleaved";
  if (buffer->cores) { /* shards hold what the cores with most pages hold; their shape is of no account */
    uint64_t page = buffer->page ? buffer->page : 1, pages = ttm_div_up(buffer->bytes, page);
    placement = "height_sharded";
    cores = buffer->cores;
    rows = ttm_div_up(pages, cores);
    columns = tiled ? 1 : ttm_scalar_bytes(element) ? page / ttm_scalar_bytes(element) : columns;
  }
  ttm_buf_printf(out, "tensor<%s%s%s, #ttnn.ttnn_layout<(d0) -> (d0), <%llux1>, memref<%llux%llux", dims,
                 shape.rank ? "x" : "", block_format ? "bf16" : element.p, (unsigned long long)cores,
                 (unsigned long long)rows, (unsigned long long)columns);
  if (tiled)
    ttm_buf_printf(out, "!ttcore.tile<32x32, %s>", element.p);
  else
    ttm_buf_put(out, element);
  ttm_buf_printf(out, ", #ttnn.buffer_type<%s>>, <%s>>>", memories[buffer->memory], placement);
}
