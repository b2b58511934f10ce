/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of words that can be looked up, for ttmem_calls.c. */
#ifndef TTMEM_WORDS_H
#define TTMEM_WORDS_H

#include <stddef.h>
#include <stdint.h>

typedef struct words {
  uint64_t *at;
  size_t n, room;
} words;

typedef struct entry {
  uint64_t hash, value; /* value 0: none is here */
  uint64_t *at;
  size_t n;
} entry;

typedef struct map {
  entry *entries;
  size_t count, room; /* a power of two */
} map;

void *ttmem_grown(void *at, size_t bytes); /* realloc that never fails */
void ttmem_add(words *w, uint64_t word);
uint64_t ttmem_look_up(const map *m, const uint64_t *at, size_t n);   /* 0: not known */
void ttmem_set(map *m, const uint64_t *at, size_t n, uint64_t value); /* a map that is full stays as it is */
void ttmem_clear(map *m);

#endif
