/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/memory_view.h"

ttm_memory ttm_memory_line(ttm_str message, ttm_str *rest) {
  static const ttm_str starts[TTM_MEMORIES] = {
      [TTM_DRAM] = TTM_LIT("Device DRAM memory state: "),
      [TTM_L1] = TTM_LIT("Device L1 memory state: "),
      [TTM_L1_SMALL] = TTM_LIT("Device L1_SMALL memory state: "),
      [TTM_TRACE] = TTM_LIT("Device TRACE memory state: "),
  };
  *rest = message;
  for (int m = 0; m < TTM_MEMORIES; m++)
    if (ttm_str_take(rest, starts[m])) return (ttm_memory)m;
  return TTM_MEMORIES;
}

static uint32_t digit(char c) { return (uint32_t)(c - '0'); }

/* As the runtime prints it: up to six digits, a point, three decimals. Every block has three of them that change. */
static bool take_printed(ttm_str *v, uint32_t *out) {
  enum { DIGITS = 6, DECIMALS = 3 };
  const char *p = v->p;
  uint32_t value = 0;
  if (v->n < DIGITS + 1 + DECIMALS + 1) return false;
  while (p < v->p + DIGITS && ttm_is_digit(*p)) value = value * 10 + digit(*p++);
  if (p == v->p || p[0] != '.' || !ttm_is_digit(p[1]) || !ttm_is_digit(p[2]) || !ttm_is_digit(p[3]) ||
      ttm_is_digit(p[4]))
    return false;
  *out = value * 1000 + digit(p[1]) * 100 + digit(p[2]) * 10 + digit(p[3]);
  p += 1 + DECIMALS;
  *v = (ttm_str){p, v->n - (size_t)(p - v->p)};
  return true;
}

/* A decimal number with any count of decimals, in thousandths; saturates. */
static bool take_thousandths(ttm_str *v, uint32_t *out) {
  if (take_printed(v, out)) return true;
  const char *p = v->p, *end = v->p + v->n, *start = p;
  uint64_t value = 0;
  for (; p < end && ttm_is_digit(*p); p++) value = value > UINT32_MAX ? value : value * 10 + digit(*p);
  if (p == start) return false;
  int decimals = 0;
  if (p < end && *p == '.') {
    for (p++; p < end && ttm_is_digit(*p); p++)
      if (decimals < 3) value = value * 10 + digit(*p), decimals++;
  }
  for (; decimals < 3; decimals++) value *= 10;
  *out = value > UINT32_MAX - 1 ? UINT32_MAX - 1 : (uint32_t)value;
  *v = (ttm_str){p, (size_t)(end - p)};
  return true;
}

bool ttm_memory_view_take_size(ttm_str *v, ttm_level *out) {
  uint64_t banks;
  if (!ttm_str_take(v, TTM_LIT("MemoryView{numBanks: ")) || !ttm_str_take_u64(v, &banks)) return false;
  out->banks = banks > UINT32_MAX ? UINT32_MAX : (uint32_t)banks;
  return ttm_str_take(v, TTM_LIT(", totalBytesPerBank: ")) && take_thousandths(v, &out->total) &&
         ttm_str_take(v, TTM_LIT(" MB, totalBytesAllocatedPerBank: "));
}

bool ttm_memory_view_take_use(ttm_str *v, ttm_level *out) {
  return take_thousandths(v, &out->allocated) && ttm_str_take(v, TTM_LIT(" MB, totalBytesFreePerBank: ")) &&
         take_thousandths(v, &out->free) && ttm_str_take(v, TTM_LIT(" MB, largestContiguousBytesFreePerBank: ")) &&
         take_thousandths(v, &out->largest) && ttm_str_take(v, TTM_LIT(" MB}"));
}

bool ttm_level_adds_up(const ttm_level *l) {
  uint64_t sum = (uint64_t)l->allocated + l->free, most = 2 + l->total / 100000;
  return sum <= l->total + most && l->total <= sum + most && l->largest <= l->free + most;
}

bool ttm_memory_view_parse(ttm_str v, ttm_level *out) {
  return ttm_memory_view_take_size(&v, out) && ttm_memory_view_take_use(&v, out);
}
