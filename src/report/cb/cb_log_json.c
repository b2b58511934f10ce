/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/findings.h"
#include "report/cb/cb_log.h"

static void put_string(ttm_json *j, const char *key, const ttm_device_log *log, uint32_t id) {
  ttm_json_put_str(j, key, ttm_intern_get(&log->strings, id));
}

static void put_partition(ttm_json *j, const ttm_device_partition *p) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_known(j, "l1_bytes", p->worker_l1);
  ttm_json_put_known(j, "base", p->base);
  ttm_json_put_known(j, "l1_small_bytes", p->small);
  ttm_json_put_known(j, "line", p->line);
  ttm_json_put_known(j, "times", p->times);
  ttm_json_end(j);
}

static void put_clash(ttm_json *j, const ttm_clash *clash) {
  ttm_json_put_object(j, "clash");
  ttm_json_put_name(j, "chip", ttm_arches[clash->map.arch].name);
  ttm_json_put_name(j, "chip_basis", ttm_basis_name(clash->map.arch_basis));
  ttm_json_put_known(j, "l1_bytes", clash->map.size);
  ttm_json_put_known(j, "base", clash->map.base);
  ttm_json_put_name(j, "base_basis", ttm_basis_name(clash->map.base_basis));
  ttm_json_put_known(j, "buffer_bytes", clash->buffer_bytes);
  ttm_json_put_known(j, "overlap_bytes", clash->bytes);
  ttm_json_put_known(j, "overlap_tiles", clash->tiles);
  ttm_json_put_known(j, "tile_bytes", clash->overlap.tile_bytes);
  ttm_json_put_known(j, "cores", clash->cores);
  ttm_json_end(j);
}

static void put_failure(ttm_json *j, const ttm_device_log *log, const ttm_device_incident *i, const ttm_cb_failure *f) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "kind", ttm_incident_kind_name(i->what.kind));
  ttm_json_put_known(j, "line", i->line);
  ttm_json_put_known(j, "copies", i->copies);
  ttm_json_put_str(j, "text", i->what.text);
  ttm_json_put_str(j, "memory", i->what.memory);
  ttm_json_put_known(j, "needed_per_bank_B", i->what.needed_per_bank);
  ttm_json_put_known(j, "free_per_bank_B", i->what.free_per_bank);
  ttm_json_put_known(j, "largest_free_block_B", i->what.largest_free_block);
  ttm_json_put_known(j, "bank_size_B", i->what.bank_size);
  ttm_json_put_known(j, "shortfall_per_bank_B", f->shortfall);
  ttm_json_put_name(j, "verdict", ttm_verdict_name(f->verdict));
  ttm_json_put_known(j, "program", i->what.program);
  ttm_json_put_known(j, "l1_buffer_at", i->what.l1_buffer_at);
  ttm_json_put_known(j, "buffers_end", i->what.buffers_end);
  ttm_json_put_str(j, "core_range", i->what.core_range);
  ttm_json_put_bool(j, "dataflow", i->what.dataflow);
  i->op ? put_string(j, "operation", log, i->op) : ttm_json_put_null(j, "operation");
  ttm_json_put_name(j, "cure", i->mistake ? i->mistake->cure : NULL);
  f->clashes ? put_clash(j, &f->clash) : ttm_json_put_null(j, "clash");
  ttm_json_put_str(j, "detail", ttm_buf_str(&f->detail));
  ttm_json_put_array(j, "fixes");
  for (size_t k = 0; k < f->fix_count; k++) ttm_json_put_str(j, NULL, ttm_buf_str(&f->fixes[k]));
  ttm_json_end(j);
  ttm_json_end(j);
}

static void put_incidents(ttm_json *j, const ttm_device_log *log, const ttm_clash_hints *given) {
  ttm_clash_hints hints = ttm_cb_log_hints(log, given);
  ttm_json_put_rows(j, "incidents");
  for (size_t i = 0; i < log->incidents.n; i++) {
    ttm_cb_failure f;
    ttm_cb_failure_make(&f, &log->incidents.at[i], &hints);
    put_failure(j, log, &log->incidents.at[i], &f);
    j->out->failed |= f.failed;
    ttm_cb_failure_free(&f);
  }
  ttm_json_end(j);
}

