/* SPDX-License-Identifier: Apache-2.0 */
/* A log on its way into a profile: chunks are read in order, scanned by several threads, and joined in order. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <pthread.h>
#include <time.h>

#include "base/chunks.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/threads.h"
#include "profile/builder.h"
#include "profile/capture_builder.h"
#include "profile/diagnose.h"
#include "profile/feed.h"
#include "profile/live_builder.h"

enum { SLOTS_PER_THREAD = 4 };

/* A chunk and what it held. */
typedef struct slot {
  ttm_chunk chunk;
  ttm_scanned held;
  bool taken;   /* read, and not joined yet */
  bool scanned; /* ready to be joined */
} slot;

/* A thread that scans. Its slots are its own, so that their bytes stay in its processor's cache. */
typedef struct hand {
  struct reader *reader;
  ttm_scanner scanner;
  slot slots[SLOTS_PER_THREAD];
} hand;

typedef struct reader {
  ttm_chunker chunker;
  ttm_builder builder;
  const ttm_read_options *options;
  hand *hands; /* the first is the calling thread's */
  unsigned hand_count, slots_per_hand;
  slot **queue; /* chunks that were read and not joined: number i stands at i modulo queue_size */
  unsigned queue_size;
  pthread_mutex_t lock; /* guards everything below, `queue`, and the flags of the slots */
  pthread_cond_t changed;
  bool pieces;           /* the source can be read anywhere */
  bool reading;          /* somebody is inside the source */
  bool over;             /* the last chunk was joined */
  bool ended;            /* the last chunk was read, or something failed */
  uint64_t read, joined; /* chunks */
  uint64_t position;     /* of the source */
  int rc;
  ttm_error error;
  double reported_at;
} reader;

/* ---- One step --------------------------------------------------------------------------------------------------------- */

static slot *free_slot(hand *h) {
  for (unsigned i = 0; i < h->reader->slots_per_hand; i++)
    if (!h->slots[i].taken) return &h->slots[i];
  return NULL;
}

/* Puts the next chunk into the slot. A file is read by several threads at once, anything else by one at a time. Called and
 * returns with the lock held. */
static int read_next(reader *r, slot *s, ttm_error *error) {
  uint64_t number = r->read;
  s->taken = true;
  if (r->pieces) {
    r->queue[r->read++ % r->queue_size] = s;
    pthread_mutex_unlock(&r->lock);
    int rc = ttm_chunk_read(&s->chunk, r->chunker.source, number, error);
    pthread_mutex_lock(&r->lock);
    r->position = r->read * TTM_CHUNK_BYTES;
    return rc;
  }
  r->reading = true;
  pthread_mutex_unlock(&r->lock);
  int rc = ttm_chunker_next(&r->chunker, &s->chunk, error);
  pthread_mutex_lock(&r->lock);
  r->reading = false;
  r->position = ttm_source_position(r->chunker.source);
  if (!rc) r->queue[r->read++ % r->queue_size] = s;
  return rc;
}

/* Reads and scans the next chunk if one can be had now. Called and returns with the lock held; false when there was nothing to
 * do. */
static bool scan_next(hand *h) {
  reader *r = h->reader;
  slot *s = r->reading || r->ended ? NULL : free_slot(h);
  if (!s) return false;
  ttm_error error = {0};
  int rc = read_next(r, s, &error);
  r->ended = r->ended || rc || s->chunk.last;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
  if (!rc) {
    rc = ttm_scanner_scan(&h->scanner, &s->chunk, &s->held);
    if (rc) ttm_error_nomem(&error);
  }
  pthread_mutex_lock(&r->lock);
  s->scanned = true;
  if (rc && !r->rc) {
    r->rc = rc;
    r->error = error;
    r->ended = true;
  }
  pthread_cond_broadcast(&r->changed);
  return true;
}

