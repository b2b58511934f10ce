/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/moment.h"

#include <stdlib.h>

#include "analyze/alive_rows.h"
#include "analyze/parts.h"
#include "analyze/tell.h"
#include "base/checked.h"

/* ---- Where --------------------------------------------------------------------------------------------------------------- */

ttm_instant ttm_instant_of_op(const ttm_profile *p, uint32_t op) {
  return (ttm_instant){op, op < p->ops.n ? p->ops.at[op].state : TTM_NONE};
}

ttm_instant ttm_instant_of_line(const ttm_profile *p, uint32_t line) {
  uint32_t low = 0, high = (uint32_t)p->ops.n; /* operations before `low` begin at the line or above it */
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (p->ops.at[middle].line <= line)
      low = middle + 1;
    else
      high = middle;
  }
  return ttm_instant_of_op(p, low ? low - 1 : 0);
}

ttm_instant ttm_instant_of_peak(const ttm_findings *f, ttm_memory memory) {
  const ttm_profile *p = f->profile;
  const ttm_peak *peak = &f->peak[memory];
  if (!peak->known) return (ttm_instant){0, TTM_NONE};
  if (peak->before < p->ops.n) return (ttm_instant){peak->before, TTM_NONE};
  return (ttm_instant){ttm_op_after_state(p, peak->state, 0), peak->state};
}

uint32_t ttm_instant_rank(const ttm_profile *p, ttm_instant at) {
  if (at.state < p->states.n) return ttm_state_rank(p, at.state);
  return at.op < p->ops.n ? ttm_op_rank(p, at.op) : 0;
}

/* ---- What is there ---------------------------------------------------------------------------------------------------------- */

static bool is_there(const ttm_moment *m, const ttm_occupant *o) {
  if (m->state == TTM_NONE) return ttm_occupant_is_there(o, m->op);
  return o->state_from <= m->state && m->state < o->state_to;
}

static bool is_kept(const ttm_moment *m, const ttm_occupant *o) {
  return m->state == TTM_NONE ? m->op >= o->kept : m->state >= o->state_kept;
}

static ttm_alive_row row_of(const ttm_moment *m, const ttm_occupant *o) {
  const ttm_profile *p = m->occupancy->findings->profile;
  bool kept = is_kept(m, o);
  ttm_alive_row row = {.class = kept ? TTM_ALIVE_KEPT : (ttm_alive_class)o->class,
                       .name = kept ? 0 : o->name,
                       .arg = TTM_NONE,
                       .op = o->op,
                       .tensor = o->tensor,
                       .type = TTM_NONE,
                       .source = TTM_NONE,
                       .tensors = !o->part,
                       .guess = o->guess && !kept,
                       .smallest_bytes = o->bytes,
                       .bank_bytes = o->bytes};
  if (o->tensor < p->tensors.n) row.uses = p->tensors.at[o->tensor].uses;
  if (o->type >= p->types.n || !p->types.at[o->type].is_tensor) return row;
  row.type = o->type;
  row.logical_bytes = o->part ? 0 : ttm_tensor_logical_bytes(&p->types.at[o->type].tensor);
  row.stored_bytes =
      o->part ? 0 : ttm_tensor_stored_bytes(&p->types.at[o->type].tensor, ttm_profile_alignment_of(p, m->set.banks));
  return row;
}

static int gather(ttm_moment *m, ttm_alive_rows *rows, int memory) {
  const ttm_occupancy *o = m->occupancy;
  const ttm_profile *p = o->findings->profile;
  uint64_t held = 0, program = 0, unknown = 0;
  for (size_t i = 0; i < o->rows.n; i++) {
    const ttm_occupant *it = &o->rows.at[i];
    if (it->memory != memory || !is_there(m, it)) continue;
    held += it->bytes;
    if (it->at != TTM_UNKNOWN && ttm_vec_push(&m->rows, ((ttm_placed){it->at, (uint32_t)i}))) return TTM_ENOMEM;
    bool named = it->tensor != TTM_NONE || o->placed;
    if (!named && it->class == TTM_ALIVE_PROGRAM) {
      program += it->bytes;
    } else if (!named && it->class == TTM_ALIVE_UNACCOUNTED) {
      unknown += it->bytes;
    } else {
      ttm_alive_row row = row_of(m, it);
      if (ttm_alive_rows_add(rows, &row, it->op < p->ops.n ? p->ops.at[it->op].text : TTM_NONE - it->type))
        return TTM_ENOMEM;
    }
  }
  if (m->state == TTM_NONE) m->set.measured_bytes = held;
  if (held > m->set.measured_bytes + TTM_LEVEL_SLACK) m->set.over_bytes = held - m->set.measured_bytes;
  if (m->set.measured_bytes > held + TTM_LEVEL_SLACK) unknown += m->set.measured_bytes - held;
  int status = ttm_alive_rows_add_rest(rows, TTM_ALIVE_PROGRAM, program);
  return status ? status : ttm_alive_rows_add_rest(rows, TTM_ALIVE_UNACCOUNTED, unknown);
}

/* ---- What is free ------------------------------------------------------------------------------------------------------------ */

