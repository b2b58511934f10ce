/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cb/cb_log.h"

#include <stdlib.h>

#include "analyze/fix.h"
#include "analyze/say.h"
#include "analyze/words.h"
#include "base/checked.h"
#include "base/format.h"

enum { MOST_KERNELS = 12, MOST_INCIDENTS = 10, MOST_WARNINGS = 5, MOST_USAGE = 30 };

static const char *const memories[TTM_METAL_MEMORIES] = {"DRAM", "L1", "System memory", "L1_SMALL", "TRACE"};

static ttm_str string(const ttm_device_log *log, uint32_t id) { return ttm_intern_get(&log->strings, id); }

/* The form of the lines tells the version roughly, which is better than the newest. */
static void guess_version(const ttm_device_log *log, ttm_clash_hints *hints) {
  bool old = log->era_lines[TTM_METAL_A] || log->era_lines[TTM_METAL_B];
  if (hints->version.n || hints->base || log->era_lines[TTM_METAL_C] || !old) return;
  hints->version = log->era_lines[TTM_METAL_B] ? TTM_LIT("0.59") : TTM_LIT("0.56");
  hints->version_guessed = true;
}

ttm_clash_hints ttm_cb_log_hints(const ttm_device_log *log, const ttm_clash_hints *given) {
  ttm_clash_hints hints = *given;
  guess_version(log, &hints);
  if (!log->partitions.n) return hints;
  const ttm_device_partition *p = &log->partitions.at[log->partitions.n - 1];
  ttm_arch_id arch = ttm_arch_by_l1_bytes(p->worker_l1);
  hints.base = p->base;
  hints.l1_small = p->small;
  if (arch != TTM_ARCHES) hints.arch = ttm_str_of(ttm_arches[arch].name);
  return hints;
}

/* ---- Failures --------------------------------------------------------------------------------------------------------- */

static void add_fix(ttm_cb_failure *f, ttm_buf words) {
  f->failed |= words.failed;
  f->fixes[f->fix_count++] = words;
}

/* The three cheapest. */
static void find_fixes(ttm_cb_failure *f, const ttm_incident_text *what) {
  ttm_remedies fixes = {.n = 0};
  ttm_fixes_of_buffers(&fixes, what, f->clash.map.arch, f->clash.spare_small);
  for (size_t i = 0; i < fixes.n && f->fix_count < TTM_CB_FIXES; i++) {
    ttm_buf words = {0};
    ttm_say_remedy(&words, NULL, &fixes.at[i], what);
    add_fix(f, words);
  }
}

void ttm_cb_failure_make(ttm_cb_failure *f, const ttm_device_incident *i, const ttm_clash_hints *hints) {
  *f = (ttm_cb_failure){.shortfall = TTM_UNKNOWN};
  if (ttm_clash_possible(&i->what)) {
    int status = ttm_clash_explain(&f->clash, &i->what, hints);
    f->clashes = !status;
    f->failed = status == TTM_ENOMEM;
  }
  if (f->clashes) {
    ttm_words_overlap(&f->detail, &f->clash.overlap);
    find_fixes(f, &i->what);
  }
  if (i->what.kind == TTM_INCIDENT_OOM) f->verdict = ttm_verdict_of(&i->what, &f->shortfall);
  if (i->what.limit != TTM_UNKNOWN) f->shortfall = i->what.size - i->what.limit;
  if (f->verdict != TTM_VERDICT_NONE) ttm_buf_puts(&f->detail, "'ttmem explain' lists the fixes");
  if (i->mistake) {
    ttm_buf cure = {0};
    ttm_buf_puts(&cure, i->mistake->cure);
    add_fix(f, cure);
  }
  f->failed |= f->detail.failed;
}

void ttm_cb_failure_free(ttm_cb_failure *f) {
  ttm_clash_free(&f->clash);
  ttm_buf_free(&f->detail);
  for (size_t i = 0; i < f->fix_count; i++) ttm_buf_free(&f->fixes[i]);
}

/* ---- What was read ---------------------------------------------------------------------------------------------------- */

