/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_NOFOLLOW */
#include "serve/server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/host_name.h"
#include "base/os.h"
#include "report/live/watch_report.h"
#include "serve/address.h"
#include "serve/clients.h"
#include "serve/compare.h"
#include "serve/guard.h"
#include "serve/history.h"
#include "serve/index.h"
#include "serve/pack.h"
#include "serve/pages.h"

enum {
  THREADS = 2,
  CONNECTIONS = 400, /* two descriptors each stay below the usual limit of 1024; further clients wait in the queue */
  PER_ADDRESS = 100, /* beyond loopback, where every client has the same */
  WORTH_PACKING = 1024,
};

struct ttm_server {
  char *path; /* of the reports */
  ttm_index index;
  char *only; /* folder name of the one report that is served; NULL: all of them */
  int root;   /* the folder above the report folders */
  ttm_listen listen;
  char token[TTM_TOKEN_MOST + 1]; /* "": none, on loopback */
  char name[80];                  /* the address it listens on, for a Host that is no name */
  char *url, *remote_url;
  size_t reports;
  bool metrics, history;
  const char *shm, *store;
  char *real_root; /* of the reports */
  ttm_comparer comparer;
  ttm_clients clients;
  struct MHD_Daemon *daemon;
};

/* One request. */
typedef struct asked {
  ttm_server *server;
  struct MHD_Connection *connection;
  bool gzip;
} asked;

static const char *header_of(const asked *a, const char *name) {
  return MHD_lookup_connection_value(a->connection, MHD_HEADER_KIND, name);
}

/* ---- Responses ----------------------------------------------------------------------------------------------------- */

/* A report's page brings its own script and style inline and loads nothing; the pages made here have no script at all. A report may come from
 * a stranger: in its sandbox it is of no origin, so that it reads no other page and is sent no cookie; it saves files and prints. */
#define CSP_COMMON "base-uri 'none'; frame-ancestors 'none'; form-action "
#define CSP_PLAIN "default-src 'none'; style-src 'unsafe-inline'; " CSP_COMMON "'self'"
#define CSP_REPORT                                                                                   \
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; " \
  "font-src data:; sandbox allow-scripts allow-downloads allow-modals; " CSP_COMMON "'none'"
/* The page that reads files (make web) has no origin either. Its worker and the frame with a report are made inside. */
#define CSP_OPEN                                                                                                  \
  "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data:; " \
  "worker-src blob:; frame-src blob:; sandbox allow-scripts allow-downloads allow-modals; " CSP_COMMON "'none'"

static const char *policy_of(const char *type, const char *tag) {
  /* A page that a browser kept gets the headers of "not modified", which has no type. */
  if (!tag || (type && strncmp(type, "text/html", 9) != 0)) return CSP_PLAIN;
  return tag[1] == 'f' ? CSP_REPORT : tag[1] == 'o' ? CSP_OPEN : CSP_PLAIN;
}

static enum MHD_Result finish(const asked *a, unsigned status, struct MHD_Response *response, const char *type,
                              const char *tag) {
  if (!response) return MHD_NO; /* no memory: the connection is closed */
  if (type) MHD_add_response_header(response, "Content-Type", type);
  if (tag) MHD_add_response_header(response, "ETag", tag);
  MHD_add_response_header(response, "Cache-Control", "no-cache"); /* may be kept, but asked for anew by its tag */
  MHD_add_response_header(response, "Vary", "Accept-Encoding");
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(response, "X-Frame-Options", "DENY");
  MHD_add_response_header(response, "Referrer-Policy", "no-referrer"); /* the token may be part of the address */
  MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
  MHD_add_response_header(response, "Content-Security-Policy", policy_of(type, tag));
  enum MHD_Result result = MHD_queue_response(a->connection, status, response);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result not_modified(const asked *a, const char *tag) {
  return finish(a, MHD_HTTP_NOT_MODIFIED, MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT), NULL, tag);
}

