/* SPDX-License-Identifier: Apache-2.0 */
/* What `ttmem live --record` wrote. Each device is a rank. Every sample is a state; what happened until the next one is an operation, named
 * after the process that changed most, with the time as its location. Nothing is known between samples, and nothing is made up: no
 * tensors, no frees. */
#include "base/checked.h"
#include "base/error.h"
#include "parse/live_record.h"
#include "profile/load/load.h"

typedef struct live_device {
  uint64_t asic_id;
  const ttm_board *board;
  ttm_stream *stream;
  uint64_t bytes[TTM_USES]; /* of the last sample */
  uint32_t line;            /* of it */
  uint32_t ever;            /* bit per ttm_use that was ever above 0 */
  bool any;
} live_device;

typedef struct live_process {
  uint32_t name;            /* string, with the process id */
  uint64_t bytes[TTM_USES]; /* last seen */
} live_process;

typedef struct live_loader {
  ttm_builder *builder;
  TTM_VEC(live_device) devices;
  /* Numbers of the running session. */
  TTM_VEC(uint32_t) device_of_number;
  TTM_VEC(live_process) processes;
  bool started;
  uint64_t first_start_ms, start_ms, interval_ms;
  uint64_t last_ms; /* since the first start */
  ttm_buf scratch;
} live_loader;

/* ---- Names ----------------------------------------------------------------------------------------------------------- */

static int on_start(live_loader *l, const ttm_live_line *line) {
  if (!l->started) l->first_start_ms = line->time_ms;
  l->started = true;
  /* The clock may have been set back between two sessions: time still goes on. */
  uint64_t now = line->time_ms > l->first_start_ms ? line->time_ms - l->first_start_ms : 0;
  l->start_ms = now > l->last_ms ? now : l->last_ms;
  l->interval_ms = line->interval_ms;
  l->device_of_number.n = l->processes.n = 0;
  for (size_t i = 0; i < l->devices.n; i++) l->devices.at[i].any = false; /* what happened in between is not known */
  return TTM_OK;
}

static int on_device(live_loader *l, const ttm_live_line *line) {
  enum { MOST_DEVICES = 4096 };
  uint32_t i = 0;
  while (i < l->devices.n && l->devices.at[i].asic_id != line->asic_id) i++;
  if (i == l->devices.n) {
    live_device device = {.asic_id = line->asic_id};
    if (i == MOST_DEVICES) return TTM_EFORMAT;
    if (ttm_vec_push(&l->devices, device)) return TTM_ENOMEM;
  }
  l->devices.at[i].board = ttm_board_find(line->name);
  if (line->number < l->device_of_number.n) return l->device_of_number.at[line->number] = i, TTM_OK; /* told anew */
  if (line->number != l->device_of_number.n) return TTM_EFORMAT;
  return ttm_vec_push(&l->device_of_number, i);
}

static int on_process(live_loader *l, const ttm_live_line *line) {
  live_process process = {0};
  if (line->number != l->processes.n) return TTM_EFORMAT;
  ttm_buf_clear(&l->scratch);
  ttm_buf_put(&l->scratch, line->name.n ? line->name : TTM_LIT("process"));
  ttm_buf_printf(&l->scratch, "[%llu]", (unsigned long long)line->pid);
  if (l->scratch.failed || ttm_build_string(l->builder, ttm_buf_str(&l->scratch), &process.name)) return TTM_ENOMEM;
  return ttm_vec_push(&l->processes, process);
}

/* ---- Samples --------------------------------------------------------------------------------------------------------- */

static ttm_level level_of(const live_device *device, ttm_memory memory) {
  const ttm_board *board = device->board;
  bool l1 = memory == TTM_L1 || memory == TTM_L1_SMALL;
  uint32_t banks = !board ? 1 : l1 ? board->l1_banks : board->dram_banks;
  uint64_t total = 0, used = ttm_div_up(device->bytes[memory], banks);
  if (board && memory == TTM_DRAM) total = ttm_board_dram_bank(board, 0, false);
  if (board && memory == TTM_L1) total = ttm_board_l1_bank(board, ttm_l1_base_newest(board->arch), 0);
  uint32_t left = ttm_milli_of_bytes(total > used ? total - used : 0);
  return (ttm_level){.banks = banks,
                     .total = ttm_milli_of_bytes(total),
                     .allocated = ttm_milli_of_bytes(used),
                     .free = left,
                     .largest = left}; /* where the holes are is not known: all that is free is the most it can be */
}

