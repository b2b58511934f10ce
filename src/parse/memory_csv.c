/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/memory_csv.h"

static bool is_memory(ttm_str name) {
  return ttm_str_eq(name, TTM_LIT("DRAM")) || ttm_str_eq(name, TTM_LIT("L1")) ||
         ttm_str_eq(name, TTM_LIT("L1_SMALL")) || ttm_str_eq(name, TTM_LIT("TRACE"));
}

ttm_csv_kind ttm_csv_kind_of(ttm_str line) {
  size_t comma = ttm_str_find_char(line, ',');
  if (ttm_str_starts(line, TTM_LIT("This report indicates available space for interleaving L1 buffers")))
    return TTM_CSV_L1;
  if (comma == TTM_NOT_FOUND) return TTM_CSV_NONE;
  ttm_str rest = ttm_str_trim(ttm_str_from(line, comma + 1));
  if (ttm_str_starts(rest, TTM_LIT("Total Allocatable Size (B)"))) return TTM_CSV_SUMMARY;
  return is_memory(rest) ? TTM_CSV_DETAILED : TTM_CSV_NONE;
}

/* "12,34,..." : as many numbers as there are, four at most. */
static size_t take_values(ttm_str rest, uint64_t value[4]) {
  size_t n = 0;
  while (n < 4) {
    rest = ttm_str_trim(rest);
    if (!ttm_str_take_u64(&rest, &value[n])) break;
    n++;
    if (!ttm_str_take(&rest, TTM_LIT(","))) break;
  }
  return n;
}

static bool read_total(ttm_str rest, ttm_csv_row *out) {
  static const ttm_str names[] = {TTM_LIT("Total allocatable (B):,"), TTM_LIT("Total allocated (B):,"),
                                  TTM_LIT("Total free (B):,")};
  for (unsigned i = 0; i < 3; i++) {
    ttm_str at = rest;
    if (!ttm_str_take(&at, names[i]) || take_values(at, out->value) != 1) continue;
    out->kind = TTM_CSV_TOTAL, out->which = i;
    return true;
  }
  return false;
}

/* "           0      1327776        32768            1         none          yes": columns by blanks. */
static bool read_block(ttm_str line, ttm_csv_row *out) {
  ttm_str column[6];
  size_t n = 0;
  while (n < 6) {
    line = ttm_str_trim(line);
    size_t end = ttm_str_find_char(line, ' ');
    if (!line.n) break;
    column[n++] = ttm_str_first(line, end);
    line = ttm_str_from(line, column[n - 1].n);
  }
  uint64_t id;
  if (n != 6 || ttm_str_trim(line).n || !ttm_str_take_u64(&column[0], &id)) return false;
  if (!ttm_str_take_u64(&column[1], &out->address) || column[1].n) return false;
  if (!ttm_str_take_u64(&column[2], &out->size) || column[2].n) return false;
  out->allocated = ttm_str_eq(column[5], TTM_LIT("yes"));
  out->kind = TTM_CSV_BLOCK;
  return out->allocated || ttm_str_eq(column[5], TTM_LIT("no"));
}

bool ttm_csv_row_read(ttm_csv_kind kind, ttm_str line, ttm_csv_row *out) {
  line = ttm_str_trim(line);
  size_t comma = ttm_str_find_char(line, ',');
  bool known = false;
  *out = (ttm_csv_row){0};
  if (kind == TTM_CSV_DETAILED && comma == TTM_NOT_FOUND) {
    known = read_block(line, out);
  } else if (comma != TTM_NOT_FOUND) {
    ttm_str rest = ttm_str_from(line, comma + 1);
    out->program = ttm_str_trim(ttm_str_first(line, comma));
    if (kind == TTM_CSV_DETAILED && is_memory(ttm_str_trim(rest)))
      known = true, out->kind = TTM_CSV_MEMORY, out->memory = ttm_str_trim(rest);
    else if (kind == TTM_CSV_DETAILED)
      known = read_total(rest, out);
    else {
      out->values = take_values(rest, out->value);
      out->kind = TTM_CSV_VALUES;
      known = out->values == (kind == TTM_CSV_SUMMARY ? 4u : 2u);
    }
  }
  if (!known) *out = (ttm_csv_row){0};
  return known;
}
