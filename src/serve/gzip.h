/* SPDX-License-Identifier: Apache-2.0 */
/* A file compressed while it is sent: bounded memory whatever its size. */
#ifndef TTM_SERVE_GZIP_H
#define TTM_SERVE_GZIP_H

#include <stddef.h>
#include <sys/types.h>

typedef struct ttm_gzip ttm_gzip;

/* Takes over `fd`, also when it fails: NULL without memory. */
ttm_gzip *ttm_gzip_open(int fd);

/* The next bytes of the compressed stream: their count, 0 at the end, -1 when the file cannot be read. */
ssize_t ttm_gzip_read(ttm_gzip *gzip, char *out, size_t room);
void ttm_gzip_close(ttm_gzip *gzip);

#endif
