/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of the library. */
#ifndef TTMEM_STR_H
#define TTMEM_STR_H

#include <stddef.h>

#include "ttmem/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A borrowed run of bytes, usually UTF-8 but as the log has it. Not NUL-terminated; n is 0 where there is no text. It lives as long as
 * what it came from. printf("%.*s", (int)s.n, s.p) prints it. */
typedef struct ttm_str {
  const char *p;
  size_t n;
} ttm_str;

/* Frees a text that a call handed over as char *. NULL is fine. */
TTM_API void ttm_text_free(char *text);

#ifdef __cplusplus
}
#endif
#endif