static void put_kind(ttm_doc *d, const ttm_device_log *log, ttm_str name) {
  static const char *const eras[] = {"", "up to v0.58", "release candidates of v0.59", "v0.59 and later"};
  static const char *const reports[] = {"", "memory usage summary", "L1 usage summary", "detailed memory usage"};
  const uint64_t *levels = log->level_lines;
  const char *lines = TTM_COUNT_TEXT(log->lines);
  if (log->csv) return ttm_doc_line(d, "%.*s: memory report (%s), %s lines.", TTM_ARGS(name), reports[log->csv], lines);
  ttm_doc_line(d, "%.*s: %s line%s%s.", TTM_ARGS(name), lines, log->lines == 1 ? "" : "s",
               log->coloured ? ", with terminal colours" : "");
  for (int era = TTM_METAL_A; era < TTM_METAL_ERAS; era++) {
    if (log->era_lines[era])
      ttm_doc_point(d, "%s line%s of TT-Metal's logger, format of %s", TTM_COUNT_TEXT(log->era_lines[era]),
                    log->era_lines[era] == 1 ? "" : "s", eras[era]);
  }
  ttm_doc_point(d, "Levels: %s fatal, %s error, %s warning, %s info, %s debug", TTM_COUNT_TEXT(levels[TTM_SEV_FATAL]),
                TTM_COUNT_TEXT(levels[TTM_SEV_ERROR]), TTM_COUNT_TEXT(levels[TTM_SEV_WARNING]),
                TTM_COUNT_TEXT(levels[TTM_SEV_INFO]), TTM_COUNT_TEXT(levels[TTM_SEV_DEBUG] + levels[TTM_SEV_TRACE]));
  if (log->damage) ttm_doc_point(d, "The file ends early: %s", log->damage);
}

static void put_partitions(ttm_doc *d, const ttm_device_log *log) {
  static const char *const heads[] = {"Chip", ">L1 per core", ">Base", ">L1_SMALL", ">Capacity", ">Log line", ">Times"};
  if (!log->partitions.n) return;
  ttm_doc_heading(d, "L1 partition");
  ttm_doc_table(d, heads, sizeof heads / sizeof *heads);
  for (size_t i = 0; i < log->partitions.n; i++) {
    const ttm_device_partition *p = &log->partitions.at[i];
    ttm_arch_id arch = ttm_arch_by_l1_bytes(p->worker_l1);
    uint64_t taken = ttm_add_sat(p->base, p->small);
    ttm_doc_cell(d, "%s", arch == TTM_ARCHES ? "unknown" : ttm_arches[arch].name);
    ttm_doc_cell_bytes(d, p->worker_l1);
    ttm_doc_cell_count(d, p->base);
    ttm_doc_cell_bytes(d, p->small);
    ttm_doc_cell_bytes(d, p->worker_l1 > taken ? p->worker_l1 - taken : 0);
    ttm_doc_cell_count(d, p->line);
    ttm_doc_cell_count(d, p->times);
  }
  ttm_doc_table_end(d);
}

/* One core, and the cores of the message among the others. */
static void put_clash(ttm_doc *d, const ttm_clash *clash) {
  ttm_core_grid grid;
  bool known;
  ttm_doc_picture(d, &clash->map);
  d->out->failed |= ttm_clash_grid(&grid, clash, &known) != TTM_OK;
  if (known) ttm_doc_cores(d, &grid);
}

static void put_failure(ttm_doc *d, const ttm_device_log *log, const ttm_device_incident *i,
                        const ttm_clash_hints *hints) {
  ttm_buf title = {0};
  ttm_cb_failure f;
  ttm_cb_failure_make(&f, i, hints);
  ttm_say_failure(&title, &i->what, f.verdict, f.clashes ? f.clash.bytes : f.shortfall);
  ttm_buf_printf(&title, ", log line %s", TTM_COUNT_TEXT(i->line));
  if (i->copies > 1) ttm_buf_printf(&title, ", printed %s times", TTM_COUNT_TEXT(i->copies));
  ttm_buf_char(&title, '\0');
  ttm_doc_heading(d, title.failed ? "" : title.at);
  ttm_doc_line(d, "%.*s", TTM_ARGS(ttm_str_first(i->what.text, 600)));
  if (i->op) ttm_doc_line(d, "In operation %.*s.", TTM_ARGS(string(log, i->op)));
  if (f.detail.n) ttm_doc_line(d, "%.*s.", TTM_ARGS(ttm_buf_str(&f.detail)));
  if (f.clashes) put_clash(d, &f.clash);
  for (size_t k = 0; k < f.fix_count; k++) ttm_doc_point(d, "Fix: %.*s.", TTM_ARGS(ttm_buf_str(&f.fixes[k])));
  d->out->failed |= title.failed | f.failed;
  ttm_cb_failure_free(&f);
  ttm_buf_free(&title);
}

