/* SPDX-License-Identifier: Apache-2.0 */
#include "report/write/doc_data.h"

#include "base/format.h"
#include "report/write/json.h"

/* ---- Cells -------------------------------------------------------------------------------------------------------------- */

/* "1,234.5", "+21.33", "98.5 %" without what only people need; nothing when it is no number. */
static void put_number(ttm_buf *out, ttm_str cell) {
  size_t start = out->n, digits = 0;
  ttm_str rest = cell, percent = TTM_LIT(" %");
  if (ttm_str_ends(rest, percent)) rest.n -= percent.n;
  if (rest.n && rest.p[0] == '+') rest = ttm_str_from(rest, 1);
  if (rest.n && rest.p[0] == '-') ttm_buf_char(out, '-'), rest = ttm_str_from(rest, 1);
  bool fine = rest.n && rest.p[0] >= '0' && rest.p[0] <= '9' && (rest.p[0] != '0' || rest.n == 1 || rest.p[1] == '.');
  for (bool point = false; fine && rest.n; rest = ttm_str_from(rest, 1)) {
    char c = rest.p[0];
    if (c == ',') { /* of thousands: three digits stand behind it */
      fine = !point && digits && digits <= 3 && rest.n > 3;
      digits = 0;
      continue;
    }
    fine = (c >= '0' && c <= '9') || (c == '.' && !point && rest.n > 1);
    point |= c == '.';
    digits++;
    ttm_buf_char(out, c);
  }
  if (!fine) out->n = start;
}

static bool is_nothing(ttm_str cell) {
  return !cell.n || ttm_str_eq(cell, TTM_LIT("-")) || ttm_str_eq(cell, TTM_LIT("?")) ||
         ttm_str_eq(cell, TTM_LIT("unknown"));
}

/* What the column is called: behind a tab where the shown head would be none or not the only one. */
static ttm_str name_of(const char *head) {
  ttm_str name = ttm_str_of(head + (head[0] == '>' || head[0] == '<'));
  size_t tab = ttm_str_find_char(name, '\t');
  return tab == TTM_NOT_FOUND ? name : ttm_str_from(name, tab + 1);
}

/* ---- CSV ---------------------------------------------------------------------------------------------------------------- */

static void put_csv_cell(ttm_buf *out, ttm_str cell, bool number) {
  size_t before = out->n;
  if (is_nothing(cell)) return;
  if (number) put_number(out, cell);
  if (out->n == before) ttm_put_csv(out, cell);
}

/* The head, unless the table before had the same one. */
static void put_csv_head(ttm_doc *d, bool section) {
  ttm_buf head = {0};
  if (section) ttm_buf_puts(&head, "Section,");
  for (size_t c = 0; c < d->head_count; c++) {
    if (c) ttm_buf_char(&head, ',');
    ttm_put_csv(&head, name_of(d->heads[c]));
  }
  ttm_buf_puts(&head, "\r\n");
  if (!ttm_str_eq(ttm_buf_str(&head), ttm_buf_str(&d->data.head))) {
    if (d->data.head.n) ttm_buf_puts(d->out, "\r\n");
    ttm_buf_put(d->out, ttm_buf_str(&head));
  }
  d->out->failed |= head.failed;
  ttm_buf_free(&d->data.head);
  d->data.head = head;
}

static void put_csv_table(ttm_doc *d) {
  bool section = d->data.section.n > 0;
  put_csv_head(d, section);
  for (size_t i = 0; i < d->cells.n; i++) {
    size_t c = i % d->head_count;
    if (!c && section) ttm_put_csv(d->out, ttm_buf_str(&d->data.section));
    if (c || section) ttm_buf_char(d->out, ',');
    put_csv_cell(d->out, ttm_buf_str(&d->cells.at[i]), d->heads[c][0] == '>');
    if (c + 1 == d->head_count) ttm_buf_puts(d->out, "\r\n");
  }
}

static void put_csv_text(ttm_doc *d, double mb, ttm_str text) {
  ttm_buf *out = &d->data.texts;
  ttm_put_csv(out, ttm_buf_str(&d->data.section));
  ttm_buf_char(out, ',');
  if (d->data.label) ttm_put_csv(out, ttm_str_of(d->data.label));
  ttm_buf_char(out, ',');
  if (mb >= 0) ttm_put_plain_mb(out, mb);
  ttm_buf_char(out, ',');
  ttm_put_csv(out, text);
  ttm_buf_puts(out, "\r\n");
}

/* ---- JSON --------------------------------------------------------------------------------------------------------------- */

/* Both are put together beside each other and joined where the section ends. */
static void begin_row(ttm_buf *rows) {
  if (rows->n) ttm_buf_puts(rows, ",\n");
}

