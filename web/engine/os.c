/* SPDX-License-Identifier: Apache-2.0 */
/* base/os.h for WASI: as much of it as the engine needs. */
#include "base/os.h"
#include "base/spill.h"

#include <wasi/api.h>

void ttm_os_read_ahead(int fd) { (void)fd; }

struct timespec ttm_os_modified(const struct stat *st) {
  return st->st_mtim;
}

uint64_t ttm_os_memory_limit(void) { return UINT64_MAX; }

uint64_t ttm_os_random(void) {
  static uint64_t random;
  static bool drawn;
  if (!drawn) drawn = !__wasi_random_get((uint8_t *)&random, sizeof random);
  return random;
}

/* No disk to spill to. */
void *ttm_spill_new(size_t size, const void *from, size_t n) { return (void)size, (void)from, (void)n, NULL; }
size_t ttm_spill_size(const void *p) { return (void)p, 0; }
void *ttm_spill_grow(void *p, size_t size) { return (void)p, (void)size, NULL; }
void ttm_spill_free(void *p) { (void)p; }
