/* SPDX-License-Identifier: Apache-2.0 */
/* A bar per operation (or per few, when there are more than columns): tensors below, the program's buffers on top of them. */
#include "base/checked.h"
#include "base/format.h"
#include "report/graph/capture_report.h"

enum { ROWS = 12, MARGIN = 12 };

typedef struct bar {
  uint64_t tensors, program;
} bar;

static uint64_t height(bar b) { return ttm_add_sat(b.tensors, b.program); }

/* The fullest of the operations that share a column. */
static bar bar_of(const ttm_core_use *u, size_t column, size_t columns) {
  bar fullest = {0, 0};
  size_t first = column * u->steps.n / columns, end = (column + 1) * u->steps.n / columns;
  for (size_t s = first; s < end; s++) {
    bar b = {u->steps.at[s].tensors, u->steps.at[s].program};
    if (height(b) > height(fullest)) fullest = b;
  }
  return fullest;
}

static void put_row(ttm_buf *out, const ttm_core_use *u, unsigned row, uint64_t top, size_t columns, size_t wide,
                    bool utf8) {
  uint64_t middle = top / ROWS * row + top / ROWS / 2, line = top / ROWS * (row + 1);
  size_t start = out->n;
  bool limit = u->limit && u->limit <= line && (row == 0 || u->limit > top / ROWS * row);
  if (row % 3 == 2 || row == ROWS - 1) ttm_put_bytes(out, line);
  size_t n = out->n - start;
  out->n = start;
  char label[32] = "";
  if (n && n < sizeof label && out->at) memcpy(label, out->at + start, n), label[n] = '\0';
  ttm_buf_printf(out, "%*s ", MARGIN - 2, label);
  ttm_buf_puts(out, utf8 ? "\xE2\x94\x82" : "|");
  for (size_t c = 0; c < columns; c++) {
    bar b = bar_of(u, c / wide, columns / wide);
    uint64_t edge = row ? middle : 0; /* anything above zero shows in the lowest row */
    if (b.tensors > edge)
      ttm_buf_puts(out, utf8 ? "\xE2\x96\x88" : "#");
    else if (height(b) > edge)
      ttm_buf_puts(out, utf8 ? "\xE2\x96\x92" : "+");
    else
      ttm_buf_puts(out, limit ? (utf8 ? "\xE2\x94\x84" : "-") : " ");
  }
  if (limit) ttm_buf_puts(out, " limit");
  while (out->n > start && out->at[out->n - 1] == ' ') out->n--;
  ttm_buf_char(out, '\n');
}

void ttm_capture_chart(ttm_buf *out, const ttm_core_use *u, unsigned width, bool utf8) {
  size_t columns = width > MARGIN + 20 ? width - MARGIN - 7 : 20;
  uint64_t top = 0;
  if (!u->steps.n || out->failed) return;
  enum { WIDEST = 6 };
  size_t wide = columns / u->steps.n > WIDEST ? WIDEST : columns / u->steps.n;
  if (!wide) wide = 1; /* more operations than columns: neighbours share one */
  if (columns > u->steps.n * wide) columns = u->steps.n * wide;
  for (size_t s = 0; s < u->steps.n; s++) {
    bar b = {u->steps.at[s].tensors, u->steps.at[s].program};
    if (height(b) > top) top = height(b);
  }
  /* Nearly full: the limit belongs in the picture. Nearly empty: the bars would vanish beneath it. */
  if (u->limit && top > u->limit / 4 && top < u->limit) top = u->limit;
  top = ttm_round_up(top < ROWS ? ROWS : top, ROWS);
  for (unsigned row = ROWS; row-- > 0;) put_row(out, u, row, top, columns, wide, utf8);
  ttm_buf_printf(out, "%*s%s", MARGIN - 1, "", utf8 ? "\xE2\x94\x94" : "+");
  for (size_t c = 0; c < columns; c++) ttm_buf_puts(out, utf8 ? "\xE2\x94\x80" : "-");
  ttm_buf_printf(out, "\n%*s %s tensors   %s buffers of the running program", MARGIN - 1, "",
                 utf8 ? "\xE2\x96\x88" : "#", utf8 ? "\xE2\x96\x92" : "+");
  ttm_buf_printf(out, "   (%zu operations)\n", u->steps.n);
}
