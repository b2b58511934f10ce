/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/live_record.h"

#define FIRST TTM_LIT("ttmem-live 1")

bool ttm_live_record_detect(ttm_str first) {
  return ttm_str_starts(first, FIRST) && first.n > FIRST.n && first.p[FIRST.n] == '\n';
}

/* A number and what ends it: `end` is eaten, '\0' stands for the end of the text. */
static bool take(ttm_str *rest, char end, uint64_t *out) {
  if (!ttm_str_take_u64(rest, out)) return false;
  if (!end) return !rest->n;
  if (!rest->n || rest->p[0] != end) return false;
  *rest = ttm_str_from(*rest, 1);
  return true;
}

/* Five numbers, `between` them; the last one ends at a blank or the end of the text. */
static bool take_uses(ttm_str *rest, char between, uint64_t uses[TTM_USES]) {
  for (int u = 0; u < TTM_USES - 1; u++) {
    if (!take(rest, between, &uses[u])) return false;
  }
  if (!ttm_str_take_u64(rest, &uses[TTM_USES - 1])) return false;
  if (rest->n && rest->p[0] != ' ') return false;
  *rest = ttm_str_from(*rest, 1);
  return true;
}

bool ttm_live_part_next(ttm_str *parts, ttm_live_part *out) {
  return take(parts, ':', &out->process) && take_uses(parts, ',', out->bytes);
}

static ttm_live_kind read_sample(ttm_live_line *line, ttm_str rest) {
  if (!take(&rest, ' ', &line->time_ms) || !take(&rest, ' ', &line->number) || !take_uses(&rest, ' ', line->bytes))
    return TTM_LIVE_BAD;
  line->parts = rest;
  ttm_live_part part;
  while (rest.n) {
    if (!ttm_live_part_next(&rest, &part)) return TTM_LIVE_BAD;
  }
  return TTM_LIVE_SAMPLE;
}

static ttm_live_kind read_line(ttm_live_line *line, ttm_str rest) {
  if (ttm_str_take(&rest, TTM_LIT("s "))) return read_sample(line, rest);
  if (ttm_str_take(&rest, TTM_LIT("process "))) {
    bool fine = take(&rest, ' ', &line->number) && take(&rest, ' ', &line->pid);
    line->name = rest;
    return fine ? TTM_LIVE_PROCESS : TTM_LIVE_BAD;
  }
  if (ttm_str_take(&rest, TTM_LIT("device "))) {
    bool fine = take(&rest, ' ', &line->number) && take(&rest, ' ', &line->device_id) &&
                take(&rest, ' ', &line->asic_id) && rest.n;
    line->name = rest;
    return fine ? TTM_LIVE_DEVICE : TTM_LIVE_BAD;
  }
  if (ttm_str_take(&rest, TTM_LIT("start ")))
    return take(&rest, ' ', &line->time_ms) && take(&rest, 0, &line->interval_ms) ? TTM_LIVE_START : TTM_LIVE_BAD;
  if (ttm_str_take(&rest, TTM_LIT("end "))) return take(&rest, 0, &line->time_ms) ? TTM_LIVE_END : TTM_LIVE_BAD;
  if (ttm_str_take(&rest, TTM_LIT("full "))) return take(&rest, 0, &line->time_ms) ? TTM_LIVE_FULL : TTM_LIVE_BAD;
  return ttm_str_eq(rest, FIRST) ? TTM_LIVE_FIRST : TTM_LIVE_BAD;
}

ttm_live_line ttm_live_line_read(ttm_str text) {
  ttm_live_line line = {0};
  line.kind = read_line(&line, text);
  return line;
}
