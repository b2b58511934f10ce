/* SPDX-License-Identifier: Apache-2.0 */
/* The text behind "Executing operation: ": one MLIR operation, taken apart by bracket depth.
 *   [%r[:n] = ] NAME ( operands ) [<{properties}>] [{attrs}] : FUNCTYPE loc(...) */
#ifndef TTM_PARSE_OP_LINE_H
#define TTM_PARSE_OP_LINE_H

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"

typedef TTM_VEC(ttm_str) ttm_strs;

typedef enum ttm_op_kind {
  TTM_OP_PLAIN,
  TTM_OP_DEALLOCATE,  /* not an element of the reports, but carries a state and a free */
  TTM_OP_GET_DEVICE,  /* likewise without an element */
  TTM_OP_LOAD_CACHED, /* may run a const-eval program inside */
} ttm_op_kind;

/* By the name in an operation line (ttnn.deallocate) or in the header of a block (DeallocateOp). */
ttm_op_kind ttm_op_kind_of(ttm_str name);

/* What an operation does with an operand. */
enum {
  TTM_USE_MULTIPLY =
      1, /* the second factor of a matrix product: any dtype will do, and the result keeps the first one's */
  TTM_USE_TABLE = 2, /* rows are looked up in it: bf16 rows, so that another form is converted inside */
  TTM_USE_OTHER = 4,
};
/* TTM_USE_*, by the name of an operation or of a function of a capture ("ttnn.linear", "MatmulDeviceOperation"); 0 when it only hands the
 * operand on, moves or converts it. */
uint8_t ttm_operand_use(ttm_str operation, size_t operand);
/* Its result is its operand, moved or converted: "ttnn.to_layout". */
bool ttm_op_is_conversion(ttm_str name);
/* Its result comes from the program rather than from other tensors of the device: "ttnn.from_torch". */
bool ttm_op_brings(ttm_str name);

/* Zero is the empty one. Views point into the parsed text. The vectors are reused from call to call and freed by
 * ttm_op_line_free. */
typedef struct ttm_op_line {
  ttm_str name;          /* ttnn.add, ttcore.load_cached, call; never quoted */
  ttm_str result;        /* "%0" of `%0:2 = ...`; empty when the operation gives nothing */
  uint32_t result_count; /* 2 of `%0:2`; 0 without a result */
  ttm_str attributes;    /* between <{ and }>, or else of a plain {...}; p is NULL when there are none */
  ttm_str input_types;   /* between the outer parentheses of the function type */
  ttm_str output_type;   /* after its arrow, as printed: `T`, `(T, T)` or `()` */
  ttm_str callee;        /* "main_const_eval_0" of load_cached(@main_const_eval_0, ...) or call @f; empty otherwise */
  ttm_str location;      /* between loc( and its ), raw; empty when the line has none */
  ttm_strs operands;     /* every value and symbol in order: "@f", "%arg0", "%3#1" */
  ttm_strs inputs;       /* each input type */
  ttm_strs outputs;      /* each output type; none for () */
} ttm_op_line;

/* 0; TTM_EFORMAT when the text is no whole operation (cut line, unbalanced brackets); TTM_ENOMEM. Also after an error
 * *out is ready for the next call. Without a location a cut inside a bare word at the very end (`-> !ttnn.devi`) cannot
 * be told from a whole type; every other cut can. Text behind the location (another writer's, on the same line) is
 * ignored. */
int ttm_op_line_parse(ttm_str text, ttm_op_line *out);
/* Empty again; the vectors keep their room. */
void ttm_op_line_clear(ttm_op_line *op);
void ttm_op_line_free(ttm_op_line *op);

/* Two steps of it. Adds the values and symbols of `list` in order; inner lists are flattened, and what stands in {} or <> describes an
 * operand and is none itself. A symbol that comes first is the callee. */
int ttm_op_line_operands(ttm_op_line *op, ttm_str list);
/* Adds the types that `input_types` and `output_type` name. */
int ttm_op_line_types(ttm_op_line *op);

/* Appends a location as people name it: loc("a"("b")) -> a; fused["a", "b"] -> fused[a, b]; callsite("a" at "b") -> a
 * at b; "x.mlir":9:14 -> x.mlir:9:14; unknown -> nothing. String escapes (\22, \5C, \n ...) are undone. Unknown parts
 * of a fused or callsite location are left out. `raw` is what stands between loc( and ); a form we do not know (an
 * alias #loc5 too) is appended as it stands. False when nothing was appended. */
bool ttm_location_render(ttm_str raw, ttm_buf *out);

/* Splits `text` at commas outside every bracket and string; `->` is one token. Appends trimmed, non-empty pieces to
 * `out`. 0; TTM_EFORMAT when the brackets do not pair up; TTM_ENOMEM. */
int ttm_split_top_level(ttm_str text, ttm_strs *out);

#endif
