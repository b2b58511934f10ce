/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/fit.h"

#include "analyze/parts.h"
#include "analyze/replay.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/map.h"

/* What the log did, in order; played on every board and batch. */
typedef struct move {
  uint32_t what; /* tensor; extras: their number among the extras */
  uint32_t type; /* TTM_NONE for extras */
  uint32_t op;
  uint8_t act; /* ttm_replay_act */
  uint8_t memory;
  uint8_t grows;  /* with the batch */
  uint8_t weight; /* may be stored in another dtype */
  uint64_t bytes; /* extras: over all banks */
} move;

typedef struct recording {
  const ttm_profile *p;
  ttm_replay replay;
  TTM_VEC(move) moves;
  ttm_map extra_ids; /* address and memory -> number + 1 */
  uint32_t extras;
  uint64_t *recorded; /* bit per tensor */
  bool skip;          /* the run is one that was recorded before */
  uint32_t seen_call;
  ttm_intern runs; /* signature, start and peak of the runs seen */
  const ttm_findings *f;
  uint32_t *run_of_call;
} recording;

/* ---- Recording -------------------------------------------------------------------------------------------------------------- */

/* A run with the same operations from the same level to the same peak does the same to memory: once is enough. */
static int enter_call(recording *r, uint32_t op) {
  uint32_t top =
      op < r->p->ops.n && r->p->ops.at[op].call < r->p->calls.n ? ttm_call_top(r->p, r->p->ops.at[op].call) : TTM_NONE;
  if (top == TTM_NONE || top == r->seen_call) return TTM_OK;
  r->seen_call = top;
  uint32_t run = r->run_of_call[top], before = (uint32_t)r->runs.strings.n, id;
  struct {
    uint64_t signature;
    uint32_t start, peak, end, name;
  } key = {r->p->calls.at[top].signature, 0, 0, 0, r->p->calls.at[top].name};
  if (run < r->f->runs.n) {
    key.start = r->f->runs.at[run].start;
    key.peak = r->f->runs.at[run].peak;
    key.end = r->f->runs.at[run].end;
  }
  if (ttm_intern_add(&r->runs, (ttm_str){(const char *)&key, sizeof key}, &id)) return TTM_ENOMEM;
  r->skip = r->runs.strings.n == before && before != 0 && key.start != TTM_NONE;
  return TTM_OK;
}

static bool grows(ttm_alive_class class) {
  return class == TTM_ALIVE_ACTIVATION || class == TTM_ALIVE_INPUT || class == TTM_ALIVE_KV_CACHE;
}

/* What a run leaves behind is there for the next ones, though the run itself did the same as one before. */
static bool outlives_run(const ttm_profile *p, uint32_t tensor) {
  uint32_t freed = p->tensors.at[tensor].freed_by, birth = p->ops.at[p->tensors.at[tensor].birth].call;
  return freed >= p->ops.n || birth >= p->calls.n || p->ops.at[freed].call >= p->calls.n ||
         ttm_call_top(p, p->ops.at[freed].call) != ttm_call_top(p, birth);
}

static int record_tensor(recording *r, const ttm_replay_event *event) {
  uint64_t *bits = &r->recorded[event->tensor / 64], bit = UINT64_C(1) << (event->tensor % 64);
  bool take = event->act == TTM_REPLAY_TAKE;
  if (take ? r->skip && !outlives_run(r->p, event->tensor) : !(*bits & bit)) return TTM_OK;
  if (take)
    *bits |= bit;
  else
    *bits &= ~bit;
  uint32_t birth = r->p->tensors.at[event->tensor].birth;
  ttm_alive_class class = ttm_alive_origin_of(r->p, birth, 0).class;
  move m = {.what = event->tensor,
            .type = event->type,
            .op = event->op,
            .act = (uint8_t)event->act,
            .memory = (uint8_t)event->memory};
  m.weight = class == TTM_ALIVE_WEIGHT;
  m.grows = grows(class);
  return ttm_vec_push(&r->moves, m) ? TTM_ENOMEM : TTM_OK;
}