/* The last sample as the state before `op`. */
static int push_state(live_loader *l, live_device *device, uint32_t op) {
  ttm_block block = {.op = op, .line = device->line};
  for (int m = 0; m < TTM_MEMORIES; m++) {
    if (m > TTM_L1 && !(device->ever >> m & 1)) continue; /* never given to the device, or never used */
    block.present |= UINT32_C(1) << m;
    block.levels[m] = level_of(device, (ttm_memory)m);
  }
  return ttm_build_block(l->builder, device->stream, &block);
}

static uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/* Takes the parts in and finds the process that changed most: in DRAM, or, where that is equal, in all others. */
static uint32_t find_culprit(live_loader *l, const ttm_live_line *line) {
  ttm_str parts = line->parts;
  ttm_live_part part;
  uint64_t best_dram = 0, best_rest = 0;
  uint32_t culprit = TTM_NONE;
  while (ttm_live_part_next(&parts, &part)) {
    if (part.process >= l->processes.n) continue;
    live_process *process = &l->processes.at[part.process];
    uint64_t dram = distance(part.bytes[TTM_USE_DRAM], process->bytes[TTM_USE_DRAM]), rest = 0;
    for (int u = TTM_USE_L1; u < TTM_USES; u++) rest = ttm_add_sat(rest, distance(part.bytes[u], process->bytes[u]));
    memcpy(process->bytes, part.bytes, sizeof process->bytes);
    if (culprit != TTM_NONE && (dram < best_dram || (dram == best_dram && rest <= best_rest))) continue;
    best_dram = dram;
    best_rest = rest;
    culprit = (uint32_t)part.process;
  }
  return culprit;
}

static int push_text(live_loader *l, const ttm_live_line *line, uint32_t culprit, uint32_t *out) {
  ttm_op_text text;
  memset(&text, 0, sizeof text); /* its bytes are hashed */
  text.has_attributes = true;
  ttm_buf_clear(&l->scratch);
  ttm_buf_printf(&l->scratch, "t = %llu.%03u s", (unsigned long long)(l->last_ms / 1000),
                 (unsigned)(l->last_ms % 1000));
  if (l->scratch.failed || ttm_build_string(l->builder, ttm_buf_str(&l->scratch), &text.location)) return TTM_ENOMEM;
  ttm_buf_clear(&l->scratch);
  ttm_buf_puts(&l->scratch, "{then");
  for (int u = 0; u < TTM_USES; u++) {
    ttm_buf_printf(&l->scratch, "%s %s_B = %llu", u ? "," : "", ttm_use_key((ttm_use)u),
                   (unsigned long long)line->bytes[u]);
  }
  ttm_buf_char(&l->scratch, '}');
  if (l->scratch.failed || ttm_build_string(l->builder, ttm_buf_str(&l->scratch), &text.attributes)) return TTM_ENOMEM;
  if (culprit != TTM_NONE)
    text.name = l->processes.at[culprit].name;
  else if (ttm_build_string(l->builder, TTM_LIT("unknown process"), &text.name))
    return TTM_ENOMEM;
  text.op_type = text.name;
  return ttm_build_text_once(l->builder, &text, out);
}

/* A device that was idle when the session began was at zero before its first sample. */
static bool was_idle(const live_loader *l, const ttm_live_line *line) { return line->time_ms > l->interval_ms; }

static int on_sample(live_loader *l, const ttm_live_line *line, uint32_t line_number) {
  if (line->number >= l->device_of_number.n) return TTM_EFORMAT;
  uint64_t now = ttm_add_sat(l->start_ms, line->time_ms);
  live_device *device = &l->devices.at[l->device_of_number.at[line->number]];
  uint32_t culprit = find_culprit(l, line), text, op;
  if (now > l->last_ms) l->last_ms = now;
  if (!device->stream) {
    if (ttm_build_rank(l->builder, l->device_of_number.at[line->number], &device->stream)) return TTM_ENOMEM;
    device->any = was_idle(l, line);
    device->line = line_number;
  }
  for (int u = 0; u < TTM_USES; u++) device->ever |= (uint32_t)(line->bytes[u] > 0) << u;
  if (device->any) {
    if (push_text(l, line, culprit, &text) || ttm_build_op(l->builder, device->stream, text, line_number, &op) ||
        push_state(l, device, op))
      return TTM_ENOMEM;
  } else if (device->line != line_number && push_state(l, device, TTM_STATE_AFTER_SUBMIT)) {
    return TTM_ENOMEM; /* the last state of the session before */
  }
  device->any = true;
  device->line = line_number;
  memcpy(device->bytes, line->bytes, sizeof device->bytes);
  return TTM_OK;
}

