/* SPDX-License-Identifier: Apache-2.0 */
/* Random event streams against a plain list of what is alive; the relations of the documentation; threads; no allocation in
 * the steady state; every allocation refused in turn. This file defines the heap's door itself. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "ttmem/tracker.h"
#include "unit.h"

static atomic_long allocations;
static long allowed = -1; /* allocations that still succeed; below 0 all of them */

static bool refuse(void) {
  atomic_fetch_add(&allocations, 1);
  return allowed >= 0 && allowed-- == 0;
}
void *ttm_alloc(size_t size) { return refuse() ? NULL : calloc(1, size ? size : 1); }
void *ttm_realloc(void *old, size_t size) { return refuse() ? NULL : realloc(old, size ? size : 1); }
void *ttm_realloc_busy(void *old, size_t size) { return ttm_realloc(old, size); }
void ttm_free(void *p) { free(p); }

static uint64_t seed;
static uint64_t below(uint64_t n) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (seed >> 33) % n;
}

/* ---- Against a plain list ------------------------------------------------------------------------------------------ */

enum { MOST_ALIVE = 3000, GRID = 12 };
typedef struct alive {
  uint64_t id, bytes;
  ttm_memory memory;
} alive;

typedef struct oracle {
  alive list[MOST_ALIVE];
  size_t n;
  int64_t dram_at_start, l1_at_start; /* of the phase */
  int64_t dram_peak, l1_peak, core_peak;
  int64_t on_core[GRID][GRID];
  int64_t allocated, freed;
} oracle;

static int64_t sum(const oracle *o, bool dram) {
  int64_t s = 0;
  for (size_t i = 0; i < o->n; i++) {
    bool is_dram = o->list[i].memory == TTM_DRAM || o->list[i].memory == TTM_TRACE;
    if (is_dram == dram) s += (int64_t)o->list[i].bytes;
  }
  return s;
}

static void look(oracle *o) {
  int64_t dram = sum(o, true), l1 = sum(o, false), most = 0;
  if (dram - o->dram_at_start > o->dram_peak) o->dram_peak = dram - o->dram_at_start;
  if (l1 - o->l1_at_start > o->l1_peak) o->l1_peak = l1 - o->l1_at_start;
  for (int y = 0; y < GRID; y++) {
    for (int x = 0; x < GRID; x++) most = o->on_core[y][x] > most ? o->on_core[y][x] : most;
  }
  if (most + l1 > o->core_peak) o->core_peak = most + l1;
}

static void start(oracle *o) {
  o->dram_at_start = sum(o, true);
  o->l1_at_start = sum(o, false);
  o->dram_peak = o->l1_peak = o->core_peak = o->allocated = o->freed = 0;
  look(o);
}

static void one_event(ttm_tracker *t, oracle *o) {
  uint64_t what = below(20);
  if (what < 9 && o->n < MOST_ALIVE) {
    alive a = {below(1u << 30) << 32 | o->n | below(1u << 20) << 12, below(1u << 20), (ttm_memory)below(TTM_MEMORIES)};
    for (size_t i = 0; i < o->n; i++) {
      if (o->list[i].id == a.id) return;
    }
    assert_int_equal(ttm_tracker_buffer_allocated(t, a.id, a.memory, a.bytes, NULL), TTM_OK);
    o->list[o->n++] = a;
    if (a.memory == TTM_DRAM || a.memory == TTM_TRACE) o->allocated += (int64_t)a.bytes;
  } else if (what < 17 && o->n) {
    size_t i = below(o->n);
    alive a = o->list[i];
    ttm_tracker_buffer_deallocated(t, a.id);
    o->list[i] = o->list[--o->n];
    if (a.memory == TTM_DRAM || a.memory == TTM_TRACE) o->freed += (int64_t)a.bytes;
  } else if (what < 19) {
    uint32_t x0 = (uint32_t)below(GRID), y0 = (uint32_t)below(GRID);
    ttm_tracker_cores r = {x0, y0, x0 + (uint32_t)below(GRID - x0), y0 + (uint32_t)below(GRID - y0)};
    uint64_t bytes = below(65536);
    assert_int_equal(ttm_tracker_program_buffer(t, TTM_CIRCULAR_BUFFER, bytes, &r, 1, NULL), TTM_OK);
    for (uint32_t y = r.y0; y <= r.y1; y++) {
      for (uint32_t x = r.x0; x <= r.x1; x++) o->on_core[y][x] += (int64_t)bytes;
    }
  } else {
    ttm_tracker_program_buffers_deallocated(t);
    memset(o->on_core, 0, sizeof o->on_core);
  }
  look(o);
}

static void check_phase(ttm_tracker *t, const oracle *o) {
  ttm_phase_usage p, before = {0};
  size_t n = ttm_tracker_phase_count(t);
  assert_int_equal(ttm_tracker_phase(t, n - 1, &p, NULL), TTM_OK);
  if (n > 1) assert_int_equal(ttm_tracker_phase(t, n - 2, &before, NULL), TTM_OK);
  assert_int_equal(p.dram.peak, o->dram_peak);
  assert_int_equal(p.l1.peak_l1, o->l1_peak);
  assert_int_equal(p.l1.peak_core, o->core_peak);
  assert_int_equal(p.dram.total_allocations, o->allocated);
  assert_int_equal(p.dram.total_deallocations, o->freed);
  assert_int_equal(p.unknown_deallocations, 0);
  /* The relations of the documentation, and that the tracker knows what is really there. */
  int64_t change = p.dram.total_allocations - p.dram.total_deallocations;
  int64_t reached = before.cumulative_current + p.dram.peak;
  assert_int_equal(p.cumulative_current, before.cumulative_current + change);
  assert_int_equal(p.cumulative_peak, reached > before.cumulative_peak ? reached : before.cumulative_peak);
  assert_int_equal(p.cumulative_current, sum(o, true));
  assert_true(p.cumulative_peak >= p.cumulative_current);
  assert_true(p.dram.peak >= change && p.dram.peak <= p.dram.total_allocations);
  assert_true(p.l1.peak_total <= p.l1.peak_cb + p.l1.peak_l1);
}

