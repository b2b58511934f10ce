/* SPDX-License-Identifier: Apache-2.0 */
/* Picks single values out of a JSON text without building a tree: enough for the few facts a list of reports shows.
 * A value is a view into the text. Any bytes may be given: what is no JSON gives empty views, never a crash. Every look
 * walks the object from its start, so this is for small objects, not for files of a million elements. */
#ifndef TTM_PARSE_JSON_TEXT_H
#define TTM_PARSE_JSON_TEXT_H

#include "base/buf.h"

/* The value of a member of the object; empty when it is not there or `object` is none. */
ttm_str ttm_json_get_member(ttm_str object, const char *key);

/* Takes the next element off an array. Start with *rest = the array; false at its end, or when it is none. */
bool ttm_json_get_element(ttm_str *rest, ttm_str *element);

/* Appends the text of a string value, escapes resolved (what they stand for may be any character, also a control character);
 * nothing for other values. */
void ttm_json_get_string(ttm_buf *out, ttm_str value);

/* The number, always a finite one; `otherwise` when the value is none or too large to be one. */
double ttm_json_get_number(ttm_str value, double otherwise);

/* The same for what is counted, such as bytes: `otherwise` also for what is below 0 or does not fit. A fraction is cut off. */
uint64_t ttm_json_get_count(ttm_str value, uint64_t otherwise);

#endif
