/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a ttm_error from inside the library. */
#ifndef TTM_BASE_ERROR_H
#define TTM_BASE_ERROR_H

#include "ttmem/error.h"

/* Sets code and message (printf style) and returns code, so that a caller can write `return ttm_error_set(...)`.
 * `err` may be NULL: only the code is returned then. */
int ttm_error_set(ttm_error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The message for a failed allocation; returns TTM_ENOMEM. `err` may be NULL. */
int ttm_error_nomem(ttm_error *err);

#endif
