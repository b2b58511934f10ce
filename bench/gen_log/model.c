/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the log is about: weights that come through const-eval programs, embedding, layers, logits. */
#include "gen_log/gen.h"

#include <stdarg.h>
#include <stdio.h>

enum { QKV, OUT, GATE, UP, DOWN, NORM, LAYER_ARGS };

/* ---- arguments ---- */

static uint32_t add_arg(gen_graph *g, gen_arg_kind kind, uint32_t rank, const uint64_t *dims, uint32_t dtype,
                        const char *format, ...) __attribute__((format(printf, 6, 7)));

static uint32_t add_arg(gen_graph *g, gen_arg_kind kind, uint32_t rank, const uint64_t *dims, uint32_t dtype,
                        const char *format, ...) {
  gen_arg arg = {.kind = kind, .split = 1};
  va_list args;
  va_start(args, format);
  vsnprintf(arg.name, sizeof arg.name, format, args);
  va_end(args);
  uint32_t host_dtype = dtype == GEN_BFP8 || dtype == GEN_BFP4 ? GEN_BF16 : dtype;
  bool on_device = g->o->originals && kind != GEN_INPUT;
  gen_shape host = gen_shape_of(rank, dims, host_dtype, false, on_device ? GEN_DRAM : GEN_HOST);
  gen_shape ready = gen_shape_of(rank, dims, dtype, kind != GEN_INPUT, GEN_DRAM);
  arg.type = gen_type_of(g->types, &host);
  if (g->o->upcast && strstr(arg.name, ".mlp.")) ready.dtype = GEN_F32;
  arg.ready = gen_type_of(g->types, &ready);
  if (g->o->devices > 1 && kind == GEN_PARAMETER && rank == 2) arg.split = g->o->devices;
  if (ttm_vec_push(&g->args, arg)) gen_die("out of memory");
  return (uint32_t)g->args.n - 1;
}

static void add_layer_args(gen_graph *g, uint32_t layer, const char *prefix) {
  uint64_t h = g->hidden, f = g->ffn;
  uint32_t w = g->o->weight_dtype;
  add_arg(g, GEN_PARAMETER, 2, (uint64_t[]){3 * h, h}, w, "%slayers.%u.self_attn.qkv_proj.weight", prefix, layer);
  add_arg(g, GEN_PARAMETER, 2, (uint64_t[]){h, h}, w, "%slayers.%u.self_attn.o_proj.weight", prefix, layer);
  add_arg(g, GEN_PARAMETER, 2, (uint64_t[]){f, h}, w, "%slayers.%u.mlp.gate_proj.weight", prefix, layer);
  add_arg(g, GEN_PARAMETER, 2, (uint64_t[]){f, h}, w, "%slayers.%u.mlp.up_proj.weight", prefix, layer);
  add_arg(g, GEN_PARAMETER, 2, (uint64_t[]){h, f}, w, "%slayers.%u.mlp.down_proj.weight", prefix, layer);
  add_arg(g, GEN_PARAMETER, 1, (uint64_t[]){h}, GEN_BF16, "%slayers.%u.input_layernorm.weight", prefix, layer);
}

/* Room for twice the tokens of a run. */
static void add_kv_cache(gen_graph *g, uint32_t layer, const char *prefix) {
  const char *word = g->o->kv_cache == GEN_KV_NAMED ? "past_key_values" : "state";
  gen_shape ready =
      gen_shape_of(4, (uint64_t[]){1, g->heads, 2 * g->seq, g->hidden / g->heads}, GEN_BF16, true, GEN_DRAM);
  uint32_t i = add_arg(g, GEN_INPUT, 4, ready.dims, GEN_BF16, "%s%s.%u", prefix, word, layer);
  g->args.at[i].ready = gen_type_of(g->types, &ready);
  g->args.at[i].kv_cache = true;
}

