/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the findings made to fail in turn. */
#include "profile_fixture.h"
#include "starving.h"

enum { RUNS = 6, ENOUGH_FOR_THREADS = 5000 / RUNS + 1 }; /* few operations are not shared among threads */

/* Something of everything: arguments, an incident, padding, runs that leak. */
static ttm_profile *make(uint32_t operations) {
  ttm_profile *p = fx_new(1);
  uint32_t matmul = fx_text(p, "ttnn.matmul", TTM_OP_PLAIN, FX_BIG, FX_ROW);
  ttm_graph graph;
  memset(&graph, 0, sizeof graph);
  fx_ok(ttm_vec_push(&p->graphs, graph));
  ttm_graph_arg arg = {.name = fx_str(p, "w"), .kind = TTM_ARG_PARAMETER, .type = 0, .local_type = 0};
  fx_ok(ttm_vec_push(&p->graphs.at[0].args, arg));
  for (uint32_t i = 0; i < RUNS; i++) {
    uint32_t call = fx_call(p, "main", 0, TTM_NONE);
    for (uint32_t k = 0; k < operations; k++) fx_step(p, matmul, call, 2000 * i + k % 2 * 1000);
  }
  fx_ok(ttm_vec_push(&p->incidents, (ttm_incident){.what = {.kind = TTM_INCIDENT_FATAL}, .state = TTM_NONE}));
  return p;
}

typedef struct judged {
  const ttm_profile *p;
  unsigned threads;
} judged;

static bool work_findings(void *context, bool plenty) {
  const judged *j = context;
  ttm_findings *f = NULL;
  ttm_error err = {0};
  int status = ttm_findings_make(&f, j->p, j->threads, &err);
  if (status) return !plenty && status == TTM_ENOMEM && err.code == TTM_ENOMEM && !f;
  bool fine = f->leaks.n == 1;
  ttm_findings_free(f);
  return fine;
}

static void fails_cleanly(void **state) {
  (void)state;
  ttm_profile *p = make(2);
  starve_walk(work_findings, &(judged){p, 1});
  assert_false(starve_elsewhere);
  ttm_profile_free(p);
}

static void fails_cleanly_in_threads(void **state) {
  (void)state;
  ttm_profile *p = make(ENOUGH_FOR_THREADS);
  starve_walk(work_findings, &(judged){p, 2});
  assert_true(starve_elsewhere);
  ttm_profile_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fails_cleanly), cmocka_unit_test(fails_cleanly_in_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