static void put_json_text(ttm_doc *d, double mb, ttm_str text) {
  ttm_json j = {.out = &d->data.texts};
  begin_row(j.out);
  ttm_json_put_object(&j, NULL);
  if (d->data.label) ttm_json_put_name(&j, "label", d->data.label);
  if (mb >= 0) ttm_put_plain_mb(ttm_json_at(&j, "mb"), mb);
  ttm_json_put_str(&j, "text", text);
  if (d->about) ttm_json_put_u64(&j, "operation", d->about - 1);
  ttm_json_end(&j);
  d->out->failed |= j.misused;
}

static void put_json_cell(ttm_json *j, ttm_str cell, bool number) {
  size_t before = j->out->n;
  if (is_nothing(cell)) return ttm_buf_puts(j->out, "null");
  if (number) put_number(j->out, cell);
  if (j->out->n == before) ttm_json_string(j->out, cell);
}

static void put_json_table(ttm_doc *d) {
  ttm_json j = {.out = &d->data.tables};
  begin_row(j.out);
  ttm_json_put_object(&j, NULL);
  ttm_json_put_array(&j, "columns");
  for (size_t c = 0; c < d->head_count; c++) ttm_json_put_str(&j, NULL, name_of(d->heads[c]));
  ttm_json_end(&j);
  ttm_json_put_rows(&j, "rows");
  for (size_t i = 0; i < d->cells.n; i++) {
    size_t c = i % d->head_count;
    if (!c) ttm_json_put_object(&j, NULL);
    ttm_json_put_key(&j, name_of(d->heads[c]));
    ttm_json_at(&j, NULL);
    put_json_cell(&j, ttm_buf_str(&d->cells.at[i]), d->heads[c][0] == '>');
    if (c + 1 == d->head_count) ttm_json_end(&j);
  }
  ttm_json_end(&j);
  ttm_json_end(&j);
  d->out->failed |= j.misused;
}

static void end_json_section(ttm_doc *d) {
  if (!d->data.texts.n && !d->data.tables.n) return;
  ttm_buf_puts(d->out, d->data.sections++ ? ",\n{\"title\":" : "\n{\"title\":");
  ttm_json_string(d->out, ttm_buf_str(&d->data.section));
  ttm_buf_puts(d->out, ",\n\"texts\":[");
  ttm_buf_put(d->out, ttm_buf_str(&d->data.texts));
  ttm_buf_puts(d->out, "],\n\"tables\":[");
  ttm_buf_put(d->out, ttm_buf_str(&d->data.tables));
  ttm_buf_puts(d->out, "]}");
  d->out->failed |= d->data.texts.failed || d->data.tables.failed;
  ttm_buf_clear(&d->data.texts);
  ttm_buf_clear(&d->data.tables);
}

static void begin_json(ttm_doc *d, const char *title) {
  if (d->data.begun) return;
  d->data.begun = true;
  ttm_buf_puts(d->out, "{\"schema_version\":1,\n");
  if (title)
    ttm_buf_puts(d->out, "\"title\":"), ttm_json_string(d->out, ttm_str_of(title)), ttm_buf_puts(d->out, ",\n");
  ttm_buf_puts(d->out, "\"sections\":[");
}

/* ---- Both --------------------------------------------------------------------------------------------------------------- */

void ttm_doc_data_begin(ttm_doc *d, const char *title) {
  if (d->form == TTM_DOC_JSON) begin_json(d, title);
}

void ttm_doc_data_heading(ttm_doc *d, const char *text) {
  if (d->form == TTM_DOC_JSON) begin_json(d, NULL), end_json_section(d);
  ttm_buf_clear(&d->data.section);
  ttm_buf_puts(&d->data.section, text);
  d->data.label = NULL;
}

void ttm_doc_data_text(ttm_doc *d, const char *label, double mb, ttm_str text) {
  if (!label || *label) d->data.label = label;
  if (d->form == TTM_DOC_JSON) begin_json(d, NULL), put_json_text(d, mb, text);
  if (d->form == TTM_DOC_CSV) put_csv_text(d, mb, text);
  d->about = 0;
}

void ttm_doc_data_table(ttm_doc *d) {
  if (d->form == TTM_DOC_JSON) begin_json(d, NULL), put_json_table(d);
  if (d->form == TTM_DOC_CSV) put_csv_table(d);
}

void ttm_doc_data_end(ttm_doc *d) {
  if (d->form == TTM_DOC_JSON) {
    begin_json(d, NULL);
    end_json_section(d);
    ttm_buf_puts(d->out, "\n]");
    ttm_buf_put(d->out, ttm_buf_str(&d->data.more));
    ttm_buf_puts(d->out, "}\n");
  } else if (!d->data.head.n) {
    ttm_buf_puts(d->out, "Section,Label,MB,Text\r\n");
    ttm_buf_put(d->out, ttm_buf_str(&d->data.texts));
  }
  ttm_buf *all[] = {&d->data.section, &d->data.texts, &d->data.tables, &d->data.head, &d->data.more};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) d->out->failed |= all[i]->failed, ttm_buf_free(all[i]);
}
