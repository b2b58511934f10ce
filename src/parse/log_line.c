/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/log_line.h"

size_t ttm_escape_length(ttm_str at) {
  if (at.n < 2 || at.p[0] != '\x1b' || at.p[1] != '[') return 0;
  for (size_t i = 2; i < at.n; i++) {
    unsigned char c = (unsigned char)at.p[i];
    if (c >= 0x40 && c <= 0x7e) return i + 1;
    if (c < 0x20 || c > 0x3f) return 0;
  }
  return 0;
}

static ttm_str skip_escapes(ttm_str v) {
  for (size_t n; (n = ttm_escape_length(v)) != 0;) v = ttm_str_from(v, n);
  return v;
}

/* Blanks and escapes in any order. */
static ttm_str skip_space(ttm_str v) {
  for (;;) {
    size_t before = v.n;
    v = skip_escapes(v);
    while (v.n && v.p[0] == ' ') v = ttm_str_from(v, 1);
    if (v.n == before) return v;
  }
}

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* True when v follows the pattern: 'd' a digit, anything else itself. */
static bool looks_like(ttm_str v, ttm_str pattern) {
  if (v.n < pattern.n) return false;
  for (size_t i = 0; i < pattern.n; i++)
    if (pattern.p[i] == 'd' ? !ttm_is_digit(v.p[i]) : v.p[i] != pattern.p[i]) return false;
  return true;
}

bool ttm_log_line_has_date(ttm_str message) { return looks_like(message, TTM_LIT("dddd-dd-dd dd:dd:dd")); }

bool ttm_log_line_is_loguru(ttm_str message) {
  return looks_like(message, TTM_LIT("dddd-dd-dd dd:dd:dd.ddd (")) &&
         ttm_str_contains(ttm_str_first(message, 48), TTM_LIT("s) ["));
}

/* `2026-05-14T01:00:31.7554321Z ` as GitHub puts before every line. */
static ttm_str skip_ci_time(ttm_str v) {
  if (!looks_like(v, TTM_LIT("dddd-dd-ddTdd:dd:dd"))) return v;
  size_t i = 19;
  while (i < v.n && (ttm_is_digit(v.p[i]) || v.p[i] == '.')) i++;
  if (i >= v.n || v.p[i] != 'Z') return v;
  v = ttm_str_from(v, i + 1);
  return v.n && v.p[0] == ' ' ? ttm_str_from(v, 1) : v;
}

/* `[1,3]<stdout>:`: the last number is the rank. */
static ttm_str skip_rank_tag(ttm_str v, uint16_t *rank) {
  ttm_str at = v;
  while (at.n && at.p[0] == ' ') at = ttm_str_from(at, 1);
  if (!ttm_str_take(&at, TTM_LIT("["))) return v;
  uint64_t number;
  do {
    if (!ttm_str_take_u64(&at, &number)) return v;
  } while (ttm_str_take(&at, TTM_LIT(",")));
  if (!ttm_str_take(&at, TTM_LIT("]<"))) return v;
  size_t close = ttm_str_find(ttm_str_first(at, 32), TTM_LIT(">:"));
  if (close == TTM_NOT_FOUND) return v;
  *rank = number < TTM_NO_RANK ? (uint16_t)number : TTM_NO_RANK - 1;
  return ttm_str_from(at, close + 2);
}

