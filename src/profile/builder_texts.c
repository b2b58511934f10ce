/* SPDX-License-Identifier: Apache-2.0 */
/* Operation texts: the runtime prints a compiled operation with the same bytes in every run, so its 128-bit hash stands for the
 * text and only a new one is parsed. */
#include "base/intern.h"
#include "profile/builder.h"

struct ttm_text_slot {
  ttm_hash128 hash;
  uint32_t text; /* + 1; 0 is free */
};

static struct ttm_text_slot *find_slot(const ttm_text_table *t, ttm_hash128 hash) {
  size_t i = (size_t)hash.lo & (t->slot_count - 1);
  while (t->slots[i].text && (t->slots[i].hash.lo != hash.lo || t->slots[i].hash.hi != hash.hi))
    i = (i + 1) & (t->slot_count - 1);
  return &t->slots[i];
}

static int grow(ttm_text_table *t) {
  ttm_text_table bigger = *t;
  bigger.slot_count = t->slot_count ? t->slot_count * 2 : 1024;
  bigger.slots = ttm_alloc(bigger.slot_count * sizeof *bigger.slots);
  if (!bigger.slots) return TTM_ENOMEM;
  for (size_t i = 0; i < t->slot_count; i++)
    if (t->slots[i].text) *find_slot(&bigger, t->slots[i].hash) = t->slots[i];
  ttm_free(t->slots);
  *t = bigger;
  return TTM_OK;
}

/* ---- Pieces -------------------------------------------------------------------------------------------------------- */

static int intern(ttm_profile *p, ttm_view text, uint32_t *out) { return ttm_intern_add(&p->strings, text, out); }

int ttm_texts_type(ttm_text_table *t, ttm_profile *p, ttm_view text, uint32_t *out) {
  uint32_t string;
  if (intern(p, text, &string)) return TTM_ENOMEM;
  *out = ttm_idmap_get(&t->type_of_text, string, TTM_NONE);
  if (*out != TTM_NONE) return TTM_OK;
  ttm_type type = {.text = string};
  /* Parsed from the interned copy, so that its views live as long as the profile. */
  type.is_tensor = ttm_tensor_type_parse(ttm_profile_string(p, string), &type.tensor);
  if (ttm_vec_push(&p->types, type)) return TTM_ENOMEM;
  *out = (uint32_t)(p->types.n - 1);
  return ttm_idmap_set(&t->type_of_text, string, *out);
}

