/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a training log: never a crash, and every form of the report is written. */
#include "fuzz.h"

#include "report/train/train_report.h"

static void check_log(const ttm_train_log *log) {
  for (size_t i = 0; i < log->summaries.n; i++) {
    const ttm_train_summary *s = &log->summaries.at[i];
    if (!s->line || s->last_line < s->line || s->last_line > log->lines) abort();
    for (size_t p = 0; p < s->phases.n; p++) {
      const ttm_train_phase *phase = &s->phases.at[p];
      if (phase->line < s->line || phase->line > s->last_line) abort();
      if (!phase->has_segment && !phase->has_cumulative && !phase->has_l1) abort();
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_train_log log;
  ttm_training training = {0};
  ttm_train_options options = {.use_actual_sizes = size % 2};
  ttm_buf out = {0};
  ttm_doc screen = {.out = &out, .columns = size % 200, .color = size % 3 == 0, .utf8 = size % 5 != 0};
  ttm_doc markdown = {.out = &out, .form = TTM_DOC_MARKDOWN};
  if (!ttm_train_log_read_bytes(&log, (ttm_str){(const char *)data, size}, NULL)) {
    check_log(&log);
    if (!ttm_training_make(&training, &log, &options, NULL)) {
      ttm_train_chart chart = {&training, size % 2 ? "t" : NULL};
      ttm_picture picture = ttm_train_picture(&chart);
      ttm_train_write(&training, &screen);
      ttm_train_write(&training, &markdown);
      ttm_train_json_write(&training, &out);
      ttm_picture_svg(&picture, &out);
    }
  }
  ttm_buf_free(&out);
  ttm_training_free(&training);
  ttm_train_log_free(&log);
  return 0;
}
