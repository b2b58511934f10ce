/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/tests.h"

uint32_t ttm_test_refusal(const ttm_findings *f, uint32_t test) {
  const ttm_profile *p = f->profile;
  const ttm_capture *c = &p->capture;
  for (size_t i = f->incidents.n; i-- > 0;) {
    const ttm_incident *incident = &p->incidents.at[f->incidents.at[i].incident];
    if (incident->what.kind == TTM_INCIDENT_FATAL || incident->op >= c->test_of.n) continue;
    if (c->test_of.at[incident->op] == test + 1) return (uint32_t)i;
  }
  return TTM_NONE;
}

static bool ended(const ttm_profile *p, const ttm_test *test, const char *outcome) {
  return ttm_str_eq(ttm_profile_string(p, test->outcome), ttm_str_of(outcome));
}

ttm_fits ttm_test_fits(const ttm_findings *f, uint32_t number) {
  const ttm_profile *p = f->profile;
  const ttm_test *test = &p->capture.tests.at[number];
  ttm_str why = ttm_profile_string(p, test->why);
  bool asserted = ttm_str_starts(why, TTM_LIT("AssertionError")) || ttm_str_starts(why, TTM_LIT("assert "));
  if (ended(p, test, "passed")) return TTM_FITS;
  if (!ended(p, test, "skipped") && ttm_test_refusal(f, number) != TTM_NONE) return TTM_FITS_NOT;
  return ended(p, test, "failed") && asserted ? TTM_FITS : TTM_FITS_UNKNOWN;
}

void ttm_say_test(ttm_buf *out, const ttm_findings *f, uint32_t number) {
  const ttm_profile *p = f->profile;
  const ttm_test *test = &p->capture.tests.at[number];
  uint32_t refusal = ttm_test_refusal(f, number);
  ttm_fits fits = ttm_test_fits(f, number);
  ttm_str outcome = test->outcome ? ttm_profile_string(p, test->outcome) : TTM_LIT("did not end");
  if (fits == TTM_FITS_NOT) {
    const ttm_incident_finding *finding = &f->incidents.at[refusal];
    ttm_buf_puts(out, "does not fit: ");
    return ttm_say_failure(out, &p->incidents.at[finding->incident].what, finding->verdict, finding->shortfall);
  }
  if (ended(p, test, "skipped")) return ttm_buf_puts(out, "skipped");
  ttm_say(out, f, "{}, {}", TTM_WORDS(fits == TTM_FITS ? "fits" : "unknown"), TTM_TEXT(outcome));
  if (test->why) ttm_say(out, f, ": {}", TTM_TEXT(ttm_profile_string(p, test->why)));
}

/* ---- The statement ------------------------------------------------------------------------------------------------- */

/* What does not fit first, then what is unknown. */
static uint32_t rank_of(const ttm_teller *t, uint32_t test) {
  ttm_fits fits = ttm_test_fits(t->f, test);
  if (ended(t->p, &t->p->capture.tests.at[test], "skipped")) return 3;
  return fits == TTM_FITS_NOT ? 0 : fits == TTM_FITS_UNKNOWN ? 1 : 2;
}

static void tell_rows(ttm_teller *t, uint32_t rank) {
  const ttm_capture *c = &t->p->capture;
  for (uint32_t i = 0; i < c->tests.n; i++) {
    const ttm_test *test = &c->tests.at[i];
    if (rank_of(t, i) != rank) continue;
    ttm_say(&t->text, t->f, "{}: ", TTM_TEXT(ttm_profile_string(t->p, test->name)));
    ttm_say_test(&t->text, t->f, i);
    if (test->peak[TTM_L1]) ttm_say(&t->text, t->f, ", L1 tensors {} per bank", TTM_BYTES(test->peak[TTM_L1]));
    ttm_tell_point(t, test->operations ? ttm_mib(test->peak[TTM_DRAM]) : TTM_NO_FIGURE, TTM_NONE);
  }
}

void ttm_tell_tests(ttm_teller *t) {
  const ttm_capture *c = &t->p->capture;
  uint64_t n[TTM_FITS + 1] = {0}, skipped = 0;
  uint32_t highest = 0;
  if (!c->tests.n) return;
  for (uint32_t i = 0; i < c->tests.n; i++) {
    bool skips = ended(t->p, &c->tests.at[i], "skipped");
    *(skips ? &skipped : &n[ttm_test_fits(t->f, i)]) += 1;
    if (c->tests.at[i].peak[TTM_DRAM] > c->tests.at[highest].peak[TTM_DRAM]) highest = i;
  }
  ttm_tell(t, "tests", TTM_TOPIC_TESTS, n[TTM_FITS_NOT] ? TTM_SEVERITY_WARNING : TTM_SEVERITY_NOTE, TTM_MEASURED);
  ttm_say(&t->text, t->f, "{}: {} {}", TTM_PLURAL(c->tests.n, "test"), TTM_COUNT(n[TTM_FITS]),
          TTM_WORDS(n[TTM_FITS] == 1 ? "fits" : "fit"));
  if (n[TTM_FITS_NOT])
    ttm_say(&t->text, t->f, ", {} {} not fit", TTM_COUNT(n[TTM_FITS_NOT]),
            TTM_WORDS(n[TTM_FITS_NOT] == 1 ? "does" : "do"));
  if (n[TTM_FITS_UNKNOWN]) ttm_say(&t->text, t->f, ", {} unknown", TTM_COUNT(n[TTM_FITS_UNKNOWN]));
  if (skipped) ttm_say(&t->text, t->f, ", {} skipped", TTM_COUNT(skipped));
  if (c->tests.at[highest].peak[TTM_DRAM])
    ttm_say(&t->text, t->f, "; highest DRAM peak {} per bank in {}", TTM_MB_OF(c->tests.at[highest].peak[TTM_DRAM]),
            TTM_TEXT(ttm_profile_string(t->p, c->tests.at[highest].name)));
  ttm_tell_headline(t);
  ttm_tell_quantity(t, "tests", "", (double)c->tests.n);
  ttm_tell_quantity(t, "fit", "", (double)n[TTM_FITS]);
  ttm_tell_quantity(t, "do_not_fit", "", (double)n[TTM_FITS_NOT]);
  for (uint32_t rank = 0; rank < 4; rank++) tell_rows(t, rank);
}
