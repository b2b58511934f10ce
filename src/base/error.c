/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int ttm_error_set(ttm_error *err, int code, const char *format, ...) {
  if (!err) return code;
  va_list args;
  va_start(args, format);
  err->code = code;
  err->line = 0;
  vsnprintf(err->message, sizeof err->message, format, args);
  va_end(args);
  return code;
}

int ttm_error_nomem(ttm_error *err) { return ttm_error_set(err, TTM_ENOMEM, "Out of memory on this host."); }
