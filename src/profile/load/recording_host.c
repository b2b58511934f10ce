/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the program's processes on the host: samples of the recorder, each with the operation it was taken in or behind, and how the program ended
 * by who started it. */
#include "base/checked.h"
#include "profile/load/graph.h"

static ttm_host *host_of(ttm_capture_loader *l) { return &l->profile->capture.host; }

static void raise_to(uint64_t *most, uint64_t value) {
  if (value > *most) *most = value;
}

static void note_figures(ttm_host *h, const ttm_capture_node *node) {
  raise_to(&h->pinned, ttm_node_get(node, TTM_PARAM_PINNED, 0));
  raise_to(&h->locked, ttm_node_get(node, TTM_PARAM_LOCKED, 0));
  raise_to(&h->huge, ttm_node_get(node, TTM_PARAM_HUGE, 0));
  raise_to(&h->address_space, ttm_node_get(node, TTM_PARAM_ADDRESS_SPACE, 0));
  if (!h->address_limit) h->address_limit = ttm_node_get(node, TTM_PARAM_ADDRESS_LIMIT, 0);
  if (!h->machine) h->machine = ttm_node_get(node, TTM_PARAM_MACHINE, 0);
  if (!h->cgroup) h->cgroup = ttm_node_get(node, TTM_PARAM_CGROUP, 0);
  uint64_t available = ttm_node_get(node, TTM_PARAM_AVAILABLE, 0);
  if (!h->available) h->available = available;
  uint64_t lowest = ttm_node_get(node, TTM_PARAM_LOWEST_AVAILABLE, available);
  if (lowest && (!h->lowest_available || lowest < h->lowest_available)) h->lowest_available = lowest;
}

/* Together they take what each takes now. The highest of each process need not have been at the same time, so it counts for one alone. */
static uint64_t all_processes(const ttm_capture_loader *l) {
  uint64_t sum = 0;
  for (size_t i = 0; i < l->processes.n; i++) sum = ttm_add_sat(sum, l->processes.at[i].resident);
  return sum;
}

int ttm_recording_host(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_host *h = host_of(l);
  ttm_recorded_process *process = &l->processes.at[ttm_recording_lane(l)->process];
  ttm_host_sample sample = {.op = TTM_NONE};
  note_figures(h, node);
  raise_to(&h->peak, ttm_node_get(node, TTM_PARAM_PEAK, 0));
  if (!ttm_node_has(node, TTM_PARAM_RSS)) return TTM_OK;
  process->resident = ttm_node_get(node, TTM_PARAM_RSS, 0);
  sample.bytes = all_processes(l);
  raise_to(&h->peak, sample.bytes);
  uint64_t id = ttm_node_get(node, TTM_PARAM_ID, 0);
  if (ttm_build_string(l->builder, node->text[TTM_PARAM_AT], &sample.at) || ttm_vec_push(&h->samples, sample))
    return TTM_ENOMEM;
  return ttm_vec_push(&l->host_ids, id ? ttm_recording_own(l, id) : 0);
}

int ttm_recording_host_end(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_host *h = host_of(l);
  note_figures(h, node);
  h->ended = true;
  h->tree = ttm_node_get(node, TTM_PARAM_RSS, 0);
  h->tree_peak = ttm_node_get(node, TTM_PARAM_PEAK, 0);
  h->oom_kills = ttm_node_get(node, TTM_PARAM_OOM_KILLS, 0);
  h->signal = (uint32_t)(ttm_node_get(node, TTM_PARAM_SIGNAL, 0) & 127);
  return TTM_OK;
}

int ttm_recording_begun(ttm_capture_loader *l, const ttm_begun_op *begun) {
  if (!begun->id || l->op == TTM_NONE) return TTM_OK;
  return ttm_map_set(&l->op_of_id, ttm_recording_own(l, begun->id), l->op);
}

/* Frees are no operations of their own number: the one before them counts. */
void ttm_recording_host_finish(ttm_capture_loader *l) {
  enum { FAR = 64 };
  ttm_host *h = host_of(l);
  for (size_t i = 0; i < h->samples.n; i++) {
    uint64_t id = l->host_ids.at[i];
    for (int back = 0; (id & UINT32_MAX) && back < FAR && h->samples.at[i].op == TTM_NONE; back++, id--)
      h->samples.at[i].op = ttm_map_get(&l->op_of_id, id, TTM_NONE);
  }
}
