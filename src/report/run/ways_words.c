/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/ways_words.h"

#include "base/format.h"

/* "9,787,392 B (9.33 MB)" */
static void amount(ttm_buf *out, uint64_t bytes) {
  ttm_put_count(out, bytes);
  ttm_buf_puts(out, " B");
  if (bytes < 1024) return;
  ttm_buf_puts(out, " (");
  ttm_put_bytes(out, bytes);
  ttm_buf_char(out, ')');
}

static const char *buffers(const ttm_incident *incident) {
  return incident->what.dataflow ? "dataflow buffers" : "circular buffers";
}

static void put_free(ttm_buf *out, const ttm_way *way, const ttm_incident *incident) {
  ttm_buf_puts(out, "Free at least ");
  amount(out, way->bytes);
  ttm_buf_puts(out, " more per bank before it");
  if (way->kind == TTM_WAY_JOIN) ttm_buf_puts(out, ", right beside the largest free block");
  if (incident->what.banks == TTM_UNKNOWN || way->kind == TTM_WAY_JOIN) return;
  ttm_buf_puts(out, ": ");
  ttm_put_bytes(out, way->bytes * incident->what.banks);
  ttm_buf_puts(out, " in all");
}

static void put_dtype(ttm_buf *out, const ttm_way *way) {
  ttm_buf_puts(out, way->basis == TTM_ESTIMATED ? "If it holds bf16 values, store it as " : "Store it as ");
  ttm_buf_printf(out, "%s: it then needs ", way->dtype);
  amount(out, way->bytes);
  ttm_buf_puts(out, " per bank");
}

static void put_divide(ttm_buf *out, const ttm_way *way) {
  ttm_buf_printf(out, "Divide it by %llu: batch, sequence or rows in %llu steps, or spread over %llu chips; ",
                 (unsigned long long)way->count, (unsigned long long)way->count, (unsigned long long)way->count);
  amount(out, way->bytes);
  ttm_buf_puts(out, " per bank then");
}

static void put_board(ttm_buf *out, const ttm_way *way) {
  const ttm_board *board = ttm_board_find(ttm_str_of(way->board));
  ttm_buf_printf(out, "Use a %s: about ", way->board);
  ttm_put_bytes(out, way->bytes);
  ttm_buf_puts(out, " of ");
  if (board) ttm_put_bytes(out, ttm_board_dram_bank(board, 0, false));
  ttm_buf_puts(out, " per bank would be in use there");
}

static void put_buffers(ttm_buf *out, const ttm_way *way, const ttm_incident *incident) {
  ttm_buf_printf(out, "Make the %s ", buffers(incident));
  amount(out, way->bytes);
  ttm_buf_puts(out, " smaller on each core: ");
  ttm_put_counted(out, way->count, "bf16 tile");
  ttm_buf_puts(out, " fewer (pages per buffer, block sizes of the program config)");
}

static void put_tensors(ttm_buf *out, const ttm_way *way, const ttm_incident *incident) {
  ttm_buf_puts(out, "Free ");
  amount(out, way->bytes);
  ttm_buf_puts(out, " of L1 tensors per core before it, or put them in DRAM; the one at address ");
  ttm_put_count(out, incident->what.l1_buffer_at);
  ttm_buf_puts(out, " is the first to go");
}

/* "model.embed_tokens.weight (log line 90) and 3 more, 9,787,392 B (9.33 MB) per bank". */
static void put_subject(ttm_buf *out, const ttm_way *way) {
  ttm_put_text(out, way->subject, 60, TTM_FORM_UTF8);
  if (way->line) ttm_buf_printf(out, " (log line %u)", way->line);
  if (way->count > 1) ttm_buf_printf(out, " and %llu more", (unsigned long long)(way->count - 1));
  ttm_buf_puts(out, way->kind == TTM_WAY_PIN ? "; one free block of " : "; gives ");
  amount(out, way->bytes);
  ttm_buf_puts(out, " per bank");
}

void ttm_words_way(ttm_buf *out, const ttm_way *way, const ttm_incident *incident) {
  switch (way->kind) {
    case TTM_WAY_FREE:
    case TTM_WAY_JOIN:
      return put_free(out, way, incident);
    case TTM_WAY_DTYPE:
      return put_dtype(out, way);
    case TTM_WAY_DIVIDE:
      return put_divide(out, way);
    case TTM_WAY_DRAM:
      return ttm_buf_puts(out, "Put the tensor in DRAM instead of L1");
    case TTM_WAY_BOARD:
      return put_board(out, way);
    case TTM_WAY_L1_SMALL:
      ttm_buf_puts(out, "Open the device with l1_small_size of at least ");
      ttm_put_count(out, way->bytes);
      return ttm_buf_puts(out, "; what follows may need more");
    case TTM_WAY_TRACE:
      ttm_buf_puts(out, "Open the device with trace_region_size of at least ");
      return ttm_put_count(out, way->bytes);
    case TTM_WAY_BUFFERS:
      return put_buffers(out, way, incident);
    case TTM_WAY_BLOCKS:
      ttm_buf_printf(out, "Cut each core's work into %llu blocks: the %s then fit", (unsigned long long)way->count,
                     buffers(incident));
      return;
    case TTM_WAY_L1_TENSORS:
      return put_tensors(out, way, incident);
    case TTM_WAY_LESS_SMALL:
      ttm_buf_puts(out, way->basis == TTM_ESTIMATED ? "If the device was opened with an l1_small_size, make it "
                                                    : "Open the device with an l1_small_size ");
      amount(out, way->bytes);
      return ttm_buf_puts(out, " smaller: every L1 tensor then moves up by as much");
    case TTM_WAY_KERNEL:
      ttm_buf_puts(out, "Make the program ");
      amount(out, way->bytes);
      return ttm_buf_puts(out, " smaller: fewer kernels, smaller kernels, fewer arguments");
    case TTM_WAY_KEPT:
      ttm_buf_puts(out, "Release results of earlier runs before it: ");
      return put_subject(out, way);
    case TTM_WAY_WEIGHTS:
      ttm_buf_printf(out, "Store as %s: ", way->dtype);
      return put_subject(out, way);
    case TTM_WAY_EARLIER:
      ttm_buf_puts(out, "Free at the last use, which was before: ");
      return put_subject(out, way);
    case TTM_WAY_CHIPS:
      ttm_buf_printf(out, "Spread the weights over %llu chips: each then holds ", (unsigned long long)way->count);
      return ttm_put_bytes(out, way->bytes);
    case TTM_WAY_PIN:
      ttm_buf_puts(out, "Allocate elsewhere, or free before: ");
      return put_subject(out, way);
  }
}

void ttm_words_weights_need(ttm_buf *out, uint64_t bytes, uint64_t capacity) {
  ttm_buf_puts(out, "The weights alone need about ");
  ttm_put_bytes(out, bytes);
  ttm_buf_puts(out, ", DRAM holds ");
  ttm_put_bytes(out, capacity);
  ttm_buf_puts(out, ": freeing more on the way does not help (estimated by those already there)");
}

bool ttm_words_too_many_weights(ttm_buf *out, const ttm_findings *f, const ttm_incident *incident) {
  const ttm_weight_demand *demand = &f->weight_demand;
  if (incident->what.kind != TTM_INCIDENT_OOM || !ttm_str_eq(incident->what.memory, TTM_LIT("DRAM"))) return false;
  if (demand->bytes <= demand->capacity) return false;
  ttm_words_weights_need(out, demand->bytes, demand->capacity);
  return true;
}