static int record_extra(recording *r, const ttm_replay_event *event) {
  uint64_t key = event->at * TTM_REPLAY_MEMORIES + event->memory;
  uint32_t id = ttm_map_get(&r->extra_ids, key, 0);
  if (event->act == TTM_REPLAY_EXTRA) {
    id = ++r->extras;
    if (ttm_map_set(&r->extra_ids, key, id)) return TTM_ENOMEM;
  } else if (!id) {
    return TTM_OK;
  }
  uint64_t banks = r->replay.memories[event->memory].banks;
  move m = {.what = id - 1,
            .type = TTM_NONE,
            .op = event->op,
            .act = (uint8_t)event->act,
            .memory = (uint8_t)event->memory,
            .bytes = ttm_mul_sat(event->bytes, banks)};
  return ttm_vec_push(&r->moves, m) ? TTM_ENOMEM : TTM_OK;
}

static int on_event(void *context, const ttm_replay_event *event) {
  recording *r = context;
  if (enter_call(r, event->op)) return TTM_ENOMEM;
  return event->tensor != TTM_NONE ? record_tensor(r, event) : record_extra(r, event);
}

static int record(recording *r) {
  const ttm_profile *p = r->p;
  r->recorded = ttm_alloc_array(p->tensors.n / 64 + 1, sizeof *r->recorded);
  r->run_of_call = ttm_alloc_array(p->calls.n, sizeof *r->run_of_call);
  if (!r->recorded || !r->run_of_call) return TTM_ENOMEM;
  for (size_t i = 0; i < p->calls.n; i++) r->run_of_call[i] = TTM_NONE;
  for (uint32_t i = 0; i < r->f->runs.n; i++) r->run_of_call[r->f->runs.at[i].call] = i;
  uint32_t rank = r->f->peak[TTM_DRAM].known ? ttm_state_rank(p, r->f->peak[TTM_DRAM].state) : 0;
  int status = ttm_replay_init(&r->replay, p, rank);
  r->replay.watch = on_event;
  r->replay.context = r;
  r->seen_call = TTM_NONE;
  return status ? status : ttm_replay_to_op(&r->replay, (uint32_t)p->ops.n);
}

/* ---- Playing on a board ------------------------------------------------------------------------------------------------------- */

typedef struct cost_row {
  uint64_t plain, grown, weight; /* bytes per bank: as recorded, with the batch, as a weight of the other dtype */
} cost_row;

typedef struct stage {
  const recording *r;
  const ttm_fit_options *options;
  const ttm_board *board;
  ttm_alignment align;
  ttm_bank banks[TTM_REPLAY_MEMORIES];
  uint32_t bank_count[TTM_REPLAY_MEMORIES];
  cost_row *costs; /* by type */
  uint64_t *at;    /* by tensor */
  uint64_t *size;  /* by tensor; 0 when it holds nothing */
  ttm_extent *extras;
} stage;

/* The type with `n` times the batch: the first dim grows, tiles and shards with it. */
static ttm_tensor_type grown(const ttm_tensor_type *type, uint32_t n) {
  ttm_tensor_type out = *type;
  if (n <= 1 || !out.shape.rank || !out.shard.rank) return out;
  uint64_t before = 1, after = 1;
  for (uint32_t i = 0; i + 1 < out.shape.rank; i++) {
    bool rows = out.tiled && i + 2 == out.shape.rank;
    uint64_t now = i == 0 ? ttm_mul_sat(out.shape.at[i], n) : out.shape.at[i];
    before = ttm_mul_sat(before, rows ? ttm_div_up(out.shape.at[i], out.tile_h) : out.shape.at[i]);
    after = ttm_mul_sat(after, rows ? ttm_div_up(now, out.tile_h) : now);
  }
  if (out.shape.rank == 1) after = n;
  out.shape.at[0] = ttm_mul_sat(out.shape.at[0], n);
  if (before) out.shard.at[0] = ttm_div_up(ttm_mul_sat(out.shard.at[0], after), before);
  return out;
}

