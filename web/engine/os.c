/* SPDX-License-Identifier: Apache-2.0 */
/* base/os.h for WASI: as much of it as the engine needs. */
#include "base/os.h"

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
