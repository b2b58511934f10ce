/* SPDX-License-Identifier: Apache-2.0 */
/* TTNN modules that nobody ran: the profile is that of the runs they would be. Each is run twice, the first time with an empty const-eval
 * cache, one after another on a board of the kind they were compiled for; the states are those of the bank allocator. Where memory ends, the
 * run does. */
#include "profile/load/module.h"

#include "base/error.h"
#include "profile/load/load.h"

enum { RUNS = 2 };
static const ttm_memory MEMORY[TTM_PLAYED] = {TTM_DRAM, TTM_L1};

typedef struct player {
  ttm_builder *b;
  ttm_stream *s;
  ttm_device device;
  bool failed; /* memory has ended */
} player;

/* ---- States ---- */

static int put_state(player *y, uint32_t op, uint32_t line) {
  ttm_block block = {.op = op, .line = line};
  for (int k = 0; k < TTM_PLAYED; k++) {
    const ttm_bank *bank = &y->device.banks[k];
    block.present |= 1u << MEMORY[k];
    block.levels[MEMORY[k]] = (ttm_level){.banks = y->device.bank_count[k],
                                          .total = ttm_milli_of_bytes(bank->size),
                                          .allocated = ttm_milli_of_bytes(bank->allocated),
                                          .free = ttm_milli_of_bytes(ttm_bank_room(bank)),
                                          .largest = ttm_milli_of_bytes(ttm_bank_largest(bank))};
  }
  return ttm_build_block(y->b, y->s, &block);
}

/* As ttnn would say it. */
static int refuse(player *y, int memory, uint64_t needed, uint32_t line) {
  const ttm_bank *bank = &y->device.banks[memory];
  uint64_t banks = y->device.bank_count[memory], whole = needed * banks;
  ttm_buf text = {0};
  ttm_buf_printf(
      &text,
      "Out of Memory: Not enough space to allocate %llu B %s buffer across %llu banks, where each bank needs to store "
      "%llu B, but bank size is %llu B (allocated: %llu B, free: %llu B, largest free block: %llu B)",
      (unsigned long long)whole, ttm_memory_name(MEMORY[memory]), (unsigned long long)banks, (unsigned long long)needed,
      (unsigned long long)bank->size, (unsigned long long)bank->allocated, (unsigned long long)ttm_bank_room(bank),
      (unsigned long long)ttm_bank_largest(bank));
  int status = text.failed ? TTM_ENOMEM : ttm_build_incident_line(y->b, y->s, ttm_buf_str(&text), y->s->pending, line);
  ttm_buf_free(&text);
  y->failed = true;
  return status;
}

/* ---- Events ---- */

static int enter(player *y, const ttm_device_program *program, const ttm_run_event *e) {
  if (!y->s->depth && put_state(y, TTM_STATE_BEFORE_SUBMIT, ttm_device_line(program, e))) return TTM_ENOMEM;
  return ttm_device_enter(y->b, y->s, program, e);
}

static int leave(player *y, const ttm_device_program *program, const ttm_run_event *e) {
  uint32_t line = ttm_device_line(program, e);
  if (ttm_device_leave(y->b, y->s, program, e)) return TTM_ENOMEM;
  if (y->s->depth) return TTM_OK;
  return put_state(y, TTM_STATE_AFTER_SUBMIT, line) ? TTM_ENOMEM : ttm_program_submitted(y->b, y->s, line);
}

static int begin_op(player *y, ttm_device_program *program, const ttm_run_event *e) {
  if (ttm_device_begin_op(y->b, y->s, program, e)) return TTM_ENOMEM;
  y->b->profile->seen.op_lines++;
  return put_state(y, y->s->pending, ttm_device_line(program, e));
}

static int take(player *y, ttm_device_program *program, const ttm_run_event *e) {
  int memory;
  bool placed;
  uint64_t cost = ttm_device_cost(&y->device, program, e->what, &memory);
  if (ttm_device_take(&y->device, program, e->what, &placed)) return TTM_ENOMEM;
  return placed ? TTM_OK : refuse(y, memory, cost, ttm_device_line(program, e));
}

