/* SPDX-License-Identifier: Apache-2.0 */
/* The module of a graph at each stage of compilation, as tt-xla dumps it, and its arguments for the truth. */
#include "gen_log/gen.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const STAGES[] = {
    "vhlo", "shlo", "shlo_frontend", "shlo_compiler", "shlo_set_mesh_attr", "shlo_compiler_cleaned",
    "ttir", "ttnn", "ttnn_runtime"};
static const char *const DIALECTS[] = {"vhlo",      "stablehlo", "stablehlo", "stablehlo", "stablehlo",
                                       "stablehlo", "ttir",      "ttnn",      "ttnn"};
static const char *const KINDS[] = {"parameter", "constant", "input"};

enum { FRONTEND = 2, COMPILER = 3, CLEANED = 5, TTIR = 6, TTNN = 7 };

static void put_plain_type(ttm_buf *b, const gen_arg *a, uint32_t times) {
  const gen_shape *s = &a->type->shape;
  ttm_buf_puts(b, "tensor<");
  for (uint32_t i = 0; i < s->rank; i++)
    ttm_buf_printf(b, "%llux", (unsigned long long)s->dims[i] * (i == 0 ? times : 1));
  ttm_buf_printf(b, "%s>", gen_dtype_name(s->dtype));
}

/* Until the compiler splits the program, shapes are those of the whole mesh. */
static void put_arg(ttm_buf *b, const gen_graph *g, uint32_t i, int stage) {
  const gen_arg *a = &g->args.at[i];
  ttm_buf_printf(b, "%%arg%u: ", i);
  if (stage >= TTNN)
    ttm_buf_put(b, !a->kv_cache && (g->o->const_eval || a->kind == GEN_INPUT) ? a->type->text : a->ready->text);
  else
    put_plain_type(b, a, stage < CLEANED ? a->split : 1);
  if (stage == CLEANED) return;
  ttm_buf_printf(b, " {ttcore.argument_type = #ttcore.argument_type<%s>", KINDS[a->kind]);
  if (a->kv_cache && g->o->kv_cache == GEN_KV_MARKED) ttm_buf_puts(b, ", ttcore.kv_cache");
  if (stage >= COMPILER && a->split > 1) {
    ttm_buf_puts(b, ", ttcore.local_shape = #ttcore<local_shape local_shape = ");
    put_plain_type(b, a, 1);
    ttm_buf_puts(b, ">, ttcore.shard_status = #ttcore.shard_status<presharded>");
  } else if (stage == FRONTEND && a->split > 1) {
    ttm_buf_puts(b, ", sdy.sharding = #sdy.sharding<@mesh, [{\"_axis_0\"}, {}]>");
  }
  ttm_buf_printf(b, ", ttir.name = \"%s\"} loc(\"p%u.%u\")", a->name, i, i + 1);
}

static void body_line(gen_rank *x, ttm_buf *b) {
  gen_line(x->w, x->rank, GEN_STDERR, GEN_LOGURU, ttm_buf_str(b));
  ttm_buf_clear(b);
}

/* ---- whole modules ---- */

/* The program is played once, without a log, where everything fits. */
void gen_module_write(const gen_graph *g, const gen_board *board, gen_functions *out) {
  gen_options o = *g->o;
  gen_truth truth;
  gen_rank x;
  gen_graph quiet = *g;
  gen_values *cached = gen_alloc((g->args.n + 1) * sizeof *cached);
  o.ops = o.blocks = o.submit = false;
  o.fail = GEN_FAIL_NONE;
  o.cut = GEN_CUT_NONE;
  quiet.o = &o;
  gen_truth_init(&truth, 1);
  gen_rank_init(&x, &o, board, NULL, &truth, g->types, 0);
  for (int m = 0; m < GEN_MEMORIES; m++) gen_bank_free(&x.banks[m]), gen_bank_init(&x.banks[m], UINT64_C(1) << 50);
  x.functions = out;
  gen_graph_run(&quiet, &x, cached);
  for (size_t a = 0; a <= g->args.n; a++) {
    for (size_t i = 0; i < cached[a].n; i++) free(cached[a].at[i]);
    ttm_vec_free(&cached[a]);
  }
  free(cached);
  gen_rank_free(&x);
  gen_truth_free(&truth);
}

