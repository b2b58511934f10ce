/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/fix.h"

#include "analyze/ledger.h"
#include "analyze/parts.h"
#include "base/checked.h"
#include "parse/metal_log.h"

enum {
  TILE_BF16 = 2048,
  MOST_PARTS = 256,      /* nobody cuts a tensor into more parts to make it fit */
  SMALL_OVERLAP = 65536, /* l1_small_size is seldom larger */
};

static void add(ttm_remedies *out, ttm_remedy remedy) {
  if (out->n < TTM_REMEDIES) out->at[out->n++] = remedy;
}

/* ---- What the refused buffer is made of ------------------------------------------------------------------------------ */

typedef struct tile_dtype {
  const char *name;
  uint32_t bytes; /* of a 32x32 tile */
} tile_dtype;

static const tile_dtype TILES[] = {{"f32", 4096}, {"bf16", 2048}, {"bfp8", 1088}, {"bfp4", 576}};
enum { TILE_KINDS = sizeof TILES / sizeof *TILES, TILE_NONE = -1 };

/* What one bank gives up for so many pages. */
static uint64_t bank_need(uint64_t pages, uint64_t page, uint64_t banks) {
  return ttm_mul_sat(ttm_div_up(pages, banks), page);
}

static bool is_made_of(const ttm_incident_text *what, uint64_t page) {
  return what->size % page == 0 && bank_need(what->size / page, page, what->banks) == what->needed_per_bank;
}

const ttm_tensor_type *ttm_refused_type(const ttm_profile *p, const ttm_incident *incident) {
  if (p->kind != TTM_LOG_CAPTURE || incident->op >= p->ops.n) return NULL;
  const ttm_op_text *text = ttm_op_text_of(p, incident->op);
  for (size_t i = p->capture.buffers.n; i-- > 0;) {
    const ttm_buffer *buffer = &p->capture.buffers.at[i];
    if (buffer->op >= p->ops.n || buffer->tensor == TTM_NONE || buffer->bytes != incident->what.size) continue;
    const ttm_op_text *other = ttm_op_text_of(p, buffer->op);
    if (other->name == text->name && text->location && other->location == text->location)
      return ttm_tensor_type_of(p, buffer->tensor);
  }
  return NULL;
}

static int tile_of(const ttm_tensor_type *type, const ttm_incident_text *what) {
  if (!type || !type->has_layout || !type->tiled) return TILE_NONE;
  for (int t = 0; t < TILE_KINDS; t++) {
    if (ttm_tile_bytes(type->storage, type->tile_h, type->tile_w) == TILES[t].bytes && is_made_of(what, TILES[t].bytes))
      return t;
  }
  return TILE_NONE;
}

/* The dtype the operation in flight gives its result, when that result is what was refused. */
static int tile_by_operation(const ttm_profile *p, const ttm_incident *incident) {
  if (incident->op == TTM_NONE) return TILE_NONE;
  const ttm_op_text *text = ttm_op_text_of(p, incident->op);
  int tile = tile_of(ttm_refused_type(p, incident), &incident->what);
  for (uint32_t k = 0; k < text->outputs.n && tile == TILE_NONE; k++)
    tile = tile_of(ttm_op_text_output(p, text, k), &incident->what);
  return tile;
}

/* The only tile size with which the message's own numbers agree. *sure is false when bf16 is one of several. */
static int tile_by_numbers(const ttm_incident_text *what, bool *sure) {
  int found = TILE_NONE, n = 0;
  for (int t = 0; t < TILE_KINDS; t++) {
    if (!is_made_of(what, TILES[t].bytes)) continue;
    if (found == TILE_NONE || TILES[t].bytes == TILE_BF16) found = t;
    n++;
  }
  *sure = n == 1;
  return *sure || (n > 1 && TILES[found].bytes == TILE_BF16) ? found : TILE_NONE;
}

/* ---- Out of memory ---------------------------------------------------------------------------------------------------- */

typedef struct oom {
  const ttm_profile *p;
  const ttm_incident *incident;
  const ttm_incident_text *what;
  uint64_t room; /* the largest piece that was to be had */
  ttm_remedies *out;
} oom;

