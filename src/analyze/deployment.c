/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/deployment.h"

#include "analyze/parts.h"
#include "base/checked.h"
#include "base/error.h"

void ttm_deployment_free(ttm_deployment *plan) {
  ttm_ledger_free(&plan->ledger);
  ttm_free(plan->roles);
  ttm_vec_free(&plan->arguments);
  ttm_statements_free(&plan->said);
}

static const ttm_tensor_type *type_of(const ttm_deployment *d) {
  return &d->findings->profile->types.at[d->type].tensor;
}

/* ---- Which tensors are caches ------------------------------------------------------------------------------------------ */

static bool writes_pages(ttm_str op) {
  return ttm_str_contains(op, TTM_LIT("paged")) &&
         (ttm_str_contains(op, TTM_LIT("fill_cache")) || ttm_str_contains(op, TTM_LIT("update_cache")));
}

/* A table of numbers, a row per user. */
static bool is_page_table(const ttm_tensor_type *type) {
  return type && type->has_layout && type->shape.rank == 2 &&
         (ttm_str_contains(type->element, TTM_LIT("i32")) || ttm_str_contains(type->element, TTM_LIT("u32")));
}

static void find_caches(ttm_deployment *d) {
  const ttm_profile *p = d->findings->profile;
  for (uint32_t t = 0; t < p->tensors.n; t++) {
    const ttm_tensor_type *type = p->tensors.at[t].roles & TTM_ROLE_CACHE ? ttm_tensor_type_of(p, t) : NULL;
    if (type && type->has_layout && type->shape.rank == 4) d->roles[t] = TTM_CACHE_TENSOR;
  }
  for (size_t i = 0; i < p->capture.uses.n; i++) {
    const ttm_tensor_use *use = &p->capture.uses.at[i];
    if (!is_page_table(ttm_tensor_type_of(p, use->tensor))) continue;
    if (writes_pages(ttm_profile_string(p, ttm_op_text_of(p, use->op)->name))) d->roles[use->tensor] = TTM_CACHE_PAGES;
  }
}

static bool same_geometry(const ttm_tensor_type *a, const ttm_tensor_type *b) {
  return a->shape.rank == b->shape.rank && a->shape.at[0] == b->shape.at[0] && a->shape.at[2] == b->shape.at[2];
}

/* The caches of the shape that most bytes have are planned. */
static void choose_type(ttm_deployment *d) {
  const ttm_profile *p = d->findings->profile;
  uint64_t most = 0;
  for (uint32_t t = 0; t < p->tensors.n; t++) {
    const ttm_tensor_type *type = d->roles[t] == TTM_CACHE_TENSOR ? ttm_tensor_type_of(p, t) : NULL;
    uint64_t bytes = type ? ttm_tensor_stored_bytes(type, d->ledger.devices.at[0].align) : 0;
    if (bytes > most) most = bytes, d->type = ttm_tensor_type_id(p, t);
    if (d->roles[t] == TTM_CACHE_PAGES) d->paged = true;
  }
}

/* What is allocated beside a cache in its shape, while it is made, grows with it. */
static bool is_made_with_one(const ttm_deployment *d, uint32_t tensor) {
  const ttm_profile *p = d->findings->profile;
  const ttm_tensor_type *type = ttm_tensor_type_of(p, tensor);
  if (!type || type->shape.rank != 4 || memcmp(type->shape.at, type_of(d)->shape.at, 4 * sizeof *type->shape.at) != 0)
    return false;
  uint32_t birth = p->tensors.at[tensor].birth;
  for (uint32_t t = tensor > 8 ? tensor - 8 : 0; t < p->tensors.n && t <= tensor + 8; t++)
    if (d->roles[t] == TTM_CACHE_TENSOR && p->tensors.at[t].birth == birth) return true;
  return false;
}

