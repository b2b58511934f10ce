/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a baseline: never a crash. What was read is renewed, and reads the same: tolerances and other entries stay. */
#include "fuzz.h"

#include "report/files/baseline_json.h"

/* A file that has been renewed once is renewed to itself. */
static void renew(const ttm_baseline *old, const ttm_baseline_entry *entry) {
  ttm_baseline new = {0};
  ttm_buf again = {0};
  ttm_error err;
  if (ttm_baseline_renew(old, entry, &new.text) || ttm_baseline_parse(&new, "renewed", &err)) abort();
  const ttm_baseline_entry *found = ttm_baseline_find(&new, entry->name), *before = ttm_baseline_find(old, entry->name);
  if (!found || found->peak[TTM_DRAM].milli != entry->peak[TTM_DRAM].milli) abort();
  for (size_t i = 0; before && i < TTM_MEMORIES; i++) {
    const ttm_tolerance *a = &before->tolerance[i], *b = &found->tolerance[i];
    check(a->given == b->given && a->percent == b->percent && a->mb == b->mb);
  }
  if (ttm_baseline_renew(&new, entry, &again) || !ttm_str_eq(ttm_buf_str(&again), ttm_buf_str(&new.text))) abort();
  ttm_buf_free(&again);
  ttm_baseline_free(&new);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_baseline b = {0};
  ttm_baseline_entry entry = {.name = TTM_LIT("llama"),
                              .peak = {{.known = true, .milli = 1500, .basis = TTM_LIT("measured")}}};
  ttm_error err;
  ttm_buf_put(&b.text, (ttm_str){(const char *)data, size});
  if (ttm_baseline_parse(&b, "fuzz", &err)) return 0;
  entry.peak[0].op = entry.peak[0].at = TTM_LIT("");
  renew(&b, &entry);
  ttm_baseline_free(&b);
  return 0;
}
