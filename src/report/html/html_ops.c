/* SPDX-License-Identifier: Apache-2.0 */
/* Operations, programs and their texts as columns. A text is written once however often it ran. */
#include "analyze/words.h"
#include "base/map.h"
#include "report/files/json_parts.h"
#include "report/html/html_parts.h"

/* ---- Ids ---------------------------------------------------------------------------------------------------------- */

int ttm_html_ids_init(ttm_html_ids *ids, size_t profile_ids) {
  *ids = (ttm_html_ids){.page_id = ttm_alloc((profile_ids + 1) * sizeof *ids->page_id)};
  return ids->page_id ? TTM_OK : TTM_ENOMEM;
}

uint32_t ttm_html_ids_take(ttm_html_ids *ids, uint32_t profile_id) {
  uint32_t *page_id = &ids->page_id[profile_id];
  if (!*page_id) {
    if (ttm_vec_push(&ids->used, profile_id)) {
      ids->failed = true;
      return 0;
    }
    *page_id = (uint32_t)ids->used.n;
  }
  return *page_id - 1;
}

void ttm_html_ids_free(ttm_html_ids *ids) {
  ttm_free(ids->page_id);
  ttm_vec_free(&ids->used);
}

/* Strings: page id 0 is "none", so a string the log does not give needs no other mark. */
static void put_string_id(ttm_html *h, ttm_html_ids *ids, uint32_t string) {
  ttm_html_block_number(&h->block, string ? ttm_html_ids_take(ids, string) + 1 : 0);
}

/* "%12" and "%arg3" are numbers in disguise: the lowest two bits tell (0 string, 1 value, 2 argument). */
static void put_value(ttm_html *h, ttm_value value) {
  if (ttm_value_is_argument(value))
    ttm_html_block_number(&h->block, (uint64_t)ttm_value_argument(value) << 2 | 2);
  else if (value & TTM_VALUE_NUMBER)
    ttm_html_block_number(&h->block, (uint64_t)(value & ~TTM_VALUE_NUMBER) << 2 | 1);
  else
    ttm_html_block_number(&h->block, value ? (uint64_t)(ttm_html_ids_take(&h->words, value) + 1) << 2 : 0);
}

/* ---- Operations --------------------------------------------------------------------------------------------------- */

enum {
  FLAG_CONST_EVAL = 1,
  FLAG_CACHE_MISS = 2,
  FLAG_CACHE_HIT = 4,
  FLAG_FAILED = 8,
  FLAG_WEIGHT = 16,
  FLAG_NO_DELTA = 32
};

static uint32_t flags_of(const ttm_html *h, uint32_t op) {
  uint32_t have = h->p->ops.at[op].flags;
  int64_t delta;
  return (have & TTM_OP_CONST_EVAL ? FLAG_CONST_EVAL : 0) | (have & TTM_OP_CACHE_MISS ? FLAG_CACHE_MISS : 0) |
         (have & TTM_OP_CACHE_HIT ? FLAG_CACHE_HIT : 0) | (have & TTM_OP_FAILED ? FLAG_FAILED : 0) |
         (ttm_op_takes_weight(&h->f->registry, h->p, op) ? FLAG_WEIGHT : 0) |
         (ttm_op_effect_whole(h->p, op, TTM_DRAM, &delta) ? 0 : FLAG_NO_DELTA);
}

/* From the state before an operation to the one before the last operation of the const-eval program inside it: that program counts for its
 * load_cached, as in ttm_op_effect_whole. */
static uint32_t states_inside(const ttm_profile *p, uint32_t op) {
  uint32_t program = ttm_op_program(p, op), state = p->ops.at[op].state, last = TTM_NONE;
  if (program != TTM_NONE && p->calls.at[program].last_op < p->ops.n)
    last = p->ops.at[p->calls.at[program].last_op].state;
  return last == TTM_NONE || state == TTM_NONE || last < state ? 0 : last - state;
}

typedef enum op_column { OP_TEXT, OP_LINE, OP_STATE, OP_INSIDE, OP_CALL, OP_WEIGHT, OP_FLAGS, OP_COLUMNS } op_column;

static void put_op(ttm_html *h, uint32_t op, op_column column) {
  const ttm_op *row = &h->p->ops.at[op];
  switch (column) {
    case OP_TEXT:
      ttm_html_block_number(&h->block, ttm_html_ids_take(&h->texts, row->text));
      break;
    case OP_LINE:
      ttm_html_block_delta(&h->block, row->line);
      break;
    case OP_STATE:
      ttm_html_block_delta(&h->block, row->state == TTM_NONE ? -1 : (int64_t)row->state);
      break;
    case OP_INSIDE:
      ttm_html_block_number(&h->block, states_inside(h->p, op));
      break;
    case OP_CALL:
      ttm_html_block_delta(&h->block, row->call == TTM_NONE ? -1 : (int64_t)row->call);
      break;
    case OP_WEIGHT:
      put_string_id(h, &h->labels, ttm_words_weight(h->p, op));
      break;
    default:
      ttm_html_block_number(&h->block, flags_of(h, op));
  }
}