void gen_graph_init(gen_graph *g, const gen_options *o, gen_types *types, uint32_t index) {
  *g = (gen_graph){.o = o, .types = types, .index = index};
  g->layers = index % 2 ? (o->layers + 1) / 2 : o->layers; /* graphs differ: prefill and decode, or an adapter */
  g->hidden = o->hidden;
  g->seq = index ? 32 * index : o->seq;
  g->vocab = o->vocab;
  g->heads = o->hidden >= 128 ? o->hidden / 128 : 1;
  g->ffn = o->hidden * 11 / 4 / 32 * 32;
  if (g->ffn < 32) g->ffn = 32;
  snprintf(g->module, sizeof g->module, "SyncTensorsGraph.%u", 7 + 123 * index);
  char prefix[40] = "model.";
  if (index) snprintf(prefix, sizeof prefix, "adapter%u.", index);
  uint64_t h = g->hidden;
  add_arg(g, GEN_PARAMETER, 2, (uint64_t[]){g->vocab, h}, GEN_BF16, "%sembed_tokens.weight", prefix);
  g->first_layer_arg = (uint32_t)g->args.n;
  for (uint32_t l = 0; l < g->layers; l++) add_layer_args(g, l, prefix);
  g->norm_arg = add_arg(g, GEN_PARAMETER, 1, (uint64_t[]){h}, GEN_BF16, "%snorm.weight", prefix);
  g->head_arg = add_arg(g, GEN_PARAMETER, 2, (uint64_t[]){g->vocab, h}, o->weight_dtype, "%slm_head.weight", prefix);
  g->rope_arg =
      add_arg(g, GEN_CONSTANT, 3, (uint64_t[]){1, g->seq, h}, GEN_F32, "%srotary, \\22scaled\\22 {cos}", prefix);
  g->ids_arg = add_arg(g, GEN_INPUT, 2, (uint64_t[]){1, g->seq}, GEN_SI32, "args_0");
  g->kv_arg = (uint32_t)g->args.n;
  for (uint32_t l = 0; l < g->layers && o->kv_cache; l++) add_kv_cache(g, l, prefix);
}

void gen_graph_free(gen_graph *g) { ttm_vec_free(&g->args); }

/* ---- small words ---- */

gen_value *gen_apply(gen_rank *x, const char *name, const char *op_type, const char *attributes, const gen_type *out,
                     gen_value *const *in, uint32_t n_in, const gen_loc *loc) {
  gen_op op = {
      .name = name, .op_type = op_type, .attributes = attributes, .out = {out}, .n_out = 1, .loc = loc, .n_in = n_in};
  for (uint32_t i = 0; i < n_in; i++) op.in[i] = in[i];
  gen_value *result;
  gen_do(x, &op, &result);
  return result;
}

void gen_drop(gen_rank *x, gen_value *v) {
  if (x->o->no_free) return;
  gen_loc loc;
  gen_loc_make(x, &loc, "dealloc");
  gen_deallocate(x, v, &loc);
}

static const gen_type *dram(const gen_graph *g, uint32_t rank, const uint64_t *dims, uint32_t dtype) {
  gen_shape s = gen_shape_of(rank, dims, dtype, true, GEN_DRAM);
  return gen_type_of(g->types, &s);
}

/* A program does the same every time: chance starts anew after each part that only the first run goes through. */
static void same_again(const gen_graph *g, gen_rank *x, uint64_t part) {
  x->random.state = x->o->seed * 77 + g->index + part * 1000003;
}

#define IN(...) (gen_value *const[]){__VA_ARGS__}, sizeof((gen_value *const[]){__VA_ARGS__}) / sizeof(gen_value *)

/* ---- weights ---- */

/* In a const-eval program, one argument: to the device as it is, tilized there, perhaps packed into a block format. */
static void prepare(gen_rank *x, const gen_arg *arg, gen_value *outer, uint32_t number, gen_value *device) {
  gen_loc loc;
  gen_loc_make(x, &loc, "%s", arg->name);
  gen_value *in = gen_argument(x, number, arg->type, false);
  memcpy(in->weights, outer->weights, sizeof in->weights);
  in->n_weights = outer->n_weights;
  gen_shape raw = arg->type->shape, tiled = raw;
  raw.memory = tiled.memory = GEN_DRAM;
  tiled.tiled = 1;
  gen_value *up = in;
  if (!x->o->originals)
    up = gen_apply(x, "ttnn.to_device", "ToDeviceOp", "memory_config = #ttnn.memory_config<<dram>, <interleaved>>",
                   gen_type_of(x->types, &raw), IN(in, device), &loc);
  gen_value *v = gen_apply(x, "ttnn.to_layout", "ToLayoutOp", "layout = #ttnn.layout<tile>",
                           gen_type_of(x->types, &tiled), IN(up), &loc);
  if (!x->o->originals) gen_deallocate(x, up, &loc);
  if (arg->ready->shape.dtype == tiled.dtype) return;
  gen_apply(x, "ttnn.typecast", "TypecastOp", "dtype = #ttcore.supportedDataTypes<bfp_bf8>", arg->ready, IN(v), &loc);
  gen_deallocate(x, v, &loc);
}

