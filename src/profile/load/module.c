/* SPDX-License-Identifier: Apache-2.0 */
/* A TTNN module that nobody ran: the profile is that of the run it would be. Two runs, the first with an empty const-eval cache, on a board of
 * the kind the module was compiled for; the states are those of the bank allocator. Where memory ends, the run does. */
#include "base/bank.h"
#include "base/error.h"
#include "profile/load/load.h"
#include "profile/module_run.h"

enum { MEMORIES = 2, RUNS = 2 };
static const ttm_memory MEMORY[MEMORIES] = {TTM_DRAM, TTM_L1};

typedef struct player {
  ttm_builder *b;
  ttm_stream *s;
  const ttm_module *m;
  const ttm_module_run *run;
  const ttm_board *board;
  uint32_t first_line; /* of the text in its log, less 1 */
  ttm_alignment align;
  ttm_bank banks[MEMORIES];
  uint64_t *at;    /* by buffer */
  uint32_t *texts; /* by operation of the module: text, TTM_NONE */
  ttm_op_line line;
  bool failed; /* memory has ended */
} player;

/* ---- Texts ---- */

static ttm_str written_out(const ttm_module *m, ttm_str type) {
  uint32_t id = ttm_intern_find(&m->type_ids, type);
  return id ? m->types.at[id].text : type;
}

/* The text as an operation line would have it. */
static int text_of(player *y, uint32_t row, uint32_t *out) {
  const ttm_module_op *op = &y->m->ops.at[row];
  ttm_str location = TTM_LIT("");
  *out = y->texts[row];
  if (*out != TTM_NONE) return TTM_OK;
  if (ttm_op_line_parse(op->text, &y->line) == TTM_ENOMEM) return TTM_ENOMEM;
  if (op->unread) y->line.name = op->name;
  for (size_t i = 0; i < y->line.inputs.n; i++) y->line.inputs.at[i] = written_out(y->m, y->line.inputs.at[i]);
  for (size_t i = 0; i < y->line.outputs.n; i++) y->line.outputs.at[i] = written_out(y->m, y->line.outputs.at[i]);
  ttm_op_text text;
  if (ttm_module_location(y->m->locations, op->location, &location)) return TTM_ENOMEM;
  if (ttm_fill_text(y->b, &y->line, location, &text) || ttm_build_text_once(y->b, &text, &y->texts[row]))
    return TTM_ENOMEM;
  *out = y->texts[row];
  return TTM_OK;
}

/* ---- States ---- */

static int put_state(player *y, uint32_t op, uint32_t line) {
  ttm_block block = {.op = op, .line = line};
  for (int k = 0; k < MEMORIES; k++) {
    const ttm_bank *bank = &y->banks[k];
    block.present |= 1u << MEMORY[k];
    block.levels[MEMORY[k]] = (ttm_level){.banks = k ? y->board->l1_banks : y->board->dram_banks,
                                          .total = ttm_milli_of_bytes(bank->size),
                                          .allocated = ttm_milli_of_bytes(bank->allocated),
                                          .free = ttm_milli_of_bytes(ttm_bank_room(bank)),
                                          .largest = ttm_milli_of_bytes(ttm_bank_largest(bank))};
  }
  return ttm_build_block(y->b, y->s, &block);
}

/* As ttnn would say it. */
static int refuse(player *y, int memory, uint64_t needed, uint32_t line) {
  const ttm_bank *bank = &y->banks[memory];
  uint64_t banks = memory ? y->board->l1_banks : y->board->dram_banks;
  ttm_buf text = {0};
  ttm_buf_printf(
      &text,
      "Out of Memory: Not enough space to allocate %llu B %s buffer across %llu banks, where each bank needs to store "
      "%llu B, but bank size is %llu B (allocated: %llu B, free: %llu B, largest free block: %llu B)",
      (unsigned long long)(needed * banks), ttm_memory_name(MEMORY[memory]), (unsigned long long)banks,
      (unsigned long long)needed, (unsigned long long)bank->size, (unsigned long long)bank->allocated,
      (unsigned long long)ttm_bank_room(bank), (unsigned long long)ttm_bank_largest(bank));
  int status = text.failed ? TTM_ENOMEM : ttm_build_incident_line(y->b, y->s, ttm_buf_str(&text), y->s->pending, line);
  ttm_buf_free(&text);
  y->failed = true;
  return status;
}

/* ---- Events ---- */

static uint64_t cost_of(const player *y, uint32_t buffer, int *memory) {
  const ttm_tensor_type *type = &y->run->types.at[y->run->buffers.at[buffer].type];
  *memory = type->buffer == TTM_BUFFER_L1;
  return ttm_tensor_bank_bytes(type, *memory ? y->board->l1_banks : y->board->dram_banks, y->align);
}

static int enter(player *y, uint32_t function, uint32_t line) {
  bool top = y->s->depth == 0;
  ttm_str name = y->m->functions.at[function].name;
  if (top && put_state(y, TTM_STATE_BEFORE_SUBMIT, line)) return TTM_ENOMEM;
  if (!top && ttm_build_string(y->b, name, &y->s->missed)) return TTM_ENOMEM;
  return ttm_program_start(y->b, y->s, name, line);
}

static int leave(player *y, uint32_t function, uint32_t line) {
  if (ttm_program_finish(y->b, y->s, y->m->functions.at[function].name, line)) return TTM_ENOMEM;
  if (y->s->depth) return TTM_OK;
  return put_state(y, TTM_STATE_AFTER_SUBMIT, line) ? TTM_ENOMEM : ttm_program_submitted(y->b, y->s, line);
}

