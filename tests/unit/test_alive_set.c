/* SPDX-License-Identifier: Apache-2.0 */
/* What is alive at the peak: classes that add up, arguments by their program's signature, and what is only a guess; waste and advice on it. */
#include "profile_fixture.h"

enum { MB = 1 << 20 };
#define FX_BIG_F32                                                                                                \
  "tensor<3072x4096xf32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<96x128x!ttcore.tile<32x32, f32>, " \
  "#ttnn.buffer_type<dram>>, <interleaved>>>"
#define FX_TILE_F32                                                                                        \
  "tensor<32x32xf32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, " \
  "#ttnn.buffer_type<dram>>, <interleaved>>>"
#define FX_COLUMN \
  "tensor<1048576x1xbf16, " FX_LAYOUT("32768x1", "dram", ", <interleaved>") /* 32,768 tiles, 31/32 padding */

static ttm_profile *begin(void) {
  ttm_profile *p = fx_new(1);
  p->kind = TTM_LOG_FULL;
  return p;
}

static uint32_t add_graph(ttm_profile *p) {
  fx_ok(ttm_vec_push(&p->graphs, (ttm_graph){.rank = 0}));
  return (uint32_t)p->graphs.n - 1;
}

static void add_arg(ttm_profile *p, uint32_t graph, const char *name, ttm_arg_kind kind, const char *device, bool kv) {
  uint32_t plain = fx_type(p, "tensor<3072x4096xbf16>");
  ttm_graph_arg arg = {
      .name = fx_str(p, name), .kind = (uint8_t)kind, .type = plain, .local_type = plain, .kv_cache = kv};
  arg.device_type = device ? fx_type(p, device) : TTM_NONE;
  fx_ok(ttm_vec_push(&p->graphs.at[graph].args, arg));
}

static const ttm_alive_row *row_of(const ttm_findings *f, const char *name) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  for (size_t i = 0; i < set->rows.n; i++) {
    if (ttm_str_eq(ttm_profile_string(f->profile, set->rows.at[i].name), ttm_str_of(name))) return &set->rows.at[i];
  }
  return NULL;
}

static void adds_up(const ttm_findings *f) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  uint64_t sum = 0;
  assert_true(set->known);
  for (int c = 0; c < TTM_ALIVE_CLASSES; c++) sum += set->by_class[c];
  assert_true(sum <= set->measured_bytes + set->over_bytes + 600 && sum + 600 >= set->measured_bytes + set->over_bytes);
}

/* Four arguments of 2 MB stand there; the run dies before an operation names any of them. */
static void arguments_that_were_never_used(void **state) {
  (void)state;
  ttm_profile *p = begin();
  uint32_t graph = add_graph(p), add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_BIG, NULL);
  add_arg(p, graph, "w", TTM_ARG_PARAMETER, FX_BIG, false);
  add_arg(p, graph, "past_key_values.0", TTM_ARG_INPUT, FX_BIG, false);
  add_arg(p, graph, "state", TTM_ARG_INPUT, FX_BIG, true);
  add_arg(p, graph, "x", TTM_ARG_INPUT, FX_BIG, false);
  add_arg(p, graph, "on the host", TTM_ARG_PARAMETER, FX_HOST, false);
  uint32_t call = fx_call(p, "main", 0, TTM_NONE);
  p->calls.at[call].graph = graph;
  fx_step(p, add, call, 8000);
  fx_step(p, add, call, 10000);
  ttm_findings *f = fx_findings(p);
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  adds_up(f);
  assert_int_equal(set->by_class[TTM_ALIVE_WEIGHT], 2 * MB);
  assert_int_equal(set->by_class[TTM_ALIVE_KV_CACHE], 4 * MB);
  assert_int_equal(set->by_class[TTM_ALIVE_INPUT], 2 * MB);
  assert_int_equal(set->by_class[TTM_ALIVE_ACTIVATION], 2 * MB);
  assert_int_equal(set->by_class[TTM_ALIVE_UNACCOUNTED], 0);
  assert_int_equal(set->guessed_bytes, 2 * MB);
  assert_true(row_of(f, "past_key_values.0")->guess);
  assert_false(row_of(f, "state")->guess);
  assert_null(row_of(f, "on the host"));
  assert_true(ttm_alive_set_quality(set) > 99.9);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void what_nobody_explains_is_said(void **state) {
  (void)state;
  ttm_profile *p = begin();
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_BIG, NULL), call = fx_call(p, "main", 0, TTM_NONE);
  fx_step(p, add, call, 6000);
  fx_step(p, add, call, 8000);
  ttm_findings *f = fx_findings(p);
  adds_up(f);
  assert_int_equal(f->alive_set[TTM_DRAM].by_class[TTM_ALIVE_UNACCOUNTED], 6 * MB);
  assert_true(ttm_alive_set_quality(&f->alive_set[TTM_DRAM]) < 26);
  assert_int_equal(f->peak_fixes.n, 0);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

