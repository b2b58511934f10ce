/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/device_log.h"

#include "base/checked.h"
#include "base/chunks.h"
#include "base/map.h"

enum { MOST_DEPTH = 64, MOST_KERNELS = 1000000, MOST_ROWS = 1000000, PROCESSORS = 32 };

typedef struct reader {
  ttm_device_log *log;
  ttm_buf scratch;   /* a line without colours */
  bool after_header; /* "TT_FATAL @ ..." was read: its sentence follows "info:" */
  bool after_info;
  uint32_t ops[MOST_DEPTH]; /* operations in flight */
  size_t depth;
  ttm_map kernel_of;        /* name and processor -> kernel */
  uint32_t program, memory; /* of the CSV part being read */
  unsigned turn;            /* which memory the next row of the summary is of */
} reader;

static int keep(reader *r, ttm_str text, uint32_t *out) { return ttm_intern_add(&r->log->strings, text, out); }

/* ---- Incidents -------------------------------------------------------------------------------------------------------- */

/* The log line and the exception tell the same thing: the exception is a copy of the last log line with the same words. */
static ttm_device_incident *find_copy(ttm_device_log *log, const ttm_incident_text *what, bool logged) {
  for (size_t i = log->incidents.n; !logged && i-- > 0;) {
    ttm_device_incident *old = &log->incidents.at[i];
    if (ttm_str_eq(old->what.text, what->text)) return old;
  }
  return NULL;
}

static int add_incident(reader *r, const ttm_incident_text *what, bool logged) {
  ttm_device_incident *copy = find_copy(r->log, what, logged),
                      new = {.what = *what, .line = r->log->lines, .copies = 1};
  uint32_t text, memory, cores;
  if (copy) return copy->copies++, TTM_OK;
  if (r->log->incidents.n >= TTM_DEVICE_INCIDENTS) return TTM_OK;
  if (keep(r, what->text, &text) || keep(r, what->memory, &memory) || keep(r, what->core_range, &cores))
    return TTM_ENOMEM;
  new.what.text = ttm_intern_get(&r->log->strings, text);
  new.what.memory = ttm_intern_get(&r->log->strings, memory);
  new.what.core_range = ttm_intern_get(&r->log->strings, cores);
  new.mistake = ttm_metal_mistake_find(new.what.text);
  new.logged = logged;
  new.op = r->depth && r->depth <= MOST_DEPTH ? r->ops[r->depth - 1] : 0;
  return ttm_vec_push(&r->log->incidents, new);
}

/* Log lines, exceptions, and the sentence after "info:". */
static int read_incident(reader *r, ttm_str line, bool logged) {
  ttm_incident_text what;
  bool after_info = r->after_info, possible = ttm_incident_is_possible(line);
  r->after_info = r->after_header && ttm_str_ends(ttm_str_trim(line), TTM_LIT("info:"));
  if (r->after_info) return TTM_OK;
  if (possible && ttm_incident_is_header(line)) return r->after_header = true, TTM_OK;
  if (after_info) {
    r->after_header = false;
    return ttm_incident_parse_info(line, &what) ? add_incident(r, &what, false) : TTM_OK;
  }
  return possible && ttm_incident_parse(line, &what) ? add_incident(r, &what, logged) : TTM_OK;
}

/* ---- Events ----------------------------------------------------------------------------------------------------------- */

static int add_partition(reader *r, const ttm_metal_event *e) {
  for (size_t i = 0; i < r->log->partitions.n; i++) {
    ttm_device_partition *p = &r->log->partitions.at[i];
    if (p->worker_l1 == e->worker_l1 && p->base == e->base && p->small == e->small) return p->times++, TTM_OK;
  }
  if (r->log->partitions.n >= TTM_DEVICE_WARNINGS) return TTM_OK;
  return ttm_vec_push(&r->log->partitions, (ttm_device_partition){e->worker_l1, e->base, e->small, r->log->lines, 1});
}

static int add_kernel(reader *r, const ttm_metal_event *e) {
  uint32_t name, key, known;
  if (r->log->kernels.n >= MOST_KERNELS) return TTM_OK;
  if (keep(r, e->name, &name)) return TTM_ENOMEM;
  key = name * PROCESSORS + (uint32_t)(e->processor % PROCESSORS);
  known = ttm_map_get(&r->kernel_of, key, UINT32_MAX);
  if (known != UINT32_MAX) {
    ttm_device_kernel *k = &r->log->kernels.at[known];
    if (e->bytes > k->bytes) k->bytes = e->bytes;
    return k->times++, TTM_OK;
  }
  if (ttm_map_set(&r->kernel_of, key, (uint32_t)r->log->kernels.n)) return TTM_ENOMEM;
  return ttm_vec_push(&r->log->kernels, (ttm_device_kernel){name, e->processor, e->bytes, r->log->lines, 1});
}

