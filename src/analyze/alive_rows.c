/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/alive_rows.h"

#include <stdlib.h>

#include "analyze/fold.h"
#include "analyze/words.h"
#include "base/checked.h"

static void sum_up(ttm_alive_set *set, const ttm_alive_row *row) {
  uint64_t over_banks = ttm_mul_sat(row->bank_bytes, set->banks);
  if (row->type == TTM_NONE) return;
  set->typed += row->tensors;
  set->logical_bytes = ttm_add_sat(set->logical_bytes, row->logical_bytes);
  set->stored_bytes = ttm_add_sat(set->stored_bytes, row->stored_bytes);
  set->padding_bytes += row->stored_bytes > row->logical_bytes ? row->stored_bytes - row->logical_bytes : 0;
  set->rounding_bytes += over_banks > row->stored_bytes ? over_banks - row->stored_bytes : 0;
}

/* The tensors one by one. What holds kernels is no tensor. */
static int note_tensor(ttm_alive_set *set, const ttm_alive_row *row) {
  if (row->tensor == TTM_NONE) return row->class == TTM_ALIVE_PROGRAM ? TTM_OK : ttm_vec_push(&set->arguments, *row);
  set->alive_bits[row->tensor / 64] |= UINT64_C(1) << row->tensor % 64;
  return TTM_OK;
}

int ttm_alive_rows_add(ttm_alive_rows *g, const ttm_alive_row *row, uint32_t text) {
  ttm_map *map = row->name ? &g->by_name : &g->by_text;
  uint64_t key = (row->name ? row->name : text) * TTM_ALIVE_CLASSES + row->class;
  /* Another argument of the same name is another form of it; in a recording it is another tensor. */
  if (g->p->kind == TTM_LOG_CAPTURE) key |= (uint64_t)(row->type + 1) << 32;
  uint32_t at = ttm_map_get(map, key, 0);
  g->set->by_class[row->class] += row->bank_bytes;
  if (row->guess) g->set->guessed_bytes += row->bank_bytes;
  g->set->tensors += row->tensors;
  sum_up(g->set, row);
  if (note_tensor(g->set, row)) return TTM_ENOMEM;
  if (!at || at > g->rows.n) {
    if (ttm_vec_push(&g->rows, *row)) return TTM_ENOMEM;
    return ttm_map_set(map, key, (uint32_t)g->rows.n);
  }
  ttm_alive_row *same = &g->rows.at[at - 1];
  same->tensors += row->tensors;
  same->forms_differ |= same->type != row->type;
  same->uses |= row->uses;
  if (row->smallest_bytes < same->smallest_bytes) same->smallest_bytes = row->smallest_bytes;
  same->bank_bytes += row->bank_bytes;
  same->logical_bytes = ttm_add_sat(same->logical_bytes, row->logical_bytes);
  same->stored_bytes = ttm_add_sat(same->stored_bytes, row->stored_bytes);
  return TTM_OK;
}

int ttm_alive_rows_add_rest(ttm_alive_rows *g, ttm_alive_class class, uint64_t bytes) {
  ttm_alive_row row = {.class = class, .bank_bytes = bytes};
  row.source = row.arg = row.op = row.tensor = row.type = TTM_NONE;
  g->set->by_class[class] += bytes;
  return bytes ? ttm_vec_push(&g->rows, row) : TTM_OK;
}

/* ---- Ordering ---------------------------------------------------------------------------------------------------------------- */

static int larger_row(const void *a, const void *b) {
  const ttm_alive_row *x = a, *y = b;
  if (x->bank_bytes != y->bank_bytes) return x->bank_bytes > y->bank_bytes ? -1 : 1;
  if (x->class != y->class) return x->class < y->class ? -1 : 1;
  if (x->tensor != y->tensor) return x->tensor < y->tensor ? -1 : 1;
  return x->name < y->name ? -1 : x->name > y->name;
}

static ttm_str row_name(const ttm_profile *p, const ttm_alive_row *row) {
  if (row->name) return ttm_profile_string(p, row->name);
  return row->op < p->ops.n ? ttm_words_location(p, row->op) : (ttm_str){"", 0};
}

