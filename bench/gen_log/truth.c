/* SPDX-License-Identifier: Apache-2.0 */
/* What is true about the log, collected while it is made, written as JSON. Memory is in 0.001 MiB, as in blocks. */
#include "gen_log/gen.h"

#include <stdio.h>
#include <stdlib.h>

void gen_truth_init(gen_truth *t, uint32_t ranks) {
  *t = (gen_truth){0};
  t->last = gen_alloc(ranks * sizeof *t->last);
}

void gen_truth_free(gen_truth *t) {
  for (size_t i = 0; i < t->ops.n; i++) free(t->ops.at[i].json);
  ttm_vec_free(&t->ops);
  ttm_vec_free(&t->runs);
  ttm_vec_free(&t->incidents);
  ttm_buf_free(&t->registry);
  free(t->last);
}

void gen_json_string(ttm_buf *out, const char *text) {
  if (!text) {
    ttm_buf_puts(out, "null");
    return;
  }
  ttm_buf_char(out, '"');
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') ttm_buf_char(out, '\\');
    if (c < 0x20)
      ttm_buf_printf(out, "\\u%04x", c);
    else
      ttm_buf_char(out, (char)c);
  }
  ttm_buf_char(out, '"');
}

static void key(ttm_buf *b, const char *name, const char *text) {
  ttm_buf_printf(b, ", \"%s\": ", name);
  gen_json_string(b, text);
}

/* ---- while running ---- */

static bool is(const gen_op *op, const char *name) { return !strcmp(op->name, name); }

/* The name people see: load_cached has no location of its own, so its function stands for it. */
static const char *shown_loc(const gen_op *op, char *room, size_t n) {
  if (op->loc && op->loc->name[0]) return op->loc->name;
  if (!op->callee || op->name[0] != 't') return NULL;
  snprintf(room, n, "@%s", op->callee);
  return room;
}

static void put_results(ttm_buf *b, const gen_op *op) {
  ttm_buf_puts(b, ", \"results\": [");
  bool first = true;
  for (uint32_t i = 0; i < op->n_out; i++) {
    const gen_type *t = op->out[i];
    if (t->shape.device) continue;
    ttm_buf_printf(b,
                   "%s{\"shape\": \"%s\", \"dtype\": \"%s\", \"memory\": \"%s\", \"logical\": %llu, \"stored\": %llu, "
                   "\"bank\": %llu}",
                   first ? "" : ", ", t->dims, t->shape.trace_id ? "ui32" : gen_dtype_name(t->shape.dtype),
                   t->shape.trace_id ? "NONE" : gen_memory_name(t->shape.memory), (unsigned long long)t->logical,
                   (unsigned long long)t->stored, (unsigned long long)t->block);
    first = false;
  }
  ttm_buf_char(b, ']');
}

static void put_operands(ttm_buf *b, const gen_op *op) {
  ttm_buf_puts(b, ", \"inputs\": [");
  if (op->callee) ttm_buf_printf(b, "\"@%s\"", op->callee);
  for (uint32_t i = 0; i < op->n_in; i++) {
    const gen_value *v = op->in[i];
    ttm_buf_printf(b, "%s\"%%%s%u", i || op->callee ? ", " : "", v->is_arg ? "arg" : "", v->number);
    if (v->part >= 0) ttm_buf_printf(b, "#%d", v->part);
    ttm_buf_char(b, '"');
  }
  ttm_buf_char(b, ']');
}

/* Arguments of main that the operation takes: as such, through load_cached, or (not exact) what was made of them. */
static void put_weights(ttm_buf *b, const gen_op *op) {
  bool exact = true, first = true;
  uint32_t told[GEN_MAX_OPERANDS * GEN_MAX_WEIGHTS], n = 0;
  ttm_buf_puts(b, ", \"weights\": [");
  for (uint32_t i = 0; i < op->n_in; i++)
    for (uint32_t k = 0; k < op->in[i]->n_weights; k++) {
      bool seen = false;
      for (uint32_t j = 0; j < n; j++) seen |= told[j] == op->in[i]->weights[k];
      exact &= !op->in[i]->derived;
      if (seen) continue;
      told[n++] = op->in[i]->weights[k];
      ttm_buf_printf(b, "%s%u", first ? "" : ", ", op->in[i]->weights[k]);
      first = false;
    }
  ttm_buf_printf(b, "], \"weights_exact\": %s", exact ? "true" : "false");
}

