/* SPDX-License-Identifier: Apache-2.0 */
/* The loader of logs: chunks are read in order, scanned by several threads, and joined in order. */
#include "profile/load/log.h"

#include <pthread.h>

#include "base/error.h"
#include "base/threads.h"
#include "profile/load/load.h"

enum { SLOTS_PER_THREAD = 4 };
/* Chunks for which a thread is woken: waking it for each takes as long as scanning it. */
enum { WORTH_WAKING = 2 };

/* A chunk and what it held. */
typedef struct slot {
  struct hand *hand;
  ttm_chunk chunk;
  ttm_scanned held;
  bool scanned; /* ready to be joined */
} slot;

/* A thread that scans. Its slots are its own, so that their bytes stay in its processor's cache. */
typedef struct hand {
  struct reader *reader;
  ttm_scanner scanner;
  slot slots[SLOTS_PER_THREAD]; /* used in turn */
  uint64_t filled, joined;      /* of its slots, in all */
} hand;

typedef struct reader {
  ttm_input *input;
  ttm_log log;
  hand *hands; /* the first is the calling thread's */
  unsigned hand_count, slots_per_hand;
  slot **queue; /* chunks that were read and not joined: number i stands at i modulo queue_size */
  unsigned queue_size;
  pthread_mutex_t lock; /* guards everything below, `queue`, and the flags of the slots */
  pthread_cond_t changed;
  bool pieces;                    /* the source can be read anywhere */
  bool reading;                   /* somebody is inside the source */
  bool over;                      /* the last chunk was joined */
  bool ended;                     /* the last chunk was read, or something failed */
  uint64_t read, claimed, joined; /* chunks: claimed by the thread that scans them */
  uint64_t position;              /* of the source */
  int rc;
  ttm_error error;
} reader;

/* ---- One step --------------------------------------------------------------------------------------------------------- */

/* A slot to put the next chunk into; NULL when each holds one that was not joined yet. */
static slot *take_slot(hand *h) {
  unsigned n = h->reader->slots_per_hand;
  return h->filled - h->joined < n ? &h->slots[h->filled++ % n] : NULL;
}

/* The first failure ends the reading. Called with the lock held. */
static void stop(reader *r, int rc, const ttm_error *error) {
  r->ended = r->ended || rc;
  if (!rc || r->rc) return;
  r->rc = rc;
  r->error = *error;
}

/* Reads the next chunk if that can be done now. Called and returns with the lock held; false when there was nothing to do. */
static bool read_next(hand *h) {
  reader *r = h->reader;
  slot *s = r->reading || r->ended ? NULL : take_slot(h);
  if (!s) return false;
  ttm_error error = {0};
  r->reading = true;
  pthread_mutex_unlock(&r->lock);
  int rc = ttm_chunker_next(&r->input->chunker, &s->chunk, &error);
  pthread_mutex_lock(&r->lock);
  r->reading = false;
  r->position = ttm_source_position(r->input->chunker.source);
  stop(r, rc, &error);
  r->ended = r->ended || s->chunk.last;
  if (!rc) r->queue[r->read++ % r->queue_size] = s;
  if (r->ended || r->read - r->claimed >= WORTH_WAKING) pthread_cond_broadcast(&r->changed);
  return true;
}

/* Scans the slot's chunk, of a file after reading it. Called and returns with the lock held. */
static void scan(hand *h, slot *s, uint64_t number) {
  reader *r = h->reader;
  ttm_error error = {0};
  pthread_mutex_unlock(&r->lock);
  int rc = r->pieces ? ttm_chunk_read(&s->chunk, r->input->chunker.source, number, &error) : TTM_OK;
  if (!rc && (rc = ttm_scanner_scan(&h->scanner, &s->chunk, &s->held))) ttm_error_nomem(&error);
  pthread_mutex_lock(&r->lock);
  s->scanned = true;
  stop(r, rc, &error);
  r->ended = r->ended || s->chunk.last;
  if (r->ended || r->queue[r->joined % r->queue_size] == s) pthread_cond_broadcast(&r->changed);
}

/* Scans the next chunk if there is one. A file is read by several threads at once: each takes its next piece. */
static bool scan_next(hand *h) {
  reader *r = h->reader;
  if (r->pieces) {
    slot *s = r->ended ? NULL : take_slot(h);
    if (!s) return false;
    r->queue[r->read++ % r->queue_size] = s;
    r->position = r->read * TTM_CHUNK_BYTES;
  }
  if (r->claimed == r->read) return false;
  uint64_t number = r->claimed++;
  scan(h, r->queue[number % r->queue_size], number);
  return true;
}

