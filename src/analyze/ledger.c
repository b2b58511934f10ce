/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/ledger.h"

#include "analyze/parts.h"
#include "analyze/words.h"
#include "base/checked.h"
#include "base/hash.h"

/* ---- Entries ---------------------------------------------------------------------------------------------------------- */

int ttm_ledger_take(ttm_ledger *l, const ttm_holding *holding, uint32_t op, uint32_t *out) {
  *out = (uint32_t)l->holdings.n;
  if (ttm_vec_push(&l->holdings, *holding)) return TTM_ENOMEM;
  return ttm_vec_push(&l->entries, ((ttm_entry){.holding = *out, .op = op, .act = TTM_ENTRY_TAKE}));
}

int ttm_ledger_give(ttm_ledger *l, uint32_t holding, uint32_t op) {
  return ttm_vec_push(&l->entries, ((ttm_entry){.holding = holding, .op = op, .act = TTM_ENTRY_GIVE}));
}

/* Words of the profile are stored once, so that their addresses tell them apart. */
int ttm_ledger_label(ttm_ledger *l, ttm_label label, uint32_t *out) {
  const void *words[] = {label.name.p, label.op.p, label.at.p, (const void *)(uintptr_t)label.class};
  uint64_t key = ttm_hash(words, sizeof words, ttm_hash_seed());
  for (; (*out = ttm_map_get(&l->label_ids, key, TTM_NONE)) != TTM_NONE; key++) {
    const ttm_label *known = &l->labels.at[*out];
    if (known->name.p == label.name.p && known->op.p == label.op.p && known->at.p == label.at.p &&
        known->class == label.class)
      return TTM_OK;
  }
  *out = (uint32_t)l->labels.n;
  return ttm_vec_push(&l->labels, label) ? TTM_ENOMEM : ttm_map_set(&l->label_ids, key, *out);
}

/* The device that is open. */
static const ttm_ledger_device *device_of(const ttm_ledger *l) { return &l->devices.at[l->devices.n - 1]; }

static int open_device(ttm_ledger *l, ttm_ledger_device device, uint32_t op) {
  uint32_t number = (uint32_t)l->devices.n;
  if (ttm_vec_push(&l->devices, device)) return TTM_ENOMEM;
  if (!number) return TTM_OK;
  return ttm_vec_push(&l->entries, ((ttm_entry){.holding = number, .op = op, .act = TTM_ENTRY_DEVICE}));
}

bool ttm_class_grows(ttm_alive_class class) {
  return class == TTM_ALIVE_ACTIVATION || class == TTM_ALIVE_INPUT || class == TTM_ALIVE_KV_CACHE;
}

static ttm_label label_of_op(const ttm_profile *p, uint32_t op) {
  ttm_alive_origin origin = ttm_alive_origin_of(p, op, 0);
  const ttm_op_text *text = ttm_op_text_of(p, op);
  return (ttm_label){ttm_profile_string(p, origin.name), ttm_profile_string(p, text->name),
                     ttm_profile_string(p, text->location), origin.class};
}