static void keep_record(gen_rank *x, gen_op *op, gen_mark line, bool reported) {
  ttm_buf b = {0};
  char room[100];
  ttm_buf_printf(&b, "\"mlir_op\": \"%s\", \"op_type\": \"%s\"", op->name, op->op_type);
  key(&b, "loc", shown_loc(op, room, sizeof room));
  if (op->n_out)
    ttm_buf_printf(&b, ", \"result\": \"%%%u\"", op->number);
  else
    ttm_buf_puts(&b, ", \"result\": null");
  put_operands(&b, op);
  key(&b, "attributes", op->attributes);
  key(&b, "program", x->frame->name);
  key(&b, "const_eval_graph", x->frame->const_eval ? x->frame->name : NULL);
  put_results(&b, op);
  put_weights(&b, op);
  ttm_buf_printf(&b, ", \"graph\": %u", x->graph);
  ttm_buf_char(&b, '\0');
  if (b.failed) gen_die("out of memory");
  op->record = x->t->ops.n;
  gen_op_truth record = {
      .json = b.at, .line = line, .rank = x->rank, .run = x->run, .reported = reported, .live_at_line = x->live};
  if (ttm_vec_push(&x->t->ops, record)) gen_die("out of memory");
}

void gen_truth_op(gen_rank *x, gen_op *op, gen_mark line) {
  gen_truth *t = x->t;
  bool frees = is(op, "ttnn.deallocate"), device = is(op, "ttnn.get_device");
  if (x->o->ops) t->op_lines++;
  t->deallocations += frees;
  t->get_device += device;
  t->reported += !frees && !device;
  gen_run_truth *run = &t->runs.at[x->run_record];
  if (!frees && !device) {
    if (!run->ops++) run->first_line = line;
    run->last_line = line;
  }
  if (x->o->truth_ops) keep_record(x, op, line, !frees && !device);
}

void gen_truth_op_done(gen_rank *x, const gen_op *op) {
  if (op->record == SIZE_MAX) return;
  gen_op_truth *record = &x->t->ops.at[op->record];
  record->live = x->live;
  record->live_known = true;
}

static void raise_peak(gen_rank *x, int m, uint32_t value, gen_mark header, gen_mark line) {
  gen_peak *p = &x->t->peak[m];
  const gen_last *last = &x->t->last[x->rank];
  /* Two ranks at the same height: which line comes first is only known after weaving. */
  if (p->known && value == p->value && p->rank != x->rank) p->doubtful = true;
  if (p->known && value <= p->value) return;
  *p = (gen_peak){.known = true, .value = value, .rank = x->rank, .line = header, .state_line = line};
  p->caused = last->known && last->is_op && value > last->state.allocated[m];
  p->doubtful = last->known && !p->caused;
  if (!p->caused) return;
  p->effect = (int32_t)(value - last->state.allocated[m]);
  p->op_line = last->line;
  p->has_loc = last->has_loc;
  snprintf(p->name, sizeof p->name, "%s", last->name);
  snprintf(p->op_type, sizeof p->op_type, "%s", last->op_type);
  memcpy(p->loc, last->loc, sizeof p->loc);
}

static void run_state(gen_run_truth *run, gen_state state) {
  if (!run->known) run->start = run->peak = state;
  run->known = true;
  run->end = state;
  for (int m = 0; m < GEN_MEMORIES; m++)
    if (state.allocated[m] > run->peak.allocated[m]) run->peak.allocated[m] = state.allocated[m];
}

