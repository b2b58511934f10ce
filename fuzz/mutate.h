/* SPDX-License-Identifier: Apache-2.0 */
/* What the mutators that know a structure share: libFuzzer's doors, and chance that a seed repeats. */
#ifndef TTM_FUZZ_MUTATE_H
#define TTM_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Called by the fuzzer: changes data in place and returns its new size, at most `max`. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max, unsigned seed);
/* Given by the fuzzer: its own mutations of bytes. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

static inline size_t mutate_below(uint64_t *random, size_t limit) { /* splitmix64: good from any seed */
  uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return limit ? (size_t)((z ^ (z >> 31)) % limit) : 0;
}

#endif
