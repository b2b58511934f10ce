/* SPDX-License-Identifier: Apache-2.0 */
/* Operation texts: the runtime prints a compiled operation with the same bytes in every run, so its hash stands for the text and
 * only a new one is parsed. 64 bits: among a million texts of one log two share a hash once in forty million logs. */
#include "base/intern.h"
#include "profile/builder.h"

/* Appends the text to the profile; `map` knows it under this key from now on. */
static int remember(ttm_profile *p, const ttm_op_text *text, ttm_map *map, uint64_t key, uint32_t *out) {
  *out = (uint32_t)p->texts.n;
  return ttm_vec_push(&p->texts, *text) ? TTM_ENOMEM : ttm_map_set(map, key, *out);
}

/* ---- Pieces -------------------------------------------------------------------------------------------------------- */

static int intern(ttm_profile *p, ttm_str text, uint32_t *out) { return ttm_intern_add(&p->strings, text, out); }

int ttm_texts_type(ttm_text_table *t, ttm_profile *p, ttm_str text, uint32_t *out) {
  uint32_t string;
  if (intern(p, text, &string)) return TTM_ENOMEM;
  *out = ttm_map_get(&t->type_of_text, string, TTM_NONE);
  if (*out != TTM_NONE) return TTM_OK;
  ttm_type type = {.text = string};
  /* Parsed from the interned copy, so that its views live as long as the profile. */
  type.is_tensor = ttm_tensor_type_parse(ttm_profile_string(p, string), &type.tensor);
  if (ttm_vec_push(&p->types, type)) return TTM_ENOMEM;
  *out = (uint32_t)(p->types.n - 1);
  return ttm_map_set(&t->type_of_text, string, *out);
}

int ttm_texts_list(ttm_text_table *t, ttm_profile *p, const uint32_t *ids, size_t n, ttm_list *out) {
  *out = (ttm_list){0, 0};
  if (n == 0) return TTM_OK;
  uint64_t key = ttm_hash(ids, n * sizeof *ids, 0);
  uint32_t known = ttm_map_get(&t->list_of_hash, key, TTM_NONE);
  if (known != TTM_NONE) {
    ttm_list list = t->known_lists.at[known];
    if (list.n == n && memcmp(p->lists.at + list.first, ids, n * sizeof *ids) == 0) return *out = list, TTM_OK;
  }
  *out = (ttm_list){(uint32_t)p->lists.n, (uint32_t)n};
  if (ttm_vec_reserve(&p->lists, n)) return TTM_ENOMEM;
  memcpy(p->lists.at + p->lists.n, ids, n * sizeof *ids);
  p->lists.n += n;
  if (ttm_vec_push(&t->known_lists, *out)) return TTM_ENOMEM;
  return ttm_map_set(&t->list_of_hash, key, (uint32_t)(t->known_lists.n - 1));
}

static int add_types(ttm_text_table *t, ttm_profile *p, const ttm_strs *texts, ttm_list *out) {
  t->ids.n = 0;
  for (size_t i = 0; i < texts->n; i++) {
    uint32_t type;
    if (ttm_texts_type(t, p, texts->at[i], &type) || ttm_vec_push(&t->ids, type)) return TTM_ENOMEM;
  }
  return ttm_texts_list(t, p, t->ids.at, t->ids.n, out);
}

/* Digits without a leading zero, so that the number prints as the same text again. */
static bool take_number(ttm_str digits, uint32_t *out) {
  uint64_t number;
  if (digits.n == 0 || digits.n > 9 || (digits.p[0] == '0' && digits.n > 1)) return false;
  if (!ttm_str_take_u64(&digits, &number) || digits.n) return false;
  *out = (uint32_t)number;
  return number < UINT32_C(1) << 30;
}

static int to_value(ttm_profile *p, ttm_str text, ttm_value *out) {
  uint32_t number;
  if (text.n > 1 && text.p[0] == '%') {
    if (take_number(ttm_str_from(text, 1), &number)) return *out = TTM_VALUE_NUMBER | number, TTM_OK;
    if (ttm_str_starts(text, TTM_LIT("%arg")) && take_number(ttm_str_from(text, 4), &number))
      return *out = TTM_VALUE_ARGUMENT | number, TTM_OK;
  }
  return intern(p, text, out);
}

