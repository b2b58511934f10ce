/* SPDX-License-Identifier: Apache-2.0 */
/* The repeating block, with and without names that count, and the layer that differs. */
#include <stdio.h>

#include "analyze/layer_names.h"
#include "profile_fixture.h"

static void prefixes_end_before_the_number_that_counts(void **state) {
  (void)state;
  static const struct {
    const char *a, *b, *prefix;
  } cases[] = {{"layers.0|x.0", "layers.1|x.1", "layers."},
               {"layers.9|x", "layers.10|x", "layers."},
               {"layers.19|x", "layers.20|x", "layers."},
               {"7|a", "8|a", ""},
               {"h[1].mlp", "h[2].mlp", "h["},
               {"1|m.3|y", "1|m.4|y", "1|m."}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ttm_str prefix;
    assert_true(ttm_layer_prefix(ttm_str_of(cases[i].a), ttm_str_of(cases[i].b), &prefix));
    assert_int_equal(prefix.n, strlen(cases[i].prefix));
    assert_memory_equal(prefix.p, cases[i].a, prefix.n);
  }
  static const char *const none[][2] = {{"a", "a"},     {"", ""},       {"x.1", "x.3"},
                                        {"x.2", "x.1"}, {"a.1", "b.2"}, {"x.", "x.1"}};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
    ttm_str prefix;
    assert_false(ttm_layer_prefix(ttm_str_of(none[i][0]), ttm_str_of(none[i][1]), &prefix));
  }
  uint32_t n;
  assert_true(ttm_layer_number(TTM_LIT("layers.12|x"), TTM_LIT("layers."), &n));
  assert_int_equal(n, 12);
  assert_false(ttm_layer_number(TTM_LIT("layers.x"), TTM_LIT("layers."), &n));
  assert_false(ttm_layer_number(TTM_LIT("layers.99999999999"), TTM_LIT("layers."), &n));
  assert_false(ttm_layer_number(TTM_LIT("other"), TTM_LIT("layers."), &n));
}

/* A program of `layers` layers of five operations, layer `odd` with one more at `place` (0 to 5), with names or without; it begins and ends
 * with operations of its own. */
static ttm_profile *program(uint32_t layers, uint32_t odd, uint32_t place, bool names, bool finished) {
  static const char *const ops[] = {"ttnn.norm", "ttnn.linear", "ttnn.softmax", "ttnn.matmul", "ttnn.add"};
  ttm_profile *p = fx_new(1);
  uint32_t call = fx_call(p, "main", 0, TTM_NONE), dram = 0;
  uint32_t embed = fx_text(p, "ttnn.embedding", TTM_OP_PLAIN, FX_TILE, NULL);
  uint32_t logits = fx_text(p, "ttnn.argmax", TTM_OP_PLAIN, FX_TILE, NULL);
  fx_step(p, embed, call, dram);
  for (uint32_t l = 0; l < layers; l++) {
    for (uint32_t k = 0; k <= 5; k++) {
      char location[40];
      uint32_t text;
      if (l == odd && k == place) {
        text = fx_text(p, "ttnn.clamp", TTM_OP_PLAIN, FX_TILE, NULL);
        snprintf(location, sizeof location, "layers.%u|clamp", l);
        if (names) p->texts.at[text].location = fx_str(p, location);
        fx_step(p, text, call, dram);
        dram += 10;
      }
      if (k == 5) break;
      text = fx_text(p, ops[k], TTM_OP_PLAIN, FX_TILE, NULL);
      snprintf(location, sizeof location, "layers.%u|%s", l, ops[k]);
      if (names) p->texts.at[text].location = fx_str(p, location);
      fx_step(p, text, call, dram);
      dram += k == 1 ? 7 : k == 3 ? -4 : 0; /* rises to 7, leaves 3 */
    }
  }
  if (finished) fx_step(p, logits, call, dram);
  p->calls.at[call].finished = finished;
  return p;
}

