/* SPDX-License-Identifier: Apache-2.0 */
/* What a trial is worth. */
#include "analyze/trial.h"
#include "base/checked.h"

int ttm_trial_rest_fits(const ttm_trial *after) {
  if (!after->fits) return 0;
  return (after->failures && !after->entries_after) || after->least ? -1 : 1;
}

void ttm_trial_judge(ttm_trial *after, const ttm_trial *before, const ttm_ledger *l) {
  const ttm_seen *seen = &l->findings->profile->seen;
  if (before->misplaced && !after->estimate) after->estimate = "the replay without the change does not lie as recorded";
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) {
    if (l->measured[m] && ttm_apart(before->memories[m].recorded, l->measured[m]) > l->slack && !after->estimate)
      after->estimate = "the replay without the change does not come to the recorded peak";
  }
  if (before->failures_left != before->failures && !after->estimate)
    after->estimate = "the replay without the change has room for what failed";
  if (seen->trace_cache && !after->estimate) after->estimate = "operations of traces are not in the log";
}