/* Only those of the chosen shape are planned, and page tables whose entries are those blocks. */
static void keep_chosen(ttm_deployment *d) {
  const ttm_profile *p = d->findings->profile;
  for (uint32_t t = 0; t < p->tensors.n; t++) {
    const ttm_tensor_type *type = ttm_tensor_type_of(p, t);
    if (d->roles[t] == TTM_CACHE_TENSOR && !same_geometry(type, type_of(d))) d->roles[t] = TTM_CACHE_NONE, d->others++;
    d->mixed |= d->roles[t] == TTM_CACHE_TENSOR && ttm_tensor_type_id(p, t) != d->type;
    if (d->roles[t] != TTM_CACHE_PAGES) continue;
    d->users = type->shape.at[0];
    if (ttm_dims_values(&type->shape) != type_of(d)->shape.at[0])
      d->roles[t] = TTM_CACHE_NONE; /* of another size: it stays */
  }
  for (uint32_t t = 0; t < p->tensors.n; t++)
    if (d->roles[t] == TTM_CACHE_NONE && is_made_with_one(d, t)) d->roles[t] = TTM_CACHE_TENSOR;
}

/* How many are held at a time, and what a block of all of them takes. */
static void count_caches(ttm_deployment *d) {
  const ttm_ledger *l = &d->ledger;
  uint64_t held = 0, bytes = 0;
  for (size_t i = 0; i < l->entries.n; i++) {
    const ttm_entry *entry = &l->entries.at[i];
    const ttm_holding *h = entry->act <= TTM_ENTRY_GIVE ? &l->holdings.at[entry->holding] : NULL;
    if (!h || h->tensor == TTM_NONE || d->roles[h->tensor] != TTM_CACHE_TENSOR || !h->type) continue;
    uint64_t block = ttm_tensor_stored_bytes(h->type, l->devices.at[0].align) / (d->blocks ? d->blocks : 1);
    bool take = entry->act == TTM_ENTRY_TAKE;
    held = take ? held + 1 : held - 1;
    bytes = take ? bytes + block : bytes - block;
    if (held > d->caches) d->caches = held;
    if (bytes > d->block_bytes) d->block_bytes = bytes;
  }
}

/* A log has its caches as arguments, which are on the device before it begins. */
static int find_arguments(ttm_deployment *d) {
  const ttm_profile *p = d->findings->profile;
  const ttm_alive_set *set = &d->findings->alive_set[TTM_DRAM];
  for (size_t i = 0; i < set->arguments.n; i++) {
    const ttm_alive_row *row = &set->arguments.at[i];
    bool cache = row->class == TTM_ALIVE_KV_CACHE && row->type < p->types.n && p->types.at[row->type].is_tensor;
    const ttm_tensor_type *type = cache ? &p->types.at[row->type].tensor : NULL;
    if (!type || !type->has_layout || type->shape.rank != 4) continue;
    if (d->type == TTM_NONE) d->type = row->type;
    d->mixed |= row->type != d->type;
    if (!same_geometry(type, type_of(d)))
      d->others++;
    else if (ttm_vec_push(&d->arguments, *type))
      return TTM_ENOMEM;
  }
  for (size_t i = 0; i < p->texts.n; i++) d->paged |= writes_pages(ttm_profile_string(p, p->texts.at[i].name));
  d->caches = d->arguments.n;
  return TTM_OK;
}

static void count_arguments(ttm_deployment *d) {
  for (size_t i = 0; i < d->arguments.n; i++)
    d->block_bytes +=
        ttm_tensor_stored_bytes(&d->arguments.at[i], d->ledger.devices.at[0].align) / (d->blocks ? d->blocks : 1);
}

