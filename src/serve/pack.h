/* SPDX-License-Identifier: Apache-2.0 */
/* Responses compressed by gzip. */
#ifndef TTM_SERVE_PACK_H
#define TTM_SERVE_PACK_H

#include <microhttpd.h>

#include "base/buf.h"

/* A file, compressed while it is sent: bounded memory whatever its size. Takes over `fd`, also when it fails: NULL without memory. */
struct MHD_Response *ttm_pack_file(int fd);

/* Appends the text, compressed. */
void ttm_pack(ttm_buf *out, ttm_str text);

#endif