static void cache_hash(const gen_rank *x, uint32_t k, char out[65]) {
  gen_random r = {x->o->seed * 1000003 + x->graph * 7919 + k};
  for (int i = 0; i < 4; i++) snprintf(out + 16 * i, 17, "%016llx", (unsigned long long)gen_next(&r));
}

/* The body of const-eval program k: its n arguments one after the other; without any, a constant. */
static void const_eval_body(const gen_graph *g, gen_rank *x, uint32_t k, gen_value **args, uint32_t n,
                            const gen_type *constant) {
  gen_value *device;
  gen_get_device(x, &device);
  for (uint32_t i = 0; i < n; i++) prepare(x, &g->args.at[k + i], args[i], i, device);
  gen_loc loc;
  gen_loc_make(x, &loc, "scale");
  if (!n) gen_apply(x, "ttnn.full", "FullOp", "fill_value = 8.838830e-02 : f32", constant, IN(device), &loc);
}

/* load_cached of const-eval program k: runs it on a miss, takes what it left on a hit. */
static void load_cached(const gen_graph *g, gen_rank *x, uint32_t k, gen_value **args, uint32_t n, gen_values *cached,
                        gen_value **out) {
  char callee[40], hash[65];
  gen_shape scalar = gen_shape_of(0, NULL, GEN_BF16, true, GEN_DRAM);
  const gen_type *constant = gen_type_of(x->types, &scalar);
  snprintf(callee, sizeof callee, "main_const_eval_%u", k);
  gen_op op = {.name = "ttcore.load_cached",
               .op_type = "LoadCachedOp",
               .callee = callee,
               .n_in = n,
               .n_out = n ? n : 1,
               .out = {constant}};
  for (uint32_t i = 0; i < n; i++) {
    op.in[i] = args[i];
    op.out[i] = g->args.at[k + i].ready;
  }
  bool going = gen_op_begin(x, &op);
  if (going) {
    cache_hash(x, k, hash);
    gen_message(x, "Always", "DEBUG", "Running LoadCachedOp for function %s with hash: %s", callee, hash);
    gen_message(x, "Always", "DEBUG",
                cached->n ? "Cache hit for function: %s" : "Cache miss or invalid cache for function: %s", callee);
  }
  if (going && !cached->n) {
    gen_program_start(x, callee, true);
    const_eval_body(g, x, k, args, n, constant);
    gen_program_finish(x, cached);
    gen_message(x, "Always", "DEBUG", "executed sub-func: %s", callee);
  }
  gen_op_end_with(x, &op, cached, out);
  /* Whoever takes a result takes the arguments of the call; which of several it is, the call does not say. */
  for (uint32_t r = 0; r < op.n_out; r++) {
    out[r]->n_weights = n;
    out[r]->derived = n > 1;
    for (uint32_t i = 0; i < n; i++) out[r]->weights[i] = args[i]->weights[0];
  }
}

/* Every argument as the operations take it; inputs stay on the host. */
static void bring_weights(const gen_graph *g, gen_rank *x, gen_values *cached, gen_value **ready) {
  for (uint32_t i = 0; i < g->args.n; i++) {
    const gen_arg *a = &g->args.at[i];
    if (a->kind == GEN_INPUT) {
      ready[i] = gen_argument(x, i, a->kv_cache ? a->ready : a->type, false);
      continue;
    }
    if (!x->o->const_eval) { /* the host has put them there in their final form */
      ready[i] = gen_argument(x, i, a->ready, true);
      continue;
    }
    /* Gate and up often share a program. */
    bool in_layer = i >= g->first_layer_arg && i < g->norm_arg;
    uint32_t n = x->o->zoo && in_layer && (i - g->first_layer_arg) % LAYER_ARGS == GATE ? 2 : 1;
    gen_value *args[2];
    for (uint32_t k = 0; k < n; k++) args[k] = gen_argument(x, i + k, g->args.at[i + k].type, true);
    load_cached(g, x, i, args, n, &cached[i], ready + i);
    for (uint32_t k = 0; k < n && !x->o->originals; k++) gen_deallocate(x, args[k], NULL);
    i += n - 1;
  }
}