/* Operations whose result has the dtype that they are told. Of others it follows their operands, and const-eval converts what it has made. */
static bool takes_dtype(const oom *o) {
  static const char *const names[] = {"ttnn.matmul",   "ttnn.linear",   "ttnn.add",       "ttnn.subtract",
                                      "ttnn.multiply", "ttnn.typecast", "ttnn.to_layout", "ttnn.embedding"};
  if (o->incident->op == TTM_NONE) return true; /* the message alone */
  ttm_str name = ttm_profile_string(o->p, ttm_op_text_of(o->p, o->incident->op)->name);
  if (o->p->ops.at[o->incident->op].flags & TTM_OP_CONST_EVAL) return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (ttm_str_eq(name, ttm_str_of(names[i]))) return true;
  }
  return ttm_op_brings(name);
}

/* The next smaller dtype that would have fitted: bf16 before bfp8; bfp4 only of bfp8. */
static void add_dtype(const oom *o) {
  bool sure = true;
  if (!takes_dtype(o)) return;
  int tile = tile_by_operation(o->p, o->incident);
  if (tile == TILE_NONE) tile = tile_by_numbers(o->what, &sure);
  if (tile == TILE_NONE) return;
  uint64_t pages = o->what->size / TILES[tile].bytes;
  for (int t = tile + 1; t < (tile < 2 ? TILE_KINDS - 1 : TILE_KINDS); t++) {
    uint64_t need = ttm_round_up(bank_need(pages, TILES[t].bytes, o->what->banks), 64);
    if (need > o->room) continue;
    add(o->out, (ttm_remedy){.kind = TTM_FIX_DTYPE,
                             .check = sure ? TTM_FIX_DERIVED : TTM_FIX_ESTIMATED,
                             .bytes = need,
                             .dtype = TILES[t].name,
                             .guess = !sure,
                             .op = o->incident->op});
    return;
  }
}

static void add_divide(const oom *o) {
  bool sure;
  int tile = tile_by_operation(o->p, o->incident);
  if (tile == TILE_NONE) tile = tile_by_numbers(o->what, &sure);
  for (uint64_t n = 2; n <= MOST_PARTS; n++) {
    uint64_t need = ttm_div_up(o->what->needed_per_bank, n);
    if (tile != TILE_NONE) {
      uint64_t pages = ttm_div_up(o->what->size / TILES[tile].bytes, n);
      need = bank_need(pages, TILES[tile].bytes, o->what->banks);
    }
    if (need > o->room) continue;
    ttm_fix_check check = tile == TILE_NONE ? TTM_FIX_ESTIMATED : TTM_FIX_DERIVED;
    add(o->out, (ttm_remedy){.kind = TTM_FIX_DIVIDE, .check = check, .bytes = need, .count = n});
    return;
  }
}

/* What the whole program that failed needs on its board, as far as its module tells it; NULL. */
static const ttm_board_need *whole_need(const ttm_findings *f, const ttm_incident_finding *finding) {
  uint32_t run = ttm_incident_run(f->profile, finding->incident);
  for (size_t i = 0; run != TTM_NONE && i < f->prediction.programs.n; i++) {
    const ttm_program_need *program = f->prediction.programs.at[i];
    if (program->graph == f->profile->calls.at[run].graph) return &program->boards[program->home - ttm_boards];
  }
  return NULL;
}

/* Whether there is less DRAM than needed, here or later: not only no free block that is large enough. */
static bool lacks_dram(const ttm_findings *f, const ttm_incident_finding *finding) {
  const ttm_board_need *whole = whole_need(f, finding);
  if (whole && whole->need[TTM_NEED_DRAM].bytes > whole->capacity[TTM_NEED_DRAM]) return true;
  return finding->verdict != TTM_VERDICT_FRAGMENTED;
}

