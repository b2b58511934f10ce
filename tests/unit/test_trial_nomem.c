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

/* Fixes are tried when there is a failure. */
static bool work_fixes(void *context, bool plenty) {
  ttm_findings *f = NULL;
  int status = ttm_findings_make(&f, context, 1, NULL);
  bool fine = status ? !plenty && status == TTM_ENOMEM : f->failure_fixes.n == 1 && f->failure_fixes.at[0].n >= 2;
  ttm_findings_free(f);
  return fine;
}

static void fixes_fail_cleanly(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  p->kind = TTM_LOG_FULL;
  uint32_t text = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_BIG, NULL), call = fx_call(p, "main", 0, TTM_NONE);
  for (uint32_t i = 0; i < 4; i++) fx_step(p, text, call, 991000 + 2000 * i);
  uint32_t op = fx_step(p, text, call, 999000);
  p->ops.at[op].flags |= TTM_OP_FAILED;
  ttm_incident oom = {.op = op, .state = p->ops.at[op].state};
  ttm_incident_clear(&oom.what);
  oom.what.kind = TTM_INCIDENT_OOM;
  oom.what.memory = TTM_LIT("DRAM");
  oom.what.size = 24 << 20;
  oom.what.banks = 12;
  oom.what.needed_per_bank = 2 << 20;
  oom.what.free_per_bank = oom.what.largest_free_block = 1 << 20;
  fx_ok(ttm_vec_push(&p->incidents, oom));
  starve_walk(work_fixes, p);
  ttm_profile_free(p);
}

static void fails_cleanly(void **state) {
  (void)state;
  ttm_findings *f = make();
  starve_walk(work, f);
  ttm_findings_free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fails_cleanly), cmocka_unit_test(fixes_fail_cleanly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