static bool is_matrix(const ttm_tensor_type *type) {
  return type->tiled && type->shape.rank >= 2 && type->shape.at[type->shape.rank - 1] >= 32 &&
         type->shape.at[type->shape.rank - 2] >= 32 &&
         (ttm_str_eq(type->storage, TTM_LIT("bf16")) || ttm_str_eq(type->storage, TTM_LIT("f32")) ||
          ttm_str_eq(type->storage, TTM_LIT("bfp_bf8")));
}

/* As MLIR types name it. */
static ttm_str storage_of(const char *dtype) {
  return !strcmp(dtype, "bfp8") ? TTM_LIT("bfp_bf8") : !strcmp(dtype, "bfp4") ? TTM_LIT("bfp_bf4") : ttm_str_of(dtype);
}

static void cost_types(stage *s, uint32_t batch) {
  const ttm_profile *p = s->r->p;
  for (size_t t = 0; t < p->types.n; t++) {
    const ttm_type *type = &p->types.at[t];
    s->costs[t] = (cost_row){0, 0, 0};
    if (!type->is_tensor || !type->tensor.has_layout) continue;
    uint32_t banks = s->bank_count[type->tensor.buffer == TTM_BUFFER_L1];
    ttm_tensor_type larger = grown(&type->tensor, batch), other = type->tensor;
    if (s->options->weights_dtype && is_matrix(&other)) other.storage = storage_of(s->options->weights_dtype);
    s->costs[t].plain = ttm_tensor_bank_bytes(&type->tensor, banks, s->align);
    s->costs[t].grown = ttm_tensor_bank_bytes(&larger, banks, s->align);
    s->costs[t].weight = ttm_tensor_bank_bytes(&other, banks, s->align);
  }
}

static uint64_t cost_of(const stage *s, const move *m) {
  const cost_row *row = &s->costs[m->type];
  return m->weight ? row->weight : m->grows ? row->grown : row->plain;
}

/* False when the bank has no room. */
static bool play(stage *s, const move *m, uint64_t *needed, int *status) {
  ttm_bank *bank = &s->banks[m->memory];
  bool extra = m->type == TTM_NONE;
  uint64_t at;
  switch ((ttm_replay_act)m->act) {
    case TTM_REPLAY_TAKE:
    case TTM_REPLAY_EXTRA:
      *needed = extra ? ttm_round_up(ttm_div_up(m->bytes, s->bank_count[m->memory]), s->align.dram) : cost_of(s, m);
      if (!ttm_bank_take(bank, *needed, (m->memory == TTM_REPLAY_L1) != (extra && m->op != TTM_NONE), &at))
        return false;
      if (extra)
        s->extras[m->what] = (ttm_extent){at, *needed};
      else
        s->at[m->what] = at, s->size[m->what] = *needed;
      break;
    case TTM_REPLAY_GIVE:
      *status = ttm_bank_give(bank, s->at[m->what], s->size[m->what]);
      s->size[m->what] = 0;
      break;
    case TTM_REPLAY_EXTRA_GONE: {
      ttm_extent *block = &s->extras[m->what];
      uint64_t gone = ttm_div_up(m->bytes, s->bank_count[m->memory]) / s->align.dram * s->align.dram;
      if (gone > block->size) gone = block->size;
      block->size -= gone;
      *status = ttm_bank_give(bank, block->at + block->size, gone);
      break;
    }
  }
  return true;
}

static void refuse(ttm_fit_board *out, const stage *s, uint32_t op, uint64_t needed, int memory) {
  const ttm_bank *bank = &s->banks[memory];
  out->fits = false;
  out->refused_op = op;
  ttm_incident_clear(&out->refusal);
  out->refusal.kind = TTM_INCIDENT_OOM;
  out->refusal.memory = ttm_str_of(ttm_memory_name(memory == TTM_REPLAY_L1 ? TTM_L1 : TTM_DRAM));
  out->refusal.needed_per_bank = needed;
  out->refusal.bank_size = bank->size;
  out->refusal.free_per_bank = ttm_bank_room(bank);
  out->refusal.largest_free_block = ttm_bank_largest(bank);
}

