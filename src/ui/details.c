/* SPDX-License-Identifier: Apache-2.0 */
/* All about one operation, as a text. */
#include <stdio.h>

#include "analyze/words.h"
#include "base/utf8.h"
#include "ui/report.h"

typedef struct details {
  const ttm_findings *f;
  const ttm_profile *p;
  uint32_t op;
  ttm_text_form form;
  size_t columns;
  ttm_buf out;
} details;

static void label(details *d, const char *words) { ttm_buf_printf(&d->out, "\x1b[1m%-12s\x1b[0m", words); }
static void text(details *d, ttm_str view) { ttm_put_text(&d->out, view, SIZE_MAX, d->form); }

/* Foreign text over as many lines as it takes, below its label. */
static void paragraph(details *d, ttm_str view) {
  ttm_buf safe = {0};
  ttm_put_text(&safe, view, SIZE_MAX, d->form);
  ttm_str rest = ttm_buf_str(&safe);
  size_t width = d->columns > 40 ? d->columns - 16 : 24;
  for (bool first = true; rest.n; first = false) {
    ttm_str line = ttm_utf8_head(rest, width);
    if (!first) ttm_buf_printf(&d->out, "%12s", "");
    ttm_buf_put(&d->out, line);
    ttm_buf_char(&d->out, '\n');
    rest = ttm_str_from(rest, line.n);
  }
  ttm_buf_free(&safe);
}

/* The type, and what it takes. */
static void put_type(details *d, uint32_t type) {
  const ttm_type *t = &d->p->types.at[type];
  if (!t->is_tensor) return text(d, ttm_profile_string(d->p, t->text));
  ttm_words_type(&d->out, d->p, type, d->form);
  if (!t->tensor.has_layout) return;
  if (!ttm_str_eq(t->tensor.element, t->tensor.storage)) ttm_buf_puts(&d->out, " for "), text(d, t->tensor.element);
  uint64_t stored = ttm_tensor_stored_bytes(&t->tensor, ttm_profile_alignment(d->p));
  uint64_t logical = ttm_tensor_logical_bytes(&t->tensor);
  if (t->tensor.buffer == TTM_BUFFER_SYSTEM || !stored) return;
  ttm_buf_puts(&d->out, ", ");
  ttm_put_bytes(&d->out, stored);
  if (stored > logical && logical) {
    ttm_buf_printf(&d->out, " (padding %.1f%%)", ttm_percent((double)(stored - logical), (double)logical));
  }
}

static void put_types(details *d, const char *name, ttm_list types, ttm_list values) {
  /* A symbol, such as the function of a load_cached, stands before the operands and has no type. */
  uint32_t symbols = values.n > types.n ? values.n - types.n : 0;
  for (uint32_t i = 0; i < types.n; i++) {
    char scratch[TTM_VALUE_CHARS];
    label(d, i ? "" : name);
    if (symbols + i < values.n) {
      text(d, ttm_value_print(d->p, d->p->lists.at[values.first + symbols + i], scratch));
      ttm_buf_puts(&d->out, "  ");
    }
    put_type(d, d->p->lists.at[types.first + i]);
    ttm_buf_char(&d->out, '\n');
  }
}

static void put_memory(details *d) {
  uint32_t state = d->p->ops.at[d->op].state;
  bool first = true;
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_level level;
    int64_t effect;
    if (state == TTM_NONE || !ttm_state_level(d->p, state, (ttm_memory)m, &level) || !level.total) continue;
    label(d, first ? "Before it" : "");
    first = false;
    ttm_buf_printf(&d->out, "%-8s %9.3f of %.3f MB/bank, %.1f%%", ttm_memory_name((ttm_memory)m),
                   ttm_mb(level.allocated), ttm_mb(level.total), ttm_percent(level.allocated, level.total));
    if (ttm_blocks_known(d->p)) ttm_buf_printf(&d->out, "; largest free %.3f", ttm_mb(level.largest));
    ttm_buf_char(&d->out, '\n');
    if (!ttm_op_effect_whole(d->p, d->op, (ttm_memory)m, &effect) || !effect) continue;
    uint32_t inside, above = ttm_op_inside(d->p, d->op, (ttm_memory)m, &inside);
    label(d, "");
    ttm_buf_printf(&d->out, "%-8s \x1b[%sm%+.3f MB/bank\x1b[0m by this operation\n", "", effect > 0 ? "33" : "32",
                   ttm_mb(effect));
    if (!inside) continue;
    label(d, "");
    ttm_buf_printf(&d->out, "%-8s up to %+.3f inside it, in ", "", ttm_mb(above));
    ttm_put_counted(&d->out, inside, "operation");
    ttm_buf_puts(&d->out, " of const-eval\n");
  }
}

