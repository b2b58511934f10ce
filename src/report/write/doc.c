/* SPDX-License-Identifier: Apache-2.0 */
#include "report/write/doc.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/format.h"
#include "base/utf8.h"
#include "report/write/core_grid.h"
#include "report/write/doc_data.h"
#include "report/write/svg.h"

enum { MOST_CELL = 200, LONGEST_CELL = 60, LEAST_TEXT = 14, LEAST_CELL = 6, GAP = 2, BELOW = 4, LEAST_COLUMNS = 72 };
enum { TEXT_INDENT = 2, FIGURE = 9, LABEL = 10 };

/* Light and dark, readable on paper, no script, nothing from elsewhere. */
static const char page_style[] =
    "<style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem "
    "auto;padding:0 1rem}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}table{border-collapse:collapse;"
    "margin:.75rem 0;display:block;overflow-x:auto}th,td{padding:.25rem .7rem;border-bottom:1px solid "
    "#8886;text-align:left;white-space:nowrap}.r{text-align:right;font-variant-numeric:tabular-nums}svg{max-width:100%;"
    "height:auto}</style>";

/* ---- Text ------------------------------------------------------------------------------------------------------------- */

static void put_foreign(ttm_doc *d, ttm_str text, size_t columns) {
  if (d->form == TTM_DOC_HTML)
    ttm_xml_text(d->out, text, columns);
  else if (d->form == TTM_DOC_MARKDOWN)
    ttm_put_text(d->out, text, columns, d->comment ? TTM_FORM_COMMENT : TTM_FORM_MARKDOWN);
  else
    ttm_put_text(d->out, text, columns, d->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII);
}

static void color(ttm_doc *d, const char *code) {
  if (d->form == TTM_DOC_TERMINAL && d->color) ttm_buf_printf(d->out, "\x1b[%sm", code);
}

static ttm_buf formatted(const char *format, va_list args) {
  ttm_buf text = {0};
  ttm_buf_vprintf(&text, format, args);
  return text;
}

static void note_lines(ttm_doc *d, size_t n, bool text) {
  for (size_t i = 0; d->lines && i < n; i++) {
    ttm_doc_line_about line = {d->about ? d->about - 1 : UINT32_MAX, text, i > 0};
    if (ttm_vec_push(d->lines, line)) d->out->failed = true;
  }
  if (text) d->about = 0;
}

static size_t columns_of(const ttm_doc *d) { return d->columns < LEAST_COLUMNS ? LEAST_COLUMNS : d->columns; }

/* Words over as many lines as it takes; the first goes on at column `indent`, the others start there. */
static void put_wrapped(ttm_doc *d, ttm_str text, size_t indent) {
  note_lines(d,
             ttm_put_paragraph(d->out, text, indent, indent, columns_of(d), d->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII),
             true);
  ttm_buf_char(d->out, '\n');
}

static void end_list(ttm_doc *d) {
  if (d->in_list && d->form == TTM_DOC_HTML) ttm_buf_puts(d->out, "</ul>\n");
  d->in_list = false;
}

/* At column `indent`, where the line already is. */
static void put_toned(ttm_doc *d, ttm_str text, size_t indent, ttm_doc_tone tone) {
  static const char *const codes[] = {"", "31", "33", "2", "32"};
  if (tone) color(d, codes[tone]);
  put_wrapped(d, text, indent);
  if (tone && d->color && !d->out->failed) d->out->n--, color(d, "0"), ttm_buf_char(d->out, '\n');
}

static void put_sentence(ttm_doc *d, ttm_str text, size_t indent, ttm_doc_tone tone) {
  d->parts++;
  if (ttm_doc_is_data(d)) return ttm_doc_data_text(d, NULL, -1, text);
  if (d->in_list && d->form == TTM_DOC_MARKDOWN) ttm_buf_char(d->out, '\n');
  end_list(d);
  if (d->form == TTM_DOC_TERMINAL) {
    ttm_buf_printf(d->out, "%*s", (int)indent, "");
    put_toned(d, text, indent, tone);
  } else {
    ttm_buf_puts(d->out, d->form == TTM_DOC_HTML ? "<p>" : "");
    put_foreign(d, text, SIZE_MAX);
    ttm_buf_puts(d->out, d->form == TTM_DOC_HTML ? "</p>\n" : "\n\n");
  }
  d->started = true;
}

