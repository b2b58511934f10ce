/* SPDX-License-Identifier: Apache-2.0 */
/* A whole TTNN module as a plain structure: its functions, their operations, and the values between them. Read from a log's dump or from a
 * file that tt-mlir wrote. Whatever is not understood is counted, never an error. */
#ifndef TTM_PARSE_MODULE_H
#define TTM_PARSE_MODULE_H

#include "parse/module_dump.h"
#include "parse/op_line.h"
#include "parse/tensor_type.h"

#define TTM_NO_ROW UINT32_MAX

typedef struct ttm_module_type {
  ttm_str text;   /* aliases written out */
  bool is_tensor; /* `tensor` is only valid then; its views point into `text` */
  bool broken;    /* a tensor that does not parse, or with a name that the module does not define */
  ttm_tensor_type tensor;
} ttm_module_type;

/* A value has a row in `value_types`; operands and results are rows. */
typedef struct ttm_module_op {
  ttm_str name;                     /* "ttnn.add"; "return" at the end of a function; what an unread line begins with */
  ttm_str attributes;               /* between <{ and }> */
  ttm_str location;                 /* between loc( and ), raw */
  ttm_str text;                     /* the operation as it stands in the module */
  uint32_t line;                    /* 1-based */
  uint32_t callee;                  /* function; TTM_NO_ROW */
  uint32_t operands, operand_count; /* rows of `operands`: values, TTM_NO_ROW where none is known by that name */
  uint32_t results, result_count;   /* values */
  bool unread;                      /* the line was not understood, or a value or type of it is not in the module */
} ttm_module_op;

typedef struct ttm_module_function {
  ttm_str name;
  uint32_t line;
  uint32_t args, arg_count; /* rows of `args`; argument k is value `values` + k */
  uint32_t ops, op_count;
  uint32_t values, value_count;
  bool hidden;  /* private */
  bool on_host; /* compiled for the CPU */
  bool returns; /* it has its return */
} ttm_module_function;

/* Views point into the text, which must outlive it. Zero is the empty one. */
typedef struct ttm_module {
  TTM_VEC(ttm_module_function) functions; /* with a body */
  TTM_VEC(ttm_module_op) ops;
  TTM_VEC(uint32_t) operands;
  TTM_VEC(uint32_t) value_types; /* by value: row of `types` */
  TTM_VEC(ttm_module_type) types;
  ttm_module_args args;
  ttm_module_facts facts;
  uint32_t entry;     /* function: @main, else the first public one; TTM_NO_ROW without any */
  bool cut;           /* it ends inside a function or the module */
  uint64_t unread;    /* operations that were not understood, outside functions of the host ... */
  uint32_t first_bad; /* ... and the line of the first */
  ttm_module_locations *locations;
  ttm_intern type_ids;
  ttm_arena arena;
} ttm_module;

/* 0 or TTM_ENOMEM; freed with ttm_module_free in any case. Linear in the text. */
int ttm_module_parse(ttm_module *out, ttm_str text);
void ttm_module_free(ttm_module *module);

/* Whether a file that begins so is an MLIR module. */
bool ttm_module_detect(ttm_str first);

/* What an attribute of an operation says: "tile" of `layout = #ttnn.layout<tile>` as it stands; empty when it is not there. */
ttm_str ttm_module_attribute(const ttm_module_op *op, ttm_str key);

#endif