void gen_truth_state(gen_rank *x, const gen_op *op, gen_state state, gen_mark header, const gen_mark *lines) {
  gen_truth *t = x->t;
  gen_last *last = &t->last[x->rank];
  t->blocks++;
  if (last->known && last->record != SIZE_MAX) {
    gen_op_truth *record = &t->ops.at[last->record];
    for (int m = 0; m < GEN_MEMORIES; m++)
      record->effect[m] = (int32_t)state.allocated[m] - (int32_t)last->state.allocated[m];
    record->effect_known = true;
  }
  for (int m = 0; m < GEN_MEMORIES; m++) raise_peak(x, m, state.allocated[m], header, lines[m]);
  if (last->known && last->run != x->run_record && !t->runs.at[last->run].next_known) {
    t->runs.at[last->run].next = state;
    t->runs.at[last->run].next_known = true;
  }
  run_state(&t->runs.at[x->run_record], state);
  last->known = true;
  last->run = x->run_record;
  last->is_op = op != NULL;
  last->state = state;
  last->record = op ? op->record : SIZE_MAX;
  if (!op) return;
  if (op->record != SIZE_MAX) {
    t->ops.at[op->record].state = state;
    t->ops.at[op->record].state_known = true;
  }
  last->name = op->name;
  last->op_type = op->op_type;
  last->line = x->op_line;
  const char *loc = shown_loc(op, last->loc, sizeof last->loc);
  last->has_loc = loc != NULL;
  if (loc && loc != last->loc) snprintf(last->loc, sizeof last->loc, "%s", loc);
}

/* ---- writing ---- */

static void put_state(ttm_buf *b, const char *name, const uint32_t *values) {
  ttm_buf_printf(b, ", \"%s\": {\"DRAM\": %u, \"L1\": %u, \"L1_SMALL\": %u, \"TRACE\": %u}", name, values[0], values[1],
                 values[2], values[3]);
}

static void put_live(ttm_buf *b, const char *name, const gen_live *live) {
  ttm_buf_printf(b, ", \"%s\": {", name);
  for (int m = 0; m < 2; m++)
    ttm_buf_printf(b, "%s\"%s\": {\"logical\": %llu, \"stored\": %llu, \"n\": %llu}", m ? ", " : "",
                   gen_memory_name((uint32_t)m), (unsigned long long)live->logical[m],
                   (unsigned long long)live->stored[m], (unsigned long long)live->n[m]);
  ttm_buf_char(b, '}');
}

static void put_op(ttm_buf *b, const gen_op_truth *op, const gen_writer *w) {
  ttm_buf_printf(b, "  {\"line\": %llu, \"rank\": %u, \"run\": %u, \"reported\": %s, \"failed\": %s, %s",
                 (unsigned long long)gen_line_number(w, op->line), op->rank, op->run, op->reported ? "true" : "false",
                 op->failed ? "true" : "false", op->json);
  if (op->state_known)
    put_state(b, "state", op->state.allocated);
  else
    ttm_buf_puts(b, ", \"state\": null");
  if (op->effect_known)
    ttm_buf_printf(b, ", \"effect\": {\"DRAM\": %d, \"L1\": %d, \"L1_SMALL\": %d, \"TRACE\": %d}", op->effect[0],
                   op->effect[1], op->effect[2], op->effect[3]);
  else
    ttm_buf_puts(b, ", \"effect\": null");
  if (op->live_known) put_live(b, "live", &op->live);
  put_live(b, "live_at_line", &op->live_at_line);
  ttm_buf_char(b, '}');
}

typedef struct placed {
  uint64_t line;
  size_t i;
} placed;

static int by_line(const void *a, const void *b) {
  const placed *x = a, *y = b;
  return x->line < y->line ? -1 : x->line > y->line;
}

static void put_ops(ttm_buf *b, const gen_truth *t, const gen_writer *w) {
  placed *order = gen_alloc(t->ops.n * sizeof *order);
  for (size_t i = 0; i < t->ops.n; i++) order[i] = (placed){gen_line_number(w, t->ops.at[i].line), i};
  qsort(order, t->ops.n, sizeof *order, by_line);
  ttm_buf_puts(b, "\"operations\": [\n");
  for (size_t i = 0; i < t->ops.n; i++) {
    put_op(b, &t->ops.at[order[i].i], w);
    ttm_buf_puts(b, i + 1 < t->ops.n ? ",\n" : "\n");
  }
  ttm_buf_puts(b, "],\n");
  free(order);
}

