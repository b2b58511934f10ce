/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "serve/clients.h"

#include <sys/socket.h>
#include <time.h>

#include "base/alloc.h"
#include "base/os.h"

enum { LOOK_S = 2 };

typedef struct ttm_client {
  int fd;
  time_t until;
  struct ttm_client *next, **to_this;
} ttm_client;

static time_t now_s(void) {
  struct timespec t;
  clock_gettime(ttm_os_condition_clock, &t);
  return t.tv_sec;
}

/* ---- The thread ---------------------------------------------------------------------------------------------------- */

/* The socket is the daemon's to close: it stays open as long as the client is in the list. */
static void end_slow_ones(const ttm_clients *clients) {
  time_t now = now_s();
  for (const ttm_client *c = clients->first; c; c = c->next)
    if (c->until < now) shutdown(c->fd, SHUT_RDWR);
}

static void *watch(void *context) {
  ttm_clients *clients = context;
  pthread_mutex_lock(&clients->lock);
  while (!clients->stop) {
    struct timespec until = {.tv_sec = now_s() + LOOK_S};
    if (clients->first)
      pthread_cond_timedwait(&clients->changed, &clients->lock, &until);
    else
      pthread_cond_wait(&clients->changed, &clients->lock);
    end_slow_ones(clients);
  }
  pthread_mutex_unlock(&clients->lock);
  return NULL;
}

bool ttm_clients_begin(ttm_clients *clients) {
  pthread_mutex_init(&clients->lock, NULL);
  ttm_os_condition_init(&clients->changed);
  return clients->running = !pthread_create(&clients->thread, NULL, watch, clients);
}

void ttm_clients_end(ttm_clients *clients) {
  if (!clients->running) return;
  pthread_mutex_lock(&clients->lock);
  clients->stop = true;
  pthread_cond_signal(&clients->changed);
  pthread_mutex_unlock(&clients->lock);
  pthread_join(clients->thread, NULL);
  pthread_cond_destroy(&clients->changed);
  pthread_mutex_destroy(&clients->lock);
}

/* ---- What the daemon tells ----------------------------------------------------------------------------------------- */

static void add(ttm_clients *clients, ttm_client *c) {
  c->next = clients->first;
  c->to_this = &clients->first;
  if (c->next) c->next->to_this = &c->next;
  clients->first = c;
  if (!c->next) pthread_cond_signal(&clients->changed);
}

static void take_out(const ttm_client *c) {
  *c->to_this = c->next;
  if (c->next) c->next->to_this = c->to_this;
}

/* Without memory the client goes unwatched: it still ends when nothing happens. */
void ttm_clients_connection(void *context, struct MHD_Connection *connection, void **socket,
                            enum MHD_ConnectionNotificationCode what) {
  ttm_clients *clients = context;
  bool started = what == MHD_CONNECTION_NOTIFY_STARTED;
  ttm_client *c = started ? ttm_alloc(sizeof *c) : *socket;
  if (started) *socket = c;
  if (!c) return;
  pthread_mutex_lock(&clients->lock);
  if (started) {
    c->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    c->until = now_s() + TTM_CLIENT_ASKS_S;
    add(clients, c);
  } else {
    take_out(c);
  }
  pthread_mutex_unlock(&clients->lock);
  if (!started) ttm_free(c);
}

static void wait_for(ttm_clients *clients, struct MHD_Connection *connection, int seconds) {
  ttm_client *c = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
  if (!c) return;
  pthread_mutex_lock(&clients->lock);
  c->until = now_s() + seconds;
  pthread_mutex_unlock(&clients->lock);
}

void ttm_clients_asked(ttm_clients *clients, struct MHD_Connection *connection) {
  wait_for(clients, connection, TTM_CLIENT_READS_S);
}

void ttm_clients_completed(void *context, struct MHD_Connection *connection, void **request,
                           enum MHD_RequestTerminationCode how) {
  (void)request;
  if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK) wait_for(context, connection, TTM_CLIENT_IDLE_S + TTM_CLIENT_ASKS_S);
}
