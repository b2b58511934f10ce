/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/statements.h"

enum { MOST_FAILURES = 20 };

void ttm_json_put_statement(ttm_json *j, const ttm_statement *s) {
  ttm_json_put_name(j, "statement", s->id);
  ttm_json_put_name(j, "basis", ttm_basis_name(s->basis));
  ttm_json_put_str(j, "headline", s->headline);
  ttm_json_put_known_str(j, "detail", s->detail);
}

ttm_doc_tone ttm_statement_tone(const ttm_statement *s) {
  switch (s->severity) {
    case TTM_SEVERITY_FAILURE:
      return TTM_DOC_BAD;
    case TTM_SEVERITY_WARNING:
      return TTM_DOC_WARN;
    case TTM_SEVERITY_NOTE:
      break;
    case TTM_SEVERITY_OK:
    case TTM_SEVERITY_UNKNOWN:
      return TTM_DOC_DIM;
  }
  return TTM_DOC_PLAIN;
}

/* "Headline (derived)." What is measured, or says that there is nothing, needs no such word. */
static void put_headline(ttm_doc *d, const ttm_statement *s) {
  ttm_buf words = {0};
  bool basis = s->basis != TTM_MEASURED && s->severity <= TTM_SEVERITY_NOTE;
  ttm_buf_put(&words, s->headline);
  if (basis) ttm_buf_printf(&words, " (%s)", ttm_basis_name(s->basis));
  ttm_buf_puts(&words, s->points && s->severity == TTM_SEVERITY_NOTE && !s->detail.n ? ":" : ".");
  ttm_doc_about(d, s->operation);
  ttm_doc_text(d, ttm_statement_tone(s), ttm_buf_str(&words));
  d->out->failed |= words.failed;
  ttm_buf_free(&words);
}

void ttm_doc_statement(ttm_doc *d, const ttm_statements *all, const ttm_statement *s, uint32_t rows) {
  uint32_t shown = rows && s->points > rows ? rows : s->points;
  put_headline(d, s);
  if (s->detail.n) ttm_doc_about(d, s->operation), ttm_doc_text(d, TTM_DOC_PLAIN, s->detail);
  for (uint32_t i = 0; i < shown; i++) {
    const ttm_point *point = &all->points.at[s->first_point + i];
    ttm_doc_about(d, point->operation);
    ttm_doc_figure(d, point->mb, point->text);
  }
  if (shown < s->points) ttm_doc_figure(d, -1, TTM_LIT("and more"));
}

void ttm_doc_fixes(ttm_doc *d, const ttm_statements *all) {
  if (!all->best.n) return;
  ttm_doc_heading(d, "Fixes");
  for (size_t i = 0; i < all->best.n; i++) {
    const ttm_fix *fix = &all->fixes.at[all->best.at[i]];
    ttm_doc_about(d, fix->operation);
    ttm_doc_figure(d, -1, fix->text);
    if (fix->paste.n) ttm_doc_code(d, fix->paste);
  }
}

static void put_topic(ttm_doc *d, const ttm_statements *all, ttm_topic topic) {
  size_t n = 0;
  for (size_t i = 0; i < all->at.n; i++) {
    const ttm_statement *s = &all->at.at[i];
    if (s->topic != topic) continue;
    if (!n) ttm_doc_heading(d, ttm_topic_title(topic));
    if (n++ < MOST_FAILURES) ttm_doc_statement(d, all, s, 0);
  }
  if (n > MOST_FAILURES) ttm_doc_line(d, "And %zu more.", n - MOST_FAILURES);
}

void ttm_doc_statements(ttm_doc *d, const ttm_statements *all) {
  for (int t = 0; t < TTM_TOPICS; t++) {
    put_topic(d, all, (ttm_topic)t);
    if (t == TTM_TOPIC_FAILURE) ttm_doc_fixes(d, all);
  }
}
