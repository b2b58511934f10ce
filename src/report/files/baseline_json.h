/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a baseline: JSON that people read, review and edit. New entries go where their name belongs. What a person adds (tolerances, a
 * note) stays, whatever is renewed. */
#ifndef TTM_REPORT_BASELINE_JSON_H
#define TTM_REPORT_BASELINE_JSON_H

#include "analyze/baseline.h"
#include "parse/json_fields.h"

/* A member of an object: its key, and its value as it stands in the file. */
typedef struct ttm_baseline_member {
  ttm_str key, raw;
} ttm_baseline_member;
typedef TTM_VEC(ttm_baseline_member) ttm_baseline_members;

/* Zero is a file without entries. Freed with ttm_baseline_free. */
typedef struct ttm_baseline {
  ttm_field_texts texts;
  ttm_buf text;
  ttm_baseline_members top, named;     /* of the file; of "entries" */
  TTM_VEC(ttm_baseline_entry) entries; /* as `named` */
} ttm_baseline;

/* 0, TTM_EIO, TTM_ENOMEM, or TTM_EFORMAT for what is no baseline. An error names the file, and its line where it is no JSON. */
int ttm_baseline_read(ttm_baseline *out, const char *path, ttm_error *err);
/* The same of what stands in out->text; the rest of it is zero. */
int ttm_baseline_parse(ttm_baseline *out, const char *path, ttm_error *err);
void ttm_baseline_free(ttm_baseline *baseline);

/* The entry of that name; NULL. */
const ttm_baseline_entry *ttm_baseline_find(const ttm_baseline *baseline, ttm_str name);

/* The text of the file with `entry` in place of the one of its name, or added. Boards stay when the entry has none. 0 or TTM_ENOMEM. */
int ttm_baseline_renew(const ttm_baseline *baseline, const ttm_baseline_entry *entry, ttm_buf *out);

#endif
