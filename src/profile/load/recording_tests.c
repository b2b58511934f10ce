/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a recorded program, as pytest and unittest run them: each process has at most one that runs. */
#include "profile/load/graph.h"

static uint32_t *running(ttm_capture_loader *l) { return &l->processes.at[ttm_recording_lane(l)->process].test; }

int ttm_recording_test(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_capture *c = &l->profile->capture;
  ttm_test test = {.outcome = 0};
  if (ttm_capture_finish_op(l) || ttm_recording_pass(l)) return TTM_ENOMEM;
  l->op = TTM_NONE;
  if (ttm_build_string(l->builder, node->text[TTM_PARAM_NAME], &test.name) || ttm_vec_push(&c->tests, test))
    return TTM_ENOMEM;
  *running(l) = (uint32_t)c->tests.n;
  return TTM_OK;
}

int ttm_recording_test_ends(ttm_capture_loader *l, const ttm_capture_node *node) {
  uint32_t number = *running(l);
  if (ttm_capture_finish_op(l) || ttm_recording_pass(l)) return TTM_ENOMEM;
  l->op = TTM_NONE;
  *running(l) = 0;
  if (!number) return TTM_OK;
  ttm_test *test = &l->profile->capture.tests.at[number - 1];
  if (ttm_build_string(l->builder, node->text[TTM_PARAM_OUTCOME], &test->outcome)) return TTM_ENOMEM;
  return ttm_build_string(l->builder, node->text[TTM_PARAM_MESSAGE], &test->why);
}

int ttm_recording_in_test(ttm_capture_loader *l, uint32_t op) {
  ttm_capture *c = &l->profile->capture;
  uint32_t number = l->lanes.n ? *running(l) : 0;
  while (number && c->test_of.n <= op)
    if (ttm_vec_push(&c->test_of, 0)) return TTM_ENOMEM;
  if (number) c->test_of.at[op] = number;
  return TTM_OK;
}

void ttm_recording_counts(ttm_capture_loader *l) {
  if (*running(l)) l->profile->capture.tests.at[*running(l) - 1].operations++;
}
