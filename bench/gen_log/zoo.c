/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that occurs in operation lines, in small: every dtype, layout, rank and spelling. */
#include "gen_log/gen.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- locations ---- */

static void any_spelling(gen_rank *x, gen_loc *out, const char *name) {
  gen_random *r = &x->random;
  switch (gen_below(r, 8)) {
    case 0:
      snprintf(out->raw, sizeof out->raw, "fused[\"%s\", \"%s.b\"]", name, name);
      snprintf(out->name, sizeof out->name, "fused[%s, %s.b]", name, name);
      return;
    case 1:
      snprintf(out->raw, sizeof out->raw, "callsite(\"%s\" at \"caller, (one) [two]\")", name);
      snprintf(out->name, sizeof out->name, "%s at caller, (one) [two]", name);
      return;
    case 2:
      snprintf(out->raw, sizeof out->raw, "\"/home/user/models/llama.mlir\":%u:14", (unsigned)(9 + strlen(name)));
      snprintf(out->name, sizeof out->name, "/home/user/models/llama.mlir:%u:14", (unsigned)(9 + strlen(name)));
      return;
    case 3:
      snprintf(out->raw, sizeof out->raw, "\"%s_pool\"(\"%s\")", name, name);
      snprintf(out->name, sizeof out->name, "%s_pool", name);
      return;
    case 4:
      snprintf(out->raw, sizeof out->raw,
               "\"1|CausalConv3d[conv1]|/usr/lib/torch/functional.py:9|__torch_function__|22|%s\"", name);
      snprintf(out->name, sizeof out->name,
               "1|CausalConv3d[conv1]|/usr/lib/torch/functional.py:9|__torch_function__|22|%s", name);
      return;
    case 5:
      snprintf(out->raw, sizeof out->raw, "unknown");
      out->name[0] = '\0';
      return;
    case 6:
      snprintf(out->raw, sizeof out->raw, "\"say \\22%s\\22 -> {x}\"", name);
      snprintf(out->name, sizeof out->name, "say \"%s\" -> {x}", name);
      return;
    default:
      snprintf(out->raw, sizeof out->raw, "\"%s\"", name);
      snprintf(out->name, sizeof out->name, "%s", name);
  }
}

/* \22 is how MLIR prints a quote. */
static void unescape(const char *from, char *to, size_t cap) {
  size_t n = 0;
  for (; *from && n + 1 < cap; from++) {
    bool quote = from[0] == '\\' && from[1] == '2' && from[2] == '2';
    to[n++] = quote ? '"' : *from;
    if (quote) from += 2;
  }
  to[n] = '\0';
}

void gen_loc_make(gen_rank *x, gen_loc *out, const char *format, ...) {
  char name[200];
  va_list args;
  va_start(args, format);
  vsnprintf(name, sizeof name, format, args);
  va_end(args);
  if (x->o->zoo && !strchr(name, '\\') && gen_chance(&x->random, 30)) {
    any_spelling(x, out, name);
    return;
  }
  snprintf(out->raw, sizeof out->raw, "\"%s\"", name);
  unescape(name, out->name, sizeof out->name);
}

/* ---- types ---- */

static gen_shape any_shape(gen_rank *x) {
  static const uint64_t sizes[] = {1, 2, 3, 7, 17, 32, 33, 64, 96, 100};
  gen_random *r = &x->random;
  uint32_t rank = (uint32_t)gen_below(r, 6);
  uint64_t dims[GEN_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) dims[i] = sizes[gen_below(r, i + 2 < rank ? 4 : sizeof sizes / sizeof *sizes)];
  uint32_t dtype = (uint32_t)gen_below(r, GEN_DTYPES);
  bool block_format = dtype == GEN_BFP8 || dtype == GEN_BFP4 || dtype == GEN_BFP2;
  if (block_format) { /* whole sixteenths, so that no byte is split */
    rank = rank < 2 ? 2 : rank;
    for (uint32_t i = 0; i < rank; i++) dims[i] = i + 2 < rank ? 1 + gen_below(r, 3) : 16 * (1 + gen_below(r, 5));
  }
  gen_shape s = gen_shape_of(rank, dims, dtype, block_format || gen_chance(r, 60), GEN_DRAM);
  s.tile_element = block_format && gen_chance(r, 50);
  s.mesh = gen_chance(r, 10);
  return s;
}

