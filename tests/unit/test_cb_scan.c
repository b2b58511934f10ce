/* SPDX-License-Identifier: Apache-2.0 */
/* Reading sources: what expressions are worth, which buffers are found, and which findings are made. */
#include <stdio.h>

#include "cbscan/files.h"
#include "cbscan/scan.h"
#include "unit.h"

static cbs_scan *scan_of(const char *path, const char *text) {
  cbs_scan *scan = NULL;
  ttm_error err;
  assert_int_equal(cbs_scan_text(&scan, path, ttm_str_of(text), NULL, &err), TTM_OK);
  return scan;
}

/* The size of the buffer that `body` makes, with `size` as its expression. */
static cbs_value size_of(const char *before, const char *body, const char *size) {
  char text[4096];
  snprintf(text, sizeof text,
           "%s\nvoid f(Program& program, uint32_t given, bool flag) {\n%s\n"
           "CreateCircularBuffer(program, core, CircularBufferConfig(%s, {{0, x}}));\n}\n",
           before, body, size);
  cbs_scan *scan = scan_of("host.cpp", text);
  assert_int_equal(scan->buffers.n, 1);
  cbs_value value = scan->buffers.at[0].total.value;
  value.needs_n = 0; /* they point into `text` */
  cbs_scan_free(scan);
  return value;
}

static void expect_one(const char *before, const char *body, const char *size, int64_t want) {
  cbs_value v = size_of(before, body, size);
  if (!cbs_value_is_one(&v) || v.v[0].i != want)
    fail_msg("%s | %s: n=%d open=%d first=%lld", body, size, v.n, v.open, (long long)v.v[0].i);
}

/* Something may have written to it: no value is sure. */
static void expect_open(const char *before, const char *body, const char *size) {
  cbs_value v = size_of(before, body, size);
  if (cbs_value_is_known(&v)) fail_msg("%s | %s | %s: sure of %lld", before, body, size, (long long)v.v[0].i);
}

static void expect_two(const char *body, const char *size, int64_t a, int64_t b) {
  cbs_value v = size_of("", body, size);
  if (!cbs_value_is_known(&v) || v.n != 2 || v.v[0].i != a || v.v[1].i != b)
    fail_msg("%s | %s: n=%d open=%d %lld %lld", body, size, v.n, v.open, (long long)v.v[0].i, (long long)v.v[1].i);
  assert_true(v.varies);
}