/* A page made here, compressed or not; frees it. Its tag is made of its bytes. */
static enum MHD_Result send_bytes(const asked *a, unsigned status, ttm_buf *page, bool packed) {
  char tag[24];
  if (page->failed) return ttm_buf_free(page), MHD_NO;
  snprintf(tag, sizeof tag, "\"p%016llx\"", (unsigned long long)ttm_hash(page->at, page->n, 0));
  if (status == MHD_HTTP_OK && ttm_guard_knows_tag(header_of(a, "If-None-Match"), tag)) {
    ttm_buf_free(page);
    return not_modified(a, tag);
  }
  struct MHD_Response *response = MHD_create_response_from_buffer(page->n, page->at, MHD_RESPMEM_MUST_COPY);
  ttm_buf_free(page);
  if (response && packed) MHD_add_response_header(response, "Content-Encoding", "gzip");
  return finish(a, status, response, "text/html; charset=utf-8", status == MHD_HTTP_OK ? tag : NULL);
}

static enum MHD_Result send_page(const asked *a, unsigned status, ttm_buf *page) {
  bool pack = a->gzip && page->n >= WORTH_PACKING && !page->failed;
  if (pack) {
    ttm_buf packed = {0};
    ttm_pack(&packed, ttm_buf_str(page));
    ttm_buf_free(page);
    *page = packed;
  }
  return send_bytes(a, status, page, pack);
}

static enum MHD_Result refuse(const asked *a, unsigned status, const char *title, const char *sentence) {
  ttm_buf page = {0};
  ttm_page_message(&page, title, sentence);
  return send_page(a, status, &page);
}

static enum MHD_Result not_found(const asked *a) {
  return refuse(a, MHD_HTTP_NOT_FOUND, "Not found", "There is no such report, or no such file in it.");
}

/* ---- Files --------------------------------------------------------------------------------------------------------- */

static struct MHD_Response *plain_response(int fd, uint64_t size) {
  struct MHD_Response *response = MHD_create_response_from_fd64(size, fd);
  if (!response) close(fd);
  return response;
}

static const char *type_of(const char *file) {
  if (ttm_str_ends(ttm_str_of(file), TTM_LIT(".html"))) return "text/html; charset=utf-8";
  if (ttm_str_ends(ttm_str_of(file), TTM_LIT(".md")))
    return "text/plain; charset=utf-8"; /* browsers save text/markdown */
  return "application/json; charset=utf-8";
}

/* A report's file, opened without following a link at either step; -1 when it is not there or no plain file. */
static int open_file(const asked *a, const char *folder, const char *file, struct stat *st) {
  int dir = ttm_catalog_folder(a->server->root, folder);
  if (dir < 0) return -1;
  int fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  close(dir);
  if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
    close(fd);
    return -1;
  }
  return fd;
}

/* Sends the file and closes it. `kind` begins its tag. */
static enum MHD_Result send_opened(const asked *a, int fd, const struct stat *st, char kind, const char *type) {
  char tag[96];
  bool pack = a->gzip && st->st_size >= WORTH_PACKING;
  struct timespec modified = ttm_os_modified(st);
  snprintf(tag, sizeof tag, "\"%c%llx-%llx-%llx.%lx%s\"", kind, (unsigned long long)st->st_ino,
           (unsigned long long)st->st_size, (unsigned long long)modified.tv_sec, (unsigned long)modified.tv_nsec,
           pack ? "-gz" : "");
  if (ttm_guard_knows_tag(header_of(a, "If-None-Match"), tag)) {
    close(fd);
    return not_modified(a, tag);
  }
  struct MHD_Response *response = pack ? ttm_pack_file(fd) : plain_response(fd, (uint64_t)st->st_size);
  return finish(a, MHD_HTTP_OK, response, type, tag);
}

static enum MHD_Result send_file(const asked *a, const char *folder, const char *file) {
  struct stat st;
  int fd = open_file(a, folder, file, &st);
  return fd < 0 ? not_found(a) : send_opened(a, fd, &st, 'f', type_of(file));
}

