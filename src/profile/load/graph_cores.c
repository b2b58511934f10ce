/* SPDX-License-Identifier: Apache-2.0 */
/* The cores of a sharded tensor, and those that have it at an address of their own (HYBRID allocator). */
#include <inttypes.h>

#include "profile/load/graph.h"

/* "grid=[{"start":{"x":0,"y":0},"end":{"x":7,"y":3}}]" of a memory configuration as the core ranges that programs' buffers have:
 * "{[0-0 - 7-3]}". Nothing when there is no grid. */
static void put_shard_cores(ttm_buf *out, ttm_str config) {
  static const char *const before[] = {"[", "-", " - ", "-"};
  size_t at = ttm_str_find(config, TTM_LIT("grid")), end;
  uint64_t number;
  unsigned n = 0;
  ttm_buf_clear(out);
  if (at == TTM_NOT_FOUND) return;
  config = ttm_str_from(config, at);
  if ((end = ttm_str_find_char(config, ']')) != TTM_NOT_FOUND) config = ttm_str_first(config, end);
  while (config.n) {
    if (!ttm_str_take_u64(&config, &number)) {
      config = ttm_str_from(config, 1);
      continue;
    }
    ttm_buf_printf(out, "%s%s%" PRIu64 "%s", n ? (n % 4 ? "" : ", ") : "{", before[n % 4], number,
                   n % 4 == 3 ? "]" : "");
    n++;
  }
  n &&n % 4 == 0 ? ttm_buf_char(out, '}') : ttm_buf_clear(out);
}

int ttm_capture_note_cores(ttm_capture_loader *l, const ttm_capture_node *node, ttm_buffer *buffer) {
  ttm_str cores = node->text[TTM_PARAM_CORES];
  if (!buffer->cores || buffer->shard_cores) return TTM_OK;
  if (!cores.n) {
    put_shard_cores(&l->scratch, node->text[TTM_PARAM_MEMORY_CONFIG]);
    if (l->scratch.failed) return TTM_ENOMEM;
    cores = ttm_buf_str(&l->scratch);
  }
  return cores.n ? ttm_build_string(l->builder, cores, &buffer->shard_cores) : TTM_OK;
}

/* ---- Cores of its own -------------------------------------------------------------------------------------------------- */

int ttm_capture_own_cores(ttm_capture_loader *l, const ttm_capture_node *node, ttm_buffer *buffer) {
  if (ttm_node_get(node, TTM_PARAM_RANGE_LOCKSTEP, 0)) buffer->own = TTM_OWN_RANGE;
  if (ttm_node_get(node, TTM_PARAM_PER_CORE, 0)) buffer->own = TTM_OWN_ADDRESSES;
  l->owned |= buffer->own == TTM_OWN_ADDRESSES;
  return buffer->own ? ttm_capture_note_cores(l, node, buffer) : TTM_OK;
}

bool ttm_capture_is_copy(const ttm_capture_loader *l, const ttm_buffer *buffer) {
  const ttm_capture *c = &l->profile->capture;
  const ttm_buffer *last = c->buffers.n ? &c->buffers.at[c->buffers.n - 1] : NULL;
  return buffer->own == TTM_OWN_ADDRESSES && last && last->own == buffer->own && last->op == buffer->op &&
         last->device == buffer->device && last->address == buffer->address && last->bytes == buffer->bytes &&
         last->shard_cores == buffer->shard_cores;
}

uint32_t ttm_capture_find_own(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_capture *c = &l->profile->capture;
  ttm_buffer *last = c->buffers.n ? &c->buffers.at[c->buffers.n - 1] : NULL;
  if (!last || last->memory != TTM_L1 || !last->cores || last->shard_cores || last->op != l->op ||
      ttm_str_find(node->text[TTM_PARAM_MEMORY_CONFIG], TTM_LIT("per_core_allocation=1")) == TTM_NOT_FOUND)
    return TTM_NONE;
  last->own = TTM_OWN_ADDRESSES;
  return (uint32_t)(c->buffers.n - 1);
}

void ttm_capture_join_own(ttm_capture *c) {
  uint32_t device = TTM_NONE;
  for (size_t i = 0; i < c->buffers.n && device == TTM_NONE; i++)
    if (c->buffers.at[i].own != TTM_OWN_ADDRESSES) device = c->buffers.at[i].device;
  for (size_t i = 0; i < c->buffers.n && device != TTM_NONE; i++)
    if (c->buffers.at[i].own == TTM_OWN_ADDRESSES) c->buffers.at[i].device = device;
}
