/* SPDX-License-Identifier: Apache-2.0 */
#include "base/format.h"

#include <stdio.h>
#include <string.h>

#include <ctype.h>

#include "base/utf8.h"

const char *ttm_count_text(char room[TTM_COUNT_ROOM], uint64_t n) {
  size_t i = TTM_COUNT_ROOM - 1;
  unsigned written = 0;
  room[i] = '\0';
  do {
    if (written && written % 3 == 0) room[--i] = ',';
    room[--i] = (char)('0' + n % 10);
    written++;
  } while (n /= 10);
  return room + i;
}

void ttm_put_count(ttm_buf *out, uint64_t n) {
  char room[TTM_COUNT_ROOM];
  ttm_buf_puts(out, ttm_count_text(room, n));
}

void ttm_put_counted(ttm_buf *out, uint64_t n, const char *noun) {
  ttm_put_count(out, n);
  ttm_buf_char(out, ' ');
  ttm_buf_puts(out, noun);
  if (n != 1) ttm_buf_char(out, 's');
}

void ttm_put_mb(ttm_buf *out, double mb) {
  double size = mb < 0 ? -mb : mb;
  if (mb == 0) return ttm_buf_char(out, '0');
  if (size < 999.95) return ttm_buf_printf(out, "%.*f", size >= 99.995 ? 1 : size >= 0.9995 ? 2 : 3, mb);
  if (size >= 1e15) return ttm_buf_printf(out, "%.0f", mb); /* what no memory has */
  uint64_t tenths = (uint64_t)(size * 10 + 0.5);
  ttm_buf_puts(out, mb < 0 ? "-" : "");
  ttm_put_count(out, tenths / 10);
  ttm_buf_printf(out, ".%u", (unsigned)(tenths % 10));
}

void ttm_put_plain_mb(ttm_buf *out, double mb) {
  size_t start = out->n;
  ttm_buf_printf(out, "%.6f", mb);
  while (out->n > start && out->at[out->n - 1] == '0') out->n--;
  if (out->n > start && out->at[out->n - 1] == '.') out->n--;
}

void ttm_put_bytes(ttm_buf *out, uint64_t bytes) {
  if (bytes >= 1u << 20) {
    bool large = bytes >= 1ull << 30;
    ttm_put_mb(out, ttm_mib(bytes) / (large ? 1024.0 : 1.0));
    ttm_buf_puts(out, large ? " GB" : " MB");
  } else if (bytes >= 1u << 10) {
    ttm_buf_printf(out, "%.1f KB", (double)bytes / 1024.0);
  } else {
    ttm_buf_printf(out, "%u B", (unsigned)bytes);
  }
}

void ttm_put_pair(ttm_buf *out, uint64_t part, uint64_t whole) {
  double unit = whole >= 1ull << 30 ? TTM_MB * 1024.0 : whole >= 1u << 20 ? TTM_MB : 1024.0;
  ttm_buf_printf(out, "%.1f of %.1f %s", (double)part / unit, (double)whole / unit,
                 unit > TTM_MB    ? "GB"
                 : unit == TTM_MB ? "MB"
                                  : "KB");
}

const char *ttm_level_color(double percent) { return percent > 90 ? "31" : percent > 80 ? "33" : "32"; }

const char *ttm_bytes_text(char room[TTM_COUNT_ROOM], uint64_t bytes) {
  ttm_buf text = {.at = room, .cap = TTM_COUNT_ROOM}; /* room for any: it never grows */
  ttm_put_bytes(&text, bytes);
  room[text.n] = '\0';
  return room;
}

/* ---- Characters --------------------------------------------------------------------------------------------------- */

/* The next character; a blank for what ends a line. */
static uint32_t next_shown(ttm_str *text) {
  size_t length;
  uint32_t c = ttm_utf8_first(*text, &length);
  *text = ttm_str_from(*text, length);
  return c == '\t' || c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029 ? ' ' : c;
}

/* What is not seen is written out, "\x1b", "\u202e", "\U000e0041": a name must not be able to disguise itself. An accent without a letter
 * before it would be put over a character of ours. */
static bool is_hidden(uint32_t c, uint32_t before) {
  return ttm_utf8_hides(c) || (before == ' ' && c >= 0x80 && !ttm_utf8_columns(c));
}

static unsigned columns_of(uint32_t c, uint32_t before) {
  if (!is_hidden(c, before)) return ttm_utf8_columns(c);
  return c < 0x100 ? 4 : c < 0x10000 ? 6 : 10;
}

/* Markup becomes entities. Mentions, issues and addresses are found by GitHub once the markup is resolved: an empty comment keeps their parts
 * apart. */
