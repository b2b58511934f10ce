/* SPDX-License-Identifier: Apache-2.0 */
/* `ttmem fit`: a line per board, why not where it does not fit, and how sure all that is. */
#include "report/run/fit_text.h"

#include "analyze/words.h"
#include "base/format.h"

static void put_refusal(const ttm_fit_board *row, const ttm_findings *f, ttm_text_form form, ttm_buf *out) {
  ttm_buf_printf(out, "          %s: needs %.2f MB/bank of %s, largest free block %.2f MB, ",
                 ttm_verdict_name(row->verdict), ttm_mib(row->needed), ttm_memory_name(row->memory),
                 ttm_mib(row->largest));
  if (row->unexplained) return ttm_buf_puts(out, "which no\n          operation of the log explains\n");
  if (row->refused_op == TTM_NONE) return ttm_buf_puts(out, "where the log itself ends\n");
  ttm_buf_puts(out, "for\n          ");
  ttm_words_index(out, f, row->refused_op);
  ttm_buf_char(out, ' ');
  ttm_put_text(out, ttm_words_name(f->profile, row->refused_op), 30, form);
  ttm_buf_char(out, ' ');
  ttm_put_text(out, ttm_words_location(f->profile, row->refused_op), 34, form);
  ttm_buf_printf(out, ", log line %u\n", f->profile->ops.at[row->refused_op].line);
}

static void put_board(const ttm_fit_board *row, bool cut_short, const ttm_findings *f, const ttm_summary_style *style,
                      ttm_buf *out) {
  ttm_text_form form = style->utf8 ? TTM_FORM_UTF8 : TTM_FORM_ASCII;
  const char *times = style->utf8 ? "\xC3\x97" : "x";
  if (style->color) ttm_buf_puts(out, row->fits ? "\x1b[32m" : "\x1b[31m");
  ttm_buf_printf(out, "%-8s  %-4s", row->board->name, row->fits ? "yes" : "no");
  if (style->color) ttm_buf_puts(out, "\x1b[0m");
  uint64_t left = row->fits && row->bank_bytes > row->peak_bytes ? row->bank_bytes - row->peak_bytes : 0;
  ttm_buf_printf(out, "  %2u %s %7.2f  %8.2f %5.1f%%", row->board->dram_banks, times, ttm_mib(row->bank_bytes),
                 ttm_mib(row->peak_bytes), ttm_percent((double)row->peak_bytes, (double)row->bank_bytes));
  if (row->fits)
    ttm_buf_printf(out, "  %8.2f", ttm_mib(left));
  else
    ttm_buf_printf(out, "  %8s", "-");
  if (cut_short)
    ttm_buf_puts(out, "  ?\n");
  else if (row->largest_batch >= TTM_FIT_MOST_BATCH)
    ttm_buf_printf(out, "  over %s %d\n", times, TTM_FIT_MOST_BATCH);
  else if (row->largest_batch)
    ttm_buf_printf(out, "  %s %u\n", times, row->largest_batch);
  else
    ttm_buf_puts(out, "  -\n");
  if (!row->fits) put_refusal(row, f, form, out);
}

static void put_doubts(const ttm_fit *fit, const ttm_findings *f, const ttm_fit_options *options, ttm_buf *out) {
  if (fit->states)
    ttm_buf_printf(out, "\nHow sure  replay reproduced the largest free block of %llu of %llu states (%.1f%%)\n",
                   (unsigned long long)fit->agree, (unsigned long long)fit->states,
                   ttm_percent((double)fit->agree, (double)fit->states));
  else
    ttm_buf_puts(out, "\nHow sure  estimated: the log has no memory states to check the replay against\n");
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  if (set->known && set->by_class[TTM_ALIVE_UNACCOUNTED])
    ttm_buf_printf(out, "          %.2f MB/bank at the peak come from nowhere in the log; spread evenly here\n",
                   ttm_mib(set->by_class[TTM_ALIVE_UNACCOUNTED]));
  if (fit->cut_short)
    ttm_buf_puts(out, "          the log ends out of memory: what would have followed is not counted\n");
  if (options->weights_dtype) {
    ttm_buf_printf(out, "          %llu weight tensors taken as %s\n", (unsigned long long)fit->converted_weights,
                   options->weights_dtype);
    if (fit->weights_from_host)
      ttm_buf_puts(out, "          weights that were on the device before the log are as they were\n");
  }
  ttm_buf_puts(out, "          batch: the first dim of every activation, input and cache grows; the rest stays\n");
  ttm_buf_puts(out, "          per chip, no trace region, no profiler build; kernels' circular buffers not counted\n");
}

int ttm_fit_write(const ttm_fit *fit, const ttm_findings *f, const ttm_fit_options *options, unsigned boards,
                  const ttm_summary_style *style, ttm_buf *out) {
  if (style->color) ttm_buf_puts(out, "\x1b[1m");
  ttm_buf_puts(out, "Board     fits  DRAM banks, MB  peak, MB/bank    headroom  largest batch\n");
  if (style->color) ttm_buf_puts(out, "\x1b[0m");
  for (size_t b = 0; b < TTM_BOARDS; b++) {
    if (boards >> b & 1) put_board(&fit->boards[b], fit->cut_short, f, style, out);
  }
  put_doubts(fit, f, options, out);
  return out->failed ? TTM_ENOMEM : TTM_OK;
}