/* The threads beside the calling one read first and scan what they can besides. Who decompresses goes on doing so: the text that
 * it copies from stays in its processor's cache. */
static void *scan_all(void *argument) {
  hand *h = argument;
  reader *r = h->reader;
  pthread_mutex_lock(&r->lock);
  while (!r->rc && !(r->ended && r->claimed == r->read))
    if ((r->pieces || !read_next(h)) && !scan_next(h)) pthread_cond_wait(&r->changed, &r->lock);
  pthread_mutex_unlock(&r->lock);
  return NULL;
}

/* Joins the next chunk in order, which is scanned. Called and returns with the lock held. */
static void join_next(reader *r) {
  slot *s = r->queue[r->joined % r->queue_size];
  uint64_t position = r->position;
  bool over = r->over; /* what follows the last chunk was written while we read */
  pthread_mutex_unlock(&r->lock);
  ttm_error error = {0};
  int rc = over ? TTM_OK : ttm_log_take(&r->log, &s->chunk, &s->held);
  rc = rc ? ttm_error_nomem(&error) : ttm_input_progress(r->input, position, r->log.builder->profile->ops.n, &error);
  pthread_mutex_lock(&r->lock);
  stop(r, rc, &error);
  r->over = r->over || s->chunk.last;
  s->scanned = false;
  s->hand->joined++;
  r->joined++;
  if (s->hand->filled - s->hand->joined <= r->slots_per_hand / 2) pthread_cond_broadcast(&r->changed);
}

/* The calling thread joins what is ready and helps scanning while nothing is. */
static void join_all(reader *r) {
  pthread_mutex_lock(&r->lock);
  while (!r->rc && !(r->ended && !r->reading && r->joined == r->read)) {
    if (r->joined < r->read && r->queue[r->joined % r->queue_size]->scanned)
      join_next(r);
    else if (!scan_next(&r->hands[0]) && (r->pieces || !read_next(&r->hands[0])))
      pthread_cond_wait(&r->changed, &r->lock);
  }
  r->ended = true;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
}

/* ---- The whole -------------------------------------------------------------------------------------------------------- */

static void free_hand(hand *h) {
  for (unsigned i = 0; i < SLOTS_PER_THREAD; i++) {
    ttm_chunk_free(&h->slots[i].chunk);
    ttm_scanned_free(&h->slots[i].held);
  }
  ttm_scanner_free(&h->scanner);
}

static int run(reader *r, unsigned threads) {
  pthread_t others[TTM_MOST_THREADS];
  unsigned started = 0;
  r->pieces = ttm_source_is_seekable(r->input->chunker.source);
  r->hand_count = threads;
  r->slots_per_hand = threads == 1 ? 1 : SLOTS_PER_THREAD; /* a single thread waits for nobody */
  r->queue_size = r->hand_count * r->slots_per_hand;
  r->hands = ttm_alloc(r->hand_count * sizeof *r->hands);
  r->queue = ttm_alloc(r->queue_size * sizeof *r->queue);
  if (!r->hands || !r->queue) r->rc = ttm_error_nomem(&r->error);
  for (unsigned i = 0; !r->rc && i < threads * SLOTS_PER_THREAD; i++) {
    hand *h = &r->hands[i / SLOTS_PER_THREAD];
    h->reader = r;
    h->slots[i % SLOTS_PER_THREAD].hand = h;
  }
  /* Fewer helpers than asked for is slower, not wrong. */
  while (!r->rc && started + 1 < threads && !pthread_create(&others[started], NULL, scan_all, &r->hands[started + 1]))
    started++;
  if (!r->rc) join_all(r);
  for (unsigned i = 0; i < started; i++) pthread_join(others[i], NULL);
  for (unsigned i = 0; r->hands && i < threads; i++) free_hand(&r->hands[i]);
  ttm_free(r->hands);
  ttm_free(r->queue);
  return r->rc;
}

int ttm_load_log(ttm_builder *b, ttm_input *in, ttm_error *err) {
  reader r = {.input = in, .log = {.builder = b}};
  pthread_mutex_init(&r.lock, NULL);
  pthread_cond_init(&r.changed, NULL);
  int rc = run(&r, ttm_thread_count(in->options.threads));
  if (rc && err) *err = r.error;
  if (!rc) rc = ttm_log_end(&r.log, err);
  ttm_log_free(&r.log);
  pthread_cond_destroy(&r.changed);
  pthread_mutex_destroy(&r.lock);
  return rc;
}
