/* SPDX-License-Identifier: Apache-2.0 */
/* How long a client may take. libmicrohttpd ends connections on which nothing happens; one that sends or reads a byte now and then would stay for ever. */
#ifndef TTM_SERVE_CLIENTS_H
#define TTM_SERVE_CLIENTS_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>

enum {
  TTM_CLIENT_IDLE_S = 60,   /* between two requests */
  TTM_CLIENT_ASKS_S = 20,   /* for a request in all */
  TTM_CLIENT_READS_S = 600, /* for an answer in all */
};

typedef struct ttm_clients {
  pthread_mutex_t lock; /* guards the rest */
  pthread_cond_t changed;
  struct ttm_client *first;
  bool stop, running;
  pthread_t thread; /* sleeps while there is no client */
} ttm_clients;

/* False when no thread can be had. Ended with ttm_clients_end after the daemon. */
bool ttm_clients_begin(ttm_clients *clients);
void ttm_clients_end(ttm_clients *clients);

/* For MHD_OPTION_NOTIFY_CONNECTION and MHD_OPTION_NOTIFY_COMPLETED, with the ttm_clients as their context. */
void ttm_clients_connection(void *context, struct MHD_Connection *connection, void **socket,
                            enum MHD_ConnectionNotificationCode what);
void ttm_clients_completed(void *context, struct MHD_Connection *connection, void **request,
                           enum MHD_RequestTerminationCode how);

/* The request is there: from now on it is answered. */
void ttm_clients_asked(ttm_clients *clients, struct MHD_Connection *connection);

#endif
