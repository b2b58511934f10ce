/* SPDX-License-Identifier: Apache-2.0 */
#include "base/format.h"

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

void ttm_put_bytes(ttm_buf *out, uint64_t bytes) {
  if (bytes >= 10ull << 30)
    ttm_buf_printf(out, "%.2f GB", (double)bytes / TTM_MB / 1024.0);
  else if (bytes >= 1u << 20)
    ttm_buf_printf(out, "%.2f MB", (double)bytes / TTM_MB);
  else if (bytes >= 1u << 10)
    ttm_buf_printf(out, "%.1f KB", (double)bytes / 1024.0);
  else
    ttm_buf_printf(out, "%u B", (unsigned)bytes);
}

const char *ttm_level_color(double percent) { return percent > 90 ? "31" : percent > 80 ? "33" : "32"; }

const char *ttm_bytes_text(char room[TTM_COUNT_ROOM], uint64_t bytes) {
  ttm_buf text = {.at = room, .cap = TTM_COUNT_ROOM}; /* room for any: it never grows */
  ttm_put_bytes(&text, bytes);
  room[text.n] = '\0';
  return room;
}

/* ---- Characters --------------------------------------------------------------------------------------------------- */

enum { BROKEN = 0xFFFD };

/* One character at text[at]: its code point (BROKEN for bytes that are none) and length in bytes. Overlong forms, surrogates and
 * values past U+10FFFF are broken, one byte at a time. */
static uint32_t decode(ttm_str text, size_t at, size_t *length) {
  static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned char first = (unsigned char)text.p[at];
  *length = 1;
  if (first < 0x80) return first;
  size_t n = first >= 0xF0 && first < 0xF5   ? 4
             : first >= 0xE0 && first < 0xF0 ? 3
             : first >= 0xC2 && first < 0xE0 ? 2
                                             : 0;
  if (!n || text.n - at < n) return BROKEN;
  uint32_t c = first & (0xFFu >> (n + 1));
  for (size_t i = 1; i < n; i++) {
    unsigned char next = (unsigned char)text.p[at + i];
    if ((next & 0xC0) != 0x80) return BROKEN;
    c = c << 6 | (next & 0x3F);
  }
  if (c < smallest[n] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return BROKEN;
  *length = n;
  return c;
}

/* What to show for a character: itself, a blank or '?'. */
static uint32_t shown(uint32_t c) {
  if (c == '\t' || c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029) return ' ';
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return '?';
  /* Marks that reverse or hide what follows: a name must not be able to disguise itself. */
  if ((c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF)
    return '?';
  return c;
}

static unsigned columns_of(uint32_t c) {
  static const struct {
    uint32_t first, last;
  } wide[] = {
      {0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
      {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD},
  };
  if (c >= 0x300 && c < 0x370) return 0; /* combining accents */
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
    if (c >= wide[i].first && c <= wide[i].last) return 2;
  }
  return 1;
}

static void put_character(ttm_buf *out, uint32_t c, ttm_text_form form) {
  if (c >= 0x80 && form == TTM_FORM_ASCII) c = '?';
  if (form == TTM_FORM_MARKDOWN && (c == '|' || c == '`' || c == '<' || c == '\\')) ttm_buf_char(out, '\\');
  if (c < 0x80) return ttm_buf_char(out, (char)c);
  if (c >= 0x10000) {
    ttm_buf_char(out, (char)(0xF0 | c >> 18));
    ttm_buf_char(out, (char)(0x80 | (c >> 12 & 0x3F)));
  } else if (c >= 0x800) {
    ttm_buf_char(out, (char)(0xE0 | c >> 12));
  }
  ttm_buf_char(out, (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3F) : 0xC0 | c >> 6));
  ttm_buf_char(out, (char)(0x80 | (c & 0x3F)));
}

/* ---- Texts -------------------------------------------------------------------------------------------------------- */

size_t ttm_text_columns(ttm_str text) {
  size_t columns = 0, length;
  for (size_t at = 0; at < text.n; at += length) columns += columns_of(shown(decode(text, at, &length)));
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
  size_t column = 0, length;
  for (size_t at = 0; at < text.n; at += length) {
    uint32_t c = shown(decode(text, at, &length));
    unsigned wide = columns_of(c);
    if (column + wide <= head || column >= tail_from)
      put_character(out, c, form);
    else if (!gap_put)
      gap_put = true, ttm_buf_puts(out, gap);
    column += wide;
  }
}

void ttm_pad_to(ttm_buf *out, size_t start, size_t columns) {
  if (out->failed) return;
  size_t have = ttm_text_columns(ttm_str_from(ttm_buf_str(out), start));
  for (; have < columns; have++) ttm_buf_char(out, ' ');
}

const char *const ttm_column_eighths[9] = {" ",
                                           "\xE2\x96\x81",
                                           "\xE2\x96\x82",
                                           "\xE2\x96\x83",
                                           "\xE2\x96\x84",
                                           "\xE2\x96\x85",
                                           "\xE2\x96\x86",
                                           "\xE2\x96\x87",
                                           "\xE2\x96\x88"};

size_t ttm_put_bar(ttm_buf *out, double percent, size_t columns, bool utf8) {
  static const char *const eighths[] = {"",
                                        "\xE2\x96\x8F",
                                        "\xE2\x96\x8E",
                                        "\xE2\x96\x8D",
                                        "\xE2\x96\x8C",
                                        "\xE2\x96\x8B",
                                        "\xE2\x96\x8A",
                                        "\xE2\x96\x89"};
  size_t steps = utf8 ? 8 : 1;
  double exact = percent / 100.0 * (double)(columns * steps);
  size_t filled = exact >= (double)(columns * steps) ? columns * steps : exact > 0 ? (size_t)exact : 0;
  if (!filled && percent > 0) filled = 1;
  for (size_t i = 0; i < filled / steps; i++) ttm_buf_puts(out, utf8 ? "\xE2\x96\x88" : "#");
  if (utf8) ttm_buf_puts(out, eighths[filled % steps]);
  size_t rest = out->n;
  for (size_t i = (filled + steps - 1) / steps; i < columns; i++) ttm_buf_puts(out, utf8 ? "\xE2\x96\x91" : ".");
  return rest;
}

size_t ttm_put_paragraph(ttm_buf *out, ttm_str words, size_t column, size_t indent, size_t columns,
                         ttm_text_form form) {
  size_t lines = 1;
  bool fresh = true;
  ttm_buf_follow(out, words);
  while (words.n) {
    ttm_str word = ttm_str_first(words, ttm_str_find_char(words, ' '));
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