/* A point of a list, behind `mark` on a terminal and behind `before` elsewhere. */
static void put_item(ttm_doc *d, const char *mark, const char *before, ttm_str text) {
  d->parts++;
  if (ttm_doc_is_data(d)) return ttm_doc_data_text(d, NULL, -1, text);
  if (!d->in_list && d->form == TTM_DOC_HTML) ttm_buf_puts(d->out, "<ul>\n");
  d->in_list = true;
  if (d->form == TTM_DOC_TERMINAL) {
    ttm_buf_puts(d->out, mark);
    put_wrapped(d, text, ttm_text_columns(ttm_str_of(mark)));
  } else {
    ttm_buf_puts(d->out, d->form == TTM_DOC_HTML ? "<li>" : "- ");
    ttm_buf_puts(d->out, before);
    put_foreign(d, text, SIZE_MAX);
    ttm_buf_puts(d->out, d->form == TTM_DOC_HTML ? "</li>\n" : "\n");
  }
  d->started = true;
}

void ttm_doc_line(ttm_doc *d, const char *format, ...) {
  va_list args;
  va_start(args, format);
  ttm_buf text = formatted(format, args);
  va_end(args);
  put_sentence(d, ttm_buf_str(&text), 0, TTM_DOC_PLAIN);
  ttm_buf_free(&text);
}

void ttm_doc_point(ttm_doc *d, const char *format, ...) {
  va_list args;
  va_start(args, format);
  ttm_buf text = formatted(format, args);
  va_end(args);
  put_item(d, d->utf8 ? "• " : "* ", "", ttm_buf_str(&text));
  ttm_buf_free(&text);
}

void ttm_doc_about(ttm_doc *d, uint32_t operation) { d->about = operation == UINT32_MAX ? 0 : operation + 1; }

void ttm_doc_text(ttm_doc *d, ttm_doc_tone tone, ttm_str text) { put_sentence(d, text, TEXT_INDENT, tone); }

void ttm_doc_figure(ttm_doc *d, double mb, ttm_str text) {
  ttm_buf figure = {0}, mark = {0};
  if (ttm_doc_is_data(d)) return d->parts++, ttm_doc_data_text(d, NULL, mb, text);
  if (mb >= 0) ttm_put_mb(&figure, mb);
  ttm_buf_printf(&mark, "%*s%*.*s  ", TEXT_INDENT, "", mb >= 0 ? FIGURE : 1, (int)figure.n, figure.n ? figure.at : "");
  if (mb < 0) mark.n = 0, ttm_buf_printf(&mark, "%*s%s ", TEXT_INDENT, "", d->utf8 ? "•" : "*");
  if (mb >= 0) ttm_buf_puts(&figure, " MB: ");
  ttm_buf_char(&mark, '\0');
  ttm_buf_char(&figure, '\0');
  if (mark.failed || figure.failed)
    d->out->failed = true;
  else
    put_item(d, mark.at, figure.at, text);
  ttm_buf_free(&mark);
  ttm_buf_free(&figure);
}

/* Longer than any row of backticks inside: the block ends where it ends. */
static size_t fence_of(ttm_str lines) {
  size_t longest = 2, now = 0;
  for (size_t i = 0; i < lines.n; i++) {
    now = lines.p[i] == '`' ? now + 1 : 0;
    if (now > longest) longest = now;
  }
  return longest + 1;
}

static void put_fence(ttm_doc *d, size_t fence, const char *end) {
  for (size_t i = 0; i < fence; i++) ttm_buf_char(d->out, '`');
  if (fence) ttm_buf_puts(d->out, end);
}

void ttm_doc_code(ttm_doc *d, ttm_str lines) {
  static const char *const opens[] = {"", "\n  ", "<pre>"}, *const ends[] = {"", "  ", "</pre>\n"};
  if (ttm_doc_is_data(d)) return ttm_doc_data_text(d, "code", -1, lines);
  size_t fence = d->form == TTM_DOC_MARKDOWN ? fence_of(lines) : 0;
  ttm_buf_puts(d->out, opens[d->form]);
  put_fence(d, fence, "python\n");
  while (lines.n) {
    ttm_str line = ttm_str_take_to(&lines, '\n');
    ttm_buf_printf(d->out, "%*s",
                   d->form == TTM_DOC_TERMINAL   ? TEXT_INDENT + 2
                   : d->form == TTM_DOC_MARKDOWN ? 2
                                                 : 0,
                   "");
    if (d->form == TTM_DOC_HTML)
      ttm_xml_text(d->out, line, SIZE_MAX);
    else
      ttm_put_text(d->out, line, SIZE_MAX, d->utf8 || d->form == TTM_DOC_MARKDOWN ? TTM_FORM_UTF8 : TTM_FORM_ASCII);
    ttm_buf_char(d->out, '\n');
    note_lines(d, 1, true);
  }
  ttm_buf_puts(d->out, ends[d->form]);
  put_fence(d, fence, "\n\n");
}

