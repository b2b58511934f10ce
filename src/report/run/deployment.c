/* SPDX-License-Identifier: Apache-2.0 */
/* `ttmem plan` for people and for scripts. */
#include "report/run/deployment.h"

#include <math.h>

#include "base/checked.h"
#include "base/format.h"
#include "report/run/statements.h"
#include "report/write/json.h"

/* ---- Text ------------------------------------------------------------------------------------------------------------ */

static void put_row(ttm_doc *d, const ttm_deployment *plan, const ttm_deployment_board *b) {
  bool known = ttm_deployment_known(plan) && b->answer <= TTM_DEPLOYED, fits = known && b->answer == TTM_DEPLOYED;
  ttm_doc_cell(d, "%s", b->board->name);
  known ? ttm_doc_cell_count(d, b->blocks) : ttm_doc_cell(d, "?");
  known ? ttm_doc_cell_count(d, b->tokens) : ttm_doc_cell(d, "?");
  ttm_doc_cell_count(d, b->copies);
  ttm_doc_cell_mb(d, fits ? (double)b->peak / TTM_MB : NAN);
  ttm_doc_cell_mb(d, (double)b->bank / TTM_MB);
  ttm_doc_cell(d, "%s", !known ? "-" : b->same_chip && !plan->arguments.n ? "replayed" : "estimated");
}

static void put_code(ttm_doc *d, const ttm_statements *all, const ttm_statement *s) {
  ttm_buf lines = {0};
  for (uint32_t i = 0; i < s->points; i++) {
    ttm_buf_put(&lines, all->points.at[s->first_point + i].text);
    ttm_buf_char(&lines, '\n');
  }
  ttm_doc_text(d, TTM_DOC_PLAIN, s->headline);
  if (s->detail.n) ttm_doc_text(d, TTM_DOC_DIM, s->detail);
  ttm_doc_code(d, ttm_buf_str(&lines));
  d->out->failed |= lines.failed;
  ttm_buf_free(&lines);
}

/* What a board's statement says, once for all boards it holds for. */
static void put_board(ttm_doc *d, const ttm_deployment *plan, const size_t *rows, size_t i) {
  const ttm_statement *said = plan->said.at.at;
  ttm_buf names = {0};
  for (size_t k = 0; k < plan->board_count; k++) {
    if (!ttm_str_eq(said[k].headline, said[i].headline) || !ttm_str_eq(said[k].detail, said[i].detail)) continue;
    if (k < i) return; /* told */
    if (k > i) ttm_buf_puts(&names, ", ");
    ttm_buf_puts(&names, plan->boards[rows[k]].board->name);
  }
  ttm_buf_char(&names, '\0');
  if (!names.failed) ttm_doc_heading(d, names.at);
  ttm_doc_statement(d, &plan->said, &said[i], 0);
  d->out->failed |= names.failed;
  ttm_buf_free(&names);
}

int ttm_deployment_write(ttm_doc *d, const ttm_deployment *plan) {
  const char *const heads[] = {
      "Board", plan->paged ? ">Blocks" : ">Tiles\tBlocks", ">Tokens", ">Copies", ">DRAM peak", ">Capacity", "How"};
  size_t rows[TTM_BOARDS], n = 0;
  for (size_t b = 0; b < TTM_BOARDS; b++)
    if (plan->boards[b].board) rows[n++] = b;
  if (ttm_deployment_known(plan)) {
    ttm_doc_line(d, "The largest KV cache that fits beside the rest; DRAM in MB per bank");
    ttm_doc_table(d, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < n; i++) put_row(d, plan, &plan->boards[rows[i]]);
    ttm_doc_table_end(d);
    for (size_t i = 0; i < n; i++) put_board(d, plan, rows, i);
  }
  for (size_t i = n; i < plan->said.at.n; i++) {
    const ttm_statement *s = &plan->said.at.at[i];
    if (i == n) ttm_doc_heading(d, "Recorded");
    if (!strcmp(s->id, "plan.settings")) ttm_doc_heading(d, "Settings");
    if (!strcmp(s->id, "plan.confidence")) ttm_doc_heading(d, "Confidence");
    s->points ? put_code(d, &plan->said, s) : ttm_doc_statement(d, &plan->said, s, 0);
  }
  return ttm_doc_end(d);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------ */

static void json_board(ttm_json *j, const ttm_deployment *plan, const ttm_deployment_board *b, const ttm_statement *s) {
  bool known = ttm_deployment_known(plan) && b->answer <= TTM_DEPLOYED;
  uint64_t unknown = known ? 0 : TTM_UNKNOWN;
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "board", b->board->name);
  known ? ttm_json_put_bool(j, "fits", b->answer == TTM_DEPLOYED) : ttm_json_put_null(j, "fits");
  ttm_json_put_statement(j, s);
  ttm_json_put_known(j, "blocks", b->blocks | unknown);
  ttm_json_put_known(j, "tokens", b->tokens | unknown);
  ttm_json_put_bool(j, "is_upper_bound", plan->cut);
  ttm_json_put_u64(j, "copies", b->copies);
  ttm_json_put_known(j, "peak_dram_per_bank_B", b->peak | (known && b->blocks ? 0 : TTM_UNKNOWN));
  ttm_json_put_u64(j, "capacity_dram_per_bank_B", b->bank);
  ttm_json_end(j);
}

