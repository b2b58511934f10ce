/* SPDX-License-Identifier: Apache-2.0 */
/* What an incident's numbers mean. */
#include "profile_fixture.h"

static const ttm_incident_text unknown = {.size = TTM_UNKNOWN,
                                          .banks = TTM_UNKNOWN,
                                          .needed_per_bank = TTM_UNKNOWN,
                                          .bank_size = TTM_UNKNOWN,
                                          .allocated_per_bank = TTM_UNKNOWN,
                                          .free_per_bank = TTM_UNKNOWN,
                                          .largest_free_block = TTM_UNKNOWN,
                                          .program = TTM_UNKNOWN,
                                          .l1_buffer_at = TTM_UNKNOWN,
                                          .buffers_end = TTM_UNKNOWN,
                                          .l1_size = TTM_UNKNOWN,
                                          .limit = TTM_UNKNOWN,
                                          .placeable = TTM_UNKNOWN,
                                          .window = TTM_UNKNOWN};

static ttm_incident oom(uint64_t needed, uint64_t bank, uint64_t room, uint64_t largest) {
  ttm_incident incident = {.what = unknown, .op = TTM_NONE, .state = TTM_NONE};
  incident.what.kind = TTM_INCIDENT_OOM;
  incident.what.memory = TTM_LIT("DRAM");
  incident.what.needed_per_bank = needed;
  incident.what.bank_size = bank;
  incident.what.free_per_bank = room;
  incident.what.largest_free_block = largest;
  return incident;
}

static void judged(ttm_profile *p, ttm_incident incident, ttm_verdict verdict, uint64_t shortfall, bool derived) {
  p->incidents.n = 0;
  fx_ok(ttm_vec_push(&p->incidents, incident));
  ttm_findings *f = fx_findings(p);
  assert_int_equal(f->incidents.n, 1);
  assert_int_equal(f->incidents.at[0].incident, 0);
  assert_int_equal(f->incidents.at[0].verdict, verdict);
  assert_int_equal(f->incidents.at[0].shortfall, shortfall);
  assert_int_equal(f->incidents.at[0].derived, derived);
  ttm_findings_free(f);
}

static void by_the_message(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  judged(p, oom(1100, 1000, 900, 800), TTM_VERDICT_IMPOSSIBLE, 100, false);
  judged(p, oom(950, 1000, 900, 800), TTM_VERDICT_EXHAUSTED, 50, false);
  judged(p, oom(900, 1000, 900, 800), TTM_VERDICT_FRAGMENTED, 100, false);
  ttm_incident blocked = oom(500, 1000, 900, 800);
  blocked.what.placeable = 600, blocked.what.window = 450;
  judged(p, blocked, TTM_VERDICT_BLOCKED, 50, false);
  blocked.what.window = 500; /* as large as needed: then something else was wrong */
  judged(p, blocked, TTM_VERDICT_NONE, TTM_UNKNOWN, false);
  judged(p, oom(850, TTM_UNKNOWN, 900, 800), TTM_VERDICT_FRAGMENTED, 50, false);
  judged(p, oom(700, 1000, 900, 800), TTM_VERDICT_NONE, TTM_UNKNOWN, false); /* it fits: something else was wrong */
  judged(p, oom(850, 1000, 900, TTM_UNKNOWN), TTM_VERDICT_NONE, TTM_UNKNOWN, false);
  judged(p, oom(TTM_UNKNOWN, 1000, 900, 800), TTM_VERDICT_NONE, TTM_UNKNOWN, false);
  ttm_profile_free(p);
}

static void old_messages_by_the_state(void **state) {
  (void)state;
  const uint64_t no = TTM_UNKNOWN;
  ttm_profile *p = fx_new(1);
  uint32_t at = fx_state(p, 0, TTM_STATE_BARE, 999000, 0); /* 1 MB of 1000 free */
  p->states.at[at].dram_largest = 500;
  ttm_incident incident = oom(600000, 1048576000, no, no);
  judged(p, incident, TTM_VERDICT_NONE, no, false); /* no state */
  incident.what.needed_per_bank = 1048576001;
  judged(p, incident, TTM_VERDICT_IMPOSSIBLE, 1, false);
  incident.state = at;
  incident.what.needed_per_bank = 2000000;
  judged(p, incident, TTM_VERDICT_EXHAUSTED, 2000000 - 1048576, true);
  incident.what.needed_per_bank = 600000;
  judged(p, incident, TTM_VERDICT_FRAGMENTED, 600000 - 524288, true);
  incident.what.needed_per_bank = 400000;
  judged(p, incident, TTM_VERDICT_NONE, no, false);
  incident.what.needed_per_bank = 1048576 + 100; /* the rounding could turn it */
  judged(p, incident, TTM_VERDICT_NONE, no, false);
  incident.what.bank_size = no; /* the oldest form */
  incident.what.needed_per_bank = 1048577000;
  judged(p, incident, TTM_VERDICT_IMPOSSIBLE, 1000, true);
  incident.what.memory = TTM_LIT("TRACE"); /* not in the block */
  judged(p, incident, TTM_VERDICT_NONE, no, false);
  incident.what.memory = TTM_LIT("");
  judged(p, incident, TTM_VERDICT_NONE, no, false);
  ttm_profile_free(p);
}

static void clashes_and_overflows(void **state) {
  (void)state;
  ttm_profile *p = fx_new(1);
  ttm_incident clash = {.what = unknown};
  clash.what.kind = TTM_INCIDENT_L1_CLASH;
  clash.what.buffers_end = 700000;
  judged(p, clash, TTM_VERDICT_NONE, TTM_UNKNOWN, false);
  clash.what.l1_buffer_at = 690000;
  judged(p, clash, TTM_VERDICT_NONE, 10000, false);
  ttm_incident overflow = {.what = unknown};
  overflow.what.kind = TTM_INCIDENT_L1_OVERFLOW;
  overflow.what.buffers_end = 1600000;
  overflow.what.l1_size = 1499136;
  judged(p, overflow, TTM_VERDICT_NONE, 100864, false);
  overflow.what.kind = TTM_INCIDENT_FATAL;
  judged(p, overflow, TTM_VERDICT_NONE, TTM_UNKNOWN, false);
  ttm_profile_free(p);
}

static void names(void **state) {
  (void)state;
  assert_string_equal(ttm_verdict_name(TTM_VERDICT_EXHAUSTED), "exhausted");
  assert_string_equal(ttm_verdict_name(TTM_VERDICT_FRAGMENTED), "fragmented");
  assert_string_equal(ttm_verdict_name(TTM_VERDICT_IMPOSSIBLE), "impossible");
  assert_null(ttm_verdict_name(TTM_VERDICT_NONE));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_the_message),
      cmocka_unit_test(old_messages_by_the_state),
      cmocka_unit_test(clashes_and_overflows),
      cmocka_unit_test(names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
