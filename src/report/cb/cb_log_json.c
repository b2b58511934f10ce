/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/findings.h"
#include "report/cb/cb_log.h"
#include "report/write/json_fields.h"

static ttm_str string(const ttm_device_log *log, uint32_t id) { return ttm_intern_get(&log->strings, id); }

static void put_partitions(ttm_buf *out, const ttm_device_log *log) {
  ttm_json_comma between = {0};
  for (size_t i = 0; i < log->partitions.n; i++) {
    const ttm_device_partition *p = &log->partitions.at[i];
    ttm_json_comma comma = {0};
    ttm_json_next(out, &between, TTM_LIT(", "));
    ttm_json_raw(out, "{");
    ttm_field_u64(out, &comma, "l1_bytes", p->worker_l1);
    ttm_field_u64(out, &comma, "base", p->base);
    ttm_field_u64(out, &comma, "l1_small_bytes", p->small);
    ttm_field_u64(out, &comma, "line", p->line);
    ttm_field_u64(out, &comma, "times", p->times);
    ttm_json_raw(out, "}");
  }
}

static void put_clash(ttm_buf *out, const ttm_clash *clash) {
  ttm_json_comma comma = {0};
  ttm_json_raw(out, "{");
  ttm_field_text(out, &comma, "chip", ttm_str_of(ttm_arches[clash->map.arch].name));
  ttm_field_text(out, &comma, "chip_basis", ttm_str_of(ttm_basis_name(clash->map.arch_basis)));
  ttm_field_u64(out, &comma, "l1_bytes", clash->map.size);
  ttm_field_u64(out, &comma, "base", clash->map.base);
  ttm_field_text(out, &comma, "base_basis", ttm_str_of(ttm_basis_name(clash->map.base_basis)));
  ttm_field_u64(out, &comma, "buffer_bytes", clash->buffer_bytes);
  ttm_field_u64(out, &comma, "overlap_bytes", clash->bytes);
  ttm_field_u64(out, &comma, "overlap_tiles", clash->tiles);
  ttm_field_u64(out, &comma, "tile_bytes", clash->overlap.tile_bytes);
  ttm_field_u64(out, &comma, "cores", clash->cores);
  ttm_json_raw(out, "}");
}

static void put_incident(ttm_buf *out, const ttm_device_log *log, const ttm_device_incident *i,
                         const ttm_clash_hints *hints) {
  ttm_json_comma comma = {0}, between = {0};
  ttm_cb_failure f;
  ttm_cb_failure_make(&f, i, hints);
  ttm_json_raw(out, "{");
  ttm_field_text(out, &comma, "kind", ttm_str_of(ttm_incident_kind_name(i->what.kind)));
  ttm_field_u64(out, &comma, "line", i->line);
  ttm_field_u64(out, &comma, "copies", i->copies);
  ttm_field_text(out, &comma, "text", i->what.text);
  ttm_field_text(out, &comma, "memory", i->what.memory);
  ttm_field_u64(out, &comma, "needed_per_bank_B", i->what.needed_per_bank);
  ttm_field_u64(out, &comma, "free_per_bank_B", i->what.free_per_bank);
  ttm_field_u64(out, &comma, "largest_free_block_B", i->what.largest_free_block);
  ttm_field_u64(out, &comma, "bank_size_B", i->what.bank_size);
  ttm_field_u64(out, &comma, "shortfall_per_bank_B", f.shortfall);
  ttm_field(out, &comma, "verdict");
  f.verdict == TTM_VERDICT_NONE ? ttm_json_null(out) : ttm_json_string(out, ttm_str_of(ttm_verdict_name(f.verdict)));
  ttm_field_u64(out, &comma, "program", i->what.program);
  ttm_field_u64(out, &comma, "l1_buffer_at", i->what.l1_buffer_at);
  ttm_field_u64(out, &comma, "buffers_end", i->what.buffers_end);
  ttm_field_text(out, &comma, "core_range", i->what.core_range);
  ttm_field_bool(out, &comma, "dataflow", i->what.dataflow);
  ttm_field(out, &comma, "operation");
  i->op ? ttm_json_string(out, string(log, i->op)) : ttm_json_null(out);
  ttm_field(out, &comma, "cure");
  i->mistake ? ttm_json_string(out, ttm_str_of(i->mistake->cure)) : ttm_json_null(out);
  ttm_field(out, &comma, "clash");
  f.clashes ? put_clash(out, &f.clash) : ttm_json_null(out);
  ttm_field_text(out, &comma, "detail", ttm_buf_str(&f.detail));
  ttm_field(out, &comma, "fixes");
  ttm_json_raw(out, "[");
  for (size_t k = 0; k < f.fix_count; k++) {
    ttm_json_next(out, &between, TTM_LIT(", "));
    ttm_json_string(out, ttm_buf_str(&f.fixes[k]));
  }
  ttm_json_raw(out, "]}");
  out->failed |= f.failed;
  ttm_cb_failure_free(&f);
}

