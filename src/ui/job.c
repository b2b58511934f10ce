/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "ui/job.h"

#include <pthread.h>
#include <time.h>

#include "base/alloc.h"
#include "store/report_dir.h"
#include "store/report_find.h"
#include "ui/text_lines.h"

typedef enum stage { READING, JUDGING, WRITING, DONE } stage;

/* Shared by the panel and the thread; the last one that lets go frees it. */
struct ttm_job {
  pthread_mutex_t lock; /* guards what follows up to `holders` */
  ttm_progress progress;
  stage stage;
  int status;
  ttm_error err;
  unsigned holders;
  struct timespec start; /* this and what follows never change, but for the subject */
  char *log;             /* "" when only the report's folder is there; the first input of a question */
  char *folder;          /* "" when it is to be made; the second input */
  bool write;
  const ttm_ui_options *options; /* of a question; NULL */
  ttm_ui_question question;
  ttm_ui_subject subject; /* this and the text are the thread's until it is DONE, the panel's afterwards */
  ttm_buf text;
};

void ttm_job_free(ttm_job *j) {
  if (!j) return;
  pthread_mutex_lock(&j->lock);
  bool last = --j->holders == 0;
  pthread_mutex_unlock(&j->lock);
  if (!last) return;
  ttm_ui_subject_free(&j->subject);
  ttm_buf_free(&j->text);
  pthread_mutex_destroy(&j->lock);
  ttm_free(j->log);
  ttm_free(j->folder);
  ttm_free(j);
}

static void enter_stage(ttm_job *j, stage next) {
  pthread_mutex_lock(&j->lock);
  j->stage = next;
  pthread_mutex_unlock(&j->lock);
}

static int note_progress(void *context, const ttm_progress *progress) {
  ttm_job *j = context;
  pthread_mutex_lock(&j->lock);
  j->progress = *progress;
  pthread_mutex_unlock(&j->lock);
  return 0;
}

/* ---- The thread ---------------------------------------------------------------------------------------------------- */

/* The report's folder under the root: the log's name, with a number when the report of another log has that one. */
static int choose_folder(ttm_job *j, ttm_error *err) {
  ttm_ui_subject *s = &j->subject;
  size_t name, folder;
  int status = ttm_report_root(&s->folder, err);
  if (status) return status;
  ttm_buf_char(&s->folder, '/');
  ttm_report_name(&s->name, j->log);
  name = s->name.n;
  folder = s->folder.n;
  for (unsigned number = 1; number < 1000; number++) {
    s->name.n = name;
    s->folder.n = folder;
    if (number > 1) ttm_buf_printf(&s->name, "-%u", number);
    ttm_buf_put(&s->folder, ttm_buf_str(&s->name));
    ttm_buf_char(&s->name, '\0');
    ttm_buf_char(&s->folder, '\0');
    char *other = NULL;
    if (s->name.failed || s->folder.failed || ttm_report_other_origin(&other, s->folder.at, j->log))
      return ttm_error_nomem(err);
    if (!other) return TTM_OK;
    ttm_free(other);
  }
  return ttm_error_set(err, TTM_EUSAGE, "There are too many reports of this name; delete some.");
}

static int read_log(ttm_job *j, ttm_error *err) {
  ttm_ui_subject *s = &j->subject;
  ttm_read_options options = {.size = sizeof options, .keep_ir = j->write, .on_progress = note_progress, .context = j};
  int status = ttm_profile_read_opts(&s->profile, j->log, &options, err);
  if (status) return status;
  enter_stage(j, JUDGING);
  return ttm_findings_make(&s->findings, s->profile, 0, err);
}

/* What the folder's JSON files hold, in place of a log that is not there or has changed: a report is about what it was made of. Where they hold
 * no memory states, the log of today has to do. */
static int read_files(ttm_job *j, ttm_error *err) {
  ttm_ui_subject *s = &j->subject;
  ttm_profile *profile = NULL;
  ttm_findings *findings = NULL;
  ttm_buf said = {0};
  int status = ttm_report_read_json(&profile, &findings, j->folder, 0, &said, err);
  ttm_buf_free(&said);
  if (status == TTM_ENODATA && s->findings) status = TTM_OK;
  if (!status && findings) {
    ttm_findings *log_findings = s->findings;
    ttm_profile *log_profile = s->profile;
    s->findings = findings, s->profile = profile, s->rebuilt = true;
    findings = log_findings, profile = log_profile;
  }
  ttm_findings_free(findings);
  ttm_profile_free(profile);
  return status;
}

/* The timeline begins with the rank of the peak. */
static int occupy(ttm_ui_subject *s) {
  const ttm_peak *peak = &s->findings->peak[ttm_findings_memory(s->findings, 0)];
  if (!ttm_occupancy_possible(s->profile)) return TTM_OK;
  bool told = peak->known && peak->state < s->profile->states.n;
  return ttm_occupancy_make(&s->occupancy, s->findings, told ? ttm_state_rank(s->profile, peak->state) : 0);
}

