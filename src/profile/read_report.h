/* SPDX-License-Identifier: Apache-2.0 */
/* A profile out of the JSON files of a report, those of the Python tool included. The files hold no deallocations and no states
 * between operations, so lifetimes and the largest free block between two operations are not known: the profile's
 * `seen.from_report` says so. */
#ifndef TTM_PROFILE_READ_REPORT_H
#define TTM_PROFILE_READ_REPORT_H

#include "base/source.h"
#include "profile/profile.h"

/* A file to be read from its source, or its text; neither when it is missing. Borrowed for the call. */
typedef struct ttm_report_part {
  ttm_source *source;
  ttm_str text;
} ttm_report_part;

typedef struct ttm_report_files {
  ttm_report_part memory;     /* <name>_memory.json; without it there are no operations */
  ttm_report_part operations; /* <name>_operations.json */
  ttm_report_part registry;   /* <name>_inputs_registry.json: says more of arguments than module texts */
  ttm_report_part ir;         /* <name>_ir.json */
  ttm_str findings;           /* <name>_findings.json: where the log was, and what went wrong */
} ttm_report_files;

/* `path` is what the profile says it was read from. 0, TTM_ENODATA when the files hold no operation and no failure, and the findings do not tell what was read, TTM_EIO, TTM_ENOMEM.
 * A file that breaks off gives what stands before; the profile says that it is cut. */
int ttm_profile_read_report(ttm_profile **out, const ttm_report_files *files, const char *path, ttm_error *err);

#endif