static void *scan_all(void *argument) {
  hand *h = argument;
  reader *r = h->reader;
  pthread_mutex_lock(&r->lock);
  while (!r->ended)
    if (!scan_next(h)) pthread_cond_wait(&r->changed, &r->lock);
  pthread_mutex_unlock(&r->lock);
  return NULL;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* TTM_ECANCELED when the caller has had enough. */
static int report_progress(const ttm_read_options *o, const ttm_source *source, uint64_t position, uint64_t operations,
                           double *reported_at, ttm_error *err) {
  if (!o->on_progress) return TTM_OK;
  double t = now();
  if (t - *reported_at < 0.1) return TTM_OK;
  *reported_at = t;
  uint64_t total = ttm_source_size(source);
  ttm_progress progress = {
      .read_bytes = total && position > total ? total : position, .total_bytes = total, .operations = operations};
  if (!o->on_progress(o->context, &progress)) return TTM_OK;
  return ttm_error_set(err, TTM_ECANCELED, "reading was canceled by the caller");
}

/* Joins the next chunk in order, which is scanned. Called and returns with the lock held. */
static void join_next(reader *r) {
  slot *s = r->queue[r->joined % r->queue_size];
  uint64_t position = r->position;
  bool over = r->over; /* what follows the last chunk was written while we read */
  pthread_mutex_unlock(&r->lock);
  ttm_error error = {0};
  int rc = over ? TTM_OK : ttm_builder_take(&r->builder, &s->chunk, &s->held);
  if (rc) ttm_error_nomem(&error);
  if (!rc)
    rc = report_progress(r->options, r->chunker.source, position, r->builder.profile->ops.n, &r->reported_at, &error);
  pthread_mutex_lock(&r->lock);
  if (rc && !r->rc) {
    r->rc = rc;
    r->error = error;
    r->ended = true;
  }
  r->over = r->over || s->chunk.last;
  s->scanned = s->taken = false;
  r->joined++;
  pthread_cond_broadcast(&r->changed);
}

/* The calling thread joins what is ready and helps scanning while nothing is. */
static void join_all(reader *r) {
  pthread_mutex_lock(&r->lock);
  while (!r->rc && !(r->ended && !r->reading && r->joined == r->read)) {
    if (r->joined < r->read && r->queue[r->joined % r->queue_size]->scanned)
      join_next(r);
    else if (!scan_next(&r->hands[0]))
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
  r->pieces = ttm_source_is_seekable(r->chunker.source);
  r->hand_count = threads;
  r->slots_per_hand = threads == 1 ? 1 : SLOTS_PER_THREAD; /* a single thread waits for nobody */
  r->queue_size = r->hand_count * r->slots_per_hand;
  r->hands = ttm_alloc(r->hand_count * sizeof *r->hands);
  r->queue = ttm_alloc(r->queue_size * sizeof *r->queue);
  if (!r->hands || !r->queue) r->rc = ttm_error_nomem(&r->error);
  for (unsigned i = 0; !r->rc && i < threads; i++) r->hands[i].reader = r;
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

/* ---- Captures ---------------------------------------------------------------------------------------------------------- */

static int read_nodes(ttm_capture_builder *b, ttm_capture_reader *nodes, const ttm_read_options *options,
                      ttm_error *err) {
  const ttm_capture_node *node;
  double reported_at = 0;
  ttm_profile *p = b->profile;
  for (uint32_t i = 1; (node = ttm_capture_next(nodes)); i++) {
    b->recording = nodes->facts.recording;
    if (ttm_capture_builder_take(b, node)) return ttm_error_nomem(err);
    if (i % 4096 == 0 && nodes->json.source) {
      const ttm_source *source = nodes->json.source;
      int rc = report_progress(options, source, ttm_source_position(source), p->ops.n, &reported_at, err);
      if (rc) return rc;
    }
  }
  if (nodes->cut && nodes->json.status != TTM_EFORMAT) {
    if (err) *err = nodes->json.io;
    return nodes->json.status == TTM_ENOMEM ? ttm_error_nomem(err) : nodes->json.status;
  }
  p->seen.bytes = ttm_json_position(&nodes->json);
  p->seen.lines = nodes->json.line;
  p->seen.cut = nodes->cut;
  if (ttm_capture_builder_finish(b, &nodes->facts)) return ttm_error_nomem(err);
  return p->kind == TTM_LOG_CAPTURE ? TTM_OK : ttm_profile_diagnose_capture(nodes, err);
}

/* A capture whose first bytes have been read already; `source` may be NULL when they are all of it. */
static int read_capture(ttm_profile **out, const char *path, ttm_source *source, ttm_str first,
                        const ttm_read_options *options, ttm_error *err) {
  ttm_capture_reader nodes;
  ttm_capture_builder builder;
  ttm_capture_init(&nodes, source, first);
  int rc =
      ttm_capture_builder_begin(&builder, path) ? ttm_error_nomem(err) : read_nodes(&builder, &nodes, options, err);
  ttm_profile *p = builder.profile;
  if (rc && rc != TTM_ENOMEM && err && err->message[0] && !err->line) err->line = nodes.json.line;
  ttm_capture_builder_free(&builder);
  ttm_capture_free(&nodes);
  if (rc)
    ttm_profile_free(p);
  else
    *out = p;
  return rc;
}

/* ---- Recordings of ttmem live ------------------------------------------------------------------------------------------ */

static int put_pieces(ttm_live_builder *b, ttm_chunker *chunker, const ttm_read_options *options, ttm_error *err) {
  ttm_chunk chunk = {0};
  double reported_at = 0;
  int rc = TTM_OK;
  while (!rc && !chunk.last) {
    rc = ttm_chunker_next(chunker, &chunk, err);
    if (!rc && ttm_live_builder_put(b, (ttm_str){chunk.data, chunk.n}, chunk.last)) rc = ttm_error_nomem(err);
    if (!rc)
      rc = report_progress(options, chunker->source, ttm_source_position(chunker->source), b->profile->ops.n,
                           &reported_at, err);
  }
  ttm_chunk_free(&chunk);
  return rc;
}

/* From the chunker, or, when that is NULL, from bytes that are all of it. */
static int read_live(ttm_profile **out, const char *path, ttm_chunker *chunker, ttm_str all,
                     const ttm_read_options *options, ttm_error *err) {
  ttm_live_builder builder;
  int rc = ttm_live_builder_begin(&builder, path) ? ttm_error_nomem(err) : TTM_OK;
  if (!rc && chunker) rc = put_pieces(&builder, chunker, options, err);
  if (!rc && !chunker && ttm_live_builder_put(&builder, all, true)) rc = ttm_error_nomem(err);
  if (!rc) rc = ttm_live_builder_finish(&builder, err);
  ttm_profile *p = builder.profile;
  ttm_live_builder_free(&builder);
  if (rc)
    ttm_profile_free(p);
  else
    *out = p;
  return rc;
}

/* ---- Files ------------------------------------------------------------------------------------------------------------- */

/* Reads the log behind r->chunker. */
static int read_log(ttm_profile **out, const char *path, reader *r, ttm_error *err) {
  ttm_profile *p = NULL;
  pthread_mutex_init(&r->lock, NULL);
  pthread_cond_init(&r->changed, NULL);
  int rc = ttm_builder_begin(&p, &r->builder, path, r->options->keep_ir) ? ttm_error_nomem(err) : TTM_OK;
  if (!rc) {
    rc = run(r, ttm_thread_count(r->options->threads));
    if (rc && err) *err = r->error;
  }
  if (!rc && ttm_source_damage(r->chunker.source)) p->seen.cut = true;
  if (!rc) rc = ttm_builder_end(&r->builder, err);
  ttm_builder_free(&r->builder);
  pthread_cond_destroy(&r->changed);
  pthread_mutex_destroy(&r->lock);
  if (rc)
    ttm_profile_free(p);
  else
    *out = p;
  return rc;
}

/* The first bytes, enough to tell what the input is; they wait in the chunker. */
static int look_ahead(ttm_chunker *chunker, ttm_error *err) {
  enum { LOOK = 4096 };
  ttm_buf *carry = &chunker->carry;
  size_t got = 1;
  while (carry->n < LOOK && got) {
    if (!ttm_buf_room(carry, LOOK)) return ttm_error_nomem(err);
    int rc = ttm_source_read(chunker->source, carry->at + carry->n, LOOK - carry->n, &got, err);
    if (rc) return rc;
    carry->n += got;
  }
  return TTM_OK;
}

int ttm_profile_read_opts(ttm_profile **out, const char *path, const ttm_read_options *given, ttm_error *err) {
  ttm_read_options options = TTM_READ_OPTIONS_INIT;
  reader r = {.options = &options};
  int rc = ttm_sized_take(&options, sizeof options, given, err);
  if (!rc) rc = ttm_source_open(&r.chunker.source, path, err);
  if (rc) return rc;
  rc = look_ahead(&r.chunker, err);
  ttm_str first = ttm_buf_str(&r.chunker.carry);
  if (!rc && ttm_live_record_detect(first))
    rc = read_live(out, path, &r.chunker, first, r.options, err);
  else if (!rc)
    rc = ttm_capture_detect(first) ? read_capture(out, path, r.chunker.source, first, r.options, err)
                                   : read_log(out, path, &r, err);
  ttm_chunker_free(&r.chunker);
  ttm_source_close(r.chunker.source);
  return rc;
}

int ttm_profile_read(ttm_profile **out, const char *path, ttm_error *err) {
  return ttm_profile_read_opts(out, path, NULL, err);
}

int ttm_profile_read_bytes(ttm_profile **out, const char *bytes, size_t n, const ttm_read_options *given,
                           ttm_error *err) {
  ttm_str all = {bytes, n};
  ttm_read_options options = TTM_READ_OPTIONS_INIT;
  int rc = ttm_sized_take(&options, sizeof options, given, err);
  if (rc) return rc;
  if (n && ttm_capture_detect(all)) return read_capture(out, "-", NULL, all, &options, err);
  if (n && ttm_live_record_detect(all)) return read_live(out, "-", NULL, all, &options, err);
  ttm_feed *feed;
  rc = ttm_feed_begin(&feed, "-", &options, err);
  if (rc) return rc;
  rc = ttm_feed_put(feed, bytes, n, err);
  if (!rc) return ttm_feed_end(feed, out, err);
  ttm_feed_free(feed);
  return rc;
}