void ttm_doc_labelled(ttm_doc *d, const char *label, ttm_doc_tone tone, ttm_str text) {
  if (ttm_doc_is_data(d)) return d->parts++, ttm_doc_data_text(d, label, -1, text);
  if (d->form != TTM_DOC_TERMINAL) {
    ttm_buf all = {0};
    ttm_buf_printf(&all, d->form == TTM_DOC_HTML ? "<b>%s</b> " : "**%s** ", label);
    ttm_buf_char(&all, '\0');
    if (all.failed) d->out->failed = true;
    if (!all.failed) put_item(d, "", *label ? all.at : "", text);
    ttm_buf_free(&all);
    return;
  }
  if (*label) color(d, "1");
  ttm_buf_printf(d->out, strlen(label) < LABEL ? "%-*s" : "%-*s ", LABEL, label);
  if (*label) color(d, "0");
  put_toned(d, text, LABEL, tone);
  d->started = true;
}

void ttm_doc_heading(ttm_doc *d, const char *text) {
  bool was_list = d->in_list;
  if (ttm_doc_is_data(d)) return ttm_doc_data_heading(d, text);
  end_list(d);
  if (d->form == TTM_DOC_HTML) {
    ttm_buf_puts(d->out, "<h2>");
    put_foreign(d, ttm_str_of(text), SIZE_MAX);
    ttm_buf_puts(d->out, "</h2>\n");
  } else {
    bool blank = d->form == TTM_DOC_TERMINAL ? d->started : was_list;
    if (blank) ttm_buf_char(d->out, '\n');
    if (d->form == TTM_DOC_TERMINAL) note_lines(d, blank ? 2 : 1, false);
    if (d->form == TTM_DOC_MARKDOWN) ttm_buf_puts(d->out, "## ");
    color(d, "1");
    put_foreign(d, ttm_str_of(text), SIZE_MAX);
    color(d, "0");
    ttm_buf_puts(d->out, d->form == TTM_DOC_MARKDOWN ? "\n\n" : "\n");
  }
  d->started = true;
}

void ttm_doc_begin(ttm_doc *d, const char *title) {
  if (ttm_doc_is_data(d)) return ttm_doc_data_begin(d, title);
  if (d->form == TTM_DOC_HTML) {
    ttm_buf_puts(d->out,
                 "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                 "content=\"width=device-width,initial-scale=1\"><title>");
    put_foreign(d, ttm_str_of(title), SIZE_MAX);
    ttm_buf_printf(d->out, "</title>%s</head><body>\n<h1>", page_style);
    put_foreign(d, ttm_str_of(title), SIZE_MAX);
    ttm_buf_puts(d->out, "</h1>\n");
  } else {
    if (d->form == TTM_DOC_MARKDOWN) ttm_buf_puts(d->out, "# ");
    color(d, "1");
    put_foreign(d, ttm_str_of(title), SIZE_MAX);
    color(d, "0");
    ttm_buf_puts(d->out, d->form == TTM_DOC_MARKDOWN ? "\n\n" : "\n");
  }
  d->started = true;
}

int ttm_doc_end(ttm_doc *d) {
  end_list(d);
  if (d->form == TTM_DOC_HTML) ttm_buf_puts(d->out, "</body></html>\n");
  if (ttm_doc_is_data(d)) ttm_doc_data_end(d);
  for (size_t i = 0; i < d->cells.n; i++) ttm_buf_free(&d->cells.at[i]);
  ttm_vec_free(&d->cells);
  return d->out->failed ? TTM_ENOMEM : TTM_OK;
}

/* ---- Tables ----------------------------------------------------------------------------------------------------------- */

