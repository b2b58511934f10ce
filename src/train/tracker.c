/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "ttmem/tracker.h"

#include <pthread.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/intern.h"
#include "train/live_buffers.h"

/* What runs while a phase is open. */
typedef struct running {
  int64_t dram, l1;                     /* since the phase began */
  int64_t program[TTM_PROGRAM_BUFFERS]; /* since the phase began */
  ttm_phase_usage phase;
} running;

/* Program buffers by core; they outlive phases, until their program is over. */
typedef struct cores {
  int64_t on[TTM_TRACKER_CORE_LIMIT][TTM_TRACKER_CORE_LIMIT]; /* [y][x], without `everywhere` */
  int64_t everywhere;
  int64_t most;          /* the largest of `on` */
  uint32_t x_end, y_end; /* what has to be cleared */
} cores;

struct ttm_tracker {
  pthread_mutex_t lock;
  bool active;
  ttm_run_mode mode;
  running now;
  cores cores;
  int64_t l1_alive; /* since the capture began */
  ttm_live_buffers live;
  ttm_intern names; /* each with its NUL */
  TTM_VEC(ttm_phase_usage) phases;
};

/* ---- Making -------------------------------------------------------------------------------------------------------- */

int ttm_tracker_new(ttm_tracker **out, ttm_error *err) {
  ttm_tracker *t = ttm_alloc(sizeof *t);
  *out = NULL;
  if (!t || pthread_mutex_init(&t->lock, NULL)) {
    ttm_free(t);
    return ttm_error_nomem(err);
  }
  *out = t;
  return TTM_OK;
}

void ttm_tracker_free(ttm_tracker *t) {
  if (!t) return;
  pthread_mutex_destroy(&t->lock);
  ttm_live_buffers_free(&t->live);
  ttm_intern_free(&t->names);
  ttm_vec_free(&t->phases);
  ttm_free(t);
}

static void lock(ttm_tracker *t) { pthread_mutex_lock(&t->lock); }
static int unlock(ttm_tracker *t, int status) {
  pthread_mutex_unlock(&t->lock);
  return status;
}

/* ---- Sums ---------------------------------------------------------------------------------------------------------- */

static int64_t add(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? (b > 0 ? INT64_MAX : INT64_MIN) : r;
}

static int64_t size_of(uint64_t bytes) { return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes; }

static void raise_to(int64_t *peak, int64_t value) {
  if (value > *peak) *peak = value;
}

static bool is_dram(ttm_memory memory) { return memory == TTM_DRAM || memory == TTM_TRACE; }

static void raise_l1_peaks(ttm_tracker *t) {
  ttm_l1_usage *l1 = &t->now.phase.l1;
  const int64_t *program = t->now.program;
  int64_t total = add(t->now.l1, program[TTM_CIRCULAR_BUFFER]);
  total = add(add(total, program[TTM_DATAFLOW_BUFFER]), program[TTM_SCRATCHPAD]);
  raise_to(&l1->peak_cb, program[TTM_CIRCULAR_BUFFER]);
  raise_to(&l1->peak_dataflow_buffer, program[TTM_DATAFLOW_BUFFER]);
  raise_to(&l1->peak_scratchpad, program[TTM_SCRATCHPAD]);
  raise_to(&l1->peak_l1, t->now.l1);
  raise_to(&l1->peak_total, total);
  raise_to(&l1->peak_core, add(add(t->cores.most, t->cores.everywhere), t->l1_alive));
}

static void count_allocation(ttm_tracker *t, ttm_memory memory, int64_t bytes) {
  running *now = &t->now;
  now->phase.events++;
  if (is_dram(memory)) {
    now->phase.dram.total_allocations = add(now->phase.dram.total_allocations, bytes);
    now->dram = add(now->dram, bytes);
    raise_to(&now->phase.dram.peak, now->dram);
  } else {
    now->l1 = add(now->l1, bytes);
    t->l1_alive = add(t->l1_alive, bytes);
    raise_l1_peaks(t);
  }
}

static void count_deallocation(ttm_tracker *t, ttm_memory memory, int64_t bytes) {
  running *now = &t->now;
  now->phase.events++;
  if (is_dram(memory)) {
    now->phase.dram.total_deallocations = add(now->phase.dram.total_deallocations, bytes);
    now->dram = add(now->dram, -bytes);
  } else {
    now->l1 = add(now->l1, -bytes);
    t->l1_alive = add(t->l1_alive, -bytes);
  }
}

/* ---- Life cycle ---------------------------------------------------------------------------------------------------- */

static void clear_cores(cores *c) {
  for (uint32_t y = 0; y < c->y_end; y++) memset(c->on[y], 0, c->x_end * sizeof c->on[y][0]);
  c->everywhere = c->most = 0;
  c->x_end = c->y_end = 0;
}

/* tt-metal's captures know nothing of what went before, so each phase starts from 0. Cores that still hold something have
 * it at the start of the next phase too. */