static ttm_log_severity take_severity(ttm_str *v) {
  static const struct {
    ttm_str word;
    ttm_log_severity severity;
  } words[] = {
      {TTM_LIT("DEBUG"), TTM_SEV_DEBUG},     {TTM_LIT("INFO"), TTM_SEV_INFO},   {TTM_LIT("TRACE"), TTM_SEV_TRACE},
      {TTM_LIT("WARNING"), TTM_SEV_WARNING}, {TTM_LIT("ERROR"), TTM_SEV_ERROR}, {TTM_LIT("FATAL"), TTM_SEV_FATAL},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (v->n && v->p[0] == words[i].word.p[0] && ttm_str_take(v, words[i].word)) return words[i].severity;
  return TTM_SEV_NONE;
}

/* Start of the type word that ends (escapes apart) right before `bar`; TTM_NOT_FOUND when no letter stands there. */
static size_t type_word(ttm_str v, size_t bar) {
  size_t end = bar;
  /* "\x1b[0m" closes the coloured type. */
  if (end >= 4 && memcmp(v.p + end - 4, "\x1b[0m", 4) == 0) end -= 4;
  size_t start = end;
  while (start > 0 && letter(v.p[start - 1])) start--;
  return start == end ? TTM_NOT_FOUND : start;
}

/* Only blanks and escapes before the type word: nothing glued in front. */
static bool only_space(ttm_str v) { return skip_space(v).n == 0; }

/* Where " | " stands at or after `from`. By its bar, which other text hardly ever holds. */
static size_t find_bar(ttm_str v, size_t from) {
  for (size_t at = from + 1;; at++) {
    size_t bar = at + 1 < v.n ? ttm_str_find_char(ttm_str_from(v, at), '|') : TTM_NOT_FOUND;
    if (bar == TTM_NOT_FOUND) return TTM_NOT_FOUND;
    at += bar;
    if (v.p[at - 1] == ' ' && at + 1 < v.n && v.p[at + 1] == ' ') return at - 1;
  }
}

/* The runtime right-aligns its level (one blank before the second bar); Python's and tt-metal's loggers pad it on the right, which tells
 * them apart. */
bool ttm_log_line_bar(ttm_str v, size_t bar, ttm_log_line *out) {
  size_t word = type_word(v, bar);
  if (word == TTM_NOT_FOUND) return false;
  ttm_str at = skip_space(ttm_str_from(v, bar + 3));
  ttm_log_severity severity = take_severity(&at);
  if (severity == TTM_SEV_NONE) return false;
  at = skip_escapes(at);
  if (!ttm_str_take(&at, TTM_LIT(" | "))) return false;
  out->runtime = true;
  out->severity = (uint8_t)severity;
  out->message = at;
  out->stable = only_space(ttm_str_first(v, word));
  return true;
}

/* Finds `Type | LEVEL | ` anywhere in v. */
static bool find_runtime(ttm_str v, ttm_log_line *out) {
  size_t from = 0;
  for (int tries = 0; tries < 8; tries++) {
    size_t bar = find_bar(v, from);
    if (bar == TTM_NOT_FOUND) return false;
    if (ttm_log_line_bar(v, bar, out)) return true;
    from = bar + 2;
  }
  return false;
}

ttm_str ttm_log_line_text(ttm_str line, uint16_t *rank) {
  *rank = TTM_NO_RANK;
  ttm_str v = skip_rank_tag(skip_ci_time(line), rank);
  return *rank != TTM_NO_RANK ? skip_ci_time(v) : v;
}

ttm_log_line ttm_log_line_read(ttm_str line) {
  ttm_log_line out = {0};
  if (line.n && line.p[line.n - 1] == '\r') line.n--;
  out.message = ttm_log_line_text(line, &out.rank);
  if (find_runtime(out.message, &out) && skip_ci_time(line).p != line.p) out.stable = false;
  return out;
}

/* ---- Time stamps --------------------------------------------------------------------------------------------------------- */

static uint64_t digits(ttm_str v, size_t at, size_t n) {
  uint64_t value = 0;
  for (size_t i = 0; i < n; i++) value = value * 10 + (uint64_t)(v.p[at + i] - '0');
  return value;
}

/* Days since 1970-01-01 in the Gregorian calendar; years from 1970 on. */
static uint64_t days_of(uint64_t year, uint64_t month, uint64_t day) {
  uint64_t y = year - (month <= 2), m = (month + 9) % 12; /* years that begin in March */
  return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* `.7554321`, `,508`: as nanoseconds; what is behind them remains. */
static uint64_t take_fraction(ttm_str *v) {
  uint64_t ns = 0, unit = 1000000000;
  if (v->n < 2 || (v->p[0] != '.' && v->p[0] != ',') || !ttm_is_digit(v->p[1])) return 0;
  for (*v = ttm_str_from(*v, 1); v->n && ttm_is_digit(v->p[0]); *v = ttm_str_from(*v, 1))
    unit /= 10, ns += unit * (uint64_t)(v->p[0] - '0');
  return ns;
}

bool ttm_log_line_time(ttm_str line, uint64_t *ns, char *between) {
  uint16_t rank;
  ttm_str v = skip_escapes(skip_rank_tag(line, &rank));
  if (v.n && v.p[0] == '[') v = ttm_str_from(v, 1);
  if (!looks_like(v, TTM_LIT("dddd-dd-dd dd:dd:dd")) && !looks_like(v, TTM_LIT("dddd-dd-ddTdd:dd:dd"))) return false;
  uint64_t year = digits(v, 0, 4), month = digits(v, 5, 2), day = digits(v, 8, 2), hour = digits(v, 11, 2),
           minute = digits(v, 14, 2), second = digits(v, 17, 2), offset = 0;
  if (year < 1971 || year > 2500 || !month || month > 12 || !day || day > 31 || hour > 23 || minute > 59 || second > 60)
    return false;
  *between = v.p[10];
  v = ttm_str_from(v, 19);
  uint64_t fraction = take_fraction(&v),
           seconds = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
  bool zone = looks_like(v, TTM_LIT("+dd:dd")) || looks_like(v, TTM_LIT("-dd:dd"));
  if (zone) offset = digits(v, 1, 2) * 3600 + digits(v, 4, 2) * 60;
  seconds = zone && v.p[0] == '-' ? seconds + offset : seconds - offset;
  *ns = seconds * 1000000000 + fraction;
  return true;
}
