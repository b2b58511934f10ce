/* SPDX-License-Identifier: Apache-2.0 */
/* Every fix in words, once. */
#include "analyze/fix.h"
#include "analyze/say.h"
#include "analyze/words.h"
#include "parse/metal_log.h"

const char *ttm_remedy_name(ttm_remedy_kind kind) {
  static const char *const names[] = {
      "dtype",        "divide",          "dram",         "board",          "l1_small",
      "trace",        "buffers",         "blocks",       "l1_tensors",     "less_small",
      "kernel",       "worker_l1",       "per_core",     "about",          "config",
      "chips",        "cache",           "cache_dtype",  "mesh",           "free",
      "release_kept", "weights_dtype",   "free_earlier", "move_pin",       "no_upcast",
      "one_form",     "reshape",         "wider_rows",   "row_major",      "stop_leak",
      "preallocate",  "allocate_before", "free_before",  "compile_before", "keep_input"};
  return names[kind];
}

/* "model.embed_tokens.weight (log line 90) and 3 more", "Attention.layer_past ×50"; the operation, where the tensor has no name. */
static void put_subject(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r) {
  const ttm_alive_row *row = r->row < f->alive_set[TTM_DRAM].rows.n ? &f->alive_set[TTM_DRAM].rows.at[r->row] : NULL;
  if (r->name)
    ttm_say(out, f, "{}", TTM_TEXT(ttm_profile_string(f->profile, r->name)));
  else if (r->op != TTM_NONE)
    ttm_say(out, f, "{}", TTM_OP(r->op));
  else if (row)
    ttm_say(out, f, "argument {}", TTM_COUNT(row->arg));
  if (r->caches > 1)
    ttm_say(out, f, " ×{}", TTM_COUNT(r->caches));
  else if (r->count > 1 && r->kind < TTM_FIX_STOP_LEAK)
    ttm_say(out, f, " and {} more", TTM_COUNT(r->count - 1));
}

