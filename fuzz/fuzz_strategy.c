/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a strategy file, as a buffer of the command line and as a set of cores; what is accepted is simulated and drawn. */
#include "fuzz.h"

#include "l1/simulate.h"
#include "report/write/l1_picture.h"

static void simulate(ttm_cb_plans *plans) {
  ttm_cb_machine machine = {.tile_bytes = 2048};
  ttm_error err;
  ttm_cb_result result;
  ttm_buf text = {0};
  ttm_picture_style style = {.columns = 80, .utf8 = true};
  ttm_cb_machine_set(&machine, TTM_ARCH_BLACKHOLE, (ttm_str){"", 0}, &err);
  if (!ttm_cb_simulate(&result, plans, &machine)) {
    if (result.pressure < 0 || result.pressure > 100 || result.miss_pct < 0 || result.miss_pct > 100) abort();
    if (result.fit == TTM_L1_FITS && result.used + result.free_bytes != machine.l1_bytes) abort();
    ttm_l1_picture_text(&result.map, &style, &text);
    ttm_l1_picture_svg(&result.map, &text);
  }
  ttm_buf_free(&text);
  ttm_cb_result_free(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_str text = {(const char *)data, size};
  ttm_cb_workload workload = {16, 24};
  ttm_cb_plans plans;
  ttm_error err;
  if (!ttm_strategy_plan(&plans, text, &workload, &err)) simulate(&plans);
  ttm_cb_plans_free(&plans);
  plans = (ttm_cb_plans){0};
  if (!ttm_cb_plan_parse(&plans, text, &err)) simulate(&plans);
  ttm_cb_plans_free(&plans);
  return 0;
}
