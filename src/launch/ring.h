/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded run of bytes between one writer and a few readers, each of which gets every byte. The writer never waits here: it asks
 * for room and is woken through a descriptor it can poll. A reader that gives up no longer holds anybody back. */
#ifndef TTM_LAUNCH_RING_H
#define TTM_LAUNCH_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "ttmem/error.h"

enum { TTM_RING_BYTES = 2 * 1024 * 1024, TTM_RING_READERS = 2 };

typedef struct ttm_ring_reader {
  pthread_cond_t wake;
  uint64_t at;          /* bytes taken so far */
  size_t batch;         /* it is woken at once when as many wait ... */
  unsigned patience_ms; /* ... else after this long; 0: at once */
  bool gone;            /* takes nothing any more */
  bool nudged;          /* woken for something else than bytes */
} ttm_ring_reader;

typedef struct ttm_ring {
  char *bytes;
  pthread_mutex_t lock; /* guards what follows */
  ttm_ring_reader readers[TTM_RING_READERS];
  uint64_t written;
  bool ended;
  int room[2]; /* a pipe: readable when a reader moved while the ring was full, or left */
} ttm_ring;

int ttm_ring_open(ttm_ring *ring, ttm_error *err);
/* Only after all readers have returned. */
void ttm_ring_close(ttm_ring *ring);

/* The writer's side: where the next bytes go (*n is 0 when the ring is full), and that they are there. */
char *ttm_ring_room(ttm_ring *ring, size_t *n);
void ttm_ring_push(ttm_ring *ring, size_t n);
void ttm_ring_end(ttm_ring *ring);

/* A reader's side: waits for bytes and returns a run of them, which stays until ttm_ring_taken. Empty: it was nudged, or (with
 * *ended) nothing comes any more. */
ttm_str ttm_ring_wait(ttm_ring *ring, unsigned reader, bool *ended);
void ttm_ring_taken(ttm_ring *ring, unsigned reader, size_t n);
void ttm_ring_leave(ttm_ring *ring, unsigned reader);
/* Wakes a reader without bytes. */
void ttm_ring_nudge(ttm_ring *ring, unsigned reader);

#endif
