/* SPDX-License-Identifier: Apache-2.0 */
/* Types in a module dump are shortened: `tensor<4x32xbf16, #ttnn_layout3>` with `#ttnn_layout3 = #ttnn.ttnn_layout<... #dram ...>` above the
 * module. Operation lines spell them out; written out here, both are the same text. */
#ifndef TTM_PARSE_MODULE_TYPES_H
#define TTM_PARSE_MODULE_TYPES_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/vec.h"

/* Views point into the dump text. Zero-initialise; freed with ttm_module_types_free. */
typedef struct ttm_module_types {
  ttm_intern names;       /* "#ttnn_layout3" */
  TTM_VEC(ttm_str) meant; /* by name: what it stands for */
} ttm_module_types;

/* Reads the aliases above the module. 0 or TTM_ENOMEM. */
int ttm_module_types_read(ttm_module_types *types, ttm_str text);
void ttm_module_types_free(ttm_module_types *types);

/* Appends the type with its aliases written out; unknown ones, and those nested too deep, stay as they are. */
void ttm_module_types_expand(const ttm_module_types *types, ttm_str type, ttm_buf *out);

#endif
