/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options: read, checked, kept. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/option_parts.h"

static bool is_choice(const char *choices, const char *value) {
  size_t length = strlen(value);
  for (const char *at = choices;; at++) {
    size_t n = strcspn(at, "|");
    if (n == length && !memcmp(at, value, n)) return true;
    at += n;
    if (!*at) return false;
  }
}

/* A whole number as it stands; with a point, an exponent or a unit of 1024s the nearest one. */
static bool read_bytes(const char *text, uint64_t *out) {
  static const char units[] = "KMGT";
  ttm_str rest = ttm_str_of(text);
  char *end;
  if (ttm_str_take_u64(&rest, out) && !rest.n) return true;
  if (text[0] < '0' || text[0] > '9' || text[1] == 'x' || text[1] == 'X') return false;
  double value = strtod(text, &end);
  const char *unit = *end ? strchr(units, *end) : NULL;
  for (const char *u = units; unit && u <= unit; u++) value *= 1024;
  if (unit) end += end[1] == 'i' ? 2 : 1;
  if (*end == 'B') end++;
  if (*end || !(value < 0x1p62)) return false;
  *out = (uint64_t)(value + 0.5);
  return true;
}

int ttm_option_take(ttm_options *out, int option, const char *value, ttm_error *err) {
  const ttm_option_row *row = &ttm_option_table[option];
  if (!*value)
    return ttm_error_set(err, TTM_EUSAGE, "option '--%s' needs a value, not an empty text: --%s %s", row->name,
                         row->name, row->value);
  if (row->kind == TTM_VALUE_CHOICE && !is_choice(row->value, value)) {
    return ttm_error_set(err, TTM_EUSAGE, "option '--%s' takes %s, not '%s'", row->name, row->value, value);
  }
  if (row->kind == TTM_VALUE_PORT) {
    size_t digits = strspn(value, "0123456789");
    if (!digits || value[digits] || digits > 5 || atoi(value) > 65535) {
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' takes a number from 0 to 65535, not '%s'", row->name, value);
    }
  }
  if (row->kind == TTM_VALUE_COUNT) {
    char *end;
    unsigned long n = value[0] >= '0' && value[0] <= '9' ? strtoul(value, &end, 10) : 0;
    if (n < 1 || n > 256 || *end) {
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' takes a number from 1 to 256, not '%s'", row->name, value);
    }
    out->bytes[option] = n;
    if (option == TTM_OPTION_THREADS) out->threads = (unsigned)n;
  }
  if (row->kind == TTM_VALUE_BYTES) {
    if (!read_bytes(value, &out->bytes[option]))
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' takes a number of bytes, not '%s'", row->name, value);
  }
  if (row->kind == TTM_VALUE_MANY) {
    if (out->many_count == TTM_MAX_MANY)
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' is given too often", row->name);
    out->many[out->many_count++] = (ttm_option_value){(ttm_option)option, value};
  }
  if (option == TTM_OPTION_PER) out->per_chip = !strcmp(value, "chip");
  out->value[option] = value;
  return TTM_OK;
}