static void random_streams(void **state) {
  (void)state;
  static oracle o;
  for (seed = 1; seed < 40; seed++) {
    uint64_t kept = seed;
    ttm_tracker *t;
    memset(&o, 0, sizeof o);
    assert_int_equal(ttm_tracker_new(&t, NULL), TTM_OK);
    assert_int_equal(ttm_tracker_begin(t, TTM_RUN_NORMAL, NULL), TTM_OK);
    for (int phase = 0; phase < 6; phase++) {
      start(&o);
      for (uint64_t events = below(400); events; events--) one_event(t, &o);
      assert_int_equal(ttm_tracker_snapshot(t, "P", NULL), TTM_OK);
      check_phase(t, &o);
    }
    ttm_tracker_free(t);
    seed = kept;
  }
}

/* ---- The heap ------------------------------------------------------------------------------------------------------ */

static void steady_state_allocates_nothing(void **state) {
  (void)state;
  ttm_tracker *t;
  ttm_tracker_cores r = {0, 0, 7, 7};
  long before = 0;
  assert_int_equal(ttm_tracker_new(&t, NULL), TTM_OK);
  assert_int_equal(ttm_tracker_begin(t, TTM_RUN_NORMAL, NULL), TTM_OK);
  for (uint64_t i = 0; i < 200000; i++) {
    if (i == 2000) before = atomic_load(&allocations);
    assert_int_equal(ttm_tracker_buffer_allocated(t, i * 64, TTM_DRAM, 4096, NULL), TTM_OK);
    if (i >= 1000) ttm_tracker_buffer_deallocated(t, (i - 1000) * 64);
    assert_int_equal(ttm_tracker_program_buffer(t, TTM_CIRCULAR_BUFFER, 2048, &r, 1, NULL), TTM_OK);
    if (i % 5 == 0) ttm_tracker_program_buffers_deallocated(t);
  }
  assert_int_equal(atomic_load(&allocations), before);
  ttm_tracker_free(t);
}

static bool whole_life(void) {
  ttm_tracker *t;
  bool fine = true;
  if (ttm_tracker_new(&t, NULL)) return false;
  fine &= !ttm_tracker_begin(t, TTM_RUN_NORMAL, NULL);
  for (uint64_t i = 0; i < 300; i++) fine &= !ttm_tracker_buffer_allocated(t, i, TTM_DRAM, 10, NULL);
  fine &= !ttm_tracker_snapshot(t, "A", NULL);
  fine &= !ttm_tracker_end(t, "B", NULL);
  char *text = ttm_tracker_text(t);
  fine &= text != NULL;
  ttm_text_free(text);
  ttm_tracker_free(t);
  return fine;
}

static void every_allocation_refused(void **state) {
  (void)state;
  long n = 0;
  for (bool fine = false; !fine; n++) {
    allowed = n;
    fine = whole_life();
    assert_true(n < 100);
  }
  allowed = -1;
  assert_true(n > 4); /* the tracker, its table twice, names, phases, text */
}

/* ---- Threads ------------------------------------------------------------------------------------------------------- */

enum { THREADS = 4, EVENTS = 20000 };

static void *worker(void *arg) {
  static atomic_uint number;
  uint64_t base = (uint64_t)atomic_fetch_add(&number, 1) << 40;
  ttm_tracker *t = arg;
  for (uint64_t i = 0; i < EVENTS; i++) {
    ttm_tracker_buffer_allocated(t, base + i, TTM_DRAM, 10, NULL);
    if (i % 2) ttm_tracker_buffer_deallocated(t, base + i - 1);
    if (i % 1000 == 0) ttm_tracker_snapshot(t, "X", NULL);
    if (i % 1000 == 500) ttm_text_free(ttm_tracker_text(t));
  }
  return NULL;
}

static void threads_lose_nothing(void **state) {
  (void)state;
  ttm_tracker *t;
  pthread_t threads[THREADS];
  ttm_phase_usage p;
  int64_t allocated = 0, freed = 0;
  assert_int_equal(ttm_tracker_new(&t, NULL), TTM_OK);
  assert_int_equal(ttm_tracker_begin(t, TTM_RUN_NORMAL, NULL), TTM_OK);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, worker, t), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  assert_int_equal(ttm_tracker_end(t, NULL, NULL), TTM_OK);
  size_t n = ttm_tracker_phase_count(t);
  assert_int_equal(n, THREADS * EVENTS / 1000 + 1);
  for (size_t i = 0; i < n; i++) {
    assert_int_equal(ttm_tracker_phase(t, i, &p, NULL), TTM_OK);
    allocated += p.dram.total_allocations;
    freed += p.dram.total_deallocations;
  }
  assert_int_equal(allocated, 10 * THREADS * EVENTS);
  assert_int_equal(freed, 10 * THREADS * EVENTS / 2);
  assert_int_equal(p.cumulative_current, allocated - freed);
  ttm_tracker_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_streams),
      cmocka_unit_test(steady_state_allocates_nothing),
      cmocka_unit_test(every_allocation_refused),
      cmocka_unit_test(threads_lose_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
