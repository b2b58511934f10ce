/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of `ttmem fit` side by side: a table for people, JSON for scripts. */
#include "analyze/say.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/format.h"
#include "report/run/fit_case.h"
#include "report/write/json.h"

static double kib(uint64_t bytes) { return (double)bytes / 1024.0; }

static uint64_t headroom(const ttm_fit_case *c) {
  return c->dram_bank > c->dram_peak ? c->dram_bank - c->dram_peak : 0;
}

/* ---- The table ----------------------------------------------------------------------------------------------------- */

enum { MARGIN = 10 }; /* of the lines below a board */

typedef struct page {
  ttm_buf *out;
  const ttm_summary_style *style;
  ttm_text_form form;
  size_t columns; /* for text in the margin's right */
} page;

static void begin_line(const page *p) { ttm_buf_printf(p->out, "%*s", MARGIN, ""); }

static const char *const answers[] = {[TTM_FITS_UNKNOWN] = "?", [TTM_FITS_NOT] = "no", [TTM_FITS] = "yes"};

static void put_answer(const page *p, const ttm_fit_case *c) {
  static const char *const colors[] = {
      [TTM_FITS_UNKNOWN] = "\x1b[33m", [TTM_FITS_NOT] = "\x1b[31m", [TTM_FITS] = "\x1b[32m"};
  size_t start = p->out->n;
  ttm_put_text(p->out, ttm_buf_str(&c->board), MARGIN - 2, p->form);
  ttm_pad_to(p->out, start, MARGIN);
  if (p->style->color) ttm_buf_puts(p->out, colors[c->fits]);
  ttm_buf_puts(p->out, answers[c->fits]);
  if (p->style->color) ttm_buf_puts(p->out, "\x1b[0m");
}

static void put_figures(const page *p, const ttm_fit_case *c) {
  ttm_buf *out = p->out;
  ttm_buf_printf(out, "%*.2f %8.2f", 14 - (int)strlen(answers[c->fits]), ttm_mib(c->dram_peak), ttm_mib(c->dram_bank));
  if (c->fits == TTM_FITS)
    ttm_buf_printf(out, " %8.2f", ttm_mib(headroom(c)));
  else
    ttm_buf_printf(out, " %8s", "-");
  ttm_buf_printf(out, " %10.2f", ttm_mib(ttm_mul_sat(c->dram_peak, c->dram_banks)));
  ttm_buf_printf(out, " %8.1f %7.1f %8llu\n", kib(c->l1_peak), kib(c->l1_core), (unsigned long long)c->clashes);
}

/* "Out of memory in DRAM: insufficient memory, short by 1.13 MB per bank, in ttnn.add at model.py:17". */
static void put_stop(const page *p, const ttm_fit_case *c) {
  const ttm_fit_stop *stop = &c->stop;
  ttm_incident_text what = {.kind = stop->kind, .memory = ttm_buf_str(&stop->memory), .dataflow = stop->dataflow};
  ttm_buf words = {0};
  ttm_say_failure(&words, &what, stop->verdict, stop->shortfall);
  if (stop->operation.n) ttm_say(&words, NULL, ", in {}", TTM_TEXT(ttm_buf_str(&stop->operation)));
  if (stop->at.n) ttm_say(&words, NULL, " at {}", TTM_TEXT(ttm_buf_str(&stop->at)));
  if (stop->kind == TTM_INCIDENT_OOM && stop->needed != TTM_UNKNOWN)
    ttm_say(&words, NULL, "; {} per bank needed", TTM_MB_OF(stop->needed));
  if (c->fits == TTM_FITS) ttm_buf_puts(&words, "; the program went on");
  begin_line(p);
  ttm_put_paragraph(p->out, ttm_buf_str(&words), MARGIN, MARGIN, p->columns, p->form);
  ttm_buf_char(p->out, '\n');
  p->out->failed |= words.failed;
  ttm_buf_free(&words);
}

static void put_case(const page *p, const ttm_fit_case *c) {
  put_answer(p, c);
  if (c->measured) put_figures(p, c);
  if (c->fits == TTM_FITS_UNKNOWN) {
    size_t start = c->measured ? MARGIN : MARGIN + 6; /* in the line below the figures, or in their place */
    ttm_buf_printf(p->out, "%*s", c->measured ? MARGIN : 5, "");
    ttm_put_paragraph(p->out, ttm_buf_str(&c->why), start, start, MARGIN + p->columns, p->form);
    ttm_buf_char(p->out, '\n');
  } else if (c->refused) {
    put_stop(p, c);
  }
}

/* What the figures are worth. */
static void put_notes(const page *p, const ttm_fit_case *cases, size_t n) {
  uint64_t silent = 0;
  bool any = false;
  for (size_t i = 0; i < n; i++) {
    silent = cases[i].silent > silent ? cases[i].silent : silent;
    any |= cases[i].measured;
  }
  if (!any) return;
  ttm_buf_puts(p->out,
               "\nRun on mock boards: ttnn's own allocator, no kernel ran. Figures of one chip: DRAM\n"
               "holds tensors and kernels, L1 tensors, circular and dataflow buffers. Peaks of\n"
               "what does not fit are up to where it stopped.\n");
  if (silent) {
    ttm_buf_puts(p->out, "The buffers of ");
    ttm_put_counted(p->out, silent, "program");
    ttm_buf_puts(p->out, " were not recorded: L1 may hold more.\n");
  }
}