/* The first board with banks larger than these that has room for so many bytes in all, or for the whole program, and 5 % more. */
static void add_larger_board(ttm_remedies *out, const ttm_board_need *whole, uint64_t bytes, uint64_t bank_size) {
  uint64_t all = whole ? ttm_mul_sat(whole->need[TTM_NEED_DRAM].bytes, whole->board->dram_banks) : 0;
  if (bytes < all) bytes = all;
  for (size_t b = 0; b < TTM_BOARDS; b++) {
    uint64_t bank = ttm_board_dram_bank(&ttm_boards[b], 0, true), use = ttm_div_up(bytes, ttm_boards[b].dram_banks);
    if (bank <= bank_size || use > bank - bank / 20) continue;
    add(out,
        (ttm_remedy){.kind = TTM_FIX_BOARD, .check = TTM_FIX_ESTIMATED, .bytes = use, .board = ttm_boards[b].name});
    return;
  }
}

/* The weights are more than the device holds: what is freed, moved or divided on the way there does not help. */
static void find_for_weights(ttm_remedies *out, const ttm_findings *f, const ttm_incident_finding *finding) {
  const ttm_weight_demand *demand = &f->weight_demand;
  uint64_t room = demand->capacity - demand->capacity / 20;
  if (demand->as_bfp8 <= room) {
    ttm_level dram = {.banks = 1};
    ttm_profile_config(f->profile, TTM_DRAM, &dram);
    add(out, (ttm_remedy){.kind = TTM_FIX_WEIGHTS,
                          .check = TTM_FIX_ESTIMATED,
                          .dtype = "bfp8",
                          .bytes = (demand->bytes - demand->as_bfp8) / (dram.banks ? dram.banks : 1),
                          .count = demand->matrices,
                          .name = demand->largest,
                          .op = TTM_NONE});
  }
  uint64_t chips = ttm_div_up(demand->bytes, room ? room : 1);
  if (chips <= MOST_PARTS)
    add(out, (ttm_remedy){.kind = TTM_FIX_CHIPS,
                          .check = TTM_FIX_ESTIMATED,
                          .bytes = ttm_div_up(demand->bytes, chips),
                          .count = chips});
  add_larger_board(out, whole_need(f, finding), demand->bytes, 0);
}

/* The smallest board whose banks would have held what was allocated and the refused buffer. Rounding of the single buffers is not known
 * here, so a board that would be nearly full is not named. */
static void add_board(const oom *o, const ttm_board_need *whole) {
  const ttm_incident_text *what = o->what;
  if (what->allocated_per_bank == TTM_UNKNOWN || what->bank_size == TTM_UNKNOWN) return;
  uint64_t total = ttm_mul_sat(ttm_add_sat(what->allocated_per_bank, what->needed_per_bank), what->banks);
  add_larger_board(o->out, whole, total, what->bank_size + what->bank_size / 8);
}

/* A tensor of this type in which rows are looked up; TTM_NONE. */
static uint32_t table_of(const ttm_profile *p, uint32_t type) {
  for (uint32_t t = 0; t < p->tensors.n; t++) {
    const ttm_tensor *row = &p->tensors.at[t];
    if (row->self == t && row->uses & TTM_USE_TABLE && row->birth < p->ops.n && ttm_tensor_type_id(p, t) == type)
      return t;
  }
  return TTM_NONE;
}

/* What an embedding was refused is as large as the rows of its table, which is in tiles: it makes them inside. */
static bool add_table(const oom *o) {
  const ttm_op_text *text = o->incident->op == TTM_NONE ? NULL : ttm_op_text_of(o->p, o->incident->op);
  if (!text || ttm_operand_use(ttm_profile_string(o->p, text->name), 1) != TTM_USE_TABLE) return false;
  for (uint32_t i = 0; i < text->inputs.n; i++) {
    uint32_t id = o->p->lists.at[text->inputs.first + i], table = table_of(o->p, id);
    const ttm_type *type = &o->p->types.at[id];
    if (!type->is_tensor || !type->tensor.tiled || ttm_dims_values(&type->tensor.shape) * 2 != o->what->size) continue;
    add(o->out, (ttm_remedy){.kind = TTM_FIX_ROW_MAJOR,
                             .check = TTM_FIX_DERIVED,
                             .bytes = o->what->needed_per_bank,
                             .count = 1,
                             .op = table == TTM_NONE ? o->incident->op : o->p->tensors.at[table].birth,
                             .row = TTM_NONE});
    return true;
  }
  return false;
}

/* ---- What the log knows beyond the message ------------------------------------------------------------------------------ */

