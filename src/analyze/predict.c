/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/predict.h"

#include "analyze/parts.h"
#include "base/bank.h"
#include "base/checked.h"

/* ---- One program on one board ---- */

typedef struct stage {
  const ttm_program_need *program;
  ttm_board_need *out;
  uint32_t banks[TTM_NEEDS];
  ttm_alignment align;
  ttm_bank bank[TTM_NEEDS];                   /* until one refuses */
  uint64_t held[TTM_NEEDS], inner[TTM_NEEDS]; /* inner: inside the running operation only */
  uint64_t *cost;                             /* by type */
  uint64_t *at;                               /* by buffer */
} stage;

static int memory_of(const ttm_tensor_type *type) {
  return type->buffer == TTM_BUFFER_L1 ? TTM_NEED_L1 : TTM_NEED_DRAM;
}

static void refuse(stage *s, int memory, uint64_t needed, uint32_t op) {
  s->out->refused = true;
  s->out->refused_op = op;
  ttm_refusal_make(&s->out->refusal, &s->bank[memory], s->banks[memory], memory == TTM_NEED_L1 ? TTM_L1 : TTM_DRAM,
                   needed);
}

/* The most that is held: states of a log show it between operations, the allocator knows it inside them, too. */
static void note_level(stage *s, int memory, uint32_t op, size_t run) {
  ttm_need *need = &s->out->need[memory];
  uint64_t held = s->held[memory], inside = ttm_add_sat(held, s->inner[memory]);
  if (s->program->runner == TTM_RUNNER_PYTHON) held = inside;
  uint64_t *of_run = run ? &need->steady : &need->warm_up;
  if (held > *of_run) *of_run = held;
  if (held > need->bytes) need->bytes = held, need->op = op;
  if (inside > need->inside) need->inside = inside;
}

static void take(stage *s, int memory, uint64_t cost, uint32_t op, size_t run, uint64_t *at) {
  note_level(s, memory, op, run);
  if (!s->out->refused && !ttm_bank_take(&s->bank[memory], cost, memory == TTM_NEED_L1, at))
    refuse(s, memory, cost, op);
}

/* What was there before: other programs' tensors and, where states tell, this one's arguments. */
static uint64_t held_before(const stage *s, int m) {
  const ttm_program_need *program = s->program;
  if (program->before[m] == TTM_UNKNOWN)
    return program->after ? program->after->boards[s->out->board - ttm_boards].left[m] : 0;
  uint32_t home = m == TTM_NEED_L1 ? program->home->l1_banks : program->home->dram_banks;
  return ttm_round_up(ttm_div_up(ttm_mul_sat(program->before[m], home), s->banks[m]), s->align.dram);
}

static void take_before(stage *s) {
  uint64_t at;
  for (int m = 0; m < TTM_NEEDS; m++) {
    uint64_t before = s->held[m] = held_before(s, m);
    take(s, m, before, TTM_NO_ROW, 0, &at);
  }
}

static int play(stage *s) {
  const ttm_module_run *r = &s->program->run;
  size_t run = 0, start = s->program->later && r->runs.n > 1 ? r->runs.at[1] : 0;
  int status = TTM_OK;
  bool begun = false;
  for (size_t i = 0; i < r->events.n && !status; i++) {
    const ttm_run_event *e = &r->events.at[i];
    while (run + 1 < r->runs.n && i >= r->runs.at[run + 1]) run++;
    begun |= e->act == TTM_RUN_ENTER && i >= start;
    if (e->act != TTM_RUN_TAKE && e->act != TTM_RUN_GIVE) continue;
    uint32_t type = r->buffers.at[e->what].type;
    int memory = memory_of(&r->types.at[type]);
    /* The state before has seen it: arguments, and results that the host let go. */
    if (i < start || (!begun && s->program->before[memory] != TTM_UNKNOWN)) {
      s->at[e->what] = TTM_UNKNOWN;
      continue;
    }
    uint64_t *level = r->buffers.at[e->what].inner ? &s->inner[memory] : &s->held[memory];
    if (e->act == TTM_RUN_TAKE) {
      *level = ttm_add_sat(*level, s->cost[type]);
      take(s, memory, s->cost[type], e->op, run, &s->at[e->what]);
    } else {
      *level -= *level < s->cost[type] ? *level : s->cost[type];
      if (!s->out->refused && s->at[e->what] != TTM_UNKNOWN)
        status = ttm_bank_give(&s->bank[memory], s->at[e->what], s->cost[type]);
    }
  }
  return status;
}

