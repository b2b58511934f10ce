/* SPDX-License-Identifier: Apache-2.0 */
/* Locations in the words people use for them. One forward pass; nesting is bounded, since fused and callsite locations
 * recurse. */
#include "parse/mlir_scan.h"
#include "parse/op_line.h"

enum { LOCATION_DEPTH = 64 };

/* A bracketed part nobody wants to read: a child location, metadata. */
static bool skip_bracketed(ttm_str *at) {
  ttm_str unread;
  return ttm_scan_take_bracketed(at, &unread);
}

static bool render(ttm_str *at, ttm_buf *out, int depth);

/* `"name"`, `"name"(child)`, `"file":9:14`, `"file":9:14 to 10:3` */
static bool render_named(ttm_str *at, ttm_buf *out) {
  size_t end = ttm_scan_string_end(*at, 0);
  if (end == TTM_NOT_FOUND) return false;
  ttm_scan_unescape((ttm_str){at->p + 1, end - 2}, out);
  *at = ttm_str_from(*at, end);
  if (at->n && at->p[0] == '(') return skip_bracketed(at);
  if (!(at->n && at->p[0] == ':')) return true;
  size_t n = 0; /* line and column, and in newer dumps the end of the range */
  while (n < at->n && (at->p[n] == ':' || at->p[n] == ' ' || at->p[n] == 't' || at->p[n] == 'o' ||
                       (at->p[n] >= '0' && at->p[n] <= '9'))) {
    n++;
  }
  while (at->p[n - 1] == ' ') n--; /* ends at the ':' at the latest */
  ttm_buf_put(out, ttm_str_first(*at, n));
  *at = ttm_str_from(*at, n);
  return true;
}

/* `["a", "b"]` behind `fused`; unknown members are left out, and so are the brackets when nothing is known */
static bool render_fused(ttm_str *at, ttm_buf *out, int depth) {
  if (at->n && at->p[0] == '<' && !skip_bracketed(at)) return false;
  if (!ttm_str_take(at, TTM_LIT("["))) return false;
  size_t start = out->n;
  ttm_buf_puts(out, "fused[");
  size_t first = out->n;
  ttm_scan_skip_space(at);
  while (!ttm_str_take(at, TTM_LIT("]"))) {
    size_t before = out->n;
    if (before > first) ttm_buf_puts(out, ", ");
    size_t behind_comma = out->n;
    if (!render(at, out, depth)) return false;
    if (out->n == behind_comma) out->n = before;
    ttm_scan_skip_space(at);
    if (!ttm_str_take(at, TTM_LIT(",")) && !(at->n && at->p[0] == ']')) return false;
    ttm_scan_skip_space(at);
  }
  if (out->n == first) {
    out->n = start;
  } else {
    ttm_buf_char(out, ']');
  }
  return true;
}

/* `("a" at "b")` behind `callsite` */
static bool render_callsite(ttm_str *at, ttm_buf *out, int depth) {
  size_t start = out->n;
  if (!ttm_str_take(at, TTM_LIT("(")) || !render(at, out, depth)) return false;
  size_t before = out->n;
  ttm_scan_skip_space(at);
  if (!ttm_str_take(at, TTM_LIT("at"))) return false;
  if (before > start) ttm_buf_puts(out, " at ");
  size_t behind_at = out->n;
  if (!render(at, out, depth)) return false;
  if (out->n == behind_at) out->n = before;
  ttm_scan_skip_space(at);
  return ttm_str_take(at, TTM_LIT(")"));
}

/* Anything else (an alias, a dialect's own location): as it stands, up to the comma or bracket that ends it. */
static bool render_other(ttm_str *at, ttm_buf *out) {
  ttm_str start = *at;
  while (at->n && !ttm_scan_is_space(at->p[0]) && !memchr(",)]}>\"", at->p[0], 6)) {
    bool bracket = memchr("(<[{", at->p[0], 4);
    if (bracket && !skip_bracketed(at)) return false;
    if (!bracket) *at = ttm_str_from(*at, 1);
  }
  ttm_str text = ttm_str_first(start, (size_t)(at->p - start.p));
  ttm_buf_put(out, text);
  return text.n > 0;
}

/* Appends the location at *at and moves behind it; false when it is malformed or nested too deep. */
static bool render(ttm_str *at, ttm_buf *out, int depth) {
  if (depth == LOCATION_DEPTH) return false;
  ttm_scan_skip_space(at);
  if (ttm_str_take(at, TTM_LIT("loc("))) return render(at, out, depth + 1) && ttm_str_take(at, TTM_LIT(")"));
  if (at->n && at->p[0] == '"') return render_named(at, out);
  if (ttm_str_take(at, TTM_LIT("fused"))) return render_fused(at, out, depth + 1);
  if (ttm_str_take(at, TTM_LIT("callsite"))) return render_callsite(at, out, depth + 1);
  if (ttm_str_take(at, TTM_LIT("unknown"))) return true;
  return render_other(at, out);
}

bool ttm_location_render(ttm_str raw, ttm_buf *out) {
  size_t start = out->n;
  ttm_str at = raw;
  if (!raw.n) return false;
  bool whole = render(&at, out, 0);
  ttm_scan_skip_space(&at);
  if (!whole || at.n) { /* not a location as we know them: show what was there rather than half of it */
    if (!out->failed) out->n = start;
    ttm_buf_put(out, ttm_scan_trim(raw));
  }
  return out->n > start;
}
