/* SPDX-License-Identifier: Apache-2.0 */
/* Logs whose states stand around programs at most. Each run is played as its module says: from the state before it, level by level, to the
 * state behind it. What the prediction is off there is spread over the operations between. Where the log has no operation lines, the
 * operations are the module's. */
#include "profile/load/module.h"

enum { MOST_OPS = 1 << 18 }; /* that are added to a log */
static const ttm_memory MEMORY[TTM_PLAYED] = {TTM_DRAM, TTM_L1};

/* The memories before an operation. */
typedef struct point {
  uint64_t held[TTM_PLAYED], largest[TTM_PLAYED];
  uint32_t levels; /* state of the log: the memories that do not move; TTM_NONE */
  uint32_t behind; /* logs without operation lines: states of the log before it */
  bool known;
} point;

typedef struct rank_fill {
  ttm_device device;
  int64_t offset[TTM_PLAYED]; /* what the states of the log say beyond the device */
  uint32_t shape;             /* the last state of the log; TTM_NONE */
  uint32_t graphs;            /* that have run */
} rank_fill;

typedef struct graph_fill {
  ttm_device_program *program;
  uint32_t runs, ops; /* in the log */
  uint32_t next;      /* run of it */
  bool tried;
} graph_fill;

typedef struct filler {
  ttm_builder *b;
  ttm_profile *p;
  rank_fill *ranks;
  graph_fill *graphs;
  TTM_VEC(point) points;     /* by operation */
  TTM_VEC(uint32_t) noted;   /* operations of the run at hand */
  uint32_t incident;         /* first that may be of the run at hand */
  TTM_VEC(ttm_state) states; /* the new ones */
} filler;

/* ---- Levels ---- */

static uint64_t level_of(const rank_fill *r, int memory) {
  int64_t level = (int64_t)ttm_device_held(&r->device, memory) + r->offset[memory];
  return level > 0 ? (uint64_t)level : 0;
}

/* A state of the log counts more than what was predicted for it: by how much. */
static void anchor(filler *f, rank_fill *r, uint32_t state, int64_t drift[TTM_PLAYED]) {
  for (int k = 0; k < TTM_PLAYED; k++) {
    ttm_level level;
    drift[k] = 0;
    if (state == TTM_NONE || !ttm_state_level(f->p, state, MEMORY[k], &level)) continue;
    drift[k] = (int64_t)ttm_level_bytes(level.allocated) - (int64_t)level_of(r, k);
    r->offset[k] += drift[k];
  }
  if (state != TTM_NONE) r->shape = state;
}

static int note(filler *f, const rank_fill *r, uint32_t op, uint32_t behind) {
  point now = {.levels = r->shape, .behind = behind, .known = true};
  for (int k = 0; k < TTM_PLAYED; k++) {
    uint64_t largest = ttm_bank_largest(&r->device.banks[k]), beyond = r->offset[k] > 0 ? (uint64_t)r->offset[k] : 0;
    now.held[k] = level_of(r, k);
    now.largest[k] = largest > beyond ? largest - beyond : 0;
  }
  while (f->points.n <= op)
    if (ttm_vec_push(&f->points, (point){.known = false})) return TTM_ENOMEM;
  f->points.at[op] = now;
  return ttm_vec_push(&f->noted, op);
}

/* Spreads what the prediction was off at the end over the run. */
static void spread(filler *f, const int64_t drift[TTM_PLAYED]) {
  for (size_t i = 0; i < f->noted.n; i++) {
    point *at = &f->points.at[f->noted.at[i]];
    for (int k = 0; k < TTM_PLAYED; k++) {
      int64_t share = (int64_t)((double)drift[k] * (double)(i + 1) / (double)(f->noted.n + 1));
      at->held[k] = share >= 0 || at->held[k] > (uint64_t)-share ? at->held[k] + (uint64_t)share : 0;
    }
  }
}

/* ---- Events ---- */

static int move(rank_fill *r, ttm_device_program *program, const ttm_run_event *e) {
  bool placed;
  if (e->act == TTM_RUN_TAKE) return ttm_device_take(&r->device, program, e->what, &placed);
  return e->act == TTM_RUN_GIVE ? ttm_device_give(&r->device, program, e->what) : TTM_OK;
}

static int move_to(rank_fill *r, ttm_device_program *program, size_t *from, size_t to) {
  int status = TTM_OK;
  for (; *from < to && !status; ++*from) status = move(r, program, &program->run.events.at[*from]);
  return status;
}