/* What is written to under another name is not known; what is only read stays known. */
static void written_under_another_name(void **state) {
  (void)state;
  static const char *const one = "uint32_t n = 1;";
  static const struct {
    const char *before, *body, *size;
  } open[] = {
      {"void set(uint32_t* p) { *p = 8; }\n", "uint32_t n = 1; set(&n);", "n"},
      {"void set(uint32_t& r) { r = 8; }\n", "uint32_t n = 1; set(n);", "n"},
      {"void deeper(uint32_t& r) { r = 8; }\nvoid set(uint32_t& r) { deeper(r); }\n", "uint32_t n = 1; set(n);", "n"},
      {"void set(uint32_t a, uint32_t& r) { r++; }\n", "uint32_t n = 1; set(3, n);", "n"},
      {"void set(uint32_t& r);\n", "uint32_t n = 1; set(n);", "n"},
      {"", "uint32_t n = 1; elsewhere(&n);", "n"},
      {"", "uint32_t n = 1; elsewhere(n);", "n"},
      {"", "uint32_t n = 1; object.fill(n);", "n"},
      {"", "uint32_t n = 1; bool ok = elsewhere(3, &n);", "n"},
      {"", "uint32_t n = 1; uint32_t* p = &n; *p = 8;", "n"},
      {"", "uint32_t n = 1; uint32_t* p = &n; p[0] = 8;", "n"},
      {"", "uint32_t n = 1; auto* p = &n; (*p)++;", "n"},
      {"", "uint32_t n = 1; uint32_t* p; p = &n; *p = 8;", "*p"},
      {"", "uint32_t n = 1; uint32_t* p = &n; n = 8;", "*p"},
      {"", "uint32_t n = 1; uint32_t& r = n; r = 8;", "n"},
      {"", "uint32_t n = 1; auto& r = n; r += 7;", "n"},
      {"", "uint32_t n = 1; auto&& r{n}; r = 8;", "n"},
      {"", "uint32_t n = 1, m = 2; std::tie(n, m) = f();", "n"},
      {"", "uint32_t n = 1, m = 2; std::swap(n, m);", "n"},
      {"", "uint32_t n = 1; auto set = [&](uint32_t& r) { r = 8; }; set(n);", "n"},
      {"", "uint32_t n = 1; auto set = [&n]() { n = 8; }; set();", "n"},
      {"", "uint32_t n = 1; for (int i = 0; i < given; i++) { set(n); }", "n"},
      {"", "uint32_t n = 1; if (flag) { set(&n); }", "n"},
      {"#define SET(x) x = 8\n", "uint32_t n = 1; SET(n);", "n"},
      {"#define SET n = 8\n", "uint32_t n = 1; SET;", "n"},
      {"#define SET() n = 8\n", "uint32_t n = 1; SET();", "n"},
      {"uint32_t n = 1;\nvoid set() { n = 8; }\n", "set();", "n"},
      {"struct S { uint32_t n = 1; };\nvoid set(S& s) { s.n = 8; }\n", "S s; s.n = 1; set(s);", "s.n"},
      {"struct S { uint32_t n; };\nvoid set(S* s) { s->n = 8; }\n", "S s{.n = 1}; set(&s);", "s.n"},
      {"struct S { uint32_t n; };\n", "S s{.n = 1}; S& r = s; r.n = 8;", "s.n"},
      {"struct S { uint32_t n; };\n", "S s{.n = 1}; s.n += 7;", "s.n"},
      {"struct S { uint32_t n; };\n", "S s{.n = 1}; s.n++;", "s.n"},
      {"struct S { uint32_t n; };\n", "S s{.n = 1}; uint32_t* p = &s.n; *p = 8;", "s.n"},
      {"", "uint32_t t[2] = {1, 2}; t[0] = 8;", "t[0]"},
      {"", "uint32_t t[2] = {1, 2}; t[0]++;", "t[0]"},
      {"", "uint32_t t[2] = {1, 2}; uint32_t* p = t; p[0] = 8;", "t[0]"},
      {"", "uint32_t t[2] = {1, 2}; uint32_t* p = &t[0]; *p = 8;", "t[0]"},
      {"", "uint32_t t[2] = {1, 2}; for (auto& x : t) x = 8;", "t[0]"},
      {"void set(uint32_t* p) { p[0] = 8; }\n", "uint32_t t[2] = {1, 2}; set(t);", "t[0]"},
      {"void set(uint32_t t[]) { t[0] = 8; }\n", "uint32_t t[2] = {1, 2}; set(t);", "t[0]"},
      {"", "std::array<uint32_t, 2> t = {1, 2}; t.at(0) = 8;", "t[0]"},
      {"", "std::vector<uint32_t> t = {1, 2}; std::fill(t.begin(), t.end(), 8);", "t[0]"},
  };
  for (size_t i = 0; i < sizeof open / sizeof *open; i++) expect_open(open[i].before, open[i].body, open[i].size);
  cbs_scan *scan = scan_of("host.cpp",
                           "void f(Program& program) {\nuint32_t n = 1;\nfor (int i = 0; i < 2; i++) {\n"
                           "CreateCircularBuffer(program, core, CircularBufferConfig(n, {{0, x}}));\nset(n);\n}\n}\n");
  assert_false(cbs_value_is_known(&scan->buffers.at[0].total.value)); /* written to by the turn before */
  cbs_scan_free(scan);
  scan = scan_of(
      "host.cpp",
      "void f(Program& program) {\nCircularBufferConfig c(2048, {{0, x}});\nauto& r = c;\nr.set_total_size(8192);\n"
      "CreateCircularBuffer(program, core, c);\n}\n");
  for (size_t i = 0; i < scan->buffers.n; i++) assert_false(cbs_value_is_known(&scan->buffers.at[i].total.value));
  cbs_scan_free(scan);
  expect_one("", one, "n", 1);
  expect_one("void look(const uint32_t& r) { use(r); }\n", "uint32_t n = 1; look(n);", "n", 1);
  expect_one("void look(uint32_t& r) { int a = r; }\n", "uint32_t n = 1; look(n);", "n", 1);
  expect_one("void look(uint32_t v) { v = 8; }\n", "uint32_t n = 1; look(n);", "n", 1);
  expect_one("void look(const uint32_t* p) {}\n", "uint32_t n = 1; look(&n);", "n", 1);
  expect_one("", "const uint32_t n = 1; elsewhere(n);", "n", 1);
  expect_one("", "uint32_t n = 1; log_info(tt::LogOp, \"n\", n); TT_FATAL(n, \"x\"); v.push_back(n);", "n", 1);
  expect_one("", "uint32_t n = 1; auto m = twice(n);", "n", 1);
  expect_one("", "uint32_t n = 1; const uint32_t& r = n; n = 8;", "r", 8);
  expect_one("", "uint32_t n = 1; uint32_t& r = n; r = 8;", "r", 8);
  expect_one("", "uint32_t n = 1; set(n); n = 4;", "n", 4);
  expect_one("", "uint32_t t[2] = {1, 2};", "t[0] * t[1]", 2);
  expect_one("struct S { uint32_t n; };\n", "S s{.n = 1}; s.n = 8;", "s.n", 8);
}