/* A const-eval program makes `form` of the weight "w"; the original is an argument in DRAM when `original`. */
static ttm_findings *weights(ttm_profile **out, const char *form, bool original) {
  ttm_profile *p = *out = begin();
  uint32_t graph = add_graph(p), first = (uint32_t)p->lists.n;
  add_arg(p, graph, "w", TTM_ARG_PARAMETER, original ? FX_BIG : FX_HOST, false);
  fx_ok(ttm_vec_push(&p->lists, 0));
  fx_ok(ttm_vec_push(&p->weight_lists, (ttm_list){0, 0}));
  fx_ok(ttm_vec_push(&p->weight_lists, (ttm_list){first, 1}));
  uint32_t load = fx_text(p, "ttcore.load_cached", TTM_OP_LOAD_CACHED, form, NULL);
  uint32_t convert = fx_text(p, "ttnn.to_layout", TTM_OP_PLAIN, form, NULL);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_BIG, NULL), call = fx_call(p, "main", 0, TTM_NONE);
  p->calls.at[call].graph = graph;
  uint32_t base = original ? 2000 : 0;
  uint32_t loading = fx_op_only(p, load, call);
  p->ops.at[loading].weights = 1;
  fx_state(p, 0, loading, base, 0);
  uint32_t inside = fx_call(p, "main_const_eval_0", 0, call);
  p->calls.at[inside].caller = loading;
  uint32_t made = fx_step(p, convert, inside, base);
  p->ops.at[loading].tensor = (uint32_t)p->tensors.n;
  ttm_tensor cached = {.self = p->ops.at[made].tensor, .birth = loading, .last_use = loading, .freed_by = TTM_NONE};
  fx_ok(ttm_vec_push(&p->tensors, cached));
  uint32_t size = strstr(form, "f32") ? 4000 : 2000;
  fx_step(p, add, call, base + size);
  fx_step(p, add, call, base + size + 2000);
  return fx_findings(p);
}

