/* SPDX-License-Identifier: Apache-2.0 */
/* What the program calls the tensors of a recording, and what they are to it: brought from the host, kept by an object, a cache that
 * operations write into. */
#include "profile/load/graph.h"

/* ---- Uses ------------------------------------------------------------------------------------------------------------ */

static bool contains_any(ttm_str name, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (ttm_str_contains(name, ttm_str_of(words[i]))) return true;
  return false;
}
#define CONTAINS_ANY(name, words) contains_any(name, words, sizeof(words) / sizeof *(words))

void ttm_recording_used(ttm_capture_loader *l, uint32_t tensor, uint32_t function, size_t operand) {
  static const char *const writes[] = {"fill_cache", "update_cache", "FillCache", "UpdateCache", "UpdateKVCache"};
  static const char *const takes_weights[] = {"atmul", "linear", "onv", "orm", "mbedding"};
  static const char *const parts[] = {"lice",        "eshape", "ermute",  "ranspose",   "oncat",  "epeat", "_pad",
                                      "__getitem__", "ilize",  "ypecast", "nterleaved", "eshard", "Copy",  "Move"};
  ttm_str name = ttm_profile_string(l->profile, function);
  uint8_t *roles = &l->profile->tensors.at[tensor].roles;
  if (!ttm_operand_use(name, operand) || CONTAINS_ANY(name, parts)) return; /* handed on, moved or converted */
  *roles |= operand ? TTM_ROLE_LATER : TTM_ROLE_FIRST;
  if (operand && CONTAINS_ANY(name, takes_weights)) *roles |= TTM_ROLE_FACTOR;
  bool second = operand == 2 && (ttm_str_contains(name, TTM_LIT("fused")) || ttm_str_contains(name, TTM_LIT("Fused")));
  if ((!operand || second) && CONTAINS_ANY(name, writes)) *roles |= TTM_ROLE_CACHE;
}

/* ---- Results --------------------------------------------------------------------------------------------------------- */

void ttm_recording_call_begins(ttm_capture_loader *l) {
  const ttm_capture *c = &l->profile->capture;
  l->call_row = (uint32_t)c->buffers.n;
  l->call_use = c->uses.n;
  l->result_row = TTM_NONE;
}

int ttm_recording_results(ttm_capture_loader *l, const ttm_capture_node *node) {
  uint64_t id = ttm_node_get(node, TTM_PARAM_ID, 0);
  for (size_t i = l->begun.n; i-- > l->next_begun;) {
    ttm_begun_op *begun = &l->begun.at[i];
    if (begun->id != id || begun->lane != l->lane) continue;
    if (ttm_build_string(l->builder, node->text[TTM_PARAM_PLACES], &begun->places)) return TTM_ENOMEM;
    return ttm_build_string(l->builder, node->text[TTM_PARAM_TO], &begun->to);
  }
  return TTM_OK;
}

static bool is_left(const ttm_buffer *buffer) { return buffer->freed_by == TTM_NONE && buffer->tensor != TTM_NONE; }

/* Its values come from the host: as they are, or of tensors for which that is so. */
static bool is_brought(const ttm_capture_loader *l) {
  const ttm_profile *p = l->profile;
  ttm_str name = ttm_profile_string(p, l->op_name);
  if (ttm_op_brings(name)) return true;
  if (l->call_use == p->capture.uses.n || !(l->called.kept || ttm_op_is_conversion(name))) return false;
  for (size_t i = l->call_use; i < p->capture.uses.n; i++)
    if (!(p->tensors.at[p->capture.uses.at[i].tensor].roles & TTM_ROLE_BROUGHT)) return false;
  return true;
}

static int name_row(ttm_capture_loader *l, uint32_t row, ttm_str name) {
  ttm_buffer *buffer = &l->profile->capture.buffers.at[row];
  if (l->called.kept) l->profile->tensors.at[buffer->tensor].roles |= TTM_ROLE_KEPT;
  return name.n ? ttm_build_string(l->builder, name, &buffer->name) : TTM_OK;
}

/* Several results, by their addresses. */
static int name_places(ttm_capture_loader *l) {
  const ttm_capture *c = &l->profile->capture;
  ttm_str places = ttm_profile_string(l->profile, l->called.places),
          names = ttm_profile_string(l->profile, l->called.to);
  while (places.n) {
    ttm_str place = ttm_str_take_to(&places, '|'), name = ttm_str_take_to(&names, '|');
    uint64_t address;
    if (!ttm_str_take_u64(&place, &address)) continue;
    for (uint32_t row = l->call_row; row < c->buffers.n; row++)
      if (c->buffers.at[row].address == address && is_left(&c->buffers.at[row]) && name_row(l, row, name))
        return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* The only result: the tensor that was told last. One that lived before has its name already, except that an object keeps it now. */
static int name_result(ttm_capture_loader *l) {
  const ttm_capture *c = &l->profile->capture;
  uint32_t row = l->result_row;
  if (row == TTM_NONE || !is_left(&c->buffers.at[row])) {
    for (row = (uint32_t)c->buffers.n; row > l->call_row && !is_left(&c->buffers.at[row - 1]);) row--;
    if (row-- == l->call_row) return TTM_OK;
  }
  bool kept = l->profile->tensors.at[c->buffers.at[row].tensor].roles & TTM_ROLE_KEPT;
  if (row < l->call_row && (kept || !l->called.kept)) return TTM_OK;
  return name_row(l, row, ttm_profile_string(l->profile, l->called.to));
}

int ttm_recording_call_ends(ttm_capture_loader *l) {
  const ttm_capture *c = &l->profile->capture;
  bool brought = is_brought(l);
  for (uint32_t row = l->call_row; brought && row < c->buffers.n; row++)
    if (is_left(&c->buffers.at[row])) l->profile->tensors.at[c->buffers.at[row].tensor].roles |= TTM_ROLE_BROUGHT;
  if (l->called.places) return name_places(l);
  return l->called.to ? name_result(l) : TTM_OK;
}