/* Buffers on the same cores are one sum and one finding, also when one of them is only made under a condition. */
static void too_much_is_told_once(void **state) {
  (void)state;
  cbs_scan *scan = scan_of("host.cpp",
                           "void f(Program& program, bool flag) {\n"
                           "if (flag) { CreateCircularBuffer(program, core, CircularBufferConfig(64, {{0, x}})); }\n"
                           "CreateCircularBuffer(program, core, CircularBufferConfig(1000000, {{1, x}}));\n"
                           "CreateCircularBuffer(program, core, CircularBufferConfig(1000000, {{2, x}}));\n"
                           "CreateCircularBuffer(program, other, CircularBufferConfig(1000000, {{3, x}}));\n}\n");
  size_t told = 0;
  for (size_t i = 0; i < scan->findings.n; i++) {
    if (strcmp(scan->findings.at[i].rule, "over-l1") != 0) continue;
    told++;
    assert_int_equal(scan->findings.at[i].line, 3); /* the first of those that are sure */
  }
  assert_int_equal(told, 1);
  cbs_scan_free(scan);
}

static void constants(void **state) {
  (void)state;
  expect_one("", "", "0x10 + 0b11 + 1'000u", 1019);
  expect_one("", "", "(7 - 3) * 2 << 1 | 1", 17);
  expect_one("#define N 12\n", "", "N * sizeof(bfloat16)", 24);
  expect_one("constexpr int A = 3;\nnamespace x { constexpr int B = A * 2; }\n", "", "x::B", 6);
  expect_one("enum E { P = 4, Q, R };\n", "", "E::R", 6);
  expect_one("", "const auto t = tt::tile_size(tt::DataFormat::Bfp4_b);", "t", 576);
  expect_one("", "auto f = tt::DataFormat::Float32;", "tile_size(f)", 4096);
  expect_one("", "", "sizeof(unsigned long) + sizeof(long int) + sizeof(unsigned short) + sizeof(unsigned)", 22);
  expect_one("", "", "sizeof(uint32_t*) + sizeof(unsigned char)", 9);
  expect_one("", "", "tt::constants::TILE_HEIGHT * TILE_WIDTH", 1024);
  expect_one("", "", "static_cast<uint32_t>(std::ceil(10.0 / 4))", 3);
  expect_one("", "", "tt::div_up(33, 32) + tt::round_up(33, 32)", 66);
  expect_one("", "", "std::min({9, 4, 7}) + std::max(1, 2)", 6);
  expect_one("uint32_t twice(uint32_t n) { return 2 * n; }\n", "", "twice(twice(3))", 12);
  expect_one("uint32_t pick(bool b) { if (b) { return 1; } return 2; }\n", "", "pick(false)", 2);
  expect_one("", "uint32_t table[] = {5, 6, 7};", "table[1]", 6);
  expect_one("", "struct S { int a; }; S s{.a = 9};", "s.a", 9);
  expect_one("", "S s; s.a = 4;", "s.a", 4);
}

