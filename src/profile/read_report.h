/* SPDX-License-Identifier: Apache-2.0 */
/* A profile out of the JSON files of a report, those of the Python tool included. The files hold no deallocations and no states
 * between operations, so lifetimes and the largest free block between two operations are not known: the profile's
 * `seen.from_report` says so. */
#ifndef TTM_PROFILE_READ_REPORT_H
#define TTM_PROFILE_READ_REPORT_H

#include "profile/profile.h"

/* The texts of the files; empty views for files that are missing. Borrowed for the call. */
typedef struct ttm_report_texts {
  ttm_str memory;     /* <name>_memory.json; needed */
  ttm_str operations; /* <name>_operations.json */
  ttm_str registry;   /* <name>_inputs_registry.json; only used when there is no module text */
  ttm_str ir;         /* <name>_ir.json */
  ttm_str findings;   /* <name>_findings.json: where the log was, and what went wrong */
} ttm_report_texts;

/* `path` is what the profile says it was read from. 0, TTM_ENODATA when the files hold no operation, TTM_ENOMEM. */
int ttm_profile_read_report(ttm_profile **out, const ttm_report_texts *texts, const char *path, ttm_error *err);

#endif
