/* SPDX-License-Identifier: Apache-2.0 */
/* Weights: what operations do with them, what they would take as bfp8, and whether they fit into DRAM at all. */
#include "analyze/parts.h"
#include "base/map.h"
#include "profile/run_ops.h"

static const ttm_tensor_type *type_of(const ttm_profile *p, uint32_t type) {
  return type < p->types.n && p->types.at[type].is_tensor ? &p->types.at[type].tensor : NULL;
}

/* ---- Uses ------------------------------------------------------------------------------------------------------------- */

static int note_use(ttm_map *uses, uint32_t name, uint8_t use) {
  if (!name || !use) return TTM_OK;
  return ttm_map_set(uses, name, ttm_map_get(uses, name, 0) | use);
}

/* The name behind argument `number` of the entry program; 0. */
static uint32_t name_of_argument(const ttm_profile *p, uint32_t call, uint32_t number) {
  uint32_t graph = p->calls.at[call].graph;
  return graph < p->graphs.n && number < p->graphs.at[graph].args.n ? p->graphs.at[graph].args.at[number].name : 0;
}

/* What a load_cached hands out, or const-eval or a conversion made of a weight, is that weight. */
static int note_results(ttm_map *uses, const ttm_profile *p, uint32_t call, uint32_t op) {
  const ttm_op_text *text = ttm_op_text_of(p, op);
  uint32_t first = p->ops.at[op].tensor, name = ttm_alive_origin_of(p, op, 0).name;
  ttm_list args = ttm_profile_weights(p, p->ops.at[op].weights);
  if (text->kind == TTM_OP_LOAD_CACHED && args.n) name = name_of_argument(p, call, p->lists.at[args.first]);
  for (uint32_t k = 0; name && k < text->result_count && first < p->tensors.n && k < p->tensors.n - first; k++)
    if (note_use(uses, name, p->tensors.at[p->tensors.at[first + k].self].uses)) return TTM_ENOMEM;
  return TTM_OK;
}

static int note_program(ttm_map *uses, const ttm_profile *p, const ttm_run_ops *ops, uint32_t call) {
  for (uint32_t op = ops->first[call]; op != TTM_NONE; op = ops->next[op]) {
    const ttm_op_text *text = ttm_op_text_of(p, op);
    if (text->kind == TTM_OP_DEALLOCATE || text->kind == TTM_OP_GET_DEVICE) continue;
    if (note_results(uses, p, call, op)) return TTM_ENOMEM;
    for (uint32_t i = 0; p->ops.at[op].call == call && i < text->operands.n; i++) {
      ttm_value operand = p->lists.at[text->operands.first + i];
      if (!ttm_value_is_argument(operand)) continue;
      uint32_t name = name_of_argument(p, call, ttm_value_argument(operand));
      if (note_use(uses, name, ttm_op_text_use(text, i))) return TTM_ENOMEM;
    }
  }
  return TTM_OK;
}

int ttm_find_weight_uses(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  ttm_map seen = {0};
  ttm_run_ops ops = {NULL, NULL};
  int status = p->graphs.n ? ttm_run_ops_make(&ops, p) : TTM_OK;
  for (size_t i = 0; i < p->capture.buffers.n && !status; i++) {
    const ttm_buffer *buffer = &p->capture.buffers.at[i];
    if (buffer->tensor != TTM_NONE)
      status = note_use(&f->weight_uses, buffer->name, p->tensors.at[buffer->tensor].uses);
  }
  for (size_t i = 0; i < p->runs.n && !status; i++) {
    const ttm_call *call = &p->calls.at[p->runs.at[i]];
    uint64_t key = call->signature + call->graph; /* runs of one graph that went equally far */
    if (call->graph == TTM_NONE || ttm_map_get(&seen, key, 0)) continue;
    status = ttm_map_set(&seen, key, 1);
    if (!status) status = note_program(&f->weight_uses, p, &ops, p->runs.at[i]);
  }
  ttm_map_free(&seen);
  ttm_run_ops_free(&ops);
  return status;
}

/* ---- bfp8 ------------------------------------------------------------------------------------------------------------- */

