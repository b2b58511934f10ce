/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* gmtime_r */
#include "report/export/times.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/chunks.h"
#include "base/error.h"
#include "base/format.h"
#include "parse/log_line.h"

enum { TICK_NS = 1000 };

uint64_t ttm_times_begin(const ttm_times *t, uint64_t moment) {
  return moment < t->begin.n ? t->begin.at[moment] : moment * TICK_NS;
}

uint64_t ttm_times_end(const ttm_times *t, uint32_t op) {
  return op < t->end.n ? t->end.at[op] : ttm_times_begin(t, (uint64_t)op + 1);
}

void ttm_times_spread(ttm_times *t, uint32_t from, uint32_t to, uint64_t after, uint64_t until) {
  uint64_t room = until > after ? until - after : 0, parts = (uint64_t)to - from + 1;
  for (uint32_t i = from; i < to; i++) {
    uint64_t least = i ? t->begin.at[i - 1] + 1 : 0, even = after + room / parts * (i - from + 1);
    t->begin.at[i] = even > least ? even : least;
  }
}

static int make_room(ttm_times *t, size_t n) {
  if (ttm_vec_reserve(&t->begin, n)) return TTM_ENOMEM;
  memset(t->begin.at, 0, n * sizeof *t->begin.at);
  t->begin.n = n;
  return TTM_OK;
}

/* ---- Stamps of a log ------------------------------------------------------------------------------------------------------ */

typedef struct stamps {
  ttm_times *times;
  const ttm_profile *p;
  uint32_t line, next; /* the line at hand; the first operation without a time */
  uint64_t last;       /* stamp; 0 */
  char form;           /* what stands between date and time of the first stamp: one clock counts */
} stamps;

/* Operations up to this line lie between the last stamp and this one. One that goes back is another clock, or a line that came late. */
static void take_stamp(stamps *s, uint64_t ns) {
  ttm_times *t = s->times;
  uint32_t n = (uint32_t)s->p->ops.n, k = s->next;
  if (ns < s->last) return;
  while (k < n && s->p->ops.at[k].line < s->line) k++;
  bool own = k < n && s->p->ops.at[k].line == s->line;
  if (s->last || k == s->next) {
    t->timed += k - s->next;
    ttm_times_spread(t, s->next, k, s->last, ns);
  } else { /* before the first stamp: as if each took a microsecond */
    for (uint32_t i = s->next; i < k; i++) t->begin.at[i] = ns - (uint64_t)(k - i) * TICK_NS;
  }
  if (own) ttm_times_spread(t, k, k + 1, ns, ns), t->timed++;
  s->next = k + own;
  s->last = ns;
}

static int take_line(void *context, ttm_str line) {
  stamps *s = context;
  uint64_t ns;
  char form;
  s->line++;
  if (!ttm_log_line_time(line, &ns, &form)) return TTM_OK;
  if (!s->form) s->form = form;
  if (form == s->form) take_stamp(s, ns);
  return TTM_OK;
}

static int read_stamps(ttm_times *t, const ttm_profile *p, const char *path, ttm_error *err) {
  stamps s = {.times = t, .p = p};
  uint32_t n = (uint32_t)p->ops.n;
  int status = ttm_lines_read(path, take_line, &s, err);
  if (status || !t->timed) return status;
  for (uint32_t i = s.next; i < n + 2; i++) t->begin.at[i] = (i ? t->begin.at[i - 1] : s.last) + TICK_NS;
  t->source = TTM_TIMES_LOG;
  t->start = t->begin.at[0];
  for (uint32_t i = 0; i < n + 2; i++) t->begin.at[i] -= t->start;
  return TTM_OK;
}

/* ---- Samples ---------------------------------------------------------------------------------------------------------------- */

/* "t = 12.345 s": where the loader of samples puts it. */
static bool sample_ns(const ttm_profile *p, uint32_t op, uint64_t *ns) {
  ttm_str v = ttm_profile_string(p, ttm_op_text_of(p, op)->location);
  uint64_t seconds, ms;
  bool fine = ttm_str_take(&v, TTM_LIT("t = ")) && ttm_str_take_u64(&v, &seconds) && ttm_str_take(&v, TTM_LIT(".")) &&
              ttm_str_take_u64(&v, &ms) && seconds < UINT32_MAX;
  if (fine) *ns = seconds * 1000000000 + ms * 1000000;
  return fine;
}

static void read_samples(ttm_times *t, const ttm_profile *p) {
  uint64_t ns = 0;
  for (uint32_t i = 0; i < p->ops.n; i++) {
    t->timed += sample_ns(p, i, &ns);
    ttm_times_spread(t, i, i + 1, ns, ns);
  }
  for (size_t i = p->ops.n; i < p->ops.n + 2; i++) t->begin.at[i] = (i ? t->begin.at[i - 1] : 0) + TICK_NS;
  t->source = TTM_TIMES_SAMPLES;
}

/* ---- All of them -------------------------------------------------------------------------------------------------------------- */

/* What can be read a second time. */
static bool is_file(const char *path) {
  struct stat st;
  return !stat(path, &st) && S_ISREG(st.st_mode);
}

int ttm_times_read(ttm_times *t, const ttm_profile *p, const char *path, ttm_error *err) {
  int status = TTM_OK;
  bool csv = p->perf.rows.n;
  *t = (ttm_times){.source = TTM_TIMES_NONE};
  bool is_log = p->kind != TTM_LOG_CAPTURE && p->kind != TTM_LOG_NONE && !p->predicted && is_file(path);
  if (!p->ops.n || (!csv && !is_log)) return TTM_OK;
  if (make_room(t, p->ops.n + 2)) return ttm_error_nomem(err);
  if (csv)
    status = ttm_times_of_csv(t, p, err);
  else if (p->kind == TTM_LOG_LIVE)
    read_samples(t, p);
  else
    status = read_stamps(t, p, path, err);
  if (t->source == TTM_TIMES_NONE) ttm_times_free(t);
  return status;
}

void ttm_times_free(ttm_times *t) {
  ttm_vec_free(&t->begin);
  ttm_vec_free(&t->end);
  *t = (ttm_times){.source = TTM_TIMES_NONE};
}

static void put_start(ttm_buf *out, uint64_t ns) {
  time_t seconds = (time_t)(ns / 1000000000);
  struct tm parts;
  char text[32];
  if (!gmtime_r(&seconds, &parts) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)) return;
  ttm_buf_printf(out, " (from %s.%03u)", text, (unsigned)(ns / 1000000 % 1000));
}

const char *ttm_times_name(const ttm_times *t) {
  static const char *const names[] = {"1 us = 1 operation", "time of the log", "time of the samples",
                                      "time of the profiler"};
  return names[t->source];
}

void ttm_times_say(ttm_buf *out, const ttm_times *t, const ttm_profile *p) {
  ttm_buf_puts(out, "Times: ");
  ttm_put_count(out, t->timed);
  ttm_buf_puts(out, " of ");
  ttm_put_counted(out, p->ops.n, "operation");
  if (t->source == TTM_TIMES_SAMPLES) return ttm_buf_puts(out, " sampled");
  if (t->source == TTM_TIMES_CSV) return ttm_buf_puts(out, " timed by the profiler's CSV, the others estimated");
  ttm_buf_puts(out, " between time stamps of the log");
  if (t->start) put_start(out, t->start);
  ttm_buf_puts(out, ", spread evenly");
}
