/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "serve/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os.h"

typedef union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
} address;

static socklen_t size_of(const address *a) { return a->any.sa_family == AF_INET6 ? sizeof a->v6 : sizeof a->v4; }

static int parse_host(address *out, const char *host, ttm_error *err) {
  *out = (address){.v6 = {0}};
  if (!host || !strcmp(host, "localhost")) host = "127.0.0.1";
  if (inet_pton(AF_INET, host, &out->v4.sin_addr) == 1) return out->any.sa_family = AF_INET, TTM_OK;
  if (inet_pton(AF_INET6, host, &out->v6.sin6_addr) == 1) return out->any.sa_family = AF_INET6, TTM_OK;
  return ttm_error_set(err, TTM_EUSAGE, "'%s' is not an address of this machine, such as 127.0.0.1 or 0.0.0.0", host);
}

static bool is_loopback(const address *a) {
  if (a->any.sa_family == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
  return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
}

static bool is_any(const address *a) {
  if (a->any.sa_family == AF_INET6) return IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr);
  return a->v4.sin_addr.s_addr == htonl(INADDR_ANY);
}

static int try_port(address a, unsigned port) {
  int fd = ttm_os_socket(a.any.sa_family), on = 1;
  if (fd < 0) return -1;
  if (a.any.sa_family == AF_INET6)
    a.v6.sin6_port = htons((uint16_t)port);
  else
    a.v4.sin_port = htons((uint16_t)port);
  /* A port whose last connections are still closing is free. */
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!bind(fd, &a.any, size_of(&a)) && !listen(fd, 1024)) return fd;
  int why = errno;
  close(fd);
  errno = why;
  return -1;
}

/* A browser may take "localhost" for ::1: a port that somebody else holds there is not free either. */
static bool is_taken_on_v6(unsigned port) {
  address v6 = {.v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT}};
  int fd = try_port(v6, port);
  if (fd < 0) return errno == EADDRINUSE;
  close(fd);
  return false;
}

static int first_free(const address *a, ttm_error *err) {
  for (unsigned port = TTM_FIRST_PORT; port <= TTM_LAST_PORT; port++) {
    if (is_loopback(a) && a->any.sa_family == AF_INET && is_taken_on_v6(port)) continue;
    int fd = try_port(*a, port);
    if (fd >= 0) return fd;
    if (errno == EADDRINUSE || errno == EACCES) continue;
    ttm_error_set(err, TTM_EIO, "cannot listen on that address: %s; --host takes an address of this machine",
                  strerror(errno));
    return -1;
  }
  ttm_error_set(err, TTM_EIO, "no port from %d to %d is free: %s", TTM_FIRST_PORT, TTM_LAST_PORT, strerror(errno));
  return -1;
}

static unsigned port_of(int fd) {
  address a = {.v6 = {0}};
  socklen_t size = sizeof a;
  if (getsockname(fd, &a.any, &size)) return 0;
  return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}

int ttm_listen_open(ttm_listen *out, const char *host, int port, ttm_error *err) {
  address a;
  int status = parse_host(&a, host, err);
  if (status) return status;
  int fd = port < 0 ? first_free(&a, err) : try_port(a, (unsigned)port);
  if (fd < 0 && port >= 0) {
    bool taken = errno == EADDRINUSE;
    ttm_error_set(err, TTM_EIO, "cannot listen on port %d%s%s: %s%s", port, host ? " of " : "", host ? host : "",
                  strerror(errno), taken ? "; without --port the first free port is used" : "");
  }
  if (fd < 0) return TTM_EIO;
  *out = (ttm_listen){fd, port_of(fd), is_loopback(&a), is_any(&a)};
  return TTM_OK;
}

void ttm_listen_name(const ttm_listen *listen, ttm_buf *out) {
  address a = {.v6 = {0}};
  socklen_t size = sizeof a;
  char text[INET6_ADDRSTRLEN] = "";
  /* Editors forward the port of a URL that says localhost, which is 127.0.0.1 and no other loopback address. */
  if (getsockname(listen->fd, &a.any, &size) || listen->any ||
      (a.any.sa_family == AF_INET && a.v4.sin_addr.s_addr == htonl(INADDR_LOOPBACK))) {
    return ttm_buf_printf(out, "localhost:%u", listen->port);
  }
  bool v6 = a.any.sa_family == AF_INET6;
  inet_ntop(a.any.sa_family, v6 ? (void *)&a.v6.sin6_addr : (void *)&a.v4.sin_addr, text, sizeof text);
  ttm_buf_printf(out, v6 ? "[%s]:%u" : "%s:%u", text, listen->port);
}
