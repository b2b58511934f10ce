/* SPDX-License-Identifier: Apache-2.0 */
/* Live files as ttnn writes them, made by the test. */
#ifndef TTM_TESTS_SEGMENT_FIXTURE_H
#define TTM_TESTS_SEGMENT_FIXTURE_H

#include <stdio.h>
#include <time.h>

#include "parse/shm_segment.h"
#include "unit.h"

typedef struct segment {
  char bytes[TTM_SHM_BYTES];
} segment;

static inline void segment_put(segment *s, size_t at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) s->bytes[at + (size_t)i] = (char)(value >> 8 * i);
}

static inline uint64_t segment_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void segment_init(segment *s, uint64_t asic_id, uint32_t device_id) {
  memset(s, 0, sizeof *s);
  segment_put(s, 0, TTM_SHM_VERSION, 4);
  segment_put(s, 32, asic_id, 8);
  segment_put(s, 40, device_id, 4);
  for (size_t i = 0; i < 16; i++) segment_put(s, 88 + 48 * i, 0xFFFFFFFF, 4);
}

/* Slot `i`, with the totals it adds to. */
static inline void segment_slot(segment *s, size_t i, int32_t pid, uint64_t updated_ns, const char *name, uint64_t dram,
                                uint64_t l1, uint64_t cb) {
  size_t at = 856 + 120 * i;
  segment_put(s, at, (uint32_t)pid, 4);
  segment_put(s, at + 8, dram, 8);
  segment_put(s, at + 16, l1, 8);
  segment_put(s, at + 40, cb, 8);
  segment_put(s, at + 48, updated_ns, 8);
  memset(s->bytes + at + 56, 0, 64);
  memcpy(s->bytes + at + 56, name, strlen(name) < 64 ? strlen(name) : 64);
}

static inline void segment_total(segment *s, ttm_use use, uint64_t bytes) {
  segment_put(s, 48 + 8 * (size_t)use, bytes, 8);
}

static inline void segment_write(const segment *s, const char *dir, uint64_t asic_id, size_t bytes) {
  char path[300];
  snprintf(path, sizeof path, "%s/tt_device_%llu_memory", dir, (unsigned long long)asic_id);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(s->bytes, 1, bytes, file), bytes);
  fclose(file);
}

#endif
