/* SPDX-License-Identifier: Apache-2.0 */
/* What a report folder holds, whoever wrote it. */
#ifndef TTM_STORE_REPORT_FIND_H
#define TTM_STORE_REPORT_FIND_H

#include "base/out_file.h"
#include "profile/profile.h"

/* Paths are NULL for files that are not there. Zero is empty; freed with ttm_report_found_free. */
typedef struct ttm_report_found {
  char *name; /* what the files' names start with */
  char *log;  /* <anything>_profile.log, also compressed: a folder of a captured run keeps it */
  char *
      recording; /* <anything>_recording.json: what a captured run allocated with ttnn. When the findings tell which of the two the
                      report was made of, the other one is NULL */
  char *page;   /* <name>_report.html */
  char *memory; /* <name>_memory.json */
  size_t logs;  /* how many logs there are; `log` is the first by name */
  char *origin; /* what the report was made of, as the findings name it; it may be gone */
} ttm_report_found;

/* 0, TTM_EIO when the folder cannot be read, TTM_ENODATA when it holds nothing of a report, TTM_EFORMAT when it is one of
 * a later ttmem, TTM_ENOMEM. */
int ttm_report_find(ttm_report_found *out, const char *folder, ttm_error *err);
void ttm_report_found_free(ttm_report_found *found);

/* The log or recording that the report of the folder was made of: in the folder, or where the findings say it was. `*out` is freed with
 * ttm_free. Errors as above; TTM_ENODATA also when it is gone, or one of several. */
int ttm_report_source(char **out, const char *folder, ttm_error *err);

/* The profile out of the folder's JSON files, see profile/read_report.h. `findings` gets the text of the folder's findings
 * file, when it has one; the caller frees it in any case. */
int ttm_report_read_json(ttm_profile **out, const ttm_report_found *found, const char *folder, ttm_buf *findings,
                         ttm_error *err);

/* Writes the page anew with the data of an earlier page of ours. TTM_EFORMAT when that page is not of ours, or of another format of
 * the data: nothing was written then. */
int ttm_report_renew_page(const ttm_report_found *found, ttm_out *out, ttm_error *err);

#endif
