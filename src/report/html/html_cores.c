/* SPDX-License-Identifier: Apache-2.0 */
/* L1 core by core: what every program put where, as columns. A program that ran again, and a set of cores, is written once. */
#include "analyze/replay.h"
#include "report/files/json_parts.h"
#include "report/html/html_parts.h"
#include "report/write/l1_picture.h"

/* ---- Facts ------------------------------------------------------------------------------------------------------------- */

/* The last program that was refused, else the one of the smallest gap when that is an overlap. */
static uint32_t find_clash(const ttm_core_use *use, const ttm_core_views *v) {
  for (size_t i = v->views.n; i-- > 0;) {
    uint32_t program = v->views.at[i].program;
    if (program != TTM_NONE && v->buffers.at[v->programs.at[program].first].refused) return (uint32_t)i;
  }
  return use->gap < 0 && use->gap_event != TTM_NONE ? ttm_core_views_behind(v, use->gap_event) : TTM_NONE;
}

static bool has_views(const ttm_html *h) { return h->cores.views.n && h->cores.columns && h->cores.rows; }

void ttm_html_put_cores(ttm_json *j, const ttm_html *h) {
  const ttm_core_views *v = &h->cores;
  const ttm_core_use *use = &h->f->core_use;
  const ttm_capture_board *board = &h->p->capture.board;
  ttm_l1_map chip = {.arch = (ttm_arch_id)board->arch};
  if (!has_views(h)) return;
  uint32_t clash = find_clash(use, v);
  ttm_json_put_object(j, "cores");
  ttm_json_put_name(j, "chip", ttm_l1_chip(&chip));
  ttm_json_put_name(j, "chip_basis", ttm_basis_name(board->estimated ? TTM_ESTIMATED : TTM_MEASURED));
  ttm_json_put_u64(j, "columns", v->columns);
  ttm_json_put_u64(j, "rows", v->rows);
  ttm_json_put_u64(j, "size", v->size);
  ttm_json_put_u64(j, "base", v->base);
  ttm_json_put_u64(j, "top", v->top);
  ttm_json_put_u64(j, "views", v->views.n);
  ttm_json_put_u64(j, "fullest", ttm_core_views_behind(v, use->fullest.event));
  if (clash != TTM_NONE) ttm_json_put_u64(j, "clash", clash);
  ttm_json_put_u64(j, "most_used", use->fullest.total);
  ttm_json_put_u64(j, "most_buffers", use->peak_program_all);
  ttm_json_put_u64(j, "most_tensors", use->peak_l1);
  ttm_json_end(j);
}

/* ---- Columns ----------------------------------------------------------------------------------------------------------- */

static int put_views(ttm_html *h, const ttm_core_views *v) {
  for (size_t i = 0; i < v->views.n; i++) {
    uint32_t element = ttm_findings_index(h->f, v->views.at[i].op);
    ttm_html_block_delta(&h->block, element == TTM_NONE ? -1 : (int64_t)element);
  }
  int code = ttm_html_block_write(&h->block, "cores.view.op", h->out);
  for (size_t i = 0; i < v->views.n; i++)
    ttm_html_block_number(&h->block, v->views.at[i].program == TTM_NONE ? 0 : v->views.at[i].program + UINT64_C(1));
  if (!code) code = ttm_html_block_write(&h->block, "cores.view.program", h->out);
  for (size_t i = 0; i < v->views.n; i++) ttm_html_block_number(&h->block, v->views.at[i].rank);
  return code ? code : ttm_html_block_write(&h->block, "cores.view.rank", h->out);
}

/* Each: twice its buffers, and 1 when their addresses are derived; then of each buffer its kind and whether it is borrowed (4) or refused (8), the
 * set of its cores, its bytes, and 1 + its address (0: not told). */
static int put_programs(ttm_html *h, const ttm_core_views *v) {
  for (size_t i = 0; i < v->programs.n; i++) {
    const ttm_core_program *program = &v->programs.at[i];
    ttm_html_block_number(&h->block, (uint64_t)program->n << 1 | program->derived);
    for (uint32_t k = program->first; k < program->first + program->n; k++) {
      const ttm_core_buffer *b = &v->buffers.at[k];
      ttm_html_block_number(&h->block, (uint64_t)(b->kind | b->borrowed << 2 | b->refused << 3));
      ttm_html_block_number(&h->block, b->cores);
      ttm_html_block_number(&h->block, b->bytes);
      ttm_html_block_number(&h->block, b->at + 1); /* TTM_UNKNOWN becomes 0 */
    }
  }
  return ttm_html_block_write(&h->block, "cores.programs", h->out);
}

static int put_sets(ttm_html *h, const ttm_core_views *v) {
  for (size_t i = 0; i < v->sets.sets.n; i++) {
    const ttm_core_set *set = &v->sets.sets.at[i];
    ttm_html_block_number(&h->block, set->n);
    for (size_t k = 0; k < set->n; k++) {
      const uint8_t corners[] = {set->at[k].x0, set->at[k].y0, set->at[k].x1, set->at[k].y1};
      for (int c = 0; c < 4; c++) ttm_html_block_number(&h->block, corners[c]);
    }
  }
  return ttm_html_block_write(&h->block, "cores.sets", h->out);
}

/* Each: operation (0: from before the capture), first view, how many it is in, bytes per core, 1 + address (0: not told), rank, shards, 1 + set of its
 * cores (0: not told), 1 in L1_SMALL or 2 on these cores only, 1 + type (0: not told). */
static int put_tensors(ttm_html *h, const ttm_core_views *v) {
  uint32_t last = 0;
  for (size_t i = 0; i < v->lives.n; i++) {
    const ttm_core_life *life = &v->lives.at[i];
    const ttm_buffer *b = &h->p->capture.buffers.at[life->buffer];
    uint32_t element = b->op == TTM_NONE ? TTM_NONE : ttm_findings_index(h->f, b->op);
    if (life->from == life->to) continue;
    ttm_html_block_number(&h->block, element == TTM_NONE ? 0 : element + UINT64_C(1));
    ttm_html_block_number(&h->block, life->from - last);
    ttm_html_block_number(&h->block, life->to - life->from);
    ttm_html_block_number(&h->block, b->bank_bytes);
    ttm_html_block_number(&h->block, life->at + 1);
    ttm_html_block_number(&h->block, h->p->capture.recording.is ? b->device : 0);
    ttm_html_block_number(&h->block, b->cores);
    ttm_html_block_number(&h->block, life->cores == TTM_NONE ? 0 : life->cores + UINT64_C(1));
    ttm_html_block_number(&h->block, life->own ? 2 : b->memory == TTM_L1_SMALL);
    uint32_t type = ttm_tensor_type_id(h->p, b->tensor);
    ttm_html_block_number(&h->block, type == TTM_NONE ? 0 : ttm_html_ids_take(&h->types, type) + UINT64_C(1));
    last = life->from;
  }
  return ttm_html_block_write(&h->block, "cores.tensors", h->out);
}

int ttm_html_cores(ttm_html *h) {
  const ttm_core_views *v = &h->cores;
  if (!has_views(h)) return TTM_OK;
  int code = put_views(h, v);
  if (!code) code = put_programs(h, v);
  if (!code) code = put_sets(h, v);
  return code ? code : put_tensors(h, v);
}
