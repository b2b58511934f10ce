/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the report of a profile. Paths and names are borrowed for the call; `err` may be NULL everywhere. */
#ifndef TTMEM_REPORT_H
#define TTMEM_REPORT_H

#include "ttmem/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The files of a report, as bits. */
typedef enum ttm_report_file {
  TTM_REPORT_MEMORY = 1,     /* <name>_memory.json */
  TTM_REPORT_OPERATIONS = 2, /* <name>_operations.json */
  TTM_REPORT_REGISTRY = 4,   /* <name>_inputs_registry.json */
  TTM_REPORT_IR = 8,         /* <name>_ir.json */
  TTM_REPORT_FINDINGS = 16,  /* <name>_findings.json */
  TTM_REPORT_HTML = 32,      /* <name>_report.html */
  TTM_REPORT_MARKDOWN = 64,  /* <name>_report.md */
} ttm_report_file;

/* Start from TTM_REPORT_OPTIONS_INIT, which holds the defaults. */
typedef struct ttm_report_options {
  size_t size;        /* of this struct as the caller knows it */
  unsigned leave_out; /* bits of ttm_report_file not to write; default 0, every file is written */
  unsigned threads;   /* files are written side by side; 0, the default: one thread per processor */
  bool no_sync;       /* do not wait for the disk: a power cut may leave a report without its bytes; default false */
} ttm_report_options;
#define TTM_REPORT_OPTIONS_INIT \
  { sizeof(ttm_report_options), 0, 0, false }

/* Writes a whole report folder, created with its parents. It appears complete or not at all: an earlier report of the
 * same folder is there until the new one takes its place. An earlier folder that holds files of other origin is kept
 * under <folder>.old-N. NULL options are the defaults. 0, TTM_EIO, TTM_EUSAGE or TTM_ENOMEM. */
TTM_API int ttm_report_write_dir(const ttm_profile *profile, const char *folder, const char *name,
                                 const ttm_report_options *options, ttm_error *err);

/* Writes the files into a folder that may hold others (created when missing), each one replaced as a whole. */
TTM_API int ttm_report_write_files(const ttm_profile *profile, const char *folder, const char *name,
                                   const ttm_report_options *options, ttm_error *err);

#ifdef __cplusplus
}
#endif
#endif
