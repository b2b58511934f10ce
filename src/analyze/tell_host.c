/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the host: its peak, the lines it grew at, and programs that died of it. */
#include <signal.h>

#include "analyze/tell.h"

enum { SHOWN_LINES = 5, LITTLE = 1 << 20 };

/* "model.py:42, in #3 ttnn.from_torch", as far as known. */
static void say_place(ttm_teller *t, uint32_t at, uint32_t op) {
  ttm_str line = ttm_profile_string(t->p, at);
  if (line.n) ttm_say(&t->text, t->f, " at {}", TTM_TEXT(line));
  if (op < t->p->ops.n)
    ttm_say(&t->text, t->f, "{} {}", TTM_WORDS(line.n ? ", in or after" : " in or after"), TTM_OP(op));
}

static void tell_limits(ttm_teller *t) {
  const ttm_host *h = &t->p->capture.host;
  if (h->cgroup) ttm_detail(t, "The control group of the program allows {} (memory.max).", TTM_BYTES(h->cgroup));
  if (h->machine && h->available)
    ttm_detail(t, "The machine has {}; {} were available at the start{}.", TTM_BYTES(h->machine),
               TTM_BYTES(h->available), TTM_WORDS(h->lowest_available < h->available ? "" : " and at the end"));
  if (h->lowest_available && h->lowest_available < h->available)
    ttm_detail(t, "The least that was available is {}.", TTM_BYTES(h->lowest_available));
  if (h->address_limit)
    ttm_detail(t, "Its address space is limited to {} (ulimit -v), {} were in use.", TTM_BYTES(h->address_limit),
               TTM_BYTES(h->address_space));
  if (h->pinned || h->locked) ttm_detail(t, "Pinned {}, locked {}.", TTM_BYTES(h->pinned), TTM_BYTES(h->locked));
  if (h->huge) ttm_detail(t, "{} in huge pages, which resident memory leaves out.", TTM_BYTES(h->huge));
}

static void tell_lines(ttm_teller *t) {
  const ttm_host_findings *found = &t->f->host;
  for (uint32_t i = 0; i < found->line_count && i < SHOWN_LINES; i++) {
    const ttm_host_line *line = &found->lines[i];
    if (line->grew < LITTLE) break;
    ttm_say(&t->text, t->f, "+{}", TTM_BYTES((uint64_t)line->grew));
    say_place(t, line->at, line->op);
    ttm_tell_point(t, TTM_NO_FIGURE, line->op);
  }
}

static void tell_rest(ttm_teller *t) {
  const ttm_host_findings *found = &t->f->host;
  tell_limits(t);
  ttm_tell_op(t, t->p->capture.host.samples.at[found->peak_sample].op);
  ttm_tell_quantity(t, "peak", "B", (double)found->peak);
  ttm_tell_quantity(t, "limit", "B", (double)found->limit);
  tell_lines(t);
}

/* The line that took most of it. */
static void say_most(ttm_teller *t) {
  const ttm_host_findings *found = &t->f->host;
  if (!found->line_count || found->lines[0].grew < LITTLE) return;
  ttm_say(&t->text, t->f, "; +{}", TTM_BYTES((uint64_t)found->lines[0].grew));
  say_place(t, found->lines[0].at, found->lines[0].op);
}

static void tell_peak(ttm_teller *t) {
  const ttm_host_findings *found = &t->f->host;
  ttm_tell(t, "host.peak", TTM_TOPIC_HOST, TTM_SEVERITY_NOTE, TTM_MEASURED);
  ttm_say(&t->text, t->f, "Host memory peak {}", TTM_BYTES(found->peak));
  if (found->limit >= found->peak) ttm_say(&t->text, t->f, " of {}", TTM_BYTES(found->limit));
  ttm_buf_puts(&t->text, ", resident, of the program's processes on this machine, not of the board");
  say_most(t);
  ttm_tell_headline(t);
  tell_rest(t);
}

/* Where the program was last. */
static void say_last(ttm_teller *t) {
  const ttm_host *h = &t->p->capture.host;
  size_t i = h->samples.n - 1;
  while (i && !h->samples.at[i].at) i--;
  say_place(t, h->samples.at[i].at, h->samples.at[h->samples.n - 1].op);
}

/* Pages that were there before, or are shared, count for another group: a process may hold more than its own allows. */
static void say_held(ttm_teller *t, uint64_t held) {
  const ttm_host_findings *found = &t->f->host;
  ttm_say(&t->text, t->f, " it held {}", TTM_BYTES(held));
  if (found->limit_is_cgroup)
    ttm_say(&t->text, t->f, ", its control group allows {}", TTM_BYTES(found->limit));
  else if (found->limit)
    ttm_say(&t->text, t->f, " of the {} of this machine", TTM_BYTES(found->limit));
}

static void tell_killed(ttm_teller *t) {
  const ttm_host_findings *found = &t->f->host;
  const ttm_host *h = &t->p->capture.host;
  bool exhausted = ttm_host_is_exhausted(t->p, found);
  uint64_t held = h->tree > found->last ? h->tree : found->last;
  ttm_tell(t, exhausted ? "host.killed" : "host.killed-otherwise", TTM_TOPIC_HOST,
           exhausted ? TTM_SEVERITY_FAILURE : TTM_SEVERITY_WARNING, h->oom_kills ? TTM_MEASURED : TTM_DERIVED);
  ttm_buf_puts(&t->text, exhausted ? "The host ran out of memory, not the device: the kernel killed the program"
                                   : "The program was killed (SIGKILL)");
  say_last(t);
  ttm_buf_puts(&t->text, exhausted ? ", when" : ", and memory of the host does not explain it:");
  say_held(t, held);
  if (exhausted) say_most(t);
  ttm_tell_headline(t);
  if (h->oom_kills)
    ttm_detail(t, "The control group counted {} of the kernel's OOM killer.", TTM_PLURAL(h->oom_kills, "kill"));
  tell_rest(t);
}

static void tell_refused(ttm_teller *t) {
  const ttm_host *h = &t->p->capture.host;
  ttm_tell(t, "host.refused", TTM_TOPIC_HOST, TTM_SEVERITY_FAILURE, TTM_MEASURED);
  ttm_say(&t->text, t->f, "The host refused an allocation, not the device: {} ended the program",
          TTM_TEXT(ttm_profile_string(t->p, h->uncaught)));
  say_last(t);
  ttm_say(&t->text, t->f, ", when it held {}", TTM_BYTES(t->f->host.last));
  if (h->address_limit) ttm_say(&t->text, t->f, " with an address space of at most {}", TTM_BYTES(h->address_limit));
  say_most(t);
  ttm_tell_headline(t);
  tell_rest(t);
}

/* A MemoryError, or std::bad_alloc as ttnn passes it on. */
static bool is_refused(const ttm_profile *p) {
  uint32_t fatal = p->capture.recording.fatal;
  if (ttm_str_ends(ttm_profile_string(p, p->capture.host.uncaught), TTM_LIT("MemoryError"))) return true;
  return fatal < p->incidents.n && p->incidents.at[fatal].what.about == TTM_ABOUT_HOST_MEMORY;
}

void ttm_tell_host(ttm_teller *t) {
  if (!t->f->host.known) return;
  if (t->p->capture.host.signal == SIGKILL)
    tell_killed(t);
  else if (is_refused(t->p))
    tell_refused(t);
  else
    tell_peak(t);
}