static int do_work(ttm_job *j, ttm_error *err) {
  ttm_ui_subject *s = &j->subject;
  if (j->options) return j->options->answer(j->options->context, &j->question, &j->text, err);
  int status = *j->log ? read_log(j, err) : TTM_OK;
  if (!status && (!*j->log || s->changed)) status = read_files(j, err);
  if (!status && occupy(s)) status = ttm_error_nomem(err);
  if (status || !j->write) return status;
  enter_stage(j, WRITING);
  if ((status = choose_folder(j, err))) return status;
  return ttm_report_dir_write(s->findings, s->folder.at, s->name.at, NULL, err);
}

static void *work(void *context) {
  ttm_job *j = context;
  ttm_error err = {0};
  int status = do_work(j, &err);
  pthread_mutex_lock(&j->lock);
  j->status = status;
  j->err = err;
  j->stage = DONE;
  pthread_mutex_unlock(&j->lock);
  ttm_job_free(j);
  return NULL;
}

/* ---- The panel's side ---------------------------------------------------------------------------------------------- */

bool ttm_job_done(ttm_job *j, int *status, ttm_error *err) {
  pthread_mutex_lock(&j->lock);
  bool done = j->stage == DONE;
  *status = j->status;
  *err = j->err;
  pthread_mutex_unlock(&j->lock);
  return done;
}

ttm_ui_subject *ttm_job_subject(ttm_job *j) { return &j->subject; }
ttm_buf *ttm_job_text(ttm_job *j) { return &j->text; }

static double seconds_since(const struct timespec *start) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static void put_figures(const ttm_progress *progress, double seconds, bool reading_it, ttm_buf *out) {
  ttm_put_bytes(out, progress->read_bytes);
  ttm_buf_puts(out, ", ");
  ttm_put_counted(out, progress->operations, "operation line");
  if (seconds < 0.2 || !reading_it) return;
  ttm_buf_puts(out, ", ");
  ttm_put_bytes(out, (uint64_t)((double)progress->read_bytes / seconds));
  ttm_buf_puts(out, "/s");
}

void ttm_job_draw(ttm_job *j, ttm_screen *s, int row) {
  static const char *const words[] = {"Reading", "Analyzing", "Writing the report", "Done"};
  pthread_mutex_lock(&j->lock);
  ttm_progress progress = j->progress;
  stage at = j->stage;
  pthread_mutex_unlock(&j->lock);
  double share = at != READING || progress.read_bytes > progress.total_bytes ? 1
                 : progress.total_bytes ? (double)progress.read_bytes / (double)progress.total_bytes
                                        : 0;
  ttm_buf text = {0};
  ttm_buf_printf(&text, "  \x1b[1m%s\x1b[0m\n  \x1b[2m", words[at]);
  ttm_put_text(&text, ttm_str_of(*j->log ? j->log : j->folder), SIZE_MAX, ttm_screen_form(s));
  ttm_buf_puts(&text, "\x1b[0m\n");
  if (*j->log && !j->options) { /* the others do not tell how far they are */
    ttm_buf_puts(&text, "\n  \x1b[36m");
    ttm_put_bar(&text, share * 100, s->columns > 74 ? 60 : (size_t)s->columns - 14, s->utf8);
    ttm_buf_printf(&text, "\x1b[1m %3.0f %%\x1b[0m\n\n  \x1b[2m", share * 100);
    put_figures(&progress, seconds_since(&j->start), at == READING, &text);
  }
  ttm_draw_text(s, row, &text);
}

void ttm_job_put_error(ttm_buf *out, const ttm_error *err, const ttm_screen *screen) {
  for (ttm_str rest = ttm_str_of(err->message); rest.n;) {
    ttm_put_text(out, ttm_str_take_to(&rest, '\n'), SIZE_MAX, ttm_screen_form(screen));
    ttm_buf_char(out, '\n');
  }
}

/* ---- Start --------------------------------------------------------------------------------------------------------- */

static ttm_job *make_job(const char *log, const char *folder) {
  ttm_job *j = ttm_alloc(sizeof *j);
  if (!j) return NULL;
  j->holders = 1;
  pthread_mutex_init(&j->lock, NULL);
  clock_gettime(CLOCK_MONOTONIC, &j->start);
  j->log = ttm_str_copy(ttm_str_of(log));
  j->folder = ttm_str_copy(ttm_str_of(folder));
  if (j->log && j->folder) return j;
  ttm_job_free(j);
  return NULL;
}

static ttm_job *start(ttm_job *j) {
  pthread_t thread;
  j->holders++;
  if (!pthread_create(&thread, NULL, work, j)) return pthread_detach(thread), j;
  j->holders--;
  ttm_job_free(j);
  return NULL;
}

ttm_job *ttm_job_log(const char *log) {
  ttm_job *j = make_job(log, "");
  if (!j) return NULL;
  j->write = true;
  return start(j);
}

ttm_job *ttm_job_report(const char *log, const char *folder, bool changed) {
  ttm_job *j = make_job(log, folder);
  if (!j) return NULL;
  j->subject.changed = changed;
  return start(j);
}

ttm_job *ttm_job_answer(const ttm_ui_options *options, const ttm_ui_question *question) {
  ttm_job *j = make_job(question->inputs[0], question->inputs[1]);
  if (!j) return NULL;
  j->options = options;
  j->question = *question;
  j->question.inputs[0] = j->log;
  j->question.inputs[1] = j->folder;
  return start(j);
}