static void note_levels(ttm_fit_board *out, const stage *s) {
  uint64_t dram = s->banks[TTM_REPLAY_DRAM].allocated, l1 = s->banks[TTM_REPLAY_L1].allocated;
  if (dram > out->peak_bytes) out->peak_bytes = dram;
  if (l1 > out->l1_peak) out->l1_peak = l1;
}

/* The tensor at which the log itself died: only its size is known, and what it was made of when one tile size fits. */
static void try_last(ttm_fit_board *out, stage *s, uint32_t batch) {
  const ttm_profile *p = s->r->p;
  for (size_t i = 0; i < p->incidents.n && out->fits; i++) {
    const ttm_incident_text *what = &p->incidents.at[i].what;
    ttm_memory memory;
    if (what->kind != TTM_INCIDENT_OOM || what->size == TTM_UNKNOWN || !ttm_memory_of(what->memory, &memory)) continue;
    if (memory > TTM_L1) continue;
    int m = memory == TTM_L1 ? TTM_REPLAY_L1 : TTM_REPLAY_DRAM;
    uint64_t page = what->size % 2048 == 0 ? 2048 : s->align.dram, at;
    uint32_t op = p->incidents.at[i].op;
    bool larger = batch > 1 && op < p->ops.n && grows(ttm_alive_origin_of(p, op, 0).class);
    uint64_t pages = ttm_mul_sat(ttm_div_up(what->size, page), larger ? batch : 1);
    uint64_t needed = ttm_mul_sat(ttm_div_up(pages, s->bank_count[m]), page);
    if (!ttm_bank_take(&s->banks[m], needed, m == TTM_REPLAY_L1, &at)) refuse(out, s, op, needed, m);
    note_levels(out, s);
  }
}

static int play_all(ttm_fit_board *out, stage *s, uint32_t batch) {
  const recording *r = s->r;
  uint64_t sizes[TTM_REPLAY_MEMORIES] = {ttm_board_dram_bank(s->board, 0, false),
                                         ttm_board_l1_bank(s->board, ttm_l1_base_newest(s->board->arch), 0)};
  int status = TTM_OK;
  *out = (ttm_fit_board){
      .board = s->board, .fits = true, .bank_bytes = sizes[0], .l1_bytes = sizes[1], .refused_op = TTM_NONE};
  for (int m = 0; m < TTM_REPLAY_MEMORIES && !status; m++) status = ttm_bank_init(&s->banks[m], sizes[m]);
  memset(s->size, 0, r->p->tensors.n * sizeof *s->size);
  if (!status) cost_types(s, batch);
  for (size_t i = 0; i < r->moves.n && !status && out->fits; i++) {
    const move *m = &r->moves.at[i];
    uint64_t needed = 0;
    if (m->act == TTM_REPLAY_GIVE && !s->size[m->what]) continue;
    if (!play(s, m, &needed, &status)) refuse(out, s, m->type == TTM_NONE ? TTM_NONE : m->op, needed, m->memory);
    note_levels(out, s);
  }
  if (!status) try_last(out, s, batch);
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) ttm_bank_free(&s->banks[m]);
  return status;
}

/* Twice as much until it no longer fits, then halfway between: a dozen replays at most. */
static int find_batch(ttm_fit_board *out, stage *s) {
  ttm_fit_board probe;
  uint32_t low = 1, high = 2;
  int status = play_all(&probe, s, 1);
  out->largest_batch = !status && probe.fits ? 1 : 0;
  if (status || !probe.fits) return status;
  for (; high <= TTM_FIT_MOST_BATCH; low = high, high *= 2) {
    status = play_all(&probe, s, high);
    if (status) return status;
    if (!probe.fits) break;
  }
  if (high > TTM_FIT_MOST_BATCH) return out->largest_batch = TTM_FIT_MOST_BATCH, TTM_OK;
  while (high - low > 1 && !status) {
    uint32_t middle = low + (high - low) / 2;
    status = play_all(&probe, s, middle);
    *(probe.fits ? &low : &high) = middle;
  }
  out->largest_batch = low;
  return status;
}

