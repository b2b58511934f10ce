/* SPDX-License-Identifier: Apache-2.0 */
/* What exactly is started when the user says "model.py --batch 4" or any other command. */
#ifndef TTM_LAUNCH_PLAN_H
#define TTM_LAUNCH_PLAN_H

#include "base/buf.h"
#include "base/error.h"

typedef struct ttm_launch_plan {
  char **argv;         /* NULL-terminated; the words are borrowed, the interpreter is ours */
  ttm_buf interpreter; /* NUL-terminated when a script is started */
  ttm_buf name;        /* of the run, NUL-terminated */
  bool is_script;
} ttm_launch_plan;

/* `words` as typed, NULL-terminated. A first word that ends with ".py" is a script for Python, and any word is when
 * `always_script`. TTM_EUSAGE when the script or its interpreter is not there. Freed in any case. */
int ttm_launch_plan_make(ttm_launch_plan *plan, char *const *words, bool always_script, const char *name,
                         ttm_error *err);
void ttm_launch_plan_free(ttm_launch_plan *plan);

#endif