/* ttmem.html beside the program, in the folder above it (of a build), or where it is installed; -1 when it did not come along. */
static int open_page(struct stat *st) {
  static const char *const places[] = {"ttmem.html", "../ttmem.html", "../share/ttmem/ttmem.html"};
  char path[PATH_MAX + 32] = "";
  if (ttm_os_program(path, PATH_MAX)) return -1;
  char *name = strrchr(path, '/');
  int fd = -1;
  for (size_t i = 0; name && fd < 0 && i < sizeof places / sizeof *places; i++) {
    snprintf(name + 1, sizeof path - (size_t)(name + 1 - path), "%s", places[i]);
    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) fd = (close(fd), -1);
  }
  return fd;
}

static enum MHD_Result send_open(const asked *a) {
  struct stat st;
  int fd = open_page(&st);
  if (fd >= 0) return send_opened(a, fd, &st, 'o', "text/html; charset=utf-8");
  return refuse(a, MHD_HTTP_NOT_FOUND, "No page to open files",
                "This ttmem came without it. \"make web\" builds ttmem.html; put it beside the program.");
}

/* ---- Metrics ------------------------------------------------------------------------------------------------------- */

/* Looked at anew for every request: nothing is shared between threads, and nothing is done while nobody asks. */
static enum MHD_Result send_metrics(const asked *a) {
  ttm_watch watch;
  ttm_buf text = {0};
  ttm_error err;
  bool open_metrics = ttm_open_metrics_wanted(header_of(a, "Accept"));
  ttm_watch_init(&watch, &(ttm_watch_options){.dir = a->server->shm});
  int status = ttm_watch_look(&watch, 0, &err);
  if (!status) ttm_watch_metrics(&text, &watch, open_metrics);
  ttm_watch_free(&watch);
  if (status) return refuse(a, MHD_HTTP_SERVICE_UNAVAILABLE, "No metrics", "The live files cannot be read now.");
  struct MHD_Response *response =
      text.failed ? NULL : MHD_create_response_from_buffer(text.n, text.at, MHD_RESPMEM_MUST_COPY);
  ttm_buf_free(&text);
  if (response) MHD_add_response_header(response, "Vary", "Accept");
  return finish(a, MHD_HTTP_OK, response, open_metrics ? ttm_open_metrics_type : ttm_metrics_type, NULL);
}

/* ---- Routes -------------------------------------------------------------------------------------------------------- */

/* Frees the target. */
static enum MHD_Result redirect(const asked *a, ttm_buf *target, const char *cookie) {
  ttm_buf_char(target, '\0');
  if (target->failed) return ttm_buf_free(target), MHD_NO; /* a redirection to nowhere would be worse */
  struct MHD_Response *response = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
  if (response) MHD_add_response_header(response, "Location", target->at);
  if (response && cookie) MHD_add_response_header(response, "Set-Cookie", cookie);
  ttm_buf_free(target);
  return finish(a, MHD_HTTP_FOUND, response, NULL, NULL);
}

/* Relative to the folder of the path asked for, so that it holds behind a token. */
static enum MHD_Result redirect_to_folder(const asked *a, const char *folder) {
  ttm_buf target = {0};
  ttm_buf_puts(&target, "./");
  ttm_put_url(&target, ttm_str_of(folder));
  ttm_buf_char(&target, '/');
  return redirect(a, &target, NULL);
}

static enum MHD_Result send_index(const asked *a) {
  ttm_buf page = {0};
  if (a->server->only) return redirect_to_folder(a, a->server->only);
  int status = ttm_index_page(&a->server->index, &page, a->server->path, a->server->history, a->gzip);
  if (!status) return send_bytes(a, MHD_HTTP_OK, &page, a->gzip);
  ttm_buf_free(&page);
  if (status == TTM_ENOMEM) return MHD_NO;
  return refuse(a, MHD_HTTP_SERVICE_UNAVAILABLE, "No reports", "The folder of the reports cannot be read now.");
}