static void shard(gen_rank *x, gen_shape *s) {
  gen_random *r = &x->random;
  s->place = GEN_HEIGHT + (uint32_t)gen_below(r, 3);
  bool in_dram = s->memory == GEN_DRAM;
  uint32_t most = in_dram ? x->board->banks[GEN_DRAM] : x->board->grid_cols;
  uint32_t n = 1 + (uint32_t)gen_below(r, most);
  if (in_dram && s->place == GEN_BLOCK) s->place = GEN_WIDTH;
  s->grid_rows = s->place == GEN_HEIGHT  ? n
                 : s->place == GEN_BLOCK ? 1 + (uint32_t)gen_below(r, x->board->grid_rows)
                                         : 1;
  s->grid_cols = s->place == GEN_HEIGHT ? 1 : n;
  s->core_ranges = (uint8_t)gen_below(r, 3);
}

/* Shards of the tensor's own rank dealt out over the cores in turn. */
static void nd_shard(gen_rank *x, gen_shape *s) {
  s->place = GEN_ND;
  s->mesh = 0;
  s->grid_rows = 1 + (uint32_t)gen_below(&x->random, 2);
  s->grid_cols = 1 + (uint32_t)gen_below(&x->random, 4);
  for (uint32_t i = 0; i < s->rank; i++) s->nd_shard[i] = i + 2 >= s->rank ? 32 : 1;
}

static gen_shape any_placed(gen_rank *x) {
  gen_shape s = any_shape(x);
  switch (gen_below(&x->random, 7)) {
    case 0:
      s.memory = GEN_HOST;
      break;
    case 1:
      s.memory = GEN_L1;
      if (!s.tiled) shard(x, &s);
      break;
    case 2:
    case 3:
      s.memory = GEN_L1;
      shard(x, &s);
      break;
    case 4:
      shard(x, &s);
      break;
    case 5:
      s.memory = GEN_L1;
      if (s.tiled && s.rank >= 2)
        nd_shard(x, &s);
      else
        shard(x, &s);
      break;
    default:
      break;
  }
  return s;
}

/* ---- operations ---- */

typedef struct zoo_op {
  const char *name, *op_type, *attributes;
  uint32_t operands;
} zoo_op;

static const zoo_op OPS[] = {
    {"ttnn.full", "FullOp",
     "dtype = #ttcore.supportedDataTypes<bf16>, fill_value = 0.000000e+00 : f32, layout = #ttnn.layout<tile>, shape = "
     "#ttnn.shape<1>",
     0},
    {"ttnn.constant", "ConstantOp", "value = dense_resource<__elided__> : tensor<3xf32>", 0},
    {"ttnn.relu", "EltwiseUnaryOp", NULL, 1},
    {"ttnn.reshape", "ReshapeOp", "shape = [1 : i32, 768 : i32, 1 : i32, 1 : i32, 1 : i32]", 1},
    {"ttnn.permute", "PermuteOp", "permutation = array<i64: 0, 2, 3, 4, 1>", 1},
    {"ttnn.subtract", "EltwiseBinaryOp", NULL, 2},
    {"ttnn.concat", "ConcatOp", "dim = 0 : si32", 2},
    {"ttnn.slice_static", "SliceOp",
     "begins = [0 : i32, 0 : i32], ends = [1 : i32, 5 : i32], step = [1 : i32, 1 : i32]", 1},
    {"ttnn.pad", "PadOp",
     "memory_config = #ttnn.memory_config<<dram>, <interleaved>>, padding = array<i32: 0, 0, 2, 0>, use_multicore = "
     "true, value = 0.000000e+00 : f32",
     1},
    {"ttnn.where", "EltwiseTernaryWhereOp", NULL, 3},
    {"ttnn.all_gather", "AllGatherOp",
     "all_gather_dim = 1 : si32, cluster_axis = 1 : ui32, topology = #ttcore.topology<ring>", 1},
    {"ttnn.generic", "GenericOp",
     "program = #ttnn.program<kernels = [#ttnn.read_kernel<symbol_ref = @k0, core_ranges = <[#ttnn.core_range<(0,0), "
     "(7,7)>]>, ct_args = "
     "[#ttnn.kernel_arg_cb_buffer_index<0>], common_rt_args = [], rt_args = []>], cbs = [<total_size = 8192, formats = "
     "[<buffer_index = 0, dtype = bf16, "
     "page_size = 2048>]>], semaphores = []>, extra = {a = {b = \"}> : (not here) -> {\"}, c = [1, 2]}",
     1},
    {"ttnn.conv2d", "Conv2dOp",
     "conv2d_config = #ttnn.conv2d_config<weights_dtype = bf16, activation = <op_type = relu>, deallocate_activation = "
     "true, config_tensors_in_dram = false>, "
     "groups = 1 : i32, kernel_size = array<i32: 3, 3>",
     2},
};

