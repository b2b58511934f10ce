/* SPDX-License-Identifier: Apache-2.0 */
#include "cbscan/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/format.h"

/* ---- Words ---------------------------------------------------------------------------------------------------------- */

/* A value in words: "4,096", "2,048 or 4,096", "at most 8,192", "?". */
static void put_value(ttm_buf *out, const cbs_value *value) {
  bool bounded = value->type == CBS_VALUE_INT && value->at_most != INT64_MAX && !cbs_value_is_known(value);
  if (bounded && value->at_most >= 0) {
    ttm_buf_puts(out, "at most ");
    ttm_put_count(out, (uint64_t)value->at_most);
    return;
  }
  if (!value->n) {
    ttm_buf_char(out, '?');
    return;
  }
  if (value->many && value->type == CBS_VALUE_INT && cbs_value_min(value) >= 0) {
    ttm_put_count(out, (uint64_t)cbs_value_min(value));
    ttm_buf_puts(out, " to ");
    ttm_put_count(out, (uint64_t)cbs_value_max(value));
  }
  for (int i = 0; i < value->n && !(value->many && value->type == CBS_VALUE_INT); i++) {
    const cbs_alternative *v = &value->v[i];
    if (i) ttm_buf_puts(out, " or ");
    if (value->type == CBS_VALUE_INT && v->i >= 0)
      ttm_put_count(out, (uint64_t)v->i);
    else if (value->type == CBS_VALUE_INT || value->type == CBS_VALUE_ARG)
      ttm_buf_printf(out, "%" PRId64, v->i);
    else if (value->type == CBS_VALUE_REAL)
      ttm_buf_printf(out, "%g", v->r);
    else if (value->type == CBS_VALUE_FORMAT)
      ttm_buf_puts(out, cbs_formats[v->i].name);
    else
      ttm_buf_put(out, v->t);
  }
  if (value->open) ttm_buf_puts(out, " or ?");
}

/* The indices of a buffer: "c_0", "c_16 c_24", or a name. */
static void put_indices(ttm_buf *out, const cbs_buffer *cb) {
  if (!cb->slot_count) ttm_buf_char(out, '?');
  for (size_t s = 0; s < cb->slot_count; s++) {
    const cbs_expression *index = &cb->slots[s].index;
    if (s) ttm_buf_char(out, ' ');
    if (cbs_value_is_one(&index->value) && index->value.type == CBS_VALUE_INT)
      ttm_buf_printf(out, "c_%" PRId64, index->value.v[0].i);
    else if (cbs_value_is_one(&index->value) && index->value.type == CBS_VALUE_STRING)
      ttm_buf_put(out, index->value.v[0].t);
    else if (index->text.n)
      ttm_buf_put(out, index->text);
    else
      ttm_buf_char(out, '?');
  }
}

cbs_sum cbs_sum_of(const cbs_buffer *buffers, size_t n) {
  cbs_sum sum = {0};
  for (const cbs_buffer *b = buffers; b < buffers + n; b++) {
    uint64_t least, most;
    if (b->address_only || !b->created) continue;
    sum.buffers++;
    sum.global += b->owner == CBS_GLOBAL;
    if (b->owner == CBS_GLOBAL) continue;
    *(cbs_buffer_is_adaptive(b) ? &sum.adaptive : &sum.fixed) += 1;
    sum.unknown += !cbs_buffer_bytes(b, &least, &most);
    if (!b->conditional) sum.least = ttm_add_sat(sum.least, least);
    sum.most = ttm_add_sat(sum.most, most);
  }
  return sum;
}

const char *cbs_strategy(const cbs_sum *sum) {
  return sum->fixed && sum->adaptive ? "mixed" : sum->adaptive ? "adaptive" : sum->fixed ? "fixed" : "none";
}

static void cell_value(ttm_doc *d, const cbs_value *value) {
  ttm_buf text = {0};
  put_value(&text, value);
  ttm_doc_cell_text(d, ttm_buf_str(&text));
  ttm_buf_free(&text);
}

static void cell_indices(ttm_doc *d, const cbs_buffer *cb) {
  ttm_buf text = {0};
  put_indices(&text, cb);
  ttm_doc_cell_text(d, ttm_buf_str(&text));
  ttm_buf_free(&text);
}

/* A text that was put together, as a sentence. */
static void put_sentence(ttm_doc *d, ttm_buf *text) {
  ttm_doc_line(d, "%.*s.", TTM_ARGS(ttm_buf_str(text)));
  d->out->failed |= text->failed;
  ttm_buf_free(text);
}

/* ---- Programs ------------------------------------------------------------------------------------------------------- */

