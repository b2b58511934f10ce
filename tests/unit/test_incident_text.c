/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "parse/incident_text.h"
#include "unit.h"

#define OOM_CORE                                                                                                   \
  "Out of Memory: Not enough space to allocate 201326592 B DRAM buffer across 12 banks, where each bank needs to " \
  "store 16777216 B"
#define OOM_TAIL \
  ", but bank size is 1071821792 B (allocated: 1060793184 B, free: 11028608 B, largest free block: 9437184 B)"
#define OOM_NOW OOM_CORE OOM_TAIL "."
#define CLASH                                                                                                      \
  "Statically allocated circular buffers in program 7 clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer " \
  "allocated "                                                                                                     \
  "at 300032 and static circular buffer region ends at 310272"
#define GROWS                                                                                                          \
  "Statically allocated dataflow buffers on core range {[0-0 - 10-8], [0-9 - 3-9]} grow to 1700000 B which is beyond " \
  "max L1 size of 1572864 B"

/* Parses a heap copy, so that reading past the line is an ASan report; the copy lives until the next call. */
static bool parse(const char *line, ttm_incident_text *out) {
  static char *copy;
  free(copy);
  size_t n = strlen(line);
  copy = malloc(n ? n : 1);
  assert_non_null(copy);
  memcpy(copy, line, n);
  return ttm_incident_parse((ttm_str){copy, n}, out);
}

static ttm_incident_text must_parse(const char *line, ttm_incident_kind kind, const char *text) {
  ttm_incident_text got;
  if (!parse(line, &got)) fail_msg("not seen: %s", line);
  assert_int_equal(got.kind, kind);
  if (!ttm_str_eq(got.text, ttm_str_of(text))) fail_msg("text of\n%s\nis\n%.*s", line, (int)got.text.n, got.text.p);
  return got;
}

static void must_not_parse(const char *line) {
  ttm_incident_text got;
  if (parse(line, &got)) fail_msg("taken for an incident (%.*s): %s", (int)got.text.n, got.text.p, line);
}

static void oom_of_every_era(void **state) {
  (void)state;
  ttm_incident_text got = must_parse(OOM_NOW, TTM_INCIDENT_OOM, OOM_NOW);
  assert_view(got.memory, "DRAM");
  assert_int_equal(got.size, 201326592);
  assert_int_equal(got.banks, 12);
  assert_int_equal(got.needed_per_bank, 16777216);
  assert_int_equal(got.bank_size, 1071821792);
  assert_int_equal(got.allocated_per_bank, 1060793184);
  assert_int_equal(got.free_per_bank, 11028608);
  assert_int_equal(got.largest_free_block, 9437184);
  assert_true(got.program == TTM_UNKNOWN && got.l1_buffer_at == TTM_UNKNOWN && got.buffers_end == TTM_UNKNOWN);
  assert_true(got.l1_size == TTM_UNKNOWN && got.core_range.n == 0 && !got.dataflow);

  must_parse(OOM_CORE OOM_TAIL, TTM_INCIDENT_OOM, OOM_CORE OOM_TAIL); /* January 2026: no full stop */

  got = must_parse(OOM_CORE ", but bank size is only 1046181792 B", TTM_INCIDENT_OOM,
                   OOM_CORE ", but bank size is only 1046181792 B");
  assert_int_equal(got.bank_size, 1046181792);
  assert_true(got.allocated_per_bank == TTM_UNKNOWN && got.free_per_bank == TTM_UNKNOWN &&
              got.largest_free_block == TTM_UNKNOWN);

  got = must_parse(OOM_CORE, TTM_INCIDENT_OOM, OOM_CORE);
  assert_int_equal(got.needed_per_bank, 16777216);
  assert_true(got.bank_size == TTM_UNKNOWN);

  const char *hybrid =
      "Out of Memory: Not enough space after considering dependencies to allocate 65536 B L1 across 32 banks (2048 B "
      "per "
      "bank), bank size is 1393312 B (allocated: 1392000 B, free: 1312 B, largest free block: 1024 B)";
  got = must_parse(hybrid, TTM_INCIDENT_OOM, hybrid);
  assert_view(got.memory, "L1");
  assert_int_equal(got.size, 65536);
  assert_int_equal(got.banks, 32);
  assert_int_equal(got.needed_per_bank, 2048);
  assert_int_equal(got.bank_size, 1393312);
  assert_int_equal(got.largest_free_block, 1024);

  const char *below = "Out of Memory: Cannot allocate at an address below 600000. Allocation at 599968";
  got = must_parse(below, TTM_INCIDENT_OOM, below);
  assert_true(got.size == TTM_UNKNOWN && got.memory.n == 0);
}

