/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/host.h"

#include <signal.h>
#include <stdlib.h>

#include "base/map.h"

typedef TTM_VEC(ttm_host_line) line_list;

static int line_of(line_list *lines, ttm_map *known, uint32_t at, ttm_host_line **out) {
  uint32_t i = ttm_map_get(known, at, TTM_NONE);
  if (i == TTM_NONE) {
    i = (uint32_t)lines->n;
    if (ttm_vec_push(lines, ((ttm_host_line){.at = at, .op = TTM_NONE})) || ttm_map_set(known, at, i))
      return TTM_ENOMEM;
  }
  *out = &lines->at[i];
  return TTM_OK;
}

static int by_growth(const void *a, const void *b) {
  const ttm_host_line *x = a, *y = b;
  if (x->grew != y->grew) return x->grew > y->grew ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

/* Growth that is still there. */
typedef struct held {
  uint32_t line;
  uint64_t bytes;
} held;

/* What is given back was added last: nothing tells it better, and so the lines add up to the peak. */
static void give_back(line_list *lines, held *at, size_t *n, uint64_t bytes) {
  while (bytes && *n) {
    held *top = &at[*n - 1];
    uint64_t part = bytes < top->bytes ? bytes : top->bytes;
    lines->at[top->line].grew -= (int64_t)part;
    top->bytes -= part;
    bytes -= part;
    *n -= !top->bytes;
  }
}

/* What each line added and nobody gave back, up to the highest sample. */
static int sum_lines(const ttm_profile *p, uint32_t peak, line_list *lines) {
  const ttm_host *h = &p->capture.host;
  TTM_VEC(held) stack = {0};
  ttm_map known = {0};
  int rc = TTM_OK;
  for (uint32_t i = 1; i <= peak && i < h->samples.n && !rc; i++) {
    const ttm_host_sample *s = &h->samples.at[i];
    uint64_t now = s->bytes, before = h->samples.at[i - 1].bytes;
    ttm_host_line *line;
    if (now < before) give_back(lines, stack.at, &stack.n, before - now);
    if (now <= before || (rc = line_of(lines, &known, s->at, &line))) continue;
    rc = ttm_vec_push(&stack, ((held){(uint32_t)(line - lines->at), now - before}));
    line->grew += (int64_t)(now - before);
    if (now - before <= line->step) continue;
    line->step = now - before;
    line->op = s->op;
  }
  ttm_vec_free(&stack);
  ttm_map_free(&known);
  return rc;
}

int ttm_host_find(ttm_host_findings *out, const ttm_profile *p) {
  const ttm_host *h = &p->capture.host;
  line_list lines = {0};
  *out = (ttm_host_findings){.known = h->samples.n > 0, .limit = h->cgroup ? h->cgroup : h->machine};
  out->limit_is_cgroup = h->cgroup && (!h->machine || h->cgroup < h->machine);
  if (!out->limit_is_cgroup) out->limit = h->machine;
  if (!out->known) return TTM_OK;
  for (uint32_t i = 1; i < h->samples.n; i++)
    if (h->samples.at[i].bytes > h->samples.at[out->peak_sample].bytes) out->peak_sample = i;
  out->first = h->samples.at[0].bytes;
  out->last = h->samples.at[h->samples.n - 1].bytes;
  out->peak = h->tree_peak > h->peak ? h->tree_peak : h->peak;
  int rc = sum_lines(p, out->peak_sample, &lines);
  if (lines.n) qsort(lines.at, lines.n, sizeof *lines.at, by_growth);
  for (uint32_t i = 0; i < lines.n && out->line_count < TTM_HOST_LINES && lines.at[i].grew > 0; i++)
    out->lines[out->line_count++] = lines.at[i];
  ttm_vec_free(&lines);
  return rc;
}

bool ttm_host_is_exhausted(const ttm_profile *p, const ttm_host_findings *found) {
  const ttm_host *h = &p->capture.host;
  uint64_t held = h->tree > found->last ? h->tree : found->last;
  if (h->signal != SIGKILL) return false;
  if (h->oom_kills) return true;
  return found->limit && (held >= found->limit / 10 * 9 ||
                          (h->machine && h->lowest_available && h->lowest_available < h->machine / 20));
}
