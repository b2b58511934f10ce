/* SPDX-License-Identifier: Apache-2.0 */
/* Every request we would not like to have answered. */
#include "serve/guard.h"

#include <stdio.h>

#include "serve/pages.h"
#include "unit.h"

static void hosts(void **state) {
  static const char *const ours[] = {"localhost",      "localhost:8000", "LOCALHOST:1", "127.0.0.1",
                                     "127.0.0.1:8000", "[::1]",          "[::1]:65535"};
  static const char *const foreign[] = {"",
                                        "evil.com",
                                        "evil.com:8000",
                                        "localhost.evil.com",
                                        "localhost:8000.evil.com",
                                        "localhost:",
                                        "localhost:80:80",
                                        "localhost@evil.com",
                                        "127.0.0.1.evil.com",
                                        "127.0.0.2",
                                        "127.0.0.10",
                                        "[::1].evil.com",
                                        "::1",
                                        "0.0.0.0",
                                        "localhost:123456",
                                        " localhost",
                                        "evil.com localhost"};
  (void)state;
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) assert_true(ttm_guard_host(ours[i]));
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) assert_false(ttm_guard_host(foreign[i]));
  assert_false(ttm_guard_host(NULL));
}

static void tokens(void **state) {
  char token[TTM_TOKEN_CHARS + 1], other[TTM_TOKEN_CHARS + 1], path[80];
  (void)state;
  assert_true(ttm_guard_token_make(token));
  assert_true(ttm_guard_token_make(other));
  assert_int_equal(strlen(token), TTM_TOKEN_CHARS);
  assert_string_not_equal(token, other);
  snprintf(path, sizeof path, "/%s/report/", token);
  assert_string_equal(ttm_guard_token_take(path, token), "/report/");
  assert_null(ttm_guard_token_take(path, other));
  snprintf(path, sizeof path, "/%s", token);
  assert_string_equal(ttm_guard_token_take(path, token), "");
  path[TTM_TOKEN_CHARS] = '\0'; /* one character short */
  assert_null(ttm_guard_token_take(path, token));
  assert_null(ttm_guard_token_take("/", token));
  assert_null(ttm_guard_token_take("", token));
  snprintf(path, sizeof path, "/%sx/", token);
  assert_null(ttm_guard_token_take(path, token));
}

static void brought_tokens(void **state) {
  (void)state;
  assert_true(ttm_guard_token_is("0123456789abcdef", "0123456789abcdef"));
  assert_false(ttm_guard_token_is("0123456789abcdee", "0123456789abcdef"));
  assert_false(ttm_guard_token_is("0123456789abcdef0", "0123456789abcdef"));
  assert_false(ttm_guard_token_is("", "0123456789abcdef"));
  assert_false(ttm_guard_token_is(NULL, "0123456789abcdef"));
  assert_string_equal(ttm_guard_bearer("Bearer abc"), "abc");
  assert_string_equal(ttm_guard_bearer("bearer   abc"), "abc");
  assert_null(ttm_guard_bearer("Bearer"));
  assert_null(ttm_guard_bearer("Basic abc"));
  assert_null(ttm_guard_bearer(NULL));
  assert_true(ttm_guard_wants_page("application/xml, text/html;q=0.9"));
  assert_false(ttm_guard_wants_page("*/*"));
  assert_false(ttm_guard_wants_page(NULL));
  assert_true(ttm_guard_names("127.0.0.2:8000", "127.0.0.2"));
  assert_false(ttm_guard_names("127.0.0.20", "127.0.0.2"));
  assert_false(ttm_guard_names(NULL, "127.0.0.2"));
}

static void own_tokens(void **state) {
  static const char *const bad[] = {
      "", "short", "fifteen-letters", "sixteen letters!!", "0123456789abcdef/", "0123456789abcdef%41"};
  char longest[TTM_TOKEN_MOST + 2];
  (void)state;
  assert_true(ttm_guard_token_fit("0123456789-_abAB"));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(ttm_guard_token_fit(bad[i]));
  memset(longest, 'x', sizeof longest);
  longest[TTM_TOKEN_MOST + 1] = '\0';
  assert_false(ttm_guard_token_fit(longest));
  assert_true(ttm_guard_token_fit(longest + 1));
}

static void routes_served(void **state) {
  (void)state;
  assert_int_equal(ttm_guard_route("/").kind, TTM_ROUTE_INDEX);
  assert_int_equal(ttm_guard_route("/llama").kind, TTM_ROUTE_BARE);
  ttm_route report = ttm_guard_route("/llama tiny/");
  assert_int_equal(report.kind, TTM_ROUTE_REPORT);
  assert_string_equal(report.folder, "llama tiny");
  ttm_route file = ttm_guard_route("/llama/llama_memory.json");
  assert_int_equal(file.kind, TTM_ROUTE_FILE);
  assert_string_equal(file.folder, "llama");
  assert_string_equal(file.file, "llama_memory.json");
  assert_int_equal(ttm_guard_route("/llama/x_report.html").kind, TTM_ROUTE_FILE);
  assert_int_equal(ttm_guard_route("/llama/x_findings.json").kind, TTM_ROUTE_FILE);
  assert_int_equal(ttm_guard_route("/compare").kind, TTM_ROUTE_COMPARE);
  assert_int_equal(ttm_guard_route("/reports").kind, TTM_ROUTE_REPORTS);
  assert_int_equal(ttm_guard_route("/models").kind, TTM_ROUTE_MODELS);
  assert_int_equal(ttm_guard_route("/trend").kind, TTM_ROUTE_TREND);
  assert_int_equal(ttm_guard_route("/run").kind, TTM_ROUTE_RUN);
  assert_int_equal(ttm_guard_route("/live").kind, TTM_ROUTE_LIVE);
  assert_int_equal(ttm_guard_route("/open").kind, TTM_ROUTE_OPEN);
  assert_int_equal(ttm_guard_route("/compare/").kind, TTM_ROUTE_REPORT); /* a report may be called so */
  assert_int_equal(ttm_guard_route("/compare/x").kind, TTM_ROUTE_NONE);
}

