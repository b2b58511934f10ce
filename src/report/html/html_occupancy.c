/* SPDX-License-Identifier: Apache-2.0 */
/* Who held which block from when to when (analyze/occupancy.h), as columns of one rank each. The page draws the stacked timeline, the block map, the
 * module tree and the live tensors of any moment from them. */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/occupancy.h"
#include "report/files/json_parts.h"
#include "report/html/html_parts.h"

/* Operations and frees. Every rank is replayed over all of them: beyond this many steps only the rank of the failure or the peak, and no rank of a
 * log that is longer by itself. */
enum { MOST_STEPS = 4000000 };

static uint32_t rank_of_interest(const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  for (size_t i = 0; i < p->incidents.n; i++)
    if (p->incidents.at[i].state < p->states.n) return ttm_state_rank(p, p->incidents.at[i].state);
  return f->peak[TTM_DRAM].known ? ttm_state_rank(p, f->peak[TTM_DRAM].state) : 0;
}

bool ttm_html_holds_rank(const ttm_findings *f, uint32_t rank) {
  const ttm_profile *p = f->profile;
  if (!ttm_occupancy_possible(p) || p->ops.n > MOST_STEPS) return false;
  return p->ranks.n * p->ops.n <= MOST_STEPS || rank == rank_of_interest(f);
}

/* ---- Columns ------------------------------------------------------------------------------------------------------ */

typedef struct held {
  ttm_html *h;
  ttm_occupancy occupancy;
  uint64_t unit; /* of addresses and bytes */
  int64_t op;    /* of the row before */
} held;

typedef enum column { FROM, LIFE, KEPT, OP, LAST_USE, TYPE, NAME, STACK, AT, BYTES, MARKS, COLUMNS } column;

enum { MARK_L1 = 8, MARK_PART = 16, MARK_GUESS = 32, MARK_OP = 64, MARK_USED = 128 };

static const ttm_tensor *tensor_of(const held *held, const ttm_occupant *row) {
  const ttm_profile *p = held->h->p;
  return row->tensor < p->tensors.n ? &p->tensors.at[row->tensor] : NULL;
}

static uint32_t element_of(const held *held, uint32_t op) {
  return op < held->h->p->ops.n ? ttm_findings_index(held->h->f, op) : TTM_NONE;
}

static uint32_t last_use_of(const held *held, const ttm_occupant *row) {
  const ttm_tensor *tensor = tensor_of(held, row);
  return tensor && tensor->last_use != tensor->birth ? element_of(held, tensor->last_use) : TTM_NONE;
}

/* In elements; 0: never. */
static uint32_t used_after(const held *held, const ttm_occupant *row) {
  uint32_t used = last_use_of(held, row), birth = element_of(held, row->op);
  return used == TTM_NONE || birth == TTM_NONE ? 0 : used - birth;
}

static unsigned marks_of(const held *held, const ttm_occupant *row) {
  return row->class | (row->memory == TTM_REPLAY_L1 ? MARK_L1 : 0u) | (row->part ? MARK_PART : 0u) |
         (row->guess ? MARK_GUESS : 0u) | (element_of(held, row->op) != TTM_NONE ? MARK_OP : 0u) |
         (last_use_of(held, row) != TTM_NONE ? MARK_USED : 0u);
}

/* A moment after the row's first state; 0: never. */
static uint64_t states_after(const ttm_occupant *row, uint32_t state) {
  return state == TTM_NONE ? 0 : (uint64_t)(state > row->state_from ? state - row->state_from : 0) + 1;
}

/* 0: unknown; 1: that of its operation's first result, which need not be said again. */
static uint64_t type_of(const held *held, const ttm_occupant *row) {
  const ttm_profile *p = held->h->p;
  if (row->type >= p->types.n) return 0;
  const ttm_op_text *text = row->op < p->ops.n ? ttm_op_text_of(p, row->op) : NULL;
  if (text && text->outputs.n && p->lists.at[text->outputs.first] == row->type) return 1;
  return 2 + (uint64_t)ttm_html_ids_take(&held->h->types, row->type);
}

/* 0: unknown, else 1 + the word. */
static uint64_t stack_of(const held *held, const ttm_occupant *row) {
  const ttm_capture *c = &held->h->p->capture;
  uint32_t stack = row->op < c->stacks.n ? c->stacks.at[row->op] : 0;
  return stack ? (uint64_t)ttm_html_ids_take(&held->h->words, stack) + 1 : 0;
}

