/* SPDX-License-Identifier: Apache-2.0 */
/* The page made anew around the data of an earlier one. The data is copied element by element, and only what can be nothing but
 * data: whoever may have touched the old page, no markup of his gets into the new one. */
#include <stdio.h>

#include "base/error.h"
#include "report/files/report.h"
#include "report/html/html_page.h"
#include "report/html/html_parts.h"

typedef struct element {
  ttm_str id, text;
} element;

static bool is_id(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
}
static bool is_base64(char c) { return is_id(c) ? c != '.' && c != '_' : c == '+' || c == '/' || c == '='; }

/* Takes the next data element off the page; false at the end. */
static bool next_element(ttm_str *page, element *out) {
  const ttm_str start = TTM_LIT("<script type=\"text/plain\" id=\"data.");
  for (;;) {
    size_t at = ttm_str_find(*page, start);
    if (at == TTM_NOT_FOUND) return false;
    *page = ttm_str_from(*page, at + start.n);
    size_t id = 0, text;
    while (id < page->n && is_id(page->p[id])) id++;
    out->id = ttm_str_first(*page, id);
    ttm_str rest = ttm_str_from(*page, id);
    if (!id || id > 80 || !ttm_str_take(&rest, TTM_LIT("\">"))) continue;
    for (text = 0; text < rest.n && is_base64(rest.p[text]);) text++;
    out->text = ttm_str_first(rest, text);
    *page = ttm_str_from(rest, text);
    if (ttm_str_starts(*page, TTM_LIT("</script>"))) return true;
  }
}

static void put_element(ttm_out *out, const element *one) {
  ttm_str rest = one->text;
  ttm_buf_puts(&out->buf, "<script type=\"text/plain\" id=\"data.");
  ttm_buf_put(&out->buf, one->id);
  ttm_buf_puts(&out->buf, "\">");
  while (rest.n) {
    ttm_str piece = ttm_str_first(rest, TTM_OUT_CHUNK);
    ttm_buf_put(&out->buf, piece);
    ttm_out_flow(out);
    rest = ttm_str_from(rest, piece.n);
  }
  ttm_buf_puts(&out->buf, "</script>\n");
}

/* Early elements stand before the program, see html.c. */
static bool is_early(ttm_str id) {
  return ttm_str_eq(id, TTM_LIT("facts")) || ttm_str_eq(id, TTM_LIT("findings")) ||
         ttm_str_starts(id, TTM_LIT("pyramid."));
}

static bool is_ours(ttm_str page) {
  char mark[64];
  int n = snprintf(mark, sizeof mark, "<meta name=\"generator\" content=\"ttmem data %d\">", (int)TTM_HTML_FORMAT);
  return ttm_str_contains(ttm_str_first(page, 4096), (ttm_str){mark, (size_t)n});
}

int ttm_html_renew(ttm_str page, ttm_str name, ttm_out *out, ttm_error *err) {
  element one;
  ttm_str rest = page;
  if (!is_ours(page) || !next_element(&rest, &one))
    return ttm_error_set(err, TTM_EFORMAT, "the page of '%.*s' was not written by this version of ttmem", (int)name.n,
                         name.p);
  ttm_html_put_head(&out->buf, name);
  for (int late = 0; late < 2; late++) {
    if (late) ttm_buf_put(&out->buf, ttm_html_page_program);
    for (rest = page; next_element(&rest, &one);) {
      if (is_early(one.id) == (late == 0)) put_element(out, &one);
    }
  }
  ttm_buf_put(&out->buf, ttm_html_page_end);
  return out->buf.failed ? ttm_error_nomem(err) : TTM_OK;
}
