/* SPDX-License-Identifier: Apache-2.0 */
/* The rest of a program that did not finish, behind what was recorded of it: its module goes on from the operation at which the log leaves it. */
#include "analyze/ledger.h"
#include "analyze/parts.h"

typedef struct rest_book {
  ttm_ledger *l;
  const ttm_profile *p;
  const ttm_program_need *program;
  const uint32_t *of_tensor;   /* holding + 1 */
  uint32_t *of_buffer;         /* holding + 1 */
  size_t run;                  /* of the module */
  size_t event;                /* of the last operation in the log */
  uint32_t last;               /* that operation; TTM_NONE */
  bool open;                   /* it failed, or the log does not show its results */
  uint32_t op;                 /* that runs, as entries have it */
  const ttm_module_op *cached; /* the load_cached whose program runs; NULL */
  uint32_t depth, cached_depth;
} rest_book;

static const ttm_module_op *module_op(const rest_book *b, uint32_t row) {
  return row == TTM_NO_ROW ? NULL : &b->program->module.ops.at[row];
}

/* ---- What the log holds of it ------------------------------------------------------------------------------------------- */

/* The holding + 1 of a result of an operation of the log; 0. */
static uint32_t held_result(const rest_book *b, uint32_t op, uint32_t result) {
  uint32_t first = b->p->ops.at[op].tensor;
  if (first >= b->p->tensors.n || result >= b->p->tensors.n - first) return 0;
  return b->of_tensor[b->p->tensors.at[first + result].self];
}

/* The buffers that an operation of the log took. */
static void note_op(rest_book *b, uint32_t op, size_t event) {
  const ttm_module_run *r = &b->program->run;
  const ttm_module_op *row = module_op(b, r->events.at[event].op);
  b->last = op;
  b->event = event;
  b->open = b->p->ops.at[op].flags & TTM_OP_FAILED;
  for (size_t i = event + 1; i < r->events.n && r->events.at[i].act >= TTM_RUN_TAKE; i++) {
    const ttm_run_event *e = &r->events.at[i];
    uint32_t value = r->buffers.at[e->what].value;
    if (e->act != TTM_RUN_TAKE || value == TTM_NO_ROW || value - row->results >= row->result_count) continue;
    b->of_buffer[e->what] = held_result(b, op, value - row->results);
    b->open |= !b->of_buffer[e->what];
  }
}

/* The run of the log beside the module's; false when it is none of it. */
static bool follow(rest_book *b, uint32_t run) {
  const ttm_call *call = &b->p->calls.at[run];
  ttm_run_walk walk = ttm_run_walk_start(&b->program->run, b->run, b->p, run);
  uint32_t row;
  for (uint32_t op = call->first_op; op <= call->last_op && op < b->p->ops.n; op++) {
    ttm_walk_step step = ttm_run_walk_op(&walk, op, &row);
    if (step == TTM_WALK_OTHER) return false;
    if (step == TTM_WALK_SAME) note_op(b, op, walk.event - 1);
  }
  return b->last != TTM_NONE;
}

/* ---- What would follow ---------------------------------------------------------------------------------------------------- */

/* The argument of the program that a buffer is, or that it was made of by const-eval or a conversion; NULL. */
static const ttm_graph_arg *argument_of(const rest_book *b, const ttm_module_op *op, uint32_t value) {
  const ttm_module *m = &b->program->module;
  const ttm_module_function *f = &m->functions.at[m->entry];
  const ttm_graph *graph = &b->p->graphs.at[b->program->graph];
  if (b->cached) op = b->cached;
  bool made = op && (b->cached || ttm_op_is_conversion(op->name));
  if (op) value = made && op->operand_count ? m->operands.at[op->operands] : TTM_NO_ROW;
  uint32_t number = value == TTM_NO_ROW ? value : value - f->values;
  return number < f->arg_count && number < graph->args.n ? &graph->args.at[number] : NULL;
}

static int label_of(const rest_book *b, const ttm_module_op *op, const ttm_run_buffer *buffer, uint32_t *out) {
  ttm_label label = {.class = buffer->inner ? TTM_ALIVE_ACTIVATION : TTM_ALIVE_PROGRAM};
  bool guess;
  if (buffer->value == TTM_NO_ROW) return ttm_ledger_label(b->l, label, out);
  const ttm_graph_arg *arg = argument_of(b, op, buffer->value);
  label.class = b->cached ? TTM_ALIVE_CONST_EVAL : op ? TTM_ALIVE_ACTIVATION : TTM_ALIVE_INPUT;
  if (arg) label.class = ttm_alive_class_of(b->p, arg, &guess), label.name = ttm_profile_string(b->p, arg->name);
  if (op) {
    uint32_t known = ttm_intern_find(&b->p->strings, op->name);
    label.op = known ? ttm_profile_string(b->p, known) : op->name;
    if (ttm_module_location(b->program->module.locations, op->location, &label.at)) return TTM_ENOMEM;
  }
  return ttm_ledger_label(b->l, label, out);
}

