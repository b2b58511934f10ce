/* SPDX-License-Identifier: Apache-2.0 */
/* Reports over HTTP, read-only. The server runs in threads of its own that sleep while nobody asks; it prints nothing.
 * It serves the files of reports and the pages made of them, the history and live metrics when asked to; nothing else of the disk. */
#ifndef TTM_SERVE_SERVER_H
#define TTM_SERVE_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct ttm_server ttm_server;

typedef struct ttm_server_options {
  const char *path;  /* a report folder, or a folder of reports; borrowed for the call */
  const char *host;  /* NULL: 127.0.0.1 */
  int port;          /* -1: the first free one from 8000 on; 0: any */
  bool metrics;      /* answer /metrics with what the chips of this machine hold now, for Prometheus */
  const char *shm;   /* where the live files are; NULL: /dev/shm. Borrowed while the server runs */
  bool history;      /* open on the history; not when a single report is served */
  const char *store; /* as --store says it, NULL; borrowed while the server runs */
  const char *token; /* what every request must bring; NULL: a random one */
  bool no_token;     /* none: loopback only */
} ttm_server_options;

/* Starts serving. A request brings the token in its path (/TOKEN/...), as a cookie that a browser's first visit of such a path sets, or as
 * Authorization: Bearer TOKEN. Freed with ttm_server_stop. TTM_EUSAGE for an address that is none or may not go without a token, TTM_EIO when the folder or the port cannot be had, TTM_ENOMEM. */
int ttm_server_start(ttm_server **out, const ttm_server_options *options, ttm_error *err);

/* "http://localhost:8000/TOKEN/": where to look, the report itself when a single one is served. */
const char *ttm_server_url(const ttm_server *server);

/* The same under this machine's name, for other machines; NULL when they cannot reach it. */
const char *ttm_server_remote_url(const ttm_server *server);

/* Reports there were at the start. */
size_t ttm_server_reports(const ttm_server *server);

/* Ends open connections and the threads. NULL is fine. */
void ttm_server_stop(ttm_server *server);

#endif