static void names(void **state) {
  static const char *const bad[] = {"", ".", "..", ".hidden", "a/b", "../a", "a\\b", "a\nb"};
  (void)state;
  assert_true(ttm_guard_name("llama tiny") && ttm_guard_name("a..b") && !ttm_guard_name(NULL));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (ttm_guard_name(bad[i])) fail_msg("'%s' got through", bad[i]);
}

static void routes_refused(void **state) {
  static const char *const bad[] = {"",
                                    "llama",
                                    "//",
                                    "//llama/x_memory.json",
                                    "/..",
                                    "/../",
                                    "/../etc/passwd",
                                    "/../x_memory.json",
                                    "/./x_memory.json",
                                    "/llama/..",
                                    "/llama/../x_memory.json",
                                    "/llama/./x_memory.json",
                                    "/llama//x_memory.json",
                                    "/llama/deep/x_memory.json",
                                    "/.hidden/x_memory.json",
                                    "/llama/.x_memory.json",
                                    "/llama/x_memory.json/",
                                    "/llama/x_profile.log",
                                    "/llama/_memory.json",
                                    "/llama/x_memory.json.bak",
                                    "/llama/id_rsa",
                                    "/llama/a\nb_memory.json",
                                    "/llama/a\\b_memory.json",
                                    "/lla\\..\\ma/x_memory.json"};
  char longest[600];
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (ttm_guard_route(bad[i]).kind != TTM_ROUTE_NONE) fail_msg("'%s' got through", bad[i]);
  }
  memset(longest, 'x', sizeof longest);
  longest[0] = '/';
  longest[sizeof longest - 1] = '\0';
  assert_int_equal(ttm_guard_route(longest).kind, TTM_ROUTE_NONE);
}

static void headers(void **state) {
  (void)state;
  assert_true(ttm_guard_takes_gzip("gzip"));
  assert_true(ttm_guard_takes_gzip("deflate, GZIP;q=0.5, br"));
  assert_true(ttm_guard_takes_gzip("*"));
  assert_false(ttm_guard_takes_gzip(NULL));
  assert_false(ttm_guard_takes_gzip(""));
  assert_false(ttm_guard_takes_gzip("br, deflate"));
  assert_false(ttm_guard_takes_gzip("gzip;q=0"));
  assert_false(ttm_guard_takes_gzip("gzip; q=0.00, br"));
  assert_false(ttm_guard_takes_gzip("xgzip"));
  assert_true(ttm_guard_knows_tag("\"a\"", "\"a\""));
  assert_true(ttm_guard_knows_tag("\"b\", W/\"a\"", "\"a\""));
  assert_true(ttm_guard_knows_tag("*", "\"a\""));
  assert_false(ttm_guard_knows_tag("\"ab\"", "\"a\""));
  assert_false(ttm_guard_knows_tag(NULL, "\"a\""));
}

static void pages_escape(void **state) {
  ttm_catalog_entry entry = {.folder = "<script>x</script>",
                             .name = "a\"b",
                             .log = "<img src=x>",
                             .failure = "\"><b>",
                             .failures = 2,
                             .peak_mb = 1,
                             .peak_pct = 200,
                             .has_findings = true};
  ttm_catalog catalog = {0};
  ttm_buf page = {0};
  (void)state;
  assert_int_equal(ttm_vec_push(&catalog.entries, entry), 0);
  ttm_page_index(&page, &catalog, false);
  ttm_page_report(&page, &entry);
  ttm_str all = ttm_buf_str(&page);
  assert_false(ttm_str_contains(all, TTM_LIT("<script")));
  assert_false(ttm_str_contains(all, TTM_LIT("<img")));
  assert_false(ttm_str_contains(all, TTM_LIT("<b>")));
  assert_false(ttm_str_contains(all, TTM_LIT("a\"b")));
  assert_true(ttm_str_contains(all, TTM_LIT("href=\"%3Cscript%3Ex%3C%2Fscript%3E/\"")));
  assert_true(ttm_str_contains(all, TTM_LIT("href=\"a%22b_memory.json\"")));
  assert_true(ttm_str_contains(all, TTM_LIT("width:100.0%")));
  ttm_buf_free(&page);
  ttm_vec_free(&catalog.entries);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hosts),  cmocka_unit_test(own_tokens),    cmocka_unit_test(brought_tokens),
      cmocka_unit_test(tokens), cmocka_unit_test(routes_served), cmocka_unit_test(routes_refused),
      cmocka_unit_test(names),  cmocka_unit_test(headers),       cmocka_unit_test(pages_escape),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