static int describe_caches(ttm_deployment *d) {
  bool log = d->findings->profile->kind != TTM_LOG_CAPTURE;
  d->type = TTM_NONE;
  d->roles = ttm_alloc_array(d->findings->profile->tensors.n, sizeof *d->roles);
  if (!d->roles) return TTM_ENOMEM;
  if (log && find_arguments(d)) return TTM_ENOMEM;
  if (!log) find_caches(d), choose_type(d);
  if (d->type == TTM_NONE) return TTM_OK;
  if (!log) keep_chosen(d);
  const ttm_tensor_type *type = type_of(d);
  d->blocks = d->paged ? type->shape.at[0] : ttm_div_up(type->shape.at[2], TTM_CACHE_ROWS);
  d->block_tokens = d->paged ? type->shape.at[2] : TTM_CACHE_ROWS;
  if (!d->paged) d->users = type->shape.at[0];
  log ? count_arguments(d) : count_caches(d);
  return TTM_OK;
}

/* ---- Regions ----------------------------------------------------------------------------------------------------------- */

/* What an error message asks for. */
static void read_failures(ttm_opened_region *out, const ttm_profile *p, ttm_memory memory) {
  ttm_memory of;
  for (size_t i = 0; i < p->incidents.n; i++) {
    const ttm_incident_text *what = &p->incidents.at[i].what;
    if (!ttm_memory_of(what->memory, &of) || of != memory) continue;
    uint64_t need = what->size; /* "Creating trace buffers of size" counts those before it */
    if (what->kind == TTM_INCIDENT_OOM && what->needed_per_bank != TTM_UNKNOWN)
      need = ttm_mul_sat(
          ttm_add_sat(what->needed_per_bank, what->allocated_per_bank == TTM_UNKNOWN ? 0 : what->allocated_per_bank),
          memory == TTM_TRACE && what->banks != TTM_UNKNOWN ? what->banks : 1);
    if (need == TTM_UNKNOWN || (out->need != TTM_UNKNOWN && need < out->need)) continue;
    out->need = need;
    out->least = true;
  }
}

/* TRACE is asked for as a total of all banks, L1_SMALL per bank. */
static ttm_opened_region read_region(const ttm_findings *f, ttm_memory memory) {
  const ttm_profile *p = f->profile;
  ttm_opened_region out = {TTM_UNKNOWN, TTM_UNKNOWN, TTM_UNKNOWN, false, false};
  const ttm_recording *r = &p->capture.recording;
  ttm_level level;
  uint64_t banks;
  if (p->kind == TTM_LOG_CAPTURE && r->measured[memory]) {
    banks = memory == TTM_TRACE ? r->banks[memory] : 1;
    out.opened = ttm_mul_sat(r->total[memory], banks);
    out.used = ttm_mul_sat(p->capture.peak_bytes[memory], banks);
    out.in_dram = memory == TTM_TRACE && !out.opened && p->capture.peak_traces;
    if (out.in_dram) out.used = ttm_mul_sat(p->capture.peak_traces, r->banks[TTM_DRAM]);
  } else if (p->kind != TTM_LOG_CAPTURE && ttm_profile_config(p, memory, &level)) {
    banks = memory == TTM_TRACE ? level.banks : 1;
    out.opened = ttm_mul_sat(ttm_level_bytes(level.total), banks);
    if (f->peak[memory].known) out.used = ttm_mul_sat(ttm_level_bytes(f->peak[memory].level.allocated), banks);
  }
  if (out.used != TTM_UNKNOWN && out.used) out.need = ttm_round_up(out.used, memory == TTM_TRACE ? 1 : 32);
  read_failures(&out, p, memory);
  return out;
}

/* ---- How many -------------------------------------------------------------------------------------------------------- */

typedef struct question {
  const ttm_deployment *d;
  const ttm_board *board;
  bool same_chip;
  uint64_t bank;
  uint64_t rest; /* of a log: DRAM of a bank without the caches */
} question;