static int by_address(const void *a, const void *b) {
  const ttm_placed *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

static int add_block(ttm_moment *m, uint64_t from, uint64_t to) {
  if (to <= from) return TTM_OK;
  return ttm_vec_push(&m->blocks, ((ttm_extent){from, to - from}));
}

static int find_free(ttm_moment *m, const ttm_occupied_memory *memory) {
  uint64_t end = memory->base, largest = 0;
  int status = TTM_OK;
  if (m->rows.n) qsort(m->rows.at, m->rows.n, sizeof *m->rows.at, by_address);
  for (size_t i = 0; i < m->rows.n && !status; i++) {
    const ttm_occupant *row = &m->occupancy->rows.at[m->rows.at[i].row];
    status = add_block(m, end, row->at);
    if (ttm_add_sat(row->at, row->bytes) > end) end = ttm_add_sat(row->at, row->bytes);
  }
  uint64_t top = ttm_add_sat(memory->base, m->total); /* rounded, as states are */
  if (!status && top > ttm_add_sat(end, TTM_LEVEL_SLACK)) status = add_block(m, end, top);
  for (size_t i = 0; i < m->blocks.n; i++)
    if (m->blocks.at[i].size > largest) largest = m->blocks.at[i].size;
  uint64_t apart = largest > m->largest ? largest - m->largest : m->largest - largest;
  m->agrees = m->state == TTM_NONE || apart <= 4 * TTM_LEVEL_SLACK;
  if (m->state == TTM_NONE) m->largest = largest;
  return status;
}

int ttm_moment_make(ttm_moment *out, const ttm_occupancy *o, ttm_memory memory, ttm_instant at) {
  const ttm_profile *p = o->findings->profile;
  int which = memory == TTM_L1 ? TTM_REPLAY_L1 : TTM_REPLAY_DRAM;
  ttm_level level;
  *out = (ttm_moment){.occupancy = o, .op = at.op, .state = at.state, .total = o->memories[which].size};
  out->set = (ttm_alive_set){.known = true, .memory = memory, .state = at.state, .device = TTM_NONE};
  out->set.banks = o->memories[which].banks;
  bool told = at.state < p->states.n && ttm_state_level(p, at.state, memory, &level);
  if (told) {
    out->set.banks = level.banks;
    out->set.measured_bytes = ttm_level_bytes(level.allocated);
    out->total = ttm_level_bytes(level.total);
    out->room = ttm_level_bytes(level.free);
    out->largest = ttm_level_bytes(level.largest);
  } else {
    out->state = TTM_NONE;
  }
  out->blocks_known = ttm_blocks_known(p);
  out->set.alive_bits = ttm_alloc_array(p->tensors.n / 64 + 1, sizeof *out->set.alive_bits);
  ttm_alive_rows rows = {.set = &out->set, .p = p};
  int status = out->set.alive_bits ? gather(out, &rows, which) : TTM_ENOMEM;
  if (!told) out->room = ttm_sub_sat(out->total, out->set.measured_bytes);
  if (!status) status = ttm_alive_rows_keep(&rows);
  if (!status) status = find_free(out, &o->memories[which]);
  ttm_alive_rows_free(&rows);
  return status;
}

void ttm_moment_free(ttm_moment *m) {
  ttm_alive_set_free(&m->set);
  ttm_vec_free(&m->rows);
  ttm_vec_free(&m->blocks);
}

/* ---- In words ---------------------------------------------------------------------------------------------------------------- */

static void tell_level(ttm_teller *t, const ttm_moment *m) {
  bool measured = m->state != TTM_NONE, blocks = m->blocks_known && m->total;
  const char *least = ttm_profile_is_window(t->p) ? "≥ " : "";
  ttm_tell(t, m->set.memory == TTM_L1 ? "moment.l1" : "moment.dram", TTM_TOPIC_ALIVE, TTM_SEVERITY_NOTE,
           measured ? ttm_words_state_basis(t->p, m->state) : TTM_DERIVED);
  ttm_say(&t->text, t->f, "{} {}{} of {} per bank ({}) ", TTM_WORDS(ttm_memory_name(m->set.memory)), TTM_WORDS(least),
          TTM_NUMBER(m->set.measured_bytes), TTM_MB_OF(m->total), TTM_SHARE(m->set.measured_bytes, m->total));
  if (m->op < t->p->ops.n)
    ttm_say(&t->text, t->f, "before {}", TTM_OP(m->op));
  else
    ttm_buf_puts(&t->text, "at the end");
  ttm_tell_headline(t);
  if (measured) ttm_tell_line(t, t->p->states.at[m->state].line);
  if (m->op < t->p->ops.n) ttm_tell_op(t, m->op);
  ttm_tell_quantity(t, "allocated_per_bank", "MB", ttm_mib(m->set.measured_bytes));
  ttm_tell_quantity(t, "free_per_bank", "MB", ttm_mib(m->room));
  if (!blocks) return;
  ttm_detail(t, "{} per bank free, largest free block {}, fragmentation {}.", TTM_MB_OF(m->room), TTM_MB_OF(m->largest),
             TTM_PERCENT(ttm_fragmentation_pct(m->room, m->largest)));
  if (!m->agrees)
    ttm_detail(t, "Where it lies is unknown: the replay leaves another largest free block.");
  else if (m->blocks.n > 1)
    ttm_detail(t, "It lies in {}, {}.", TTM_PLURAL(m->blocks.n, "block"),
               TTM_WORDS(m->occupancy->placed ? "by the tensors' addresses"
                         : measured           ? "by the replay, whose largest is the measured one"
                                              : "by the replay"));
  ttm_tell_quantity(t, "largest_free_block_per_bank", "MB", ttm_mib(m->largest));
  if (m->agrees) ttm_tell_quantity(t, "free_blocks", "", (double)m->blocks.n);
}

int ttm_moment_tell(ttm_statements *out, const ttm_moment *m) {
  const ttm_findings *f = m->occupancy->findings;
  ttm_teller t = {.f = f, .p = f->profile, .out = out};
  tell_level(&t, m);
  ttm_tell_alive_set(&t, &m->set, TTM_LIT("then"));
  ttm_buf_free(&t.text);
  return t.failed ? TTM_ENOMEM : TTM_OK;
}