static void add_allocation(reader *r, const ttm_metal_event *e) {
  ttm_device_buffers *b = &r->log->buffers[e->memory];
  b->times++;
  b->bytes = ttm_add_sat(b->bytes, e->bytes);
  if (e->bytes > b->largest) b->largest = e->bytes, b->largest_line = r->log->lines;
}

static int add_indices(reader *r, ttm_str gaps) {
  ttm_device_remark *remark = &r->log->indices;
  if (remark->times++) return TTM_OK;
  remark->line = r->log->lines;
  return keep(r, gaps, &remark->text);
}

static int begin_op(reader *r, const ttm_metal_event *e) {
  uint32_t name = 0;
  r->log->ops++;
  if (r->depth < MOST_DEPTH && keep(r, e->name, &name)) return TTM_ENOMEM;
  if (r->depth < MOST_DEPTH) r->ops[r->depth] = name;
  r->depth++;
  return TTM_OK;
}

static int read_event(reader *r, ttm_str message) {
  ttm_metal_event e;
  if (!ttm_metal_event_read(message, &e)) return TTM_OK;
  switch (e.kind) {
    case TTM_METAL_PARTITION:
      return add_partition(r, &e);
    case TTM_METAL_KERNEL:
      return add_kernel(r, &e);
    case TTM_METAL_ALLOCATION:
      return add_allocation(r, &e), TTM_OK;
    case TTM_METAL_INDICES:
      return add_indices(r, e.name);
    case TTM_METAL_OP_BEGIN:
      return begin_op(r, &e);
    case TTM_METAL_OP_END:
      return r->depth -= r->depth > 0, TTM_OK;
    case TTM_METAL_COMPILED:
      return r->log->compiled++, TTM_OK;
    case TTM_METAL_NOTHING:
      break;
  }
  return TTM_OK;
}

static int add_warning(reader *r, ttm_str message) {
  uint32_t text;
  message = ttm_str_first(message, 400);
  if (r->log->warnings.n >= TTM_DEVICE_WARNINGS && !ttm_intern_find(&r->log->strings, message)) return TTM_OK;
  if (keep(r, message, &text)) return TTM_ENOMEM;
  for (size_t i = 0; i < r->log->warnings.n; i++) {
    if (r->log->warnings.at[i].text == text) return r->log->warnings.at[i].times++, TTM_OK;
  }
  if (r->log->warnings.n >= TTM_DEVICE_WARNINGS) return TTM_OK;
  return ttm_vec_push(&r->log->warnings, (ttm_device_remark){1, r->log->lines, text});
}

static int read_log_line(reader *r, ttm_str raw) {
  ttm_metal_line line;
  ttm_str plain = ttm_metal_plain(raw, &r->scratch);
  r->log->coloured |= plain.p != raw.p;
  bool metal = ttm_metal_line_read(plain, &line);
  int status = read_incident(r, plain, metal);
  if (status || !metal) return status;
  r->log->era_lines[line.era]++;
  r->log->level_lines[line.severity]++;
  if (line.severity == TTM_SEV_WARNING && !ttm_str_starts(line.message, TTM_LIT("Circular buffer indices")))
    status = add_warning(r, line.message);
  return status ? status : read_event(r, line.message);
}

/* ---- CSV reports ------------------------------------------------------------------------------------------------------ */

/* Of the program and memory that are being read: values in the order of the summary. */
static int add_usage(reader *r, const ttm_csv_row *row, ttm_str memory, const uint64_t values[4]) {
  if (row->program.n && keep(r, row->program, &r->program)) return TTM_ENOMEM;
  if (keep(r, memory, &r->memory)) return TTM_ENOMEM;
  return ttm_vec_push(&r->log->usage, (ttm_device_usage){r->program, r->memory, values[0], values[1], values[2],
                                                         values[3], r->log->lines});
}

static int add_summary(reader *r, const ttm_csv_row *row) {
  static const char *const memories[] = {"DRAM", "L1", "L1_SMALL"};
  if (row->program.n) r->turn = 0; /* written before the DRAM row only */
  if (r->log->csv != TTM_CSV_L1) return add_usage(r, row, ttm_str_of(memories[r->turn++ % 3]), row->value);
  return add_usage(r, row, TTM_LIT("L1"), (const uint64_t[]){TTM_UNKNOWN, TTM_UNKNOWN, row->value[1], row->value[0]});
}