/* Each operator, on whole and on real numbers, as C++ defines it. */
static void arithmetic(void **state) {
  (void)state;
  expect_one("", "", "17 / 5 * 100 + 17 % 5 * 10 + (17 >> 2)", 324);
  expect_one("", "", "-17 / -1 + 17 % -1 + -0x10 + 16", 17); /* the grammar has "-1" as one number */
  expect_one("constexpr int BEFORE = -3;\n", "", "BEFORE + 5", 2);
  expect_one("", "", "static_cast<int>(-1.5 * -2)", 3);
  expect_one("", "", "(12 & 10) * 100 + (12 ^ 10)", 806);
  expect_one("", "", "(~5 & 15) * 10 + !0 + !7", 101);
  expect_one("", "", "(1 < 2) + (2 > 1) * 2 + (1 <= 1) * 4 + (1 >= 2) * 8 + (3 == 3) * 16 + (3 != 3) * 32", 23);
  expect_one("", "", "(1 && 0) + (1 and 1) * 2 + (0 || 0) * 4 + (0 or 3) * 8 + (not 0) * 16", 26);
  expect_one("", "", "tt::round_down(70, 32) + tt::div_up(64, 32)", 66);
  expect_one("", "", "static_cast<int>((1.5 + 2.25 - 0.75) * 4 / 2)", 6);
  expect_one("", "", "(1.5 < 2) + (1.5 > 2) * 2 + (2.0 <= 2) * 4 + (1.5 >= 2) * 8 + (2 == 2.0) * 16 + (2 != 2.0) * 32",
             21);
  expect_one("", "", "static_cast<int>(std::min(2.5, 1.0) + std::max(2.5, 7.0))", 8);
  expect_one("", "", "(int)std::floor(-1.5) + 10", 8);
  expect_one("", "std::string kind = \"a\";", "kind == \"a\" ? 3 : 4", 3);
  expect_one("", "std::string kind = \"a\";", "kind != \"ab\" ? 3 : 4", 3);
}

/* What is not known exactly still has a largest value where C++ gives it one. */
static void bounds(void **state) {
  (void)state;
  static const struct {
    const char *size;
    int64_t most;
  } cases[] = {
      {"given % 8", 7},
      {"std::min(given, 9u) + 3", 12},
      {"std::min(given, 9u) * 3 / 2", 13},
      {"tt::div_up(std::min(given, 9u), 4)", 3},
      {"tt::round_up(std::min(given, 9u), 4)", 12},
      {"std::min(given, 9u) - 1", 9},
      {"std::max(std::min(given, 9u), 20u)", 20},
      {"given + 1", INT64_MAX},
      {"std::min(given, 9u) << 1", INT64_MAX},
      {"std::min(given, 9u) / 0", INT64_MAX},
      {"9223372036854775807 + std::min(given, 9u)", INT64_MAX},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cbs_value v = size_of("", "", cases[i].size);
    if (cbs_value_bound(&v) != cases[i].most || cbs_value_is_known(&v))
      fail_msg("%s: at most %lld", cases[i].size, (long long)cbs_value_bound(&v));
  }
}

/* More values than are kept: the smallest and the largest stay, so that a size is never told too small. */
static void many_values(void **state) {
  (void)state;
  char body[2048];
  size_t n = (size_t)snprintf(body, sizeof body, "uint32_t n = 500; switch (given) {");
  for (int i = 0; i < 40; i++) {
    n += (size_t)snprintf(body + n, sizeof body - n, "case %d: n = %d; break;", i, i * 37 % 40 * 10 + 100);
  }
  snprintf(body + n, sizeof body - n, "}");
  cbs_value v = size_of("", body, "n");
  assert_true(v.many);
  assert_int_equal(v.v[0].i, 100);
  assert_int_equal(v.v[v.n - 1].i, 500);
  assert_int_equal(cbs_value_bound(&v), 500);
}

