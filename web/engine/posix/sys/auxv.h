/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel hands a process elsewhere: here only 16 random bytes, the same at every call. */
#ifndef TTM_ENGINE_AUXV_H
#define TTM_ENGINE_AUXV_H

#include <stdbool.h>
#include <wasi/api.h>

enum { AT_RANDOM = 25 };

static inline unsigned long getauxval(unsigned long type) {
  static uint8_t random[16];
  static bool drawn;
  if (!drawn) drawn = !__wasi_random_get(random, sizeof random);
  return drawn && type == AT_RANDOM ? (unsigned long)random : 0;
}

#endif