/* ---- Lines ----------------------------------------------------------------------------------------------------------- */

static int take_line(live_loader *l, ttm_str text) {
  ttm_seen *seen = &l->builder->profile->seen;
  ttm_live_line line = ttm_live_line_read(text);
  int rc = TTM_EFORMAT;
  uint32_t number = seen->lines < TTM_NONE - 1 ? (uint32_t)seen->lines + 1 : TTM_NONE - 1;
  seen->lines++;
  if (line.kind == TTM_LIVE_START) rc = on_start(l, &line);
  if (line.kind == TTM_LIVE_DEVICE) rc = on_device(l, &line);
  if (line.kind == TTM_LIVE_PROCESS) rc = on_process(l, &line);
  if (line.kind == TTM_LIVE_SAMPLE) rc = on_sample(l, &line, number);
  if (line.kind == TTM_LIVE_FIRST || line.kind == TTM_LIVE_END || line.kind == TTM_LIVE_FULL) rc = TTM_OK;
  if (rc != TTM_EFORMAT) return rc;
  seen->bad_blocks++;
  return ttm_build_note(l->builder, number, text);
}

/* Whole lines; the last one may lack its end when `last` is true: it is torn then, and left out. */
static int take_lines(live_loader *l, ttm_str lines, bool last) {
  ttm_seen *seen = &l->builder->profile->seen;
  seen->bytes += lines.n;
  while (lines.n) {
    size_t end = ttm_str_find_char(lines, '\n');
    if (end == TTM_NOT_FOUND && last) {
      seen->cut = true; /* it was being written when the recording ended */
      seen->lines++;
      return TTM_OK;
    }
    if (take_line(l, ttm_str_first(lines, end))) return TTM_ENOMEM;
    lines = end == TTM_NOT_FOUND ? (ttm_str){"", 0} : ttm_str_from(lines, end + 1);
  }
  return TTM_OK;
}

static int take_all(live_loader *l, ttm_input *in, ttm_error *err) {
  ttm_chunk chunk = {0};
  ttm_source *source = in->chunker.source;
  int rc = TTM_OK;
  if (!source && take_lines(l, in->first, true)) rc = ttm_error_nomem(err);
  while (source && !rc && !chunk.last) {
    rc = ttm_chunker_next(&in->chunker, &chunk, err);
    if (!rc && take_lines(l, (ttm_str){chunk.data, chunk.n}, chunk.last)) rc = ttm_error_nomem(err);
    if (!rc) rc = ttm_input_progress(in, ttm_source_position(source), l->builder->profile->ops.n, err);
  }
  ttm_chunk_free(&chunk);
  return rc;
}

static int finish(live_loader *l, ttm_error *err) {
  ttm_profile *p = l->builder->profile;
  for (size_t i = 0; i < l->devices.n; i++) {
    live_device *device = &l->devices.at[i];
    if (device->stream && push_state(l, device, TTM_STATE_AFTER_SUBMIT)) return ttm_error_nomem(err);
  }
  if (p->states.n) p->kind = TTM_LOG_LIVE;
  if (ttm_builder_end(l->builder)) return ttm_error_nomem(err);
  for (size_t c = 0; c < p->calls.n; c++) p->calls.at[c].finished = true;
  if (p->states.n) return TTM_OK;
  return ttm_error_set(err, TTM_ENODATA,
                       "this file of ttmem live --record holds no sample: no ttnn program used a device meanwhile.\n"
                       "Start 'ttmem live --record FILE' first, then the program, and stop it with Ctrl-C.");
}

int ttm_load_live(ttm_builder *b, ttm_input *in, ttm_error *err) {
  live_loader l = {.builder = b};
  int rc = take_all(&l, in, err);
  if (!rc) rc = finish(&l, err);
  ttm_vec_free(&l.devices);
  ttm_vec_free(&l.device_of_number);
  ttm_vec_free(&l.processes);
  ttm_buf_free(&l.scratch);
  return rc;
}