static void variables(void **state) {
  (void)state;
  expect_one("", "uint32_t n = 1; n += 2; n *= 4; n++; ++n;", "n", 14);
  expect_one("", "uint32_t n = 1; { uint32_t n = 5; } ", "n", 1);
  expect_one("", "uint32_t n; n = 3;", "n", 3);
  expect_one("", "uint32_t i = 2; uint32_t a = i++; uint32_t b = i++;", "a * 10 + b", 23);
  expect_one("", "uint32_t n = 2; if (true) { n = 3; } else { n = 4; }", "n", 3);
  expect_two("uint32_t n = 2; if (flag) { n = 3; }", "n", 2, 3);
  expect_two("uint32_t n; if (flag) { n = 5; } else { n = 6; }", "n", 5, 6);
  expect_two("", "flag ? 8 : 16", 8, 16);
  expect_two("uint32_t n = 1; switch (given) { case 1: n = 7; break; }", "n", 1, 7);
}

static void unknowns(void **state) {
  (void)state;
  cbs_value v = size_of("", "", "given * 4");
  assert_false(cbs_value_is_known(&v));
  assert_true(v.varies);
  v = size_of("", "", "std::min<uint32_t>(given, 6) * 2048");
  assert_int_equal(cbs_value_bound(&v), 6 * 2048);
  v = size_of("", "uint32_t n = 1; for (uint32_t i = 0; i < given; i++) { n *= 2; }", "n");
  assert_true(v.open);
  v = size_of("", "uint32_t a = a + b; uint32_t b = a;", "b"); /* nonsense must end */
  assert_true(v.open);
  v = size_of("uint32_t g(uint32_t n) { return g(n); }", "", "g(1)");
  assert_true(v.open);
  v = size_of("", "", "1 / 0 + (1 << 70) + 9223372036854775807 * 2");
  assert_true(v.open && !v.n);
}

/* The map is made out of sight; a setter tells index and page. The format stays unknown, which is not "at most 0". */
static void index_by_a_setter(void **state) {
  (void)state;
  cbs_scan *scan = scan_of("host.cpp",
                           "void f(Program& program) {\n  CreateCircularBuffer(program, core, "
                           "CircularBufferConfig(4096, make_map()).set_page_size(3, 1024));\n}\n");
  assert_int_equal(scan->buffers.n, 1);
  assert_int_equal(scan->buffers.at[0].slot_count, 1);
  const cbs_slot *slot = &scan->buffers.at[0].slots[0];
  assert_int_equal(slot->index.value.v[0].i, 3);
  assert_int_equal(slot->page.value.v[0].i, 1024);
  assert_true(slot->format.text.p != NULL);
  assert_true(slot->format.value.open);
  assert_true(cbs_value_bound(&slot->format.value) == INT64_MAX);
  cbs_scan_free(scan);
}

static void what_the_user_gives(void **state) {
  (void)state;
  const char *text =
      "void f(Program& p, uint32_t n) { CreateCircularBuffer(p, c, CircularBufferConfig(n * grid.x, {{0, x}})); }";
  cbs_define defines[] = {{{"n", 1}, 3}, {{"grid.x", 6}, 8}};
  cbs_options options = {.arch = TTM_ARCH_WORMHOLE, .defines = defines, .define_count = 2};
  cbs_scan *scan;
  assert_int_equal(cbs_scan_text(&scan, "h.cpp", ttm_str_of(text), &options, NULL), TTM_OK);
  assert_true(cbs_value_is_one(&scan->buffers.at[0].total.value));
  assert_int_equal(scan->buffers.at[0].total.value.v[0].i, 24);
  assert_true(cbs_buffer_is_adaptive(&scan->buffers.at[0])); /* given, but it still follows the workload */
  cbs_scan_free(scan);
}

static void kernels(void **state) {
  (void)state;
  cbs_scan *scan = scan_of("kernels/k.cpp",
                           "FORCE_INLINE void help() {}\nvoid kernel_main() {\n"
                           "  std::vector<int> v; v.push_back(1);\n"
                           "  constexpr auto in = get_compile_time_arg_val(3);\n"
                           "  CircularBuffer cb(in);\n  cb.wait_front(4); cb.pop_front(4);\n"
                           "#ifdef X\n  for (int i = 0; i < 2; i++) {\n#else\n  {\n#endif\n    "
                           "cb_reserve_back(tt::CBIndex::c_16, 2);\n  }\n  DataflowBuffer(7).push_back(1);\n}\n");
  assert_int_equal(scan->files.at[0].role, CBS_FILE_KERNEL);
  assert_int_equal(scan->files.at[0].broken, 0);
  assert_int_equal(scan->uses.n, 4); /* the vector's push_back is none */
  assert_int_equal(scan->uses.at[3].id.value.v[0].i, 7);
  assert_true(scan->uses.at[2].conditional); /* only one branch of the #if could be read */
  assert_int_equal(scan->uses.at[0].act, CBS_WAIT);
  assert_int_equal(scan->uses.at[0].id.value.type, CBS_VALUE_ARG);
  assert_int_equal(scan->uses.at[0].id.value.v[0].i, 3);
  assert_int_equal(scan->uses.at[0].count.value.v[0].i, 4);
  assert_int_equal(scan->uses.at[2].act, CBS_RESERVE);
  assert_int_equal(scan->uses.at[2].id.value.v[0].i, 16);
  cbs_scan_free(scan);
}