static void hints_stay(void **state) {
  (void)state;
  const char *hint =
      "Out of Memory: Not enough space to allocate 1952 B L1_SMALL buffer across 61 banks, where each bank needs to "
      "store 32 B, "
      "but bank size is 0 B (allocated: 0 B, free: 0 B, largest free block: 0 B). The L1_SMALL region is 0 B because "
      "it is "
      "reserved at device open; set l1_small_size large enough.";
  ttm_incident_text got = must_parse(hint, TTM_INCIDENT_OOM, hint);
  assert_view(got.memory, "L1_SMALL");
  assert_int_equal(got.largest_free_block, 0);
  char line[1024];
  snprintf(line, sizeof line, "2026-11-15 07:05:51.129 | critical |          Always | TT_FATAL: %s (assert.hpp:104)",
           hint);
  must_parse(line, TTM_INCIDENT_OOM, hint);
}

/* field.md 3 A: per-bank numbers out of real reports. */
static void vectors_from_the_field(void **state) {
  (void)state;
  static const struct {
    uint64_t needs, free_bytes, largest, bank;
  } vectors[] = {
      {4894720, 183397344, 3382944, 1071821792},        {13983744, 55185344, 8713184, 1071821792},
      {18874368, 25576320, 17575008, 1071821792},       {11796480, 12661504, 6266880, 1070773184},
      {89479168, 67144640, 67140352, 1070773184},       {103723008, 15924544, 15475264, 1070773184},
      {5561647104, 2009461696, 2002774720, 4273390016},
  };
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    unsigned long long needs = vectors[i].needs, f = vectors[i].free_bytes, l = vectors[i].largest,
                       bank = vectors[i].bank;
    int banks = bank > 2000000000 ? 8 : 12;
    char line[512];
    snprintf(line, sizeof line,
             "Out of Memory: Not enough space to allocate %llu B DRAM buffer across %d banks, where each bank needs to "
             "store %llu B, but bank "
             "size is %llu B (allocated: %llu B, free: %llu B, largest free block: %llu B)",
             needs * (unsigned)banks, banks, needs, bank, bank - f, f, l);
    ttm_incident_text got = must_parse(line, TTM_INCIDENT_OOM, line);
    assert_int_equal(got.size, needs * (unsigned)banks);
    assert_int_equal(got.banks, banks);
    assert_int_equal(got.needed_per_bank, needs);
    assert_int_equal(got.bank_size, bank);
    assert_int_equal(got.allocated_per_bank, bank - f);
    assert_int_equal(got.free_per_bank, f);
    assert_int_equal(got.largest_free_block, l);
  }
}

static void clashes(void **state) {
  (void)state;
  ttm_incident_text got = must_parse(CLASH, TTM_INCIDENT_L1_CLASH, CLASH);
  assert_view(got.memory, "L1");
  assert_view(got.core_range, "[0-0 - 7-7]");
  assert_int_equal(got.program, 7);
  assert_int_equal(got.l1_buffer_at, 300032);
  assert_int_equal(got.buffers_end, 310272);
  assert_true(got.l1_size == TTM_UNKNOWN && got.size == TTM_UNKNOWN);
  assert_false(got.dataflow);

  const char *old =
      "Statically allocated circular buffers in program 119 clash with L1 buffers on core range [(x=5,y=4) - "
      "(x=5,y=4)]. L1 "
      "buffer allocated at 786432 and static circular buffer region ends at 821280";
  got = must_parse(old, TTM_INCIDENT_L1_CLASH, old);
  assert_view(got.core_range, "[(x=5,y=4) - (x=5,y=4)]");

  const char *set =
      "Statically allocated dataflow buffers in program 0 clash with L1 buffers on core range {[0-0 - 10-8], [0-9 - "
      "3-9]}. L1 "
      "buffer allocated at 256000 and static dataflow buffer region ends at 1185120";
  got = must_parse(set, TTM_INCIDENT_L1_CLASH, set);
  assert_view(got.core_range, "{[0-0 - 10-8], [0-9 - 3-9]}");
  assert_true(got.dataflow);

  const char *service =
      "Circular buffers on service-core range [7-0 - 7-0] in program 3 clash with ServiceCoreManager-allocated L1 "
      "(lowest "
      "service allocation at 1400000, CB region ends at 1410000)";
  got = must_parse(service, TTM_INCIDENT_L1_CLASH, service);
  assert_view(got.core_range, "[7-0 - 7-0]");
  assert_int_equal(got.program, 3);
  assert_int_equal(got.l1_buffer_at, 1400000);
  assert_int_equal(got.buffers_end, 1410000);
}

