/* SPDX-License-Identifier: Apache-2.0 */
/* A history of synthetic runs, the same for the same seed, in any kind of store.
 * usage: gen_history STORE RUNS [SEED] */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/boards.h"
#include "base/hash.h"
#include "history/store.h"

enum { MODELS = 40, STEP_US = 600 * 1000000 };

static uint64_t seed;
static uint64_t draw(uint64_t run, uint64_t what) {
  uint64_t key[] = {seed, run, what};
  return ttm_hash(key, sizeof key, 0);
}

/* ---- Rows: "n" a number, "t" a text, "-" null ---------------------------------------------------------------------- */

static void put(ttm_history_rows *rows, ttm_history_table t, const char *kinds, ...) {
  va_list args;
  va_start(args, kinds);
  for (; *kinds; kinds++) {
    ttm_history_cell cell = {.known = *kinds != '-'};
    if (*kinds == 'n') cell.number = va_arg(args, int64_t);
    if (*kinds == 't') {
      const char *text = va_arg(args, const char *);
      const char *kept = ttm_arena_copy(&rows->texts, ttm_str_of(text));
      rows->failed |= !kept;
      cell.text = (ttm_str){kept, strlen(text)};
    }
    rows->failed |= ttm_vec_push(&rows->at[t], cell) != TTM_OK;
  }
  va_end(args);
}

static void make(ttm_history_rows *rows, uint64_t i) {
  char model[32], commit[48];
  uint64_t m = draw(i, 1) % MODELS;
  const ttm_board *board = &ttm_boards[draw(m, 2) % TTM_BOARDS];
  int64_t time_us = 1790000000000000 + (int64_t)i * STEP_US, bank = (int64_t)ttm_board_dram_bank(board, 0, false);
  int64_t level = bank / 100 * (int64_t)(30 + draw(m, 3) % 50), noise = (int64_t)(draw(i, 4) % 1000000);
  int64_t dram = level + noise + (draw(m, 5) % 4 == 0 ? (int64_t)i * 100 : 0),
          l1 = (int64_t)(200000 + draw(i, 6) % 900000);
  if (draw(m, 13) % 3 == 0 && i % 1000 >= 500) dram += level / 10; /* a step up, and back */
  bool fails = draw(i, 7) % 50 == 0;
  snprintf(model, sizeof model, "model-%02d", (int)m);
  snprintf(commit, sizeof commit, "%016llx%016llx%08x", (unsigned long long)draw(i / 20, 8),
           (unsigned long long)draw(i / 20, 9), 0u);
  snprintf(rows->run, sizeof rows->run, "20260101-000000-%012llx", (unsigned long long)i & 0xffffffffffffu);
  const char *run = rows->run;
  put(rows, TTM_HISTORY_RUN, "tnttttttntttt-nnnn", run, time_us, model, board->name, "run", "analyze", model,
      "/logs/model.log", (int64_t)(draw(i, 10) % 100000000), "full", "host", commit, "0.2.0", INT64_C(1), INT64_C(4),
      (int64_t)(500 + draw(i, 11) % 5000), (int64_t)fails);
  put(rows, TTM_HISTORY_RUN, fails ? "t--" : "---", "Out of memory in DRAM");
  put(rows, TTM_HISTORY_DEVICE, "tnntnnnnnnn", run, INT64_C(0), INT64_C(0), "host", (int64_t)board->dram_banks, bank,
      dram, (int64_t)board->l1_banks, INT64_C(1327497), l1, (int64_t)fails);
  put(rows, TTM_HISTORY_PEAK, "ttnnnnntnnnttn", run, "DRAM", (int64_t)board->dram_banks, bank, dram, bank - dram,
      INT64_C(0), "measured", INT64_C(0), INT64_C(4711), INT64_C(12), "ttnn.matmul", "layers.3|mlp", INT64_C(8388608));
  put(rows, TTM_HISTORY_PEAK, "ttnnnnntnn----", run, "L1", (int64_t)board->l1_banks, INT64_C(1327497), l1,
      INT64_C(1327497) - l1, INT64_C(0), "measured", INT64_C(0), INT64_C(815));
  put(rows, TTM_HISTORY_PROGRAM, "tntnnnn", run, INT64_C(0), "main", INT64_C(0), INT64_C(4), INT64_C(1), dram);
  put(rows, TTM_HISTORY_PROGRAM, draw(m, 12) % 5 == 0 ? "n" : "-", INT64_C(1048576));
  static const char *const names[] = {"ttnn.matmul", "ttnn.softmax", "ttnn.add", "ttnn.to_layout"};
  for (int64_t k = 0; k < 3; k++) {
    const char *name = names[draw(m, 20 + (uint64_t)k) % 4];
    put(rows, TTM_HISTORY_EFFECT, "ttnttnnnnnn", run, "DRAM", k, name, "layers.*|mlp", level / (4 + k),
        level / (40 + k), INT64_C(18), INT64_C(4), k, INT64_C(100) + k);
  }
  put(rows, TTM_HISTORY_ALIVE, "ttntttnnn", run, "DRAM", INT64_C(0), "weights", "model.layers.*.weight",
      "ttnn.to_layout", INT64_C(18), level, INT64_C(3));
  put(rows, TTM_HISTORY_ALIVE, "ttntttnnn", run, "DRAM", INT64_C(1), "activations", "layers.*|mlp", "ttnn.matmul",
      INT64_C(4), dram - level, INT64_C(12));
  put(rows, TTM_HISTORY_STATEMENT, "tntttttt--", run, INT64_C(0), fails ? "oom.exhausted" : "peak.dram",
      fails ? "failure" : "peak", fails ? "failure" : "note", "measured", "DRAM peak",
      "A sentence of some length that tells what it was.");
}

int main(int argc, char **argv) {
  ttm_error err;
  ttm_history *history = NULL;
  if (argc < 3) return fprintf(stderr, "usage: gen_history STORE RUNS [SEED]\n"), 2;
  uint64_t runs = strtoull(argv[2], NULL, 10);
  seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 23;
  int status = ttm_history_open(&history, argv[1], true, &err);
  for (uint64_t i = 0; i < runs && !status; i++) {
    ttm_history_rows rows = {0};
    make(&rows, i);
    status = rows.failed ? ttm_error_nomem(&err) : ttm_history_add(history, &rows, &err);
    ttm_history_rows_free(&rows);
  }
  ttm_history_close(history);
  if (status) fprintf(stderr, "gen_history: %s\n", err.message);
  return status ? 1 : 0;
}