static const char *size_word(const cbs_buffer *cb) {
  if (cb->address_only) return "address";
  if (!cb->created) return "not created";
  if (cb->owner == CBS_GLOBAL) return "global";
  if (cb->owner == CBS_EITHER) return "global or own";
  return cbs_buffer_is_adaptive(cb) ? "adaptive" : "fixed";
}

static void put_buffer(ttm_doc *d, const cbs_buffer *cb, bool cores) {
  uint64_t least, most;
  cb->call_line ? ttm_doc_cell(d, "%u<%u", cb->call_line, cb->line) : ttm_doc_cell(d, "%u", cb->line);
  cell_indices(d, cb);
  cb->slot_count ? cell_value(d, &cb->slots[0].format.value) : ttm_doc_cell(d, "?");
  cb->slot_count ? cell_value(d, &cb->slots[0].page.value) : ttm_doc_cell(d, "?");
  if (!cbs_buffer_pages(cb, &least, &most))
    ttm_doc_cell(d, "?");
  else if (least == most)
    ttm_doc_cell_count(d, least);
  else
    ttm_doc_cell(d, "%s to %s", TTM_COUNT_TEXT(least), TTM_COUNT_TEXT(most));
  cell_value(d, &cb->total.value);
  ttm_doc_cell(d, "%s%s%s", size_word(cb), cb->conditional ? ", if" : "", cb->in_loop ? ", loop" : "");
  ttm_doc_cell_text(d, ttm_str_first(cb->total.text, 80));
  if (cores) ttm_doc_cell_text(d, ttm_str_first(cb->cores, 40));
}

/* True when all buffers of a program are on the same cores, as far as the text goes. */
static bool on_same_cores(const cbs_scan *scan, const cbs_function *f) {
  for (uint32_t i = 1; i < f->buffer_count; i++) {
    if (!ttm_str_eq(scan->buffers.at[f->first_buffer + i].cores, scan->buffers.at[f->first_buffer].cores)) return false;
  }
  return true;
}

static void put_sum(ttm_doc *d, const cbs_scan *scan, const cbs_function *f) {
  cbs_sum sum = cbs_sum_of(&scan->buffers.at[f->first_buffer], f->buffer_count);
  const char *least = TTM_COUNT_TEXT(sum.least), *capacity = TTM_COUNT_TEXT(scan->l1_usable);
  ttm_buf text = {0};
  ttm_put_counted(&text, sum.buffers, "buffer");
  if (sum.global) ttm_buf_printf(&text, ", %" PRIu64 " in tensor memory", sum.global);
  ttm_buf_printf(&text, ", %s in size: ", cbs_strategy(&sum));
  if (sum.unknown)
    ttm_buf_printf(&text, "at least %s B", least);
  else if (sum.least < sum.most)
    ttm_buf_printf(&text, "%s to %s B", least, TTM_COUNT_TEXT(sum.most));
  else
    ttm_buf_printf(&text, "%s B", least);
  ttm_buf_printf(&text, ", capacity %s B per core", capacity);
  if (sum.unknown) ttm_buf_printf(&text, "; %" PRIu64 " of unknown size", sum.unknown);
  put_sentence(d, &text);
}

/* The names whose values would settle sizes: what to give with -D. */
static void put_needs(ttm_doc *d, const cbs_scan *scan, const cbs_function *f) {
  ttm_str seen[12];
  size_t n = 0;
  ttm_buf text = {0};
  for (uint32_t i = 0; i < f->buffer_count; i++) {
    const cbs_value *v = &scan->buffers.at[f->first_buffer + i].total.value;
    for (int k = 0; k < v->needs_n && v->open; k++) {
      size_t at = 0;
      while (at < n && !ttm_str_eq(seen[at], v->needs[k])) at++;
      if (at < n || n == 12 || v->needs[k].n > 60) continue;
      ttm_buf_puts(&text, n ? ", " : "Unknown here; give them with -D NAME=VALUE: ");
      ttm_buf_put(&text, v->needs[k]);
      seen[n++] = v->needs[k];
    }
  }
  if (n) put_sentence(d, &text);
}

/* The file's name alone: its folder stands in the heading or in the JSON. */
static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void cell_place(ttm_doc *d, const cbs_scan *scan, const cbs_link *link, uint32_t file, uint32_t line) {
  if (file == UINT32_MAX)
    ttm_doc_cell(d, link->handed ? "unknown: a called function" : "-");
  else
    ttm_doc_cell(d, "%s:%u", base_name(scan->files.at[file].path), line);
}