/* Registry entries of the weights an operation takes. The same list serves every operation of a graph's program. */
typedef struct weight_lists {
  ttm_map id_of;        /* weights list and graph -> id */
  ttm_html_block lists; /* count, then registry entries */
  uint32_t n;
} weight_lists;

static uint32_t graph_of(const ttm_profile *p, uint32_t call) {
  return call < p->calls.n ? p->calls.at[ttm_call_top(p, call)].graph : TTM_NONE;
}

static void add_weight_list(ttm_html *h, weight_lists *w, const ttm_op *row) {
  ttm_list args = ttm_profile_weights(h->p, row->weights);
  uint32_t n = 0;
  for (int pass = 0; pass < 2; pass++) {
    if (pass) ttm_html_block_number(&w->lists, n);
    for (uint32_t i = 0; i < args.n; i++) {
      uint32_t entry = ttm_registry_find(&h->f->registry, h->p, row->call, h->p->lists.at[args.first + i]);
      if (entry == TTM_NONE || !h->f->registry.entries.at[entry].weight) continue;
      if (pass) ttm_html_block_number(&w->lists, entry);
      n += !pass;
    }
  }
}

/* 0 without weights, else 1 + the id of the list. */
static int weight_list_of(ttm_html *h, weight_lists *w, uint32_t op, uint32_t *out) {
  const ttm_op *row = &h->p->ops.at[op];
  uint32_t graph = graph_of(h->p, row->call);
  *out = 0;
  if (!ttm_profile_weights(h->p, row->weights).n || graph >= h->p->graphs.n) return TTM_OK;
  uint64_t key = (uint64_t)row->weights * h->p->graphs.n + graph;
  if (!ttm_op_takes_weight(&h->f->registry, h->p, op)) return TTM_OK;
  *out = ttm_map_get(&w->id_of, key, 0);
  if (*out) return TTM_OK;
  add_weight_list(h, w, row);
  *out = ++w->n;
  return ttm_map_set(&w->id_of, key, *out);
}

static int put_weights(ttm_html *h) {
  weight_lists w = {0};
  int code = TTM_OK;
  for (uint32_t op = 0; op < h->p->ops.n && !code; op++) {
    uint32_t id;
    if (!ttm_op_is_element(h->p, op)) continue;
    code = weight_list_of(h, &w, op, &id);
    ttm_html_block_number(&h->block, id);
  }
  if (!code) code = ttm_html_block_write(&h->block, "op.weights", h->out);
  if (!code) code = ttm_html_block_write(&w.lists, "weights", h->out);
  ttm_html_block_free(&w.lists);
  ttm_map_free(&w.id_of);
  return code;
}

/* What is alive after each operation, without and with padding: one walk, since a step of it costs more than what it writes. */
static int put_live(ttm_html *h) {
  static const char *const ids[] = {"live.DRAM.logical", "live.DRAM.stored", "live.L1.logical", "live.L1.stored"};
  enum { COLUMNS = sizeof ids / sizeof *ids };
  ttm_html_block columns[COLUMNS] = {0};
  ttm_alive live;
  int code = ttm_alive_init(&live, h->p);
  for (uint32_t op = 0; op < h->p->ops.n && !code; op++) {
    ttm_alive_step(&live);
    if (!ttm_op_is_element(h->p, op)) continue;
    ttm_html_block_delta(&columns[0], (int64_t)live.dram.logical_bytes);
    ttm_html_block_delta(&columns[1], (int64_t)live.dram.stored_bytes);
    ttm_html_block_delta(&columns[2], (int64_t)live.l1.logical_bytes);
    ttm_html_block_delta(&columns[3], (int64_t)live.l1.stored_bytes);
  }
  ttm_alive_free(&live);
  for (int i = 0; i < COLUMNS; i++) {
    if (!code) code = ttm_html_block_write(&columns[i], ids[i], h->out);
    ttm_html_block_free(&columns[i]);
  }
  return code;
}

int ttm_html_operations(ttm_html *h) {
  static const char *const ids[OP_COLUMNS] = {"op.text", "op.line",   "op.state", "op.inside",
                                              "op.call", "op.weight", "op.flags"};
  int code = TTM_OK;
  for (op_column column = 0; column < OP_COLUMNS && !code; column++) {
    for (uint32_t op = 0; op < h->p->ops.n; op++) {
      if (ttm_op_is_element(h->p, op)) put_op(h, op, column);
    }
    code = ttm_html_block_write(&h->block, ids[column], h->out);
  }
  if (!code) code = put_weights(h);
  return code ? code : put_live(h);
}

