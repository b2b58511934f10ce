/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/fold.h"

/* '*' stands for the numbers of a name that was folded before. */
static bool is_digit(char c) { return (c >= '0' && c <= '9') || c == '*'; }
static bool is_letter(char c) { return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (unsigned char)c >= 0x80; }

/* Takes the next number of its own off the name: what stands before it goes to *before. False, and all of the rest, when there is none. */
static bool next_number(ttm_str *name, ttm_str *before, ttm_str *number) {
  for (size_t i = 0; i < name->n; i++) {
    if (!is_digit(name->p[i])) continue;
    size_t end = i;
    while (end < name->n && is_digit(name->p[end])) end++;
    bool own = (!i || !is_letter(name->p[i - 1])) && (end == name->n || !is_letter(name->p[end]));
    if (own) {
      *before = ttm_str_first(*name, i);
      *number = (ttm_str){name->p + i, end - i};
      *name = ttm_str_from(*name, end);
      return true;
    }
    i = end - 1;
  }
  *before = *name;
  return false;
}

static uint64_t differences(ttm_str a, ttm_str b) {
  uint64_t differ = 0;
  ttm_str before, x, y;
  for (unsigned i = 0; i < 64 && next_number(&a, &before, &x) && next_number(&b, &before, &y); i++)
    differ |= (uint64_t)!ttm_str_eq(x, y) << i;
  return differ;
}

static void put_key(ttm_buf *key, ttm_str name, uint64_t kind, bool whole) {
  ttm_str before, number;
  ttm_buf_clear(key);
  ttm_buf_put(key, (ttm_str){(const char *)&kind, sizeof kind});
  if (whole) return ttm_buf_put(key, name);
  for (unsigned i = 0; i < 64 && next_number(&name, &before, &number); i++) {
    ttm_buf_put(key, before);
    ttm_buf_char(key, '\1');
  }
  ttm_buf_put(key, name);
}

int ttm_fold_add(ttm_fold *fold, ttm_str name, uint64_t kind, uint32_t *group) {
  uint32_t id;
  put_key(&fold->key, name, kind, fold->whole);
  if (fold->key.failed || ttm_intern_add(&fold->keys, ttm_buf_str(&fold->key), &id)) return TTM_ENOMEM;
  *group = id - 1;
  if (*group == fold->groups.n) return ttm_vec_push(&fold->groups, (ttm_fold_group){.first = name, .members = 1});
  ttm_fold_group *known = &fold->groups.at[*group];
  known->members++;
  known->differ |= differences(known->first, name);
  return TTM_OK;
}

void ttm_fold_name(const ttm_fold *fold, uint32_t group, ttm_buf *out) {
  const ttm_fold_group *g = &fold->groups.at[group];
  ttm_str name = g->first, before, number;
  for (unsigned i = 0; i < 64 && next_number(&name, &before, &number); i++) {
    ttm_buf_put(out, before);
    ttm_buf_put(out, g->differ >> i & 1 ? TTM_LIT("*") : number);
  }
  ttm_buf_put(out, name);
}

ttm_str ttm_fold_name_in(const ttm_fold *fold, uint32_t group, ttm_arena *arena) {
  ttm_buf name = {0};
  ttm_fold_name(fold, group, &name);
  const char *kept = name.failed ? NULL : ttm_arena_copy(arena, ttm_buf_str(&name));
  ttm_str out = {kept, kept ? name.n : 0};
  ttm_buf_free(&name);
  return out;
}

void ttm_fold_free(ttm_fold *fold) {
  ttm_intern_free(&fold->keys);
  ttm_vec_free(&fold->groups);
  ttm_buf_free(&fold->key);
  *fold = (ttm_fold){0};
}
