/* SPDX-License-Identifier: Apache-2.0 */
/* <name>_memory.json. A big log has hundreds of thousands of elements, most of whose text was in the element before:
 * levels that did not change and the program around the operation are rendered once and copied. */
#include "report/files/json_parts.h"
#include "report/files/report.h"

typedef struct memory_writer {
  const ttm_findings *f;
  const ttm_profile *p;
  ttm_buf *buf;
  struct {
    bool valid;
    ttm_level level;
    ttm_buf text;
  } last[TTM_MEMORIES]; /* the memory's figures as rendered last */
  uint32_t *next;       /* by state: the following one of its rank, TTM_NONE */
  uint32_t call;        /* program rendered last */
  ttm_buf program;
} memory_writer;

/* ---- The head ---------------------------------------------------------------------------------------------------- */

static void put_config(memory_writer *w) {
  ttm_json_comma comma = {0};
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    if (!ttm_profile_config(w->p, m, &level)) continue;
    ttm_json_next(w->buf, &comma, TTM_LIT(","));
    ttm_json_memory_key(w->buf, m);
    ttm_json_raw(w->buf, "{\"num_banks\":");
    ttm_buf_u64(w->buf, level.banks);
    ttm_json_raw(w->buf, ",\"total_bytes_per_bank_MB\":");
    ttm_json_milli(w->buf, level.total);
    ttm_buf_char(w->buf, '}');
  }
}

static void put_head(memory_writer *w) {
  ttm_json_raw(w->buf, "{\"metadata\":{\"memory_config\":{");
  put_config(w);
  ttm_json_raw(w->buf, "},\"total_operations\":");
  ttm_buf_u64(w->buf, w->f->elements);
  ttm_json_raw(w->buf, "},\n\"operations\":[");
}

/* ---- One element ------------------------------------------------------------------------------------------------- */

/* Renders what all operations of a call share. */
static void render_program(memory_writer *w, uint32_t id) {
  ttm_buf *text = &w->program;
  ttm_buf_clear(text);
  w->call = id;
  const ttm_call *call = id == TTM_NONE ? NULL : &w->p->calls.at[id];
  ttm_json_raw(text, ",\"program\":");
  ttm_json_id(text, w->p, call ? call->name : 0);
  ttm_json_raw(text, ",\"run\":");
  if (call)
    ttm_buf_u64(text, call->run);
  else
    ttm_json_null(text);
  ttm_json_raw(text, ",\"rank\":");
  ttm_buf_u64(text, ttm_rank_number(w->p, call ? call->rank : 0));
  ttm_json_raw(text, ",\"const_eval_graph\":");
  ttm_json_id(text, w->p, ttm_const_eval_name(w->p, id));
}

static void render_level(ttm_buf *text, const ttm_level *level) {
  ttm_buf_clear(text);
  ttm_json_raw(text, "{\"numBanks\":");
  ttm_buf_u64(text, level->banks);
  ttm_json_raw(text, ",\"totalBytesPerBank_MB\":");
  ttm_json_milli(text, level->total);
  ttm_json_raw(text, ",\"totalBytesAllocatedPerBank_MB\":");
  ttm_json_milli(text, level->allocated);
  ttm_json_raw(text, ",\"totalBytesFreePerBank_MB\":");
  ttm_json_milli(text, level->free);
  ttm_json_raw(text, ",\"largestContiguousBytesFreePerBank_MB\":");
  ttm_json_milli(text, level->largest);
  ttm_buf_char(text, '}');
}

static bool same_level(const ttm_level *a, const ttm_level *b) {
  return a->banks == b->banks && a->total == b->total && a->allocated == b->allocated && a->free == b->free &&
         a->largest == b->largest;
}

static void put_state(memory_writer *w, uint32_t state) {
  if (state == TTM_NONE) {
    ttm_json_null(w->buf);
    return;
  }
  ttm_json_comma comma = {0};
  ttm_buf_char(w->buf, '{');
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    if (!ttm_state_level(w->p, state, m, &level)) continue;
    if (!w->last[m].valid || !same_level(&level, &w->last[m].level)) {
      render_level(&w->last[m].text, &level);
      w->last[m].level = level;
      w->last[m].valid = true;
    }
    ttm_json_next(w->buf, &comma, TTM_LIT(","));
    ttm_json_memory_key(w->buf, m);
    ttm_buf_put(w->buf, ttm_buf_str(&w->last[m].text));
  }
  ttm_buf_char(w->buf, '}');
}

static void put_live(ttm_buf *buf, const ttm_alive_sum *sum) {
  if (!sum->tensors && !sum->logical_bytes && !sum->stored_bytes) {
    ttm_json_raw(buf,
                 "{\"unpadded_bytes\":0,\"padded_bytes\":0,\"num_tensors\":0,\"unpadded_MB\":0.0,\"padded_MB\":0.0,"
                 "\"overhead_MB\":0.0,\"overhead_pct\":0}");
    return;
  }
  ttm_json_raw(buf, "{\"unpadded_bytes\":");
  ttm_buf_u64(buf, sum->logical_bytes);
  ttm_json_raw(buf, ",\"padded_bytes\":");
  ttm_buf_u64(buf, sum->stored_bytes);
  ttm_json_raw(buf, ",\"num_tensors\":");
  ttm_buf_u64(buf, sum->tensors);
  ttm_json_raw(buf, ",\"unpadded_MB\":");
  ttm_json_mib(buf, sum->logical_bytes);
  ttm_json_raw(buf, ",\"padded_MB\":");
  ttm_json_mib(buf, sum->stored_bytes);
  ttm_json_raw(buf, ",\"overhead_MB\":");
  ttm_json_mib_diff(buf, sum->stored_bytes, sum->logical_bytes);
  ttm_json_raw(buf, ",\"overhead_pct\":");
  ttm_json_percent(buf, sum->stored_bytes, sum->logical_bytes, sum->logical_bytes);
  ttm_buf_char(buf, '}');
}