static int take(rest_book *b, const ttm_run_event *e) {
  const ttm_run_buffer *buffer = &b->program->run.buffers.at[e->what];
  const ttm_tensor_type *type = &b->program->run.types.at[buffer->type];
  const ttm_ledger_device *device = &b->l->devices.at[b->l->devices.n - 1];
  int memory = type->buffer == TTM_BUFFER_L1 ? TTM_REPLAY_L1 : TTM_REPLAY_DRAM;
  if (!device->banks[memory]) return TTM_OK; /* the log says nothing of it */
  ttm_holding holding = {.bytes = ttm_tensor_bank_bytes(type, device->banks[memory], device->align),
                         .total = ttm_tensor_logical_bytes(type),
                         .address = TTM_UNKNOWN,
                         .type = type,
                         .tensor = TTM_NONE,
                         .op = b->op,
                         .rest_use = buffer->kept || buffer->value == TTM_NO_ROW ? 0 : b->op,
                         .memory = (uint8_t)memory,
                         .rest = (uint8_t)(b->l->rest_count + 1),
                         .from_top = memory == TTM_REPLAY_L1};
  if (label_of(b, module_op(b, e->op), buffer, &holding.label) ||
      ttm_ledger_take(b->l, &holding, b->op, &b->of_buffer[e->what]))
    return TTM_ENOMEM;
  b->of_buffer[e->what]++;
  return TTM_OK;
}

/* Arguments lie in what was there before the log. */
static int give_argument(rest_book *b, uint32_t buffer) {
  const ttm_tensor_type *type = &b->program->run.types.at[b->program->run.buffers.at[buffer].type];
  const ttm_ledger_device *device = &b->l->devices.at[b->l->devices.n - 1];
  int memory = type->buffer == TTM_BUFFER_L1 ? TTM_REPLAY_L1 : TTM_REPLAY_DRAM;
  ttm_entry gone = {.holding = TTM_NONE, .op = b->op, .act = TTM_ENTRY_SHRINK};
  for (uint32_t h = 0; h < b->l->holdings.n && device->banks[memory]; h++) {
    const ttm_holding *one = &b->l->holdings.at[h];
    bool before = one->tensor == TTM_NONE && !one->type && one->op == TTM_NONE && one->memory == memory;
    if (before && (gone.holding == TTM_NONE || one->bytes > b->l->holdings.at[gone.holding].bytes)) gone.holding = h;
  }
  if (gone.holding == TTM_NONE) return TTM_OK;
  gone.bytes = ttm_tensor_bank_bytes(type, device->banks[memory], device->align);
  return ttm_vec_push(&b->l->entries, gone);
}

static int give(rest_book *b, const ttm_run_event *e) {
  uint32_t holding = b->of_buffer[e->what];
  if (holding) return ttm_ledger_give(b->l, holding - 1, b->op);
  return b->program->run.buffers.at[e->what].op == TTM_NO_ROW ? give_argument(b, e->what) : TTM_OK;
}

/* What an operation takes is used until then. */
static void use_operands(rest_book *b, const ttm_module_op *op) {
  const ttm_module_run *r = &b->program->run;
  if (ttm_op_kind_of(op->name) == TTM_OP_DEALLOCATE) return;
  for (uint32_t k = 0; k < op->operand_count; k++) {
    uint32_t value = r->module->operands.at[op->operands + k];
    uint32_t buffer = value == TTM_NO_ROW ? value : ttm_module_run_buffer(r, b->run, value);
    uint32_t holding = buffer == TTM_NO_ROW ? 0 : b->of_buffer[buffer];
    if (holding && !r->buffers.at[buffer].kept) b->l->holdings.at[holding - 1].rest_use = b->op;
  }
}

static int begin_op(rest_book *b, size_t event) {
  uint32_t row = b->program->run.events.at[event].op;
  b->op = (uint32_t)(b->p->ops.n + b->l->rest_ops.n);
  if (event == b->event) /* the operation that failed is tried again */
    b->op = b->last;
  else if (ttm_vec_push(&b->l->rest_ops, ((ttm_rest_op){b->program, row})))
    return TTM_ENOMEM;
  use_operands(b, module_op(b, row));
  return TTM_OK;
}

