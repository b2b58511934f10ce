/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "report/run/other_command.h"

#include <sys/stat.h>

#include "base/error.h"
#include "base/format.h"
#include "l1/device_log.h"
#include "parse/train_log.h"

enum { LARGEST = 256 << 20 }; /* what is worth reading once more for an error message */

static bool is_training_log(const char *path) {
  ttm_train_log log;
  bool found = !ttm_train_log_read(&log, path, NULL) && log.footprints.n;
  for (size_t i = 0; i < log.summaries.n; i++) found |= log.summaries.at[i].phases.n > 0;
  ttm_train_log_free(&log);
  return found;
}

/* What it holds in the words of an error, or NULL. Lines of TT-Metal's logger are no proof, every program prints some: those about L1
 * are. */
static const char *device_log(const char *path) {
  ttm_device_log log;
  bool read = !ttm_device_log_read(&log, path, NULL);
  bool is_csv = read && log.csv != TTM_CSV_NONE, tells = read && (log.partitions.n || log.kernels.n);
  ttm_device_log_free(&log);
  return is_csv ? "is a memory report of TT-Metal" : tells ? "has debug lines of TT-Metal only" : NULL;
}

bool ttm_name_other_command(const char *path, ttm_error *err) {
  struct stat st;
  if (!strcmp(path, "-") || stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size > LARGEST) return false;
  const char *what = "has memory summaries of tt-train", *command = "train --logs";
  if (!is_training_log(path)) {
    what = device_log(path);
    command = "cb log";
  }
  if (!what) return false;
  ttm_buf word = {0};
  ttm_put_shell_path(&word, path);
  ttm_buf_char(&word, '\0');
  bool named = !word.failed;
  if (named) ttm_error_set(err, TTM_ENODATA, "%s %s. Read it with:\n  ttmem %s %s", path, what, command, word.at);
  ttm_buf_free(&word);
  return named;
}