static const char *parameter(const asked *a, const char *name) {
  return MHD_lookup_connection_value(a->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* A history of which there is nothing yet leaves the list of reports. */
static enum MHD_Result send_history(const asked *a, ttm_route_kind kind) {
  const ttm_server *server = a->server;
  ttm_history_site site = {server->store, server->real_root, server->root, server->shm};
  ttm_history_asked asked = {.page = kind,
                             .search = parameter(a, "q"),
                             .number = parameter(a, "page"),
                             .from = parameter(a, "from"),
                             .first = parameter(a, "a"),
                             .second = parameter(a, "b"),
                             .model = parameter(a, "model"),
                             .board = parameter(a, "board")};
  ttm_buf page = {0};
  ttm_error err;
  int status = ttm_history_page(&page, &site, &asked, &err);
  if (!status) return send_page(a, MHD_HTTP_OK, &page);
  ttm_buf_free(&page);
  if (status == TTM_ENOMEM) return MHD_NO;
  if (status != TTM_ENODATA) return refuse(a, MHD_HTTP_SERVICE_UNAVAILABLE, "No history", err.message);
  return kind == TTM_ROUTE_INDEX ? send_index(a) : refuse(a, MHD_HTTP_NOT_FOUND, "Not found", err.message);
}

/* The report's own page when it has one, else what its files tell. */
static enum MHD_Result send_report(const asked *a, const char *folder) {
  ttm_catalog_entry entry;
  ttm_buf text = {0};
  int dir = ttm_catalog_folder(a->server->root, folder);
  if (dir < 0) return not_found(a);
  int status = ttm_catalog_entry_read(&entry, dir, folder);
  close(dir);
  if (status == TTM_ENOMEM) return MHD_NO;
  if (status) return not_found(a);
  if (entry.has_page) {
    ttm_buf_puts(&text, entry.name);
    ttm_buf_puts(&text, "_report.html");
    ttm_buf_char(&text, '\0');
    enum MHD_Result result = text.failed ? MHD_NO : send_file(a, folder, text.at);
    ttm_buf_free(&text);
    ttm_catalog_entry_free(&entry);
    return result;
  }
  ttm_page_report(&text, &entry);
  ttm_catalog_entry_free(&entry);
  return send_page(a, MHD_HTTP_OK, &text);
}

/* The key of what was compared as a tag. */
static enum MHD_Result send_comparison(const asked *a) {
  ttm_server *server = a->server;
  ttm_compared compared = {.root = server->path, .root_fd = server->root, .follow = server->listen.loopback};
  ttm_error err;
  struct stat st;
  char tag[32];
  uint64_t key;
  int fd;
  for (int i = 0; i < 2; i++) {
    compared.names[i] = parameter(a, i ? "b" : "a");
    if (server->only || !ttm_guard_name(compared.names[i])) return not_found(a);
  }
  int status = ttm_compare(&server->comparer, &compared, &fd, &key, &err);
  if (status == TTM_ENOMEM) return MHD_NO;
  if (status == TTM_ENODATA) return not_found(a);
  if (status) return refuse(a, MHD_HTTP_SERVICE_UNAVAILABLE, "Not compared", err.message);
  snprintf(tag, sizeof tag, "\"f%016llx%s\"", (unsigned long long)key, a->gzip ? "-gz" : "");
  if (fstat(fd, &st) || ttm_guard_knows_tag(header_of(a, "If-None-Match"), tag)) {
    close(fd);
    return not_modified(a, tag);
  }
  struct MHD_Response *response = a->gzip ? ttm_pack_file(fd) : plain_response(fd, (uint64_t)st.st_size);
  return finish(a, MHD_HTTP_OK, response, "text/html; charset=utf-8", tag);
}

static enum MHD_Result send_route(const asked *a, const ttm_route *route) {
  const char *only = a->server->only;
  bool of_history =
      route->kind == TTM_ROUTE_INDEX || (route->kind > TTM_ROUTE_REPORTS && route->kind <= TTM_ROUTE_LIVE);
  if (of_history && a->server->history) return send_history(a, route->kind);
  if (route->kind == TTM_ROUTE_INDEX || route->kind == TTM_ROUTE_REPORTS) return send_index(a);
  if (route->kind == TTM_ROUTE_COMPARE) return send_comparison(a);
  if (route->kind == TTM_ROUTE_OPEN) return send_open(a);
  if (of_history) return not_found(a);
  if (route->kind == TTM_ROUTE_NONE || (only && strcmp(only, route->folder) != 0)) return not_found(a);
  if (route->kind == TTM_ROUTE_BARE) return redirect_to_folder(a, route->folder);
  if (route->kind == TTM_ROUTE_REPORT) return send_report(a, route->folder);
  return send_file(a, route->folder, route->file);
}

/* ---- Who asks ------------------------------------------------------------------------------------------------------ */

static enum MHD_Result add_parameter(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
  ttm_buf *target = context;
  (void)kind;
  ttm_buf_char(target, ttm_str_find_char(ttm_buf_str(target), '?') == TTM_NOT_FOUND ? '?' : '&');
  ttm_put_url(target, ttm_str_of(name));
  ttm_buf_char(target, '=');
  if (value) ttm_put_url(target, ttm_str_of(value));
  return MHD_YES;
}

/* From "/TOKEN/rest" to "/rest", relative so that it holds behind a proxy. */
static void put_target(ttm_buf *out, const asked *a, const char *rest) {
  ttm_str left = ttm_str_of(rest);
  if (!*rest) ttm_buf_puts(out, "./");
  for (const char *c = rest; *c; c++)
    if (*c == '/') ttm_buf_puts(out, "../");
  ttm_str_take(&left, TTM_LIT("/"));
  while (left.n) {
    bool more = ttm_str_find_char(left, '/') != TTM_NOT_FOUND;
    ttm_put_url(out, ttm_str_take_to(&left, '/'));
    if (more) ttm_buf_char(out, '/');
  }
  MHD_get_connection_values(a->connection, MHD_GET_ARGUMENT_KIND, add_parameter, out);
}

/* The first visit of a browser. Scripts of pages do not see the cookie, and it goes along with no request that another site made.
 * Cookies do not tell ports apart: its name does. */
static enum MHD_Result set_cookie(const asked *a, const char *rest) {
  ttm_buf target = {0};
  char cookie[TTM_TOKEN_MOST + 64];
  put_target(&target, a, rest);
  snprintf(cookie, sizeof cookie, "ttmem-%u=%s; Path=/; HttpOnly; SameSite=Strict", a->server->listen.port,
           a->server->token);
  return redirect(a, &target, cookie);
}

static bool brings_token(const asked *a) {
  char name[32];
  snprintf(name, sizeof name, "ttmem-%u", a->server->listen.port);
  return ttm_guard_token_is(MHD_lookup_connection_value(a->connection, MHD_COOKIE_KIND, name), a->server->token) ||
         ttm_guard_token_is(ttm_guard_bearer(header_of(a, "Authorization")), a->server->token);
}

static bool is_asked_by_name(const asked *a) {
  const char *host = header_of(a, "Host");
  return !a->server->listen.loopback || ttm_guard_host(host) || ttm_guard_names(host, a->server->name);
}

/* A zero byte would end the path for us, but not for whoever checked it before us: it becomes a character no name has. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text) {
  (void)context, (void)connection;
  for (char *at = text; (at = strstr(at, "%00"));) at[2] = '1';
  return MHD_http_unescape(text);
}

/* The order matters: who asks, how, with which secret, and only then for what. */
static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *upload, size_t *upload_bytes, void **state) {
  ttm_server *server = context;
  asked a = {.server = server, .connection = connection};
  (void)version, (void)upload;
  if (!*state) { /* the first of two calls: the headers; a body, if any, is thrown away */
    *state = context;
    return MHD_YES;
  }
  if (*upload_bytes) return *upload_bytes = 0, MHD_YES;
  ttm_clients_asked(&server->clients, connection);
  if (!is_asked_by_name(&a)) {
    return refuse(&a, MHD_HTTP_FORBIDDEN, "Refused", "This server answers only to localhost.");
  }
  if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
    struct MHD_Response *no = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    if (no) MHD_add_response_header(no, "Allow", "GET, HEAD");
    return finish(&a, MHD_HTTP_METHOD_NOT_ALLOWED, no, NULL, NULL);
  }
  const char *rest = *server->token ? ttm_guard_token_take(path, server->token) : NULL;
  /* Scripts and Prometheus go on with the token in the path. */
  if (rest && ttm_guard_wants_page(header_of(&a, "Accept"))) return set_cookie(&a, rest);
  if (!rest && *server->token && !brings_token(&a))
    return refuse(&a, MHD_HTTP_FORBIDDEN, "Refused", "Open the address that ttmem serve printed: it has the token.");
  if (!rest) rest = path;
  a.gzip = ttm_guard_takes_gzip(header_of(&a, "Accept-Encoding"));
  if (!*rest) {
    ttm_buf target = {0};
    ttm_buf_printf(&target, "./%s/", server->token);
    return redirect(&a, &target, NULL);
  }
  if (server->metrics && !strcmp(rest, "/metrics")) return send_metrics(&a);
  ttm_route route = ttm_guard_route(rest);
  return send_route(&a, &route);
}

