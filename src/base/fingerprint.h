/* SPDX-License-Identifier: Apache-2.0 */
/* Tells a file from another one without reading all of it. */
#ifndef TTM_BASE_FINGERPRINT_H
#define TTM_BASE_FINGERPRINT_H

#include "base/source.h"

/* Zero is none: an empty file has nothing to be told by. */
typedef struct ttm_fingerprint {
  uint64_t bytes;   /* as stored */
  int64_t modified; /* nanoseconds since 1970 */
  uint64_t ends;    /* hash of the first and the last megabyte, the same on every machine */
} ttm_fingerprint;

/* None for standard input, for what is no regular file and for what cannot be read; TTM_ENOMEM, and none. */
int ttm_fingerprint_of(ttm_fingerprint *out, const char *path);
/* The same of the file that is being read, whatever its path names by now. */
int ttm_fingerprint_of_source(ttm_fingerprint *out, const ttm_source *source);
/* Of this program's own file, without its ends: size and time tell one build from another. */
ttm_fingerprint ttm_fingerprint_of_program(void);
/* The same of the text in a compressed file, read whole; `modified` is 0. None when it is damaged. */
ttm_fingerprint ttm_fingerprint_of_text(const char *path);

/* Whether it is the same file, or a copy. The time counts only where the ends are not all of it. Nothing is like none. */
bool ttm_fingerprint_same(const ttm_fingerprint *a, const ttm_fingerprint *b);
/* The same but for the time. */
bool ttm_fingerprint_same_text(const ttm_fingerprint *a, const ttm_fingerprint *b);

/* "1048576-1763304443000000000-0123456789abcdef", and back; none for any other text. */
void ttm_fingerprint_put(ttm_buf *out, const ttm_fingerprint *print);
ttm_fingerprint ttm_fingerprint_read(ttm_str text);

#endif