static int play_on(ttm_board_need *out, const ttm_program_need *program, const ttm_board *board) {
  const ttm_arch *arch = &ttm_arches[board->arch];
  const ttm_module_run *r = &program->run;
  stage s = {.program = program,
             .out = out,
             .banks = {board->dram_banks, board->l1_banks},
             .align = {arch->dram_align, arch->l1_align}};
  bool home = board == program->home;
  *out = (ttm_board_need){
      .board = board,
      .capacity = {ttm_board_dram_bank(board, 0, false), ttm_board_l1_bank(board, ttm_l1_base_newest(board->arch), 0)},
      .need = {{.op = TTM_NO_ROW}, {.op = TTM_NO_ROW}},
      .refused_op = TTM_NO_ROW};
  for (int m = 0; m < TTM_NEEDS && home; m++)
    if (program->capacity[m] != TTM_UNKNOWN) out->capacity[m] = program->capacity[m];
  s.cost = ttm_alloc_array(r->types.n, sizeof *s.cost);
  s.at = ttm_alloc_array(r->buffers.n, sizeof *s.at);
  int status = s.cost && s.at ? TTM_OK : TTM_ENOMEM;
  for (int m = 0; m < TTM_NEEDS && !status; m++) status = ttm_bank_init(&s.bank[m], out->capacity[m]);
  for (size_t t = 0; t < r->types.n && !status; t++)
    s.cost[t] = ttm_tensor_bank_bytes(&r->types.at[t], s.banks[memory_of(&r->types.at[t])], s.align);
  if (!status) take_before(&s);
  if (!status) status = play(&s);
  for (int m = 0; m < TTM_NEEDS; m++) out->left[m] = s.held[m];
  for (int m = 0; m < TTM_NEEDS; m++) ttm_bank_free(&s.bank[m]);
  ttm_free(s.cost);
  ttm_free(s.at);
  return status;
}

static bool same_chip(const ttm_board *a, const ttm_board *b) {
  return a->arch == b->arch && a->dram_banks == b->dram_banks && a->l1_banks == b->l1_banks;
}

