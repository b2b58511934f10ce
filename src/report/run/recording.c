/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/recording.h"

#include "analyze/words.h"
#include "base/format.h"

static void put_op(ttm_buf *out, const ttm_profile *p, uint32_t op) {
  ttm_put_text(out, ttm_words_name(p, op), 60, TTM_FORM_UTF8);
  if (!ttm_op_text_of(p, op)->location) return;
  ttm_buf_puts(out, " (");
  ttm_put_text(out, ttm_words_location(p, op), 120, TTM_FORM_UTF8);
  ttm_buf_char(out, ')');
}

static void put_part(ttm_buf *out, const char *before, uint64_t bytes, const char *noun) {
  ttm_buf_puts(out, before);
  ttm_put_count(out, bytes);
  ttm_buf_puts(out, noun);
}

void ttm_words_core_use(ttm_buf *out, const ttm_profile *p, const ttm_core_use *u) {
  const ttm_core_moment *m = &u->fullest;
  const ttm_capture *c = &p->capture;
  if (!m->total) return;
  ttm_put_count(out, m->total);
  put_part(out, " of ", u->limit, " B");
  if (m->event < c->events.n) {
    ttm_buf_printf(out, " on core %u-%u in ", m->x, m->y);
    uint32_t op = c->events.at[m->event].op;
    if (op < p->ops.n)
      put_op(out, p, op);
    else
      ttm_buf_puts(out, "no operation");
  }
  put_part(out, ": tensors ", m->tensors, " B");
  if (m->small) put_part(out, ", L1_SMALL ", m->small, " B");
  put_part(out, ", circular buffers ", m->program[0], " B");
  put_part(out, ", dataflow buffers ", m->program[1], " B");
  if (m->program[2]) put_part(out, ", scratchpads ", m->program[2], " B");
  if (u->gap_event < c->events.n && u->gap >= 0)
    put_part(out, ". Nearest to a clash: ", (uint64_t)u->gap, " B between a program's buffers and the lowest tensor");
  if (c->empty_programs) {
    ttm_buf_puts(out, ". A lower bound: ");
    ttm_put_count(out, c->empty_programs);
    put_part(out, " of ", c->programs, " programs did not tell their buffers");
  }
  ttm_buf_char(out, '.');
}

int ttm_words_l1_core(ttm_buf *out, const ttm_profile *p) {
  ttm_core_use use;
  int rc = ttm_core_use_make(&use, p);
  if (!rc) ttm_words_core_use(out, p, &use);
  ttm_core_use_free(&use);
  return rc;
}

void ttm_words_holder(ttm_buf *out, const ttm_profile *p, const ttm_alive_set *set) {
  const ttm_alive_row *most = set->rows.n ? &set->rows.at[0] : NULL; /* largest first */
  if (!most || most->op >= p->ops.n) return;
  ttm_buf_puts(out, " (most: ");
  ttm_put_count(out, most->tensors);
  ttm_buf_puts(out, " of ");
  put_op(out, p, most->op);
  ttm_buf_printf(out, ", %.2f)", ttm_mib(most->bank_bytes));
}

static void put_sentence(ttm_buf *out, uint64_t n, const char *noun, const char *words) {
  if (!n) return;
  if (out->n) ttm_buf_char(out, ' ');
  ttm_put_counted(out, n, noun);
  ttm_buf_puts(out, words);
}

static void put_death(ttm_buf *out, const ttm_findings *f) {
  uint32_t last = f->profile->capture.recording.last;
  if (out->n) ttm_buf_char(out, ' ');
  ttm_buf_puts(out, "The recording stops without an end: the program was killed or crashed");
  if (last != TTM_NONE) {
    ttm_buf_puts(out, ", or still runs; the last operation it began is ");
    ttm_words_index(out, f, last);
    ttm_buf_char(out, ' ');
    put_op(out, f->profile, last);
  }
  ttm_buf_char(out, '.');
}

/* The recorder gave up, and says why; else it names the way the program ended. */
static void put_early_end(ttm_buf *out, const ttm_profile *p, uint32_t reason) {
  ttm_str why = ttm_profile_string(p, reason);
  if (!why.n || ttm_str_eq(why, TTM_LIT("exit")) || ttm_str_eq(why, TTM_LIT("os._exit"))) return;
  ttm_buf_puts(out, "The recording ends before the program does: ");
  ttm_put_text(out, why, 200, TTM_FORM_UTF8);
  ttm_buf_char(out, '.');
}

void ttm_words_recording(ttm_buf *out, const ttm_findings *f) {
  const ttm_recording *r = &f->profile->capture.recording;
  if (!r->is) return;
  if (r->ended)
    put_early_end(out, f->profile, r->reason);
  else
    put_death(out, f);
  put_sentence(out, r->lost, "operation", " before the end told only name and line: the piece was not written.");
  put_sentence(out, r->corrections, "memory view",
               " differed from the sum of what was recorded; the allocator's own figure was taken.");
  put_sentence(out, r->hole_corrections, "memory view",
               " found another largest free block than what was recorded gives.");
  put_sentence(out, r->unseen_frees, "buffer",
               " went unseen, freed by another thread, and counted until the place was used again.");
  put_sentence(out, r->traces, "trace",
               " pretended only, because ttnn cannot capture one on a mock board: operations ran as usual, replays "
               "did nothing, and TRACE memory is not counted.");
  put_sentence(out, r->elsewhere, "operation", " ran in threads that did not open the device, and told nothing.");
}
