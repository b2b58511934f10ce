/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of a trial made to fail in turn. */
#include "analyze/verify.h"
#include "profile_fixture.h"
#include "starving.h"

static ttm_findings *make(void) {
  ttm_profile *p = fx_new(1);
  p->kind = TTM_LOG_FULL;
  uint32_t text = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_BIG, NULL);
  uint32_t drop = fx_text(p, "ttnn.deallocate", TTM_OP_DEALLOCATE, NULL, NULL);
  uint32_t call = fx_call(p, "main", 0, TTM_NONE);
  for (uint32_t i = 0; i < 4; i++) fx_step(p, text, call, 5000 + 2000 * i);
  fx_state(p, 0, fx_free(p, drop, call, 1, 0), 13000, 0);
  fx_step(p, text, call, 11000);
  fx_state(p, 0, TTM_STATE_AFTER_SUBMIT, 13000, 0);
  ttm_findings *f = fx_findings(p);
  ttm_profile_free(p); /* the findings own it too */
  return f;
}

static bool work(void *context, bool plenty) {
  static const char *const changes[] = {"dtype=bfp8:#0", "free=last-use:*", "order=first:#2", "batch=2"};
  ttm_verified v;
  ttm_error err = {0};
  int status = ttm_verify(&v, context, changes, 4, &err);
  bool fine = status ? !plenty && status == TTM_ENOMEM && err.code == TTM_ENOMEM : v.after.match[1].matched == 5;
  ttm_verified_free(&v);
  return fine;
}

static void fails_cleanly(void **state) {
  (void)state;
  ttm_findings *f = make();
  starve_walk(work, f);
  ttm_findings_free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fails_cleanly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