static void put_in_comment(ttm_buf *out, uint32_t c) {
  ttm_str so_far = ttm_buf_str(out), end = ttm_str_from(so_far, so_far.n < 3 ? 0 : so_far.n - 3);
  bool apart = (c == '/' && ttm_str_ends(end, TTM_LIT(":"))) || (c == '.' && ttm_str_eq_nocase(end, TTM_LIT("www"))) ||
               (c == '-' && end.n > 1 && ttm_str_eq_nocase(ttm_str_from(end, end.n - 2), TTM_LIT("GH")));
  bool inside = end.n && isalnum((unsigned char)end.p[end.n - 1]); /* there '_' begins nothing */
  if (apart) ttm_buf_puts(out, "<!-- -->");
  if ((c == '_' && !inside) || (c < 0x80 && c && strchr("&<>\"`*[]|~$\\", (int)c)))
    ttm_buf_printf(out, "&#%u;", (unsigned)c);
  else
    ttm_put_character(out, c);
  if (c == '@' || c == '#') ttm_buf_puts(out, "<!-- -->");
}

/* Markup, names of characters (&#x202e;), and what renderers make links of: [text](address), ![picture](address), [name]: address, https://,
 * www., a@b. */
static bool is_markup(const ttm_buf *out, uint32_t c) {
  if (c >= 0x80 || !c) return false;
  if (strchr("|`<\\@&", (int)c)) return true;
  char before = out->n ? out->at[out->n - 1] : ' ';
  if (c == '(' || c == '[' || c == ':') return before == ']';
  if (c == '/') return before == ':';
  return c == '.' && out->n >= 3 && ttm_str_eq_nocase((ttm_str){out->at + out->n - 3, 3}, TTM_LIT("www"));
}

static void put_seen(ttm_buf *out, uint32_t c, ttm_text_form form) {
  if (form == TTM_FORM_COMMENT) return put_in_comment(out, c);
  if (c == 0x2265 && form == TTM_FORM_ASCII) return ttm_buf_puts(out, ">="); /* our own two signs */
  if (c >= 0x80 && form == TTM_FORM_ASCII) c = c == 0xD7 ? 'x' : '?';
  if (form == TTM_FORM_MARKDOWN && is_markup(out, c)) ttm_buf_char(out, '\\');
  ttm_put_character(out, c);
}

static void put_safely(ttm_buf *out, uint32_t c, uint32_t before, ttm_text_form form) {
  char text[16];
  if (!is_hidden(c, before)) return put_seen(out, c, form);
  snprintf(text, sizeof text, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
  for (const char *at = text; *at; at++) put_seen(out, (unsigned char)*at, form);
}

/* ---- Texts -------------------------------------------------------------------------------------------------------- */

/* How many bytes at the start are printable ASCII, a column each: nearly all that is ever shown. */
static size_t plain_length(ttm_str text) {
  size_t n = 0;
  while (n < text.n && text.p[n] >= 0x20 && text.p[n] < 0x7F) n++;
  return n;
}

size_t ttm_text_columns(ttm_str text) {
  size_t columns = 0;
  for (uint32_t before = ' '; text.n;) {
    size_t plain = plain_length(text);
    if (plain) before = (unsigned char)text.p[plain - 1];
    columns += plain;
    text = ttm_str_from(text, plain);
    if (!text.n) break;
    uint32_t c = next_shown(&text);
    columns += columns_of(c, before);
    before = c;
  }
  return columns;
}

void ttm_put_text(ttm_buf *out, ttm_str text, size_t columns, ttm_text_form form) {
  ttm_buf_follow(out, text);
  size_t width = ttm_text_columns(text);
  const char *gap = form == TTM_FORM_ASCII ? "..." : "\xE2\x80\xA6";
  size_t gap_columns = form == TTM_FORM_ASCII ? 3 : 1;
  bool cut = width > columns;
  size_t room = columns > gap_columns ? columns - gap_columns : 0;
  size_t head = cut ? room / 2 : width;
  size_t tail_from = cut ? width - (room - head) : width;
  bool gap_put = false;
  size_t column = 0;
  for (uint32_t before = ' '; text.n;) {
    size_t plain = cut || form <= TTM_FORM_COMMENT ? 0 : plain_length(text);
    if (plain) {
      ttm_buf_put(out, ttm_str_first(text, plain));
      before = (unsigned char)text.p[plain - 1];
      text = ttm_str_from(text, plain);
      column += plain;
      continue;
    }
    uint32_t c = next_shown(&text);
    unsigned wide = columns_of(c, before);
    if (column + wide <= head || column >= tail_from)
      put_safely(out, c, before, form);
    else if (!gap_put)
      gap_put = true, ttm_buf_puts(out, gap);
    column += wide;
    before = c;
  }
}

/* A spreadsheet would compute it. */
static bool is_formula(ttm_str text) {
  if (!text.n || !memchr("=+-@", text.p[0], 4)) return false;
  return memchr(text.p, '(', text.n) || memchr(text.p, '|', text.n) || memchr(text.p, '!', text.n);
}

static void put_field(ttm_buf *out, ttm_str text) {
  size_t length;
  for (uint32_t before = ' ', c; text.n; text = ttm_str_from(text, length), before = c) {
    c = ttm_utf8_first(text, &length);
    if (c == '"') ttm_buf_char(out, '"');
    if (c == '\t' || c == '\n' || c == '\r')
      ttm_buf_char(out, (char)c);
    else
      put_safely(out, c, before, TTM_FORM_UTF8);
  }
}

void ttm_put_csv(ttm_buf *out, ttm_str text) {
  bool formula = is_formula(text), quotes = false;
  for (size_t i = 0; i < text.n && !quotes; i++) quotes = memchr(",\"\r\n", text.p[i], 4) != NULL;
  if (!quotes && !formula && plain_length(text) == text.n) return ttm_buf_put(out, text);
  ttm_buf_follow(out, text);
  if (quotes) ttm_buf_char(out, '"');
  if (formula) ttm_buf_char(out, '\'');
  put_field(out, text);
  if (quotes) ttm_buf_char(out, '"');
}

void ttm_pad_to(ttm_buf *out, size_t start, size_t columns) {
  if (out->failed) return;
  size_t have = ttm_text_columns(ttm_str_from(ttm_buf_str(out), start));
  for (; have < columns; have++) ttm_buf_char(out, ' ');
}

const char *const ttm_column_eighths[9] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                           "\u2585", "\u2586", "\u2587", "\u2588"};