static void put_element(held *held, uint32_t op) {
  uint32_t element = element_of(held, op);
  if (element != TTM_NONE) held->op = element;
  ttm_html_block_delta(&held->h->block, held->op);
}

static void put_value(held *held, const ttm_occupant *row, column which) {
  ttm_html_block *block = &held->h->block;
  switch (which) {
    case FROM:
      return ttm_html_block_delta(block, row->state_from);
    case LIFE:
      return ttm_html_block_number(block, states_after(row, row->state_to));
    case KEPT:
      return ttm_html_block_number(block, states_after(row, row->state_kept));
    case OP:
      return put_element(held, row->op);
    case LAST_USE:
      return ttm_html_block_number(block, used_after(held, row));
    case TYPE:
      return ttm_html_block_number(block, type_of(held, row));
    case NAME:
      return ttm_html_block_number(block, row->name ? ttm_html_ids_take(&held->h->words, row->name) + 1 : 0);
    case STACK:
      return ttm_html_block_number(block, stack_of(held, row));
    case AT:
      return ttm_html_block_number(block, row->at == TTM_UNKNOWN ? 0 : row->at / held->unit + 1);
    case BYTES:
      return ttm_html_block_number(block, row->bytes / held->unit);
    default:
      return ttm_html_block_number(block, marks_of(held, row));
  }
}

static uint64_t common_unit(const ttm_occupancy *o) {
  uint64_t bits = 0;
  for (size_t i = 0; i < o->rows.n; i++) {
    bits |= o->rows.at[i].bytes;
    if (o->rows.at[i].at != TTM_UNKNOWN) bits |= o->rows.at[i].at;
  }
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) bits |= o->memories[m].base;
  return bits ? bits & (0 - bits) : 1;
}

static int put_columns(held *held) {
  static const char *const names[COLUMNS] = {"from", "life",  "kept", "op",    "used", "type",
                                             "name", "stack", "at",   "bytes", "marks"};
  int code = TTM_OK;
  for (column which = 0; which < COLUMNS && !code; which++) {
    char id[48];
    for (size_t i = 0; i < held->occupancy.rows.n; i++) put_value(held, &held->occupancy.rows.at[i], which);
    snprintf(id, sizeof id, "held.%" PRIu32 ".%s", held->occupancy.rank, names[which]);
    code = ttm_html_block_write(&held->h->block, id, held->h->out);
  }
  return code;
}

/* ---- Both --------------------------------------------------------------------------------------------------------- */

static void put_memory(ttm_json *j, const ttm_occupied_memory *m, const char *name) {
  ttm_json_put_object(j, name);
  ttm_json_put_u64(j, "banks", m->banks);
  ttm_json_put_u64(j, "base", m->base);
  ttm_json_put_u64(j, "size", m->size);
  ttm_json_put_u64(j, "states", m->states);
  ttm_json_put_u64(j, "agree", m->agree);
  ttm_json_end(j);
}

static int put_about(const held *held) {
  const ttm_occupancy *o = &held->occupancy;
  char id[32];
  ttm_buf text = {0};
  ttm_json j = {.out = &text};
  ttm_json_put_object(&j, NULL);
  ttm_json_put_u64(&j, "rows", o->rows.n);
  ttm_json_put_u64(&j, "unit", held->unit);
  ttm_json_put_bool(&j, "placed", o->placed);
  put_memory(&j, &o->memories[TTM_REPLAY_DRAM], "DRAM");
  put_memory(&j, &o->memories[TTM_REPLAY_L1], "L1");
  ttm_json_end(&j);
  int code = ttm_json_finish(&j);
  snprintf(id, sizeof id, "held.%" PRIu32, o->rank);
  if (!code) code = ttm_html_block_write_text(ttm_buf_str(&text), id, held->h->out);
  ttm_buf_free(&text);
  return code;
}

int ttm_html_occupancy(ttm_html *h) {
  int code = TTM_OK;
  for (uint32_t rank = 0; (rank == 0 || rank < h->p->ranks.n) && !code; rank++) {
    if (!ttm_html_holds_rank(h->f, rank)) continue;
    held held = {.h = h};
    code = ttm_occupancy_make(&held.occupancy, h->f, rank);
    held.unit = common_unit(&held.occupancy);
    if (!code) code = put_about(&held);
    if (!code) code = put_columns(&held);
    ttm_occupancy_free(&held.occupancy);
  }
  return code;
}
