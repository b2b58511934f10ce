/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cb/cb_log.h"

#include <stdlib.h>

#include "analyze/words.h"
#include "base/checked.h"
#include "base/format.h"
#include "report/run/ways_words.h"

enum { MOST_KERNELS = 12, MOST_INCIDENTS = 10, MOST_WARNINGS = 5, MOST_USAGE = 30 };

#define TEXT(view) (int)(view).n, (view).p

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

/* ---- What was read ---------------------------------------------------------------------------------------------------- */

static void put_kind(ttm_doc *d, const ttm_device_log *log, ttm_str name) {
  static const char *const eras[] = {"", "versions up to v0.58", "release candidates of v0.59", "v0.59 and later"};
  static const char *const reports[] = {"", "memory usage summary", "L1 usage summary", "detailed memory usage"};
  if (log->csv) {
    ttm_doc_line(d, "%.*s: memory report (%s), %llu lines.", TEXT(name), reports[log->csv],
                 (unsigned long long)log->lines);
    return;
  }
  ttm_doc_line(d, "%.*s: %llu line%s%s.", TEXT(name), (unsigned long long)log->lines, log->lines == 1 ? "" : "s",
               log->coloured ? ", with terminal colours" : "");
  for (int era = TTM_METAL_A; era < TTM_METAL_ERAS; era++) {
    if (log->era_lines[era])
      ttm_doc_point(d, "%llu line%s of TT-Metal's logger, in the form of %s", (unsigned long long)log->era_lines[era],
                    log->era_lines[era] == 1 ? "" : "s", eras[era]);
  }
  uint64_t debug = log->level_lines[TTM_SEV_DEBUG] + log->level_lines[TTM_SEV_TRACE];
  ttm_doc_point(d, "Levels: %llu fatal, %llu error, %llu warning, %llu info, %llu debug",
                (unsigned long long)log->level_lines[TTM_SEV_FATAL],
                (unsigned long long)log->level_lines[TTM_SEV_ERROR],
                (unsigned long long)log->level_lines[TTM_SEV_WARNING],
                (unsigned long long)log->level_lines[TTM_SEV_INFO], (unsigned long long)debug);
  if (log->damage) ttm_doc_point(d, "The file ends early: %s", log->damage);
}

static void put_partitions(ttm_doc *d, const ttm_device_log *log) {
  static const char *const heads[] = {">L1 per core", ">Base", ">L1_SMALL", ">Usable", "Chip", ">Log line", ">Times"};
  if (!log->partitions.n) return;
  ttm_doc_heading(d, "L1 partition");
  ttm_doc_table(d, heads, sizeof heads / sizeof *heads);
  for (size_t i = 0; i < log->partitions.n; i++) {
    const ttm_device_partition *p = &log->partitions.at[i];
    ttm_arch_id arch = ttm_arch_by_l1_bytes(p->worker_l1);
    uint64_t taken = ttm_add_sat(p->base, p->small);
    ttm_doc_cell_count(d, p->worker_l1);
    ttm_doc_cell_count(d, p->base);
    ttm_doc_cell_count(d, p->small);
    ttm_doc_cell_count(d, p->worker_l1 > taken ? p->worker_l1 - taken : 0);
    ttm_doc_cell(d, "%s", arch == TTM_ARCHES ? "?" : ttm_arches[arch].name);
    ttm_doc_cell_count(d, p->line);
    ttm_doc_cell_count(d, p->times);
  }
  ttm_doc_table_end(d);
}

/* ---- Incidents -------------------------------------------------------------------------------------------------------- */

static void put_ways(ttm_doc *d, const ttm_ways *ways, const ttm_incident_text *what) {
  ttm_incident incident = {.what = *what};
  for (size_t i = 0; i < ways->n && i < 3; i++) { /* the three cheapest */
    ttm_buf words = {0};
    ttm_words_way(&words, &ways->at[i], &incident);
    ttm_doc_point(d, "%.*s%s", TEXT(ttm_buf_str(&words)), ways->at[i].basis == TTM_ESTIMATED ? " (estimated)" : "");
    d->out->failed |= words.failed;
    ttm_buf_free(&words);
  }
}

static void put_clash(ttm_doc *d, const ttm_incident_text *what, const ttm_clash_hints *hints) {
  ttm_clash clash;
  ttm_buf overlap = {0}, tiles = {0};
  int status = ttm_clash_explain(&clash, what, hints);
  if (status) {
    d->out->failed |= status == TTM_ENOMEM;
    ttm_clash_free(&clash);
    return;
  }
  ttm_put_count(&overlap, clash.overlap);
  ttm_put_counted(&tiles, clash.overlap_tiles, "tile");
  ttm_doc_line(d, "%.*s B too much on each core = %.*s of %llu B.", TEXT(ttm_buf_str(&overlap)),
               TEXT(ttm_buf_str(&tiles)), (unsigned long long)clash.tile_bytes);
  ttm_doc_picture(d, &clash.map);
  ttm_ways ways = {.n = 0};
  ttm_ways_find_buffers(&ways, what, clash.map.arch, clash.spare_small);
  put_ways(d, &ways, what);
  d->out->failed |= overlap.failed | tiles.failed;
  ttm_buf_free(&overlap);
  ttm_buf_free(&tiles);
  ttm_clash_free(&clash);
}

