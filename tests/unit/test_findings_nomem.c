/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the findings made to fail in turn. This file defines the heap's door itself, so the linker leaves
 * src/base/alloc.c out of this program. */
#include "profile_fixture.h"

static long allowed = 1L << 40; /* allocations that still succeed */

static bool refuse(void) { return allowed-- <= 0; }
void *ttm_alloc(size_t size) { return refuse() ? NULL : calloc(1, size ? size : 1); }
void *ttm_realloc(void *old, size_t size) { return refuse() ? NULL : realloc(old, size ? size : 1); }
void ttm_free(void *p) { free(p); }

/* Something of everything: arguments, an incident, padding, runs that leak. */
static ttm_profile *make(void) {
  ttm_profile *p = fx_new(1);
  uint32_t matmul = fx_text(p, "ttnn.matmul", TTM_OP_PLAIN, FX_BIG, FX_ROW);
  ttm_graph graph;
  memset(&graph, 0, sizeof graph);
  fx_ok(ttm_vec_push(&p->graphs, graph));
  ttm_graph_arg arg = {.name = fx_str(p, "w"), .kind = TTM_ARG_PARAMETER, .type = 0, .local_type = 0};
  fx_ok(ttm_vec_push(&p->graphs.at[0].args, arg));
  for (uint32_t i = 0; i < 6; i++) {
    uint32_t frame = fx_frame(p, "main", 0, TTM_NONE);
    fx_step(p, matmul, frame, 2000 * i);
    fx_step(p, matmul, frame, 2000 * i + 1000);
  }
  fx_ok(ttm_vec_push(&p->incidents, (ttm_incident){.what = {.kind = TTM_INCIDENT_FATAL}, .state = TTM_NONE}));
  return p;
}

static void fails_cleanly(void **state) {
  (void)state;
  ttm_profile *p = make();
  ttm_findings *f = NULL;
  ttm_error err;
  long n = 0;
  int status;
  do {
    allowed = n++;
    status = ttm_findings_make(&f, p, 1, &err);
    if (status) {
      assert_int_equal(status, TTM_ENOMEM);
      assert_int_equal(err.code, TTM_ENOMEM);
      assert_null(f);
    }
  } while (status);
  assert_true(n > 10);
  assert_int_equal(f->leaks.n, 1);
  ttm_findings_free(f);
  ttm_profile_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fails_cleanly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