static void beyond_l1(void **state) {
  (void)state;
  ttm_incident_text got = must_parse(GROWS, TTM_INCIDENT_L1_OVERFLOW, GROWS);
  assert_view(got.memory, "L1");
  assert_view(got.core_range, "{[0-0 - 10-8], [0-9 - 3-9]}");
  assert_int_equal(got.buffers_end, 1700000);
  assert_int_equal(got.l1_size, 1572864);
  assert_true(got.dataflow && got.program == TTM_UNKNOWN);

  const char *old =
      "Statically allocated circular buffers on core range [(x=0,y=0) - (x=7,y=7)] grow to 1600000 B which is beyond "
      "max L1 "
      "size of 1499136 B";
  got = must_parse(old, TTM_INCIDENT_L1_OVERFLOW, old);
  assert_false(got.dataflow);
  assert_view(got.core_range, "[(x=0,y=0) - (x=7,y=7)]");
}

static void other_sentences(void **state) {
  (void)state;
  const char *kernel = "Program size (81000) too large for kernel config buffer (70656)";
  ttm_incident_text got =
      must_parse("E       Program size (81000) too large for kernel config buffer (70656)", TTM_INCIDENT_FATAL, kernel);
  assert_int_equal(got.size, 81000);
  const char *trace =
      "Creating trace buffers of size 5242880B on MeshDevice 1, but only 1048576B is allocated for trace region.";
  got = must_parse(
      "2026-06-24 03:39:42.829 | critical |          Always | TT_FATAL: Creating trace buffers of size 5242880B on "
      "MeshDevice 1, "
      "but only 1048576B is allocated for trace region. (assert.hpp:104)",
      TTM_INCIDENT_FATAL, trace);
  assert_view(got.memory, "TRACE");
  assert_int_equal(got.size, 5242880);
}

static void one_text_for_every_copy(void **state) {
  (void)state;
  static const char *const copies[] = {
      "%s",
      "%s\r",
      "2026-06-19 09:32:58.266 | critical |          Always | TT_FATAL: %s (assert.hpp:104)",
      "2025-10-23 04:15:50.252 | critical |          Always | %s (assert.hpp:103)",
      "[2025-06-06 03:52:41.386] [critical] [assert.hpp:103] [Always] %s",
      "                 Always | FATAL    | %s",
      "\033[38;2;000;128;000m                 Always\033[0m | \033[1m\033[38;2;255;000;000mFATAL   \033[0m | %s",
      "\033[32m                 Always\033[0m | \033[1m\033[31m   FATAL\033[0m | %s\033[0m",
      "\033[90m2026-06-19 09:32:58.266\033[0m | \033[1m\033[41mcritical\033[m | \033[35m         Always\033[0m | "
      "\033[37mTT_FATAL: %s\033[0m "
      "\033[90m(assert.hpp:104)\033[0m",
      "2025-02-13T20:04:14.0456960Z                  Always | FATAL    | %s",
      "E       %s",
      "E   RuntimeError: %s",
      "RuntimeError: TT_THROW: %s",
      "ERROR 10-23 04:15:50 [engine.py:187] %s",
      "(EngineCore_0 pid=812) ERROR 10-23 04:15:50 [logger.py:187] %s",
      "2026-05-14 01:00:31.802 (2408.930s) [        4F4456C0]                utils.h:62     ERR| %s",
      "[1,0]<stdout>:%s",
      "RuntimeError('TT_FATAL @ /p/bank_manager.cpp:514: false\\ninfo:\\n%s\\nbacktrace:\\n --- call')",
      "{\"error\": \"TT_FATAL @ /p/bank_manager.cpp:514: false\\ninfo:\\n%s\\nbacktrace:\\n\", \"code\": 500}",
      "{\"error\": \"%s\", \"code\": 500}",
      "RuntimeError('%s')",
      "FAILED tests/test_a.py::test_b - RuntimeError: %s",
  };
  static const struct {
    ttm_incident_kind kind;
    const char *text;
  } sentences[] = {{TTM_INCIDENT_OOM, OOM_NOW},           {TTM_INCIDENT_OOM, OOM_CORE},
                   {TTM_INCIDENT_OOM, OOM_CORE OOM_TAIL}, {TTM_INCIDENT_L1_CLASH, CLASH},
                   {TTM_INCIDENT_L1_OVERFLOW, GROWS},     {TTM_INCIDENT_OOM, OOM_NOW " Set a larger region."}};
  for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
    for (size_t k = 0; k < sizeof sentences / sizeof *sentences; k++) {
      char line[1024];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
      snprintf(line, sizeof line, copies[i], sentences[k].text);
#pragma GCC diagnostic pop
      must_parse(line, sentences[k].kind, sentences[k].text);
    }
  }
}