static question ask(const ttm_deployment *d, const ttm_board *board, uint64_t region) {
  const ttm_capture_board *on = &d->findings->profile->capture.board;
  question q = {.d = d, .board = board};
  const ttm_ledger_device *device = &d->ledger.devices.at[0];
  bool told = d->findings->profile->kind == TTM_LOG_CAPTURE && !on->estimated;
  q.same_chip = told && on->arch == board->arch && device->banks[TTM_REPLAY_DRAM] == board->dram_banks;
  uint64_t opened = d->trace.opened == TTM_UNKNOWN ? 0 : d->trace.opened;
  q.bank = ttm_board_dram_bank(board, region, false);
  if (q.same_chip)
    q.bank = ttm_sub_sat(device->size[TTM_REPLAY_DRAM] + ttm_board_trace_bank(board, opened),
                         ttm_board_trace_bank(board, region));
  if (!q.bank) q.bank = 1;
  return q;
}

static ttm_change change_of(const question *q, uint64_t blocks) {
  const ttm_deployment *d = q->d;
  return (ttm_change){.kind = TTM_CHANGE_BLOCKS,
                      .roles = d->roles,
                      .bank = q->bank,
                      .paged = d->paged,
                      .blocks = d->paged ? blocks : ttm_mul_sat(blocks, TTM_CACHE_ROWS),
                      .blocks_before = d->blocks};
}

static int replay(const question *q, uint64_t blocks, ttm_trial *out) {
  ttm_change changes[2] = {change_of(q, blocks), {.kind = TTM_CHANGE_BOARD, .board = q->board}};
  return ttm_trial_run(out, &q->d->ledger, changes, q->same_chip ? 1 : 2);
}

/* Of a log: what the caches take of a bank. */
static uint64_t cache_bytes(const question *q, uint64_t blocks) {
  const ttm_arch *arch = &ttm_arches[q->board->arch];
  ttm_change change = change_of(q, blocks);
  uint64_t sum = 0;
  const char *why;
  for (size_t i = 0; i < q->d->arguments.n; i++) {
    ttm_tensor_type type = q->d->arguments.at[i];
    ttm_change_type(&change, &type, false, &why); /* a sharded one stays */
    sum = ttm_add_sat(
        sum, ttm_tensor_bank_bytes(&type, q->board->dram_banks, (ttm_alignment){arch->dram_align, arch->l1_align}));
  }
  return sum;
}

/* A trial of a log has no refusal: only whether it fits, and the peak. */
static int play(const question *q, uint64_t blocks, ttm_trial *out) {
  if (!q->d->arguments.n) return replay(q, blocks, out);
  *out = (ttm_trial){.refused_op = TTM_NONE};
  out->memories[TTM_REPLAY_DRAM].peak = ttm_add_sat(q->rest, cache_bytes(q, blocks));
  out->fits = out->memories[TTM_REPLAY_DRAM].peak <= q->bank;
  return TTM_OK;
}

/* Of a log: as recorded, without its caches. False when that does not fit. */
static int find_rest(question *q, bool *fits) {
  ttm_trial trial;
  *fits = true;
  if (!q->d->arguments.n) return TTM_OK;
  int status = replay(q, q->d->blocks, &trial);
  q->rest = ttm_sub_sat(trial.memories[TTM_REPLAY_DRAM].peak, cache_bytes(q, q->d->blocks));
  *fits = !status && trial.fits;
  return status;
}

static bool refuses_l1(const ttm_trial *t) { return !t->fits && ttm_str_eq(t->refusal.memory, TTM_LIT("L1")); }

/* Halves what lies between a cache that fits and one that cannot. */
static int find_most(question *q, ttm_deployment_board *out) {
  ttm_trial trial;
  bool fits;
  uint64_t low = 0, high = q->bank / (q->d->block_bytes / q->board->dram_banks + 1) + 2;
  int status = find_rest(q, &fits);
  if (status || !fits) return out->answer = TTM_DEPLOYED_OTHER, status;
  status = play(q, 1, &trial);
  if (!status && refuses_l1(&trial)) return out->answer = TTM_DEPLOYED_L1, TTM_OK;
  if (!status && trial.fits) low = 1;
  while (!status && low && high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    status = play(q, middle, &trial);
    *(trial.fits ? &low : &high) = middle;
  }
  if (!status && low) status = play(q, low, &trial), out->peak = trial.memories[TTM_REPLAY_DRAM].peak;
  if (!status) status = play(q, low + 1, &trial);
  out->refusal = trial.refusal;
  out->refused_op = trial.refused_op;
  out->answer = low ? TTM_DEPLOYED : TTM_DEPLOYED_NOT;
  out->blocks = low;
  return status;
}