/* ---- layers ---- */

static gen_value *linear(const gen_graph *g, gen_rank *x, gen_value *in, gen_value *w, uint64_t columns,
                         const char *where, uint32_t layer) {
  gen_loc loc;
  gen_loc_make(x, &loc, "layers.%u|%s", layer, where);
  return gen_apply(x, "ttnn.linear", "LinearOp", "transpose_a = false, transpose_b = true",
                   dram(g, 3, (uint64_t[]){1, g->seq, columns}, GEN_BF16), IN(in, w), &loc);
}

/* Writes the keys into the cache, in place. */
static void fill_cache(gen_rank *x, gen_value *cache, gen_value *keys, uint32_t layer) {
  gen_loc loc;
  gen_loc_make(x, &loc, "layers.%u|Attn|cache.%u", layer, layer);
  gen_op op = {.name = "ttnn.fill_cache",
               .op_type = "FillCacheOp",
               .in = {cache, keys},
               .n_in = 2,
               .attributes = "batch_offset = 0 : i32",
               .loc = &loc};
  gen_do(x, &op, NULL);
}

static gen_value *attention(const gen_graph *g, gen_rank *x, gen_value *hidden, gen_value **w, gen_value *cache,
                            uint32_t layer) {
  uint64_t s = g->seq, h = g->hidden, heads = g->heads, d = h / heads;
  gen_loc loc;
  gen_loc_make(x, &loc, "layers.%u|RMSNorm[input_layernorm]|norm.%u", layer, layer);
  gen_value *norm = gen_apply(x, "ttnn.rms_norm", "RMSNormOp", "epsilon = 9.99999974E-6 : f32", hidden->type,
                              IN(hidden, w[NORM]), &loc);
  gen_value *qkv = linear(g, x, norm, w[QKV], 3 * h, "Attn|dot.0", layer);
  gen_drop(x, norm);
  char attributes[80];
  snprintf(attributes, sizeof attributes, "num_heads = %llu : ui32, transpose_key = false", (unsigned long long)heads);
  gen_loc_make(x, &loc, "layers.%u|split.%u", layer, layer);
  const gen_type *head = dram(g, 4, (uint64_t[]){1, heads, s, d}, GEN_BF16);
  gen_op split = {.name = "ttnn.split_query_key_value_and_split_heads",
                  .op_type = "SplitQueryKeyValueAndSplitHeadsOp",
                  .in = {qkv},
                  .n_in = 1,
                  .attributes = attributes,
                  .out = {head, head, head},
                  .n_out = 3,
                  .loc = &loc};
  gen_value *parts[GEN_MAX_RESULTS];
  gen_do(x, &split, parts);
  gen_drop(x, qkv);
  if (cache) fill_cache(x, cache, parts[1], layer);
  gen_loc_make(x, &loc, "layers.%u|Attn|scores.%u", layer, layer);
  const gen_type *square = dram(g, 4, (uint64_t[]){1, heads, s, s}, GEN_F32);
  gen_value *scores = gen_apply(x, "ttnn.matmul", "MatmulOp", "transpose_a = false, transpose_b = true", square,
                                IN(parts[0], parts[1]), &loc);
  gen_drop(x, parts[0]);
  gen_drop(x, parts[1]);
  gen_loc_make(x, &loc, "layers.%u|Attn|softmax.%u", layer, layer);
  gen_value *soft = gen_apply(x, "ttnn.softmax", "SoftmaxOp",
                              "dimension = 3 : si32, numericStable = true, compute_config = "
                              "#ttnn.device_compute_kernel_config<math_fidelity = hifi4, fp32_dest_acc_en = true>",
                              square, IN(scores), &loc);
  if (!x->o->late) gen_drop(x, scores);
  gen_loc_make(x, &loc, "layers.%u|Attn|ctx.%u", layer, layer);
  gen_value *context = gen_apply(x, "ttnn.matmul", "MatmulOp", "transpose_a = false, transpose_b = false", head,
                                 IN(soft, parts[2]), &loc);
  gen_drop(x, soft);
  gen_drop(x, parts[2]);
  gen_loc_make(x, &loc, "layers.%u|Attn|cat.%u", layer, layer);
  gen_value *cat = gen_apply(x, "ttnn.concatenate_heads", "ConcatenateHeadsOp", NULL, hidden->type, IN(context), &loc);
  gen_drop(x, context);
  gen_value *projected = linear(g, x, cat, w[OUT], h, "Attn|dot.1", layer);
  gen_drop(x, cat);
  gen_loc_make(x, &loc, "layers.%u|add.%u", layer, layer);
  gen_value *sum = gen_apply(x, "ttnn.add", "EltwiseBinaryOp", "dtype = #ttcore.supportedDataTypes<bf16>", hidden->type,
                             IN(hidden, projected), &loc);
  if (x->o->fail == GEN_FAIL_TIGHT && x->rank == 0 && x->run == x->o->fail_run && layer == g->layers / 2)
    gen_fail_tight(x, scores);
  if (x->o->late) gen_drop(x, scores);
  gen_drop(x, projected);
  gen_drop(x, hidden);
  return sum;
}