static void put_oom(ttm_doc *d, const ttm_incident_text *what) {
  uint64_t missing;
  ttm_buf words = {0};
  ttm_verdict verdict = ttm_verdict_of(what, &missing);
  if (verdict == TTM_VERDICT_NONE) return;
  ttm_words_verdict(&words, verdict);
  ttm_buf_puts(&words, "; ");
  ttm_put_count(&words, missing);
  ttm_doc_point(d, "%.*s B per bank were missing. 'ttmem explain' says what would have fitted.",
                TEXT(ttm_buf_str(&words)));
  d->out->failed |= words.failed;
  ttm_buf_free(&words);
}

static void put_incident(ttm_doc *d, const ttm_device_log *log, const ttm_device_incident *i,
                         const ttm_clash_hints *hints) {
  ttm_incident incident = {.what = i->what};
  ttm_buf title = {0};
  ttm_words_incident_title(&title, &incident);
  ttm_buf_printf(&title, ", log line %llu", (unsigned long long)i->line);
  if (i->copies > 1) ttm_buf_printf(&title, ", printed %llux", (unsigned long long)i->copies);
  ttm_buf_char(&title, '\0');
  ttm_doc_heading(d, title.failed ? "" : title.at);
  d->out->failed |= title.failed;
  ttm_doc_line(d, "%.*s", TEXT(ttm_str_first(i->what.text, 600)));
  if (i->op) ttm_doc_line(d, "In operation %.*s.", TEXT(string(log, i->op)));
  if (ttm_clash_possible(&i->what)) put_clash(d, &i->what, hints);
  if (i->what.kind == TTM_INCIDENT_OOM) put_oom(d, &i->what);
  if (i->mistake) ttm_doc_point(d, "What to do: %s.", i->mistake->cure);
  ttm_buf_free(&title);
}

/* Something this report can say more about than its words. */
static bool is_about_memory(const ttm_device_incident *i) {
  return i->what.kind != TTM_INCIDENT_FATAL || i->mistake || i->what.size != TTM_UNKNOWN ||
         ttm_str_contains(i->what.text, TTM_LIT("ircular buffer"));
}

static void put_incidents(ttm_doc *d, const ttm_device_log *log, const ttm_clash_hints *hints) {
  size_t shown = 0, hidden = 0, others = 0, first = 0;
  for (size_t i = 0; i < log->incidents.n; i++) {
    if (!is_about_memory(&log->incidents.at[i])) {
      if (!others++) first = i;
    } else if (shown < MOST_INCIDENTS) {
      put_incident(d, log, &log->incidents.at[i], hints), shown++;
    } else {
      hidden++;
    }
  }
  if (hidden) ttm_doc_line(d, "%zu more incidents; --json lists them all.", hidden);
  if (!others) return;
  ttm_doc_heading(d, "Other fatal errors");
  ttm_doc_line(d, "%zu that say nothing about memory; the first, in log line %llu: %.*s", others,
               (unsigned long long)log->incidents.at[first].line,
               TEXT(ttm_str_first(log->incidents.at[first].what.text, 200)));
}

/* ---- Kernels, buffers, warnings --------------------------------------------------------------------------------------- */

static int by_bytes(const void *left, const void *right) {
  const ttm_device_kernel *a = left, *b = right;
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  return a->line < b->line ? -1 : a->line > b->line;
}

static void put_kernels(ttm_doc *d, const ttm_device_log *log) {
  static const char *const heads[] = {"Kernel", ">RISC", ">Bytes", ">Loaded", ">Log line"};
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
    ttm_doc_cell_count(d, sorted[i].bytes);
    ttm_doc_cell_count(d, sorted[i].times);
    ttm_doc_cell_count(d, sorted[i].line);
  }
  ttm_doc_table_end(d);
  if (n > shown) ttm_doc_line(d, "%zu more.", n - shown);
  ttm_buf sum = {0};
  ttm_put_count(&sum, ttm_device_kernel_bytes(log));
  ttm_doc_line(d, "Together %.*s B; the kernel ring of a core holds 70,656 B of one program.", TEXT(ttm_buf_str(&sum)));
  d->out->failed |= sum.failed;
  ttm_buf_free(&sum);
  ttm_free(sorted);
}

