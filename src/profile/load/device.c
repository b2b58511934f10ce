/* SPDX-License-Identifier: Apache-2.0 */
/* A device that runs programs by their modules: banks, addresses, and operations as lines of a log. */
#include <stdio.h>

#include "profile/load/module.h"

static const ttm_memory MEMORY[TTM_PLAYED] = {TTM_DRAM, TTM_L1};

int ttm_device_open(ttm_device *d, const ttm_profile *p, const ttm_module *m) {
  if (d->board) return TTM_OK;
  d->board = ttm_module_board(m);
  const ttm_arch *arch = &ttm_arches[d->board->arch];
  uint64_t sizes[TTM_PLAYED] = {ttm_board_dram_bank(d->board, 0, false),
                                ttm_board_l1_bank(d->board, ttm_l1_base_newest(d->board->arch), 0)};
  d->bank_count[TTM_PLAYED_DRAM] = d->board->dram_banks;
  d->bank_count[TTM_PLAYED_L1] = d->board->l1_banks;
  d->align = (ttm_alignment){arch->dram_align, arch->l1_align};
  for (int k = 0; k < TTM_PLAYED; k++) {
    ttm_level level;
    if (ttm_profile_config(p, MEMORY[k], &level)) {
      d->bank_count[k] = level.banks;
      sizes[k] = ttm_level_bytes(level.total);
      if (k == TTM_PLAYED_DRAM) d->align = ttm_profile_alignment_of(p, level.banks);
    }
    if (ttm_bank_init(&d->banks[k], sizes[k])) return TTM_ENOMEM;
  }
  return TTM_OK;
}

void ttm_device_close(ttm_device *d) {
  for (int k = 0; k < TTM_PLAYED; k++) ttm_bank_free(&d->banks[k]);
  ttm_map_free(&d->lessons.there);
  *d = (ttm_device){.board = NULL};
}

int ttm_device_program_run(ttm_device_program *y, ttm_device *d, ttm_runner runner, uint32_t times) {
  int status = ttm_module_run_make(&y->run, &y->module, runner, times, &d->lessons);
  for (size_t i = 0; i < y->run.brought.n && !status; i++)
    status = ttm_map_set(&d->lessons.there, y->run.brought.at[i], 1);
  if (status) return status;
  y->at = ttm_alloc_array(y->run.buffers.n, sizeof *y->at);
  y->texts = ttm_alloc_array(y->module.ops.n, sizeof *y->texts);
  y->keys = ttm_alloc_array(y->module.functions.n, sizeof *y->keys);
  if (!y->at || !y->texts || !y->keys) return TTM_ENOMEM;
  for (size_t i = 0; i < y->run.buffers.n; i++) y->at[i] = TTM_NOT_TAKEN;
  for (size_t i = 0; i < y->module.ops.n; i++) y->texts[i] = TTM_NONE;
  for (size_t i = 0; i < y->module.functions.n; i++) y->keys[i] = TTM_NONE;
  return TTM_OK;
}

void ttm_device_program_free(ttm_device_program *y) {
  ttm_module_run_free(&y->run);
  ttm_module_free(&y->module);
  ttm_buf_free(&y->text);
  ttm_op_line_free(&y->line);
  ttm_free(y->at);
  ttm_free(y->texts);
  ttm_free(y->keys);
}

/* ---- Buffers ---- */

/* No bank has so much: sums of it cannot overflow. */
#define MOST_BYTES (UINT64_C(1) << 40)

uint64_t ttm_device_cost(const ttm_device *d, const ttm_device_program *y, uint32_t buffer, int *memory) {
  const ttm_tensor_type *type = &y->run.types.at[y->run.buffers.at[buffer].type];
  *memory = type->buffer == TTM_BUFFER_L1 ? TTM_PLAYED_L1 : TTM_PLAYED_DRAM;
  uint64_t cost = ttm_tensor_bank_bytes(type, d->bank_count[*memory], d->align);
  return cost < MOST_BYTES ? cost : MOST_BYTES;
}

int ttm_device_take(ttm_device *d, ttm_device_program *y, uint32_t buffer, bool *placed) {
  int memory;
  uint64_t cost = ttm_device_cost(d, y, buffer, &memory);
  *placed = ttm_bank_take(&d->banks[memory], cost, memory == TTM_PLAYED_L1, &y->at[buffer]);
  if (*placed) return TTM_OK;
  y->at[buffer] = TTM_UNPLACED;
  d->unplaced[memory] += cost;
  return TTM_OK;
}

