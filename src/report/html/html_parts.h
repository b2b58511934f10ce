/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the HTML report. web/src/data.ts reads what these write; the two change together, with
 * TTM_HTML_FORMAT. */
#ifndef TTM_REPORT_HTML_PARTS_H
#define TTM_REPORT_HTML_PARTS_H

#include "analyze/findings.h"
#include "l1/core_views.h"
#include "report/html/html_block.h"
#include "report/write/json.h"

enum {
  TTM_HTML_FORMAT = 3,
  TTM_HTML_STEP = 64, /* states in one entry of the pyramid's lowest level, and entries in one of the next */
  TTM_HTML_LEVELS = 2,
  TTM_HTML_PLAIN = 65536, /* a rank with fewer states needs no pyramid: the page draws from the columns */
};

/* Where a state stands among the elements (operations of the reports). */
typedef enum ttm_html_place {
  TTM_HTML_AT_ELEMENT, /* before element `element` */
  TTM_HTML_BETWEEN,    /* before a deallocation or the like, after element `element` began */
  TTM_HTML_BEFORE_SUBMIT,
  TTM_HTML_AFTER_SUBMIT,
  TTM_HTML_BARE,
} ttm_html_place;

typedef struct ttm_html_position {
  int64_t element; /* the last element that had begun, -1 before the first */
  ttm_html_place place;
} ttm_html_position;

/* Walks the states in order. Zero-initialise `next_op` and set findings. */
typedef struct ttm_html_walk {
  const ttm_findings *f;
  uint32_t next_op;
  int64_t element;
} ttm_html_walk;
ttm_html_position ttm_html_walk_to(ttm_html_walk *walk, uint32_t state);

/* Ids of one kind (strings, texts, types) as the page counts them: only those it needs, by first use. */
typedef struct ttm_html_ids {
  uint32_t *page_id; /* by profile id: 1 + page id, 0 when not used */
  TTM_VEC(uint32_t) used;
  bool failed;
} ttm_html_ids;
int ttm_html_ids_init(ttm_html_ids *ids, size_t profile_ids);
uint32_t ttm_html_ids_take(ttm_html_ids *ids, uint32_t profile_id);
void ttm_html_ids_free(ttm_html_ids *ids);

/* A page being written. */
typedef struct ttm_html {
  const ttm_findings *f;
  const ttm_profile *p;
  ttm_out *out;
  ttm_html_block block; /* reused */
  ttm_html_ids labels;  /* strings every view needs: names, locations, programs */
  ttm_html_ids words;   /* strings only the details need: attributes, values */
  ttm_html_ids texts, types;
  ttm_core_views cores;
} ttm_html;

/* The members "topics" and "classes": headings and names that pages share with every other surface, in their order. */
void ttm_html_put_words(ttm_json *j, const ttm_profile *p);

/* Whether the page has the blocks of a rank (dense index). */
bool ttm_html_holds_rank(const ttm_findings *f, uint32_t rank);

/* The page up to the first data element. */
void ttm_html_put_head(ttm_buf *buf, ttm_str name);

/* Each writes its elements; 0 or TTM_ENOMEM. */
int ttm_html_states(ttm_html *h);
int ttm_html_pyramids(ttm_html *h);
int ttm_html_operations(ttm_html *h);
int ttm_html_weights(ttm_html *h);
int ttm_html_calls(ttm_html *h);
int ttm_html_cores(ttm_html *h);
int ttm_html_texts(ttm_html *h); /* after the operations and cores: only their texts are written */
int ttm_html_occupancy(ttm_html *h);
int ttm_html_strings(ttm_html *h); /* types too; last: only what the others used */
int ttm_html_irs(ttm_html *h);

/* "cores" of the facts: the grid and how many views of it there are. Nothing when there are none. */
void ttm_html_put_cores(ttm_json *j, const ttm_html *h);

#endif
