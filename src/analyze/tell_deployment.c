/* SPDX-License-Identifier: Apache-2.0 */
/* The words of `ttmem plan`. Names of settings are those of tt-metal (models/tt_transformers/demo/simple_text_demo.py), of the plugin of
 * tenstorrent/vllm (vllm_tt_plugin/worker.py) and of tenstorrent/tt-inference-server (run.py, workflows/model_spec.py). */
#include "analyze/deployment.h"
#include "analyze/tell.h"
#include "base/checked.h"

enum { USUAL_SEQUENCES = 32 };

static void tell(ttm_teller *t, const char *id, ttm_severity severity, ttm_basis basis) {
  ttm_tell(t, id, TTM_TOPIC_NEED, severity, basis);
}

/* ---- Boards --------------------------------------------------------------------------------------------------------- */

static void say_refusal(ttm_teller *t, const ttm_deployment_board *b) {
  uint64_t shortfall;
  ttm_verdict verdict = ttm_verdict_of(&b->refusal, &shortfall);
  ttm_say_failure(&t->text, &b->refusal, verdict, shortfall);
  if (b->refused_op < t->p->ops.n) ttm_say(&t->text, t->f, ", in {}", TTM_OP(b->refused_op));
}

static void tell_room(ttm_teller *t, const ttm_deployment *d, const ttm_deployment_board *b, ttm_basis basis) {
  tell(t, "plan.cache-fits", d->cut ? TTM_SEVERITY_WARNING : TTM_SEVERITY_OK, basis);
  if (d->paged)
    ttm_say(&t->text, t->f, "{}{} of {} fit, {} tokens", TTM_WORDS(d->cut ? "≤ " : ""), TTM_PLURAL(b->blocks, "block"),
            TTM_PLURAL(d->block_tokens, "token"), TTM_COUNT(b->tokens));
  else
    ttm_say(&t->text, t->f, "{}{} tokens fit for each of {}, {} in all", TTM_WORDS(d->cut ? "≤ " : ""),
            TTM_COUNT(ttm_mul_sat(b->blocks, d->block_tokens)), TTM_PLURAL(d->users, "user"), TTM_COUNT(b->tokens));
  ttm_tell_headline(t);
  if (b->refusal.memory.n) {
    ttm_buf_puts(&t->text, "One more: ");
    say_refusal(t, b);
    ttm_buf_puts(&t->text, ". ");
  }
  ttm_say(&t->text, t->f, "DRAM then holds {} of {} per bank.", TTM_NUMBER(b->peak), TTM_MB_OF(b->bank));
  ttm_tell_detail(t);
  ttm_tell_quantity(t, "blocks", "", (double)b->blocks);
  ttm_tell_quantity(t, "tokens", "", (double)b->tokens);
}

static void tell_board(ttm_teller *t, const ttm_deployment *d, const ttm_deployment_board *b) {
  ttm_basis basis = b->same_chip ? TTM_DERIVED : TTM_ESTIMATED;
  if (b->answer == TTM_DEPLOYED_CHIPS) {
    tell(t, "plan.mesh", TTM_SEVERITY_UNKNOWN, basis);
    ttm_headline(t, "Unknown: the program is for a mesh of {}", TTM_PLURAL(d->chips, "chip"));
  } else if (!ttm_deployment_known(d)) {
    tell(t, "plan.no-cache", TTM_SEVERITY_UNKNOWN, basis);
    ttm_headline(t, "Unknown: no KV cache was recorded");
  } else if (b->answer == TTM_DEPLOYED_L1) {
    tell(t, "plan.l1", TTM_SEVERITY_UNKNOWN, basis);
    ttm_headline(t, "Unknown: L1 tensors do not fit there as recorded; record the program on this board");
  } else if (b->answer == TTM_DEPLOYED_OTHER) {
    tell(t, "plan.too-large", TTM_SEVERITY_UNKNOWN, basis);
    ttm_headline(t, "Unknown: what was recorded does not fit there");
  } else if (b->answer == TTM_DEPLOYED_NOT) {
    tell(t, "plan.full", TTM_SEVERITY_FAILURE, basis);
    ttm_say(&t->text, t->f, "Not even {} of the cache fits", TTM_PLURAL(1, d->paged ? "block" : "tile of tokens"));
    if (b->refusal.memory.n) ttm_buf_puts(&t->text, ": "), say_refusal(t, b);
    ttm_tell_headline(t);
  } else {
    tell_room(t, d, b, basis);
  }
}