static void check(uint32_t layers, uint32_t odd, uint32_t place, bool names, uint32_t found) {
  ttm_profile *p = program(layers, odd, place, names, true);
  ttm_findings *f = fx_findings(p);
  const ttm_layers *l = &f->layers;
  assert_int_equal(l->period, 5);
  assert_int_equal(l->odd_count, found);
  assert_int_equal(l->count, layers - found);
  if (found) {
    assert_int_equal(l->odd[0].layer, odd);
    assert_int_equal(l->odd[0].ops, 6);
    assert_view(ttm_profile_string(p, ttm_op_text_of(p, l->odd[0].differs)->name), "ttnn.clamp");
    assert_int_equal(l->odd[0].growth, 13);
  }
  assert_int_equal(l->growth, 3); /* of a common layer, whichever is the odd one */
  assert_int_equal(l->peak, 7);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

static void names_find_every_odd_layer(void **state) {
  (void)state;
  check(6, TTM_NONE, 0, true, 0);
  for (uint32_t odd = 0; odd < 8; odd++) {
    for (uint32_t place = 0; place <= 5; place++) check(8, odd, place, true, 1);
  }
}

/* Where a layer begins is then only known from the longest stretch without an odd one. */
static void without_names_those_in_between(void **state) {
  (void)state;
  check(6, TTM_NONE, 0, false, 0);
  for (uint32_t odd = 4; odd < 7; odd++) check(8, odd, 5, false, 1);
}

static void a_layer_that_was_cut_is_not_odd(void **state) {
  (void)state;
  for (int names = 0; names < 2; names++) {
    ttm_profile *p = program(6, TTM_NONE, 0, names, false);
    p->ops.n -= 2; /* died in the sixth layer */
    p->calls.at[0].last_op -= 2;
    p->states.n -= 2;
    ttm_findings *f = fx_findings(p);
    assert_int_equal(f->layers.count, 5);
    assert_int_equal(f->layers.odd_count, 0);
    ttm_findings_free(f);
    ttm_profile_free(p);
  }
}

static void no_repetition_no_layers(void **state) {
  (void)state;
  for (uint32_t layers = 0; layers < 3; layers++) {
    ttm_profile *p = program(layers, TTM_NONE, 0, true, true);
    ttm_findings *f = fx_findings(p);
    assert_int_equal(f->layers.period, 0);
    assert_int_equal(f->layers.count, 0);
    ttm_findings_free(f);
    ttm_profile_free(p);
  }
}

/* Four ranks at very different levels, woven together operation by operation, the last one with a short second run: what the others hold
 * between two operations is not the layer's. */
static void a_layer_is_measured_on_its_own_rank(void **state) {
  (void)state;
  enum { RANKS = 4, LAYERS = 6 };
  ttm_profile *p = fx_new(RANKS);
  uint32_t calls[RANKS], text[3], drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  for (uint32_t r = 0; r < RANKS; r++) calls[r] = fx_call(p, "main", r, TTM_NONE);
  text[0] = fx_text(p, "ttnn.norm", TTM_OP_PLAIN, FX_TILE, NULL);
  text[1] = fx_text(p, "ttnn.linear", TTM_OP_PLAIN, FX_TILE, NULL);
  text[2] = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL);
  for (uint32_t step = 0; step < 4 * LAYERS; step++) {
    for (uint32_t r = 0; r < RANKS; r++) {
      uint32_t dram = 1000 * r + step / 4 * 3 + (step % 4 == 3 ? 7 : 0); /* 7 at the deallocate only, which leaves 3 */
      if (step % 4 == 3)
        fx_state(p, r, fx_free(p, drop, calls[r], TTM_NONE, 0), dram, 0);
      else
        fx_step(p, text[step % 4], calls[r], dram);
    }
  }
  uint32_t more = fx_call(p, "main", RANKS - 1, TTM_NONE);
  fx_step(p, text[0], more, 9000);
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->layers.period, 3);
  assert_int_equal(f->layers.count, LAYERS);
  assert_int_equal(f->layers.growth, 3);
  assert_int_equal(f->layers.peak, 7);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

/* The longest repetition begins, behind the odd operation of layer 0, with one that counts by a name of its own. */
static void most_operations_say_how_layers_are_called(void **state) {
  (void)state;
  static const char *const ops[] = {"ttnn.norm",    "ttnn.clamp",  "ttnn.linear",
                                    "ttnn.softmax", "ttnn.matmul", "ttnn.add"};
  ttm_profile *p = fx_new(1);
  uint32_t call = fx_call(p, "main", 0, TTM_NONE);
  for (uint32_t l = 0; l < 6; l++) {
    for (uint32_t k = 0; k < 6; k++) {
      char location[40];
      if (k == 1 && l) continue;
      uint32_t text = fx_text(p, ops[k], TTM_OP_PLAIN, FX_TILE, NULL);
      snprintf(location, sizeof location, k == 2 ? "cache.%u" : "layers.%u|x", l);
      p->texts.at[text].location = fx_str(p, location);
      fx_step(p, text, call, l);
    }
  }
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->layers.period, 5);
  assert_int_equal(f->layers.count, 5);
  assert_int_equal(f->layers.odd_count, 1); /* only names tell where the first one begins */
  assert_int_equal(f->layers.odd[0].layer, 0);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prefixes_end_before_the_number_that_counts),
      cmocka_unit_test(names_find_every_odd_layer),
      cmocka_unit_test(without_names_those_in_between),
      cmocka_unit_test(a_layer_that_was_cut_is_not_odd),
      cmocka_unit_test(no_repetition_no_layers),
      cmocka_unit_test(a_layer_is_measured_on_its_own_rank),
      cmocka_unit_test(most_operations_say_how_layers_are_called),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
