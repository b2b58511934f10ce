/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "store/report_dir.h"

static void drop_suffix(ttm_str *name, ttm_str suffix) {
  if (name->n > suffix.n && ttm_str_ends(*name, suffix)) name->n -= suffix.n;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Drops ".log", ".txt", ".out": a dot and up to four letters. "llama-3.1" and "model.8b" have no extension. */
static void drop_extension(ttm_str *name) {
  size_t n = name->n;
  while (n && is_letter(name->p[n - 1])) n--;
  if (n > 1 && n < name->n && name->n - n <= 4 && name->p[n - 1] == '.') name->n = n - 1;
}

void ttm_report_name(ttm_buf *out, const char *log_path) {
  ttm_str name = ttm_str_of(log_path ? log_path : "");
  if (ttm_str_eq(name, TTM_LIT("-"))) name = TTM_LIT("stdin");
  while (name.n > 1 && name.p[name.n - 1] == '/') name.n--;
  drop_suffix(&name, TTM_LIT("/db.sqlite")); /* ttnn-visualizer names the folder */
  for (size_t i = name.n; i > 0; i--) {
    if (name.p[i - 1] != '/') continue;
    name = ttm_str_from(name, i);
    break;
  }
  drop_suffix(&name, TTM_LIT(".gz"));
  drop_suffix(&name, TTM_LIT(".zst"));
  drop_suffix(&name, TTM_LIT(".sqlite"));
  drop_extension(&name);
  drop_suffix(&name, TTM_LIT("_profile"));
  while (name.n && name.p[0] == '.') name = ttm_str_from(name, 1);
  name = ttm_utf8_head(name, TTM_REPORT_NAME_LIMIT);
  if (!name.n) name = TTM_LIT("report");
  for (size_t length; name.n; name = ttm_str_from(name, length)) {
    uint32_t c = ttm_utf8_first(name, &length);
    ttm_buf_put(out, ttm_utf8_hides(c) || c == '_' || c == '/' ? TTM_LIT("-") : ttm_str_first(name, length));
  }
}
