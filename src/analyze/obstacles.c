/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/obstacles.h"

#include "analyze/parts.h"
#include "analyze/replay.h"
#include "l1/core_views.h"

/* A log prints L1 and L1_SMALL rounded to 0.001 MB each: a replayed address may be off by both. */
enum { ADDRESS_SLACK = 4 * TTM_LEVEL_SLACK };

/* Keeps the lowest ones in order. */
static void add(ttm_obstacles *all, ttm_obstacle one) {
  size_t kept = all->n < TTM_OBSTACLES ? all->n : TTM_OBSTACLES, at = kept;
  all->n++;
  all->bytes += one.bytes;
  all->needed |= one.needed;
  while (at && all->at[at - 1].at > one.at) at--;
  if (at == TTM_OBSTACLES) return;
  for (size_t i = kept < TTM_OBSTACLES ? kept : TTM_OBSTACLES - 1; i > at; i--) all->at[i] = all->at[i - 1];
  all->at[at] = one;
}

static bool is_needed(const ttm_profile *p, uint32_t tensor, uint32_t op) {
  return tensor < p->tensors.n && (p->tensors.at[tensor].birth == op || p->tensors.at[tensor].last_use >= op);
}

/* ---- Recorded addresses ------------------------------------------------------------------------------------------------ */

static void add_buffer(ttm_obstacles *out, const ttm_profile *p, uint32_t row, uint64_t at, uint32_t op) {
  const ttm_buffer *b = &p->capture.buffers.at[row];
  add(out, (ttm_obstacle){b->op, ttm_tensor_type_id(p, b->tensor), at, b->bank_bytes, is_needed(p, b->tensor, op)});
}

static bool is_in_way(const ttm_buffer *b, const ttm_incident_text *what) {
  return b->memory == TTM_L1 && b->address >= what->l1_buffer_at && b->address < what->buffers_end;
}

static int find_recorded(ttm_obstacles *out, const ttm_profile *p, const ttm_incident *incident) {
  const ttm_capture *c = &p->capture;
  size_t end = ttm_core_events_before(c, incident->op);
  uint32_t device = TTM_NONE;
  bool *alive = ttm_alloc_array(c->buffers.n, sizeof *alive);
  if (!alive) return TTM_ENOMEM;
  for (size_t i = 0; i < c->buffers.n; i++) alive[i] = c->buffers.at[i].op == TTM_NONE;
  for (size_t i = 0; i < end; i++) {
    const ttm_buffer_event *e = &c->events.at[i];
    if (e->kind <= TTM_EVENT_FREE && e->row < c->buffers.n) alive[e->row] = e->kind == TTM_EVENT_ALLOCATE;
  }
  for (size_t i = 0; i < c->buffers.n; i++)
    if (alive[i] && is_in_way(&c->buffers.at[i], &incident->what) &&
        c->buffers.at[i].address == incident->what.l1_buffer_at)
      device = c->buffers.at[i].device;
  for (uint32_t i = 0; i < c->buffers.n; i++)
    if (alive[i] && is_in_way(&c->buffers.at[i], &incident->what) && c->buffers.at[i].device == device)
      add_buffer(out, p, i, c->buffers.at[i].address, incident->op);
  ttm_free(alive);
  if (out->n && out->at[0].at != incident->what.l1_buffer_at) *out = (ttm_obstacles){.n = 0};
  return TTM_OK;
}

/* ---- Replayed addresses ------------------------------------------------------------------------------------------------ */

/* Where L1 ends for tensors: L1_SMALL lies above. */
static uint64_t top_of_l1(const ttm_profile *p, const ttm_incident *incident) {
  ttm_arch_id arch = ttm_incident_arch(p, incident);
  ttm_level small;
  uint64_t taken = ttm_profile_config(p, TTM_L1_SMALL, &small) ? ttm_level_bytes(small.total) : 0;
  return arch == TTM_ARCHES ? 0 : ttm_arches[arch].l1_bytes - taken;
}

typedef TTM_VEC(ttm_obstacle) blocks;