static void other_fatals(void **state) {
  (void)state;
  must_parse(
      "2026-01-12 10:24:10.404 | critical |          Always | TT_FATAL: Invalid arguments to reshape (assert.hpp:103)",
      TTM_INCIDENT_FATAL, "Invalid arguments to reshape");
  must_parse("2025-10-23 04:15:50.252 | critical |          Always | Invalid arguments (assert.hpp:103)",
             TTM_INCIDENT_FATAL, "Invalid arguments");
  must_parse("[2025-06-06 03:52:41.386] [critical] [assert.hpp:103] [Always] Bad things", TTM_INCIDENT_FATAL,
             "Bad things");
  must_parse("                 Always | FATAL    | Index out of range. 4 not in [-4, 4)", TTM_INCIDENT_FATAL,
             "Index out of range. 4 not in [-4, 4)");
  must_parse("                Always |    FATAL | Device is not open", TTM_INCIDENT_FATAL, "Device is not open");
  must_parse("\033[1mLOG_ASSERT @ /a/b.cpp:12: x == y", TTM_INCIDENT_FATAL, "LOG_ASSERT @ /a/b.cpp:12: x == y");
  must_parse("LOG_FATAL @ /a/b.cpp:12: tt::exception\033[0m", TTM_INCIDENT_FATAL,
             "LOG_FATAL @ /a/b.cpp:12: tt::exception");
  must_parse("RuntimeError('TT_FATAL @ /a/b.cpp:5: a == b\\ninfo:\\nShapes differ\\nbacktrace:\\n')",
             TTM_INCIDENT_FATAL, "Shapes differ");
  must_parse("TT_THROW: unknown key 'abc'", TTM_INCIDENT_FATAL, "unknown key 'abc'");
  must_parse("2026-05-14 01:00:31.802 (2408.930s) [        4F4456C0]                utils.h:62    FATL| Check failed",
             TTM_INCIDENT_FATAL, "Check failed");
  /* No wording we know, but the logger says it is fatal. */
  must_parse("Always | FATAL | Out of Memory: nothing left", TTM_INCIDENT_FATAL, "Out of Memory: nothing left");
}

static void cut_lines_keep_what_is_whole(void **state) {
  (void)state;
  const char *banks = "Out of Memory: Not enough space to allocate 201326592 B DRAM buffer across 12 banks";
  ttm_incident_text got = must_parse(
      "Out of Memory: Not enough space to allocate 201326592 B DRAM buffer across 12 banks, where each bank needs to "
      "store 1677",
      TTM_INCIDENT_OOM, banks);
  assert_true(got.needed_per_bank == TTM_UNKNOWN);
  must_not_parse("Out of Memory: Not enough space to allocate 2013265");
  must_not_parse("Statically allocated circular buffers in program 7 clash with L1 buffers on core range [0-0");
  got = must_parse(
      "Out of Memory: Not enough space to allocate 9 B DRAM buffer across 12 banks, where each bank needs to store "
      "99999999999999999999 B",
      TTM_INCIDENT_OOM, "Out of Memory: Not enough space to allocate 9 B DRAM buffer across 12 banks");
  assert_true(got.needed_per_bank == TTM_UNKNOWN);
}

