/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/tensor_type.h"

#include "parse/mlir_scan.h"

enum { TILE_SIDE_MAX = 4096 }; /* real tiles are 32x32 and smaller */

/* The inside of `...<inside>` when the text ends with the > of its first <; the bytes before < go to *head. */
static bool split_angle(ttm_str text, ttm_str *head, ttm_str *inside) {
  size_t open = ttm_str_find_char(text, '<');
  if (open == TTM_NOT_FOUND || text.p[text.n - 1] != '>') return false;
  *head = ttm_str_first(text, open);
  *inside = (ttm_str){text.p + open + 1, text.n - open - 2};
  return true;
}

static bool dims_push(ttm_dims *dims, uint64_t value) {
  if (dims->rank == TTM_MAX_RANK) return false;
  dims->at[dims->rank++] = value;
  return true;
}

/* `4000x256xREST`: moves *text to REST. Stops at the first thing that is no number; a dynamic `?` or `*` is left to the
 * element reader, which knows no such element. False for a broken number or too many. */
static bool take_dims(ttm_str *text, ttm_dims *dims) {
  dims->rank = 0;
  while (text->n && text->p[0] >= '0' && text->p[0] <= '9') {
    uint64_t value;
    if (!ttm_str_take_u64(text, &value) || !ttm_str_take(text, TTM_LIT("x")) || !dims_push(dims, value)) return false;
  }
  return true;
}

/* `8x8` with nothing or a comma behind it. */
static bool read_grid(ttm_str text, ttm_dims *grid) {
  grid->rank = 0;
  do {
    uint64_t value;
    if (!ttm_str_take_u64(&text, &value) || !dims_push(grid, value)) return false;
  } while (ttm_str_take(&text, TTM_LIT("x")));
  text = ttm_scan_trim(text);
  return text.n == 0 || text.p[0] == ',';
}

typedef struct element_type {
  ttm_str dtype; /* scalar name, or the tile's dtype */
  bool tiled;
  uint32_t tile_h, tile_w;
} element_type;

/* `32x32, bf16`, the inside of a tile type */
static bool read_tile(ttm_str inside, element_type *out) {
  uint64_t h, w;
  if (!ttm_str_take_u64(&inside, &h) || !ttm_str_take(&inside, TTM_LIT("x")) || !ttm_str_take_u64(&inside, &w))
    return false;
  inside = ttm_scan_trim(inside);
  if (!ttm_str_take(&inside, TTM_LIT(",")) || h == 0 || w == 0 || h > TILE_SIDE_MAX || w > TILE_SIDE_MAX) return false;
  *out = (element_type){ttm_scan_trim(inside), true, (uint32_t)h, (uint32_t)w};
  return out->dtype.n > 0;
}

/* `bf16`, `!ttcore.tile<32x32, bf16>` (`!tt.tile` in old logs), or another type such as `!quant.uniform<...>`, kept
 * whole. */
static bool read_element(ttm_str text, element_type *out) {
  if (text.n == 0 || !(ttm_scan_is_name(text.p[0]) || text.p[0] == '!')) return false;
  ttm_str head, inside;
  if (text.p[0] == '!' && split_angle(text, &head, &inside) && ttm_str_ends(head, TTM_LIT(".tile"))) {
    return read_tile(inside, out);
  }
  *out = (element_type){text, false, 0, 0};
  return true;
}

/* `4000x256xbf16`, the first piece of a tensor or memref */
static bool read_shaped(ttm_str piece, ttm_dims *dims, element_type *element) {
  return take_dims(&piece, dims) && read_element(piece, element);
}

/* The word of an enum attribute in each of its spellings: `<dram>`, `#ttnn.buffer_type<dram>`, the printer's own alias
 * `#dram`. */
static ttm_str enum_word(ttm_str text) {
  ttm_str head, inside;
  if (text.n && split_angle(text, &head, &inside)) return ttm_scan_trim(inside);
  if (ttm_str_take(&text, TTM_LIT("#"))) return text;
  return (ttm_str){0};
}

static ttm_buffer_kind buffer_named(ttm_str word) {
  static const char *const names[] = {"", "dram", "l1", "l1_small", "trace", "system_memory"};
  size_t kind = ttm_str_index(word, names, TTM_BUFFER_SYSTEM + 1);
  return kind <= TTM_BUFFER_SYSTEM ? (ttm_buffer_kind)kind : TTM_BUFFER_NONE;
}

