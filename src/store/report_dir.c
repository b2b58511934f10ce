/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* getpwuid_r */
#include "store/report_dir.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/own_dir.h"
#include "base/sized.h"
#include "base/threads.h"
#include "report/files/report.h"
#include "store/folder.h"

/* ---- The files --------------------------------------------------------------------------------------------------- */

typedef struct report_file {
  unsigned bit; /* ttm_report_file */
  const char *suffix;
  ttm_report_writer *write; /* this or ... */
  int (*write_named)(const ttm_findings *f, ttm_str name, ttm_out *out, ttm_error *err);
} report_file;

/* The longest to write first, so that threads end together. */
static const report_file FILES[] = {
    {TTM_REPORT_HTML, "_report.html", NULL, ttm_report_html},
    {TTM_REPORT_MEMORY, "_memory.json", ttm_report_memory_json, NULL},
    {TTM_REPORT_OPERATIONS, "_operations.json", ttm_report_operations_json, NULL},
    {TTM_REPORT_REGISTRY, "_inputs_registry.json", ttm_report_registry_json, NULL},
    {TTM_REPORT_IR, "_ir.json", ttm_report_ir_json, NULL},
    {TTM_REPORT_FINDINGS, "_findings.json", ttm_report_findings_json, NULL},
    {TTM_REPORT_MARKDOWN, "_report.md", NULL, ttm_report_markdown},
};
enum { FILE_COUNT = sizeof FILES / sizeof *FILES };

ttm_str ttm_report_suffix(const char *file_name) {
  ttm_str file = ttm_str_of(file_name);
  for (size_t i = 0; i < FILE_COUNT; i++) {
    ttm_str suffix = ttm_str_of(FILES[i].suffix);
    if (file.n > suffix.n && ttm_str_ends(file, suffix)) return suffix;
  }
  return (ttm_str){"", 0};
}

/* A file of the report `name`; of any report when name is NULL. */
static bool is_ours(const char *file_name, const char *name) {
  ttm_str suffix = ttm_report_suffix(file_name);
  ttm_str stem = ttm_str_first(ttm_str_of(file_name), strlen(file_name) - suffix.n);
  return suffix.n && (!name || ttm_str_eq(stem, ttm_str_of(name)));
}

static int check_names(const char *folder, const char *name, ttm_error *err) {
  if (!folder || !*folder) return ttm_error_set(err, TTM_EUSAGE, "no folder was given for the report");
  bool usable = name && *name && !strchr(name, '/') && strlen(name) <= TTM_REPORT_NAME_LIMIT;
  if (usable) return TTM_OK;
  return ttm_error_set(err, TTM_EUSAGE,
                       "\"%.80s\" cannot be the name of a report: it must be 1 to %d bytes without \"/\"",
                       name ? name : "", (int)TTM_REPORT_NAME_LIMIT);
}

/* All bytes, then all names, then the place of the folder: each waits for what it stands on. */
static bool is_synced(const ttm_report_options *options) { return !options || !options->no_sync; }

static int write_one(const ttm_findings *f, const char *folder, const char *name, const report_file *file, bool sync,
                     ttm_out *out, ttm_error *err) {
  char *path = ttm_folder_join(folder, name, file->suffix);
  if (!path) return ttm_error_nomem(err);
  int code = ttm_out_open(out, path, err);
  ttm_free(path);
  if (code) return code;
  out->sync = sync;
  code = file->write ? file->write(f, out, err) : file->write_named(f, ttm_str_of(name), out, err);
  if (code) return code;
  ttm_out_flush(out);
  if (sync) ttm_out_sync(out);
  out->sync = false;                               /* the names wait together, once all files are there */
  if (out->failed) return ttm_out_close(out, err); /* says why; no use in writing the other files */
  ttm_buf_free(&out->buf);                         /* open files need not hold their buffers */
  return TTM_OK;
}

/* The files of one report, shared out among threads: each takes the next one that nobody has. */
typedef struct writing {
  const ttm_findings *findings;
  const char *folder, *name;
  unsigned leave_out;
  bool sync;
  atomic_size_t next;
  atomic_bool failed; /* no use in starting another file */
  ttm_out outs[FILE_COUNT];
  int codes[FILE_COUNT];
  ttm_error errors[FILE_COUNT];
} writing;

static void *write_some(void *context) {
  writing *w = context;
  for (size_t i; !w->failed && (i = atomic_fetch_add(&w->next, 1)) < FILE_COUNT;) {
    if (w->leave_out & FILES[i].bit) continue;
    w->codes[i] = write_one(w->findings, w->folder, w->name, &FILES[i], w->sync, &w->outs[i], &w->errors[i]);
    if (w->codes[i]) w->failed = true;
  }
  return NULL;
}