static void ordinary_lines(void **state) {
  (void)state;
  static const char *const lines[] = {
      "",
      "y:",
      "# Out of Memory: see docs",
      "Out of Memory: see the documentation, section 4",
      "Out of Memory: Not enough space to allocate {} B {} buffer across {} banks, where each bank needs to store {} B",
      "    raise RuntimeError(f\"Out of Memory: Not enough space to allocate {size} B DRAM buffer\")",
      "    with pytest.raises(RuntimeError, match=\"" OOM_CORE "\"):",
      "# " OOM_NOW,
      "    // " CLASH,
      "        TT_FATAL(false, \"" OOM_NOW "\");",
      "    if \"TT_FATAL: \" in str(error):",
      "    raise ValueError(\"TT_FATAL: no\")",
      "TT_FATAL @ /project/tt_metal/impl/allocator/bank_manager.cpp:514: false",
      "RuntimeError: TT_THROW @ /project/program.cpp:2624: tt::exception",
      "info:",
      "Statically allocated circular buffers are good for you",
      "2026-06-19 09:32:58.266 | info     |          Always | no critical | path (a.cpp:1)",
      "2026-06-19 09:32:58.266 | CRITICAL | module:function:3 - python's own",
      "a critical section | of | code",
      "                 Always |     INFO | Device memory state before operation MatmulOp",
      "  File \"lab/failures.py\", line 77, in <module>",
      " --- tt::tt_metal::BankManager::allocate_buffer(unsigned long, unsigned long, bool)",
      "%1 = \"ttnn.to_memory_config\"(%0) : (tensor<1xbf16>) -> tensor<1xbf16> loc(\"FATAL\")",
      "TT_FATAL: ",
      "Always | FATAL | ",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) must_not_parse(lines[i]);
}

/* The quick look must see an anchor wherever it stands in a line. */
static void any_column(void **state) {
  (void)state;
  char line[600];
  for (size_t pad = 0; pad < 140; pad++) {
    memset(line, ' ', pad);
    snprintf(line + pad, sizeof line - pad, "%s", OOM_CORE);
    must_parse(line, TTM_INCIDENT_OOM, OOM_CORE);
    snprintf(line + pad, sizeof line - pad, "%s", "TT_THROW: x");
    must_parse(line, TTM_INCIDENT_FATAL, "x");
    snprintf(line + pad, sizeof line - pad, "%s", "| critical | A | x");
    must_parse(line, TTM_INCIDENT_FATAL, "x");
    snprintf(line + pad, sizeof line - pad, "%s", "|FATAL|x");
    must_parse(line, TTM_INCIDENT_FATAL, "x");
  }
}

static void headers(void **state) {
  (void)state;
  assert_true(ttm_incident_is_header(TTM_LIT("TT_FATAL @ /p/bank_manager.cpp:514: false")));
  assert_true(ttm_incident_is_header(TTM_LIT("E   RuntimeError: TT_THROW @ ../program.cpp:2624: tt::exception")));
  assert_true(ttm_incident_is_header(TTM_LIT("{TT_FATAL @ /p/tensor_utils.cpp:54: new_volume == old_volume")));
  assert_false(ttm_incident_is_header(TTM_LIT("TT_FATAL: x")));
  assert_false(ttm_incident_is_header(TTM_LIT("TT_FATAL @ nowhere")));
  assert_false(ttm_incident_is_header(TTM_LIT("LOG_ASSERT @ /p/a.cpp:5: x"))); /* no "info:" follows this one */
  assert_false(ttm_incident_is_header(TTM_LIT("'TT_FATAL @ /p/a.cpp:5: x\\ninfo:\\nAll on one line\\n'")));
  assert_false(ttm_incident_is_header(TTM_LIT("")));
  assert_true(ttm_incident_is_possible(TTM_LIT("RuntimeError: TT_THROW @ ../program.cpp:2624: tt::exception")));
  assert_false(
      ttm_incident_is_possible(TTM_LIT("%0 = ttnn.add(%1, %2) : an ordinary line, longer than one step of the scan")));
}

static void lines_after_info(void **state) {
  (void)state;
  static const char *const lines[] = {"Invalid arguments to reshape", "E       Invalid arguments to reshape",
                                      "ERROR 10-23 04:15:50 [engine.py:187] Invalid arguments to reshape",
                                      "2025-02-13T20:04:14.0456960Z E   Invalid arguments to reshape\r"};
  ttm_incident_text got;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    assert_true(ttm_incident_parse_info(ttm_str_of(lines[i]), &got));
    assert_int_equal(got.kind, TTM_INCIDENT_FATAL);
    assert_view(got.text, "Invalid arguments to reshape");
  }
  assert_true(ttm_incident_parse_info(ttm_str_of("E   " OOM_NOW), &got));
  assert_int_equal(got.kind, TTM_INCIDENT_OOM);
  assert_view(got.text, OOM_NOW);
  assert_false(ttm_incident_parse_info(TTM_LIT("  \r"), &got));
}