static const ttm_tensor_type *type_of(const ttm_profile *p, uint32_t type) {
  return type < p->types.n && p->types.at[type].is_tensor ? &p->types.at[type].tensor : NULL;
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------------- */

/* The memory of an out-of-memory message with the numbers that count, as TTM_REPLAY_*; -1. */
static int refused_memory(const ttm_incident_text *what) {
  ttm_memory memory;
  if (what->kind != TTM_INCIDENT_OOM || !ttm_memory_of(what->memory, &memory)) return -1;
  if (what->needed_per_bank == TTM_UNKNOWN) return -1;
  return memory == TTM_DRAM ? TTM_REPLAY_DRAM : memory == TTM_L1 ? TTM_REPLAY_L1 : -1;
}

/* The result of the operation that needs just that much; NULL when it was something else that was refused. */
static const ttm_tensor_type *refused_type(const ttm_ledger *l, uint32_t op, const ttm_holding *holding) {
  const ttm_profile *p = l->findings->profile;
  const ttm_ledger_device *device = device_of(l);
  const ttm_op_text *text = ttm_op_text_of(p, op);
  for (uint32_t k = 0; k < text->outputs.n; k++) {
    const ttm_tensor_type *type = ttm_op_text_output(p, text, k);
    if (!type || !type->has_layout || (type->buffer == TTM_BUFFER_L1) != (holding->memory == TTM_REPLAY_L1)) continue;
    if (ttm_tensor_bank_bytes(type, device->banks[holding->memory], device->align) == holding->bytes) return type;
  }
  return NULL;
}

/* A capture does not tell what a refused tensor was to be; the last one of the same place and size does. */
static const ttm_tensor_type *type_alike(const ttm_ledger *l, const ttm_holding *holding) {
  for (size_t i = l->holdings.n; i-- > 0;) {
    const ttm_holding *h = &l->holdings.at[i];
    if (h->label == holding->label && h->bytes == holding->bytes && h->memory == holding->memory && h->type)
      return h->type;
  }
  return NULL;
}

/* The refusal, and around it what the operation itself had allocated by then, which only the message tells. `held` is the level. */
static int add_refusal(ttm_ledger *l, uint32_t incident, const uint64_t *held) {
  const ttm_profile *p = l->findings->profile;
  const ttm_incident *row = &p->incidents.at[incident];
  const ttm_incident_text *what = &row->what;
  int memory = refused_memory(what), status = TTM_OK;
  if (memory < 0) return TTM_OK;
  uint64_t size =
      what->size != TTM_UNKNOWN ? what->size : ttm_mul_sat(what->needed_per_bank, device_of(l)->banks[memory]);
  ttm_holding holding = {.bytes = ttm_round_up(what->needed_per_bank, device_of(l)->align.dram),
                         .total = size,
                         .page = size % 2048 == 0 ? 2048 : 0,
                         .address = TTM_UNKNOWN,
                         .tensor = TTM_NONE,
                         .op = row->op,
                         .memory = (uint8_t)memory,
                         .from_top = memory == TTM_REPLAY_L1};
  ttm_label label = {.class = TTM_ALIVE_PROGRAM};
  if (row->op < p->ops.n) holding.type = refused_type(l, row->op, &holding), label = label_of_op(p, row->op);
  uint32_t op = row->op < p->ops.n ? row->op : (uint32_t)p->ops.n, inside = TTM_NONE;
  uint64_t before = what->allocated_per_bank;
  if (before != TTM_UNKNOWN && before > held[memory] + l->slack) {
    ttm_holding own = {.bytes = before - held[memory], .address = TTM_UNKNOWN, .tensor = TTM_NONE, .op = TTM_NONE};
    own.memory = (uint8_t)memory, own.from_top = holding.from_top;
    own.total = ttm_mul_sat(own.bytes, device_of(l)->banks[memory]);
    status = ttm_ledger_label(l, (ttm_label){.class = TTM_ALIVE_PROGRAM}, &own.label);
    if (!status) status = ttm_ledger_take(l, &own, op, &inside);
  }
  uint32_t number;
  if (!status) status = ttm_ledger_label(l, label, &holding.label);
  if (!status && !holding.type) holding.type = type_alike(l, &holding);
  if (!status) status = ttm_ledger_take(l, &holding, op, &number);
  if (status) return status;
  ttm_entry *entry = &l->entries.at[l->entries.n - 1];
  entry->act = TTM_ENTRY_REFUSED;
  entry->incident = incident;
  return inside == TTM_NONE ? TTM_OK : ttm_ledger_give(l, inside, op);
}

/* ---- Logs --------------------------------------------------------------------------------------------------------------- */

typedef struct log_book {
  const ttm_findings *f;
  const ttm_profile *p;
  ttm_ledger *out;
  ttm_replay replay;
  uint32_t device;                 /* of the replay: the one in the ledger */
  uint32_t *of_tensor;             /* holding + 1 */
  ttm_map of_extra;                /* address and memory -> holding + 1 */
  TTM_VEC(ttm_alive_row) unplaced; /* arguments that no extra was large enough for yet */
  bool *repeats;                   /* by call */
  bool skip;                       /* the run is one that was seen before */
  size_t next_incident;
} log_book;

/* What a run does to memory. */
typedef struct run_key {
  uint64_t signature;
  uint32_t start, peak, end, name;
} run_key;

/* A run with the same operations from the same level to the same peak does the same to memory: once is enough. Where the last one leads to
 * does not matter. */
static int find_repeats(log_book *b) {
  const ttm_profile *p = b->p;
  ttm_intern seen = {0};
  run_key before = {.start = TTM_NONE};
  uint32_t last = TTM_NONE, id;
  int status = TTM_OK;
  bool like_the_last = false;
  for (uint32_t i = 0; i < b->f->runs.n && !status; i++) {
    const ttm_run *run = &b->f->runs.at[i];
    const ttm_call *call = &p->calls.at[run->call];
    run_key key = {call->signature, run->start, run->peak, run->end, call->name};
    size_t known = seen.strings.n;
    if (call->rank != b->replay.rank) continue;
    status = ttm_intern_add(&seen, (ttm_str){(const char *)&key, sizeof key}, &id);
    b->repeats[run->call] = known && seen.strings.n == known && run->start != TTM_NONE;
    like_the_last = key.start != TTM_NONE && key.signature == before.signature && key.start == before.start &&
                    key.peak == before.peak && key.name == before.name;
    before = key;
    last = run->call;
  }
  if (like_the_last) b->repeats[last] = true;
  ttm_intern_free(&seen);
  return status;
}

/* The replay may end behind the last run that differs, with the next one's first operation: its state shows what the host did in between. */
static uint32_t end_of_replay(const log_book *b) {
  const ttm_profile *p = b->p;
  uint32_t end = 0;
  for (uint32_t i = 0; i < b->f->runs.n; i++) {
    uint32_t call = b->f->runs.at[i].call;
    if (p->calls.at[call].rank == b->replay.rank && !b->repeats[call] && p->calls.at[call].last_op < p->ops.n)
      end = p->calls.at[call].last_op + 1;
  }
  for (size_t i = 0; i < p->incidents.n; i++)
    if (p->incidents.at[i].op < p->ops.n && p->incidents.at[i].op >= end) end = p->incidents.at[i].op + 1;
  for (uint32_t i = 0; i < b->f->runs.n && end; i++) {
    const ttm_call *call = &p->calls.at[b->f->runs.at[i].call];
    if (call->rank == b->replay.rank && call->first_op < p->ops.n && call->first_op >= end) return call->first_op + 1;
  }
  return (uint32_t)p->ops.n;
}

static void enter_call(log_book *b, uint32_t op) {
  const ttm_profile *p = b->p;
  if (op < p->ops.n && p->ops.at[op].call < p->calls.n) b->skip = b->repeats[ttm_call_top(p, p->ops.at[op].call)];
}

/* What would have followed the last incident of a run. */
static int add_rest(log_book *b) {
  uint32_t run = ttm_incident_run(b->p, b->next_incident);
  if (run == TTM_NONE || run == ttm_incident_run(b->p, b->next_incident + 1)) return TTM_OK;
  return ttm_ledger_add_rest(b->out, b->of_tensor, run, (uint32_t)b->next_incident);
}

/* The level before an event that the replay has just made; NULL: none. */
static uint64_t held_before(const log_book *b, int memory, const ttm_replay_event *event) {
  uint64_t held = ttm_replay_held(&b->replay.memories[memory]);
  if (!event || event->memory != memory) return held;
  bool more = event->act == TTM_REPLAY_TAKE || event->act == TTM_REPLAY_EXTRA;
  return more ? ttm_sub_sat(held, event->bytes) : ttm_add_sat(held, event->bytes);
}

/* Refusals up to the operation that is taken now; during `op` what failed in it is over. */
static int pass_incidents(log_book *b, uint32_t op, const ttm_replay_event *event) {
  const ttm_profile *p = b->p;
  for (; b->next_incident < p->incidents.n; b->next_incident++) {
    const ttm_incident *row = &p->incidents.at[b->next_incident];
    bool over = row->op < p->ops.n          ? row->op < b->replay.next || row->op == op
                : b->replay.next < p->ops.n ? row->line < p->ops.at[b->replay.next].line
                                            : true;
    if (!over) return TTM_OK;
    uint64_t held[TTM_REPLAY_MEMORIES];
    for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) held[m] = held_before(b, m, event);
    if (row->rank != b->replay.rank || b->skip) continue;
    if (add_refusal(b->out, (uint32_t)b->next_incident, held) || add_rest(b)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* What a run leaves behind is there for the next ones, though the run itself did the same as one before. */
static bool outlives_run(const ttm_profile *p, uint32_t tensor) {
  uint32_t freed = p->tensors.at[tensor].freed_by, birth = p->ops.at[p->tensors.at[tensor].birth].call;
  return freed >= p->ops.n || birth >= p->calls.n || p->ops.at[freed].call >= p->calls.n ||
         ttm_call_top(p, p->ops.at[freed].call) != ttm_call_top(p, birth);
}

static int note_tensor(log_book *b, const ttm_replay_event *event, uint32_t op) {
  uint32_t *known = &b->of_tensor[event->tensor];
  if (event->act == TTM_REPLAY_GIVE) {
    uint32_t holding = *known;
    *known = 0;
    return holding ? ttm_ledger_give(b->out, holding - 1, op) : TTM_OK;
  }
  if (b->skip && !outlives_run(b->p, event->tensor)) return TTM_OK;
  uint32_t birth = b->p->tensors.at[event->tensor].birth;
  ttm_holding holding = {.bytes = event->bytes,
                         .address = TTM_UNKNOWN,
                         .type = type_of(b->p, event->type),
                         .tensor = event->tensor,
                         .op = birth,
                         .memory = (uint8_t)event->memory,
                         .from_top = event->memory == TTM_REPLAY_L1};
  if (ttm_ledger_label(b->out, label_of_op(b->p, birth), &holding.label)) return TTM_ENOMEM;
  if (ttm_ledger_take(b->out, &holding, op, known)) return TTM_ENOMEM;
  ++*known;
  return TTM_OK;
}

/* The arguments that lie in memory which was there before an operation explains it, as far as they fit. */
static int place_arguments(log_book *b, ttm_holding *holding) {
  uint64_t room = holding->bytes;
  size_t left = 0;
  holding->first_argument = (uint32_t)b->out->arguments.n;
  for (size_t i = 0; i < b->unplaced.n; i++) {
    const ttm_alive_row row = b->unplaced.at[i];
    if (row.bank_bytes > room + b->out->slack) {
      b->unplaced.at[left++] = row;
      continue;
    }
    ttm_held_argument argument = {type_of(b->p, row.type), row.bank_bytes, 0};
    ttm_label label = {.name = ttm_profile_string(b->p, row.name), .class = row.class};
    if (ttm_ledger_label(b->out, label, &argument.label) || ttm_vec_push(&b->out->arguments, argument))
      return TTM_ENOMEM;
    room -= row.bank_bytes < room ? row.bank_bytes : room;
    holding->arguments++;
  }
  b->unplaced.n = left;
  return TTM_OK;
}

static int note_extra(log_book *b, const ttm_replay_event *event, uint32_t op) {
  uint64_t key = event->at * TTM_REPLAY_MEMORIES + (uint64_t)event->memory;
  uint32_t known = ttm_map_get(&b->of_extra, key, 0);
  if (event->act == TTM_REPLAY_EXTRA_GONE) {
    ttm_entry gone = {.bytes = event->bytes, .holding = known - 1, .op = op, .act = TTM_ENTRY_SHRINK};
    return known ? ttm_vec_push(&b->out->entries, gone) : TTM_OK;
  }
  ttm_holding holding = {.bytes = event->bytes,
                         .total = ttm_mul_sat(event->bytes, device_of(b->out)->banks[event->memory]),
                         .address = TTM_UNKNOWN,
                         .tensor = TTM_NONE,
                         .op = event->op,
                         .memory = (uint8_t)event->memory,
                         .from_top = (event->memory == TTM_REPLAY_L1) != (event->op != TTM_NONE)};
  ttm_label label = {.class = event->op == TTM_NONE ? TTM_ALIVE_UNACCOUNTED : TTM_ALIVE_PROGRAM};
  if (event->op == TTM_NONE && event->memory == TTM_REPLAY_DRAM && place_arguments(b, &holding)) return TTM_ENOMEM;
  if (ttm_ledger_label(b->out, label, &holding.label) || ttm_ledger_take(b->out, &holding, op, &known))
    return TTM_ENOMEM;
  return ttm_map_set(&b->of_extra, key, known + 1);
}

static int follow_device(log_book *b, uint32_t op) {
  const ttm_replay_memory *m = b->replay.memories;
  if (b->device == b->replay.device) return TTM_OK;
  b->device = b->replay.device;
  ttm_ledger_device device = {{m[0].banks, m[1].banks}, {m[0].bank.size, m[1].bank.size}, b->replay.align};
  return open_device(b->out, device, op);
}

static int on_event(void *context, const ttm_replay_event *event) {
  log_book *b = context;
  uint32_t op = event->op != TTM_NONE ? event->op : b->replay.next;
  if (follow_device(b, op)) return TTM_ENOMEM;
  if (pass_incidents(b, event->op, event)) return TTM_ENOMEM;
  enter_call(b, event->op);
  return event->tensor != TTM_NONE ? note_tensor(b, event, op) : note_extra(b, event, op);
}

static uint32_t rank_of(const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  for (size_t i = 0; i < p->incidents.n; i++)
    if (refused_memory(&p->incidents.at[i].what) >= 0) return p->incidents.at[i].rank;
  return f->peak[TTM_DRAM].known ? ttm_state_rank(p, f->peak[TTM_DRAM].state) : 0;
}

static int begin_log(log_book *b) {
  const ttm_profile *p = b->p;
  b->of_tensor = ttm_alloc_array(p->tensors.n, sizeof *b->of_tensor);
  b->repeats = ttm_alloc_array(p->calls.n, sizeof *b->repeats);
  if (!b->of_tensor || !b->repeats) return TTM_ENOMEM;
  const ttm_alive_set *set = &b->f->alive_set[TTM_DRAM];
  for (size_t i = 0; i < set->arguments.n; i++)
    if (ttm_vec_push(&b->unplaced, set->arguments.at[i])) return TTM_ENOMEM;
  int status = ttm_replay_init(&b->replay, p, rank_of(b->f));
  return status ? status : find_repeats(b);
}

static int read_log(ttm_ledger *l) {
  const ttm_findings *f = l->findings;
  log_book b = {.f = f, .p = f->profile, .out = l};
  int status = begin_log(&b);
  b.replay.watch = on_event;
  b.replay.context = &b;
  l->slack = 4 * TTM_LEVEL_SLACK;
  if (!status) status = follow_device(&b, 0);
  if (!status) status = ttm_replay_to_op(&b.replay, end_of_replay(&b));
  if (!status) status = pass_incidents(&b, TTM_NONE, NULL);
  if (!status) status = ttm_ledger_end_rest(l, b.of_tensor, b.replay.rank);
  const ttm_replay_memory *dram = &b.replay.memories[TTM_REPLAY_DRAM];
  l->states = dram->states;
  l->agree = dram->agree;
  for (size_t i = 0; i < dram->extras.n; i++) l->unaccounted += dram->extras.at[i].size;
  ttm_replay_free(&b.replay);
  ttm_map_free(&b.of_extra);
  ttm_vec_free(&b.unplaced);
  ttm_free(b.of_tensor);
  ttm_free(b.repeats);
  return status;
}

/* ---- Captures ------------------------------------------------------------------------------------------------------------ */

typedef struct capture_book {
  const ttm_profile *p;
  ttm_ledger *out;
  uint32_t device;
  uint32_t *of_buffer; /* holding + 1 */
  uint64_t base[TTM_REPLAY_MEMORIES];
  uint64_t held[TTM_REPLAY_MEMORIES];
  uint32_t correction[TTM_REPLAY_MEMORIES]; /* holding + 1: what the allocator counts and no buffer explains */
  size_t next_incident;
} capture_book;

static int memory_of(uint8_t memory) {
  return memory == TTM_DRAM ? TTM_REPLAY_DRAM : memory == TTM_L1 ? TTM_REPLAY_L1 : -1;
}

/* Where the banks begin: as the allocator said, else where the lowest buffer lies. */
static void find_bases(capture_book *b) {
  const ttm_capture *c = &b->p->capture;
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) b->base[m] = TTM_UNKNOWN;
  for (size_t i = 0; i < c->events.n; i++) {
    const ttm_buffer_event *e = &c->events.at[i];
    int m = e->kind == TTM_EVENT_MEASURED ? memory_of((uint8_t)e->row) : -1;
    if (m >= 0 && e->device == b->device && e->address != TTM_UNKNOWN) b->base[m] = e->address;
  }
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) {
    for (size_t i = 0; i < c->buffers.n && b->base[m] == TTM_UNKNOWN; i++)
      if (m == TTM_REPLAY_DRAM && memory_of(c->buffers.at[i].memory) == m) b->base[m] = c->buffers.at[i].address;
  }
}

static int note_buffer(capture_book *b, uint32_t row, uint32_t op) {
  const ttm_profile *p = b->p;
  const ttm_buffer *buffer = &p->capture.buffers.at[row];
  int m = memory_of(buffer->memory);
  if (m < 0 || buffer->device != b->device || buffer->place_n) return TTM_OK; /* a replay is in lock step */
  ttm_holding holding = {.bytes = buffer->bank_bytes,
                         .total = buffer->bytes,
                         .page = buffer->page,
                         .address = TTM_UNKNOWN,
                         .tensor = buffer->tensor,
                         .op = buffer->op,
                         .memory = (uint8_t)m,
                         .from_top = m == TTM_REPLAY_L1 || buffer->trace};
  ttm_label label = {.class = buffer->op == TTM_NONE ? TTM_ALIVE_INPUT : TTM_ALIVE_PROGRAM};
  if (buffer->op != TTM_NONE) {
    ttm_alive_origin origin = ttm_alive_origin_of_buffer(p, buffer);
    label = label_of_op(p, buffer->op);
    label.class = origin.class;
    label.name = ttm_profile_string(p, origin.name);
  }
  if (buffer->kernels || buffer->trace) label.class = TTM_ALIVE_PROGRAM;
  if (buffer->tensor != TTM_NONE) holding.type = type_of(p, ttm_tensor_type_id(p, buffer->tensor));
  if (buffer->address != TTM_UNKNOWN && b->base[m] != TTM_UNKNOWN && buffer->address >= b->base[m])
    holding.address = buffer->address - b->base[m];
  if (ttm_ledger_label(b->out, label, &holding.label)) return TTM_ENOMEM;
  b->held[m] = ttm_add_sat(b->held[m], buffer->bank_bytes);
  int status = ttm_ledger_take(b->out, &holding, op, &b->of_buffer[row]);
  b->of_buffer[row]++;
  return status;
}

static int note_free(capture_book *b, uint32_t row) {
  const ttm_buffer *buffer = &b->p->capture.buffers.at[row];
  uint32_t holding = b->of_buffer[row];
  if (!holding) return TTM_OK;
  int m = memory_of(buffer->memory);
  b->of_buffer[row] = 0;
  b->held[m] = ttm_sub_sat(b->held[m], buffer->bank_bytes);
  return ttm_ledger_give(b->out, holding - 1, buffer->freed_by);
}

/* The allocator's own word is final: what it counts more is memory that no buffer explains. */
static int note_measured(capture_book *b, const ttm_buffer_event *e, uint32_t op) {
  int m = memory_of((uint8_t)e->row);
  if (m < 0 || e->device != b->device || e->bytes == b->held[m]) return TTM_OK;
  if (e->bytes < b->held[m]) {
    uint64_t gone = b->held[m] - e->bytes;
    ttm_entry shrink = {.bytes = gone, .holding = b->correction[m] - 1, .op = op, .act = TTM_ENTRY_SHRINK};
    if (!b->correction[m]) return TTM_OK; /* a buffer that nobody saw go */
    b->held[m] = e->bytes;
    return ttm_vec_push(&b->out->entries, shrink);
  }
  ttm_holding more = {.bytes = e->bytes - b->held[m], .address = TTM_UNKNOWN, .tensor = TTM_NONE, .op = TTM_NONE};
  more.total = ttm_mul_sat(more.bytes, device_of(b->out)->banks[m]);
  more.memory = (uint8_t)m, more.from_top = m != TTM_REPLAY_L1;
  b->held[m] = e->bytes;
  if (ttm_ledger_label(b->out, (ttm_label){.class = TTM_ALIVE_UNACCOUNTED}, &more.label) ||
      ttm_ledger_take(b->out, &more, op, &b->correction[m]))
    return TTM_ENOMEM;
  b->correction[m]++;
  return TTM_OK;
}

static int note_event(capture_book *b, const ttm_buffer_event *e, uint32_t *op) {
  const ttm_capture *c = &b->p->capture;
  bool buffer = e->row < c->buffers.n && (e->kind == TTM_EVENT_ALLOCATE || e->kind == TTM_EVENT_FREE);
  if (buffer) *op = e->kind == TTM_EVENT_FREE ? c->buffers.at[e->row].freed_by : c->buffers.at[e->row].op;
  for (; buffer && b->next_incident < b->p->incidents.n; b->next_incident++) {
    if (b->p->incidents.at[b->next_incident].op >= *op) break;
    if (add_refusal(b->out, (uint32_t)b->next_incident, b->held)) return TTM_ENOMEM;
  }
  if (e->kind == TTM_EVENT_MEASURED) return note_measured(b, e, *op);
  if (!buffer) return TTM_OK;
  return e->kind == TTM_EVENT_FREE ? note_free(b, e->row) : note_buffer(b, e->row, *op);
}

static int read_capture(ttm_ledger *l) {
  const ttm_findings *f = l->findings;
  const ttm_capture *c = &f->profile->capture;
  capture_book b = {.p = f->profile, .out = l, .device = f->alive_set[TTM_DRAM].device};
  int status = TTM_OK;
  uint32_t op = 0;
  ttm_ledger_device device = {{(uint32_t)c->board.dram_banks, (uint32_t)c->board.l1_banks},
                              {c->board.dram_bank_bytes, c->board.l1_bank_bytes},
                              ttm_profile_alignment(b.p)};
  if (open_device(l, device, 0)) return TTM_ENOMEM;
  b.of_buffer = ttm_alloc_array(c->buffers.n, sizeof *b.of_buffer);
  if (!b.of_buffer) return TTM_ENOMEM;
  find_bases(&b);
  for (uint32_t i = 0; i < c->buffers.n && !status; i++)
    if (c->buffers.at[i].op == TTM_NONE) status = note_buffer(&b, i, 0);
  for (size_t i = 0; i < c->events.n && !status; i++) status = note_event(&b, &c->events.at[i], &op);
  for (; b.next_incident < b.p->incidents.n && !status; b.next_incident++)
    status = add_refusal(l, (uint32_t)b.next_incident, b.held);
  ttm_free(b.of_buffer);
  return status;
}

/* ---- Both ---------------------------------------------------------------------------------------------------------------- */

bool ttm_ledger_possible(const ttm_profile *p) {
  return (p->kind == TTM_LOG_FULL || p->kind == TTM_LOG_OPS || p->kind == TTM_LOG_CAPTURE) &&
         ttm_profile_frees_known(p);
}

int ttm_ledger_make(ttm_ledger *out, const ttm_findings *f) {
  *out = (ttm_ledger){.findings = f};
  bool captured = f->profile->kind == TTM_LOG_CAPTURE;
  int status = captured ? read_capture(out) : read_log(out);
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) {
    ttm_memory memory = m == TTM_REPLAY_L1 ? TTM_L1 : TTM_DRAM;
    const ttm_peak *peak = &f->peak[memory];
    uint64_t level = peak->known ? ttm_level_bytes(peak->level.allocated) : 0;
    if (captured) level = f->profile->capture.peak_bytes[memory];
    out->measured[m] = peak->in_op_bytes > level ? peak->in_op_bytes : level;
  }
  return status;
}

void ttm_ledger_free(ttm_ledger *l) {
  ttm_vec_free(&l->entries);
  ttm_vec_free(&l->holdings);
  ttm_vec_free(&l->arguments);
  ttm_vec_free(&l->labels);
  ttm_vec_free(&l->devices);
  ttm_vec_free(&l->rest_ops);
  ttm_map_free(&l->label_ids);
}