/* Results of earlier runs, when letting them go would have been enough. */
static void add_kept(ttm_remedies *out, const ttm_findings *f, uint64_t missing) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  ttm_remedy remedy = {.kind = TTM_FIX_RELEASE_KEPT, .check = TTM_FIX_DERIVED};
  for (size_t i = 0; i < set->rows.n; i++) {
    const ttm_alive_row *row = &set->rows.at[i];
    if (row->class != TTM_ALIVE_KEPT) continue;
    if (!remedy.count) remedy.name = row->name, remedy.op = row->op;
    remedy.count += row->tensors;
    remedy.bytes += row->bank_bytes;
  }
  if (remedy.bytes >= missing) add(out, remedy);
}

/* The fewest bf16 weights that make so much room as bfp8, or all of them: rows come largest first. */
static ttm_remedy weights_for(const ttm_findings *f, uint64_t missing) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  ttm_remedy remedy = {.kind = TTM_FIX_WEIGHTS, .check = TTM_FIX_ESTIMATED, .dtype = "bfp8"};
  for (size_t i = 0; i < set->rows.n && remedy.bytes < missing; i++) {
    const ttm_alive_row *row = &set->rows.at[i];
    uint64_t saves = ttm_alive_row_bfp8_saves(f, row);
    if (!saves) continue;
    if (!remedy.count) remedy.name = row->name, remedy.op = row->op;
    remedy.count += row->tensors;
    remedy.bytes += saves;
  }
  return remedy;
}

static void add_weights(ttm_remedies *out, const ttm_findings *f, uint64_t missing) {
  ttm_remedy remedy = weights_for(f, missing);
  if (remedy.bytes >= missing && remedy.count) add(out, remedy);
}

bool ttm_fix_more_weights(ttm_remedy *r, const ttm_findings *f) {
  uint64_t count = r->count;
  *r = weights_for(f, ttm_mul_sat(r->bytes, 2));
  return r->count > count;
}

/* A tensor between two free blocks which together would have been enough. */
static void add_pin(ttm_remedies *out, const ttm_findings *f, uint64_t needed, uint32_t op) {
  const ttm_fragmentation *x = &f->fragmentation;
  for (size_t i = 0; i < x->pin_count; i++) {
    const ttm_pin *pin = &x->pins[i];
    if (pin->tensor == TTM_NONE || pin->tensors != 1 || pin->merged < needed) continue;
    if (f->profile->tensors.at[pin->tensor].last_use >= op) continue; /* the failing operation takes it */
    ttm_remedy remedy = {.kind = TTM_FIX_MOVE_PIN, .check = TTM_FIX_DERIVED, .bytes = pin->merged, .count = 1};
    remedy.op = f->profile->tensors.at[pin->tensor].birth;
    add(out, remedy);
    return;
  }
}

/* As many of them, largest first, as are enough in sum. */
static void add_earlier(ttm_remedies *out, const ttm_profile *p, const ttm_rescue *rescue, uint64_t missing) {
  ttm_remedy remedy = {.kind = TTM_FIX_FREE_EARLIER, .check = TTM_FIX_ESTIMATED};
  if (!rescue->n) return;
  remedy.op = p->tensors.at[rescue->at[0].tensor].birth;
  for (uint32_t i = 0; i < rescue->n && remedy.bytes < missing; i++) {
    remedy.bytes += rescue->at[i].bank_bytes;
    remedy.blocks[remedy.block_count++] = rescue->at[i].tensor;
  }
  remedy.count = remedy.block_count;
  if (remedy.bytes >= missing) add(out, remedy);
}

/* The loop that ran out of this memory, when what it kept is more than was missing. */
static void add_loop(ttm_remedies *out, const ttm_findings *f, ttm_memory memory, uint64_t missing) {
  for (size_t i = 0; i < f->growths.n; i++) {
    const ttm_growth *g = &f->growths.at[i];
    ttm_remedy remedy = {
        .kind = TTM_FIX_STOP_LEAK, .check = TTM_FIX_DERIVED, .bytes = g->saves, .count = g->iterations};
    remedy.op = g->rows[0].op;
    if (g->sure && g->ended && g->memory == memory && g->saves >= missing) return add(out, remedy);
  }
}