static void put_kernel(ttm_json *j, const ttm_device_log *log, const ttm_device_kernel *k) {
  ttm_json_put_object(j, NULL);
  put_string(j, "name", log, k->name);
  ttm_json_put_known(j, "processor", k->processor);
  ttm_json_put_known(j, "bytes", k->bytes);
  ttm_json_put_known(j, "times", k->times);
  ttm_json_put_known(j, "line", k->line);
  ttm_json_end(j);
}

static void put_buffers(ttm_json *j, const ttm_device_log *log) {
  static const char *const names[TTM_METAL_MEMORIES] = {"DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE"};
  ttm_json_put_object(j, "buffers");
  for (int m = 0; m < TTM_METAL_MEMORIES; m++) {
    ttm_json_put_object(j, names[m]);
    ttm_json_put_known(j, "allocations", log->buffers[m].times);
    ttm_json_put_known(j, "bytes", log->buffers[m].bytes);
    ttm_json_put_known(j, "largest", log->buffers[m].largest);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_usage(ttm_json *j, const ttm_device_log *log, const ttm_device_usage *u) {
  ttm_json_put_object(j, NULL);
  put_string(j, "program", log, u->program);
  put_string(j, "memory", log, u->memory);
  ttm_json_put_known(j, "allocatable", u->allocatable);
  ttm_json_put_known(j, "allocated", u->allocated);
  ttm_json_put_known(j, "free", u->free);
  ttm_json_put_known(j, "largest_free", u->largest);
  ttm_json_put_known(j, "line", u->line);
  ttm_json_end(j);
}

static void put_warnings(ttm_json *j, const ttm_device_log *log) {
  ttm_json_put_rows(j, "warnings");
  for (size_t i = 0; i < log->warnings.n; i++) {
    ttm_json_put_object(j, NULL);
    put_string(j, "text", log, log->warnings.at[i].text);
    ttm_json_put_known(j, "line", log->warnings.at[i].line);
    ttm_json_put_known(j, "times", log->warnings.at[i].times);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

void ttm_cb_log_json(ttm_json *j, const char *key, const ttm_device_log *log, ttm_str name,
                     const ttm_clash_hints *hints) {
  static const char *const reports[] = {"log", "memory_usage_summary", "l1_usage_summary", "detailed_memory_usage"};
  ttm_json_put_sections(j, key);
  ttm_json_put_str(j, "input", name);
  ttm_json_put_name(j, "kind", reports[log->csv]);
  ttm_json_put_known(j, "lines", log->lines);
  ttm_json_put_known(j, "lines_until_0_58", log->era_lines[TTM_METAL_A]);
  ttm_json_put_known(j, "lines_of_0_59_rc", log->era_lines[TTM_METAL_B]);
  ttm_json_put_known(j, "lines_since_0_59", log->era_lines[TTM_METAL_C]);
  ttm_json_put_known(j, "operations", log->ops);
  ttm_json_put_known(j, "kernels_compiled", log->compiled);
  ttm_json_put_known(j, "index_gap_warnings", log->indices.times);
  ttm_json_put_array(j, "partitions");
  for (size_t i = 0; i < log->partitions.n; i++) put_partition(j, &log->partitions.at[i]);
  ttm_json_end(j);
  put_incidents(j, log, hints);
  ttm_json_put_rows(j, "kernels");
  for (size_t i = 0; i < log->kernels.n; i++) put_kernel(j, log, &log->kernels.at[i]);
  ttm_json_end(j);
  put_buffers(j, log);
  put_warnings(j, log);
  ttm_json_put_rows(j, "memory");
  for (size_t i = 0; i < log->usage.n; i++) put_usage(j, log, &log->usage.at[i]);
  ttm_json_end(j);
  ttm_json_end(j);
}
