/* SPDX-License-Identifier: Apache-2.0 */
/* The loader of logs: chunks are read in order, scanned by several threads, and joined in order. */
#define _POSIX_C_SOURCE 200809L
#include "profile/load/log.h"

#include <pthread.h>

#include "base/error.h"
#include "base/os.h"
#include "base/threads.h"
#include "profile/load/load.h"

enum { SLOTS_PER_THREAD = 4, FRAME_SLOTS_PER_THREAD = 2, MOST_FRAME_THREADS = 8 };
/* Chunks for which a thread is woken: waking it for each takes as long as scanning it. */
enum { WORTH_WAKING = 2 };

/* A chunk and what it held. */
typedef struct slot {
  struct hand *hand;
  ttm_chunk chunk;
  ttm_scanned held;
  bool scanned; /* ready to be joined */
  /* Of frames, whose text may begin and end anywhere: */
  ttm_frames frames; /* whose text the chunk is; none: it was read */
  const char *damage;
  bool inside;        /* the chunk before may have ended inside a line */
  ttm_str head, tail; /* parts of lines around the chunk, which the thread that joins puts together */
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
  bool frames;                    /* it is read by frames so far */
  bool over;                      /* the last chunk was joined */
  bool ended;                     /* the last chunk was read, or something failed */
  uint64_t read, claimed, joined; /* chunks: claimed by the thread that scans them */
  uint64_t position;              /* of the source */
  int rc;
  ttm_error error;
  /* Of the calling thread: */
  ttm_buf line; /* that began in frames before */
  ttm_scanned line_held;
  const char *damage; /* of frames */
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

/* Frames are only read here, and decompressed by the thread that scans them. */
static int read_chunk(ttm_chunker *chunker, slot *s, bool frames, ttm_error *error) {
  s->head = s->tail = (ttm_str){0};
  ttm_buf_clear(&s->frames.stored);
  int rc = frames ? ttm_source_take_frames(chunker->source, &s->frames, error) : TTM_OK;
  return rc || s->frames.stored.n ? rc : ttm_chunker_next(chunker, &s->chunk, error);
}

/* Leaves the whole lines in the chunk. */
static void split_ends(slot *s) {
  ttm_chunk *c = &s->chunk;
  ttm_str text = {c->data, c->n};
  if (s->inside) {
    s->head = text;
    ttm_str_take_to(&text, '\n');
    s->head.n -= text.n;
  }
  if (s->frames.stored.n && !c->last) {
    size_t end = ttm_str_find_last(text, '\n');
    s->tail = ttm_str_from(text, end == TTM_NOT_FOUND ? 0 : end + 1);
    text.n -= s->tail.n;
  }
  c->data = text.p;
  c->n = text.n;
  c->cut_line = text.n && text.p[text.n - 1] != '\n';
}

/* Scans the slot's chunk, of a file after reading it. Called and returns with the lock held. */
static void scan(hand *h, slot *s, uint64_t number) {
  reader *r = h->reader;
  ttm_error error = {0};
  pthread_mutex_unlock(&r->lock);
  int rc = r->pieces            ? ttm_chunk_read(&s->chunk, r->input->chunker.source, number, &error)
           : s->frames.stored.n ? ttm_chunk_unpack(&s->chunk, &s->frames, &s->damage, &error)
                                : TTM_OK;
  if (!rc && (s->inside || s->frames.stored.n)) split_ends(s);
  if (!rc && (rc = ttm_scanner_scan(&h->scanner, &s->chunk, &s->held))) ttm_error_nomem(&error);
  pthread_mutex_lock(&r->lock);
  s->scanned = true;
  stop(r, rc, &error);
  r->ended = r->ended || s->chunk.last;
  if (r->ended || r->queue[r->joined % r->queue_size] == s) pthread_cond_broadcast(&r->changed);
}

/* Reads the next chunk if that can be done now. Called and returns with the lock held; false when there was nothing to do. */
static bool read_next(hand *h) {
  reader *r = h->reader;
  slot *s = r->reading || r->ended ? NULL : take_slot(h);
  if (!s) return false;
  ttm_error error = {0};
  bool frames = r->frames;
  s->inside = frames && r->read > 0;
  r->reading = true;
  pthread_mutex_unlock(&r->lock);
  int rc = read_chunk(&r->input->chunker, s, frames, &error);
  pthread_mutex_lock(&r->lock);
  r->reading = false;
  r->frames = frames = s->frames.stored.n;
  r->position = ttm_source_position(r->input->chunker.source);
  stop(r, rc, &error);
  r->ended = r->ended || s->chunk.last;
  if (!rc) r->queue[r->read++ % r->queue_size] = s;
  if (r->ended || frames || r->read - r->claimed >= WORTH_WAKING) pthread_cond_broadcast(&r->changed);
  if (frames && !rc) scan(h, s, r->claimed++);
  return true;
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

/* The line that began in frames before, if the chunk brings its end. */
static int join_line(reader *r, const slot *s) {
  ttm_buf *line = &r->line;
  ttm_buf_put(line, s->head);
  bool whole = line->n && line->at[line->n - 1] == '\n';
  ttm_chunk chunk = {.data = line->at, .n = line->n, .last = s->chunk.last && !s->chunk.n, .cut_line = !whole};
  if (line->failed) return TTM_ENOMEM;
  if (!line->n || !(whole || s->chunk.last || line->n >= TTM_LONGEST_LINE)) return TTM_OK;
  ttm_buf_clear(line);
  int rc = ttm_scanner_scan(&r->hands[0].scanner, &chunk, &r->line_held);
  return rc ? rc : ttm_log_take(&r->log, &chunk, &r->line_held);
}

static int join(reader *r, const slot *s) {
  int rc = s->inside ? join_line(r, s) : TTM_OK;
  if (!rc) rc = ttm_log_take(&r->log, &s->chunk, &s->held);
  ttm_buf_put(&r->line, s->tail);
  if (!r->damage) r->damage = s->damage;
  return rc || r->line.failed ? TTM_ENOMEM : TTM_OK;
}

/* Joins the next chunk in order, which is scanned. Called and returns with the lock held. */
static void join_next(reader *r) {
  slot *s = r->queue[r->joined % r->queue_size];
  uint64_t position = r->position;
  bool over = r->over; /* what follows the last chunk was written while we read */
  pthread_mutex_unlock(&r->lock);
  ttm_error error = {0};
  int rc = over ? TTM_OK : join(r, s);
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
    ttm_frames_free(&h->slots[i].frames);
  }
  ttm_scanner_free(&h->scanner);
}

/* How much text a frame may hold: what threads work on stays far below the memory that is allowed. */
static size_t largest_frame(unsigned threads) {
  enum { MOST_TEXT = 160 * 1024 * 1024, LARGEST = 32 * 1024 * 1024 };
  uint64_t text = ttm_os_memory_limit() / 4;
  size_t each = (text < MOST_TEXT ? (size_t)text : MOST_TEXT) / threads / FRAME_SLOTS_PER_THREAD;
  return each < LARGEST ? each : LARGEST;
}

static int choose_way(reader *r, unsigned threads) {
  ttm_chunker *chunker = &r->input->chunker;
  r->hand_count = threads;
  r->slots_per_hand = threads == 1 ? 1 : SLOTS_PER_THREAD; /* a single thread waits for nobody */
  r->pieces = ttm_source_is_seekable(chunker->source);
  if (threads == 1) return TTM_OK;
  unsigned fewer = threads < MOST_FRAME_THREADS ? threads : MOST_FRAME_THREADS;
  int rc = ttm_source_split(chunker->source, largest_frame(fewer), &r->frames, &r->error);
  if (rc || !r->frames) return rc;
  r->hand_count = fewer;
  r->slots_per_hand = FRAME_SLOTS_PER_THREAD;
  ttm_buf_clear(&chunker->carry); /* comes again */
  return TTM_OK;
}

static int run(reader *r, unsigned threads) {
  pthread_t others[TTM_MOST_THREADS];
  unsigned started = 0;
  r->rc = choose_way(r, threads);
  threads = r->hand_count;
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
  ttm_buf_free(&r->line);
  ttm_scanned_free(&r->line_held);
  ttm_source_set_damage(r->input->chunker.source, r->damage);
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