static int play_boards(ttm_fit *out, const recording *r, const ttm_fit_options *options) {
  const ttm_profile *p = r->p;
  stage s = {.r = r, .options = options};
  int status = TTM_OK;
  s.costs = ttm_alloc_array(p->types.n, sizeof *s.costs);
  s.at = ttm_alloc_array(p->tensors.n, sizeof *s.at);
  s.size = ttm_alloc_array(p->tensors.n, sizeof *s.size);
  s.extras = ttm_alloc_array(r->extras, sizeof *s.extras);
  if (!s.costs || !s.at || !s.size || !s.extras) status = TTM_ENOMEM;
  for (size_t b = 0; b < TTM_BOARDS && !status; b++) {
    s.board = &ttm_boards[b];
    s.align = (ttm_alignment){ttm_arches[s.board->arch].dram_align, ttm_arches[s.board->arch].l1_align};
    s.bank_count[TTM_REPLAY_DRAM] = s.board->dram_banks;
    s.bank_count[TTM_REPLAY_L1] = s.board->l1_banks;
    uint32_t largest;
    status = find_batch(&out->boards[b], &s);
    largest = out->boards[b].largest_batch;
    if (!status) status = play_all(&out->boards[b], &s, options->batch ? options->batch : 1);
    out->boards[b].largest_batch = largest;
  }
  ttm_free(s.costs);
  ttm_free(s.at);
  ttm_free(s.size);
  ttm_free(s.extras);
  return status;
}

static void describe(ttm_fit *out, const recording *r) {
  const ttm_replay_memory *m = &r->replay.memories[TTM_REPLAY_DRAM];
  out->states = m->states;
  out->agree = m->agree;
  for (size_t i = 0; i < m->extras.n; i++) out->unaccounted += m->extras.at[i].size;
  for (size_t i = 0; i < r->p->incidents.n; i++) out->cut_short |= r->p->incidents.at[i].what.kind == TTM_INCIDENT_OOM;
  const ttm_alive_set *set = &r->f->alive_set[TTM_DRAM];
  for (size_t i = 0; i < set->rows.n; i++)
    out->weights_from_host |= set->rows.at[i].class == TTM_ALIVE_WEIGHT && set->rows.at[i].arg != TTM_NONE;
  for (size_t i = 0; i < r->moves.n; i++) {
    const move *move = &r->moves.at[i];
    out->converted_weights +=
        move->act == TTM_REPLAY_TAKE && move->weight && is_matrix(&r->p->types.at[move->type].tensor);
  }
}

int ttm_fit_make(ttm_fit *out, const ttm_findings *f, const ttm_fit_options *options, ttm_error *err) {
  recording r = {.p = f->profile, .f = f};
  *out = (ttm_fit){.states = 0};
  if (f->profile->kind == TTM_LOG_CAPTURE)
    return ttm_error_set(
        err, TTM_ENODATA,
        "a graph capture or recording is of one board; to try others, run the program on them: ttmem fit "
        "-- python3 model.py");
  if (f->profile->kind != TTM_LOG_FULL && f->profile->kind != TTM_LOG_OPS) {
    return ttm_error_set(err, TTM_ENODATA,
                         "the log has no operation lines, so its tensors are unknown; run with "
                         "TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG to get them");
  }
  int status = record(&r);
  if (!status) describe(out, &r);
  if (!status) status = play_boards(out, &r, options);
  ttm_replay_free(&r.replay);
  ttm_vec_free(&r.moves);
  ttm_map_free(&r.extra_ids);
  ttm_intern_free(&r.runs);
  ttm_free(r.recorded);
  ttm_free(r.run_of_call);
  return status ? ttm_error_nomem(err) : TTM_OK;
}
