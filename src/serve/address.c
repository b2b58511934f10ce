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

/* Bound to the port, -1 with errno. */
static int bind_port(address a, unsigned port, bool again) {
  int fd = ttm_os_socket(a.any.sa_family), on = 1;
  if (fd < 0) return -1;
  if (a.any.sa_family == AF_INET6)
    a.v6.sin6_port = htons((uint16_t)port);
  else
    a.v4.sin_port = htons((uint16_t)port);
  /* A port whose last connections are still closing is free. */
  if (again) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!bind(fd, &a.any, size_of(&a))) return fd;
  int why = errno;
  close(fd);
  errno = why;
  return -1;
}

static int try_port(const address *a, unsigned port) {
  int fd = bind_port(*a, port, true);
  if (fd < 0 || !listen(fd, 1024)) return fd;
  int why = errno;
  close(fd);
  errno = why;
  return -1;
}

/* A browser that is told "localhost" asks ::1 before 127.0.0.1: whoever listens there gets the address with its token. Bound, the port of ::1 is nobody
 * else's; as nobody listens on it, the browser is refused at once and goes on. */
static void hold_on_v6(ttm_listen *listen) {
  address v6 = {.v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT}};
  listen->held = bind_port(v6, listen->port, false);
  listen->taken = listen->held < 0 && errno == EADDRINUSE;
}

static unsigned port_of(int fd) {
  address a = {.v6 = {0}};
  socklen_t size = sizeof a;
  if (getsockname(fd, &a.any, &size)) return 0;
  return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}

/* Whether a URL says "localhost": editors forward its port. It is 127.0.0.1 and no other loopback address. */
static bool is_localhost(const address *a) {
  return is_any(a) || (a->any.sa_family == AF_INET && a->v4.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
}

static int open_port(ttm_listen *out, const address *a, unsigned port) {
  int fd = try_port(a, port);
  if (fd < 0) return -1;
  *out = (ttm_listen){.fd = fd, .held = -1, .port = port_of(fd), .loopback = is_loopback(a), .any = is_any(a)};
  if (a->any.sa_family == AF_INET && is_localhost(a)) hold_on_v6(out);
  return fd;
}

static int open_first_free(ttm_listen *out, const address *a, ttm_error *err) {
  for (unsigned port = TTM_FIRST_PORT; port <= TTM_LAST_PORT; port++) {
    int fd = open_port(out, a, port);
    if (fd >= 0 && !out->taken) return TTM_OK;
    if (fd >= 0) ttm_listen_close(out), errno = EADDRINUSE;
    if (errno == EADDRINUSE || errno == EACCES) continue;
    return ttm_error_set(err, TTM_EIO, "cannot listen on that address: %s; --host takes an address of this machine",
                         strerror(errno));
  }
  return ttm_error_set(err, TTM_EIO, "no port from %d to %d is free: %s", TTM_FIRST_PORT, TTM_LAST_PORT,
                       strerror(errno));
}

int ttm_listen_open(ttm_listen *out, const char *host, int port, ttm_error *err) {
  address a;
  *out = (ttm_listen){.fd = -1, .held = -1};
  int status = parse_host(&a, host, err);
  if (status) return status;
  if (port < 0) return open_first_free(out, &a, err);
  if (open_port(out, &a, (unsigned)port) >= 0) return TTM_OK;
  bool taken = errno == EADDRINUSE;
  return ttm_error_set(err, TTM_EIO, "cannot listen on port %d%s%s: %s%s", port, host ? " of " : "", host ? host : "",
                       strerror(errno), taken ? "; without --port the first free port is used" : "");
}

void ttm_listen_close(ttm_listen *listen) {
  if (listen->fd >= 0) close(listen->fd);
  if (listen->held >= 0) close(listen->held);
  listen->fd = listen->held = -1;
}

void ttm_listen_name(const ttm_listen *listen, ttm_buf *out) {
  address a = {.v6 = {0}};
  socklen_t size = sizeof a;
  char text[INET6_ADDRSTRLEN] = "";
  if (getsockname(listen->fd, &a.any, &size) || is_localhost(&a))
    return ttm_buf_printf(out, "%s:%u", listen->taken ? "127.0.0.1" : "localhost", listen->port);
  bool v6 = a.any.sa_family == AF_INET6;
  inet_ntop(a.any.sa_family, v6 ? (void *)&a.v6.sin6_addr : (void *)&a.v4.sin_addr, text, sizeof text);
  ttm_buf_printf(out, v6 ? "[%s]:%u" : "%s:%u", text, listen->port);
}