/* Into L1, block-sharded over the whole grid, as the optimizer likes it. NULL when too large for L1 or never freed. */
static gen_value *to_l1(const gen_graph *g, gen_rank *x, gen_value *v, uint32_t layer) {
  gen_shape s = v->type->shape;
  s.memory = GEN_L1;
  s.place = GEN_BLOCK;
  s.grid_rows = x->board->grid_rows;
  s.grid_cols = x->board->grid_cols;
  s.core_ranges = 1;
  const gen_type *type = gen_type_of(g->types, &s);
  if (x->o->no_free || type->block > x->board->bank_size[GEN_L1] / 2) return NULL;
  char attributes[200];
  snprintf(attributes, sizeof attributes,
           "memory_config = #ttnn.memory_config<<l1>, <block_sharded>, #ttnn.shard_spec<<[#ttnn.core_range<(0,0), "
           "(%u,%u)>]>, <%llux%llu>, <row_major>>>",
           s.grid_cols - 1, s.grid_rows - 1, (unsigned long long)(g->seq + s.grid_rows - 1) / s.grid_rows,
           (unsigned long long)(g->hidden / s.grid_cols));
  gen_loc loc;
  gen_loc_make(x, &loc, "layers.%u|l1.%u", layer, layer);
  return gen_apply(x, "ttnn.to_memory_config", "ToMemoryConfigOp", attributes, type, IN(v), &loc);
}

static gen_value *mlp(const gen_graph *g, gen_rank *x, gen_value *hidden, gen_value **w, uint32_t layer) {
  gen_loc loc;
  gen_value *near = to_l1(g, x, hidden, layer), *in = near ? near : hidden;
  gen_value *gate = linear(g, x, in, w[GATE], g->ffn, "MLP|dot.2", layer);
  gen_value *up = linear(g, x, in, w[UP], g->ffn, "MLP|dot.3", layer);
  if (near) gen_drop(x, near);
  gen_loc_make(x, &loc, "layers.%u|MLP|mul.%u", layer, layer);
  gen_value *product = gen_apply(x, "ttnn.multiply", "EltwiseBinaryOp", "dtype = #ttcore.supportedDataTypes<bf16>",
                                 gate->type, IN(gate, up), &loc);
  gen_drop(x, gate);
  gen_drop(x, up);
  gen_value *down = linear(g, x, product, w[DOWN], g->hidden, "MLP|dot.4", layer);
  gen_drop(x, product);
  gen_loc_make(x, &loc, "layers.%u|stat.%u", layer, layer);
  gen_value *stat = gen_apply(x, "ttnn.mean", "ReductionOp", "dim_arg = [2 : i32], keep_dim = true",
                              dram(g, 3, (uint64_t[]){1, g->seq, 1}, GEN_F32), IN(hidden), &loc);
  gen_loc_make(x, &loc, "layers.%u|add.%ub", layer, layer);
  gen_value *sum = gen_apply(x, "ttnn.add", "EltwiseBinaryOp", "dtype = #ttcore.supportedDataTypes<bf16>", hidden->type,
                             IN(hidden, down), &loc);
  gen_drop(x, stat);
  gen_drop(x, hidden);
  gen_drop(x, down);
  return sum;
}

