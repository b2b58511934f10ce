/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the analyses on a terminal: findings.json in, lines out. */
#ifndef TTM_REPORT_ANALYSES_PARTS_H
#define TTM_REPORT_ANALYSES_PARTS_H

#include "base/format.h"
#include "parse/json_text.h"
#include "profile/profile.h"
#include "report/run/analyses.h"

enum { TTM_ANALYSIS_INDENT = 2 };

typedef struct ttm_analysis_page {
  ttm_analyses *all;
  ttm_buf *out; /* of `all` */
  ttm_str findings;
  const ttm_summary_style *style;
  size_t columns;
  ttm_text_form form;
  bool rough;
  ttm_buf sentence; /* reused */
} ttm_analysis_page;

/* ---- Reading ------------------------------------------------------------------------------------------------------- */

static inline double ttm_member_number(ttm_str object, const char *key, double otherwise) {
  return ttm_json_get_number(ttm_json_get_member(object, key), otherwise);
}
static inline bool ttm_is_object(ttm_str value) { return value.n && value.p[0] == '{'; }
/* True when the member is a string. */
static inline bool ttm_has_text(ttm_str object, const char *key) {
  ttm_str value = ttm_json_get_member(object, key);
  return value.n > 2 && value.p[0] == '"';
}
uint32_t ttm_array_length(ttm_str array);
/* Whether the findings tell the lives of tensors in this member; null stands for what was not looked for. */
static inline bool ttm_lives_told(const ttm_analysis_page *p, ttm_str member) {
  return !p->rough && member.n && (member.p[0] == '{' || member.p[0] == '[');
}
/* A log holds the runs of programs; a capture, a recording and samples do not tell where one begins. */
bool ttm_has_runs(const ttm_analysis_page *p);

/* ---- Writing ------------------------------------------------------------------------------------------------------- */

/* "Late frees                derived" */
void ttm_analysis_heading(ttm_analysis_page *p, const char *title, const char *basis);

/* Adds to the sentence: our own words, a foreign text, an operation ("#7 ttnn.matmul layers.0|dot.1, log line 90"). */
void ttm_sentence_add(ttm_analysis_page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ttm_sentence_text(ttm_analysis_page *p, ttm_str object, const char *key);
void ttm_sentence_op(ttm_analysis_page *p, ttm_str op);
/* A tensor of a row: its name, then the operation that made it, whose location is left out when it says the same. */
void ttm_sentence_tensor(ttm_analysis_page *p, ttm_str row, ttm_str op);

/* Writes the sentence below the heading, as a point of a list, or behind a figure in MB per bank, and empties it. `op` (an object with an
 * index, or empty) is what it is about. */
void ttm_sentence_end(ttm_analysis_page *p, ttm_str op);
void ttm_point_end(ttm_analysis_page *p, ttm_str op);
void ttm_figure_end(ttm_analysis_page *p, double mb, ttm_str op);

/* "Unknown: a graph capture does not tell ...": why nothing is said about the lives of tensors. */
void ttm_say_unknown(ttm_analysis_page *p);

/* Parts: each writes its heading and at least one sentence. */
void ttm_analysis_late(ttm_analysis_page *p);
void ttm_analysis_runs(ttm_analysis_page *p);
void ttm_analysis_leaks(ttm_analysis_page *p);
void ttm_analysis_layers(ttm_analysis_page *p);
void ttm_analysis_fragmentation(ttm_analysis_page *p);
void ttm_analysis_waste(ttm_analysis_page *p);

#endif