/* ---- KV caches ---------------------------------------------------------------------------------------------------------- */

static bool is_cache(const ttm_findings *f, const ttm_alive_row *row) {
  const ttm_profile *p = f->profile;
  return row->class == TTM_ALIVE_KV_CACHE && row->type < p->types.n && p->types.at[row->type].is_tensor &&
         p->types.at[row->type].tensor.shape.rank == 4;
}

/* The program was bringing weights and caches to the device: after this tensor come others like it. */
static bool is_loading(const ttm_findings *f, const ttm_incident *incident) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  const uint64_t *bytes = set->by_class;
  if (!f->profile->capture.recording.is || !set->known || incident->op >= f->profile->ops.n) return false;
  return ttm_op_brings(ttm_profile_string(f->profile, ttm_op_text_of(f->profile, incident->op)->name)) &&
         bytes[TTM_ALIVE_WEIGHT] + bytes[TTM_ALIVE_KV_CACHE] + bytes[TTM_ALIVE_INPUT] > set->measured_bytes / 10 * 9 &&
         incident->what.needed_per_bank < set->measured_bytes / 4;
}

/* Bytes of a bank that were taken before operation `op` and stay. */
static uint64_t kept_before(const ttm_findings *f, uint32_t op) {
  const ttm_capture *c = &f->profile->capture;
  uint64_t sum = 0;
  for (size_t i = 0; i < c->buffers.n; i++) {
    const ttm_buffer *b = &c->buffers.at[i];
    bool here = b->memory == TTM_DRAM && b->device == f->alive_set[TTM_DRAM].device && b->freed_by == TTM_NONE;
    if (here && (b->op == TTM_NONE || b->op < op)) sum += b->bank_bytes;
  }
  return sum;
}

/* How many caches of one `count`-th have room, if each brings with it what those so far did: the weights of its layer. */
static uint64_t room_for(const ttm_findings *f, const ttm_incident_text *what, const ttm_remedy *r, uint64_t caches) {
  uint64_t before = kept_before(f, r->op), each;
  if (what->bank_size == TTM_UNKNOWN || what->allocated_per_bank < before + caches) return 0;
  each = (what->allocated_per_bank - before - caches + caches / r->count) / r->caches;
  return each && what->bank_size > before ? (what->bank_size - before) / each : 0;
}

static uint64_t bfp8_saves(const ttm_findings *f, const ttm_alive_row *row) {
  const ttm_tensor_type *type = &f->profile->types.at[row->type].tensor;
  uint32_t tile = type->tiled ? ttm_tile_bytes(type->storage, type->tile_h, type->tile_w) : 0;
  return tile >= TILE_BF16 ? row->bank_bytes - row->bank_bytes / tile * TILES[2].bytes : 0;
}

/* Fewer tokens or users, and a smaller dtype. */
static void add_caches(const oom *o, const ttm_findings *f, uint64_t missing, bool loading) {
  enum { MOST = 8 };
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  ttm_remedy less = {.kind = TTM_FIX_CACHE, .check = TTM_FIX_ESTIMATED, .count = 2, .op = TTM_NONE};
  uint64_t bytes = 0, saves = 0;
  for (uint32_t i = 0; set->known && i < set->rows.n; i++) {
    const ttm_alive_row *row = &set->rows.at[i];
    if (!is_cache(f, row)) continue;
    if (!less.caches) less.name = row->name, less.row = i;
    if (row->op < less.op) less.op = row->op; /* TTM_NONE is above all */
    less.caches += row->tensors;
    bytes += row->bank_bytes;
    saves += bfp8_saves(f, row);
  }
  ttm_remedy dtype = less;
  while (less.count < MOST && bytes - bytes / less.count < missing) less.count *= 2;
  less.bytes = bytes - bytes / less.count;
  if (less.caches && loading) less.room = room_for(f, o->what, &less, bytes);
  if (less.caches && less.bytes >= missing) add(o->out, less);
  dtype.kind = TTM_FIX_CACHE_DTYPE, dtype.dtype = "bfp8", dtype.bytes = saves;
  if (saves && saves >= missing) add(o->out, dtype);
}

