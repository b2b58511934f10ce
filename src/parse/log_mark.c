/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/log_mark.h"

#include "parse/log_line.h"

#if defined(__x86_64__) && defined(__GLIBC__)
#include <immintrin.h>
#endif

/* The first three bytes of every mark, with the bit of its bucket. Two marks of a bucket also let through what mixes their bytes: they are
 * put together so that logs hold little of it. */
/* clang-format off */
enum { LOGURU = 128 };
#define STARTS(X, n)                                                                               \
  X(n, 'C', 'i', 'r', 1)  X(n, ' ', '|', ' ', 1)  X(n, 'F', 'i', 'l', 1)                           \
  X(n, 'S', 't', 'a', 2)                                                                           \
  X(n, 'H', 'R', 'O', 4)  X(n, 'C', 'r', 'e', 4)  X(n, 'E', '_', 'E', 4)  X(n, 'U', 'A', 'l', 4)   \
  X(n, '_', 'A', 'S', 8)  X(n, 'y', ':', ' ', 8)  X(n, 'y', 'E', 'r', 8)                           \
  X(n, 'F', 'A', 'T', 16) X(n, ' ', 'M', 'o', 16) X(n, ' ', 'M', 'O', 16)                          \
  X(n, 'i', 't', 'i', 32) X(n, 'd', '_', 'a', 32)                                                  \
  X(n, 't', 'o', 'o', 64) X(n, 'u', 'g', 'e', 64)                                                  \
  X(n, 's', ')', ' ', LOGURU)
/* clang-format on */

/* The buckets of the marks whose byte has this low or high half. */
#define LOW_1(n, a, b, c, bit) | (((a)&15) == (n) ? (bit) : 0)
#define LOW_2(n, a, b, c, bit) | (((b)&15) == (n) ? (bit) : 0)
#define LOW_3(n, a, b, c, bit) | (((c)&15) == (n) ? (bit) : 0)
#define HIGH_1(n, a, b, c, bit) | ((a) >> 4 == (n) ? (bit) : 0)
#define HIGH_2(n, a, b, c, bit) | ((b) >> 4 == (n) ? (bit) : 0)
#define HIGH_3(n, a, b, c, bit) | ((c) >> 4 == (n) ? (bit) : 0)
#define BUCKETS(X)                                                                                                  \
  {                                                                                                                 \
    0 STARTS(X, 0), 0 STARTS(X, 1), 0 STARTS(X, 2), 0 STARTS(X, 3), 0 STARTS(X, 4), 0 STARTS(X, 5), 0 STARTS(X, 6), \
        0 STARTS(X, 7), 0 STARTS(X, 8), 0 STARTS(X, 9), 0 STARTS(X, 10), 0 STARTS(X, 11), 0 STARTS(X, 12),          \
        0 STARTS(X, 13), 0 STARTS(X, 14), 0 STARTS(X, 15)                                                           \
  }

enum { START = 3 };
static const uint8_t LOW[START][16] = {BUCKETS(LOW_1), BUCKETS(LOW_2), BUCKETS(LOW_3)};
static const uint8_t HIGH[START][16] = {BUCKETS(HIGH_1), BUCKETS(HIGH_2), BUCKETS(HIGH_3)};

/* ---- One place ---- */

/* What stands at the front, whose first bytes are those of a mark or look like them. */
static ttm_mark mark_of(ttm_str at) {
#define IS(word, mark) (ttm_str_starts(at, TTM_LIT(word)) ? TTM_MARK_##mark : TTM_MARK_NONE)
  switch (at.p[0]) {
    case 'F': /* FATAL; FATL of tt-xla's loguru */
      return at.p[1] == 'A' ? IS("FAT", INCIDENT) : IS("File \"", FRAME);
    case 'H': /* TT_THROW */
      return IS("HROW", INCIDENT);
    case '_': /* LOG_ASSERT, TT_ASSERT */
      return IS("_ASSERT", INCIDENT);
    case 'y': /* Out of Memory, MemoryError */
      return at.p[1] == ':' ? IS("y: ", INCIDENT) : IS("yError", INCIDENT);
    case 'S':
      return IS("Statically ", INCIDENT);
    case 'C':
      return at.p[1] == 'i' ? IS("Circular buffers on ", INCIDENT) : IS("Creating trace ", INCIDENT);
    case 'i': /* critical */
      return IS("itical", INCIDENT);
    case 't':
      return IS("too large for kernel", INCIDENT);
    case 'd': /* bad_alloc */
      return IS("d_alloc", INCIDENT);
    case 'u': /* huge pages */
      return IS("uge", INCIDENT);
    case 'E':
      return IS("E_EXHAUSTED", INCIDENT);
    case 'U': /* DefaultCPUAllocator */
      return IS("UAllocator: ", INCIDENT);
    case 's':
      return IS("s) [", LOGURU);
    case ' ':
      return at.p[1] == '|' ? IS(" | ", RUNTIME) : at.p[2] == 'o' ? IS(" Module", MODULE) : IS(" MODULE", MODULE);
    default:
      return TTM_MARK_NONE;
  }
#undef IS
}

