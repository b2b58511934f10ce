/* SPDX-License-Identifier: Apache-2.0 */
/* Why there is nothing to report, and what to do about it. Private to src/profile. */
#ifndef TTM_PROFILE_DIAGNOSE_H
#define TTM_PROFILE_DIAGNOSE_H

#include "profile/profile.h"

/* Fills err for a profile of kind TTM_LOG_NONE; returns TTM_ENODATA. */
int ttm_profile_diagnose(const ttm_profile *p, ttm_error *err);

#endif
