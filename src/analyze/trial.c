/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/trial.h"

#include <stdlib.h>

#include "analyze/parts.h"
#include "base/checked.h"
#include "base/hash.h"

enum { TILE_BF16 = 2048 };

/* What a type takes when the changes of a mask are made to it. */
typedef struct cost_row {
  uint64_t before, after; /* bytes per bank: here as recorded, there as changed */
  int memory;             /* TTM_REPLAY_*; -1: not on the device */
  uint32_t refused;       /* changes of the mask that this type cannot take */
  struct {
    const ttm_tensor_type *type;
    uint32_t marks, by_class;
  } of;
} cost_row;

/* Something that happens to a holding before the first entry behind an operation. */
typedef struct moment {
  uint32_t op, holding;
} moment;

/* Where a holding lies. */
typedef struct slot {
  ttm_extent block;  /* size 0: it is not held */
  uint64_t recorded; /* of extras: bytes per bank that the input still holds of it */
  uint8_t memory;
} slot;

typedef struct stage {
  const ttm_ledger *l;
  const ttm_profile *p;
  const ttm_ledger_device *recorded_on;
  const ttm_change *changes;
  size_t change_count;
  ttm_trial *out;
  uint32_t *marks;    /* by holding: changes that mean it */
  uint32_t *by_class; /* by holding: of them, those that name its class only */
  slot *slots;        /* by holding */
  ttm_bank banks[TTM_REPLAY_MEMORIES];
  uint32_t bank_count[TTM_REPLAY_MEMORIES];
  ttm_alignment align;
  const ttm_board *board; /* another one; NULL */
  TTM_VEC(cost_row) costs;
  ttm_map cost_of;        /* hash of type and marks -> costs */
  TTM_VEC(uint64_t) rows; /* bytes over all banks of tables that are to be row-major */
  TTM_VEC(moment) frees, firsts;
  size_t next_free, next_first;
  const ttm_program_rest *rest; /* that is played; NULL */
  int status;
} stage;

static void estimate(stage *s, const char *why) {
  if (!s->out->estimate) s->out->estimate = why;
}

/* ---- Who is meant ------------------------------------------------------------------------------------------------------- */

/* Who says "weights" means those that would stay in a block format where they are used. */
static bool is_left_out(const stage *s, const ttm_change *change, const ttm_label *label) {
  if (change->kind != TTM_CHANGE_DTYPE || !ttm_str_starts(change->storage, TTM_LIT("bfp"))) return false;
  if (label->class != TTM_ALIVE_WEIGHT || !label->name.n) return false;
  return !ttm_weight_takes_bfp8(s->l->findings, ttm_intern_find(&s->p->strings, label->name), 0);
}

static uint32_t marks_of(const stage *s, const ttm_label *label, uint32_t op, uint32_t *by_class) {
  uint32_t marks = 0, index = UINT32_MAX;
  bool class;
  *by_class = 0;
  if (op < s->p->ops.n) index = ttm_findings_index(s->l->findings, op);
  for (size_t c = 0; c < s->change_count; c++) {
    if (!ttm_change_means(&s->changes[c], label, index, &class)) continue;
    if (class && is_left_out(s, &s->changes[c], label)) continue;
    marks |= UINT32_C(1) << c;
    if (class) *by_class |= UINT32_C(1) << c;
  }
  return marks;
}

