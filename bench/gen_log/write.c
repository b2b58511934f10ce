/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on their way out: outer prefixes, line ends, foreign lines in between, several ranks woven into one log. */
#define _POSIX_C_SOURCE 200809L /* write, open */

#include "gen_log/gen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFER = 1 << 20 };

/* What one rank has said and is not in the log yet. */
typedef struct gen_queue {
  ttm_buf bytes;
  struct {
    struct {
      size_t n;
      gen_mark mark;
      gen_stream stream;
      gen_company company;
    } * at;
    size_t n, cap;
  } lines;
  size_t next_line, next_byte;
} gen_queue;

static void flush(gen_writer *w) {
  for (size_t done = 0; done < w->n;) {
    ssize_t n = write(w->fd, w->at + done, w->n - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) gen_die("cannot write the log: %s", strerror(errno));
    done += (size_t)n;
  }
  w->n = 0;
}

static void put(gen_writer *w, ttm_str bytes) {
  w->bytes += bytes.n;
  while (bytes.n) {
    if (w->n == BUFFER) flush(w);
    size_t n = BUFFER - w->n < bytes.n ? BUFFER - w->n : bytes.n;
    memcpy(w->at + w->n, bytes.p, n);
    w->n += n;
    bytes = ttm_str_from(bytes, n);
  }
}

void gen_writer_open(gen_writer *w, const gen_options *o) {
  *w = (gen_writer){.o = o, .fd = 1, .at = gen_alloc(BUFFER), .random = {o->seed ^ 0x6e6f697365u}};
  if (strcmp(o->out, "-")) w->fd = open(o->out, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (w->fd < 0) gen_die("cannot write %s: %s", o->out, strerror(errno));
  w->clock_us = 1000;
  w->glue_next = o->glue;
  if (o->ranks > 1) w->queues = gen_alloc(o->ranks * sizeof *w->queues);
}

void gen_writer_close(gen_writer *w) {
  flush(w);
  if (w->fd != 1 && close(w->fd)) gen_die("cannot write the log: %s", strerror(errno));
  for (uint32_t i = 0; w->queues && i < w->o->ranks; i++) {
    ttm_buf_free(&w->queues[i].bytes);
    ttm_vec_free(&w->queues[i].lines);
  }
  free(w->queues);
  free(w->at);
  ttm_vec_free(&w->numbers);
  ttm_buf_free(&w->scratch);
}

/* Tags that wrappers put before every line. */
static void put_outer(gen_writer *w, uint32_t rank, gen_stream stream) {
  char tag[64];
  w->clock_us += 1 + gen_below(&w->random, 90);
  if (w->o->ci_time) {
    uint64_t seconds = w->clock_us / 1000000;
    int n = snprintf(tag, sizeof tag, "2026-05-14T01:%02u:%02u.%07uZ ", (unsigned)(seconds / 60 % 60),
                     (unsigned)(seconds % 60), (unsigned)(w->clock_us % 1000000) * 10);
    put(w, (ttm_str){tag, (size_t)n});
  }
  if (w->o->ranks > 1) {
    int n = snprintf(tag, sizeof tag, "[1,%u]<%s>:", rank, stream == GEN_STDOUT ? "stdout" : "stderr");
    put(w, (ttm_str){tag, (size_t)n});
  }
}

static void end_line(gen_writer *w) {
  put(w, w->o->crlf ? TTM_LIT("\r\n") : TTM_LIT("\n"));
  w->lines++;
}

static void put_foreign(gen_writer *w, uint32_t rank, bool loguru) {
  ttm_buf_clear(&w->scratch);
  gen_foreign_line(w, loguru, &w->scratch);
  if (w->o->ranks == 1 || loguru || !gen_chance(&w->random, 20))
    put_outer(w, rank, GEN_STDERR); /* else mpirun's own words */
  put(w, ttm_buf_str(&w->scratch));
  end_line(w);
}

/* A progress bar is redrawn with \r and has no line end: the next line of the log stands right behind it. */
static void put_bar(gen_writer *w) {
  char bar[200];
  unsigned done = (unsigned)gen_below(&w->random, 25);
  int n =
      snprintf(bar, sizeof bar,
               "\rGenerating: %3u%%|\xe2\x96\x88\xe2\x96\x88\xe2\x96\x8f       | %u/25 [00:%02u<00:%02u,  1.93it/s]%s",
               done * 4, done, done / 2, (25 - done) / 2, gen_chance(&w->random, 50) ? "\r" : "");
  put(w, (ttm_str){bar, (size_t)n});
}

static uint64_t put_line(gen_writer *w, uint32_t rank, gen_stream stream, gen_company company, ttm_str text) {
  if (w->o->noise && company != GEN_NOBODY)
    while (gen_below(&w->random, 1000) < w->o->noise) put_foreign(w, rank, company == GEN_LOGURU);
  put_outer(w, rank, stream);
  if (company == GEN_ANYBODY && w->o->tqdm && gen_below(&w->random, 100) < 2) put_bar(w);
  if (company == GEN_ANYBODY && w->glue_next) {
    put(w, TTM_LIT("tests/torch/models/test_llama.py::test_llama[single_device-full-inference] "));
    w->glue_next = false;
  }
  put(w, text);
  end_line(w);
  return w->lines;
}

gen_mark gen_line(gen_writer *w, uint32_t rank, gen_stream stream, gen_company company, ttm_str text) {
  if (w->o->ranks == 1) return put_line(w, rank, stream, company, text);
  gen_queue *q = &w->queues[rank];
  gen_mark mark = w->numbers.n;
  ttm_buf_put(&q->bytes, text);
  if (ttm_vec_push(&w->numbers, 0) || ttm_vec_reserve(&q->lines, 1) || q->bytes.failed) gen_die("out of memory");
  size_t i = q->lines.n++;
  q->lines.at[i].n = text.n;
  q->lines.at[i].mark = mark;
  q->lines.at[i].stream = stream;
  q->lines.at[i].company = company;
  return mark;
}

void gen_line_cut(gen_writer *w, ttm_str text) {
  gen_weave(w);
  put_outer(w, 0, GEN_STDOUT);
  put(w, text);
  w->unfinished = true;
}

void gen_weave(gen_writer *w) {
  if (w->o->ranks == 1) return;
  uint32_t busy = w->o->ranks;
  while (busy) {
    uint32_t rank = (uint32_t)gen_below(&w->random, w->o->ranks);
    gen_queue *q = &w->queues[rank];
    if (q->next_line == q->lines.n) {
      busy = 0;
      for (uint32_t i = 0; i < w->o->ranks; i++) busy += w->queues[i].next_line < w->queues[i].lines.n;
      continue;
    }
    size_t i = q->next_line++, n = q->lines.at[i].n;
    w->numbers.at[q->lines.at[i].mark] =
        put_line(w, rank, q->lines.at[i].stream, q->lines.at[i].company, (ttm_str){q->bytes.at + q->next_byte, n});
    q->next_byte += n;
  }
  for (uint32_t i = 0; i < w->o->ranks; i++) {
    gen_queue *q = &w->queues[i];
    q->bytes.n = q->lines.n = q->next_line = q->next_byte = 0;
  }
}

uint64_t gen_line_number(const gen_writer *w, gen_mark mark) {
  return w->o->ranks == 1 ? mark : mark < w->numbers.n ? w->numbers.at[mark] : 0;
}

uint64_t gen_written(const gen_writer *w) {
  uint64_t n = w->bytes;
  for (uint32_t i = 0; w->queues && i < w->o->ranks; i++) n += w->queues[i].bytes.n;
  return n;
}
