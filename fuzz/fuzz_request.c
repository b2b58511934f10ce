/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a request to the server: what is asked for, by whom, and the pages made of reports with such names. The server is no
 * part of the library, so the files that judge and write are compiled in here. The input is cut at line ends into the request's
 * path, its headers and the texts of a report. */
#define _GNU_SOURCE
#include <ctype.h>

#include "fuzz.h"

#include "serve/guard.c"
#include "serve/pages.c"

enum { PIECES = 8 };

/* One name of one folder: nothing that leads elsewhere. */
static void check_name(const char *name) {
  check(*name && *name != '.' && !strchr(name, '/') && !strchr(name, '\\'));
  for (; *name; name++) check((unsigned char)*name >= 0x20);
}

static void check_route(const char *path) {
  ttm_route route = ttm_guard_route(path);
  if (route.kind >= TTM_ROUTE_BARE) check_name(route.folder);
  if (route.kind == TTM_ROUTE_FILE) check_name(route.file);
  if (route.kind == TTM_ROUTE_FILE) check(ttm_report_suffix(route.file).n > 0);
}

/* Foreign texts neither open an element nor reach a terminal raw. */
static void check_page(const ttm_buf *page) {
  static const char *const elements[] = {"<script", "<img", "<svg", "<iframe"};
  ttm_str shown = ttm_buf_str(page);
  check(!page->failed);
  for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
    check(!ttm_str_contains(shown, ttm_str_of(elements[i])));
  for (size_t i = 0; i < shown.n; i++) check((unsigned char)shown.p[i] >= 0x20 || shown.p[i] == '\n');
}

static void check_pages(char *const piece[PIECES], size_t size) {
  ttm_catalog_entry entry = {.folder = piece[0],
                             .name = piece[4],
                             .log = piece[5],
                             .failure = piece[6],
                             .failures = size % 3,
                             .peak_mb = (double)size,
                             .peak_pct = (double)(size % 200),
                             .written = (int64_t)size << (size % 50),
                             .has_findings = size & 1,
                             .has_page = size & 2};
  ttm_catalog catalog = {.root = piece[7]};
  ttm_buf page = {0};
  check(!ttm_vec_push(&catalog.entries, entry));
  ttm_page_index(&page, &catalog, true);
  ttm_page_report(&page, &entry);
  ttm_page_message(&page, piece[4], piece[6]);
  check_page(&page);
  ttm_buf_clear(&page);
  ttm_put_url(&page, ttm_str_of(piece[0]));
  for (size_t i = 0; i < page.n; i++) check(strchr("%-_.~", page.at[i]) || isalnum((unsigned char)page.at[i]));
  ttm_buf_free(&page);
  ttm_vec_free(&catalog.entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *request = malloc(size + PIECES), *piece[PIECES];
  check(request != NULL);
  if (size) memcpy(request, data, size);
  memset(request + size, 0, PIECES);
  piece[0] = request;
  for (int i = 1; i < PIECES; i++) {
    char *end = strchr(piece[i - 1], '\n');
    piece[i] = end ? end + 1 : piece[i - 1] + strlen(piece[i - 1]);
    if (end) *end = '\0';
  }
  check_route(piece[0]);
  if (ttm_guard_host(piece[1])) check(strlen(piece[1]) <= sizeof "127.0.0.1:65535");
  const char *rest = ttm_guard_token_take(piece[0], "0123456789abcdef0123456789abcdef");
  if (rest) check(!strncmp(piece[0], "/0123456789abcdef0123456789abcdef", 33) && rest == piece[0] + 33);
  ttm_guard_takes_gzip(piece[2]);
  ttm_guard_knows_tag(piece[3], "\"a\"");
  check_pages(piece, size);
  free(request);
  return 0;
}
