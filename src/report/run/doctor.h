/* SPDX-License-Identifier: Apache-2.0 */
/* What is missing from a log and what to do about it, as a list a person reads. Each finding has a title, the reason and the exact
 * commands that help. */
#ifndef TTM_REPORT_DOCTOR_H
#define TTM_REPORT_DOCTOR_H

#include "profile/profile.h"
#include "report/write/doc.h"

typedef struct ttm_doctor {
  ttm_doc doc;
  unsigned findings;
} ttm_doctor;

/* All is well ("ok"), or something to know ("note"); something is wrong. Texts may come from a log or the environment: they are made
 * harmless. */
void ttm_doctor_say(ttm_doctor *d, const char *mark, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* `why` and `fix` (commands, one per line) may be NULL. */
void ttm_doctor_finding(ttm_doctor *d, const char *title, const char *why, const char *fix);

/* The checks of a log. */
void ttm_doctor_log(ttm_doctor *d, const ttm_profile *p);

#endif
