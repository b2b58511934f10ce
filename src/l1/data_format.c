/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/data_format.h"

#include "parse/tensor_type.h"

/* Sizes are tt-metal's datum_size tables: 1024 elements, block formats with one exponent byte per 16 (MX: per 32) elements. */
static const struct {
  const char *name;
  uint32_t bytes;
} formats[] = {
    {"float32", 4096},   {"int32", 4096},  {"uint32", 4096},   {"bfloat16", 2048},  {"float16", 2048},
    {"float16_b", 2048}, {"uint16", 2048}, {"int16", 2048},    {"rawuint32", 4096}, {"rawuint16", 2048},
    {"bfloat8_b", 1088}, {"bfp8", 1088},   {"bfp8_b", 1088},   {"bfloat4_b", 576},  {"bfp4", 576},
    {"bfp4_b", 576},     {"bfp2", 320},    {"bfp2_b", 320},    {"int8", 1024},      {"uint8", 1024},
    {"rawuint8", 1024},  {"lf8", 1024},    {"fp8_e4m3", 1024}, {"mxfp8r", 1056},    {"mxfp8p", 1056},
    {"mxfp6r", 1056},    {"mxfp6p", 1056}, {"mxint8", 1056},   {"mxfp4", 544},      {"mxint4", 544},
    {"mxint2", 288},
};

uint64_t ttm_format_tile_bytes(ttm_str name) {
  for (size_t i = name.n; i > 0; i--) {
    if (name.p[i - 1] != ':' && name.p[i - 1] != '.') continue;
    name = ttm_str_from(name, i); /* behind "tt::DataFormat::" or "ttnn." */
    break;
  }
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (ttm_str_eq_nocase(name, ttm_str_of(formats[i].name))) return formats[i].bytes;
  }
  return ttm_tile_bytes(name, 32, 32);
}