static int begin_op(player *y, const ttm_run_event *e, uint32_t line) {
  uint32_t text;
  ttm_profile *p = y->b->profile;
  if (text_of(y, e->op, &text) || ttm_op_begin(y->b, y->s, text, line)) return TTM_ENOMEM;
  p->seen.op_lines++;
  p->ops.at[y->s->pending].flags |= e->what;
  p->seen.retained += e->what == TTM_OP_RETAINED;
  return put_state(y, y->s->pending, line);
}

static int play(player *y, const ttm_run_event *e) {
  uint32_t line = y->first_line + (e->op < y->m->ops.n ? y->m->ops.at[e->op].line : 1);
  int memory = -1;
  uint64_t cost = e->act >= TTM_RUN_TAKE ? cost_of(y, e->what, &memory) : 0;
  switch ((ttm_run_act)e->act) {
    case TTM_RUN_ENTER:
      return enter(y, e->what, line);
    case TTM_RUN_LEAVE:
      return leave(y, e->what, line);
    case TTM_RUN_OP:
      return begin_op(y, e, line);
    case TTM_RUN_TAKE:
      return ttm_bank_take(&y->banks[memory], cost, memory, &y->at[e->what]) ? TTM_OK : refuse(y, memory, cost, line);
    case TTM_RUN_GIVE:
      return ttm_bank_give(&y->banks[memory], y->at[e->what], cost);
  }
  return TTM_OK;
}

/* ---- The whole ---- */

const ttm_board *ttm_module_board(const ttm_module *m) {
  for (size_t i = 0; i < TTM_BOARDS; i++)
    if (ttm_boards[i].dram_banks == m->facts.dram_channels && ttm_boards[i].chips >= m->facts.devices)
      return &ttm_boards[i];
  return &ttm_boards[0];
}

static int play_all(player *y) {
  const ttm_arch *arch = &ttm_arches[y->board->arch];
  uint64_t sizes[MEMORIES] = {ttm_board_dram_bank(y->board, 0, false),
                              ttm_board_l1_bank(y->board, ttm_l1_base_newest(y->board->arch), 0)};
  y->align = (ttm_alignment){arch->dram_align, arch->l1_align};
  y->at = ttm_alloc_array(y->run->buffers.n, sizeof *y->at);
  y->texts = ttm_alloc_array(y->m->ops.n, sizeof *y->texts);
  int status = y->at && y->texts ? TTM_OK : TTM_ENOMEM;
  for (size_t i = 0; y->texts && i < y->m->ops.n; i++) y->texts[i] = TTM_NONE;
  for (int k = 0; k < MEMORIES && !status; k++) status = ttm_bank_init(&y->banks[k], sizes[k]);
  for (size_t i = 0; i < y->run->events.n && !status && !y->failed; i++) status = play(y, &y->run->events.at[i]);
  for (int k = 0; k < MEMORIES; k++) ttm_bank_free(&y->banks[k]);
  ttm_op_line_free(&y->line);
  ttm_free(y->at);
  ttm_free(y->texts);
  return status;
}

int ttm_build_predicted(ttm_builder *b, ttm_stream *s, ttm_str text, uint32_t first_line, bool python) {
  ttm_module m;
  ttm_module_run run = {0};
  int status = ttm_module_parse(&m, text);
  if (!status) status = ttm_module_run_make(&run, &m, python ? TTM_RUNNER_PYTHON : TTM_RUNNER_COMPILED, RUNS, NULL);
  if (!status && run.buffers.n) {
    player y = {.b = b, .s = s, .m = &m, .run = &run, .board = ttm_module_board(&m), .first_line = first_line};
    status = play_all(&y);
    b->profile->predicted = true;
  }
  ttm_module_run_free(&run);
  ttm_module_free(&m);
  return status;
}

/* ---- A file ---- */

static int read_all(ttm_input *in, ttm_buf *out, ttm_error *err) {
  enum { PIECE = 1 << 16 };
  size_t got = 1;
  ttm_buf_put(out, in->first);
  while (in->chunker.source && got) {
    if (!ttm_buf_room(out, PIECE)) return ttm_error_nomem(err);
    int rc = ttm_source_read(in->chunker.source, out->at + out->n, PIECE, &got, err);
    if (rc) return rc;
    out->n += got;
  }
  return out->failed ? ttm_error_nomem(err) : TTM_OK;
}

static int build(ttm_builder *b, ttm_str text) {
  ttm_stream *s;
  ttm_dump dump = {.first_line = 0};
  ttm_seen *seen = &b->profile->seen;
  seen->bytes = text.n;
  for (size_t i = 0; i < text.n; i++) seen->lines += text.p[i] == '\n';
  dump.line_count = (uint32_t)seen->lines;
  if (ttm_build_rank(b, 0, &s) || ttm_build_string(b, TTM_LIT("ttnn"), &dump.stage) ||
      ttm_build_graph(b, s, TTM_LIT("ttnn")) || ttm_build_dump(b, s, dump, text, true) ||
      ttm_build_predicted(b, s, text, 0, true))
    return TTM_ENOMEM;
  return ttm_builder_end(b);
}

int ttm_load_module(ttm_builder *b, ttm_input *in, ttm_error *err) {
  ttm_buf text = {0};
  int rc = read_all(in, &text, err);
  if (!rc && build(b, ttm_buf_str(&text))) rc = ttm_error_nomem(err);
  ttm_buf_free(&text);
  ttm_str path = ttm_profile_string(b->profile, b->profile->path);
  if (!rc && !b->profile->predicted)
    rc = ttm_error_set(err, TTM_ENODATA,
                       "%.*s is an MLIR module without a program in the TTNN dialect: the module of stage ttnn has it",
                       (int)(path.n < 400 ? path.n : 400), path.p);
  return rc;
}