/* tt-metal and ttnn word what does not fit in L1 in many ways. */
static void other_buffer_errors(void **state) {
  (void)state;
  static const struct {
    const char *text;
    ttm_incident_kind kind;
    uint64_t size, limit;
    bool dataflow;
  } all[] = {
      {"Total circular buffer size 5000 B must be divisible by page size 2048 B", TTM_INCIDENT_L1_BUFFERS, TTM_UNKNOWN,
       TTM_UNKNOWN, false},
      {"Cannot set circular buffer size to 131072. This is larger than the associated dynamically allocated L1 buffer "
       "bank size of 65536 B",
       TTM_INCIDENT_L1_BUFFERS, 131072, 65536, false},
      {"Buffer index (32) exceeds max number of circular buffers per core (32)", TTM_INCIDENT_L1_BUFFERS, TTM_UNKNOWN,
       TTM_UNKNOWN, false},
      {"DFB 3: ring size (2000000 bytes) exceeds Tensix unreserved L1 size (1393312 bytes); reduce capacity",
       TTM_INCIDENT_L1_BUFFERS, 2000000, 1393312, true},
      {"ttnn::slice: required CB size 2000000 B exceeds per-core L1 budget 1393312 B (rows 4)", TTM_INCIDENT_L1_BUFFERS,
       2000000, 1393312, false},
      {"not enough circular buffer memory for softmax", TTM_INCIDENT_L1_BUFFERS, TTM_UNKNOWN, TTM_UNKNOWN, false},
      {"Not enough L1 space for mux core memory requirements", TTM_INCIDENT_L1_BUFFERS, TTM_UNKNOWN, TTM_UNKNOWN,
       false},
      {"Input tensor must be in L1", TTM_INCIDENT_FATAL, TTM_UNKNOWN, TTM_UNKNOWN, false},
      {"Shape 3x4 exceeds 2x4", TTM_INCIDENT_FATAL, TTM_UNKNOWN, TTM_UNKNOWN, false},
      {"CBR and L12 fit nothing", TTM_INCIDENT_FATAL, TTM_UNKNOWN, TTM_UNKNOWN, false},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    ttm_incident_text got;
    assert_true(ttm_incident_parse_info(ttm_str_of(all[i].text), &got));
    if (got.kind != all[i].kind) fail_msg("%s: kind %d", all[i].text, got.kind);
    assert_true(got.size == all[i].size && got.limit == all[i].limit && got.dataflow == all[i].dataflow);
    assert_int_equal(got.memory.n, all[i].kind == TTM_INCIDENT_FATAL ? 0 : 2);
    char line[512];
    snprintf(line, sizeof line, "2026-11-15 07:05:51.098 | critical |          Always | TT_THROW: %s (assert.hpp:104)",
             all[i].text);
    must_parse(line, all[i].kind, all[i].text);
  }
}

/* ---- real logs, when the folder is there ---- */

typedef struct tally {
  int lines, headers, kinds[TTM_INCIDENT_FATAL + 1], pairs; /* pairs: an incident whose text was seen before */
} tally;

static tally read_log(const char *path) {
  const char *shared = getenv("TTMEM_SHARED");
  char name[1024];
  snprintf(name, sizeof name, "%s/samples/%s", shared ? shared : "../shared", path);
  FILE *file = fopen(name, "rb");
  if (!file) {
    print_message("skipped: no %s\n", name);
    skip();
  }
  tally t = {0};
  static char line[1 << 20], seen[64][2048];
  int seen_count = 0;
  while (fgets(line, sizeof line, file)) {
    ttm_str v = {line, strcspn(line, "\n")};
    ttm_incident_text got;
    t.lines++;
    t.headers += ttm_incident_is_header(v);
    if (!ttm_incident_parse(v, &got)) continue;
    t.kinds[got.kind]++;
    char text[2048];
    snprintf(text, sizeof text, "%.*s", (int)got.text.n, got.text.p);
    bool known = false;
    for (int i = 0; i < seen_count; i++) known |= strcmp(seen[i], text) == 0;
    t.pairs += known;
    if (!known && seen_count < 64) memcpy(seen[seen_count++], text, sizeof text);
  }
  fclose(file);
  return t;
}

static void real_failures(void **state) {
  (void)state;
  tally t = read_log("metal/ttnn-0.81.1/failures_n150.log");
  assert_int_equal(t.kinds[TTM_INCIDENT_OOM], 10);
  assert_int_equal(t.kinds[TTM_INCIDENT_L1_CLASH], 4);
  assert_int_equal(t.kinds[TTM_INCIDENT_L1_OVERFLOW], 2);
  assert_int_equal(t.kinds[TTM_INCIDENT_FATAL], 0);
  assert_int_equal(t.headers, 8);
  assert_int_equal(t.pairs, 8); /* each is told twice, in the same bytes */
}

