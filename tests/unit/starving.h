/* SPDX-License-Identifier: Apache-2.0 */
/* A heap that refuses on demand. A test that includes this defines the heap's door (base/alloc.h) itself, so the linker leaves
 * src/base/alloc.c out of its program. starve_walk() refuses every allocation of a piece of work in turn, once alone and once with
 * all that follow it, and sees that no block is kept.
 *
 * A walk of many allocations takes even steps, other ones each way; with TTMEM_STARVE=all (make starve) it leaves out none,
 * with a number it takes that many. */
#ifndef TTM_TESTS_STARVING_H
#define TTM_TESTS_STARVING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/alloc.h"
#include "unit.h"

#define STARVE_PLENTY (1L << 40)
#ifndef STARVE_RUNS
#define STARVE_RUNS 60 /* of a walk that may leave some out */
#endif

/* Atomic: reading, writing and serving use threads. */
static atomic_long starve_allowed = STARVE_PLENTY; /* allocations that still succeed */
static atomic_long starve_alive;                   /* blocks not given back */
static bool starve_alone;                          /* one is refused and the next succeed again, or all from there on */
static bool starve_tracing;                        /* says where the first refusal is */
static pthread_t starve_walker;                    /* who walks */
static atomic_bool starve_elsewhere;               /* another thread has allocated too */

/* Present under ASan only. */
void __sanitizer_print_stack_trace(void) __attribute__((weak));

static inline bool starve_refuse(void) {
  if (!pthread_equal(pthread_self(), starve_walker)) starve_elsewhere = true;
  long left = atomic_fetch_sub(&starve_allowed, 1);
  if (starve_tracing && left == 0 && __sanitizer_print_stack_trace) __sanitizer_print_stack_trace();
  return starve_alone ? left == 0 : left <= 0;
}

void *ttm_alloc(size_t size) {
  void *p = starve_refuse() ? NULL : calloc(1, size ? size : 1);
  if (p) starve_alive++;
  return p;
}

void *ttm_realloc(void *old, size_t size) {
  void *p = starve_refuse() ? NULL : realloc(old, size ? size : 1);
  if (p && !old) starve_alive++;
  return p;
}

void *ttm_realloc_busy(void *old, size_t size) { return ttm_realloc(old, size); }

void ttm_free(void *p) {
  if (p) starve_alive--;
  free(p);
}

static inline long starve_step(long used) {
  const char *runs = getenv("TTMEM_STARVE");
  if (runs && !strcmp(runs, "all")) return 1;
  return 1 + used / (runs && atol(runs) > 0 ? atol(runs) : STARVE_RUNS);
}

/* Does its work with the allocations that `allowed` grants, and judges what came of it. The first call has plenty; false says that
 * the judgement was bad, and why has been printed. */
typedef bool starve_work(void *context, bool plenty);

static inline bool starve_once(starve_work *work, void *context, long allowed) {
  long kept = starve_alive;
  starve_allowed = allowed;
  bool fine = work(context, allowed == STARVE_PLENTY);
  if (starve_alive == kept) return fine;
  fprintf(stderr, "%ld blocks are kept\n", (long)starve_alive - kept);
  return false;
}

static inline void starve_walk(starve_work *work, void *context) {
  starve_walker = pthread_self();
  starve_elsewhere = false;
  for (int way = 0; way < 2; way++) {
    starve_alone = way;
    assert_true(starve_once(work, context, STARVE_PLENTY));
    long used = STARVE_PLENTY - starve_allowed, step = starve_step(used), left = -1;
    assert_true(used > 0);
    for (long n = way * step / 2; left < 0; n += step) {
      bool fine = starve_once(work, context, n);
      left = starve_allowed;
      if (!fine) { /* once more, to see where */
        starve_tracing = true;
        starve_once(work, context, n);
        starve_tracing = false;
        starve_allowed = STARVE_PLENTY;
        fail_msg("allocation %ld of %ld refused, %s", n, used, way ? "alone" : "and all after it");
      }
    }
    starve_allowed = STARVE_PLENTY;
    if (getenv("TTMEM_TEST_VERBOSE")) print_message("%6ld allocations, every %ld. refused\n", used, step);
  }
}

#endif
