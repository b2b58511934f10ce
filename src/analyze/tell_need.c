/* SPDX-License-Identifier: Apache-2.0 */
/* What the whole program needs, in words. */
#include "analyze/predict.h"
#include "analyze/tell.h"
#include "base/checked.h"

static const char *const NAMES[TTM_NEEDS] = {"DRAM", "L1"};

static void say_place(ttm_teller *t, const ttm_program_need *program, const ttm_need *need, const char *before) {
  if (need->op == TTM_NO_ROW) return;
  ttm_buf_puts(&t->text, before);
  ttm_say_module_op(&t->text, program, need->op);
}

/* More than 1 % more: a smaller difference shows in no figure. */
static bool is_clearly_more(uint64_t a, uint64_t b) { return a > b + b / 100; }

static void tell_runs(ttm_teller *t, const ttm_need *need) {
  if (need->steady && (is_clearly_more(need->warm_up, need->steady) || is_clearly_more(need->steady, need->warm_up)))
    ttm_detail(t, "Warm-up {} per bank, steady state {}.", TTM_MB_OF(need->warm_up), TTM_MB_OF(need->steady));
}

static void tell_inside(ttm_teller *t, const ttm_need *need) {
  if (is_clearly_more(need->inside, need->bytes))
    ttm_detail(t, "Inside operations it is {} per bank.", TTM_MB_OF(need->inside));
}

static void tell_runner(ttm_teller *t, const ttm_program_need *program, uint64_t bytes, uint64_t other) {
  bool python = program->runner == TTM_RUNNER_PYTHON;
  if (!is_clearly_more(python ? bytes : other, python ? other : bytes)) return;
  if (python)
    ttm_detail(
        t, "That is as emitted Python, whose variables keep a buffer with a view on it; compiled it needs {} per bank.",
        TTM_MB_OF(other));
  else
    ttm_detail(t, "Emitted as Python it needs {} per bank: its variables keep a buffer with a view on it.",
               TTM_MB_OF(other));
}

static void tell_bound(ttm_teller *t, const ttm_program_need *program, int memory) {
  uint64_t inside = ttm_need_inside(program, memory);
  if (inside) {
    ttm_say(&t->text, t->f, "At least: more is taken inside {}, the first is ", TTM_PLURAL(inside, "operation"));
    ttm_say_module_op(&t->text, program, ttm_need_inside_op(program, memory));
    ttm_detail(t, ".");
  }
  if (!program->run.unknown) return;
  ttm_detail(t, "At least: {} not understood, the first in line {} of the module.",
             TTM_PLURAL(program->run.unknown, "operation"), TTM_LINE(program->module.first_bad));
}

static void tell_headline(ttm_teller *t, const ttm_program_need *program, const ttm_board_need *row, int memory,
                          bool short_of_it) {
  uint64_t bytes = row->need[memory].bytes, capacity = row->capacity[memory];
  bool finish = !t->p->predicted;
  const char *least = ttm_need_is_lower_bound(program, memory) ? "at least " : "";
  ttm_say(&t->text, t->f, finish ? "To finish, the program needs {}" : "The program needs {}", TTM_WORDS(least));
  if (bytes > capacity)
    ttm_say(&t->text, t->f, "{} of {} per bank, {} more than the {} has", TTM_MB_OF(bytes), TTM_WORDS(NAMES[memory]),
            TTM_MB_OF(bytes - capacity), TTM_WORDS(row->board->name));
  else if (short_of_it)
    ttm_say(&t->text, t->f, "{} of {} per bank, which the {} has, but no free block is large enough", TTM_MB_OF(bytes),
            TTM_WORDS(NAMES[memory]), TTM_WORDS(row->board->name));
  else
    ttm_say(&t->text, t->f, "{} of {} {} per bank", TTM_NUMBER(bytes), TTM_MB_OF(capacity), TTM_WORDS(NAMES[memory]));
  if (short_of_it) say_place(t, program, &row->need[memory], "; the peak would be at ");
  ttm_tell_headline(t);
}

static void tell_memory(ttm_teller *t, const ttm_program_need *program, const ttm_board_need *row, int memory) {
  const ttm_need *need = &row->need[memory];
  bool short_of_it = row->refused && ttm_str_eq(row->refusal.memory, ttm_str_of(NAMES[memory]));
  ttm_tell(t, memory == TTM_NEED_L1 ? "need.l1" : "need.dram", TTM_TOPIC_NEED,
           short_of_it ? TTM_SEVERITY_FAILURE : TTM_SEVERITY_NOTE, TTM_PREDICTED);
  tell_headline(t, program, row, memory, short_of_it);
  ttm_tell_quantity(t, "needed_per_bank", "B", (double)need->bytes);
  ttm_tell_quantity(t, "capacity_per_bank", "B", (double)row->capacity[memory]);
  if (need->bytes && need->op == TTM_NO_ROW)
    ttm_detail(t, "What was there before it begins is the most.");
  else if (need->bytes && !short_of_it)
    say_place(t, program, need, "The peak is at "), ttm_detail(t, ".");
  tell_runs(t, need);
  tell_inside(t, need);
  if (memory == TTM_NEED_DRAM) {
    tell_runner(t, program, need->bytes, program->other_runner[row->board - ttm_boards]);
    if (short_of_it)
      ttm_detail(
          t, "Spread evenly it would take {}.",
          TTM_PLURAL(ttm_div_up(need->bytes, row->capacity[memory]) + (need->bytes <= row->capacity[memory]), "chip"));
  }
  tell_bound(t, program, memory);
}

void ttm_tell_needs(ttm_teller *t, const ttm_program_need *program, const ttm_board_need *row) {
  tell_memory(t, program, row, TTM_NEED_DRAM);
  if (row->need[TTM_NEED_L1].bytes || program->run.l1_unknown) tell_memory(t, program, row, TTM_NEED_L1);
}

void ttm_tell_need(ttm_teller *t) {
  const ttm_prediction *all = &t->f->prediction;
  if (!all->programs.n) return;
  const ttm_program_need *whole = all->programs.at[all->whole];
  ttm_tell_needs(t, whole, &whole->boards[whole->home - ttm_boards]);
}