/* A name of embedding tables, for weights that nothing has used yet. */
static bool is_table_name(ttm_str name) {
  static const char *const marks[] = {"embed", "wte", "wpe", "lookup"};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    if (ttm_str_contains(name, ttm_str_of(marks[i]))) return true;
  }
  return false;
}

/* Only the second factor of a product is taken as bfp8 as it is: embedding, reshape and others convert it back inside, and where it is an
 * operand among equals the result changes its dtype too. What was not used so far is judged by its name. */
bool ttm_weight_takes_bfp8(const ttm_findings *f, uint32_t name, uint8_t uses) {
  if (name) uses |= (uint8_t)ttm_map_get(&f->weight_uses, name, 0);
  return uses ? uses == TTM_USE_MULTIPLY : name && !is_table_name(ttm_profile_string(f->profile, name));
}

/* Norms and biases are small and sensitive. */
static bool is_matrix(const ttm_tensor_type *type) {
  return type->shape.rank >= 2 && type->shape.at[type->shape.rank - 2] >= 32;
}

uint64_t ttm_alive_row_bfp8_saves(const ttm_findings *f, const ttm_alive_row *row) {
  const ttm_profile *p = f->profile;
  const ttm_tensor_type *type = type_of(p, row->type);
  bool weight = row->class == TTM_ALIVE_WEIGHT;
  if (p->kind == TTM_LOG_CAPTURE && row->op < p->ops.n) /* what the program brings, rather than computes */
    weight |= row->class == TTM_ALIVE_INPUT && ttm_op_brings(ttm_profile_string(p, ttm_op_text_of(p, row->op)->name));
  if (!weight || !type || row->forms_differ || !type->tiled || !is_matrix(type)) return 0;
  if (!ttm_str_eq(type->storage, TTM_LIT("bf16")) || !ttm_weight_takes_bfp8(f, row->name, row->uses)) return 0;
  return row->bank_bytes - ttm_bfp8_bytes(row->bank_bytes);
}

/* ---- Demand ----------------------------------------------------------------------------------------------------------- */

/* How much larger weights are on the device than as the model gives them: dtype, tiles. False when none was seen there. */
static bool find_ratio(const ttm_findings *f, double *ratio) {
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  double stored = 0, given = 0;
  for (size_t i = 0; i < set->rows.n; i++) {
    const ttm_alive_row *row = &set->rows.at[i];
    const ttm_tensor_type *source = type_of(f->profile, row->source);
    if (row->class != TTM_ALIVE_WEIGHT || row->tensors != 1 || !source) continue;
    stored += (double)row->stored_bytes;
    given += (double)ttm_tensor_logical_bytes(source);
  }
  *ratio = given > 0 ? stored / given : 0;
  return given > 0;
}

void ttm_find_demand(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  ttm_weight_demand *out = &f->weight_demand;
  ttm_level dram = f->peak[TTM_DRAM].level;
  double ratio;
  uint64_t largest = 0, matrices = 0;
  if (!f->registry.weight_bytes || !f->peak[TTM_DRAM].known || !find_ratio(f, &ratio)) return;
  for (size_t e = 0; e < f->registry.entries.n; e++) {
    const ttm_registry_entry *entry = &f->registry.entries.at[e];
    const ttm_graph_arg *arg = &p->graphs.at[entry->graph].args.at[entry->arg];
    const ttm_tensor_type *type = type_of(p, arg->local_type);
    if (!entry->weight || entry->repeated || !type || !is_matrix(type) || !ttm_weight_takes_bfp8(f, arg->name, 0))
      continue;
    if (!ttm_str_eq(type->element, TTM_LIT("bf16"))) continue;
    matrices += entry->bytes;
    out->matrices++;
    if (entry->bytes > largest) largest = entry->bytes, out->largest = arg->name;
  }
  out->capacity = ttm_level_bytes(dram.total) * dram.banks;
  out->bytes = (uint64_t)(ratio * (double)f->registry.weight_bytes);
  uint64_t packed = ttm_bfp8_bytes(matrices) + f->registry.weight_bytes - matrices;
  out->as_bfp8 = packed < out->bytes ? packed : out->bytes;
}