static ttm_mark mark_at(ttm_str text, size_t at) {
  ttm_log_line line;
  ttm_mark mark = mark_of(ttm_str_from(text, at));
  return mark != TTM_MARK_RUNTIME || ttm_log_line_bar(text, at, &line) ? mark : TTM_MARK_NONE;
}

/* ---- Many places ---- */

static unsigned buckets_of(const char *p, size_t k) {
  unsigned char c = (unsigned char)p[k];
  return LOW[k][c & 15] & HIGH[k][c >> 4];
}

static ttm_mark find_each(ttm_str text, size_t *at, unsigned buckets) {
  for (; *at + START <= text.n; ++*at) {
    const char *p = text.p + *at;
    bool possible = buckets & buckets_of(p, 0) & buckets_of(p, 1) & buckets_of(p, 2);
    ttm_mark mark = possible ? mark_at(text, *at) : TTM_MARK_NONE;
    if (mark) return mark;
  }
  return *at = text.n, TTM_MARK_NONE;
}

#if defined(__x86_64__) && defined(__GLIBC__)
#define WITH_AVX2 __attribute__((target("avx2")))
enum { STEP = 32 };

WITH_AVX2 static inline __m256i table(const uint8_t *halves) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)halves));
}

/* The buckets of 32 bytes by the tables of one place. */
WITH_AVX2 static inline __m256i buckets_of_32(const char *p, __m256i low, __m256i high) {
  __m256i bytes = _mm256_loadu_si256((const __m256i *)p), half = _mm256_set1_epi8(15);
  return _mm256_and_si256(_mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half)),
                          _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half)));
}

/* Moves *at by whole steps to one in which marks may start, and says where, a bit for each byte; 0 when the text ends before. */
WITH_AVX2 static uint32_t next_starts(ttm_str text, size_t *at, unsigned buckets) {
  const __m256i wanted = _mm256_set1_epi8((char)buckets), zero = _mm256_setzero_si256();
  const __m256i low_1 = _mm256_and_si256(table(LOW[0]), wanted), low_2 = table(LOW[1]), low_3 = table(LOW[2]);
  const __m256i high_1 = table(HIGH[0]), high_2 = table(HIGH[1]), high_3 = table(HIGH[2]);
  size_t i = *at;
  uint32_t starts = 0;
  for (; i + STEP + START - 1 <= text.n && !starts; i += STEP) {
    const char *p = text.p + i;
    __m256i all = _mm256_and_si256(buckets_of_32(p, low_1, high_1), buckets_of_32(p + 1, low_2, high_2));
    all = _mm256_and_si256(all, buckets_of_32(p + 2, low_3, high_3));
    starts = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, zero));
  }
  *at = starts ? i - STEP : i;
  return starts;
}

static ttm_mark find_wide(ttm_str text, size_t *at, unsigned buckets) {
  for (uint32_t starts; (starts = next_starts(text, at, buckets)) != 0; *at += STEP)
    for (; starts; starts &= starts - 1) {
      size_t start = *at + (size_t)__builtin_ctz(starts);
      ttm_mark mark = mark_at(text, start);
      if (mark) return *at = start, mark;
    }
  return find_each(text, at, buckets);
}
#endif

ttm_mark ttm_mark_find(ttm_str text, size_t *at, bool loguru) {
  unsigned buckets = loguru ? UINT8_MAX : UINT8_MAX & ~LOGURU;
#if defined(__x86_64__) && defined(__GLIBC__)
  if (__builtin_cpu_supports("avx2")) return find_wide(text, at, buckets);
#endif
  return find_each(text, at, buckets);
}