void gen_module_free(gen_functions *functions) {
  for (size_t i = 0; i < functions->n; i++) {
    gen_function *f = &functions->at[i];
    ttm_buf_free(&f->args), ttm_buf_free(&f->body), ttm_buf_free(&f->results), ttm_buf_free(&f->types);
  }
  ttm_vec_free(functions);
}

static void put_body(gen_rank *x, ttm_buf *b, const gen_function *f) {
  for (ttm_str rest = ttm_buf_str(&f->body); rest.n;) {
    ttm_buf_put(b, ttm_str_take_to(&rest, '\n'));
    body_line(x, b);
  }
  ttm_buf_puts(b, "    return");
  if (f->results.n) ttm_buf_char(b, ' '), ttm_buf_put(b, ttm_buf_str(&f->results));
  if (f->results.n) ttm_buf_puts(b, " : "), ttm_buf_put(b, ttm_buf_str(&f->types));
  ttm_buf_puts(b, " loc(#loc)");
  body_line(x, b);
  ttm_buf_puts(b, "  }");
  body_line(x, b);
}

static void put_types(gen_rank *x, ttm_buf *b, const gen_function *f) {
  ttm_buf_puts(b, ") -> (");
  ttm_buf_put(b, ttm_buf_str(&f->types));
  ttm_buf_puts(b, ") {");
  body_line(x, b);
}

static void put_function(gen_rank *x, ttm_buf *b, const gen_function *f) {
  ttm_buf_printf(b, "  func.func private @%s(", f->name);
  ttm_buf_put(b, ttm_buf_str(&f->args));
  put_types(x, b, f);
  put_body(x, b, f);
}

static void put_operations(const gen_graph *g, gen_rank *x, ttm_buf *b, int stage) {
  for (uint32_t l = 0; l < g->layers && l < 8; l++) {
    const gen_shape *s = &g->args.at[0].type->shape;
    ttm_buf_printf(b,
                   "    %%%u = \"%s.dot_general\"(%%arg0, %%arg1) : (tensor<%llux%llux%s>, tensor<%ux%ux%s>) -> "
                   "tensor<%ux%ux%s> loc(#loc%u)",
                   l, DIALECTS[stage], (unsigned long long)s->dims[0], (unsigned long long)s->dims[1], "bf16",
                   g->hidden, g->hidden, "bf16", g->seq, g->hidden, "bf16", l + 2);
    body_line(x, b);
  }
}