static void pass_function(rest_book *b, const ttm_run_event *e) {
  if (e->act == TTM_RUN_LEAVE && b->depth-- == b->cached_depth) b->cached = NULL;
  if (e->act != TTM_RUN_ENTER) return;
  b->depth++;
  const ttm_module_op *caller = b->cached ? NULL : module_op(b, e->op);
  if (!caller || ttm_op_kind_of(caller->name) != TTM_OP_LOAD_CACHED) return;
  b->cached = caller;
  b->cached_depth = b->depth;
}

static int go_on(rest_book *b) {
  const ttm_module_run *r = &b->program->run;
  size_t start = b->event + !b->open, end = b->run + 1 < r->runs.n ? r->runs.at[b->run + 1] : r->events.n;
  int status = TTM_OK;
  while (!b->open && start < r->events.n && r->events.at[start].act != TTM_RUN_OP) start++;
  for (size_t i = r->runs.at[b->run]; i < end && !status; i++) {
    const ttm_run_event *e = &r->events.at[i];
    if (e->act == TTM_RUN_ENTER || e->act == TTM_RUN_LEAVE) pass_function(b, e);
    if (i < start) continue;
    if (e->act == TTM_RUN_OP) status = begin_op(b, i);
    if (e->act == TTM_RUN_TAKE) status = take(b, e);
    if (e->act == TTM_RUN_GIVE) status = give(b, e);
  }
  return status;
}

/* ---- Which one ------------------------------------------------------------------------------------------------------------- */

static const ttm_program_need *find_program(const ttm_prediction *all, uint32_t graph) {
  for (size_t i = 0; i < all->programs.n; i++)
    if (all->programs.at[i]->graph == graph) return all->programs.at[i];
  return NULL;
}

/* Whether a run of the same graph and rank has finished before. */
static bool has_run(const ttm_profile *p, uint32_t run) {
  const ttm_call *call = &p->calls.at[run];
  for (size_t i = 0; i < p->runs.n && p->runs.at[i] < run; i++) {
    const ttm_call *other = &p->calls.at[p->runs.at[i]];
    if (other->finished && other->graph == call->graph && other->rank == call->rank) return true;
  }
  return false;
}

int ttm_ledger_add_rest(ttm_ledger *l, const uint32_t *of_tensor, uint32_t run, uint32_t incident) {
  const ttm_findings *f = l->findings;
  rest_book b = {.l = l, .p = f->profile, .of_tensor = of_tensor, .last = TTM_NONE};
  if (l->rest_count == TTM_RESTS || f->profile->calls.at[run].finished) return TTM_OK;
  b.program = find_program(&f->prediction, f->profile->calls.at[run].graph);
  b.run = has_run(f->profile, run);
  if (!b.program || b.run >= b.program->run.runs.n) return TTM_OK;
  b.of_buffer = ttm_alloc_array(b.program->run.buffers.n, sizeof *b.of_buffer);
  int status = b.of_buffer ? TTM_OK : TTM_ENOMEM;
  if (!status && follow(&b, run)) {
    size_t first = l->entries.n;
    status = go_on(&b);
    if (l->entries.n > first)
      l->rests[l->rest_count++] = (ttm_program_rest){b.program, run, incident, b.last, first, l->entries.n};
  }
  ttm_free(b.of_buffer);
  return status;
}

int ttm_ledger_end_rest(ttm_ledger *l, const uint32_t *of_tensor, uint32_t rank) {
  const ttm_profile *p = l->findings->profile;
  size_t i = p->runs.n;
  while (i && p->calls.at[p->runs.at[i - 1]].rank != rank) i--;
  if (!i || has_run(p, p->runs.at[i - 1])) return TTM_OK;
  for (size_t k = 0; k < l->rest_count; k++)
    if (l->rests[k].run == p->runs.at[i - 1]) return TTM_OK;
  return ttm_ledger_add_rest(l, of_tensor, p->runs.at[i - 1], TTM_NONE);
}

const ttm_rest_op *ttm_ledger_rest_op(const ttm_ledger *l, uint32_t op) {
  size_t first = l->findings->profile->ops.n;
  return op >= first && op - first < l->rest_ops.n ? &l->rest_ops.at[op - first] : NULL;
}

uint32_t ttm_incident_run(const ttm_profile *p, size_t incident) {
  uint32_t op = incident < p->incidents.n ? p->incidents.at[incident].op : TTM_NONE;
  return op < p->ops.n && p->ops.at[op].call < p->calls.n ? ttm_call_top(p, p->ops.at[op].call) : TTM_NONE;
}

size_t ttm_ledger_rest_of(const ttm_ledger *l, uint32_t incident) {
  uint32_t run = ttm_incident_run(l->findings->profile, incident);
  for (size_t k = 0; k < l->rest_count; k++)
    if (l->rests[k].run == run) return k;
  return TTM_RESTS;
}