/* Many holdings share a label; only patterns like "#12" tell them apart. */
static int mark_holdings(stage *s) {
  const ttm_ledger *l = s->l;
  struct {
    uint32_t marks, by_class;
  } *known = ttm_alloc_array(l->labels.n, sizeof *known);
  bool numbers = false;
  if (!known) return TTM_ENOMEM;
  for (size_t c = 0; c < s->change_count; c++)
    numbers |= ttm_str_find_char(s->changes[c].pattern, '#') != TTM_NOT_FOUND;
  for (size_t i = 0; i < l->labels.n && !numbers; i++)
    known[i].marks = marks_of(s, &l->labels.at[i], TTM_NONE, &known[i].by_class);
  for (size_t i = 0; i < l->holdings.n; i++) {
    const ttm_holding *h = &l->holdings.at[i];
    s->marks[i] = known[h->label].marks;
    s->by_class[i] = known[h->label].by_class;
    if (numbers) s->marks[i] = marks_of(s, &l->labels.at[h->label], h->op, &s->by_class[i]);
    for (size_t c = 0; c < s->change_count && h->tensor != TTM_NONE; c++)
      if (s->changes[c].roles && s->changes[c].roles[h->tensor]) s->marks[i] |= UINT32_C(1) << c;
  }
  ttm_free(known);
  return TTM_OK;
}

/* ---- What it takes -------------------------------------------------------------------------------------------------------- */

static int memory_of(ttm_buffer_kind buffer) {
  return buffer == TTM_BUFFER_DRAM ? TTM_REPLAY_DRAM : buffer == TTM_BUFFER_L1 ? TTM_REPLAY_L1 : -1;
}

static cost_row cost_type(const stage *s, const ttm_tensor_type *type, uint32_t marks, uint32_t by_class) {
  cost_row row = {.memory = memory_of(type->buffer), .of = {type, marks, by_class}};
  ttm_tensor_type now = *type;
  const char *why;
  if (row.memory >= 0)
    row.before = ttm_tensor_bank_bytes(type, s->recorded_on->banks[row.memory], s->recorded_on->align);
  for (size_t c = 0; c < s->change_count; c++) {
    ttm_tensor_type next = now;
    if (!(marks >> c & 1)) continue;
    if (ttm_change_type(&s->changes[c], &next, by_class >> c & 1, &why))
      now = next;
    else
      row.refused |= UINT32_C(1) << c;
  }
  row.memory = memory_of(now.buffer);
  if (row.memory >= 0) row.after = ttm_tensor_bank_bytes(&now, s->bank_count[row.memory], s->align);
  return row;
}

static const cost_row *cost_of(stage *s, const ttm_tensor_type *type, uint32_t marks, uint32_t by_class) {
  const uint64_t words[] = {(uint64_t)(uintptr_t)type, (uint64_t)marks << 32 | by_class};
  uint64_t key = ttm_hash(words, sizeof words, ttm_hash_seed());
  for (uint32_t at; (at = ttm_map_get(&s->cost_of, key, TTM_NONE)) != TTM_NONE; key++) {
    const cost_row *row = &s->costs.at[at];
    if (row->of.type == type && row->of.marks == marks && row->of.by_class == by_class) return row;
  }
  if (ttm_vec_push(&s->costs, cost_type(s, type, marks, by_class)) ||
      ttm_map_set(&s->cost_of, key, (uint32_t)(s->costs.n - 1)))
    return s->status = TTM_ENOMEM, NULL;
  return &s->costs.at[s->costs.n - 1];
}

/* What nobody knows the type of goes page by page over the banks. */
static uint64_t spread(const stage *s, const ttm_holding *h, uint32_t marks, int *memory) {
  uint64_t total = h->total, page = h->page;
  for (size_t c = 0; c < s->change_count; c++) {
    const ttm_change *change = &s->changes[c];
    if (!(marks >> c & 1)) continue;
    if (change->kind == TTM_CHANGE_BATCH) total = ttm_div_up(ttm_mul_sat(total, change->down), change->across);
    if (change->kind == TTM_CHANGE_DIVIDE) total = ttm_div_up(total, change->across);
    if (change->kind == TTM_CHANGE_MOVE) *memory = memory_of(change->buffer);
    if (change->kind == TTM_CHANGE_DTYPE) page = ttm_tile_bytes(change->storage, 32, 32);
  }
  if (*memory < 0) return 0;
  uint32_t banks = s->bank_count[*memory];
  if (!s->board && total == h->total && page == h->page && *memory == h->memory) return h->bytes;
  if (!h->page) return ttm_round_up(ttm_div_up(total, banks), s->align.dram);
  page = ttm_round_up(page, *memory == TTM_REPLAY_L1 ? s->align.l1 : s->align.dram);
  return ttm_round_up(ttm_mul_sat(ttm_div_up(ttm_div_up(total, h->page), banks), page), s->align.dram);
}