static int play(player *y, ttm_device_program *program, const ttm_run_event *e) {
  switch ((ttm_run_act)e->act) {
    case TTM_RUN_ENTER:
      return enter(y, program, e);
    case TTM_RUN_LEAVE:
      return leave(y, program, e);
    case TTM_RUN_OP:
      return begin_op(y, program, e);
    case TTM_RUN_TAKE:
      return take(y, program, e);
    case TTM_RUN_GIVE:
      return ttm_device_give(&y->device, program, e->what);
  }
  return TTM_OK;
}

/* ---- The whole ---- */

const ttm_board *ttm_module_board(const ttm_module *m) {
  const ttm_board *like = NULL; /* chips of that kind; several boards may make up the mesh */
  for (size_t i = 0; i < TTM_BOARDS; i++) {
    if (ttm_boards[i].dram_banks != m->facts.dram_channels) continue;
    if (ttm_boards[i].chips >= m->facts.devices) return &ttm_boards[i];
    like = &ttm_boards[i];
  }
  return like ? like : &ttm_boards[0];
}

static int play_module(player *y, ttm_str text, uint32_t first_line, ttm_runner runner) {
  ttm_device_program program = {.first_line = first_line};
  int status = ttm_module_parse(&program.module, text);
  if (!status) status = ttm_device_open(&y->device, y->b->profile, &program.module);
  if (!status) status = ttm_device_program_run(&program, &y->device, runner, RUNS);
  if (!status && program.run.buffers.n) y->b->profile->predicted = true;
  y->b->profile->seen.cut |= program.module.cut;
  bool zeros = memchr(text.p, 0, text.n) != NULL; /* a part that was never written */
  y->b->profile->seen.bad_op_lines += program.run.unknown || !zeros ? program.run.unknown : 1;
  for (size_t i = 0; program.run.buffers.n && i < program.run.events.n && !status && !y->failed; i++)
    status = play(y, &program, &program.run.events.at[i]);
  ttm_device_program_free(&program);
  return status;
}

int ttm_build_predicted(ttm_builder *b) {
  ttm_profile *p = b->profile;
  player y = {.b = b};
  ttm_buf text = {0};
  int rc = TTM_OK;
  for (size_t g = 0; g < p->graphs.n && !rc; g++) {
    const ttm_dump *dump = ttm_graph_program(p, &p->graphs.at[g]);
    ttm_stream *s = b->streams.at[p->graphs.at[g].rank];
    if (!dump) continue;
    if (s != y.s) ttm_device_close(&y.device), y.failed = false;
    y.s = s;
    ttm_buf_clear(&text);
    rc = ttm_profile_dump_text(dump, &text);
    if (!rc && !y.failed) rc = play_module(&y, ttm_buf_str(&text), dump->first_line, TTM_RUNNER_COMPILED);
  }
  ttm_device_close(&y.device);
  ttm_buf_free(&text);
  return rc;
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
  player y = {.b = b};
  ttm_dump dump = {.first_line = 0};
  ttm_seen *seen = &b->profile->seen;
  seen->bytes = text.n;
  for (size_t i = 0; i < text.n; i++) seen->lines += text.p[i] == '\n';
  dump.line_count = (uint32_t)seen->lines;
  int status = ttm_build_rank(b, 0, &y.s);
  if (!status) status = ttm_build_string(b, TTM_LIT("ttnn"), &dump.stage);
  if (!status) status = ttm_build_graph(b, y.s, TTM_LIT("ttnn"));
  if (!status) status = ttm_build_dump(b, y.s, dump, text, true);
  if (!status) status = play_module(&y, text, 0, TTM_RUNNER_PYTHON);
  ttm_device_close(&y.device);
  return status ? status : ttm_builder_end(b);
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