static void put_buffers(ttm_doc *d, const ttm_device_log *log) {
  static const char *const heads[] = {"Memory", ">Buffers", ">Bytes in all", ">Largest", ">Log line"};
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
    ttm_doc_cell_count(d, b->bytes);
    ttm_doc_cell_count(d, b->largest);
    ttm_doc_cell_count(d, b->largest_line);
  }
  ttm_doc_table_end(d);
  ttm_doc_line(d, "Sizes are of whole buffers over all banks. Frees are not printed, so this is no peak.");
}

static void put_warnings(ttm_doc *d, const ttm_device_log *log) {
  if (!log->indices.times && !log->unsafe.times && !log->warnings.n) return;
  ttm_doc_heading(d, "Warnings");
  if (log->indices.times)
    ttm_doc_point(d,
                  "Circular buffer indices with gaps (%.*s) (%llu x), first in log line %llu: number them from 0 "
                  "without gaps, dispatch is slower otherwise.",
                  TEXT(string(log, log->indices.text)), (unsigned long long)log->indices.times,
                  (unsigned long long)log->indices.line);
  for (size_t i = 0; i < log->warnings.n && i < MOST_WARNINGS; i++) {
    const ttm_device_remark *w = &log->warnings.at[i];
    ttm_doc_point(d, "%.*s (%llux, log line %llu)", TEXT(ttm_str_first(string(log, w->text), 200)),
                  (unsigned long long)w->times, (unsigned long long)w->line);
  }
  if (log->warnings.n > MOST_WARNINGS) ttm_doc_point(d, "%zu more kinds.", log->warnings.n - MOST_WARNINGS);
}

/* ---- CSV reports ------------------------------------------------------------------------------------------------------ */

static void cell_known(ttm_doc *d, uint64_t value) {
  value == TTM_UNKNOWN ? ttm_doc_cell(d, "-") : ttm_doc_cell_count(d, value);
}

static void put_usage(ttm_doc *d, const ttm_device_log *log) {
  static const char *const heads[] = {"Program", "Memory", ">Allocatable", ">Allocated", ">Free", ">Largest free"};
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
  if (log->usage.n > shown) ttm_doc_line(d, "%zu more rows.", log->usage.n - shown);
  if (log->csv == TTM_CSV_L1)
    ttm_doc_line(d, "'Free' of this report is the largest block times the banks, not what is really free.");
  if (log->csv == TTM_CSV_DETAILED) ttm_doc_line(d, "The largest free block is of one bank.");
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
    ttm_doc_line(d, "Not drawn: the blocks fit no chip and version that is known.");
    return;
  }
  for (size_t i = 0; i < log->blocks.n; i++) {
    const ttm_device_block *b = &log->blocks.at[i];
    ttm_l1_region region = {map.base + b->address, map.base + b->address + b->size, {"", 0}};
    if (b->memory == l1 && b->allocated && ttm_vec_push(&map.tensors, region)) d->out->failed = true;
  }
  ttm_doc_picture(d, &map);
  ttm_doc_line(d, "Circular buffers are not in these reports: they are no blocks of the allocator.");
  ttm_l1_map_free(&map);
}

/* ---- What is missing -------------------------------------------------------------------------------------------------- */

static void put_missing(ttm_doc *d, const ttm_device_log *log) {
  bool shm = false;
  for (int m = 0; m < TTM_METAL_MEMORIES; m++) shm |= log->buffers[m].times > 0;
  ttm_doc_heading(d, "What this cannot tell, and how to get it");
  ttm_doc_point(
      d,
      "Addresses and sizes of circular buffers: no TT-Metal log has them, at any level. Capture the graph with "
      "ttnn.graph (RunMode.NORMAL for addresses, NO_DISPATCH also for dataflow buffers), read the source with "
      "'ttmem cb scan', or simulate with 'ttmem cb simulate'.");
  ttm_doc_point(d,
                "reserve, push, wait and pop of kernels happen on the device and are not logged; DPRINT in the kernel "
                "prints them (TT_METAL_DPRINT_CORES).");
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
  ttm_doc_point(d, "TT_METAL_MEMORY_REPORT, which old guides name, does nothing in today's TT-Metal.");
}

void ttm_cb_log_write(ttm_doc *d, const ttm_device_log *log, ttm_str name, const ttm_clash_hints *given) {
  ttm_clash_hints hints = ttm_cb_log_hints(log, given);
  put_kind(d, log, name);
  put_partitions(d, log);
  put_incidents(d, log, &hints);
  put_kernels(d, log);
  put_buffers(d, log);
  put_warnings(d, log);
  put_usage(d, log);
  put_blocks(d, log);
  put_missing(d, log);
}
