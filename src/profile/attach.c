/* SPDX-License-Identifier: Apache-2.0 */
/* Files that say more about a run than its own input does. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "profile/profile.h"

static int add_plan(ttm_profile *p, const char *path, ttm_error *err) {
  if (ttm_vec_push(&p->plans, (ttm_decision_trace){0})) return ttm_error_nomem(err);
  return ttm_decision_trace_read(&p->plans.at[p->plans.n - 1], path, err);
}

static int is_plan(const struct dirent *entry) {
  return ttm_str_ends(ttm_str_of(entry->d_name), TTM_LIT("_decision_trace.json"));
}

static int add_folder(ttm_profile *p, const char *path, ttm_error *err) {
  struct dirent **files;
  int n = scandir(path, &files, is_plan, alphasort), status = TTM_OK;
  if (n < 0) return ttm_error_set(err, TTM_EIO, "cannot read the folder %s: %s", path, strerror(errno));
  if (!n) status = ttm_error_set(err, TTM_ENODATA, "%s has no file *_decision_trace.json", path);
  for (int i = 0; i < n; i++) {
    ttm_buf file = {0};
    ttm_buf_printf(&file, "%s/%s", path, files[i]->d_name);
    ttm_buf_char(&file, '\0');
    if (!status) status = file.failed ? ttm_error_nomem(err) : add_plan(p, file.at, err);
    ttm_buf_free(&file);
    free(files[i]);
  }
  free(files);
  return status;
}

int ttm_profile_add_plans(ttm_profile *p, const char *path, ttm_error *err) {
  struct stat st;
  return !stat(path, &st) && S_ISDIR(st.st_mode) ? add_folder(p, path, err) : add_plan(p, path, err);
}

int ttm_profile_add_times(ttm_profile *p, const char *path, ttm_error *err) {
  ttm_perf_csv_free(&p->perf);
  if (ttm_intern_add(&p->strings, ttm_str_of(path), &p->perf_path)) return ttm_error_nomem(err);
  return ttm_perf_csv_read(&p->perf, path, err);
}
