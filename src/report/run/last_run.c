/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/last_run.h"

#include <stdlib.h>

#include "base/chunks.h"
#include "parse/log_line.h"

/* ---- Lines of a log, in pieces ------------------------------------------------------------------------------------ */

/* Looks at one line (its end included) and its number; false: seen enough. */
typedef bool line_visitor(void *context, ttm_str line, uint64_t number);

static int visit_lines(const char *log, line_visitor *visit, void *context, ttm_error *err) {
  ttm_chunker chunker = {0};
  ttm_chunk chunk = {0};
  uint64_t number = 0;
  bool more = true, in_line = false; /* a line over the limit comes in several chunks */
  int status = ttm_source_open(&chunker.source, log, err);
  if (status) return status;
  do {
    status = ttm_chunker_next(&chunker, &chunk, err);
    const char *at = chunk.data, *end = status ? at : at + chunk.n;
    while (more && at < end) {
      const char *stop = memchr(at, '\n', (size_t)(end - at));
      stop = stop ? stop + 1 : end;
      if (!in_line) number++;
      in_line = stop[-1] != '\n';
      more = visit(context, (ttm_str){at, (size_t)(stop - at)}, number);
      at = stop;
    }
  } while (!status && more && !chunk.last);
  ttm_chunk_free(&chunk);
  ttm_chunker_free(&chunker);
  ttm_source_close(chunker.source);
  return status;
}

/* ---- Finding ------------------------------------------------------------------------------------------------------ */

static uint32_t lower(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The line a run begins with: the state before its submit, if it has one. */
static uint32_t run_start(const ttm_profile *p, const ttm_call *call) {
  return call->before == TTM_NONE ? call->first_line : lower(call->first_line, p->states.at[call->before].line);
}

static uint32_t runs_of_rank(const ttm_profile *p, uint32_t rank) {
  uint32_t n = 0;
  for (size_t i = 0; i < p->runs.n; i++) {
    const ttm_call *call = &p->calls.at[p->runs.at[i]];
    if (call->rank == rank && call->run >= n) n = call->run + 1;
  }
  return n;
}

static uint32_t start_of_last(const ttm_profile *p, uint32_t runs) {
  uint32_t start = TTM_NONE;
  for (uint32_t rank = 0; rank < p->ranks.n; rank++) {
    uint32_t all = runs_of_rank(p, rank), first = all > runs ? all - runs : 0;
    for (size_t i = 0; i < p->runs.n; i++) {
      const ttm_call *call = &p->calls.at[p->runs.at[i]];
      if (call->rank == rank && call->run >= first) start = lower(start, run_start(p, call));
    }
  }
  return start;
}

typedef struct marker_search {
  ttm_str marker;
  uint64_t last_event; /* only marks before it count */
  uint64_t found, seen;
} marker_search;

static bool look_for_marker(void *context, ttm_str line, uint64_t number) {
  marker_search *search = context;
  if (!ttm_str_contains(line, search->marker)) return true;
  search->seen++;
  if (number < search->last_event) search->found = number;
  return true;
}

static int start_of_marked(const ttm_profile *p, const char *log, const char *marker, uint32_t *start, ttm_error *err) {
  marker_search search = {.marker = ttm_str_of(marker)};
  if (p->ops.n) search.last_event = p->ops.at[p->ops.n - 1].line;
  if (p->states.n && p->states.at[p->states.n - 1].line > search.last_event)
    search.last_event = p->states.at[p->states.n - 1].line;
  int status = visit_lines(log, look_for_marker, &search, err);
  if (status) return status;
  if (!search.seen) return ttm_error_set(err, TTM_ENODATA, "no line of the log contains '%.200s'", marker);
  *start = (uint32_t)search.found + 1; /* all of it when the only mark ends the only run */
  return TTM_OK;
}

static bool graph_is_kept(const ttm_profile *p, uint32_t graph, uint32_t start, bool *unknown) {
  bool kept = false;
  for (size_t i = 0; i < p->runs.n; i++) {
    const ttm_call *call = &p->calls.at[p->runs.at[i]];
    if (run_start(p, call) < start) continue;
    kept = kept || call->graph == graph;
    *unknown = *unknown || call->graph == TTM_NONE;
  }
  return kept;
}

static int by_line(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static int choose_dumps(ttm_last_run *what, const ttm_profile *p) {
  for (uint32_t g = 0; g < p->graphs.n; g++) {
    bool unknown = false; /* a run that no dump was matched with: better one too many */
    if (!graph_is_kept(p, g, what->first_line, &unknown) && !unknown) continue;
    for (size_t d = 0; d < p->graphs.at[g].dumps.n; d++) {
      uint32_t line = p->graphs.at[g].dumps.at[d].first_line;
      if (line < what->first_line && ttm_vec_push(&what->dumps, line)) return TTM_ENOMEM;
    }
  }
  if (what->dumps.n) qsort(what->dumps.at, what->dumps.n, sizeof *what->dumps.at, by_line);
  return TTM_OK;
}

int ttm_last_run_find(ttm_last_run *what, const ttm_profile *p, const char *log, uint32_t runs, const char *marker,
                      ttm_error *err) {
  *what = (ttm_last_run){.all_runs = (uint32_t)p->runs.n};
  if (!p->runs.n) return ttm_error_set(err, TTM_ENODATA, "the log has no run of a program");
  int status = TTM_OK;
  if (marker)
    status = start_of_marked(p, log, marker, &what->first_line, err);
  else
    what->first_line = start_of_last(p, runs);
  if (status) return status;
  for (size_t i = 0; i < p->runs.n; i++) what->runs += run_start(p, &p->calls.at[p->runs.at[i]]) >= what->first_line;
  return choose_dumps(what, p) ? ttm_error_nomem(err) : TTM_OK;
}

/* ---- Copying ------------------------------------------------------------------------------------------------------ */

typedef struct copier {
  const ttm_last_run *what;
  size_t next_dump;
  bool in_dump;
  ttm_out *out;
} copier;

/* A dump goes to its END line; logs before that line existed: to the first line of the runtime. */
static bool copy_line(void *context, ttm_str line, uint64_t number) {
  copier *c = context;
  bool keep = number >= c->what->first_line;
  if (!keep) {
    bool begins = c->next_dump < c->what->dumps.n && number == c->what->dumps.at[c->next_dump];
    if (begins) c->next_dump++;
    c->in_dump = begins || (c->in_dump && !ttm_log_line_read(line).runtime);
    keep = c->in_dump;
    if (keep && ttm_str_contains(line, TTM_LIT("END OF MLIR MODULE"))) c->in_dump = false;
  }
  if (!keep) return true;
  ttm_buf_put(&c->out->buf, line);
  ttm_out_flow(c->out);
  return !c->out->failed && !c->out->buf.failed;
}

int ttm_last_run_write(const ttm_last_run *what, const char *log, ttm_out *out, ttm_error *err) {
  copier c = {.what = what, .out = out};
  return visit_lines(log, copy_line, &c, err);
}
