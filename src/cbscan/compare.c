/* SPDX-License-Identifier: Apache-2.0 */
/* Two versions of a program side by side. */
#include <stdio.h>

#include "base/format.h"
#include "cbscan/report.h"

typedef struct totals {
  cbs_sum sum;
  uint64_t kernels, bytes, code, complexity, depth;
  uint64_t levels[TTM_CB_LEVELS];
} totals;

static totals totals_of(const cbs_scan *scan) {
  totals t = {.sum = cbs_sum_of(scan->buffers.at, scan->buffers.n)};
  for (size_t i = 0; i < scan->files.n; i++) {
    const cbs_file *file = &scan->files.at[i];
    if (file->role != CBS_FILE_KERNEL || !file->parsed) continue;
    t.kernels++;
    t.bytes += file->bytes;
    t.code += file->size.code_lines;
    t.complexity += file->size.complexity;
    if (file->size.depth > t.depth) t.depth = file->size.depth;
  }
  for (size_t i = 0; i < scan->findings.n; i++) t.levels[scan->findings.at[i].level]++;
  return t;
}

static void put_row(ttm_doc *d, const char *what, uint64_t a, uint64_t b) {
  ttm_doc_cell(d, "%s", what);
  ttm_doc_cell_count(d, a);
  ttm_doc_cell_count(d, b);
}

static void put_most(ttm_doc *d, const cbs_sum *sum) {
  sum->unknown ? ttm_doc_cell(d, "unknown") : ttm_doc_cell_count(d, sum->most);
}

static void put_summary(ttm_doc *d, const cbs_scan *const scans[2], const char *const heads[2]) {
  totals a = totals_of(scans[0]), b = totals_of(scans[1]);
  ttm_doc_table(d, (const char *const[3]){"", heads[0], heads[1]}, 3);
  ttm_doc_cell(d, "Strategy");
  ttm_doc_cell(d, "%s", cbs_strategy(&a.sum));
  ttm_doc_cell(d, "%s", cbs_strategy(&b.sum));
  put_row(d, "Buffers", a.sum.buffers, b.sum.buffers);
  put_row(d, "  fixed size", a.sum.fixed, b.sum.fixed);
  put_row(d, "  adaptive size", a.sum.adaptive, b.sum.adaptive);
  put_row(d, "  in tensor memory", a.sum.global, b.sum.global);
  put_row(d, "  of unknown size", a.sum.unknown, b.sum.unknown);
  put_row(d, "Bytes per core at least", a.sum.least, b.sum.least);
  ttm_doc_cell(d, "Bytes per core at most");
  put_most(d, &a.sum);
  put_most(d, &b.sum);
  put_row(d, "Kernels", a.kernels, b.kernels);
  put_row(d, "  source bytes", a.bytes, b.bytes);
  put_row(d, "  code lines", a.code, b.code);
  put_row(d, "  complexity", a.complexity, b.complexity);
  put_row(d, "  loop depth", a.depth, b.depth);
  for (int l = 0; l < TTM_CB_LEVELS; l++) {
    ttm_doc_cell(d, "Findings: %s", ttm_cb_level_name((ttm_cb_level)l));
    ttm_doc_cell_count(d, a.levels[l]);
    ttm_doc_cell_count(d, b.levels[l]);
  }
  ttm_doc_table_end(d);
}

/* ---- Buffer by buffer ----------------------------------------------------------------------------------------------- */

static bool same_buffer(ttm_doc *d, const cbs_buffer *a, const cbs_buffer *b) {
  ttm_buf x = {0}, y = {0};
  cbs_put_indices(&x, a);
  cbs_put_indices(&y, b);
  d->out->failed |= x.failed | y.failed;
  bool same = ttm_str_eq(ttm_buf_str(&x), ttm_buf_str(&y));
  ttm_buf_free(&x);
  ttm_buf_free(&y);
  return same;
}

/* The k-th buffer of `scan` that has the same indices; NULL when there is none. */
static const cbs_buffer *find_buffer(ttm_doc *d, const cbs_scan *scan, const cbs_buffer *like, size_t k) {
  for (size_t i = 0; i < scan->buffers.n; i++) {
    if (scan->buffers.at[i].created && same_buffer(d, &scan->buffers.at[i], like) && !k--) return &scan->buffers.at[i];
  }
  return NULL;
}

static void put_side(ttm_doc *d, const cbs_buffer *cb) {
  ttm_buf text = {0};
  if (!cb) {
    ttm_doc_cell(d, "-");
    ttm_doc_cell(d, "-");
    return;
  }
  cbs_put_value(&text, &cb->total.value);
  ttm_doc_cell_text(d, ttm_buf_str(&text));
  ttm_buf_clear(&text);
  ttm_buf_puts(&text, cbs_buffer_is_adaptive(cb) ? "adaptive: " : "fixed: ");
  ttm_buf_put(&text, ttm_str_first(cb->total.text, 60));
  ttm_doc_cell_text(d, ttm_buf_str(&text));
  ttm_buf_free(&text);
}

static size_t occurrence(ttm_doc *d, const cbs_scan *scan, size_t at) {
  size_t k = 0;
  for (size_t i = 0; i < at; i++)
    k += scan->buffers.at[i].created && same_buffer(d, &scan->buffers.at[i], &scan->buffers.at[at]);
  return k;
}

static void put_buffers(ttm_doc *d, const cbs_scan *const scans[2], const char *const names[2]) {
  ttm_buf index = {0};
  const char *heads[] = {"Buffer", names[0], "Expression", names[1], "Expression"};
  ttm_doc_heading(d, "Buffers, bytes");
  ttm_doc_table(d, heads, 5);
  for (int side = 0; side < 2; side++) {
    const cbs_scan *scan = scans[side], *other = scans[!side];
    for (size_t i = 0; i < scan->buffers.n; i++) {
      const cbs_buffer *cb = &scan->buffers.at[i], *twin;
      if (!cb->created) continue;
      twin = find_buffer(d, other, cb, occurrence(d, scan, i));
      if (side && twin) continue; /* told from the other side */
      ttm_buf_clear(&index);
      cbs_put_indices(&index, cb);
      ttm_doc_cell_text(d, ttm_buf_str(&index));
      put_side(d, side ? twin : cb);
      put_side(d, side ? cb : twin);
    }
  }
  ttm_doc_table_end(d);
  ttm_buf_free(&index);
}

/* A path without its folder, as a head that aligns to the right. */
static void make_head(char head[64], const char *name) {
  size_t n = strlen(name);
  while (n && name[n - 1] == '/') n--;
  size_t start = n;
  while (start && name[start - 1] != '/') start--;
  snprintf(head, 64, ">%.*s", TTM_ARGS(ttm_str_first((ttm_str){name + start, n - start}, 60)));
}

void cbs_compare_write(ttm_doc *d, const cbs_scan *const scans[2], const char *const names[2]) {
  char heads[2][64];
  make_head(heads[0], names[0]);
  make_head(heads[1], names[1]);
  if (!strcmp(heads[0], heads[1])) strcpy(heads[0], ">before"), strcpy(heads[1], ">after");
  put_summary(d, scans, (const char *const[2]){heads[0], heads[1]});
  put_buffers(d, scans, (const char *const[2]){heads[0], heads[1]});
  for (int i = 0; i < 2; i++) {
    ttm_doc_heading(d, names[i]);
    cbs_put_findings(d, scans[i]);
    cbs_put_kernels(d, scans[i]);
  }
}
