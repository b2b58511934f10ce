/* SPDX-License-Identifier: Apache-2.0 */
/* Where to listen. */
#ifndef TTM_SERVE_ADDRESS_H
#define TTM_SERVE_ADDRESS_H

#include "base/buf.h"
#include "base/error.h"

enum { TTM_FIRST_PORT = 8000, TTM_LAST_PORT = 8999 };

typedef struct ttm_listen {
  int fd;   /* bound and listening */
  int held; /* keeps the port of ::1 from others, who could be taken for "localhost"; -1: not needed, or not to be had */
  unsigned port; /* the one it got */
  bool loopback; /* only this machine can reach it */
  bool any;      /* every address of this machine */
  bool taken;    /* somebody else has the port of ::1 */
} ttm_listen;

/* Opens a socket on `host` (NULL: 127.0.0.1; "localhost" or a numeric address). `port` -1 takes the first from TTM_FIRST_PORT on
 * that is free, on ::1 too where it is called localhost; 0 any free one. 0, TTM_EUSAGE for an address that is none, TTM_EIO when nothing is free. */
int ttm_listen_open(ttm_listen *out, const char *host, int port, ttm_error *err);

/* Closes both. The daemon closes `fd` by itself: -1 then. */
void ttm_listen_close(ttm_listen *listen);

/* "localhost:8000", "127.0.0.1:8000" where somebody else has that port of ::1, "[::1]:8000", "192.168.0.7:8000": what
 * stands in a URL. */
void ttm_listen_name(const ttm_listen *listen, ttm_buf *out);

#endif