/* Operations without a result, and with two. */
static void odd_counts(gen_rank *x, gen_value *v) {
  gen_loc loc;
  gen_loc_make(x, &loc, "zoo|update.%u", x->ops_in_run);
  gen_op none = {.name = "ttnn.fill_cache",
                 .op_type = "FillCacheOp",
                 .in = {v, v},
                 .n_in = 2,
                 .attributes = "batch_offset = 0 : i32",
                 .loc = &loc};
  gen_do(x, &none, NULL);
  gen_shape values = gen_shape_of(2, (uint64_t[]){1, 64}, GEN_BF16, true, GEN_DRAM),
            indices = gen_shape_of(2, (uint64_t[]){1, 64}, GEN_UI16, true, GEN_DRAM);
  gen_loc_make(x, &loc, "zoo|sort.%u", x->ops_in_run);
  gen_op two = {.name = "ttnn.sort",
                .op_type = "SortOp",
                .in = {v},
                .n_in = 1,
                .attributes = "descending = true, dim = -1 : si8, stable = false",
                .out = {gen_type_of(x->types, &values), gen_type_of(x->types, &indices)},
                .n_out = 2,
                .loc = &loc};
  gen_value *out[GEN_MAX_RESULTS];
  gen_do(x, &two, out);
  gen_drop(x, out[1]);
  gen_drop(x, out[0]);
}

void gen_zoo(gen_rank *x, uint32_t count) {
  gen_shape plain = gen_shape_of(2, (uint64_t[]){64, 96}, GEN_BF16, true, GEN_DRAM);
  gen_loc loc;
  gen_loc_make(x, &loc, "zoo|ones.%u", x->ops_in_run);
  gen_value *last = gen_apply(x, "ttnn.ones", "NamedFullOp", "shape = #ttnn.shape<64x96>",
                              gen_type_of(x->types, &plain), NULL, 0, &loc);
  for (uint32_t i = 0; i < count; i++) {
    const zoo_op *z = &OPS[gen_below(&x->random, sizeof OPS / sizeof *OPS)];
    gen_shape shape = any_placed(x);
    if (x->o->no_free && shape.memory == GEN_L1) shape = plain;
    gen_loc_make(x, &loc, "zoo|%s.%u", z->name + 5, x->ops_in_run);
    gen_op op = {.name = z->name,
                 .op_type = z->op_type,
                 .attributes = z->attributes,
                 .out = {gen_type_of(x->types, &shape)},
                 .n_out = 1,
                 .loc = &loc,
                 .n_in = z->operands,
                 .in = {last, last, last}};
    if (!strcmp(z->name, "ttnn.conv2d") && x->run == 0) op.lasting[GEN_L1_SMALL] = 2048;
    gen_value *out;
    gen_do(x, &op, &out);
    gen_drop(x, last);
    last = out;
  }
  odd_counts(x, last);
  gen_drop(x, last);
}

/* ---- traces ---- */

static const gen_type *odd_type(gen_rank *x, bool trace_id) {
  gen_shape s;
  memset(&s, 0, sizeof s);
  s.trace_id = trace_id;
  s.device = !trace_id;
  return gen_type_of(x->types, &s);
}

