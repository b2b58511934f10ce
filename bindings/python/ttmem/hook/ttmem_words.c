/* SPDX-License-Identifier: Apache-2.0 */
#include "ttmem_words.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ENTRIES = 100000 };

void *ttmem_grown(void *at, size_t bytes) {
  void *more = realloc(at, bytes);
  if (!more) abort(); /* the program has no memory left either */
  return more;
}

void ttmem_add(words *w, uint64_t word) {
  if (w->n == w->room) w->at = ttmem_grown(w->at, (w->room = w->room * 2 + 64) * sizeof *w->at);
  w->at[w->n++] = word;
}

static uint64_t hash_of(const uint64_t *at, size_t n) {
  uint64_t hash = n;
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ at[i]) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 29;
  }
  return hash;
}

/* Where a row is or would be. */
static entry *place_of(const map *m, uint64_t hash, const uint64_t *at, size_t n) {
  for (size_t i = (size_t)hash;; i++) {
    entry *e = &m->entries[i & (m->room - 1)];
    if (!e->value || (e->hash == hash && e->n == n && !memcmp(e->at, at, n * sizeof *at))) return e;
  }
}

uint64_t ttmem_look_up(const map *m, const uint64_t *at, size_t n) {
  return m->room ? place_of(m, hash_of(at, n), at, n)->value : 0;
}

static void grow(map *m) {
  map old = *m;
  m->room = old.room ? old.room * 2 : 64;
  m->entries = ttmem_grown(NULL, m->room * sizeof *m->entries);
  memset(m->entries, 0, m->room * sizeof *m->entries);
  for (size_t i = 0; i < old.room; i++)
    if (old.entries[i].value) *place_of(m, old.entries[i].hash, old.entries[i].at, old.entries[i].n) = old.entries[i];
  free(old.entries);
}

void ttmem_set(map *m, const uint64_t *at, size_t n, uint64_t value) {
  if (m->count * 2 >= m->room) grow(m);
  entry *e = place_of(m, hash_of(at, n), at, n);
  if (!e->value) {
    if (m->count >= MOST_ENTRIES) return;
    *e = (entry){hash_of(at, n), value, ttmem_grown(NULL, n * sizeof *at + 1), n};
    memcpy(e->at, at, n * sizeof *at);
    m->count++;
  }
  e->value = value;
}

void ttmem_clear(map *m) {
  for (size_t i = 0; i < m->room; i++) free(m->entries[i].at);
  free(m->entries);
  *m = (map){NULL, 0, 0};
}
