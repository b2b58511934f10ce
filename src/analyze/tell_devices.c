/* SPDX-License-Identifier: Apache-2.0 */
/* Of how many chips and devices the figures of a recording are. Devices that did the same are one row. */
#include "analyze/tell.h"

enum { MOST_ROWS = 64 };

/* Alike in all that a row says. */
static bool is_alike(const ttm_opening *a, const ttm_opening *b) {
  return ttm_chips_in(a->chips) == ttm_chips_in(b->chips) && !memcmp(a->peak, b->peak, sizeof a->peak) &&
         a->total[TTM_DRAM] == b->total[TTM_DRAM];
}

static size_t first_alike(const ttm_capture *c, size_t at) {
  size_t i = 0;
  while (i < at && !is_alike(&c->openings.at[i], &c->openings.at[at])) i++;
  return i;
}

static void tell_row(ttm_teller *t, size_t at) {
  const ttm_capture *c = &t->p->capture;
  const ttm_opening *row = &c->openings.at[at];
  uint64_t n = 0;
  for (size_t i = at; i < c->openings.n; i++) n += is_alike(row, &c->openings.at[i]);
  ttm_say(&t->text, t->f, "device {}", TTM_COUNT(row->rank));
  if (c->recording.processes > 1) ttm_say(&t->text, t->f, " of process {}", TTM_COUNT(row->process));
  if (n > 1) ttm_say(&t->text, t->f, " and {} alike", TTM_COUNT(n - 1));
  if (ttm_chips_in(row->chips) > 1)
    ttm_say(&t->text, t->f, ", {} that hold the same", TTM_PLURAL(ttm_chips_in(row->chips), "chip"));
  ttm_say(&t->text, t->f, ": DRAM peak {}", TTM_BYTES(row->peak[TTM_DRAM]));
  if (row->total[TTM_DRAM]) ttm_say(&t->text, t->f, " of {}", TTM_BYTES(row->total[TTM_DRAM]));
  ttm_say(&t->text, t->f, " per bank, L1 tensors {}", TTM_BYTES(row->peak[TTM_L1]));
  ttm_tell_point(t, TTM_NO_FIGURE, TTM_NONE);
}

/* A mesh whose submeshes hold everything has nothing to tell. */
static bool is_empty(const ttm_opening *row) {
  for (int m = 0; m < TTM_MEMORIES; m++)
    if (row->peak[m]) return false;
  return true;
}

void ttm_tell_devices(ttm_teller *t) {
  const ttm_capture *c = &t->p->capture;
  const ttm_recording *r = &c->recording;
  size_t devices = t->p->ranks.n, opened = c->openings.n, rows = 0;
  uint64_t chips = ttm_chips_in(r->chips);
  if (!opened || (opened < 2 && chips < 2)) return;
  ttm_tell(t, "peak.devices", TTM_TOPIC_PEAK, TTM_SEVERITY_NOTE, TTM_MEASURED);
  if (opened == 1) {
    ttm_headline(t, "A mesh of {} that hold the same: figures are of one chip", TTM_PLURAL(chips, "chip"));
    ttm_tell_quantity(t, "chips", "", (double)chips);
    return;
  }
  ttm_say(&t->text, t->f, "{}", TTM_PLURAL(devices, "device"));
  if (opened > devices) ttm_say(&t->text, t->f, " opened {} times", TTM_COUNT(opened));
  if (r->processes > 1) ttm_say(&t->text, t->f, " by {} processes", TTM_COUNT(r->processes));
  if (chips > 1) ttm_say(&t->text, t->f, " on {}", TTM_PLURAL(chips, "chip"));
  ttm_say(&t->text, t->f, ": figures are of one chip, peaks of the fullest");
  ttm_tell_headline(t);
  ttm_tell_quantity(t, "chips", "", (double)chips);
  ttm_tell_quantity(t, "devices", "", (double)devices);
  ttm_tell_quantity(t, "opened", "", (double)opened);
  ttm_tell_quantity(t, "processes", "", (double)r->processes);
  if (devices == 1 && c->tests.n) return; /* a device for each test: they tell their peaks */
  for (size_t i = 0; i < opened && rows < MOST_ROWS; i++)
    if (first_alike(c, i) == i && !is_empty(&c->openings.at[i])) tell_row(t, i), rows++;
}
