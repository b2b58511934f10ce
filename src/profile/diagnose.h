/* SPDX-License-Identifier: Apache-2.0 */
/* Why there is nothing to report, and what to do about it. */
#ifndef TTM_PROFILE_DIAGNOSE_H
#define TTM_PROFILE_DIAGNOSE_H

#include "parse/capture.h"
#include "profile/profile.h"

/* The commands of a full log, as every message prints them. */
#define TTM_EXPORT_OPERATIONS "export TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG"
#define TTM_EXPORT_STATES "export TT_RUNTIME_MEMORY_LOG_LEVEL=operation"
#define TTM_EXPORT_DUMPS "export TTXLA_LOGGER_LEVEL=DEBUG"
#define TTM_RUN_AND_KEEP "python3 -u model.py 2>&1 | tee model_profile.log"

/* Fills err for a profile of kind TTM_LOG_NONE; returns TTM_ENODATA. */
int ttm_profile_diagnose(const ttm_profile *p, ttm_error *err);
/* Fills err when the input begins as a file of a packer that the reader does not know: TTM_EFORMAT. */
int ttm_profile_diagnose_packed(ttm_str first, const char *path, ttm_error *err);
/* For JSON in which no node was found; TTM_ENODATA or TTM_EFORMAT. */
int ttm_profile_diagnose_capture(const ttm_capture_reader *nodes, ttm_error *err);

#endif
