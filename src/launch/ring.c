/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "launch/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"

int ttm_ring_open(ttm_ring *ring, ttm_error *err) {
  *ring = (ttm_ring){.written = 0};
  ring->bytes = ttm_alloc(TTM_RING_BYTES);
  if (!ring->bytes) return ttm_error_nomem(err);
  if (ttm_os_pipe(ring->room)) {
    ttm_free(ring->bytes);
    return ttm_error_set(err, TTM_EIO, "cannot make a pipe: %s", strerror(errno));
  }
  for (int i = 0; i < 2; i++) fcntl(ring->room[i], F_SETFL, O_NONBLOCK);
  pthread_mutex_init(&ring->lock, NULL);
  for (int r = 0; r < TTM_RING_READERS; r++) ttm_os_condition_init(&ring->readers[r].wake);
  return TTM_OK;
}

void ttm_ring_close(ttm_ring *ring) {
  for (int r = 0; r < TTM_RING_READERS; r++) pthread_cond_destroy(&ring->readers[r].wake);
  pthread_mutex_destroy(&ring->lock);
  for (int i = 0; i < 2; i++) close(ring->room[i]);
  ttm_free(ring->bytes);
}

/* Bytes that some reader still needs. The lock is held. */
static uint64_t held(const ttm_ring *ring) {
  uint64_t oldest = ring->written;
  for (int r = 0; r < TTM_RING_READERS; r++) {
    const ttm_ring_reader *reader = &ring->readers[r];
    if (!reader->gone && reader->at < oldest) oldest = reader->at;
  }
  return ring->written - oldest;
}

char *ttm_ring_room(ttm_ring *ring, size_t *n) {
  pthread_mutex_lock(&ring->lock);
  size_t at = (size_t)(ring->written % TTM_RING_BYTES);
  size_t room = TTM_RING_BYTES - (size_t)held(ring), to_end = TTM_RING_BYTES - at;
  *n = room < to_end ? room : to_end;
  if (!*n) { /* from now on a reader that moves writes into the pipe */
    char old[64];
    if (read(ring->room[0], old, sizeof old) < 0) { /* was not set */
    }
  }
  pthread_mutex_unlock(&ring->lock);
  return ring->bytes + at;
}

void ttm_ring_push(ttm_ring *ring, size_t n) {
  pthread_mutex_lock(&ring->lock);
  uint64_t before = ring->written;
  ring->written += n;
  for (int r = 0; r < TTM_RING_READERS; r++) {
    ttm_ring_reader *reader = &ring->readers[r];
    uint64_t waited = before - reader->at;
    /* Only the first bytes and the ones that fill a batch change what a reader waits for. */
    if (!reader->gone && (waited == 0 || (waited < reader->batch && waited + n >= reader->batch)))
      pthread_cond_signal(&reader->wake);
  }
  pthread_mutex_unlock(&ring->lock);
}

void ttm_ring_end(ttm_ring *ring) {
  pthread_mutex_lock(&ring->lock);
  ring->ended = true;
  for (int r = 0; r < TTM_RING_READERS; r++) pthread_cond_signal(&ring->readers[r].wake);
  pthread_mutex_unlock(&ring->lock);
}

static struct timespec later(unsigned ms) {
  struct timespec t;
  clock_gettime(ttm_os_condition_clock, &t);
  t.tv_sec += ms / 1000;
  t.tv_nsec += (long)(ms % 1000) * 1000000;
  if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
  return t;
}

ttm_str ttm_ring_wait(ttm_ring *ring, unsigned r, bool *ended) {
  ttm_ring_reader *reader = &ring->readers[r];
  pthread_mutex_lock(&ring->lock);
  while (ring->written == reader->at && !ring->ended && !reader->nudged) pthread_cond_wait(&reader->wake, &ring->lock);
  if (reader->patience_ms && ring->written > reader->at) {
    struct timespec deadline = later(reader->patience_ms);
    while (ring->written - reader->at < reader->batch && !ring->ended &&
           pthread_cond_timedwait(&reader->wake, &ring->lock, &deadline) != ETIMEDOUT) {}
  }
  reader->nudged = false;
  uint64_t waiting = ring->written - reader->at;
  size_t at = (size_t)(reader->at % TTM_RING_BYTES), to_end = TTM_RING_BYTES - at;
  *ended = ring->ended && waiting == 0;
  pthread_mutex_unlock(&ring->lock);
  return (ttm_str){ring->bytes + at, waiting < to_end ? (size_t)waiting : to_end};
}

/* The lock is held. */
static void tell_room(ttm_ring *ring, bool was_full) {
  if (was_full && held(ring) < TTM_RING_BYTES && write(ring->room[1], "", 1) < 0) { /* already set */
  }
}

void ttm_ring_taken(ttm_ring *ring, unsigned r, size_t n) {
  pthread_mutex_lock(&ring->lock);
  bool was_full = held(ring) == TTM_RING_BYTES;
  ring->readers[r].at += n;
  tell_room(ring, was_full);
  pthread_mutex_unlock(&ring->lock);
}

void ttm_ring_leave(ttm_ring *ring, unsigned r) {
  pthread_mutex_lock(&ring->lock);
  bool was_full = held(ring) == TTM_RING_BYTES;
  ring->readers[r].gone = true;
  tell_room(ring, was_full);
  pthread_mutex_unlock(&ring->lock);
}

void ttm_ring_nudge(ttm_ring *ring, unsigned r) {
  pthread_mutex_lock(&ring->lock);
  ring->readers[r].nudged = true;
  pthread_cond_signal(&ring->readers[r].wake);
  pthread_mutex_unlock(&ring->lock);
}
