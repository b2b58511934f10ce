/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/last_words.h"

/* "ModuleNotFoundError: No module named 'x'", "KeyboardInterrupt": a name from the start of the line, alone or before a colon. */
static bool is_exception(ttm_str line) {
  static const char *const ends[] = {"Error", "Exception", "Interrupt", "Exit"};
  size_t n = 0;
  while (n < line.n && line.p[n] != ':' && line.p[n] != ' ' && line.p[n] != '\t') n++;
  if (n < line.n && line.p[n] != ':') return false;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (ttm_str_ends((ttm_str){line.p, n}, ttm_str_of(ends[i]))) return true;
  return false;
}

/* "2026-11-16 02:43:41.150 | info     |   UMD | ...": the runtime's own, not the program's; nor what nanobind says at the end of any. */
static bool is_logged(ttm_str line) {
  static const char *const nanobind[] = {"nanobind: ", "See https://nanobind", "- leaked ", "- ... skipped remainder"};
  for (size_t i = 0; i < sizeof nanobind / sizeof *nanobind; i++)
    if (ttm_str_starts(line, ttm_str_of(nanobind[i]))) return true;
  return line.n && line.p[0] >= '0' && line.p[0] <= '9' && ttm_str_contains(ttm_str_first(line, 40), TTM_LIT(" | "));
}

bool ttm_frame_read(ttm_str line, ttm_str *file, uint64_t *number) {
  size_t start = ttm_str_find(line, TTM_LIT("File \"")), end;
  if (start == TTM_NOT_FOUND) return false;
  line = ttm_str_from(line, start + 6);
  if ((end = ttm_str_find(line, TTM_LIT("\", line "))) == TTM_NOT_FOUND) return false;
  *file = ttm_str_first(line, end);
  line = ttm_str_from(line, end + 8);
  bool library = ttm_str_contains(*file, TTM_LIT("-packages/")) || ttm_str_starts(*file, TTM_LIT("<")) ||
                 ttm_str_contains(*file, TTM_LIT("/hook/ttmem_")); /* of `ttmem run` */
  return !library && ttm_str_take_u64(&line, number);
}

/* Of pytest: "E   KeyError: 3". */
static ttm_str without_mark(ttm_str line) {
  ttm_str rest = line;
  return ttm_str_take(&rest, TTM_LIT("E   ")) ? ttm_str_trim(rest) : line;
}

void ttm_last_words_read(ttm_last_words *out, ttm_str text) {
  ttm_str exception = {0}, last = {0}, before = {0};
  *out = (ttm_last_words){.line = 0};
  while (text.n) {
    ttm_str line = ttm_str_take_to(&text, '\n'), trimmed = ttm_str_trim(line);
    ttm_incident_text incident;
    if (ttm_str_starts(trimmed, TTM_LIT("Traceback (most recent call last)"))) out->file = (ttm_str){0};
    ttm_str file;
    uint64_t number;
    if (ttm_str_starts(trimmed, TTM_LIT("File \"")) && ttm_frame_read(line, &file, &number))
      out->file = file, out->line = number;
    if (is_exception(without_mark(line))) exception = ttm_str_trim(without_mark(line));
    /* tt-metal's exceptions say where on their first line, and what on the one behind "info:". */
    if (exception.n && trimmed.n && ttm_str_eq(before, TTM_LIT("info:"))) exception = trimmed;
    if (ttm_incident_parse(line, &incident) && incident.kind != TTM_INCIDENT_FATAL) {
      out->memory = true;
      out->incident = incident;
    }
    if (trimmed.n && !is_logged(trimmed)) last = trimmed;
    before = trimmed;
  }
  out->sentence = exception.n ? exception : last;
}