static void put_links(ttm_doc *d, const cbs_scan *scan, uint32_t function) {
  static const char *const heads[] = {"Buffer", "Producer", "Consumer"};
  bool begun = false;
  for (size_t i = 0; i < scan->links.n; i++) {
    const cbs_link *link = &scan->links.at[i];
    if (link->function != function) continue;
    if (!begun) ttm_doc_table(d, heads, 3);
    begun = true;
    if (link->buffer.type == CBS_VALUE_INT)
      ttm_doc_cell(d, "c_%" PRId64, link->buffer.v[0].i);
    else
      ttm_doc_cell_text(d, link->buffer.v[0].t);
    cell_place(d, scan, link, link->pushed_file, link->pushed_line);
    cell_place(d, scan, link, link->popped_file, link->popped_line);
  }
  if (begun) ttm_doc_table_end(d);
}

static void put_program(ttm_doc *d, const cbs_scan *scan, uint32_t function) {
  static const char *const heads[] = {">Line",    "Buffer", "Format",     ">Page B", ">Pages",
                                      ">Total B", "Size",   "Expression", "Cores"};
  const cbs_function *f = &scan->functions.at[function];
  ttm_buf title = {0};
  if (!f->buffer_count) return;
  ttm_buf_printf(&title, "%s:%u", scan->files.at[f->file].path, f->line);
  if (f->name.n) ttm_buf_printf(&title, " %.*s", TTM_ARGS(f->name));
  ttm_buf_char(&title, '\0');
  ttm_doc_heading(d, title.failed ? "" : title.at);
  d->out->failed |= title.failed;
  ttm_buf_free(&title);
  bool same = on_same_cores(scan, f);
  ttm_str cores = ttm_str_first(scan->buffers.at[f->first_buffer].cores, 60);
  ttm_doc_table(d, heads, same ? 8 : 9);
  for (uint32_t i = 0; i < f->buffer_count; i++) put_buffer(d, &scan->buffers.at[f->first_buffer + i], !same);
  ttm_doc_table_end(d);
  if (same && cores.n) ttm_doc_line(d, "Cores: %.*s.", TTM_ARGS(cores));
  for (uint32_t i = 0; i < f->buffer_count; i++) {
    if (!scan->buffers.at[f->first_buffer + i].call_line) continue;
    ttm_doc_line(d, "Line A<B: line A calls a helper that creates the buffer on line B.");
    break;
  }
  put_sum(d, scan, f);
  put_needs(d, scan, f);
  put_links(d, scan, function);
}

/* ---- The rest ------------------------------------------------------------------------------------------------------- */

static void put_kernels(ttm_doc *d, const cbs_scan *scan) {
  static const char *const heads[] = {"Kernel",      ">Bytes",   ">Code", ">Loops", ">Depth",
                                      ">Complexity", ">Reserve", ">Push", ">Wait",  ">Pop"};
  bool begun = false;
  for (size_t i = 0; i < scan->files.n; i++) {
    const cbs_file *file = &scan->files.at[i];
    if (file->role != CBS_FILE_KERNEL || !file->parsed) continue;
    if (!begun) {
      ttm_doc_heading(d, "Kernels");
      ttm_doc_table(d, heads, 10);
    }
    begun = true;
    uint32_t acts[CBS_ACTS] = {0};
    for (uint32_t u = 0; u < file->use_count; u++) acts[scan->uses.at[file->first_use + u].act]++;
    ttm_doc_cell_text(d, ttm_str_of(base_name(file->path)));
    ttm_doc_cell_count(d, file->bytes);
    ttm_doc_cell_count(d, file->size.code_lines);
    ttm_doc_cell_count(d, file->size.loops);
    ttm_doc_cell_count(d, file->size.depth);
    ttm_doc_cell_count(d, file->size.complexity);
    for (int a = 0; a < CBS_ACTS; a++) ttm_doc_cell_count(d, acts[a]);
  }
  if (begun) {
    ttm_doc_table_end(d);
    ttm_doc_line(d, "Code: lines of code; Depth: nested loops; Complexity: decisions plus one per function.");
  }
}

static void put_findings(ttm_doc *d, const cbs_scan *scan) {
  ttm_doc_heading(d, "Findings");
  if (!scan->findings.n) ttm_doc_line(d, "None.");
  for (size_t i = 0; i < scan->findings.n; i++) {
    const cbs_finding *f = &scan->findings.at[i];
    ttm_doc_point(d, "%s %s: %s:%u: %.*s", ttm_cb_level_name(f->level), f->rule, scan->files.at[f->file].path, f->line,
                  TTM_ARGS(f->text));
  }
}

static void put_trouble(ttm_doc *d, const cbs_scan *scan) {
  bool begun = false;
  for (size_t i = 0; i < scan->files.n; i++) {
    const cbs_file *file = &scan->files.at[i];
    if (!file->failure && !file->broken && !file->cut) continue;
    if (!begun) ttm_doc_heading(d, "Not fully read");
    begun = true;
    if (file->failure)
      ttm_doc_point(d, "%s: %s", file->path, file->failure);
    else if (file->cut)
      ttm_doc_point(d, "%s: the end of the file is missing; what stands before was read", file->path);
    else
      ttm_doc_point(d, "%s:%u: not parsed as C++%s; the rest was read", file->path, file->broken_line,
                    file->broken > 1 ? ", nor in other places" : "");
  }
}