/* Changes that make a tensor of another size or elsewhere. */
static uint32_t resizing(const stage *s, uint32_t marks) {
  for (size_t c = 0; c < s->change_count; c++)
    if (s->changes[c].kind == TTM_CHANGE_FREE || s->changes[c].kind == TTM_CHANGE_ORDER) marks &= ~(UINT32_C(1) << c);
  return marks;
}

/* Bytes per bank that the arguments in a holding take less. */
static uint64_t arguments_save(stage *s, const ttm_holding *h) {
  uint64_t less = 0;
  for (uint32_t i = 0; i < h->arguments; i++) {
    const ttm_held_argument *argument = &s->l->arguments.at[h->first_argument + i];
    uint32_t by_class, all = marks_of(s, &s->l->labels.at[argument->label], TTM_NONE, &by_class),
                       marks = resizing(s, all);
    const cost_row *row = marks && argument->type ? cost_of(s, argument->type, marks, by_class) : NULL;
    uint32_t changed = row ? marks & ~row->refused : 0;
    for (size_t c = 0; c < s->change_count; c++) {
      s->out->match[c].matched += all >> c & 1;
      s->out->match[c].changed += changed >> c & 1;
      if ((all & ~changed) >> c & 1) s->out->match[c].why = "was on the device before the log began";
    }
    if (!changed) continue;
    estimate(s,
             "weights or inputs that were on the device before the log began have no place of their own in the replay");
    uint64_t after = row->memory == h->memory ? row->after : 0;
    less = ttm_add_sat(less, ttm_sub_sat(argument->bytes, after));
  }
  return less;
}

/* The rows that a look-up makes of a table in tiles, each time: not of one that is in rows itself. */
static bool is_spared(const stage *s, const ttm_holding *h) {
  if (!s->rows.n || h->op == TTM_NONE || (h->type && h->type->tiled)) return false;
  const ttm_rest_op *rest = ttm_ledger_rest_op(s->l, h->op);
  if (!rest && h->op >= s->p->ops.n) return false;
  ttm_str name =
      rest ? rest->program->module.ops.at[rest->row].name : ttm_profile_string(s->p, ttm_op_text_of(s->p, h->op)->name);
  if (ttm_operand_use(name, 1) != TTM_USE_TABLE) return false;
  for (size_t i = 0; i < s->rows.n; i++)
    if (s->rows.at[i] == h->total) return true;
  return false;
}

/* Bytes per bank and memory of a holding, as changed. */
static uint64_t size_of(stage *s, uint32_t holding, int *memory) {
  const ttm_holding *h = &s->l->holdings.at[holding];
  uint32_t marks = resizing(s, s->marks[holding]);
  *memory = h->memory;
  if (is_spared(s, h)) return 0;
  if (!marks && !s->board && !h->arguments) return h->bytes;
  if (!h->type) return ttm_sub_sat(spread(s, h, marks, memory), arguments_save(s, h));
  const cost_row *row = cost_of(s, h->type, marks, s->by_class[holding]);
  if (!row) return 0;
  if (row->refused == marks && !s->board) return h->bytes;
  *memory = row->memory;
  if (row->before == h->bytes || !row->before) return row->after;
  estimate(s, "the input and the tensor's type disagree about its size");
  return ttm_round_up((uint64_t)((double)h->bytes * ((double)row->after / (double)row->before)), s->align.dram);
}

/* ---- When it comes and goes ------------------------------------------------------------------------------------------------ */