static void simplified(void **state) {
  (void)state;
  ttm_arena arena = {0};
  ttm_str text =
      TTM_LIT("#if A\none\n#elif B\ntwo\n#else\nthree\n#endif\n#if 0\nfour\n#else\nfive\n#endif\nALWI void ALWIN();\n");
  char *simple = cbs_simplify(text, true, &arena);
  assert_non_null(simple);
  ttm_str got = {simple, text.n};
  assert_true(ttm_str_contains(got, TTM_LIT("one")) && ttm_str_contains(got, TTM_LIT("five")));
  assert_false(ttm_str_contains(got, TTM_LIT("two")) || ttm_str_contains(got, TTM_LIT("three")) ||
               ttm_str_contains(got, TTM_LIT("four")) || ttm_str_contains(got, TTM_LIT("#")));
  assert_true(ttm_str_contains(got, TTM_LIT("     void ALWIN();")));
  assert_null(cbs_simplify(TTM_LIT("int plain;"), false, &arena));
  ttm_arena_free(&arena);
}

/* A block, a comment or a text that is never closed; the braces of #if and #else, of texts and of comments are not counted. */
static void cut_files(void **state) {
  (void)state;
  static const char *const whole[] = {"", "void f() { /* { */ g('{', \"{\\\"\", R\"x({)\")x\", 1'000'000); } // {",
                                      "#if A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\n", "#error don't {\n}\n"};
  static const char *const cut[] = {"void f() {\n  g();\n", "int a;\n/* and", "auto t = R\"(all",
                                    "#if A\nvoid f() {\n#endif\n g("};
  for (size_t i = 0; i < 4; i++) {
    ttm_arena arena = {0};
    bool is_cut;
    assert_int_equal(cbs_is_cut(ttm_str_of(whole[i]), &arena, &is_cut), TTM_OK);
    assert_false(is_cut);
    assert_int_equal(cbs_is_cut(ttm_str_of(cut[i]), &arena, &is_cut), TTM_OK);
    assert_true(is_cut);
    ttm_arena_free(&arena);
  }
}

static void header_constants(void **state) {
  (void)state;
  cbs_defines list = {0};
  assert_int_equal(
      cbs_constants_read(
          &list, TTM_LIT("#define B 3 // three\n#define F(x) 4\nstatic constexpr uint32_t A = 0x20u;\n"
                         "constexpr int C = A + 1;\nconstexpr int D = 1;\n constexpr int D = 2;\nint E = 5;\n")),
      TTM_OK);
  cbs_constants_settle(&list);
  assert_int_equal(list.n, 2); /* D has two values */
  int64_t value;
  assert_true(cbs_constants_find(&list, TTM_LIT("A"), &value) && value == 32);
  assert_true(cbs_constants_find(&list, TTM_LIT("B"), &value) && value == 3);
  assert_false(cbs_constants_find(&list, TTM_LIT("E"), &value));
  ttm_vec_free(&list);
}

/* Every prefix of a real source is a source too. */
static void prefixes(void **state) {
  (void)state;
  ttm_arena arena = {0};
  ttm_str text;
  assert_int_equal(cbs_read_file(TTMEM_SOURCE "/tests/data/cb/forms.cpp", &arena, &text, NULL), TTM_OK);
  for (size_t n = 0; n < text.n; n += 97) {
    cbs_scan *scan;
    assert_int_equal(cbs_scan_text(&scan, "h.cpp", ttm_str_first(text, n), NULL, NULL), TTM_OK);
    cbs_scan_free(scan);
  }
  ttm_arena_free(&arena);
}

