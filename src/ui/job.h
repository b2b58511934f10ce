/* SPDX-License-Identifier: Apache-2.0 */
/* Work in a thread of its own, so that keys work meanwhile. Whoever lets go of it leaves the thread to end by itself. */
#ifndef TTM_UI_JOB_H
#define TTM_UI_JOB_H

#include "ui/report.h"

typedef struct ttm_job ttm_job;

/* Reads a log and makes a report folder of it. NULL without memory, as the others. */
ttm_job *ttm_job_log(const char *log);

/* Reads the operations of a report: its log, else (`log` is NULL, or `changed`: another one) the JSON files of the folder. */
ttm_job *ttm_job_report(const char *log, const char *folder, bool changed);

/* Has another command answer; the inputs are copied. The text is there once it is done. */
ttm_job *ttm_job_answer(const ttm_ui_options *options, const ttm_ui_question *question);
ttm_buf *ttm_job_text(ttm_job *job);

/* True when it is done; *status and `err` tell how it went. */
bool ttm_job_done(ttm_job *job, int *status, ttm_error *err);
/* What was read, once it is done; the caller may move it out. */
ttm_ui_subject *ttm_job_subject(ttm_job *job);

/* What it is at, and how far. */
void ttm_job_draw(ttm_job *job, ttm_screen *screen, int row);

/* NULL too. */
void ttm_job_free(ttm_job *job);

/* An error of it, which may have several lines and names of files in them. */
void ttm_job_put_error(ttm_buf *out, const ttm_error *err, const ttm_screen *screen);

#endif