static int larger_group(const void *a, const void *b) {
  const ttm_alive_group *x = a, *y = b;
  if (x->bank_bytes != y->bank_bytes) return x->bank_bytes > y->bank_bytes ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

static int add_to_group(ttm_alive_rows *g, ttm_fold *fold, uint32_t at) {
  const ttm_alive_row *row = &g->rows.at[at];
  uint32_t group, maker = row->op < g->p->ops.n && !row->name ? ttm_op_text_of(g->p, row->op)->name : 0;
  uint64_t kind = (uint64_t)maker << 32 | (unsigned)row->class << 1 | row->guess;
  if (row->arg != TTM_NONE && !row->name) kind |= (uint64_t)(row->arg + 1) << 8;
  fold->whole = !row->name && !ttm_words_has_runs(g->p); /* numbers of lines are no layers */
  if (ttm_fold_add(fold, row_name(g->p, row), kind, &group)) return TTM_ENOMEM;
  if (group == g->set->groups.n) {
    ttm_alive_group first = {.class = row->class, .row = at, .op = row->op, .guess = row->guess};
    if (ttm_vec_push(&g->set->groups, first)) return TTM_ENOMEM;
  }
  ttm_alive_group *to = &g->set->groups.at[group];
  to->rows++;
  to->tensors += row->tensors;
  to->bank_bytes += row->bank_bytes;
  g->rows.at[at].group = group;
  return TTM_OK;
}

static int fold_rows(ttm_alive_rows *g) {
  ttm_alive_set *set = g->set;
  ttm_fold fold = {0};
  uint32_t *place = NULL;
  int status = TTM_OK;
  for (uint32_t i = 0; i < g->rows.n && !status; i++) status = add_to_group(g, &fold, i);
  size_t n = set->groups.n;
  for (size_t i = 0; i < n && !status; i++) {
    set->groups.at[i].name = ttm_fold_name_in(&fold, (uint32_t)i, &set->names);
    if (!set->groups.at[i].name.p) status = TTM_ENOMEM;
  }
  if (!status && n) place = ttm_alloc_array(g->rows.n, sizeof *place);
  if (!status && n && !place) status = TTM_ENOMEM;
  if (place) {
    qsort(set->groups.at, n, sizeof *set->groups.at, larger_group);
    for (uint32_t i = 0; i < n; i++) place[g->rows.at[set->groups.at[i].row].group] = i;
    for (size_t i = 0; i < g->rows.n; i++) {
      uint32_t at = place[g->rows.at[i].group];
      g->rows.at[i].group = at < TTM_ALIVE_ROWS ? at : TTM_NONE;
    }
    for (size_t i = TTM_ALIVE_ROWS; i < n; i++)
      set->other_groups++, set->other_groups_bytes += set->groups.at[i].bank_bytes;
    if (n > TTM_ALIVE_ROWS) set->groups.n = TTM_ALIVE_ROWS;
    for (size_t i = 0; i < set->groups.n; i++)
      if (set->groups.at[i].row >= TTM_ALIVE_ROWS) set->groups.at[i].row = TTM_NONE;
  }
  ttm_free(place);
  ttm_fold_free(&fold);
  return status;
}

static int keep_rows(ttm_alive_rows *g) {
  ttm_alive_set *set = g->set;
  if (!g->rows.n) return TTM_OK;
  qsort(g->rows.at, g->rows.n, sizeof *g->rows.at, larger_row);
  if (fold_rows(g)) return TTM_ENOMEM;
  for (size_t i = 0; i < g->rows.n; i++) {
    const ttm_alive_row *row = &g->rows.at[i];
    if (i < TTM_ALIVE_ROWS) {
      if (ttm_vec_push(&set->rows, *row)) return TTM_ENOMEM;
    } else {
      set->other_rows++;
      set->other_bytes += row->bank_bytes;
    }
  }
  return TTM_OK;
}

static ttm_str module_of(ttm_str location) {
  size_t cut = 0;
  for (size_t i = 0; i < location.n; i++) {
    if (location.p[i] == '|') cut = i;
  }
  return ttm_str_first(location, cut);
}

static int larger_module(const void *a, const void *b) {
  const ttm_alive_module *x = a, *y = b;
  if (x->bank_bytes != y->bank_bytes) return x->bank_bytes > y->bank_bytes ? -1 : 1;
  size_t n = x->path.n < y->path.n ? x->path.n : y->path.n;
  int order = n ? memcmp(x->path.p, y->path.p, n) : 0;
  return order ? order : x->path.n < y->path.n ? -1 : x->path.n > y->path.n;
}

static int keep_modules(ttm_alive_rows *g) {
  ttm_alive_set *set = g->set;
  ttm_intern paths = {0};
  TTM_VEC(ttm_alive_module) modules = {0};
  int status = TTM_OK;
  for (size_t i = 0; i < g->rows.n && !status; i++) {
    const ttm_alive_row *row = &g->rows.at[i];
    uint32_t id;
    if (row->class != TTM_ALIVE_ACTIVATION) continue;
    ttm_str path = module_of(ttm_profile_string(g->p, ttm_op_text_of(g->p, row->op)->location));
    if ((status = ttm_intern_add(&paths, path, &id))) break;
    while (modules.n <= id && !status) status = ttm_vec_push(&modules, (ttm_alive_module){.tensors = 0});
    if (status) break;
    modules.at[id].path = path;
    modules.at[id].tensors += row->tensors;
    modules.at[id].bank_bytes += row->bank_bytes;
  }
  if (!status && modules.n) qsort(modules.at, modules.n, sizeof *modules.at, larger_module);
  for (size_t i = 0; i < modules.n && i < TTM_ALIVE_MODULES && modules.at[i].tensors && !status; i++)
    status = ttm_vec_push(&set->modules, modules.at[i]);
  ttm_vec_free(&modules);
  ttm_intern_free(&paths);
  return status;
}

int ttm_alive_rows_keep(ttm_alive_rows *g) {
  int status = keep_rows(g);
  return status ? status : keep_modules(g);
}

void ttm_alive_rows_free(ttm_alive_rows *g) {
  ttm_vec_free(&g->rows);
  ttm_map_free(&g->by_name);
  ttm_map_free(&g->by_text);
}