static void start_phase(ttm_tracker *t) {
  t->now = (running){.phase.mode = t->mode};
  raise_to(&t->now.phase.l1.peak_core, add(add(t->cores.most, t->cores.everywhere), t->l1_alive));
}

static int finish_phase(ttm_tracker *t, const char *name) {
  ttm_phase_usage *phase = &t->now.phase;
  const ttm_phase_usage *before = t->phases.n ? &t->phases.at[t->phases.n - 1] : NULL;
  int64_t peak = before ? before->cumulative_peak : 0, current = before ? before->cumulative_current : 0;
  uint32_t id;
  if (ttm_intern_add(&t->names, (ttm_str){name, strlen(name) + 1}, &id)) return TTM_ENOMEM;
  phase->name = ttm_intern_get(&t->names, id).p;
  phase->cumulative_peak = peak;
  raise_to(&phase->cumulative_peak, add(current, phase->dram.peak));
  phase->cumulative_current = add(current, add(phase->dram.total_allocations, -phase->dram.total_deallocations));
  return ttm_vec_push(&t->phases, *phase);
}

int ttm_tracker_begin(ttm_tracker *t, ttm_run_mode mode, ttm_error *err) {
  lock(t);
  if (t->active) {
    return unlock(t, ttm_error_set(err, TTM_EUSAGE,
                                   "MemoryUsageTracker: Capture already active; end it before the next one begins"));
  }
  t->active = true;
  t->mode = mode;
  t->l1_alive = 0;
  clear_cores(&t->cores);
  ttm_live_buffers_clear(&t->live);
  start_phase(t);
  return unlock(t, TTM_OK);
}

int ttm_tracker_snapshot(ttm_tracker *t, const char *name, ttm_error *err) {
  lock(t);
  if (!t->active) {
    return unlock(t, ttm_error_set(err, TTM_EUSAGE,
                                   "MemoryUsageTracker: Cannot snapshot - capture is not active; begin one first"));
  }
  if (finish_phase(t, name)) return unlock(t, ttm_error_nomem(err));
  start_phase(t);
  return unlock(t, TTM_OK);
}

int ttm_tracker_end(ttm_tracker *t, const char *name, ttm_error *err) {
  lock(t);
  if (t->active && finish_phase(t, name ? name : "END_TRACE")) return unlock(t, ttm_error_nomem(err));
  t->active = false;
  return unlock(t, TTM_OK);
}

void ttm_tracker_clear(ttm_tracker *t) {
  lock(t);
  t->active = false;
  t->phases.n = 0;
  unlock(t, TTM_OK);
}

bool ttm_tracker_active(ttm_tracker *t) {
  lock(t);
  return unlock(t, t->active);
}

/* ---- Events -------------------------------------------------------------------------------------------------------- */

void ttm_tracker_allocated(ttm_tracker *t, ttm_memory memory, uint64_t bytes) {
  lock(t);
  if (t->active) count_allocation(t, memory, size_of(bytes));
  unlock(t, TTM_OK);
}

void ttm_tracker_deallocated(ttm_tracker *t, ttm_memory memory, uint64_t bytes) {
  lock(t);
  if (t->active) count_deallocation(t, memory, size_of(bytes));
  unlock(t, TTM_OK);
}

int ttm_tracker_buffer_allocated(ttm_tracker *t, uint64_t id, ttm_memory memory, uint64_t bytes, ttm_error *err) {
  ttm_live_buffer old;
  lock(t);
  if (!t->active) return unlock(t, TTM_OK);
  if (ttm_live_buffers_take(&t->live, id, &old)) count_deallocation(t, old.memory, size_of(old.bytes));
  if (ttm_live_buffers_add(&t->live, id, memory, bytes)) return unlock(t, ttm_error_nomem(err));
  count_allocation(t, memory, size_of(bytes));
  return unlock(t, TTM_OK);
}

void ttm_tracker_buffer_deallocated(ttm_tracker *t, uint64_t id) {
  ttm_live_buffer old;
  lock(t);
  if (t->active) {
    if (ttm_live_buffers_take(&t->live, id, &old))
      count_deallocation(t, old.memory, size_of(old.bytes));
    else
      t->now.phase.events++, t->now.phase.unknown_deallocations++;
  }
  unlock(t, TTM_OK);
}

static void place_on_cores(cores *c, int64_t bytes, const ttm_tracker_cores *range) {
  for (uint32_t y = range->y0; y <= range->y1; y++) {
    for (uint32_t x = range->x0; x <= range->x1; x++) {
      c->on[y][x] = add(c->on[y][x], bytes);
      raise_to(&c->most, c->on[y][x]);
    }
  }
  if (range->x1 >= c->x_end) c->x_end = range->x1 + 1;
  if (range->y1 >= c->y_end) c->y_end = range->y1 + 1;
}

static bool is_range(const ttm_tracker_cores *r) {
  return r->x0 <= r->x1 && r->y0 <= r->y1 && r->x1 < TTM_TRACKER_CORE_LIMIT && r->y1 < TTM_TRACKER_CORE_LIMIT;
}