int ttm_fit_cases_write(const ttm_fit_case *cases, size_t n, const ttm_summary_style *style, ttm_buf *out) {
  page p = {out, style, style->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII,
            style->columns > 72 ? style->columns - MARGIN : 62};
  if (style->color) ttm_buf_puts(out, "\x1b[1m");
  ttm_buf_puts(out,
               "              DRAM of a bank, MB          all banks  L1 of a core, KB\n"
               "Board     fits      peak       of headroom   peak, MB     peak      of  clashes\n");
  if (style->color) ttm_buf_puts(out, "\x1b[0m");
  for (size_t i = 0; i < n; i++) put_case(&p, &cases[i]);
  put_notes(&p, cases, n);
  return out->failed ? TTM_ENOMEM : TTM_OK;
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------- */

static void json_stop(ttm_json *j, const ttm_fit_case *c) {
  const ttm_fit_stop *stop = &c->stop;
  if (!c->refused) return ttm_json_put_null(j, "incident");
  ttm_json_put_object(j, "incident");
  ttm_json_put_name(j, "kind", ttm_incident_kind_name(stop->kind));
  ttm_json_put_known_str(j, "memory", ttm_buf_str(&stop->memory));
  ttm_json_put_known_str(j, "operation", ttm_buf_str(&stop->operation));
  ttm_json_put_known_str(j, "at", ttm_buf_str(&stop->at));
  ttm_json_put_known(j, "needed_per_bank_B", stop->needed);
  ttm_json_put_known(j, "free_per_bank_B", stop->free);
  ttm_json_put_known(j, "largest_free_block_B", stop->largest);
  ttm_json_put_known(j, "shortfall_B", stop->shortfall);
  ttm_json_put_name(j, "verdict", ttm_verdict_name(stop->verdict));
  ttm_json_put_bool(j, "survived", c->fits == TTM_FITS);
  ttm_json_put_known_str(j, "message", ttm_buf_str(&stop->message));
  ttm_json_end(j);
}

static void json_case(ttm_json *j, const ttm_fit_case *c) {
  uint64_t unknown = c->measured ? 0 : TTM_UNKNOWN, unrecorded = c->replayed ? TTM_UNKNOWN : unknown;
  ttm_json_put_object(j, NULL);
  ttm_json_put_str(j, "board", ttm_buf_str(&c->board));
  c->fits == TTM_FITS_UNKNOWN ? ttm_json_put_null(j, "fits") : ttm_json_put_bool(j, "fits", c->fits == TTM_FITS);
  ttm_json_put_known(j, "peak_dram_per_bank_B", c->dram_peak | unknown);
  ttm_json_put_known(j, "capacity_dram_per_bank_B", c->dram_bank | unknown);
  ttm_json_put_known(j, "headroom_dram_per_bank_B", headroom(c) | unknown);
  ttm_json_put_known(j, "dram_banks", c->dram_banks | unknown);
  ttm_json_put_known(j, "peak_dram_B", ttm_mul_sat(c->dram_peak, c->dram_banks) | unknown);
  ttm_json_put_known(j, "peak_l1_per_core_B", c->l1_peak | unknown);
  ttm_json_put_known(j, "capacity_l1_per_core_B", c->l1_core | unknown);
  ttm_json_put_known(j, "peak_l1_tensors_per_core_B", c->l1_tensors | unknown);
  ttm_json_put_known(j, "peak_l1_programs_per_core_B", c->l1_programs | unrecorded);
  ttm_json_put_known(j, "l1_clashes", c->clashes | unrecorded);
  ttm_json_put_known(j, "programs_not_recorded", c->silent | unrecorded);
  ttm_json_put_known(j, "operations", c->operations | unknown);
  ttm_json_put_known(j, "exit_status", c->exit_status < 0 ? TTM_UNKNOWN : (uint64_t)c->exit_status);
  ttm_json_put_known_str(j, "why_unknown", ttm_buf_str(&c->why));
  json_stop(j, c);
  ttm_json_end(j);
}

int ttm_fit_cases_json(const ttm_fit_case *cases, size_t n, ttm_buf *out) {
  ttm_json j = {.out = out, .spaced = true};
  ttm_json_put_object(&j, NULL);
  ttm_json_put_u64(&j, "schema_version", 1);
  ttm_json_put_name(&j, "how", n && cases[0].replayed ? "replay" : "run");
  ttm_json_put_rows(&j, "boards");
  for (size_t i = 0; i < n; i++) json_case(&j, &cases[i]);
  ttm_json_end(&j);
  ttm_json_end(&j);
  return ttm_json_finish(&j);
}
