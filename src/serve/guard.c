/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */
#include "serve/guard.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/str.h"
#include "store/report_dir.h"

/* ---- Who is asked -------------------------------------------------------------------------------------------------- */

bool ttm_guard_names(const char *host, const char *name) {
  size_t n = strlen(name);
  if (!host || strncasecmp(host, name, n) != 0) return false;
  const char *rest = host + n;
  if (!*rest) return true;
  size_t digits = *rest == ':' ? strspn(rest + 1, "0123456789") : 0;
  return digits >= 1 && digits <= 5 && !rest[1 + digits];
}

bool ttm_guard_host(const char *host) {
  return ttm_guard_names(host, "localhost") || ttm_guard_names(host, "127.0.0.1") || ttm_guard_names(host, "[::1]");
}

/* ---- Secrets ------------------------------------------------------------------------------------------------------- */

bool ttm_guard_token_fit(const char *token) {
  size_t n = strlen(token);
  return n >= TTM_TOKEN_LEAST && n <= TTM_TOKEN_MOST &&
         strspn(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == n;
}

bool ttm_guard_token_make(char token[TTM_TOKEN_CHARS + 1]) {
  unsigned char bytes[TTM_TOKEN_CHARS / 2];
  int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC); /* glibc has getrandom since 2.25 only: wheels are for 2.17 */
  ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
  if (fd >= 0) close(fd);
  if (n != (ssize_t)sizeof bytes) return false;
  for (size_t i = 0; i < TTM_TOKEN_CHARS; i++) {
    token[i] = "0123456789abcdef"[i % 2 ? bytes[i / 2] & 15 : bytes[i / 2] >> 4];
  }
  token[TTM_TOKEN_CHARS] = '\0';
  return true;
}

/* Takes equally long for every wrong one; the length is no secret. */
static bool is_token(const char *given, size_t n, const char *token) {
  unsigned different = 0;
  if (n != strlen(token)) return false;
  for (size_t i = 0; i < n; i++) different |= (unsigned char)given[i] ^ (unsigned char)token[i];
  return !different;
}

const char *ttm_guard_token_take(const char *path, const char *token) {
  if (path[0] != '/') return NULL;
  size_t n = strcspn(path + 1, "/");
  return is_token(path + 1, n, token) ? path + 1 + n : NULL;
}

bool ttm_guard_token_is(const char *given, const char *token) { return given && is_token(given, strlen(given), token); }

const char *ttm_guard_bearer(const char *authorization) {
  if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0) return NULL;
  return authorization + 7 + strspn(authorization + 7, " ");
}

/* ---- What is asked for --------------------------------------------------------------------------------------------- */

/* Copies one name; false when it could lead anywhere but into its folder. */
static bool take_name(char out[256], ttm_str name) {
  if (!name.n || name.n > 255 || name.p[0] == '.') return false;
  for (size_t i = 0; i < name.n; i++) {
    unsigned char c = (unsigned char)name.p[i];
    if (c < 0x20 || c == 0x7F || c == '/' || c == '\\') return false;
  }
  memcpy(out, name.p, name.n);
  out[name.n] = '\0';
  return true;
}

bool ttm_guard_name(const char *name) {
  char copy[256];
  return name && take_name(copy, ttm_str_of(name));
}

ttm_route ttm_guard_route(const char *path) {
  static const ttm_route none = {.kind = TTM_ROUTE_NONE};
  static const char *const pages[] = {"compare", "reports", "models", "trend",
                                      "run",     "live",    "open"}; /* as in the enumeration */
  ttm_route route = {.kind = TTM_ROUTE_INDEX};
  ttm_str rest = ttm_str_of(path);
  if (!ttm_str_take(&rest, TTM_LIT("/"))) return none;
  if (!rest.n) return route;
  size_t page = ttm_str_index(rest, pages, sizeof pages / sizeof *pages);
  if (page < sizeof pages / sizeof *pages) return (ttm_route){.kind = TTM_ROUTE_COMPARE + page};
  size_t slash = ttm_str_find_char(rest, '/');
  if (!take_name(route.folder, ttm_str_first(rest, slash))) return none;
  route.kind = TTM_ROUTE_BARE;
  if (slash == TTM_NOT_FOUND) return route;
  rest = ttm_str_from(rest, slash + 1);
  route.kind = TTM_ROUTE_REPORT;
  if (!rest.n) return route;
  route.kind = TTM_ROUTE_FILE;
  return take_name(route.file, rest) && ttm_report_suffix(route.file).n ? route : none;
}

/* ---- Headers ------------------------------------------------------------------------------------------------------- */

/* Takes the next member of a comma-separated list, blanks trimmed; false at the end. */
static bool next_member(ttm_str *list, ttm_str *member) {
  if (!list->n) return false;
  *member = ttm_str_trim(ttm_str_take_to(list, ','));
  return true;
}

/* "q=0", "q=0.000": not at all. */
static bool is_refused(ttm_str parameters) {
  size_t q = ttm_str_find(parameters, TTM_LIT("q="));
  if (q == TTM_NOT_FOUND) return false;
  ttm_str value = ttm_str_trim(ttm_str_from(parameters, q + 2));
  for (size_t i = 0; i < value.n; i++) {
    if (value.p[i] != '0' && value.p[i] != '.') return false;
  }
  return true;
}

bool ttm_guard_takes_gzip(const char *accept_encoding) {
  ttm_str list = ttm_str_of(accept_encoding), member;
  while (next_member(&list, &member)) {
    size_t semicolon = ttm_str_find_char(member, ';');
    ttm_str coding = ttm_str_trim(ttm_str_first(member, semicolon));
    bool gzip = ttm_str_eq_nocase(coding, TTM_LIT("gzip")) || ttm_str_eq(coding, TTM_LIT("*"));
    if (!gzip) continue;
    return semicolon == TTM_NOT_FOUND || !is_refused(ttm_str_from(member, semicolon + 1));
  }
  return false;
}

bool ttm_guard_wants_page(const char *accept) { return ttm_str_contains(ttm_str_of(accept), TTM_LIT("text/html")); }

bool ttm_guard_knows_tag(const char *if_none_match, const char *tag) {
  ttm_str list = ttm_str_of(if_none_match), member;
  while (next_member(&list, &member)) {
    ttm_str_take(&member, TTM_LIT("W/"));
    if (ttm_str_eq(member, ttm_str_of(tag)) || ttm_str_eq(member, TTM_LIT("*"))) return true;
  }
  return false;
}
