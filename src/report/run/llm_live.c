/* SPDX-License-Identifier: Apache-2.0 */
/* What is alive at the peak, adding up to it. */
#include "report/run/llm_parts.h"

enum { SHOWN_ROWS = 20, SHOWN_MODULES = 10 };

static void put_classes(ttm_llm *r, const ttm_alive_set *set) {
  ttm_buf_puts(r->out, "| Class | MB per bank | Share |\n|-------|-------------|-------|\n");
  for (int c = 0; c < TTM_ALIVE_CLASSES; c++) {
    if (!set->by_class[c] && c != TTM_ALIVE_UNACCOUNTED) continue;
    ttm_buf_printf(r->out, "| %s | %.3f | %.1f%% |\n", ttm_words_class(r->p, (ttm_alive_class)c),
                   ttm_mib(set->by_class[c]), ttm_percent((double)set->by_class[c], (double)set->measured_bytes));
  }
  if (set->over_bytes) ttm_buf_printf(r->out, "| counted twice | -%.3f | |\n", ttm_mib(set->over_bytes));
  ttm_buf_printf(r->out, "| **measured** | **%.3f** | **100%%** |\n", ttm_mib(set->measured_bytes));
}

static void put_row(ttm_llm *r, const ttm_alive_row *row) {
  ttm_buf_printf(r->out, "| %.3f | %s%s | ", ttm_mib(row->bank_bytes), ttm_words_class(r->p, row->class),
                 row->guess ? " (estimated)" : "");
  if (row->name)
    ttm_llm_cell(r, ttm_profile_string(r->p, row->name));
  else if (row->op != TTM_NONE)
    ttm_llm_cell(r, ttm_words_location(r->p, row->op));
  else if (row->arg != TTM_NONE)
    ttm_buf_printf(r->out, "%%arg%u", row->arg);
  else
    ttm_buf_char(r->out, '-');
  if (row->tensors > 1) ttm_buf_printf(r->out, " (%u tensors)", row->tensors);
  ttm_buf_puts(r->out, " | ");
  if (row->type != TTM_NONE) {
    char shape[128];
    ttm_dims_print(&r->p->types.at[row->type].tensor.shape, shape, sizeof shape);
    ttm_buf_printf(r->out, "%s ", shape);
    ttm_llm_cell(r, r->p->types.at[row->type].tensor.storage);
  }
  ttm_buf_puts(r->out, " | ");
  if (row->op == TTM_NONE) return ttm_buf_puts(r->out, "- | - |\n");
  ttm_llm_cell(r, ttm_words_name(r->p, row->op));
  ttm_buf_printf(r->out, " | %u |\n", r->p->ops.at[row->op].line);
}

static void put_modules(ttm_llm *r, const ttm_alive_set *set) {
  if (!set->modules.n || (set->modules.n == 1 && !set->modules.at[0].path.n)) return;
  ttm_buf_printf(r->out, "\n%s by module: ", r->p->capture.recording.is ? "Tensors" : "Activations");
  for (size_t i = 0; i < set->modules.n && i < SHOWN_MODULES; i++) {
    if (i) ttm_buf_puts(r->out, ", ");
    if (set->modules.at[i].path.n)
      ttm_llm_cell(r, set->modules.at[i].path);
    else
      ttm_buf_puts(r->out, "(no module)");
    ttm_buf_printf(r->out, " %.3f MB", ttm_mib(set->modules.at[i].bank_bytes));
  }
  ttm_buf_puts(r->out, "\n");
}

static void put_set(ttm_llm *r, const ttm_alive_set *set) {
  ttm_buf_printf(r->out, "\n## Live Set at the Peak (%s)\n", ttm_memory_name(set->memory));
  ttm_buf_printf(r->out, "Derived %s the state at log line %u; %.2f%% of it is explained.\n\n",
                 r->p->kind == TTM_LOG_CAPTURE ? "from the buffers that are alive at" : "by replaying the log up to",
                 r->p->states.at[set->state].line, ttm_alive_set_quality(set));
  put_classes(r, set);
  if (set->guessed_bytes)
    ttm_buf_printf(r->out, "\nKV cache by argument name alone, so a guess: %.3f MB per bank (estimated).\n",
                   ttm_mib(set->guessed_bytes));
  if (set->padding_bytes || set->rounding_bytes)
    ttm_buf_printf(r->out, "\nOf the tensors, over all banks: padding %.2f MB, allocator rounding %.2f MB.\n",
                   ttm_mib(set->padding_bytes), ttm_mib(set->rounding_bytes));
  ttm_buf_puts(r->out,
               "\n| MB per bank | Class | Name or location | Tensor | Made by | Log line |\n"
               "|-------------|-------|------------------|--------|---------|----------|\n");
  for (size_t i = 0; i < set->rows.n && i < SHOWN_ROWS; i++) put_row(r, &set->rows.at[i]);
  unsigned long long rest = set->other_rows + (set->rows.n > SHOWN_ROWS ? set->rows.n - SHOWN_ROWS : 0);
  uint64_t bytes = set->other_bytes;
  for (size_t i = SHOWN_ROWS; i < set->rows.n; i++) bytes += set->rows.at[i].bank_bytes;
  if (rest) ttm_buf_printf(r->out, "| %.3f | | ... and %llu more | | | |\n", ttm_mib(bytes), rest);
  put_modules(r, set);
}

void ttm_llm_live_sets(ttm_llm *r) {
  for (int m = TTM_DRAM; m <= TTM_L1; m++) {
    const ttm_alive_set *set = &r->f->alive_set[m];
    if (set->known && set->measured_bytes) put_set(r, set);
  }
}