/* The last part of an operation: what frees inside one divides it. */
static uint32_t end_of_op(const ttm_profile *p, uint32_t op) {
  uint32_t end = op;
  for (uint32_t next = op + 1; next < p->ops.n; next++) {
    if (p->ops.at[next].flags & TTM_OP_PART)
      end = next;
    else if (ttm_op_text_of(p, next)->kind != TTM_OP_DEALLOCATE)
      break;
  }
  return end;
}

static uint32_t top_of(const ttm_profile *p, uint32_t op) {
  return op < p->ops.n && p->ops.at[op].call < p->calls.n ? ttm_call_top(p, p->ops.at[op].call) : TTM_NONE;
}

/* The operation after which it is to be freed; TTM_NONE when that cannot be said. */
static uint32_t free_after(const stage *s, const ttm_holding *h, ttm_free_when when, uint32_t now, const char **why) {
  const ttm_profile *p = s->p;
  *why = "is no tensor of an operation";
  if (h->tensor == TTM_NONE && !h->rest_use) return TTM_NONE;
  uint32_t last = h->rest_use ? h->rest_use : p->tensors.at[h->tensor].last_use;
  *why = "is still used";
  if (when == TTM_FREE_NOW) return last > now && last != h->op ? TTM_NONE : now;
  *why = "is kept for later runs";
  if (h->op < p->ops.n && p->ops.at[h->op].flags & TTM_OP_CONST_EVAL) return TTM_NONE;
  if (when == TTM_FREE_RUN_END) {
    uint32_t top = top_of(p, h->op);
    return top == TTM_NONE ? TTM_NONE : p->calls.at[top].last_op;
  }
  *why = "may be the memory of a view that is used later";
  if (p->kind != TTM_LOG_CAPTURE && last < p->ops.n && ttm_op_may_view(p, last)) return TTM_NONE;
  return end_of_op(p, last);
}

static int by_op(const void *a, const void *b) {
  const moment *x = a, *y = b;
  if (x->op != y->op) return x->op < y->op ? -1 : 1;
  return x->holding < y->holding ? -1 : x->holding > y->holding;
}

/* Counts what a change means, and keeps when the holding goes or comes. */
static int plan_one(stage *s, uint32_t holding, size_t c, uint32_t now) {
  const ttm_holding *h = &s->l->holdings.at[holding];
  const ttm_change *change = &s->changes[c];
  ttm_trial_match *match = &s->out->match[c];
  const char *why = NULL;
  bool parts = change->kind == TTM_CHANGE_BATCH || change->kind == TTM_CHANGE_DIVIDE;
  bool tiles = h->page == TILE_BF16 && (change->kind == TTM_CHANGE_DTYPE || change->kind == TTM_CHANGE_MOVE);
  if (h->tensor == TTM_NONE && !h->type && !parts && !tiles) return TTM_OK;
  if (h->rest && h->op < s->p->ops.n) return TTM_OK; /* what failed, once more */
  if (!h->type && tiles && change->kind == TTM_CHANGE_DTYPE) estimate(s, "the tensor is taken for tiles of bf16");
  match->matched++;
  if (change->kind == TTM_CHANGE_FREE) {
    uint32_t op = free_after(s, h, change->when, now, &why);
    match->changed += op != TTM_NONE;
    if (op == TTM_NONE) match->why = why;
    return op == TTM_NONE ? TTM_OK : ttm_vec_push(&s->frees, ((moment){op, holding}));
  }
  if (change->kind == TTM_CHANGE_ORDER) {
    uint32_t top = h->rest ? s->l->rests[h->rest - 1].run : top_of(s->p, h->op);
    match->changed++;
    return ttm_vec_push(&s->firsts, ((moment){top == TTM_NONE ? 0 : s->p->calls.at[top].first_op, holding}));
  }
  ttm_tensor_type type = h->type ? *h->type : (ttm_tensor_type){.has_layout = true};
  bool can = h->type ? ttm_change_type(change, &type, s->by_class[holding] >> c & 1, &why) : true;
  match->changed += can;
  if (!can) match->why = why;
  bool table = can && h->tensor < s->p->tensors.n && s->p->tensors.at[h->tensor].uses & TTM_USE_TABLE;
  return table && change->kind == TTM_CHANGE_LAYOUT && !change->tiled
             ? ttm_vec_push(&s->rows, ttm_mul_sat(ttm_dims_values(&type.shape), 2))
             : TTM_OK;
}

