/* SPDX-License-Identifier: Apache-2.0 */
/* What a report folder holds, whoever wrote it. */
#ifndef TTM_STORE_REPORT_FIND_H
#define TTM_STORE_REPORT_FIND_H

#include "analyze/findings.h"
#include "base/out_file.h"

/* Paths are NULL for files that are not there. Zero is empty; freed with ttm_report_found_free. */
typedef struct ttm_report_found {
  char *name; /* what the files' names start with */
  /* What a captured run left: <anything>_profile.log, also compressed, and <anything>_recording.json, what it allocated with ttnn. When
   * the findings name what the report was made of, it is that one, and the others are none of the report's. Else the first by name. */
  char *log, *recording;
  size_t logs, recordings; /* how many there are to choose from */
  char *page;              /* <name>_report.html */
  char *memory;            /* <name>_memory.json */
  char *origin;            /* what the report was made of, as the findings name it; it may be gone */
  uint64_t origin_bytes;   /* of its text then; 0 when not told */
  ttm_fingerprint file;    /* of its file then; none when not told */
} ttm_report_found;

/* 0, TTM_EIO when the folder cannot be read, TTM_ENODATA when it holds nothing of a report, TTM_EFORMAT when it is one of
 * a later ttmem, TTM_ENOMEM. */
int ttm_report_find(ttm_report_found *out, const char *folder, ttm_error *err);
void ttm_report_found_free(ttm_report_found *found);

/* The log or recording of a folder that keeps one: what the report was made of, else, as `ttmem run` chooses, the log if it has operations
 * of its own (tt-xla, tt-forge), which tells more than what was recorded, and else the recording. `*out` is freed with ttm_free, NULL when the folder keeps none. TTM_ENODATA when there are
 * several and nothing tells which, or when it is another file than that of the report; TTM_EIO, TTM_ENOMEM. */
int ttm_report_kept_source(char **out, const ttm_report_found *found, const char *folder, ttm_error *err);

/* The same, or where the findings say it was. Errors as above and those of ttm_report_find; TTM_ENODATA also when it is gone. `changed` is
 * for who tells the user himself: another file is given then, and *changed says so. NULL: it is refused. */
int ttm_report_source(char **out, const char *folder, bool *changed, ttm_error *err);

/* What `ttmem --llm` says of the log, when its report is where 'ttmem analyze LOG' puts it, was written by this program, and the log is
 * still the same. False otherwise. */
bool ttm_report_kept_markdown(ttm_buf *out, const char *log);

/* What the report in the folder was made of, when that is not `log`: "" when the report does not tell, or a later ttmem wrote it. NULL
 * when it is of `log`, or there is no report. Freed with ttm_free. A log of the same relative name elsewhere counts as the same. 0 or
 * TTM_ENOMEM. */
int ttm_report_other_origin(char **out, const char *folder, const char *log);

/* A report without its log: the profile out of the folder's JSON files (profile/read_report.h) and its findings. The report goes on saying
 * what it said: statements of its findings file stand for those that could be made without the frees. `text` gets that file, when there is
 * one. The caller frees all three in any case. TTM_ENODATA when the folder holds no memory states. */
int ttm_report_read_json(ttm_profile **profile, ttm_findings **findings, const char *folder, unsigned threads,
                         ttm_buf *text, ttm_error *err);

/* What the text of a findings file alone tells, without reading operations: statements, failures, peaks and counts. The profile has no
 * operations. The caller frees both in any case. TTM_ENODATA when the text tells nothing. */
int ttm_report_read_findings(ttm_profile **profile, ttm_findings **findings, ttm_str text, const char *folder,
                             ttm_error *err);

/* Writes the page anew with the data of an earlier page of ours. TTM_EFORMAT when that page is not of ours, or of another format of
 * the data: nothing was written then. */
int ttm_report_renew_page(const ttm_report_found *found, ttm_out *out, ttm_error *err);

#endif