static void put_counts(ttm_doc *d, const cbs_scan *scan) {
  size_t host = 0, kernels = 0, programs = 0, known = 0, sized = 0;
  for (size_t i = 0; i < scan->files.n; i++) {
    host += scan->files.at[i].role == CBS_FILE_HOST;
    kernels += scan->files.at[i].role == CBS_FILE_KERNEL;
  }
  for (size_t i = 0; i < scan->functions.n; i++) programs += scan->functions.at[i].buffer_count > 0;
  for (size_t i = 0; i < scan->buffers.n; i++) {
    sized += !scan->buffers.at[i].address_only;
    known += !scan->buffers.at[i].address_only && cbs_value_is_known(&scan->buffers.at[i].total.value);
  }
  ttm_buf text = {0};
  ttm_put_counted(&text, scan->files.n, "file");
  ttm_buf_printf(&text, ": %zu host, %zu kernel. ", host, kernels);
  ttm_put_counted(&text, sized, "buffer");
  ttm_buf_puts(&text, " in ");
  ttm_put_counted(&text, programs, "program");
  ttm_buf_printf(&text, "; %zu of known size", known);
  put_sentence(d, &text);
}

void cbs_write(ttm_doc *d, const cbs_scan *scan) {
  put_counts(d, scan);
  put_findings(d, scan);
  for (uint32_t f = 0; f < scan->functions.n; f++) put_program(d, scan, f);
  put_kernels(d, scan);
  put_trouble(d, scan);
}

/* ---- Two versions side by side ---------------------------------------------------------------------------------------- */

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
  ttm_doc_table(d, (const char *const[3]){"\tWhat", heads[0], heads[1]}, 3);
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

static bool same_buffer(ttm_doc *d, const cbs_buffer *a, const cbs_buffer *b) {
  ttm_buf x = {0}, y = {0};
  put_indices(&x, a);
  put_indices(&y, b);
  d->out->failed |= x.failed | y.failed;
  bool same = ttm_str_eq(ttm_buf_str(&x), ttm_buf_str(&y));
  ttm_buf_free(&x);
  ttm_buf_free(&y);
  return same;
}

/* The k-th buffer of `scan` that has the same indices; NULL when there is none. */
static const cbs_buffer *find_twin(ttm_doc *d, const cbs_scan *scan, const cbs_buffer *like, size_t k) {
  for (size_t i = 0; i < scan->buffers.n; i++) {
    if (scan->buffers.at[i].created && same_buffer(d, &scan->buffers.at[i], like) && !k--) return &scan->buffers.at[i];
  }
  return NULL;
}

static void put_side(ttm_doc *d, const cbs_buffer *cb) {
  cb ? cell_value(d, &cb->total.value) : ttm_doc_cell(d, "-");
  if (!cb) return ttm_doc_cell(d, "-");
  ttm_doc_cell(d, "%s: %.*s", cbs_buffer_is_adaptive(cb) ? "adaptive" : "fixed",
               TTM_ARGS(ttm_str_first(cb->total.text, 60)));
}

static size_t occurrence(ttm_doc *d, const cbs_scan *scan, size_t at) {
  size_t k = 0;
  for (size_t i = 0; i < at; i++)
    k += scan->buffers.at[i].created && same_buffer(d, &scan->buffers.at[i], &scan->buffers.at[at]);
  return k;
}

static void put_buffers(ttm_doc *d, const cbs_scan *const scans[2], const char *const names[2]) {
  const char *heads[] = {"Buffer", names[0], "Expression\tExpression 1", names[1], "Expression\tExpression 2"};
  ttm_doc_heading(d, "Buffers, bytes");
  ttm_doc_table(d, heads, 5);
  for (int side = 0; side < 2; side++) {
    const cbs_scan *scan = scans[side], *other = scans[!side];
    for (size_t i = 0; i < scan->buffers.n; i++) {
      const cbs_buffer *cb = &scan->buffers.at[i], *twin;
      if (!cb->created) continue;
      twin = find_twin(d, other, cb, occurrence(d, scan, i));
      if (side && twin) continue; /* told from the other side */
      cell_indices(d, cb);
      put_side(d, side ? twin : cb);
      put_side(d, side ? cb : twin);
    }
  }
  ttm_doc_table_end(d);
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
    put_findings(d, scans[i]);
    put_kernels(d, scans[i]);
  }
}