static void put_peaks(ttm_buf *b, const gen_truth *t, const gen_writer *w) {
  ttm_buf_puts(b, "\"peak\": {");
  for (int m = 0; m < GEN_MEMORIES; m++) {
    const gen_peak *p = &t->peak[m];
    ttm_buf_printf(b, "%s\n  \"%s\": ", m ? "," : "", gen_memory_name((uint32_t)m));
    if (!p->known) {
      ttm_buf_puts(b, "null");
      continue;
    }
    ttm_buf_printf(
        b, "{\"allocated\": %u, \"rank\": %u, \"line\": %llu, \"state_line\": %llu, \"doubtful\": %s, \"caused_by\": ",
        p->value, p->rank, (unsigned long long)gen_line_number(w, p->line),
        (unsigned long long)gen_line_number(w, p->state_line), p->doubtful ? "true" : "false");
    if (p->caused) {
      ttm_buf_printf(b, "{\"mlir_op\": \"%s\", \"op_type\": \"%s\", \"line\": %llu, \"effect\": %d", p->name,
                     p->op_type, (unsigned long long)gen_line_number(w, p->op_line), p->effect);
      key(b, "loc", p->has_loc ? p->loc : NULL);
      ttm_buf_puts(b, "}}");
    } else {
      ttm_buf_puts(b, "null}");
    }
  }
  ttm_buf_puts(b, "\n},\n");
}

static void put_runs(ttm_buf *b, const gen_truth *t, const gen_writer *w) {
  ttm_buf_puts(b, "\"runs\": [");
  for (size_t i = 0; i < t->runs.n; i++) {
    const gen_run_truth *r = &t->runs.at[i];
    ttm_buf_printf(b,
                   "%s\n  {\"rank\": %u, \"run\": %u, \"program\": \"%s\", \"finished\": %s, \"failed\": %s, "
                   "\"operations\": %llu, \"first_line\": %llu, \"last_line\": %llu",
                   i ? "," : "", r->rank, r->run, r->program, r->finished ? "true" : "false",
                   r->failed ? "true" : "false", (unsigned long long)r->ops,
                   (unsigned long long)(r->ops ? gen_line_number(w, r->first_line) : 0),
                   (unsigned long long)(r->ops ? gen_line_number(w, r->last_line) : 0));
    if (r->known) {
      put_state(b, "start", r->start.allocated);
      put_state(b, "end", r->end.allocated);
      put_state(b, "peak", r->peak.allocated);
      if (r->next_known) put_state(b, "next", r->next.allocated);
    }
    ttm_buf_char(b, '}');
  }
  ttm_buf_puts(b, "\n],\n");
}

static void put_known(ttm_buf *b, const char *name, uint64_t value) {
  if (value == UINT64_MAX)
    ttm_buf_printf(b, ", \"%s\": null", name);
  else
    ttm_buf_printf(b, ", \"%s\": %llu", name, (unsigned long long)value);
}

static void put_incidents(ttm_buf *b, const gen_truth *t, const gen_writer *w) {
  ttm_buf_puts(b, "\"incidents\": [");
  for (size_t i = 0; i < t->incidents.n; i++) {
    const gen_incident *n = &t->incidents.at[i];
    ttm_buf_printf(b, "%s\n  {\"kind\": \"%s\", \"rank\": %u, \"copies\": %u, \"line\": %llu, \"memory\": \"%s\"",
                   i ? "," : "", n->kind, n->rank, n->copies, (unsigned long long)gen_line_number(w, n->line),
                   gen_memory_name(n->memory));
    key(b, "verdict", n->verdict);
    ttm_buf_printf(b, ", \"verdict_told\": %s", n->verdict_told ? "true" : "false");
    key(b, "text", n->text);
    put_known(b, "size", n->size);
    put_known(b, "banks", n->banks);
    put_known(b, "needed", n->needed);
    put_known(b, "bank_size", n->bank_size);
    put_known(b, "allocated", n->allocated);
    put_known(b, "free", n->free);
    put_known(b, "largest", n->largest);
    put_known(b, "l1_at", n->l1_at);
    put_known(b, "ends_at", n->ends_at);
    ttm_buf_puts(b, ", \"operation\": {\"mlir_op\": ");
    gen_json_string(b, n->op);
    key(b, "loc", n->has_loc ? n->loc : NULL);
    ttm_buf_printf(b, ", \"line\": %llu}}", (unsigned long long)gen_line_number(w, n->op_line));
  }
  ttm_buf_puts(b, "\n],\n");
}

