/* SPDX-License-Identifier: Apache-2.0 */
/* Mutations of logs and other texts of lines. Blocks of lines are said twice, dropped, moved and cut as crashes and several ranks
 * on one terminal do it; numbers become extreme; names, types and ranks become others of the same text. */
#include "mutate.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
  uint8_t *at;
  size_t n, max;
  uint64_t random;
} text;

typedef struct span {
  size_t from, to;
} span;

/* Nothing happens when the result would be too large, or without memory. */
static void replace(text *t, span cut, const void *bytes, size_t n) {
  size_t left = t->n - (cut.to - cut.from);
  uint8_t *copy = n && n <= t->max && left <= t->max - n ? malloc(n) : NULL; /* bytes may lie in t */
  if (n && !copy) return;
  if (n) memcpy(copy, bytes, n);
  memmove(t->at + cut.from + n, t->at + cut.to, t->n - cut.to);
  if (n) memcpy(t->at + cut.from, copy, n);
  t->n = left + n;
  free(copy);
}

static size_t line_start(const text *t, size_t at) {
  while (at && t->at[at - 1] != '\n') at--;
  return at;
}

static size_t line_end(const text *t, size_t at) {
  const uint8_t *end = at < t->n ? memchr(t->at + at, '\n', t->n - at) : NULL;
  return end ? (size_t)(end - t->at) + 1 : t->n;
}

/* Mostly one line, sometimes up to 16. */
static span some_lines(text *t) {
  span s = {line_start(t, mutate_below(&t->random, t->n)), 0};
  s.to = line_end(t, s.from);
  for (size_t more = mutate_below(&t->random, 3) ? 0 : mutate_below(&t->random, 16); more; more--)
    s.to = line_end(t, s.to);
  return s;
}

static void say_again(text *t) {
  span s = some_lines(t);
  for (size_t times = mutate_below(&t->random, 16) ? 1 : mutate_below(&t->random, 64); times; times--)
    replace(t, (span){s.to, s.to}, t->at + s.from, s.to - s.from);
}

static void drop(text *t) { replace(t, some_lines(t), NULL, 0); }

/* To another line, or as another rank does it, into the middle of one. */
static void move(text *t) {
  span s = some_lines(t);
  size_t n = s.to - s.from, to = mutate_below(&t->random, t->n - n + 1);
  uint8_t *lines = malloc(n ? n : 1);
  if (!lines) return;
  memcpy(lines, t->at + s.from, n);
  replace(t, s, NULL, 0);
  if (mutate_below(&t->random, 4)) to = line_start(t, to);
  replace(t, (span){to, to}, lines, n);
  free(lines);
}

/* From the middle of a line to the end of it, to the middle of a later one, or to the end of the text. */
static void cut(text *t) {
  size_t from = mutate_below(&t->random, t->n), lines = mutate_below(&t->random, 3), to = line_end(t, from);
  if (lines) to = from + mutate_below(&t->random, (lines == 1 ? to : t->n) - from) + 1;
  replace(t, (span){from, mutate_below(&t->random, 16) ? to : t->n}, NULL, 0);
}

/* ---- Words: numbers, words, and names by their sigil (%ssa #alias @function !type) ---- */

static bool in_word(uint8_t c) { return isalnum(c) || c == '_' || c == '.'; }

static int kind_of(uint8_t first) { return isdigit(first) ? '0' : isalpha(first) ? 'a' : first; }

/* The first word at or behind a place; the first of the text behind the last. `kind` 0: of any kind. */
static bool some_word(text *t, int kind, span *out) {
  size_t start = mutate_below(&t->random, t->n);
  for (size_t i = 0; i < t->n; i++) {
    size_t at = (start + i) % t->n, end = at + (strchr("%#@!", t->at[at]) != NULL && t->at[at]);
    if (at && in_word(t->at[at - 1])) continue;
    if (kind && kind_of(t->at[at]) != kind) continue;
    while (end < t->n && in_word(t->at[end])) end++;
    *out = (span){at, end};
    if (end > at) return true;
  }
  return false;
}

static void other_word(text *t) {
  span old, new;
  if (some_word(t, 0, &old) && some_word(t, kind_of(t->at[old.from]), &new))
    replace(t, old, t->at + new.from, new.to - new.from);
}

static void known_word(text *t) {
  static const char *const words[] = {"bf16",       "f32",      "bfp_bf8", "si32", "tile",           "dram",
                                      "l1",         "l1_small", "trace",   "main", "height_sharded", "block_sharded",
                                      "deallocate", "none",     "inf",     "nan"};
  const char *word = words[mutate_below(&t->random, sizeof words / sizeof *words)];
  span old;
  if (some_word(t, 'a', &old)) replace(t, old, word, strlen(word));
}

static void extreme_number(text *t) {
  static const char *const numbers[] = {"0",
                                        "1",
                                        "-1",
                                        "0.000",
                                        "31",
                                        "33",
                                        "2147483647",
                                        "2147483648",
                                        "4294967295",
                                        "4294967296",
                                        "9007199254740993",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "1e308",
                                        "1e999",
                                        "0x7fffffffffffffff",
                                        "99999999999.999",
                                        "0.0000000000000000001",
                                        "007",
                                        "1x18446744073709551615x32"};
  const char *number = numbers[mutate_below(&t->random, sizeof numbers / sizeof *numbers)];
  span old;
  if (some_word(t, '0', &old)) replace(t, old, number, strlen(number));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
  static void (*const mutations[])(text *) = {say_again,  drop,       move,       cut,
                                              other_word, other_word, known_word, extreme_number};
  text t = {data, size, max, seed};
  if (!size || !mutate_below(&t.random, 3)) return LLVMFuzzerMutate(data, size, max);
  for (size_t steps = 1 + mutate_below(&t.random, 4); steps && t.n; steps--)
    mutations[mutate_below(&t.random, sizeof mutations / sizeof *mutations)](&t);
  return t.n;
}

/* Lines of both in turn, as two ranks print them. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max, unsigned seed) {
  text from[2] = {{(uint8_t *)a, a_size, max, 0}, {(uint8_t *)b, b_size, max, 0}};
  text joined = {out, 0, max, seed};
  size_t read[2] = {0, 0};
  for (size_t which = 0; read[0] < a_size || read[1] < b_size; which = !which) {
    for (size_t lines = 1 + mutate_below(&joined.random, 8); lines; lines--) {
      size_t end = line_end(&from[which], read[which]), n = end - read[which];
      if (n > max - joined.n) return joined.n;
      if (n) memcpy(out + joined.n, from[which].at + read[which], n);
      joined.n += n;
      read[which] = end;
    }
  }
  return joined.n;
}