static int add_types(ttm_text_table *t, ttm_profile *p, const ttm_view *texts, size_t n, ttm_list *out) {
  *out = (ttm_list){(uint32_t)p->lists.n, (uint32_t)n};
  for (size_t i = 0; i < n; i++) {
    uint32_t type;
    if (ttm_texts_type(t, p, texts[i], &type) || ttm_vec_push(&p->lists, type)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

uint32_t ttm_argument_number(ttm_view value) {
  uint64_t number;
  if (!ttm_view_take(&value, TTM_LIT("%arg")) || !ttm_view_take_u64(&value, &number) || number >= UINT16_MAX) return TTM_NONE;
  return value.n == 0 ? (uint32_t)number : TTM_NONE;
}

static int add_operands(ttm_profile *p, const ttm_op_text *op, ttm_text *text) {
  const ttm_view *at = op->operands.at;
  size_t n = op->operands.n;
  text->operands = (ttm_list){(uint32_t)p->lists.n, (uint32_t)n};
  for (size_t i = 0; i < n; i++) {
    uint32_t string;
    if (intern(p, at[i], &string) || ttm_vec_push(&p->lists, string)) return TTM_ENOMEM;
  }
  text->reads.first = (uint32_t)p->lists.n;
  for (size_t i = 0; i < n; i++) {
    if (at[i].n == 0 || at[i].p[0] != '%' || ttm_argument_number(at[i]) != TTM_NONE) continue;
    if (ttm_vec_push(&p->lists, p->lists.at[text->operands.first + i])) return TTM_ENOMEM;
    text->reads.n++;
  }
  text->args.first = (uint32_t)p->lists.n;
  for (size_t i = 0; i < n; i++) {
    uint32_t number = ttm_argument_number(at[i]);
    if (number == TTM_NONE) continue;
    if (ttm_vec_push(&p->lists, number)) return TTM_ENOMEM;
    text->args.n++;
  }
  return TTM_OK;
}

/* Names under which later operations use the results: "%4" alone, "%4#0", "%4#1" for several. */
static int add_values(ttm_text_table *t, ttm_profile *p, const ttm_op_text *op, ttm_text *text) {
  enum { MOST_RESULTS = 4096 }; /* beyond any real operation: a hostile count must not cost memory */
  uint32_t count = op->result_count < MOST_RESULTS ? op->result_count : MOST_RESULTS;
  text->result_count = (uint16_t)count;
  text->values = (ttm_list){(uint32_t)p->lists.n, count};
  for (uint32_t k = 0; k < count; k++) {
    ttm_buf_clear(&t->scratch);
    ttm_buf_put(&t->scratch, op->result);
    if (count > 1) {
      ttm_buf_char(&t->scratch, '#');
      ttm_buf_u64(&t->scratch, k);
    }
    uint32_t string;
    if (t->scratch.failed || intern(p, ttm_buf_view(&t->scratch), &string) || ttm_vec_push(&p->lists, string))
      return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int add_location(ttm_text_table *t, ttm_profile *p, const ttm_op_text *op, ttm_text *text) {
  ttm_buf_clear(&t->scratch);
  if (!ttm_location_render(op->location, &t->scratch) && text->kind == TTM_OP_LOAD_CACHED && op->callee.n) {
    ttm_buf_char(&t->scratch, '@');
    ttm_buf_put(&t->scratch, op->callee);
  }
  if (t->scratch.failed) return TTM_ENOMEM;
  return intern(p, ttm_buf_view(&t->scratch), &text->location);
}

static ttm_op_kind kind_of_name(ttm_view name) {
  if (ttm_view_ends(name, TTM_LIT(".deallocate")) || ttm_view_eq(name, TTM_LIT("DeallocateOp"))) return TTM_OP_DEALLOCATE;
  if (ttm_view_ends(name, TTM_LIT(".get_device")) || ttm_view_eq(name, TTM_LIT("GetDeviceOp"))) return TTM_OP_GET_DEVICE;
  if (ttm_view_ends(name, TTM_LIT(".load_cached")) || ttm_view_eq(name, TTM_LIT("LoadCachedOp"))) return TTM_OP_LOAD_CACHED;
  return TTM_OP_PLAIN;
}

static int add_parsed(ttm_text_table *t, ttm_profile *p, uint32_t *out) {
  const ttm_op_text *op = &t->parsed;
  ttm_text text = {.kind = (uint8_t)kind_of_name(op->name), .has_attributes = op->attributes.p != NULL};
  if (intern(p, op->name, &text.name) || intern(p, op->attributes, &text.attributes) ||
      intern(p, op->result, &text.result) || intern(p, op->callee, &text.callee) || add_location(t, p, op, &text) ||
      add_operands(p, op, &text) || add_values(t, p, op, &text) ||
      add_types(t, p, op->inputs.at, op->inputs.n, &text.inputs) ||
      add_types(t, p, op->outputs.at, op->outputs.n, &text.outputs) || ttm_vec_push(&p->texts, text))
    return TTM_ENOMEM;
  *out = (uint32_t)(p->texts.n - 1);
  return TTM_OK;
}

/* ---- The table ----------------------------------------------------------------------------------------------------- */

int ttm_texts_add(ttm_text_table *t, ttm_profile *p, ttm_view text, ttm_hash128 hash, uint32_t *out) {
  if (t->used * 2 >= t->slot_count && grow(t)) return TTM_ENOMEM;
  struct ttm_text_slot *slot = find_slot(t, hash);
  if (!slot->text) {
    int rc = ttm_op_text_parse(text, &t->parsed);
    if (rc == TTM_ENOMEM) return rc;
    uint32_t id = TTM_BAD_TEXT;
    if (rc == TTM_OK && add_parsed(t, p, &id)) return TTM_ENOMEM;
    *slot = (struct ttm_text_slot){hash, id + 1};
    t->used++;
  }
  *out = slot->text - 1;
  return TTM_OK;
}

int ttm_texts_add_type(ttm_text_table *t, ttm_profile *p, ttm_view op_type, uint32_t *out) {
  if (t->used * 2 >= t->slot_count && grow(t)) return TTM_ENOMEM;
  ttm_hash128 hash = ttm_hash_bytes(op_type.p, op_type.n);
  hash.hi ^= UINT64_C(0x5bd1e995cafef00d); /* a name of its own: an operation line could hold the same bytes */
  struct ttm_text_slot *slot = find_slot(t, hash);
  if (!slot->text) {
    ttm_text text = {.kind = (uint8_t)kind_of_name(op_type), .synthetic = true};
    if (intern(p, op_type, &text.name)) return TTM_ENOMEM;
    text.op_type = text.name;
    if (ttm_vec_push(&p->texts, text)) return TTM_ENOMEM;
    *slot = (struct ttm_text_slot){hash, (uint32_t)p->texts.n};
    t->used++;
  }
  *out = slot->text - 1;
  return TTM_OK;
}

void ttm_texts_free(ttm_text_table *t) {
  ttm_free(t->slots);
  ttm_op_text_free(&t->parsed);
  ttm_buf_free(&t->scratch);
  ttm_idmap_free(&t->type_of_text);
}