static void weights_by_their_name(void **state) {
  (void)state;
  ttm_profile *p;
  ttm_findings *f = weights(&p, FX_BIG, false);
  adds_up(f);
  const ttm_alive_row *row = row_of(f, "w");
  assert_non_null(row);
  assert_int_equal(row->class, TTM_ALIVE_WEIGHT);
  assert_int_equal(row->bank_bytes, 2 * MB);
  assert_int_equal(f->wastes.n, 0);
  assert_int_equal(f->peak_fixes.n, 0);
  assert_int_equal(f->weight_demand.matrices, 1);
  assert_int_equal(f->weight_demand.bytes, 24 * MB);
  assert_true(f->weight_demand.as_bfp8 < 13 * MB);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void an_upcast_weight_is_waste(void **state) {
  (void)state;
  ttm_profile *p;
  ttm_findings *f = weights(&p, FX_BIG_F32, false);
  adds_up(f);
  assert_int_equal(f->wastes.n, 1);
  assert_int_equal(f->wastes.at[0].kind, TTM_WASTE_UPCAST);
  assert_int_equal(f->wastes.at[0].bank_bytes, 2 * MB);
  assert_int_equal(f->peak_fixes.n, 1);
  assert_int_equal(f->peak_fixes.at[0].kind, TTM_FIX_NO_UPCAST);
  assert_int_equal(f->peak_fixes.at[0].bytes, 2 * MB);
  assert_int_equal(f->weight_demand.bytes, 48 * MB);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void a_weight_there_twice_is_waste(void **state) {
  (void)state;
  ttm_profile *p;
  ttm_findings *f = weights(&p, FX_BIG_F32, true);
  adds_up(f);
  const ttm_alive_row *row = row_of(f, "w");
  assert_int_equal(row->tensors, 2);
  assert_int_equal(f->wastes.n, 1);
  assert_int_equal(f->wastes.at[0].kind, TTM_WASTE_TWICE);
  assert_int_equal(f->wastes.at[0].bank_bytes, 2 * MB);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

/* A column of tiles in each of three runs. */
static void padding_without_a_better_shape_is_no_advice(void **state) {
  (void)state;
  ttm_profile *p = begin();
  uint32_t column = fx_text(p, "ttnn.column", TTM_OP_PLAIN, FX_COLUMN, NULL);
  uint32_t drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  uint32_t size = 5334; /* 32,768 tiles in 12 banks: 2731 of 2048 B */
  for (uint32_t run = 0; run < 3; run++) {
    uint32_t call = fx_call(p, "main", 0, TTM_NONE), op = fx_step(p, column, call, 0), tensor = p->ops.at[op].tensor;
    fx_state(p, 0, fx_free(p, drop, call, tensor, 0), size, 0);
  }
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->wastes.n, 1);
  const ttm_waste *waste = &f->wastes.at[0];
  assert_int_equal(waste->kind, TTM_WASTE_PADDING);
  assert_int_equal(waste->bank_bytes / 1000, (uint64_t)2731 * 2048 * 31 / 32 / 1000);
  assert_int_equal(waste->better.rank, 0); /* a column of a million rows has no better shape here */
  assert_int_equal(waste->row_major / 1000, (uint64_t)2731 * 2048 / 2 / 1000); /* but rows of 32 bytes */
  assert_int_equal(f->peak_fixes.n, 0);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

/* 32 matrices of one row, each padded to a row of tiles: 4096 tiles, where one matrix of 32 rows has 128. */
#define FX_FLAT                                                                                                      \
  "tensor<32x1x4096xbf16, #ttnn.ttnn_layout<(d0, d1, d2) -> (d0, d1, d2), <1x1>, memref<32x128x!ttcore.tile<32x32, " \
  "bf16>, #ttnn.buffer_type<dram>>, <interleaved>>>"

/* Two ranks make the padded tensor. On the first another moment is nearly as high, while the other rank has its own. */
static void what_another_rank_holds_saves_nothing(void **state) {
  (void)state;
  ttm_profile *p = fx_new(2);
  p->kind = TTM_LOG_FULL;
  uint32_t flat = fx_text(p, "ttnn.flat", TTM_OP_PLAIN, FX_FLAT, NULL);
  uint32_t drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  uint32_t half = fx_text(p, "ttnn.half", TTM_OP_PLAIN, NULL, NULL);
  uint32_t a = fx_call(p, "main", 0, TTM_NONE), b = fx_call(p, "main", 1, TTM_NONE), size = 668;
  uint32_t own = fx_step(p, flat, a, 0), other = fx_step(p, flat, b, 0);
  fx_state(p, 0, fx_free(p, drop, a, p->ops.at[own].tensor, 0), size, 0);
  fx_step(p, half, a, 0);
  fx_step(p, half, a, 600);
  fx_state(p, 1, fx_free(p, drop, b, p->ops.at[other].tensor, 0), size, 0);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->peak_fixes.n, 1);
  assert_int_equal(f->peak_fixes.at[0].kind, TTM_FIX_RESHAPE);
  assert_true(f->peak_fixes.at[0].bytes < 70 * MB / 1000 && f->peak_fixes.at[0].bytes > 66 * MB / 1000);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

/* Of two weights in two forms each, the second is not yet there at another high moment: there only one can be saved. */
static void each_weight_saves_while_it_is_there(void **state) {
  (void)state;
  ttm_profile *p = begin();
  uint32_t graph = add_graph(p), call = fx_call(p, "main", 0, TTM_NONE), level = 4000;
  p->calls.at[call].graph = graph;
  fx_ok(ttm_vec_push(&p->weight_lists, (ttm_list){0, 0}));
  uint32_t make = fx_text(p, "ttnn.make", TTM_OP_PLAIN, FX_BIG, NULL);
  uint32_t half = fx_text(p, "ttnn.half", TTM_OP_PLAIN,
                          "tensor<1536x4096xbf16, " FX_LAYOUT("48x128", "dram", ", <interleaved>"), NULL);
  uint32_t drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL), made[3];
  for (uint32_t w = 0; w < 2; w++) {
    add_arg(p, graph, w ? "v" : "w", TTM_ARG_PARAMETER, FX_BIG, false);
    fx_ok(ttm_vec_push(&p->lists, w));
    fx_ok(ttm_vec_push(&p->weight_lists, (ttm_list){(uint32_t)p->lists.n - 1, 1}));
  }
  for (uint32_t w = 0; w < 2; w++) {
    uint32_t convert = fx_text(p, "ttnn.typecast", TTM_OP_PLAIN, FX_BIG_F32, NULL);
    uint32_t op = fx_step(p, convert, call, level);
    p->ops.at[op].weights = w + 1;
    level += 4000;
    for (uint32_t i = 0; w == 0 && i < 3; i++) { /* up to 13 MB, and down again */
      op = fx_step(p, i < 2 ? make : half, call, level);
      made[i] = p->ops.at[op].tensor;
      level += i < 2 ? 2000 : 1000;
    }
    for (uint32_t i = 0; w == 0 && i < 3; i++) {
      fx_state(p, 0, fx_free(p, drop, call, made[i], 0), level, 0);
      level -= i < 2 ? 2000 : 1000;
    }
  }
  fx_step(p, make, call, level);
  fx_step(p, make, call, level + 2000); /* 14 MB */
  ttm_findings *f = fx_findings(p);
  assert_int_equal(row_of(f, "v")->tensors, 2);
  assert_int_equal(f->wastes.count[TTM_WASTE_TWICE], 2);
  assert_int_equal(f->wastes.bank_bytes[TTM_WASTE_TWICE], 4 * MB);
  assert_int_equal(f->peak_fixes.n, 1);
  assert_int_equal(f->peak_fixes.at[0].kind, TTM_FIX_ONE_FORM);
  assert_true(f->peak_fixes.at[0].bytes + 600 > 3 * MB && f->peak_fixes.at[0].bytes < 3 * MB + 600);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

/* Operations of several const-eval programs have one text: each saves for its own weight, not for those of all the others. The same weight of
 * every layer is one row. */
static void weights_of_one_text(void **state) {
  (void)state;
  enum { WEIGHTS = 4 };
  ttm_profile *p = begin();
  uint32_t graph = add_graph(p), call = fx_call(p, "main", 0, TTM_NONE), level = 0;
  p->calls.at[call].graph = graph;
  fx_ok(ttm_vec_push(&p->weight_lists, (ttm_list){0, 0}));
  uint32_t big = fx_text(p, "ttnn.typecast", TTM_OP_PLAIN, FX_BIG_F32, NULL);
  uint32_t tile = fx_text(p, "ttnn.typecast", TTM_OP_PLAIN, FX_TILE_F32, NULL);
  uint32_t make = fx_text(p, "ttnn.make", TTM_OP_PLAIN, FX_BIG, NULL);
  for (uint32_t w = 0; w < WEIGHTS; w++) {
    char name[32] = "norm";
    if (w < WEIGHTS - 1) snprintf(name, sizeof name, "layers.%u.w", w);
    add_arg(p, graph, name, TTM_ARG_PARAMETER, FX_HOST, false);
    fx_ok(ttm_vec_push(&p->lists, w));
    fx_ok(ttm_vec_push(&p->weight_lists, (ttm_list){(uint32_t)p->lists.n - 1, 1}));
  }
  for (uint32_t w = 0; w < WEIGHTS; w++) {
    bool small = w == WEIGHTS - 1; /* too small to be named as waste, but it belongs to the advice */
    uint32_t op = fx_step(p, small ? tile : big, call, level);
    p->ops.at[op].weights = w + 1;
    level += small ? 4 : 4000;
  }
  fx_step(p, make, call, level);
  fx_step(p, make, call, level + 2000);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->wastes.count[TTM_WASTE_UPCAST], WEIGHTS - 1);
  assert_int_equal(f->wastes.n, 1);
  assert_int_equal(f->wastes.at[0].rows, WEIGHTS - 1);
  assert_int_equal(f->wastes.at[0].bank_bytes, 6 * MB);
  assert_int_equal(f->peak_fixes.n, 1);
  assert_int_equal(f->peak_fixes.at[0].kind, TTM_FIX_NO_UPCAST);
  assert_int_equal(f->peak_fixes.at[0].count, WEIGHTS);
  assert_true(f->peak_fixes.at[0].bytes + 600 > 6 * MB + 2048 && f->peak_fixes.at[0].bytes < 6 * MB + 2048 + 600);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

/* Two graphs call their const-eval programs alike: what a load_cached brings is told by its graph. */
static void consumers_of_one_text(void **state) {
  (void)state;
  ttm_profile *p = begin();
  uint32_t load = fx_text(p, "ttcore.load_cached", TTM_OP_LOAD_CACHED, FX_BIG, NULL), level = 0;
  fx_ok(ttm_vec_push(&p->weight_lists, (ttm_list){0, 0}));
  fx_ok(ttm_vec_push(&p->lists, 0));
  fx_ok(ttm_vec_push(&p->weight_lists, (ttm_list){(uint32_t)p->lists.n - 1, 1}));
  for (uint32_t g = 0; g < 2; g++, level += 2000) {
    uint32_t graph = add_graph(p), call = fx_call(p, "main", 0, TTM_NONE);
    add_arg(p, graph, g ? "adapter.w" : "model.w", TTM_ARG_PARAMETER, FX_HOST, false);
    p->calls.at[call].graph = graph;
    uint32_t op = fx_step(p, load, call, level);
    p->ops.at[op].weights = 1;
  }
  fx_step(p, load, fx_call(p, "end", 0, TTM_NONE), level);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->consumers[TTM_DRAM].n, 2);
  for (uint32_t i = 0; i < 2; i++) {
    const ttm_consumer *row = &f->consumers[TTM_DRAM].at[i];
    assert_true(ttm_str_eq(row->name, ttm_str_of(i ? "adapter.w" : "model.w")));
    assert_int_equal(row->runs, 1);
    assert_int_equal(row->members, 1);
  }
  ttm_findings_free(f);
  ttm_profile_free(p);
}

/* A weight that `use` is made of, called so, at a failure. NULL when nothing is said about bfp8, else the lines to paste. */
static const char *paste_for(const char *name, uint8_t use, char *out, size_t cap) {
  ttm_profile *p = begin();
  uint32_t graph = add_graph(p), first = (uint32_t)p->lists.n, call = fx_call(p, "main", 0, TTM_NONE);
  add_arg(p, graph, name, TTM_ARG_PARAMETER, FX_HOST, false);
  p->calls.at[call].graph = graph;
  fx_ok(ttm_vec_push(&p->lists, 0));
  fx_ok(ttm_vec_push(&p->weight_lists, (ttm_list){0, 0}));
  fx_ok(ttm_vec_push(&p->weight_lists, (ttm_list){first, 1}));
  uint32_t op = fx_step(p, fx_text(p, "ttnn.to_device", TTM_OP_PLAIN, FX_BIG, NULL), call, 0);
  p->ops.at[op].weights = 1;
  p->tensors.at[p->ops.at[op].tensor].uses = use;
  uint32_t make = fx_text(p, "ttnn.make", TTM_OP_PLAIN, FX_BIG, NULL);
  fx_step(p, make, call, 2000);
  uint32_t last = fx_step(p, make, call, 4000);
  ttm_incident oom = {.what = {.kind = TTM_INCIDENT_OOM, .memory = TTM_LIT("DRAM")}, .op = last, .state = TTM_NONE};
  fx_ok(ttm_vec_push(&p->incidents, oom));
  ttm_findings *f = fx_findings(p);
  const ttm_fix *found = NULL;
  for (size_t i = 0; i < f->statements.fixes.n; i++)
    if (!strcmp(f->statements.fixes.at[i].kind, "weights_dtype")) found = &f->statements.fixes.at[i];
  if (found) snprintf(out, cap, "%.*s", TTM_ARGS(found->paste));
  ttm_findings_free(f);
  ttm_profile_free(p);
  return found ? out : NULL;
}

static void bfp8_for_factors_of_products_only(void **state) {
  (void)state;
  char lines[512];
  const char *paste = paste_for("model.layers.0.mlp.up_proj.weight", TTM_USE_MULTIPLY, lines, sizeof lines);
  assert_non_null(paste);
  assert_string_equal(paste,
                      "from tt_torch import apply_weight_dtype_overrides\n"
                      "apply_weight_dtype_overrides(model, {  # before torch.compile\n"
                      "    \"model.layers.0.mlp.up_proj.weight\": \"bfp_bf8\",\n})\n");
  /* What torch.export made of "fc.weight"; quotes of a name end no string. */
  assert_non_null(strstr(paste_for("l__self___fc_weight", TTM_USE_MULTIPLY, lines, sizeof lines), " \"fc?weight\":"));
  assert_non_null(strstr(paste_for("L['self'].w\"", TTM_USE_MULTIPLY, lines, sizeof lines), " \"L??self??.w?\":"));
  assert_null(paste_for("w", TTM_USE_TABLE, lines, sizeof lines));
  assert_null(paste_for("w", TTM_USE_MULTIPLY | TTM_USE_TABLE, lines, sizeof lines)); /* tied to the output layer */
  assert_null(paste_for("w", TTM_USE_OTHER, lines, sizeof lines));
  /* Not used so far: the name tells. */
  assert_non_null(paste_for("w", 0, lines, sizeof lines));
  assert_null(paste_for("model.embed_tokens.weight", 0, lines, sizeof lines));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arguments_that_were_never_used),
      cmocka_unit_test(what_nobody_explains_is_said),
      cmocka_unit_test(weights_by_their_name),
      cmocka_unit_test(an_upcast_weight_is_waste),
      cmocka_unit_test(what_another_rank_holds_saves_nothing),
      cmocka_unit_test(each_weight_saves_while_it_is_there),
      cmocka_unit_test(a_weight_there_twice_is_waste),
      cmocka_unit_test(weights_of_one_text),
      cmocka_unit_test(consumers_of_one_text),
      cmocka_unit_test(bfp8_for_factors_of_products_only),
      cmocka_unit_test(padding_without_a_better_shape_is_no_advice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