/* For the next word of a list that begins at byte `start`. */
static ttm_buf *separated(details *d, size_t start) {
  if (d->out.n > start) ttm_buf_puts(&d->out, ", ");
  return &d->out;
}

static void put_place(details *d) {
  const ttm_op *op = &d->p->ops.at[d->op];
  label(d, "Log line");
  ttm_buf_printf(&d->out, "%u\n", op->line);
  if (op->call >= d->p->calls.n) return;
  const ttm_call *call = &d->p->calls.at[op->call];
  size_t before = d->out.n;
  label(d, call->name ? "Program" : "Where"); /* captures, recordings and parts of a log have no programs */
  size_t start = d->out.n;
  if (call->name) text(d, ttm_profile_string(d->p, call->name));
  if (ttm_words_has_runs(d->p)) ttm_buf_printf(separated(d, start), "run %u", call->run);
  if (d->p->ranks.n > 1) ttm_buf_printf(separated(d, start), "rank %u", d->p->ranks.at[call->rank]);
  if (op->flags & TTM_OP_CONST_EVAL) ttm_buf_puts(separated(d, start), "const-eval");
  if (op->flags & TTM_OP_CACHE_HIT) ttm_buf_puts(separated(d, start), "answered from the cache");
  if (op->flags & TTM_OP_FAILED) ttm_buf_puts(separated(d, start), "\x1b[31mfailed\x1b[0m");
  if (d->out.n == start)
    d->out.n = before; /* nothing to tell: no label either */
  else
    ttm_buf_char(&d->out, '\n');
}

/* When the first result was used last and when it was freed. */
static void put_life(details *d) {
  uint32_t tensor = d->p->ops.at[d->op].tensor;
  if (tensor >= d->p->tensors.n || ttm_op_text_of(d->p, d->op)->kind == TTM_OP_DEALLOCATE) return;
  uint32_t self = d->p->tensors.at[tensor].self; /* what a load_cached hands out lived before it */
  const ttm_tensor *t = &d->p->tensors.at[self < d->p->tensors.n ? self : tensor];
  label(d, "Result");
  if (t->last_use < d->p->ops.n && t->last_use != t->birth) {
    ttm_buf_printf(&d->out, "last used at log line %u by ", d->p->ops.at[t->last_use].line);
    text(d, ttm_words_name(d->p, t->last_use));
    ttm_buf_puts(&d->out, "; ");
  }
  if (t->freed_by < d->p->ops.n)
    ttm_buf_printf(&d->out, "freed at log line %u\n", d->p->ops.at[t->freed_by].line);
  else
    ttm_buf_puts(&d->out, "never freed in the log\n");
}

static void put_weights(details *d) {
  const ttm_op *op = &d->p->ops.at[d->op];
  ttm_list weights = ttm_profile_weights(d->p, op->weights);
  for (uint32_t i = 0; i < weights.n; i++) {
    uint32_t entry = ttm_registry_find(&d->f->registry, d->p, op->call, d->p->lists.at[weights.first + i]);
    if (entry == TTM_NONE) continue;
    const ttm_registry_entry *e = &d->f->registry.entries.at[entry];
    label(d, "Argument");
    text(d, ttm_profile_string(d->p, d->p->graphs.at[e->graph].args.at[e->arg].name));
    ttm_buf_puts(&d->out, e->weight ? ", weight, " : ", input, ");
    ttm_put_bytes(&d->out, e->bytes);
    ttm_buf_char(&d->out, '\n');
  }
}

void ttm_ui_show_operation(ttm_ui *ui, const ttm_findings *f, uint32_t op) {
  details d = {
      .f = f, .p = f->profile, .op = op, .form = ttm_screen_form(&ui->screen), .columns = (size_t)ui->screen.columns};
  if (op >= f->profile->ops.n) return ttm_ui_say(ui, "This state stands before no operation.");
  const ttm_op_text *t = ttm_op_text_of(d.p, op);
  label(&d, "Operation");
  if (ttm_op_is_element(d.p, op)) { /* a deallocation is not counted */
    ttm_words_index(&d.out, f, op);
    ttm_buf_char(&d.out, ' ');
  }
  text(&d, ttm_words_name(d.p, op));
  ttm_buf_char(&d.out, '\n');
  if (t->location) {
    label(&d, "Location");
    paragraph(&d, ttm_words_location(d.p, op));
  }
  put_place(&d);
  put_memory(&d);
  ttm_buf_char(&d.out, '\n');
  put_types(&d, "Inputs", t->inputs, t->operands);
  put_types(&d, "Outputs", t->outputs, (ttm_list){0, 0});
  put_life(&d);
  put_weights(&d);
  if (t->has_attributes) {
    label(&d, "Attributes");
    paragraph(&d, ttm_profile_string(d.p, t->attributes));
  }
  ttm_ui_push(ui, ttm_text_panel("Operation", NULL, &d.out));
}
