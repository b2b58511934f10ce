/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/fit_case.h"

#include "analyze/words.h"
#include "base/checked.h"
#include "base/error.h"
#include "l1/core_use.h"

void ttm_fit_case_free(ttm_fit_case *one) {
  ttm_buf_free(&one->board);
  ttm_buf_free(&one->why);
  ttm_buf_free(&one->stop.memory);
  ttm_buf_free(&one->stop.operation);
  ttm_buf_free(&one->stop.at);
  ttm_buf_free(&one->stop.message);
  *one = (ttm_fit_case){.exit_status = 0};
}

static int check(const ttm_fit_case *one) {
  return one->board.failed || one->why.failed || one->stop.memory.failed || one->stop.operation.failed ||
                 one->stop.at.failed || one->stop.message.failed
             ? TTM_ENOMEM
             : TTM_OK;
}

static void name_op(ttm_fit_stop *stop, const ttm_profile *p, uint32_t op) {
  if (op >= p->ops.n) return;
  ttm_buf_put(&stop->operation, ttm_words_name(p, op));
  if (ttm_op_text_of(p, op)->location) ttm_buf_put(&stop->at, ttm_words_location(p, op));
}

/* ---- Of a run ------------------------------------------------------------------------------------------------------ */

static void take_stop(ttm_fit_case *out, const ttm_incident_text *what, ttm_verdict verdict, uint64_t shortfall) {
  ttm_fit_stop *stop = &out->stop;
  out->refused = true;
  stop->kind = what->kind;
  stop->dataflow = what->dataflow;
  stop->verdict = verdict;
  stop->shortfall = shortfall;
  stop->needed = what->needed_per_bank;
  stop->free = what->free_per_bank;
  stop->largest = what->largest_free_block;
  ttm_buf_put(&stop->memory, what->memory);
  ttm_buf_put(&stop->message, what->text);
  /* What the failing operation itself had taken by then is in its message only. */
  bool dram = ttm_str_eq(what->memory, TTM_LIT("DRAM"));
  if (dram && what->allocated_per_bank != TTM_UNKNOWN && what->allocated_per_bank > out->dram_peak)
    out->dram_peak = what->allocated_per_bank;
}

static bool is_clash(ttm_incident_kind kind) {
  return kind == TTM_INCIDENT_L1_CLASH || kind == TTM_INCIDENT_L1_OVERFLOW;
}

/* The last refusal is the one that a program can have died of. */
static void read_incidents(ttm_fit_case *out, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  const ttm_incident_finding *last = NULL;
  for (size_t i = 0; i < f->incidents.n; i++) {
    ttm_incident_kind kind = p->incidents.at[f->incidents.at[i].incident].what.kind;
    if (kind != TTM_INCIDENT_FATAL) last = &f->incidents.at[i];
    out->clashes += is_clash(kind);
  }
  if (!last) return;
  const ttm_incident *incident = &p->incidents.at[last->incident];
  take_stop(out, &incident->what, last->verdict, last->shortfall);
  name_op(&out->stop, p, incident->op);
}

/* Refused where the recorder does not look: in a thread, while a trace is captured, in another process. */
static void read_last_words(ttm_fit_case *out, const ttm_last_words *last) {
  uint64_t shortfall;
  ttm_verdict verdict = ttm_verdict_of(&last->incident, &shortfall);
  take_stop(out, &last->incident, verdict, shortfall);
  out->clashes += is_clash(last->incident.kind);
  if (last->file.n)
    ttm_buf_printf(&out->stop.at, "%.*s:%llu", (int)last->file.n, last->file.p, (unsigned long long)last->line);
}

static int measure(ttm_fit_case *out, const ttm_findings *f) {
  const ttm_capture *c = &f->profile->capture;
  ttm_core_use use;
  int status = ttm_core_use_make(&use, f->profile);
  if (!status) {
    out->measured = true;
    out->operations = f->profile->ops.n;
    out->dram_banks = (uint32_t)c->board.dram_banks;
    out->dram_bank = c->board.dram_bank_bytes;
    out->dram_peak = use.peak_dram;
    out->l1_core = use.limit;
    out->l1_peak = use.fullest.total;
    out->l1_tensors = use.peak_l1;
    out->l1_programs = use.peak_program_all;
    out->silent = c->empty_programs;
  }
  ttm_core_use_free(&use);
  return status;
}

static void say_why(ttm_fit_case *out, bool opened, ttm_str last) {
  if (out->exit_status > 128)
    ttm_buf_printf(&out->why, "the program was ended by signal %d", out->exit_status - 128);
  else if (out->exit_status)
    ttm_buf_printf(&out->why, "the program ended with exit status %d", out->exit_status);
  else
    ttm_buf_puts(&out->why, "the program ended well");
  ttm_buf_puts(&out->why, opened ? "; no device memory was refused" : " and opened no ttnn device");
  if (last.n && out->exit_status) ttm_buf_puts(&out->why, ": "), ttm_buf_put(&out->why, last);
}

int ttm_fit_case_of_run(ttm_fit_case *out, const char *board, const ttm_findings *f, int exit_status,
                        const ttm_last_words *last) {
  int status = TTM_OK;
  *out = (ttm_fit_case){.exit_status = exit_status};
  ttm_buf_puts(&out->board, board);
  if (f) {
    status = measure(out, f);
    if (!status) read_incidents(out, f);
    if (!out->refused && exit_status && last->memory) read_last_words(out, last);
  }
  if (f && !exit_status)
    out->fits = TTM_FITS;
  else if (f && out->refused)
    out->fits = TTM_FITS_NOT;
  else
    say_why(out, f != NULL, last->sentence);
  return status ? status : check(out);
}

/* ---- Of a replay --------------------------------------------------------------------------------------------------- */

int ttm_fit_case_of_replay(ttm_fit_case *out, const ttm_fit_board *row, const ttm_findings *f) {
  *out = (ttm_fit_case){.exit_status = -1, .replayed = true, .measured = true};
  ttm_buf_puts(&out->board, row->board->name);
  out->fits = row->fits ? TTM_FITS : TTM_FITS_NOT;
  out->operations = f->profile->ops.n;
  out->dram_banks = row->board->dram_banks;
  out->dram_bank = row->bank_bytes;
  out->dram_peak = row->peak_bytes;
  out->l1_core = row->l1_bytes;
  out->l1_peak = out->l1_tensors = row->l1_peak;
  if (row->fits) return check(out);
  out->refused = true;
  out->stop.kind = TTM_INCIDENT_OOM;
  out->stop.verdict = row->verdict;
  out->stop.needed = row->needed;
  out->stop.free = row->room;
  out->stop.largest = row->largest;
  out->stop.shortfall = row->needed - (row->verdict == TTM_VERDICT_FRAGMENTED ? row->largest : row->room);
  ttm_buf_puts(&out->stop.memory, ttm_memory_name(row->memory));
  name_op(&out->stop, f->profile, row->refused_op);
  return check(out);
}