/* Behind the event that begins or ends the run. */
static size_t behind(const ttm_device_program *program, size_t event, size_t end, ttm_run_act act) {
  uint32_t entry = program->module.entry;
  while (event < end && (program->run.events.at[event].act != act || program->run.events.at[event].what != entry))
    event++;
  return event < end ? event + 1 : end;
}

/* The program died: what it does not share with later ones goes. */
static int abandon(rank_fill *r, ttm_device_program *program, size_t from, size_t to) {
  int status = TTM_OK;
  for (; from < to && !status; from++) {
    const ttm_run_event *e = &program->run.events.at[from];
    bool held = e->act == TTM_RUN_TAKE && program->at[e->what] != TTM_NOT_TAKEN;
    if (held && !program->run.buffers.at[e->what].kept) status = ttm_device_give(&r->device, program, e->what);
  }
  return status;
}

/* The run is over, with `at` the next event. */
static int end_run(filler *f, rank_fill *r, ttm_device_program *program, const ttm_call *c, ttm_run_walk *w,
                   size_t at) {
  int64_t drift[TTM_PLAYED];
  size_t start = w->event;
  if (!c->finished) return abandon(r, program, start, at);
  if (move_to(r, program, &at, behind(program, at, w->end, TTM_RUN_LEAVE))) return TTM_ENOMEM;
  anchor(f, r, c->after, drift);
  spread(f, drift);
  return move_to(r, program, &at, w->end);
}

/* ---- Runs with operation lines ---- */

static int play_lines(filler *f, rank_fill *r, ttm_device_program *program, uint32_t call, size_t k) {
  const ttm_call *c = &f->p->calls.at[call];
  ttm_run_walk walk = ttm_run_walk_start(&program->run, k, f->p, call), whole = walk;
  int64_t drift[TTM_PLAYED];
  size_t at = walk.event;
  int status = move_to(r, program, &at, behind(program, at, walk.end, TTM_RUN_ENTER));
  anchor(f, r, c->before, drift);
  for (uint32_t op = c->first_op; op <= c->last_op && op < f->p->ops.n && !status; op++) {
    uint32_t row;
    ttm_walk_step step = ttm_run_walk_op(&walk, op, &row);
    if (step == TTM_WALK_OTHER) break;
    if (step != TTM_WALK_SAME) continue;
    f->p->ops.at[op].flags |= program->run.events.at[walk.event - 1].what & TTM_OP_RETAINED;
    status = move_to(r, program, &at, walk.event);
    if (!status) status = note(f, r, op, 0);
  }
  return status ? status : end_run(f, r, program, c, &whole, at);
}

/* ---- Runs without ---- */

/* The message that ended a run; NULL when none is about memory. */
static ttm_incident *last_words(filler *f, const ttm_call *c) {
  enum { LOOKED_AT = 16 };
  ttm_profile *p = f->p;
  while (f->incident < p->incidents.n && p->incidents.at[f->incident].line < c->first_line) f->incident++;
  for (uint32_t i = f->incident; i < p->incidents.n && i < f->incident + LOOKED_AT; i++) {
    ttm_incident *incident = &p->incidents.at[i];
    if (incident->rank == c->rank && incident->what.kind == TTM_INCIDENT_OOM) return incident;
  }
  return NULL;
}

