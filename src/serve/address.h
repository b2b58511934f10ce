/* SPDX-License-Identifier: Apache-2.0 */
/* Where to listen. */
#ifndef TTM_SERVE_ADDRESS_H
#define TTM_SERVE_ADDRESS_H

#include "base/buf.h"
#include "base/error.h"

enum { TTM_FIRST_PORT = 8000, TTM_LAST_PORT = 8999 };

typedef struct ttm_listen {
  int fd;        /* bound and listening */
  unsigned port; /* the one it got */
  bool loopback; /* only this machine can reach it */
  bool any;      /* every address of this machine */
} ttm_listen;

/* Opens a socket on `host` (NULL: 127.0.0.1; "localhost" or a numeric address). `port` -1 takes the first free one from
 * TTM_FIRST_PORT on, 0 any free one. 0, TTM_EUSAGE for an address that is none, TTM_EIO when nothing is free. */
int ttm_listen_open(ttm_listen *out, const char *host, int port, ttm_error *err);

/* "localhost:8000", "[::1]:8000", "192.168.0.7:8000": what stands in a URL. */
void ttm_listen_name(const ttm_listen *listen, ttm_buf *out);

#endif
