/* SPDX-License-Identifier: Apache-2.0 */
/* Module dumps: their lines carry no prefix, so whatever stands between header and END line belongs to them, except lines that
 * other threads' loggers put between. */
#include "parse/log_line.h"
#include "profile/load/log.h"

/* A dump beyond this is not kept whole: nobody reads it, and it must not fill the host. */
enum { LONGEST_DUMP = 256 * 1024 * 1024 };

int ttm_dump_begin(ttm_log *log, ttm_log_rank *r, ttm_str stage, uint32_t line) {
  ttm_builder *b = log->builder;
  ttm_dump row = {.first_line = line};
  if (ttm_dump_end(log, r) || ttm_build_graph(b, r->stream, stage) || ttm_build_string(b, stage, &row.stage))
    return TTM_ENOMEM;
  b->profile->seen.dumps++;
  log->open_dumps++;
  ttm_buf_clear(&r->dump.text);
  r->dump = (ttm_open_dump){.open = true, .row = row, .text = r->dump.text};
  return TTM_OK;
}

/* One line inside a dump. Module text never starts with a date or an escape; other loggers' lines do. */
static int take_line(ttm_log *log, ttm_str line) {
  ttm_log_line read = ttm_log_line_read(line);
  ttm_log_rank *r;
  if (ttm_log_rank_of(log, read.rank, &r)) return TTM_ENOMEM;
  ttm_open_dump *dump = &r->dump;
  ttm_str text = read.message;
  if (!dump->open || read.runtime || ttm_log_line_has_date(text) || ttm_escape_length(text)) return TTM_OK;
  if (dump->text.n + text.n > LONGEST_DUMP) return dump->overflow = true, TTM_OK;
  if (text.n && text.p[0] == '}') dump->closed = true;
  ttm_buf_put(&dump->text, text);
  ttm_buf_char(&dump->text, '\n');
  dump->row.line_count++;
  return dump->text.failed ? TTM_ENOMEM : TTM_OK;
}

int ttm_dump_lines(ttm_log *log, const char *at, const char *end) {
  while (at < end && log->open_dumps) {
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    const char *stop = line_end ? line_end : end;
    if (take_line(log, (ttm_str){at, (size_t)(stop - at)})) return TTM_ENOMEM;
    at = stop + 1;
  }
  return TTM_OK;
}

int ttm_dump_end(ttm_log *log, ttm_log_rank *r) {
  ttm_open_dump *dump = &r->dump;
  if (!dump->open) return TTM_OK;
  dump->open = false;
  log->open_dumps--;
  int rc = ttm_build_dump(log->builder, r->stream, dump->row, ttm_buf_str(&dump->text), !dump->overflow);
  ttm_buf_free(&dump->text); /* may be large */
  return rc;
}