/* Something this report can say more about than its words. */
static bool is_about_memory(const ttm_device_incident *i) {
  return i->what.kind != TTM_INCIDENT_FATAL || i->mistake || i->what.size != TTM_UNKNOWN;
}

static void put_failures(ttm_doc *d, const ttm_device_log *log, const ttm_clash_hints *hints) {
  size_t shown = 0, hidden = 0, others = 0, first = 0;
  for (size_t i = 0; i < log->incidents.n; i++) {
    if (!is_about_memory(&log->incidents.at[i])) {
      if (!others++) first = i;
    } else if (shown < MOST_INCIDENTS) {
      put_failure(d, log, &log->incidents.at[i], hints), shown++;
    } else {
      hidden++;
    }
  }
  if (hidden) ttm_doc_line(d, "%s more failures; --json lists them all.", TTM_COUNT_TEXT(hidden));
  if (!others) return;
  ttm_doc_heading(d, "Other fatal errors");
  ttm_doc_line(d, "%s without a memory figure; the first, log line %s: %.*s", TTM_COUNT_TEXT(others),
               TTM_COUNT_TEXT(log->incidents.at[first].line),
               TTM_ARGS(ttm_str_first(log->incidents.at[first].what.text, 200)));
}

/* ---- Kernels, buffers, warnings --------------------------------------------------------------------------------------- */

static int by_bytes(const void *left, const void *right) {
  const ttm_device_kernel *a = left, *b = right;
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  return a->line < b->line ? -1 : a->line > b->line;
}

static void put_kernels(ttm_doc *d, const ttm_device_log *log, const ttm_clash_hints *hints) {
  static const char *const heads[] = {"Kernel", ">RISC", ">Size", ">Loaded", ">Log line"};
  size_t n = log->kernels.n, shown = n < MOST_KERNELS ? n : MOST_KERNELS;
  if (!n) return;
  ttm_device_kernel *sorted = ttm_alloc(n * sizeof *sorted);
  if (!sorted) {
    d->out->failed = true;
    return;
  }
  memcpy(sorted, log->kernels.at, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, by_bytes);
  ttm_doc_heading(d, "Kernels");
  ttm_doc_table(d, heads, sizeof heads / sizeof *heads);
  for (size_t i = 0; i < shown; i++) {
    ttm_doc_cell_text(d, string(log, sorted[i].name));
    ttm_doc_cell_count(d, sorted[i].processor);
    ttm_doc_cell_bytes(d, sorted[i].bytes);
    ttm_doc_cell_count(d, sorted[i].times);
    ttm_doc_cell_count(d, sorted[i].line);
  }
  ttm_doc_table_end(d);
  if (n > shown) ttm_doc_line(d, "%s more; --json lists them all.", TTM_COUNT_TEXT(n - shown));
  ttm_arch_id arch = ttm_arch_find(hints->arch);
  ttm_doc_line(d, "Together %s. A core's kernel ring holds %s of one program.",
               TTM_BYTES_TEXT(ttm_device_kernel_bytes(log)),
               TTM_BYTES_TEXT(ttm_arches[arch == TTM_ARCHES ? TTM_ARCH_WORMHOLE : arch].kernel_config));
  ttm_free(sorted);
}

static void put_buffers(ttm_doc *d, const ttm_device_log *log) {
  static const char *const heads[] = {"Memory", ">Buffers", ">Total", ">Largest", ">Log line"};
  bool any = false;
  for (int m = 0; m < TTM_METAL_MEMORIES; m++) any |= log->buffers[m].times > 0;
  if (!any) return;
  ttm_doc_heading(d, "Buffers allocated");
  ttm_doc_table(d, heads, sizeof heads / sizeof *heads);
  for (int m = 0; m < TTM_METAL_MEMORIES; m++) {
    const ttm_device_buffers *b = &log->buffers[m];
    if (!b->times) continue;
    ttm_doc_cell(d, "%s", memories[m]);
    ttm_doc_cell_count(d, b->times);
    ttm_doc_cell_bytes(d, b->bytes);
    ttm_doc_cell_bytes(d, b->largest);
    ttm_doc_cell_count(d, b->largest_line);
  }
  ttm_doc_table_end(d);
  ttm_doc_line(d, "Sizes are over all banks. Deallocations are not in this log, so the total is not a peak.");
}

