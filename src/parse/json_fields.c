/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/json_fields.h"

#include <math.h>

#include "parse/json_text.h"

int ttm_field_text(ttm_field_texts *texts, ttm_json_pull *json, void *into) {
  ttm_json_scalar v;
  uint32_t id;
  if (!ttm_json_value(json, &v) || v.kind != TTM_JSON_STRING) return TTM_OK;
  if (ttm_intern_add(&texts->pool, v.text, &id)) return TTM_ENOMEM;
  *(ttm_str *)into = ttm_intern_get(&texts->pool, id);
  return TTM_OK;
}

int ttm_field_number(ttm_field_texts *texts, ttm_json_pull *json, void *into) {
  ttm_json_scalar v;
  (void)texts;
  if (!ttm_json_value(json, &v)) return TTM_OK;
  double number = v.kind == TTM_JSON_NUMBER ? ttm_json_get_number(v.text, NAN) : NAN;
  if (!isnan(number)) *(double *)into = number;
  return TTM_OK;
}

static int read_scaled(ttm_json_pull *json, double scale, uint32_t *into) {
  double number = NAN;
  ttm_field_number(NULL, json, &number);
  number = round(fabs(number) * scale);
  if (!isnan(number)) *into = number < UINT32_MAX ? (uint32_t)number : 0;
  return TTM_OK;
}

int ttm_field_count(ttm_field_texts *texts, ttm_json_pull *json, void *into) {
  (void)texts;
  return read_scaled(json, 1, into);
}

int ttm_field_milli(ttm_field_texts *texts, ttm_json_pull *json, void *into) {
  (void)texts;
  return read_scaled(json, 1000, into);
}

int ttm_field_flag(ttm_field_texts *texts, ttm_json_pull *json, void *into) {
  (void)texts;
  *(bool *)into = ttm_json_peek(json) == TTM_JSON_TRUE;
  ttm_json_skip(json);
  return TTM_OK;
}

static const ttm_field *find(const ttm_field *fields, ttm_str key) {
  while (fields->key && *fields->key != '*' && !ttm_str_eq(key, ttm_str_of(fields->key))) fields++;
  return fields;
}

int ttm_fields_read(ttm_field_texts *texts, ttm_json_pull *json, const ttm_field *fields, void *object) {
  int rc = TTM_OK;
  ttm_str key;
  if (!ttm_json_enter_if(json, '{')) return TTM_OK;
  while (!rc && ttm_json_key(json, &key)) {
    const ttm_field *field = find(fields, key);
    texts->key = key;
    if (field->key)
      rc = field->read(texts, json, (char *)object + field->at);
    else
      ttm_json_skip(json);
  }
  return rc;
}