/* ---- Start and stop ------------------------------------------------------------------------------------------------ */

static char *make_url(const ttm_server *server, ttm_str host) {
  ttm_buf url = {0};
  ttm_buf_puts(&url, "http://");
  ttm_buf_put(&url, host);
  ttm_buf_char(&url, '/');
  if (*server->token) ttm_buf_puts(&url, server->token), ttm_buf_char(&url, '/');
  if (server->only) ttm_put_url(&url, ttm_str_of(server->only)), ttm_buf_char(&url, '/');
  return ttm_buf_take(&url);
}

static int make_urls(ttm_server *server, ttm_error *err) {
  ttm_buf host = {0};
  char name[TTM_HOST_NAME] = "";
  ttm_listen_name(&server->listen, &host);
  server->url = make_url(server, ttm_buf_str(&host));
  snprintf(server->name, sizeof server->name, "%.*s", (int)host.n, host.n ? host.at : "");
  if (strrchr(server->name, ':')) *strrchr(server->name, ':') = '\0';
  ttm_buf_clear(&host);
  if (server->listen.any && *ttm_host_name(name)) {
    ttm_buf_printf(&host, "%s:%u", name, server->listen.port);
    server->remote_url = make_url(server, ttm_buf_str(&host));
  }
  ttm_buf_free(&host);
  return server->url && (server->remote_url || !*name) ? TTM_OK : ttm_error_nomem(err);
}