/* Where "now" is: right before the first failure, else before the operation that raises the DRAM peak. */
static uint32_t now_of(const stage *s) {
  const ttm_peak *peak = &s->l->findings->peak[TTM_DRAM];
  uint32_t op = peak->known && peak->cause < s->p->ops.n ? peak->cause : (uint32_t)s->p->ops.n;
  for (size_t i = s->l->entries.n; i-- > 0;)
    if (s->l->entries.at[i].act == TTM_ENTRY_REFUSED) op = s->l->entries.at[i].op;
  return op ? op - 1 : 0;
}

static int plan(stage *s) {
  uint32_t now = now_of(s);
  int status = TTM_OK;
  for (uint32_t h = 0; h < s->l->holdings.n && !status; h++)
    for (size_t c = 0; s->marks[h] >> c && c < s->change_count && !status; c++)
      if (s->marks[h] >> c & 1) status = plan_one(s, h, c, now);
  if (s->frees.n) qsort(s->frees.at, s->frees.n, sizeof *s->frees.at, by_op);
  if (s->firsts.n) qsort(s->firsts.at, s->firsts.n, sizeof *s->firsts.at, by_op);
  return status;
}

/* ---- Playing --------------------------------------------------------------------------------------------------------------- */

static void note_peak(stage *s, int memory, uint32_t op) {
  ttm_trial_memory *m = &s->out->memories[memory];
  uint64_t level = s->banks[memory].allocated;
  if (!s->rest && level > m->recorded) m->recorded = level;
  if (level <= m->peak) return;
  m->peak = level;
  m->size = s->banks[memory].size;
  m->peak_op = op;
}

static void refuse(stage *s, uint32_t op, uint64_t needed, int memory) {
  if (!s->out->fits) return;
  s->out->fits = false;
  s->out->refused_op = op;
  ttm_refusal_make(&s->out->refusal, &s->banks[memory], s->bank_count[memory],
                   memory == TTM_REPLAY_L1 ? TTM_L1 : TTM_DRAM, needed);
}

/* False when there is no room. */
static bool take(stage *s, uint32_t holding, uint32_t op) {
  const ttm_holding *h = &s->l->holdings.at[holding];
  int memory;
  uint64_t size = size_of(s, holding, &memory), at;
  if (memory < 0 || !size) return true;
  bool from_top = memory == h->memory ? h->from_top : memory == TTM_REPLAY_L1;
  if (!ttm_bank_take(&s->banks[memory], size, from_top, &at))
    return refuse(s, h->tensor == TTM_NONE && !h->type ? TTM_NONE : op, size, memory), false;
  s->slots[holding] = (slot){{at, size}, h->bytes, (uint8_t)memory};
  s->out->misplaced += h->address != TTM_UNKNOWN && h->address != at;
  note_peak(s, memory, op);
  return true;
}

static void give(stage *s, uint32_t holding) {
  ttm_extent *block = &s->slots[holding].block;
  if (block->size && ttm_bank_give(&s->banks[s->slots[holding].memory], block->at, block->size)) s->status = TTM_ENOMEM;
  block->size = 0;
}