/* ---- What was recorded ------------------------------------------------------------------------------------------------ */

static void tell_cache(ttm_teller *t, const ttm_deployment *d) {
  if (!ttm_deployment_known(d)) {
    tell(t, "plan.cache", TTM_SEVERITY_UNKNOWN, TTM_MEASURED);
    ttm_headline(t,
                 "No KV cache: no operation wrote into one (fill_cache, update_cache, paged_fill_cache, "
                 "paged_update_cache)");
    return;
  }
  tell(t, "plan.cache", TTM_SEVERITY_NOTE, TTM_MEASURED);
  ttm_say(&t->text, t->f, d->mixed ? "{}, the largest " : "{} of ", TTM_PLURAL(d->caches, "KV cache tensor"));
  ttm_words_type(&t->text, t->p, d->type, TTM_FORM_UTF8);
  if (d->paged)
    ttm_say(&t->text, t->f, ": {} of {}", TTM_PLURAL(d->blocks, "block"), TTM_PLURAL(d->block_tokens, "token"));
  else
    ttm_say(&t->text, t->f, ": {} for each of {}, no page table",
            TTM_PLURAL(t->p->types.at[d->type].tensor.shape.at[2], "token"), TTM_PLURAL(d->users, "user"));
  ttm_tell_headline(t);
  ttm_detail(t, "{} costs {} per chip, all tensors together.",
             TTM_WORDS(d->paged ? "A block" : "A tile of 32 tokens for every user"), TTM_BYTES(d->block_bytes));
  if (d->others) ttm_detail(t, "{} of another shape stay as recorded.", TTM_PLURAL(d->others, "cache"));
  ttm_tell_quantity(t, "block_bytes", "B", (double)d->block_bytes);
}

/* How to learn what nobody knows here. */
static void tell_how_to_learn(ttm_teller *t, const ttm_deployment *d) {
  ttm_detail(
      t,
      "A trace holds the dispatch commands of its operations, which only hardware makes: there TRACE in the report of "
      "`ttmem run` tells it, or the error \"Creating trace buffers of size N\".");
  if (d->assumed)
    ttm_detail(
        t, "The settings below reserve {} B, the default of vLLM on TT (assumed); --trace-region counts with another.",
        TTM_COUNT(d->settings_region));
}

static void tell_trace(ttm_teller *t, const ttm_deployment *d) {
  const ttm_opened_region *r = &d->trace;
  if (r->need != TTM_UNKNOWN && r->least) {
    tell(t, "plan.trace", TTM_SEVERITY_WARNING, TTM_MEASURED);
    ttm_headline(t, "trace_region_size ≥ {}: an error message asks for it, later traces may need more",
                 TTM_COUNT(r->need));
  } else if (r->need != TTM_UNKNOWN) {
    tell(t, "plan.trace", TTM_SEVERITY_NOTE, TTM_MEASURED);
    ttm_headline(t, "trace_region_size={}: what the traces took", TTM_LINE(r->need));
    if (r->in_dram)
      ttm_detail(
          t, "The device was opened with trace_region_size=0: they lay at the top of DRAM, where they still count.");
  } else {
    tell(t, "plan.trace", TTM_SEVERITY_UNKNOWN, TTM_MEASURED);
    if (d->traces)
      ttm_headline(t, "trace_region_size is unknown: {} captured, and a mock board only pretends that",
                   TTM_PLURAL(d->traces, "trace"));
    else
      ttm_headline(t, "trace_region_size is unknown: no trace was captured");
    tell_how_to_learn(t, d);
  }
  if (!ttm_deployment_known(d)) return;
  ttm_detail(t, "The boards above are counted with {} B of TRACE per chip, {}.", TTM_COUNT(d->region),
             TTM_WORDS(d->region == r->opened ? "as the device was opened" : "as asked for"));
}

