/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/core_views.h"

#include "base/checked.h"

/* ---- Filled by the walk over the events ------------------------------------------------------------------------------- */

static const ttm_buffer *buffer_of(const ttm_core_views *v, uint32_t row) { return &v->p->capture.buffers.at[row]; }

static bool is_in_l1(const ttm_buffer *b) { return b->memory == TTM_L1 || b->memory == TTM_L1_SMALL; }

/* Of a buffer; one rank is all there is in a graph capture, whose nodes name devices in two ways. */
static uint32_t rank_of(const ttm_core_views *v, uint32_t device) { return v->p->capture.recording.is ? device : 0; }

/* A row for each address of a tensor that has several, with the cores where it is. */
static int add_own(ttm_core_views *v, uint32_t row, uint32_t event) {
  const ttm_buffer *b = buffer_of(v, row);
  const ttm_core_place *places = v->p->capture.core_places.at + b->places;
  for (uint32_t i = 0; i < b->place_n; i++) {
    ttm_core_set set = {0};
    uint32_t k = 0;
    while (places[k].at != places[i].at) k++;
    if (k < i) continue;
    for (; k < b->place_n; k++) {
      ttm_core_range core = {places[k].x, places[k].y, places[k].x, places[k].y};
      if (places[k].at == places[i].at && ttm_vec_push(&set, core)) return ttm_vec_free(&set), TTM_ENOMEM;
    }
    ttm_core_life life = {row, event, TTM_NONE, (uint32_t)v->sets.sets.n, places[i].at, true};
    if (ttm_core_set_merge(&set) || ttm_vec_push(&v->sets.sets, set)) return ttm_vec_free(&set), TTM_ENOMEM;
    if (ttm_vec_push(&v->lives, life)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static void end_lives(ttm_core_views *v, uint32_t row, uint32_t event) {
  uint32_t life = ttm_map_remove(&v->life_of_buffer, row, TTM_NONE);
  for (; life < v->lives.n && v->lives.at[life].buffer == row; life++) v->lives.at[life].to = event;
}

int ttm_core_views_tensor(ttm_core_views *v, uint32_t row, uint32_t event, bool came) {
  const ttm_buffer *b = buffer_of(v, row);
  uint32_t cores = TTM_NONE;
  if (!is_in_l1(b)) return TTM_OK;
  if (!came) return end_lives(v, row, event), TTM_OK;
  if (b->shard_cores && ttm_core_sets_find(&v->sets, b->shard_cores, ttm_profile_string(v->p, b->shard_cores), &cores))
    return TTM_ENOMEM;
  if (cores != TTM_NONE && !v->sets.sets.at[cores].n) cores = TTM_NONE;
  if (ttm_map_set(&v->life_of_buffer, row, (uint32_t)v->lives.n)) return TTM_ENOMEM;
  if (b->place_n) return add_own(v, row, event);
  bool own = b->own == TTM_OWN_RANGE && cores != TTM_NONE && v->p->capture.core_places.n;
  return ttm_vec_push(&v->lives, (ttm_core_life){row, event, TTM_NONE, cores, b->address, own});
}

/* An operation's tensors are beside its program: the view without is one only until the program comes. */
static int add_view(ttm_core_views *v, ttm_core_view view) {
  if (!v->views.n) return ttm_vec_push(&v->views, view);
  ttm_core_view *last = &v->views.at[v->views.n - 1];
  if (last->op == view.op && last->program == TTM_NONE && last->rank == view.rank) return *last = view, TTM_OK;
  return ttm_vec_push(&v->views, view);
}

int ttm_core_views_allocation(ttm_core_views *v, uint32_t event) {
  const ttm_buffer_event *e = &v->p->capture.events.at[event];
  return add_view(v, (ttm_core_view){e->op, event + 1, TTM_NONE, rank_of(v, e->device)});
}

/* The program that these buffers make; one that ran before is found again. */
static int find_program(ttm_core_views *v, size_t first, bool derived, uint32_t *out) {
  size_t n = v->buffers.n - first;
  size_t bytes = n * sizeof *v->buffers.at;
  uint64_t hash = ttm_hash(v->buffers.at + first, bytes, ttm_hash_seed() + derived);
  for (; (*out = ttm_map_get(&v->program_of_hash, hash, TTM_NONE)) != TTM_NONE; hash++) {
    const ttm_core_program *known = &v->programs.at[*out];
    if (known->n == n && known->derived == derived &&
        !memcmp(v->buffers.at + known->first, v->buffers.at + first, bytes))
      return v->buffers.n = first, TTM_OK;
  }
  *out = (uint32_t)v->programs.n;
  if (ttm_vec_push(&v->programs, (ttm_core_program){(uint32_t)first, (uint32_t)n, derived})) return TTM_ENOMEM;
  return ttm_map_set(&v->program_of_hash, hash, *out);
}

static int add_program_buffer(ttm_core_views *v, const ttm_l1_buffer *b, const ttm_buffer_event *e) {
  ttm_core_buffer one;
  memset(&one, 0, sizeof one); /* its bytes are hashed */
  one.at = b->borrowed && !b->address ? TTM_UNKNOWN : b->address;
  one.bytes = b->bytes;
  one.kind = (uint8_t)(e->kind - TTM_EVENT_CIRCULAR);
  one.borrowed = b->borrowed;
  if (ttm_core_sets_find(&v->sets, e->row, ttm_profile_string(v->p, e->row), &one.cores)) return TTM_ENOMEM;
  return ttm_vec_push(&v->buffers, one);
}

int ttm_core_views_program(ttm_core_views *v, const ttm_l1_buffer *buffers, const uint32_t *events, size_t n,
                           bool derived, uint32_t before) {
  const ttm_buffer_event *all = v->p->capture.events.at;
  size_t views = v->views.n;
  /* The chips of a mesh run the same program, or one each: a view for each that differs. */
  for (size_t i = 0; i < n; i++) {
    uint32_t device = all[events[i]].device, program;
    size_t first = v->buffers.n, k = 0;
    while (all[events[k]].device != device) k++;
    if (k < i) continue;
    for (; k < n; k++)
      if (all[events[k]].device == device && add_program_buffer(v, &buffers[k], &all[events[k]])) return TTM_ENOMEM;
    if (find_program(v, first, derived, &program)) return TTM_ENOMEM;
    for (k = views; k < v->views.n && v->views.at[k].program != program;) k++;
    if (k < v->views.n) continue;
    ttm_core_view view = {all[events[i]].op, before, program, rank_of(v, device >> 16)};
    if (add_view(v, view)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* ---- Failures ---------------------------------------------------------------------------------------------------------- */

size_t ttm_core_events_before(const ttm_capture *c, uint32_t op) {
  size_t begin = TTM_NOT_FOUND, end = TTM_NOT_FOUND, i = 0;
  for (; i < c->events.n; i++) {
    const ttm_buffer_event *e = &c->events.at[i];
    if (e->kind == TTM_EVENT_MEASURED || e->op == TTM_NONE || e->op < op) continue;
    if (e->op > op) break;
    if (begin == TTM_NOT_FOUND) begin = i;
    if (e->kind != TTM_EVENT_FREE) end = i + 1;
  }
  return end != TTM_NOT_FOUND ? end : begin != TTM_NOT_FOUND ? begin : i;
}

static int insert_view(ttm_core_views *v, ttm_core_view view) {
  size_t at = v->views.n;
  while (at && v->views.at[at - 1].before > view.before) at--;
  if (at && v->views.at[at - 1].op == view.op && v->views.at[at - 1].program == TTM_NONE)
    return v->views.at[at - 1] = view, TTM_OK;
  if (ttm_vec_reserve(&v->views, 1)) return TTM_ENOMEM;
  if (at < v->views.n) memmove(&v->views.at[at + 1], &v->views.at[at], (v->views.n - at) * sizeof view);
  v->views.at[at] = view;
  v->views.n++;
  return TTM_OK;
}

/* A program that was refused has no buffers in a recording. Its message tells on which cores they were to be, and where they would have ended. */
static int add_refused(ttm_core_views *v, const ttm_incident *incident) {
  const ttm_incident_text *what = &incident->what;
  size_t first = v->buffers.n;
  ttm_core_buffer all;
  ttm_core_view view = {.op = incident->op, .rank = rank_of(v, incident->rank)};
  memset(&all, 0, sizeof all); /* its bytes are hashed */
  all.at = v->base;
  all.bytes = what->buffers_end - v->base;
  all.kind = what->dataflow;
  all.refused = true;
  view.before = (uint32_t)ttm_core_events_before(&v->p->capture, incident->op);
  uint32_t text;
  if (ttm_intern_add(&v->ranges, what->core_range, &text) ||
      ttm_core_sets_find(&v->sets, text | UINT64_C(1) << 63, what->core_range, &all.cores) ||
      ttm_vec_push(&v->buffers, all) || find_program(v, first, false, &view.program))
    return TTM_ENOMEM;
  return insert_view(v, view);
}

static uint64_t program_end(const ttm_core_views *v, const ttm_core_program *program) {
  uint64_t end = 0;
  for (uint32_t i = program->first; i < program->first + program->n; i++) {
    const ttm_core_buffer *b = &v->buffers.at[i];
    if (!b->borrowed && ttm_add_sat(b->at, b->bytes) > end) end = ttm_add_sat(b->at, b->bytes);
  }
  return end;
}

/* Circular buffers are told before they are refused, dataflow buffers are not. */
static bool is_seen(const ttm_core_views *v, uint32_t op, uint64_t end) {
  for (size_t i = 0; i < v->views.n; i++) {
    const ttm_core_view *view = &v->views.at[i];
    if (view->op == op && view->program != TTM_NONE && program_end(v, &v->programs.at[view->program]) == end)
      return true;
  }
  return false;
}

static int add_failures(ttm_core_views *v) {
  for (size_t i = 0; i < v->p->incidents.n; i++) {
    const ttm_incident *one = &v->p->incidents.at[i];
    bool clash = one->what.kind == TTM_INCIDENT_L1_CLASH || one->what.kind == TTM_INCIDENT_L1_OVERFLOW;
    if (!clash || one->op >= v->p->ops.n || one->what.buffers_end == TTM_UNKNOWN || one->what.buffers_end <= v->base)
      continue;
    if (!is_seen(v, one->op, one->what.buffers_end) && add_refused(v, one)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* ---- The end ----------------------------------------------------------------------------------------------------------- */

/* The first view that has seen the event. */
static uint32_t view_behind(const ttm_core_views *v, uint32_t event) {
  size_t low = 0, high = v->views.n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (v->views.at[middle].before > event)
      high = middle;
    else
      low = middle + 1;
  }
  return (uint32_t)low;
}

int ttm_core_views_end(ttm_core_views *v) {
  if (add_failures(v)) return TTM_ENOMEM;
  v->columns = v->p->capture.board.grid_x;
  v->rows = v->p->capture.board.grid_y;
  for (size_t i = 0; i < v->sets.sets.n; i++) ttm_core_set_widen(&v->sets.sets.at[i], &v->columns, &v->rows);
  for (size_t i = 0; i < v->lives.n; i++) {
    v->lives.at[i].from = view_behind(v, v->lives.at[i].from);
    v->lives.at[i].to = view_behind(v, v->lives.at[i].to);
  }
  return TTM_OK;
}

void ttm_core_views_free(ttm_core_views *v) {
  ttm_core_sets_free(&v->sets);
  ttm_vec_free(&v->buffers);
  ttm_vec_free(&v->programs);
  ttm_vec_free(&v->views);
  ttm_vec_free(&v->lives);
  ttm_map_free(&v->program_of_hash);
  ttm_intern_free(&v->ranges);
  ttm_map_free(&v->life_of_buffer);
}

/* ---- One view ---------------------------------------------------------------------------------------------------------- */

uint32_t ttm_core_views_find(const ttm_core_views *v, uint32_t op) {
  if (!v->views.n) return TTM_NONE;
  for (uint32_t i = 0; i < v->views.n; i++)
    if (v->views.at[i].op >= op) return i;
  return (uint32_t)v->views.n - 1;
}

uint32_t ttm_core_views_behind(const ttm_core_views *v, uint32_t event) {
  uint32_t view = view_behind(v, event);
  return view < v->views.n ? view : (uint32_t)v->views.n - 1; /* TTM_NONE is -1 */
}

static bool is_alive(const ttm_core_views *v, const ttm_core_life *life, uint32_t view) {
  return life->from <= view && view < life->to &&
         rank_of(v, buffer_of(v, life->buffer)->device) == v->views.at[view].rank;
}

static bool is_on(const ttm_core_views *v, const ttm_core_buffer *b, unsigned x, unsigned y) {
  const ttm_core_set *set = &v->sets.sets.at[b->cores];
  return !set->n || ttm_core_set_has(set, x, y);
}

/* The tensors of a core by address; those without one are taken to adjoin the top, oldest first. */
static int find_tensors(const ttm_core_views *v, uint32_t view, unsigned x, unsigned y, ttm_l1_map *out) {
  uint64_t next = v->top;
  for (size_t i = 0; i < v->lives.n && v->lives.at[i].from <= view; i++) {
    const ttm_core_life *life = &v->lives.at[i];
    const ttm_buffer *b = buffer_of(v, life->buffer);
    if (!is_alive(v, life, view) || b->memory != TTM_L1) continue;
    if (life->own && !ttm_core_set_has(&v->sets.sets.at[life->cores], x, y)) continue;
    ttm_l1_region region = {.at = life->at, .end = ttm_add_sat(life->at, b->bank_bytes)};
    if (life->at == TTM_UNKNOWN) region.end = next, region.at = next = ttm_sub_sat(next, b->bank_bytes);
    if (b->op != TTM_NONE) region.name = ttm_profile_string(v->p, ttm_op_text_of(v->p, b->op)->name);
    if (ttm_vec_push(&out->tensors, region)) return TTM_ENOMEM;
  }
  ttm_l1_regions_sort(out->tensors.at, out->tensors.n);
  return TTM_OK;
}

int ttm_core_view_map(const ttm_core_views *v, uint32_t view, unsigned x, unsigned y, ttm_l1_map *out) {
  static const char *const kinds[] = {"circular buffer", "dataflow buffer", "scratchpad"};
  const ttm_capture_board *board = &v->p->capture.board;
  *out = (ttm_l1_map){.arch = (ttm_arch_id)board->arch, .size = v->size, .base = v->base};
  out->arch_basis = out->base_basis = board->estimated ? TTM_ESTIMATED : TTM_MEASURED;
  out->small = ttm_sub_sat(v->size, v->top);
  if (find_tensors(v, view, x, y, out)) return TTM_ENOMEM;
  if (v->views.at[view].program == TTM_NONE) return TTM_OK;
  const ttm_core_program *program = &v->programs.at[v->views.at[view].program];
  for (uint32_t i = program->first; i < program->first + program->n; i++) {
    const ttm_core_buffer *b = &v->buffers.at[i];
    if (b->borrowed || !is_on(v, b, x, y)) continue;
    out->dataflow |= b->kind == 1;
    ttm_l1_region region = {b->at, ttm_add_sat(b->at, b->bytes), ttm_str_of(b->refused ? NULL : kinds[b->kind])};
    if (ttm_vec_push(&out->buffers, region)) return TTM_ENOMEM;
  }
  ttm_l1_regions_sort(out->buffers.at, out->buffers.n);
  return TTM_OK;
}

/* What the tensors of a view take of every core, and where the lowest of them starts. */
static uint64_t sum_tensors(const ttm_core_views *v, uint32_t view, uint64_t *lowest) {
  uint64_t bytes = 0, unplaced = 0, placed = v->top;
  for (size_t i = 0; i < v->lives.n && v->lives.at[i].from <= view; i++) {
    const ttm_buffer *b = buffer_of(v, v->lives.at[i].buffer);
    if (!is_alive(v, &v->lives.at[i], view) || v->lives.at[i].own) continue;
    bytes = ttm_add_sat(bytes, b->bank_bytes);
    if (b->memory != TTM_L1) continue;
    if (b->address == TTM_UNKNOWN)
      unplaced = ttm_add_sat(unplaced, b->bank_bytes);
    else if (b->address < placed)
      placed = b->address;
  }
  *lowest = ttm_sub_sat(v->top, unplaced) < placed ? ttm_sub_sat(v->top, unplaced) : placed;
  return bytes;
}

static void put_buffer(ttm_core_grid *grid, const ttm_core_buffer *b, ttm_core_range r, uint64_t lowest) {
  bool clashes = ttm_add_sat(b->at, b->bytes) > lowest;
  grid->any_clash |= clashes;
  for (unsigned y = r.y0; y <= r.y1 && y < grid->rows; y++) {
    for (unsigned x = r.x0; x <= r.x1 && x < grid->columns; x++) {
      grid->used[y][x] = ttm_add_sat(grid->used[y][x], b->bytes);
      grid->clashes[y][x] |= clashes;
    }
  }
}

static bool reaches_into(const ttm_core_views *v, uint32_t view, const ttm_core_life *life, unsigned x, unsigned y) {
  if (v->views.at[view].program == TTM_NONE) return false;
  const ttm_core_program *program = &v->programs.at[v->views.at[view].program];
  for (uint32_t i = program->first; i < program->first + program->n; i++) {
    const ttm_core_buffer *b = &v->buffers.at[i];
    if (!b->borrowed && ttm_add_sat(b->at, b->bytes) > life->at && is_on(v, b, x, y)) return true;
  }
  return false;
}

/* Tensors that are on their own cores only. */
static void put_own(const ttm_core_views *v, uint32_t view, ttm_core_grid *out) {
  for (size_t i = 0; i < v->lives.n && v->lives.at[i].from <= view; i++) {
    const ttm_core_life *life = &v->lives.at[i];
    if (!life->own || !is_alive(v, life, view)) continue;
    for (unsigned y = 0; y < out->rows; y++) {
      for (unsigned x = 0; x < out->columns; x++) {
        if (!ttm_core_set_has(&v->sets.sets.at[life->cores], x, y)) continue;
        out->used[y][x] = ttm_add_sat(out->used[y][x], buffer_of(v, life->buffer)->bank_bytes);
        out->clashes[y][x] |= reaches_into(v, view, life, x, y);
        out->any_clash |= out->clashes[y][x];
      }
    }
  }
}

void ttm_core_view_grid(const ttm_core_views *v, uint32_t view, ttm_core_grid *out) {
  uint64_t lowest, tensors = sum_tensors(v, view, &lowest);
  memset(out, 0, sizeof *out);
  out->columns = v->columns;
  out->rows = v->rows;
  out->limit = ttm_sub_sat(v->size, v->base);
  for (unsigned y = 0; y < v->rows; y++)
    for (unsigned x = 0; x < v->columns; x++) out->used[y][x] = tensors;
  put_own(v, view, out);
  if (v->views.at[view].program == TTM_NONE) return;
  const ttm_core_program *program = &v->programs.at[v->views.at[view].program];
  for (uint32_t i = program->first; i < program->first + program->n; i++) {
    const ttm_core_buffer *b = &v->buffers.at[i];
    const ttm_core_set *set = &v->sets.sets.at[b->cores];
    if (b->borrowed) continue;
    for (size_t k = 0; k < set->n; k++) put_buffer(out, b, set->at[k], lowest);
    if (!set->n) put_buffer(out, b, (ttm_core_range){0, 0, TTM_CORE_LIMIT - 1, TTM_CORE_LIMIT - 1}, lowest);
  }
}