static void put_kernels(ttm_buf *out, const ttm_device_log *log) {
  ttm_json_comma between = {0};
  for (size_t i = 0; i < log->kernels.n; i++) {
    const ttm_device_kernel *k = &log->kernels.at[i];
    ttm_json_comma comma = {0};
    ttm_json_next(out, &between, TTM_LIT(",\n   "));
    ttm_json_raw(out, "{");
    ttm_field_text(out, &comma, "name", string(log, k->name));
    ttm_field_u64(out, &comma, "processor", k->processor);
    ttm_field_u64(out, &comma, "bytes", k->bytes);
    ttm_field_u64(out, &comma, "times", k->times);
    ttm_field_u64(out, &comma, "line", k->line);
    ttm_json_raw(out, "}");
  }
}

static void put_buffers(ttm_buf *out, const ttm_device_log *log) {
  static const char *const names[TTM_METAL_MEMORIES] = {"DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE"};
  ttm_json_comma between = {0};
  for (int m = 0; m < TTM_METAL_MEMORIES; m++) {
    ttm_json_comma comma = {0};
    ttm_field(out, &between, names[m]);
    ttm_json_raw(out, "{");
    ttm_field_u64(out, &comma, "allocations", log->buffers[m].times);
    ttm_field_u64(out, &comma, "bytes", log->buffers[m].bytes);
    ttm_field_u64(out, &comma, "largest", log->buffers[m].largest);
    ttm_json_raw(out, "}");
  }
}

static void put_usage(ttm_buf *out, const ttm_device_log *log) {
  ttm_json_comma between = {0};
  for (size_t i = 0; i < log->usage.n; i++) {
    const ttm_device_usage *u = &log->usage.at[i];
    ttm_json_comma comma = {0};
    ttm_json_next(out, &between, TTM_LIT(",\n   "));
    ttm_json_raw(out, "{");
    ttm_field_text(out, &comma, "program", string(log, u->program));
    ttm_field_text(out, &comma, "memory", string(log, u->memory));
    ttm_field_u64(out, &comma, "allocatable", u->allocatable);
    ttm_field_u64(out, &comma, "allocated", u->allocated);
    ttm_field_u64(out, &comma, "free", u->free);
    ttm_field_u64(out, &comma, "largest_free", u->largest);
    ttm_field_u64(out, &comma, "line", u->line);
    ttm_json_raw(out, "}");
  }
}

static void put_warnings(ttm_buf *out, const ttm_device_log *log) {
  ttm_json_comma between = {0};
  for (size_t i = 0; i < log->warnings.n; i++) {
    ttm_json_comma comma = {0};
    ttm_json_next(out, &between, TTM_LIT(",\n   "));
    ttm_json_raw(out, "{");
    ttm_field_text(out, &comma, "text", string(log, log->warnings.at[i].text));
    ttm_field_u64(out, &comma, "line", log->warnings.at[i].line);
    ttm_field_u64(out, &comma, "times", log->warnings.at[i].times);
    ttm_json_raw(out, "}");
  }
}

void ttm_cb_log_json(ttm_buf *out, const ttm_device_log *log, ttm_str name, const ttm_clash_hints *given) {
  static const char *const reports[] = {"log", "memory_usage_summary", "l1_usage_summary", "detailed_memory_usage"};
  ttm_clash_hints hints = ttm_cb_log_hints(log, given);
  ttm_json_comma comma = {0}, between = {0};
  ttm_json_raw(out, "{");
  ttm_field_text(out, &comma, "input", name);
  ttm_field_text(out, &comma, "kind", ttm_str_of(reports[log->csv]));
  ttm_field_u64(out, &comma, "lines", log->lines);
  ttm_field_u64(out, &comma, "lines_until_0_58", log->era_lines[TTM_METAL_A]);
  ttm_field_u64(out, &comma, "lines_of_0_59_rc", log->era_lines[TTM_METAL_B]);
  ttm_field_u64(out, &comma, "lines_since_0_59", log->era_lines[TTM_METAL_C]);
  ttm_field_u64(out, &comma, "operations", log->ops);
  ttm_field_u64(out, &comma, "kernels_compiled", log->compiled);
  ttm_field_u64(out, &comma, "index_gap_warnings", log->indices.times);
  ttm_json_raw(out, ",\n  \"partitions\": [");
  put_partitions(out, log);
  ttm_json_raw(out, "],\n  \"incidents\": [");
  for (size_t i = 0; i < log->incidents.n; i++) {
    ttm_json_next(out, &between, TTM_LIT(",\n   "));
    put_incident(out, log, &log->incidents.at[i], &hints);
  }
  ttm_json_raw(out, "],\n  \"kernels\": [");
  put_kernels(out, log);
  ttm_json_raw(out, "],\n  \"buffers\": {");
  put_buffers(out, log);
  ttm_json_raw(out, "},\n  \"warnings\": [");
  put_warnings(out, log);
  ttm_json_raw(out, "],\n  \"memory\": [");
  put_usage(out, log);
  ttm_json_raw(out, "]}");
}
