/* SPDX-License-Identifier: Apache-2.0 */
/* What recording one event costs, beside a malloc/free pair on the same machine. Prints a markdown table. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ttmem/tracker.h"

enum { ROUNDS = 5, TIMES = 2000000, ALIVE = 4096 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A pair of events each. */
static void by_malloc(ttm_tracker *t) {
  (void)t;
  static void *alive[ALIVE];
  for (size_t i = 0; i < TIMES; i++) {
    free(alive[i % ALIVE]);
    alive[i % ALIVE] = malloc(64 + i % 512);
  }
}

static void by_size(ttm_tracker *t) {
  for (size_t i = 0; i < TIMES; i++) {
    ttm_tracker_allocated(t, TTM_DRAM, 2048 + i % 512);
    ttm_tracker_deallocated(t, TTM_DRAM, 2048 + i % 512);
  }
}

static void by_id(ttm_tracker *t) {
  for (size_t i = 0; i < TIMES; i++) {
    ttm_tracker_buffer_deallocated(t, (uint64_t)(i % ALIVE) * 2048);
    ttm_tracker_buffer_allocated(t, (uint64_t)(i % ALIVE) * 2048, TTM_DRAM, 2048 + i % 512, NULL);
  }
}

static void by_program(ttm_tracker *t) {
  ttm_tracker_cores cores = {0, 0, 7, 7};
  for (size_t i = 0; i < TIMES; i++) {
    ttm_tracker_program_buffer(t, TTM_CIRCULAR_BUFFER, 4096, &cores, 1, NULL);
    ttm_tracker_program_buffers_deallocated(t);
  }
}

/* Nanoseconds of the fastest round per pair. */
static double measure(void (*work)(ttm_tracker *), ttm_tracker *t) {
  double best = 1e300;
  for (int i = 0; i < ROUNDS; i++) {
    double start = now();
    work(t);
    double took = (now() - start) / TIMES;
    if (took < best) best = took;
  }
  return best;
}

int main(void) {
  static const struct {
    const char *name;
    void (*work)(ttm_tracker *);
  } rows[] = {
      {"malloc + free, 4096 alive", by_malloc},
      {"allocated + deallocated, by size", by_size},
      {"allocated + deallocated, by id, 4096 alive", by_id},
      {"circular buffer on 64 cores + free all", by_program},
  };
  ttm_tracker *t;
  double base = 0;
  if (ttm_tracker_new(&t, NULL) || ttm_tracker_begin(t, TTM_RUN_NORMAL, NULL)) return 1;
  printf("| a pair of events | ns per event | to malloc + free |\n|---|---|---|\n");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double took = measure(rows[i].work, t);
    if (!i) base = took;
    printf("| %s | %.1f | %.2f |\n", rows[i].name, took / 2, took / base);
  }
  ttm_tracker_free(t);
  return 0;
}
