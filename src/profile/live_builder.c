/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/live_builder.h"

#include "base/checked.h"
#include "base/error.h"

/* ---- Names ----------------------------------------------------------------------------------------------------------- */

static int on_start(ttm_live_builder *b, const ttm_live_line *line) {
  if (!b->started) b->first_start_ms = line->time_ms;
  b->started = true;
  /* The clock may have been set back between two sessions: time still goes on. */
  uint64_t now = line->time_ms > b->first_start_ms ? line->time_ms - b->first_start_ms : 0;
  b->start_ms = now > b->last_ms ? now : b->last_ms;
  b->interval_ms = line->interval_ms;
  b->device_of_number.n = b->processes.n = 0;
  for (size_t i = 0; i < b->devices.n; i++) b->devices.at[i].any = false; /* what happened in between is not known */
  return TTM_OK;
}

static int on_device(ttm_live_builder *b, const ttm_live_line *line) {
  enum { MOST_DEVICES = 4096 };
  uint32_t i = 0;
  while (i < b->devices.n && b->devices.at[i].asic_id != line->asic_id) i++;
  if (i == b->devices.n) {
    ttm_live_device device = {.asic_id = line->asic_id};
    if (i == MOST_DEVICES) return TTM_EFORMAT;
    if (ttm_vec_push(&b->devices, device)) return TTM_ENOMEM;
  }
  b->devices.at[i].board = ttm_board_find(line->name);
  if (line->number < b->device_of_number.n) return b->device_of_number.at[line->number] = i, TTM_OK; /* told anew */
  if (line->number != b->device_of_number.n) return TTM_EFORMAT;
  return ttm_vec_push(&b->device_of_number, i);
}

static int on_process(ttm_live_builder *b, const ttm_live_line *line) {
  ttm_live_process process = {0};
  if (line->number != b->processes.n) return TTM_EFORMAT;
  ttm_buf_clear(&b->scratch);
  ttm_buf_put(&b->scratch, line->name.n ? line->name : TTM_LIT("process"));
  ttm_buf_printf(&b->scratch, "[%llu]", (unsigned long long)line->pid);
  if (b->scratch.failed || ttm_intern_add(&b->profile->strings, ttm_buf_str(&b->scratch), &process.name))
    return TTM_ENOMEM;
  return ttm_vec_push(&b->processes, process);
}

/* ---- Samples --------------------------------------------------------------------------------------------------------- */