static const ttm_waste *padding_of(const ttm_findings *f, uint32_t row) {
  for (size_t i = 0; i < f->wastes.n; i++) {
    if (f->wastes.at[i].row == row && f->wastes.at[i].kind >= TTM_WASTE_PADDING) return &f->wastes.at[i];
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
  ttm_say(out, f, " from {} to {}, {}: frees {} per bank", TTM_WORDS(from), TTM_WORDS(to),
          TTM_WORDS(r->kind == TTM_FIX_RESHAPE ? "which needs fewer tiles" : "whose rows fill the alignment"),
          TTM_MB_OF(r->bytes));
}

static void put_board(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r) {
  const ttm_board *board = ttm_board_find(ttm_str_of(r->board));
  uint64_t bank = board ? ttm_board_dram_bank(board, 0, false) : 0;
  ttm_say(out, f, "Use a {}: about {} of {} per bank would be in use there", TTM_WORDS(r->board), TTM_NUMBER(r->bytes),
          TTM_MB_OF(bank));
}

/* The tensors in the way of a program's buffers; what a message does not name can only be counted. */
static void put_l1_tensors(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r, const ttm_incident_text *what) {
  if (!r->count)
    return ttm_say(out, f, "Free the L1 tensors below address {} first, or put them in DRAM",
                   TTM_COUNT(what ? what->buffers_end : 0));
  ttm_buf_puts(out, r->op == TTM_NONE ? "Put the tensor in the way" : "Put the result of ");
  put_subject(out, f, r);
  ttm_say(out, f, " ({} per core) in DRAM", TTM_BYTES(r->bytes));
  if (r->check != TTM_FIX_ESTIMATED)
    ttm_say(out, f, ", or free {} before: the buffers then fit", TTM_WORDS(r->count > 1 ? "them" : "it"));
}

/* "32 blocks of 64 tokens", or what each user has room for. */
static void put_cache(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r) {
  const ttm_tensor_type *type = &f->profile->types.at[f->alive_set[TTM_DRAM].rows.at[r->row].type].tensor;
  uint64_t users = type->shape.at[0], tokens = type->shape.at[2];
  ttm_buf_puts(out, "Make the KV cache smaller: ");
  put_subject(out, f, r);
  if (ttm_is_paged_cache(type))
    ttm_say(out, f, " with {} blocks of {} tokens instead of {} (max_num_blocks), {} tokens in all",
            TTM_COUNT(users / r->count), TTM_COUNT(tokens), TTM_COUNT(users), TTM_COUNT(users / r->count * tokens));
  else
    ttm_say(out, f, " with {} tokens instead of {} (max_seq_len)", TTM_COUNT(tokens / r->count), TTM_COUNT(tokens));
  if (users > 1 && !ttm_is_paged_cache(type))
    ttm_say(out, f, ", or for {} users instead of {}", TTM_COUNT(users > r->count ? users / r->count : 1),
            TTM_COUNT(users));
  ttm_say(out, f, "; frees {} per bank", TTM_MB_OF(r->bytes));
  if (r->room)
    ttm_say(out, f, ", room for about {} of them with what each layer adds, {} were made", TTM_COUNT(r->room),
            TTM_COUNT(r->caches));
}

/* Every block that must go, by the operation that made it. */
static void put_blocks(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r) {
  ttm_buf_puts(
      out, r->tried.rest ? "Free before it, for nothing uses it any more: " : "Free before it, if no longer needed: ");
  for (uint32_t i = 0; i < r->block_count; i++) {
    if (i) ttm_buf_puts(out, i + 1 < r->block_count ? ", " : " and ");
    ttm_say(out, f, "the result of {}", TTM_OP(f->profile->tensors.at[r->blocks[i]].birth));
  }
  ttm_say(out, f, "; {} per bank, beside free blocks", TTM_MB_OF(r->bytes));
}

/* The same for the whole program, the rest of which its module tells. */
static void put_whole(ttm_buf *out, const ttm_findings *f, const ttm_tried *tried) {
  if (tried->rest_fits > 0) return ttm_buf_puts(out, ", the whole program then fits");
  if (tried->rest_fits < 0)
    return ttm_buf_puts(out, ", what failed then fits, and so does the rest as far as its module is understood");
  ttm_buf_puts(out, ", what failed then fits, but ");
  if (tried->refused_row != TTM_NO_ROW)
    ttm_say_module_op(out, tried->rest, tried->refused_row);
  else
    ttm_buf_puts(out, "what follows");
  ttm_say(out, f, " is short by {} per bank", TTM_MB_OF(tried->shortfall));
}

/* What the trial of the fix came to; `own`: the fix is of a failure, which it ends. */
static void put_tried(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r, bool own) {
  const ttm_tried *tried = &r->tried;
  if (!tried->change.n) return;
  bool dies = tried->rest && !tried->rest_fits; /* the peak before that is of no use */
  if (r->kind != TTM_FIX_BOARD && !dies)
    ttm_say(out, f, "; peak then {}{} per bank", TTM_WORDS(tried->rest_fits != 1 ? "at least " : ""),
            TTM_MB_OF(tried->peak));
  if (!ttm_memory_failures(f->profile)) return; /* other errors are not about room */
  if (tried->rest && (own || tried->fits > 0)) return put_whole(out, f, tried);
  if (tried->fits < 0) return;
  ttm_buf_puts(out, !tried->fits
                        ? own ? ", what failed then fits, other failures stay" : ", what failed still does not fit"
                    : tried->rest_fits < 0 ? ", what failed then fits"
                    : tried->rest_fits     ? ", what failed and all recorded after it then fit"
                                           : ", what failed then fits, what follows does not");
}

/* Against an error that tells no numbers to go by. */
static const char *cure_of(ttm_incident_about about) {
  switch (about) {
    case TTM_ABOUT_TRACE_OVERLAP:
      return "Open the device with a trace_region_size, so that traces have memory of their own (if it is too small, "
             "ttnn says what it needs), or allocate the tensors of the trace before it is captured";
    case TTM_ABOUT_TRACE_OTHER:
      return "Release the other trace before this one is captured, or open the device with a trace_region_size";
    case TTM_ABOUT_TRACE_UNSAFE:
      return "Allocate the buffers before the trace is captured, or free them before it is replayed; 'ttmem run' "
             "records which of them lie where the trace writes";
    case TTM_ABOUT_HOST_MEMORY:
      return "Keep less on the host: convert and free weights one by one, load them with memory mapping, lower the "
             "number of processes, or raise the memory limit of the container; 'ttmem run' records the host's memory";
    case TTM_ABOUT_HUGEPAGES:
      return "Set up 1 GB huge pages on the host (hugepages-setup.sh of tt-system-tools, then a reboot), give a "
             "container /dev/hugepages-1G, and end programs that still hold the device";
    default:
      return "Read the whole log: ttmem explain LOG, or the lines with 'Out of Memory' before it";
  }
}

/* Fixes that are about the refused allocation or the device's settings. */
static void put_setting(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r, const ttm_incident_text *what) {
  const char *buffers = what && what->dataflow ? "dataflow buffers" : "circular buffers";
  const char *every = r->every ? " of every layer" : "";
  bool sure = r->check != TTM_FIX_ESTIMATED;
  switch (r->kind) {
    case TTM_FIX_DTYPE:
      return ttm_say(out, f, "{}tore the tensor{} as {}: it then needs {} per bank",
                     TTM_WORDS(r->guess ? "If it holds bf16 values, s" : "S"), TTM_WORDS(every), TTM_WORDS(r->dtype),
                     TTM_MB_OF(r->bytes));
    case TTM_FIX_DIVIDE:
      return ttm_say(
          out, f, "Divide the tensor{} by {} (batch, sequence or rows in {} steps, or over {} chips): {} per bank each",
          TTM_WORDS(every), TTM_COUNT(r->count), TTM_COUNT(r->count), TTM_COUNT(r->count), TTM_MB_OF(r->bytes));
    case TTM_FIX_DRAM:
      return ttm_say(out, f, "Put the tensor{} in DRAM instead of L1", TTM_WORDS(every));
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
      return put_l1_tensors(out, f, r, what);
    case TTM_FIX_LESS_SMALL:
      return ttm_say(out, f, "{} an l1_small_size that is {} smaller: L1 tensors then start as much higher",
                     TTM_WORDS(sure ? "Open the device with" : "If the device was opened with an l1_small_size, use"),
                     TTM_BYTES(r->bytes));
    case TTM_FIX_KERNEL:
      return ttm_say(out, f, "Make the program {} smaller: fewer kernels, smaller kernels, fewer arguments",
                     TTM_BYTES(r->bytes));
    case TTM_FIX_WORKER_L1:
      return ttm_say(out, f,
                     "Open the device with worker_l1_size of at most {} on Wormhole, {} on Blackhole: the kernel "
                     "config buffer grows by what L1 for tensors loses",
                     TTM_COUNT(ttm_worker_l1_beside(TTM_ARCH_WORMHOLE, r->bytes)),
                     TTM_COUNT(ttm_worker_l1_beside(TTM_ARCH_BLACKHOLE, r->bytes)));
    case TTM_FIX_PER_CORE:
      return ttm_buf_puts(out, "Allocate the tensor before the per-core buffers, or free those that lie in its way");
    case TTM_FIX_ABOUT:
      return ttm_buf_puts(out, cure_of(what->about));
    case TTM_FIX_CONFIG:
      return ttm_buf_puts(out, ttm_metal_mistake_find(what->text)->cure);
    case TTM_FIX_CHIPS:
      return ttm_say(out, f, "Spread the weights over {} chips: {} on each", TTM_COUNT(r->count), TTM_BYTES(r->bytes));
    case TTM_FIX_CACHE:
      return put_cache(out, f, r);
    case TTM_FIX_CACHE_DTYPE:
      ttm_say(out, f, "Store the KV cache as {}: ", TTM_WORDS(r->dtype));
      put_subject(out, f, r);
      return ttm_say(out, f, "; frees {} per bank", TTM_MB_OF(r->bytes));
    case TTM_FIX_MESH:
      return ttm_say(out, f, "Run it on {} chips, weights and KV heads divided over them: about {} per bank on each",
                     TTM_COUNT(r->count), TTM_MB_OF(r->bytes));
    default: /* one block is needed: what lies elsewhere adds nothing to the largest one */
      return ttm_say(out, f,
                     "Free {} per bank beside the largest free block, or one block of {}: as much in other places "
                     "does not help",
                     TTM_MB_OF(r->bytes), TTM_MB_OF(what ? what->needed_per_bank : r->bytes));
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
      [TTM_FIX_ROW_MAJOR] =
          "Keep the embedding table in row-major layout, for of one in tiles each look-up makes all rows: ",
      [TTM_FIX_STOP_LEAK] = "Free what every run leaves behind: the result of ",
      [TTM_FIX_PREALLOCATE] = "Allocate the cache once at its full length and write into it: the result of ",
  };
  bool loop = f->profile->kind == TTM_LOG_CAPTURE;
  bool leak = r->kind == TTM_FIX_STOP_LEAK;
  ttm_buf_puts(out, leak && loop ? "Free what every iteration leaves behind: the result of " : words[r->kind]);
  put_subject(out, f, r);
  if (r->every && r->kind == TTM_FIX_FREE_EARLIER) ttm_buf_puts(out, ", in every layer");
  if (r->kind == TTM_FIX_MOVE_PIN)
    return ttm_say(out, f, "; joins free blocks to one of {} per bank", TTM_MB_OF(r->bytes));
  ttm_say(out, f, "; frees {} per bank", TTM_MB_OF(r->bytes));
  if (leak) ttm_say(out, f, " after {}", TTM_PLURAL(r->count, loop ? "iteration" : "run"));
}

/* Fixes of traces. The allocator gives nothing the place of what is alive. */
static void put_trace(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r) {
  static const char *const words[] = {"Allocate the result of ", "Free the result of ", "Call ", "Keep the result of "};
  static const char *const why[] = {
      " before the capture begins in {}: the trace then leaves its addresses alone, and the capture has room",
      " before the replay in {}, or have it read before",
      " once before the capture begins in {}: its kernels then lie where no replay writes",
      " alive until the trace is released, and copy new values into it: {} needs it"};
  int which = (int)r->kind - TTM_FIX_ALLOCATE_BEFORE;
  ttm_say(out, f, "{}{}", TTM_WORDS(words[which]), TTM_OP(r->op));
  if (r->count > 1) ttm_say(out, f, " ×{}", TTM_COUNT(r->count));
  ttm_say(out, f, why[which], TTM_OP(r->trace_op));
}

/* ---- Lines to paste ----------------------------------------------------------------------------------------------------- */

enum { MOST_LINES = 24 }; /* a model has fewer groups of weights */

/* A name of the log as a pattern of fnmatch over the parameters' names. torch.export writes "l__self___model_fc_weight": what was a dot and
 * what was an underscore is not known then. */
static void put_override(ttm_buf *out, ttm_str name) {
  static const ttm_str exported = {"l__self___", 10};
  bool is_exported = ttm_str_starts(name, exported);
  if (is_exported) name = ttm_str_from(name, exported.n);
  ttm_buf_puts(out, "    \"");
  for (size_t i = 0; i < name.n; i++) {
    char c = name.p[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '*';
    ttm_buf_char(out, plain || (c == '_' && !is_exported) ? c : '?');
  }
  ttm_buf_puts(out, "\": \"bfp_bf8\",\n");
}

/* The groups of the rows that the fix is about, which are the largest ones. */
static size_t put_overrides(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  bool said[TTM_ALIVE_ROWS] = {false};
  size_t lines = 0;
  uint64_t count = 0;
  for (size_t i = 0; i < set->rows.n && count < r->count; i++) {
    const ttm_alive_row *row = &set->rows.at[i];
    if (!row->name || !ttm_alive_row_bfp8_saves(f, row)) continue;
    count += row->tensors;
    if (row->group == TTM_NONE || said[row->group]) continue;
    said[row->group] = true;
    if (++lines <= MOST_LINES) put_override(out, set->groups.at[row->group].name);
  }
  return lines;
}

/* The call of the capture that made a tensor, with another keyword: "ttnn.empty(..., dtype=ttnn.bfloat8_b)  # model.py:7". */
static void put_call(ttm_buf *out, const ttm_findings *f, uint32_t op, const char *keyword) {
  ttm_str name = ttm_profile_string(f->profile, ttm_op_text_of(f->profile, op)->name);
  ttm_say(out, f, "{}(..., {})  # {}\n", TTM_TEXT(name), TTM_WORDS(keyword),
          TTM_TEXT(ttm_words_location(f->profile, op)));
}

static void paste_weights(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  uint64_t count = 0;
  if (f->profile->kind == TTM_LOG_CAPTURE) {
    for (size_t i = 0, lines = 0; i < set->rows.n && lines < MOST_LINES && count < r->count; i++) {
      if (!ttm_alive_row_bfp8_saves(f, &set->rows.at[i])) continue;
      count += set->rows.at[i].tensors;
      put_call(out, f, set->rows.at[i].op, "layout=ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b");
      lines++;
    }
    return;
  }
  ttm_buf overrides = {0};
  size_t lines = put_overrides(&overrides, f, r);
  /* Of every weight the compiler converts those of matrix products only. */
  if (!lines || lines > MOST_LINES || r->every)
    ttm_buf_clear(&overrides), ttm_buf_puts(&overrides, "    \"default\": \"bfp_bf8\",\n");
  ttm_buf_puts(out,
               "from tt_torch import apply_weight_dtype_overrides\n"
               "apply_weight_dtype_overrides(model, {  # before torch.compile\n");
  ttm_buf_put(out, ttm_buf_str(&overrides));
  ttm_buf_puts(out, "})\n");
  out->failed |= overrides.failed;
  ttm_buf_free(&overrides);
}

void ttm_say_paste(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r) {
  bool captured = f && f->profile->kind == TTM_LOG_CAPTURE;
  if (f && r->kind == TTM_FIX_WEIGHTS) paste_weights(out, f, r);
  if (captured && r->kind == TTM_FIX_DTYPE && r->op < f->profile->ops.n)
    put_call(out, f, r->op,
             !strcmp(r->dtype, "bf16")   ? "dtype=ttnn.bfloat16"
             : !strcmp(r->dtype, "bfp8") ? "dtype=ttnn.bfloat8_b"
                                         : "dtype=ttnn.bfloat4_b");
  if (captured && r->kind == TTM_FIX_ROW_MAJOR && r->row != TTM_NONE)
    put_call(out, f, r->op, "layout=ttnn.ROW_MAJOR_LAYOUT");
}

void ttm_say_remedy(ttm_buf *out, const ttm_findings *f, const ttm_remedy *r, const ttm_incident_text *what) {
  if (r->kind >= TTM_FIX_ALLOCATE_BEFORE)
    put_trace(out, f, r);
  else if (r->kind == TTM_FIX_RESHAPE || r->kind == TTM_FIX_WIDER_ROWS)
    put_reshape(out, f, r);
  else if (r->kind == TTM_FIX_FREE && r->block_count)
    put_blocks(out, f, r);
  else if (r->kind >= TTM_FIX_RELEASE_KEPT)
    put_tensors(out, f, r);
  else
    put_setting(out, f, r, what);
  put_tried(out, f, r, what != NULL);
  ttm_buf_printf(out, r->tried.rest ? " (%s, the rest predicted)" : " (%s)", ttm_fix_check_name(r->check));
}
