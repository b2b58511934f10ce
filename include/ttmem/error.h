/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as values: every fallible call returns 0 or a negative ttm_status and, where asked, fills a ttm_error. */
#ifndef TTMEM_ERROR_H
#define TTMEM_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ttm_status {
  TTM_OK = 0,
  TTM_ENOMEM = -1,    /* an allocation failed */
  TTM_EIO = -2,       /* reading or writing failed; the message names the file */
  TTM_EFORMAT = -3,   /* the input is not what the call expects */
  TTM_EUSAGE = -4,    /* an argument of the call is wrong */
  TTM_ENODATA = -5,   /* the input was read whole but holds nothing to report on */
  TTM_ECANCELED = -6, /* a callback of the caller said stop */
} ttm_status;

/* What went wrong and where. Owned by the caller; the library only writes into it. */
typedef struct ttm_error {
  int code;           /* a ttm_status */
  uint64_t line;      /* 1-based input line, 0 where none applies */
  char message[1024]; /* one or more plain sentences: what is wrong and what to do next */
} ttm_error;

#ifdef __cplusplus
}
#endif
#endif