int ttm_device_give(ttm_device *d, ttm_device_program *y, uint32_t buffer) {
  int memory;
  uint64_t cost = ttm_device_cost(d, y, buffer, &memory), at = y->at[buffer];
  y->at[buffer] = TTM_NOT_TAKEN;
  if (at == TTM_UNPLACED) d->unplaced[memory] -= cost;
  return at < TTM_UNPLACED ? ttm_bank_give(&d->banks[memory], at, cost) : TTM_OK;
}

/* ---- Operations ---- */

static ttm_str written_out(const ttm_module *m, ttm_str type) {
  uint32_t id = ttm_intern_find(&m->type_ids, type);
  return id ? m->types.at[id].text : type;
}

/* The text as an operation line would have it. */
static int text_of(ttm_builder *b, ttm_device_program *y, uint32_t row, uint32_t *out) {
  const ttm_module_op *op = &y->module.ops.at[row];
  ttm_str location = TTM_LIT("");
  *out = y->texts[row];
  if (*out != TTM_NONE) return TTM_OK;
  if (ttm_op_line_parse(op->text, &y->line) == TTM_ENOMEM) return TTM_ENOMEM;
  if (op->unread) y->line.name = op->name;
  for (size_t i = 0; i < y->line.inputs.n; i++) y->line.inputs.at[i] = written_out(&y->module, y->line.inputs.at[i]);
  for (size_t i = 0; i < y->line.outputs.n; i++) y->line.outputs.at[i] = written_out(&y->module, y->line.outputs.at[i]);
  ttm_op_text text;
  if (ttm_module_location(y->module.locations, op->location, &location)) return TTM_ENOMEM;
  if (ttm_fill_text(b, &y->line, location, &text) || ttm_build_text_once(b, &text, &y->texts[row])) return TTM_ENOMEM;
  *out = y->texts[row];
  return TTM_OK;
}

/* The hash under which the cache keeps results, as the runtime would print it. */
static int cache_key(ttm_builder *b, ttm_stream *s, ttm_device_program *y, const ttm_module_op *op) {
  if (ttm_op_kind_of(op->name) != TTM_OP_LOAD_CACHED || op->callee == TTM_NO_ROW) return TTM_OK;
  uint32_t *known = &y->keys[op->callee];
  if (*known == TTM_NONE) {
    char text[20];
    uint64_t key = ttm_cached_key(&y->module, op);
    int n = snprintf(text, sizeof text, "%016llx", (unsigned long long)key);
    *known = 0;
    if (key && ttm_build_string(b, (ttm_str){text, (size_t)n}, known)) return TTM_ENOMEM;
  }
  s->cache_key = *known;
  return TTM_OK;
}

uint32_t ttm_device_line(const ttm_device_program *y, const ttm_run_event *e) {
  return y->first_line + (e->op < y->module.ops.n ? y->module.ops.at[e->op].line : 1);
}

int ttm_device_begin_op(ttm_builder *b, ttm_stream *s, ttm_device_program *y, const ttm_run_event *e) {
  uint32_t text;
  ttm_profile *p = b->profile;
  if (text_of(b, y, e->op, &text) || ttm_op_begin(b, s, text, ttm_device_line(y, e))) return TTM_ENOMEM;
  p->ops.at[s->pending].flags |= e->what;
  p->seen.retained += e->what == TTM_OP_RETAINED;
  return cache_key(b, s, y, &y->module.ops.at[e->op]);
}

int ttm_device_enter(ttm_builder *b, ttm_stream *s, const ttm_device_program *y, const ttm_run_event *e) {
  ttm_str name = y->module.functions.at[e->what].name;
  if (s->depth && ttm_build_string(b, name, &s->missed)) return TTM_ENOMEM;
  return ttm_program_start(b, s, name, ttm_device_line(y, e));
}

int ttm_device_leave(ttm_builder *b, ttm_stream *s, const ttm_device_program *y, const ttm_run_event *e) {
  return ttm_program_finish(b, s, y->module.functions.at[e->what].name, ttm_device_line(y, e));
}
