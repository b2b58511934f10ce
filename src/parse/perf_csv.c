/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/perf_csv.h"

#include "base/checked.h"
#include "base/chunks.h"
#include "base/error.h"
#include "parse/json_text.h"

typedef enum column {
  CODE,
  TYPE,
  ATTRIBUTES,
  CALL,
  DEVICE,
  HOST_START,
  FW_START,
  FW_END,
  FW_NS,
  KERNEL_NS,
  CORES,
  TRACE,
  IDEAL_NS,
  COMPUTE_NS,
  BANDWIDTH_NS,
  FPU_PCT,
  DRAM_PCT,
  COLUMNS
} column;

static const char *const NAMES[COLUMNS] = {"OP CODE",
                                           "OP TYPE",
                                           "ATTRIBUTES",
                                           "GLOBAL CALL COUNT",
                                           "DEVICE ID",
                                           "HOST START TS",
                                           "DEVICE FW START CYCLE",
                                           "DEVICE FW END CYCLE",
                                           "DEVICE FW DURATION [ns]",
                                           "DEVICE KERNEL DURATION [ns]",
                                           "CORE COUNT",
                                           "METAL TRACE ID",
                                           "PM IDEAL [ns]",
                                           "PM COMPUTE [ns]",
                                           "PM BANDWIDTH [ns]",
                                           "PM FPU UTIL (%)",
                                           "DRAM BW UTIL (%)"};

/* The same in what `tt-perf-report --csv` writes, in microseconds; its columns without counterpart are left out. */
static const char *const REPORT_NAMES[COLUMNS] = {
    [CODE] = "OP Code",      [CALL] = "Global Call Count",  [DEVICE] = "Device",
    [FW_NS] = "Device Time", [HOST_START] = "Op-to-Op Gap", [CORES] = "Cores",
    [FPU_PCT] = "FLOPs %",   [DRAM_PCT] = "DRAM %"};

typedef struct reader {
  ttm_perf_csv *out;
  uint32_t line;
  bool report;           /* of tt-perf-report */
  uint64_t clock;        /* ns: it has gaps instead of times */
  size_t place[COLUMNS]; /* which field of a line; TTM_NOT_FOUND */
} reader;

/* A field as it stands: the quotes around it go, doubled ones inside stay, as nothing here needs them. */
static ttm_str take_field(ttm_str *line) {
  if (!line->n || line->p[0] != '"') return ttm_str_take_to(line, ',');
  ttm_str field = ttm_str_from(*line, 1);
  size_t n = 0;
  while (n < field.n && (field.p[n] != '"' || (n + 1 < field.n && field.p[n + 1] == '"')))
    n += field.p[n] == '"' ? 2 : 1;
  if (n > field.n) n = field.n;
  *line = ttm_str_from(field, n);
  ttm_str_take_to(line, ',');
  return ttm_str_first(field, n);
}

static size_t column_of(const reader *r, ttm_str name) {
  const char *const *names = r->report ? REPORT_NAMES : NAMES;
  size_t c = 0;
  while (c < COLUMNS && !(names[c] && ttm_str_eq(name, ttm_str_of(names[c])))) c++;
  return c;
}

static void read_head(reader *r, ttm_str line) {
  for (size_t c = 0; c < COLUMNS; c++) r->place[c] = TTM_NOT_FOUND;
  ttm_str_take(&line, TTM_LIT("\xEF\xBB\xBF"));
  r->report = ttm_str_contains(line, TTM_LIT("OP Code"));
  for (size_t i = 0; line.n; i++) {
    size_t c = column_of(r, take_field(&line));
    if (c < COLUMNS) r->place[c] = i;
  }
}

/* Whole numbers; what pandas wrote as "8700043.0" counts too. */
static uint64_t number_of(ttm_str field) {
  uint64_t value;
  return ttm_str_take_u64(&field, &value) && (!field.n || field.p[0] == '.') ? value : TTM_PERF_UNKNOWN;
}

static double percent_of(ttm_str field) { return ttm_json_get_number(field, -1); }

static uint64_t ns_of_us(ttm_str field) {
  double us = ttm_json_get_number(field, -1);
  return us >= 0 && us < 1e15 ? (uint64_t)(us * 1000 + 0.5) : TTM_PERF_UNKNOWN;
}