static ttm_level level_of(const ttm_live_device *device, ttm_memory memory) {
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
static int push_state(ttm_live_builder *b, ttm_live_device *device, uint32_t op) {
  int rc = ttm_state_begin(&b->base, device->stream, op, device->line);
  for (int m = 0; m < TTM_MEMORIES && !rc; m++) {
    if (m > TTM_L1 && !(device->ever >> m & 1)) continue; /* never given to the device, or never used */
    ttm_level level = level_of(device, (ttm_memory)m);
    rc = ttm_state_add(&b->base, device->stream, (ttm_memory)m, &level, device->line);
  }
  return rc ? rc : ttm_state_commit(&b->base, device->stream);
}

static uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/* Takes the parts in and finds the process that changed most: in DRAM, or, where that is equal, in all others. */
static uint32_t find_culprit(ttm_live_builder *b, const ttm_live_line *line) {
  ttm_str parts = line->parts;
  ttm_live_part part;
  uint64_t best_dram = 0, best_rest = 0;
  uint32_t culprit = TTM_NONE;
  while (ttm_live_part_next(&parts, &part)) {
    if (part.process >= b->processes.n) continue;
    ttm_live_process *process = &b->processes.at[part.process];
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

static int push_text(ttm_live_builder *b, const ttm_live_line *line, uint32_t culprit, uint32_t *out) {
  ttm_intern *strings = &b->profile->strings;
  ttm_op_text text = {.has_attributes = true};
  ttm_buf_clear(&b->scratch);
  ttm_buf_printf(&b->scratch, "t = %llu.%03u s", (unsigned long long)(b->last_ms / 1000),
                 (unsigned)(b->last_ms % 1000));
  if (b->scratch.failed || ttm_intern_add(strings, ttm_buf_str(&b->scratch), &text.location)) return TTM_ENOMEM;
  ttm_buf_clear(&b->scratch);
  ttm_buf_puts(&b->scratch, "{then");
  for (int u = 0; u < TTM_USES; u++) {
    ttm_buf_printf(&b->scratch, "%s %s_B = %llu", u ? "," : "", ttm_use_key((ttm_use)u),
                   (unsigned long long)line->bytes[u]);
  }
  ttm_buf_char(&b->scratch, '}');
  if (b->scratch.failed || ttm_intern_add(strings, ttm_buf_str(&b->scratch), &text.attributes)) return TTM_ENOMEM;
  if (culprit != TTM_NONE)
    text.name = b->processes.at[culprit].name;
  else if (ttm_intern_add(strings, TTM_LIT("unknown process"), &text.name))
    return TTM_ENOMEM;
  text.op_type = text.name;
  *out = (uint32_t)b->profile->texts.n;
  return ttm_vec_push(&b->profile->texts, text);
}

/* A device that was idle when the session began was at zero before its first sample. */
static bool was_idle(const ttm_live_builder *b, const ttm_live_line *line) { return line->time_ms > b->interval_ms; }

static int on_sample(ttm_live_builder *b, const ttm_live_line *line, uint32_t line_number) {
  if (line->number >= b->device_of_number.n) return TTM_EFORMAT;
  uint64_t now = ttm_add_sat(b->start_ms, line->time_ms);
  ttm_live_device *device = &b->devices.at[b->device_of_number.at[line->number]];
  uint32_t culprit = find_culprit(b, line), text, op;
  if (now > b->last_ms) b->last_ms = now;
  if (!device->stream) {
    if (ttm_builder_stream(&b->base, (uint16_t)b->device_of_number.at[line->number], &device->stream))
      return TTM_ENOMEM;
    device->any = was_idle(b, line);
    device->line = line_number;
  }
  for (int u = 0; u < TTM_USES; u++) device->ever |= (uint32_t)(line->bytes[u] > 0) << u;
  if (device->any) {
    if (push_text(b, line, culprit, &text) || ttm_op_place(&b->base, device->stream, text, line_number, &op) ||
        push_state(b, device, op))
      return TTM_ENOMEM;
  } else if (device->line != line_number && push_state(b, device, TTM_STATE_AFTER_SUBMIT)) {
    return TTM_ENOMEM; /* the last state of the session before */
  }
  device->any = true;
  device->line = line_number;
  memcpy(device->bytes, line->bytes, sizeof device->bytes);
  return TTM_OK;
}

/* ---- Lines ----------------------------------------------------------------------------------------------------------- */

static int take_line(ttm_live_builder *b, ttm_str text) {
  ttm_seen *seen = &b->profile->seen;
  ttm_live_line line = ttm_live_line_read(text);
  int rc = TTM_EFORMAT;
  uint32_t number = ttm_builder_line(&b->base, (uint32_t)seen->lines);
  seen->lines++;
  if (line.kind == TTM_LIVE_START) rc = on_start(b, &line);
  if (line.kind == TTM_LIVE_DEVICE) rc = on_device(b, &line);
  if (line.kind == TTM_LIVE_PROCESS) rc = on_process(b, &line);
  if (line.kind == TTM_LIVE_SAMPLE) rc = on_sample(b, &line, number);
  if (line.kind == TTM_LIVE_FIRST || line.kind == TTM_LIVE_END || line.kind == TTM_LIVE_FULL) rc = TTM_OK;
  if (rc != TTM_EFORMAT) return rc;
  seen->bad_blocks++;
  return ttm_builder_note(&b->base, number, text);
}

int ttm_live_builder_begin(ttm_live_builder *b, const char *path) {
  *b = (ttm_live_builder){.started = false};
  return ttm_builder_begin(&b->profile, &b->base, path, false);
}

int ttm_live_builder_put(ttm_live_builder *b, ttm_str lines, bool last) {
  b->profile->seen.bytes += lines.n;
  while (lines.n) {
    size_t end = ttm_str_find_char(lines, '\n');
    if (end == TTM_NOT_FOUND && last) {
      b->profile->seen.cut = true; /* it was being written when the recording ended */
      b->profile->seen.lines++;
      return TTM_OK;
    }
    int rc = take_line(b, ttm_str_first(lines, end));
    if (rc) return rc;
    lines = end == TTM_NOT_FOUND ? (ttm_str){"", 0} : ttm_str_from(lines, end + 1);
  }
  return TTM_OK;
}

int ttm_live_builder_finish(ttm_live_builder *b, ttm_error *err) {
  ttm_profile *p = b->profile;
  for (size_t i = 0; i < b->devices.n; i++) {
    ttm_live_device *device = &b->devices.at[i];
    if (!device->stream) continue;
    if (push_state(b, device, TTM_STATE_AFTER_SUBMIT) || ttm_program_end_all(&b->base, device->stream))
      return ttm_error_nomem(err);
  }
  for (size_t f = 0; f < p->calls.n; f++) p->calls.at[f].finished = true;
  p->kind = p->states.n ? TTM_LOG_LIVE : TTM_LOG_NONE;
  if (p->states.n) return TTM_OK;
  return ttm_error_set(
      err, TTM_ENODATA,
      "this recording of ttmem live holds no sample: no ttnn program used a device while it was made.\n"
      "Start 'ttmem live --record FILE' first, then the program, and stop it with Ctrl-C.");
}

void ttm_live_builder_free(ttm_live_builder *b) {
  ttm_builder_free(&b->base);
  ttm_vec_free(&b->devices);
  ttm_vec_free(&b->device_of_number);
  ttm_vec_free(&b->processes);
  ttm_buf_free(&b->scratch);
}
