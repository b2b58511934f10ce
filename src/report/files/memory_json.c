/* SPDX-License-Identifier: Apache-2.0 */
/* <name>_memory.json. A big log has hundreds of thousands of elements, most of whose text was in the element before:
 * levels that did not change and the program around the operation are rendered once and copied. */
#include "report/files/json_parts.h"
#include "report/files/report.h"

typedef struct memory_writer {
  const ttm_findings *f;
  const ttm_profile *p;
  ttm_json json;
  struct {
    bool present;    /* the last state has it */
    ttm_level level; /* as rendered last */
    ttm_buf text;
  } last[TTM_MEMORIES];
  uint32_t base;   /* of the state rendered last: the levels of other memories than DRAM change with it only */
  uint32_t *next;  /* by state: the following one of its rank, TTM_NONE */
  uint32_t call;   /* of the last operation */
  ttm_buf program; /* what it says about its program */
} memory_writer;

/* ---- The head ---------------------------------------------------------------------------------------------------- */

static void put_head(memory_writer *w) {
  ttm_json *j = &w->json;
  ttm_json_put_object(j, "metadata");
  ttm_json_put_object(j, "memory_config");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    if (!ttm_profile_config(w->p, m, &level)) continue;
    ttm_json_put_object(j, ttm_memory_name(m));
    ttm_json_put_u64(j, "num_banks", level.banks);
    ttm_json_put_milli(j, "total_bytes_per_bank_MB", level.total);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_put_u64(j, "total_operations", w->f->elements);
  if (ttm_state_is_predicted(w->p, TTM_NONE)) ttm_json_put_bool(j, "predicted_states", true);
  ttm_json_end(j);
}

/* ---- One element ------------------------------------------------------------------------------------------------- */

/* What all operations of a call share. */
static void put_program(memory_writer *w, uint32_t id) {
  ttm_json *j = &w->json;
  if (id == w->call && w->program.n) return ttm_buf_put(j->out, ttm_buf_str(&w->program));
  const ttm_call *call = id == TTM_NONE ? NULL : &w->p->calls.at[id];
  size_t start = j->out->n;
  ttm_json_put_id(j, "program", w->p, call ? call->name : 0);
  ttm_json_put_index(j, "run", call ? call->run : TTM_NONE);
  ttm_json_put_u64(j, "rank", ttm_rank_number(w->p, call ? call->rank : 0));
  ttm_json_put_id(j, "const_eval_graph", w->p, ttm_const_eval_name(w->p, id));
  ttm_buf_clear(&w->program);
  ttm_buf_put(&w->program, ttm_str_from(ttm_buf_str(j->out), start));
  w->call = id;
}

static void render_level(ttm_buf *text, const ttm_level *level) {
  ttm_json j = {.out = text};
  ttm_buf_clear(text);
  ttm_json_put_object(&j, NULL);
  ttm_json_put_u64(&j, "numBanks", level->banks);
  ttm_json_put_milli(&j, "totalBytesPerBank_MB", level->total);
  ttm_json_put_milli(&j, "totalBytesAllocatedPerBank_MB", level->allocated);
  ttm_json_put_milli(&j, "totalBytesFreePerBank_MB", level->free);
  ttm_json_put_milli(&j, "largestContiguousBytesFreePerBank_MB", level->largest);
  ttm_json_end(&j);
}

static bool same_level(const ttm_level *a, const ttm_level *b) {
  return a->banks == b->banks && a->total == b->total && a->allocated == b->allocated && a->free == b->free &&
         a->largest == b->largest;
}

static void render(memory_writer *w, uint32_t state, ttm_memory m) {
  ttm_level level;
  w->last[m].present = ttm_state_level(w->p, state, m, &level);
  if (!w->last[m].present) return;
  if (!w->last[m].text.n || !same_level(&level, &w->last[m].level)) render_level(&w->last[m].text, &level);
  w->last[m].level = level;
}

static void put_state(memory_writer *w, uint32_t state) {
  ttm_json *j = &w->json;
  if (state == TTM_NONE) return ttm_json_put_null(j, "memory");
  ttm_json_put_object(j, "memory");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    if (m == TTM_DRAM || w->p->states.at[state].base != w->base) render(w, state, m);
    if (w->last[m].present) ttm_json_put_raw(j, ttm_memory_name(m), ttm_buf_str(&w->last[m].text));
  }
  w->base = w->p->states.at[state].base;
  ttm_json_end(j);
}