/* The library frees what it did not allocate when 65,536 tokens of a broken text become the children of one node. */
static void more_than_the_parser_takes(void **state) {
  static const char head[] = "void f(Program& program) { auto config = CircularBufferConfig(64, {{0, x}});\n";
  static const char *const parts[] = {"f(a, ", "a<b(c<", "a = ",          "if (a) ",    "#if A\n",
                                      "a::",   "1ab ",   "namespace a {", "// f(a, \n", "/* a < \n */ "};
  (void)state;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    ttm_buf text = {0};
    ttm_buf_puts(&text, head);
    for (int k = 0; k < 80000; k++) ttm_buf_puts(&text, parts[i]);
    if (parts[i][0] == '/')
      ttm_buf_puts(&text, "auto s = \"//\", t = R\"x(/*)x\"; CreateCircularBuffer(program, core, config); }\n");
    ttm_buf_char(&text, '\0');
    cbs_scan *scan = scan_of("host.cpp", text.at);
    const cbs_file *file = &scan->files.at[0];
    if (parts[i][0] == '/') {
      assert_null(file->failure);
      assert_int_equal(file->broken, 0);
      assert_int_equal(scan->buffers.n, 1);
    } else {
      assert_string_equal(file->failure, "more than 60,000 words and signs beside comments");
    }
    cbs_scan_free(scan);
    ttm_buf_free(&text);
  }
}

/* A million words and more that each of many statements might write to. */
static void macros_of_too_much(void **state) {
  (void)state;
  ttm_buf text = {0};
  ttm_buf_puts(&text, "#define M");
  for (int k = 0; k < 15000; k++) ttm_buf_printf(&text, " a%d", k);
  ttm_buf_puts(&text, "\nvoid f(Program& program) {\n");
  for (int k = 0; k < 15000; k++) ttm_buf_puts(&text, "M;\n");
  ttm_buf_puts(&text, "CreateCircularBuffer(program, core, CircularBufferConfig(64, {{0, x}}));\n}\n");
  ttm_buf_char(&text, '\0');
  cbs_scan *scan = scan_of("host.cpp", text.at);
  assert_string_equal(scan->files.at[0].failure, "its macros stand for too much text");
  assert_false(scan->files.at[0].parsed);
  assert_int_equal(scan->buffers.n, 0);
  cbs_scan_free(scan);
  ttm_buf_free(&text);
}

/* Each use of a variable asks for all that changed it before; what is too much to walk through is not known. */
static void many_changes(void **state) {
  (void)state;
  ttm_buf text = {0};
  ttm_buf_puts(&text, "void f(Program& program) {\nuint32_t n = 1;\n");
  for (int k = 0; k < 2400; k++)
    ttm_buf_printf(&text, "n++; CreateCircularBuffer(program, core, CircularBufferConfig(n, {{%d, x}}));\n", k % 32);
  ttm_buf_puts(&text, "}\n");
  ttm_buf_char(&text, '\0');
  cbs_scan *scan = scan_of("host.cpp", text.at);
  assert_null(scan->files.at[0].failure);
  assert_int_equal(scan->buffers.n, 2400);
  const cbs_value *first = &scan->buffers.at[0].total.value, *last = &scan->buffers.at[2399].total.value;
  assert_true(cbs_value_is_one(first) && first->v[0].i == 2);
  assert_false(cbs_value_is_known(last));
  cbs_scan_free(scan);
  ttm_buf_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(too_much_is_told_once),
      cmocka_unit_test(written_under_another_name),
      cmocka_unit_test(constants),
      cmocka_unit_test(arithmetic),
      cmocka_unit_test(bounds),
      cmocka_unit_test(many_values),
      cmocka_unit_test(variables),
      cmocka_unit_test(unknowns),
      cmocka_unit_test(index_by_a_setter),
      cmocka_unit_test(what_the_user_gives),
      cmocka_unit_test(kernels),
      cmocka_unit_test(simplified),
      cmocka_unit_test(cut_files),
      cmocka_unit_test(header_constants),
      cmocka_unit_test(prefixes),
      cmocka_unit_test(more_than_the_parser_takes),
      cmocka_unit_test(macros_of_too_much),
      cmocka_unit_test(many_changes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