static uint64_t apart(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/* The event that the message is about: a buffer of that size, taken when about so much was held. `end` when there is none. */
static size_t find_end(const filler *f, const rank_fill *r, const ttm_device_program *program, const ttm_run_walk *w,
                       const ttm_call *c, const ttm_incident_text *what) {
  uint64_t held[TTM_PLAYED], closest = UINT64_MAX;
  size_t found = w->end;
  for (int k = 0; k < TTM_PLAYED; k++) {
    ttm_level level;
    bool known = c->before != TTM_NONE && ttm_state_level(f->p, c->before, MEMORY[k], &level);
    held[k] = known ? ttm_level_bytes(level.allocated) : level_of(r, k);
  }
  for (size_t i = behind(program, w->event, w->end, TTM_RUN_ENTER); i < w->end; i++) {
    const ttm_run_event *e = &program->run.events.at[i];
    int memory;
    if (e->act < TTM_RUN_TAKE) continue;
    uint64_t cost = ttm_device_cost(&r->device, program, e->what, &memory);
    if (e->act == TTM_RUN_TAKE && cost == what->needed_per_bank &&
        ttm_str_eq(what->memory, ttm_str_of(ttm_memory_name(MEMORY[memory])))) {
      uint64_t full = what->allocated_per_bank == TTM_UNKNOWN ? r->device.banks[memory].size : what->allocated_per_bank;
      if (apart(held[memory], full) < closest) closest = apart(held[memory], full), found = i;
    }
    held[memory] += e->act == TTM_RUN_TAKE ? cost : -(cost < held[memory] ? cost : held[memory]);
  }
  return found;
}

static int play_event(filler *f, rank_fill *r, ttm_device_program *program, ttm_stream *s, const ttm_run_event *e) {
  uint32_t top = s->scopes[0].call, before = f->p->calls.at[top].before;
  switch ((ttm_run_act)e->act) {
    case TTM_RUN_ENTER:
      return e->what == program->module.entry ? TTM_OK : ttm_device_enter(f->b, s, program, e);
    case TTM_RUN_LEAVE:
      return e->what == program->module.entry ? TTM_OK : ttm_device_leave(f->b, s, program, e);
    case TTM_RUN_OP:
      if (ttm_device_begin_op(f->b, s, program, e)) return TTM_ENOMEM;
      return note(f, r, s->pending, before == TTM_NONE ? 0 : before + 1);
    case TTM_RUN_TAKE:
    case TTM_RUN_GIVE:
      return move(r, program, e);
  }
  return TTM_OK;
}

/* The call that stands for the run gets a name and operations. */
static int play_module(filler *f, rank_fill *r, ttm_device_program *program, uint32_t call, const ttm_run_walk *w,
                       size_t to) {
  ttm_stream *s = f->b->streams.at[f->p->calls.at[call].rank];
  int64_t drift[TTM_PLAYED];
  size_t at = w->event;
  uint32_t last_line = f->p->calls.at[call].last_line;
  int status = move_to(r, program, &at, behind(program, at, w->end, TTM_RUN_ENTER));
  anchor(f, r, f->p->calls.at[call].before, drift);
  s->depth = 1;
  s->scopes[0].call = call;
  s->scopes[0].first_tensor = (uint32_t)f->p->tensors.n;
  ttm_map_clear(&s->scopes[0].values);
  if (!status)
    status =
        ttm_build_string(f->b, program->module.functions.at[program->module.entry].name, &f->p->calls.at[call].name);
  for (; at < to && !status; at++) status = play_event(f, r, program, s, &program->run.events.at[at]);
  f->p->calls.at[call].last_line = last_line;
  return status;
}

static int play_submit(filler *f, rank_fill *r, ttm_device_program *program, uint32_t call, size_t k) {
  ttm_run_walk walk = ttm_run_walk_start(&program->run, k, f->p, call);
  bool finished = f->p->calls.at[call].finished;
  ttm_incident *incident = finished ? NULL : last_words(f, &f->p->calls.at[call]);
  size_t to = behind(program, walk.event, walk.end, TTM_RUN_LEAVE);
  if (!finished) to = incident ? find_end(f, r, program, &walk, &f->p->calls.at[call], &incident->what) : walk.end;
  if (!finished && to == walk.end) return TTM_OK; /* where it ended is unknown */
  if (play_module(f, r, program, call, &walk, to)) return TTM_ENOMEM;
  ttm_stream *s = f->b->streams.at[f->p->calls.at[call].rank];
  if (incident && s->pending != TTM_NONE) {
    incident->op = s->pending;
    f->p->ops.at[s->pending].flags |= TTM_OP_FAILED;
  }
  if (ttm_op_complete(f->b, s)) return TTM_ENOMEM;
  s->depth = 0;
  const ttm_call c = f->p->calls.at[call];
  return end_run(f, r, program, &c, &walk, to);
}

/* ---- Programs ---- */

/* What the first run says of the const-eval cache. */
static int learn_cached(filler *f, rank_fill *r, const ttm_module *m, const ttm_call *c) {
  ttm_map hits = {0};
  int status = TTM_OK;
  for (uint32_t op = c->first_op; op <= c->last_op && op < f->p->ops.n && !status; op++) {
    const ttm_op_text *text = ttm_op_text_of(f->p, op);
    if (text->kind == TTM_OP_LOAD_CACHED && text->callee)
      status = ttm_map_set(&hits, text->callee, 1 + ((f->p->ops.at[op].flags & TTM_OP_CACHE_HIT) != 0));
  }
  for (uint32_t i = 0; i < m->ops.n && hits.n && !status; i++) {
    if (ttm_op_kind_of(m->ops.at[i].name) != TTM_OP_LOAD_CACHED || m->ops.at[i].callee == TTM_NO_ROW) continue;
    uint32_t name = ttm_intern_find(&f->p->strings, m->functions.at[m->ops.at[i].callee].name);
    uint32_t hit = ttm_map_remove(&hits, name, 0);
    uint64_t key = hit ? ttm_cached_key(m, &m->ops.at[i]) : 0;
    if (key) status = ttm_map_set(&r->device.lessons.there, key, hit == 2);
  }
  ttm_map_free(&hits);
  return status;
}

/* Whether the operations of the run are those of the module, to the end if it finished. */
static bool is_of(const filler *f, const ttm_device_program *program, uint32_t call) {
  const ttm_call *c = &f->p->calls.at[call];
  ttm_run_walk walk = ttm_run_walk_start(&program->run, 0, f->p, call);
  uint32_t row;
  for (uint32_t op = c->first_op; op <= c->last_op && op < f->p->ops.n; op++)
    if (ttm_run_walk_op(&walk, op, &row) == TTM_WALK_OTHER) return false;
  return c->first_op == TTM_NONE || !c->finished || ttm_run_walk_next(&walk, 1) == TTM_NO_ROW;
}

/* As often as the log can have run it: runs that ended early count for less. */
static uint32_t times_of(const filler *f, const graph_fill *g) {
  uint64_t whole = f->p->seen.op_lines ? 2 * (uint64_t)g->ops : MOST_OPS, each = g->program->module.ops.n;
  uint64_t times = 1 + whole / (each + 1);
  return times < g->runs ? (uint32_t)times : g->runs;
}

static int read_program(filler *f, rank_fill *r, graph_fill *g, const ttm_dump *dump, uint32_t call) {
  ttm_device_program *y = g->program = ttm_alloc(sizeof *y);
  if (!y) return TTM_ENOMEM;
  y->first_line = dump->first_line;
  int status = ttm_profile_dump_text(dump, &y->text);
  if (!status) status = ttm_module_parse(&y->module, ttm_buf_str(&y->text));
  if (!status) status = ttm_device_open(&r->device, f->p, &y->module);
  if (!status) status = learn_cached(f, r, &y->module, &f->p->calls.at[call]);
  if (!status) status = ttm_device_program_run(y, &r->device, TTM_RUNNER_COMPILED, times_of(f, g));
  if (!status && y->run.buffers.n && is_of(f, y, call)) return TTM_OK;
  ttm_device_program_free(y);
  ttm_free(y);
  g->program = NULL;
  return status;
}

static int fill_run(filler *f, uint32_t call) {
  uint32_t graph = f->p->calls.at[call].graph;
  if (graph >= f->p->graphs.n) return TTM_OK;
  graph_fill *g = &f->graphs[graph];
  rank_fill *r = &f->ranks[f->p->calls.at[call].rank];
  const ttm_dump *dump = ttm_graph_program(f->p, &f->p->graphs.at[graph]);
  uint32_t k = g->next++;
  r->graphs += !g->tried;
  if (!g->tried && dump && read_program(f, r, g, dump, call)) return TTM_ENOMEM;
  g->tried = true;
  if (!g->program || k >= g->program->run.runs.n) return TTM_OK;
  f->noted.n = 0;
  if (f->p->seen.op_lines) return play_lines(f, r, g->program, call, k);
  /* Without operations nothing tells later runs of several programs apart. */
  if (k && r->graphs > 1) return TTM_OK;
  return play_submit(f, r, g->program, call, k);
}

/* ---- States ---- */

static int put_state(filler *f, uint32_t op) {
  const point *at = &f->points.at[op];
  ttm_profile *p = f->p;
  rank_fill *r = &f->ranks[p->calls.at[p->ops.at[op].call].rank];
  ttm_stream *s = f->b->streams.at[p->calls.at[p->ops.at[op].call].rank];
  ttm_block block = {.present = 0};
  for (ttm_memory m = 0; m < TTM_MEMORIES && at->levels != TTM_NONE; m++)
    if (ttm_state_level(p, at->levels, m, &block.levels[m])) block.present |= 1u << m;
  for (int k = 0; k < TTM_PLAYED; k++) {
    ttm_level *level = &block.levels[MEMORY[k]];
    block.present |= 1u << MEMORY[k];
    level->banks = r->device.bank_count[k];
    level->total = ttm_milli_of_bytes(r->device.banks[k].size);
    level->allocated = ttm_milli_of_bytes(at->held[k]);
    if (level->allocated > level->total) level->allocated = level->total;
    level->free = level->total - level->allocated;
    level->largest = ttm_milli_of_bytes(at->largest[k]);
    if (level->largest > level->free) level->largest = level->free;
  }
  ttm_state state = {.op = op,
                     .line = p->ops.at[op].line,
                     .dram_allocated = block.levels[TTM_DRAM].allocated,
                     .dram_free = block.levels[TTM_DRAM].free,
                     .dram_largest = block.levels[TTM_DRAM].largest};
  if (ttm_build_state_base(f->b, s, block.present, block.levels, &state.base)) return TTM_ENOMEM;
  p->ops.at[op].state = (uint32_t)f->states.n;
  return ttm_vec_push(&f->states, state);
}

static bool stands_before(const filler *f, uint32_t state, uint32_t op) {
  if (!f->p->seen.op_lines) return state < f->points.at[op].behind;
  return f->p->states.at[state].line < f->p->ops.at[op].line;
}

static void renumber(ttm_profile *p, const uint32_t *moved, uint32_t *state) {
  if (*state < p->states.n) *state = moved[*state];
}

static void renumber_all(ttm_profile *p, const uint32_t *moved) {
  for (size_t i = 0; i < p->calls.n; i++) {
    renumber(p, moved, &p->calls.at[i].before);
    renumber(p, moved, &p->calls.at[i].after);
  }
  for (size_t i = 0; i < p->incidents.n; i++) {
    ttm_incident *incident = &p->incidents.at[i];
    bool own = incident->op < p->ops.n && p->ops.at[incident->op].state != TTM_NONE;
    if (own)
      incident->state = p->ops.at[incident->op].state;
    else
      renumber(p, moved, &incident->state);
  }
}

/* The states of the log with those of the operations between them. */
static int merge(filler *f) {
  ttm_profile *p = f->p;
  uint32_t *moved = ttm_alloc_array(p->states.n, sizeof *moved), old = 0;
  int status = moved ? TTM_OK : TTM_ENOMEM;
  for (uint32_t op = 0; op <= f->points.n && !status; op++) {
    bool end = op == f->points.n;
    if (!end && !f->points.at[op].known) continue;
    for (; old < p->states.n && (end || stands_before(f, old, op)) && !status; old++) {
      moved[old] = (uint32_t)f->states.n;
      status = ttm_vec_push(&f->states, p->states.at[old]);
    }
    if (!end && !status) status = put_state(f, op);
  }
  if (!status) {
    renumber_all(p, moved);
    ttm_vec_free(&p->states);
    p->states.at = f->states.at, p->states.n = f->states.n, p->states.cap = f->states.cap;
    f->states.at = NULL;
    p->filled = true;
    p->kind = TTM_LOG_FULL;
  }
  ttm_free(moved);
  return status;
}

/* ---- The whole ---- */

static void count_runs(filler *f) {
  const ttm_profile *p = f->p;
  for (size_t r = 0; r < p->ranks.n; r++) f->ranks[r].shape = TTM_NONE;
  for (size_t i = 0; i < p->runs.n; i++)
    if (p->calls.at[p->runs.at[i]].graph < p->graphs.n) f->graphs[p->calls.at[p->runs.at[i]].graph].runs++;
  for (size_t i = 0; i < p->ops.n; i++) {
    uint32_t call = p->ops.at[i].call, graph = call < p->calls.n ? p->calls.at[call].graph : TTM_NONE;
    if (graph < p->graphs.n) f->graphs[graph].ops++;
  }
}

static void free_filler(filler *f) {
  for (size_t r = 0; f->ranks && r < f->p->ranks.n; r++) ttm_device_close(&f->ranks[r].device);
  for (size_t g = 0; f->graphs && g < f->p->graphs.n; g++) {
    if (f->graphs[g].program) ttm_device_program_free(f->graphs[g].program);
    ttm_free(f->graphs[g].program);
  }
  ttm_free(f->ranks);
  ttm_free(f->graphs);
  ttm_vec_free(&f->points);
  ttm_vec_free(&f->noted);
  ttm_vec_free(&f->states);
}

int ttm_build_filled(ttm_builder *b) {
  ttm_profile *p = b->profile;
  filler f = {.b = b, .p = p};
  if ((p->kind != TTM_LOG_OPS && p->kind != TTM_LOG_SUBMIT) || !p->graphs.n || !p->runs.n) return TTM_OK;
  f.ranks = ttm_alloc(p->ranks.n * sizeof *f.ranks);
  f.graphs = ttm_alloc(p->graphs.n * sizeof *f.graphs);
  int status = f.ranks && f.graphs ? TTM_OK : TTM_ENOMEM;
  if (!status) count_runs(&f);
  for (size_t i = 0; i < p->runs.n && !status; i++) status = fill_run(&f, p->runs.at[i]);
  if (!status && f.points.n) status = merge(&f);
  free_filler(&f);
  return status;
}