/* All files are written before the first one is put in its place: a full disk leaves the earlier ones as they were. */
static int write_files(const ttm_findings *f, const char *folder, const char *name, const ttm_report_options *options,
                       ttm_error *err) {
  writing w = {.findings = f,
               .folder = folder,
               .name = name,
               .leave_out = options ? options->leave_out : 0,
               .sync = is_synced(options)};
  unsigned threads = ttm_thread_count(options ? options->threads : 0);
  /* Three files are long: two processors share them evenly, and who waits for the disk holds up nobody. */
  if (threads > 1) threads++;
  ttm_threads_run(threads < FILE_COUNT ? threads : FILE_COUNT, write_some, &w);
  int code = TTM_OK;
  for (size_t i = 0; i < FILE_COUNT; i++) {
    if (!code && w.codes[i]) {
      code = w.codes[i];
      if (err) *err = w.errors[i];
    }
  }
  for (size_t i = 0; i < FILE_COUNT; i++) {
    if (!code && w.outs[i].path)
      code = ttm_out_close(&w.outs[i], err);
    else
      ttm_out_abandon(&w.outs[i]);
  }
  return code;
}

int ttm_report_files_write(const ttm_findings *f, const char *folder, const char *name,
                           const ttm_report_options *options, ttm_error *err) {
  int code = check_names(folder, name, err);
  if (!code) code = ttm_folder_make(folder, err);
  if (code) return code;
  ttm_folder_clean(folder, NULL);
  code = write_files(f, folder, name, options, err);
  if (!code && is_synced(options)) ttm_folder_sync(folder);
  return code;
}

/* A message about the folder in the making speaks of the place it was meant for, which has the shorter name. */
static void name_the_target(ttm_error *err, const ttm_fresh *fresh) {
  char *at = err ? strstr(err->message, fresh->path) : NULL;
  if (!at) return;
  size_t hidden = strlen(fresh->path), shown = strlen(fresh->target);
  if (shown > hidden) return; /* a name so long that the hidden one was cut */
  memcpy(at, fresh->target, shown);
  memmove(at + shown, at + hidden, strlen(at + hidden) + 1);
}

int ttm_report_dir_write(const ttm_findings *f, const char *folder, const char *name, const ttm_report_options *options,
                         ttm_error *err) {
  ttm_fresh fresh;
  int code = check_names(folder, name, err);
  if (!code) code = ttm_fresh_open(&fresh, folder, name, is_ours, err);
  if (code) return code;
  fresh.sync = is_synced(options);
  code = write_files(f, fresh.path, name, options, err);
  if (!code) return ttm_fresh_place(&fresh, name, is_ours, err);
  name_the_target(err, &fresh);
  ttm_fresh_abandon(&fresh, name, is_ours);
  return code;
}

/* ---- Places ------------------------------------------------------------------------------------------------------- */

int ttm_home(ttm_buf *out, ttm_error *err) {
  const char *own = getenv("TTMEM_HOME");
  if (own && *own) {
    ttm_buf_puts(out, own);
  } else if (ttm_put_home(out)) {
    ttm_buf_puts(out, "/.ttmem");
  } else {
    return ttm_error_set(err, TTM_EUSAGE, "no home folder to keep reports in: set TTMEM_HOME, or give --output-dir");
  }
  return out->failed ? ttm_error_nomem(err) : TTM_OK;
}

int ttm_report_root(ttm_buf *out, ttm_error *err) {
  int status = ttm_home(out, err);
  if (status) return status;
  ttm_buf_puts(out, "/reports");
  return out->failed ? ttm_error_nomem(err) : TTM_OK;
}

/* ---- Public ------------------------------------------------------------------------------------------------------ */

typedef int folder_writer(const ttm_findings *f, const char *folder, const char *name,
                          const ttm_report_options *options, ttm_error *err);

static int write_profile(const ttm_profile *profile, const char *folder, const char *name,
                         const ttm_report_options *given, ttm_error *err, folder_writer *write) {
  ttm_report_options options = TTM_REPORT_OPTIONS_INIT;
  ttm_findings *findings;
  int code = ttm_sized_take(&options, sizeof options, given, err);
  if (!code) code = ttm_findings_make(&findings, profile, options.threads, err);
  if (code) return code;
  code = write(findings, folder, name, &options, err);
  ttm_findings_free(findings);
  return code;
}

int ttm_report_write_dir(const ttm_profile *profile, const char *folder, const char *name,
                         const ttm_report_options *options, ttm_error *err) {
  return write_profile(profile, folder, name, options, err, ttm_report_dir_write);
}

int ttm_report_write_files(const ttm_profile *profile, const char *folder, const char *name,
                           const ttm_report_options *options, ttm_error *err) {
  return write_profile(profile, folder, name, options, err, ttm_report_files_write);
}