/* The upper part goes; the last of it takes with it what rounding left. */
static void shrink(stage *s, uint32_t holding, uint64_t recorded) {
  ttm_extent *block = &s->slots[holding].block;
  const ttm_holding *h = &s->l->holdings.at[holding];
  uint64_t *left = &s->slots[holding].recorded;
  *left = ttm_sub_sat(*left, recorded);
  if (*left < s->align.dram) return give(s, holding);
  uint64_t gone = recorded;
  if (s->board) gone = ttm_div_up(ttm_mul_sat(recorded, s->recorded_on->banks[h->memory]), s->bank_count[h->memory]);
  gone = gone / s->align.dram * s->align.dram;
  if (gone > block->size) gone = block->size;
  if (gone && ttm_bank_give(&s->banks[s->slots[holding].memory], block->at + block->size - gone, gone))
    s->status = TTM_ENOMEM;
  block->size -= gone;
}

/* An allocation that the input says was refused. Whether it had room or not, it goes again: nobody knows for how long it would have stayed. */
static void try_refused(stage *s, const ttm_entry *entry) {
  const ttm_holding *h = &s->l->holdings.at[entry->holding];
  const ttm_incident_text *what = &s->p->incidents.at[entry->incident].what;
  const ttm_bank *bank = &s->banks[h->memory];
  uint64_t largest = what->largest_free_block;
  s->out->failures++;
  s->out->entries_after = 0;
  s->out->misplaced +=
      what->free_per_bank != TTM_UNKNOWN && ttm_apart(what->free_per_bank, ttm_bank_room(bank)) > s->l->slack;
  s->out->misplaced += largest != TTM_UNKNOWN && ttm_apart(largest, ttm_bank_largest(bank)) > s->l->slack;
  if (!take(s, entry->holding, entry->op)) {
    s->out->failures_left++;
    if (entry->incident < 64) s->out->left |= UINT64_C(1) << entry->incident;
  }
  give(s, entry->holding);
}

/* In a rest: what was recorded after the failure does not happen. */
static bool is_elsewhere(const stage *s, uint32_t op) { return s->rest && op > s->rest->last && op < s->p->ops.n; }

/* What is to be freed or allocated before an entry of `op`. False when there is no room. */
static bool pass(stage *s, uint32_t op) {
  for (; s->next_free < s->frees.n && s->frees.at[s->next_free].op < op; s->next_free++)
    if (!is_elsewhere(s, s->frees.at[s->next_free].op)) give(s, s->frees.at[s->next_free].holding);
  for (; s->next_first < s->firsts.n && s->firsts.at[s->next_first].op <= op; s->next_first++)
    if (!is_elsewhere(s, s->firsts.at[s->next_first].op) && !take(s, s->firsts.at[s->next_first].holding, op))
      return false;
  return true;
}

/* The device as it was opened; on another board each is that board. All is empty. */
static void use_device(stage *s, const ttm_ledger_device *device) {
  s->recorded_on = device;
  s->costs.n = 0;
  ttm_map_clear(&s->cost_of);
  if (!s->board) s->align = device->align;
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) {
    uint64_t size = device->size[m];
    if (!s->board) s->bank_count[m] = device->banks[m];
    if (s->board)
      size = m == TTM_REPLAY_L1 ? ttm_board_l1_bank(s->board, ttm_l1_base_newest(s->board->arch), 0)
                                : ttm_board_dram_bank(s->board, 0, false);
    for (size_t c = 0; c < s->change_count && m == TTM_REPLAY_DRAM; c++)
      if (s->changes[c].bank) size = s->changes[c].bank;
    ttm_bank_free(&s->banks[m]);
    if (ttm_bank_init(&s->banks[m], size)) s->status = TTM_ENOMEM;
    if (!s->out->memories[m].peak) s->out->memories[m].size = size;
  }
}

/* False: an allocation that the input had room for has none; nobody knows what would follow. */
static bool play(stage *s, const ttm_entry *entry) {
  if (!pass(s, entry->op)) return false;
  switch ((ttm_entry_act)entry->act) {
    case TTM_ENTRY_TAKE:
      s->out->entries_after++;
      return s->slots[entry->holding].block.size || take(s, entry->holding, entry->op);
    case TTM_ENTRY_GIVE:
      give(s, entry->holding);
      break;
    case TTM_ENTRY_SHRINK:
      shrink(s, entry->holding, entry->bytes);
      break;
    case TTM_ENTRY_REFUSED:
      try_refused(s, entry);
      break;
    case TTM_ENTRY_DEVICE:
      use_device(s, &s->l->devices.at[entry->holding]);
      break;
  }
  return true;
}