static int play_boards(ttm_program_need *program) {
  for (size_t b = 0; b < TTM_BOARDS; b++) {
    size_t like = 0, home = (size_t)(program->home - ttm_boards);
    while (like < b && (like == home || b == home || !same_chip(&ttm_boards[like], &ttm_boards[b]))) like++;
    program->boards[b] = program->boards[like];
    program->boards[b].board = &ttm_boards[b];
    if (like == b && play_on(&program->boards[b], program, &ttm_boards[b])) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* ---- Programs ---- */

/* The run in which memory ended; TTM_NONE. */
static uint32_t failed_run(const ttm_profile *p) {
  for (size_t i = p->incidents.n; i-- > 0;) {
    uint32_t op = p->incidents.at[i].op;
    if (p->incidents.at[i].what.kind == TTM_INCIDENT_OOM && op < p->ops.n && p->ops.at[op].call < p->calls.n)
      return ttm_call_top(p, p->ops.at[op].call);
  }
  return TTM_NONE;
}

/* The first run of a graph in the log; TTM_NONE. */
static uint32_t first_run(const ttm_profile *p, uint32_t graph) {
  for (size_t i = 0; i < p->runs.n; i++)
    if (p->calls.at[p->runs.at[i]].graph == graph) return p->runs.at[i];
  return TTM_NONE;
}

/* Whether a run of the graph before `call` came to its end, so that const-eval results are cached. */
static bool finished_before(const ttm_profile *p, uint32_t graph, uint32_t call) {
  for (size_t i = 0; i < p->runs.n && p->runs.at[i] != call; i++)
    if (p->calls.at[p->runs.at[i]].graph == graph && p->calls.at[p->runs.at[i]].finished) return true;
  return false;
}

/* What the log's states say of the moment before the program's first run. */
static void look_before(ttm_program_need *out, const ttm_profile *p, uint32_t call) {
  static const ttm_memory memories[TTM_NEEDS] = {TTM_DRAM, TTM_L1};
  for (int m = 0; m < TTM_NEEDS; m++) {
    ttm_level level;
    out->before[m] = out->capacity[m] = TTM_UNKNOWN;
    if (call == TTM_NONE) continue;
    uint32_t op = p->calls.at[call].first_op, state = p->calls.at[call].before;
    if (state == TTM_NONE && op < p->ops.n) state = p->ops.at[op].state;
    if (state == TTM_NONE || !ttm_state_level(p, state, memories[m], &level)) continue;
    out->before[m] = ttm_level_bytes(level.allocated);
    out->capacity[m] = ttm_level_bytes(level.total);
    if (m == TTM_NEED_DRAM)
      for (size_t b = TTM_BOARDS; b-- > 0;)
        if (ttm_boards[b].dram_banks == level.banks) out->home = &ttm_boards[b];
  }
}

static int other_runner(ttm_program_need *out, const ttm_run_lessons *lessons) {
  ttm_program_need other = *out;
  other.runner = out->runner == TTM_RUNNER_PYTHON ? TTM_RUNNER_COMPILED : TTM_RUNNER_PYTHON;
  int status = ttm_module_run_make(&other.run, &out->module, other.runner, out->later ? 2 : 1, lessons);
  if (!status) status = play_boards(&other);
  for (size_t b = 0; b < TTM_BOARDS; b++) out->other_runner[b] = other.boards[b].need[TTM_NEED_DRAM].bytes;
  ttm_module_run_free(&other.run);
  return status;
}

static int run_module(ttm_program_need *out, const ttm_run_lessons *lessons) {
  enum { RUNS = 2 };
  ttm_module_run_free(&out->run);
  return ttm_module_run_make(&out->run, &out->module, out->runner, RUNS, lessons);
}

static int play_program(ttm_program_need *out, const ttm_profile *p, ttm_run_lessons *lessons) {
  uint32_t call = p->predicted ? TTM_NONE : first_run(p, out->graph);
  uint32_t failed = p->predicted ? TTM_NONE : failed_run(p);
  out->later = failed != TTM_NONE && p->calls.at[failed].graph == out->graph && finished_before(p, out->graph, failed);
  int status = run_module(out, NULL);
  look_before(out, p, out->later ? failed : call);
  if (!status && call != TTM_NONE) status = ttm_match_run(out, p, call, lessons);
  if (!status && out->matched && (call != TTM_NONE || out->after)) status = run_module(out, lessons);
  if (!status && out->matched) status = play_boards(out);
  if (!status && out->matched) status = other_runner(out, lessons);
  for (size_t i = 0; i < out->run.brought.n && out->matched && !status; i++)
    status = ttm_map_set(&lessons->there, out->run.brought.at[i], 1);
  return status;
}

static int make_program(ttm_program_need *out, const ttm_profile *p, const ttm_dump *dump, ttm_run_lessons *lessons) {
  int status = ttm_profile_dump_text(dump, &out->text);
  if (!status) status = ttm_module_parse(&out->module, ttm_buf_str(&out->text));
  out->home = ttm_module_board(&out->module);
  return status ? status : play_program(out, p, lessons);
}

static void free_program(ttm_program_need *program) {
  ttm_module_run_free(&program->run);
  ttm_module_free(&program->module);
  ttm_buf_free(&program->text);
  ttm_free(program);
}

static uint64_t dram_of(const ttm_program_need *program) {
  return program->boards[program->home - ttm_boards].need[TTM_NEED_DRAM].bytes;
}

static void free_lessons(ttm_run_lessons *lessons) {
  ttm_map_free(&lessons->ops);
  ttm_map_free(&lessons->left);
  ttm_map_free(&lessons->there);
}

/* What operations taught is of one module; what is there stays. */
static void next_lessons(ttm_run_lessons *lessons) {
  ttm_map there = lessons->there;
  lessons->there = (ttm_map){0};
  free_lessons(lessons);
  *lessons = (ttm_run_lessons){.there = there};
}

static int add_program(ttm_prediction *out, const ttm_profile *p, uint32_t graph, ttm_run_lessons *lessons,
                       ttm_runner runner) {
  const ttm_dump *dump = ttm_graph_program(p, &p->graphs.at[graph]);
  if (!dump) return TTM_OK;
  ttm_program_need *program = ttm_alloc(sizeof *program);
  if (!program) return TTM_ENOMEM;
  *program = (ttm_program_need){.graph = graph, .runner = runner, .matched = true};
  const ttm_program_need *last = out->programs.n ? out->programs.at[out->programs.n - 1] : NULL;
  if (last && p->graphs.at[last->graph].rank == p->graphs.at[graph].rank)
    program->after = last;
  else
    ttm_map_clear(&lessons->there); /* another device */
  int status = make_program(program, p, dump, lessons);
  next_lessons(lessons);
  if (status || !program->run.buffers.n || !program->matched) return free_program(program), status;
  if (ttm_vec_push(&out->programs, program)) return free_program(program), TTM_ENOMEM;
  if (dram_of(program) > dram_of(out->programs.at[out->whole])) out->whole = (uint32_t)out->programs.n - 1;
  return TTM_OK;
}

int ttm_predict(ttm_prediction *out, const ttm_profile *p, ttm_runner runner) {
  int status = TTM_OK;
  ttm_run_lessons lessons = {0};
  *out = (ttm_prediction){.whole = 0};
  for (uint32_t g = 0; g < p->graphs.n && !status; g++) status = add_program(out, p, g, &lessons, runner);
  free_lessons(&lessons);
  uint32_t run = failed_run(p), failed = run == TTM_NONE ? TTM_NONE : p->calls.at[run].graph;
  for (uint32_t i = 0; i < out->programs.n; i++)
    if (out->programs.at[i]->graph == failed) out->whole = i;
  return status;
}

void ttm_prediction_free(ttm_prediction *prediction) {
  for (size_t i = 0; i < prediction->programs.n; i++) free_program(prediction->programs.at[i]);
  ttm_vec_free(&prediction->programs);
  *prediction = (ttm_prediction){.whole = 0};
}

/* ---- Names ---- */

ttm_runner ttm_runner_of(const ttm_profile *p) {
  bool file =
      p->predicted && p->graphs.n == 1 && p->graphs.at[0].dumps.n == 1 && !p->graphs.at[0].dumps.at[0].first_line;
  return file ? TTM_RUNNER_PYTHON : TTM_RUNNER_COMPILED;
}

const char *ttm_runner_name(ttm_runner runner) { return runner == TTM_RUNNER_PYTHON ? "python" : "compiled"; }

int ttm_need_place(const ttm_program_need *program, uint32_t op, ttm_str *name, ttm_str *location, uint32_t *line) {
  *name = *location = TTM_LIT("");
  *line = 0;
  if (op == TTM_NO_ROW) return TTM_OK;
  const ttm_module_op *row = &program->module.ops.at[op];
  *name = row->name;
  *line = row->line;
  return ttm_module_location(program->module.locations, row->location, location);
}