/* Times of tt-perf-report: each begins a gap after the one before. */
static void place_row(reader *r, ttm_perf_row *row, const ttm_str *fields) {
  uint64_t gap = ns_of_us(fields[HOST_START]);
  row->fw_ns = ns_of_us(fields[FW_NS]);
  if (row->fw_ns == TTM_PERF_UNKNOWN) return;
  row->host_start = r->clock = ttm_add_sat(r->clock, gap == TTM_PERF_UNKNOWN ? 0 : gap);
  r->clock = ttm_add_sat(r->clock, row->fw_ns);
}

static int read_row(reader *r, ttm_str line) {
  ttm_str fields[COLUMNS] = {{"", 0}};
  for (size_t i = 0; line.n; i++) {
    ttm_str field = take_field(&line);
    for (size_t c = 0; c < COLUMNS; c++)
      if (r->place[c] == i) fields[c] = field;
  }
  ttm_perf_row row = {.line = r->line,
                      .call = number_of(fields[CALL]),
                      .device = number_of(fields[DEVICE]),
                      .host_start = number_of(fields[HOST_START]),
                      .fw_start = number_of(fields[FW_START]),
                      .fw_end = number_of(fields[FW_END]),
                      .fw_ns = number_of(fields[FW_NS]),
                      .kernel_ns = number_of(fields[KERNEL_NS]),
                      .cores = number_of(fields[CORES]),
                      .trace = number_of(fields[TRACE]),
                      .ideal_ns = number_of(fields[IDEAL_NS]),
                      .compute_ns = number_of(fields[COMPUTE_NS]),
                      .bandwidth_ns = number_of(fields[BANDWIDTH_NS]),
                      .fpu_pct = percent_of(fields[FPU_PCT]),
                      .dram_pct = percent_of(fields[DRAM_PCT])};
  if (r->report) place_row(r, &row, fields);
  if (!fields[CODE].n || row.device == TTM_PERF_UNKNOWN) return TTM_OK; /* a signpost, the host */
  if (row.fw_ns == TTM_PERF_UNKNOWN && row.kernel_ns == TTM_PERF_UNKNOWN) return TTM_OK;
  if (ttm_intern_add(&r->out->strings, fields[CODE], &row.code)) return TTM_ENOMEM;
  if (ttm_intern_add(&r->out->strings, fields[ATTRIBUTES], &row.attributes)) return TTM_ENOMEM;
  return ttm_vec_push(&r->out->rows, row);
}

static int take_line(void *context, ttm_str line) {
  reader *r = context;
  if (line.n && line.p[line.n - 1] == '\r') line.n--;
  if (r->line++) return read_row(r, line);
  read_head(r, line);
  return r->place[CODE] == TTM_NOT_FOUND || r->place[DEVICE] == TTM_NOT_FOUND ? TTM_EFORMAT : TTM_OK;
}

static int check(const ttm_perf_csv *csv, const char *path, int status, ttm_error *err) {
  if (status != TTM_EFORMAT && (status || csv->rows.n)) return status;
  return ttm_error_set(
      err, TTM_EFORMAT,
      status ? "%s is no operations CSV of tt-metal's profiler: its first line has no columns 'OP CODE' and "
               "'DEVICE ID'"
             : "%s has no operation of a device",
      path);
}

int ttm_perf_csv_read(ttm_perf_csv *out, const char *path, ttm_error *err) {
  *out = (ttm_perf_csv){0};
  reader r = {.out = out};
  return check(out, path, ttm_lines_read(path, take_line, &r, err), err);
}

int ttm_perf_csv_read_bytes(ttm_perf_csv *out, ttm_str text, ttm_error *err) {
  *out = (ttm_perf_csv){0};
  reader r = {.out = out};
  int status = TTM_OK;
  while (text.n && !status) status = take_line(&r, ttm_str_take_to(&text, '\n'));
  return check(out, "the text", status == TTM_ENOMEM ? ttm_error_nomem(err) : status, err);
}

void ttm_perf_csv_free(ttm_perf_csv *csv) {
  ttm_vec_free(&csv->rows);
  ttm_intern_free(&csv->strings);
  *csv = (ttm_perf_csv){0};
}