static int judge(ttm_deployment *d, const ttm_board *board, uint64_t region, ttm_deployment_board *out) {
  question q = ask(d, board, region);
  *out = (ttm_deployment_board){.board = board, .same_chip = q.same_chip, .bank = q.bank, .refused_op = TTM_NONE};
  out->copies = d->chips ? board->chips / d->chips : board->chips;
  if (!out->copies) return out->answer = TTM_DEPLOYED_CHIPS, TTM_OK;
  int status = ttm_deployment_known(d) ? find_most(&q, out) : TTM_OK;
  out->tokens = ttm_mul_sat(ttm_mul_sat(out->blocks, d->block_tokens), d->paged || !d->users ? 1 : d->users);
  return status;
}

/* The settings are for the first board that was asked for; without a choice for the recorded one. */
static const ttm_board *settings_board(const ttm_deployment *d, unsigned boards) {
  const ttm_profile *p = d->findings->profile;
  const ttm_board *on = ttm_board_find(ttm_profile_string(p, p->capture.recording.board));
  if (on && boards >> (on - ttm_boards) & 1) return on;
  for (size_t b = 0; b < TTM_BOARDS; b++)
    if (boards >> b & 1 && d->boards[b].same_chip && d->boards[b].copies) return &ttm_boards[b];
  for (size_t b = 0; b < TTM_BOARDS; b++)
    if (boards >> b & 1) return &ttm_boards[b];
  return &ttm_boards[0];
}

static void read_program(ttm_deployment *d) {
  const ttm_profile *p = d->findings->profile;
  const ttm_recording *r = &p->capture.recording;
  d->chips = ttm_profile_chips(p);
  d->traces = r->traces;
  d->cut = r->is ? !r->ended || r->fatal != TTM_NONE || ttm_recording_is_partial(r)
                 : p->incidents.n || p->seen.unfinished || p->seen.cut;
}

int ttm_deployment_make(ttm_deployment *out, const ttm_findings *f, unsigned boards, uint64_t region, ttm_error *err) {
  *out = (ttm_deployment){.findings = f};
  if (!ttm_ledger_possible(f->profile))
    return ttm_error_set(err, TTM_ENODATA,
                         "the input does not tell what is allocated: a plan needs a recording (ttmem run --board n150 "
                         "-- python3 model.py), or a log with operation lines");
  int status = ttm_ledger_make(&out->ledger, f);
  out->trace = read_region(f, TTM_TRACE);
  out->small = read_region(f, TTM_L1_SMALL);
  read_program(out);
  if (!status) status = describe_caches(out);
  out->region = region != TTM_UNKNOWN ? region : out->trace.opened == TTM_UNKNOWN ? 0 : out->trace.opened;
  for (size_t b = 0; b < TTM_BOARDS && !status; b++)
    if (boards >> b & 1) status = judge(out, &ttm_boards[b], out->region, &out->boards[b]);
  out->assumed = region == TTM_UNKNOWN && out->trace.need == TTM_UNKNOWN && !out->region;
  out->settings_region = out->assumed ? TTM_VLLM_TRACE_REGION : out->region;
  if (region == TTM_UNKNOWN && out->trace.need != TTM_UNKNOWN && out->trace.need > out->region)
    out->settings_region = out->trace.need;
  if (!status) status = judge(out, settings_board(out, boards), out->settings_region, &out->settings);
  if (!status) status = ttm_deployment_tell(out, boards);
  return status ? ttm_error_nomem(err) : TTM_OK;
}