static ttm_placement placement_named(ttm_str word) {
  static const char *const names[] = {"",          "interleaved", "height_sharded", "width_sharded", "block_sharded",
                                      "nd_sharded"};
  size_t placement = ttm_str_index(word, names, TTM_PLACE_ND_SHARDED + 1);
  return placement <= TTM_PLACE_ND_SHARDED ? (ttm_placement)placement : TTM_PLACE_NONE;
}

/* The inside of `memref<3x8x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>` */
static bool read_memref(ttm_str inside, ttm_tensor_type *out) {
  ttm_pieces it = {inside, false};
  ttm_str piece;
  element_type element;
  if (!ttm_pieces_next(&it, &piece) || !read_shaped(piece, &out->shard, &element)) return false;
  out->storage = element.dtype;
  out->tiled = element.tiled;
  out->tile_h = element.tile_h;
  out->tile_w = element.tile_w;
  while (ttm_pieces_next(&it, &piece)) { /* maps and shard attributes may stand before the memory space */
    ttm_buffer_kind kind = buffer_named(enum_word(piece));
    if (kind != TTM_BUFFER_NONE) out->buffer = kind;
  }
  return !it.broken;
}

/* `mesh = <"mesh">` -> `<"mesh">`. The affine map starts with a parenthesis and has no key. */
static ttm_str without_key(ttm_str piece) {
  size_t i = 0;
  while (i < piece.n && ttm_scan_is_name(piece.p[i])) i++;
  ttm_str rest = ttm_scan_trim(ttm_str_from(piece, i));
  return i && ttm_str_take(&rest, TTM_LIT("=")) ? ttm_scan_trim(rest) : piece;
}

/* One field of a layout, told by its form rather than its place, so that fields added later do no harm. */
static bool read_layout_field(ttm_str field, ttm_tensor_type *out, bool *has_memref) {
  ttm_str head, inside;
  field = without_key(field);
  if (field.n == 0 || field.p[0] == '(' || !split_angle(field, &head, &inside)) return true;
  if (ttm_str_eq(head, TTM_LIT("memref"))) {
    *has_memref = true;
    return read_memref(inside, out);
  }
  inside = ttm_scan_trim(inside);
  if (inside.n && inside.p[0] >= '0' && inside.p[0] <= '9') return read_grid(inside, &out->grid);
  ttm_placement placement = placement_named(inside);
  if (placement != TTM_PLACE_NONE) out->placement = placement;
  return true;
}

/* An encoding we do not know (an alias, a trace id) is no error: the type then simply has no layout. */
static bool read_encoding(ttm_str text, ttm_tensor_type *out) {
  ttm_str head, inside;
  if (!split_angle(text, &head, &inside)) return true;
  bool nd = ttm_str_eq(head, TTM_LIT("#ttnn.ttnn_nd_layout"));
  if (!nd && !ttm_str_eq(head, TTM_LIT("#ttnn.ttnn_layout"))) return true;

  ttm_pieces it = {inside, false};
  ttm_str field;
  bool has_memref = false;
  while (ttm_pieces_next(&it, &field)) {
    if (!read_layout_field(field, out, &has_memref)) return false;
  }
  out->nd = nd;
  out->has_layout = has_memref;
  return !it.broken;
}

bool ttm_tensor_type_parse(ttm_str text, ttm_tensor_type *out) {
  *out = (ttm_tensor_type){0};
  ttm_str head, inside, piece;
  text = ttm_scan_trim(text);
  if (text.n == 0 || !split_angle(text, &head, &inside) || !ttm_str_eq(head, TTM_LIT("tensor"))) return false;

  ttm_pieces it = {inside, false};
  element_type element;
  if (!ttm_pieces_next(&it, &piece) || !read_shaped(piece, &out->shape, &element)) return false;
  out->element = element.dtype;
  if (ttm_pieces_next(&it, &piece) && !read_encoding(piece, out)) return false;
  ttm_tensor_type_complete(out);
  return !it.broken && it.rest.n == 0;
}

bool ttm_dims_same(const ttm_dims *a, const ttm_dims *b) {
  return a->rank == b->rank && !memcmp(a->at, b->at, a->rank * sizeof *a->at);
}

size_t ttm_dims_print(const ttm_dims *dims, char *out, size_t cap) {
  size_t n = 0;
  for (uint32_t i = 0; i < dims->rank; i++) {
    char digits[24];
    size_t k = sizeof digits;
    uint64_t value = dims->at[i];
    do digits[--k] = (char)('0' + value % 10);
    while (value /= 10);
    if (i) digits[--k] = 'x';
    for (; k < sizeof digits; k++) {
      if (n + 1 < cap) out[n++] = digits[k];
    }
  }
  if (cap) out[n] = 0;
  return n;
}