/* Which folder, and whether it is one report or many. */
static int open_root(ttm_server *server, const char *path, ttm_error *err) {
  ttm_catalog *catalog = &server->index.catalog;
  int status = ttm_catalog_read(catalog, path, err);
  if (status) return status;
  server->reports = catalog->entries.n;
  server->path = ttm_str_copy(ttm_str_of(path));
  if (catalog->only_entry) server->only = ttm_str_copy(ttm_str_of(catalog->entries.at[0].folder));
  server->root = open(catalog->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (server->root < 0) status = ttm_error_set(err, TTM_EIO, "cannot open '%s': %s", catalog->root, strerror(errno));
  server->real_root = realpath(catalog->root, NULL);
  if (!server->path || !server->real_root || (catalog->only_entry && !server->only)) status = ttm_error_nomem(err);
  return status;
}

static int start_daemon(ttm_server *server, ttm_error *err) {
  unsigned per_address = server->listen.loopback ? 0 : PER_ADDRESS; /* 0: any number */
  if (ttm_clients_begin(&server->clients))
    server->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL, NULL, answer, server,
                                      MHD_OPTION_LISTEN_SOCKET, server->listen.fd, MHD_OPTION_THREAD_POOL_SIZE,
                                      (unsigned)THREADS, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                                      MHD_OPTION_PER_IP_CONNECTION_LIMIT, per_address, MHD_OPTION_CONNECTION_TIMEOUT,
                                      (unsigned)TTM_CLIENT_IDLE_S, MHD_OPTION_NOTIFY_CONNECTION, ttm_clients_connection,
                                      &server->clients, MHD_OPTION_NOTIFY_COMPLETED, ttm_clients_completed,
                                      &server->clients, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_END);
  if (server->daemon) return TTM_OK;
  return ttm_error_set(err, TTM_EIO, "the HTTP server cannot start: %s", strerror(errno));
}