int ttm_tracker_program_buffer(ttm_tracker *t, ttm_program_buffer kind, uint64_t bytes, const ttm_tracker_cores *on,
                               size_t ranges, ttm_error *err) {
  for (size_t i = 0; i < ranges; i++) {
    if (is_range(&on[i])) continue;
    return ttm_error_set(err, TTM_EUSAGE, "[%u-%u - %u-%u] is no range of cores: first to last, each below %d",
                         on[i].x0, on[i].y0, on[i].x1, on[i].y1, TTM_TRACKER_CORE_LIMIT);
  }
  if (kind >= TTM_PROGRAM_BUFFERS) return ttm_error_set(err, TTM_EUSAGE, "%d is no kind of program buffer", (int)kind);
  lock(t);
  if (t->active) {
    t->now.phase.events++;
    t->now.program[kind] = add(t->now.program[kind], size_of(bytes));
    for (size_t i = 0; i < ranges; i++) place_on_cores(&t->cores, size_of(bytes), &on[i]);
    if (!ranges) t->cores.everywhere = add(t->cores.everywhere, size_of(bytes));
    raise_l1_peaks(t);
  }
  return unlock(t, TTM_OK);
}

void ttm_tracker_program_buffers_deallocated(ttm_tracker *t) {
  lock(t);
  if (t->active) {
    t->now.phase.events++;
    memset(t->now.program, 0, sizeof t->now.program);
    clear_cores(&t->cores);
  }
  unlock(t, TTM_OK);
}

/* ---- Answers ------------------------------------------------------------------------------------------------------- */

size_t ttm_tracker_phase_count(ttm_tracker *t) {
  lock(t);
  size_t n = t->phases.n;
  unlock(t, TTM_OK);
  return n;
}

int ttm_tracker_phase(ttm_tracker *t, size_t index, ttm_phase_usage *out, ttm_error *err) {
  lock(t);
  if (index >= t->phases.n) {
    return unlock(t, ttm_error_set(err, TTM_EUSAGE, "MemoryUsageTracker: there is no phase %zu; %zu have ended", index,
                                   t->phases.n));
  }
  *out = t->phases.at[index];
  return unlock(t, TTM_OK);
}

int ttm_tracker_find(ttm_tracker *t, const char *name, ttm_phase_usage *out, ttm_error *err) {
  size_t found = 0;
  lock(t);
  for (size_t i = 0; i < t->phases.n; i++) {
    if (strcmp(t->phases.at[i].name, name) != 0) continue;
    if (!found++) *out = t->phases.at[i];
  }
  if (found == 1) return unlock(t, TTM_OK);
  if (!found) return unlock(t, ttm_error_set(err, TTM_ENODATA, "MemoryUsageTracker: Trace '%s' not found", name));
  return unlock(t,
                ttm_error_set(err, TTM_EUSAGE,
                              "MemoryUsageTracker: Trace '%s' is ambiguous: %zu phases have this name; take them all "
                              "and choose by position",
                              name, found));
}

static double mb(int64_t bytes) { return (double)bytes / (1024.0 * 1024.0); }

static void put_phase(ttm_buf *out, const ttm_phase_usage *p) {
  ttm_buf_printf(out, "--- %s ---\n", p->name);
  /* The change is the difference of two rounded quotients, as tt-train computes it: the last digit depends on it. */
  ttm_buf_printf(out,
                 "  DRAM: Segment Peak %.2f MB, Allocations %.2f MB, Deallocations %.2f MB, Segment Change %+.2f MB\n",
                 mb(p->dram.peak), mb(p->dram.total_allocations), mb(p->dram.total_deallocations),
                 mb(p->dram.total_allocations) - mb(p->dram.total_deallocations));
  ttm_buf_printf(out, "  DRAM: Cumulative Peak %.2f MB, Cumulative Current %.2f MB\n", mb(p->cumulative_peak),
                 mb(p->cumulative_current));
  ttm_buf_printf(out, "  L1: Peak CB %.2f MB, Peak Buffer %.2f MB, Peak Total %.2f MB\n", mb(p->l1.peak_cb),
                 mb(p->l1.peak_l1), mb(p->l1.peak_total));
}

char *ttm_tracker_text(ttm_tracker *t) {
  ttm_buf out = {0};
  lock(t);
  if (!t->phases.n) {
    ttm_buf_puts(&out, "WARNING: No traces captured\n");
  } else {
    const ttm_phase_usage *last = &t->phases.at[t->phases.n - 1];
    ttm_buf_puts(&out, "=== Memory Usage Summary ===\n\n");
    for (size_t i = 0; i < t->phases.n; i++) put_phase(&out, &t->phases.at[i]);
    ttm_buf_puts(&out, "\n=== Final Totals ===\n");
    ttm_buf_printf(&out, "Overall DRAM Peak: %.2f MB, Final DRAM Usage: %.2f MB\n\n", mb(last->cumulative_peak),
                   mb(last->cumulative_current));
  }
  unlock(t, TTM_OK);
  return ttm_buf_take(&out);
}
