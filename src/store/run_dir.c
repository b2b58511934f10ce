/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "store/run_dir.h"

#include <errno.h>
#include <sys/stat.h>

#include "store/folder.h"

enum { NAME_LIMIT = 150, MOST_IN_A_SECOND = 10000 };

void ttm_run_name(ttm_buf *out, const char *program) {
  ttm_str name = ttm_str_of(program);
  while (name.n > 1 && name.p[name.n - 1] == '/') name.n--;
  for (size_t i = name.n; i > 0; i--) {
    if (name.p[i - 1] != '/') continue;
    name = ttm_str_from(name, i);
    break;
  }
  if (name.n > 3 && ttm_str_ends(name, TTM_LIT(".py"))) name.n -= 3;
  while (name.n && name.p[0] == '.') name = ttm_str_from(name, 1);
  size_t n = name.n < NAME_LIMIT ? name.n : NAME_LIMIT;
  while (n && n < name.n && ((unsigned char)name.p[n] & 0xC0) == 0x80) n--; /* not in the middle of a character */
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)name.p[i];
    ttm_buf_char(out, c < 0x20 || c == 0x7F || c == '/' ? '-' : (char)c);
  }
  if (!n) ttm_buf_puts(out, "program");
}

int ttm_run_dir_make(ttm_buf *out, const char *base, const char *name, const struct tm *when, ttm_error *err) {
  size_t start = out->n;
  int status = ttm_folder_make(base, err);
  for (int i = 1; !status && i <= MOST_IN_A_SECOND; i++) {
    out->n = start;
    ttm_buf_printf(out, "%s/%s_%04d%02d%02d_%02d%02d%02d", base, name, when->tm_year + 1900, when->tm_mon + 1,
                   when->tm_mday, when->tm_hour, when->tm_min, when->tm_sec);
    if (i > 1) ttm_buf_printf(out, "_%d", i);
    ttm_buf_char(out, '\0');
    if (out->failed) return ttm_error_nomem(err);
    out->n--; /* the NUL is only for mkdir */
    if (mkdir(out->at + start, 0777) == 0) return TTM_OK;
    if (errno != EEXIST) break;
  }
  if (status) return status;
  return ttm_error_set(err, TTM_EIO, "cannot make the folder %s: %s", out->at + start, strerror(errno));
}
