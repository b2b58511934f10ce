/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analyze/tests.h"
#include "report/files/findings_parts.h"

/* ---- What is alive at the peaks ---------------------------------------------------------------------------------- */

static void put_row(ttm_json *j, const ttm_findings *f, const ttm_alive_row *row) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "class", ttm_alive_class_name(f->profile, row->class));
  ttm_json_put_id(j, "name", f->profile, row->name);
  ttm_json_put_name(j, "basis", ttm_basis_name(row->guess ? TTM_ESTIMATED : TTM_DERIVED));
  if (row->arg != TTM_NONE) ttm_json_put_u64(j, "argument", row->arg);
  ttm_json_put_mib(j, "per_bank_MB", row->bank_bytes);
  ttm_json_put_u64(j, "tensors", row->tensors);
  ttm_json_put_type(j, f->profile, row->type);
  if (row->type != TTM_NONE) {
    ttm_json_put_mib(j, "unpadded_MB", row->logical_bytes);
    ttm_json_put_mib(j, "padded_MB", row->stored_bytes);
  }
  if (row->op != TTM_NONE) ttm_json_put_op_members(j, f, row->op);
  if (row->group != TTM_NONE) ttm_json_put_u64(j, "group", row->group);
  ttm_json_end(j);
}

/* The rows with repeated layers folded; a row names its group by its place here. */
static void put_groups(ttm_json *j, const ttm_findings *f, const ttm_alive_set *set) {
  ttm_json_put_rows(j, "groups");
  for (size_t i = 0; i < set->groups.n; i++) {
    const ttm_alive_group *group = &set->groups.at[i];
    ttm_json_put_object(j, NULL);
    ttm_json_put_name(j, "class", ttm_alive_class_name(f->profile, group->class));
    ttm_json_put_str(j, "name", group->name);
    ttm_json_put_name(j, "basis", ttm_basis_name(group->guess ? TTM_ESTIMATED : TTM_DERIVED));
    ttm_json_put_mib(j, "per_bank_MB", group->bank_bytes);
    ttm_json_put_u64(j, "rows", group->rows);
    ttm_json_put_u64(j, "tensors", group->tensors);
    if (group->op != TTM_NONE) ttm_json_put_op_members(j, f, group->op);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_classes(ttm_json *j, const ttm_profile *p, const ttm_alive_set *set) {
  ttm_json_put_object(j, "classes");
  for (int c = 0; c < TTM_ALIVE_CLASSES; c++) {
    char key[64];
    snprintf(key, sizeof key, "%s_MB", ttm_alive_class_name(p, (ttm_alive_class)c));
    ttm_json_put_mib(j, key, set->by_class[c]);
  }
  ttm_json_end(j);
}

static void put_modules(ttm_json *j, const ttm_alive_set *set) {
  ttm_json_put_array(j, "modules");
  for (size_t i = 0; i < set->modules.n; i++) {
    ttm_json_put_object(j, NULL);
    ttm_json_put_str(j, "path", set->modules.at[i].path);
    ttm_json_put_mib(j, "per_bank_MB", set->modules.at[i].bank_bytes);
    ttm_json_put_u64(j, "tensors", set->modules.at[i].tensors);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_set(ttm_json *j, const char *key, const ttm_findings *f, const ttm_alive_set *set) {
  ttm_json_put_object(j, key);
  ttm_json_put_name(j, "basis", "derived");
  ttm_json_put_line(j, "line", f->profile, set->state);
  ttm_json_put_mib(j, "allocated_per_bank_MB", set->measured_bytes);
  ttm_json_put_mib(j, "explained_per_bank_MB", ttm_alive_set_explained(set));
  ttm_json_put_fixed(j, "explained_pct", ttm_alive_set_quality(set), 3);
  ttm_json_put_mib(j, "counted_twice_MB", set->over_bytes);
  ttm_json_put_u64(j, "tensors", set->tensors);
  ttm_json_put_mib(j, "padding_total_MB", set->padding_bytes);
  ttm_json_put_mib(j, "rounding_total_MB", set->rounding_bytes);
  put_classes(j, f->profile, set);
  ttm_json_put_mib(j, "kv_cache_by_name_MB", set->guessed_bytes);
  ttm_json_put_rows(j, "rows");
  for (size_t i = 0; i < set->rows.n; i++) put_row(j, f, &set->rows.at[i]);
  ttm_json_end(j);
  ttm_json_put_u64(j, "other_rows", set->other_rows);
  ttm_json_put_mib(j, "other_rows_per_bank_MB", set->other_bytes);
  put_groups(j, f, set);
  put_modules(j, set);
  ttm_json_end(j);
}

void ttm_json_put_live_at_peak(ttm_json *j, const ttm_findings *f) {
  ttm_json_put_sections(j, "live_at_peak");
  for (ttm_memory m = TTM_DRAM; m <= TTM_L1; m++) {
    if (f->alive_set[m].known) put_set(j, ttm_memory_name(m), f, &f->alive_set[m]);
  }
  ttm_json_end(j);
}

/* ---- What only a recording of `ttmem run` tells ------------------------------------------------------------------ */

static void put_memories(ttm_json *j, const ttm_findings *f) {
  const ttm_capture *c = &f->profile->capture;
  ttm_json_put_object(j, "memories");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    ttm_json_put_object(j, ttm_memory_name(m));
    ttm_json_put_u64(j, "peak_per_bank_B", c->peak_bytes[m]);
    ttm_json_put_known(j, "capacity_per_bank_B", c->recording.measured[m] ? c->recording.total[m] : UINT64_MAX);
    ttm_json_put_u64(j, "banks", c->recording.banks[m]);
    ttm_json_put_op(j, "peak_operation", f, c->peak_op[m]);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_use(ttm_json *j, const ttm_findings *f) {
  const ttm_core_use *u = &f->core_use;
  const ttm_core_moment *m = &u->fullest;
  const ttm_capture *c = &f->profile->capture;
  ttm_json_put_object(j, "l1_per_core");
  ttm_json_put_u64(j, "limit_B", u->limit);
  ttm_json_put_u64(j, "fullest_B", m->total);
  ttm_json_put_u64(j, "tensors_B", m->tensors);
  ttm_json_put_u64(j, "l1_small_B", m->small);
  ttm_json_put_u64(j, "circular_buffers_B", m->program[0]);
  ttm_json_put_u64(j, "dataflow_buffers_B", m->program[1]);
  ttm_json_put_u64(j, "scratchpads_B", m->program[2]);
  ttm_buf_printf(ttm_json_at(j, "core"), "\"%u-%u\"", m->x, m->y);
  ttm_json_put_op(j, "operation", f, m->event < c->events.n ? c->events.at[m->event].op : TTM_NONE);
  if (u->gap_event < c->events.n && !ttm_findings_has_clashed(f))
    ttm_json_put_i64(j, "nearest_clash_B", u->gap);
  else
    ttm_json_put_null(j, "nearest_clash_B");
  ttm_json_put_u64(j, "programs", c->programs);
  ttm_json_put_u64(j, "programs_completed", c->recording.completed);
  ttm_json_put_u64(j, "programs_without_buffers", c->empty_programs);
  ttm_json_end(j);
}

enum { HOST_POINTS = 512 };

/* A part of the samples, the highest of each stretch: operation index and bytes. */
static void put_host_timeline(ttm_json *j, const ttm_findings *f) {
  const ttm_host *h = &f->profile->capture.host;
  size_t step = h->samples.n / HOST_POINTS + 1;
  ttm_json_put_array(j, "timeline");
  for (size_t i = 0; i < h->samples.n; i += step) {
    size_t best = i;
    for (size_t k = i; k < h->samples.n && k < i + step; k++)
      if (h->samples.at[k].bytes > h->samples.at[best].bytes) best = k;
    uint32_t op = h->samples.at[best].op;
    ttm_json_put_array(j, NULL);
    ttm_json_put_index(j, NULL, op < f->profile->ops.n ? ttm_findings_index(f, op) : TTM_NONE);
    ttm_json_put_u64(j, NULL, h->samples.at[best].bytes);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_told(ttm_json *j, const char *key, uint64_t value) {
  ttm_json_put_known(j, key, value ? value : UINT64_MAX);
}

static void put_host_limits(ttm_json *j, const ttm_host *h) {
  put_told(j, "machine_B", h->machine);
  put_told(j, "available_B", h->available);
  put_told(j, "lowest_available_B", h->lowest_available);
  put_told(j, "cgroup_limit_B", h->cgroup);
  put_told(j, "address_limit_B", h->address_limit);
  ttm_json_put_known(j, "signal", h->ended ? h->signal : UINT64_MAX);
  ttm_json_put_known(j, "oom_kills", h->ended ? h->oom_kills : UINT64_MAX);
}

static void put_host(ttm_json *j, const ttm_findings *f) {
  const ttm_host *h = &f->profile->capture.host;
  const ttm_host_findings *found = &f->host;
  if (!found->known) return;
  ttm_json_put_object(j, "host");
  ttm_json_put_u64(j, "peak_B", found->peak);
  ttm_json_put_op(j, "peak_operation", f, h->samples.at[found->peak_sample].op);
  ttm_json_put_id(j, "peak_line", f->profile, h->samples.at[found->peak_sample].at);
  ttm_json_put_u64(j, "last_B", found->last);
  ttm_json_put_u64(j, "pinned_B", h->pinned);
  ttm_json_put_u64(j, "locked_B", h->locked);
  ttm_json_put_u64(j, "huge_pages_B", h->huge);
  put_host_limits(j, h);
  ttm_json_put_array(j, "lines");
  for (uint32_t i = 0; i < found->line_count; i++) {
    ttm_json_put_object(j, NULL);
    ttm_json_put_id(j, "line", f->profile, found->lines[i].at);
    ttm_json_put_i64(j, "grew_B", found->lines[i].grew);
    ttm_json_put_op(j, "operation", f, found->lines[i].op);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  put_host_timeline(j, f);
  ttm_json_end(j);
}

static void put_hazard(ttm_json *j, const ttm_findings *f, const ttm_hazard *h) {
  static const char *const kinds[] = {"overwrites", "overwrites_kernels", "uses_freed"};
  const ttm_capture *c = &f->profile->capture;
  const ttm_buffer *own = &c->buffers.at[h->row];
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "kind", kinds[h->kind]);
  ttm_json_put_u64(j, "trace", f->traces.at.at[h->trace].id);
  ttm_json_put_name(j, "memory", ttm_memory_name((ttm_memory)own->memory));
  ttm_json_put_id(j, "tensor", f->profile, own->name);
  ttm_json_put_op(j, "operation", f, own->op);
  ttm_json_put_op(j, "other_operation", f,
                  h->other == TTM_NONE ? c->events.at[h->event].op : c->buffers.at[h->other].op);
  ttm_json_put_bool(j, "other_is_circular_buffer", h->other == TTM_NONE);
  ttm_json_put_u64(j, "address", own->address);
  ttm_json_put_u64(j, "per_bank_B", own->bank_bytes);
  ttm_json_put_u64(j, "overlap_address", h->start);
  ttm_json_put_u64(j, "overlap_per_bank_B", h->end - h->start);
  ttm_json_put_op(j, "replay", f, h->replay);
  ttm_json_put_op(j, "used_by", f, h->used);
  ttm_json_put_u64(j, "tensors", h->times);
  ttm_json_put_u64(j, "tensors_used", h->used_times);
  ttm_json_end(j);
}

static void put_traces(ttm_json *j, const ttm_findings *f) {
  const ttm_traces *traces = &f->traces;
  if (!traces->at.n) return;
  ttm_json_put_object(j, "traces");
  ttm_json_put_bool(j, "safe", !traces->hazards.n || !ttm_hazard_is_harm(&traces->hazards.at[0]));
  ttm_json_put_u64(j, "replays", traces->replays);
  ttm_json_put_array(j, "captured");
  for (size_t i = 0; i < traces->at.n; i++) {
    const ttm_device_trace *t = &traces->at.at[i];
    ttm_json_put_object(j, NULL);
    ttm_json_put_u64(j, "trace", t->id);
    ttm_json_put_u64(j, "device", t->rank);
    ttm_json_put_op(j, "begin", f, t->begin);
    ttm_json_put_op(j, "end", f, t->end);
    ttm_json_put_u64(j, "regions", t->regions);
    ttm_json_put_u64(j, "replays", t->replays);
    ttm_json_put_op(j, "first_replay", f, t->first_replay);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_put_array(j, "hazards");
  for (size_t i = 0; i < traces->hazards.n; i++) put_hazard(j, f, &traces->hazards.at[i]);
  ttm_json_end(j);
  ttm_json_end(j);
}

void ttm_json_put_blocks(ttm_json *j, const ttm_findings *f) {
  if (!f->profile->after_ops) return;
  ttm_json_put_object(j, "blocks");
  for (int m = 0; m < TTM_HELD_MEMORIES; m++) {
    const ttm_held_blocks *held = &f->profile->held[m];
    ttm_json_put_rows(j, ttm_memory_name((ttm_memory)m));
    for (size_t i = 0; i < held->n; i++) {
      ttm_json_put_object(j, NULL);
      ttm_json_put_u64(j, "address", held->at[i].address);
      ttm_json_put_u64(j, "per_bank_B", held->at[i].bytes);
      ttm_json_put_op(j, "allocated_by", f, held->at[i].op);
      ttm_json_end(j);
    }
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_devices(ttm_json *j, const ttm_capture *c) {
  ttm_json_put_rows(j, "devices");
  for (size_t i = 0; i < c->openings.n; i++) {
    const ttm_opening *row = &c->openings.at[i];
    ttm_json_put_object(j, NULL);
    ttm_json_put_u64(j, "device", row->rank);
    ttm_json_put_u64(j, "process", row->process);
    ttm_json_put_array(j, "chips");
    for (unsigned chip = 0; chip < 64; chip++)
      if (row->chips >> chip & 1) ttm_json_put_u64(j, NULL, chip);
    ttm_json_end(j);
    ttm_json_put_u64(j, "peak_dram_per_bank_B", row->peak[TTM_DRAM]);
    ttm_json_put_known(j, "capacity_dram_per_bank_B", row->total[TTM_DRAM] ? row->total[TTM_DRAM] : UINT64_MAX);
    ttm_json_put_u64(j, "peak_l1_tensors_per_bank_B", row->peak[TTM_L1]);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_tests(ttm_json *j, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  ttm_buf verdict = {0};
  ttm_json_put_rows(j, "tests");
  for (uint32_t i = 0; i < p->capture.tests.n; i++) {
    const ttm_test *test = &p->capture.tests.at[i];
    ttm_fits fits = ttm_test_fits(f, i);
    ttm_buf_clear(&verdict);
    ttm_say_test(&verdict, f, i);
    ttm_json_put_object(j, NULL);
    ttm_json_put_id(j, "name", p, test->name);
    ttm_json_put_id(j, "outcome", p, test->outcome);
    fits == TTM_FITS_UNKNOWN ? ttm_json_put_null(j, "fits") : ttm_json_put_bool(j, "fits", fits == TTM_FITS);
    ttm_json_put_str(j, "verdict", ttm_buf_str(&verdict));
    ttm_json_put_u64(j, "operations", test->operations);
    ttm_json_put_u64(j, "peak_dram_per_bank_B", test->peak[TTM_DRAM]);
    ttm_json_put_u64(j, "peak_l1_tensors_per_bank_B", test->peak[TTM_L1]);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  j->out->failed |= verdict.failed;
  ttm_buf_free(&verdict);
}

void ttm_json_put_recording(ttm_json *j, const ttm_findings *f) {
  const ttm_profile *p = f->profile;
  const ttm_recording *r = &p->capture.recording;
  if (!r->is) return;
  ttm_json_put_object(j, "recording");
  ttm_json_put_id(j, "board", p, r->board);
  if (p->capture.schema) ttm_json_put_id(j, "visualizer_schema", p, p->capture.schema);
  ttm_json_put_bool(j, "ended", r->ended);
  ttm_json_put_id(j, "reason", p, r->reason);
  ttm_json_put_op(j, "last_operation", f, r->last);
  ttm_json_put_u64(j, "pieces", r->pieces);
  ttm_json_put_u64(j, "memory_views", r->views);
  ttm_json_put_u64(j, "corrections", r->corrections);
  ttm_json_put_u64(j, "hole_corrections", r->hole_corrections);
  ttm_json_put_u64(j, "unseen_frees", r->unseen_frees);
  ttm_json_put_u64(j, "lost_operations", r->lost);
  ttm_json_put_u64(j, "operations_elsewhere", r->elsewhere);
  ttm_json_put_u64(j, "late_operations", r->late);
  ttm_json_put_u64(j, "processes", r->processes);
  ttm_json_put_u64(j, "traces_pretended", r->traces);
  ttm_json_put_u64(j, "waits_left_out", r->waits);
  ttm_json_put_u64(j, "sub_device_loads", r->sub_devices);
  put_memories(j, f);
  put_use(j, f);
  put_traces(j, f);
  put_devices(j, &p->capture);
  put_host(j, f);
  if (p->capture.tests.n) put_tests(j, f);
  ttm_json_end(j);
}