static int add_operands(ttm_text_table *t, ttm_profile *p, ttm_op_text *text) {
  const ttm_strs *operands = &t->parsed.operands;
  t->ids.n = 0;
  for (size_t i = 0; i < operands->n; i++) {
    ttm_value value;
    if (to_value(p, operands->at[i], &value) || ttm_vec_push(&t->ids, value)) return TTM_ENOMEM;
  }
  return ttm_texts_list(t, p, t->ids.at, t->ids.n, &text->operands);
}

int ttm_texts_result(ttm_text_table *t, ttm_profile *p, const ttm_op_text *text, uint32_t k, ttm_value *out) {
  if (text->result_count == 1) return *out = text->result, TTM_OK;
  char scratch[TTM_VALUE_CHARS];
  ttm_buf_clear(&t->scratch);
  ttm_buf_put(&t->scratch, ttm_value_print(p, text->result, scratch));
  ttm_buf_char(&t->scratch, '#');
  ttm_buf_u64(&t->scratch, k);
  return t->scratch.failed ? TTM_ENOMEM : intern(p, ttm_buf_str(&t->scratch), out);
}

static int add_location(ttm_text_table *t, ttm_profile *p, ttm_op_text *text) {
  const ttm_op_line *op = &t->parsed;
  ttm_buf_clear(&t->scratch);
  if (!ttm_location_render(op->location, &t->scratch) && text->kind == TTM_OP_LOAD_CACHED && op->callee.n) {
    ttm_buf_char(&t->scratch, '@');
    ttm_buf_put(&t->scratch, op->callee);
  }
  if (t->scratch.failed) return TTM_ENOMEM;
  return intern(p, ttm_buf_str(&t->scratch), &text->location);
}

static int fill(ttm_text_table *t, ttm_profile *p, ttm_op_text *text) {
  enum { MOST_RESULTS = 4096 }; /* beyond any real operation: a hostile count must not cost memory */
  const ttm_op_line *op = &t->parsed;
  *text = (ttm_op_text){.kind = (uint8_t)ttm_op_kind_of(op->name), .has_attributes = op->attributes.p != NULL};
  text->result_count = (uint16_t)(op->result_count < MOST_RESULTS ? op->result_count : MOST_RESULTS);
  if (intern(p, op->name, &text->name) || intern(p, op->attributes, &text->attributes) ||
      intern(p, op->callee, &text->callee) || to_value(p, op->result, &text->result) || add_location(t, p, text) ||
      add_operands(t, p, text))
    return TTM_ENOMEM;
  return add_types(t, p, &op->inputs, &text->inputs) || add_types(t, p, &op->outputs, &text->outputs) ? TTM_ENOMEM
                                                                                                      : TTM_OK;
}

/* ---- The table ----------------------------------------------------------------------------------------------------- */

int ttm_texts_add(ttm_text_table *t, ttm_profile *p, ttm_str text, uint64_t hash, uint32_t *out) {
  *out = ttm_map_get(&t->text_of_hash, hash, TTM_NONE);
  if (*out != TTM_NONE) return TTM_OK;
  int rc = ttm_op_line_parse(text, &t->parsed);
  if (rc == TTM_EFORMAT) return *out = TTM_BAD_TEXT, TTM_OK;
  ttm_op_text row;
  return rc || fill(t, p, &row) ? TTM_ENOMEM : remember(p, &row, &t->text_of_hash, hash, out);
}

int ttm_texts_add_type(ttm_text_table *t, ttm_profile *p, ttm_str op_type, uint32_t *out) {
  ttm_op_text row = {.kind = (uint8_t)ttm_op_kind_of(op_type), .synthetic = true};
  if (intern(p, op_type, &row.name)) return TTM_ENOMEM;
  row.op_type = row.name;
  *out = ttm_map_get(&t->text_of_type, row.name, TTM_NONE);
  return *out != TTM_NONE ? TTM_OK : remember(p, &row, &t->text_of_type, row.name, out);
}

void ttm_texts_free(ttm_text_table *t) {
  ttm_map_free(&t->text_of_hash);
  ttm_map_free(&t->text_of_type);
  ttm_op_line_free(&t->parsed);
  ttm_buf_free(&t->scratch);
  ttm_map_free(&t->type_of_text);
  ttm_map_free(&t->list_of_hash);
  ttm_vec_free(&t->known_lists);
  ttm_vec_free(&t->ids);
}