static int set_token(ttm_server *server, const ttm_server_options *o, ttm_error *err) {
  if (o->no_token && (!server->listen.loopback || o->token))
    return ttm_error_set(err, TTM_EUSAGE, "--no-token is for 127.0.0.1 alone, and goes without --token");
  if (o->no_token) return TTM_OK;
  if (o->token && !ttm_guard_token_fit(o->token))
    return ttm_error_set(err, TTM_EUSAGE, "a token has %d to %d letters, digits, - and _", TTM_TOKEN_LEAST,
                         TTM_TOKEN_MOST);
  if (o->token) return snprintf(server->token, sizeof server->token, "%s", o->token), TTM_OK;
  if (ttm_guard_token_make(server->token)) return TTM_OK;
  return ttm_error_set(err, TTM_EIO, "cannot get random numbers for the token");
}

/* Before the first client waits for it. */
static int make_index(ttm_server *server, ttm_error *err) {
  ttm_buf page = {0};
  int status = server->only ? TTM_OK : ttm_index_page(&server->index, &page, server->path, server->history, true);
  ttm_buf_free(&page);
  return status == TTM_ENOMEM ? ttm_error_nomem(err) : TTM_OK;
}

int ttm_server_start(ttm_server **out, const ttm_server_options *options, ttm_error *err) {
  ttm_server *server = ttm_alloc(sizeof *server);
  if (!server) return ttm_error_nomem(err);
  server->root = server->listen.fd = server->listen.held = -1;
  ttm_comparer_init(&server->comparer);
  pthread_mutex_init(&server->index.lock, NULL);
  server->metrics = options->metrics;
  server->shm = options->shm;
  server->history = options->history;
  server->store = options->store;
  int status = open_root(server, options->path, err);
  if (!status) status = ttm_listen_open(&server->listen, options->host, options->port, err);
  if (!status) status = set_token(server, options, err);
  if (!status) status = make_urls(server, err);
  if (!status) status = make_index(server, err);
  if (!status) status = start_daemon(server, err);
  if (status) return ttm_server_stop(server), status;
  *out = server;
  return TTM_OK;
}

const char *ttm_server_url(const ttm_server *server) { return server->url; }
const char *ttm_server_remote_url(const ttm_server *server) { return server->remote_url; }
size_t ttm_server_reports(const ttm_server *server) { return server->reports; }

void ttm_server_stop(ttm_server *server) {
  if (!server) return;
  atomic_store(&server->comparer.stopped, true);
  if (server->daemon) MHD_stop_daemon(server->daemon), server->listen.fd = -1; /* it closes the socket */
  ttm_listen_close(&server->listen);
  ttm_clients_end(&server->clients);
  if (server->root >= 0) close(server->root);
  ttm_comparer_free(&server->comparer);
  ttm_index_free(&server->index);
  free(server->real_root);
  ttm_free(server->path);
  ttm_free(server->only);
  ttm_free(server->url);
  ttm_free(server->remote_url);
  ttm_free(server);
}