static void put_warnings(ttm_doc *d, const ttm_device_log *log) {
  if (!log->indices.times && !log->warnings.n) return;
  ttm_doc_heading(d, "Warnings");
  if (log->indices.times)
    ttm_doc_point(d,
                  "Circular buffer indices have gaps (%.*s), which slows dispatch (%sx, log line %s). Fix: number "
                  "them from 0 without gaps.",
                  TTM_ARGS(string(log, log->indices.text)), TTM_COUNT_TEXT(log->indices.times),
                  TTM_COUNT_TEXT(log->indices.line));
  for (size_t i = 0; i < log->warnings.n && i < MOST_WARNINGS; i++) {
    const ttm_device_remark *w = &log->warnings.at[i];
    ttm_doc_point(d, "%.*s (%sx, log line %s)", TTM_ARGS(ttm_str_first(string(log, w->text), 200)),
                  TTM_COUNT_TEXT(w->times), TTM_COUNT_TEXT(w->line));
  }
  if (log->warnings.n > MOST_WARNINGS)
    ttm_doc_point(d, "%s more kinds; --json lists them all.", TTM_COUNT_TEXT(log->warnings.n - MOST_WARNINGS));
}

/* ---- CSV reports ------------------------------------------------------------------------------------------------------ */

static void cell_known(ttm_doc *d, uint64_t value) {
  value == TTM_UNKNOWN ? ttm_doc_cell(d, "-") : ttm_doc_cell_bytes(d, value);
}

static void put_usage(ttm_doc *d, const ttm_device_log *log) {
  static const char *const heads[] = {"Program", "Memory", ">Capacity", ">Allocated", ">Free", ">Largest free block"};
  size_t shown = log->usage.n < MOST_USAGE ? log->usage.n : MOST_USAGE;
  if (!log->usage.n) return;
  ttm_doc_heading(d, log->csv == TTM_CSV_DETAILED ? "Memory over all banks" : "Memory per bank");
  ttm_doc_table(d, heads, sizeof heads / sizeof *heads);
  for (size_t i = 0; i < shown; i++) {
    const ttm_device_usage *u = &log->usage.at[i];
    u->program ? ttm_doc_cell_text(d, string(log, u->program)) : ttm_doc_cell(d, "-");
    ttm_doc_cell_text(d, string(log, u->memory));
    cell_known(d, u->allocatable);
    cell_known(d, u->allocated);
    cell_known(d, u->free);
    cell_known(d, u->largest);
  }
  ttm_doc_table_end(d);
  if (log->usage.n > shown)
    ttm_doc_line(d, "%s more rows; --json lists them all.", TTM_COUNT_TEXT(log->usage.n - shown));
  if (log->csv == TTM_CSV_L1)
    ttm_doc_line(
        d, "'Free' is the largest free block times the number of banks; the report does not hold what is really free.");
  if (log->csv == TTM_CSV_DETAILED) ttm_doc_line(d, "The largest free block is per bank.");
}

/* How far the blocks of a memory reach: the size of one bank. */
static uint64_t bank_of(const ttm_device_log *log, const char *memory) {
  uint32_t id = ttm_intern_find(&log->strings, ttm_str_of(memory));
  uint64_t span = 0;
  for (size_t i = 0; id && i < log->blocks.n; i++) {
    const ttm_device_block *b = &log->blocks.at[i];
    if (b->memory == id && ttm_add_sat(b->address, b->size) > span) span = ttm_add_sat(b->address, b->size);
  }
  return span;
}

static bool is_known_base(ttm_arch_id arch, uint64_t base) {
  for (size_t i = 0; i < TTM_L1_BASES; i++) {
    if (base && base == (arch == TTM_ARCH_WORMHOLE ? ttm_l1_bases[i].wormhole : ttm_l1_bases[i].blackhole)) return true;
  }
  return false;
}