void ttm_doc_table(ttm_doc *d, const char *const *heads, size_t n) {
  if (d->in_list && d->form == TTM_DOC_MARKDOWN) ttm_buf_char(d->out, '\n');
  end_list(d);
  d->head_count = n < TTM_DOC_COLUMNS ? n : TTM_DOC_COLUMNS;
  for (size_t i = 0; i < d->head_count; i++) d->heads[i] = heads[i];
}

static void add_cell(ttm_doc *d, ttm_buf cell) {
  if (cell.failed || ttm_vec_push(&d->cells, cell)) {
    d->out->failed = true;
    ttm_buf_free(&cell);
  }
}

void ttm_doc_cell(ttm_doc *d, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add_cell(d, formatted(format, args));
  va_end(args);
}

void ttm_doc_cell_count(ttm_doc *d, uint64_t n) {
  ttm_buf cell = {0};
  ttm_put_count(&cell, n);
  add_cell(d, cell);
}

void ttm_doc_cell_bytes(ttm_doc *d, uint64_t bytes) {
  ttm_buf cell = {0};
  ttm_doc_is_data(d) ? ttm_buf_u64(&cell, bytes) : ttm_put_bytes(&cell, bytes);
  add_cell(d, cell);
}

static void put_mb(ttm_doc *d, ttm_buf *cell, double mb) {
  ttm_doc_is_data(d) ? ttm_put_plain_mb(cell, mb) : ttm_put_mb(cell, mb);
}

void ttm_doc_cell_change(ttm_doc *d, double mb) {
  ttm_buf cell = {0};
  if (mb > 0) ttm_buf_char(&cell, '+');
  put_mb(d, &cell, mb);
  add_cell(d, cell);
}

void ttm_doc_cell_mb(ttm_doc *d, double mb) {
  ttm_buf cell = {0};
  if (isnan(mb))
    ttm_buf_char(&cell, '-');
  else
    put_mb(d, &cell, mb);
  add_cell(d, cell);
}

void ttm_doc_cell_text(ttm_doc *d, ttm_str text) {
  ttm_buf cell = {0};
  ttm_buf_put(&cell, text);
  add_cell(d, cell);
}

static bool is_right(const char *head) { return head[0] == '>'; }
static bool is_below(const char *head) { return head[0] == '<'; }
static ttm_str head_text(const char *head) {
  ttm_str text = ttm_str_of(is_right(head) || is_below(head) ? head + 1 : head);
  return ttm_str_first(text, ttm_str_find_char(text, '\t'));
}