/* What makes the odd layer odd. */
static gen_value *clamp(gen_rank *x, gen_value *hidden, uint32_t layer) {
  gen_loc loc;
  gen_loc_make(x, &loc, "layers.%u|clamp.%u", layer, layer);
  gen_value *out = gen_apply(x, "ttnn.clamp_scalar", "EltwiseUnaryCompositeOp",
                             "max = 1.000000e+00 : f32, min = -1.000000e+00 : f32", hidden->type, IN(hidden), &loc);
  gen_drop(x, hidden);
  return out;
}

static gen_value *embed(const gen_graph *g, gen_rank *x, gen_value **ready, gen_values *cached) {
  gen_loc loc;
  const gen_arg *ids = &g->args.at[g->ids_arg];
  gen_loc_make(x, &loc, "input_ids");
  gen_value *on_device =
      gen_apply(x, "ttnn.to_device", "ToDeviceOp", "memory_config = #ttnn.memory_config<<dram>, <interleaved>>",
                ids->ready, IN(ready[g->ids_arg]), &loc);
  gen_deallocate(x, ready[g->ids_arg], NULL);
  gen_loc_make(x, &loc, "embed.0");
  gen_value *hidden =
      gen_apply(x, "ttnn.embedding", "EmbeddingOp", NULL, dram(g, 3, (uint64_t[]){1, g->seq, g->hidden}, GEN_BF16),
                IN(on_device, ready[0]), &loc);
  gen_drop(x, on_device);
  gen_loc_make(x, &loc, "rotary.0");
  gen_value *rotated = gen_apply(x, "ttnn.multiply", "EltwiseBinaryOp", "dtype = #ttcore.supportedDataTypes<bf16>",
                                 hidden->type, IN(hidden, ready[g->rope_arg]), &loc);
  gen_drop(x, hidden);
  if (!x->o->const_eval || !x->o->zoo) return rotated;
  gen_value *scale;
  load_cached(g, x, (uint32_t)g->args.n, NULL, 0, &cached[g->args.n], &scale);
  same_again(g, x, 4);
  gen_loc_make(x, &loc, "scale.0");
  gen_value *scaled = gen_apply(x, "ttnn.multiply", "EltwiseBinaryOp", NULL, rotated->type, IN(rotated, scale), &loc);
  gen_drop(x, rotated);
  return scaled;
}

/* A tensor that the caller keeps from every run: grows by its size each time. */
static void leak(const gen_graph *g, gen_rank *x) {
  if (!x->o->leak || x->dead || x->stopped) return;
  if (x->o->leak_graph && x->o->leak_graph != g->index + 1) return;
  uint64_t rows = 96 * (1 + (x->o->leak_uneven ? x->run * 5 % 7 : 0));
  gen_loc loc;
  gen_loc_make(x, &loc, "layers.0|kv_cache.append");
  gen_value *v = gen_apply(x, "ttnn.zeros", "NamedFullOp",
                           "dtype = #ttcore.supportedDataTypes<bf16>, shape = #ttnn.shape<1x7x96x160>",
                           dram(g, 4, (uint64_t[]){1, 7, rows, 160}, GEN_BF16), NULL, 0, &loc);
  v->leaked = true;
  snprintf(x->t->leak_op, sizeof x->t->leak_op, "ttnn.zeros");
  snprintf(x->t->leak_loc, sizeof x->t->leak_loc, "%s", loc.name);
  x->t->leak_block = v->type->block;
  x->t->leak_runs += x->rank == 0;
  for (uint32_t l = 0; l < g->layers; l++) {
    for (uint32_t k = 0; k < x->o->leak_more; k++) {
      gen_loc_make(x, &loc, "layers.%u|history.%c", l, (char)('a' + k));
      gen_apply(x, "ttnn.zeros", "NamedFullOp", "dtype = #ttcore.supportedDataTypes<bf16>",
                dram(g, 4, (uint64_t[]){1, 3, 64, 352 * (k + 1)}, GEN_BF16), NULL, 0, &loc)
          ->leaked = true;
    }
  }
}

/* Two tensors that hold little for what they take. */
static void start_waste(const gen_graph *g, gen_rank *x, gen_value *wasted[2]) {
  gen_shape rows = gen_shape_of(2, (uint64_t[]){20000, 2}, GEN_BF16, false, GEN_DRAM);
  gen_loc loc;
  gen_loc_make(x, &loc, "waste|column");
  wasted[0] =
      gen_apply(x, "ttnn.zeros", "NamedFullOp", NULL, dram(g, 3, (uint64_t[]){300, 32, 1}, GEN_BF16), NULL, 0, &loc);
  gen_loc_make(x, &loc, "waste|rows");
  wasted[1] = gen_apply(x, "ttnn.zeros", "NamedFullOp", NULL, gen_type_of(g->types, &rows), NULL, 0, &loc);
}

