/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ci/ci.h"
#include "report/write/svg.h"

static void put_attribute(ttm_buf *out, const char *name, ttm_str text) {
  ttm_buf_printf(out, " %s=\"", name);
  ttm_xml_text(out, text, SIZE_MAX);
  ttm_buf_char(out, '"');
}

static void put_answer(ttm_buf *out, const ttm_ci *ci, const ttm_check *check) {
  static const char *const elements[] = {[TTM_FAILED] = "failure", [TTM_SKIPPED] = "skipped", [TTM_UNJUDGED] = "error"};
  const ttm_statement *s = &ci->checks->said.at.at[check->statement];
  const char *element = elements[check->outcome];
  if (!element) { /* passed */
    ttm_buf_puts(out, "<system-out>");
    ttm_xml_text(out, s->headline, SIZE_MAX);
    return ttm_buf_puts(out, "</system-out>");
  }
  ttm_buf_printf(out, "<%s", element);
  put_attribute(out, "message", s->headline);
  if (check->outcome != TTM_SKIPPED) put_attribute(out, "type", ttm_str_of(s->id));
  ttm_buf_char(out, '>');
  ttm_xml_text(out, s->detail, SIZE_MAX);
  for (uint32_t i = 0; i < s->points; i++) {
    const ttm_point *point = &ci->checks->said.points.at[s->first_point + i];
    ttm_buf_char(out, '\n');
    ttm_xml_text(out, point->text, SIZE_MAX);
  }
  ttm_buf_printf(out, "</%s>", element);
}

/* The `time` is for readers that want one: nothing of what is judged takes any. */
static void put_case(ttm_buf *out, const ttm_ci *ci, const ttm_check *check) {
  ttm_str file = check->file.n ? check->file : ci->input;
  ttm_buf_puts(out, "  <testcase");
  put_attribute(out, "classname", ci->name);
  put_attribute(out, "name", check->name);
  if (file.n) put_attribute(out, "file", file);
  if (file.n && check->line) ttm_buf_printf(out, " line=\"%u\"", check->line);
  ttm_buf_puts(out, " time=\"0\">");
  put_answer(out, ci, check);
  ttm_buf_puts(out, "</testcase>\n");
}

int ttm_junit_write(const ttm_ci *ci, ttm_buf *out) {
  const ttm_checks *all = ci->checks;
  ttm_buf counts = {0};
  ttm_buf_printf(&counts, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"0\">\n", all->at.n,
                 ttm_checks_count(all, TTM_FAILED), ttm_checks_count(all, TTM_UNJUDGED),
                 ttm_checks_count(all, TTM_SKIPPED));
  ttm_buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ttmem\"");
  ttm_buf_put(out, ttm_buf_str(&counts));
  ttm_buf_printf(out, " <testsuite name=\"ttmem %s\"", ci->command);
  ttm_buf_put(out, ttm_buf_str(&counts));
  for (size_t i = 0; i < all->at.n; i++) put_case(out, ci, &all->at.at[i]);
  ttm_buf_puts(out, " </testsuite>\n</testsuites>\n");
  ttm_buf_free(&counts);
  return out->failed ? TTM_ENOMEM : TTM_OK;
}
