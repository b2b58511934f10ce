/* SPDX-License-Identifier: Apache-2.0 */
/* What a request may ask for. Pure functions over its text, so that every attack we can think of is a line in a test. */
#ifndef TTM_SERVE_GUARD_H
#define TTM_SERVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* ---- Who is asked -------------------------------------------------------------------------------------------------- */

/* True when a Host header names this machine's loopback: "localhost", "127.0.0.1" or "[::1]", with any port (an editor that
 * forwards the port may pick another one). A page of a stranger whose name was made to resolve to 127.0.0.1 sends its own
 * name here. NULL is false. */
bool ttm_guard_host(const char *host);

/* True when a Host header has that name, in any case and with any port. NULL is false. */
bool ttm_guard_names(const char *host, const char *name);

/* ---- Secrets ------------------------------------------------------------------------------------------------------- */

enum { TTM_TOKEN_CHARS = 32, TTM_TOKEN_LEAST = 16, TTM_TOKEN_MOST = 128 };

/* Whether a token of the user's is long enough and can stand in a path. */
bool ttm_guard_token_fit(const char *token);

/* A random token of hexadecimal digits, NUL-terminated; false when the system has no randomness to give. */
bool ttm_guard_token_make(char token[TTM_TOKEN_CHARS + 1]);

/* What follows "/TOKEN" in a path, NULL when it starts with another token. Takes equally long for every wrong one. */
const char *ttm_guard_token_take(const char *path, const char *token);

/* Whether a cookie or a header brings the token, in the same time. NULL is false. */
bool ttm_guard_token_is(const char *given, const char *token);

/* What follows "Bearer " in an Authorization header; NULL: it is another one, or none. */
const char *ttm_guard_bearer(const char *authorization);

/* ---- What is asked for --------------------------------------------------------------------------------------------- */

typedef enum ttm_route_kind {
  TTM_ROUTE_NONE,    /* nothing we would ever serve */
  TTM_ROUTE_INDEX,   /* "/" */
  TTM_ROUTE_COMPARE, /* "/compare" */
  TTM_ROUTE_REPORTS, /* "/reports", and so on */
  TTM_ROUTE_MODELS,
  TTM_ROUTE_TREND,
  TTM_ROUTE_RUN,
  TTM_ROUTE_LIVE,
  TTM_ROUTE_OPEN,   /* "/open" */
  TTM_ROUTE_BARE,   /* "/folder": wants a slash */
  TTM_ROUTE_REPORT, /* "/folder/" */
  TTM_ROUTE_FILE,   /* "/folder/file" with the name of a report file */
} ttm_route_kind;

typedef struct ttm_route {
  ttm_route_kind kind;
  char folder[256], file[256]; /* single names: no slash, not hidden, not empty where the kind has them */
} ttm_route;

/* Judges a path whose escapes were resolved. Only names of report files get through. */
ttm_route ttm_guard_route(const char *path);

/* True when a parameter of a request can be the name of a report's folder: one name, not hidden. NULL is false. */
bool ttm_guard_name(const char *name);

/* ---- Headers ------------------------------------------------------------------------------------------------------- */

/* True when an Accept-Encoding header takes gzip (not with q=0). NULL is false. */
bool ttm_guard_takes_gzip(const char *accept_encoding);

/* True when an Accept header asks for a page, as browsers do and scripts do not. NULL is false. */
bool ttm_guard_wants_page(const char *accept);

/* True when an If-None-Match header holds the tag (weak or strong) or "*". NULL is false. */
bool ttm_guard_knows_tag(const char *if_none_match, const char *tag);

#endif