static void tell_small(ttm_teller *t, const ttm_deployment *d) {
  const ttm_opened_region *r = &d->small;
  bool known = r->need != TTM_UNKNOWN;
  tell(t, "plan.l1-small",
       known && r->least                 ? TTM_SEVERITY_WARNING
       : known || r->used != TTM_UNKNOWN ? TTM_SEVERITY_NOTE
                                         : TTM_SEVERITY_UNKNOWN,
       TTM_MEASURED);
  if (known && r->least)
    ttm_headline(t, "l1_small_size ≥ {}: an error message asks for it, later operations may need more",
                 TTM_COUNT(r->need));
  else if (known)
    ttm_headline(t, "l1_small_size={}: the most that operations took of a core", TTM_LINE(r->need));
  else if (r->used != TTM_UNKNOWN)
    ttm_headline(t, "l1_small_size=0: no operation took any");
  else
    ttm_headline(t, "l1_small_size is unknown: the input does not tell L1_SMALL");
  if (r->opened != TTM_UNKNOWN && r->opened) ttm_detail(t, "The device was opened with {} B.", TTM_COUNT(r->opened));
}

/* ---- Settings --------------------------------------------------------------------------------------------------------- */

/* "trace_region_size": 1, "l1_small_size": 2 */
static void say_device(ttm_teller *t, const ttm_deployment *d) {
  ttm_buf_printf(&t->text, "\"trace_region_size\": %llu", (unsigned long long)d->settings_region);
  if (d->small.need != TTM_UNKNOWN)
    ttm_buf_printf(&t->text, ", \"l1_small_size\": %llu", (unsigned long long)d->small.need);
}

/* Of a log, and of another chip than the recorded one, the number of blocks is an estimate. */
static ttm_basis basis_of(const ttm_deployment *d) {
  return d->settings.same_chip && !d->arguments.n ? TTM_DERIVED : TTM_ESTIMATED;
}

static bool has_blocks(const ttm_deployment *d) {
  return ttm_deployment_known(d) && d->settings.answer == TTM_DEPLOYED;
}

static void point(ttm_teller *t) { ttm_tell_point(t, TTM_NO_FIGURE, TTM_NONE); }

static void tell_transformers(ttm_teller *t, const ttm_deployment *d) {
  unsigned long long blocks = d->settings.blocks, tokens = d->block_tokens;
  tell(t, "plan.tt-transformers", TTM_SEVERITY_NOTE, basis_of(d));
  ttm_headline(t, "tt_transformers on {}", TTM_WORDS(d->settings.board->name));
  if (d->assumed)
    ttm_detail(t, "Its own figures for known models are in models/model_trace_region_sizes.yaml of tt-metal.");
  if (has_blocks(d) && d->paged)
    ttm_buf_printf(&t->text, "page_params = {\"page_block_size\": %llu, \"page_max_num_blocks_per_dp\": %llu}", tokens,
                   blocks),
        point(t);
  else if (has_blocks(d))
    ttm_buf_printf(&t->text, "max_seq_len = %llu  # batch_size %llu", blocks * tokens, (unsigned long long)d->users),
        point(t);
  ttm_buf_puts(&t->text, "device_params = {");
  say_device(t, d);
  ttm_buf_char(&t->text, '}');
  point(t);
}

/* The plugin makes ceil((max_tokens_all_users + block_size * max_num_seqs) / block_size) blocks: one more for every sequence. */
static uint64_t longest(const ttm_deployment *d, uint64_t sequences) {
  return has_blocks(d) && d->paged ? ttm_mul_sat(ttm_sub_sat(d->settings.blocks, sequences), d->block_tokens) : 0;
}

