/* SPDX-License-Identifier: Apache-2.0 */
/* The peaks as a run of tt-metal's benchmark database: CompleteBenchmarkRun in its infra/data_collection/pydantic_models.py. */
#include <ctype.h>

#include "analyze/words.h"
#include "report/ci/ci.h"
#include "report/write/json.h"
#include "ttmem/version.h"

/* As tt-metal does it: without the organisation, in lower case, with hyphens. */
static void put_model(ttm_json *j, ttm_str name) {
  ttm_buf text = {0};
  size_t slash = ttm_str_find_char(name, '/');
  if (slash != TTM_NOT_FOUND) name = ttm_str_from(name, slash + 1);
  for (size_t i = 0; i < name.n; i++) {
    char c = name.p[i];
    bool gap = c == '_' || isspace((unsigned char)c);
    if (gap && text.n && text.at[text.n - 1] == '-' && i && name.p[i - 1] != '-') continue;
    ttm_buf_char(&text, gap ? '-' : (char)tolower((unsigned char)c));
  }
  ttm_json_put_words(j, "ml_model_name", &text);
}

static void put_device(ttm_json *j, const ttm_profile *p) {
  static const char *const cards[] = {
      [TTM_ARCH_GRAYSKULL] = "grayskull", [TTM_ARCH_WORMHOLE] = "wormhole_b0", [TTM_ARCH_BLACKHOLE] = "blackhole"};
  ttm_level level;
  ttm_arch_id arch = ttm_profile_config(p, TTM_DRAM, &level) ? ttm_arch_by_dram_banks(level.banks) : TTM_ARCHES;
  ttm_json_put_object(j, "device_info");
  if (p->capture.recording.board) ttm_json_put_str(j, "device_name", ttm_profile_string(p, p->capture.recording.board));
  ttm_json_put_name(j, "card_type", arch < TTM_ARCHES ? cards[arch] : "unknown");
  ttm_json_end(j);
}

typedef struct writer {
  ttm_json *j;
  const ttm_benchmark *b;
} writer;

/* `target` below 0: there is none. */
static void put_measurement(const writer *w, const char *memory, const char *name, double value, double target) {
  ttm_buf key = {0};
  for (; *memory; memory++) ttm_buf_char(&key, (char)tolower((unsigned char)*memory));
  ttm_buf_puts(&key, name);
  ttm_json_put_object(w->j, NULL);
  ttm_json_put_name(w->j, "step_start_ts", w->b->time);
  ttm_json_put_name(w->j, "step_end_ts", w->b->time);
  ttm_json_put_u64(w->j, "iteration", 0);
  ttm_json_put_name(w->j, "step_name", "memory");
  ttm_json_put_words(w->j, "name", &key);
  ttm_json_put_double(w->j, "value", value);
  target >= 0 ? ttm_json_put_double(w->j, "target", target) : ttm_json_put_null(w->j, "target");
  ttm_json_end(w->j);
}

static void put_memory(const writer *w, const ttm_findings *f, ttm_memory m) {
  const ttm_peak *peak = &f->peak[m];
  const ttm_baseline_peak *was = w->b->entry ? &w->b->entry->peak[m] : NULL;
  const char *name = ttm_memory_name(m);
  double used = peak->in_op_bytes ? ttm_mib(peak->in_op_bytes) : ttm_mb(peak->level.allocated),
         capacity = ttm_mb(peak->level.total);
  if (!peak->known && !peak->in_op_bytes) return;
  put_measurement(w, name, "_peak_mb_per_bank", used, was && was->known ? ttm_mb(was->milli) : -1);
  if (!(capacity > 0)) return;
  put_measurement(w, name, "_capacity_mb_per_bank", capacity, -1);
  put_measurement(w, name, "_utilization_pct", used * 100 / capacity, -1);
}

static void put_measurements(const writer *w, const ttm_findings *f) {
  uint32_t failures = 0;
  for (size_t i = 0; i < f->statements.at.n; i++) failures += f->statements.at.at[i].severity == TTM_SEVERITY_FAILURE;
  ttm_json_put_rows(w->j, "measurements");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) put_memory(w, f, m);
  put_measurement(w, "", "weights_mb", ttm_mib(f->registry.weight_bytes), -1);
  put_measurement(w, "", "operations", f->elements, -1);
  put_measurement(w, "", "failures", failures, 0);
  ttm_json_end(w->j);
}

static void put_config(ttm_json *j, const ttm_findings *f) {
  ttm_json_put_object(j, "config_params");
  ttm_json_put_name(j, "ttmem_version", TTM_VERSION);
  ttm_json_put_name(j, "input", ttm_words_kind(f->profile));
  ttm_json_put_bool(j, "peaks_are_lower_bounds", f->peak[TTM_DRAM].at_least);
  ttm_json_put_bool(j, "peaks_are_predicted", ttm_state_is_predicted(f->profile, TTM_NONE));
  ttm_json_end(j);
}

int ttm_benchmark_write(const ttm_benchmark *b, const ttm_findings *f, ttm_buf *out) {
  ttm_json json = {.out = out, .spaced = true}, *j = &json;
  ttm_str id = ttm_str_of(b->run_id ? b->run_id : "");
  uint64_t number;
  ttm_buf link = {0};
  ttm_json_put_sections(j, NULL);
  ttm_json_put_name(j, "run_start_ts", b->time);
  ttm_json_put_name(j, "run_end_ts", b->time);
  ttm_json_put_name(j, "run_type", "ttmem");
  ttm_json_put_name(j, "git_repo_name", b->repository);
  ttm_json_put_name(j, "git_commit_hash", b->commit);
  ttm_json_put_name(j, "git_branch_name", b->branch);
  bool run = ttm_str_take_u64(&id, &number) && !id.n;
  ttm_json_put_known(j, "github_pipeline_id", run ? number : UINT64_MAX);
  if (run && b->repository) ttm_buf_printf(&link, "https://github.com/%s/actions/runs/%s", b->repository, b->run_id);
  ttm_json_put_known_str(j, "github_pipeline_link", ttm_buf_str(&link));
  ttm_buf_free(&link);
  ttm_json_put_name(j, "user_name", b->user);
  ttm_json_put_name(j, "device_hostname", b->host);
  put_device(j, f->profile);
  put_model(j, b->model);
  if (f->layers.count) ttm_json_put_u64(j, "num_layers", f->layers.count);
  put_config(j, f);
  ttm_json_put_name(j, "profiler_name", "ttmem");
  put_measurements(&(writer){j, b}, f);
  ttm_json_end(j);
  return ttm_json_finish(j);
}