void gen_truth_write(gen_truth *t, const gen_options *o, const gen_board *board, const gen_writer *w) {
  if (!o->truth) return;
  ttm_buf b = {0};
  ttm_buf_printf(&b,
                 "{\n\"seed\": %llu, \"board\": \"%s\", \"layers\": %u, \"hidden\": %u, \"graphs\": %u, "
                 "\"const_eval\": %s, \"trace\": %s,\n",
                 (unsigned long long)o->seed, board->name, o->layers, o->hidden, o->graphs,
                 o->const_eval ? "true" : "false", o->trace ? "true" : "false");
  ttm_buf_printf(&b, "\"has\": {\"ops\": %s, \"blocks\": %s, \"submit\": %s, \"dumps\": %s},\n",
                 o->ops ? "true" : "false", o->blocks ? "true" : "false", o->submit ? "true" : "false",
                 o->dumps ? "true" : "false");
  ttm_buf_puts(&b, "\"memory\": {");
  for (int m = 0; m < GEN_MEMORIES; m++)
    ttm_buf_printf(&b, "%s\"%s\": {\"banks\": %u, \"bank_size_B\": %llu, \"capacity\": %u}", m ? ", " : "",
                   gen_memory_name((uint32_t)m), board->banks[m], (unsigned long long)board->bank_size[m],
                   gen_milli(board->bank_size[m]));
  ttm_buf_printf(&b, "},\n\"bytes\": %llu, \"lines\": %llu, \"truncated\": %s, \"ranks\": %u,\n",
                 (unsigned long long)w->bytes, (unsigned long long)(w->lines + w->unfinished),
                 t->truncated ? "true" : "false", o->ranks);
  ttm_buf_printf(&b,
                 "\"op_lines\": %llu, \"blocks\": %llu, \"cut_blocks\": %llu, \"deallocations\": %llu, \"get_device\": "
                 "%llu, \"reported\": %llu,\n",
                 (unsigned long long)t->op_lines, (unsigned long long)t->blocks, (unsigned long long)t->cut_blocks,
                 (unsigned long long)t->deallocations, (unsigned long long)t->get_device,
                 (unsigned long long)t->reported);
  put_peaks(&b, t, w);
  put_runs(&b, t, w);
  put_incidents(&b, t, w);
  if (o->truth_ops) put_ops(&b, t, w);
  ttm_buf_printf(&b, "\"registry\": [\n%.*s\n],\n\"weight_bytes\": %llu,\n", (int)t->registry.n,
                 t->registry.n ? t->registry.at : "", (unsigned long long)t->weight_bytes);
  if (t->leak_runs) {
    ttm_buf_puts(&b, "\"leak\": {\"mlir_op\": ");
    gen_json_string(&b, t->leak_op);
    key(&b, "loc", t->leak_loc);
    ttm_buf_printf(&b, ", \"per_run\": %u, \"per_run_B\": %llu, \"runs\": %u, \"uneven\": %s}\n}\n",
                   gen_milli(t->leak_block), (unsigned long long)t->leak_block, t->leak_runs,
                   o->leak_uneven ? "true" : "false");
  } else {
    ttm_buf_puts(&b, "\"leak\": null\n}\n");
  }
  FILE *file = fopen(o->truth, "w");
  if (!file || b.failed || fwrite(b.at, 1, b.n, file) != b.n || fclose(file)) gen_die("cannot write %s", o->truth);
  ttm_buf_free(&b);
}