/* Every L1 block of the replay, by its place in the bank. */
static int gather(blocks *all, const ttm_replay *r, uint32_t op) {
  const ttm_profile *p = r->profile;
  const ttm_replay_memory *l1 = &r->memories[TTM_REPLAY_L1];
  for (uint32_t t = 0; t < p->tensors.n && p->tensors.at[t].birth < op; t++) {
    uint32_t type = ttm_tensor_type_id(p, t);
    uint64_t at, bytes = ttm_replay_cost_of(r, type, TTM_REPLAY_L1);
    if (!bytes || !ttm_replay_block(r, t, &at) || at == TTM_UNKNOWN) continue;
    ttm_obstacle one = {p->tensors.at[t].birth, type, at, bytes, is_needed(p, t, op)};
    if (ttm_vec_push(all, one)) return TTM_ENOMEM;
  }
  for (size_t i = 0; i < l1->extras.n; i++) {
    ttm_obstacle one = {l1->extras.at[i].op, TTM_NONE, l1->extras.at[i].at, l1->extras.at[i].size, true};
    if (ttm_vec_push(all, one)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* The results of the failing operation were allocated before its program was refused, unless they took an operand's place. */
static int gather_results(blocks *all, ttm_replay *r, uint32_t op) {
  ttm_list outputs = ttm_op_text_of(r->profile, op)->outputs;
  for (uint32_t k = 0; k < outputs.n; k++) {
    ttm_obstacle one = {.op = op, .type = r->profile->lists.at[outputs.first + k], .needed = true};
    one.bytes = ttm_replay_cost_of(r, one.type, TTM_REPLAY_L1);
    if (!one.bytes || !ttm_bank_take(&r->memories[TTM_REPLAY_L1].bank, one.bytes, true, &one.at)) continue;
    if (ttm_vec_push(all, one)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* `base` is where the bank begins as far as the log's rounded figures tell; the message is exact. False when the lowest block does not lie where the
 * message says. */
static bool settle(ttm_obstacles *out, const blocks *all, uint64_t base, const ttm_incident_text *what) {
  uint64_t lowest = UINT64_MAX;
  for (size_t i = 0; i < all->n; i++) lowest = all->at[i].at < lowest ? all->at[i].at : lowest;
  if (!all->n || lowest + base + ADDRESS_SLACK < what->l1_buffer_at ||
      what->l1_buffer_at + ADDRESS_SLACK < lowest + base)
    return false;
  for (size_t i = 0; i < all->n; i++) {
    ttm_obstacle one = all->at[i];
    one.at = what->l1_buffer_at + (one.at - lowest);
    if (one.at < what->buffers_end) add(out, one);
  }
  return true;
}

static int find_replayed(ttm_obstacles *out, const ttm_profile *p, const ttm_incident *incident) {
  uint64_t top = top_of_l1(p, incident);
  ttm_replay r;
  ttm_level l1;
  blocks all = {0};
  out->basis = TTM_DERIVED;
  if (incident->op >= p->ops.n || !ttm_profile_config(p, TTM_L1, &l1)) return TTM_OK;
  int status = ttm_replay_init(&r, p, incident->rank);
  if (!status) status = ttm_replay_to_op(&r, incident->op);
  if (!status) status = gather(&all, &r, incident->op);
  uint64_t size = r.memories[TTM_REPLAY_L1].bank.size, base = top > size ? top - size : 0;
  if (!status && base && !settle(out, &all, base, &incident->what)) {
    status = gather_results(&all, &r, incident->op);
    if (!status) settle(out, &all, base, &incident->what);
  }
  ttm_replay_free(&r);
  ttm_vec_free(&all);
  return status;
}

int ttm_obstacles_find(ttm_obstacles *out, const ttm_profile *p, const ttm_incident *incident) {
  const ttm_incident_text *what = &incident->what;
  *out = (ttm_obstacles){.basis = TTM_MEASURED};
  if (what->kind != TTM_INCIDENT_L1_CLASH || what->service || what->l1_buffer_at == TTM_UNKNOWN ||
      what->buffers_end == TTM_UNKNOWN)
    return TTM_OK;
  if (p->kind == TTM_LOG_CAPTURE) return find_recorded(out, p, incident);
  return ttm_profile_lives_known(p) ? find_replayed(out, p, incident) : TTM_OK;
}

/* ---- Without a message ------------------------------------------------------------------------------------------------- */

void ttm_shown_clash_find(ttm_shown_clash *out, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  const ttm_core_use *use = &f->core_use;
  *out = (ttm_shown_clash){.is = use->map.size && use->gap < 0 && !p->capture.recording.is};
  if (!out->is) return;
  const ttm_buffer_event *e = &p->capture.events.at[use->gap_event];
  ttm_incident_text *what = &out->incident.what;
  ttm_incident_clear(what);
  what->kind = use->gap_end > use->map.size ? TTM_INCIDENT_L1_OVERFLOW : TTM_INCIDENT_L1_CLASH;
  if (what->kind == TTM_INCIDENT_L1_OVERFLOW) what->l1_size = use->map.size;
  what->memory = TTM_LIT("L1");
  what->dataflow = use->map.dataflow;
  what->buffers_end = use->gap_end;
  if (what->kind == TTM_INCIDENT_L1_CLASH) what->l1_buffer_at = use->gap_end - (uint64_t)-use->gap;
  what->core_range = ttm_profile_string(p, e->row);
  out->incident.op = e->op;
  out->incident.state = e->op < p->ops.n ? p->ops.at[e->op].state : TTM_NONE;
  out->obstacles.basis = TTM_DERIVED;
  for (size_t i = 0; i < use->gap_tensors.n && what->kind == TTM_INCIDENT_L1_CLASH; i++)
    if (use->gap_tensors.at[i].at < use->gap_end)
      add_buffer(&out->obstacles, p, use->gap_tensors.at[i].buffer, use->gap_tensors.at[i].at, e->op);
}

bool ttm_findings_has_clashed(const ttm_findings *f) {
  for (size_t i = 0; i < f->incidents.n; i++) {
    ttm_incident_kind kind = f->profile->incidents.at[f->incidents.at[i].incident].what.kind;
    if (kind == TTM_INCIDENT_L1_CLASH || kind == TTM_INCIDENT_L1_OVERFLOW) return true;
  }
  return f->shown_clash.is;
}

ttm_memory ttm_findings_memory(const ttm_findings *f, int i) {
  bool l1 = f->shown_clash.is;
  for (size_t k = 0; k < f->incidents.n; k++)
    l1 |= ttm_str_starts(f->profile->incidents.at[f->incidents.at[k].incident].what.memory, TTM_LIT("L1"));
  return l1 && i <= TTM_L1 ? (ttm_memory)(TTM_L1 - i) : (ttm_memory)i;
}