static void json_cache(ttm_json *j, const ttm_deployment *plan) {
  if (!ttm_deployment_known(plan)) return ttm_json_put_null(j, "cache");
  const ttm_tensor_type *type = &plan->findings->profile->types.at[plan->type].tensor;
  char shape[128];
  ttm_dims_print(&type->shape, shape, sizeof shape);
  ttm_json_put_object(j, "cache");
  ttm_json_put_bool(j, "paged", plan->paged);
  ttm_json_put_u64(j, "tensors", plan->caches);
  ttm_json_put_u64(j, "tensors_of_other_shapes", plan->others);
  ttm_json_put_name(j, "shape", shape);
  ttm_json_put_str(j, "dtype", type->storage);
  ttm_json_put_u64(j, "blocks", plan->blocks);
  ttm_json_put_u64(j, "tokens_per_block", plan->block_tokens);
  ttm_json_put_u64(j, "block_B", plan->block_bytes);
  ttm_json_put_known(j, "users", plan->users ? plan->users : TTM_UNKNOWN);
  ttm_json_end(j);
}

static void json_region(ttm_json *j, const ttm_deployment *plan, const char *key, const char *id,
                        const ttm_opened_region *r) {
  ttm_json_put_object(j, key);
  ttm_json_put_statement(j, ttm_statements_find(&plan->said, id, 0));
  ttm_json_put_known(j, "needed_B",
                     r->need != TTM_UNKNOWN         ? r->need
                     : !strcmp(id, "plan.l1-small") ? r->used
                                                    : TTM_UNKNOWN);
  ttm_json_put_bool(j, "is_lower_bound", r->least);
  ttm_json_put_known(j, "opened_with_B", r->opened);
  ttm_json_end(j);
}

static void json_settings(ttm_json *j, const ttm_deployment *plan) {
  static const char *const keys[] = {"tt_transformers", "vllm", "tt_inference_server"};
  static const char *const ids[] = {"plan.tt-transformers", "plan.vllm", "plan.tt-inference-server"};
  ttm_json_put_object(j, "settings");
  ttm_json_put_statement(j, ttm_statements_find(&plan->said, "plan.settings", 0));
  ttm_json_put_name(j, "board", plan->settings.board->name);
  ttm_json_put_u64(j, "trace_region_size", plan->settings_region);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const ttm_statement *s = ttm_statements_find(&plan->said, ids[i], 0);
    ttm_json_put_array(j, keys[i]);
    for (uint32_t k = 0; k < s->points; k++) ttm_json_put_str(j, NULL, plan->said.points.at[s->first_point + k].text);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

int ttm_deployment_json(const ttm_deployment *plan, ttm_buf *out) {
  ttm_json j = {.out = out, .spaced = true};
  size_t said = 0;
  ttm_json_put_object(&j, NULL);
  ttm_json_put_u64(&j, "schema_version", 1);
  json_cache(&j, plan);
  ttm_json_put_rows(&j, "boards");
  for (size_t b = 0; b < TTM_BOARDS; b++)
    if (plan->boards[b].board) json_board(&j, plan, &plan->boards[b], &plan->said.at.at[said++]);
  ttm_json_end(&j);
  json_region(&j, plan, "trace_region_size", "plan.trace", &plan->trace);
  json_region(&j, plan, "l1_small_size", "plan.l1-small", &plan->small);
  json_settings(&j, plan);
  if (ttm_deployment_known(plan)) {
    ttm_json_put_object(&j, "confidence");
    ttm_json_put_statement(&j, ttm_statements_find(&plan->said, "plan.confidence", 0));
    ttm_json_end(&j);
  }
  ttm_json_end(&j);
  return ttm_json_finish(&j);
}