/* What is divided over the chips of a mesh when a model is: weights by their columns, caches by their heads. */
static void add_mesh(const oom *o) {
  enum { LARGEST = 32 };
  uint64_t chips = ttm_profile_chips(o->p), use = ttm_add_sat(o->what->allocated_per_bank, o->what->needed_per_bank);
  chips = chips ? chips * 2 : 2;
  if (o->what->allocated_per_bank == TTM_UNKNOWN || chips > LARGEST) return;
  add(o->out, (ttm_remedy){.kind = TTM_FIX_MESH, .check = TTM_FIX_ESTIMATED, .bytes = use / 2, .count = chips});
}

/* Mostly where the analyses looked at the very state before the message. */
static void add_from_log(ttm_remedies *out, const ttm_findings *f, const ttm_incident *incident,
                         const ttm_incident_finding *finding) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  if (incident->state == TTM_NONE) return;
  bool exhausted = finding->verdict != TTM_VERDICT_IMPOSSIBLE && lacks_dram(f, finding) && set->known;
  if (exhausted && set->state == incident->state) add_kept(out, f, finding->shortfall);
  /* Weights stay: those of the peak will do, where the fix is tried. */
  if (exhausted && (set->state == incident->state || ttm_ledger_possible(f->profile)))
    add_weights(out, f, finding->shortfall);
  if (finding->verdict == TTM_VERDICT_FRAGMENTED && f->fragmentation.pins_state == incident->state)
    add_pin(out, f, incident->what.needed_per_bank, incident->op);
}

static void find_oom(ttm_remedies *out, const ttm_findings *f, const ttm_incident *incident,
                     const ttm_incident_finding *finding) {
  const ttm_profile *p = f->profile;
  const ttm_incident_text *what = &incident->what;
  ttm_memory memory;
  if (what->needed_per_bank == TTM_UNKNOWN || finding->verdict == TTM_VERDICT_NONE) return;
  if (what->banks == 0 || what->banks == TTM_UNKNOWN || !ttm_memory_of(what->memory, &memory)) return;
  ttm_fix_check check = finding->derived ? TTM_FIX_ESTIMATED : TTM_FIX_DERIVED;
  uint64_t allocated = what->allocated_per_bank == TTM_UNKNOWN ? 0 : what->allocated_per_bank;
  if (memory == TTM_L1_SMALL || memory == TTM_TRACE) {
    uint64_t region = ttm_round_up(ttm_add_sat(allocated, what->needed_per_bank), 64);
    ttm_remedy_kind kind = memory == TTM_TRACE ? TTM_FIX_TRACE : TTM_FIX_L1_SMALL;
    /* trace_region_size is the total over the banks. */
    if (memory == TTM_TRACE) region = ttm_mul_sat(region, what->banks);
    add(out, (ttm_remedy){.kind = kind, .check = check, .bytes = region});
    return;
  }
  if (memory == TTM_DRAM && f->weight_demand.bytes > f->weight_demand.capacity)
    return find_for_weights(out, f, finding);
  oom o = {p, incident, what, 0, out};
  bool blocked = finding->verdict == TTM_VERDICT_BLOCKED;
  if (what->largest_free_block != TTM_UNKNOWN) o.room = blocked ? what->window : what->largest_free_block;
  bool loading = memory == TTM_DRAM && is_loading(f, incident);
  bool own = what->size != TTM_UNKNOWN && o.room && !(memory == TTM_DRAM && add_table(&o)) && !loading;
  add_loop(out, f, memory, finding->shortfall);
  add_earlier(out, p, &finding->rescue, finding->shortfall);
  if (memory == TTM_DRAM) add_from_log(out, f, incident, finding);
  if (memory == TTM_DRAM && p->capture.recording.is) add_caches(&o, f, finding->shortfall, loading);
  if (loading) add_weights(out, f, finding->shortfall);
  if (loading) add_mesh(&o);
  if (memory == TTM_L1) add(out, (ttm_remedy){.kind = TTM_FIX_DRAM, .check = TTM_FIX_ESTIMATED, .bytes = what->size});
  if (own) {
    add_dtype(&o);
    add_divide(&o);
  }
  if (memory == TTM_DRAM && lacks_dram(f, finding)) add_board(&o, whole_need(f, finding));
  bool pinned = out->n && out->at[0].kind == TTM_FIX_MOVE_PIN; /* which says the same */
  if (blocked)
    add(out, (ttm_remedy){.kind = TTM_FIX_PER_CORE, .check = TTM_FIX_ESTIMATED});
  else if (finding->verdict != TTM_VERDICT_IMPOSSIBLE && !pinned &&
           !loading) /* what lacks beside the largest free block */
    add(out, (ttm_remedy){.kind = TTM_FIX_FREE,
                          .check = check,
                          .bytes = o.room ? what->needed_per_bank - o.room : finding->shortfall});
}

