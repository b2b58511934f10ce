/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of a search, of its words and of its reports made to fail in turn. */
#include "analyze/fit_find.h"
#include "report/run/find.h"
#include "starving.h"

/* BATCH fits up to 5; 7 ends for another reason. */
static ttm_fit_case answer(uint64_t value) {
  ttm_fit_case c = {.board = TTM_LIT("n150"),
                    .fits = value == 7   ? TTM_FITS_UNKNOWN
                            : value <= 5 ? TTM_FITS
                                         : TTM_FITS_NOT,
                    .why = value == 7 ? TTM_LIT("the program ended with exit status 3") : TTM_LIT(""),
                    .measured = true,
                    .dram_banks = 12,
                    .dram_bank = 1000,
                    .dram_peak = value <= 5 ? 180 * value : 900,
                    .refused = value > 5 && value != 7,
                    .operation = TTM_LIT("ttnn.add"),
                    .at = TTM_LIT("model.py:3")};
  ttm_incident_clear(&c.what);
  c.what.kind = TTM_INCIDENT_OOM;
  c.what.memory = TTM_LIT("DRAM");
  return c;
}

static int search(ttm_find *find, uint32_t combination) {
  if (ttm_vec_push(&find->rows, (ttm_find_row){.board = "n150", .combination = combination})) return TTM_ENOMEM;
  ttm_find_row *row = &find->rows.at[find->rows.n - 1];
  row->search.of = &find->variables[0];
  for (uint64_t index; (index = ttm_search_next(&row->search)) != TTM_UNKNOWN;) {
    ttm_fit_case c = answer(ttm_variable_number(row->search.of, index) + combination);
    ttm_outcome outcome = c.fits == TTM_FITS       ? TTM_OUTCOME_FITS
                          : c.fits == TTM_FITS_NOT ? TTM_OUTCOME_REFUSED
                                                   : TTM_OUTCOME_UNKNOWN;
    ttm_search_try tried = {index, outcome, {c.dram_peak, 0}, {c.dram_bank, 0}};
    if (ttm_fit_cases_add_kept(&find->cases, &c) || ttm_search_add(&row->search, tried) ||
        ttm_vec_push(&row->cases, (uint32_t)find->cases.at.n - 1))
      return TTM_ENOMEM;
  }
  return TTM_OK;
}

static bool work(void *context, bool plenty) {
  (void)context;
  ttm_find find = {0};
  ttm_error err = {0};
  ttm_buf text = {0}, json = {0};
  ttm_doc doc = {.out = &text, .columns = 80, .utf8 = true};
  int status = ttm_find_add_variable(&find, "BATCH=1..20", &err);
  if (!status) status = ttm_find_add_variable(&find, "DTYPE=bf16,bfp8,f32", &err);
  for (uint32_t i = 0; i < 3 && !status; i++) status = search(&find, i);
  if (!status) status = ttm_find_tell(&find);
  if (!status) status = ttm_find_write(&doc, &find);
  if (!status) status = ttm_find_json(&find, &json);
  bool fine = status ? !plenty && status == TTM_ENOMEM : find.said.at.n == 4 && text.n && json.n;
  ttm_buf_free(&text);
  ttm_buf_free(&json);
  ttm_find_free(&find);
  return fine;
}

static void fails_cleanly(void **state) {
  (void)state;
  starve_walk(work, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fails_cleanly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