static void put_cell(ttm_doc *d, ttm_str text, size_t column, size_t columns, size_t width) {
  size_t shown = ttm_text_columns(text), start = d->out->n;
  bool right = is_right(d->heads[column]), last = column + 1 == columns;
  if (right) ttm_buf_printf(d->out, "%*s", (int)(width - shown), "");
  put_foreign(d, text, width);
  if (!right && !last) ttm_pad_to(d->out, start, width);
  if (!last) ttm_buf_printf(d->out, "%*s", GAP, "");
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Whether a line may end behind byte `at`: not inside a number or a date, and not behind a bracket that opens after a word. */
static bool may_end(ttm_str text, size_t at) {
  char c = text.p[at], before = at ? text.p[at - 1] : ' ', after = text.p[at + 1];
  if (c == '.' && is_digit(before) && is_digit(after)) return false;
  if (c == '-') return is_letter(before) && is_letter(after);
  if (c == '(' && before == ' ') return false;
  return strchr(" /(:._|", c) && after != ':';
}

/* Takes the first line of a cell: whole words, parts of a path or of an expression where the width allows, else as much as fits. */
static ttm_str take_line(ttm_str *rest, size_t width) {
  size_t end = 0, part = 0;
  for (size_t columns = 0; end < rest->n;) {
    size_t next = end + ttm_utf8_length(ttm_str_from(*rest, end));
    columns += ttm_text_columns((ttm_str){rest->p + end, next - end});
    if (columns > width && rest->p[end] != ' ') break;
    if (next == end + 1 && next < rest->n && may_end(*rest, end)) part = next;
    end = next;
  }
  if (end < rest->n && part) end = part;
  ttm_str line = ttm_str_first(*rest, end);
  *rest = ttm_str_from(*rest, end);
  while (line.n && line.p[line.n - 1] == ' ') line.n--;
  return line;
}

/* A row over as many lines as its longest cell takes: nothing is cut. */
static void put_row(ttm_doc *d, ttm_str *cells, const size_t *width, size_t columns) {
  for (bool more = true; more;) {
    size_t start = d->out->n;
    more = false;
    for (size_t c = 0; c < columns; c++) {
      put_cell(d, take_line(&cells[c], width[c]), c, columns, width[c]);
      more |= cells[c].n > 0;
    }
    while (!d->out->failed && d->out->n > start && d->out->at[d->out->n - 1] == ' ') d->out->n--;
    ttm_buf_char(d->out, '\n');
  }
}

static size_t add_widths(const size_t *width, size_t n) {
  size_t all = 0;
  for (size_t c = 0; c < n; c++) all += width[c] + (c ? GAP : 0);
  return all;
}

/* What has no room at the end of its row, below it. */
static void put_below(ttm_doc *d, const char *head, ttm_str text) {
  ttm_buf line = {0};
  if (ttm_str_eq(text, TTM_LIT("-"))) return;
  ttm_buf_printf(&line, "%.*s: %.*s", TTM_ARGS(head_text(head)), TTM_ARGS(text));
  ttm_buf_printf(d->out, "%*s", BELOW, "");
  put_wrapped(d, ttm_buf_str(&line), BELOW);
  d->out->failed |= line.failed;
  ttm_buf_free(&line);
}

/* Columns that are too wide together give: the widest text first, numbers when texts have little left. */
static void fit_columns(const ttm_doc *d, size_t *width, size_t n) {
  for (size_t all = add_widths(width, n); all > columns_of(d); all--) {
    size_t widest = 0, text = SIZE_MAX;
    for (size_t c = 0; c < n; c++) {
      if (width[c] > width[widest]) widest = c;
      if (!is_right(d->heads[c]) && width[c] > LEAST_TEXT && (text == SIZE_MAX || width[c] > width[text])) text = c;
    }
    if (text != SIZE_MAX) widest = text;
    if (width[widest] <= LEAST_CELL) return;
    width[widest]--;
  }
}

static void put_terminal_table(ttm_doc *d) {
  size_t width[TTM_DOC_COLUMNS], n = d->head_count;
  ttm_str row[TTM_DOC_COLUMNS];
  for (size_t c = 0; c < n; c++) row[c] = head_text(d->heads[c]), width[c] = ttm_text_columns(row[c]);
  for (size_t i = 0; i < d->cells.n; i++) {
    ttm_buf clean = {0};
    ttm_put_text(&clean, ttm_buf_str(&d->cells.at[i]), MOST_CELL, d->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII);
    ttm_buf_free(&d->cells.at[i]);
    d->cells.at[i] = clean;
    d->out->failed |= clean.failed;
    size_t w = ttm_text_columns(ttm_buf_str(&clean));
    if (w > LONGEST_CELL) w = LONGEST_CELL;
    if (w > width[i % n]) width[i % n] = w;
  }
  bool below = is_below(d->heads[n - 1]) && add_widths(width, n) > columns_of(d);
  size_t beside = below ? n - 1 : n;
  fit_columns(d, width, beside);
  color(d, "2");
  put_row(d, row, width, beside);
  color(d, "0");
  for (size_t i = 0; i < d->cells.n; i++) {
    row[i % n] = ttm_buf_str(&d->cells.at[i]);
    if (i % n < n - 1) continue;
    ttm_str last = row[n - 1];
    put_row(d, row, width, beside);
    if (below) put_below(d, d->heads[n - 1], last);
  }
}

static void put_markdown_table(ttm_doc *d) {
  size_t n = d->head_count;
  for (size_t c = 0; c < n; c++) {
    ttm_buf_puts(d->out, "| ");
    put_foreign(d, head_text(d->heads[c]), SIZE_MAX);
    ttm_buf_char(d->out, ' ');
  }
  ttm_buf_puts(d->out, "|\n");
  for (size_t c = 0; c < n; c++) ttm_buf_puts(d->out, is_right(d->heads[c]) ? "|---:" : "|---");
  ttm_buf_puts(d->out, "|\n");
  for (size_t i = 0; i < d->cells.n; i++) {
    ttm_buf_puts(d->out, "| ");
    put_foreign(d, ttm_buf_str(&d->cells.at[i]), MOST_CELL);
    ttm_buf_puts(d->out, i % n == n - 1 ? " |\n" : " ");
  }
  ttm_buf_char(d->out, '\n');
}

static void put_html_table(ttm_doc *d) {
  size_t n = d->head_count;
  ttm_buf_puts(d->out, "<table><thead><tr>");
  for (size_t c = 0; c < n; c++) {
    ttm_buf_puts(d->out, is_right(d->heads[c]) ? "<th class=\"r\">" : "<th>");
    put_foreign(d, head_text(d->heads[c]), SIZE_MAX);
    ttm_buf_puts(d->out, "</th>");
  }
  ttm_buf_puts(d->out, "</tr></thead><tbody>\n");
  for (size_t i = 0; i < d->cells.n; i++) {
    if (i % n == 0) ttm_buf_puts(d->out, "<tr>");
    ttm_buf_puts(d->out, is_right(d->heads[i % n]) ? "<td class=\"r\">" : "<td>");
    put_foreign(d, ttm_buf_str(&d->cells.at[i]), MOST_CELL);
    ttm_buf_puts(d->out, "</td>");
    if (i % n == n - 1) ttm_buf_puts(d->out, "</tr>\n");
  }
  ttm_buf_puts(d->out, "</tbody></table>\n");
}

void ttm_doc_table_end(ttm_doc *d) {
  if (!d->head_count) return; /* no table was begun */
  d->parts++;
  if (ttm_doc_is_data(d))
    ttm_doc_data_table(d);
  else if (d->form == TTM_DOC_TERMINAL)
    put_terminal_table(d);
  else if (d->form == TTM_DOC_MARKDOWN)
    put_markdown_table(d);
  else
    put_html_table(d);
  for (size_t i = 0; i < d->cells.n; i++) ttm_buf_free(&d->cells.at[i]);
  d->cells.n = 0;
  d->started = true;
}

/* ---- Pictures --------------------------------------------------------------------------------------------------------- */

void ttm_doc_block(ttm_doc *d, ttm_str lines) {
  if (ttm_doc_is_data(d)) return;
  end_list(d);
  if (d->form == TTM_DOC_HTML) {
    ttm_buf_puts(d->out, "<pre>");
    while (lines.n) { /* line by line: a line end is no text to be escaped */
      ttm_xml_text(d->out, ttm_str_take_to(&lines, '\n'), SIZE_MAX);
      ttm_buf_char(d->out, '\n');
    }
    ttm_buf_puts(d->out, "</pre>\n");
    return;
  }
  size_t fence = d->form == TTM_DOC_MARKDOWN ? fence_of(lines) : 0;
  put_fence(d, fence, "\n");
  while (fence && lines.n) {
    ttm_put_text(d->out, ttm_str_take_to(&lines, '\n'), SIZE_MAX, TTM_FORM_UTF8);
    ttm_buf_char(d->out, '\n');
  }
  if (!fence) ttm_buf_put(d->out, lines);
  put_fence(d, fence, "\n\n");
}

static ttm_picture_style begin_picture(ttm_doc *d) {
  if (d->form == TTM_DOC_TERMINAL) return (ttm_picture_style){d->columns, d->color, d->utf8};
  ttm_buf_puts(d->out, "```\n");
  return (ttm_picture_style){.columns = 80, .utf8 = true};
}

static void end_picture(ttm_doc *d) {
  if (d->form == TTM_DOC_MARKDOWN) ttm_buf_puts(d->out, "```\n\n");
}

void ttm_doc_picture(ttm_doc *d, const ttm_l1_map *map) {
  if (ttm_doc_is_data(d)) return;
  end_list(d);
  if (d->form == TTM_DOC_HTML) {
    d->out->failed |= ttm_l1_picture_svg(map, d->out) != TTM_OK;
    return;
  }
  ttm_picture_style style = begin_picture(d);
  d->out->failed |= ttm_l1_picture_text(map, &style, d->out) != TTM_OK;
  end_picture(d);
}

void ttm_doc_cores(ttm_doc *d, const ttm_core_grid *grid) {
  if (ttm_doc_is_data(d)) return;
  end_list(d);
  if (d->form == TTM_DOC_HTML) {
    d->out->failed |= ttm_core_grid_svg(grid, d->out) != TTM_OK;
    return;
  }
  if (!ttm_core_grid_varies(grid)) return;
  ttm_picture_style style = begin_picture(d);
  ttm_core_grid_text(grid, TTM_CORE_LIMIT, TTM_CORE_LIMIT, &style, d->out);
  end_picture(d);
}