static void dump_stage(const gen_graph *g, gen_rank *x, int stage, const gen_functions *functions) {
  const gen_function *entry = stage >= TTNN && functions->n ? &functions->at[functions->n - 1] : NULL;
  ttm_buf b = {0};
  gen_loguru_prefix(x->w, "module_builder.cc", 1279, "1", &b);
  ttm_buf_printf(&b, "MLIR Module %s:", STAGES[stage]);
  gen_line(x->w, x->rank, GEN_STDERR, GEN_ANYBODY, ttm_buf_str(&b));
  ttm_buf_clear(&b);
  if (stage >= TTNN) {
    ttm_buf_puts(&b, "#dram = #ttnn.buffer_type<dram>");
    body_line(x, &b);
  }
  ttm_buf_puts(&b, "#loc1 = loc(\"p0.1\")");
  body_line(x, &b);
  if (stage >= TTIR) {
    ttm_buf_printf(&b,
                   "#system_desc = #ttcore.system_desc<[{role = host, target_triple = \"x86_64-pc-linux\"}], [{arch = "
                   "<%s>, grid = %ux%u, l1_size = %llu, num_dram_channels = %u, "
                   "noc_l1_address_align_bytes = 16, pcie_address_align_bytes = 32, noc_dram_address_align_bytes = %u, "
                   "l1_unreserved_base = %llu}], [0], [1 : i32], [ 0x0x0x0]>",
                   g->o->p150 ? "blackhole" : "wormhole_b0", x->board->grid_rows, x->board->grid_cols,
                   (unsigned long long)x->board->l1_size, x->board->banks[GEN_DRAM], x->board->block_align,
                   (unsigned long long)x->board->l1_base);
    body_line(x, &b);
  }
  ttm_buf_printf(&b, "module @%s attributes {mhlo.cross_program_prefetches = []%s} {", g->module,
                 stage >= TTIR ? ", ttcore.system_desc = #system_desc" : "");
  body_line(x, &b);
  if (stage >= COMPILER && g->o->devices > 1) {
    ttm_buf_printf(&b, "  ttcore.meshes = #ttcore.meshes<[<\"mesh\" = 1x%u>]>", g->o->devices);
    body_line(x, &b);
  }
  for (size_t i = 0; entry && i + 1 < functions->n; i++) put_function(x, &b, &functions->at[i]);
  ttm_buf_puts(&b, "  func.func @main(");
  for (uint32_t i = 0; i < g->args.n; i++) {
    if (i) ttm_buf_puts(&b, ", ");
    put_arg(&b, g, i, stage);
  }
  if (entry) {
    put_types(x, &b, entry);
    put_body(x, &b, entry);
  } else {
    ttm_buf_printf(&b, ") -> (tensor<1x%uxsi32> {jax.result_info = \"result\"}) {", g->seq);
    body_line(x, &b);
    put_operations(g, x, &b, stage);
    ttm_buf_puts(&b, "    return %0 : tensor<1xbf16> loc(#loc)");
    body_line(x, &b);
    ttm_buf_puts(&b, "  }");
    body_line(x, &b);
  }
  ttm_buf_puts(&b, "} loc(#loc)");
  body_line(x, &b);
  for (uint32_t l = 0; l < g->layers && l < 8; l++) {
    ttm_buf_printf(&b, "#loc%u = loc(\"dot.%u\")", l + 2, l);
    body_line(x, &b);
  }
  ttm_buf_puts(&b, "------------------ END OF MLIR MODULE ------------------");
  gen_line(x->w, x->rank, GEN_STDERR, GEN_LOGURU, ttm_buf_str(&b));
  ttm_buf_free(&b);
}

void gen_graph_dump(const gen_graph *g, gen_rank *x) {
  gen_functions functions = {0};
  if (g->o->modules) gen_module_write(g, x->board, &functions);
  for (int stage = 0; stage < (int)(sizeof STAGES / sizeof *STAGES); stage++) dump_stage(g, x, stage, &functions);
  gen_module_free(&functions);
}

/* Names as people wrote them: the module has quotes as \22. */
static void put_name(ttm_buf *b, const char *name) {
  char plain[120];
  size_t n = 0;
  for (; *name; name++) {
    bool quote = !strncmp(name, "\\22", 3);
    plain[n++] = quote ? '"' : *name;
    if (quote) name += 2;
  }
  plain[n] = '\0';
  gen_json_string(b, plain);
}

void gen_graph_tell(const gen_graph *g, gen_truth *t) {
  for (uint32_t i = 0; i < g->args.n; i++) {
    const gen_arg *a = &g->args.at[i];
    bool weight = a->kind != GEN_INPUT;
    if (t->registry.n) ttm_buf_puts(&t->registry, ",\n");
    ttm_buf_printf(&t->registry, "  {\"graph\": %u, \"index\": %u, \"ssa\": \"%%arg%u\", \"name\": ", g->index, i, i);
    put_name(&t->registry, a->name);
    ttm_buf_printf(
        &t->registry, ", \"type\": \"%s\", \"shape\": \"%s\", \"dtype\": \"%s\", \"bytes\": %llu, \"whole_shape\": \"",
        KINDS[a->kind], a->type->dims, gen_dtype_name(a->type->shape.dtype), (unsigned long long)a->type->logical);
    for (uint32_t k = 0; k < a->type->shape.rank; k++)
      ttm_buf_printf(&t->registry, "%s%llu", k ? "x" : "",
                     (unsigned long long)a->type->shape.dims[k] * (k == 0 ? a->split : 1));
    ttm_buf_puts(&t->registry, "\"}");
    if (weight) t->weight_bytes += a->type->logical;
  }
}