/* ---- All of it --------------------------------------------------------------------------------------------------------------- */

static void use_board(stage *s, const ttm_board *board) {
  const ttm_arch *arch = &ttm_arches[board->arch];
  s->board = board;
  s->align = (ttm_alignment){arch->dram_align, arch->l1_align};
  s->bank_count[TTM_REPLAY_DRAM] = board->dram_banks;
  s->bank_count[TTM_REPLAY_L1] = board->l1_banks;
}

static const char *why_estimated(const ttm_change *change) {
  if (change->kind == TTM_CHANGE_BATCH) return "the first dimension is taken for the batch";
  if (change->kind == TTM_CHANGE_BOARD) return "the program may use other layouts on another board";
  bool into_l1 =
      change->kind == TTM_CHANGE_SHARD || (change->kind == TTM_CHANGE_MOVE && change->buffer == TTM_BUFFER_L1);
  if (into_l1) return "the circular buffers of the operations are not part of the replay";
  if (change->kind == TTM_CHANGE_DIVIDE) return "what is done with the parts is not known";
  return NULL;
}

static int set_up(stage *s) {
  size_t n = s->l->holdings.n;
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) s->out->memories[m].peak_op = TTM_NONE;
  for (size_t c = 0; c < s->change_count; c++) {
    if (s->changes[c].board) use_board(s, s->changes[c].board);
    if (why_estimated(&s->changes[c])) estimate(s, why_estimated(&s->changes[c]));
  }
  use_device(s, &s->l->devices.at[0]);
  s->marks = ttm_alloc_array(n, sizeof *s->marks);
  s->by_class = ttm_alloc_array(n, sizeof *s->by_class);
  s->slots = ttm_alloc_array(n, sizeof *s->slots);
  return s->status || !s->marks || !s->by_class || !s->slots ? TTM_ENOMEM : TTM_OK;
}

static void tear_down(stage *s) {
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) ttm_bank_free(&s->banks[m]);
  ttm_free(s->marks);
  ttm_free(s->by_class);
  ttm_free(s->slots);
  ttm_vec_free(&s->costs);
  ttm_map_free(&s->cost_of);
  ttm_vec_free(&s->rows);
  ttm_vec_free(&s->frees);
  ttm_vec_free(&s->firsts);
}

static stage begin(ttm_trial *out, const ttm_ledger *l, const ttm_change *changes, size_t n) {
  stage s = {.l = l, .p = l->findings->profile, .changes = changes, .change_count = n, .out = out};
  *out = (ttm_trial){.fits = true, .refused_op = TTM_NONE};
  return s;
}

/* What is held, to come back to. */
typedef struct snapshot {
  ttm_bank banks[TTM_REPLAY_MEMORIES];
  slot *slots;
  size_t next_free, next_first;
} snapshot;

static int keep_state(const stage *s, snapshot *out) {
  size_t n = s->l->holdings.n;
  *out = (snapshot){.next_free = s->next_free, .next_first = s->next_first};
  out->slots = ttm_alloc_array(n, sizeof *out->slots);
  int status = out->slots ? TTM_OK : TTM_ENOMEM;
  if (!status && n) memcpy(out->slots, s->slots, n * sizeof *s->slots);
  for (int m = 0; m < TTM_REPLAY_MEMORIES && !status; m++) status = ttm_bank_copy(&out->banks[m], &s->banks[m]);
  return status;
}

