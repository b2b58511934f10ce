/* SPDX-License-Identifier: Apache-2.0 */
/* JSON objects read into structs by tables, as a stream:
 *
 *   static const ttm_field fields[] = {{"line", ttm_field_count, offsetof(row, line)}, {0}};
 *   ttm_fields_read(texts, json, fields, &row);
 *
 * Members that are not in the table are passed over, and so are values of another kind than the table wants: what they would have filled
 * stays as it was. Nothing here fails but memory (TTM_ENOMEM); where the text breaks off, json->error says. */
#ifndef TTM_PARSE_JSON_FIELDS_H
#define TTM_PARSE_JSON_FIELDS_H

#include "base/intern.h"
#include "parse/json_pull.h"

/* Where the strings go; they live until its pool is freed. A reader of one's own finds its surroundings when this is their first member. */
typedef struct ttm_field_texts {
  ttm_intern pool;
  ttm_str key; /* of the member that is being read */
} ttm_field_texts;

/* Reads the next value into what `into` points to. */
typedef int ttm_field_read(ttm_field_texts *texts, ttm_json_pull *json, void *into);

typedef struct ttm_field {
  const char *key; /* NULL ends a table; "*" is every key */
  ttm_field_read *read;
  size_t at; /* in the struct */
} ttm_field;

ttm_field_read ttm_field_text;   /* a string into a ttm_str */
ttm_field_read ttm_field_number; /* a finite number into a double */
ttm_field_read ttm_field_count;  /* its magnitude, rounded, into a uint32_t; 0 when it does not fit */
ttm_field_read ttm_field_milli;  /* the same for thousandths */
ttm_field_read ttm_field_flag;   /* whether it is `true` into a bool */

int ttm_fields_read(ttm_field_texts *texts, ttm_json_pull *json, const ttm_field *fields, void *object);

#endif
