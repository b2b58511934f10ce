/* SPDX-License-Identifier: Apache-2.0 */
/* Every fix in words, once. */
#include "analyze/fix.h"
#include "analyze/say.h"
#include "analyze/words.h"
#include "parse/metal_log.h"

const char *ttm_remedy_name(ttm_remedy_kind kind) {
  static const char *const names[] = {
      "dtype",        "divide",     "dram",      "board",    "l1_small", "trace",      "buffers",      "blocks",
      "l1_tensors",   "less_small", "kernel",    "config",   "chips",    "free",       "release_kept", "weights_dtype",
      "free_earlier", "move_pin",   "no_upcast", "one_form", "reshape",  "wider_rows", "stop_leak"};
  return names[kind];
}

/* "model.embed_tokens.weight (log line 90) and 3 more"; the operation, where the tensor has no name. */
static void put_subject(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r) {
  const ttm_alive_row *row = r->row < f->alive_set[TTM_DRAM].rows.n ? &f->alive_set[TTM_DRAM].rows.at[r->row] : NULL;
  if (r->name)
    ttm_say(out, f, "{}", TTM_TEXT(ttm_profile_string(f->profile, r->name)));
  else if (r->op != TTM_NONE)
    ttm_say(out, f, "{}", TTM_OP(r->op));
  else if (row)
    ttm_say(out, f, "argument {}", TTM_COUNT(row->arg));
  if (r->count > 1 && r->kind != TTM_FIX_STOP_LEAK) ttm_say(out, f, " and {} more", TTM_COUNT(r->count - 1));
}

static const ttm_waste *padding_of(const ttm_findings *f, uint32_t row) {
  for (size_t i = 0; i < f->wastes.n; i++) {
    if (f->wastes.at[i].row == row && f->wastes.at[i].kind == TTM_WASTE_PADDING) return &f->wastes.at[i];
  }
  return NULL;
}

static void put_reshape(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r) {
  const ttm_waste *waste = padding_of(f, r->row);
  char from[160], to[160] = "";
  ttm_dims_print(&f->profile->types.at[f->alive_set[TTM_DRAM].rows.at[r->row].type].tensor.shape, from, sizeof from);
  if (waste) ttm_dims_print(&waste->better, to, sizeof to);
  ttm_buf_puts(out, "Reshape ");
  put_subject(out, f, r);
  ttm_say(out, f, " from {} to {}, which needs fewer tiles: frees {} per bank", TTM_WORDS(from), TTM_WORDS(to),
          TTM_MB_OF(r->bytes));
}

static void put_board(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r) {
  const ttm_board *board = ttm_board_find(ttm_str_of(r->board));
  uint64_t bank = board ? ttm_board_dram_bank(board, 0, false) : 0;
  ttm_say(out, f, "Use a {}: about {} of {} per bank would be in use there", TTM_WORDS(r->board), TTM_NUMBER(r->bytes),
          TTM_MB_OF(bank));
}