/* Exchanges it with what is held now. */
static void swap_state(stage *s, snapshot *kept) {
  snapshot now = {.slots = s->slots};
  memcpy(now.banks, s->banks, sizeof now.banks);
  memcpy(s->banks, kept->banks, sizeof s->banks);
  s->slots = kept->slots;
  s->next_free = kept->next_free, s->next_first = kept->next_first;
  *kept = now;
}

static void drop_state(snapshot *kept) {
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) ttm_bank_free(&kept->banks[m]);
  ttm_free(kept->slots);
}

/* The program goes on, if what ended it has room. Behind the rest all is as it was recorded. */
static int play_rest(stage *s, size_t number) {
  const ttm_program_rest *rest = &s->l->rests[number];
  ttm_trial_rest *result = &s->out->rests[number];
  ttm_trial before = *s->out;
  snapshot kept;
  bool refused = rest->incident < 64 ? before.left >> rest->incident & 1 : !before.fits;
  if (refused) return TTM_OK;
  int status = keep_state(s, &kept);
  s->rest = rest;
  s->out->fits = true;
  for (size_t i = rest->first; i < rest->end && !status && !s->status; i++)
    if (!play(s, &s->l->entries.at[i])) break;
  s->rest = NULL;
  *result = (ttm_trial_rest){.reached = true, .fits = s->out->fits, .refused_op = s->out->refused_op};
  if (!result->fits) ttm_verdict_of(&s->out->refusal, &result->shortfall);
  s->out->predicted = true;
  s->out->least |= rest->program->run.unknown > 0;
  if (!before.fits) s->out->fits = false, s->out->refusal = before.refusal, s->out->refused_op = before.refused_op;
  if (!status) swap_state(s, &kept);
  drop_state(&kept);
  return status;
}

int ttm_trial_run(ttm_trial *out, const ttm_ledger *ledger, const ttm_change *changes, size_t n) {
  stage s = begin(out, ledger, changes, n);
  size_t rest = 0;
  s.status = set_up(&s);
  if (!s.status && n) s.status = mark_holdings(&s);
  if (!s.status && n) s.status = plan(&s);
  for (size_t i = 0; i < ledger->entries.n && !s.status; i++) {
    if (rest < ledger->rest_count && i == ledger->rests[rest].first) {
      s.status = play_rest(&s, rest);
      i = ledger->rests[rest++].end - 1;
    } else if (!play(&s, &ledger->entries.at[i])) {
      break;
    }
  }
  tear_down(&s);
  return s.status;
}

static int by_address(const void *a, const void *b) {
  const ttm_trial_block *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

static int list_blocks(const stage *s, uint8_t memory, ttm_trial_blocks *out) {
  for (uint32_t h = 0; h < s->l->holdings.n; h++) {
    ttm_trial_block block = {s->slots[h].block.at, s->slots[h].block.size, h};
    if (block.size && s->slots[h].memory == memory && ttm_vec_push(out, block)) return TTM_ENOMEM;
  }
  if (out->n) qsort(out->at, out->n, sizeof *out->at, by_address);
  return TTM_OK;
}

int ttm_trial_at_failure(ttm_trial_blocks *out, const ttm_ledger *ledger, uint32_t incident, uint64_t *bank_size) {
  ttm_trial trial;
  stage s = begin(&trial, ledger, NULL, 0);
  s.status = set_up(&s);
  for (size_t i = 0; i < ledger->entries.n && !s.status; i++) {
    const ttm_entry *entry = &ledger->entries.at[i];
    if (entry->act == TTM_ENTRY_REFUSED && entry->incident == incident) {
      uint8_t memory = ledger->holdings.at[entry->holding].memory;
      *bank_size = s.banks[memory].size;
      s.status = list_blocks(&s, memory, out);
      break;
    }
    for (size_t k = 0; k < ledger->rest_count; k++) /* without a change no rest is reached */
      if (i == ledger->rests[k].first) i = ledger->rests[k].end - 1, entry = NULL;
    if (entry && !play(&s, entry)) break;
  }
  tear_down(&s);
  return s.status;
}