/* Their last use, so that they are not freed late. */
static void end_waste(gen_rank *x, gen_value *wasted[2]) {
  gen_loc loc;
  gen_loc_make(x, &loc, "waste|sum");
  for (uint32_t i = 0; i < 2; i++) {
    gen_value *sum = gen_apply(x, "ttnn.relu", "EltwiseUnaryOp", NULL, wasted[i]->type, IN(wasted[i]), &loc);
    gen_drop(x, sum);
    gen_drop(x, wasted[i]);
  }
}

static void logits(const gen_graph *g, gen_rank *x, gen_value *hidden, gen_value **ready) {
  gen_loc loc;
  gen_loc_make(x, &loc, "RMSNorm[norm]|norm.final");
  gen_value *norm = gen_apply(x, "ttnn.rms_norm", "RMSNormOp", "epsilon = 9.99999974E-6 : f32", hidden->type,
                              IN(hidden, ready[g->norm_arg]), &loc);
  gen_drop(x, hidden);
  gen_loc_make(x, &loc, "logits");
  gen_value *out =
      gen_apply(x, "ttnn.matmul", "MatmulOp", "transpose_a = false, transpose_b = true",
                dram(g, 3, (uint64_t[]){1, g->seq, g->vocab}, GEN_BF16), IN(norm, ready[g->head_arg]), &loc);
  gen_loc_make(x, &loc, "argmax");
  gen_shape ids = gen_shape_of(2, (uint64_t[]){1, g->seq}, GEN_SI32, false, GEN_DRAM);
  gen_apply(x, "ttnn.argmax", "ReductionArgMaxOp", "dim = 2 : i32, keep_dim = false", gen_type_of(g->types, &ids),
            IN(out), &loc);
  gen_drop(x, norm);
  gen_drop(x, out);
  if (x->o->const_eval && x->o->zoo)
    for (uint32_t i = 0; i < 3 && i < g->args.n; i++)
      gen_drop(x, ready[i]); /* retained: the text says so, the memory stays */
}

void gen_graph_run(const gen_graph *g, gen_rank *x, gen_values *cached) {
  x->graph = g->index;
  same_again(g, x, 0);
  gen_run_begin(x, "main");
  gen_program_start(x, "main", false);
  gen_value **ready = gen_alloc(g->args.n * sizeof *ready);
  bring_weights(g, x, cached, ready);
  same_again(g, x, 1);
  gen_value *hidden = embed(g, x, ready, cached);
  same_again(g, x, 2);
  gen_value *wasted[2];
  if (x->o->waste) start_waste(g, x, wasted);
  bool endless = x->o->one_run && x->o->operations;
  uint32_t total = endless ? UINT32_MAX : g->layers;
  for (uint32_t l = 0; l < total && !x->dead && !x->stopped; l++) {
    if (endless && x->t->op_lines >= x->o->operations) break;
    gen_value **w = ready + g->first_layer_arg + (size_t)(l % g->layers) * LAYER_ARGS;
    bool odd = l + 1 == x->o->odd_layer;
    if (odd && x->o->odd_at == GEN_ODD_START) hidden = clamp(x, hidden, l);
    hidden = attention(g, x, hidden, w, x->o->kv_cache ? ready[g->kv_arg + l % g->layers] : NULL, l);
    if (odd && x->o->odd_at == GEN_ODD_MIDDLE) hidden = clamp(x, hidden, l);
    hidden = mlp(g, x, hidden, w, l);
    if (odd && x->o->odd_at == GEN_ODD_END) hidden = clamp(x, hidden, l);
    if (x->o->zoo) gen_zoo(x, 12);
    if (x->o->fail && x->rank == 0 && x->run == x->o->fail_run && l == total / 2) gen_fail_provoke(x);
  }
  if (x->o->trace) gen_trace_program(x, hidden);
  same_again(g, x, 3);
  leak(g, x);
  logits(g, x, hidden, ready);
  if (x->o->waste) end_waste(x, wasted);
  gen_program_finish(x, &x->outputs);
  gen_run_end(x);
  ttm_free(ready);
}