/* ---- Static buffers --------------------------------------------------------------------------------------------------- */

/* The largest x of any core in "[(x=0,y=0) - (x=7,y=7)]" or "{[0-0 - 10-8], [0-9 - 3-9]}"; TTM_UNKNOWN without numbers. */
static uint64_t largest_x(ttm_str cores) {
  uint64_t best = TTM_UNKNOWN, number, place = 0;
  while (cores.n) {
    if (!ttm_str_take_u64(&cores, &number)) {
      cores = ttm_str_from(cores, 1);
      continue;
    }
    if (place++ % 2 == 0 && (best == TTM_UNKNOWN || number > best)) best = number; /* x and y take turns */
  }
  return best;
}

ttm_arch_id ttm_incident_arch(const ttm_profile *p, const ttm_incident *incident) {
  ttm_level dram;
  ttm_arch_id arch = ttm_arch_by_l1_bytes(incident->what.l1_size);
  bool told = incident->state < p->states.n ? ttm_state_level(p, incident->state, TTM_DRAM, &dram)
                                            : ttm_profile_config(p, TTM_DRAM, &dram);
  if (arch == TTM_ARCHES && told) arch = ttm_arch_by_dram_banks(dram.banks);
  if (arch != TTM_ARCHES) return arch;
  /* Wormhole has eight columns of cores, and an address beyond its L1 cannot be one of its own. */
  uint64_t x = largest_x(incident->what.core_range), end = incident->what.buffers_end;
  if (x != TTM_UNKNOWN && x >= 8) return TTM_ARCH_BLACKHOLE;
  uint64_t at = incident->what.l1_buffer_at;
  if (at != TTM_UNKNOWN && at > ttm_arches[TTM_ARCH_WORMHOLE].l1_bytes) return TTM_ARCH_BLACKHOLE;
  return x != TTM_UNKNOWN && x == 7 && end != TTM_UNKNOWN ? TTM_ARCH_WORMHOLE : TTM_ARCHES;
}

/* Unused bytes of L1_SMALL when the message came. */
static uint64_t unused_small(const ttm_profile *p, const ttm_incident *incident) {
  ttm_level small;
  if (incident->state >= p->states.n) return TTM_UNKNOWN;
  if (!ttm_state_level(p, incident->state, TTM_L1_SMALL, &small)) return 0;
  uint64_t room = ttm_level_bytes(small.free);
  return room > TTM_LEVEL_SLACK ? room - TTM_LEVEL_SLACK : 0;
}

void ttm_fixes_of_buffers(ttm_remedies *out, const ttm_incident_text *what, ttm_arch_id arch, uint64_t unused_small) {
  bool clash = what->kind == TTM_INCIDENT_L1_CLASH;
  uint64_t limit = clash ? what->l1_buffer_at : what->l1_size, end = what->buffers_end;
  if (end == TTM_UNKNOWN || limit == TTM_UNKNOWN || end <= limit) return;
  uint64_t overlap = end - limit, cut = ttm_round_up(overlap, TILE_BF16);
  /* Without a known chip Wormhole's base is as good as any: they differ by 6 KB. */
  uint64_t base = ttm_l1_base_newest(arch == TTM_ARCHES || arch == TTM_ARCH_GRAYSKULL ? TTM_ARCH_WORMHOLE : arch);
  if (end > base && cut <= end - base) {
    add(out,
        (ttm_remedy){.kind = TTM_FIX_BUFFERS, .check = TTM_FIX_DERIVED, .bytes = overlap, .count = cut / TILE_BF16});
  }
  if (clash && !what->service && (!out->n || out->at[0].kind != TTM_FIX_L1_TENSORS))
    add(out, (ttm_remedy){.kind = TTM_FIX_L1_TENSORS, .check = TTM_FIX_DERIVED, .bytes = overlap, .op = TTM_NONE});
  bool told = unused_small != TTM_UNKNOWN;
  if (clash && !what->service && (told ? unused_small >= overlap : overlap <= SMALL_OVERLAP))
    add(out, (ttm_remedy){
                 .kind = TTM_FIX_LESS_SMALL, .check = told ? TTM_FIX_DERIVED : TTM_FIX_ESTIMATED, .bytes = overlap});
  if (end > base && limit > base) {
    uint64_t parts = ttm_div_up(end - base, limit - base);
    if (parts >= 2 && parts <= MOST_PARTS)
      add(out, (ttm_remedy){.kind = TTM_FIX_BLOCKS, .check = TTM_FIX_ESTIMATED, .bytes = overlap, .count = parts});
  }
}