static void real_old_ci_log(void **state) {
  (void)state;
  tally t = read_log("metal/ci_log_2025-02_old_logger_ansi_cb_clash_oom.log");
  assert_int_equal(t.kinds[TTM_INCIDENT_OOM], 1);
  assert_int_equal(t.kinds[TTM_INCIDENT_L1_CLASH], 1);
  assert_int_equal(t.kinds[TTM_INCIDENT_L1_OVERFLOW], 0);
  assert_int_equal(t.kinds[TTM_INCIDENT_L1_BUFFERS], 4);
  assert_int_equal(t.kinds[TTM_INCIDENT_FATAL], 14);
}

/* Sentences of ttnn 0.81.1; the list was printed by it on a mock board. */
static void about_something(void **state) {
  (void)state;
  static const struct {
    const char *line, *text;
    ttm_incident_about about;
    uint64_t size, limit;
  } all[] = {
      {"TT_FATAL: Program size (25680) too large for kernel config buffer (25600) on ACTIVE_ETH (assert.hpp:104)",
       "Program size (25680) too large for kernel config buffer (25600) on ACTIVE_ETH", TTM_ABOUT_KERNELS, 25680,
       25600},
      {"Creating trace buffers of size 751616B on device 0, but only 5B is allocated for trace region",
       "Creating trace buffers of size 751616B on device 0, but only 5B is allocated for trace region",
       TTM_ABOUT_TRACE_REGION, 751616, 5},
      {"TT_FATAL: Trace buffer at address 100 overlaps with buffers allocated during trace capture (allocation high "
       "water mark: 5000). Reduce allocations during trace capture. (assert.hpp:104)",
       "Trace buffer at address 100 overlaps with buffers allocated during trace capture (allocation high water mark: "
       "5000). Reduce allocations during trace capture.",
       TTM_ABOUT_TRACE_OVERLAP, 5000, 100},
      {"TT_FATAL: Trace buffer at address 1 overlaps with DRAM activity during trace capture. Allocation high water "
       "mark: 30, Deletion high water mark: 50. Reduce allocations",
       NULL, TTM_ABOUT_TRACE_OVERLAP, 50, 1},
      {"TT_FATAL: Trace buffer at address 7 overlaps with DRAM activity captured by another live trace (maximum live "
       "trace high water mark: 9).",
       NULL, TTM_ABOUT_TRACE_OTHER, 9, 7},
      {"TT_THROW: Allocating device buffers is potentially unsafe due to the existence of an active trace.", NULL,
       TTM_ABOUT_TRACE_UNSAFE, TTM_UNKNOWN, TTM_UNKNOWN},
      {"terminate called after throwing an instance of 'std::bad_alloc'", "std::bad_alloc", TTM_ABOUT_HOST_MEMORY,
       TTM_UNKNOWN, TTM_UNKNOWN},
      {"E   numpy.core._exceptions._ArrayMemoryError: Unable to allocate 1.00 TiB",
       "MemoryError: Unable to allocate 1.00 TiB", TTM_ABOUT_HOST_MEMORY, TTM_UNKNOWN, TTM_UNKNOWN},
      {"[1.0] Memory cgroup out of memory: Killed process 1 (python3)", "out of memory: Killed process 1 (python3)",
       TTM_ABOUT_HOST_MEMORY, TTM_UNKNOWN, TTM_UNKNOWN},
      {"RuntimeError: err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.", NULL,
       TTM_ABOUT_HOST_MEMORY, TTM_UNKNOWN, TTM_UNKNOWN},
      {"UMD: Mapping a hugepage failed. (device: 0, 0/1 errno: 12).", NULL, TTM_ABOUT_HUGEPAGES, TTM_UNKNOWN,
       TTM_UNKNOWN},
      {"XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory", "RESOURCE_EXHAUSTED: Out of memory", TTM_ABOUT_EXHAUSTED,
       TTM_UNKNOWN, TTM_UNKNOWN},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    ttm_incident_text got;
    if (!parse(all[i].line, &got)) fail_msg("not seen: %s", all[i].line);
    assert_int_equal(got.kind, TTM_INCIDENT_FATAL);
    assert_int_equal(got.about, all[i].about);
    assert_int_equal(got.size, all[i].size);
    assert_int_equal(got.limit, all[i].limit);
    if (all[i].text) must_parse(all[i].line, TTM_INCIDENT_FATAL, all[i].text);
  }
  must_not_parse("    except MemoryError:");
  must_not_parse(
      "| warning | Metal | Allocating device buffers is potentially unsafe due to the existence of an active trace.");
  must_not_parse("Sysmem (0x40000000 bytes) using regular pages; pre-allocate hugepages for better DMA performance");
}