static void put_live(ttm_json *j, const char *key, const ttm_alive_sum *sum) {
  if (!sum->tensors && !sum->logical_bytes && !sum->stored_bytes) {
    static const char nothing[] =
        "{\"unpadded_bytes\":0,\"padded_bytes\":0,\"num_tensors\":0,\"unpadded_MB\":0.0,"
        "\"padded_MB\":0.0,\"overhead_MB\":0.0,\"overhead_pct\":0}";
    return ttm_json_put_raw(j, key, (ttm_str){nothing, sizeof nothing - 1});
  }
  ttm_json_put_object(j, key);
  ttm_json_put_u64(j, "unpadded_bytes", sum->logical_bytes);
  ttm_json_put_u64(j, "padded_bytes", sum->stored_bytes);
  ttm_json_put_u64(j, "num_tensors", sum->tensors);
  ttm_json_put_mib(j, "unpadded_MB", sum->logical_bytes);
  ttm_json_put_mib(j, "padded_MB", sum->stored_bytes);
  ttm_json_put_mib_diff(j, "overhead_MB", sum->stored_bytes, sum->logical_bytes);
  ttm_json_put_percent(j, "overhead_pct", sum->stored_bytes, sum->logical_bytes, sum->logical_bytes);
  ttm_json_end(j);
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

/* As ttm_op_effect has it. */
static void put_effects(memory_writer *w, uint32_t state) {
  ttm_json *j = &w->json;
  uint32_t next = TTM_NONE;
  if (state < w->p->states.n) next = w->next ? w->next[state] : ttm_state_next(w->p, state);
  bool any = false;
  for (ttm_memory m = 0; m < TTM_MEMORIES && next != TTM_NONE; m++) {
    int64_t effect;
    if (!ttm_effect_between(w->p, state, next, m, &effect)) continue;
    if (!any) ttm_json_put_object(j, "effect_MB");
    ttm_json_put_milli(j, ttm_memory_name(m), effect);
    any = true;
  }
  any ? ttm_json_end(j) : ttm_json_put_null(j, "effect_MB");
}

static void put_element(memory_writer *w, uint32_t op, uint32_t index, const ttm_alive *live) {
  const ttm_op *row = &w->p->ops.at[op];
  const ttm_op_text *text = &w->p->texts.at[row->text];
  ttm_json *j = &w->json;
  ttm_json_put_object(j, NULL);
  ttm_json_put_u64(j, "index", index);
  ttm_json_put_u64(j, "line", row->line);
  ttm_json_put_id(j, "op_type", w->p, text->op_type);
  ttm_json_put_str(j, "mlir_op", ttm_profile_string(w->p, text->name));
  ttm_json_put_id(j, "loc", w->p, text->location);
  put_program(w, row->call);
  ttm_json_put_bool(j, "const_eval_cache_miss", row->flags & TTM_OP_CACHE_MISS);
  ttm_json_put_bool(j, "is_weight_op", row->flags & TTM_OP_CONST_EVAL);
  put_state(w, row->state);
  if (row->state != TTM_NONE && ttm_state_is_predicted(w->p, row->state))
    ttm_json_put_name(j, "memory_basis", ttm_basis_name(TTM_PREDICTED));
  put_effects(w, row->state);
  ttm_json_put_object(j, "unpadded_memory");
  put_live(j, "DRAM", &live->dram);
  put_live(j, "L1", &live->l1);
  ttm_json_end(j);
  ttm_json_end(j);
}

static void put_elements(memory_writer *w, ttm_out *out, ttm_alive *live) {
  uint32_t index = 0;
  ttm_json_put_rows(&w->json, "operations");
  for (uint32_t op = 0; op < w->p->ops.n; op++) {
    ttm_alive_step(live);
    if (!ttm_op_is_element(w->p, op)) continue;
    put_element(w, op, index++, live);
    ttm_out_flow(out);
  }
  ttm_json_end(&w->json);
}

int ttm_report_memory_json(const ttm_findings *f, ttm_out *out, ttm_error *err) {
  memory_writer w = {.f = f, .p = f->profile, .json = {.out = &out->buf}, .base = TTM_NONE};
  ttm_alive live;
  if (ttm_alive_init(&live, f->profile)) return ttm_error_nomem(err);
  bool failed = find_next_states(&w);
  ttm_json_put_sections(&w.json, NULL);
  put_head(&w);
  if (!failed) put_elements(&w, out, &live);
  ttm_json_end(&w.json);
  failed |= ttm_json_finish(&w.json) != TTM_OK;
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) ttm_buf_free(&w.last[m].text);
  ttm_free(w.next);
  ttm_buf_free(&w.program);
  ttm_alive_free(&live);
  return failed ? ttm_error_nomem(err) : TTM_OK;
}