/* The next state of each state's rank. ttm_state_next would look past the other ranks again and again; of one rank it is the next one. */
static int find_next_states(memory_writer *w) {
  const ttm_profile *p = w->p;
  if (p->ranks.n <= 1) return TTM_OK;
  uint32_t *latest = ttm_alloc((p->ranks.n + 1) * sizeof *latest); /* by rank, going backwards */
  w->next = ttm_alloc((p->states.n + 1) * sizeof *w->next);
  bool enough = latest && w->next;
  for (size_t r = 0; enough && r <= p->ranks.n; r++) latest[r] = TTM_NONE;
  for (size_t s = p->states.n; enough && s-- > 0;) {
    uint32_t rank = ttm_state_rank(p, (uint32_t)s);
    uint32_t *after = &latest[rank < p->ranks.n ? rank : p->ranks.n];
    w->next[s] = *after;
    *after = (uint32_t)s;
  }
  ttm_free(latest);
  return enough ? TTM_OK : TTM_ENOMEM;
}

/* The same rule as ttm_op_effect. */
static void put_effects(memory_writer *w, uint32_t state) {
  uint32_t next = TTM_NONE;
  if (state < w->p->states.n) next = w->next ? w->next[state] : ttm_state_next(w->p, state);
  bool any = false;
  for (ttm_memory m = 0; m < TTM_MEMORIES && next != TTM_NONE; m++) {
    ttm_level before, after;
    if (!ttm_state_level(w->p, state, m, &before) || !ttm_state_level(w->p, next, m, &after)) continue;
    ttm_buf_put(w->buf, any ? TTM_LIT(",") : TTM_LIT("{"));
    ttm_json_memory_key(w->buf, m);
    ttm_json_milli(w->buf, (int64_t)after.allocated - before.allocated);
    any = true;
  }
  ttm_buf_put(w->buf, any ? TTM_LIT("}") : TTM_LIT("null"));
}

static void put_element(memory_writer *w, uint32_t op, uint32_t index, const ttm_alive *live) {
  const ttm_op *row = &w->p->ops.at[op];
  const ttm_op_text *text = &w->p->texts.at[row->text];
  ttm_buf *buf = w->buf;
  ttm_buf_put(buf, index ? TTM_LIT(",\n{\"index\":") : TTM_LIT("\n{\"index\":"));
  ttm_buf_u64(buf, index);
  ttm_json_raw(buf, ",\"line\":");
  ttm_buf_u64(buf, row->line);
  ttm_json_raw(buf, ",\"op_type\":");
  ttm_json_id(buf, w->p, text->op_type);
  ttm_json_raw(buf, ",\"mlir_op\":");
  ttm_json_string(buf, ttm_profile_string(w->p, text->name));
  ttm_json_raw(buf, ",\"loc\":");
  ttm_json_id(buf, w->p, text->location);
  if (row->call != w->call || !w->program.n) render_program(w, row->call);
  ttm_buf_put(buf, ttm_buf_str(&w->program));
  ttm_json_raw(buf, ",\"const_eval_cache_miss\":");
  ttm_json_bool(buf, row->flags & TTM_OP_CACHE_MISS);
  ttm_json_raw(buf, ",\"is_weight_op\":");
  ttm_json_bool(buf, row->flags & TTM_OP_CONST_EVAL);
  ttm_json_raw(buf, ",\"memory\":");
  put_state(w, row->state);
  ttm_json_raw(buf, ",\"effect_MB\":");
  put_effects(w, row->state);
  ttm_json_raw(buf, ",\"unpadded_memory\":{\"DRAM\":");
  put_live(buf, &live->dram);
  ttm_json_raw(buf, ",\"L1\":");
  put_live(buf, &live->l1);
  ttm_json_raw(buf, "}}");
}

int ttm_report_memory_json(const ttm_findings *f, ttm_out *out, ttm_error *err) {
  memory_writer w = {.f = f, .p = f->profile, .buf = &out->buf};
  ttm_alive live;
  if (ttm_alive_init(&live, f->profile)) return ttm_error_nomem(err);
  bool failed = find_next_states(&w);
  put_head(&w);
  uint32_t index = 0;
  for (uint32_t op = 0; op < w.p->ops.n && !failed; op++) {
    ttm_alive_step(&live);
    if (!ttm_op_is_element(w.p, op)) continue;
    put_element(&w, op, index++, &live);
    ttm_out_flow(out);
  }
  ttm_buf_put(w.buf, index ? TTM_LIT("\n]}\n") : TTM_LIT("]}\n"));
  failed |= w.buf->failed || w.program.failed;
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    failed |= w.last[m].text.failed;
    ttm_buf_free(&w.last[m].text);
  }
  ttm_free(w.next);
  ttm_buf_free(&w.program);
  ttm_alive_free(&live);
  return failed ? ttm_error_nomem(err) : TTM_OK;
}