static void beside_per_core_allocations(void **state) {
  (void)state;
  ttm_incident_text got = must_parse(
      "TT_FATAL: Out of Memory: Not enough space after considering dependencies to allocate 1024 B L1 across 64 banks "
      "(16 B "
      "per bank), bank size is 100 B (allocated: 10 B, free: 90 B, largest free block: 80 B). After subtracting 2 "
      "dependency range(s) and 3 additional occupied range(s), 20 B remained placeable across 4 window(s), largest 8 "
      "B.",
      TTM_INCIDENT_OOM,
      "Out of Memory: Not enough space after considering dependencies to allocate 1024 B L1 across 64 banks (16 B per "
      "bank), "
      "bank size is 100 B (allocated: 10 B, free: 90 B, largest free block: 80 B). After subtracting 2 dependency "
      "range(s) "
      "and 3 additional occupied range(s), 20 B remained placeable across 4 window(s), largest 8 B.");
  assert_int_equal(got.placeable, 20);
  assert_int_equal(got.window, 8);
  parse(
      "TT_THROW: Persistent L1 arena is out of memory: cannot place 4096 bytes aligned to 32 on cores {[0-0 - 7-7]} in "
      "[1024, 3072)",
      &got);
  assert_int_equal(got.kind, TTM_INCIDENT_OOM);
  assert_int_equal(got.needed_per_bank, 4096);
  assert_int_equal(got.bank_size, 2048);
}

static void lists_are_joined(void **state) {
  (void)state;
  const char *line = "Program size (576) too large for kernel config buffer (480) on TENSIX, 96 B over:";
  ttm_str rest = TTM_LIT(
      "  runtime args                 128 B\n  circular buffers             0 B\nE       brisc   64 B\nbacktrace:\n");
  ttm_buf out = {0};
  assert_true(ttm_incident_has_list(ttm_str_of(line)));
  assert_false(ttm_incident_has_list(TTM_LIT("Program size (576) too large for kernel config buffer (480) on TENSIX")));
  ttm_incident_join(&out, ttm_str_of(line), &rest);
  assert_true(ttm_str_eq(rest, TTM_LIT("backtrace:\n")));
  ttm_buf_char(&out, 0);
  must_parse(out.at, TTM_INCIDENT_FATAL,
             "Program size (576) too large for kernel config buffer (480) on TENSIX, 96 B over: runtime args 128 B, "
             "brisc 64 B");
  ttm_buf_free(&out);
}

static void real_xla_logs(void **state) {
  (void)state;
  tally t = read_log("xla/03_mochi_conv1_norm2.txt");
  assert_int_equal(t.kinds[TTM_INCIDENT_FATAL], 1);
  assert_int_equal(t.kinds[TTM_INCIDENT_OOM], 0);
  assert_int_equal(t.headers, 1);
  t = read_log("xla/21_llama8b_oom_real_allocator.log");
  assert_int_equal(t.kinds[TTM_INCIDENT_OOM], 2);
  assert_int_equal(t.kinds[TTM_INCIDENT_FATAL], 0);
  assert_int_equal(t.pairs, 1);
  assert_int_equal(t.headers, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(oom_of_every_era),
      cmocka_unit_test(hints_stay),
      cmocka_unit_test(vectors_from_the_field),
      cmocka_unit_test(clashes),
      cmocka_unit_test(beyond_l1),
      cmocka_unit_test(other_sentences),
      cmocka_unit_test(one_text_for_every_copy),
      cmocka_unit_test(other_fatals),
      cmocka_unit_test(cut_lines_keep_what_is_whole),
      cmocka_unit_test(ordinary_lines),
      cmocka_unit_test(any_column),
      cmocka_unit_test(headers),
      cmocka_unit_test(lines_after_info),
      cmocka_unit_test(other_buffer_errors),
      cmocka_unit_test(real_failures),
      cmocka_unit_test(real_old_ci_log),
      cmocka_unit_test(real_xla_logs),
      cmocka_unit_test(about_something),
      cmocka_unit_test(beside_per_core_allocations),
      cmocka_unit_test(lists_are_joined),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