/* Without them the lowest tensor lies behind the buffers. In DRAM an operand makes another program of the operation. */
void ttm_fixes_of_clash(ttm_remedies *out, const ttm_profile *p, const ttm_incident *incident,
                        const ttm_obstacles *way) {
  if (way->n)
    add(out, (ttm_remedy){.kind = TTM_FIX_L1_TENSORS,
                          .check = way->needed ? TTM_FIX_ESTIMATED : TTM_FIX_DERIVED,
                          .bytes = way->bytes,
                          .count = way->n,
                          .op = way->at[0].op});
  ttm_fixes_of_buffers(out, &incident->what, ttm_incident_arch(p, incident), unused_small(p, incident));
}

/* The kernel config buffer is what worker_l1_size leaves of L1; that of Ethernet cores is not. */
static void find_fatal(ttm_remedies *out, const ttm_incident_text *what) {
  bool ethernet = ttm_str_contains(what->text, TTM_LIT("_ETH"));
  switch (what->about) {
    case TTM_ABOUT_UNKNOWN:
      return;
    case TTM_ABOUT_KERNELS:
      if (what->size <= what->limit) return;
      if (!ethernet) add(out, (ttm_remedy){.kind = TTM_FIX_WORKER_L1, .check = TTM_FIX_DERIVED, .bytes = what->size});
      return add(out,
                 (ttm_remedy){.kind = TTM_FIX_KERNEL, .check = TTM_FIX_DERIVED, .bytes = what->size - what->limit});
    case TTM_ABOUT_TRACE_REGION:
      return add(out, (ttm_remedy){.kind = TTM_FIX_TRACE, .check = TTM_FIX_DERIVED, .bytes = what->size});
    default:
      return add(out, (ttm_remedy){.kind = TTM_FIX_ABOUT, .check = TTM_FIX_ESTIMATED});
  }
}

void ttm_fixes_of_failure(ttm_remedies *out, const ttm_findings *f, size_t i) {
  const ttm_incident_finding *finding = &f->incidents.at[i];
  const ttm_incident *incident = &f->profile->incidents.at[finding->incident];
  *out = (ttm_remedies){.n = 0};
  switch (incident->what.kind) {
    case TTM_INCIDENT_OOM:
      find_oom(out, f, incident, finding);
      break;
    case TTM_INCIDENT_L1_CLASH:
    case TTM_INCIDENT_L1_OVERFLOW:
      ttm_fixes_of_clash(out, f->profile, incident, &finding->obstacles);
      break;
    case TTM_INCIDENT_L1_BUFFERS:
      if (ttm_metal_mistake_find(incident->what.text))
        add(out, (ttm_remedy){.kind = TTM_FIX_CONFIG, .check = TTM_FIX_DERIVED});
      else if (finding->shortfall != TTM_UNKNOWN)
        add(out, (ttm_remedy){.kind = TTM_FIX_BUFFERS,
                              .check = TTM_FIX_DERIVED,
                              .bytes = finding->shortfall,
                              .count = ttm_div_up(finding->shortfall, TILE_BF16)});
      break;
    case TTM_INCIDENT_FATAL:
      find_fatal(out, &incident->what);
      break;
  }
}
