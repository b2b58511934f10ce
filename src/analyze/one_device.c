/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/one_device.h"

#include "analyze/parts.h"

typedef TTM_VEC(uint32_t) device_list;

/* Every other device with something in DRAM. */
static int find_buffers(ttm_one_device *one, uint32_t device, device_list *others) {
  const ttm_profile *p = one->profile;
  one->buffers = ttm_alloc_array(p->tensors.n, sizeof *one->buffers);
  if (!one->buffers) return TTM_ENOMEM;
  for (size_t t = 0; t < p->tensors.n; t++) one->buffers[t] = TTM_NONE;
  for (uint32_t i = 0; i < p->capture.buffers.n; i++) {
    const ttm_buffer *buffer = &p->capture.buffers.at[i];
    if (buffer->memory != TTM_DRAM) continue;
    if (buffer->device == device) {
      if (buffer->tensor < p->tensors.n) one->buffers[buffer->tensor] = i;
      continue;
    }
    size_t d = 0;
    while (d < others->n && others->at[d] != buffer->device) d++;
    if (d == TTM_CAPTURE_DEVICES)
      one->others_bytes = UINT64_MAX;
    else if (d == others->n && ttm_vec_push(others, buffer->device))
      return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Fills `levels` and gives the highest of them. The states in order are those before each operation, and one behind the last.
 * changes[op]: what the state before it has more; less wraps round, and the sum comes back. */
static uint64_t find_levels(const ttm_profile *p, uint32_t device, uint64_t *changes, uint64_t *levels) {
  uint64_t held = 0, highest = 0;
  uint32_t next = 0;
  memset(changes, 0, (p->ops.n + 1) * sizeof *changes);
  for (size_t i = 0; i < p->capture.buffers.n; i++) {
    const ttm_buffer *buffer = &p->capture.buffers.at[i];
    if (buffer->memory != TTM_DRAM || buffer->device != device) continue;
    changes[buffer->op < p->ops.n ? buffer->op + 1 : 0] += buffer->bank_bytes;
    if (buffer->freed_by < p->ops.n) changes[buffer->freed_by + 1] -= buffer->bank_bytes;
  }
  for (uint32_t s = 0; s < p->states.n; s++) {
    uint32_t before = p->states.at[s].op < p->ops.n ? p->states.at[s].op : (uint32_t)p->ops.n;
    while (next <= before) held += changes[next++];
    levels[s] = held;
    if (held > highest) highest = held;
  }
  return highest;
}

static int compare_devices(ttm_one_device *one, uint32_t device, const device_list *others) {
  const ttm_profile *p = one->profile;
  uint64_t *changes = ttm_alloc_array(p->ops.n + 1, sizeof *changes);
  one->levels = ttm_alloc_array(p->states.n, sizeof *one->levels);
  int status = changes && one->levels ? TTM_OK : TTM_ENOMEM;
  uint64_t own = status ? 0 : find_levels(p, device, changes, one->levels);
  for (size_t d = 0; d < others->n && !status; d++) {
    uint64_t other = find_levels(p, others->at[d], changes, one->levels);
    if (other != own && other > one->others_bytes) one->others_bytes = other;
  }
  if (!status) find_levels(p, device, changes, one->levels);
  ttm_free(changes);
  return status;
}

int ttm_one_device_make(ttm_one_device *out, const ttm_profile *p, uint32_t device) {
  device_list others = {0};
  *out = (ttm_one_device){.profile = p};
  if (p->kind != TTM_LOG_CAPTURE) return TTM_OK;
  int status = find_buffers(out, device, &others);
  if (!status && others.n && !out->others_bytes) status = compare_devices(out, device, &others);
  ttm_vec_free(&others);
  return status;
}

void ttm_one_device_free(ttm_one_device *one) {
  ttm_free(one->buffers);
  ttm_free(one->levels);
}

const ttm_buffer *ttm_one_device_buffer(const ttm_one_device *one, uint32_t tensor) {
  uint32_t at = one->buffers ? one->buffers[tensor] : TTM_NONE;
  return at == TTM_NONE ? NULL : &one->profile->capture.buffers.at[at];
}

bool ttm_one_device_level(const ttm_one_device *one, uint32_t state, uint64_t *out) {
  uint32_t allocated;
  if (!ttm_state_allocated(one->profile, state, TTM_DRAM, &allocated)) return false;
  *out = one->levels ? one->levels[state] : ttm_level_bytes(allocated);
  return true;
}