static void tell_vllm(ttm_teller *t, const ttm_deployment *d, uint64_t sequences) {
  unsigned long long length = longest(d, sequences), block = d->block_tokens, n = sequences;
  tell(t, "plan.vllm", TTM_SEVERITY_NOTE, basis_of(d));
  ttm_headline(t, "vLLM on TT, {}", TTM_WORDS(d->settings.board->name));
  if (length) {
    ttm_detail(t,
               "The plugin makes a block more for every sequence, and max_model_len tokens in all unless the model "
               "says otherwise "
               "(get_max_tokens_all_users). The model's own limit may be lower.");
    ttm_buf_printf(&t->text, "--block-size %llu --max-num-seqs %llu --max-model-len %llu ", block, n, length);
  }
  ttm_buf_puts(&t->text, "--additional-config '{\"tt\": {");
  say_device(t, d);
  ttm_buf_puts(&t->text, "}}'");
  point(t);
  tell(t, "plan.tt-inference-server", TTM_SEVERITY_NOTE, basis_of(d));
  ttm_headline(t, "tt-inference-server on {}", TTM_WORDS(d->settings.board->name));
  ttm_buf_puts(&t->text, "python3 run.py ... --override-tt-config '{");
  say_device(t, d);
  ttm_buf_puts(&t->text, "}'");
  if (length)
    ttm_buf_printf(
        &t->text, " --vllm-override-args '{\"block_size\": \"%llu\", \"max_num_seqs\": %llu, \"max_model_len\": %llu}'",
        block, n, length);
  point(t);
}

static void tell_settings(ttm_teller *t, const ttm_deployment *d) {
  uint64_t sequences = d->users ? d->users : USUAL_SEQUENCES;
  tell(t, "plan.settings", TTM_SEVERITY_NOTE, basis_of(d));
  if (has_blocks(d))
    ttm_headline(t, "Settings for {} with trace_region_size={}: {}, {} tokens", TTM_WORDS(d->settings.board->name),
                 TTM_LINE(d->settings_region), TTM_PLURAL(d->settings.blocks, d->paged ? "block" : "tile"),
                 TTM_COUNT(d->settings.tokens));
  else
    ttm_headline(t, "Settings for {} with trace_region_size={}", TTM_WORDS(d->settings.board->name),
                 TTM_LINE(d->settings_region));
  tell_transformers(t, d);
  tell_vllm(t, d, sequences);
}

static void tell_confidence(ttm_teller *t, const ttm_deployment *d) {
  const ttm_recording *r = &t->p->capture.recording;
  tell(t, "plan.confidence", TTM_SEVERITY_NOTE, TTM_MEASURED);
  if (d->arguments.n)
    ttm_headline(t,
                 "Sizes were added up: the caches are not allocated in the log, so how they lie in memory is unknown");
  else
    ttm_headline(t, "The recorded allocations were replayed with larger caches through the allocator's rules");
  ttm_detail(t, "Figures are of one copy of the model, per chip; Copies counts those that a board holds side by side.");
  ttm_detail(
      t, "Another chip than the recorded one is an estimate: the program may lay tensors out in another way there.");
  if (r->is && ttm_profile_string(t->p, r->board).n)
    ttm_detail(t,
               "On hardware the kernels lie in DRAM too; their size is unknown on a mock board, so leave some room.");
  if (d->cut)
    ttm_detail(
        t, "The program did not end well: what it would have allocated is unknown, and the figures are upper bounds.");
}

int ttm_deployment_tell(ttm_deployment *d, unsigned boards) {
  ttm_teller t = {.f = d->findings, .p = d->findings->profile, .out = &d->said};
  for (size_t b = 0; b < TTM_BOARDS; b++)
    if (boards >> b & 1) tell_board(&t, d, &d->boards[b]), d->board_count++;
  tell_cache(&t, d);
  tell_trace(&t, d);
  tell_small(&t, d);
  tell_settings(&t, d);
  if (ttm_deployment_known(d)) tell_confidence(&t, d);
  ttm_buf_free(&t.text);
  return t.failed ? TTM_ENOMEM : TTM_OK;
}