/* Fixes that are about the refused allocation or the device's settings. */
static void put_setting(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r, const ttm_incident_text *what) {
  const char *buffers = what && what->dataflow ? "dataflow buffers" : "circular buffers";
  bool sure = r->check != TTM_FIX_ESTIMATED;
  switch (r->kind) {
    case TTM_FIX_DTYPE:
      return ttm_say(out, f, "{}tore the tensor as {}: it then needs {} per bank",
                     TTM_WORDS(sure ? "S" : "If it holds bf16 values, s"), TTM_WORDS(r->dtype), TTM_MB_OF(r->bytes));
    case TTM_FIX_DIVIDE:
      return ttm_say(
          out, f, "Divide the tensor by {} (batch, sequence or rows in {} steps, or over {} chips): {} per bank each",
          TTM_COUNT(r->count), TTM_COUNT(r->count), TTM_COUNT(r->count), TTM_MB_OF(r->bytes));
    case TTM_FIX_DRAM:
      return ttm_buf_puts(out, "Put the tensor in DRAM instead of L1");
    case TTM_FIX_BOARD:
      return put_board(out, f, r);
    case TTM_FIX_L1_SMALL:
      return ttm_say(out, f, "Open the device with l1_small_size of at least {}; later operations may need more",
                     TTM_COUNT(r->bytes));
    case TTM_FIX_TRACE:
      return ttm_say(out, f, "Open the device with trace_region_size of at least {}", TTM_COUNT(r->bytes));
    case TTM_FIX_BUFFERS:
      return ttm_say(
          out, f, "Make the {} {} smaller on each core: {} fewer (pages per buffer, block sizes of the program config)",
          TTM_WORDS(buffers), TTM_BYTES(r->bytes), TTM_PLURAL(r->count, "bf16 tile"));
    case TTM_FIX_BLOCKS:
      return ttm_say(out, f, "Divide each core's work into {} blocks: the {} then fit", TTM_COUNT(r->count),
                     TTM_WORDS(buffers));
    case TTM_FIX_L1_TENSORS:
      return ttm_say(out, f,
                     "Free {} of L1 tensors per core first, or put them in DRAM; the tensor at address {} goes first",
                     TTM_BYTES(r->bytes), TTM_COUNT(what ? what->l1_buffer_at : 0));
    case TTM_FIX_LESS_SMALL:
      return ttm_say(out, f, "{} an l1_small_size that is {} smaller: L1 tensors then start as much higher",
                     TTM_WORDS(sure ? "Open the device with" : "If the device was opened with an l1_small_size, use"),
                     TTM_BYTES(r->bytes));
    case TTM_FIX_KERNEL:
      return ttm_say(out, f, "Make the program {} smaller: fewer kernels, smaller kernels, fewer arguments",
                     TTM_BYTES(r->bytes));
    case TTM_FIX_CONFIG:
      return ttm_buf_puts(out, ttm_metal_mistake_find(what->text)->cure);
    case TTM_FIX_CHIPS:
      return ttm_say(out, f, "Spread the weights over {} chips: {} on each", TTM_COUNT(r->count), TTM_BYTES(r->bytes));
    default:
      return ttm_say(out, f, "Free {} per bank of other tensors first", TTM_MB_OF(r->bytes));
  }
}

/* Fixes that are about tensors of the log: what to do, to which ones, why. The bytes follow. */
static void put_tensors(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r) {
  static const char *const words[] = {
      [TTM_FIX_RELEASE_KEPT] = "Release results of earlier runs before the next run: ",
      [TTM_FIX_WEIGHTS] = "Store weights as bfp8, if accuracy allows: ",
      [TTM_FIX_FREE_EARLIER] = "Free at the last use: the result of ",
      [TTM_FIX_MOVE_PIN] = "Free first, or allocate elsewhere, what pins free space: ",
      [TTM_FIX_NO_UPCAST] = "Keep in bf16 what the model gives as bf16 and the device holds as f32: ",
      [TTM_FIX_ONE_FORM] = "Keep one form of a weight (convert on the host, or free the original first): ",
      [TTM_FIX_WIDER_ROWS] = "Use longer rows or tile layout where row-major rows are shorter than the alignment: ",
      [TTM_FIX_STOP_LEAK] = "Free what every run leaves behind: the result of ",
  };
  ttm_buf_puts(out, words[r->kind]);
  put_subject(out, f, r);
  if (r->kind == TTM_FIX_MOVE_PIN)
    return ttm_say(out, f, "; joins free blocks to one of {} per bank", TTM_MB_OF(r->bytes));
  ttm_say(out, f, "; frees {} per bank", TTM_MB_OF(r->bytes));
  if (r->kind == TTM_FIX_STOP_LEAK) ttm_say(out, f, " after {}", TTM_PLURAL(r->count, "run"));
}

void ttm_say_remedy(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r, const ttm_incident_text *what) {
  if (r->kind == TTM_FIX_RESHAPE)
    put_reshape(out, f, r);
  else if (r->kind >= TTM_FIX_RELEASE_KEPT)
    put_tensors(out, f, r);
  else
    put_setting(out, f, r, what);
  ttm_buf_printf(out, " (%s)", ttm_fix_check_name(r->check));
}