size_t ttm_put_bar(ttm_buf *out, double percent, size_t columns, bool utf8) {
  size_t steps = utf8 ? 8 : 1;
  double exact = percent / 100.0 * (double)(columns * steps);
  size_t filled = exact >= (double)(columns * steps) ? columns * steps : exact > 0 ? (size_t)exact : 0;
  if (!filled && percent > 0) filled = 1;
  for (size_t i = 0; i < filled / steps; i++) ttm_buf_puts(out, utf8 ? "\xE2\x96\x88" : "#");
  if (filled % steps) ttm_put_character(out, 0x2590 - (uint32_t)(filled % steps)); /* U+258F: an eighth, to seven */
  size_t rest = out->n;
  for (size_t i = (filled + steps - 1) / steps; i < columns; i++) ttm_buf_puts(out, utf8 ? "\xE2\x96\x91" : ".");
  return rest;
}

/* The first word; a number keeps its unit: "33.3 %", "16 B". */
static ttm_str first_word(ttm_str words) {
  static const char *const units[] = {"%", "B", "KB", "MB", "GB"};
  ttm_str word = ttm_str_first(words, ttm_str_find_char(words, ' '));
  ttm_str next = ttm_str_from(words, word.n + 1);
  if (!word.n || word.p[word.n - 1] < '0' || word.p[word.n - 1] > '9') return word;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    ttm_str rest = next;
    if (ttm_str_take(&rest, ttm_str_of(units[i])) && (!rest.n || !isalnum((unsigned char)*rest.p)))
      return ttm_str_first(words, word.n + 1 + ttm_str_first(next, ttm_str_find_char(next, ' ')).n);
  }
  return word;
}

size_t ttm_put_paragraph(ttm_buf *out, ttm_str words, size_t column, size_t indent, size_t columns,
                         ttm_text_form form) {
  size_t lines = 1;
  bool fresh = true;
  ttm_buf_follow(out, words);
  while (words.n) {
    ttm_str word = first_word(words);
    size_t width = ttm_text_columns(word);
    if (!fresh && column + 1 + width > columns) {
      ttm_buf_printf(out, "\n%*s", (int)indent, "");
      column = indent;
      fresh = true;
      lines++;
    }
    if (!fresh) ttm_buf_char(out, ' '), column++;
    ttm_put_text(out, word, SIZE_MAX, form);
    column += width;
    fresh = false;
    words = ttm_str_from(words, word.n + 1);
  }
  return lines;
}

void ttm_put_lines(ttm_buf *out, ttm_str text) {
  while (text.n) {
    ttm_put_text(out, ttm_str_take_to(&text, '\n'), SIZE_MAX, TTM_FORM_UTF8);
    ttm_buf_char(out, '\n');
  }
}

static bool is_control(char c) { return (unsigned char)c < 0x20 || c == 0x7F; }

/* $'a\x1bb', which bash, zsh and ksh know: the only form that shows control characters without being one. */
static void put_escaped(ttm_buf *out, const char *word) {
  ttm_buf_puts(out, "$'");
  for (; *word; word++) {
    if (is_control(*word)) {
      ttm_buf_printf(out, "\\x%02x", (unsigned char)*word);
    } else {
      if (*word == '\'' || *word == '\\') ttm_buf_char(out, '\\');
      ttm_buf_char(out, *word);
    }
  }
  ttm_buf_char(out, '\'');
}

void ttm_put_shell_word(ttm_buf *out, const char *word) {
  static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (*word && strspn(word, safe) == strlen(word)) return ttm_buf_puts(out, word);
  for (const char *c = word; *c; c++) {
    if (is_control(*c)) return put_escaped(out, word);
  }
  ttm_buf_char(out, '\'');
  for (; *word; word++) {
    if (*word == '\'')
      ttm_buf_puts(out, "'\\''");
    else
      ttm_buf_char(out, *word);
  }
  ttm_buf_char(out, '\'');
}

void ttm_put_shell_path(ttm_buf *out, const char *path) {
  if (path[0] == '-') ttm_buf_puts(out, "./"); /* needs no quotes, whatever follows */
  ttm_put_shell_word(out, path);
}