/* The weights of the registry with repeated layers folded: 1 + the group of each entry, 0 for what is no weight of its own; and their names. */
int ttm_html_weights(ttm_html *h) {
  const ttm_registry *registry = &h->f->registry;
  ttm_buf text = {0};
  ttm_json j = {.out = &text};
  for (size_t i = 0; i < registry->entries.n; i++)
    ttm_html_block_number(&h->block, registry->entries.at[i].group == TTM_NONE ? 0 : registry->entries.at[i].group + 1);
  int code = ttm_html_block_write(&h->block, "weights.group", h->out);
  ttm_json_put_array(&j, NULL);
  for (size_t g = 0; g < registry->groups.n; g++) ttm_json_put_str(&j, NULL, registry->groups.at[g].name);
  ttm_json_end(&j);
  if (!code) code = ttm_json_finish(&j);
  if (!code) code = ttm_html_block_write_text(ttm_buf_str(&text), "weights.names", h->out);
  ttm_buf_free(&text);
  return code;
}

/* ---- Programs ----------------------------------------------------------------------------------------------------- */

int ttm_html_calls(ttm_html *h) {
  const ttm_profile *p = h->p;
  for (size_t i = 0; i < p->calls.n; i++) {
    const ttm_call *call = &p->calls.at[i];
    put_string_id(h, &h->labels, call->name);
    ttm_html_block_number(&h->block, call->parent == TTM_NONE ? 0 : i - call->parent);
    ttm_html_block_number(&h->block, call->run);
    ttm_html_block_number(&h->block, call->rank);
    ttm_html_block_number(&h->block,
                          (unsigned)call->const_eval | (unsigned)call->cache_miss << 1 | (unsigned)call->finished << 2);
    ttm_html_block_number(&h->block, call->graph == TTM_NONE ? 0 : call->graph + 1);
  }
  return ttm_html_block_write(&h->block, "calls", h->out);
}

/* ---- Texts and types ---------------------------------------------------------------------------------------------- */

static void put_types(ttm_html *h, ttm_list list) {
  ttm_html_block_number(&h->block, list.n);
  for (uint32_t i = 0; i < list.n; i++)
    ttm_html_block_number(&h->block, ttm_html_ids_take(&h->types, h->p->lists.at[list.first + i]));
}

static int put_type_table(ttm_html *h) {
  ttm_json_sizes sizes = ttm_json_sizes_of(h->p, TTM_NONE);
  ttm_buf text = {0};
  ttm_json j = {.out = &text};
  ttm_json_put_rows(&j, NULL);
  for (size_t i = 0; i < h->types.used.n; i++) {
    const ttm_type *type = &h->p->types.at[h->types.used.at[i]];
    ttm_json_put_object(&j, NULL);
    ttm_json_put_str(&j, "text", ttm_profile_string(h->p, type->text));
    ttm_json_put_layout(&j, "layout", type, &sizes);
    ttm_json_end(&j);
  }
  ttm_json_end(&j);
  int code = ttm_json_finish(&j);
  if (!code) code = ttm_html_block_write_text(ttm_buf_str(&text), "types", h->out);
  ttm_buf_free(&text);
  return code;
}

int ttm_html_texts(ttm_html *h) {
  const ttm_profile *p = h->p;
  for (size_t i = 0; i < h->texts.used.n; i++) {
    const ttm_op_text *text = &p->texts.at[h->texts.used.at[i]];
    put_string_id(h, &h->labels, text->name);
    put_string_id(h, &h->labels, text->location);
    put_types(h, text->outputs);
  }
  int code = ttm_html_block_write(&h->block, "texts", h->out);
  for (size_t i = 0; i < h->texts.used.n; i++) {
    const ttm_op_text *text = &p->texts.at[h->texts.used.at[i]];
    put_string_id(h, &h->words, text->op_type);
    put_value(h, text->result);
    ttm_html_block_number(&h->block, text->has_attributes);
    put_string_id(h, &h->words, text->attributes);
    ttm_html_block_number(&h->block, text->operands.n);
    for (uint32_t k = 0; k < text->operands.n; k++) put_value(h, p->lists.at[text->operands.first + k]);
    put_types(h, text->inputs);
  }
  return code ? code : ttm_html_block_write(&h->block, "details", h->out);
}

/* ---- Strings ------------------------------------------------------------------------------------------------------ */

static int put_strings(ttm_html *h, const ttm_html_ids *ids, const char *lengths, const char *bytes) {
  if (ids->failed) return TTM_ENOMEM;
  for (size_t i = 0; i < ids->used.n; i++)
    ttm_html_block_number(&h->block, ttm_profile_string(h->p, ids->used.at[i]).n);
  int code = ttm_html_block_write(&h->block, lengths, h->out);
  for (size_t i = 0; i < ids->used.n; i++) ttm_buf_put(&h->block.raw, ttm_profile_string(h->p, ids->used.at[i]));
  return code ? code : ttm_html_block_write(&h->block, bytes, h->out);
}

int ttm_html_strings(ttm_html *h) {
  if (h->texts.failed || h->types.failed) return TTM_ENOMEM;
  int code = put_type_table(h);
  if (!code) code = put_strings(h, &h->labels, "labels.length", "labels");
  return code ? code : put_strings(h, &h->words, "words.length", "words");
}