/* L1 and L1_SMALL of a bank together end at the end of L1, so they tell the base, and a base that some release has tells the chip. */
static bool find_chip(ttm_l1_map *map, uint64_t l1, uint64_t small) {
  static const ttm_arch_id chips[] = {TTM_ARCH_WORMHOLE, TTM_ARCH_BLACKHOLE};
  for (size_t i = 0; i < 2; i++) {
    uint64_t size = ttm_arches[chips[i]].l1_bytes, taken = ttm_add_sat(l1, small);
    if (taken >= size || !is_known_base(chips[i], size - taken)) continue;
    map->arch = chips[i], map->arch_basis = map->base_basis = TTM_DERIVED;
    map->size = size, map->base = size - taken, map->small = small;
    return true;
  }
  return false;
}

/* The L1 part of the block table: what one core holds, addresses made absolute. */
static void put_blocks(ttm_doc *d, const ttm_device_log *log) {
  uint32_t l1 = ttm_intern_find(&log->strings, TTM_LIT("L1"));
  ttm_l1_map map = {0};
  if (log->csv != TTM_CSV_DETAILED || !l1) return;
  ttm_doc_heading(d, "L1 of one core");
  if (!find_chip(&map, bank_of(log, "L1"), bank_of(log, "L1_SMALL"))) {
    ttm_doc_line(d, "Not drawn: the blocks match no known chip and version.");
    return;
  }
  for (size_t i = 0; i < log->blocks.n; i++) {
    const ttm_device_block *b = &log->blocks.at[i];
    ttm_l1_region region = {map.base + b->address, map.base + b->address + b->size, {"", 0}};
    if (b->memory == l1 && b->allocated && ttm_vec_push(&map.tensors, region)) d->out->failed = true;
  }
  ttm_doc_picture(d, &map);
  ttm_doc_line(d, "Circular buffers are not in memory reports: the allocator does not manage them.");
  ttm_l1_map_free(&map);
}

/* ---- What is missing -------------------------------------------------------------------------------------------------- */

static void put_missing(ttm_doc *d, const ttm_device_log *log) {
  bool shm = false;
  for (int m = 0; m < TTM_METAL_MEMORIES; m++) shm |= log->buffers[m].times > 0;
  ttm_doc_heading(d, "Not in this log");
  ttm_doc_point(d,
                "Circular buffer addresses and sizes: TT-Metal logs them at no level. Capture a graph with ttnn.graph "
                "(RunMode.NORMAL for addresses, NO_DISPATCH also for dataflow buffers), read the source with 'ttmem cb "
                "scan', or simulate with 'ttmem cb simulate'.");
  ttm_doc_point(d,
                "reserve, push, wait and pop of kernels: they run on the device. DPRINT in the kernel prints them "
                "(TT_METAL_DPRINT_CORES).");
  if (log->csv) return;
  if (!log->partitions.n || !log->kernels.n)
    ttm_doc_point(d,
                  "L1 base and kernel sizes: debug lines, which a Release build (every wheel) does not contain. Build "
                  "TT-Metal with CMAKE_BUILD_TYPE other than Release or TT_METAL_ENABLE_LOGGING=ON, and set "
                  "TT_LOGGER_LEVEL=debug (TT_METAL_LOGGER_LEVEL before v0.59).");
  if (!shm)
    ttm_doc_point(d,
                  "Buffers as they are allocated: the same build with TT_METAL_SHM_VERBOSE=1; or, from any build, "
                  "ttnn.dump_device_memory_state(device, prefix=\"x_\"), whose CSV files 'ttmem cb log' reads.");
  ttm_doc_point(d, "TT_METAL_MEMORY_REPORT, named in old guides, has no effect in current TT-Metal.");
}

void ttm_cb_log_write(ttm_doc *d, const ttm_device_log *log, ttm_str name, const ttm_clash_hints *given) {
  ttm_clash_hints hints = ttm_cb_log_hints(log, given);
  put_kind(d, log, name);
  put_partitions(d, log);
  put_failures(d, log, &hints);
  put_kernels(d, log, &hints);
  put_buffers(d, log);
  put_warnings(d, log);
  put_usage(d, log);
  put_blocks(d, log);
  put_missing(d, log);
}