static int read_csv_line(reader *r, ttm_str line) {
  ttm_csv_row row;
  if (!ttm_csv_row_read(r->log->csv, line, &row) || r->log->usage.n + r->log->blocks.n > MOST_ROWS) return TTM_OK;
  switch (row.kind) {
    case TTM_CSV_VALUES:
      return add_summary(r, &row);
    case TTM_CSV_MEMORY:
      return add_usage(r, &row, row.memory, (const uint64_t[]){TTM_UNKNOWN, TTM_UNKNOWN, TTM_UNKNOWN, TTM_UNKNOWN});
    case TTM_CSV_TOTAL: {
      if (!r->log->usage.n) return TTM_OK;
      ttm_device_usage *u = &r->log->usage.at[r->log->usage.n - 1];
      *(row.which == 0 ? &u->allocatable : row.which == 1 ? &u->allocated : &u->free) = row.value[0];
      return TTM_OK;
    }
    case TTM_CSV_BLOCK: {
      ttm_device_block block = {r->memory, row.address, row.size, row.allocated};
      ttm_device_usage *u = r->log->usage.n ? &r->log->usage.at[r->log->usage.n - 1] : NULL;
      if (u && !row.allocated && (u->largest == TTM_UNKNOWN || row.size > u->largest)) u->largest = row.size;
      return ttm_vec_push(&r->log->blocks, block);
    }
    case TTM_CSV_OTHER:
      break;
  }
  return TTM_OK;
}

static void reader_free(reader *r) {
  ttm_buf_free(&r->scratch);
  ttm_map_free(&r->kernel_of);
}

/* ---- Reading ---------------------------------------------------------------------------------------------------------- */

static int read_line(reader *r, ttm_str line) {
  r->log->lines++;
  if (line.n && line.p[line.n - 1] == '\r') line.n--;
  if (r->log->lines == 1) r->log->csv = ttm_csv_kind_of(line);
  return r->log->csv ? read_csv_line(r, line) : read_log_line(r, line);
}

static int read_text(reader *r, ttm_str text) {
  int status = TTM_OK;
  r->log->bytes += text.n;
  while (!status && text.n) {
    status = read_line(r, ttm_str_take_to(&text, '\n'));
  }
  return status || r->scratch.failed ? TTM_ENOMEM : TTM_OK;
}

int ttm_device_log_read_bytes(ttm_device_log *out, ttm_str bytes, ttm_error *err) {
  reader r = {.log = out};
  *out = (ttm_device_log){0};
  int status = read_text(&r, bytes);
  reader_free(&r);
  return status ? ttm_error_nomem(err) : TTM_OK;
}

int ttm_device_log_read(ttm_device_log *out, const char *path, ttm_error *err) {
  ttm_chunker chunker = {0};
  ttm_chunk chunk = {0};
  reader r = {.log = out};
  *out = (ttm_device_log){0};
  int status = ttm_source_open(&chunker.source, path, err);
  if (status) return status;
  do {
    status = ttm_chunker_next(&chunker, &chunk, err);
    if (!status && read_text(&r, (ttm_str){chunk.data, chunk.n})) status = ttm_error_nomem(err);
  } while (!status && !chunk.last);
  out->damage = ttm_source_damage(chunker.source);
  reader_free(&r);
  ttm_chunk_free(&chunk);
  ttm_chunker_free(&chunker);
  ttm_source_close(chunker.source);
  return status;
}

void ttm_device_log_free(ttm_device_log *log) {
  ttm_intern_free(&log->strings);
  ttm_vec_free(&log->partitions);
  ttm_vec_free(&log->kernels);
  ttm_vec_free(&log->incidents);
  ttm_vec_free(&log->warnings);
  ttm_vec_free(&log->usage);
  ttm_vec_free(&log->blocks);
}

bool ttm_device_log_is_empty(const ttm_device_log *log) {
  for (int era = TTM_METAL_A; era < TTM_METAL_ERAS; era++) {
    if (log->era_lines[era]) return false;
  }
  return !log->incidents.n && !log->usage.n;
}

uint64_t ttm_device_kernel_bytes(const ttm_device_log *log) {
  uint64_t sum = 0;
  for (size_t i = 0; i < log->kernels.n; i++) sum = ttm_add_sat(sum, log->kernels.at[i].bytes);
  return sum;
}