/* First run: slots are allocated, the program runs once and is captured into the trace region. */
static void capture(gen_rank *x, const gen_type *slot) {
  gen_value *device, *id;
  gen_loc loc;
  gen_message(x, "Always", "DEBUG", "Trace cache miss, allocating slots and capturing trace");
  gen_program_start(x, "allocate_slots_trace_0_main", false);
  gen_get_device(x, &device);
  gen_loc_make(x, &loc, "trace|slot");
  gen_apply(x, "ttnn.empty", "EmptyOp", "dtype = #ttcore.supportedDataTypes<bf16>", slot, (gen_value *const[]){device},
            1, &loc);
  gen_program_finish(x, &x->slots);
  gen_program_start(x, "run_and_capture_trace_0_main", false);
  gen_get_device(x, &device);
  gen_value *arg = gen_argument(x, 0, slot, false);
  gen_loc_make(x, &loc, "trace|begin");
  id = gen_apply(x, "ttnn.begin_trace_capture", "BeginTraceCaptureOp", "cq_id = 0 : ui32", odd_type(x, true),
                 (gen_value *const[]){device}, 1, &loc);
  gen_op call = {.name = "call", .op_type = "FuncCallOp", .callee = "trace_0_main", .in = {arg}, .n_in = 1};
  if (gen_op_begin(x, &call)) {
    gen_program_start(x, "trace_0_main", false);
    gen_value *inner = gen_argument(x, 0, slot, false);
    gen_loc_make(x, &loc, "trace|body");
    gen_value *y = gen_apply(x, "ttnn.gelu", "EltwiseUnaryOp", NULL, slot, (gen_value *const[]){inner}, 1, &loc);
    gen_deallocate(x, y, &loc);
    gen_program_finish(x, NULL);
    gen_op_end(x, &call, NULL);
  }
  gen_loc_make(x, &loc, "trace|end");
  gen_op end = {.name = "ttnn.end_trace_capture",
                .op_type = "EndTraceCaptureOp",
                .in = {device, id},
                .n_in = 2,
                .attributes = "cq_id = 0 : ui32",
                .loc = &loc};
  end.lasting[GEN_TRACE] = 8192;
  gen_do(x, &end, NULL);
  gen_program_finish(x, NULL);
}

static void replay(gen_rank *x) {
  gen_value *device;
  gen_message(x, "Always", "DEBUG", "Trace cache hit, executing trace directly");
  gen_program_start(x, "execute_trace_0_main", false);
  gen_get_device(x, &device);
  gen_value *id = gen_argument(x, 0, odd_type(x, true), false);
  gen_loc loc;
  gen_loc_make(x, &loc, "trace|execute");
  gen_op op = {.name = "ttnn.execute_trace",
               .op_type = "ExecuteTraceOp",
               .in = {device, id},
               .n_in = 2,
               .attributes = "blocking = false, cq_id = 0 : ui32",
               .loc = &loc};
  gen_do(x, &op, NULL);
  gen_program_finish(x, NULL);
}

void gen_trace_program(gen_rank *x, gen_value *input) {
  gen_shape shape = gen_shape_of(2, (uint64_t[]){128, 256}, GEN_BF16, true, GEN_DRAM);
  const gen_type *slot = gen_type_of(x->types, &shape);
  gen_value *device, *out;
  gen_loc loc;
  gen_get_device(x, &device);
  gen_loc_make(x, &loc, "trace|main");
  gen_op op = {.name = "ttnn.capture_or_execute_trace",
               .op_type = "CaptureOrExecuteTraceOp",
               .in = {device, input},
               .n_in = 2,
               .out = {slot},
               .n_out = 1,
               .loc = &loc,
               .attributes =
                   "allocate_slots_callee = @allocate_slots_trace_0_main, capture_callee = "
                   "@run_and_capture_trace_0_main, execute_callee = @execute_trace_0_main, "
                   "operandSegmentSizes = array<i32: 1, 1, 0>"};
  if (gen_op_begin(x, &op)) {
    if (x->slots.n)
      replay(x);
    else
      capture(x, slot);
  }
  gen_op_end_with(x, &op, &x->slots, &out);
}
