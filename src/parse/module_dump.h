/* SPDX-License-Identifier: Apache-2.0 */
/* One MLIR module as dumped into a log ("MLIR Module ttnn:" ... "END OF MLIR MODULE"): its entry function's arguments,
 * where its locations stand, and the types it shortens. The text is the cleaned dump body, lines joined by \n. */
#ifndef TTM_PARSE_MODULE_DUMP_H
#define TTM_PARSE_MODULE_DUMP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/str.h"
#include "base/vec.h"

typedef enum ttm_arg_kind {
  TTM_ARG_INPUT,
  TTM_ARG_PARAMETER,
  TTM_ARG_CONSTANT,
  TTM_ARG_DEFAULT,
  TTM_ARG_UNKNOWN
} ttm_arg_kind;

/* "input", "parameter", "constant", "default", "unknown". */
extern const char *const ttm_arg_kind_names[TTM_ARG_UNKNOWN + 1];
/* TTM_ARG_UNKNOWN for any other word. */
ttm_arg_kind ttm_arg_kind_of(ttm_str word);

/* Views point into the dump text or into the arena given. */
typedef struct ttm_module_arg {
  ttm_str ssa;          /* "%arg0" */
  ttm_str name;         /* ttir.name with escapes undone; empty when absent */
  ttm_arg_kind kind;    /* ttcore.argument_type */
  ttm_str type;         /* the whole type text as in the signature */
  ttm_str local_type;   /* the tensor type in ttcore.local_shape, or of runtime_tensor_sharding; empty when absent */
  ttm_str shard_status; /* "presharded", "unsharded"; empty when absent */
  bool kv_cache;        /* carries ttcore.kv_cache */
} ttm_module_arg;

typedef TTM_VEC(ttm_module_arg) ttm_module_args;

/* Where a location name stands: 1-based line of the operation in the text. */
typedef struct ttm_loc_line {
  ttm_str name;
  uint32_t line;
} ttm_loc_line;

typedef TTM_VEC(ttm_loc_line) ttm_loc_lines;

/* Arguments of the entry function: @main when there is one, else the first public func.func with a body. Splits at
 * top-level commas, so a comma in a location or attribute does not split an argument; the signature may span lines. 0
 * or TTM_ENOMEM; a text without a function gives no arguments. */
int ttm_module_args_parse(ttm_str text, ttm_arena *arena, ttm_module_args *out);

/* Every location name with the line of the first operation that carries it, in order of first appearance: aliases
 * (#loc12, defined before or after use, nested and fused, resolved recursively with a depth limit) first, then inline
 * loc("name"), then load_cached's "@callee". The alias definition lines themselves do not count. Names as
 * ttm_location_render gives them; for a name("child") location the first name counts (as in operation lines). */
int ttm_module_loc_lines(ttm_str text, ttm_arena *arena, ttm_loc_lines *out);

/* Two steps of it. Reads a function's head at *at (behind "func.func"); true when it has a name and an argument list, *at then stands at its
 * "(". `hidden`: private. */
bool ttm_module_function_head(ttm_str *at, ttm_str *name, bool *hidden);
/* Adds the arguments of the list that starts at `at`. 0 or TTM_ENOMEM. */
int ttm_module_function_args(ttm_str at, ttm_arena *arena, ttm_module_args *out);

/* The names of a module's locations. 0 or TTM_ENOMEM; freed in any case. */
typedef struct ttm_module_locations ttm_module_locations;
int ttm_module_locations_read(ttm_str text, ttm_module_locations **out);
void ttm_module_locations_free(ttm_module_locations *locations);
/* The name of what stands between loc( and ), as operation lines have it; empty without one. Valid as long as the locations. 0 or TTM_ENOMEM. */
int ttm_module_location(ttm_module_locations *locations, ttm_str raw, ttm_str *name);

/* Facts some dumps carry; 0 where absent: noc_dram_address_align_bytes and num_dram_channels from #system_desc, number of
 * devices from the mesh shape. */
typedef struct ttm_module_facts {
  ttm_str name; /* "SyncTensorsGraph.11" of `module @SyncTensorsGraph.11`; empty when unnamed */
  uint32_t dram_alignment;
  uint32_t devices;       /* product of the first mesh shape found */
  uint32_t dram_channels; /* banks of a chip */
} ttm_module_facts;
ttm_module_facts ttm_module_facts_read(ttm_str text);

/* Types in a module dump are shortened: `tensor<4x32xbf16, #ttnn_layout3>` with `#ttnn_layout3 = #ttnn.ttnn_layout<... #dram ...>` above the
 * module. Operation lines spell them out; written out here, both are the same text. Views
 * point into the dump text. Zero-initialise; freed with ttm_module_types_free. */
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
